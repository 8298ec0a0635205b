//! One mechanism in two forms: as formulas of one coordinate with a lift, and as planar bodies with joints. Same L, same R⁰.

mod lab;

use lab::{Dice, Lab, same};

fn compare(a: &Lab, b: &Lab, contact: &str) -> [f64; 2] {
    let find = |lab: &Lab| {
        let f = lab.painleve().unwrap();
        let k = f.pairs.iter().position(|p| p.contact == lab.contact(contact)).unwrap();
        [f.index[(k, k)], f.frictionless[k]]
    };
    let (x, y) = (find(a), find(b));
    same(x[0], y[0]);
    same(x[1], y[1]);
    x
}

/// ANH-3.7-LINK: quick-return link, bodies with a sliding joint against the book's coordinate, and both against (3.215), (3.218).
#[test]
fn anh_3_7_link_bodies_and_formula_have_the_same_l_and_r0() {
    let live = ["phi0", "w0", "J", "M", "P"];
    let (mut bodies, mut closed) = (Lab::new("quick_return", &live), Lab::new("quick_return_closed", &live));
    let mut dice = Dice(41);
    let (l, r, a, m) = (1.0_f64, 0.25_f64, 0.4_f64, 500.0_f64);
    for _ in 0..200 {
        let (phi, w) = (dice.range(0.05, 6.2), dice.sign() * dice.range(0.5, 5.0));
        let (j, torque, p) = (dice.range(0.5, 9.0), dice.range(-300.0, 300.0), dice.range(-300.0, 300.0));
        let set = [("phi0", phi), ("w0", w), ("J", j), ("M", torque), ("P", p)];
        bodies.set(&set);
        closed.set(&set);
        let [index, load] = compare(&bodies, &closed, "slot");
        let (s, c) = phi.sin_cos();
        let eta = (a * a + r * r + 2.0 * a * r * c).sqrt();
        let chi = (a * c + r) * (a + r * c);
        let nu = j * eta.powi(6) + m * l * l * r * r * chi * chi;
        let book = m * l * l * r * r * a * s.abs() * (a * c + r) * (a + r * c).powi(2) / nu;
        // chapters 4 and 5 count with the direction of motion
        same(index, w.signum() * book);
        let (x1, x2) =
            (l * r * chi / eta.powi(3), l * r * s * (3.0 * a * r * chi - eta.powi(4)) / eta.powi(5));
        let inner = torque - p * x1 - m * x1 * x2 * w * w;
        let r0 = eta / (r * (a * c + r)) * (torque - j * eta.powi(6) / nu * inner);
        assert!(
            (load - r0).abs() <= 1e-9 * (load.abs() + torque.abs() / r / (a * c + r).abs()),
            "{load} {r0}"
        );
    }
}

/// ANH-3.6-CRANK: slider-crank, three bodies with a pin that closes the loop against the book's coordinate, and both against (3.184).
#[test]
fn anh_3_6_crank_bodies_and_formula_have_the_same_l_and_r0() {
    let live = ["q0", "w0", "l", "m1", "m2", "M", "P"];
    let (mut bodies, mut closed) = (Lab::new("slider_crank", &live), Lab::new("crank", &live));
    let mut dice = Dice(42);
    let r = 0.1;
    for _ in 0..200 {
        let (q, w) = (dice.range(0.05, 6.2), dice.sign() * dice.range(0.5, 5.0));
        let (l, m1, m2) = (dice.range(0.12, 0.4), dice.range(0.3, 3.0), dice.range(0.3, 3.0));
        let (torque, p) = (dice.range(-5.0, 5.0), dice.range(-30.0, 30.0));
        let set = [("q0", q), ("w0", w), ("l", l), ("m1", m1), ("m2", m2), ("M", torque), ("P", p)];
        bodies.set(&set);
        closed.set(&set);
        let [index, _] = compare(&bodies, &closed, "rub");
        let (s, c) = q.sin_cos();
        let long = (l * l - r * r * s * s).sqrt();
        let x = long + r * c;
        let book = m2 * r * long * s.abs() / (3.0 * m1 * x * x * s * s + m2 * long * long);
        same(index, w.signum() * book);
    }
}

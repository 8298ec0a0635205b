//! The general equations of section 1.4 and the friction forces per body, against formulas written out by hand.

mod lab;

use lab::{Dice, Lab, close, same};
use specht::analysis::{Painleve, Verdict};
use specht::inside::Particles;
use specht::inside::Possible;
use specht::system::Mode;

/// u̇ − u̇⁰.
fn change(f: &Painleve, s: &Possible) -> Vec<f64> {
    s.accel.iter().zip(&f.frictionless_accel).map(|(a, b)| a - b).collect()
}

const STACK: &str = "
gravity = [0, -9.81]
[parameters]
m1  = \"2 kg\"
m2  = \"1 kg\"
mu1 = 0.2
mu2 = 0.3
P   = \"10 N\"
v1  = \"1 m/s\"
v2  = \"1 m/s\"
[coordinates]
x1 = { rate = \"v1\" }
y1 = 0
x2 = { rate = \"v2\" }
y2 = 0
[[body]]
name     = \"lower\"
mass     = \"m1\"
position = [\"x1\", \"y1\"]
[[body]]
name     = \"upper\"
mass     = \"m2\"
position = [\"x2\", \"y2\"]
[[force]]
at    = \"lower\"
force = [\"P\", 0]
[[contact]]
name     = \"floor\"
gap      = \"y1\"
slip     = \"x1'\"
friction = \"mu1\"
[[contact]]
name     = \"top\"
gap      = \"y2 - y1\"
slip     = \"x2' - x1'\"
friction = \"mu2\"
[run]
until = 1
";

/// ANH-1.4-GENERAL, (1.35), (1.36): every partition of two contacts into slipping (v ≠ 0), starting (v = 0, v̇ ≠ 0) and sticking
/// (v = v̇ = 0). A block on a block: R₁ = (m₁ + m₂) g, R₂ = m₂ g, and per partition
/// m₁ ẍ₁ = P + F₁ − F₂, m₂ ẍ₂ = F₂ with F = −μ R v/|v|, −μ R v̇/|v̇| or free.
#[test]
fn anh_1_4_general_partition_into_slipping_starting_sticking() {
    let mut lab = Lab::text(STACK, &["m1", "m2", "mu1", "mu2", "P", "v1", "v2"], None, &[]);
    let (g, mut dice) = (9.81, Dice(51));
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..3000 {
        let (m1, m2) = (dice.range(0.5, 4.0), dice.range(0.5, 4.0));
        let (mu1, mu2, p) = (dice.range(0.05, 0.8), dice.range(0.05, 0.8), dice.range(-90.0, 90.0));
        let mut speed = || if dice.next() < 0.5 { 0.0 } else { dice.sign() };
        let (v1, relative) = (speed(), speed());
        let v2 = v1 + relative;
        lab.set(&[("m1", m1), ("m2", m2), ("mu1", mu1), ("mu2", mu2), ("P", p), ("v1", v1), ("v2", v2)]);
        let f = lab.painleve().unwrap();
        assert_eq!(f.verdict, Verdict::Unique);
        let s = &f.solutions[0];
        same(s.normal[0], (m1 + m2) * g);
        same(s.normal[1], m2 * g);

        // friction bounds and what pulls on the floor contact
        let (b1, b2) = (mu1 * (m1 + m2) * g, mu2 * m2 * g);
        let sign = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        // F₁, F₂ of a partition: F₂ acts on the upper block along the slip of `top`
        let (f1, f2) = if relative != 0.0 {
            let f2 = -b2 * relative;
            let pull = p - f2;
            // floor: slips, sticks or starts under P and the reaction of F₂
            let f1 = match v1 == 0.0 {
                true if pull.abs() <= b1 => -pull,
                true => -b1 * sign(pull),
                false => -b1 * v1,
            };
            (f1, f2)
        } else {
            let whole = |f1: f64| (p + f1) / (m1 + m2);
            let f1 = match v1 == 0.0 {
                true if p.abs() <= b1 => -p,
                true => -b1 * sign(p),
                false => -b1 * v1,
            };
            let together = whole(f1);
            // the upper block keeps up, or starts to lag
            let f2 = if (m2 * together).abs() <= b2 { m2 * together } else { b2 * sign(together) };
            (f1, f2)
        };
        close(s.accel[0], (p + f1 - f2) / m1, 1e-9);
        close(s.accel[2], f2 / m2, 1e-9);
        close(s.tangential[0], f1, 1e-9);
        close(s.tangential[1], f2, 1e-9);
        let kind = |v: f64, mode: Mode| match (v != 0.0, mode) {
            (true, _) => "slips",
            (false, Mode::Stick) => "sticks",
            _ => "starts",
        };
        *seen.entry([kind(v1, s.modes[0]), kind(relative, s.modes[1])]).or_insert(0) += 1;
    }
    // all but a sticking lower block under a starting upper one, on which no other force acts
    assert_eq!(seen.len(), 8, "{seen:?}");
}

/// ANH-1.4-GENERAL, (1.35) written out for the rod of VAG-2-ROD: A q̈ − h = R (−μ v/|v| α¹ + α³) with α¹ = (1, 0, 0), α³ = (0, 0, 1) in
/// q = (x, θ, y), where ∂S/∂q̈ = A q̈ − (velocity terms).
#[test]
fn anh_1_4_general_equations_of_the_sliding_rod() {
    let mut lab = Lab::with("rod_tensor", &["m1", "m2", "l", "k1", "th0", "w0", "v0"], None, &[("c", "0")]);
    let mut dice = Dice(52);
    let mut count = 0;
    for _ in 0..800 {
        let (m1, m2, l) = (dice.range(0.2, 3.0), dice.range(0.2, 3.0), dice.range(0.3, 2.0));
        let (mu, th, w) = (dice.range(0.05, 0.9), dice.range(0.1, 3.0), dice.range(-2.0, 2.0));
        let d = dice.sign();
        lab.set(&[("m1", m1), ("m2", m2), ("l", l), ("k1", mu), ("th0", th), ("w0", w), ("v0", d)]);
        let f = lab.painleve().unwrap();
        if f.verdict != Verdict::Unique || f.solutions[0].normal[0] <= 0.0 {
            continue;
        }
        count += 1;
        let (s, (sin, cos)) = (&f.solutions[0], th.sin_cos());
        let mass = [
            [m1 + m2, -l * m2 * sin, 0.0],
            [-l * m2 * sin, m2 * l * l, l * m2 * cos],
            [0.0, l * m2 * cos, m1 + m2],
        ];
        let h = [l * m2 * w * w * cos, -l * m2 * 9.81 * cos, -(m1 + m2) * 9.81 + l * m2 * w * w * sin];
        let r = s.normal[0];
        let right = [-mu * d * r, 0.0, r];
        for k in 0..3 {
            let left: f64 = (0..3).map(|j| mass[k][j] * s.accel[j]).sum::<f64>() - h[k];
            assert!((left - right[k]).abs() < 1e-9 * (1.0 + r + h[k].abs()), "{left} {}", right[k]);
        }
        // the classical denominator
        let bottom = 2.0 * m1 + m2 * (1.0 + (2.0 * th).cos()) + mu * m2 * d * (2.0 * th).sin();
        same(r, 2.0 * m1 * ((m1 + m2) * 9.81 - l * m2 * w * w * sin) / bottom);
    }
    assert!(count > 500);
}

/// ANH-5.2-PLAW, ANH-5.3-PKFORCES, ANH-1.2-RHO per particle in a model with bodies: (5.47); their virtual work is that of the contact
/// (5.41); they respect the rod, with the weights 1/M (5.42); Gauss' principle with them gives the true acceleration (1.33).
#[test]
fn anh_5_2_plaw_friction_forces_per_particle() {
    let mut dice = Dice(53);
    for _ in 0..100 {
        let (m1, m2, phi) = (dice.range(0.3, 3.0), dice.range(0.3, 3.0), dice.range(0.1, 1.3));
        let (p1, p2, mu) = (dice.range(-3.0, 3.0), dice.range(-3.0, 3.0), dice.range(0.0, 0.25));
        let v = dice.sign();
        let set = [("M1", m1), ("M2", m2), ("phi", phi), ("mu", mu), ("P1", p1), ("P2", p2), ("v0", v)];
        let set = set.map(|(k, x)| (k, format!("{x:e}")));
        let lab = Lab::with("painleve_klein", &[], None, &set.each_ref().map(|(k, x)| (*k, x.as_str())));
        let f = lab.painleve().unwrap();
        let particles = Particles::new(&lab.sys, &lab.start()).unwrap();
        for s in &f.solutions {
            let bodies = particles.forces(&change(&f, s));
            let names: Vec<&str> = bodies.iter().map(|b| b.body.as_str()).collect();
            assert_eq!(names, ["slider1", "slider2"]);
            let [a, b] = [&bodies[0], &bodies[1]];
            // ρ_s = M_s/(M1 + M2) times the friction force of the guide
            close(a.force[0], m1 / (m1 + m2) * s.tangential[0], 1e-9);
            close(b.force[0], m2 / (m1 + m2) * s.tangential[0], 1e-9);
            for x in [a.force[1], b.force[1], a.torque, b.torque] {
                close(x, 0.0, 1e-9);
            }
            // (5.41): virtual displacement of both by 1
            close(a.force[0] + b.force[0], -v * mu * s.normal[0].abs(), 1e-9);
            // (5.42): the rod
            let (sin, cos) = phi.sin_cos();
            let rod = cos * (b.force[0] / m2 - a.force[0] / m1) + sin * (b.force[1] / m2 - a.force[1] / m1);
            close(rod, 0.0, 1e-9);
            // (1.33): ½ Σ M (F/M + ρ/M − W)² over W₁ = W₂ is smallest at the mean
            close(s.accel[0], (p1 + p2 + a.force[0] + b.force[0]) / (m1 + m2), 1e-9);
        }
    }
}

/// ANH-5.2-PLAW for rigid bodies: force at the centre of mass and moment, of the slider-crank with a pin. The work on the true
/// velocities is the power of the friction force.
#[test]
fn anh_5_2_plaw_friction_forces_of_rigid_bodies() {
    let lab = Lab::new("slider_crank", &[]);
    let f = lab.painleve().unwrap();
    let (s, start) = (&f.solutions[0], lab.start());
    let bodies = Particles::new(&lab.sys, &start).unwrap().forces(&change(&f, s));
    let names: Vec<&str> = bodies.iter().map(|b| b.body.as_str()).collect();
    assert_eq!(names, ["crank", "slider"]);
    let (r, q, w) = (0.1, 0.5_f64, 2.0);
    let centre = [-r / 2.0 * q.sin() * w, r / 2.0 * q.cos() * w];
    let (crank, slider) = (&bodies[0], &bodies[1]);
    let power = crank.force[0] * centre[0]
        + crank.force[1] * centre[1]
        + crank.torque * w
        + slider.force[0] * start.u[2]
        + slider.force[1] * start.u[3];
    // contacts: the pin, then the rail
    same(power, s.tangential[1] * start.u[2]);
    assert!(power < 0.0);
    // the crank turns about its end: I α against M r/2 α
    same(crank.torque * r / 2.0, crank.force[0].hypot(crank.force[1]).copysign(crank.torque) * r * r / 12.0);
}

//! The examples of chapters 5 and 6.

use super::*;

const G: f64 = 9.81;

fn rod(phi: f64, rate: f64, mu: f64) -> Bench {
    let (s, m) = (1.0, 1.0);
    let mut b = Bench::new(diag(&[m, m, m * s * s / 3.0]), &[0.0, -m * G, 0.0]);
    let n = [0.0, 1.0, -s * phi.cos()];
    let t = [1.0, 0.0, -s * phi.sin()];
    b.unilateral((&n, s * rate * rate * phi.sin()), Some((&t, -s * rate * rate * phi.cos())), mu);
    b
}

/// PG-5.3-ROD: state counts (1, 1, 2, 0), forces at the test points, borders of the paradox.
#[test]
fn pg_5_3_rod_state_counts_and_numbers() {
    let mu = 5.0 / 3.0;
    let deg = std::f64::consts::PI / 180.0;
    let set = rod(30.0 * deg, 1.0, mu).transition(&[Start::Plus]);
    assert_eq!(set.status, Status::Unique);
    close(set.solutions[0].forces.normal[0], 8.58115, 1e-6);
    assert_eq!(rod(60.0 * deg, 1.0, mu).transition(&[Start::Plus]).status, Status::None);
    let set = rod(60.0 * deg, 5.0, mu).transition(&[Start::Plus]);
    assert_eq!(set.status, Status::Several);
    assert_eq!(set.solutions.len(), 2);
    let b = rod(60.0 * deg, 5.0, mu);
    close(set.solutions[0].forces.normal[0], 0.0, 1e-12);
    close(b.eval.accel(0, &set.solutions[0].forces.accel), 11.84064, 1e-6);
    close(set.solutions[1].forces.normal[0], 28.52729, 1e-6);
    let mut r = Random(1);
    for _ in 0..500 {
        let (phi, rate, mu) = (r.within(0.05, 1.5), r.within(0.0, 6.0), r.within(0.0, 3.0));
        let a = 1.0 + 3.0 * phi.cos() * (phi.cos() - mu * phi.sin());
        let b = rate * rate * phi.sin() - G;
        let set = rod(phi, rate, mu).transition(&[Start::Plus]);
        let count = match (a > 0.0, b > 0.0) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        };
        assert_eq!(set.solutions.len(), count, "a = {a}, b = {b}");
        for s in &set.solutions {
            assert!(s.residual < 1e-12);
            close(s.forces.normal[0], if s.modes[0] == Mode::Open { 0.0 } else { -b / a }, 1e-9);
        }
        let mut fixed = Fixed::default();
        let system = rod(phi, rate, mu);
        let mut out = Forces::default();
        let regularity = fixed.solve(&system.info, &system.eval, &[Mode::SlipPlus], &[1.0], &mut out);
        assert_eq!(regularity.sign, a.signum());
        let near = fixed.approach(&system.info, 0).unwrap();
        close(near.a, a, 1e-11);
        close(near.b, b, 1e-11);
    }
}

/// PG-6.5-DETACH: book numbers and the four regions.
#[test]
fn pg_6_5_detach_book_numbers_and_regions() {
    let g = 10.0;
    let stack = |f1: f64, f2: f64| {
        let mut b = Bench::new(diag(&[1.0, 1.0]), &[f1 - g, f2 - g]);
        b.unilateral((&[1.0, 0.0], 0.0), None, 0.0);
        b.unilateral((&[-1.0, 1.0], 0.0), None, 0.0);
        b
    };
    let b = stack(12.0, 11.0);
    let set = b.transition(&[Start::Zero; 2]);
    assert_eq!(set.status, Status::Unique);
    let s = &set.solutions[0];
    assert_eq!(s.modes, [Mode::Open, Mode::Closed]);
    close(s.forces.normal[1], 0.5, 1e-12);
    close(s.forces.accel[0], 1.5, 1e-12);
    close(s.forces.accel[1], 1.5, 1e-12);
    let mut r = Random(2);
    for _ in 0..500 {
        let (f1, f2) = (r.within(0.0, 25.0), r.within(0.0, 25.0));
        let set = stack(f1, f2).transition(&[Start::Zero; 2]);
        assert_eq!(set.status, Status::Unique);
        let expected = if f1 >= g && f2 >= f1 {
            [Mode::Open, Mode::Open]
        } else if f2 <= g && f1 + f2 <= 2.0 * g {
            [Mode::Closed, Mode::Closed]
        } else if f2 <= f1 && f1 + f2 >= 2.0 * g {
            [Mode::Open, Mode::Closed]
        } else {
            [Mode::Closed, Mode::Open]
        };
        assert_eq!(set.solutions[0].modes, expected);
    }
}

fn stack(f1: f64, f2: f64, mu: f64, g: f64) -> Bench {
    let mut b = Bench::new(diag(&[1.0; 4]), &[f1, f2, -g, -g]);
    b.unilateral((&[0.0, 0.0, 1.0, 0.0], 0.0), Some((&[1.0, 0.0, 0.0, 0.0], 0.0)), mu);
    b.unilateral((&[0.0, 0.0, -1.0, 1.0], 0.0), Some((&[-1.0, 1.0, 0.0, 0.0], 0.0)), mu);
    b
}

/// PG-6.6-STICKSLIP: book numbers, and the nine regions over random forces.
#[test]
fn pg_6_6_stickslip_book_numbers_and_nine_regions() {
    let set = stack(20.0, 10.0, 1.0, 10.0).transition(&[Start::Zero; 2]);
    let f = &set.solutions[0].forces;
    assert_eq!(
        (set.status, &set.solutions[0].modes[..]),
        (Status::Unique, &[Mode::SlipPlus, Mode::Stick][..])
    );
    for (value, expected) in
        [(f.tangential[0], -20.0), (f.tangential[1], -5.0), (f.accel[0], 5.0), (f.accel[1], 5.0)]
    {
        close(value, expected, 1e-12);
    }
    let k = 10.0;
    let mut r = Random(3);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        let (f1, f2) = (r.within(-50.0, 50.0), r.within(-50.0, 50.0));
        let set = stack(f1, f2, 1.0, 10.0).transition(&[Start::Zero; 2]);
        assert_eq!(set.status, Status::Unique);
        let region = |f1: f64, f2: f64| {
            if f2.abs() <= k && (f1 + f2).abs() <= 2.0 * k {
                Some([0, 0])
            } else if f1 + f2 >= 2.0 * k && (0.0..=4.0 * k).contains(&(f1 - f2)) {
                Some([1, 0])
            } else if f1 >= k && f2 >= f1 {
                Some([1, 1])
            } else if f1 >= 3.0 * k && f2 <= f1 - 4.0 * k {
                Some([1, -1])
            } else if f2 >= k && (-3.0 * k..=k).contains(&f1) {
                Some([0, 1])
            } else {
                None
            }
        };
        let expected = region(f1, f2).or_else(|| region(-f1, -f2).map(|s| s.map(|v| -v))).unwrap();
        let got: Vec<i32> = set.solutions[0].modes.iter().map(|m| m.direction() as i32).collect();
        assert_eq!(got, expected, "F = ({f1}, {f2})");
        seen.insert(got);
    }
    assert_eq!(seen.len(), 9);
}

/// PG-5.4-PANTOGRAPH: the interval of accelerations, and uniqueness for equal coefficients.
#[test]
fn pg_5_4_pantograph_acceleration_is_an_interval() {
    let build = |m1: f64, m2: f64, r: f64, g: f64, mu: [f64; 2]| {
        let (big1, big2) = (m1 + 4.0 * m2, m1 + 2.0 * m2);
        let mut b = Bench::new(diag(&[big1, big1 * r * r]), &[0.0, -big2 * g * r]);
        for i in [1.0, 2.0] {
            b.unilateral((&[0.0, i * r], 0.0), Some((&[i, 0.0], 0.0)), mu[i as usize - 1]);
        }
        b
    };
    let set = build(1.0, 1.0, 1.0, 10.0, [0.2, 0.4]).transition(&[Start::Plus; 2]);
    assert_eq!(set.status, Status::Family);
    assert_eq!(set.solutions.len(), 1);
    let f = &set.families[0];
    close(f.accel[0][0], -2.4, 1e-9);
    close(f.accel[0][1], -1.2, 1e-9);
    close(f.lambda[0][0], 0.0, 1e-9);
    close(f.lambda[0][1], 30.0, 1e-9);
    close(f.lambda[2][1], 15.0, 1e-9);
    let mut r = Random(4);
    for _ in 0..100 {
        let (m1, m2, rad, g) =
            (r.within(0.1, 3.0), r.within(0.1, 3.0), r.within(0.2, 2.0), r.within(1.0, 20.0));
        let mu = [r.within(0.05, 1.0), r.within(0.05, 1.0)];
        let set = build(m1, m2, rad, g, mu).transition(&[Start::Plus; 2]);
        let ratio = (m1 + 2.0 * m2) / (m1 + 4.0 * m2) * g;
        let ends = [-ratio * mu[0].max(mu[1]), -ratio * mu[0].min(mu[1])];
        assert_eq!(set.status, Status::Family);
        close(set.families[0].accel[0][0], ends[0], 1e-8);
        close(set.families[0].accel[0][1], ends[1], 1e-8);
        let set = build(m1, m2, rad, g, [mu[0]; 2]).transition(&[Start::Plus; 2]);
        assert_eq!(set.status, Status::Unique);
        close(set.solutions[0].forces.accel[0], -mu[0] * ratio, 1e-9);
    }
}

//! Reactions with friction, paradoxes and what really happens, on the examples of Le xuan Anh (closed forms of the spec over
//! random parameters, 1e-9 relative).

mod lab;

use lab::{Dice, Lab, close, same};
use specht::analysis::Verdict;

/// ANH-1.2-PK0, ANH-1.1-COULOMB: unit masses, all four candidates of the table, over random angle, friction and pull.
#[test]
fn anh_1_2_pk0_unit_masses() {
    let mut lab = Lab::new("painleve_unit", &["phi", "mu", "P", "v0"]);
    let mut dice = Dice(1);
    for _ in 0..2000 {
        let (phi, mu, p) = (dice.range(0.05, 1.5), dice.range(0.05, 3.0), dice.range(0.1, 9.0));
        let v = dice.sign();
        lab.set(&[("phi", phi), ("mu", mu), ("P", p), ("v0", v)]);
        let f = lab.painleve().unwrap();
        let k = mu * phi.tan();
        same(f.critical_mu[0], 2.0 / phi.tan());
        same(f.index[(0, 0)], v * phi.tan() / 2.0);
        // R acts upwards on M1: the book's R presses the other way
        same(f.frictionless[0], -p * phi.tan() / 2.0);
        if v > 0.0 && k > 2.0 {
            assert_eq!(f.verdict, Verdict::None);
        } else if v < 0.0 && k > 2.0 {
            assert_eq!(f.verdict, Verdict::Several);
            let (a, b) = (&f.solutions[0], &f.solutions[1]);
            same(a.normal[0], -p * phi.tan() / (2.0 + k));
            same(a.accel[0], p * (1.0 + k) / (2.0 + k));
            same(b.normal[0], -p * phi.tan() / (2.0 - k));
            same(b.accel[0], p * (1.0 - k) / (2.0 - k));
        } else {
            assert_eq!(f.verdict, Verdict::Unique);
            same(f.solutions[0].normal[0], -p * phi.tan() / (2.0 - k * v));
            same(f.solutions[0].accel[0], p * (1.0 - k * v) / (2.0 - k * v));
        }
    }
}

/// ANH-1.2-PK0, the numbers of the spec.
#[test]
fn anh_1_2_pk0_numbers() {
    let mut lab = Lab::new("painleve_unit", &["phi", "mu", "v0"]);
    let deg = std::f64::consts::PI / 180.0;
    let mut at = |phi: f64, mu: f64, v: f64| {
        lab.set(&[("phi", phi * deg), ("mu", mu), ("v0", v)]);
        lab.painleve().unwrap().solutions.iter().map(|s| (-s.normal[0], s.accel[0])).collect::<Vec<_>>()
    };
    let list = |found: Vec<(f64, f64)>, expected: &[(f64, f64)]| {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            close(a.0, b.0, 2e-5);
            close(a.1, b.1, 2e-5);
        }
    };
    list(at(45.0, 0.5, 1.0), &[(2.0 / 3.0, 1.0 / 3.0)]);
    list(at(45.0, 0.5, -1.0), &[(0.4, 0.6)]);
    list(at(60.0, 1.0, 1.0), &[(6.4641, -2.7321)]);
    list(at(60.0, 1.0, -1.0), &[(0.46410, 0.73205)]);
    list(at(70.0, 1.0, 1.0), &[]);
    list(at(70.0, 1.0, -1.0), &[(0.57872, 0.78936), (-3.67567, 2.33783)]);
    // at rest: stays
    let rest = at(60.0, 1.0, 0.0);
    assert_eq!(rest.len(), 1);
    close(rest[0].1, 0.0, 1e-12);
}

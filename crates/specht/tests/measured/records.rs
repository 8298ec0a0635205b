//! Oscillograms.

use crate::Noise;
use specht::machine::data::{Rig, oscillogram};

fn force_record(v: f64, top: f64, low: f64, noise: f64) -> String {
    let (c, m) = (16e5, 16e3);
    let w = f64::sqrt(c / m);
    let (y0, a) = (0.5 * (top + low) / c, 0.5 * (top - low) / c);
    let root = (a * a - v * v / (w * w)).sqrt();
    let rest = 2.0 * root / v;
    let first = (-root / a).atan2(-v / (w * a));
    let slide = 2.0 / w * (std::f64::consts::PI - (w * root / v).atan());
    let mut random = Noise(8);
    let mut out = "t [s],F [N]\n".to_string();
    for i in 0..2400 {
        let t = 0.002 * f64::from(i);
        let u = (t + 0.5 * rest) % (rest + slide);
        let y = if u < rest { y0 - root + v * u } else { y0 - a * (first + w * (u - rest)).sin() };
        out += &format!("{t},{}\n", c * y + noise * random.normal());
    }
    out
}

/// ANH-6.2-OSC: extremes lie 20.8 N and 90.7 N beyond the forces of break-down and pick-up (exact formula).
#[test]
fn anh_6_2_osc_corrects_the_extremes_of_a_record() {
    let rig = |v| Rig { stiffness: 16e5, mass: 16e3, speed: Some(v) };
    for (v, top, low, error) in [(1e-3, 3950.0, 2700.0, 20.827), (2e-3, 3870.0, 2650.0, 90.674)] {
        let found = oscillogram(&force_record(v, top, low, 0.0), &rig(v)).unwrap();
        assert!(found.cycles.len() >= 2);
        for c in &found.cycles {
            assert!((c.error[0] - error).abs() < 0.1 && (c.error[1] + error).abs() < 0.1, "{c:?}");
            assert!(
                (c.break_down - top + error).abs() < 0.5 && (c.pick_up - low - error).abs() < 0.5,
                "{c:?}"
            );
            assert!((c.load_rate - 16e5 * v).abs() < 1e-9);
        }
        let rest = (top - low - 2.0 * error) / (16e5 * v);
        assert!((found.cycles[1].contact_time.0 - rest).abs() < 2e-3);
    }
    // a rig that contradicts the record
    let why = oscillogram(&force_record(1e-3, 3950.0, 2700.0, 0.0), &rig(5e-3)).unwrap_err().to_string();
    assert!(why.contains("line ") && why.contains("a slider that stops needs at least"), "{why}");
    let flat = oscillogram("t,F\n0,1\n1,2\n2,3\n", &rig(1e-3)).unwrap_err().to_string();
    assert!(flat.contains("no slide"), "{flat}");
    assert!(oscillogram("t,G\n0,1\n", &rig(1e-3)).unwrap_err().to_string().contains("no column `F`"));
}

/// ANH-6.6-FSLIDE: the friction of the slide is constant, between the two forces; the speed comes from the record itself.
#[test]
fn anh_6_6_fslide_true_sliding_force_from_the_curvature_of_a_noisy_record() {
    let rig = Rig { stiffness: 16e5, mass: 16e3, speed: None };
    let found = oscillogram(&force_record(1e-3, 3950.0, 2700.0, 0.5), &rig).unwrap();
    assert!((found.speed / 1e-3 - 1.0).abs() < 0.01, "{}", found.speed);
    assert!(
        (found.break_down.mean - 3929.2).abs() < 3.0 && (found.pick_up.mean - 2720.8).abs() < 3.0,
        "{found:?}"
    );
    for c in &found.cycles {
        assert!((c.sliding_force.0 - 3325.0).abs() < 20.0, "{}", c.sliding_force.0);
    }
}

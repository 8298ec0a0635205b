//! Impacts without collision of contacts with friction in their tangent planes, against independent integrations of their law.

use super::Random;
use crate::contact::keller::{Jammed, jam};
use crate::contact::space::{Cone, Sliding};
use crate::system::Section;

type Block = [[f64; 4]; 4];

fn sliding(mu: f64, d: [f64; 3], section: Section) -> Cone {
    let friction = Sliding::Slides { mu, d };
    Cone { at: 0, tangents: 2, given: None, least: 0.0, friction, section, inner: None }
}

/// γ changes by this with a unit of normal force of a contact that slips along (c, s).
fn rate(g: &Block, mu: f64, section: Section, c: f64, s: f64) -> [f64; 3] {
    let [x, y, _] = section.push([c, s, 0.0]);
    let l = [1.0, -mu * x, -mu * y];
    std::array::from_fn(|i| (0..3).map(|j| g[i][j] * l[j]).sum())
}

/// A contact in a paradox: its inverse masses, μ, section, and slip.
fn paradox(r: &mut Random) -> (Block, f64, Section, [f64; 3]) {
    loop {
        let f: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| r.within(-1.0, 1.0)));
        let mut g = [[0.0; 4]; 4];
        for i in 0..3 {
            for j in 0..3 {
                g[i][j] = (0..3).map(|k| f[i][k] * f[j][k]).sum::<f64>() + if i == j { 0.05 } else { 0.0 };
            }
        }
        let mu = r.within(0.3, 4.0);
        let section = match r.below(3) {
            0 => Section::Ellipse([r.within(0.4, 1.2), r.within(0.4, 1.2)]),
            _ => Section::Round,
        };
        let (angle, speed) = (r.within(0.0, std::f64::consts::TAU), r.within(0.1, 3.0));
        let (s, c) = angle.sin_cos();
        if rate(&g, mu, section, c, s)[0] < -0.02 * g[0][0] {
            return (g, mu, section, [speed * c, speed * s, 0.0]);
        }
    }
}

fn jammed(g: &Block, mu: f64, section: Section, slip: [f64; 3]) -> Option<Jammed> {
    let speed = slip[0].hypot(slip[1]);
    jam(&sliding(mu, slip.map(|s| s / speed), section), *g, slip, false)
}

/// Impulse and slip at the end by steps of the normal impulse, shorter and shorter towards zero slip.
fn by_steps(g: &Block, mu: f64, section: Section, slip: [f64; 3]) -> ([f64; 3], [f64; 2]) {
    let law = |y: &[f64; 5]| {
        let size = y[1].hypot(y[2]);
        let (c, s) = (y[1] / size, y[2] / size);
        let [x, t, _] = section.push([c, s, 0.0]);
        let a = rate(g, mu, section, c, s);
        [a[0], a[1], a[2], -mu * x, -mu * t]
    };
    let start = slip[0].hypot(slip[1]);
    let mut y = [0.0, slip[0], slip[1], 0.0, 0.0];
    let mut p = 0.0;
    loop {
        let k1 = law(&y);
        let size = y[1].hypot(y[2]);
        if size < 1e-9 * start {
            break;
        }
        let h = 0.0005 * size / k1[1].hypot(k1[2]);
        let after = |h: f64| -> [f64; 5] {
            let at = |k: &[f64; 5], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
            let k2 = law(&at(&k1, 0.5 * h));
            let k3 = law(&at(&k2, 0.5 * h));
            let k4 = law(&at(&k3, h));
            std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
        };
        let next = after(h);
        if next[0] > 0.0 {
            // γ_N is back within this step
            let (mut low, mut high) = (0.0, h);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if after(middle)[0] > 0.0 { high = middle } else { low = middle }
            }
            let y = after(high);
            return ([p + high, y[3], y[4]], [y[1], y[2]]);
        }
        y = next;
        p += h;
    }
    // at zero slip: the force that keeps it there, or the only direction along which it begins
    let det = g[1][1] * g[2][2] - g[1][2] * g[2][1];
    let hold =
        [-(g[2][2] * g[1][0] - g[1][2] * g[2][0]) / det, -(g[1][1] * g[2][0] - g[2][1] * g[1][0]) / det];
    let inside = section.size([hold[0], hold[1], 0.0]) <= mu;
    let d = match inside {
        true => [0.0; 2],
        false => {
            let turn = |k: f64| {
                let a = rate(g, mu, section, k.cos(), k.sin());
                (k.cos() * a[2] - k.sin() * a[1], k.cos() * a[1] + k.sin() * a[2])
            };
            let step = std::f64::consts::TAU / 20_000.0;
            let found = (0..20_000).map(|k| k as f64 * step).find(|k| {
                let (low, high) = (turn(*k), turn(k + step));
                low.0 * high.0 <= 0.0 && low.1 > 0.0
            });
            let (mut low, mut high) = (found.unwrap(), found.unwrap() + step);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if turn(low).0 * turn(middle).0 <= 0.0 { high = middle } else { low = middle }
            }
            [low.cos(), low.sin()]
        }
    };
    let (f, a) = match inside {
        true => {
            let a = g[0][0] + g[0][1] * hold[0] + g[0][2] * hold[1];
            (hold, [a, 0.0, 0.0])
        }
        false => {
            let [x, y, _] = section.push([d[0], d[1], 0.0]);
            ([-mu * x, -mu * y], rate(g, mu, section, d[0], d[1]))
        }
    };
    let more = -y[0] / a[0];
    ([p + more, y[3] + more * f[0], y[4] + more * f[1]], [more * a[1], more * a[2]])
}

#[test]
fn a_thousand_impacts_without_collision_are_those_of_an_integration_by_small_steps() {
    let mut r = Random(5);
    let (mut turned, mut slipped_again) = (0, 0);
    for round in 0..1000 {
        let (g, mu, section, slip) = paradox(&mut r);
        let found = jammed(&g, mu, section, slip).unwrap();
        let (impulse, left) = by_steps(&g, mu, section, slip);
        let size = impulse[0];
        for k in 0..3 {
            assert!((found.impulse[k] - impulse[k]).abs() < 1e-6 * size, "{round}: {found:?} {impulse:?}");
        }
        let speed = slip[0].hypot(slip[1]);
        for k in 0..2 {
            assert!((found.slip[k] - left[k]).abs() < 1e-6 * (speed + size), "{round}: {found:?} {left:?}");
        }
        let moves = left[0].hypot(left[1]) > 1e-6 * speed;
        turned += usize::from(moves && found.first == found.impulse[0]);
        slipped_again += usize::from(moves && found.first < found.impulse[0]);
    }
    // slip turns out of the paradox, or stops for good; none of these draws stops and goes on elsewhere
    assert!(turned > 20 && turned + slipped_again < 900, "{turned} {slipped_again}");
}

/// Momentum, no velocity along the normal at the end, friction within its cone, no energy made.
#[test]
fn ten_thousand_impacts_without_collision_keep_the_laws() {
    let mut r = Random(6);
    for round in 0..10_000 {
        let (g, mu, section, slip) = paradox(&mut r);
        let Jammed { impulse, slip: left, first } = jammed(&g, mu, section, slip).unwrap();
        let size = impulse[0] * g[0][0] + slip[0].hypot(slip[1]);
        let change: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| g[i][j] * impulse[j]).sum());
        assert!(change[0].abs() < 1e-8 * size, "{round}: {change:?}");
        for k in 0..2 {
            assert!((slip[k] + change[k + 1] - left[k]).abs() < 1e-8 * size, "{round}: {change:?} {left:?}");
        }
        assert!(impulse[0] > 0.0 && first <= impulse[0] * (1.0 + 1e-12), "{round}");
        let friction = section.size([impulse[1], impulse[2], 0.0]);
        assert!(friction <= mu * impulse[0] * (1.0 + 1e-9), "{round}: {friction} {impulse:?}");
        let work: f64 = (0..2).map(|k| impulse[k + 1] * (slip[k] + left[k])).sum();
        assert!(work <= 1e-9 * size * size, "{round}: {work}");
    }
}

/// Masses that do not couple the planes: the planar rule, which ends every slip.
#[test]
fn slip_in_the_plane_of_a_paradox_ends_as_in_the_plane() {
    let mut r = Random(7);
    for _ in 0..200 {
        let (a, b, c) = (r.within(0.5, 2.0), r.within(1.0, 4.0), r.within(0.5, 4.0));
        let coupling = r.within(0.2, 0.95) * (a * b).sqrt();
        let g = [[a, coupling, 0.0, 0.0], [coupling, b, 0.0, 0.0], [0.0, 0.0, c, 0.0], [0.0; 4]];
        let (mu, speed) = (r.within(1.05, 3.0) * a / coupling, r.within(0.1, 2.0));
        let found = jammed(&g, mu, Section::Round, [speed, 0.0, 0.0]).unwrap();
        // γ_N = γ_T = 0
        let det = a * b - coupling * coupling;
        let (normal, tangent) = (coupling * speed / det, -a * speed / det);
        assert!((found.impulse[0] - normal).abs() < 1e-13 * normal, "{found:?}");
        assert!((found.impulse[1] - tangent).abs() < 1e-13 * normal && found.impulse[2] == 0.0, "{found:?}");
        assert_eq!(found.slip, [0.0; 3]);
        let first = speed / (mu * b - coupling);
        assert!((found.first - first).abs() < 1e-12 * first, "{found:?}");
    }
}

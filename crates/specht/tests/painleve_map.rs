//! Curves, maps and their borders.

mod lab;

use lab::{Lab, close};
use specht::analysis::BorderKind as Kind;
use specht::analysis::Verdict;
use specht::{
    analysis::{Axis, Map, Watch},
    inside::{Plane, map},
};

const DEG: f64 = std::f64::consts::PI / 180.0;

fn axis(name: &str, from: f64, to: f64, count: usize) -> Axis {
    Axis { name: name.into(), from, to, count }
}

fn run(lab: &Lab, contact: Option<&str>, axes: &[Axis]) -> Map {
    let names: Vec<String> = axes.iter().map(|a| a.name.clone()).collect();
    let plane = Plane::new(&lab.sys, &names, contact).unwrap();
    map(&plane, axes, Watch::default()).unwrap()
}

fn borders(m: &Map, kind: Kind) -> Vec<f64> {
    m.borders.iter().filter(|b| b.kind == kind).map(|b| b.points[0][0]).collect()
}

/// ANH-4.5-ELLIPTIC: the region of the nominal set, and its closed form.
#[test]
fn anh_4_5_elliptic_region() {
    let lab = Lab::new("elliptic_pendulum", &["th0"]);
    let m = run(&lab, Some("rub"), &[axis("th0", 0.0, 180.0 * DEG, 181)]);
    let found = borders(&m, Kind::Index);
    let (r, mu) = (0.1_f64, 0.8_f64);
    let root = (mu * mu - 4.0 * r * (1.0 + r)).sqrt();
    let (a, b) = (((mu - root) / (2.0 * r)).atan(), ((mu + root) / (2.0 * r)).atan());
    let expected = [a, b, 180.0 * DEG - b, 180.0 * DEG - a];
    assert_eq!(found.len(), 4);
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() < 1e-9, "{f} {e}");
    }
    close(a / DEG, 60.450, 1e-5);
    close(b / DEG, 80.890, 1e-5);
}

/// ANH-3.6-CRANK: the largest index of Fig. 3.9 and where it lies.
#[test]
fn anh_3_6_crank_largest_index() {
    let lab = Lab::new("crank", &["q0"]);
    let m = run(&lab, Some("rub"), &[axis("q0", 0.0, 360.0 * DEG, 361)]);
    let largest = m.largest.clone().unwrap();
    close(largest.value, 0.50732, 1e-5);
    let at = largest.at[0] / DEG;
    assert!((at - 120.44).abs() < 0.01 || (at - 239.56).abs() < 0.01, "{at}");
    assert!(borders(&m, Kind::Index).is_empty());
}

/// ANH-1.2-PK0: a map of angle and friction, its border is the curve mu tan(phi) = 2.
#[test]
fn a_map_finds_the_border_to_nine_digits() {
    let lab = Lab::new("painleve_unit", &["phi", "mu"]);
    let m = run(&lab, Some("rub"), &[axis("phi", DEG, 89.0 * DEG, 400), axis("mu", 0.0, 3.0, 400)]);
    assert_eq!(m.borders.len(), 1);
    assert!(m.borders[0].points.len() > 400);
    for p in &m.borders[0].points {
        assert!((p[1] * p[0].tan() - 2.0).abs() < 1e-6, "{p:?}");
    }
    assert!(m.count(Verdict::Several) == 0 && m.count(Verdict::None) > 1000);
}

/// ANH-5.6-SLIDERS: nine domains in the plane (c, y).
#[test]
fn anh_5_6_sliders_nine_domains() {
    let lab = Lab::new("sliders", &["c", "b"]);
    let m = run(&lab, None, &[axis("c", -3.0, 3.0, 61), axis("b", -3.0, 3.0, 61)]);
    let (mut several, mut none) = (0, 0);
    for (k, s) in m.grid.iter().enumerate() {
        let (c, y) = (m.axes[0].value(k % 61), m.axes[1].value(k / 61));
        // mu = 1, l = 1, so y = mu b; stay away from the borders
        let near = [y - 1.0, y + 1.0, y - c - 1.0, y - c + 1.0].iter().any(|v| v.abs() < 1e-6);
        if near {
            continue;
        }
        let expected = domain(c, y);
        let v = s.unwrap().class.verdict;
        assert_eq!(v, expected, "c = {c}, y = {y}");
        several += usize::from(v == Verdict::Several);
        none += usize::from(v == Verdict::None);
    }
    assert!(several > 100 && none > 100);
    // every border point lies on one of the lines of Fig. 5.3
    for b in &m.borders {
        for p in &b.points {
            let (c, y) = (p[0], p[1]);
            let d = [y - 1.0, y + 1.0, y - c - 1.0, y - c + 1.0].iter().fold(9.0_f64, |m, v| m.min(v.abs()));
            assert!(d < 1e-6, "{p:?} {:?}", b.kind);
        }
    }
    // and so does what is drawn between them
    for b in &m.borders {
        for p in b.points.windows(2) {
            let (c, y) = (0.5 * (p[0][0] + p[1][0]), 0.5 * (p[0][1] + p[1][1]));
            let d = [y - 1.0, y + 1.0, y - c - 1.0, y - c + 1.0].iter().fold(9.0_f64, |m, v| m.min(v.abs()));
            assert!(d < 1e-6, "{p:?} {:?}", b.kind);
        }
    }
    // the lines meet at four places
    let at: Vec<[f64; 2]> = m.junctions.iter().map(|j| j.at).collect();
    assert_eq!(at.len(), 4, "{at:?}");
    for e in [[-2.0, -1.0], [0.0, -1.0], [0.0, 1.0], [2.0, 1.0]] {
        assert!(at.iter().any(|f| (f[0] - e[0]).abs() < 1e-6 && (f[1] - e[1]).abs() < 1e-6), "{e:?} {at:?}");
    }
}

/// ANH-3.2-PKEXT: μ|L| = 1 and R⁰ = 0 meet at tan φ = (M₁ + M₂)/(μ M₂), P₁ = P₂ M₁/M₂; for any grid.
#[test]
fn borders_of_both_kinds_meet_where_the_formulas_say() {
    let lab = Lab::new("painleve_klein", &["phi", "P1"]);
    let (phi, p1) = ((3.0_f64 / (0.5 * 2.0)).atan(), 1.0);
    for (n, k) in [(20, 30), (33, 41), (57, 26)] {
        let m = run(&lab, Some("rub"), &[axis("phi", 20.0 * DEG, 88.0 * DEG, n), axis("P1", -3.0, 4.0, k)]);
        assert_eq!(m.junctions.len(), 1, "{:?}", m.junctions);
        let j = m.junctions[0];
        assert!((j.at[0] - phi).abs() < 1e-7 && (j.at[1] - p1).abs() < 1e-7, "{j:?}");
    }
}

// (3.184), as corrected
fn crank_index(q: f64, l: f64, r: f64, m1: f64, m2: f64) -> f64 {
    let w = (l * l - (r * q.sin()).powi(2)).sqrt();
    let x = w + r * q.cos();
    m2 * r * w * q.sin().abs() / (3.0 * m1 * (x * q.sin()).powi(2) + m2 * w * w)
}

/// ANH-3.6-CRANK: without paradox for every position when l > l₁ = 1.1298 r (equal masses, μ = 1).
#[test]
fn anh_3_6_crank_shortest_coupler_of_a_map() {
    let lab = Lab::with("crank", &["q0", "l"], None, &[("m2", "1"), ("mu", "1")]);
    let r = 0.1;
    let m = run(&lab, Some("rub"), &[axis("q0", 0.0, 180.0 * DEG, 38), axis("l", 1.1298 * r, 1.5 * r, 23)]);
    let best = m.largest.clone().unwrap();
    // the maximum by the formula
    let f = |q: f64| -crank_index(q, 1.1298 * r, r, 1.0, 1.0);
    let (q, v) = specht::inside::minimum(f, 1.8, 2.3, 1e-10, f64::NEG_INFINITY);
    close(best.value, -v, 1e-12);
    close(best.value, 1.0, 1e-3);
    assert!((best.at[0] - q).abs() < 1e-6 && (best.at[1] - 1.1298 * r).abs() < 1e-12, "{best:?}");
    assert!((best.at[0] / DEG - 115.4).abs() < 0.1, "{best:?}");
    // and over both: a shorter coupler has a region of paradox, its border is mu L = 1
    let m =
        run(&lab, Some("rub"), &[axis("q0", 1.0 * DEG, 179.0 * DEG, 90), axis("l", 1.05 * r, 1.3 * r, 51)]);
    let border: Vec<_> = m.borders.iter().filter(|b| b.kind == Kind::Index).flat_map(|b| &b.points).collect();
    assert!(border.len() > 50);
    for p in &border {
        close(crank_index(p[0], p[1], r, 1.0, 1.0), 1.0, 1e-6);
    }
    let longest = border.iter().map(|p| p[1]).fold(0.0, f64::max);
    assert!((longest / r - 1.1298).abs() < 1e-3, "{longest}");
}

/// A maximum inside the map is found to many digits, whatever the grid.
#[test]
fn the_largest_index_of_a_map_does_not_depend_on_the_grid() {
    let lab = Lab::new("elliptic_pendulum", &["th0", "mu"]);
    let one = run(&lab, Some("rub"), &[axis("th0", 0.0, 90.0 * DEG, 901)]).largest.unwrap();
    for n in [7, 18, 50] {
        let two = run(&lab, Some("rub"), &[axis("th0", 0.0, 90.0 * DEG, n), axis("mu", 0.1, 0.9, 5)]);
        close(two.largest.unwrap().value, one.value, 1e-9);
    }
}

/// Coordinates and velocities as axes: the same numbers as the parameters that are their start values.
#[test]
fn coordinates_and_velocities_are_axes_like_parameters() {
    let lab = Lab::new("crank", &["q0", "w0"]);
    let by_name = run(&lab, Some("rub"), &[axis("q0", 0.2, 3.0, 15), axis("w0", -40.0, 40.0, 14)]);
    let by_state = run(&lab, Some("rub"), &[axis("q", 0.2, 3.0, 15), axis("q'", -40.0, 40.0, 14)]);
    assert_eq!(by_name.grid, by_state.grid);
    assert_eq!(by_name.borders, by_state.borders);
    // a parameter and a velocity; the rod's height follows its closed contact
    let rod = Lab::new("rod", &["mu"]);
    let m = run(&rod, Some("tip"), &[axis("phi", 5.0 * DEG, 85.0 * DEG, 30), axis("mu", 0.5, 3.0, 20)]);
    let border: Vec<_> = m.borders.iter().filter(|b| b.kind == Kind::Index).flat_map(|b| &b.points).collect();
    assert!(border.len() > 30);
    for p in border {
        // PG-5.3-ROD
        let phi = p[0];
        close(p[1], (1.0 + 3.0 * phi.cos().powi(2)) / (3.0 * phi.sin() * phi.cos()), 1e-6);
    }
    assert!(m.undefined.is_none());
}

/// Loops of bodies: what is not on an axis follows, although the file declares no other position.
#[test]
fn the_rest_of_a_mechanism_follows_the_coordinate_of_an_axis() {
    let lab = Lab::new("quick_return", &["phi0"]);
    let a = run(&lab, Some("slot"), &[axis("phi0", 0.1, 3.0, 40)]);
    let b = run(&lab, Some("slot"), &[axis("phi", 0.1, 3.0, 40)]);
    assert_eq!(b.undefined, None);
    for (x, y) in a.grid.iter().zip(&b.grid) {
        close(y.unwrap().index, x.unwrap().index, 1e-9);
    }
    // the link itself as axis: the crank follows
    let c = run(&lab, Some("slot"), &[axis("psi", 0.15, 0.5, 9)]);
    assert!(c.grid.iter().all(Option::is_some), "{:?}", c.undefined);
}

#[test]
fn an_interrupted_map_keeps_what_it_has() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let lab = Lab::new("painleve_unit", &["phi", "mu"]);
    let axes = [axis("phi", DEG, 89.0 * DEG, 60), axis("mu", 0.0, 3.0, 60)];
    let names: Vec<String> = axes.iter().map(|a| a.name.clone()).collect();
    let plane = Plane::new(&lab.sys, &names, Some("rub")).unwrap();
    let flag = AtomicBool::new(false);
    let stop = |part: f64| {
        if part > 0.2 {
            flag.store(true, Ordering::Relaxed);
        }
    };
    let m = map(&plane, &axes, Watch { interrupt: Some(&flag), progress: Some(&stop) }).unwrap();
    assert!(!m.complete && m.done > 0.1 && m.done < 0.9, "{}", m.done);
    let filled = m.grid.iter().filter(|s| s.is_some()).count();
    assert_eq!(m.grid.len(), 3600);
    assert!((filled as f64 / 3600.0 - m.done).abs() < 1e-12);
}

/// Same bits for any number of threads.
#[test]
fn a_map_has_the_same_bits_for_any_number_of_threads() {
    let lab = Lab::new("sliders", &["c", "b"]);
    let axes = [axis("c", -3.0, 3.0, 41), axis("b", -3.0, 3.0, 37)];
    let with = |n: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(|| run(&lab, None, &axes))
    };
    // as text: NaN is not equal to itself
    let one = format!("{:?}", with(1));
    for n in [2, 3, 8] {
        assert!(format!("{:?}", with(n)) == one);
    }
}

#[test]
fn axes_that_make_no_sense_are_refused_by_name() {
    let lab = Lab::new("painleve_unit", &["phi", "mu"]);
    for (axes, words) in [
        (vec![axis("mu", 3.0, 0.0, 9)], "`mu` runs from 3 to 0"),
        (vec![axis("mu", 1.0, 1.0, 9)], "the first end must be the smaller one"),
        (vec![axis("mu", 0.0, f64::NAN, 9)], "two finite ends"),
        (vec![axis("mu", 0.0, 1.0, 1)], "at least 2"),
        (vec![axis("mu", 0.0, 1.0, 5), axis("mu", 0.0, 1.0, 5)], "both axes of the map are `mu`"),
        (
            vec![axis("mu", 0.0, 1.0, 1 << 20), axis("phi", 0.1, 1.0, 1 << 20)],
            "400 values per axis are plenty",
        ),
        (vec![], "one axis (a curve) or two (a map)"),
    ] {
        let names: Vec<String> = axes.iter().map(|a| a.name.clone()).collect();
        let plane = Plane::new(&lab.sys, &names, None).unwrap();
        let text = map(&plane, &axes, Watch::default()).unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    let text = Plane::new(&lab.sys, &["nu".to_string()], None).unwrap_err().to_string();
    assert!(text.contains("`nu`") && text.contains("`mu`") && text.contains("`x'`"), "{text}");
}

// (5.112)-(5.119) with l = 1, Y > 0
fn domain(c: f64, y: f64) -> Verdict {
    let l = 1.0;
    let two = if c > 0.0 { -l < y && y < c - l } else { c - l < y && y < -l };
    let three = if c > 0.0 { l < y && y < l + c } else { l + c < y && y < l };
    let four = c - l < y && y < c + l;
    match usize::from(two) + usize::from(three) + usize::from(four) {
        0 => Verdict::None,
        1 => Verdict::Unique,
        _ => Verdict::Several,
    }
}

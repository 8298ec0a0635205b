//! Curves, maps and their borders.

mod lab;

use lab::{Lab, close};
use specht::analysis::Verdict;
use specht::analysis::border::Kind;
use specht::analysis::map::{Axis, Map, Plane, Watch, map};
use specht::analysis::picture::svg;

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
    assert!(svg(&m, "crank").contains("</svg>"));
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
    let picture = svg(&m, "unit masses");
    assert!(picture.len() < 300_000);
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
            // crossings of grid lines are exact, junctions inside a cell are drawn only
            let on_grid = [c, y].iter().any(|v| (v / 0.1 - (v / 0.1).round()).abs() < 1e-9);
            assert!(d < if on_grid { 1e-6 } else { 0.1 }, "{p:?} {:?}", b.kind);
        }
    }
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

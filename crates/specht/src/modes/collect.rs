//! What a search found, sorted into points and continua.
//!
//! Solutions with the same forces are one point, whatever their patterns; a point inside a continuum is dropped;
//! polyhedra that touch are one continuum.

use super::family::Polyhedron;
use super::pattern::{Leaf, Pattern, satisfies};
use super::problem::Problem;

// two solutions closer than this (scaled) are one
const SAME: f64 = 1e-7;

/// A solution and the patterns that describe it.
pub(crate) type Point = (Vec<f64>, Vec<Pattern>);

/// Points, and groups of polyhedra that touch.
pub(crate) fn sort_out(p: &Problem, found: &[(Leaf, Pattern)]) -> (Vec<Point>, Vec<Vec<Polyhedron>>) {
    let mut families: Vec<Vec<Polyhedron>> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    for (leaf, pattern) in found {
        if leaf.null.rows() == 0 {
            add_point(p, &mut points, leaf.x.clone(), pattern);
        } else if let Some(poly) = Polyhedron::new(p, leaf, pattern) {
            if poly.is_extended(p) {
                add_family(p, &mut families, poly);
            } else {
                add_point(p, &mut points, poly.x.clone(), pattern);
            }
        }
    }
    points.retain(|(x, _)| !families.iter().flatten().any(|f| satisfies(p, &f.pattern, x)));
    (points, families)
}

fn add_point(p: &Problem, points: &mut Vec<(Vec<f64>, Vec<Pattern>)>, x: Vec<f64>, pattern: &Pattern) {
    let mut y = Vec::new();
    p.y(&x, &mut y);
    let tol = SAME * p.size(&x, &y);
    for (other, patterns) in points.iter_mut() {
        if other.iter().zip(&x).all(|(a, b)| (a - b).abs() <= tol) {
            patterns.push(pattern.clone());
            return;
        }
    }
    points.push((x, vec![pattern.clone()]));
}

// polyhedra that touch belong to one continuum
fn add_family(p: &Problem, families: &mut Vec<Vec<Polyhedron>>, poly: Polyhedron) {
    let mut group = vec![poly];
    families.retain_mut(|g| {
        let joined = g.iter().any(|f| f.touches(&group[0], p));
        if joined {
            group.append(g);
        }
        !joined
    });
    // the first found leads: its modes are the least open
    group.rotate_left(1);
    families.push(group);
}

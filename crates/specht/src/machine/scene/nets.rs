//! Lines on curved surfaces in space.

use std::collections::BTreeMap;

use crate::expr::{NodeId, Symbol};
use crate::shape::{add, cross};

use super::Shapes;
use super::probe::Probe;

/// Lines in each direction, and points on each.
const LINES: usize = 8;
const POINTS: usize = 24;
/// How far a surface without ranges is drawn (m).
const WIDE: f64 = 2.0;

/// Circles around and along a ring with a round section; `a` is a unit vector across its unit axis.
pub(super) fn torus(
    center: [f64; 3],
    axis: [f64; 3],
    a: [f64; 3],
    ring: f64,
    tube: f64,
) -> Vec<Vec<[f64; 3]>> {
    let b = cross(axis, a);
    let at = |u: f64, v: f64| {
        let ((s, c), (t, d)) = (u.sin_cos(), v.sin_cos());
        let wide = ring + tube * d;
        let out = std::array::from_fn(|k| wide * (c * a[k] + s * b[k]) + tube * t * axis[k]);
        add(center, out)
    };
    lines([[0.0, std::f64::consts::TAU]; 2], |u, v| Some(at(u, v)))
}

fn lines([u, v]: [[f64; 2]; 2], mut at: impl FnMut(f64, f64) -> Option<[f64; 3]>) -> Vec<Vec<[f64; 3]>> {
    let mix = |r: [f64; 2], k: usize, n: usize| r[0] + (r[1] - r[0]) * k as f64 / n as f64;
    let mut out = Vec::new();
    for i in 0..=LINES {
        out.push((0..=POINTS).filter_map(|k| at(mix(u, i, LINES), mix(v, k, POINTS))).collect());
        out.push((0..=POINTS).filter_map(|k| at(mix(u, k, POINTS), mix(v, i, LINES))).collect());
    }
    out
}

impl Shapes<'_> {
    /// Lines of constant u and v of a surface.
    pub(super) fn surface(
        &mut self,
        point: &[NodeId; 3],
        parameters: [u32; 2],
        range: &Option<[[NodeId; 2]; 2]>,
    ) -> Vec<Vec<[f64; 3]>> {
        let ranges = match range {
            Some([u, v]) => [*u, *v].map(|r| self.pair(r)),
            None => [[-WIDE, WIDE]; 2],
        };
        // all points of all lines as nodes, evaluated at once
        let mut graph = self.graph.clone();
        let mut nodes = Vec::new();
        lines(ranges, |u, v| {
            let values = [u, v].map(|x| graph.num(x));
            let map =
                BTreeMap::from([(Symbol(parameters[0]), values[0]), (Symbol(parameters[1]), values[1])]);
            nodes.extend(point.map(|n| graph.substitute(n, &map)));
            None
        });
        let mut probe = Probe::new(self.system, &graph, &nodes);
        probe.at(&self.sample);
        let mut next = 0;
        lines(ranges, |_, _| {
            next += 3;
            let p = [next - 3, next - 2, next - 1].map(|k| probe.value(k));
            p.iter().all(|x| x.is_finite()).then_some(p)
        })
    }
}

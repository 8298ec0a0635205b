//! Outlines: straight-edged shapes that meet corner against edge.
//!
//! ```text
//!   material below          A corner of one outline against one *convex chain* of the other: a run of edges between
//!   ──1──╮                  re-entrant corners. Of a convex chain the edge with the largest signed distance is the one
//!         ╲2                that counts, g = max_e n_e · (p − p_e); it is frozen in a latch and handed over to its
//!          ╰──3──           neighbour where both distances are equal: exactly at the corner when the gap is zero.
//! ```
//!
//! Each pair (convex corner, convex chain) is one latent contact, so their number is known at load and their names stay. At a
//! re-entrant corner two chains meet, and the corner in it may touch both. The first and last edge of an open outline, and
//! edges beyond re-entrant corners, count as endless; the free ends of an open outline are not corners.
//! Which corners are convex is decided with the default values of the parameters.

use crate::expr::NodeId;

use super::frames::Builder;
use super::geometry::{Placed, Touch};
use super::kinematics::{place, turn};
use super::{FeatureRef, Input, Shape};

/// One corner against one chain.
#[derive(Clone, Debug)]
pub(super) struct Latent {
    pub touch: Touch,
    /// Frozen edge as inputs: point (x, y), unit normal (x, y) in the axes of the chain's body. None when the other
    /// feature is a flat.
    pub watch: Option<Watch>,
}

/// The chain that a corner watches.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// First of four [`Input::Feature`] numbers.
    pub feature: usize,
    /// Point and normal of every edge, in body axes.
    pub edges: Vec<[NodeId; 4]>,
    /// Whether the last edge is followed by the first.
    pub ring: bool,
    /// The corner in the axes of the chain's body.
    pub corner: [NodeId; 2],
}

/// Corners and chains of one outline in body axes.
struct Parts {
    corners: Vec<[NodeId; 2]>,
    chains: Vec<(Vec<[NodeId; 4]>, bool)>,
}

impl Builder<'_> {
    /// All latent contacts of a pair of which at least one is an outline; `None` when the pair is not supported.
    pub fn outline_contacts(
        &mut self,
        a: FeatureRef,
        b: FeatureRef,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
    ) -> Option<Vec<Latent>> {
        let (pa, pb) = (self.parts(a), self.parts(b));
        let mut out = Vec::new();
        match (pa, pb) {
            (Some(pa), Some(pb)) => {
                for &corner in &pa.corners {
                    for chain in &pb.chains {
                        out.push(self.corner_on_chain(a.body, corner, b.body, chain, false, tangent, count)?);
                    }
                }
                for &corner in &pb.corners {
                    for chain in &pa.chains {
                        out.push(self.corner_on_chain(b.body, corner, a.body, chain, true, tangent, count)?);
                    }
                }
            }
            (Some(parts), None) => self.outline_with(a, parts, b, false, tangent, count, &mut out)?,
            (None, Some(parts)) => self.outline_with(b, parts, a, true, tangent, count, &mut out)?,
            (None, None) => return None,
        }
        Some(out)
    }

    /// Outline against a flat (corners) or a point (chains). `swapped`: the outline is B.
    fn outline_with(
        &mut self,
        outline: FeatureRef,
        parts: Parts,
        other: FeatureRef,
        swapped: bool,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
        out: &mut Vec<Latent>,
    ) -> Option<()> {
        let mut unknowns = Vec::new();
        match self.placed(other, &mut unknowns, count)? {
            flat @ Placed::Flat { .. } => {
                for &corner in &parts.corners {
                    let pose = self.frame(outline.body).pose;
                    let center = place(&mut self.g, &pose, corner);
                    let point = Placed::Round { center, radius: self.zero, hole: false, point: true };
                    let touch = if swapped {
                        self.touch_placed(other.body, flat, outline.body, point, tangent, Vec::new())?
                    } else {
                        self.touch_placed(outline.body, point, other.body, flat, tangent, Vec::new())?
                    };
                    out.push(Latent { touch, watch: None });
                }
            }
            Placed::Round { point: true, .. } => {
                let local = match self.shape(other) {
                    Some(Shape::Point(p)) => *p,
                    _ => [self.zero; 2],
                };
                for chain in &parts.chains {
                    // the point is A unless the outline is A
                    let latent = self.corner_on_chain(
                        other.body,
                        local,
                        outline.body,
                        chain,
                        !swapped,
                        tangent,
                        count,
                    )?;
                    out.push(latent);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// A corner of one body against a chain of another. `chain_is_a`: the chain belongs to A of the contact.
    fn corner_on_chain(
        &mut self,
        body: Option<usize>,
        corner: [NodeId; 2],
        chain_body: Option<usize>,
        (edges, ring): &(Vec<[NodeId; 4]>, bool),
        chain_is_a: bool,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
    ) -> Option<Latent> {
        let feature = count[1];
        count[1] += 4;
        let data: Vec<NodeId> = (0..4).map(|i| self.input(Input::Feature(feature + i))).collect();
        let pose = self.frame(chain_body).pose;
        let through = place(&mut self.g, &pose, [data[0], data[1]]);
        let normal = turn(&mut self.g, &pose, [data[2], data[3]]);
        let flat = Placed::Flat { through, normal };
        let own = self.frame(body).pose;
        let center = place(&mut self.g, &own, corner);
        let point = Placed::Round { center, radius: self.zero, hole: false, point: true };
        let touch = if chain_is_a {
            self.touch_placed(chain_body, flat, body, point, tangent, Vec::new())?
        } else {
            self.touch_placed(body, point, chain_body, flat, tangent, Vec::new())?
        };
        // the corner seen from the chain's body
        let d = self.sub2(center, pose.origin);
        let (cx, sy) = (self.g.mul(pose.cos, d[0]), self.g.mul(pose.sin, d[1]));
        let (cy, sx) = (self.g.mul(pose.cos, d[1]), self.g.mul(pose.sin, d[0]));
        let corner = [self.g.add(cx, sy), self.g.sub(cy, sx)];
        let watch = Watch { feature, edges: edges.clone(), ring: *ring, corner };
        Some(Latent { touch, watch: Some(watch) })
    }

    /// Convex corners and convex chains of an outline; `None` for another shape.
    fn parts(&mut self, r: FeatureRef) -> Option<Parts> {
        let Some(Shape::Outline { points, closed, material_left }) = self.shape(r).cloned() else {
            return None;
        };
        let n = points.len();
        if n < 2 {
            return Some(Parts { corners: Vec::new(), chains: Vec::new() });
        }
        let count = if closed { n } else { n - 1 };
        let value: Vec<[f64; 2]> = points.iter().map(|p| p.map(|c| self.default_value(c))).collect();
        let step = |i: usize| {
            let (p, q) = (value[i % n], value[(i + 1) % n]);
            [q[0] - p[0], q[1] - p[1]]
        };
        let mut edges = Vec::with_capacity(count);
        for i in 0..count {
            let (p, q) = (points[i], points[(i + 1) % n]);
            let d = self.sub2(q, p);
            let length = self.dot2(d, d);
            let length = self.g.fun(crate::expr::Fun::Sqrt, length);
            let (ux, uy) = (self.g.div(d[0], length), self.g.div(d[1], length));
            let normal = if material_left { [uy, self.g.neg(ux)] } else { [self.g.neg(uy), ux] };
            edges.push([p[0], p[1], normal[0], normal[1]]);
        }
        // turn at corner i, between edges i−1 and i: positive when the material angle is below 180°
        let turn_at = |i: usize| {
            let (e, f) = (step((i + n - 1) % n), step(i));
            let cross = e[0] * f[1] - e[1] * f[0];
            let size = (e[0].hypot(e[1]) * f[0].hypot(f[1])).max(f64::MIN_POSITIVE);
            let sine = cross / size * if material_left { 1.0 } else { -1.0 };
            if sine.abs() < 1e-12 { 0.0 } else { sine }
        };
        let inner = if closed { 0..n } else { 1..n - 1 };
        let corners = inner.clone().filter(|&i| turn_at(i) > 0.0).map(|i| points[i]).collect();
        let reentrant: Vec<usize> = inner.filter(|&i| turn_at(i) < 0.0).collect();
        let chains = match (closed, reentrant.first()) {
            (true, None) => vec![(edges, true)],
            (true, Some(&first)) => {
                // walk once around, starting at a re-entrant corner
                let mut chains: Vec<(Vec<[NodeId; 4]>, bool)> = Vec::new();
                for k in 0..n {
                    let i = (first + k) % n;
                    if reentrant.contains(&i) {
                        chains.push((Vec::new(), false));
                    }
                    if let Some(chain) = chains.last_mut() {
                        chain.0.push(edges[i]);
                    }
                }
                chains
            }
            (false, _) => {
                let mut chains = vec![(Vec::new(), false)];
                for (i, &edge) in edges.iter().enumerate() {
                    if reentrant.contains(&i) {
                        chains.push((Vec::new(), false));
                    }
                    if let Some(chain) = chains.last_mut() {
                        chain.0.push(edge);
                    }
                }
                chains
            }
        };
        Some(Parts { corners, chains })
    }
}

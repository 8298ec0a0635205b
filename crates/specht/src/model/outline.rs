//! Outlines: straight-edged shapes that meet corner against edge.
//!
//! A corner of one outline meets the *chains* of the other: runs of edges between re-entrant corners, cut where they would turn by
//! 180° or more ([`super::edges`]). Each pair (convex corner, chain) is one latent contact, so their number is known
//! at load and their names stay. At a re-entrant corner two chains meet, and a corner in the notch may touch both. Re-entrant
//! corners themselves touch nothing. A round meets the chains with their corners; a curve meets every edge and every convex
//! corner. The first and last edge of an open outline count as endless; its free ends are not corners. Which corners
//! are convex is decided with the default values of the parameters.

use std::f64::consts::PI;

use crate::expr::NodeId;

use super::edges::{Run, Visitor};
use super::frames::Builder;
use super::geometry::{Placed, Touch};
use super::kinematics::{Pose, place, turn};
use super::{FeatureRef, Input, Shape};

/// A chain turns by less than this.
const TURN: f64 = 0.95 * PI;

/// One corner, round or curve against one chain; or a corner against another shape.
#[derive(Clone, Debug)]
pub(super) struct Latent {
    pub touch: Touch,
    /// `None` when the other feature is not an outline.
    pub watch: Option<Watch>,
}

/// The chain that a body watches.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    /// First of its [`Input::Feature`] numbers, and how many there are.
    pub feature: usize,
    pub inputs: usize,
    /// Corners of the outline in body axes.
    pub points: Vec<[NodeId; 2]>,
    pub run: Run,
    pub visitor: Visitor,
    /// The corner, centre or nearest point in the axes of the chain's body.
    pub corner: [NodeId; 2],
    /// The middle of the visiting outline in the same axes.
    pub middle: Option<[NodeId; 2]>,
}

/// An outline in body axes: its convex corners, and its chains for corners and rounds.
struct Parts {
    body: Option<usize>,
    points: Vec<[NodeId; 2]>,
    corners: Vec<[NodeId; 2]>,
    chains: Vec<Run>,
}

/// A point, round or curve that meets an outline.
struct Guest {
    body: Option<usize>,
    placed: Placed,
    visitor: Visitor,
    unknowns: Vec<super::geometry::Unknown>,
    /// The middle of a visiting outline.
    middle: Option<[NodeId; 2]>,
}

impl Builder<'_> {
    /// All latent contacts of a pair of which at least one is an outline; `None` when the pair is not supported.
    pub(super) fn outline_contacts(
        &mut self,
        a: FeatureRef,
        b: FeatureRef,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
    ) -> Option<Vec<Latent>> {
        let mut out = Vec::new();
        match (self.parts(a), self.parts(b)) {
            (Some(pa), Some(pb)) => {
                for (guest, host, host_is_a) in [(&pa, &pb, false), (&pb, &pa, true)] {
                    let middle = Some(self.middle(guest));
                    for &corner in &guest.corners {
                        for run in &host.chains {
                            let guest = Guest { middle, ..self.corner(guest.body, corner) };
                            out.push(self.on_chain(guest, host, run, host_is_a, tangent, count)?);
                        }
                    }
                }
            }
            (Some(parts), None) => self.outline_with(&parts, b, false, tangent, count, &mut out)?,
            (None, Some(parts)) => self.outline_with(&parts, a, true, tangent, count, &mut out)?,
            (None, None) => return None,
        }
        Some(out)
    }

    /// Outline against another shape. `swapped`: the outline is B.
    fn outline_with(
        &mut self,
        parts: &Parts,
        other: FeatureRef,
        swapped: bool,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
        out: &mut Vec<Latent>,
    ) -> Option<()> {
        let visitor = match self.shape(other) {
            None | Some(Shape::Point(_)) => Some(Visitor::Point),
            Some(Shape::Round { hole: false, .. }) => Some(Visitor::Round),
            Some(Shape::Curve { .. }) => Some(Visitor::Curve),
            _ => None,
        };
        // chains against points and rounds, edges against curves
        let runs = match visitor {
            None => Vec::new(),
            Some(Visitor::Curve) => single_edges(&parts.chains, parts.points.len()),
            Some(_) => parts.chains.clone(),
        };
        for run in &runs {
            let mut unknowns = Vec::new();
            let placed = self.placed(other, &mut unknowns, count)?;
            let guest = Guest { body: other.body, placed, visitor: visitor?, unknowns, middle: None };
            out.push(self.on_chain(guest, parts, run, !swapped, tangent, count)?);
        }
        // corners against flats, holes and curves
        if matches!(visitor, Some(Visitor::Point | Visitor::Round)) {
            return Some(());
        }
        for &corner in &parts.corners {
            let mut unknowns = Vec::new();
            let placed = self.placed(other, &mut unknowns, count)?;
            let point = self.corner(parts.body, corner).placed;
            let touch = if swapped {
                self.touch_placed(other.body, placed, parts.body, point, tangent, unknowns)?
            } else {
                self.touch_placed(parts.body, point, other.body, placed, tangent, unknowns)?
            };
            out.push(Latent { touch, watch: None });
        }
        Some(())
    }

    fn corner(&mut self, body: Option<usize>, corner: [NodeId; 2]) -> Guest {
        let pose = self.frame(body).pose;
        let center = place(&mut self.g, &pose, corner);
        let placed = Placed::Round { center, radius: self.zero, hole: false, point: true };
        Guest { body, placed, visitor: Visitor::Point, unknowns: Vec::new(), middle: None }
    }

    /// A guest against a chain of an outline. `host_is_a`: the outline is A of the contact.
    fn on_chain(
        &mut self,
        guest: Guest,
        host: &Parts,
        run: &Run,
        host_is_a: bool,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
    ) -> Option<Latent> {
        // a corner always faces a ring, or a chain without ends, and meets its edges only
        let endless = run.ring || (!run.closed && run.count + 1 == host.points.len());
        let inputs = if endless && guest.visitor == Visitor::Point { 4 } else { 5 };
        let feature = count[1];
        count[1] += inputs;
        let data: Vec<NodeId> = (0..inputs).map(|i| self.input(Input::Feature(feature + i))).collect();
        let pose = self.frame(host.body).pose;
        let through = place(&mut self.g, &pose, [data[0], data[1]]);
        let normal = turn(&mut self.g, &pose, [data[2], data[3]]);
        let edge = match data.get(4) {
            Some(&corner) => Placed::Edge { through, normal, corner },
            None => Placed::Flat { through, normal },
        };
        let at = match guest.placed {
            Placed::Round { center, .. } => center,
            Placed::Curve { at, .. } => at,
            _ => return None,
        };
        let touch = if host_is_a {
            self.touch_placed(host.body, edge, guest.body, guest.placed, tangent, guest.unknowns)?
        } else {
            self.touch_placed(guest.body, guest.placed, host.body, edge, tangent, guest.unknowns)?
        };
        let corner = self.seen_from(&pose, at);
        let middle = guest.middle.map(|m| self.seen_from(&pose, m));
        let (points, run, visitor) = (host.points.clone(), run.clone(), guest.visitor);
        Some(Latent { touch, watch: Some(Watch { feature, inputs, points, run, visitor, corner, middle }) })
    }

    /// A place in the axes of a body.
    fn seen_from(&mut self, pose: &Pose, at: [NodeId; 2]) -> [NodeId; 2] {
        let d = self.sub2(at, pose.origin);
        let (cx, sy) = (self.g.mul(pose.cos, d[0]), self.g.mul(pose.sin, d[1]));
        let (cy, sx) = (self.g.mul(pose.cos, d[1]), self.g.mul(pose.sin, d[0]));
        [self.g.add(cx, sy), self.g.sub(cy, sx)]
    }

    /// Where the middle of an outline's corners is.
    fn middle(&mut self, parts: &Parts) -> [NodeId; 2] {
        let count = self.g.num(1.0 / parts.points.len() as f64);
        let mean = [0, 1].map(|k| {
            let sum = parts.points.iter().map(|p| p[k]).reduce(|a, b| self.g.add(a, b));
            self.g.mul(count, sum.unwrap_or(self.zero))
        });
        let pose = self.frame(parts.body).pose;
        place(&mut self.g, &pose, mean)
    }

    /// Convex corners and chains of an outline; `None` for another shape.
    fn parts(&mut self, r: FeatureRef) -> Option<Parts> {
        let Some(Shape::Outline { points, closed, material_left }) = self.shape(r).cloned() else {
            return None;
        };
        let n = points.len();
        let body = r.body;
        if n < 2 {
            return Some(Parts { body, points, corners: Vec::new(), chains: Vec::new() });
        }
        let value: Vec<[f64; 2]> = points.iter().map(|p| p.map(|c| self.default_value(c))).collect();
        let step = |i: usize| {
            let (p, q) = (value[i % n], value[(i + 1) % n]);
            [q[0] - p[0], q[1] - p[1]]
        };
        // turn at corner i, between edges i−1 and i: positive when the material angle is below 180°
        let turn_at = |i: usize| {
            let (e, f) = (step((i + n - 1) % n), step(i));
            let angle = (e[0] * f[1] - e[1] * f[0]).atan2(e[0] * f[0] + e[1] * f[1]);
            let angle = if material_left { angle } else { -angle };
            if angle.abs() < 1e-12 { 0.0 } else { angle }
        };
        let inner = if closed { 0..n } else { 1..n - 1 };
        let corners = inner.clone().filter(|&i| turn_at(i) > 0.0).map(|i| points[i]).collect();
        let reentrant: Vec<bool> = (0..n).map(|i| inner.contains(&i) && turn_at(i) < 0.0).collect();
        let first = reentrant.iter().position(|&r| r && closed);
        let run = |first: usize, ring: bool| Run {
            closed,
            material_left,
            first,
            count: 0,
            ring,
            reentrant: [reentrant[first % n], false],
        };
        if closed && first.is_none() {
            let ring = Run { count: n, ..run(0, true) };
            return Some(Parts { body, points, corners, chains: vec![ring] });
        }
        // walk along, from a re-entrant corner or the free end
        let begin = first.unwrap_or(0);
        let (mut chains, mut turned) = (vec![run(begin, false)], 0.0);
        for k in 0..if closed { n } else { n - 1 } {
            let i = (begin + k) % n;
            turned += if k > 0 { turn_at(i) } else { 0.0 };
            if k > 0 && (reentrant[i] || turned >= TURN) {
                chains.push(run(i, false));
                turned = 0.0;
            }
            if let Some(chain) = chains.last_mut() {
                chain.count += 1;
                chain.reentrant[1] = reentrant[(i + 1) % n];
            }
        }
        Some(Parts { body, points, corners, chains })
    }
}

/// The edges of chains one by one.
fn single_edges(chains: &[Run], corners: usize) -> Vec<Run> {
    let mut out = Vec::new();
    for chain in chains {
        for k in 0..chain.count {
            let ends = [k == 0 && chain.reentrant[0], k + 1 == chain.count && chain.reentrant[1]];
            let first = (chain.first + k) % corners;
            out.push(Run { first, count: 1, ring: false, reentrant: ends, ..chain.clone() });
        }
    }
    out
}

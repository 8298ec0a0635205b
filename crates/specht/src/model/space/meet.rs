//! Contacts of two convex polyhedra as formulas: gap, normal and point of every slot of [`super::features`], whose numbers are inputs.

use std::sync::Arc;

use crate::expr::NodeId;
use crate::shape::Hull;

use super::super::frames::Builder;
use super::super::{FeatureRef, Input};
use super::features::{Encounter, Form, Place};
use super::touch::{First, Meeting};
use super::vector::{along, cross, dot, sub, transposed};
use super::{SpaceShape, Vector};

/// Two polyhedra of the model.
#[derive(Clone, Debug)]
pub(in crate::model) struct Hulls {
    pub forms: [Arc<Form>; 2],
    /// Corners of A, then of B, body axes.
    pub points: Vec<Vector>,
    /// A as B sees it: axes by rows, origin.
    pub place: [NodeId; 12],
    /// First of their [`Input::Feature`] numbers, and how many each slot has.
    pub feature: usize,
    pub inputs: Vec<usize>,
}

/// The same with numbers.
#[derive(Clone, Debug)]
pub(in crate::model) struct EncounterPlan {
    /// Contacts, latches and outputs of the parameter tape: the first of each.
    pub contact: usize,
    pub latch: usize,
    pub source: usize,
    /// Outputs of the main tape.
    pub place: [u32; 12],
    /// Places of the inputs of every slot.
    pub inputs: Vec<Vec<usize>>,
    pub encounter: Encounter<f64>,
}

impl EncounterPlan {
    /// The latches of its slots.
    pub(in crate::model) fn latches<'a>(&self, latches: &'a [i32]) -> &'a [i32] {
        &latches[self.latch..self.latch + self.inputs.len()]
    }

    pub(in crate::model) fn latches_mut<'a>(&self, latches: &'a mut [i32]) -> &'a mut [i32] {
        &mut latches[self.latch..self.latch + self.inputs.len()]
    }

    /// Where A is, from the outputs of the main tape.
    pub(in crate::model) fn place<N: crate::linalg::Number>(&self, value: impl Fn(u32) -> N) -> Place<N> {
        Place::from(self.place.map(value))
    }

    /// Tells the value of every input.
    pub(in crate::model) fn write<C: crate::linalg::Number>(
        &self,
        encounter: &Encounter<C>,
        latches: &[i32],
        mut put: impl FnMut(usize, C),
    ) {
        for (slot, (inputs, &latch)) in self.inputs.iter().zip(self.latches(latches)).enumerate() {
            inputs.iter().zip(encounter.data(slot, latch)).for_each(|(&at, x)| put(at, x));
        }
    }

    /// The contact of a slot; the slot behind all is that of crossings to come.
    pub(in crate::model) fn contact_of(&self, slot: usize) -> usize {
        self.contact + if slot < self.inputs.len() { slot } else { self.encounter.corners() }
    }
}

impl Builder<'_> {
    /// A box or hull whose corners move against their body.
    pub(in crate::model) fn has_moving_corners(&mut self, r: FeatureRef) -> bool {
        let corners = match self.space_shape(r) {
            Some(SpaceShape::Box { center, half }) => vec![center, half],
            Some(SpaceShape::Hull(points)) => points,
            _ => return false,
        };
        !corners.into_iter().flatten().all(|n| self.is_parameter(n))
    }

    /// All slots of two boxes or hulls; `None` for points without volume.
    pub(super) fn hulls(
        &mut self,
        a: (Option<usize>, &SpaceShape),
        b: (Option<usize>, &SpaceShape),
        count: &mut [usize; 2],
    ) -> Option<(Vec<Meeting>, Hulls)> {
        let ((own, hull_a), (other, hull_b)) = (self.hull_of(a.1)?, self.hull_of(b.1)?);
        let forms = [hull_a, hull_b].map(|h| Arc::new(Form::of(&h)));
        let crossings = Encounter::<f64>::new(&forms).crossings;
        let feature = count[1];
        let (mut meetings, mut inputs) = (Vec::new(), Vec::new());
        for (guest, host, points) in [(a.0, b.0, &own), (b.0, a.0, &other)] {
            for &p in points {
                let data: Vec<NodeId> = (0..9).map(|i| self.input(Input::Feature(count[1] + i))).collect();
                count[1] += data.len();
                inputs.push(data.len());
                let below = [guest, host] == [b.0, a.0] && inputs.len() > own.len();
                meetings.push(self.corner_on_face(guest, p, host, &data, below));
            }
        }
        for _ in 0..crossings {
            let data: Vec<NodeId> = (0..13).map(|i| self.input(Input::Feature(count[1] + i))).collect();
            count[1] += data.len();
            inputs.push(data.len());
            meetings.push(self.edge_on_edge(a.0, b.0, &data));
        }
        let place = self.relative_place(a.0, b.0);
        let points = own.into_iter().chain(other).collect();
        Some((meetings, Hulls { forms, points, place, feature, inputs }))
    }

    /// Corners in body axes, and how they hang together; decided at the default parameters.
    pub(super) fn hull_of(&mut self, shape: &SpaceShape) -> Option<(Vec<Vector>, Hull)> {
        match shape {
            SpaceShape::Box { center, half } => {
                Some((self.corners(*center, *half), Hull::cuboid([0.0; 3], [1.0; 3])))
            }
            SpaceShape::Hull(points) => {
                let values: Vec<[f64; 3]> = points.iter().map(|p| p.map(|n| self.default_value(n))).collect();
                let hull = Hull::around(&values).ok()?;
                // the hull keeps corners only, in an order of its own
                let place = |v: &[f64; 3]| values.iter().position(|p| p == v);
                let kept: Option<Vec<usize>> = hull.vertices.iter().map(place).collect();
                Some((kept?.into_iter().map(|k| points[k]).collect(), hull))
            }
            _ => None,
        }
    }

    /// A corner of one body over a face of the other; `below`: it is a corner of B, under a face of A.
    fn corner_on_face(
        &mut self,
        guest: Option<usize>,
        corner: Vector,
        host: Option<usize>,
        data: &[NodeId],
        below: bool,
    ) -> Meeting {
        let own = self.space_frame(guest).pose;
        let pose = self.space_frame(host).pose;
        let g = &mut self.g;
        let x = own.place(g, corner);
        let through = pose.place(g, [data[0], data[1], data[2]]);
        let normal = pose.turn(g, [data[3], data[4], data[5]]);
        let first = pose.turn(g, [data[6], data[7], data[8]]);
        let d = sub(g, x, through);
        let gap = dot(g, normal, d);
        let meeting = Meeting::new(gap, normal, x);
        let meeting = if below { meeting.swapped(self) } else { meeting };
        Meeting { first: First::Given(first), ..meeting }
    }

    /// Two edges at the feet of their common perpendicular; without a pair the middles of the bodies, which stay apart.
    fn edge_on_edge(&mut self, a: Option<usize>, b: Option<usize>, data: &[NodeId]) -> Meeting {
        let (pose_a, pose_b) = (self.space_frame(a).pose, self.space_frame(b).pose);
        let (zero, one, on) = (self.zero, self.one, data[12]);
        let g = &mut self.g;
        let three = |k: usize| [data[k], data[k + 1], data[k + 2]];
        let (p, q) = (pose_a.place(g, three(0)), pose_b.place(g, three(6)));
        let (d, e) = (pose_a.turn(g, three(3)), pose_b.turn(g, three(9)));
        let w = sub(g, p, q);
        let c = cross(g, d, e);
        let square = dot(g, c, c);
        let square = g.select(on, square, one);
        // feet: w + s d − t e is perpendicular to both
        let (cosine, wd, we) = (dot(g, d, e), dot(g, w, d), dot(g, w, e));
        let (cd, ce) = (g.mul(cosine, wd), g.mul(cosine, we));
        let (s, t) = (g.sub(ce, wd), g.sub(we, cd));
        let [s, t] = [s, t].map(|top| {
            let share = g.div(top, square);
            g.select(on, share, zero)
        });
        let (on_a, on_b) = (along(g, p, s, d), along(g, q, t, e));
        let apart = sub(g, on_a, on_b);
        let far = dot(g, apart, apart);
        let (sine, far) = (self.root(square), self.root(far));
        let g = &mut self.g;
        let factor = g.div(on, sine);
        let normal = [0, 1, 2].map(|i| {
            let (out, between) = (g.mul(factor, c[i]), g.div(apart[i], far));
            g.select(on, out, between)
        });
        let gap = dot(g, normal, apart);
        Meeting { first: First::Given(d), ..Meeting::new(gap, normal, on_a) }
    }

    /// Axes by rows and origin of a body in the axes of another.
    fn relative_place(&mut self, a: Option<usize>, b: Option<usize>) -> [NodeId; 12] {
        let (a, b) = (self.space_frame(a).pose, self.space_frame(b).pose);
        let g = &mut self.g;
        let (of_a, of_b) = (transposed(&a.axes), transposed(&b.axes));
        let d = sub(g, a.origin, b.origin);
        let rows = of_b.map(|y| of_a.map(|x| dot(g, y, x)));
        let origin = of_b.map(|y| dot(g, y, d));
        std::array::from_fn(|k| if k < 9 { rows[k / 3][k % 3] } else { origin[k - 9] })
    }
}

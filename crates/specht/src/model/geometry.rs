//! Contact geometry of planar features (PG-4-CONTACT).
//!
//! Every pair is brought to: a unit normal n from B to A, the gap, and the two material points. For round A and any B
//!
//! ```text
//! g_N = n · (c − r_B) − s R        s = +1 solid, −1 hole; a point is a round of radius 0
//! ```
//!
//! and for a curve A the point r_A(σ) takes the place of c. The parameters σ of curves solve (4.21):
//!
//! ```text
//! curve A:  F = r_A' · n = 0            curve B:  F = (c − r_B) · r_B' = 0
//! ```
//!
//! Their rates follow by implicit differentiation on the graph, σ̇ = −(∂F/∂σ)⁻¹ Ḟ|σ, which is (4.30) for any gap. It is
//! singular exactly where the denominator of (4.35) vanishes: two concentric circles of curvature.
//!
//! A curve that is not closed ends at its range. Beyond it σ stays at the end, frozen by a latch: curve A touches with its end
//! point, curve B continues along its end tangent. Gap and directions are continuous there, only accelerations jump.

use std::collections::BTreeMap;

use crate::expr::{Derivation, Fun, NodeId, Symbol};

use super::frames::{Builder, Row};
use super::kinematics::{place, turn};
use super::{FeatureRef, Input, Shape};

/// A feature in world axes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placed {
    Round {
        center: [NodeId; 2],
        radius: NodeId,
        hole: bool,
        point: bool,
    },
    Flat {
        through: [NodeId; 2],
        normal: [NodeId; 2],
    },
    /// A feature of a chain of edges, see [`super::edges`]: a flat, or with `corner` = 1 the point itself.
    Edge {
        through: [NodeId; 2],
        normal: [NodeId; 2],
        corner: NodeId,
    },
    Curve {
        unknown: usize,
        at: [NodeId; 2],
        slope: [NodeId; 2],
        normal: [NodeId; 2],
    },
}

/// A contact parameter to be solved for.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    pub symbol: Symbol,
    pub range: [NodeId; 2],
    /// 1 while σ is inside its range, 0 when it stays at an end.
    pub active: Symbol,
    /// The two ends of the range, for the test of closedness.
    pub ends: [[NodeId; 3]; 2],
    /// Its equation, with the sign that makes +F pull σ upwards.
    pub equation: NodeId,
}

/// The numerical problem of one contact's parameters.
#[derive(Clone, Debug)]
pub(super) struct ContourProblem {
    pub unknowns: Vec<Unknown>,
    /// ∂F_i/∂σ_j, row by row.
    pub jacobian: Vec<NodeId>,
    /// The root with the smallest value is meant.
    pub merit: NodeId,
    /// Positive for admissible roots (4.22).
    pub facing: NodeId,
}

/// A pair of features at work.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub normal_row: Row,
    pub tangent_row: Row,
    pub contour: Option<ContourProblem>,
}

impl Builder<'_> {
    /// The shape behind a reference; `None` for the origin of a body.
    pub(super) fn shape(&self, r: FeatureRef) -> Option<&Shape> {
        let list = match r.body {
            Some(b) => self.model.bodies.get(b).map(|b| &b.features)?,
            None => &self.model.ground,
        };
        r.feature.and_then(|f| list.get(f)).map(|f| &f.shape)
    }

    /// World position of a point feature (or of the centre of another one).
    pub(super) fn point(&mut self, r: FeatureRef) -> [NodeId; 2] {
        let pose = self.frame(r.body).pose;
        let local = match self.shape(r) {
            Some(Shape::Point(p)) => *p,
            Some(Shape::Round { center, .. }) => *center,
            Some(Shape::Flat { through, .. }) => *through,
            _ => return pose.origin,
        };
        place(&mut self.g, &pose, local)
    }

    fn unit(&mut self, v: [NodeId; 2]) -> [NodeId; 2] {
        let length = self.dot2(v, v);
        let length = self.g.fun(Fun::Sqrt, length);
        [self.g.div(v[0], length), self.g.div(v[1], length)]
    }

    /// Brings a feature into world axes; curves get a parameter of their own.
    pub(super) fn placed(
        &mut self,
        r: FeatureRef,
        unknowns: &mut Vec<Unknown>,
        count: &mut [usize; 2],
    ) -> Option<Placed> {
        let pose = self.frame(r.body).pose;
        let shape = self.shape(r).cloned();
        Some(match shape {
            None => Placed::Round { center: pose.origin, radius: self.zero, hole: false, point: true },
            Some(Shape::Point(p)) => {
                let center = place(&mut self.g, &pose, p);
                Placed::Round { center, radius: self.zero, hole: false, point: true }
            }
            Some(Shape::Round { center, radius, hole }) => {
                let center = place(&mut self.g, &pose, center);
                Placed::Round { center, radius, hole, point: false }
            }
            Some(Shape::Flat { through, normal }) => {
                let through = place(&mut self.g, &pose, through);
                let normal = self.unit(normal);
                let normal = turn(&mut self.g, &pose, normal);
                Placed::Flat { through, normal }
            }
            Some(Shape::Curve { point, parameter, range, material_left }) => {
                let symbol = self.symbol(Input::Contour(count[0]));
                let active = self.symbol(Input::Feature(count[1]));
                count[0] += 1;
                count[1] += 1;
                let placeholder = Symbol(parameter);
                let sigma = self.g.sym(symbol);
                let at_value = |b: &mut Self, value: NodeId| {
                    let map = BTreeMap::from([(placeholder, value)]);
                    point.map(|n| b.g.substitute(n, &map))
                };
                let local = at_value(self, sigma);
                let ends = range.map(|end| {
                    let [x, y] = at_value(self, end);
                    [x, y, self.zero]
                });
                let slope = local.map(|n| self.g.diff(n, symbol));
                let slope = turn(&mut self.g, &pose, slope);
                let at = place(&mut self.g, &pose, local);
                let t = self.unit(slope);
                // out of the material: right of the direction of growing σ when the material is on the left
                let normal = if material_left { [t[1], self.g.neg(t[0])] } else { [self.g.neg(t[1]), t[0]] };
                unknowns.push(Unknown { symbol, range, active, ends, equation: self.zero });
                Placed::Curve { unknown: unknowns.len() - 1, at, slope, normal }
            }
            Some(Shape::Outline { .. } | Shape::Space(_)) => return None,
        })
    }

    /// The contact of two features, `None` when the pair has no contact geometry.
    pub(super) fn touch(
        &mut self,
        a: FeatureRef,
        b: FeatureRef,
        tangent: Option<[NodeId; 2]>,
        count: &mut [usize; 2],
    ) -> Option<Touch> {
        let mut unknowns = Vec::new();
        let pa = self.placed(a, &mut unknowns, count)?;
        let pb = self.placed(b, &mut unknowns, count)?;
        self.touch_placed(a.body, pa, b.body, pb, tangent, unknowns)
    }

    /// The same for features already in world axes.
    pub(super) fn touch_placed(
        &mut self,
        body_a: Option<usize>,
        a: Placed,
        body_b: Option<usize>,
        b: Placed,
        tangent: Option<[NodeId; 2]>,
        mut unknowns: Vec<Unknown>,
    ) -> Option<Touch> {
        // the surface that gives the normal comes second: flat, else curve, else round
        let rank = |p: &Placed| match p {
            Placed::Round { point: true, .. } => 0,
            Placed::Round { .. } => 1,
            Placed::Curve { .. } => 2,
            Placed::Flat { .. } | Placed::Edge { .. } => 3,
        };
        let swapped = rank(&a) > rank(&b);
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        let solved = self.pair(first, second, &mut unknowns)?;
        let mut normal = solved.normal;
        let point_1 = solved.point;
        let back = self.g.neg(solved.gap);
        let point_2 = self.along2(point_1, back, normal);
        let (point_a, point_b) = if swapped { (point_2, point_1) } else { (point_1, point_2) };
        if swapped {
            normal = self.neg2(normal);
        }

        // tangent: normal turned clockwise, or the side that the file names
        let mut t = [normal[1], self.g.neg(normal[0])];
        if let Some(wanted) = tangent {
            let pose = self.frame(body_b).pose;
            let wanted = turn(&mut self.g, &pose, wanted);
            let cosine = self.dot2(wanted, t);
            if self.start_value(cosine, &unknowns) < 0.0 {
                t = self.neg2(t);
            }
        }

        let contour = self.contour_problem(unknowns, solved.merit, solved.facing);
        let mut total = match &contour {
            Some(problem) => self.derivation_with(problem),
            None => std::mem::replace(&mut self.total, Derivation::new([])),
        };
        let material_a = self.material(body_a, point_a);
        let material_b = self.material(body_b, point_b);
        let mut normal_row = self.row_of_motion(normal, &material_a, &material_b, &mut total);
        normal_row.value = solved.gap;
        let tangent_row = self.row_of_motion(t, &material_a, &material_b, &mut total);
        if contour.is_none() {
            self.total = total;
        }
        Some(Touch { normal_row, tangent_row, contour })
    }

    /// Gap, normal (from `b` to `a`), contact point on `a`, and the equations of the unknowns.
    fn pair(&mut self, a: Placed, b: Placed, unknowns: &mut [Unknown]) -> Option<Solved> {
        match (a, b) {
            (Placed::Round { hole: true, .. }, Placed::Flat { .. } | Placed::Edge { .. }) => None,
            (Placed::Round { center, radius, .. }, Placed::Flat { through, normal }) => {
                let d = self.sub2(center, through);
                let height = self.dot2(normal, d);
                let gap = self.g.sub(height, radius);
                let back = self.g.neg(radius);
                let point = self.along2(center, back, normal);
                Some(Solved::free(gap, normal, point))
            }
            (Placed::Round { center, radius, .. }, Placed::Edge { through, normal, corner }) => {
                let d = self.sub2(center, through);
                let (height, distance) = (self.dot2(normal, d), self.distance(d));
                let along = [self.g.div(d[0], distance), self.g.div(d[1], distance)];
                let normal = [0, 1].map(|i| self.blend(corner, along[i], normal[i]));
                let reach = self.blend(corner, distance, height);
                let gap = self.g.sub(reach, radius);
                let back = self.g.neg(radius);
                let point = self.along2(center, back, normal);
                Some(Solved::free(gap, normal, point))
            }
            (Placed::Round { point: true, .. }, Placed::Round { point: true, .. }) => None,
            (Placed::Round { hole: true, .. }, Placed::Round { hole: true, .. }) => None,
            (
                Placed::Round { center: ca, radius: ra, hole: ha, .. },
                Placed::Round { center: cb, radius: rb, hole: hb, .. },
            ) => self.two_rounds([ca, cb], [ra, rb], [ha, hb]),
            (Placed::Round { center, radius, hole, .. }, Placed::Curve { unknown, at, slope, normal }) => {
                let d = self.sub2(center, at);
                let equation = self.dot2(d, slope);
                let square = self.dot2(d, d);
                let height = self.dot2(normal, d);
                let reach = if hole { radius } else { self.g.neg(radius) };
                let gap = self.g.add(height, reach);
                let point = self.along2(center, reach, normal);
                // a hole is touched by the farthest point
                let (equation, merit) =
                    if hole { (self.g.neg(equation), self.g.neg(square)) } else { (equation, square) };
                unknowns[unknown].equation = equation;
                Some(Solved { gap, normal, point, merit, facing: self.one })
            }
            (
                Placed::Curve { unknown, at, slope, normal: own },
                Placed::Flat { through, normal } | Placed::Edge { through, normal, .. },
            ) => {
                let d = self.sub2(at, through);
                let height = self.dot2(normal, d);
                let gap = match b {
                    Placed::Edge { corner, .. } => {
                        let distance = self.distance(d);
                        self.blend(corner, distance, height)
                    }
                    _ => height,
                };
                let equation = self.dot2(slope, normal);
                unknowns[unknown].equation = self.g.neg(equation);
                let facing = self.dot2(own, normal);
                let facing = self.g.neg(facing);
                Some(Solved { gap, normal, point: at, merit: height, facing })
            }
            (
                Placed::Curve { unknown: ua, at: ra, slope: sa, normal: na },
                Placed::Curve { unknown: ub, at: rb, slope: sb, normal },
            ) => {
                let d = self.sub2(ra, rb);
                let gap = self.dot2(normal, d);
                let along = self.dot2(sa, normal);
                unknowns[ua].equation = self.g.neg(along);
                unknowns[ub].equation = self.dot2(d, sb);
                let merit = self.dot2(d, d);
                let facing = self.dot2(na, normal);
                let facing = self.g.neg(facing);
                Some(Solved { gap, normal, point: ra, merit, facing })
            }
            _ => None,
        }
    }

    /// Two circles, one of them a hole or none.
    fn two_rounds(
        &mut self,
        [ca, cb]: [[NodeId; 2]; 2],
        [ra, rb]: [NodeId; 2],
        [ha, hb]: [bool; 2],
    ) -> Option<Solved> {
        let d = self.sub2(ca, cb);
        let distance = self.distance(d);
        let unit = [self.g.div(d[0], distance), self.g.div(d[1], distance)];
        let inside = ha || hb;
        let normal = if inside { self.neg2(unit) } else { unit };
        let gap = match (ha, hb) {
            (false, false) => {
                let sum = self.g.add(ra, rb);
                self.g.sub(distance, sum)
            }
            (false, _) => {
                let play = self.g.sub(rb, ra);
                self.g.sub(play, distance)
            }
            _ => {
                let play = self.g.sub(ra, rb);
                self.g.sub(play, distance)
            }
        };
        let reach = if ha { ra } else { self.g.neg(ra) };
        let point = self.along2(ca, reach, normal);
        Some(Solved::free(gap, normal, point))
    }

    /// |d|; a floor of 1e-60 m² keeps concentric circles finite and does not change any other bit.
    fn distance(&mut self, d: [NodeId; 2]) -> NodeId {
        let square = self.dot2(d, d);
        let tiny = self.g.num(1e-60);
        let square = self.g.add(square, tiny);
        self.g.fun(Fun::Sqrt, square)
    }

    /// `a` when the frozen flag is 1, `b` when it is 0.
    fn blend(&mut self, flag: NodeId, a: NodeId, b: NodeId) -> NodeId {
        let other = self.g.sub(self.one, flag);
        let (a, b) = (self.g.mul(flag, a), self.g.mul(other, b));
        self.g.add(a, b)
    }

    pub(super) fn contour_problem(
        &mut self,
        unknowns: Vec<Unknown>,
        merit: NodeId,
        facing: NodeId,
    ) -> Option<ContourProblem> {
        if unknowns.is_empty() {
            return None;
        }
        let mut jacobian = Vec::new();
        for i in &unknowns {
            for j in &unknowns {
                jacobian.push(self.g.diff(i.equation, j.symbol));
            }
        }
        Some(ContourProblem { unknowns, jacobian, merit, facing })
    }

    /// The total derivative that knows σ̇; an inactive σ does not move.
    pub(super) fn derivation_with(&mut self, p: &ContourProblem) -> Derivation {
        let drift: Vec<NodeId> = p.unknowns.iter().map(|u| self.dot(u.equation)).collect();
        let active: Vec<NodeId> = p.unknowns.iter().map(|u| self.g.sym(u.active)).collect();
        let n = p.unknowns.len();
        // rows of inactive unknowns become σ̇ = 0
        let mut m = Vec::new();
        let mut r = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let entry = self.g.mul(active[i], p.jacobian[i * n + j]);
                let entry = if i == j {
                    let rest = self.g.sub(self.one, active[i]);
                    self.g.add(entry, rest)
                } else {
                    entry
                };
                m.push(entry);
            }
            let product = self.g.mul(active[i], drift[i]);
            r.push(self.g.neg(product));
        }
        let rates = if n == 1 {
            vec![self.g.div(r[0], m[0])]
        } else {
            let (ad, bc) = (self.g.mul(m[0], m[3]), self.g.mul(m[1], m[2]));
            let det = self.g.sub(ad, bc);
            let (p1, p2) = (self.g.mul(m[3], r[0]), self.g.mul(m[1], r[1]));
            let (p3, p4) = (self.g.mul(m[0], r[1]), self.g.mul(m[2], r[0]));
            let (x, y) = (self.g.sub(p1, p2), self.g.sub(p3, p4));
            vec![self.g.div(x, det), self.g.div(y, det)]
        };
        let mut rules = self.rules.clone();
        rules.extend(p.unknowns.iter().zip(&rates).map(|(u, &rate)| (u.symbol, rate)));
        Derivation::new(rules)
    }

    /// Value of a node at the start of the run, contact parameters in the middle of their ranges; for choices of side.
    fn start_value(&mut self, node: NodeId, unknowns: &[Unknown]) -> f64 {
        let half = self.g.num(0.5);
        let mut map = BTreeMap::new();
        for (k, c) in self.model.coordinates.iter().enumerate() {
            map.insert(self.symbol(Input::Coordinate(k)), c.start);
        }
        for u in unknowns {
            let sum = self.g.add(u.range[0], u.range[1]);
            map.insert(u.symbol, self.g.mul(half, sum));
        }
        let node = self.g.substitute(node, &map);
        self.default_value(node)
    }
}

struct Solved {
    gap: NodeId,
    normal: [NodeId; 2],
    point: [NodeId; 2],
    merit: NodeId,
    facing: NodeId,
}

impl Solved {
    fn free(gap: NodeId, normal: [NodeId; 2], point: [NodeId; 2]) -> Self {
        Solved { gap, normal, point, merit: gap, facing: gap }
    }
}

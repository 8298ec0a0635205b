//! A ball or point on a surface r(u, v) given by formulas.
//!
//! The foot of the centre c on the surface solves
//!
//! ```text
//! (c − r) · r_u = 0,   (c − r) · r_v = 0;      n = r_u × r_v / |r_u × r_v|,   g = n · (c − r) − R
//! ```
//!
//! u and v are parameters of the contact like those of planar curves: solved at every evaluation from where they were, differentiated by the
//! theorem of implicit functions. A range that does not close on itself ends there: beyond it the surface goes on along its last tangents.
//! A surface z = f(x, y) needs no ranges: its parameters are counted from below the centre of the ball.

use std::collections::BTreeMap;

use crate::expr::{NodeId, Symbol};

use super::super::Input;
use super::super::frames::Builder;
use super::super::geometry::Unknown;
use super::touch::Meeting;
use super::vector::{cross, dot, neg, sub, transposed, unit};
use super::{SpaceShape, Vector};

/// How far from below the centre a foot on z = f(x, y) is looked for (m).
const REACH: f64 = 100.0;

impl Builder<'_> {
    /// A ball on a surface.
    pub(super) fn ball_on_surface(
        &mut self,
        center: Vector,
        radius: NodeId,
        body: Option<usize>,
        surface: &SpaceShape,
        count: &mut [usize; 2],
    ) -> Option<Meeting> {
        let SpaceShape::Surface { point, parameters, range, hole } = surface else { return None };
        let pose = self.space_frame(body).pose;
        let local = {
            let g = &mut self.g;
            let d = sub(g, center, pose.origin);
            transposed(&pose.axes).map(|e| dot(g, e, d))
        };
        // two parameters of this contact
        let mut symbols = Vec::with_capacity(2);
        for _ in 0..2 {
            symbols.push([Input::Contour(count[0]), Input::Feature(count[1])].map(|i| self.symbol(i)));
            count[0] += 1;
            count[1] += 1;
        }
        let at = |b: &mut Self, of: [NodeId; 2]| -> Vector {
            let map = BTreeMap::from([(Symbol(parameters[0]), of[0]), (Symbol(parameters[1]), of[1])]);
            point.map(|n| b.g.substitute(n, &map))
        };
        let sigma = [0, 1].map(|k| self.g.sym(symbols[k][0]));
        let (low, high) = (self.g.num(-REACH), self.g.num(REACH));
        let ranges = range.unwrap_or([[low, high]; 2]);
        let values = match range {
            Some(_) => sigma,
            None => [0, 1].map(|k| self.g.add(local[k], sigma[k])),
        };
        let foot = at(self, values);
        let slopes = [0, 1].map(|k| foot.map(|n| self.g.diff(n, symbols[k][0])));

        let mut unknowns = Vec::with_capacity(2);
        let g = &mut self.g;
        let d = sub(g, local, foot);
        let equations = slopes.map(|s| dot(g, d, s));
        let merit = dot(g, d, d);
        for k in 0..2 {
            let ends = match range {
                None => [[self.zero; 3], [self.one; 3]],
                Some(list) => list[k].map(|end| {
                    let middle = list[1 - k];
                    let half = self.g.num(0.5);
                    let sum = self.g.add(middle[0], middle[1]);
                    let mut of = [self.g.mul(half, sum); 2];
                    of[k] = end;
                    at(self, of)
                }),
            };
            let [symbol, active] = symbols[k];
            unknowns.push(Unknown { symbol, range: ranges[k], active, ends, equation: equations[k] });
        }

        let g = &mut self.g;
        let normal = cross(g, slopes[0], slopes[1]);
        let mut normal = unit(g, normal);
        if *hole {
            normal = neg(g, normal);
        }
        let height = dot(g, normal, d);
        let gap = g.sub(height, radius);
        let normal = pose.turn(g, normal);
        let meeting = self.under(center, radius, gap, normal);
        let contour = self.contour_problem(unknowns, merit, self.one);
        Some(Meeting { contour, ..meeting })
    }
}

//! Features in space: from what is written to nodes.

use super::builder::{Builder, Val};
use super::diagnostic::{Fault, Resolved, fault};
use super::fields::Word;
use super::formula::Formula;
use super::raw_parts::{RawFeature, RawShape};
use super::raw_space::{RawSpaceShape, Triple};
use crate::expr::{Dim, NodeId};
use crate::model::{Shape, SpaceShape, Vector};
use crate::shape::{Hull, HullError};

impl Builder<'_> {
    /// Local position of the point that stands for a feature.
    pub(super) fn make_space_point(&mut self, feature: &RawFeature) -> Resolved<Val> {
        let shape = self.space_shape_of(feature)?;
        let Some(point) = shape.point() else {
            let message = format!("`{}` is not a point", feature.name.text);
            return Err(fault(feature.name.span, message, "give the body a point there"));
        };
        Ok(Val::List(point.into_iter().map(|n| Val::One(n, Dim::LENGTH)).collect()))
    }

    /// The shape of a feature, in the scope of its body.
    pub(super) fn space_shape_of(&mut self, feature: &RawFeature) -> Resolved<SpaceShape> {
        let RawShape::Space(shape) = &feature.shape else { return Err(Fault::Reported) };
        let name = &feature.name.text;
        let zero = self.zero();
        let origin = |b: &mut Self, center: &Option<Triple>| match center {
            Some(c) => b.triple(c, Dim::LENGTH, "a centre"),
            None => Ok([zero; 3]),
        };
        Ok(match shape {
            RawSpaceShape::Point(p) => SpaceShape::Point(self.triple(p, Dim::LENGTH, "a point")?),
            RawSpaceShape::Plane { through, normal } => SpaceShape::Plane {
                through: self.triple(through, Dim::LENGTH, "a point")?,
                normal: self.direction(normal, "normal", name)?,
            },
            RawSpaceShape::Ball { center, radius, hole } => SpaceShape::Ball {
                center: self.triple(center, Dim::LENGTH, "a centre")?,
                radius: self.size(radius, "radius", name)?,
                hole: *hole,
            },
            RawSpaceShape::Rim { center, axis, radius } => SpaceShape::Rim {
                center: self.triple(center, Dim::LENGTH, "a centre")?,
                axis: self.direction(axis, "axis", name)?,
                radius: self.size(radius, "radius", name)?,
            },
            RawSpaceShape::Cylinder { through, axis, radius, hole } => SpaceShape::Cylinder {
                through: self.triple(through, Dim::LENGTH, "a point")?,
                axis: self.direction(axis, "axis", name)?,
                radius: self.size(radius, "radius", name)?,
                hole: *hole,
            },
            RawSpaceShape::Ellipsoid { center, axes } => SpaceShape::Ellipsoid {
                center: origin(self, center)?,
                axes: self.sizes(axes, "half axis", name)?,
            },
            RawSpaceShape::Box { center, half } => SpaceShape::Box {
                center: origin(self, center)?,
                half: self.sizes(half, "half length", name)?,
            },
            RawSpaceShape::Capsule { ends, radius } => {
                let a = self.triple(&ends[0], Dim::LENGTH, "an end")?;
                let b = self.triple(&ends[1], Dim::LENGTH, "an end")?;
                SpaceShape::Capsule { ends: [a, b], radius: self.size(radius, "radius", name)? }
            }
            RawSpaceShape::Drum { ends, radius: r } => {
                let a = self.triple(&ends[0], Dim::LENGTH, "an end")?;
                let b = self.triple(&ends[1], Dim::LENGTH, "an end")?;
                let ends = [a, b].map(|e| e.map(|n| self.default_value(n)));
                if ends[0] == ends[1] && ends[0].iter().all(Option::is_some) {
                    let help = "its ends are the middles of its two caps; a disc without thickness is { center, axis, radius }";
                    return Err(r.error(format!("the cylinder `{name}` has no length"), help).into());
                }
                let radius = self.size(r, "radius", name)?;
                if self.default_value(radius) == Some(0.0) {
                    let help = "it must be positive; a line is  capsule = [a, b], radius = 0";
                    return Err(r.error(format!("the radius of `{name}` is zero"), help).into());
                }
                SpaceShape::Drum { ends: [a, b], radius }
            }
            RawSpaceShape::Hull(list) => {
                let points = list.iter().map(|p| self.triple(p, Dim::LENGTH, "a point"));
                let points: Vec<Vector> = points.collect::<Resolved<_>>()?;
                self.check_hull(&points, list, name)?;
                SpaceShape::Hull(points)
            }
            RawSpaceShape::Mesh { file, scale, hull } => {
                SpaceShape::Data(self.mesh_shape(file, scale.as_ref(), *hull)?)
            }
            RawSpaceShape::Heights(h) => SpaceShape::Data(self.height_shape(h, name)?),
            RawSpaceShape::Direction(d) => SpaceShape::Direction(self.direction(d, "direction", name)?),
            RawSpaceShape::Cone { apex, axis, angle, hole } => SpaceShape::Cone {
                apex: self.triple(apex, Dim::LENGTH, "an apex")?,
                axis: self.direction(axis, "axis", name)?,
                angle: self.cone_angle(angle, name)?,
                hole: *hole,
            },
            RawSpaceShape::Torus { place, radius, tube, hole } => SpaceShape::Torus {
                center: self.triple(&place[0], Dim::LENGTH, "a centre")?,
                axis: self.direction(&place[1], "axis", name)?,
                radius: self.size(radius, "radius", name)?,
                tube: self.size(tube, "tube", name)?,
                hole: *hole,
            },
            RawSpaceShape::Surface { point, parameters, range, hole } => {
                self.surface(point, parameters, range.as_deref(), *hole, name)?
            }
        })
    }

    /// Points of a hull must enclose a volume. A point that is repeated, or lies inside, is no corner and does no harm.
    fn check_hull(&mut self, points: &[Vector], list: &[Triple], name: &str) -> Resolved<()> {
        let values: Option<Vec<[f64; 3]>> = points
            .iter()
            .map(|p| {
                let [x, y, z] = p.map(|n| self.default_value(n));
                Some([x?, y?, z?])
            })
            .collect();
        let (Some(first), Some(mut values)) = (list.first(), values) else { return Ok(()) };
        let Err(problem) = Hull::around(&values) else { return Ok(()) };
        let written = values.len();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        values.dedup();
        let message = match (problem, values.len()) {
            (HullError::NotFinite, _) => format!("a point of hull `{name}` is not a finite number"),
            (HullError::Flat(_), n) if n < 4 && n < written => {
                format!("hull `{name}` has {n} different points, some of them repeated")
            }
            (HullError::Flat(_), n) if n < 4 => format!("hull `{name}` has only {n} points"),
            (HullError::Flat(_), n) => format!("the {n} points of hull `{name}` lie in one plane"),
        };
        let help = "give at least four points that do not lie in one plane, [[x, y, z], …]; a flat plate needs its thickness";
        Err(first[0].error(message, help).into())
    }

    fn cone_angle(&mut self, f: &Formula, name: &str) -> Resolved<NodeId> {
        let node = self.lower_as(f, Dim::NONE, "an angle")?;
        self.of_positions(f, node, "an angle")?;
        match self.default_value(node) {
            Some(value) if !(value > 0.0 && value < std::f64::consts::FRAC_PI_2) => {
                let help = "it is the angle between axis and side, above 0 and below 90 degrees";
                Err(f.error(format!("the angle of cone `{name}` is {value}"), help).into())
            }
            _ => Ok(node),
        }
    }

    /// A surface: its formulas with two parameters of their own. Without ranges it must be z = f(x, y).
    fn surface(
        &mut self,
        point: &Triple,
        parameters: &[Word; 2],
        range: Option<&[[Formula; 2]; 2]>,
        hole: bool,
        name: &str,
    ) -> Resolved<SpaceShape> {
        let mut ends = None;
        if let Some(list) = range {
            let mut out = [[self.zero(); 2]; 2];
            for (pair, formulas) in out.iter_mut().zip(list) {
                for (node, f) in pair.iter_mut().zip(formulas) {
                    *node = self.lower(f)?;
                    self.of_parameters(f, *node, "a range")?;
                }
                if let [Some(a), Some(b)] = pair.map(|n| self.default_value(n))
                    && !(a < b && a.is_finite() && b.is_finite())
                {
                    let message = format!("a range of surface `{name}` is empty");
                    return Err(formulas[0].error(message, "write  [from, to]").into());
                }
            }
            ends = Some(out);
        }
        let symbols = [0, 1].map(|_| self.model.graph.temporary());
        let nodes = symbols.map(|s| self.model.graph.sym(s));
        let mut context = self.context.clone();
        context.locals.extend(parameters.iter().map(|p| p.text.clone()).zip(nodes));
        let placed = self.within(context, |b| b.triple(point, Dim::Any, "a surface"))?;
        if ends.is_none() && [placed[0], placed[1]] != nodes {
            let message = format!("surface `{name}` is not of the form [\"u\", \"v\", \"f(u, v)\"]");
            let help = "give the ranges of its parameters,  range = [[from, to], [from, to]]";
            return Err(point[0].error(message, help).into());
        }
        Ok(SpaceShape::Surface { point: placed, parameters: symbols.map(|s| s.0), range: ends, hole })
    }

    /// A direction that is not zero.
    pub(super) fn direction(&mut self, list: &Triple, what: &str, name: &str) -> Resolved<Vector> {
        let nodes = self.triple(list, Dim::Any, "a direction")?;
        if nodes.iter().all(|&n| self.default_value(n) == Some(0.0)) {
            let help = "give it a direction, of any length";
            return Err(list[0].error(format!("the {what} of `{name}` is zero"), help).into());
        }
        Ok(nodes)
    }

    fn size(&mut self, f: &Formula, what: &str, name: &str) -> Resolved<NodeId> {
        let node = self.lower_as(f, Dim::LENGTH, "a length")?;
        self.of_positions(f, node, "a length")?;
        self.not_negative(f, node, &format!("the {what} of `{name}`"))?;
        Ok(node)
    }

    fn sizes(&mut self, list: &Triple, what: &str, name: &str) -> Resolved<Vector> {
        let mut out = [self.zero(); 3];
        for (node, f) in out.iter_mut().zip(list) {
            *node = self.size(f, what, name)?;
            if self.default_value(*node) == Some(0.0) {
                return Err(f.error(format!("a {what} of `{name}` is zero"), "it must be positive").into());
            }
        }
        Ok(out)
    }

    /// A feature as a shape of the model.
    pub(super) fn space_feature(&mut self, feature: &RawFeature) -> Resolved<Shape> {
        Ok(Shape::Space(self.space_shape_of(feature)?))
    }
}

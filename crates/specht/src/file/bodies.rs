//! Bodies and features: the tree of `on`, poses, points, shapes.

use super::builder::{Blocked, Builder, Context, Scope, Thing, Val};
use super::diagnostic::{Diagnostic, Fault, Resolved, fault};
use super::formula::Formula;
use super::names::What;
use super::raw_parts::{RawFeature, RawShape};
use super::resolve::member;
use crate::expr::{self, Dim, Exponents, Graph, Kind, NodeId, PathPart, Reference, Resolver};
use crate::model::{Body, Feature, FeatureRef, Pose, Shape, Span, place};

/// kg m².
const INERTIA: Dim = Dim::Known(Exponents::whole([2, 1, 0, 0, 0]));
/// J.
const ENERGY: Dim = Dim::Known(Exponents::whole([2, 1, -2, 0, 0]));
/// Names that mean something behind the name of a body.
const BODY_PARTS: [&str; 10] =
    ["x", "y", "z", "angle", "spin", "touch", "rotation", "axis1", "axis2", "axis3"];

/// A path whose indices are known: what `between`, `on`, `at` take.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// Name and indices of each part.
    pub parts: Vec<(String, Vec<i64>, expr::Span)>,
}

impl Path {
    /// As parts of a reference.
    pub(super) fn parts(&self) -> Vec<PathPart<'_>> {
        self.parts
            .iter()
            .map(|(name, indices, span)| PathPart { name, indices: indices.clone(), span: *span })
            .collect()
    }
}

/// Catches the reference of a formula that is a bare path.
struct Catcher<'a, 'b> {
    builder: &'a mut Builder<'b>,
    caught: Option<Path>,
    whole: expr::Span,
}

impl Resolver for Catcher<'_, '_> {
    fn name(&mut self, graph: &mut Graph, reference: &Reference<'_>) -> Result<NodeId, expr::ExprError> {
        if reference.span == self.whole {
            let part = |p: &PathPart<'_>| (p.name.to_string(), p.indices.clone(), p.span);
            self.caught = Some(Path { parts: reference.parts.iter().map(part).collect() });
            return Ok(graph.num(0.0));
        }
        self.builder.name(graph, reference)
    }

    fn function(&mut self, graph: &mut Graph, name: &str) -> Option<expr::Function> {
        self.builder.function(graph, name)
    }
}

impl Builder<'_> {
    /// Reads a formula that names something: `rod.tip`, `wheel[i]`.
    pub(super) fn path(&mut self, formula: &Formula, example: &str) -> Resolved<Path> {
        let bad = |f: &Formula| -> Fault {
            f.error(
                format!("a name is expected here, not `{}`", super::fields::shorten(&f.text())),
                format!("for example \"{example}\""),
            )
            .into()
        };
        match &formula.ast.root.kind {
            Kind::Name { primes: 0, .. } => {}
            _ => return Err(bad(formula)),
        }
        let locals = self.context.locals.clone();
        let refs: Vec<(&str, NodeId)> = locals.iter().map(|(n, k)| (n.as_str(), *k)).collect();
        let mut graph = std::mem::take(&mut self.model.graph);
        let mut catcher = Catcher { whole: formula.ast.root.span, caught: None, builder: self };
        let result = expr::lower_with(&mut graph, &mut catcher, &formula.ast, &refs);
        let caught = catcher.caught;
        self.model.graph = graph;
        match (result, caught) {
            (Ok(_), Some(path)) => Ok(path),
            (Ok(_), None) => Err(bad(formula)),
            (Err(error), _) if error.message == super::builder::REPORTED => Err(Fault::Reported),
            (Err(error), _) => Err(formula.diagnostic(error).into()),
        }
    }

    /// Names of the features of a body or the ground.
    pub(super) fn feature_names(&self, body: Option<usize>) -> Vec<String> {
        self.raw_features(body).iter().map(|f| f.name.text.clone()).collect()
    }

    fn raw_features(&self, body: Option<usize>) -> &[RawFeature] {
        match body {
            Some(e) => &self.raw.bodies[self.bodies.1[e].raw].features,
            None => &self.raw.ground,
        }
    }

    /// Number of a feature by name.
    pub(super) fn feature_index(&self, body: Option<usize>, name: &str) -> Option<usize> {
        self.raw_features(body).iter().position(|f| f.name.text == name)
    }

    /// A body, by element.
    pub(super) fn body_ref(&mut self, formula: &Formula) -> Resolved<usize> {
        let path = self.path(formula, "crank")?;
        let parts = path.parts();
        match self.names.get(parts[0].name) {
            Some(What::Body(k)) => {
                if let Some(extra) = parts.get(1) {
                    let help = format!("write  \"{}\"", parts[0].name);
                    return Err(Fault::from(Diagnostic::error(
                        formula.place(extra.span),
                        "a body is expected here, not a feature",
                        help,
                    )));
                }
                member(&self.bodies, k, &parts[0]).map_err(|e| self.moved(formula, e))
            }
            other => Err(self.no_body(formula, &parts[0], other)),
        }
    }

    fn no_body(&self, formula: &Formula, part: &PathPart<'_>, what: Option<What>) -> Fault {
        let help = match what {
            Some(what) => format!("`{}` is {}", part.name, what.noun()),
            None => {
                let bodies: Vec<&str> =
                    self.names.all().filter(|(_, w)| matches!(w, What::Body(_))).map(|(n, _)| n).collect();
                super::resolve::near(part.name, &bodies)
            }
        };
        fault(formula.place(part.span), format!("unknown body `{}`", part.name), help)
    }

    /// An error of a resolver as a fault.
    pub(super) fn moved(&self, formula: &Formula, error: expr::ExprError) -> Fault {
        if error.message == super::builder::REPORTED {
            return Fault::Reported;
        }
        formula.diagnostic(error).into()
    }

    /// A feature or the origin of a body or of the ground. The body is an element, see [`Builder::body_place`].
    pub(super) fn feature_ref(&mut self, formula: &Formula) -> Resolved<FeatureRef> {
        let path = self.path(formula, "rod.tip")?;
        let parts = path.parts();
        let body = match self.names.get(parts[0].name) {
            _ if parts[0].name == "ground" => None,
            Some(What::Body(k)) => {
                Some(member(&self.bodies, k, &parts[0]).map_err(|e| self.moved(formula, e))?)
            }
            other => return Err(self.no_body(formula, &parts[0], other)),
        };
        let feature = match parts.as_slice() {
            [_] => None,
            [_, part] if part.indices.is_empty() => {
                let index = self.feature_index(body, part.name);
                Some(index.ok_or_else(|| self.moved(formula, self.no_feature(body, part)))?)
            }
            _ => return Err(formula.error("a feature is `body.feature`", "").into()),
        };
        Ok(FeatureRef { body, feature })
    }

    /// The same with the body's place in the model.
    pub(super) fn placed(&self, r: FeatureRef) -> FeatureRef {
        if let (Some(e), Some(k)) = (r.body, r.feature)
            && let Some(&frame) = self.elastic.get(&(e, k))
        {
            return FeatureRef { body: Some(frame), feature: Some(0) };
        }
        FeatureRef { body: r.body.map(|e| self.body_place[e]), feature: r.feature }
    }

    /// World position of the origin or of a point (centre) of a body element or of the ground.
    pub(super) fn world_point(
        &mut self,
        body: Option<usize>,
        feature: Option<usize>,
    ) -> Result<[NodeId; 2], Blocked> {
        let zero = self.zero();
        let local = match feature {
            None => [zero; 2],
            Some(k) => {
                let val = self.demand(Thing::Point(body, k))?;
                [val.item(0).ok_or(Blocked::Reported)?, val.item(1).ok_or(Blocked::Reported)?]
            }
        };
        match body {
            None => Ok(local),
            Some(e) => {
                let pose = self.pose(e)?;
                Ok(place(&mut self.model.graph, &pose, local))
            }
        }
    }

    fn pose(&mut self, e: usize) -> Result<Pose, Blocked> {
        let val = self.demand(Thing::Pose(e))?;
        let item = |k: usize| val.item(k).ok_or(Blocked::Reported);
        Ok(Pose { origin: [item(0)?, item(1)?], angle: item(2)?, cos: item(3)?, sin: item(4)? })
    }

    /// World pose of a body element.
    pub(super) fn make_pose(&mut self, e: usize) -> Resolved<Val> {
        let (position, angle) = self.body_frame(e)?;
        let parent = match self.body_parent[e] {
            Some(p) => self.pose(p).map_err(|_| Fault::Reported)?,
            None => Pose::ground(&mut self.model.graph),
        };
        let pose = parent.child(&mut self.model.graph, position, angle);
        let nodes = [pose.origin[0], pose.origin[1], pose.angle, pose.cos, pose.sin];
        Ok(Val::List(nodes.into_iter().map(|n| Val::One(n, Dim::Any)).collect()))
    }

    /// Position and angle in the parent frame.
    fn body_frame(&mut self, e: usize) -> Resolved<([NodeId; 2], NodeId)> {
        let raw = self.raw.clone();
        let element = self.bodies.1[e].clone();
        let body = &raw.bodies[element.raw];
        let context = self.place_of(Scope::Motion, body.family.as_ref(), &element);
        self.within(context, |b| {
            let zero = b.zero();
            let mut position = [zero; 2];
            if b.spatial.is_some() {
                return Ok((position, zero));
            }
            for (k, formula) in body.position.iter().flatten().take(2).enumerate() {
                position[k] = b.lower_as(formula, Dim::LENGTH, "a position")?;
                b.of_positions(formula, position[k], "a position")?;
            }
            let mut angle = zero;
            if let Some(formula) = &body.angle {
                angle = b.lower_as(formula, Dim::NONE, "an angle")?;
                b.of_positions(formula, angle, "an angle")?;
            }
            Ok((position, angle))
        })
    }

    /// Local position of a point or of the centre of a shape.
    pub(super) fn make_point(&mut self, body: Option<usize>, k: usize) -> Resolved<Val> {
        let raw = self.raw.clone();
        let feature = match body {
            Some(e) => &raw.bodies[self.bodies.1[e].raw].features[k],
            None => &raw.ground[k],
        };
        let pair = match &feature.shape {
            RawShape::Point(p) => p,
            RawShape::Round { center, .. } => center,
            RawShape::Flat { through, .. } => through,
            RawShape::Space(_) => {
                let context = self.feature_context(body);
                return self.within(context, |b| b.make_space_point(feature));
            }
            _ => {
                let message = format!("`{}` is not a point", feature.name.text);
                return Err(fault(feature.name.span, message, "give the body a point there"));
            }
        };
        let context = self.feature_context(body);
        self.within(context, |b| {
            let x = b.lower_as(&pair[0], Dim::LENGTH, "a point")?;
            let y = b.lower_as(&pair[1], Dim::LENGTH, "a point")?;
            let [x, y] = b.bent(body, &feature.name.text, [x, y])?;
            Ok(Val::List(vec![Val::One(x, Dim::LENGTH), Val::One(y, Dim::LENGTH)]))
        })
    }

    fn feature_context(&mut self, body: Option<usize>) -> Context {
        match body {
            None => Context::new(Scope::Motion),
            Some(e) => {
                let element = self.bodies.1[e].clone();
                let family = self.raw.bodies[element.raw].family.clone();
                self.place_of(Scope::Motion, family.as_ref(), &element)
            }
        }
    }

    /// Finds the parents of all bodies and an order with parents first.
    pub(super) fn order_bodies(&mut self) -> bool {
        let raw = self.raw.clone();
        let count = self.bodies.1.len();
        let mut parents = vec![None; count];
        let mut good = true;
        for e in 0..count {
            let element = self.bodies.1[e].clone();
            let body = &raw.bodies[element.raw];
            let member = e - self.bodies.0[element.raw].first;
            let Some(on) = body.on.get(member).or(body.on.last()) else { continue };
            if on.ast.source == "ground" {
                continue;
            }
            let context = self.place_of(Scope::Parameter, body.family.as_ref(), &element);
            let mut parent = self.within(context, |b| b.body_ref(on));
            // the first link of a chain has none before it
            if let (Err(Fault::New(d)), [_], Some(_)) = (&mut parent, &body.on[..], &body.family)
                && d.message.contains("is outside")
            {
                d.message = format!("`{}` does not exist for the first of them", on.text());
                d.help =
                    format!("a list says what the first stands on:  on = [\"ground\", \"{}\"]", on.text());
            }
            match self.keep(parent) {
                Some(p) => parents[e] = Some(p),
                None => good = false,
            }
        }

        // depth of each body; a path longer than the number of bodies is a circle
        let mut order: Vec<usize> = Vec::with_capacity(count);
        let mut state = vec![0u8; count];
        for root in 0..count {
            let mut path = Vec::new();
            let mut e = root;
            while state[e] == 0 {
                state[e] = 1;
                path.push(e);
                match parents[e] {
                    Some(p) => e = p,
                    None => break,
                }
            }
            if state[e] == 1 && path.last() != Some(&e) || (path.last() == Some(&e) && parents[e] == Some(e))
            {
                let from = path.iter().position(|&p| p == e).unwrap_or(0);
                let mut names: Vec<&str> =
                    path[from..].iter().map(|&p| self.bodies.1[p].name.as_str()).collect();
                names.push(self.bodies.1[e].name.as_str());
                let last = path.last().copied().unwrap_or(e);
                let span =
                    raw.bodies[self.bodies.1[last].raw].on.last().map_or(Span::default(), |f| f.inner());
                self.report.error(
                    span,
                    format!("bodies sit on each other in a circle: {}", names.join(" → ")),
                    "one of them must stand on the ground",
                );
                good = false;
            }
            while let Some(p) = path.pop() {
                state[p] = 2;
                order.push(p);
            }
        }
        self.body_place = vec![0; count];
        for (at, &e) in order.iter().enumerate() {
            self.body_place[e] = at;
        }
        self.body_parent = parents;
        good
    }

    /// Bodies and ground of the model.
    pub(super) fn finish_bodies(&mut self) {
        let count = self.bodies.1.len();
        let mut order = vec![0; count];
        for e in 0..count {
            order[self.body_place[e]] = e;
        }
        for e in order {
            let body = self.body(e);
            if let Some(body) = self.keep(body) {
                self.model.bodies.push(body);
            }
        }
        self.finish_elastic();
        let raw = self.raw.clone();
        for feature in &raw.ground {
            let made = self.feature(None, feature);
            if let Some(feature) = self.keep(made) {
                self.model.ground.push(feature);
            }
        }
    }

    fn body(&mut self, e: usize) -> Resolved<Body> {
        let raw = self.raw.clone();
        let element = self.bodies.1[e].clone();
        let body = &raw.bodies[element.raw];
        let span = body.name.span;
        let frame = self.body_frame(e);
        let frame = self.keep(frame);
        let name = element.name.clone();
        let fixed = self.spatial.is_none() || body.space.rotation.span().is_none() && body.on.is_empty();
        if let (Some(mass), None, true) = (&body.mass, &body.position, fixed) {
            let help = "write  position = [\"x\", \"y\"]";
            self.report.error(mass.span, format!("body `{name}` has a mass but no position"), help);
        }
        let space = match self.spatial {
            Some(_) => {
                let made = self.space_body(e);
                Some(self.keep(made).ok_or(Fault::Reported)?)
            }
            None => None,
        };
        if let (Some(inertia), None, None) = (&body.inertia, &body.angle, &space) {
            let help = "write  angle = \"phi\"";
            self.report.error(inertia.span, format!("body `{name}` has an inertia but no angle"), help);
        }
        let context = self.place_of(Scope::Motion, body.family.as_ref(), &element);
        let values = self.within(context, |b| -> Resolved<_> {
            let zero = b.zero();
            let filled = if b.spatial.is_some() { b.filled(body, &name)? } else { None };
            let mass = match (&body.mass, filled) {
                (_, Some((mass, ..))) => mass,
                (Some(f), _) => b.inertial(f, Dim::MASS, "mass", &name)?,
                (None, _) => zero,
            };
            let inertia = match &body.inertia {
                Some(_) if b.spatial.is_some() => zero,
                Some(f) => b.inertial(f, INERTIA, "inertia", &name)?,
                None => zero,
            };
            let mut center = [zero; 2];
            if let Some(pair) = &body.center {
                for k in 0..2 {
                    center[k] = b.lower_as(&pair[k], Dim::LENGTH, "a mass centre")?;
                    b.of_parameters(&pair[k], center[k], "the mass centre")?;
                }
            }
            let kinetic = match &body.kinetic {
                Some(f) => Some(b.lower_as(f, ENERGY, "a kinetic energy")?),
                None => None,
            };
            let kinetic = b.vibrate(e, &name, kinetic)?;
            Ok((mass, inertia, center, kinetic))
        });
        let values = self.keep(values);
        let mut features = Vec::new();
        for feature in &body.features {
            if BODY_PARTS.contains(&feature.name.text.as_str()) {
                let message = format!("`{}` cannot be the name of a feature", feature.name.text);
                let help = format!("`{name}.{}` is already the body's own", feature.name.text);
                self.report.error(feature.name.span, message, help);
            }
            let made = self.feature(Some(e), feature);
            features.extend(self.keep(made));
        }
        let (Some((position, angle)), Some((mass, inertia, center, kinetic))) = (frame, values) else {
            return Err(Fault::Reported);
        };
        let on = self.body_parent[e].map(|p| self.body_place[p]);
        let name = element.name;
        Ok(Body { name, on, position, angle, mass, inertia, center, kinetic, features, space, span })
    }

    fn inertial(&mut self, formula: &Formula, dim: Dim, what: &str, body: &str) -> Resolved<NodeId> {
        let node = self.lower_as(formula, dim, &format!("the {what} of `{body}`"))?;
        self.of_parameters(formula, node, &format!("the {what} of `{body}`"))?;
        self.not_negative(formula, node, &format!("the {what} of `{body}`"))?;
        Ok(node)
    }

    fn feature(&mut self, body: Option<usize>, feature: &RawFeature) -> Resolved<Feature> {
        let context = self.feature_context(body);
        let shape = self.within(context, |b| -> Resolved<Shape> {
            if let RawShape::Space(_) = feature.shape {
                return b.space_feature(feature);
            }
            let mut shape = b.shape(&feature.shape, &feature.name.text)?;
            if let Shape::Point(at) | Shape::Round { center: at, .. } | Shape::Flat { through: at, .. } =
                &mut shape
            {
                *at = b.bent(body, &feature.name.text, *at)?;
            }
            Ok(shape)
        })?;
        Ok(Feature { name: feature.name.text.clone(), shape, span: feature.name.span })
    }

    fn pair_of(&mut self, pair: &[Formula; 2], dim: Dim, what: &str) -> Resolved<[NodeId; 2]> {
        let mut out = [self.zero(); 2];
        for k in 0..2 {
            out[k] = self.lower_as(&pair[k], dim, what)?;
            self.of_positions(&pair[k], out[k], what)?;
        }
        Ok(out)
    }

    fn shape(&mut self, shape: &RawShape, name: &str) -> Resolved<Shape> {
        Ok(match shape {
            RawShape::Space(_) => return Err(Fault::Reported),
            RawShape::Point(p) => Shape::Point(self.pair_of(p, Dim::LENGTH, "a point")?),
            RawShape::Flat { through, normal } => {
                let (at, n) = (
                    self.pair_of(through, Dim::LENGTH, "a point")?,
                    self.pair_of(normal, Dim::Any, "a normal")?,
                );
                if n.iter().all(|&k| self.default_value(k) == Some(0.0)) {
                    return Err(normal[0]
                        .error(format!("the normal of `{name}` is zero"), "it points out of the material")
                        .into());
                }
                Shape::Flat { through: at, normal: n }
            }
            RawShape::Round { center, radius, hole } => {
                let center = self.pair_of(center, Dim::LENGTH, "a centre")?;
                let node = self.lower_as(radius, Dim::LENGTH, "a radius")?;
                self.of_positions(radius, node, "a radius")?;
                self.not_negative(radius, node, &format!("the radius of `{name}`"))?;
                Shape::Round { center, radius: node, hole: *hole }
            }
            RawShape::Curve { point, parameter, range, left } => {
                let ends = self.pair_of(range, Dim::Any, "a range")?;
                if let (Some(a), Some(b)) = (self.default_value(ends[0]), self.default_value(ends[1]))
                    && !(a < b && a.is_finite() && b.is_finite())
                {
                    return Err(range[0]
                        .error(format!("the range of curve `{name}` is empty"), "write  range = [from, to]")
                        .into());
                }
                let symbol = self.model.graph.temporary();
                let node = self.model.graph.sym(symbol);
                let mut context = self.context.clone();
                context.locals.push((parameter.text.clone(), node));
                let point = self.within(context, |b| b.pair_of(point, Dim::Any, "a curve"))?;
                Shape::Curve { point, parameter: symbol.0, range: ends, material_left: *left }
            }
            RawShape::Outline { points, closed, left } => {
                let mut corners = Vec::with_capacity(points.len());
                for p in points {
                    corners.push(self.pair_of(p, Dim::LENGTH, "a corner")?);
                }
                // an outline that ends where it began is closed
                let value = |b: &mut Self, k: usize| corners[k].map(|n| b.default_value(n));
                let known = |p: &[Option<f64>; 2]| p.iter().all(Option::is_some);
                let last = corners.len() - 1;
                let (start, end) = (value(self, 0), value(self, last));
                let returns = last > 1 && known(&start) && start == end;
                for k in 1..corners.len() {
                    let here = value(self, k);
                    if known(&here) && here == value(self, k - 1) {
                        let message = format!("corners {k} and {} of outline `{name}` coincide", k + 1);
                        return Err(points[k][0].error(message, "leave one of the two out").into());
                    }
                }
                if returns {
                    corners.pop();
                }
                Shape::Outline { points: corners, closed: *closed || returns, material_left: *left }
            }
        })
    }
}

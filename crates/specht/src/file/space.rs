//! Bodies, features and spins in space: from what is written to nodes.

use super::builder::{Blocked, Builder, Scope, Thing, Val};
use super::diagnostic::{Fault, Resolved, fault};
use super::formula::Formula;
use super::raw_parts::{RawBody, RawContact, RawFriction, RawGeometry};
use super::raw_space::{RawRotation, Triple, planar_parts, spatial_parts};
use crate::expr::{Dim, Exponents, ExprError, Fun, NodeId, PathPart, Reference};
use crate::model::{FreeRotation, Input, Rotation, SpaceBody, SpaceContact, SpacePose, Vector, vector};

/// kg m².
const INERTIA: Dim = Dim::Known(Exponents::whole([2, 1, 0, 0, 0]));
/// 1/s.
const SPIN: Dim = Dim::Known(Exponents::whole([0, 0, -1, 0, 0]));

impl Builder<'_> {
    /// Whether the file is one of space; what belongs to the plane is refused then.
    pub(super) fn check_space(&mut self) {
        let raw = self.raw.clone();
        let Some((place, why)) = self.spatial else {
            for (span, message, help) in spatial_parts(&raw) {
                self.report.error(span, format!("{message}, and the rest of the model is planar"), help);
            }
            return;
        };
        for (span, message, help) in planar_parts(&raw) {
            let found = super::diagnostic::Diagnostic::error(span, message, help);
            self.report.push(found.note(place, format!("the model is spatial: {why}")));
        }
        for e in 0..self.bodies.1.len() {
            if raw.bodies[self.bodies.1[e].raw].space.rotation.is_free() {
                self.free.push(e);
            }
        }
    }

    /// Symbols of free rotations, behind those of the coordinates.
    pub(super) fn declare_free(&mut self) {
        let n = self.coordinates.1.len();
        for k in 0..4 * self.free.len() {
            self.symbol(Input::Coordinate(n + k));
        }
        for k in 0..3 * self.free.len() {
            self.symbol(Input::Velocity(n + k));
        }
    }

    /// Quaternion and angular velocity of free rotation `k`.
    pub(super) fn free_inputs(&mut self, k: usize) -> ([NodeId; 4], Vector) {
        let n = self.coordinates.1.len();
        let p = [0, 1, 2, 3].map(|i| self.input(Input::Coordinate(n + 4 * k + i)));
        (p, [0, 1, 2].map(|i| self.input(Input::Velocity(n + 3 * k + i))))
    }

    /// Name of a velocity, for messages.
    pub(super) fn velocity_name(&self, k: usize) -> String {
        match k.checked_sub(self.coordinates.1.len()) {
            None => format!("{}'", self.coordinates.1[k].name),
            Some(i) => format!("{}.spin", self.bodies.1[self.free[i / 3]].name),
        }
    }

    /// Rate of a coordinate of the state.
    pub(super) fn coordinate_rate(&mut self, k: usize) -> NodeId {
        match k.checked_sub(self.coordinates.1.len()) {
            None => self.input(Input::Velocity(k)),
            Some(i) => {
                let (p, w) = self.free_inputs(i / 4);
                crate::model::quaternion_rate(&mut self.model.graph, p, w)[i % 4]
            }
        }
    }

    /// Start of a coordinate or velocity of a free rotation; `None` for those of the file.
    pub(super) fn free_start(&mut self, input: Input) -> Option<Result<NodeId, Blocked>> {
        let n = self.coordinates.1.len();
        let (k, place) = match input {
            Input::Coordinate(k) if k >= n => ((k - n) / 4, (k - n) % 4),
            Input::Velocity(k) if k >= n => ((k - n) / 3, 4 + (k - n) % 3),
            _ => return None,
        };
        Some(self.demand(Thing::Free(k)).and_then(|val| val.item(place).ok_or(Blocked::Reported)))
    }

    pub(super) fn triple(&mut self, list: &Triple, dim: Dim, what: &str) -> Resolved<Vector> {
        let mut out = [self.zero(); 3];
        for (node, f) in out.iter_mut().zip(list) {
            *node = self.lower_as(f, dim, what)?;
            self.of_positions(f, *node, what)?;
        }
        Ok(out)
    }

    fn constants(&mut self, list: &Triple, dim: Dim, what: &str) -> Resolved<Vector> {
        let nodes = self.triple(list, dim, what)?;
        for (f, node) in list.iter().zip(nodes) {
            self.of_parameters(f, node, what)?;
        }
        Ok(nodes)
    }

    fn turns(&mut self, list: &[(usize, Formula)], constant: bool) -> Resolved<Vec<(usize, NodeId)>> {
        let mut out = Vec::with_capacity(list.len());
        for (axis, f) in list {
            let node = self.lower_as(f, Dim::NONE, "an angle")?;
            self.of_positions(f, node, "an angle")?;
            if constant {
                self.of_parameters(f, node, "the orientation at the start")?;
            }
            out.push((*axis, node));
        }
        Ok(out)
    }

    /// Position and rotation in the frame of the carrier.
    fn space_frame(&mut self, e: usize) -> Resolved<(Vector, Rotation)> {
        let raw = self.raw.clone();
        let element = self.bodies.1[e].clone();
        let body = &raw.bodies[element.raw];
        let context = self.place_of(Scope::Motion, body.family.as_ref(), &element);
        let free = self.free.iter().position(|&f| f == e);
        self.within(context, |b| {
            let mut position = [b.zero(); 3];
            for (k, f) in body.position.iter().flatten().take(3).enumerate() {
                position[k] = b.lower_as(f, Dim::LENGTH, "a position")?;
                b.of_positions(f, position[k], "a position")?;
            }
            let rotation = match (&body.space.rotation, free) {
                (RawRotation::Free(_), Some(k)) => Rotation::Free(k),
                (RawRotation::Turns(list, _), _) => Rotation::Turns(b.turns(list, false)?),
                _ => Rotation::Turns(Vec::new()),
            };
            Ok((position, rotation))
        })
    }

    /// Origin and axes of a body, as nodes in world axes: twelve.
    pub(super) fn make_space_pose(&mut self, e: usize) -> Resolved<Val> {
        let (position, rotation) = self.space_frame(e)?;
        let parent = self.carrier(e).map_err(|_| Fault::Reported)?;
        let quaternion = match rotation {
            Rotation::Free(k) => self.free_inputs(k).0,
            Rotation::Turns(_) => [self.zero(); 4],
        };
        let pose = parent.child(&mut self.model.graph, position, &rotation, |_, _| quaternion);
        let nodes = pose.origin.into_iter().chain(pose.axes.into_iter().flatten());
        Ok(Val::List(nodes.map(|n| Val::One(n, Dim::Any)).collect()))
    }

    fn carrier(&mut self, e: usize) -> Result<SpacePose, Blocked> {
        match self.body_parent[e] {
            Some(p) => self.space_pose(p),
            None => Ok(SpacePose::ground(&mut self.model.graph)),
        }
    }

    fn space_pose(&mut self, e: usize) -> Result<SpacePose, Blocked> {
        let val = self.demand(Thing::Pose(e))?;
        let row = |k: usize| -> Option<Vector> { Some([val.item(k)?, val.item(k + 1)?, val.item(k + 2)?]) };
        match (row(0), row(3), row(6), row(9)) {
            (Some(origin), Some(x), Some(y), Some(z)) => Ok(SpacePose { origin, axes: [x, y, z] }),
            _ => Err(Blocked::Reported),
        }
    }

    /// Angular velocity of a body, world axes.
    pub(super) fn make_spin(&mut self, e: usize) -> Resolved<Val> {
        let (_, rotation) = self.space_frame(e)?;
        let parent = self.carrier(e).map_err(|_| Fault::Reported)?;
        let mut rates = Vec::new();
        match &rotation {
            Rotation::Turns(list) => {
                for &(_, angle) in list {
                    rates.push(self.time_derivative(angle, false).map_err(|_| Fault::Reported)?);
                }
            }
            Rotation::Free(k) => rates.extend(self.free_inputs(*k).1),
        }
        let own = parent.spin(&mut self.model.graph, &rotation, &rates);
        let spin = match self.body_parent[e] {
            Some(p) => {
                let val = self.demand(Thing::Spin(p)).map_err(|_| Fault::Reported)?;
                let mut base = own;
                for (k, node) in base.iter_mut().enumerate() {
                    *node = val.item(k).ok_or(Fault::Reported)?;
                }
                vector::add(&mut self.model.graph, base, own)
            }
            None => own,
        };
        Ok(Val::List(spin.into_iter().map(|n| Val::One(n, SPIN)).collect()))
    }

    /// World position of the origin or of a point of a body element or of the ground.
    pub(super) fn space_point(
        &mut self,
        body: Option<usize>,
        feature: Option<usize>,
    ) -> Result<Vector, Blocked> {
        let zero = self.zero();
        let mut local = [zero; 3];
        if let Some(k) = feature {
            let val = self.demand(Thing::Point(body, k))?;
            for (i, node) in local.iter_mut().enumerate() {
                *node = val.item(i).ok_or(Blocked::Reported)?;
            }
        }
        match body {
            None => Ok(local),
            Some(e) => {
                let pose = self.space_pose(e)?;
                Ok(pose.place(&mut self.model.graph, local))
            }
        }
    }

    /// A component of `BODY.axis1`.
    pub(super) fn axis_value(&mut self, e: usize, axis: usize, component: usize) -> Result<NodeId, Blocked> {
        Ok(self.space_pose(e)?.axes[component][axis])
    }

    /// The spatial part of a body.
    pub(super) fn space_body(&mut self, e: usize) -> Resolved<SpaceBody> {
        let raw = self.raw.clone();
        let element = self.bodies.1[e].clone();
        let body = &raw.bodies[element.raw];
        let name = element.name.clone();
        let (position, rotation) = self.space_frame(e)?;
        let context = self.place_of(Scope::Motion, body.family.as_ref(), &element);
        let (center, inertia) = self.within(context, |b| -> Resolved<_> {
            if let Some((_, center, inertia)) = b.filled(body, &name)? {
                return Ok((center, inertia));
            }
            let center = match &body.space.center {
                Some(c) => b.constants(c, Dim::LENGTH, "the mass centre")?,
                None => [b.zero(); 3],
            };
            Ok((center, b.space_inertia(body, &name)?))
        })?;
        self.check_turning(e, body, &name, &rotation, &inertia)?;
        Ok(SpaceBody { position, rotation, center, inertia })
    }

    fn space_inertia(&mut self, body: &RawBody, name: &str) -> Resolved<[Vector; 3]> {
        let zero = self.zero();
        if let Some(f) = &body.inertia {
            let one = self.lower_as(f, INERTIA, &format!("the inertia of `{name}`"))?;
            self.of_parameters(f, one, &format!("the inertia of `{name}`"))?;
            let row = |i: usize| [0, 1, 2].map(|j| if i == j { one } else { zero });
            let inertia = [row(0), row(1), row(2)];
            self.check_inertia(&inertia, f.span, name, body.space.any_inertia)?;
            return Ok(inertia);
        }
        let Some((list, span)) = &body.space.inertia else { return Ok([[zero; 3]; 3]) };
        let mut nodes = Vec::with_capacity(list.len());
        for f in list {
            let node = self.lower_as(f, INERTIA, &format!("the inertia of `{name}`"))?;
            self.of_parameters(f, node, &format!("the inertia of `{name}`"))?;
            nodes.push(node);
        }
        let entry = |i: usize, j: usize| match nodes.len() {
            3 if i == j => nodes[i],
            3 => zero,
            _ => nodes[3 * i + j],
        };
        let inertia = [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)));
        self.check_inertia(&inertia, *span, name, body.space.any_inertia)?;
        // symmetric to the bit
        Ok([0, 1, 2].map(|i| [0, 1, 2].map(|j| inertia[i.min(j)][i.max(j)])))
    }

    /// An inertia that a body can have: symmetric, and no principal moment above the sum of the two others.
    /// With `any` only symmetric.
    fn check_inertia(
        &mut self,
        inertia: &[Vector; 3],
        span: crate::model::Span,
        name: &str,
        any: bool,
    ) -> Resolved<()> {
        let mut m = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let Some(value) = self.default_value(inertia[i][j]) else { return Ok(()) };
                m[i][j] = value;
            }
        }
        let size = m.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        if !size.is_finite() {
            return Err(fault(span, format!("the inertia of `{name}` is not finite"), ""));
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            if (m[i][j] - m[j][i]).abs() > 1e-12 * size {
                let message =
                    format!("the inertia of `{name}` is not symmetric: {} and {}", m[i][j], m[j][i]);
                return Err(fault(span, message, "the matrix is its own mirror image"));
            }
        }
        if any {
            return Ok(());
        }
        let [a, b, c] = principal(&m);
        if a < -1e-12 * size {
            let message = format!("the inertia of `{name}` has the principal moment {a:.4e}");
            return Err(fault(span, message, "it cannot be negative"));
        }
        if c > a + b + 1e-9 * size {
            let message = format!("no body has the principal moments {a:.6}, {b:.6}, {c:.6}");
            let help = "each is at most the sum of the two others; check signs and the order of the entries (any_inertia = true takes it as it is)";
            return Err(fault(span, format!("inertia of `{name}`: {message}"), help));
        }
        Ok(())
    }

    /// A body that turns freely needs inertia about every axis, one turned by three angles must not start where they lock.
    fn check_turning(
        &mut self,
        e: usize,
        body: &RawBody,
        name: &str,
        rotation: &Rotation,
        inertia: &[Vector; 3],
    ) -> Resolved<()> {
        let zero = self.zero();
        let weighs = inertia.iter().flatten().any(|&n| n != zero);
        let still =
            matches!(rotation, Rotation::Turns(list) if list.is_empty()) && self.body_parent[e].is_none();
        if weighs && still {
            let span = body.inertia.as_ref().map(|f| f.span).or(body.space.inertia.as_ref().map(|i| i.1));
            return Err(fault(
                span.unwrap_or(body.name.span),
                format!("body `{name}` has an inertia but does not turn"),
                "write  rotation = \"free\"  or a list of turns",
            ));
        }
        match (rotation, &body.space.rotation) {
            (Rotation::Free(_), RawRotation::Free(span)) => {
                let values = inertia.map(|r| r.map(|n| self.default_value(n)));
                let m = values.map(|r| r.map(|v| v.unwrap_or(1.0)));
                let known = values.iter().flatten().all(Option::is_some);
                let [least, _, most] = principal(&m);
                if !weighs || (known && least <= 1e-12 * most) {
                    let what = if weighs { "has no inertia about one axis" } else { "has no inertia" };
                    let help = "give it  inertia = [a, b, c], all positive; a particle needs no rotation";
                    return Err(fault(*span, format!("body `{name}` turns freely but {what}"), help));
                }
                Ok(())
            }
            (Rotation::Turns(list), RawRotation::Turns(_, span)) if list.len() == 3 => {
                // the middle angle brings the first axis into the third where they are dependent
                let start = self.at_start(list[1].1).map_err(|_| Fault::Reported)?;
                let Some(angle) = self.default_value(start) else { return Ok(()) };
                let same = list[0].0 == list[2].0;
                let locked = if same { angle.sin() } else { angle.cos() };
                let moves = |b: &mut Self, n: NodeId| {
                    b.model
                        .graph
                        .symbols(&[n])
                        .into_iter()
                        .any(|s| matches!(b.meaning(s), Some(Input::Coordinate(_))))
                };
                let all = list.iter().all(|&(_, n)| moves(self, n));
                if all && list[0].0 != list[1].0 && list[1].0 != list[2].0 && locked.abs() < 1e-6 {
                    let message = format!("the turns of body `{name}` start at their singular point");
                    let help = "the first and the third axis coincide there; write  rotation = \"free\"  or choose other axes";
                    return Err(fault(*span, message, help));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `NAME.slip[2]`, `NAME.tangential[1]`, `NAME.speed`, `NAME.friction`, `NAME.drilling`, `NAME.force.x`; `None` for what every contact has.
    pub(super) fn space_contact_value(
        &mut self,
        e: usize,
        parts: &[PathPart<'_>],
        r: &Reference<'_>,
    ) -> Option<Result<NodeId, ExprError>> {
        let late = self.context.scope >= Scope::Output;
        let unknown = |what: &str| {
            let help = "forces of contacts are known in outputs and in `set`";
            Some(Err(ExprError::new(r.span, format!("`{}` is not known here", what), help)))
        };
        let root = |b: &mut Self, x: NodeId, y: NodeId| {
            let g = &mut b.model.graph;
            let (x, y, tiny) = (g.mul(x, x), g.mul(y, y), g.num(1e-60));
            let sum = g.add(x, y);
            let sum = g.add(sum, tiny);
            g.fun(Fun::Sqrt, sum)
        };
        match parts {
            [force, axis] if force.name == "force" => {
                let i = ["x", "y", "z"].iter().position(|n| *n == axis.name)?;
                if !late || r.primes > 0 {
                    return unknown(&r.text());
                }
                Some(Ok(self.input(Input::ContactForce(e, i))))
            }
            [field] if matches!(field.name, "slip" | "speed") => {
                let at = self.contacts.1[e].raw;
                let span = self.raw.contacts[at].name.span;
                let second = match self.second_slip(e, span) {
                    Ok(second) => second?,
                    Err(_) => return Some(Err(super::builder::reported(r.span))),
                };
                let first = match self.slip_node(e) {
                    Ok(first) => first?,
                    Err(b) => return Some(Err(b.at(r.span))),
                };
                let node = match (field.name, field.indices.as_slice()) {
                    ("speed", []) => root(self, first, second),
                    ("slip", [1]) => first,
                    ("slip", [2]) => second,
                    _ => return pick_one(r, field),
                };
                Some(self.derived(node, r))
            }
            [field] if field.name == "drilling" && field.indices.is_empty() => {
                let raw = self.raw.clone();
                let contact = &raw.contacts[self.contacts.1[e].raw];
                let patch = matches!(contact.friction, Some((RawFriction::Patch { .. }, _)));
                if !patch && contact.in_space[1].is_none() {
                    let help = "give it  friction = { value = mu, patch = { radius = \"a\" } }  or  drilling = \"1 mm\"";
                    let message = format!("`{}` resists no drilling", contact.name.text);
                    return Some(Err(ExprError::new(r.span, message, help)));
                }
                if !late || r.primes > 0 {
                    return unknown(&r.text());
                }
                Some(Ok(self.input(Input::Drilling(e))))
            }
            [field] if matches!(field.name, "tangential" | "friction") => {
                if !late || r.primes > 0 {
                    return unknown(&r.text());
                }
                let [first, second] =
                    [Input::Tangential(e), Input::SecondTangential(e)].map(|i| self.input(i));
                match (field.name, field.indices.as_slice()) {
                    ("friction", []) => Some(Ok(root(self, first, second))),
                    ("tangential", [1]) => Some(Ok(first)),
                    ("tangential", [2]) => Some(Ok(second)),
                    _ => pick_one(r, field),
                }
            }
            _ => None,
        }
    }

    /// What a contact in space has in addition.
    pub(super) fn space_contact(&mut self, e: usize, c: &RawContact, name: &str) -> Resolved<SpaceContact> {
        let slip = match &c.second_slip {
            Some(_) => self.second_slip(e, c.name.span)?,
            None => None,
        };
        let element = self.contacts.1[e].clone();
        let context = self.place_of(Scope::Motion, c.family.as_ref(), &element);
        let tangent = match &c.space_tangent {
            Some(list) => Some(self.within(context.clone(), |b| b.direction(list, "tangent", name))?),
            None => None,
        };
        if self.spatial.is_none() && tangent.is_some() {
            return Err(fault(
                c.name.span,
                format!("the tangent of `{name}` has three entries"),
                super::SPATIAL,
            ));
        }
        let mut out = SpaceContact { slip, tangent, ..SpaceContact::default() };
        self.resistances(c, &context, &mut out)?;
        Ok(out)
    }

    /// Slip along the second tangent: a formula, or a placeholder for the geometry; `None` where there is one tangent only.
    pub(super) fn second_slip(&mut self, e: usize, at: crate::model::Span) -> Resolved<Option<NodeId>> {
        let raw = self.raw.clone();
        let contact = &raw.contacts[self.contacts.1[e].raw];
        if contact.second_slip.is_some() {
            return self.known_node(Thing::SecondSlip(e), at).map(Some);
        }
        let shapes = matches!(contact.geometry, RawGeometry::Between(_)) && contact.slip.is_none();
        Ok((self.spatial.is_some() && shapes).then(|| self.input(Input::SecondSlip(e))))
    }

    /// Quaternion and spin of a free rotation at the start: seven numbers.
    pub(super) fn make_free(&mut self, k: usize) -> Resolved<Val> {
        let raw = self.raw.clone();
        let element = self.bodies.1[self.free[k]].clone();
        let body = &raw.bodies[element.raw];
        let context = self.place_of(Scope::Start, body.family.as_ref(), &element);
        let (turned, spin) = self.within(context, |b| -> Resolved<_> {
            let turned = b.turns(&body.space.turned, true)?;
            let spin = match &body.space.spin {
                Some(list) => {
                    let mut spin = [b.zero(); 3];
                    for (node, f) in spin.iter_mut().zip(list) {
                        *node = b.lower_as(f, SPIN, "a spin")?;
                    }
                    spin
                }
                None => [b.zero(); 3],
            };
            Ok((turned, spin))
        })?;
        let g = &mut self.model.graph;
        let quaternion = crate::model::quaternion_of(g, &turned);
        let spin = match body.space.body_spin {
            true => {
                let frame = SpacePose::ground(g);
                let zero = g.num(0.0);
                let frame = frame.child(g, [zero; 3], &Rotation::Turns(turned), |_, _| [zero; 4]);
                frame.turn(g, spin)
            }
            false => spin,
        };
        let quaternion = quaternion.into_iter().map(|n| Val::One(n, Dim::NONE));
        Ok(Val::List(quaternion.chain(spin.into_iter().map(|n| Val::One(n, SPIN))).collect()))
    }

    /// Free rotations of the model.
    pub(super) fn finish_free(&mut self) {
        let raw = self.raw.clone();
        for k in 0..self.free.len() {
            let e = self.free[k];
            let body = &raw.bodies[self.bodies.1[e].raw];
            let span = body.space.rotation.span().unwrap_or(body.name.span);
            let made = self.known(Thing::Free(k), span);
            let Some(val) = self.keep(made) else { continue };
            let item = |i: usize| val.item(i).unwrap_or(NodeId(0));
            self.model.free.push(FreeRotation {
                body: self.body_place[e],
                start: [0, 1, 2, 3].map(item),
                spin: [4, 5, 6].map(item),
                guess: body.space.guess,
            });
        }
    }
}

/// The error for a vector where a number is expected.
fn pick_one(r: &Reference<'_>, field: &PathPart<'_>) -> Option<Result<NodeId, ExprError>> {
    let norm = if field.name == "slip" { "speed" } else { "friction" };
    let help = format!(
        "write `{0}.{1}[1]`, `{0}.{1}[2]`, or `{0}.{norm}` for its size",
        r.parts[0].name, field.name
    );
    Some(Err(ExprError::new(r.span, format!("`{}` has two components in space", r.text()), help)))
}

/// Principal moments of a symmetric matrix, ascending: by turning the largest entry beside the diagonal to zero (Jacobi).
fn principal(m: &[[f64; 3]; 3]) -> [f64; 3] {
    let mut m = *m;
    for _ in 0..60 {
        let (i, j) = [(0, 1), (0, 2), (1, 2)]
            .into_iter()
            .max_by(|a, b| m[a.0][a.1].abs().total_cmp(&m[b.0][b.1].abs()))
            .unwrap_or((0, 1));
        if m[i][j] == 0.0 {
            break;
        }
        let angle = 0.5 * (2.0 * m[i][j]).atan2(m[j][j] - m[i][i]);
        let (s, c) = angle.sin_cos();
        for row in &mut m {
            (row[i], row[j]) = (c * row[i] - s * row[j], s * row[i] + c * row[j]);
        }
        for k in 0..3 {
            (m[i][k], m[j][k]) = (c * m[i][k] - s * m[j][k], s * m[i][k] + c * m[j][k]);
        }
    }
    let mut out = [m[0][0], m[1][1], m[2][2]];
    out.sort_by(f64::total_cmp);
    out
}

#[cfg(test)]
mod tests {
    use super::principal;

    #[test]
    fn principal_moments_of_a_turned_body_are_those_of_the_body() {
        // diag(1, 2, 2.5) turned about (1, 1, 1)/√3 by 40°
        let (c, s) = (40f64.to_radians().cos(), 40f64.to_radians().sin());
        let (a, b) = ((1.0 - c) / 3.0, s / 3f64.sqrt());
        let r = [[c + a, a - b, a + b], [a + b, c + a, a - b], [a - b, a + b, c + a]];
        let d = [1.0, 2.0, 2.5];
        let mut m = [[0.0; 3]; 3];
        for (i, j, k) in (0..27).map(|n| (n / 9, n / 3 % 3, n % 3)) {
            m[i][j] += r[i][k] * d[k] * r[j][k];
        }
        principal(&m).iter().zip(d).for_each(|(x, y)| assert!((x - y).abs() < 1e-13, "{x} {y}"));
    }
}

//! The meaning of names in expressions.

use super::builder::{Blocked, Builder, Element, Group, Scope, Thing, Val};
use super::names::What;
use super::raw::DefineKind;
use crate::expr::{
    self, Derivation, ExprError, Function, Graph, NodeId, PathPart, Reference, Resolver, did_you_mean,
    unknown_name,
};
use crate::model::{FrictionTensor, Input};

type Lowered = Result<NodeId, ExprError>;

impl Resolver for Builder<'_> {
    fn name(&mut self, graph: &mut Graph, reference: &Reference<'_>) -> Lowered {
        // the graph travels with the lowering; while a name is resolved it is back in the model
        std::mem::swap(graph, &mut self.model.graph);
        let locals = std::mem::take(&mut self.context.locals);
        let result = self.spend(reference.span).and_then(|()| self.resolve(reference));
        self.context.locals = locals;
        std::mem::swap(graph, &mut self.model.graph);
        result
    }

    fn function(&mut self, graph: &mut Graph, name: &str) -> Option<Function> {
        let Some(What::Define(k)) = self.names.get(name) else { return None };
        match &self.raw.defines[k].kind {
            DefineKind::Function(..) => self.functions.get(&k).cloned().map(Function::Formula),
            DefineKind::Formula(_) => None,
            _ => {
                std::mem::swap(graph, &mut self.model.graph);
                let table = self.table(k);
                std::mem::swap(graph, &mut self.model.graph);
                table
            }
        }
    }

    fn function_names(&self) -> Vec<String> {
        let is_function = |k: &super::raw::RawDefine| !matches!(k.kind, DefineKind::Formula(_));
        self.raw.defines.iter().filter(|d| is_function(d)).map(|d| d.name.text.clone()).collect()
    }
}

impl Builder<'_> {
    fn resolve(&mut self, r: &Reference<'_>) -> Lowered {
        if let Some(word) = r.simple()
            && let Some(result) = self.word(word, r)
        {
            return result;
        }
        let first = &r.parts[0];
        match first.name {
            "energy" => return self.energy(r),
            "ground" => {
                let node = self.feature_value(None, &r.parts[1..], r)?;
                return self.derived(node, r);
            }
            _ => {}
        }
        let Some(what) = self.names.get(first.name) else {
            return Err(self.unknown(first));
        };
        // parameters are made before anything that moves is known
        if self.context.scope == Scope::Parameter && !matches!(what, What::Parameter(_) | What::Define(_)) {
            return Err(not_constant(r, what.noun()));
        }
        match what {
            What::Parameter(k) => self.parameter_value(k, r),
            What::Coordinate(k) => {
                let e = member(&self.coordinates, k, first)?;
                no_more_parts(r, "a coordinate")?;
                self.coordinate_value(e, r)
            }
            What::State(k) => {
                let e = member(&self.states, k, first)?;
                no_more_parts(r, "a state")?;
                self.state_value(e, r)
            }
            What::Memory(k) => {
                let e = member(&self.memory, k, first)?;
                no_more_parts(r, "a memory")?;
                if r.primes > 0 {
                    return Ok(self.zero());
                }
                if self.context.scope == Scope::Start {
                    return self.demand_node(Thing::MemoryStart(e), r);
                }
                Ok(self.input(Input::Memory(e)))
            }
            What::Define(k) => self.definition(k, r),
            What::Body(k) => {
                let e = member(&self.bodies, k, first)?;
                let node = self.feature_value(Some(e), &r.parts[1..], r)?;
                self.derived(node, r)
            }
            What::Force(k) => {
                let e = member(&self.forces, k, first)?;
                self.force_value(e, r)
            }
            What::Contact(k) => self.contact_value(k, r),
        }
    }

    fn unknown(&self, part: &PathPart<'_>) -> ExprError {
        let locals = self.context.locals.iter().map(|(n, _)| n.as_str());
        let names = self.names.all().map(|(n, _)| n);
        // an error that is only counted needs no hint: comparing thousands of names with thousands of others takes minutes
        let compared = if self.report.is_full() { 0 } else { usize::MAX };
        unknown_name(part.name, part.span, names.chain(locals).chain(["t", "pi"]).take(compared))
    }

    /// `t`, and the words that have a meaning at the present place only.
    fn word(&mut self, word: &str, r: &Reference<'_>) -> Option<Lowered> {
        let words = self.context.words;
        let local = |pair: Option<[NodeId; 2]>, help: &str| {
            Some(match (pair, r.primes) {
                (Some(p), k) if (k as usize) < p.len() => Ok(p[k as usize]),
                (Some(_), _) => {
                    Err(ExprError::new(r.span, format!("`{}` has no further derivative here", r.text()), ""))
                }
                (None, _) => Err(ExprError::new(r.span, format!("`{word}` has no meaning here"), help)),
            })
        };
        match word {
            "t" => Some(match (self.context.scope, r.primes) {
                (Scope::Parameter, _) => Err(not_constant(r, "time")),
                (Scope::Start, 0) => Ok(self.zero()),
                (_, 0) => Ok(self.input(Input::Time)),
                (_, 1) => Ok(self.model.graph.num(1.0)),
                _ => Ok(self.zero()),
            }),
            "stretch" => {
                local(words.stretch, "it stands in the `force` of a force with `along` or `between`")
            }
            "gap" => local(words.gap, "it stands in `normal_force`; elsewhere write  contact.gap"),
            "slip" | "speed" => Some(match words.slip {
                Some(_) if r.primes > 0 => {
                    Err(ExprError::new(r.span, format!("`{word}` has no derivative here"), ""))
                }
                Some([slip, speed]) => Ok(if word == "slip" { slip } else { speed }),
                None => {
                    let help = "it stands in `friction` and `friction_force`; elsewhere write  contact.slip";
                    Err(ExprError::new(r.span, format!("`{word}` has no meaning here"), help))
                }
            }),
            "load_rate" | "stick_time" => Some(match words.rest {
                Some(k) if r.primes == 0 => {
                    Ok(self.input(if word == "load_rate" { Input::LoadRate(k) } else { Input::StickTime(k) }))
                }
                _ => {
                    let help = "it stands in  friction = { static = … }  or  friction_force = { static = … }";
                    Err(ExprError::new(r.span, format!("`{word}` has no meaning here"), help))
                }
            }),
            _ => None,
        }
    }

    fn energy(&mut self, r: &Reference<'_>) -> Lowered {
        let field = match r.parts.as_slice() {
            [_, field] if field.indices.is_empty() && r.primes == 0 => field.name,
            _ => "",
        };
        if !matches!(self.context.scope, Scope::Output | Scope::Set) {
            return Err(ExprError::new(r.span, "the energy is known in outputs only", ""));
        }
        match field {
            "kinetic" => Ok(self.input(Input::Energy(0))),
            "potential" => Ok(self.input(Input::Energy(1))),
            "total" => {
                let (t, v) = (self.input(Input::Energy(0)), self.input(Input::Energy(1)));
                Ok(self.model.graph.add(t, v))
            }
            _ => Err(unknown_part(r, &["kinetic", "potential", "total"])),
        }
    }

    fn parameter_value(&mut self, k: usize, r: &Reference<'_>) -> Lowered {
        let part = &r.parts[0];
        no_more_parts(r, "a parameter")?;
        let val = self.demand(Thing::Parameter(k)).map_err(|b| b.at(r.span))?;
        let node = pick(&val, part, r.span)?;
        Ok(if r.primes > 0 { self.zero() } else { node })
    }

    fn coordinate_value(&mut self, e: usize, r: &Reference<'_>) -> Lowered {
        match (self.context.scope, r.primes) {
            (Scope::Start, 0) => self.demand_node(Thing::Start(e), r),
            (Scope::Start, 1) => self.demand_node(Thing::Rate(e), r),
            (_, 0) => Ok(self.input(Input::Coordinate(e))),
            (_, 1) => Ok(self.input(Input::Velocity(e))),
            (Scope::Output | Scope::Set, 2) => Ok(self.input(Input::Acceleration(e))),
            (_, 2) => Err(ExprError::new(r.span, "accelerations are known in outputs only", "")),
            _ => Err(ExprError::new(r.span, "higher derivatives than the acceleration are not known", "")),
        }
    }

    fn state_value(&mut self, e: usize, r: &Reference<'_>) -> Lowered {
        match (self.context.scope, r.primes) {
            (Scope::Start, 0) => self.demand_node(Thing::StateStart(e), r),
            _ => {
                let node = self.input(Input::State(e));
                self.derived(node, r)
            }
        }
    }

    fn definition(&mut self, k: usize, r: &Reference<'_>) -> Lowered {
        let name = r.parts[0].name;
        if !matches!(self.raw.defines[k].kind, DefineKind::Formula(_)) {
            let help = format!("write `{name}(…)`");
            return Err(ExprError::new(r.span, format!("`{name}` is a function"), help));
        }
        no_more_parts(r, "a definition")?;
        if !r.parts[0].indices.is_empty() {
            return Err(ExprError::new(
                r.span,
                format!("`{name}` is a definition, not a list"),
                "make it a function: \"f(i)\" = \"…\"",
            ));
        }
        // at the start: the formula of the motion with start values put in, so that derivatives exist there too
        let scope = if self.context.scope == Scope::Start { Scope::Motion } else { self.context.scope };
        let node = self.demand_node(Thing::Define(scope, k), r)?;
        self.derived(node, r)
    }

    pub(super) fn demand_node(&mut self, thing: Thing, r: &Reference<'_>) -> Lowered {
        let val = self.demand(thing).map_err(|b| b.at(r.span))?;
        val.one().map(|(node, _)| node).ok_or_else(|| super::builder::reported(r.span))
    }

    /// `node` differentiated as often as there are primes, and at the start with start values put in.
    pub(super) fn derived(&mut self, mut node: NodeId, r: &Reference<'_>) -> Lowered {
        let accelerations = matches!(self.context.scope, Scope::Output | Scope::Set);
        for _ in 0..r.primes {
            node = self.time_derivative(node, accelerations).map_err(|b| b.at(r.span))?;
        }
        if self.context.scope == Scope::Start {
            return self.at_start(node).map_err(|b| b.at(r.span));
        }
        Ok(node)
    }

    /// The total derivative in time.
    pub(super) fn time_derivative(&mut self, node: NodeId, accelerations: bool) -> Result<NodeId, Blocked> {
        let blocked = |message: &str| Err(Blocked::Message(message.to_string(), String::new()));
        let mut rules = Vec::new();
        for symbol in self.model.graph.symbols(&[node]) {
            let rate = match self.meaning(symbol) {
                Some(Input::Time) => self.model.graph.num(1.0),
                Some(Input::Coordinate(k)) => self.coordinate_rate(k),
                Some(Input::Velocity(k)) if accelerations => self.input(Input::Acceleration(k)),
                Some(Input::Velocity(_)) => {
                    return blocked(
                        "this derivative contains accelerations, which are known in outputs only",
                    );
                }
                Some(Input::State(k)) => {
                    let rate = match k.checked_sub(self.states.1.len()) {
                        Some(heat) => self.input(Input::Heat(self.heats[heat])),
                        None => self.demand(Thing::StateRate(k))?.one().ok_or(Blocked::Reported)?.0,
                    };
                    if matches!(self.context.scope, Scope::Motion | Scope::Load) && self.is_heated(rate) {
                        return blocked(
                            "this rate contains the heat of a contact, which is known in rates of states and in outputs only",
                        );
                    }
                    rate
                }
                Some(Input::Gap(k)) => self.input(Input::GapRate(k)),
                Some(Input::GapRate(k)) if accelerations => self.input(Input::GapAcceleration(k)),
                Some(Input::Slip(k)) if accelerations => self.input(Input::SlipRate(k)),
                Some(Input::Memory(_) | Input::Parameter(_)) | None => continue,
                Some(_) => return blocked("forces, modes and slip have no derivative"),
            };
            rules.push((symbol, rate));
        }
        Ok(Derivation::new(rules).of(&mut self.model.graph, node))
    }

    /// A formula of the motion with the start values put in.
    pub(super) fn at_start(&mut self, node: NodeId) -> Result<NodeId, Blocked> {
        let mut map = std::collections::BTreeMap::new();
        for symbol in self.model.graph.symbols(&[node]) {
            if let Some(free) = self.meaning(symbol).and_then(|input| self.free_start(input)) {
                map.insert(symbol, free?);
                continue;
            }
            let thing = match self.meaning(symbol) {
                Some(Input::Time) => {
                    map.insert(symbol, self.zero());
                    continue;
                }
                Some(Input::State(k)) if k >= self.states.1.len() => {
                    map.insert(symbol, self.zero());
                    continue;
                }
                Some(Input::Coordinate(k)) => Thing::Start(k),
                Some(Input::Velocity(k)) => Thing::Rate(k),
                Some(Input::State(k)) => Thing::StateStart(k),
                Some(Input::Memory(k)) => Thing::MemoryStart(k),
                Some(Input::Parameter(_)) | None => continue,
                Some(_) => {
                    let message = "forces and contacts are not known while the start is computed";
                    return Err(Blocked::Message(message.into(), String::new()));
                }
            };
            let val = self.demand(thing)?;
            map.insert(symbol, val.one().ok_or(Blocked::Reported)?.0);
        }
        Ok(self.model.graph.substitute(node, &map))
    }

    /// `rod.x`, `rod.angle`, `rod.tip.y`, `ground.peg.x`: world values of a body (by element) or of the ground.
    fn feature_value(&mut self, body: Option<usize>, parts: &[PathPart<'_>], r: &Reference<'_>) -> Lowered {
        if self.context.scope == Scope::Parameter {
            return Err(not_constant(r, "the ground"));
        }
        let pose = |b: &mut Self, e: usize| b.demand(Thing::Pose(e)).map_err(|x| x.at(r.span));
        let item = |val: &Val, k: usize| val.item(k).ok_or_else(|| super::builder::reported(r.span));
        if self.spatial.is_some() {
            return self.space_value(body, parts, r);
        }
        match (body, parts) {
            (Some(e), [field]) if field.indices.is_empty() && matches!(field.name, "x" | "y" | "angle") => {
                let pose = pose(self, e)?;
                let k = ["x", "y", "angle"].iter().position(|n| *n == field.name).unwrap_or(0);
                item(&pose, k)
            }
            (_, [what, field]) if what.name == "touch" && matches!(field.name, "x" | "y") => {
                self.touch_force(body, field, usize::from(field.name == "y"), r)
            }
            (_, [feature, field]) if matches!(field.name, "x" | "y") => {
                let k =
                    self.feature_index(body, feature.name).ok_or_else(|| self.no_feature(body, feature))?;
                let world = self.world_point(body, Some(k)).map_err(|b| b.at(r.span))?;
                Ok(world[usize::from(field.name == "y")])
            }
            (Some(_), [_, field]) => {
                let help = near(field.name, &["x", "y"]);
                Err(ExprError::new(field.span, format!("a point has no part `{}`", field.name), help))
            }
            (_, []) => {
                let name = r.parts[0].name;
                let help = if body.is_some() {
                    format!("write `{name}.x`, `{name}.y` or `{name}.angle`")
                } else {
                    "write `ground.point.x`".into()
                };
                Err(ExprError::new(r.span, format!("`{name}` is not a number"), help))
            }
            (Some(_), [field]) => {
                let known = self.feature_names(body);
                let mut all: Vec<&str> = vec!["x", "y", "angle"];
                all.extend(known.iter().map(String::as_str));
                let help = if known.iter().any(|n| n == field.name) {
                    format!("write `{0}.{1}.x` or `{0}.{1}.y`", r.parts[0].name, field.name)
                } else {
                    near(field.name, &all)
                };
                Err(ExprError::new(
                    field.span,
                    format!("`{}` of body `{}` is not a number", field.name, r.parts[0].name),
                    help,
                ))
            }
            _ => {
                Err(ExprError::new(r.span, format!("`{}` is not a number", r.text()), "write `body.point.x`"))
            }
        }
    }

    /// The same in space: `ball.z`, `ball.spin.x`, `ball.axis1.z`, `ball.tip.z`.
    fn space_value(&mut self, body: Option<usize>, parts: &[PathPart<'_>], r: &Reference<'_>) -> Lowered {
        const COMPONENTS: [&str; 3] = ["x", "y", "z"];
        let component = |part: &PathPart<'_>| COMPONENTS.iter().position(|n| *n == part.name);
        let name = r.parts[0].name;
        match (body, parts) {
            (Some(e), [field]) if component(field).is_some() => {
                let world = self.space_point(Some(e), None).map_err(|b| b.at(r.span))?;
                Ok(world[component(field).unwrap_or(0)])
            }
            (Some(e), [what, field]) if what.name == "spin" && component(field).is_some() => {
                let val = self.demand(Thing::Spin(e)).map_err(|b| b.at(r.span))?;
                val.item(component(field).unwrap_or(0)).ok_or_else(|| super::builder::reported(r.span))
            }
            (Some(e), [what, field])
                if matches!(what.name, "axis1" | "axis2" | "axis3") && component(field).is_some() =>
            {
                let axis = ["axis1", "axis2", "axis3"].iter().position(|n| *n == what.name).unwrap_or(0);
                self.axis_value(e, axis, component(field).unwrap_or(0)).map_err(|b| b.at(r.span))
            }
            (_, [what, field]) if what.name == "touch" && component(field).is_some() => {
                self.touch_force(body, field, component(field).unwrap_or(0), r)
            }
            (_, [feature, field]) if component(field).is_some() => {
                let k =
                    self.feature_index(body, feature.name).ok_or_else(|| self.no_feature(body, feature))?;
                let world = self.space_point(body, Some(k)).map_err(|b| b.at(r.span))?;
                Ok(world[component(field).unwrap_or(0)])
            }
            (Some(_), _) => {
                let help = format!(
                    "write `{name}.x`, `.y`, `.z`, `{name}.spin.x`, `{name}.axis1.x` or `{name}.POINT.x`"
                );
                Err(ExprError::new(r.span, format!("`{}` is not a number", r.text()), help))
            }
            _ => Err(ExprError::new(
                r.span,
                format!("`{}` is not a number", r.text()),
                "write `ground.point.x`",
            )),
        }
    }

    /// The error for a feature that does not exist.
    pub(super) fn no_feature(&self, body: Option<usize>, part: &PathPart<'_>) -> ExprError {
        let known = self.feature_names(body);
        let owner = match body {
            Some(e) => format!("body `{}`", self.bodies.1[e].name),
            None => "the ground".to_string(),
        };
        let all: Vec<&str> = known.iter().map(String::as_str).collect();
        ExprError::new(part.span, format!("{owner} has no feature `{}`", part.name), near(part.name, &all))
    }

    fn contact_value(&mut self, k: usize, r: &Reference<'_>) -> Lowered {
        let first = &r.parts[0];
        let (elements, rest) = self.contact_elements(k, &r.parts)?;
        if self.spatial.is_some()
            && let Some(found) = self.space_contact_value(elements[0], rest, r)
        {
            return found;
        }
        let [field] = rest else {
            let help = format!(
                "write `{0}.gap`, `{0}.slip`, `{0}.normal`, `{0}.tangential` or `{0}.mode`",
                first.name
            );
            return Err(ExprError::new(r.span, format!("`{}` is a contact, not a number", r.text()), help));
        };
        let scope = self.context.scope;
        let known = ["gap", "slip", "normal", "tangential", "mode", "heat", "impulse", "friction_n"];
        if !known.contains(&field.name) {
            return Err(unknown_part(r, &known));
        }
        if elements.len() == 2 && field.name != "impulse" {
            let help = format!("write `{0}.low.{1}` or `{0}.high.{1}`", first.name, field.name);
            return Err(ExprError::new(r.span, format!("`{}` has two flanks", first.name), help));
        }
        let e = elements[0];
        if matches!(field.name, "gap" | "slip") {
            let node = if field.name == "gap" { self.gap_node(e) } else { self.slip_node(e) };
            let node = node.map_err(|b| b.at(r.span))?.ok_or_else(|| {
                ExprError::new(r.span, format!("contact `{}` has no {}", first.name, field.name), "")
            })?;
            return self.derived(node, r);
        }
        if field.name == "heat" {
            return self.heat(e, r);
        }
        if r.primes > 0 {
            return Err(ExprError::new(r.span, "forces, modes and impulses have no derivative", ""));
        }
        let wanted = match field.name {
            "normal" if scope == Scope::Load => Scope::Load,
            "impulse" => Scope::Set,
            _ => Scope::Output,
        };
        if scope < wanted {
            let help = match field.name {
                "impulse" => "impulses are known in the `set` of an event",
                "normal" => "forces of contacts are known in outputs, in `set`, and in `normal_force`",
                _ => "forces and modes of contacts are known in outputs and in `set`",
            };
            return Err(ExprError::new(r.span, format!("`{}` is not known here", r.text()), help));
        }
        Ok(match field.name {
            "normal" => self.input(Input::Normal(e)),
            "tangential" => self.input(Input::Tangential(e)),
            "mode" => self.input(Input::Mode(e)),
            "impulse" => {
                let nodes: Vec<NodeId> = elements.iter().map(|&e| self.input(Input::Impulse(e))).collect();
                let zero = self.zero();
                nodes.into_iter().fold(zero, |a, b| self.model.graph.add(a, b))
            }
            _ => {
                let friction = self.model.contacts.get(e).and_then(|c| c.friction.as_ref());
                let leans = match friction.and_then(|f| f.tensor.as_ref()) {
                    Some(FrictionTensor::Entries(list)) => list.len() == 4 && self.spatial.is_none(),
                    Some(FrictionTensor::Regular) => true,
                    _ => false,
                };
                if !leans {
                    return Err(ExprError::new(
                        r.span,
                        "only a friction tensor over tangent and normal has a normal part",
                        "write  friction = [[tt, tn], [nt, nn]]  or  friction = { regular = mu }",
                    ));
                }
                self.input(Input::FrictionNormal(e))
            }
        })
    }

    /// What contact `e` took from the motion since the start, by friction and impacts: a state of its own; primed, its rate.
    fn heat(&mut self, e: usize, r: &Reference<'_>) -> Lowered {
        if self.context.scope == Scope::Start {
            return Ok(self.zero());
        }
        let place = self.heats.iter().position(|h| *h == e).unwrap_or_else(|| {
            self.heats.push(e);
            self.heats.len() - 1
        });
        let node = self.input(Input::State(self.states.1.len() + place));
        self.derived(node, r)
    }

    /// The contact elements that a path means, and the parts behind them: both flanks of a play, or one.
    pub(super) fn contact_elements<'p, 'q>(
        &self,
        k: usize,
        parts: &'p [PathPart<'q>],
    ) -> Result<(Vec<usize>, &'p [PathPart<'q>]), ExprError> {
        let e = member(&self.contacts, k, &parts[0])?;
        if self.contacts.0[k].each == 2 {
            return Ok(match parts.get(1).map(|p| p.name) {
                Some("low") => (vec![e], &parts[2..]),
                Some("high") => (vec![e + 1], &parts[2..]),
                _ => (vec![e, e + 1], &parts[1..]),
            });
        }
        Ok((vec![e], &parts[1..]))
    }
}

/// The element that a name with its index means.
pub(super) fn member(
    list: &(Vec<Group>, Vec<Element>),
    k: usize,
    part: &PathPart<'_>,
) -> Result<usize, ExprError> {
    let group = list.0.get(k).copied().unwrap_or_default();
    let name = part.name;
    match (group.family, part.indices.as_slice()) {
        (false, []) if group.count == 1 => Ok(group.first),
        (false, []) => Err(super::builder::reported(part.span)),
        (false, _) => Err(ExprError::new(part.span, format!("`{name}` is not a family"), "remove the index")),
        (true, [i]) => {
            let high = group.low + group.count as i64 - 1;
            if *i < group.low || *i > high {
                let message = format!("`{name}[{i}]` is outside {name}[{}..{high}]", group.low);
                return Err(ExprError::new(part.span, message, ""));
            }
            Ok(group.first + (i - group.low) as usize * group.each.max(1))
        }
        (true, []) => {
            let help =
                format!("write `{name}[i]`, i from {} to {}", group.low, group.low + group.count as i64 - 1);
            Err(ExprError::new(part.span, format!("`{name}` is a family"), help))
        }
        (true, _) => Err(ExprError::new(part.span, format!("`{name}` has one index"), "")),
    }
}

/// The entry of a parameter with these indices.
pub(super) fn pick(val: &Val, part: &PathPart<'_>, span: expr::Span) -> Lowered {
    let mut val = val;
    let mut name = part.name.to_string();
    for &i in &part.indices {
        let Val::List(list) = val else {
            return Err(ExprError::new(
                span,
                format!("`{name}` is a number, not a list"),
                "remove the index",
            ));
        };
        let Some(next) = usize::try_from(i).ok().filter(|i| *i >= 1).and_then(|i| list.get(i - 1)) else {
            return Err(ExprError::new(
                span,
                format!("`{name}[{i}]` is outside {name}[1..{}]", list.len()),
                "indices count from 1",
            ));
        };
        val = next;
        name += &format!("[{i}]");
    }
    match val {
        Val::One(node, _) => Ok(*node),
        Val::List(list) => {
            let help = format!("write `{name}[i]`, i from 1 to {}", list.len());
            Err(ExprError::new(span, format!("`{name}` is a list"), help))
        }
    }
}

fn no_more_parts(r: &Reference<'_>, noun: &str) -> Result<(), ExprError> {
    match r.parts.get(1) {
        Some(part) => {
            let message = format!("`{}` is {noun} and has no part `{}`", r.parts[0].name, part.name);
            Err(ExprError::new(part.span, message, ""))
        }
        None => Ok(()),
    }
}

fn not_constant(r: &Reference<'_>, noun: &str) -> ExprError {
    let help = format!("`{}` is {noun}, which changes; here only parameters are known", r.text());
    ExprError::new(r.span, format!("`{}` is not constant", r.text()), help)
}

/// The error for a part behind a dot that does not exist.
pub(super) fn unknown_part(r: &Reference<'_>, known: &[&str]) -> ExprError {
    let part = r.parts.last().unwrap_or(&r.parts[0]);
    ExprError::new(
        part.span,
        format!("`{}` has no part `{}`", r.parts[0].name, part.name),
        near(part.name, known),
    )
}

/// "did you mean", or the list.
pub(super) fn near(name: &str, known: &[&str]) -> String {
    match did_you_mean(name, known.iter().copied()) {
        Some(word) => format!("did you mean `{word}`?"),
        None if known.is_empty() => String::new(),
        None => format!("known are {}", known.join(", ")),
    }
}

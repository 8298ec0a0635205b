//! Gravity, events, start conditions, run settings, outputs, plots and drawings.

use super::builder::{Builder, Context, Scope};
use super::diagnostic::{Origin, Resolved, fault};
use super::fields::{Word, shorten};
use super::formula::Formula;
use super::names::What;
use super::raw::RawDraw;
use super::raw_parts::{RawGeometry, RawTrigger};
use super::resolve::{member, near};
use super::tree::is_name;
use crate::expr::{self, Dim, Exponents, NodeId};
use crate::model::{Bound, ContactEvent, Draw, Event, Input, Output, Plot, Trigger};

/// m/s².
const ACCELERATION: Dim = Dim::Known(Exponents::whole([1, 0, -2, 0, 0]));
/// What can happen at a contact.
const HAPPENINGS: [(&str, ContactEvent); 6] = [
    ("impact", ContactEvent::Impact),
    ("touch", ContactEvent::Touch),
    ("detach", ContactEvent::Detach),
    ("stick", ContactEvent::Stick),
    ("slip", ContactEvent::Slip),
    ("reverse", ContactEvent::Reverse),
];

impl Builder<'_> {
    /// Gravity: a vector of two entries.
    pub(super) fn finish_gravity(&mut self) {
        let raw = self.raw.clone();
        let zero = self.zero();
        self.model.gravity = [zero; 3];
        let Some((list, span)) = &raw.gravity else { return };
        if list.len() != 2 && list.len() != 3 {
            self.report.error(*span, "gravity is a vector", "write  gravity = [0, -9.81]");
            return;
        }
        for (k, formula) in list.iter().enumerate() {
            let made = self.within(Context::new(Scope::Motion), |b| -> Resolved<_> {
                let node = b.lower_as(formula, ACCELERATION, "gravity")?;
                b.of_parameters(formula, node, "gravity")?;
                Ok(node)
            });
            if let Some(node) = self.keep(made) {
                self.model.gravity[k] = node;
            }
        }
        if self.spatial.is_some() && list.len() == 2 {
            self.report.error(
                *span,
                "gravity has two entries in a model in space",
                "write  gravity = [0, 0, -9.81]",
            );
        }
        if self.spatial.is_none() && list.len() == 3 && self.default_value(self.model.gravity[2]) != Some(0.0)
        {
            self.report.error(*span, "gravity has a third component", super::SPATIAL);
        }
    }

    /// Events of the model.
    pub(super) fn finish_events(&mut self) {
        let raw = self.raw.clone();
        let mut seen: Vec<String> = Vec::new();
        for event in &raw.events {
            let name = event.name.as_ref().map_or("", |n| n.text.as_str());
            if let Some(word) = &event.name {
                if !is_name(name) {
                    self.report.error(
                        word.span,
                        format!("`{}` cannot be a name", shorten(name)),
                        "letters, digits and _",
                    );
                } else if seen.iter().any(|s| s == name) {
                    self.report.error(
                        word.span,
                        format!("the event `{name}` stands twice"),
                        "give it another name",
                    );
                }
                seen.push(name.to_string());
            }
            for element in self.members(event.family.as_ref(), name) {
                if self.report.is_full() {
                    return;
                }
                let context = self.place_of(Scope::Motion, event.family.as_ref(), &element);
                let made = self.within(context, |b| b.event(event, element.name));
                if let Some(event) = self.keep(made) {
                    self.model.events.push(event);
                }
            }
        }
    }

    fn event(&mut self, event: &super::raw_parts::RawEvent, name: String) -> Resolved<Event> {
        let trigger = match &event.trigger {
            RawTrigger::Crossing(formula, direction) => {
                let node = self.lower(formula)?;
                self.dim(formula)?;
                if self.model.graph.constant(node).is_some() {
                    return Err(formula.error("this never crosses zero: it is constant", "").into());
                }
                Trigger::Crossing(node, *direction)
            }
            RawTrigger::On(formula) => {
                let path = self.path(formula, "beak.impact")?;
                let parts = path.parts();
                let Some(What::Contact(k)) = self.names.get(parts[0].name) else {
                    return Err(self.no_contact(parts[0].name, formula.place(parts[0].span)));
                };
                let (elements, rest) =
                    self.contact_elements(k, &parts).map_err(|e| self.moved(formula, e))?;
                let words: Vec<&str> = HAPPENINGS.iter().map(|h| h.0).collect();
                let kind = match rest {
                    [word] => HAPPENINGS.iter().find(|h| h.0 == word.name).map(|h| h.1),
                    _ => None,
                };
                let Some(kind) = kind else {
                    let given = rest.last().map_or("", |p| p.name);
                    let help = format!("write  \"{}.impact\"; {}", parts[0].name, near(given, &words));
                    return Err(formula.error("what should happen at the contact?", help).into());
                };
                Trigger::Contact(elements, kind)
            }
        };
        let mut set = Vec::new();
        for (word, formula) in &event.set {
            let memory = self.memory_target(word)?;
            let context = Context { scope: Scope::Set, ..self.context.clone() };
            let node = self.within(context, |b| b.lower(formula))?;
            self.dim(formula)?;
            set.push((memory, node));
        }
        let when = match &event.when {
            None => None,
            Some(formula) => {
                let context = Context { scope: Scope::Set, ..self.context.clone() };
                let node = self.within(context, |b| b.lower(formula))?;
                self.dim(formula)?;
                Some(node)
            }
        };
        Ok(Event { name, trigger, when, set, stop: event.stop })
    }

    /// `noise` or `"noise[i]"` on the left side of a `set`.
    fn memory_target(&mut self, word: &Word) -> Resolved<usize> {
        let ast = expr::parse(&word.text).map_err(|e| fault(word.span, e.message, e.help))?;
        let formula = Formula::of(ast, word.span);
        let path = self.path(&formula, "dent")?;
        let parts = path.parts();
        let what = self.names.get(parts[0].name);
        match what {
            Some(What::Memory(k)) if parts.len() == 1 => {
                member(&self.memory, k, &parts[0]).map_err(|e| self.moved(&formula, e))
            }
            _ => {
                let memories: Vec<&str> =
                    self.names.all().filter(|(_, w)| matches!(w, What::Memory(_))).map(|(n, _)| n).collect();
                let help = match what {
                    Some(what) => format!("it is {}; only [memory] can be set", what.noun()),
                    None => near(parts[0].name, &memories),
                };
                Err(fault(word.span, format!("there is no memory `{}`", shorten(&word.text)), help))
            }
        }
    }

    fn no_contact(&self, name: &str, span: crate::model::Span) -> super::diagnostic::Fault {
        let help = match self.names.get(name) {
            Some(what) => format!("`{name}` is {}", what.noun()),
            None if self.raw.phases.iter().any(|(phase, _)| phase.text == name) => {
                format!("`{name}` is a phase; what begins it is an event with  crossing = \"…\"")
            }
            None => {
                let contacts: Vec<&str> =
                    self.names.all().filter(|(_, w)| matches!(w, What::Contact(_))).map(|(n, _)| n).collect();
                near(name, &contacts)
            }
        };
        fault(span, format!("unknown contact `{}`", shorten(name)), help)
    }

    /// The contacts that a text means; the bare name of a family means all its members.
    pub(super) fn contacts_named(&mut self, word: &Word) -> Resolved<Vec<usize>> {
        let ast = expr::parse(&word.text).map_err(|e| fault(word.span, e.message, e.help))?;
        let formula = Formula::of(ast, word.span);
        let path = self.within(Context::new(Scope::Parameter), |b| b.path(&formula, "beak"))?;
        let parts = path.parts();
        let Some(What::Contact(k)) = self.names.get(parts[0].name) else {
            return Err(self.no_contact(parts[0].name, word.span));
        };
        let group = self.contacts.0[k];
        if group.family && parts[0].indices.is_empty() && parts.len() == 1 {
            return Ok((group.first..group.first + group.count * group.each).collect());
        }
        let (elements, rest) = self.contact_elements(k, &parts).map_err(|e| self.moved(&formula, e))?;
        match rest.first() {
            None => Ok(elements),
            Some(part) => Err(fault(
                word.span,
                format!("`{}` is not a contact", word.text),
                format!("leave out `{}`", part.name),
            )),
        }
    }

    /// `[start]`.
    pub(super) fn finish_start(&mut self) {
        let raw = self.raw.clone();
        self.model.start.equilibrium = raw.equilibrium;
        self.model.start.span = raw.start;
        for (words, sticking) in [(&raw.closed, false), (&raw.sticking, true)] {
            for word in words {
                let found = self.contacts_named(word);
                let Some(elements) = self.keep(found) else { continue };
                let contact = &raw.contacts[self.contacts.1[elements.first().copied().unwrap_or(0)].raw];
                if !sticking
                    && matches!(contact.geometry, RawGeometry::Play(..))
                    && elements.len() == 2
                    && contact.family.is_none()
                {
                    let help = format!("write  \"{0}.low\"  or  \"{0}.high\"", word.text);
                    self.report.error(
                        word.span,
                        format!("only one flank of `{}` can be closed", word.text),
                        help,
                    );
                    continue;
                }
                if !sticking && matches!(contact.geometry, RawGeometry::None) {
                    self.report.error(
                        word.span,
                        format!("contact `{}` has no gap", word.text),
                        "list it under `sticking`",
                    );
                    continue;
                }
                if sticking && contact.friction.is_none() {
                    self.report.error(
                        word.span,
                        format!("contact `{}` has no friction to stick by", word.text),
                        "add  friction = …",
                    );
                    continue;
                }
                let list =
                    if sticking { &mut self.model.start.sticking } else { &mut self.model.start.closed };
                for e in elements {
                    if !list.contains(&e) {
                        list.push(e);
                    }
                }
            }
        }
    }

    /// `[run]`.
    pub(super) fn finish_run(&mut self) {
        let raw = self.raw.clone();
        let run = &raw.run;
        let mut time = |formula: &Option<Formula>, what: &str, dim: Dim| -> Option<NodeId> {
            let formula = formula.as_ref()?;
            let made = self.within(Context::new(Scope::Motion), |b| -> Resolved<_> {
                let node = b.lower_as(formula, dim, what)?;
                b.of_parameters(formula, node, what)?;
                b.bounded(formula, node, Bound::Positive, what)?;
                Ok(node)
            });
            self.keep(made)
        };
        let until = time(&run.until, "the end time", Dim::TIME);
        let step = time(&run.step, "the step", Dim::TIME);
        let every = time(&run.every, "the output interval", Dim::TIME);
        let events = time(&run.events, "the number of events", Dim::NONE);
        let tolerance = time(&run.tolerance, "the tolerance", Dim::NONE);
        self.model.run.until = until;
        self.model.run.step = step;
        self.model.run.every = every;
        self.model.run.events = events;
        self.model.run.tolerance = tolerance;
        self.model.run.scheme = run.scheme;
        self.model.run.method = run.method;
        self.model.run.impact = run.impact;
        self.model.run.several = run.several;
        for word in &run.sensitivity {
            let named = self.parameter_named(&word.text, word.span);
            if self.keep(named).is_some() {
                self.model.run.sensitivity.push(word.text.clone());
            }
        }
    }

    /// `[output]`, `[[plot]]`, `[[draw]]`.
    pub(super) fn finish_outputs(&mut self) {
        let raw = self.raw.clone();
        for (name, formula) in &raw.outputs {
            let taken = self.names.get(&name.text);
            if !is_name(&name.text) {
                self.report.error(
                    name.span,
                    format!("`{}` cannot be a name", shorten(&name.text)),
                    "letters, digits and _",
                );
                continue;
            }
            if name.text == "t"
                || matches!(taken, Some(What::Coordinate(_) | What::State(_) | What::Memory(_)))
            {
                let help = "coordinates, states and memory are recorded anyway; give the output another name";
                self.report.error(
                    name.span,
                    format!("`{}` is already a column of the result", name.text),
                    help,
                );
                continue;
            }
            let made = self.output_value(formula);
            if let Some(value) = self.keep(made) {
                self.model.outputs.push(Output { name: name.text.clone(), value });
            }
        }
        for plot in &raw.plots {
            for element in self.members(plot.family.as_ref(), "") {
                let context = self.place_of(Scope::Output, plot.family.as_ref(), &element);
                let made = self.within(context, |b| -> Resolved<Plot> {
                    let x = match &plot.x {
                        Some(f) => (f.text(), b.plotted(f)?),
                        None => ("t".to_string(), b.input(crate::model::Input::Time)),
                    };
                    let mut y = Vec::new();
                    for f in &plot.y {
                        y.push((f.text(), b.plotted(f)?));
                    }
                    Ok(Plot { x, y })
                });
                if let Some(plot) = self.keep(made) {
                    self.model.plots.push(plot);
                }
            }
        }
        for draw in &raw.draws {
            let family = match draw {
                RawDraw::Path(family, _) | RawDraw::Circle(family, ..) => family.as_ref(),
            };
            for element in self.members(family, "") {
                let context = self.place_of(Scope::Motion, family, &element);
                let made = self.within(context, |b| -> Resolved<Draw> {
                    match draw {
                        RawDraw::Path(_, points) => {
                            let mut path = Vec::new();
                            for [x, y] in points {
                                path.push([
                                    b.lower_as(x, Dim::LENGTH, "a point")?,
                                    b.lower_as(y, Dim::LENGTH, "a point")?,
                                ]);
                            }
                            Ok(Draw::Path(path))
                        }
                        RawDraw::Circle(_, [x, y], radius) => {
                            let center = [
                                b.lower_as(x, Dim::LENGTH, "a point")?,
                                b.lower_as(y, Dim::LENGTH, "a point")?,
                            ];
                            Ok(Draw::Circle { center, radius: b.lower_as(radius, Dim::LENGTH, "a radius")? })
                        }
                    }
                });
                if let Some(draw) = self.keep(made) {
                    self.model.draws.push(draw);
                }
            }
        }
    }

    /// Expressions that somebody wants to know besides, see [`super::read_plotting`].
    pub(super) fn finish_series(&mut self, series: &[String], columns: &[(String, Dim)]) {
        if series.is_empty() {
            return;
        }
        let mut locals: Vec<(String, NodeId)> =
            self.model.outputs.iter().map(|o| (o.name.clone(), o.value)).collect();
        let outputs = Context { locals: locals.clone(), ..Context::new(Scope::Output) };
        let live = self.model.inputs.iter().filter(|i| matches!(i, Input::Parameter(_))).count();
        for (k, (name, _)) in columns.iter().enumerate() {
            locals.push((name.clone(), self.input(Input::Parameter(live + k))));
        }
        let known = columns.iter().map(|(name, dim)| (name.clone(), *dim));
        self.dims.extend(known);
        let context = Context { locals, ..Context::new(Scope::Output) };
        let mut y = Vec::new();
        for (k, text) in series.iter().enumerate() {
            let origin = Origin::Series(k);
            let formula = match Formula::given(text, origin) {
                Ok(formula) => formula,
                Err(d) => {
                    self.report.push(d);
                    continue;
                }
            };
            let made = self.within(context.clone(), |b| b.lower(&formula));
            let fits = self.within(outputs.clone(), |b| b.dim(&formula));
            if let (Some(node), Some(_)) = (self.keep(made), self.keep(fits)) {
                y.push((text.clone(), node));
            }
        }
        let x = ("t".to_string(), self.input(Input::Time));
        self.model.plots.push(Plot { x, y });
    }

    /// An expression of outputs; names of outputs count too.
    fn plotted(&mut self, formula: &Formula) -> Resolved<NodeId> {
        if let Some(output) = self.model.outputs.iter().find(|o| o.name == formula.ast.source) {
            return Ok(output.value);
        }
        let node = self.lower(formula)?;
        self.dim(formula)?;
        Ok(node)
    }

    fn output_value(&mut self, formula: &Formula) -> Resolved<NodeId> {
        self.within(Context::new(Scope::Output), |b| {
            let node = b.lower(formula)?;
            b.dim(formula)?;
            Ok(node)
        })
    }
}

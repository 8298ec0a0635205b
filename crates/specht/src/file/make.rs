//! Values that are made once: start values, states, definitions, tables; and the check of dimensions.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::builder::{Builder, Context, Element, Group, Scope, Thing, Val};
use super::csv::Csv;
use super::diagnostic::{Diagnostic, Place, Resolved, fault};
use super::formula::{Family, Formula};
use super::names::What;
use super::raw::{DefineKind, Members, RawFile};
use crate::expr::{
    self, Dim, Dimensions, Ends, Function, Interpolation, NodeId, Symbol, Table, check_dimensions,
};
use crate::model::{Coordinate, Input, Memory, Span, StateVariable};

/// N.
const FORCE: Dim = Dim::Known(crate::expr::Exponents::whole([1, 1, -2, 0, 0]));
/// 1/s.
const SPIN: Dim = Dim::Known(crate::expr::Exponents::whole([0, 0, -1, 0, 0]));

impl Builder<'_> {
    /// Makes a thing that was not made before.
    pub(super) fn make(&mut self, thing: Thing) -> Resolved<Val> {
        let raw = self.raw.clone();
        match thing {
            Thing::Parameter(k) => self.make_parameter(k),
            Thing::Define(scope, k) => {
                let DefineKind::Formula(formula) = &raw.defines[k].kind else {
                    return Err(fault(raw.defines[k].name.span, "this is a function", ""));
                };
                let node = self.within(Context::new(scope), |b| b.lower(formula))?;
                let dim = self.dim(formula)?;
                self.dims.insert(raw.defines[k].name.text.clone(), dim);
                Ok(Val::One(node, dim))
            }
            Thing::Start(e) | Thing::Rate(e) => {
                let (element, group) =
                    (self.coordinates.1[e].clone(), self.coordinates.0[self.coordinates.1[e].raw]);
                let c = &raw.coordinates[element.raw];
                let members = if matches!(thing, Thing::Start(_)) { &c.start } else { &c.rate };
                self.member_value(members.as_ref(), c.family.as_ref(), &element, group, Scope::Start)
            }
            Thing::StateStart(e) | Thing::StateRate(e) => {
                let (element, group) = (self.states.1[e].clone(), self.states.0[self.states.1[e].raw]);
                let s = &raw.states[element.raw];
                let (members, scope) = match thing {
                    Thing::StateStart(_) => (&s.start, Scope::Start),
                    _ => (&s.rate, Scope::Flow),
                };
                self.member_value(members.as_ref(), s.family.as_ref(), &element, group, scope)
            }
            Thing::MemoryStart(e) => {
                let (element, group) = (self.memory.1[e].clone(), self.memory.0[self.memory.1[e].raw]);
                let m = &raw.memory[element.raw];
                self.member_value(m.start.as_ref(), m.family.as_ref(), &element, group, Scope::Start)
            }
            Thing::Pose(e) if self.spatial.is_some() => self.make_space_pose(e),
            Thing::Pose(e) => self.make_pose(e),
            Thing::Spin(e) => self.make_spin(e),
            Thing::Free(k) => self.make_free(k),
            Thing::Point(body, k) => self.make_point(body, k),
            Thing::Force(e) => self.make_force(e),
            Thing::Gap(e) => self.make_gap(e),
            Thing::Slip(e) => self.make_slip(e, false),
            Thing::SecondSlip(e) => self.make_slip(e, true),
        }
    }

    /// The value of one member of a family: the common expression, or its entry of the list; 0 when left out.
    fn member_value(
        &mut self,
        members: Option<&Members>,
        family: Option<&Family>,
        element: &Element,
        group: Group,
        scope: Scope,
    ) -> Resolved<Val> {
        let formula = match members {
            None => return Ok(Val::One(self.zero(), Dim::Any)),
            Some(Members::Same(formula)) => formula,
            Some(Members::Each(list, span)) => {
                if !group.family {
                    let help = "add  for = \"i = 1..n\"";
                    return Err(fault(
                        *span,
                        format!("`{}` is not a family, but has a list", element.name),
                        help,
                    ));
                }
                if list.len() != group.count {
                    let message = format!("a list of {} for a family of {}", list.len(), group.count);
                    return Err(fault(
                        *span,
                        message,
                        "give one entry for each member, or one expression for all",
                    ));
                }
                &list[(element.index.unwrap_or(group.low) - group.low) as usize]
            }
        };
        let context = self.place_of(scope, family, element);
        let node = self.within(context, |b| b.lower(formula))?;
        let dim = self.dim(formula)?;
        Ok(Val::One(node, dim))
    }

    /// Coordinates, states and memory of the model.
    pub(super) fn finish_variables(&mut self) {
        let raw = self.raw.clone();
        self.symbol(Input::Time);
        for e in 0..self.coordinates.1.len() {
            self.symbol(Input::Coordinate(e));
        }
        for e in 0..self.coordinates.1.len() {
            self.symbol(Input::Velocity(e));
        }
        self.declare_free();
        for e in 0..self.states.1.len() {
            self.symbol(Input::State(e));
        }
        for e in 0..self.memory.1.len() {
            self.symbol(Input::Memory(e));
        }

        let mut dims: BTreeMap<String, Dim> = BTreeMap::new();
        let mut join = |name: &str, dim: Dim| {
            let known = dims.entry(name.to_string()).or_insert(dim);
            *known = if known.clashes(dim) { Dim::Any } else { known.or(dim) };
        };
        for e in 0..self.coordinates.1.len() {
            let element = self.coordinates.1[e].clone();
            let c = &raw.coordinates[element.raw];
            let start = self.known(Thing::Start(e), c.name.span);
            let rate = self.known(Thing::Rate(e), c.name.span);
            let (Some(start), Some(rate)) = (self.keep(start), self.keep(rate)) else { continue };
            let (Some((start, d0)), Some((rate, d1))) = (start.one(), rate.one()) else { continue };
            self.finite(start, c.name.span, &element.name);
            self.finite(rate, c.name.span, &format!("{}'", element.name));
            join(&c.name.text, d0.or(d1.times(Dim::TIME)));
            if d0.rate(1).clashes(d1) {
                let place = c.name.span;
                let message = format!("start and rate of `{}` do not fit", element.name);
                self.report.error(place, message, format!("the start is in {d0}, the rate in {d1}"));
            }
            let coordinate =
                Coordinate { name: element.name, start, rate, guess: c.guess, span: c.name.span };
            self.model.coordinates.push(coordinate);
        }
        for e in 0..self.states.1.len() {
            let element = self.states.1[e].clone();
            let span = raw.states[element.raw].name.span;
            let start = self.known(Thing::StateStart(e), span);
            let Some((start, dim)) = self.keep(start).and_then(|v| v.one()) else { continue };
            join(&raw.states[element.raw].name.text, dim);
            self.finite(start, span, &element.name);
            self.model.states.push(StateVariable { name: element.name, start, rate: start });
        }
        for e in 0..self.memory.1.len() {
            let element = self.memory.1[e].clone();
            let span = raw.memory[element.raw].name.span;
            let start = self.known(Thing::MemoryStart(e), span);
            let Some((start, _)) = self.keep(start).and_then(|v| v.one()) else { continue };
            self.finite(start, span, &element.name);
            self.model.memory.push(Memory { name: element.name, start });
        }
        self.dims.extend(dims);
    }

    /// Rates of states, after everything that they may use is declared.
    pub(super) fn finish_states(&mut self) {
        for e in 0..self.states.1.len() {
            let span = self.raw.clone().states[self.states.1[e].raw].name.span;
            let rate = self.known_node(Thing::StateRate(e), span);
            if let (Some(rate), Some(state)) = (self.keep(rate), self.model.states.get_mut(e)) {
                state.rate = rate;
                self.linear_in_heat(rate, span);
            }
        }
    }

    /// An impact gives its heat at once: only a rate that is linear in it says what that does.
    fn linear_in_heat(&mut self, rate: NodeId, span: Span) {
        if !self.is_heated(rate) {
            return;
        }
        let inputs = &self.model.inputs;
        let heat = |s: Symbol| matches!(inputs.get(s.0 as usize), Some(Input::Heat(_)));
        let shares = self.model.graph.gradient(rate, heat);
        if shares.into_iter().any(|(_, share)| self.is_heated(share)) {
            let help = "write it as  a + b*CONTACT.heat'  with a and b that do not contain heat'";
            self.report.error(span, "a rate must be linear in the heat of contacts", help);
        }
    }

    /// The heat of contacts that was asked for.
    pub(super) fn finish_heats(&mut self) {
        for e in std::mem::take(&mut self.heats) {
            let name = format!("{}.heat", self.contacts.1[e].name);
            let (start, rate) = (self.zero(), self.input(Input::Heat(e)));
            self.model.states.push(StateVariable { name, start, rate });
        }
    }

    fn finite(&mut self, node: NodeId, span: Span, name: &str) {
        if let Some(value) = self.default_value(node)
            && !value.is_finite()
        {
            self.report.error(
                span,
                format!("the start value of `{name}` is {value}"),
                "it must be a finite number",
            );
        }
    }

    /// Keeps the formulas of functions, and looks at every definition once, so that errors show even when it is not used.
    pub(super) fn declare_functions(&mut self) {
        let raw = self.raw.clone();
        for (k, define) in raw.defines.iter().enumerate() {
            if let DefineKind::Function(params, body) = &define.kind {
                let formula = expr::Formula {
                    name: define.name.text.clone(),
                    params: params.clone(),
                    body: (*body.ast).clone(),
                };
                self.functions.insert(k, Arc::new(formula));
            }
        }
        self.function_circles(&raw);
    }

    /// Functions that call each other in a circle; iterative depth-first search.
    fn function_circles(&mut self, raw: &RawFile) {
        let calls: BTreeMap<usize, Vec<(usize, expr::Span)>> = self
            .functions
            .iter()
            .map(|(&k, f)| {
                let uses = f.body.names().into_iter().filter(|u| u.call).filter_map(|u| {
                    match self.names.get(&u.name) {
                        Some(What::Define(j)) if self.functions.contains_key(&j) => Some((j, u.span)),
                        _ => None,
                    }
                });
                (k, uses.collect())
            })
            .collect();
        let mut done: BTreeMap<usize, bool> = BTreeMap::new();
        let mut found: Vec<(usize, expr::Span, String)> = Vec::new();
        for &root in calls.keys() {
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            while let Some((k, next)) = path.last().copied() {
                if next == 0 && done.contains_key(&k) {
                    path.pop();
                    continue;
                }
                if next == 0 {
                    done.insert(k, false);
                }
                let Some(&(j, span)) = calls[&k].get(next) else {
                    done.insert(k, true);
                    path.pop();
                    continue;
                };
                if let Some(last) = path.last_mut() {
                    last.1 += 1;
                }
                match done.get(&j) {
                    Some(true) => {}
                    Some(false) => {
                        let from = path.iter().position(|(p, _)| *p == j).unwrap_or(0);
                        let mut names: Vec<&str> =
                            path[from..].iter().map(|(p, _)| raw.defines[*p].name.text.as_str()).collect();
                        names.push(&raw.defines[j].name.text);
                        found.push((k, span, names.join(" → ")));
                    }
                    None => path.push((j, 0)),
                }
            }
        }
        for (k, span, names) in found {
            if let DefineKind::Function(_, body) = &raw.defines[k].kind {
                let at = body.place(span);
                let help = "a function cannot be recursive; use `sum` or a family";
                self.report.error(at, format!("functions call each other in a circle: {names}"), help);
            }
        }
    }

    /// Lowers all plain definitions once, so that errors show even in those that nobody uses.
    pub(super) fn check_definitions(&mut self) {
        let raw = self.raw.clone();
        for (k, thing) in self.definitions_in_order() {
            let define = &raw.defines[k];
            match &define.kind {
                DefineKind::Formula(_) => {
                    let result = self.known(thing, define.name.span);
                    self.keep(result);
                }
                DefineKind::Function(..) => {}
                _ => {
                    self.table(k);
                }
            }
        }
    }

    /// The table of a definition; made once.
    pub(super) fn table(&mut self, k: usize) -> Option<Function> {
        if let Some(known) = self.tables.get(&k) {
            return known.clone();
        }
        self.tables.insert(k, None);
        let made = self.make_table(k);
        let table = self.keep(made);
        self.tables.insert(k, table.clone());
        table
    }

    fn make_table(&mut self, k: usize) -> Resolved<Function> {
        let raw = self.raw.clone();
        let define = &raw.defines[k];
        let (points, ends, smooth) = match &define.kind {
            DefineKind::Table { points, ends, smooth } => {
                let mut out = Vec::with_capacity(points.len());
                for point in points {
                    out.push(self.within(Context::new(Scope::Parameter), |b| -> Resolved<Vec<f64>> {
                        point.iter().map(|x| b.constant(x, "a point of a table")).collect()
                    })?);
                }
                (out, ends, *smooth)
            }
            DefineKind::Csv { file, columns, ends, smooth } => {
                let read = (self.loader)(&file.text).and_then(super::csv::text_of_bytes);
                let text = read.map_err(|why| {
                    fault(
                        file.span,
                        format!("cannot read `{}`: {why}", file.text),
                        "the path is relative to the model file",
                    )
                })?;
                let columns: Vec<&str> = columns.iter().map(|c| c.text.as_str()).collect();
                let points = csv_columns(&text, &columns)
                    .map_err(|why| fault(file.span, format!("`{}`: {why}", file.text), ""))?;
                (points, ends, *smooth)
            }
            _ => return Err(fault(define.name.span, "this is not a table", "")),
        };
        let ends = match ends.as_deref() {
            Some("extend") => Ends::Extend,
            Some("repeat") => Ends::Repeat,
            _ => Ends::Hold,
        };
        let name = define.name.text.as_str();
        let wrong = |why: String| fault(define.name.span, why, "");
        if points.first().is_some_and(|p| p.len() == 3) {
            if smooth {
                return Err(fault(
                    define.name.span,
                    format!("table `{name}` of two arguments cannot be smooth"),
                    "leave out `smooth`; it is linear in each argument between the points",
                ));
            }
            let rows = grid(name, &points, ends).map_err(wrong)?;
            let rows = rows.into_iter().map(|pair| pair.map(|t| self.model.graph.add_table(t)).into());
            return Ok(Function::Grid(rows.collect()));
        }
        let interpolation = if smooth { Interpolation::Monotone } else { Interpolation::Linear };
        let points: Vec<[f64; 2]> = points.iter().map(|p| [p[0], p[1]]).collect();
        let table = Table::new(name, &points, ends, interpolation)
            .map_err(|why| wrong(format!("table `{name}`: {why}")))?;
        Ok(Function::Table(self.model.graph.add_table(table)))
    }

    /// The dimension of an expression; a clash of known ones is an error.
    pub(super) fn dim(&mut self, formula: &Formula) -> Resolved<Dim> {
        let known = Known { dims: &self.dims, builder: self };
        match check_dimensions(&formula.ast, &known) {
            Ok(dim) => Ok(dim),
            Err(mut error) => {
                error.help = self.with_lines(&error.help);
                Err(formula.diagnostic(error).into())
            }
        }
    }

    /// Lowers and requires a dimension; `what` begins the message: "the mass of `rod`".
    pub(super) fn lower_as(&mut self, formula: &Formula, wanted: Dim, what: &str) -> Resolved<NodeId> {
        let node = self.lower(formula)?;
        let dim = self.dim(formula)?;
        if dim.clashes(wanted) {
            let mut found = wrong_dimension(formula, dim, wanted, what);
            for name in formula.ast.names().into_iter().map(|n| n.name).take(3) {
                let Some(Dim::Known(unit)) = self.dims.get(&name).copied().filter(|d| *d != Dim::NONE) else {
                    continue;
                };
                if self.names.get(&name).is_some() {
                    found = found.note(self.names.span(&name), format!("`{name}` is in {unit} by this line"));
                }
            }
            return Err(found.into());
        }
        Ok(node)
    }

    /// `m` is in kg → `m` is in kg (line 7), for names of the file.
    fn with_lines(&self, help: &str) -> String {
        let parts: Vec<String> = help
            .split(", `")
            .enumerate()
            .map(|(k, part)| {
                let part = if k == 0 { part.to_string() } else { format!("`{part}") };
                let name = part.split('`').nth(1).unwrap_or("");
                match self.names.get(name) {
                    Some(_) => format!("{part} (line {})", Place::of(self.text, self.names.span(name)).line),
                    None => part,
                }
            })
            .collect();
        parts.join(", ")
    }
}

/// The message for a value in the wrong unit.
pub(super) fn wrong_dimension(formula: &Formula, dim: Dim, wanted: Dim, what: &str) -> Diagnostic {
    let unit = |d: Dim| if d == Dim::NONE { "a pure number".to_string() } else { format!("in {d}") };
    formula.error(format!("{what} must be {}, this is {}", unit(wanted), unit(dim)), "")
}

struct Known<'a, 'b> {
    dims: &'a BTreeMap<String, Dim>,
    builder: &'a Builder<'b>,
}

impl Dimensions for Known<'_, '_> {
    fn name(&self, path: &[&str]) -> Dim {
        match path {
            ["t"] => Dim::TIME,
            [name] if self.builder.context.locals.iter().any(|(n, _)| n == name) => Dim::Any,
            [name] => self.dims.get(*name).copied().unwrap_or(Dim::Any),
            [body, rest @ ..] if matches!(self.builder.names.get(body), Some(What::Body(_))) => match rest {
                ["touch", "x" | "y" | "z"] => FORCE,
                ["spin", "x" | "y" | "z"] => SPIN,
                ["axis1" | "axis2" | "axis3", "x" | "y" | "z"] => Dim::NONE,
                ["x" | "y" | "z"] | [_, "x" | "y" | "z"] => Dim::LENGTH,
                ["angle"] => Dim::NONE,
                _ => Dim::Any,
            },
            ["ground", "touch", "x" | "y" | "z"] => FORCE,
            ["ground", _, "x" | "y" | "z"] => Dim::LENGTH,
            [contact, .., "heat"] if matches!(self.builder.names.get(contact), Some(What::Contact(_))) => {
                super::units::ENERGY
            }
            _ => Dim::Any,
        }
    }

    fn function(&self, name: &str) -> Option<&expr::Formula> {
        match self.builder.names.get(name) {
            Some(What::Define(k)) => self.builder.functions.get(&k).map(Arc::as_ref),
            _ => None,
        }
    }
}

/// A function of two arguments through points on a grid, linear in each: Σ share_j(y) row_j(x). Per row of equal y its share, one there
/// and zero at the rows beside it, and the table of its values.
fn grid(name: &str, points: &[Vec<f64>], ends: Ends) -> Result<Vec<[Table; 2]>, String> {
    let sorted = |k: usize| {
        let mut all: Vec<f64> = points.iter().map(|p| p[k]).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    };
    let (x, y) = (sorted(0), sorted(1));
    if x.len() < 2 || y.len() < 2 {
        return Err(format!("table `{name}` of two arguments needs two values of each at least"));
    }
    let mut known = BTreeMap::new();
    for p in points {
        if known.insert([p[0], p[1]].map(f64::to_bits), p[2]).is_some() {
            return Err(format!("table `{name}` has two points at ({}, {})", p[0], p[1]));
        }
    }
    let mut rows = Vec::with_capacity(y.len());
    for (j, &at) in y.iter().enumerate() {
        let mut row = Vec::with_capacity(x.len());
        for &x in &x {
            let Some(value) = known.get(&[x, at].map(f64::to_bits)) else {
                return Err(format!("table `{name}` has no point at ({x}, {at}): its points form no grid"));
            };
            row.push([x, *value]);
        }
        let share: Vec<[f64; 2]> = y.iter().enumerate().map(|(k, &y)| [y, f64::from(k == j)]).collect();
        rows.push([
            Table::new(name, &share, ends, Interpolation::Linear)?,
            Table::new(name, &row, ends, Interpolation::Linear)?,
        ]);
    }
    Ok(rows)
}

/// Columns of a csv text, row by row; every cell must hold a number.
fn csv_columns(text: &str, wanted: &[&str]) -> Result<Vec<Vec<f64>>, String> {
    let csv = Csv::read(text)?;
    let columns = wanted.iter().map(|name| csv.column(name)).collect::<Result<Vec<_>, String>>()?;
    for column in &columns {
        if let Some(k) = column.values.iter().position(|v| v.is_nan()) {
            let cell = column.text.as_ref().filter(|t| t.0 == csv.lines[k]).map_or("", |t| t.1.as_str());
            return Err(format!("line {}: `{cell}` is not a number", csv.lines[k]));
        }
    }
    if csv.lines.len() > 200_000 {
        return Err("more than 200000 rows".into());
    }
    Ok((0..csv.lines.len()).map(|k| columns.iter().map(|c| c.values[k]).collect()).collect())
}

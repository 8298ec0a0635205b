//! The state of reading: what is known so far, what is being worked on.
//!
//! Values are made when they are first needed ([`Builder::demand`]) and kept. So parameters, definitions and start values may
//! stand in any order; meeting a value that is just being made is a circle, and the stack of what is being made is
//! the text of the message. Depth is bounded in units of syntax-tree height.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::Options;
use super::diagnostic::{Diagnostic, Fault, Report, Resolved};
use super::formula::{Family, Formula};
use super::names::{Names, What};
use super::raw::RawFile;
use crate::expr::{self, Dim, ExprError, NodeId, Symbol};
use crate::model::{Input, Model};

/// Reads a file that the model names (a table, a mesh); the engine itself reads no files.
pub(super) type Loader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// A value or a list of values.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// A scalar and its dimension.
    One(NodeId, Dim),
    /// A list.
    List(Vec<Val>),
}

impl Val {
    /// The scalar; a list gives `None`.
    pub(super) fn one(&self) -> Option<(NodeId, Dim)> {
        match self {
            Val::One(node, dim) => Some((*node, *dim)),
            Val::List(_) => None,
        }
    }

    /// The k-th scalar of a list.
    pub(super) fn item(&self, k: usize) -> Option<NodeId> {
        match self {
            Val::List(list) => list.get(k).and_then(Val::one).map(|(n, _)| n),
            Val::One(..) => None,
        }
    }
}

/// What names may mean at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Scope {
    /// Constants only.
    Parameter,
    /// Coordinates mean their start values.
    Start,
    /// During motion: coordinates, velocities, states, memory, time.
    Motion,
    /// Rates of states: also the heat of contacts.
    Flow,
    /// `normal_force`: also normal forces of other contacts.
    Load,
    /// Outputs: also forces, modes, accelerations, energies.
    Output,
    /// `set`: also impulses.
    Set,
}

/// Everything that is made once and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Parameter(usize),
    Define(Scope, usize),
    Start(usize),
    Rate(usize),
    StateStart(usize),
    StateRate(usize),
    MemoryStart(usize),
    /// World origin x, y, angle, cos, sin of a body.
    Pose(usize),
    /// Local x, y of a point of a body or the ground.
    Point(Option<usize>, usize),
    /// Total force and stretch of a force with a law.
    Force(usize),
    Gap(usize),
    Slip(usize),
    /// Second slip of a contact in space.
    SecondSlip(usize),
    /// Angular velocity of a body in space, world axes.
    Spin(usize),
    /// Quaternion and spin of a free rotation at the start.
    Free(usize),
}

#[derive(Clone, Debug)]
enum Cell {
    Busy,
    Done(Rc<Val>),
    Failed,
}

/// Why a demanded value is not there.
#[derive(Clone, Debug)]
pub(super) enum Blocked {
    /// To be reported where the value is used.
    Message(String, String),
    /// Reported already.
    Reported,
}

/// Words with a meaning at one place only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    /// `stretch`, `stretch'`.
    pub stretch: Option<[NodeId; 2]>,
    /// `gap`, `gap'`.
    pub gap: Option<[NodeId; 2]>,
    /// `slip`, `speed`.
    pub slip: Option<[NodeId; 2]>,
    /// `load_rate`, `stick_time` of this contact.
    pub rest: Option<usize>,
}

/// Where an expression stands.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// What names may mean.
    pub scope: Scope,
    /// Local names: family index, parameter of a curve.
    pub locals: Vec<(String, NodeId)>,
    /// Local words.
    pub words: Words,
    /// Member of a family that is being made, for messages: `face[11]`.
    pub owner: Option<(String, Family)>,
}

impl Context {
    /// A place without local names.
    pub(super) fn new(scope: Scope) -> Context {
        Context { scope, locals: Vec::new(), words: Words::default(), owner: None }
    }
}

/// One member of a family, or the only one.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Entry of its section.
    pub raw: usize,
    /// Value of the index.
    pub index: Option<i64>,
    /// Full name: `x`, `x[3]`, `mesh[1].low`.
    pub name: String,
    /// Of a play: the upper limit.
    pub high: bool,
}

/// The members of one entry: a run of a list of elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// First member.
    pub first: usize,
    /// Number of members.
    pub count: usize,
    /// Index of the first one.
    pub low: i64,
    /// Written with `for`.
    pub family: bool,
    /// Elements per member: 2 for a play.
    pub each: usize,
}

/// The reader.
pub(super) struct Builder<'a> {
    /// As written.
    pub raw: Rc<RawFile>,
    /// What was asked for.
    pub options: &'a Options,
    /// Meshes that were read, by file and scale.
    pub meshes: std::collections::BTreeMap<(String, u64), std::sync::Arc<crate::shape::Mesh>>,
    /// Reads tables and meshes.
    pub loader: Loader<'a>,
    /// Text of the file.
    pub text: &'a str,
    /// What becomes of it.
    pub model: Model,
    /// Messages.
    pub report: Report,
    /// The namespace.
    pub names: Names,
    /// Symbols by meaning.
    pub symbols: HashMap<Input, Symbol>,
    /// Groups and elements of coordinates, states, memory, bodies, forces, contacts.
    pub coordinates: (Vec<Group>, Vec<Element>),
    pub states: (Vec<Group>, Vec<Element>),
    /// Contacts whose heat is asked for: states behind those of the file.
    pub heats: Vec<usize>,
    pub memory: (Vec<Group>, Vec<Element>),
    pub bodies: (Vec<Group>, Vec<Element>),
    pub forces: (Vec<Group>, Vec<Element>),
    pub contacts: (Vec<Group>, Vec<Element>),
    /// Place in the model of each body element (parents first).
    pub body_place: Vec<usize>,
    /// Parent of each body element.
    pub body_parent: Vec<Option<usize>>,
    /// What makes the file spatial, and where.
    pub spatial: Option<(crate::model::Span, &'static str)>,
    /// Body elements that turn freely.
    pub free: Vec<usize>,
    /// Massless frames that carry the features of elastic bodies, by body and feature.
    pub elastic: BTreeMap<(usize, usize), usize>,
    /// Tables by definition.
    pub tables: BTreeMap<usize, Option<expr::Function>>,
    /// Functions by definition.
    pub functions: BTreeMap<usize, std::sync::Arc<expr::Formula>>,
    /// Effective values of parameters after cases and overrides.
    pub values: Vec<super::raw::RawValue>,
    /// Default values of live parameters by symbol.
    pub live: BTreeMap<Symbol, NodeId>,
    /// Dimensions of names, where known.
    pub dims: BTreeMap<String, Dim>,
    /// Where the present expression stands.
    pub context: Context,
    /// Entries of parameter lists that are read.
    pub reads: super::entries::Reads,
    memo: BTreeMap<Thing, Cell>,
    stack: Vec<(Thing, String)>,
    height: usize,
    /// References resolved so far.
    effort: u64,
    /// The file asked for too much; nothing more is computed.
    exhausted: bool,
    /// The first part that could not be made for a reason reported elsewhere.
    blocked: Option<String>,
}

/// Units of syntax-tree height that may be open at once.
const MAX_HEIGHT: usize = 1500;
/// References resolved for one file; far above any real model.
const MAX_EFFORT: u64 = 5_000_000;
/// Nodes of the graph.
const MAX_NODES: usize = 2_000_000;

impl<'a> Builder<'a> {
    /// Nothing known yet.
    pub(super) fn new(
        raw: RawFile,
        text: &'a str,
        options: &'a Options,
        loader: Loader<'a>,
        report: Report,
    ) -> Self {
        Builder {
            spatial: super::raw_space::spatial(&raw),
            free: Vec::new(),
            raw: Rc::new(raw),
            options,
            meshes: Default::default(),
            loader,
            text,
            model: Model::default(),
            report,
            names: Names::default(),
            symbols: HashMap::new(),
            coordinates: Default::default(),
            states: Default::default(),
            heats: Vec::new(),
            memory: Default::default(),
            bodies: Default::default(),
            forces: Default::default(),
            contacts: Default::default(),
            body_place: Vec::new(),
            body_parent: Vec::new(),
            elastic: BTreeMap::new(),
            tables: BTreeMap::new(),
            functions: BTreeMap::new(),
            values: Vec::new(),
            live: BTreeMap::new(),
            dims: BTreeMap::new(),
            context: Context::new(Scope::Parameter),
            reads: Default::default(),
            memo: BTreeMap::new(),
            stack: Vec::new(),
            height: 0,
            effort: 0,
            exhausted: false,
            blocked: None,
        }
    }

    /// The symbol of an input, made when first needed.
    pub(super) fn symbol(&mut self, input: Input) -> Symbol {
        if let Some(&symbol) = self.symbols.get(&input) {
            return symbol;
        }
        let symbol = Symbol(self.model.inputs.len() as u32);
        self.model.inputs.push(input);
        self.symbols.insert(input, symbol);
        symbol
    }

    /// The node of an input.
    pub(super) fn input(&mut self, input: Input) -> NodeId {
        let symbol = self.symbol(input);
        self.model.graph.sym(symbol)
    }

    /// The meaning of a symbol; `None` for temporaries such as the parameter of a curve.
    pub(super) fn meaning(&self, symbol: Symbol) -> Option<Input> {
        self.model.inputs.get(symbol.0 as usize).copied()
    }

    /// Zero.
    pub(super) fn zero(&mut self) -> NodeId {
        self.model.graph.num(0.0)
    }

    /// Does something at another place.
    pub(super) fn within<T>(&mut self, context: Context, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.context, context);
        let result = f(self);
        self.context = outer;
        result
    }

    /// The place of a member of a family.
    pub(super) fn place_of(&mut self, scope: Scope, family: Option<&Family>, element: &Element) -> Context {
        let mut context = Context::new(scope);
        if let (Some(family), Some(index)) = (family, element.index) {
            let node = self.model.graph.num(index as f64);
            context.locals.push((family.index.clone(), node));
            context.owner = Some((element.name.clone(), family.clone()));
        }
        context
    }

    /// A value that is made once. `Err` says what to report where it is used.
    pub(super) fn demand(&mut self, thing: Thing) -> Result<Rc<Val>, Blocked> {
        match self.memo.get(&thing) {
            Some(Cell::Done(val)) => return Ok(val.clone()),
            Some(Cell::Failed) => return Err(Blocked::Reported),
            Some(Cell::Busy) => return Err(self.circle(thing)),
            None => {}
        }
        self.memo.insert(thing, Cell::Busy);
        self.stack.push((thing, self.label(thing)));
        let result = self.within(Context::new(Scope::Motion), |b| b.make(thing));
        self.stack.pop();
        match result {
            Ok(val) => {
                let val = Rc::new(val);
                self.memo.insert(thing, Cell::Done(val.clone()));
                Ok(val)
            }
            Err(fault) => {
                self.say(fault);
                self.memo.insert(thing, Cell::Failed);
                Err(Blocked::Reported)
            }
        }
    }

    /// The same when there is no expression to blame.
    pub(super) fn known(&mut self, thing: Thing, at: crate::model::Span) -> Resolved<Rc<Val>> {
        self.demand(thing).map_err(|blocked| match blocked {
            Blocked::Reported => Fault::Reported,
            Blocked::Message(message, help) => super::diagnostic::fault(at, message, help),
        })
    }

    /// A scalar that is made once.
    pub(super) fn known_node(&mut self, thing: Thing, at: crate::model::Span) -> Resolved<NodeId> {
        let val = self.known(thing, at)?;
        val.one().map(|(node, _)| node).ok_or(Fault::Reported)
    }

    fn circle(&self, thing: Thing) -> Blocked {
        let from = self.stack.iter().position(|(t, _)| *t == thing).unwrap_or(0);
        let mut names: Vec<&str> = self.stack[from..].iter().map(|(_, n)| n.as_str()).collect();
        names.extend(names.first().copied());
        if names.len() > 12 {
            names.splice(6..names.len() - 5, ["…"]);
        }
        let what = match thing {
            Thing::Parameter(_) => "parameters define each other",
            Thing::Start(_) | Thing::Rate(_) | Thing::StateStart(_) | Thing::MemoryStart(_) => {
                "start values define each other"
            }
            Thing::Pose(_) => "bodies are placed by each other",
            _ => "definitions use each other",
        };
        Blocked::Message(format!("{what} in a circle: {}", names.join(" → ")), String::new())
    }

    fn label(&self, thing: Thing) -> String {
        let name = |list: &[Element], k: usize| list.get(k).map_or(String::new(), |e| e.name.clone());
        match thing {
            Thing::Parameter(k) => self.raw.parameters[k].name.text.clone(),
            Thing::Define(_, k) => self.raw.defines[k].name.text.clone(),
            Thing::Start(k) => name(&self.coordinates.1, k),
            Thing::Rate(k) => name(&self.coordinates.1, k) + "'",
            Thing::StateStart(k) => name(&self.states.1, k),
            Thing::StateRate(k) => name(&self.states.1, k) + "'",
            Thing::MemoryStart(k) => name(&self.memory.1, k),
            Thing::Pose(k) | Thing::Point(Some(k), _) => name(&self.bodies.1, k),
            Thing::Point(None, _) => "ground".into(),
            Thing::Force(k) => name(&self.forces.1, k),
            Thing::Gap(k) => name(&self.contacts.1, k) + ".gap",
            Thing::Slip(k) | Thing::SecondSlip(k) => name(&self.contacts.1, k) + ".slip",
            Thing::Spin(k) => name(&self.bodies.1, k) + ".spin",
            Thing::Free(k) => name(&self.bodies.1, self.free.get(k).copied().unwrap_or(0)),
        }
    }

    /// Nothing may be left out in silence: a part that could not be made without any error in the report is an error.
    pub(super) fn admit_blocked(&mut self) {
        if let Some(part) = self.blocked.take()
            && !self.report.has_errors()
        {
            let part = if part.is_empty() { "a part of the file".into() } else { format!("`{part}`") };
            let help = "it uses something that is not known there; please report this file";
            self.request(format!("{part} cannot be understood"), help.into());
        }
    }

    /// Reports a fault unless that was done before.
    pub(super) fn say(&mut self, fault: Fault) {
        match fault {
            Fault::New(diagnostic) => self.report.push(*diagnostic),
            Fault::Reported => {
                let label = self.stack.last().map(|(_, label)| label.clone());
                self.blocked.get_or_insert(label.unwrap_or_default());
            }
        }
    }

    /// The value, or its fault reported.
    pub(super) fn keep<T>(&mut self, result: Resolved<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.say(fault);
                None
            }
        }
    }

    /// Lowers an expression at the present place.
    pub(super) fn lower(&mut self, formula: &Formula) -> Resolved<NodeId> {
        if self.exhausted {
            return Err(Fault::Reported);
        }
        if self.model.graph.len() > MAX_NODES {
            self.exhausted = true;
            return Err(formula
                .error("the model is too large", "reduce the length of families and sums")
                .into());
        }
        self.note_reads(formula);
        if formula.mixed {
            self.warn_units(formula);
        }
        let height = formula.height + 10;
        if self.height + height > MAX_HEIGHT {
            let help = "order the definitions so that each uses earlier ones";
            return Err(formula.error("definitions are nested too deep", help).into());
        }
        self.height += height;
        let locals = std::mem::take(&mut self.context.locals);
        let mut graph = std::mem::take(&mut self.model.graph);
        let refs: Vec<(&str, NodeId)> = locals.iter().map(|(n, k)| (n.as_str(), *k)).collect();
        let result = expr::lower_with(&mut graph, self, &formula.ast, &refs);
        self.model.graph = graph;
        self.context.locals = locals;
        self.height -= height;
        match result {
            Ok(node) => {
                if self.model.graph.constant(node).is_some_and(f64::is_nan) {
                    let help = "for example 0/0, or the root or logarithm of a negative number";
                    return Err(formula.error("this is not a number", help).into());
                }
                Ok(node)
            }
            Err(error) if error.message.is_empty() || error.message.ends_with(REPORTED) => {
                Err(Fault::Reported)
            }
            Err(error) => {
                self.exhausted |= error.message.contains("too large");
                Err(self.explain(formula, error).into())
            }
        }
    }

    /// `2 m` is two metres, even when there is a parameter `m`.
    fn warn_units(&mut self, formula: &Formula) {
        for warning in formula.ast.unit_warnings(|name| self.names.get(name).is_some()) {
            let mut help = warning.help.clone();
            if let Some(what) = warning.help.split('`').nth(1).and_then(|name| self.names.get(name)) {
                help = help.replacen("a name", what.noun(), 1);
            }
            let at = formula.place(warning.span);
            self.report.push(Diagnostic {
                origin: formula.origin,
                ..Diagnostic::warning(at, warning.message, help)
            });
        }
    }

    /// Adds what is known about the member of a family in which an error occurred.
    fn explain(&mut self, formula: &Formula, error: ExprError) -> Diagnostic {
        let mut diagnostic = formula.diagnostic(error);
        let Some((owner, family)) = self.context.owner.clone() else { return diagnostic };
        let mut parts = vec![format!("in {owner}")];
        for bound in &family.bounds {
            for used in bound.ast.names() {
                if let Some(What::Parameter(k)) = self.names.get(&used.name)
                    && let Ok(val) = self.demand(Thing::Parameter(k))
                    && let Some(value) = val.one().and_then(|(n, _)| self.model.graph.constant(n))
                {
                    let line = super::diagnostic::Place::of(self.text, self.names.span(&used.name)).line;
                    parts.push(format!("{} is {value} (line {line})", used.name));
                }
            }
        }
        let place = parts.join("; ");
        let keep = !diagnostic.help.is_empty() && !diagnostic.message.contains("is outside");
        diagnostic.help = if keep { format!("{}; {place}", diagnostic.help) } else { place };
        diagnostic
    }

    /// Counts work; an error when the file asks for more than any real model needs.
    pub(super) fn spend(&mut self, span: expr::Span) -> Result<(), ExprError> {
        self.effort += 1;
        if self.effort > MAX_EFFORT || self.model.graph.len() > MAX_NODES {
            return Err(ExprError::new(
                span,
                "the model is too large",
                "reduce the length of families and sums",
            ));
        }
        Ok(())
    }

    /// A number known at load time.
    pub(super) fn constant(&mut self, formula: &Formula, what: &str) -> Resolved<f64> {
        let node = self.lower(formula)?;
        self.model.graph.constant(node).ok_or_else(|| {
            let live = self.model.graph.symbols(&[node]).iter().any(|s| self.live.contains_key(s));
            let help = if live {
                "it depends on a parameter that is being varied"
            } else {
                "it may use parameters only"
            };
            formula.error(format!("{what} must be known at load time"), help).into()
        })
    }
}

/// Marks an expression error whose reason was reported elsewhere.
pub(super) const REPORTED: &str = "\u{1}";

/// The error to return from a resolver when the reason was reported.
pub(super) fn reported(span: expr::Span) -> ExprError {
    ExprError::new(span, REPORTED, "")
}

impl Blocked {
    /// As an error of the expression that asked.
    pub(super) fn at(self, span: expr::Span) -> ExprError {
        match self {
            Blocked::Message(message, help) => ExprError::new(span, message, help),
            Blocked::Reported => reported(span),
        }
    }
}

//! One namespace: parameters, coordinates, states, memory, definitions, bodies, forces and contacts never share a name.

use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, Report};
use super::fields::{Word, shorten};
use super::raw::{DefineKind, RawFile};
use super::tree::is_name;
use crate::model::Span;

/// What a name stands for; the number counts the entries of its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// `[parameters]`
    Parameter(usize),
    /// `[coordinates]`
    Coordinate(usize),
    /// `[states]`
    State(usize),
    /// `[memory]`
    Memory(usize),
    /// `[define]`: formula, function or table.
    Define(usize),
    /// `[[body]]`
    Body(usize),
    /// `[[force]]`
    Force(usize),
    /// `[[contact]]`
    Contact(usize),
}

impl What {
    /// With article, for messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            What::Parameter(_) => "a parameter",
            What::Coordinate(_) => "a coordinate",
            What::State(_) => "a state",
            What::Memory(_) => "a memory",
            What::Define(_) => "a definition",
            What::Body(_) => "a body",
            What::Force(_) => "a force",
            What::Contact(_) => "a contact",
        }
    }
}

/// All names of a file with their places.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    map: BTreeMap<String, (What, Span)>,
}

/// Names that have a meaning of their own.
pub(super) const RESERVED: &[&str] = &[
    "t",
    "pi",
    "inf",
    "if",
    "sum",
    "integral",
    "and",
    "or",
    "not",
    "ground",
    "energy",
    "stretch",
    "gap",
    "slip",
    "speed",
    "load_rate",
    "stick_time",
];

/// Whether a name has a meaning of its own, so that nothing in a model can be called so.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Functions of the language; a definition with arguments may not replace them.
pub(super) const FUNCTIONS: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "exp", "log",
    "log10", "sqrt", "abs", "sign", "min", "max", "hypot", "floor", "mod",
];

impl Names {
    /// Collects the names of a file; reserved, malformed and doubled ones are errors.
    pub(super) fn of(raw: &RawFile, report: &mut Report) -> Names {
        let mut names = Names::default();
        let mut add = |word: &Word, what: What| names.add(word, what, report);
        raw.parameters.iter().enumerate().for_each(|(k, p)| add(&p.name, What::Parameter(k)));
        raw.coordinates.iter().enumerate().for_each(|(k, c)| add(&c.name, What::Coordinate(k)));
        raw.states.iter().enumerate().for_each(|(k, s)| add(&s.name, What::State(k)));
        raw.memory.iter().enumerate().for_each(|(k, m)| add(&m.name, What::Memory(k)));
        raw.defines.iter().enumerate().for_each(|(k, d)| add(&d.name, What::Define(k)));
        raw.bodies.iter().enumerate().for_each(|(k, b)| add(&b.name, What::Body(k)));
        for (k, force) in raw.forces.iter().enumerate() {
            force.name.iter().for_each(|name| add(name, What::Force(k)));
        }
        raw.contacts.iter().enumerate().for_each(|(k, c)| add(&c.name, What::Contact(k)));

        for define in &raw.defines {
            let function = !matches!(define.kind, DefineKind::Formula(_));
            if function && FUNCTIONS.contains(&define.name.text.as_str()) {
                let message = format!("`{}` is a function of the language", define.name.text);
                report.error(define.name.span, message, "give yours another name");
            }
        }
        names
    }

    fn add(&mut self, word: &Word, what: What, report: &mut Report) {
        let name = word.text.as_str();
        if !is_name(name) {
            report.error(
                word.span,
                format!("`{}` cannot be a name", shorten(name)),
                "a name is a letter followed by letters, digits and _ (at most 64, no accents)",
            );
            return;
        }
        if is_reserved(name) {
            report.error(word.span, format!("`{name}` is reserved"), "give it another name");
            return;
        }
        if let Some((first, place)) = self.map.get(name) {
            let message = format!("the name `{name}` is used twice");
            let help = format!("{} has it already; names are shared by the whole file", first.noun());
            report.push(
                Diagnostic::error(word.span, message, help)
                    .note(*place, format!("`{name}` is {} here", first.noun())),
            );
            return;
        }
        self.map.insert(name.to_string(), (what, word.span));
    }

    /// What a name stands for.
    pub(super) fn get(&self, name: &str) -> Option<What> {
        self.map.get(name).map(|(what, _)| *what)
    }

    /// Where a name is defined.
    pub(super) fn span(&self, name: &str) -> Span {
        self.map.get(name).map_or(Span::default(), |(_, span)| *span)
    }

    /// All names, for suggestions.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, What)> {
        self.map.iter().map(|(name, (what, _))| (name.as_str(), *what))
    }
}

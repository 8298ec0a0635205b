//! Entries of parameter lists that nothing reads.
//!
//! A family `i = 1..3` with `inertia = "I[i]"` reads I[1], I[2] and I[3]. A fourth entry would be left out in silence, and what was meant
//! by it with it. Which entries are read is seen in the text of the formulas, so that a branch that is not taken counts too. A list that
//! is read somewhere by an index that depends on parameters (`for = "i = 1..n"`, `c[k]`) may be longer than what is used.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::builder::Builder;
use super::diagnostic::Diagnostic;
use super::formula::{Family, Formula};
use super::names::What;
use super::params::origin_of;
use super::raw::RawValue;
use crate::expr::{Ast, Expr, Kind};

/// Values that an index takes; `None`: not known from the text.
type Values = Option<BTreeSet<i64>>;

/// What is read of the lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads {
    /// By parameter.
    lists: BTreeMap<usize, Read>,
    /// Formulas and calls of functions that have been looked at; a formula stands in one family only.
    formulas: BTreeMap<*const Ast, Rc<Ast>>,
    calls: BTreeSet<(usize, Vec<Values>)>,
}

/// What is read of one list.
#[derive(Clone, Debug, Default)]
struct Read {
    /// Per index (a matrix has two) its values.
    depth: Vec<BTreeSet<i64>>,
    /// Somewhere the index is not known from the text.
    open: bool,
}

impl Builder<'_> {
    /// Notes what `formula` reads at the present place.
    pub(super) fn note_reads(&mut self, formula: &Formula) {
        if self.reads.formulas.insert(Rc::as_ptr(&formula.ast), formula.ast.clone()).is_some() {
            return;
        }
        let family = self.context.owner.as_ref().map(|(_, family)| (family.index.clone(), bounds(family)));
        let mut known: Vec<(String, Values)> = family.into_iter().collect();
        self.note(&formula.ast.root, &mut known);
    }

    fn note(&mut self, e: &Expr, known: &mut Vec<(String, Values)>) {
        match &e.kind {
            Kind::Name { parts, .. } => {
                if let Some(What::Parameter(k)) = self.names.get(&parts[0].name)
                    && !parts[0].indices.is_empty()
                {
                    let read = self.reads.lists.entry(k).or_default();
                    read.depth.resize(read.depth.len().max(parts[0].indices.len()), BTreeSet::new());
                    for (index, seen) in parts[0].indices.iter().zip(&mut read.depth) {
                        match values(index, known) {
                            Some(values) => seen.extend(values),
                            None => read.open = true,
                        }
                    }
                }
                e.children(&mut |c| self.note(c, known));
            }
            Kind::Range { index, from, to, body, .. } => {
                self.note(from, known);
                self.note(to, known);
                known.push((index.clone(), between(from, to)));
                self.note(body, known);
                known.pop();
            }
            Kind::Call { name, args, .. } => {
                args.iter().for_each(|a| self.note(a, known));
                let Some(What::Define(k)) = self.names.get(name) else { return };
                let Some(function) = self.functions.get(&k).cloned() else { return };
                let given: Vec<Values> = args.iter().map(|a| values(a, known)).collect();
                if self.reads.calls.insert((k, given.clone())) {
                    let mut own = function.params.iter().cloned().zip(given).collect();
                    self.note(&function.body.root, &mut own);
                }
            }
            _ => e.children(&mut |c| self.note(c, known)),
        }
    }

    /// An error for every entry that nothing reads while others of its list are read.
    pub(super) fn check_entries(&mut self) {
        let mut found = Vec::new();
        for (&k, read) in self.reads.lists.iter().filter(|(_, read)| !read.open) {
            let name = &self.raw.parameters[k].name.text;
            unread(&self.values[k], name, &read.depth, &mut |value, name, last| {
                // questions may ask for it by its name
                if !self.text.contains(name) {
                    let message = format!("nothing reads `{name}`");
                    let help = format!(
                        "the last entry in use is [{last}]: remove this one, or make longer what should use it"
                    );
                    let error = Diagnostic::error(value.span(), message, help);
                    found.push(Diagnostic { origin: origin_of(value), ..error });
                }
            });
        }
        found.into_iter().for_each(|d| self.report.push(d));
    }
}

/// Calls `say` with the entries of a list that are not read, their names, and the last one that is.
fn unread(value: &RawValue, name: &str, depth: &[BTreeSet<i64>], say: &mut impl FnMut(&RawValue, &str, i64)) {
    let (RawValue::List(list, _), Some((seen, deeper))) = (value, depth.split_first()) else { return };
    for (k, entry) in (1..).zip(list) {
        let name = format!("{name}[{k}]");
        match (seen.contains(&k), seen.last()) {
            (true, _) => unread(entry, &name, deeper, say),
            (false, Some(&last)) => say(entry, &name, last),
            (false, None) => {}
        }
    }
}

fn values(index: &Expr, known: &[(String, Values)]) -> Values {
    match &index.kind {
        Kind::Name { parts, primes: 0 } if parts.len() == 1 && parts[0].indices.is_empty() => {
            known.iter().rev().find(|(name, _)| *name == parts[0].name).and_then(|(_, values)| values.clone())
        }
        _ => literal(index).map(|k| BTreeSet::from([k])),
    }
}

fn bounds(family: &Family) -> Values {
    between(&family.bounds[0].ast.root, &family.bounds[1].ast.root)
}

fn between(from: &Expr, to: &Expr) -> Values {
    Some((literal(from)?..=literal(to)?).collect())
}

fn literal(e: &Expr) -> Option<i64> {
    match e.kind {
        Kind::Number { value, unit: None } if value == value.round() && value.abs() < 1e6 => {
            Some(value as i64)
        }
        _ => None,
    }
}

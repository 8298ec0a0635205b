//! The order in which a file is worked off.

use super::builder::{Builder, Scope, Thing};
use super::names::What;
use super::raw::{DefineKind, RawValue};
use crate::expr::Dim;

impl Builder<'_> {
    /// Turns the sections into the model.
    pub(super) fn build(&mut self, series: &[String], columns: &[(String, Dim)]) {
        let raw = self.raw.clone();
        self.model.name = raw.name.clone();
        self.model.about = raw.about.clone();
        self.model.source = raw.source.clone();
        self.model.cases = raw.cases.iter().map(|c| c.name.text.clone()).collect();

        // constants first: everything else counts with them
        self.override_parameters();
        self.declare_functions();
        if self.report.has_errors() {
            return;
        }
        self.make_in_order();
        self.finish_parameters();
        if self.report.has_errors() {
            return;
        }

        // which things there are
        self.expand();
        self.check_space();
        if self.report.has_errors() || !self.order_bodies() {
            return;
        }

        // what they are
        self.finish_variables();
        self.check_definitions();
        self.finish_states();
        self.finish_gravity();
        self.finish_bodies();
        self.finish_free();
        self.finish_forces();
        self.finish_contacts();
        self.finish_events();
        self.finish_start();
        self.finish_run();
        self.finish_outputs();
        self.finish_phases();
        self.finish_series(series, columns);
        self.finish_tasks();
        self.finish_heats();
        if !self.report.has_errors() {
            self.check_entries();
            self.finish_units();
            self.hint();
        }
        if !self.report.has_errors() {
            self.check_coordinates();
        }
    }

    /// Makes parameters with what they use first, without recursion: long chains in any order are fine.
    fn make_in_order(&mut self) {
        let count = self.raw.parameters.len();
        let mut uses: Vec<Vec<usize>> = Vec::with_capacity(count);
        for k in 0..count {
            let mut names = Vec::new();
            collect(&self.values[k], &mut names);
            uses.push(names.iter().filter_map(|n| self.parameter_behind(n)).collect());
        }
        for k in post_order(&uses) {
            let span = self.raw.parameters[k].name.span;
            let made = self.known(Thing::Parameter(k), span);
            self.keep(made);
        }
    }

    fn parameter_behind(&self, name: &str) -> Option<usize> {
        match self.names.get(name) {
            Some(What::Parameter(k)) => Some(k),
            _ => None,
        }
    }

    /// Definitions with what they use first.
    pub(super) fn definitions_in_order(&self) -> Vec<(usize, Thing)> {
        let uses: Vec<Vec<usize>> = self
            .raw
            .defines
            .iter()
            .map(|d| match &d.kind {
                DefineKind::Formula(f) => {
                    let define = |n: crate::expr::NameUse| match self.names.get(&n.name) {
                        Some(What::Define(k)) => Some(k),
                        _ => None,
                    };
                    f.ast.names().into_iter().filter_map(define).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        post_order(&uses).into_iter().map(|k| (k, Thing::Define(Scope::Motion, k))).collect()
    }
}

fn collect(value: &RawValue, names: &mut Vec<String>) {
    match value {
        RawValue::One(f) => names.extend(f.ast.names().into_iter().map(|n| n.name)),
        RawValue::List(list, _) => list.iter().for_each(|v| collect(v, names)),
    }
}

/// All numbers, each after those it uses. A circle is begun at its first member, which then comes twice.
fn post_order(uses: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(uses.len());
    let mut seen = vec![false; uses.len()];
    for root in 0..uses.len() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut path = vec![(root, 0)];
        while let Some((k, next)) = path.last_mut() {
            match uses[*k].get(*next) {
                Some(&j) => {
                    *next += 1;
                    if !seen[j] {
                        seen[j] = true;
                        path.push((j, 0));
                    } else if path.iter().any(|(p, _)| *p == j) {
                        order.push(j);
                    }
                }
                None => {
                    order.push(*k);
                    path.pop();
                }
            }
        }
    }
    order
}

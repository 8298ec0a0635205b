//! What an address looks at, known before anything is run.

use crate::expr::{Expr, Kind, Step, address};

use super::eval::OVER_SERIES;

/// What an address looks at.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Needs {
    /// Recorded series.
    pub series: bool,
    /// Columns of the table that are named as such.
    pub columns: Vec<String>,
    /// First keys into `run.json`.
    pub keys: Vec<String>,
    /// Findings by their task.
    pub findings: Vec<String>,
}

impl Needs {
    /// Those of an expression, where `columns` are the names of the recorded series.
    pub(super) fn of(root: &Expr, columns: &[String]) -> Needs {
        let mut out = Needs::default();
        out.visit(root, columns, false);
        out
    }

    fn visit(&mut self, node: &Expr, columns: &[String], series: bool) {
        match &node.kind {
            Kind::Address(base, steps) => match base {
                Some(base) => self.visit(base, columns, series),
                None => self.path(steps, columns, series),
            },
            Kind::Call { name, args, .. } => {
                let over = OVER_SERIES.contains(&name.as_str());
                if name == "per" {
                    self.key("time");
                }
                for (k, arg) in args.iter().enumerate() {
                    self.visit(arg, columns, k == 0 && (series || over));
                }
            }
            Kind::Neg(inner) | Kind::Not(inner) => self.visit(inner, columns, series),
            Kind::Pow(a, b, _) | Kind::Compare(_, a, b, _) => {
                self.visit(a, columns, series);
                self.visit(b, columns, series);
            }
            Kind::Chain(first, links) => {
                self.visit(first, columns, series);
                links.iter().for_each(|l| self.visit(&l.expr, columns, series));
            }
            Kind::And(all) | Kind::Or(all) => all.iter().for_each(|e| self.visit(e, columns, series)),
            Kind::Number { .. } | Kind::Text(_) | Kind::Name { .. } | Kind::Range { .. } => {}
        }
    }

    fn path(&mut self, steps: &[Step], columns: &[String], series: bool) {
        let Some(Step::Key(first)) = steps.first() else { return };
        if steps.len() == 1 && matches!(first.as_str(), "pi" | "inf" | "true" | "false") {
            return;
        }
        let column = series && columns.contains(&address(steps));
        if first == "trajectory" || column || (series && first == "outputs") {
            self.series = true;
            if !column {
                self.columns.push(address(&steps[1..]));
            }
            return;
        }
        if let ("findings", Some(Step::Key(task))) = (first.as_str(), steps.get(1))
            && !self.findings.contains(task)
        {
            self.findings.push(task.clone());
        }
        self.key(first);
    }

    fn key(&mut self, key: &str) {
        if !self.keys.iter().any(|k| k == key) {
            self.keys.push(key.to_string());
        }
    }

    /// These and those.
    pub(crate) fn join(&mut self, other: &Needs) {
        self.series |= other.series;
        other.keys.iter().for_each(|k| self.key(k));
        for task in &other.findings {
            if !self.findings.contains(task) {
                self.findings.push(task.clone());
            }
        }
    }
}

//! What can be read but is probably not what was meant: degrees without their unit, no gravity.

use super::builder::Builder;
use super::diagnostic::Diagnostic;
use super::formula::Formula;
use super::raw::{Members, RawValue};
use super::raw_parts::RawGeometry;
use crate::expr::{Kind, NodeId};
use crate::model::Input;

/// One turn: an angle above it is probably in degrees.
const TURN: f64 = std::f64::consts::TAU;

impl Builder<'_> {
    /// Warnings about a file that was understood.
    pub(super) fn hint(&mut self) {
        self.hint_degrees();
        self.hint_gravity();
    }

    /// `slope = 25` where `sin(slope)` stands, `phi = 90` where it is the angle of a body.
    fn hint_degrees(&mut self) {
        let raw = self.raw.clone();
        let turned = |name: &str| {
            let called = ["sin", "cos", "tan"].iter().any(|f| self.text.contains(&format!("{f}({name})")));
            let angle = |f: &Formula| f.text().trim().trim_start_matches('-') == name;
            called || raw.bodies.iter().any(|b| b.angle.as_ref().is_some_and(angle))
        };
        let parameters = raw.parameters.iter().filter_map(|p| match &p.value {
            RawValue::One(f) => Some((&p.name, f)),
            RawValue::List(..) => None,
        });
        let coordinates = raw.coordinates.iter().filter_map(|c| match &c.start {
            Some(Members::Same(f)) => Some((&c.name, f)),
            _ => None,
        });
        let mut found = Vec::new();
        for (name, formula) in parameters.chain(coordinates) {
            if let Kind::Number { value, unit: None } = formula.ast.root.kind
                && value.abs() > TURN
                && turned(&name.text)
            {
                found.push(Diagnostic::warning(
                    formula.span,
                    format!("`{}` = {value} is an angle of {value} radians", name.text),
                    format!("if degrees are meant write  {} = \"{value} deg\"", name.text),
                ));
            }
        }
        found.into_iter().for_each(|d| self.report.push(d));
    }

    /// Bodies that nothing moves.
    fn hint_gravity(&mut self) {
        let raw = self.raw.clone();
        let heavy = raw.bodies.iter().find(|b| b.mass.is_some());
        let Some(body) = heavy.filter(|_| raw.gravity.is_none() && raw.forces.is_empty()) else { return };
        let moves = raw.coordinates.iter().any(|c| c.rate.is_some() || c.guess)
            || raw.bodies.iter().any(|b| b.space.spin.is_some());
        let placed: Vec<NodeId> =
            self.model.bodies.iter().flat_map(|b| b.position.into_iter().chain([b.angle])).collect();
        let mut inputs = self.model.graph.symbols(&placed).into_iter().filter_map(|s| self.meaning(s));
        let given =
            raw.contacts.iter().any(|c| c.slip.is_some() || matches!(c.geometry, RawGeometry::Gap(_)));
        let timed =
            given || raw.bodies.iter().any(|b| b.kinetic.is_some()) || inputs.any(|i| i == Input::Time);
        if !moves && !timed {
            let message = "nothing will move: there is no gravity, no force and no velocity";
            self.report.warning(
                body.name.span,
                message,
                "write  gravity = [0, -9.81]  at the top of the file",
            );
        }
    }
}

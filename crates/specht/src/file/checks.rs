//! What may depend on what, and whether every coordinate is held or moved by something.

use super::builder::Builder;
use super::diagnostic::{Resolved, fault};
use super::formula::Formula;
use crate::expr::{Expr, NodeId, Symbol};
use crate::model::{Geometry, Input, NormalLaw, Rotation};

impl Builder<'_> {
    fn inputs_of(&self, node: NodeId) -> Vec<Input> {
        self.model.graph.symbols(&[node]).into_iter().filter_map(|s| self.meaning(s)).collect()
    }

    /// Whether a formula reads what contacts take from the motion.
    pub(super) fn is_heated(&self, node: NodeId) -> bool {
        self.inputs_of(node).iter().any(|i| matches!(i, Input::Heat(_)))
    }

    /// Requires a formula of coordinates, time, memory and parameters.
    pub(super) fn of_positions(&self, formula: &Formula, node: NodeId, what: &str) -> Resolved<()> {
        for input in self.inputs_of(node) {
            let wrong = match input {
                Input::Time | Input::Coordinate(_) | Input::Memory(_) | Input::Parameter(_) => continue,
                Input::Velocity(k) => format!("the velocity `{}`", self.velocity_name(k)),
                Input::State(k) => match self.states.1.get(k) {
                    Some(state) => format!("the state `{}`", state.name),
                    None => "the heat of a contact".to_string(),
                },
                _ => "a force or a contact".to_string(),
            };
            let help = "it may use coordinates, time and parameters";
            return Err(formula.error(format!("{what} cannot depend on {wrong}"), help).into());
        }
        Ok(())
    }

    /// Requires a formula of parameters.
    pub(super) fn of_parameters(&self, formula: &Formula, node: NodeId, what: &str) -> Resolved<()> {
        for input in self.inputs_of(node) {
            if !matches!(input, Input::Parameter(_) | Input::Memory(_)) {
                return Err(formula
                    .error(format!("{what} must be constant"), "it may use parameters only")
                    .into());
            }
        }
        Ok(())
    }

    fn is_velocity(&self, symbol: Symbol) -> bool {
        matches!(self.meaning(symbol), Some(Input::Velocity(_)))
    }

    /// Whether a node is linear in the velocities (constant part allowed).
    pub(super) fn is_linear(&mut self, node: NodeId) -> bool {
        let velocities: Vec<Symbol> =
            self.model.graph.symbols(&[node]).into_iter().filter(|s| self.is_velocity(*s)).collect();
        for symbol in velocities {
            let slope = self.model.graph.diff(node, symbol);
            let again = self.model.graph.symbols(&[slope]);
            if again.into_iter().any(|s| self.is_velocity(s)) {
                return false;
            }
        }
        true
    }

    /// Requires linearity in the velocities; the message marks the smallest part that is not.
    pub(super) fn linear_in_velocities(&mut self, formula: &Formula, node: NodeId) -> Resolved<()> {
        if self.is_linear(node) {
            return Ok(());
        }
        let mut at = &formula.ast.root;
        'down: loop {
            let mut parts: Vec<&Expr> = Vec::new();
            at.children(&mut |c| parts.push(c));
            for part in parts {
                let sub = Formula {
                    ast: std::rc::Rc::new(crate::expr::Ast {
                        source: formula.ast.source.clone(),
                        root: part.clone(),
                    }),
                    ..formula.clone()
                };
                if let Ok(node) = self.lower(&sub)
                    && !self.is_linear(node)
                {
                    at = part;
                    continue 'down;
                }
            }
            break;
        }
        Err(fault(formula.place(at.span), "`slip` must be linear in the velocities", ""))
    }

    /// Every coordinate must move a mass or be held by a bilateral contact or pin.
    pub(super) fn check_coordinates(&mut self) {
        let count = self.model.coordinates.len();
        let mut used = vec![false; count];
        let mut names = vec![Vec::new(); count];
        let mark = |b: &Self, node: NodeId, used: &mut Vec<bool>| {
            for input in b.inputs_of(node) {
                if let Input::Coordinate(k) | Input::Velocity(k) = input
                    && k < count
                {
                    used[k] = true;
                }
            }
        };
        // a body moves with the coordinates of its own frame and of those below it
        let mut moves: Vec<Vec<bool>> = Vec::with_capacity(self.model.bodies.len());
        let mut turns: Vec<Vec<bool>> = Vec::with_capacity(self.model.bodies.len());
        let zero = self.zero();
        for k in 0..self.model.bodies.len() {
            let body = self.model.bodies[k].clone();
            let (mut m, mut t) = match body.on {
                Some(p) if p < k => (moves[p].clone(), turns[p].clone()),
                _ => (vec![false; count], vec![false; count]),
            };
            // an offset position turns with the parent
            if body.position.iter().any(|&n| n != zero) {
                m.iter_mut().zip(&t).for_each(|(m, t)| *m |= *t);
            }
            body.position.iter().for_each(|&n| mark(self, n, &mut m));
            mark(self, body.angle, &mut t);
            let mut offset = body.center.iter().any(|&n| n != zero);
            let mut has_inertia = body.inertia != zero;
            if let Some(space) = &body.space {
                if space.position.iter().any(|&n| n != zero) {
                    m.iter_mut().zip(&t).for_each(|(m, t)| *m |= *t);
                }
                space.position.iter().for_each(|&n| mark(self, n, &mut m));
                if let Rotation::Turns(list) = &space.rotation {
                    list.iter().for_each(|&(_, n)| mark(self, n, &mut t));
                }
                offset = space.center.iter().any(|&n| n != zero);
                has_inertia = space.inertia.iter().flatten().any(|&n| n != zero);
            }
            let mut center = m.clone();
            if offset {
                center.iter_mut().zip(&t).for_each(|(c, t)| *c |= *t);
            }
            let has_mass = body.mass != zero;
            for c in 0..count {
                used[c] |= has_mass && center[c] || has_inertia && t[c];
                if (m[c] && !has_mass || t[c] && !has_inertia) && names[c].len() < 3 {
                    names[c].push((body.name.clone(), t[c] && !has_inertia));
                }
            }
            if let Some(kinetic) = body.kinetic {
                mark(self, kinetic, &mut used);
            }
            moves.push(m);
            turns.push(t);
        }
        let contacts = self.model.contacts.clone();
        for contact in &contacts {
            let holds = matches!(contact.law, NormalLaw::Bilateral | NormalLaw::Pin { .. });
            if !holds {
                continue;
            }
            match &contact.geometry {
                Geometry::Gap(node) => mark(self, *node, &mut used),
                Geometry::Guide(list) => list.iter().for_each(|&n| mark(self, n, &mut used)),
                Geometry::Between(a, b) | Geometry::Pin(a, b) | Geometry::Directions(a, b, _) => {
                    for r in [a, b] {
                        if let Some(k) = r.body {
                            for c in 0..count {
                                used[c] |= moves[k][c] || turns[k][c];
                            }
                        }
                    }
                }
                Geometry::None => {}
            }
        }
        for c in 0..count {
            if used[c] {
                continue;
            }
            let coordinate = &self.model.coordinates[c];
            let message = format!(
                "nothing with mass moves with `{}`, and no pin or bilateral contact holds it",
                coordinate.name
            );
            let help = match names[c].first() {
                Some((body, true)) => format!("give {body} an inertia, or close the loop"),
                Some((body, false)) => format!("give {body} a mass, or close the loop"),
                None => "let a body with mass move with it, or remove it".to_string(),
            };
            let span = coordinate.span;
            self.report.error(span, message, help);
        }
    }
}

//! Which formula of a model has no finite value: the name for a message.

use crate::expr::NodeId;
use crate::system::{Discrete, Eval, State};

use super::compiled::CompiledSystem;
use super::{ForceKind, Input, Law, Model, Trigger};

/// The formulas of the forces with what they are.
pub(super) fn laws(model: &Model) -> Vec<(String, NodeId)> {
    let mut out = Vec::new();
    for force in &model.forces {
        let of_law = |l: &Law| [l.force, l.spring, Some(l.length), l.damper].into_iter().flatten().collect();
        let nodes: Vec<NodeId> = match &force.kind {
            ForceKind::Along { law, .. } | ForceKind::Between { law, .. } => of_law(law),
            ForceKind::At { force, .. } => force.to_vec(),
            ForceKind::AtSpace { force, .. } => force.to_vec(),
            ForceKind::TorqueSpace { torque, .. } => torque.to_vec(),
            ForceKind::Torque { torque, .. } => vec![*torque],
            ForceKind::Potential(node) => vec![*node],
        };
        out.extend(nodes.into_iter().map(|n| (format!("force `{}`", force.name), n)));
    }
    out
}

/// Whether a formula needs more than state and modes.
pub(super) fn needs_more(input: Input) -> bool {
    matches!(
        input,
        Input::Contour(_)
            | Input::Acceleration(_)
            | Input::Normal(_)
            | Input::Tangential(_)
            | Input::SecondTangential(_)
            | Input::Drilling(_)
            | Input::Reaction(..)
            | Input::Touch(..)
            | Input::FrictionNormal(_)
            | Input::Mode(_)
            | Input::Impulse(_)
            | Input::Energy(_)
    )
}

impl CompiledSystem {
    /// The first formula without a finite value, causes before what they cause.
    pub(super) fn first_undefined(&self, s: &State, d: &Discrete, eval: &Eval) -> Option<String> {
        let bad = |v: f64| !v.is_finite();
        let mut inputs = self.base.clone();
        self.fill(s, d, &mut inputs);
        let mut work = self.laws.workspace();
        self.laws.eval(&inputs, &mut work);
        if let Some(k) = (0..self.law_names.len()).find(|&k| bad(self.laws.output(&work, k))) {
            return Some(self.law_names[k].clone());
        }
        let mut work = self.poses.workspace();
        self.poses.eval(&inputs, &mut work);
        let pose = |k: usize| (0..3).any(|i| bad(self.poses.output(&work, 3 * k + i)));
        if let Some(k) = (0..self.model.bodies.len()).find(|&k| pose(k)) {
            return Some(format!("the position of body `{}`", self.model.bodies[k].name));
        }
        let mut work = self.space_poses.workspace();
        self.space_poses.eval(&inputs, &mut work);
        let pose = |k: usize| (0..15).any(|i| bad(self.space_poses.output(&work, 15 * k + i)));
        if let Some(k) = (0..self.space_poses.output_count() / 15).find(|&k| pose(k)) {
            return Some(format!("the position of body `{}`", self.model.bodies[k].name));
        }
        if let Some(k) = eval.z_rate.iter().position(|&v| bad(v)) {
            return Some(format!("the rate of state `{}`", self.state_names[k]));
        }
        for (i, c) in self.contacts.iter().enumerate() {
            if c.gap_rows().iter().any(|&r| bad(eval.gap[r])) {
                return Some(format!("the gap of contact `{}`", c.name));
            }
            if c.rows().any(|r| bad(eval.rate_offset[r]) || eval.w.row(r).values().iter().any(|&v| bad(v))) {
                return Some(format!("the direction of contact `{}`", c.name));
            }
            if bad(eval.load[i]) || bad(eval.load_static[i]) {
                return Some(format!("the force of contact `{}`", c.name));
            }
        }
        let crossings = self.model.events.iter().filter(|e| matches!(e.trigger, Trigger::Crossing(..)));
        for (event, value) in crossings.zip(&eval.crossings) {
            if value.is_nan() {
                return Some(format!("the crossing of event `{}`", event.name));
            }
        }
        let names = self.model.coordinates.iter().map(|c| c.name.as_str());
        let values = names.zip(s.q.iter().zip(&s.u).zip(&eval.h));
        for (name, ((&q, &u), &h)) in values {
            if bad(q) || bad(u) || bad(h) {
                return Some(format!("the motion of coordinate `{name}`"));
            }
        }
        let states = self.state_names.iter().zip(&s.z);
        states.into_iter().find(|(_, z)| bad(**z)).map(|(name, _)| format!("state `{name}`"))
    }
}

//! Outputs and user events of a compiled model.

use crate::system::{ContactEvent as Happened, Instant, State, System, Trigger as Fired};

use super::compiled::CompiledSystem;
use super::{ContactEvent, Input, Trigger};

impl CompiledSystem {
    /// Moment about the normal of contact `k` of the model: of a patch by its third row, of `drilling` by a contact of its own.
    pub(super) fn drilling(&self, k: usize, lambda: &[f64], radius: &[f64]) -> f64 {
        let Some(of) = self.of_model.get(k) else { return 0.0 };
        let own = self.contacts.iter().filter(|c| {
            c.is_given() && c.name.ends_with(".drilling") && c.load_on.iter().all(|on| of.contains(on))
        });
        let resists = own.map(|c| c.tangential_force(lambda));
        self.patch(k, lambda, radius) + resists.sum::<f64>()
    }

    /// The part of a patch.
    pub(super) fn patch(&self, k: usize, lambda: &[f64], radius: &[f64]) -> f64 {
        let part = |c: usize| Some(lambda.get(*self.contacts[c].tangent.get(2)?)? * radius.get(c)?);
        self.of_model.get(k).map_or(0.0, |of| of.clone().filter_map(part).sum())
    }

    /// All inputs at an instant: state, contour parameters, accelerations, contact forces, energies.
    pub(super) fn fill_instant(&self, at: &Instant<'_>, inputs: &mut [f64]) {
        self.fill(at.state, at.discrete, inputs);
        for contour in &self.contours {
            for (i, s) in contour.sigma.iter().enumerate() {
                inputs[s.slot] = at.eval.contour.get(contour.first + i).copied().unwrap_or(f64::NAN);
                let side = s.latch.and_then(|k| at.discrete.latches.get(k)).copied().unwrap_or(0);
                inputs[s.active] = if side == 0 { 1.0 } else { 0.0 };
            }
        }
        let sum = |k: usize, values: &[f64]| -> f64 {
            self.of_model.get(k).map_or(0.0, |r| r.clone().filter_map(|c| values.get(c)).sum())
        };
        for (slot, input) in inputs.iter_mut().zip(&self.inputs) {
            match *input {
                Input::Acceleration(k) => *slot = at.accel.get(k).copied().unwrap_or(f64::NAN),
                Input::Normal(k) => *slot = sum(k, &at.forces.normal),
                Input::Tangential(k) => *slot = sum(k, &at.forces.tangential),
                Input::SecondTangential(k) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let push = |c: usize| at.forces.lambda.get(*self.contacts[c].tangent.get(1)?).copied();
                    *slot = of.filter_map(push).sum();
                }
                Input::Drilling(k) => *slot = self.drilling(k, &at.forces.lambda, &at.eval.radius),
                Input::Reaction(k, i) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let push =
                        |c: usize| at.forces.lambda.get(*self.contacts[c].normal_rows().get(i)?).copied();
                    *slot = of.filter_map(push).sum();
                }
                Input::Touch(k, i) => {
                    let row = self.touch.row_of(k.checked_sub(1));
                    *slot = row.and_then(|r| at.forces.lambda.get(r + i)).copied().unwrap_or(0.0);
                }
                Input::FrictionNormal(k) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let push = |c: usize| Some(at.eval.lean.get(c)? * at.forces.tangential.get(c)?);
                    *slot = of.filter_map(push).sum();
                }
                Input::Heat(k) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let power = |c: usize| {
                        let contact = &self.contacts[c];
                        match contact.tangent.len() {
                            0 | 1 => at.forces.tangential[c] * at.eval.slip(contact, c, &at.state.u),
                            _ => {
                                let of = |&r: &usize| at.forces.lambda[r] * at.eval.rate(r, &at.state.u);
                                contact.tangent.iter().map(of).sum()
                            }
                        }
                    };
                    *slot = -of.map(power).sum::<f64>();
                }
                Input::Impulse(k) => *slot = sum(k, &at.impulses.normal),
                Input::Mode(k) => {
                    // of several latent contacts the first that is closed
                    let modes = self.of_model.get(k).map(|r| &at.discrete.modes[r.clone()]).unwrap_or(&[]);
                    let mode = modes.iter().find(|m| m.is_closed()).or(modes.first());
                    *slot = mode.map_or(0.0, |&m| Input::mode_number(m));
                }
                Input::Energy(0) => *slot = at.eval.kinetic,
                Input::Energy(_) => *slot = at.eval.potential,
                _ => {}
            }
        }
    }

    pub(super) fn write_outputs(&self, at: Instant<'_>, out: &mut [f64]) {
        if self.outputs.output_count() == 0 {
            return;
        }
        let mut scratch = self.scratch();
        self.fill_instant(&at, &mut scratch.inputs);
        self.followed_sides(at.discrete, &mut scratch.sides);
        self.outputs.eval_partly_latched(&scratch.inputs, &mut scratch.outputs, &scratch.sides);
        self.outputs.outputs(&scratch.outputs, out);
        self.give_back(scratch);
    }

    pub(super) fn fire_events(
        &self,
        triggers: &[Fired],
        at: Instant<'_>,
        memory: &mut [f64],
        fired: &mut Vec<usize>,
    ) -> bool {
        let first = fired.len();
        let mut crossing = 0;
        for (e, event) in self.model.events.iter().enumerate() {
            let happened = match &event.trigger {
                Trigger::Crossing(..) => {
                    crossing += 1;
                    triggers.contains(&Fired::Crossing(crossing - 1))
                }
                Trigger::Contact(contacts, kind) => triggers.iter().any(|t| match t {
                    Fired::Contact { contact, kind: k } => {
                        same(*kind, *k)
                            && contacts
                                .iter()
                                .any(|&m| self.of_model.get(m).is_some_and(|r| r.contains(contact)))
                    }
                    Fired::Crossing(_) => false,
                }),
            };
            if happened {
                fired.push(e);
            }
        }
        if fired.len() == first {
            return false;
        }
        let mut scratch = self.scratch();
        self.fill_instant(&at, &mut scratch.inputs);
        self.sets.eval(&scratch.inputs, &mut scratch.sets);
        // conditions come after all changes
        let changes: usize = self.model.events.iter().map(|e| e.set.len()).sum();
        let conditional = (0..self.model.events.len()).filter(|e| self.model.events[*e].when.is_some());
        for (place, e) in conditional.enumerate() {
            if self.sets.output(&scratch.sets, changes + place) == 0.0
                && let Some(k) = fired[first..].iter().position(|k| *k == e)
            {
                fired.remove(first + k);
            }
        }
        let (mut stop, mut place) = (false, 0);
        for (e, event) in self.model.events.iter().enumerate() {
            let active = fired[first..].contains(&e);
            stop |= active && event.stop;
            for &(k, _) in &event.set {
                if active && let Some(value) = memory.get_mut(k) {
                    *value = self.sets.output(&scratch.sets, place);
                }
                place += 1;
            }
        }
        self.give_back(scratch);
        stop
    }

    /// The start of the file with the present parameters: guesses are not yet solved for. A relaxing surface starts at
    /// rest, or where the body already presses it.
    pub fn start(&self) -> State {
        let mut work = self.starts.workspace();
        self.starts.eval(&self.base, &mut work);
        let mut values = (0..self.starts.output_count()).map(|i| self.starts.output(&work, i));
        let (mut q, mut u) = (Vec::with_capacity(self.dims.q), Vec::with_capacity(self.dims.u));
        for _ in 0..self.model.coordinates.len() {
            q.push(values.next().unwrap_or(0.0));
            u.push(values.next().unwrap_or(0.0));
        }
        for _ in 0..self.model.free.len() {
            q.extend(values.by_ref().take(4));
            u.extend(values.by_ref().take(3));
        }
        self.restore(&mut q);
        let mut z: Vec<f64> = values.by_ref().take(self.model.states.len()).collect();
        z.resize(self.dims.z, 0.0);
        let memory = values.collect();
        let mut state = State { t: 0.0, q, u, z, memory };
        self.start_surfaces(&mut state);
        state
    }
}

fn same(a: ContactEvent, b: Happened) -> bool {
    matches!(
        (a, b),
        (ContactEvent::Impact, Happened::Impact)
            | (ContactEvent::Touch, Happened::Touch)
            | (ContactEvent::Detach, Happened::Detach)
            | (ContactEvent::Stick, Happened::Stick)
            | (ContactEvent::Slip, Happened::Slip)
            | (ContactEvent::Reverse, Happened::Reverse)
    )
}

//! Rates of what is read at instants along a direction: outputs, what events write to the memory, restitution.

use crate::expr::Tape;
use crate::system::{Along, Discrete, Instant, InstantRate, Restitution, State};

use super::Input;
use super::compiled::CompiledSystem;

impl CompiledSystem {
    /// Rates of all inputs at an instant, as [`CompiledSystem::fill_instant`] fills their values.
    fn instant_rates(&self, at: &Instant<'_>, rate: &InstantRate<'_>, inputs: &mut [f64]) {
        inputs.fill(0.0);
        self.fill_rates(at.discrete, &rate.along, inputs);
        for contour in &self.contours {
            for (i, s) in contour.sigma.iter().enumerate() {
                inputs[s.slot] = rate.eval.contour.get(contour.first + i).copied().unwrap_or(0.0);
            }
        }
        let sum = |k: usize, values: &[f64]| -> f64 {
            self.of_model.get(k).map_or(0.0, |r| r.clone().filter_map(|c| values.get(c)).sum())
        };
        for (slot, input) in inputs.iter_mut().zip(&self.inputs) {
            match *input {
                Input::Parameter(k) => *slot = rate.along.parameters.get(k).copied().unwrap_or(0.0),
                Input::Acceleration(k) => *slot = rate.accel.get(k).copied().unwrap_or(0.0),
                Input::Normal(k) => *slot = sum(k, &rate.forces.normal),
                Input::Tangential(k) => *slot = sum(k, &rate.forces.tangential),
                Input::SecondTangential(k) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let push = |c: usize| rate.forces.lambda.get(*self.contacts[c].tangent.get(1)?).copied();
                    *slot = of.filter_map(push).sum();
                }
                Input::Drilling(k) => {
                    let (by, radius) = (&rate.forces.lambda, &rate.eval.radius);
                    *slot = self.drilling(k, by, &at.eval.radius) + self.patch(k, &at.forces.lambda, radius);
                }
                Input::Reaction(k, i) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let push =
                        |c: usize| rate.forces.lambda.get(*self.contacts[c].normal_rows().get(i)?).copied();
                    *slot = of.filter_map(push).sum();
                }
                Input::Heat(k) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    *slot = -of.map(|c| self.power_rate(c, at, rate)).sum::<f64>();
                }
                Input::FrictionNormal(k) => {
                    let of = self.of_model.get(k).cloned().unwrap_or(0..0);
                    let push = |c: usize| {
                        let (lean, force) = (at.eval.lean.get(c)?, at.forces.tangential.get(c)?);
                        let (turn, change) = (rate.eval.lean.get(c)?, rate.forces.tangential.get(c)?);
                        Some(lean * change + turn * force)
                    };
                    *slot = of.filter_map(push).sum();
                }
                Input::Impulse(k) => *slot = sum(k, &rate.impulses.normal),
                Input::Energy(0) => *slot = rate.eval.kinetic,
                Input::Energy(_) => *slot = rate.eval.potential,
                _ => {}
            }
        }
    }

    /// Rate of the power of contact `c` on the motion.
    fn power_rate(&self, c: usize, at: &Instant<'_>, rate: &InstantRate<'_>) -> f64 {
        let (contact, u) = (&self.contacts[c], &at.state.u);
        let slip = |r: usize| at.eval.rate(r, u);
        let change = |r: usize| {
            rate.eval.w.row(r).dot(u) + at.eval.w.row(r).dot(rate.along.u) + rate.eval.rate_offset[r]
        };
        if let [row] = *contact.tangent.as_slice() {
            // leaning friction follows the slip of the surface itself
            let (lean, turn) = (at.eval.lean.get(c).copied(), rate.eval.lean.get(c).copied());
            let (lean, turn) = (lean.unwrap_or(0.0), turn.unwrap_or(0.0));
            let (mut of, mut by) = (slip(row), change(row));
            if let Some(n) = contact.normal_row().filter(|_| lean != 0.0) {
                of -= lean * slip(n);
                by -= lean * change(n) + turn * slip(n);
            }
            return rate.forces.tangential[c] * of + at.forces.tangential[c] * by;
        }
        let of = |&r: &usize| rate.forces.lambda[r] * slip(r) + at.forces.lambda[r] * change(r);
        contact.tangent.iter().map(of).sum()
    }

    pub(super) fn output_rates(&self, at: &Instant<'_>, rate: &InstantRate<'_>, out: &mut [f64]) {
        if self.outputs.output_count() == 0 {
            return;
        }
        let mut scratch = self.scratch();
        self.fill_instant(at, &mut scratch.inputs);
        self.followed_sides(at.discrete, &mut scratch.sides);
        self.outputs.eval_partly_latched(&scratch.inputs, &mut scratch.outputs, &scratch.sides);
        self.instant_rates(at, rate, &mut scratch.inputs);
        let mut rates = self.outputs.rates();
        self.outputs.tangent(&scratch.outputs, &scratch.inputs, &mut rates);
        self.outputs.outputs(&rates, out);
        self.give_back(scratch);
    }

    /// Rates of the memory written by the events `fired`.
    pub(super) fn set_rates(
        &self,
        fired: &[usize],
        at: &Instant<'_>,
        rate: &InstantRate<'_>,
        memory: &mut [f64],
    ) {
        let mut scratch = self.scratch();
        self.fill_instant(at, &mut scratch.inputs);
        self.sets.eval(&scratch.inputs, &mut scratch.sets);
        self.instant_rates(at, rate, &mut scratch.inputs);
        let mut rates = self.sets.rates();
        self.sets.tangent(&scratch.sets, &scratch.inputs, &mut rates);
        let mut place = 0;
        for (e, event) in self.model.events.iter().enumerate() {
            for &(k, _) in &event.set {
                if fired.contains(&e)
                    && let Some(value) = memory.get_mut(k)
                {
                    *value = self.sets.output(&rates, place);
                }
                place += 1;
            }
        }
        self.give_back(scratch);
    }

    pub(super) fn restitution_rates(
        &self,
        s: &State,
        d: &Discrete,
        along: &Along<'_>,
        out: &mut [Restitution],
    ) {
        let mut scratch = self.scratch();
        self.fill(s, d, &mut scratch.inputs);
        self.restitution.eval(&scratch.inputs, &mut scratch.restitution);
        scratch.inputs.fill(0.0);
        self.fill_rates(d, along, &mut scratch.inputs);
        self.parameter_rates(along.parameters, &mut scratch.inputs);
        let mut rates = self.restitution.rates();
        self.restitution.tangent(&scratch.restitution, &scratch.inputs, &mut rates);
        for (k, r) in out.iter_mut().enumerate() {
            let [normal, tangential, nu] = [0, 1, 2].map(|i| self.restitution.output(&rates, 3 * k + i));
            *r = Restitution { normal, tangential, nu };
        }
        self.give_back(scratch);
    }

    fn parameter_rates(&self, parameters: &[f64], inputs: &mut [f64]) {
        for (slot, input) in inputs.iter_mut().zip(&self.inputs) {
            if let Input::Parameter(k) = *input {
                *slot = parameters.get(k).copied().unwrap_or(0.0);
            }
        }
    }

    /// Rates of the outputs of a tape over constants along a direction of the live parameters.
    pub(crate) fn constant_rates(&self, tape: &Tape, parameters: &[f64]) -> Vec<f64> {
        let mut work = tape.workspace();
        tape.eval(&self.base, &mut work);
        let mut inputs = vec![0.0; self.inputs.len()];
        self.parameter_rates(parameters, &mut inputs);
        let mut rates = tape.rates();
        tape.tangent(&work, &inputs, &mut rates);
        (0..tape.output_count()).map(|i| tape.output(&rates, i)).collect()
    }

    /// Rates of [`CompiledSystem::start`] along a direction of the live parameters.
    pub(crate) fn start_rates(&self, parameters: &[f64]) -> State {
        let rates = self.constant_rates(&self.starts, parameters);
        // pairs of the coordinates, quaternions with their spins, states, memory
        let (moving, rest) = rates.split_at(2 * self.model.coordinates.len());
        let (turning, rest) = rest.split_at(7 * self.model.free.len());
        let (states, memory) = rest.split_at(self.model.states.len());
        let of = |first: usize| moving.iter().skip(first).step_by(2).copied();
        let free = |range: std::ops::Range<usize>| {
            turning.chunks_exact(7).flat_map(move |f| f[range.clone()].iter().copied())
        };
        let mut z = states.to_vec();
        z.resize(self.dims.z, 0.0);
        State {
            t: 0.0,
            q: of(0).chain(free(0..4)).collect(),
            u: of(1).chain(free(4..7)).collect(),
            z,
            memory: memory.to_vec(),
        }
    }
}

//! The border [`System`] of a compiled model.

use crate::linalg::{Rows, Symmetric, copy};
use crate::system::{
    Along, ContactInfo, Dims, Direction, Discrete, Eval, Instant, InstantRate, Restitution, State, System,
    Tangent, Touching, Trigger, same,
};

use super::CompiledSystem;
use super::compiled::Extent;
use super::latches::Before;
use super::program::{Guard, PRESSING, Source};
use super::space::turn;

impl System for CompiledSystem {
    fn touching(&self) -> Option<&Touching> {
        self.touching.as_deref()
    }

    fn uses_load_rate(&self) -> bool {
        self.fill.iter().any(|(_, source)| matches!(source, Source::LoadRate(_)))
    }

    fn uses_heat(&self) -> bool {
        self.fill.iter().any(|(_, source)| matches!(source, Source::Heat(..)))
    }

    fn length_scale(&self) -> f64 {
        self.length
    }

    fn gap_scale(&self, row: usize) -> f64 {
        self.gap_sizes.get(row).copied().unwrap_or(self.length)
    }

    fn dims(&self) -> Dims {
        self.dims
    }

    fn contacts(&self) -> &[ContactInfo] {
        &self.contacts
    }

    fn memory(&self) -> Eval {
        let mut eval = Eval::with(
            &self.dims,
            Symmetric::on(self.mass_pattern.clone()),
            Rows::on(self.w_pattern.clone()),
        );
        eval.load_terms.resize(self.load_terms.constant.len() + self.load_terms.moving.len(), 0.0);
        eval.frames.resize(self.touch.numbers(), 0.0);
        eval
    }

    fn evaluate(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.fill_eval(s, d, Extent::All, out);
    }

    fn evaluate_rates(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.fill_eval(s, d, Extent::Rates, out);
    }

    fn evaluate_stage(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.fill_eval(s, d, Extent::Stage, out);
    }

    fn evaluate_free(&self, s: &State, d: &Discrete, out: &mut Eval) {
        let extent = if self.parts_contacts() { Extent::Free } else { Extent::Stage };
        self.fill_eval(s, d, extent, out);
    }

    fn evaluate_gaps(&self, s: &State, d: &Discrete, out: &mut Eval) {
        let extent = if self.parts_contacts() { Extent::Gaps } else { Extent::Stage };
        self.fill_eval(s, d, extent, out);
    }

    fn evaluates_alike(&self, a: (&State, &Discrete), b: (&State, &Discrete)) -> bool {
        let memory = || self.fill_motion.ignores_memory() || same(&a.0.memory, &b.0.memory);
        a.0.moves_like(b.0) && memory() && (self.ignores_modes() || a.1.is_same(b.1))
    }

    fn tangent(&self, s: &State, d: &Discrete, at: &Eval, along: &Along<'_>, out: &mut Tangent) -> bool {
        self.differentiate(s, d, at, along, &mut out.rate);
        true
    }

    fn q_rate(&self, s: &State, out: &mut [f64]) {
        let n = self.model.coordinates.len();
        copy(&s.u[..n], &mut out[..n]);
        if self.model.free.is_empty() {
            return;
        }
        let quaternions = s.q[n..].chunks_exact(4).zip(s.u[n..].chunks_exact(3));
        for (out, (p, w)) in out[n..].chunks_exact_mut(4).zip(quaternions) {
            turn::rate(p, w, out);
        }
    }

    fn move_by(&self, q: &mut [f64], delta: &[f64]) {
        let n = self.model.coordinates.len();
        crate::linalg::axpy(1.0, &delta[..n], &mut q[..n]);
        for (p, delta) in q[n..].chunks_exact_mut(4).zip(delta[n..].chunks_exact(3)) {
            turn::turn(p, delta);
        }
    }

    fn restore(&self, q: &mut [f64]) -> bool {
        let n = self.model.coordinates.len();
        q[n..].chunks_exact_mut(4).for_each(turn::restore);
        !self.model.free.is_empty()
    }

    // a ball has a constant mass matrix, and its spin is followed exactly
    fn tumbles(&self) -> bool {
        !self.model.free.is_empty() && self.space.moves()
    }

    fn latch(&self, s: &State, d: &mut Discrete, out: &mut Eval, keep: bool) {
        d.latches.resize(self.dims.latches, 0);
        if self.latches_nothing() {
            return;
        }
        let mut memory = self.borrow(out);
        let m = &mut *memory;
        self.fill_memory(s, d, m);

        // contact parameters
        d.contour.resize(self.ranges.len(), f64::NAN);
        for (c, work) in self.contours.iter().zip(&mut m.contours) {
            c.latch(&mut m.inputs, work, &self.ranges[c.first..], &mut d.latches, &mut d.contour);
        }
        // watched edges and flanks; their values do not depend on each other
        self.main.eval(&m.inputs, &mut m.main);
        let value = |r: u32| self.main.output(&m.main, r as usize);
        for watch in &self.watches {
            let latch = &mut d.latches[watch.latch];
            *latch = watch.fit(*latch, watch.corner.map(value), watch.middle.map(|p| p.map(value)), keep);
        }
        for x in &self.encounters {
            x.encounter.fit(x.latches_mut(&mut d.latches), &x.place(value), keep);
        }
        for f in &self.flanks {
            d.latches[f.latch] = f.fitting(d.latches[f.latch], value);
        }

        // switches, with edges and flanks in place
        self.settle(s, d, m, out, if keep { Before::Unknown } else { Before::None });
        out.scratch.put(memory);
    }

    fn follow(&self, s: &State, before: &Discrete, d: &mut Discrete, out: &mut Eval) -> bool {
        self.follow_jumps(s, before, d, out)
    }

    fn flip(&self, k: usize, d: &mut Discrete, eval: &Eval) {
        match &self.guards[k] {
            Guard::Sign { switch } => d.latches[*switch] = if d.latches[*switch] > 0 { -1 } else { 1 },
            Guard::Floor { switch, up } | Guard::Cell { switch, up, .. } => {
                d.latches[*switch] += if *up { 1 } else { -1 };
            }
            Guard::Contour { latch, end } => {
                d.latches[*latch] = if d.latches[*latch] == 0 { *end } else { 0 }
            }
            Guard::Watch { watch, up } => {
                let watch = &self.watches[*watch];
                let p = watch.corner.map(|r| self.output(eval, r));
                d.latches[watch.latch] = watch.next(d.latches[watch.latch], *up, p);
            }
            Guard::Feature { encounter, slot } => {
                let x = &self.encounters[*encounter];
                let place = x.place(|r| self.output(eval, r));
                x.encounter.flip(*slot, x.latches_mut(&mut d.latches), &place);
            }
            Guard::Flank { which, outer } => {
                let f = &self.flanks[*which];
                d.latches[f.latch] = f.next(d.latches[f.latch], *outer);
            }
        }
    }

    fn lies_flat(&self, s: &State, d: &Discrete, at: &mut Eval) -> Option<usize> {
        self.flat_rim(s, d, at)
    }

    fn undefined(&self, s: &State, d: &Discrete, eval: &Eval) -> Option<String> {
        self.first_undefined(s, d, eval)
    }

    fn is_silent(&self, k: usize) -> bool {
        self.guards[k].switch().is_some_and(|switch| self.silent[switch])
    }

    fn hides(&self, k: usize) -> bool {
        let crossings_to_come = |e: usize, slot: usize| slot == self.encounters[e].inputs.len();
        matches!(self.guards[k], Guard::Feature { encounter, slot } if crossings_to_come(encounter, slot))
    }

    fn memory_acts(&self) -> bool {
        self.memory_acts
    }

    fn presses(&self, contact: usize, d: &Discrete) -> Option<bool> {
        let flank = self.flanks.iter().find(|f| f.contact == contact && f.surface.is_some())?;
        Some(d.latches[flank.latch] == PRESSING)
    }

    fn guard_contact(&self, k: usize) -> Option<usize> {
        match self.guards.get(k)? {
            Guard::Contour { latch, .. } => {
                let solver =
                    self.contours.iter().find(|c| c.sigma.iter().any(|s| s.latch == Some(*latch)))?;
                Some(solver.contact)
            }
            Guard::Watch { watch, .. } => Some(self.watches[*watch].contact),
            Guard::Feature { encounter, slot } => Some(self.encounters[*encounter].contact_of(*slot)),
            Guard::Flank { which, .. } => Some(self.flanks[*which].contact),
            _ => None,
        }
    }

    fn restitution(&self, s: &State, d: &Discrete, out: &mut [Restitution]) {
        let mut scratch = self.scratch();
        self.fill(s, d, &mut scratch.inputs);
        self.restitution.eval(&scratch.inputs, &mut scratch.restitution);
        for (k, r) in out.iter_mut().enumerate() {
            let [normal, tangential, nu] =
                [0, 1, 2].map(|i| self.restitution.output(&scratch.restitution, 3 * k + i));
            *r = Restitution { normal, tangential, nu };
        }
        self.give_back(scratch);
    }

    fn restitution_tangent(
        &self,
        s: &State,
        d: &Discrete,
        along: &Along<'_>,
        out: &mut [Restitution],
    ) -> bool {
        self.restitution_rates(s, d, along, out);
        true
    }

    fn directions(&self) -> &[Direction] {
        &self.directions
    }

    fn coordinate_names(&self) -> Vec<String> {
        self.model.coordinates.iter().map(|c| c.name.clone()).collect()
    }

    fn event_names(&self) -> &[String] {
        &self.event_names
    }

    fn fire(
        &self,
        triggers: &[Trigger],
        at: Instant<'_>,
        memory: &mut [f64],
        fired: &mut Vec<usize>,
    ) -> bool {
        self.fire_events(triggers, at, memory, fired)
    }

    fn fire_tangent(
        &self,
        fired: &[usize],
        at: Instant<'_>,
        rate: InstantRate<'_>,
        memory: &mut [f64],
    ) -> bool {
        self.set_rates(fired, &at, &rate, memory);
        true
    }

    fn outputs_tangent(&self, at: Instant<'_>, rate: InstantRate<'_>, out: &mut [f64]) -> bool {
        self.output_rates(&at, &rate, out);
        true
    }

    fn output_names(&self) -> &[String] {
        &self.output_names
    }

    fn output_count(&self) -> usize {
        self.outputs.output_count()
    }

    fn outputs(&self, at: Instant<'_>, out: &mut [f64]) {
        self.write_outputs(at, out);
    }
}

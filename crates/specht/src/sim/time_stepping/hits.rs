//! Impacts of a run with fixed steps, and what the contacts of a step are to do (METH-TIMESTEP steps 1 and 3)
//!
//! *Impacts* happen between steps. Contacts that touch and approach faster than `v_rest` collide: the law of the run is applied to all
//! touching contacts at once, at their configuration ([`crate::impact::Impactor`], as in the event-driven scheme). Impacts that would begin within a
//! step divide it there, [`DIVISIONS`] at most; whatever else closes in the rest of the step waits for its end. An impact is never
//! spread over two steps. A gap that only seems to close, because its corner is about to pass to the next edge, is told by a look ahead.
//! With many contacts, or two tangents, it is left to the cone problem of the step wherever that is the same law: Moreau's, or no
//! rebound at all.
//!
//! *Steps.* At the midpoint, with edges, flanks and switches as they are there, a row with rate γ and offset w̄ has
//!
//! ```text
//! y = γ⁺ = w u⁺ + w̃ + ½Δ w̄        g⁻ = g_M − ½Δ γ_M(u⁻) + ⅛Δ² w̄
//! ```
//!
//! at the ends of the step, to second order: a guide that curves takes no energy.

use crate::impact::{ImpactStatus, Law};
use crate::linalg::axpy;
use crate::system::{Eval, Mode, Normal, Restitution, System};

use super::super::field::Field;
use super::super::trajectory::Status;
use super::Stepper;
use super::impulses::{FEW, patterns};
use super::tolerances::{RATE_NOISE, SAME_IMPACT, TOUCHES};

/// Parts of a step at impacts.
pub(super) const DIVISIONS: usize = 4;
impl<S: System + ?Sized> Stepper<'_, S> {
    /// The impact of the present instant, when there is one: the velocities jump.
    pub(super) fn strike(&mut self, delta: f64) -> Result<(), (Status, String)> {
        let w = &mut self.w;
        w.approach.copy_from_slice(&self.field.state.u);
        w.swallowed.clear();
        w.together = false;
        self.field.sys.restitution(&self.field.state, &self.field.discrete, &mut self.restitution);
        let (info, eval) = (self.field.info, &self.field.eval);
        for (i, c) in info.iter().enumerate() {
            w.closed[i] = true;
            let Normal::Unilateral { row } = c.normal else { continue };
            let rate = eval.rate(row, &self.field.state.u);
            w.rest[i] = rest(eval, row, &self.field.state.u, &w.smooth_forces.accel, w.press[i], delta);
            // what rested on another a step ago still does, whatever the last digits of its gap
            let rests = self.field.discrete.modes[i] != Mode::Open;
            let touches = w.due[i] || eval.gap[row] <= TOUCHES * self.field.watches.scales.gap[row];
            w.closed[i] = touches || rests;
            w.impacts[i] = touches && rate < -w.rest[i];
            if w.impacts[i] {
                self.slow[i] = false;
            } else if touches && rate < 0.0 && self.restitution[i].normal > 0.0 && !self.slow[i] {
                self.slow[i] = true;
                w.swallowed.push(i);
            }
        }
        w.due.fill(false);
        if !self.w.impacts.contains(&true) {
            return Ok(());
        }
        let mut ahead = SAME_IMPACT * delta;
        for (i, c) in info.iter().enumerate() {
            if let (true, Normal::Unilateral { row }) = (self.w.impacts[i], &c.normal) {
                let rate = self.field.eval.rate(*row, &self.w.approach);
                ahead = ahead.max(-3.0 * self.field.eval.gap[*row] / rate);
            }
        }
        self.look_ahead(ahead);
        let w = &mut self.w;
        for i in 0..info.len() {
            w.impacts[i] &= w.closes[i];
        }
        if !w.impacts.contains(&true) {
            return Ok(());
        }
        let eval = &self.field.eval;
        let e = &self.restitution;
        let rebounds = (0..info.len()).any(|i| w.closed[i] && (e[i].normal > 0.0 || e[i].tangential > 0.0));
        let cones =
            self.settings.impact == Law::Moreau || (!rebounds && self.settings.impact == Law::Poisson);
        let spatial = info.iter().any(|c| c.friction && c.tangent.len() > 1);
        w.together = cones && (spatial || patterns(info, &w.closed) > FEW);
        if w.together {
            for r in 0..w.rates.len() {
                w.rates[r] = eval.rate(r, &w.approach);
            }
            return Ok(());
        }
        self.apply_law(spatial)
    }

    /// Velocities after the law of the run, with the ledger.
    fn apply_law(&mut self, spatial: bool) -> Result<(), (Status, String)> {
        let (info, w, law) = (self.field.info, &mut self.w, self.settings.impact);
        let e = &self.restitution;
        let eval = &self.field.eval;
        let impact = match spatial {
            true => crate::sim::strike::impact(info, eval, &w.approach, law, &w.closed, e),
            false => self.impactor.solve(law, info, eval, &w.approach, &w.closed, e),
        };
        w.impulse.copy_from_slice(&impact.impulse);
        self.auditor.impact(impact.residual);
        let t = self.field.state.t;
        match impact.status {
            ImpactStatus::Solved => {}
            ImpactStatus::Several { count } => self.warn(format!(
                "the impact at t = {t} has {count} solutions; friction opposing the approach was taken"
            )),
            ImpactStatus::NoSolution => {
                return Err((Status::Inconsistent, "the impact law has no solution (locking)".to_string()));
            }
            ImpactStatus::Invalid => {
                return Err((Status::Failed, "the impact cannot be computed".to_string()));
            }
        }
        if impact.gains_energy {
            self.warn(format!("the impact at t = {t} gains {:.3e} J", impact.energy));
        }
        let w = &mut self.w;
        self.ledger.impact(info, &self.field.eval, &w.impulse, &w.approach, &impact.u, &mut w.work);
        self.auditor.created += w.work.iter().sum::<f64>().max(0.0);
        self.field.state.u.copy_from_slice(&impact.u);
        self.field.evaluate();
        Ok(())
    }

    /// Whether gaps that seem to close `ahead` of now do so with the edges that count there: `w.closes`. The field stays as it is.
    fn look_ahead(&mut self, ahead: f64) {
        let w = &mut self.w;
        w.mean.copy_from_slice(&self.field.state.u);
        axpy(0.5 * ahead, &w.smooth_forces.accel, &mut w.mean);
        for (i, c) in self.field.info.iter().enumerate() {
            let Normal::Unilateral { row } = c.normal else { continue };
            let eval = &self.field.eval;
            let rate = eval.rate(row, &w.mean) + 0.5 * ahead * eval.accel_offset[row];
            w.meets[i] = eval.gap[row] + ahead * rate;
        }
        w.here.clone_from(&self.field.state);
        w.latches.clone_from(&self.field.discrete.latches);
        self.move_by(ahead);
        self.field.state.t += ahead;
        self.field.forget();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        sys.latch(state, discrete, eval, true);
        self.field.evaluate();
        let w = &mut self.w;
        for (i, c) in self.field.info.iter().enumerate() {
            let Normal::Unilateral { row } = c.normal else { continue };
            w.closes[i] = w.meets[i] < 0.0 && self.field.eval.gap[row] < 0.5 * w.meets[i];
        }
        self.field.state.clone_from(&w.here);
        self.field.discrete.latches.clone_from(&w.latches);
        self.field.evaluate();
    }

    /// The first impact that begins before `next`: its time. Contacts that take part are marked as due.
    pub(super) fn first_impact(&mut self, next: f64) -> Option<f64> {
        let delta = next - self.field.state.t;
        let first = self.meetings(delta);
        if !(first < 1.0 - SAME_IMPACT) {
            return None;
        }
        self.look_ahead((first + 2.0 * SAME_IMPACT) * delta);
        self.meetings(delta);
        let w = &mut self.w;
        let real = (0..w.due.len()).filter(|&i| w.closes[i]).fold(f64::INFINITY, |m, i| m.min(w.meets[i]));
        for i in 0..w.due.len() {
            w.due[i] = w.closes[i] && w.meets[i] <= real + SAME_IMPACT;
        }
        (real < 1.0 - SAME_IMPACT).then_some(self.field.state.t + real * delta)
    }

    /// When gaps close under the smooth accelerations, in parts of the step: `w.meets`, and the first.
    fn meetings(&mut self, delta: f64) -> f64 {
        let (eval, w) = (&self.field.eval, &mut self.w);
        let mut first = f64::INFINITY;
        for (i, c) in self.field.info.iter().enumerate() {
            w.meets[i] = f64::INFINITY;
            let Normal::Unilateral { row } = c.normal else { continue };
            let (gap, rate) = (eval.gap[row], delta * eval.rate(row, &self.field.state.u));
            if rate >= -delta * w.rest[i] || gap <= TOUCHES * self.field.watches.scales.gap[row] {
                continue;
            }
            // gap + rate s + ½ bend s² = 0
            let bend = delta * delta * eval.accel(row, &w.smooth_forces.accel);
            let root = rate * rate - 2.0 * gap * bend;
            if root >= 0.0 {
                w.meets[i] = 2.0 * gap / (root.sqrt() - rate);
                first = first.min(w.meets[i]);
            }
        }
        first
    }

    /// Contacts that take part in the step, momentum before its impulses, and the offsets β of all rows.
    pub(super) fn pose(&mut self, delta: f64) {
        let (eval, w) = (&self.field.eval, &mut self.w);
        eval.mass.mul_vec(&w.before.u, &mut w.momentum);
        axpy(delta, &eval.h, &mut w.momentum);
        for r in 0..w.offset.len() {
            w.offset[r] = eval.rate_offset[r] + 0.5 * delta * eval.accel_offset[r];
        }
        for (i, c) in self.field.info.iter().enumerate() {
            w.active[i] = true;
            if matches!(c.normal, Normal::Given { row: Some(_) }) {
                w.active[i] = eval.load[i] > 0.0;
            }
            let Normal::Unilateral { row } = c.normal else { continue };
            // a leaning tangent (friction tensor) is judged by the plain slip, wherever the normal ends with a velocity that is not zero
            let lean = eval.lean.get(i).copied().unwrap_or(0.0);
            if w.together && w.impacts[i] {
                let Restitution { normal, tangential, .. } = self.restitution[i];
                w.offset[row] += normal * w.rates[row];
                for &t in &c.tangent {
                    let slip = w.rates[t] - lean * w.rates[row];
                    w.offset[t] += tangential * slip + lean * normal * w.rates[row];
                }
                continue;
            }
            // what collides waits for the end of the step
            let bend = 0.5 * delta * eval.accel_offset[row];
            let rate = eval.rate(row, &w.before.u) - bend;
            let calm = rate >= -w.rest[i];
            let gap = eval.gap[row] - 0.5 * delta * (rate + 0.5 * bend);
            w.active[i] = calm && gap.min(eval.gap[row]) <= TOUCHES * self.field.watches.scales.gap[row];
            if calm && !w.active[i] {
                // speculative: it may just touch within the step; its partner may be held while it falls, so the
                // whole acceleration of either counts
                let closing = (eval.rate(row, &w.free) + bend).min(rate - 0.5 * w.rest[i]);
                w.active[i] = gap + delta * closing <= 0.0;
                if w.active[i] {
                    w.offset[row] += gap.max(0.0) / delta;
                    c.tangent.iter().for_each(|&t| w.offset[t] += lean * gap.max(0.0) / delta);
                }
            }
        }
    }
}

/// v_rest of a contact: twice what the smooth accelerations and its own force do in a step, and rounding.
fn rest(eval: &Eval, row: usize, u: &[f64], accel: &[f64], press: f64, delta: f64) -> f64 {
    let (mut change, mut size) = (eval.accel_offset[row].abs(), eval.rate_offset[row].abs());
    for (k, w) in eval.w.row(row).iter().filter(|x| x.1 != 0.0) {
        let mass = eval.mass.diagonal(k);
        let own = if mass > 0.0 { press * w * w / mass } else { 0.0 };
        change += (w * accel[k]).abs() + own;
        size += (w * u[k]).abs();
    }
    2.0 * delta * change + RATE_NOISE * size
}

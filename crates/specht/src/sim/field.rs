//! The smooth motion between events as a first-order system `ẋ = f(t, x)`, x = (q, u, z, integrals of the ledger), with
//! frozen modes, signs and latches.

use crate::contact::{Fixed, Forces, Regularity, Small};
use crate::linalg::{Mat, axpy, copy, max_abs};
use crate::ode::{INSIDE, Rhs, STAGES, nudge};
use crate::system::{ContactInfo, Dims, Discrete, Eval, Mode, State, System};

use super::chart::Chart;
use super::ledger;
use super::slopes::Slopes;
use super::space::{FOLLOWED, ROUNDS};
use super::tolerances::IN_THE_SMALL;
use super::watch::{Scales, Watches};

/// The stage at the end of a step.
const LAST: usize = STAGES - 1;

/// Right-hand side, with everything it computed last.
pub(crate) struct Field<'a, S: System + ?Sized> {
    pub sys: &'a S,
    pub info: &'a [ContactInfo],
    pub dims: Dims,
    pub state: State,
    pub discrete: Discrete,
    /// Whether some contact rubs in two directions.
    pub spatial: bool,
    /// Direction of slip of a contact that is slow, as it was decided; see [`super::space`].
    pub frozen: Vec<Option<[f64; 3]>>,
    /// Frozen sign of λ_N of bilateral contacts (of the load of given ones).
    pub signs: Vec<f64>,
    pub eval: Eval,
    pub fixed: Fixed,
    pub forces: Forces,
    pub regularity: Regularity,
    /// For which state and modes `eval` is complete, when it is.
    evaluated: State,
    under: Discrete,
    complete: bool,
    /// Smallest a / mobility of the sliding contacts (PG-5.3-ROD), when watched.
    pub singularity: f64,
    pub watches: Watches,
    /// The branch of a linkage near a change point.
    pub chart: Chart,
    pub evaluations: u64,
    /// Time over which forces are differenced for laws that use the rate of loading; follows the step.
    pub moment: f64,
    pub(super) uses_load_rate: bool,
    pub(super) uses_heat: bool,
    /// Memory for exact derivatives, made when the implicit method first asks.
    pub(super) slopes: Option<Box<Slopes>>,
    here: State,
    flow: [Vec<f64>; 3],
    rates: Vec<f64>,
    trial: Forces,
    guards: Vec<f64>,
    /// Speeds that rounding makes, and the forces before it.
    rest: [Vec<f64>; 2],
    /// Normal forces of the round before.
    loads: Vec<f64>,
}

impl<'a, S: System + ?Sized> Field<'a, S> {
    pub(crate) fn new(sys: &'a S, state: State) -> Self {
        let dims = sys.dims();
        let mut forces = Forces::default();
        forces.reset(dims.u, dims.rows, dims.contacts);
        let discrete = Discrete::new(&dims);
        let gap = (0..dims.rows).map(|r| sys.gap_scale(r).max(f64::MIN_POSITIVE)).collect();
        let watches = Watches::new(Scales { gap, ..Default::default() });
        Field {
            sys,
            info: sys.contacts(),
            dims,
            state,
            discrete,
            spatial: super::space::is_spatial(sys.contacts()),
            frozen: vec![None; dims.contacts],
            signs: vec![1.0; dims.contacts],
            eval: sys.memory(),
            fixed: Fixed::default(),
            forces,
            regularity: Regularity { solved: true, rcond: 1.0, sign: 1.0, redundant: 0, inconsistency: 0.0 },
            evaluated: State::default(),
            under: Discrete::default(),
            complete: false,
            singularity: 1.0,
            watches,
            chart: Chart::default(),
            evaluations: 0,
            moment: 0.0,
            uses_load_rate: sys.uses_load_rate(),
            uses_heat: sys.uses_heat(),
            slopes: None,
            here: State::default(),
            flow: [vec![0.0; dims.q], vec![0.0; dims.u], vec![0.0; dims.z]],
            rates: vec![0.0; dims.contacts],
            trial: Forces::default(),
            guards: Vec::new(),
            rest: Default::default(),
            loads: Vec::new(),
        }
    }

    /// Watches everything that may happen, no contact being fixed.
    pub(crate) fn watch_all(&mut self) {
        let Field { watches, info, discrete, frozen, sys, dims, .. } = self;
        watches.rebuild(info, discrete, &[], frozen, sys.directions(), dims.guards);
    }

    /// Number of components of x.
    pub(crate) fn size(&self) -> usize {
        self.dims.q + self.dims.u + self.dims.z + ledger::integrals(self.dims.contacts)
    }

    /// First component of the ledger.
    pub(crate) fn tail(&self) -> usize {
        self.dims.q + self.dims.u + self.dims.z
    }

    /// x → state.
    pub(crate) fn unpack(&mut self, t: f64, x: &[f64]) {
        let (q, u, z) = (self.dims.q, self.dims.u, self.dims.z);
        self.state.t = t;
        copy(&x[..q], &mut self.state.q);
        copy(&x[q..q + u], &mut self.state.u);
        copy(&x[q + u..q + u + z], &mut self.state.z);
    }

    /// state → x (the ledger stays).
    pub(crate) fn pack(&self, x: &mut [f64]) {
        let (q, u, z) = (self.dims.q, self.dims.u, self.dims.z);
        x[..q].copy_from_slice(&self.state.q);
        x[q..q + u].copy_from_slice(&self.state.u);
        x[q + u..q + u + z].copy_from_slice(&self.state.z);
    }

    /// Contact parameters of curves are searched from here on from where they are now.
    pub(crate) fn keep_contours(&mut self) {
        self.discrete.contour.clone_from(&self.eval.contour);
    }

    /// Evaluate the system at the present state; nothing to do where that has been done.
    pub(crate) fn evaluate(&mut self) {
        let known = (&self.evaluated, &self.under);
        if self.complete && self.sys.evaluates_alike(known, (&self.state, &self.discrete)) {
            return;
        }
        self.evaluations += 1;
        self.sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        self.evaluated.clone_from(&self.state);
        let now = (&self.evaluated, &self.discrete);
        if !self.sys.evaluates_alike((&self.evaluated, &self.under), now) {
            self.under.clone_from(&self.discrete);
        }
        self.complete = true;
    }

    /// Latches were fitted with the memory of `eval`: where there are any, what it holds must be made again.
    pub(crate) fn forget(&mut self) {
        self.complete &= self.dims.latches == 0 && self.discrete.contour.is_empty();
    }

    /// The same without the energies.
    pub(crate) fn evaluate_rates(&mut self) {
        self.complete = false;
        self.evaluations += 1;
        self.sys.evaluate_rates(&self.state, &self.discrete, &mut self.eval);
    }

    /// The name of what loses its value when the present motion goes on for this time.
    pub(crate) fn lost_ahead(&mut self, time: f64) -> Option<String> {
        if max_abs(&self.state.u) == 0.0 {
            return None;
        }
        let here = self.state.clone();
        let found = [1e-6, 1e-4, 1e-2, 1.0].into_iter().find_map(|part| {
            let way: Vec<f64> = here.u.iter().map(|u| part * time * u).collect();
            self.state.q.copy_from_slice(&here.q);
            self.sys.move_by(&mut self.state.q, &way);
            self.evaluate();
            self.undefined()
        });
        self.state = here;
        self.evaluate();
        found
    }

    /// A closed contact that has lost its one point, see [`System::lies_flat`].
    pub(crate) fn lies_flat(&mut self) -> Option<usize> {
        self.sys.lies_flat(&self.state, &self.discrete, &mut self.eval)
    }

    /// The name of what has no finite value at the present state, if something has none.
    pub(crate) fn undefined(&self) -> Option<String> {
        let (e, s) = (&self.eval, &self.state);
        let numbers = [&e.gap, &e.rate_offset, &e.accel_offset, &e.load, &e.h, &e.z_rate, &s.q, &s.u, &s.z];
        let defined =
            numbers.into_iter().flatten().all(|v| v.is_finite()) && e.crossings.iter().all(|v| !v.is_nan());
        // friction counts where it acts
        let closed = |i: &usize| self.discrete.modes[*i].is_closed();
        let rough = (0..self.info.len()).filter(closed).find(|&i| (e.mu[i] + e.mu_static[i]).is_nan());
        if let Some(i) = rough.filter(|_| defined) {
            return Some(format!("the friction of contact `{}`", self.info[i].name));
        }
        if defined {
            return None;
        }
        let name = self.sys.undefined(s, &self.discrete, e);
        Some(name.unwrap_or_else(|| "a formula of the model".to_string()))
    }

    /// Forces and accelerations with the frozen modes; false when there are none.
    pub(crate) fn solve(&mut self) -> bool {
        self.regularity = self.balance();
        if self.watches.singular {
            self.singularity = self.nearness();
        }
        self.regularity.solved
    }

    /// Forces that hold the frozen modes. Where friction depends on the direction by a section that follows the normal force, both in rounds.
    fn balance(&mut self) -> Regularity {
        if !self.spatial {
            let Field { fixed, info, eval, discrete, signs, forces, .. } = self;
            return fixed.solve(info, eval, &discrete.modes, signs, forces);
        }
        let Field { info, discrete, .. } = &*self;
        let follows = |(i, m): (usize, &Mode)| *m == Mode::Slip && self.eval.section(i).follows_normal();
        let rounds = if discrete.modes.iter().enumerate().any(follows) { ROUNDS } else { 1 };
        let mut found = Regularity { solved: false, rcond: 0.0, sign: 0.0, redundant: 0, inconsistency: 0.0 };
        let contacts = info.len();
        for round in 0..rounds {
            self.aim();
            if rounds > 1 {
                self.loads.clone_from(&self.forces.normal);
            }
            let Field { fixed, info, eval, discrete, signs, forces, .. } = self;
            found = fixed.solve(info, eval, &discrete.modes, signs, forces);
            if rounds == 1 || !found.solved {
                return found;
            }
            let size = max_abs(&self.forces.normal);
            let changed =
                (0..contacts).any(|i| (self.forces.normal[i] - self.loads[i]).abs() > FOLLOWED * size);
            if round > 0 && !changed {
                return found;
            }
        }
        Regularity { solved: false, ..found }
    }

    /// Smallest ratio a / mobility over the closed sliding contacts: the border of a paradox is where it vanishes.
    pub(crate) fn nearness(&mut self) -> f64 {
        self.fixed.nearness(self.info, &self.discrete.modes)
    }

    /// Evaluate and solve at `(t, x)`.
    pub(crate) fn at(&mut self, t: f64, x: &[f64]) -> bool {
        self.stand(t, x, true)
    }

    /// The same without the energies.
    pub(crate) fn within(&mut self, t: f64, x: &[f64]) -> bool {
        self.stand(t, x, false)
    }

    /// The same where nobody looks at the contacts, or at their gaps alone.
    fn aside(&mut self, t: f64, x: &[f64], gaps: bool) -> bool {
        let Field { fixed, eval, discrete, signs, .. } = &*self;
        if self.uses_heat || self.chart.active || !fixed.is_free(eval, &discrete.modes, signs) {
            return self.within(t, x);
        }
        self.unpack(t, x);
        self.complete = false;
        self.evaluations += 1;
        match gaps {
            true => self.sys.evaluate_gaps(&self.state, &self.discrete, &mut self.eval),
            false => self.sys.evaluate_free(&self.state, &self.discrete, &mut self.eval),
        }
        // the measures of the forces stay what they are: nothing is held
        self.fixed.fall(self.info, &self.eval, &mut self.forces)
    }

    fn stand(&mut self, t: f64, x: &[f64], energies: bool) -> bool {
        self.unpack(t, x);
        if self.chart.active {
            return self.solve_on_branch();
        }
        match energies {
            true => self.evaluate(),
            false => {
                self.complete = false;
                self.evaluations += 1;
                self.sys.evaluate_stage(&self.state, &self.discrete, &mut self.eval);
            }
        }
        self.solve() && self.load_rates() && self.excess()
    }

    /// Rates of loading of sticking contacts at the present state, which is solved: the derivative of |λ_T| along the flow, by
    /// central differences over `moment`. Modes, and with them the flow, do not depend on the result. False when there
    /// are no forces nearby.
    #[inline]
    pub(crate) fn load_rates(&mut self) -> bool {
        !self.uses_load_rate || !self.discrete.modes.contains(&Mode::Stick) || self.difference_loads()
    }

    fn difference_loads(&mut self) -> bool {
        self.here.clone_from(&self.state);
        let [dq, du, dz] = &mut self.flow;
        self.sys.q_rate(&self.state, dq);
        du.copy_from_slice(&self.forces.accel);
        dz.copy_from_slice(&self.eval.z_rate);
        let delta = self.moment;
        let mut found = true;
        for side in [1.0, -1.0] {
            self.state.t = self.here.t + side * delta;
            axpy(side * delta, &self.flow[0], &mut self.state.q);
            axpy(side * delta, &self.flow[1], &mut self.state.u);
            axpy(side * delta, &self.flow[2], &mut self.state.z);
            self.evaluate();
            found &= self.solve();
            for (rate, force) in self.rates.iter_mut().zip(&self.forces.tangential) {
                *rate = if side > 0.0 { *force } else { (*rate - force) / (2.0 * delta) };
            }
            self.state.clone_from(&self.here);
        }
        self.evaluate();
        found &= self.solve();
        for i in 0..self.rates.len() {
            let force = self.forces.tangential[i];
            let grows = if force == 0.0 { self.rates[i].abs() } else { force.signum() * self.rates[i] };
            self.discrete.load_rate[i] =
                if self.discrete.modes[i] == Mode::Stick { grows.max(0.0) } else { 0.0 };
        }
        self.evaluate();
        found && self.solve()
    }

    /// [`Forces::excess`] at the present state, which is solved; of contacts that slip in the small from the load a hundredth of a
    /// `moment` later: less than the moment of a decision, which must see what comes after.
    #[inline]
    fn excess(&mut self) -> bool {
        self.fixed.small().is_empty() || self.small_excess()
    }

    fn small_excess(&mut self) -> bool {
        self.rates.fill(0.0);
        self.fixed.openings(self.info, &self.eval, &mut self.rates);
        let mut solved = true;
        if self.fixed.small().iter().any(|s| matches!(s, Small::Slips { .. })) {
            self.here.clone_from(&self.state);
            self.sys.q_rate(&self.state, &mut self.flow[0]);
            let delta = IN_THE_SMALL * self.moment;
            axpy(delta, &self.flow[0], &mut self.state.q);
            axpy(delta, &self.forces.accel, &mut self.state.u);
            axpy(delta, &self.eval.z_rate, &mut self.state.z);
            self.state.t += delta;
            self.evaluate();
            let Field { fixed, info, eval, discrete, signs, forces, trial, rates, .. } = self;
            fixed.overload(info, eval, &discrete.modes, signs, forces, trial, rates);
            self.state.clone_from(&self.here);
            self.evaluate();
            solved = self.solve();
        }
        self.forces.excess.copy_from_slice(&self.rates);
        solved
    }

    /// The velocities that rounding of the present forces, those of contacts too, gives in the time `step`.
    fn rounded_rest(&self, step: f64, speeds: &mut Vec<f64>) {
        speeds.clear();
        speeds.extend(self.eval.h.iter().map(|h| h.abs()));
        for (r, l) in self.forces.lambda.iter().enumerate().filter(|(_, l)| **l != 0.0) {
            self.eval.w.row(r).iter().for_each(|(k, w)| speeds[k] += (l * w).abs());
        }
        for (i, v) in speeds.iter_mut().enumerate() {
            let speed = f64::EPSILON * step * *v / self.eval.mass.diagonal(i);
            *v = if speed.is_finite() { speed } else { 0.0 };
        }
    }

    /// What rounding of the present state, which is evaluated, makes of the guards: their change at neighbouring numbers, and at the
    /// velocities and ways that rounding of the forces, those of contacts too, makes of rest in the time `step`. A guard that is a
    /// difference of large or of equal terms (a flank of parts that move together) has no size of its own.
    pub(crate) fn measure_guards(&mut self, step: f64) {
        if self.eval.guards.is_empty() {
            return;
        }
        self.here.clone_from(&self.state);
        self.guards.clone_from(&self.eval.guards);
        let [mut speeds, mut loads] = std::mem::take(&mut self.rest);
        self.rounded_rest(step, &mut speeds);
        loads.clone_from(&self.eval.h);
        for sample in 0..4 {
            let State { t, q, u, z, .. } = &mut self.state;
            *t *= 1.0 + nudge(0, sample);
            for (i, x) in q.iter_mut().chain(&mut *u).chain(z).enumerate() {
                *x *= 1.0 + nudge(i + 1, sample);
            }
            if sample > 1 {
                // coordinates that are not integrals of the velocities, one each, keep their places
                let ways = if q.len() == u.len() { step } else { 0.0 };
                for (i, (u, v)) in u.iter_mut().zip(&speeds).enumerate() {
                    *u += v * nudge(i, sample).signum();
                    if let Some(q) = q.get_mut(i) {
                        *q += ways * v * nudge(i, sample).signum();
                    }
                }
            }
            self.evaluate();
            let noise = self.watches.scales.guard_rounding.iter_mut();
            for ((noise, new), old) in noise.zip(&self.eval.guards).zip(&self.guards) {
                let change = (new - old).abs();
                if change.is_finite() {
                    *noise = noise.max(change);
                }
            }
            for (i, (new, old)) in self.eval.h.iter().zip(&loads).enumerate() {
                let speed = step * (new - old).abs() / self.eval.mass.diagonal(i);
                if speed.is_finite() {
                    speeds[i] = speed.max(speeds[i]);
                }
            }
            self.state.clone_from(&self.here);
        }
        self.rest = [speeds, loads];
        self.evaluate();
    }

    /// Rates of the states when the contacts do this work on the motion, per contact and in the unit time.
    fn heat(&mut self, work: &[f64]) {
        self.discrete.heat.iter_mut().zip(work).for_each(|(heat, work)| *heat = -work);
        self.evaluate_rates();
    }

    /// The states take up what the contacts took from the motion at one instant: rates are linear in it.
    pub(crate) fn heat_at_once(&mut self, work: &[f64]) {
        if !self.uses_heat || work.iter().all(|w| *w == 0.0) {
            return;
        }
        self.discrete.heat.fill(0.0);
        self.evaluate_rates();
        axpy(-1.0, &self.eval.z_rate, &mut self.state.z);
        self.heat(work);
        axpy(1.0, &self.eval.z_rate, &mut self.state.z);
        self.discrete.heat.fill(0.0);
    }

    /// Gap of contact `i` (a pin: its distance).
    pub(crate) fn gap(&self, i: usize) -> f64 {
        self.info[i].gap(&self.eval.gap)
    }

    /// Slip of contact `i` along its first tangent.
    pub(crate) fn slip(&self, i: usize) -> f64 {
        self.eval.slip(&self.info[i], i, &self.state.u)
    }
}

impl<S: System + ?Sized> Rhs for Field<'_, S> {
    fn rates(&mut self, stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        // energies are read at the ends of a step alone
        let found = match stage {
            INSIDE => self.aside(t, x, false),
            0 | LAST => self.at(t, x),
            _ if self.watches.gaps_alone => self.aside(t, x, true),
            _ => self.within(t, x),
        };
        if !found {
            return false;
        }
        let (q, u, z) = (self.dims.q, self.dims.u, self.dims.z);
        self.sys.q_rate(&self.state, &mut dx[..q]);
        copy(&self.forces.accel, &mut dx[q..q + u]);
        copy(&self.eval.z_rate, &mut dx[q + u..q + u + z]);
        ledger::powers(self.info, &self.eval, &self.forces, &self.state.u, &mut dx[q + u + z..]);
        if self.uses_heat {
            self.heat(&dx[q + u + z..]);
            dx[q + u..q + u + z].copy_from_slice(&self.eval.z_rate);
        }
        let Field { watches, info, eval, forces, signs, state, singularity, chart, .. } = self;
        let signs = if chart.active { &chart.signs } else { signs };
        watches.sample(stage, info, eval, forces, signs, &state.u, *singularity);
        true
    }

    fn slopes(&mut self, t: f64, x: &[f64], out: &mut Mat) -> bool {
        self.exact_slopes(t, x, out)
    }
}

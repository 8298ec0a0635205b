//! Switches and gaps at an instant: guards that flip, contacts that arrive together, edges that hand over to each other.

use crate::linalg::axpy;
use crate::system::{Discrete, Mode, Normal, System};

use super::event_driven::Run;
use super::field::Field;
use super::instant::{AGAIN, Moment, TOUCHING};
use super::tolerances::{AHEAD, EXACT, GAP_ZERO, ON_BORDER};
use super::watch::{Hold, What, rate_size};

impl<S: System + ?Sized> Run<'_, S> {
    /// Where one contact arrives, all whose gap is zero take part, also those that have just opened: their impacts would
    /// otherwise answer each other at the same instant without end.
    pub(super) fn join_touching(&mut self) {
        let Run { field, sets, .. } = self;
        let open = |i: usize| field.discrete.modes[i] == Mode::Open;
        if !(0..field.dims.contacts).any(|i| sets.closed[i] && open(i)) {
            return;
        }
        let zero = TOUCHING * self.settings.resolution * self.length;
        for (i, c) in field.info.iter().enumerate() {
            if let Normal::Unilateral { row } = c.normal {
                sets.closed[i] |= field.eval.gap[row] <= zero;
            }
        }
    }

    /// Gaps that a guard made jump: a chain of edges that no longer faces a body lets go, and what takes over at the same place
    /// holds (a body that passes from an edge to a corner). `before`: the gaps before the guards.
    pub(super) fn hand_over(&mut self, before: &[f64]) {
        let Run { field, sets, .. } = self;
        let gap = |i: usize| match field.info[i].normal {
            Normal::Unilateral { row } => {
                let (gap, zero) = (field.eval.gap[row], GAP_ZERO * field.watches.scales.gap[row]);
                Some((gap - before[row], gap, zero))
            }
            _ => None,
        };
        let contacts = || (0..field.dims.contacts).filter_map(|i| gap(i).map(|g| (i, g)));
        let mut left = false;
        for (i, (jump, gap, zero)) in contacts() {
            if jump.abs() > zero {
                left |= sets.closed[i];
                sets.closed[i] = gap <= zero;
            }
        }
        for (i, (_, gap, zero)) in contacts() {
            sets.closed[i] |= left && gap.abs() <= zero;
        }
    }

    /// The guard that is the load of the elastic contact `i`, if it has not fallen by itself: both flanks of a tooth change at zero load.
    pub(super) fn twin(&self, i: usize) -> Option<usize> {
        let Field { info, eval, forces, signs, watches, sys, .. } = &self.field;
        let found =
            |g: usize| self.locator.found.watches.iter().any(|&k| watches.list[k].what == What::Guard(g));
        let load = signs[i] * forces.normal[i];
        let mut own = (0..eval.guards.len()).filter(|&g| sys.guard_contact(g) == Some(i) && !found(g));
        own.find(|&g| info[i].is_given() && (eval.guards[g] - load).abs() <= 1e-6 * load.abs())
    }

    /// Rates of all directions of closed contacts, with their sizes.
    pub(super) fn closed_rates(&self) -> Vec<(f64, f64)> {
        let (eval, u) = (&self.field.eval, &self.field.state.u);
        let mut out = Vec::new();
        for (c, _) in self.field.info.iter().zip(&self.field.discrete.modes).filter(|(_, m)| m.is_closed()) {
            let rows = c.normal_row().into_iter().chain(c.tangent.iter().copied());
            out.extend(rows.map(|r| (eval.rate(r, u), rate_size(eval, r, u))));
        }
        out
    }

    /// Change to the neighbouring branch of guard `g`.
    pub(super) fn flip(&mut self, m: &mut Moment, g: usize) {
        let t = self.time();
        let field = &mut self.field;
        field.sys.flip(g, &mut field.discrete, &field.eval);
        m.guards += usize::from(!field.sys.is_silent(g));
        m.flipped.push(g);
        if let Some(i) = field.sys.guard_contact(g)
            && !m.switched.contains(&i)
        {
            m.switched.push(i);
        }
        let span = self.settings.until.abs();
        let watches = &mut self.field.watches;
        let size = watches.scales.guard[g];
        if watches.holds[g].flip(t, span, Hold::FLIPS, size) {
            self.warn_once("a switch chatters".to_string(), t);
        }
    }

    /// Say once that something chatters.
    pub(super) fn warn_once(&mut self, what: String, t: f64) {
        if !self.out.warnings.iter().any(|w| w.starts_with(&what)) {
            self.out.warnings.push(format!(
                "{what} from t = {t:.9} on: both branches lead back to its border, which is followed approximately"
            ));
        }
    }

    /// Guards within rounding of zero that fall belong to this instant too (a corner that reaches an edge and its end at
    /// once): the branch that holds afterwards decides whether contacts approach.
    pub(super) fn flip_along(&mut self, m: &mut Moment) {
        let guards = self.field.dims.guards;
        if guards == 0 || !self.h.is_finite() {
            return;
        }
        let field = &mut self.field;
        if m.guards > 0 {
            field.evaluate();
        }
        let now = field.eval.guards.clone();
        let near = |k: usize, v: f64| v.abs() <= ON_BORDER * field.watches.scales.guard[k];
        if !(0..guards).any(|k| near(k, now[k]) && !m.flipped.contains(&k)) {
            return;
        }
        let here = field.state.clone();
        let delta = AHEAD * self.h;
        let mut q_step = vec![0.0; field.dims.q];
        field.sys.q_rate(&here, &mut q_step);
        axpy(delta, &q_step, &mut field.state.q);
        axpy(delta, &field.forces.accel, &mut field.state.u);
        axpy(delta, &field.eval.z_rate, &mut field.state.z);
        field.state.t += delta;
        field.evaluate();
        let along: Vec<usize> = (0..guards)
            .filter(|&k| {
                let later = field.eval.guards[k];
                !m.flipped.contains(&k)
                    && now[k].abs() <= ON_BORDER * field.watches.scales.guard[k]
                    && later < now[k]
                    && later < -ON_BORDER * field.watches.scales.guard[k]
            })
            .collect();
        field.state = here;
        field.evaluate();
        let before = field.discrete.clone();
        for k in along {
            self.flip(m, k);
        }
        self.follow(&before);
    }

    /// Latches or modes changed: the switches whose guards jumped with them change too. True when there are such.
    pub(super) fn follow(&mut self, before: &Discrete) -> bool {
        if before.is_same(&self.field.discrete) {
            return false;
        }
        self.field.forget();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        sys.follow(state, before, discrete, eval)
    }

    /// Gaps of all closed contacts to zero, as exactly as rounding allows: what is left would be an error of the next flight.
    pub(super) fn touch_down(&mut self) {
        let Run { field, projector, sets, tools, .. } = self;
        let arrived = |i: usize| sets.closed[i] && field.info[i].is_unilateral();
        if !(0..field.dims.contacts).any(|i| arrived(i) && field.discrete.modes[i] == Mode::Open) {
            return;
        }
        tools.modes.clone_from(&field.discrete.modes);
        for i in 0..field.info.len() {
            if field.info[i].is_unilateral() {
                field.discrete.modes[i] = if sets.closed[i] { Mode::Closed } else { Mode::Open };
            }
        }
        projector.positions(field, EXACT);
        // an approach of rounding that no force holds would arrive again at once, for ever
        if self.crowd.1 > AGAIN {
            for i in 0..field.info.len() {
                if arrived(i) && !sets.is_slow(field, i) {
                    field.discrete.modes[i] = Mode::Open;
                }
            }
            projector.velocities(field);
        }
        field.discrete.modes.clone_from(&tools.modes);
        field.evaluate();
    }
}

//! When a run follows the branch of a linkage through a change point ([`chart`]), and when it does not.
//!
//! A step that fails asks whether ρ, followed along the velocities, vanishes within reach: then the chart becomes active with
//! its base at the beginning of the step, until the change point lies well behind. A step in which ρ vanishes is taken only
//! when the loops close at the change point to within rounding (10⁻¹² of the length scale, or the square of the
//! tolerance): of a linkage that misses it by more, the branches do not cross, and the motion turns round a narrow bend, which is
//! left to the step control. Where several loops lose rank at once the run ends, with a message.
//!
//! Sliding bilateral contacts whose row vanishes: with `g̈ = a λ_N + b`, a ~ ρ (ρ + s c) and b ~ ρ, the friction (sign s of
//! λ_N) keeps λ_N finite, `λ_N ~ 1/(ρ + s c)`. Beyond ρ = 0 a > 0 holds for the other sign of λ_N only: of slightly
//! compliant contacts λ_N changes its sign at the change point, and its size, and with it the friction, is continuous.
//!
//! [`chart`]: super::chart

use crate::linalg::{axpy, max_abs};
use crate::ode::Trial;
use crate::root;
use crate::system::{Normal, System};

use super::chart::Chart;
use super::crossing;
use super::event_driven::{End, Run};
use super::field::Field;
use super::instant::Moment;
use super::start::StartError;
use super::trajectory::Status;
use super::watch::What;

/// A change point is looked for within so many lengths of the step that failed.
const REACH: f64 = 4.0;
/// Loops that close to within this part of the length scale at the change point close.
const CLOSED: f64 = 1e-12;

/// Part of a step before a change point that cannot be passed at which the run ends.
const NEARLY: f64 = 5e-2;

/// Part of a step before a change point within which rounding decides where the motion goes.
const LOST: f64 = 1e-5;

/// Constraints weaker than this, relative to their best, are near a change point (the square of the distance).
const NEAR: f64 = 1e-6;
/// Distance at which a start is compared with its surroundings, relative to the length scale.
const AHEAD: f64 = 1e-2;

/// The passage under way, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passage {
    /// Length of the steps away from change points: the longest, forgotten slowly.
    pub natural: f64,
    /// The chart is left at this time at the latest.
    expires: f64,
    /// No chart before this time: the branches do not cross here.
    barred: Option<f64>,
    /// The run starts at rest at a change point.
    resting: bool,
    /// The constraints lose rank here and there is no branch to follow.
    pub lost: bool,
    /// When several loops will lose rank at once: the run goes up to there.
    ahead: Option<f64>,
    /// The loops close at the change point.
    closes: bool,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// A step of length `h` failed, or the steps become shorter. True when a change point lies ahead and the branch is followed from now on.
    pub(super) fn enter_branch(&mut self, h: f64) -> bool {
        let t = self.ode.time();
        if !self.field.info.iter().any(|c| c.is_bilateral()) {
            return false;
        }
        let known = self.field.chart.active || self.passage.ahead.is_some();
        if known || self.passage.barred.is_some_and(|end| t < end) {
            return false;
        }
        let mut chart = std::mem::take(&mut self.field.chart);
        self.field.unpack(t, self.ode.state());
        self.field.evaluate();
        if chart.set_base(&self.field, &mut self.projector) {
            let distance = time_ahead(&mut self.field, &mut chart, 1e-4 * h);
            let natural = self.passage.natural.max(h);
            if distance > 0.0 && distance < REACH * natural {
                let crossing = crossing::find(&mut self.field, &chart.rows, &chart.weight, distance);
                let bound = (CLOSED * self.length).max(self.rounding());
                match crossing {
                    // two loops at once: more than two branches may cross
                    Some(crossing) if crossing.misfit <= bound && crossing.lost > 1 => {
                        self.passage.ahead = (crossing.distance < natural).then_some(t + crossing.distance);
                    }
                    Some(crossing) if crossing.misfit <= bound => {
                        chart.activate(natural, crossing.distance);
                        self.passage =
                            Passage { expires: t + 10.0 * distance, natural, ..Default::default() };
                    }
                    Some(_) => self.passage.barred = Some(t + 0.5 * distance),
                    // not found from so far, or not there; from so near the motion would follow rounding
                    None => self.passage.lost = distance < LOST * natural,
                }
            }
        }
        self.field.chart = chart;
        self.field.unpack(t, self.ode.state());
        self.field.evaluate();
        self.field.chart.active
    }

    /// A new segment: velocities may have changed.
    pub(super) fn look_anew(&mut self) {
        self.passage.ahead = None;
    }

    /// The longest step from `t` towards a change point that cannot be passed; near to it the run is lost.
    pub(super) fn halfway(&mut self, t: f64) -> f64 {
        let Some(end) = self.passage.ahead else { return f64::INFINITY };
        self.passage.lost = end - t <= NEARLY * self.passage.natural;
        0.5 * (end - t)
    }

    /// A run that starts at a change point follows the branch of its velocities. The base lies a little ahead.
    pub(super) fn start_on_branch(&mut self) -> Result<(), StartError> {
        let mut rows = Vec::new();
        let Run { field, projector, .. } = self;
        projector.independent(field, &mut rows);
        let (rank, all) = (rows.len(), projector.count());
        if rank == all {
            return Ok(());
        }
        // dependent rows: always, or here only?
        let here = field.state.clone();
        let moving = max_abs(&here.u) > 0.0;
        let mut rate = here.u.clone();
        if !moving {
            // any direction that is no symmetry
            rate.iter_mut().enumerate().for_each(|(i, r)| *r = (1.0 + i as f64).cos());
        }
        let w = &field.eval.w;
        let speed = |r: usize| w.row(r).terms(&rate);
        let fastest = (0..w.rows()).map(speed).fold(0.0, f64::max) / self.length;
        let ahead = AHEAD / if fastest > 0.0 { fastest } else { max_abs(&rate) };
        field.state.u.copy_from_slice(&rate);
        let mut shift = vec![0.0; field.dims.q];
        field.sys.q_rate(&field.state, &mut shift);
        field.state.u.copy_from_slice(&here.u);
        axpy(ahead, &shift, &mut field.state.q);
        field.state.t += if moving { ahead } else { 0.0 };
        field.evaluate();
        let met = projector.positions(field, 1e-9);
        projector.independent(field, &mut rows);
        let mut chart = std::mem::take(&mut field.chart);
        let changes = met && rows.len() > rank && chart.set_base(field, projector);
        field.state = here;
        field.evaluate();
        field.chart = chart;
        if !changes {
            return Ok(());
        }
        if !moving {
            self.passage.resting = true;
            return Ok(());
        }
        let natural = 20.0 * ahead;
        let t = self.field.state.t;
        self.passage = Passage { expires: t + natural, natural, closes: true, ..Default::default() };
        self.field.chart.activate(natural, ahead);
        if !self.field.solve_on_branch() {
            let text = format!(
                "the start is a change point: {}, and the initial velocities belong to no branch; start a little beside it, or with the velocities of a branch",
                self.linkage()
            );
            return Err(StartError::Unsolvable(text));
        }
        Ok(())
    }

    /// The end of a run that starts at rest at a change point and does not stay there.
    pub(super) fn rests_undecided(&self) -> Option<End> {
        let moves = self.passage.resting && max_abs(&self.field.forces.accel) > 0.0;
        moves.then(|| (Status::Indeterminate, self.undecided()))
    }

    pub(super) fn leave_branch(&mut self, bar: bool) {
        self.field.chart.active = false;
        if bar {
            self.passage.barred = Some(self.ode.time() + 3.0 * self.field.chart.distance);
        }
    }

    /// The step tried last may be taken: either no rank is lost in it, or the loops close where it is. Else the branch is left.
    pub(super) fn stays_on_branch(&mut self, disturbed: &mut bool) -> bool {
        if !self.field.chart.active || self.passage.closes || self.field.chart.lowest > 0.05 {
            return true;
        }
        *disturbed = true;
        let Run { field, ode, dense, .. } = self;
        if !ode.prepare(field) {
            return true;
        }
        // where ρ vanishes on the dense output, or comes next to it
        let mut ratio = |theta: f64| {
            ode.interpolate(theta, dense);
            field.unpack(ode.time() + theta * ode.step(), dense);
            field.evaluate();
            let Field { chart, eval, .. } = &mut *field;
            chart.ratio(eval)
        };
        let (first, last) = (ratio(0.0), ratio(1.0));
        let theta = if first > 0.0 && last <= 0.0 {
            root::falls(&mut ratio, 0.0, first, 1.0, last, 1e-9)
        } else {
            root::minimum(|x| ratio(x).abs(), 0.0, 1.0, 1e-7, 0.0).0
        };
        ratio(theta);
        let mut chart = std::mem::take(&mut self.field.chart);
        let misfit = chart.misfit(&self.field);
        self.field.chart = chart;
        let Some(misfit) = misfit else { return true };
        let bound = CLOSED.max(self.settings.tolerance * self.settings.tolerance) * self.length;
        if misfit > bound.max(self.rounding()) {
            self.leave_branch(true);
            return false;
        }
        self.passage.closes = true;
        if !self.out.warnings.iter().any(|w| w.starts_with("a change point")) {
            let t = self.field.state.t;
            self.out.warnings.push(format!(
                "a change point of the linkage is passed at t = {t:.9}: {}; the motion keeps its branch",
                self.linkage()
            ));
        }
        true
    }

    /// Rounding of the gaps: of the sum of their terms.
    fn rounding(&self) -> f64 {
        let Field { eval, state, .. } = &self.field;
        let rows = (0..eval.w.rows()).map(|r| eval.w.row(r).terms(&state.q));
        32.0 * f64::EPSILON * rows.fold(0.0, f64::max)
    }

    /// After a step on the branch: leave it once the change point is behind.
    pub(super) fn after_step_on_branch(&mut self) {
        let Field { chart, eval, state, .. } = &mut self.field;
        let ratio = chart.ratio(eval);
        chart.lowest = f64::INFINITY;
        let expired = state.t > self.passage.expires && ratio.abs() > 0.3;
        if ratio >= 1.0 || ratio <= -0.5 || expired {
            self.leave_branch(false);
        }
    }

    /// Whether the step of length `h` ends so near to a change point that it must be repeated on the branch. The field stands at its
    /// end.
    pub(super) fn ends_near_change_point(&mut self, h: f64, disturbed: &mut bool) -> bool {
        if self.field.chart.active || self.projector.weakest(&self.field) >= NEAR {
            return false;
        }
        *disturbed = true;
        self.enter_branch(h)
    }

    /// Whether a matrix that seems to become singular in the step of length `h`, or a reaction that seems to change its sign,
    /// is a change point: the step is then repeated on the branch.
    pub(super) fn mistaken_event(&mut self, h: f64) -> bool {
        let suspect = |&k: &usize| match self.field.watches.list[k].what {
            What::Singular => true,
            What::Normal(i) => matches!(self.field.info[i].normal, Normal::Bilateral { .. }),
            _ => false,
        };
        !self.field.chart.active && self.locator.found.watches.iter().any(suspect) && self.enter_branch(h)
    }

    /// Whether what seems singular, or a reaction that changes its sign (`near` only), is the change point, not the border of a
    /// paradox before it.
    pub(super) fn at_change_point(&mut self, near: bool) -> bool {
        let Field { chart, eval, .. } = &mut self.field;
        chart.active && chart.is_passable() && (!near || chart.is_near(eval))
    }

    /// The reactions of sliding bilateral contacts that lose their direction here change their signs.
    pub(super) fn turn_reactions(&mut self, m: &mut Moment) -> Option<End> {
        let t = self.time();
        self.field.pack(&mut self.x);
        let turned = self.wrong_beyond();
        for &i in turned.iter().flatten() {
            self.field.signs[i] = -self.field.signs[i];
        }
        let decided = turned.is_some() && self.wrong_beyond().is_some_and(|wrong| wrong.is_empty());
        self.field.chart.side = -self.field.chart.side;
        let solved = self.field.at(t, &self.x);
        m.switched.extend(turned.unwrap_or_default());
        (!(decided && solved)).then(|| (Status::Indeterminate, self.undecided()))
    }

    /// Sliding contacts whose reaction has the wrong sign, or is not stable, just beyond the change point. None when some of
    /// them cannot change sign.
    fn wrong_beyond(&mut self) -> Option<Vec<usize>> {
        let here = self.field.state.clone();
        let mut chart = std::mem::take(&mut self.field.chart);
        let solved = chart.step_beyond(&mut self.field) && self.field.solve();
        self.field.chart = chart;
        let mut out = Vec::new();
        let Field { info, fixed, forces, signs, discrete, .. } = &mut self.field;
        for i in 0..info.len() {
            if discrete.modes[i].direction() != 0.0
                && info[i].friction
                && let Some(a) = fixed.approach(info, i)
                && (a.ratio < 0.0 || signs[i] * forces.normal[i] < 0.0)
            {
                out.push(i);
            }
        }
        let bilateral = out.iter().all(|&i| matches!(info[i].normal, Normal::Bilateral { .. }));
        self.field.state = here;
        (solved && bilateral).then_some(out)
    }

    /// The message of a linkage that stands where its motion is not determined.
    pub(super) fn undecided(&self) -> String {
        format!(
            "the linkage comes to a change point at t = {}: {}, and inertia does not carry it through on its branch (it rests there, several loops lose rank at once, or friction grows without bound); give it speed or less friction there, lengths that differ a little, or a part that guides it",
            self.field.state.t,
            self.linkage()
        )
    }

    /// Position and contacts of the linkage, for messages.
    fn linkage(&self) -> String {
        let names = self.field.sys.coordinate_names();
        let position: Vec<String> = (self.field.state.q.iter().enumerate())
            .map(|(i, q)| match names.get(i) {
                Some(name) => format!("{name} = {q:.6}"),
                None => format!("q{i} = {q:.6}"),
            })
            .collect();
        let contacts: Vec<String> =
            (self.field.info.iter()).filter(|c| c.is_bilateral()).map(|c| format!("`{}`", c.name)).collect();
        format!("at {} the constraints of {} lose rank", position.join(", "), contacts.join(", "))
    }
}

/// Time until ρ, which is 1 here, vanishes if it goes on as now; not positive or not finite when it does not fall.
fn time_ahead<S: System + ?Sized>(field: &mut Field<S>, chart: &mut Chart, step: f64) -> f64 {
    let here = field.state.clone();
    let mut rate = vec![0.0; field.dims.q];
    field.sys.q_rate(&here, &mut rate);
    if max_abs(&rate) == 0.0 {
        return 0.0;
    }
    let mut beside = |side: f64| {
        field.state.clone_from(&here);
        field.state.t += side * step;
        axpy(side * step, &rate, &mut field.state.q);
        field.evaluate();
        chart.ratio(&field.eval)
    };
    let slope = (beside(1.0) - beside(-1.0)) / (2.0 * step);
    field.state = here;
    -1.0 / slope
}

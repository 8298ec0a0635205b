//! The event functions of the present modes, all oriented so that the event is a *fall* through zero (PG-6-EVENT, step 4).
//!
//! | watch | function | on |
//! |---|---|---|
//! | gap | g_N | open unilateral contacts, open elastic flanks |
//! | normal | λ_N, σ λ_N, or the load | closed contacts (bilateral: only with friction) |
//! | saturation | μ₀ N ∓ λ_T | sticking contacts |
//! | give | opening in the small, or load beyond what a hold would carry a moment later | contacts that carry nothing, or slip in the small |
//! | slip | d γ_T | sliding contacts |
//! | guard | its value | every switch |
//! | crossing | −e, e or the sign at the start times e | user events: up, down, both |
//! | singular | a / mobility of the contact − threshold, with g̈_N = a λ_N + b (5.35) | when a contact slides |
//!
//! A watch is *armed* when its function is above its noise. A zero at the left end of an interval leaves it unarmed: it then
//! waits until the function has become positive. An unarmed function that becomes negative instead is an event at
//! once, because the decision at the left end was wrong; only user crossings never fire that way. A guard that chatters
//! ([`Hold`]) is not looked at until its hold ends.

use super::mobility::Mobilities;
use super::tolerances::{
    CHATTER, FORCE_NOISE, HOLD, LEAST_INERTIA, LEFT_BORDER, LOAD_NOISE, SAME_TIME, SINGULAR, SPEED_NOISE,
    STOPS_ALONG, VALUE_NOISE,
};
use crate::contact::{Forces, Small};
use crate::ode::{INSIDE, STAGE_TIMES, STAGES};
use crate::system::{ContactInfo, Direction, Discrete, Eval, Mode, Normal, State};

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum What {
    Gap(usize),
    Normal(usize),
    /// Contact and side: +1 where λ_T reaches the upper bound.
    Saturation(usize, f64),
    /// Contact that slips in the small, or carries nothing ([`crate::contact::Small`]).
    Give(usize),
    /// Contact and direction of slip.
    Slip(usize, f64),
    /// Contact that slips in its tangent plane, and the speed below which it is slow.
    Speed(usize, f64),
    /// Contact that is slow, and the speed above which it no longer is.
    Leave(usize, f64),
    /// Contact that is slow, its direction, and the speed at which it goes back.
    Back(usize, [f64; 3], f64),
    Guard(usize),
    /// Index and factor of the function; factor 0 means not known yet (direction both, zero at the start).
    Crossing(usize, f64),
    Singular,
}

impl What {
    /// Whether the value needs the contact forces.
    pub(crate) fn needs_forces(self) -> bool {
        matches!(self, What::Normal(_) | What::Saturation(..) | What::Give(_) | What::Singular)
    }
}

/// Where event functions are armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// After an event, when nothing is armed by its past.
    Fresh,
    /// Between two steps.
    Between,
    /// At an event.
    Event,
}

/// One event function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub what: What,
    pub armed: bool,
    /// Rate at the left end where it is known (gaps), else NaN.
    pub slope: f64,
    /// Its rate in turn (gaps), else NaN.
    pub bend: f64,
}

/// Sizes seen so far, which tell noise from signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scales {
    /// Size of every position row.
    pub gap: Vec<f64>,
    /// How far the surfaces of every position row have been driven: time times their speed.
    pub driven: Vec<f64>,
    pub slip: Vec<f64>,
    pub rate: Vec<f64>,
    pub force: f64,
    /// What the smooth forces could ask of every contact, [`load_size`].
    pub load: Vec<f64>,
    pub guard: Vec<f64>,
    pub crossing: Vec<f64>,
    /// What rounding of the state makes of the user's event functions.
    pub crossing_rounding: Vec<f64>,
    /// The same of guards, at the end of a step that seemed too long for them; else zero.
    pub guard_rounding: Vec<f64>,
    pub(super) mobilities: Mobilities,
}

impl Scales {
    /// Take note of the `state`.
    pub(crate) fn see(&mut self, info: &[ContactInfo], eval: &Eval, state: &State) {
        let State { t, q, u, .. } = state;
        // how far rounding of time and of the coordinates reaches
        self.driven.resize(self.gap.len(), 0.0);
        for (size, speed) in self.driven.iter_mut().zip(&eval.rate_offset) {
            *size = size.max((t * speed).abs());
        }
        for (row, size) in self.gap.iter_mut().enumerate() {
            let reach: f64 = eval.w.row(row).terms(q);
            *size = size.max(eval.gap[row].abs()).max(reach);
        }
        let mobilities = &mut self.mobilities;
        mobilities.stand(eval);
        for (i, c) in info.iter().enumerate() {
            let size = |row: usize| size_of(eval, row, u, mobilities.of(eval, row));
            let size = rows(c).map(size).fold(0.0, f64::max);
            if !c.tangent.is_empty() {
                self.slip[i] = self.slip[i].max(size);
            }
            if c.normal_row().is_some() {
                self.rate[i] = self.rate[i].max(size);
            }
        }
    }
}

/// A guard that flips back and forth at one instant: both branches drive the state back to the border (a sliding mode in
/// the sense of Filippov). Its branch is then kept for a moment, which grows while the chatter lasts: the motion follows
/// the border within that moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    /// Time of the last flip, and flips at that time.
    last: f64,
    flips: usize,
    /// Flips in a row that follow each other within a millionth of the run, without leaving the border in between.
    quick: usize,
    /// The largest value of the guard since the last flip.
    peak: f64,
    /// Present moment; zero before the first.
    moment: f64,
    /// End of the hold.
    pub until: f64,
}

impl Default for Hold {
    fn default() -> Self {
        Hold { last: f64::NEG_INFINITY, flips: 0, quick: 0, peak: 0.0, moment: 0.0, until: f64::NEG_INFINITY }
    }
}

impl Hold {
    /// Flips of one guard at one instant that are no chatter yet.
    pub(crate) const FLIPS: usize = 3;
    /// Quick flips in a row that are no chatter yet.
    const QUICK: usize = 100;
    /// The same as `FLIPS` for forces at their bounds.
    pub(crate) const BOUNDS: usize = 10;

    /// The guard flips at `t`; `span`: length of the run; `calm`: flips that are no chatter; `size`: of the guard's values, 0 where
    /// they are not followed. True when a hold begins that was not there before.
    pub(crate) fn flip(&mut self, t: f64, span: f64, calm: usize, size: f64) -> bool {
        let near = SAME_TIME * t.abs() + 4.0 * self.moment;
        let pause = t - self.last;
        let stays = pause <= near || (pause <= CHATTER * span && self.peak < LEFT_BORDER * size);
        self.quick = if stays { self.quick + 1 } else { 0 };
        self.peak = 0.0;
        self.flips = match pause <= near {
            true => self.flips + 1,
            false if self.quick > Self::QUICK => calm + 1,
            false => 1,
        };
        self.last = t;
        if self.flips <= calm {
            self.moment = 0.0;
            return false;
        }
        let first = self.moment == 0.0;
        self.moment = (2.0 * self.moment).clamp(HOLD[0] * span, HOLD[1] * span);
        self.until = t + self.moment;
        first
    }
}

/// All event functions and their values at the stages of the present step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    pub list: Vec<Watch>,
    pub scales: Scales,
    /// Whether the approach to a singular matrix is watched.
    pub singular: bool,
    /// Whether nothing but gaps is watched.
    pub gaps_alone: bool,
    /// Chatter of every guard.
    pub holds: Vec<Hold>,
    /// Chatter of the forces of every contact at their bounds.
    pub bounds: Vec<Hold>,
    /// Chatter of slip without friction, per contact.
    pub slips: Vec<Hold>,
    values: Vec<f64>,
}

impl Watches {
    /// Nothing watched yet.
    pub(crate) fn new(scales: Scales) -> Self {
        Watches { scales, ..Default::default() }
    }

    /// Rebuild the list for new modes; [`Watches::arm`] follows once the start has been sampled.
    pub(crate) fn rebuild(
        &mut self,
        info: &[ContactInfo],
        d: &Discrete,
        small: &[Small],
        frozen: &[Option<[f64; 3]>],
        directions: &[Direction],
        guards: usize,
    ) {
        self.list.clear();
        let Watches { list, scales, .. } = &mut *self;
        let mut push = |what| list.push(Watch { what, armed: false, slope: f64::NAN, bend: f64::NAN });
        let mut slides = false;
        for (i, c) in info.iter().enumerate() {
            let mode = d.modes[i];
            if mode == Mode::Open {
                // an elastic flank begins and ends by its guards
                if c.is_unilateral() {
                    push(What::Gap(i));
                }
                continue;
            }
            if small.get(i).is_some_and(|s| *s != Small::Holds) {
                push(What::Give(i));
            }
            let rubs = c.friction && !c.tangent.is_empty();
            match c.normal {
                Normal::Unilateral { .. } => push(What::Normal(i)),
                Normal::Bilateral { .. } | Normal::Given { .. }
                    if rubs && (mode.direction() != 0.0 || mode == Mode::Slip) =>
                {
                    push(What::Normal(i))
                }
                _ => {}
            }
            if !rubs {
                continue;
            }
            match mode {
                Mode::Stick if c.tangent.len() > 1 => push(What::Saturation(i, 1.0)),
                Mode::Slip => {
                    let slow = super::space::slow(scales.slip.get(i).copied().unwrap_or(0.0));
                    match frozen[i] {
                        Some(d) => {
                            push(What::Leave(i, super::space::LEAVES * slow));
                            push(What::Back(i, d, 2.0 * slow));
                        }
                        None => push(What::Speed(i, slow)),
                    }
                    slides |= !c.is_given() || !c.load_on.is_empty();
                }
                Mode::Stick => {
                    push(What::Saturation(i, 1.0));
                    push(What::Saturation(i, -1.0));
                }
                Mode::SlipPlus | Mode::SlipMinus => {
                    push(What::Slip(i, mode.direction()));
                    slides |= !c.is_given() || !c.load_on.is_empty();
                }
                _ => {}
            }
        }
        (0..guards).for_each(|k| push(What::Guard(k)));
        for (k, direction) in directions.iter().enumerate() {
            push(What::Crossing(
                k,
                match direction {
                    Direction::Up => -1.0,
                    Direction::Down => 1.0,
                    Direction::Both => 0.0,
                },
            ));
        }
        if slides {
            push(What::Singular);
        }
        self.singular = slides;
        self.gaps_alone = self.list.iter().all(|w| matches!(w.what, What::Gap(_)));
        self.values.clear();
        self.values.resize(STAGES * self.list.len(), f64::NAN);
        self.scales.slip.resize(info.len(), 0.0);
        self.scales.rate.resize(info.len(), 0.0);
        self.scales.guard.resize(guards, 0.0);
        self.holds.resize(guards, Hold::default());
        self.bounds.resize(info.len(), Hold::default());
        self.slips.resize(info.len(), Hold::default());
        self.scales.crossing.resize(directions.len(), 0.0);
        self.scales.crossing_rounding.resize(directions.len(), 0.0);
        self.scales.guard_rounding.resize(guards, 0.0);
    }

    /// Record all functions at a stage.
    pub(crate) fn sample(
        &mut self,
        stage: usize,
        info: &[ContactInfo],
        eval: &Eval,
        forces: &Forces,
        signs: &[f64],
        u: &[f64],
        singularity: f64,
    ) {
        let n = self.list.len();
        if stage == INSIDE {
            return;
        }
        let row = &mut self.values[stage * n..(stage + 1) * n];
        for (to, w) in row.iter_mut().zip(&self.list) {
            *to = match w.what {
                What::Gap(i) => gap(info, eval, i),
                what => value(what, info, eval, forces, signs, u, singularity),
            };
        }
    }

    /// The step ends at the fraction `theta`: what was sampled behind its end is the end.
    pub(crate) fn end_at(&mut self, theta: f64) {
        let n = self.list.len();
        for stage in (1..STAGES - 1).filter(|&s| STAGE_TIMES[s] > theta) {
            self.values.copy_within((STAGES - 1) * n..STAGES * n, stage * n);
        }
    }

    /// Value of watch `k` at a stage.
    pub(crate) fn at(&self, stage: usize, k: usize) -> f64 {
        self.values[stage * self.list.len() + k]
    }

    /// The end of the step becomes the beginning of the next.
    pub(crate) fn shift(&mut self) {
        let n = self.list.len();
        for (k, w) in self.list.iter().enumerate() {
            if let What::Guard(g) = w.what {
                let peak = &mut self.holds[g].peak;
                *peak = (0..STAGES).fold(*peak, |m, s| m.max(self.values[s * n + k].abs()));
            }
        }
        self.values.copy_within((STAGES - 1) * n..STAGES * n, 0);
    }

    /// Arm what is above its noise at the left end of the next step. At an event the user's event functions alone are asked for that:
    /// the list is made anew after it.
    pub(crate) fn arm(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        state: &State,
        forces: &Forces,
        stand: Stand,
    ) {
        let (n, u) = (self.list.len(), &state.u);
        self.scales.see(info, eval, state);
        let load = forces.normal.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        self.scales.force = self.scales.force.max(load).max(beside(info, eval));
        self.scales.load.resize(info.len(), 0.0);
        let mut power = None;
        for w in &self.list {
            if let What::Normal(i) | What::Saturation(i, _) | What::Give(i) = w.what
                && let Some(row) = info[i].normal_row()
            {
                let Scales { load, mobilities, .. } = &mut self.scales;
                let power = *power.get_or_insert_with(|| smooth_size(eval, mobilities.floor));
                load[i] = load[i].max(load_size(mobilities.of(eval, row), power));
            }
        }
        // a guard without a border is infinite
        for (k, s) in self.scales.guard.iter_mut().enumerate() {
            let v = eval.guards[k].abs();
            *s = s.max(eval.guard_sizes[k]).max(if v.is_finite() { v } else { 0.0 });
        }
        for (s, v) in self.scales.crossing.iter_mut().zip(&eval.crossings) {
            *s = s.max(v.abs());
        }
        for k in 0..n {
            let what = self.list[k].what;
            if stand == Stand::Event && !matches!(what, What::Crossing(..)) {
                continue;
            }
            let noise = self.noise(what, info);
            let w = &mut self.list[k];
            if let What::Crossing(i, factor) = &mut w.what {
                if *factor == 0.0 || (w.armed && eval.crossings[*i] == 0.0) {
                    // direction both: the side on which it now stands
                    let e = eval.crossings[*i];
                    if e.abs() > noise {
                        *factor = e.signum();
                    }
                }
                self.values[k] = *factor * eval.crossings[*i];
            }
            if let What::Back(_, _, slow) = &mut w.what
                && stand == Stand::Fresh
                && self.values[k] <= 0.0
                && -self.values[k] <= STOPS_ALONG * *slow
            {
                // it stopped along with a slower one and still moves against the slip that begins: back is farther back
                *slow -= 2.0 * self.values[k];
                self.values[k] = -self.values[k];
            }
            let f = self.values[k];
            w.armed = f > noise || (w.armed && stand != Stand::Fresh);
            w.slope = match w.what {
                What::Gap(i) => info[i].normal_row().map_or(f64::NAN, |row| eval.rate(row, u)),
                What::Slip(i, d) => d * eval.accel(info[i].tangent[0], &forces.accel),
                _ => f64::NAN,
            };
            w.bend = match w.what {
                What::Gap(i) => info[i].normal_row().map_or(f64::NAN, |row| eval.accel(row, &forces.accel)),
                _ => f64::NAN,
            };
        }
    }

    /// Whether the watch is held at time `t`.
    pub(crate) fn is_held(&self, what: What, t: f64) -> bool {
        match what {
            What::Guard(k) => t < self.holds[k].until,
            What::Give(i) | What::Saturation(i, _) | What::Normal(i) => t < self.bounds[i].until,
            What::Slip(i, _) => t < self.slips[i].until,
            _ => false,
        }
    }

    /// The first end of a hold after `t`.
    pub(crate) fn release(&self, t: f64) -> f64 {
        self.holds
            .iter()
            .chain(&self.bounds)
            .chain(&self.slips)
            .map(|h| h.until)
            .filter(|&end| end > t)
            .fold(f64::INFINITY, f64::min)
    }

    /// Values below this cannot be told from zero.
    pub(crate) fn noise(&self, what: What, info: &[ContactInfo]) -> f64 {
        let s = &self.scales;
        match what {
            What::Gap(i) => {
                info[i].normal_row().map_or(0.0, |row| VALUE_NOISE * (s.gap[row] + s.driven[row]))
            }
            What::Normal(i) | What::Saturation(i, _) | What::Give(i) => {
                (FORCE_NOISE * s.force).max(LOAD_NOISE * s.load.get(i).copied().unwrap_or(0.0))
            }
            What::Slip(i, _) => SPEED_NOISE * s.slip[i],
            What::Guard(k) => (VALUE_NOISE * s.guard[k]).max(s.guard_rounding[k]),
            What::Crossing(k, _) => VALUE_NOISE * s.crossing[k] + s.crossing_rounding[k],
            What::Singular | What::Speed(..) | What::Leave(..) | What::Back(..) => 0.0,
        }
    }
}

/// Size of the forces beside the bilateral contacts: the least that a reaction would need to balance one of them alone. Reactions of
/// parts without mass and load are zero up to rounding, which no other reaction tells from a change of their sign.
pub(super) fn beside(info: &[ContactInfo], eval: &Eval) -> f64 {
    let least = |row: usize| {
        let sizes = eval.w.row(row).iter().map(|(j, w)| (eval.h[j] / w).abs());
        sizes.filter(|f| *f > 0.0 && f.is_finite()).fold(f64::INFINITY, f64::min)
    };
    let rows = info.iter().filter(|c| c.is_bilateral()).filter_map(|c| c.normal_row());
    rows.map(least).filter(|f| f.is_finite()).fold(0.0, f64::max)
}

/// How large the rate of a row may be: the terms of its sum, and what the kinetic energy could give it (with the diagonal
/// of M), so that rounding in a row at rest is not taken for motion.
pub(crate) fn rate_size(eval: &Eval, row: usize, u: &[f64]) -> f64 {
    size_of(eval, row, u, mobility(eval, row, least_inertia(eval)))
}

fn size_of(eval: &Eval, row: usize, u: &[f64], mobility: f64) -> f64 {
    let terms = eval.rate_offset[row].abs() + eval.w.row(row).terms(u);
    terms + (2.0 * eval.kinetic.abs() * mobility).sqrt()
}

/// Size of all smooth forces: √Σ h²/M with the diagonal of M, no entry below `floor`.
pub(super) fn smooth_size(eval: &Eval, floor: f64) -> f64 {
    let square = |(j, h): (usize, &f64)| h * h / eval.mass.diagonal(j).max(floor);
    eval.h.iter().enumerate().filter(|(_, h)| **h != 0.0).map(square).sum::<f64>().sqrt()
}

/// How large a force along a row of this mobility smooth forces of this size could ask for, wherever they act: a force that is zero by their balance (the
/// joints of a body that falls freely) is rounding of forces of this size.
pub(super) fn load_size(mobility: f64, smooth: f64) -> f64 {
    if mobility > 0.0 && smooth.is_finite() { smooth / mobility.sqrt() } else { 0.0 }
}

/// Σ w²/M of a row with the diagonal of M.
pub(super) fn mobility(eval: &Eval, row: usize, floor: f64) -> f64 {
    let part = |(j, w): (usize, f64)| w * w / eval.mass.diagonal(j).max(floor).max(f64::MIN_POSITIVE);
    eval.w.row(row).iter().filter(|(_, w)| *w != 0.0).map(part).sum()
}

/// Entries of M below this are taken for this.
pub(super) fn least_inertia(eval: &Eval) -> f64 {
    LEAST_INERTIA * (0..eval.h.len()).fold(0.0_f64, |m, j| m.max(eval.mass.diagonal(j)))
}

/// How large the relative velocity at a contact may be: the largest size of its rows. The normal direction of a surface that is driven
/// past (a cam in its lowest position) has no size of its own.
pub(crate) fn contact_speed(c: &ContactInfo, eval: &Eval, u: &[f64]) -> f64 {
    let floor = least_inertia(eval);
    rows(c).map(|row| size_of(eval, row, u, mobility(eval, row, floor))).fold(0.0, f64::max)
}

/// Normal and tangents.
fn rows(c: &ContactInfo) -> impl Iterator<Item = usize> {
    c.normal_row().into_iter().chain(c.tangent.iter().copied())
}

fn gap(info: &[ContactInfo], eval: &Eval, i: usize) -> f64 {
    info[i].normal_row().map_or(f64::NAN, |row| eval.gap[row])
}

/// Value of an event function.
pub(crate) fn value(
    what: What,
    info: &[ContactInfo],
    eval: &Eval,
    forces: &Forces,
    signs: &[f64],
    u: &[f64],
    singularity: f64,
) -> f64 {
    match what {
        What::Gap(i) => gap(info, eval, i),
        What::Normal(i) => match info[i].normal {
            Normal::Unilateral { .. } => forces.normal[i],
            _ => signs[i] * forces.normal[i],
        },
        // N with its frozen sign: the bound goes on below zero instead of rising again, so that a short slip where N passes through
        // zero is not stepped over
        What::Saturation(i, side) => {
            let bound = match info[i].normal {
                Normal::Pin { .. } | Normal::Ball { .. } => forces.bound[i],
                Normal::Bilateral { .. } => eval.mu_static[i] * signs[i] * forces.normal[i],
                _ => eval.mu_static[i] * forces.normal[i],
            };
            match info[i].tangent.len() {
                0 | 1 => bound - side * forces.tangential[i],
                _ => bound - eval.friction_size(info, i, &forces.lambda),
            }
        }
        What::Give(i) => forces.excess[i],
        What::Slip(i, d) => d * eval.rate(info[i].tangent[0], u),
        What::Speed(i, slow) => super::space::speed(&info[i], eval, u) - slow,
        What::Leave(i, slow) => slow - super::space::speed(&info[i], eval, u),
        What::Back(i, d, slow) => {
            let slip = super::space::slip(&info[i], eval, u);
            d.iter().zip(slip).map(|(d, s)| d * s).sum::<f64>() + slow
        }
        What::Guard(k) => eval.guards[k],
        // a function that stands on its zero has no side yet
        What::Crossing(k, 0.0) => eval.crossings[k],
        What::Crossing(k, factor) => factor * eval.crossings[k],
        What::Singular => singularity - SINGULAR,
    }
}

//! The first event inside a step.
//!
//! The event functions have been sampled at the stages of the step, which costs nothing. A sample at or below zero gives a
//! bracket; a sample lower than its neighbours whose parabola comes near zero gives a dip, whose true minimum is
//! then computed on the dense output, so that a function that grazes or crosses zero twice inside one step is not
//! missed. Before that, every function is asked whether its samples tell it at all: the corner of a spinning body moves as the sine of an
//! angle that the integrator follows with any step, and would be missed between the samples ([`Locator::blur`]). Roots are located on the dense output; among several functions the earliest wins, and those whose roots
//! coincide with it to `1e-12 (|t| + h)` belong to the same event.

use crate::ode::{Method, SAMPLES, STAGES, Trial};
use crate::root;
use crate::system::System;

use super::field::Field;
use super::tolerances::{DIP, ROOT, SAME_ROOT, TOLD};
use super::watch::{self, What};

/// Error of the samples, relative to the smallest of them, above which a step is too long for an event function.
const TRUST: f64 = 0.3;

/// Blur of a function that leaves its zero and comes back to it in one step: the step is more than halved.
const AGAIN: f64 = 100.0;

/// Corrections of Newton's method after which it has to be settled.
const STARTS: usize = 4;

/// A correction, as a part of the step, whose third power is rounding, and so is the error that the samples make in its square.
const SETTLED: f64 = 2e-6;

/// Share of a correction that the bend of a function may make.
const BENT: f64 = 1e-3;

/// Where the first event of a step lies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Fraction of the step; 0 means that a decision at the left end was wrong.
    pub theta: f64,
    /// Indices of the watches that fire, the earliest first.
    pub watches: Vec<usize>,
}

enum Suspect {
    None,
    /// Positive at the first, zero or negative at the second fraction.
    Bracket(f64, f64),
    /// Unarmed and negative at this fraction.
    Wrong(f64),
    /// Positive samples with a dip between two fractions.
    Dip(f64, f64),
}

/// Scratch memory of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locator {
    x: Vec<f64>,
    roots: Vec<(f64, usize)>,
    /// Weights of the prediction, and the samples they are for.
    weights: Option<([(usize, f64); SAMPLES], Weights)>,
    pub found: Found,
}

/// For every inner sample the weights of (sample − polynomial through all others).
type Weights = [[f64; SAMPLES]; SAMPLES - 2];

impl Locator {
    /// How badly the samples of the step tried last tell the event functions: above 1 a fall through zero could be missed. Each
    /// inner sample is predicted by the polynomial through the others, and the error must be small beside the smallest
    /// sample before the first fall. It grows with the fifth power of the step.
    pub(super) fn blur<S: System + ?Sized>(&mut self, field: &Field<S>, ode: &Method) -> f64 {
        let (samples, t) = (ode.samples(), ode.time());
        let weights = match &self.weights {
            Some((of, weights)) if of == samples => *weights,
            _ => self.weights.insert((*samples, prediction(samples))).1,
        };
        let watches = &field.watches;
        let mut worst = 0.0_f64;
        for (k, w) in watches.list.iter().enumerate() {
            if matches!(w.what, What::Singular) || watches.is_held(w.what, t) {
                continue;
            }
            let f: [f64; SAMPLES] = std::array::from_fn(|s| watches.at(samples[s].0, k));
            // the user's functions stand on either side of zero
            let side = if matches!(w.what, What::Crossing(..)) { f[1].signum() } else { 1.0 };
            let v = f.map(|v| side * v);
            let fall = v[1..].iter().position(|v| *v <= 0.0).map_or(SAMPLES, |k| k + 1);
            // what starts near zero, or falls between two samples, is as well known as the larger of its neighbours
            let known = |s: usize| if s == 0 || s + 1 == fall { v[s].max(v[s + 1].abs()) } else { v[s] };
            let least = (0..fall)
                .map(|s| if s + 1 < SAMPLES { known(s) } else { v[s] })
                .fold(f64::INFINITY, f64::min);
            let size = f.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            // out of its zero and through it again: it has no side yet and would not fire
            let sideless = matches!(w.what, What::Crossing(_, 0.0));
            if sideless && fall < SAMPLES && size > 100.0 * watches.noise(w.what, field.info) {
                worst = worst.max(AGAIN);
            }
            let error = weights.iter().fold(0.0_f64, |m, w| {
                let miss: f64 = w.iter().zip(&f).map(|(w, f)| w * f).sum();
                m.max(miss.abs())
            });
            if error > TOLD * size && error > 100.0 * watches.noise(w.what, field.info) {
                worst = worst.max(error / (TRUST * least));
            }
        }
        worst
    }

    /// Search the step tried last. True when there is an event; it is in `found`. The field is left evaluated somewhere
    /// inside the step when `disturbed` is set.
    pub(super) fn search<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        ode: &mut Method,
        disturbed: &mut bool,
    ) -> bool {
        self.roots.clear();
        for k in 0..field.watches.list.len() {
            if field.watches.is_held(field.watches.list[k].what, ode.time()) {
                continue;
            }
            let suspect = inspect(field, k, ode);
            if matches!(suspect, Suspect::None) {
                continue;
            }
            *disturbed = true;
            if !ode.prepare(field) {
                continue;
            }
            if let Some(theta) = self.root(field, ode, k, suspect) {
                self.roots.push((theta, k));
            }
        }
        let Some(first) = self.roots.iter().map(|r| r.0).reduce(f64::min) else { return false };
        let first = self.hidden(field, ode, first);
        let h = ode.step();
        let same = SAME_ROOT * (ode.time().abs() / h + 1.0);
        self.roots.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.found.theta = first;
        self.found.watches.clear();
        self.found.watches.extend(self.roots.iter().filter(|r| r.0 <= first + same).map(|r| r.1));
        true
    }

    /// Guards that fell before the first event although their samples did not show it: bodies that turn flat onto each other meet where edges cross, and
    /// may be so deep at the end of the step that this is not seen there.
    fn hidden<S: System + ?Sized>(&mut self, field: &mut Field<S>, ode: &mut Method, first: f64) -> f64 {
        let mut earliest = first;
        for k in 0..field.watches.list.len() {
            let what = field.watches.list[k].what;
            let hides = matches!(what, What::Guard(g) if field.sys.hides(g)) && field.watches.list[k].armed;
            let start = field.watches.at(0, k);
            if !hides || !(start > 0.0) || self.roots.iter().any(|r| r.1 == k) {
                continue;
            }
            let x = &mut self.x;
            let mut f = |theta: f64| dense(field, ode, what, theta, x);
            let end = f(first);
            if end < 0.0 {
                let theta = root::falls(&mut f, 0.0, start, first, end, ROOT);
                earliest = earliest.min(theta);
                self.roots.push((theta, k));
            }
        }
        earliest
    }

    /// Exact root of a suspect, or none when the dense output clears it.
    fn root<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        ode: &mut Method,
        k: usize,
        suspect: Suspect,
    ) -> Option<f64> {
        // the integrals of the ledger are not asked
        self.x.resize(field.tail(), 0.0);
        let what = field.watches.list[k].what;
        if let (What::Gap(i), Suspect::Bracket(_, b)) = (what, &suspect)
            && let (Some(row), false) = (field.info[i].normal_row(), field.chart.active)
            && let Some(theta) = self.straight(field, ode, k, row, *b)
        {
            return Some(theta);
        }
        let field_noise = 10.0 * field.watches.noise(what, field.info);
        let x = &mut self.x;
        // the ends of the step have been sampled
        let ends = [0, STAGES - 1].map(|stage| field.watches.at(stage, k));
        let mut f = |theta: f64| match theta {
            0.0 => ends[0],
            1.0 => ends[1],
            _ => dense(field, ode, what, theta, x),
        };
        match suspect {
            Suspect::None => None,
            Suspect::Bracket(a, b) => {
                let fb = f(b);
                if fb > 0.0 {
                    // the stage was less accurate than the dense output: look for a dip around it
                    let (x, y) = root::minimum(&mut f, a, 1.0, DIP, 0.0);
                    return (y <= 0.0).then(|| {
                        let fa = f(a);
                        if fa > 0.0 { root::falls(&mut f, a, fa, x, y, ROOT) } else { a }
                    });
                }
                let fa = f(a);
                Some(if fa > 0.0 {
                    root::falls(&mut f, a, fa, b, fb, ROOT)
                } else if a == 0.0 {
                    back_to_positive(&mut f, b).map_or(0.0, |(a, fa)| root::falls(&mut f, a, fa, b, fb, ROOT))
                } else {
                    let f0 = f(0.0);
                    if f0 > 0.0 { root::falls(&mut f, 0.0, f0, a, fa, ROOT) } else { a }
                })
            }
            Suspect::Wrong(b) => {
                let fb = f(b);
                if fb > 0.0 {
                    return None;
                }
                Some(
                    back_to_positive(&mut f, b)
                        .map_or(0.0, |(a, fa)| root::falls(&mut f, a, fa, b, fb, ROOT)),
                )
            }
            Suspect::Dip(a, b) => {
                let (x, y) = root::minimum(&mut f, a, b, DIP, 0.0);
                if y > 0.0 {
                    return None;
                }
                let fa = f(a);
                // a start within noise of zero is a start at zero
                if fa > if a > 0.0 { 0.0 } else { 0.1 * field_noise } {
                    return Some(root::falls(&mut f, a, fa, x, y, ROOT));
                }
                // out of zero downwards: beyond noise the decision at the left end was wrong
                (y < -field_noise).then_some(0.0)
            }
        }
    }
}

impl Locator {
    /// The fall of a gap by Newton's method: its rate comes with every evaluation, and the polynomial through the samples is a start that is
    /// off by a millionth or so. The sample at `b` is the first one at or below zero. None where that does not settle at once: then the
    /// bracket decides.
    fn straight<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        ode: &mut Method,
        k: usize,
        row: usize,
        b: f64,
    ) -> Option<f64> {
        let samples = *ode.samples();
        let end = samples.iter().position(|s| s.1 == b)?;
        let values: [f64; SAMPLES] = std::array::from_fn(|s| field.watches.at(samples[s].0, k));
        let (a, h) = (samples[end - 1].1, ode.step());
        let noise = field.watches.noise(field.watches.list[k].what, field.info);
        if !(values[end - 1] > 0.0 && values[end] <= 0.0) {
            return None;
        }
        let chord = a + (b - a) * values[end - 1] / (values[end - 1] - values[end]);
        let curve = Curve::through(&samples.map(|s| s.1), &values);
        let mut theta = (0..STARTS).fold(chord, |x, _| {
            let [value, slope, _] = curve.at(x);
            x - value / slope
        });
        for _ in 0..STARTS {
            if !(theta > a && theta < b) {
                return None;
            }
            let value = dense(field, ode, field.watches.list[k].what, theta, &mut self.x);
            let slope = h * field.eval.rate(row, &field.state.u);
            let step = -value / slope;
            if !(slope < 0.0) {
                return None;
            }
            // value and slope are those of the motion; the small rest comes from the bend of the polynomial
            let bend = 0.5 * curve.at(theta)[2] * step / slope;
            let small = bend.abs() <= BENT;
            theta += if small { step * (1.0 - bend) } else { step };
            // what is left is a part of what the bend makes
            let settled = step.abs() <= SETTLED || (bend * value).abs() <= noise;
            if settled && small {
                return Some(theta);
            }
        }
        None
    }
}

/// The polynomial through the samples, by divided differences.
struct Curve {
    at: [f64; SAMPLES],
    difference: [f64; SAMPLES],
}

impl Curve {
    fn through(at: &[f64; SAMPLES], values: &[f64; SAMPLES]) -> Curve {
        let mut difference = *values;
        for order in 1..SAMPLES {
            for k in (order..SAMPLES).rev() {
                difference[k] = (difference[k] - difference[k - 1]) / (at[k] - at[k - order]);
            }
        }
        Curve { at: *at, difference }
    }

    /// Value, slope and second derivative.
    fn at(&self, x: f64) -> [f64; 3] {
        (0..SAMPLES).rev().fold([0.0; 3], |[value, slope, bend], k| {
            let way = x - self.at[k];
            [value * way + self.difference[k], slope * way + value, bend * way + 2.0 * slope]
        })
    }
}

fn prediction(samples: &[(usize, f64); SAMPLES]) -> Weights {
    let theta = samples.map(|s| s.1);
    std::array::from_fn(|inner| {
        let at = inner + 1;
        std::array::from_fn(|j| {
            if j == at {
                return 1.0;
            }
            let others = (0..theta.len()).filter(|&k| k != at && k != j);
            -others.map(|k| (theta[at] - theta[k]) / (theta[j] - theta[k])).product::<f64>()
        })
    })
}

/// A point left of `b` where the function is positive (it leaves zero upwards and returns quickly).
fn back_to_positive(f: &mut impl FnMut(f64) -> f64, b: f64) -> Option<(f64, f64)> {
    let mut theta = b;
    for _ in 0..24 {
        theta *= 0.5;
        let v = f(theta);
        if v > 0.0 {
            return Some((theta, v));
        }
    }
    None
}

/// Value of an event function on the dense output.
fn dense<S: System + ?Sized>(
    field: &mut Field<S>,
    ode: &mut Method,
    what: What,
    theta: f64,
    x: &mut [f64],
) -> f64 {
    ode.interpolate(theta, x);
    let t = ode.time() + theta * ode.step();
    if what.needs_forces() {
        if !field.within(t, x) {
            return -1.0;
        }
    } else {
        field.unpack(t, x);
        field.evaluate_rates();
    }
    watch::value(
        what,
        field.info,
        &field.eval,
        &field.forces,
        if field.chart.active { &field.chart.signs } else { &field.signs },
        &field.state.u,
        field.singularity,
    )
}

/// Read the samples of one watch.
fn inspect<S: System + ?Sized>(field: &Field<S>, k: usize, ode: &Method) -> Suspect {
    let (samples, h) = (ode.samples(), ode.step());
    let w = field.watches.list[k];
    let noise = field.watches.noise(w.what, field.info);
    // an unarmed function counts from where it stands
    let base = if w.armed { 0.0 } else { field.watches.at(0, k).clamp(-10.0 * noise, 0.0) };
    let values: [f64; SAMPLES] = std::array::from_fn(|s| field.watches.at(samples[s].0, k) - base);
    let f = |s: usize| values[s];
    let theta = |s: usize| samples[s].1;
    if let What::Crossing(_, factor) = w.what
        && factor == 0.0
    {
        return Suspect::None;
    }
    let quiet = matches!(w.what, What::Crossing(..) | What::Singular);
    let mut armed = w.armed;
    let mut last = if armed { Some(0) } else { None };
    for s in 1..SAMPLES {
        let v = f(s);
        if armed {
            if v <= 0.0 {
                return Suspect::Bracket(theta(last.unwrap_or(0)), theta(s));
            }
            last = Some(s);
        } else if v > noise {
            armed = true;
            last = Some(s);
        } else if v < -noise && !quiet {
            // a step just out of zero: samples are trusted only above the noise of the stages
            return Suspect::Wrong(theta(s));
        }
    }
    // a start that falls, or is bent down, and ends higher: minimum before the first sample
    let early = theta(1) * h;
    let bent = f(0).max(0.0) + (w.slope + 0.5 * w.bend * early) * early < 0.0;
    if (w.slope < 0.0 && f(1) >= f(0) && w.armed) || bent {
        return Suspect::Dip(0.0, theta(1));
    }
    if !w.armed {
        return Suspect::None;
    }
    for s in 1..SAMPLES - 1 {
        // vertex of the parabola through three samples
        let (fa, fb, fc) = (f(s - 1), f(s), f(s + 1));
        let (a, b, c) = (theta(s - 1), theta(s), theta(s + 1));
        let (left, right) = ((fb - fa) / (b - a), (fc - fb) / (c - b));
        let curvature = (right - left) / (c - a);
        if curvature > 0.0 {
            let vertex = 0.5 * (a + b) - 0.5 * left / curvature;
            let low = fb + (vertex - b) * (left + (vertex - a) * curvature);
            if (a..=c).contains(&vertex) && low <= 0.1 * fa.max(fc) {
                return Suspect::Dip(a, c);
            }
        }
    }
    Suspect::None
}

//! `stability`: does steady sliding squeal?

use serde::Serialize;

use crate::analysis::AnalysisError;
use crate::analysis::linear::{Hold, Linear, Memory};
use crate::analysis::map::{Axis, Watch};
use crate::analysis::place::{Place, start_of};
use crate::analysis::squeal::{Instability, Judged, Spectrum, destabilised, judge, kind, merging};
use crate::analysis::steady::Found;
use crate::linalg::Complex;
use crate::machine::json::{Named, Num};
use crate::machine::questions::StabilityTask;
use crate::machine::{Error, Machine};
use crate::model::CompiledSystem;
use crate::system::{State, System};
use rayon::prelude::*;
use std::f64::consts::TAU;

use super::equilibrium::complex;

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct StabilityFinding {
    /// Coordinates and states of the steady motion.
    pub steady: Named<f64>,
    /// Its velocities.
    pub velocity: Named<f64>,
    /// Normal force of every closed contact.
    pub forces: Named<f64>,
    /// There is no steady motion: coefficients are those of the state that was looked at.
    pub frozen: bool,
    /// Nothing grows.
    pub stable: bool,
    /// 1/s, largest real part first.
    pub eigenvalues: Vec<[f64; 2]>,
    /// Largest real part, 1/s.
    pub growth: Num,
    /// Why: at the critical point if one was asked for, else here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Instability>,
    /// Where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<CriticalPoint>,
    /// All values at which the number of growing motions changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<CriticalPoint>,
    /// Modes that meet there, counted from the lowest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merging: Option<[usize; 2]>,
    /// What damping may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Over one parameter: where it is unstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sectors: Option<Vec<[f64; 2]>>,
    /// Over one parameter: growth and frequency.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<GrowthPoint>,
    /// Over two parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<GrowthMap>,
    /// Page.
    pub explain: &'static str,
}

/// A value at which something begins or ceases to grow.
#[derive(Clone, Debug, Serialize)]
pub struct CriticalPoint {
    /// The parameter.
    pub parameter: String,
    /// Its value.
    pub value: f64,
    /// Hz.
    pub frequency: f64,
    /// From the present value, per cent of it.
    pub distance: Num,
    /// Why; at a paradox `sprag`.
    pub kind: Instability,
    /// Whether it is stable below and above.
    pub below: bool,
    /// See `below`.
    pub above: bool,
}

/// One value of a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct GrowthPoint {
    /// The value.
    pub parameter: f64,
    /// Nothing grows.
    pub stable: bool,
    /// 1/s.
    pub growth: Num,
    /// Of what grows most, Hz.
    pub frequency: Num,
}

/// Two parameters.
#[derive(Clone, Debug, Serialize)]
pub struct GrowthMap {
    /// The axes; the first runs along a row.
    pub axes: [Axis; 2],
    /// One row per value of the second axis: `s` stable, `u` unstable, `p` beyond the paradox, `-` no steady sliding.
    pub grid: Vec<String>,
    /// Growth, 1/s, in the same order.
    pub growth: Vec<Vec<Num>>,
}

/// Memory for one thread: a system, its parameters and the last steady motion.
pub(super) struct Slider {
    sys: CompiledSystem,
    values: Vec<f64>,
    place: Option<Place>,
    slide: Vec<usize>,
    guess: Option<Guess>,
    memory: Option<Memory>,
}

/// The steady motion of the point before.
struct Guess {
    state: State,
    hold: Vec<Hold>,
    span: Option<f64>,
}

impl Guess {
    fn of(linear: &Linear<'_, CompiledSystem>) -> Guess {
        Guess { state: linear.state.clone(), hold: linear.hold.clone(), span: linear.span }
    }
}

impl Slider {
    /// Judge at values of live parameters, and look at the motion.
    pub(super) fn at<R>(
        &mut self,
        set: &[(usize, f64)],
        look: impl FnOnce(&mut Linear<'_, CompiledSystem>, &Judged) -> Result<R, AnalysisError>,
    ) -> Result<R, AnalysisError> {
        for &(slot, value) in set {
            self.values[slot] = value;
        }
        self.sys.set_parameters(&self.values);
        if let Some(guess) = self.guess.take() {
            let memory = self.memory.take().unwrap_or_else(|| Memory::new(&self.sys));
            let mut linear = Linear::within(&self.sys, guess.state, memory);
            linear.span = guess.span;
            linear.hold(&guess.hold);
            let judged = judge(&mut linear)?;
            if judged.found == Found::Steady {
                self.guess = Some(Guess::of(&linear));
                let seen = look(&mut linear, &judged);
                self.memory = Some(linear.into_memory());
                return seen;
            }
        }
        let state = match &self.place {
            Some(place) => place.state.clone(),
            None => start_of(&self.sys)?,
        };
        let mut linear = Linear::new(&self.sys, state.clone());
        let present = linear.present();
        let mut hold = present.clone();
        let mut judged = None;
        if self.slide.is_empty() {
            linear.hold(&hold);
            judged = match judge(&mut linear) {
                Ok(judged) => Some(judged).filter(|j| j.found == Found::Steady),
                // all that could move sticks
                Err(AnalysisError::NoFreedom { .. }) if hold.contains(&Hold::Stick) => None,
                Err(e) => return Err(e),
            };
        }
        // what sticks at the start may slide in the steady motion: its direction is that of the motion without friction
        let sticks = (0..hold.len()).filter(|&i| hold[i] == Hold::Stick);
        let freed: Vec<usize> = match self.slide.is_empty() {
            true => sticks.collect(),
            false => self.slide.clone(),
        };
        if judged.is_none() && !freed.is_empty() {
            for &i in &freed {
                hold[i] = Hold::Smooth;
            }
            linear = Linear::new(&self.sys, state.clone());
            linear.hold(&hold);
            if judge(&mut linear)?.found == Found::Steady {
                for &i in &freed {
                    if let Some(d) = linear.direction(i) {
                        hold[i] = Hold::Slide(d);
                    }
                }
                linear.hold(&hold);
                judged = Some(judge(&mut linear)?).filter(|j| j.found == Found::Steady);
            }
        }
        let judged = match judged {
            Some(judged) => judged,
            None => {
                linear = Linear::new(&self.sys, state);
                linear.hold(&present);
                judge(&mut linear)?
            }
        };
        if judged.found == Found::Steady {
            self.guess = Some(Guess::of(&linear));
        }
        look(&mut linear, &judged)
    }

    /// The spectrum alone.
    fn spectrum(&mut self, set: &[(usize, f64)]) -> Result<Option<Spectrum>, AnalysisError> {
        self.at(set, |_, judged| Ok(judged.spectrum.clone()))
    }
}

impl Slider {
    /// Where stability changes between two values that differ in it.
    fn border(&mut self, slot: usize, mut ends: [f64; 2]) -> f64 {
        let stable =
            |s: Result<Option<Spectrum>, _>| s.ok().map(|s| s.as_ref().is_some_and(Spectrum::stable));
        let Some(first) = stable(self.spectrum(&[(slot, ends[0])])) else { return ends[0] };
        for _ in 0..60 {
            let middle = 0.5 * (ends[0] + ends[1]);
            let Some(now) = stable(self.spectrum(&[(slot, middle)])) else { break };
            ends[usize::from(now != first)] = middle;
        }
        0.5 * (ends[0] + ends[1])
    }

    /// An unstable value between three stable ones of which the middle one is nearest to growth, by the golden section.
    fn hidden(&mut self, slot: usize, [mut low, mut middle, mut high]: [f64; 3]) -> Option<f64> {
        let mut look = |x: f64| self.spectrum(&[(slot, x)]).ok().flatten();
        let mut best = look(middle)?.nearness();
        for _ in 0..40 {
            let next = match high - middle > middle - low {
                true => middle + GOLDEN * (high - middle),
                false => middle - GOLDEN * (middle - low),
            };
            let found = look(next)?;
            if !found.stable() {
                return Some(next);
            }
            let near = found.nearness();
            match (near > best, next > middle) {
                (true, true) => (low, middle, best) = (middle, next, near),
                (true, false) => (high, middle, best) = (middle, next, near),
                (false, true) => high = next,
                (false, false) => low = next,
            }
        }
        None
    }
}

/// Smaller part of the golden section.
const GOLDEN: f64 = 0.381966;

/// Number of growing motions; more than any for a paradox.
fn growing(spectrum: &Option<Spectrum>) -> usize {
    spectrum.as_ref().map_or(usize::MAX, |s| s.growing().count())
}

impl Machine {
    pub(super) fn stability(&self, task: &StabilityTask, watch: Watch) -> Result<StabilityFinding, Error> {
        if self.system().uses_heat() {
            return Err(Error::plain(
                "the heat of a contact drives a state: its stability is not linearised in this version",
                "give the state a rate without `heat`, or run the model with a small disturbance",
            ));
        }
        let refuse = |e| self.refuse(e);
        let mut live: Vec<String> = task.over.iter().map(|a| a.name.clone()).collect();
        live.extend(task.critical.iter().filter(|c| !task.over.iter().any(|a| a.name == **c)).cloned());
        let machine = self.opened(live)?;
        task.over.iter().try_for_each(|a| machine.takes(&a.name, [a.from, a.to]))?;
        let place = machine.place(&task.look, watch)?;
        let slide =
            task.contacts.iter().map(|n| self.contacts_called(n)).collect::<Result<Vec<_>, _>>()?.concat();
        let new = || Slider { slide: slide.clone(), ..machine.slider(place.clone()) };
        let mut slider = new();
        let mut out = slider
            .at(&[], |linear, judged| {
                let why = match &judged.spectrum {
                    Some(s) if !s.stable() => Some(kind(linear, s)?),
                    Some(_) => None,
                    None => Some(Instability::Sprag),
                };
                Ok(self.judged(linear, judged, why))
            })
            .map_err(refuse)?;
        if let Some(name) = &task.critical {
            let slot = machine.live_slot(name)?;
            let axis = self.range_of(name, &task.over)?;
            self.critical(&mut new(), slot, &axis, &mut out, watch)?;
        }
        match &task.over[..] {
            [axis] if task.critical.as_ref() != Some(&axis.name) => {
                self.along_axis(&mut new(), machine.live_slot(&axis.name)?, axis, &mut out, watch)?;
            }
            [first, second] => {
                let slots = [machine.live_slot(&first.name)?, machine.live_slot(&second.name)?];
                out.map = Some(growth_map(&new, slots, [first.clone(), second.clone()], watch));
            }
            _ => {}
        }
        Ok(out)
    }

    /// Memory for one thread that looks for steady motions.
    pub(super) fn slider(&self, place: Option<Place>) -> Slider {
        let (sys, values) = (self.system().clone(), self.system().parameters().to_vec());
        Slider { sys, values, place, slide: Vec::new(), guess: None, memory: None }
    }

    fn judged(
        &self,
        linear: &Linear<'_, CompiledSystem>,
        judged: &Judged,
        kind: Option<Instability>,
    ) -> StabilityFinding {
        let closed = linear.info.iter().enumerate().filter(|(i, _)| linear.hold[*i] != Hold::Open);
        let force = |i: usize| match linear.info[i].is_given() {
            true => linear.eval.load[i],
            false => linear.info[i].normal_force(&linear.lambda),
        };
        StabilityFinding {
            steady: self.named_state(&linear.state),
            velocity: Named::of(&self.coordinate_names("'"), &linear.state.u),
            forces: closed.map(|(i, c)| (c.name.clone(), force(i))).collect(),
            frozen: judged.found == Found::Frozen,
            stable: judged.spectrum.as_ref().is_some_and(Spectrum::stable),
            eigenvalues: judged.spectrum.as_ref().map(|s| complex(&s.values)).unwrap_or_default(),
            growth: Num(judged.spectrum.as_ref().map_or(f64::INFINITY, |s| s.growth)),
            kind,
            critical: None,
            crossings: Vec::new(),
            merging: None,
            warning: None,
            sectors: None,
            points: Vec::new(),
            map: None,
            explain: "squeal",
        }
    }

    /// Where a parameter is looked for: `over`, its range in the file, else up to four times its value.
    fn range_of(&self, name: &str, over: &[Axis]) -> Result<Axis, Error> {
        if let Some(axis) = over.iter().find(|a| a.name == name) {
            return Ok(axis.clone());
        }
        let p = self.model().parameters.iter().find(|p| p.name == name);
        let (value, range) = p.map_or((0.0, None), |p| (p.value, p.range));
        let [from, to] = range.unwrap_or([0.0, 4.0 * value]);
        match to != from {
            true => Ok(Axis { name: name.into(), from, to, count: 201 }),
            false => Err(Error::plain(
                format!("`{name}` is 0 and has no range to look in"),
                format!("write --over {name}=0..1, or give it a range in the file"),
            )),
        }
    }

    fn critical(
        &self,
        slider: &mut Slider,
        slot: usize,
        axis: &Axis,
        out: &mut StabilityFinding,
        watch: Watch,
    ) -> Result<(), Error> {
        let refuse = |e| self.refuse(e);
        let present = self.model().parameters.iter().find(|p| p.name == axis.name).map_or(0.0, |p| p.value);
        let mut before: Option<(f64, Option<Spectrum>)> = None;
        for i in 0..axis.count {
            if watch.is_interrupted() {
                break;
            }
            let here = axis.value(i);
            // no steady motion with values outside of what the model can bear
            let Ok(spectrum) = slider.spectrum(&[(slot, here)]) else { continue };
            if let Some((left, old)) = before.replace((here, spectrum.clone()))
                && growing(&old) != growing(&spectrum)
            {
                let point = self.locate(slider, slot, axis, [left, here], present).map_err(refuse)?;
                out.crossings.push(point);
            }
        }
        // a value is critical where stable motion begins or ends
        let first = out.crossings.iter().find(|c| c.below != c.above).cloned();
        if let Some(point) = &first {
            out.kind = Some(point.kind);
            let width = (axis.to - axis.from).abs();
            let inside = if point.below { -1.0 } else { 1.0 };
            let (merges, shaken) = slider
                .at(
                    &[(slot, point.value + 0.02 * inside * point.value.abs().max(1e-3 * width))],
                    |linear, judged| {
                        let pair = judged.spectrum.as_ref().and_then(|s| merging(s, TAU * point.frequency));
                        Ok((pair, destabilised(linear)?))
                    },
                )
                .map_err(refuse)?;
            if point.kind == Instability::ModeCoupling {
                out.merging = merges;
            }
            if !shaken.is_empty() {
                let names = self.coordinate_names("");
                let list: Vec<String> = shaken.iter().map(|&k| format!("`{}`", names[k])).collect();
                out.warning = Some(format!(
                    "damping that acts on {} alone lowers the limit: 2 % before it a little of it makes the motion unstable",
                    list.join(" or ")
                ));
            }
        }
        out.critical = first;
        Ok(())
    }

    /// The value between two at which the number of growing motions changes.
    fn locate(
        &self,
        slider: &mut Slider,
        slot: usize,
        axis: &Axis,
        [mut left, mut right]: [f64; 2],
        present: f64,
    ) -> Result<CriticalPoint, AnalysisError> {
        let ends = [left, right];
        let first = slider.spectrum(&[(slot, left)])?;
        let count = growing(&first);
        let far = slider.spectrum(&[(slot, right)])?;
        let (mut near, mut beyond) = (first.clone(), far.clone());
        for _ in 0..100 {
            let middle = 0.5 * (left + right);
            if middle == left || middle == right || (right - left).abs() <= 1e-15 * right.abs() {
                break;
            }
            let spectrum = slider.spectrum(&[(slot, middle)])?;
            if growing(&spectrum) == count {
                (left, near) = (middle, spectrum);
            } else {
                (right, beyond) = (middle, spectrum);
            }
        }
        let stable = |s: &Option<Spectrum>| s.as_ref().is_some_and(Spectrum::stable);
        let mut point = CriticalPoint {
            parameter: axis.name.clone(),
            value: 0.5 * (left + right),
            frequency: 0.0,
            distance: Num(100.0 * (0.5 * (left + right) - present) / present.abs()),
            kind: Instability::Sprag,
            below: if ends[0] < ends[1] { stable(&first) } else { stable(&far) },
            above: if ends[0] < ends[1] { stable(&far) } else { stable(&first) },
        };
        // what crosses: of what grows on the unstable side the slowest
        let unstable = if growing(&beyond) > count { beyond } else { near };
        let Some(spectrum) = &unstable else { return Ok(point) };
        let slowest = spectrum.growing().filter(|v| v.im >= 0.0).min_by(|a, b| a.re.total_cmp(&b.re));
        let crossing = slowest.copied().unwrap_or(spectrum.leading);
        point.frequency = crossing.im / TAU;
        // why: a little inside the unstable side
        let grows = if growing(&far) > count { ends[1] } else { ends[0] };
        let inside = point.value + 0.02 * (grows - point.value);
        point.kind = slider.at(&[(slot, inside)], |linear, judged| match &judged.spectrum {
            None => Ok(Instability::Sprag),
            Some(s) => {
                let near = |v: &&Complex| (v.re - crossing.re).hypot(v.im - crossing.im);
                let own = s.values.iter().filter(|v| v.im >= 0.0).min_by(|a, b| near(a).total_cmp(&near(b)));
                let own = own.copied().unwrap_or(s.leading);
                kind(linear, &Spectrum { leading: own, ..s.clone() })
            }
        })?;
        Ok(point)
    }

    /// Growth over one parameter, and where it is unstable, borders located.
    fn along_axis(
        &self,
        slider: &mut Slider,
        slot: usize,
        axis: &Axis,
        out: &mut StabilityFinding,
        watch: Watch,
    ) -> Result<(), Error> {
        let mut sectors: Vec<[f64; 2]> = Vec::new();
        let mut open: Option<f64> = None;
        let mut before: Option<(f64, bool)> = None;
        // stable values in a row, with their nearness to growth
        let mut last: Vec<(f64, f64)> = Vec::new();
        for i in 0..axis.count {
            if watch.is_interrupted() {
                break;
            }
            let here = axis.value(i);
            let Ok(spectrum) = slider.spectrum(&[(slot, here)]) else { continue };
            let stable = spectrum.as_ref().is_some_and(Spectrum::stable);
            let (growth, frequency) =
                spectrum.as_ref().map_or((f64::INFINITY, f64::NAN), |s| (s.growth, s.leading.im.abs() / TAU));
            out.points.push(GrowthPoint {
                parameter: here,
                stable,
                growth: Num(growth),
                frequency: Num(frequency),
            });
            let border = match before {
                Some((left, was)) if was != stable => slider.border(slot, [left, here]),
                _ => here,
            };
            match (open, stable) {
                (None, false) => open = Some(border),
                (Some(from), true) => {
                    sectors.push([from, border]);
                    open = None;
                }
                _ => {}
            }
            before = Some((here, stable));
            match spectrum.filter(Spectrum::stable) {
                Some(s) => last.push((here, s.nearness())),
                None => last.clear(),
            }
            // nearest to growth between stable ones: a sector may be narrower than the steps
            if let [.., a, b, c] = last[..]
                && b.1 >= a.1
                && b.1 >= c.1
                && let Some(inside) = slider.hidden(slot, [a.0, b.0, c.0])
            {
                sectors.push([slider.border(slot, [a.0, inside]), slider.border(slot, [c.0, inside])]);
            }
        }
        if let (Some(from), Some((last, _))) = (open, before) {
            sectors.push([from, last]);
        }
        for s in &mut sectors {
            s.sort_by(f64::total_cmp);
        }
        sectors.sort_by(|a, b| a[0].total_cmp(&b[0]));
        out.sectors = Some(sectors);
        Ok(())
    }
}

fn growth_map(
    new: &(dyn Fn() -> Slider + Sync),
    slots: [usize; 2],
    axes: [Axis; 2],
    watch: Watch,
) -> GrowthMap {
    let row = |k: usize| {
        let mut slider = new();
        let second = axes[1].value(k);
        let mut letters = String::with_capacity(axes[0].count);
        let mut growth = Vec::with_capacity(axes[0].count);
        for i in 0..axes[0].count {
            if watch.is_interrupted() {
                break;
            }
            let at = [(slots[0], axes[0].value(i)), (slots[1], second)];
            let found = slider.at(&at, |_, judged| {
                Ok(match (&judged.spectrum, judged.found) {
                    (None, _) => ('p', f64::INFINITY),
                    (Some(_), Found::Frozen) => ('-', f64::NAN),
                    (Some(s), _) => (if s.stable() { 's' } else { 'u' }, s.growth),
                })
            });
            let (letter, value) = found.unwrap_or(('-', f64::NAN));
            letters.push(letter);
            growth.push(Num(value));
        }
        (letters, growth)
    };
    let rows: Vec<(String, Vec<Num>)> = (0..axes[1].count).into_par_iter().map(row).collect();
    let (grid, growth) = rows.into_iter().unzip();
    GrowthMap { axes, grid, growth }
}

//! Slow loading: the path of equilibria with friction, time being the load (METH-QS-PATH, METH-QS-RATE, CB-3-QUASISTATIC)
//!
//! ```text
//! r(t, q, λ) = h(t, q, u = 0) + Wᵀ λ = 0        closed: g = 0;  stick: W_T q̇ + w̃ = 0;  slip: λ_T = −μ λ_N n,  W_T q̇ + w̃ = ṡ n,  ṡ ≥ 0
//! ```
//!
//! Inertia and damping are left out. A contact slips along the force that it overcomes, so at every instant the rates solve a linear complementarity problem over
//! the contacts at their limits ([`rates`]). Between changes of the pattern the rates are integrated (Runge and Kutta, step and two half steps compared) and the
//! balance is corrected by Newton; changes are located by bisection. Where the matrix of the problem loses its positive minors slowness ends: no neighbouring
//! state belongs to the next load (*continuity*), or several do (*uniqueness*). Contacts touch and part through zero force.

mod decide;
mod rates;

use super::AnalysisError;
use super::linear::{Hold, Linear};
use crate::linalg::{axpy, max_abs};
use crate::system::{ContactEvent, Mode, Section, State, System};
use rates::{Held, Limit, Rates};

/// What is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Loss {
    /// Several states belong to the load.
    #[serde(rename = "loss of uniqueness")]
    Uniqueness,
    /// No neighbouring state belongs to the next load.
    #[serde(rename = "loss of continuity")]
    Continuity,
}

/// A place where the slow answer ends, or is no longer the only one.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub time: f64,
    pub reason: Loss,
    pub contacts: Vec<usize>,
    /// The path ends here.
    pub stops: bool,
    /// The other state has this contact open; else it slips or sticks otherwise.
    pub open: bool,
}

/// A point of the path.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub time: f64,
    pub q: Vec<f64>,
    pub modes: Vec<Mode>,
    pub lambda: Vec<f64>,
    pub margin: f64,
}

/// The path.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlowPath {
    pub points: Vec<Point>,
    /// Time, contact, what it did.
    pub events: Vec<(f64, usize, ContactEvent)>,
    pub ends: Vec<End>,
    /// Smallest margin and its time.
    pub margin: f64,
    pub margin_time: f64,
    /// Factor on all friction at which the worst place of the path loses continuity.
    pub factor: f64,
    /// Contact and friction above which its state is not the only one (CB (3.8)).
    pub critical: Option<(usize, f64)>,
    /// Way slipped and work lost, per contact.
    pub slipped: Vec<f64>,
    pub work: Vec<f64>,
    /// Velocities of the slow motion at the end.
    pub velocity: Vec<f64>,
}

/// Error of a step beside sizes.
const TOLERANCE: f64 = 1e-10;
/// Values that cannot be told from zero, beside the largest.
const NOISE: f64 = 1e-10;
/// Steps of a path at least and at most.
const STEPS: [f64; 2] = [64.0, 200_000.0];
/// Closed contacts up to which other states are looked for.
const FEW: usize = 8;

/// Where the path is.
#[derive(Clone, Debug, Default)]
struct Spot {
    t: f64,
    q: Vec<f64>,
    lambda: Vec<f64>,
    slipped: Vec<f64>,
    work: Vec<f64>,
}

/// Rates there.
struct Pace {
    rates: Rates,
    limit: Limit,
    bound: Vec<f64>,
    left: Vec<f64>,
}

/// What may happen to a contact, with the number that falls through zero.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Happens {
    Touches(usize),
    Parts(usize),
    Slips(usize),
    Sticks(usize),
    Margin,
}

/// How the path goes on.
enum Decision {
    /// In one way.
    Goes,
    /// As before, although these contacts could do something else.
    Stays(Vec<usize>),
    /// Not at all.
    Ends(Loss, Vec<usize>),
}

struct Follow<'a, S: System + ?Sized> {
    linear: Linear<'a, S>,
    modes: Vec<Hold>,
    /// Largest force so far.
    force: f64,
}

/// Follow the equilibrium of `start`, at rest, until a time.
///
/// # Errors
///
/// No derivatives, a start that is not in balance, motions that nothing holds.
pub(crate) fn follow<S: System + ?Sized>(
    sys: &S,
    start: State,
    until: f64,
    stop: &dyn Fn() -> bool,
) -> Result<SlowPath, AnalysisError> {
    let mut f =
        Follow { modes: vec![Hold::Open; sys.contacts().len()], linear: Linear::new(sys, start), force: 0.0 };
    f.linear.state.u.fill(0.0);
    f.balance_start()?;
    let contacts = sys.contacts().len();
    let mut out = SlowPath { margin: f64::INFINITY, factor: f64::INFINITY, ..SlowPath::default() };
    let mut spot = Spot { slipped: vec![0.0; contacts], work: vec![0.0; contacts], ..f.spot() };
    let span = until - spot.t;
    let mut ended = f.decide(&[], &spot).map(|d| out.note(spot.t, d))?;
    let mut h = span / STEPS[0];
    f.record(&spot, &mut out)?;
    while ended.is_none() && spot.t < until {
        if stop() {
            return Err(AnalysisError::Interrupted);
        }
        if out.points.len() as f64 > STEPS[1] {
            return Err(AnalysisError::Key(format!(
                "more than {} steps of a slow path at t = {}",
                STEPS[1], spot.t
            )));
        }
        if h < 1e-13 * span {
            // rates grow without bound
            ended = f.decide(&[Happens::Margin], &spot).map(|d| out.note(spot.t, d))?;
            break;
        }
        h = h.min(until - spot.t);
        let last = until - spot.t <= h;
        let Some((mut next, error)) = f.step(&spot, h)? else {
            h *= 0.25;
            continue;
        };
        if error > 1.0 {
            h *= (0.9 * error.powf(-0.2)).max(0.1);
            continue;
        }
        if last {
            next.t = until;
        }
        let happened = match f.fallen(&spot, &next)? {
            fallen if fallen.is_empty() => fallen,
            fallen => {
                let (found, fallen) = f.locate(&spot, &next, fallen)?;
                next = found;
                fallen
            }
        };
        f.put(&next);
        spot = next;
        if happened.is_empty() {
            h = (h * (0.9 * error.max(1e-10).powf(-0.2)).min(4.0)).min(span / STEPS[0]);
        } else {
            f.log(&happened, &spot, &mut out);
            ended = f.decide(&happened, &spot).map(|d| out.note(spot.t, d))?;
            spot = Spot { slipped: spot.slipped, work: spot.work, ..f.spot() };
            h = h.min(span / STEPS[0]);
        }
        f.record(&spot, &mut out)?;
    }
    if let Some((reason, contacts)) = ended {
        out.ends.push(End { time: spot.t, reason, contacts, stops: true, open: false });
    }
    out.slipped = spot.slipped;
    out.work = spot.work;
    Ok(out)
}

impl SlowPath {
    /// Keep what a decision says of other states; what is lost when the path ends.
    fn note(&mut self, time: f64, decision: Decision) -> Option<(Loss, Vec<usize>)> {
        match decision {
            Decision::Goes => None,
            Decision::Stays(contacts) => {
                self.ends.push(End { time, reason: Loss::Uniqueness, contacts, stops: false, open: false });
                None
            }
            Decision::Ends(loss, contacts) => Some((loss, contacts)),
        }
    }
}

impl<S: System + ?Sized> Follow<'_, S> {
    fn spot(&self) -> Spot {
        Spot {
            t: self.linear.state.t,
            q: self.linear.state.q.clone(),
            lambda: self.linear.lambda.clone(),
            ..Spot::default()
        }
    }

    /// Hold all closed contacts, whatever they do.
    fn hold(&mut self) {
        let held: Vec<Hold> =
            self.modes.iter().map(|m| if matches!(m, Hold::Slide(_)) { Hold::Stick } else { *m }).collect();
        self.linear.hold(&held);
    }

    fn put(&mut self, spot: &Spot) {
        self.linear.state.t = spot.t;
        self.linear.state.q.clone_from(&spot.q);
        self.linear.lambda.clone_from(&spot.lambda);
        self.linear.evaluate();
    }

    fn sliding(&self) -> Vec<usize> {
        (0..self.modes.len()).filter(|&i| matches!(self.modes[i], Hold::Slide(_))).collect()
    }

    /// μN of contact `i`, and what friction leaves of it.
    fn bound(&self, i: usize) -> [f64; 2] {
        let slides = matches!(self.modes[i], Hold::Slide(_));
        let l = &self.linear;
        let mu = if slides { l.eval.mu[i] } else { l.eval.mu_static[i] };
        let n = l.eval.bound_force(l.info, i, !slides, 1.0, &l.lambda);
        let bound = mu * if l.info[i].is_bilateral() { n.abs() } else { n.max(0.0) };
        [bound, bound - l.eval.friction_size(l.info, i, &l.lambda)]
    }

    /// The balance of the start: what contacts hold stays, the rest moves; contacts that would pull open.
    fn balance_start(&mut self) -> Result<(), AnalysisError> {
        let present = self.linear.present();
        let round = |i: usize| {
            self.linear.eval.section(i) == Section::Round
                && self.linear.eval.lean.get(i).is_none_or(|l| *l == 0.0)
        };
        if let Some(i) = (0..present.len()).find(|&i| !round(i)) {
            return Err(AnalysisError::Key(format!(
                "contact `{}` does not rub alike in all directions; slow paths are for isotropic friction at a point",
                self.linear.info[i].name
            )));
        }
        let smooth = |i: usize| self.linear.eval.is_smooth(self.linear.info, i);
        self.modes = (0..present.len())
            .map(|i| match present[i] {
                Hold::Open => Hold::Open,
                Hold::Smooth => Hold::Smooth,
                _ if smooth(i) => Hold::Smooth,
                _ => Hold::Stick,
            })
            .collect();
        loop {
            self.hold();
            for _ in 0..40 {
                let residual: Vec<f64> = self.linear.residual().iter().map(|r| -r).collect();
                let mut held = Held::new(&mut self.linear, &self.modes)?;
                let gap = self.linear.eval.gap.clone();
                let step = held.answer(&mut self.linear, &residual, |row| -gap[row], 0.0)?;
                let size = max_abs(&self.linear.state.q).max(self.linear.sys.length_scale());
                let done = max_abs(&step.v) <= 1e-14 * size
                    && max_abs(&step.lambda) <= 1e-13 * max_abs(&self.linear.lambda);
                self.linear.sys.move_by(&mut self.linear.state.q, &step.v);
                axpy(1.0, &step.lambda, &mut self.linear.lambda);
                self.linear.evaluate();
                if done {
                    break;
                }
            }
            self.force = max_abs(&self.linear.lambda);
            let pull = |i: &usize| {
                let row = self.linear.info[*i].normal_row();
                row.map_or(0.0, |r| self.linear.lambda[r])
            };
            let closed = (0..self.modes.len()).filter(|&i| self.linear.info[i].is_unilateral());
            let closed = closed.filter(|&i| self.modes[i] != Hold::Open);
            let worst = closed.min_by(|a, b| pull(a).total_cmp(&pull(b)));
            match worst.filter(|i| pull(i) < -NOISE * self.force) {
                Some(i) => self.open(i),
                None => break,
            }
        }
        for i in 0..self.modes.len() {
            let [bound, left] = self.bound(i);
            if self.modes[i] == Hold::Stick && left < -1e-9 * self.force {
                return Err(AnalysisError::Key(format!(
                    "at the start contact `{}` would have to hold {} N and holds {bound} N at most; begin with a smaller load, or at a state that friction holds",
                    self.linear.info[i].name,
                    bound - left
                )));
            }
        }
        Ok(())
    }

    fn open(&mut self, i: usize) {
        self.modes[i] = Hold::Open;
        for row in self.linear.info[i].rows() {
            self.linear.lambda[row] = 0.0;
        }
    }

    /// Rates at the present state with the present pattern; none where they have no bound.
    fn pace(&mut self) -> Result<Option<Pace>, AnalysisError> {
        let mut held = Held::new(&mut self.linear, &self.modes)?;
        let base = held.load(&mut self.linear)?;
        let sliding = self.sliding();
        let limit = held.limit(&mut self.linear, &sliding, base)?;
        let all: Vec<usize> = (0..limit.at.len()).collect();
        let Some(rates) = limit.slipping(&all, &[]) else { return Ok(None) };
        let (bound, left) = (0..self.modes.len()).map(|i| self.bound(i)).map(|[b, l]| (b, l)).unzip();
        let finite = rates.answer.v.iter().chain(&rates.answer.lambda).all(|x| x.is_finite());
        Ok(finite.then_some(Pace { rates, limit, bound, left }))
    }

    /// The spot a little on with these rates.
    fn ahead(&self, from: &Spot, h: f64, p: &Pace) -> Spot {
        let mut to = from.clone();
        to.t += h;
        let way: Vec<f64> = p.rates.answer.v.iter().map(|v| h * v).collect();
        self.linear.sys.move_by(&mut to.q, &way);
        axpy(h, &p.rates.answer.lambda, &mut to.lambda);
        for (&i, s) in p.rates.slipping.iter().zip(&p.rates.speed) {
            to.slipped[i] += h * s;
            to.work[i] += h * s * p.bound[i];
        }
        to
    }

    /// One step of the classical method of fourth order; none where a rate has no bound.
    fn once(&mut self, from: &Spot, h: f64) -> Result<Option<Spot>, AnalysisError> {
        let mut to = from.clone();
        let mut before: Option<Pace> = None;
        for (part, weight) in [(0.0, 1.0 / 6.0), (0.5, 1.0 / 3.0), (0.5, 1.0 / 3.0), (1.0, 1.0 / 6.0)] {
            let at = before.as_ref().map_or_else(|| from.clone(), |p| self.ahead(from, part * h, p));
            self.put(&at);
            let Some(pace) = self.pace()? else { return Ok(None) };
            to = self.ahead(&to, weight * h, &pace);
            before = Some(pace);
        }
        to.t = from.t + h;
        Ok(Some(to))
    }

    /// Two half steps in balance, and their error beside what is allowed.
    fn step(&mut self, from: &Spot, h: f64) -> Result<Option<(Spot, f64)>, AnalysisError> {
        let Some(whole) = self.once(from, h)? else { return Ok(None) };
        let Some(middle) = self.once(from, 0.5 * h)? else { return Ok(None) };
        let Some(mut to) = self.once(&middle, 0.5 * h)? else { return Ok(None) };
        to.t = from.t + h;
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        let size = max_abs(&to.q).max(self.linear.sys.length_scale());
        let force = max_abs(&to.lambda).max(self.force).max(f64::MIN_POSITIVE);
        let error = (apart(&whole.q, &to.q) / size).max(apart(&whole.lambda, &to.lambda) / force) / 15.0;
        if error.is_nan() || !self.correct(&mut to)? {
            return Ok(None);
        }
        Ok(Some((to, error / TOLERANCE)))
    }

    /// Newton on the balance; what sticks stays, what slips slips on.
    fn correct(&mut self, spot: &mut Spot) -> Result<bool, AnalysisError> {
        for _ in 0..3 {
            self.put(spot);
            let residual: Vec<f64> = self.linear.residual().iter().map(|r| -r).collect();
            let mut held = Held::new(&mut self.linear, &self.modes)?;
            let (gap, info) = (self.linear.eval.gap.clone(), self.linear.info);
            let normal = |row: usize| info.iter().any(|c| c.normal_rows().contains(&row));
            let to_zero = |row: usize| if normal(row) { -gap[row] } else { 0.0 };
            let base = held.answer(&mut self.linear, &residual, to_zero, 0.0)?;
            let sliding = self.sliding();
            let left: Vec<f64> = sliding.iter().map(|&i| self.bound(i)[1]).collect();
            let limit = held.limit(&mut self.linear, &sliding, base)?;
            let all: Vec<usize> = (0..sliding.len()).collect();
            let Some(step) = limit.slipping(&all, &left) else { return Ok(false) };
            self.linear.sys.move_by(&mut spot.q, &step.answer.v);
            axpy(1.0, &step.answer.lambda, &mut spot.lambda);
        }
        self.put(spot);
        self.force = self.force.max(max_abs(&spot.lambda));
        Ok(spot.q.iter().chain(&spot.lambda).all(|x| x.is_finite()))
    }

    /// What must stay positive, at a spot, beside its size.
    fn gauges(&mut self, spot: &Spot) -> Result<Vec<(Happens, f64)>, AnalysisError> {
        self.put(spot);
        let Some(pace) = self.pace()? else { return Ok(vec![(Happens::Margin, -1.0)]) };
        let force = self.force.max(f64::MIN_POSITIVE);
        let fast = pace.rates.speed.iter().fold(f64::MIN_POSITIVE, |m, s| m.max(s.abs()));
        let mut out = vec![(Happens::Margin, pace.limit.margin())];
        for (i, c) in self.linear.info.iter().enumerate() {
            let row = c.normal_row();
            match (self.modes[i], row) {
                (Hold::Open, Some(row)) => {
                    out.push((
                        Happens::Touches(i),
                        self.linear.eval.gap[row] / self.linear.sys.gap_scale(row),
                    ));
                    continue;
                }
                (Hold::Open, None) => continue,
                (_, Some(row)) if c.is_unilateral() => {
                    out.push((Happens::Parts(i), spot.lambda[row] / force))
                }
                _ => {}
            }
            match self.modes[i] {
                Hold::Stick => out.push((Happens::Slips(i), pace.left[i] / force)),
                Hold::Slide(_) => {
                    let at = pace.rates.slipping.iter().position(|&k| k == i);
                    out.push((Happens::Sticks(i), at.map_or(0.0, |k| pace.rates.speed[k] / fast)));
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// What has fallen below zero on the way.
    fn fallen(&mut self, from: &Spot, to: &Spot) -> Result<Vec<Happens>, AnalysisError> {
        let before = self.gauges(from)?;
        let after = self.gauges(to)?;
        let was = |what: Happens| before.iter().find(|b| b.0 == what).map_or(0.0, |b| b.1);
        let below = |(what, x): &(Happens, f64)| *x < if was(*what) > NOISE { 0.0 } else { -NOISE };
        Ok(after.iter().filter(|g| below(g)).map(|g| g.0).collect())
    }

    /// The last spot before something falls, and what falls. Slip ends where the load turns: that is the first spot after it, where its rates have turned.
    fn locate(
        &mut self,
        from: &Spot,
        to: &Spot,
        mut what: Vec<Happens>,
    ) -> Result<(Spot, Vec<Happens>), AnalysisError> {
        let (mut low, mut high) = (0.0, to.t - from.t);
        let (mut here, mut beyond) = (from.clone(), Some(to.clone()));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if middle == low || middle == high {
                break;
            }
            let (fallen, there) = match self.step(from, middle)? {
                None => (vec![Happens::Margin], None),
                Some((to, _)) => (self.fallen(from, &to)?, Some(to)),
            };
            match there {
                Some(to) if fallen.is_empty() => (low, here) = (middle, to),
                there => (high, what, beyond) = (middle, fallen, there),
            }
        }
        let turns = what.iter().all(|w| matches!(w, Happens::Sticks(_)));
        Ok((beyond.filter(|_| turns).unwrap_or(here), what))
    }

    fn log(&self, happened: &[Happens], spot: &Spot, out: &mut SlowPath) {
        for what in happened {
            let (i, kind) = match *what {
                Happens::Touches(i) => (i, ContactEvent::Touch),
                Happens::Parts(i) => (i, ContactEvent::Detach),
                Happens::Slips(i) => (i, ContactEvent::Slip),
                Happens::Sticks(i) => (i, ContactEvent::Stick),
                Happens::Margin => continue,
            };
            out.events.push((spot.t, i, kind));
        }
    }

    /// Keep the spot; look whether another state belongs to its load.
    fn record(&mut self, spot: &Spot, out: &mut SlowPath) -> Result<(), AnalysisError> {
        self.hold();
        self.put(spot);
        let pace = self.pace()?;
        let margin = pace.as_ref().map_or(0.0, |p| p.limit.margin());
        if let Some(p) = &pace {
            out.velocity.clone_from(&p.rates.answer.v);
            if !p.rates.slipping.is_empty() {
                out.factor = out.factor.min(p.limit.factor());
            }
            for &i in &p.rates.slipping {
                if let Some(d) = rates::direction(&self.linear.info[i], &spot.lambda) {
                    self.modes[i] = Hold::Slide(d);
                }
            }
        }
        if margin < out.margin {
            (out.margin, out.margin_time) = (margin, spot.t);
        }
        let word = |i: usize| match self.modes[i] {
            Hold::Open => Mode::Open,
            Hold::Smooth => Mode::Closed,
            Hold::Stick => Mode::Stick,
            Hold::Slide(_) if self.linear.info[i].tangent.len() > 1 => Mode::Slip,
            Hold::Slide(d) if d[0] < 0.0 => Mode::SlipMinus,
            Hold::Slide(_) => Mode::SlipPlus,
        };
        let modes = (0..self.modes.len()).map(word).collect();
        out.points.push(Point {
            time: spot.t,
            q: spot.q.clone(),
            modes,
            lambda: spot.lambda.clone(),
            margin,
        });
        self.others(spot, out)
    }
}

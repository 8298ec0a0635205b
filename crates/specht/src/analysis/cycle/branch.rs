//! Branches of cycles over a parameter, by their arclength (METH-CONT-ARC), with their special points (METH-BIF-SMOOTH, METH-BIF-DIB).
//!
//! ```text
//! y = (x₀, T, σ, p):   x(T; x₀, p) − x₀ − c T − E σ = 0,    t·(y − y_k) = s        t: direction of the branch at y_k
//! ```
//!
//! Every point starts in the middle of its own most constrained phase, so the sequence of events may change along the branch. A special point
//! is where a test changes its sign (smooth ones) or the events of a cycle change (the others); it is located between two points of the branch
//! by bisection in s. The branch ends at a bound, where it closes, or where no step however short finds another cycle; the margins of the last cycle
//! say why. [Keller1977], [DiBernardo2008]

use crate::linalg::{Mat, Svd, dot, max_abs};
use crate::model::CompiledSystem;
use crate::sim::{Kind, Settings};
use crate::system::State;

use super::portrait::{Portrait, portrait};
use super::recur::{Section, middle_of};
use super::shoot::{Orbit, Shot, finish, fire, mended};
use super::symmetry::{Symmetry, period_near};
use super::{numbers, state_of};

/// First, longest and shortest step, in units of the range of the parameter and of the sizes of the motion.
const FIRST: f64 = 0.02;
const LONGEST: f64 = 0.08;
const SHORTEST: f64 = 1e-7;
/// Corrections of a step.
const CORRECTIONS: usize = 8;
/// Scaled residual of a point.
const ZERO: f64 = 1e-10;
/// Steps of the location of a special point.
const LOCATE: usize = 40;

/// Kinds and contacts of the events of a period.
pub(crate) type Sequence = Vec<(Kind, Vec<usize>)>;

/// What is followed.
pub(crate) struct Follow<'a> {
    pub sys: &'a CompiledSystem,
    /// Number of the live parameter.
    pub parameter: usize,
    pub settings: &'a Settings,
    pub symmetry: Symmetry,
    pub section: Section,
    /// Period of the forcing at the first point, and how many of them a cycle takes.
    pub forcing: Option<(f64, f64)>,
    pub range: [f64; 2],
    /// Most points.
    pub most: usize,
}

/// A cycle of the branch.
pub(crate) struct Point {
    pub parameter: f64,
    pub orbit: Orbit,
    pub portrait: Portrait,
    /// Direction of the branch: numbers of the state, period, parameter.
    tangent: Tangent,
    sequence: Sequence,
    sigma: Vec<f64>,
}

/// A special point.
pub(crate) struct Special {
    pub label: &'static str,
    pub at: Point,
    /// The cycles on both sides.
    pub before: Side,
    pub after: Option<Side>,
}

/// A cycle beside a special point.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub multipliers: Vec<[f64; 2]>,
    pub stable: bool,
    pub sequence: Sequence,
}

/// A whole branch.
pub(crate) struct Branch {
    pub points: Vec<Point>,
    pub special: Vec<Special>,
    pub ended: String,
}

#[derive(Clone, Debug)]
struct Tangent {
    x: Vec<f64>,
    period: f64,
    parameter: f64,
}

/// A guess on the way.
#[derive(Clone)]
struct Guess {
    state: State,
    period: f64,
    sigma: Vec<f64>,
    parameter: f64,
}

impl Point {
    fn side(&self) -> Side {
        Side {
            multipliers: self.orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
            stable: self.orbit.largest() < 1.0,
            sequence: self.sequence.clone(),
        }
    }

    fn guess(&self) -> Guess {
        Guess {
            state: self.orbit.start.clone(),
            period: self.orbit.period,
            sigma: self.sigma.clone(),
            parameter: self.parameter,
        }
    }

    /// Π (m + 1): changes its sign where the period doubles.
    fn doubling(&self) -> f64 {
        self.product(|re, im| if im == 0.0 { re + 1.0 } else { (re + 1.0).hypot(im) })
    }

    /// Π (m − 1): changes its sign at folds and where branches cross.
    fn crossing(&self) -> f64 {
        self.product(|re, im| if im == 0.0 { re - 1.0 } else { (re - 1.0).hypot(im) })
    }

    /// Π (|m|² − 1) over pairs.
    fn torus(&self) -> f64 {
        self.product(|re, im| if im == 0.0 { 1.0 } else { re * re + im * im - 1.0 })
    }

    fn pairs(&self) -> usize {
        self.orbit.multipliers.iter().filter(|m| m.im > 0.0).count()
    }

    fn product(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        self.orbit.multipliers.iter().filter(|m| m.im >= 0.0).map(|m| f(m.re, m.im)).product()
    }
}

impl Follow<'_> {
    fn at(&self, p: f64) -> CompiledSystem {
        let mut sys = self.sys.clone();
        let mut values = sys.parameters().to_vec();
        values[self.parameter] = p;
        sys.set_parameters(&values);
        sys
    }

    fn width(&self) -> f64 {
        (self.range[1] - self.range[0]).abs().max(f64::MIN_POSITIVE)
    }

    /// The forced period at a parameter, its rate, and the rate of the time at which cycles start.
    fn period_at(&self, p: f64) -> Option<f64> {
        let (first, count) = self.forcing?;
        Some(count * period_near(&self.at(p), first).unwrap_or(first))
    }

    fn period_rate(&self, p: f64) -> f64 {
        let h = 1e-4 * self.width();
        let at = |p: f64| self.period_at(p).unwrap_or(0.0);
        (8.0 * (at(p + h) - at(p - h)) - (at(p + 2.0 * h) - at(p - 2.0 * h))) / (12.0 * h)
    }

    /// A shot from a guess; the start is put on its constraints, and at its phase of the forcing.
    fn shoot(&self, guess: &Guess) -> Option<(Guess, Shot)> {
        let sys = self.at(guess.parameter);
        let mut state = guess.state.clone();
        let mut period = guess.period;
        if let Some(forced) = self.period_at(guess.parameter) {
            state.t *= forced / guess.period;
            period = forced;
        }
        let state = mended(&sys, self.settings, &state).ok()?;
        let shot =
            fire(&sys, self.settings, &self.symmetry, &state, period, &guess.sigma, Some(self.parameter))
                .ok()?;
        Some((Guess { state, period, ..guess.clone() }, shot))
    }

    /// Columns of the shot: η, δT, δσ, δp, in scaled numbers; the last is that of the parameter.
    fn matrix(&self, guess: &Guess, shot: &Shot) -> (Mat, usize, f64) {
        let (n, k, m) = (shot.gap.len(), shot.basis.len(), self.symmetry.drifts.len());
        let autonomous = usize::from(self.forcing.is_none());
        let columns = k + autonomous + m + 1;
        let drifts = self.symmetry.scaled_drifts();
        let speed = max_abs(&shot.flow[0]).max(f64::MIN_POSITIVE);
        let mut a = Mat::zeros(n + autonomous + 1, columns);
        // the phase of the forcing at which a cycle starts stays
        let (rate, shift) = match self.forcing {
            Some(_) => {
                let rate = self.period_rate(guess.parameter);
                (rate, rate * guess.state.t / guess.period)
            }
            None => (0.0, 0.0),
        };
        let mut carried = vec![0.0; n];
        if shift != 0.0 {
            for (b, image) in shot.basis.iter().zip(&shot.image) {
                crate::linalg::axpy(dot(b, &shot.flow[0]), image, &mut carried);
            }
        }
        for i in 0..n {
            for j in 0..k {
                a[(i, j)] = shot.image[j][i] - shot.basis[j][i];
            }
            if autonomous == 1 {
                a[(i, k)] = shot.flow[1][i] / speed;
            }
            for (j, e) in drifts.iter().enumerate() {
                a[(i, k + autonomous + j)] = -e[i];
            }
            let own = shot.parameter.as_ref().map_or(0.0, |c| c[i]);
            let moved = rate * shot.flow[1][i] + shift * (shot.flow[1][i] - carried[i]);
            a[(i, columns - 1)] = (own + moved) * self.width();
        }
        if autonomous == 1 {
            for j in 0..k {
                a[(n, j)] = dot(&shot.flow[0], &shot.basis[j]) / speed;
            }
        }
        (a, k, speed)
    }

    /// The direction of the branch at a shot.
    fn tangent(&self, guess: &Guess, shot: &Shot, before: Option<&Tangent>) -> Tangent {
        let (a, k, speed) = self.matrix(guess, shot);
        let rows = a.rows() - 1;
        let core = Mat::from_fn(rows, a.cols(), |i, j| a[(i, j)]);
        let v = Svd::new(&core).least();
        let mut x = vec![0.0; shot.gap.len()];
        for (b, f) in shot.basis.iter().zip(&v) {
            crate::linalg::axpy(*f, b, &mut x);
        }
        let period = if self.forcing.is_none() { v[k] / speed } else { 0.0 };
        let mut t = Tangent { x, period, parameter: v[a.cols() - 1] };
        let length = (dot(&t.x, &t.x) + t.parameter * t.parameter).sqrt().max(f64::MIN_POSITIVE);
        let sign = match before {
            Some(b) => (dot(&t.x, &b.x) + t.parameter * b.parameter).signum(),
            None => t.parameter.signum() * (self.range[1] - self.range[0]).signum(),
        };
        t.x.iter_mut().for_each(|v| *v *= sign / length);
        t.period *= sign / length;
        t.parameter *= sign / length;
        t
    }

    /// The cycle at the distance `s` from a point along its direction, and the corrections that it took.
    fn step(&self, from: &Point, s: f64) -> Option<(Point, usize)> {
        let t = &from.tangent;
        let scale = &self.symmetry.scale;
        let mut x = numbers(&from.orbit.start);
        x.iter_mut().zip(&t.x).zip(scale).for_each(|((x, t), d)| *x += s * t * d);
        let aim = x.clone();
        let mut guess = Guess {
            state: state_of(from.orbit.start.t, &x, &from.orbit.start),
            period: from.orbit.period + s * t.period,
            sigma: from.sigma.clone(),
            parameter: from.parameter + s * t.parameter * self.width(),
        };
        let goal = guess.parameter;
        let mut last = f64::INFINITY;
        for count in 0..CORRECTIONS {
            let (g, shot) = self.shoot(&guess)?;
            guess = g;
            let now = numbers(&guess.state);
            let along: f64 = now
                .iter()
                .zip(&aim)
                .zip(scale)
                .zip(&t.x)
                .map(|(((a, b), d), t)| t * (a - b) / d)
                .sum::<f64>()
                + t.parameter * (guess.parameter - goal) / self.width();
            let size = shot.size.max(along.abs());
            if size < ZERO || (count > 4 && size < 1e2 * ZERO) {
                return Some((self.point(guess, shot, Some(t))?, count));
            }
            if size > 4.0 * last && count > 1 {
                return None;
            }
            last = size;
            let (mut a, k, speed) = self.matrix(&guess, &shot);
            let (rows, columns) = (a.rows(), a.cols());
            for j in 0..k {
                a[(rows - 1, j)] = dot(&t.x, &shot.basis[j]);
            }
            a[(rows - 1, columns - 1)] = t.parameter;
            let mut b = vec![0.0; rows];
            for (b, (g, d)) in b.iter_mut().zip(shot.gap.iter().zip(scale)) {
                *b = -g / d;
            }
            b[rows - 1] = -along;
            let y = Svd::new(&a).solve(&b, 1e-10);
            let mut x = now;
            for (basis, f) in shot.basis.iter().zip(&y) {
                x.iter_mut().zip(basis).zip(scale).for_each(|((x, b), d)| *x += f * b * d);
            }
            let autonomous = usize::from(self.forcing.is_none());
            guess.state = state_of(guess.state.t, &x, &guess.state);
            if autonomous == 1 {
                guess.period += y[k] / speed;
            }
            guess.sigma.iter_mut().zip(&y[k + autonomous..columns - 1]).for_each(|(s, d)| *s += d);
            guess.parameter += y[columns - 1] * self.width();
            if !(guess.period > 0.0) || !guess.parameter.is_finite() {
                return None;
            }
        }
        None
    }

    /// A converged shot as a point, started anew in the middle of its most constrained phase.
    fn point(&self, guess: Guess, shot: Shot, before: Option<&Tangent>) -> Option<Point> {
        let sys = self.at(guess.parameter);
        let tangent = self.tangent(&guess, &shot, before);
        let sequence = rotated(shot.sequence.clone());
        let orbit = finish(&self.symmetry, guess.state.clone(), guess.period, &guess.sigma, shot, 0).ok()?;
        let section = match (&self.section, self.forcing) {
            (Section::Period(_), Some((first, _))) => {
                Section::Period(period_near(&sys, first).unwrap_or(first))
            }
            (other, _) => other.clone(),
        };
        let portrait = portrait(&sys, self.settings, &orbit, &section).ok()?;
        Some(Point { parameter: guess.parameter, orbit, portrait, tangent, sequence, sigma: guess.sigma })
    }

    /// The same cycle, started in the middle of its most constrained phase.
    fn centred(&self, point: Point) -> Point {
        let sys = self.at(point.parameter);
        let Some(mut state) = middle_of(&sys, &point.portrait.run) else { return point };
        if self.forcing.is_some() {
            state.t = state.t.rem_euclid(point.orbit.period);
        }
        let guess = Guess { state, ..point.guess() };
        let Some((guess, mut shot)) = self.shoot(&guess) else { return point };
        let mut sigma = guess.sigma.clone();
        super::shoot::drift_of(&self.symmetry, &mut shot, &mut sigma);
        // only where it is as exact as before
        if shot.size > 1e3 * ZERO {
            return point;
        }
        let guess = Guess { sigma, ..guess };
        let direction = self.tangent(&guess, &shot, None);
        let mut new = match self.point(guess, shot, None) {
            Some(new) => new,
            None => return point,
        };
        // the same way along the branch: by the parameter, and where it turns by the period
        let same = match point.tangent.parameter.abs() > 1e-3 {
            true => direction.parameter * point.tangent.parameter,
            false => direction.period * point.tangent.period,
        };
        if same < 0.0 {
            new.tangent.x.iter_mut().for_each(|v| *v = -*v);
            new.tangent.period = -new.tangent.period;
            new.tangent.parameter = -new.tangent.parameter;
        }
        new
    }

    /// The branch from a cycle at the first end of the range.
    pub(crate) fn run(
        &self,
        start: &Orbit,
        sigma: Vec<f64>,
        mut watch: impl FnMut(f64) -> bool,
    ) -> Result<Branch, String> {
        let first =
            Guess { state: start.start.clone(), period: start.period, sigma, parameter: self.range[0] };
        let Some((guess, shot)) = self.shoot(&first) else {
            return Err("the first cycle cannot be shot again".into());
        };
        let Some(point) = self.point(guess, shot, None) else {
            return Err("the first cycle has no derivatives".into());
        };
        if point.tangent.parameter == 0.0 && max_abs(&point.tangent.x) == 0.0 {
            return Err("the parameter does not act on the cycle".into());
        }
        let mut branch = Branch { points: vec![point], special: Vec::new(), ended: String::new() };
        let mut s = FIRST;
        loop {
            let last = &branch.points[branch.points.len() - 1];
            if branch.points.len() >= self.most {
                branch.ended = format!("{} cycles", self.most);
                return Ok(branch);
            }
            if !watch((last.parameter - self.range[0]).abs() / self.width()) {
                branch.ended = "interrupted".into();
                return Ok(branch);
            }
            let Some((next, corrections)) = self.step(last, s) else {
                s *= 0.5;
                if s < SHORTEST {
                    self.end(&mut branch);
                    return Ok(branch);
                }
                continue;
            };
            // a jump to another cycle is no step
            if self.distance(last, &next) > 4.0 * s {
                s *= 0.5;
                if s < SHORTEST {
                    self.end(&mut branch);
                    return Ok(branch);
                }
                continue;
            }
            for special in self.between(last, &next, s) {
                branch.special.push(special);
            }
            let (low, high) = (self.range[0].min(self.range[1]), self.range[0].max(self.range[1]));
            if next.parameter > high || next.parameter < low {
                let bound = if next.parameter > high { high } else { low };
                if let Some(at) = self.locate(last, s, |p| p.parameter - bound) {
                    branch.points.push(at);
                }
                branch.ended = "bound of the parameter".into();
                return Ok(branch);
            }
            let next = self.centred(next);
            branch.points.push(next);
            s = if corrections <= 3 { (1.3 * s).min(LONGEST) } else { s };
        }
    }

    fn distance(&self, a: &Point, b: &Point) -> f64 {
        let (x, y) = (numbers(&a.orbit.start), numbers(&b.orbit.start));
        let rest: Vec<f64> = x.iter().zip(&y).map(|(a, b)| b - a).collect();
        let moved = max_abs(&self.symmetry.without_drift(&rest));
        moved.max((a.parameter - b.parameter).abs() / self.width())
    }

    /// The point between `from` and `from + s` at which `f` vanishes.
    fn locate(&self, from: &Point, s: f64, f: impl Fn(&Point) -> f64) -> Option<Point> {
        let (mut a, mut fa) = (0.0, f(from));
        let (mut b, mut best) = (s, self.step(from, s)?.0);
        let mut fb = f(&best);
        let mut side = 0.0;
        for _ in 0..LOCATE {
            if (b - a).abs() < 1e-10 || fb == 0.0 {
                break;
            }
            // regula falsi with halved weights, bisection where that leaves the bracket
            let mut x = (a * fb - b * fa) / (fb - fa);
            let inside = x > a.min(b) && x < a.max(b);
            if !inside {
                x = 0.5 * (a + b);
            }
            let Some((middle, _)) = self.step(from, x) else { break };
            let fx = f(&middle);
            best = middle;
            if fx.abs() < 1e-11 {
                break;
            }
            if fx * fb > 0.0 {
                (b, fb) = (x, fx);
                if side == 1.0 {
                    fa *= 0.5;
                }
                side = 1.0;
            } else {
                (a, fa) = (x, fx);
                if side == -1.0 {
                    fb *= 0.5;
                }
                side = -1.0;
            }
        }
        Some(best)
    }

    /// Special points between two points of the branch.
    fn between(&self, a: &Point, b: &Point, s: f64) -> Vec<Special> {
        if a.sequence != b.sequence {
            return self.change(a, b, s).into_iter().collect();
        }
        let mut out = Vec::new();
        let mut add = |label: &'static str, f: &dyn Fn(&Point) -> f64| {
            if let Some(at) = self.locate(a, s, f) {
                out.push(Special { label, at, before: a.side(), after: Some(b.side()) });
            }
        };
        let turns = a.tangent.parameter * b.tangent.parameter < 0.0;
        if turns {
            add("fold", &|p| p.tangent.parameter);
        }
        let nonzero = a.orbit.multipliers.len() == b.orbit.multipliers.len();
        if nonzero && a.doubling() * b.doubling() < 0.0 {
            add("doubling", &Point::doubling);
        }
        if nonzero && !turns && a.crossing() * b.crossing() < 0.0 {
            add("pitchfork", &Point::crossing);
        }
        if nonzero && a.pairs() == b.pairs() && a.pairs() > 0 && a.torus() * b.torus() < 0.0 {
            add("torus", &Point::torus);
        }
        out
    }

    /// The events change between two points: where, and what it is.
    fn change(&self, a: &Point, b: &Point, s: f64) -> Option<Special> {
        let (mut low, mut high) = (0.0, s);
        let (mut left, mut right) = (None, None);
        for _ in 0..LOCATE {
            let middle = 0.5 * (low + high);
            match self.step(a, middle) {
                Some((p, _)) if p.sequence == a.sequence => {
                    left = Some(p);
                    low = middle;
                }
                Some((p, _)) => {
                    right = Some(p);
                    high = middle;
                }
                None => high = middle,
            }
            if high - low < 1e-10 {
                break;
            }
        }
        let (before, after) = (left.as_ref().unwrap_or(a).side(), right.as_ref().unwrap_or(b).side());
        let label = change_of(a, right.as_ref().unwrap_or(b));
        Some(Special { label, at: left.or(right)?, before, after: Some(after) })
    }

    /// No step finds another cycle: the margins of the last one say why.
    fn end(&self, branch: &mut Branch) {
        let Some(last) = branch.points.pop() else { return };
        let seen = &last.portrait;
        let small = |x: Option<f64>, size: f64| x.is_some_and(|x| x < 1e-2 * size);
        let speed = self.symmetry.scale[last.orbit.start.q.len()..].iter().fold(0.0_f64, |m, s| m.max(*s));
        let length = self.symmetry.scale[..last.orbit.start.q.len()].iter().fold(0.0_f64, |m, s| m.max(*s));
        let (label, reason) = if small(seen.slowest_impact, speed) || small(seen.grazing, length) {
            ("grazing", "grazing: an impact of the cycle loses its speed, or a contact is touched")
        } else if small(seen.shortest_stick, last.orbit.period) {
            ("stick-loss", "loss of stick: a stick of the cycle has no length any more")
        } else if small(seen.least_slip, speed) {
            ("stick-onset", "a slip of the cycle comes to zero")
        } else {
            ("end", "no cycle is found any further")
        };
        branch.ended = reason.to_string();
        let before = last.side();
        let copy = self.shoot(&last.guess()).and_then(|(g, shot)| self.point(g, shot, Some(&last.tangent)));
        branch.points.push(last);
        if let Some(at) = copy {
            branch.special.push(Special { label, at, before, after: None });
        }
    }
}

/// What a change of events is called.
fn change_of(a: &Point, b: &Point) -> &'static str {
    let count = |p: &Point, kind: Kind| p.sequence.iter().filter(|e| e.0 == kind).count();
    let more = |kind: Kind| count(b, kind) as i64 - count(a, kind) as i64;
    if more(Kind::Impact) != 0 {
        return "grazing";
    }
    if more(Kind::Stick) != 0 || more(Kind::Slip) != 0 {
        // a new stop is short in time at rest, a new slip in time of motion
        let longer = if more(Kind::Stick) + more(Kind::Slip) > 0 { b } else { a };
        let stick = longer.portrait.shortest_stick.unwrap_or(f64::INFINITY);
        let slip = longer.portrait.shortest_slip.unwrap_or(f64::INFINITY);
        return match (slip < stick, more(Kind::Stick) + more(Kind::Slip) > 0) {
            (true, _) => "slip-onset",
            (false, true) => "stick-onset",
            (false, false) => "stick-loss",
        };
    }
    if more(Kind::Detach) != 0 || more(Kind::Touch) != 0 {
        return "lift-off";
    }
    "order-change"
}

/// A cyclic sequence from its smallest rotation on.
fn rotated(list: Sequence) -> Sequence {
    let n = list.len();
    let turn = |k: usize| -> Sequence { (0..n).map(|i| list[(i + k) % n].clone()).collect() };
    (0..n).map(turn).min().unwrap_or_default()
}

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

use std::cell::OnceCell;

use crate::analysis::line::Line;
use crate::linalg::{Mat, Svd, dot, max_abs};
use crate::model::CompiledSystem;
use crate::sim::{Kind, Settings};
use crate::system::{ContactInfo, Mode, State, System};

use super::portrait::{Portrait, portrait_from};
use super::recur::middle_of;
use super::shoot::{Orbit, Shot, Varied, finish, fire, mended_as, rounding, start_modes};
use super::special::Special;
use super::symmetry::{Symmetry, period_near};
use super::{EXACT, moved, way};

/// First and longest step of a whole branch, in units of the range of the parameter and of the sizes of the motion.
pub(crate) const STEPS: [f64; 2] = [0.02, 0.08];
/// Kinks at which a branch turns back, at most.
const KINKS: usize = 4;
/// The step with which another start of the same cycle begins.
const AGAIN: f64 = 1e-3;
/// Shortest step.
pub(super) const SHORTEST: f64 = 1e-7;
/// Corrections of a step.
const CORRECTIONS: usize = 8;
/// Below this share of the parameter in its direction a branch turns.
const TURNS: f64 = 0.02;
/// A step that bends by more, relative to its length, is predicted straight.
const BENDS: f64 = 0.25;
/// The part of the way to a grazing that a step may go, and how far behind it one looks for the branch.
const NEARER: f64 = 0.45;
const BEHIND: f64 = 3.0;
/// A start that is nearer to the middle of its phase stays.
const CENTRAL: f64 = 0.2;
/// Steps that are longer begin with a shot of this tolerance.
const LONG: f64 = 1e-4;
const ROUGH: f64 = 1e-8;
/// Scaled residual of a point.
const ZERO: f64 = 1e-10;

/// Kinds and contacts of the events of a period.
pub(crate) type Sequence = Vec<(Kind, Vec<usize>)>;

/// What is followed.
pub(crate) struct Follow<'a> {
    pub sys: &'a CompiledSystem,
    /// What changes.
    pub line: Line,
    pub settings: &'a Settings,
    pub symmetry: Symmetry,
    /// Period of the forcing at the first point, and how many of them a cycle takes.
    pub forcing: Option<(f64, f64)>,
    pub range: [f64; 2],
    /// Most points.
    pub most: usize,
    /// First and longest step.
    pub steps: [f64; 2],
    /// The special point that is looked for: the branch ends behind it.
    pub wanted: Option<&'static str>,
}

/// A cycle of the branch.
#[derive(Clone)]
pub(crate) struct Point {
    pub parameter: f64,
    pub orbit: Orbit,
    seen: OnceCell<Option<Box<Portrait>>>,
    /// Direction of the branch: numbers of the state, period, parameter.
    pub(super) tangent: Tangent,
    /// The direction at the point before, and how far that is back: how the branch bends. None where the cycle was started elsewhere.
    pub(super) before: Option<(Tangent, f64)>,
    pub(super) sequence: Sequence,
    /// Where the start is in its phase.
    inside: f64,
    sigma: Vec<f64>,
    /// Modes at the start.
    modes: Vec<Mode>,
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

impl Branch {
    /// Whether the parameter grows (1) or falls (−1) where the branch comes to a special point.
    pub(crate) fn ahead(&self, s: &Special) -> f64 {
        self.points[s.from].tangent.parameter.signum()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tangent {
    pub(super) x: Vec<f64>,
    pub(super) period: f64,
    pub(super) parameter: f64,
}

impl Tangent {
    /// What the bend of the branch adds over the step `s` from here, where the point before had the direction `before.0` a step `before.1` back.
    fn bend(&self, before: &(Tangent, f64), s: f64) -> Tangent {
        let factor = 0.5 * s * s / before.1;
        let old = &before.0;
        let mut out = Tangent {
            x: self.x.iter().zip(&old.x).map(|(a, b)| factor * (a - b)).collect(),
            period: factor * (self.period - old.period),
            parameter: factor * (self.parameter - old.parameter),
        };
        // a kink is no bend
        if max_abs(&out.x).max(out.parameter.abs()) > BENDS * s {
            out.scale(0.0);
        }
        out
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.x.iter_mut().for_each(|v| *v *= factor);
        self.period *= factor;
        self.parameter *= factor;
    }
}

/// A step along the branch.
pub(super) struct Step {
    pub(super) point: Point,
    pub(super) corrections: usize,
    /// Distance from where the direction leads.
    pub(super) off: f64,
}

/// A guess on the way.
#[derive(Clone)]
pub(crate) struct Guess {
    pub(super) state: State,
    pub(super) period: f64,
    pub(super) sigma: Vec<f64>,
    pub(super) parameter: f64,
    /// Modes at the start.
    pub(super) modes: Vec<Mode>,
}

impl Point {
    /// One period of it, once it was looked at.
    pub(crate) fn seen(&self) -> Option<&Portrait> {
        self.seen.get()?.as_deref()
    }

    /// Events of a period.
    pub(crate) fn events(&self) -> usize {
        self.sequence.len()
    }

    pub(super) fn side(&self) -> Side {
        Side {
            multipliers: self.orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
            stable: self.orbit.is_stable(),
            sequence: self.sequence.clone(),
        }
    }

    pub(super) fn guess(&self) -> Guess {
        Guess {
            state: self.orbit.start.clone(),
            period: self.orbit.period,
            sigma: self.sigma.clone(),
            parameter: self.parameter,
            modes: self.modes.clone(),
        }
    }
}

impl Follow<'_> {
    pub(super) fn at(&self, p: f64) -> CompiledSystem {
        self.line.at(self.sys, p)
    }

    pub(super) fn width(&self) -> f64 {
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
    pub(super) fn shoot(&self, guess: &Guess) -> Option<(Guess, Shot)> {
        self.shoot_with(guess, EXACT)
    }

    /// The same with a tolerance.
    fn shoot_with(&self, guess: &Guess, tolerance: f64) -> Option<(Guess, Shot)> {
        let sys = self.at(guess.parameter);
        let mut state = guess.state.clone();
        let mut period = guess.period;
        if let Some(forced) = self.period_at(guess.parameter) {
            state.t *= forced / guess.period;
            period = forced;
        }
        let state = mended_as(&sys, &state, &guess.modes).ok()?;
        let guess = Guess { state, period, ..guess.clone() };
        let varied = Varied { line: &self.line, follows: self.follows(&guess) };
        let (settings, symmetry) = (self.settings, &self.symmetry);
        let start = (&guess.state, period);
        let shot = fire(&sys, settings, symmetry, start, &guess.sigma, Some(&varied), tolerance).ok()?;
        let modes = shot.modes.clone();
        Some((Guess { modes, ..guess }, shot))
    }

    /// Rates at which the start follows the parameter: contacts that are closed or stick move with it.
    fn follows(&self, guess: &Guess) -> Vec<f64> {
        let free = vec![0.0; self.symmetry.scale.len()];
        let held = |(c, m): (&ContactInfo, &Mode)| {
            c.is_bilateral() || *m == Mode::Stick || (c.is_unilateral() && m.is_closed())
        };
        if !self.sys.contacts().iter().zip(&guess.modes).any(held) {
            return free;
        }
        let h = 1e-5 * self.width();
        let at = |p: f64| {
            let mut state = guess.state.clone();
            if let Some(forced) = self.period_at(p) {
                state.t *= forced / guess.period;
            }
            mended_as(&self.at(p), &state, &guess.modes).ok()
        };
        match (at(guess.parameter - h), at(guess.parameter + h)) {
            (Some(a), Some(b)) => way(&a, &b).iter().map(|d| d / (2.0 * h)).collect(),
            _ => free,
        }
    }

    /// Columns of the shot: η, δT, δσ, δp, in scaled numbers; the last is that of the parameter.
    pub(super) fn matrix(&self, guess: &Guess, shot: &Shot) -> (Mat, usize, f64) {
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
            let own = shot.parameter.as_ref().map_or(0.0, |c| c[i]) - shot.follows[i];
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
        let v = self.ahead(&Svd::new(&core), k, speed, shot, before);
        let mut t = self.direction(&v, k, speed, shot);
        let sign = match before {
            Some(b) => (dot(&t.x, &b.x) + t.parameter * b.parameter).signum(),
            None => t.parameter.signum() * (self.range[1] - self.range[0]).signum(),
        };
        t.scale(sign);
        t
    }

    /// A direction of unit length from a null vector.
    pub(super) fn direction(&self, v: &[f64], k: usize, speed: f64, shot: &Shot) -> Tangent {
        let mut x = vec![0.0; shot.gap.len()];
        for (b, f) in shot.basis.iter().zip(v) {
            crate::linalg::axpy(*f, b, &mut x);
        }
        let parameter = v[v.len() - 1];
        crate::linalg::axpy(parameter * self.width(), &shot.follows, &mut x);
        let period = if self.forcing.is_none() { v[k] / speed } else { 0.0 };
        let mut t = Tangent { x, period, parameter };
        let length = (dot(&t.x, &t.x) + t.parameter * t.parameter).sqrt().max(f64::MIN_POSITIVE);
        t.scale(1.0 / length);
        t
    }

    /// The null vector along the branch: as before, or along the parameter. A family of cycles has others.
    fn ahead(&self, svd: &Svd, k: usize, speed: f64, shot: &Shot, before: Option<&Tangent>) -> Vec<f64> {
        let null = svd.null(1e-9);
        if null.len() < 2 {
            return svd.least();
        }
        let wanted = match before {
            Some(t) => self.columns_of(t, k, speed, shot, null[0].len()),
            None => (0..null[0].len()).map(|i| f64::from(u8::from(i + 1 == null[0].len()))).collect(),
        };
        let mut v = vec![0.0; wanted.len()];
        for n in &null {
            crate::linalg::axpy(dot(n, &wanted), n, &mut v);
        }
        if max_abs(&v) > 1e-9 { v } else { svd.least() }
    }

    /// A direction as amounts of the columns of the matrix.
    pub(super) fn columns_of(
        &self,
        t: &Tangent,
        k: usize,
        speed: f64,
        shot: &Shot,
        count: usize,
    ) -> Vec<f64> {
        let mut v = vec![0.0; count];
        v.iter_mut().zip(&shot.basis).for_each(|(v, b)| *v = dot(&t.x, b));
        if self.forcing.is_none() {
            v[k] = t.period * speed;
        }
        v[count - 1] = t.parameter;
        v
    }

    /// The cycle at the distance `s` from a point along its direction, the corrections that it took, and how far it is from where
    /// that direction leads.
    pub(super) fn step(&self, from: &Point, s: f64) -> Option<Step> {
        let t = &from.tangent;
        let scale = &self.symmetry.scale;
        let mut bend = Tangent { x: vec![0.0; t.x.len()], period: 0.0, parameter: 0.0 };
        if let Some(before) = &from.before {
            bend = t.bend(before, s);
        }
        let ahead: Vec<f64> = t.x.iter().zip(&bend.x).zip(scale).map(|((t, b), d)| (s * t + b) * d).collect();
        let mut aim = moved(self.sys, &from.orbit.start, &ahead);
        let mut guess = Guess {
            state: aim.clone(),
            period: from.orbit.period + s * t.period + bend.period,
            sigma: from.sigma.clone(),
            parameter: from.parameter + (s * t.parameter + bend.parameter) * self.width(),
            modes: from.modes.clone(),
        };
        let goal = guess.parameter;
        let mut last = f64::INFINITY;
        for count in 0..CORRECTIONS {
            // the first shot of a long step need not be exact
            let tolerance = if count == 0 && s.abs() > LONG { ROUGH } else { EXACT };
            let (g, shot) = self.shoot_with(&guess, tolerance)?;
            guess = g;
            if count == 0 {
                aim.clone_from(&guess.state);
            }
            let rest = way(&aim, &guess.state);
            let along: f64 = rest.iter().zip(scale).zip(&t.x).map(|((r, d), t)| t * r / d).sum::<f64>()
                + t.parameter * (guess.parameter - goal) / self.width();
            let size = shot.size.max(along.abs());
            let zero = ZERO.max(rounding(&self.symmetry, &guess.state));
            if (size < zero && shot.exact) || (count > 4 && size < 1e2 * zero) {
                // a phase so short that rounding passes over its beginning
                if !shot.round {
                    return None;
                }
                let off = max_abs(&self.symmetry.without_drift(&rest));
                let off = off.max((guess.parameter - goal).abs() / self.width());
                return Some(Step { point: self.point(guess, shot, Some(t))?, corrections: count, off });
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
            a[(rows - 1, columns - 1)] = t.parameter + dot(&t.x, &shot.follows) * self.width();
            let mut b = vec![0.0; rows];
            for (b, (g, d)) in b.iter_mut().zip(shot.gap.iter().zip(scale)) {
                *b = -g / d;
            }
            b[rows - 1] = -along;
            let y = Svd::new(&a).solve(&b, 1e-10);
            let mut x = vec![0.0; scale.len()];
            for (basis, f) in shot.basis.iter().zip(&y) {
                x.iter_mut().zip(basis).zip(scale).for_each(|((x, b), d)| *x += f * b * d);
            }
            let along_p = y[columns - 1] * self.width();
            x.iter_mut().zip(&shot.follows).zip(scale).for_each(|((x, f), d)| *x += along_p * f * d);
            let autonomous = usize::from(self.forcing.is_none());
            guess.state = moved(self.sys, &guess.state, &x);
            if autonomous == 1 {
                guess.period += y[k] / speed;
            }
            guess.sigma.iter_mut().zip(&y[k + autonomous..columns - 1]).for_each(|(s, d)| *s += d);
            guess.parameter += along_p;
            if !(guess.period > 0.0) || !guess.parameter.is_finite() {
                return None;
            }
        }
        None
    }

    /// A converged shot as a point, started anew in the middle of its most constrained phase.
    pub(super) fn point(&self, guess: Guess, shot: Shot, before: Option<&Tangent>) -> Option<Point> {
        let tangent = self.tangent(&guess, &shot, before);
        let inside = shot.inside;
        let sequence = rotated(shot.sequence.clone());
        let orbit = finish(&self.symmetry, guess.state.clone(), guess.period, &guess.sigma, shot, 0).ok()?;
        let (parameter, sigma, modes) = (guess.parameter, guess.sigma, guess.modes);
        let (seen, before) = (OnceCell::new(), None);
        Some(Point { parameter, orbit, seen, tangent, before, sequence, inside, sigma, modes })
    }

    /// One period of a cycle of the branch.
    pub(super) fn look<'p>(&self, p: &'p Point) -> Option<&'p Portrait> {
        let new = || {
            let sys = self.at(p.parameter);
            portrait_from(&sys, self.settings, &p.orbit.start, p.orbit.period).ok().map(Box::new)
        };
        p.seen.get_or_init(new).as_deref()
    }

    /// The same cycle, started in the middle of its most constrained phase, or of its longest one of `any` kind.
    fn centred(&self, point: Point, any: bool) -> Point {
        // where the branch turns, the way along it would be lost
        if point.tangent.parameter.abs() < TURNS || (point.inside > CENTRAL && !any) {
            return point;
        }
        let sys = self.at(point.parameter);
        let middle = self.look(&point).and_then(|seen| middle_of(&sys, self.settings, &seen.run, any));
        let Some(mut state) = middle else { return point };
        if self.forcing.is_some() {
            state.t = state.t.rem_euclid(point.orbit.period);
        }
        let Ok(modes) = start_modes(&sys, self.settings, &state) else { return point };
        let guess = Guess { state, modes, ..point.guess() };
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
        let same = direction.parameter * point.tangent.parameter;
        if same < 0.0 {
            new.tangent.scale(-1.0);
        }
        // it is the same cycle
        Point { seen: point.seen, ..new }
    }

    /// The branch from a cycle at the first end of the range.
    pub(crate) fn run(
        &self,
        start: &Orbit,
        sigma: Vec<f64>,
        watch: impl FnMut(f64) -> bool,
    ) -> Result<Branch, String> {
        let parameter = self.range[0];
        let modes = start_modes(&self.at(parameter), self.settings, &start.start)?;
        let first = Guess { state: start.start.clone(), period: start.period, sigma, parameter, modes };
        self.from(first, watch).map(|branch| self.looked_at(branch))
    }

    /// A branch whose cycles can be seen.
    pub(super) fn looked_at(&self, branch: Branch) -> Branch {
        branch.points.iter().chain(branch.special.iter().map(|s| &s.at)).for_each(|p| {
            self.look(p);
        });
        branch
    }

    /// The branch from a guess of a cycle.
    pub(super) fn from(&self, first: Guess, watch: impl FnMut(f64) -> bool) -> Result<Branch, String> {
        let Some((guess, shot)) = self.shoot(&first) else {
            return Err("the first cycle cannot be shot again".into());
        };
        let Some(point) = self.point(guess, shot, None) else {
            return Err("the first cycle has no derivatives".into());
        };
        if point.tangent.parameter == 0.0 && max_abs(&point.tangent.x) == 0.0 {
            return Err("the parameter does not act on the cycle".into());
        }
        Ok(self.onwards(point, watch))
    }

    /// The branch from a point on, along its direction.
    pub(super) fn onwards(&self, point: Point, mut watch: impl FnMut(f64) -> bool) -> Branch {
        let mut branch = Branch { points: vec![point], special: Vec::new(), ended: String::new() };
        let [mut s, longest] = self.steps;
        let (mut elsewhere, mut turns) = (false, 0);
        loop {
            let last = &branch.points[branch.points.len() - 1];
            if branch.points.len() >= self.most {
                branch.ended = format!("{} cycles", self.most);
                return branch;
            }
            if !watch((last.parameter - self.range[0]).abs() / self.width()) {
                branch.ended = "interrupted".into();
                return branch;
            }
            let taken = self.step(last, s).and_then(|step| self.accepted(&branch.points, step, s));
            let Some((next, corrections, special)) = taken else {
                s *= 0.5;
                if s >= SHORTEST {
                    continue;
                }
                // the phase in which it starts may come to its end: another one may go on
                if !elsewhere && let Some(last) = branch.points.pop() {
                    branch.points.push(self.centred(last, true));
                    (elsewhere, s) = (true, AGAIN);
                    continue;
                }
                let lost = self.end(&mut branch);
                // where stick is lost or gained the branch may turn back with other events
                let back = lost.filter(|_| turns < KINKS).and_then(|grows| self.turned(&branch, grows));
                let Some(next) = back else { return branch };
                if let Some(special) = branch.special.last_mut() {
                    special.after = Some(next.side());
                }
                branch.points.push(next);
                (turns, s, elsewhere) = (turns + 1, AGAIN, false);
                continue;
            };
            let shrunk = special.iter().any(|s| s.label == "hopf");
            let found = special.iter().any(|s| Some(s.label) == self.wanted);
            let from = branch.points.len() - 1;
            branch.special.extend(special.into_iter().map(|s| Special { from, ..s }));
            if shrunk {
                branch.ended = "the cycle shrinks to a steady motion".into();
                return branch;
            }
            if found {
                branch.ended = "what is looked for".into();
                return branch;
            }
            let last = &branch.points[branch.points.len() - 1];
            let (low, high) = (self.range[0].min(self.range[1]), self.range[0].max(self.range[1]));
            if next.parameter > high || next.parameter < low {
                let bound = if next.parameter > high { high } else { low };
                if let Some(at) = self.locate(last, s, |p| p.parameter - bound) {
                    branch.points.push(at);
                }
                branch.ended = "bound of the parameter".into();
                return branch;
            }
            let next = Point { before: Some((last.tangent.clone(), s)), ..next };
            let next = self.centred(next, false);
            elsewhere = false;
            let grazes = self.to_grazing(last, &next, s);
            s = if corrections <= 3 { (1.3 * s).min(longest) } else { s };
            match grazes {
                // beside a grazing Newton's method finds only what is clearly behind it
                Some((way, true)) if BEHIND * way < longest.min(10.0 * s) => s = BEHIND * way,
                Some((way, false)) => s = s.min(NEARER * way),
                _ => {}
            }
            branch.points.push(next);
        }
    }
}

/// A cyclic sequence from its smallest rotation on.
fn rotated(list: Sequence) -> Sequence {
    let n = list.len();
    let turn = |k: usize| -> Sequence { (0..n).map(|i| list[(i + k) % n].clone()).collect() };
    (0..n).map(turn).min().unwrap_or_default()
}

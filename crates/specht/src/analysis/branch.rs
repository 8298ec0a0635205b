//! Branches of equilibria over a parameter, by arc length [Keller1977]
//!
//! The curve `G(y, p) = 0` is followed along its tangent t, the null vector of `[G_y G_p]`; a corrector of Newton with the row
//! `tᵀ (y, p) = const` closes the system. Test functions along the curve:
//!
//! ```text
//! fold             t_p changes sign
//! branch point     det [G_y G_p; tᵀ] changes sign; the new branch leaves along the other null vector.
//!                  Both of its halves on one side of the parameter: pitchfork, else transcritical
//! ```
//!
//! Each is located to rounding on the arc. A branch ends at the ends of the parameter, where a contact opens or closes, or where the corrector fails.

use super::AnalysisError;
use super::balance::Balance;
use super::equilibria::{Equilibrium, balanced, touching};
use super::line::Line;
use super::linear::Way;
use crate::linalg::{FullPivot, Lu, Mat, axpy, dot, max_abs};
use crate::model::CompiledSystem;
use crate::system::{State, System};

/// A point of a branch.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The parameter.
    pub parameter: f64,
    /// The equilibrium there.
    pub at: Equilibrium,
}

/// A special point.
#[derive(Clone, Debug)]
pub(crate) struct Special {
    /// `fold`, `pitchfork`, `transcritical`, `end`.
    pub label: &'static str,
    /// The parameter.
    pub parameter: f64,
    /// The state there.
    pub state: State,
    /// The coordinate that moves most along the new branch.
    pub coordinate: usize,
    /// Stable before and after it, along the branch.
    pub before: Option<bool>,
    /// See `before`.
    pub after: Option<bool>,
    /// The branch on which it was found, and the point before it there.
    pub branch: usize,
    /// See `branch`.
    pub point: usize,
}

/// Everything found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diagram {
    /// Branches, each in its order.
    pub branches: Vec<Vec<Point>>,
    /// Special points.
    pub special: Vec<Special>,
    /// Why each branch ended.
    pub ended: Vec<String>,
}

/// Largest step, in parts of the range and of the sizes of the unknowns.
const STEP: f64 = 0.02;
const SMALLEST: f64 = 1e-7;
/// Most points of one branch, most branches.
const POINTS: usize = 4000;
const BRANCHES: usize = 16;

/// One branch being followed.
struct Curve<'a> {
    sys: &'a CompiledSystem,
    line: &'a Line,
    range: [f64; 2],
    origin: State,
    closed: Vec<bool>,
    unit: Vec<f64>,
    scale: Vec<f64>,
}

impl Curve<'_> {
    fn parameter(&self, s: f64) -> f64 {
        self.range[0] + s * (self.range[1] - self.range[0])
    }

    /// G, its Jacobian with the column of the parameter, at x = (y, s).
    fn at(&self, x: &[f64]) -> Result<(Vec<f64>, Mat), AnalysisError> {
        let (sys, mut balance) = (self.system(x), None);
        let b = balance.insert(Balance::new(&sys, &self.origin, &self.closed)?);
        b.unit.clone_from(&self.unit);
        b.scale.clone_from(&self.scale);
        let n = b.size();
        b.set(&self.origin, &x[..n]);
        let residual = b.residual();
        let jacobian = b.jacobian()?;
        let mut column = vec![0.0; n];
        for (slot, rate) in self.line.rates() {
            axpy(rate, &b.column(Way::Parameter(slot))?, &mut column);
        }
        let width = self.range[1] - self.range[0];
        let whole = Mat::from_fn(n, n + 1, |i, j| if j < n { jacobian[(i, j)] } else { column[i] * width });
        Ok((residual, whole))
    }

    fn system(&self, x: &[f64]) -> CompiledSystem {
        self.line.at(self.sys, self.parameter(x[x.len() - 1]))
    }

    /// Newton with the row `t x = t x0`.
    fn correct(&self, x0: &[f64], t: &[f64]) -> Option<Vec<f64>> {
        let mut x = x0.to_vec();
        let (mut last, mut left) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..12 {
            let (r, j) = self.at(&x).ok()?;
            // beside a branch point the step along the other branch is noise: the equations decide
            let size = max_abs(&r);
            if size <= 1e-14 || (size <= 1e-11 && size >= 0.5 * left) {
                return Some(x);
            }
            left = size;
            let n = r.len();
            let matrix = bordered(&j, t);
            let mut rhs: Vec<f64> = r.iter().map(|v| -v).collect();
            rhs.push(dot(t, x0) - dot(t, &x));
            let mut step = vec![0.0; n + 1];
            let mut pivot = FullPivot::default();
            pivot.factor(&matrix);
            pivot.solve(&rhs, &[], &mut step);
            let size = max_abs(&step);
            x.iter_mut().zip(&step).for_each(|(x, s)| *x += s);
            if !size.is_finite() || (size > 4.0 * last && size > 1e-6) {
                return None;
            }
            last = size;
        }
        (left <= 1e-9).then_some(x)
    }

    /// The tangent that goes on in the direction of `before`, and the determinant of the bordered matrix.
    fn tangent(&self, x: &[f64], before: &[f64]) -> Option<(Vec<f64>, f64)> {
        let (_, j) = self.at(x).ok()?;
        let mut pivot = FullPivot::default();
        let matrix = bordered(&j, before);
        let mut rhs = vec![0.0; before.len()];
        rhs[before.len() - 1] = 1.0;
        let mut t = vec![0.0; before.len()];
        pivot.factor(&matrix);
        pivot.solve(&rhs, &[], &mut t);
        let size = dot(&t, &t).sqrt();
        t.iter_mut().for_each(|v| *v /= size);
        if dot(&t, before) < 0.0 {
            t.iter_mut().for_each(|v| *v = -*v);
        }
        let mut lu = Lu::default();
        lu.factor(&bordered(&j, &t));
        size.is_finite().then(|| (t, lu.det()))
    }

    fn point(&self, x: &[f64]) -> Result<Point, AnalysisError> {
        let sys = self.system(x);
        let mut balance = Balance::new(&sys, &self.origin, &self.closed)?;
        balance.unit.clone_from(&self.unit);
        balance.set(&self.origin, &x[..x.len() - 1]);
        let state = balance.linear.state.clone();
        let closed = touching(&sys, &state);
        let parameter = self.parameter(x[x.len() - 1]);
        Ok(Point { parameter, at: balanced(state, closed, balance)? })
    }

    /// The equilibrium at a parameter next to a state.
    fn on(&self, state: &State, lambda: &[f64], parameter: f64) -> Option<Point> {
        let sys = self.line.at(self.sys, parameter);
        let mut balance = Balance::new(&sys, state, &self.closed).ok()?;
        balance.unit.clone_from(&self.unit);
        balance.linear.lambda.clone_from_slice(lambda);
        let mut x = balance.read(&self.origin);
        x.push((parameter - self.range[0]) / (self.range[1] - self.range[0]));
        let mut row = vec![0.0; x.len()];
        row[x.len() - 1] = 1.0;
        self.point(&self.correct(&x, &row)?).ok()
    }

    /// A contact that would pull or is inside: the branch ends.
    fn broken(&self, p: &Point) -> Option<String> {
        let info = self.sys.contacts();
        let size = p.at.lambda.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_unilateral()) {
            if let Some(row) = c.normal_row()
                && self.closed[i]
                && p.at.lambda[row] < -1e-9 * size
            {
                return Some(format!("contact `{}` opens", c.name));
            }
            if self.closed[i] && !p.at.closed[i] {
                return Some(format!("contact `{}` touches elsewhere", c.name));
            }
            if p.at.closed[i] && !self.closed[i] {
                return Some(format!("contact `{}` closes", c.name));
            }
        }
        None
    }
}

fn bordered(j: &Mat, t: &[f64]) -> Mat {
    let n = j.rows();
    Mat::from_fn(n + 1, n + 1, |i, k| if i < n { j[(i, k)] } else { t[k] })
}

/// Branches through the equilibria `starts`, each with its place in the range; in the midst of it they are followed both ways.
///
/// # Errors
///
/// No derivatives.
pub(crate) fn diagram(
    sys: &CompiledSystem,
    line: &Line,
    range: [f64; 2],
    starts: &[(f64, Equilibrium)],
    stop: &dyn Fn() -> bool,
) -> Result<Diagram, AnalysisError> {
    let mut out = Diagram::default();
    // what is still to be followed: a curve, a point on it and a direction
    let mut todo = Vec::new();
    for (place, e) in starts {
        let first = line.at(sys, *place);
        let closed = touching(&first, &e.state);
        let balance = Balance::new(&first, &e.state, &closed)?;
        let mut x = balance.read(&e.state);
        x.push((place - range[0]) / (range[1] - range[0]));
        let curve = Curve {
            sys,
            line,
            range,
            origin: e.state.clone(),
            closed,
            unit: balance.unit.clone(),
            scale: balance.scale.clone(),
        };
        let mut t = vec![0.0; x.len()];
        let last = x.len() - 1;
        t[last] = if x[last] < 1.0 { 1.0 } else { -1.0 };
        todo.push((std::rc::Rc::new(curve), x, t));
    }
    todo.reverse();
    while let Some((curve, x, t)) = todo.pop() {
        if out.branches.len() >= BRANCHES || stop() {
            break;
        }
        let last = x.len() - 1;
        let amid = x[last] > 0.0 && x[last] < 1.0 && t[..last].iter().all(|v| *v == 0.0);
        let before = out.branches.len();
        let closed = follow(&curve, &x, &t, &mut out, false, &mut |x, t| todo.push((curve.clone(), x, t)))?;
        if amid && out.branches.len() > before && !closed {
            let back: Vec<f64> = t.iter().map(|v| -v).collect();
            follow(&curve, &x, &back, &mut out, true, &mut |x, t| todo.push((curve.clone(), x, t)))?;
        }
    }
    Ok(out)
}

/// Follow a branch from a point of it; `half`: the other way is among the branches already. Whether it came back to where it began.
fn follow(
    curve: &Curve<'_>,
    start: &[f64],
    way: &[f64],
    out: &mut Diagram,
    half: bool,
    switch: &mut dyn FnMut(Vec<f64>, Vec<f64>),
) -> Result<bool, AnalysisError> {
    let mut x = start.to_vec();
    let Some((mut t, mut det)) = curve.tangent(&x, way) else { return Ok(false) };
    let began = t.clone();
    let mut points = vec![curve.point(&x)?];
    // a branch that was followed already, from its other end or from another start
    if !half && out.branches.iter().any(|b| passes(b, &points[0], curve)) {
        return Ok(false);
    }
    let mut ds = 0.25 * STEP;
    let last = x.len() - 1;
    let mut closed = false;
    let ended = loop {
        if points.len() > POINTS {
            break "too many points".to_string();
        }
        let predicted: Vec<f64> = x.iter().zip(&t).map(|(x, t)| x + ds * t).collect();
        let next = curve.correct(&predicted, &t).and_then(|y| curve.tangent(&y, &t).map(|(u, d)| (y, u, d)));
        let Some((y, u, d)) = next.filter(|(_, u, _)| dot(u, &t) > 0.9) else {
            ds *= 0.5;
            if ds < SMALLEST {
                break "the corrector finds nothing further".to_string();
            }
            continue;
        };
        let (before, step) = (points[points.len() - 1].at.stable, ds);
        let after = curve.point(&y)?;
        // on the arc between x and y
        let on_arc = |s: f64| {
            let predicted: Vec<f64> = x.iter().zip(&t).map(|(x, t)| x + s * t).collect();
            curve.correct(&predicted, &t).and_then(|z| curve.tangent(&z, &t).map(|(u, d)| (z, u, d)))
        };
        if t[last] * u[last] < 0.0 {
            let s = crossing(
                |s| on_arc(s).map_or(f64::NAN, |(_, u, _)| u[last] * t[last].signum()),
                step,
                t[last].abs(),
                u[last] * t[last].signum(),
            );
            if let Some((z, _, _)) = on_arc(s) {
                special(curve, out, "fold", &z, &u, [before, after.at.stable], points.len() - 1)?;
            }
        }
        if det * d < 0.0 && det != 0.0 {
            let s = crossing(
                |s| on_arc(s).map_or(f64::NAN, |(_, _, v)| v * det.signum()),
                step,
                det.abs(),
                d * det.signum(),
            );
            if let Some((z, _, _)) = on_arc(s) {
                branch_point(curve, out, (&z, &t), [before, after.at.stable], points.len() - 1, switch)?;
            }
        }
        if let Some(why) = curve.broken(&after) {
            break why;
        }
        // the end of the range
        if !(0.0..=1.0).contains(&y[last]) {
            let edge = if y[last] > 1.0 { 1.0 } else { 0.0 };
            let mut row = vec![0.0; x.len()];
            row[last] = 1.0;
            let share = (edge - x[last]) / (y[last] - x[last]);
            let mut guess: Vec<f64> = x.iter().zip(&y).map(|(a, b)| a + share * (b - a)).collect();
            guess[last] = edge;
            if let Some(z) = curve.correct(&guess, &row) {
                points.push(curve.point(&z)?);
            }
            break "end of the range".to_string();
        }
        // a closed curve
        let gone: Vec<f64> = start.iter().zip(&x).map(|(s, x)| s - x).collect();
        let (ahead, size) = (dot(&gone, &t), dot(&gone, &gone).sqrt());
        if points.len() > 4 && ahead > 0.0 && ahead <= ds && size < 1.1 * ahead && dot(&t, &began) > 0.9 {
            points.push(points[0].clone());
            closed = true;
            break "it is a closed curve".to_string();
        }
        points.push(after);
        (x, t, det) = (y, u, d);
        ds = (1.4 * ds).min(STEP);
    };
    out.ended.push(ended);
    out.branches.push(points);
    Ok(closed)
}

/// Whether a branch passes through a point: the point of the branch with the same parameter, between two that were found, is the same.
fn passes(branch: &[Point], p: &Point, curve: &Curve<'_>) -> bool {
    let slack = 1e-9 * (curve.range[1] - curve.range[0]).abs();
    branch.iter().any(|b| near(b, p, curve))
        || branch.windows(2).any(|w| {
            let (a, b) = (w[0].parameter, w[1].parameter);
            let inside = p.parameter >= a.min(b) - slack && p.parameter <= a.max(b) + slack;
            let alike = w.iter().all(|w| w.at.closed == p.at.closed) && p.at.closed == curve.closed;
            if !inside || !alike || (b - a).abs() <= slack {
                return false;
            }
            let share = (p.parameter - a) / (b - a);
            let mix = |x: &[f64], y: &[f64]| -> Vec<f64> {
                x.iter().zip(y).map(|(x, y)| x + share * (y - x)).collect()
            };
            let (from, to) = (&w[0].at, &w[1].at);
            let between = State {
                q: mix(&from.state.q, &to.state.q),
                z: mix(&from.state.z, &to.state.z),
                ..from.state.clone()
            };
            curve
                .on(&between, &mix(&from.lambda, &to.lambda), p.parameter)
                .is_some_and(|q| near(&q, p, curve))
        })
}

/// Where `f` passes zero on the arc of length `ds`.
fn crossing(f: impl FnMut(f64) -> f64, ds: f64, first: f64, last: f64) -> f64 {
    crate::root::falls(f, 0.0, first, ds, last, 1e-13 * ds.max(1e-3))
}

fn near(a: &Point, b: &Point, curve: &Curve<'_>) -> bool {
    let width = (curve.range[1] - curve.range[0]).abs();
    (a.parameter - b.parameter).abs() <= 1e-9 * width
        && a.at
            .state
            .q
            .iter()
            .zip(&b.at.state.q)
            .zip(&curve.unit)
            .all(|((x, y), u)| (x - y).abs() <= 1e-6 * u)
}

fn special(
    curve: &Curve<'_>,
    out: &mut Diagram,
    label: &'static str,
    x: &[f64],
    direction: &[f64],
    [before, after]: [bool; 2],
    point: usize,
) -> Result<(), AnalysisError> {
    let p = curve.point(x)?;
    let n = p.at.state.q.len().min(curve.unit.len());
    let most = (0..n).max_by(|&a, &b| direction[a].abs().total_cmp(&direction[b].abs())).unwrap_or(0);
    let known = out.special.iter().any(|s| {
        s.label == label
            && (s.parameter - p.parameter).abs() <= 1e-6 * (curve.range[1] - curve.range[0]).abs()
            && s.state
                .q
                .iter()
                .zip(&p.at.state.q)
                .zip(&curve.unit)
                .all(|((x, y), u)| (x - y).abs() <= 1e-4 * u)
    });
    if !known {
        let (before, after) = (Some(before), Some(after));
        out.special.push(Special {
            label,
            parameter: p.parameter,
            state: p.at.state,
            coordinate: most,
            before,
            after,
            branch: out.branches.len(),
            point,
        });
    }
    Ok(())
}

/// Name a branch point and start the other branch in both directions.
fn branch_point(
    curve: &Curve<'_>,
    out: &mut Diagram,
    (x, t): (&[f64], &[f64]),
    sides: [bool; 2],
    point: usize,
    switch: &mut dyn FnMut(Vec<f64>, Vec<f64>),
) -> Result<(), AnalysisError> {
    let (_, j) = curve.at(x)?;
    let Some(other) = second_null(&j, t) else { return Ok(()) };
    let last = x.len() - 1;
    let mut halves = Vec::new();
    for sign in [1.0, -1.0] {
        let u: Vec<f64> = other.iter().map(|v| sign * v).collect();
        let found = [0.2 * STEP, 0.05 * STEP, STEP].iter().find_map(|ds| {
            let start: Vec<f64> = x.iter().zip(&u).map(|(x, u)| x + ds * u).collect();
            let y = curve.correct(&start, &u)?;
            // not back on the old branch
            let gone: Vec<f64> = y.iter().zip(x).map(|(y, x)| y - x).collect();
            let across = dot(&gone, &u).abs();
            (across > 0.5 * ds && dot(&gone, &gone).sqrt() < 20.0 * ds).then_some((y, gone))
        });
        if let Some((y, gone)) = found {
            halves.push(gone[last]);
            let size = dot(&gone, &gone).sqrt();
            switch(y, gone.iter().map(|g| g / size).collect());
        }
    }
    let label = match halves[..] {
        [a, b] if a * b < 0.0 && a.abs().min(b.abs()) > 1e-3 * STEP => "transcritical",
        _ => "pitchfork",
    };
    special(curve, out, label, x, &other, sides, point)
}

/// The direction, orthogonal to t, in which `[G_y G_p]` changes least: inverse iteration on the bordered normal equations.
fn second_null(j: &Mat, t: &[f64]) -> Option<Vec<f64>> {
    let n = t.len();
    let square = bordered(j, t);
    let normal = square.transpose().mul(&square);
    let size = normal.max_abs();
    let shifted = Mat::from_fn(n, n, |i, k| normal[(i, k)] + if i == k { 1e-14 * size } else { 0.0 });
    let mut lu = Lu::default();
    lu.factor(&shifted);
    let mut v: Vec<f64> = (0..n).map(|i| 1.0 + 0.3 * ((3 * i + 1) as f64).sin()).collect();
    for _ in 0..30 {
        let s = dot(&v, t);
        v.iter_mut().zip(t).for_each(|(v, t)| *v -= s * t);
        lu.solve(&mut v);
        let size = dot(&v, &v).sqrt();
        if !(size > 0.0) || !size.is_finite() {
            return None;
        }
        v.iter_mut().for_each(|x| *x /= size);
    }
    Some(v)
}

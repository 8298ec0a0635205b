//! The split path by its Taylor series, through all its folds (METH-CONE-SPLIT, METH-CONE-TAYLOR)
//!
//! The equations of the split path are quadratic. In Nesterov–Todd coordinates held fixed at a point (`x̂ = S x`, `ψ̂ = S⁻¹ψ`, the
//! products keep their form) the coefficients of its series in an arc length `a` follow from one factorisation:
//!
//! ```text
//! T: dτ = 1, residual −R̂,   τ_1 = −s/√(<T,T>/1.5 m),   s = sign det(A + D),   m = number of products
//! N: defects of the point (centring, rounding), removed as (1 − a/h)
//! j ≥ 2:  λ \ (−Σ_{0<i<j} x̂_i ∘ ψ̂_{j−i}),  −Σ p_i n_{j−i};   plus τ_j T with <z_1, z_j> = 0
//! radius a_r = (1e-3 |z_1|/|z_N|)^{1/(N−1)};   step: largest a ≤ 1.5 a_r inside of the neighbourhood
//! ```
//!
//! As in every homotopy method the path is oriented by the sign of the determinant (Allgower & Georg): τ falls where it is positive
//! and rises where it is negative, and a fold is an ordinary point. The residual is carried along, `R = τ R̂` (Lemke's covering vector),
//! so that the point at which the series begins lies on the path. Different `k` are different paths to the same end.

use super::cones::Way;
use super::interior::{Centre, Digits, Dir, Ended, Path};
use super::island::Island;
use super::kernel::V3;
use super::nt::{Part, product};
use super::polish::polish;
use super::wide::{self, FIRST_TRY, NEWTON, SHORT, TRY_RESIDUAL};
use crate::stop::Clock;

/// Order of the series.
const ORDER: usize = 10;
/// Neighbourhood of the series, and the wider one of the steps before it.
const LOW: f64 = 0.3;
const HIGH: f64 = 3.0;
const BEFORE: wide::Run = wide::Run { low: 0.1, high: 30.0, fraction: 0.95, iterations: 25, until: 0.0 };
/// The series begins after so many steps in a row that were short, or left the path.
const SHORT_STEPS: usize = 2;
/// A wide step below this is not taken.
const LEAST: f64 = 0.05;
/// Below this τ the accurate form is used: the higher coefficients need it early.
const FINE: f64 = 1e-4;
/// Islands whose factorisation takes more operations are refined instead, as long as that does.
const LARGE: f64 = 1e8;
/// Ratio of the last term to the first at the radius.
const LAST_TERM: f64 = 1e-3;
/// Below this the direction of the path is rounding.
const END: f64 = 1e-15;
/// Below this error a try of Newton is followed by all that helps near a degenerate end.
const POLISH: f64 = 1e-5;

/// Coefficients and what belongs to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    /// tangent, then coefficients 1 to [`ORDER`]
    z: Vec<Dir>,
    /// the same in scaled coordinates
    hat: Vec<Vec<[V3; 2]>>,
    tau: [f64; ORDER + 1],
    /// `R̂`, and a residual that is used up
    cover: Vec<f64>,
    left: Vec<f64>,
    normal: Dir,
    /// part of the defects along the tangent
    along: f64,
    normal_hat: Vec<[V3; 2]>,
    /// centred points of the wide steps, to return to
    kept: Vec<(Vec<f64>, Vec<Part>)>,
    stored: Stored,
}

/// A centred point of the path of the last problem, from which that of the next one is entered: with its residual as cover it lies on it.
#[derive(Clone, Debug, Default)]
struct Stored {
    x: Vec<f64>,
    part: Vec<Part>,
    /// unit of the velocities; 0: nothing is stored
    q_s: f64,
}

/// State of a run.
struct Follow {
    /// a point was stored
    stored: bool,
    /// the wide steps are over
    on: bool,
    /// scale of the defects: twice the last step
    h: f64,
    covered: bool,
    lost: usize,
    /// short steps in a row, and points away from the path
    short: usize,
    off: usize,
    /// refinement of simple factorisations does
    refines: bool,
    next_try: f64,
    tau_try: f64,
}

impl Follow {
    fn digits(&self, tau: f64) -> Digits {
        match (tau < FINE, self.refines) {
            (false, _) => Digits::Simple,
            (true, true) => Digits::Refined,
            (true, false) => Digits::Twice,
        }
    }
}

/// The first centred point below this τ is stored: behind most of the folds, before all contacts have chosen their modes.
const STORE: f64 = 1e-8;

/// Below this error the series is also evaluated where τ vanishes or is least.
const JUMP: f64 = 1e-3;

/// One run from the cold start along the path `k`, with first impulses of this `size`.
pub(super) fn run(
    island: &mut Island,
    k: f64,
    size: f64,
    iterations: usize,
    tol: f64,
    clock: &Clock,
) -> Ended {
    on_path(island, k, tol, |path| {
        path.start(size);
        go(path, false, iterations, clock)
    })
}

/// One run from the point stored by the last problem of the same structure, if there is one.
pub(super) fn resume(island: &mut Island, iterations: usize, tol: f64, clock: &Clock) -> Option<Ended> {
    let stored = &island.ipm.series.stored;
    if stored.q_s == 0.0 || stored.part.len() != island.cones.len() || stored.x.len() != island.m {
        return None;
    }
    Some(on_path(island, 1.0, tol, |path| {
        path.start(1.0);
        let f = path.w.series.stored.q_s / path.island.q_s;
        let w = &mut *path.w;
        for (x, old) in w.x.iter_mut().zip(&w.series.stored.x) {
            *x = f * old;
        }
        for (part, old) in w.part.iter_mut().zip(&w.series.stored.part) {
            *part = Part::default();
            part.add(f, old);
        }
        go(path, true, iterations, clock)
    }))
}

fn on_path(island: &mut Island, k: f64, tol: f64, f: impl FnOnce(&mut Path) -> Ended) -> Ended {
    let mut w = std::mem::take(&mut island.ipm);
    let e = f(&mut Path { island, w: &mut w, way: Way::Split(k), tol });
    island.ipm = w;
    e
}

/// From the present point; `on`: it lies near the path, the series begins at once.
fn go(path: &mut Path, on: bool, iterations: usize, clock: &Clock) -> Ended {
    path.w.series.kept.clear();
    let mut out = Ended { error: f64::INFINITY, ..Default::default() };
    let mut f = Follow {
        stored: on || path.way != Way::Split(1.0),
        on,
        h: 1.0,
        covered: false,
        lost: 0,
        short: 0,
        off: 0,
        refines: path.island.form.flops() > LARGE,
        next_try: FIRST_TRY,
        tau_try: f64::INFINITY,
    };
    for it in 0..iterations {
        out.counts.ipm = it + 1;
        // residual, complementarity, errors
        let at = path.measure(&path.w.part);
        let feas = path.residual();
        let e = path.errors().max();
        out.size = crate::linalg::max_abs(&path.w.x);
        out.residual = feas;
        if !e.is_finite() || !at.tau.is_finite() {
            break;
        }
        path.w.x1.copy_from_slice(&path.w.x);
        path.keep(e, &mut out);
        if e < path.tol || at.tau < END || clock.over() {
            break;
        }
        if !f.stored && at.tau < STORE && at.low > 0.2 * at.tau && at.high < 5.0 * at.tau {
            f.stored = true;
            let w = &mut *path.w;
            let s = &mut w.series.stored;
            s.x.clone_from(&w.x);
            s.part.clone_from(&w.part);
            s.q_s = path.island.q_s;
        }
        // hand-over to Newton
        if (e < f.next_try && feas < TRY_RESIDUAL) || (at.tau < 0.01 * f.tau_try && at.tau < 1e-5) {
            f.next_try = f.next_try.min(0.1 * e);
            f.tau_try = at.tau;
            if hand_over(path, &mut out, clock) < path.tol {
                break;
            }
        }
        path.factor(f.digits(at.tau), at.tau);
        if !f.on {
            wide_step(path, &mut f, at, feas, it);
            continue;
        }
        if path.island.form.sign_det() < 0.0 {
            out.counts.negative += 1;
        }
        if series_step(path, &mut f, at, e, feas, &mut out) < path.tol {
            break;
        }
    }
    out
}

/// Newton from the present point, then everything that helps near an end.
fn hand_over(path: &mut Path, out: &mut Ended, clock: &Clock) -> f64 {
    let en = path.try_newton(out, NEWTON);
    if en < path.tol || out.error > POLISH {
        return en;
    }
    let mut x = std::mem::take(&mut path.w.best);
    out.error = polish(path.island, &mut x, out.error, path.tol, clock, &mut out.counts);
    path.w.best = x;
    out.error
}

/// A long step; the series takes over when they get short or leave the path.
fn wide_step(path: &mut Path, f: &mut Follow, at: Centre, feas: f64, it: usize) {
    let centred = at.low > 0.2 * at.tau && at.high < 5.0 * at.tau;
    f.off = if centred { 0 } else { f.off + 1 };
    if centred && f.short == 0 {
        let point = (path.w.x.clone(), path.w.part.clone());
        path.w.series.kept.push(point);
    }
    let a = wide::step(path, &BEFORE, at, feas, f.short >= 1);
    if a > LEAST {
        path.accept();
    }
    f.short = if a < SHORT { f.short + 1 } else { 0 };
    f.on = f.short >= SHORT_STEPS || f.off >= SHORT_STEPS || it >= BEFORE.iterations;
    if f.on {
        let kept = path.w.series.kept.pop();
        back(path, kept);
    }
}

/// One step of the series, or of centring; returns the smallest error seen.
fn series_step(path: &mut Path, f: &mut Follow, at: Centre, e: f64, feas: f64, out: &mut Ended) -> f64 {
    let mut s = std::mem::take(&mut path.w.series);
    let (m, n) = (path.island.m, path.island.cones.len());
    s.z.resize_with(ORDER + 1, Dir::default);
    s.hat.resize_with(ORDER + 1, Vec::new);
    s.z.iter_mut().chain([&mut s.normal]).for_each(|z| z.resize(m, n));
    if !f.covered {
        f.covered = true;
        s.cover.clear();
        s.cover.extend(path.w.r.iter().map(|r| r / at.tau));
    }
    let error = if first_order(path, f, &mut s, at) {
        higher_orders(path, &mut s, at);
        let error = if e < JUMP && feas < 1e-6 { jump(path, &s, e, out) } else { f64::INFINITY };
        if error > path.tol {
            advance(path, f, &s, at);
        }
        error
    } else {
        centre(path, f, &mut s, at);
        f64::INFINITY
    };
    path.w.series = s;
    error
}

/// Scaled product of two directions.
fn dot(path: &Path, a: &Dir, ah: &[[V3; 2]], b: &Dir, bh: &[[V3; 2]], tau: f64) -> f64 {
    let mut sum = 0.0;
    for (i, c) in path.island.cones.iter().enumerate() {
        if c.kind.has_cone() {
            for l in 0..3 {
                sum += ah[i][0][l] * bh[i][0][l] + ah[i][1][l] * bh[i][1][l];
            }
        }
        if c.kind.has_pair(path.way) {
            let part = &path.w.part[i];
            let (p, q) = (&a.part[i], &b.part[i]);
            sum += part.n / part.p * p.p * q.p + part.p / part.n * p.n * q.n;
        }
    }
    sum / tau
}

/// A direction in scaled coordinates.
fn to_hat(path: &Path, d: &Dir, hat: &mut Vec<[V3; 2]>) {
    hat.clear();
    hat.extend(d.part.iter().zip(&path.w.nt).map(|(p, nt)| [nt.scale(&p.x), nt.unscale(&p.psi)]));
}

/// Tangent, defects and first coefficient. False: too far from the path, the defects in `normal` must be removed first.
fn first_order(path: &mut Path, f: &mut Follow, s: &mut Series, at: Centre) -> bool {
    let (tau, k) = (at.tau, path.way.ratio());
    let count = path.products();
    // tangent: dτ = 1
    for (i, c) in path.island.cones.iter().enumerate() {
        let w = &mut *path.w;
        w.dc[i] = if c.kind.has_cone() { w.nt[i].divide(&[1.0, 0.0, 0.0]) } else { [0.0; 3] };
        w.c0[i] = k;
    }
    s.left.clear();
    s.left.extend(s.cover.iter().map(|r| -r));
    path.direction(Some(&s.left), &mut s.z[0]);
    if f.digits(tau) == Digits::Refined && !path.sure() {
        f.refines = false;
        path.factor(f.digits(tau), tau);
        path.direction(Some(&s.left), &mut s.z[0]);
    }
    let sign = if path.island.form.sign_det() < 0.0 { -1.0 } else { 1.0 };
    to_hat(path, &s.z[0], &mut s.hat[0]);
    let tt = dot(path, &s.z[0], &s.hat[0], &s.z[0], &s.hat[0], tau) + count / (tau * tau);
    let down = -sign / (tt / (1.5 * count)).sqrt();
    // defects: dτ = 0
    for (i, c) in path.island.cones.iter().enumerate() {
        let w = &mut *path.w;
        w.dc[i] = if c.kind.has_cone() { w.nt[i].target(tau, &[0.0; 3], &[0.0; 3], 0.0) } else { [0.0; 3] };
        w.c0[i] = tau * k - w.part[i].p * w.part[i].n;
    }
    s.left.clear();
    s.left.extend(path.w.r.iter().zip(&s.cover).map(|(r, c)| r - tau * c));
    path.direction(Some(&s.left), &mut s.normal);
    to_hat(path, &s.normal, &mut s.normal_hat);
    let along = dot(path, &s.normal, &s.normal_hat, &s.z[0], &s.hat[0], tau) / tt;
    // largest change of one cone relative to its size
    let square = |v: &V3| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    let mut worst = 0.0_f64;
    for (i, c) in path.island.cones.iter().enumerate() {
        if c.kind.has_cone() {
            for l in 0..2 {
                let (a, b) = (&s.normal_hat[i][l], &s.hat[0][i][l]);
                worst = worst.max(square(&std::array::from_fn(|j| a[j] - along * b[j])) / tau);
            }
        }
    }
    s.along = along;
    if !(worst <= 1.0) {
        return false;
    }
    // first coefficient
    let (tangent, rest) = s.z.split_at_mut(1);
    let z1 = &mut rest[0];
    z1.x.copy_from_slice(&s.normal.x);
    z1.part.copy_from_slice(&s.normal.part);
    z1.scale(1.0 / f.h);
    z1.add(down - along / f.h, &tangent[0]);
    s.tau[0] = tau;
    s.tau[1] = down - along / f.h;
    to_hat(path, &s.z[1], &mut s.hat[1]);
    true
}

fn higher_orders(path: &mut Path, s: &mut Series, at: Centre) {
    let tau = at.tau;
    let tt = dot(path, &s.z[0], &s.hat[0], &s.z[0], &s.hat[0], tau) + path.products() / (tau * tau);
    let refine = path.island.blocks.refine;
    path.island.blocks.refine = if tau < FINE { refine } else { 0 };
    for order in 2..=ORDER {
        for (i, c) in path.island.cones.iter().enumerate() {
            let (mut cone, mut pair) = ([0.0; 3], 0.0);
            for j in 1..order {
                let a = product(&s.hat[j][i][0], &s.hat[order - j][i][1]);
                (0..3).for_each(|l| cone[l] -= a[l]);
                pair -= s.z[j].part[i].p * s.z[order - j].part[i].n;
            }
            path.w.dc[i] = if c.kind.has_cone() { path.w.nt[i].divide(&cone) } else { [0.0; 3] };
            path.w.c0[i] = pair;
        }
        let (done, rest) = s.z.split_at_mut(order);
        path.direction(None, &mut rest[0]);
        to_hat(path, &rest[0], &mut s.hat[order]);
        let t = -dot(path, &rest[0], &s.hat[order], &done[0], &s.hat[0], tau) / tt;
        rest[0].add(t, &done[0]);
        s.tau[order] = t;
        to_hat(path, &s.z[order], &mut s.hat[order]);
    }
    path.island.blocks.refine = refine;
}

/// Where the last term is [`LAST_TERM`] of the first.
fn radius(path: &Path, s: &Series, tau: f64) -> f64 {
    let norm = |j: usize| dot(path, &s.z[j], &s.hat[j], &s.z[j], &s.hat[j], tau).max(0.0).sqrt();
    (LAST_TERM * norm(1) / norm(ORDER).max(1e-300)).powf(1.0 / (ORDER - 1) as f64)
}

fn tau_at(s: &Series, a: f64) -> f64 {
    s.tau.iter().rev().fold(0.0, |sum, t| sum * a + t)
}

/// Impulses of the series at `a` into `x1`.
fn impulses(path: &mut Path, s: &Series, a: f64) {
    let w = &mut *path.w;
    w.x1.copy_from_slice(&w.x);
    let mut power = 1.0;
    for z in &s.z[1..] {
        power *= a;
        crate::linalg::axpy(power, &z.x, &mut w.x1);
    }
}

/// The series where τ vanishes or is least: no factorisation is needed, and some runs end early. Returns the error reached.
fn jump(path: &mut Path, s: &Series, e: f64, out: &mut Ended) -> f64 {
    let r = radius(path, s, s.tau[0]);
    let mut list = [r, 1.5 * r, 0.0, 0.0, 0.0, 0.0];
    let mut found = 2;
    // zeros and minima of τ by a scan
    const SCAN: usize = 120;
    let h = 6.0 * r / SCAN as f64;
    for j in 1..SCAN {
        let a = j as f64 * h;
        let (l, m, n) = (tau_at(s, a - h), tau_at(s, a), tau_at(s, a + h));
        let zero = m > 0.0 && n <= 0.0;
        if found < list.len() && (zero || (m < l && m < n)) {
            list[found] = if zero { a + h * m / (m - n) } else { a };
            found += 1;
        }
    }
    let (mut least, mut where_) = (f64::INFINITY, 0.0);
    for &a in &list[..found] {
        impulses(path, s, a);
        let w = &mut *path.w;
        path.island.velocity(&w.x1, &mut w.u);
        let e = path.island.errors(&w.x1, &w.u).max();
        path.keep(e, out);
        if e < least {
            (least, where_) = (e, a);
        }
    }
    if least > path.tol && (least < 0.5 * e || least < 1e-6) {
        impulses(path, s, where_);
        least = least.min(path.try_newton(out, NEWTON));
    }
    least
}

/// The longest step inside of the neighbourhood.
fn advance(path: &mut Path, f: &mut Follow, s: &Series, at: Centre) {
    let (low, high) = (LOW.min(0.9 * at.low / at.tau), HIGH.max(1.1 * at.high / at.tau));
    let mut a = (1.5 * radius(path, s, at.tau)).min(f.h);
    for _ in 0..40 {
        if tau_at(s, a) > 0.0 {
            for i in 0..path.w.part.len() {
                let mut sum = Part::default();
                for z in s.z[1..].iter().rev() {
                    let mut next = z.part[i];
                    next.add(a, &sum);
                    sum = next;
                }
                path.w.part1[i] = path.w.part[i];
                path.w.part1[i].add(a, &sum);
            }
            let new = path.measure(&path.w.part1);
            if new.low > 0.0 && new.low >= low * new.tau && new.high <= high * new.tau {
                break;
            }
        }
        a *= 0.8;
    }
    impulses(path, s, a);
    path.accept();
    f.h = (2.0 * a).clamp(1e-6, 50.0);
}

/// Towards the path, across it: at a fold a step at constant τ does not exist. When that fails twice, back to the last centred point of the
/// wide steps.
fn centre(path: &mut Path, f: &mut Follow, s: &mut Series, at: Centre) {
    s.normal.add(-s.along, &s.z[0]);
    let (low, high) = (0.8 * (at.low / at.tau).min(LOW), 1.25 * (at.high / at.tau).max(HIGH));
    let mut a = (0.7 * path.longest(&s.normal)).min(1.0);
    if s.along > 0.0 {
        a = a.min(0.5 * at.tau / s.along);
    }
    for _ in 0..20 {
        let new = path.trial(&s.normal, a);
        if new.low >= low * new.tau && new.high <= high * new.tau {
            break;
        }
        a *= 0.7;
    }
    path.accept();
    f.h = 0.3;
    f.lost = if a < 0.1 { f.lost + 1 } else { 0 };
    if f.lost >= 2 && back(path, s.kept.pop()) {
        f.lost = 0;
        f.covered = false;
    }
}

/// Return to a centred point of the wide steps, if there is one.
fn back(path: &mut Path, kept: Option<(Vec<f64>, Vec<Part>)>) -> bool {
    let Some((x, part)) = kept else { return false };
    (path.w.x, path.w.part) = (x, part);
    true
}

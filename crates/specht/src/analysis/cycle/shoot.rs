//! Newton's method for a cycle (METH-CYCLE-SHOOT), and its multipliers (METH-SALT-MONO).
//!
//! ```text
//! unknowns  x₀ = x + Z η on the constraints of its phase, T (autonomous), σ
//! [ (Φ − I) Z | f(x_T) − c | −E ] [δη; δT; δσ] = −(x_T − x₀ − c T − E σ),     f·Z δη = 0
//! ```
//!
//! solved in units of the sizes of the motion, by least squares of minimum norm (loss of rank is normal: stick forgets). Steps are
//! halved until the residual falls by a tenth of the step. A step may change the sequence of events.

use crate::analysis::line::Line;
use crate::linalg::{Complex, Mat, Svd, axpy, dot, eigenvalues, max_abs};
use crate::model::CompiledSystem;
use crate::sim::start::consistent_by;
use crate::sim::{Kind, Outside, Seed, Settings, Status, event_driven_along};
use crate::system::{Along, Discrete, Mode, State, System, Tangent};

use super::symmetry::Symmetry;
use super::{EXACT, exact, moved, numbers, seed_along, turning, way, way_of_rates};

/// Scaled residual that is zero, and the one that is good enough where it does not fall any more.
const ZERO: f64 = 1e-11;
const GOOD: f64 = 1e-8;
/// Tolerance of runs far from the cycle, and the scaled residual from which on they are exact.
const ROUGH: f64 = 1e-8;
const FAR: f64 = 1e-4;
/// What is missing at the return of a motion that is back.
const BACK: f64 = 1e-4;
/// Newton steps.
const STEPS: usize = 30;
/// Halvings of a step.
const HALVINGS: usize = 8;
/// Singular values below this, relative to the largest, are zero.
const RANK: f64 = 1e-9;
/// Multipliers below this are exact zeros.
const VANISHED: f64 = 1e-8;
/// A cycle that moves less in a period, beside the motion that led to it, is rest.
const STILL: f64 = 1e-6;
/// A multiplier that is nearer to one is one: the cycle is a member of a family.
const NEUTRAL: f64 = 1e-7;

/// A cycle.
#[derive(Clone, Debug)]
pub(crate) struct Orbit {
    /// A state on it, inside its most constrained phase.
    pub start: State,
    /// Modes there.
    pub modes: Vec<Mode>,
    pub period: f64,
    /// Amounts of the drifts, and drift per period over all numbers of a state.
    pub sigma: Vec<f64>,
    pub drift: Vec<f64>,
    /// Nontrivial multipliers, largest first; exact zeros left out.
    pub multipliers: Vec<Complex>,
    /// How many are exactly zero.
    pub zeros: usize,
    /// How far the trivial ones are from one.
    pub trivial_error: f64,
    /// Scaled residual.
    pub residual: f64,
    /// Rates of all numbers at its start, in the moving frame.
    pub rates: Vec<f64>,
    /// Newton steps.
    pub steps: usize,
}

impl Orbit {
    /// The largest modulus of the nontrivial multipliers.
    pub(crate) fn largest(&self) -> f64 {
        self.multipliers.first().map_or(0.0, Complex::abs)
    }

    /// Whether it is no cycle but rest: with the rates of its start it would not move in a period, measured by these sizes; or the
    /// motion along it is not carried round (the last bounces of a ball).
    pub(crate) fn is_rest(&self, sizes: &[f64]) -> bool {
        self.trivial_error > 0.5
            || self.rates.iter().zip(sizes).all(|(r, s)| (r * self.period).abs() < STILL * s)
    }

    /// How many multipliers are one: disturbances that lead to a neighbour in a family of cycles.
    pub(crate) fn neutral(&self) -> usize {
        self.multipliers.iter().filter(|m| is_neutral(m)).count()
    }

    /// Whether no disturbance grows.
    pub(crate) fn is_stable(&self) -> bool {
        self.multipliers.iter().all(|m| m.abs() < 1.0 || is_neutral(m))
    }
}

fn is_neutral(m: &Complex) -> bool {
    (m.re - 1.0).hypot(m.im) < NEUTRAL
}

/// Why no cycle was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stalled {
    pub reason: String,
    pub residual: f64,
}

/// One period from a state, with derivatives.
pub(super) struct Shot {
    /// x_T − x₀ − c T − E σ.
    pub(super) gap: Vec<f64>,
    /// Scaled.
    pub(super) size: f64,
    /// Tangent space of the constraints at the start, scaled.
    pub(super) basis: Vec<Vec<f64>>,
    /// Φ Z, scaled.
    pub(super) image: Vec<Vec<f64>>,
    /// Scaled rates at the start and at the end, in the moving frame.
    pub(super) flow: [Vec<f64>; 2],
    /// Scaled rates of the end with the parameter, where one is varied.
    pub(super) parameter: Option<Vec<f64>>,
    /// Scaled rates of the start with the parameter, where contacts that it keeps move with it.
    pub(super) follows: Vec<f64>,
    /// Modes at the start.
    pub(super) modes: Vec<Mode>,
    /// Kinds and contacts of the events.
    pub(super) sequence: Vec<(Kind, Vec<usize>)>,
    /// Whether the period ends with the modes with which it began.
    pub(super) round: bool,
    /// Whether the run was as exact as it can be.
    pub(super) exact: bool,
    /// Where the start is in its phase: 0 at an end, ½ in the middle.
    pub(super) inside: f64,
}

/// A parameter that is varied, and how the start follows it.
pub(super) struct Varied<'a> {
    pub(super) line: &'a Line,
    pub(super) follows: Vec<f64>,
}

/// Whether the motion from a state of a cycle is back there after this time already: it then comes back many times within its period.
pub(crate) fn is_back(
    sys: &CompiledSystem,
    settings: &Settings,
    symmetry: &Symmetry,
    start: &State,
    period: f64,
) -> bool {
    let mut sigma = vec![0.0; symmetry.drifts.len()];
    fire(sys, settings, symmetry, (start, period), &sigma, None, ROUGH).is_ok_and(|mut shot| {
        drift_of(symmetry, &mut shot, &mut sigma);
        shot.size < BACK
    })
}

/// Find the cycle near `start`, where contacts have these modes, with a period near `period`; `forced`: the period is given.
pub(crate) fn shoot(
    sys: &CompiledSystem,
    settings: &Settings,
    symmetry: &Symmetry,
    (start, modes): (&State, &[Mode]),
    period: f64,
    forced: bool,
) -> Result<Orbit, Stalled> {
    let stalled = |reason: &str, residual: f64| Stalled { reason: reason.to_string(), residual };
    let mut x = mended_as(sys, start, modes).map_err(|e| stalled(&e, f64::INFINITY))?;
    let mut t = period;
    let mut sigma = vec![0.0; symmetry.drifts.len()];
    let mut fine = ROUGH;
    let mut shot = fire(sys, settings, symmetry, (&x, t), &sigma, None, fine)?;
    // the drift of the first shot
    drift_of(symmetry, &mut shot, &mut sigma);
    for step in 0..STEPS {
        // far from the cycle a run need not be exact
        if fine > EXACT && shot.size < FAR {
            fine = EXACT;
        }
        if !(t > 0.0) || (shot.size < ZERO && shot.exact) {
            return finish(symmetry, x, t, &sigma, shot, step);
        }
        let (eta, dt, ds) = newton(symmetry, &shot, forced);
        let mut factor = 1.0;
        let mut next = None;
        for _ in 0..HALVINGS {
            let to = t + factor * dt;
            if to > 0.3 * period && to < 3.0 * period {
                let moved = moved(sys, &x, &step_along(symmetry, &shot.basis, &eta, factor));
                let s: Vec<f64> = sigma.iter().zip(&ds).map(|(a, b)| a + factor * b).collect();
                if let Ok(mut trial) = mended_as(sys, &moved, &shot.modes)
                    .map_err(|e| stalled(&e, shot.size))
                    .and_then(|x| fire(sys, settings, symmetry, (&x, to), &s, None, fine).map(|f| (x, f)))
                {
                    let mut s = s;
                    drift_of(symmetry, &mut trial.1, &mut s);
                    if trial.1.size <= (1.0 - 0.1 * factor) * shot.size || trial.1.size < ZERO {
                        next = Some((trial, to, s));
                        break;
                    }
                }
            }
            factor *= 0.5;
        }
        match next {
            Some(((state, new), to, s)) => {
                (x, shot, t, sigma) = (state, new, to, s);
            }
            None if !shot.exact => {
                fine = EXACT;
                shot = fire(sys, settings, symmetry, (&x, t), &sigma, None, fine)?;
            }
            None if shot.size < GOOD.max(rounding(symmetry, &x)) => {
                return finish(symmetry, x, t, &sigma, shot, step);
            }
            None => {
                let reason = format!("Newton's method stands still at a residual of {:.1e}", shot.size);
                return Err(stalled(&reason, shot.size));
            }
        }
    }
    match shot.size < GOOD.max(rounding(symmetry, &x)) && shot.exact {
        true => finish(symmetry, x, t, &sigma, shot, STEPS),
        false => Err(stalled("Newton's method does not end", shot.size)),
    }
}

/// The state with its contacts exactly closed and sticking as these modes say.
pub(super) fn mended_as(sys: &CompiledSystem, s: &State, modes: &[Mode]) -> Result<State, String> {
    let info = sys.contacts();
    let list = |f: &dyn Fn(usize) -> bool| (0..modes.len()).filter(|&i| f(i)).collect::<Vec<usize>>();
    let closed = list(&|i| modes[i] != Mode::Open && info[i].is_unilateral());
    let sticking = list(&|i| modes[i] == Mode::Stick);
    let all: Vec<usize> = (0..s.q.len()).collect();
    consistent_by(sys, s, [&all, &all], &closed, &sticking).map_err(|e| e.to_string())
}

/// Modes with which a run from `s` begins.
pub(super) fn start_modes(sys: &CompiledSystem, settings: &Settings, s: &State) -> Result<Vec<Mode>, String> {
    let short = Settings { until: s.t, ..exact(settings, s.t, 0.0) };
    let run = event_driven_along(sys, s, &short, &mut Outside::default(), &[], false);
    run.map(|r| r.start.point.modes).map_err(|e| e.to_string())
}

/// Run one period from `x` with a tolerance.
pub(super) fn fire(
    sys: &CompiledSystem,
    settings: &Settings,
    symmetry: &Symmetry,
    (x, period): (&State, f64),
    sigma: &[f64],
    varied: Option<&Varied<'_>>,
    tolerance: f64,
) -> Result<Shot, Stalled> {
    let fail = |reason: String| Stalled { reason, residual: f64::INFINITY };
    let modes = start_modes(sys, settings, x).map_err(fail)?;
    let basis = tangent_space(sys, symmetry, x, &modes);
    let scale = &symmetry.scale;
    let real = |b: &Vec<f64>| b.iter().zip(scale).map(|(b, s)| b * s).collect::<Vec<f64>>();
    let mut seeds: Vec<Seed> = basis.iter().map(|b| seed_along(sys, x, &real(b))).collect();
    if let Some(v) = varied {
        let mut parameters = vec![0.0; sys.parameters().len()];
        v.line.rates().for_each(|(slot, rate)| parameters[slot] = rate);
        let amount = v.line.amount(sys.parameters());
        seeds.push(Seed { parameters, amount, ..seed_along(sys, x, &v.follows) });
    }
    let s = Settings { tolerance: settings.tolerance.min(tolerance), ..exact(settings, x.t, period) };
    let run = event_driven_along(sys, x, &s, &mut Outside::default(), &seeds, false)
        .map_err(|e| fail(e.to_string()))?;
    if run.status != Status::Finished {
        return Err(fail(format!("the run is {} at t = {}: {}", run.status.word(), run.time, run.message)));
    }
    let Some(d) = &run.derivatives else { return Err(fail("no derivatives".into())) };
    if let Some(lost) = d.lost.first() {
        return Err(fail(format!("at t = {}: {}", lost.time, lost.reason)));
    }
    let last = &run.last.state;
    let scaled = |c: &Vec<f64>| way_of_rates(last, c).iter().zip(scale).map(|(c, s)| c / s).collect();
    let mut image: Vec<Vec<f64>> = d.last.iter().map(scaled).collect();
    let parameter = varied.and_then(|_| image.pop());
    let follows = varied.map_or_else(
        || vec![0.0; scale.len()],
        |v| v.follows.iter().zip(scale).map(|(f, s)| f / s).collect(),
    );
    let plain = run.events.iter().filter(|e| e.kind != Kind::Mark);
    let sequence = plain.clone().map(|e| (e.kind, e.contacts.iter().map(|c| c.contact).collect())).collect();
    let times: Vec<f64> = plain.map(|e| e.time).collect();
    let inside = match (times.first(), times.last()) {
        (Some(first), Some(last)) => {
            let (after, before) = (first - x.t, x.t + period - last);
            after.min(before) / (after + before)
        }
        _ => 0.5,
    };
    let rates = |p: &crate::sim::Point, z: &[f64]| -> Vec<f64> {
        let mut f = [&p.state.u[..], &p.accel, z].concat();
        f.resize(scale.len(), 0.0);
        if let Some(c) = &symmetry.frame {
            axpy(-1.0, c, &mut f);
        }
        f.iter().zip(scale).map(|(f, s)| f / s).collect()
    };
    let z_rates = |s: &State, modes: &[Mode], latches: &[i32]| z_rate(sys, s, modes, latches);
    let (a, b) = (&run.start.point, &run.last);
    let flow = [
        rates(a, &z_rates(&a.state, &a.modes, &a.latches)),
        rates(b, &z_rates(&b.state, &b.modes, &b.latches)),
    ];
    let round = a.modes == b.modes;
    let mut gap = way(x, last);
    if let Some(c) = &symmetry.frame {
        axpy(-period, c, &mut gap);
    }
    for (s, e) in sigma.iter().zip(&symmetry.drifts) {
        axpy(-s, e, &mut gap);
    }
    let mut shot = Shot {
        gap,
        size: 0.0,
        basis,
        image,
        flow,
        parameter,
        follows,
        modes,
        sequence,
        round,
        exact: tolerance <= EXACT,
        inside,
    };
    shot.size = measure(symmetry, &shot.gap);
    Ok(shot)
}

/// The scaled residual that rounding leaves: what hardly moves may be large.
pub(super) fn rounding(symmetry: &Symmetry, x: &State) -> f64 {
    let all = numbers(x);
    let most = all.iter().zip(&symmetry.scale).fold(0.0_f64, |m, (x, s)| m.max((x / s).abs()));
    1e3 * f64::EPSILON * most
}

fn measure(symmetry: &Symmetry, gap: &[f64]) -> f64 {
    gap.iter().zip(&symmetry.scale).fold(0.0_f64, |m, (g, s)| m.max((g / s).abs()))
}

/// Rates of the first-order states.
fn z_rate(sys: &CompiledSystem, s: &State, modes: &[Mode], latches: &[i32]) -> Vec<f64> {
    if s.z.is_empty() {
        return Vec::new();
    }
    let mut eval = sys.memory();
    let mut d = Discrete::new(&sys.dims());
    d.modes.copy_from_slice(modes);
    d.latches.copy_from_slice(latches);
    sys.evaluate(s, &d, &mut eval);
    eval.z_rate
}

/// Orthonormal scaled directions that keep the constraints of these modes, on positions and velocities.
fn tangent_space(sys: &CompiledSystem, symmetry: &Symmetry, s: &State, modes: &[Mode]) -> Vec<Vec<f64>> {
    let (d, info) = (sys.dims(), sys.contacts());
    let n = symmetry.scale.len();
    let (mut places, mut speeds) = (Vec::new(), Vec::new());
    for (c, m) in info.iter().zip(modes) {
        if c.is_bilateral() || (c.is_unilateral() && m.is_closed()) {
            places.extend_from_slice(c.normal_rows());
        }
        if c.friction && *m == Mode::Stick {
            speeds.extend_from_slice(&c.tangent);
        }
    }
    let mut latched = Discrete::new(&d);
    let (mut eval, mut tangent) = (sys.memory(), Tangent::new(sys));
    sys.latch(s, &mut latched, &mut eval, false);
    latched.modes.copy_from_slice(modes);
    sys.evaluate(s, &latched, &mut eval);
    let rows = 2 * places.len() + speeds.len();
    if rows == 0 {
        return (0..n).map(|k| (0..n).map(|i| f64::from(u8::from(i == k))).collect()).collect();
    }
    let mut a = Mat::zeros(rows, n);
    for j in 0..n {
        let mut unit = vec![0.0; n];
        unit[j] = symmetry.scale[j];
        let q = &turning(sys, s, &unit)[..];
        let (u, rest) = unit[d.u..].split_at(d.u);
        let (z, memory) = rest.split_at(d.z);
        sys.tangent(s, &latched, &eval, &Along { q, u, z, memory, ..Along::default() }, &mut tangent);
        let rate = &tangent.rate;
        let speed = |r: usize| rate.w.row(r).dot(&s.u) + eval.w.row(r).dot(u) + rate.rate_offset[r];
        for (k, &r) in places.iter().enumerate() {
            a[(k, j)] = rate.gap[r];
            a[(places.len() + k, j)] = speed(r);
        }
        for (k, &r) in speeds.iter().enumerate() {
            a[(2 * places.len() + k, j)] = speed(r);
        }
    }
    for i in 0..rows {
        let size = max_abs(a.row(i));
        if size > 0.0 {
            a.row_mut(i).iter_mut().for_each(|v| *v /= size);
        }
    }
    Svd::new(&a).null(1e-10)
}

/// The drift that makes the gap smallest.
pub(super) fn drift_of(symmetry: &Symmetry, shot: &mut Shot, sigma: &mut [f64]) {
    if sigma.is_empty() {
        return;
    }
    let scaled = symmetry.scaled_drifts();
    let a = Mat::from_fn(shot.gap.len(), scaled.len(), |i, j| scaled[j][i]);
    let gap: Vec<f64> = shot.gap.iter().zip(&symmetry.scale).map(|(g, s)| g / s).collect();
    for ((s, f), e) in sigma.iter_mut().zip(Svd::new(&a).solve(&gap, 1e-12)).zip(&symmetry.drifts) {
        *s += f;
        axpy(-f, e, &mut shot.gap);
    }
    shot.size = measure(symmetry, &shot.gap);
}

/// One Newton step: η, δT, δσ.
fn newton(symmetry: &Symmetry, shot: &Shot, forced: bool) -> (Vec<f64>, f64, Vec<f64>) {
    let (n, k, m) = (shot.gap.len(), shot.basis.len(), symmetry.drifts.len());
    let autonomous = usize::from(!forced);
    let columns = k + autonomous + m;
    let drifts = symmetry.scaled_drifts();
    let mut a = Mat::zeros(n + autonomous, columns);
    let mut b = vec![0.0; n + autonomous];
    for i in 0..n {
        for j in 0..k {
            a[(i, j)] = shot.image[j][i] - shot.basis[j][i];
        }
        if !forced {
            a[(i, k)] = shot.flow[1][i];
        }
        for (j, e) in drifts.iter().enumerate() {
            a[(i, k + autonomous + j)] = -e[i];
        }
        b[i] = -shot.gap[i] / symmetry.scale[i];
    }
    if !forced {
        let speed = max_abs(&shot.flow[0]).max(f64::MIN_POSITIVE);
        for j in 0..k {
            a[(n, j)] = dot(&shot.flow[0], &shot.basis[j]) / speed;
        }
        // time in units of the motion
        for i in 0..n {
            a[(i, k)] /= speed;
        }
    }
    let x = Svd::new(&a).solve(&b, RANK);
    let dt = if forced { 0.0 } else { x[k] / max_abs(&shot.flow[0]).max(f64::MIN_POSITIVE) };
    (x[..k].to_vec(), dt, x[k + autonomous..].to_vec())
}

/// A step of Newton's method as a way.
fn step_along(symmetry: &Symmetry, basis: &[Vec<f64>], eta: &[f64], factor: f64) -> Vec<f64> {
    let mut to = vec![0.0; symmetry.scale.len()];
    for (b, e) in basis.iter().zip(eta) {
        for ((t, b), s) in to.iter_mut().zip(b).zip(&symmetry.scale) {
            *t += factor * e * b * s;
        }
    }
    to
}

/// The cycle with its multipliers.
pub(super) fn finish(
    symmetry: &Symmetry,
    start: State,
    period: f64,
    sigma: &[f64],
    shot: Shot,
    steps: usize,
) -> Result<Orbit, Stalled> {
    let k = shot.basis.len();
    // Z⁺ Φ Z, and what is trivial in it
    let map = Mat::from_fn(k, k, |i, j| dot(&shot.basis[i], &shot.image[j]));
    let inside = |v: &[f64]| -> Vec<f64> { shot.basis.iter().map(|b| dot(b, v)).collect() };
    let mut trivial: Vec<Vec<f64>> = Vec::new();
    let mut candidates: Vec<Vec<f64>> = symmetry.scaled_drifts().iter().map(|e| inside(e)).collect();
    if symmetry.frame.is_some() {
        candidates.push(inside(&shot.flow[0]));
    }
    for mut v in candidates {
        for u in &trivial {
            let along = dot(u, &v);
            axpy(-along, u, &mut v);
        }
        let length = dot(&v, &v).sqrt();
        if length > 1e-9 {
            trivial.push(v.iter().map(|x| x / length).collect());
        }
    }
    let mut trivial_error = 0.0_f64;
    let mut image = vec![0.0; k];
    for u in &trivial {
        map.mul_vec(u, &mut image);
        // up to the directions that are trivial themselves
        let mut rest: Vec<f64> = image.iter().zip(u).map(|(a, b)| a - b).collect();
        for w in trivial.iter().filter(|w| !std::ptr::eq(*w, u)) {
            let along = dot(w, &rest);
            axpy(-along, w, &mut rest);
        }
        trivial_error = trivial_error.max(dot(&rest, &rest).sqrt());
    }
    // the quotient: an orthonormal basis of what is left
    let rest = match trivial.is_empty() {
        true => (0..k).map(|i| (0..k).map(|j| f64::from(u8::from(i == j))).collect()).collect(),
        false => Svd::new(&Mat::from_rows(&trivial)).null(1e-9),
    };
    let quotient = Mat::from_fn(rest.len(), rest.len(), |i, j| {
        let mut image = vec![0.0; k];
        map.mul_vec(&rest[j], &mut image);
        dot(&rest[i], &image)
    });
    let mut all = eigenvalues(&quotient).unwrap_or_default();
    all.sort_by(|a, b| b.abs().total_cmp(&a.abs()).then(b.im.total_cmp(&a.im)));
    let count = all.len();
    all.retain(|m| m.abs() > VANISHED);
    let zeros = symmetry.scale.len() - k + count - all.len();
    let mut drift = vec![0.0; symmetry.scale.len()];
    for (s, e) in sigma.iter().zip(&symmetry.drifts) {
        axpy(*s, e, &mut drift);
    }
    if let Some(c) = &symmetry.frame {
        axpy(period, c, &mut drift);
    }
    let sigma = sigma.to_vec();
    Ok(Orbit {
        start,
        modes: shot.modes,
        period,
        sigma,
        drift,
        multipliers: all,
        zeros,
        trivial_error,
        residual: shot.size,
        rates: shot.flow[0].iter().zip(&symmetry.scale).map(|(f, s)| f * s).collect(),
        steps,
    })
}

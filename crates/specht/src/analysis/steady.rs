//! Steady sliding: a motion with constant velocities and forces, found by itself (METH-SLIPSTAB-OP)
//!
//! In a steady motion `q = q₀ + u t` the balance holds at every instant, with the same forces:
//!
//! ```text
//! r(t, q₀ + u (t − t₀), u, z, λ) = 0,   gaps = 0,   ż = 0          at t₀ and at t₀ + τ
//! ```
//!
//! Two instants are enough: coordinates that do not matter (a disc that turns) and drives that are linear in time (a spring pulled at constant speed) fall
//! out of the difference. Newton with exact derivatives; what is not determined stays as it is at the start. A third instant proves that it is
//! steady. τ is the inverse of the highest frequency, so that positions and velocities count alike.
//!
//! An entry of the Jacobian that is nothing beside the inertia of its coordinates is rounding: a velocity that enters squared (a spindle at rest whose eccentric
//! mass would pull) has a derivative of noise at zero, and Newton would divide the noise of the balance by it.

use super::AnalysisError;
use super::linear::{Column, Hold, Linear, Way};
use crate::linalg::{FullPivot, Mat, max_abs};
use crate::system::{State, System};

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A steady motion.
    Steady,
    /// None: the coefficients are frozen at the state itself.
    Frozen,
}

/// Parts of τ at which the balance must hold; those after the second are the proof.
const PROOF: [f64; 2] = [std::f64::consts::E, 23.7];

/// Entries of the Jacobian below this part of `√(M_ii M_kk)/τ`, for positions `/τ²`, are rounding.
const NOISE: f64 = 1e-13;

/// Relative change below which Newton goes on with the derivatives it has.
const CHORD: f64 = 1e-2;

/// Make `linear` a steady motion near its state, the contacts held as they are; directions of slip follow the motion. On failure it is
/// solved at the state from which it came.
///
/// # Errors
///
/// No derivatives; a singular system.
pub(crate) fn steady<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> Result<Found, AnalysisError> {
    let (start, hold) = (linear.state.clone(), linear.hold.clone());
    let found = search(linear)?;
    if !found {
        linear.state = start;
        linear.hold(&hold);
        linear.accel.fill(0.0);
        linear.lambda.fill(0.0);
        linear.solve()?;
        return Ok(Found::Frozen);
    }
    Ok(Found::Steady)
}

fn search<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> Result<bool, AnalysisError> {
    linear.accel.fill(0.0);
    let (n, m, nz) = (linear.dims.u, linear.held.len(), linear.dims.z);
    let tau = span(linear)?;
    let origin = linear.state.t;
    let width = 2 * n + nz + m;
    let rows = 2 * (n + m) + nz;
    let mut newton = Newton { pivot: FullPivot::default(), jacobian: Mat::zeros(rows, width), rests: false };
    let mut step = vec![0.0; width];
    let mut rhs = vec![0.0; rows];
    let mut base = linear.state.clone();
    let mut last = f64::INFINITY;
    let mut converges = false;
    let mut seen = 0.0_f64;
    let (mut alike, mut before) = (true, 0.0);
    for _ in 0..40 {
        // both instants; where they are in balance to rounding nothing is differentiated
        let mut balanced = true;
        for (k, dt) in [0.0, tau].into_iter().enumerate() {
            if !place(linear, &base, origin, dt) {
                return Ok(false);
            }
            balanced &= missing(linear, k, &mut rhs);
            seen = seen.max(max_abs(&linear.eval.h));
        }
        if rhs.iter().any(|v| !v.is_finite()) {
            return Ok(false);
        }
        if balanced {
            break;
        }
        // near the solution, or where the balance is much better than before, the same derivatives serve as long as they converge
        let left = max_abs(&rhs);
        converges |= left <= CHORD * before;
        before = left;
        if !converges {
            // what stands still is the same at both instants, unless its law changes with time: then the second attempt looks
            let still = alike && max_abs(&base.u) * tau <= 1e-12 * max_abs(&base.q);
            alike = false;
            if !newton.factor(linear, &base, origin, tau, still)? {
                return Ok(false);
            }
        }
        newton.solve(&rhs, [n, m, nz], &mut step);
        // sizes of what moves: positions and velocities by τ
        let moved = step[..n].iter().chain(&step[2 * n..2 * n + nz]).fold(0.0_f64, |a, v| a.max(v.abs()));
        let sped = max_abs(&step[n..2 * n]) * tau;
        let forced = max_abs(&step[2 * n + nz..]);
        linear.sys.move_by(&mut base.q, &step[..n]);
        base.u.iter_mut().zip(&step[n..2 * n]).for_each(|(u, s)| *u += s);
        base.z.iter_mut().zip(&step[2 * n..2 * n + nz]).for_each(|(z, s)| *z += s);
        for (&row, s) in linear.held.iter().zip(&step[2 * n + nz..]) {
            linear.lambda[row] += s;
        }
        let size = max_abs(&base.q).max(max_abs(&base.u) * tau).max(f64::MIN_POSITIVE);
        let force = max_abs(&linear.lambda).max(max_abs(&linear.eval.h)).max(f64::MIN_POSITIVE);
        let change = ((moved.max(sped)) / size).max(forced / force);
        if change <= 1e-13 || (change <= 1e-10 && change >= 0.3 * last) {
            break;
        }
        converges = change <= CHORD && change <= 0.1 * last;
        last = change;
    }
    prove(linear, &base, origin, tau, seen)
}

/// The linear system of a step.
struct Newton {
    pivot: FullPivot,
    jacobian: Mat,
    /// Positions and forces alone are moved: what stands still goes on standing still.
    rests: bool,
}

impl Newton {
    /// Differentiate and factor; false where a contact does not slide on. `still`: nothing moves, so both instants are alike.
    fn factor<S: System + ?Sized>(
        &mut self,
        linear: &mut Linear<'_, S>,
        base: &State,
        origin: f64,
        tau: f64,
        still: bool,
    ) -> Result<bool, AnalysisError> {
        let (n, m, nz) = (linear.dims.u, linear.held.len(), linear.dims.z);
        self.jacobian.fill(0.0);
        self.rests = false;
        if !place(linear, base, origin, 0.0) {
            return Ok(false);
        }
        derivatives(linear, 0, [0.0, tau], 0..n, &mut self.jacobian)?;
        if still && nz == 0 {
            let at = |j: usize| if j < n { j } else { n + j };
            let own = Mat::from_fn(n + m, n + m, |i, j| self.jacobian[(i, at(j))]);
            self.rests = self.pivot.factor(&own) == n + m;
        }
        if self.rests {
            return Ok(true);
        }
        derivatives(linear, 0, [0.0, tau], n..2 * n + nz, &mut self.jacobian)?;
        if still {
            repeat(&mut self.jacobian, [n, m, nz], tau);
        } else {
            if !place(linear, base, origin, tau) {
                return Ok(false);
            }
            derivatives(linear, 1, [tau, tau], 0..2 * n + nz, &mut self.jacobian)?;
        }
        self.pivot.factor(&self.jacobian);
        Ok(true)
    }

    fn solve(&mut self, rhs: &[f64], [n, m, nz]: [usize; 3], step: &mut [f64]) {
        if !self.rests {
            self.pivot.solve(rhs, &[], step);
            return;
        }
        self.pivot.solve(&rhs[..n + m], &[], &mut step[..n + m]);
        step.copy_within(n..n + m, 2 * n + nz);
        step[n..2 * n].fill(0.0);
    }
}

/// 1/ω of the highest frequency of the coordinates alone.
fn span<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> Result<f64, AnalysisError> {
    if let Some(span) = linear.span {
        return Ok(span);
    }
    let mut column = Column::default();
    let mut fastest = 0.0_f64;
    for k in 0..linear.dims.u {
        linear.column(Way::Position(k), &mut column)?;
        let mass = linear.eval.mass.diagonal(k);
        if mass > 0.0 {
            fastest = fastest.max(column.force[k].abs() / mass);
        }
    }
    let span = if fastest > 0.0 && fastest.is_finite() { 1.0 / fastest.sqrt() } else { 1.0 };
    linear.span = Some(span);
    Ok(span)
}

/// Go to the instant `dt` after the origin; false when a contact slides the other way or stops.
fn place<S: System + ?Sized>(linear: &mut Linear<'_, S>, base: &State, origin: f64, dt: f64) -> bool {
    linear.state.clone_from(base);
    linear.state.t = origin + dt;
    if dt != 0.0 && max_abs(&base.u) > 0.0 {
        let way: Vec<f64> = base.u.iter().map(|u| u * dt).collect();
        linear.sys.move_by(&mut linear.state.q, &way);
    }
    linear.evaluate();
    for i in 0..linear.info.len() {
        if let Hold::Slide(before) = linear.hold[i] {
            let Some(now) = linear.direction(i) else { return false };
            if linear.info[i].tangent.len() == 1 && now[0] * before[0] < 0.0 {
                return false;
            }
            linear.hold[i] = Hold::Slide(now);
        }
    }
    true
}

/// What is missing from balance at one of the two instants, and whether that is rounding.
fn missing<S: System + ?Sized>(linear: &mut Linear<'_, S>, instant: usize, rhs: &mut [f64]) -> bool {
    let (n, m) = (linear.dims.u, linear.held.len());
    let first = instant * (n + m);
    for (r, x) in rhs[first..].iter_mut().zip(linear.residual()) {
        *r = -x;
    }
    let forces = linear.eval.h.iter().chain(&linear.lambda).fold(0.0_f64, |a, v| a.max(v.abs()));
    let mut balanced = max_abs(&rhs[first..first + n]) <= 2e-15 * forces;
    // gaps of normal rows, rates of sticking ones
    for (j, &row) in linear.held.iter().enumerate() {
        rhs[first + n + j] = match is_normal(linear, row) {
            true => -linear.eval.gap[row],
            false => -linear.eval.rate(row, &linear.state.u),
        };
        balanced &= rhs[first + n + j] == 0.0;
    }
    if instant == 0 {
        for (r, z) in rhs[2 * (n + m)..].iter_mut().zip(&linear.eval.z_rate) {
            *r = -z;
            balanced &= *z == 0.0;
        }
    }
    balanced
}

fn is_normal<S: System + ?Sized>(linear: &Linear<'_, S>, row: usize) -> bool {
    linear.info.iter().any(|c| c.normal_rows().contains(&row))
}

/// The derivatives of the balance at one of the two instants, by some of positions, velocities and states, and by all forces.
fn derivatives<S: System + ?Sized>(
    linear: &mut Linear<'_, S>,
    instant: usize,
    [dt, tau]: [f64; 2],
    along: std::ops::Range<usize>,
    jacobian: &mut Mat,
) -> Result<(), AnalysisError> {
    let (n, m, nz) = (linear.dims.u, linear.held.len(), linear.dims.z);
    let first = instant * (n + m);
    let normal: Vec<bool> = linear.held.iter().map(|&r| is_normal(linear, r)).collect();
    let inertia: Vec<f64> = (0..n).map(|i| linear.eval.mass.diagonal(i).max(0.0).sqrt()).collect();
    let mut column = Column::default();
    for k in along {
        let (way, at, factor, noise) = match k {
            k if k < n => (Way::Position(k), k, dt, NOISE * inertia[k] / (tau * tau)),
            k if k < 2 * n => (Way::Velocity(k - n), k, 0.0, NOISE * inertia[k - n] / tau),
            k => (Way::State(k - 2 * n), k, 0.0, 0.0),
        };
        linear.column(way, &mut column)?;
        for (f, m) in column.force.iter_mut().zip(&inertia) {
            if f.abs() <= noise * m {
                *f = 0.0;
            }
        }
        let mut put = |i: usize, x: f64| {
            jacobian[(i, at)] += x;
            if factor != 0.0 {
                // the velocity carries the position along
                jacobian[(i, at + n)] += factor * x;
            }
        };
        for i in 0..n {
            put(first + i, column.force[i]);
        }
        for (j, &row) in linear.held.iter().enumerate() {
            put(first + n + j, if normal[j] { column.gap[row] } else { column.rate[row] });
        }
        if instant == 0 {
            for (i, x) in column.state.iter().enumerate() {
                put(2 * (n + m) + i, *x);
            }
        }
    }
    let columns = linear.columns();
    for j in 0..m {
        for i in 0..n {
            jacobian[(first + i, 2 * n + nz + j)] = columns[(i, j)];
        }
    }
    Ok(())
}

/// The second instant from the first: the same derivatives, and velocities carry positions along.
fn repeat(jacobian: &mut Mat, [n, m, nz]: [usize; 3], tau: f64) {
    for i in 0..n + m {
        for j in 0..2 * n + nz + m {
            let carried = if (n..2 * n).contains(&j) { tau * jacobian[(i, j - n)] } else { 0.0 };
            jacobian[(n + m + i, j)] = jacobian[(i, j)] + carried;
        }
    }
}

/// Whether the balance holds at further instants, and all contacts press.
fn prove<S: System + ?Sized>(
    linear: &mut Linear<'_, S>,
    base: &State,
    origin: f64,
    tau: f64,
    seen: f64,
) -> Result<bool, AnalysisError> {
    let held: Vec<usize> = linear.held.clone();
    for dt in [PROOF[1] * tau, PROOF[0] * tau, 0.0] {
        if !place(linear, base, origin, dt) {
            return Ok(false);
        }
        let residual = max_abs(&linear.residual());
        let terms = linear.eval.h.iter().chain(&linear.lambda).fold(0.0_f64, |a, v| a.max(v.abs()));
        // rounding grows with how far it has gone
        let far = max_abs(&linear.state.q) / max_abs(&base.q).max(f64::MIN_POSITIVE);
        // where the sum is small so may be what is left of its terms; forces on the way there tell sizes, too
        let holds = residual <= 1e-8 * seen
            || residual <= 1e-8 * terms.max(f64::MIN_POSITIVE) * far.clamp(1.0, 1e3)
            || residual <= 1e-8 * terms_of(linear)?;
        if !holds {
            return Ok(false);
        }
        let apart = held.iter().filter(|&&r| linear.info.iter().any(|c| c.normal_rows().contains(&r)));
        let size = |r: usize| linear.sys.gap_scale(r).max(max_abs(&linear.state.q));
        if apart.clone().any(|&r| linear.eval.gap[r].abs() > 1e-8 * size(r)) {
            return Ok(false);
        }
        let still = max_abs(&linear.eval.z_rate) * tau;
        if still > 1e-8 * max_abs(&base.z).max(f64::MIN_POSITIVE) {
            return Ok(false);
        }
    }
    let pulls = |c: &crate::system::ContactInfo| c.normal_row().is_some_and(|r| linear.lambda[r] <= 0.0);
    Ok(!linear.info.iter().zip(&linear.hold).any(|(c, h)| c.is_unilateral() && *h != Hold::Open && pulls(c)))
}

/// Size of the forces by their derivatives: what the present positions and velocities contribute.
fn terms_of<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> Result<f64, AnalysisError> {
    let mut column = Column::default();
    let mut size = 0.0_f64;
    for k in 0..linear.dims.u {
        let (q, u) = (linear.state.q.get(k).map_or(0.0, |q| q.abs()), linear.state.u[k].abs());
        linear.column(Way::Position(k), &mut column)?;
        size = size.max(max_abs(&column.force) * q);
        linear.column(Way::Velocity(k), &mut column)?;
        size = size.max(max_abs(&column.force) * u);
    }
    Ok(size)
}

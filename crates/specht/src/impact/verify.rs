//! The laws of an impact checked on its result, from velocities and impulses alone, and the energy balance.
//!
//! ```text
//! all laws   M (u_E − u_A) = Wᵀ Λ;   ġ = 0 along bilateral rows and pins at the end of every phase
//! Poisson    (8.13), (8.23), (8.27)-(8.31), phase by phase
//! Newton     0 ≤ Λ_N;   Λ_N > 0 ⇒ ġ_NE = −ε min(ġ_NA, 0);   ġ_NE ≥ 0;   Λ_T = 0
//! Moreau     0 ≤ Λ_N ⊥ ġ_NE + ε_N ġ_NA ≥ 0;   |Λ_T| ≤ μ Λ_N against ġ_TE + ε_T ġ_TA
//! ```
//!
//! A law that ties a velocity to an impulse is violated by the smaller of both. Velocities are measured against the largest rate of any
//! row, impulses against the largest impulse, momenta against the largest term of their balance; the rounding of W u and M u is
//! granted. A residual is NaN when any number is. Friction of given loads is left to the certificate of the solver.
//!
//! Energy of a phase: ½ Λᵀ(ġ + ġ′) = ΔT + Λᵀ w̃ (8.52), so the work of a contact is its impulse times the mean of its
//! relative velocity before and after the phase, and −Λᵀ w̃ is what prescribed motions put in.

use super::{Impact, Law};
use crate::linalg::dot;
use crate::system::{ContactInfo, Eval, Normal, Restitution};

/// Units of rounding granted to every term of W u and M u.
const ROUNDINGS: f64 = 8.0 * f64::EPSILON;

/// Memory of the checks: one number per velocity in each.
pub(crate) type Scratch = [Vec<f64>; 4];

/// Fill energy, works and the residual of `out`; impulses, rates and `u` are given.
pub(crate) fn finish(
    law: Law,
    info: &[ContactInfo],
    eval: &Eval,
    u: &[f64],
    closed: &[bool],
    e: &[Restitution],
    out: &mut Impact,
    scratch: &mut Scratch,
) {
    energy(info, eval, u, out, scratch);
    out.residual = worse(out.residual, residual(law, info, eval, u, closed, e, out, scratch));
}

/// Scaled residual of the balance of momentum and of all laws.
pub(crate) fn residual(
    law: Law,
    info: &[ContactInfo],
    eval: &Eval,
    u: &[f64],
    closed: &[bool],
    e: &[Restitution],
    out: &Impact,
    scratch: &mut Scratch,
) -> f64 {
    let mut check = Check::new(out);
    check.worst = momentum(eval, u, &out.u, &out.impulse, scratch);
    check.guides(info, eval, u, out);
    for (i, c) in info.iter().enumerate() {
        let pair = match c.normal {
            Normal::Unilateral { row } if closed[i] => [Some(row), None],
            Normal::Bilateral { row } => [Some(row), None],
            Normal::Pin { rows } => rows.map(Some),
            _ => continue,
        };
        let unilateral = matches!(c.normal, Normal::Unilateral { .. });
        let tangent = (c.friction && c.tangent.len() == 1).then(|| c.tangent[0]);
        let held = law == Law::Newton && unilateral && is_held(info, eval, closed, &out.rate_a, i);
        let e = if held { Restitution { normal: 0.0, ..e[i] } } else { e[i] };
        let contact = Touch { normal: pair, unilateral, tangent, mu: eval.mu[i], e, lean: lean(eval, i) };
        match law {
            Law::Poisson => check.poisson(&contact, out),
            Law::Newton => check.newton(&contact, out),
            Law::Moreau => check.moreau(&contact, out),
        }
    }
    check.worst
}

/// Whether another closed contact stands opposite to contact `i`: a play of width zero, without restitution in Newton's law.
fn is_held(info: &[ContactInfo], eval: &Eval, closed: &[bool], rate: &[f64], i: usize) -> bool {
    let Some(own) = info[i].normal_row() else { return false };
    let product = |a: usize, b: usize| -> f64 {
        let (a, b) = (eval.w.row(a), eval.w.row(b));
        a.iter().map(|(j, w)| b.iter().filter(|e| e.0 == j).map(|e| w * e.1).sum::<f64>()).sum()
    };
    let opposite = |row: usize| {
        let (a, b) = (product(own, own).sqrt(), product(row, row).sqrt());
        let (near, far) = (rate[own] * b, rate[row] * a);
        let apart = (near + far).abs() > 1e-9 * (near.abs() + far.abs());
        !apart && a * b > 0.0 && product(own, row) <= -(1.0 - 1e-12) * a * b
    };
    let unilateral = |c: &ContactInfo| matches!(c.normal, Normal::Unilateral { .. });
    (0..info.len())
        .filter(|&j| j != i && closed[j] && unilateral(&info[j]))
        .filter_map(|j| info[j].normal_row())
        .any(opposite)
}

/// What must hold for any jump from `u` to `after` by impulses `lambda` per row that ends without approach, whatever happened on its way: no
/// contact pulls or approaches, guides and pins are kept. The balance of momentum, unless reactions of guides are left out.
pub(crate) fn plain_residual(
    info: &[ContactInfo],
    eval: &Eval,
    u: &[f64],
    after: &[f64],
    lambda: &[f64],
    closed: &[bool],
) -> f64 {
    let rates = |u: &[f64]| (0..eval.w.rows()).map(|r| eval.rate(r, u)).collect::<Vec<f64>>();
    let out = Impact {
        u: after.to_vec(),
        impulse: lambda.to_vec(),
        compression: lambda.to_vec(),
        rate_a: rates(u),
        rate_c: rates(after),
        rate_e: rates(after),
        ..Impact::default()
    };
    let mut check = Check::new(&out);
    let silent = |row: usize| lambda[row] == 0.0;
    let left_out = info.iter().any(|c| match c.normal {
        Normal::Bilateral { row } => silent(row),
        Normal::Pin { .. } | Normal::Ball { .. } => c.normal_rows().iter().copied().all(silent),
        _ => false,
    });
    if !left_out {
        check.worst = momentum(eval, u, after, lambda, &mut Scratch::default());
    }
    check.guides(info, eval, u, &out);
    for (i, c) in info.iter().enumerate() {
        if let (true, Normal::Unilateral { row }) = (closed[i], &c.normal) {
            check.velocity(-out.rate_e[*row]);
            check.impulse(-lambda[*row]);
        }
    }
    check.worst
}

/// Moreau's law at the contacts that are `hit`, for an impact that is part of a step of length `delta`: rates before, velocities and
/// impulses after; one or two tangents that do not lean. Momentum is the step's own concern.
pub(crate) fn step_residual(
    info: &[ContactInfo],
    eval: &Eval,
    hit: &[bool],
    e: &[Restitution],
    delta: f64,
    before: &[f64],
    after: &[f64],
    impulse: &[f64],
) -> f64 {
    let rate_e: Vec<f64> = (0..eval.w.rows()).map(|r| eval.rate(r, after)).collect();
    let out = Impact { impulse: impulse.to_vec(), rate_a: before.to_vec(), rate_e, ..Impact::default() };
    let mut check = Check::new(&out);
    for (i, c) in info.iter().enumerate() {
        let (true, Normal::Unilateral { row }) = (hit[i], &c.normal) else { continue };
        let mean = |r: usize, e: f64| out.rate_e[r] + 0.5 * delta * eval.accel_offset[r] + e * out.rate_a[r];
        let n = impulse[*row];
        check.unilateral(n, mean(*row, e[i].normal));
        if !c.friction || lean(eval, i) != 0.0 {
            continue;
        }
        // along the slip: the whole bound against it; across: nothing
        let bound = eval.mu[i] * n.abs();
        let (mut force, mut slip) = ([0.0; 2], [0.0; 2]);
        for (k, &r) in c.tangent.iter().take(2).enumerate() {
            (force[k], slip[k]) = (impulse[r], mean(r, e[i].tangential));
        }
        let size = slip[0].hypot(slip[1]);
        check.impulse(force[0].hypot(force[1]) - bound);
        let off = |k: usize| force[k] * size + bound * slip[k];
        check.either(size, off(0).hypot(off(1)) / size.max(f64::MIN_POSITIVE));
    }
    check.worst
}

/// One contact that takes part: its normal row (two of a pin) and what bounds it.
struct Touch {
    normal: [Option<usize>; 2],
    unilateral: bool,
    tangent: Option<usize>,
    mu: f64,
    e: Restitution,
    lean: f64,
}

impl Touch {
    /// The impulse, with its sign where there is one row only.
    fn normal(&self, impulse: impl Fn(usize) -> f64) -> f64 {
        match self.normal {
            [Some(a), Some(b)] => impulse(a).hypot(impulse(b)),
            [Some(a), None] => impulse(a),
            _ => 0.0,
        }
    }

    /// The plain slip: a leaning tangent has a part of the normal velocity in its rate.
    fn slip(&self, rate: &[f64], tangent: usize) -> f64 {
        match self.normal {
            [Some(n), None] => rate[tangent] - self.lean * rate[n],
            _ => rate[tangent],
        }
    }
}

fn lean(eval: &Eval, i: usize) -> f64 {
    eval.lean.get(i).copied().unwrap_or(0.0)
}

/// The larger of both; NaN is the worst of all.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The scales of an impact and the largest violation so far.
struct Check {
    velocity: f64,
    impulse: f64,
    worst: f64,
}

impl Check {
    fn new(out: &Impact) -> Self {
        let size = |lists: &[&[f64]]| {
            lists.iter().flat_map(|x| x.iter()).fold(f64::MIN_POSITIVE, |m: f64, v| m.max(v.abs()))
        };
        Check {
            velocity: size(&[&out.rate_a, &out.rate_c, &out.rate_e]),
            impulse: size(&[&out.impulse, &out.compression]),
            worst: 0.0,
        }
    }

    fn velocity(&mut self, violation: f64) {
        self.worst = worse(self.worst, violation / self.velocity);
    }

    fn impulse(&mut self, violation: f64) {
        self.worst = worse(self.worst, violation / self.impulse);
    }

    /// One of the two must not be positive.
    fn either(&mut self, velocity: f64, impulse: f64) {
        let (v, f) = (velocity / self.velocity, impulse / self.impulse);
        self.worst = worse(self.worst, if v.is_nan() || f.is_nan() { f64::NAN } else { v.min(f) });
    }

    /// 0 ≤ impulse ⊥ velocity ≥ 0.
    fn unilateral(&mut self, impulse: f64, velocity: f64) {
        self.impulse(-impulse);
        self.velocity(-velocity);
        self.either(velocity, impulse);
    }

    /// The force opposes the slip between its bounds.
    fn coulomb(&mut self, lower: f64, upper: f64, force: f64, slip: f64) {
        self.impulse(lower - force);
        self.impulse(force - upper);
        self.either(slip, force - lower);
        self.either(-slip, upper - force);
    }

    /// Guides and pins are kept, up to the rounding of W u.
    fn guides(&mut self, info: &[ContactInfo], eval: &Eval, u: &[f64], out: &Impact) {
        if !info.iter().any(|c| c.is_bilateral()) {
            return;
        }
        let fastest: Vec<f64> = out.u.iter().zip(u).map(|(a, b)| a.abs().max(b.abs())).collect();
        for c in info.iter().filter(|c| c.is_bilateral()) {
            for &row in c.normal_rows() {
                let sum = eval.w.row(row).terms(&fastest);
                for rate in [out.rate_c[row], out.rate_e[row]] {
                    self.velocity(rate.abs() - ROUNDINGS * sum);
                }
            }
        }
    }

    fn poisson(&mut self, c: &Touch, out: &Impact) {
        let nc = c.normal(|r| out.compression[r]);
        let ne = c.normal(|r| out.impulse[r] - out.compression[r]);
        let eps = c.e.normal;
        if let ([Some(row), _], true) = (c.normal, c.unilateral) {
            self.velocity(-out.rate_c[row]);
            self.velocity(-out.rate_e[row]);
            self.impulse(-nc);
            self.impulse(eps * nc - ne);
            self.either(out.rate_c[row], nc);
            self.either(out.rate_e[row], ne - eps * nc);
        }
        let Some(t) = c.tangent else { return };
        let (tc, te) = (out.compression[t], out.impulse[t] - out.compression[t]);
        let bound = c.mu * nc.abs();
        self.coulomb(-bound, bound, tc, c.slip(&out.rate_c, t));
        let kept = c.mu * c.e.nu * ne * sign(tc) + eps * c.e.tangential * tc;
        let (shift, bound) = (if c.unilateral { kept } else { 0.0 }, c.mu * ne.abs());
        // the bound on the side of Λ_TC moves inwards; NaN stays
        let (lower, upper) = if shift < 0.0 { (-bound, bound + shift) } else { (-bound + shift, bound) };
        self.coulomb(lower, upper, te, c.slip(&out.rate_e, t));
    }

    fn newton(&mut self, c: &Touch, out: &Impact) {
        if let ([Some(row), _], true) = (c.normal, c.unilateral) {
            self.impulse(-out.impulse[row]);
            self.velocity(-out.rate_e[row]);
            let back = c.e.normal * out.rate_a[row].min(0.0);
            self.either((out.rate_e[row] + back).abs(), out.impulse[row]);
        }
        if let Some(t) = c.tangent {
            self.impulse(out.impulse[t].abs());
        }
    }

    fn moreau(&mut self, c: &Touch, out: &Impact) {
        let n = c.normal(|r| out.impulse[r]);
        if let ([Some(row), _], true) = (c.normal, c.unilateral) {
            self.unilateral(n, out.rate_e[row] + c.e.normal * out.rate_a[row]);
        }
        let Some(t) = c.tangent else { return };
        let bound = c.mu * n.abs();
        let mean = c.slip(&out.rate_e, t) + c.e.tangential * c.slip(&out.rate_a, t);
        self.coulomb(-bound, bound, out.impulse[t], mean);
    }
}

fn energy(info: &[ContactInfo], eval: &Eval, u: &[f64], out: &mut Impact, scratch: &mut Scratch) {
    let [momentum, sum, change, _] = scratch;
    zeros(momentum, u.len());
    list(sum, out.u.iter().zip(u).map(|(a, b)| 0.5 * (a + b)));
    list(change, out.u.iter().zip(u).map(|(a, b)| a - b));
    eval.mass.mul_vec(change, momentum);
    out.energy = dot(momentum, sum);
    eval.mass.mul_vec(u, momentum);
    let before = 0.5 * dot(momentum, u);

    out.drive_work = -dot(&out.impulse, &eval.rate_offset);
    let Impact { impulse, compression, rate_a, rate_c, rate_e, normal_work, tangential_work, .. } = out;
    let work = |r: usize| {
        let (first, second) = (compression[r], impulse[r] - compression[r]);
        0.5 * first * (rate_a[r] + rate_c[r]) + 0.5 * second * (rate_c[r] + rate_e[r])
    };
    list(normal_work, info.iter().map(|c| c.normal_rows().iter().map(|&r| work(r)).sum()));
    list(tangential_work, info.iter().map(|c| c.tangent.iter().map(|&r| work(r)).sum()));
    // scale: the energy that is there, or the largest work of a contact
    let all = || (0..impulse.len()).map(work);
    let largest = all().fold(before.abs(), |m, w| m.max(w.abs()));
    out.gains_energy = all().sum::<f64>() > 1e-9 * largest;
}

// M (u_E − u_A) = Wᵀ Λ, up to the rounding of M u: a tiny impulse changes large velocities
fn momentum(eval: &Eval, u: &[f64], after: &[f64], impulse: &[f64], scratch: &mut Scratch) -> f64 {
    let n = u.len();
    let [m, w, speeds, sizes] = scratch;
    list(speeds, after.iter().zip(u).map(|(a, b)| a - b));
    zeros(m, n);
    eval.mass.mul_vec(speeds, m);
    zeros(w, n);
    zeros(sizes, n);
    for (r, &f) in impulse.iter().enumerate() {
        eval.w.row(r).add_to(f, w);
        eval.w.row(r).iter().for_each(|(k, v)| sizes[k] += (f * v).abs());
    }
    let size = sizes.iter().zip(&*m).fold(f64::MIN_POSITIVE, |s: f64, (a, b)| s.max(*a).max(b.abs()));
    list(speeds, after.iter().zip(u).map(|(a, b)| a.abs().max(b.abs())));
    let terms = sizes;
    terms.fill(0.0);
    eval.mass.terms(speeds, terms);
    let rounding = |i: usize| ROUNDINGS * terms[i];
    (0..n).fold(0.0, |worst, i| worse(worst, (m[i] - w[i]).abs() - rounding(i))) / size
}

/// A list in memory that is there.
pub(super) fn list(out: &mut Vec<f64>, values: impl Iterator<Item = f64>) {
    out.clear();
    out.extend(values);
}

/// `n` zeros in memory that is there.
pub(super) fn zeros(out: &mut Vec<f64>, n: usize) {
    out.clear();
    out.resize(n, 0.0);
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

//! The implicit Runge–Kutta method Radau IIA with five stages, for stiff problems: order 9, L-stable, with its collocation
//! polynomial as dense output.
//!
//! ```text
//! zᵢ = h Σⱼ aᵢⱼ f(t + cⱼ h, x + zⱼ)        x(t + h) = x + z₅        x(t + θ h) = x + Σᵢ Lᵢ(θ) zᵢ
//! ```
//!
//! The stages are found by Newton's method with one Jacobian (exact, or by forward differences) for all iterations and, while it converges, for
//! several steps. With w = T⁻¹ z, where T⁻¹ A⁻¹ T = Λ is one real number and two blocks of 2 × 2, the linear system falls apart into one
//! of order n and two of order 2n. Components from `active` on do not act back on `f` (integrals): they are quadratures, with the change of the last
//! iteration to first order, so that a balance of energy closes as well as the stages do.
//! The error is that of the embedded formula of order 5 that also uses f at the beginning, filtered through the real matrix so that stiff
//! components do not dominate:
//!
//! ```text
//! e = (I − h γ J)⁻¹ (h γ f(t, x) + Σ eᵢ zᵢ)                behaves like h⁶
//! ```
//!
//! The iteration ends when the last change is a hundredth of the tolerance relative to the component itself, or as small as rounding permits. No function here allocates after [`Radau::new`].
//! [Hairer1996, IV.5 and IV.8; the numbers: `radau_numbers`]

use super::radau_numbers::{A, C, E, PAIRS, REAL, S, T, TI, lagrange};
use super::{Control, INSIDE, Rhs, SAMPLES, STAGES, nudge};
use crate::linalg::{Lu, Mat, axpy, dot, power_of_two};

/// Slots of the stages among the samples of a step, and where they lie.
pub(super) const SLOTS: [(usize, f64); SAMPLES] =
    [(0, 0.0), (1, C[0]), (2, C[1]), (3, C[2]), (4, C[3]), (STAGES - 1, 1.0)];

/// Iterations of Newton's method.
const ITERATIONS: usize = 10;
/// Change at which the iteration ends, relative to the tolerance of the step.
const ENOUGH: f64 = 1e-2;
/// Rate of convergence above which the next step gets a new Jacobian.
const SLOW: f64 = 1e-3;
/// Growth of the step up to which the last polynomial is continued as a first guess.
pub(super) const REACH: f64 = 3.0;
/// Units of rounding granted to a stage.
const ROUNDINGS: f64 = 64.0;
/// √ε, the relative increment of differences.
const ROOT: f64 = 1.490_116_119_384_765_6e-8;
/// Products that estimate the largest eigenvalue.
const PRODUCTS: usize = 4;

/// One step of the method at a time, with everything it needs kept between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Radau {
    n: usize,
    active: usize,
    t: f64,
    h: f64,
    x: Vec<f64>,
    x_new: Vec<f64>,
    error: Vec<f64>,
    /// f at the beginning and at the end.
    rates: [Vec<f64>; 2],
    z: [Vec<f64>; S],
    w: [Vec<f64>; S],
    f: [Vec<f64>; S],
    /// Changes of the stages in the last iteration.
    change: [Vec<f64>; S],
    /// Stages of the step before and its length; 0: none.
    past: [Vec<f64>; S],
    past_h: f64,
    weights: Vec<f64>,
    stage: Vec<f64>,
    pair: Vec<f64>,
    jacobian: Mat,
    /// Increments of its columns, and the rounding of the rates.
    increment: Vec<f64>,
    noise: Vec<f64>,
    /// The Jacobian is one of the present modes; it was taken at the beginning of the present step.
    known: bool,
    fresh: bool,
    matrix: Mat,
    real: Lu,
    pairs: [Lu; 2],
    /// Powers of two near the weights: the columns of the factors count in these, so that pivots do not depend on units and nothing
    /// is rounded.
    unit: Vec<f64>,
    /// Step of the factors; 0: none.
    factored: f64,
    /// Rate of convergence seen last.
    rate: f64,
    /// A step was tried from the present point; the one tried last was not the first.
    tried: bool,
    repeated: bool,
    vector: Vec<f64>,
    radius: f64,
    count: u64,
}

impl Radau {
    /// Memory for `n` components, of which `f` depends on the first `active`.
    pub(crate) fn new(n: usize, active: usize) -> Self {
        let zeros = || vec![0.0; n];
        let all = || std::array::from_fn(|_| zeros());
        Radau {
            n,
            active,
            x: zeros(),
            x_new: zeros(),
            error: zeros(),
            rates: std::array::from_fn(|_| zeros()),
            z: all(),
            w: all(),
            f: all(),
            change: std::array::from_fn(|_| vec![0.0; active]),
            past: all(),
            weights: zeros(),
            stage: zeros(),
            pair: vec![0.0; 2 * active],
            jacobian: Mat::zeros(n, active),
            increment: vec![0.0; active],
            noise: vec![0.0; active],
            unit: vec![1.0; active],
            vector: vec![0.0; active],
            ..Default::default()
        }
    }

    /// Start (or restart after an event) at `(t, x)`: one evaluation. False when `f` does not exist there.
    pub(crate) fn start(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.forget();
        self.correct(t, x, f)
    }

    /// Start at `(t, x)`, where the rates are known.
    pub(crate) fn adopt(&mut self, t: f64, x: &[f64], rates: &[f64]) {
        self.forget();
        self.stand(t, x);
        self.rates[0].copy_from_slice(rates);
    }

    /// Move the present point by a little; what is known about `f` stays.
    pub(crate) fn correct(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.stand(t, x);
        f.rates(0, t, &self.x, &mut self.rates[0])
    }

    fn stand(&mut self, t: f64, x: &[f64]) {
        self.t = t;
        self.h = 0.0;
        self.x.copy_from_slice(x);
        self.x_new.copy_from_slice(x);
        self.tried = false;
    }

    fn forget(&mut self) {
        self.known = false;
        self.fresh = false;
        self.factored = 0.0;
        self.past_h = 0.0;
    }

    /// Try one step of length `h` from the present point; not taken before [`Radau::advance`]. False when `f` does not exist at some
    /// stage or the iteration does not converge.
    pub(crate) fn attempt(&mut self, h: f64, control: &Control, f: &mut impl Rhs) -> bool {
        self.h = h;
        let again = self.tried || self.past_h == 0.0;
        self.repeated = self.tried;
        self.tried = true;
        control.weights(&self.x, &mut self.weights);
        if !self.known || (self.rate > SLOW && !self.fresh) {
            self.differentiate(control.tolerance(), f);
        }
        loop {
            if !self.known || !self.factor() {
                return false;
            }
            self.guess();
            if self.newton(control.tolerance(), f) {
                break;
            }
            if self.fresh {
                return false;
            }
            self.differentiate(control.tolerance(), f);
        }
        self.integrals();
        self.estimate(again, f);
        for k in 0..self.n {
            self.x_new[k] = self.x[k] + self.z[S - 1][k];
        }
        f.rates(STAGES - 1, self.t + h, &self.x_new, &mut self.rates[1])
            && self.x_new.iter().chain(&self.rates[1]).all(|v| v.is_finite())
    }

    /// Stages of the integrals, with the change of the last iteration.
    fn integrals(&mut self) {
        for k in self.active..self.n {
            let row = self.jacobian.row(k);
            for j in 0..S {
                self.f[j][k] += dot(row, &self.change[j]);
            }
            for i in 0..S {
                self.z[i][k] = self.h * (0..S).map(|j| A[i][j] * self.f[j][k]).sum::<f64>();
            }
        }
    }

    /// The Jacobian at the beginning of the step, and the size of its largest eigenvalue.
    fn differentiate(&mut self, tolerance: f64, f: &mut impl Rhs) {
        self.factored = 0.0;
        self.known = true;
        self.fresh = true;
        if !f.slopes(self.t, &self.x, &mut self.jacobian) {
            self.differences(tolerance, f);
        }
        self.known &= self.jacobian.as_slice().iter().all(|v| v.is_finite());
        self.estimate_radius();
    }

    /// The Jacobian by forward differences. The increment of a component follows its own size, so that laws like log(v) are right at
    /// small v; where the difference drowns in rounding it is made larger.
    fn differences(&mut self, tolerance: f64, f: &mut impl Rhs) {
        self.stage.copy_from_slice(&self.x);
        for j in 0..self.active {
            let own = self.x[j].abs().max((self.h * self.rates[0][j]).abs());
            let seen = 1e-6 * self.weights[j] / tolerance;
            let size = own.max(seen);
            self.column(j, ROOT * if size > 0.0 { size } else { 1e-6 }, f);
        }
        for i in 0..self.active {
            self.noise[i] = self.noise_of(i);
        }
        for j in 0..self.active {
            let largest = ROOT * self.weights[j] / tolerance;
            while self.increment[j] < 1e-2 * largest && self.drowns(j) {
                self.column(j, 1e2 * self.increment[j], f);
            }
        }
    }

    /// One column of the Jacobian with the increment `delta`.
    fn column(&mut self, j: usize, delta: f64, f: &mut impl Rhs) {
        let x = self.x[j];
        self.stage[j] = if x < 0.0 { x - delta } else { x + delta };
        let taken = self.stage[j] - x;
        self.increment[j] = delta;
        self.known &= f.rates(INSIDE, self.t, &self.stage, &mut self.f[0]);
        for i in 0..self.n {
            self.jacobian[(i, j)] = (self.f[0][i] - self.rates[0][i]) / taken;
        }
        self.stage[j] = x;
    }

    /// Rounding of rate `i`, from that of the state.
    fn noise_of(&self, i: usize) -> f64 {
        let terms = self.jacobian.row(i).iter().zip(&self.x).map(|(a, x)| (a * x).abs()).sum::<f64>();
        f64::EPSILON * (terms + self.rates[0][i].abs())
    }

    /// Whether a column cannot be told from rounding: something of it is there, but nothing well above it.
    fn drowns(&self, j: usize) -> bool {
        let mut any = false;
        for i in 0..self.active {
            let signal = self.jacobian[(i, j)].abs() * self.increment[j];
            if signal > 1e3 * self.noise[i] {
                return false;
            }
            any |= signal > 0.0 && self.noise[i] > 0.0;
        }
        any
    }

    /// An entry of the Jacobian.
    pub(crate) fn slope(&self, i: usize, j: usize) -> f64 {
        self.jacobian[(i, j)]
    }

    /// Size of the largest eigenvalue: products of J and the vector that the last ones left, each component measured by its weight, so
    /// that positions and velocities count alike in any units.
    fn estimate_radius(&mut self) {
        let mut growth = 0.0;
        if self.weighed(&self.vector) == 0.0 {
            self.vector.copy_from_slice(&self.weights[..self.active]);
        }
        for _ in 0..PRODUCTS {
            let before = self.weighed(&self.vector);
            self.jacobian.mul_vec(&self.vector, &mut self.stage);
            let length = self.weighed(&self.stage);
            if !(length > 0.0 && length.is_finite()) {
                self.vector.fill(0.0);
                growth = f64::NEG_INFINITY;
                break;
            }
            growth += (length / before).ln();
            for (v, s) in self.vector.iter_mut().zip(&self.stage) {
                *v = s / length;
            }
        }
        self.radius = (growth / PRODUCTS as f64).exp();
    }

    /// Length of a vector in units of the weights.
    fn weighed(&self, v: &[f64]) -> f64 {
        let parts = v[..self.active].iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        parts.map(|(v, w)| (v / w).powi(2)).sum::<f64>().sqrt()
    }

    /// Factors of Λ/h ⊗ I − I ⊗ J, if there are none for this step. False when singular.
    fn factor(&mut self) -> bool {
        if self.factored == self.h {
            return true;
        }
        self.count += 1 + PAIRS.len() as u64;
        let (n, h) = (self.active, self.h);
        self.unit.iter_mut().zip(&self.weights).for_each(|(u, w)| *u = power_of_two(*w));
        let unit = &self.unit;
        self.matrix.reshape(n, n);
        for i in 0..n {
            for j in 0..n {
                self.matrix[(i, j)] = (if i == j { REAL / h } else { 0.0 } - self.jacobian[(i, j)]) * unit[j];
            }
        }
        let mut regular = self.real.factor(&self.matrix) > 0.0 || n == 0;
        self.matrix.reshape(2 * n, 2 * n);
        for ((alpha, beta), lu) in PAIRS.iter().zip(&mut self.pairs) {
            self.matrix.fill(0.0);
            for i in 0..n {
                for j in 0..n {
                    let v = -self.jacobian[(i, j)] * unit[j];
                    self.matrix[(i, j)] = v;
                    self.matrix[(n + i, n + j)] = v;
                }
                self.matrix[(i, i)] += alpha / h * unit[i];
                self.matrix[(n + i, n + i)] += alpha / h * unit[i];
                self.matrix[(i, n + i)] += beta / h * unit[i];
                self.matrix[(n + i, i)] -= beta / h * unit[i];
            }
            regular &= lu.factor(&self.matrix) > 0.0 || n == 0;
        }
        self.factored = if regular { h } else { 0.0 };
        regular
    }

    /// First guess of the stages: the polynomial of the step before, or no change (stiff rates tell nothing about a step).
    fn guess(&mut self) {
        let ratio = if self.past_h > 0.0 { self.h / self.past_h } else { f64::INFINITY };
        for i in 0..S {
            if ratio <= REACH {
                let weights = lagrange(1.0 + C[i] * ratio);
                for k in 0..self.active {
                    let y: f64 = (0..S).map(|j| weights[j] * self.past[j][k]).sum();
                    self.z[i][k] = y - self.past[S - 1][k];
                }
            } else {
                self.z[i][..self.active].fill(0.0);
            }
        }
        for (row, w) in TI.iter().zip(&mut self.w) {
            combine(row, &self.z, &mut w[..self.active]);
        }
    }

    /// Newton's method for the stages. False when it does not converge.
    fn newton(&mut self, tolerance: f64, f: &mut impl Rhs) -> bool {
        let mut last = f64::INFINITY;
        self.rate = 0.0;
        for k in 0..ITERATIONS {
            if !self.stages(f) {
                return false;
            }
            let own = self.improve(tolerance);
            if !own.is_finite() {
                return false;
            }
            if k > 0 {
                self.rate = (own / last).max(if k > 1 { self.rate } else { 0.0 });
            }
            let rate = own / last;
            let left = if k > 0 && rate < 1.0 { rate / (1.0 - rate) } else { 1.0 };
            if own <= ENOUGH || (k > 0 && rate < 1.0 && left * own <= ENOUGH) {
                return true;
            }
            if k > 1 && rate > 0.3 && self.is_rounding(tolerance, f) {
                return true;
            }
            let remaining = (ITERATIONS - 1 - k) as i32;
            if k > 1 && (rate >= 1.0 || left * own * rate.powi(remaining) > 1.0 && rate > 0.5) {
                return false;
            }
            last = own;
        }
        false
    }

    /// f at all stages.
    fn stages(&mut self, f: &mut impl Rhs) -> bool {
        self.stage[self.active..].copy_from_slice(&self.x[self.active..]);
        for i in 0..S {
            for k in 0..self.active {
                self.stage[k] = self.x[k] + self.z[i][k];
            }
            if !f.rates(SLOTS[i + 1].0, self.t + C[i] * self.h, &self.stage, &mut self.f[i]) {
                return false;
            }
        }
        true
    }

    /// Whether the last changes are below the weights and no larger than what the rounding of the rates, measured at neighbouring numbers,
    /// makes of the stages.
    fn is_rounding(&mut self, tolerance: f64, f: &mut impl Rhs) -> bool {
        let n = self.active;
        for i in 0..n {
            self.noise[i] = self.noise_of(i);
        }
        for sample in 0..2 {
            for k in 0..n {
                self.stage[k] = (self.x[k] + self.z[S - 1][k]) * (1.0 + nudge(k, sample));
            }
            if f.rates(INSIDE, self.t + self.h, &self.stage, &mut self.rates[1]) {
                for k in 0..n {
                    self.noise[k] = self.noise[k].max((self.rates[1][k] - self.f[S - 1][k]).abs());
                }
            }
        }
        self.error[..n].copy_from_slice(&self.noise);
        solve(&mut self.real, &self.unit, &mut self.error[..n]);
        (0..n).all(|k| {
            let change = self.change.iter().fold(0.0_f64, |m, c| m.max(c[k].abs()));
            let size = self.z.iter().fold(self.x[k].abs(), |m, z| m.max((self.x[k] + z[k]).abs()));
            let rounding = self.error[k].abs().max(f64::EPSILON * size).max(self.h * self.noise[k]);
            change <= (ENOUGH * tolerance * size).max((ROUNDINGS * rounding).min(self.weights[k]))
        })
    }

    /// One iteration. Returns the change relative to the tolerance of the components themselves.
    fn improve(&mut self, tolerance: f64) -> f64 {
        let (n, h) = (self.active, self.h);
        // right sides T⁻¹ F − Λ w / h in `error` and `pair`, changes of w into f
        combine(&TI[0], &self.f, &mut self.error[..n]);
        axpy(-REAL / h, &self.w[0][..n], &mut self.error[..n]);
        solve(&mut self.real, &self.unit, &mut self.error[..n]);
        axpy(1.0, &self.error[..n], &mut self.w[0][..n]);
        for (b, ((alpha, beta), lu)) in PAIRS.iter().zip(&mut self.pairs).enumerate() {
            let (first, second) = (1 + 2 * b, 2 + 2 * b);
            combine(&TI[first], &self.f, &mut self.pair[..n]);
            combine(&TI[second], &self.f, &mut self.pair[n..]);
            for k in 0..n {
                let (p, q) = (self.w[first][k], self.w[second][k]);
                self.pair[k] -= (alpha * p + beta * q) / h;
                self.pair[n + k] -= (alpha * q - beta * p) / h;
            }
            solve(lu, &self.unit, &mut self.pair);
            axpy(1.0, &self.pair[..n], &mut self.w[first][..n]);
            axpy(1.0, &self.pair[n..], &mut self.w[second][..n]);
        }
        let mut own = 0.0;
        for k in 0..n {
            let mut size = self.x[k].abs();
            let mut change = 0.0_f64;
            for i in 0..S {
                let z = (0..S).map(|j| T[i][j] * self.w[j][k]).sum::<f64>();
                self.change[i][k] = z - self.z[i][k];
                self.z[i][k] = z;
                size = size.max((self.x[k] + z).abs());
                change = change.max(self.change[i][k].abs());
                if !z.is_finite() {
                    return f64::NAN;
                }
            }
            if change > 0.0 {
                own += (change / (tolerance * size)).powi(2);
            }
        }
        (own / n.max(1) as f64).sqrt()
    }

    /// The error of the step. After a rejection, and in a first step, stiff components are filtered twice.
    fn estimate(&mut self, again: bool, f: &mut impl Rhs) {
        let (n, h) = (self.active, self.h);
        combine(&E, &self.z, &mut self.error);
        for k in n..self.n {
            self.error[k] += h / REAL * self.rates[0][k];
        }
        for k in 0..n {
            self.error[k] *= REAL / h;
            self.pair[k] = self.error[k];
            self.error[k] += self.rates[0][k];
        }
        solve(&mut self.real, &self.unit, &mut self.error[..n]);
        if again {
            for k in 0..self.n {
                self.stage[k] = self.x[k] + if k < n { self.error[k] } else { 0.0 };
            }
            if f.rates(INSIDE, self.t, &self.stage, &mut self.f[0]) {
                for k in 0..n {
                    self.error[k] = self.pair[k] + self.f[0][k];
                }
                solve(&mut self.real, &self.unit, &mut self.error[..n]);
            }
        }
    }

    /// Lengthen the step tried last by the tiny `delta` along the rates at its end: one evaluation.
    pub(crate) fn nudge(&mut self, delta: f64, f: &mut impl Rhs) -> bool {
        self.h += delta;
        for (x, k) in self.x_new.iter_mut().zip(&self.rates[1]) {
            *x += delta * k;
        }
        f.rates(STAGES - 1, self.t + self.h, &self.x_new, &mut self.rates[1])
    }

    /// Let the step tried last end after `h` at `x`: one evaluation.
    pub(crate) fn place(&mut self, h: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.h = h;
        self.x_new.copy_from_slice(x);
        f.rates(STAGES - 1, self.t + h, &self.x_new, &mut self.rates[1])
    }

    /// Take the step tried last.
    pub(crate) fn advance(&mut self) {
        self.t += self.h;
        self.past_h = self.h;
        self.h = 0.0;
        std::mem::swap(&mut self.x, &mut self.x_new);
        self.rates.swap(0, 1);
        std::mem::swap(&mut self.past, &mut self.z);
        self.fresh = false;
        self.tried = false;
    }

    /// Value of the collocation polynomial at the fraction `theta` of the step tried last.
    pub(crate) fn interpolate(&self, theta: f64, out: &mut [f64]) {
        combine(&lagrange(theta), &self.z, out);
        axpy(1.0, &self.x, out);
    }

    /// Whether the step tried last was not the first from its beginning.
    pub(crate) fn was_repeated(&self) -> bool {
        self.repeated
    }

    /// Size of the largest eigenvalue of the Jacobian, 1/s.
    pub(crate) fn radius(&self) -> f64 {
        self.radius
    }

    /// Factorisations so far.
    pub(crate) fn factorisations(&self) -> u64 {
        self.count
    }

    /// Time at the beginning of the step.
    pub(crate) fn time(&self) -> f64 {
        self.t
    }

    /// Length of the step tried last.
    pub(crate) fn step(&self) -> f64 {
        self.h
    }

    /// State at the beginning of the step.
    pub(crate) fn state(&self) -> &[f64] {
        &self.x
    }

    /// State at the end of the step tried last.
    pub(crate) fn end(&self) -> &[f64] {
        &self.x_new
    }

    /// Rates at the beginning of the step.
    pub(crate) fn rates(&self) -> &[f64] {
        &self.rates[0]
    }

    /// Estimated local error of the step tried last.
    pub(crate) fn error(&self) -> &[f64] {
        &self.error
    }
}

/// Solve with factors whose columns count in `unit`.
fn solve(lu: &mut Lu, unit: &[f64], b: &mut [f64]) {
    lu.solve(b);
    for part in b.chunks_mut(unit.len().max(1)) {
        part.iter_mut().zip(unit).for_each(|(b, u)| *b *= u);
    }
}

/// Σ aⱼ vⱼ for the components of `out`.
#[inline]
fn combine(a: &[f64; S], v: &[Vec<f64>; S], out: &mut [f64]) {
    out.fill(0.0);
    for (a, v) in a.iter().zip(v) {
        for (o, v) in out.iter_mut().zip(v) {
            *o += a * v;
        }
    }
}

//! The explicit Runge–Kutta method of Dormand and Prince of order 8 with error estimates of orders 5 and 3 and dense output
//! of order 7 (DOP853).
//!
//! Twelve evaluations per accepted step (the thirteenth stage is the first of the next step). The error of a component is
//!
//! ```text
//! e = |e₅|² / √(|e₅|² + 0.01 |e₃|²)        e₅, e₃: embedded estimates
//! ```
//!
//! which behaves like h⁸. At the tolerances of this engine (10⁻¹⁰ per step) a smooth oscillation takes a sixth of the steps
//! of the pair of order 5(4) and less than half of the evaluations. The dense output needs three more evaluations, made by
//! [`Dop853::prepare`] only when somebody looks inside the step. No function here allocates after [`Dop853::new`].
//! [Hairer1993, II.5, II.6 and the code DOP853; coefficients as published there]

use super::{INSIDE, Rhs, SAMPLES};

/// Number of stages including the one at the end of the step.
pub(crate) const STAGES: usize = 13;

/// Where in the step each stage evaluates, as a fraction of the step.
pub(crate) const STAGE_TIMES: [f64; STAGES] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    1.0 / 3.0,
    0.25,
    4.0 / 13.0,
    127.0 / 195.0,
    0.6,
    6.0 / 7.0,
    1.0,
    1.0,
];

/// Stages of high order, in the order of time.
pub(super) const SLOTS: [(usize, f64); SAMPLES] = [
    (0, 0.0),
    (6, STAGE_TIMES[6]),
    (5, STAGE_TIMES[5]),
    (9, STAGE_TIMES[9]),
    (10, STAGE_TIMES[10]),
    (STAGES - 1, 1.0),
];

/// Whether samples are read from a stage.
const SAMPLED: [bool; STAGES] = {
    let mut sampled = [false; STAGES];
    let mut k = 0;
    while k < SAMPLES {
        sampled[SLOTS[k].0] = true;
        k += 1;
    }
    sampled
};

/// The stage before the last, at the same time as the last.
const TWIN: usize = STAGES - 2;

/// A stage of the dense output, of no use once that is made.
const SLOPE: usize = STAGES;

/// Stages of the dense output.
const EXTRA_TIMES: [f64; 3] = [0.1, 0.2, 7.0 / 9.0];

#[rustfmt::skip]
#[allow(clippy::excessive_precision)]
const A: [&[(usize, f64)]; 16] = [
    &[],
    &[(0, 0.05260015195876773)],
    &[(0, 0.0197250569845379), (1, 0.0591751709536137)],
    &[(0, 0.02958758547680685), (2, 0.08876275643042054)],
    &[(0, 0.2413651341592667), (2, -0.8845494793282861), (3, 0.924834003261792)],
    &[(0, 0.037037037037037035), (3, 0.17082860872947386), (4, 0.12546768756682242)],
    &[(0, 0.037109375), (3, 0.17025221101954405), (4, 0.06021653898045596), (5, -0.017578125)],
    &[(0, 0.03709200011850479), (3, 0.17038392571223998), (4, 0.10726203044637328), (5, -0.015319437748624402), (6, 0.008273789163814023)],
    &[(0, 0.6241109587160757), (3, -3.3608926294469414), (4, -0.868219346841726), (5, 27.59209969944671), (6, 20.154067550477894), (7, -43.48988418106996)],
    &[(0, 0.47766253643826434), (3, -2.4881146199716677), (4, -0.590290826836843), (5, 21.230051448181193), (6, 15.279233632882423), (7, -33.28821096898486), (8, -0.020331201708508627)],
    &[(0, -0.9371424300859873), (3, 5.186372428844064), (4, 1.0914373489967295), (5, -8.149787010746927), (6, -18.52006565999696), (7, 22.739487099350505), (8, 2.4936055526796523), (9, -3.0467644718982196)],
    &[(0, 2.273310147516538), (3, -10.53449546673725), (4, -2.0008720582248625), (5, -17.9589318631188), (6, 27.94888452941996), (7, -2.8589982771350235), (8, -8.87285693353063), (9, 12.360567175794303), (10, 0.6433927460157636)],
    &[(0, 0.054293734116568765), (5, 4.450312892752409), (6, 1.8915178993145003), (7, -5.801203960010585), (8, 0.3111643669578199), (9, -0.1521609496625161), (10, 0.20136540080403034), (11, 0.04471061572777259)],
    &[(0, 0.056167502283047954), (6, 0.25350021021662483), (7, -0.2462390374708025), (8, -0.12419142326381637), (9, 0.15329179827876568), (10, 0.00820105229563469), (11, 0.007567897660545699), (12, -0.008298)],
    &[(0, 0.03183464816350214), (5, 0.028300909672366776), (6, 0.053541988307438566), (7, -0.05492374857139099), (10, -0.00010834732869724932), (11, 0.0003825710908356584), (12, -0.00034046500868740456), (13, 0.1413124436746325)],
    &[(0, -0.42889630158379194), (5, -4.697621415361164), (6, 7.683421196062599), (7, 4.06898981839711), (8, 0.3567271874552811), (12, -0.0013990241651590145), (13, 2.9475147891527724), (14, -9.15095847217987)],
];

#[rustfmt::skip]
const E3: &[(usize, f64)] = &[(0, -0.18980075407240762), (5, 4.450312892752409), (6, 1.8915178993145003), (7, -5.801203960010585), (8, -0.4226823213237919), (9, -0.1521609496625161), (10, 0.20136540080403034), (11, 0.02265179219836082)];

#[rustfmt::skip]
const E5: &[(usize, f64)] = &[(0, 0.01312004499419488), (5, -1.2251564463762044), (6, -0.4957589496572502), (7, 1.6643771824549864), (8, -0.35032884874997366), (9, 0.3341791187130175), (10, 0.08192320648511571), (11, -0.022355307863886294)];

#[rustfmt::skip]
const D: [&[(usize, f64)]; 4] = [
    &[(0, -8.428938276109013), (5, 0.5667149535193777), (6, -3.0689499459498917), (7, 2.38466765651207), (8, 2.117034582445028), (9, -0.871391583777973), (10, 2.2404374302607883), (11, 0.6315787787694688), (12, -0.08899033645133331), (13, 18.148505520854727), (14, -9.194632392478356), (15, -4.436036387594894)],
    &[(0, 10.427508642579134), (5, 242.28349177525817), (6, 165.20045171727028), (7, -374.5467547226902), (8, -22.113666853125306), (9, 7.733432668472264), (10, -30.674084731089398), (11, -9.332130526430229), (12, 15.697238121770845), (13, -31.139403219565178), (14, -9.35292435884448), (15, 35.81684148639408)],
    &[(0, 19.985053242002433), (5, -387.0373087493518), (6, -189.17813819516758), (7, 527.8081592054236), (8, -11.57390253995963), (9, 6.8812326946963), (10, -1.0006050966910838), (11, 0.7777137798053443), (12, -2.778205752353508), (13, -60.19669523126412), (14, 84.32040550667716), (15, 11.99229113618279)],
    &[(0, -25.69393346270375), (5, -154.18974869023643), (6, -231.5293791760455), (7, 357.6391179106141), (8, 93.40532418362432), (9, -37.45832313645163), (10, 104.0996495089623), (11, 29.8402934266605), (12, -43.53345659001114), (13, 96.32455395918828), (14, -39.17726167561544), (15, -149.72683625798564)],
];

/// One step of the method at a time, with everything it needs kept between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dop853 {
    n: usize,
    /// The right-hand side depends on so many components, the first: the others are integrals beside the motion.
    active: usize,
    t: f64,
    h: f64,
    x: Vec<f64>,
    x_new: Vec<f64>,
    error: Vec<f64>,
    stage: Vec<f64>,
    /// State at the stage before the last.
    twin: Vec<f64>,
    k: [Vec<f64>; 16],
    dense: [Vec<f64>; 4],
    dense_ready: bool,
}

impl Dop853 {
    /// Memory for `n` components, of which the right-hand side depends on the first `active`.
    pub(crate) fn new(n: usize, active: usize) -> Self {
        let zeros = || vec![0.0; n];
        Dop853 {
            n,
            active,
            x: zeros(),
            x_new: zeros(),
            error: zeros(),
            stage: zeros(),
            twin: zeros(),
            k: std::array::from_fn(|_| zeros()),
            dense: std::array::from_fn(|_| zeros()),
            ..Default::default()
        }
    }

    /// Start (or restart after an event) at `(t, x)`: one evaluation. False when `f` does not exist there.
    pub(crate) fn start(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.stand(t, x);
        f.rates(0, t, &self.x, &mut self.k[0])
    }

    /// Move the present point by a little: the same as a new start.
    pub(crate) fn correct(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.start(t, x, f)
    }

    /// Start at `(t, x)`, where the rates are known.
    pub(crate) fn adopt(&mut self, t: f64, x: &[f64], rates: &[f64]) {
        self.stand(t, x);
        self.k[0].copy_from_slice(rates);
    }

    fn stand(&mut self, t: f64, x: &[f64]) {
        self.t = t;
        self.h = 0.0;
        self.x.copy_from_slice(x);
        self.x_new.copy_from_slice(x);
        self.dense_ready = false;
    }

    /// Try one step of length `h` from the present point. The step is not taken before [`Dop853::advance`]; a shorter
    /// one may be tried instead. False when `f` does not exist at some stage.
    pub(crate) fn attempt(&mut self, h: f64, f: &mut impl Rhs) -> bool {
        self.h = h;
        self.dense_ready = false;
        for s in 1..STAGES - 1 {
            self.fill_stage(s);
            if s == TWIN {
                self.twin[..self.active].copy_from_slice(&self.stage[..self.active]);
            }
            let at = if SAMPLED[s] { s } else { INSIDE };
            if !f.rates(at, self.t + STAGE_TIMES[s] * h, &self.stage, &mut self.k[s]) {
                return false;
            }
        }
        let Dop853 { n, x, x_new, error, stage, k, .. } = self;
        combine(A[STAGES - 1], k, *n, |i, sum| x_new[i] = x[i] + h * sum);
        if !f.rates(STAGES - 1, self.t + h, x_new, &mut k[STAGES - 1]) {
            return false;
        }
        combine(E3, k, *n, |i, e3| stage[i] = e3);
        combine(E5, k, *n, |i, e5| {
            let e3 = stage[i];
            let size = (e5 * e5 + 0.01 * e3 * e3).sqrt();
            error[i] = if size > 0.0 { h * e5 * e5 / size } else { 0.0 };
        });
        x_new.iter().chain(&k[STAGES - 1]).all(|v| v.is_finite())
    }

    /// Lengthen the step tried last by the tiny `delta` (shorten it, when negative) along the rates at its end: one
    /// evaluation; the error is δ²/2 times the second derivative.
    pub(crate) fn nudge(&mut self, delta: f64, f: &mut impl Rhs) -> bool {
        self.h += delta;
        self.dense_ready = false;
        for (x, k) in self.x_new.iter_mut().zip(&self.k[STAGES - 1]) {
            *x += delta * k;
        }
        f.rates(STAGES - 1, self.t + self.h, &self.x_new, &mut self.k[STAGES - 1])
    }

    /// Let the step tried last end after `h` at `x`: one evaluation.
    pub(crate) fn place(&mut self, h: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.h = h;
        self.dense_ready = false;
        self.x_new.copy_from_slice(x);
        f.rates(STAGES - 1, self.t + h, &self.x_new, &mut self.k[STAGES - 1])
    }

    /// Let the step tried last end inside it, on its dense output at the fraction `theta`, which is `x` ([`Dop853::interpolate`]): one
    /// evaluation. The error becomes what the defect x̂' − f(x̂) there makes of the way to it, or that of a step shortened to
    /// `theta`. False without dense output, or when `f` does not exist there.
    pub(crate) fn end_inside(&mut self, theta: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        if !self.dense_ready {
            return false;
        }
        let whole = self.h;
        self.slope_inside(theta);
        self.x_new.copy_from_slice(x);
        self.h = theta * whole;
        self.dense_ready = false;
        if !f.rates(STAGES - 1, self.t + self.h, &self.x_new, &mut self.k[STAGES - 1]) {
            return false;
        }
        let shorter = theta.powi(8);
        let rates = self.k[SLOPE].iter().zip(&self.k[STAGES - 1]);
        for (error, (slope, rate)) in self.error.iter_mut().zip(rates) {
            *error = (self.h * (slope - rate)).abs().max(shorter * error.abs());
        }
        true
    }

    /// Rates of the dense output at the fraction `theta`, in place of a stage that is needed no more.
    fn slope_inside(&mut self, theta: f64) {
        let (rest, n, h) = (1.0 - theta, self.n, self.h);
        let (x, x_new) = (&self.x[..n], &self.x_new[..n]);
        let [d0, d1, d2, d3] = self.dense.each_ref().map(|d| &d[..n]);
        let (first, others) = self.k.split_at_mut(1);
        let (last, slopes) = others.split_at_mut(SLOPE - 1);
        let (k_first, k_last, slope) = (&first[0][..n], &last[STAGES - 2][..n], &mut slopes[0][..n]);
        for i in 0..n {
            let difference = x_new[i] - x[i];
            let (left, right) = (h * k_first[i], h * k_last[i]);
            // every product of interpolate(), with its derivative
            let (a, da) = (d3[i] * theta + d2[i], d3[i]);
            let (b, db) = (a * rest + d1[i], da * rest - a);
            let (c, dc) = (b * theta + d0[i], db * theta + b);
            let (y, dy) = (c * rest + 2.0 * difference - left - right, dc * rest - c);
            let (z, dz) = (y * theta + left - difference, dy * theta + y);
            let (v, dv) = (z * rest + difference, dz * rest - z);
            slope[i] = (v + dv * theta) / h;
        }
    }

    /// Take the step tried last.
    pub(crate) fn advance(&mut self) {
        self.t += self.h;
        self.h = 0.0;
        std::mem::swap(&mut self.x, &mut self.x_new);
        self.k.swap(0, STAGES - 1);
        self.dense_ready = false;
    }

    /// Make the continuous extension of the step tried last available: three evaluations, once per step. False when `f` does
    /// not exist there.
    pub(crate) fn prepare(&mut self, f: &mut impl Rhs) -> bool {
        if self.dense_ready {
            return true;
        }
        for (s, c) in (STAGES..16).zip(EXTRA_TIMES) {
            self.fill_stage(s);
            if !f.rates(INSIDE, self.t + c * self.h, &self.stage, &mut self.k[s]) {
                return false;
            }
        }
        for (row, out) in D.iter().zip(&mut self.dense) {
            combine(row, &self.k, self.n, |i, sum| out[i] = sum * self.h);
        }
        self.dense_ready = true;
        true
    }

    /// Value of the continuous extension at the fraction `theta` of the step tried last; [`Dop853::prepare`] comes first
    /// (without it the cubic through the ends is used). Of as many components as `out` has.
    pub(crate) fn interpolate(&self, theta: f64, out: &mut [f64]) {
        let (rest, n) = (1.0 - theta, out.len());
        let (x, x_new) = (&self.x[..n], &self.x_new[..n]);
        let (k_first, k_last) = (&self.k[0][..n], &self.k[STAGES - 1][..n]);
        let [d0, d1, d2, d3] = self.dense.each_ref().map(|d| &d[..n]);
        for i in 0..n {
            let difference = x_new[i] - x[i];
            let (left, right) = (self.h * k_first[i], self.h * k_last[i]);
            let mut y = 0.0;
            if self.dense_ready {
                y = (((d3[i] * theta + d2[i]) * rest + d1[i]) * theta + d0[i]) * rest;
            }
            y = (y + 2.0 * difference - left - right) * theta;
            y = (y + left - difference) * rest;
            out[i] = x[i] + (y + difference) * theta;
        }
    }

    /// Size of the largest eigenvalue in play, 1/s, from the last two stages of the step just taken, for the components that have weights.
    pub(crate) fn stiffness(&self, weights: &[f64]) -> f64 {
        let (mut rates, mut states) = (0.0, 0.0);
        for (i, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            // the rates at the end of the step have become those at the beginning of the next
            rates += ((self.k[0][i] - self.k[TWIN][i]) / w).powi(2);
            states += ((self.x[i] - self.twin[i]) / w).powi(2);
        }
        if states > 0.0 { (rates / states).sqrt() } else { 0.0 }
    }

    /// The state at a stage, as far as the right-hand side looks.
    fn fill_stage(&mut self, s: usize) {
        let Dop853 { active, h, x, stage, k, .. } = self;
        // nobody may read the rest
        #[cfg(debug_assertions)]
        stage[*active..].fill(f64::NAN);
        combine(A[s], k, *active, |i, sum| stage[i] = x[i] + *h * sum);
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
        &self.k[0]
    }

    /// Estimated local error of the step tried last.
    pub(crate) fn error(&self) -> &[f64] {
        &self.error
    }
}

/// Components that are summed at once.
const BLOCK: usize = 8;

/// Σ a k_j of the first `n` components, in the order of the list. Some components at a time, so that their sums stay in registers.
#[inline]
fn combine(list: &[(usize, f64)], k: &[Vec<f64>; 16], n: usize, mut put: impl FnMut(usize, f64)) {
    let mut at = 0;
    while n - at >= BLOCK {
        block::<BLOCK>(list, k, at, &mut put);
        at += BLOCK;
    }
    match n - at {
        0 => {}
        1 => block::<1>(list, k, at, &mut put),
        2 => block::<2>(list, k, at, &mut put),
        3 => block::<3>(list, k, at, &mut put),
        4 => block::<4>(list, k, at, &mut put),
        5 => block::<5>(list, k, at, &mut put),
        6 => block::<6>(list, k, at, &mut put),
        _ => block::<7>(list, k, at, &mut put),
    }
}

#[inline]
fn block<const W: usize>(
    list: &[(usize, f64)],
    k: &[Vec<f64>; 16],
    at: usize,
    put: &mut impl FnMut(usize, f64),
) {
    let mut sums = [0.0; W];
    for &(j, a) in list {
        let part = &k[j][at..at + W];
        for l in 0..W {
            sums[l] += a * part[l];
        }
    }
    sums.into_iter().enumerate().for_each(|(l, sum)| put(at + l, sum));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(n: usize) -> (f64, f64) {
        let mut ode = Dop853::new(2, 2);
        let mut f = |_t: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[1];
            dx[1] = -x[0];
        };
        ode.start(0.0, &[0.0, 1.0], &mut f);
        let h = 6.0 / n as f64;
        let mut inside = [0.0; 2];
        let mut worst = 0.0_f64;
        for _ in 0..n {
            ode.attempt(h, &mut f);
            ode.prepare(&mut f);
            for j in 1..10 {
                let theta = 0.1 * j as f64;
                ode.interpolate(theta, &mut inside);
                worst = worst.max((inside[0] - (ode.time() + theta * h).sin()).abs());
            }
            ode.advance();
        }
        ((ode.state()[0] - 6.0_f64.sin()).abs(), worst)
    }

    #[test]
    fn halving_the_step_divides_the_error_by_256_at_the_end_and_by_128_or_so_inside() {
        let (coarse, inside_coarse) = errors(6);
        let (fine, inside_fine) = errors(12);
        let (end, inside) = ((coarse / fine).log2(), (inside_coarse / inside_fine).log2());
        assert!((end - 8.0).abs() < 0.7, "order {end}");
        assert!(inside > 6.5, "order {inside}");
    }

    #[test]
    fn a_step_that_ends_inside_has_the_state_and_the_rates_of_the_motion_there() {
        let mut ode = Dop853::new(2, 2);
        let mut f = |_t: f64, x: &[f64], dx: &mut [f64]| {
            dx[0] = x[1];
            dx[1] = -x[0];
        };
        for theta in [0.13, 0.5, 0.77, 0.98] {
            ode.start(0.0, &[0.0, 1.0], &mut f);
            let mut inside = [0.0; 2];
            ode.attempt(0.2, &mut f);
            assert!(!ode.end_inside(theta, &inside, &mut f), "without dense output");
            ode.attempt(0.2, &mut f);
            ode.prepare(&mut f);
            ode.interpolate(theta, &mut inside);
            assert!(ode.end_inside(theta, &inside, &mut f));
            let t = 0.2 * theta;
            assert_eq!(ode.step(), t);
            assert!((ode.end()[0] - t.sin()).abs() < 1e-10 && (ode.end()[1] - t.cos()).abs() < 1e-10);
            // the defect is the error of the rates of a polynomial of degree 7, over the step
            assert!(ode.error().iter().all(|e| *e < 1e-8), "{:?}", ode.error());
            ode.advance();
            assert!((ode.rates()[0] - t.cos()).abs() < 1e-10);
        }
    }

    #[test]
    fn the_coefficients_satisfy_the_row_sums_and_integrate_a_polynomial_of_degree_eight() {
        for s in 1..STAGES {
            let sum: f64 = A[s].iter().map(|a| a.1).sum();
            assert!((sum - STAGE_TIMES[s]).abs() < 1e-14, "stage {s}: {sum}");
        }
        let mut ode = Dop853::new(1, 1);
        let mut f = |t: f64, _: &[f64], dx: &mut [f64]| dx[0] = 8.0 * t.powi(7);
        ode.start(0.0, &[0.0], &mut f);
        ode.attempt(1.0, &mut f);
        ode.advance();
        assert!((ode.state()[0] - 1.0).abs() < 1e-13);
    }
}

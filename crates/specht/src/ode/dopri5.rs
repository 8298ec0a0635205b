//! The explicit Runge–Kutta pair of Dormand and Prince, order 5(4), with dense output of order 4.
//!
//! Seven stages, the last one at the end of the step and reused as the first of the next (FSAL): six evaluations per
//! accepted step. The continuous extension is Shampine's quartic in the form of Hairer, Nørsett and Wanner:
//!
//! ```text
//! x(θ) = r₁ + θ (r₂ + (1−θ) (r₃ + θ (r₄ + (1−θ) r₅))),   0 ≤ θ ≤ 1
//! ```
//!
//! Local error O(h⁶) at the end of the step, O(h⁵) inside it. An event located on the dense output is therefore only a
//! first guess: step again with the shortened length to keep order 5. No function here allocates after [`Dopri5::new`].
//! [Dormand1980; Hairer1993, II.5 and II.6]

use super::Rhs;

/// Number of stages, the last one being the first of the next step.
const STAGES: usize = 7;

/// Where in the step each stage evaluates, as a fraction of the step.
const STAGE_TIMES: [f64; STAGES] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

const A: [[f64; 6]; STAGES] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Difference of the weights of orders 5 and 4.
const E: [f64; STAGES] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

const D: [f64; STAGES] = [
    -12715105075.0 / 11282082432.0,
    0.0,
    87487479700.0 / 32700410799.0,
    -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0,
    -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
];

/// One step of the method at a time, with everything it needs kept between steps.
#[derive(Clone, Debug, Default)]
pub struct Dopri5 {
    n: usize,
    t: f64,
    h: f64,
    x: Vec<f64>,
    x_new: Vec<f64>,
    error: Vec<f64>,
    stage: Vec<f64>,
    k: [Vec<f64>; STAGES],
    r5: Vec<f64>,
    dense_ready: bool,
    evaluations: u64,
}

impl Dopri5 {
    /// Memory for `n` components.
    pub fn new(n: usize) -> Self {
        let zeros = || vec![0.0; n];
        Dopri5 {
            n,
            x: zeros(),
            x_new: zeros(),
            error: zeros(),
            stage: zeros(),
            k: std::array::from_fn(|_| zeros()),
            r5: zeros(),
            ..Default::default()
        }
    }

    /// Start (or restart after an event) at `(t, x)`: one evaluation. False when `f` does not exist there.
    pub fn start(&mut self, t: f64, x: &[f64], f: &mut impl Rhs) -> bool {
        self.t = t;
        self.h = 0.0;
        self.x.copy_from_slice(x);
        self.x_new.copy_from_slice(x);
        self.dense_ready = false;
        self.evaluations += 1;
        f.rates(0, t, &self.x, &mut self.k[0])
    }

    /// Try one step of length `h` from the present point. The step is not taken before [`Dopri5::advance`]; a shorter
    /// one may be tried instead. False when `f` does not exist at some stage.
    pub fn attempt(&mut self, h: f64, f: &mut impl Rhs) -> bool {
        self.h = h;
        self.dense_ready = false;
        for s in 1..STAGES {
            for i in 0..self.n {
                let mut sum = 0.0;
                for j in 0..s {
                    sum += A[s][j] * self.k[j][i];
                }
                self.stage[i] = self.x[i] + h * sum;
            }
            self.evaluations += 1;
            let target = if s == STAGES - 1 {
                self.x_new.copy_from_slice(&self.stage);
                self.t + h
            } else {
                self.t + STAGE_TIMES[s] * h
            };
            if !f.rates(s, target, &self.stage, &mut self.k[s]) {
                return false;
            }
        }
        for i in 0..self.n {
            let mut sum = 0.0;
            for s in 0..STAGES {
                sum += E[s] * self.k[s][i];
            }
            self.error[i] = h * sum;
        }
        self.x_new.iter().chain(&self.k[6]).all(|v| v.is_finite())
    }

    /// Take the step tried last.
    pub fn advance(&mut self) {
        self.t += self.h;
        self.h = 0.0;
        std::mem::swap(&mut self.x, &mut self.x_new);
        self.k.swap(0, 6);
        self.dense_ready = false;
    }

    /// Value of the continuous extension at the fraction `theta` of the step tried last.
    pub fn interpolate(&mut self, theta: f64, out: &mut [f64]) {
        if !self.dense_ready {
            for i in 0..self.n {
                let mut sum = 0.0;
                for s in 0..STAGES {
                    sum += D[s] * self.k[s][i];
                }
                self.r5[i] = self.h * sum;
            }
            self.dense_ready = true;
        }
        let rest = 1.0 - theta;
        for i in 0..self.n {
            let difference = self.x_new[i] - self.x[i];
            let r3 = self.h * self.k[0][i] - difference;
            let r4 = difference - self.h * self.k[6][i] - r3;
            out[i] = self.x[i] + theta * (difference + rest * (r3 + theta * (r4 + rest * self.r5[i])));
        }
    }

    /// Time at the beginning of the step.
    pub fn time(&self) -> f64 {
        self.t
    }

    /// Length of the step tried last.
    pub fn step(&self) -> f64 {
        self.h
    }

    /// State at the beginning of the step.
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// State at the end of the step tried last.
    pub fn end(&self) -> &[f64] {
        &self.x_new
    }

    /// Rates at the beginning of the step.
    pub fn rates(&self) -> &[f64] {
        &self.k[0]
    }

    /// Rates at the end of the step tried last.
    pub fn end_rates(&self) -> &[f64] {
        &self.k[6]
    }

    /// Estimated local error of the step tried last.
    pub fn error(&self) -> &[f64] {
        &self.error
    }

    /// Evaluations of `f` so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oscillator(_t: f64, x: &[f64], dx: &mut [f64]) {
        dx[0] = x[1];
        dx[1] = -x[0];
    }

    /// Global error at t = 2 with `n` equal steps, at the end and in the middle of the last step.
    fn errors(n: usize) -> (f64, f64) {
        let mut ode = Dopri5::new(2);
        let mut f = oscillator;
        ode.start(0.0, &[0.0, 1.0], &mut f);
        let h = 2.0 / n as f64;
        let mut inside = [0.0; 2];
        let mut middle = 0.0_f64;
        for _ in 0..n {
            ode.attempt(h, &mut f);
            for j in 1..10 {
                let theta = 0.1 * j as f64;
                ode.interpolate(theta, &mut inside);
                middle = middle.max((inside[0] - (ode.time() + theta * h).sin()).abs());
            }
            ode.advance();
        }
        ((ode.state()[0] - 2.0_f64.sin()).abs(), middle)
    }

    #[test]
    fn halving_the_step_divides_the_error_by_32_at_the_end_and_by_16_or_more_inside() {
        let (coarse, inside_coarse) = errors(16);
        let (fine, inside_fine) = errors(32);
        let order = (coarse / fine).log2();
        assert!((order - 5.0).abs() < 0.3, "order {order}");
        assert!((inside_coarse / inside_fine).log2() > 3.8);
    }

    #[test]
    fn a_quintic_is_integrated_exactly() {
        let mut ode = Dopri5::new(1);
        let mut f = |t: f64, _: &[f64], dx: &mut [f64]| dx[0] = 5.0 * t.powi(4);
        ode.start(0.0, &[0.0], &mut f);
        ode.attempt(2.0, &mut f);
        ode.advance();
        assert!((ode.state()[0] - 32.0).abs() < 1e-13);
    }
}

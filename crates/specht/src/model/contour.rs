//! Contact parameters of curves: the equations (4.21), solved at every evaluation.
//!
//! Newton's method from the parameters of the discrete state, steps limited to a quarter of the range; a global search where it fails and at
//! the first evaluation. Equations are signed so that +F pulls σ upwards, hence the root that is meant has ∂F/∂σ < 0; of
//! several, the one with the smallest merit (distance, or height over a flat) whose normals oppose each other (4.22).
//! Tolerance: the last Newton step is below 1e-11 of the range, so the error is that of rounding.

use crate::expr::{Tape, Work};

/// One parameter.
#[derive(Clone, Debug)]
pub(super) struct Sigma {
    /// Place of σ in the inputs.
    pub slot: usize,
    /// Place of the flag "inside the range".
    pub active: usize,
    /// Number of the latch; none for a closed curve.
    pub latch: Option<usize>,
    /// First of its two guards (low end, high end).
    pub guard: usize,
}

/// The equations of one contact.
#[derive(Clone, Debug)]
pub(super) struct ContourSolver {
    pub contact: usize,
    pub tape: Tape,
    pub sigma: Vec<Sigma>,
    /// First of its numbers in `Eval::contour`.
    pub first: usize,
}

const SAMPLES: usize = 96;
const GRID: usize = 24;
const STARTS: usize = 12;
const NEWTON_LIMIT: usize = 30;
const STEP_TOLERANCE: f64 = 1e-11;

impl ContourSolver {
    /// Solve at `inputs`, with ends frozen by `latches`; `contour` holds the start values (NaN: none) and receives the
    /// result. Returns false where the equations are singular.
    pub(super) fn solve(
        &self,
        inputs: &mut [f64],
        work: &mut Work,
        ranges: &[[f64; 2]],
        latches: &[i32],
        contour: &mut [f64],
        guards: &mut [f64],
    ) -> bool {
        let mine = &mut contour[self.first..self.first + self.sigma.len()];
        for ((s, range), &value) in self.sigma.iter().zip(ranges).zip(mine.iter()) {
            let side = s.latch.map_or(0, |k| latches[k]);
            inputs[s.active] = if side == 0 { 1.0 } else { 0.0 };
            inputs[s.slot] = match side {
                0 => value,
                -1 => range[0],
                _ => range[1],
            };
        }
        let warm = self.sigma.iter().all(|s| inputs[s.slot].is_finite());
        let found = (warm && self.newton(inputs, work, ranges, false) && self.is_meant(inputs, work, ranges))
            || self.search(inputs, work, ranges, false);
        for (s, value) in self.sigma.iter().zip(mine.iter_mut()) {
            *value = inputs[s.slot];
        }
        for (i, s) in self.sigma.iter().enumerate() {
            let Some(latch) = s.latch else { continue };
            let pull = self.tape.output(work, i);
            let (low, high) = match latches[latch] {
                0 => (inputs[s.slot] - ranges[i][0], ranges[i][1] - inputs[s.slot]),
                -1 => (-pull, f64::INFINITY),
                _ => (f64::INFINITY, pull),
            };
            guards[s.guard] = low;
            guards[s.guard + 1] = high;
        }
        found
    }

    /// Rates of the parameters by the theorem of implicit functions, F(σ, x) = 0 ⇒ ∂F/∂σ σ̇ = −∂F/∂x ẋ, at the values of
    /// [`ContourSolver::solve`] in `work`. A parameter at an end moves with it. Rates of the inputs stand in `inputs` and receive those of the
    /// parameters; `ranges` are rates of the ranges.
    pub(super) fn tangent(
        &self,
        work: &Work,
        rates: &mut Work,
        inputs: &mut [f64],
        ranges: &[[f64; 2]],
        latches: &[i32],
        contour: &mut [f64],
        guards: &mut [f64],
    ) {
        let n = self.sigma.len();
        let side = |s: &Sigma| s.latch.map_or(0, |k| latches[k]);
        for (s, range) in self.sigma.iter().zip(ranges) {
            inputs[s.slot] = match side(s) {
                0 => 0.0,
                -1 => range[0],
                _ => range[1],
            };
        }
        self.tape.tangent(work, inputs, rates);
        let active = |i: usize| side(&self.sigma[i]) == 0;
        let f = |i: usize| self.tape.output(rates, i);
        let j = |i: usize, k: usize| self.tape.output(work, n + i * n + k);
        let step = newton_step([active(0), n == 2 && active(1)], f, j);
        for (i, (s, range)) in self.sigma.iter().zip(ranges).enumerate() {
            inputs[s.slot] += step[i];
            let sigma = inputs[s.slot];
            contour[self.first + i] = sigma;
            if s.latch.is_none() {
                continue;
            }
            let pull = f(i) + (0..n).map(|k| j(i, k) * step[k]).sum::<f64>();
            let (low, high) = match side(s) {
                0 => (sigma - range[0], range[1] - sigma),
                -1 => (-pull, 0.0),
                _ => (0.0, pull),
            };
            guards[s.guard] = low;
            guards[s.guard + 1] = high;
        }
    }

    /// Find the parameters without regard to latches and set them.
    pub(super) fn latch(
        &self,
        inputs: &mut [f64],
        work: &mut Work,
        ranges: &[[f64; 2]],
        latches: &mut [i32],
        contour: &mut [f64],
    ) {
        let mine = &mut contour[self.first..self.first + self.sigma.len()];
        let warm = mine.iter().all(|v| v.is_finite());
        for (s, &value) in self.sigma.iter().zip(mine.iter()) {
            inputs[s.slot] = value;
            inputs[s.active] = 1.0;
        }
        if !(warm && self.newton(inputs, work, ranges, true) && self.is_meant(inputs, work, ranges)) {
            self.search(inputs, work, ranges, true);
        }
        for ((s, range), value) in self.sigma.iter().zip(ranges).zip(mine.iter_mut()) {
            *value = inputs[s.slot];
            if let Some(latch) = s.latch {
                latches[latch] = match (inputs[s.active] != 0.0, inputs[s.slot] <= range[0]) {
                    (true, _) => 0,
                    (false, true) => -1,
                    (false, false) => 1,
                };
            }
        }
    }

    /// Newton's method on the active parameters; with `clamp` a parameter that leaves its range stays at the end. The
    /// tape holds the values at the result.
    fn newton(&self, inputs: &mut [f64], work: &mut Work, ranges: &[[f64; 2]], clamp: bool) -> bool {
        let n = self.sigma.len();
        let mut last = false;
        for _ in 0..NEWTON_LIMIT {
            self.tape.eval(inputs, work);
            if last {
                return true;
            }
            let active = |i: usize| inputs[self.sigma[i].active] != 0.0;
            let f = |i: usize| self.tape.output(work, i);
            let j = |i: usize, k: usize| self.tape.output(work, n + i * n + k);
            let free = [active(0), n == 2 && active(1)];
            if free == [false; 2] {
                return true;
            }
            let step = newton_step(free, f, j);
            if !step.iter().all(|s| s.is_finite()) {
                return false;
            }
            // one common factor keeps the direction
            let mut factor = 1.0_f64;
            for (range, d) in ranges.iter().zip(step).take(n) {
                let limit = 0.25 * (range[1] - range[0]).abs();
                if d.abs() > limit {
                    factor = factor.min(limit / d.abs());
                }
            }
            last = factor == 1.0;
            for ((s, range), d) in self.sigma.iter().zip(ranges).zip(step) {
                let span = range[1] - range[0];
                last &= d.abs() <= STEP_TOLERANCE * span.abs();
                let mut value = inputs[s.slot] + factor * d;
                if s.latch.is_none() && (value < range[0] || value > range[1]) {
                    value -= ((value - range[0]) / span).floor() * span;
                }
                if clamp && s.latch.is_some() && !(range[0]..=range[1]).contains(&value) {
                    value = value.clamp(range[0], range[1]);
                    inputs[s.active] = 0.0;
                    last = false;
                }
                inputs[s.slot] = value;
            }
        }
        false
    }

    /// Whether the values on the tape belong to the root that is meant.
    fn is_meant(&self, inputs: &[f64], work: &Work, ranges: &[[f64; 2]]) -> bool {
        let n = self.sigma.len();
        let at_end = self.sigma.iter().any(|s| inputs[s.active] == 0.0);
        let facing = self.tape.output(work, n + n * n + 1) > 0.0;
        (facing || at_end)
            && (0..n).all(|i| {
                let s = &self.sigma[i];
                if inputs[s.active] != 0.0 {
                    n == 2 || self.tape.output(work, n) < 0.0
                } else {
                    // at an end the pull must point outwards
                    let pull = self.tape.output(work, i);
                    if inputs[s.slot] <= ranges[i][0] { pull <= 0.0 } else { pull >= 0.0 }
                }
            })
    }

    /// Global search. With `clamp` ends count as candidates and inactive parameters are released first.
    fn search(&self, inputs: &mut [f64], work: &mut Work, ranges: &[[f64; 2]], clamp: bool) -> bool {
        let n = self.sigma.len();
        if clamp {
            self.sigma.iter().for_each(|s| inputs[s.active] = 1.0);
        }
        let free: Vec<usize> = (0..n).filter(|&i| inputs[self.sigma[i].active] != 0.0).collect();
        let starts = match free.len() {
            2 => self.grid(inputs, work, ranges),
            _ => self.line(inputs, work, ranges, &free, clamp),
        };
        let mut best: Option<(f64, [f64; 4])> = None;
        for start in starts {
            for (i, s) in self.sigma.iter().enumerate() {
                inputs[s.slot] = start[i];
                inputs[s.active] = start[2 + i];
            }
            if !self.newton(inputs, work, ranges, clamp) || !self.is_meant(inputs, work, ranges) {
                continue;
            }
            let merit = self.tape.output(work, n + n * n);
            if best.as_ref().is_none_or(|b| merit < b.0) {
                let mut at = [0.0; 4];
                for (i, s) in self.sigma.iter().enumerate() {
                    (at[i], at[2 + i]) = (inputs[s.slot], inputs[s.active]);
                }
                best = Some((merit, at));
            }
        }
        let found = best.is_some();
        let at = best.map_or([f64::NAN, f64::NAN, 1.0, 1.0], |b| b.1);
        for (i, s) in self.sigma.iter().enumerate() {
            let middle = 0.5 * (ranges[i][0] + ranges[i][1]);
            inputs[s.slot] = if found { at[i] } else { middle };
            if found {
                inputs[s.active] = at[2 + i];
            }
        }
        self.tape.eval(inputs, work);
        found
    }

    /// Start values in one free parameter: between samples where F falls through zero, and the ends.
    fn line(
        &self,
        inputs: &mut [f64],
        work: &mut Work,
        ranges: &[[f64; 2]],
        free: &[usize],
        clamp: bool,
    ) -> Vec<[f64; 4]> {
        let mut base = [0.0; 4];
        for (i, s) in self.sigma.iter().enumerate() {
            (base[i], base[2 + i]) = (inputs[s.slot], inputs[s.active]);
        }
        let Some(&i) = free.first() else { return vec![base] };
        let (s, range) = (&self.sigma[i], ranges[i]);
        let mut starts = Vec::new();
        let mut previous = (range[0], f64::NAN);
        for k in 0..=SAMPLES {
            let sigma = range[0] + (range[1] - range[0]) * k as f64 / SAMPLES as f64;
            inputs[s.slot] = sigma;
            self.tape.eval(inputs, work);
            let pull = self.tape.output(work, i);
            if previous.1 >= 0.0 && pull <= 0.0 {
                // the secant point is close enough for Newton
                let (a, b) = previous;
                let t = if b > pull { b / (b - pull) } else { 0.5 };
                base[i] = a + t * (sigma - a);
                starts.push(base);
            }
            let end = (k == 0 && pull < 0.0) || (k == SAMPLES && pull > 0.0);
            if clamp && s.latch.is_some() && end {
                let mut at = base;
                (at[i], at[2 + i]) = (sigma, 0.0);
                starts.push(at);
            }
            previous = (sigma, pull);
        }
        starts
    }

    /// Start values in two parameters: the grid points with the smallest merit whose normals oppose each other.
    fn grid(&self, inputs: &mut [f64], work: &mut Work, ranges: &[[f64; 2]]) -> Vec<[f64; 4]> {
        let mut points = Vec::with_capacity(GRID * GRID);
        let at =
            |range: [f64; 2], k: usize| range[0] + (range[1] - range[0]) * (k as f64 + 0.5) / GRID as f64;
        for i in 0..GRID {
            for j in 0..GRID {
                let (a, b) = (at(ranges[0], i), at(ranges[1], j));
                inputs[self.sigma[0].slot] = a;
                inputs[self.sigma[1].slot] = b;
                self.tape.eval(inputs, work);
                let (merit, facing) = (self.tape.output(work, 6), self.tape.output(work, 7));
                if facing > 0.5 && merit.is_finite() {
                    points.push((merit, [a, b, 1.0, 1.0]));
                }
            }
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        // the middle of the ranges: right below the body for a surface z = f(x, y)
        let middle = [0, 1].map(|i| 0.5 * (ranges[i][0] + ranges[i][1]));
        let first = [middle[0], middle[1], 1.0, 1.0];
        std::iter::once(first).chain(points.into_iter().take(STARTS).map(|p| p.1)).collect()
    }
}

/// −J⁻¹ F of the free unknowns.
fn newton_step(free: [bool; 2], f: impl Fn(usize) -> f64, j: impl Fn(usize, usize) -> f64) -> [f64; 2] {
    match free {
        [true, false] => [-f(0) / j(0, 0), 0.0],
        [false, true] => [0.0, -f(1) / j(1, 1)],
        [true, true] => {
            let det = j(0, 0) * j(1, 1) - j(0, 1) * j(1, 0);
            [(-f(0) * j(1, 1) + f(1) * j(0, 1)) / det, (-f(1) * j(0, 0) + f(0) * j(1, 0)) / det]
        }
        [false, false] => [0.0; 2],
    }
}

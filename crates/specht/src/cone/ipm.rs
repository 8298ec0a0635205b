//! Interior point on the exact, nonconvex problem (METH-CONE-IPM)
//!
//! Scaled coordinates ([`super::prep`]): `x = (μ r_N, r_T)`, `n = u_N/μ > 0`, `v = u_T`, `y = (n + |v|, v)`, Lorentz cone L:
//!
//! ```text
//! (n, v) = A x + b,    x ∘ y = τ w_i e,    x, y ∈ int L,    τ → 0              (w_i = 1; weighted restarts: w_i random)
//! [A + (I−G)P] dx = R + (I−G) S d_c − κ e_0,    R = (n,v) − A x − b,   G = e_0 (0, tᵀ),  t = v/|v|,   P = S² (Nesterov–Todd)
//! (dn, dv) = A dx − R
//! ```
//!
//! `y ∈ int L ⇔ n > 0`, so the term `μ|u_T|` is inside Newton and a step of length `a` shrinks `R` by exactly `1 − a`.
//! Mehrotra predictor–corrector with the curvature of `|v|` (κ); hand-over to [`super::newton`]. Discs (loaded contacts,
//! guides): `x_0` constant, `y_0` a free multiplier. Wide runs (A) take long steps; narrow runs (B, C, D) may follow folds of
//! the path by arc length ([`super::arc`]). No guarantee of convergence: the problem is not monotone, and may have no solution.

use super::cones::{Cone, Kind};
use super::island::{Errors, Island};
use super::kernel::{V3, norm2};
use super::newton::newton;

/// Parameters of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// neighbourhood `λ_min² ≥ γ τ`, `λ_max² ≤ Γ τ`
    pub low: f64,
    pub high: f64,
    /// fraction of the step to the boundary
    pub fraction: f64,
    pub iterations: usize,
    pub arc: bool,
    /// seed of the weights, if any
    pub weights: Option<u64>,
    pub spread: f64,
    /// the accurate form waits for both bodies of a contact: better pivots, five times the work
    pub careful: bool,
}

/// Nesterov–Todd scaling of one cone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nt {
    pub w: V3,
    pub eta: f64,
    pub lam: V3,
    pub t: [f64; 2],
}

/// State and buffers of the interior point; sizes follow the island.
#[derive(Clone, Debug, Default)]
pub(super) struct IpmWork {
    pub x: Vec<f64>,
    /// `(n, v)` packed by rows
    pub y: Vec<f64>,
    /// multiplier of discs
    pub y0: Vec<f64>,
    pub x1: Vec<f64>,
    pub y1: Vec<f64>,
    pub y01: Vec<f64>,
    /// residual
    pub r: Vec<f64>,
    pub ax: Vec<f64>,
    pub nt: Vec<Nt>,
    pub weight: Vec<f64>,
    /// bounds of discs in scaled units
    pub bound: Vec<f64>,
    pub affine: Dir,
    pub dir: Dir,
    pub dir2: Dir,
    /// per cone: right-hand sides in scaled space, predictor parts
    pub dc: Vec<V3>,
    pub ca: Vec<V3>,
    pub cb: Vec<V3>,
    pub kappa: Vec<f64>,
    pub best: Vec<f64>,
    pub small: Vec<bool>,
    pub near: Vec<bool>,
}

/// A direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Dir {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub y0: Vec<f64>,
}

impl Dir {
    fn resize(&mut self, m: usize, n: usize) {
        self.x.resize(m, 0.0);
        self.y.resize(m, 0.0);
        self.y0.resize(n, 0.0);
    }
}

/// How a run ended; the best point is in `island.ipm.best`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    pub error: f64,
    pub iterations: usize,
    pub newton: usize,
    pub negative: usize,
    /// largest |x| seen and residual at the end: growth of x with a residual that stays is the sign of no solution
    pub size: f64,
    pub residual: f64,
}

/// First error at which Newton is tried.
const FIRST_TRY: f64 = 1e-4;
/// Below this τ the accurate form is used (earlier after a stall below 1e-7).
const FINE: f64 = 1e-10;
/// Eigenvalue of `P` below which a contact is kept as a row in the accurate form.
const SMALL: f64 = 1e-8;
/// Contacts below this are kept too when the rows are chosen anew: they will be needed soon.
const NEARLY_SMALL: f64 = 1e-6;

/// Below this τ the condensed form refines its solution once.
const REFINE: f64 = 1e-3;
/// Rounds the kink of `|v|` in the Jacobian only: `t = v / √(|v|² + (KINK n)²)`. The path stays the same.
const KINK: f64 = 0.1;
/// A wide run that does not lower τ by 2 within this many iterations is given up.
const PATIENCE: usize = 4;
/// … once the residual is below this: before, τ may rest while the residual falls (tall towers).
const STALL_RESIDUAL: f64 = 1e-4;

/// One run from the cold start.
pub(super) fn run(
    island: &mut Island,
    p: &Run,
    tol: f64,
    bounds: &[f64],
    deadline: &crate::stop::Clock,
) -> Ended {
    let mut w = std::mem::take(&mut island.ipm);
    let mut k = std::mem::take(&mut island.blocks);
    let e = Path { island, w: &mut w, p, tol }.go(&mut k, bounds, deadline);
    island.ipm = w;
    island.blocks = k;
    e
}

pub(super) struct Path<'a> {
    pub island: &'a mut Island,
    pub w: &'a mut IpmWork,
    pub p: &'a Run,
    pub tol: f64,
}

impl Path<'_> {
    fn go(&mut self, k: &mut super::form::Blocks, bounds: &[f64], clock: &crate::stop::Clock) -> Ended {
        self.start(bounds);
        let mut out = Ended { error: f64::INFINITY, ..Default::default() };
        let (mut short, mut stuck, mut next_try) = (0usize, 0usize, FIRST_TRY);
        let mut tau_stuck = f64::INFINITY;
        let mut arc = super::arc::Arc::default();
        let mut hist = [f64::INFINITY; PATIENCE];
        let mut fine_below = 0.0_f64;
        for it in 0..self.p.iterations {
            out.iterations = it + 1;
            // residual, complementarity, errors
            let tau = self.residual();
            let feas = crate::linalg::max_abs(&self.w.r);
            let err = self.errors();
            let e = err.max();
            out.size = crate::linalg::max_abs(&self.w.x);
            out.residual = feas;
            if !e.is_finite() || !tau.is_finite() {
                break;
            }
            if e < out.error {
                out.error = e;
                self.w.best.copy_from_slice(&self.w.x);
            }
            if e < self.tol || clock.over() {
                break;
            }
            // hand-over to Newton
            let stalled = short >= 3;
            if (e < next_try && feas < 1e-4) || stalled {
                let en = self.try_newton(k, &mut out);
                if en < self.tol {
                    break;
                }
                if !stalled {
                    next_try = 0.1 * e;
                } else {
                    stuck = if tau > 0.3 * tau_stuck { stuck + 1 } else { 1 };
                    tau_stuck = tau;
                    short = 0;
                    arc.on = self.p.arc;
                    if tau < 1e-7 {
                        fine_below = fine_below.max(2.0 * tau);
                    }
                    if stuck >= if self.p.arc { 40 } else { 2 } {
                        break;
                    }
                }
            }
            // factor
            let fine = tau < fine_below.max(FINE);
            self.choose_form(fine);
            self.scaling(k, tau);
            self.island.form.factor(k);
            if arc.on {
                arc.step(self, k, tau);
                if arc.sign < 0.0 {
                    out.negative += 1;
                }
                continue;
            }
            // stall of a wide run
            if !self.p.arc && it >= 2 * PATIENCE && feas < STALL_RESIDUAL && hist[it % PATIENCE] < 2.0 * tau {
                self.try_newton(k, &mut out);
                break;
            }
            hist[it % PATIENCE] = tau;
            let a = self.step(k, tau, feas, short >= 2);
            short = if a < 0.3 { short + 1 } else { 0 };
        }
        out
    }

    fn start(&mut self, bounds: &[f64]) {
        let (m, n) = (self.island.m, self.island.cones.len());
        if let Some(f) = self.island.body() {
            f.forget_fine(self.p.careful);
        }
        let w = &mut *self.w;
        for v in [&mut w.x, &mut w.y, &mut w.x1, &mut w.y1, &mut w.r, &mut w.ax, &mut w.best] {
            v.clear();
            v.resize(m, 0.0);
        }
        for v in [&mut w.y0, &mut w.y01, &mut w.kappa, &mut w.weight, &mut w.bound] {
            v.clear();
            v.resize(n, 0.0);
        }
        for v in [&mut w.dc, &mut w.ca, &mut w.cb] {
            v.resize(n, [0.0; 3]);
        }
        w.nt.resize(n, Nt::default());
        for d in [&mut w.affine, &mut w.dir, &mut w.dir2] {
            d.resize(m, n);
        }
        // weights: log-uniform in e^±1.5, mean 1
        match self.p.weights {
            None => w.weight.fill(1.0),
            Some(seed) => {
                let mut rng = super::random::Rng::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(17));
                w.weight.iter_mut().for_each(|x| *x = (2.0 * self.p.spread * (rng.uniform() - 0.5)).exp());
                let mean = w.weight.iter().sum::<f64>() / n as f64;
                w.weight.iter_mut().for_each(|x| *x /= mean);
            }
        }
        for (i, c) in self.island.cones.iter().enumerate() {
            let s = w.weight[i].sqrt();
            match c.kind {
                Kind::Soc | Kind::Convex | Kind::Half => {
                    w.x[c.rows.at] = s;
                    w.y[c.rows.at] = s;
                }
                Kind::Disc | Kind::Pair => {
                    w.bound[i] = bounds[i].max(1e-12);
                    w.y0[i] = w.weight[i] / w.bound[i];
                }
                Kind::Free => {}
            }
        }
    }

    /// `R`; returns τ.
    fn residual(&mut self) -> f64 {
        let w = &mut *self.w;
        self.island.form.mul(&w.x, &mut w.ax);
        for i in 0..w.r.len() {
            w.r[i] = w.y[i] - w.ax[i] - self.island.b[i];
        }
        let (mut s, mut n) = (0.0, 0usize);
        for (i, c) in self.island.cones.iter().enumerate() {
            if c.kind == Kind::Free {
                continue;
            }
            let (x, gap, v) = view(c, w.bound[i], &w.x, &w.y, w.y0[i]);
            s += x[0] * (gap + norm2(v[0], v[1])) + x[1] * v[0] + x[2] * v[1];
            n += 1;
        }
        s / n.max(1) as f64
    }

    fn errors(&mut self) -> Errors {
        // true velocities, not (n, v)
        for i in 0..self.w.ax.len() {
            self.w.y1[i] = self.w.ax[i] + self.island.b[i];
        }
        self.island.errors(&self.w.x, &self.w.y1)
    }

    fn try_newton(&mut self, k: &mut super::form::Blocks, out: &mut Ended) -> f64 {
        self.w.x1.copy_from_slice(&self.w.x);
        std::mem::swap(k, &mut self.island.blocks);
        let (en, steps) = newton(self.island, &mut self.w.x1, self.tol, 6);
        std::mem::swap(k, &mut self.island.blocks);
        out.newton += steps;
        if en < out.error {
            out.error = en;
            self.w.best.copy_from_slice(&self.w.x1);
        }
        en
    }

    /// The accurate form keeps contacts whose scaling block is small against their diagonal block.
    fn choose_form(&mut self, fine: bool) {
        let n = self.island.cones.len();
        self.w.small.clear();
        self.w.near.clear();
        if fine {
            for i in 0..n {
                let c = &self.island.cones[i];
                let (x, gap, v) = view(c, self.w.bound[i], &self.w.x, &self.w.y, self.w.y0[i]);
                let nt = Nt::new(&x, gap, &v);
                let w1 = norm2(nt.w[1], nt.w[2]);
                let smallest = nt.eta * nt.eta / (nt.w[0] + w1).powi(2);
                self.w.small.push(c.kind != Kind::Free && smallest < SMALL);
                self.w.near.push(c.kind != Kind::Free && smallest < NEARLY_SMALL);
            }
        }
        if let Some(f) = self.island.body() {
            f.refine_form(fine, &self.w.small, &self.w.near);
        }
    }

    /// Nesterov–Todd scaling, `D` and its regularised inverse.
    fn scaling(&mut self, k: &mut super::form::Blocks, tau: f64) {
        k.plain = true;
        k.refine = tau < REFINE;
        let delta = self.island.form.delta();
        for (i, c) in self.island.cones.iter().enumerate() {
            if c.kind == Kind::Free {
                k.b[i] = [[0.0; 3]; 3];
                continue;
            }
            let (x, gap, v) = view(c, self.w.bound[i], &self.w.x, &self.w.y, self.w.y0[i]);
            let mut nt = Nt::new(&x, gap, &v);
            let d = c.rows.d;
            match c.kind {
                Kind::Soc | Kind::Convex | Kind::Half => {
                    let l = norm2(norm2(v[0], v[1]), KINK * gap);
                    if l > 0.0 && c.kind == Kind::Soc {
                        nt.t = [v[0] / l, v[1] / l];
                    }
                    nt.blocks(d, delta, &mut k.b[i], &mut k.binv[i]);
                }
                _ => {
                    let o = usize::from(c.kind == Kind::Pair);
                    k.b[i] = [[0.0; 3]; 3];
                    k.binv[i] = [[0.0; 3]; 3];
                    let e2 = nt.eta * nt.eta;
                    let w1 = [nt.w[1], nt.w[2]];
                    let s = 1.0 + 2.0 * (w1[0] * w1[0] + w1[1] * w1[1]);
                    for a in o..d {
                        for b in o..d {
                            let (p, q) = (w1[a - o], w1[b - o]);
                            k.b[i][a][b] = e2 * (2.0 * p * q + f64::from(a == b));
                            k.binv[i][a][b] = (f64::from(a == b) - 2.0 * p * q / s) / (e2 + delta);
                        }
                    }
                }
            }
            self.w.nt[i] = nt;
        }
    }

    /// Predictor and corrector; moves the point and returns the step length.
    fn step(&mut self, k: &super::form::Blocks, tau: f64, feas: f64, centre: bool) -> f64 {
        let n = self.island.cones.len();
        // where we are: never demand more than now
        let (_, lo, hi) = trial(self.island, self.w, Which::None, 0.0);
        let (glo, ghi) = (0.9 * lo / tau, 1.1 * hi / tau);
        // predictor
        for i in 0..n {
            let l = self.w.nt[i].lam;
            self.w.dc[i] = [-l[0], -l[1], -l[2]];
        }
        self.w.kappa.fill(0.0);
        let mut dir = std::mem::take(&mut self.w.affine);
        self.direction(k, true, &mut dir);
        self.w.affine = dir;
        let aa = longest(self.island, self.w, &self.w.affine).min(1.0);
        let (tau_a, _, _) = trial(self.island, self.w, Which::Affine, aa);
        let mut sigma = (tau_a.max(0.0) / tau).powi(3).clamp(1e-4, 1.0);
        if centre {
            sigma = sigma.max(0.5);
        }
        // second order parts
        for (i, c) in self.island.cones.iter().enumerate() {
            if c.kind == Kind::Free {
                continue;
            }
            let nt = &self.w.nt[i];
            let (dx, dy, dv) = moves(c, nt, &self.w.affine, i);
            self.w.ca[i] = nt.unscale(&dy);
            self.w.cb[i] = nt.scale(&dx);
            if matches!(c.kind, Kind::Soc) {
                let (_, _, v) = view(c, 0.0, &self.w.x, &self.w.y, 0.0);
                self.w.y01[i] = norm2(v[0] + aa * dv[0], v[1] + aa * dv[1])
                    - norm2(v[0], v[1])
                    - aa * (nt.t[0] * dv[0] + nt.t[1] * dv[1]);
            } else {
                self.w.y01[i] = 0.0;
            }
        }
        std::mem::swap(&mut self.w.y01, &mut self.w.kappa);
        let full_kappa = |w: &mut IpmWork, f: f64, last: f64| {
            if f != last {
                let g = f / last;
                w.kappa.iter_mut().for_each(|x| *x *= g);
            }
        };
        let mut a = 0.0;
        let mut last = 1.0;
        for (attempt, f) in [1.0, 0.3, 0.0].into_iter().enumerate() {
            full_kappa(self.w, f, last);
            last = if f > 0.0 { f } else { 1.0 };
            for i in 0..n {
                if self.island.cones[i].kind != Kind::Free {
                    self.w.dc[i] =
                        self.w.nt[i].target(sigma * tau * self.w.weight[i], &self.w.ca[i], &self.w.cb[i], f);
                }
            }
            let mut dir = std::mem::take(&mut self.w.dir);
            self.direction(k, true, &mut dir);
            self.w.dir = dir;
            a = (self.p.fraction * longest(self.island, self.w, &self.w.dir)).min(1.0);
            for _ in 0..25 {
                let (t1, lo, hi) = trial(self.island, self.w, Which::Dir, a);
                if lo >= self.p.low.min(glo) * t1
                    && hi <= self.p.high.max(ghi) * t1
                    && (t1 >= 0.1 * (1.0 - a) * tau || feas < 1e-12)
                {
                    break;
                }
                a *= 0.8;
            }
            if a > 0.1 {
                break;
            }
            sigma = sigma.max([0.3, 0.8, 1.0][attempt]);
        }
        self.accept();
        a
    }

    /// Take the trial point.
    pub(super) fn accept(&mut self) {
        let w = &mut *self.w;
        std::mem::swap(&mut w.x, &mut w.x1);
        std::mem::swap(&mut w.y, &mut w.y1);
        std::mem::swap(&mut w.y0, &mut w.y01);
    }

    /// Newton direction for `dc`, κ and the residual (or a residual of zero).
    pub(super) fn direction(&mut self, k: &super::form::Blocks, residual: bool, d: &mut Dir) {
        let w = &mut *self.w;
        for (i, c) in self.island.cones.iter().enumerate() {
            let at = c.rows.at;
            for l in 0..c.rows.d {
                d.x[at + l] = if residual { w.r[at + l] } else { 0.0 };
            }
            let nt = &w.nt[i];
            match c.kind {
                Kind::Free => {}
                Kind::Soc | Kind::Convex | Kind::Half => {
                    let g = nt.scale(&w.dc[i]);
                    d.x[at] += g[0] - nt.t[0] * g[1] - nt.t[1] * g[2] - w.kappa[i];
                    for l in 1..c.rows.d {
                        d.x[at + l] += g[l];
                    }
                }
                Kind::Disc | Kind::Pair => {
                    let o = usize::from(c.kind == Kind::Pair);
                    let g = nt.scale(&w.dc[i]);
                    d.y0[i] = g[0];
                    for l in o..c.rows.d {
                        d.x[at + l] += g[l + 1 - o];
                    }
                }
            }
        }
        self.island.form.solve(k, &mut d.x);
        self.island.form.mul(&d.x, &mut d.y);
        if residual {
            for (y, r) in d.y.iter_mut().zip(&w.r) {
                *y -= r;
            }
        }
        for (i, c) in self.island.cones.iter().enumerate() {
            match c.kind {
                Kind::Disc | Kind::Pair => {
                    let o = usize::from(c.kind == Kind::Pair);
                    let nt = &w.nt[i];
                    let mut s = 0.0;
                    for l in o..c.rows.d {
                        s += nt.w[l + 1 - o] * d.x[c.rows.at + l];
                    }
                    d.y0[i] -= 2.0 * nt.eta * nt.eta * nt.w[0] * s;
                    if o == 1 {
                        d.y[c.rows.at] = -w.y[c.rows.at];
                    }
                }
                Kind::Free => {
                    for l in 0..c.rows.d {
                        d.y[c.rows.at + l] = -w.y[c.rows.at + l];
                    }
                }
                _ => {}
            }
        }
    }
}

/// Point of one cone: `x`, `y_0 − |v|`, `v`.
#[inline(always)]
pub(super) fn view(c: &Cone, bound: f64, x: &[f64], y: &[f64], y0: f64) -> (V3, f64, [f64; 2]) {
    let at = c.rows.at;
    match c.kind {
        Kind::Soc | Kind::Half => {
            let (x, y) = (c.rows.get(x), c.rows.get(y));
            (x, y[0], [y[1], y[2]])
        }
        Kind::Convex => {
            let (x, y) = (c.rows.get(x), c.rows.get(y));
            (x, y[0] - norm2(y[1], y[2]), [y[1], y[2]])
        }
        _ => {
            let o = usize::from(c.kind == Kind::Pair);
            let mut xx = [bound, 0.0, 0.0];
            let mut v = [0.0; 2];
            for l in o..c.rows.d {
                xx[l + 1 - o] = x[at + l];
                v[l - o] = y[at + l];
            }
            (xx, y0 - norm2(v[0], v[1]), v)
        }
    }
}

/// `dx`, `dy`, `dv` of one cone in Lorentz coordinates.
#[inline(always)]
pub(super) fn moves(c: &Cone, nt: &Nt, d: &Dir, i: usize) -> (V3, V3, [f64; 2]) {
    let at = c.rows.at;
    match c.kind {
        Kind::Soc | Kind::Convex | Kind::Half => {
            let (dx, dy) = (c.rows.get(&d.x), c.rows.get(&d.y));
            let dv = [dy[1], dy[2]];
            (dx, [dy[0] + nt.t[0] * dv[0] + nt.t[1] * dv[1], dv[0], dv[1]], dv)
        }
        _ => {
            let o = usize::from(c.kind == Kind::Pair);
            let mut dx = [0.0; 3];
            let mut dv = [0.0; 2];
            for l in o..c.rows.d {
                dx[l + 1 - o] = d.x[at + l];
                dv[l - o] = d.y[at + l];
            }
            (dx, [d.y0[i], dv[0], dv[1]], dv)
        }
    }
}

/// Which direction a trial follows.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Which {
    None,
    Affine,
    Dir,
}

/// Trial point `x1 = x + a dx …`; returns τ, and the smallest `λ_min²` and largest `λ_max²` over the cones, both relative to the weights.
pub(super) fn trial(island: &Island, w: &mut IpmWork, which: Which, a: f64) -> (f64, f64, f64) {
    let (mut x1, mut y1, mut y01) =
        (std::mem::take(&mut w.x1), std::mem::take(&mut w.y1), std::mem::take(&mut w.y01));
    match which {
        Which::None => {
            x1.copy_from_slice(&w.x);
            y1.copy_from_slice(&w.y);
            y01.copy_from_slice(&w.y0);
        }
        _ => {
            let d = if which == Which::Affine { &w.affine } else { &w.dir };
            for i in 0..x1.len() {
                x1[i] = w.x[i] + a * d.x[i];
                y1[i] = w.y[i] + a * d.y[i];
            }
            for i in 0..y01.len() {
                y01[i] = w.y0[i] + a * d.y0[i];
            }
        }
    }
    let (mut tau, mut lo, mut hi, mut n) = (0.0, f64::INFINITY, 0.0_f64, 0usize);
    for (i, c) in island.cones.iter().enumerate() {
        if c.kind == Kind::Free {
            continue;
        }
        n += 1;
        let (x, gap, v) = view(c, w.bound[i], &x1, &y1, y01[i]);
        let (xt, vt) = (norm2(x[1], x[2]), norm2(v[0], v[1]));
        let xy = x[0] * (gap + vt) + x[1] * v[0] + x[2] * v[1];
        tau += xy;
        if !(gap > 0.0 && x[0] > xt) {
            lo = f64::NEG_INFINITY;
            continue;
        }
        let s = ((x[0] - xt) * (x[0] + xt) * gap * (gap + 2.0 * vt)).sqrt();
        let big = (0.5 * (xy + s)).max(0.0).sqrt() + (0.5 * (xy - s)).max(0.0).sqrt();
        lo = lo.min((s / big).powi(2) / w.weight[i]);
        hi = hi.max(big * big / w.weight[i]);
    }
    w.x1 = x1;
    w.y1 = y1;
    w.y01 = y01;
    (tau / n.max(1) as f64, lo, hi)
}

/// Largest step that keeps `x` and `y` in their cones.
pub(super) fn longest(island: &Island, w: &IpmWork, d: &Dir) -> f64 {
    let mut a = 1e30_f64;
    for (i, c) in island.cones.iter().enumerate() {
        if c.kind == Kind::Free {
            continue;
        }
        let (x, gap, v) = view(c, w.bound[i], &w.x, &w.y, w.y0[i]);
        let (dx, dy, dv) = moves(c, &w.nt[i], d, i);
        a = a.min(to_boundary(&x, &dx));
        if matches!(c.kind, Kind::Soc | Kind::Half) {
            let dn = d.y[c.rows.at];
            if dn < 0.0 {
                a = a.min(-gap / dn);
            }
        } else {
            let y = [gap + norm2(v[0], v[1]), v[0], v[1]];
            a = a.min(to_boundary(&y, &[dy[0], dv[0], dv[1]]));
        }
    }
    a
}

/// Step from `x` along `dx` to the boundary of the Lorentz cone.
#[inline]
fn to_boundary(x: &V3, dx: &V3) -> f64 {
    let mut a = 1e30;
    if dx[0] < 0.0 {
        a = -x[0] / dx[0];
    }
    let qa = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2];
    let qb = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    let xt = norm2(x[1], x[2]);
    let qc = (x[0] - xt) * (x[0] + xt);
    let disc = qb * qb - qa * qc;
    if disc >= 0.0 && (qb < 0.0 || qa < 0.0) {
        let rt = disc.sqrt();
        let s = if qb <= 0.0 { qc / (rt - qb) } else { (-qb - rt) / qa };
        if s > 0.0 && s < a {
            a = s;
        }
    }
    a
}

impl Nt {
    /// Scaling point of `(y, x)` with `y = (gap + |v|, v)`.
    #[inline]
    pub(super) fn new(x: &V3, gap: f64, v: &[f64; 2]) -> Nt {
        let (vt, xt) = (norm2(v[0], v[1]), norm2(x[1], x[2]));
        let y0 = gap + vt;
        let a = (gap * (gap + 2.0 * vt)).max(1e-300).sqrt();
        let b = ((x[0] - xt) * (x[0] + xt)).max(1e-300).sqrt();
        let xy = x[0] * y0 + x[1] * v[0] + x[2] * v[1];
        let g = 2.0 * (0.5 * (1.0 + xy / (a * b))).sqrt();
        let w1 = (v[0] / a - x[1] / b) / g;
        let w2 = (v[1] / a - x[2] / b) / g;
        let w = [(1.0 + w1 * w1 + w2 * w2).sqrt(), w1, w2];
        let eta = (a / b).sqrt();
        let mut nt = Nt { w, eta, lam: [0.0; 3], t: [0.0; 2] };
        nt.lam = nt.scale(x);
        nt
    }

    /// `S z`.
    #[inline]
    pub(super) fn scale(&self, z: &V3) -> V3 {
        let w = &self.w;
        let d = w[1] * z[1] + w[2] * z[2];
        let f = z[0] + d / (1.0 + w[0]);
        [self.eta * (w[0] * z[0] + d), self.eta * (z[1] + f * w[1]), self.eta * (z[2] + f * w[2])]
    }

    /// `S⁻¹ z`.
    #[inline]
    pub(super) fn unscale(&self, z: &V3) -> V3 {
        let w = &self.w;
        let d = -(w[1] * z[1] + w[2] * z[2]);
        let f = z[0] + d / (1.0 + w[0]);
        let e = 1.0 / self.eta;
        [e * (w[0] * z[0] + d), e * (z[1] - f * w[1]), e * (z[2] - f * w[2])]
    }

    /// `λ \ (target e − λ∘λ − f a∘b)`.
    #[inline]
    pub(super) fn target(&self, target: f64, a: &V3, b: &V3, f: f64) -> V3 {
        let l = &self.lam;
        let ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let rhs = [
            target - l[0] * l[0] - l[1] * l[1] - l[2] * l[2] - f * ab,
            -2.0 * l[0] * l[1] - f * (a[0] * b[1] + b[0] * a[1]),
            -2.0 * l[0] * l[2] - f * (a[0] * b[2] + b[0] * a[2]),
        ];
        self.divide(&rhs)
    }

    /// `λ \ rhs` in the Jordan algebra.
    #[inline]
    pub(super) fn divide(&self, rhs: &V3) -> V3 {
        let l = &self.lam;
        let lt = norm2(l[1], l[2]);
        let det = (l[0] - lt) * (l[0] + lt);
        let o = (l[0] * rhs[0] - l[1] * rhs[1] - l[2] * rhs[2]) / det;
        [o, (rhs[1] - o * l[1]) / l[0], (rhs[2] - o * l[2]) / l[0]]
    }

    /// `D = (I−G)P` and `D⁻¹` with the eigenvalues of `P` raised by `delta`.
    #[inline]
    fn blocks(&self, d: usize, delta: f64, b: &mut [[f64; 3]; 3], inv: &mut [[f64; 3]; 3]) {
        let e2 = self.eta * self.eta;
        let w1 = norm2(self.w[1], self.w[2]);
        let up = (self.w[0] + w1) * (self.w[0] + w1);
        let (pp, pm) = (e2 * up, e2 / up);
        let (ip, im, i0) = (1.0 / (pp + delta), 1.0 / (pm + delta), 1.0 / (e2 + delta));
        // P on (1, s)/√2, (1, −s)/√2 and the rest
        let s = if w1 > 0.0 { [self.w[1] / w1, self.w[2] / w1] } else { [0.0; 2] };
        let (p00, p01, i00, i01) = (0.5 * (pp + pm), 0.5 * (pp - pm), 0.5 * (ip + im), 0.5 * (ip - im));
        *b = [[0.0; 3]; 3];
        *inv = [[0.0; 3]; 3];
        b[0][0] = p00;
        inv[0][0] = if w1 > 0.0 { i00 } else { i0 };
        for a in 1..d {
            b[0][a] = p01 * s[a - 1];
            b[a][0] = b[0][a];
            inv[0][a] = i01 * s[a - 1];
            inv[a][0] = inv[0][a];
            for c in 1..d {
                let ss = s[a - 1] * s[c - 1];
                b[a][c] = (p00 - e2) * ss + e2 * f64::from(a == c);
                inv[a][c] = (i00 - i0) * ss + i0 * f64::from(a == c);
            }
        }
        for c in 0..d {
            for a in 1..d {
                b[0][c] -= self.t[a - 1] * b[a][c];
            }
        }
        for a in 0..d {
            for c in 1..d {
                inv[a][c] += inv[a][0] * self.t[c - 1];
            }
        }
    }
}

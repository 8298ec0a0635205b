//! Interior points of an island and the linear algebra of their paths (METH-CONE-IPM, METH-CONE-SPLIT)
//!
//! Two paths lead to the same problem; both keep the velocity relation linear, so that a step of length `a` shrinks its residual
//! by exactly `1 − a`. Scaled coordinates ([`super::prep`]), `x = (μ r_N, r_T)`, `n = u_N/μ > 0`, `v = u_T`, Lorentz cone L:
//!
//! ```text
//! joint   (n, v) = A x + b,   x ∘ (n + |v|, v) = τ e
//! split   (n, v) = A x + b,   x ∘ (s, v) = τ e,   x_0 n = τ k,   s free,   k > 0            (quadratic: no |v|)
//! ```
//!
//! Both end at Signorini and Coulomb. What a point, a Newton block and a right-hand side are for each set stands in [`super::cones`];
//! here they are put together: [`super::wide`] takes long steps, [`super::taylor`] follows the split path through its folds.

use super::cascade::Counts;
use super::cones::{Inside, Kind, Way};
use super::form::Link;
use super::island::{Errors, Island};
use super::kernel::{V3, norm2};
use super::newton::newton;
use super::nt::{Nt, Part, to_boundary};

/// State and buffers of the interior point; sizes follow the island.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// the point: impulses by rows, and by cones with their velocities
    pub x: Vec<f64>,
    pub part: Vec<Part>,
    /// trial point
    pub x1: Vec<f64>,
    pub part1: Vec<Part>,
    /// residual `(n, v) − A x − b`, and `A x`
    pub r: Vec<f64>,
    pub ax: Vec<f64>,
    /// velocities by rows
    pub u: Vec<f64>,
    pub nt: Vec<Nt>,
    /// right-hand sides of the two products
    pub dc: Vec<V3>,
    pub c0: Vec<f64>,
    pub affine: Dir,
    pub dir: Dir,
    /// second order parts of the predictor
    pub ca: Vec<V3>,
    pub cb: Vec<V3>,
    pub bend: Vec<f64>,
    /// answer of the run
    pub best: Vec<f64>,
    pub series: super::taylor::Series,
}

/// A direction, or one Taylor coefficient.
#[derive(Clone, Debug, Default)]
pub(super) struct Dir {
    pub x: Vec<f64>,
    pub part: Vec<Part>,
}

impl Dir {
    pub(super) fn resize(&mut self, m: usize, n: usize) {
        self.x.resize(m, 0.0);
        self.part.resize(n, Part::default());
    }

    /// `self += a other`.
    pub(super) fn add(&mut self, a: f64, other: &Dir) {
        crate::linalg::axpy(a, &other.x, &mut self.x);
        for (p, q) in self.part.iter_mut().zip(&other.part) {
            p.add(a, q);
        }
    }

    pub(super) fn scale(&mut self, a: f64) {
        self.x.iter_mut().for_each(|x| *x *= a);
        for p in &mut self.part {
            let q = *p;
            *p = Part::default();
            p.add(a, &q);
        }
    }
}

/// How a run ended; the best point is in `island.ipm.best`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    pub error: f64,
    pub counts: Counts,
    /// largest |x| seen and residual at the end: growth of x with a residual that stays is the sign of no solution
    pub size: f64,
    pub residual: f64,
}

/// Measure of a point: mean product τ, smallest and largest eigenvalue of the products.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre {
    pub tau: f64,
    pub low: f64,
    pub high: f64,
}

/// Below this τ the condensed form refines its solution once.
const REFINE: f64 = 1e-3;
/// Most steps of refinement where every digit counts.
const MOST: usize = 5;
/// Last correction, relative to the solution, below which it is exact.
const SURE: f64 = 1e-5;
/// Least friction bound of a disc, in scaled units.
const LEAST_BOUND: f64 = 1e-12;

/// How a system is factored and solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Digits {
    /// simple, refined once near the end
    Simple,
    /// simple, refined until the corrections vanish
    Refined,
    /// twice the digits
    Twice,
}

pub(super) struct Path<'a> {
    pub island: &'a mut Island,
    pub w: &'a mut Work,
    pub way: Way,
    pub tol: f64,
}

impl Path<'_> {
    /// The starting point: velocities of size one, impulses of this size.
    pub(super) fn start(&mut self, size: f64) {
        let (m, n) = (self.island.m, self.island.cones.len());
        let w = &mut *self.w;
        for v in [&mut w.x, &mut w.x1, &mut w.r, &mut w.ax, &mut w.u, &mut w.best] {
            v.clear();
            v.resize(m, 0.0);
        }
        for v in [&mut w.part, &mut w.part1] {
            v.clear();
            v.resize(n, Part::default());
        }
        for v in [&mut w.dc, &mut w.ca, &mut w.cb] {
            v.resize(n, [0.0; 3]);
        }
        for v in [&mut w.c0, &mut w.bend] {
            v.resize(n, 0.0);
        }
        w.nt.resize(n, Nt::default());
        w.affine.resize(m, n);
        w.dir.resize(m, n);
        for (i, c) in self.island.cones.iter().enumerate() {
            let mut shape = self.island.scaled_shape(c, &w.x);
            shape.bound = shape.bound.max(LEAST_BOUND);
            let (part, rows) = c.kind.start(&shape, self.way, size);
            w.part[i] = part;
            c.rows.put(&rows, &mut w.x);
        }
    }

    /// Set residual and `A x` of the point; returns the largest residual.
    pub(super) fn residual(&mut self) -> f64 {
        let w = &mut *self.w;
        self.island.form.mul(&w.x, &mut w.ax);
        for (c, part) in self.island.cones.iter().zip(&w.part) {
            c.rows.put(&c.kind.velocity(part), &mut w.u);
        }
        for i in 0..w.r.len() {
            w.r[i] = w.u[i] - w.ax[i] - self.island.b[i];
        }
        crate::linalg::max_abs(&w.r)
    }

    /// Errors of the impulses with their true velocities, not `(n, v)`.
    pub(super) fn errors(&mut self) -> Errors {
        let w = &mut *self.w;
        for i in 0..w.ax.len() {
            w.u[i] = w.ax[i] + self.island.b[i];
        }
        self.island.errors(&w.x, &w.u)
    }

    /// Newton from the impulses in `x1`; keeps them when they are the best so far.
    pub(super) fn try_newton(&mut self, out: &mut Ended, steps: usize) -> f64 {
        let (e, done) = newton(self.island, &mut self.w.x1, self.tol, steps);
        out.counts.newton += done;
        self.keep(e, out);
        e
    }

    /// Keep the impulses in `x1` when their error is the smallest so far.
    pub(super) fn keep(&mut self, e: f64, out: &mut Ended) {
        if e < out.error {
            out.error = e;
            self.w.best.copy_from_slice(&self.w.x1);
        }
    }

    /// Fill in the blocks at the point and factor.
    pub(super) fn factor(&mut self, digits: Digits, tau: f64) {
        let w = &mut *self.w;
        for (i, c) in self.island.cones.iter().enumerate() {
            if c.kind.has_cone() {
                let p = &w.part[i];
                w.nt[i] = Nt::new(&p.x, c.kind.gap(self.way, p), &[p.psi[1], p.psi[2]]);
            }
        }
        if let Some(f) = self.island.body() {
            f.accurate = digits == Digits::Twice;
        }
        let delta = self.island.form.delta(digits == Digits::Refined, tau);
        let mut k = std::mem::take(&mut self.island.blocks);
        k.plain = true;
        k.links.clear();
        k.refine = match digits {
            Digits::Refined => MOST,
            _ => usize::from(tau < REFINE),
        };
        for (i, c) in self.island.cones.iter().enumerate() {
            let s = c.scaled(self.island.q_s);
            (k.b[i], k.binv[i]) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
            c.kind.lean(self.way, &w.part[i], &mut w.nt[i]);
            let at = Inside { way: self.way, s: &s, part: &w.part[i], nt: &w.nt[i] };
            c.kind.block(&at, delta, &mut k.b[i], &mut k.binv[i]);
            if let Some(o) = &c.owner {
                let slope = self.island.slope(c, o) * c.kind.slope(&w.part[i]);
                k.links.push(Link { cone: i, owner: o.cone, f: w.nt[i].sides().map(|f| f * slope) });
            }
        }
        self.island.form.factor(&k);
        self.island.blocks = k;
    }

    /// Newton direction for the products' right-hand sides `dc`, `c0` and a residual of the velocities.
    pub(super) fn direction(&mut self, residual: Option<&[f64]>, d: &mut Dir) {
        let w = &mut *self.w;
        let q_s = self.island.q_s;
        for (i, c) in self.island.cones.iter().enumerate() {
            let s = c.scaled(q_s);
            let at = Inside { way: self.way, s: &s, part: &w.part[i], nt: &w.nt[i] };
            c.rows.put(&c.kind.right(&at, &w.dc[i], w.c0[i]), &mut d.x);
        }
        if let Some(r) = residual {
            crate::linalg::axpy(1.0, r, &mut d.x);
        }
        self.island.form.solve_along(&self.island.blocks, &mut d.x, &mut w.u);
        if let Some(r) = residual {
            crate::linalg::axpy(-1.0, r, &mut w.u);
        }
        for (i, c) in self.island.cones.iter().enumerate() {
            let s = c.scaled(q_s);
            let at = Inside { way: self.way, s: &s, part: &w.part[i], nt: &w.nt[i] };
            let mut dx = c.rows.get(&d.x);
            if let Some(o) = &c.owner {
                dx[2] = self.island.slope(c, o) * d.x[self.island.cones[o.cone].rows.at];
            }
            d.part[i] = c.kind.follow(&at, &w.dc[i], w.c0[i], &dx, &c.rows.get(&w.u));
        }
    }

    /// Whether the last solution took all its digits from refinement.
    pub(super) fn sure(&mut self) -> bool {
        self.island.body().is_none_or(|f| f.doubt < SURE)
    }

    /// Number of products.
    pub(super) fn products(&self) -> f64 {
        let one = |k: Kind| usize::from(k.has_cone()) + usize::from(k.has_pair(self.way));
        self.island.cones.iter().map(|c| one(c.kind)).sum::<usize>().max(1) as f64
    }

    /// Trial point `x + a d`.
    pub(super) fn trial(&mut self, d: &Dir, a: f64) -> Centre {
        let w = &mut *self.w;
        for i in 0..w.x1.len() {
            w.x1[i] = w.x[i] + a * d.x[i];
        }
        for (i, c) in self.island.cones.iter().enumerate() {
            w.part1[i] = w.part[i];
            w.part1[i].add(a, &d.part[i]);
            c.kind.refresh(self.way, &mut w.part1[i]);
        }
        self.measure(&self.w.part1)
    }

    /// Take the trial point.
    pub(super) fn accept(&mut self) {
        std::mem::swap(&mut self.w.x, &mut self.w.x1);
        std::mem::swap(&mut self.w.part, &mut self.w.part1);
    }

    /// Mean, smallest and largest product; the smallest is negative outside of the sets.
    pub(super) fn measure(&self, parts: &[Part]) -> Centre {
        let k = self.way.ratio();
        let mut m = Centre { tau: 0.0, low: f64::INFINITY, high: 0.0 };
        for (c, part) in self.island.cones.iter().zip(parts) {
            if c.kind.has_cone() {
                let (x, v, gap) = (&part.x, [part.psi[1], part.psi[2]], c.kind.gap(self.way, part));
                let (xt, vt) = (norm2(x[1], x[2]), norm2(v[0], v[1]));
                let xy = x[0] * (gap + vt) + x[1] * v[0] + x[2] * v[1];
                m.tau += xy;
                if gap > 0.0 && x[0] > xt {
                    let s = ((x[0] - xt) * (x[0] + xt) * gap * (gap + 2.0 * vt)).sqrt();
                    let big = (0.5 * (xy + s)).max(0.0).sqrt() + (0.5 * (xy - s)).max(0.0).sqrt();
                    m.low = m.low.min((s / big).powi(2));
                    m.high = m.high.max(big * big);
                } else {
                    m.low = f64::NEG_INFINITY;
                }
            }
            if c.kind.has_pair(self.way) {
                let p = part.p * part.n / k;
                m.tau += p;
                m.low = m.low.min(if part.p > 0.0 && part.n > 0.0 { p } else { f64::NEG_INFINITY });
                m.high = m.high.max(p);
            }
        }
        m.tau /= self.products();
        m
    }

    /// Largest step along `d` that stays in the sets.
    pub(super) fn longest(&self, d: &Dir) -> f64 {
        let mut a = 1e30_f64;
        for (i, c) in self.island.cones.iter().enumerate() {
            let (part, dp) = (&self.w.part[i], &d.part[i]);
            if c.kind.has_cone() {
                a = a.min(to_boundary(&part.x, &dp.x));
            }
            a = a.min(c.kind.reach(self.way, part, dp));
        }
        a
    }
}

/// Step along which a positive number stays positive.
#[inline]
pub(super) fn positive(x: f64, dx: f64) -> f64 {
    if dx < 0.0 { -x / dx } else { 1e30 }
}

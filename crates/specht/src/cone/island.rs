//! One island: a connected set of contacts in scaled units, its errors and its answer.

use super::body::BodyForm;
use super::cones::{Cone, Kind, Owner, Shape};
use super::form::{Blocks, DenseForm, Form};
use super::interior::Work;
use super::kernel::{M3, V3};
use super::prep::scale_of;

/// See [`super::prep`] for the scaling.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    pub cones: Vec<Cone>,
    pub m: usize,
    pub form: Form,
    /// the other form, when a body problem is solved through W
    pub spare: Form,
    pub dense: DenseForm,
    pub through_w: bool,
    /// `b = S q / q_s`
    pub b: Vec<f64>,
    pub q_s: f64,
    /// norms of the island's q in physical units: two-norm, largest entry
    pub q_norm: f64,
    pub q_max: f64,
    /// answer in scaled units, and `y = A x + b`
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub blocks: Blocks,
    pub ipm: Work,
    pub t1: Vec<f64>,
    pub t2: Vec<f64>,
    pub t3: Vec<f64>,
    pub t4: Vec<f64>,
    pub t5: Vec<f64>,
    pub t6: Vec<f64>,
    pub keep: Vec<f64>,
    /// diagonal blocks of `A`
    pub diag: Vec<M3>,
    pub report: super::cascade::Report,
    /// a place of a larger island ([`super::repair`]): no other path is worth its time
    pub wide_only: bool,
}

/// Both error measures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Errors {
    pub plain: f64,
    pub scaled: f64,
}

impl Errors {
    pub(super) fn max(&self) -> f64 {
        if self.plain.is_finite() && self.scaled.is_finite() {
            self.plain.max(self.scaled)
        } else {
            f64::INFINITY
        }
    }
}

impl Island {
    /// After the physical values are in the form: scaling, right-hand side. `Err`: unknown where M is not definite.
    pub(super) fn finish(&mut self, q: &[f64]) -> Result<(), usize> {
        let m = self.m;
        let buffers = [&mut self.t1, &mut self.t2, &mut self.t3, &mut self.t4, &mut self.t6];
        for v in [&mut self.b, &mut self.x, &mut self.y].into_iter().chain(buffers) {
            v.resize(m, 0.0);
        }
        if let Form::Body(f) = &mut self.form {
            f.prepare_mass()?;
            self.t1.fill(1.0);
            f.scale(&self.t1);
            if self.through_w {
                f.dense(&mut self.dense.a);
                let d = std::mem::take(&mut self.dense);
                self.spare = std::mem::replace(&mut self.form, Form::Dense(d));
            }
        }
        if let Form::Sparse(f) = &mut self.form {
            self.t1.fill(1.0);
            f.scale(&self.t1);
        }
        // scales
        self.q_norm = 0.0;
        self.q_max = 0.0;
        self.q_s = 0.0;
        for c in &self.cones {
            for k in 0..c.rows.d {
                self.q_max = self.q_max.max((q[c.source[k]] * c.stretch[k]).abs());
            }
        }
        for (i, c) in self.cones.iter_mut().enumerate() {
            scale_of(c, &self.form.diagonal(i));
            for k in 0..c.rows.d {
                let v = q[c.source[k]] * c.stretch[k];
                self.q_norm += (v / self.q_max.max(f64::MIN_POSITIVE)).powi(2);
                self.t1[c.rows.at + k] = c.scale[k];
                self.b[c.rows.at + k] = c.scale[k] * v;
                self.q_s = self.q_s.max((c.rho.sqrt() * v).abs());
            }
        }
        self.q_norm = self.q_max * self.q_norm.sqrt();
        if self.q_s > 0.0 {
            self.b.iter_mut().for_each(|b| *b /= self.q_s);
        }
        match &mut self.form {
            Form::Dense(f) => f.scale(&self.t1),
            Form::Sparse(f) => f.scale(&self.t1),
            Form::Body(f) => f.scale(&self.t1),
        }
        self.blocks.resize(self.cones.len());
        self.blocks.links.clear();
        self.diag.clear();
        for i in 0..self.cones.len() {
            self.diag.push(self.form.diagonal(i));
        }
        Ok(())
    }

    /// First unknown of a node of the body form.
    pub(super) fn first_of(&self, node: usize) -> usize {
        match (&self.form, &self.spare) {
            (Form::Body(f), _) | (_, Form::Body(f)) => f.first_of(node),
            _ => 0,
        }
    }

    /// Physical impulse and velocity of cone `i`, both divided by `q_s`.
    #[inline]
    pub(super) fn physical(&self, i: usize, x: &[f64], y: &[f64]) -> (V3, V3) {
        let c = &self.cones[i];
        let (mut r, mut u) = (c.rows.get(x), c.rows.get(y));
        for k in 0..3 {
            r[k] *= c.scale[k];
            u[k] /= c.scale[k];
        }
        (r, u)
    }

    /// Bound of a disc by scaled normal impulse of its owner, in scaled coordinates.
    pub(super) fn slope(&self, c: &Cone, o: &Owner) -> f64 {
        o.mu * self.cones[o.cone].scale[0] / c.scale[0]
    }

    /// Normal impulse of a cone, divided by `q_s`, as far as it bounds discs, and its derivative.
    #[inline]
    pub(super) fn load(&self, o: &Owner, x: &[f64]) -> (f64, f64) {
        let c = &self.cones[o.cone];
        let r = x[c.rows.at] * c.scale[0];
        match c.kind {
            Kind::Free | Kind::Pair => (r.abs(), r.signum()),
            _ if r > 0.0 => (r, 1.0),
            _ => (0.0, 0.0),
        }
    }

    /// Shape of a cone in physical units divided by `q_s`.
    #[inline]
    pub(super) fn shape(&self, c: &Cone, x: &[f64]) -> Shape {
        let mut s = c.physical(self.q_s);
        if let Some(o) = &c.owner {
            s.bound = o.mu * self.load(o, x).0;
        }
        s
    }

    /// The same in scaled coordinates.
    #[inline]
    pub(super) fn scaled_shape(&self, c: &Cone, x: &[f64]) -> Shape {
        let mut s = c.scaled(self.q_s);
        if let Some(o) = &c.owner {
            s.bound = o.mu * self.load(o, x).0 / c.scale[0];
        }
        s
    }

    /// Whether some disc shares a normal impulse.
    pub(super) fn linked(&self) -> bool {
        self.cones.iter().any(|c| c.owner.is_some())
    }

    /// Errors of `x` with `y = A x + b`. The plain one compares impulses with velocities as they are: where `W` is small it is made of the
    /// last digits of the impulses, which no answer can do without and are taken off. Velocities are sums of such digits: impulses without
    /// bound absorb whatever should move, so the scaled error is never below what they hide.
    pub(super) fn errors(&self, x: &[f64], y: &[f64]) -> Errors {
        const ROUNDING: f64 = 2.0 * f64::EPSILON;
        let (mut s2, mut r2, mut mx, mut hidden) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for (i, c) in self.cones.iter().enumerate() {
            let (r, u) = self.physical(i, x, y);
            let shape = self.shape(c, x);
            let f = c.kind.natural(&shape, r, u, 1.0);
            s2 += f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
            r2 += r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
            let f = c.kind.natural(&shape, r, u, c.rho);
            for k in 0..3 {
                let e = f[k].abs() / c.rho;
                if !(e <= mx) {
                    mx = e;
                }
                hidden = hidden.max(f64::EPSILON * r[k].abs() / c.rho);
            }
        }
        let mx = if mx < hidden { hidden } else { mx };
        let plain = (s2.sqrt() - ROUNDING * r2.sqrt()).max(0.0);
        let plain = if (s2 + r2).is_finite() { plain } else { f64::INFINITY };
        Errors { plain: plain * self.q_s / self.q_norm, scaled: mx * self.q_s / self.q_max }
    }

    /// `y = A x + b`.
    pub(super) fn velocity(&mut self, x: &[f64], y: &mut [f64]) {
        self.form.mul(x, y);
        for (y, b) in y.iter_mut().zip(&self.b) {
            *y += b;
        }
    }

    /// Put `x` into the sets of the laws; cones stand before the discs that they bound.
    pub(super) fn make_admissible(&self, x: &mut [f64]) {
        for c in &self.cones {
            let mut r = c.rows.get(x);
            for k in 0..3 {
                r[k] *= c.scale[k];
            }
            let mut r = c.kind.admissible(&self.shape(c, x), r);
            for k in 0..3 {
                r[k] /= c.scale[k];
            }
            c.rows.put(&r, x);
        }
    }

    /// Prepare [`Island::velocity_of`]: `v = M⁻¹ Hᵀ r / q_s` of the answer.
    pub(super) fn body_velocity(&mut self) {
        let through_w = self.through_w;
        for c in &self.cones {
            for l in 0..c.rows.d {
                // the body form behind a dense one has unscaled rows
                let f = if through_w { c.scale[l] } else { 1.0 };
                self.t1[c.rows.at + l] = self.x[c.rows.at + l] * f;
            }
        }
        if let Form::Body(f) = if through_w { &mut self.spare } else { &mut self.form } {
            f.velocity(&self.t1);
        }
    }

    /// Velocity of component `c` of a node, after [`Island::body_velocity`].
    pub(super) fn velocity_of(&self, node: usize, c: usize) -> f64 {
        match if self.through_w { &self.spare } else { &self.form } {
            Form::Body(f) => f.component(node, c) * self.q_s,
            _ => 0.0,
        }
    }

    /// The body form of this island, if that is how it is solved.
    pub(super) fn body(&mut self) -> Option<&mut BodyForm> {
        match &mut self.form {
            Form::Body(f) => Some(f),
            _ => None,
        }
    }
}

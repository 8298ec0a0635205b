//! Impacts with friction in tangent planes: the exact cone, all laws, all contacts at once (PG-8, METH-3D-LOOP).
//!
//! Friction whose load follows other forces (guides, journals, ball joints, loads on other contacts) is bounded by their impulses in every phase, found in
//! rounds: the impulses of one bound the friction of the next. Given loads alone transmit no impulse, patches are points.

use crate::contact::Reduced;
use crate::contact::space::{Cone, Inner, Sliding, all};
use crate::impact::{Impact, ImpactStatus, Law};
use crate::linalg::{Mat, axpy, dot};
use crate::system::{ContactInfo, Eval, Restitution};

use super::space::{FOLLOWED, Layout, ROUNDS, spread};

/// The contacts of an impact, with what they are called beside their rows.
pub(super) struct Strike<'a> {
    info: &'a [ContactInfo],
    eval: &'a Eval,
    pub layout: Layout,
    pub red: Reduced,
}

/// The impact of all closed contacts at the velocities `u`, which need not be those of `eval`.
pub(crate) fn impact(
    info: &[ContactInfo],
    eval: &Eval,
    u: &[f64],
    law: Law,
    closed: &[bool],
    e: &[Restitution],
) -> Impact {
    let out = before(info, eval, u);
    // Newton's impacts are frictionless
    let mu = |i: usize| if law == Law::Newton { 0.0 } else { eval.mu[i] };
    let takes_part = |i: usize| {
        let part = closed[i] || info[i].is_bilateral();
        part.then(|| Sliding::Rests { rest: mu(i), mu: mu(i) })
    };
    let Some(mut strike) = Strike::new(info, eval, &out.rate_a, 2, takes_part) else { return out };
    let mut b = strike.red.c.clone();
    if law != Law::Poisson {
        for (cone, &i) in strike.layout.cones.iter().zip(&strike.layout.contacts) {
            if cone.given.is_none() {
                b[cone.at] *= 1.0 + e[i].normal;
            }
            let first = cone.at + usize::from(cone.given.is_none());
            (first..first + cone.tangents).for_each(|t| b[t] *= 1.0 + e[i].tangential);
        }
    }
    match strike.phase(&b, 1.0) {
        Some(x) => strike.finish(out, law == Law::Poisson, x, e),
        None => Impact { status: ImpactStatus::NoSolution, ..out },
    }
}

impl<'a> Strike<'a> {
    /// The contacts that `takes_part` has an answer for, at the rates `rates` of all rows; `most` tangents of those that can open. `None` where M is not
    /// definite.
    pub(super) fn new(
        info: &'a [ContactInfo],
        eval: &'a Eval,
        rates: &[f64],
        most: usize,
        takes_part: impl Fn(usize) -> Option<Sliding>,
    ) -> Option<Self> {
        let layout = Layout::new(info, eval, most, |i| {
            let own = info[i].is_unilateral();
            let follows = info[i].friction && (info[i].is_bilateral() || !info[i].load_on.is_empty());
            if own || follows { takes_part(i).map(|s| (s, (!own).then_some(0.0))) } else { None }
        });
        let mut red = Reduced::default();
        let none = vec![0.0; eval.mass.size()];
        red.eliminate(&eval.mass, &none, &eval.w, rates, &layout.bilateral, &layout.rows).then_some(Strike {
            info,
            eval,
            layout,
            red,
        })
    }

    /// Impulses of one phase that begins at the rates b; the impulses of bilateral rows that hold the rates there are count with `held`.
    fn phase(&mut self, b: &[f64], held: f64) -> Option<Vec<f64>> {
        let mut x = vec![0.0; b.len()];
        for _ in 0..ROUNDS {
            all(&self.layout.cones, &self.red.h, b, &mut x)?;
            let lambda = self.rows(&x, held);
            let (mut change, mut largest) = (0.0_f64, 0.0_f64);
            for (cone, &i) in self.layout.cones.iter_mut().zip(&self.layout.contacts) {
                let Some(old) = cone.given else { continue };
                let n = self.eval.bound_force(self.info, i, false, 0.0, &lambda);
                let new = if self.info[i].is_bilateral() { n.abs() } else { n.max(0.0) };
                change = change.max((new - old).abs());
                largest = largest.max(new);
                cone.given = Some(new);
            }
            if change <= FOLLOWED * largest {
                return Some(x);
            }
        }
        None
    }

    /// Impulses of all rows.
    fn rows(&self, x: &[f64], held: f64) -> Vec<f64> {
        let mut lambda = vec![0.0; self.eval.w.rows()];
        spread(&self.layout, &self.red, x, &mut lambda);
        for (k, &row) in self.layout.bilateral.iter().enumerate() {
            lambda[row] += (held - 1.0) * self.red.s0[k];
        }
        lambda
    }

    /// What follows the impulses of compression (or of all) in `x`: expansion, velocities, works.
    pub(super) fn finish(mut self, mut out: Impact, expands: bool, x: Vec<f64>, e: &[Restitution]) -> Impact {
        out.compression = self.rows(&x, 1.0);
        let mut compressed = out.u.clone();
        self.push(&x, &mut compressed);
        for (r, rate) in out.rate_c.iter_mut().enumerate() {
            *rate = self.eval.rate(r, &compressed);
        }
        let total = match expands && e.iter().any(|e| e.normal > 0.0) {
            true => self.expand(x, e),
            false => Some(x),
        };
        let Some(x) = total else {
            out.status = ImpactStatus::NoSolution;
            return out;
        };
        out.status = ImpactStatus::Solved;
        out.impulse = self.rows(&x, 1.0);
        self.push(&x, &mut out.u);
        let size = x.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
        for (cone, &i) in self.layout.cones.iter().zip(&self.layout.contacts) {
            let c = &self.info[i];
            out.tangential[i] = c.tangential_force(&out.impulse);
            let normal = c.normal_force(&out.impulse);
            let force = |t: usize| if t < cone.tangents { out.impulse[c.tangent[t]] } else { 0.0 };
            let friction = cone.section.size([force(0), force(1), force(2)]);
            if cone.given.is_none() {
                out.residual =
                    out.residual.max((friction - self.eval.mu[i] * normal) / size).max(-normal / size);
            }
        }
        for (r, rate) in out.rate_e.iter_mut().enumerate() {
            *rate = self.eval.rate(r, &out.u);
        }
        for (i, c) in self.info.iter().enumerate() {
            let work = |r: &usize| 0.5 * out.impulse[*r] * (out.rate_a[*r] + out.rate_e[*r]);
            out.normal[i] = c.normal_force(&out.impulse);
            out.normal_work[i] = c.normal_rows().iter().map(work).sum();
            out.tangential_work[i] = c.tangent.iter().map(work).sum();
        }
        out.energy = out.normal_work.iter().chain(&out.tangential_work).sum();
        out.gains_energy = out.energy > 1e-9 * self.eval.kinetic.abs();
        out
    }

    /// Velocities after the impulses x.
    fn push(&self, x: &[f64], u: &mut [f64]) {
        axpy(1.0, &self.red.a0, u);
        x.iter().enumerate().for_each(|(k, x)| axpy(*x, self.red.a.row(k), u));
    }

    /// Expansion after the impulses of compression: both together (Poisson).
    fn expand(&mut self, first: Vec<f64>, e: &[Restitution]) -> Option<Vec<f64>> {
        let product = |h: &Mat, k: usize| dot(h.row(k), &first);
        let after: Vec<f64> = (0..first.len()).map(|k| self.red.c[k] + product(&self.red.h, k)).collect();
        for (cone, &i) in self.layout.cones.iter_mut().zip(&self.layout.contacts) {
            // what slid into the impact may have stopped
            cone.friction = Sliding::Rests { rest: self.eval.mu[i], mu: self.eval.mu[i] };
            if cone.given.is_some() {
                continue;
            }
            cone.least = e[i].normal * first[cone.at];
            cone.inner = comes_back(cone, &first, &e[i], self.eval.mu[i]);
        }
        let mut x = self.phase(&after, 0.0)?;
        axpy(1.0, &first, &mut x);
        Some(x)
    }
}

/// What comes back of the tangential impulse of compression.
fn comes_back(cone: &Cone, first: &[f64], e: &Restitution, mu: f64) -> Option<Inner> {
    let back: [f64; 2] =
        std::array::from_fn(|t| if t < cone.tangents { first[cone.at + 1 + t] } else { 0.0 });
    let size = back[0].hypot(back[1]);
    let returns = size > 0.0 && cone.tangents < 3 && (e.tangential > 0.0 || e.nu > 0.0);
    returns.then(|| Inner {
        sigma: back.map(|b| b / size),
        kept: e.normal * e.tangential * size,
        part: mu * (1.0 - e.nu),
    })
}

/// An impact that has not begun.
pub(super) fn before(info: &[ContactInfo], eval: &Eval, u: &[f64]) -> Impact {
    let rate_a: Vec<f64> = (0..eval.w.rows()).map(|r| eval.rate(r, u)).collect();
    Impact {
        status: ImpactStatus::Invalid,
        u: u.to_vec(),
        impulse: vec![0.0; eval.w.rows()],
        compression: vec![0.0; eval.w.rows()],
        normal: vec![0.0; info.len()],
        tangential: vec![0.0; info.len()],
        normal_work: vec![0.0; info.len()],
        tangential_work: vec![0.0; info.len()],
        rate_c: rate_a.clone(),
        rate_e: rate_a.clone(),
        rate_a,
        ..Impact::default()
    }
}

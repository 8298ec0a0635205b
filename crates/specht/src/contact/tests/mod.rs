//! Tests of the force problem on the book's systems.

mod book;
mod jams;
mod laws;
mod random;
mod space;
mod tables;

use super::*;
use crate::linalg::Mat;
use crate::system::{Dims, Eval, Normal};

/// A system written down by hand: mass, forces, contacts with rows.
#[derive(Clone, Default)]
pub(crate) struct Bench {
    pub info: Vec<ContactInfo>,
    pub eval: Eval,
    rows: Vec<(Vec<f64>, f64)>,
}

impl Bench {
    pub(crate) fn new(mass: Mat, h: &[f64]) -> Self {
        let eval = Eval::new(&Dims { u: h.len(), ..Dims::default() });
        let mut b = Bench { eval, ..Bench::default() };
        b.eval.mass = crate::linalg::Symmetric::from_dense(&mass);
        b.eval.h = h.to_vec();
        b
    }

    fn row(&mut self, w: &[f64], offset: f64) -> usize {
        self.rows.push((w.to_vec(), offset));
        self.rows.len() - 1
    }

    fn contact(&mut self, normal: Normal, tangent: Option<usize>, mu: f64, load: f64) -> usize {
        self.info.push(ContactInfo {
            name: format!("c{}", self.info.len()),
            normal,
            tangent: tangent.into_iter().collect(),
            load_on: Vec::new(),
            load_at: 0,
            friction: tangent.is_some(),
        });
        self.eval.mu.push(mu);
        self.eval.mu_static.push(mu);
        self.eval.load.push(load);
        self.eval.load_static.push(load);
        self.eval.w =
            crate::linalg::Rows::from_rows(&self.rows.iter().map(|r| r.0.clone()).collect::<Vec<_>>());
        self.eval.accel_offset = self.rows.iter().map(|r| r.1).collect();
        self.eval.rate_offset = vec![0.0; self.rows.len()];
        self.eval.gap = vec![0.0; self.rows.len()];
        self.info.len() - 1
    }

    pub(crate) fn unilateral(&mut self, w_n: (&[f64], f64), w_t: Option<(&[f64], f64)>, mu: f64) -> usize {
        let row = self.row(w_n.0, w_n.1);
        let t = w_t.map(|(w, o)| self.row(w, o));
        self.contact(Normal::Unilateral { row }, t, mu, 0.0)
    }

    /// One with two tangents.
    pub(crate) fn in_space(&mut self, rows: [&[f64]; 3], mu: f64) -> usize {
        let [row, first, second] = rows.map(|w| self.row(w, 0.0));
        let i = self.contact(Normal::Unilateral { row }, Some(first), mu, 0.0);
        self.info[i].tangent.push(second);
        i
    }

    pub(crate) fn bilateral(&mut self, w_n: (&[f64], f64), w_t: Option<(&[f64], f64)>, mu: f64) -> usize {
        let row = self.row(w_n.0, w_n.1);
        let t = w_t.map(|(w, o)| self.row(w, o));
        self.contact(Normal::Bilateral { row }, t, mu, 0.0)
    }

    pub(crate) fn pin(&mut self, w: [(&[f64], f64); 2], w_t: Option<(&[f64], f64)>, mu: f64) -> usize {
        let rows = w.map(|(w, o)| self.row(w, o));
        let t = w_t.map(|(w, o)| self.row(w, o));
        self.contact(Normal::Pin { rows }, t, mu, 0.0)
    }

    /// A ball joint whose three spins rub.
    pub(crate) fn ball(&mut self, holds: [&[f64]; 3], rubs: [&[f64]; 3], mu: f64) -> usize {
        let rows = holds.map(|w| self.row(w, 0.0));
        let [first, second, third] = rubs.map(|w| self.row(w, 0.0));
        let i = self.contact(Normal::Ball { rows }, Some(first), mu, 0.0);
        self.info[i].tangent.extend([second, third]);
        i
    }

    pub(crate) fn given(&mut self, w_t: (&[f64], f64), mu: f64, load: f64) -> usize {
        let t = self.row(w_t.0, w_t.1);
        self.contact(Normal::Given { row: None }, Some(t), mu, load)
    }

    pub(crate) fn transition(&self, starts: &[Start]) -> SolutionSet {
        Transition::default().solve(&self.info, &self.eval, starts)
    }

    pub(crate) fn fixed(&self, modes: &[Mode], signs: &[f64]) -> (Forces, Regularity) {
        let mut out = Forces::default();
        let r = Fixed::default().solve(&self.info, &self.eval, modes, signs, &mut out);
        (out, r)
    }
}

pub(crate) fn diag(d: &[f64]) -> Mat {
    Mat::from_fn(d.len(), d.len(), |i, j| if i == j { d[i] } else { 0.0 })
}

#[track_caller]
pub(crate) fn close(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

/// A small generator with a fixed seed (splitmix64).
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn within(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize % n
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (0..6).map(|_| self.within(-1.0, 1.0)).sum::<f64>() / 2f64.sqrt()
    }
}

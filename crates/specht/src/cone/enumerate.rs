//! All solutions of a problem with few contacts (METH-CONE-EXIST)
//!
//! Every combination of modes (open, stick, slip) is solved. Planar and frictionless contacts: slip has two directions, each
//! combination is a linear system, the list is complete when none of them is singular. Spatial slip: the angles of
//! sliding are unknown; Newton on
//!
//! ```text
//! open: r = 0      stick: u = 0      slip: u_N = 0,  u_T × t = 0,  r = r_N (1, μ t(θ))
//! ```
//!
//! from a grid of angles. One spatial contact alone is solved by [`super::local`], where completeness is guaranteed; for two and
//! three the grid (16 or 12 angles per contact) makes a missed solution unlikely, not impossible.

use super::local::{OneContact, solve_all as one};
use super::problem::{Law, Operator, Problem, ProblemError};
use super::sparse::Matrix;
use crate::linalg::{Cholesky, Lu, Mat};
use crate::stop::{Clock, Stop};

/// One solution.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Found {
    /// Impulses.
    pub r: Vec<f64>,
    /// Velocities.
    pub u: Vec<f64>,
}

/// All solutions found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllSolutions {
    /// The solutions, in the order of the modes.
    pub solutions: Vec<Found>,
    /// Every combination of modes led to a regular system, so none can hide in a continuum.
    pub regular: bool,
    /// False when the time limit ended the search: there may be more.
    pub complete: bool,
}

/// Largest number of contacts that is enumerated.
pub(super) const MAX_CONTACTS: usize = 3;
/// Two solutions are the same when their impulses or velocities differ by less than this, relative to the largest.
const SAME: f64 = 1e-7;
/// Violation of a sign condition that still counts as rounding, relative to the terms of its row.
const ROUND: f64 = 1e-10;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Open,
    Stick,
    /// one tangential row, given direction
    Planar(f64),
    /// two tangential rows, angle unknown
    Spatial,
}

/// All solutions, if the problem has at most three contacts with Coulomb's law and no other laws; else `None`. The search ends after
/// `time_limit` seconds, if given, and says so.
pub fn solve_all(
    p: &Problem,
    time_limit: Option<f64>,
    stop: Stop,
) -> Result<Option<AllSolutions>, ProblemError> {
    p.check()?;
    let plain = p.contacts.iter().all(|c| matches!(c.law, Law::Coulomb { .. }));
    if p.contacts.len() > MAX_CONTACTS || !plain {
        return Ok(None);
    }
    let (scaled, scale) = balanced(p, delassus(p)?);
    let mut out = search(&scaled, Clock::new(time_limit, stop));
    for f in &mut out.solutions {
        f.r.iter_mut().zip(&scale).for_each(|(r, s)| *r *= s);
        f.u.iter_mut().zip(&scale).for_each(|(u, s)| *u /= s);
    }
    Ok(Some(out))
}

/// The same problem with a diagonal of ones: `r = S r̂`, `u = S⁻¹ û`, `μ̂ = μ s_N/s_T`. Units and masses that differ by many orders would
/// otherwise decide which violations count.
fn balanced(p: &Problem, mut w: Mat) -> (Problem, Vec<f64>) {
    let mut scale = vec![1.0; p.rows()];
    let mut contacts = p.contacts.clone();
    let mut f = 0;
    let inverse = |d: f64| if d > 0.0 { 1.0 / d.sqrt() } else { 1.0 };
    for c in &mut contacts {
        let normal = inverse(w[(f, f)]);
        let tangent =
            inverse((1..c.rows).map(|k| w[(f + k, f + k)]).sum::<f64>() / (c.rows as f64 - 1.0).max(1.0));
        scale[f..f + c.rows].fill(tangent);
        scale[f] = normal;
        if let Law::Coulomb { mu } = &mut c.law
            && c.rows > 1
        {
            *mu *= normal / tangent;
        }
        f += c.rows;
    }
    let m = scale.len();
    (0..m).for_each(|i| (0..m).for_each(|j| w[(i, j)] *= scale[i] * scale[j]));
    let q = p.q.iter().zip(&scale).map(|(q, s)| q * s).collect();
    (Problem::from_w(Matrix::Dense(w), q, contacts), scale)
}

fn search(p: &Problem, clock: Clock) -> AllSolutions {
    let w = match &p.operator {
        Operator::Delassus(Matrix::Dense(w)) => w.clone(),
        _ => Mat::default(),
    };
    let out = AllSolutions { regular: true, complete: true, ..Default::default() };
    let mut search = Search { p, lu: Lu::default(), w, clock, out };
    if p.contacts.len() == 1 {
        search.single();
        return search.out;
    }
    let choices: Vec<Vec<Mode>> = p
        .contacts
        .iter()
        .map(|c| {
            let mu = match c.law {
                Law::Coulomb { mu } => mu,
                _ => 0.0,
            };
            match (c.rows, mu > 0.0) {
                (1, _) | (_, false) => vec![Mode::Open, Mode::Planar(0.0)],
                (2, true) => vec![Mode::Open, Mode::Stick, Mode::Planar(1.0), Mode::Planar(-1.0)],
                _ => vec![Mode::Open, Mode::Stick, Mode::Spatial],
            }
        })
        .collect();
    let total: usize = choices.iter().map(Vec::len).product();
    for k in 0..total {
        let mut rest = k;
        let modes: Vec<Mode> = choices
            .iter()
            .map(|c| {
                let m = c[rest % c.len()];
                rest /= c.len();
                m
            })
            .collect();
        search.combination(&modes);
    }
    search.out
}

/// `W` with all entries.
fn delassus(p: &Problem) -> Result<Mat, ProblemError> {
    let m = p.rows();
    match &p.operator {
        Operator::Delassus(w) => Ok(Mat::from_fn(m, m, |i, j| w.get(i, j))),
        Operator::Bodies { mass, h } => {
            let n = h.cols();
            let mut c = Cholesky::default();
            c.factor(&Mat::from_fn(n, n, |i, j| mass.get(i, j)))
                .map_err(|index| ProblemError::Indefinite { index })?;
            let mut w = Mat::zeros(m, m);
            let mut z = vec![0.0; n];
            for i in 0..m {
                z.fill(0.0);
                h.for_row(i, |j, v| z[j] = v);
                c.solve(&mut z);
                for k in 0..m {
                    let mut s = 0.0;
                    h.for_row(k, |j, v| s += v * z[j]);
                    w[(k, i)] = s;
                }
            }
            Ok(w)
        }
    }
}

struct Search<'a> {
    p: &'a Problem,
    w: Mat,
    lu: Lu,
    clock: Clock,
    out: AllSolutions,
}

impl Search<'_> {
    fn mu(&self, c: usize) -> f64 {
        match self.p.contacts[c].law {
            Law::Coulomb { mu } => mu,
            _ => 0.0,
        }
    }

    fn single(&mut self) {
        let d = self.p.contacts[0].rows;
        let (mut w, mut q) = ([[0.0; 3]; 3], [0.0; 3]);
        for i in 0..d {
            q[i] = self.p.q[i];
            for j in 0..d {
                w[i][j] = self.w[(i, j)];
            }
        }
        let mut found: Vec<OneContact> = Vec::new();
        one(&w, &q, self.mu(0), d, &mut found);
        for f in found {
            self.keep(f.r[..d].to_vec());
        }
    }

    /// Solve one combination of modes from a grid of angles.
    fn combination(&mut self, modes: &[Mode]) {
        let spatial: Vec<usize> = (0..modes.len()).filter(|&c| modes[c] == Mode::Spatial).collect();
        let grid: usize = match spatial.len() {
            0 => 1,
            1 => 32,
            2 => 16,
            _ => 12,
        };
        let starts = grid.pow(spatial.len() as u32);
        for k in 0..starts {
            if self.clock.over() {
                self.out.complete = false;
                return;
            }
            let mut rest = k;
            let mut theta = vec![0.0; modes.len()];
            for &c in &spatial {
                theta[c] = std::f64::consts::TAU * ((rest % grid) as f64 + 0.37) / grid as f64;
                rest /= grid;
            }
            if let Some(r) = self.newton(modes, &mut theta, spatial.is_empty()) {
                self.keep_if(modes, &theta, r);
            }
        }
    }

    /// Unknowns per contact: stick: r; slip: r_N (and θ). Linear for given angles; angles by Newton.
    fn newton(&mut self, modes: &[Mode], theta: &mut [f64], linear: bool) -> Option<Vec<f64>> {
        let first: Vec<usize> = self
            .p
            .contacts
            .iter()
            .scan(0, |s, c| {
                let f = *s;
                *s += c.rows;
                Some(f)
            })
            .collect();
        // normal forces for the angles at the start: u_N = 0 (slip), u = 0 (stick)
        let mut r = self.for_angles(modes, theta, &first)?;
        if linear {
            return Some(r);
        }
        for _ in 0..40 {
            let (cols, rows) = self.equations(modes, theta, &first, &r);
            let n = cols.len();
            let a = Mat::from_fn(n, n, |i, j| rows[i].0[j]);
            let mut g: Vec<f64> = rows.iter().map(|x| -x.1).collect();
            if !(self.lu.factor(&a) > 1e-13) {
                return None;
            }
            self.lu.solve(&mut g);
            let mut turn = 0.0_f64;
            for (k, &(c, w)) in cols.iter().enumerate() {
                if modes[c] == Mode::Spatial && w == 1 {
                    turn = turn.max(g[k].abs());
                }
            }
            let f = if turn > 0.5 { 0.5 / turn } else { 1.0 };
            for (k, &(c, w)) in cols.iter().enumerate() {
                if modes[c] == Mode::Spatial && w == 1 {
                    theta[c] += f * g[k];
                }
            }
            // forces follow exactly from the angles
            r = self.for_angles(modes, theta, &first)?;
            if turn < 1e-14 {
                return Some(r);
            }
        }
        None
    }

    /// Unknowns (contact, which), and equations with their gradients, in r of sticking, r_N and θ of slipping contacts.
    fn equations(
        &self,
        modes: &[Mode],
        theta: &[f64],
        first: &[usize],
        r: &[f64],
    ) -> (Vec<(usize, usize)>, Vec<(Vec<f64>, f64)>) {
        let m = self.p.rows();
        let u: Vec<f64> = (0..m).map(|i| self.p.q[i] + crate::linalg::dot(self.w.row(i), r)).collect();
        let mut rows: Vec<(Vec<f64>, f64)> = Vec::new();
        let mut cols: Vec<(usize, usize)> = Vec::new();
        for (c, mode) in modes.iter().enumerate() {
            let d = self.p.contacts[c].rows;
            match mode {
                Mode::Open => {}
                Mode::Stick => (0..d).for_each(|k| cols.push((c, k))),
                Mode::Planar(_) => cols.push((c, 0)),
                Mode::Spatial => (0..2).for_each(|k| cols.push((c, k))),
            }
        }
        // dr of each unknown
        let column = |&(c, k): &(usize, usize)| -> [f64; 3] {
            let mu = self.mu(c);
            match modes[c] {
                Mode::Stick => {
                    let mut e = [0.0; 3];
                    e[k] = 1.0;
                    e
                }
                Mode::Planar(s) => [1.0, mu * s, 0.0],
                _ if k == 0 => [1.0, mu * theta[c].cos(), mu * theta[c].sin()],
                _ => {
                    let rn = r[first[c]];
                    [0.0, -mu * rn * theta[c].sin(), mu * rn * theta[c].cos()]
                }
            }
        };
        let du: Vec<Vec<f64>> = cols
            .iter()
            .map(|id| {
                let e = column(id);
                let d = self.p.contacts[id.0].rows;
                (0..m).map(|i| (0..d).map(|l| self.w[(i, first[id.0] + l)] * e[l]).sum()).collect()
            })
            .collect();
        for (c, mode) in modes.iter().enumerate() {
            let (f, d) = (first[c], self.p.contacts[c].rows);
            let pick = |i: usize| du.iter().map(|x| x[i]).collect::<Vec<f64>>();
            match mode {
                Mode::Open => {}
                Mode::Stick => (0..d).for_each(|k| rows.push((pick(f + k), u[f + k]))),
                Mode::Planar(_) => rows.push((pick(f), u[f])),
                Mode::Spatial => {
                    rows.push((pick(f), u[f]));
                    let (s, co) = theta[c].sin_cos();
                    let (a, b) = (pick(f + 1), pick(f + 2));
                    let mut g: Vec<f64> = a.iter().zip(&b).map(|(x, y)| x * s - y * co).collect();
                    if let Some(k) = cols.iter().position(|id| *id == (c, 1)) {
                        g[k] += u[f + 1] * co + u[f + 2] * s;
                    }
                    rows.push((g, u[f + 1] * s - u[f + 2] * co));
                }
            }
        }
        (cols, rows)
    }

    /// Forces when the directions of sliding are given: a linear system.
    fn for_angles(&mut self, modes: &[Mode], theta: &[f64], first: &[usize]) -> Option<Vec<f64>> {
        let m = self.p.rows();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut eqs: Vec<usize> = Vec::new();
        for (c, mode) in modes.iter().enumerate() {
            let (f, mu) = (first[c], self.mu(c));
            let mut e = vec![0.0; m];
            match mode {
                Mode::Open => continue,
                Mode::Stick => {
                    for k in 0..self.p.contacts[c].rows {
                        let mut e = vec![0.0; m];
                        e[f + k] = 1.0;
                        basis.push(e);
                        eqs.push(f + k);
                    }
                    continue;
                }
                Mode::Planar(s) => {
                    e[f] = 1.0;
                    if *s != 0.0 {
                        e[f + 1] = mu * s;
                    }
                }
                Mode::Spatial => {
                    e[f] = 1.0;
                    e[f + 1] = mu * theta[c].cos();
                    e[f + 2] = mu * theta[c].sin();
                }
            }
            basis.push(e);
            eqs.push(f);
        }
        let n = basis.len();
        let a = Mat::from_fn(n, n, |i, j| crate::linalg::dot(self.w.row(eqs[i]), &basis[j]));
        let mut g: Vec<f64> = eqs.iter().map(|&i| -self.p.q[i]).collect();
        if n > 0 {
            if !(self.lu.factor(&a) > 1e-13) {
                self.out.regular = false;
                return None;
            }
            self.lu.solve(&mut g);
        }
        let mut r = vec![0.0; m];
        for (x, e) in g.iter().zip(&basis) {
            crate::linalg::axpy(*x, e, &mut r);
        }
        r.iter().all(|x| x.is_finite()).then_some(r)
    }

    /// Sign conditions, then keep.
    fn keep_if(&mut self, modes: &[Mode], theta: &[f64], r: Vec<f64>) {
        let m = r.len();
        let u: Vec<f64> = (0..m).map(|i| self.p.q[i] + crate::linalg::dot(self.w.row(i), &r)).collect();
        // each condition against the terms of its own row
        let size = |i: usize| {
            let terms = self.w.row(i).iter().zip(&r).map(|(w, r)| (w * r).abs());
            ROUND * terms.fold(self.p.q[i].abs(), |a, b| a + b)
        };
        let mut f = 0;
        for (c, mode) in modes.iter().enumerate() {
            let d = self.p.contacts[c].rows;
            let mu = self.mu(c);
            let t = if d == 3 {
                (r[f + 1].powi(2) + r[f + 2].powi(2)).sqrt()
            } else {
                r.get(f + 1).map_or(0.0, |x| x.abs())
            };
            let us = size(f + (d - 1).min(1)).max(if d == 3 { size(f + 2) } else { 0.0 });
            let rs = ROUND * (t + mu * r[f].abs() + r[f].abs());
            let ok = match mode {
                Mode::Open => u[f] >= -size(f),
                Mode::Stick => r[f] >= -rs && t <= mu * r[f] + rs,
                Mode::Planar(s) => r[f] >= 0.0 && (*s == 0.0 || u[f + 1] * s <= us),
                Mode::Spatial => r[f] >= 0.0 && u[f + 1] * theta[c].cos() + u[f + 2] * theta[c].sin() <= us,
            };
            if !ok {
                return;
            }
            f += d;
        }
        self.keep(r);
    }

    fn keep(&mut self, r: Vec<f64>) {
        let u: Vec<f64> = (0..r.len()).map(|i| self.p.q[i] + crate::linalg::dot(self.w.row(i), &r)).collect();
        let size = crate::linalg::max_abs(&r).max(f64::MIN_POSITIVE);
        let speed = crate::linalg::max_abs(&self.p.q).max(f64::MIN_POSITIVE);
        let same = |f: &Found| {
            f.r.iter().zip(&r).all(|(a, b)| (a - b).abs() <= SAME * size)
                && f.u.iter().zip(&u).all(|(a, b)| (a - b).abs() <= SAME * speed)
        };
        if !self.out.solutions.iter().any(same) {
            self.out.solutions.push(Found { r, u });
        }
    }
}

//! Contacts with friction in the tangent plane: accelerations at zero slip, and impulses of impacts (METH-3D-ACC)
//!
//! $$ a = G \lambda + b, \qquad a_N \ge 0 \perp \lambda_N \ge p, \qquad \|\lambda_T\| \le \mu \lambda_N, \qquad \lambda_T = -\mu \lambda_N f(d),\ d \parallel a_T \ne 0 $$
//!
//! for every contact, with the section f of its friction ([`Section`]). One contact with two tangents is solved exactly, by all directions d with
//! a_T ∥ d, which are zeros over the circle of
//!
//! ```text
//! r(θ) = d⊥ · [b_T (G_NN − μ G_NT f) − b_N (G_TN − μ G_TT f)],     λ_N = −b_N/(G_NN − μ G_NT f) > 0,     d·a_T > 0
//! ```
//!
//! (round: a trigonometric polynomial of degree two, at most four). With three tangents (a patch that also drills, a ball joint) the direction
//! flows along a_T to the exit. Several contacts: sweeps over the contacts with this solver, nearest solution first, until nothing changes; where
//! they do not settle, all contacts at once ([`super::together`]). A contact that slides already has its direction; one with a given load has a disc instead of a cone.
//!
//! In the expansion of Poisson's law the disc is cut by a half plane ([`Inner`]): on its edge slip is along σ, in its two corners between σ and
//! −λ_T (PG-8-POISSON in the tangent plane).

use crate::linalg::Mat;
use crate::system::Section;

use super::together::{refine, together};

/// What is known of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sliding {
    /// At zero slip: the bound of sticking, then the coefficient of the slip that begins.
    Rests {
        /// μ₀.
        rest: f64,
        /// μ.
        mu: f64,
    },
    /// Sliding in this direction.
    Slides {
        /// μ.
        mu: f64,
        /// Direction of slip, a unit vector.
        d: [f64; 3],
    },
}

/// σ·λ_T ≥ `kept` − `part` λ_N: what comes back of a tangential impulse along the unit vector σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inner {
    pub sigma: [f64; 2],
    pub kept: f64,
    pub part: f64,
}

/// One contact of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone {
    /// First of its rows: the normal (unless given), then the tangents.
    pub at: usize,
    /// Number of tangents, 0 to 3.
    pub tangents: usize,
    /// Given normal force; then there is no normal row.
    pub given: Option<f64>,
    /// p: the normal force is at least this.
    pub least: f64,
    pub friction: Sliding,
    pub section: Section,
    /// What comes back in an expansion, of contacts with at most two tangents.
    pub inner: Option<Inner>,
}

/// What a contact does in a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Does {
    #[default]
    Opens,
    Sticks,
    /// Slips in this direction.
    Slips([f64; 3]),
}

/// One solution of one contact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// λ_N, λ_T.
    pub force: [f64; 4],
    pub does: Does,
}

/// The numbers of one contact with everything else frozen, the normal first; unused tangents are zero.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    g: [[f64; 4]; 4],
    b: [f64; 4],
}

/// Directions at which r(θ) is sampled before its zeros are refined.
const SAMPLES: usize = 180;
/// Sweeps after which all contacts are looked at together, and those after which there is no solution that this method finds.
const FEW_SWEEPS: usize = 400;
const SWEEPS: usize = 5000;
/// Change of the forces in a sweep that ends it, relative to the largest.
const SETTLED: f64 = 1e-14;
/// Steps of a direction that flows to the exit, and the change that ends it.
const FLOWS: usize = 20_000;
const FLOWED: f64 = 1e-15;
/// Rounds in which a section and the normal force that it follows agree.
const FOLLOWS: usize = 200;

/// The solutions of one contact that other contacts may follow.
pub(crate) fn one(cone: &Cone, g: [[f64; 4]; 4], b: [f64; 4]) -> Vec<Found> {
    solutions(cone, g, b, false)
}

/// All solutions of one contact: also those whose normal force, raised a little, presses the contact in (G_NN − μ G_NT f < 0). Stiff contacts leave
/// them, and beside every one the contact opens too.
pub(crate) fn every(cone: &Cone, g: [[f64; 4]; 4], b: [f64; 4]) -> Vec<Found> {
    solutions(cone, g, b, true)
}

fn solutions(cone: &Cone, g: [[f64; 4]; 4], b: [f64; 4], saddles: bool) -> Vec<Found> {
    let block = Block { g, b };
    // what the least force does counts too: beside it b may be rounding
    let size = (0..4).fold(0.0_f64, |m, i| m.max(b[i].abs()).max((g[i][0] * cone.least).abs()));
    let tiny = 1e-13 * size;
    let mut out = Vec::new();
    match cone.given {
        Some(load) => block.disc(cone, load, tiny, &mut out),
        None => {
            // at its least force, with a gap that opens
            block.disc(cone, cone.least, tiny, &mut out);
            out.retain(|f| block.accel(&f.force)[0] >= -tiny);
            if cone.least == 0.0 && !out.is_empty() {
                out.truncate(1);
                out[0].does = Does::Opens;
            }
            block.closed(cone, tiny, saddles, &mut out);
        }
    }
    out
}

/// λ_T of slip along d.
fn rub(cone: &Cone, mu: f64, n: f64, d: [f64; 3]) -> [f64; 4] {
    let [x, y, z] = cone.section.under(n).push(d).map(|f| -mu * n * f);
    [n, x, y, z]
}

/// Along a direction, and across it in the plane.
fn along(a: &[f64; 4], d: [f64; 3]) -> f64 {
    a[1] * d[0] + a[2] * d[1] + a[3] * d[2]
}

fn across(a: &[f64; 4], d: [f64; 3]) -> f64 {
    d[0] * a[2] - d[1] * a[1]
}

impl Cone {
    /// Whether a force lies within the bound.
    fn holds(&self, rest: f64, f: &[f64; 4]) -> bool {
        self.section.under(f[0]).size([f[1], f[2], f[3]]) <= rest * f[0] * (1.0 + 1e-12)
            && self.beyond(f) >= -1e-12 * f[0].abs()
    }

    /// How far a force lies inside the edge of what comes back.
    fn beyond(&self, f: &[f64; 4]) -> f64 {
        self.inner.map_or(f64::INFINITY, |i| i.sigma[0] * f[1] + i.sigma[1] * f[2] - i.kept + i.part * f[0])
    }
}

impl Block {
    fn accel(&self, force: &[f64; 4]) -> [f64; 4] {
        std::array::from_fn(|i| self.b[i] + (0..4).map(|j| self.g[i][j] * force[j]).sum::<f64>())
    }

    /// Solutions with the normal force n.
    fn disc(&self, cone: &Cone, n: f64, tiny: f64, out: &mut Vec<Found>) {
        let t = cone.tangents;
        match cone.friction {
            Sliding::Slides { mu, d } => {
                out.push(Found { force: rub(cone, mu, n, d), does: Does::Slips(d) });
            }
            Sliding::Rests { rest, mu } => {
                if t == 0 || n <= 0.0 {
                    out.push(Found { force: [n, 0.0, 0.0, 0.0], does: Does::Sticks });
                    return;
                }
                if rest == 0.0 && mu == 0.0 {
                    return out.push(self.smooth(n, tiny));
                }
                let push = self.accel(&[n, 0.0, 0.0, 0.0]);
                let mut stick = [n, 0.0, 0.0, 0.0];
                if solve(&self.g, 1..1 + t, &push, &mut stick) && cone.holds(rest, &stick) {
                    out.push(Found { force: stick, does: Does::Sticks });
                }
                if t == 3 {
                    if out.is_empty()
                        && let Some(d) = self.exit(cone, mu, n)
                    {
                        out.push(Found { force: rub(cone, mu, n, d), does: Does::Slips(d) });
                    }
                    return;
                }
                for d in directions(t, |d| across(&self.accel(&rub(cone, mu, n, d)), d)) {
                    self.slip(cone, rub(cone, mu, n, d), d, tiny, out);
                }
                self.edge(cone, mu, Some(n), tiny, out);
            }
        }
    }

    /// A contact that cannot rub: it goes where it is pushed, or stays.
    fn smooth(&self, n: f64, tiny: f64) -> Found {
        let force = [n, 0.0, 0.0, 0.0];
        let a = self.accel(&force);
        let does = match unit(a) {
            Some(d) if along(&a, d) > 10.0 * tiny => Does::Slips(d),
            _ => Does::Sticks,
        };
        Found { force, does }
    }

    /// Keep a slip that goes where its force says.
    fn slip(&self, cone: &Cone, force: [f64; 4], d: [f64; 3], tiny: f64, out: &mut Vec<Found>) {
        if along(&self.accel(&force), d) > tiny && cone.beyond(&force) >= 0.0 {
            out.push(Found { force, does: Does::Slips(d) });
        }
    }

    /// The force that holds the contact at rest. Where friction can carry what the normal force carries (a cone in its seat), there are many; if
    /// the one of the largest pivots does not obey the law, that with as little friction as possible is taken.
    fn stick(&self, cone: &Cone, rest: f64) -> Option<[f64; 4]> {
        let obeys = |f: &[f64; 4]| f[0] > cone.least && cone.holds(rest, f);
        // the normal row made large is eliminated first
        [1.0, 100.0].into_iter().find_map(|weight| {
            let (mut g, mut b, mut force) = (self.g, self.b, [0.0; 4]);
            for k in 0..4 {
                g[0][k] *= weight;
                g[k][0] *= weight;
            }
            b[0] *= weight;
            let found = solve(&g, 0..1 + cone.tangents, &b, &mut force);
            force[0] *= weight;
            (found && obeys(&force)).then_some(force)
        })
    }

    /// Solutions with a_N = 0 and a normal force above the least.
    fn closed(&self, cone: &Cone, tiny: f64, saddles: bool, out: &mut Vec<Found>) {
        let (g, b) = (&self.g, &self.b);
        // a_N = b_N + n (G_NN − μ G_NT f)
        let slope = |mu: f64, d: [f64; 3]| {
            let f = rub(cone, mu, 1.0, d);
            (0..4).map(|j| g[0][j] * f[j]).sum::<f64>()
        };
        let normal = |mu: f64, d: [f64; 3]| {
            let den = slope(mu, d);
            (den > 0.0 || (saddles && den < 0.0)).then(|| -b[0] / den).filter(|n| *n > cone.least)
        };
        match cone.friction {
            Sliding::Slides { mu, d } if cone.section.follows_normal() => {
                if let Some(n) = self.pressed(cone, mu, d) {
                    out.push(Found { force: rub(cone, mu, n, d), does: Does::Slips(d) });
                }
            }
            Sliding::Slides { mu, d } => {
                if let Some(n) = normal(mu, d) {
                    out.push(Found { force: rub(cone, mu, n, d), does: Does::Slips(d) });
                }
            }
            Sliding::Rests { rest, mu } if rest == 0.0 && mu == 0.0 && cone.tangents > 0 => {
                let n = -b[0] / g[0][0];
                if n > cone.least {
                    out.push(self.smooth(n, tiny));
                }
            }
            Sliding::Rests { rest, mu } => {
                out.extend(self.stick(cone, rest).map(|force| Found { force, does: Does::Sticks }));
                if cone.tangents == 3 {
                    if out.is_empty() {
                        self.pressed_exit(cone, mu, out);
                    }
                    return;
                }
                for d in directions(cone.tangents, |d| {
                    let (den, f) = (slope(mu, d), rub(cone, mu, 1.0, d));
                    let a = std::array::from_fn(|i| {
                        b[i] * den - b[0] * (0..4).map(|j| g[i][j] * f[j]).sum::<f64>()
                    });
                    across(&a, d)
                }) {
                    let Some(n) = normal(mu, d) else { continue };
                    self.slip(cone, rub(cone, mu, n, d), d, tiny, out);
                }
                self.edge(cone, mu, None, tiny, out);
            }
        }
    }

    /// The normal force of a contact that slides along d and whose section follows that force.
    fn pressed(&self, cone: &Cone, mu: f64, d: [f64; 3]) -> Option<f64> {
        let mut n = -self.b[0] / self.g[0][0];
        for _ in 0..FOLLOWS {
            let [x, y, z] = cone.section.under(n).push(d).map(|f| -mu * f);
            let next = -self.b[0] / (0..4).map(|j| self.g[0][j] * [1.0, x, y, z][j]).sum::<f64>();
            if !(next > cone.least && next.is_finite()) {
                return None;
            }
            if (next - n).abs() <= 1e-15 * n.abs() {
                return Some(next);
            }
            n = next;
        }
        None
    }

    /// Solutions on the edge of what comes back and in its corners, with the normal force n, or with a_N = 0.
    fn edge(&self, cone: &Cone, mu: f64, n: Option<f64>, tiny: f64, out: &mut Vec<Found>) {
        let Some(Inner { sigma, kept, part }) = cone.inner else { return };
        let s = [sigma[0], sigma[1], 0.0];
        let side = [-sigma[1], sigma[0]];
        let at = |n: f64, t: f64| {
            let e = kept - part * n;
            [n, e * sigma[0] + t * side[0], e * sigma[1] + t * side[1], 0.0]
        };
        // a is affine in (n, t)
        let zero = self.accel(&at(0.0, 0.0));
        let by: [[f64; 4]; 2] = [at(1.0, 0.0), at(0.0, 1.0)].map(|f| {
            let a = self.accel(&f);
            std::array::from_fn(|i| a[i] - zero[i])
        });
        let enough = |n: f64| n > cone.least * (1.0 - 1e-14);
        // on the edge: no slip across σ
        let (c, cn, ct) = (across(&zero, s), across(&by[0], s), across(&by[1], s));
        let found = match (cone.tangents, n) {
            (1, Some(n)) => Some((n, 0.0)),
            (1, None) => (by[0][0] > 0.0).then(|| (-zero[0] / by[0][0], 0.0)),
            (_, Some(n)) => (ct != 0.0).then(|| (n, -(c + cn * n) / ct)),
            (_, None) => {
                let det = by[0][0] * ct - by[1][0] * cn;
                let n = -(zero[0] * ct - by[1][0] * c) / det;
                let t = -(by[0][0] * c - cn * zero[0]) / det;
                (det != 0.0).then_some((n, t))
            }
        };
        if let Some((n, t)) = found.filter(|f| enough(f.0)) {
            let force = at(n, t);
            if force[1].hypot(force[2]) <= mu * n * (1.0 + 1e-12) && along(&self.accel(&force), s) >= -tiny {
                out.push(Found { force, does: Does::Slips(s) });
            }
        }
        if cone.tangents < 2 {
            return;
        }
        // corners: |t| = √(μ²n² − e²)
        let width = |n: f64| ((mu * n).powi(2) - (kept - part * n).powi(2)).max(0.0).sqrt();
        for sign in [1.0, -1.0] {
            let candidates = match n {
                Some(n) => vec![n],
                // (z + z_n n)² = z_t² (μ²n² − e²)
                None => {
                    let (z, zn, zt) = (zero[0], by[0][0], by[1][0]);
                    roots(
                        zn * zn - zt * zt * (mu * mu - part * part),
                        2.0 * z * zn - 2.0 * zt * zt * kept * part,
                        z * z + zt * zt * kept * kept,
                    )
                }
            };
            for n in candidates.into_iter().filter(|n| enough(*n)) {
                let force = at(n, sign * width(n));
                let a = self.accel(&force);
                if (mu * n).abs() < (kept - part * n).abs()
                    || (n_is_free(n, cone) && a[0].abs() > 1e-9 * self.size())
                {
                    continue;
                }
                // −γ = κ₁ λ/|λ| − κ₂ σ
                let size = force[1].hypot(force[2]);
                let (e, w) = ((kept - part * n) / size, sign * width(n) / size);
                let (along, cross) = (along(&a, s), across(&a, s));
                if w == 0.0 {
                    continue;
                }
                let first = -cross / w;
                let second = along + first * e;
                if first > 0.0 && second > 0.0 {
                    let size = along.hypot(cross);
                    out.push(Found { force, does: Does::Slips([a[1] / size, a[2] / size, 0.0]) });
                }
            }
        }
    }

    fn size(&self) -> f64 {
        self.b.iter().fold(0.0_f64, |m, v| m.max(v.abs()))
    }

    /// The direction with a_T ∥ d to which others flow, with the normal force n: steepest ascent of slip that begins.
    fn exit(&self, cone: &Cone, mu: f64, n: f64) -> Option<[f64; 3]> {
        let mut d = unit(self.accel(&[n, 0.0, 0.0, 0.0]))?;
        // a step that a curvature of the section of a few cannot upset
        let stiff = mu * n * (1..4).map(|i| self.g[i][i]).sum::<f64>();
        let mut last = f64::INFINITY;
        let mut share = 1.0;
        for _ in 0..FLOWS {
            let a = self.accel(&rub(cone, mu, n, d));
            let ahead = along(&a, d);
            let turn: [f64; 3] = std::array::from_fn(|i| a[i + 1] - ahead * d[i]);
            let off = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
            let scale = stiff + ahead.abs();
            if off <= FLOWED * scale {
                break;
            }
            if off > last {
                share *= 0.7;
            }
            last = off;
            d = unit([
                0.0,
                d[0] + share * turn[0] / scale,
                d[1] + share * turn[1] / scale,
                d[2] + share * turn[2] / scale,
            ])?;
            if share < 1e-6 {
                break;
            }
        }
        (along(&self.accel(&rub(cone, mu, n, d)), d) > 0.0).then_some(d)
    }

    /// The same with a_N = 0: force and direction by turns.
    fn pressed_exit(&self, cone: &Cone, mu: f64, out: &mut Vec<Found>) {
        let mut n = -self.b[0] / self.g[0][0];
        for _ in 0..200 {
            if !(n > cone.least) {
                return;
            }
            let Some(d) = self.exit(cone, mu, n) else { return };
            let force = rub(cone, mu, n, d);
            let next = n - self.accel(&force)[0] / self.g[0][0];
            if (next - n).abs() <= 1e-15 * n.abs() {
                out.push(Found { force, does: Does::Slips(d) });
                return;
            }
            n = next;
        }
    }
}

fn n_is_free(n: f64, cone: &Cone) -> bool {
    n > cone.least * (1.0 + 1e-12)
}

/// The tangential part as a unit vector.
fn unit(a: [f64; 4]) -> Option<[f64; 3]> {
    let size = a[1].hypot(a[2]).hypot(a[3]);
    (size > 0.0).then(|| [a[1] / size, a[2] / size, a[3] / size])
}

/// Real zeros of a x² + b x + c.
fn roots(a: f64, b: f64, c: f64) -> Vec<f64> {
    let disc = b * b - 4.0 * a * c;
    if disc < 0.0 {
        return Vec::new();
    }
    let q = -0.5 * (b + if b >= 0.0 { disc.sqrt() } else { -disc.sqrt() });
    [q / a, c / q].into_iter().filter(|x| x.is_finite()).collect()
}

/// Zeros of r over the circle; of one tangent both sides.
fn directions(tangents: usize, r: impl Fn([f64; 3]) -> f64) -> Vec<[f64; 3]> {
    match tangents {
        0 => Vec::new(),
        1 => vec![[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]],
        _ => {
            let at = |theta: f64| [theta.cos(), theta.sin(), 0.0];
            let step = std::f64::consts::TAU / SAMPLES as f64;
            let value = |k: usize| r(at((k as f64 - 0.5) * step));
            let mut out = Vec::new();
            let (mut before, mut low) = (value(SAMPLES - 1), value(0));
            for k in 0..SAMPLES {
                let (from, to) = ((k as f64 - 0.5) * step, (k as f64 + 0.5) * step);
                let high = value(k + 1);
                if low == 0.0 || low * high < 0.0 {
                    out.push(at(zero(&|x| r(at(x)), from, to)));
                } else if before * low > 0.0 && low.abs() < before.abs() && low.abs() <= high.abs() {
                    // the bottom of a bend may reach across zero between the samples
                    let bottom = lowest(&|x| low.signum() * r(at(x)), from - step, to);
                    if low * r(at(bottom)) < 0.0 {
                        out.push(at(zero(&|x| r(at(x)), from - step, bottom)));
                        out.push(at(zero(&|x| r(at(x)), bottom, to)));
                    }
                }
                (before, low) = (low, high);
            }
            out
        }
    }
}

/// The zero of r where it changes sign.
fn zero(r: &dyn Fn(f64) -> f64, mut from: f64, mut to: f64) -> f64 {
    let mut side = r(from);
    for _ in 0..60 {
        let middle = 0.5 * (from + to);
        let value = r(middle);
        if side * value <= 0.0 {
            to = middle;
        } else {
            (from, side) = (middle, value);
        }
    }
    0.5 * (from + to)
}

/// Where f is smallest, or below zero.
fn lowest(f: &dyn Fn(f64) -> f64, mut from: f64, mut to: f64) -> f64 {
    for _ in 0..40 {
        let (a, b) = (from + (to - from) / 3.0, to - (to - from) / 3.0);
        let (fa, fb) = (f(a), f(b));
        if fa < 0.0 {
            return a;
        }
        if fa < fb { to = b } else { from = a }
    }
    0.5 * (from + to)
}

/// G x = −a over the rows `of`, with x outside of them zero; false when there is no answer. Directions in which nothing moves carry nothing.
fn solve(g: &[[f64; 4]; 4], of: std::ops::Range<usize>, a: &[f64; 4], x: &mut [f64; 4]) -> bool {
    let (mut m, mut rhs) = (*g, a.map(|v| -v));
    let largest = of.clone().fold(0.0_f64, |l, i| l.max(g[i][i].abs()));
    let size = of.clone().fold(0.0_f64, |l, i| l.max(a[i].abs()));
    let mut order: [usize; 4] = [0, 1, 2, 3];
    let mut rank = of.start;
    let mut columns = order;
    while rank < of.end {
        // the largest pivot that is left
        let all = (rank..of.end).flat_map(|i| (rank..of.end).map(move |j| (i, j)));
        let value = |(i, j): (usize, usize)| m[order[i]][columns[j]].abs();
        let Some((i, j)) = all.max_by(|a, b| value(*a).total_cmp(&value(*b))) else { break };
        if !(value((i, j)) > 1e-13 * largest) {
            break;
        }
        order.swap(rank, i);
        columns.swap(rank, j);
        let (row, column) = (order[rank], columns[rank]);
        for &other in &order[rank + 1..of.end] {
            let f = m[other][column] / m[row][column];
            for k in of.clone() {
                m[other][k] -= f * m[row][k];
            }
            rhs[other] -= f * rhs[row];
        }
        rank += 1;
    }
    if order[rank..of.end].iter().any(|&i| rhs[i].abs() > 1e-11 * size) {
        return false;
    }
    of.clone().for_each(|i| x[i] = 0.0);
    for k in (of.start..rank).rev() {
        let (row, column) = (order[k], columns[k]);
        let known: f64 = (k + 1..rank).map(|j| m[row][columns[j]] * x[columns[j]]).sum();
        x[column] = (rhs[row] - known) / m[row][column];
    }
    true
}

/// Solve for all contacts, from the forces in `lambda` on; what they do, or `None` where nothing was found: sweeps, and where they do not settle all
/// contacts at once.
pub(crate) fn all(cones: &[Cone], g: &Mat, b: &[f64], lambda: &mut [f64]) -> Option<Vec<Does>> {
    let mut swept = lambda.to_vec();
    if let Some(does) = sweeps(cones, g, b, &mut swept, FEW_SWEEPS) {
        lambda.copy_from_slice(&swept);
        return Some(does);
    }
    if cones.len() == 1 {
        return None;
    }
    together(cones, g, b, lambda).or_else(|| sweeps(cones, g, b, lambda, SWEEPS))
}

/// Sweeps with the exact solver of one contact; `None` where they do not settle.
fn sweeps(cones: &[Cone], g: &Mat, b: &[f64], lambda: &mut [f64], most: usize) -> Option<Vec<Does>> {
    let mut does = vec![Does::Opens; cones.len()];
    for sweep in 0..most {
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        // sweeps that go round in a circle settle in shorter steps
        let kept = if sweep < most / 2 { 0.0 } else { 0.6 };
        for (k, cone) in cones.iter().enumerate() {
            let first = usize::from(cone.given.is_some());
            let rows = 1 - first + cone.tangents;
            let row = |i: usize| (i >= first && i - first < rows).then(|| cone.at + i - first);
            let mut block = Block::default();
            for i in 0..4 {
                let Some(r) = row(i) else { continue };
                let mut rest = b[r];
                for (c, l) in lambda.iter().enumerate() {
                    if !(cone.at..cone.at + rows).contains(&c) {
                        rest += g[(r, c)] * l;
                    }
                }
                block.b[i] = rest;
                for j in 0..4 {
                    block.g[i][j] = row(j).map_or(0.0, |c| g[(r, c)]);
                }
            }
            let old: [f64; 4] = std::array::from_fn(|i| row(i).map_or(0.0, |r| lambda[r]));
            let far = |f: &Found| (0..4).map(|i| (f.force[i] - old[i]).powi(2)).sum::<f64>();
            let mut list = one(cone, block.g, block.b);
            list.iter_mut().for_each(|f| {
                if first == 1 {
                    f.force[0] = 0.0;
                }
            });
            let found = list.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
            does[k] = found.does;
            for i in 0..4 {
                if let Some(r) = row(i) {
                    change = change.max((found.force[i] - lambda[r]).abs());
                    lambda[r] = found.force[i] + kept * (lambda[r] - found.force[i]);
                    largest = largest.max(found.force[i].abs());
                }
            }
        }
        if !largest.is_finite() {
            return None;
        }
        if change <= SETTLED * largest || cones.len() == 1 {
            return Some(does);
        }
        if sweep > 200 && change <= 1e-11 * largest {
            refine(cones, g, b, lambda, &mut does);
            return Some(does);
        }
    }
    None
}

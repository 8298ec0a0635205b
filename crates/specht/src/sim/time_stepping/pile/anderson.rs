//! Extrapolation of sweeps (Anderson 1965, Walker & Ni 2011)
//!
//! A sweep is a map `g(x)` of the impulses; `f = g(x) − x` vanishes at a solution. Of the last points the combination whose `f` would be
//! smallest, were the map linear, is the next one:
//!
//! ```text
//! min_γ | f_k − Σ γ_j Δf_j |,      x_{k+1} = g_k − Σ γ_j Δg_j          (five differences; weight 1/√ρ, the metric of W's diagonal)
//! ```
//!
//! For the fixed modes of a pile that is a Krylov method with the sweep as preconditioner: 69 instead of 451 sweeps for 1 000 balls. Where modes change the map is not linear. A jump of `|f|` forgets the
//! past; no halving of `|f|` within [`PATIENCE`] sweeps is followed by plain ones. Wedged contacts then creep in one
//! direction at an even rate until one of them opens or slides: as long as `f` keeps its direction it is stretched, twice as much
//! in each sweep.

use crate::shape::{V3, along, dot, sub};

/// Differences.
const DEPTH: usize = 5;
/// Sweeps without a halving of |f| before plain ones follow.
const PATIENCE: usize = 24;
/// Plain sweeps at first; twice as many each time.
const PLAIN: usize = 10;
/// Cosine of two `f` that have the same direction.
const SAME_WAY: f64 = 0.97;

/// The past of a sequence of sweeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Anderson {
    /// Lent to the search for islands.
    pub numbers: Vec<u32>,
    x: Vec<V3>,
    g: Vec<V3>,
    f: Vec<V3>,
    weight: Vec<f64>,
    last_g: Vec<V3>,
    last_f: Vec<V3>,
    /// Differences, the newest at `newest`; so many are known.
    dg: [Vec<V3>; DEPTH],
    df: [Vec<V3>; DEPTH],
    gram: [[f64; DEPTH]; DEPTH],
    known: usize,
    newest: usize,
    /// There is a last point.
    second: bool,
    square: f64,
    low: f64,
    since: usize,
    plain: usize,
    next_plain: usize,
    stretch: f64,
    /// The next point.
    pub next: Vec<V3>,
    /// The smallest error, and its impulses.
    pub best: (f64, Vec<V3>),
}

fn product(a: &[V3], b: &[V3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| dot(*x, *y)).sum()
}

impl Anderson {
    /// The error is looked at after so many sweeps.
    pub(super) const LOOK: usize = 4;

    pub(super) fn begin(&mut self, n: usize) {
        self.best.0 = f64::INFINITY;
        self.forget();
        (self.square, self.low) = (f64::INFINITY, f64::INFINITY);
        (self.since, self.plain, self.next_plain, self.stretch) = (0, 0, PLAIN, 0.0);
        let lists = [&mut self.g, &mut self.f, &mut self.last_g, &mut self.last_f];
        for list in lists.into_iter().chain(&mut self.dg).chain(&mut self.df) {
            list.clear();
            list.resize(n, [0.0; 3]);
        }
        self.weight.clear();
        self.weight.resize(n, 1.0);
    }

    fn forget(&mut self) {
        (self.known, self.newest, self.second) = (0, 0, false);
    }

    /// Keep the impulses when they are the best.
    pub(super) fn keep(&mut self, error: f64, impulses: impl Iterator<Item = V3>) {
        if error < self.best.0 {
            self.best.0 = error;
            self.best.1.clear();
            self.best.1.extend(impulses);
        }
    }

    /// Before a sweep.
    pub(super) fn before(&mut self, impulses: impl Iterator<Item = V3>) {
        self.x.clear();
        self.x.extend(impulses);
    }

    /// After it: impulses, and the weights of their changes.
    pub(super) fn after(&mut self, impulses: impl Iterator<Item = (V3, f64)>) {
        std::mem::swap(&mut self.g, &mut self.last_g);
        std::mem::swap(&mut self.f, &mut self.last_f);
        for (i, (r, weight)) in impulses.enumerate() {
            self.g[i] = r;
            self.weight[i] = weight;
            self.f[i] = sub(r, self.x[i]).map(|v| v * weight);
        }
    }

    /// The last sweep changed nothing.
    pub(super) fn stands(&self) -> bool {
        self.f.iter().all(|f| *f == [0.0; 3])
    }

    /// The next point into `next`; false: the sweeps go on from where they are.
    pub(super) fn extrapolate(&mut self) -> bool {
        let square = product(&self.f, &self.f);
        let before = self.square;
        self.square = square;
        if square > 4.0 * before {
            self.forget();
        }
        if self.plain > 0 {
            return self.creep(square, before);
        }
        (self.low, self.since) =
            if square < 0.25 * self.low { (square, 0) } else { (self.low, self.since + 1) };
        if self.since > PATIENCE {
            (self.plain, self.stretch) = (self.next_plain, 0.0);
            self.next_plain *= 2;
            self.forget();
            return false;
        }
        if !self.second {
            self.second = true;
            return false;
        }
        self.learn();
        let Some(gamma) = self.combine() else {
            self.forget();
            return false;
        };
        self.next.clear();
        self.next.extend_from_slice(&self.g);
        for j in 0..self.known {
            for (x, d) in self.next.iter_mut().zip(&self.dg[j]) {
                *x = along(*x, -gamma[j], *d);
            }
        }
        true
    }

    /// Plain sweeps, stretched while they go one way.
    fn creep(&mut self, square: f64, before: f64) -> bool {
        self.plain -= 1;
        (self.low, self.since) = (square, 0);
        let along_last = product(&self.f, &self.last_f);
        let same = along_last > SAME_WAY * (square * before).sqrt() && square < 1.2 * before;
        self.stretch = if same { (2.0 * self.stretch).max(1.0) } else { 0.0 };
        if self.stretch == 0.0 {
            return false;
        }
        self.next.clear();
        for ((g, f), w) in self.g.iter().zip(&self.f).zip(&self.weight) {
            self.next.push(along(*g, self.stretch / w, *f));
        }
        true
    }

    /// One more difference, in the place of the oldest.
    fn learn(&mut self) {
        let at = if self.known < DEPTH { self.known } else { (self.newest + 1) % DEPTH };
        self.known = (self.known + 1).min(DEPTH);
        self.newest = at;
        for i in 0..self.f.len() {
            self.dg[at][i] = sub(self.g[i], self.last_g[i]);
            self.df[at][i] = sub(self.f[i], self.last_f[i]);
        }
        for j in 0..self.known {
            let s = product(&self.df[j], &self.df[at]);
            (self.gram[j][at], self.gram[at][j]) = (s, s);
        }
    }

    /// Coefficients of the differences: normal equations by elimination, a little damped.
    fn combine(&self) -> Option<[f64; DEPTH]> {
        let n = self.known;
        let (mut a, mut b) = (self.gram, [0.0; DEPTH]);
        let trace: f64 = (0..n).map(|j| a[j][j]).sum();
        for j in 0..n {
            a[j][j] += 1e-14 * trace;
            b[j] = product(&self.df[j], &self.f);
        }
        for p in 0..n {
            let pivot = (p..n).max_by(|&x, &y| a[x][p].abs().total_cmp(&a[y][p].abs()))?;
            a.swap(p, pivot);
            b.swap(p, pivot);
            for q in p + 1..n {
                let l = a[q][p] / a[p][p];
                for z in p..n {
                    a[q][z] -= l * a[p][z];
                }
                b[q] -= l * b[p];
            }
        }
        for p in (0..n).rev() {
            let s: f64 = (p + 1..n).map(|q| a[p][q] * b[q]).sum();
            b[p] = (b[p] - s) / a[p][p];
        }
        b[..n].iter().all(|g| g.is_finite()).then_some(b)
    }
}

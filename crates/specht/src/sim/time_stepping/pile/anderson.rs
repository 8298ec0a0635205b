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
/// Sweeps until the error is looked at for the first time, and at most between two looks.
const FIRST_LOOK: usize = 4;
const UNSEEN: usize = 16;
/// Cosine of two `f` that have the same direction.
const SAME_WAY: f64 = 0.97;

/// Contacts that are swept, and the velocities of their bodies.
pub(super) trait Map {
    /// Impulses, and rows by the trace of the own block of W.
    fn impulses(&self) -> impl Iterator<Item = (V3, f64)>;
    /// Solve one contact after the other, and [`Anderson::record`] it.
    fn sweep(&mut self, memory: &mut Anderson);
    /// Go on from other impulses, made admissible.
    fn jump(&mut self, to: impl Fn(usize) -> V3);
    /// Error of the present impulses.
    fn error(&mut self) -> f64;
    /// Impulses that stay.
    fn put(&mut self, impulses: &[V3]);
}

/// Sweeps and extrapolations in turn from impulses with this error, until it is below the tolerance, `most` at most. The best impulses stay.
pub(super) fn drive(map: &mut impl Map, memory: &mut Anderson, error: f64, tolerance: f64, most: usize) {
    memory.begin(error, map.impulses().map(|(r, rho)| (r, 1.0 / rho.sqrt())));
    for done in 1..=most {
        memory.turn();
        map.sweep(memory);
        if done == most || memory.may_be_there(tolerance) {
            let error = map.error();
            memory.keep(error, map.impulses().map(|x| x.0));
            if error < tolerance || memory.stands() {
                break;
            }
        }
        if memory.extrapolate() {
            map.jump(|i| memory.next(i));
        }
    }
    map.put(&memory.best.1);
}

/// The past of a sequence of sweeps.
#[derive(Clone, Debug, Default)]
pub(super) struct Anderson {
    /// Lent to the search for islands.
    pub numbers: Vec<u32>,
    g: Vec<V3>,
    f: Vec<V3>,
    weight: Vec<f64>,
    last_g: Vec<V3>,
    last_f: Vec<V3>,
    /// Differences of f and g, contact by contact, so that one walk meets all; so many are known.
    past: Vec<[[V3; 2]; DEPTH]>,
    gram: [[f64; DEPTH]; DEPTH],
    /// Products of the differences with f.
    with_f: [f64; DEPTH],
    gamma: [f64; DEPTH],
    known: usize,
    newest: usize,
    /// There is a last point.
    second: bool,
    /// |f|² of the present sweep, and of the one before.
    square: f64,
    before: f64,
    low: f64,
    since: usize,
    plain: usize,
    next_plain: usize,
    stretch: f64,
    /// Error and |f|² when it was last looked at, and sweeps since then.
    looked: (f64, f64),
    unseen: usize,
    /// The smallest error, and its impulses.
    best: (f64, Vec<V3>),
}

impl Anderson {
    /// From impulses with this error, and the weights of their changes.
    fn begin(&mut self, error: f64, list: impl Iterator<Item = (V3, f64)>) {
        self.best.0 = error;
        self.best.1.clear();
        self.weight.clear();
        for (impulse, weight) in list {
            self.best.1.push(impulse);
            self.weight.push(weight);
        }
        self.forget();
        (self.square, self.before, self.low) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        (self.since, self.plain, self.next_plain, self.stretch) = (0, 0, PLAIN, 0.0);
        (self.looked, self.unseen) = ((error, 0.0), UNSEEN - FIRST_LOOK);
        let n = self.weight.len();
        for list in [&mut self.g, &mut self.f, &mut self.last_g, &mut self.last_f] {
            list.clear();
            list.resize(n, [0.0; 3]);
        }
        self.past.clear();
        self.past.resize(n, [[[0.0; 3]; 2]; DEPTH]);
    }

    fn forget(&mut self) {
        (self.known, self.newest, self.second) = (0, 0, false);
    }

    /// An error that was looked at: the impulses stay when they are the best.
    fn keep(&mut self, error: f64, impulses: impl Iterator<Item = V3>) {
        (self.looked, self.unseen) = ((error, self.square), 0);
        if error < self.best.0 {
            self.best.0 = error;
            self.best.1.clear();
            self.best.1.extend(impulses);
        }
    }

    /// Before a sweep.
    fn turn(&mut self) {
        std::mem::swap(&mut self.g, &mut self.last_g);
        std::mem::swap(&mut self.f, &mut self.last_f);
        self.before = std::mem::replace(&mut self.square, 0.0);
        self.unseen += 1;
    }

    /// The impulse of a contact after the sweep, and how the sweep changed it.
    #[inline(always)]
    pub(super) fn record(&mut self, i: usize, impulse: V3, change: V3) {
        let f = change.map(|v| v * self.weight[i]);
        (self.g[i], self.f[i]) = (impulse, f);
        self.square += dot(f, f);
    }

    /// The last sweep changed nothing.
    fn stands(&self) -> bool {
        self.square == 0.0
    }

    /// Whether the error is worth looking at: |f| and the error go down together, so that the one tells when the other may be there.
    fn may_be_there(&self, tolerance: f64) -> bool {
        let (error, square) = self.looked;
        self.stands() || self.unseen >= UNSEEN || error * (self.square / square).sqrt() < tolerance
    }

    /// Prepares the next point ([`Anderson::next`]); false: the sweeps go on from where they are.
    fn extrapolate(&mut self) -> bool {
        let (square, before) = (self.square, self.before);
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
        (self.gamma, self.stretch) = (gamma, 0.0);
        true
    }

    /// The impulse of a contact at the next point.
    #[inline(always)]
    fn next(&self, i: usize) -> V3 {
        match self.stretch > 0.0 {
            true => along(self.g[i], self.stretch / self.weight[i], self.f[i]),
            false => (0..DEPTH).fold(self.g[i], |x, j| along(x, -self.gamma[j], self.past[i][j][1])),
        }
    }

    /// Plain sweeps, stretched while they go one way.
    fn creep(&mut self, square: f64, before: f64) -> bool {
        self.plain -= 1;
        (self.low, self.since) = (square, 0);
        let along_last: f64 = self.f.iter().zip(&self.last_f).map(|(x, y)| dot(*x, *y)).sum();
        let same = along_last > SAME_WAY * (square * before).sqrt() && square < 1.2 * before;
        self.stretch = if same { (2.0 * self.stretch).max(1.0) } else { 0.0 };
        self.stretch > 0.0
    }

    /// One more difference, in the place of the oldest.
    fn learn(&mut self) {
        let at = if self.known < DEPTH { self.known } else { (self.newest + 1) % DEPTH };
        self.known = (self.known + 1).min(DEPTH);
        self.newest = at;
        let (mut gram, mut own) = ([0.0; DEPTH], 0.0);
        let points = self.f.iter().zip(&self.g).zip(self.last_f.iter().zip(&self.last_g));
        for (past, ((f, g), (last_f, last_g))) in self.past.iter_mut().zip(points) {
            let df = sub(*f, *last_f);
            past[at] = [df, sub(*g, *last_g)];
            for j in 0..DEPTH {
                gram[j] += dot(past[j][0], df);
            }
            own += dot(df, *f);
        }
        for j in 0..self.known {
            (self.gram[j][at], self.gram[at][j]) = (gram[j], gram[j]);
            // f is the last one and its difference
            self.with_f[j] += gram[j];
        }
        self.with_f[at] = own;
    }

    /// Coefficients of the differences: normal equations by elimination, a little damped.
    fn combine(&self) -> Option<[f64; DEPTH]> {
        let n = self.known;
        let (mut a, mut b) = (self.gram, self.with_f);
        let trace: f64 = (0..n).map(|j| a[j][j]).sum();
        for j in 0..n {
            a[j][j] += 1e-14 * trace;
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
        b[n..].fill(0.0);
        b.iter().all(|g| g.is_finite()).then_some(b)
    }
}

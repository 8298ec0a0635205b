//! Newton's law for frictionless impacts (chapter 7).
//!
//! ```text
//! I_S* = closed contacts with ġ_NA ≤ 0:   ġ_NE = −ε ġ_NA,   Λ = −G⁻¹ (E + ε) ġ_NA      (7.9)-(7.12)
//! ```
//!
//! A contact whose impulse would be negative is removed (the most negative first) and the rest solved again; a removed
//! contact must end with ġ_NE ≥ 0. When that fails all subsets are tried, up to 16 contacts, the largest first.
//! Dependent contacts: minimum norm.
//!
//! A contact outside I_S* (it rests by rounding, or separates) may be hit by the impulses of the others. The book leaves that open; ours: it
//! does not approach, `0 ≤ ġ_NE + ε min(ġ_NA, 0) ⊥ Λ ≥ 0` for all closed contacts, a problem that has a solution whenever one exists.
//!
//! Two closed contacts that oppose each other (a play of width zero) cannot both move apart. As the play goes to zero the blows between
//! its sides become infinitely many in no time and take all velocity for ε < 1; ours: ε = 0 for both.

use crate::lcp::{Lcp, Solver};
use crate::linalg::{FullPivot, Mat, max_abs};
use crate::modes::problem::Problem;

const TOLERANCE: f64 = 1e-10;

/// The solver; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newton {
    /// x̂ of the last problem.
    pub x: Vec<f64>,
    e: Vec<f64>,
    /// Contacts that are hit.
    used: Vec<bool>,
    list: Vec<usize>,
    g: Mat,
    b: Vec<f64>,
    s: Vec<f64>,
    y: Vec<f64>,
    rank: FullPivot,
}

impl Newton {
    /// x̂ for velocities `p.c` before the impact and restitution `e` per normal; false when there is none.
    pub(crate) fn solve(&mut self, p: &Problem, e: impl Iterator<Item = f64>) -> bool {
        let n = p.normals;
        self.e.clear();
        self.e.extend(e);
        self.without_play(p);
        let size = max_abs(&p.c[..n]).max(1e-300);
        let hit = |i: usize| p.c[i] <= TOLERANCE * size;
        self.used.clear();
        self.used.extend((0..n).map(hit));
        self.x.clear();
        self.x.resize(p.dim(), 0.0);
        while self.impulses(p) {
            let (x, largest) = (&self.x, max_abs(&self.x));
            let worst = (0..n).filter(|&i| self.used[i]).min_by(|&a, &b| x[a].total_cmp(&x[b]));
            match worst {
                Some(i) if x[i] < -TOLERANCE * largest => self.used[i] = false,
                _ => break,
            }
        }
        if self.is_admissible(p, size) {
            return true;
        }
        let list: Vec<usize> = (0..n).filter(|&i| hit(i)).collect();
        if list.len() > 16 {
            return self.complementary(p);
        }
        let mut subsets: Vec<u32> = (0..1u32 << list.len()).collect();
        subsets.sort_by_key(|s| std::cmp::Reverse(s.count_ones()));
        for s in subsets {
            self.used.fill(false);
            for (k, &i) in list.iter().enumerate() {
                self.used[i] = s >> k & 1 == 1;
            }
            if self.impulses(p) && self.is_admissible(p, size) {
                return true;
            }
        }
        self.complementary(p)
    }

    /// Restitution becomes zero where another closed contact stands opposite: rows w and −w, and the play between them stays zero.
    fn without_play(&mut self, p: &Problem) {
        if p.normals < 2 {
            return;
        }
        let opposes = |i: usize, j: usize| {
            let (g, bound) = (p.h[(i, i)], 1e-12 * p.h[(i, i)]);
            let rows = g > 0.0 && (p.h[(j, j)] - g).abs() <= bound && (p.h[(i, j)] + g).abs() <= bound;
            // the sides of the play do not move apart
            rows && (p.c[i] + p.c[j]).abs() <= TOLERANCE * (p.c[i].abs() + p.c[j].abs())
        };
        for (i, e) in self.e.iter_mut().enumerate() {
            if (0..p.normals).any(|j| opposes(i, j)) {
                *e = 0.0;
            }
        }
    }

    /// The law for all closed contacts at once.
    fn complementary(&mut self, p: &Problem) -> bool {
        let n = p.normals;
        let h = Mat::from_fn(n, n, |i, j| p.h[(i, j)]);
        let c: Vec<f64> = (0..n).map(|i| p.c[i] + self.e[i] * p.c[i].min(0.0)).collect();
        let mut lcp = Solver::default();
        let solved = lcp.solve(Lcp::new(&h, &c)).is_solved();
        if solved {
            self.x.fill(0.0);
            self.x[..n].copy_from_slice(&lcp.z);
        }
        solved
    }

    // (7.11) for the used contacts; false when the demands contradict each other
    fn impulses(&mut self, p: &Problem) -> bool {
        let Newton { x, e, used, list, g, b, s, rank, .. } = self;
        list.clear();
        list.extend((0..p.normals).filter(|&i| used[i]));
        x.fill(0.0);
        if let [i] = list[..]
            && p.h[(i, i)] != 0.0
        {
            x[i] = -(1.0 + e[i]) * p.c[i] / p.h[(i, i)];
            return true;
        }
        g.reshape(list.len(), list.len());
        for (r, &i) in list.iter().enumerate() {
            for (c, &j) in list.iter().enumerate() {
                g[(r, c)] = p.h[(i, j)];
            }
        }
        b.clear();
        b.extend(list.iter().map(|&i| -(1.0 + e[i]) * p.c[i]));
        s.clear();
        s.resize(list.len(), 0.0);
        rank.factor(g);
        let inconsistency = rank.solve(b, &[], s);
        for (k, &i) in list.iter().enumerate() {
            x[i] = s[k];
        }
        inconsistency <= 1e-9 * max_abs(&p.c).max(1e-300)
    }

    fn is_admissible(&mut self, p: &Problem, size: f64) -> bool {
        let Newton { x, e, used, y, .. } = self;
        p.y(x, y);
        let tol = 1e-9 * size.max(max_abs(x));
        let fits = |i: usize| match used[i] {
            true => x[i] >= -tol && (y[i] + e[i] * p.c[i]).abs() <= tol,
            false => y[i] >= -tol,
        };
        (0..p.normals).all(fits)
    }
}

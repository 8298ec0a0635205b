//! Every solution of a small complementarity problem
//!
//! Depth-first search over the complementary choices `w_i = 0` or `z_i = 0` ([`enumerate`]), or over any list of modes
//! that each fix a set of variables at zero ([`enumerate_modes`]: open, stick, slide+, slide− of a contact). A branch is
//! dropped when what is fixed so far already excludes a solution: by signs of a row (exact and cheap), and in larger
//! problems by a linear program, solved on from the vertex of the branch above; the next item decided is the one that this
//! vertex violates most. What survives to a leaf is a complementary cone that contains `b`: a point, or, where the
//! cone is degenerate (det C_k = 0), possibly a continuum, returned as [`Family`]. PG-6-LCP (b), PG-5.4.
//!
//! The list is complete unless [`Enumeration::complete`] is false. Solutions that differ by less than 1e-8 (scaled) are
//! one; a point that lies in a reported family, and a family inside another one, are not repeated.
//!
//! *Observed quantities.* The split of a sticking friction force into two parts is not unique and means nothing. When the
//! rows of `observe` are given, solutions are compared by `observe · z` only, and a continuum over which these do not
//! vary is a point.

use super::lp::{LpOutcome, Simplex};
use super::merge::{Found, SAME, merge};
use super::scale::RUNAWAY;
use super::{Family, Lcp, RESIDUAL_TOLERANCE, Scale};
use crate::linalg::{Lu, Mat, max_abs};
use crate::stop::{Clock, Stop};

/// A variable of the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Var {
    /// `w_i`.
    W(usize),
    /// `z_i`.
    Z(usize),
}

/// One element of the solution set.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A single solution (or one that is single in all observed quantities).
    Point {
        /// `z`.
        z: Vec<f64>,
        /// `w = A z + b`.
        w: Vec<f64>,
        /// The alternative chosen for each item.
        choice: Vec<usize>,
    },
    /// A continuum.
    Family {
        /// The polyhedron.
        family: Box<Family>,
        /// The alternative chosen for each item.
        choice: Vec<usize>,
    },
}

impl Piece {
    /// `z` of the point, or of one member of the family.
    pub fn z(&self) -> &[f64] {
        match self {
            Piece::Point { z, .. } => z,
            Piece::Family { family, .. } => &family.z,
        }
    }

    /// `w` of the point, or of one member of the family.
    pub fn w(&self) -> &[f64] {
        match self {
            Piece::Point { w, .. } => w,
            Piece::Family { family, .. } => &family.w,
        }
    }
}

/// The solution set.
#[derive(Clone, Debug, Default)]
pub struct Enumeration {
    /// Points and families, in the order of the search.
    pub pieces: Vec<Piece>,
    /// Whether the search visited everything.
    pub complete: bool,
    /// Nodes visited.
    pub nodes: usize,
}

/// Settings of the search.
#[derive(Clone, Debug)]
pub struct EnumerateSettings {
    /// Stop after this many nodes (default 200 000); the result then says that it is not complete.
    pub max_nodes: usize,
    /// Stop after this many leaves with a solution, repetitions included (default 4 000), likewise.
    pub max_leaves: usize,
    /// Without linear programs up to this many combinations of alternatives (default 64), with them above.
    pub plain_up_to: usize,
    /// Rows of the quantities by which solutions are compared; all variables when `None` (default).
    pub observe: Option<Mat>,
    /// Stop after this many seconds (default none), likewise.
    pub time_limit: Option<f64>,
    /// Stop when this is asked for, likewise.
    pub stop: Stop,
}

impl Default for EnumerateSettings {
    fn default() -> Self {
        EnumerateSettings {
            max_nodes: 200_000,
            max_leaves: 4_000,
            plain_up_to: 64,
            observe: None,
            time_limit: None,
            stop: Stop::default(),
        }
    }
}

/// All solutions of `p`; alternative 0 of pair `i` is `z_i = 0`, alternative 1 is `w_i = 0`.
///
/// ```
/// use specht::lcp::{EnumerateSettings, Lcp, enumerate};
/// use specht::linalg::Mat;
///
/// // Painlevé: −2 z + 1 ≥ 0 ⟂ z ≥ 0 has two solutions, z = 0 and z = 1/2
/// let a = Mat::from_rows(&[[-2.0]]);
/// let all = enumerate(Lcp::new(&a, &[1.0]), &EnumerateSettings::default());
/// let z: Vec<f64> = all.pieces.iter().map(|p| p.z()[0]).collect();
/// assert!(all.complete && z == [0.0, 0.5]);
/// ```
pub fn enumerate(p: Lcp<'_>, settings: &EnumerateSettings) -> Enumeration {
    let items: Vec<Vec<Vec<Var>>> = (0..p.dim()).map(|i| vec![vec![Var::Z(i)], vec![Var::W(i)]]).collect();
    enumerate_modes(p, &items, settings)
}

/// All solutions of `w = A z + b`, `w, z ≥ 0` in which every item takes one of its alternatives; an alternative is the list
/// of variables that it fixes at zero. The caller sees to it that every combination implies complementarity.
pub fn enumerate_modes(p: Lcp<'_>, items: &[Vec<Vec<Var>>], settings: &EnumerateSettings) -> Enumeration {
    let n = p.dim();
    if !p.is_valid() {
        return Enumeration::default();
    }
    let mut scale = Scale::default();
    scale.fit(p.a);
    let a = Mat::from_fn(n, n, |i, j| scale.row[i] * p.a[(i, j)] * scale.col[j]);
    let b: Vec<f64> = (0..n).map(|i| scale.row[i] * p.b[i]).collect();
    let observe = settings
        .observe
        .as_ref()
        .map(|o| Mat::from_fn(o.rows(), n, |i, j| o[(i, j)] * scale.col[j]))
        .map(normalise_rows);
    let mut search = Search {
        p: Lcp::new(&a, &b),
        items,
        settings,
        observe,
        fixed: vec![0; 2 * n],
        choice: vec![UNDECIDED; items.len()],
        found: Vec::new(),
        nodes: 0,
        clock: Clock::new(settings.time_limit, settings.stop),
        cut_short: false,
        lu: Lu::default(),
        levels: Vec::new(),
        columns: Mat::default(),
        rhs: Vec::new(),
    };
    let combinations = items.iter().fold(1.0, |c, i| c * i.len() as f64);
    if combinations <= settings.plain_up_to as f64 || search.load() {
        search.visit(0);
    }
    let (nodes, complete) = (search.nodes, !search.cut_short);
    let pieces =
        merge(search.found, &search.observe).into_iter().filter_map(|f| f.restore(p, &scale)).collect();
    Enumeration { pieces, complete, nodes }
}

fn normalise_rows(mut m: Mat) -> Mat {
    for i in 0..m.rows() {
        let s = max_abs(m.row(i));
        if s > 0.0 {
            m.row_mut(i).iter_mut().for_each(|x| *x /= s);
        }
    }
    m
}

/// Marks an item that has no alternative yet.
const UNDECIDED: usize = usize::MAX;
/// Scaled pivot ratio below which a basis counts as singular.
const SINGULAR: f64 = 1e-10;

struct Search<'a> {
    p: Lcp<'a>,
    items: &'a [Vec<Vec<Var>>],
    settings: &'a EnumerateSettings,
    observe: Option<Mat>,
    /// How many decided items fix w_i (entry i) and z_i (entry n+i).
    fixed: Vec<u32>,
    choice: Vec<usize>,
    found: Vec<Found>,
    clock: Clock,
    nodes: usize,
    cut_short: bool,
    lu: Lu,
    /// The polyhedron of the branch at each depth; empty when linear programs are not used.
    levels: Vec<Simplex>,
    columns: Mat,
    rhs: Vec<f64>,
}

impl Search<'_> {
    fn visit(&mut self, depth: usize) {
        self.nodes += 1;
        if self.clock.over()
            || self.nodes > self.settings.max_nodes
            || self.found.len() >= self.settings.max_leaves
        {
            self.cut_short = true;
            return;
        }
        if self.excluded_by_signs() {
            return;
        }
        if depth == self.items.len() {
            self.visit_leaf();
            return;
        }
        let item = self.next_item(depth);
        let (items, n) = (self.items, self.p.dim());
        for (k, alternative) in items[item].iter().enumerate() {
            if !self.levels.is_empty() && !self.descend(depth, alternative) {
                self.nodes += 1;
                continue;
            }
            self.choice[item] = k;
            alternative.iter().for_each(|&v| self.fixed[index(v, n)] += 1);
            self.visit(depth + 1);
            alternative.iter().for_each(|&v| self.fixed[index(v, n)] -= 1);
            self.choice[item] = UNDECIDED;
            if self.cut_short {
                return;
            }
        }
    }

    /// The first undecided item, or the one that the vertex of this branch violates most.
    fn next_item(&self, depth: usize) -> usize {
        let n = self.p.dim();
        let undecided = (0..self.items.len()).filter(|&i| self.choice[i] == UNDECIDED);
        let Some(level) = self.levels.get(depth) else {
            return depth;
        };
        let violation = |i: usize| {
            let sum = |a: &Vec<Var>| a.iter().map(|&v| level.scaled_value(index(v, n))).sum::<f64>();
            self.items[i].iter().map(sum).fold(f64::INFINITY, f64::min)
        };
        let (mut best, mut worst) = (depth, -1.0);
        for i in undecided {
            let v = violation(i);
            if v > worst {
                (best, worst) = (i, v);
            }
        }
        best
    }

    /// Polyhedron of all variables. False when it is empty.
    fn load(&mut self) -> bool {
        let n = self.p.dim();
        let columns =
            Mat::from_fn(
                n,
                2 * n,
                |i, k| {
                    if k >= n { -self.p.a[(i, k - n)] } else { f64::from(u8::from(i == k)) }
                },
            );
        self.levels = vec![Simplex::default(); self.items.len() + 1];
        !matches!(self.levels[0].load(&columns, self.p.b), LpOutcome::Infeasible)
    }

    /// Polyhedron of the next depth: this one, cut by an alternative. False when it is empty.
    fn descend(&mut self, depth: usize, alternative: &[Var]) -> bool {
        let n = self.p.dim();
        let (above, below) = self.levels.split_at_mut(depth + 1);
        below[0].copy_from(&above[depth]);
        below[0].restrict(alternative.iter().map(|&v| index(v, n)))
    }

    fn open(&self) -> Vec<Var> {
        let n = self.p.dim();
        (0..2 * n)
            .filter(|&k| self.fixed[k] == 0)
            .map(|k| if k < n { Var::W(k) } else { Var::Z(k - n) })
            .collect()
    }

    /// A row `w_i = b_i + Σ A_ij z_j` over the open `z_j` whose signs leave no way.
    fn excluded_by_signs(&self) -> bool {
        let n = self.p.dim();
        let zero = RESIDUAL_TOLERANCE * max_abs(self.p.b);
        (0..n).any(|i| {
            let b = self.p.b[i];
            if b.abs() <= zero {
                return false;
            }
            let closed_w = self.fixed[i] > 0;
            if b > 0.0 && !closed_w {
                return false;
            }
            // b < 0 needs a positive entry; b > 0 with w_i = 0 needs a negative one
            let row = self.p.a.row(i);
            !(0..n).any(|j| self.fixed[n + j] == 0 && row[j] * b < 0.0)
        })
    }

    fn visit_leaf(&mut self) {
        let n = self.p.dim();
        // complementary cone with n open variables: z_β from A_ββ z_β = −b_β, w outside
        let complementary = (0..n).all(|i| (self.fixed[i] > 0) != (self.fixed[n + i] > 0));
        if complementary {
            match self.solve_cone() {
                Cone::Point(z, w) => return self.keep_point(z, w),
                Cone::Outside => return,
                Cone::Singular => {}
            }
        }
        let open = self.open();
        let Some(mut family) = Family::new(self.p, open) else { return };
        let size = family.z.iter().chain(&family.w).chain(self.p.b).fold(0.0_f64, |m, x| m.max(x.abs()));
        let varies = match &self.observe {
            Some(o) => (0..o.rows()).any(|r| family.interval(o.row(r), 0.0).width() > SAME * size),
            None => {
                let open = family.open.clone();
                open.into_iter().any(|v| family.extent(v).width() > SAME * size)
            }
        };
        let (z, w, open) = (family.z.clone(), family.w.clone(), family.open.clone());
        let family = varies.then_some(family);
        self.found.push(Found { family, open, z, w, choice: self.choice.clone() });
    }

    fn solve_cone(&mut self) -> Cone {
        let n = self.p.dim();
        let set: Vec<usize> = (0..n).filter(|&i| self.fixed[n + i] == 0).collect();
        let m = set.len();
        self.columns.resize(m, m);
        for (r, &i) in set.iter().enumerate() {
            for (s, &j) in set.iter().enumerate() {
                self.columns[(r, s)] = self.p.a[(i, j)];
            }
        }
        if self.lu.factor(&self.columns) < SINGULAR {
            return Cone::Singular;
        }
        self.rhs.clear();
        self.rhs.extend(set.iter().map(|&i| -self.p.b[i]));
        self.lu.solve(&mut self.rhs);
        let mut z = vec![0.0; n];
        set.iter().zip(&self.rhs).for_each(|(&i, &x)| z[i] = x);
        let mut w = vec![0.0; n];
        self.p.slack(&z, &mut w);
        let size = z.iter().chain(self.p.b).fold(0.0_f64, |m, x| m.max(x.abs()));
        if size > RUNAWAY * max_abs(self.p.b) || size.is_nan() {
            return Cone::Singular;
        }
        let least = -RESIDUAL_TOLERANCE * size;
        if z.iter().chain(&w).any(|&x| x < least || !x.is_finite()) {
            return Cone::Outside;
        }
        set.iter().for_each(|&i| w[i] = 0.0);
        z.iter_mut().chain(&mut w).for_each(|x| *x = x.max(0.0));
        Cone::Point(z, w)
    }

    fn keep_point(&mut self, z: Vec<f64>, w: Vec<f64>) {
        let open = self.open();
        self.found.push(Found { family: None, open, z, w, choice: self.choice.clone() });
    }
}

fn index(v: Var, n: usize) -> usize {
    match v {
        Var::W(i) => i,
        Var::Z(i) => n + i,
    }
}

enum Cone {
    Point(Vec<f64>, Vec<f64>),
    Outside,
    Singular,
}

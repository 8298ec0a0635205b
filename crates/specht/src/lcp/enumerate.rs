//! Every solution of a small complementarity problem
//!
//! Depth-first search over the complementary choices `w_i = 0` or `z_i = 0` ([`enumerate`]), or over any list of modes
//! that each fix a set of variables at zero ([`enumerate_modes`]: open, stick, slide+, slide− of a contact). A branch is
//! dropped when what is fixed so far already excludes a solution: by signs of a row (exact and cheap), and in larger
//! problems by a linear program. What survives to a leaf is a complementary cone that contains `b`: a point, or, where the
//! cone is degenerate (det C_k = 0), possibly a continuum, returned as [`Family`]. PG-6-LCP (b), PG-5.4.
//!
//! The list is complete unless [`Enumeration::complete`] is false. Solutions that differ by less than 1e-8 (scaled) are
//! one; a point that lies in a reported family, and a family inside another one, are not repeated.
//!
//! *Observed quantities.* The split of a sticking friction force into two parts is not unique and means nothing. When the
//! rows of `observe` are given, solutions are compared by `observe · z` only, and a continuum over which these do not
//! vary is a point.

use super::lp::{LpOutcome, Simplex};
use super::scale::RUNAWAY;
use super::{Family, Lcp, RESIDUAL_TOLERANCE, Scale};
use crate::linalg::{Lu, Mat, max_abs};

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

    /// The alternative chosen for each item.
    pub fn choice(&self) -> &[usize] {
        match self {
            Piece::Point { choice, .. } | Piece::Family { choice, .. } => choice,
        }
    }

    /// Whether this is a continuum.
    pub fn is_family(&self) -> bool {
        matches!(self, Piece::Family { .. })
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
    /// Stop after this many nodes (default 1 000 000); the result then says that it is not complete.
    pub max_nodes: usize,
    /// Prune by linear programs when at least this many items are undecided (default 5).
    pub lp_from: usize,
    /// Rows of the quantities by which solutions are compared; all variables when `None` (default).
    pub observe: Option<Mat>,
}

impl Default for EnumerateSettings {
    fn default() -> Self {
        EnumerateSettings { max_nodes: 1_000_000, lp_from: 5, observe: None }
    }
}

/// All solutions of `p`; alternative 0 of pair `i` is `z_i = 0`, alternative 1 is `w_i = 0`.
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
        choice: Vec::new(),
        found: Vec::new(),
        nodes: 0,
        cut_short: false,
        lu: Lu::default(),
        simplex: Simplex::default(),
        columns: Mat::default(),
        rhs: Vec::new(),
    };
    search.visit();
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

/// Difference below which two scaled solutions are one.
const SAME: f64 = 1e-8;
/// Scaled pivot ratio below which a basis counts as singular.
const SINGULAR: f64 = 1e-10;

/// A piece in scaled variables.
struct Found {
    family: Option<Family>,
    open: Vec<Var>,
    z: Vec<f64>,
    w: Vec<f64>,
    choice: Vec<usize>,
}

impl Found {
    fn restore(self, p: Lcp<'_>, scale: &Scale) -> Option<Piece> {
        if self.family.is_some() {
            let family = Box::new(Family::new(p, self.open)?);
            return Some(Piece::Family { family, choice: self.choice });
        }
        let z: Vec<f64> = self.z.iter().zip(&scale.col).map(|(z, c)| z * c).collect();
        let w: Vec<f64> = self.w.iter().zip(&scale.row).map(|(w, r)| w / r).collect();
        debug_assert_eq!(z.len(), p.dim());
        Some(Piece::Point { z, w, choice: self.choice })
    }

    fn value(&self, v: Var) -> f64 {
        match v {
            Var::W(i) => self.w[i],
            Var::Z(i) => self.z[i],
        }
    }

    fn size(&self) -> f64 {
        self.z.iter().chain(&self.w).fold(1e-300, |m: f64, x| m.max(x.abs()))
    }
}

struct Search<'a> {
    p: Lcp<'a>,
    items: &'a [Vec<Vec<Var>>],
    settings: &'a EnumerateSettings,
    observe: Option<Mat>,
    /// How many decided items fix w_i (entry i) and z_i (entry n+i).
    fixed: Vec<u32>,
    choice: Vec<usize>,
    found: Vec<Found>,
    nodes: usize,
    cut_short: bool,
    lu: Lu,
    simplex: Simplex,
    columns: Mat,
    rhs: Vec<f64>,
}

impl Search<'_> {
    fn visit(&mut self) {
        self.nodes += 1;
        if self.nodes > self.settings.max_nodes {
            self.cut_short = true;
            return;
        }
        if self.excluded_by_signs() {
            return;
        }
        let undecided = self.items.len() - self.choice.len();
        if undecided == 0 {
            self.visit_leaf();
            return;
        }
        if undecided >= self.settings.lp_from && self.items.len() > 8 && !self.feasible() {
            return;
        }
        let (items, n) = (self.items, self.p.dim());
        for (k, alternative) in items[self.choice.len()].iter().enumerate() {
            self.choice.push(k);
            alternative.iter().for_each(|&v| self.fixed[index(v, n)] += 1);
            self.visit();
            alternative.iter().for_each(|&v| self.fixed[index(v, n)] -= 1);
            self.choice.pop();
            if self.cut_short {
                return;
            }
        }
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

    fn feasible(&mut self) -> bool {
        let n = self.p.dim();
        let open = self.open();
        self.columns.resize(n, open.len());
        for (k, v) in open.iter().enumerate() {
            for i in 0..n {
                self.columns[(i, k)] = match *v {
                    Var::W(j) => f64::from(u8::from(i == j)),
                    Var::Z(j) => -self.p.a[(i, j)],
                };
            }
        }
        !matches!(self.simplex.load(&self.columns, self.p.b), LpOutcome::Infeasible)
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

/// Remove repetitions: families first, then points that lie in none of them.
fn merge(found: Vec<Found>, observe: &Option<Mat>) -> Vec<Found> {
    let mut kept: Vec<Found> = Vec::new();
    let (mut families, points): (Vec<_>, Vec<_>) = found.into_iter().partition(|f| f.family.is_some());
    families.sort_by_key(|f| std::cmp::Reverse(f.open.len()));
    for mut f in families {
        if !kept.iter().any(|k| contains_family(k, &mut f)) {
            kept.push(f);
        }
    }
    for f in points {
        let size = f.size();
        let repeated = kept.iter().any(|k| match (&k.family, observe) {
            (Some(family), Some(o)) => family.attains(o, &product(o, &f.z)),
            (Some(_), None) => closed(k).all(|v| f.value(v) <= SAME * size),
            (None, Some(o)) => close(&product(o, &f.z), &product(o, &k.z), size),
            (None, None) => close(&f.z, &k.z, size),
        });
        if !repeated {
            kept.push(f);
        }
    }
    kept
}

/// The variables that `k` fixes at zero.
fn closed(k: &Found) -> impl Iterator<Item = Var> + '_ {
    let n = k.z.len();
    (0..n).map(Var::W).chain((0..n).map(Var::Z)).filter(|v| !k.open.contains(v))
}

/// Whether every member of `f` is in `k`: what `k` fixes at zero vanishes all over `f`.
fn contains_family(k: &Found, f: &mut Found) -> bool {
    let size = f.size();
    let candidates: Vec<Var> = closed(k).filter(|v| f.open.contains(v)).collect();
    let Some(family) = f.family.as_mut() else { return false };
    candidates.into_iter().all(|v| family.extent(v).hi <= SAME * size)
}

fn product(o: &Mat, z: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; o.rows()];
    o.mul_vec(z, &mut y);
    y
}

fn close(x: &[f64], y: &[f64], size: f64) -> bool {
    x.iter().zip(y).all(|(x, y)| (x - y).abs() <= SAME * size)
}

//! One pattern of modes: which normals are closed, which tangents stick or slide, which sign bilateral forces have.
//!
//! With the pattern fixed the laws are linear equations (and norms of pins); their solution is accepted when it
//! satisfies the inequalities of the pattern. Where the equations are dependent and consistent, the solutions of the
//! pattern form a polyhedron, described by a point and the null space of the equations.

use super::Start;
use super::pin::pin_roots;
use super::problem::{Kind, Problem};
use crate::linalg::FullPivot;
use crate::linalg::{Lu, Mat, dot, max_abs};

/// Inequalities may be violated by this much, relative to [`Problem::size`].
pub(crate) const TOLERANCE: f64 = 1e-9;

/// State of a tangent in a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// No force, no condition: the contact is open.
    #[default]
    Off,
    Stick,
    /// Slides in the positive direction: force at the lower bound.
    Plus,
    /// Slides in the negative direction.
    Minus,
}

/// A complete or partial pattern; `None` means undecided.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    pub closed: Vec<Option<bool>>,
    pub state: Vec<Option<State>>,
    /// Sign of ν's affine expression, for signed loads.
    pub sign: Vec<f64>,
}

impl Pattern {
    /// Nothing decided.
    pub(crate) fn undecided(p: &Problem) -> Self {
        let n = p.friction.len();
        Pattern { closed: vec![None; p.normals], state: vec![None; n], sign: vec![0.0; n] }
    }
}

/// A linear condition `a·x ≥ b` or `a·x = b` of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub a: Vec<f64>,
    pub b: f64,
    pub equal: bool,
    /// The tangent whose bound at stick this is.
    pub bound_of: Option<usize>,
    /// What it restricts.
    pub on: On,
}

/// What a [`Condition`] restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// A normal force.
    Normal,
    /// The force of this tangent.
    Tangent(usize),
    /// An acceleration.
    Acceleration,
}

/// What a pattern admits.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub x: Vec<f64>,
    /// Orthonormal rows of directions in which x may move within the equations; empty for a point.
    pub null: Mat,
    /// Whether x satisfies the inequalities (a point that does not is not returned at all).
    pub feasible: bool,
}

/// Memory of [`LeafSolver::solve`].
#[derive(Clone, Debug, Default)]
pub(crate) struct LeafSolver {
    /// Of dependent solutions take the one nearest to this x̂ (empty: of minimum norm).
    pub reference: Vec<f64>,
    active: Vec<usize>,
    k: Mat,
    rhs: Mat,
    lu: Lu,
    rank: FullPivot,
    sol: Mat,
    y: Vec<f64>,
    zero: Vec<f64>,
}

/// Coefficients of tangent `j`'s slide equation: x_j = constant + coef·x + Σ f p.
pub(crate) fn slide_equation(p: &Problem, pattern: &Pattern, j: usize) -> (f64, f64, f64) {
    let f = &p.friction[j];
    let plus = pattern.state[j] == Some(State::Plus);
    let (m, m0) = if plus { (-f.slide.lo, -f.slide.lo0) } else { (f.slide.hi, f.slide.hi0) };
    let s = match f.kind {
        Kind::Absolute => pattern.sign[j],
        Kind::Positive => pattern.sign[j].max(0.0),
        _ => 1.0,
    };
    // (factor of the affine expression, constant, factor of pins)
    (m * s, m0 + m * s * f.load.constant, m * s)
}

impl LeafSolver {
    /// All solutions of a complete pattern (more than one only when pins are involved).
    pub(crate) fn solve(&mut self, p: &Problem, pattern: &Pattern, out: &mut Vec<Leaf>) {
        let (r, nn) = (p.dim(), p.normals);
        self.active.clear();
        self.active.extend((0..nn).filter(|&i| pattern.closed[i] == Some(true)));
        self.active.extend((0..r - nn).filter(|&j| pattern.state[j] != Some(State::Off)).map(|j| nn + j));
        let m = self.active.len();
        let pins = self.used_pins(p, pattern);

        // equations, one right side for the constants and one per pin
        self.k.reshape(m, m);
        self.rhs.reshape(1 + pins.len(), m);
        for (e, &i) in self.active.iter().enumerate() {
            let state = if i < nn { Some(State::Stick) } else { pattern.state[i - nn] };
            if state == Some(State::Stick) {
                for (q, &j) in self.active.iter().enumerate() {
                    self.k[(e, q)] = p.h[(i, j)];
                }
                self.rhs[(0, e)] = -p.c[i];
            } else {
                let (factor, constant, pin) = slide_equation(p, pattern, i - nn);
                let f = &p.friction[i - nn];
                for (q, &j) in self.active.iter().enumerate() {
                    self.k[(e, q)] = f64::from(u8::from(i == j)) - factor * f.load.coef[j];
                }
                self.rhs[(0, e)] = constant;
                for &(k, c) in &f.pins {
                    if let Some(place) = pins.iter().position(|&q| q == k) {
                        self.rhs[(1 + place, e)] += pin * c;
                    }
                }
            }
        }
        let regular = m == 0 || self.lu.factor(&self.k) > 1e-9;
        if !regular {
            self.rank.factor(&self.k);
        }
        let dependent = !regular && self.rank.nullity() > 0;
        self.sol.reshape(1 + pins.len(), r);
        for q in 0..=pins.len() {
            self.zero.clear();
            self.zero.extend_from_slice(self.rhs.row(q));
            if m > 0 && regular {
                self.lu.solve(&mut self.zero);
            } else if m > 0 {
                let size = p.reach().max(max_abs(self.rhs.row(q)));
                let mut x = std::mem::take(&mut self.zero);
                let near: Vec<f64> = match q {
                    0 if !self.reference.is_empty() => {
                        self.active.iter().map(|&i| self.reference[i]).collect()
                    }
                    _ => Vec::new(),
                };
                let e = self.rank.solve(self.rhs.row(q), &near, &mut x);
                self.zero = x;
                if e > 1e-8 * size.max(1e-300) {
                    return;
                }
            }
            for (e, &i) in self.active.iter().enumerate() {
                self.sol[(q, i)] = self.zero[e];
            }
        }
        let mut null = Mat::zeros(if dependent { self.rank.nullity() } else { 0 }, r);
        if dependent {
            let z = self.rank.null();
            for k in 0..null.rows() {
                for (e, &i) in self.active.iter().enumerate() {
                    null[(k, i)] = z[(k, e)];
                }
            }
        }
        if pins.is_empty() {
            let feasible = is_feasible(p, pattern, self.sol.row(0), &mut self.y);
            if feasible || dependent {
                let x = self.sol.row(0).to_vec();
                out.push(Leaf { x, null, feasible });
            }
            return;
        }
        let mut y = std::mem::take(&mut self.y);
        self.pin_solutions(p, &pins, |x| {
            let feasible = is_feasible(p, pattern, &x, &mut y);
            if feasible || dependent {
                out.push(Leaf { x, null: null.clone(), feasible });
            }
        });
        self.y = y;
    }

    /// Rows ℓ with `ℓᵀ K = 0` for the equations of the pattern solved last, on the rows of closed normals and sticking tangents
    /// (zero elsewhere).
    pub(crate) fn left_null(&mut self, p: &Problem, pattern: &Pattern) -> Mat {
        let m = self.active.len();
        let transposed = Mat::from_fn(m, m, |i, j| self.k[(j, i)]);
        self.rank.factor(&transposed);
        let z = self.rank.null();
        let mut left = Mat::zeros(z.rows(), p.dim());
        for k in 0..z.rows() {
            for (e, &i) in self.active.iter().enumerate() {
                if i < p.normals || pattern.state[i - p.normals] == Some(State::Stick) {
                    left[(k, i)] = z[(k, e)];
                }
            }
        }
        left
    }

    // pins whose norm enters a sliding force
    fn used_pins(&self, p: &Problem, pattern: &Pattern) -> Vec<usize> {
        let mut pins = Vec::new();
        for (j, f) in p.friction.iter().enumerate() {
            if matches!(pattern.state[j], Some(State::Plus | State::Minus)) {
                for &(k, _) in &f.pins {
                    if !pins.contains(&k) {
                        pins.push(k);
                    }
                }
            }
        }
        pins
    }

    // x = x₀ + Σ p_k x_k with p_k = |pin k at x|
    fn pin_solutions(&self, p: &Problem, pins: &[usize], mut found: impl FnMut(Vec<f64>)) {
        let r = p.dim();
        let point = |norms: &[f64]| -> Vec<f64> {
            (0..r)
                .map(|i| {
                    self.sol[(0, i)]
                        + norms.iter().enumerate().map(|(k, v)| v * self.sol[(1 + k, i)]).sum::<f64>()
                })
                .collect()
        };
        match pins.len() {
            0 => found(point(&[])),
            1 => {
                let a = [0, 1].map(|k| p.pins[pins[0]][k].at(self.sol.row(0)));
                let b = [0, 1].map(|k| dot(&p.pins[pins[0]][k].coef, self.sol.row(1)));
                let wide = |v: [f64; 2]| [v[0], v[1], 0.0];
                for &norm in pin_roots(wide(a), wide(b)).as_slice() {
                    found(point(&[norm]));
                }
            }
            n => {
                // Newton from a grid of starts; solutions found twice are merged later
                let a: Vec<[f64; 2]> =
                    pins.iter().map(|&k| [0, 1].map(|e| p.pins[k][e].at(self.sol.row(0)))).collect();
                let b: Vec<Vec<[f64; 2]>> = (0..n)
                    .map(|i| {
                        (0..n)
                            .map(|j| [0, 1].map(|e| dot(&p.pins[pins[i]][e].coef, self.sol.row(1 + j))))
                            .collect()
                    })
                    .collect();
                let base = a.iter().map(|a| a[0].hypot(a[1])).fold(1e-300, f64::max);
                for start in 0..3_usize.pow(n.min(4) as u32) {
                    let mut norms: Vec<f64> = (0..n)
                        .map(|i| base * [0.3, 1.0, 10.0][start / 3_usize.pow(i.min(3) as u32) % 3])
                        .collect();
                    if newton_norms(&a, &b, &mut norms) {
                        found(point(&norms));
                    }
                }
            }
        }
    }
}

fn newton_norms(a: &[[f64; 2]], b: &[Vec<[f64; 2]>], norms: &mut [f64]) -> bool {
    let n = a.len();
    let mut rank = FullPivot::default();
    let mut step = vec![0.0; n];
    for _ in 0..40 {
        let mut jac = Mat::zeros(n, n);
        let mut res = vec![0.0; n];
        let mut size = 1e-300_f64;
        for i in 0..n {
            let f = [0, 1].map(|e| a[i][e] + (0..n).map(|j| b[i][j][e] * norms[j]).sum::<f64>());
            let norm = f[0].hypot(f[1]);
            size = size.max(norm);
            res[i] = norm - norms[i];
            for j in 0..n {
                let change = if norm > 0.0 { (f[0] * b[i][j][0] + f[1] * b[i][j][1]) / norm } else { 0.0 };
                jac[(i, j)] = f64::from(u8::from(i == j)) - change;
            }
        }
        rank.factor(&jac);
        rank.solve(&res, &[], &mut step);
        for (v, s) in norms.iter_mut().zip(&step) {
            *v += s;
        }
        if !norms.iter().all(|v| v.is_finite()) {
            return false;
        }
        if max_abs(&step) < 1e-14 * size && max_abs(&res) < 1e-12 * size {
            return norms.iter().all(|&v| v >= -1e-12 * size);
        }
    }
    false
}

/// Whether x̂ satisfies all inequalities of a complete pattern.
pub(crate) fn is_feasible(p: &Problem, pattern: &Pattern, x: &[f64], y: &mut Vec<f64>) -> bool {
    p.y(x, y);
    let tol = TOLERANCE * p.size(x, y);
    if !tol.is_finite() {
        return false;
    }
    for i in 0..p.normals {
        let ok = if pattern.closed[i] == Some(true) { x[i] >= -tol } else { y[i] >= -tol };
        if !ok {
            return false;
        }
    }
    for (j, f) in p.friction.iter().enumerate() {
        let i = p.normals + j;
        let state = pattern.state[j];
        if state == Some(State::Off) {
            continue;
        }
        let at_stick = state == Some(State::Stick);
        if f.is_signed() {
            // the sign that the pattern assumed
            let mut v = dot(&f.load.coef, x) + if at_stick { f.static_constant } else { f.load.constant };
            v += f.pins.iter().map(|&(k, c)| c * p.pin_norm(k, x)).sum::<f64>();
            let tolerance = tol * (1.0 + crate::linalg::max_abs(&f.load.coef));
            if pattern.sign[j] * v < -tolerance {
                return false;
            }
        }
        match state {
            Some(State::Stick) => {
                let nu = p.nu(j, x, true);
                if x[i] < -(f.stick.lo * nu + f.stick.lo0) - tol || x[i] > f.stick.hi * nu + f.stick.hi0 + tol
                {
                    return false;
                }
            }
            Some(State::Plus) if f.start == Start::Zero && y[i] < -tol => return false,
            Some(State::Minus) if f.start == Start::Zero && y[i] > tol => return false,
            _ => {}
        }
    }
    true
}

/// The conditions of a (possibly partial) pattern that are linear in x; equations only when `with_equations`.
/// Undecided parts contribute what holds in every completion.
pub(crate) fn conditions(p: &Problem, pattern: &Pattern, with_equations: bool, out: &mut Vec<Condition>) {
    let r = p.dim();
    let unit = |i: usize| {
        let mut a = vec![0.0; r];
        a[i] = 1.0;
        a
    };
    let times = |a: &[f64], v: f64| -> Vec<f64> { a.iter().map(|x| v * x).collect() };
    let bound_of = std::cell::Cell::new(None);
    let mut push = |on: On, a: Vec<f64>, b: f64, equal: bool| {
        if !equal || with_equations {
            out.push(Condition { a, b, equal, bound_of: bound_of.get(), on });
        }
    };
    for i in 0..p.normals {
        push(On::Normal, unit(i), 0.0, pattern.closed[i] == Some(false));
        push(On::Acceleration, p.h.row(i).to_vec(), -p.c[i], pattern.closed[i] == Some(true));
    }
    for (j, f) in p.friction.iter().enumerate() {
        let i = p.normals + j;
        let (state, sign) = (pattern.state[j], pattern.sign[j]);
        let factor = match f.kind {
            Kind::Absolute => sign,
            Kind::Positive => sign.max(0.0),
            _ => 1.0,
        };
        // ν is affine once its sign is known and no pin enters
        let one_constant = f.static_constant == f.load.constant;
        let affine =
            f.pins.is_empty() && (!f.is_signed() || sign != 0.0) && (one_constant || state.is_some());
        let k0 = if state == Some(State::Stick) { f.static_constant } else { f.load.constant };
        if f.is_signed() && affine {
            push(On::Tangent(j), times(&f.load.coef, sign), -sign * k0, false);
        }
        match state {
            Some(State::Off) => push(On::Tangent(j), unit(i), 0.0, true),
            Some(State::Stick) | None => {
                // x + lo ν + lo0 ≥ 0 and hi ν + hi0 − x ≥ 0; undecided: the wider of the two laws (ν ≥ 0)
                let wide = |s: f64, d: f64| if state.is_some() { s } else { s.max(d) };
                for (own, m, m0) in [
                    (1.0, wide(f.stick.lo, f.slide.lo), wide(f.stick.lo0, f.slide.lo0)),
                    (-1.0, wide(f.stick.hi, f.slide.hi), wide(f.stick.hi0, f.slide.hi0)),
                ] {
                    if affine {
                        let mut a = times(&f.load.coef, m * factor);
                        a[i] += own;
                        bound_of.set(Some(j));
                        push(On::Tangent(j), a, -(m * factor * k0 + m0), false);
                        bound_of.set(None);
                    }
                }
                if state.is_some() {
                    push(On::Acceleration, p.h.row(i).to_vec(), -p.c[i], true);
                }
            }
            Some(slide) => {
                let s = if slide == State::Plus { 1.0 } else { -1.0 };
                if f.start == Start::Zero {
                    push(On::Acceleration, times(p.h.row(i), s), -s * p.c[i], false);
                }
                if affine || factor == 0.0 {
                    let (m, constant, _) = slide_equation(p, pattern, j);
                    let mut a = times(&f.load.coef, -m);
                    a[i] += 1.0;
                    push(On::Tangent(j), a, constant, true);
                }
            }
        }
    }
}

/// Whether x̂ satisfies the equations and inequalities of a complete pattern.
pub(crate) fn satisfies(p: &Problem, pattern: &Pattern, x: &[f64]) -> bool {
    let mut y = Vec::new();
    if !is_feasible(p, pattern, x, &mut y) {
        return false;
    }
    let tol = 1e-7 * p.size(x, &y);
    let mut list = Vec::new();
    conditions(p, pattern, true, &mut list);
    list.iter().filter(|c| c.equal).all(|c| (dot(&c.a, x) - c.b).abs() <= tol)
}

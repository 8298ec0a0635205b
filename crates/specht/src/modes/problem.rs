//! The complementarity problem behind transitions and impacts, in scaled variables.
//!
//! ```text
//! y = H x + c        normals i:    0 ≤ x_i ⊥ y_i ≥ 0
//!                    tangents j:   −(l ν + l₀) ≤ x_j ≤ u ν + u₀,   inside: y_j = 0,  lower bound: y_j ≥ 0,  upper: y_j ≤ 0
//! ν = k·x + k₀ + Σ f p (unilateral), |k·x + k₀| (bilateral), max(0, ·) (given);   p = norm of a pin, affine pair
//! ```
//!
//! A tangent may use other bounds while it sticks than while it slides (static and sliding friction), and may be known
//! to slide. Scaling: x̂ = d x, ŷ = y/d with d² = w M⁻¹ wᵀ, so that both have the unit √J/s (or √J) and H has diagonal
//! at most 1. The load of a tangent has the unit of its force: ν̂ = d ν with the d of the tangent. All tolerances are relative to
//! the largest of |ĉ|, |x̂|, |ŷ|.

use super::{Reduced, Start};
use crate::linalg::{Mat, dot};
use crate::system::{ContactInfo, Eval, Normal};

/// Which rows take part and where they stand in x.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub bilateral: Vec<usize>,
    /// Rows of x: normals first, then tangents.
    pub rows: Vec<usize>,
    /// Contact of each normal of x.
    pub normals: Vec<usize>,
    /// Contact of each tangent of x.
    pub tangents: Vec<usize>,
}

impl Layout {
    pub(crate) fn fill(&mut self, info: &[ContactInfo], closed: impl Fn(usize) -> bool) {
        self.bilateral.clear();
        self.rows.clear();
        self.normals.clear();
        self.tangents.clear();
        for (i, c) in info.iter().enumerate() {
            match c.normal {
                Normal::Unilateral { row } if closed(i) => {
                    self.normals.push(i);
                    self.rows.push(row);
                }
                _ if c.is_bilateral() => self.bilateral.extend(c.normal_rows()),
                _ => {}
            }
        }
        for (i, c) in info.iter().enumerate() {
            if (c.is_bilateral() || closed(i)) && c.friction && c.tangent.len() == 1 {
                self.tangents.push(i);
                self.rows.push(c.tangent[0]);
            }
        }
    }
}

/// `k·x + k₀`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affine {
    pub coef: Vec<f64>,
    pub constant: f64,
}

impl Affine {
    pub(crate) fn at(&self, x: &[f64]) -> f64 {
        dot(&self.coef, x) + self.constant
    }
}

/// How ν follows from its affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nonnegative by itself: constant, or the norm of a pin.
    Plain,
    /// The unilateral normal at this place of x.
    Normal(usize),
    /// Absolute value; the sign is part of the pattern.
    Absolute,
    /// Positive part; the sign is part of the pattern.
    Positive,
}

/// Bounds `−(lo ν + lo0) ≤ x ≤ hi ν + hi0`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    pub lo: f64,
    pub lo0: f64,
    pub hi: f64,
    pub hi0: f64,
}

impl Bounds {
    const NONE: Bounds = Bounds { lo: 0.0, lo0: 0.0, hi: 0.0, hi0: 0.0 };

    pub(crate) fn symmetric(mu: f64) -> Self {
        Bounds { lo: mu, lo0: 0.0, hi: mu, hi0: 0.0 }
    }
}

/// One tangent.
#[derive(Clone, Debug)]
pub(crate) struct Friction {
    pub kind: Kind,
    /// ν̂ without pins, sliding value of the constant.
    pub load: Affine,
    /// Constant of ν at stick.
    pub static_constant: f64,
    /// Pins in ν̂: index and factor.
    pub pins: Vec<(usize, f64)>,
    pub stick: Bounds,
    pub slide: Bounds,
    pub start: Start,
}

impl Friction {
    /// Whether no tangential force can act, at stick or slip: no coefficient, or a load that is zero whatever the forces are.
    pub(crate) fn is_smooth(&self) -> bool {
        let free = self.load.coef.iter().all(|c| *c == 0.0) && self.pins.is_empty();
        let none = |b: &Bounds, load: f64| {
            *b == Bounds::NONE || (free && load == 0.0 && b.lo0 == 0.0 && b.hi0 == 0.0)
        };
        none(&self.stick, self.static_constant) && none(&self.slide, self.load.constant)
    }

    /// Bounds vanish with the normal force.
    pub(crate) fn follows_normal(&self) -> Option<usize> {
        match self.kind {
            Kind::Normal(i)
                if self.slide.lo0 == 0.0 && self.slide.hi0 == 0.0 && self.load.constant == 0.0 =>
            {
                Some(i)
            }
            _ => None,
        }
    }

    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.kind, Kind::Absolute | Kind::Positive)
    }
}

/// The problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    pub h: Mat,
    pub c: Vec<f64>,
    /// d.
    pub scale: Vec<f64>,
    /// Number of normals; tangents follow.
    pub normals: usize,
    pub friction: Vec<Friction>,
    /// The two components of each pin force that a load refers to.
    pub pins: Vec<[Affine; 2]>,
    /// Contact of each entry of `pins`.
    pub pin_contact: Vec<usize>,
}

impl Problem {
    pub(crate) fn dim(&self) -> usize {
        self.c.len()
    }

    /// Scale H and c of the reduced problem and set up ν of every tangent. `loads` says whether given loads count (they
    /// do not in an impact). Bounds and starts are left to the caller.
    pub(crate) fn assemble(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        layout: &Layout,
        red: &Reduced,
        loads: bool,
    ) {
        let r = layout.rows.len();
        self.normals = layout.normals.len();
        self.scale.clear();
        self.scale.extend(red.mobility.iter().map(|m| m.sqrt()));
        self.h.reshape(r, r);
        self.c.clear();
        for i in 0..r {
            for j in 0..r {
                self.h[(i, j)] = red.h[(i, j)] / (self.scale[i] * self.scale[j]);
            }
            self.c.push(red.c[i] / self.scale[i]);
        }
        self.pins.clear();
        self.pin_contact.clear();
        self.friction.clear();
        for (j, &contact) in layout.tangents.iter().enumerate() {
            let mut f = Friction {
                kind: Kind::Plain,
                load: Affine { coef: vec![0.0; r], constant: 0.0 },
                static_constant: 0.0,
                pins: Vec::new(),
                stick: Bounds::default(),
                slide: Bounds::default(),
                start: Start::Zero,
            };
            self.fill_load(info, eval, layout, red, contact, loads, self.scale[self.normals + j], &mut f);
            self.friction.push(f);
        }
    }

    fn fill_load(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        layout: &Layout,
        red: &Reduced,
        contact: usize,
        loads: bool,
        d: f64,
        f: &mut Friction,
    ) {
        if loads {
            f.load.constant = d * eval.bound_given(contact, false);
            f.static_constant = d * eval.bound_given(contact, true);
        }
        for (j, c) in eval.bound_terms(info, contact).map(|(j, c)| (j, d * c)) {
            match info[j].normal {
                Normal::Unilateral { .. } => {
                    if let Some(p) = layout.normals.iter().position(|&k| k == j) {
                        f.load.coef[p] += c / self.scale[p];
                        if j == contact {
                            f.kind = Kind::Normal(p);
                        }
                    }
                }
                Normal::Bilateral { row } => {
                    let a = self.bilateral_row(layout, red, row);
                    for (x, y) in f.load.coef.iter_mut().zip(&a.coef) {
                        *x += c * y;
                    }
                    f.load.constant += c * a.constant;
                    f.static_constant += c * a.constant;
                    if j == contact {
                        f.kind = Kind::Absolute;
                    }
                }
                Normal::Pin { rows } => {
                    let k = self.pin_contact.iter().position(|&p| p == j).unwrap_or_else(|| {
                        self.pin_contact.push(j);
                        let pair = rows.map(|row| self.bilateral_row(layout, red, row));
                        self.pins.push(pair);
                        self.pins.len() - 1
                    });
                    f.pins.push((k, c));
                }
                // a ball joint bounds no friction
                Normal::Ball { .. } | Normal::Given { .. } => {}
            }
        }
        let depends = f.load.coef.iter().any(|&c| c != 0.0) || !f.pins.is_empty();
        if info[contact].is_given() {
            if depends {
                f.kind = Kind::Positive;
            } else {
                f.load.constant = f.load.constant.max(0.0);
                f.static_constant = f.static_constant.max(0.0);
            }
        }
    }

    /// λ of a bilateral row as a function of x̂.
    pub(crate) fn bilateral_row(&self, layout: &Layout, red: &Reduced, row: usize) -> Affine {
        let k = layout.bilateral.iter().position(|&b| b == row).unwrap_or(0);
        Affine {
            coef: (0..layout.rows.len()).map(|i| red.s[(k, i)] / self.scale[i]).collect(),
            constant: red.s0[k],
        }
    }

    /// Leaning tangents (friction tensors): y of a tangent becomes its plain velocity, w_T = ŵ_T − s w_N, while x keeps acting along the
    /// leaning row. Needed where ġ_N is not zero at the end of the phase; H is not symmetric afterwards.
    pub(crate) fn straighten(&mut self, eval: &Eval, layout: &Layout) {
        for (j, contact) in layout.tangents.iter().enumerate() {
            let s = eval.lean.get(*contact).copied().unwrap_or(0.0);
            let Some(n) = layout.normals.iter().position(|i| i == contact) else { continue };
            if s == 0.0 {
                continue;
            }
            let t = self.normals + j;
            let share = s * self.scale[n] / self.scale[t];
            for k in 0..self.dim() {
                let h = self.h[(n, k)];
                self.h[(t, k)] -= share * h;
            }
            self.c[t] -= share * self.c[n];
        }
    }

    /// Give tangent `j` its bounds: multiples of ν, and constants of x̂.
    pub(crate) fn set_bounds(&mut self, j: usize, stick: Bounds, slide: Bounds, start: Start) {
        let f = &mut self.friction[j];
        f.stick = stick;
        f.slide = slide;
        f.start = start;
        // without friction there is nothing to decide: the force is that of a slip in any direction, zero
        if start == Start::Zero && f.is_smooth() {
            f.start = Start::Plus;
        }
    }

    /// ŷ at x̂.
    pub(crate) fn y(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.extend((0..self.c.len()).map(|i| dot(self.h.row(i), x) + self.c[i]));
    }

    /// Norm of pin `k` at x̂.
    pub(crate) fn pin_norm(&self, k: usize, x: &[f64]) -> f64 {
        self.pins[k][0].at(x).hypot(self.pins[k][1].at(x))
    }

    /// ν̂ of tangent `j` at x̂, with the constant of stick or of sliding.
    pub(crate) fn nu(&self, j: usize, x: &[f64], at_stick: bool) -> f64 {
        let f = &self.friction[j];
        let mut v = dot(&f.load.coef, x) + if at_stick { f.static_constant } else { f.load.constant };
        for &(k, c) in &f.pins {
            v += c * self.pin_norm(k, x);
        }
        match f.kind {
            Kind::Absolute => v.abs(),
            Kind::Positive => v.max(0.0),
            _ => v,
        }
    }

    /// The largest of |ĉ|, |x̂|, |ŷ|, where the motion of what is known to slide, or rubs without friction, decides nothing: it counts
    /// a millionth, for its rounding.
    pub(crate) fn size(&self, x: &[f64], y: &[f64]) -> f64 {
        crate::linalg::max_abs(x).max(self.deciding(y)).max(self.reach())
    }

    /// The same of |ĉ| alone.
    pub(crate) fn reach(&self) -> f64 {
        self.deciding(&self.c).max(1e-300)
    }

    fn deciding(&self, y: &[f64]) -> f64 {
        let decides = |i: usize| i < self.normals || self.friction[i - self.normals].start == Start::Zero;
        let weight = |i: usize| if decides(i) { 1.0 } else { 1e-6 };
        y.iter().enumerate().fold(0.0, |m: f64, (i, v)| m.max(weight(i) * v.abs()))
    }

    /// Size of the forces that the loads ask for: rows are scaled so that H has a unit diagonal.
    pub(crate) fn natural_size(&self) -> f64 {
        let loads = self.friction.iter().flat_map(|f| [f.load.constant, f.static_constant]);
        let pins = self.friction.iter().flat_map(|f| &f.pins);
        let pins = pins.flat_map(|&(k, c)| self.pins[k].iter().map(move |a| c * a.constant));
        loads.chain(pins).chain(self.c.iter().copied()).fold(0.0, |m: f64, v| m.max(v.abs()))
    }

    /// Largest violation of the laws at x̂, relative to [`Problem::size`]: the certificate of an answer. A tangent that
    /// is known to slide must have the force of its direction; one at zero slip may stick within the static bounds or
    /// slide with the sliding ones.
    pub(crate) fn residual(&self, x: &[f64]) -> f64 {
        let mut y = Vec::new();
        self.y(x, &mut y);
        let size = self.size(x, &y);
        let mut worst = 0.0_f64;
        for i in 0..self.normals {
            worst = worst.max(x[i].min(y[i]).abs());
        }
        for j in 0..self.friction.len() {
            let (f, i) = (&self.friction[j], self.normals + j);
            let nu = self.nu(j, x, false);
            let (lower, upper) = (-(f.slide.lo * nu + f.slide.lo0), f.slide.hi * nu + f.slide.hi0);
            let plus = (x[i] - lower).abs();
            let minus = (x[i] - upper).abs();
            let v = match f.start {
                Start::Plus => plus,
                Start::Minus => minus,
                _ => {
                    let nu = self.nu(j, x, true);
                    let (l, u) = (-(f.stick.lo * nu + f.stick.lo0), f.stick.hi * nu + f.stick.hi0);
                    let stick = (l - x[i]).max(x[i] - u).max(0.0).max(y[i].abs());
                    stick.min(plus.max(-y[i])).min(minus.max(y[i]))
                }
            };
            worst = worst.max(v);
        }
        for x in x {
            if !x.is_finite() {
                return f64::INFINITY;
            }
        }
        worst / size
    }
}

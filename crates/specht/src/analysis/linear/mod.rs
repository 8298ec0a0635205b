//! A system linearised about a motion, with the mode of every contact held
//!
//! ```text
//! r = h + Wᵀ λ − M u̇ = 0        unknown: u̇ and λ of the held rows J (normal rows of closed contacts, tangents of sticking ones)
//! W_J u̇ + w̄_J = 0
//! λ_T = −μ N d                   sliding in the direction d; N = n₀ + Σ c_j |λ_Nj|
//! ```
//!
//! The derivatives of r, of the gaps, of their rates and of ż by time, positions, velocities, states and parameters are exact
//! ([`System::tangent`]); that of the direction of slip in two dimensions is `(I − d dᵀ) δγ/|γ|`. The friction makes the columns
//! of λ_N differ from the rows of W: left and right null space differ, which is where flutter comes from (METH-SLIPSTAB-OP).
//!
//! [`Linear::reduced`] gives the matrix of the motions that the held rows allow, positions in an M-orthonormal basis. Holding a row of stick holds its
//! displacement too. What moves nothing (cyclic coordinates) is left out of the matrix on request.

mod reduced;
pub(crate) mod spectrum;

pub(crate) use reduced::Reduced;

use super::AnalysisError;
use crate::linalg::{FullPivot, Mat, max_abs};
use crate::sim::StartError;
use crate::system::{Along, ContactInfo, Dims, Discrete, Eval, Mode, State, System, Tangent};

/// What a contact is held to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hold {
    /// No force.
    Open,
    /// Closed, free to slide, without friction.
    Smooth,
    /// Closed and sticking.
    Stick,
    /// Closed and sliding with friction, in this direction of its tangents.
    Slide([f64; 2]),
}

/// A direction in which the equations are differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A displacement, by the number of its velocity.
    Position(usize),
    /// A velocity.
    Velocity(usize),
    /// A first-order state.
    State(usize),
    /// A live parameter.
    Parameter(usize),
    /// Time.
    Time,
}

/// Rates of the equations along one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// Of r, at fixed u̇ and λ of the held rows.
    pub force: Vec<f64>,
    /// Of the gap of every row.
    pub gap: Vec<f64>,
    /// Of the rate of every row.
    pub rate: Vec<f64>,
    /// Of W u̇ + w̄ of every row.
    pub accel: Vec<f64>,
    /// Of ż.
    pub state: Vec<f64>,
}

/// The system at a motion.
pub(crate) struct Linear<'a, S: System + ?Sized> {
    pub sys: &'a S,
    pub info: &'a [ContactInfo],
    pub dims: Dims,
    pub state: State,
    pub discrete: Discrete,
    pub eval: Eval,
    /// What every contact does.
    pub hold: Vec<Hold>,
    /// Rows whose forces are unknown.
    pub held: Vec<usize>,
    /// Force of every row, friction included.
    pub lambda: Vec<f64>,
    /// Accelerations.
    pub accel: Vec<f64>,
    /// Friction does not change with the velocities.
    pub flat: bool,
    /// 1/ω of the highest frequency, once it has been asked for.
    pub span: Option<f64>,
    memory: Memory,
}

/// What a linearisation needs beside its state; the next one of the same system may have it.
pub(crate) struct Memory {
    eval: Eval,
    tangent: Tangent,
    direction: [Vec<f64>; 4],
}

impl Memory {
    pub(crate) fn new<S: System + ?Sized>(sys: &S) -> Self {
        let Dims { q, u, z, .. } = sys.dims();
        let direction = [vec![0.0; q], vec![0.0; u], vec![0.0; z], Vec::new()];
        Memory { eval: sys.memory(), tangent: Tangent::new(sys), direction }
    }
}

impl<'a, S: System + ?Sized> Linear<'a, S> {
    /// At this state; all contacts open.
    pub(crate) fn new(sys: &'a S, state: State) -> Self {
        Linear::within(sys, state, Memory::new(sys))
    }

    /// The same in the memory of another one.
    pub(crate) fn within(sys: &'a S, state: State, mut memory: Memory) -> Self {
        let dims = sys.dims();
        Linear {
            sys,
            info: sys.contacts(),
            dims,
            state,
            discrete: Discrete::new(&dims),
            eval: std::mem::take(&mut memory.eval),
            hold: vec![Hold::Open; dims.contacts],
            held: Vec::new(),
            lambda: vec![0.0; dims.rows],
            accel: vec![0.0; dims.u],
            flat: false,
            span: None,
            memory,
        }
    }

    /// Its memory, for the next one.
    pub(crate) fn into_memory(mut self) -> Memory {
        self.memory.eval = self.eval;
        self.memory
    }

    /// Hold every contact so, and evaluate.
    pub(crate) fn hold(&mut self, hold: &[Hold]) {
        self.hold.copy_from_slice(hold);
        self.held.clear();
        for (c, hold) in self.info.iter().zip(hold) {
            if *hold != Hold::Open {
                self.held.extend(c.normal_rows());
            }
            if *hold == Hold::Stick {
                self.held.extend(&c.tangent);
            }
        }
        for (i, hold) in hold.iter().enumerate() {
            self.discrete.modes[i] = match hold {
                Hold::Open => Mode::Open,
                Hold::Smooth => Mode::Closed,
                Hold::Stick => Mode::Stick,
                Hold::Slide(d) if d[0] < 0.0 => Mode::SlipMinus,
                Hold::Slide(_) => Mode::SlipPlus,
            };
        }
        self.evaluate();
    }

    /// Evaluate at the present state, with switches set by their values.
    pub(crate) fn evaluate(&mut self) {
        self.sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        if self.dims.latches > 0 {
            self.sys.latch(&self.state, &mut self.discrete, &mut self.eval, false);
            self.sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        }
    }

    /// N of contact `i`, and the sign with which its terms count.
    pub(crate) fn normal(&self, i: usize) -> (f64, f64) {
        let n = self.eval.bound_force(self.info, i, false, 1.0, &self.lambda);
        match self.info[i].is_bilateral() {
            true => (n.abs(), if n < 0.0 { -1.0 } else { 1.0 }),
            false => (n.max(0.0), if n > 0.0 || !self.info[i].is_given() { 1.0 } else { 0.0 }),
        }
    }

    /// Friction forces of the sliding contacts from the forces of the held rows.
    fn rub(&mut self) {
        for i in 0..self.info.len() {
            let force = match self.hold[i] {
                Hold::Slide(d) => {
                    let bound = self.eval.mu[i] * self.normal(i).0;
                    d.map(|d| -bound * d)
                }
                Hold::Open | Hold::Smooth => [0.0; 2],
                Hold::Stick => continue,
            };
            for (&row, f) in self.info[i].tangent.iter().zip(force) {
                self.lambda[row] = f;
            }
        }
    }

    /// ∂r/∂λ of every held row, as columns: its row of W, and the friction that its force brings along.
    pub(crate) fn columns(&self) -> Mat {
        let mut out = Mat::zeros(self.dims.u, self.held.len());
        let place = |row: usize| self.held.iter().position(|&r| r == row);
        for (j, &row) in self.held.iter().enumerate() {
            for (k, w) in self.eval.w.row(row).iter() {
                out[(k, j)] += w;
            }
        }
        for i in 0..self.info.len() {
            let Hold::Slide(d) = self.hold[i] else { continue };
            let (mu, sign) = (self.eval.mu[i], self.normal(i).1);
            for (j, c) in self.eval.bound_terms(self.info, i) {
                let rows = self.info[j].normal_rows();
                let own = self.info[j].normal_force(&self.lambda);
                for &row in rows {
                    // a pin: the derivative of the norm
                    let part = match rows {
                        [_] => 1.0,
                        _ if own > 0.0 => self.lambda[row] / own,
                        _ => 0.0,
                    };
                    let Some(at) = place(row) else { continue };
                    for (&tangent, d) in self.info[i].tangent.iter().zip(d) {
                        for (k, w) in self.eval.w.row(tangent).iter() {
                            out[(k, at)] -= mu * sign * c * part * d * w;
                        }
                    }
                }
            }
        }
        out
    }

    /// r at the present forces and accelerations.
    pub(crate) fn residual(&mut self) -> Vec<f64> {
        self.rub();
        let mut r = vec![0.0; self.dims.u];
        self.eval.mass.mul_vec(&self.accel, &mut r);
        for (r, h) in r.iter_mut().zip(&self.eval.h) {
            *r = h - *r;
        }
        self.eval.w.add_mul_transpose(&self.lambda, &mut r);
        r
    }

    /// Accelerations and forces of the present state.
    ///
    /// # Errors
    ///
    /// A mass matrix that is singular on free motions, or sliding that admits no force (a paradox).
    pub(crate) fn solve(&mut self) -> Result<(), AnalysisError> {
        let (n, m) = (self.dims.u, self.held.len());
        let mut pivot = FullPivot::default();
        // linear unless pins rub or a load changes sign
        for _ in 0..20 {
            pivot.factor(&self.saddle());
            let r = self.residual();
            let gaps = self.held.iter().map(|&row| -self.eval.accel(row, &self.accel));
            let rhs: Vec<f64> = r.iter().copied().chain(gaps).collect();
            let mut step = vec![0.0; n + m];
            if pivot.solve(&rhs, &[], &mut step) > 1e-8 {
                return Err(AnalysisError::SingularMass);
            }
            for (a, s) in self.accel.iter_mut().zip(&step) {
                *a += s;
            }
            for (&row, s) in self.held.iter().zip(&step[n..]) {
                self.lambda[row] += s;
            }
            self.rub();
            let size = max_abs(&self.lambda).max(f64::MIN_POSITIVE);
            if max_abs(&step[n..]) <= 1e-13 * size {
                break;
            }
        }
        Ok(())
    }

    /// `[M −B; W 0]` over the held rows.
    pub(crate) fn saddle(&self) -> Mat {
        let (n, m) = (self.dims.u, self.held.len());
        let mut a = Mat::zeros(n + m, n + m);
        let columns = self.columns();
        for i in 0..n {
            for (j, x) in self.eval.mass.lower_row(i).iter() {
                a[(i, j)] = x;
                a[(j, i)] = x;
            }
            for j in 0..m {
                a[(i, n + j)] = -columns[(i, j)];
            }
        }
        for (j, &row) in self.held.iter().enumerate() {
            for (k, w) in self.eval.w.row(row).iter() {
                a[(n + j, k)] = w;
            }
        }
        a
    }

    /// Rates along a direction.
    ///
    /// # Errors
    ///
    /// The system has no derivatives.
    pub(crate) fn column(&mut self, way: Way, out: &mut Column) -> Result<(), AnalysisError> {
        let Memory { tangent, direction: [q, u, z, parameters], .. } = &mut self.memory;
        let mut along = Along { t: f64::from(u8::from(way == Way::Time)), ..Along::default() };
        match way {
            Way::Position(k) => {
                u[k] = 1.0;
                std::mem::swap(u, &mut self.state.u);
                self.sys.q_rate(&self.state, q);
                std::mem::swap(u, &mut self.state.u);
                along.q = q;
            }
            Way::Velocity(k) => {
                u[k] = 1.0;
                along.u = u;
            }
            Way::State(k) => {
                z[k] = 1.0;
                along.z = z;
            }
            Way::Parameter(k) => {
                parameters.resize((k + 1).max(parameters.len()), 0.0);
                parameters[k] = 1.0;
                along.parameters = parameters;
            }
            Way::Time => {}
        }
        let known = self.sys.tangent(&self.state, &self.discrete, &self.eval, &along, tangent);
        match way {
            Way::Position(k) | Way::Velocity(k) => u[k] = 0.0,
            Way::State(k) => z[k] = 0.0,
            Way::Parameter(k) => parameters[k] = 0.0,
            Way::Time => {}
        }
        if !known {
            return Err(StartError::NoDerivatives.into());
        }
        self.collect(if let Way::Velocity(k) = way { Some(k) } else { None }, out);
        Ok(())
    }

    /// Rates of the bounds μN of all contacts at rest, when the machine moves with `v`, time with `time`, and the forces of the rows change with
    /// `lambda`.
    ///
    /// # Errors
    ///
    /// The system has no derivatives.
    pub(crate) fn bound_rates(
        &mut self,
        v: &[f64],
        time: f64,
        lambda: &[f64],
    ) -> Result<Vec<f64>, AnalysisError> {
        let mut q = vec![0.0; self.dims.q];
        let speed = std::mem::replace(&mut self.state.u, v.to_vec());
        self.sys.q_rate(&self.state, &mut q);
        self.state.u = speed;
        let along = Along { t: time, q: &q, ..Along::default() };
        if !self.sys.tangent(&self.state, &self.discrete, &self.eval, &along, &mut self.memory.tangent) {
            return Err(StartError::NoDerivatives.into());
        }
        let (info, rate) = (self.info, &self.memory.tangent.rate);
        let one = |i: usize| {
            if self.hold[i] == Hold::Open || !info[i].friction {
                return 0.0;
            }
            let (n, sign) = self.normal(i);
            let mut moved = rate.load[i];
            for (k, &j) in info[i].load_on.iter().enumerate() {
                moved += rate.load_terms[info[i].load_at + k] * info[j].normal_force(&self.lambda);
            }
            for (j, c) in self.eval.bound_terms(info, i) {
                let (rows, own) = (info[j].normal_rows(), info[j].normal_force(&self.lambda));
                moved += match rows {
                    [row] => c * lambda[*row],
                    _ if own > 0.0 => c * rows.iter().map(|&r| self.lambda[r] * lambda[r]).sum::<f64>() / own,
                    _ => 0.0,
                };
            }
            rate.mu[i] * n + self.eval.mu[i] * sign * moved
        };
        Ok((0..info.len()).map(one).collect())
    }

    /// The rates of the equations from those of the evaluation; `velocity`: the one that grows.
    fn collect(&self, velocity: Option<usize>, out: &mut Column) {
        let rate = &self.memory.tangent.rate;
        out.force.resize(self.dims.u, 0.0);
        rate.mass.mul_vec(&self.accel, &mut out.force);
        for (f, h) in out.force.iter_mut().zip(&rate.h) {
            *f = h - *f;
        }
        rate.w.add_mul_transpose(&self.lambda, &mut out.force);
        out.gap.clone_from(&rate.gap);
        out.state.clone_from(&rate.z_rate);
        out.rate.clear();
        out.accel.clear();
        for row in 0..self.dims.rows {
            let own = velocity.map_or(0.0, |k| self.eval.w[(row, k)]);
            out.rate.push(own + rate.w.row(row).dot(&self.state.u) + rate.rate_offset[row]);
            out.accel.push(rate.w.row(row).dot(&self.accel) + rate.accel_offset[row]);
        }
        for i in 0..self.info.len() {
            let Hold::Slide(d) = self.hold[i] else { continue };
            let (n, sign) = self.normal(i);
            let load_at = self.info[i].load_at;
            let mut moved = rate.load[i];
            for (k, &j) in self.info[i].load_on.iter().enumerate() {
                moved += rate.load_terms[load_at + k] * self.info[j].normal_force(&self.lambda);
            }
            let level = self.flat && velocity.is_some();
            let bound = if level { 0.0 } else { rate.mu[i] * n + self.eval.mu[i] * sign * moved };
            let turned = self.turned(i, d, &out.rate);
            for ((&row, d), turned) in self.info[i].tangent.iter().zip(d).zip(turned) {
                let force = -bound * d - self.eval.mu[i] * n * turned;
                self.eval.w.row(row).add_to(force, &mut out.force);
            }
        }
    }

    /// How the direction of slip turns with the rates of the rows.
    fn turned(&self, i: usize, d: [f64; 2], rates: &[f64]) -> [f64; 2] {
        let [a, b] = self.info[i].tangent[..] else { return [0.0; 2] };
        let speed = self.eval.rate(a, &self.state.u).hypot(self.eval.rate(b, &self.state.u));
        if !(speed > 0.0) {
            return [0.0; 2];
        }
        let along = d[0] * rates[a] + d[1] * rates[b];
        [(rates[a] - along * d[0]) / speed, (rates[b] - along * d[1]) / speed]
    }

    /// The slip of contact `i`.
    pub(crate) fn slip(&self, i: usize) -> [f64; 2] {
        let mut slip = [0.0; 2];
        for (s, &row) in slip.iter_mut().zip(&self.info[i].tangent) {
            *s = self.eval.rate(row, &self.state.u);
        }
        slip
    }

    /// The direction in which contact `i` slides; `None` at rest.
    pub(crate) fn direction(&self, i: usize) -> Option<[f64; 2]> {
        let slip = self.slip(i);
        let size = slip[0].hypot(slip[1]);
        let terms = |&row: &usize| {
            let moving = self.eval.w.row(row).terms(&self.state.u);
            moving.max(self.eval.rate_offset[row].abs())
        };
        let scale = self.info[i].tangent.iter().map(terms).fold(0.0, f64::max);
        (size > 1e-10 * scale).then(|| slip.map(|s| s / size))
    }

    /// What every contact does by the numbers of the present state: open, sticking at zero slip, sliding.
    pub(crate) fn present(&mut self) -> Vec<Hold> {
        self.discrete.modes.fill(Mode::Closed);
        self.evaluate();
        let closed = |i: usize| {
            let c = &self.info[i];
            match c.normal {
                crate::system::Normal::Unilateral { row } => {
                    self.eval.gap[row] <= crate::sim::tolerances::GAP_ZERO * self.sys.gap_scale(row)
                }
                crate::system::Normal::Given { row: Some(row) } => {
                    self.eval.load[i] > 0.0 || self.eval.gap[row] < 0.0
                }
                _ => true,
            }
        };
        (0..self.info.len())
            .map(|i| match closed(i) {
                false => Hold::Open,
                true if !self.info[i].friction || self.info[i].tangent.is_empty() => Hold::Smooth,
                true => self.direction(i).map_or(Hold::Stick, Hold::Slide),
            })
            .collect()
    }
}

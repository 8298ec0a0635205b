//! Rates of the forces with frozen modes: the linear equations of [`super`], differentiated (METH-SALT-GEN).
//!
//! ```text
//! M δv = δh − δM v + Σ δw_rᵀ λ_r + Σ w_Tiᵀ [f_i (δμ_i N_i + μ_i (δn_i + Σ δc_ij N_j)) + δf_i μ_i N_i] + (W_Cᵀ + N_G) δλ_C + Σ n_k δp_k
//! W_C δv = −(δW_C v + δw̄_C),      p_k δp_k = λ_1 δλ_1 + λ_2 δλ_2          f_i: ∓1, the side of the friction; in a tangent plane a vector
//! ```
//!
//! The rate δf of a direction in a tangent plane is given ([`Fixed::turns`]): it follows from the slip, or from the problem in which slip begins.
//!
//! The matrix is that of the forces, so its factors are used again: one solution of a triangular system per direction. Where A is
//! singular, δλ is the smallest in the sense in which λ was chosen; δv does not depend on it for dependent constraints.

use super::{Fixed, Method, orientation, rubs};
use crate::contact::{Forces, Small};
use crate::linalg::{axpy, dot};
use crate::system::{ContactInfo, Eval, Mode};

impl Fixed {
    /// Rates of accelerations and forces in `out`, at the solution `forces` that was solved last, from the rates `rate` of `eval`.
    pub(crate) fn tangent(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        signs: &[f64],
        forces: &Forces,
        rate: &Eval,
        out: &mut Forces,
    ) {
        out.reset(eval.mass.size(), eval.w.rows(), info.len());
        let mut load = std::mem::take(&mut self.v0);
        let mut shift = std::mem::take(&mut self.shift);
        let lambda = std::mem::take(&mut self.lambda);

        // what does not come from the changes of the forces themselves
        shift.clear();
        shift.extend((0..eval.w.rows()).map(|r| rate.w.row(r).dot(&forces.accel) + rate.accel_offset[r]));
        self.t.clear();
        self.t.resize(eval.mass.size(), 0.0);
        rate.mass.mul_vec(&forces.accel, &mut self.t);
        load.clear();
        load.extend(rate.h.iter().zip(&self.t).map(|(h, m)| h - m));
        for (r, l) in forces.lambda.iter().enumerate().filter(|(_, l)| **l != 0.0) {
            rate.w.row(r).add_to(*l, &mut load);
        }
        for (i, c) in info.iter().enumerate().filter(|(i, c)| rubs(c, modes[*i])) {
            let (side, mu, slope) = self.friction_side(c, eval, rate, i, modes[i], signs[i]);
            let bound = own_rate(info, rate, i, modes[i] == Mode::Stick, &forces.lambda);
            let change = side * (slope * forces.normal[i] + mu * bound);
            for (k, &row) in c.tangent.iter().enumerate() {
                let (along, turn) = self.aims(c, modes[i], i, k);
                let change = change * along + side * mu * forces.normal[i] * turn;
                if change != 0.0 {
                    eval.w.row(row).add_to(change, &mut load);
                }
            }
        }
        self.follow_load(info, eval, forces, load, shift, lambda, out);
        self.report_rates(info, eval, modes, signs, forces, rate, out);
    }

    /// Rates of the accelerations when nothing but directions in tangent planes changes, by [`Fixed::turns`].
    pub(crate) fn tangent_of_turns(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        signs: &[f64],
        forces: &Forces,
        out: &mut Forces,
    ) {
        out.reset(eval.mass.size(), eval.w.rows(), info.len());
        let mut load = std::mem::take(&mut self.v0);
        let mut shift = std::mem::take(&mut self.shift);
        let lambda = std::mem::take(&mut self.lambda);
        shift.clear();
        shift.resize(eval.w.rows(), 0.0);
        load.clear();
        load.resize(eval.mass.size(), 0.0);
        for (i, c) in info.iter().enumerate().filter(|(i, _)| modes[*i] == Mode::Slip) {
            let force = -orientation(c, signs[i]) * eval.mu[i] * forces.normal[i];
            for (k, &row) in c.tangent.iter().enumerate() {
                eval.w.row(row).add_to(force * self.aims(c, modes[i], i, k).1, &mut load);
            }
        }
        self.follow_load(info, eval, forces, load, shift, lambda, out);
    }

    /// Accelerations and reactions that follow from a change `load` of the forces and `shift` of the offsets of the rows.
    fn follow_load(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        forces: &Forces,
        mut load: Vec<f64>,
        shift: Vec<f64>,
        lambda: Vec<f64>,
        out: &mut Forces,
    ) {
        self.mass.correct(&eval.w, &self.bilateral, &shift, &mut load);
        self.mass.forward(&mut load);

        // reactions, then norms of pins
        self.unit.clear();
        for (k, &r) in self.rows.iter().enumerate() {
            self.unit.push(-(dot(self.y.row(k), &load) + shift[r]));
        }
        self.react();
        self.pin_rates(info, forces);
        for (k, &r) in self.rows.iter().enumerate() {
            out.lambda[r] = self.unit[k];
            axpy(self.unit[k], self.z.row(k), &mut load);
        }
        for k in 0..self.pin_list.len() {
            axpy(self.pin_f[k], self.pin_v.row(k), &mut load);
        }
        self.mass.backward(&mut load);
        out.accel.copy_from_slice(&load);
        self.v0 = load;
        self.shift = shift;
        self.lambda = lambda;
    }

    // direction of the friction of contact `i` along its tangent `k`, and the rate of it
    fn aims(&self, c: &ContactInfo, mode: Mode, i: usize, k: usize) -> (f64, f64) {
        match mode == Mode::Slip && c.tangent.len() > 1 {
            true => (self.directions.get(i).map_or(0.0, |d| d[k]), self.turns.get(i).map_or(0.0, |d| d[k])),
            false if k == 0 => (1.0, 0.0),
            false => (0.0, 0.0),
        }
    }

    /// Take velocities `u` out of a small motion until the constrained rows have the rates zero, with the friction of the contacts that
    /// slide: the oblique projector of METH-SALT-STOP. `rates` are those of all rows before.
    pub(crate) fn project(&mut self, rates: &[f64], u: &mut [f64]) {
        self.unit.clear();
        self.unit.extend(self.rows.iter().map(|&r| -rates[r]));
        let lambda = std::mem::take(&mut self.lambda);
        self.react();
        self.lambda = lambda;
        self.t.clear();
        self.t.resize(u.len(), 0.0);
        for (k, s) in self.unit.iter().enumerate() {
            axpy(*s, self.z.row(k), &mut self.t);
        }
        self.mass.backward(&mut self.t);
        axpy(1.0, &self.t, u);
    }

    /// From now on contacts do this in the small, as it stands.
    pub(crate) fn load_small(&mut self, small: &[Small]) {
        self.done = None;
        self.small.clear();
        self.small.extend_from_slice(small);
    }

    /// Whether the constraints of the last solution depend on each other.
    pub(crate) fn is_dependent(&self) -> bool {
        self.method == Method::Rank && self.rank.nullity() > 0
    }

    /// The rows that are held: bilateral, closed normals, sticking tangents.
    pub(crate) fn held(&self) -> &[usize] {
        &self.rows
    }

    // A x = unit, in place
    fn react(&mut self) {
        match self.method {
            Method::Empty => {}
            Method::Cholesky => self.cholesky.solve(&mut self.unit),
            Method::Lu => self.lu.solve(&mut self.unit),
            Method::Rank => {
                let right = self.unit.clone();
                let dependent = self.rank.nullity() > 0;
                self.rank.solve(&right, &[], &mut self.unit);
                if dependent && !self.sliding.is_empty() {
                    self.near.clear();
                    self.lambda.clone_from(&self.unit);
                    self.incline();
                    self.unit.clone_from(&self.lambda);
                }
            }
        }
    }

    // δp in pin_f, and its part of δλ
    fn pin_rates(&mut self, info: &[ContactInfo], forces: &Forces) {
        let k = self.pin_list.len();
        if k == 0 {
            return;
        }
        self.pin_j.reshape(k, k);
        self.pin_f.clear();
        for i in 0..k {
            let rows = info[self.pin_list[i]].normal_rows();
            let norm = rows.iter().fold(0.0_f64, |n, &r| n.hypot(forces.lambda[r]));
            let along = |of: &dyn Fn(usize) -> f64| match norm > 0.0 {
                true => rows.iter().map(|&r| forces.lambda[r] * of(self.column[r])).sum::<f64>() / norm,
                false => 0.0,
            };
            let own = along(&|c| self.unit[c]);
            for j in 0..k {
                let one = if i == j { 1.0 } else { 0.0 };
                self.pin_j[(i, j)] = one - along(&|c| self.pin_l[(j, c)]);
            }
            self.pin_f.push(own);
        }
        let rates = self.unit.clone();
        self.lu_pins();
        self.unit.clone_from(&rates);
        for j in 0..k {
            axpy(self.pin_f[j], self.pin_l.row(j), &mut self.unit);
        }
    }

    // side, coefficient and its rate: λ_T = side μ N
    fn friction_side(
        &self,
        c: &ContactInfo,
        eval: &Eval,
        rate: &Eval,
        i: usize,
        mode: Mode,
        sign: f64,
    ) -> (f64, f64, f64) {
        let way = orientation(c, sign);
        match (mode == Mode::Stick, self.does(i)) {
            (true, Small::Slips { side }) => (way * side, eval.mu_static[i], rate.mu_static[i]),
            (true, _) => (0.0, 0.0, 0.0),
            (false, _) if mode == Mode::Slip => (-way, eval.mu[i], rate.mu[i]),
            (false, _) => (-way * mode.direction(), eval.mu[i], rate.mu[i]),
        }
    }

    fn report_rates(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        signs: &[f64],
        forces: &Forces,
        rate: &Eval,
        out: &mut Forces,
    ) {
        for i in 0..info.len() {
            let sticks = modes[i] == Mode::Stick;
            let own = own_rate(info, rate, i, sticks, &forces.lambda);
            let terms = eval.bound_terms(info, i);
            out.normal[i] =
                terms.fold(own, |n, (j, c)| n + c * norm_rate(&info[j], &forces.lambda, &out.lambda));
        }
        for (i, c) in info.iter().enumerate().filter(|(i, c)| rubs(c, modes[*i])) {
            let (side, mu, slope) = self.friction_side(c, eval, rate, i, modes[i], signs[i]);
            for (k, &row) in c.tangent.iter().enumerate().filter(|_| side != 0.0) {
                let (along, turn) = self.aims(c, modes[i], i, k);
                out.lambda[row] = side * (slope * forces.normal[i] + mu * out.normal[i]) * along
                    + side * mu * forces.normal[i] * turn;
            }
            out.tangential[i] = out.lambda[c.tangent[0]];
        }
    }
}

// rate of n₀ and of the coefficients c_j, at the forces `lambda`
fn own_rate(info: &[ContactInfo], rate: &Eval, i: usize, sticks: bool, lambda: &[f64]) -> f64 {
    let c = &info[i];
    let terms = c.load_on.iter().enumerate();
    terms.fold(rate.bound_given(i, sticks), |n, (k, &j)| {
        n + rate.load_terms[c.load_at + k] * info[j].normal_force(lambda)
    })
}

// rate of the normal force of a contact
fn norm_rate(c: &ContactInfo, lambda: &[f64], rate: &[f64]) -> f64 {
    match *c.normal_rows() {
        [a] => rate[a],
        ref rows => {
            let norm = rows.iter().fold(0.0_f64, |n, &r| n.hypot(lambda[r]));
            let along: f64 = rows.iter().map(|&r| lambda[r] * rate[r]).sum();
            if norm > 0.0 { along / norm } else { 0.0 }
        }
    }
}

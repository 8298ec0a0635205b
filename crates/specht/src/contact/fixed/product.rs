//! Forces and accelerations as one product, where nothing but the loads changes
//!
//! While M, W, the coefficients of friction and the modes stay, everything is linear in ℓ = (h, w̄ of the held rows):
//!
//! ```text
//! v = P ℓ,     λ_C = Q ℓ,     one column per unit load
//! ```
//!
//! The columns are made with the factors that are there, and meet the held rows as well as rounding allows ([`Fixed::hold`]); so does every product.
//! For few unknowns that is a fraction of the triangular systems and of the handling around them. Made when the same
//! factors are asked a second time: an instant asks many modes once.

use super::{Fixed, Method, friction_bound, rubs};
use crate::contact::Forces;
use crate::linalg::{Mat, Rows, axpy, dot};
use crate::system::{ContactInfo, Eval, Mode, Normal};

/// Up to this many loads the product is taken: then it fits, and a dense one wastes nothing.
const MOST: usize = 16;

/// The product, and what it is for.
#[derive(Clone, Debug, Default)]
pub(super) struct Product {
    ready: bool,
    /// Rows: accelerations, then held forces.
    map: Mat,
    loads: Vec<f64>,
    offset: Vec<f64>,
    /// Contacts that may carry, and those that rub.
    acting: Vec<usize>,
    rubbing: Vec<usize>,
}

impl Product {
    pub(super) fn forget(&mut self) {
        self.ready = false;
    }
}

impl Fixed {
    /// Whether there are few enough loads, and rows to hold: without any, the factors of M cost no more, and a machine that idles keeps the
    /// rounding that its steps are used to (a generator at rest took more than four times the steps its test allows).
    pub(super) fn is_small(&self, eval: &Eval) -> bool {
        !self.rows.is_empty() && eval.mass.size() + self.rows.len() <= MOST
    }

    /// Everything in `out` by the product; the factors are right.
    pub(super) fn multiply(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode], out: &mut Forces) {
        if !self.product.ready {
            self.make_product(info, eval, modes);
        }
        let n = eval.mass.size();
        let Product { map, loads, acting, rubbing, .. } = &mut self.product;
        loads.clear();
        loads.extend_from_slice(&eval.h);
        loads.extend(self.rows.iter().map(|&r| eval.accel_offset[r]));
        for (i, a) in out.accel.iter_mut().enumerate() {
            *a = dot(map.row(i), loads);
        }
        self.lambda.clear();
        self.lambda.extend((0..self.rows.len()).map(|k| dot(map.row(n + k), loads)));
        for (&r, &l) in self.rows.iter().zip(&self.lambda) {
            out.lambda[r] = l;
        }
        for &i in &*acting {
            out.normal[i] = match info[i].normal {
                Normal::Unilateral { row } | Normal::Bilateral { row } if info[i].load_on.is_empty() => {
                    out.lambda[row]
                }
                _ => eval.bound_force(info, i, modes[i] == Mode::Stick, 1.0, &out.lambda),
            };
        }
        for &(i, factor) in &self.sliding {
            out.lambda[info[i].tangent[0]] = factor * out.normal[i];
        }
        for &i in &*rubbing {
            out.tangential[i] = out.lambda[info[i].tangent[0]];
            out.bound[i] = friction_bound(&info[i], eval, i, modes[i], out.normal[i]);
        }
        if !self.rows.is_empty() {
            self.hold(&eval.w, &eval.accel_offset, &mut out.accel);
        }
    }

    fn make_product(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode]) {
        let (n, m) = (eval.mass.size(), self.rows.len());
        let mut product = std::mem::take(&mut self.product);
        product.map.reshape(n + m, n + m);
        product.offset.clear();
        product.offset.resize(eval.w.rows(), 0.0);
        for column in 0..n + m {
            let row = column.checked_sub(n).map(|k| self.rows[k]);
            self.v0.clear();
            self.v0.resize(n, 0.0);
            match row {
                Some(r) => product.offset[r] = 1.0,
                None => self.v0[column] = 1.0,
            }
            self.answer(&eval.w, &product.offset);
            product.loads.clone_from(&self.v0);
            self.hold(&eval.w, &product.offset, &mut product.loads);
            let rows = product.loads.iter().chain(&self.lambda).enumerate();
            rows.for_each(|(i, x)| product.map[(i, column)] = *x);
            if let Some(r) = row {
                product.offset[r] = 0.0;
            }
        }
        product.acting.clear();
        product.acting.extend((0..info.len()).filter(|&i| !info[i].is_unilateral() || modes[i].is_closed()));
        product.rubbing.clear();
        product.rubbing.extend((0..info.len()).filter(|&i| rubs(&info[i], modes[i])));
        product.ready = true;
        self.product = product;
    }

    /// Accelerations in `v0`, which holds h, and held forces in `lambda`, by the factors.
    fn answer(&mut self, w: &Rows, offset: &[f64]) {
        self.mass.correct(w, &self.bilateral, offset, &mut self.v0);
        self.mass.forward(&mut self.v0);
        self.lambda.clear();
        for (k, &r) in self.rows.iter().enumerate() {
            self.lambda.push(-(dot(self.y.row(k), &self.v0) + offset[r]));
        }
        match self.method {
            Method::Cholesky => self.cholesky.solve(&mut self.lambda),
            Method::Lu => self.lu.solve(&mut self.lambda),
            _ => {}
        }
        for (k, &l) in self.lambda.iter().enumerate() {
            axpy(l, self.z.row(k), &mut self.v0);
        }
        self.mass.backward(&mut self.v0);
    }
}

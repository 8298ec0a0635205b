//! Balance of forces without friction as equations in positions, reactions and states, with a parameter
//!
//! ```text
//! G(y, p) = (h + W_Nᵀ λ, gaps, ż) = 0,      y = (positions, λ of the closed contacts, states)
//! ```
//!
//! Every unknown and every equation is measured by its size, so that lengths of arcs and determinants mean something.

use super::AnalysisError;
use super::linear::{Column, Hold, Linear, Way};
use crate::contact::Measure;
use crate::linalg::{FullPivot, Mat, max_abs};
use crate::system::{State, System};

/// The equations at a state.
pub(crate) struct Balance<'a, S: System + ?Sized> {
    pub linear: Linear<'a, S>,
    /// Size of every unknown.
    pub unit: Vec<f64>,
    /// Size of every equation.
    pub scale: Vec<f64>,
}

impl<'a, S: System + ?Sized> Balance<'a, S> {
    /// At an equilibrium found elsewhere, with these contacts closed.
    ///
    /// # Errors
    ///
    /// No derivatives.
    pub(crate) fn new(sys: &'a S, state: &State, closed: &[bool]) -> Result<Self, AnalysisError> {
        let mut linear = Linear::new(sys, state.clone());
        linear.state.u.fill(0.0);
        let hold: Vec<Hold> = closed.iter().map(|&c| if c { Hold::Smooth } else { Hold::Open }).collect();
        linear.hold(&hold);
        let normals = linear.held.clone();
        let reach = Measure::reach(&linear.eval, &normals, |r| sys.gap_scale(r), sys.length_scale());
        let mut balance = Balance { linear, unit: reach, scale: Vec::new() };
        balance.reactions();
        // reactions and equations by what the unit of the positions does
        let force = balance.linear.lambda.iter().fold(max_abs(&balance.linear.eval.h), |m, l| m.max(l.abs()));
        let force = if force > 0.0 { force } else { 1.0 };
        balance.unit.extend(normals.iter().map(|_| force));
        balance.unit.extend(balance.linear.state.z.iter().map(|z| if *z == 0.0 { 1.0 } else { z.abs() }));
        let plain = vec![1.0; balance.unit.len()];
        balance.scale = plain;
        let jacobian = balance.jacobian()?;
        let size = |i: usize| max_abs(jacobian.row(i));
        balance.scale = (0..jacobian.rows()).map(|i| if size(i) > 0.0 { size(i) } else { 1.0 }).collect();
        Ok(balance)
    }

    /// Reactions that balance best.
    fn reactions(&mut self) {
        let held = &self.linear.held;
        if held.is_empty() {
            return;
        }
        let transposed =
            Mat::from_fn(self.linear.dims.u, held.len(), |i, j| self.linear.eval.w[(held[j], i)]);
        let mut pivot = FullPivot::default();
        pivot.factor(&transposed);
        let rhs: Vec<f64> = self.linear.eval.h.iter().map(|h| -h).collect();
        let mut lambda = vec![0.0; held.len()];
        pivot.solve(&rhs, &[], &mut lambda);
        for (&row, l) in held.iter().zip(&lambda) {
            self.linear.lambda[row] = *l;
        }
    }

    /// Number of unknowns, of which the first are positions.
    pub(crate) fn size(&self) -> usize {
        self.unit.len()
    }

    /// The present unknowns relative to `origin`, by their sizes.
    pub(crate) fn read(&self, origin: &State) -> Vec<f64> {
        let l = &self.linear;
        let q = l.state.q.iter().zip(&origin.q).take(l.dims.u).map(|(a, b)| a - b);
        let all = q.chain(l.held.iter().map(|&r| l.lambda[r])).chain(l.state.z.iter().copied());
        all.zip(&self.unit).map(|(x, unit)| x / unit).collect()
    }

    /// Set the unknowns.
    pub(crate) fn set(&mut self, origin: &State, y: &[f64]) {
        let (n, m) = (self.linear.dims.u, self.linear.held.len());
        let delta: Vec<f64> = (0..n).map(|k| y[k] * self.unit[k]).collect();
        self.linear.state.q.clone_from(&origin.q);
        self.linear.sys.move_by(&mut self.linear.state.q, &delta);
        for k in 0..m {
            let row = self.linear.held[k];
            self.linear.lambda[row] = y[n + k] * self.unit[n + k];
        }
        for k in 0..self.linear.dims.z {
            self.linear.state.z[k] = y[n + m + k] * self.unit[n + m + k];
        }
        self.linear.evaluate();
    }

    /// G, by its sizes.
    pub(crate) fn residual(&mut self) -> Vec<f64> {
        let mut r = self.linear.residual();
        r.extend(self.linear.held.iter().map(|&row| self.linear.eval.gap[row]));
        r.extend(&self.linear.eval.z_rate);
        r.iter_mut().zip(&self.scale).for_each(|(r, s)| *r /= s);
        r
    }

    /// ∂G/∂y, by sizes.
    ///
    /// # Errors
    ///
    /// No derivatives.
    pub(crate) fn jacobian(&mut self) -> Result<Mat, AnalysisError> {
        let (n, m, nz) = (self.linear.dims.u, self.linear.held.len(), self.linear.dims.z);
        let mut out = Mat::zeros(n + m + nz, n + m + nz);
        for k in 0..n + nz {
            let way = if k < n { Way::Position(k) } else { Way::State(k - n) };
            let at = if k < n { k } else { m + k };
            for (i, x) in self.column(way)?.into_iter().enumerate() {
                out[(i, at)] = x * self.unit[at];
            }
        }
        for (j, &row) in self.linear.held.iter().enumerate() {
            for (k, w) in self.linear.eval.w.row(row).iter() {
                out[(k, n + j)] = w * self.unit[n + j] / self.scale[k];
            }
        }
        Ok(out)
    }

    /// ∂G along a direction, by the sizes of the equations.
    ///
    /// # Errors
    ///
    /// No derivatives.
    pub(crate) fn column(&mut self, way: Way) -> Result<Vec<f64>, AnalysisError> {
        let mut column = Column::default();
        self.linear.column(way, &mut column)?;
        let mut out = column.force;
        out.extend(self.linear.held.iter().map(|&row| column.gap[row]));
        out.extend(&column.state);
        out.iter_mut().zip(&self.scale).for_each(|(r, s)| *r /= s);
        Ok(out)
    }
}

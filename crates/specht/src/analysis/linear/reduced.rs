//! The matrix of the small motions that the held rows allow
//!
//! With an M-orthonormal basis P of the displacements with `W_J δq = 0` and the solution of the saddle point system for every column,
//!
//! ```text
//! d/dt (y, v, z) = A (y, v, z),      δq = P y,  δu = P v,     A = [0 E 0; Pᵀ M ∂u̇/∂q P, Pᵀ M ∂u̇/∂u P, Pᵀ M ∂u̇/∂z; ∂ż …]
//! ```

use super::{Column, Linear, Way};
use crate::analysis::AnalysisError;
use crate::linalg::{Cholesky, FullPivot, Mat, null_space};
use crate::system::System;

/// The reduced equations.
#[derive(Clone, Debug)]
pub(crate) struct Reduced {
    /// A.
    pub a: Mat,
    /// P, M-orthonormal: M P has the forces of the modes.
    pub basis: Mat,
    /// Number of positions in A; the first ones of the state are positions, then come all velocities, then the states.
    pub positions: usize,
    /// Number of velocities.
    pub velocities: usize,
    /// M P.
    pub momentum: Mat,
    /// Forces of the held rows per unit of the state: rows × columns of A.
    pub forces: Mat,
}

impl<S: System + ?Sized> Linear<'_, S> {
    /// The matrix at the present motion. `quotient`: without the positions that change nothing.
    ///
    /// # Errors
    ///
    /// No derivatives, a mass matrix that is singular on what can move, sliding without a force.
    pub(crate) fn reduced(&mut self, quotient: bool) -> Result<Reduced, AnalysisError> {
        let (n, m, nz) = (self.dims.u, self.held.len(), self.dims.z);
        let mut basis = self.allowed()?;
        let p = basis.cols();

        // u̇ and λ along every direction, ż likewise
        let mut pivot = FullPivot::default();
        pivot.factor(&self.saddle());
        let total = 2 * n + nz;
        let mut moved = Mat::zeros(n + m, total);
        let mut states = Mat::zeros(nz, total);
        let mut column = Column::default();
        let mut solution = vec![0.0; n + m];
        for k in 0..total {
            let way = match k {
                k if k < n => Way::Position(k),
                k if k < 2 * n => Way::Velocity(k - n),
                k => Way::State(k - 2 * n),
            };
            self.column(way, &mut column)?;
            let mut rhs = column.force.clone();
            rhs.extend(self.held.iter().map(|&row| -column.accel[row]));
            if pivot.solve(&rhs, &[], &mut solution) > 1e-7 {
                return Err(AnalysisError::SingularMass);
            }
            for (i, &x) in solution.iter().enumerate() {
                moved[(i, k)] = x;
            }
            for (i, &x) in column.state.iter().enumerate() {
                states[(i, k)] = x;
            }
        }

        let mut cyclic = 0;
        if quotient {
            (basis, cyclic) = self.essential(basis, &moved, &states);
        }
        let essential = p - cyclic;
        let momentum = self.momentum(&basis);
        // accelerations of the basis: Pᵀ M u̇
        let weights = momentum.transpose();
        let size = essential + p + nz;
        let mut a = Mat::zeros(size, size);
        for i in 0..essential {
            a[(i, essential + i)] = 1.0;
        }
        // what each component of the reduced state is in (δq, δu, z)
        let part = |j: usize| -> (usize, Option<usize>) {
            match j {
                j if j < essential => (0, Some(j)),
                j if j < essential + p => (n, Some(j - essential)),
                j => (2 * n + j - essential - p, None),
            }
        };
        let mut forces = Mat::zeros(m, size);
        for j in 0..size {
            let (first, vector) = part(j);
            let along = |rows: &Mat, i: usize| match vector {
                Some(v) => (0..n).map(|k| rows[(i, first + k)] * basis[(k, v)]).sum::<f64>(),
                None => rows[(i, first)],
            };
            let accel: Vec<f64> = (0..n).map(|i| along(&moved, i)).collect();
            for i in 0..p {
                a[(essential + i, j)] = crate::linalg::dot(weights.row(i), &accel);
            }
            for i in 0..nz {
                a[(essential + p + i, j)] = along(&states, i);
            }
            for i in 0..m {
                forces[(i, j)] = along(&moved, n + i);
            }
        }
        Ok(Reduced { a, basis, positions: essential, velocities: p, momentum, forces })
    }

    /// M-orthonormal basis of what the held rows allow.
    pub(crate) fn allowed(&self) -> Result<Mat, AnalysisError> {
        let n = self.dims.u;
        let w = Mat::from_fn(self.held.len(), n, |i, j| self.eval.w[(self.held[i], j)]);
        let null = if self.held.is_empty() { Mat::identity(n) } else { null_space(&w) };
        let p = null.cols();
        if p == 0 {
            return Err(AnalysisError::NoFreedom { constraints: n, velocities: n });
        }
        // Pᵀ M P = G Gᵀ, and P G⁻ᵀ is orthonormal
        let inertia = null.transpose().mul(&self.momentum(&null));
        let mut cholesky = Cholesky::default();
        cholesky.factor(&inertia).map_err(|_| AnalysisError::SingularMass)?;
        let mut basis = Mat::zeros(n, p);
        let mut row = vec![0.0; p];
        for i in 0..n {
            row.copy_from_slice(null.row(i));
            cholesky.forward(&mut row);
            basis.row_mut(i).copy_from_slice(&row);
        }
        Ok(basis)
    }

    fn momentum(&self, basis: &Mat) -> Mat {
        let (n, p) = (self.dims.u, basis.cols());
        let mut out = Mat::zeros(n, p);
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..p {
            (0..n).for_each(|i| x[i] = basis[(i, j)]);
            self.eval.mass.mul_vec(&x, &mut y);
            (0..n).for_each(|i| out[(i, j)] = y[i]);
        }
        out
    }

    /// The basis turned so that the displacements that change nothing come last, and their number.
    fn essential(&self, basis: Mat, moved: &Mat, states: &Mat) -> (Mat, usize) {
        let (n, p, nz) = (self.dims.u, basis.cols(), self.dims.z);
        let positions =
            Mat::from_fn(n + nz, n, |i, j| if i < n { moved[(i, j)] } else { states[(i - n, j)] });
        let effect = positions.mul(&basis);
        // rounding of terms that cancel counts by the largest of them
        let terms =
            |i: usize, j: usize| (0..n).map(|k| (positions[(i, k)] * basis[(k, j)]).abs()).sum::<f64>();
        let size: Vec<f64> = (0..n + nz).map(|i| (0..p).map(|j| terms(i, j)).fold(0.0, f64::max)).collect();
        let scaled = Mat::from_fn(n + nz, p, |i, j| {
            let x = if size[i] > 0.0 { effect[(i, j)] / size[i] } else { 0.0 };
            if x.abs() < 1e-12 { 0.0 } else { x }
        });
        let still = null_space(&scaled);
        if still.cols() == 0 {
            return (basis, 0);
        }
        // orthogonal complement first
        let rest = match still.cols() == p {
            true => Mat::zeros(p, 0),
            false => null_space(&still.transpose()),
        };
        let turn = Mat::from_fn(p, p, |i, j| match j < rest.cols() {
            true => rest[(i, j)],
            false => still[(i, j - rest.cols())],
        });
        let cyclic = still.cols();
        (basis.mul(&turn), cyclic)
    }
}

impl Reduced {
    /// Velocities of the coordinates for a state.
    pub(crate) fn rates(&self, x: &[f64]) -> Vec<f64> {
        let n = self.basis.rows();
        let v = &x[self.positions..self.positions + self.velocities];
        (0..n).map(|i| v.iter().enumerate().map(|(j, v)| self.basis[(i, j)] * v).sum()).collect()
    }
}

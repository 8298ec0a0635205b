//! Contact problems and complementarity problems without a model.

use crate::convert::refuse;
use crate::watch::apart;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use specht::cone::{Contact, Matrix, Problem, Settings, Solver, Sparse, Status};
use specht::lcp::{EnumerateSettings, Lcp, Piece, Solver as LcpSolver, enumerate};
use specht::linalg::Mat;

/// Entries of a sparse matrix: rows, columns, values, and its size.
type Entries<'py> =
    (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>, usize, usize);

/// A matrix as Python gives it.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(Entries<'py>),
}

fn matrix(given: &Given<'_>) -> PyResult<Matrix> {
    match given {
        Given::Dense(a) => Ok(Matrix::Dense(dense(a))),
        Given::Sparse((i, j, v, rows, cols)) => {
            let (i, j, v) = (i.as_array(), j.as_array(), v.as_array());
            let place = |k: i64, size: usize| usize::try_from(k).ok().filter(|k| *k < size);
            let mut list = Vec::with_capacity(v.len());
            for ((i, j), v) in i.iter().zip(&j).zip(&v) {
                let (Some(i), Some(j)) = (place(*i, *rows), place(*j, *cols)) else {
                    return Err(refuse(format!("entry ({i}, {j}) is outside a matrix of {rows} by {cols}")));
                };
                list.push((i, j, *v));
            }
            let sparse = Sparse::from_triplets(*rows, *cols, &list)
                .map_err(|k| refuse(format!("entry {k} of the sparse matrix cannot be used")))?;
            Ok(Matrix::Sparse(sparse))
        }
    }
}

fn dense(a: &PyReadonlyArray2<'_, f64>) -> Mat {
    let a = a.as_array();
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)])
}

/// `u = W r + q` with Coulomb friction, all contacts of `rows` rows.
#[pyfunction]
#[pyo3(signature = (w, q, mu, rows, tolerance, time_limit=None))]
pub fn solve_friction<'py>(
    py: Python<'py>,
    w: Given<'_>,
    q: PyReadonlyArray1<'_, f64>,
    mu: PyReadonlyArray1<'_, f64>,
    rows: usize,
    tolerance: f64,
    time_limit: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let contact = |(k, mu): (usize, &f64)| match rows {
        2 => Contact::planar(*mu, k as u64),
        _ => Contact::spatial(*mu, k as u64),
    };
    let contacts = mu.as_array().iter().enumerate().map(contact).collect();
    let problem = Problem::from_w(matrix(&w)?, q.as_array().to_vec(), contacts);
    let settings = Settings { tolerance, time_limit, ..Settings::default() };
    let found = apart(py, None, |_, _| Solver::new(settings).solve(&problem))?;
    let s = found.map_err(|e| refuse(e.to_string()))?;
    let out = PyDict::new(py);
    let status = match s.status {
        Status::Solved => "solved",
        Status::NoSolution => "no_solution",
        _ => "not_converged",
    };
    out.set_item("status", status)?;
    out.set_item("error", s.error())?;
    out.set_item("stage", format!("{:?}", s.stage))?;
    out.set_item("islands", s.islands)?;
    out.set_item("painleve", s.painleve.clone())?;
    out.set_item("r", s.r.into_pyarray(py))?;
    out.set_item("u", s.u.into_pyarray(py))?;
    out.set_item("certificate", s.certificate.into_pyarray(py))?;
    Ok(out)
}

/// `w = A z + b`, `0 ≤ w ⟂ z ≥ 0`.
#[pyfunction]
#[pyo3(signature = (a, b, all=false, time_limit=None))]
pub fn lcp<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray1<'_, f64>,
    all: bool,
    time_limit: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (a, b) = (dense(&a), b.as_array().to_vec());
    if a.rows() != b.len() || a.cols() != b.len() {
        return Err(refuse(format!("A is {} by {}, but b has {} entries", a.rows(), a.cols(), b.len())));
    }
    if let Some(k) = b.iter().position(|x| !x.is_finite()) {
        return Err(refuse(format!("b[{k}] is {}; every entry must be a finite number", b[k])));
    }
    for i in 0..b.len() {
        if let Some(j) = (0..b.len()).find(|j| !a[(i, *j)].is_finite()) {
            return Err(refuse(format!("A[{i}][{j}] is {}; every entry must be a finite number", a[(i, j)])));
        }
    }
    let (solver, solved, found) = apart(py, None, |_, _| {
        let p = Lcp::new(&a, &b);
        let mut solver = LcpSolver::default();
        let solved = solver.solve(p).is_solved();
        let settings = EnumerateSettings { time_limit, ..EnumerateSettings::default() };
        (solver, solved, all.then(|| enumerate(p, &settings)))
    })?;
    let out = PyDict::new(py);
    let mut status = if solved { "solved" } else { "not_converged" };
    let (mut z, mut w) = (solver.z, solver.w);
    if let Some(found) = found {
        if found.complete && found.pieces.is_empty() {
            status = "no_solution";
        } else if let (false, Some(first)) = (solved, found.pieces.first()) {
            status = "solved";
            (z, w) = (first.z().to_vec(), first.w().to_vec());
        }
        let one = |piece: &Piece| {
            let d = PyDict::new(py);
            d.set_item("z", piece.z().to_vec().into_pyarray(py))?;
            d.set_item("w", piece.w().to_vec().into_pyarray(py))?;
            d.set_item("family", matches!(piece, Piece::Family { .. }))?;
            Ok(d)
        };
        out.set_item("solutions", found.pieces.iter().map(one).collect::<PyResult<Vec<_>>>()?)?;
        out.set_item("complete", found.complete)?;
    }
    out.set_item("status", status)?;
    out.set_item("z", z.into_pyarray(py))?;
    out.set_item("w", w.into_pyarray(py))?;
    Ok(out)
}

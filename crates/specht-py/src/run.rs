//! A run that ended.

use crate::convert::raise;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use specht::machine;
use specht::machine::table::Column;

/// A run that ended.
#[pyclass(frozen, module = "specht._specht")]
pub struct Run {
    inner: machine::Run,
}

impl Run {
    pub fn new(inner: machine::Run) -> Self {
        Run { inner }
    }
}

#[pymethods]
impl Run {
    /// `run.json`.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| serde_json::to_string(&self.inner.record()))
            .map_err(|e| crate::convert::refuse(e.to_string()))
    }

    #[getter]
    fn status(&self) -> &'static str {
        self.inner.trajectory.status.word()
    }

    #[getter]
    fn message(&self) -> String {
        self.inner.trajectory.message.clone()
    }

    #[getter]
    fn name(&self) -> String {
        self.inner.machine.model().name.clone()
    }

    /// Names of the columns with their units.
    fn columns(&self) -> Vec<(String, String)> {
        let table = machine::table::Table::header(&self.inner.names);
        let model = self.inner.machine.model();
        table.into_iter().map(|n| (n.clone(), model.unit(&n).to_string())).collect()
    }

    /// All columns: numbers as arrays that own them, modes as lists of words.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let table = py.detach(|| self.inner.table());
        let mut out = Vec::with_capacity(table.names.len());
        for (name, column) in table.names.into_iter().zip(table.columns) {
            let array = match column {
                Column::Numbers(list) => list.into_pyarray(py).into_any(),
                Column::Words(list) => list.into_pyobject(py)?.into_any(),
            };
            out.push((name, array));
        }
        Ok(out)
    }

    /// An expression at all recorded instants.
    fn series<'py>(&self, py: Python<'py>, expression: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let list = py.detach(|| self.inner.series(expression)).map_err(raise)?;
        Ok(list.into_pyarray(py))
    }

    /// The report.
    fn page(&self, py: Python<'_>) -> String {
        py.detach(|| specht_cli::host::page(&self.inner))
    }

    /// `trajectory.csv`.
    fn csv(&self, py: Python<'_>) -> String {
        py.detach(|| specht_cli::host::csv(&self.inner))
    }
}

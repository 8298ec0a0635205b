//! Many runs.

use crate::convert::{raise, refuse, task_keys};
use crate::machine::Machine;
use crate::watch::apart;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use specht::analysis::Watch;
use specht::machine::Task;
use specht::machine::sweep::{How, Shard};

/// Numbers of the rows, names and values of the columns that are numbers, the words of those that are not, and the reasons of rows
/// that failed, by place.
type Table<'py> = (
    Bound<'py, PyArray1<i64>>,
    Vec<(String, Bound<'py, PyArray1<f64>>)>,
    Vec<(String, Vec<String>)>,
    Vec<(usize, String)>,
);

/// A sweep with the keys of its task; `shard` is `"i/n"`.
#[pyfunction]
#[pyo3(signature = (machine, keys, setup, jobs=None, shard=None, progress=None))]
pub fn sweep<'py>(
    py: Python<'py>,
    machine: &Machine,
    keys: &Bound<'_, PyDict>,
    setup: &str,
    jobs: Option<usize>,
    shard: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Table<'py>> {
    let Task::Sweep(sweep) = Task::read("sweep", &task_keys(keys)?).map_err(raise)? else {
        return Err(refuse("this is no sweep"));
    };
    let shard = shard.map(Shard::read).transpose().map_err(raise)?.unwrap_or_default();
    let machine = machine.set_up(setup)?;
    let rows = apart(py, progress, |stop, say| {
        sweep.run(
            &machine,
            How {
                jobs,
                shard,
                watch: Watch { interrupt: Some(stop), progress: Some(say) },
                ..How::default()
            },
        )
    })?;
    let rows = rows.map_err(raise)?;
    let done: Vec<usize> = (0..rows.len()).filter(|r| rows.is_done(*r)).collect();
    let parameters: Vec<&str> = sweep.plan.parameters().collect();
    let mut numbers: Vec<(String, Vec<f64>)> =
        parameters.iter().map(|p| (p.to_string(), Vec::new())).collect();
    let mut point = Vec::new();
    for &row in &done {
        sweep.plan.point(row, &mut point);
        numbers.iter_mut().zip(&point).for_each(|(column, x)| column.1.push(*x));
    }
    let mut words = Vec::new();
    for (c, name) in sweep.record.iter().enumerate() {
        let cells: Vec<_> = done.iter().map(|r| rows.cell(*r, c)).collect();
        match cells.iter().map(specht::machine::sweep::Cell::number).collect::<Option<Vec<f64>>>() {
            Some(list) => numbers.push((name.clone(), list)),
            None => words.push((name.clone(), cells.iter().map(|c| c.json().to_string()).collect())),
        }
    }
    let failed =
        done.iter().enumerate().filter_map(|(k, r)| Some((k, rows.error(*r)?.to_string()))).collect();
    let numbers = numbers.into_iter().map(|(name, list)| (name, list.into_pyarray(py))).collect();
    let rows: Vec<i64> = done.iter().map(|r| *r as i64).collect();
    Ok((rows.into_pyarray(py), numbers, words, failed))
}

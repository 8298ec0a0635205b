//! The engine for Python: the smallest set of functions over which the package `specht` is written (`python/specht`).
//!
//! Numbers cross as numpy arrays that own what Rust computed; everything else that is nested crosses as JSON, with the keys of the
//! contract. Long work is done without the lock of the interpreter and looks for Ctrl-C.

mod convert;
mod machine;
mod run;
mod solve;
mod sweep;
mod watch;

use pyo3::prelude::*;

/// Names of the gallery.
#[pyfunction]
fn gallery() -> Vec<&'static str> {
    specht_cli::host::gallery().collect()
}

/// A page of `specht explain`, if there is one.
#[pyfunction]
fn explain(topic: &str) -> Option<&'static str> {
    specht_cli::host::explain(topic)
}

/// Kinds of questions with the keys that they understand.
#[pyfunction]
fn kinds() -> Vec<(&'static str, Vec<&'static str>)> {
    specht::machine::task::KINDS.iter().map(|k| (k.name, k.keys.to_vec())).collect()
}

#[pymodule]
fn _specht(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("SpechtError", m.py().get_type::<convert::SpechtError>())?;
    m.add_class::<machine::Machine>()?;
    m.add_class::<run::Run>()?;
    m.add_class::<machine::Finding>()?;
    m.add_function(wrap_pyfunction!(gallery, m)?)?;
    m.add_function(wrap_pyfunction!(explain, m)?)?;
    m.add_function(wrap_pyfunction!(kinds, m)?)?;
    m.add_function(wrap_pyfunction!(solve::solve_friction, m)?)?;
    m.add_function(wrap_pyfunction!(solve::lcp, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::sweep, m)?)?;
    Ok(())
}

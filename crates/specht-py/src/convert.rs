//! Values of Python as values of the engine, and errors the other way.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use specht::machine::Error;
use specht::model::TaskValue;

pyo3::create_exception!(
    _specht,
    SpechtError,
    PyValueError,
    "What the program would have said, with its place in the model."
);

/// An error of the engine as an exception.
pub fn raise(error: Error) -> PyErr {
    SpechtError::new_err(specht_cli::host::message(error))
}

/// A message as an exception.
pub fn refuse(message: impl Into<String>) -> PyErr {
    SpechtError::new_err(message.into())
}

/// A value of a key of a question.
pub fn task_value(value: &Bound<'_, PyAny>) -> PyResult<TaskValue> {
    if let Ok(b) = value.cast::<PyBool>() {
        return Ok(TaskValue::Bool(b.is_true()));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return Ok(TaskValue::Number(value.extract()?));
    }
    if let Ok(s) = value.cast::<PyString>() {
        return Ok(TaskValue::Text(s.extract()?));
    }
    if let Ok(d) = value.cast::<PyDict>() {
        return Ok(TaskValue::Table(task_keys(d)?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let entries = value.try_iter()?.map(|entry| task_value(&entry?));
        return Ok(TaskValue::List(entries.collect::<PyResult<_>>()?));
    }
    // numpy numbers and the like
    match value.extract::<f64>() {
        Ok(number) => Ok(TaskValue::Number(number)),
        Err(_) => {
            let kind = value.get_type().name()?.to_string();
            Err(refuse(format!(
                "a value of type {kind} means nothing here; give numbers, texts, lists or dicts"
            )))
        }
    }
}

/// Keys of a question.
pub fn task_keys(keys: &Bound<'_, PyDict>) -> PyResult<Vec<(String, TaskValue)>> {
    keys.iter().map(|(key, value)| Ok((key.extract()?, task_value(&value)?))).collect()
}

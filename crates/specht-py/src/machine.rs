//! Machines and questions about them.

use crate::convert::{raise, refuse, task_keys};
use crate::run::Run;
use crate::watch::{Lookout, apart};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use specht::analysis::Watch;
use specht::machine::task::{KINDS, Task};
use specht::machine::{self, Files, Options, Setup, Source};
use specht::sim::Outside;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Texts of the files that a model named, by their names.
type Texts = Arc<Mutex<BTreeMap<String, String>>>;

/// Names of parameters, and the machine with these left open.
type Opened = (Vec<String>, machine::Machine);

/// A machine with the parameters in force.
#[pyclass(frozen, module = "specht._specht")]
pub struct Machine {
    pub inner: machine::Machine,
    files: Texts,
    /// The same machine with some parameters left open, by their names: what `with_` made last.
    open: Arc<Mutex<Option<Opened>>>,
}

impl Machine {
    fn new(inner: machine::Machine, files: Texts) -> Self {
        Machine { inner, files, open: Arc::default() }
    }

    fn read(source: Source, options: Options, setup: Setup) -> PyResult<Machine> {
        let files: Texts = Arc::default();
        let (kept, below) = (files.clone(), source.files.clone());
        let reading = Files::new(move |name| {
            let text = below.text_of(name)?;
            kept.lock().map_err(|e| e.to_string())?.insert(name.to_string(), text.clone());
            Ok(text)
        });
        let inner = machine::Machine::new(Source { files: reading, ..source }, options).map_err(raise)?;
        Ok(Machine::new(inner.set_up(setup), files))
    }
}

#[pymethods]
impl Machine {
    /// A file, a folder, or an entry of the gallery.
    #[staticmethod]
    fn find(py: Python<'_>, typed: &str) -> PyResult<Machine> {
        py.detach(|| {
            let source = specht_cli::host::find(typed).map_err(refuse)?;
            Machine::read(source, Options::default(), Setup::default())
        })
    }

    /// A text, with the texts of the files that it names.
    #[staticmethod]
    #[pyo3(signature = (text, files, label="model", set=Vec::new(), case=None, setup="{}"))]
    fn text(
        py: Python<'_>,
        text: &str,
        files: BTreeMap<String, String>,
        label: &str,
        set: Vec<(String, String)>,
        case: Option<String>,
        setup: &str,
    ) -> PyResult<Machine> {
        let setup = serde_json::from_str(setup).map_err(|e| refuse(e.to_string()))?;
        py.detach(|| {
            let found = move |name: &str| {
                files.get(name).cloned().ok_or_else(|| format!("there is no file {name} here"))
            };
            let source = Source { label: label.into(), text: text.into(), files: Files::new(found) };
            Machine::read(source, Options { set, case, live: Vec::new() }, setup)
        })
    }

    /// What makes the same machine elsewhere: the arguments of `text`.
    #[allow(clippy::type_complexity)]
    fn parts(
        &self,
    ) -> PyResult<(String, BTreeMap<String, String>, String, Vec<(String, String)>, Option<String>, String)>
    {
        let m = &self.inner;
        let files = self.files.lock().map_err(|e| refuse(e.to_string()))?.clone();
        let setup = serde_json::to_string(&m.setup).map_err(|e| refuse(e.to_string()))?;
        Ok((
            m.source.text.clone(),
            files,
            m.source.label.clone(),
            m.options.set.clone(),
            m.options.case.clone(),
            setup,
        ))
    }

    #[getter]
    fn name(&self) -> String {
        self.inner.model().name.clone()
    }

    #[getter]
    fn about(&self) -> String {
        self.inner.model().about.clone()
    }

    #[getter]
    fn label(&self) -> String {
        self.inner.source.label.clone()
    }

    #[getter]
    fn source(&self) -> String {
        self.inner.source.text.clone()
    }

    /// (name, value, range, about, unit) of every parameter.
    #[allow(clippy::type_complexity)]
    fn parameters(&self) -> Vec<(String, f64, Option<[f64; 2]>, String, String)> {
        let model = self.inner.model();
        let one = |p: &specht::model::Parameter| {
            (p.name.clone(), p.value, p.range, p.about.clone(), model.unit(&p.name).to_string())
        };
        model.parameters.iter().map(one).collect()
    }

    /// Coordinates, states, contacts, outputs, cases.
    fn names(&self) -> BTreeMap<&'static str, Vec<String>> {
        let n = self.inner.names();
        let cases = self.inner.model().cases.clone();
        BTreeMap::from([
            ("coordinates", n.coordinates),
            ("states", n.states),
            ("contacts", n.contacts),
            ("outputs", n.outputs),
            ("cases", cases),
        ])
    }

    /// Warnings of the file.
    fn warnings(&self) -> Vec<String> {
        let m = &self.inner;
        m.warnings.iter().map(|d| d.render(&m.source.label, &m.source.text, &m.options.set)).collect()
    }

    /// Parameters by texts as in the file.
    fn with_texts(&self, py: Python<'_>, set: Vec<(String, String)>) -> PyResult<Machine> {
        py.detach(|| {
            let mut inner = self.inner.clone();
            for (name, value) in &set {
                inner = inner.with(name, value).map_err(raise)?;
            }
            Ok(Machine::new(inner, self.files.clone()))
        })
    }

    /// Parameters by numbers in SI: the equations are compiled once for all machines with the same names.
    fn with_numbers(&self, py: Python<'_>, set: Vec<(String, f64)>) -> PyResult<Machine> {
        py.detach(|| {
            let names: Vec<String> = set.iter().map(|s| s.0.clone()).collect();
            let values: Vec<(&str, f64)> = set.iter().map(|s| (s.0.as_str(), s.1)).collect();
            let mut open = self.open.lock().map_err(|e| refuse(e.to_string()))?;
            let ready = match open.take() {
                Some((known, machine)) if known == names => machine,
                _ => self.inner.live(names.clone()).map_err(raise)?,
            };
            let varied = ready.vary(&values);
            *open = Some((names, ready));
            Ok(Machine::new(varied.map_err(raise)?, self.files.clone()))
        })
    }

    /// One of the cases of the file.
    fn case(&self, py: Python<'_>, name: &str) -> PyResult<Machine> {
        py.detach(|| Ok(Machine::new(self.inner.case(name).map_err(raise)?, self.files.clone())))
    }

    /// Runs it; `setup` is JSON over `[run]` of the file.
    #[pyo3(signature = (setup, progress=None))]
    fn run(&self, py: Python<'_>, setup: &str, progress: Option<Py<PyAny>>) -> PyResult<Run> {
        let machine = self.set_up(setup)?;
        py.detach(|| {
            let until = machine.settings().map_err(raise)?.1.until;
            let stop = AtomicBool::new(false);
            let mut lookout = Lookout::new(&stop, progress);
            let mut see = |t: f64| lookout.see(t / until);
            let mut outside = Outside { interrupt: Some(&stop), progress: Some(&mut see) };
            let run = machine.run_with(&mut outside).map_err(raise)?;
            match lookout.error {
                Some(error) => Err(error),
                None => Ok(Run::new(run)),
            }
        })
    }

    /// Answers a question.
    #[pyo3(signature = (kind, keys, setup, progress=None))]
    fn ask(
        &self,
        py: Python<'_>,
        kind: &str,
        keys: &Bound<'_, PyDict>,
        setup: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Finding> {
        let Some(known) = KINDS.iter().find(|k| k.name == kind) else {
            let all: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
            return Err(refuse(format!("there is no analysis `{kind}`; known: {}", all.join(", "))));
        };
        let keys = task_keys(keys)?;
        if let Some(key) = known.stranger(&keys) {
            return Err(refuse(format!(
                "`{kind}` has no key `{key}`; known: contact, contacts, {}",
                known.keys.join(", ")
            )));
        }
        let task = Task::read(kind, &keys).map_err(raise)?;
        let mut machine = self.set_up(setup)?;
        if machine.settings().is_err() {
            machine.setup.until.get_or_insert(1.0);
        }
        let found = apart(py, progress, |stop, say| {
            machine.ask_with(&task, Watch { interrupt: Some(stop), progress: Some(say) })
        })?;
        let finding = found.map_err(raise)?;
        Ok(Finding {
            kind: known.name,
            words: specht_cli::host::words(known.name, &self.name(), &finding),
            picture: specht_cli::host::picture(&finding),
            json: serde_json::to_string(&finding).map_err(|e| refuse(e.to_string()))?,
        })
    }
}

impl Machine {
    /// The machine run in another way.
    pub fn set_up(&self, setup: &str) -> PyResult<machine::Machine> {
        let wrong = |e: serde_json::Error| refuse(format!("a run has no such setting: {e}"));
        let asked: serde_json::Map<String, serde_json::Value> = serde_json::from_str(setup).map_err(wrong)?;
        let mut whole = serde_json::to_value(&self.inner.setup).map_err(wrong)?;
        asked.into_iter().for_each(|(key, value)| whole[key] = value);
        let setup: Setup = serde_json::from_value(whole).map_err(wrong)?;
        Ok(self.inner.clone().set_up(setup))
    }
}

/// An answer: data as JSON, words, picture.
#[pyclass(frozen, module = "specht._specht")]
pub struct Finding {
    #[pyo3(get)]
    kind: &'static str,
    #[pyo3(get)]
    words: String,
    #[pyo3(get)]
    picture: Option<String>,
    #[pyo3(get)]
    json: String,
}

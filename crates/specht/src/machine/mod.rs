//! A machine that a program can hold: read it, change it, run it, ask it.
//!
//! ```text
//! text ─read─▶ Machine ─with, until─▶ Machine ─run─▶ Run ─series, at, events, audit─▶ numbers
//!                  │                                 └─record─▶ run.json
//!                  └─ask─▶ Finding ─▶ its numbers, or JSON
//! ```
//!
//! A [`Machine`] never changes: [`Machine::with`] reads the text again with another value and gives a new one, so that a sweep is
//! a loop and machines can be shared between threads. Everything that leaves is a plain value with [`serde::Serialize`]:
//! [`record::RunRecord`] is the contract `run.json`, a [`finding::Finding`] the contract of each question.
//!
//! ```
//! use specht::prelude::*;
//!
//! let text = r#"
//! name       = "a ball that falls"
//! gravity    = [0, -9.81]
//! parameters = { h0 = "1 m" }
//! coordinates = { y = "h0" }
//! body       = [{ name = "ball", mass = "1 kg", position = [0, "y"] }]
//! run        = { until = "0.4 s" }
//! "#;
//! let fall = Machine::read(text)?.with("h0", 2.0)?.run()?.series("y - h0")?;
//! assert!((fall[fall.len() - 1] + 0.5 * 9.81 * 0.16).abs() < 1e-9);
//! # Ok::<(), specht::machine::Error>(())
//! ```

pub mod address;
mod carried;
pub mod data;
mod error;
pub mod finding;
mod fit;
pub mod json;
mod look;
mod matrices;
mod phases;
mod quantity;
pub mod questions;
pub mod record;
mod recorded;
mod refuse;
mod run;
pub mod scene;
mod sensitivity;
mod series;
mod setup;
mod source;
pub mod sweep;
pub mod table;
pub mod task;

pub use error::{Complaint, Error};
pub use finding::Finding;
pub use matrices::Matrices;
pub use quantity::time;
pub use run::{Curve, Names, Plotted, Run};
pub use sensitivity::{LostRecord, SensitivityRecord};
pub use setup::Setup;
pub use source::{Files, Source};
pub use task::Task;

pub use crate::expr::{did_you_mean, quantity};
pub use crate::file::{
    Csv, CsvColumn, Diagnostic, MAX_BYTES, Options, Severity, is_reserved, reference, schema, triangles,
    visible,
};

use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::analysis::place::start_of;
use crate::file;
use crate::model::{CompiledSystem, Model, build};
use crate::sim::{self, Outside, Scheme, Settings, Sink};
use crate::system::State;

/// A machine: the text it came from, the parameters in force, its equations, and how it is to be run.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Where it came from.
    pub source: Arc<Source>,
    /// Parameters set, case.
    pub options: Options,
    /// What is asked for instead of the file's `[run]`.
    pub setup: Setup,
    /// What looks odd in the file but can be used.
    pub warnings: Vec<Diagnostic>,
    system: Arc<CompiledSystem>,
    /// The model with the parameters of [`Machine::vary`], read when someone asks for it; a run does not.
    varied: Option<Arc<OnceLock<Box<Model>>>>,
}

impl Machine {
    /// Reads a model text that needs no other files.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, each with its place.
    pub fn read(text: &str) -> Result<Machine, Error> {
        Machine::new(Source::text(text), Options::default())
    }

    /// Reads a model file; tables that it names are looked for beside it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or something in it is wrong.
    pub fn open(path: impl AsRef<Path>) -> Result<Machine, Error> {
        Machine::new(Source::file(path.as_ref())?, Options::default())
    }

    /// The general door: any source, with parameters set and a case chosen.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text or the options.
    pub fn new(source: impl Into<Arc<Source>>, options: Options) -> Result<Machine, Error> {
        let source = source.into();
        let loaded = read(&source, &options, &[])?;
        let system = compile(&source, &options, &loaded.model)?;
        Ok(Machine {
            source,
            options,
            setup: Setup::default(),
            warnings: loaded.warnings,
            system: Arc::new(system),
            varied: None,
        })
    }

    /// The machine with a parameter set: a number in SI, or a text as in the file, `"60 deg"`, `"[0.1, 0.2]"`.
    ///
    /// # Errors
    ///
    /// No parameter of this name, or a value that does not fit.
    pub fn with(&self, parameter: &str, value: impl Display) -> Result<Machine, Error> {
        let mut options = self.options.clone();
        options.set.retain(|(name, _)| name != parameter);
        options.set.push((parameter.to_string(), value.to_string()));
        self.again(options)
    }

    /// The machine in one of the cases of its file.
    ///
    /// # Errors
    ///
    /// No case of this name, or something is wrong in it.
    pub fn case(&self, name: &str) -> Result<Machine, Error> {
        self.again(Options { case: Some(name.to_string()), ..self.options.clone() })
    }

    /// The machine with another end time, s.
    pub fn until(mut self, until: f64) -> Machine {
        self.setup.until = Some(until);
        self
    }

    /// The machine with another scheme.
    pub fn scheme(mut self, scheme: Scheme) -> Machine {
        self.setup.scheme = Some(scheme);
        self
    }

    /// The machine to be run in another way.
    pub fn set_up(mut self, setup: Setup) -> Machine {
        self.setup = setup;
        self
    }

    /// What the file says, with all names resolved.
    pub fn model(&self) -> &Model {
        let compiled = self.system.model();
        let Some(varied) = &self.varied else { return compiled };
        varied.get_or_init(|| {
            let loaded = read(&self.source, &self.options, &[]);
            Box::new(loaded.map_or_else(|_| compiled.clone(), |l| l.model))
        })
    }

    /// Its equations.
    pub fn system(&self) -> &CompiledSystem {
        &self.system
    }

    /// The consistent start.
    ///
    /// # Errors
    ///
    /// The start of the file breaks a contact, and no guess can be moved to mend it.
    pub fn start(&self) -> Result<State, Error> {
        start_of(&self.system).map_err(|e| self.start_error(&e))
    }

    /// Runs it as its file and its setup say.
    ///
    /// # Errors
    ///
    /// No end time, wrong settings, or no consistent start. How the run itself ends is data: [`crate::sim::Status`].
    pub fn run(&self) -> Result<Run, Error> {
        self.run_with(&mut Outside::default())
    }

    /// The same, watched and interruptible.
    ///
    /// # Errors
    ///
    /// As [`Machine::run`].
    pub fn run_with(&self, outside: &mut Outside) -> Result<Run, Error> {
        let (scheme, settings) = self.settings()?;
        let start = self.start()?;
        self.run_from(&start, scheme, settings, outside)
    }

    /// Runs it from a given state in a given way.
    ///
    /// # Errors
    ///
    /// Wrong settings, or a state that breaks a contact.
    pub fn run_from(
        &self,
        start: &State,
        scheme: Scheme,
        settings: Settings,
        outside: &mut Outside,
    ) -> Result<Run, Error> {
        self.run_into(start, scheme, settings, outside, None)
    }

    /// The same; rows and events go to `sink` as they come, and only a part of them stays in the run.
    ///
    /// # Errors
    ///
    /// As [`Machine::run_from`].
    pub fn run_into(
        &self,
        start: &State,
        scheme: Scheme,
        settings: Settings,
        outside: &mut Outside,
        sink: Option<&mut dyn Sink>,
    ) -> Result<Run, Error> {
        let names = self.sensitivity();
        if !names.is_empty() && scheme == Scheme::Event {
            return self.run_along(names, start, settings, outside);
        }
        let run = match scheme {
            Scheme::Event => sim::event_driven_into,
            Scheme::Step => sim::time_stepping_into,
        };
        let lasting = self.system.lasting(settings.until);
        let system = lasting.as_ref().unwrap_or(self.system());
        let trajectory = run(system, start, &settings, outside, sink).map_err(|e| self.start_error(&e))?;
        Ok(Run::new(self.clone(), scheme, settings, trajectory))
    }

    /// The same machine read again with other options.
    fn again(&self, options: Options) -> Result<Machine, Error> {
        let setup = self.setup.clone();
        Ok(Machine { setup, ..Machine::new(self.source.clone(), options)? })
    }

    /// The machine with parameters of [`Machine::live`] set to numbers in SI. No text is read again for a run: all such machines share the
    /// compiled equations.
    ///
    /// # Errors
    ///
    /// A parameter that is not there or was not left open, or a number that is not finite.
    ///
    /// ```
    /// use specht::prelude::*;
    ///
    /// let sled = Machine::read(r#"
    ///     parameters  = { mu = 0.3, v0 = "2 m/s" }
    ///     gravity     = [0, -9.81]
    ///     coordinates = { x = { rate = "v0" }, y = 0 }
    ///     ground      = { floor = { through = [0, 0], normal = [0, 1] } }
    ///     body        = [{ name = "sled", mass = "5 kg", position = ["x", "y"] }]
    ///     contact     = [{ name = "runner", between = ["sled", "ground.floor"], friction = "mu" }]
    ///     run         = { until = "9 s" }
    /// "#)?.live(vec!["mu".into()])?;
    /// for mu in [0.1, 0.2, 0.4] {
    ///     let way = sled.vary(&[("mu", mu)])?.run()?.trajectory.last.state.q[0];
    ///     assert!((way - 4.0 / (2.0 * mu * 9.81)).abs() < 1e-9);
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn vary(&self, values: &[(&str, f64)]) -> Result<Machine, Error> {
        let known = &self.system.model().parameters;
        let mut system = CompiledSystem::clone(&self.system);
        let mut numbers = system.parameters().to_vec();
        let mut options = self.options.clone();
        for &(name, value) in values {
            let Some(k) = known.iter().find(|p| p.name == name).and_then(|p| p.live) else {
                let open: Vec<String> =
                    known.iter().filter(|p| p.live.is_some()).map(|p| p.name.clone()).collect();
                return Err(Error::unknown(
                    "open parameter",
                    name,
                    &open,
                    "leave it open with `Machine::live`",
                ));
            };
            if !value.is_finite() {
                return Err(Error::plain(format!("`{name}` = {value} is not a number to set"), ""));
            }
            numbers[k] = value;
            options.set.retain(|(other, _)| other != name);
            options.set.push((name.to_string(), value.to_string()));
        }
        system.set_parameters(&numbers);
        if let Some((message, help)) = system.refusal() {
            return Err(Error::plain(message, help));
        }
        let varied = Some(Arc::default());
        Ok(Machine { system: Arc::new(system), options, varied, ..self.clone() })
    }

    /// The same machine with these parameters left open, so that they can be changed in the compiled equations ([`Machine::vary`]).
    ///
    /// # Errors
    ///
    /// No parameter of this name.
    pub fn live(&self, live: Vec<String>) -> Result<Machine, Error> {
        self.again(Options { live, ..self.options.clone() })
    }
}

fn read(source: &Source, options: &Options, series: &[String]) -> Result<file::Loaded, Error> {
    let files = &source.files;
    file::read_plotting(&source.text, options, &|file| files.bytes_of(file), series, &[])
        .map_err(|list| Error::located(source, options, list))
}

fn compile(source: &Source, options: &Options, model: &Model) -> Result<CompiledSystem, Error> {
    build(model).map_err(|e| Error::located(source, options, vec![Diagnostic::error(e.span, e.message, "")]))
}

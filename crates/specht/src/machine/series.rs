//! Expressions on a finished run.
//!
//! The expression is read in the language of the file, in the scope of its outputs; names of outputs count too. Every recorded row
//! holds the state, the modes, the frozen switches, accelerations and forces: the system is evaluated there once more and the
//! expression has the value that it would have had as an output of the file, on both sides of every event.

use crate::sim::Samples;
use crate::system::{Discrete, Eval, Forces, Instant, State, System};

use super::{Error, Machine, compile, read};

impl Machine {
    /// The values of expressions at all rows of a run of this machine, one list per expression.
    pub(super) fn series_on(&self, samples: &Samples, texts: &[String]) -> Result<Vec<Vec<f64>>, Error> {
        let loaded = read(&self.source, &self.options, texts).map_err(|e| e.about_series(texts))?;
        let system = compile(&self.source, &self.options, &loaded.model)?;
        // a row holds the states of the run
        if system.dims().z != self.system().dims().z {
            let help = "name it under [output] of the model, and run again";
            return Err(Error::plain(format!("`{}` was not recorded by this run", texts.join("`, `")), help));
        }
        // the expressions are the last plot, and what is plotted comes last
        let first = system.output_count() - texts.len();
        let mut out = vec![Vec::with_capacity(samples.len()); texts.len()];
        let mut at = Place::new(&system);
        for k in 0..samples.len() {
            let values = at.outputs(&system, samples, k);
            out.iter_mut().zip(&values[first..]).for_each(|(list, value)| list.push(*value));
        }
        Ok(out)
    }
}

impl Machine {
    /// The value of an expression of parameters.
    ///
    /// # Errors
    ///
    /// A text that is no expression.
    pub fn value(&self, text: &str) -> Result<f64, Error> {
        let texts = [text.to_string()];
        let loaded = read(&self.source, &self.options, &texts).map_err(|e| e.about_series(&texts))?;
        let system = compile(&self.source, &self.options, &loaded.model)?;
        let mut samples = Samples::new(system.dims(), &[], 0);
        let d = system.dims();
        let point = crate::sim::Point {
            state: system.start(),
            accel: vec![0.0; d.u],
            modes: vec![crate::system::Mode::Open; d.contacts],
            latches: vec![0; d.latches],
            gap: vec![0.0; d.contacts],
            slip: vec![0.0; d.contacts],
            normal: vec![0.0; d.contacts],
            tangential: vec![0.0; d.contacts],
            ..Default::default()
        };
        samples.push(&point, &[0.0; crate::sim::ENERGY_COLUMNS], true);
        let values = Place::new(&system).outputs(&system, &samples, 0).to_vec();
        match values.last() {
            Some(x) if x.is_finite() => Ok(*x),
            _ => Err(Error::plain(format!("`{text}` has no finite value"), "")),
        }
    }
}

/// The system at a recorded row.
struct Place {
    state: State,
    discrete: Discrete,
    eval: Eval,
    forces: Forces,
    impulses: Forces,
    outputs: Vec<f64>,
}

impl Place {
    fn new<S: System>(system: &S) -> Place {
        let d = system.dims();
        Place {
            state: State::default(),
            discrete: Discrete::new(&d),
            eval: system.memory(),
            forces: Forces::new(&d),
            impulses: Forces::new(&d),
            outputs: vec![0.0; system.output_count()],
        }
    }

    fn outputs<S: System>(&mut self, system: &S, samples: &Samples, k: usize) -> &[f64] {
        let row = samples.row(k);
        self.state = State {
            t: row.t,
            q: row.q.to_vec(),
            u: row.u.to_vec(),
            z: row.z.to_vec(),
            memory: row.memory.to_vec(),
        };
        self.discrete.modes = row.modes.to_vec();
        self.discrete.latches = row.latches.to_vec();
        self.forces.normal.copy_from_slice(row.normal);
        self.forces.tangential.copy_from_slice(row.tangential);
        if row.lambda.len() == self.forces.lambda.len() {
            self.forces.lambda.copy_from_slice(row.lambda);
        }
        system.evaluate(&self.state, &self.discrete, &mut self.eval);
        let at = Instant {
            state: &self.state,
            discrete: &self.discrete,
            eval: &self.eval,
            accel: row.accel,
            forces: &self.forces,
            impulses: &self.impulses,
        };
        system.outputs(at, &mut self.outputs);
        &self.outputs
    }
}

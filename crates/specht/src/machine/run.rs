//! A finished run and what can be read off it.

use serde::Serialize;

use crate::model::Plot;
use crate::sim::{Audit, Event, Scheme, Settings, Trajectory};
use crate::system::{State, System};

use super::carried::Carried;
use super::table::Table;
use super::{Error, Machine};

/// Names of everything that is numbered in the engine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// Coordinates.
    pub coordinates: Vec<String>,
    /// Bodies that turn freely; their quaternions stand behind the coordinates, their spins behind the velocities.
    pub free: Vec<String>,
    /// First-order states.
    pub states: Vec<String>,
    /// Memory.
    pub memory: Vec<String>,
    /// Contacts of the system: those of an outline are several.
    pub contacts: Vec<String>,
    /// Row of the second tangent of every contact that has one.
    pub second: Vec<Option<usize>>,
    /// Outputs.
    pub outputs: Vec<String>,
    /// Free bodies that others carry.
    pub carried: Option<Carried>,
}

/// A run that ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// The machine that ran.
    pub machine: Machine,
    /// Scheme.
    pub scheme: Scheme,
    /// Settings.
    pub settings: Settings,
    /// Names of what is numbered in the trajectory.
    pub names: Names,
    /// What happened.
    pub trajectory: Trajectory,
}

/// A plot that the file asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plotted {
    /// Horizontal axis; `None` is time.
    pub x: Option<Curve>,
    /// Vertical axis.
    pub y: Vec<Curve>,
}

/// An expression at all recorded instants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The expression.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
}

impl Machine {
    /// Names of everything that is numbered.
    pub fn names(&self) -> Names {
        let (system, model) = (self.system(), self.system().model());
        Names {
            coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
            free: model.free.iter().map(|f| model.bodies[f.body].name.clone()).collect(),
            states: system.state_names().to_vec(),
            memory: model.memory.iter().map(|m| m.name.clone()).collect(),
            contacts: system.contacts().iter().map(|c| c.name.clone()).collect(),
            second: system.contacts().iter().map(|c| c.tangent.get(1).copied()).collect(),
            outputs: system.output_names().to_vec(),
            carried: self.carried(),
        }
    }
}

impl Run {
    pub(super) fn new(machine: Machine, scheme: Scheme, settings: Settings, trajectory: Trajectory) -> Run {
        Run { names: machine.names(), machine, scheme, settings, trajectory }
    }

    /// The recorded instants, s. At an event there are two rows, before and after it.
    pub fn times(&self) -> &[f64] {
        self.trajectory.samples.times()
    }

    /// An expression of the file's language at all recorded instants: `"phi"`, `"tip.normal"`, `"energy.kinetic + 2*x'^2"`.
    ///
    /// # Errors
    ///
    /// An expression that the file would not take as an output.
    ///
    /// ```
    /// use specht::prelude::*;
    ///
    /// let ball = Machine::read(r#"
    ///     gravity     = [0, -9.81]
    ///     coordinates = { y = { start = "2 m" } }
    ///     body        = [{ name = "ball", mass = "3 kg", position = [0, "y"] }]
    ///     run         = { until = "0.5 s" }
    /// "#)?;
    /// let energy = ball.run()?.series("ball.y*3 kg*9.81 + 1.5 kg*y'^2")?;
    /// assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-9));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn series(&self, expression: &str) -> Result<Vec<f64>, Error> {
        let [series] = self.all_series([expression])?;
        Ok(series)
    }

    /// Several at once: the model is read and compiled once for all of them.
    ///
    /// # Errors
    ///
    /// As [`Run::series`].
    pub fn all_series<const N: usize>(&self, expressions: [&str; N]) -> Result<[Vec<f64>; N], Error> {
        let samples = &self.trajectory.samples;
        let recorded = expressions.map(|e| self.recorded(e.trim()));
        let wanted: Vec<String> =
            expressions.iter().zip(&recorded).filter(|r| r.1.is_none()).map(|r| r.0.to_string()).collect();
        let found = if wanted.is_empty() { Vec::new() } else { self.machine.series_on(samples, &wanted)? };
        let mut found = found.into_iter();
        Ok(recorded.map(|column| column.or_else(|| found.next()).unwrap_or_default()))
    }

    /// What is a column of the record anyway.
    fn recorded(&self, name: &str) -> Option<Vec<f64>> {
        let place = |list: &[String], name: &str| list.iter().position(|n| n == name);
        let rows = || self.trajectory.samples.rows();
        let names = &self.names;
        if let Some(k) = place(&names.coordinates, name) {
            return Some(rows().map(|row| row.q[k]).collect());
        }
        if let Some(k) = name.strip_suffix('\'').and_then(|n| place(&names.coordinates, n)) {
            return Some(rows().map(|row| row.u[k]).collect());
        }
        let k = place(&names.outputs, name)?;
        Some(rows().map(|row| row.outputs[k]).collect())
    }

    /// The state at an instant, between rows by cubics through values and rates (first-order states: lines); at an event the one
    /// after it. `None` outside the run.
    pub fn at(&self, time: f64) -> Option<State> {
        let (samples, times) = (&self.trajectory.samples, self.times());
        let k = times.partition_point(|t| *t <= time);
        if k == 0 || (k == times.len() && times[k - 1] < time) || time.is_nan() {
            return None;
        }
        let a = samples.row(k - 1);
        let b = if k < times.len() { samples.row(k) } else { a };
        let (h, s) = (b.t - a.t, if b.t > a.t { (time - a.t) / (b.t - a.t) } else { 0.0 });
        let curve = |i: usize, y: [&[f64]; 2], rate: [&[f64]; 2]| {
            cubic([y[0][i], y[1][i]], [h * rate[0][i], h * rate[1][i]], s)
        };
        let system = self.machine.system();
        let rate = |row: &crate::sim::Sample<'_>| {
            let state = State { q: row.q.to_vec(), u: row.u.to_vec(), ..State::default() };
            let mut rate = vec![0.0; state.q.len()];
            system.q_rate(&state, &mut rate);
            rate
        };
        let rates = [rate(&a), rate(&b)];
        let mut q: Vec<f64> = (0..a.q.len()).map(|i| curve(i, [a.q, b.q], [&rates[0], &rates[1]])).collect();
        system.restore(&mut q);
        Some(State {
            t: time,
            q,
            u: (0..a.u.len()).map(|i| curve(i, [a.u, b.u], [a.accel, b.accel])).collect(),
            z: (0..a.z.len()).map(|i| a.z[i] + s * (b.z[i] - a.z[i])).collect(),
            memory: a.memory.to_vec(),
        })
    }

    /// Everything that happened at an instant, in the order of time.
    pub fn events(&self) -> &[Event] {
        &self.trajectory.events
    }

    /// How well the laws were kept.
    pub fn audit(&self) -> &Audit {
        &self.trajectory.audit
    }

    /// The plots that the file asks for.
    pub fn plots(&self) -> Vec<Plotted> {
        // their columns follow those of the outputs
        let mut next = self.names.outputs.len();
        let mut curve = |name: &str| {
            let values = self.trajectory.samples.rows().map(|row| row.outputs[next]).collect();
            next += 1;
            Curve { name: name.to_string(), values }
        };
        let plots = &self.machine.model().plots;
        let one = |plot: &Plot| Plotted {
            x: Some(curve(&plot.x.0)).filter(|c| c.name.trim() != "t"),
            y: plot.y.iter().map(|y| curve(&y.0)).collect(),
        };
        plots.iter().map(one).collect()
    }

    /// The recorded series with the columns of `trajectory.csv`.
    pub fn table(&self) -> Table {
        let mut table = Table::of(&self.trajectory.samples, &self.names);
        let model = self.machine.model();
        let known = table.names.iter().map(|n| (n.clone(), model.unit(n).to_string()));
        table.units = known.filter(|(_, unit)| !unit.is_empty()).collect();
        self.sensitivity_columns(&mut table);
        table
    }
}

/// The cubic with these values and slopes at 0 and 1.
fn cubic([a, b]: [f64; 2], [da, db]: [f64; 2], s: f64) -> f64 {
    a + s * (da + s * (3.0 * (b - a) - 2.0 * da - db + s * (2.0 * (a - b) + da + db)))
}

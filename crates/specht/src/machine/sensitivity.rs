//! Derivatives of a run with respect to parameters, through all its events (METH-SALT-GEN).

use serde::{Deserialize, Serialize};

use crate::analysis::seeds::seed;
use crate::sim::{Outside, Scheme, Seed, Settings, event_driven_along};
use crate::system::State;

use super::json::{Named, Num};
use super::table::{Column, Table};
use super::{Error, Machine, Run};

/// d(final value)/d(parameter) of outputs, coordinates and velocities, by names; of the times of events; and why some do not exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRecord {
    /// Per output and parameter; `null` where there is none.
    #[serde(flatten)]
    pub of: Named<Named<Num>>,
    /// d(time)/d(parameter) of every event.
    pub events: Vec<Named<Num>>,
    /// Parameters whose derivatives end before the run does.
    pub lost: Vec<LostRecord>,
}

/// Why a derivative does not exist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostRecord {
    /// Parameter.
    pub parameter: String,
    /// When, s.
    pub time: Num,
    /// Why.
    pub reason: String,
}

impl Machine {
    /// Parameters with respect to which a run is differentiated.
    pub fn sensitivity(&self) -> &[String] {
        match self.setup.sensitivity.as_slice() {
            [] => &self.system().model().run.sensitivity,
            asked => asked,
        }
    }

    /// A run with its derivatives.
    pub(super) fn run_along(
        &self,
        names: &[String],
        start: &State,
        settings: Settings,
        outside: &mut Outside<'_>,
    ) -> Result<Run, Error> {
        let mut live = self.options.live.clone();
        live.extend(names.iter().filter(|n| !self.options.live.contains(n)).cloned());
        let machine = self.opened(live)?;
        let lasting = machine.system().lasting(settings.until);
        let system = lasting.as_ref().unwrap_or(machine.system());
        let until = if machine.setup.until.is_none() { system.model().run.until } else { None };
        let mut seeds: Vec<Seed> = Vec::new();
        for name in names {
            let known = system.model().parameters.iter().find(|p| p.name == *name);
            let Some(k) = known.and_then(|p| p.live) else {
                return Err(Error::plain(format!("`{name}` is a list; name one of its entries"), ""));
            };
            seeds.push(seed(system, k, until).map_err(|e| machine.start_error(&e))?);
        }
        let trajectory = event_driven_along(system, start, &settings, outside, &seeds, true)
            .map_err(|e| machine.start_error(&e))?;
        Ok(Run::new(machine, Scheme::Event, settings, trajectory))
    }
}

impl Run {
    /// The derivatives at the end, when they were asked for.
    pub fn sensitivity(&self) -> Option<SensitivityRecord> {
        let d = self.trajectory.derivatives.as_ref()?;
        let parameters = self.machine.sensitivity();
        let table = |value: &dyn Fn(usize) -> f64| -> Named<Num> {
            parameters.iter().enumerate().map(|(k, p)| (p.clone(), Num(value(k)))).collect()
        };
        let mut of = Named::default();
        for (i, name) in self.names.outputs.iter().enumerate() {
            of.push(name.clone(), table(&|k| d.outputs[k].get(i).copied().unwrap_or(f64::NAN)));
        }
        let taken = self.names.outputs.clone();
        let n = self.names.coordinates.len();
        let positions = self.names.coordinates.iter().cloned().enumerate();
        // velocities stand behind the positions, of which a free rotation has four
        let velocities = n + 4 * self.names.free.len();
        let rates = self.names.coordinates.iter().enumerate().map(|(i, n)| (velocities + i, format!("{n}'")));
        let turning = self.names.free.iter().enumerate().flat_map(|(f, name)| {
            let axes = ["x", "y", "z"].into_iter().enumerate();
            axes.map(move |(k, axis)| (velocities + n + 3 * f + k, format!("{name}.spin.{axis}")))
        });
        for (i, name) in positions.chain(rates).chain(turning) {
            if !taken.contains(&name) {
                of.push(name, table(&|k| d.ends[k][i]));
            }
        }
        let events =
            d.times.iter().map(|times| table(&|k| times.get(k).copied().unwrap_or(f64::NAN))).collect();
        let lost = d.lost.iter().map(|l| LostRecord {
            parameter: parameters[l.seed].clone(),
            time: Num(l.time),
            reason: l.reason.clone(),
        });
        Some(SensitivityRecord { of, events, lost: lost.collect() })
    }

    /// Columns `d(OUTPUT)/d(PARAMETER)`.
    pub(super) fn sensitivity_columns(&self, table: &mut Table) {
        let Some(d) = self.trajectory.derivatives.as_ref().filter(|d| d.rows.len() == table.rows()) else {
            return;
        };
        for (k, parameter) in self.machine.sensitivity().iter().enumerate() {
            for (i, output) in self.names.outputs.iter().enumerate() {
                let column = d.rows.iter().map(|row| row[k].get(i).copied().unwrap_or(f64::NAN)).collect();
                table.push(format!("d({output})/d({parameter})"), Column::Numbers(column));
            }
        }
    }
}

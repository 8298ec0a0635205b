//! `equilibrium`: where can it stand still?

use serde::Serialize;

use crate::analysis::AnalysisError;
use crate::analysis::attraction::{Probe, is_attractive, probe};
use crate::analysis::bands::{Bands, bands};
use crate::analysis::branch::{Diagram, diagram};
use crate::analysis::equilibria::{Equilibrium, all};
use crate::analysis::line::Line;
use crate::analysis::map::Watch;
use crate::analysis::rest::RestVerdict;
use crate::analysis::start_load::{RestTask, analyse_rest};
use crate::linalg::Complex;
use crate::machine::json::{Named, Num};
use crate::machine::questions::EquilibriumTask;
use crate::machine::{Error, Machine};
use crate::system::{State, System};

/// The finding. Which parts there are depends on whether friction counts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EquilibriumFinding {
    /// Without friction: all that were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equilibria: Option<Vec<OneEquilibrium>>,
    /// Branches over the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<Vec<EquilibriumPoint>>>,
    /// Folds and pitchforks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub special: Option<Vec<SpecialPoint>>,
    /// Why each branch ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Vec<String>>,
    /// With friction: ends of every coordinate, one entry per value of the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<Vec<Named<[Num; 2]>>>,
    /// Whether the bands are those of the whole set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// Distance from slipping, N.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Num>,
    /// Factors by which friction may fall, or a load may grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<Named<Num>>,
    /// Normal forces that are possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forces: Option<Named<[Num; 2]>>,
    /// Tangential forces that are possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction_forces: Option<Named<[Num; 2]>>,
    /// Contacts that hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Vec<String>>,
    /// Contacts that give way first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Vec<String>>,
    /// Whether it stays, moves, or both are possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<RestVerdict>,
    /// `attractive` where disturbed motions come back to the set of rest for certain, else `undecided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attraction: Option<&'static str>,
    /// What disturbed motions do where nothing is proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Parameter, its values and the coordinates, for drawing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// Values of the parameter that belong to the bands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Present state, to be seen in the bands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Named<f64>>,
    /// Page.
    pub explain: &'static str,
}

/// An equilibrium.
#[derive(Clone, Debug, Serialize)]
pub struct OneEquilibrium {
    /// Coordinates and states.
    pub state: Named<f64>,
    /// Nothing grows.
    pub stable: bool,
    /// 1/s, largest real part first.
    pub eigenvalues: Vec<[f64; 2]>,
    /// Normal force of closed contacts.
    pub forces: Named<f64>,
    /// Number of displacements that change nothing.
    pub neutral: usize,
}

/// A point of a branch.
#[derive(Clone, Debug, Serialize)]
pub struct EquilibriumPoint {
    /// Value of the parameter.
    pub parameter: f64,
    /// Nothing grows.
    pub stable: bool,
    /// Coordinates and states.
    #[serde(flatten)]
    pub state: Named<f64>,
}

/// A special point.
#[derive(Clone, Debug, Serialize)]
pub struct SpecialPoint {
    /// fold, pitchfork, transcritical.
    pub label: &'static str,
    /// Value of the parameter.
    pub parameter: f64,
    /// Value of the coordinate that moves most.
    pub value: f64,
    /// That coordinate.
    pub coordinate: String,
    /// Stable or unstable before it.
    pub before: &'static str,
    /// Stable or unstable after it.
    pub after: &'static str,
    /// The state.
    pub state: Named<f64>,
}

/// Starts of a search for all equilibria, per coordinate.
const STARTS: usize = 16;
/// At most.
const MOST_STARTS: usize = 128;
/// Half width of the search of a coordinate that is no angle, in lengths of the machine.
const REACH: f64 = 3.0;

impl Machine {
    pub(super) fn equilibrium(
        &self,
        task: &EquilibriumTask,
        watch: Watch,
    ) -> Result<EquilibriumFinding, Error> {
        match (task.friction, &task.over) {
            (true, None) => self.bands_here(task, watch),
            (true, Some(_)) => self.bands_over(task, watch),
            (false, _) => self.frictionless(task, watch),
        }
    }

    fn frictionless(&self, task: &EquilibriumTask, watch: Watch) -> Result<EquilibriumFinding, Error> {
        let stop = || watch.is_interrupted();
        let here = self.all_equilibria(task.all || task.over.is_some(), &stop)?;
        let mut out = EquilibriumFinding {
            equilibria: Some(here.iter().map(|e| self.one_equilibrium(e)).collect()),
            explain: "rest-bands",
            ..EquilibriumFinding::default()
        };
        let Some(axis) = &task.over else { return Ok(out) };
        let machine = self.opened(vec![axis.name.clone()])?;
        let slot = machine.live_slot(&axis.name)?;
        // what does not reach the first end may pass the other one, or the value of the file
        let present = machine.system().parameters()[slot];
        let amid = Some(present).filter(|p| (p - axis.from) * (p - axis.to) < 0.0);
        let (mut starts, mut none): (Vec<(f64, Equilibrium)>, Option<Error>) = (Vec::new(), None);
        for place in [Some(axis.from), Some(axis.to), amid].into_iter().flatten() {
            match machine.vary(&[(&axis.name, place)])?.all_equilibria(true, &stop) {
                Ok(found) => starts.extend(found.into_iter().map(|e| (place, e))),
                Err(e) => none = none.or(Some(e)),
            }
        }
        if let (true, Some(e)) = (starts.is_empty(), none) {
            return Err(e);
        }
        starts.retain(|(_, e)| e.neutral == 0);
        if starts.is_empty() {
            return Err(Error::plain(
                format!(
                    "over {} every equilibrium can be displaced at will: there is no branch to follow",
                    axis.name
                ),
                "hold what moves freely with a spring or a fixed coordinate",
            ));
        }
        let found = diagram(machine.system(), &Line::of(slot), [axis.from, axis.to], &starts, &stop)
            .map_err(|e| self.refuse(e))?;
        self.put_branches(&found, &mut out);
        out.over = Some(axis.name.clone());
        Ok(out)
    }

    fn put_branches(&self, found: &Diagram, out: &mut EquilibriumFinding) {
        let word = |stable: Option<bool>| match stable {
            Some(true) => "stable",
            Some(false) => "unstable",
            None => "",
        };
        let names = self.coordinate_names("");
        out.branches = Some(
            found
                .branches
                .iter()
                .map(|b| {
                    let one = |p: &crate::analysis::branch::Point| EquilibriumPoint {
                        parameter: p.parameter,
                        stable: p.at.stable,
                        state: self.named_state(&p.at.state),
                    };
                    b.iter().map(one).collect()
                })
                .collect(),
        );
        out.special = Some(
            found
                .special
                .iter()
                .map(|s| SpecialPoint {
                    label: s.label,
                    parameter: s.parameter,
                    value: s.state.q.get(s.coordinate).copied().unwrap_or(f64::NAN),
                    coordinate: names.get(s.coordinate).cloned().unwrap_or_default(),
                    before: word(s.before),
                    after: word(s.after),
                    state: self.named_state(&s.state),
                })
                .collect(),
        );
        out.ended = Some(found.ended.clone());
    }

    /// Equilibria near the start, or all in the box of the search.
    pub(super) fn all_equilibria(
        &self,
        everywhere: bool,
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Equilibrium>, Error> {
        let (system, model) = (self.system(), self.model());
        let near = system.start();
        let closed: Vec<usize> = model.start.closed.iter().flat_map(|k| system.contacts_of(*k)).collect();
        let length = REACH * system.length_scale();
        let reach: Vec<f64> = model
            .coordinates
            .iter()
            .map(|c| match model.units.get(&c.name).map(String::as_str) {
                Some("rad" | "1" | "") => std::f64::consts::PI,
                _ => length,
            })
            .collect();
        let starts = everywhere.then(|| (STARTS * reach.len()).min(MOST_STARTS));
        all(system, &near, &closed, &reach, starts, stop).map_err(|e| self.refuse(e))
    }

    fn one_equilibrium(&self, e: &Equilibrium) -> OneEquilibrium {
        let info = self.system().contacts();
        let forces = info.iter().enumerate().filter(|(i, c)| e.closed[*i] && !c.is_given());
        OneEquilibrium {
            state: self.named_state(&e.state),
            stable: e.stable,
            eigenvalues: complex(&e.eigenvalues),
            forces: forces.map(|(_, c)| (c.name.clone(), c.normal_force(&e.lambda))).collect(),
            neutral: e.neutral,
        }
    }

    pub(super) fn named_state(&self, s: &crate::system::State) -> Named<f64> {
        let mut out: Named<f64> = Named::of(&self.coordinate_names(""), &s.q);
        let states = self.model().states.iter().map(|z| z.name.clone());
        out.extend(states.zip(s.z.iter().copied()));
        out
    }

    fn bands_here(&self, task: &EquilibriumTask, watch: Watch) -> Result<EquilibriumFinding, Error> {
        let (found, state, closed) = self.set_of_rest()?;
        let (attraction, probe) = self.attraction(&found, &state, &closed)?;
        let names = self.contact_names();
        let pick = |list: &[usize]| list.iter().map(|&i| names[i].clone()).collect::<Vec<String>>();
        let mut safety = Named(vec![("friction".to_string(), Num(found.friction))]);
        safety.extend(found.single.iter().map(|(i, f)| (names[*i].clone(), Num(*f))));
        let rest = RestTask { load: task.load.clone(), ..RestTask::default() };
        let machine = self.opened(task.load.iter().cloned().collect())?;
        let model = machine.at_rest(None, watch)?;
        let verdict = match analyse_rest(&model, &rest) {
            Ok(rest) => {
                if let Some(load) = &rest.start_load {
                    // how many times the present value
                    let limit = if load.value >= 0.0 { load.high } else { load.low };
                    safety.push(load.parameter.clone(), Num(limit / load.value));
                }
                Some(rest.rest.verdict)
            }
            Err(AnalysisError::NoPair) => None,
            Err(e) => return Err(self.refuse(e)),
        };
        let pair = |e: &[f64; 2]| e.map(Num);
        let normal = found.forces.iter().map(|f| (names[f.0].clone(), pair(&f.1)));
        // in space one range per tangent
        let tangential = found.forces.iter().flat_map(|f| {
            let name = |j: usize| match f.2.len() {
                1 => names[f.0].clone(),
                _ => format!("{}.{}", names[f.0], j + 1),
            };
            f.2.iter().enumerate().map(move |(j, e)| (name(j), pair(e))).collect::<Vec<_>>()
        });
        Ok(EquilibriumFinding {
            bands: Some(self.band(&found).into_iter().collect()),
            exact: Some(found.exact),
            margin: Some(Num(found.margin)),
            safety: Some(safety),
            forces: Some(normal.collect()),
            friction_forces: Some(tangential.collect()),
            stuck: Some(pick(&found.stuck)),
            first: Some(pick(&found.first)),
            verdict,
            attraction,
            probe,
            state: Some(self.named_state(&state)),
            explain: "rest-bands",
            ..EquilibriumFinding::default()
        })
    }

    fn bands_over(&self, task: &EquilibriumTask, watch: Watch) -> Result<EquilibriumFinding, Error> {
        let mut out = self.bands_here(&EquilibriumTask { over: None, ..task.clone() }, watch)?;
        let Some(axis) = &task.over else { return Ok(out) };
        let machine = self.opened(vec![axis.name.clone()])?;
        let mut all = Vec::with_capacity(axis.count);
        for i in 0..axis.count {
            if watch.is_interrupted() {
                break;
            }
            let one = machine.vary(&[(&axis.name, axis.value(i))])?;
            if let Some(band) = one.band(&one.set_of_rest()?.0) {
                out.values.push(axis.value(i));
                all.push(band);
            }
        }
        out.bands = Some(all);
        out.over = Some(axis.name.clone());
        Ok(out)
    }

    fn band(&self, found: &Bands) -> Option<Named<[Num; 2]>> {
        let ends = found.ends.as_ref()?;
        Some(self.coordinate_names("").into_iter().zip(ends.iter().map(|e| e.map(Num))).collect())
    }

    /// Whether the set of rest attracts; nothing where there is no rest.
    fn attraction(
        &self,
        found: &Bands,
        state: &State,
        closed: &[bool],
    ) -> Result<(Option<&'static str>, Option<Probe>), Error> {
        if !(found.margin >= 0.0) {
            return Ok((None, None));
        }
        let (system, refuse) = (self.system(), |e| self.refuse(e));
        if is_attractive(system, state, closed).map_err(refuse)? {
            return Ok((Some("attractive"), None));
        }
        let largest = |r: &[f64; 2]| r[0].abs().max(r[1].abs());
        let normals: Vec<(usize, f64)> = found.forces.iter().map(|(i, n, _)| (*i, largest(n))).collect();
        let probed = match self.settings() {
            Ok((_, settings)) => probe(system, state, closed, &normals, &settings).map_err(refuse)?,
            Err(_) => None,
        };
        Ok((Some("undecided"), probed))
    }

    fn set_of_rest(&self) -> Result<(Bands, State, Vec<bool>), Error> {
        let mut state = self.start()?;
        state.u.fill(0.0);
        let closed = crate::analysis::equilibria::touching(self.system(), &state);
        let info = self.system().contacts();
        let closed: Vec<bool> = closed.iter().zip(info).map(|(c, i)| *c || i.is_given()).collect();
        let found = bands(self.system(), &state, &closed).map_err(|e| self.refuse(e))?;
        Ok((found, state, closed))
    }
}

/// Real and imaginary parts.
pub(super) fn complex(values: &[Complex]) -> Vec<[f64; 2]> {
    values.iter().map(|v| [v.re, v.im]).collect()
}

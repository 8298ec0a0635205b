//! `analyse rest` for a model: verdict, the load at which it starts, the forces at a point that cannot move it.

use super::probe::Probe;
use super::rest::{Motion, Rest, RestVerdict, bracket, carried, motion, rest};
use super::stagnation::{Stagnation, stagnation};
use super::statics::Interval;
use super::{AnalysisError, frictional_contact};
use crate::contact::Transition;
use crate::linalg::axpy;
use crate::model::Model;
use crate::system::System;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct RestTask {
    /// Contacts that must exist and rub (for the message when they do not).
    pub contacts: Vec<String>,
    /// Load parameter (live in the model) whose limits are wanted.
    pub load: Option<String>,
    /// Points at which forces of all directions are tried.
    pub points: Vec<String>,
    /// An instant of the run whose position is looked at, s; default the start.
    pub at_time: Option<f64>,
}

/// The loads with which the machine can stay.
#[derive(Clone, Debug, PartialEq)]
pub struct StartLoad {
    /// The parameter.
    pub parameter: String,
    /// Value in the file.
    pub value: f64,
    /// Ends of the interval that contains the value, or is nearest to it; infinite when no such load starts it.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// Signs of the accelerations per coordinate with which it starts below and above; empty when it does not.
    pub low_direction: Vec<Option<f64>>,
    /// See `low_direction`.
    pub high_direction: Vec<Option<f64>>,
    /// All intervals (more than one only in odd machines).
    pub intervals: Vec<Interval>,
    /// Found as vertices of linear programs; false: bracketed and bisected.
    pub exact: bool,
}

/// A point and the forces there.
#[derive(Clone, Debug, PartialEq)]
pub struct PointLoads {
    /// The point.
    pub point: String,
    /// Directions, as if the force were the only load.
    pub stagnation: Stagnation,
    /// With the loads of the model: (direction, largest force that can be carried), every 2 degrees; empty when
    /// journals rub.
    pub limit: Vec<[f64; 2]>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RestFinding {
    /// Names of the coordinates.
    pub coordinates: Vec<String>,
    /// Names of the contacts.
    pub contacts: Vec<String>,
    /// Verdict and all outcomes.
    pub rest: Rest,
    /// Limits of the load.
    pub start_load: Option<StartLoad>,
    /// Per point.
    pub points: Vec<PointLoads>,
}

/// Answer.
///
/// # Errors
///
/// Unknown names, no freedom, a mass matrix that is singular on free motions, a start that is not consistent.
pub fn analyse_rest(model: &Model, task: &RestTask) -> Result<RestFinding, AnalysisError> {
    let mut probe = Probe::new(model, &task.points)?;
    check(&probe, &task.contacts)?;
    let mut transition = Transition::default();
    let found = {
        let info = probe.system.contacts();
        rest(info, probe.eval(), &probe.snapshot.starts, &mut transition)
    };
    if !found.valid {
        return Err(AnalysisError::SingularMass);
    }
    let start_load = match &task.load {
        Some(name) => Some(start_load(&mut probe, name, &mut transition)?),
        None => None,
    };
    let mut points = Vec::new();
    for (k, name) in task.points.iter().enumerate() {
        let columns = probe.point_columns(k)?;
        let (info, closed) = (probe.system.contacts(), probe.closed());
        let set = stagnation(info, probe.eval(), &closed, &columns, &mut transition);
        let mut limit = Vec::new();
        for step in 0..180 {
            let angle = f64::from(step).to_radians() * 2.0;
            let mut e = vec![0.0; columns[0].len()];
            axpy(angle.cos(), &columns[0], &mut e);
            axpy(angle.sin(), &columns[1], &mut e);
            let Some(list) = carried(info, probe.eval(), &closed, &probe.eval().h, &e) else { break };
            // the interval that begins at no force, up to rounding of its end
            let around = |i: &&Interval| i[0] <= 1e-12 * i[1].abs().min(f64::MAX) && i[1] >= 0.0;
            let top = list.iter().find(around).map_or(0.0, |i| i[1]);
            limit.push([angle, top]);
        }
        points.push(PointLoads { point: name.clone(), stagnation: set, limit });
    }
    let coordinates = model.coordinates.iter().map(|c| c.name.clone()).collect();
    let contacts = probe.system.contacts().iter().map(|c| c.name.clone()).collect();
    Ok(RestFinding { coordinates, contacts, rest: found, start_load, points })
}

/// The contacts exist and rub, and something can move.
pub(super) fn check(probe: &Probe, contacts: &[String]) -> Result<(), AnalysisError> {
    let info = probe.system.contacts();
    for name in contacts {
        frictional_contact(info, name)?;
    }
    if let Some(c) = info.iter().find(|c| c.friction && c.tangent.len() > 1) {
        return Err(AnalysisError::Spatial(c.name.clone()));
    }
    let velocities = probe.eval().h.len();
    let mut bilateral = vec![false; info.len()];
    bilateral.fill(false);
    let free = super::probe::free_motions(info, probe.eval(), &bilateral).cols();
    if free == 0 {
        return Err(AnalysisError::NoFreedom { constraints: velocities, velocities });
    }
    Ok(())
}

fn look(probe: &Probe, transition: &mut Transition) -> Motion {
    motion(probe.system.contacts(), probe.eval(), &probe.snapshot.starts, transition)
}

fn start_load(
    probe: &mut Probe,
    name: &str,
    transition: &mut Transition,
) -> Result<StartLoad, AnalysisError> {
    let parameter = probe.parameter(name)?;
    let value = probe.value(parameter);
    let mut exact = true;
    let mut intervals = Vec::new();
    let size = probe.size_of(&probe.slope(parameter), value);
    let column = probe.column(parameter)?;
    if let Some(e) = &column {
        let mut base = probe.eval().h.clone();
        axpy(-value, e, &mut base);
        match carried(probe.system.contacts(), probe.eval(), &probe.closed(), &base, e) {
            Some(list) => intervals = list,
            None => exact = false,
        }
    } else {
        exact = false;
    }
    if !exact {
        // a value that stays: the present one, else zero, else along a coarse scan
        let mut seed = None;
        let scan = (0..=40).flat_map(|k| [-1.0, 1.0].map(|s| s * 1e-3 * size * 1.5_f64.powi(k)));
        for v in [value, 0.0].into_iter().chain(scan) {
            if probe.set(parameter, v).is_ok() && look(probe, transition).stays {
                seed = Some(v);
                break;
            }
        }
        if let Some(seed) = seed {
            let step = 1e-3 * seed.abs().max(size);
            let mut stays = |v: f64| probe.set(parameter, v).is_ok() && look(probe, transition).stays;
            intervals.push(bracket(seed, step, 1e12 * step, &mut stays));
        }
        probe.set(parameter, value)?;
    }
    let distance = |i: &Interval| (i[0] - value).max(value - i[1]).max(0.0);
    let nearest = intervals.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let [low, high] = nearest.unwrap_or([f64::NAN, f64::NAN]);
    let mut beyond = |end: f64, sign: f64| -> Result<Vec<Option<f64>>, AnalysisError> {
        if !end.is_finite() {
            return Ok(Vec::new());
        }
        let width = Some(high - low).filter(|w| *w > 0.0 && w.is_finite()).unwrap_or(size);
        let step = 1e-6 * end.abs().max(1e-3 * width);
        probe.set(parameter, end + sign * step)?;
        let found = rest(probe.system.contacts(), probe.eval(), &probe.snapshot.starts, transition);
        probe.set(parameter, value)?;
        Ok(if found.verdict == RestVerdict::Moves { found.direction() } else { Vec::new() })
    };
    let (low_direction, high_direction) = (beyond(low, -1.0)?, beyond(high, 1.0)?);
    Ok(StartLoad {
        parameter: name.to_string(),
        value,
        low,
        high,
        low_direction,
        high_direction,
        intervals,
        exact,
    })
}

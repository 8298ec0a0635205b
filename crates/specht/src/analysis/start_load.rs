//! `analyse rest` for a model: verdict, the load at which it starts, the forces at a point that cannot move it.

use super::cones::Stand;
use super::flat::is_spatial;
use super::probe::Probe;
use super::rest::{Rest, RestVerdict, bracket, carried, motion, rest};
use super::rest_space::{PointInSpace, closed, point_in_space, rest_in_space};
use super::stagnation::{Stagnation, stagnation};
use super::statics::{Interval, Statics};
use super::{AnalysisError, frictional_contact};
use crate::contact::Transition;
use crate::linalg::axpy;
use crate::model::Model;
use crate::system::{ContactInfo, Eval, System};

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
    /// In space: a direction in which forces at the points are asked for.
    pub direction: Option<[f64; 3]>,
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
    /// In space: the plane of these directions, and the weakest of all.
    pub space: Option<PointInSpace>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct RestFinding {
    /// Names of the coordinates, then of the spins of bodies that turn freely.
    pub axes: Vec<String>,
    /// Names of the velocities: `x'`, `BODY.spin.x`.
    pub velocities: Vec<String>,
    /// Names of the accelerations.
    pub accelerations: Vec<String>,
    /// Rows of the tangents of each contact.
    pub tangents: Vec<Vec<usize>>,
    /// Names of the contacts.
    pub contacts: Vec<String>,
    /// Verdict and all outcomes.
    pub rest: Rest,
    /// Limits of the load.
    pub start_load: Option<StartLoad>,
    /// Per point.
    pub points: Vec<PointLoads>,
    /// In space: the forces with which it stands, or the virtual motion that shows why it does not.
    pub proof: Option<Proof>,
}

/// Why it stands, or does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// How far inside all bounds, relative to the forces; negative: it cannot stand.
    pub margin: f64,
    /// Forces by rows; empty when it does not stand.
    pub lambda: Vec<f64>,
    /// Rates of the coordinates, largest 1; empty when it stands.
    pub motion: Vec<f64>,
    /// Power of the loads in that motion, and what given bounds of friction can take of it.
    pub power: [f64; 2],
    /// Rate of the gap and size of the slip of each contact in that motion.
    pub rates: Vec<[f64; 2]>,
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
    let spatial = is_spatial(probe.system.contacts());
    let (found, proof) = {
        let (info, eval, starts) = (probe.system.contacts(), probe.eval(), &probe.snapshot.starts);
        if spatial {
            let (rest, stand) = rest_in_space(info, eval, starts)?;
            (rest, Some(proof(info, eval, &closed(starts), &stand)))
        } else {
            (rest(info, eval, starts, &mut transition), None)
        }
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
        points.push(match model.is_spatial() {
            true => point_of_space(&probe, model, k, name, task.direction)?,
            false => point_of_plane(&probe, k, name, &mut transition)?,
        });
    }
    let spins: Vec<String> = model
        .free
        .iter()
        .flat_map(|f| ["x", "y", "z"].map(|a| format!("{}.spin.{a}", model.bodies[f.body].name)))
        .collect();
    let named = |coordinate: &str, spin: &str| -> Vec<String> {
        let own = model.coordinates.iter().map(|c| format!("{}{coordinate}", c.name));
        own.chain(spins.iter().map(|s| format!("{s}{spin}"))).collect()
    };
    let tangents = probe.system.contacts().iter().map(|c| c.tangent.clone()).collect();
    let contacts = probe.system.contacts().iter().map(|c| c.name.clone()).collect();
    Ok(RestFinding {
        axes: named("", ""),
        velocities: named("'", ""),
        accelerations: named("''", "'"),
        tangents,
        contacts,
        rest: found,
        start_load,
        points,
        proof,
    })
}

fn point_of_plane(
    probe: &Probe,
    k: usize,
    name: &str,
    transition: &mut Transition,
) -> Result<PointLoads, AnalysisError> {
    let columns = probe.point_columns(k)?;
    let (info, closed) = (probe.system.contacts(), probe.closed());
    let set = stagnation(info, probe.eval(), &closed, &columns, transition);
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
    Ok(PointLoads { point: name.to_string(), stagnation: set, limit, space: None })
}

fn point_of_space(
    probe: &Probe,
    model: &Model,
    k: usize,
    name: &str,
    along: Option<[f64; 3]>,
) -> Result<PointLoads, AnalysisError> {
    let jacobian = probe.point_rows(k)?;
    let closed = probe.closed();
    let statics = Statics { info: probe.system.contacts(), eval: probe.eval(), closed: &closed, loads: true };
    let level = probe.system.gravity_of(model);
    let found = point_in_space(&statics, &jacobian, level, along)?;
    let limit = found.limit.clone();
    Ok(PointLoads { point: name.to_string(), stagnation: Stagnation::default(), limit, space: Some(found) })
}

/// The proof in the words of the machine.
fn proof(info: &[ContactInfo], eval: &Eval, closed: &[bool], stand: &Stand) -> Proof {
    let mut out = Proof {
        margin: stand.margin,
        lambda: Vec::new(),
        motion: Vec::new(),
        power: [0.0; 2],
        rates: Vec::new(),
    };
    if stand.stays() {
        out.lambda.clone_from(&stand.lambda);
        return out;
    }
    let largest = crate::linalg::max_abs(&stand.motion);
    let v: Vec<f64> = stand.motion.iter().map(|v| v / largest.max(f64::MIN_POSITIVE)).collect();
    let statics = Statics { info, eval, closed, loads: true };
    let rate = |row: usize| eval.w.row(row).dot(&v);
    for (i, c) in info.iter().enumerate() {
        let slip = c.tangent.iter().fold(0.0, |s: f64, &t| s.hypot(rate(t)));
        let takes_part = statics.takes_part(i);
        out.rates.push(if takes_part { [c.normal_row().map_or(0.0, rate), slip] } else { [0.0; 2] });
        if takes_part && c.is_given() && c.load_on.is_empty() && statics.rubs(i) {
            out.power[1] += eval.mu_static[i] * eval.load_static[i].max(0.0) * slip;
        }
    }
    out.power[0] = crate::linalg::dot(&eval.h, &v);
    out.motion = v;
    out
}

/// The contacts exist and rub, and something can move.
pub(super) fn check(probe: &Probe, contacts: &[String]) -> Result<(), AnalysisError> {
    let info = probe.system.contacts();
    for name in contacts {
        frictional_contact(info, name)?;
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

fn stays(probe: &Probe, transition: &mut Transition) -> bool {
    let (info, starts) = (probe.system.contacts(), &probe.snapshot.starts);
    if is_spatial(info) {
        let closed = closed(starts);
        let statics = Statics { info, eval: probe.eval(), closed: &closed, loads: true };
        return statics.stand(&probe.eval().h).is_ok_and(|s| s.stays());
    }
    motion(info, probe.eval(), starts, transition).stays
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
            if probe.set(parameter, v).is_ok() && stays(probe, transition) {
                seed = Some(v);
                break;
            }
        }
        if let Some(seed) = seed {
            let step = 1e-3 * seed.abs().max(size);
            let mut holds = |v: f64| probe.set(parameter, v).is_ok() && stays(probe, transition);
            intervals.push(bracket(seed, step, 1e12 * step, &mut holds));
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
        let (info, starts) = (probe.system.contacts(), &probe.snapshot.starts);
        let found = match is_spatial(info) {
            true => rest_in_space(info, probe.eval(), starts)?.0,
            false => rest(info, probe.eval(), starts, transition),
        };
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

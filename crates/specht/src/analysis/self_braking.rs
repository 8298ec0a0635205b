//! Self-braking (ANH-2.5-SELFBRAKE) for a model: points that no force can drive, efficiency, critical friction.
//!
//! A point is *self-braking* when no force at it, alone, starts the mechanism; *debraking* when some force certainly does;
//! *ambiguous* when the only forces that might are in a paradox region where rest is possible too. Over a parameter (the
//! position in a cycle) the borders of self-braking are refined by bisection to 1e-12 of the range.
//!
//! *Efficiency* of uniform motion: the mechanism slides with constant velocity v (one freedom), all accelerations zero;
//! the drive D balances the load. η = −P_load/P_drive when the drive drives, −P_drive/P_load when the load drives. Zero when it
//! jams however hard it is driven; negative when the load alone cannot move it (self-locking): the drive must help.
//!
//! *Critical friction*: the smallest common factor on the coefficients of the chosen contacts at which the load alone can be held (or
//! every force at the point). What can be held grows with μ, so bisection finds it; the forces of the best balance then give it
//! to rounding, for a point whose worst direction leaves a contact without force to 1e-6. Contacts that are all frictionless count with μ = 1.

use super::arcs::{Arc, breakpoints};
use super::braking_space::{along_motion, in_space, sharpen};
use super::journal::friction_times;
use super::one_pair::{BookPoint, OnePair};
use super::probe::{Probe, free_motions};
use super::rest::motion;
use super::stagnation::{Stagnation, silent, stagnation, static_arcs};
use super::start_load::check;
use super::statics::{Hold, Statics};
use super::uniform::{driven, holding_factor};
use super::{AnalysisError, frictional_contact};
use crate::contact::{Start, Transition};
use crate::linalg::dot;
use crate::model::Model;
use crate::system::{ContactInfo, Eval, System};

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct SelfBrakingTask {
    /// Contacts whose friction is scaled for the critical value; empty: all.
    pub contacts: Vec<String>,
    /// Points.
    pub points: Vec<String>,
    /// An instant of the run whose position is looked at, s; default the start.
    pub at_time: Option<f64>,
    /// Parameter of the driving load (live).
    pub drive: Option<String>,
    /// Parameter of the resisting load (live).
    pub load: Option<String>,
    /// Position in the cycle: parameter (live), from, to, count.
    pub over: Option<(String, f64, f64, usize)>,
}

/// Verdict on a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointVerdict {
    /// No force starts it.
    SelfBraking,
    /// Some force starts it.
    Debraking,
    /// No force starts it for certain.
    Ambiguous,
}

/// A point at one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PointBraking {
    /// Verdict.
    pub verdict: PointVerdict,
    /// Ψ, rad.
    pub stagnation_angle: f64,
    /// The directions.
    pub directions: Stagnation,
    /// The book's verdict and angle (2.108), for one coordinate and one bilateral pair.
    pub book: Option<(BookPoint, f64)>,
    /// Factor on the friction at which every force at the point can be held; `None`: never.
    pub critical_factor: Option<f64>,
    /// In space: the part of all directions that cannot start it, by samples; the directions above are then empty.
    pub share: Option<f64>,
}

/// A point along the cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct PointCurve {
    /// Verdict per value of the parameter.
    pub verdict: Vec<PointVerdict>,
    /// Ψ per value.
    pub stagnation_angle: Vec<f64>,
    /// Intervals of the parameter in which the point is self-braking.
    pub self_braking: Vec<[f64; 2]>,
}

/// Uniform motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform {
    /// Drive that balances the load; an interval for hyperstatic contacts; NaN when it jams.
    pub drive: [f64; 2],
    /// Efficiency: range for hyperstatic contacts.
    pub efficiency: [f64; 2],
}

/// Efficiency both ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// The drive drives, the load resists.
    pub forward: Uniform,
    /// The load drives, the drive holds back.
    pub backward: Uniform,
    /// The load alone cannot move it.
    pub self_locking: bool,
    /// Factor on the friction at which self-locking begins; `None`: never.
    pub critical_factor: Option<f64>,
}

/// Whether the load alone can be held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// It can, however large it is when it is the only load.
    pub held: bool,
    /// Factor on the friction at which that begins; `None`: never.
    pub critical_factor: Option<f64>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfBrakingFinding {
    /// Points, by name.
    pub points: Vec<(String, PointBraking)>,
    /// Values of the parameter and curves by point.
    pub curve: Option<(String, Vec<f64>, Vec<PointCurve>)>,
    /// Efficiency, when drive and load are given.
    pub efficiency: Option<Efficiency>,
    /// Whether the load alone is held, when it is given.
    pub load: Option<Holding>,
    /// μ of the contacts that are scaled, by name.
    pub mu: Vec<(String, f64)>,
}

/// Answer.
///
/// # Errors
///
/// Unknown names, no or several freedoms where one is needed, a start that is not consistent.
pub fn analyse_self_braking(
    model: &Model,
    task: &SelfBrakingTask,
) -> Result<SelfBrakingFinding, AnalysisError> {
    let mut probe = Probe::new(model, &task.points)?;
    check(&probe, &task.contacts)?;
    let scaled = scaled_contacts(&probe, &task.contacts)?;
    let mut transition = Transition::default();

    let mut points = Vec::new();
    for (k, name) in task.points.iter().enumerate() {
        let (info, closed) = (probe.system.contacts(), probe.closed());
        if model.is_spatial() {
            let rows = probe.point_rows(k)?;
            let point = in_space(info, probe.eval(), &closed, &rows, &scaled)?;
            points.push((name.clone(), point));
            continue;
        }
        let columns = probe.point_columns(k)?;
        let mut point = at(info, probe.eval(), &closed, &columns, &mut transition);
        let eval = unit_friction(probe.eval(), &scaled);
        let rough = critical_factor(&eval, &scaled, |eval| {
            gaps(info, eval, &closed, &columns, &mut transition).is_empty()
        });
        point.critical_factor =
            rough.map(|k| polish_everywhere(info, &eval, &closed, &columns, &scaled, k, &mut transition));
        points.push((name.clone(), point));
    }
    let load = match &task.load {
        Some(load) => Some(load_column(&mut probe, load)?),
        None => None,
    };
    let holding = load.as_ref().map(|column| {
        let closed = probe.closed();
        holding(probe.system.contacts(), probe.eval(), &closed, column, &scaled, &mut transition)
    });
    let efficiency = match (&task.drive, &load) {
        (Some(drive), Some(column)) => Some(efficiency(&mut probe, drive, column, &scaled, &mut transition)?),
        (Some(_), None) => {
            let text = "the efficiency needs `load` too, the parameter of the resisting load".to_string();
            return Err(AnalysisError::Key(text));
        }
        _ => None,
    };
    let curve = match &task.over {
        Some((name, from, to, count)) => Some((
            name.clone(),
            grid(*from, *to, *count),
            curves(&mut probe, model, task, name, [*from, *to], *count, &mut transition)?,
        )),
        None => None,
    };
    let info = probe.system.contacts();
    let eval = unit_friction(probe.eval(), &scaled);
    let mu = |&i: &usize| (info[i].name.clone(), eval.coefficient(i, eval.mu_static[i]));
    let mu = scaled.iter().map(mu).collect();
    Ok(SelfBrakingFinding { points, curve, efficiency, load: holding, mu })
}

/// A point from the columns Jᵀ e₁, Jᵀ e₂ of its force.
pub(crate) fn at(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    columns: &[Vec<f64>; 2],
    transition: &mut Transition,
) -> PointBraking {
    let directions = stagnation(info, eval, closed, columns, transition);
    let verdict = if !directions.moving.is_empty() {
        PointVerdict::Debraking
    } else if directions.ambiguous.is_empty() {
        PointVerdict::SelfBraking
    } else {
        PointVerdict::Ambiguous
    };
    let pair = (0..info.len()).find_map(|i| OnePair::of(info, eval, closed, i));
    let book = pair.map(|p| (p.point(columns), p.stagnation_angle(columns)));
    PointBraking {
        verdict,
        stagnation_angle: directions.angle(),
        directions,
        book,
        critical_factor: None,
        share: None,
    }
}

fn scaled_contacts(probe: &Probe, names: &[String]) -> Result<Vec<usize>, AnalysisError> {
    let info = probe.system.contacts();
    if names.is_empty() {
        let all: Vec<usize> =
            (0..info.len()).filter(|&i| info[i].friction && !info[i].tangent.is_empty()).collect();
        return if all.is_empty() { Err(AnalysisError::NoPair) } else { Ok(all) };
    }
    names.iter().map(|n| frictional_contact(info, n)).collect()
}

fn grid(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count)
        .map(|k| if count > 1 { from + (to - from) * k as f64 / (count - 1) as f64 } else { from })
        .collect()
}

fn curves(
    probe: &mut Probe,
    model: &Model,
    task: &SelfBrakingTask,
    name: &str,
    ends: [f64; 2],
    count: usize,
    transition: &mut Transition,
) -> Result<Vec<PointCurve>, AnalysisError> {
    let parameter = probe.parameter(name)?;
    let before = probe.value(parameter);
    let values = grid(ends[0], ends[1], count);
    let mut curves = Vec::new();
    for k in 0..task.points.len() {
        let mut ask = |v: f64| -> Result<PointBraking, AnalysisError> {
            probe.set(parameter, v)?;
            if model.is_spatial() {
                let (rows, closed) = (probe.point_rows(k)?, probe.closed());
                return in_space(probe.system.contacts(), probe.eval(), &closed, &rows, &[]);
            }
            let columns = probe.point_columns(k)?;
            Ok(at(probe.system.contacts(), probe.eval(), &probe.closed(), &columns, transition))
        };
        let mut curve =
            PointCurve { verdict: Vec::new(), stagnation_angle: Vec::new(), self_braking: Vec::new() };
        for &v in &values {
            let p = ask(v)?;
            curve.verdict.push(p.verdict);
            curve.stagnation_angle.push(p.stagnation_angle);
        }
        let brakes = |v: &PointVerdict| *v == PointVerdict::SelfBraking;
        let mut open: Option<f64> = curve.verdict.first().filter(|v| brakes(v)).map(|_| values[0]);
        for i in 1..values.len() {
            let (a, b) = (brakes(&curve.verdict[i - 1]), brakes(&curve.verdict[i]));
            if a == b {
                continue;
            }
            let (mut lo, mut hi) = (values[i - 1], values[i]);
            while (hi - lo).abs() > 1e-12 * (ends[1] - ends[0]).abs() {
                let mid = 0.5 * (lo + hi);
                if brakes(&ask(mid)?.verdict) == a { lo = mid } else { hi = mid }
            }
            let border = 0.5 * (lo + hi);
            match open.take() {
                Some(from) => curve.self_braking.push([from, border]),
                None => open = Some(border),
            }
        }
        if let (Some(from), Some(&to)) = (open, values.last()) {
            curve.self_braking.push([from, to]);
        }
        curves.push(curve);
    }
    probe.set(parameter, before)?;
    Ok(curves)
}

/// The generalised force of a load at its value in the file.
fn load_column(probe: &mut Probe, name: &str) -> Result<Vec<f64>, AnalysisError> {
    let parameter = probe.parameter(name)?;
    let value = probe.value(parameter);
    if value == 0.0 {
        return Err(AnalysisError::Key(format!("the load `{name}` is zero; give it a value to be moved")));
    }
    let column = linear(probe, parameter, name)?;
    Ok(column.iter().map(|v| v * value).collect())
}

fn linear(probe: &mut Probe, parameter: usize, name: &str) -> Result<Vec<f64>, AnalysisError> {
    let text = || AnalysisError::Key(format!("the forces are not linear in `{name}`, so it is no load"));
    probe.column(parameter)?.ok_or_else(text)
}

fn efficiency(
    probe: &mut Probe,
    drive: &str,
    load: &[f64],
    scaled: &[usize],
    transition: &mut Transition,
) -> Result<Efficiency, AnalysisError> {
    let parameter = probe.parameter(drive)?;
    let column = linear(probe, parameter, drive)?;
    let (info, closed) = (probe.system.contacts(), probe.closed());
    uniform(info, probe.eval(), &closed, &column, load, scaled, transition)
}

/// Whether a load alone is held, and from which friction on.
pub(crate) fn holding(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    load: &[f64],
    scaled: &[usize],
    transition: &mut Transition,
) -> Holding {
    let mut holds = |eval: &Eval| {
        let statics = Statics { info, eval, closed, loads: true };
        if (statics.is_linear() || statics.has_discs())
            && let Some(stays) = statics.can_stay(load)
        {
            return stays;
        }
        let mut own = eval.clone();
        own.h.copy_from_slice(load);
        let starts: Vec<Start> = closed.iter().map(|c| if *c { Start::Zero } else { Start::Open }).collect();
        motion(info, &own, &starts, transition).stays
    };
    let held = holds(eval);
    let rubs = scaled.iter().any(|&i| eval.mu_static[i] > 0.0);
    let eval = &unit_friction(eval, scaled);
    let found = critical_factor(eval, scaled, holds);
    let exact = |k: f64| {
        let statics = Statics { info, eval, closed, loads: true };
        match holding_factor(&statics, load, scaled) {
            Some(sharp) if !statics.is_linear() && (sharp / k - 1.0).abs() < 1e-4 => sharp,
            _ if statics.has_discs() => sharpen(info, eval, closed, load, true, scaled, k),
            _ => polish(info, eval, closed, load, true, scaled, k),
        }
    };
    let critical_factor = found.map(exact);
    // of contacts that brace each other the border is known better than what is held beside it
    let braced = Statics { info, eval, closed, loads: true }.has_discs() && rubs;
    let held = if braced { critical_factor.is_some_and(|k| k <= 1.0 + 1e-10) } else { held };
    Holding { held, critical_factor }
}

/// Feasibility of a linear program is decided to 1e-9; the factor itself follows from the forces of the best balance, as the largest
/// |λ_T|/(μ N), to rounding. Starting above, the sequence falls to the least factor (Dinkelbach; distances weighted with the bounds of the last
/// balance, so that contacts with little force do not slow it down, as Crouzeix, Ferland and Schaible do).
pub(super) fn polish(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    load: &[f64],
    loads: bool,
    scaled: &[usize],
    rough: f64,
) -> f64 {
    if rough == 0.0 {
        return rough;
    }
    let mut best = rough;
    let mut k = rough * (1.0 + 1e-4);
    let mut weights: Vec<(usize, f64)> = scaled.iter().map(|&i| (i, 1.0)).collect();
    for _ in 0..100 {
        let own = friction_times(eval, scaled, k);
        let statics = Statics { info, eval: &own, closed, loads };
        if !statics.is_linear() {
            break;
        }
        let Some((margin, lambda)) = statics.margin(load, &weights) else { break };
        if !margin.is_finite() {
            break;
        }
        let next = k * statics.utilisation(&lambda, scaled);
        if !(next <= rough * (1.0 + 1e-3)) {
            break;
        }
        best = next;
        if (next - k).abs() <= 1e-15 * k {
            break;
        }
        k = next;
        let bounds = statics.bounds(&lambda, scaled);
        let largest = crate::linalg::max_abs(&bounds);
        for (w, bound) in weights.iter_mut().zip(bounds) {
            w.1 = (bound / largest).max(1e-9);
        }
    }
    best
}

/// Efficiency from the generalised forces of the drive (per unit) and of the load.
///
/// # Errors
///
/// Not exactly one free motion; journals in a mechanism whose forces balance alone does not determine.
pub(crate) fn uniform(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    drive: &[f64],
    load: &[f64],
    scaled: &[usize],
    transition: &mut Transition,
) -> Result<Efficiency, AnalysisError> {
    let free = free_motions(info, eval, closed);
    if free.cols() != 1 {
        let text = format!(
            "efficiency is that of one uniform motion; the closed contacts leave {} free motions",
            free.cols()
        );
        return Err(AnalysisError::Key(text));
    }
    let statics = Statics { info, eval, closed, loads: true };
    let t: Vec<f64> = (0..free.rows()).map(|i| free[(i, 0)]).collect();
    let too_many =
        || AnalysisError::TooMany { pairs: statics.signed().len(), limit: 1 << super::statics::MAX_SIGNED };
    let one = |v: &[f64]| -> Result<(bool, Uniform), AnalysisError> {
        // friction in a tangent plane is against the slip of this motion
        let (own, along) = along_motion(info, eval, v);
        let (info, eval) = (own.as_slice(), &along);
        let statics = Statics { info, eval, closed, loads: true };
        let hold: Vec<Hold> = info
            .iter()
            .map(|c| match c.tangent.first() {
                Some(&row) => {
                    let (slip, size) = (eval.w.row(row).dot(v), eval.w.row(row).square().sqrt());
                    if slip.abs() <= 1e-12 * size { Hold::Stick } else { Hold::Slide(slip.signum()) }
                }
                None => Hold::Smooth,
            })
            .collect();
        let power_load = dot(load, v);
        let resists = power_load < 0.0;
        let range = match statics.is_linear() {
            true => {
                let list = statics.intervals(load, drive, &hold).ok_or_else(too_many)?;
                list.first().zip(list.last()).map(|(first, last)| [first[0], last[1]])
            }
            false => driven(&statics, load, drive, &hold)?.map(|p| [p, p]),
        };
        let Some(range) = range else {
            return Ok((resists, Uniform { drive: [f64::NAN; 2], efficiency: [0.0; 2] }));
        };
        let eta = |d: f64| {
            let power_drive = d * dot(drive, v);
            if resists { -power_load / power_drive } else { -power_drive / power_load }
        };
        let (a, b) = (eta(range[0]), eta(range[1]));
        Ok((resists, Uniform { drive: range, efficiency: [a.min(b), a.max(b)] }))
    };
    let back: Vec<f64> = t.iter().map(|v| -v).collect();
    let (first, second) = (one(&t)?, one(&back)?);
    let (forward, backward) = if first.0 { (first.1, second.1) } else { (second.1, first.1) };
    let Holding { held, critical_factor } = holding(info, eval, closed, load, scaled, transition);
    let self_locking = held;
    Ok(Efficiency { forward, backward, self_locking, critical_factor })
}

/// A factor at which all directions can be held is the largest factor of any single direction, which [`polish`] finds to rounding: search the
/// gaps that are left just below for it, by golden section.
fn polish_everywhere(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    columns: &[Vec<f64>; 2],
    scaled: &[usize],
    rough: f64,
    transition: &mut Transition,
) -> f64 {
    let own = friction_times(eval, scaled, rough * (1.0 - 1e-4));
    let quiet = silent(eval);
    let factor = |angle: f64| polish(info, &quiet, closed, &along(columns, angle), false, scaled, rough);
    let largest = |gap: &Arc| {
        let part = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut a, mut b) = (gap.from, gap.to);
        let (mut x, mut y) = (b - part * (b - a), a + part * (b - a));
        let (mut fx, mut fy) = (factor(x), factor(y));
        let mut best = fx.max(fy);
        while b - a > 3e-9 && (fx != fy || b - a > 0.1 * gap.width()) {
            if fx > fy {
                (b, y, fy) = (y, x, fx);
                x = b - part * (b - a);
                fx = factor(x);
            } else {
                (a, x, fx) = (x, y, fy);
                y = a + part * (b - a);
                fy = factor(y);
            }
            best = best.max(fx).max(fy);
        }
        best
    };
    let open = gaps(info, &own, closed, columns, transition);
    open.iter().map(largest).reduce(f64::max).unwrap_or(rough)
}

fn along(columns: &[Vec<f64>; 2], angle: f64) -> Vec<f64> {
    let (s, c) = angle.sin_cos();
    columns[0].iter().zip(&columns[1]).map(|(x, y)| c * x + s * y).collect()
}

/// Directions in which a force at the point cannot be held.
fn gaps(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    columns: &[Vec<f64>; 2],
    transition: &mut Transition,
) -> Vec<Arc> {
    let statics = Statics { info, eval, closed, loads: false };
    match static_arcs(&statics, columns) {
        Some(arcs) => {
            let points = breakpoints(&arcs);
            if points.is_empty() {
                let all = arcs.iter().any(|a| a.width() > 6.0)
                    || statics.can_stay(&along(columns, 0.3)) == Some(true);
                return if all { Vec::new() } else { vec![Arc::CIRCLE] };
            }
            let n = points.len();
            let piece = |k: usize| {
                Arc::new(points[k], if k + 1 < n { points[k + 1] } else { points[0] + std::f64::consts::TAU })
            };
            (0..n).map(piece).filter(|p| !arcs.iter().any(|a| a.contains(p.middle()))).collect()
        }
        None => {
            let mut quiet = silent(eval);
            let starts: Vec<Start> =
                closed.iter().map(|c| if *c { Start::Zero } else { Start::Open }).collect();
            let step = std::f64::consts::TAU / 72.0;
            (0..72)
                .map(|k| Arc::new((f64::from(k) - 0.5) * step + 0.01, (f64::from(k) + 0.5) * step + 0.01))
                .filter(|piece| {
                    quiet.h = along(columns, piece.middle());
                    !motion(info, &quiet, &starts, transition).stays
                })
                .collect()
        }
    }
}

/// The smallest factor on μ of `scaled` from which `holds` is true, by bisection (what can be held grows with μ).
pub(super) fn critical_factor(
    eval: &Eval,
    scaled: &[usize],
    mut holds: impl FnMut(&Eval) -> bool,
) -> Option<f64> {
    let mut test = |k: f64| holds(&friction_times(eval, scaled, k));
    if test(0.0) {
        return Some(0.0);
    }
    let mut hi = 1.0;
    while !test(hi) {
        hi *= 4.0;
        if hi > 1e7 {
            return None;
        }
    }
    let mut lo = if hi > 1.0 { hi / 4.0 } else { 0.0 };
    for _ in 0..200 {
        let mid = 0.5 * (lo + hi);
        if hi - lo <= 1e-13 * hi || mid == lo || mid == hi {
            break;
        }
        if test(mid) { hi = mid } else { lo = mid }
    }
    Some(0.5 * (lo + hi))
}

/// Factors of a friction that is zero at every chosen contact say nothing: they then multiply μ = 1.
pub(super) fn unit_friction(eval: &Eval, scaled: &[usize]) -> Eval {
    let mut own = eval.clone();
    if scaled.iter().all(|&i| own.mu_static[i] == 0.0) {
        for &i in scaled {
            own.mu[i] = eval.bound_factor(i, 1.0);
            own.mu_static[i] = own.mu[i];
        }
    }
    own
}

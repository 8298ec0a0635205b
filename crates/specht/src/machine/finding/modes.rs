//! `modes`, `response`, `break-away`: vibration about a state with every contact held.

use serde::Serialize;

use crate::analysis::AnalysisError;
use crate::analysis::linear::{Column, Hold, Linear, Way};
use crate::analysis::map::Watch;
use crate::analysis::modes::{Driven, ModeShape, break_away, make_one, modes};
use crate::expr::NodeId;
use crate::linalg::{Complex, max_abs};
use crate::machine::json::{Named, Num};
use crate::machine::questions::{BreakAwayTask, HeldContacts, ModesTask, ResponseTask};
use crate::machine::scene::Scene;
use crate::machine::{Error, Machine};
use crate::model::{CompiledSystem, Force, ForceKind, Input, Law, Model, Parameter, build};
use crate::system::{State, System};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// `modes`.
#[derive(Clone, Debug, Serialize)]
pub struct ModesFinding {
    /// Lowest first.
    pub modes: Vec<OneMode>,
    /// What every contact is held to do.
    pub contacts: Named<&'static str>,
    /// Whether the state is an equilibrium of the held system.
    pub balanced: bool,
    /// Over a parameter: its values, and frequency and damping of every mode there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<ModePoint>>,
    /// Name of that parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// Page.
    pub explain: &'static str,
}

/// A mode.
#[derive(Clone, Debug, Serialize)]
pub struct OneMode {
    /// Natural frequency |λ|/2π, Hz; 0 for what does not oscillate.
    pub frequency: f64,
    /// Im λ/2π, Hz.
    pub damped_frequency: f64,
    /// Damping ratio −Re λ/|λ|.
    pub damping: f64,
    /// 1/s, real and imaginary part.
    pub eigenvalue: [f64; 2],
    /// Displacement of every coordinate; of those with the unit of the one that has most of the energy the largest is 1.
    pub shape: Named<[f64; 2]>,
    /// Share of every coordinate in the kinetic energy.
    pub energy_share: Named<f64>,
    /// The machine swinging so, for pictures: one period.
    #[serde(skip)]
    pub scene: Option<Box<Scene>>,
}

/// Modes that are shown moving.
const SHOWN: usize = 8;

/// Frequencies at one value of a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct ModePoint {
    /// The value.
    pub parameter: f64,
    /// Hz, lowest first.
    pub frequency: Vec<f64>,
    /// Damping ratios.
    pub damping: Vec<f64>,
}

/// `response`.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseFinding {
    /// Hz.
    pub frequency: Vec<f64>,
    /// Per unit of force, by coordinate.
    pub amplitude: Named<Vec<f64>>,
    /// Behind the force, rad, by coordinate: −π/2 at a resonance.
    pub phase: Named<Vec<f64>>,
    /// Largest amplitudes, refined between the frequencies asked for.
    pub peaks: Vec<Peak>,
    /// Page.
    pub explain: &'static str,
}

/// A peak of the response.
#[derive(Clone, Debug, Serialize)]
pub struct Peak {
    /// Which coordinate.
    pub coordinate: String,
    /// Hz.
    pub frequency: f64,
    /// Per unit of force.
    pub amplitude: f64,
}

/// `break-away`.
#[derive(Clone, Debug, Serialize)]
pub struct BreakAwayFinding {
    /// As asked for.
    pub frequency: Vec<f64>,
    /// Amplitude at which the first contact gives way.
    pub amplitude: Vec<Num>,
    /// Which contact; none where nothing gives way.
    pub contact: Vec<Option<String>>,
    /// The smallest, refined between the frequencies asked for.
    pub least: Option<Least>,
    /// Name of the amplitude.
    pub parameter: String,
    /// Page.
    pub explain: &'static str,
}

/// The smallest amplitude.
#[derive(Clone, Debug, Serialize)]
pub struct Least {
    /// Where.
    pub frequency: f64,
    /// Amplitude.
    pub amplitude: f64,
    /// Which contact.
    pub contact: String,
}

impl Machine {
    pub(super) fn modes(&self, task: &ModesTask, watch: Watch) -> Result<ModesFinding, Error> {
        let state = self.state(&task.look, watch)?;
        let mut linear = self.linearised(self.system(), &state, &task.held)?;
        let found = modes(&mut linear).map_err(|e| self.refuse(e))?;
        let names = self.coordinate_names("");
        let balanced = is_balanced(&mut linear).map_err(|e| self.refuse(e))?;
        let contacts = contacts(&linear);
        let points = match &task.over {
            None => None,
            Some(axis) => {
                let machine = self.opened(vec![axis.name.clone()])?;
                let mut points = Vec::with_capacity(axis.count);
                for i in 0..axis.count {
                    if watch.is_interrupted() {
                        break;
                    }
                    let one = machine.vary(&[(&axis.name, axis.value(i))])?;
                    let state = one.state(&task.look, watch)?;
                    let mut linear = one.linearised(one.system(), &state, &task.held)?;
                    let all = modes(&mut linear).map_err(|e| self.refuse(e))?;
                    points.push(ModePoint {
                        parameter: axis.value(i),
                        frequency: all.iter().map(natural).collect(),
                        damping: all.iter().map(|m| m.damping).collect(),
                    });
                }
                Some(points)
            }
        };
        let mut list: Vec<OneMode> = found.iter().map(|m| one_mode(&names, &self.model().units, m)).collect();
        for (one, m) in list.iter_mut().zip(&found).filter(|(one, _)| one.frequency > 0.0).take(SHOWN) {
            one.scene = self.swing(&state, &m.shape).map(Box::new);
        }
        Ok(ModesFinding {
            modes: list,
            contacts,
            balanced,
            points,
            over: task.over.as_ref().map(|a| a.name.clone()),
            explain: "modes",
        })
    }

    pub(super) fn response(&self, task: &ResponseTask, watch: Watch) -> Result<ResponseFinding, Error> {
        let state = self.state(&task.look, watch)?;
        let (system, slot) = self.with_unit_force(&task.force)?;
        let mut linear = self.linearised(&system, &state, &task.held)?;
        let force = slope(&mut linear, slot).map_err(|e| self.refuse(e))?;
        self.some_force(&task.force, &force)?;
        let still = vec![0.0; force.len()];
        let driven = Driven::new(&mut linear, &[force, still]).map_err(|e| self.refuse(e))?;
        let axis = &task.over;
        let frequency: Vec<f64> = (0..axis.count).map(|i| axis.value(i)).collect();
        let all: Vec<Vec<Complex>> = frequency.iter().map(|f| driven.at(*f).shape).collect();
        let names = self.coordinate_names("");
        let column =
            |k: usize, f: fn(&Complex) -> f64| all.iter().map(|shape| f(&shape[k])).collect::<Vec<f64>>();
        let mut peaks = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let amplitude = column(k, Complex::abs);
            for i in 1..amplitude.len().saturating_sub(1) {
                if amplitude[i] > amplitude[i - 1] && amplitude[i] >= amplitude[i + 1] {
                    let of = |f: f64| -driven.at(f).shape[k].abs();
                    let (f, least) = refined(of, frequency[i - 1], frequency[i + 1]);
                    peaks.push(Peak { coordinate: name.clone(), frequency: f, amplitude: -least });
                }
            }
        }
        let table = |f: fn(&Complex) -> f64| {
            names.iter().enumerate().map(|(k, n)| (n.clone(), column(k, f))).collect::<Named<Vec<f64>>>()
        };
        Ok(ResponseFinding {
            amplitude: table(Complex::abs),
            phase: table(|c| c.im.atan2(c.re)),
            frequency,
            peaks,
            explain: "modes",
        })
    }

    pub(super) fn break_away(&self, task: &BreakAwayTask, watch: Watch) -> Result<BreakAwayFinding, Error> {
        let is_parameter = self.model().parameters.iter().any(|p| p.name == task.over.name);
        let mut live = vec![task.amplitude.clone()];
        live.extend(is_parameter.then(|| task.over.name.clone()));
        let machine = self.opened(live)?;
        // the excitation is small: the state is that without it
        let still = machine.vary(&[(&task.amplitude, 0.0)])?;
        let state = still.state(&task.look, watch)?;
        let at = |f: f64| -> Result<(f64, Option<usize>), Error> {
            let machine = match is_parameter {
                true => still.vary(&[(&task.over.name, f)])?,
                false => still.clone(),
            };
            let mut linear = machine.linearised(machine.system(), &state, &task.held)?;
            let slot = machine.live_slot(&task.amplitude)?;
            let (force, hertz) = self.harmonic(&mut linear, slot, f, &task.amplitude)?;
            let driven = Driven::new(&mut linear, &force).map_err(|e| self.refuse(e))?;
            let found = break_away(&linear, &driven.at(hertz).forces);
            Ok(found.map_or((f64::INFINITY, None), |(a, i)| (a, Some(i))))
        };
        let axis = &task.over;
        let frequency: Vec<f64> = (0..axis.count).map(|i| axis.value(i)).collect();
        let mut amplitude = Vec::with_capacity(axis.count);
        let mut contact = Vec::with_capacity(axis.count);
        let names = self.contact_names();
        for &f in &frequency {
            let (a, i) = at(f)?;
            amplitude.push(a);
            contact.push(i.map(|i| names[i].clone()));
        }
        let lowest = (0..amplitude.len()).min_by(|&a, &b| amplitude[a].total_cmp(&amplitude[b]));
        let least = lowest.filter(|&k| amplitude[k].is_finite()).and_then(|k| {
            let (from, to) = (frequency[k.saturating_sub(1)], frequency[(k + 1).min(frequency.len() - 1)]);
            let (f, _) = refined(|f| at(f).map_or(f64::INFINITY, |a| a.0), from, to);
            let best = [f, frequency[k]].into_iter().map(|f| (f, at(f).ok()));
            let best = best.filter_map(|(f, a)| a.map(|a| (f, a))).min_by(|a, b| a.1.0.total_cmp(&b.1.0));
            best.and_then(|(frequency, (amplitude, i))| {
                Some(Least { frequency, amplitude, contact: names[i?].clone() })
            })
        });
        Ok(BreakAwayFinding {
            frequency,
            amplitude: amplitude.into_iter().map(Num).collect(),
            contact,
            least,
            parameter: task.amplitude.clone(),
            explain: "modes",
        })
    }

    /// The machine linearised at a state, contacts held as named.
    pub(super) fn linearised<'a>(
        &self,
        system: &'a CompiledSystem,
        state: &State,
        held: &HeldContacts,
    ) -> Result<Linear<'a, CompiledSystem>, Error> {
        let mut linear = Linear::new(system, state.clone());
        let mut hold = linear.present();
        for (names, way) in
            [(&held.stick, Hold::Stick), (&held.slide, Hold::Smooth), (&held.open, Hold::Open)]
        {
            for name in names {
                for i in self.contacts_called(name)? {
                    let c = &linear.info[i];
                    if way != Hold::Open && hold[i] == Hold::Open {
                        return Err(self.refuse(AnalysisError::Open(c.name.clone())));
                    }
                    if way == Hold::Open && c.is_bilateral() {
                        let message = format!("contact `{}` is two-sided and never opens", c.name);
                        return Err(Error::plain(message, "let it stick or slide"));
                    }
                    hold[i] = match (way, linear.direction(i)) {
                        (Hold::Stick, _) if c.tangent.is_empty() => Hold::Smooth,
                        (Hold::Smooth, Some(d)) if c.friction => Hold::Slide(d),
                        (way, _) => way,
                    };
                }
            }
        }
        linear.hold(&hold);
        linear.solve().map_err(|e| self.refuse(e))?;
        Ok(linear)
    }

    /// Contacts of a name, all members of a family.
    pub(super) fn contacts_called(&self, name: &str) -> Result<Vec<usize>, Error> {
        let info = self.system().contacts();
        let mine = |c: &str| c == name || c.strip_prefix(name).is_some_and(|r| r.starts_with(['[', '.']));
        let found: Vec<usize> = (0..info.len()).filter(|&i| mine(&info[i].name)).collect();
        match found.is_empty() {
            true => {
                Err(self
                    .refuse(AnalysisError::UnknownContact { name: name.into(), known: self.contact_names() }))
            }
            false => Ok(found),
        }
    }

    /// The number of a live parameter.
    pub(super) fn live_slot(&self, name: &str) -> Result<usize, Error> {
        let found = self.system().model().parameters.iter().find(|p| p.name == name).and_then(|p| p.live);
        found.ok_or_else(|| {
            let known = self.model().parameters.iter().map(|p| p.name.clone()).collect();
            self.refuse(AnalysisError::UnknownParameter { name: name.into(), known })
        })
    }

    /// The system with a force of unit size beside the one of this name, or with the parameter of this name open; and the number of the
    /// parameter that scales it.
    fn with_unit_force(&self, name: &str) -> Result<(CompiledSystem, usize), Error> {
        let model = self.model();
        let Some(force) = model.forces.iter().find(|f| f.name == name) else {
            if !model.parameters.iter().any(|p| p.name == name) {
                let known: Vec<String> = model.forces.iter().map(|f| f.name.clone()).collect();
                return Err(Error::unknown("force", name, &known, "a parameter of an amplitude will do too"));
            }
            let machine = self.opened(vec![name.to_string()])?;
            let slot = machine.live_slot(name)?;
            return Ok((machine.system().clone(), slot));
        };
        let (force, mut model) = (force.clone(), model.clone());
        let slot = model.live_parameters();
        model.parameters.push(Parameter {
            name: format!("{name}.unit"),
            value: 0.0,
            range: None,
            about: String::new(),
            span: force.span,
            live: Some(slot),
        });
        model.inputs.push(Input::Parameter(slot));
        let unit = model.graph.sym(crate::expr::Symbol(model.inputs.len() as u32 - 1));
        let kind = unit_force(&mut model, &force.kind, unit).ok_or_else(|| {
            Error::plain(
                format!("force `{name}` has no single direction"),
                "name a parameter of its amplitude instead, or write it as two forces",
            )
        })?;
        model.forces.push(Force { name: format!("{name}.unit"), kind, span: force.span });
        let system = build(&model).map_err(|e| Error::plain(e.message, ""))?;
        Ok((system, slot))
    }

    fn some_force(&self, name: &str, force: &[f64]) -> Result<(), Error> {
        match force.iter().any(|f| *f != 0.0) {
            true => Ok(()),
            false => Err(Error::plain(
                format!("`{name}` does no work on any coordinate at this state"),
                "name another force",
            )),
        }
    }

    /// The excitation as `Re((c + i s) exp(iωt))` per unit of the amplitude, and its frequency in Hz: the parameter of the axis is that frequency,
    /// or 2π times it.
    fn harmonic(
        &self,
        linear: &mut Linear<'_, CompiledSystem>,
        slot: usize,
        f: f64,
        name: &str,
    ) -> Result<([Vec<f64>; 2], f64), Error> {
        let start = linear.state.t;
        let mut at = |t: f64| {
            linear.state.t = t;
            linear.evaluate();
            slope(linear, slot).map_err(|e| self.refuse(e))
        };
        let mut answer = None;
        for hertz in [f, f / TAU] {
            let period = 1.0 / hertz;
            let (c, s) = (at(0.0)?, at(0.25 * period)?);
            let size = c.iter().chain(&s).fold(0.0_f64, |m, v| m.max(v.abs()));
            let mut is_harmonic = size > 0.0;
            for share in [0.1, 0.37, 0.61, 0.93, 3.3] {
                let (sin, cos) = (TAU * share).sin_cos();
                let here = at(share * period)?;
                is_harmonic &= (0..c.len()).all(|k| (here[k] - c[k] * cos - s[k] * sin).abs() <= 1e-8 * size);
            }
            if is_harmonic {
                answer = Some(([c, s.iter().map(|v| -v).collect()], hertz));
                break;
            }
        }
        at(start)?;
        answer.ok_or_else(|| {
            Error::plain(
                format!("the forces are not `{name}` times a sine of the frequency of the axis"),
                "name the frequency of the excitation as it stands in the file: --over \"f=50 Hz..70 Hz\"",
            )
        })
    }
}

/// The force law of unit size in the place of another.
fn unit_force(model: &mut Model, kind: &ForceKind, unit: NodeId) -> Option<ForceKind> {
    let zero = model.graph.num(0.0);
    let law = Law { force: Some(unit), spring: None, length: zero, damper: None };
    Some(match kind {
        ForceKind::Along { stretch, .. } => ForceKind::Along { stretch: *stretch, law },
        ForceKind::Between { a, b, stretch, .. } => {
            ForceKind::Between { a: *a, b: *b, stretch: *stretch, law }
        }
        ForceKind::Torque { body, against, .. } => {
            ForceKind::Torque { body: *body, torque: unit, against: *against }
        }
        ForceKind::At { point, force, body_axes } => {
            ForceKind::At { point: *point, force: one_component(force, zero, unit)?, body_axes: *body_axes }
        }
        ForceKind::AtSpace { point, force, body_axes } => ForceKind::AtSpace {
            point: *point,
            force: one_component(force, zero, unit)?,
            body_axes: *body_axes,
        },
        ForceKind::TorqueSpace { body, torque, body_axes, against } => ForceKind::TorqueSpace {
            body: *body,
            torque: one_component(torque, zero, unit)?,
            body_axes: *body_axes,
            against: *against,
        },
        ForceKind::Potential(_) => return None,
    })
}

/// A vector with `unit` in the place of its only component; none where it has several.
fn one_component<const N: usize>(of: &[NodeId; N], zero: NodeId, unit: NodeId) -> Option<[NodeId; N]> {
    let others = of.iter().filter(|f| **f != zero).count();
    (others == 1).then(|| of.map(|f| if f == zero { zero } else { unit }))
}

/// ∂h/∂p at the present state.
pub(super) fn slope(linear: &mut Linear<'_, CompiledSystem>, slot: usize) -> Result<Vec<f64>, AnalysisError> {
    let mut column = Column::default();
    linear.column(Way::Parameter(slot), &mut column)?;
    Ok(column.force)
}

/// Least value of a function with one minimum in an interval.
fn refined(f: impl FnMut(f64) -> f64, from: f64, to: f64) -> (f64, f64) {
    let (a, b) = (from.min(to), from.max(to));
    crate::root::minimum(f, a, b, 1e-10 * b, f64::NEG_INFINITY)
}

/// What every contact does, in words.
fn contacts(linear: &Linear<'_, CompiledSystem>) -> Named<&'static str> {
    let word = |hold: &Hold| match hold {
        Hold::Open => "open",
        Hold::Smooth | Hold::Slide(_) => "slide",
        Hold::Stick => "stick",
    };
    linear.info.iter().zip(&linear.hold).map(|(c, hold)| (c.name.clone(), word(hold))).collect()
}

/// Largest force of inertia over the terms of the forces, below which a state is an equilibrium.
const BALANCE: f64 = 1e-9;

/// Whether nothing accelerates, by the largest term of the forces: those of contacts, and what every position, velocity and state
/// contributes, |∂r/∂x| |x|. Forces that cancel each other, springs between free shafts, leave rounding of their terms.
fn is_balanced(linear: &mut Linear<'_, CompiledSystem>) -> Result<bool, AnalysisError> {
    let eval = &linear.eval;
    let mut inertia = vec![0.0; linear.accel.len()];
    eval.mass.mul_vec(&linear.accel, &mut inertia);
    let mut size = max_abs(&eval.h).max(max_abs(&linear.lambda));
    let (d, state) = (linear.dims, linear.state.clone());
    // a free rotation has four positions, three velocities and no angle of its own
    let plain = d.u - 3 * (d.q - d.u);
    let position = |k: usize| if k < plain { state.q[k].abs() } else { 1.0 };
    let positions = (0..d.u).map(|k| (Way::Position(k), position(k)));
    let velocities = (0..d.u).map(|k| (Way::Velocity(k), state.u[k].abs()));
    let states = (0..d.z).map(|k| (Way::State(k), state.z[k].abs()));
    let mut column = Column::default();
    for (way, x) in positions.chain(velocities).chain(states).filter(|(_, x)| *x > 0.0) {
        linear.column(way, &mut column)?;
        size = size.max(max_abs(&column.force) * x);
    }
    Ok(max_abs(&inertia) <= BALANCE * size)
}

/// |λ|/2π of an oscillation.
fn natural(m: &ModeShape) -> f64 {
    if m.value.im > 0.0 { m.value.abs() / TAU } else { 0.0 }
}

fn one_mode(names: &[String], units: &BTreeMap<String, String>, m: &ModeShape) -> OneMode {
    let pair = |c: &Complex| [c.re, c.im];
    // the largest is 1, lengths among lengths and angles among angles
    let unit = |k: usize| names.get(k).and_then(|n| units.get(n));
    let most = (0..m.share.len()).max_by(|&a, &b| m.share[a].abs().total_cmp(&m.share[b].abs())).unwrap_or(0);
    let alike = (0..m.shape.len()).filter(|&k| unit(k) == unit(most));
    let largest = alike.max_by(|&a, &b| m.shape[a].abs().total_cmp(&m.shape[b].abs()));
    let mut shape = m.shape.clone();
    make_one(&mut shape, largest.unwrap_or(most));
    OneMode {
        frequency: natural(m),
        damped_frequency: m.value.im / TAU,
        damping: m.damping,
        eigenvalue: pair(&m.value),
        shape: names.iter().cloned().zip(shape.iter().map(pair)).collect(),
        energy_share: Named::of(names, &m.share),
        scene: None,
    }
}

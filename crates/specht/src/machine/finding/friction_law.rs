//! `friction-law`: what the friction laws of a model do (METH-LAW-CURVE): least value, steepest fall, damping needed, passivity.

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::expr::{Symbol, Tape, Work};
use crate::machine::json::{Named, Num};
use crate::machine::task::FrictionLawTask;
use crate::machine::{Error, Machine};
use crate::model::{Input, NormalLaw};
use crate::sim::{Outside, Record, Settings, event_driven};

/// Laws by contact, and laws with states by name.
#[derive(Clone, Debug, Serialize)]
pub struct FrictionLawFinding {
    /// Per contact.
    pub laws: Named<LawReport>,
    /// Laws with states that formulas of the file call.
    pub called: Vec<CalledLaw>,
    /// What should be known.
    pub notes: Vec<String>,
    /// Page.
    pub explain: &'static str,
}

/// A law of sliding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LawReport {
    /// `coefficient` or `force`.
    pub of: &'static str,
    /// Exact stick, with events: always so for contacts.
    pub set_valued: bool,
    /// Limit for speed → 0.
    pub at_zero: f64,
    /// At rest: just stopped, and after long rest under slow loading.
    pub at_rest: [f64; 2],
    /// Least value.
    pub minimum: SpeedPoint,
    /// Where it falls most steeply; the value is the slope. `null`: it never falls.
    pub steepest: Option<SpeedPoint>,
    /// Normal force at the start, N; `null` for a friction force.
    pub normal: Num,
    /// Damping that outweighs the fall, N s/m: normal force times the steepest fall.
    pub damping_needed: f64,
    /// Whether it never drives.
    pub passive: bool,
    /// [speed, value].
    pub curve: Vec<[f64; 2]>,
}

/// A value at a speed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SpeedPoint {
    /// m/s.
    pub speed: f64,
    /// There.
    pub value: f64,
}

/// A law with states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalledLaw {
    /// Its name.
    pub law: String,
    /// Exact stick.
    pub set_valued: bool,
    /// Whether it cannot give energy: LuGre needs s2 >= s1 (Fs - Fc)/Fc.
    pub passive: Option<bool>,
    /// What is missing, in the unit of s2; negative when there is too much.
    pub missing: Num,
}

/// Change of the law, relative to its value at zero, by which its own speed is found: the first at which it has changed so much.
const CHANGED: f64 = 0.01;
/// Decades over which that speed is looked for, and steps in each.
const DECADES: [i32; 2] = [-40, 40];
const TENTHS: i32 = 10;
/// Speeds looked at, relative to that one, when nobody says how far, and their number.
const SPEEDS: [f64; 2] = [1e-3, 1e4];
const COUNT: usize = 2000;
/// The curve goes no further than so many times the law's own speed.
const FAR: f64 = 300.0;
/// Points of the curve.
const SHOWN: usize = 200;
/// Long rest, s.
const LONG: f64 = 1e12;

/// A law over the slip.
struct LawCurve {
    tape: Tape,
    work: Work,
    inputs: Vec<f64>,
    /// The inputs at the start.
    base: Vec<f64>,
    /// Inputs that carry the slip, with their share in it.
    ways: Vec<usize>,
    share: Vec<f64>,
    /// Sum of the squares of the shares.
    size: f64,
    /// Slip at the start.
    origin: f64,
    /// Inputs that hold a time of rest.
    rests: Vec<usize>,
}

impl LawCurve {
    /// Value while sliding, value while sticking, slope; at a speed, after a time of rest.
    fn at(&mut self, v: f64, rest: f64) -> [f64; 3] {
        for (k, g) in self.ways.iter().zip(&self.share) {
            self.inputs[*k] = self.base[*k] + g * (v - self.origin) / self.size;
        }
        for k in &self.rests {
            self.inputs[*k] = rest;
        }
        self.tape.eval(&self.inputs, &mut self.work);
        let output = |k: usize| self.tape.output(&self.work, k);
        let slope: f64 = self.share.iter().enumerate().map(|(k, g)| output(3 + k) * g / self.size).sum();
        [output(0), output(1), slope]
    }
}

impl Machine {
    pub(super) fn friction_law(
        &self,
        task: &FrictionLawTask,
        watch: Watch,
    ) -> Result<FrictionLawFinding, Error> {
        let contacts = self.frictional(&task.contacts)?;
        let normal = self.normals(watch);
        let names = self.contact_names();
        let mut laws = Named::default();
        let mut notes = Vec::new();
        for k in contacts {
            // contacts of an outline share the law of their file entry
            let Some(c) = self.model().contacts.iter().position(|c| c.name == names[k]) else { continue };
            let Some(report) = self.law(c, normal.as_ref().and_then(|n| n.get(k).copied()), task.to) else {
                notes.push(format!(
                    "the law of `{}` is a tensor or depends on forces: it has no curve over the speed",
                    names[k]
                ));
                continue;
            };
            if !report.passive {
                notes.push(format!("the law of `{}` falls below zero: friction would drive", names[k]));
            }
            laws.push(names[k].clone(), report);
        }
        let called = self.called();
        for law in called.iter().filter(|l| l.passive == Some(false)) {
            notes.push(format!(
                "`{}` can give energy: raise s2 by {:.4} or lower s1 (s2 >= s1 (Fs - Fc)/Fc)",
                law.law, law.missing.0
            ));
        }
        if laws.is_empty() && called.is_empty() {
            return Err(Error::plain(
                "no contact has a friction law that can be drawn, and no formula calls one by name",
                "give a contact  friction = \"stribeck(speed, 0.4, 0.3, 0.01)\"",
            ));
        }
        Ok(FrictionLawFinding { laws, called, notes, explain: "friction-laws" })
    }

    /// Normal forces at the start.
    fn normals(&self, watch: Watch) -> Option<Vec<f64>> {
        let start = self.start().ok()?;
        let settings = Settings { until: start.t + 1e-9, record: Record::Nothing, ..Settings::default() };
        let mut outside = Outside { interrupt: watch.interrupt, progress: None };
        let run = event_driven(self.system(), &start, &settings, &mut outside).ok()?;
        Some(run.start.point.normal)
    }

    fn law(&self, c: usize, normal: Option<f64>, to: Option<f64>) -> Option<LawReport> {
        let force = matches!(self.model().contacts[c].law, NormalLaw::FrictionForce);
        let mut curve = self.law_curve(c)?;
        let mut at = |v: f64, rest: f64| curve.at(v, rest);
        let at_rest = [at(0.0, 0.0)[1], at(0.0, LONG)[1]];
        let own = own_speed(&mut |v| at(v, 0.0)[0]);
        let end = to.or(own.map(|v| v * SPEEDS[1])).unwrap_or(0.0);
        let first = end * SPEEDS[0] / SPEEDS[1];
        let span = SPEEDS[1] / SPEEDS[0];
        let count = if end > 0.0 { COUNT } else { 0 };
        let speeds: Vec<f64> = std::iter::once(0.0)
            .chain((0..count).map(|i| first * span.powf(i as f64 / (COUNT - 1) as f64)))
            .collect();
        let values: Vec<[f64; 3]> = speeds.iter().map(|v| at(*v, 0.0)).collect();
        let least = |of: &mut dyn FnMut(f64) -> f64| {
            let list: Vec<f64> = speeds.iter().map(|v| of(*v)).collect();
            let k = (0..list.len()).min_by(|a, b| list[*a].total_cmp(&list[*b])).unwrap_or(0);
            let (a, b) = (speeds[k.saturating_sub(1)], speeds[(k + 1).min(speeds.len() - 1)]);
            let speed = golden(a, b, of);
            if of(speed) < list[k] { speed } else { speeds[k] }
        };
        let minimum = least(&mut |v| at(v, 0.0)[0]);
        // there the slope vanishes, which locates it far better
        let (below, above) = (0.99 * minimum, 1.01 * minimum);
        let minimum = bisected(below, above, &mut |v| at(v, 0.0)[2]).unwrap_or(minimum);
        let fall = least(&mut |v| at(v, 0.0)[2]);
        let steep = at(fall, 0.0)[2];
        let steepest = (steep < 0.0).then_some(SpeedPoint { speed: fall, value: steep });
        let lambda = if force { 1.0 } else { normal.unwrap_or(f64::NAN) };
        // as far as something happens
        let shown = to.unwrap_or_else(|| {
            let (all, last) = (values[0][0], values[values.len() - 1][0]);
            let settled =
                speeds.iter().zip(&values).find(|(_, v)| (v[0] - last).abs() <= 0.02 * (all - last).abs());
            let far = settled.map_or(end, |(v, _)| *v).min(own.map_or(end, |v| FAR * v));
            if minimum > 0.0 && minimum < 0.9 * end { 3.0 * minimum } else { far }
        });
        let curve = (0..=SHOWN)
            .map(|i| {
                let v = shown * i as f64 / SHOWN as f64;
                [v, at(v, 0.0)[0]]
            })
            .collect();
        let lowest = at(minimum, 0.0)[0];
        Some(LawReport {
            of: if force { "force" } else { "coefficient" },
            set_valued: true,
            at_zero: values[0][0],
            at_rest,
            minimum: SpeedPoint { speed: minimum, value: lowest },
            steepest,
            normal: Num(if force { f64::NAN } else { lambda }),
            damping_needed: (-steep).max(0.0) * if lambda.is_nan() { 1.0 } else { lambda },
            passive: lowest >= 0.0,
            curve,
        })
    }

    /// The law of a contact as a function of its slip, the rest as at the start.
    fn law_curve(&self, c: usize) -> Option<LawCurve> {
        let mut model = self.model().clone();
        let contact = &model.contacts[c];
        let friction = contact.friction.as_ref().filter(|f| f.tensor.is_none())?;
        let (sliding, sticking) = (friction.sliding, friction.sticking);
        // inputs that carry the slip, and the slip itself as a formula of velocities
        let slip = contact.slip;
        let carries = |i: &Input| match slip {
            Some(_) => matches!(i, Input::Velocity(_)),
            None => *i == Input::Slip(c),
        };
        let ways: Vec<usize> = (0..model.inputs.len()).filter(|k| carries(&model.inputs[*k])).collect();
        let mut roots = vec![sliding, sticking, slip.unwrap_or(sliding)];
        for of in [Some(sliding), slip] {
            roots.extend(
                of.iter()
                    .flat_map(|n| ways.iter().map(|k| (*n, Symbol(*k as u32))))
                    .map(|(n, s)| model.graph.diff(n, s))
                    .collect::<Vec<_>>(),
            );
        }
        let tape = Tape::new(&model.graph, &roots);
        let start = self.start().ok()?;
        let mut inputs = vec![0.0; model.inputs.len()];
        for (k, input) in model.inputs.iter().enumerate() {
            let used = tape.inputs().contains(&(k as u32));
            inputs[k] = match *input {
                Input::Coordinate(i) => start.q[i],
                Input::Velocity(i) => start.u[i],
                Input::State(i) => *start.z.get(i)?,
                Input::Memory(i) => start.memory[i],
                Input::Direction(_) => 1.0,
                Input::Time | Input::Slip(_) | Input::StickTime(_) | Input::LoadRate(_) => 0.0,
                _ if used => return None,
                _ => 0.0,
            };
        }
        let mut work = tape.workspace();
        tape.eval(&inputs, &mut work);
        let n = ways.len();
        let share: Vec<f64> = match slip {
            Some(_) => (0..n).map(|k| tape.output(&work, 3 + n + k)).collect(),
            None => vec![1.0; n],
        };
        let size: f64 = share.iter().map(|g| g * g).sum();
        let origin = if slip.is_some() { tape.output(&work, 2) } else { 0.0 };
        if size == 0.0 {
            return None;
        }
        let rests = (0..inputs.len()).filter(|k| matches!(model.inputs[*k], Input::StickTime(_))).collect();
        Some(LawCurve { base: inputs.clone(), inputs, tape, work, ways, rests, share, size, origin })
    }

    /// Laws with states that formulas of the file call.
    fn called(&self) -> Vec<CalledLaw> {
        let model = self.model();
        let mut out: Vec<CalledLaw> = Vec::new();
        for (name, args) in model.graph.laws() {
            let number = |k: usize| args.get(k).and_then(|n| model.graph.constant(*n));
            let (passive, missing) = match name.as_str() {
                "dahl" | "rate_state" => (Some(true), 0.0),
                "lugre" => match (number(3), number(4), number(5), number(6)) {
                    (Some(s1), Some(s2), Some(fc), Some(fs)) => {
                        let missing = s1 * (fs - fc) / fc - s2;
                        (Some(missing <= 0.0), missing)
                    }
                    _ => (None, f64::NAN),
                },
                _ => continue,
            };
            let law = CalledLaw { law: name.clone(), set_valued: false, passive, missing: Num(missing) };
            if !out.iter().any(|l| l.law == law.law && l.missing.0.to_bits() == missing.to_bits()) {
                out.push(law);
            }
        }
        out
    }
}

/// The first speed at which the law has changed; none for a constant law.
fn own_speed(law: &mut dyn FnMut(f64) -> f64) -> Option<f64> {
    let zero = law(0.0);
    let mut over = |v: f64| (law(v) - zero).abs() - CHANGED * zero.abs();
    let speeds =
        (DECADES[0] * TENTHS..=DECADES[1] * TENTHS).map(|k| 10f64.powf(f64::from(k) / f64::from(TENTHS)));
    let mut before = 0.0;
    for v in speeds {
        if over(v) > 0.0 {
            return bisected(before, v, &mut over);
        }
        before = v;
    }
    None
}

/// Where a function changes its sign between two places; none where it does not.
fn bisected(mut a: f64, mut b: f64, f: &mut dyn FnMut(f64) -> f64) -> Option<f64> {
    let rises = f(b) > 0.0;
    if (f(a) > 0.0) == rises {
        return None;
    }
    for _ in 0..200 {
        let middle = 0.5 * (a + b);
        if middle <= a || middle >= b {
            break;
        }
        if (f(middle) > 0.0) == rises { b = middle } else { a = middle }
    }
    Some(0.5 * (a + b))
}

/// Least value between two places, by the golden section.
fn golden(mut a: f64, mut b: f64, f: &mut dyn FnMut(f64) -> f64) -> f64 {
    let part = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..80 {
        let (c, d) = (b - part * (b - a), a + part * (b - a));
        if f(c) < f(d) { b = d } else { a = c }
    }
    0.5 * (a + b)
}

//! `branch` of what stands still or moves without change: rest and steady sliding over a parameter, with the points at which a
//! cycle is born (METH-CONT-ARC, METH-BIF-SMOOTH).

use crate::analysis::branch::{Diagram, Point, diagram};
use crate::analysis::cycle::{Branch, Follow, STEPS, Symmetry, sizes_around};
use crate::analysis::equilibria::{Equilibrium, describe};
use crate::analysis::line::Line;
use crate::analysis::linear::Hold;
use crate::analysis::map::{Axis, Watch};
use crate::analysis::steady::Found;
use crate::linalg::Complex;
use crate::machine::json::Named;
use crate::machine::task::{BranchOf, BranchTask, Look};
use crate::machine::{Error, Machine};
use crate::model::CompiledSystem;
use crate::sim::start::equilibrium_within;
use crate::sim::{Outside, Settings, event_driven};
use crate::system::{Mode, State, System};

use super::branch::{BranchFinding, BranchOrigin, BranchPoint, BranchSide, BranchSpecial, going};
use super::equilibrium::complex;
use super::limit_cycle::Extent;
use super::no_cycle::paradox;
use super::stability::Slider;

/// Values of the parameter at which steady sliding is looked at.
const VALUES: usize = 201;
/// Halvings of a location.
const HALVINGS: usize = 60;
/// Most cycles of a branch that is born.
const MOST: usize = 400;

/// A steady motion on the way.
#[derive(Clone)]
pub(super) struct Still {
    pub(super) parameter: f64,
    state: State,
    modes: Vec<Mode>,
    pub(super) eigenvalues: Vec<Complex>,
    stable: bool,
    /// Smallest normal force of a contact that can open, smallest slip of one that slides, both beside the largest.
    pressed: f64,
    slips: f64,
}

impl Machine {
    /// Equilibria without friction.
    pub(super) fn branch_of_rest(
        &self,
        task: &BranchTask,
        name: &str,
        range: [f64; 2],
        watch: Watch,
    ) -> Result<BranchFinding, Error> {
        let machine = self.opened(vec![name.to_string()])?;
        let found = machine.rest_over(name, range, watch)?;
        let line = Line::of(machine.live_slot(name)?);
        let system = |p: f64| line.at(machine.system(), p);
        let mut out = self.still_finding(name, BranchOf::Rest, &[]);
        for (hopf, (branch, point)) in hopfs(&system, &found) {
            let sides = [0, 1].map(|k| found.branches[branch][point + k].at.stable);
            out.special.push(self.still_special("hopf", &hopf, sides));
        }
        out.points.extend(found.branches.iter().flatten().map(|p| self.still_point(&still_of(p))));
        for s in &found.special {
            let still = Still { parameter: s.parameter, state: s.state.clone(), ..Still::nowhere() };
            let mut special = self.still_special(
                s.label,
                &still,
                [s.before.unwrap_or_default(), s.after.unwrap_or_default()],
            );
            special.value = s.state.q.get(s.coordinate).copied().unwrap_or(f64::NAN);
            out.special.push(special);
        }
        out.ended = found.ended.join("; ");
        self.maybe_born(task, name, range, out, watch)
    }

    /// All branches of equilibria that stand by themselves at the first end of the range; `name` is open.
    pub(super) fn rest_over(&self, name: &str, range: [f64; 2], watch: Watch) -> Result<Diagram, Error> {
        let stop = || watch.is_interrupted();
        let machine = self.vary(&[(name, range[0])])?;
        let starts: Vec<(f64, Equilibrium)> = (machine.all_equilibria(true, &stop)?.into_iter())
            .filter(|e| e.neutral == 0)
            .map(|e| (range[0], e))
            .collect();
        if starts.is_empty() {
            return Err(Error::plain(
                format!("at {name} = {} there is no equilibrium that stands by itself", range[0]),
                "hold what moves freely with a spring or a fixed coordinate",
            ));
        }
        let line = Line::of(machine.live_slot(name)?);
        diagram(machine.system(), &line, range, &starts, &stop).map_err(|e| self.refuse(e))
    }

    /// Steady motions in which contacts slide.
    pub(super) fn branch_of_sliding(
        &self,
        task: &BranchTask,
        name: &str,
        range: [f64; 2],
        watch: Watch,
    ) -> Result<BranchFinding, Error> {
        let machine = self.opened(vec![name.to_string()])?;
        let slot = machine.live_slot(name)?;
        let place = machine.place(&task.cycle.look, watch)?;
        let mut slider = machine.slider(place);
        let mut at = |p: f64| steady_at(&mut slider, &[(slot, p)]);
        let axis = Axis { name: name.into(), from: range[0], to: range[1], count: VALUES };
        let Some(first) = at(range[0]) else {
            let start = self.opened(vec![name.to_string()])?.vary(&[(name, range[0])])?;
            let why = start.start_paradox().map_or(String::new(), |why| format!(": {why}"));
            return Err(Error::plain(
                format!("there is no steady sliding at {name} = {}{why}", range[0]),
                "begin the branch where there is one; `specht analyse stability` says more",
            ));
        };
        let mut points = vec![first];
        let mut special: Vec<(&'static str, Still, [bool; 2])> = Vec::new();
        let mut ended = "bound of the parameter".to_string();
        for i in 1..VALUES {
            if watch.is_interrupted() {
                ended = "interrupted".into();
                break;
            }
            let last = points[points.len() - 1].clone();
            let Some(next) = at(axis.value(i)) else {
                // where it ends
                let end = between(&last, axis.value(i), &mut at, |_| true);
                let (label, why) = end.why();
                ended = why.into();
                special.push((label, end.clone(), [last.stable, false]));
                points.push(end);
                break;
            };
            if last.growing() != next.growing() {
                // an oscillation by its sign, all else by the number of what grows beyond rounding
                let sign = |s: &Still| pair_of(&s.eigenvalues).map(|p| p.re.signum());
                let place = match (sign(&last), sign(&next)) {
                    (Some(a), Some(b)) if a != b => {
                        between(&last, next.parameter, &mut at, |s| sign(s) == Some(a))
                    }
                    // the sign had changed before `last`, which stands on the border itself: neither grows nor decays beyond rounding
                    (Some(a), Some(_))
                        if next.growing() == last.growing() + 2 && a > 0.0 && points.len() > 1 =>
                    {
                        let earlier = points[points.len() - 2].clone();
                        between(&earlier, last.parameter, &mut at, |s| sign(s) != Some(a))
                    }
                    _ => {
                        let count = last.growing();
                        between(&last, next.parameter, &mut at, |s| s.growing() == count)
                    }
                };
                let label = if place.crossing().im > 0.0 { "hopf" } else { "pitchfork" };
                special.push((label, place, [last.stable, next.stable]));
            }
            points.push(next);
        }
        let mut out = self.still_finding(name, BranchOf::Sliding, &points);
        out.special = special.iter().map(|(l, s, sides)| self.still_special(l, s, *sides)).collect();
        out.ended = ended;
        self.maybe_born(task, name, range, out, watch)
    }

    /// Whether the start of the file has no motion, or several.
    fn start_paradox(&self) -> Option<String> {
        let (_, settings) = self.settings().ok()?;
        let start = self.state(&Look::default(), Watch::default()).ok()?;
        let settings = Settings { until: start.t, ..settings };
        let run = event_driven(self.system(), &start, &settings, &mut Outside::default()).ok()?;
        paradox(&run)
    }

    fn still_finding(&self, name: &str, of: BranchOf, points: &[Still]) -> BranchFinding {
        BranchFinding {
            over: name.to_string(),
            of,
            points: points.iter().map(|p| self.still_point(p)).collect(),
            special: Vec::new(),
            switched: None,
            curves: Vec::new(),
            ended: String::new(),
            explain: "branch",
        }
    }

    fn still_point(&self, p: &Still) -> BranchPoint {
        let extents = p.state.q.iter().map(|q| Extent { min: *q, max: *q, half: 0.0 });
        BranchPoint {
            parameter: p.parameter,
            period: None,
            amplitude: self.coordinate_names("").into_iter().zip(extents).collect::<Named<Extent>>(),
            stable: p.stable,
            multipliers: Vec::new(),
            eigenvalues: complex(&p.eigenvalues),
            events: 0,
            margins: None,
            curve: Vec::new(),
        }
    }

    fn still_special(&self, label: &'static str, p: &Still, [before, after]: [bool; 2]) -> BranchSpecial {
        let side = |stable: bool| BranchSide { stable, multipliers: Vec::new(), events: Vec::new() };
        let crossing = p.crossing();
        BranchSpecial {
            label,
            parameter: p.parameter,
            value: p.state.q.first().copied().unwrap_or(f64::NAN),
            multipliers: Vec::new(),
            frequency: (label == "hopf").then_some(crossing.im / std::f64::consts::TAU),
            before: side(before),
            after: (label != "end").then(|| side(after)),
            beyond: None,
            still: Some((p.state.clone(), p.modes.clone())),
        }
    }

    /// With `switch`: the branch of cycles that is born at the first point of that label.
    fn maybe_born(
        &self,
        task: &BranchTask,
        name: &str,
        range: [f64; 2],
        found: BranchFinding,
        watch: Watch,
    ) -> Result<BranchFinding, Error> {
        let Some(label) = task.switch.as_deref() else { return Ok(found) };
        let machine = self.opened(vec![name.to_string()])?;
        machine.born(name, range, (&found, label), watch, |_, branch, left| {
            machine.told_branch(task, name, range, branch, left, watch)
        })
    }

    /// What `tell` makes of the branch of cycles that is born at the first point of a label; `name` is open.
    pub(super) fn born<R>(
        &self,
        name: &str,
        range: [f64; 2],
        (found, label): (&BranchFinding, &str),
        watch: Watch,
        tell: impl FnOnce(&Follow<'_>, &Branch, Option<BranchOrigin>) -> R,
    ) -> Result<R, Error> {
        let at = found.special.iter().find(|s| s.label == label);
        let Some((at, frequency, (state, modes))) =
            at.and_then(|s| Some((s, s.frequency?, s.still.clone()?)))
        else {
            return Err(Error::plain(format!("the branch over `{name}` has no {label}"), ""));
        };
        let machine = self.vary(&[(name, at.parameter)])?;
        let settings = machine.cycle_settings()?;
        let omega = std::f64::consts::TAU * frequency;
        let n = state.q.len() + state.u.len() + state.z.len() + state.memory.len();
        let symmetry = Symmetry {
            frame: Some(vec![0.0; n]),
            drifts: Vec::new(),
            scale: sizes_around(&state, omega, &settings),
        };
        let follow = Follow {
            sys: machine.system(),
            line: Line::of(machine.live_slot(name)?),
            settings: &settings,
            symmetry,
            forcing: None,
            range,
            most: MOST,
            steps: STEPS,
            wanted: None,
        };
        let branch = follow
            .born((&state, &modes), at.parameter, 1.0 / frequency, going(watch))
            .ok_or_else(|| Error::plain(format!("no cycle is found that leaves the {label}"), ""))?;
        let left = BranchOrigin { label: at.label, parameter: at.parameter };
        Ok(tell(&follow, &branch, Some(left)))
    }
}

impl Still {
    fn nowhere() -> Still {
        Still {
            parameter: f64::NAN,
            state: State::default(),
            modes: Vec::new(),
            eigenvalues: Vec::new(),
            stable: false,
            pressed: f64::INFINITY,
            slips: f64::INFINITY,
        }
    }

    /// How many of its motions grow.
    pub(super) fn growing(&self) -> usize {
        let size = self.eigenvalues.iter().map(Complex::abs).fold(0.0, f64::max);
        self.eigenvalues.iter().filter(|v| v.re > crate::analysis::equilibria::GROWTH * size).count()
    }

    /// The eigenvalue nearest to the imaginary axis.
    fn crossing(&self) -> Complex {
        let nearest = self.eigenvalues.iter().filter(|v| v.im >= 0.0);
        nearest
            .min_by(|a, b| a.re.abs().total_cmp(&b.re.abs()))
            .copied()
            .unwrap_or(Complex { re: 0.0, im: 0.0 })
    }

    /// Why there is no steady motion any further.
    fn why(&self) -> (&'static str, &'static str) {
        const SMALL: f64 = 1e-6;
        if self.pressed < SMALL {
            ("lift-off", "lift-off: a contact carries nothing any more")
        } else if self.slips < SMALL {
            ("stick-onset", "a contact stops sliding")
        } else {
            ("end", "no steady motion is found any further")
        }
    }
}

/// The births of cycles along branches of rest, each with its branch and the point before it.
pub(super) fn hopfs(system: &dyn Fn(f64) -> CompiledSystem, found: &Diagram) -> Vec<(Still, (usize, usize))> {
    let pairs = found
        .branches
        .iter()
        .enumerate()
        .flat_map(|(b, line)| line.windows(2).enumerate().map(move |(k, pair)| (pair, (b, k))));
    pairs.filter_map(|(pair, place)| Some((hopf_between(system, &pair[0], &pair[1])?, place))).collect()
}

/// The place between two equilibria at which a pair of eigenvalues crosses the imaginary axis.
pub(super) fn hopf_between(system: &dyn Fn(f64) -> CompiledSystem, a: &Point, b: &Point) -> Option<Still> {
    let (x, y) = (pair_of(&a.at.eigenvalues)?, pair_of(&b.at.eigenvalues)?);
    if x.re * y.re > 0.0 || x.re == 0.0 {
        return None;
    }
    let at = |part: f64| -> Option<Still> {
        let parameter = a.parameter + part * (b.parameter - a.parameter);
        let sys = system(parameter);
        let mut start = a.at.state.clone();
        start.q.iter_mut().zip(&b.at.state.q).for_each(|(q, r)| *q += part * (r - *q));
        let closed: Vec<usize> =
            (0..a.at.closed.len()).filter(|&i| a.at.closed[i] && sys.contacts()[i].is_unilateral()).collect();
        let state = equilibrium_within(&sys, &start, &closed, [24, 8]).ok()?;
        let e = describe(&sys, state).ok()??;
        Some(still_of(&Point { parameter, at: e }))
    };
    let (mut low, mut high, mut found) = (0.0, 1.0, None);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        let still = at(middle)?;
        let same = pair_of(&still.eigenvalues)?.re * x.re > 0.0;
        if same {
            low = middle
        } else {
            high = middle
        }
        found = Some(still);
    }
    found
}

/// The steady motion at values of parameters; the first is that of the branch.
pub(super) fn steady_at(slider: &mut Slider, set: &[(usize, f64)]) -> Option<Still> {
    let found = slider.at(set, |linear, judged| {
        let spectrum = judged.spectrum.as_ref().filter(|_| judged.found == Found::Steady);
        Ok(spectrum.map(|s| Still {
            parameter: set[0].1,
            state: linear.state.clone(),
            modes: linear.hold.iter().map(mode_of).collect(),
            eigenvalues: s.values.clone(),
            stable: s.stable(),
            pressed: pressed(linear.info, &linear.hold, &linear.lambda),
            slips: slips(&linear.hold, |i| linear.slip(i)[0]),
        }))
    });
    found.ok().flatten()
}

fn still_of(p: &Point) -> Still {
    let modes = p.at.closed.iter().map(|c| if *c { Mode::Closed } else { Mode::Open });
    Still {
        parameter: p.parameter,
        state: p.at.state.clone(),
        modes: modes.collect(),
        eigenvalues: p.at.eigenvalues.clone(),
        stable: p.at.stable,
        ..Still::nowhere()
    }
}

/// The oscillating pair that grows most.
pub(super) fn pair_of(values: &[Complex]) -> Option<Complex> {
    values.iter().filter(|v| v.im > 0.0).max_by(|a, b| a.re.total_cmp(&b.re)).copied()
}

/// The last place from `from` towards `to` at which `holds`.
fn between(
    from: &Still,
    to: f64,
    at: &mut dyn FnMut(f64) -> Option<Still>,
    holds: impl Fn(&Still) -> bool,
) -> Still {
    let (mut good, mut bad) = (from.clone(), to);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (good.parameter + bad);
        if middle == good.parameter || middle == bad {
            break;
        }
        match at(middle).filter(&holds) {
            Some(still) => good = still,
            None => bad = middle,
        }
    }
    good
}

fn mode_of(hold: &Hold) -> Mode {
    match hold {
        Hold::Open => Mode::Open,
        Hold::Stick => Mode::Stick,
        Hold::Slide(d) if d[0] < 0.0 => Mode::SlipMinus,
        _ => Mode::SlipPlus,
    }
}

/// Smallest normal force of contacts that can open, beside the largest.
fn pressed(info: &[crate::system::ContactInfo], hold: &[Hold], lambda: &[f64]) -> f64 {
    let closed = info.iter().zip(hold).filter(|(c, h)| c.is_unilateral() && **h != Hold::Open);
    let forces: Vec<f64> = closed.map(|(c, _)| c.normal_force(lambda)).collect();
    let most = forces.iter().fold(0.0_f64, |m, f| m.max(f.abs()));
    forces.iter().fold(f64::INFINITY, |m, f| m.min(f / most.max(f64::MIN_POSITIVE)))
}

/// Smallest slip of contacts that slide, beside the largest.
fn slips(hold: &[Hold], speed: impl Fn(usize) -> f64) -> f64 {
    let all: Vec<f64> =
        (0..hold.len()).filter(|&i| matches!(hold[i], Hold::Slide(_))).map(|i| speed(i).abs()).collect();
    all.into_iter().fold(f64::INFINITY, f64::min)
}

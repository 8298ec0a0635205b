//! A simulation until it comes back to itself (METH-CYCLE-START).
//!
//! The motion is looked at whenever it passes a section: a user's event, the same phase of what drives it, or else the maxima of the coordinate
//! that has the fewest of them. Two passages in a row that repeat those `p` passages before, up to drift, are the sign.

use crate::analysis::place::Carried;
use crate::linalg::max_abs;
use crate::model::CompiledSystem;
use crate::sim::{Kind, Outside, Record, Settings, StartError, Status, Trajectory, event_driven};
use crate::system::{Mode, State, System};

use super::symmetry::{Symmetry, forcing_period, sizes_of};
use super::{exact, way};

/// Passages that differ by less, scaled, are the same.
const SAME: f64 = 1e-3;
/// Largest number of passages per period.
const LONGEST: usize = 16;
/// Pieces of the asked time in which the simulation is looked at, and how many pieces there may be.
const PIECES: f64 = 8.0;
const MOST: usize = 64;
/// Each piece is longer than the one before.
const GROWTH: f64 = 1.3;
/// A motion that passes its section fewer times has not had the time to repeat itself: it gets this many times as much.
const FEW: usize = 6;
const LONGER: f64 = 4.0;
/// A motion smaller than this, beside what it was, is rest.
const REST: f64 = 1e-7;

/// Where the motion is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Section {
    /// A user's event.
    Event(String),
    /// Multiples of a period.
    Period(f64),
    /// Maxima of a coordinate.
    Maximum(usize),
}

/// A first guess of a cycle: a state inside its most constrained phase, and its period.
#[derive(Clone, Debug)]
pub(crate) struct Guess {
    pub state: State,
    /// Modes there.
    pub modes: Vec<Mode>,
    pub period: f64,
    /// Passages per period.
    pub passages: usize,
}

/// What a simulation comes to.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It repeats itself.
    Recurs(Guess),
    /// It has come to rest, or moves on without change.
    Rests {
        /// Whether something still moves.
        moves: bool,
    },
    /// It does not repeat itself.
    Wanders,
    /// The run ended: how and why.
    Ends(Status, String),
    /// The section was not passed twice.
    NeverPassed,
    /// It follows a known attractor.
    Follows(usize),
}

/// An attractor by what is seen of it at the section.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Its number.
    pub attractor: usize,
    /// Passages of one period; of rest: its state.
    passages: Vec<State>,
    symmetry: Symmetry,
    rest: bool,
}

impl Known {
    /// The signature of what a simulation came to; `None`: it has none, or is one of a band of states of rest.
    pub(crate) fn of(settled: &Settled) -> Option<Known> {
        let rest = matches!(settled.outcome, Outcome::Rests { moves: false });
        let passages = match &settled.outcome {
            Outcome::Recurs(_) => settled.recent.clone(),
            Outcome::Rests { moves: false } if !settled.stuck => vec![settled.last.clone()],
            _ => return None,
        };
        Some(Known { attractor: 0, passages, symmetry: settled.symmetry.clone(), rest })
    }

    /// The same as attractor number `k`.
    pub(crate) fn numbered(self, k: usize) -> Known {
        Known { attractor: k, ..self }
    }

    /// Whether two passages in a row are its own; towards rest, whether the second is near and nearer than the first.
    fn seen_in(&self, a: &Passage, b: &Passage, same: f64) -> bool {
        let away = |p: &Passage, known: &State| max_abs(&self.symmetry.without_drift(&way(known, &p.x)));
        if self.rest {
            let (before, now) = (away(a, &self.passages[0]), away(b, &self.passages[0]));
            return now < same && now < before;
        }
        let n = self.passages.len();
        (0..n).any(|k| away(a, &self.passages[k]) < same && away(b, &self.passages[(k + 1) % n]) < same)
    }
}

/// Everything that a simulation told.
#[derive(Clone, Debug)]
pub(crate) struct Settled {
    pub outcome: Outcome,
    pub symmetry: Symmetry,
    pub section: Section,
    /// Guesses from passages that do not repeat themselves, the best first.
    pub others: Vec<Guess>,
    /// The first piece of the simulation.
    pub first: Trajectory,
    /// Time of the simulation.
    pub time: f64,
    /// The state at its end.
    pub last: State,
    /// Sizes of the first piece of the motion.
    pub whole: Vec<f64>,
    /// Whether a contact sticks there.
    pub stuck: bool,
    /// The passages of the last period, where it repeats itself.
    pub recent: Vec<State>,
}

/// A passage of the section.
#[derive(Clone, Debug)]
struct Passage {
    t: f64,
    x: State,
}

/// Simulate from `start`, at most the time of `settings` eight times over, until the motion repeats itself. `section`: where to look, if known;
/// `at_once`: look at the first piece only, for what the motion leaves; `fine`: factor on how far passages may differ.
pub(crate) fn settle(
    sys: &CompiledSystem,
    start: &State,
    settings: &Settings,
    section: Option<Section>,
    at_once: bool,
    fine: f64,
    outside: &mut Outside<'_>,
) -> Result<Settled, StartError> {
    search(sys, start, settings, section, Looking { at_once, fine, known: &[] }, outside)
}

/// Simulate from `start` until the motion follows one of `known`, or settles by itself.
pub(crate) fn follow(
    sys: &CompiledSystem,
    start: &State,
    settings: &Settings,
    section: Option<Section>,
    known: &[Known],
    outside: &mut Outside<'_>,
) -> Result<Settled, StartError> {
    search(sys, start, settings, section, Looking { at_once: false, fine: 1.0, known }, outside)
}

/// What a simulation looks for.
struct Looking<'a> {
    at_once: bool,
    fine: f64,
    known: &'a [Known],
}

fn search(
    sys: &CompiledSystem,
    start: &State,
    settings: &Settings,
    section: Option<Section>,
    looking: Looking<'_>,
    outside: &mut Outside<'_>,
) -> Result<Settled, StartError> {
    let Looking { at_once, fine, known: book } = looking;
    let span = (settings.until - start.t).max(f64::MIN_POSITIVE);
    let mut state = start.clone();
    let mut passages: Vec<Passage> = Vec::new();
    let mut known: Option<(Symmetry, Section)> = None;
    let mut piece = if at_once { span } else { span / PIECES };
    let mut found = Settled {
        outcome: Outcome::NeverPassed,
        symmetry: Symmetry::default(),
        section: section.clone().unwrap_or(Section::Maximum(0)),
        others: Vec::new(),
        first: Trajectory::default(),
        time: 0.0,
        last: start.clone(),
        whole: Vec::new(),
        stuck: false,
        recent: Vec::new(),
    };
    for round in 0..MOST {
        let record = match (&known, &section) {
            (Some((_, Section::Period(p))), _) | (None, Some(Section::Period(p))) => Record::Every(p / 16.0),
            _ => Record::Steps,
        };
        let until = match &record {
            Record::Every(p) => ((state.t + piece) / (16.0 * p)).ceil() * 16.0 * p,
            _ => state.t + piece,
        };
        let s = Settings { until, record, stop_after: u64::MAX, ..settings.clone() };
        let run = event_driven(sys, &state, &s, outside)?;
        found.time = run.time - start.t;
        found.last = run.last.state.clone();
        found.stuck = run.last.modes.contains(&Mode::Stick);
        if !matches!(run.status, Status::Finished) {
            found.outcome = Outcome::Ends(run.status, run.message);
            return Ok(found);
        }
        // what the first piece tells of the equations
        if round == 0 {
            found.first = run.clone();
        }
        let (symmetry, section) = known.get_or_insert_with(|| {
            let symmetry = Symmetry::of(sys, &run);
            let section = section.clone().unwrap_or_else(|| choose(sys, &symmetry, &run));
            (symmetry, section)
        });
        found.symmetry.clone_from(symmetry);
        found.whole.clone_from(&symmetry.scale);
        found.section.clone_from(section);
        if let Some(resting) = rests(&run, symmetry) {
            found.outcome = resting;
            return Ok(found);
        }
        let seen = passages.len().max(1);
        collect(sys, &run, section, &mut passages);
        let same = sameness(section);
        let followed = (seen..passages.len())
            .find_map(|k| book.iter().find(|b| b.seen_in(&passages[k - 1], &passages[k], same)));
        if let Some(b) = followed {
            found.outcome = Outcome::Follows(b.attractor);
            return Ok(found);
        }
        let recurs = recurrence(&run, &passages, symmetry, section, fine).filter(|_| !at_once);
        if let Some((p, scale)) = recurs {
            found.symmetry.scale = scale;
            let guess = guess_of(sys, &run, &passages, p, section);
            found.recent = passages[passages.len() - p..].iter().map(|p| p.x.clone()).collect();
            found.outcome = Outcome::Recurs(guess);
            return Ok(found);
        }
        let mut others = nearest(sys, &run, &passages, symmetry, section);
        others.truncate(4);
        found.outcome = if passages.len() < 2 { Outcome::NeverPassed } else { Outcome::Wanders };
        if !others.is_empty() {
            found.others = others;
        }
        if at_once {
            return Ok(found);
        }
        if passages.len() > 200 && found.time >= span {
            return Ok(found);
        }
        let few = (2..FEW).contains(&passages.len());
        if found.time >= if few { LONGER * PIECES * span } else { PIECES * span } {
            return Ok(found);
        }
        let carried = Carried { state: run.last.state.clone(), ..Carried::of(sys, &run) };
        state = carried.mended(sys)?;
        piece *= GROWTH;
    }
    Ok(found)
}

/// The section where nobody names one: the phase of the forcing, or the maxima of a coordinate.
fn choose(sys: &CompiledSystem, symmetry: &Symmetry, run: &Trajectory) -> Section {
    if symmetry.frame.is_none()
        && let Some(period) = forcing_period(sys, run)
    {
        return Section::Period(period);
    }
    let n = super::coordinates_of(&run.last.state);
    let drifts = symmetry.scaled_drifts();
    let still = |k: &usize| drifts.iter().all(|e| e[*k].abs() < 1e-9);
    let count = |k: usize| {
        let mut list = Vec::new();
        collect(sys, run, &Section::Maximum(k), &mut list);
        list.len()
    };
    let all: Vec<(usize, usize)> =
        (0..n).filter(still).chain((0..n).filter(|k| !still(k))).map(|k| (count(k), k)).collect();
    let best = all.iter().filter(|c| c.0 >= 2).min_by_key(|c| c.0).or(all.iter().max_by_key(|c| c.0));
    Section::Maximum(best.map_or(0, |b| b.1))
}

/// Add the passages of a run.
fn collect(sys: &CompiledSystem, run: &Trajectory, section: &Section, out: &mut Vec<Passage>) {
    match section {
        Section::Event(name) => {
            let named = |e: &&crate::sim::Event| e.kind == Kind::Mark && e.name.as_deref() == Some(name);
            out.extend(run.events.iter().filter(named).map(|e| Passage { t: e.time, x: e.after.clone() }));
        }
        Section::Period(p) => {
            let mut last = out.last().map_or(f64::NEG_INFINITY, |p| p.t);
            for row in run.samples.rows() {
                let k = row.t / p;
                if (k - k.round()).abs() <= 1e-9 * k.abs().max(1.0) && row.t > last + 0.5 * p {
                    last = row.t;
                    out.push(Passage { t: row.t, x: row.state() });
                }
            }
        }
        Section::Maximum(k) => {
            let rows: Vec<_> = run.samples.rows().collect();
            for pair in rows.windows(2) {
                let (a, b) = (&pair[0], &pair[1]);
                let (v, w) = (a.u[*k], b.u[*k]);
                if v > 0.0 && w <= 0.0 && b.t > a.t {
                    let f = v / (v - w);
                    let mix = |a: &[f64], b: &[f64]| -> Vec<f64> {
                        a.iter().zip(b).map(|(a, b)| a + f * (b - a)).collect()
                    };
                    let t = a.t + f * (b.t - a.t);
                    let mut q = mix(a.q, b.q);
                    sys.restore(&mut q);
                    let x = State { t, q, u: mix(a.u, b.u), z: mix(a.z, b.z), memory: a.memory.to_vec() };
                    out.push(Passage { t, x });
                }
            }
        }
    }
}

/// Scaled difference of two passages without drift.
fn distance(a: &Passage, b: &Passage, symmetry: &Symmetry) -> f64 {
    let frame = |i: usize| symmetry.frame.as_ref().map_or(0.0, |c| c[i]);
    let dt = b.t - a.t;
    let diff: Vec<f64> = way(&a.x, &b.x).into_iter().enumerate().map(|(i, d)| d - frame(i) * dt).collect();
    max_abs(&symmetry.without_drift(&diff))
}

/// How far passages that are the same may differ: maxima are interpolated.
fn sameness(section: &Section) -> f64 {
    if matches!(section, Section::Maximum(_)) { 3.0 * SAME } else { SAME }
}

/// Passages per period, and the sizes of the motion in it: what repeats itself is measured by how far it moves in between, so that a motion
/// that dies out is no cycle however small it has become.
fn recurrence(
    run: &Trajectory,
    list: &[Passage],
    symmetry: &Symmetry,
    section: &Section,
    fine: f64,
) -> Option<(usize, Vec<f64>)> {
    let n = list.len();
    let same = fine * sameness(section);
    (1..=LONGEST.min(n.saturating_sub(2))).find_map(|p| {
        let (from, to) = (list[n - 1 - p].t, list[n - 1].t);
        // a period that is not whole in the last piece is looked at when pieces are longer
        if from < run.start.point.state.t {
            return None;
        }
        let scale = sizes_of(run, |_, t| t >= from && t <= to);
        let symmetry = &Symmetry { scale, ..symmetry.clone() };
        let last = distance(&list[n - 1 - p], &list[n - 1], symmetry);
        let before = distance(&list[n - 2 - p], &list[n - 2], symmetry);
        (last < same && before < same).then(|| (p, symmetry.scale.clone()))
    })
}

/// The passages of the last piece that repeat each other best, up to four apart.
fn nearest(
    sys: &CompiledSystem,
    run: &Trajectory,
    list: &[Passage],
    symmetry: &Symmetry,
    section: &Section,
) -> Vec<Guess> {
    let first = run.start.point.state.t;
    let mut all: Vec<(f64, usize, usize)> = Vec::new();
    for i in 0..list.len() {
        for p in 1..=4.min(i) {
            if list[i - p].t >= first {
                all.push((distance(&list[i - p], &list[i], symmetry), i, p));
            }
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.truncate(4);
    all.iter().map(|&(_, i, p)| guess_of(sys, run, &list[..=i], p, section)).collect()
}

/// A state in the middle of the most constrained phase of the last period.
fn guess_of(
    sys: &CompiledSystem,
    run: &Trajectory,
    list: &[Passage],
    passages: usize,
    section: &Section,
) -> Guess {
    let n = list.len();
    let (from, to) = (list[n - 1 - passages].t, list[n - 1].t);
    let period = match section {
        Section::Period(p) => passages as f64 * p,
        _ => to - from,
    };
    let state = middle(sys, run, ends(run, from, to), false).and_then(|t| state_at(sys, run, t));
    let (state, modes) = state.unwrap_or_else(|| (list[n - 1].x.clone(), run.last.modes.clone()));
    Guess { state, modes, period, passages }
}

/// The state in the middle of the most constrained phase of a run of one period, or of the longest phase of `any` kind.
pub(crate) fn middle_of(
    sys: &CompiledSystem,
    settings: &Settings,
    run: &Trajectory,
    any: bool,
) -> Option<State> {
    let first = &run.start.point.state;
    // around: what begins at the end of the period goes on at its beginning
    let (from, to) = (first.t, run.time);
    let mut around = ends(run, from, to);
    if around.len() > 2 {
        around.remove(0);
        let last = around.len() - 1;
        around[last] = around[0] + to - from;
    }
    let centre = middle(sys, run, around, any)?;
    let again =
        event_driven(sys, first, &exact(settings, first.t, centre - first.t), &mut Outside::default());
    again.ok().filter(|r| r.status == Status::Finished).map(|r| r.last.state)
}

/// Two times and those of the events between them.
fn ends(run: &Trajectory, from: f64, to: f64) -> Vec<f64> {
    let inside = |t: f64| t > from && t < to;
    let events = run.events.iter().filter(|e| e.kind != Kind::Mark).map(|e| e.time);
    std::iter::once(from).chain(events.filter(|t| inside(*t))).chain([to]).collect()
}

/// The middle of the longest stretch between two of `ends`, of those with most constraints or of `any`.
fn middle(sys: &CompiledSystem, run: &Trajectory, ends: Vec<f64>, any: bool) -> Option<f64> {
    let info = sys.contacts();
    let held = |modes: &[Mode]| -> usize {
        let one = |(c, m): (&crate::system::ContactInfo, &Mode)| {
            let normal = if c.is_unilateral() && m.is_closed() { 2 } else { 0 };
            normal + usize::from(*m == Mode::Stick && c.friction)
        };
        info.iter().zip(modes).map(one).sum()
    };
    // the modes of a stretch are those of its rows that are not its ends
    let mut rows = run.samples.rows().peekable();
    let mut best: Option<(usize, f64, f64)> = None;
    for pair in ends.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let mut count = None;
        while let Some(r) = rows.peek().filter(|r| r.t < b) {
            if r.t >= a {
                count = Some(held(r.modes));
            }
            rows.next();
        }
        let Some(count) = count.filter(|_| b > a) else { continue };
        let count = if any { 0 } else { count };
        if best.is_none_or(|(most, length, _)| (count, b - a) > (most, length)) {
            best = Some((count, b - a, 0.5 * (a + b)));
        }
    }
    best.map(|b| b.2)
}

/// State and modes of a run at a time: between two rows as their values and rates have it.
fn state_at(sys: &CompiledSystem, run: &Trajectory, t: f64) -> Option<(State, Vec<Mode>)> {
    let next = run.samples.rows().position(|r| r.t >= t)?;
    let (a, b) = (run.samples.row(next.saturating_sub(1)), run.samples.row(next));
    let h = b.t - a.t;
    let s = if h > 0.0 { (t - a.t) / h } else { 1.0 };
    let cubic = |x: &[f64], y: &[f64], v: &[f64], w: &[f64]| -> Vec<f64> {
        let one = |i: usize| {
            let (d, v, w) = (y[i] - x[i], h * v[i], h * w[i]);
            x[i] + s * (v + s * (3.0 * d - 2.0 * v - w + s * (v + w - 2.0 * d)))
        };
        (0..x.len().min(v.len())).map(one).collect()
    };
    let z: Vec<f64> = a.z.iter().zip(b.z).map(|(a, b)| a + s * (b - a)).collect();
    let (mut q, u) = (cubic(a.q, b.q, a.u, b.u), cubic(a.u, b.u, a.accel, b.accel));
    // orientations have rates of their own
    let n = super::coordinates_of(&run.last.state);
    q.truncate(n);
    q.extend(a.q[n..].iter().zip(&b.q[n..]).map(|(a, b)| a + s * (b - a)));
    sys.restore(&mut q);
    Some((State { t, q, u, z, memory: a.memory.to_vec() }, a.modes.to_vec()))
}

/// Rest, or motion without change: over the second half of a piece nothing changes but by drift.
fn rests(run: &Trajectory, symmetry: &Symmetry) -> Option<Outcome> {
    let count = run.samples.len();
    let last = run.samples.row(count.checked_sub(1)?);
    let (end, nu) = (last.state(), last.u.len());
    let driven = symmetry.frame.is_none();
    let same = (count / 2..count).all(|i| {
        let r = run.samples.row(i);
        let dt = last.t - r.t;
        let mut diff = way(&r.state(), &end);
        if let Some(frame) = &symmetry.frame {
            diff.iter_mut().zip(frame).for_each(|(d, c)| *d -= c * dt);
        }
        let rest = if driven {
            diff.iter().zip(&symmetry.scale).map(|(d, s)| d / s).collect()
        } else {
            symmetry.without_drift(&diff)
        };
        max_abs(&rest) < REST
    });
    let quiet = last
        .accel
        .iter()
        .zip(&symmetry.scale[nu..])
        .all(|(a, s)| a.abs() * run.time.abs().max(1e-300) < 1e3 * REST * s || *a == 0.0);
    let moves = max_abs(last.u) > 0.0;
    let still = !moves && last.accel.iter().all(|a| *a == 0.0) && same;
    (count > 3 && (still || (same && quiet && !driven)))
        .then(|| Outcome::Rests { moves: symmetry_moves(run, symmetry) })
}

fn symmetry_moves(run: &Trajectory, symmetry: &Symmetry) -> bool {
    let span = run.time - run.start.point.state.t;
    run.last.state.u.iter().zip(&symmetry.scale).any(|(u, s)| (u * span).abs() > 1e-3 * s)
}

//! One period of a cycle as users want to see it: events, extremes, shares of stick, energy, how far from losing its shape.

use crate::model::CompiledSystem;
use crate::sim::{Event, Kind, Outside, Record, Settings, StartError, Trajectory, event_driven};
use crate::system::{Mode, State, System};

use super::exact;
use super::recur::Section;
use super::shoot::Orbit;

/// An event is at the end of a period if it is nearer, in periods.
const CLOSING: f64 = 1e-6;

/// Smallest and largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub min: f64,
    pub max: f64,
}

/// One period.
#[derive(Clone, Debug)]
pub(crate) struct Portrait {
    /// The run of one period, from just after the section.
    pub run: Trajectory,
    /// What the section is.
    pub section: String,
    /// Extremes of the coordinates, then of the outputs.
    pub coordinates: Vec<Range>,
    pub outputs: Vec<Range>,
    /// Share of the period at which each contact with friction sticks.
    pub stick: Vec<f64>,
    /// How near a contact that does not close comes to closing, the slowest impact, m and m/s.
    pub grazing: Option<f64>,
    pub slowest_impact: Option<f64>,
    /// Shortest stick, s.
    pub shortest_stick: Option<f64>,
    /// Shortest slip between two sticks, s.
    pub shortest_slip: Option<f64>,
    /// Smallest slip without a stop, m/s.
    pub least_slip: Option<f64>,
    /// Slowest rate at which a slip comes to its stop, m/s².
    pub slowest_stop: Option<f64>,
    /// Smallest normal force of a closed contact, N.
    pub lift_off: Option<f64>,
}

/// Look at one period of `orbit` from just after its section.
pub(crate) fn portrait(
    sys: &CompiledSystem,
    settings: &Settings,
    orbit: &Orbit,
    section: &Section,
) -> Result<Portrait, StartError> {
    let (start, name, event) = at_section(sys, settings, orbit, section)?;
    let mut out = portrait_from(sys, settings, &start, orbit.period)?;
    out.section = name;
    // the event of the section closes the period, whatever rounding makes of its time
    if let Some(e) = event {
        let end = start.t + orbit.period;
        let same = |o: &Event| o.kind == e.kind && o.name == e.name && o.contacts == e.contacts;
        let closed = |o: &Event| same(o) && (end - o.time).abs() < CLOSING * orbit.period;
        if !out.run.events.iter().any(closed) {
            out.run.events.push(Event { time: end, ..e });
        }
    }
    Ok(out)
}

/// Look at the period that begins at a state.
pub(super) fn portrait_from(
    sys: &CompiledSystem,
    settings: &Settings,
    start: &State,
    period: f64,
) -> Result<Portrait, StartError> {
    let s = Settings { record: Record::Steps, ..exact(settings, start.t, period) };
    let run = event_driven(sys, start, &s, &mut Outside::default())?;
    let d = sys.dims();
    let empty = Range { min: f64::INFINITY, max: f64::NEG_INFINITY };
    let mut coordinates = vec![empty; sys.model().coordinates.len()];
    let mut outputs = vec![empty; sys.output_names().len()];
    let mut stick = vec![0.0; d.contacts];
    let rows: Vec<_> = run.samples.rows().collect();
    for row in &rows {
        for (r, v) in coordinates.iter_mut().zip(row.q).chain(outputs.iter_mut().zip(row.outputs)) {
            r.min = r.min.min(*v);
            r.max = r.max.max(*v);
        }
    }
    for pair in rows.windows(2) {
        for (share, m) in stick.iter_mut().zip(pair[0].modes) {
            if *m == Mode::Stick {
                *share += (pair[1].t - pair[0].t) / period;
            }
        }
        // a coordinate turns between two rows: the parabola through values and rates
        turning(&pair[0], &pair[1], &mut coordinates);
    }
    let mut out = Portrait {
        section: String::new(),
        coordinates,
        outputs,
        stick,
        grazing: None,
        slowest_impact: None,
        shortest_stick: None,
        shortest_slip: None,
        least_slip: None,
        slowest_stop: None,
        lift_off: None,
        run,
    };
    out.margins(sys);
    Ok(out)
}

fn turning(a: &crate::sim::Sample<'_>, b: &crate::sim::Sample<'_>, out: &mut [Range]) {
    let h = b.t - a.t;
    for (k, r) in out.iter_mut().enumerate() {
        if !(h > 0.0) || !(a.u[k] * b.u[k] < 0.0) {
            continue;
        }
        // cubic of Hermite: where its rate vanishes
        let (x0, x1, v0, v1) = (a.q[k], b.q[k], h * a.u[k], h * b.u[k]);
        let (c2, c3) = (3.0 * (x1 - x0) - 2.0 * v0 - v1, 2.0 * (x0 - x1) + v0 + v1);
        let root = (c2 * c2 - 3.0 * c3 * v0).max(0.0).sqrt();
        let q = -(c2 + c2.signum() * root);
        for s in [q / (3.0 * c3), v0 / q] {
            if s > 0.0 && s < 1.0 {
                let x = x0 + s * (v0 + s * (c2 + s * c3));
                r.min = r.min.min(x);
                r.max = r.max.max(x);
            }
        }
    }
}

/// The state just after the section, what the section is, and its event.
fn at_section(
    sys: &CompiledSystem,
    settings: &Settings,
    orbit: &Orbit,
    section: &Section,
) -> Result<(State, String, Option<Event>), StartError> {
    let x = &orbit.start;
    match section {
        Section::Event(name) => {
            let s = Settings { record: Record::Events, ..exact(settings, x.t, 1.01 * orbit.period) };
            let run = event_driven(sys, x, &s, &mut Outside::default())?;
            let hit = run.events.iter().find(|e| e.kind == Kind::Mark && e.name.as_deref() == Some(name));
            let state = hit.map_or_else(|| x.clone(), |e| e.after.clone());
            Ok((state, format!("event `{name}`"), hit.cloned()))
        }
        Section::Period(p) => {
            let next = (x.t / p - 1e-9).ceil() * p;
            let name = "phase 0 of the forcing".to_string();
            if next - x.t <= 1e-12 * p {
                return Ok((x.clone(), name, None));
            }
            let s = exact(settings, x.t, next - x.t);
            let run = event_driven(sys, x, &s, &mut Outside::default())?;
            Ok((run.last.state, name, None))
        }
        Section::Maximum(_) => {
            // entry into the phase with most constraints
            let s = exact(settings, x.t, 1.01 * orbit.period);
            let run = event_driven(sys, x, &s, &mut Outside::default())?;
            let entry = run.events.iter().rev().find(|e| {
                matches!(e.kind, Kind::Stick | Kind::Impact | Kind::Touch)
                    && e.contacts.iter().any(|c| c.after != Mode::Open)
            });
            Ok(match entry {
                Some(e) => {
                    let names: Vec<String> =
                        e.contacts.iter().map(|c| format!("`{}`", sys.contacts()[c.contact].name)).collect();
                    (e.after.clone(), format!("{} of {}", e.kind.word(), names.join(", ")), Some(e.clone()))
                }
                None => (x.clone(), "a state of the cycle".to_string(), None),
            })
        }
    }
}

impl Portrait {
    fn margins(&mut self, sys: &CompiledSystem) {
        let info = sys.contacts();
        let rows: Vec<_> = self.run.samples.rows().collect();
        let least = |a: Option<f64>, b: f64| Some(a.map_or(b, |a: f64| a.min(b)));
        for three in rows.windows(3) {
            let [a, b, c] = three else { continue };
            for (i, contact) in info.iter().enumerate() {
                let modes = [a.modes[i], b.modes[i], c.modes[i]];
                let valley = |x: f64, y: f64, z: f64| y <= x && y <= z;
                if contact.is_unilateral()
                    && modes.iter().all(|m| *m == Mode::Open)
                    && valley(a.gap[i], b.gap[i], c.gap[i])
                    && b.t > a.t
                    && c.t > b.t
                {
                    self.grazing = least(self.grazing, b.gap[i]);
                }
                if contact.is_unilateral() && b.modes[i].is_closed() {
                    self.lift_off = least(self.lift_off, b.normal[i]);
                }
                let slip = |r: &crate::sim::Sample<'_>| match contact.tangent.len() {
                    0 | 1 => r.slip[i].abs(),
                    _ => contact.tangent.iter().fold(0.0_f64, |s, &k| s.hypot(r.rates[k])),
                };
                if modes.iter().all(|m| m.slides())
                    && modes[0] == modes[2]
                    && valley(slip(a), slip(b), slip(c))
                    && b.t > a.t
                    && c.t > b.t
                {
                    self.least_slip = least(self.least_slip, slip(b));
                }
            }
        }
        for i in 0..info.len() {
            // a stick that begins with the period has no event of its own
            let first = &self.run.start.point;
            let begins = first.modes.get(i) == Some(&Mode::Stick)
                && !self
                    .run
                    .events
                    .iter()
                    .any(|e| e.contacts.iter().any(|p| p.contact == i && p.after == Mode::Stick));
            let mut since: Option<f64> = begins.then_some(first.state.t);
            let mut released: Option<f64> = None;
            // twice around: what begins in one period may end in the next
            let period = self.run.time - self.run.start.point.state.t;
            let again = self.run.events.iter().map(|e| (e, e.time + period));
            for (e, time) in self.run.events.iter().map(|e| (e, e.time)).chain(again) {
                let Some(p) = e.contacts.iter().find(|p| p.contact == i) else { continue };
                match (p.before == Mode::Stick, p.after == Mode::Stick) {
                    (false, true) => {
                        since = Some(time);
                        if let Some(from) = released.take() {
                            self.shortest_slip = least(self.shortest_slip, time - from);
                        }
                    }
                    (true, false) => {
                        released = Some(time);
                        if let Some(from) = since.take() {
                            self.shortest_stick = least(self.shortest_stick, time - from);
                        }
                    }
                    _ => {}
                }
            }
        }
        let at = |s: &State| {
            let mut eval = sys.memory();
            let mut d = crate::system::Discrete::new(&sys.dims());
            sys.latch(s, &mut d, &mut eval, false);
            sys.evaluate(s, &d, &mut eval);
            eval
        };
        for e in self.run.events.iter().filter(|e| e.kind == Kind::Stick) {
            for p in e.contacts.iter().filter(|p| p.after == Mode::Stick) {
                let slides = |r: &&crate::sim::Sample<'_>| r.t <= e.time && r.modes[p.contact].slides();
                let Some(row) = rows.iter().rev().find(slides) else { continue };
                let eval = at(&e.before);
                let rate = |&k: &usize| eval.w.row(k).dot(row.accel) + eval.accel_offset[k];
                let rate = info[p.contact].tangent.iter().map(rate).fold(0.0, f64::hypot);
                self.slowest_stop = least(self.slowest_stop, rate);
            }
        }
        for e in self.run.events.iter().filter(|e| e.kind == Kind::Impact) {
            let eval = at(&e.before);
            for p in &e.contacts {
                if let Some(row) = info[p.contact].normal_row().filter(|_| p.before == Mode::Open) {
                    self.slowest_impact = least(self.slowest_impact, -eval.rate(row, &e.before.u));
                }
            }
        }
    }
}

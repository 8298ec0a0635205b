//! From points, events and the audit of a run to their records.

use crate::sim::{Alternative, Event, Family, KINDS, Kind, Participant, Point, Trajectory};
use crate::system::{Mode, State};

use super::Names;
use super::json::{Named, Num};
use super::record::{
    AuditRecord, BodyRecord, Components, ContactRecord, CountsRecord, Ends, Entry, EventRecord, LedgerRecord,
    Open, SolutionRecord, WorkRecord, rates,
};

/// Coordinates, velocities, states, memory.
pub(super) fn state(s: &State, names: &Names) -> Named<Entry> {
    let mut out: Named<Entry> = numbers(plain(s, names)).collect();
    out.extend(bodies(names, Some(s), true, None));
    out
}

/// Bodies that turn freely: orientation and spin of a state, if it is `shown`, and angular accelerations; spins in inertial axes.
fn bodies(names: &Names, s: Option<&State>, shown: bool, accel: Option<&[f64]>) -> Vec<(String, Entry)> {
    let n = names.coordinates.len();
    let of = |k: usize| {
        let seen = s.filter(|_| shown);
        let rotation = seen.and_then(|s| {
            let [w, x, y, z] = *s.q.get(n + 4 * k..n + 4 * k + 4)? else { return None };
            let sign = if w < 0.0 { -1.0 } else { 1.0 };
            Some([w, x, y, z].map(|v| Num(sign * v)))
        });
        BodyRecord {
            rotation,
            spin: seen.and_then(|s| names.spin(k, s)),
            spin_rate: accel.and_then(|a| names.spin_rate(k, s, a)),
        }
    };
    names.free.iter().enumerate().map(|(k, name)| (name.clone(), Entry::Body(of(k)))).collect()
}

fn plain(s: &State, names: &Names) -> Named<Num> {
    let mut out = Named::of(&names.coordinates, &s.q);
    out.extend(Named::of(&rates(&names.coordinates, "'"), &s.u).0);
    out.extend(Named::of(&names.states, &s.z).0);
    out.extend(Named::of(&names.memory, &s.memory).0);
    out
}

fn numbers(list: Named<Num>) -> impl Iterator<Item = (String, Entry)> {
    list.0.into_iter().map(|(name, x)| (name, Entry::Number(x)))
}

fn accelerations(accel: &[f64], names: &Names) -> impl Iterator<Item = (String, Entry)> {
    numbers(Named::of(&rates(&names.coordinates, "''"), accel))
}

/// State, accelerations, contacts.
pub(super) fn point(p: &Point, names: &Names) -> Named<Entry> {
    let mut out: Named<Entry> = numbers(plain(&p.state, names)).collect();
    out.extend(accelerations(&p.accel, names));
    out.extend(bodies(names, Some(&p.state), true, Some(&p.accel)));
    out.extend(names.contacts.iter().enumerate().map(|(k, name)| {
        let at = |list: &[f64]| list.get(k).copied().map(Num);
        let second = |rows: &[f64]| rows.get((*names.second.get(k)?)?).copied();
        let both = |list: &[f64], rows: &[f64]| Some(Components::of(*list.get(k)?, second(rows)));
        let size = |list: &[f64], rows: &[f64]| Some(Num(list.get(k)?.hypot(second(rows)?)));
        let entry = ContactRecord {
            gap: at(&p.gap),
            slip: both(&p.slip, &p.rates),
            normal: at(&p.normal),
            tangential: both(&p.tangential, &p.lambda),
            speed: size(&p.slip, &p.rates),
            friction: size(&p.tangential, &p.lambda),
            mode: p.modes.get(k).copied(),
        };
        (name.clone(), Entry::Contact(entry))
    }));
    out
}

/// One solution of the force problem, with the keys of an instant.
pub(super) fn solution(a: &Alternative, s: &State, at: Option<&Point>, names: &Names) -> SolutionRecord {
    let mut out: Named<Entry> = accelerations(&a.accel, names).collect();
    out.extend(bodies(names, Some(s), false, Some(&a.accel)));
    out.extend(names.contacts.iter().enumerate().map(|(k, name)| {
        let entry = |list: &[f64]| list.get(k).copied().map(Num);
        let second = |rows: &[f64]| rows.get((*names.second.get(k)?)?).copied();
        let both = |list: &[f64], rows: &[f64]| Some(Components::of(*list.get(k)?, second(rows)));
        let size = |list: &[f64], rows: &[f64]| Some(Num(list.get(k)?.hypot(second(rows)?)));
        let entry = ContactRecord {
            gap: at.and_then(|p| entry(&p.gap)),
            slip: at.and_then(|p| both(&p.slip, &p.rates)),
            normal: entry(&a.normal),
            tangential: both(&a.tangential, &a.lambda),
            speed: at.and_then(|p| size(&p.slip, &p.rates)),
            friction: size(&a.tangential, &a.lambda),
            mode: a.modes.get(k).copied(),
        };
        (name.clone(), Entry::Contact(entry))
    }));
    SolutionRecord { point: out, chosen: a.chosen }
}

/// Intervals wider than rounding.
pub(super) fn open(family: &Family, names: &Names) -> Named<Open> {
    let interval = |&(lo, hi): &(f64, f64)| {
        let wide = hi - lo > 1e-9 * (1.0 + lo.abs().max(hi.abs())) || !(hi - lo).is_finite();
        wide.then_some([Num(lo), Num(hi)])
    };
    let accel = names.coordinates.iter().zip(&family.accel);
    let mut out: Named<Open> = accel
        .filter_map(|(name, range)| Some((format!("{name}''"), Open::Interval(interval(range)?))))
        .collect();
    for (k, name) in names.contacts.iter().enumerate() {
        let at = |list: &[(f64, f64)]| list.get(k).and_then(interval);
        let normal = at(&family.normal);
        // of two tangents both are told where one of them is open
        let second = family.second.get(k).filter(|_| names.second.get(k).is_some_and(|s| s.is_some()));
        let tangential = match (family.tangential.get(k), second) {
            (Some(first), Some(second)) if interval(first).or(interval(second)).is_some() => {
                Some(Ends::Two([first, second].map(|&(lo, hi)| [Num(lo), Num(hi)])))
            }
            (Some(_), Some(_)) => None,
            _ => at(&family.tangential).map(Ends::One),
        };
        if normal.is_some() || tangential.is_some() {
            out.push(name.clone(), Open::Contact { normal, tangential });
        }
    }
    out
}

/// An event with the names of what takes part.
pub fn event(e: &Event, names: &Names) -> EventRecord {
    let name = |k: usize| names.contacts.get(k).cloned().unwrap_or_else(|| format!("#{}", k + 1));
    let struck = matches!(e.kind, Kind::Impact | Kind::TangentialImpact | Kind::Seizure | Kind::Accumulated);
    let modes =
        |mode: fn(&Participant) -> Mode| e.contacts.iter().map(|p| (name(p.contact), mode(p))).collect();
    let impulses = |value: fn(&Participant) -> f64| {
        struck.then(|| e.contacts.iter().map(|p| (name(p.contact), Num(value(p)))).collect())
    };
    EventRecord {
        time: Num(e.time),
        kind: e.kind,
        name: e.name.clone(),
        contacts: e.contacts.iter().map(|p| name(p.contact)).collect(),
        modes: modes(|p| p.after),
        modes_before: modes(|p| p.before),
        impulse_n: impulses(|p| p.impulse_n),
        impulse_t: struck.then(|| {
            e.contacts.iter().map(|p| (name(p.contact), Components::of(p.impulse_t, p.second))).collect()
        }),
        loss: impulses(|p| p.loss),
        before: state(&e.before, names),
        after: state(&e.after, names),
        note: e.note.clone(),
        alternatives: e.alternatives.iter().map(|a| solution(a, &e.after, None, names)).collect(),
    }
}

pub(super) fn audit(run: &Trajectory, names: &Names) -> AuditRecord {
    let (a, e) = (&run.audit, &run.energy);
    let work =
        e.friction.iter().zip(&e.impact).map(|(f, i)| WorkRecord { friction: Num(*f), impact: Num(*i) });
    AuditRecord {
        passed: a.passed,
        complementarity: Num(a.complementarity),
        cone: Num(a.cone),
        impact: Num(a.impact),
        penetration: Num(a.penetration),
        drift: Num(a.drift),
        energy: Num(a.energy),
        explained: Num(a.explained),
        created: Num(a.created),
        step_error: a.step_error.map(Num),
        remarks: a.remarks.clone(),
        ledger: LedgerRecord {
            initial: Num(e.initial),
            kinetic: Num(e.kinetic),
            potential: Num(e.potential),
            friction: Num(e.friction.iter().sum()),
            impact: Num(e.impact.iter().sum()),
            external: Num(e.external),
            drive: Num(e.drive),
            numerical: Num(e.numerical()),
            contacts: names.contacts.iter().cloned().zip(work).collect(),
        },
    }
}

pub(super) fn counts(run: &Trajectory) -> CountsRecord {
    let c = &run.counts;
    CountsRecord {
        steps: c.steps,
        implicit: c.implicit,
        rejected: c.rejected,
        evaluations: c.evaluations,
        factorisations: c.factorisations,
        events: KINDS.iter().zip(c.events).map(|(k, n)| (k.word().to_string(), n)).collect(),
    }
}

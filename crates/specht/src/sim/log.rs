//! What is written down about an instant: one event per kind, findings with their alternatives, notes in words.

use crate::contact::{Start, Status as Set};
use crate::system::{ContactEvent, Mode, System, Trigger};

use super::event_driven::Run;
use super::instant::Moment;
use super::tolerances::IMPULSE_NOISE;
use super::trajectory::{Event, Kind, Participant};

impl<S: System + ?Sized> Run<'_, S> {
    /// What each contact did, as triggers of user events.
    pub(super) fn changes(&self, m: &mut Moment) {
        for i in 0..m.modes.len() {
            let mut push = |kind| m.triggers.push(Trigger::Contact { contact: i, kind });
            if m.impulse_n[i] != 0.0 && !m.tangential {
                push(ContactEvent::Impact);
            }
            match (m.modes[i], self.field.discrete.modes[i]) {
                (Mode::Open, Mode::Open) => {}
                (Mode::Open, after) => {
                    if m.impulse_n[i] == 0.0 {
                        push(ContactEvent::Touch);
                    }
                    if after == Mode::Stick {
                        push(ContactEvent::Stick);
                    }
                }
                (_, Mode::Open) => push(ContactEvent::Detach),
                (Mode::Stick, after) if after.direction() != 0.0 || after == Mode::Slip => {
                    push(ContactEvent::Slip)
                }
                (Mode::Slip, Mode::Slip) if self.sets.stopped[i] => push(ContactEvent::Reverse),
                (before, Mode::Stick) if before != Mode::Stick => push(ContactEvent::Stick),
                (before, after) if before.direction() * after.direction() < 0.0 => {
                    push(ContactEvent::Reverse)
                }
                _ => {}
            }
        }
    }

    /// Write the log entries of this instant, one per kind.
    pub(super) fn log(&mut self, m: &Moment) {
        let n = self.field.dims.contacts;
        let largest = m.impulse_n.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let hit: Vec<usize> = (0..n)
            .filter(|&i| {
                m.impulse_n[i].abs() > IMPULSE_NOISE * largest
                    || m.impulse_t[i].abs() > IMPULSE_NOISE * largest
            })
            .collect();
        if !hit.is_empty() {
            self.push_event(
                m,
                match m.tangential {
                    // nothing moves any more: dynamic seizure (4.61)
                    true if self.at_rest_after(m) => Kind::Seizure,
                    true => Kind::TangentialImpact,
                    false => Kind::Impact,
                },
                &hit,
                None,
                &m.remark,
            );
        }
        for (kind, what) in [
            (Kind::Touch, ContactEvent::Touch),
            (Kind::Detach, ContactEvent::Detach),
            (Kind::Stick, ContactEvent::Stick),
            (Kind::Slip, ContactEvent::Slip),
            (Kind::Reverse, ContactEvent::Reverse),
        ] {
            let list: Vec<usize> = m
                .triggers
                .iter()
                .filter_map(|t| match t {
                    Trigger::Contact { contact, kind } if *kind == what => Some(*contact),
                    _ => None,
                })
                .collect();
            if !list.is_empty() {
                self.push_event(m, kind, &list, None, "");
            }
        }
        // which edge an open contact looks at is nobody's business
        let looks = |i: usize| {
            let open = [m.modes[i], self.field.discrete.modes[i]].iter().all(|m| *m == Mode::Open);
            open && self.field.info[i].is_unilateral()
        };
        let list: Vec<usize> = m.switched.iter().copied().filter(|&i| !looks(i)).collect();
        let sys = self.field.sys;
        let nameless = m.flipped.iter().any(|&g| sys.guard_contact(g).is_none() && !sys.is_silent(g));
        if nameless || !list.is_empty() {
            self.push_event(m, Kind::Switch, &list, None, "");
        }
        self.await_limit(m);
    }

    pub(super) fn push_event(
        &mut self,
        m: &Moment,
        kind: Kind,
        contacts: &[usize],
        name: Option<&str>,
        note: &str,
    ) {
        self.out.counts.events[kind as usize] += 1;
        if !self.asked[kind as usize] {
            return;
        }
        let after = &self.field.discrete.modes;
        let contacts = contacts
            .iter()
            .map(|&i| Participant {
                contact: i,
                before: m.modes[i],
                after: after[i],
                impulse_n: m.impulse_n[i],
                impulse_t: m.impulse_t[i],
                second: self.field.info[i].tangent.get(1).map(|&row| self.impulses.lambda[row]),
                loss: m.loss[i],
            })
            .collect();
        self.out.events.push(Event {
            time: self.field.state.t,
            kind,
            contacts,
            before: m.before.clone(),
            after: self.field.state.clone(),
            name: name.map(str::to_string),
            note: note.to_string(),
            alternatives: Vec::new(),
        });
    }

    pub(super) fn log_finding(&mut self, m: &Moment, note: String) {
        let list: Vec<usize> = (0..self.field.dims.contacts).filter(|&i| self.sets.closed[i]).collect();
        self.push_event(m, Kind::Finding, &list, None, &note);
        let alternatives = self.decider.alternatives();
        if let (true, Some(e)) = (self.asked[Kind::Finding as usize], self.out.events.last_mut()) {
            e.alternatives = alternatives;
        }
    }

    pub(super) fn tell_incomplete(&mut self) {
        const NOTE: &str = "not all modes of the closed contacts were examined: there may be other solutions";
        if !self.decider.set.complete && !self.out.warnings.iter().any(|w| w.ends_with(NOTE)) {
            self.out.warnings.push(format!("at t = {}: {NOTE}", self.time()));
        }
    }

    pub(super) fn several_note(&self) -> String {
        let set = &self.decider.set;
        let policy = self.settings.several.word();
        match set.status {
            Set::Several => {
                format!("the force problem has {} solutions; policy {policy}", set.solutions.len())
            }
            Set::Family => {
                format!("the accelerations are not unique (a continuum of solutions); policy {policy}")
            }
            Set::None => match self.weaker_at_rest() {
                Some(name) => format!(
                    "the rigid force problem has no solution: contact `{name}` holds less at rest than it rubs when it slides (static below sliding friction)"
                ),
                None => format!("the rigid force problem has no solution; policy {policy}"),
            },
            Set::Unknown if self.field.spatial => format!(
                "no solution of the force problem was found, and not all modes of its contacts were examined ({}). Several contacts that rub in two directions \
                 at once are not followed through a paradox: with less friction there may be none, and scheme = \"step\" goes on through it (specht explain painleve)",
                self.describe()
            ),
            Set::Unknown => {
                "no solution of the force problem was found, and not all modes of its contacts were examined"
                    .into()
            }
            _ => format!("the force problem could not be solved; policy {policy}"),
        }
    }

    /// A contact at rest whose static friction is less than its sliding friction: between the two there is neither rest nor motion.
    fn weaker_at_rest(&self) -> Option<&str> {
        let eval = &self.field.eval;
        let weaker = |i: &usize| {
            self.sets.starts.get(*i) == Some(&Start::Zero)
                && (eval.mu_static[*i] < eval.mu[*i] || eval.load_static[*i] < eval.load[*i])
        };
        let found = (0..self.field.info.len()).filter(|&i| self.field.info[i].friction).find(weaker);
        found.map(|i| self.field.info[i].name.as_str())
    }

    /// Names and modes of the closed contacts, for messages.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        for (i, c) in self.field.info.iter().enumerate() {
            if self.sets.closed.get(i).copied().unwrap_or(false) {
                text += &format!("`{}` {}, ", c.name, self.field.discrete.modes[i].word());
            }
        }
        if text.is_empty() {
            "no contact closed".to_string()
        } else {
            format!("closed contacts {}", text.trim_end_matches(", "))
        }
    }
}

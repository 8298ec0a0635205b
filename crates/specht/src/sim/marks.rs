//! User events at an instant.
//!
//! An event function fires where it is located on its zero in smooth motion, and where it *jumps*: a switch, an impact or
//! a changed memory carries it from its side of zero to zero or to the other side. What an event sets may carry other event
//! functions over zero, which fire at the same instant; each fires at most once per instant. All assignments of one round read
//! the memory before it. What contacts do because memory changed is logged but fires nothing more at this instant.

use crate::system::{System, Trigger};

use super::event_driven::{End, Run};
use super::instant::Moment;
use super::trajectory::{Kind, Status};
use super::watch::What;

impl<S: System + ?Sized> Run<'_, S> {
    /// Add the event functions that have jumped over zero since `m.crossings` to the triggers.
    pub(super) fn find_jumps(&mut self, m: &mut Moment) {
        let field = &self.field;
        for w in &field.watches.list {
            let What::Crossing(c, factor) = w.what else { continue };
            let noise = field.watches.noise(w.what, field.info);
            let (before, after) = (factor * m.crossings[c], factor * field.eval.crossings[c]);
            let was_beyond = before > noise || (w.armed && before > 0.0);
            if factor != 0.0 && was_beyond && after <= noise && !m.crossed.contains(&c) {
                m.triggers.push(Trigger::Crossing(c));
                m.crossed.push(c);
            }
        }
        m.crossings.clone_from(&field.eval.crossings);
    }

    /// Fire user events; changed memory means one more decision, and may make more of them fire.
    pub(super) fn user_events(&mut self, m: &mut Moment) -> Option<End> {
        while !m.triggers.is_empty() {
            self.fill_forces();
            let field = &mut self.field;
            let mut memory = std::mem::take(&mut self.tools.memory);
            memory.clone_from(&field.state.memory);
            let at = crate::system::Instant {
                state: &field.state,
                discrete: &field.discrete,
                eval: &field.eval,
                accel: &field.forces.accel,
                forces: &self.forces,
                impulses: &self.impulses,
            };
            let stop = field.sys.fire(&m.triggers, at, &mut memory, &mut m.fired);
            m.triggers.clear();
            if let Some(v) = &mut self.variation
                && !m.fired.is_empty()
                && !memory.is_empty()
            {
                v.fire(field, &m.fired, &self.impulses);
            }
            let changed = memory != field.state.memory && field.sys.memory_acts();
            if !changed {
                field.state.memory.copy_from_slice(&memory);
            } else {
                let energy = field.eval.kinetic + field.eval.potential;
                let crossings = field.eval.crossings.clone();
                field.state.memory.copy_from_slice(&memory);
                field.forget();
                field.sys.latch(&field.state, &mut field.discrete, &mut field.eval, true);
                field.evaluate();
                // what the new memory has moved stands where it stands, and need not come back first
                self.fired.retain(|&c| field.eval.crossings[c] == crossings[c]);
                self.ledger.jump(self.field.eval.kinetic + self.field.eval.potential - energy);
            }
            self.tools.memory = memory;
            let names = self.field.sys.event_names();
            let mut fired = std::mem::take(&mut m.fired);
            for &k in &fired {
                let name = names.get(k).map(String::as_str);
                self.push_event(m, Kind::Mark, &[], name, "");
            }
            if stop {
                let name = fired.last().and_then(|&k| names.get(k)).map_or("", |n| n.as_str());
                return Some((Status::Stopped, format!("event `{name}`")));
            }
            // keeps its memory
            fired.clear();
            m.fired = fired;
            if changed {
                let mut again = Moment::default();
                self.open_moment(&mut again);
                self.sets.remember(&self.field.discrete.modes);
                again.tie = true;
                if let Some(v) = &mut self.variation {
                    v.keep();
                }
                let end = self.settle(&mut again, false);
                self.changes(&mut again);
                self.log(&again);
                if end.is_some() {
                    return end;
                }
                self.find_jumps(m);
            }
        }
        None
    }
}

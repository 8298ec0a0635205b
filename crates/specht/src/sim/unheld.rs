//! Contacts that seem to stick because nothing asks them to slip yet.
//!
//! Where the direction of slip depends on other constraints (a slot that stands across the guide of its block), a contact at rest
//! meets the law of stick at the instant itself with any friction, and the motion does not depend on it. A moment later the motion carries it into slip, with a
//! higher power of time than any acceleration tells, or it would have to stop at once: no step leads on with that mode. The contact then slides where
//! the motion, continued for a step with the accelerations of the instant, carries it.

use crate::linalg::axpy;
use crate::ode::Trial;
use crate::system::{Mode, System};

use super::decide::keeps_to_laws;
use super::event_driven::Run;
use super::instant::Moment;

impl<S: System + ?Sized> Run<'_, S> {
    /// Let contacts of this kind slide, when the step size fell to nothing right after an instant. True when some do; then modes, forces and the
    /// state to start from are new.
    pub(super) fn let_slide(&mut self) -> bool {
        let t = self.ode.time();
        if self.unheld == t || self.field.spatial || self.field.chart.active {
            return false;
        }
        self.unheld = t;
        self.x.copy_from_slice(self.ode.state());
        if !self.field.at(t, &self.x) {
            return false;
        }
        let slides = self.carried_away();
        if slides.is_empty() {
            return false;
        }
        let mut m = Moment::default();
        self.open_moment(&mut m);
        self.sets.remember(&self.field.discrete.modes);
        for &(i, mode) in &slides {
            self.field.discrete.modes[i] = mode;
        }
        self.field.evaluate();
        if !keeps_to_laws(&mut self.field) {
            self.field.discrete.modes.copy_from_slice(&m.modes);
            self.field.at(t, &self.x);
            return false;
        }
        self.take_over();
        self.changes(&mut m);
        self.log(&m);
        self.h = f64::INFINITY;
        true
    }

    /// Sticking contacts whose friction the motion of the last decision leaves free, and where each of them goes.
    fn carried_away(&mut self) -> Vec<(usize, Mode)> {
        let families = &self.decider.set.families;
        if families.iter().any(|f| f.moves) {
            return Vec::new();
        }
        let info = self.field.info;
        let any = |row: usize| families.iter().any(|f| f.lambda[row][0] < f.lambda[row][1]);
        let free: Vec<(usize, usize)> = (0..info.len())
            .filter(|&i| info[i].friction && self.field.discrete.modes[i] == Mode::Stick)
            .filter_map(|i| Some((i, *info[i].tangent.first()?)))
            .filter(|&(_, row)| any(row))
            .collect();
        if free.is_empty() {
            return Vec::new();
        }
        let moment = self.usual_step();
        let field = &mut self.field;
        let here = field.state.clone();
        let mut way = vec![0.0; field.dims.q];
        axpy(0.5 * moment, &field.forces.accel, &mut field.state.u);
        field.sys.q_rate(&field.state, &mut way);
        axpy(moment, &way, &mut field.state.q);
        axpy(0.5 * moment, &field.forces.accel, &mut field.state.u);
        field.state.t += moment;
        field.evaluate();
        let side = |&(i, row): &(usize, usize)| {
            let slip = field.eval.rate(row, &field.state.u);
            let mode = if slip > 0.0 { Mode::SlipPlus } else { Mode::SlipMinus };
            (slip != 0.0).then_some((i, mode))
        };
        let slides = free.iter().filter_map(side).collect();
        field.state.clone_from(&here);
        field.evaluate();
        slides
    }
}

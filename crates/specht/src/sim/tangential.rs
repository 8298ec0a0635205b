//! Tangential impacts in a run: velocities jump although nothing collides (ANH-4.3-TIMPACT, PG-5.3-ROD).
//!
//! One pair: the solution of the compression laws other than the trivial one; the slip ends. Several pairs: which pairs stop
//! depends on the direction in which the reactions grow and on the way, so the fast motion is followed from the previous
//! reactions until it diverges and on to the end of the impact ([`Fast::jump`]). With restitution the solution of the compression
//! laws nearest to that end is taken and expansion follows.

use crate::contact::{Fast, Fate};
use crate::impact::plain_residual;
use crate::system::{Restitution, System};

use super::event_driven::Run;
use super::instant::Moment;
use super::policy::{self, Before};

/// What is known of the reactions before the instant.
pub(super) fn before<'a>(first: bool, m: &'a Moment, impulses: &'a [f64]) -> Before<'a> {
    if impulses.iter().any(|&p| p != 0.0) {
        Before::Impulse(impulses)
    } else if first || m.jumped {
        Before::Nothing
    } else {
        Before::Forces(&m.forces)
    }
}

/// The end of the impact that the fast motion leads to.
struct End {
    u: Vec<f64>,
    lambda: Vec<f64>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Impact without collision; false when there is none.
    pub(super) fn without_collision(&mut self, m: &mut Moment, first: bool) -> bool {
        if self.field.spatial {
            return self.without_collision_in_space(m, first, false);
        }
        let end = self.fast_end(m, first);
        let field = &mut self.field;
        let tools = &mut self.tools;
        tools.restitution.resize(field.dims.contacts, Restitution::default());
        field.sys.restitution(&field.state, &field.discrete, &mut tools.restitution);
        let rebounds = field
            .info
            .iter()
            .zip(&tools.restitution)
            .zip(&self.sets.closed)
            .any(|((c, e), closed)| *closed && e.normal > 0.0 && c.is_unilateral());
        let mut laws = || {
            tools.impactor.without_collision(
                field.info,
                &field.eval,
                &field.state.u,
                &self.sets.closed,
                &tools.restitution,
                end.as_ref().map(|e| &e.u[..]),
            )
        };
        let impact = if end.is_none() || rebounds { laws() } else { None };
        match (impact, end) {
            (Some(i), _) => {
                self.auditor.impact(i.residual);
                self.apply(m, &i.u, &i.impulse, &i.normal, &i.tangential);
            }
            (None, Some(e)) => {
                let field = &self.field;
                let closed = &self.sets.closed;
                let u = &field.state.u;
                self.auditor.impact(plain_residual(field.info, &field.eval, u, &e.u, &e.lambda, closed));
                let info = self.field.info;
                let normal: Vec<f64> = info.iter().map(|c| c.normal_force(&e.lambda)).collect();
                let tangential: Vec<f64> = info.iter().map(|c| c.tangential_force(&e.lambda)).collect();
                self.apply(m, &e.u, &e.lambda, &normal, &tangential);
            }
            (None, None) => return false,
        }
        m.tangential = true;
        true
    }

    /// Follow the fast motion to where it diverges; of several pairs on through the impact. Says how long it lasts.
    fn fast_end(&self, m: &mut Moment, first: bool) -> Option<End> {
        let field = &self.field;
        let fast = Fast::of(field.info, &field.eval, &self.sets.starts)?;
        let before = before(first, m, &self.impulses.lambda);
        let Fate::Diverges(direction) = policy::fate(&self.decider.set, before, &fast) else { return None };
        let u = &field.state.u;
        let slip: Vec<f64> = fast
            .tangents
            .iter()
            .map(|t| if t.direction == 0.0 { 0.0 } else { field.eval.rate(t.row, u) })
            .collect();
        let r0: Vec<f64> = fast
            .normals
            .iter()
            .map(|n| before.forces().map_or(0.0, |f| f.lambda.get(n.row).copied().unwrap_or(0.0)))
            .collect();
        m.remark = fast.lasting(&r0, &slip, &direction).map_or(String::new(), |d| d.note());
        if fast.normals.len() < 2 {
            return None;
        }
        let (u, impulses) = fast.jump(u, &slip, &direction)?;
        let mut lambda = vec![0.0; field.dims.rows];
        let rows = fast.normals.iter().map(|n| n.row).chain(fast.tangents.iter().map(|t| t.row));
        for (row, p) in rows.zip(&impulses) {
            lambda[row] += p;
        }
        Some(End { u, lambda })
    }
}

//! Questions that cannot be answered: the error of an analysis as a message that points at its cause in the file, with a remedy.

use crate::analysis::{AnalysisError, Snapshot};
use crate::file::Diagnostic;
use crate::model::{Model, Span};
use crate::sim::StartError;
use crate::system::{Normal, System};

use super::{Error, Machine};

impl Machine {
    /// The message for an error of an analysis of this machine.
    pub(super) fn refuse(&self, e: AnalysisError) -> Error {
        use AnalysisError as E;
        let text = e.to_string();
        let at = |contact: &str, message: String, help: &str| match span_of_contact(self.model(), contact) {
            Some(span) => self.error_at(Diagnostic::error(span, message, help)),
            None => Error::plain(text.clone(), ""),
        };
        match &e {
            E::UnknownContact { name, known } => {
                Error::unknown("contact", name, known, "`specht check MODEL` lists the contacts")
            }
            E::UnknownParameter { name, known } => {
                Error::unknown("parameter", name, known, "make a parameter of what should vary")
            }
            E::UnknownAxis { name, known } => Error::unknown(
                "parameter, coordinate or velocity",
                name,
                known,
                "a velocity is written like a coordinate with a prime, \"phi'\"",
            ),
            E::NoFriction(name) => at(
                name,
                format!("contact `{name}` has no friction, so its reaction is the only possible one"),
                "give it  friction = 0.2  or ask about another contact",
            ),
            E::Open(name) => at(
                name,
                format!("contact `{name}` is open at this state"),
                &format!(
                    "start with it closed,  [start] closed = [\"{name}\"], or look at an instant of the run with --at-time"
                ),
            ),
            E::Spatial(name) => at(
                name,
                format!("contact `{name}` slides in two directions; this analysis is for planar contacts"),
                "analyse a planar section of the machine",
            ),
            E::NoPair => Error::plain(
                "no contact of the model has friction, so there is nothing to decide",
                "give a contact  friction = 0.2",
            ),
            E::NoFreedom { constraints, velocities } => Error::plain(
                format!(
                    "the mechanism cannot move: {constraints} independent constraints hold its {velocities} velocities"
                ),
                format!("it is held by {}; leave one out", self.holding().join(", ")),
            ),
            E::SingularMass => match self.massless() {
                Some((name, span)) => self.error_at(Diagnostic::error(
                    span,
                    format!(
                        "nothing with mass moves with `{name}`, and no contact holds it: its acceleration is unknown"
                    ),
                    "give a body that moves with it a mass or an inertia",
                )),
                None => Error::plain(text, ""),
            },
            E::NoPoint(inner) => self.refuse((**inner).clone()).led_by(
                "no point of the map can be analysed; the first one says",
                "no point of the map can be analysed; the first one: ",
            ),
            E::Start(
                StartError::Apart { contact, .. }
                | StartError::Moving { contact, .. }
                | StartError::Inside { contact, .. },
            ) => at(
                contact,
                text.clone(),
                "the state must keep this contact: choose other values, or let a coordinate follow, { guess = … }",
            ),
            E::Interrupted => Error::plain("interrupted before there was anything to keep", ""),
            _ => Error::plain(text, ""),
        }
    }

    /// Contacts that hold something at the start.
    fn holding(&self) -> Vec<String> {
        let held = self.system().contacts().iter().filter(|c| !matches!(c.normal, Normal::Given { .. }));
        held.map(|c| format!("`{}`", c.name)).collect()
    }

    /// A coordinate with which nothing moves that has mass.
    fn massless(&self) -> Option<(String, Span)> {
        let mut at = Snapshot::new(self.system());
        at.state.clone_from(&self.start().ok()?);
        at.take(self.system()).ok()?;
        let (mass, coordinates) = (&at.eval.mass, &self.model().coordinates);
        let k = (0..coordinates.len().min(mass.size())).find(|&k| mass[(k, k)] == 0.0)?;
        Some((coordinates[k].name.clone(), coordinates[k].span))
    }
}

/// Place of a contact, also of one of a family or of play.
fn span_of_contact(model: &Model, name: &str) -> Option<Span> {
    let part = |base: &str| name.strip_prefix(base).is_some_and(|r| r.starts_with('[') || r.starts_with('.'));
    model.contacts.iter().find(|c| c.name == name || part(&c.name)).map(|c| c.span)
}

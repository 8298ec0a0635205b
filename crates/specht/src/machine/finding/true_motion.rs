//! `true-motion`: what happens in the limit of stiff contacts.

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::analysis::true_motion::{Outcome, true_motion};
use crate::analysis::{AnalysisError, Verdict};
use crate::machine::json::Named;
use crate::machine::task::TrueMotionTask;
use crate::machine::{Error, Machine};
use crate::system::System;

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct TrueMotionFinding {
    /// The contact.
    pub contact: String,
    /// How many rigid solutions.
    pub verdict: Verdict,
    /// What happens.
    #[serde(serialize_with = "word")]
    pub outcome: Outcome,
    /// Reactions when the motion goes on, N.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reactions: Option<Vec<f64>>,
    /// The jump when it does not.
    #[serde(flatten)]
    pub stop: Option<StopFinding>,
    /// Velocities when the slip of an undamped contact vanishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_stop: Option<Named<f64>>,
    /// L.
    pub index: f64,
    /// R⁰, N.
    pub frictionless: f64,
    /// μ|L|.
    pub mu_index: f64,
    /// Stable reaction, N.
    pub centre: Option<f64>,
    /// Unstable reaction, N.
    pub saddle: Option<f64>,
    /// Reactions at the start that stay bounded, N.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded_reactions: Option<[f64; 2]>,
    /// What the times to stop tend to for a stiffness as large as the one given.
    #[serde(flatten)]
    pub duration: Option<DurationFinding>,
    /// Page.
    pub explain: &'static str,
}

/// A jump of the velocities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StopFinding {
    /// Velocities after.
    pub after: Named<f64>,
    /// Normal impulse, N s.
    pub impulse_n: f64,
    /// Tangential impulse, N s.
    pub impulse_t: f64,
    /// Energy lost, J.
    pub loss: f64,
}

/// Times to stop, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DurationFinding {
    /// By the formula of the book.
    pub dt_book: f64,
    /// In full.
    pub dt_full: f64,
}

fn word<S: serde::Serializer>(outcome: &Outcome, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(outcome.word())
}

impl Machine {
    pub(super) fn true_motion(
        &self,
        task: &TrueMotionTask,
        watch: Watch,
    ) -> Result<TrueMotionFinding, Error> {
        let contacts = self.frictional(&task.contacts)?;
        let Some(&contact) = contacts.first() else { return Err(self.refuse(AnalysisError::NoPair)) };
        let state = self.state(&task.look, watch)?;
        let m =
            true_motion(self.system(), &state, contact, task.x0, task.rate0).map_err(|e| self.refuse(e))?;
        let velocities = |u: &[f64]| Named::of(&self.coordinate_names("'"), u);
        let stop = match &m.outcome {
            Outcome::TangentialImpact { u, impulse, loss } | Outcome::Seizure { u, impulse, loss } => {
                let [impulse_n, impulse_t] = *impulse;
                Some(StopFinding { after: velocities(u), impulse_n, impulse_t, loss: *loss })
            }
            _ => None,
        };
        let duration = task.stiffness.and_then(|c| m.duration(c, task.x0, task.rate0));
        Ok(TrueMotionFinding {
            contact: self.system().contacts()[contact].name.clone(),
            verdict: m.verdict,
            reactions: if let Outcome::Rigid { reactions } = &m.outcome {
                Some(reactions.clone())
            } else {
                None
            },
            stop,
            at_stop: m.u_at_stop.as_deref().map(velocities),
            index: m.index,
            frictionless: m.frictionless,
            mu_index: m.portrait.p,
            centre: m.centre,
            saddle: m.saddle,
            bounded_reactions: m.portrait.bounded_interval().map(|ends| {
                let [a, b] = ends.map(|x| x * m.frictionless);
                [a.min(b), a.max(b)]
            }),
            duration: duration.map(|d| DurationFinding { dt_book: d.dt_book, dt_full: d.dt_full }),
            explain: "tangential-impact",
            outcome: m.outcome,
        })
    }
}

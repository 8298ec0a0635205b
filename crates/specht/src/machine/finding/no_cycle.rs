//! What there is instead of a cycle: rest, steady motion, chaos, a paradox.

use crate::analysis::cycle::{Outcome, Section, Settled};
use crate::analysis::map::Watch;
use crate::machine::Machine;
use crate::machine::json::Named;
use crate::machine::task::{LimitCycleTask, LyapunovTask};
use crate::sim::{Event, Kind, Trajectory};

use super::limit_cycle::{LimitCycleFinding, Margins};
use super::return_map::LyapunovFinding;

/// Times over which the exponent of a motion without a cycle is taken, in units of the run.
const PATIENCE: [f64; 3] = [2.0, 6.0, 18.0];

/// An exponent that varies less from block to block, relative to itself, is that of a motion without change.
const EVEN: f64 = 1e-6;

impl Machine {
    /// What the largest exponent says of a motion that does not repeat itself (METH-LYAP).
    pub(super) fn judge_chaos(&self, task: &LimitCycleTask, f: &mut LimitCycleFinding, watch: Watch) {
        let Ok(span) = self.cycle_settings().map(|s| s.until) else { return };
        let mut longer = PATIENCE.iter().filter_map(|factor| {
            let time = Some(factor * span);
            let look = task.look.clone();
            self.lyapunov(&LyapunovTask { look, period: task.period, time, warm_up: Some(span) }, watch).ok()
        });
        let first = |l: &LyapunovFinding| l.exponents.first().map_or(f64::NEG_INFINITY, |e| e.0);
        // longer, until it is known
        let mut known = longer.next();
        while let Some(l) = &known
            && first(l).abs() < 4.0 * l.error
            && let Some(next) = longer.next()
        {
            known = Some(next);
        }
        let Some(found) = known.filter(|l| first(l).is_finite()) else { return };
        let first = first(&found);
        f.exponent = Some([first, found.error]);
        // what grows by the same factor in every interval goes on without change: no chaos has that
        let even = found.error <= EVEN * first.abs();
        let word = match first > 3.0 * found.error {
            true if even => {
                "neighbouring motions part evenly: it is steady or repeats itself, and is unstable"
            }
            true => "neighbouring motions part: chaos",
            false => "no sign of chaos: it may beat, or settle later",
        };
        let reason = f.reason.get_or_insert_default();
        *reason += &format!("; largest exponent {first:.4} 1/s (error {:.1e}), {word}", found.error);
    }

    /// Why there is no cycle.
    pub(super) fn no_cycle(&self, settled: &Settled, stalled: Option<String>) -> LimitCycleFinding {
        let time = settled.time;
        let (kind, reason) = match &settled.outcome {
            Outcome::Rests { moves: false } => {
                ("rest", format!("the motion comes to rest within {time:.4} s"))
            }
            Outcome::Rests { moves: true } => (
                "steady motion",
                "the motion goes on without change: there is nothing that repeats".to_string(),
            ),
            Outcome::Ends(status, why) => {
                ("ended", format!("the run is {} at t = {time:.6} s: {why}", status.word()))
            }
            Outcome::NeverPassed => {
                let what = match &settled.section {
                    Section::Event(name) => format!("the section `{name}` is not passed twice"),
                    Section::Period(p) => format!("the run is shorter than two periods of {p} s"),
                    Section::Maximum(_) => "no coordinate has two maxima".to_string(),
                };
                (
                    "not periodic",
                    format!("{what} in {time:.4} s; simulate longer with --until, or choose another section"),
                )
            }
            // seen to repeat itself, but not made exact
            Outcome::Recurs(guess) if stalled.is_some() => {
                let (period, why) = (guess.period, stalled.unwrap_or_default());
                (
                    "not exact",
                    format!(
                        "the motion seems to repeat itself every {period:.6} s, but this cannot be made exact: {why}"
                    ),
                )
            }
            Outcome::Recurs(_) | Outcome::Wanders | Outcome::Follows(_) => {
                let newton = stalled.map_or(String::new(), |s| format!("; {s}"));
                ("not periodic", format!("the motion does not repeat itself within {time:.4} s{newton}"))
            }
        };
        let wanders = matches!(settled.outcome, Outcome::Recurs(_) | Outcome::Wanders | Outcome::Follows(_));
        let reason = reason + &paradox(&settled.first).map_or(String::new(), |why| format!("; {why}"));
        LimitCycleFinding {
            kind,
            exponent: None,
            reason: Some(reason),
            period: None,
            frequency: None,
            multiple: None,
            drift: Named::default(),
            multipliers: Vec::new(),
            trivial_error: None,
            zeros: None,
            family: 0,
            stable: None,
            decay: None,
            events: Vec::new(),
            stick_share: Named::default(),
            energy: Named::default(),
            amplitude: Named::default(),
            margins: Margins::default(),
            state: self.state_table(&settled.last),
            section: String::new(),
            attractors: Vec::new(),
            residual: None,
            explain: "limit-cycle",
            sticks: settled.stuck && matches!(settled.outcome, Outcome::Rests { .. }),
            wanders,
            loops: Vec::new(),
        }
    }
}

/// Where a run meets a state without or with several motions.
pub(super) fn paradox(run: &Trajectory) -> Option<String> {
    let help = "`specht analyse painleve` says more";
    match run.start.solutions.len() {
        0 if !run.start.point.modes.is_empty() => {
            return Some(format!("at the start no motion obeys the laws of contact (a paradox); {help}"));
        }
        n if n > 1 => return Some(format!("at the start {n} motions obey the laws of contact; {help}")),
        _ => {}
    }
    let odd = |e: &&Event| matches!(e.kind, Kind::TangentialImpact | Kind::Seizure);
    let e = run.events.iter().find(odd)?;
    Some(format!("{} at t = {:.6} s, a paradox; {help}", e.kind.word(), e.time))
}

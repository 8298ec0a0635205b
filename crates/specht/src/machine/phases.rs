//! When the phases of a file began and ended.
//!
//! A phase has two events, NAME and NAME.end, at the zero of its level; its times are theirs. What the recorded rows say at such an
//! instant is not asked: there the level is zero up to rounding. Rows in between tell what no zero tells: a condition on forces or
//! modes, and a velocity that an impact carries across the border.

use super::Run;
use super::json::Num;
use super::record::Spell;

/// What is known at an instant.
#[derive(Clone, Copy)]
struct Sign {
    t: f64,
    holds: bool,
}

impl Run {
    /// When the phase `name` held: an output that is not zero.
    pub(super) fn spells(&self, name: &str) -> Vec<Spell> {
        let Some(k) = self.names.outputs.iter().position(|output| output == name) else { return Vec::new() };
        let end = format!("{name}.end");
        let of_event = |word: &str| if word == name { Some(true) } else { (word == end).then_some(false) };
        let marks: Vec<Sign> = self
            .trajectory
            .events
            .iter()
            .filter_map(|e| Some(Sign { t: e.before.t, holds: of_event(e.name.as_deref()?)? }))
            .collect();
        let samples = &self.trajectory.samples;
        let rows = (0..samples.len()).map(|i| samples.row(i));
        let rows = rows.map(|row| Sign { t: row.t, holds: row.outputs[k] > 0.0 });
        let at_a_mark = |t: f64| {
            let after = marks.partition_point(|m| m.t < t);
            marks.get(after).is_some_and(|m| m.t == t)
        };
        let mut signs = marks.clone();
        signs.extend(rows.filter(|row| !at_a_mark(row.t)));
        signs.sort_by(|a, b| a.t.total_cmp(&b.t));
        joined(&signs, self.trajectory.time)
    }
}

/// Stretches between signs that differ, the last one up to the end.
fn joined(signs: &[Sign], end: f64) -> Vec<Spell> {
    let mut out = Vec::new();
    let mut begun: Option<f64> = None;
    for sign in signs {
        match (sign.holds, begun) {
            (true, None) => begun = Some(sign.t),
            (false, Some(from)) => {
                out.push(Spell { from: Num(from), to: Num(sign.t) });
                begun = None;
            }
            _ => {}
        }
    }
    out.extend(begun.map(|from| Spell { from: Num(from), to: Num(end) }));
    out
}

//! `painleve` along a run: the finding at all its instants.

use serde::Serialize;

use crate::analysis::Verdict;
use crate::analysis::along::{Along, Meeting, along};
use crate::analysis::border::Kind;
use crate::analysis::map::Watch;
use crate::machine::json::{Named, Num};
use crate::machine::{Error, Machine};
use crate::sim::{Record, Settings, Status};

use super::parts::{letter, or_open, page};

/// The finding along a run.
#[derive(Clone, Debug, Serialize)]
pub struct AlongFinding {
    /// The verdict that matters most; `None` when no frictional contact ever closes, written `open`.
    #[serde(serialize_with = "or_open")]
    pub verdict: Option<Verdict>,
    /// How the run ended.
    pub status: Status,
    /// Why.
    pub message: String,
    /// When, s.
    pub time: Num,
    /// Parts of the run with one verdict each.
    pub spans: Vec<AlongSpan>,
    /// Instants at which it changes.
    pub borders: Vec<AlongBorder>,
    /// Where each contact comes nearest to its paradox.
    pub nearest: Named<AlongNearest>,
    /// Everything over time.
    pub series: AlongSeries,
    /// Page.
    pub explain: &'static str,
    /// The finding itself, for drawing.
    #[serde(skip)]
    pub along: Along,
    /// Names of the contacts.
    #[serde(skip)]
    pub contacts: Vec<String>,
    /// Title of the drawing.
    #[serde(skip)]
    pub title: String,
}

/// A part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AlongSpan {
    /// From, s.
    pub from: f64,
    /// To, s.
    pub to: f64,
    /// Verdict; `None`: no frictional contact closed, written `open`.
    #[serde(serialize_with = "or_open")]
    pub verdict: Option<Verdict>,
}

/// An instant at which the verdict changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlongBorder {
    /// When, s.
    pub time: f64,
    /// What changes.
    pub kind: Kind,
    /// Of which contact.
    pub contact: Option<String>,
    /// Verdict before.
    pub before: Verdict,
    /// Verdict after.
    pub after: Verdict,
}

/// Nearest to a paradox.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AlongNearest {
    /// When, s.
    pub time: f64,
    /// Critical friction there.
    pub critical_mu: Num,
    /// Friction there.
    pub mu: Num,
    /// Their ratio.
    pub factor: Num,
}

/// Series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlongSeries {
    /// Instants, s.
    pub t: Vec<f64>,
    /// One letter each.
    pub verdict: String,
    /// By contact.
    #[serde(flatten)]
    pub contacts: Named<ContactSeries>,
}

/// Series of a contact, where it is closed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContactSeries {
    /// L.
    pub index: Vec<Option<Num>>,
    /// R⁰, N.
    pub frictionless: Vec<Option<Num>>,
    /// μ.
    pub mu: Vec<Option<Num>>,
    /// Critical μ.
    pub critical_mu: Vec<Option<Num>>,
}

impl Machine {
    pub(super) fn painleve_along(&self, contacts: &[usize], watch: Watch) -> Result<AlongFinding, Error> {
        let (_, settings) = self.settings()?;
        let run = self.watched(Settings { record: Record::Steps, ..settings }, watch)?;
        let mut found = along(self.system(), &run).map_err(|e| self.refuse(e))?;
        found.nearest.retain(|n| contacts.contains(&n.contact));
        let names = self.contact_names();
        let name = |c: usize| names.get(c).cloned().unwrap_or_default();
        let verdict = worst(&found);
        let spans = found.spans.iter().map(|s| AlongSpan { from: s.from, to: s.to, verdict: s.verdict });
        let borders = found.borders.iter().map(|b| AlongBorder {
            time: b.t,
            kind: b.kind,
            contact: b.contact.map(name),
            before: b.verdict[0],
            after: b.verdict[1],
        });
        let nearest = found.nearest.iter().map(|n| {
            let factor = Num(n.critical_mu / n.mu);
            let entry = AlongNearest { time: n.t, critical_mu: Num(n.critical_mu), mu: Num(n.mu), factor };
            (name(n.contact), entry)
        });
        Ok(AlongFinding {
            verdict,
            status: run.status,
            message: run.message,
            time: Num(run.time),
            spans: spans.collect(),
            borders: borders.collect(),
            nearest: nearest.collect(),
            series: series(&found, &name),
            explain: page(verdict.unwrap_or(Verdict::Unique)),
            along: found,
            title: format!("{}: along the run", self.model().name),
            contacts: names,
        })
    }
}

/// The verdict that matters most: none, then several, then a continuum.
fn worst(a: &Along) -> Option<Verdict> {
    let rank = |v: Verdict| {
        [Verdict::Unique, Verdict::Family, Verdict::Several, Verdict::None].iter().position(|x| *x == v)
    };
    a.spans.iter().filter_map(|s| s.verdict).max_by_key(|v| rank(*v))
}

fn series(a: &Along, name: &dyn Fn(usize) -> String) -> AlongSeries {
    let mut contacts: Vec<usize> = a.meetings.iter().flat_map(|m| m.contacts.iter().copied()).collect();
    contacts.sort_unstable();
    contacts.dedup();
    let of_contact = |c: usize| {
        let column = |f: fn(&Meeting) -> &[f64]| {
            let value = |m: &Meeting| m.contacts.iter().position(|&x| x == c).map(|k| Num(f(m)[k]));
            a.meetings.iter().map(value).collect()
        };
        ContactSeries {
            index: column(|m| &m.index),
            frictionless: column(|m| &m.frictionless),
            mu: column(|m| &m.mu),
            critical_mu: column(|m| &m.critical_mu),
        }
    };
    AlongSeries {
        t: a.meetings.iter().map(|m| m.t).collect(),
        verdict: a.meetings.iter().map(|m| letter(Some(m.class.verdict))).collect(),
        contacts: contacts.into_iter().map(|c| (name(c), of_contact(c))).collect(),
    }
}

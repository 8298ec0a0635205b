//! `painleve` over a curve or map: the verdict over one or two of parameters, coordinates and velocities, with its borders.

use serde::Serialize;

use crate::analysis::Verdict;
use crate::analysis::border::{Border, Kind};
use crate::analysis::map::{Axis, Map, Plane, Watch, map};
use crate::analysis::place::slot;
use crate::machine::json::{Named, Num};
use crate::machine::task::Look;
use crate::machine::{Error, Machine};
use crate::system::System;

use super::parts::letter;

/// The finding over a curve or map.
#[derive(Clone, Debug, Serialize)]
pub struct MapFinding {
    /// The contact whose index is shown.
    pub contact: String,
    /// Points by verdict.
    pub counts: Named<usize>,
    /// The largest index.
    #[serde(flatten)]
    pub largest: Option<MapLargest>,
    /// Borders, located.
    pub borders: Vec<MapBorder>,
    /// Points of a map at which borders meet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub junctions: Option<Vec<[f64; 2]>>,
    /// False when it was interrupted.
    pub complete: bool,
    /// Part done.
    pub done: f64,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// Values of the axes, verdicts, and on a curve index and reaction without friction.
    pub grid: Named<GridColumn>,
    /// Why points are not defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<String>,
    /// Page.
    pub explain: &'static str,
    /// The map itself, for drawing.
    #[serde(skip)]
    pub map: Map,
    /// Title of the drawing.
    #[serde(skip)]
    pub title: String,
}

/// The largest index and where.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapLargest {
    /// |L|.
    pub largest_index: f64,
    /// The smallest critical friction.
    pub least_critical_mu: Num,
    /// The same under its older name.
    pub largest_critical_mu: Num,
    /// Where.
    pub largest_at: Named<f64>,
}

/// A border.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapBorder {
    /// What changes there.
    pub kind: Kind,
    /// Where.
    #[serde(flatten)]
    pub at: BorderPlace,
}

/// Where a border is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum BorderPlace {
    /// On a curve: the value of its axis.
    Value(Named<f64>),
    /// On a map: a line.
    Line {
        /// Its points.
        points: Vec<Vec<f64>>,
    },
}

/// A column of the grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum GridColumn {
    /// Values of an axis.
    Axis(Vec<f64>),
    /// Verdicts of a curve: u, s, n, f or a dot.
    Letters(String),
    /// Verdicts of a map, row by row.
    Rows(Vec<String>),
    /// Numbers where they are defined.
    Numbers(Vec<Option<f64>>),
}

impl Machine {
    pub(super) fn painleve_over(
        &self,
        contacts: &[usize],
        look: &Look,
        axes: &[Axis],
        watch: Watch,
    ) -> Result<MapFinding, Error> {
        let names: Vec<String> = axes.iter().map(|x| x.name.clone()).collect();
        // parameters stay open in the equations; coordinates and velocities are so anyway
        let live: Vec<String> = names.iter().filter(|n| !self.is_moving(n)).cloned().collect();
        for name in &live {
            if !self.model().parameters.iter().any(|q| q.name == *name) {
                let missing = slot(self.system(), name);
                return Err(missing.map_or_else(
                    |e| self.refuse(e),
                    |_| Error::plain(format!("`{name}` cannot be varied"), ""),
                ));
            }
        }
        let machine = self.live(live)?;
        let mut open = axes.iter().filter(|a| !machine.is_moving(&a.name));
        open.try_for_each(|a| machine.takes(&a.name, [a.from, a.to]))?;
        let contact = contacts.first().map(|&c| self.system().contacts()[c].name.clone());
        let refuse = |e| self.refuse(e);
        let mut plane = Plane::new(machine.system(), &names, contact.as_deref()).map_err(refuse)?;
        if let Some(place) = self.place(look, watch)? {
            plane = plane.at(place);
        }
        let found = map(&plane, axes, watch).map_err(refuse)?;
        Ok(MapFinding::new(found, format!("{}: {}", self.model().name, plane.contact())))
    }
}

impl MapFinding {
    fn new(m: Map, title: String) -> MapFinding {
        let verdicts = [Verdict::Unique, Verdict::Several, Verdict::None, Verdict::Family];
        let names: Vec<String> = m.axes.iter().map(|a| a.name.clone()).collect();
        MapFinding {
            contact: m.contact.clone(),
            counts: verdicts.into_iter().map(|v| (v.word().to_string(), m.count(v))).collect(),
            largest: m.largest.as_ref().map(|l| MapLargest {
                largest_index: l.value,
                least_critical_mu: Num(critical(l.value)),
                largest_critical_mu: Num(critical(l.value)),
                largest_at: Named::of(&names, &l.at),
            }),
            borders: m.borders.iter().map(|b| border(&m, b)).collect(),
            junctions: (m.axes.len() == 2).then(|| m.junctions.iter().map(|j| j.at).collect()),
            complete: m.complete,
            done: m.done,
            axes: names,
            grid: grid(&m),
            undefined: m.undefined.clone(),
            explain: "painleve",
            map: m,
            title,
        }
    }
}

/// 1/|L|; without any influence no friction is critical.
fn critical(reach: f64) -> f64 {
    if reach > 0.0 { 1.0 / reach } else { f64::INFINITY }
}

fn border(m: &Map, b: &Border) -> MapBorder {
    let at = if m.axes.len() == 1 {
        BorderPlace::Value(Named(vec![(m.axes[0].name.clone(), b.points[0][0])]))
    } else {
        BorderPlace::Line { points: b.points.clone() }
    };
    MapBorder { kind: b.kind, at }
}

fn grid(m: &Map) -> Named<GridColumn> {
    let axis = |a: &Axis| (a.name.clone(), GridColumn::Axis((0..a.count).map(|i| a.value(i)).collect()));
    let mut grid: Named<GridColumn> = m.axes.iter().map(axis).collect();
    let columns = m.axes[0].count;
    let row = |j: usize| -> String {
        (0..columns).map(|i| letter(m.grid[j * columns + i].map(|s| s.class.verdict))).collect()
    };
    let mut rows: Vec<String> = (0..m.grid.len() / columns).map(row).collect();
    if rows.len() != 1 {
        grid.push("verdict", GridColumn::Rows(rows));
        return grid;
    }
    grid.push("verdict", GridColumn::Letters(rows.remove(0)));
    let numbers = m.grid.iter().map(|s| s.map(|s| s.index)).collect();
    grid.push("index", GridColumn::Numbers(numbers));
    let numbers = m.grid.iter().map(|s| s.map(|s| s.frictionless)).collect();
    grid.push("frictionless", GridColumn::Numbers(numbers));
    grid
}

//! `self-braking`: from which points does it jam, how well does it drive?

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::analysis::one_pair::BookPoint;
use crate::analysis::self_braking::{
    self, Efficiency, PointBraking, PointVerdict, SelfBrakingTask, Uniform, analyse_self_braking,
};
use crate::analysis::stagnation::Stagnation;
use crate::machine::json::{Named, Num};
use crate::machine::{Error, Machine};

use super::parts::{Directions, Nested};

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct SelfBrakingFinding {
    /// Points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Nested<BrakingPoint>>,
    /// Efficiency, when a driving load is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<EfficiencyFinding>,
    /// Whether the resisting load alone is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadFinding>,
    /// Over a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<CycleFinding>,
    /// Page.
    pub explain: &'static str,
    /// Directions by point, for drawing.
    #[serde(skip)]
    pub roses: Vec<(String, Stagnation)>,
}

/// A point.
#[derive(Clone, Debug, Serialize)]
pub struct BrakingPoint {
    /// Verdict.
    pub verdict: PointVerdict,
    /// Directions, in the plane.
    #[serde(flatten)]
    pub directions: Option<Directions>,
    /// In space: the part of all directions that cannot start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_share: Option<f64>,
    /// What the textbook says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book: Option<BookPointFinding>,
    /// Factor on all friction at which the verdict changes.
    pub critical_factor: Option<f64>,
    /// Friction there.
    pub critical_mu: Critical,
}

/// What the textbook says of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BookPointFinding {
    /// Verdict.
    pub verdict: BookPoint,
    /// Width of the directions that cannot start it, rad.
    pub stagnation_angle: f64,
}

/// A critical coefficient: a number for one contact, else by contact; absent when there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Critical {
    /// There is none.
    None,
    /// Of the only contact.
    One(Num),
    /// By contact.
    Each(Named<Num>),
}

/// A number, or an interval when it is not determined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Range {
    /// Determined.
    One(Num),
    /// Not determined.
    Between([Num; 2]),
}

/// Efficiency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EfficiencyFinding {
    /// Of the drive.
    pub forward: Range,
    /// Of the load driving back.
    pub backward: Range,
    /// Driving load that moves it steadily forward.
    pub drive_forward: Range,
    /// And backward.
    pub drive_backward: Range,
    /// The load cannot drive it.
    pub self_locking: bool,
    /// Factor on all friction at which that begins.
    pub critical_factor: Option<f64>,
    /// Friction there.
    pub critical_mu: Critical,
}

/// The resisting load alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadFinding {
    /// Whether it is held.
    pub held: bool,
    /// Factor on all friction at which that begins.
    pub critical_factor: Option<f64>,
    /// Friction there.
    pub critical_mu: Critical,
}

/// Over a cycle.
#[derive(Clone, Debug, Serialize)]
pub struct CycleFinding {
    /// Parameter.
    pub parameter: String,
    /// Its values.
    pub values: Vec<f64>,
    /// Points.
    pub points: Nested<CyclePoint>,
}

/// A point over a cycle.
#[derive(Clone, Debug, Serialize)]
pub struct CyclePoint {
    /// Verdicts.
    pub verdict: Vec<PointVerdict>,
    /// Width of the directions that cannot start it, rad.
    pub stagnation_angle: Vec<f64>,
    /// Intervals of self-braking.
    pub self_braking: Vec<[f64; 2]>,
}

impl Machine {
    pub(super) fn self_braking(
        &self,
        task: &SelfBrakingTask,
        watch: Watch,
    ) -> Result<SelfBrakingFinding, Error> {
        let mut live: Vec<String> = task.drive.iter().chain(&task.load).cloned().collect();
        live.extend(task.over.iter().map(|o| o.0.clone()));
        let machine = self.opened(live)?;
        task.over.iter().try_for_each(|o| machine.takes(&o.0, [o.1, o.2]))?;
        let mut task = task.clone();
        if task.points.is_empty() && task.load.is_none() {
            task.points = machine.model().bodies.iter().map(|b| b.name.clone()).collect();
        }
        let model = machine.at_rest(task.at_time, watch)?;
        let found = analyse_self_braking(&model, &task).map_err(|e| self.refuse(e))?;
        Ok(SelfBrakingFinding::new(&found))
    }
}

impl SelfBrakingFinding {
    fn new(f: &self_braking::SelfBrakingFinding) -> SelfBrakingFinding {
        let points = f.points.iter().map(|(name, p)| (name.clone(), point(&f.mu, p))).collect();
        let over = f.curve.as_ref().map(|(parameter, values, curves)| {
            let points = f.points.iter().zip(curves).map(|((name, _), c)| {
                let entry = CyclePoint {
                    verdict: c.verdict.clone(),
                    stagnation_angle: c.stagnation_angle.clone(),
                    self_braking: c.self_braking.clone(),
                };
                (name.clone(), entry)
            });
            let points = Nested(points.collect());
            CycleFinding { parameter: parameter.clone(), values: values.clone(), points }
        });
        SelfBrakingFinding {
            points: (!f.points.is_empty()).then_some(Nested(points)),
            efficiency: f.efficiency.as_ref().map(|e| efficiency(&f.mu, e)),
            load: f.load.as_ref().map(|l| LoadFinding {
                held: l.held,
                critical_factor: l.critical_factor,
                critical_mu: critical(&f.mu, l.critical_factor),
            }),
            over,
            explain: "self-braking",
            roses: f
                .points
                .iter()
                .filter(|p| p.1.share.is_none())
                .map(|(n, p)| (n.clone(), p.directions.clone()))
                .collect(),
        }
    }
}

fn critical(mu: &[(String, f64)], factor: Option<f64>) -> Critical {
    let Some(k) = factor else { return Critical::None };
    match mu {
        [(_, mu)] => Critical::One(Num(k * mu)),
        all => Critical::Each(all.iter().map(|(name, mu)| (name.clone(), Num(k * mu))).collect()),
    }
}

fn point(mu: &[(String, f64)], p: &PointBraking) -> BrakingPoint {
    BrakingPoint {
        verdict: p.verdict,
        directions: p.share.is_none().then(|| (&p.directions).into()),
        held_share: p.share,
        book: p.book.map(|(verdict, stagnation_angle)| BookPointFinding { verdict, stagnation_angle }),
        critical_factor: p.critical_factor,
        critical_mu: critical(mu, p.critical_factor),
    }
}

fn efficiency(mu: &[(String, f64)], e: &Efficiency) -> EfficiencyFinding {
    let range = |[lo, hi]: [f64; 2], size: f64| {
        if (hi - lo).abs() <= 1e-9 * size { Range::One(Num(lo)) } else { Range::Between([Num(lo), Num(hi)]) }
    };
    let drive = |u: &Uniform| match u.drive {
        [lo, _] if lo.is_nan() => Range::One(Num(lo)),
        [lo, hi] => range([lo, hi], hi.abs()),
    };
    EfficiencyFinding {
        forward: range(e.forward.efficiency, e.forward.efficiency[1].abs().max(1.0)),
        backward: range(e.backward.efficiency, e.backward.efficiency[1].abs().max(1.0)),
        drive_forward: drive(&e.forward),
        drive_backward: drive(&e.backward),
        self_locking: e.self_locking,
        critical_factor: e.critical_factor,
        critical_mu: critical(mu, e.critical_factor),
    }
}

//! `rest`: does it stay where it is, and which load starts it?

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::analysis::one_pair::BookRest;
use crate::analysis::rest::{Outcome, RestVerdict};
use crate::analysis::start_load::{self, RestTask, StartLoad, analyse_rest};
use crate::machine::json::{Named, Num};
use crate::machine::record::rates;
use crate::machine::{Error, Machine};

use super::parts::{ContactForces, Directions, Nested};

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct RestFinding {
    /// What is possible.
    pub verdict: RestVerdict,
    /// Signs of the accelerations that all motions share.
    pub direction: Named<Option<f64>>,
    /// What the textbook theorem says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book: Option<BookFinding>,
    /// All solutions.
    pub solutions: Vec<RestSolution>,
    /// Limits of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_load: Option<StartLoadFinding>,
    /// Directions of forces at points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stagnation: Option<Nested<RestPoint>>,
    /// Whether the search was finished.
    pub complete: bool,
    /// Page.
    pub explain: &'static str,
    /// The finding itself, for drawing.
    #[serde(skip)]
    pub found: start_load::RestFinding,
}

/// What the textbook says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BookFinding {
    /// Verdict.
    pub verdict: BookRest,
    /// Direction of motion.
    pub direction: f64,
    /// Whether that is not what was found.
    pub differs: bool,
}

/// One solution.
#[derive(Clone, Debug, Serialize)]
pub struct RestSolution {
    /// Whether it moves.
    pub moves: bool,
    /// Accelerations.
    #[serde(flatten)]
    pub accel: Named<Num>,
    /// Contacts.
    #[serde(flatten)]
    pub contacts: Named<ContactForces<Num>>,
}

/// Limits of a load.
#[derive(Clone, Debug, Serialize)]
pub struct StartLoadFinding {
    /// Parameter of the load.
    pub parameter: String,
    /// Its value.
    pub value: Num,
    /// Rest is possible from here …
    pub low: Num,
    /// … to here.
    pub high: Num,
    /// How it moves below.
    pub low_direction: Named<Option<f64>>,
    /// How it moves above.
    pub high_direction: Named<Option<f64>>,
    /// All intervals of rest.
    pub intervals: Vec<[Num; 2]>,
    /// Whether the ends are exact.
    pub exact: bool,
}

/// Forces at a point.
#[derive(Clone, Debug, Serialize)]
pub struct RestPoint {
    /// Directions.
    #[serde(flatten)]
    pub directions: Directions,
    /// Largest force by direction, with the loads of the model: angle and force.
    pub limit: Vec<[Num; 2]>,
}

impl Machine {
    pub(super) fn rest(&self, task: &RestTask, watch: Watch) -> Result<RestFinding, Error> {
        let machine = self.opened(task.load.iter().cloned().collect())?;
        let model = machine.at_rest(task.at_time, watch)?;
        let found = analyse_rest(&model, task).map_err(|e| self.refuse(e))?;
        Ok(RestFinding::new(found))
    }
}

impl RestFinding {
    fn new(f: start_load::RestFinding) -> RestFinding {
        let pairs = |list: &[[f64; 2]]| list.iter().map(|p| p.map(Num)).collect();
        let points = f.points.iter().map(|p| {
            let entry = RestPoint { directions: (&p.stagnation).into(), limit: pairs(&p.limit) };
            (p.point.clone(), entry)
        });
        let limits = |l: &StartLoad| StartLoadFinding {
            parameter: l.parameter.clone(),
            value: Num(l.value),
            low: Num(l.low),
            high: Num(l.high),
            low_direction: Named::of(&f.coordinates, &l.low_direction),
            high_direction: Named::of(&f.coordinates, &l.high_direction),
            intervals: pairs(&l.intervals),
            exact: l.exact,
        };
        let differs = f.rest.differs_from_book();
        RestFinding {
            verdict: f.rest.verdict,
            direction: Named::of(&f.coordinates, &f.rest.direction()),
            book: f.rest.book.map(|(verdict, direction)| BookFinding { verdict, direction, differs }),
            solutions: f.rest.outcomes.iter().map(|o| solution(&f, o)).collect(),
            start_load: f.start_load.as_ref().map(limits),
            stagnation: (!f.points.is_empty()).then(|| Nested(points.collect())),
            complete: f.rest.complete,
            explain: "jam",
            found: f,
        }
    }
}

fn solution(f: &start_load::RestFinding, o: &Outcome) -> RestSolution {
    let forces = |i: usize| ContactForces {
        mode: o.modes[i],
        normal: Num(o.normal[i]),
        tangential: Num(o.tangential[i]),
    };
    RestSolution {
        moves: o.moves,
        accel: Named::of(&rates(&f.coordinates, "''"), &o.accel),
        contacts: f.contacts.iter().cloned().enumerate().map(|(i, n)| (n, forces(i))).collect(),
    }
}

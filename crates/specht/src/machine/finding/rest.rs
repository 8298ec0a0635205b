//! `rest`: does it stay where it is, and which load starts it?

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::analysis::one_pair::BookRest;
use crate::analysis::rest::{Outcome, RestVerdict};
use crate::analysis::start_load::{self, Proof, RestTask, StartLoad, analyse_rest};
use crate::machine::json::{Named, Num};
use crate::machine::{Error, Machine};

use super::parts::{ContactForces, Directions, Nested, OneOrMany};

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
    /// In space: why it stands, or does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
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
    /// Directions, in the plane.
    #[serde(flatten)]
    pub directions: Option<Directions>,
    /// Largest force by direction, with the loads of the model: angle and force.
    pub limit: Vec<[Num; 2]>,
    /// In space: what holds for all directions.
    #[serde(flatten)]
    pub space: Option<SpacePoint>,
}

/// Forces at a point in space.
#[derive(Clone, Debug, Serialize)]
pub struct SpacePoint {
    /// Two unit vectors from which the angles of `limit` are counted.
    pub plane: [[f64; 3]; 2],
    /// The least force that starts it.
    pub weakest: WeakestFinding,
    /// Smallest and largest force in the direction asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub along: Option<[Num; 2]>,
}

/// The least force at a point that starts it.
#[derive(Clone, Debug, Serialize)]
pub struct WeakestFinding {
    /// N.
    pub force: Num,
    /// Its direction.
    pub direction: [Num; 3],
    /// The motion that begins, for a unit velocity of the point along the force.
    pub motion: Named<Num>,
}

/// Why it stands, or does not.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Certificate {
    /// Forces within all bounds that balance the loads.
    Forces {
        /// How far inside the bounds, relative to the forces.
        margin: Num,
        /// By contact.
        forces: Named<ContactForces<Num>>,
    },
    /// A virtual motion in which the loads do more work than friction can take.
    Motion {
        /// How far outside, relative to the forces (negative).
        margin: Num,
        /// Rates of the coordinates, largest 1.
        velocity: Named<Num>,
        /// Power of the loads in it.
        power: Num,
        /// What friction of given bounds takes of it.
        friction_power: Num,
        /// Contacts: every gap opens at least μ times as fast as it slips.
        contacts: Named<VirtualRates>,
    },
}

/// A contact in a virtual motion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VirtualRates {
    /// Rate of its gap.
    pub opening: f64,
    /// Its slip.
    pub slip: f64,
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
            let directions = p.space.is_none().then(|| (&p.stagnation).into());
            let space = p.space.as_ref().map(|s| SpacePoint {
                plane: s.plane,
                weakest: WeakestFinding {
                    force: Num(s.weakest.force),
                    direction: s.weakest.direction.map(Num),
                    motion: Named::of(&f.velocities, &s.weakest.motion),
                },
                along: s.along.map(|a| a.map(Num)),
            });
            (p.point.clone(), RestPoint { directions, limit: pairs(&p.limit), space })
        });
        let limits = |l: &StartLoad| StartLoadFinding {
            parameter: l.parameter.clone(),
            value: Num(l.value),
            low: Num(l.low),
            high: Num(l.high),
            low_direction: Named::of(&f.axes, &l.low_direction),
            high_direction: Named::of(&f.axes, &l.high_direction),
            intervals: pairs(&l.intervals),
            exact: l.exact,
        };
        let differs = f.rest.differs_from_book();
        RestFinding {
            verdict: f.rest.verdict,
            direction: Named::of(&f.axes, &f.rest.direction()),
            book: f.rest.book.map(|(verdict, direction)| BookFinding { verdict, direction, differs }),
            solutions: f.rest.outcomes.iter().map(|o| solution(&f, o)).collect(),
            start_load: f.start_load.as_ref().map(limits),
            stagnation: (!f.points.is_empty()).then(|| Nested(points.collect())),
            certificate: f.proof.as_ref().map(|p| certificate(&f, p)),
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
        tangential: along(f, i, &o.lambda),
    };
    RestSolution {
        moves: o.moves,
        accel: Named::of(&f.accelerations, &o.accel),
        contacts: f.contacts.iter().cloned().enumerate().map(|(i, n)| (n, forces(i))).collect(),
    }
}

/// Forces along the tangents of a contact.
fn along(f: &start_load::RestFinding, i: usize, lambda: &[f64]) -> OneOrMany<Num> {
    match f.tangents[i].as_slice() {
        [] => OneOrMany(vec![Num(0.0)]),
        rows => OneOrMany(rows.iter().map(|&r| Num(lambda[r])).collect()),
    }
}

fn certificate(f: &start_load::RestFinding, p: &Proof) -> Certificate {
    let named = f.contacts.iter().cloned().enumerate();
    if p.motion.is_empty() {
        let standing = f.rest.outcomes.iter().find(|o| !o.moves);
        let forces = named.filter_map(|(i, name)| {
            let o = standing?;
            let one = ContactForces {
                mode: o.modes[i],
                normal: Num(o.normal[i]),
                tangential: along(f, i, &p.lambda),
            };
            Some((name, one))
        });
        return Certificate::Forces { margin: Num(p.margin), forces: forces.collect() };
    }
    let rates =
        |(i, name): (usize, String)| (name, VirtualRates { opening: p.rates[i][0], slip: p.rates[i][1] });
    Certificate::Motion {
        margin: Num(p.margin),
        velocity: Named::of(&f.velocities, &p.motion),
        power: Num(p.power[0]),
        friction_power: Num(p.power[1]),
        contacts: named.map(rates).collect(),
    }
}

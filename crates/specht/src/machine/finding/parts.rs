//! What several answers have in common.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::analysis::Verdict;
use crate::analysis::arcs::Arc;
use crate::analysis::stagnation::Stagnation;
use crate::system::Mode;

/// A value per contact: written as it is when there is one contact, as a list otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(out),
            all => all.serialize(out),
        }
    }
}

/// Values by the names of points: `plate.point` is written as an entry `point` of an entry `plate`.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Nested<T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut root = Value::Object(Map::new());
        for (name, value) in &self.0 {
            let mut place = &mut root;
            for part in name.split('.') {
                if !place[part].is_object() {
                    place[part] = Value::Object(Map::new());
                }
                place = &mut place[part];
            }
            if let (Value::Object(place), Value::Object(own)) =
                (place, serde_json::to_value(value).map_err(S::Error::custom)?)
            {
                place.extend(own);
            }
        }
        root.serialize(out)
    }
}

/// Forces of a contact in a solution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContactForces<T> {
    /// Mode.
    pub mode: Mode,
    /// Normal force, N.
    pub normal: T,
    /// Tangential force, N; in space a list over the tangents (of a ball joint N m).
    pub tangential: OneOrMany<T>,
}

/// Directions of a force at a point, rad.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Directions {
    /// Width of those that cannot start it.
    pub stagnation_angle: f64,
    /// Those that cannot start it.
    pub stuck: Vec<[f64; 2]>,
    /// Rest and motion are both possible.
    pub ambiguous: Vec<[f64; 2]>,
    /// Those that start it.
    pub moving: Vec<[f64; 2]>,
    /// Whether the ends are exact.
    pub exact: bool,
}

impl From<&Stagnation> for Directions {
    fn from(s: &Stagnation) -> Self {
        let ends = |arcs: &[Arc]| arcs.iter().map(|a| [a.from, a.to]).collect();
        Directions {
            stagnation_angle: s.angle(),
            stuck: ends(&s.stuck),
            ambiguous: ends(&s.ambiguous),
            moving: ends(&s.moving),
            exact: s.exact,
        }
    }
}

/// The page that says more about a verdict.
pub(super) fn page(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Several | Verdict::Family => "several-solutions",
        Verdict::None => "tangential-impact",
        Verdict::Unique => "painleve",
    }
}

/// One letter per verdict, for grids and series.
pub(super) fn letter(v: Option<Verdict>) -> char {
    match v {
        Some(Verdict::Unique) => 'u',
        Some(Verdict::Several) => 's',
        Some(Verdict::None) => 'n',
        Some(Verdict::Family) => 'f',
        None => '.',
    }
}

/// A verdict that is not there means that no frictional contact is closed.
pub(super) fn or_open<S: Serializer>(v: &Option<Verdict>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(v.map_or("open", Verdict::word))
}

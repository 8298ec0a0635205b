//! `painleve` at a state: is the computed reaction the only possible one?

use serde::Serialize;

use crate::analysis::fast::Character;
use crate::analysis::flat::{is_spatial, rubs_in_plane};
use crate::analysis::journal::Journal;
use crate::analysis::map::Watch;
use crate::analysis::painleve::{Painleve, Possible, Verdict, painleve};
use crate::analysis::particles::Particles;
use crate::analysis::slip_map::{Sector, slip_map};
use crate::analysis::{AnalysisError, Snapshot, frictional_contact};
use crate::machine::json::{Named, Num};
use crate::machine::task::Look;
use crate::machine::{Error, Machine};
use crate::system::{Normal, State, System};

use super::parts::{ContactForces, OneOrMany, page};

/// The finding at a state.
#[derive(Clone, Debug, Serialize)]
pub struct HereFinding {
    /// How many solutions; `None` on the border of a paradox, written `boundary`.
    #[serde(serialize_with = "or_boundary")]
    pub verdict: Option<Verdict>,
    /// On the border: what lies on its two sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// Critical friction of each contact.
    pub critical_mu: OneOrMany<Num>,
    /// Influence of the friction of each contact on the reaction of each; not defined between a journal and another contact.
    pub index: OneOrMany<OneOrMany<Option<f64>>>,
    /// Reaction without friction, N.
    pub frictionless: OneOrMany<f64>,
    /// Friction.
    pub mu: OneOrMany<Num>,
    /// The present load has one solution until all friction is so many times as large.
    pub critical_factor: Num,
    /// Every load has, until this factor.
    pub safe_factor: Num,
    /// Instant, s.
    pub time: Num,
    /// Coordinates and velocities.
    pub state: Named<Num>,
    /// The contacts, in the order of the lists.
    pub contacts: Vec<String>,
    /// Whether the search for solutions was finished.
    pub complete: bool,
    /// Dependent constraints.
    #[serde(skip_serializing_if = "is_zero")]
    pub redundant: usize,
    /// All solutions, smallest reactions first.
    pub solutions: Vec<HereSolution>,
    /// Intervals of the accelerations over a continuum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Named<[f64; 2]>>,
    /// Contacts in space: what holds for every direction of slip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directions: Option<Named<SlipDirections>>,
    /// Page.
    pub explain: &'static str,
}

/// A contact in space over all directions of its slip, rad from its first tangent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlipDirections {
    /// Its slip at the state; none at rest.
    pub slip: Option<f64>,
    /// The least critical friction of all directions.
    pub critical_mu: Num,
    /// Its direction.
    pub direction: Num,
    /// Directions in which the present friction does not have one solution.
    pub sectors: Vec<SlipSector>,
    /// Direction and critical friction.
    pub curve: Vec<[Num; 2]>,
}

/// A range of directions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlipSector {
    /// From, rad.
    pub from: f64,
    /// To, rad.
    pub to: f64,
    /// How many solutions.
    pub verdict: Verdict,
}

/// The two sides of a border.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Beside {
    /// With a little less friction.
    pub less: Verdict,
    /// With a little more.
    pub more: Verdict,
}

/// One solution.
#[derive(Clone, Debug, Serialize)]
pub struct HereSolution {
    /// Contacts.
    #[serde(flatten)]
    pub contacts: Named<ContactForces<f64>>,
    /// Accelerations.
    #[serde(flatten)]
    pub accel: Named<f64>,
    /// Painlevé's forces of friction by coordinate.
    pub friction_forces: Named<f64>,
    /// The same by body.
    pub painleve_forces: Named<OnBody>,
    /// The fast motion about it, where it is defined.
    #[serde(flatten)]
    pub fast: Option<FastFinding>,
}

/// Force and torque on a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OnBody {
    /// N.
    pub force: [f64; 2],
    /// N m.
    pub torque: f64,
}

/// The fast motion about a solution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FastFinding {
    /// With the stiffnesses given.
    pub character: Character,
    /// With others it may flutter.
    pub may_flutter: bool,
    /// Its squared rates.
    pub kappa: Vec<[f64; 2]>,
}

impl HereFinding {
    /// The verdict as a word.
    pub fn word(&self) -> &'static str {
        self.verdict.map_or("boundary", Verdict::word)
    }
}

fn or_boundary<S: serde::Serializer>(v: &Option<Verdict>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(v.map_or("boundary", Verdict::word))
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A contact with an index of influence.
enum Place {
    /// Number of the pair.
    Pair(usize),
    /// A pin with friction.
    Journal(Journal),
}

impl Place {
    /// L; between a journal and another contact it is not defined.
    fn index(&self, other: &Place, f: &Painleve) -> Option<f64> {
        match (self, other) {
            (Place::Pair(i), Place::Pair(j)) => Some(f.index[(*i, *j)]),
            (Place::Journal(a), Place::Journal(b)) if a.contact == b.contact => Some(a.index()),
            _ => None,
        }
    }

    fn contact(&self, f: &Painleve) -> usize {
        match self {
            Place::Pair(k) => f.pairs[*k].contact,
            Place::Journal(j) => j.contact,
        }
    }

    fn mu(&self, f: &Painleve) -> f64 {
        match self {
            Place::Pair(k) => f.pairs[*k].mu,
            Place::Journal(j) => j.mu,
        }
    }

    fn critical_mu(&self, f: &Painleve) -> f64 {
        match self {
            Place::Pair(k) if f.journals.is_empty() => f.critical_mu[*k],
            Place::Pair(k) => f.critical_factor * f.pairs[*k].mu,
            Place::Journal(j) if j.mu == 0.0 => j.critical_mu(),
            Place::Journal(j) => f.critical_factor * j.mu,
        }
    }

    fn frictionless(&self, f: &Painleve) -> f64 {
        match self {
            Place::Pair(k) => f.frictionless[*k],
            Place::Journal(j) => j.load(),
        }
    }
}

impl Machine {
    pub(super) fn painleve_here(
        &self,
        contacts: &[usize],
        look: &Look,
        stiffness: &[(String, f64)],
        watch: Watch,
    ) -> Result<HereFinding, Error> {
        let (system, state) = (self.system(), self.state(look, watch)?);
        let mut stiff = vec![1.0; system.contacts().len()];
        for (name, value) in stiffness {
            stiff[frictional_contact(system.contacts(), name).map_err(|e| self.refuse(e))?] = *value;
        }
        let f = painleve(system, &state, &stiff).map_err(|e| self.refuse(e))?;
        let places = self.places(contacts, &f)?;
        let particles = match self.model().is_spatial() {
            true => Particles::default(),
            false => Particles::new(self.system(), &state).map_err(|e| self.refuse(e))?,
        };
        let directions = self.slip_directions(contacts, &state)?;
        let each = |value: &dyn Fn(&Place) -> f64| places.iter().map(value).collect::<Vec<f64>>();
        let numbers = |list: Vec<f64>| OneOrMany(list.into_iter().map(Num).collect());
        let row = |i: &Place| OneOrMany(places.iter().map(|j| i.index(j, &f)).collect());
        let moving = |k: usize, name: String| [(name.clone(), state.q[k]), (format!("{name}'"), state.u[k])];
        let coordinates = self.coordinate_names("").into_iter().enumerate();
        Ok(HereFinding {
            verdict: if f.border.is_some() { None } else { Some(f.verdict) },
            beside: f.border.map(|[less, more]| Beside { less, more }),
            critical_mu: numbers(each(&|q| q.critical_mu(&f))),
            index: OneOrMany(places.iter().map(row).collect()),
            frictionless: OneOrMany(each(&|q| q.frictionless(&f))),
            mu: numbers(each(&|q| q.mu(&f))),
            critical_factor: Num(f.critical_factor),
            safe_factor: Num(f.safe_factor),
            time: Num(state.t),
            state: coordinates.flat_map(|(k, name)| moving(k, name)).map(|(n, x)| (n, Num(x))).collect(),
            contacts: places.iter().map(|q| system.contacts()[q.contact(&f)].name.clone()).collect(),
            complete: f.complete,
            redundant: f.redundant,
            solutions: f.solutions.iter().map(|s| self.solution(&f, &particles, s)).collect(),
            family: f.family.as_ref().map(|list| Named::of(&self.coordinate_names("''"), list)),
            directions,
            explain: if f.border.is_some() { "painleve" } else { page(f.verdict) },
        })
    }

    /// Contacts in space over all directions of slip.
    fn slip_directions(
        &self,
        contacts: &[usize],
        state: &State,
    ) -> Result<Option<Named<SlipDirections>>, Error> {
        let info = self.system().contacts();
        if !is_spatial(info) {
            return Ok(None);
        }
        let mut at = Snapshot::new(self.system());
        at.state.clone_from(state);
        at.take(self.system()).map_err(|e| self.refuse(e))?;
        let mut out = Named::default();
        for &i in contacts.iter().filter(|&&i| rubs_in_plane(&info[i], &at, i) && !info[i].is_given()) {
            let m = slip_map(info, &at, i).map_err(|e| self.refuse(e))?;
            let sector = |s: &Sector| SlipSector { from: s.from, to: s.to, verdict: s.verdict };
            let one = SlipDirections {
                slip: m.slip,
                critical_mu: Num(m.least),
                direction: Num(m.least_at),
                sectors: m.sectors.iter().map(sector).collect(),
                curve: m.curve.iter().map(|p| p.map(Num)).collect(),
            };
            out.push(info[i].name.clone(), one);
        }
        Ok(Some(out))
    }

    /// Forces along the tangents of a contact.
    fn along_tangents(&self, f: &Painleve, s: &Possible, i: usize) -> Vec<f64> {
        let rows = &self.system().contacts()[i].tangent;
        match f.push[i] {
            Some(p) => p.iter().take(rows.len()).map(|p| p * s.tangential[i]).collect(),
            None if rows.len() > 1 && !s.lambda.is_empty() => rows.iter().map(|&r| s.lambda[r]).collect(),
            None => vec![s.tangential[i]],
        }
    }

    /// Pair or journal of every contact; a contact that is open is refused.
    fn places(&self, contacts: &[usize], f: &Painleve) -> Result<Vec<Place>, Error> {
        let mut places = Vec::new();
        for &c in contacts {
            let info = &self.system().contacts()[c];
            if let Some(k) = f.pairs.iter().position(|q| q.contact == c) {
                places.push(Place::Pair(k));
            } else if let Some(j) = f.journals.iter().find(|j| j.contact == c) {
                places.push(Place::Journal(*j));
            } else if matches!(info.normal, Normal::Unilateral { .. }) {
                return Err(self.refuse(AnalysisError::Open(info.name.clone())));
            }
        }
        Ok(places)
    }

    fn solution(&self, f: &Painleve, particles: &Particles, s: &Possible) -> HereSolution {
        let forces = |i: usize| ContactForces {
            mode: s.modes[i],
            normal: s.normal[i],
            tangential: OneOrMany(self.along_tangents(f, s, i)),
        };
        let change: Vec<f64> = s.accel.iter().zip(&f.frictionless_accel).map(|(a, b)| a - b).collect();
        let bodies = particles.forces(&change).into_iter();
        HereSolution {
            contacts: self.contact_names().into_iter().enumerate().map(|(i, n)| (n, forces(i))).collect(),
            accel: Named::of(&self.coordinate_names("''"), &s.accel),
            friction_forces: Named::of(&self.coordinate_names(""), &s.friction_forces),
            painleve_forces: bodies.map(|b| (b.body, OnBody { force: b.force, torque: b.torque })).collect(),
            fast: s.fast.character.map(|character| FastFinding {
                character,
                may_flutter: s.fast.may_flutter,
                kappa: s.fast.kappa.iter().map(|k| [k.re, k.im]).collect(),
            }),
        }
    }
}

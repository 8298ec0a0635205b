//! `tensor`: can friction, however large, make a reaction ambiguous or impossible? Dissipation, orthogonality and regularity of the
//! friction tensors (VAG-1, VAG-5), at the start and over sampled states.

use serde::Serialize;

use crate::analysis::Snapshot;
use crate::analysis::map::Watch;
use crate::analysis::tensor_set::{Extreme, Range, SampledSet, SetFinding, regular_set, sampled_set};
use crate::contact::Reduced;
use crate::machine::json::{Named, Num};
use crate::machine::task::TensorTask;
use crate::machine::{Error, Machine};
use crate::system::System;

/// Samples when ranges are given and their number is not.
const SAMPLES: usize = 1000;

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct TensorFinding {
    /// No friction however large makes a paradox.
    pub regular: bool,
    /// Factor on all friction at which one begins.
    pub critical_factor: Option<f64>,
    /// Coefficients of the worst determinant.
    pub determinant: Vec<Num>,
    /// Its directions of sliding.
    pub directions: Named<i64>,
    /// In space: its directions of slip as unit vectors, by tangents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slips: Option<Named<[f64; 3]>>,
    /// Number of sign patterns looked at; in space of directions.
    pub patterns: usize,
    /// Contacts.
    pub contacts: Named<TensorContact>,
    /// Contacts without a tensor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Over sampled states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<TensorSamples>,
    /// Page.
    pub explain: &'static str,
}

/// The tensor of a contact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorContact {
    /// Over the tangents and the normal.
    pub tensor: Vec<Vec<Num>>,
    /// Takes energy out.
    pub dissipative: bool,
    /// Lowest eigenvalue of its symmetric part.
    pub eigenvalue: Num,
    /// Residual of orthogonality.
    pub orthogonality: Num,
    /// ρ.
    pub rho: Num,
}

/// Over sampled states.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorSamples {
    /// Number.
    pub count: usize,
    /// False when it was interrupted.
    pub complete: bool,
    /// Of them regular.
    pub regular: usize,
    /// Of them not.
    pub irregular: usize,
    /// With a tensor that creates energy.
    pub creating_energy: usize,
    /// Not defined.
    pub undefined: usize,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined_because: Option<String>,
    /// Ranges.
    pub over: Named<[f64; 2]>,
    /// Smallest critical factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<TensorWorst>,
    /// Lowest eigenvalue.
    pub lowest_eigenvalue: Option<TensorExtreme>,
    /// Largest residual of orthogonality.
    pub largest_orthogonality: Option<TensorExtreme>,
}

/// The sample with the smallest critical factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorWorst {
    /// The factor.
    pub critical_factor: Num,
    /// Where.
    pub at: Named<Num>,
    /// Directions of sliding.
    pub directions: Named<i64>,
}

/// An extreme value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorExtreme {
    /// Of which contact.
    pub contact: Option<String>,
    /// The value.
    pub value: Num,
    /// Where.
    pub at: Named<Num>,
}

impl Machine {
    pub(super) fn tensor(&self, task: &TensorTask, watch: Watch) -> Result<TensorFinding, Error> {
        let (system, of) = (self.system(), self.named(&task.contacts)?);
        let mut at = Snapshot::new(system);
        at.state.clone_from(&self.start()?);
        at.take(system).map_err(|e| self.refuse(e))?;
        let f =
            regular_set(system.contacts(), &at, &of, &mut Reduced::default()).map_err(|e| self.refuse(e))?;
        let (ranges, samples) = self.ranges(task)?;
        let sampled = if samples > 0 {
            // coordinates and velocities need not be live
            let is_parameter = |name: &String| self.model().parameters.iter().any(|q| q.name == *name);
            let live = ranges.iter().map(|r| r.0.clone()).filter(is_parameter).collect();
            let machine = self.live(live)?;
            let s =
                sampled_set(machine.system(), &ranges, samples, &of, watch).map_err(|e| self.refuse(e))?;
            Some(self.samples(&s, samples, &ranges, &f))
        } else {
            None
        };
        let names = self.contact_names();
        let contacts = f.contacts.iter().map(|c| {
            let entry = TensorContact {
                tensor: c.phi.iter().map(|row| row.iter().copied().map(Num).collect()).collect(),
                dissipative: c.eigenvalue >= 0.0,
                eigenvalue: Num(c.eigenvalue),
                orthogonality: Num(c.orthogonality.residual),
                rho: Num(c.orthogonality.rho),
            };
            (names[c.contact].clone(), entry)
        });
        Ok(TensorFinding {
            regular: f.regular,
            critical_factor: if f.regular { None } else { f.worst.critical },
            determinant: f.worst.determinant.iter().copied().map(Num).collect(),
            directions: self.directions(&f, &f.directions),
            slips: (!f.slips.is_empty()).then(|| {
                f.contacts.iter().zip(&f.slips).map(|(c, d)| (names[c.contact].clone(), *d)).collect()
            }),
            patterns: f.patterns,
            contacts: contacts.collect(),
            left_out: f.left_out.iter().map(|&i| names[i].clone()).collect(),
            sampled,
            explain: "tensor",
        })
    }

    /// Ranges to sample and the number of samples; with a number alone every parameter that has a range in the file.
    fn ranges(&self, task: &TensorTask) -> Result<(Vec<Range>, usize), Error> {
        let list = task.over.clone().unwrap_or_else(|| {
            let own = self.model().parameters.iter().filter_map(|p| Some((p.name.clone(), p.range?)));
            own.filter(|(_, [from, to])| from < to && from.is_finite() && to.is_finite()).collect()
        });
        let count = task.samples.unwrap_or(if task.over.is_some() { SAMPLES } else { 0 });
        if count > 0 && list.is_empty() {
            return Err(Error::plain(
                "no parameter of the file has a range to sample",
                "write  mu = { value = 0.2, range = [0, 1] }  or give --over \"mu=0..1:2\"",
            ));
        }
        Ok((list, count))
    }

    fn directions(&self, f: &SetFinding, list: &[f64]) -> Named<i64> {
        let name = |i: usize| self.system().contacts()[i].name.clone();
        f.contacts.iter().zip(list).map(|(c, d)| (name(c.contact), *d as i64)).collect()
    }

    fn samples(&self, s: &SampledSet, asked: usize, ranges: &[Range], f: &SetFinding) -> TensorSamples {
        let at = |e: &Extreme| ranges.iter().zip(&e.at).map(|(r, v)| (r.0.clone(), Num(*v))).collect();
        let extreme = |e: &Extreme| TensorExtreme {
            contact: e.contact.map(|i| self.system().contacts()[i].name.clone()),
            value: Num(e.value),
            at: at(e),
        };
        TensorSamples {
            count: s.count,
            complete: s.count + s.undefined.0 == asked,
            regular: s.count - s.irregular,
            irregular: s.irregular,
            creating_energy: s.creating,
            undefined: s.undefined.0,
            undefined_because: s.undefined.1.clone(),
            over: ranges.iter().cloned().collect(),
            worst: s.worst.as_ref().map(|e| TensorWorst {
                critical_factor: Num(e.value),
                at: at(e),
                directions: self.directions(f, &e.directions),
            }),
            lowest_eigenvalue: s.eigenvalue.as_ref().map(extreme),
            largest_orthogonality: s.residual.as_ref().map(extreme),
        }
    }
}

//! Rims that lie flat on their plane.
//!
//! A rim touches a plane at its lowest point, c − R (n − (n·e) e)/s with s = √(1 − (n·e)²). Flat, s = 0, it touches all around: there is no
//! such point, its direction is rounding, and one force cannot carry what a ring of them does.

use crate::expr::{NodeId, Tape, Work};
use crate::system::{Discrete, Eval, State};

use super::super::compiled::CompiledSystem;
use super::super::frames::Builder;
use super::super::{FeatureRef, Geometry, Shape};
use super::SpaceShape;
use super::vector::{along, dot, length};

/// s below this is flat: the lowest point is known to 10⁻¹⁰ of the radius then.
const FLAT: f64 = 1e-6;

/// Contacts of rims with planes, and s of each.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct Rims {
    /// Contacts of the system.
    contacts: Vec<usize>,
    pub tape: Tape,
}

impl Rims {
    /// `of_model`: the contacts of the system by those of the model.
    pub(in crate::model) fn new(b: &mut Builder, of_model: &[std::ops::Range<usize>]) -> Rims {
        let (mut contacts, mut sines) = (Vec::new(), Vec::new());
        let model = b.model;
        for (contact, range) in model.contacts.iter().zip(of_model) {
            let Geometry::Between(p, q) = contact.geometry else { continue };
            if let Some(sine) = b.rim_on_plane(p, q).or_else(|| b.rim_on_plane(q, p)) {
                contacts.push(range.start);
                sines.push(sine);
            }
        }
        Rims { contacts, tape: Tape::new(&b.g, &sines) }
    }
}

impl Builder<'_> {
    fn rim_on_plane(&mut self, rim: FeatureRef, plane: FeatureRef) -> Option<NodeId> {
        let (Shape::Space(SpaceShape::Rim { axis, .. }), Shape::Space(SpaceShape::Plane { normal, .. })) =
            (self.shape(rim)?.clone(), self.shape(plane)?.clone())
        else {
            return None;
        };
        let (e, n) = (self.space_direction(rim.body, axis), self.space_direction(plane.body, normal));
        let g = &mut self.g;
        let cosine = dot(g, n, e);
        let back = g.neg(cosine);
        let flat = along(g, n, back, e);
        Some(length(g, flat))
    }
}

/// What the sines are computed with, kept in the memory of an evaluation.
#[derive(Debug, Default)]
pub(in crate::model) struct RimWork {
    inputs: Vec<f64>,
    work: Work,
}

impl CompiledSystem {
    /// Memory for [`CompiledSystem::flat_rim`]; empty where there is no rim.
    pub(in crate::model) fn rim_work(&self) -> RimWork {
        match self.rims.contacts.is_empty() {
            true => RimWork::default(),
            false => RimWork { inputs: self.base.clone(), work: self.rims.tape.workspace() },
        }
    }

    /// A closed contact whose rim lies flat.
    pub(in crate::model) fn flat_rim(&self, s: &State, d: &Discrete, at: &mut Eval) -> Option<usize> {
        let closed = |c: usize| d.modes[c].is_closed();
        if !self.rims.contacts.iter().any(|&c| closed(c)) {
            return None;
        }
        let RimWork { inputs, work } = &mut self.at_hand(at)?.rims;
        self.fill(s, d, inputs);
        self.rims.tape.eval(inputs, work);
        let mut list = self.rims.contacts.iter().enumerate();
        list.find(|&(k, &c)| closed(c) && self.rims.tape.output(work, k) < FLAT).map(|(_, &c)| c)
    }
}

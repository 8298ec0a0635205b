//! Tests of the impact laws.

mod book;
mod indifferent;
mod judge;
mod laws;
mod random;

use super::*;
use crate::contact::tests::{Bench, Random, close, diag};

pub(super) fn eps(normal: f64) -> Restitution {
    Restitution { normal, tangential: 0.0, nu: 0.0 }
}

pub(super) fn hit(law: Law, b: &Bench, u: &[f64], e: &[Restitution]) -> Impact {
    Impactor::default().solve(law, &b.info, &b.eval, u, &vec![true; b.info.len()], e)
}

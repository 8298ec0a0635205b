//! Directions for derivatives of runs: how the start and the end time depend on parameters.
//!
//! What the file writes down is differentiated exactly. A start that is solved for (guesses, an equilibrium) is differenced: it is a smooth
//! function of the parameters without events, and the extrapolated differences carry ten digits.

use crate::expr::{NodeId, Tape};
use crate::model::CompiledSystem;
use crate::sim::{Seed, StartError};
use crate::system::State;

use super::place::start_of;

/// First step of the differences of a start that is solved for, relative to the parameter.
const STEP: f64 = 1e-2;
/// Halvings of it.
const HALVINGS: usize = 4;

/// The direction of live parameter `k`; `until`: the end time as the file has it.
///
/// # Errors
///
/// The start cannot be made consistent.
pub fn seed(sys: &CompiledSystem, k: usize, until: Option<NodeId>) -> Result<Seed, StartError> {
    let mut parameters = vec![0.0; sys.parameters().len()];
    parameters[k] = 1.0;
    let here = start_of(sys)?;
    let plain = here == sys.start() && here.z.len() == sys.model().states.len();
    let rate = match plain && !sys.model().start.equilibrium {
        true => sys.start_rates(&parameters),
        false => solved(sys, k)?,
    };
    let until = until.map_or(0.0, |node| end_rate(sys, node, &parameters));
    let amount = sys.parameters()[k].abs();
    Ok(Seed { q: rate.q, u: rate.u, z: rate.z, memory: rate.memory, parameters, until, amount })
}

fn end_rate(sys: &CompiledSystem, node: NodeId, parameters: &[f64]) -> f64 {
    let tape = Tape::new(&sys.model().graph, &[node]);
    sys.constant_rates(&tape, parameters)[0]
}

// extrapolated central differences
fn solved(sys: &CompiledSystem, k: usize) -> Result<State, StartError> {
    let mut other = sys.clone();
    let values = sys.parameters().to_vec();
    let mut h = STEP * if values[k] == 0.0 { 1.0 } else { values[k].abs() };
    let mut at = |h: f64| {
        let mut moved = values.clone();
        moved[k] += h;
        other.set_parameters(&moved);
        start_of(&other).map(|s| [s.q, s.u, s.z, s.memory].concat())
    };
    let (mut row, mut best): (Vec<Vec<f64>>, Vec<(f64, f64)>) = (Vec::new(), Vec::new());
    for _ in 0..=HALVINGS {
        let (a, b) = (at(h)?, at(-h)?);
        let mut next = vec![a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>()];
        best.resize(a.len(), (f64::NAN, f64::INFINITY));
        let mut factor = 4.0;
        for old in &row {
            let last = &next[next.len() - 1];
            let better: Vec<f64> =
                last.iter().zip(old).map(|(n, o)| (factor * n - o) / (factor - 1.0)).collect();
            for (i, best) in best.iter_mut().enumerate() {
                let error = (better[i] - last[i]).abs().max((better[i] - old[i]).abs());
                if error <= best.1 {
                    *best = (better[i], error);
                }
            }
            next.push(better);
            factor *= 4.0;
        }
        row = next;
        h *= 0.5;
    }
    let here = sys.start();
    let mut values = best.into_iter().map(|b| b.0);
    let mut take = |n: usize| values.by_ref().take(n).collect::<Vec<f64>>();
    Ok(State {
        t: 0.0,
        q: take(here.q.len()),
        u: take(here.u.len()),
        z: take(here.z.len()),
        memory: take(here.memory.len()),
    })
}

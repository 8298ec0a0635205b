//! Joints in space that do not move, or not for an instant.
//!
//! A joint between bodies that cannot move against each other along one of its directions has a row of zeros in W there. Frames that turn
//! about tilted axes leave rounding instead, and every decision on rank that scales rows takes 10⁻¹⁷ for a constraint of its own. What is
//! rounding becomes zero:
//!
//! ```text
//! entry   |w_rk| ≤ 10⁻¹³ (|v_k| + |ω_k| ℓ)         at the start and at other states without meaning: zero for these parameters
//! row     max |w_r| ≤ 10⁻¹⁰ max |w|, its joint     zero at this instant
//! ```
//!
//! with v_k, ω_k what velocity k does to the bodies and ℓ the length of the machine; a gap written as a formula is measured by its
//! terms. A row of zeros whose w̃ is rounding too has neither w̃ nor w̄.

use std::ops::Range;

use crate::expr::{Fun, NodeId, Tape};
use crate::linalg::Pattern;
use crate::system::{ContactInfo, Discrete, Eval, State, System};

use super::Input;
use super::compiled::CompiledSystem;
use super::contacts::ContactsPlan;
use super::frames::{Builder, Row};
use super::space::{Vector, dot, halves};

/// Rounding of an entry, relative to what the bodies do.
const ROUNDING: f64 = 1e-13;
/// A row this small beside the others of its joint has no direction.
const VANISHES: f64 = 1e-10;
/// States at which entries are looked at, the start among them.
const PROBES: usize = 6;

/// What may be still: found once per model.
#[derive(Clone, Debug, Default)]
pub(super) struct StillPlan {
    /// Entry, its size, and what counts by the length of the machine: three outputs for every entry, and for w̃ behind those of a row.
    pub tape: Tape,
    /// Rows, and the places of their entries among the values of W.
    rows: Vec<(usize, Vec<usize>)>,
    /// Joints of several rows, by the ranges of their entries.
    joints: Vec<Vec<Range<usize>>>,
}

/// What is still: found once per set of parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Still {
    places: Vec<usize>,
    /// Rows without entries and offsets.
    rows: Vec<usize>,
}

impl Builder<'_> {
    /// Measure a row by what velocities do to both bodies: `reach` with points at any place, else turns alone.
    pub(super) fn measure_row(&mut self, row: &mut Row, bodies: [Option<usize>; 2], reach: bool) {
        let columns = bodies.map(|body| self.space_columns(body));
        let of = |k: usize| columns.iter().flatten().filter(move |c| c.0 == k).map(|c| c.1);
        let mut parts: Vec<Vec<[NodeId; 6]>> = row.columns.iter().map(|&(k, _)| of(k).collect()).collect();
        parts.push(bodies.map(|body| self.space_frame(body).explicit).to_vec());
        row.natural.clear();
        for list in parts {
            let [way, turn] = [0, 1].map(|half| self.norm(list.iter().map(|c| halves(*c)[half])));
            row.natural.push(if reach { [way, turn] } else { [turn, self.zero] });
        }
    }

    /// Measure a row by the terms of its formulas.
    pub(super) fn measure_terms(&mut self, row: &mut Row) {
        let nodes: Vec<NodeId> = row.columns.iter().map(|c| c.1).chain([row.rate_offset]).collect();
        let known = |i| {
            matches!(
                i,
                Input::Coordinate(_) | Input::State(_) | Input::Memory(_) | Input::Parameter(_) | Input::Time
            )
        };
        if nodes.iter().all(|&n| self.depends_only(n, known)) {
            let zero = self.zero;
            row.natural = self.sizes(&nodes).into_iter().map(|n| [n, zero]).collect();
        }
    }

    fn norm(&mut self, vectors: impl Iterator<Item = Vector>) -> NodeId {
        let mut sum = self.zero;
        for v in vectors {
            let square = dot(&mut self.g, v, v);
            sum = self.g.add(sum, square);
        }
        self.g.fun(Fun::Sqrt, sum)
    }
}

impl StillPlan {
    pub(super) fn new(b: &Builder, plan: &ContactsPlan, contacts: &[ContactInfo], w: &Pattern) -> Self {
        let (mut roots, mut rows) = (Vec::new(), Vec::new());
        for (r, row) in plan.rows.iter().enumerate().filter(|(_, row)| !row.natural.is_empty()) {
            let nodes = row.columns.iter().map(|c| c.1).chain([row.rate_offset]);
            nodes.zip(&row.natural).for_each(|(n, &[size, turn])| roots.extend([n, size, turn]));
            rows.push((r, row.columns.iter().filter_map(|c| w.find(r, c.0)).collect()));
        }
        let measured = |r: &usize| !plan.rows[*r].natural.is_empty();
        let joints = contacts.iter().map(ContactInfo::normal_rows);
        let joints = joints.filter(|rows| rows.len() > 1 && rows.iter().all(measured));
        let entries = |r: &usize| w.first(*r)..w.first(*r) + w.row(*r).len();
        let joints = joints.map(|rows| rows.iter().map(entries).collect()).collect();
        StillPlan { tape: Tape::new(&b.g, &roots), rows, joints }
    }
}

impl CompiledSystem {
    /// What is still with the present parameters.
    pub(super) fn find_still(&mut self) {
        self.still = None;
        if self.still_plan.rows.is_empty() {
            return;
        }
        let tape = &self.still_plan.tape;
        let count = tape.output_count() / 3;
        // looked at, and still every time
        let (mut seen, mut still) = (vec![0; count], vec![true; count]);
        let start = self.start();
        let (discrete, mut inputs, mut work) =
            (Discrete::new(&self.dims), self.base.clone(), tape.workspace());
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for probe in 0..PROBES {
            let state = if probe == 0 { start.clone() } else { self.elsewhere(&start, &mut random) };
            self.fill(&state, &discrete, &mut inputs);
            tape.eval(&inputs, &mut work);
            for k in 0..count {
                let [value, size, turn] = [0, 1, 2].map(|j| tape.output(&work, 3 * k + j));
                let size = size + turn * self.length;
                if value.is_finite() && size.is_finite() {
                    seen[k] += 1;
                    still[k] &= value.abs() <= ROUNDING * size;
                }
            }
        }
        let mut found = Still::default();
        let mut k = 0;
        for (row, places) in &self.still_plan.rows {
            let is = |k: usize| seen[k] > 1 && still[k];
            let here = k..k + places.len();
            found.places.extend(places.iter().zip(here.clone()).filter(|(_, k)| is(*k)).map(|(p, _)| *p));
            if here.clone().all(is) && is(here.end) {
                found.rows.push(*row);
            }
            k = here.end + 1;
        }
        self.still = (!found.places.is_empty() || !found.rows.is_empty()).then(|| Box::new(found));
    }

    /// Any other state.
    fn elsewhere(&self, start: &State, random: &mut Random) -> State {
        let mut state = start.clone();
        let mut other = |x: f64| random.next() * (1.0 + x.abs());
        state.t += other(0.0);
        let n = self.model.coordinates.len();
        let delta: Vec<f64> = (0..self.dims.u).map(|k| other(if k < n { start.q[k] } else { 0.0 })).collect();
        self.move_by(&mut state.q, &delta);
        state.z.iter_mut().for_each(|z| *z += other(*z));
        state
    }

    /// Make zero what is rounding; true: also what does not stay so.
    pub(super) fn quiet(&self, out: &mut Eval) -> bool {
        self.forget_still(out);
        let mut vanished = false;
        let values = out.w.values_mut();
        for joint in &self.still_plan.joints {
            let size = |range: &Range<usize>| crate::linalg::max_abs(&values[range.clone()]);
            let bound = VANISHES * joint.iter().map(size).fold(0.0, f64::max);
            for range in joint {
                let size = crate::linalg::max_abs(&values[range.clone()]);
                if size > 0.0 && size <= bound {
                    values[range.clone()].fill(0.0);
                    vanished = true;
                }
            }
        }
        vanished
    }

    /// Zeros where entries are still: of an evaluation, or of its rates.
    pub(super) fn forget_still(&self, out: &mut Eval) {
        let Some(still) = &self.still else { return };
        let values = out.w.values_mut();
        still.places.iter().for_each(|&p| values[p] = 0.0);
        for &r in &still.rows {
            (out.rate_offset[r], out.accel_offset[r]) = (0.0, 0.0);
        }
    }
}

/// Numbers between −1 and 1, always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

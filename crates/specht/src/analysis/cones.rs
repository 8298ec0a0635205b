//! Balance of forces with exact cones of friction: what can be held, what a load may be, and why (METH-REST-SET)
//!
//! ```text
//! h + Σ p_k e_k + Wᵀ λ = 0,      λ_N ≥ 0,      ‖S λ_T‖ ≤ μ N          S: identity, inverse of the ellipse or of the tensor
//! ```
//!
//! One second-order cone program ([`crate::lcp::socp`]) per pattern of signs of the bilateral normal forces; all patterns together are complete.
//! Forces and torques are compared by inertia ([`Measure`]).
//!
//! Both answers come with a proof. *It stands*: the forces λ. *It does not*: a virtual motion v, the multiplier of the balance, with
//!
//! ```text
//! W_N v ≥ μ ‖W_T v‖ at every contact (it opens at least as fast as friction could follow),     h·v > Σ μ n₀ ‖W_T v‖
//! ```
//!
//! so that no admissible forces can take up the power of the loads. Of a limit p: the motion with e·v = 1 and p = −h·v + Σ μ n₀ ‖W_T v‖.
//!
//! Journals, guides in space and ball joints are bounded by the length of a vector, ‖λ_T‖ ≤ m |F|, which is not convex. The bound is taken along
//! a direction, n·F ≤ |F|, and the direction follows the forces until they agree: what stands is proved, what does not is what these programs
//! found (`exact` is false unless balance alone determines F).

use super::AnalysisError;
use super::statics::{Interval, MAX_SIGNED, Statics, merge};
use crate::contact::Measure;
use crate::lcp::socp::{ConeAnswer, ConeOutcome, ConeProgram};
use crate::linalg::{Mat, Svd};
use crate::system::{Normal, Section};

/// Rounds in which directions of joint forces follow the forces, and the change that ends them.
const ROUNDS: usize = 60;
const FOLLOWED: f64 = 1e-13;
/// A balance that is missed by less, relative to the forces, holds.
pub(super) const HOLDS: f64 = 1e-10;

/// Factors, relative to the loads that are there, up to which an end is looked for where the program without a bound fails; what nearly reaches the
/// last has none.
const REACHES: [f64; 3] = [1e2, 1e4, 1e6];
const NEARLY: f64 = 1e-3;

/// What is assumed in one program.
#[derive(Clone, Debug)]
struct Aim {
    /// Signs of the normal forces, per contact.
    signs: Vec<f64>,
    /// Directions of forces of joints, per contact.
    ways: Vec<[f64; 3]>,
}

/// The best balance of a load.
#[derive(Clone, Debug)]
pub(crate) struct Stand {
    /// How far inside all bounds, relative to the forces; negative: it cannot stand.
    pub margin: f64,
    /// Forces of the best balance; empty when the load cannot be balanced with any friction.
    pub lambda: Vec<f64>,
    /// The virtual motion that proves the margin.
    pub motion: Vec<f64>,
    /// The bounds are convex: nothing was left out.
    pub exact: bool,
}

impl Stand {
    /// Whether it can stand.
    pub(crate) fn stays(&self) -> bool {
        self.margin >= -HOLDS
    }
}

/// The end of what a load may be.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    /// The factor; infinite when there is no end.
    pub value: f64,
    /// Forces there.
    pub lambda: Vec<f64>,
    /// The motion that begins beyond, with e·v = ±1; empty without end.
    pub motion: Vec<f64>,
}

/// One program, in scaled variables: factors, the margin (where asked for), forces of active rows.
struct Posed {
    program: ConeProgram,
    /// Rows of W of the variables.
    rows: Vec<usize>,
    /// First of the forces.
    first: usize,
    /// Scale of the factors, and of the equations.
    largest: f64,
    measure: Measure,
    /// Coordinate of each equation.
    coordinates: Vec<usize>,
}

impl Posed {
    /// Add `f` times the force of a row of W, which is a variable, to a row of the program.
    fn add(&self, a: &mut [f64], row: usize, f: f64) {
        if let Some(k) = self.rows.iter().position(|r| *r == row) {
            a[self.first + k] += f / self.measure.row[row];
        }
    }
}

impl Posed {
    /// The largest value of the factor, which is the first unknown, where the program without end is too near to one that has an end for either to be
    /// certain: with a bound far away. Without end when the bound is reached.
    fn within_reach(&self, c: &[f64], size: f64) -> Option<ConeAnswer> {
        REACHES.iter().find_map(|reach| {
            let mut program = self.program.clone();
            let mut a = vec![0.0; c.len()];
            a[0] = -1.0;
            let bound = reach * if size > 0.0 { size } else { 1.0 };
            program.cone(&[(a, bound)]);
            let found = program.maximize(c);
            let ends = found.value < (1.0 - NEARLY) * bound;
            // a bound that is reached says something when it is the farthest
            let last = Some(reach) == REACHES.last();
            match found.outcome {
                ConeOutcome::Optimal if ends => Some(found),
                ConeOutcome::Optimal if last => {
                    Some(ConeAnswer { outcome: ConeOutcome::Unbounded, value: f64::INFINITY, ..found })
                }
                _ => None,
            }
        })
    }
}

/// Whether a program found neither an end nor that there is none.
fn failed(found: &ConeAnswer) -> bool {
    matches!(found.outcome, ConeOutcome::Infeasible | ConeOutcome::Unclear)
}

impl Statics<'_> {
    /// Size of the loads and of given bounds, by inertia.
    fn size(&self, base: &[f64]) -> f64 {
        let measure = Measure::of(self.eval);
        let loads = base.iter().zip(&measure.coordinate).map(|(h, u)| (h / u).abs());
        let given = (0..self.info.len()).filter(|&i| self.rubs(i)).map(|i| {
            let n = self.given() * self.eval.bound_given(i, true);
            measure.row[self.info[i].tangent[0]] * self.eval.mu_static[i] * n.abs()
        });
        given.fold(loads.fold(0.0, f64::max), f64::max)
    }

    /// Whether friction acts in a tangent plane somewhere.
    pub(crate) fn has_discs(&self) -> bool {
        (0..self.info.len()).any(|i| self.info[i].tangent.len() > 1 && self.rubs(i))
    }

    /// Every section is one of a second-order cone.
    ///
    /// # Errors
    ///
    /// A patch, whose limit surface is no ellipsoid; a tensor that cannot be inverted.
    pub(crate) fn check_sections(&self) -> Result<(), AnalysisError> {
        for (i, c) in self.info.iter().enumerate().filter(|&(i, _)| self.rubs(i)) {
            if c.tangent.len() > 1 && self.shape(i).is_none() {
                let why = match self.eval.section(i) {
                    Section::Patch { .. } => {
                        "it is a patch, which slips and drills: its limit is no cone of second order; leave `patch` out for the limit without drilling"
                    }
                    _ => {
                        "its tensor has no inverse: there is a direction without friction; give every direction some"
                    }
                };
                return Err(AnalysisError::Key(format!("contact `{}` cannot be asked this: {why}", c.name)));
            }
        }
        Ok(())
    }

    /// S by rows; `None` where there is none.
    fn shape(&self, i: usize) -> Option<[f64; 4]> {
        match self.eval.section(i) {
            Section::Round => Some([1.0, 0.0, 0.0, 1.0]),
            Section::Ellipse([a, b]) => (a > 0.0 && b > 0.0).then(|| [1.0 / a, 0.0, 0.0, 1.0 / b]),
            Section::Tensor([a, b, c, d]) => {
                let det = a * d - b * c;
                (det != 0.0).then(|| [d / det, -b / det, -c / det, a / det])
            }
            Section::Patch { .. } => None,
        }
    }

    /// Contacts whose force bounds friction by its length.
    fn joints(&self) -> Vec<usize> {
        let mut out = Vec::new();
        for i in (0..self.info.len()).filter(|&i| self.rubs(i)) {
            for (j, _) in self.eval.bound_terms(self.info, i) {
                if self.info[j].normal_rows().len() > 1 && !out.contains(&j) {
                    out.push(j);
                }
            }
        }
        out
    }

    /// Sign patterns: bilateral contacts that rub, and given ones that follow a signed force.
    fn aims(&self) -> Result<Vec<Aim>, AnalysisError> {
        let signed: Vec<usize> = self
            .signed()
            .into_iter()
            .filter(|&i| {
                let c = &self.info[i];
                !c.is_given() || c.load_on.iter().any(|&j| self.info[j].normal_rows().len() == 1)
            })
            .collect();
        if signed.len() > MAX_SIGNED {
            return Err(AnalysisError::TooMany { pairs: signed.len(), limit: 1 << MAX_SIGNED });
        }
        let one = |bits: usize| {
            let mut signs = vec![1.0; self.info.len()];
            for (k, &i) in signed.iter().enumerate() {
                signs[i] = if bits >> k & 1 == 1 { -1.0 } else { 1.0 };
            }
            Aim { signs, ways: vec![[1.0, 0.0, 0.0]; self.info.len()] }
        };
        Ok((0..1_usize << signed.len()).map(one).collect())
    }

    fn pose(&self, base: &[f64], columns: &[Vec<f64>], aim: &Aim, of: Option<&[(usize, f64)]>) -> Posed {
        let measure = Measure::of(self.eval);
        let sizes =
            columns.iter().flat_map(|c| c.iter().zip(&measure.coordinate).map(|(e, u)| (e / u).abs()));
        let largest = Some(sizes.fold(0.0, f64::max)).filter(|l| *l > 0.0).unwrap_or(1.0);
        let mut rows = Vec::new();
        for (i, c) in self.info.iter().enumerate().filter(|&(i, _)| self.takes_part(i)) {
            rows.extend(c.normal_rows());
            if self.rubs(i) {
                rows.extend(&c.tangent);
            }
        }
        let first = columns.len() + usize::from(of.is_some());
        let width = first + rows.len();
        let mut posed = Posed {
            program: ConeProgram::new(width),
            rows,
            first,
            largest,
            measure,
            coordinates: Vec::new(),
        };
        for d in 0..base.len() {
            let unit = posed.measure.coordinate[d];
            let mut a = vec![0.0; width];
            columns.iter().enumerate().for_each(|(k, c)| a[k] = c[d] / unit / largest);
            for (k, &row) in posed.rows.iter().enumerate() {
                a[first + k] = self.eval.w[(row, d)] / unit / posed.measure.row[row];
            }
            if a.iter().any(|v| *v != 0.0) || base[d] != 0.0 {
                posed.program.equal(&a, -base[d] / unit);
                posed.coordinates.push(d);
            }
        }
        for i in (0..self.info.len()).filter(|&i| self.takes_part(i)) {
            self.bound(&mut posed, columns.len(), i, aim, of);
        }
        posed
    }

    /// Conditions of one contact; `of`: weights of the margin.
    fn bound(&self, posed: &mut Posed, slack: usize, i: usize, aim: &Aim, of: Option<&[(usize, f64)]>) {
        let (c, width) = (&self.info[i], posed.first + posed.rows.len());
        let weight = of.and_then(|of| of.iter().find(|w| w.0 == i)).map_or(0.0, |w| w.1);
        if !self.rubs(i) {
            if let Normal::Unilateral { row } = c.normal {
                let mut a = vec![0.0; width];
                posed.add(&mut a, row, posed.measure.row[row]);
                if weight > 0.0 {
                    a[slack] = -weight * posed.measure.row[row];
                }
                posed.program.cone(&[(a, 0.0)]);
            }
            return;
        }
        let size = posed.measure.row[c.tangent[0]];
        // N without its coefficient
        let (mut n, mut constant) = (vec![0.0; width], self.given() * self.eval.bound_given(i, true));
        for (j, f) in self.eval.bound_terms(self.info, i) {
            match *self.info[j].normal_rows() {
                [row] => posed.add(&mut n, row, f),
                ref list => {
                    let way = aim.ways[j];
                    list.iter().zip(way).for_each(|(&row, w)| posed.add(&mut n, row, f * w));
                }
            }
        }
        let mut sign = aim.signs[i];
        if c.is_given() {
            if c.load_on.is_empty() {
                constant = constant.max(0.0);
            }
            if sign < 0.0 {
                // no load, no friction
                posed.program.cone(&[(n.iter().map(|v| -size * v).collect(), -size * constant)]);
                for &t in &c.tangent {
                    let mut a = vec![0.0; width];
                    posed.add(&mut a, t, size);
                    posed.program.equal(&a, 0.0);
                    posed.coordinates.push(usize::MAX);
                }
                return;
            }
            sign = 1.0;
        }
        let f = size * sign * self.eval.mu_static[i];
        n.iter_mut().for_each(|v| *v *= f);
        if weight > 0.0 {
            n[slack] = -weight * size;
        }
        let mut cone = vec![(n, f * constant)];
        let [a, b, d, e] = self.shape(i).unwrap_or([1.0, 0.0, 0.0, 1.0]);
        let own = match c.tangent.len() {
            2 => vec![[a, b, 0.0], [d, e, 0.0]],
            count => {
                (0..count.min(3)).map(|k| std::array::from_fn(|j| f64::from(u8::from(j == k)))).collect()
            }
        };
        for part in own {
            let mut a = vec![0.0; width];
            c.tangent.iter().zip(part).for_each(|(&t, p)| posed.add(&mut a, t, size * p));
            cone.push((a, 0.0));
        }
        posed.program.cone(&cone);
    }

    /// Directions of the forces of joints, from forces.
    fn follow(&self, joints: &[usize], lambda: &[f64], ways: &mut [[f64; 3]]) -> f64 {
        let mut change = 0.0_f64;
        for &j in joints {
            let rows = self.info[j].normal_rows();
            let size = self.info[j].normal_force(lambda);
            if size > 0.0 {
                let new: [f64; 3] = std::array::from_fn(|k| rows.get(k).map_or(0.0, |&r| lambda[r] / size));
                change = (0..3).fold(change, |m, k| m.max((new[k] - ways[j][k]).abs()));
                ways[j] = new;
            }
        }
        change
    }

    /// The shortest forces that balance `base`, whatever their bounds.
    fn shortest(&self, base: &[f64]) -> Vec<f64> {
        let aim = Aim { signs: vec![1.0; self.info.len()], ways: vec![[0.0; 3]; self.info.len()] };
        let posed = self.pose(base, &[], &aim, None);
        let a = Mat::from_fn(base.len(), posed.rows.len(), |d, k| {
            self.eval.w[(posed.rows[k], d)] / posed.measure.coordinate[d] / posed.measure.row[posed.rows[k]]
        });
        let b: Vec<f64> = base.iter().zip(&posed.measure.coordinate).map(|(h, u)| -h / u).collect();
        let x = Svd::new(&a).solve(&b, 1e-11);
        let mut lambda = vec![0.0; self.eval.w.rows()];
        posed.rows.iter().zip(&x).for_each(|(&r, x)| lambda[r] = x / posed.measure.row[r]);
        lambda
    }

    /// Solve one program, directions of joints following.
    fn solve(
        &self,
        base: &[f64],
        columns: &[Vec<f64>],
        aim: &mut Aim,
        of: Option<&[(usize, f64)]>,
        c: &[f64],
        cap: Option<f64>,
    ) -> Option<Limit> {
        let joints = self.joints();
        let mut best: Option<Limit> = None;
        for _ in 0..ROUNDS {
            let mut posed = self.pose(base, columns, aim, of);
            let width = posed.first + posed.rows.len();
            let mut aim_at = vec![0.0; width];
            aim_at[..c.len()].copy_from_slice(c);
            if let Some(cap) = cap {
                let mut a = vec![0.0; width];
                a[columns.len()] = -1.0;
                posed.program.cone(&[(a, cap)]);
            }
            let mut found = posed.program.maximize(&aim_at);
            if of.is_none() && failed(&found) {
                found = posed.within_reach(&aim_at, self.size(base)).unwrap_or(found);
            }
            let mut lambda = vec![0.0; self.eval.w.rows()];
            let read = |k: usize, row: usize| found.x[posed.first + k] / posed.measure.row[row];
            posed.rows.iter().enumerate().for_each(|(k, &row)| lambda[row] = read(k, row));
            let mut motion = vec![0.0; base.len()];
            for (&d, y) in posed.coordinates.iter().zip(&found.y).filter(|(d, _)| **d != usize::MAX) {
                motion[d] = y / posed.measure.coordinate[d];
            }
            let scale = if of.is_some() { 1.0 } else { posed.largest };
            let value = match found.outcome {
                ConeOutcome::Optimal => found.value / scale,
                ConeOutcome::Unbounded => f64::INFINITY,
                ConeOutcome::Infeasible => f64::NEG_INFINITY,
                // a failure is no number
                ConeOutcome::Unclear => f64::NAN,
            };
            motion.iter_mut().for_each(|v| *v /= scale);
            if !(value > f64::NEG_INFINITY) {
                // the first guess of a direction may be too bad for any balance
                return best.or(Some(Limit { value, lambda: Vec::new(), motion }));
            }
            let settled = best.as_ref().is_some_and(|b| !(value > b.value + FOLLOWED * value.abs()));
            let here = Limit { value, lambda, motion };
            let change = self.follow(&joints, &here.lambda, &mut aim.ways);
            best = Some(here);
            if joints.is_empty() || value.is_infinite() || change <= FOLLOWED || settled {
                break;
            }
        }
        best
    }

    /// How far inside the bounds of all contacts the best balance of `base` lies, relative to its forces.
    ///
    /// # Errors
    ///
    /// Too many signs; a section that is no cone.
    pub(crate) fn stand(&self, base: &[f64]) -> Result<Stand, AnalysisError> {
        self.check_sections()?;
        let measure = Measure::of(self.eval);
        let weights = self.weights(&measure);
        let size = self.size(base);
        let joints = self.joints();
        let guess = if joints.is_empty() { Vec::new() } else { self.shortest(base) };
        let mut best = Stand {
            margin: f64::NEG_INFINITY,
            lambda: Vec::new(),
            motion: vec![0.0; base.len()],
            exact: true,
        };
        if size == 0.0 {
            return Ok(Stand { margin: 0.0, lambda: vec![0.0; self.eval.w.rows()], ..best });
        }
        for mut aim in self.aims()? {
            if !joints.is_empty() {
                self.follow(&joints, &guess, &mut aim.ways);
            }
            let Some(found) = self.solve(base, &[], &mut aim, Some(&weights), &[1.0], Some(size)) else {
                continue;
            };
            let margin = found.value / size;
            if margin > best.margin || !margin.is_nan() && best.margin == f64::NEG_INFINITY {
                best.margin = margin;
                best.lambda = found.lambda;
                best.motion = found.motion;
            }
        }
        best.exact = joints.is_empty() || self.is_determined();
        Ok(best)
    }

    /// One margin for all contacts, in the measure of each.
    fn weights(&self, measure: &Measure) -> Vec<(usize, f64)> {
        let one = |i: usize| {
            let size = match self.rubs(i) {
                true => measure.row[self.info[i].tangent[0]],
                false => self.info[i].rows().map(|r| measure.row[r]).fold(0.0, f64::max),
            };
            (size > 0.0).then_some((i, 1.0 / size))
        };
        (0..self.info.len()).filter(|&i| self.takes_part(i)).filter_map(one).collect()
    }

    /// The widest margin over all forces of the size one that balance some multiple β ≥ 0 of a load. It passes zero with growing friction where the
    /// load, however large, begins to be held; also where contacts brace each other with forces beyond all measure of the load. `None` with given
    /// bounds, and with joints.
    pub(super) fn grip(&self, load: &[f64]) -> Option<f64> {
        let given = |i: usize| self.given() * self.eval.bound_given(i, true) != 0.0;
        if !self.joints().is_empty() || (0..self.info.len()).any(|i| self.rubs(i) && given(i)) {
            return None;
        }
        self.check_sections().ok()?;
        let (measure, zero) = (Measure::of(self.eval), vec![0.0; load.len()]);
        let weights = self.weights(&measure);
        let columns = [load.to_vec()];
        let mut best: Option<f64> = None;
        for aim in self.aims().ok()? {
            let mut posed = self.pose(&zero, &columns, &aim, Some(&weights));
            let width = posed.first + posed.rows.len();
            let (mut total, mut first) = (vec![0.0; width], vec![0.0; width]);
            total[0] = 1.0;
            first[0] = 1.0;
            for i in (0..self.info.len()).filter(|&i| self.takes_part(i)) {
                if let [row] = *self.info[i].normal_rows()
                    && (self.rubs(i) || !self.info[i].is_bilateral())
                {
                    posed.add(&mut total, row, aim.signs[i] * measure.row[row]);
                }
            }
            posed.program.equal(&total, 1.0);
            posed.program.cone(&[(first, 0.0)]);
            let mut c = vec![0.0; width];
            c[1] = 1.0;
            let found = posed.program.maximize(&c);
            if found.outcome == ConeOutcome::Optimal {
                best = Some(best.map_or(found.value, |b: f64| b.max(found.value)));
            }
        }
        best
    }

    /// Whether balance alone determines all forces.
    fn is_determined(&self) -> bool {
        let mut rows = Vec::new();
        for (i, c) in self.info.iter().enumerate().filter(|&(i, _)| self.takes_part(i)) {
            rows.extend(c.normal_rows());
            if self.rubs(i) {
                rows.extend(&c.tangent);
            }
        }
        let n = self.eval.h.len();
        let matrix = Mat::from_fn(n, rows.len(), |d, k| self.eval.w[(rows[k], d)]);
        Svd::new(&matrix).null(1e-11).is_empty()
    }

    /// The largest (`sign` 1) or smallest (−1) factor p with which `base + p e` can be held; `None`: no factor.
    ///
    /// # Errors
    ///
    /// Too many signs; a section that is no cone.
    pub(crate) fn limit(&self, base: &[f64], e: &[f64], sign: f64) -> Result<Option<Limit>, AnalysisError> {
        self.check_sections()?;
        let mut best: Option<Limit> = None;
        for (found, _) in self.ends(base, e, sign)? {
            if best.as_ref().is_none_or(|b| sign * found.value > sign * b.value) {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// The end of every pattern.
    fn ends(&self, base: &[f64], e: &[f64], sign: f64) -> Result<Vec<(Limit, usize)>, AnalysisError> {
        let joints = self.joints();
        let guess = if joints.is_empty() { Vec::new() } else { self.shortest(base) };
        let column: Vec<f64> = e.iter().map(|v| sign * v).collect();
        let mut out = Vec::new();
        for (k, mut aim) in self.aims()?.into_iter().enumerate() {
            if !joints.is_empty() {
                self.follow(&joints, &guess, &mut aim.ways);
            }
            let columns = [column.clone()];
            if let Some(mut found) = self.solve(base, &columns, &mut aim, None, &[1.0], None)
                && found.value > f64::NEG_INFINITY
            {
                found.value *= sign;
                if found.value.is_infinite() {
                    found.motion.clear();
                }
                out.push((found, k));
            }
        }
        Ok(out)
    }

    /// Factors p for which `base + p e` can be held: disjoint intervals in rising order.
    ///
    /// # Errors
    ///
    /// Too many signs; a section that is no cone.
    pub(crate) fn held_intervals(&self, base: &[f64], e: &[f64]) -> Result<Vec<Interval>, AnalysisError> {
        self.check_sections()?;
        let (low, high) = (self.ends(base, e, -1.0)?, self.ends(base, e, 1.0)?);
        let mut list = Vec::new();
        for (lo, k) in &low {
            if let Some((hi, _)) = high.iter().find(|h| h.1 == *k) {
                list.push([lo.value.min(hi.value), hi.value.max(lo.value)]);
            }
        }
        Ok(merge(list))
    }

    /// [`Statics::margin`] with exact cones: the smallest weighted distance, N, and the forces.
    pub(super) fn margin_in_cones(&self, base: &[f64], of: &[(usize, f64)]) -> Option<(f64, Vec<f64>)> {
        self.check_sections().ok()?;
        let joints = self.joints();
        let guess = if joints.is_empty() { Vec::new() } else { self.shortest(base) };
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for mut aim in self.aims().ok()? {
            if !joints.is_empty() {
                self.follow(&joints, &guess, &mut aim.ways);
            }
            if let Some(found) = self.solve(base, &[], &mut aim, Some(of), &[1.0], None)
                && found.value > best.0
            {
                let lambda = if found.value.is_finite() { found.lambda } else { Vec::new() };
                best = (found.value, lambda);
            }
        }
        Some(best)
    }
}

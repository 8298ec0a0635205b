//! Balance of forces with friction: which loads can a mechanism carry without moving?
//!
//! ```text
//! h + Σ p_k e_k + Wᵀ λ = 0        loads e_k with unknown factors p_k
//! unilateral  λ_N ≥ 0             bilateral  λ_N of either sign          given  N = load + Σ c λ_N
//! hold        |λ_T| ≤ μ N         slide in direction σ  λ_T = −σ μ N
//! ```
//!
//! For fixed signs of the bilateral normal forces this is a polyhedron in (p, λ): every question (can it stay? the largest
//! factor? the set of directions?) is a linear program, exact also for redundant guides. All sign patterns together are
//! complete. In space the bound is a disc, `|λ_T| ≤ μ N`: margins, limits and certificates come from cone programs ([`super::cones`]); ranges of
//! single forces cut it out by half planes, more of them where a solution lies outside ([`Statics::maximize`]); each cut is tangent to the
//! disc, so that what is left outside falls by a factor of four. Masses do not enter, but as a measure: balances and forces are scaled by inertia ([`Measure`]), so that forces and torques
//! compare in any units. Journals, whose bound is the norm of a vector, are not linear: [`Statics::is_linear`]
//! says so, and the callers then use the transition problem itself.
//!
//! Tolerance: that of [`crate::lcp::lp`], 1e-9 of the largest right side for feasibility, rounding for optimal values.

use crate::contact::Measure;
use crate::lcp::lp::{LpOutcome, Program, Sense};
use crate::system::{ContactInfo, Eval, Normal};

/// What friction does at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Hold {
    /// Anything within the static bound.
    Stick,
    /// Sliding in this direction (±1): force at the sliding bound.
    Slide(f64),
    /// No tangential force.
    Smooth,
}

/// Half planes that bound a disc at first.
const PLANES: usize = 8;
/// Rounds of cuts.
const ROUNDS: usize = 60;
/// A force outside its disc by this part of the largest is inside.
const OUTSIDE: f64 = 1e-12;
/// Outside by so little that a program which fails says nothing.
const NEARLY: f64 = 1e-5;

/// Most contacts whose normal force may have either sign: 2¹⁶ patterns.
pub(crate) const MAX_SIGNED: usize = 16;

/// The balance at one configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Statics<'a> {
    /// The contacts.
    pub info: &'a [ContactInfo],
    /// The system there.
    pub eval: &'a Eval,
    /// Contacts that take part.
    pub closed: &'a [bool],
    /// False: given loads count as zero (the limit of very large forces).
    pub loads: bool,
}

/// An interval; ends may be infinite.
pub(crate) type Interval = [f64; 2];

impl Statics<'_> {
    /// Whether contact `i` rubs.
    pub(crate) fn rubs(&self, i: usize) -> bool {
        let c = &self.info[i];
        self.takes_part(i)
            && c.friction
            && !c.tangent.is_empty()
            && (self.eval.mu[i] > 0.0 || self.eval.mu_static[i] > 0.0)
    }

    /// Whether contact `i` takes part.
    pub(crate) fn takes_part(&self, i: usize) -> bool {
        self.closed[i] || self.info[i].is_bilateral()
    }

    /// Whether contact `i` rubs in two directions.
    fn is_disc(&self, i: usize) -> bool {
        self.info[i].tangent.len() == 2 && self.rubs(i)
    }

    /// Size of the tangential force of contact `i`.
    pub(crate) fn held(&self, i: usize, lambda: &[f64]) -> f64 {
        self.info[i].tangent.iter().map(|&t| lambda[t].powi(2)).sum::<f64>().sqrt()
    }

    /// 1 when given loads count, else 0.
    pub(crate) fn given(&self) -> f64 {
        f64::from(u8::from(self.loads))
    }

    /// Whether no journal rubs.
    pub(crate) fn is_linear(&self) -> bool {
        (0..self.info.len())
            .filter(|&i| self.rubs(i))
            .all(|i| self.eval.bound_terms(self.info, i).all(|(j, _)| self.info[j].normal_row().is_some()))
    }

    /// Rubbing contacts whose normal force has an unknown sign.
    pub(crate) fn signed(&self) -> Vec<usize> {
        (0..self.info.len()).filter(|&i| self.rubs(i)).filter(|&i| self.is_signed(i)).collect()
    }

    fn is_signed(&self, i: usize) -> bool {
        matches!(self.info[i].normal, Normal::Bilateral { .. }) || !self.info[i].load_on.is_empty()
    }

    /// Every sign pattern, as a list per contact (1 for contacts without choice); `None` when there are too many.
    pub(crate) fn patterns(&self) -> Option<Vec<Vec<f64>>> {
        let signed = self.signed();
        if signed.len() > MAX_SIGNED {
            return None;
        }
        let one = |bits: usize| {
            let mut signs = vec![1.0; self.info.len()];
            for (k, &i) in signed.iter().enumerate() {
                if bits >> k & 1 == 1 {
                    signs[i] = -1.0;
                }
            }
            signs
        };
        Some((0..1_usize << signed.len()).map(one).collect())
    }

    /// Variables of a program with `k` factors: the factors, then λ of every row.
    fn width(&self, k: usize) -> usize {
        k + self.eval.w.rows()
    }

    /// The program of a sign pattern: factors of `columns` are the first variables.
    pub(crate) fn program(
        &self,
        base: &[f64],
        columns: &[Vec<f64>],
        hold: &[Hold],
        signs: &[f64],
    ) -> Program {
        self.build(base, columns, hold, signs, &[])
    }

    // `loose`: contacts whose friction bounds must leave this multiple of the first variable free
    fn build(
        &self,
        base: &[f64],
        columns: &[Vec<f64>],
        hold: &[Hold],
        signs: &[f64],
        loose: &[(usize, f64)],
    ) -> Program {
        let (k, n) = (columns.len(), self.eval.h.len());
        let width = self.width(k);
        let mut program = Program::new(width);
        let measure = Measure::of(self.eval);
        for (row, size) in measure.row.iter().enumerate() {
            program.set_unit(k + row, 1.0 / size);
        }
        // factors of loads that belong together (two directions of a force) keep one measure
        let sizes =
            columns.iter().flat_map(|c| c.iter().zip(&measure.coordinate).map(|(e, unit)| (e / unit).abs()));
        let largest = sizes.fold(0.0, f64::max);
        for j in 0..k {
            program.set_free(j).set_unit(j, if largest > 0.0 { 1.0 / largest } else { 1.0 });
        }
        let mut active = vec![false; self.eval.w.rows()];
        for (i, c) in self.info.iter().enumerate().filter(|&(i, _)| self.takes_part(i)) {
            for &row in c.normal_rows() {
                active[row] = true;
                if c.is_bilateral() {
                    program.set_free(k + row);
                }
            }
            if self.rubs(i) && hold[i] != Hold::Smooth {
                for &t in &c.tangent {
                    active[t] = true;
                    program.set_free(k + t);
                }
            }
        }

        // balance
        for d in 0..n {
            let mut a = vec![0.0; width];
            for (j, column) in columns.iter().enumerate() {
                a[j] = column[d];
            }
            for (row, _) in active.iter().enumerate().filter(|(_, on)| **on) {
                a[k + row] = self.eval.w[(row, d)];
            }
            if a.iter().any(|&v| v != 0.0) || base[d] != 0.0 {
                let size = 1.0 / measure.coordinate[d];
                a.iter_mut().for_each(|v| *v *= size);
                program.row(&a, Sense::Equal, -size * base[d]);
            }
        }
        // friction
        for i in (0..self.info.len()).filter(|&i| self.rubs(i)) {
            let free = loose.iter().find(|l| l.0 == i).map_or(0.0, |l| l.1);
            let size = measure.row[self.info[i].tangent[0]];
            self.friction_rows(&mut program, k, i, hold[i], signs[i], free, size);
        }
        program
    }

    // `size`: that of the tangent
    fn friction_rows(
        &self,
        program: &mut Program,
        k: usize,
        i: usize,
        hold: Hold,
        sign: f64,
        free: f64,
        size: f64,
    ) {
        let mut push = |(a, b): (Vec<f64>, f64), sense: Sense| {
            let a: Vec<f64> = a.iter().map(|v| size * v).collect();
            program.row(&a, sense, size * b);
        };
        // the assumed sign
        if self.is_signed(i) {
            let (terms, constant) = self.load_terms(k, i, hold == Hold::Stick);
            push((terms.iter().map(|t| sign * t).collect(), -sign * constant), Sense::AtLeast);
        }
        match hold {
            Hold::Stick if self.is_disc(i) => {
                for part in 0..PLANES {
                    let angle = std::f64::consts::TAU * part as f64 / PLANES as f64;
                    push(self.plane(k, i, sign, free, [angle.cos(), angle.sin()]), Sense::AtLeast);
                }
            }
            Hold::Stick => {
                for own in [1.0, -1.0] {
                    push(self.plane(k, i, sign, free, [own, 0.0]), Sense::AtLeast);
                }
            }
            // λ_T + σ μ N = 0
            Hold::Slide(direction) => {
                let mu = direction.signum() * self.eval.mu[i];
                push(self.bound_row(k, i, sign, [1.0, 0.0], mu, false), Sense::Equal);
            }
            Hold::Smooth => {}
        }
    }

    /// N of contact `i`, without its sign: coefficients of all variables, and a constant.
    fn load_terms(&self, k: usize, i: usize, is_static: bool) -> (Vec<f64>, f64) {
        let mut terms = vec![0.0; self.width(k)];
        for (j, c) in self.eval.bound_terms(self.info, i) {
            self.info[j].normal_row().into_iter().for_each(|row| terms[k + row] += c);
        }
        (terms, self.given() * self.eval.bound_given(i, is_static))
    }

    /// `own·λ_T + μ N`, and minus its constant.
    fn bound_row(
        &self,
        k: usize,
        i: usize,
        sign: f64,
        own: [f64; 2],
        mu: f64,
        is_static: bool,
    ) -> (Vec<f64>, f64) {
        let (terms, mut constant) = self.load_terms(k, i, is_static);
        let factor = match (self.info[i].is_given(), self.is_signed(i)) {
            (true, true) => sign.max(0.0),
            (true, false) => {
                constant = constant.max(0.0);
                1.0
            }
            _ => sign,
        };
        let mut a: Vec<f64> = terms.iter().map(|v| mu * factor * v).collect();
        for (&t, own) in self.info[i].tangent.iter().zip(own) {
            a[k + t] += own;
        }
        (a, -mu * factor * constant)
    }

    /// `own·λ_T + μ₀ N − free p₀ ≥ 0`.
    fn plane(&self, k: usize, i: usize, sign: f64, free: f64, own: [f64; 2]) -> (Vec<f64>, f64) {
        let (mut a, b) = self.bound_row(k, i, sign, own, self.eval.mu_static[i], true);
        if free > 0.0 {
            a[0] = -free;
        }
        (a, b)
    }

    /// The largest value of `c`, contacts sticking; discs are cut where the solution lies outside. `k`: number of factors.
    pub(crate) fn maximize(
        &self,
        program: &mut Program,
        c: &[f64],
        k: usize,
        signs: &[f64],
        loose: &[(usize, f64)],
    ) -> (LpOutcome, Vec<f64>) {
        let discs: Vec<usize> = (0..self.info.len()).filter(|&i| self.is_disc(i)).collect();
        let mut best = program.maximize(c);
        if discs.is_empty() {
            return best;
        }
        let row = Measure::of(self.eval).row;
        for _ in 0..ROUNDS {
            if !matches!(best.0, LpOutcome::Optimal { .. }) {
                break;
            }
            let lambda = &best.1[k..];
            let size = lambda.iter().zip(&row).fold(0.0_f64, |m, (l, d)| m.max((l * d).abs()));
            let mut worst = 0.0_f64;
            for &i in &discs {
                let (held, t) = (self.held(i, lambda), &self.info[i].tangent);
                let free = loose.iter().find(|l| l.0 == i).map_or(0.0, |l| l.1);
                let own = [0, 1].map(|j| if held > 0.0 { -lambda[t[j]] / held } else { 0.0 });
                let (a, b) = self.plane(k, i, signs[i], free, own);
                let left: f64 = a.iter().zip(&best.1).map(|(a, x)| a * x).sum::<f64>() - b;
                if held > 0.0 && row[t[0]] * left < -OUTSIDE * size {
                    let a: Vec<f64> = a.iter().map(|v| row[t[0]] * v).collect();
                    program.row(&a, Sense::AtLeast, row[t[0]] * b);
                    worst = worst.max(-row[t[0]] * left / size);
                }
            }
            if worst == 0.0 {
                break;
            }
            // cuts beside each other may be too much for a program; what was found before is then good enough
            match program.maximize(c) {
                (LpOutcome::Optimal { value }, x) => best = (LpOutcome::Optimal { value }, x),
                _ if worst <= NEARLY => break,
                other => return other,
            }
        }
        best
    }

    /// Whether the forces `base` can be carried with every contact holding; `None` for too many patterns.
    pub(crate) fn can_stay(&self, base: &[f64]) -> Option<bool> {
        if self.has_discs() {
            return self.stand(base).ok().map(|s| s.stays());
        }
        let hold = vec![Hold::Stick; self.info.len()];
        let zero = vec![0.0; self.width(0)];
        let patterns = self.patterns()?;
        Some(patterns.iter().any(|signs| {
            let (outcome, _) = self.program(base, &[], &hold, signs).maximize(&zero);
            matches!(outcome, LpOutcome::Optimal { .. } | LpOutcome::Unbounded)
        }))
    }

    /// How far inside the friction bounds of the contacts `of` (with weights) the best balance of `base` lies, by the smallest weighted distance
    /// over them, and the forces λ of that balance: negative when the forces cannot be carried, −∞ (no forces) when not even with unlimited
    /// friction, +∞ when contacts can brace each other. Other contacts keep their bounds.
    pub(crate) fn margin(&self, base: &[f64], of: &[(usize, f64)]) -> Option<(f64, Vec<f64>)> {
        if self.has_discs() {
            return self.margin_in_cones(base, of);
        }
        let hold = vec![Hold::Stick; self.info.len()];
        // the common slack is one more load that acts on no coordinate
        let slack = [vec![0.0; self.eval.h.len()]];
        let mut c = vec![0.0; self.width(1)];
        c[0] = 1.0;
        let mut best = (f64::NEG_INFINITY, Vec::new());
        for signs in self.patterns()? {
            let mut program = self.build(base, &slack, &hold, &signs, of);
            let (outcome, x) = self.maximize(&mut program, &c, 1, &signs, of);
            let value = match outcome {
                LpOutcome::Optimal { value } => value,
                LpOutcome::Unbounded => f64::INFINITY,
                _ => continue,
            };
            if value > best.0 {
                best = (value, x[1..].to_vec());
            }
        }
        Some(best)
    }

    /// Friction bounds μ N of the contacts `of` in a balance λ.
    pub(crate) fn bounds(&self, lambda: &[f64], of: &[usize]) -> Vec<f64> {
        let force = |i: usize| self.eval.bound_force(self.info, i, true, self.given(), lambda);
        let one = |i: usize| self.eval.mu_static[i] * force(i).abs();
        of.iter().map(|&i| if self.rubs(i) { one(i) } else { 0.0 }).collect()
    }

    /// Factor on the friction of the contacts `of` with which the balance λ just holds: the largest |λ_T|/(μ N). Contacts without force,
    /// up to rounding of the largest, do not count.
    pub(crate) fn utilisation(&self, lambda: &[f64], of: &[usize]) -> f64 {
        let row = Measure::of(self.eval).row;
        let rounding = 1e-13 * lambda.iter().zip(&row).fold(0.0_f64, |m, (l, d)| m.max((l * d).abs()));
        let share = |(&i, bound): (&usize, f64)| {
            let (t, held) = (self.info[i].tangent[0], self.held(i, lambda));
            if row[t] * held <= rounding { 0.0 } else { held / bound }
        };
        let rubbing: Vec<usize> = of.iter().copied().filter(|&i| self.rubs(i)).collect();
        let bounds = self.bounds(lambda, &rubbing);
        rubbing.iter().zip(bounds).map(share).fold(0.0, f64::max)
    }

    /// Factors p for which `base + p e` can be carried: disjoint intervals in rising order.
    pub(crate) fn intervals(&self, base: &[f64], e: &[f64], hold: &[Hold]) -> Option<Vec<Interval>> {
        if self.has_discs() && hold.iter().all(|h| *h == Hold::Stick) {
            return self.held_intervals(base, e).ok();
        }
        let columns = [e.to_vec()];
        let mut found = Vec::new();
        for signs in self.patterns()? {
            let mut program = self.program(base, &columns, hold, &signs);
            let mut end = |s: f64| {
                let mut c = vec![0.0; self.width(1)];
                c[0] = s;
                match self.maximize(&mut program, &c, 1, &signs, &[]).0 {
                    LpOutcome::Optimal { value } => Some(s * value),
                    LpOutcome::Unbounded => Some(s * f64::INFINITY),
                    _ => None,
                }
            };
            if let (Some(lo), Some(hi)) = (end(-1.0), end(1.0)) {
                found.push([lo.min(hi), hi.max(lo)]);
            }
        }
        Some(merge(found))
    }
}

/// Disjoint intervals in rising order; those that touch (to 1e-12 of their size) become one.
pub(crate) fn merge(mut list: Vec<Interval>) -> Vec<Interval> {
    list.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let mut out: Vec<Interval> = Vec::new();
    for [lo, hi] in list {
        match out.last_mut() {
            Some(last) if lo <= last[1] + 1e-12 * (lo.abs() + last[1].abs()) || lo == last[1] => {
                last[1] = last[1].max(hi);
            }
            _ => out.push([lo, hi]),
        }
    }
    out
}

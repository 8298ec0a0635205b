//! Rest with friction is a set: how far it reaches, how far inside a state is, which forces it admits (METH-REST-SET)
//!
//! ```text
//! h + (∂h/∂q) δq + Wᵀ λ = 0,   gaps of closed contacts 0,   |λ_T| ≤ μ₀ N
//! ```
//!
//! is a polyhedron in (δq, λ) for every sign pattern of the two-sided contacts: the ends of every coordinate are linear programs. Where forces or shapes are not
//! linear in q the programs are solved again at the end they found until it stands still (`exact` is then false: the end of what can be reached
//! from here). Margin and safety are those of the present positions.

use super::AnalysisError;
use super::linear::{Column, Hold as Held, Linear, Way};
use super::statics::{Hold, Statics, merge};
use crate::lcp::lp::{LpOutcome, Program, Sense};
use crate::linalg::max_abs;
use crate::system::{Section, State, System};

/// A contact, its normal force and those along its tangents, smallest and largest.
type Ranges = (usize, [f64; 2], Vec<[f64; 2]>);

/// The set of rest around a state.
#[derive(Clone, Debug)]
pub(crate) struct Bands {
    /// Ends of every coordinate; none when there is no rest anywhere.
    pub ends: Option<Vec<[f64; 2]>>,
    /// Whether all equations are linear in the positions, so that the ends are those of the whole set.
    pub exact: bool,
    /// Distance from slipping, N; negative when the state cannot rest.
    pub margin: f64,
    /// Contacts that slip first.
    pub first: Vec<usize>,
    /// Factor by which all friction may fall.
    pub friction: f64,
    /// The same for each rubbing contact alone.
    pub single: Vec<(usize, f64)>,
    /// Normal force of every closed contact, smallest and largest, and tangential force.
    pub forces: Vec<Ranges>,
    /// Contacts that rub and are closed.
    pub stuck: Vec<usize>,
}

/// The state must be at rest; `closed`: contacts that touch.
///
/// # Errors
///
/// Journals that rub, friction that differs with the direction, too many two-sided contacts.
pub(crate) fn bands<S: System + ?Sized>(
    sys: &S,
    state: &State,
    closed: &[bool],
) -> Result<Bands, AnalysisError> {
    let mut linear = Linear::new(sys, state.clone());
    linear.state.u.fill(0.0);
    linear.hold(&held(sys, closed));
    let round = |i: usize| {
        linear.eval.section(i) == Section::Round && linear.eval.lean.get(i).is_none_or(|l| *l == 0.0)
    };
    if let Some(i) = (0..linear.info.len()).find(|&i| linear.info[i].friction && !round(i)) {
        return Err(AnalysisError::Key(format!(
            "contact `{}` does not rub alike in all directions; sets of rest are for isotropic friction",
            linear.info[i].name
        )));
    }
    let info = linear.info;
    let stuck: Vec<usize> = {
        let statics = Statics { info, eval: &linear.eval, closed, loads: true };
        if !statics.is_linear() {
            return Err(AnalysisError::Key(
                "a journal rubs: its bound is the norm of a force, and the set of rest is no polyhedron; ask `rest` instead".into(),
            ));
        }
        (0..info.len()).filter(|&i| statics.rubs(i)).collect()
    };
    let too_many = || AnalysisError::TooMany { pairs: info.len(), limit: super::statics::MAX_SIGNED };
    let h = linear.eval.h.clone();

    // at the present positions
    let statics = Statics { info, eval: &linear.eval, closed, loads: true };
    let weights: Vec<(usize, f64)> = stuck.iter().map(|&i| (i, 1.0)).collect();
    let (margin, lambda) = match stuck.is_empty() {
        true => {
            let stays = statics.can_stay(&h).ok_or_else(too_many)?;
            (if stays { f64::INFINITY } else { f64::NEG_INFINITY }, Vec::new())
        }
        false => statics.margin(&h, &weights).ok_or_else(too_many)?,
    };
    let first = tightest(&statics, &stuck, &lambda, margin);
    let forces = ranges(&statics, &h).ok_or_else(too_many)?;
    let friction = fall(&linear, closed, &h, &stuck);
    let single = stuck.iter().map(|&i| (i, fall(&linear, closed, &h, &[i]))).collect();

    // ends of every coordinate
    let n = linear.dims.u.min(linear.dims.q);
    let (mut ends, mut exact) = (Some(Vec::new()), true);
    for k in 0..n {
        let mut pair = [0.0; 2];
        for (end, side) in pair.iter_mut().zip([-1.0, 1.0]) {
            match reach(sys, state, closed, k, side)? {
                Some((value, linear)) => (*end, exact) = (value, exact && linear),
                None => ends = None,
            }
        }
        if let Some(ends) = &mut ends {
            ends.push(pair);
        }
    }
    Ok(Bands { ends, exact, margin, first, friction, single, forces, stuck })
}

fn held<S: System + ?Sized>(sys: &S, closed: &[bool]) -> Vec<Held> {
    let one = |(i, c): (usize, &crate::system::ContactInfo)| match (closed[i] || c.is_bilateral(), c.friction)
    {
        (false, _) => Held::Open,
        (true, true) if !c.tangent.is_empty() => Held::Stick,
        (true, _) => Held::Smooth,
    };
    sys.contacts().iter().enumerate().map(one).collect()
}

/// Contacts whose slack is the common one.
fn tightest(statics: &Statics<'_>, stuck: &[usize], lambda: &[f64], margin: f64) -> Vec<usize> {
    if lambda.is_empty() || !margin.is_finite() {
        return Vec::new();
    }
    let bounds = statics.bounds(lambda, stuck);
    let slack = |(i, bound): (&usize, &f64)| bound - statics.held(*i, lambda);
    let size = bounds.iter().copied().fold(margin.abs(), f64::max);
    stuck.iter().zip(&bounds).filter(|p| slack(*p) <= margin + 1e-7 * size).map(|p| *p.0).collect()
}

/// Smallest and largest forces at the present positions.
fn ranges(statics: &Statics<'_>, h: &[f64]) -> Option<Vec<Ranges>> {
    let hold = vec![Hold::Stick; statics.info.len()];
    let patterns = statics.patterns()?;
    let mut programs: Vec<Program> =
        patterns.iter().map(|signs| statics.program(h, &[], &hold, signs)).collect();
    let width = statics.eval.w.rows();
    let mut range = |row: usize| {
        let mut found = Vec::new();
        for (program, signs) in programs.iter_mut().zip(&patterns) {
            let mut end = |s: f64| {
                let mut c = vec![0.0; width];
                c[row] = s;
                match statics.maximize(program, &c, 0, signs, &[]).0 {
                    LpOutcome::Optimal { value } => Some(s * value),
                    LpOutcome::Unbounded => Some(s * f64::INFINITY),
                    _ => None,
                }
            };
            if let (Some(low), Some(high)) = (end(-1.0), end(1.0)) {
                found.push([low, high]);
            }
        }
        let all = merge(found);
        match (all.first(), all.last()) {
            (Some(a), Some(b)) => [a[0], b[1]],
            _ => [f64::NAN; 2],
        }
    };
    let contacts = (0..statics.info.len()).filter(|&i| statics.takes_part(i));
    let of = |i: usize| {
        let c = &statics.info[i];
        let normal = match c.normal_rows() {
            [row] => range(*row),
            _ if c.is_given() => [statics.eval.load[i]; 2],
            _ => [f64::NAN; 2],
        };
        let tangential = match statics.rubs(i) {
            true => c.tangent.iter().map(|&row| range(row)).collect(),
            false => vec![[0.0; 2]],
        };
        (i, normal, tangential)
    };
    Some(contacts.map(of).collect())
}

/// Factor by which the friction of some contacts may fall before rest ends; below 1: it must rise by its inverse.
fn fall<S: System + ?Sized>(linear: &Linear<'_, S>, closed: &[bool], h: &[f64], of: &[usize]) -> f64 {
    let mut eval = linear.eval.clone();
    let mut stays = |factor: f64| {
        for &i in of {
            eval.mu_static[i] = factor * linear.eval.mu_static[i];
            eval.mu[i] = factor * linear.eval.mu[i];
        }
        let statics = Statics { info: linear.info, eval: &eval, closed, loads: true };
        // a contact without friction must still be balanced
        statics.can_stay(h).unwrap_or(false)
    };
    if of.is_empty() {
        return if stays(1.0) { f64::INFINITY } else { 0.0 };
    }
    if stays(1e-12) {
        return f64::INFINITY;
    }
    // the least factor with which it stays
    let mut high = 1.0;
    while !stays(high) {
        high *= 4.0;
        if high > 1e9 {
            return 0.0;
        }
    }
    let mut low = if high > 1.0 { 0.25 * high } else { 0.0 };
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        if high - low <= 1e-15 * high || mid == low || mid == high {
            break;
        }
        if stays(mid) { high = mid } else { low = mid }
    }
    1.0 / high
}

/// The end of coordinate `k` on one side, and whether everything was linear; `None`: no rest anywhere.
fn reach<S: System + ?Sized>(
    sys: &S,
    state: &State,
    closed: &[bool],
    k: usize,
    side: f64,
) -> Result<Option<(f64, bool)>, AnalysisError> {
    let mut linear = Linear::new(sys, state.clone());
    linear.state.u.fill(0.0);
    let hold = held(sys, closed);
    let (n, rows) = (linear.dims.u, linear.dims.rows);
    let mut steps = 0;
    let mut last = f64::INFINITY;
    loop {
        linear.hold(&hold);
        let mut columns = Vec::with_capacity(n);
        let mut gaps = Vec::with_capacity(n);
        let mut column = Column::default();
        for j in 0..n {
            linear.column(Way::Position(j), &mut column)?;
            columns.push(column.force.clone());
            gaps.push(column.gap.clone());
        }
        let statics = Statics { info: linear.info, eval: &linear.eval, closed, loads: true };
        let Some(patterns) = statics.patterns() else { return Ok(None) };
        let sticking = vec![Hold::Stick; linear.info.len()];
        let mut best: Option<(f64, Vec<f64>)> = None;
        for signs in patterns {
            let mut program = statics.program(&linear.eval.h, &columns, &sticking, &signs);
            let closed = |(i, c): &(usize, &crate::system::ContactInfo)| closed[*i] || c.is_bilateral();
            for (_, c) in linear.info.iter().enumerate().filter(closed) {
                for &row in c.normal_rows() {
                    let mut a: Vec<f64> = gaps.iter().map(|g| g[row]).collect();
                    a.resize(n + rows, 0.0);
                    let size = max_abs(&a);
                    if size > 0.0 {
                        a.iter_mut().for_each(|v| *v /= size);
                        program.row(&a, Sense::Equal, -linear.eval.gap[row] / size);
                    }
                }
            }
            let mut c = vec![0.0; n + rows];
            c[k] = side;
            match statics.maximize(&mut program, &c, n, &signs, &[]) {
                (LpOutcome::Optimal { value }, x) if best.as_ref().is_none_or(|b| value > b.0) => {
                    best = Some((value, x));
                }
                (LpOutcome::Unbounded, _) => return Ok(Some((side * f64::INFINITY, steps == 0))),
                _ => {}
            }
        }
        let Some((_, x)) = best else { return Ok(None) };
        // discs are cut to the tolerance of the programs, and at the end of a round set the other coordinates are known to its root only
        let discs = linear.info.iter().any(|c| c.tangent.len() > 1);
        let (step, near) = if discs { (x[k].abs(), 1e-8) } else { (max_abs(&x[..n]), 1e-11) };
        linear.sys.move_by(&mut linear.state.q, &x[..n]);
        linear.lambda.copy_from_slice(&x[n..n + rows]);
        steps += 1;
        let size = max_abs(&linear.state.q).max(f64::MIN_POSITIVE);
        if step <= near * size || steps >= 60 || (steps > 20 && step >= last) {
            return Ok(Some((linear.state.q[k], steps <= 2)));
        }
        last = step;
    }
}

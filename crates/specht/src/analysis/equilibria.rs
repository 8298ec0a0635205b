//! Equilibria without friction: all of them, their stability, and their branches over a parameter (PG-13.1-DAMPER-EQ)
//!
//! *All*: Newton's method from many starts in a box around the start of the file, contacts closing and opening as needed
//! ([`equilibrium`]); what differs by a neutral displacement is one. *Branches*: [`super::branch`].

use super::AnalysisError;
use super::balance::Balance;
use super::linear::spectrum::sort;
use crate::linalg::{Complex, FullPivot, dot, eigenvalues, max_abs};
use crate::sim::start::{equilibrium, equilibrium_within};
use crate::sim::tolerances::GAP_ZERO;
use crate::system::{Normal, State, System};

/// An equilibrium.
#[derive(Clone, Debug)]
pub(crate) struct Equilibrium {
    /// The state.
    pub state: State,
    /// Contacts that are closed.
    pub closed: Vec<bool>,
    /// Force of every row.
    pub lambda: Vec<f64>,
    /// No perturbation grows.
    pub stable: bool,
    /// Largest real part first.
    pub eigenvalues: Vec<Complex>,
    /// Number of independent displacements after which it is an equilibrium too.
    pub neutral: usize,
}

/// Growth below this fraction of the fastest eigenvalue is rounding.
pub(crate) const GROWTH: f64 = 1e-7;

/// Which contacts carry or touch at a state.
pub(crate) fn touching<S: System + ?Sized>(sys: &S, state: &State) -> Vec<bool> {
    let mut eval = sys.memory();
    let discrete = crate::system::Discrete::new(&sys.dims());
    sys.evaluate(state, &discrete, &mut eval);
    let closed = |normal: &Normal| match *normal {
        Normal::Unilateral { row } => eval.gap[row] <= GAP_ZERO * sys.gap_scale(row),
        Normal::Given { .. } => false,
        _ => true,
    };
    sys.contacts().iter().map(|c| closed(&c.normal)).collect()
}

/// The finding at an equilibrium; `None` when the forces are not in balance there after all (curves that touch elsewhere than the search thought).
///
/// # Errors
///
/// No derivatives, no freedom, a singular mass matrix.
pub(crate) fn describe<S: System + ?Sized>(
    sys: &S,
    state: State,
) -> Result<Option<Equilibrium>, AnalysisError> {
    let closed = touching(sys, &state);
    let mut balance = Balance::new(sys, &state, &closed)?;
    // by what a displacement of its size would do: forces that balance are small themselves
    if max_abs(&balance.residual()) > 1e-6 {
        return Ok(None);
    }
    balanced(state, closed, balance).map(Some)
}

/// The same where the balance is known.
///
/// # Errors
///
/// As [`describe`].
pub(crate) fn balanced<S: System + ?Sized>(
    state: State,
    closed: Vec<bool>,
    mut balance: Balance<'_, S>,
) -> Result<Equilibrium, AnalysisError> {
    let mut pivot = FullPivot::default();
    let jacobian = balance.jacobian()?;
    pivot.factor(&jacobian);
    let neutral = pivot.nullity();
    // reactions alone may be undetermined: count displacements
    let n = balance.linear.dims.u;
    let moves = |row: &[f64]| dot(&row[..n], &row[..n]) > 1e-12;
    let neutral = (0..neutral).filter(|&k| moves(pivot.null().row(k))).count();
    let (stable, eigenvalues) = match balance.linear.reduced(true) {
        Ok(reduced) => {
            let mut all = eigenvalues(&reduced.a).ok_or_else(|| AnalysisError::NotFinite(String::new()))?;
            sort(&mut all);
            (is_stable(&all), all)
        }
        // nothing can move
        Err(AnalysisError::NoFreedom { .. }) => (true, Vec::new()),
        Err(e) => return Err(e),
    };
    let lambda = balance.linear.lambda.clone();
    Ok(Equilibrium { state, closed, lambda, stable, eigenvalues, neutral })
}

/// Whether nothing grows beyond rounding.
pub(crate) fn is_stable(values: &[Complex]) -> bool {
    let size = values.iter().map(Complex::abs).fold(0.0, f64::max);
    values.iter().all(|v| v.re <= GROWTH * size)
}

/// Steps of Newton from one of many starts, and halvings of each.
const EFFORT: [usize; 2] = [24, 8];

/// Parts of the box by which one coordinate at a time is moved away from an equilibrium to find others.
const AWAY: [f64; 5] = [0.02, 0.08, 0.2, 0.5, 0.9];

/// Equilibria near `near`, or with `scattered` starts everywhere in a box: from there, and from every one found with one coordinate
/// moved. `reach`: half width of the box of every coordinate.
///
/// # Errors
///
/// None is found from any start: the error of the first.
pub(crate) fn all<S: System + ?Sized>(
    sys: &S,
    near: &State,
    closed: &[usize],
    reach: &[f64],
    scattered: Option<usize>,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Equilibrium>, AnalysisError> {
    let mut search = Search { sys, near, closed, reach, found: Vec::new(), first_error: None };
    search.from(near, false)?;
    for k in 1..=scattered.unwrap_or(0) {
        if stop() {
            break;
        }
        let mut start = near.clone();
        for (j, (q, r)) in start.q.iter_mut().zip(reach).enumerate() {
            *q += r * (2.0 * halton(k, j) - 1.0);
        }
        search.from(&start, true)?;
    }
    let mut done = 0;
    while scattered.is_some() && done < search.found.len() && !stop() {
        let here = search.found[done].state.clone();
        for (j, part) in (0..reach.len()).flat_map(|j| AWAY.map(|part| (j, part))) {
            for side in [-1.0, 1.0] {
                let mut start = here.clone();
                start.q[j] += side * part * reach[j];
                search.from(&start, true)?;
            }
        }
        done += 1;
    }
    let Search { mut found, first_error, .. } = search;
    if let (true, Some(e)) = (found.is_empty(), first_error) {
        return Err(e);
    }
    found.sort_by(|a, b| {
        let order = |(a, b): (&f64, &f64), r: f64| match (a - b).abs() <= 1e-7 * r {
            true => std::cmp::Ordering::Equal,
            false => a.total_cmp(b),
        };
        let mut pairs = a.state.q.iter().zip(&b.state.q).zip(reach).map(|(pair, r)| order(pair, *r));
        pairs.find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
    Ok(found)
}

struct Search<'a, S: System + ?Sized> {
    sys: &'a S,
    near: &'a State,
    closed: &'a [usize],
    reach: &'a [f64],
    found: Vec<Equilibrium>,
    first_error: Option<AnalysisError>,
}

impl<S: System + ?Sized> Search<'_, S> {
    /// Look from a start; `inside`: what lies outside the box does not count.
    fn from(&mut self, start: &State, inside: bool) -> Result<(), AnalysisError> {
        let found = match inside {
            true => equilibrium_within(self.sys, start, self.closed, EFFORT),
            false => equilibrium(self.sys, start, self.closed),
        };
        let state = match found {
            Ok(state) => state,
            Err(e) => {
                self.first_error.get_or_insert(e.into());
                return Ok(());
            }
        };
        let within = |((q, c), r): ((&f64, &f64), &f64)| (q - c).abs() <= r * (1.0 + 1e-9);
        if inside && !state.q.iter().zip(&self.near.q).zip(self.reach).all(within) {
            return Ok(());
        }
        if self.found.iter().any(|e| same(&e.state, &state, self.reach)) {
            return Ok(());
        }
        let Some(one) = describe(self.sys, state)? else { return Ok(()) };
        let family = |e: &Equilibrium| {
            one.neutral > 0 && e.neutral > 0 && e.closed == one.closed && alike(self.sys, e, &one)
        };
        if !self.found.iter().any(family) {
            self.found.push(one);
        }
        Ok(())
    }
}

fn same(a: &State, b: &State, reach: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64), r: f64| (a - b).abs() <= 1e-6 * r;
    a.q.iter().zip(&b.q).zip(reach.iter().chain(std::iter::repeat(&1.0))).all(|(pair, r)| near(pair, *r))
        && a.z.iter().zip(&b.z).all(|(x, y)| (x - y).abs() <= 1e-6 * (x.abs() + y.abs()))
}

/// Whether two neutral equilibria have the same eigenvalues and energies: members of one family.
fn alike<S: System + ?Sized>(sys: &S, a: &Equilibrium, b: &Equilibrium) -> bool {
    let energy = |s: &State| {
        let mut eval = sys.memory();
        sys.evaluate(s, &crate::system::Discrete::new(&sys.dims()), &mut eval);
        eval.potential
    };
    let (x, y) = (energy(&a.state), energy(&b.state));
    let close = |x: f64, y: f64, size: f64| (x - y).abs() <= 1e-6 * size;
    let size = a.eigenvalues.iter().map(Complex::abs).fold(0.0, f64::max);
    a.eigenvalues.len() == b.eigenvalues.len()
        && close(x, y, x.abs().max(y.abs()).max(f64::MIN_POSITIVE))
        && a.eigenvalues
            .iter()
            .zip(&b.eigenvalues)
            .all(|(x, y)| close(x.re, y.re, size) && close(x.im, y.im, size))
}

/// The k-th number of the Halton sequence in dimension `j`.
fn halton(k: usize, j: usize) -> f64 {
    const PRIMES: [usize; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];
    let base = PRIMES[j % PRIMES.len()];
    // dimensions beyond the primes are shifted
    let (mut k, mut f, mut x) = (k + 7 * (j / PRIMES.len()), 1.0, 0.0);
    while k > 0 {
        f /= base as f64;
        x += f * (k % base) as f64;
        k /= base;
    }
    x
}

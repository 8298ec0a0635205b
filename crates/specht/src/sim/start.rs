//! The consistent start and equilibria.
//!
//! [`consistent`] moves the coordinates declared as guesses, as little as possible, until all bilateral contacts, pins and
//! contacts declared closed have gap zero (Gauss–Newton with the rows of W as derivatives, steps of minimum norm), then their
//! velocities until the gap rates, and the slip of contacts declared sticking, vanish (linear). [`equilibrium`] moves
//! all coordinates to `h(q, 0) + Wᵀ λ = 0` without friction, with contacts closing and opening as the signs of their gaps and
//! forces demand, by Newton's method with exact derivatives ([`System::tangent`]).
//!
//! A gap between `−10⁻⁹` and `10⁻¹¹` of its size is closed, a slip within `10⁻⁹` of its terms is a candidate for stick.
//! A unilateral contact that starts deeper inside, a bilateral one that starts apart or moving apart is refused with
//! the number: nothing the user gave is ever changed silently.

use crate::linalg::{Effort, Equations, FullPivot, Mat, gauss_newton, max_abs};
use crate::system::{Along, Discrete, Eval, Normal, State, System, Tangent};

use super::classify::Sets;
use super::field::Field;
use super::tolerances::{GAP_CLOSED, GAP_ZERO};
use super::watch::rate_size;

/// Why a run cannot start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// A setting is wrong.
    #[error("{0}")]
    Settings(String),
    /// Sizes of the state do not fit the system.
    #[error("the initial state has {got} {what}, the system {expected}")]
    Size {
        /// What is counted.
        what: &'static str,
        /// Number given.
        got: usize,
        /// Number expected.
        expected: usize,
    },
    /// A number of the state is not finite.
    #[error("the initial state contains a number that is not finite")]
    NotFinite,
    /// A formula has no value.
    #[error("{what} has no finite value at the start")]
    Undefined {
        /// What it is, with its name.
        what: String,
    },
    /// A bilateral contact or pin is apart.
    #[error("the initial state breaks contact `{contact}`: its gap is {gap:.6e} m")]
    Apart {
        /// Name.
        contact: String,
        /// Gap.
        gap: f64,
    },
    /// A bilateral contact or pin moves apart.
    #[error("the initial velocities break contact `{contact}`: its gap changes with {rate:.6e} m/s")]
    Moving {
        /// Name.
        contact: String,
        /// Rate of the gap.
        rate: f64,
    },
    /// A unilateral contact is inside.
    #[error("contact `{contact}` starts {depth:.6e} m inside")]
    Inside {
        /// Name.
        contact: String,
        /// Depth.
        depth: f64,
        /// The velocities that move it; empty: not known.
        moved_by: Vec<usize>,
    },
    /// Two bodies that touch wherever they meet are inside one another.
    #[error("`{a}` and `{b}` start {depth:.6e} m inside one another")]
    Overlap {
        /// Name of one.
        a: String,
        /// Name of the other.
        b: String,
        /// Depth.
        depth: f64,
    },
    /// An equilibrium of a system without [`System::tangent`].
    #[error("the system gives no derivatives, which an equilibrium needs")]
    NoDerivatives,
    /// A friction tensor creates energy at the start.
    #[error(
        "friction tensor of `{contact}` creates energy at the start: its symmetric part has the eigenvalue {eigenvalue:.3e}; all must be ≥ 0"
    )]
    CreatesEnergy {
        /// Name.
        contact: String,
        /// The offending eigenvalue.
        eigenvalue: f64,
    },
    /// A friction tensor has no value at the start.
    #[error(
        "friction tensor of `{contact}` has no finite value at the start: its normal part needs a coefficient along the tangent, and `regular` needs every part of the mechanism to have a mass"
    )]
    NoTensor {
        /// Name.
        contact: String,
    },
    /// The conditions could not be met by moving the free coordinates.
    #[error("the start cannot be made consistent: {0}")]
    Unsolvable(String),
}

/// A contact that is inside, along the row of its gap.
pub(crate) fn inside(contact: String, eval: &Eval, row: usize) -> StartError {
    let w = eval.w.row(row);
    let least = 1e-6 * w.max_abs();
    let moved_by = w.iter().filter(|(_, w)| w.abs() > least).map(|(k, _)| k).collect();
    StartError::Inside { contact, depth: -eval.gap[row], moved_by }
}

pub(crate) fn check_sizes<S: System + ?Sized>(sys: &S, s: &State) -> Result<(), StartError> {
    let d = sys.dims();
    for (what, got, expected) in [
        ("positions", s.q.len(), d.q),
        ("velocities", s.u.len(), d.u),
        ("states", s.z.len(), d.z),
        ("memory values", s.memory.len(), d.memory),
    ] {
        if got != expected {
            return Err(StartError::Size { what, got, expected });
        }
    }
    if !s.t.is_finite() || s.q.iter().chain(&s.u).chain(&s.z).chain(&s.memory).any(|v| !v.is_finite()) {
        return Err(StartError::NotFinite);
    }
    Ok(())
}

/// Set latches and index sets from the numbers of the start.
pub(crate) fn classify<S: System + ?Sized>(field: &mut Field<S>, sets: &mut Sets) -> Result<(), StartError> {
    let modes = field.discrete.modes.clone();
    sets.remember(&modes);
    field.evaluate();
    field.forget();
    let Field { sys, state, discrete, eval, .. } = field;
    sys.latch(state, discrete as &mut Discrete, eval, false);
    field.evaluate();
    if let Some(what) = field.undefined() {
        return Err(StartError::Undefined { what });
    }
    let (eval, u, sizes) = (&field.eval, &field.state.u, &field.watches.scales.gap);
    let scale = |rows: &[usize]| rows.iter().fold(0.0_f64, |m, &r| m.max(rate_size(eval, r, u)));
    for (i, c) in field.info.iter().enumerate() {
        let name = || c.name.clone();
        let rows = c.normal_rows();
        match c.normal {
            Normal::Unilateral { row } => {
                let gap = eval.gap[row];
                let size = sizes[row];
                if gap < -GAP_ZERO * size {
                    return Err(inside(c.name.clone(), eval, row));
                }
                sets.closed[i] = gap <= GAP_CLOSED * size;
                continue;
            }
            Normal::Given { row: Some(_) } => continue,
            _ => {}
        }
        let gap =
            rows.iter().map(|&r| eval.gap[r]).fold(0.0_f64, |m, v| if v.abs() > m.abs() { v } else { m });
        if rows.iter().any(|&r| eval.gap[r].abs() > GAP_ZERO * sizes[r]) {
            return Err(StartError::Apart { contact: name(), gap });
        }
        let rate =
            rows.iter().map(|&r| eval.rate(r, u)).fold(0.0_f64, |m, v| if v.abs() > m.abs() { v } else { m });
        if rate.abs() > GAP_ZERO * scale(rows).max(f64::MIN_POSITIVE) {
            return Err(StartError::Moving { contact: name(), rate });
        }
        sets.closed[i] = true;
    }
    Ok(())
}

/// Make `state` consistent by moving the coordinates in `guess` (indices into q; their velocities move too). `closed` and
/// `sticking` list contacts. Bilateral contacts and pins always count.
pub fn consistent<S: System + ?Sized>(
    sys: &S,
    state: &State,
    guess: &[usize],
    closed: &[usize],
    sticking: &[usize],
) -> Result<State, StartError> {
    consistent_by(sys, state, [guess, guess], closed, sticking)
}

/// The same with one list of coordinates whose positions may move, and one of those whose velocities may.
pub(crate) fn consistent_by<S: System + ?Sized>(
    sys: &S,
    state: &State,
    [positions, velocities]: [&[usize]; 2],
    closed: &[usize],
    sticking: &[usize],
) -> Result<State, StartError> {
    check_sizes(sys, state)?;
    let mut field = Field::new(sys, state.clone());
    let within = |list: &[usize]| list.iter().copied().filter(|&i| i < field.dims.u).collect::<Vec<usize>>();
    let (free, free_rates) = (within(positions), within(velocities));
    let rows = condition_rows(&field, closed);

    // positions
    let error = |field: &Field<S>, r: usize| field.eval.gap[r].abs() / field.watches.scales.gap[r];
    latch_and_evaluate(&mut field);
    let mut closing = Closing { field: &mut field, rows: &rows, free: &free, here: Vec::new() };
    let worst = gauss_newton(&mut closing, Effort { steps: 100, halvings: 30, enough: 1e-15 })?;
    if worst > GAP_ZERO {
        let &(row, contact) =
            rows.iter().max_by(|a, b| error(&field, a.0).total_cmp(&error(&field, b.0))).unwrap_or(&(0, 0));
        let gap = field.eval.gap[row];
        return Err(StartError::Apart { contact: field.info[contact].name.clone(), gap });
    }

    // velocities: linear, once more against rounding
    let mut velocity_rows = rows.clone();
    for &c in sticking {
        velocity_rows.extend(field.info[c].tangent.iter().map(|&r| (r, c)));
    }
    let mut pivot = FullPivot::default();
    for _ in 0..3 {
        if free_rates.is_empty() || velocity_rows.is_empty() {
            break;
        }
        let matrix = Mat::from_fn(velocity_rows.len(), free_rates.len(), |i, j| {
            field.eval.w[(velocity_rows[i].0, free_rates[j])]
        });
        let rhs: Vec<f64> = velocity_rows.iter().map(|&(r, _)| -field.eval.rate(r, &field.state.u)).collect();
        let mut step = vec![0.0; free_rates.len()];
        pivot.factor(&matrix);
        pivot.solve(&rhs, &[], &mut step);
        for (&i, s) in free_rates.iter().zip(&step) {
            field.state.u[i] += s;
        }
        latch_and_evaluate(&mut field);
    }
    for &(r, c) in &velocity_rows {
        let rate = field.eval.rate(r, &field.state.u);
        if rate.abs() > GAP_ZERO * rate_size(&field.eval, r, &field.state.u) {
            return Err(StartError::Moving { contact: field.info[c].name.clone(), rate });
        }
    }
    check_tensors(&field)?;
    Ok(field.state)
}

/// Friction tensors must dissipate (VAG-1, condition ii).
fn check_tensors<S: System + ?Sized>(field: &Field<S>) -> Result<(), StartError> {
    for (i, c) in field.info.iter().enumerate() {
        if field.eval.lean.get(i).is_some_and(|s| !s.is_finite()) {
            return Err(StartError::NoTensor { contact: c.name.clone() });
        }
        let eigenvalue = field.eval.tensor_eigenvalue(i);
        if eigenvalue < 0.0 {
            return Err(StartError::CreatesEnergy { contact: c.name.clone(), eigenvalue });
        }
    }
    Ok(())
}

/// Equilibrium near `state`: all positions (and first-order states) are free, velocities zero, friction off. `closed` lists the
/// unilateral contacts that are tried closed first.
pub fn equilibrium<S: System + ?Sized>(
    sys: &S,
    state: &State,
    closed: &[usize],
) -> Result<State, StartError> {
    equilibrium_within(sys, state, closed, [200, 40])
}

/// The same with a bound on the steps of Newton and on how often each is halved: for many starts of which some lead nowhere.
pub(crate) fn equilibrium_within<S: System + ?Sized>(
    sys: &S,
    state: &State,
    closed: &[usize],
    effort: [usize; 2],
) -> Result<State, StartError> {
    check_sizes(sys, state)?;
    let mut field = Field::new(sys, state.clone());
    field.state.u.fill(0.0);
    let mut active: Vec<usize> = closed.to_vec();
    for _ in 0..2 * field.dims.contacts + 4 {
        let start = field.state.clone();
        let (lambda, rows) = balance(&mut field, &active, effort)?;
        let scale = max_abs(&lambda);
        // contacts that would pull open, contacts that are inside close
        let pulls = rows.iter().zip(&lambda).filter_map(|(&(_, c), &l)| {
            (field.info[c].is_unilateral() && l < -1e-9 * scale).then_some((c, l))
        });
        if let Some((c, _)) = pulls.min_by(|a, b| a.1.total_cmp(&b.1)) {
            active.retain(|&a| a != c);
            field.state = start;
            continue;
        }
        let sizes = &field.watches.scales.gap;
        let inside = field.info.iter().enumerate().filter_map(|(c, i)| match i.normal {
            Normal::Unilateral { row }
                if !active.contains(&c) && field.eval.gap[row] < -GAP_ZERO * sizes[row] =>
            {
                Some((c, field.eval.gap[row]))
            }
            _ => None,
        });
        if let Some((c, _)) = inside.min_by(|a, b| a.1.total_cmp(&b.1)) {
            active.push(c);
            field.state = start;
            continue;
        }
        return Ok(field.state);
    }
    Err(StartError::Unsolvable("the set of closed contacts of the equilibrium does not settle".into()))
}

/// Newton on `(h + Wᵀλ, gaps, ż) = 0` with the given unilateral contacts closed; returns λ and its rows.
fn balance<S: System + ?Sized>(
    field: &mut Field<S>,
    active: &[usize],
    [steps, halvings]: [usize; 2],
) -> Result<(Vec<f64>, Conditions), StartError> {
    let rows = condition_rows(field, active);
    let (n, m) = (field.dims.u, rows.len());
    latch_and_evaluate(field);
    let mut lambda = vec![0.0; m];
    let mut pivot = FullPivot::default();
    // reactions that balance best at the start
    let transposed = Mat::from_fn(n, m, |i, j| field.eval.w[(rows[j].0, i)]);
    pivot.factor(&transposed);
    let rhs: Vec<f64> = field.eval.h.iter().map(|h| -h).collect();
    if m > 0 {
        pivot.solve(&rhs, &[], &mut lambda);
    }
    let mut tangent = Tangent::new(field.sys);
    let sizes = Sizes::new(field, &rows, &lambda, &mut tangent)?;
    let here = (State::default(), Vec::new());
    let mut balancing = Balancing { field, rows, lambda, sizes, tangent, here };
    let worst = gauss_newton(&mut balancing, Effort { steps, halvings, enough: 1e-14 })?;
    let Balancing { lambda, rows, .. } = balancing;
    if !(worst <= 1e-9) {
        return Err(StartError::Unsolvable(format!(
            "no equilibrium found near the given start; unbalanced by {worst:.2e} of the largest force"
        )));
    }
    Ok((lambda, rows))
}

/// The equations of [`consistent`]: positions that close contacts.
struct Closing<'a, 's, S: System + ?Sized> {
    field: &'a mut Field<'s, S>,
    rows: &'a Conditions,
    /// Coordinates that move.
    free: &'a [usize],
    here: Vec<f64>,
}

impl<S: System + ?Sized> Equations for Closing<'_, '_, S> {
    type Error = StartError;

    fn missing(&mut self) -> Vec<f64> {
        let Field { eval, watches, .. } = &*self.field;
        self.rows.iter().map(|&(r, _)| eval.gap[r] / watches.scales.gap[r]).collect()
    }

    fn jacobian(&mut self) -> Result<Mat, StartError> {
        let Field { eval, watches, .. } = &*self.field;
        Ok(Mat::from_fn(self.rows.len(), self.free.len(), |i, j| {
            let row = self.rows[i].0;
            eval.w[(row, self.free[j])] / watches.scales.gap[row]
        }))
    }

    fn stand(&mut self) {
        self.here.clone_from(&self.field.state.q);
    }

    fn go(&mut self, step: &[f64], part: f64) {
        let mut way = vec![0.0; self.field.dims.u];
        self.free.iter().zip(step).for_each(|(&i, s)| way[i] = part * s);
        place(self.field, &self.here, &way, part);
        latch_and_evaluate(self.field);
    }
}

/// The equations of [`equilibrium`]: positions, reactions and states that balance.
struct Balancing<'a, 's, S: System + ?Sized> {
    field: &'a mut Field<'s, S>,
    rows: Conditions,
    lambda: Vec<f64>,
    sizes: Sizes,
    tangent: Tangent,
    here: (State, Vec<f64>),
}

impl<S: System + ?Sized> Equations for Balancing<'_, '_, S> {
    type Error = StartError;

    fn missing(&mut self) -> Vec<f64> {
        residual(self.field, &self.rows, &self.lambda, &self.sizes)
    }

    fn jacobian(&mut self) -> Result<Mat, StartError> {
        balance_jacobian(self.field, &self.rows, &self.lambda, &self.sizes, &mut self.tangent)
    }

    fn stand(&mut self) {
        self.here.0.clone_from(&self.field.state);
        self.here.1.clone_from(&self.lambda);
    }

    fn go(&mut self, step: &[f64], part: f64) {
        let (n, m) = (self.field.dims.u, self.rows.len());
        let scaled: Vec<f64> = step.iter().map(|s| part * s).collect();
        let (here, lambda) = &self.here;
        place(self.field, &here.q, &scaled[..n], part);
        let add = |to: &mut [f64], from: &[f64], by: &[f64]| {
            to.iter_mut().zip(from).zip(by).for_each(|((to, from), by)| *to = from + by);
        };
        add(&mut self.lambda, lambda, &scaled[n..n + m]);
        add(&mut self.field.state.z, &here.z, &scaled[n + m..]);
        latch_and_evaluate(self.field);
    }
}

/// Positions `way` away from `here`; exactly there without a part.
fn place<S: System + ?Sized>(field: &mut Field<S>, here: &[f64], way: &[f64], part: f64) {
    field.state.q.copy_from_slice(here);
    if part != 0.0 {
        field.sys.move_by(&mut field.state.q, way);
    }
}

/// What the forces and the rates of the states are measured by: their largest values and terms at the start and on the way of a first
/// step of Newton. A state may have any unit.
struct Sizes {
    force: f64,
    rates: Vec<f64>,
}

impl Sizes {
    fn new<S: System + ?Sized>(
        field: &Field<S>,
        rows: &Conditions,
        lambda: &[f64],
        tangent: &mut Tangent,
    ) -> Result<Sizes, StartError> {
        let (n, m, z) = (field.dims.u, rows.len(), field.dims.z);
        let nq = n;
        let plain = Sizes { force: 1.0, rates: vec![1.0; z] };
        let jacobian = balance_jacobian(field, rows, lambda, &plain, tangent)?;
        let residual = residual(field, rows, lambda, &plain);
        let rhs: Vec<f64> = residual.iter().map(|v| -v).collect();
        let mut step = vec![0.0; nq + m + z];
        let mut pivot = FullPivot::default();
        pivot.factor(&jacobian);
        pivot.solve(&rhs, &[], &mut step);
        let here = |j: usize| if j < nq + m { 0.0 } else { field.state.z[j - nq - m].abs() };
        let terms = |i: usize| -> f64 {
            let parts = step.iter().enumerate().map(|(j, s)| (jacobian[(i, j)] * (s.abs() + here(j))).abs());
            residual[i].abs() + parts.sum::<f64>()
        };
        let or_one = |x: f64| if x > 0.0 && x.is_finite() { x } else { 1.0 };
        let force = (0..n).map(terms).fold(max_abs(&field.eval.h), f64::max);
        Ok(Sizes { force: or_one(force), rates: (0..z).map(|k| or_one(terms(n + m + k))).collect() })
    }
}

/// `(h + Wᵀλ, gaps, ż)`, each by its size.
fn residual<S: System + ?Sized>(
    field: &Field<S>,
    rows: &Conditions,
    lambda: &[f64],
    sizes: &Sizes,
) -> Vec<f64> {
    let mut r: Vec<f64> = field.eval.h.clone();
    for (&(row, _), l) in rows.iter().zip(lambda) {
        field.eval.w.row(row).add_to(*l, &mut r);
    }
    r.iter_mut().for_each(|v| *v /= sizes.force);
    r.extend(rows.iter().map(|&(row, _)| field.eval.gap[row] / field.watches.scales.gap[row]));
    r.extend(field.eval.z_rate.iter().zip(&sizes.rates).map(|(rate, size)| rate / size));
    r
}

/// Derivatives of the residual of [`balance`] by positions, reactions and states; `field` is evaluated there.
fn balance_jacobian<S: System + ?Sized>(
    field: &Field<S>,
    rows: &Conditions,
    lambda: &[f64],
    sizes: &Sizes,
    tangent: &mut Tangent,
) -> Result<Mat, StartError> {
    let (n, m, z) = (field.dims.u, rows.len(), field.dims.z);
    let nq = n;
    let mut jacobian = Mat::zeros(n + m + z, nq + m + z);
    let (mut q, mut states) = (vec![0.0; field.dims.q], vec![0.0; z]);
    let mut moving = field.state.clone();
    moving.u.fill(0.0);
    for j in 0..nq + z {
        if j < nq {
            moving.u[j] = 1.0;
            field.sys.q_rate(&moving, &mut q);
            moving.u[j] = 0.0;
        } else {
            states[j - nq] = 1.0;
        }
        let along = Along { q: &q, z: &states, ..Along::default() };
        if !field.sys.tangent(&field.state, &field.discrete, &field.eval, &along, tangent) {
            return Err(StartError::NoDerivatives);
        }
        q.fill(0.0);
        states.fill(0.0);
        let rate = &mut tangent.rate;
        for (&(row, _), &l) in rows.iter().zip(lambda) {
            rate.w.row(row).add_to(l, &mut rate.h);
        }
        let column = if j < nq { j } else { j + m };
        for i in 0..n {
            jacobian[(i, column)] = rate.h[i] / sizes.force;
        }
        for (i, &(row, _)) in rows.iter().enumerate() {
            jacobian[(n + i, column)] = rate.gap[row] / field.watches.scales.gap[row];
        }
        for i in 0..z {
            jacobian[(n + m + i, column)] = rate.z_rate[i] / sizes.rates[i];
        }
    }
    for (k, &(row, _)) in rows.iter().enumerate() {
        for i in 0..n {
            jacobian[(i, nq + k)] = field.eval.w[(row, i)] / sizes.force;
        }
    }
    Ok(jacobian)
}

/// Rows of the conditions with their contacts.
type Conditions = Vec<(usize, usize)>;

fn condition_rows<S: System + ?Sized>(field: &Field<S>, closed: &[usize]) -> Conditions {
    let mut rows = Vec::new();
    for (i, c) in field.info.iter().enumerate() {
        if c.is_bilateral() || closed.contains(&i) {
            rows.extend(c.gap_rows().iter().map(|&row| (row, i)));
        }
    }
    rows
}

fn latch_and_evaluate<S: System + ?Sized>(field: &mut Field<S>) {
    field.evaluate();
    field.forget();
    let Field { sys, state, discrete, eval, .. } = field;
    sys.latch(state, discrete, eval, false);
    field.evaluate();
}

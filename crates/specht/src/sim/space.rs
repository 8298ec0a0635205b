//! Contacts with two tangents at an instant: what they do from zero slip on (METH-3D-ZERO, -ACC, -LOSS, -ROLL, -LOOP).
//!
//! Slip is a vector, and its size only touches zero. A contact is *slow* below [`SLOW`] of the largest velocity it has had. Arriving there, the
//! acceleration problem at zero slip decides: stick, or slip in the direction found (a quick turn, or a reversal). Slip that begins keeps the
//! direction found until it is [`LEAVES`] times as fast: the direction of a velocity that is rounding says nothing.

use crate::contact::space::{Cone, Does, Sliding, all};
use crate::contact::{Forces, Reduced, Small, Solution, Start};
use crate::linalg::{Mat, axpy, max_abs};
use crate::system::{ContactInfo, Eval, Mode, Normal, Section, System};

use super::event_driven::Run;
use super::field::Field;
use super::tolerances::{KEPT, PROBE, SLOW};
use super::trajectory::in_space;
use super::watch::{What, contact_speed};

/// Longest step times the frequency of the fastest coordinate, rad.
const SWING: f64 = 2.0;

/// Accelerations that cannot be told from zero, relative to the largest at the contacts.
const STILL: f64 = 1e-11;

/// Least share of the mean pressure that [`press`] asks of every contact, its rounds for each share, and how well it must keep the motion.
const LEAST_SHARE: f64 = 1e-9;
const SPREADS: usize = 20;
const SAME_MOTION: f64 = 1e-9;

/// The contacts that take part and their rows.
#[derive(Default)]
pub(super) struct Layout {
    pub contacts: Vec<usize>,
    pub cones: Vec<Cone>,
    pub rows: Vec<usize>,
    pub bilateral: Vec<usize>,
}

/// Slip of a contact, by its tangents.
pub(super) fn slip(c: &ContactInfo, eval: &Eval, u: &[f64]) -> [f64; 3] {
    let rate = |k: usize| c.tangent.get(k).map_or(0.0, |&row| eval.rate(row, u));
    [rate(0), rate(1), rate(2)]
}

/// Its size.
pub(super) fn speed(c: &ContactInfo, eval: &Eval, u: &[f64]) -> f64 {
    let [x, y, z] = slip(c, eval, u);
    x.hypot(y).hypot(z)
}

/// Whether some contact rubs in two directions.
pub(crate) fn is_spatial(info: &[ContactInfo]) -> bool {
    info.iter().any(|c| c.friction && c.tangent.len() > 1)
}

impl Layout {
    /// The contacts that `takes_part` has an answer for: what is known of them, and the normal force of those that have no row for it.
    pub(super) fn new(
        info: &[ContactInfo],
        eval: &Eval,
        most: usize,
        takes_part: impl Fn(usize) -> Option<(Sliding, Option<f64>)>,
    ) -> Layout {
        let mut out = Layout::default();
        for (i, c) in info.iter().enumerate() {
            if c.is_bilateral() {
                out.bilateral.extend(c.normal_rows());
            }
            let Some((friction, given)) = takes_part(i) else { continue };
            let most = if c.is_unilateral() { most } else { usize::MAX };
            let tangents = if c.friction { c.tangent.len().min(most) } else { 0 };
            if given.is_some() && tangents == 0 {
                continue;
            }
            let section = if tangents < c.tangent.len() { Section::Round } else { eval.section(i) };
            let at = out.rows.len();
            out.cones.push(Cone { at, tangents, given, least: 0.0, friction, section, inner: None });
            out.contacts.push(i);
            if let (Normal::Unilateral { row }, None) = (c.normal, given) {
                out.rows.push(row);
            }
            out.rows.extend(&c.tangent[..tangents]);
        }
        out
    }
}

/// Rounds of normal forces that follow others, and the change at which they have settled, relative to the largest.
pub(super) const ROUNDS: usize = 300;
pub(super) const FOLLOWED: f64 = 1e-14;

/// N of a contact without a normal row of its own: a given load, one that follows other contacts, the norm of a pin.
fn following(info: &[ContactInfo], eval: &Eval, i: usize, sticks: bool, lambda: &[f64]) -> Option<f64> {
    let n = || eval.bound_force(info, i, sticks, 1.0, lambda);
    match info[i].normal {
        Normal::Unilateral { .. } => None,
        Normal::Given { .. } => Some(n().max(0.0)),
        _ => Some(n().abs()),
    }
}

/// A solution with its modes, and the directions of slips that begin.
pub(crate) struct Answer {
    pub solution: Solution,
    pub directions: Vec<Option<[f64; 3]>>,
}

/// Solve the accelerations at the present state, which is evaluated.
pub(super) fn accelerations<S: System + ?Sized>(
    field: &Field<S>,
    starts: &[Start],
    acted: &[f64],
) -> Option<Answer> {
    let (info, eval, u) = (field.info, &field.eval, &field.state.u);
    let direction = |i: usize| field.direction(i, slip(&info[i], eval, u));
    accelerations_at(info, eval, starts, &direction, acted)
}

/// The contacts that are closed, and the accelerations by their forces.
pub(super) fn pose(
    info: &[ContactInfo],
    eval: &Eval,
    starts: &[Start],
    direction: &dyn Fn(usize) -> [f64; 3],
    lambda: &[f64],
) -> Option<(Layout, Reduced)> {
    let layout = Layout::new(info, eval, 3, |i| {
        if starts[i] == Start::Open {
            return None;
        }
        let given = following(info, eval, i, starts[i] == Start::Zero, lambda);
        let sign = if starts[i] == Start::Minus { -1.0 } else { 1.0 };
        let friction = match (starts[i], info[i].tangent.len()) {
            (Start::Zero, _) | (_, 0) => Sliding::Rests { rest: eval.mu_static[i], mu: eval.mu[i] },
            (_, 1) => Sliding::Slides { mu: eval.mu[i], d: [sign, 0.0, 0.0] },
            _ => Sliding::Slides { mu: eval.mu[i], d: direction(i) },
        };
        Some((friction, given))
    });
    let mut red = Reduced::default();
    red.eliminate(&eval.mass, &eval.h, &eval.w, &eval.accel_offset, &layout.bilateral, &layout.rows)
        .then_some((layout, red))
}

/// Accelerations of contacts that slide in the directions given, from the forces that acted.
pub(crate) fn accelerations_at(
    info: &[ContactInfo],
    eval: &Eval,
    starts: &[Start],
    direction: &dyn Fn(usize) -> [f64; 3],
    acted: &[f64],
) -> Option<Answer> {
    let mut lambda = vec![0.0; eval.w.rows()];
    lambda.iter_mut().zip(acted).for_each(|(l, a)| *l = *a);
    let (mut layout, red) = pose(info, eval, starts, direction, &lambda)?;
    let mut x: Vec<f64> = layout.rows.iter().map(|&r| lambda[r]).collect();
    let mut does = Vec::new();
    for round in 0.. {
        does = all(&layout.cones, &red.h, &red.c, &mut x)?;
        spread(&layout, &red, &x, &mut lambda);
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        for (cone, &i) in layout.cones.iter_mut().zip(&layout.contacts) {
            let sticks = starts[i] == Start::Zero;
            let (Some(old), Some(new)) = (cone.given, following(info, eval, i, sticks, &lambda)) else {
                continue;
            };
            change = change.max((new - old).abs());
            largest = largest.max(new);
            cone.given = Some(new);
        }
        if change <= FOLLOWED * largest {
            break;
        }
        if round == ROUNDS {
            return None;
        }
    }
    Some(answer(info, eval, starts, &layout, &red, &x, &does))
}

/// The same of contacts that do not slide.
pub(crate) fn all_from_rest(info: &[ContactInfo], eval: &Eval, starts: &[Start]) -> Option<Vec<Solution>> {
    let all = all_of_one(info, eval, starts, &|_| [1.0, 0.0, 0.0])?;
    Some(all.into_iter().map(|a| a.solution).collect())
}

/// All solutions of the only contact that is closed; `None` when there are more, or its load follows others.
pub(crate) fn all_of_one(
    info: &[ContactInfo],
    eval: &Eval,
    starts: &[Start],
    direction: &dyn Fn(usize) -> [f64; 3],
) -> Option<Vec<Answer>> {
    let lambda = vec![0.0; eval.w.rows()];
    let (layout, red) = pose(info, eval, starts, direction, &lambda)?;
    let [cone] = layout.cones.as_slice() else { return None };
    if !info[layout.contacts[0]].load_on.is_empty() || (info[layout.contacts[0]].is_bilateral()) {
        return None;
    }
    let skip = usize::from(cone.given.is_some());
    let size = layout.rows.len();
    let (g, b) = block(cone, &red.h, &red.c);
    let found = crate::contact::space::every(cone, g, b);
    let one = |f: &crate::contact::space::Found| {
        let x: Vec<f64> = (0..size).map(|k| f.force[k + skip]).collect();
        answer(info, eval, starts, &layout, &red, &x, &[f.does])
    };
    Some(found.iter().map(one).collect())
}

/// The numbers of the only contact; the place of the normal is left empty where its force is given.
pub(super) fn block(cone: &Cone, h: &Mat, c: &[f64]) -> ([[f64; 4]; 4], [f64; 4]) {
    let skip = usize::from(cone.given.is_some());
    let at = |k: usize| k.checked_sub(skip).filter(|k| *k < c.len());
    let value = |i: usize, j: usize| at(i).zip(at(j)).map_or(0.0, |(i, j)| h[(i, j)]);
    let g = std::array::from_fn(|i| std::array::from_fn(|j| value(i, j)));
    (g, std::array::from_fn(|i| at(i).map_or(0.0, |i| c[i])))
}

/// Modes, forces and accelerations from the forces of the problem.
fn answer(
    info: &[ContactInfo],
    eval: &Eval,
    starts: &[Start],
    layout: &Layout,
    red: &Reduced,
    x: &[f64],
    does: &[Does],
) -> Answer {
    let mut lambda = vec![0.0; eval.w.rows()];
    spread(layout, red, x, &mut lambda);
    let mut forces = Forces::default();
    forces.reset(eval.mass.size(), eval.w.rows(), info.len());
    forces.lambda.copy_from_slice(&lambda);
    forces.accel.copy_from_slice(&red.a0);
    x.iter().enumerate().for_each(|(k, x)| axpy(*x, red.a.row(k), &mut forces.accel));

    let mut modes: Vec<Mode> =
        info.iter().map(|c| if c.is_bilateral() { Mode::Closed } else { Mode::Open }).collect();
    let mut directions = vec![None; info.len()];
    // accelerations that cancel leave their rounding: measured by those without contact forces
    let size = red.c.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    let size = forces.accel.iter().fold(size, |m, a| m.max(a.abs()));
    let leaves = |i: usize, accel: &[f64]| {
        let a: [f64; 3] =
            std::array::from_fn(|k| info[i].tangent.get(k).map_or(0.0, |&row| eval.accel(row, accel)));
        let along = a[0].hypot(a[1]).hypot(a[2]);
        (along > STILL * size).then(|| a.map(|a| a / along))
    };
    for (k, &i) in layout.contacts.iter().enumerate() {
        let rubs = info[i].friction && !info[i].tangent.is_empty();
        let two = info[i].tangent.len() > 1;
        // one that neither presses nor parts stays closed
        let parts = info[i].normal_row().is_some_and(|row| eval.accel(row, &forces.accel) > STILL * size);
        modes[i] = match (does[k], starts[i]) {
            (Does::Opens, _) if parts => Mode::Open,
            _ if !rubs => Mode::Closed,
            // without a normal force nothing holds it
            (Does::Opens, Start::Zero) if two && leaves(i, &forces.accel).is_some() => {
                directions[i] = leaves(i, &forces.accel);
                Mode::Slip
            }
            (Does::Opens, Start::Zero) | (Does::Sticks, _) => Mode::Stick,
            // at its bound, but the others hold it: nothing slips
            (Does::Slips(_), Start::Zero) if two && leaves(i, &forces.accel).is_none() => Mode::Stick,
            (Does::Opens, Start::Plus) if two => Mode::Slip,
            (Does::Opens, Start::Plus) => Mode::SlipPlus,
            (Does::Opens, _) => Mode::SlipMinus,
            (Does::Slips(d), start) if two => {
                directions[i] = (start == Start::Zero).then_some(d);
                Mode::Slip
            }
            (Does::Slips(d), _) if d[0] > 0.0 => Mode::SlipPlus,
            (Does::Slips(_), _) => Mode::SlipMinus,
        };
    }
    crate::contact::normal_forces(info, eval, &modes, &mut forces);
    for (i, c) in info.iter().enumerate() {
        forces.tangential[i] = c.tangential_force(&forces.lambda);
        forces.bound[i] = crate::contact::friction_bound(c, eval, i, modes[i], forces.normal[i]);
    }
    let solution = Solution {
        signs: vec![1.0; info.len()],
        degenerate: vec![false; info.len()],
        alternatives: Vec::new(),
        family: None,
        residual: 0.0,
        forces,
        modes,
    };
    Answer { solution, directions }
}

/// Forces of all rows from those of the problem.
pub(super) fn spread(layout: &Layout, red: &Reduced, x: &[f64], lambda: &mut [f64]) {
    for (&row, x) in layout.rows.iter().zip(x) {
        lambda[row] = *x;
    }
    for (k, &row) in layout.bilateral.iter().enumerate() {
        lambda[row] = red.s0[k] + crate::linalg::dot(red.s.row(k), x);
    }
}

/// Where the motion leaves forces free, one that follows its past may fall to zero although its contact need not open; the same would
/// happen again a moment later. Forces are then sought that obey the laws with every contact that is closed pressed by a share of the mean: by
/// turns the forces that fit the motion, and those with that least pressure. What the motion tells is not changed by it. Where friction of slip
/// follows the pressure, other forces are another motion: the contact then stays closed and carries nothing ([`slacken`]).
pub(super) fn press<S: System + ?Sized>(field: &mut Field<S>, acted: &[f64], moment: f64) {
    if field.solve() && field.regularity.redundant > 0 && !inside(field, false) {
        slacken(field, acted, moment);
    }
}

/// Closed one-sided contacts, each with the row of its normal force.
fn closed<S: System + ?Sized>(field: &Field<S>) -> Vec<(usize, usize)> {
    let row = |(i, c): (usize, &ContactInfo)| match c.normal {
        Normal::Unilateral { row } if field.discrete.modes[i].is_closed() => Some((i, row)),
        _ => None,
    };
    field.info.iter().enumerate().filter_map(row).collect()
}

/// Contacts whose normal force falls below zero a `moment` later carry nothing from now on ([`Small::Slack`]), as far as the other contacts keep them
/// closed; the forces `acted` before. Nothing changes where that does not lead to forces that obey the laws.
fn slacken<S: System + ?Sized>(field: &mut Field<S>, acted: &[f64], moment: f64) {
    let followed = field.fixed.reference.clone();
    let normals = closed(field);
    let mut small = vec![Small::Holds; field.info.len()];
    for _ in 0..2 * normals.len() {
        for &(i, row) in &normals {
            let opening = acted.get(row).copied().unwrap_or(0.0).min(0.0);
            field.fixed.reference[row] = if small[i] == Small::Slack { opening } else { followed[row] };
        }
        field.fixed.share(field.info, &field.eval, &field.discrete.modes, &small);
        let slack = |i: usize| small[i] == Small::Slack;
        let kept = (0..small.len()).all(|i| !slack(i) || field.fixed.small().get(i) == Some(&Small::Slack));
        if !kept || !field.solve() || !field.stays_closed() {
            break;
        }
        let Some(excess) = field.excess_later(PROBE * moment) else { break };
        let worst = |slack: bool| {
            let alike = normals.iter().filter(|(i, _)| (small[*i] == Small::Slack) == slack);
            alike.map(|&(i, _)| (i, excess[i])).min_by(|a, b| a.1.total_cmp(&b.1)).filter(|w| w.1 < 0.0)
        };
        match (worst(false), worst(true)) {
            (Some((i, _)), _) => small[i] = Small::Slack,
            (None, Some((i, _))) => small[i] = Small::Holds,
            (None, None) => return,
        }
    }
    field.fixed.reference = followed;
    field.fixed.share(field.info, &field.eval, &field.discrete.modes, &[]);
    field.solve();
}

/// The same for friction at rest that has reached its bound although others could hold what it holds (two points of a rigid body stick along the line
/// between them): forces with every contact inside its bound. False where there are none, so that something slips.
pub(super) fn relieve<S: System + ?Sized>(field: &mut Field<S>) -> bool {
    field.solve() && field.regularity.redundant > 0 && inside(field, true)
}

/// Other forces for the same motion, all inside their bounds; `friction`: those of friction at rest by a share too.
fn inside<S: System + ?Sized>(field: &mut Field<S>, friction: bool) -> bool {
    let followed = field.fixed.reference.clone();
    let accel = field.forces.accel.clone();
    let pressed = closed(field);
    let mean = pressed.iter().map(|&(i, _)| field.forces.normal[i]).sum::<f64>() / pressed.len() as f64;
    // what stands still is measured by what the smooth forces alone would do
    let free = |k: usize| (field.eval.h[k] / field.eval.mass.diagonal(k)).abs();
    let size = (0..accel.len()).fold(0.0_f64, |m, k| {
        let free = free(k);
        m.max(accel[k].abs()).max(if free.is_finite() { free } else { 0.0 })
    });
    let mut share = 0.25;
    let from = field.forces.lambda.clone();
    let rounds = if friction { 3 * SPREADS } else { SPREADS };
    while mean > 0.0 && share > LEAST_SHARE {
        for round in 0..rounds {
            // friction begins anew with every share: pressures out of reach would spoil it
            let start = if friction && round == 0 { &from } else { &field.forces.lambda };
            field.fixed.reference.clone_from(start);
            for &(i, row) in &pressed {
                let force = &mut field.fixed.reference[row];
                let presses = force.max(0.0);
                *force = force.max(share * mean);
                if friction && field.discrete.modes[i] == Mode::Stick {
                    let bound = (1.0 - 1.5 * share) * field.eval.mu_static[i] * presses;
                    let rubs = field.eval.friction_size(field.info, i, &field.fixed.reference);
                    let less = if rubs > bound { bound / rubs } else { 1.0 };
                    field.info[i].tangent.iter().for_each(|&row| field.fixed.reference[row] *= less);
                }
            }
            if !field.solve() {
                break;
            }
            let obeys = |&(i, _): &(usize, usize)| {
                let sticks = field.discrete.modes[i] == Mode::Stick;
                let size =
                    if sticks { field.eval.friction_size(field.info, i, &field.forces.lambda) } else { 0.0 };
                let normal = field.forces.normal[i];
                let part = if friction { 1.0 - 0.5 * share } else { 1.0 };
                normal >= 0.5 * share * mean && size <= part * field.eval.mu_static[i] * normal
            };
            let same =
                accel.iter().zip(&field.forces.accel).all(|(a, b)| (a - b).abs() <= SAME_MOTION * size);
            if same && pressed.iter().all(obeys) {
                field.fixed.reference.clone_from(&field.forces.lambda);
                return true;
            }
        }
        share *= 0.2;
    }
    field.fixed.reference = followed;
    field.solve();
    false
}

impl<S: System + ?Sized> Field<'_, S> {
    /// A `moment` in which no slip stops: a slow slip is over, or has turned, long before other forces change.
    pub(super) fn calm(&self, starts: &[Start], forces: &Forces, moment: f64) -> f64 {
        let Field { info, eval, state, frozen, .. } = self;
        let turns =
            |i: &usize| starts[*i] == Start::Plus && frozen[*i].is_none() && info[*i].tangent.len() > 1;
        (0..info.len()).filter(turns).fold(moment, |moment, i| {
            let turn = |&row: &usize| eval.accel(row, &forces.accel).powi(2);
            let turn = info[i].tangent.iter().map(turn).sum::<f64>().sqrt();
            let time = speed(&info[i], eval, &state.u) / turn;
            if time > 0.0 { moment.min(time) } else { moment }
        })
    }

    /// Whether the forces of the modes at the present state, which is evaluated, neither pull nor exceed their bounds by more than rounding.
    pub(super) fn keeps_in_space(&mut self) -> bool {
        if !self.solve() {
            return false;
        }
        let Field { info, forces, discrete, eval, .. } = self;
        let most = KEPT * max_abs(&forces.lambda);
        (info.iter().zip(&discrete.modes).enumerate()).all(|(i, (c, mode))| {
            let pulls = c.is_unilateral() && forces.normal[i] < -most;
            let sticks = *mode == Mode::Stick && c.tangent.len() > 1;
            let slips = sticks && eval.friction_size(info, i, &forces.lambda) - forces.bound[i] > most;
            !pulls && !slips
        })
    }

    /// Whether contacts that carry nothing go along with the others, in the last solution.
    fn stays_closed(&self) -> bool {
        let size = max_abs(&self.forces.accel);
        let still = |row: usize| {
            let eval = &self.eval;
            eval.accel(row, &self.forces.accel).abs() <= SAME_MOTION * (size + eval.accel_offset[row].abs())
        };
        let slack = self.fixed.small().iter().enumerate().filter(|(_, s)| **s == Small::Slack);
        slack.map(|(i, _)| (i, &self.info[i])).all(|(i, c)| {
            let sticks = self.discrete.modes[i] == Mode::Stick;
            c.normal_row().into_iter().chain(c.tangent.iter().copied().filter(|_| sticks)).all(still)
        })
    }

    /// Normal forces after this time, and the openings of those that carry nothing.
    fn excess_later(&mut self, delta: f64) -> Option<Vec<f64>> {
        let here = self.state.clone();
        axpy(0.5 * delta, &self.forces.accel, &mut self.state.u);
        let way: Vec<f64> = self.state.u.iter().map(|v| delta * v).collect();
        self.sys.move_by(&mut self.state.q, &way);
        axpy(0.5 * delta, &self.forces.accel, &mut self.state.u);
        axpy(delta, &self.eval.z_rate, &mut self.state.z);
        self.state.t += delta;
        self.evaluate();
        let solved = self.solve();
        let mut excess = self.forces.normal.clone();
        self.fixed.openings(self.info, &self.eval, &mut excess);
        self.state = here;
        self.evaluate();
        (self.solve() && solved).then_some(excess)
    }

    /// Direction of slip of contact `i`: the one that was decided while it is slow, else that of its velocity.
    pub(crate) fn direction(&self, i: usize, slip: [f64; 3]) -> [f64; 3] {
        if let Some(d) = self.frozen[i] {
            return d;
        }
        let size = slip[0].hypot(slip[1]).hypot(slip[2]);
        if size > 0.0 { slip.map(|s| s / size) } else { [1.0, 0.0, 0.0] }
    }

    /// Rates and forces along all rows; nothing in the plane.
    pub(crate) fn row_values(&self, rates: &mut Vec<f64>, forces: &mut Vec<f64>) {
        rates.clear();
        forces.clear();
        if in_space(self.info, &self.dims) {
            rates.extend((0..self.dims.rows).map(|row| self.eval.rate(row, &self.state.u)));
            forces.extend_from_slice(&self.forces.lambda);
        }
    }

    /// Take note of the velocities, which tell what is slow.
    pub(crate) fn see(&mut self) {
        if self.spatial {
            let Field { watches, info, eval, state, sys, .. } = self;
            watches.scales.slip.resize(info.len(), 0.0);
            watches.scales.rate.resize(info.len(), 0.0);
            watches.scales.see(info, eval, state);
            // at rest: what the smooth forces would give over the size of the gap
            for (i, c) in info.iter().enumerate().filter(|(_, c)| c.tangent.len() > 1) {
                let length = c.normal_row().map_or(sys.length_scale(), |row| watches.scales.gap[row]);
                let push = |(k, w): (usize, f64)| {
                    let mass = eval.mass.diagonal(k);
                    if mass > 0.0 { (w * eval.h[k] / mass).abs() } else { 0.0 }
                };
                let accel = c.rows().fold(0.0_f64, |m, row| m.max(eval.w.row(row).iter().map(push).sum()));
                watches.scales.slip[i] = watches.scales.slip[i].max((accel * length).sqrt());
            }
        }
    }

    /// Tell the solver of frozen modes against which forces contacts slip.
    pub(crate) fn aim(&mut self) {
        self.fixed.directions.resize(self.info.len(), [1.0, 0.0, 0.0]);
        for i in 0..self.info.len() {
            if self.discrete.modes[i] == Mode::Slip {
                let slip = slip(&self.info[i], &self.eval, &self.state.u);
                let section = self.eval.section(i).under(self.forces.normal[i].abs());
                self.fixed.directions[i] = section.push(self.direction(i, slip));
            }
        }
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// The longest implicit step while a contact slips in the plane: the direction of slow slip is stiff, and steps that do not follow the swing of
    /// the coordinates would damp oscillations that ought to grow (CB-6-PATHS).
    pub(super) fn swing(&self) -> f64 {
        let slips = self.field.spatial && self.field.discrete.modes.contains(&Mode::Slip);
        match slips && self.ode.is_implicit() {
            true => SWING / self.ode.fastest(self.field.dims.q, self.field.dims.u),
            false => f64::INFINITY,
        }
    }

    /// A slip that stays below what the integrator may err by keeps the steps as short as its direction is stiff: after some of them it is slow.
    pub(super) fn note_creep(&mut self) {
        let Field { watches, info, eval, state, .. } = &mut self.field;
        let mut creeps = false;
        for w in &mut watches.list {
            let What::Speed(i, slow) = &mut w.what else { continue };
            let blur = BLUR * self.settings.tolerance * contact_speed(&info[*i], eval, &state.u);
            if speed(&info[*i], eval, &state.u) < blur {
                creeps = true;
                if self.creep >= CREEP {
                    *slow = slow.max(blur);
                }
            }
        }
        self.creep = if creeps { (self.creep + 1) % (CREEP + 1) } else { 0 };
    }

    /// Contacts that are no longer slow turn with their velocity from now on. True when nothing else happened at this instant.
    pub(super) fn leave_slow(&mut self) -> bool {
        let found = &self.locator.found.watches;
        let leaves = |k: &usize| match self.field.watches.list[*k].what {
            What::Leave(i, _) => Some(i),
            _ => None,
        };
        let left: Vec<usize> = found.iter().filter_map(leaves).collect();
        let only = !found.is_empty() && left.len() == found.len();
        let events = self.out.counts.all_events();
        if let Some(v) = self.variation.as_mut().filter(|_| only) {
            v.arrive(&self.field, found, self.longest);
            v.leave();
        }
        left.iter().for_each(|&i| self.field.frozen[i] = None);
        if only {
            self.depart(events);
        }
        only
    }
}

/// Slip that has begun turns with its velocity above this multiple of what is slow: until then an error of its direction is forgotten faster than it
/// matters, and the direction of the velocity would be stiff.
pub(super) const LEAVES: f64 = 1e3;

/// Slip below so many tolerances of the velocities of its contact may be error of the integrator, and is slow after so many steps.
const BLUR: f64 = 5.0;
const CREEP: usize = 200;

/// Slip below this counts as slow, for a contact that has seen velocities of this size.
pub(super) fn slow(size: f64) -> f64 {
    SLOW * size
}

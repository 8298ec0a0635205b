//! Motion on one branch of a closed linkage, through the points where its constraints lose rank.
//!
//! A linkage with special lengths (a parallelogram, a kite, a slider-crank with equal links) has *change points*: isolated
//! positions q* where two branches of `g(q) = 0` cross and the rank of the Jacobian G drops. Along the motion its smallest
//! singular value passes linearly through zero, and its direction r goes on analytically: `σ r·u̇ = …` is zero by
//! zero at q*, but the motion on the arriving branch is smooth. Away from the branch nothing is smooth: the direction of G near
//! q* depends on how one comes to it, so that stages of a Runge–Kutta step that lie beside the branch by their own error
//! meet different equations, and a step control creeps into the point and then follows rounding.
//!
//! Near a change point the right-hand side is therefore taken on the branch itself. The branch is a graph over its tangent
//! space at a base point q₀ before the change point,
//!
//! ```text
//! P(q) = q + N w,   g(t, P(q)) = 0,      P(u) = u + N ẇ,   G P(u) + w̃ = 0,      N = D⁻¹ G₀ᵀ fixed
//! ```
//!
//! (D: diagonal of M; G₀: independent rows at q₀; Newton's method in w). P is analytic through q*, so every method keeps its
//! order. `ρ = det(G N) / det(G₀ N)` is 1 at the base and vanishes at the change point. Within a small distance of it
//! everything is interpolated in time, from ten states on the branch, `f(0) = Σ c_k (f(kδ) + f(−kδ))`, error δ¹⁰ f⁽¹⁰⁾/252.
//! Newton's method must contract tenfold from its first step on: then the other branch is ten times farther away.

use crate::contact::Forces;
use crate::linalg::{Lu, Mat, axpy, max_abs};
use crate::system::{Eval, Normal, State, System};

use super::field::Field;
use super::project::Projector;
use super::tolerances::SINGULAR;

/// Weights of the symmetric interpolation from ±δ … ±5δ.
const WEIGHTS: [f64; 5] = [5.0 / 6.0, -10.0 / 21.0, 5.0 / 28.0, -5.0 / 126.0, 1.0 / 252.0];
/// A pivot below this fraction of the smallest at the base is lost.
const LOST: f64 = 1e-3;
/// δ, relative to the step. Nearer to the change point than δ/2 the constraints are not resolved: their direction has an
/// error of rounding over the square of the distance.
const MOMENT: f64 = 0.04;

/// Time before the change point, relative to δ, within which the border of a paradox is not resolved.
const NARROW: f64 = 1e-2;
/// Largest change of the velocities that brings them onto the branch, relative to their size: on another branch it is larger.
const TURN: f64 = 0.3;

/// The branch near a change point, as a graph over its tangent space at a base point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    pub active: bool,
    /// Time from the base to the change point.
    pub distance: f64,
    /// Smallest ρ met since it was last reset.
    pub lowest: f64,
    /// Sign of ρ on the side where the run stands.
    pub side: f64,
    /// ρ (a/m − 1) of the sliding contact nearest to a paradox: that comes before the change point when it is negative on this side.
    pub kappa: f64,
    /// Factors of λ_N of the contacts in their event functions.
    pub signs: Vec<f64>,
    strength: Vec<f64>,
    moment: f64,
    longest: f64,
    pub rows: Vec<usize>,
    pub weight: Vec<f64>,
    scale: Vec<f64>,
    normals: Mat,
    determinant: f64,
    pivot: f64,
    b: Mat,
    lu: Lu,
    w: Vec<f64>,
    delta: Vec<f64>,
    rate: Vec<f64>,
    speed: Vec<f64>,
    flow: Vec<f64>,
    here: State,
    sum: State,
    forces: Forces,
}

impl Chart {
    /// Base of the chart at the evaluated state of `field`. False when there are no constraints.
    pub(crate) fn set_base<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        projector: &mut Projector,
    ) -> bool {
        let weight = projector.independent(field, &mut self.rows);
        self.weight.clear();
        self.weight.extend_from_slice(weight);
        let (r, n) = (self.rows.len(), field.dims.u);
        self.normals.reshape(r, n);
        self.scale.clear();
        for (k, &row) in self.rows.iter().enumerate() {
            let w = field.eval.w.row(row);
            let size: f64 = w.iter().map(|(k, w)| w * w * weight[k]).sum();
            let scale = 1.0 / size.sqrt();
            self.scale.push(scale);
            let normal = self.normals.row_mut(k);
            w.iter().for_each(|(j, w)| normal[j] = scale * w * weight[j]);
        }
        self.determinant = 1.0;
        self.determinant = self.ratio(&field.eval);
        self.w.clear();
        self.w.resize(r, 0.0);
        self.pivot = 0.0;
        self.pivot = self.eliminate(field).0;
        r > 0 && self.determinant.abs() > 0.0 && self.pivot > 0.0
    }

    /// Follow the branch from the base on, with steps of about `h`, `distance` before the change point.
    pub(crate) fn activate(&mut self, h: f64, distance: f64) {
        self.active = true;
        self.distance = distance;
        self.longest = MOMENT * h;
        self.moment = self.longest;
        self.lowest = f64::INFINITY;
        self.side = 1.0;
        self.kappa = 0.0;
    }

    /// Where reactions with friction make the motion vary within less than the first step, δ follows the step.
    pub(crate) fn refine(&mut self, h: f64) {
        self.moment = (MOMENT * h).clamp(1e-3 * self.longest, self.longest);
    }

    /// ρ at the evaluated state; leaves G N factored.
    pub(crate) fn ratio(&mut self, eval: &Eval) -> f64 {
        let r = self.rows.len();
        self.b.resize(r, r);
        for i in 0..r {
            for j in 0..r {
                self.b[(i, j)] = self.scale[i] * eval.w.row(self.rows[i]).dot(self.normals.row(j));
            }
        }
        self.lu.factor(&self.b);
        self.lu.det() / self.determinant
    }

    // |ρ| within which everything is interpolated
    fn near(&self) -> f64 {
        0.5 * self.moment / self.distance
    }

    /// Whether the evaluated state lies within δ/2 of the change point.
    pub(crate) fn is_near(&mut self, eval: &Eval) -> bool {
        self.ratio(eval).abs() < self.near()
    }

    /// Move the field's state by δ along its velocities, on the branch.
    pub(crate) fn step_beyond<S: System + ?Sized>(&mut self, field: &mut Field<S>) -> bool {
        self.flow.resize(field.dims.q, 0.0);
        field.sys.q_rate(&field.state, &mut self.flow);
        field.state.t += self.moment;
        axpy(self.moment, &self.flow, &mut field.state.q);
        field.evaluate();
        self.reach_branch(field)
    }

    /// How far the loops are from closing at the change point where the field stands: the part of the gaps that no
    /// motion along the remaining independent directions can remove. None when no rank is lost here.
    pub(crate) fn misfit<S: System + ?Sized>(&mut self, field: &Field<S>) -> Option<f64> {
        self.ratio(&field.eval);
        let (_, misfit) = self.eliminate(field);
        misfit
    }

    // complete pivoting of G N with the gaps as right side, down to a lost pivot; smallest pivot kept, rest of the gaps
    fn eliminate<S: System + ?Sized>(&mut self, field: &Field<S>) -> (f64, Option<f64>) {
        let r = self.rows.len();
        self.w.clear();
        self.w.extend(self.rows.iter().zip(&self.scale).map(|(&row, s)| s * field.eval.gap[row]));
        let (a, g) = (&mut self.b, &mut self.w);
        let mut scale = self.scale.clone();
        let mut smallest = f64::INFINITY;
        for k in 0..r {
            let (mut p, mut q, mut best) = (k, k, 0.0);
            for i in k..r {
                for j in k..r {
                    if a[(i, j)].abs() > best {
                        (p, q, best) = (i, j, a[(i, j)].abs());
                    }
                }
            }
            if !(best > LOST * self.pivot) {
                let rest = (k..r).fold(0.0_f64, |m, i| m.max((g[i] / scale[i]).abs()));
                return (smallest, Some(rest));
            }
            smallest = smallest.min(best);
            g.swap(k, p);
            scale.swap(k, p);
            for j in 0..r {
                (a[(k, j)], a[(p, j)]) = (a[(p, j)], a[(k, j)]);
            }
            for i in 0..r {
                (a[(i, k)], a[(i, q)]) = (a[(i, q)], a[(i, k)]);
            }
            for i in k + 1..r {
                let f = a[(i, k)] / a[(k, k)];
                for j in k + 1..r {
                    a[(i, j)] -= f * a[(k, j)];
                }
                g[i] -= f * g[k];
            }
        }
        (smallest, None)
    }

    /// The field's state onto the branch; the field is left evaluated there. False when Newton's method does not
    /// contract as it does near one branch only.
    fn reach_branch<S: System + ?Sized>(&mut self, field: &mut Field<S>) -> bool {
        let sizes = &field.watches.scales.gap;
        let unit = self.rows.iter().zip(&self.scale).fold(0.0_f64, |m, (&row, s)| m.max(s * sizes[row]));
        let mut last = f64::INFINITY;
        for round in 0..10 {
            let rounding = 1e-15 * unit / self.ratio(&field.eval).abs();
            self.w.clear();
            self.w.extend(self.rows.iter().zip(&self.scale).map(|(&row, s)| -s * field.eval.gap[row]));
            self.lu.solve(&mut self.w);
            let size = max_abs(&self.w);
            if !(size <= 0.1 * last || size <= 100.0 * rounding) {
                return false;
            }
            if round > 0 && size >= last {
                break;
            }
            self.lift(field.dims.u);
            // the map from changes to positions is that from velocities to rates
            self.speed.clone_from(&field.state.u);
            field.state.u.copy_from_slice(&self.delta);
            self.rate.resize(field.dims.q, 0.0);
            field.sys.q_rate(&field.state, &mut self.rate);
            field.state.u.copy_from_slice(&self.speed);
            axpy(1.0, &self.rate, &mut field.state.q);
            field.evaluate();
            if size <= rounding {
                break;
            }
            last = size;
        }
        self.ratio(&field.eval);
        let u = &field.state.u;
        self.w.clear();
        self.w.extend(self.rows.iter().zip(&self.scale).map(|(&row, s)| -s * field.eval.rate(row, u)));
        self.lu.solve(&mut self.w);
        self.lift(field.dims.u);
        let size = |v: &[f64]| v.iter().zip(&self.weight).map(|(v, d)| v * v / d).sum::<f64>().sqrt();
        if !(size(&self.delta) <= TURN * size(&field.state.u)) {
            return false;
        }
        axpy(1.0, &self.delta, &mut field.state.u);
        field.evaluate();
        field.state.q.iter().chain(&field.state.u).all(|v| v.is_finite())
    }

    // δ = N w
    fn lift(&mut self, n: usize) {
        self.delta.clear();
        self.delta.resize(n, 0.0);
        for (k, &w) in self.w.iter().enumerate() {
            axpy(w, self.normals.row(k), &mut self.delta);
        }
    }

    /// State, forces and accelerations at the field's state, on the branch.
    fn solve<S: System + ?Sized>(&mut self, field: &mut Field<S>) -> bool {
        field.evaluate();
        let ratio = self.ratio(&field.eval);
        self.lowest = self.lowest.min(ratio);
        if ratio.abs() < self.near() {
            return self.interpolate(field, ratio);
        }
        let found = self.reach_branch(field) && field.solve() && field.load_rates();
        if found {
            self.kappa = ratio * (field.singularity - 1.0);
            self.strength.clear();
            self.strength.resize(field.dims.contacts, 0.0);
            self.add_strength(field, ratio, 1.0);
            self.watch(field, ratio);
        }
        found
    }

    // λ_N ρ a/m of sliding bilateral contacts: the sign of λ_N without its pole
    fn add_strength<S: System + ?Sized>(&mut self, field: &mut Field<S>, ratio: f64, weight: f64) {
        for i in 0..field.info.len() {
            if field.discrete.modes[i].direction() != 0.0
                && matches!(field.info[i].normal, Normal::Bilateral { .. })
                && let Some(a) = field.fixed.approach(field.info, i)
            {
                self.strength[i] += weight * field.forces.normal[i] * ratio * a.ratio;
            }
        }
    }

    // event functions without poles: a/m = 1 + κ/ρ has one at the change point, ρ and ρ + κ have not
    fn watch<S: System + ?Sized>(&mut self, field: &mut Field<S>, ratio: f64) {
        self.signs.clone_from(&field.signs);
        for (i, sign) in self.signs.iter_mut().enumerate() {
            if self.strength[i] != 0.0 && field.forces.normal[i] != 0.0 {
                *sign *= self.side * self.strength[i] / field.forces.normal[i];
            }
        }
        if field.watches.singular {
            let border =
                if self.is_passable() { 0.0 } else { self.side * self.kappa - SINGULAR * ratio.abs() };
            field.singularity = SINGULAR + self.side * ratio + border;
        }
    }

    /// Whether no border of a paradox lies before the change point, or one so near to it that it is not resolved.
    pub(crate) fn is_passable(&self) -> bool {
        self.side * self.kappa * self.distance >= -NARROW * self.longest
    }

    // everything at the field's state from ten states before and after it on the branch
    fn interpolate<S: System + ?Sized>(&mut self, field: &mut Field<S>, ratio: f64) -> bool {
        self.here.clone_from(&field.state);
        self.flow.resize(field.dims.q, 0.0);
        field.sys.q_rate(&field.state, &mut self.flow);
        self.sum.q.clear();
        self.sum.q.resize(field.dims.q, 0.0);
        self.sum.u.clear();
        self.sum.u.resize(field.dims.u, 0.0);
        self.forces.reset(field.dims.u, field.dims.rows, field.dims.contacts);
        self.strength.clear();
        self.strength.resize(field.dims.contacts, 0.0);
        let mut kappa = 0.0;
        let mut found = max_abs(&self.flow) > 0.0;
        for k in [-5.0, 5.0, -4.0, 4.0, -3.0, 3.0, -2.0, 2.0, -1.0, 1.0_f64] {
            let (weight, shift) = (WEIGHTS[k.abs() as usize - 1], k * self.moment);
            field.state.clone_from(&self.here);
            field.state.t += shift;
            axpy(shift, &self.flow, &mut field.state.q);
            field.evaluate();
            let beside = self.ratio(&field.eval);
            found = found && self.reach_branch(field) && field.solve();
            if !found {
                break;
            }
            if k.abs() == 1.0 {
                kappa += 0.5 * beside * (field.singularity - 1.0);
                self.add_strength(field, beside, 0.5);
            }
            axpy(weight, &field.state.q, &mut self.sum.q);
            axpy(weight, &field.state.u, &mut self.sum.u);
            let (from, to) = (&field.forces, &mut self.forces);
            axpy(weight, &from.accel, &mut to.accel);
            axpy(weight, &from.lambda, &mut to.lambda);
            axpy(weight, &from.normal, &mut to.normal);
            axpy(weight, &from.tangential, &mut to.tangential);
            axpy(weight, &from.bound, &mut to.bound);
        }
        field.state.clone_from(&self.here);
        if found {
            field.state.q.copy_from_slice(&self.sum.q);
            field.state.u.copy_from_slice(&self.sum.u);
            field.forces.clone_from(&self.forces);
            self.kappa = kappa;
            self.watch(field, ratio);
        }
        field.evaluate();
        found
    }
}

impl<S: System + ?Sized> Field<'_, S> {
    /// Evaluate and solve at the present state, on the branch of the active chart.
    pub(super) fn solve_on_branch(&mut self) -> bool {
        let mut chart = std::mem::take(&mut self.chart);
        let found = chart.solve(self);
        self.chart = chart;
        found
    }
}

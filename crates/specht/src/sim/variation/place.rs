//! A state with its forces, and rates of everything there along a direction.

use crate::contact::{Fixed, Forces};
use crate::linalg::axpy;
use crate::system::{
    self, Along, ContactInfo, Discrete, Eval, Instant, InstantRate, Mode, Normal, State, System, Tangent,
};

use super::super::field::Field;
use super::super::space::slip;
use super::super::watch::What;
use super::Column;
use super::turn::{Beginning, Decided, aim, aim_rates};

/// A state with modes and forces of its own; the field of the run stays as it is.
pub(crate) struct Place {
    pub state: State,
    pub discrete: Discrete,
    pub signs: Vec<f64>,
    pub eval: Eval,
    pub fixed: Fixed,
    pub forces: Forces,
    /// Directions of slip in tangent planes that were decided, as the field has them.
    pub decided: Decided,
    /// Rates of the evaluation and of the forces along the direction asked for last.
    pub tangent: Tangent,
    pub rates: Forces,
    /// (q̇, u̇, ż) there.
    pub flow: Vec<f64>,
    work: [Vec<f64>; 4],
}

impl Place {
    pub(super) fn new<S: System + ?Sized>(sys: &S) -> Self {
        let d = sys.dims();
        Place {
            state: State::default(),
            discrete: Discrete::new(&d),
            signs: vec![1.0; d.contacts],
            eval: sys.memory(),
            fixed: Fixed::default(),
            forces: Forces::default(),
            decided: Vec::new(),
            tangent: Tangent::new(sys),
            rates: Forces::default(),
            flow: vec![0.0; d.q + d.u + d.z],
            work: [vec![0.0; d.q], vec![0.0; d.q], vec![0.0; d.q], vec![0.0; d.u]],
        }
    }

    /// Take over modes and solver of the field.
    pub(super) fn adopt<S: System + ?Sized>(&mut self, field: &Field<S>) {
        self.fixed.clone_from(&field.fixed);
        self.discrete.clone_from(&field.discrete);
        self.signs.clone_from(&field.signs);
        self.decided.clone_from(&field.frozen);
        self.state.clone_from(&field.state);
    }

    /// Stand where the field stands; false where there are no forces.
    pub(super) fn stand<S: System + ?Sized>(&mut self, field: &Field<S>) -> bool {
        self.adopt(field);
        self.solve(field.sys, field.info)
    }

    /// Evaluate, forces, rates of the motion; false where there are none.
    pub(super) fn solve<S: System + ?Sized>(&mut self, sys: &S, info: &[ContactInfo]) -> bool {
        sys.evaluate(&self.state, &self.discrete, &mut self.eval);
        let modes = &self.discrete.modes;
        aim(info, &self.eval, modes, &self.decided, &self.state.u, &mut self.fixed);
        if !self.fixed.solve(info, &self.eval, modes, &self.signs, &mut self.forces).solved {
            return false;
        }
        let d = sys.dims();
        sys.q_rate(&self.state, &mut self.flow[..d.q]);
        self.flow[d.q..d.q + d.u].copy_from_slice(&self.forces.accel);
        self.flow[d.q + d.u..].copy_from_slice(&self.eval.z_rate);
        true
    }

    /// x ← x + flow dt.
    pub(super) fn advance_by(&self, dt: f64, x: &mut [f64]) {
        if dt != 0.0 {
            axpy(dt, &self.flow, &mut x[..self.flow.len()]);
        }
    }

    /// Rates of the evaluation along (dt, x, memory …); with `forces` those of the forces, too: decided directions of slip turn as given there.
    /// False: no derivatives.
    pub(super) fn differentiate<S: System + ?Sized>(
        &mut self,
        sys: &S,
        along: &Along<'_>,
        forces: Option<&[[f64; 3]]>,
    ) -> bool {
        let Place { state, discrete, signs, eval, fixed, tangent, rates, decided, .. } = self;
        if !sys.tangent(state, discrete, eval, along, tangent) {
            return false;
        }
        let Some(given) = forces else { return true };
        let (info, modes, rate) = (sys.contacts(), &discrete.modes, &tangent.rate);
        let slips = |r: usize| rate.w.row(r).dot(&state.u) + eval.w.row(r).dot(along.u) + rate.rate_offset[r];
        if !aim_rates(info, (eval, rate), modes, (decided, given), &state.u, slips, fixed) {
            return false;
        }
        fixed.tangent(info, eval, modes, signs, &self.forces, rate, rates);
        true
    }

    /// Rates of the directions of the contacts `begins`, whose slip begins here, to `given`. False where they are not determined.
    pub(super) fn begin_slips<S: System + ?Sized>(
        &mut self,
        sys: &S,
        along: &Along<'_>,
        begins: &[(usize, [f64; 3])],
        given: &mut [[f64; 3]],
    ) -> bool {
        if !self.differentiate(sys, along, Some(given)) {
            return false;
        }
        let Place { discrete, signs, eval, fixed, tangent, rates, forces, .. } = self;
        let problem = Beginning { info: sys.contacts(), eval, modes: &discrete.modes, signs, forces };
        problem.rates(begins, fixed, &tangent.rate, given, rates)
    }

    /// δq̇ along δq, δu: u itself, or the turn of a quaternion, which is linear in both.
    pub(super) fn q_rate<S: System + ?Sized>(&mut self, sys: &S, q: &[f64], u: &[f64], out: &mut [f64]) {
        if q.len() == u.len() {
            return out.copy_from_slice(u);
        }
        let Place { state, work: [here, there, place, speed], .. } = self;
        sys.q_rate(state, here);
        place.copy_from_slice(&state.q);
        axpy(1.0, q, &mut state.q);
        sys.q_rate(state, there);
        state.q.copy_from_slice(place);
        speed.copy_from_slice(&state.u);
        state.u.copy_from_slice(u);
        sys.q_rate(state, out);
        state.u.copy_from_slice(speed);
        for ((o, a), b) in out.iter_mut().zip(&*there).zip(&*here) {
            *o += a - b;
        }
    }

    /// Rates of all rows (δγ) along a direction that was differentiated: x = (q, u, …).
    pub(super) fn row_rate(&self, row: usize, du: &[f64]) -> f64 {
        let rate = &self.tangent.rate;
        rate.w.row(row).dot(&self.state.u) + self.eval.w.row(row).dot(du) + rate.rate_offset[row]
    }

    /// Rates of the slip of a contact along its tangents.
    fn slip_rate(&self, c: &ContactInfo, du: &[f64]) -> [f64; 3] {
        std::array::from_fn(|k| c.tangent.get(k).map_or(0.0, |&row| self.row_rate(row, du)))
    }

    /// Rate of an event function along the direction differentiated last, in which decided directions of slip turn as `given`; NaN where it
    /// has none.
    pub(super) fn watch_rate(&self, info: &[ContactInfo], what: What, du: &[f64], given: &[[f64; 3]]) -> f64 {
        let rate = &self.tangent.rate;
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let speed = |i: usize| {
            let v = slip(&info[i], &self.eval, &self.state.u);
            dot(v, self.slip_rate(&info[i], du)) / dot(v, v).sqrt()
        };
        match what {
            What::Gap(i) => info[i].normal_row().map_or(f64::NAN, |row| rate.gap[row]),
            What::Normal(i) => match info[i].normal {
                Normal::Unilateral { .. } => self.rates.normal[i],
                _ => self.signs[i] * self.rates.normal[i],
            },
            What::Saturation(i, side) => {
                let sign =
                    if matches!(info[i].normal, Normal::Bilateral { .. }) { self.signs[i] } else { 1.0 };
                let bound =
                    rate.mu_static[i] * self.forces.normal[i] + self.eval.mu_static[i] * self.rates.normal[i];
                if info[i].tangent.len() < 2 {
                    return sign * bound - side * self.rates.tangential[i];
                }
                let of =
                    |list: &[f64]| std::array::from_fn(|k| info[i].tangent.get(k).map_or(0.0, |&r| list[r]));
                let (force, change) = (of(&self.forces.lambda), of(&self.rates.lambda));
                let size = self.eval.section(i).size_rate(force, change, rate.section(i));
                sign * bound - size.unwrap_or(f64::NAN)
            }
            What::Slip(i, d) => d * self.row_rate(info[i].tangent[0], du),
            What::Guard(k) => rate.guards[k],
            What::Crossing(k, factor) => (if factor == 0.0 { 1.0 } else { factor }) * rate.crossings[k],
            What::Speed(i, _) => speed(i),
            What::Leave(i, _) => -speed(i),
            What::Back(i, d, _) => {
                dot(d, self.slip_rate(&info[i], du))
                    + dot(given[i], slip(&info[i], &self.eval, &self.state.u))
            }
            What::Give(_) | What::Singular => f64::NAN,
        }
    }

    /// Rates of the outputs along `moving` and `dt`; `impulse`: rates of the impulses per row.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn outputs<S: System + ?Sized>(
        &mut self,
        sys: &S,
        column: &Column,
        dt: f64,
        moving: &[f64],
        impulses: &system::Forces,
        impulse: &[f64],
        out: &mut [f64],
    ) -> bool {
        let d = sys.dims();
        let (x, memory) = moving.split_at(d.q + d.u + d.z);
        let along = parts(&d, x, memory, column, dt);
        if !self.differentiate(sys, &along, Some(&column.turn)) {
            return false;
        }
        let info = sys.contacts();
        let (forces, force_rates) = (shared(&self.forces), shared(&self.rates));
        let impulse_rates = of_rows(info, impulse, impulses);
        let at = self.instant(&forces, impulses);
        let rate = InstantRate {
            along,
            eval: &self.tangent.rate,
            accel: &self.rates.accel,
            forces: &force_rates,
            impulses: &impulse_rates,
        };
        sys.outputs_tangent(at, rate, out)
    }

    /// Rates of the memory that events write, along `column.moving` and its δt.
    pub(super) fn memory_rates<S: System + ?Sized>(
        &mut self,
        sys: &S,
        column: &Column,
        fired: &[usize],
        impulses: &system::Forces,
        out: &mut [f64],
    ) -> bool {
        let d = sys.dims();
        let along = along(&d, column, column.dt);
        if !self.differentiate(sys, &along, Some(&column.turn)) {
            return false;
        }
        let (forces, force_rates) = (shared(&self.forces), shared(&self.rates));
        let impulse_rates = of_rows(sys.contacts(), &column.impulse, impulses);
        let at = self.instant(&forces, impulses);
        let rate = InstantRate {
            along,
            eval: &self.tangent.rate,
            accel: &self.rates.accel,
            forces: &force_rates,
            impulses: &impulse_rates,
        };
        sys.fire_tangent(fired, at, rate, out)
    }

    fn instant<'a>(&'a self, forces: &'a system::Forces, impulses: &'a system::Forces) -> Instant<'a> {
        Instant {
            state: &self.state,
            discrete: &self.discrete,
            eval: &self.eval,
            accel: &self.forces.accel,
            forces,
            impulses,
        }
    }

    /// Number of held rows, and of position constraints among them.
    pub(super) fn held(&self, info: &[ContactInfo]) -> (usize, usize) {
        let closed = info.iter().zip(&self.discrete.modes);
        let count = closed.filter(|(c, m)| c.is_bilateral() || (c.is_unilateral() && **m != Mode::Open));
        (self.fixed.held().len(), count.map(|(c, _)| c.normal_rows().len()).sum())
    }
}

/// The direction (dt, moving) of a column.
pub(super) fn along<'a>(d: &system::Dims, column: &'a Column, dt: f64) -> Along<'a> {
    let (x, memory) = column.moving.split_at(d.q + d.u + d.z);
    parts(d, x, memory, column, dt)
}

/// A direction from its parts.
pub(super) fn parts<'a>(
    d: &system::Dims,
    x: &'a [f64],
    memory: &'a [f64],
    column: &'a Column,
    dt: f64,
) -> Along<'a> {
    Along {
        t: dt,
        q: &x[..d.q],
        u: &x[d.q..d.q + d.u],
        z: &x[d.q + d.u..],
        memory,
        since: &column.since,
        parameters: &column.parameters,
    }
}

fn shared(forces: &Forces) -> system::Forces {
    system::Forces {
        lambda: forces.lambda.clone(),
        normal: forces.normal.clone(),
        tangential: forces.tangential.clone(),
    }
}

// rates of impulses per contact from those per row
fn of_rows(info: &[ContactInfo], rates: &[f64], impulses: &system::Forces) -> system::Forces {
    let normal = |c: &ContactInfo| match *c.normal_rows() {
        [a] => rates[a],
        ref rows => {
            let norm = rows.iter().fold(0.0_f64, |n, &r| n.hypot(impulses.lambda[r]));
            let along: f64 = rows.iter().map(|&r| impulses.lambda[r] * rates[r]).sum();
            if norm > 0.0 { along / norm } else { 0.0 }
        }
    };
    system::Forces {
        lambda: rates.to_vec(),
        normal: info.iter().map(normal).collect(),
        tangential: info.iter().map(|c| c.tangential_force(rates)).collect(),
    }
}

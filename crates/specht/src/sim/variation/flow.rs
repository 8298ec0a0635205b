//! The columns between events: the motion and its linear equation side by side, with steps and errors of their own.

use crate::linalg::Mat;
use crate::ode::{Choice, Method, Rhs, Trial, Verdict};
use crate::system::{Along, ContactInfo, Dims, System};

use super::super::field::Field;
use super::place::{Place, parts};
use super::{Column, Variation};

/// Steps of the companion in one step of the run after which it is too stiff to follow.
const MOST: usize = 20_000;
/// Rejections in a row after which no length of step resolves what is seen: it is rounding.
const STUBBORN: usize = 12;

/// Rates that change the motion by less than this part of its size are small.
const SMALL: f64 = 1e-3;

/// Right-hand side of (x, δx of every column).
struct Flow<'v, S: System + ?Sized> {
    sys: &'v S,
    info: &'v [ContactInfo],
    dims: Dims,
    n: usize,
    place: &'v mut Place,
    columns: &'v [Column],
}

impl<S: System + ?Sized> Rhs for Flow<'_, S> {
    fn rates(&mut self, _stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        let Flow { sys, info, dims: d, n, place, columns } = self;
        let n = *n;
        place.state.t = t;
        place.state.q.copy_from_slice(&x[..d.q]);
        place.state.u.copy_from_slice(&x[d.q..d.q + d.u]);
        place.state.z.copy_from_slice(&x[d.q + d.u..n]);
        if !place.solve(*sys, info) {
            return false;
        }
        dx[..n].copy_from_slice(&place.flow);
        for (c, column) in columns.iter().enumerate() {
            let range = (c + 1) * n..(c + 2) * n;
            let (x, dx) = (&x[range.clone()], &mut dx[range]);
            if column.lost {
                dx.fill(0.0);
                continue;
            }
            if !place.differentiate(*sys, &parts(d, x, &column.memory, column, 0.0), Some(&column.turn)) {
                return false;
            }
            place.q_rate(*sys, &x[..d.q], &x[d.q..d.q + d.u], &mut dx[..d.q]);
            dx[d.q..d.q + d.u].copy_from_slice(&place.rates.accel);
            dx[d.q + d.u..].copy_from_slice(&place.tangent.rate.z_rate);
        }
        true
    }

    /// The Jacobian of the motion for the motion and for every column. How the columns depend on the motion is left out: the iteration meets
    /// them once the motion stands.
    fn slopes(&mut self, t: f64, x: &[f64], out: &mut Mat) -> bool {
        let Flow { sys, info, dims: d, n, place, columns } = self;
        let n = *n;
        place.state.t = t;
        place.state.q.copy_from_slice(&x[..d.q]);
        place.state.u.copy_from_slice(&x[d.q..d.q + d.u]);
        place.state.z.copy_from_slice(&x[d.q + d.u..n]);
        if !place.solve(*sys, info) {
            return false;
        }
        out.fill(0.0);
        let still = vec![[0.0; 3]; d.contacts];
        let (mut unit, mut turn) = (vec![0.0; n], vec![0.0; d.q]);
        for j in 0..n {
            unit.fill(0.0);
            unit[j] = 1.0;
            let (q, rest) = unit.split_at(d.q);
            let (u, z) = rest.split_at(d.u);
            if !place.differentiate(*sys, &Along { q, u, z, ..Along::default() }, Some(&still)) {
                return false;
            }
            place.q_rate(*sys, q, u, &mut turn);
            let column = turn.iter().chain(&place.rates.accel).chain(&place.tangent.rate.z_rate);
            for (i, slope) in column.enumerate() {
                (0..=columns.len()).for_each(|b| out[(b * n + i, b * n + j)] = *slope);
            }
        }
        true
    }
}

impl Variation {
    /// A segment begins where the field stands.
    pub(crate) fn enter<S: System + ?Sized>(&mut self, field: &Field<S>) {
        self.place.adopt(field);
        self.fresh = true;
        self.control.restart();
        if field.chart.active {
            self.lose_all(field.state.t, "the linkage stands at a change point");
        }
    }

    /// What is small beside the motion itself, or beside what the forces in balance would give in a step, need not be resolved: a part that is
    /// held has rates of rounding.
    fn set_floors<S: System + ?Sized>(&mut self, field: &Field<S>, host: &Method) {
        let d = &self.dims;
        let pushed = (0..d.u).map(|i| (field.eval.h[i] / field.eval.mass.diagonal(i)).abs() * host.step());
        self.sizes[1] = pushed.filter(|v| v.is_finite()).fold(self.sizes[1], f64::max);
        let groups = [0..d.q, d.q..d.q + d.u, d.q + d.u..self.n];
        for (size, g) in self.sizes.iter_mut().zip(groups) {
            let ends = host.state()[g.clone()].iter().chain(&host.end()[g.clone()]);
            let rates = host.rates()[g].iter().map(|v| host.step() * v);
            *size = ends.copied().chain(rates).fold(*size, |m, v| m.max(v.abs()));
        }
        let kinds = if d.z > 0 { 3 } else { 2 };
        for (c, column) in self.columns.iter().enumerate() {
            for k in 0..kinds {
                self.control.set_floor(1 + c * kinds + k, SMALL * column.scale * self.sizes[k]);
            }
        }
    }

    /// Columns from the present time to `end`, in a step of the run that is tried in `host`.
    pub(crate) fn advance<S: System + ?Sized>(&mut self, field: &Field<S>, host: &Method, end: f64) {
        self.advance_through(field, host, end, &[], &mut Vec::new());
    }

    /// The same; the columns at the instants on the way go to `rows`, one after the other. They do not shorten the steps.
    pub(crate) fn advance_through<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        host: &Method,
        end: f64,
        times: &[f64],
        rows: &mut Vec<f64>,
    ) {
        if self.columns.iter().all(|c| c.lost) {
            return;
        }
        if field.chart.active {
            return self.lose_all(end, "the linkage stands at a change point");
        }
        let (n, start, x) = (self.n, host.time(), &host.state()[..self.n]);
        self.set_floors(field, host);
        self.place.discrete.contour.clone_from(&field.discrete.contour);
        self.place.discrete.load_rate.clone_from(&field.discrete.load_rate);
        let smallest = 8.0 * f64::EPSILON * end.abs().max(f64::MIN_POSITIVE);
        let turned = self.implicit != host.is_implicit();
        self.implicit = host.is_implicit();
        let size = self.y.len();
        let Variation { dims, columns, place, explicit, stiff, control, y, h, .. } = self;
        let ode = match self.implicit {
            true => &mut **stiff.get_or_insert_with(|| Box::new(Method::new(size, size, Choice::Implicit))),
            false => explicit,
        };
        let behind = (ode.time() - start).abs() <= smallest && y[..n] != *x;
        let anew = self.fresh || behind || turned;
        self.fresh = false;
        let mut flow = Flow { sys: field.sys, info: field.info, dims: *dims, n, place, columns };
        if anew {
            y[..n].copy_from_slice(x);
            for (c, column) in flow.columns.iter().enumerate() {
                y[(c + 1) * n..(c + 2) * n].copy_from_slice(&column.x);
            }
            ode.start(start, y, &mut flow);
        }
        let (mut steps, mut rejected, mut passed) = (0, 0, 0);
        let mut at_row = vec![0.0; if times.is_empty() { 0 } else { size }];
        loop {
            let remaining = end - ode.time();
            if remaining <= smallest {
                break;
            }
            let cut = remaining < 1.05 * *h;
            let length = if cut { remaining } else { *h };
            steps += 1;
            if steps > MOST || length <= 0.1 * smallest {
                let t = ode.time();
                self.lose_all(t, "the derivatives grow too fast to follow");
                return;
            }
            if !ode.attempt(length, control, &mut flow) {
                control.refuse();
                *h = 0.25 * length;
                continue;
            }
            let verdict = control.judge(ode);
            if !matches!(verdict, Verdict::Reject(_)) || rejected >= STUBBORN {
                // instants inside the step, by its dense output
                let (begin, first) = (ode.time(), passed);
                while let Some(&t) = times.get(passed).filter(|t| cut || **t <= begin + length) {
                    if passed == first && !ode.prepare(&mut flow) {
                        break;
                    }
                    ode.interpolate(((t - begin) / length).clamp(0.0, 1.0), &mut at_row);
                    rows.extend_from_slice(&at_row[n..]);
                    passed += 1;
                }
            }
            match verdict {
                Verdict::Accept(next) => {
                    rejected = 0;
                    ode.advance();
                    *h = if cut { h.max(next) } else { next };
                }
                Verdict::Reject(_) if rejected >= STUBBORN => {
                    rejected = 0;
                    ode.advance();
                    *h = 8.0 * length;
                }
                Verdict::Reject(next) => {
                    rejected += 1;
                    control.measure(ode, next, &mut flow);
                    *h = next;
                }
            }
        }
        y.copy_from_slice(ode.state());
        for (c, column) in self.columns.iter_mut().enumerate() {
            column.x.copy_from_slice(&y[(c + 1) * n..(c + 2) * n]);
        }
    }
}

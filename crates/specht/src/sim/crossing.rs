//! Where two branches of a linkage cross, and whether its loops close there.
//!
//! Of the independent rows, those that stay independent are solved for some coordinates; what is left of the other rows is
//! their residual φ and their derivative Z along the remaining coordinates (elimination with pivots chosen once). Branches
//! cross, or nearly do, at the saddle of φ:
//!
//! ```text
//! g_kept(t, q) = 0,   Z(t, q) = 0        Gauss–Newton with exact derivatives, time as one more coordinate
//! ```
//!
//! The value of φ there is the *misfit*: zero for a change point; of a linkage that misses it the branches are the two parts of a
//! hyperbola, √misfit apart. It does not depend on how accurately the motion up to here has been computed.

use crate::linalg::{Cholesky, Mat, axpy, max_abs};
use crate::system::{Along, Eval, State, System, Tangent};

use super::field::Field;

/// A pivot that falls below this part of what it was at the base is lost.
const FALLS: f64 = 0.5;
/// A pivot that is below this part of what it was is zero.
const GONE: f64 = 1e-5;
/// Singular values below this have no influence: motions along which the branches go on crossing.
const FREE: f64 = 1e-6;

/// A point where branches cross or nearly do.
pub(crate) struct Crossing {
    /// How far the loops are from closing there.
    pub misfit: f64,
    /// Time until it is reached.
    pub distance: f64,
    /// Independent constraints that are lost there.
    pub lost: usize,
}

/// The crossing about `distance` (time) ahead of the evaluated state of `field`, along its velocities; twice as far when two
/// loops lose rank at once. `rows` are the independent constraints there, `weight` the diagonal of D⁻¹. None when there is no such
/// point nearby, or the system has no derivatives. The field is left where it was.
pub(crate) fn find<S: System + ?Sized>(
    field: &mut Field<S>,
    rows: &[usize],
    weight: &[f64],
    distance: f64,
) -> Option<Crossing> {
    let here = field.state.clone();
    let found = Search::new(field, rows, weight, distance).and_then(|search| {
        let misfit = search.run(field, &here)?;
        let at = pivots(&mut search.matrix(&field.eval), &mut Vec::new());
        let lost = at.iter().zip(&search.base).filter(|(a, b)| **a < GONE * **b).count();
        Some(Crossing { misfit, distance: search.share * distance, lost })
    });
    field.state = here;
    field.evaluate();
    found
}

struct Search {
    rows: Vec<usize>,
    /// Size of one unit of every coordinate, the last one time.
    unit: Vec<f64>,
    row_scale: Vec<f64>,
    /// Rows and columns exchanged at each pivot.
    order: Vec<(usize, usize)>,
    kept: usize,
    distance: f64,
    /// Where the search starts, in distances.
    share: f64,
    /// Pivots before.
    base: Vec<f64>,
}

impl Search {
    fn new<S: System + ?Sized>(
        field: &mut Field<S>,
        rows: &[usize],
        weight: &[f64],
        distance: f64,
    ) -> Option<Self> {
        let n = field.dims.u;
        // one unit: the way to the change point, in the metric of D
        let way: f64 = field.state.u.iter().zip(weight).map(|(u, w)| u * u / w).sum();
        let way = distance * way.sqrt();
        let mut unit: Vec<f64> = weight.iter().map(|w| way * w.sqrt()).collect();
        unit.push(distance);
        let size = |row: usize| -> f64 {
            (0..n).map(|k| (field.eval.w[(row, k)] * unit[k]).powi(2)).sum::<f64>().sqrt()
        };
        let row_scale: Vec<f64> = rows.iter().map(|&row| 1.0 / size(row)).collect();
        if !(way > 0.0 && row_scale.iter().all(|s| s.is_finite())) {
            return None;
        }
        let (rows, order) = (rows.to_vec(), Vec::new());
        let mut out =
            Search { rows, unit, row_scale, order, kept: 0, distance, share: 1.0, base: Vec::new() };
        let base = pivots(&mut out.matrix(&field.eval), &mut out.order);
        let here = field.state.clone();
        let mut least = f64::INFINITY;
        for share in [1.0, 2.0] {
            field.state.clone_from(&here);
            out.go(field, share);
            let mut order = Vec::new();
            let ahead = pivots(&mut out.matrix(&field.eval), &mut order);
            let left = ahead.iter().zip(&base).map(|(a, b)| a / b).fold(f64::INFINITY, f64::min);
            if left < least {
                let stay = ahead.iter().zip(&base).take_while(|(a, b)| **a >= FALLS * **b).count();
                (least, out.share, out.order, out.kept) = (left, share, order, stay.min(base.len() - 1));
            }
        }
        out.base = base;
        field.state = here;
        out.go(field, out.share);
        Some(out)
    }

    // along the velocities
    fn go<S: System + ?Sized>(&self, field: &mut Field<S>, share: f64) {
        let mut rate = vec![0.0; field.dims.q];
        field.sys.q_rate(&field.state, &mut rate);
        axpy(share * self.distance, &rate, &mut field.state.q);
        field.state.t += share * self.distance;
        field.evaluate();
    }

    // rows of the constraints in units of the way, the gaps in the last column
    fn matrix(&self, eval: &Eval) -> Mat {
        let n = eval.w.cols();
        Mat::from_fn(self.rows.len(), n + 2, |i, k| {
            let row = self.rows[i];
            let value = if k < n {
                eval.w[(row, k)] * self.unit[k]
            } else if k == n {
                eval.rate_offset[row] * self.unit[k]
            } else {
                eval.gap[row]
            };
            value * self.row_scale[i]
        })
    }

    fn reduced(&self, eval: &Eval) -> Mat {
        let mut a = self.matrix(eval);
        for (k, &(p, q)) in self.order.iter().take(self.kept).enumerate() {
            exchange(&mut a, k, p, q);
            eliminate(&mut a, k);
        }
        a
    }

    /// The rate of [`Search::reduced`] along one unit of coordinate `l`; `None` without derivatives.
    fn reduced_rate<S: System + ?Sized>(
        &self,
        field: &Field<S>,
        l: usize,
        tangent: &mut Tangent,
    ) -> Option<Mat> {
        let mut q = vec![0.0; field.dims.q];
        let mut along = Along::default();
        match q.get_mut(l) {
            Some(q) if l < field.dims.u => *q = self.unit[l],
            _ => along.t = self.unit[l],
        }
        along.q = &q;
        let Field { sys, state, discrete, eval, .. } = field;
        sys.tangent(state, discrete, eval, &along, tangent).then(|| {
            let (mut a, mut rate) = (self.matrix(eval), self.matrix(&tangent.rate));
            for (k, &(p, q)) in self.order.iter().take(self.kept).enumerate() {
                exchange(&mut a, k, p, q);
                exchange(&mut rate, k, p, q);
                eliminate_rate(&a, &mut rate, k);
                eliminate(&mut a, k);
            }
            rate
        })
    }

    fn run<S: System + ?Sized>(&self, field: &mut Field<S>, start: &State) -> Option<f64> {
        let (n, r, kept) = (field.dims.u, self.rows.len(), self.kept);
        let cols = n + 1;
        // columns after the exchanges
        let mut column: Vec<usize> = (0..cols).collect();
        let mut scale = self.row_scale.clone();
        for (k, &(p, q)) in self.order.iter().take(kept).enumerate() {
            column.swap(k, q);
            scale.swap(k, p);
        }
        let free = cols - kept;
        let mut normal = Cholesky::default();
        let mut tangent = Tangent::new(field.sys);
        for _ in 0..20 {
            let a = self.reduced(&field.eval);
            let mut e = Mat::zeros(kept + (r - kept) * free, cols);
            let mut rhs = vec![0.0; e.rows()];
            for k in 0..kept {
                rhs[k] = -a[(k, cols)];
                for j in k..cols {
                    e[(k, column[j])] = a[(k, j)];
                }
            }
            let flat = |a: &Mat, x: usize| a[(kept + x / free, kept + x % free)];
            for x in 0..(r - kept) * free {
                rhs[kept + x] = -flat(&a, x);
            }
            for l in 0..cols {
                let rate = self.reduced_rate(field, l, &mut tangent)?;
                for x in 0..(r - kept) * free {
                    e[(kept + x, l)] = flat(&rate, x);
                }
            }
            // least squares; directions without influence stay
            let square = Mat::from_fn(cols, cols, |i, j| {
                let s: f64 = (0..e.rows()).map(|x| e[(x, i)] * e[(x, j)]).sum();
                s + if i == j { FREE * FREE } else { 0.0 }
            });
            let mut step: Vec<f64> =
                (0..cols).map(|i| (0..e.rows()).map(|x| e[(x, i)] * rhs[x]).sum()).collect();
            normal.factor(&square).ok()?;
            normal.solve(&mut step);
            for (l, s) in step.iter().enumerate() {
                self.shift(field, l, *s);
            }
            field.evaluate();
            let away = (field.state.q.iter().zip(&start.q).zip(&self.unit))
                .fold(0.0_f64, |m, ((a, b), unit)| m.max(((a - b) / unit).abs()));
            if !(away <= 4.0) {
                return None;
            }
            // φ is stationary here: its error is the square of the step
            if max_abs(&step) <= 1e-7 {
                let a = self.reduced(&field.eval);
                return Some((kept..r).fold(0.0_f64, |m, i| m.max((a[(i, cols)] / scale[i]).abs())));
            }
        }
        None
    }

    // planar coordinates: positions move as velocities do
    fn shift<S: System + ?Sized>(&self, field: &mut Field<S>, l: usize, step: f64) {
        match field.state.q.get_mut(l) {
            Some(q) if l < field.dims.u => *q += step * self.unit[l],
            _ => field.state.t += step * self.unit[l],
        }
    }
}

/// Eliminate with complete pivoting; the pivots, and in `order` what was exchanged. The last column is the right side.
fn pivots(a: &mut Mat, order: &mut Vec<(usize, usize)>) -> Vec<f64> {
    let (r, cols) = (a.rows(), a.cols() - 1);
    order.clear();
    let mut out = Vec::new();
    for k in 0..r.min(cols) {
        let (mut p, mut q, mut best) = (k, k, 0.0);
        for i in k..r {
            for j in k..cols {
                if a[(i, j)].abs() > best {
                    (p, q, best) = (i, j, a[(i, j)].abs());
                }
            }
        }
        out.push(best);
        order.push((p, q));
        if best == 0.0 {
            break;
        }
        exchange(a, k, p, q);
        eliminate(a, k);
    }
    out
}

fn exchange(a: &mut Mat, k: usize, p: usize, q: usize) {
    for j in 0..a.cols() {
        (a[(k, j)], a[(p, j)]) = (a[(p, j)], a[(k, j)]);
    }
    for i in 0..a.rows() {
        (a[(i, k)], a[(i, q)]) = (a[(i, q)], a[(i, k)]);
    }
}

fn eliminate(a: &mut Mat, k: usize) {
    for i in k + 1..a.rows() {
        let f = a[(i, k)] / a[(k, k)];
        for j in k..a.cols() {
            a[(i, j)] -= f * a[(k, j)];
        }
        a[(i, k)] = 0.0;
    }
}

/// What [`eliminate`] does to the rates, before it does it to `a`.
fn eliminate_rate(a: &Mat, rate: &mut Mat, k: usize) {
    for i in k + 1..a.rows() {
        let f = a[(i, k)] / a[(k, k)];
        let change = (rate[(i, k)] - f * rate[(k, k)]) / a[(k, k)];
        for j in k..a.cols() {
            let part = change * a[(k, j)] + f * rate[(k, j)];
            rate[(i, j)] -= part;
        }
        rate[(i, k)] = 0.0;
    }
}

//! Sizes by inertia: forces and torques, lengths and angles compare in any units.

use crate::system::Eval;

/// Sizes of coordinates and rows by inertia: `w_rk / (coordinate_k · row_r)` is a pure number of at most about 1.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    /// √M_kk; a coordinate without mass is measured by the rows that act on it.
    pub coordinate: Vec<f64>,
    /// √(w M⁻¹ wᵀ) with the diagonal of M: forces times this compare.
    pub row: Vec<f64>,
}

impl Measure {
    /// At an evaluation.
    pub(crate) fn of(eval: &Eval) -> Self {
        let n = eval.h.len();
        let mut coordinate: Vec<f64> = (0..n).map(|k| eval.mass.diagonal(k).max(0.0).sqrt()).collect();
        let length = |r: usize, unit: &[f64]| {
            let parts = eval.w.row(r).iter().filter(|(k, _)| unit[*k] > 0.0);
            parts.map(|(k, w)| (w / unit[k]).powi(2)).sum::<f64>().sqrt()
        };
        let mut row: Vec<f64> = (0..eval.w.rows()).map(|r| length(r, &coordinate)).collect();
        for k in (0..n).filter(|&k| eval.mass.diagonal(k) <= 0.0) {
            let measured = (0..row.len()).filter(|&r| row[r] > 0.0);
            let unit = measured.map(|r| eval.w[(r, k)].abs() / row[r]).fold(0.0, f64::max);
            coordinate[k] = if unit > 0.0 { unit } else { 1.0 };
        }
        for (r, size) in row.iter_mut().enumerate().filter(|(_, size)| **size == 0.0) {
            let own = length(r, &coordinate);
            *size = if own > 0.0 { own } else { 1.0 };
        }
        Measure { coordinate, row }
    }

    /// How far each coordinate must go, alone, to change the nearest of the gaps by its size, and all by the same work of inertia: the
    /// natural unit of a displacement. `size` of a gap by its row; `length` where there is no gap.
    pub(crate) fn reach(
        eval: &Eval,
        normals: &[usize],
        size: impl Fn(usize) -> f64,
        length: f64,
    ) -> Vec<f64> {
        let Measure { coordinate, row } = Measure::of(eval);
        let moved = normals.iter().filter(|&&r| eval.w.row(r).square() > 0.0);
        let nearest = moved.map(|&r| size(r) / row[r]).fold(f64::INFINITY, f64::min);
        let lightest = coordinate.iter().copied().fold(f64::INFINITY, f64::min);
        let work = if nearest.is_finite() && nearest > 0.0 { nearest } else { length * lightest };
        coordinate.iter().map(|c| work / c).collect()
    }
}

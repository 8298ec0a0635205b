//! Friction tensors: the matrix over tangents, or over tangents and normal (VAG-1, VAG-2).

/// Smallest eigenvalue of the symmetric part of a square matrix of order 1 or 2; `None` for other orders.
///
/// Friction dissipates for every direction of slip if and only if the symmetric part is positive semi-definite.
pub(crate) fn lowest_eigenvalue(entries: &[f64], order: usize) -> Option<f64> {
    match (order, entries) {
        (1, [a]) => Some(*a),
        (2, [a, b, c, d]) => {
            let off = (b + c) / 2.0;
            let (mean, half) = ((a + d) / 2.0, (a - d) / 2.0);
            Some(mean - half.hypot(off))
        }
        _ => None,
    }
}

//! Free rotations as numbers: rates, displacements and the length of unit quaternions.

/// ½ (0, w) p.
pub(in crate::model) fn rate(p: &[f64], w: &[f64], out: &mut [f64]) {
    out[0] = -0.5 * (w[0] * p[1] + w[1] * p[2] + w[2] * p[3]);
    out[1] = 0.5 * (w[0] * p[0] + (w[1] * p[3] - w[2] * p[2]));
    out[2] = 0.5 * (w[1] * p[0] + (w[2] * p[1] - w[0] * p[3]));
    out[3] = 0.5 * (w[2] * p[0] + (w[0] * p[2] - w[1] * p[1]));
}

/// p ← exp(δ/2) p: the turn by the vector δ.
pub(in crate::model) fn turn(p: &mut [f64], delta: &[f64]) {
    let angle = (delta[0] * delta[0] + delta[1] * delta[1] + delta[2] * delta[2]).sqrt();
    // sin(a/2)/(a/2), also at zero
    let half = 0.5 * angle;
    let f = if half < 1e-4 { 1.0 - half * half / 6.0 } else { half.sin() / half };
    let mut turned = [0.0; 4];
    rate(p, delta, &mut turned);
    for (p, t) in p.iter_mut().zip(turned) {
        *p = half.cos() * *p + f * t;
    }
    restore(p);
}

/// p/|p|.
pub(in crate::model) fn restore(p: &mut [f64]) {
    let size = p.iter().map(|v| v * v).sum::<f64>().sqrt();
    if size > 0.0 {
        p.iter_mut().for_each(|v| *v /= size);
    }
}

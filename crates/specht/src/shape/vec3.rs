//! Vectors of three numbers.

/// Three numbers.
pub(crate) type V3 = [f64; 3];

#[inline]
pub(crate) fn add(a: V3, b: V3) -> V3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline]
pub(crate) fn sub(a: V3, b: V3) -> V3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline]
pub(super) fn scale(f: f64, a: V3) -> V3 {
    [f * a[0], f * a[1], f * a[2]]
}

/// a + f b.
#[inline]
pub(crate) fn along(a: V3, f: f64, b: V3) -> V3 {
    [a[0] + f * b[0], a[1] + f * b[1], a[2] + f * b[2]]
}

#[inline]
pub(crate) fn dot(a: V3, b: V3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
pub(crate) fn cross(a: V3, b: V3) -> V3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline]
pub(crate) fn norm(a: V3) -> f64 {
    dot(a, a).sqrt()
}

#[inline]
pub(super) fn max_abs(a: V3) -> f64 {
    a[0].abs().max(a[1].abs()).max(a[2].abs())
}

/// Unit vector; `None` when it is zero.
#[inline]
pub(super) fn unit(a: V3) -> Option<V3> {
    let n = norm(a);
    (n > 0.0).then(|| scale(1.0 / n, a))
}

//! Rotations as matrices and as turns about x, y, z.

use super::Turn;

/// A rotation, row by row.
pub type Matrix = [[f64; 3]; 3];

/// No rotation.
pub const NONE: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// A B.
pub fn product(a: Matrix, b: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// A v.
pub fn times(a: Matrix, v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|k| a[i][k] * v[k]).sum())
}

/// The other way round.
pub fn transposed(a: Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

/// A turn about an axis of the frame.
pub fn about(axis: usize, angle: f64) -> Matrix {
    let (s, c) = angle.sin_cos();
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut m = NONE;
    (m[j][j], m[j][k], m[k][j], m[k][k]) = (c, -s, s, c);
    m
}

/// Roll, pitch and yaw about fixed axes.
pub fn fixed([roll, pitch, yaw]: [f64; 3]) -> Matrix {
    product(about(2, yaw), product(about(1, pitch), about(0, roll)))
}

/// Of a quaternion w, x, y, z of any length.
pub fn quaternion(q: [f64; 4]) -> Option<Matrix> {
    let size = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    if !(size > 0.0) {
        return None;
    }
    let [w, x, y, z] = q.map(|v| v / size);
    Some([
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (z * z + x * x), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ])
}

/// Constant turns about z, y, x, one after the other; those by nothing are left out. What the first turn leaves is read off the matrix that
/// it leaves, so that the three give the matrix to rounding also where yaw and roll are nearly one.
pub fn turns(m: Matrix) -> Vec<Turn> {
    let level = m[0][0].hypot(m[1][0]);
    let yaw = if level < 1e-14 { 0.0 } else { m[1][0].atan2(m[0][0]) };
    let rest = product(about(2, -yaw), m);
    let pitch = (-m[2][0]).atan2(rest[0][0]);
    let roll = (-rest[1][2]).atan2(rest[1][1]);
    let list = [(2, yaw), (1, pitch), (0, roll)];
    list.into_iter()
        .filter(|(_, angle)| *angle != 0.0)
        .map(|(axis, angle)| Turn::Constant(axis, angle))
        .collect()
}

/// The same, by the coordinate less a constant.
pub fn joint_from(number: usize, axis: [f64; 3], reference: f64) -> Option<Vec<Turn>> {
    let mut list = joint(number, axis)?;
    let place = list.iter().position(|t| matches!(t, Turn::Joint(..)));
    if let (Some(k), true) = (place, reference != 0.0)
        && let Turn::Joint(axis, _, sign) = list[k]
    {
        list.insert(k, Turn::Constant(axis, -sign * reference));
    }
    Some(list)
}

/// A turn by a coordinate about any direction: the frame is turned so that the direction is z, and back.
pub fn joint(joint: usize, axis: [f64; 3]) -> Option<Vec<Turn>> {
    let unit = unit(axis)?;
    for k in 0..3 {
        if unit[k].abs() > 1.0 - 1e-15 {
            return Some(vec![Turn::Joint(k, joint, unit[k].signum())]);
        }
    }
    // axis = Rz(a) Ry(b) z
    let (a, b) = (unit[1].atan2(unit[0]), unit[0].hypot(unit[1]).atan2(unit[2]));
    let there = [Turn::Constant(2, a), Turn::Constant(1, b)];
    let back = [Turn::Constant(1, -b), Turn::Constant(2, -a)];
    Some(there.into_iter().chain([Turn::Joint(2, joint, 1.0)]).chain(back).collect())
}

/// A direction of length one.
pub fn unit(v: [f64; 3]) -> Option<[f64; 3]> {
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    (size > 0.0 && size.is_finite()).then(|| v.map(|x| x / size))
}

/// R I Rᵀ, symmetric to the bit.
pub fn turned(r: Matrix, inertia: Matrix) -> Matrix {
    let m = product(r, product(inertia, transposed(r)));
    std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (m[i][j] + m[j][i])))
}

/// Whether a body can have this inertia: no principal moment is negative or above the sum of the two others, which is so when trace/2 · 1 − I
/// has no negative eigenvalue, seen by its principal minors.
pub fn possible(inertia: &Matrix) -> bool {
    let half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2]);
    let room = 1e-9 * half.abs();
    let m: Matrix = std::array::from_fn(|i| {
        std::array::from_fn(|j| if i == j { half + room - inertia[i][j] } else { -inertia[i][j] })
    });
    let two = |i: usize, j: usize| m[i][i] * m[j][j] - m[i][j] * m[j][i];
    let three = m[0][0] * two(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    (0..3).all(|i| m[i][i] >= 0.0)
        && [(0, 1), (0, 2), (1, 2)].iter().all(|&(i, j)| two(i, j) >= 0.0)
        && three >= 0.0
}

/// The quaternion w, x, y, z of a rotation (Shepperd: by its largest component).
pub fn to_quaternion(m: Matrix) -> [f64; 4] {
    let trace = m[0][0] + m[1][1] + m[2][2];
    let largest = (0..3).max_by(|&i, &j| m[i][i].total_cmp(&m[j][j])).unwrap_or(0);
    if trace > m[largest][largest] {
        let w = 0.5 * (1.0 + trace).sqrt();
        let f = 0.25 / w;
        return [w, f * (m[2][1] - m[1][2]), f * (m[0][2] - m[2][0]), f * (m[1][0] - m[0][1])];
    }
    let (i, j, k) = (largest, (largest + 1) % 3, (largest + 2) % 3);
    let mut q = [0.0; 4];
    q[1 + i] = 0.5 * (1.0 + m[i][i] - m[j][j] - m[k][k]).max(0.0).sqrt();
    let f = 0.25 / q[1 + i];
    (q[0], q[1 + j], q[1 + k]) = (f * (m[k][j] - m[j][k]), f * (m[j][i] + m[i][j]), f * (m[k][i] + m[i][k]));
    q
}

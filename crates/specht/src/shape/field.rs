//! Height fields: smooth surfaces z = f(x, y) over a grid
//!
//! Between the nodes f is the bicubic polynomial with the values and the derivatives f_x, f_y, f_xy of the four corners of a cell
//! (Hermite): continuous with its slopes, exact for polynomials of third degree in each variable, with an error of fourth order in the width of a cell
//! otherwise. The material is below. Beyond the grid there is nothing.

use super::convex::{Body, depth, distance, is_same};
use super::cylinder::{AROUND, probes};
use super::vec3::{V3, along, dot, scale, sub};
use super::{Placed, Shape, Touch, size_of};

/// Rounds of Newton's method for the foot of a point.
const ROUNDS: usize = 40;

/// Rounds of the search for a hump at most: 30 halvings, and steps between them.
const SEARCH: usize = 300;
/// Distances that differ by less than this part of the size are the same.
const LEVEL: f64 = 1e-15;

/// Values of a grid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    /// The first node.
    pub(crate) origin: [f64; 2],
    /// Widths of a cell.
    pub(crate) step: [f64; 2],
    /// Nodes along x and y, at least two each.
    pub(crate) nodes: [usize; 2],
    /// f, f_x, f_y, f_xy at the nodes, x running first.
    pub(crate) values: Vec<[f64; 4]>,
}

/// f with its first and second derivatives: f, f_x, f_y, f_xx, f_xy, f_yy.
type Jet = [f64; 6];

impl Field {
    /// With derivatives by differences of second order.
    pub(crate) fn of_heights(origin: [f64; 2], step: [f64; 2], nodes: [usize; 2], z: &[f64]) -> Field {
        let [nx, ny] = nodes;
        let slope = |n: usize, k: usize, h: f64, at: &dyn Fn(usize) -> f64| match (n, k) {
            (2, _) => (at(1) - at(0)) / h,
            (_, 0) => (4.0 * at(1) - 3.0 * at(0) - at(2)) / (2.0 * h),
            (n, k) if k + 1 == n => (3.0 * at(k) - 4.0 * at(k - 1) + at(k - 2)) / (2.0 * h),
            (_, k) => (at(k + 1) - at(k - 1)) / (2.0 * h),
        };
        let along_x = |i: usize, j: usize| slope(nx, i, step[0], &|k| z[j * nx + k]);
        let values = (0..nx * ny).map(|k| {
            let (i, j) = (k % nx, k / nx);
            let zy = slope(ny, j, step[1], &|l| z[l * nx + i]);
            [z[k], along_x(i, j), zy, slope(ny, j, step[1], &|l| along_x(i, l))]
        });
        Field { origin, step, nodes, values: values.collect() }
    }

    /// Whether a place is over the grid.
    fn holds(&self, x: f64, y: f64) -> bool {
        [x, y].iter().enumerate().all(|(k, v)| {
            let room = 1e-9 * self.step[k];
            let end = self.origin[k] + self.step[k] * (self.nodes[k] - 1) as f64;
            *v >= self.origin[k] - room && *v <= end + room
        })
    }

    /// The surface over a place, continued by its border cells.
    pub(crate) fn jet(&self, x: f64, y: f64) -> Jet {
        let cell = |v: f64, k: usize| {
            let s = (v - self.origin[k]) / self.step[k];
            let c = (s.floor().max(0.0) as usize).min(self.nodes[k] - 2);
            (c, s - c as f64)
        };
        let ((i, s), (j, t)) = (cell(x, 0), cell(y, 1));
        let (bx, by) = (basis(s, self.step[0]), basis(t, self.step[1]));
        let mut out = [0.0; 6];
        for a in 0..2 {
            for b in 0..2 {
                let v = &self.values[(j + b) * self.nodes[0] + i + a];
                // weights of value and slope, with derivatives 0, 1, 2
                for (k, (m, n)) in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)].into_iter().enumerate() {
                    let (px, dx) = (bx[m][a], bx[m][2 + a]);
                    let (py, dy) = (by[n][b], by[n][2 + b]);
                    out[k] += v[0] * px * py + v[1] * dx * py + v[2] * px * dy + v[3] * dx * dy;
                }
            }
        }
        out
    }

    /// The place of the surface nearest to p from (x, y) on; `None` where it is none within the grid.
    fn foot(&self, p: V3, start: [f64; 2]) -> Option<(V3, V3)> {
        let [mut x, mut y] = start;
        let small = 1e-14 * (self.step[0] + self.step[1]);
        for _ in 0..ROUNDS {
            let [z, zx, zy, zxx, zxy, zyy] = self.jet(x, y);
            let up = z - p[2];
            let (gx, gy) = (x - p[0] + up * zx, y - p[1] + up * zy);
            let (mut a, mut b, mut c) =
                (1.0 + zx * zx + up * zxx, zx * zy + up * zxy, 1.0 + zy * zy + up * zyy);
            if a <= 0.0 || a * c - b * b <= 1e-6 * (a * c).abs() {
                (a, b, c) = (1.0 + zx * zx, zx * zy, 1.0 + zy * zy);
            }
            let det = a * c - b * b;
            let (dx, dy) = ((c * gx - b * gy) / det, (a * gy - b * gx) / det);
            // no farther than a cell at once
            let far = (dx / self.step[0]).abs().max((dy / self.step[1]).abs()).max(1.0);
            x -= dx / far;
            y -= dy / far;
            if !(x.is_finite() && y.is_finite()) {
                return None;
            }
            if dx.abs() + dy.abs() < small {
                break;
            }
        }
        let [z, zx, zy, ..] = self.jet(x, y);
        let length = (1.0 + zx * zx + zy * zy).sqrt();
        self.holds(x, y).then_some(([x, y, z], [-zx / length, -zy / length, 1.0 / length]))
    }

    /// Corners of the box that holds it.
    pub(super) fn corners(&self) -> (V3, V3) {
        let z = |pick: fn(f64, f64) -> f64| self.values.iter().map(|v| v[0]).fold(self.values[0][0], pick);
        let end = [0, 1].map(|k| self.origin[k] + self.step[k] * (self.nodes[k] - 1) as f64);
        let (low, high) = (z(f64::min), z(f64::max));
        // cubics leave their nodes by a part of their rise
        let room = 0.25 * (high - low);
        ([self.origin[0], self.origin[1], low - room], [end[0], end[1], high + room])
    }
}

/// Weights of the two values and the two slopes, with their first and second derivatives.
fn basis(t: f64, h: f64) -> [[f64; 4]; 3] {
    let (t2, t3) = (t * t, t * t * t);
    [
        [1.0 - 3.0 * t2 + 2.0 * t3, 3.0 * t2 - 2.0 * t3, h * (t - 2.0 * t2 + t3), h * (t3 - t2)],
        [6.0 * (t2 - t) / h, 6.0 * (t - t2) / h, 1.0 - 4.0 * t + 3.0 * t2, 3.0 * t2 - 2.0 * t],
        [(12.0 * t - 6.0) / (h * h), (6.0 - 12.0 * t) / (h * h), (6.0 * t - 4.0) / h, (6.0 * t - 2.0) / h],
    ]
}

/// A convex shape on a height field that stands at the pose of `at`.
pub(super) fn on_field(a: Body<'_>, field: &Field, at: &Placed, push: V3, margin: f64, out: &mut Vec<Touch>) {
    let pose = &at.pose;
    let (first, size, deep) = (out.len(), size_of(a.1), -depth(a));
    let keep = |t: Touch, out: &mut Vec<Touch>| {
        let known = |x: &Touch| is_same(x.point, t.point, size) && dot(x.normal, t.normal) > 0.99;
        if t.gap <= margin && t.gap > deep && !out[first..].iter().any(known) {
            out.push(t);
        }
    };
    // a point of A with a radius around it
    let touch = |x: V3, start: [f64; 2], radius: f64, feature: u32| {
        let local = pose.back(x);
        field.foot(local, [local[0] + start[0], local[1] + start[1]]).map(|(foot, n)| {
            let n = pose.turn(n);
            let gap = dot(n, sub(x, pose.place(foot))) - radius;
            Touch::on_a(gap, n, along(x, -radius, n), feature)
        })
    };
    match a.0 {
        Shape::Round { ends, radius } => {
            let r = 0.7 * radius;
            let starts = [[0.0, 0.0], [r, 0.0], [-r, 0.0], [0.0, r], [0.0, -r]];
            for (k, &x) in a.1.points.iter().enumerate().take(if ends[0] == ends[1] { 1 } else { 2 }) {
                for (i, start) in starts.into_iter().enumerate() {
                    touch(x, start, *radius, (8 * k + i) as u32).into_iter().for_each(|t| keep(t, out));
                }
            }
            if ends[0] == ends[1] {
                return;
            }
        }
        Shape::Hull(_) => {
            for (k, &x) in a.1.points.iter().enumerate() {
                touch(x, [0.0; 2], 0.0, k as u32).into_iter().for_each(|t| keep(t, out));
            }
        }
        Shape::Cylinder { radius, .. } => {
            let middle = scale(0.5, [0, 1, 2].map(|k| a.1.low[k] + a.1.high[k]));
            let n =
                field.foot(pose.back(middle), first_two(pose.back(middle))).map_or([0.0, 0.0, 1.0], |f| f.1);
            let mut points = [([0.0; 3], 0); AROUND];
            let count = probes(a.1, *radius, pose.turn(n), push, &mut points);
            for &(x, k) in &points[..count] {
                touch(x, [0.0; 2], 0.0, k).into_iter().for_each(|t| keep(t, out));
            }
        }
        _ => return,
    }
    humps(a, field, at, margin, |t| keep(t, out));
}

fn first_two(p: V3) -> [f64; 2] {
    [p[0], p[1]]
}

/// Places of the surface below A that are nearer to it than those around them: from nodes, refined.
fn humps(a: Body<'_>, field: &Field, at: &Placed, margin: f64, mut found: impl FnMut(Touch)) {
    let pose = &at.pose;
    let middle = pose.back(scale(0.5, [0, 1, 2].map(|k| a.1.low[k] + a.1.high[k])));
    let half = [0, 1, 2].map(|k| 0.5 * (a.1.high[k] - a.1.low[k]) + margin);
    let reach = [0, 1].map(|j| (0..3).map(|i| pose.axes[i][j].abs() * half[i]).sum::<f64>());
    let range = |k: usize| {
        let node = |v: f64| ((v - field.origin[k]) / field.step[k]).clamp(0.0, (field.nodes[k] - 1) as f64);
        (node(middle[k] - reach[k]).floor() as usize, node(middle[k] + reach[k]).ceil() as usize)
    };
    let ((i0, i1), (j0, j1)) = (range(0), range(1));
    let over = |x: f64, y: f64| pose.place([x, y, field.jet(x, y)[0]]);
    let far = |x: f64, y: f64| distance(a, over(x, y)).0;
    let place = |i: usize, j: usize| {
        (field.origin[0] + i as f64 * field.step[0], field.origin[1] + j as f64 * field.step[1])
    };
    let at_node = |i: usize, j: usize| {
        let (x, y) = place(i, j);
        far(x, y)
    };
    let slack = margin + field.step[0].max(field.step[1]);
    // a line along the surface is as near everywhere: of such places the first counts, and rounding leads no farther
    let same = LEVEL * size_of(a.1);
    for j in j0..=j1 {
        for i in i0..=i1 {
            let here = at_node(i, j);
            let lower = |di: usize, dj: usize| {
                let (x, y) = ((i + di).wrapping_sub(1), (j + dj).wrapping_sub(1));
                if x < i0 || x > i1 || y < j0 || y > j1 || (x, y) == (i, j) {
                    return false;
                }
                let there = at_node(x, y);
                there < here - same || ((y, x) < (j, i) && there <= here + same)
            };
            if here > slack || (0..9).any(|k| lower(k % 3, k / 3)) {
                continue;
            }
            let (mut x, mut y) = place(i, j);
            let mut best = here;
            let mut step = [0.5 * field.step[0], 0.5 * field.step[1]];
            let mut rounds = 0;
            while step[0] > 1e-9 * field.step[0] && rounds < SEARCH {
                let mut moved = false;
                rounds += 1;
                for (sx, sy) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
                    let (u, v) = (x + sx * step[0], y + sy * step[1]);
                    if !field.holds(u, v) {
                        continue;
                    }
                    let there = far(u, v);
                    if there < best - same {
                        (x, y, best, moved) = (u, v, there, true);
                    }
                }
                if !moved {
                    step = step.map(|s| 0.5 * s);
                }
            }
            let [_, zx, zy, ..] = field.jet(x, y);
            let n = pose.turn(scale(1.0 / (1.0 + zx * zx + zy * zy).sqrt(), [-zx, -zy, 1.0]));
            let v = over(x, y);
            let (gap, normal) = distance(a, v);
            // only where the surface and A are parallel: elsewhere a corner of A touches, which has its own point
            if gap <= margin && dot(normal, n) < -0.999_999 {
                let feature = 1 << 20 | (j * field.nodes[0] + i) as u32 & 0xf_ffff;
                found(Touch { gap, normal: n, point: along(v, 0.5 * gap, n), feature });
            }
        }
    }
}

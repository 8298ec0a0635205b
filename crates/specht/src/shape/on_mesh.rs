//! A convex shape on a surface of triangles
//!
//! ```text
//! points of A over a triangle      corners of a hull, ends of a round, points of a cylinder that are lowest there
//! edges that stick out             the part that is nearest to A
//! corners that stick out           their distance from A
//! ```
//!
//! Edges between triangles of one plane and edges of valleys are no features: nothing catches on them, however fine the mesh. The
//! surface has an outside; what is deeper than the half thickness of A is not seen.

use super::convex::{Body, depth, distance, is_same, line_touches};
use super::cylinder::{AROUND, probes};
use super::mesh::Mesh;
use super::vec3::{V3, along, cross, dot, norm, scale, sub};
use super::{Placed, ROUNDING, SAME, Shape, Touch, size_of};

/// How far a normal may leave the directions in which a feature can be touched.
const CONE: f64 = 1e-6;

/// A on a mesh that stands at the pose of `at`.
pub(super) fn on_mesh(a: Body<'_>, mesh: &Mesh, at: &Placed, push: V3, margin: f64, out: &mut Vec<Touch>) {
    let pose = &at.pose;
    // the box of A in the axes of the mesh
    let middle = scale(0.5, [0, 1, 2].map(|k| a.1.low[k] + a.1.high[k]));
    let half = [0, 1, 2].map(|k| 0.5 * (a.1.high[k] - a.1.low[k]) + margin);
    let center = pose.back(middle);
    let reach = [0, 1, 2].map(|j| (0..3).map(|i| pose.axes[i][j].abs() * half[i]).sum::<f64>());
    let (first, size, deep) = (out.len(), size_of(a.1), -depth(a));
    let keep = |t: Touch, out: &mut Vec<Touch>| {
        let known = |x: &Touch| is_same(x.point, t.point, size) && dot(x.normal, t.normal) > 0.999;
        if t.gap <= margin && t.gap > deep && !out[first..].iter().any(known) {
            out.push(t);
        }
    };
    mesh.tree.visit(sub(center, reach), [0, 1, 2].map(|k| center[k] + reach[k]), |t| {
        let n = pose.turn(mesh.normals[t]);
        let p = mesh.triangles[t].map(|k| pose.place(mesh.vertices[k as usize]));
        over_triangle(a, (p, n), push, |touch| {
            keep(Touch { feature: (t as u32) << 5 | touch.feature, ..touch }, out);
        });
        for k in mesh.edges_of[t] as usize..mesh.edges_of[t + 1] as usize {
            let e = &mesh.edges[k];
            let [p, q] = e.ends.map(|c| pose.place(mesh.vertices[c as usize]));
            let w = sub(q, p);
            let (places, count) = line_touches(a, p, w);
            for (end, &(s, gap, normal)) in places[..count].iter().enumerate() {
                let v = along(p, s, w);
                let m = scale(-1.0, normal);
                let inside = s > SAME && s < 1.0 - SAME;
                if inside && gap <= margin && edge_admits(mesh, e, pose.turn_back(m)) {
                    let feature = 1 << 30 | (k as u32) << 1 | end as u32;
                    keep(Touch { gap, normal: m, point: along(v, 0.5 * gap, m), feature }, out);
                }
            }
        }
        for k in mesh.peaks_of[t] as usize..mesh.peaks_of[t + 1] as usize {
            let (c, [begin, end]) = mesh.peaks[k];
            let v = pose.place(mesh.vertices[c as usize]);
            let (gap, normal) = distance(a, v);
            if gap > margin {
                continue;
            }
            let m = scale(-1.0, normal);
            let local = pose.turn_back(m);
            let admits = mesh.around[begin as usize..end as usize].iter().all(|&x| {
                let t = sub(mesh.vertices[x as usize], mesh.vertices[c as usize]);
                dot(local, t) <= CONE * norm(t)
            });
            if admits {
                let feature = 1 << 31 | c;
                keep(Touch { gap, normal: m, point: along(v, 0.5 * gap, m), feature }, out);
            }
        }
    });
}

/// Points of A over a triangle.
fn over_triangle(a: Body<'_>, (p, n): ([V3; 3], V3), push: V3, mut found: impl FnMut(Touch)) {
    let room = ROUNDING * size_of(a.1);
    let over = |x: V3| {
        (0..3).all(|i| {
            let edge = sub(p[(i + 1) % 3], p[i]);
            dot(cross(n, edge), sub(x, p[i])) >= -room * norm(edge)
        })
    };
    let mut touch = |x: V3, radius: f64, feature: u32| {
        if over(x) {
            let gap = dot(n, sub(x, p[0])) - radius;
            found(Touch::on_a(gap, n, along(x, -radius, n), feature));
        }
    };
    match a.0 {
        Shape::Round { ends, radius } => {
            touch(a.1.points[0], *radius, 0);
            if ends[0] != ends[1] {
                touch(a.1.points[1], *radius, 1);
            }
        }
        Shape::Hull(_) => a.1.points.iter().enumerate().for_each(|(k, &x)| touch(x, 0.0, k as u32)),
        Shape::Cylinder { radius, .. } => {
            let mut points = [([0.0; 3], 0); AROUND];
            let count = probes(a.1, *radius, n, push, &mut points);
            points[..count].iter().for_each(|&(x, k)| touch(x, 0.0, k));
        }
        _ => {}
    }
}

/// Whether the surface can be touched at an edge along `m`, in its own axes.
fn edge_admits(mesh: &Mesh, e: &super::mesh::Edge, m: V3) -> bool {
    let [p, q] = e.ends.map(|c| mesh.vertices[c as usize]);
    let d = sub(q, p);
    let room = CONE * norm(d);
    let [f, g] = e.beside.map(|t| mesh.normals[t as usize]);
    if e.beside[0] == e.beside[1] {
        // the end of a sheet: outward or upward, on whichever side of the edge the triangle lies
        let inside = mesh.triangles[e.beside[0] as usize].iter().find(|c| !e.ends.contains(c));
        let into = inside.map_or([0.0; 3], |&c| sub(mesh.vertices[c as usize], p));
        let into = along(into, -dot(into, d) / dot(d, d), d);
        return dot(m, into) <= CONE * norm(into) && dot(m, f) >= -CONE;
    }
    dot(m, cross(f, d)) <= room && dot(m, cross(g, d)) >= -room
}

//! Convex polyhedra.

use super::vec3::{V3, along, cross, dot, max_abs, norm, sub, unit};
use super::{ROUNDING, SAME};

/// A face of a hull.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Face {
    /// Unit normal out of the material.
    pub normal: V3,
    /// Vertices around it, counter-clockwise seen from outside.
    pub corners: Vec<u32>,
}

/// A convex polyhedron in body axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hull {
    pub vertices: Vec<V3>,
    pub faces: Vec<Face>,
    /// Edges, each once, with the number of their direction.
    pub edges: Vec<([u32; 2], u32)>,
    /// Directions of the edges, parallel ones once.
    pub directions: Vec<V3>,
    /// Faces beside each edge: the one that runs along it from the first end to the second, and the other.
    pub sides: Vec<[u32; 2]>,
    /// Half of its smallest extension.
    pub thin: f64,
}

/// Why points have no hull.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum HullError {
    #[error("{0} points have no volume; a hull needs four that do not lie in one plane")]
    Flat(usize),
    #[error("a coordinate is not a finite number")]
    NotFinite,
}

impl Hull {
    /// A box with these half lengths around `center`.
    pub(crate) fn cuboid(center: V3, half: V3) -> Hull {
        let vertex =
            |k: usize| [0, 1, 2].map(|i| center[i] + if k >> i & 1 == 1 { half[i] } else { -half[i] });
        let mut faces = Vec::with_capacity(6);
        for axis in 0..3 {
            let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
            for side in [0, 1] {
                let mut normal = [0.0; 3];
                normal[axis] = if side == 1 { 1.0 } else { -1.0 };
                let at = |a: usize, b: usize| (side << axis | a << j | b << k) as u32;
                let mut corners = vec![at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
                if side == 0 {
                    corners.reverse();
                }
                faces.push(Face { normal, corners });
            }
        }
        Hull::of((0..8).map(vertex).collect(), faces)
    }

    /// The convex hull of points. Faces that lie in one plane are one.
    ///
    /// # Errors
    ///
    /// Points in one plane, or numbers that are not finite.
    pub(crate) fn around(points: &[V3]) -> Result<Hull, HullError> {
        if points.iter().flatten().any(|x| !x.is_finite()) {
            return Err(HullError::NotFinite);
        }
        let size = points.iter().fold(0.0_f64, |m, &p| m.max(max_abs(sub(p, points[0]))));
        let triangles = triangles(points, ROUNDING * size).ok_or(HullError::Flat(points.len()))?;
        let mut faces = merge(points, &triangles, ROUNDING * size);
        // only the vertices of faces stay
        let mut place = vec![u32::MAX; points.len()];
        let mut vertices = Vec::new();
        for c in faces.iter_mut().flat_map(|f| &mut f.corners) {
            if place[*c as usize] == u32::MAX {
                place[*c as usize] = vertices.len() as u32;
                vertices.push(points[*c as usize]);
            }
            *c = place[*c as usize];
        }
        Ok(Hull::of(vertices, faces))
    }

    fn of(vertices: Vec<V3>, faces: Vec<Face>) -> Hull {
        let mut hull =
            Hull { vertices, faces, edges: Vec::new(), directions: Vec::new(), sides: Vec::new(), thin: 0.0 };
        let mut beside = std::collections::BTreeMap::new();
        for (f, face) in hull.faces.iter().enumerate() {
            for (k, &a) in face.corners.iter().enumerate() {
                beside.insert([a, face.corners[(k + 1) % face.corners.len()]], f as u32);
            }
        }
        hull.thin = hull.thinness();
        for face in &hull.faces {
            for (k, &a) in face.corners.iter().enumerate() {
                let b = face.corners[(k + 1) % face.corners.len()];
                if a > b {
                    // each edge belongs to two faces, which run along it in opposite ways
                    continue;
                }
                let d = sub(hull.vertices[b as usize], hull.vertices[a as usize]);
                let Some(d) = unit(d) else { continue };
                let parallel = |e: &V3| norm(cross(*e, d)) < SAME;
                let number = hull.directions.iter().position(parallel).unwrap_or_else(|| {
                    hull.directions.push(d);
                    hull.directions.len() - 1
                });
                hull.edges.push(([a, b], number as u32));
                let of = |e: [u32; 2]| beside.get(&e).copied();
                let own = of([a, b]).unwrap_or(0);
                hull.sides.push([own, of([b, a]).unwrap_or(own)]);
            }
        }
        hull
    }

    /// The ends of its edges.
    pub(crate) fn wires(&self) -> impl Iterator<Item = [V3; 2]> {
        self.edges.iter().map(|(e, _)| e.map(|k| self.vertices[k as usize]))
    }

    /// The corners of its faces, counter-clockwise seen from outside.
    pub(crate) fn polygons(&self) -> impl Iterator<Item = Vec<V3>> {
        self.faces.iter().map(|f| f.corners.iter().map(|&k| self.vertices[k as usize]).collect())
    }

    /// Half of the smallest distance between a face and the vertex farthest from it.
    fn thinness(&self) -> f64 {
        let depth = |f: &Face| {
            let p = self.vertices[f.corners[0] as usize];
            self.vertices.iter().fold(0.0_f64, |m, &v| m.max(dot(f.normal, sub(p, v))))
        };
        0.5 * self.faces.iter().map(depth).fold(f64::INFINITY, f64::min)
    }
}

/// Triangles of the hull, by adding one point after the other; `None` when all lie in one plane.
fn triangles(points: &[V3], tolerance: f64) -> Option<Vec<[u32; 3]>> {
    let far = |of: &dyn Fn(V3) -> f64| {
        let best = points.iter().enumerate().max_by(|a, b| of(*a.1).total_cmp(&of(*b.1)))?;
        (of(*best.1) > tolerance).then_some(best.0)
    };
    let a = 0;
    let o = *points.first()?;
    let b = far(&|p| norm(sub(p, o)))?;
    let along_ab = unit(sub(points[b], o))?;
    let c = far(&|p| norm(cross(along_ab, sub(p, o))))?;
    let normal = unit(cross(along_ab, sub(points[c], o)))?;
    let d = far(&|p| dot(normal, sub(p, o)).abs())?;
    let (b, c) = if dot(normal, sub(points[d], o)) > 0.0 { (c, b) } else { (b, c) };
    let [a, b, c, d] = [a, b, c, d].map(|k| k as u32);
    let mut list = vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
    let out = |t: &[u32; 3], p: V3| -> f64 {
        let [x, y, z] = t.map(|k| points[k as usize]);
        unit(cross(sub(y, x), sub(z, x))).map_or(0.0, |n| dot(n, sub(p, x)))
    };
    for (k, &p) in points.iter().enumerate() {
        let k = k as u32;
        if [a, b, c, d].contains(&k) {
            continue;
        }
        let (seen, kept): (Vec<_>, Vec<_>) = list.iter().partition(|t| out(t, p) > tolerance);
        if seen.is_empty() {
            continue;
        }
        list = kept;
        let edges: Vec<[u32; 2]> =
            seen.iter().flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]).collect();
        // the horizon: edges whose other side is not seen
        list.extend(edges.iter().filter(|e| !edges.contains(&[e[1], e[0]])).map(|e| [e[0], e[1], k]));
    }
    Some(list)
}

/// Triangles in one plane as one face, with its corners in order.
fn merge(points: &[V3], triangles: &[[u32; 3]], tolerance: f64) -> Vec<Face> {
    let at = |k: u32| points[k as usize];
    let mut normals: Vec<(V3, f64)> = triangles
        .iter()
        .filter_map(|t| {
            let n = cross(sub(at(t[1]), at(t[0])), sub(at(t[2]), at(t[0])));
            Some((unit(n)?, norm(n)))
        })
        .collect();
    // large triangles tell the plane
    normals.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut faces: Vec<Face> = Vec::new();
    for (normal, _) in normals {
        let top = triangles.iter().flatten().map(|&k| dot(normal, at(k))).fold(f64::NEG_INFINITY, f64::max);
        if faces.iter().any(|f| dot(f.normal, normal) > 1.0 - SAME * SAME) {
            continue;
        }
        let mut corners: Vec<u32> = triangles
            .iter()
            .flatten()
            .copied()
            .filter(|&k| dot(normal, at(k)) > top - 4.0 * tolerance)
            .collect();
        corners.sort_unstable();
        corners.dedup();
        let middle = corners.iter().fold([0.0; 3], |m, &k| along(m, 1.0 / corners.len() as f64, at(k)));
        let Some(x) = unit(sub(at(corners[0]), middle)) else { continue };
        let y = cross(normal, x);
        let angle = |k: u32| dot(y, sub(at(k), middle)).atan2(dot(x, sub(at(k), middle)));
        corners.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
        // corners on a straight line between their neighbours are none
        let n = corners.len();
        let straight = |k: usize| {
            let [p, q, r] = [corners[(k + n - 1) % n], corners[k], corners[(k + 1) % n]].map(at);
            dot(normal, cross(sub(q, p), sub(r, q))) <= tolerance * norm(sub(r, p))
        };
        let kept = (0..n).filter(|&k| !straight(k)).map(|k| corners[k]).collect();
        faces.push(Face { normal, corners: kept });
    }
    faces
}

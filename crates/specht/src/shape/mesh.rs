//! Surfaces of triangles: what is outside, which edges and corners stick out, what they enclose
//!
//! Triangles run counter-clockwise seen from outside. A mesh is *closed* when every edge belongs to two triangles that run along it in opposite
//! ways. Volume, centre and moments are sums over the tetrahedra of its triangles and one point,
//!
//! ```text
//! V = Σ d/6    V c = Σ d/24 (a+b+c)    ∫ x xᵀ = Σ d/120 [(a+b+c)(a+b+c)ᵀ + a aᵀ + b bᵀ + c cᵀ]    d = a·(b×c)
//! ```

use super::tree::Tree;
use super::vec3::{V3, add, along, cross, dot, norm, scale, sub, unit};
use super::{Hull, ROUNDING};

/// Most triangles of a mesh.
pub(crate) const TRIANGLES: usize = 2_000_000;
/// Most corners of a convex body made of a mesh.
pub(crate) const CORNERS: usize = 400;
/// Most points of which a hull is sought.
const CLOUD: usize = 20_000;

/// An edge at which the surface can be touched: it sticks out, or the surface ends there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edge {
    pub ends: [u32; 2],
    /// Triangles beside it; the same twice at the end of the surface.
    pub beside: [u32; 2],
}

/// A surface of triangles in body axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mesh {
    pub(crate) vertices: Vec<V3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(super) normals: Vec<V3>,
    /// In the order of the triangles that own them; `edges_of[t]` is the first of triangle t.
    pub(super) edges: Vec<Edge>,
    pub(super) edges_of: Vec<u32>,
    /// Corners at which it can be touched, in the order of the triangles that own them, with the corners next to each.
    pub(super) peaks: Vec<(u32, [u32; 2])>,
    pub(super) peaks_of: Vec<u32>,
    pub(super) around: Vec<u32>,
    pub(super) tree: Tree,
    /// Edges that belong to one triangle alone, or to more than two, or to two that run along them in the same way.
    pub(crate) loose: usize,
    /// Triangles without area that were left out.
    pub(crate) degenerate: usize,
    pub(crate) low: V3,
    pub(crate) high: V3,
}

/// Why triangles are no mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum MeshError {
    #[error("the mesh has no triangles")]
    Empty,
    #[error("all {0} triangles of the mesh have no area")]
    Flat(usize),
    #[error("a coordinate of the mesh is not a finite number")]
    NotFinite,
    #[error("the mesh has {0} triangles; at most {TRIANGLES} are read")]
    TooMany(usize),
    #[error("the mesh is not closed: {0} edges do not join two triangles")]
    Open(usize),
    #[error("the mesh encloses no volume")]
    NoVolume,
    #[error("the mesh is not convex: it fills {0:.3} of its convex hull")]
    NotConvex(f64),
    #[error(
        "the mesh has {0} corners, too many for a convex body that moves (at most {CORNERS} on its hull, {CLOUD} in all)"
    )]
    TooFine(usize),
}

/// What a closed mesh encloses, of density 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Filling {
    pub volume: f64,
    pub center: V3,
    /// About the centre, body axes.
    pub inertia: [V3; 3],
}

impl Filling {
    /// Two that are one body.
    pub(crate) fn join(&self, other: &Filling) -> Filling {
        let volume = self.volume + other.volume;
        let center = along(scale(self.volume / volume, self.center), other.volume / volume, other.center);
        let mut inertia = [[0.0; 3]; 3];
        for part in [self, other] {
            let r = sub(part.center, center);
            for (i, row) in inertia.iter_mut().enumerate() {
                for (j, entry) in row.iter_mut().enumerate() {
                    let square = if i == j { dot(r, r) } else { 0.0 };
                    *entry += part.inertia[i][j] + part.volume * (square - r[i] * r[j]);
                }
            }
        }
        Filling { volume, center, inertia }
    }
}

impl Mesh {
    /// Of triangles as three corners each; equal corners are one.
    ///
    /// # Errors
    ///
    /// There are none, too many, or they have no area.
    pub(crate) fn of(corners: &[[V3; 3]]) -> Result<Mesh, MeshError> {
        if corners.is_empty() {
            return Err(MeshError::Empty);
        }
        if corners.len() > TRIANGLES {
            return Err(MeshError::TooMany(corners.len()));
        }
        if corners.iter().flatten().flatten().any(|x| !x.is_finite()) {
            return Err(MeshError::NotFinite);
        }
        // −0 and 0 are one
        let point = |k: u32| corners[k as usize / 3][k as usize % 3].map(|x| x + 0.0);
        let order = |a: &u32, b: &u32| {
            let (p, q) = (point(*a), point(*b));
            p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])).then(p[2].total_cmp(&q[2]))
        };
        let mut sorted: Vec<u32> = (0..3 * corners.len() as u32).collect();
        sorted.sort_unstable_by(|a, b| order(a, b).then(a.cmp(b)));
        let (mut vertices, mut place) = (Vec::new(), vec![0u32; sorted.len()]);
        for (i, &k) in sorted.iter().enumerate() {
            if i == 0 || point(sorted[i - 1]) != point(k) {
                vertices.push(point(k));
            }
            place[k as usize] = vertices.len() as u32 - 1;
        }
        let (mut triangles, mut normals) = (Vec::new(), Vec::new());
        for t in place.chunks_exact(3) {
            let [a, b, c] = [t[0], t[1], t[2]].map(|k| vertices[k as usize]);
            let (ab, ac) = (sub(b, a), sub(c, a));
            let area = cross(ab, ac);
            let longest = dot(ab, ab).max(dot(ac, ac)).max(dot(sub(c, b), sub(c, b)));
            if let Some(n) = unit(area).filter(|_| norm(area) > 1e-12 * longest) {
                triangles.push([t[0], t[1], t[2]]);
                normals.push(n);
            }
        }
        if triangles.is_empty() {
            return Err(MeshError::Flat(corners.len()));
        }
        let degenerate = corners.len() - triangles.len();
        // corners of triangles that were left out may belong to none
        let mut used = vec![u32::MAX; vertices.len()];
        triangles.iter().flatten().for_each(|&k| used[k as usize] = 0);
        let kept = vertices.iter().zip(&used).filter(|x| *x.1 == 0).map(|x| *x.0).collect();
        for (count, place) in used.iter_mut().filter(|u| **u == 0).enumerate() {
            *place = count as u32;
        }
        triangles.iter_mut().flatten().for_each(|k| *k = used[*k as usize]);
        let vertices = kept;
        let mut mesh = Mesh::raw(vertices, triangles, normals);
        mesh.degenerate = degenerate;
        mesh.features();
        Ok(mesh)
    }

    fn raw(vertices: Vec<V3>, triangles: Vec<[u32; 3]>, normals: Vec<V3>) -> Mesh {
        let first = vertices.first().copied().unwrap_or_default();
        let low = vertices.iter().fold(first, |m, p| [0, 1, 2].map(|k| m[k].min(p[k])));
        let high = vertices.iter().fold(first, |m, p| [0, 1, 2].map(|k| m[k].max(p[k])));
        let of = |t: &[u32; 3]| {
            let p = t.map(|k| vertices[k as usize]);
            let least = [0, 1, 2].map(|k| p[0][k].min(p[1][k]).min(p[2][k]));
            (least, [0, 1, 2].map(|k| p[0][k].max(p[1][k]).max(p[2][k])))
        };
        let boxes: Vec<(V3, V3)> = triangles.iter().map(of).collect();
        Mesh {
            tree: Tree::over(&boxes),
            vertices,
            triangles,
            normals,
            edges: Vec::new(),
            edges_of: Vec::new(),
            peaks: Vec::new(),
            peaks_of: Vec::new(),
            around: Vec::new(),
            loose: 0,
            degenerate: 0,
            low,
            high,
        }
    }

    fn size(&self) -> f64 {
        super::vec3::max_abs(sub(self.high, self.low))
    }

    /// Edges and corners at which it can be touched.
    fn features(&mut self) {
        // directed edges, those of the two ways side by side
        let mut runs: Vec<([u32; 2], u32, bool)> = Vec::with_capacity(3 * self.triangles.len());
        for (t, c) in self.triangles.iter().enumerate() {
            for i in 0..3 {
                let (a, b) = (c[i], c[(i + 1) % 3]);
                runs.push(([a.min(b), a.max(b)], t as u32, a < b));
            }
        }
        runs.sort_unstable();
        let tolerance = ROUNDING * self.size();
        let mut own: Vec<(u32, Edge)> = Vec::new();
        let mut sharp = vec![false; self.vertices.len()];
        let mut next: Vec<[u32; 2]> = Vec::new();
        for group in runs.chunk_by(|a, b| a.0 == b.0) {
            let ends = group[0].0;
            let pair = group.len() == 2 && group[0].2 != group[1].2;
            self.loose += usize::from(!pair);
            let (first, second) = (group[0].1, group[group.len() - 1].1);
            let (t, u) = if group[0].2 { (first, second) } else { (second, first) };
            next.extend([ends, [ends[1], ends[0]]]);
            let sticks_out = !pair || {
                let other = self.triangles[second as usize].iter().find(|c| !ends.contains(c));
                let a = self.vertices[ends[0] as usize];
                let n = self.normals[first as usize];
                other.is_some_and(|&c| dot(n, sub(self.vertices[c as usize], a)) < -tolerance)
            };
            if sticks_out {
                ends.iter().for_each(|&k| sharp[k as usize] = true);
                own.push((first, Edge { ends, beside: [t, u] }));
            }
        }
        own.sort_by_key(|e| e.0);
        self.edges_of = starts(self.triangles.len(), own.iter().map(|e| e.0));
        self.edges = own.into_iter().map(|e| e.1).collect();
        // corners next to each sharp one
        next.sort_unstable();
        let mut owner = vec![u32::MAX; self.vertices.len()];
        for (t, c) in self.triangles.iter().enumerate() {
            c.iter().for_each(|&k| owner[k as usize] = owner[k as usize].min(t as u32));
        }
        let mut peaks: Vec<(u32, (u32, [u32; 2]))> = Vec::new();
        for group in next.chunk_by(|a, b| a[0] == b[0]) {
            let v = group[0][0];
            if sharp[v as usize] {
                let begin = self.around.len() as u32;
                self.around.extend(group.iter().map(|e| e[1]));
                peaks.push((owner[v as usize], (v, [begin, self.around.len() as u32])));
            }
        }
        peaks.sort_by_key(|p| (p.0, p.1.0));
        self.peaks_of = starts(self.triangles.len(), peaks.iter().map(|p| p.0));
        self.peaks = peaks.into_iter().map(|p| p.1).collect();
    }

    /// What it encloses.
    ///
    /// # Errors
    ///
    /// It is open, or encloses nothing.
    pub(crate) fn filling(&self) -> Result<Filling, MeshError> {
        if self.loose > 0 {
            return Err(MeshError::Open(self.loose));
        }
        let o = scale(0.5, add(self.low, self.high));
        let (mut volume, mut first, mut second) = (0.0, [0.0; 3], [[0.0; 3]; 3]);
        for t in &self.triangles {
            let p = t.map(|k| sub(self.vertices[k as usize], o));
            let d = dot(p[0], cross(p[1], p[2]));
            let sum = add(add(p[0], p[1]), p[2]);
            volume += d / 6.0;
            first = along(first, d / 24.0, sum);
            for (i, row) in second.iter_mut().enumerate() {
                for (j, entry) in row.iter_mut().enumerate() {
                    let squares: f64 = p.iter().map(|x| x[i] * x[j]).sum();
                    *entry += d / 120.0 * (sum[i] * sum[j] + squares);
                }
            }
        }
        // inside out: the signs of all sums change
        let sign = if volume < 0.0 { -1.0 } else { 1.0 };
        let volume = sign * volume;
        if !(volume > 1e-12 * self.size().powi(3)) {
            return Err(MeshError::NoVolume);
        }
        let c = scale(sign / volume, first);
        let central = |i: usize, j: usize| sign * second[i][j] - volume * c[i] * c[j];
        let trace = central(0, 0) + central(1, 1) + central(2, 2);
        let inertia =
            [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { trace - central(i, i) } else { -central(i, j) }));
        Ok(Filling { volume, center: add(o, c), inertia })
    }

    /// The convex body that it encloses.
    ///
    /// # Errors
    ///
    /// It is open, has too many corners, or is not convex.
    pub(crate) fn convex(&self) -> Result<Hull, MeshError> {
        let filling = self.filling()?;
        let hull = self.hull()?;
        let volume = hull_volume(&hull);
        if filling.volume < (1.0 - 1e-6) * volume {
            return Err(MeshError::NotConvex(filling.volume / volume));
        }
        Ok(hull)
    }

    /// The convex hull of its corners.
    ///
    /// # Errors
    ///
    /// Too many corners, or all in one plane.
    pub(crate) fn hull(&self) -> Result<Hull, MeshError> {
        if self.vertices.len() > CLOUD {
            return Err(MeshError::TooFine(self.vertices.len()));
        }
        let hull = Hull::around(&self.vertices).map_err(|_| MeshError::NoVolume)?;
        match hull.vertices.len() {
            n if n > CORNERS => Err(MeshError::TooFine(n)),
            _ => Ok(hull),
        }
    }
}

fn hull_volume(hull: &Hull) -> f64 {
    let o = hull.vertices[0];
    let mut volume = 0.0;
    for face in &hull.faces {
        let p = |k: usize| sub(hull.vertices[face.corners[k] as usize], o);
        for k in 1..face.corners.len() - 1 {
            volume += dot(p(0), cross(p(k), p(k + 1))) / 6.0;
        }
    }
    volume
}

/// Where the entries of each owner begin, for owners in ascending order; one more at the end.
fn starts(owners: usize, list: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut out = vec![0u32; owners + 1];
    list.for_each(|t| out[t as usize + 1] += 1);
    for k in 0..owners {
        out[k + 1] += out[k];
    }
    out
}

//! Mass matrix and inertia forces of trees of bodies, by recursion on numbers (PG-2.4-RECURSION).
//!
//! The tape gives for every body its point P (centre of mass, or origin), its inertia and load there, and the columns of its own
//! joint, all in world axes. With composite bodies (everything that a joint carries)
//!
//! ```text
//! up      m_P += m, s_P += s + m d, J_P += J + 2 s·d + m d²        d = P − P of the body that carries it
//! M       (f, n) = momentum of the composite body for a unit rate of k;  M_kj = column j · (f, n + d × f) along the way to the ground
//! up      load_P += load, moments carried by d;   h_k = column k · load
//! ```
//!
//! O(bodies × depth) for M, O(bodies) for h. A coordinate may occur in several joints: its columns add up.
//!
//! One tree serves the plane and space: points of P numbers, directions of D (translations first), composite bodies of C. What differs is
//! in [`Solid`]; in space (`super::space::inertia`) s is a vector, J a symmetric matrix and the products are those of vectors.

use std::sync::Arc;

use crate::linalg::{Number, Pattern, TreeMass, TreeShape, compose};

use super::forces::Link;
use super::frames::Builder;

/// A factor along the tree pays from this many velocities on, and this many entries of M per velocity.
const FEW: usize = 9;
const LONG: usize = 4;

/// A body in the tree, as outputs of the main tape.
#[derive(Clone, Debug)]
pub(super) struct Joint<const P: usize, const D: usize, const I: usize> {
    /// The body that carries it, by its number in the tree.
    parent: Option<u32>,
    point: [u32; P],
    /// Columns of its own joint: velocity and direction.
    own: Vec<(u32, [u32; D])>,
    mass: u32,
    inertia: [u32; I],
    load: [u32; D],
    /// m j̃, I j̃_R when it is driven.
    momentum: Option<[u32; D]>,
}

/// Bodies that carry each other, in order.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    joints: std::ops::Range<usize>,
    /// Per column, where its products with the columns on its way to the ground go.
    runs: Vec<Vec<Stretch>>,
    /// M is constant.
    constant_mass: bool,
    /// Its part of h is constant.
    constant_load: bool,
    driven: bool,
}

/// Columns in a row whose products go to places of M in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    first: usize,
    count: usize,
    place: usize,
    twice: bool,
}

/// All bodies with inertia, and those that carry them.
#[derive(Clone, Debug)]
pub(super) struct Tree<const P: usize, const D: usize, const I: usize, const C: usize> {
    joints: Vec<Joint<P, D, I>>,
    branches: Vec<Branch>,
    /// Whether some branch changes M or h with the state, and whether some is driven.
    changes: bool,
    driven: bool,
}

/// Bodies in the plane: points x, y; directions x, y, r; composite bodies m, s_x, s_y, J.
pub(super) type PlaneTree = Tree<2, 3, 1, 4>;

/// Bodies in space: directions of translation and rotation; composite bodies m, s, J by its diagonal and 12, 02, 01.
pub(super) type SpaceTree = Tree<3, 6, 6, 10>;

impl<const P: usize, const D: usize, const I: usize, const C: usize> Default for Tree<P, D, I, C> {
    fn default() -> Self {
        Tree { joints: Vec::new(), branches: Vec::new(), changes: false, driven: false }
    }
}

/// Numbers of one evaluation.
#[derive(Clone, Debug)]
pub(super) struct Numbers<N, const P: usize, const D: usize, const C: usize> {
    pub point: Vec<[N; P]>,
    /// Mass, first moment and inertia of everything carried.
    pub composite: Vec<[N; C]>,
    pub wrench: Vec<[N; D]>,
    pub columns: Vec<[N; D]>,
    /// For every column x, y, r of its direction, and the point of its body (plane).
    pub flat: [Vec<N>; 5],
    /// First column of every joint.
    pub first: Vec<usize>,
}

impl<N, const P: usize, const D: usize, const C: usize> Default for Numbers<N, P, D, C> {
    fn default() -> Self {
        Numbers {
            point: Vec::new(),
            composite: Vec::new(),
            wrench: Vec::new(),
            columns: Vec::new(),
            flat: Default::default(),
            first: Vec::new(),
        }
    }
}

/// What differs between the plane and space.
pub(super) trait Solid<N: Number, const P: usize, const D: usize, const C: usize> {
    /// M of a branch.
    fn add_mass(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, P, D, C>,
        mass: &mut [f64],
    );

    /// Force and moment at a point, seen from one that is the arm away.
    fn moved(arm: [N; P], wrench: [N; D]) -> [N; D];
}

impl<const P: usize, const D: usize, const I: usize, const C: usize> Tree<P, D, I, C> {
    /// Outputs are asked from `root`. `links` in the order of the bodies: who carries comes first.
    pub(super) fn new(
        b: &Builder,
        links: &[Link<P, D, I>],
        mut root: impl FnMut(crate::expr::NodeId) -> u32,
    ) -> Self {
        // branch by branch
        let mut stem: Vec<usize> = Vec::with_capacity(links.len());
        for (i, link) in links.iter().enumerate() {
            stem.push(link.parent.map_or(i, |p| stem[p]));
        }
        let mut order: Vec<usize> = (0..links.len()).collect();
        order.sort_by_key(|&i| (stem[i], i));
        let mut place = vec![0; links.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);

        let mut tree = Tree::default();
        for of_one in order.chunk_by(|&i, &j| stem[i] == stem[j]) {
            let alone = of_one.len() == 1;
            let all = || of_one.iter().map(|&i| &links[i]);
            let fixed = |n: &crate::expr::NodeId| b.is_parameter(*n);
            let turns = |l: &Link<P, D, I>| l.own.iter().any(|(_, c)| c[P..].iter().any(|&n| n != b.zero));
            let still = |l: &Link<P, D, I>| {
                l.own.iter().all(|(_, c)| c.iter().all(fixed)) && l.inertia.iter().all(fixed)
            };
            let constant_mass = all().all(still) && (alone || !all().any(turns));
            let constant_load = constant_mass && all().all(|l| l.load.iter().all(fixed));
            let driven = all().any(|l| l.momentum.iter().any(|&n| n != b.zero));
            let first = tree.joints.len();
            for link in all() {
                tree.joints.push(Joint {
                    parent: link.parent.map(|p| place[p] as u32),
                    point: link.point.map(&mut root),
                    own: link.own.iter().map(|&(k, c)| (k as u32, c.map(&mut root))).collect(),
                    mass: root(link.mass),
                    inertia: link.inertia.map(&mut root),
                    load: link.load.map(&mut root),
                    momentum: driven.then(|| link.momentum.map(&mut root)),
                });
            }
            let joints = first..tree.joints.len();
            tree.branches.push(Branch { joints, runs: Vec::new(), constant_mass, constant_load, driven });
            tree.changes |= !constant_mass || !constant_load;
            tree.driven |= driven;
        }
        tree
    }

    /// Pairs of coordinates that M couples.
    pub(super) fn couplings(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for branch in &self.branches {
            let owner = self.coordinates(branch);
            for (a, ways) in self.ways(branch).into_iter().enumerate() {
                out.extend(ways.into_iter().map(|b| (owner[a], owner[b])));
            }
        }
        out
    }

    /// Coordinates of the columns of a branch.
    fn coordinates(&self, branch: &Branch) -> Vec<usize> {
        let joints = &self.joints[branch.joints.clone()];
        joints.iter().flat_map(|j| j.own.iter().map(|c| c.0 as usize)).collect()
    }

    /// For every column of a branch the columns on its way to the ground, itself the last.
    fn ways(&self, branch: &Branch) -> Vec<Vec<usize>> {
        let joints = &self.joints[branch.joints.clone()];
        let mut first = vec![0];
        joints.iter().for_each(|j| first.push(first[first.len() - 1] + j.own.len()));
        let mut out = Vec::new();
        for (l, joint) in joints.iter().enumerate() {
            let mut above = Vec::new();
            let mut at = joint.parent;
            while let Some(g) = at {
                let g = g as usize - branch.joints.start;
                above.extend((first[g]..first[g + 1]).rev());
                at = joints[g].parent;
            }
            above.reverse();
            for a in first[l]..first[l + 1] {
                out.push(above.iter().copied().chain(first[l]..=a).collect());
            }
        }
        out
    }

    /// Find the places of M in its pattern.
    pub(super) fn locate(&mut self, pattern: &Pattern) {
        for k in 0..self.branches.len() {
            let branch = &self.branches[k];
            let owner = self.coordinates(branch);
            let mut runs: Vec<Vec<Stretch>> = Vec::new();
            for (a, way) in self.ways(branch).into_iter().enumerate() {
                let mut list: Vec<Stretch> = Vec::new();
                for b in way {
                    let (i, j) = (owner[a].max(owner[b]), owner[a].min(owner[b]));
                    let place = pattern.find(i, j).unwrap_or(0);
                    // one coordinate in two joints meets itself twice
                    let twice = i == j && a != b;
                    match list.last_mut() {
                        Some(s)
                            if !twice && !s.twice && s.first + s.count == b && s.place + s.count == place =>
                        {
                            s.count += 1
                        }
                        _ => list.push(Stretch { first: b, count: 1, place, twice }),
                    }
                }
                runs.push(list);
            }
            self.branches[k].runs = runs;
        }
    }

    /// Whether some part of M changes with the state.
    pub(super) fn moves(&self) -> bool {
        self.branches.iter().any(|b| !b.constant_mass)
    }

    /// Whether some branch is driven.
    pub(super) fn is_driven(&self) -> bool {
        self.driven
    }

    /// The constant parts of M (where it is wanted) and h, or those that are not; `read` gives the outputs of the tape.
    #[inline]
    pub(super) fn add<N: Number>(
        &self,
        constant: bool,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, P, D, C>,
        mass: Option<&mut [f64]>,
        h: &mut [f64],
    ) where
        Self: Solid<N, P, D, C>,
    {
        if constant || self.changes {
            self.add_parts(constant, read, numbers, mass, h);
        }
    }

    fn add_parts<N: Number>(
        &self,
        constant: bool,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, P, D, C>,
        mut mass: Option<&mut [f64]>,
        h: &mut [f64],
    ) where
        Self: Solid<N, P, D, C>,
    {
        for branch in &self.branches {
            let (for_mass, for_load) = (branch.constant_mass == constant, branch.constant_load == constant);
            if for_mass || for_load {
                self.gather(branch, read, numbers);
            }
            if for_mass && let Some(mass) = &mut mass {
                self.add_mass(branch, read, numbers, mass);
            }
            if for_load {
                self.add_wrench(branch, read, numbers, |j| Some(j.load), h);
            }
        }
    }

    /// The driven parts.
    pub(super) fn add_drive<N: Number>(
        &self,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, P, D, C>,
        drive: &mut [f64],
    ) where
        Self: Solid<N, P, D, C>,
    {
        for branch in self.branches.iter().filter(|b| b.driven) {
            self.gather(branch, read, numbers);
            self.add_wrench(branch, read, numbers, |j| j.momentum, drive);
        }
    }

    /// Points and columns of a branch.
    fn gather<N: Number>(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, P, D, C>,
    ) {
        let Numbers { point, columns, first, .. } = numbers;
        point.clear();
        columns.clear();
        first.clear();
        for joint in &self.joints[branch.joints.clone()] {
            point.push(joint.point.map(read));
            first.push(columns.len());
            columns.extend(joint.own.iter().map(|(_, c)| c.map(read)));
        }
        first.push(columns.len());
    }

    /// Forces at the points of the bodies, carried to the ground.
    fn add_wrench<N: Number>(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, P, D, C>,
        which: impl Fn(&Joint<P, D, I>) -> Option<[u32; D]>,
        out: &mut [f64],
    ) where
        Self: Solid<N, P, D, C>,
    {
        let start = branch.joints.start;
        let joints = &self.joints[branch.joints.clone()];
        let Numbers { point, wrench, columns, first, .. } = numbers;
        wrench.clear();
        wrench.extend(joints.iter().map(|j| which(j).map_or([N::from(0.0); D], |w| w.map(read))));
        for l in (0..joints.len()).rev() {
            let own = wrench[l];
            if let Some(p) = joints[l].parent.map(|p| p as usize - start) {
                let arm = std::array::from_fn(|i| point[l][i] - point[p][i]);
                let part = Self::moved(arm, own);
                wrench[p].iter_mut().zip(part).for_each(|(to, part)| *to += part);
            }
            for ((k, _), c) in joints[l].own.iter().zip(&columns[first[l]..]) {
                let products = own.iter().zip(c).skip(1).map(|(&f, &c)| f * c);
                out[*k as usize] += products.fold(own[0] * c[0], |sum, part| sum + part).result();
            }
        }
    }
}

impl<N: Number> Solid<N, 2, 3, 4> for PlaneTree {
    fn add_mass(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, 2, 3, 4>,
        mass: &mut [f64],
    ) {
        let start = branch.joints.start;
        let joints = &self.joints[branch.joints.clone()];
        let parent = |l: usize| joints[l].parent.map(|p| p as usize - start);
        let Numbers { point, composite, columns, first, flat, .. } = numbers;
        let (zero, two) = (N::from(0.0), N::from(2.0));
        composite.clear();
        for joint in joints {
            let [m, inertia] = [joint.mass, joint.inertia[0]].map(read);
            composite.push([m, zero, zero, inertia]);
        }
        for l in (0..joints.len()).rev() {
            if let Some(p) = parent(l) {
                let [m, sx, sy, inertia] = composite[l];
                let [x, y] = [point[l][0] - point[p][0], point[l][1] - point[p][1]];
                let to = &mut composite[p];
                to[0] += m;
                to[1] += sx + m * x;
                to[2] += sy + m * y;
                to[3] += inertia + two * (sx * x + sy * y) + m * (x * x + y * y);
            }
        }
        flat.iter_mut().for_each(|v| v.clear());
        for (l, p) in point.iter().enumerate() {
            for c in &columns[first[l]..first[l + 1]] {
                for (to, v) in flat.iter_mut().zip([c[0], c[1], c[2], p[0], p[1]]) {
                    to.push(v);
                }
            }
        }
        let [x, y, r, px, py] = &*flat;
        for l in 0..joints.len() {
            let [m, sx, sy, inertia] = composite[l];
            let [lx, ly] = point[l];
            for a in first[l]..first[l + 1] {
                let (fx, fy) = (m * x[a] - r[a] * sy, m * y[a] + r[a] * sx);
                let n = inertia * r[a] + (sx * y[a] - sy * x[a]);
                for s in &branch.runs[a] {
                    let on = s.first..s.first + s.count;
                    let factor = if s.twice { 2.0 } else { 1.0 };
                    let to = &mut mass[s.place..s.place + s.count];
                    let directions = x[on.clone()].iter().zip(&y[on.clone()]).zip(&r[on.clone()]);
                    let points = px[on.clone()].iter().zip(&py[on]);
                    for ((to, ((&x, &y), &r)), (&px, &py)) in to.iter_mut().zip(directions).zip(points) {
                        let n = n + ((lx - px) * fy - (ly - py) * fx);
                        *to += factor * (fx * x + fy * y + n * r).result();
                    }
                }
            }
        }
    }

    fn moved([x, y]: [N; 2], [fx, fy, n]: [N; 3]) -> [N; 3] {
        [fx, fy, n + (x * fy - y * fx)]
    }
}

impl SpaceTree {
    /// The shape for a factor along the tree, where every one of the `n` velocities has one column. None where little would be saved:
    /// few velocities, or short ways to the ground.
    pub(super) fn shape(&self, n: usize, entries: usize) -> Option<Arc<TreeShape>> {
        let mut shape = TreeShape::default();
        let mut columns = vec![0; n];
        for joint in &self.joints {
            shape.parent.push(joint.parent);
            shape.first.push(shape.owner.len() as u32);
            for (k, _) in &joint.own {
                shape.owner.push(*k);
                columns[*k as usize] += 1;
            }
        }
        shape.first.push(shape.owner.len() as u32);
        let long = n >= FEW && entries >= LONG * n;
        (long && columns.iter().all(|&c| c == 1)).then(|| Arc::new(shape))
    }

    /// Arms, inertia and columns of all bodies.
    pub(super) fn write_tree(
        &self,
        read: &impl Fn(u32) -> f64,
        points: &mut Vec<[f64; 3]>,
        out: &mut TreeMass,
    ) {
        points.clear();
        points.extend(self.joints.iter().map(|j| j.point.map(read)));
        out.arm.clear();
        out.inertia.clear();
        out.column.clear();
        for (joint, point) in self.joints.iter().zip(points.iter()) {
            let from = joint.parent.map_or([0.0; 3], |p| points[p as usize]);
            out.arm.push(std::array::from_fn(|i| point[i] - from[i]));
            let [a, b, c, yz, xz, xy] = joint.inertia.map(read);
            out.inertia.push([read(joint.mass), a, b, c, yz, xz, xy]);
            out.column.extend(joint.own.iter().map(|(_, c)| c.map(read)));
        }
    }
}

/// a × b.
fn cross<N: Number>(a: [N; 3], b: [N; 3]) -> [N; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot<N: Number>(a: [N; 3], b: [N; 3]) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl<N: Number> Solid<N, 3, 6, 10> for SpaceTree {
    fn add_mass(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N, 3, 6, 10>,
        mass: &mut [f64],
    ) {
        let start = branch.joints.start;
        let joints = &self.joints[branch.joints.clone()];
        let Numbers { point, composite, columns, first, .. } = numbers;
        let zero = N::from(0.0);
        composite.clear();
        for joint in joints {
            let [a, b, c, yz, xz, xy] = joint.inertia.map(read);
            composite.push([read(joint.mass), zero, zero, zero, a, b, c, yz, xz, xy]);
        }
        for l in (0..joints.len()).rev() {
            let Some(p) = joints[l].parent.map(|p| p as usize - start) else { continue };
            let child = composite[l];
            compose(child, std::array::from_fn(|i| point[l][i] - point[p][i]), &mut composite[p]);
        }
        for l in 0..joints.len() {
            let [m, sx, sy, sz, a, b, c, yz, xz, xy] = composite[l];
            let s = [sx, sy, sz];
            for k in first[l]..first[l + 1] {
                let [v0, v1, v2, w0, w1, w2] = columns[k];
                let (v, w) = ([v0, v1, v2], [w0, w1, w2]);
                // momentum and angular momentum at the point of the joint
                let (ws, sv) = (cross(w, s), cross(s, v));
                let f: [N; 3] = std::array::from_fn(|i| m * v[i] + ws[i]);
                let n = [
                    a * w0 + xy * w1 + xz * w2 + sv[0],
                    xy * w0 + b * w1 + yz * w2 + sv[1],
                    xz * w0 + yz * w1 + c * w2 + sv[2],
                ];
                for stretch in &branch.runs[k] {
                    let factor = if stretch.twice { 2.0 } else { 1.0 };
                    let mut joint = first.partition_point(|&x| x <= stretch.first) - 1;
                    for i in 0..stretch.count {
                        let at = stretch.first + i;
                        while first[joint + 1] <= at {
                            joint += 1;
                        }
                        let arm = std::array::from_fn(|i| point[l][i] - point[joint][i]);
                        let [.., n0, n1, n2] = Self::moved(arm, [f[0], f[1], f[2], n[0], n[1], n[2]]);
                        let [v0, v1, v2, w0, w1, w2] = columns[at];
                        let product = dot(f, [v0, v1, v2]) + dot([n0, n1, n2], [w0, w1, w2]);
                        mass[stretch.place + i] += factor * product.result();
                    }
                }
            }
        }
    }

    fn moved(arm: [N; 3], [fx, fy, fz, nx, ny, nz]: [N; 6]) -> [N; 6] {
        let turn = cross(arm, [fx, fy, fz]);
        [fx, fy, fz, nx + turn[0], ny + turn[1], nz + turn[2]]
    }
}

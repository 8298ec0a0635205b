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
//! O(bodies × depth) for M, O(bodies) for h. A coordinate may occur in several joints: its columns add up. On [`Number`]s: with dual ones
//! the same recursion gives the rates of M and h.

use crate::linalg::{Number, Pattern};

use super::forces::Link;
use super::frames::Builder;

/// Marks a place of M where one coordinate meets itself in two joints: counted twice.
const TWICE: u32 = 1 << 31;

/// A body in the tree, as outputs of the main tape.
#[derive(Clone, Debug)]
struct Joint {
    /// The body that carries it, by its number in the tree.
    parent: Option<u32>,
    point: [u32; 2],
    /// Columns of its own joint: coordinate and direction.
    own: Vec<(u32, [u32; 3])>,
    mass: u32,
    inertia: u32,
    load: [u32; 3],
    /// m j̃, I j̃_R when it is driven.
    momentum: Option<[u32; 3]>,
}

/// Bodies that carry each other, in order.
#[derive(Clone, Debug)]
struct Branch {
    joints: std::ops::Range<usize>,
    /// First of its places of M.
    places: usize,
    /// M is constant.
    constant_mass: bool,
    /// Its part of h is constant.
    constant_load: bool,
    driven: bool,
}

/// All bodies with inertia, and those that carry them.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    joints: Vec<Joint>,
    branches: Vec<Branch>,
    /// Places of M in the order in which they are visited.
    places: Vec<u32>,
}

/// Numbers of one evaluation.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers<N> {
    point: Vec<[N; 2]>,
    /// m, s_x, s_y, J of everything carried.
    composite: Vec<[N; 4]>,
    wrench: Vec<[N; 3]>,
    columns: Vec<[N; 3]>,
    /// First column of every joint.
    first: Vec<usize>,
}

impl Tree {
    /// Outputs are asked from `root`. `links` in the order of the bodies: who carries comes first.
    pub fn new(b: &Builder, links: &[Link], mut root: impl FnMut(crate::expr::NodeId) -> u32) -> Self {
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
            let turns = |l: &Link| l.own.iter().any(|(_, c)| c[2] != b.zero);
            let constant_mass =
                all().all(|l| l.own.iter().all(|(_, c)| c.iter().all(fixed))) && (alone || !all().any(turns));
            let constant_load = constant_mass && all().all(|l| l.load.iter().all(fixed));
            let driven = all().any(|l| l.momentum.iter().any(|&n| n != b.zero));
            let first = tree.joints.len();
            for link in all() {
                tree.joints.push(Joint {
                    parent: link.parent.map(|p| place[p] as u32),
                    point: link.point.map(&mut root),
                    own: link.own.iter().map(|&(k, c)| (k as u32, c.map(&mut root))).collect(),
                    mass: root(link.mass),
                    inertia: root(link.inertia),
                    load: link.load.map(&mut root),
                    momentum: driven.then(|| link.momentum.map(&mut root)),
                });
            }
            let joints = first..tree.joints.len();
            tree.branches.push(Branch { joints, places: 0, constant_mass, constant_load, driven });
        }
        tree
    }

    /// Pairs of coordinates that M couples, in the order of [`Tree::add_mass`].
    pub fn couplings(&self) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        for (l, joint) in self.joints.iter().enumerate() {
            for (a, &(k, _)) in joint.own.iter().enumerate() {
                out.extend(joint.own[..=a].iter().map(|&(j, _)| (k as usize, j as usize)));
                let mut at = self.joints[l].parent;
                while let Some(g) = at {
                    out.extend(self.joints[g as usize].own.iter().map(|&(j, _)| (k as usize, j as usize)));
                    at = self.joints[g as usize].parent;
                }
            }
        }
        out
    }

    /// Find the places of M in its pattern.
    pub fn locate(&mut self, pattern: &Pattern) {
        let pairs = self.couplings();
        let mut pairs = pairs.into_iter();
        for branch in &mut self.branches {
            branch.places = self.places.len();
            for l in branch.joints.clone() {
                for a in 0..self.joints[l].own.len() {
                    let mut count = a + 1;
                    let mut at = self.joints[l].parent;
                    while let Some(g) = at {
                        count += self.joints[g as usize].own.len();
                        at = self.joints[g as usize].parent;
                    }
                    for (n, (k, j)) in pairs.by_ref().take(count).enumerate() {
                        let place = pattern.find(k.max(j), k.min(j)).unwrap_or(0) as u32;
                        let twice = k == j && n != a;
                        self.places.push(if twice { place | TWICE } else { place });
                    }
                }
            }
        }
    }

    /// The constant parts of M and h, or those that are not; `read` gives the outputs of the tape.
    pub fn add<N: Number>(
        &self,
        constant: bool,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N>,
        mass: &mut [f64],
        h: &mut [f64],
    ) {
        for branch in &self.branches {
            let (for_mass, for_load) = (branch.constant_mass == constant, branch.constant_load == constant);
            if for_mass || for_load {
                self.gather(branch, read, numbers);
            }
            if for_mass {
                self.add_mass(branch, read, numbers, mass);
            }
            if for_load {
                self.add_wrench(branch, read, numbers, |j| Some(j.load), h);
            }
        }
    }

    /// The driven parts.
    pub fn add_drive<N: Number>(
        &self,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N>,
        drive: &mut [f64],
    ) {
        for branch in self.branches.iter().filter(|b| b.driven) {
            self.gather(branch, read, numbers);
            self.add_wrench(branch, read, numbers, |j| j.momentum, drive);
        }
    }

    /// Points and columns of a branch.
    fn gather<N: Number>(&self, branch: &Branch, read: &impl Fn(u32) -> N, numbers: &mut Numbers<N>) {
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

    fn add_mass<N: Number>(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N>,
        mass: &mut [f64],
    ) {
        let start = branch.joints.start;
        let joints = &self.joints[branch.joints.clone()];
        let parent = |l: usize| joints[l].parent.map(|p| p as usize - start);
        let Numbers { point, composite, columns, first, .. } = numbers;
        let (zero, two) = (N::from(0.0), N::from(2.0));
        composite.clear();
        for joint in joints {
            let [m, inertia] = [joint.mass, joint.inertia].map(read);
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
        let mut places = self.places[branch.places..].iter();
        let mut put = |v: N, place: &u32| match place & TWICE {
            0 => mass[*place as usize] += v.result(),
            _ => mass[(*place & !TWICE) as usize] += 2.0 * v.result(),
        };
        for l in 0..joints.len() {
            let [m, sx, sy, inertia] = composite[l];
            for a in first[l]..first[l + 1] {
                let [x, y, r] = columns[a];
                let (fx, fy) = (m * x - r * sy, m * y + r * sx);
                let mut n = inertia * r + (sx * y - sy * x);
                for (c, place) in columns[first[l]..=a].iter().zip(&mut places) {
                    put(fx * c[0] + fy * c[1] + n * c[2], place);
                }
                let mut from = l;
                while let Some(g) = parent(from) {
                    n += (point[from][0] - point[g][0]) * fy - (point[from][1] - point[g][1]) * fx;
                    for (c, place) in columns[first[g]..first[g + 1]].iter().zip(&mut places) {
                        put(fx * c[0] + fy * c[1] + n * c[2], place);
                    }
                    from = g;
                }
            }
        }
    }

    /// Forces at the points of the bodies, carried to the ground.
    fn add_wrench<N: Number>(
        &self,
        branch: &Branch,
        read: &impl Fn(u32) -> N,
        numbers: &mut Numbers<N>,
        which: impl Fn(&Joint) -> Option<[u32; 3]>,
        out: &mut [f64],
    ) {
        let start = branch.joints.start;
        let joints = &self.joints[branch.joints.clone()];
        let Numbers { point, wrench, columns, first, .. } = numbers;
        wrench.clear();
        wrench.extend(joints.iter().map(|j| which(j).map_or([N::from(0.0); 3], |w| w.map(read))));
        for l in (0..joints.len()).rev() {
            let [fx, fy, n] = wrench[l];
            if let Some(p) = joints[l].parent.map(|p| p as usize - start) {
                let [x, y] = [point[l][0] - point[p][0], point[l][1] - point[p][1]];
                let to = &mut wrench[p];
                to[0] += fx;
                to[1] += fy;
                to[2] += n + (x * fy - y * fx);
            }
            for ((k, _), c) in joints[l].own.iter().zip(&columns[first[l]..]) {
                out[*k as usize] += (fx * c[0] + fy * c[1] + n * c[2]).result();
            }
        }
    }
}

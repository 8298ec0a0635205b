//! From a problem to islands in scaled units (METH-CONE-PROBLEM, METH-CONE-MIXED)
//!
//! Every law becomes a cone with the rows it really needs (μ = 0: one row; elliptic: the tangent with the smaller coefficient shrunk by their ratio;
//! loads of zero: none). Connected components of the contact graph are solved on their own. Inside an island, with
//! `c_i = (tr W_ii / d)^(−1/2)` and `T = (s/μ, s, s)`:
//!
//! ```text
//! r = S x q_s,   u = S⁻¹ y q_s,   S = c T,   A = S W S,   b = S q / q_s,   y = A x + b
//! ```
//!
//! so that every cone of friction is the standard Lorentz cone. `s = 1` (`s = μ/μ_0` for small `μ < μ_0`) only balances the normal and tangential rows.

use super::body::{BodyForm, Pattern};
use super::cones::{Cone, Kind, Owner};
use super::form::{DenseForm, Form, Rows, SparseForm};
use super::island::Island;
use super::kernel::M3;
use super::problem::{Contact, Law, Operator, Problem, ProblemError};
use super::sparse::Matrix;

/// Up to this size (rows) an island from `W` is dense even if `W` is sparse.
const DENSE_ROWS: usize = 600;
/// Up to this size it is dense even if bodies are known: bookkeeping costs more than operations.
const FEW_ROWS: usize = 30;
/// Rigid blocks of `M` up to this size are inverted one by one.
const MASS_BLOCK: usize = 24;
/// Below this coefficient the tangential rows are scaled down instead of the normal row up.
const SMALL_MU: f64 = 0.1;

/// Compressed rows with buffers that are reused.
#[derive(Clone, Debug, Default)]
struct Csr {
    ptr: Vec<usize>,
    col: Vec<usize>,
    val: Vec<f64>,
}

impl Csr {
    fn gather(&mut self, m: &Matrix) {
        self.ptr.clear();
        self.col.clear();
        self.val.clear();
        self.ptr.push(0);
        for i in 0..m.rows() {
            m.for_row(i, |j, v| {
                self.col.push(j);
                self.val.push(v);
            });
            self.ptr.push(self.col.len());
        }
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let r = self.ptr[i]..self.ptr[i + 1];
        self.col[r.clone()].iter().copied().zip(self.val[r].iter().copied())
    }
}

/// Components of `M` and their sizes, at their roots.
struct Components {
    comp: Union,
    count: Vec<usize>,
}

/// Node of each unknown (or none), size and island of each node.
struct Nodes {
    of: Vec<usize>,
    size: Vec<usize>,
    island: Vec<usize>,
}

/// Islands and everything that depends on the structure only.
#[derive(Clone, Debug, Default)]
pub(super) struct Prep {
    pub islands: Vec<Island>,
    cones: Vec<Cone>,
    old_cones: Vec<Cone>,
    a: Csr,
    mass: Csr,
    old_ptr: [Vec<usize>; 4],
    body: bool,
    /// island and local number of a cone
    place: Vec<(usize, usize)>,
    /// (island, node, component) of an unknown velocity
    dof: Vec<(usize, usize, usize)>,
    /// cone and row of a problem row
    cone_of_row: Vec<(usize, usize)>,
}

impl Prep {
    /// Fill the islands with the problem; the structure is rebuilt only when it differs from the last one.
    pub(super) fn load(&mut self, p: &Problem) -> Result<(), ProblemError> {
        std::mem::swap(&mut self.cones, &mut self.old_cones);
        list_cones(&p.contacts, &mut self.cones);
        let body = match &p.operator {
            Operator::Delassus(w) => {
                self.a.gather(w);
                false
            }
            Operator::Bodies { mass, h } => {
                self.a.gather(h);
                self.mass.gather(mass);
                true
            }
        };
        let same = body == self.body
            && self.cones.len() == self.old_cones.len()
            && self.cones.iter().zip(&self.old_cones).all(|(a, b)| {
                let owner = |c: &Cone| c.owner.map(|o| o.cone);
                a.kind == b.kind && a.source == b.source && a.rows.d == b.rows.d && owner(a) == owner(b)
            })
            && self.old_ptr[0] == self.a.ptr
            && self.old_ptr[1] == self.a.col
            && (!body || (self.old_ptr[2] == self.mass.ptr && self.old_ptr[3] == self.mass.col));
        if !same {
            self.body = body;
            self.old_ptr =
                [self.a.ptr.clone(), self.a.col.clone(), self.mass.ptr.clone(), self.mass.col.clone()];
            self.cone_of_row.clear();
            self.cone_of_row.resize(p.q.len(), (usize::MAX, 0));
            for (i, c) in self.cones.iter().enumerate() {
                for k in 0..c.rows.d {
                    self.cone_of_row[c.source[k]] = (i, k);
                }
            }
            if body {
                self.structure_bodies(p.q.len());
            } else {
                self.structure_w();
            }
        }
        self.values(p)
    }

    fn structure_w(&mut self) {
        let n = self.cones.len();
        let mut join = Union::new(n);
        let mut pairs = Vec::new();
        for row in 0..self.cone_of_row.len() {
            let (i, _) = self.cone_of_row[row];
            if i == usize::MAX {
                continue;
            }
            for (j, _) in self.a.row(row) {
                let (j, _) = self.cone_of_row[j];
                if j != usize::MAX {
                    join.merge(i, j);
                    pairs.push((i, j));
                }
            }
        }
        for i in 0..n {
            if let Some(o) = self.cones[i].owner {
                join.merge(i, o.cone);
                pairs.push((i, o.cone));
            }
        }
        self.split(&mut join);
        pairs.extend((0..n).map(|i| (i, i)));
        pairs.sort_unstable();
        pairs.dedup();
        let mut local: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.islands.len()];
        for (i, j) in pairs {
            local[self.place[i].0].push((self.place[i].1, self.place[j].1));
        }
        for (island, pairs) in self.islands.iter_mut().zip(local) {
            let rows: Vec<Rows> = island.cones.iter().map(|c| c.rows).collect();
            let m: usize = rows.iter().map(|r| r.d).sum();
            let blocks = island.cones.len() * island.cones.len();
            if m <= DENSE_ROWS || pairs.len() * 3 > blocks {
                let mut f = DenseForm::default();
                f.reset(&rows);
                island.form = Form::Dense(f);
            } else {
                let mut f = SparseForm::default();
                f.set_pattern(&rows, &pairs);
                island.form = Form::Sparse(Box::new(f));
            }
        }
    }

    fn structure_bodies(&mut self, m: usize) {
        let n = self.mass.ptr.len() - 1;
        let mut parts = self.components(n);
        // islands: cones joined by components of M
        let cones = self.cones.len();
        let mut join = Union::new(cones + n);
        let mut touch: Vec<Vec<usize>> = vec![Vec::new(); cones];
        for row in 0..m {
            let (i, _) = self.cone_of_row[row];
            if i == usize::MAX {
                continue;
            }
            for (j, _) in self.a.row(row) {
                join.merge(i, cones + parts.comp.find(j));
                touch[i].push(j);
            }
        }
        for i in 0..cones {
            if let Some(o) = self.cones[i].owner {
                join.merge(i, o.cone);
            }
        }
        self.split(&mut join);
        let nodes = self.nodes(&mut parts, &mut join, &mut touch);
        let sizes = self.number(&nodes);
        // coupling of nodes by M
        let mut coupled: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.islands.len()];
        for i in 0..n {
            for (j, _) in self.mass.row(i) {
                let (a, b) = (self.dof[i], self.dof[j]);
                if a.0 != usize::MAX && a.1 != b.1 {
                    coupled[a.0].push((a.1, b.1));
                    coupled[a.0].push((b.1, a.1));
                }
            }
        }
        self.forms(&touch, &sizes, &mut coupled);
    }

    /// Unknowns that `M` joins.
    fn components(&self, n: usize) -> Components {
        let mut comp = Union::new(n);
        for i in 0..n {
            for (j, _) in self.mass.row(i) {
                comp.merge(i, j);
            }
        }
        let mut count = vec![0usize; n];
        for i in 0..n {
            count[comp.find(i)] += 1;
        }
        Components { comp, count }
    }

    /// Nodes: small components of `M` as they are, joined when touched by the same cones; large components split into single
    /// unknowns. `touch` is sorted.
    fn nodes(&self, parts: &mut Components, join: &mut Union, touch: &mut [Vec<usize>]) -> Nodes {
        let Components { comp, count } = parts;
        let (n, cones) = (count.len(), touch.len());
        // which cones touch an unknown
        let mut seen: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (i, t) in touch.iter_mut().enumerate() {
            t.sort_unstable();
            t.dedup();
            for &j in t.iter() {
                seen[j].push(i);
            }
        }
        let mut union_seen: Vec<Vec<usize>> = vec![Vec::new(); n];
        for j in 0..n {
            let c = comp.find(j);
            if count[c] <= MASS_BLOCK {
                union_seen[c].extend_from_slice(&seen[j]);
            }
        }
        for u in &mut union_seen {
            u.sort_unstable();
            u.dedup();
        }
        let mut node_of = vec![usize::MAX; n];
        let mut node_size: Vec<usize> = Vec::new();
        let mut node_island: Vec<usize> = Vec::new();
        let mut comp_node = vec![usize::MAX; n];
        // root → island
        let mut roots = vec![usize::MAX; cones + n];
        for i in 0..cones {
            roots[join.find(i)] = self.place[i].0;
        }
        let mut last_of_key: std::collections::BTreeMap<Vec<usize>, usize> = Default::default();
        for j in 0..n {
            let c = comp.find(j);
            let isl = roots[join.find(cones + c)];
            if isl >= self.islands.len() {
                continue;
            }
            if count[c] > MASS_BLOCK {
                node_of[j] = node_size.len();
                node_size.push(1);
                node_island.push(isl);
                continue;
            }
            if comp_node[c] == usize::MAX {
                let k = &union_seen[c];
                let open = last_of_key.get(k).copied().filter(|&g| node_size[g] + count[c] <= 12);
                comp_node[c] = match open {
                    Some(g) if !k.is_empty() => g,
                    _ => {
                        node_size.push(0);
                        node_island.push(isl);
                        last_of_key.insert(k.clone(), node_size.len() - 1);
                        node_size.len() - 1
                    }
                };
            }
            node_of[j] = comp_node[c];
            node_size[comp_node[c]] += 1;
        }
        Nodes { of: node_of, size: node_size, island: node_island }
    }

    /// Local node numbers and components of the unknowns; the sizes of the nodes of each island.
    fn number(&mut self, nodes: &Nodes) -> Vec<Vec<usize>> {
        let Nodes { of: node_of, size: node_size, island: node_island } = nodes;
        let mut local_node = vec![usize::MAX; node_size.len()];
        let mut sizes: Vec<Vec<usize>> = vec![Vec::new(); self.islands.len()];
        for g in 0..node_size.len() {
            let i = node_island[g];
            local_node[g] = sizes[i].len();
            sizes[i].push(node_size[g]);
        }
        let mut next = vec![0usize; node_size.len()];
        self.dof.clear();
        for &g in node_of {
            if g == usize::MAX {
                self.dof.push((usize::MAX, 0, 0));
            } else {
                self.dof.push((node_island[g], local_node[g], next[g]));
                next[g] += 1;
            }
        }
        sizes
    }

    /// The form of every island.
    fn forms(&mut self, touch: &[Vec<usize>], sizes: &[Vec<usize>], coupled: &mut [Vec<(usize, usize)>]) {
        // one pass over all cones: a pile may have as many islands as bodies
        let mut of_island: Vec<Vec<usize>> = vec![Vec::new(); self.islands.len()];
        for (i, place) in self.place.iter().enumerate() {
            of_island[place.0].push(i);
        }
        for (k, island) in self.islands.iter_mut().enumerate() {
            coupled[k].sort_unstable();
            coupled[k].dedup();
            let rows: Vec<Rows> = island.cones.iter().map(|c| c.rows).collect();
            let mut local_touch = vec![Vec::new(); island.cones.len()];
            for &i in &of_island[k] {
                let l: &mut Vec<usize> = &mut local_touch[self.place[i].1];
                l.extend(touch[i].iter().map(|&j| self.dof[j].1));
                l.sort_unstable();
                l.dedup();
            }
            let always: Vec<bool> =
                island.cones.iter().map(|c| matches!(c.kind, Kind::Free | Kind::Pair)).collect();
            let mut f = BodyForm::default();
            f.set_pattern(&Pattern {
                rows: &rows,
                sizes: &sizes[k],
                touch: &local_touch,
                always: &always,
                coupled: &coupled[k],
            });
            let m: usize = rows.iter().map(|r| r.d).sum();
            let md = m as f64;
            let dense = 2.0 / 3.0 * md * md * md + 20.0 * md * md;
            island.through_w =
                m <= FEW_ROWS || island.linked() || dense < 1.2 * f.flops() || (!f.has_blocks() && m <= 1500);
            island.form = Form::Body(Box::new(f));
            if island.through_w {
                let mut d = DenseForm::default();
                d.reset(&rows);
                island.dense = d;
            }
        }
    }

    /// `u += W r` for the rows in cones from the islands' own velocities, for the other rows from the operator.
    pub(super) fn add_w_times(&mut self, p: &Problem, r: &[f64], u: &mut [f64]) {
        for island in &self.islands {
            for (i, c) in island.cones.iter().enumerate() {
                let (_, v) = island.physical(i, &island.x, &island.y);
                for l in 0..c.rows.d {
                    u[c.source[l]] =
                        if island.q_s > 0.0 { v[l] * island.q_s / c.stretch[l] } else { p.q[c.source[l]] };
                }
            }
        }
        if self.cone_of_row.iter().all(|c| c.0 != usize::MAX) {
            return;
        }
        if self.body {
            for island in &mut self.islands {
                island.body_velocity();
            }
        }
        for row in 0..u.len() {
            if self.cone_of_row[row].0 != usize::MAX {
                continue;
            }
            let mut s = 0.0;
            for (j, v) in self.a.row(row) {
                s += v * if self.body {
                    let (k, node, c) = self.dof[j];
                    if k == usize::MAX { 0.0 } else { self.islands[k].velocity_of(node, c) }
                } else {
                    r[j]
                };
            }
            u[row] += s;
        }
    }

    /// Distribute the cones over islands.
    fn split(&mut self, join: &mut Union) {
        let n = self.cones.len();
        let mut island_of = vec![usize::MAX; join.parent.len()];
        let mut count = 0;
        self.place.clear();
        for i in 0..n {
            let r = join.find(i);
            if island_of[r] == usize::MAX {
                island_of[r] = count;
                count += 1;
            }
            self.place.push((island_of[r], 0));
        }
        self.islands.clear();
        self.islands.resize_with(count, Island::default);
        for i in 0..n {
            let island = &mut self.islands[self.place[i].0];
            self.place[i].1 = island.cones.len();
            let mut c = self.cones[i];
            c.rows.at = island.m;
            c.owner = c.owner.map(|o| Owner { cone: self.place[o.cone].1, ..o });
            island.m += c.rows.d;
            island.cones.push(c);
        }
    }

    fn values(&mut self, p: &Problem) -> Result<(), ProblemError> {
        for (i, c) in self.cones.iter().enumerate() {
            let (k, l) = self.place[i];
            let island = &mut self.islands[k];
            let rows = island.cones[l].rows;
            let owner = c.owner.map(|o| Owner { cone: self.place[o.cone].1, ..o });
            island.cones[l] = Cone { rows, owner, ..*c };
        }
        if self.body {
            for island in &mut self.islands {
                if matches!(island.form, Form::Dense(_)) {
                    let f = std::mem::replace(&mut island.form, std::mem::take(&mut island.spare));
                    if let Form::Dense(d) = f {
                        island.dense = d;
                    }
                }
                if let Form::Body(f) = &mut island.form {
                    f.clear();
                }
            }
            for row in 0..p.q.len() {
                let (i, k) = self.cone_of_row[row];
                if i == usize::MAX {
                    continue;
                }
                let (isl, l) = self.place[i];
                let s = self.cones[i].stretch[k];
                if let Form::Body(f) = &mut self.islands[isl].form {
                    for (j, v) in self.a.row(row) {
                        let (_, node, c) = self.dof[j];
                        f.set_h(l, k, node, c, v * s);
                    }
                }
            }
            for i in 0..self.dof.len() {
                let (isl, a, ca) = self.dof[i];
                if isl == usize::MAX {
                    continue;
                }
                if let Form::Body(f) = &mut self.islands[isl].form {
                    for (j, v) in self.mass.row(i) {
                        let (_, b, cb) = self.dof[j];
                        f.set_mass(a, ca, b, cb, v);
                    }
                }
            }
        } else {
            for island in &mut self.islands {
                match &mut island.form {
                    Form::Dense(f) => f.a.fill(0.0),
                    Form::Sparse(f) => f.val.fill([[0.0; 3]; 3]),
                    Form::Body(_) => {}
                }
            }
            for row in 0..p.q.len() {
                let (i, k) = self.cone_of_row[row];
                if i == usize::MAX {
                    continue;
                }
                let (isl, l) = self.place[i];
                let s = self.cones[i].stretch[k];
                let at = self.islands[isl].cones[l].rows.at + k;
                for (j, v) in self.a.row(row) {
                    let (cj, kj) = self.cone_of_row[j];
                    if cj == usize::MAX {
                        continue;
                    }
                    let lj = self.place[cj].1;
                    let value = v * s * self.cones[cj].stretch[kj];
                    let island = &mut self.islands[isl];
                    match &mut island.form {
                        Form::Dense(f) => {
                            let col = island.cones[lj].rows.at + kj;
                            f.a[at * f.m + col] = value;
                        }
                        Form::Sparse(f) => {
                            let r = f.ptr[l]..f.ptr[l + 1];
                            if let Ok(x) = f.col[r.clone()].binary_search(&lj) {
                                f.val[r.start + x][k][kj] = value;
                            }
                        }
                        Form::Body(_) => {}
                    }
                }
            }
        }
        for (k, island) in self.islands.iter_mut().enumerate() {
            island.finish(&p.q).map_err(|unknown| {
                let index = self
                    .dof
                    .iter()
                    .position(|&(i, node, c)| i == k && island.first_of(node) + c == unknown)
                    .unwrap_or(0);
                ProblemError::Indefinite { index }
            })?;
        }
        Ok(())
    }
}

/// Cones with the rows they need, in the order of the contacts.
fn list_cones(contacts: &[Contact], out: &mut Vec<Cone>) {
    out.clear();
    let (mut row, mut owner, mut guided) = (0, 0, false);
    for (contact, c) in contacts.iter().enumerate() {
        let src = [row, row + 1, row + 2];
        row += c.rows;
        if !matches!(c.law, Law::Rolling { .. }) {
            (owner, guided) = (out.len(), matches!(c.law, Law::BilateralFriction { .. }));
        }
        let mut push = |kind, d, mu, bound, source: [usize; 3], stretch, owner| {
            let rows = Rows { at: 0, d };
            let local: [usize; 3] = [source[0] - src[0], source[1] - src[0], source[2] - src[0]];
            out.push(Cone {
                kind,
                mu,
                bound,
                owner,
                contact,
                rows,
                source,
                local,
                stretch,
                scale: [1.0; 3],
                rho: 1.0,
            });
        };
        let one = [1.0; 3];
        match c.law {
            Law::Coulomb { mu } if c.rows == 1 || mu == 0.0 => push(Kind::Half, 1, 0.0, 0.0, src, one, None),
            Law::Coulomb { mu } => push(Kind::Soc, c.rows, mu, 0.0, src, one, None),
            Law::Elliptic { mu: [a, b] } => match (a > 0.0, b > 0.0) {
                // shrunk, never stretched: larger velocities would be a larger measure of all errors
                (true, true) if a < b => push(Kind::Soc, 3, b, 0.0, src, [1.0, a / b, 1.0], None),
                (true, true) => push(Kind::Soc, 3, a, 0.0, src, [1.0, 1.0, b / a], None),
                (true, false) => push(Kind::Soc, 2, a, 0.0, src, one, None),
                (false, true) => push(Kind::Soc, 2, b, 0.0, [src[0], src[2], src[2]], one, None),
                (false, false) => push(Kind::Half, 1, 0.0, 0.0, src, one, None),
            },
            Law::Loaded { bound } if bound > 0.0 => push(Kind::Disc, c.rows, 0.0, bound, src, one, None),
            Law::Loaded { .. } => {}
            Law::Rolling { mu } if mu > 0.0 => {
                let kind = if guided { Kind::Share } else { Kind::Disc };
                push(kind, c.rows, 0.0, 0.0, src, one, Some(Owner { cone: owner, mu }));
            }
            Law::Rolling { .. } => {}
            Law::Bilateral => push(Kind::Free, c.rows, 0.0, 0.0, src, one, None),
            Law::BilateralFriction { mu } if mu > 0.0 => push(Kind::Pair, c.rows, mu, 0.0, src, one, None),
            Law::BilateralFriction { .. } => push(Kind::Free, 1, 0.0, 0.0, src, one, None),
        }
    }
}

/// Scale of one cone from its (stretched, physical) diagonal block.
pub(super) fn scale_of(c: &mut Cone, w: &M3) {
    let d = c.rows.d;
    let trace: f64 = (0..d).map(|k| w[k][k]).sum();
    c.rho = if trace > 0.0 { d as f64 / trace } else { 1.0 };
    let s = c.rho.sqrt();
    c.scale = [s; 3];
    if matches!(c.kind, Kind::Soc | Kind::Convex) {
        let t = (c.mu / SMALL_MU).min(1.0);
        c.scale = [s * t / c.mu, s * t, s * t];
    }
}

/// Union–find with path halving.
struct Union {
    parent: Vec<usize>,
}

impl Union {
    fn new(n: usize) -> Self {
        Union { parent: (0..n).collect() }
    }

    fn find(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }
}

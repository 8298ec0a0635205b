//! Which features of two convex polyhedra count: faces under corners and pairs of crossing edges, frozen in latches.
//!
//! Two convex bodies that touch without entering each other lie on two sides of a plane. What they share in it is a point, a segment or a
//! polygon, and each corner of that is a corner of one body on the other, or a crossing of two edges. So the contacts of a pair are slots
//!
//! ```text
//! corner x of a body    latch: the face f of the other body over which it stands highest    g = n_f · (x − p_f)
//! crossing of edges     latch: a pair of edges d (of A), e (of B), and a side; or none       g = n · (a − b),  n = ± d × e / |d × e|
//! ```
//!
//! The gap of a corner is positive exactly outside the other body, whatever face is highest; where two are equally high the latch changes.
//! Of two edges a and b are the feet of their common perpendicular. While both lie on their edges they are points of the bodies, so the gap
//! vanishes only where the bodies meet: a crossing too many does no harm. One that counts is needed while n points out of B at e and out of
//! A against d: the least of the four cosines between n and the directions from the edges into their faces (with the sign that makes them
//! positive inside) is its *margin*. Faces that lie on each other have crossings with margin zero, so slots take pairs down to [`LEAN`] below.
//! Of two faces with m and n corners at most 2 min(m, n) pairs of edges cross.
//!
//! Everything is seen from B and computed on [`Number`]s, so that rates come from the same formulas.

use std::sync::Arc;

use crate::linalg::Number;
use crate::shape::Hull;

/// Lengths below this, relative to the size of the bodies, are rounding: a corner at rest leaves its face only so far beyond the border, and
/// so far feet must lie inside their edges before a crossing counts.
const SLACK: f64 = 1e-12;
/// A crossing that counts stays until its feet are so many times [`SLACK`] beyond the ends; one that takes over may be two less.
const BEYOND: f64 = 6.0;
/// What does not touch changes its face when another is higher by this share: heights that are the same for long do not flicker.
const RELUCTANT: f64 = 1e-3;
/// Margin down to which pairs of edges are taken; they stay until three times as far.
const LEAN: f64 = 1e-3;
/// Sines below this are those of parallel edges: their crossing is anywhere, and their ends are other contacts.
const PARALLEL: f64 = 1e-6;
/// Gaps of new crossings, relative to the size of the bodies, reach so far below zero: those below are of bodies beside each other.
const INSIDE: f64 = 1e-9;
/// The same where the feet are inside the other body, or the bodies inside one another, so that what comes and enters within one step is seen.
const DEEP: f64 = 0.02;
/// cos 30°: normals nearer to x than that have y for their first tangent.
const NEAR: f64 = 0.866_025_403_784_438_6;

type V3<N> = [N; 3];

/// How corners, edges and faces hang together.
#[derive(Debug)]
pub(in crate::model) struct Form {
    pub corners: usize,
    /// Three corners of each face far apart, counter-clockwise seen from outside, and how many it has.
    faces: Vec<([usize; 3], usize)>,
    /// Ends of each edge; the face that runs along it from the first to the second, and the other.
    edges: Vec<([usize; 2], [usize; 2])>,
}

impl Form {
    pub(super) fn of(hull: &Hull) -> Form {
        let far = |c: &[u32]| [c[0], c[c.len() / 3], c[2 * c.len() / 3]].map(|k| k as usize);
        let faces = hull.faces.iter().map(|f| (far(&f.corners), f.corners.len())).collect();
        let pairs = hull.edges.iter().zip(&hull.sides);
        let edges = pairs.map(|((e, _), s)| (e.map(|k| k as usize), s.map(|k| k as usize))).collect();
        Form { corners: hull.vertices.len(), faces, edges }
    }

    fn largest_face(&self) -> usize {
        self.faces.iter().map(|f| f.1).max().unwrap_or(0)
    }
}

/// An edge: its first end, unit vectors along it and from it into its faces, its length.
#[derive(Clone, Copy, Debug)]
struct Wire<N> {
    from: V3<N>,
    way: V3<N>,
    into: [V3<N>; 2],
    length: N,
}

/// A polyhedron with numbers for its corners, body axes.
#[derive(Clone, Debug)]
pub(in crate::model) struct Facets<C> {
    form: Arc<Form>,
    pub points: Vec<V3<C>>,
    /// Unit normal and first tangent of each face.
    faces: Vec<[V3<C>; 2]>,
    wires: Vec<Wire<C>>,
    middle: V3<C>,
    size: C,
}

impl<C: Number> Facets<C> {
    fn new(form: &Arc<Form>) -> Self {
        let zero = [C::from(0.0); 3];
        Facets {
            form: form.clone(),
            points: vec![zero; form.corners],
            faces: Vec::with_capacity(form.faces.len()),
            wires: Vec::with_capacity(form.edges.len()),
            middle: zero,
            size: C::from(0.0),
        }
    }

    /// Everything that follows from the present corners.
    fn prepare(&mut self) {
        let p = |k: usize| self.points[k];
        self.faces.clear();
        for ([i, j, k], _) in &self.form.faces {
            let normal = unit(cross(sub(p(*j), p(*i)), sub(p(*k), p(*i))));
            let axis = usize::from(normal[0] > C::from(NEAR) || normal[0] < C::from(-NEAR));
            let mut x = [C::from(0.0); 3];
            x[axis] = C::from(1.0);
            let first = unit(along(x, -dot(x, normal), normal));
            self.faces.push([normal, first]);
        }
        self.wires.clear();
        for &([i, j], [left, right]) in &self.form.edges {
            let d = sub(p(j), p(i));
            let (way, length) = (unit(d), length(d));
            let into = [cross(self.faces[left][0], way), cross(way, self.faces[right][0])];
            self.wires.push(Wire { from: p(i), way, into, length });
        }
        let far = [C::from(f64::INFINITY), C::from(f64::NEG_INFINITY)];
        let bounds = self.points.iter().flatten().fold(far, |b, &v| [b[0].least(v), b[1].most(v)]);
        self.size = bounds[1] - bounds[0];
        let share = C::from(1.0 / self.points.len() as f64);
        self.middle = self.points.iter().fold([C::from(0.0); 3], |m, &v| along(m, share, v));
    }

    /// Height of a point over the plane of face `f`.
    fn height<N: Number + From<C>>(&self, f: usize, x: V3<N>) -> N {
        let p = self.points[self.form.faces[f].0[0]].map(N::from);
        dot(self.faces[f][0].map(N::from), sub(x, p))
    }

    /// The largest height, over faces other than `but`.
    fn highest<N: Number + From<C>>(&self, but: Option<usize>, x: V3<N>) -> N {
        let others = (0..self.faces.len()).filter(|&f| Some(f) != but);
        others.fold(N::from(f64::NEG_INFINITY), |m, f| m.most(self.height(f, x)))
    }
}

/// Where A is as B sees it: x ↦ R x + r.
#[derive(Clone, Copy, Debug)]
pub(in crate::model) struct Place<N> {
    axes: [V3<N>; 3],
    origin: V3<N>,
}

impl<N: Number> Place<N> {
    /// From R by rows and r.
    pub(in crate::model) fn from(numbers: [N; 12]) -> Self {
        let row = |i: usize| [numbers[i], numbers[i + 1], numbers[i + 2]];
        Place { axes: [row(0), row(3), row(6)], origin: row(9) }
    }

    fn turn(&self, v: V3<N>) -> V3<N> {
        self.axes.map(|row| dot(row, v))
    }

    fn place(&self, p: V3<N>) -> V3<N> {
        let turned = self.turn(p);
        [0, 1, 2].map(|i| self.origin[i] + turned[i])
    }

    fn back(&self, x: V3<N>) -> V3<N> {
        let d = sub(x, self.origin);
        [0, 1, 2].map(|j| self.axes[0][j] * d[0] + self.axes[1][j] * d[1] + self.axes[2][j] * d[2])
    }
}

/// How two edges cross; lengths times the sine between them are as exact as the corners.
struct Crossing<N> {
    sine: N,
    /// Margins with n = d × e / sine and against it.
    margins: [N; 2],
    /// How far the feet are inside their edges, times the sine.
    feet: N,
    /// Along d × e / sine.
    gap: N,
    /// Positive where each foot enters the other body's wedge along n: the least of n · u − u₁ · u₂ over both edges, for both signs of n.
    wedged: [N; 2],
}

impl<N: Number> Crossing<N> {
    /// The side to which n points out of B.
    fn side(&self) -> usize {
        usize::from(self.margins[1] > self.margins[0])
    }

    /// How far the gap may be below zero; `overlap`: what is certain.
    fn depth(&self, side: usize, overlap: N) -> N {
        self.wedged[side].most(overlap).least(N::from(DEEP))
    }

    fn gap(&self, side: usize) -> N {
        if side == 0 { self.gap } else { -self.gap }
    }
}

/// Two polyhedra with all slots.
#[derive(Clone, Debug)]
pub(in crate::model) struct Encounter<C> {
    pub solids: [Facets<C>; 2],
    /// Slots for crossing edges, behind those of the corners of A and of B.
    pub crossings: usize,
    size: C,
    /// Some edge is sharper than 90°: behind it a foot may leave the body whatever its depth.
    sharp: bool,
}

impl<C: Number> Encounter<C> {
    /// Without numbers yet.
    pub(in crate::model) fn new(forms: &[Arc<Form>; 2]) -> Self {
        let [a, b] = forms;
        let crossings = 2 * a.largest_face().min(b.largest_face());
        Encounter { solids: [Facets::new(a), Facets::new(b)], crossings, size: C::from(0.0), sharp: false }
    }

    /// With the forms of another one.
    pub(in crate::model) fn like<D>(other: &Encounter<D>) -> Self {
        let [a, b] = &other.solids;
        Self::new(&[a.form.clone(), b.form.clone()])
    }

    /// Faces and edges of the corners that `value` gives, one number after the other.
    pub(in crate::model) fn prepare(&mut self, value: impl Fn(usize) -> C) {
        let mut k = 0;
        for solid in &mut self.solids {
            for x in solid.points.iter_mut().flatten() {
                *x = value(k);
                k += 1;
            }
            solid.prepare();
        }
        self.size = self.solids[0].size.most(self.solids[1].size);
        let wires = self.solids.iter().flat_map(|s| &s.wires);
        self.sharp = wires.into_iter().any(|w| dot(w.into[0], w.into[1]) > C::from(LEAN));
    }

    /// How many slots belong to corners.
    pub(in crate::model) fn corners(&self) -> usize {
        self.solids[0].points.len() + self.solids[1].points.len()
    }

    /// The body whose faces count in a slot of a corner, and the corner in its axes.
    fn corner<N: Number + From<C>>(&self, slot: usize, at: &Place<N>) -> (&Facets<C>, V3<N>) {
        let [a, b] = &self.solids;
        match slot.checked_sub(a.points.len()) {
            None => (b, at.place(a.points[slot].map(N::from))),
            Some(k) => (a, at.back(b.points[k].map(N::from))),
        }
    }

    /// Edge `k` of A as B sees it.
    fn wire<N: Number + From<C>>(&self, k: usize, at: &Place<N>) -> Wire<N> {
        let Wire { from, way, into, length } = self.solids[0].wires[k];
        Wire {
            from: at.place(from.map(N::from)),
            way: at.turn(way.map(N::from)),
            into: into.map(|v| at.turn(v.map(N::from))),
            length: N::from(length),
        }
    }

    /// How an edge of A crosses edge `k` of B; `None` where they are parallel, or where the margin cannot exceed `floor`.
    fn crossing<N: Number + From<C>>(&self, a: &Wire<N>, k: usize, floor: N) -> Option<Crossing<N>> {
        let b = &self.solids[1].wires[k];
        let (way, into) = (b.way.map(N::from), b.into.map(|v| v.map(N::from)));
        let c = cross(a.way, way);
        let sine = length(c);
        if sine < N::from(0.1 * PARALLEL) {
            return None;
        }
        let n = c.map(|x| x.over(sine));
        let cosines = [-dot(n, into[0]), -dot(n, into[1]), dot(n, a.into[0]), dot(n, a.into[1])];
        let least = cosines.into_iter().reduce(N::least)?;
        let most = cosines.into_iter().reduce(N::most)?;
        let margins = [least, -most];
        if margins[0] < floor && margins[1] < floor {
            return None;
        }
        let w = sub(a.from, b.from.map(N::from));
        let (cosine, wa, wb) = (dot(a.way, way), dot(w, a.way), dot(w, way));
        let square = sine * sine;
        let s = (cosine * wb + -wa).over(square);
        let t = (wb + -(cosine * wa)).over(square);
        let feet = s.least(a.length - s).least(t).least(N::from(b.length) - t) * sine;
        let apart = along(along(w, s, a.way), -t, way);
        let own = [dot(into[0], into[1]), dot(a.into[0], a.into[1])];
        let inner = |sign: f64| {
            let c = cosines.map(|c| N::from(sign) * c);
            (c[0].least(c[1]) - own[0]).least(c[2].least(c[3]) - own[1])
        };
        Some(Crossing { sine, margins, feet, gap: dot(n, apart), wedged: [inner(1.0), inner(-1.0)] })
    }

    /// What must stay positive: for a corner, that no other face is higher; for a pair of edges, that it still crosses; for `slot` = number of
    /// slots, that no other pair does. What touches (`closed`) may stand beyond its border by rounding.
    pub(in crate::model) fn guard<N: Number + From<C>>(
        &self,
        slot: usize,
        latches: &[i32],
        at: &Place<N>,
        closed: bool,
    ) -> N {
        let size = N::from(self.size);
        if slot < self.corners() {
            let (host, x) = self.corner(slot, at);
            let own = latches[slot] as usize;
            let (here, other) = (host.height(own, x), host.highest(Some(own), x));
            let slack = match closed {
                true => N::from(SLACK) * size,
                false => N::from(RELUCTANT) * other.most(N::from(0.0)),
            };
            return here - other + slack;
        }
        let crossing = &latches[self.corners()..self.corners() + self.crossings];
        let Some(&latch) = crossing.get(slot - self.corners()) else {
            return match crossing.contains(&0) {
                true => N::from(SLACK) * size - self.next(latches, at),
                false => N::from(f64::INFINITY),
            };
        };
        let Some((e, f, side)) = self.pair(latch) else { return N::from(f64::INFINITY) };
        match self.crossing(&self.wire(e, at), f, N::from(f64::NEG_INFINITY)) {
            Some(x) => (x.feet + N::from(BEYOND * SLACK) * size)
                .least(size * (x.margins[side] + N::from(3.0 * LEAN)))
                .least(size * (x.sine - N::from(0.5 * PARALLEL))),
            None => -size,
        }
    }

    /// How far the pair of edges that is nearest to it, of those without a slot, is inside the conditions of one.
    fn next<N: Number + From<C>>(&self, latches: &[i32], at: &Place<N>) -> N {
        let mut best = N::from(f64::NEG_INFINITY);
        self.candidates(at, [1.0, 0.0], |latch, value| {
            if value > best && !self.has(latches, latch) {
                best = value;
            }
            best
        });
        best
    }

    /// The widest slab between the bodies, over the normals of their faces and of their crossings; negative where they are inside one another.
    fn separation<N: Number + From<C>>(&self, at: &Place<N>) -> N {
        let [a, b] = &self.solids;
        let over = |host: &Facets<C>, f: usize, slots: std::ops::Range<usize>| {
            let heights = slots.map(|slot| host.height(f, self.corner(slot, at).1));
            heights.reduce(N::least).unwrap_or(N::from(f64::INFINITY))
        };
        let (first, all) = (a.points.len(), self.corners());
        let mut widest = N::from(f64::NEG_INFINITY);
        for f in 0..b.faces.len() {
            widest = widest.most(over(b, f, 0..first));
        }
        for f in 0..a.faces.len() {
            widest = widest.most(over(a, f, first..all));
        }
        for e in 0..a.wires.len() {
            let wire = self.wire(e, at);
            for f in 0..b.wires.len() {
                if let Some(x) = self.crossing(&wire, f, N::from(0.0)) {
                    widest = widest.most(x.gap(x.side()));
                }
            }
        }
        widest
    }

    /// Tells `take` the latch of every pair of edges and how far it is inside its conditions, which it may miss by `lean` times [`LEAN`] and `beyond`
    /// times [`SLACK`]; what it returns need not be told.
    fn candidates<N: Number + From<C>>(
        &self,
        at: &Place<N>,
        [lean, beyond]: [f64; 2],
        mut take: impl FnMut(i32, N) -> N,
    ) {
        let size = N::from(self.size);
        let mut least = N::from(f64::NEG_INFINITY);
        let mut overlap = N::from(0.0);
        if self.sharp {
            // the gap of the crossing that they meet at is the separation itself
            overlap = overlap.most(N::from(-2.0) * self.separation(at).over(size));
        }
        let edges = self.solids[1].wires.len();
        for e in 0..self.solids[0].wires.len() {
            let wire = self.wire(e, at);
            for f in 0..edges {
                let floor = least.over(size) - N::from(lean * LEAN);
                let Some(x) = self.crossing(&wire, f, floor) else { continue };
                let side = x.side();
                let value = (x.feet + N::from(beyond * SLACK) * size)
                    .least(size * (x.margins[side] + N::from(lean * LEAN)))
                    .least(size * (x.sine - N::from(PARALLEL)))
                    .least(x.gap(side) + size * (N::from(INSIDE) + x.depth(side, overlap)));
                least = take((2 * (e * edges + f) + side + 1) as i32, value);
            }
        }
    }

    /// Edges of A and B and the side of n of a latch.
    fn pair(&self, latch: i32) -> Option<(usize, usize, usize)> {
        let k = usize::try_from(latch).ok()?.checked_sub(1)?;
        let edges = self.solids[1].wires.len();
        Some((k / 2 / edges, k / 2 % edges, k % 2))
    }

    /// Whether a slot has these edges.
    fn has(&self, latches: &[i32], latch: i32) -> bool {
        latches[self.corners()..].iter().any(|&k| k > 0 && (k - 1) / 2 == (latch - 1) / 2)
    }

    /// Numbers of a slot for its formulas: point, normal and first tangent of a face; or ends and directions of two edges and the sign of n.
    pub(in crate::model) fn data(&self, slot: usize, latch: i32) -> [C; 13] {
        let mut out = [C::from(0.0); 13];
        let mut put = |at: usize, v: V3<C>| out[at..at + 3].copy_from_slice(&v);
        let [a, b] = &self.solids;
        if slot < self.corners() {
            let host = if slot < a.points.len() { b } else { a };
            let f = (latch as usize).min(host.faces.len() - 1);
            put(0, host.points[host.form.faces[f].0[0]]);
            put(3, host.faces[f][0]);
            put(6, host.faces[f][1]);
            return out;
        }
        match self.pair(latch) {
            Some((e, f, side)) => {
                let (x, y) = (&a.wires[e], &b.wires[f]);
                [x.from, x.way, y.from, y.way].into_iter().enumerate().for_each(|(k, v)| put(3 * k, v));
                out[12] = C::from(if side == 0 { 1.0 } else { -1.0 });
            }
            None => {
                let unit = |i: usize| [0, 1, 2].map(|j| C::from(if i == j { 1.0 } else { 0.0 }));
                [a.middle, unit(0), b.middle, unit(1)]
                    .into_iter()
                    .enumerate()
                    .for_each(|(k, v)| put(3 * k, v));
            }
        }
        out
    }
}

impl Encounter<f64> {
    /// The latches at a place; with `keep` the present ones where several would do.
    pub(in crate::model) fn fit(&self, latches: &mut [i32], at: &Place<f64>, keep: bool) {
        let corners = self.corners();
        for slot in 0..corners {
            let stays = keep && [true, false].iter().any(|&c| self.guard(slot, latches, at, c) >= 0.0);
            if !stays {
                latches[slot] = self.face(slot, None, at);
            }
        }
        for slot in corners..corners + self.crossings {
            if !(keep && self.guard(slot, latches, at, true) >= 0.0) {
                latches[slot] = 0;
            }
        }
        self.fill(latches, at, if keep { [2.0, BEYOND - 2.0] } else { [1.0, -1.0] });
        if !keep {
            self.show_overlap(latches, at);
        }
    }

    /// The latches after the guard of a slot has fallen.
    pub(in crate::model) fn flip(&self, slot: usize, latches: &mut [i32], at: &Place<f64>) {
        if slot < self.corners() {
            latches[slot] = self.face(slot, Some(latches[slot] as usize), at);
        } else if slot < self.corners() + self.crossings {
            latches[slot] = 0;
        }
        self.fill(latches, at, [2.0, BEYOND - 2.0]);
    }

    /// The face over which a corner stands highest. Of those that differ by rounding the one over which the middle of its body is highest: a
    /// corner on a corner.
    fn face(&self, slot: usize, but: Option<usize>, at: &Place<f64>) -> i32 {
        let (host, x) = self.corner(slot, at);
        let [a, b] = &self.solids;
        let middle = if slot < a.points.len() { at.place(a.middle) } else { at.back(b.middle) };
        let most = host.highest(but, x);
        let ties = (0..host.faces.len())
            .filter(|&f| Some(f) != but && host.height(f, x) >= most - SLACK * self.size);
        let rank = |f: usize| host.height(f, middle);
        ties.reduce(|f, g| if rank(g) > rank(f) { g } else { f }).unwrap_or(0) as i32
    }

    /// Free slots take the pairs of edges that cross.
    fn fill(&self, latches: &mut [i32], at: &Place<f64>, miss: [f64; 2]) {
        let corners = self.corners();
        for slot in corners..corners + self.crossings {
            if latches[slot] != 0 {
                continue;
            }
            let (mut found, mut best) = (0, 0.0);
            self.candidates(at, miss, |latch, value| {
                if value > best && !self.has(latches, latch) {
                    (found, best) = (latch, value);
                }
                best
            });
            if found == 0 {
                return;
            }
            latches[slot] = found;
        }
    }

    /// Bodies inside one another of which no corner is inside the other: the first slot takes the crossing that says so.
    fn show_overlap(&self, latches: &mut [i32], at: &Place<f64>) {
        let zero = -INSIDE * self.size;
        let corners = self.corners();
        let heights = (0..corners).map(|slot| {
            let (host, x) = self.corner(slot, at);
            host.highest(None, x)
        });
        if heights.fold(f64::INFINITY, f64::min) < zero {
            return;
        }
        let first = self.solids[0].points.len();
        for (range, host) in [(0..first, &self.solids[1]), (first..corners, &self.solids[0])] {
            let apart = |f: usize| range.clone().all(|slot| host.height(f, self.corner(slot, at).1) >= zero);
            if (0..host.faces.len()).any(apart) {
                return;
            }
        }
        let edges = self.solids[1].wires.len();
        let mut worst: Option<(bool, f64, i32)> = None;
        for e in 0..self.solids[0].wires.len() {
            let wire = self.wire(e, at);
            for f in 0..edges {
                let Some(x) = self.crossing(&wire, f, -SLACK) else { continue };
                let side = x.side();
                let gap = x.gap(side);
                if gap >= zero {
                    return;
                }
                let new = (x.feet >= 0.0, gap, (2 * (e * edges + f) + side + 1) as i32);
                if worst.is_none_or(|old| (new.0, new.1) > (old.0, old.1)) {
                    worst = Some(new);
                }
            }
        }
        if let Some((.., latch)) = worst {
            latches[corners] = latch;
        }
    }
}

fn sub<N: Number>(a: V3<N>, b: V3<N>) -> V3<N> {
    [0, 1, 2].map(|i| a[i] - b[i])
}

/// a + f b.
fn along<N: Number>(a: V3<N>, f: N, b: V3<N>) -> V3<N> {
    [0, 1, 2].map(|i| a[i] + f * b[i])
}

fn dot<N: Number>(a: V3<N>, b: V3<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross<N: Number>(a: V3<N>, b: V3<N>) -> V3<N> {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - a[j] * b[i])
}

fn length<N: Number>(a: V3<N>) -> N {
    a[0].hypot(a[1]).hypot(a[2])
}

fn unit<N: Number>(a: V3<N>) -> V3<N> {
    let l = length(a).most(N::from(f64::MIN_POSITIVE));
    a.map(|x| x.over(l))
}

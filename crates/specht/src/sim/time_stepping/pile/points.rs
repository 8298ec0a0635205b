//! The points at which bodies touch, or will within the step, at the present evaluation.

use crate::shape::{Broad, Placed, Pose, Shape, Touch, V3, add, along, cross, dot, meet, norm, sub};
use crate::system::{Eval, Touching};

/// Normals nearer to the x axis of B than 30° take its y axis for their first tangent (as contacts of the file).
const NEAR: f64 = 0.866_025_403_784_438_6;

/// Bodies that one pushes on to the next within a step.
const CHAIN: usize = 3;
/// How far the speed of others is looked at, of the smallest solid.
const OTHERS: f64 = 0.25;

/// Bits of a key that tell the feature; those above tell the pair of solids.
const FEATURE: u32 = 23;

/// Part of Δ² a that counts as touching where a is the acceleration of prescribed motion: what it jerks within a step is less.
const BENDS: f64 = 1e-2;

/// Changes of velocity that differ by less are the same.
const ALIKE: f64 = 1e-9;

/// One point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    pub frames: [u32; 2],
    /// The law.
    pub rule: u32,
    /// The same number while the same features touch.
    pub key: u64,
    /// Neither has faces.
    pub round: bool,
    pub touch: Touch,
    /// Normal from B to A, and two tangents.
    pub directions: [V3; 3],
    /// Rates before the step, under smooth forces alone, and after.
    pub before: V3,
    pub free: V3,
    pub after: V3,
    /// Gap at the beginning of the step, to second order.
    pub gap: f64,
    /// What a push out of penetration may use up: the gap at the end of the step, or the penetration at its beginning.
    pub room: f64,
    /// What counts as touching: of the smallest solid, and a part of the way by which prescribed motion bends within the step.
    pub near: f64,
    /// It would close within the step if nothing held it, by more than what counts as touching.
    pub closes: bool,
    /// Impulse along the directions.
    pub impulse: V3,
}

impl Point {
    /// Work of its impulse at the mean rates of the step.
    pub(super) fn work(&self) -> f64 {
        (0..3).map(|k| 0.5 * self.impulse[k] * (self.before[k] + self.after[k])).sum()
    }
}

/// Velocity of the origin and angular velocity of a frame.
pub(super) type Twist = [V3; 2];

/// The points of a step, and the memory of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    pub list: Vec<Point>,
    /// Found, but out of reach as far as is known before the step is solved.
    spare: Vec<Point>,
    pub poses: Vec<Pose>,
    placed: Vec<Placed>,
    boxes: Vec<(V3, V3)>,
    broad: Broad,
    pairs: Vec<[u32; 2]>,
    found: Vec<Touch>,
    /// Twists of the frames: before the step, under smooth forces, after, and the mean of a time at one velocity: of the first half of the step
    /// at that before it; once it is solved, of the whole step at that after it. Prescribed motion is no matter of velocities.
    pub twists: [Vec<Twist>; 4],
    /// Frames that move with the velocities of the end of the step.
    pub late: Vec<bool>,
    /// How fast each frame may be pushed by those that hit it.
    pushed: Vec<f64>,
    /// Frames that hang together by points with impulses: the next one towards the first of them; and work by the first.
    groups: Vec<u32>,
    works: Vec<f64>,
    /// Radius of each solid around the origin of its frame.
    reach: Vec<f64>,
    /// How far each solid may move in the step.
    way: Vec<f64>,
}

impl Points {
    pub(super) fn new(t: &Touching) -> Self {
        Points {
            placed: vec![Placed::default(); t.solids.len()],
            reach: t.solids.iter().map(|s| s.shape.reach()).collect(),
            ..Points::default()
        }
    }

    /// Twists of all frames at the velocities `u`, `later` than the instant of the evaluation: prescribed motions go on.
    pub(super) fn twist(&mut self, which: usize, t: &Touching, eval: &Eval, u: &[f64], later: f64) {
        let list = &mut self.twists[which];
        list.clear();
        list.extend(t.frames.iter().map(|f| {
            let rate = |k: usize| eval.rate(f.row + k, u) + later * eval.accel_offset[f.row + k];
            [[rate(0), rate(1), rate(2)], [rate(3), rate(4), rate(5)]]
        }));
    }

    /// All points that may touch within a step of this length from the velocities before it; those at most `near` apart in any case. `size`:
    /// of the smallest solid.
    /// The first two lists of twists and the last are set.
    pub(super) fn find(&mut self, t: &Touching, eval: &Eval, delta: f64, (near, size): (f64, f64)) {
        self.poses.clear();
        self.poses.extend(eval.frames.chunks_exact(12).map(|x| Pose {
            origin: [x[0], x[1], x[2]],
            axes: [[x[3], x[4], x[5]], [x[6], x[7], x[8]], [x[9], x[10], x[11]]],
        }));
        self.boxes.clear();
        self.way.clear();
        for (k, s) in t.solids.iter().enumerate() {
            self.placed[k].put(&s.shape, &self.poses[s.frame]);
            let speed = |which: usize| {
                let [v, w] = self.twists[which][s.frame];
                let turn = if self.reach[k].is_finite() { norm(w) * self.reach[k] } else { 0.0 };
                norm(v) + turn
            };
            // what smooth forces change may be added by others that are pushed
            let (before, free) = (speed(0), speed(1));
            let change = norm(sub(self.twists[1][s.frame][0], self.twists[0][s.frame][0]));
            self.way.push(near + delta * (before.max(free) + change));
        }
        // who is hit may be as fast as who hits
        let fastest = self.way.iter().fold(0.0_f64, |m, w| m.max(*w)).min(OTHERS * size);
        for (w, at) in self.way.iter_mut().zip(&self.placed) {
            *w = w.max(fastest);
            let w = *w;
            self.boxes.push((at.low.map(|x| x - w), at.high.map(|x| x + w)));
        }
        self.broad.pairs(&self.boxes, &mut self.pairs);
        self.list.clear();
        for &[a, b] in &self.pairs {
            let Some(rule) = t.law(a as usize, b as usize) else { continue };
            let (sa, sb) = (&t.solids[a as usize], &t.solids[b as usize]);
            let margin = self.way[a as usize] + self.way[b as usize];
            self.found.clear();
            let (pa, pb) = (&self.placed[a as usize], &self.placed[b as usize]);
            // what smooth forces do to A against B, or to A where both are moved alike
            let change = |f: usize| sub(self.twists[1][f][0], self.twists[0][f][0]);
            let (of_a, of_b) = (change(sa.frame), change(sb.frame));
            let push = sub(of_a, of_b);
            let push = if norm(push) > ALIKE * norm(of_a) { push } else { of_a };
            meet((&sa.shape, pa), (&sb.shape, pb), push, margin, &mut self.found);
            for touch in &self.found {
                let mut p = Point {
                    frames: [sa.frame as u32, sb.frame as u32],
                    rule: rule as u32,
                    key: 1 << 63
                        | u64::from(a) << 43
                        | u64::from(b) << FEATURE
                        | u64::from((touch.feature ^ touch.feature >> 23) & 0x7f_ffff),
                    round: ![sa, sb].iter().any(|s| matches!(s.shape, Shape::Hull(_))),
                    touch: *touch,
                    directions: directions(touch.normal, &self.poses[sb.frame]),
                    ..Point::default()
                };
                p.before = self.rates(0, &p);
                p.free = self.rates(1, &p);
                let mean = self.rates(3, &p)[0];
                p.gap = touch.gap - 0.5 * delta * mean;
                // a quarter of a step lies between the two rates
                p.near = near + BENDS * delta * 4.0 * (mean - p.before[0]).abs();
                p.closes = p.gap.max(0.0) + delta * p.before[0] < -p.near;
                self.list.push(p);
            }
        }
    }

    /// Leave out what cannot touch within the step: approach, twice the change by smooth forces (`rest`), and what those who are hit may be
    /// given by those who hit them.
    pub(super) fn select(&mut self, delta: f64, near: f64, rest: f64) {
        self.pushed.clear();
        self.pushed.resize(self.poses.len(), 0.0);
        for _ in 0..CHAIN {
            for p in &self.list {
                let [a, b] = p.frames.map(|f| f as usize);
                let speed = (-p.before[0]).max(self.pushed[a]).max(self.pushed[b]);
                if p.gap <= near + delta * speed {
                    self.pushed[a] = self.pushed[a].max(speed);
                    self.pushed[b] = self.pushed[b].max(speed);
                }
            }
        }
        let (pushed, spare) = (&self.pushed, &mut self.spare);
        spare.clear();
        self.list.retain(|p| {
            let closing = -p.before[0].min(p.free[0]).min(0.0) + rest;
            let [a, b] = p.frames.map(|f| pushed[f as usize]);
            let taken = p.gap <= near + delta * closing.max(a).max(b);
            if !taken {
                spare.push(*p);
            }
            taken
        });
    }

    /// Points that were left out, and would be inside after the step as it was solved, join the list; whether there are any. A body that is
    /// pushed on by others may be faster than all of them.
    pub(super) fn recall(&mut self, delta: f64) -> bool {
        let mut spare = std::mem::take(&mut self.spare);
        let before = self.list.len();
        spare.retain(|p| {
            let inside = p.gap.max(0.0) + delta * self.carried(p) < -p.near;
            if inside {
                let at = self.list.partition_point(|q| q.key >> FEATURE <= p.key >> FEATURE);
                self.list.insert(at, *p);
            }
            !inside
        });
        self.spare = spare;
        self.list.len() > before
    }

    /// Rate of the gap at which the positions of a step change it.
    fn carried(&self, p: &Point) -> f64 {
        let speed = |f: usize| {
            let arm = sub(p.touch.point, self.poses[f].origin);
            let at = |which: usize| {
                let [v, w] = self.twists[which][f];
                dot(p.directions[0], add(v, cross(w, arm)))
            };
            if self.late[f] { at(3) } else { 0.5 * (at(0) + at(2)) }
        };
        speed(p.frames[0] as usize) - speed(p.frames[1] as usize)
    }

    /// Sets the room of all points, for a step that is solved.
    pub(super) fn measure_room(&mut self, delta: f64) {
        for k in 0..self.list.len() {
            let p = &self.list[k];
            let end = p.gap + delta * self.carried(p);
            self.list[k].room = if p.gap > 0.0 { end.max(0.0) } else { p.gap };
        }
    }

    /// Rates of a point along its directions.
    pub(super) fn rates(&self, which: usize, p: &Point) -> V3 {
        let velocity = |f: usize| {
            let [v, w] = self.twists[which][f];
            add(v, cross(w, sub(p.touch.point, self.poses[f].origin)))
        };
        let slip = sub(velocity(p.frames[0] as usize), velocity(p.frames[1] as usize));
        let [n, s, t] = p.directions;
        [dot(n, slip), dot(s, slip), dot(t, slip)]
    }

    /// Frames that take part in an impact, or whose mean velocity would carry them into others: they move with the velocity of the end of the step, at which every gap stays
    /// open. One such frame may make another.
    pub(super) fn choose_late(&mut self, delta: f64) {
        self.late.clear();
        self.late.resize(self.poses.len(), false);
        for f in self.list.iter().filter(|p| p.closes).flat_map(|p| p.frames) {
            self.late[f as usize] = true;
        }
        loop {
            let mut changed = false;
            for p in &self.list {
                let [a, b] = p.frames.map(|f| f as usize);
                if self.late[a] && self.late[b] {
                    continue;
                }
                if p.gap.max(0.0) + delta * self.carried(p) < -p.near {
                    (self.late[a], self.late[b], changed) = (true, true, true);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// What the impulses of the step give instead of taking: the positive sums of their work over bodies that hang together. One point may
    /// give what others take: with much friction, or where one is pushed on by another. `loose`: nothing else ties bodies together.
    pub(super) fn created(&mut self, t: &Touching, loose: bool) -> f64 {
        self.groups.clear();
        self.groups.extend(0..self.poses.len() as u32);
        self.works.clear();
        self.works.resize(self.poses.len(), 0.0);
        let first = |groups: &[u32], mut f: u32| {
            while groups[f as usize] != f {
                f = groups[f as usize];
            }
            f
        };
        let moving = |p: &Point| p.frames.map(|f| t.frames[f as usize].moves.then_some(f));
        let pushes = |p: &&Point| p.impulse[0] > 0.0;
        let mut tied = None;
        for p in self.list.iter().filter(pushes) {
            for f in moving(p).into_iter().flatten() {
                let of = first(&self.groups, f);
                let other = match (loose, tied) {
                    (true, _) => first(&self.groups, moving(p)[0].unwrap_or(f)),
                    (false, Some(other)) => first(&self.groups, other),
                    (false, None) => of,
                };
                tied = Some(other);
                self.groups[of.max(other) as usize] = of.min(other);
            }
        }
        for p in self.list.iter().filter(pushes) {
            let Some(f) = moving(p).into_iter().flatten().next() else { continue };
            self.works[first(&self.groups, f) as usize] += p.work();
        }
        self.works.iter().map(|w| w.max(0.0)).sum()
    }

    /// The resultants of all impulses, by row of the system.
    pub(super) fn resultants(&self, t: &Touching, out: &mut [f64]) {
        for p in self.list.iter().filter(|p| p.impulse != [0.0; 3]) {
            let force = (0..3).fold([0.0; 3], |f, k| along(f, p.impulse[k], p.directions[k]));
            for (f, sign) in p.frames.into_iter().zip([1.0, -1.0]) {
                let f = f as usize;
                let moment = cross(sub(p.touch.point, self.poses[f].origin), force);
                let row = t.frames[f].row;
                for k in 0..3 {
                    out[row + k] += sign * force[k];
                    out[row + 3 + k] += sign * moment[k];
                }
            }
        }
    }
}

/// Impulses of the last step: points come in the order of their pairs, so that one walk finds all.
pub(super) struct Last<'a> {
    rest: &'a [(u64, [V3; 2])],
}

impl<'a> Last<'a> {
    pub(super) fn of(memory: &'a [(u64, [V3; 2])]) -> Self {
        Last { rest: memory }
    }

    /// The impulses of a key, zero when unknown.
    pub(super) fn impulses(&mut self, key: u64) -> [V3; 2] {
        let pair = key >> FEATURE;
        while self.rest.first().is_some_and(|m| m.0 >> FEATURE < pair) {
            self.rest = &self.rest[1..];
        }
        let known = self.rest.iter().take_while(|m| m.0 >> FEATURE == pair).find(|m| m.0 == key);
        known.map_or([[0.0; 3]; 2], |m| m.1)
    }
}

/// Normal and tangents: the x axis of B as it lies in the tangent plane (y where the normal is near x), and normal × first.
fn directions(n: V3, b: &Pose) -> [V3; 3] {
    let axis = |k: usize| [b.axes[0][k], b.axes[1][k], b.axes[2][k]];
    let x = if dot(axis(0), n).abs() > NEAR { axis(1) } else { axis(0) };
    let flat = along(x, -dot(x, n), n);
    let length = norm(flat);
    let first = flat.map(|v| v / length);
    [n, first, cross(n, first)]
}

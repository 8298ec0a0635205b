//! Special points of a branch over a second parameter.

use crate::analysis::branch::{Diagram, Point, diagram};
use crate::analysis::cycle::{Branch, Follow, Plane};
use crate::analysis::equilibria::Equilibrium;
use crate::analysis::line::Line;
use crate::analysis::map::Watch;
use crate::analysis::trace::{AWAY, Beside, Ended, Traced, trace};
use crate::machine::task::{BranchOf, BranchTask};
use crate::machine::{Error, Machine};

use super::branch::{BranchCurve, BranchFinding};
use super::branch_still::{Still, hopf_between, hopfs, pair_of, steady_at};
use super::stability::Slider;

/// How far across a curve one looks, in units of the distance expected.
const REACH: f64 = 2.5;
/// Halvings of a location.
const HALVINGS: usize = 60;

/// The plane of two parameters.
struct Axes<'a> {
    names: [&'a str; 2],
    slots: [usize; 2],
    /// From the smaller end.
    ranges: [[f64; 2]; 2],
    /// The second parameter of the first points.
    second: f64,
    /// Whether the branch goes towards larger values of the first.
    rises: bool,
}

impl Axes<'_> {
    fn scaled(&self, first: f64) -> [f64; 2] {
        let part = |k: usize, x: f64| (x - self.ranges[k][0]) / self.width(k);
        [part(0, first), part(1, self.second)]
    }

    fn width(&self, k: usize) -> f64 {
        self.ranges[k][1] - self.ranges[k][0]
    }

    /// A place of the unit square as values.
    fn values(&self, at: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|k| match at[k] {
            1.0 => self.ranges[k][1],
            part => self.ranges[k][0] + part * self.width(k),
        })
    }

    fn line(&self, from: [f64; 2], way: [f64; 2]) -> Line {
        Line::through(self.slots, self.values(from), [0, 1].map(|k| way[k] * self.width(k)))
    }

    /// A curve in both directions of the second parameter, from its lower end.
    fn curve<B: Beside>(
        &self,
        label: &'static str,
        world: &mut B,
        first: f64,
        (anchor, place): (&B::Anchor, f64),
    ) -> BranchCurve {
        let (first, place) = (self.scaled(first), self.scaled(place));
        let down = trace(world, first, (anchor, place), false);
        let up = match down.ended {
            Ended::Closed => Traced { points: vec![first], ended: Ended::Closed },
            _ => trace(world, first, (anchor, place), true),
        };
        let mut points: Vec<[f64; 2]> = down.points.iter().rev().map(|x| self.values(*x)).collect();
        points.extend(up.points[1..].iter().map(|x| self.values(*x)));
        let word = |e: Ended| match e {
            Ended::Bound => "bound of the parameter".to_string(),
            Ended::Closed => "closed".into(),
            Ended::Lost => format!("no {label} is found any further"),
            Ended::Long => "too many points".into(),
        };
        let ended = match (down.ended, up.ended) {
            (a, b) if a == b => word(a),
            (a, b) => format!("below: {}; above: {}", word(a), word(b)),
        };
        BranchCurve { label, parameters: self.names.map(String::from), points, ended }
    }
}

impl Machine {
    /// The special points of a branch over a second parameter: from its value in the file, or from the end of its range that is nearest.
    pub(super) fn curves(
        &self,
        task: &BranchTask,
        found: &BranchFinding,
        (second, ends): (&str, [f64; 2]),
        range: [f64; 2],
        watch: Watch,
    ) -> Result<Vec<BranchCurve>, Error> {
        let name = &found.over;
        let machine = self.opened(vec![name.clone(), second.to_string()])?;
        let slots = [machine.live_slot(name)?, machine.live_slot(second)?];
        let sorted = |[a, b]: [f64; 2]| [a.min(b), a.max(b)];
        let ranges = [sorted(range), sorted(ends)];
        let value = machine.system().parameters()[slots[1]].clamp(ranges[1][0], ranges[1][1]);
        let machine = machine.vary(&[(second, value)])?;
        let rises = range[1] > range[0];
        let axes = Axes { names: [name, second], slots, ranges, second: value, rises };
        let tell = |follow: &Follow<'_>, branch: &Branch, _| axes.of_cycles(follow, branch, watch);
        let still = BranchTask { switch: None, ..task.clone() };
        match (task.of, task.switch.as_deref()) {
            (BranchOf::Cycle, _) => {
                machine.vary(&[(name, range[0])])?.followed(task, name, range, watch, tell)
            }
            (BranchOf::Sliding, None) => machine.curves_of_sliding(task, range, &axes, watch),
            (BranchOf::Rest, None) => machine.curves_of_rest(range, &axes, watch),
            (BranchOf::Sliding, Some(label)) => {
                let still = machine.branch_of_sliding(&still, name, range, watch)?;
                machine.born(name, range, (&still, label), watch, tell)
            }
            (BranchOf::Rest, Some(label)) => {
                let still = machine.branch_of_rest(&still, name, range, watch)?;
                machine.born(name, range, (&still, label), watch, tell)
            }
        }
    }

    fn curves_of_sliding(
        &self,
        task: &BranchTask,
        range: [f64; 2],
        axes: &Axes<'_>,
        watch: Watch,
    ) -> Result<Vec<BranchCurve>, Error> {
        let found = self.branch_of_sliding(task, axes.names[0], range, watch)?;
        let place = self.place(&task.cycle.look, watch)?;
        let back = if axes.rises { -AWAY } else { AWAY } * axes.width(0);
        let curve = |s: &super::branch::BranchSpecial| {
            let mut world =
                Steady { axes, slider: self.slider(place.clone()), hopf: s.label == "hopf", before: None };
            let place = s.parameter + back;
            world.before = Some(world.class(axes.scaled(place)));
            axes.curve(s.label, &mut world, s.parameter, (&(), place))
        };
        Ok(found.special.iter().map(curve).collect())
    }

    fn curves_of_rest(
        &self,
        range: [f64; 2],
        axes: &Axes<'_>,
        watch: Watch,
    ) -> Result<Vec<BranchCurve>, Error> {
        let stop = || watch.is_interrupted();
        let all = self.rest_over(axes.names[0], range, watch)?;
        let line = Line::of(axes.slots[0]);
        let smooth = all.special.iter().map(|s| (s.label, s.parameter, (s.branch, s.point)));
        let born = hopfs(&|p| line.at(self.system(), p), &all).into_iter();
        let born = born.map(|(hopf, place)| ("hopf", hopf.parameter, place));
        let curve = |(label, parameter, (branch, point)): (&'static str, f64, (usize, usize))| {
            // a point at a distance on the branch that goes through it, before it where there is one
            let far = |p: &&Point| (p.parameter - parameter).abs() >= 0.5 * AWAY * axes.width(0);
            let (before, after) = all.branches.get(branch)?.split_at(point + 1);
            let anchor = before.iter().rev().find(far).or_else(|| after.iter().find(far))?;
            let mut world = Resting { axes, machine: self, label, stop: &stop };
            Some(axes.curve(label, &mut world, parameter, (&anchor.at, anchor.parameter)))
        };
        Ok(born.chain(smooth).filter_map(curve).collect())
    }
}

impl Axes<'_> {
    fn of_cycles(&self, follow: &Follow<'_>, branch: &Branch, watch: Watch) -> Vec<BranchCurve> {
        let interrupt = || watch.is_interrupted();
        let curve = |s: &crate::analysis::cycle::Special| {
            let mut plane = Plane {
                follow,
                line: &|from, way| self.line(from, way),
                label: s.label,
                interrupt: &interrupt,
            };
            let room = 0.5 * AWAY * self.width(0);
            let (anchor, place) = Plane::anchor(branch, s, room)?;
            Some(self.curve(s.label, &mut plane, s.parameter, (&anchor, place)))
        };
        branch.special.iter().filter_map(curve).collect()
    }
}

/// Steady motions beside a curve at which they lose their stability or end.
struct Steady<'a> {
    axes: &'a Axes<'a>,
    slider: Slider,
    hopf: bool,
    /// The class on the side of the anchor.
    before: Option<Option<i64>>,
}

impl Steady<'_> {
    /// How many motions grow, or the sign of the pair that grows most; `None`: there is no steady motion.
    fn class(&mut self, at: [f64; 2]) -> Option<i64> {
        let [a, b] = self.axes.values(at);
        let [p, q] = self.axes.slots;
        let still: Still = steady_at(&mut self.slider, &[(p, a), (q, b)])?;
        match self.hopf {
            true => pair_of(&still.eigenvalues).map(|v| if v.re > 0.0 { 1 } else { -1 }),
            false => i64::try_from(still.growing()).ok(),
        }
    }

    /// Whether the class at a distance is that of the anchor.
    fn same(&mut self, from: [f64; 2], way: [f64; 2], length: f64) -> bool {
        let class = self.class([from[0] + length * way[0], from[1] + length * way[1]]);
        Some(class) == self.before
    }
}

impl Beside for Steady<'_> {
    type Anchor = ();

    fn carry(&mut self, (): &(), from: [f64; 2], way: [f64; 2], length: f64) -> Option<()> {
        self.same(from, way, length).then_some(())
    }

    fn look(&mut self, (): &(), from: [f64; 2], way: [f64; 2], near: f64) -> Option<f64> {
        let (mut low, mut high) = (0.0, REACH * near);
        if self.same(from, way, high) {
            return None;
        }
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.same(from, way, middle) { low = middle } else { high = middle }
        }
        Some(low)
    }
}

/// Equilibria beside a curve of their special points.
struct Resting<'a> {
    axes: &'a Axes<'a>,
    machine: &'a Machine,
    label: &'static str,
    stop: &'a dyn Fn() -> bool,
}

impl Resting<'_> {
    fn along(
        &self,
        anchor: &Equilibrium,
        from: [f64; 2],
        way: [f64; 2],
        reach: f64,
    ) -> Option<(Line, Diagram)> {
        let line = self.axes.line(from, way);
        let starts = [(0.0, anchor.clone())];
        let found = diagram(self.machine.system(), &line, [0.0, reach], &starts, self.stop).ok()?;
        Some((line, found))
    }
}

impl Beside for Resting<'_> {
    type Anchor = Equilibrium;

    fn carry(
        &mut self,
        anchor: &Equilibrium,
        from: [f64; 2],
        way: [f64; 2],
        length: f64,
    ) -> Option<Equilibrium> {
        let (_, found) = self.along(anchor, from, way, length)?;
        let last = found.branches.first()?.last()?;
        ((last.parameter - length).abs() < 1e-9 * length).then(|| last.at.clone())
    }

    fn look(&mut self, anchor: &Equilibrium, from: [f64; 2], way: [f64; 2], near: f64) -> Option<f64> {
        let (line, found) = self.along(anchor, from, way, REACH * near)?;
        let smooth = found.special.iter().filter(|s| s.label == self.label).map(|s| s.parameter);
        let pairs = found.branches.first()?.windows(2).filter(|_| self.label == "hopf");
        let sys = self.machine.system();
        let born = pairs.filter_map(|w| hopf_between(&|s| line.at(sys, s), &w[0], &w[1]));
        let all = smooth.chain(born.map(|h| h.parameter));
        all.min_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()))
    }
}

//! Special points of branches of cycles over two parameters (METH-CONT-ARC, METH-BIF-SMOOTH, METH-BIF-DIB).

use super::branch::{Branch, Follow, Guess};
use super::special::Special;
use crate::analysis::line::Line;
use crate::analysis::trace::Beside;

/// Steps on the way of an anchor and across the curve, in units of their length.
const STEPS: [f64; 2] = [0.2, 0.4];
/// How far across the curve one looks, in units of the distance expected.
const REACH: f64 = 2.5;
/// Most cycles on such a way.
const MOST: usize = 40;

/// Cycles beside a curve of special points.
pub(crate) struct Plane<'a> {
    /// The branch on which the first point was found.
    pub follow: &'a Follow<'a>,
    /// The line from a place of the unit square along a way.
    pub line: &'a dyn Fn([f64; 2], [f64; 2]) -> Line,
    pub label: &'static str,
    pub interrupt: &'a dyn Fn() -> bool,
}

impl Plane<'_> {
    /// The cycle nearest to a special point on the way to it that is at least `room` away, and its parameter.
    pub(crate) fn anchor(branch: &Branch, special: &Special, room: f64) -> Option<(Guess, f64)> {
        let mut back = branch.points[..=special.from].iter().rev();
        let point = back.find(|p| (p.parameter - special.parameter).abs() >= room)?;
        Some((Guess { parameter: 0.0, ..point.guess() }, point.parameter))
    }

    /// Cycles along a straight way through the plane.
    fn along(&self, anchor: &Guess, from: [f64; 2], way: [f64; 2], reach: f64) -> Option<Branch> {
        if (self.interrupt)() {
            return None;
        }
        let follow = Follow {
            line: (self.line)(from, way),
            range: [0.0, reach],
            most: MOST,
            steps: STEPS,
            wanted: Some(self.label),
            ..self.follow.again()
        };
        follow.from(anchor.clone(), |_| !(self.interrupt)()).ok()
    }
}

impl Beside for Plane<'_> {
    type Anchor = Guess;

    fn carry(&mut self, anchor: &Guess, from: [f64; 2], way: [f64; 2], length: f64) -> Option<Guess> {
        let branch = self.along(anchor, from, way, length)?;
        let last = branch.points.last()?;
        let there = (last.parameter - length).abs() < 1e-9 * length;
        let crossed = branch.special.iter().any(|s| s.label == self.label);
        (there && !crossed).then(|| Guess { parameter: 0.0, ..last.guess() })
    }

    fn look(&mut self, anchor: &Guess, from: [f64; 2], way: [f64; 2], near: f64) -> Option<f64> {
        let branch = self.along(anchor, from, way, REACH * near)?;
        let same = branch.special.iter().filter(|s| s.label == self.label).map(|s| s.parameter);
        same.min_by(|a, b| (a - near).abs().total_cmp(&(b - near).abs()))
    }
}

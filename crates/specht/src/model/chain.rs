//! Geometry of a chain of edges: its features, the borders of their cells, and where a point lies among them. What the cells mean
//! stands in [`super::edges`]. On [`Number`]s, so that rates by the corners come from the same formulas.

use crate::linalg::Number;

use super::edges::{Run, Visitor};

/// Heights below this, relative to the size of the outline, are behind the chain.
pub(super) const BEHIND: f64 = 1e-9;

/// Distances below this, relative to the size of the outline, are rounding: a body at rest leaves its feature only so far beyond the border.
pub(super) const SLACK: f64 = 1e-12;

/// A chain with numbers for its corners.
#[derive(Clone, Debug)]
pub(super) struct Chain<C> {
    pub run: Run,
    pub visitor: Visitor,
    /// Corners of the outline.
    pub points: Vec<[C; 2]>,
    /// Point, normal, and 1 where the point itself is meant.
    features: Vec<[C; 5]>,
    /// Lower border of each feature and, unless in a ring, the upper one of the last: point and direction along the chain.
    borders: Vec<Option<[C; 4]>>,
    away: [C; 5],
    pub size: C,
}

impl<C: Number> Chain<C> {
    /// Without numbers yet.
    pub(super) fn new(run: Run, visitor: Visitor, corners: usize) -> Self {
        let zero = C::from(0.0);
        Chain {
            run,
            visitor,
            points: vec![[zero; 2]; corners],
            features: Vec::new(),
            borders: Vec::new(),
            away: [zero; 5],
            size: zero,
        }
    }

    /// Features and borders of the present corners.
    pub(super) fn prepare(&mut self) {
        let Run { first, count, ring, reentrant, closed, .. } = self.run;
        let n = self.points.len();
        let (zero, one) = (C::from(0.0), C::from(1.0));
        let far = [C::from(f64::INFINITY), C::from(f64::NEG_INFINITY)];
        let bounds = self.points.iter().flatten().fold(far, |b, &v| [b[0].least(v), b[1].most(v)]);
        self.size = bounds[1] - bounds[0];
        self.features.clear();
        self.borders.clear();
        let rounded = self.visitor == Visitor::Round;
        for k in 0..count {
            let i = first + k;
            let (p, t) = (self.point(i), self.direction(i));
            let begins = k == 0 && !ring;
            let free = !closed && i == 0;
            let before = if free { t } else { self.direction(i + n - 1) };
            // the border below, and the corner before the edge
            match (begins, rounded) {
                (true, _) if free => self.borders.push(None),
                (true, _) if reentrant[0] => {
                    let back = self.margin(i);
                    self.borders.push(Some([p[0] - back * t[0], p[1] - back * t[1], t[0], t[1]]));
                }
                (true, _) if self.visitor == Visitor::Curve => {
                    self.borders.push(Some([p[0], p[1], t[0], t[1]]))
                }
                (_, false) => self.borders.push(Some(bisector(p, before, t))),
                (begins, true) => {
                    let m = if begins { bisector(p, before, t) } else { [p[0], p[1], before[0], before[1]] };
                    self.borders.push(Some(m));
                    self.features.push([p[0], p[1], zero, zero, one]);
                    self.borders.push(Some([p[0], p[1], t[0], t[1]]));
                }
            }
            let normal = self.normal(i);
            self.features.push([p[0], p[1], normal[0], normal[1], zero]);
        }
        if !ring {
            self.end(first + count);
        }
        let middle = first + count / 2;
        let (p, q, normal) = (self.point(middle), self.point(middle + 1), self.normal(middle));
        let half = C::from(0.5);
        self.away = [half * (p[0] + q[0]), half * (p[1] + q[1]), normal[0], normal[1], one];
    }

    /// The border at the end of the last edge.
    fn end(&mut self, i: usize) {
        let (p, t) = (self.point(i), self.direction(i + self.points.len() - 1));
        if !self.run.closed && i + 1 == self.points.len() {
            self.borders.push(None);
            return;
        }
        if self.run.reentrant[1] {
            let on = self.margin(i);
            self.borders.push(Some([p[0] + on * t[0], p[1] + on * t[1], t[0], t[1]]));
            return;
        }
        let along = Some([p[0], p[1], t[0], t[1]]);
        let half = Some(bisector(p, t, self.direction(i)));
        match self.visitor {
            Visitor::Curve => self.borders.push(along),
            Visitor::Point => self.borders.push(half),
            Visitor::Round => {
                let (zero, one) = (C::from(0.0), C::from(1.0));
                self.borders.push(along);
                self.features.push([p[0], p[1], zero, zero, one]);
                self.borders.push(half);
            }
        }
    }

    pub(super) fn point(&self, i: usize) -> [C; 2] {
        self.points[i % self.points.len()]
    }

    /// Unit vector along edge `i`.
    pub(super) fn direction(&self, i: usize) -> [C; 2] {
        unit(minus(self.point(i + 1), self.point(i)))
    }

    /// Unit vector out of the material at edge `i`.
    pub(super) fn normal(&self, i: usize) -> [C; 2] {
        let t = self.direction(i);
        if self.run.material_left { [t[1], -t[0]] } else { [-t[1], t[0]] }
    }

    /// How far a chain goes on into the material at the re-entrant corner `i`: half the way to the next other edge.
    fn margin(&self, i: usize) -> C {
        let n = self.points.len();
        let (i, r) = (i % n, self.point(i));
        let edges = if self.run.closed { n } else { n - 1 };
        let reach = (0..edges).map(|e| {
            let (p, q) = (self.point(e), self.point(e + 1));
            let other = if e == i {
                Some(q)
            } else if (e + 1) % n == i {
                Some(p)
            } else {
                None
            };
            other.map_or_else(|| distance(r, p, q, [false; 2]), |end| length(minus(end, r)))
        });
        C::from(0.5) * reach.fold(C::from(f64::INFINITY), C::least)
    }

    /// How many features it has.
    pub(super) fn count(&self) -> usize {
        self.features.len()
    }

    /// The feature of a latch, see [`super::edges`].
    pub(super) fn feature(&self, latch: i32) -> [C; 5] {
        usize::try_from(latch).ok().and_then(|k| self.features.get(k)).copied().unwrap_or(self.away)
    }

    /// Height of `p` over feature `k`.
    pub(super) fn height<N: Number + From<C>>(&self, k: usize, p: [N; 2]) -> N {
        let [x, y, nx, ny, corner] = self.features[k].map(N::from);
        if corner > N::from(0.0) { length(minus(p, [x, y])) } else { nx * (p[0] - x) + ny * (p[1] - y) }
    }

    /// How far `p` is above the lower border of feature `k` (`k` = number of features: the upper border of the last).
    fn above<N: Number + From<C>>(&self, k: usize, p: [N; 2]) -> N {
        let k = if self.run.ring { k % self.borders.len() } else { k };
        match self.borders[k].map(|b| b.map(N::from)) {
            Some([x, y, mx, my]) => mx * (p[0] - x) + my * (p[1] - y),
            None => N::from(self.size),
        }
    }

    fn below<N: Number + From<C>>(&self, k: usize, p: [N; 2]) -> N {
        let open = !self.run.ring && self.borders[k].is_none();
        if open { N::from(self.size) } else { -self.above(k, p) }
    }

    /// Distance into the cell of feature `k`.
    pub(super) fn within<N: Number + From<C>>(&self, k: usize, p: [N; 2]) -> N {
        self.above(k, p).least(self.below(k + 1, p))
    }

    /// The same for the part of the cell in front of the feature.
    pub(super) fn before<N: Number + From<C>>(&self, k: usize, p: [N; 2]) -> N {
        self.within(k, p).least(self.height(k, p) + N::from(BEHIND) * N::from(self.size))
    }

    /// Positive where the chain does not face `p`: outside the fronts of all its cells.
    fn averted<N: Number + From<C>>(&self, p: [N; 2]) -> N {
        (0..self.features.len()).fold(N::from(f64::INFINITY), |m, k| m.least(-self.before(k, p)))
    }

    /// Falls through zero where the present feature hands over to the one before (after) it, or the chain comes to face.
    /// What touches (`closed`) may stand beyond the border by rounding; what does not would meet the old feature there.
    pub(super) fn guard<N: Number + From<C>>(&self, latch: i32, up: bool, p: [N; 2], closed: bool) -> N {
        let size = N::from(self.size);
        let slack = if closed { N::from(SLACK) * size } else { N::from(0.0) };
        match (usize::try_from(latch), up) {
            (Ok(k), false) => self.above(k, p) + slack,
            (Ok(k), true) => self.below(k + 1, p) + slack,
            (Err(_), false) => self.averted(p),
            (Err(_), true) => size,
        }
    }
}

/// The border through the corner `p` between the directions `a` and `b`.
fn bisector<N: Number>(p: [N; 2], a: [N; 2], b: [N; 2]) -> [N; 4] {
    let m = unit([a[0] + b[0], a[1] + b[1]]);
    [p[0], p[1], m[0], m[1]]
}

fn minus<N: Number>(a: [N; 2], b: [N; 2]) -> [N; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn length<N: Number>(v: [N; 2]) -> N {
    v[0].hypot(v[1])
}

fn unit<N: Number>(v: [N; 2]) -> [N; 2] {
    let l = length(v).most(N::from(f64::MIN_POSITIVE));
    [v[0].over(l), v[1].over(l)]
}

/// From `p` to the segment a–b, which is endless where `free` says so.
pub(super) fn distance<N: Number>(p: [N; 2], a: [N; 2], b: [N; 2], free: [bool; 2]) -> N {
    let (d, r) = (minus(b, a), minus(p, a));
    let square = (d[0] * d[0] + d[1] * d[1]).most(N::from(f64::MIN_POSITIVE));
    let mut s = (d[0] * r[0] + d[1] * r[1]).over(square);
    if !free[0] {
        s = s.most(N::from(0.0));
    }
    if !free[1] {
        s = s.least(N::from(1.0));
    }
    length(minus(r, [s * d[0], s * d[1]]))
}

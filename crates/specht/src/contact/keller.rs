//! The impact without collision of one contact with friction in its tangent plane (ANH-4.3-TIMPACT, METH-3D-ZERO)
//!
//! Where the forces of a sliding contact have no solution its reaction grows beyond all others. With the normal impulse p as time (Darboux, Keller)
//!
//! ```text
//! dγ_N/dp = G_NN − μ G_NT f(d),     dγ_T/dp = G_TN − μ G_TT f(d) = a(d),     d = γ_T/|γ_T|
//! ```
//!
//! the contact, which does not approach, is pressed in (γ_N < 0) until γ_N is zero again. On the way slip turns. In τ with dp = s dτ, s = |γ_T|,
//!
//! ```text
//! ḋ = a(d) − (d·a) d,     (ln s)˙ = d·a,     ṗ = s,     γ̇_N = s (G_NN − μ G_NT f(d))
//! ```
//!
//! nothing is singular at zero slip, which is reached with τ → ∞ along a direction that stands still; the rest of the way is a straight line. From zero
//! slip on the contact sticks if its cone holds that, with the impulse that stops it whatever the way was, or slips on along the exit. Either way
//! λᵀGλ > 0 brings γ_N back. Slip may also turn so far that γ_N comes back while it lasts.

use super::space::{Cone, Does, Sliding, one};

/// First step in τ over the time in which the direction can turn by about one, its error, and steps after which there is no end.
const STEP: f64 = 0.01;
const ERROR: f64 = 1e-12;
const LIMIT: usize = 100_000;
/// Turning, and slip, that are none.
const STRAIGHT: f64 = 1e-14;
const STOPPED: f64 = 1e-15;
/// How fast γ_N falls at a border, relative to G_NN.
const LEAST: f64 = 1e-12;

/// End of the impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Jammed {
    /// Impulses along the normal and the tangents.
    pub impulse: [f64; 4],
    /// γ_T at the end.
    pub slip: [f64; 3],
    /// Normal impulse up to the first zero slip, or to the end.
    pub first: f64,
}

/// d, ln s, p, γ_N and the tangential impulse.
type State = [f64; 9];

struct Path<'a> {
    cone: &'a Cone,
    g: [[f64; 4]; 4],
    mu: f64,
    /// What G_NN − μ G_NT f(d) is at a border; else zero.
    shift: f64,
}

/// The impact of a contact that slides with `slip`, all velocities beside it zero. `None` where it does not begin: γ_N grows at once. `border`: at the
/// start γ_N neither grows nor falls, up to what is left of the way to there.
pub(crate) fn jam(cone: &Cone, g: [[f64; 4]; 4], slip: [f64; 3], border: bool) -> Option<Jammed> {
    let Sliding::Slides { mu, d } = cone.friction else { return None };
    let speed = size(slip);
    if cone.tangents == 0 || cone.given.is_some() || !(speed > 0.0) {
        return None;
    }
    let mut path = Path { cone, g, mu, shift: 0.0 };
    let rest = path.rate(d)[0];
    if border {
        path.shift = rest + LEAST * g[0][0];
    } else if rest >= 0.0 {
        return None;
    }
    let mut y: State = [d[0], d[1], d[2], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let bound = (0..4).map(|i| (0..4).map(|j| g[i][j].abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut lowest = 0.0_f64;
    let mut h = STEP / (bound * (1.0 + mu * size(cone.section.push(d))));
    for _ in 0..LIMIT {
        let now = [y[0], y[1], y[2]];
        let a = path.rate(now);
        let (grows, turn) = split(&a, now);
        // impulses and velocities are those of unit slip so far
        let s = y[3].exp();
        if grows < 0.0 && (turn <= STRAIGHT * bound || s <= STOPPED) {
            let step = s / -grows;
            let back = y[5] / -a[0];
            if a[0] > 0.0 && back < step {
                return Some(path.end(&y, s, back, speed));
            }
            y = path.straight(&y, step, &a);
            return path.leave_rest(&y, slip, speed);
        }
        let (next, error) = path.twice(&y, h, bound);
        let better = 0.9 * (ERROR / error.max(1e-30)).powf(0.2);
        if error > ERROR {
            h *= better.max(0.2);
            continue;
        }
        if next[5] > 0.0 || (next[5] == 0.0 && path.rate([next[0], next[1], next[2]])[0] > 0.0) {
            let (mut low, mut high) = (0.0, h);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if path.twice(&y, middle, bound).0[5] > 0.0 { high = middle } else { low = middle }
            }
            let (y, _) = path.twice(&y, high, bound);
            // what turns away from the border was never pressed in
            let pressed = !border || -lowest > 1e3 * LEAST * g[0][0] * y[4];
            return pressed.then(|| path.end(&y, y[3].exp(), 0.0, speed));
        }
        lowest = lowest.min(next[5]);
        y = next;
        h *= better.min(4.0);
    }
    None
}

fn size(x: [f64; 3]) -> f64 {
    x[0].hypot(x[1]).hypot(x[2])
}

/// d·a, and how fast d turns.
fn split(a: &[f64; 4], d: [f64; 3]) -> (f64, f64) {
    let along = (0..3).map(|i| d[i] * a[i + 1]).sum::<f64>();
    (along, size(std::array::from_fn(|i| a[i + 1] - along * d[i])))
}

impl Path<'_> {
    /// Force of slip along d by a unit of normal force.
    fn force(&self, d: [f64; 3]) -> [f64; 4] {
        let [x, y, z] = self.cone.section.push(d).map(|f| -self.mu * f);
        [1.0, x, y, z]
    }

    /// What it does to γ.
    fn rate(&self, d: [f64; 3]) -> [f64; 4] {
        let f = self.force(d);
        let mut a: [f64; 4] = std::array::from_fn(|i| (0..4).map(|j| self.g[i][j] * f[j]).sum());
        a[0] -= self.shift;
        a
    }

    fn slope(&self, y: &State) -> State {
        let long = size([y[0], y[1], y[2]]);
        let d = [y[0] / long, y[1] / long, y[2] / long];
        let (a, f, s) = (self.rate(d), self.force(d), y[3].exp());
        let (along, _) = split(&a, d);
        [
            a[1] - along * d[0],
            a[2] - along * d[1],
            a[3] - along * d[2],
            along,
            s,
            s * a[0],
            s * f[1],
            s * f[2],
            s * f[3],
        ]
    }

    /// The classical method of order four.
    fn step(&self, y: &State, h: f64) -> State {
        let add = |k: &State, h: f64| -> State { std::array::from_fn(|i| y[i] + h * k[i]) };
        let k1 = self.slope(y);
        let k2 = self.slope(&add(&k1, 0.5 * h));
        let k3 = self.slope(&add(&k2, 0.5 * h));
        let k4 = self.slope(&add(&k3, h));
        let mut next: State =
            std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        let long = size([next[0], next[1], next[2]]);
        next[..3].iter_mut().for_each(|d| *d /= long);
        next
    }

    /// Two steps of half the length, and their error.
    fn twice(&self, y: &State, h: f64, bound: f64) -> (State, f64) {
        let whole = self.step(y, h);
        let out = self.step(&self.step(y, 0.5 * h), 0.5 * h);
        let impulse = out[4] + 1.0 / bound;
        let size = |i: usize| match i {
            0..=3 => 1.0,
            5 => bound * impulse,
            4 | 6.. => impulse,
        };
        let error = (0..9).map(|i| (whole[i] - out[i]).abs() / size(i)).fold(0.0, f64::max);
        (out, if error.is_finite() { error / 15.0 } else { f64::INFINITY })
    }

    /// Onwards by the normal impulse p, without a turn.
    fn straight(&self, y: &State, p: f64, a: &[f64; 4]) -> State {
        let f = self.force([y[0], y[1], y[2]]);
        let mut out = *y;
        out[4] += p;
        out[5] += p * a[0];
        (0..3).for_each(|i| out[6 + i] += p * f[i + 1]);
        out
    }

    /// The end with slip s along d after another p.
    fn end(&self, y: &State, s: f64, p: f64, speed: f64) -> Jammed {
        let d = [y[0], y[1], y[2]];
        let a = self.rate(d);
        let y = self.straight(y, p, &a);
        let left = (s + p * split(&a, d).0) * speed;
        let [n, x, y, z] = [y[4], y[6], y[7], y[8]].map(|l| l * speed);
        Jammed { impulse: [n, x, y, z], slip: d.map(|d| d * left), first: n }
    }

    /// The slip is zero: what follows.
    fn leave_rest(&self, y: &State, slip: [f64; 3], speed: f64) -> Option<Jammed> {
        let first = y[4] * speed;
        // friction of a unit of normal force
        let friction = Sliding::Rests { rest: self.mu, mu: self.mu };
        let loaded = Cone { given: Some(1.0), friction, inner: None, ..*self.cone };
        let found = one(&loaded, self.g, [0.0; 4]).into_iter().next()?;
        match found.does {
            Does::Slips(d) => {
                let a = self.rate(d);
                let p = y[5] / -a[0];
                let mut y = *y;
                y[..3].copy_from_slice(&d);
                (a[0] > 0.0).then(|| Jammed { first, ..self.end(&y, 0.0, p, speed) })
            }
            _ => {
                // whatever the way was
                let stops = Cone { least: 0.0, friction, inner: None, ..*self.cone };
                let b = [0.0, slip[0], slip[1], slip[2]];
                let all = one(&stops, self.g, b);
                let held = all.into_iter().find(|f| f.does == Does::Sticks && f.force[0] > 0.0)?;
                Some(Jammed { impulse: held.force, slip: [0.0; 3], first })
            }
        }
    }
}

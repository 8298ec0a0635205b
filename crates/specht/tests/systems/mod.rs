//! Systems written by hand in Rust, with the equations of the spec.
#![allow(dead_code)]

use specht::system::*;

/// Equations: fill M, h, rows and offsets at a state.
pub type Equations = Box<dyn Fn(&State, &Discrete, &mut Eval) + Sync>;
pub type Rates = Box<dyn Fn(&State, &Along<'_>, &mut Eval) + Sync>;

/// A system given by one function.
pub struct Hand {
    pub dims: Dims,
    pub contacts: Vec<ContactInfo>,
    pub equations: Equations,
    pub rates: Option<Rates>,
    pub restitution: Vec<Restitution>,
    pub directions: Vec<Direction>,
    pub events: Vec<String>,
    pub stop: bool,
    pub length: f64,
}

impl Hand {
    pub fn new(
        q: usize,
        rows: usize,
        contacts: Vec<ContactInfo>,
        equations: impl Fn(&State, &Discrete, &mut Eval) + Sync + 'static,
    ) -> Self {
        let n = contacts.len();
        Hand {
            dims: Dims { q, u: q, rows, contacts: n, ..Dims::default() },
            contacts,
            equations: Box::new(equations),
            rates: None,
            restitution: vec![Restitution::default(); n],
            directions: Vec::new(),
            events: Vec::new(),
            stop: false,
            length: 1.0,
        }
    }

    pub fn restitution(mut self, e: &[f64]) -> Self {
        for (r, e) in self.restitution.iter_mut().zip(e) {
            r.normal = *e;
        }
        self
    }

    pub fn crossing(mut self, name: &str, direction: Direction) -> Self {
        self.directions.push(direction);
        self.events.push(name.to_string());
        self.dims.crossings += 1;
        self
    }
}

impl System for Hand {
    fn dims(&self) -> Dims {
        self.dims
    }
    fn contacts(&self) -> &[ContactInfo] {
        &self.contacts
    }
    fn evaluate(&self, s: &State, d: &Discrete, out: &mut Eval) {
        (self.equations)(s, d, out);
    }
    fn tangent(&self, s: &State, _: &Discrete, _: &Eval, along: &Along<'_>, out: &mut Tangent) -> bool {
        self.rates.as_ref().map(|rates| rates(s, along, &mut out.rate)).is_some()
    }
    fn latch(&self, _: &State, _: &mut Discrete, _: &mut Eval, _: bool) {}
    fn flip(&self, _: usize, _: &mut Discrete, _: &Eval) {}
    fn restitution(&self, _: &State, _: &Discrete, out: &mut [Restitution]) {
        out.copy_from_slice(&self.restitution);
    }
    fn directions(&self) -> &[Direction] {
        &self.directions
    }
    fn event_names(&self) -> &[String] {
        &self.events
    }
    fn fire(&self, triggers: &[Trigger], _: Instant<'_>, _: &mut [f64], fired: &mut Vec<usize>) -> bool {
        for t in triggers {
            if let Trigger::Crossing(k) = t {
                fired.push(*k);
            }
        }
        self.stop && !fired.is_empty()
    }
    fn length_scale(&self) -> f64 {
        self.length
    }
}

pub fn unilateral(name: &str, row: usize, tangent: Option<usize>) -> ContactInfo {
    ContactInfo {
        name: name.into(),
        normal: Normal::Unilateral { row },
        tangent: tangent.into_iter().collect(),
        load_on: Vec::new(),
        load_at: 0,
        friction: tangent.is_some(),
    }
}

pub fn loaded(name: &str, tangent: usize) -> ContactInfo {
    ContactInfo {
        name: name.into(),
        normal: Normal::Given { row: None },
        tangent: vec![tangent],
        load_on: Vec::new(),
        load_at: 0,
        friction: true,
    }
}

pub fn bilateral(name: &str, row: usize, tangent: usize) -> ContactInfo {
    ContactInfo {
        name: name.into(),
        normal: Normal::Bilateral { row },
        tangent: vec![tangent],
        load_on: Vec::new(),
        load_at: 0,
        friction: true,
    }
}

pub fn state(q: &[f64], u: &[f64]) -> State {
    State { t: 0.0, q: q.to_vec(), u: u.to_vec(), z: vec![], memory: vec![] }
}

/// Ball above a floor: y, gap y.
pub fn ball(e: f64, g: f64) -> Hand {
    Hand::new(1, 1, vec![unilateral("floor", 0, None)], move |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.h[0] = -g;
        out.w[(0, 0)] = 1.0;
        out.gap[0] = s.q[0];
        out.kinetic = 0.5 * s.u[0] * s.u[0];
        out.potential = g * s.q[0];
    })
    .restitution(&[e])
}

/// Block on an incline: x up the plane, y off the plane, m = 1.
pub fn incline(alpha: f64, mu: f64) -> Hand {
    let g = 9.81;
    Hand::new(2, 2, vec![unilateral("plane", 0, Some(1))], move |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.mass[(1, 1)] = 1.0;
        out.h[0] = -g * alpha.sin();
        out.h[1] = -g * alpha.cos();
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu[0] = mu;
        out.mu_static[0] = mu;
        out.kinetic = 0.5 * (s.u[0] * s.u[0] + s.u[1] * s.u[1]);
        out.potential = g * (alpha.sin() * s.q[0] + alpha.cos() * s.q[1]);
    })
}

/// PG-6.6-OSCILLATOR.
pub fn oscillator() -> Hand {
    let (c1, g, w) = (150.0, 10.0, std::f64::consts::TAU);
    Hand::new(2, 2, vec![loaded("low", 0), loaded("high", 1)], move |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.mass[(1, 1)] = 1.0;
        let (f1, f2) = (60.0 * (w * s.t).cos(), -15.0 * (w * s.t).cos());
        out.h[0] = f1 - c1 * s.q[0];
        out.h[1] = f2;
        out.w[(0, 0)] = 1.0;
        out.w[(1, 0)] = -1.0;
        out.w[(1, 1)] = 1.0;
        for i in 0..2 {
            out.mu[i] = 1.0;
            out.mu_static[i] = 1.0;
        }
        out.load[0] = 2.0 * g;
        out.load[1] = g;
        out.load_static.copy_from_slice(&out.load);
        out.kinetic = 0.5 * (s.u[0] * s.u[0] + s.u[1] * s.u[1]);
        out.potential = 0.5 * c1 * s.q[0] * s.q[0];
        out.power = f1 * s.u[0] + f2 * s.u[1];
    })
}

/// PG-14.1-WOODPECKER; coordinates y, φ_M, φ_S; contacts beak, lower, upper.
pub fn woodpecker(mu: [f64; 3]) -> Hand {
    let (mm, jm, ms, js, c, g) = (0.0003, 5e-9, 0.0045, 7e-7, 0.0056, 9.81);
    let (r0, rm, hm, lm, lg, hs, ls) = (0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201);
    let contacts = vec![
        unilateral("beak", 0, Some(1)),
        unilateral("lower", 2, Some(3)),
        unilateral("upper", 4, Some(5)),
    ];
    let mut hand = Hand::new(3, 6, contacts, move |s, _, out| {
        let m = [
            [ms + mm, ms * lm, ms * lg],
            [ms * lm, jm + ms * lm * lm, ms * lm * lg],
            [ms * lg, ms * lm * lg, js + ms * lg * lg],
        ];
        let (q, u) = (&s.q, &s.u);
        out.kinetic = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                out.mass[(i, j)] = m[i][j];
                out.kinetic += 0.5 * u[i] * m[i][j] * u[j];
            }
        }
        let spring = c * (q[1] - q[2]);
        out.h[0] = -(ms + mm) * g;
        out.h[1] = -spring - ms * g * lm;
        out.h[2] = spring - ms * g * lg;
        out.potential =
            (ms + mm) * g * q[0] + ms * g * (lm * q[1] + lg * q[2]) + 0.5 * c * (q[1] - q[2]).powi(2);
        let w = [
            [0.0, 0.0, -hs],
            [1.0, lm, lg - ls],
            [0.0, hm, 0.0],
            [1.0, rm, 0.0],
            [0.0, -hm, 0.0],
            [1.0, rm, 0.0],
        ];
        for (i, row) in w.iter().enumerate() {
            out.w.row_mut(i).copy_from_slice(row);
        }
        out.gap[0] = lm + lg - ls - r0 - hs * q[2];
        out.gap[2] = rm - r0 + hm * q[1];
        out.gap[4] = rm - r0 - hm * q[1];
        out.mu.copy_from_slice(&mu);
        out.mu_static.copy_from_slice(&mu);
        if let [e] = &mut out.crossings[..] {
            *e = u[2];
        }
    })
    .restitution(&[0.5, 0.0, 0.0]);
    hand.length = 0.02;
    hand
}

/// Woodpecker jammed at the lower turning angle `a0`.
pub fn jammed(a0: f64) -> State {
    state(&[0.0, -0.0006 / 0.0058, a0], &[0.0; 3])
}

/// PG-5.3-ROD: x, y, φ clockwise; contact of the lower right tip with the floor.
pub fn rod(mu: f64) -> Hand {
    let (m, s, g) = (1.0, 1.0, 9.81);
    Hand::new(3, 2, vec![unilateral("tip", 0, Some(1))], move |st, _, out| {
        let (phi, w) = (st.q[2], st.u[2]);
        let (sin, cos) = phi.sin_cos();
        out.mass[(0, 0)] = m;
        out.mass[(1, 1)] = m;
        out.mass[(2, 2)] = m * s * s / 3.0;
        out.h[1] = -m * g;
        out.w.row_mut(0).copy_from_slice(&[0.0, 1.0, -s * cos]);
        out.w.row_mut(1).copy_from_slice(&[1.0, 0.0, -s * sin]);
        out.gap[0] = st.q[1] - s * sin;
        out.accel_offset[0] = s * w * w * sin;
        out.accel_offset[1] = -s * w * w * cos;
        out.mu[0] = mu;
        out.mu_static[0] = mu;
        out.kinetic = 0.5 * m * (st.u[0].powi(2) + st.u[1].powi(2) + s * s / 3.0 * w * w);
        out.potential = m * g * st.q[1];
    })
}

/// State of the rod on the floor: angle, angular velocity, sliding speed of the tip.
pub fn rod_state(phi: f64, w: f64, v: f64) -> State {
    let (sin, cos) = phi.sin_cos();
    state(&[0.0, sin, phi], &[v + w * sin, w * cos, w])
}

/// PG-8.11-ROCKING: free rod of half length 1 on two points (∓b, 0).
pub fn rocking(b: f64, mu: f64) -> Hand {
    let (m, j, g) = (1.0, 1.0 / 3.0, 10.0);
    Hand::new(
        3,
        4,
        vec![unilateral("left", 0, Some(1)), unilateral("right", 2, Some(3))],
        move |st, _, out| {
            let (q, u) = (&st.q, &st.u);
            let (s, c) = q[2].sin_cos();
            out.mass[(0, 0)] = m;
            out.mass[(1, 1)] = m;
            out.mass[(2, 2)] = j;
            out.h[1] = -m * g;
            for (k, a) in [-b, b].into_iter().enumerate() {
                let gap = q[1] * c + (a - q[0]) * s;
                out.gap[2 * k] = gap;
                out.w.row_mut(2 * k).copy_from_slice(&[-s, c, (a - q[0]) * c - q[1] * s]);
                out.w.row_mut(2 * k + 1).copy_from_slice(&[c, s, gap]);
                let rate = -s * u[0] + c * u[1] + ((a - q[0]) * c - q[1] * s) * u[2];
                out.accel_offset[2 * k] = -2.0 * u[2] * (u[1] * s + u[0] * c) - u[2] * u[2] * gap;
                out.accel_offset[2 * k + 1] = u[2] * (-u[0] * s + u[1] * c) + u[2] * rate;
                out.mu[k] = mu;
                out.mu_static[k] = mu;
            }
            out.kinetic = 0.5 * (m * (u[0] * u[0] + u[1] * u[1]) + j * u[2] * u[2]);
            out.potential = m * g * q[1];
        },
    )
}

/// PG-8.13-SUPERBALL: x, y, φ between floor and table top.
pub fn superball(reversible: f64) -> Hand {
    let (m, j, r, l) = (1.0, 0.004, 0.1, 1.0);
    let mut hand = Hand::new(
        3,
        4,
        vec![unilateral("floor", 0, Some(1)), unilateral("top", 2, Some(3))],
        move |st, _, out| {
            let (q, u) = (&st.q, &st.u);
            out.mass[(0, 0)] = m;
            out.mass[(1, 1)] = m;
            out.mass[(2, 2)] = j;
            out.w.row_mut(0).copy_from_slice(&[0.0, 1.0, 0.0]);
            out.w.row_mut(1).copy_from_slice(&[1.0, 0.0, r]);
            out.w.row_mut(2).copy_from_slice(&[0.0, -1.0, 0.0]);
            out.w.row_mut(3).copy_from_slice(&[-1.0, 0.0, r]);
            out.gap[0] = q[1] - r;
            out.gap[2] = l - r - q[1];
            for k in 0..2 {
                out.mu[k] = 1.0;
                out.mu_static[k] = 1.0;
            }
            out.kinetic = 0.5 * (m * (u[0] * u[0] + u[1] * u[1]) + j * u[2] * u[2]);
        },
    );
    for e in &mut hand.restitution {
        *e = Restitution { normal: 1.0, tangential: reversible, nu: reversible };
    }
    hand
}

/// `n` blocks of 1 kg, width `b` and height `h`, one on the other on a slope with the tangent `slope`; contacts at the two lower corners of each, uphill first. Small turns: the rows are constant.
pub fn blocks(n: usize, b: f64, h: f64, slope: f64, mu: f64) -> Hand {
    let list = (0..2 * n).map(|k| unilateral(&format!("corner{k}"), 2 * k, Some(2 * k + 1))).collect();
    let (sin, cos) = (slope.atan().sin(), slope.atan().cos());
    let g = 9.81;
    let inertia = (b * b + h * h) / 12.0;
    let mut hand = Hand::new(3 * n, 4 * n, list, move |s, _, out| {
        out.kinetic = 0.0;
        out.potential = 0.0;
        for i in 0..n {
            let at = 3 * i;
            for (k, m) in [1.0, 1.0, inertia].into_iter().enumerate() {
                out.mass[(at + k, at + k)] = m;
                out.kinetic += 0.5 * m * s.u[at + k] * s.u[at + k];
            }
            out.h[at] = g * sin;
            out.h[at + 1] = -g * cos;
            out.potential += g * (s.q[at + 1] * cos - s.q[at] * sin);
            // lower corner (x ∓ b/2, −h/2) against the top face of the block below
            for (side, half) in [(0, -0.5 * b), (1, 0.5 * b)] {
                let c = 2 * i + side;
                let (normal, tangent) = (2 * c, 2 * c + 1);
                out.w[(normal, at + 1)] = 1.0;
                out.w[(normal, at + 2)] = half;
                out.w[(tangent, at)] = 1.0;
                out.w[(tangent, at + 2)] = 0.5 * h;
                out.gap[normal] = s.q[at + 1] - 0.5 * h + half * s.q[at + 2];
                if i > 0 {
                    out.w[(normal, at - 2)] = -1.0;
                    out.w[(normal, at - 1)] = -half;
                    out.w[(tangent, at - 3)] = -1.0;
                    out.w[(tangent, at - 1)] = 0.5 * h;
                    out.gap[normal] -= s.q[at - 2] + 0.5 * h + half * s.q[at - 1];
                }
                out.mu[c] = mu;
                out.mu_static[c] = mu;
            }
        }
    });
    hand.length = b;
    hand
}

/// The blocks at rest, one on the other.
pub fn blocks_start(n: usize, h: f64) -> State {
    let q: Vec<f64> = (0..n).flat_map(|i| [0.0, (i as f64 + 0.5) * h, 0.0]).collect();
    state(&q, &vec![0.0; 3 * n])
}

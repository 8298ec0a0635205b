//! Contacts with friction in the tangent plane: accelerations at zero slip, and impulses of impacts (METH-3D-ACC)
//!
//! $$ a = G \lambda + b, \qquad a_N \ge 0 \perp \lambda_N \ge p, \qquad |\lambda_T| \le \mu \lambda_N, \qquad a_T = -\kappa \lambda_T,\ \kappa \ge 0 $$
//!
//! for every contact, κ = 0 inside the bound. One contact is solved exactly, by all directions d with a_T ∥ d: they are zeros of a trigonometric
//! polynomial of degree two (at most four),
//!
//! ```text
//! r(θ) = d⊥ · [b_T (G_NN − μ G_NT d) − b_N (G_TN − μ G_TT d)],     λ_N = −b_N/(G_NN − μ G_NT d) > 0,     d·a_T > 0
//! ```
//!
//! Several contacts: sweeps over the contacts with this solver, nearest solution first, until nothing changes. A contact that slides already has
//! its direction; one with a given load has a disc instead of a cone.

use crate::linalg::Mat;

/// What is known of one contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sliding {
    /// At zero slip: the bound of sticking, then the coefficient of the slip that begins.
    Rests {
        /// μ₀.
        rest: f64,
        /// μ.
        mu: f64,
    },
    /// Sliding in this direction.
    Slides {
        /// μ.
        mu: f64,
        /// Direction of slip, a unit vector.
        d: [f64; 2],
    },
}

/// One contact of the problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone {
    /// First of its rows: the normal (unless given), then the tangents.
    pub at: usize,
    /// Number of tangents, 0 to 2.
    pub tangents: usize,
    /// Given normal force; then there is no normal row.
    pub given: Option<f64>,
    /// p: the normal force is at least this.
    pub least: f64,
    pub friction: Sliding,
}

/// What a contact does in a solution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Does {
    #[default]
    Opens,
    Sticks,
    /// Slips in this direction.
    Slips([f64; 2]),
}

/// One solution of one contact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// λ_N, λ_T.
    pub force: [f64; 3],
    pub does: Does,
}

/// The numbers of one contact with everything else frozen: 3 × 3 and 3, the normal first; unused tangents are zero.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    g: [[f64; 3]; 3],
    b: [f64; 3],
}

/// Directions at which r(θ) is sampled before its zeros are refined.
const SAMPLES: usize = 180;
/// Sweeps after which several contacts have no solution that this method finds.
const SWEEPS: usize = 5000;
/// Change of the forces in a sweep that ends it, relative to the largest.
const SETTLED: f64 = 1e-14;

/// All solutions of one contact.
pub(crate) fn one(cone: &Cone, g: [[f64; 3]; 3], b: [f64; 3]) -> Vec<Found> {
    let block = Block { g, b };
    let size = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let tiny = 1e-13 * size;
    let mut out = Vec::new();
    match cone.given {
        Some(load) => block.disc(cone, load, tiny, &mut out),
        None => {
            // at its least force, with a gap that opens
            let before = out.len();
            block.disc(cone, cone.least, tiny, &mut out);
            out[before..].iter_mut().for_each(|f| {
                if cone.least == 0.0 {
                    f.does = Does::Opens;
                }
            });
            out.retain(|f| block.accel(&f.force)[0] >= -tiny);
            if cone.least == 0.0 && !out.is_empty() {
                out.truncate(before + 1);
            }
            block.closed(cone, tiny, &mut out);
        }
    }
    out
}

impl Block {
    fn accel(&self, force: &[f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| self.b[i] + (0..3).map(|j| self.g[i][j] * force[j]).sum::<f64>())
    }

    /// Solutions with the normal force n.
    fn disc(&self, cone: &Cone, n: f64, tiny: f64, out: &mut Vec<Found>) {
        let a0 = self.accel(&[n, 0.0, 0.0]);
        let t = cone.tangents;
        match cone.friction {
            Sliding::Slides { mu, d } => {
                out.push(Found { force: [n, -mu * n * d[0], -mu * n * d[1]], does: Does::Slips(d) });
            }
            Sliding::Rests { rest, mu } => {
                if t == 0 || n <= 0.0 {
                    out.push(Found { force: [n, 0.0, 0.0], does: Does::Sticks });
                    return;
                }
                if let Some(s) = solve_two(&self.g, t, [-a0[1], -a0[2]])
                    && s[0].hypot(s[1]) <= rest * n * (1.0 + 1e-12)
                {
                    out.push(Found { force: [n, s[0], s[1]], does: Does::Sticks });
                }
                for d in directions(t, |d| {
                    let a = self.accel(&[n, -mu * n * d[0], -mu * n * d[1]]);
                    d[0] * a[2] - d[1] * a[1]
                }) {
                    let force = [n, -mu * n * d[0], -mu * n * d[1]];
                    let a = self.accel(&force);
                    if d[0] * a[1] + d[1] * a[2] > tiny {
                        out.push(Found { force, does: Does::Slips(d) });
                    }
                }
            }
        }
    }

    /// Solutions with a_N = 0 and a normal force above the least.
    fn closed(&self, cone: &Cone, tiny: f64, out: &mut Vec<Found>) {
        let (g, b) = (&self.g, &self.b);
        let normal = |mu: f64, d: [f64; 2]| {
            let den = g[0][0] - mu * (g[0][1] * d[0] + g[0][2] * d[1]);
            (den > 0.0).then(|| -b[0] / den).filter(|n| *n > cone.least)
        };
        match cone.friction {
            Sliding::Slides { mu, d } => {
                if let Some(n) = normal(mu, d) {
                    out.push(Found { force: [n, -mu * n * d[0], -mu * n * d[1]], does: Does::Slips(d) });
                }
            }
            Sliding::Rests { rest, mu } => {
                if let Some(f) = solve_three(g, cone.tangents, b)
                    && f[0] > cone.least
                    && f[1].hypot(f[2]) <= rest * f[0] * (1.0 + 1e-12)
                {
                    out.push(Found { force: f, does: Does::Sticks });
                }
                for d in directions(cone.tangents, |d| {
                    let den = g[0][0] - mu * (g[0][1] * d[0] + g[0][2] * d[1]);
                    let a = |i: usize| b[i] * den - b[0] * (g[i][0] - mu * (g[i][1] * d[0] + g[i][2] * d[1]));
                    d[0] * a(2) - d[1] * a(1)
                }) {
                    let Some(n) = normal(mu, d) else { continue };
                    let force = [n, -mu * n * d[0], -mu * n * d[1]];
                    let a = self.accel(&force);
                    if d[0] * a[1] + d[1] * a[2] > tiny {
                        out.push(Found { force, does: Does::Slips(d) });
                    }
                }
            }
        }
    }
}

/// Zeros of r over the circle; of one tangent both sides.
fn directions(tangents: usize, r: impl Fn([f64; 2]) -> f64) -> Vec<[f64; 2]> {
    match tangents {
        0 => Vec::new(),
        1 => vec![[1.0, 0.0], [-1.0, 0.0]],
        _ => {
            let at = |theta: f64| [theta.cos(), theta.sin()];
            let step = std::f64::consts::TAU / SAMPLES as f64;
            let mut out = Vec::new();
            let mut low = r(at(-0.5 * step));
            for k in 0..SAMPLES {
                let (mut from, mut to) = ((k as f64 - 0.5) * step, (k as f64 + 0.5) * step);
                let high = r(at(to));
                if low == 0.0 || low * high < 0.0 {
                    let mut side = low;
                    for _ in 0..60 {
                        let middle = 0.5 * (from + to);
                        let value = r(at(middle));
                        if side * value <= 0.0 {
                            to = middle;
                        } else {
                            from = middle;
                            side = value;
                        }
                    }
                    out.push(at(0.5 * (from + to)));
                }
                low = high;
            }
            out
        }
    }
}

/// G_TT x = rhs for one or two tangents.
fn solve_two(g: &[[f64; 3]; 3], tangents: usize, rhs: [f64; 2]) -> Option<[f64; 2]> {
    if tangents == 1 {
        return (g[1][1] > 0.0).then(|| [rhs[0] / g[1][1], 0.0]);
    }
    let det = g[1][1] * g[2][2] - g[1][2] * g[2][1];
    (det > 1e-14 * g[1][1] * g[2][2])
        .then(|| [(rhs[0] * g[2][2] - rhs[1] * g[1][2]) / det, (rhs[1] * g[1][1] - rhs[0] * g[2][1]) / det])
}

/// G f = −b.
fn solve_three(g: &[[f64; 3]; 3], tangents: usize, b: &[f64; 3]) -> Option<[f64; 3]> {
    if !(g[0][0] > 0.0) {
        return None;
    }
    // eliminate the normal
    let mut schur = [[0.0; 3]; 3];
    let mut rhs = [0.0; 2];
    for i in 1..3 {
        for j in 1..3 {
            schur[i][j] = g[i][j] - g[i][0] * g[0][j] / g[0][0];
        }
        rhs[i - 1] = -(b[i] - g[i][0] * b[0] / g[0][0]);
    }
    let t = if tangents == 0 { [0.0; 2] } else { solve_two(&schur, tangents, rhs)? };
    Some([-(b[0] + g[0][1] * t[0] + g[0][2] * t[1]) / g[0][0], t[0], t[1]])
}

/// Solve for all contacts, from the forces in `lambda` on; what they do, or `None` where the sweeps do not settle.
pub(crate) fn all(cones: &[Cone], g: &Mat, b: &[f64], lambda: &mut [f64]) -> Option<Vec<Does>> {
    let mut does = vec![Does::Opens; cones.len()];
    for sweep in 0..SWEEPS {
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        for (k, cone) in cones.iter().enumerate() {
            let first = usize::from(cone.given.is_some());
            let rows = 3 - first - (2 - cone.tangents);
            let row = |i: usize| (i >= first && i - first < rows).then(|| cone.at + i - first);
            let mut block = Block::default();
            for i in 0..3 {
                let Some(r) = row(i) else { continue };
                let mut rest = b[r];
                for (c, l) in lambda.iter().enumerate() {
                    if !(cone.at..cone.at + rows).contains(&c) {
                        rest += g[(r, c)] * l;
                    }
                }
                block.b[i] = rest;
                for j in 0..3 {
                    block.g[i][j] = row(j).map_or(0.0, |c| g[(r, c)]);
                }
            }
            let old: [f64; 3] = std::array::from_fn(|i| row(i).map_or(0.0, |r| lambda[r]));
            let far = |f: &Found| (0..3).map(|i| (f.force[i] - old[i]).powi(2)).sum::<f64>();
            let mut list = one(cone, block.g, block.b);
            list.iter_mut().for_each(|f| {
                if first == 1 {
                    f.force[0] = 0.0;
                }
            });
            let found = list.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
            does[k] = found.does;
            for i in 0..3 {
                if let Some(r) = row(i) {
                    change = change.max((found.force[i] - lambda[r]).abs());
                    lambda[r] = found.force[i];
                    largest = largest.max(found.force[i].abs());
                }
            }
        }
        if change <= SETTLED * largest || (sweep > 200 && change <= 1e-11 * largest) || cones.len() == 1 {
            return Some(does);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(state: &mut u64) -> f64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    /// Brute force over the angle (METH-3D-ACC, one contact): every solution is among those found, and every one found is a solution.
    #[test]
    fn one_contact_has_the_solutions_that_a_search_over_the_angle_finds() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let mut several = 0;
        for _ in 0..4000 {
            let f: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random(&mut state)));
            let g: [[f64; 3]; 3] = std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    (0..3).map(|k| f[i][k] * f[j][k]).sum::<f64>() + if i == j { 0.05 } else { 0.0 }
                })
            });
            let b: [f64; 3] = std::array::from_fn(|_| random(&mut state));
            let mu = 1.5 * random(&mut state).abs();
            let friction = Sliding::Rests { rest: mu, mu };
            let cone = Cone { at: 0, tangents: 2, given: None, least: 0.0, friction };
            let found = one(&cone, g, b);
            assert!(!found.is_empty(), "{g:?} {b:?} {mu}");
            several += usize::from(found.len() > 1);
            let accel = |l: [f64; 3]| -> [f64; 3] {
                std::array::from_fn(|i| b[i] + (0..3).map(|j| g[i][j] * l[j]).sum::<f64>())
            };
            for s in &found {
                let (l, a) = (s.force, accel(s.force));
                assert!(l[0] >= 0.0 && a[0] >= -1e-9 && (l[0] * a[0]).abs() < 1e-9);
                assert!(l[1].hypot(l[2]) <= mu * l[0] + 1e-9);
                let slip = a[1].hypot(a[2]);
                if slip > 1e-7 && l[0] > 0.0 {
                    assert!((a[1] * mu * l[0] + l[1] * slip).abs() < 1e-7 * (1.0 + l[0]) * (1.0 + slip));
                    assert!((a[2] * mu * l[0] + l[2] * slip).abs() < 1e-7 * (1.0 + l[0]) * (1.0 + slip));
                }
            }
            // sliding solutions on a fine grid of angles
            let residual = |theta: f64| {
                let d = [theta.cos(), theta.sin()];
                let den = g[0][0] - mu * (g[0][1] * d[0] + g[0][2] * d[1]);
                let n = -b[0] / den;
                let a = accel([n, -mu * n * d[0], -mu * n * d[1]]);
                (d[0] * a[2] - d[1] * a[1], d[0] * a[1] + d[1] * a[2], n, den)
            };
            let mut count = 0;
            let steps = 3000;
            for k in 0..steps {
                let at = |k: usize| k as f64 * std::f64::consts::TAU / steps as f64 + 1e-3;
                let (x, y) = (residual(at(k)), residual(at(k + 1)));
                let clear = x.2 > 0.0 && y.2 > 0.0 && x.3 > 1e-3 && y.3 > 1e-3 && x.1 > 1e-3 && y.1 > 1e-3;
                count += usize::from(x.0 * y.0 < 0.0 && clear);
            }
            let slips = found.iter().filter(|f| matches!(f.does, Does::Slips(_))).count();
            assert!(slips >= count, "{count} of {slips}: {g:?} {b:?} {mu}");
        }
        assert!(several > 0);
    }

    /// Plate on three loaded feet (METH-3D-ACC): moves beyond 600/49 N, with the accelerations of the spec.
    #[test]
    fn a_plate_on_three_feet_moves_beyond_its_bound() {
        let h = 3f64.sqrt() / 2.0;
        let feet = [[0.0, 1.0], [-h, -0.5], [h, -0.5]];
        let solve = |force: f64| {
            let rows: Vec<[f64; 3]> =
                feet.iter().flat_map(|p| [[1.0, 0.0, -p[1]], [0.0, 1.0, p[0]]]).collect();
            let load = [force, 0.0, -0.6 * force];
            let g = Mat::from_fn(6, 6, |i, j| (0..3).map(|k| rows[i][k] * rows[j][k]).sum());
            let b: Vec<f64> = rows.iter().map(|r| (0..3).map(|k| r[k] * load[k]).sum()).collect();
            let cones: Vec<Cone> = (0..3)
                .map(|k| Cone {
                    at: 2 * k,
                    tangents: 2,
                    given: Some(10.0),
                    least: 0.0,
                    friction: Sliding::Rests { rest: 0.5, mu: 0.5 },
                })
                .collect();
            let mut lambda = vec![0.0; 6];
            assert!(all(&cones, &g, &b, &mut lambda).is_some());
            let a: [f64; 3] =
                std::array::from_fn(|k| load[k] + (0..6).map(|r| rows[r][k] * lambda[r]).sum::<f64>());
            (a, lambda)
        };
        let bound = 600.0 / 49.0;
        let (a, lambda) = solve(1.05 * bound);
        for (x, y) in a.iter().zip([0.58189735, 0.0, -0.41026710]) {
            assert!((x - y).abs() < 1e-8, "{a:?}");
        }
        for (x, y) in lambda.iter().zip([-5.0, 0.0, -3.63762275, -3.43040824]) {
            assert!((x - y).abs() < 1e-7, "{lambda:?}");
        }
        let (a, _) = solve(0.95 * bound);
        assert!(a.iter().all(|x| x.abs() < 1e-9), "{a:?}");
    }
}

//! Few planar contacts: Lemke's method on their complementarity problem
//!
//! With at most one tangential row per contact the laws are linear in pieces. In scaled coordinates (friction bound `x_0` of a contact, or a
//! given one), with the slack `c` of the lower bound and the two parts of the slip velocity `v = v⁺ − v⁻`:
//!
//! ```text
//! x_T = c − bound,    0 ≤ x_0 ⟂ n ≥ 0,    0 ≤ c ⟂ v⁺ = v + v⁻ ≥ 0,    0 ≤ v⁻ ⟂ 2 bound − c ≥ 0
//! ```
//!
//! Lemke's method ends at a solution after about as many pivots as there are rows, or on a ray; then the cascade goes on.

use super::cones::Kind;
use super::form::Form;
use super::island::Island;
use crate::lcp::{Lcp, LemkeWorkspace};
use crate::linalg::Mat;

/// Storage, kept between solves.
#[derive(Clone, Debug, Default)]
pub(super) struct Pivot {
    lemke: LemkeWorkspace,
    a: Mat,
    b: Vec<f64>,
    /// row of the island and what it is
    part: Vec<Part>,
}

/// Unknowns of the complementarity problem, with the row of the island they stand for.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// `x_0`
    Normal(usize),
    /// `c` of a row whose bound is the normal impulse of the row before
    Slack(usize),
    /// `c` of a row with this bound
    Loaded(usize, f64),
    /// `v⁻` of the row of the unknown before
    Back,
}

/// Solve the island; the error reached with the impulses in `x`. `None`: not planar, or the path ends on a ray.
pub(super) fn lemke(island: &mut Island, x: &mut [f64]) -> Option<f64> {
    let mut p = std::mem::take(&mut island.pivot);
    let found = list(island, &mut p.part) && fill(island, &mut p) && {
        let Pivot { lemke, a, b, .. } = &mut p;
        lemke.solve(Lcp::new(a, b)).is_solved()
    };
    if found {
        read(&p, x);
    }
    island.pivot = p;
    if !found {
        return None;
    }
    island.make_admissible(x);
    let mut y = std::mem::take(&mut island.t1);
    island.velocity(x, &mut y);
    let e = island.errors(x, &y).max();
    island.t1 = y;
    Some(e)
}

/// False when some contact is not planar.
fn list(island: &Island, out: &mut Vec<Part>) -> bool {
    out.clear();
    for c in &island.cones {
        let at = c.rows.at;
        match (c.kind, c.rows.d) {
            (Kind::Half, _) => out.push(Part::Normal(at)),
            (Kind::Soc, 2) => out.extend([Part::Normal(at), Part::Slack(at + 1), Part::Back]),
            (Kind::Disc, 1) => out.extend([Part::Loaded(at, c.scaled(island.q_s).bound), Part::Back]),
            _ => return false,
        }
    }
    true
}

/// Matrix and right-hand side. False when the island is not dense.
fn fill(island: &Island, p: &mut Pivot) -> bool {
    let Form::Dense(f) = &island.form else { return false };
    let (n, m) = (p.part.len(), island.m);
    p.a.resize(n, n);
    p.a.fill(0.0);
    p.b.clear();
    for (i, part) in p.part.iter().enumerate() {
        let row = match *part {
            Part::Normal(row) | Part::Slack(row) | Part::Loaded(row, _) => row,
            Part::Back => {
                // 2 bound − c
                p.a[(i, i - 1)] = -1.0;
                if let Part::Loaded(_, bound) = p.part[i - 1] {
                    p.b.push(2.0 * bound);
                } else {
                    p.a[(i, i - 2)] = 2.0;
                    p.b.push(0.0);
                }
                continue;
            }
        };
        // velocity of the row in the unknowns
        let w = &f.a[row * m..(row + 1) * m];
        let mut b = island.b[row];
        for (j, other) in p.part.iter().enumerate() {
            match *other {
                Part::Normal(k) => p.a[(i, j)] += w[k],
                Part::Slack(k) => {
                    p.a[(i, j)] += w[k];
                    p.a[(i, j - 1)] -= w[k];
                }
                Part::Loaded(k, bound) => {
                    p.a[(i, j)] += w[k];
                    b -= w[k] * bound;
                }
                Part::Back => {}
            }
        }
        if !matches!(part, Part::Normal(_)) {
            p.a[(i, i + 1)] += 1.0;
        }
        p.b.push(b);
    }
    true
}

/// Impulses from the answer.
fn read(p: &Pivot, x: &mut [f64]) {
    let z = &p.lemke.z;
    for (i, part) in p.part.iter().enumerate() {
        match *part {
            Part::Normal(row) => x[row] = z[i],
            Part::Slack(row) => x[row] = z[i] - z[i - 1],
            Part::Loaded(row, bound) => x[row] = z[i] - bound,
            Part::Back => {}
        }
    }
}

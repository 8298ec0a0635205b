//! The forces to follow where the rigid laws leave a family ([`super::compliant`]), and what holds, slips or carries nothing in
//! the small.

use super::compliant::is_dependent;
use super::one::pattern_of;
use super::{Solution, Start, Transition};
use crate::modes::pattern::State;
use crate::modes::problem::Problem;
use crate::system::{ContactInfo, Eval};

/// Two accelerations closer than this (scaled) are one.
const SAME: f64 = 1e-7;

/// What a closed contact does in the small while the rigid motion keeps it closed, and at stick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Small {
    /// Its force follows its compliance.
    #[default]
    Holds,
    /// It slips in the small: its friction stays at the bound, `λ_T = side · μ N`.
    Slips {
        /// ±1.
        side: f64,
    },
    /// It carries nothing.
    Slack,
    /// It carries a given load: its normal direction is free, its friction acts.
    Loaded,
}

impl Transition {
    /// The member of slightly compliant contacts with the motion of `chosen`, from the forces `before` per row (empty: none), and
    /// what each contact does in the small. `moves`: accelerations vary over the family, too. The problem is the one solved
    /// last. `None` when the forces are determined, or no member was found.
    pub(crate) fn member(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
        chosen: &Solution,
        moves: bool,
        before: &[f64],
    ) -> Option<(Solution, Vec<Small>)> {
        if self.problem.dim() == 0 {
            return None;
        }
        let scaled = |lambda: &[f64]| -> Vec<f64> {
            let rows = self.layout.rows.iter().zip(&self.problem.scale);
            rows.map(|(&row, d)| d * lambda.get(row).copied().unwrap_or(0.0)).collect()
        };
        let (x, before) = (scaled(&chosen.forces.lambda), scaled(before));
        let mut y = Vec::new();
        self.problem.y(&x, &mut y);
        if chosen.family.is_none() && !is_dependent(&self.problem, &pattern_of(&self.problem, &x)) {
            return None;
        }
        let tol = SAME * self.problem.size(&x, &y);
        let mut p = self.problem.clone();
        if !moves {
            direct(&mut p, &y, tol);
        }
        let is_same = |x: &[f64]| {
            let mut other = Vec::new();
            p.y(x, &mut other);
            moves || y.iter().zip(&other).all(|(a, b)| (a - b).abs() <= tol)
        };
        let member = self.compliant.member(&p, &before, is_same)?;

        let rigid = pattern_of(&self.problem, &member.x);
        let mut solution = self.solution(info, eval, starts, &member.x, std::slice::from_ref(&rigid));
        solution.family = chosen.family;
        let mut small = vec![Small::Holds; info.len()];
        for (j, &contact) in self.layout.tangents.iter().enumerate() {
            if rigid.state[j] == Some(State::Stick) {
                small[contact] = match member.pattern.state[j] {
                    Some(State::Plus) => Small::Slips { side: -1.0 },
                    Some(State::Minus) => Small::Slips { side: 1.0 },
                    _ => Small::Holds,
                };
            }
        }
        for (k, &contact) in self.layout.normals.iter().enumerate() {
            if rigid.closed[k] == Some(true) && member.pattern.closed[k] == Some(false) {
                small[contact] = Small::Slack;
            }
        }
        Some((solution, small))
    }
}

// what slips in the motion keeps its direction; what does not slips in the small with the static coefficient
fn direct(p: &mut Problem, y: &[f64], tol: f64) {
    for (f, y) in p.friction.iter_mut().zip(&y[p.normals..]) {
        if f.start != Start::Zero {
            continue;
        }
        if y.abs() > tol {
            f.start = if *y > 0.0 { Start::Plus } else { Start::Minus };
        } else {
            f.slide = f.stick;
            f.load.constant = f.static_constant;
        }
    }
}

//! From one branch to another: twice the period at a doubling, the cycle that is born where a steady motion loses its stability
//! (METH-BIF-SMOOTH). The first point is the special point itself, and the direction that of the null vector that the old branch
//! does not have. [Keller1977]

use crate::linalg::{Mat, Svd, axpy, dot};
use crate::sim::Settings;
use crate::system::{Mode, State};

use super::branch::{Branch, Follow, Guess, Point, SHORTEST, Tangent};
use super::shoot::{Shot, start_modes};
use super::{moved, way};

/// Null vectors at a special point are found with these tolerances, the first that gives enough.
const TOLERANCES: [f64; 5] = [1e-9, 1e-7, 1e-6, 1e-5, 1e-4];

/// How far behind a loss of stick the branch that goes on is looked for: parts of the cycle, and of the range of the parameter.
const SIZES: [f64; 4] = [1e-3, 4e-3, 1.5e-2, 5e-2];
const BACKS: [f64; 3] = [1e-3, 4e-3, 1.5e-2];
/// It differs from the last cycle by less.
const ALIKE: f64 = 0.1;

impl<'a> Follow<'a> {
    /// The same question about cycles of twice the period.
    pub(crate) fn twice(&self) -> Follow<'a> {
        Follow { forcing: self.forcing.map(|(p, n)| (p, 2.0 * n)), ..self.again() }
    }

    /// The branch of twice the period from a doubling of the shorter one on.
    pub(crate) fn doubled(&self, at: &Point, watch: impl FnMut(f64) -> bool) -> Option<Branch> {
        let mut guess = at.guess();
        guess.period *= 2.0;
        guess.sigma.iter_mut().for_each(|s| *s *= 2.0);
        let (guess, shot) = self.shoot(&guess)?;
        let tangent = self.across(&guess, &shot, &at.tangent)?;
        self.leave(guess, shot, tangent, watch)
    }

    /// The branch of cycles that is born where a steady motion loses its stability, with this period.
    pub(crate) fn born(
        &self,
        (state, modes): (&State, &[Mode]),
        parameter: f64,
        period: f64,
        watch: impl FnMut(f64) -> bool,
    ) -> Option<Branch> {
        let sigma = vec![0.0; self.symmetry.drifts.len()];
        let guess = Guess { state: state.clone(), period, sigma, parameter, modes: modes.to_vec() };
        let (guess, shot) = self.shoot(&guess)?;
        // what comes back after a period
        let k = shot.basis.len();
        let back = Mat::from_fn(shot.gap.len(), k, |i, j| shot.image[j][i] - shot.basis[j][i]);
        let v = Svd::new(&back).least();
        let mut x = vec![0.0; shot.gap.len()];
        v.iter().zip(&shot.basis).for_each(|(f, b)| axpy(*f, b, &mut x));
        self.leave(guess, shot, Tangent { x, period: 0.0, parameter: 0.0 }, watch)
    }

    /// The same question.
    pub(super) fn again(&self) -> Follow<'a> {
        Follow {
            sys: self.sys,
            line: self.line.clone(),
            settings: self.settings,
            symmetry: self.symmetry.clone(),
            forcing: self.forcing,
            range: self.range,
            most: self.most,
            steps: self.steps,
            wanted: None,
        }
    }

    /// The null direction that is not along the old branch.
    fn across(&self, guess: &Guess, shot: &Shot, old: &Tangent) -> Option<Tangent> {
        let (a, k, speed) = self.matrix(guess, shot);
        let core = Mat::from_fn(a.rows() - 1, a.cols(), |i, j| a[(i, j)]);
        let svd = Svd::new(&core);
        let null = TOLERANCES.iter().map(|t| svd.null(*t)).find(|n| n.len() >= 2)?;
        let old = self.columns_of(old, k, speed, shot, a.cols());
        // the old direction inside the null space, and what is left of the others
        let mut along = vec![0.0; old.len()];
        null.iter().for_each(|n| axpy(dot(n, &old), n, &mut along));
        let length = dot(&along, &along).sqrt();
        let rest = |n: &Vec<f64>| {
            let mut r = n.clone();
            if length > 1e-9 {
                axpy(-dot(&along, n) / (length * length), &along, &mut r);
            }
            r
        };
        let size = |v: &Vec<f64>| dot(v, v);
        let best = null.iter().map(rest).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        Some(self.direction(&best, k, speed, shot))
    }

    /// The cycle with which a branch goes on where a stick is lost (METH-BIF-DIB): there it meets the branch of cycles without that stick, which
    /// exists on the same side of the parameter. It is looked for a little back, from the last cycle made smaller about its
    /// middle (`grows`: larger, where a slip that touches zero becomes a stick), and must be all but the same cycle with other events.
    pub(super) fn turned(&self, branch: &Branch, grows: bool) -> Option<Point> {
        let last = branch.points.last()?;
        let seen = self.look(last)?;
        let start = &last.orbit.start;
        let rows: Vec<State> = seen.run.samples.rows().map(|r| r.state()).collect();
        if rows.len() < 2 || self.forcing.is_some() {
            return None;
        }
        // from the middle of the cycle to its start
        let mut out = vec![0.0; self.symmetry.scale.len()];
        for pair in rows.windows(2) {
            let share = 0.5 * (pair[1].t - pair[0].t) / last.orbit.period;
            pair.iter().for_each(|s| axpy(share, &way(s, start), &mut out));
        }
        let back = -last.tangent.parameter.signum() * self.width();
        for (size, step) in SIZES.iter().flat_map(|a| BACKS.iter().map(move |b| (a, b))) {
            let change: Vec<f64> = out.iter().map(|v| if grows { size * v } else { -size * v }).collect();
            let state = moved(self.sys, start, &change);
            let parameter = last.parameter + step * back;
            let Ok(modes) = start_modes(&self.at(parameter), self.settings, &state) else { continue };
            let Some((guess, shot)) = self.shoot(&Guess { state, modes, parameter, ..last.guess() }) else {
                continue;
            };
            // the cycle at this parameter
            let Some(mut from) = self.point(guess, shot, None) else { continue };
            from.tangent = Tangent { x: vec![0.0; out.len()], period: 0.0, parameter: back.signum() };
            let Some(found) = self.step(&from, 0.0) else { continue };
            let other = found.point.events() != last.events();
            if other && self.unlike(&found.point, last) < ALIKE {
                return Some(found.point);
            }
        }
        None
    }

    /// Leave a special point along a direction.
    fn leave(
        &self,
        guess: Guess,
        shot: Shot,
        tangent: Tangent,
        watch: impl FnMut(f64) -> bool,
    ) -> Option<Branch> {
        let mut from = self.point(guess, shot, None)?;
        from.tangent = tangent;
        let mut s = self.steps[0];
        while s > SHORTEST {
            if let Some(step) = self.step(&from, s).filter(|step| step.off < 0.5 * s) {
                return Some(self.looked_at(self.onwards(step.point, watch)));
            }
            s *= 0.5;
        }
        None
    }
}

/// Sizes of a motion around a steady state that moves with this circular frequency.
pub(crate) fn sizes_around(s: &State, omega: f64, settings: &Settings) -> Vec<f64> {
    let largest = s.q.iter().fold(0.0_f64, |m, q| m.max(q.abs())).max(settings.tolerance);
    let q = s.q.iter().map(|q| q.abs().max(0.1 * largest));
    let u = s.q.iter().map(|q| omega * q.abs().max(0.1 * largest));
    let rest = s.z.iter().chain(&s.memory).map(|z| if *z == 0.0 { 1.0 } else { z.abs() });
    q.chain(u).chain(rest).collect()
}

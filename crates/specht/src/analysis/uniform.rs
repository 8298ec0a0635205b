//! Uniform motion with rubbing journals: the drive that balances a load.
//!
//! ```text
//! load + p drive + Wᵀ λ = 0,     λ_T = −σ μ N  (sliding contacts),     λ_T = −σ m |λ_pin|  (journals),     N ≥ 0, |N| or given
//! ```
//!
//! With journals this is no linear program. Friction is grown from zero to its value and the solution followed by Newton's method, which
//! converges quadratically away from kinks of |N|; the result is exact to rounding. The mechanism *jams* when p grows without bound
//! (or the solution ends) before friction is at its value: every solution satisfies p·P_drive = losses − P_load, so beyond that point
//! there is none with this direction of motion.
//!
//! Needed: as many unknown forces as equations. Hyperstatic mechanisms (redundant guides, contacts that do not slip in this motion but
//! rub) are refused.

use super::AnalysisError;
use super::statics::{Hold, Statics};
use crate::linalg::{Lu, Mat, max_abs};
use crate::system::Normal;

/// Drives larger than this, relative to the one without friction, are a jam.
const JAM: f64 = 1e9;
/// Steps of the growing friction below this are a jam.
const LEAST_STEP: f64 = 1e-8;

/// One friction law λ_T + σ μ φ(N) = 0.
struct Law {
    contact: usize,
    /// Place of λ_T.
    tangent: usize,
    /// σ μ.
    factor: f64,
}

/// The drive factor p at which the mechanism moves uniformly; `None` when it jams.
///
/// # Errors
///
/// The forces are not determined by balance, or a contact would have to pull.
pub(super) fn driven(
    statics: &Statics,
    load: &[f64],
    drive: &[f64],
    hold: &[Hold],
) -> Result<Option<f64>, AnalysisError> {
    let (info, eval) = (statics.info, statics.eval);
    let n = load.len();
    // unknowns: p, then the active rows
    let mut place = vec![usize::MAX; eval.w.rows()];
    let mut rows = Vec::new();
    let mut add = |row: usize| {
        place[row] = rows.len() + 1;
        rows.push(row);
    };
    for (i, c) in info.iter().enumerate().filter(|&(i, _)| statics.takes_part(i)) {
        c.normal_rows().iter().for_each(|&row| add(row));
        if statics.rubs(i) && hold[i] != Hold::Smooth {
            add(c.tangent[0]);
        }
    }
    let mut laws = Vec::new();
    for i in (0..info.len()).filter(|&i| statics.rubs(i)) {
        let Hold::Slide(direction) = hold[i] else {
            if hold[i] == Hold::Stick {
                return Err(undetermined(&format!(
                    "contact `{}` rubs but does not slip in this motion",
                    info[i].name
                )));
            }
            continue;
        };
        let tangent = place[info[i].tangent[0]];
        laws.push(Law { contact: i, tangent, factor: direction.signum() * eval.mu[i] });
    }
    let width = 1 + rows.len();
    if n + laws.len() != width {
        return Err(undetermined(&format!(
            "{width} unknown forces stand against {} equations",
            n + laws.len()
        )));
    }
    let mut balance = Mat::zeros(n, width);
    for d in 0..n {
        balance[(d, 0)] = drive[d];
        rows.iter().enumerate().for_each(|(k, &row)| balance[(d, k + 1)] = eval.w[(row, d)]);
    }

    // frictionless, then growing friction
    let mut z = vec![0.0; width];
    let problem = Problem { statics, laws: &laws, rows: &rows, place: &place, balance: &balance, load };
    if !problem.newton(0.0, &mut z) {
        return Err(undetermined("the reactions without friction are not unique"));
    }
    let first = z[0].abs().max(f64::MIN_POSITIVE);
    let (mut s, mut step) = (0.0, 0.25);
    while s < 1.0 {
        let next = f64::min(s + step, 1.0);
        let mut trial = z.clone();
        if problem.newton(next, &mut trial) && trial[0].abs() <= JAM * first {
            z = trial;
            s = next;
            step *= 1.5;
        } else {
            step *= 0.5;
            if step < LEAST_STEP {
                return Ok(None);
            }
        }
    }
    for (i, c) in info.iter().enumerate().filter(|&(i, _)| statics.takes_part(i)) {
        if let Normal::Unilateral { row } = c.normal
            && z[place[row]] < -1e-9 * max_abs(&z)
        {
            return Err(AnalysisError::Key(format!(
                "contact `{}` would have to pull in uniform motion; it opens",
                info[i].name
            )));
        }
    }
    Ok(Some(z[0]))
}

fn undetermined(why: &str) -> AnalysisError {
    AnalysisError::Key(format!(
        "with rubbing journals the efficiency needs forces that balance alone determines: {why}; remove a redundant guide or its friction"
    ))
}

struct Problem<'a> {
    statics: &'a Statics<'a>,
    laws: &'a [Law],
    /// Rows of the unknowns after p.
    rows: &'a [usize],
    /// Unknown of each row.
    place: &'a [usize],
    balance: &'a Mat,
    load: &'a [f64],
}

impl Problem<'_> {
    /// Newton's method at friction times `s`, from `z`; false when it does not converge.
    fn newton(&self, s: f64, z: &mut [f64]) -> bool {
        let (n, width) = (self.balance.rows(), z.len());
        let (info, eval) = (self.statics.info, self.statics.eval);
        let mut lu = Lu::default();
        let mut lambda = vec![0.0; self.place.len()];
        for _ in 0..40 {
            self.rows.iter().zip(&z[1..]).for_each(|(&row, v)| lambda[row] = *v);
            let mut jacobian = Mat::zeros(width, width);
            let mut f = vec![0.0; width];
            for d in 0..n {
                jacobian.row_mut(d).copy_from_slice(self.balance.row(d));
                f[d] = -self.load[d] - crate::linalg::dot(self.balance.row(d), z);
            }
            for (k, law) in self.laws.iter().enumerate() {
                let row = n + k;
                let (value, slope) = self.bound(law, &lambda);
                let factor = s * law.factor;
                f[row] = -z[law.tangent] - factor * value;
                jacobian[(row, law.tangent)] += 1.0;
                for (j, c) in eval.bound_terms(info, law.contact) {
                    let rows = info[j].normal_rows();
                    let norm = info[j].normal_force(&lambda);
                    for &r in rows.iter().filter(|r| self.place[**r] != usize::MAX) {
                        // dN_j/dλ: 1, of a pin λ/|λ|
                        let (own, size) = if rows.len() == 1 {
                            (1.0, 1.0)
                        } else {
                            (lambda[r], norm.max(f64::MIN_POSITIVE))
                        };
                        jacobian[(row, self.place[r])] += factor * slope * c * own / size;
                    }
                }
            }
            if !(lu.factor(&jacobian) > 1e-13) {
                return false;
            }
            lu.solve(&mut f);
            if f.iter().any(|x| !x.is_finite()) {
                return false;
            }
            z.iter_mut().zip(&f).for_each(|(z, f)| *z += f);
            if max_abs(&f) <= 1e-14 * max_abs(z) {
                return true;
            }
        }
        false
    }

    /// φ(N) and its slope.
    fn bound(&self, law: &Law, lambda: &[f64]) -> (f64, f64) {
        let Statics { info, eval, .. } = self.statics;
        let v = eval.bound_force(info, law.contact, false, self.statics.given(), lambda);
        match self.statics.info[law.contact].normal {
            Normal::Bilateral { .. } => (v.abs(), if v < 0.0 { -1.0 } else { 1.0 }),
            Normal::Given { .. } => (v.max(0.0), f64::from(u8::from(v > 0.0))),
            _ => (v, 1.0),
        }
    }
}

/// The factor on the friction of `scaled` with which `load` is just held, when balance alone determines all forces with everything
/// sticking (as many rows as coordinates); `None` otherwise. Infinite when a journal cannot hold whatever its friction.
pub(super) fn holding_factor(statics: &Statics, load: &[f64], scaled: &[usize]) -> Option<f64> {
    let (info, eval) = (statics.info, statics.eval);
    let mut rows = Vec::new();
    for (i, c) in info.iter().enumerate().filter(|&(i, _)| statics.takes_part(i)) {
        rows.extend(c.normal_rows());
        if statics.rubs(i) {
            rows.extend(&c.tangent);
        }
    }
    let n = load.len();
    if rows.len() != n {
        return None;
    }
    let mut lu = Lu::default();
    let matrix = Mat::from_fn(n, n, |d, k| eval.w[(rows[k], d)]);
    if !(lu.factor(&matrix) > 1e-12) {
        return None;
    }
    let mut x: Vec<f64> = load.iter().map(|v| -v).collect();
    lu.solve(&mut x);
    let mut lambda = vec![0.0; eval.w.rows()];
    rows.iter().zip(&x).for_each(|(&row, v)| lambda[row] = *v);
    let mut factor = 0.0_f64;
    for i in (0..info.len()).filter(|&i| statics.rubs(i)) {
        let normal = eval.bound_force(info, i, true, statics.given(), &lambda);
        let arm = eval.friction_size(info, i, &lambda) / normal.abs();
        if !scaled.contains(&i) {
            // its own friction must do
            if arm > eval.mu_static[i] {
                return None;
            }
            continue;
        }
        let journal = eval.journal_radius(i);
        if journal > 0.0 && arm >= journal {
            return Some(f64::INFINITY);
        }
        factor = factor.max(eval.coefficient(i, arm) / eval.coefficient(i, eval.mu_static[i]));
    }
    factor.is_finite().then_some(factor)
}

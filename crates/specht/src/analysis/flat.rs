//! Contacts that slide in their tangent plane, as contacts with one tangent (METH-3D-SLIP)
//!
//! ```text
//! λ_T = −μ N f(d)   ⇒   one row  w = Σ f_k(d) w_Tk,   force x = −μ N along it,   λ_Tk = x f_k(d)
//! ```
//!
//! While the direction of slip d is known friction is a multiple of one row, and everything that is said of planar contacts holds: index of
//! influence, critical friction, the number of solutions. The direction is that of the slip, or one that is asked for.

use super::{AnalysisError, Snapshot};
use crate::contact::{Reduced, Start};
use crate::linalg::Rows;
use crate::system::{ContactInfo, Eval, Mode, Normal};

/// The same contacts with one tangent each.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pub info: Vec<ContactInfo>,
    pub at: Snapshot,
    /// f(d) of the contacts that were reduced.
    pub push: Vec<Option<[f64; 3]>>,
}

/// Whether some contact rubs in more than one direction.
pub(crate) fn is_spatial(info: &[ContactInfo]) -> bool {
    info.iter().any(|c| c.friction && c.tangent.len() > 1)
}

/// Rates of the tangents of contact `i`.
pub(crate) fn slip(c: &ContactInfo, eval: &Eval, u: &[f64]) -> [f64; 3] {
    std::array::from_fn(|k| c.tangent.get(k).map_or(0.0, |&row| eval.rate(row, u)))
}

/// A vector over its length; `None` for zero.
pub(crate) fn unit(v: [f64; 3]) -> Option<[f64; 3]> {
    let size = v[0].hypot(v[1]).hypot(v[2]);
    (size > 0.0 && size.is_finite()).then(|| v.map(|x| x / size))
}

/// Rows of W with those of the contacts in `directions` replaced by one along f(d).
pub(crate) fn flatten(
    info: &[ContactInfo],
    eval: &Eval,
    directions: &[Option<[f64; 3]>],
) -> (Vec<ContactInfo>, Eval, Vec<Option<[f64; 3]>>) {
    let mut own: Vec<ContactInfo> = info.to_vec();
    let mut out = eval.clone();
    let mut rows: Vec<Vec<f64>> = (0..eval.w.rows()).map(|r| eval.w.row(r).to_vec()).collect();
    let mut push = vec![None; info.len()];
    for (i, c) in info.iter().enumerate() {
        let Some(d) = directions[i] else { continue };
        let f = eval.section(i).push(d);
        push[i] = Some(f);
        let first = c.tangent[0];
        let mut row = vec![0.0; eval.w.cols()];
        let (mut rate, mut accel) = (0.0, 0.0);
        for (&t, f) in c.tangent.iter().zip(f) {
            eval.w.row(t).add_to(f, &mut row);
            rate += f * eval.rate_offset[t];
            accel += f * eval.accel_offset[t];
        }
        rows[first] = row;
        out.rate_offset[first] = rate;
        out.accel_offset[first] = accel;
        own[i].tangent.truncate(1);
    }
    out.w = Rows::from_rows(&rows);
    out.sections.clear();
    (own, out, push)
}

impl Flat {
    /// At a state that was taken. `turn`: another direction of slip for one contact, rad from its first tangent.
    ///
    /// # Errors
    ///
    /// Zero slip beside other contacts, whose solutions cannot be listed; a ball joint, whose bound is the length of a vector.
    pub(crate) fn new(
        info: &[ContactInfo],
        at: &Snapshot,
        turn: Option<(usize, f64)>,
    ) -> Result<Flat, AnalysisError> {
        let mut directions = vec![None; info.len()];
        for (i, c) in info.iter().enumerate().filter(|(i, c)| rubs_in_plane(c, at, *i)) {
            let why = match c.normal {
                Normal::Ball { .. } => {
                    "is a ball joint: its friction is bounded by the length of the force it carries"
                }
                Normal::Given { .. } if !c.load_on.is_empty() => "follows the force of another contact",
                _ => "",
            };
            if !why.is_empty() {
                return Err(AnalysisError::Key(format!(
                    "`{}` {why}, and its reactions cannot be listed; ask `rest` or `self-braking`",
                    c.name
                )));
            }
            let own = unit(slip(c, &at.eval, &at.state.u)).filter(|_| at.starts[i] != Start::Zero);
            let d = match turn {
                Some((k, angle)) if k == i => {
                    // a patch goes on drilling as it does
                    let spin = own.map_or(0.0, |d| d[2]);
                    let share = (1.0 - spin * spin).max(0.0).sqrt();
                    Some([share * angle.cos(), share * angle.sin(), spin])
                }
                _ => own,
            };
            directions[i] = match d {
                Some(d) => Some(d),
                None if alone(info, at, i) => Some(first_slip(info, at, i)?),
                None => {
                    return Err(AnalysisError::Key(format!(
                        "contact `{}` is at zero slip beside others: what they do together cannot be listed; give it a velocity with  at = {{ … }}, or ask `rest`",
                        c.name
                    )));
                }
            };
        }
        let (own, eval, push) = flatten(info, &at.eval, &directions);
        let mut flat = at.clone();
        flat.eval = eval;
        for i in (0..info.len()).filter(|&i| directions[i].is_some()) {
            flat.starts[i] = Start::Plus;
            flat.discrete.modes[i] = Mode::SlipPlus;
        }
        Ok(Flat { info: own, at: flat, push })
    }
}

/// Closed, with friction and more than one tangent.
pub(crate) fn rubs_in_plane(c: &ContactInfo, at: &Snapshot, i: usize) -> bool {
    c.friction && c.tangent.len() > 1 && at.starts[i] != Start::Open
}

/// No other closed contact rubs.
pub(crate) fn alone(info: &[ContactInfo], at: &Snapshot, i: usize) -> bool {
    let rubs = |k: usize| info[k].friction && !info[k].tangent.is_empty() && at.starts[k] != Start::Open;
    (0..info.len()).all(|k| k == i || !rubs(k))
}

/// Direction of the slip acceleration without friction, with all contacts held; the first tangent where there is none.
fn first_slip(info: &[ContactInfo], at: &Snapshot, i: usize) -> Result<[f64; 3], AnalysisError> {
    let closed =
        |k: usize| info[k].is_bilateral() || (info[k].is_unilateral() && at.starts[k] != Start::Open);
    let held: Vec<usize> =
        (0..info.len()).filter(|&k| closed(k)).flat_map(|k| info[k].normal_rows().to_vec()).collect();
    let (e, mut red) = (&at.eval, Reduced::default());
    if !red.eliminate(&e.mass, &e.h, &e.w, &e.accel_offset, &held, &info[i].tangent) {
        return Err(AnalysisError::SingularMass);
    }
    let accel: [f64; 3] = std::array::from_fn(|k| red.c.get(k).copied().unwrap_or(0.0));
    Ok(unit(accel).unwrap_or([1.0, 0.0, 0.0]))
}

//! The finding along a run: where on its way is the motion the only possible one, how near is the paradox?
//!
//! Every row of the series is classified with the modes that the run had there. Between two rows of the same modes the motion is
//! smooth: positions are the quintic through q, q̇, q̈ of both rows, velocities and states the cubic through their values and rates, and
//! a change of verdict, of the sign of μ|L| − 1 or of the sign of R⁰ is located on them to 10⁻¹⁰ of the interval. When the
//! rows are those of [`crate::sim::Record::Steps`], 600 to a run, the instant has the accuracy of the run.
//! Changes at events have the time of the event.
//!
//! *Nearest approach*: per contact, where its critical coefficient over its coefficient, μ_c/μ, is smallest (located between
//! the rows too). Below 1 the rigid model has lost uniqueness for some loads; the verdict says whether for the present one.

use super::border::Kind;
use super::painleve::{Class, Classifier, Verdict};
use super::{AnalysisError, Snapshot, critical};
use crate::root;
use crate::sim::{Sample, Trajectory};
use crate::system::{Mode, State, System};

/// Pairs up to which the common critical factor is computed at every row.
const FACTOR_PAIRS: usize = 6;
/// Width of a located instant, relative to the distance of rows.
const WIDTH: f64 = 1e-10;

/// What a run meets at one row of its series.
#[derive(Clone, Debug, PartialEq)]
pub struct Meeting {
    /// Time.
    pub t: f64,
    /// Verdict and pattern list.
    pub class: Class,
    /// The pairs' contacts.
    pub contacts: Vec<usize>,
    /// L_αα per pair.
    pub index: Vec<f64>,
    /// R⁰ per pair.
    pub frictionless: Vec<f64>,
    /// μ_c per pair as it slides, see `critical`; infinite where no friction is critical, NaN for more than six pairs.
    pub critical_mu: Vec<f64>,
    /// μ per pair.
    pub mu: Vec<f64>,
    /// Whether each pair is two-sided.
    two_sided: Vec<bool>,
}

/// A part of the run with one verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// From, s.
    pub from: f64,
    /// To, s.
    pub to: f64,
    /// The verdict; `None` while no pair with friction is closed.
    pub verdict: Option<Verdict>,
}

/// An instant at which a border is crossed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Time, s.
    pub t: f64,
    /// Which border.
    pub kind: Kind,
    /// The contact whose border it is; `None` when it belongs to several together.
    pub contact: Option<usize>,
    /// Verdict just before and just after.
    pub verdict: [Verdict; 2],
}

/// Where a contact comes nearest to its paradox.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Contact.
    pub contact: usize,
    /// Time, s.
    pub t: f64,
    /// μ_c there.
    pub critical_mu: f64,
    /// μ there.
    pub mu: f64,
}

/// The finding along a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Along {
    /// Rows at which a pair is closed.
    pub meetings: Vec<Meeting>,
    /// The run cut by verdict.
    pub spans: Vec<Span>,
    /// Borders crossed between events.
    pub borders: Vec<Crossing>,
    /// Nearest approach, per contact that rubbed.
    pub nearest: Vec<Nearest>,
}

/// The finding along a trajectory.
///
/// # Errors
///
/// See [`AnalysisError`].
pub fn along<S: System + ?Sized>(sys: &S, trajectory: &Trajectory) -> Result<Along, AnalysisError> {
    let mut work = Work {
        sys,
        at: Snapshot::new(sys),
        classifier: Classifier::default(),
        rates: [vec![0.0; sys.dims().q], vec![0.0; sys.dims().q]],
    };
    let mut out = Along::default();
    let mut before: Option<(Sample<'_>, Option<Meeting>)> = None;
    let mut earlier: Option<(Sample<'_>, Option<Meeting>)> = None;
    for row in trajectory.samples.rows() {
        work.put(&row);
        let here = work.meet(row.modes)?;
        match &before {
            Some((last, met)) if row.t > last.t && row.modes == last.modes => {
                if let (Some(a), Some(b)) = (met, &here) {
                    work.between(last, &row, a, b, &mut out);
                    if let Some((first, Some(f))) = &earlier
                        && first.t < last.t
                        && first.modes == last.modes
                    {
                        work.dip([first, last, &row], [f, a, b], &mut out);
                    }
                }
            }
            // an event: both sides have the same time
            _ => {}
        }
        out.cover(row.t, here.as_ref().map(|m| m.class.verdict));
        if let Some(m) = &here {
            out.offer(m);
            out.meetings.push(m.clone());
        }
        earlier = before.replace((row, here));
    }
    if let Some(last) = out.spans.last_mut() {
        last.to = last.to.max(trajectory.time);
    }
    out.nearest.sort_by_key(|n| n.contact);
    Ok(out)
}

impl Along {
    fn cover(&mut self, t: f64, verdict: Option<Verdict>) {
        match self.spans.last_mut() {
            Some(s) if s.verdict == verdict => s.to = t,
            Some(s) => {
                s.to = s.to.max(s.from);
                let from = s.to.max(t);
                s.to = from;
                self.spans.push(Span { from, to: from, verdict });
            }
            None => self.spans.push(Span { from: t, to: t, verdict }),
        }
    }

    fn offer(&mut self, m: &Meeting) {
        for (k, &contact) in m.contacts.iter().enumerate() {
            let new = Nearest { contact, t: m.t, critical_mu: m.critical_mu[k], mu: m.mu[k] };
            let size = |n: &Nearest| n.critical_mu / n.mu;
            if !size(&new).is_finite() {
                continue;
            }
            match self.nearest.iter_mut().find(|n| n.contact == contact) {
                Some(old) if size(&new) < size(old) => *old = new,
                Some(_) => {}
                None => self.nearest.push(new),
            }
        }
    }
}

struct Work<'a, S: ?Sized> {
    sys: &'a S,
    at: Snapshot,
    classifier: Classifier,
    rates: [Vec<f64>; 2],
}

impl<S: System + ?Sized> Work<'_, S> {
    fn put(&mut self, row: &Sample<'_>) {
        copy(&mut self.at.state, row);
    }

    /// Classify the state put before; `None` when no pair is closed.
    fn meet(&mut self, modes: &[Mode]) -> Result<Option<Meeting>, AnalysisError> {
        self.at.take_as(self.sys, modes)?;
        let class = self.classifier.classify(self.sys, &self.at)?;
        let factor = self.classifier.critical_factor(FACTOR_PAIRS);
        let re = &self.classifier.reactions;
        if re.is_empty() && re.linear {
            return Ok(None);
        }
        let rubbing: Vec<usize> = (0..re.len()).filter(|&a| re.pairs[a].tangent.is_some()).collect();
        let mut all = critical::coefficients(re, factor);
        // a one-sided contact has its paradox in one direction of sliding only
        if let [a] = rubbing[..]
            && !re.pairs[a].two_sided
            && re.index[(a, a)] >= 0.0
        {
            all[a] = f64::INFINITY;
        }
        Ok(Some(Meeting {
            t: self.at.state.t,
            class,
            contacts: rubbing.iter().map(|&a| re.pairs[a].contact).collect(),
            index: rubbing.iter().map(|&a| re.index[(a, a)]).collect(),
            frictionless: rubbing.iter().map(|&a| re.frictionless[a]).collect(),
            critical_mu: rubbing.iter().map(|&a| all[a]).collect(),
            mu: rubbing.iter().map(|&a| re.pairs[a].mu).collect(),
            two_sided: rubbing.iter().map(|&a| re.pairs[a].two_sided).collect(),
        }))
    }

    /// What happens between two rows of the same modes.
    fn between(&mut self, a: &Sample<'_>, b: &Sample<'_>, ma: &Meeting, mb: &Meeting, out: &mut Along) {
        let time = |s: f64| a.t + s * (b.t - a.t);
        let verdict = [ma.class.verdict, mb.class.verdict];
        let mut crossings = Vec::new();
        if let (&[contact], &[_]) = (&ma.contacts[..], &mb.contacts[..]) {
            type Value = fn(&Meeting) -> f64;
            for (kind, f) in [(Kind::Index, excess as Value), (Kind::Frictionless, frictionless as Value)] {
                let (fa, fb) = (f(ma), f(mb));
                if (fa > 0.0) == (fb > 0.0) || fa.is_nan() || fb.is_nan() {
                    continue;
                }
                let turn = if fa > 0.0 { 1.0 } else { -1.0 };
                let value = |s: f64| match self.meet_between(a, b, s) {
                    Some(m) => turn * f(&m),
                    None => f64::NAN,
                };
                let s = root::falls(value, 0.0, fa.abs(), 1.0, -fb.abs(), WIDTH);
                // a change of sign through infinity is no border
                let left = self.meet_between(a, b, s).map_or(f64::NAN, |m| f(&m).abs());
                if left <= fa.abs().max(fb.abs()) {
                    crossings.push((s, kind, Some(contact)));
                }
            }
        } else if ma.class.domain != mb.class.domain {
            let s = self.change(a, b, ma);
            let kind = if verdict[0] == verdict[1] { Kind::Frictionless } else { Kind::Index };
            crossings.push((s, kind, None));
        }
        crossings.sort_by(|x, y| x.0.total_cmp(&y.0));
        if crossings.is_empty() && verdict[0] != verdict[1] {
            crossings.push((self.change(a, b, ma), Kind::Index, None));
        }
        for (s, kind, contact) in crossings {
            let side = |work: &mut Self, s: f64, other: Verdict| {
                work.meet_between(a, b, s.clamp(0.0, 1.0)).map_or(other, |m| m.class.verdict)
            };
            let near = [side(self, s - 1e-7, verdict[0]), side(self, s + 1e-7, verdict[1])];
            out.borders.push(Crossing { t: time(s), kind, contact, verdict: near });
            out.cover(time(s), Some(near[0]));
            out.cover(time(s), Some(near[1]));
        }
    }

    /// Where the list of patterns stops being that of the left row.
    fn change(&mut self, a: &Sample<'_>, b: &Sample<'_>, ma: &Meeting) -> f64 {
        let (mut lo, mut hi) = (0.0, 1.0);
        while hi - lo > WIDTH {
            let mid = 0.5 * (lo + hi);
            let same = self.meet_between(a, b, mid).is_some_and(|m| m.class == ma.class);
            if same { lo = mid } else { hi = mid }
        }
        hi
    }

    /// The minimum of μ_c/μ on both sides of the middle row when that is the smallest of three.
    fn dip(&mut self, rows: [&Sample<'_>; 3], met: [&Meeting; 3], out: &mut Along) {
        let size = |m: &Meeting, c: usize| {
            let k = m.contacts.iter().position(|&x| x == c)?;
            Some(m.critical_mu[k] / m.mu[k]).filter(|v| v.is_finite())
        };
        for &c in &met[1].contacts {
            let [Some(x), Some(y), Some(z)] = met.map(|m| size(m, c)) else { continue };
            if !(y <= x && y <= z) {
                continue;
            }
            for (a, b) in [(rows[0], rows[1]), (rows[1], rows[2])] {
                let value =
                    |s: f64| self.meet_between(a, b, s).and_then(|m| size(&m, c)).unwrap_or(f64::INFINITY);
                let (s, _) = root::minimum(value, 0.0, 1.0, 1e-9, f64::NEG_INFINITY);
                if let Some(m) = self.meet_between(a, b, s) {
                    out.offer(&m);
                }
            }
        }
    }

    fn meet_between(&mut self, a: &Sample<'_>, b: &Sample<'_>, s: f64) -> Option<Meeting> {
        self.interpolate(a, b, s);
        self.meet(a.modes).ok().flatten()
    }

    /// The state at the fraction `s` between two rows.
    fn interpolate(&mut self, a: &Sample<'_>, b: &Sample<'_>, s: f64) {
        let h = b.t - a.t;
        let mut z_rates: [Vec<f64>; 2] = Default::default();
        for (k, row) in [a, b].into_iter().enumerate() {
            self.put(row);
            self.sys.q_rate(&self.at.state, &mut self.rates[k]);
            if !row.z.is_empty() {
                self.at.discrete.modes.clear();
                self.at.discrete.modes.extend_from_slice(row.modes);
                self.sys.evaluate(&self.at.state, &self.at.discrete, &mut self.at.eval);
                z_rates[k].clone_from(&self.at.eval.z_rate);
            }
        }
        let state = &mut self.at.state;
        copy(state, a);
        state.t = a.t + s * h;
        let plain = a.accel.len() == a.q.len();
        for k in 0..a.q.len() {
            let rates = [h * self.rates[0][k], h * self.rates[1][k]];
            let bend = if plain { Some([h * h * a.accel[k], h * h * b.accel[k]]) } else { None };
            state.q[k] = hermite([a.q[k], b.q[k]], rates, bend, s);
        }
        let list = |state: &mut [f64], x: [&[f64]; 2], d: [&[f64]; 2]| {
            for (k, v) in state.iter_mut().enumerate() {
                let rate = |i: usize| d[i].get(k).copied().unwrap_or((x[1][k] - x[0][k]) / h);
                *v = hermite([x[0][k], x[1][k]], [h * rate(0), h * rate(1)], None, s);
            }
        };
        list(&mut state.u, [a.u, b.u], [a.accel, b.accel]);
        list(&mut state.z, [a.z, b.z], [&z_rates[0], &z_rates[1]]);
    }
}

fn copy(state: &mut State, row: &Sample<'_>) {
    state.t = row.t;
    for (to, from) in
        [(&mut state.q, row.q), (&mut state.u, row.u), (&mut state.z, row.z), (&mut state.memory, row.memory)]
    {
        to.clear();
        to.extend_from_slice(from);
    }
}

/// The cubic (quintic with second derivatives) through two ends of the unit interval.
fn hermite(x: [f64; 2], d: [f64; 2], dd: Option<[f64; 2]>, s: f64) -> f64 {
    let r = 1.0 - s;
    match dd {
        None => {
            x[0] * r * r * (1.0 + 2.0 * s) + x[1] * s * s * (3.0 - 2.0 * s) + s * r * (d[0] * r - d[1] * s)
        }
        Some(e) => {
            let left = |x: f64, d: f64, e: f64, s: f64, r: f64| {
                r * r * r * (x * (1.0 + 3.0 * s + 6.0 * s * s) + d * s * (1.0 + 3.0 * s) + 0.5 * e * s * s)
            };
            left(x[0], d[0], e[0], s, r) + left(x[1], -d[1], e[1], r, s)
        }
    }
}

fn excess(m: &Meeting) -> f64 {
    m.mu[0] * if m.two_sided[0] { m.index[0].abs() } else { -m.index[0] } - 1.0
}

fn frictionless(m: &Meeting) -> f64 {
    m.frictionless[0]
}

#[cfg(test)]
mod tests {
    use super::hermite;

    #[test]
    fn a_polynomial_of_the_degree_is_met_everywhere() {
        let f = |s: f64| 2.0 - s + 3.0 * s * s - 0.5 * s.powi(3);
        let g = |s: f64| -1.0 + 6.0 * s - 1.5 * s * s;
        let q = |s: f64| f(s) + 0.7 * s.powi(4) - 1.3 * s.powi(5);
        let dq = |s: f64| g(s) + 2.8 * s.powi(3) - 6.5 * s.powi(4);
        let ddq = |s: f64| 6.0 - 3.0 * s + 8.4 * s * s - 26.0 * s.powi(3);
        for k in 0..=10 {
            let s = f64::from(k) / 10.0;
            assert!((hermite([f(0.0), f(1.0)], [g(0.0), g(1.0)], None, s) - f(s)).abs() < 1e-14);
            let second = Some([ddq(0.0), ddq(1.0)]);
            assert!((hermite([q(0.0), q(1.0)], [dq(0.0), dq(1.0)], second, s) - q(s)).abs() < 1e-14);
        }
    }
}

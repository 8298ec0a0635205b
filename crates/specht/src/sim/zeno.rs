//! Accumulation of impacts: infinitely many in finite time.
//!
//! The times `t_k` of the impacts of a contact form, towards the end, a geometric series of flights `f_k = t_k − t_{k−1}`
//! with ratio `r = f_k / f_{k−1} < 1` (a bouncing ball: r = ε; a rocking block: r from its geometry). It ends at
//!
//! ```text
//! t_∞ = t_k + f_k r / (1 − r)
//! ```
//!
//! When the hops fall below the resolution the run closes the contacts ([`settling`](super::settling)); this file tells the
//! instant at which the series that was left out would have ended.

/// Impact times of one contact.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    times: [f64; 4],
    count: usize,
    begin: f64,
}

/// Impact histories of all contacts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zeno {
    contacts: Vec<History>,
}

impl Zeno {
    pub(super) fn new(contacts: usize) -> Self {
        Zeno { contacts: vec![History::default(); contacts] }
    }

    /// Contact `i` took an impulse at time `t`.
    pub(super) fn observe(&mut self, i: usize, t: f64) {
        let h = &mut self.contacts[i];
        if h.count > 0 && t - h.times[3] <= 4.0 * f64::EPSILON * t.abs() {
            return;
        }
        h.times.rotate_left(1);
        h.times[3] = t;
        h.count += 1;
        if h.count >= 3 {
            let (f, g) = (h.times[2] - h.times[1], h.times[3] - h.times[2]);
            if g > 0.9999 * f {
                h.begin = h.times[2];
                h.count = 2;
            }
        } else if h.count == 1 {
            h.begin = t;
        }
    }

    /// The contact came to rest or the series is broken otherwise.
    pub(super) fn forget(&mut self, i: usize) {
        self.contacts[i] = History::default();
    }

    /// Limit of the series of contact `i`, when its last flights are in a constant ratio.
    pub(super) fn limit(&self, i: usize) -> Option<f64> {
        let h = &self.contacts[i];
        if h.count < 4 {
            return None;
        }
        let f: [f64; 3] = std::array::from_fn(|k| h.times[k + 1] - h.times[k]);
        let (r, before) = (f[2] / f[1], f[1] / f[0]);
        if f[2] <= 64.0 * f64::EPSILON * h.times[3].abs() {
            return Some(h.times[3]);
        }
        if !(r < 0.9999 && before < 1.0) || (r - before).abs() > 1e-2 * (1.0 - r).min(r) {
            return None;
        }
        Some(h.times[3] + f[2] * r / (1.0 - r))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_of_flights_has_its_limit() {
        let (mut z, mut t, mut flight, r) = (Zeno::new(1), 0.3, 0.7, 0.6);
        let limit = 0.3 + 0.7 / (1.0 - r);
        for k in 0..30 {
            z.observe(0, t);
            if k > 3 {
                let end = z.limit(0).unwrap();
                assert!((end - limit).abs() < 1e-13, "{end} {limit}");
            }
            t += flight;
            flight *= r;
        }
    }

    #[test]
    fn growing_or_equal_flights_are_no_accumulation() {
        let mut z = Zeno::new(1);
        for k in 0..50 {
            z.observe(0, k as f64);
            assert!(z.limit(0).is_none());
        }
    }
}

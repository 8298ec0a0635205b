//! Real roots of a polynomial on the positive half line, decided by Sturm's theorem.
//!
//! ```text
//! p₀ = p,  p₁ = p',  p_{i+1} = −rem(p_{i−1}, p_i);   roots in (a, b] = V(a) − V(b),  V: sign changes of the sequence
//! ```
//!
//! Counts distinct roots, multiple ones once. Floating point: the sequence is scaled to largest coefficient 1 at every step and a
//! remainder below 1e-12 counts as zero (the last nonzero member is then the greatest common divisor). A verdict
//! is therefore exact for polynomials whose roots are not closer together than about 1e-6 of their size.

/// Remainders below this, relative to the divisor, are zero.
const ZERO: f64 = 1e-12;

/// Σ c_i kⁱ.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polynomial(pub Vec<f64>);

impl Polynomial {
    /// Interpolates the values at the nodes by divided differences. The nodes must differ.
    pub(crate) fn through(nodes: &[f64], values: &[f64]) -> Polynomial {
        let n = nodes.len();
        let mut d = values.to_vec();
        for j in 1..n {
            for i in (j..n).rev() {
                d[i] = (d[i] - d[i - 1]) / (nodes[i] - nodes[i - j]);
            }
        }
        // Newton form to powers
        let mut c = vec![0.0; n.max(1)];
        for i in (0..n).rev() {
            for k in (1..n).rev() {
                c[k] = c[k - 1] - nodes[i] * c[k];
            }
            c[0] = d[i] - nodes[i] * c[0];
        }
        Polynomial(c)
    }

    /// Value.
    pub(crate) fn at(&self, k: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |v, c| v * k + c)
    }

    /// Leading coefficients below `fraction` of the largest one are dropped.
    pub(crate) fn trimmed(&self, fraction: f64) -> Polynomial {
        let largest = self.0.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        let mut c = self.0.clone();
        while c.len() > 1 && c.last().is_some_and(|v| v.abs() <= fraction * largest) {
            c.pop();
        }
        Polynomial(c)
    }

    /// Number of distinct roots k > 0, multiplicities not counted; `None` for the zero polynomial.
    pub(crate) fn positive_roots(&self) -> Option<usize> {
        let p = self.trimmed(ZERO);
        if p.0.iter().all(|c| *c == 0.0) {
            return None;
        }
        // roots at zero do not count
        let largest = p.0.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        let skip = p.0.iter().take_while(|c| c.abs() <= ZERO * largest).count();
        let sequence = sturm(&p.0[skip..]);
        let changes = |sign: &dyn Fn(&[f64]) -> f64| {
            let signs: Vec<f64> = sequence.iter().map(|q| sign(q)).filter(|s| *s != 0.0).collect();
            signs.windows(2).filter(|w| w[0] != w[1]).count()
        };
        let at_zero = changes(&|q| signum(q[0]));
        let at_infinity = changes(&|q| signum(q[q.len() - 1]));
        Some(at_zero - at_infinity.min(at_zero))
    }

    /// The smallest root k > 0, to rounding; `None` without one.
    pub(crate) fn smallest_positive_root(&self) -> Option<f64> {
        let p = self.trimmed(ZERO);
        let largest = p.0.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        let skip = p.0.iter().take_while(|c| c.abs() <= ZERO * largest).count();
        if p.0.len() <= skip + 1 || largest == 0.0 {
            return None;
        }
        let c = &p.0[skip..];
        let sequence = sturm(c);
        let changes = |k: f64| {
            let signs: Vec<f64> =
                sequence.iter().map(|q| signum(Polynomial(q.clone()).at(k))).filter(|s| *s != 0.0).collect();
            signs.windows(2).filter(|w| w[0] != w[1]).count()
        };
        // Cauchy's bound
        let lead = c[c.len() - 1].abs();
        let bound = 1.0 + c.iter().map(|v| v.abs() / lead).fold(0.0, f64::max);
        let start = changes(0.0);
        if start <= changes(bound) {
            return None;
        }
        let (mut lo, mut hi) = (0.0, bound);
        for _ in 0..2000 {
            let mid = 0.5 * (lo + hi);
            if mid <= lo || mid >= hi {
                break;
            }
            if changes(mid) < start { hi = mid } else { lo = mid }
        }
        Some(hi)
    }
}

fn signum(v: f64) -> f64 {
    if v > 0.0 {
        1.0
    } else if v < 0.0 {
        -1.0
    } else {
        0.0
    }
}

fn sturm(c: &[f64]) -> Vec<Vec<f64>> {
    let scaled = |mut v: Vec<f64>| {
        let largest = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        v.iter_mut().for_each(|x| *x /= largest);
        v
    };
    let first = scaled(c.to_vec());
    let derivative: Vec<f64> = first.iter().enumerate().skip(1).map(|(i, v)| i as f64 * v).collect();
    let mut sequence = vec![first];
    if derivative.is_empty() {
        return sequence;
    }
    sequence.push(scaled(derivative));
    while sequence[sequence.len() - 1].len() > 1 {
        let (a, b) = (&sequence[sequence.len() - 2], &sequence[sequence.len() - 1]);
        let mut r = a.clone();
        while r.len() >= b.len() {
            let factor = r[r.len() - 1] / b[b.len() - 1];
            let shift = r.len() - b.len();
            for (i, v) in b.iter().enumerate() {
                r[shift + i] -= factor * v;
            }
            r.pop();
        }
        while r.last().is_some_and(|v| v.abs() <= ZERO) {
            r.pop();
        }
        if r.is_empty() {
            break;
        }
        sequence.push(scaled(r.iter().map(|v| -v).collect()));
    }
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::tests::Random;

    fn from_roots(roots: &[f64]) -> Polynomial {
        let mut c = vec![1.0];
        for r in roots {
            c.insert(0, 0.0);
            for i in 0..c.len() - 1 {
                c[i] -= r * c[i + 1];
            }
        }
        Polynomial(c)
    }

    #[test]
    fn roots_on_the_positive_half_line_are_counted_with_none_missed() {
        let mut r = Random(5);
        for _ in 0..500 {
            let n = 1 + r.below(6);
            let mut roots: Vec<f64> = Vec::new();
            while roots.len() < n {
                let x = r.within(-3.0, 3.0);
                if x.abs() > 0.05 && roots.iter().all(|y| (x - y).abs() > 0.05) {
                    roots.push(x);
                }
            }
            let p = from_roots(&roots);
            let positive: Vec<f64> = roots.iter().copied().filter(|x| *x > 0.0).collect();
            assert_eq!(p.positive_roots(), Some(positive.len()), "{roots:?}");
            let least = positive.iter().copied().reduce(f64::min);
            match (p.smallest_positive_root(), least) {
                (None, None) => {}
                (Some(a), Some(b)) => assert!((a - b).abs() < 1e-8, "{a} is not {b}"),
                other => panic!("{other:?}"),
            }
        }
        // complex pairs, double roots, zero roots, constants
        assert_eq!(Polynomial(vec![1.0, 0.0, 1.0]).positive_roots(), Some(0));
        assert_eq!(Polynomial(vec![1.0, -2.0, 1.0]).positive_roots(), Some(1));
        assert_eq!(Polynomial(vec![0.0, -1.0, 1.0]).positive_roots(), Some(1));
        assert_eq!(Polynomial(vec![3.0]).positive_roots(), Some(0));
        assert_eq!(Polynomial(vec![0.0, 0.0]).positive_roots(), None);
    }

    #[test]
    fn interpolation_returns_the_coefficients() {
        let p = Polynomial(vec![2.0, -1.0, 0.5, 3.0]);
        let nodes = [0.0, 1.0, -1.0, 2.0];
        let values = nodes.map(|k| p.at(k));
        for (a, b) in Polynomial::through(&nodes, &values).0.iter().zip(&p.0) {
            assert!((a - b).abs() < 1e-13);
        }
    }
}

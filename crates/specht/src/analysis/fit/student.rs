//! Quantiles of Student's distribution, by Newton's method on its integral.
//!
//! ```text
//! P(|T| > t) = I_{n/(n+t²)}(n/2, 1/2)        I: regularised incomplete beta function, by its continued fraction [Press2007, 6.4]
//! ```

/// Terms of the continued fraction; a few dozen are enough.
const TERMS: usize = 500;
/// A denominator that is never zero.
const TINY: f64 = 1e-300;

/// t with P(T < t) = p for n degrees of freedom, p > 1/2.
pub(crate) fn student_quantile(p: f64, n: f64) -> f64 {
    // bisection on the tail: monotone, always ends
    let tail = 2.0 * (1.0 - p);
    let (mut low, mut high) = (0.0, 1.0);
    while student_tail(high, n) > tail && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if student_tail(middle, n) > tail { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// P(|T| > t).
pub(crate) fn student_tail(t: f64, n: f64) -> f64 {
    incomplete_beta(0.5 * n, 0.5, n / (n + t * t))
}

/// P(|Z| > z) of the normal distribution: Student's with very many degrees of freedom, or its asymptotic series far out.
pub(crate) fn normal_tail(z: f64) -> f64 {
    // erfc by the continued fraction of Lentz where it is fast, by the series of erf elsewhere
    let x = z.abs() / std::f64::consts::SQRT_2;
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for k in 1..200 {
            term *= -x * x / f64::from(k);
            let part = term / f64::from(2 * k + 1);
            sum += part;
            if part.abs() < 1e-17 * sum.abs() {
                break;
            }
        }
        return 1.0 - 2.0 / std::f64::consts::PI.sqrt() * sum;
    }
    let mut f = 0.0;
    for k in (1..=80).rev() {
        f = 0.5 * f64::from(k) / (x + f);
    }
    (-x * x).exp() / (std::f64::consts::PI.sqrt() * (x + f))
}

fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0)));
    let mut h = d;
    for m in 1..TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / nonzero(1.0 + term * d);
            c = nonzero(1.0 + term / c);
            h *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h
}

fn nonzero(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

/// ln Γ by Stirling's series, raised to large arguments first.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of Student's distribution; scipy.stats.t.ppf(0.975, n).
    #[test]
    fn quantiles_are_those_of_tables() {
        for (n, t) in [
            (1.0, 12.706204736174704),
            (2.0, 4.302652729749464),
            (5.0, 2.570581835636314),
            (36.0, 2.028094000980452),
            (1000.0, 1.9623390808264078),
        ] {
            let found = student_quantile(0.975, n);
            assert!((found - t).abs() < 1e-10 * t, "{n}: {found} {t}");
        }
        assert!((normal_tail(1.959963984540054) - 0.05).abs() < 1e-12);
        assert!((normal_tail(5.0) - 5.733031437583878e-7).abs() < 1e-15);
    }
}

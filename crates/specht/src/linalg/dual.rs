//! Dual numbers `a + ε b`, ε² = 0: one algorithm on [`Number`]s gives values with `f64` and exact directional derivatives with
//! [`Dual`]. Comparisons look at values alone, so a derivative belongs to the branch taken.

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// What an assembly computes with.
pub(crate) trait Number:
    Copy
    + PartialOrd
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// What goes into the result: the value itself, or the rate of a dual number.
    fn result(self) -> f64;

    /// √(a² + b²).
    fn hypot(self, other: Self) -> Self;

    /// Quotient; the rate of a numerator that does not change over a constant is zero.
    fn over(self, other: Self) -> Self;

    /// The smaller one, the first of two equal ones.
    fn least(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// The larger one, the first of two equal ones.
    fn most(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl Number for f64 {
    #[inline]
    fn result(self) -> f64 {
        self
    }

    #[inline]
    fn hypot(self, other: f64) -> f64 {
        f64::hypot(self, other)
    }

    #[inline]
    fn over(self, other: f64) -> f64 {
        self / other
    }

    #[inline]
    fn least(self, other: f64) -> f64 {
        self.min(other)
    }

    #[inline]
    fn most(self, other: f64) -> f64 {
        self.max(other)
    }
}

/// A value with its rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dual {
    /// Value.
    pub value: f64,
    /// Rate.
    pub rate: f64,
}

impl From<f64> for Dual {
    #[inline]
    fn from(value: f64) -> Dual {
        Dual { value, rate: 0.0 }
    }
}

impl PartialEq for Dual {
    fn eq(&self, other: &Dual) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Dual) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Add for Dual {
    type Output = Dual;
    #[inline]
    fn add(self, o: Dual) -> Dual {
        Dual { value: self.value + o.value, rate: self.rate + o.rate }
    }
}

impl Sub for Dual {
    type Output = Dual;
    #[inline]
    fn sub(self, o: Dual) -> Dual {
        Dual { value: self.value - o.value, rate: self.rate - o.rate }
    }
}

impl Mul for Dual {
    type Output = Dual;
    #[inline]
    fn mul(self, o: Dual) -> Dual {
        Dual { value: self.value * o.value, rate: self.rate * o.value + self.value * o.rate }
    }
}

impl Neg for Dual {
    type Output = Dual;
    #[inline]
    fn neg(self) -> Dual {
        Dual { value: -self.value, rate: -self.rate }
    }
}

impl AddAssign for Dual {
    #[inline]
    fn add_assign(&mut self, o: Dual) {
        *self = *self + o;
    }
}

impl Number for Dual {
    #[inline]
    fn result(self) -> f64 {
        self.rate
    }

    fn hypot(self, o: Dual) -> Dual {
        let value = self.value.hypot(o.value);
        let top = self.value * self.rate + o.value * o.rate;
        Dual { value, rate: if top == 0.0 { 0.0 } else { top / value } }
    }

    fn over(self, o: Dual) -> Dual {
        let value = self.value / o.value;
        let top = if o.rate == 0.0 { self.rate } else { self.rate - value * o.rate };
        Dual { value, rate: if top == 0.0 { 0.0 } else { top / o.value } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rational function with a root: the rate against the one by hand.
    #[test]
    fn the_rate_of_a_formula_is_its_derivative() {
        fn f<N: Number>(x: N) -> N {
            let y = x * x - N::from(3.0) * x;
            (y + -x).hypot(N::from(2.0)).over(x + N::from(1.0)).most(N::from(-1.0)).least(N::from(1e9))
        }
        let x = 0.7_f64;
        let (p, dp) = (x * x - 4.0 * x, 2.0 * x - 4.0);
        let r = p.hypot(2.0);
        let expected = (p * dp / r * (x + 1.0) - r) / (x + 1.0).powi(2);
        let found = f(Dual { value: x, rate: 1.0 });
        assert_eq!(found.value, f(x));
        assert!((found.result() - expected).abs() < 1e-15);
        assert_eq!(f(x).result(), f(x));
    }
}

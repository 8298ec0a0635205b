//! The norm of the force of a pin on which friction depends: its own equation.

/// Up to two nonnegative solutions of `p = |a + b p|`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roots {
    value: [f64; 2],
    count: usize,
}

impl Roots {
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.value[..self.count]
    }

    fn push(&mut self, p: f64) {
        if p >= 0.0 && p.is_finite() && self.count < 2 {
            self.value[self.count] = p;
            self.count += 1;
        }
    }
}

/// All p ≥ 0 with p = |a + b p|: (1 − |b|²) p² − 2 a·b p − |a|² = 0.
pub(crate) fn pin_roots(a: [f64; 3], b: [f64; 3]) -> Roots {
    let product = |x: [f64; 3], y: [f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    let (aa, ab, bb) = (product(a, a), product(a, b), product(b, b));
    let mut out = Roots::default();
    let q = 1.0 - bb;
    if aa == 0.0 {
        out.push(0.0);
        return out;
    }
    let disc = ab * ab + q * aa;
    if disc < 0.0 {
        return out;
    }
    // the product of the roots is −|a|²/q: one stable form for each
    let s = disc.sqrt();
    let big = if ab >= 0.0 { ab + s } else { ab - s };
    let (first, second) = (big / q, if big == 0.0 { f64::NAN } else { -aa / big });
    out.push(first.min(second));
    out.push(first.max(second));
    if first.is_nan() || second.is_nan() {
        out = Roots::default();
        out.push(if first.is_nan() { second } else { first });
    }
    out
}

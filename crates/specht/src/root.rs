//! Bracketed root location.
//!
//! **What is an event.** Let `f` be an event function on the half-open interval `(a, b]`. It *falls* at `t*` when `f > 0`
//! on some `(t* − δ, t*)` and `f(t*) ≤ 0`; the event is the first such `t*`. A zero at the left end `a` is no event: it has
//! been dealt with, and `f` must first become positive again. A zero at `b` is an event of this interval, not of
//! the next. A rise is a fall of `−f`.
//!
//! [`falls`] shrinks a bracket `f(a) > 0 ≥ f(b)` by Chandrupatla's method (a chord first, then inverse quadratic interpolation where it is
//! safe, bisection elsewhere) and returns the right end, so that `f ≤ 0` holds at the result. [`minimum`] finds the
//! minimum of a smooth function on an interval by golden section with parabolic steps (Brent), for dips that sign tests
//! at the ends cannot see. Both are deterministic and bounded: at most 100 evaluations. [Chandrupatla1997; Brent1973]

/// The point where `f` falls through zero inside `[a, b]`, given `f(a) > 0 ≥ f(b)`; the bracket at the end is at most
/// `width` wide and its right end is returned.
pub(crate) fn falls(mut f: impl FnMut(f64) -> f64, a: f64, fa: f64, b: f64, fb: f64, width: f64) -> f64 {
    // b: last point, a: other end of the bracket, c: the point before b
    let (mut a, mut fa, mut b, mut fb) = (b, fb, a, fa);
    let (mut c, mut fc);
    // most functions are nearly straight
    let straight = fa / (fa - fb);
    let mut fraction = if straight.is_finite() { straight.clamp(0.01, 0.99) } else { 0.5 };
    for _ in 0..100 {
        let x = a + fraction * (b - a);
        if !(x.is_finite()) || x == a || x == b {
            break;
        }
        let fx = f(x);
        if fx.is_nan() {
            break;
        }
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        if (b - a).abs() <= width || fa == 0.0 {
            break;
        }
        // inverse quadratic interpolation where it is monotone, else bisection
        let xi = (a - b) / (c - b);
        let phi = (fa - fb) / (fc - fb);
        fraction = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            (fa / (fb - fa)) * (fc / (fb - fc)) + ((c - a) / (b - a)) * (fa / (fc - fa)) * (fb / (fc - fb))
        } else {
            0.5
        };
        let smallest = 0.25 * width / (b - a).abs();
        fraction = fraction.clamp(smallest.min(0.5), 1.0 - smallest.min(0.5));
    }
    if fa <= 0.0 { a } else { b }
}

/// The smallest value of `f` on `[a, b]` and where; stops as soon as a value at or below `enough` is found.
pub fn minimum(mut f: impl FnMut(f64) -> f64, a: f64, b: f64, width: f64, enough: f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.381_966_011_250_105;
    let (mut a, mut b) = (a, b);
    let mut x = a + GOLDEN * (b - a);
    let (mut w, mut v) = (x, x);
    let mut fx = f(x);
    let (mut fw, mut fv) = (fx, fx);
    let (mut d, mut e) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        if fx <= enough {
            break;
        }
        let middle = 0.5 * (a + b);
        if (x - middle).abs() + 0.5 * (b - a) <= 2.0 * width {
            break;
        }
        let mut golden = true;
        if e.abs() > width {
            let r = (x - w) * (fx - fv);
            let q = (x - v) * (fx - fw);
            let mut p = (x - v) * q - (x - w) * r;
            let mut q = 2.0 * (q - r);
            if q > 0.0 {
                p = -p;
            }
            q = q.abs();
            if p.abs() < (0.5 * q * e).abs() && p > q * (a - x) && p < q * (b - x) {
                e = d;
                d = p / q;
                golden = false;
            }
        }
        if golden {
            e = if x < middle { b - x } else { a - x };
            d = GOLDEN * e;
        }
        let u = if d.abs() >= width { x + d } else { x + width.copysign(d) };
        let fu = f(u);
        if fu <= fx {
            if u < x {
                b = x;
            } else {
                a = x;
            }
            (v, fv) = (w, fw);
            (w, fw) = (x, fx);
            (x, fx) = (u, fu);
        } else {
            if u < x {
                a = u;
            } else {
                b = u;
            }
            if fu <= fw || w == x {
                (v, fv) = (w, fw);
                (w, fw) = (u, fu);
            } else if fu <= fv || v == x || v == w {
                (v, fv) = (u, fu);
            }
        }
    }
    (x, fx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_found_to_the_width_and_lies_on_the_far_side() {
        let f = |x: f64| 2.0 - x * x;
        let r = falls(f, 0.0, f(0.0), 2.0, f(2.0), 1e-15);
        assert!((r - 2.0_f64.sqrt()).abs() < 2e-15);
        assert!(f(r) <= 0.0);
    }

    #[test]
    fn steep_flat_and_jumping_functions_need_few_evaluations() {
        type Case = (fn(f64) -> f64, f64);
        let cases: [Case; 4] = [
            (|x| (1.0 - x).powi(9), 1.0),
            (|x| if x < 0.3 { 1.0 } else { -1e-3 }, 0.3),
            (|x| 1.0 - (20.0 * (x - 1.0)).exp(), 1.0),
            (|x| 0.1 - x, 0.1),
        ];
        for (f, root) in cases {
            let mut count = 0;
            let r = falls(
                |x| {
                    count += 1;
                    f(x)
                },
                0.0,
                f(0.0),
                3.0,
                f(3.0),
                1e-12,
            );
            assert!(f(r) <= 0.0 && count < 100, "{count}");
            assert!((r - root).abs() < 1e-10 || f(r).abs() < 1e-15, "{r} {root}");
        }
    }

    #[test]
    fn the_minimum_of_a_dip_is_found_and_the_search_stops_at_enough() {
        let (x, y) = minimum(|x| (x - 0.7).powi(2) + 0.01, 0.0, 1.0, 1e-9, 0.0);
        assert!((x - 0.7).abs() < 1e-6 && (y - 0.01).abs() < 1e-12);
        let (_, y) = minimum(|x| (x - 0.7).powi(2) - 0.01, 0.0, 1.0, 1e-9, 0.0);
        assert!(y <= 0.0);
    }
}

//! Eigenvalues of a general real matrix
//!
//! Balancing by powers of two, reduction to Hessenberg form by stabilised elimination, then the implicit double-shift QR
//! iteration of Francis with deflation. Backward stable: the values are exact for a matrix within a few ulps of |A|.
//! [GolubVanLoan2013, 7.4-7.5], [WilkinsonReinsch1971, II/11-14]

use super::Mat;

/// An eigenvalue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// Absolute value.
    pub(crate) fn abs(&self) -> f64 {
        self.re.hypot(self.im)
    }
}

/// All eigenvalues of a square matrix, sorted by real, then imaginary part; conjugate pairs stand together. `None` when a
/// number is not finite or the iteration does not end (never seen).
pub(crate) fn eigenvalues(a: &Mat) -> Option<Vec<Complex>> {
    if a.rows() != a.cols() || a.as_slice().iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut h = a.clone();
    balance(&mut h);
    reduce_to_hessenberg(&mut h);
    let mut values = francis(&mut h)?;
    values.sort_by(|x, y| x.re.total_cmp(&y.re).then(x.im.total_cmp(&y.im)));
    Some(values)
}

/// Similarity by a diagonal of powers of two that makes row and column norms alike.
fn balance(a: &mut Mat) {
    let n = a.rows();
    loop {
        let mut done = true;
        for i in 0..n {
            let (mut c, mut r) = (0.0, 0.0);
            for j in 0..n {
                if j != i {
                    c += a[(j, i)].abs();
                    r += a[(i, j)].abs();
                }
            }
            if c == 0.0 || r == 0.0 {
                continue;
            }
            let (s, mut f) = (c + r, 1.0);
            let mut g = r / 2.0;
            while c < g && f < 1e150 {
                f *= 2.0;
                c *= 4.0;
            }
            g = r * 2.0;
            while c > g && f > 1e-150 {
                f /= 2.0;
                c /= 4.0;
            }
            if (c + r) / f < 0.95 * s {
                done = false;
                for j in 0..n {
                    a[(i, j)] /= f;
                }
                for j in 0..n {
                    a[(j, i)] *= f;
                }
            }
        }
        if done {
            return;
        }
    }
}

/// Upper Hessenberg form by elimination with pivoting.
fn reduce_to_hessenberg(a: &mut Mat) {
    let n = a.rows();
    for m in 1..n.saturating_sub(1) {
        let mut p = m;
        for j in m..n {
            if a[(j, m - 1)].abs() > a[(p, m - 1)].abs() {
                p = j;
            }
        }
        let x = a[(p, m - 1)];
        if x == 0.0 {
            continue;
        }
        if p != m {
            for j in m - 1..n {
                let t = a[(p, j)];
                a[(p, j)] = a[(m, j)];
                a[(m, j)] = t;
            }
            for j in 0..n {
                let t = a[(j, p)];
                a[(j, p)] = a[(j, m)];
                a[(j, m)] = t;
            }
        }
        for i in m + 1..n {
            let y = a[(i, m - 1)] / x;
            if y != 0.0 {
                a[(i, m - 1)] = 0.0;
                for j in m..n {
                    let t = a[(m, j)];
                    a[(i, j)] -= y * t;
                }
                for j in 0..n {
                    let t = a[(j, i)];
                    a[(j, m)] += y * t;
                }
            }
        }
    }
}

/// Double-shift QR iteration on a Hessenberg matrix, deflating from the lower end.
fn francis(h: &mut Mat) -> Option<Vec<Complex>> {
    let n = h.rows();
    let size: f64 = (0..n).map(|i| (i.saturating_sub(1)..n).map(|j| h[(i, j)].abs()).sum::<f64>()).sum();
    let mut values = Vec::with_capacity(n);
    let mut shift = 0.0;
    let mut high = n; // rows high.. are done
    let mut tries = 0;
    while high > 0 {
        let e = high - 1;
        // a small subdiagonal entry splits the matrix
        let mut l = e;
        while l > 0 {
            let s = h[(l - 1, l - 1)].abs() + h[(l, l)].abs();
            let s = if s == 0.0 { size } else { s };
            if h[(l, l - 1)].abs() <= f64::EPSILON * s {
                h[(l, l - 1)] = 0.0;
                break;
            }
            l -= 1;
        }
        if l == e {
            values.push(Complex { re: h[(e, e)] + shift, im: 0.0 });
            high -= 1;
            tries = 0;
            continue;
        }
        if l + 1 == e {
            pair(h, e, shift, &mut values);
            high -= 2;
            tries = 0;
            continue;
        }
        tries += 1;
        if tries > 100 {
            return None;
        }
        let (mut x, mut y, mut w) = (h[(e, e)], h[(e - 1, e - 1)], h[(e, e - 1)] * h[(e - 1, e)]);
        if tries % 10 == 0 {
            // exceptional shift
            shift += x;
            for i in 0..=e {
                h[(i, i)] -= x;
            }
            let s = h[(e, e - 1)].abs() + h[(e - 1, e - 2)].abs();
            x = 0.75 * s;
            y = x;
            w = -0.4375 * s * s;
        }
        sweep(h, l, e, x, y, w);
    }
    Some(values)
}

/// Eigenvalues of the 2 by 2 block that ends at row `e`.
fn pair(h: &Mat, e: usize, shift: f64, values: &mut Vec<Complex>) {
    let (x, y, w) = (h[(e, e)], h[(e - 1, e - 1)], h[(e, e - 1)] * h[(e - 1, e)]);
    let p = 0.5 * (y - x);
    let q = p * p + w;
    let z = q.abs().sqrt();
    let x = x + shift;
    if q >= 0.0 {
        let z = p + z.copysign(p);
        let other = if z == 0.0 { x } else { x - w / z };
        values.push(Complex { re: x + z, im: 0.0 });
        values.push(Complex { re: other, im: 0.0 });
    } else {
        values.push(Complex { re: x + p, im: z });
        values.push(Complex { re: x + p, im: -z });
    }
}

/// One implicit double-shift step on rows and columns `l..=e` with shifts given by the trailing block (x, y, w).
fn sweep(h: &mut Mat, l: usize, e: usize, x: f64, y: f64, w: f64) {
    let n = h.cols();
    // two consecutive small subdiagonal entries: start there
    let (mut p, mut q, mut r);
    let mut m = e - 2;
    loop {
        let z = h[(m, m)];
        let (a, s) = (x - z, y - z);
        p = (a * s - w) / h[(m + 1, m)] + h[(m, m + 1)];
        q = h[(m + 1, m + 1)] - z - a - s;
        r = h[(m + 2, m + 1)];
        let s = p.abs() + q.abs() + r.abs();
        if s != 0.0 {
            (p, q, r) = (p / s, q / s, r / s);
        }
        if m == l {
            break;
        }
        let u = h[(m, m - 1)].abs() * (q.abs() + r.abs());
        let v = p.abs() * (h[(m - 1, m - 1)].abs() + z.abs() + h[(m + 1, m + 1)].abs());
        if u <= f64::EPSILON * v {
            break;
        }
        m -= 1;
    }
    for i in m + 2..=e {
        h[(i, i - 2)] = 0.0;
        if i != m + 2 {
            h[(i, i - 3)] = 0.0;
        }
    }
    for k in m..e {
        let last = k + 1 == e;
        let mut scale = 1.0;
        if k != m {
            p = h[(k, k - 1)];
            q = h[(k + 1, k - 1)];
            r = if last { 0.0 } else { h[(k + 2, k - 1)] };
            scale = p.abs() + q.abs() + r.abs();
            if scale == 0.0 {
                continue;
            }
            (p, q, r) = (p / scale, q / scale, r / scale);
        }
        let s = (p * p + q * q + r * r).sqrt().copysign(p);
        if s == 0.0 {
            continue;
        }
        if k == m {
            if l != m {
                h[(k, k - 1)] = -h[(k, k - 1)];
            }
        } else {
            h[(k, k - 1)] = -s * scale;
        }
        p += s;
        let (x, y, z) = (p / s, q / s, r / s);
        q /= p;
        r /= p;
        let (first, rest) = h.as_mut_slice()[k * n..].split_at_mut(n);
        let (second, third) = rest.split_at_mut(n);
        let pairs = first[k..=e].iter_mut().zip(&mut second[k..=e]);
        if last {
            for (a, b) in pairs {
                let t = *a + q * *b;
                *b -= t * y;
                *a -= t * x;
            }
        } else {
            for ((a, b), c) in pairs.zip(&mut third[k..=e]) {
                let t = *a + q * *b + r * *c;
                *c -= t * z;
                *b -= t * y;
                *a -= t * x;
            }
        }
        for i in l..=e.min(k + 3) {
            let row = &mut h.row_mut(i)[k..=e.min(k + 2)];
            let mut t = x * row[0] + y * row[1];
            if let Some(c) = row.get_mut(2) {
                t += z * *c;
                *c -= t * r;
            }
            row[1] -= t * q;
            row[0] -= t;
        }
    }
}

//! Numbers of twice the precision, as sums of two (Dekker 1971)
//!
//! ```text
//! a = hi + lo,   |lo| ≤ ½ ulp(hi)           a b = hi_a hi_b + (rounding error, exact by one fused operation) + hi_a lo_b + lo_a hi_b
//! ```
//!
//! The rounding error of a product is a number of its own, so the bits are the same whether the machine has the fused operation or not.

use std::ops::{Add, Mul, Neg, Sub};

/// A number of about 32 digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Double {
    pub hi: f64,
    pub lo: f64,
}

impl Double {
    #[inline(always)]
    pub(super) fn new(hi: f64) -> Double {
        Double { hi, lo: 0.0 }
    }

    /// `1 / self`.
    #[inline(always)]
    pub(super) fn inverse(self) -> Double {
        let q = 1.0 / self.hi;
        // one step of Newton: q + q (1 − a q)
        let r = Double::new(1.0) - self * q;
        Double::new(q) + r * q
    }
}

/// Sum and its rounding error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// The same when `|a| ≥ |b|`.
#[inline(always)]
fn quick(a: f64, b: f64) -> Double {
    let hi = a + b;
    Double { hi, lo: b - (hi - a) }
}

impl Add for Double {
    type Output = Double;
    #[inline(always)]
    fn add(self, b: Double) -> Double {
        let (s, e) = two_sum(self.hi, b.hi);
        quick(s, e + (self.lo + b.lo))
    }
}

impl Add<f64> for Double {
    type Output = Double;
    #[inline(always)]
    fn add(self, b: f64) -> Double {
        let (s, e) = two_sum(self.hi, b);
        quick(s, e + self.lo)
    }
}

impl Neg for Double {
    type Output = Double;
    #[inline(always)]
    fn neg(self) -> Double {
        Double { hi: -self.hi, lo: -self.lo }
    }
}

impl Sub for Double {
    type Output = Double;
    #[inline(always)]
    fn sub(self, b: Double) -> Double {
        self + -b
    }
}

impl Mul for Double {
    type Output = Double;
    #[inline(always)]
    fn mul(self, b: Double) -> Double {
        let p = self.hi * b.hi;
        let e = self.hi.mul_add(b.hi, -p);
        quick(p, e + (self.hi * b.lo + self.lo * b.hi))
    }
}

impl Mul<f64> for Double {
    type Output = Double;
    #[inline(always)]
    fn mul(self, b: f64) -> Double {
        let p = self.hi * b;
        quick(p, self.hi.mul_add(b, -p) + self.lo * b)
    }
}

/// A vector of them: high and low parts apart, so that loops run over neighbours.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubles {
    pub hi: Vec<f64>,
    pub lo: Vec<f64>,
}

impl Doubles {
    pub(super) fn resize(&mut self, n: usize) {
        self.hi.resize(n, 0.0);
        self.lo.resize(n, 0.0);
    }

    pub(super) fn clear(&mut self) {
        self.hi.fill(0.0);
        self.lo.fill(0.0);
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> Double {
        Double { hi: self.hi[i], lo: self.lo[i] }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, v: Double) {
        (self.hi[i], self.lo[i]) = (v.hi, v.lo);
    }

    #[inline(always)]
    pub(super) fn add(&mut self, i: usize, v: Double) {
        self.set(i, self.get(i) + v);
    }

    /// `self[to..] −= f self[from..]` for `n` entries; the two ranges are apart.
    #[inline(always)]
    pub(super) fn eliminate(&mut self, f: Double, from: usize, to: usize, n: usize) {
        if from < to {
            let (ah, bh) = self.hi.split_at_mut(to);
            let (al, bl) = self.lo.split_at_mut(to);
            subtract(f, &ah[from..from + n], &al[from..from + n], &mut bh[..n], &mut bl[..n]);
        } else {
            let (bh, ah) = self.hi.split_at_mut(from);
            let (bl, al) = self.lo.split_at_mut(from);
            subtract(f, &ah[..n], &al[..n], &mut bh[to..to + n], &mut bl[to..to + n]);
        }
    }
}

/// A sum of products, brought into order at the end only.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    hi: f64,
    lo: f64,
}

impl Sum {
    #[inline(always)]
    pub(super) fn new(a: Double) -> Sum {
        Sum { hi: a.hi, lo: a.lo }
    }

    /// `self += a b`.
    #[inline(always)]
    pub(super) fn add(&mut self, a: Double, b: Double) {
        let p = a.hi * b.hi;
        let e = a.lo.mul_add(b.hi, a.hi.mul_add(b.lo, a.hi.mul_add(b.hi, -p)));
        let (s, t) = two_sum(self.hi, p);
        self.hi = s;
        self.lo += t + e;
    }

    /// `self += a b`.
    #[inline(always)]
    pub(super) fn add_simple(&mut self, a: Double, b: f64) {
        let p = a.hi * b;
        let e = a.lo.mul_add(b, a.hi.mul_add(b, -p));
        let (s, t) = two_sum(self.hi, p);
        self.hi = s;
        self.lo += t + e;
    }

    #[inline(always)]
    pub(super) fn value(self) -> Double {
        quick(self.hi, self.lo)
    }
}

/// Sums side by side, in the operations of [`Sum`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums<const W: usize> {
    pub hi: [f64; W],
    pub lo: [f64; W],
}

impl<const W: usize> Default for Sums<W> {
    #[inline(always)]
    fn default() -> Self {
        Sums { hi: [0.0; W], lo: [0.0; W] }
    }
}

impl<const W: usize> Sums<W> {
    /// The numbers of both slices.
    #[inline(always)]
    pub(super) fn load(hi: &[f64], lo: &[f64]) -> Self {
        let mut s = Self::default();
        s.hi.copy_from_slice(&hi[..W]);
        s.lo.copy_from_slice(&lo[..W]);
        s
    }

    #[inline(always)]
    fn step(&mut self, p: [f64; W], e: [f64; W]) {
        let s: [f64; W] = std::array::from_fn(|i| self.hi[i] + p[i]);
        let t: [f64; W] = std::array::from_fn(|i| s[i] - self.hi[i]);
        let t: [f64; W] = std::array::from_fn(|i| (self.hi[i] - (s[i] - t[i])) + (p[i] - t[i]));
        self.lo = std::array::from_fn(|i| self.lo[i] + (t[i] + e[i]));
        self.hi = s;
    }

    /// `self += a b` with one `a`.
    #[inline(always)]
    pub(super) fn add_simple(&mut self, a: Double, b: &[f64; W]) {
        let p: [f64; W] = std::array::from_fn(|i| a.hi * b[i]);
        let e = std::array::from_fn(|i| a.lo.mul_add(b[i], a.hi.mul_add(b[i], -p[i])));
        self.step(p, e);
    }

    /// `self += a b` with one `b`.
    #[inline(always)]
    pub(super) fn add_each_simple(&mut self, a: &Self, b: f64) {
        let p: [f64; W] = std::array::from_fn(|i| a.hi[i] * b);
        let e = std::array::from_fn(|i| a.lo[i].mul_add(b, a.hi[i].mul_add(b, -p[i])));
        self.step(p, e);
    }

    /// `self += a b` with one `b`.
    #[inline(always)]
    pub(super) fn add_each(&mut self, a: &Self, b: Double) {
        let p: [f64; W] = std::array::from_fn(|i| a.hi[i] * b.hi);
        let e = std::array::from_fn(|i| {
            a.lo[i].mul_add(b.hi, a.hi[i].mul_add(b.lo, a.hi[i].mul_add(b.hi, -p[i])))
        });
        self.step(p, e);
    }

    /// `self += other`.
    #[inline(always)]
    pub(super) fn merge(&mut self, other: Self) {
        self.step(other.hi, other.lo);
    }

    /// In order.
    #[inline(always)]
    pub(super) fn values(self) -> Self {
        let hi: [f64; W] = std::array::from_fn(|i| self.hi[i] + self.lo[i]);
        Sums { hi, lo: std::array::from_fn(|i| self.lo[i] - (hi[i] - self.hi[i])) }
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> Double {
        Double { hi: self.hi[i], lo: self.lo[i] }
    }
}

/// Matrix of one contact, column after column, padded with zeros to four rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns(pub [Sums<4>; 3]);

impl Columns {
    #[inline(always)]
    pub(super) fn new(m: &[[Double; 3]; 3]) -> Columns {
        let mut c = Columns::default();
        for (i, row) in m.iter().enumerate() {
            for (j, x) in row.iter().enumerate() {
                (c.0[j].hi[i], c.0[j].lo[i]) = (x.hi, x.lo);
            }
        }
        c
    }

    #[inline(always)]
    pub(super) fn transposed(&self) -> Columns {
        let mut c = Columns::default();
        for i in 0..3 {
            for j in 0..3 {
                (c.0[j].hi[i], c.0[j].lo[i]) = (self.0[i].hi[j], self.0[i].lo[j]);
            }
        }
        c
    }

    /// Matrix times vector.
    #[inline(always)]
    pub(super) fn times(&self, y: [Double; 3]) -> Sums<4> {
        let mut sum = Sums::default();
        for (c, y) in self.0.iter().zip(y) {
            sum.add_each(c, y);
        }
        sum.values()
    }
}

/// Lanes of the loops below.
const LANES: usize = 8;

/// `x −= f y`.
#[inline(always)]
pub(super) fn subtract(f: Double, yh: &[f64], yl: &[f64], xh: &mut [f64], xl: &mut [f64]) {
    let n = xh.len();
    let (yh, yl, xl) = (&yh[..n], &yl[..n], &mut xl[..n]);
    let f = -f;
    for i in 0..n {
        let mut v = Sum { hi: xh[i], lo: xl[i] };
        v.add(f, Double { hi: yh[i], lo: yl[i] });
        let v = v.value();
        (xh[i], xl[i]) = (v.hi, v.lo);
    }
}

/// `x −= Σ_k f_k y_k` for `n` rows `y_k` of `data`; coefficients and rows begin at the first number and follow each other at the second.
#[inline(always)]
pub(super) fn subtract_rows(
    data: &Doubles,
    factors: &Doubles,
    n: usize,
    coef: (usize, usize),
    rows: (usize, usize),
    xh: &mut [f64],
    xl: &mut [f64],
) {
    let width = xh.len();
    let mut j = 0;
    while j + LANES <= width {
        tile::<LANES>(data, factors, n, coef, (rows.0 + j, rows.1), &mut xh[j..], &mut xl[j..]);
        j += LANES;
    }
    if j + 4 <= width {
        tile::<4>(data, factors, n, coef, (rows.0 + j, rows.1), &mut xh[j..], &mut xl[j..]);
        j += 4;
    }
    if j + 2 <= width {
        tile::<2>(data, factors, n, coef, (rows.0 + j, rows.1), &mut xh[j..], &mut xl[j..]);
        j += 2;
    }
    if j < width {
        tile::<1>(data, factors, n, coef, (rows.0 + j, rows.1), &mut xh[j..], &mut xl[j..]);
    }
}

/// The first `W` entries of [`subtract_rows`].
#[inline(always)]
fn tile<const W: usize>(
    data: &Doubles,
    factors: &Doubles,
    n: usize,
    coef: (usize, usize),
    rows: (usize, usize),
    xh: &mut [f64],
    xl: &mut [f64],
) {
    let (mut h, mut l) = ([0.0; W], [0.0; W]);
    h.copy_from_slice(&xh[..W]);
    l.copy_from_slice(&xl[..W]);
    for k in 0..n {
        let f = -factors.get(coef.0 + k * coef.1);
        let at = rows.0 + k * rows.1;
        let (yh, yl) = (&data.hi[at..at + W], &data.lo[at..at + W]);
        for i in 0..W {
            let mut sum = Sum { hi: h[i], lo: l[i] };
            sum.add(f, Double { hi: yh[i], lo: yl[i] });
            (h[i], l[i]) = (sum.hi, sum.lo);
        }
    }
    for i in 0..W {
        let v = quick(h[i], l[i]);
        (xh[i], xl[i]) = (v.hi, v.lo);
    }
}

/// `Σ a b`, in eight sums and a fixed order.
#[inline(always)]
pub(super) fn dot(ah: &[f64], al: &[f64], bh: &[f64], bl: &[f64]) -> Double {
    let n = ah.len();
    let (al, bh, bl) = (&al[..n], &bh[..n], &bl[..n]);
    let full = n / LANES * LANES;
    let mut rest = Sum::default();
    if full > 0 {
        let mut sum = [Sum::default(); LANES];
        let mut i = 0;
        while i < full {
            let (ah, al, bh, bl) =
                (&ah[i..i + LANES], &al[i..i + LANES], &bh[i..i + LANES], &bl[i..i + LANES]);
            for l in 0..LANES {
                sum[l].add(Double { hi: ah[l], lo: al[l] }, Double { hi: bh[l], lo: bl[l] });
            }
            i += LANES;
        }
        // halves onto each other
        let mut width = LANES / 2;
        while width > 0 {
            for l in 0..width {
                let (s, t) = two_sum(sum[l].hi, sum[l + width].hi);
                sum[l] = Sum { hi: s, lo: sum[l].lo + sum[l + width].lo + t };
            }
            width /= 2;
        }
        rest = sum[0];
    }
    for k in full..n {
        rest.add(Double { hi: ah[k], lo: al[k] }, Double { hi: bh[k], lo: bl[k] });
    }
    rest.value()
}

/// Inverse of the leading `d × d` part by cofactors; zero when there is none.
#[inline(always)]
pub(super) fn inverse3(m: &[[f64; 3]; 3], d: usize) -> [[Double; 3]; 3] {
    let mut a = [[Double::default(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] =
                if i < d && j < d { Double::new(m[i][j]) } else { Double::new(f64::from(u8::from(i == j))) };
        }
    }
    let mut cofactor = [[Double::default(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let (r, s, p, q) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            cofactor[i][j] = a[r][p] * a[s][q] - a[r][q] * a[s][p];
        }
    }
    let det = a[0][0] * cofactor[0][0] + a[0][1] * cofactor[0][1] + a[0][2] * cofactor[0][2];
    let inv = det.inverse();
    let mut out = [[Double::default(); 3]; 3];
    if inv.hi.is_finite() && inv.hi != 0.0 {
        for i in 0..d {
            for j in 0..d {
                out[i][j] = cofactor[j][i] * inv;
            }
        }
    }
    out
}

//! Dense LU of a panel, blocked (METH-CONE-LINALG)
//!
//! A panel is `n` rows of length `n + s` (row-major): the square part is factored with partial pivoting by rows, the
//! rest is multiplied by `L⁻¹`. Every entry is updated in the order of the pivots whatever the block size or the width
//! of the vector unit, so the bits do not depend on the machine's vector length. Blocks of [`BLOCK`] columns, then one
//! matrix product on tiles of 4 × 8 held in registers.

/// Run `f(data)` compiled for the widest vector unit of the machine, without fused operations, so that the bits are the same on all.
/// `f` is a closure marked `#[inline(always)]` that captures nothing: anything else is called, not inlined, and stays narrow.
#[inline(always)]
pub(crate) fn widest<T, R>(data: T, f: impl Fn(T) -> R) -> R {
    struct Job<T, F>(T, F);
    impl<T, R, F: Fn(T) -> R> pulp::NullaryFnOnce for Job<T, F> {
        type Output = R;
        #[inline(always)]
        fn call(self) -> R {
            (self.1)(self.0)
        }
    }
    pulp::Arch::new().dispatch(Job(data, f))
}

/// Columns per block.
const BLOCK: usize = 24;
/// Tile width of the product.
const TILE: usize = 8;

/// Factor in place; `perm[k]` = row that came to place `k` (transpositions in sequence). Returns smallest and largest
/// pivot magnitude and the sign of the determinant.
#[inline(always)]
pub(crate) fn factor(a: &mut [f64], n: usize, ld: usize, perm: &mut [usize]) -> (f64, f64, f64) {
    let (mut lo, mut hi, mut sign) = (f64::INFINITY, 0.0_f64, 1.0);
    let mut k0 = 0;
    while k0 < n {
        let k1 = (k0 + BLOCK).min(n);
        // the block column, unblocked
        for k in k0..k1 {
            let mut p = k;
            let mut best = a[k * ld + k].abs();
            for i in k + 1..n {
                let v = a[i * ld + k].abs();
                if v > best {
                    best = v;
                    p = i;
                }
            }
            perm[k] = p;
            if p != k {
                let (top, bottom) = a.split_at_mut(p * ld);
                top[k * ld..k * ld + ld].swap_with_slice(&mut bottom[..ld]);
                sign = -sign;
            }
            let pivot = a[k * ld + k];
            lo = lo.min(pivot.abs());
            hi = hi.max(pivot.abs());
            if pivot < 0.0 {
                sign = -sign;
            }
            if pivot == 0.0 || !pivot.is_finite() {
                sign = 0.0;
                continue;
            }
            let inv = 1.0 / pivot;
            let (top, bottom) = a.split_at_mut((k + 1) * ld);
            let rk = &top[k * ld + k + 1..k * ld + k1];
            for row in bottom.chunks_exact_mut(ld).take(n - k - 1) {
                let f = row[k] * inv;
                row[k] = f;
                for (x, y) in row[k + 1..k1].iter_mut().zip(rk) {
                    *x -= f * y;
                }
            }
        }
        // rows of the block to the right of it
        for k in k0..k1 {
            let (top, bottom) = a.split_at_mut((k + 1) * ld);
            let rk = &top[k * ld + k1..k * ld + ld];
            for row in bottom.chunks_exact_mut(ld).take(k1 - k - 1) {
                let f = row[k];
                if f != 0.0 {
                    for (x, y) in row[k1..].iter_mut().zip(rk) {
                        *x -= f * y;
                    }
                }
            }
        }
        // everything below and to the right
        let (top, bottom) = a.split_at_mut(k1 * ld);
        let b = &top[k0 * ld..];
        let mut rows = bottom.chunks_exact_mut(4 * ld);
        let below = n - k1;
        for four in rows.by_ref().take(below / 4) {
            let (r0, rest) = four.split_at_mut(ld);
            let (r1, rest) = rest.split_at_mut(ld);
            let (r2, r3) = rest.split_at_mut(ld);
            let mut c = [[0.0; 4]; BLOCK];
            for k in k0..k1 {
                c[k - k0] = [r0[k], r1[k], r2[k], r3[k]];
            }
            sub_four(&c[..k1 - k0], b, ld, k1, [&mut r0[k1..], &mut r1[k1..], &mut r2[k1..], &mut r3[k1..]]);
        }
        for i in k1 + below / 4 * 4..n {
            let (top, bottom) = a.split_at_mut(i * ld);
            let row = &mut bottom[..ld];
            for k in k0..k1 {
                let f = row[k];
                for (x, y) in row[k1..].iter_mut().zip(&top[k * ld + k1..k * ld + ld]) {
                    *x -= f * y;
                }
            }
        }
        k0 = k1;
    }
    (lo, hi, sign)
}

/// `row_i −= Σ_k c[k][i] b[k][from..]` for four rows at once.
#[inline(always)]
pub(crate) fn sub_four(c: &[[f64; 4]], b: &[f64], ld: usize, from: usize, rows: [&mut [f64]; 4]) {
    let [r0, r1, r2, r3] = rows;
    let w = r0.len();
    let mut j = 0;
    while j + TILE <= w {
        tile::<TILE>(c, b, ld, from, j, [r0, r1, r2, r3]);
        j += TILE;
    }
    if j + 4 <= w {
        tile::<4>(c, b, ld, from, j, [r0, r1, r2, r3]);
        j += 4;
    }
    if j + 2 <= w {
        tile::<2>(c, b, ld, from, j, [r0, r1, r2, r3]);
        j += 2;
    }
    if j < w {
        tile::<1>(c, b, ld, from, j, [r0, r1, r2, r3]);
    }
}

/// `W` columns from `j` on, held in registers.
#[inline(always)]
fn tile<const W: usize>(c: &[[f64; 4]], b: &[f64], ld: usize, from: usize, j: usize, rows: [&mut [f64]; 4]) {
    let [r0, r1, r2, r3] = rows;
    let mut t = [[0.0; W]; 4];
    t[0].copy_from_slice(&r0[j..j + W]);
    t[1].copy_from_slice(&r1[j..j + W]);
    t[2].copy_from_slice(&r2[j..j + W]);
    t[3].copy_from_slice(&r3[j..j + W]);
    for (k, f) in c.iter().enumerate() {
        let at = k * ld + from + j;
        let mut y = [0.0; W];
        y.copy_from_slice(&b[at..at + W]);
        for l in 0..W {
            t[0][l] -= f[0] * y[l];
            t[1][l] -= f[1] * y[l];
            t[2][l] -= f[2] * y[l];
            t[3][l] -= f[3] * y[l];
        }
    }
    r0[j..j + W].copy_from_slice(&t[0]);
    r1[j..j + W].copy_from_slice(&t[1]);
    r2[j..j + W].copy_from_slice(&t[2]);
    r3[j..j + W].copy_from_slice(&t[3]);
}

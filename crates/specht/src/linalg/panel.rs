//! Dense LU of a panel, blocked (METH-CONE-LINALG)
//!
//! A panel is `n` rows of length `n + s` (row-major): the square part is factored with partial pivoting by rows, the
//! rest is multiplied by `L⁻¹`. Every entry is updated in the order of the pivots whatever the block size or the width
//! of the vector unit, so the bits do not depend on the machine's vector length. Blocks of [`BLOCK`] columns, then one
//! matrix product on tiles of 6 × 8 held in registers, the other factor copied side by side.

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
const BLOCK: usize = 32;
/// Rows and columns of a tile of a product; both kinds of vector registers hold it, and six rows are those of a body.
pub(crate) const ROWS: usize = 6;
const TILE: usize = 8;
/// Tiles side by side: what is multiplied stays in the first cache.
const TILES: usize = 8;

/// A block of at most [`BLOCK`] rows of a matrix, [`TILES`] tiles wide, tile after tile.
#[derive(Clone, Debug)]
pub(crate) struct Strip {
    depth: usize,
    width: usize,
    data: [[f64; TILE]; BLOCK * TILES],
}

impl Default for Strip {
    fn default() -> Strip {
        Strip::new()
    }
}

impl Strip {
    const WIDTH: usize = TILE * TILES;

    #[inline(always)]
    pub(crate) fn new() -> Strip {
        Strip { depth: 0, width: 0, data: [[0.0; TILE]; BLOCK * TILES] }
    }

    /// `width` columns from `from` on of the first `depth` rows of `b`; what is missing in the last tile is zero.
    #[inline(always)]
    fn load(&mut self, b: &[f64], ld: usize, from: usize, width: usize, depth: usize) {
        (self.depth, self.width) = (depth, width);
        for (k, row) in b.chunks(ld).take(depth).enumerate() {
            let (whole, rest) = row[from..from + width].as_chunks::<TILE>();
            for (j, y) in whole.iter().enumerate() {
                self.data[j * depth + k] = *y;
            }
            if !rest.is_empty() {
                let last = &mut self.data[whole.len() * depth + k];
                *last = [0.0; TILE];
                last[..rest.len()].copy_from_slice(rest);
            }
        }
    }

    /// `t −= c b` for tile `j`.
    #[inline(always)]
    fn subtract(&self, c: &[[f64; ROWS]], j: usize, t: &mut [[f64; TILE]; ROWS]) {
        let mut s = *t;
        for (f, y) in c.iter().zip(&self.data[j * self.depth..(j + 1) * self.depth]) {
            for r in 0..ROWS {
                for l in 0..TILE {
                    s[r][l] -= f[r] * y[l];
                }
            }
        }
        *t = s;
    }

    /// `rows −= c b`: `rows` begins at the first column of the strip and has at most [`ROWS`] rows.
    #[inline(always)]
    fn subtract_from(&self, c: &[[f64; ROWS]], rows: &mut [f64], ld: usize, count: usize) {
        let mut j = 0;
        while j < self.width {
            let w = (self.width - j).min(TILE);
            let mut t = [[0.0; TILE]; ROWS];
            for r in 0..count {
                let from = &rows[r * ld + j..r * ld + j + w];
                match from.first_chunk::<TILE>() {
                    Some(x) => t[r] = *x,
                    None => t[r][..w].copy_from_slice(from),
                }
            }
            self.subtract(c, j / TILE, &mut t);
            for r in 0..count {
                let to = &mut rows[r * ld + j..r * ld + j + w];
                match to.first_chunk_mut::<TILE>() {
                    Some(x) => *x = t[r],
                    None => to.copy_from_slice(&t[r][..w]),
                }
            }
            j += TILE;
        }
    }
}

/// Factor in place; `perm[k]` = row that came to place `k` (transpositions in sequence). Returns smallest and largest
/// pivot magnitude and the sign of the determinant.
#[inline(always)]
pub(crate) fn factor(
    strip: &mut Strip,
    a: &mut [f64],
    n: usize,
    ld: usize,
    perm: &mut [usize],
) -> (f64, f64, f64) {
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
        below(strip, &top[k0 * ld..], bottom, ld, (k0, k1));
        k0 = k1;
    }
    (lo, hi, sign)
}

/// Most rows of [`factor_few`].
pub(crate) const FEW: usize = BLOCK;

/// Length of the rows of a matrix of `n` rows: whole vectors when they are few.
#[inline(always)]
pub(crate) fn stride(n: usize) -> usize {
    if n <= FEW { n.next_multiple_of(TILE) } else { n }
}

/// [`factor`] of at most [`FEW`] rows of length [`stride`], without remainders: the same operations on every entry in the same order.
#[inline(always)]
pub(crate) fn factor_few(a: &mut [f64], n: usize, perm: &mut [usize]) -> (f64, f64, f64) {
    let vectors = a.as_chunks_mut::<TILE>().0;
    match stride(n) / TILE {
        1 => factor_rows(vectors.as_chunks_mut::<1>().0, n, perm),
        2 => factor_rows(vectors.as_chunks_mut::<2>().0, n, perm),
        3 => factor_rows(vectors.as_chunks_mut::<3>().0, n, perm),
        _ => factor_rows(vectors.as_chunks_mut::<4>().0, n, perm),
    }
}

#[inline(always)]
fn factor_rows<const W: usize>(
    rows: &mut [[[f64; TILE]; W]],
    n: usize,
    perm: &mut [usize],
) -> (f64, f64, f64) {
    let (mut lo, mut hi, mut sign) = (f64::INFINITY, 0.0_f64, 1.0);
    let (rows, perm) = (&mut rows[..n], &mut perm[..n]);
    // the present column from its pivot on
    let mut column = [0.0; FEW];
    for (c, row) in column.iter_mut().zip(&*rows) {
        *c = row[0][0];
    }
    for k in 0..n {
        let (v, l) = (k / TILE, k % TILE);
        let (p, pivot) = (largest(&column, k, n), rows[k][v][l]);
        let pivot = if p == k { pivot } else { column[p] };
        perm[k] = p;
        if p != k {
            rows.swap(p, k);
            column[p] = column[k];
            sign = -sign;
        }
        lo = lo.min(pivot.abs());
        hi = hi.max(pivot.abs());
        if pivot < 0.0 {
            sign = -sign;
        }
        // next column
        let (nv, nl) = ((k + 1).min(n - 1) / TILE, (k + 1) % TILE);
        if pivot == 0.0 || !pivot.is_finite() {
            sign = 0.0;
            column[k] = 0.0;
            for i in k + 1..n {
                column[i] = rows[i][nv][nl];
            }
            continue;
        }
        let inv = 1.0 / pivot;
        // zeros up to the pivot: whole vectors are subtracted
        let mut y = rows[k];
        y[v] = std::array::from_fn(|j| if j <= l { 0.0 } else { y[v][j] });
        let here: [bool; TILE] = std::array::from_fn(|j| j == l);
        column[k] = 0.0;
        for (row, c) in rows[k + 1..].iter_mut().zip(&mut column[k + 1..n]) {
            let f = *c * inv;
            // the factor is written with its vector: a number alone would have to reach memory before the vector is read again
            let x = minus(&row[v], f, &y[v]);
            row[v] = std::array::from_fn(|j| if here[j] { f } else { x[j] });
            for (x, y) in row[v + 1..].iter_mut().zip(&y[v + 1..]) {
                *x = minus(x, f, y);
            }
            *c = row[nv][nl];
        }
    }
    (lo, hi, sign)
}

/// `x − f y`.
#[inline(always)]
fn minus(x: &[f64; TILE], f: f64, y: &[f64; TILE]) -> [f64; TILE] {
    std::array::from_fn(|j| x[j] - f * y[j])
}

/// First of the largest entries of a column from `k` to `n`; those before it are zero. `k` when none is a number.
#[inline(always)]
fn largest(column: &[f64; FEW], k: usize, n: usize) -> usize {
    let mut most = [0.0_f64; TILE];
    for c in column.as_chunks::<TILE>().0 {
        for l in 0..TILE {
            let x = c[l].abs();
            most[l] = if x > most[l] { x } else { most[l] };
        }
    }
    let best = most.iter().fold(0.0_f64, |m, x| if *x > m { *x } else { m });
    (k..n).find(|&i| column[i].abs() == best).unwrap_or(k)
}

/// Rows below a factored block `k0 .. k1` of columns: `row −= row[k0 .. k1] b` to the right of it.
#[inline(always)]
fn below(strip: &mut Strip, b: &[f64], rows: &mut [f64], ld: usize, (k0, k1): (usize, usize)) {
    let mut from = k1;
    while from < ld && !rows.is_empty() {
        let width = (ld - from).min(Strip::WIDTH);
        strip.load(b, ld, from, width, k1 - k0);
        for six in rows.chunks_mut(ROWS * ld) {
            let count = six.len() / ld;
            let mut c = [[0.0; ROWS]; BLOCK];
            for r in 0..count {
                for (c, x) in c.iter_mut().zip(&six[r * ld + k0..r * ld + k1]) {
                    c[r] = *x;
                }
            }
            strip.subtract_from(&c[..k1 - k0], &mut six[from..], ld, count);
        }
        from += width;
    }
}

/// `x ← U⁻ᵀ x` for the `n` rows of length `s` of `x`, with the upper triangle of `u`.
#[inline(always)]
pub(crate) fn divide(strip: &mut Strip, x: &mut [f64], s: usize, u: &[f64], n: usize, ld: usize) {
    let mut k0 = 0;
    while k0 < n {
        let k1 = (k0 + BLOCK).min(n);
        for i in k0..k1 {
            let (done, row) = x.split_at_mut(i * s);
            let row = &mut row[..s];
            for j in k0..i {
                let f = u[j * ld + i];
                if f != 0.0 {
                    for (x, y) in row.iter_mut().zip(&done[j * s..j * s + s]) {
                        *x -= f * y;
                    }
                }
            }
            let inv = 1.0 / u[i * ld + i];
            row.iter_mut().for_each(|x| *x *= inv);
        }
        let (done, rows) = x[..n * s].split_at_mut(k1 * s);
        let mut from = 0;
        while from < s && k1 < n {
            let width = (s - from).min(Strip::WIDTH);
            strip.load(&done[k0 * s..], s, from, width, k1 - k0);
            for (g, six) in rows.chunks_mut(ROWS * s).enumerate() {
                let count = six.len() / s;
                let c = gather(&u[k0 * ld..], ld, k1 + g * ROWS, count, k1 - k0);
                strip.subtract_from(&c[..k1 - k0], &mut six[from..], s, count);
            }
            from += width;
        }
        k0 = k1;
    }
}

/// Columns `at .. at + count` of the first `depth` rows.
#[inline(always)]
fn gather(a: &[f64], ld: usize, at: usize, count: usize, depth: usize) -> [[f64; ROWS]; BLOCK] {
    let mut c = [[0.0; ROWS]; BLOCK];
    for (c, row) in c.iter_mut().zip(a.chunks(ld)).take(depth) {
        match row[at..at + count].first_chunk::<ROWS>() {
            Some(x) => *c = *x,
            None => c[..count].copy_from_slice(&row[at..at + count]),
        }
    }
    c
}

/// A product `−Σ_k aᵀ_k b_k` whose entries go to scattered places.
pub(crate) struct Product<'a> {
    /// coefficients: `count` columns from `first` on
    pub a: &'a [f64],
    pub lda: usize,
    pub first: usize,
    pub count: usize,
    /// rows: `width` columns from `from` on
    pub b: &'a [f64],
    pub ldb: usize,
    pub from: usize,
    pub width: usize,
    /// length of both sums
    pub n: usize,
}

impl Product<'_> {
    /// Entry `(i, j)` is added to `target[row[i] · ld + col[j] − shift]`; `col` ascends.
    #[inline(always)]
    pub(crate) fn scatter(
        &self,
        strip: &mut Strip,
        target: &mut [f64],
        ld: usize,
        row: &[u32],
        col: &[u32],
        shift: usize,
    ) {
        let mut k0 = 0;
        while k0 < self.n {
            let depth = (self.n - k0).min(BLOCK);
            let (a, b) = (&self.a[k0 * self.lda..], &self.b[k0 * self.ldb..]);
            let mut from = 0;
            while from < self.width {
                let width = (self.width - from).min(Strip::WIDTH);
                strip.load(b, self.ldb, self.from + from, width, depth);
                let mut i = 0;
                while i < self.count {
                    let count = (self.count - i).min(ROWS);
                    let c = gather(a, self.lda, self.first + i, count, depth);
                    for (j, col) in col[from..from + width].chunks(TILE).enumerate() {
                        let mut t = [[0.0; TILE]; ROWS];
                        strip.subtract(&c[..depth], j, &mut t);
                        for (t, &row) in t.iter().zip(&row[i..i + count]) {
                            add(t, &mut target[row as usize * ld..], col, shift);
                        }
                    }
                    i += count;
                }
                from += width;
            }
            k0 += depth;
        }
    }
}

/// One row of a tile to its places.
#[inline(always)]
fn add(t: &[f64; TILE], row: &mut [f64], col: &[u32], shift: usize) {
    let first = col[0] as usize - shift;
    if col.len() == TILE && col[TILE - 1] - col[0] == TILE as u32 - 1 {
        if let Some(x) = row[first..].first_chunk_mut::<TILE>() {
            for l in 0..TILE {
                x[l] += t[l];
            }
        }
        return;
    }
    for (x, &m) in t.iter().zip(col) {
        row[m as usize - shift] += x;
    }
}

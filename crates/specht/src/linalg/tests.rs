//! Identities that every factorisation must satisfy, on fixed pseudo-random matrices.

use std::sync::Arc;

use super::*;

/// A small linear congruential generator: the same numbers on every machine.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    /// In [−1, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn mat(&mut self, m: usize, n: usize) -> Mat {
        Mat::from_fn(m, n, |_, _| self.next())
    }
}

fn distance(a: &Mat, b: &Mat) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()))
}

#[test]
fn cholesky_multiplies_back_and_solves_for_all_sizes() {
    let mut rng = Numbers(1);
    for n in (1..40).chain([63, 64, 65, 130]) {
        let x = rng.mat(n, n + 3);
        let mut a = x.mul(&x.transpose());
        (0..n).for_each(|i| a[(i, i)] += 0.5);
        let mut c = Cholesky::default();
        c.factor(&a).unwrap();
        let l = Mat::from_fn(n, n, |i, j| if j <= i { c.factor_matrix()[(i, j)] } else { 0.0 });
        assert!(distance(&l.mul(&l.transpose()), &a) < 1e-13 * a.max_abs() * n as f64);
        let b: Vec<f64> = (0..n).map(|_| rng.next()).collect();
        let mut s = b.clone();
        c.solve(&mut s);
        let mut r = vec![0.0; n];
        a.mul_vec(&s, &mut r);
        assert!(r.iter().zip(&b).all(|(r, b)| (r - b).abs() < 1e-11));

        let some: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
        let sub = Mat::from_fn(some.len(), some.len(), |i, j| a[(some[i], some[j])]);
        let (mut c1, mut c2) = (Cholesky::default(), Cholesky::default());
        c1.factor(&sub).unwrap();
        c2.factor_principal(&a, &some).unwrap();
        let mut u = vec![1.0; some.len()];
        let mut v = u.clone();
        c1.solve(&mut u);
        c2.solve(&mut v);
        assert_eq!(u, v);
    }
    assert_eq!(Cholesky::default().factor(&Mat::from_rows(&[[1.0, 2.0], [2.0, 1.0]])), Err(1));
}

#[test]
fn determinant_is_multiplicative_and_matches_the_formula() {
    let mut rng = Numbers(2);
    let det = |a: &Mat| {
        let mut lu = Lu::default();
        lu.factor(a);
        lu.det()
    };
    assert!((det(&Mat::from_rows(&[[1.0, 2.0], [3.0, 4.0]])) + 2.0).abs() < 1e-15);
    for n in 1..8 {
        let (a, b) = (rng.mat(n, n), rng.mat(n, n));
        let (d, e) = (det(&a) * det(&b), det(&a.mul(&b)));
        assert!((d - e).abs() < 1e-12 * (1.0 + d.abs()), "{d} {e}");
    }
}

#[test]
fn rank_null_space_and_least_norm_solution_of_products_of_known_rank() {
    let mut rng = Numbers(3);
    for (m, n, r) in [(5, 7, 3), (7, 5, 3), (6, 6, 6), (4, 9, 4), (9, 4, 4), (8, 8, 1), (3, 3, 0)] {
        let a = if r == 0 { Mat::zeros(m, n) } else { rng.mat(m, r).mul(&rng.mat(r, n)) };
        let mut pivot = FullPivot::default();
        assert_eq!(pivot.factor(&a), r);
        let null = null_space(&a);
        assert_eq!(null.cols(), n - r);
        assert!(a.mul(&null).max_abs() < 1e-12);
        assert!(distance(&null.transpose().mul(&null), &Mat::identity(n - r)) < 1e-14);

        // a right side in the range is met, by an x orthogonal to the null space
        let (mut b, mut x, mut again) = (vec![0.0; m], vec![0.0; n], vec![0.0; m]);
        a.mul_vec(&(0..n).map(|_| rng.next()).collect::<Vec<f64>>(), &mut b);
        assert!(pivot.solve(&b, &[], &mut x) < 1e-12);
        a.mul_vec(&x, &mut again);
        assert!(again.iter().zip(&b).all(|(p, q)| (p - q).abs() < 1e-12));
        let mut along = vec![0.0; n - r];
        null.transpose().mul_vec(&x, &mut along);
        assert!(max_abs(&along) < 1e-12 * (1.0 + max_abs(&x)));
    }
}

#[test]
fn general_eigenvalues_of_companion_matrices_are_the_roots() {
    // (x² + 1)(x − 2)(x + 3)(x² − 2x + 5): roots ±i, 2, −3, 1 ± 2i
    let mut poly = vec![1.0];
    for f in [&[1.0, 0.0, 1.0][..], &[-2.0, 1.0], &[3.0, 1.0], &[5.0, -2.0, 1.0]] {
        let mut product = vec![0.0; poly.len() + f.len() - 1];
        for (i, p) in poly.iter().enumerate() {
            f.iter().enumerate().for_each(|(j, q)| product[i + j] += p * q);
        }
        poly = product;
    }
    let n = poly.len() - 1;
    let companion = Mat::from_fn(n, n, |i, j| {
        if j == n - 1 {
            -poly[i]
        } else if i == j + 1 {
            1.0
        } else {
            0.0
        }
    });
    let found = eigenvalues(&companion).unwrap();
    let roots = [(-3.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, -2.0), (1.0, 2.0), (2.0, 0.0)];
    assert_eq!(found.len(), n);
    for (re, im) in roots {
        assert!(
            found.iter().any(|z| (z.re - re).abs() < 1e-12 && (z.im - im).abs() < 1e-12),
            "{re} {im}: {found:?}"
        );
    }
}

#[test]
fn general_eigenvalues_have_the_trace_and_determinant_of_the_matrix() {
    let mut rng = Numbers(6);
    for n in 1..30 {
        let a = rng.mat(n, n);
        let e = eigenvalues(&a).unwrap();
        assert_eq!(e.len(), n);
        let trace: f64 = (0..n).map(|i| a[(i, i)]).sum();
        let sum: f64 = e.iter().map(|z| z.re).sum();
        assert!((trace - sum).abs() < 1e-12 * n as f64);
        assert!(e.iter().map(|z| z.im).sum::<f64>().abs() < 1e-12);
        let mut lu = Lu::default();
        lu.factor(&a);
        let product = e.iter().map(Complex::abs).product::<f64>();
        assert!((product / lu.det().abs() - 1.0).abs() < 1e-9, "n {n}");
    }
    assert!(eigenvalues(&Mat::from_rows(&[[f64::NAN]])).is_none());
    let badly_scaled = Mat::from_rows(&[[1.0, 1e8], [1e-8, 1.0]]); // eigenvalues 0 and 2
    let e = eigenvalues(&badly_scaled).unwrap();
    assert!(e[0].re.abs() < 1e-15 && (e[1].re - 2.0).abs() < 1e-15);
}

/// A random tree of unknowns: row i has entries at its ancestors.
fn tree_matrix(n: usize, r: &mut Numbers, loops: usize) -> Symmetric {
    let parent: Vec<Option<usize>> = (0..n)
        .map(|i| (i > 0 && r.next() < 0.8).then(|| (0.5 * (r.next() + 1.0) * i as f64) as usize))
        .collect();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for i in 0..n {
        let mut list = vec![i];
        let mut at = parent[i];
        while let Some(p) = at {
            list.push(p);
            at = parent[p];
        }
        rows.push(list);
    }
    let pick = |r: &mut Numbers| (0.5 * (r.next() + 1.0) * n as f64) as usize;
    for _ in 0..loops {
        let (a, b) = (pick(r), pick(r));
        rows[a.max(b)].push(a.min(b));
    }
    let mut m = Symmetric::on(Arc::new(Pattern::new(n, rows)));
    m.values_mut().iter_mut().for_each(|v| *v = 0.5 * r.next());
    for i in 0..n {
        m[(i, i)] = n as f64;
    }
    m
}

#[test]
fn the_sparse_factor_solves_what_the_dense_one_solves_with_and_without_loops() {
    let mut r = Numbers(5);
    let mut sparse = SparseCholesky::default();
    for (n, loops) in [(1, 0), (7, 0), (40, 0), (40, 25), (80, 10)] {
        let a = tree_matrix(n, &mut r, loops);
        let b: Vec<f64> = (0..n).map(|_| r.next()).collect();
        let mut dense = Cholesky::default();
        assert!(dense.factor(&a.to_dense()).is_ok() && sparse.factor(&a).is_ok());
        if loops == 0 {
            assert_eq!(sparse.entries(a.pattern()), a.values().len(), "a tree creates no new entry");
        }
        let (mut x, mut y) = (b.clone(), b.clone());
        dense.solve(&mut x);
        sparse.forward(&mut y);
        sparse.backward(&mut y);
        x.iter().zip(&y).for_each(|(x, y)| assert!((x - y).abs() < 1e-13, "{x} {y}"));
        let mut back = vec![0.0; n];
        a.mul_vec(&x, &mut back);
        back.iter().zip(&b).for_each(|(p, q)| assert!((p - q).abs() < 1e-12));
        assert!((a.form(&x) - dot(&x, &b)).abs() < 1e-12);
    }
    let mut singular = tree_matrix(5, &mut r, 0);
    singular[(2, 2)] = -1.0;
    assert!(sparse.factor(&singular).is_err());
}

#[test]
fn rows_read_as_their_dense_form() {
    let pattern = Arc::new(Pattern::new(6, [vec![4, 1], vec![], vec![0, 5, 2]]));
    let mut w = Rows::on(pattern);
    w.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, -4.0, 5.0]);
    assert_eq!(w.row(0).to_vec(), [0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
    assert_eq!(w.row(2).to_vec(), [3.0, 0.0, -4.0, 0.0, 0.0, 5.0]);
    assert_eq!((w[(0, 4)], w[(0, 0)], w.row(1).values().len()), (2.0, 0.0, 0));
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!((w.row(2).dot(&x), w.row(2).terms(&x), w.row(2).square()), (21.0, 45.0, 50.0));
    assert_eq!(w.row(0).product(w.row(2), &[1.0; 6]), 0.0);
    let mut y = vec![0.0; 6];
    w.add_mul_transpose(&[1.0, 0.0, 2.0], &mut y);
    assert_eq!(y, [6.0, 1.0, -8.0, 0.0, 2.0, 10.0]);
    let full = Rows::from_rows(&[w.row(0).to_vec(), w.row(1).to_vec(), w.row(2).to_vec()]);
    assert_eq!(full.row(2).dot(&x), 21.0);
}

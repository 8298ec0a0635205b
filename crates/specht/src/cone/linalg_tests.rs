//! The factorisations of the cone module against each other and against exact answers.

use super::blocklu::BlockLu;
use super::cascade::{Counts, Settings};
use super::cones::Way;
use super::double::{Double, Doubles, inverse3};
use super::finelu::FineLu;
use super::interior::{Digits, Dir, Path, Work};
use super::prep::Prep;
use super::problems::{Rng, heap};
use super::repair::repair;
use super::wide;
use crate::linalg::{Lu, Mat, panel};
use crate::stop::{Clock, Stop};

/// METH-CONE-LINALG: block LU against dense LU on a random graph with late nodes of zero diagonal, solution and sign.
#[test]
fn meth_cone_linalg_block_lu_agrees_with_dense_lu() {
    let mut rng = Rng::new(5);
    for trial in 0..40 {
        let bodies = 3 + trial % 9;
        let extra = trial % 4;
        let mut size: Vec<usize> = (0..bodies).map(|_| 1 + rng.below(6)).collect();
        size.extend(std::iter::repeat_n(1, extra));
        let n = size.len();
        let wait: Vec<bool> = (0..n).map(|i| i >= bodies).collect();
        let mut adj = vec![Vec::new(); n];
        for i in 0..n {
            for j in 0..i {
                if i == j + 1 || (j < bodies && rng.uniform() < 0.3) {
                    if i >= bodies && j >= bodies {
                        continue;
                    }
                    adj[i].push(j);
                    adj[j].push(i);
                }
            }
        }
        for i in bodies..n {
            if adj[i].is_empty() {
                adj[i].push(0);
                adj[0].push(i);
            }
        }
        agrees(&mut rng, &size, &adj, &wait);
    }
}

/// METH-CONE-LINALG: the same where a supernode is wider than a block of its panel and meets more columns than lie side by side.
#[test]
fn meth_cone_linalg_block_lu_agrees_with_dense_lu_on_wide_supernodes() {
    let mut rng = Rng::new(6);
    let size: Vec<usize> = (0..46).map(|_| 1 + rng.below(6)).collect();
    // two cliques that meet in a third
    let group = |i: usize| usize::from(i >= 14) + usize::from(i >= 25);
    let adj: Vec<Vec<usize>> = (0..size.len())
        .map(|i| {
            let near = |j: usize| group(i) == group(j) || group(i) == 2 || group(j) == 2;
            (0..size.len()).filter(|&j| j != i && near(j)).collect()
        })
        .collect();
    agrees(&mut rng, &size, &adj, &vec![false; size.len()]);
}

/// Random values on a pattern: solution and sign by block LU, with simple and with twice the digits, and by dense LU.
fn agrees(rng: &mut Rng, size: &[usize], adj: &[Vec<usize>], wait: &[bool]) {
    let start: Vec<usize> = size
        .iter()
        .scan(0, |s, &x| {
            let a = *s;
            *s += x;
            Some(a)
        })
        .collect();
    let total: usize = size.iter().sum();
    let mut a = Mat::zeros(total, total);
    let mut lu = BlockLu::default();
    lu.analyse(size, adj, wait);
    lu.values().fill(0.0);
    let mut fine = FineLu::default();
    fine.start(&lu);
    for i in 0..size.len() {
        for &j in adj[i].iter().chain([&i]) {
            if i == j && wait[i] {
                continue;
            }
            let slot = lu.slot(i, j);
            for r in 0..size[i] {
                for c in 0..size[j] {
                    let v = rng.normal() + if i == j && r == c { 12.0 } else { 0.0 };
                    a[(start[i] + r, start[j] + c)] = v;
                    let at = slot.at + r * slot.row + c * slot.col;
                    lu.values()[at] = v;
                    fine.data.hi[at] = v;
                }
            }
        }
    }
    lu.factor();
    fine.factor(&lu);
    let b: Vec<f64> = (0..total).map(|_| rng.normal()).collect();
    let (mut x, mut y) = (b.clone(), b.clone());
    let mut z = Doubles { hi: b.clone(), lo: vec![0.0; total] };
    fine.solve(&lu, &mut z);
    lu.solve(&mut x);
    let mut dense = Lu::default();
    dense.factor(&a);
    dense.solve(&mut y);
    let scale = crate::linalg::max_abs(&y);
    assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-8 * scale), "{size:?}");
    assert!(z.hi.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-8 * scale), "{size:?}");
    assert_eq!([lu.sign_det(), fine.sign_det()], [dense.sign_det(); 2], "{size:?}");
}

/// METH-CONE-LINALG: one direction of a body is held 1e14 times stiffer than the others. `A = 1e14 e eᵀ + I` and `A x` for `x = 1 … 6` are
/// whole numbers, so the answer is known exactly; half of its digits are lost in simple precision, none with twice the digits.
#[test]
fn meth_cone_linalg_soft_directions_survive_beside_stiff_ones() {
    const STIFF: f64 = 1e14;
    let mut lu = BlockLu::default();
    lu.analyse(&[6], &[Vec::new()], &[false]);
    let mut fine = FineLu::default();
    fine.start(&lu);
    lu.values().fill(0.0);
    for i in 0..6 {
        for j in 0..6 {
            let v = STIFF + f64::from(u8::from(i == j));
            lu.values()[6 * i + j] = v;
            fine.data.hi[6 * i + j] = v;
        }
    }
    let b: Vec<f64> = (1..=6).map(|i| 21.0 * STIFF + f64::from(i)).collect();
    let mut x = b.clone();
    lu.factor();
    lu.solve(&mut x);
    fine.factor(&lu);
    let mut y = Doubles { hi: b, lo: vec![0.0; 6] };
    fine.solve(&lu, &mut y);
    let error = |x: &[f64]| x.iter().zip(1..).map(|(x, i)| (x - f64::from(i)).abs()).fold(0.0, f64::max);
    assert!(error(&x) > 1e-6 && error(&y.hi) < 1e-14, "{} {}", error(&x), error(&y.hi));
}

/// METH-CONE-LINALG: sums, products and inverses with twice the digits keep what a simple sum forgets.
#[test]
fn meth_cone_linalg_double_numbers_keep_what_simple_ones_forget() {
    let third = Double::new(3.0).inverse();
    assert_eq!((third * 3.0 + -1.0).hi.abs().max(1e-31), 1e-31);
    let big = Double::new(1e20) + 1.0;
    assert_eq!((big - Double::new(1e20)).hi, 1.0);
    // (1 + ε)² − 1 − 2ε = ε²
    let e = 2f64.powi(-40);
    let one = Double::new(1.0) + e;
    assert_eq!((one * one + -1.0 + -2.0 * e).hi, e * e);
    // inverse of a matrix with eigenvalues 1e12 + 1 and 1
    let inv = inverse3(&[[1e12, 1e12, 0.0], [1e12, 1e12 + 1.0, 0.0], [0.0, 0.0, 2.0]], 3);
    assert_eq!([inv[0][0].hi, inv[0][1].hi, inv[1][1].hi, inv[2][2].hi], [1.0 + 1e-12, -1.0, 1.0, 0.5]);
}

/// METH-CONE-LINALG: near the end of a path of a heap of spheres, refined simple factorisations give the direction and the sign that twice
/// the digits give, and say that they do.
#[test]
fn meth_cone_linalg_refinement_replaces_twice_the_digits_on_heaps() {
    let mut prep = Prep::default();
    prep.load(&heap(40, 0.5, 3)).unwrap();
    let island = &mut prep.islands[0];
    let rows = island.m;
    let cones = island.cones.len();
    let mut path = Path { island, w: &mut Work::default(), way: Way::Split(1.0), tol: 1e-8 };
    path.start(1.0);
    let run = wide::Run { low: 0.1, high: 30.0, fraction: 0.95, iterations: 0, until: 0.0 };
    let mut tau = 1.0;
    while tau > 1e-5 {
        let at = path.measure(&path.w.part);
        let residual = path.residual();
        path.factor(Digits::Simple, at.tau);
        wide::step(&mut path, &run, at, residual, false);
        path.accept();
        tau = at.tau;
    }
    path.residual();
    let right = path.w.r.clone();
    let mut found = Vec::new();
    for digits in [Digits::Refined, Digits::Twice] {
        path.factor(digits, tau);
        let mut d = Dir::default();
        d.resize(rows, cones);
        path.direction(Some(&right), &mut d);
        assert!(path.sure());
        found.push((d.x, path.island.form.sign_det()));
    }
    let size = crate::linalg::max_abs(&found[1].0);
    assert!(found[0].0.iter().zip(&found[1].0).all(|(x, y)| (x - y).abs() < 1e-8 * size));
    assert_eq!(found[0].1, found[1].1);
}

/// METH-CONE-LINALG: few rows are factored in whole vectors with the bits of the general factorisation; what is no number stays one.
#[test]
fn meth_cone_linalg_few_rows_are_factored_like_many() {
    let mut rng = Rng::new(17);
    for n in 1..=panel::FEW {
        let ld = panel::stride(n);
        for kind in 0..3 {
            let mut plain: Vec<f64> = (0..n * n).map(|_| rng.normal()).collect();
            if kind > 0 {
                // a column without a pivot
                let column = rng.below(n);
                (0..n).for_each(|i| plain[i * n + column] = if kind == 1 { 0.0 } else { f64::NAN });
            }
            let mut few = vec![0.0; n * ld];
            for (to, from) in few.chunks_mut(ld).zip(plain.chunks(n)) {
                to[..n].copy_from_slice(from);
            }
            let (mut p, mut q) = (vec![0; n], vec![0; n]);
            let (_, _, sign) = panel::factor_few(&mut few, n, &mut p);
            if kind > 0 {
                assert_eq!(sign, 0.0, "{n} rows");
                continue;
            }
            let general = panel::factor(&mut panel::Strip::new(), &mut plain, n, n, &mut q);
            assert_eq!((general.2, p), (sign, q), "{n} rows");
            for (a, b) in few.chunks(ld).zip(plain.chunks(n)) {
                assert_eq!(&a[..n], b, "{n} rows");
            }
        }
    }
}

/// METH-CONE-LINALG: a large factorisation by several threads has the bits of one thread, and nested dissection solves the same system.
#[test]
fn meth_cone_linalg_threads_inside_an_island_do_not_change_a_bit() {
    let mut prep = Prep::default();
    prep.load(&heap(600, 0.5, 3)).unwrap();
    let island = &mut prep.islands[0];
    assert!(island.form.flops() > 1e8, "{:e}", island.form.flops());
    let one = [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0]];
    let k = &mut island.blocks;
    (k.plain, k.refine) = (true, 0);
    k.b.fill(one);
    k.binv.fill(super::kernel::inv3(&one, 3).unwrap());
    let right: Vec<f64> = (0..island.m).map(|i| (i % 7) as f64 - 3.0).collect();
    let mut solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut x = right.clone();
        island.form.set_limits(threads > 1, &Clock::new(None, Stop::default()));
        pool.install(|| {
            island.form.factor(&island.blocks);
            island.form.solve(&island.blocks, &mut x);
        });
        x
    };
    let (x, y) = (solve(1), solve(3));
    assert!(x.iter().zip(&y).all(|(a, b)| a.to_bits() == b.to_bits()));
    // B x + A x = g
    let mut left = vec![0.0; x.len()];
    island.form.mul(&x, &mut left);
    for c in &island.cones {
        let bx = super::kernel::mul3(&one, &c.rows.get(&x));
        (0..3).for_each(|l| left[c.rows.at + l] += bx[l]);
    }
    assert!(left.iter().zip(&right).all(|(a, b)| (a - b).abs() < 1e-9));
    // no time is left: the factorisation ends at once and says so
    island.form.set_limits(false, &Clock::new(Some(0.0), Stop::default()));
    island.form.factor(&island.blocks);
    assert_eq!(island.form.sign_det(), 0.0);
}

/// METH-CONE-REPAIR: where Newton stops because contacts in one place have the wrong mode, the place is solved alone.
#[test]
fn meth_cone_repair_a_disturbed_place_is_solved_alone() {
    let mut prep = Prep::default();
    prep.load(&heap(300, 0.5, 1)).unwrap();
    let island = &mut prep.islands[0];
    let clock = Clock::new(None, Stop::default());
    super::cascade::solve_island(island, &Settings::default(), false, &clock);
    assert!(island.report.scaled < 1e-8);
    // the impulses of the contacts of one sphere vanish, others around it double
    let mut x = island.x.clone();
    for c in &island.cones[400..430] {
        let f = if c.contact % 2 == 0 { 0.0 } else { 2.0 };
        c.rows.put(&c.rows.get(&x).map(|v| f * v), &mut x);
    }
    let mut u = vec![0.0; x.len()];
    island.velocity(&x, &mut u);
    let before = island.errors(&x, &u).max();
    let after = repair(island, &mut x, before, true, 1e-8, &clock, &mut Counts::default());
    assert!(before > 1e-3 && after < 1e-8, "{before:e} {after:e}");
}

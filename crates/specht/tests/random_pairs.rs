//! Random systems with frictional pairs: enumeration, transition problem and brute force agree; Painlevé's law of friction.

mod lab;
mod systems;

use lab::Dice;
use specht::analysis::{AnalysisError, Snapshot, Verdict, painleve};
use specht::inside::Patterns;
use specht::inside::Transition;
use specht::inside::{Classifier, painleve_at};
use specht::inside::{Free, Reactions};
use specht::linalg::Mat;
use specht::system::{ContactInfo, Normal, State};
use systems::{Hand, bilateral, state, unilateral};

/// A random system with `m` sliding pairs, the first `one_sided` of them unilateral.
struct Case {
    n: usize,
    m: usize,
    mass: Mat,
    h: Vec<f64>,
    w: Vec<Vec<f64>>,
    offset: Vec<f64>,
    mu: Vec<f64>,
    u: Vec<f64>,
    one_sided: usize,
}

impl Case {
    fn new(d: &mut Dice, m: usize, one_sided: usize, mu: f64) -> Case {
        let n = m + 1 + (3.0 * d.next()) as usize;
        let a: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| d.range(-1.0, 1.0)).collect()).collect();
        let mass = Mat::from_fn(n, n, |i, j| {
            (0..n).map(|k| a[i][k] * a[j][k]).sum::<f64>() + if i == j { 0.3 } else { 0.0 }
        });
        let mut vector = |k: usize| (0..k).map(|_| d.range(-1.0, 1.0)).collect::<Vec<f64>>();
        let (h, offset, u) = (vector(n), vector(2 * m), vector(n));
        let w = (0..2 * m).map(|_| vector(n)).collect();
        let mu = (0..m).map(|_| d.range(0.0, mu)).collect();
        Case { n, m, mass, h, w, offset, mu, u, one_sided }
    }

    fn hand(&self) -> Hand {
        let contacts: Vec<ContactInfo> = (0..self.m)
            .map(|a| match a < self.one_sided {
                true => unilateral(&format!("u{a}"), 2 * a, Some(2 * a + 1)),
                false => bilateral(&format!("b{a}"), 2 * a, 2 * a + 1),
            })
            .collect();
        let (mass, h, w, offset, mu, u, m) = (
            self.mass.clone(),
            self.h.clone(),
            self.w.clone(),
            self.offset.clone(),
            self.mu.clone(),
            self.u.clone(),
            self.m,
        );
        Hand::new(self.n, 2 * m, contacts, move |_, _, out| {
            out.mass = specht::linalg::Symmetric::from_dense(&mass);
            out.h.copy_from_slice(&h);
            for (i, row) in w.iter().enumerate() {
                out.w.row_mut(i).copy_from_slice(row);
                if i % 2 == 0 {
                    // the gap does not change
                    out.rate_offset[i] = -row.iter().zip(&u).map(|(a, b)| a * b).sum::<f64>();
                }
            }
            out.accel_offset.copy_from_slice(&offset);
            out.mu.copy_from_slice(&mu);
            out.mu_static.copy_from_slice(&mu);
        })
    }

    fn state(&self) -> State {
        state(&vec![0.0; self.n], &self.u)
    }

    fn slip(&self, a: usize) -> f64 {
        self.w[2 * a + 1].iter().zip(&self.u).map(|(w, u)| w * u).sum()
    }

    /// All solutions by the full saddle system and naive elimination, pattern by pattern.
    fn brute(&self) -> Vec<Vec<f64>> {
        let mut found = Vec::new();
        for pattern in 0..1u32 << self.m {
            let open = |a: usize| a < self.one_sided && pattern >> a & 1 == 1;
            let sign = |a: usize| if a >= self.one_sided && pattern >> a & 1 == 1 { -1.0 } else { 1.0 };
            let closed: Vec<usize> = (0..self.m).filter(|&a| !open(a)).collect();
            let size = self.n + closed.len();
            let mut k = vec![vec![0.0; size + 1]; size];
            for i in 0..self.n {
                for j in 0..self.n {
                    k[i][j] = self.mass[(i, j)];
                }
                for (c, &a) in closed.iter().enumerate() {
                    let friction = -self.slip(a).signum() * self.mu[a] * sign(a);
                    k[i][self.n + c] = -(self.w[2 * a][i] + friction * self.w[2 * a + 1][i]);
                }
                k[i][size] = self.h[i];
            }
            for (c, &a) in closed.iter().enumerate() {
                k[self.n + c][..self.n].copy_from_slice(&self.w[2 * a]);
                k[self.n + c][size] = -self.offset[2 * a];
            }
            let Some(x) = eliminate(k) else { continue };
            let mut r = vec![0.0; self.m];
            for (c, &a) in closed.iter().enumerate() {
                r[a] = x[self.n + c];
            }
            let opens = |a: usize| {
                self.w[2 * a].iter().zip(&x).map(|(w, v)| w * v).sum::<f64>() + self.offset[2 * a] >= 0.0
            };
            if (0..self.m).all(|a| if open(a) { opens(a) } else { sign(a) * r[a] >= 0.0 }) {
                found.push(r);
            }
        }
        found
    }
}

fn eliminate(mut k: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = k.len();
    for c in 0..n {
        let p = (c..n).max_by(|&i, &j| k[i][c].abs().total_cmp(&k[j][c].abs()))?;
        if k[p][c].abs() < 1e-13 {
            return None;
        }
        k.swap(c, p);
        let row = k[c].clone();
        for i in 0..n {
            if i != c {
                let f = k[i][c] / row[c];
                (c..=n).for_each(|j| k[i][j] -= f * row[j]);
            }
        }
    }
    Some((0..n).map(|i| k[i][n] / k[i][i]).collect())
}

fn agree(a: &[Vec<f64>], b: &[Vec<f64>]) -> bool {
    let near = |x: &Vec<f64>, y: &Vec<f64>| {
        let size = x.iter().chain(y).fold(1e-9_f64, |m, v| m.max(v.abs()));
        x.iter().zip(y).all(|(p, q)| (p - q).abs() <= 1e-6 * size)
    };
    a.len() == b.len() && a.iter().all(|x| b.iter().any(|y| near(x, y)))
}

/// ANH-5.1-MULTI, ANH-4.2-CRIT, ANHP-2-CRIT: 20 000 random systems with 1 to 6 pairs, one- and two-sided, no disagreement.
#[test]
fn classification_agrees_with_brute_force_on_20000_systems() {
    let mut dice = Dice(11);
    let mut seen = [0; 3];
    for k in 0..20_000 {
        let m = 1 + k % 6;
        let one_sided = if k % 3 == 0 { (dice.next() * (m as f64 + 1.0)) as usize } else { 0 };
        let case = Case::new(&mut dice, m, one_sided, 1.2);
        let hand = case.hand();
        let mut at = Snapshot::new(&hand);
        at.state = case.state();
        at.take(&hand).unwrap();
        let mut c = Classifier::default();
        let class = c.classify(&hand, &at).unwrap();
        let brute = case.brute();
        let found: Vec<Vec<f64>> = c.patterns.found().iter().map(|b| b.reactions.clone()).collect();
        assert!(agree(&found, &brute), "case {k}: {found:?} {brute:?}");
        let verdict = [Verdict::None, Verdict::Unique, Verdict::Several][brute.len().min(2)];
        assert_eq!(class.verdict, verdict);
        seen[brute.len().min(2)] += 1;
        if k % 10 == 0 {
            let set = Transition::default().solve(&hand.contacts, &at.eval, &at.starts);
            let other: Vec<Vec<f64>> = set.solutions.iter().map(|s| s.forces.normal.clone()).collect();
            assert!(set.complete && agree(&other, &brute), "case {k}: {other:?} {brute:?}");
        }
    }
    assert!(seen.iter().all(|&n| n > 300), "{seen:?}");
}

/// Below the critical factor the solution is unique for every load; at it a determinant vanishes (definition in `critical`).
#[test]
fn below_the_critical_factor_every_load_has_one_solution() {
    let mut dice = Dice(12);
    for _ in 0..300 {
        let m = 1 + (4.0 * dice.next()) as usize;
        let mut case = Case::new(&mut dice, m, 0, 1.0);
        let reactions = |case: &Case| {
            let hand = case.hand();
            let mut at = Snapshot::new(&hand);
            at.state = case.state();
            at.take(&hand).unwrap();
            let mut re = Reactions::default();
            re.fill(&hand, &at).unwrap();
            re
        };
        let s = specht::inside::common_factor(&reactions(&case)).unwrap();
        case.mu.iter_mut().for_each(|x| *x *= 0.999 * s);
        for _ in 0..5 {
            case.h.iter_mut().for_each(|x| *x = dice.range(-1.0, 1.0));
            assert_eq!(case.brute().len(), 1);
        }
        // alone: one coefficient up to its own limit
        let a = (m as f64 * dice.next()) as usize;
        let limit = specht::inside::alone(&reactions(&case), a);
        if limit.is_finite() {
            case.mu[a] = 0.999 * limit;
            assert_eq!(case.brute().len(), 1);
        }
    }
}

/// ANH-5.2-ACCDIFF, ANH-5.2-PLAW, ANH-1.2-RHO, ANH-1.4-GENERAL: the three statements, with generalised masses.
#[test]
fn painleves_friction_forces_are_the_smallest() {
    let mut dice = Dice(13);
    for _ in 0..500 {
        let m = 1 + (3.0 * dice.next()) as usize;
        let case = Case::new(&mut dice, m, 0, 0.4);
        let hand = case.hand();
        let f = painleve(&hand, &case.state(), &[]).unwrap();
        let mut at = Snapshot::new(&hand);
        at.state = case.state();
        at.take(&hand).unwrap();
        let mut re = Reactions::default();
        re.fill(&hand, &at).unwrap();
        let mut factor = specht::inside::Cholesky::default();
        factor.factor(&case.mass).unwrap();
        let square = |k: &[f64]| {
            let mut x = k.to_vec();
            factor.solve(&mut x);
            k.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>()
        };
        for s in &f.solutions {
            let force = |accel: &[f64]| -> Vec<f64> {
                let mut k = vec![0.0; case.n];
                case.mass.mul_vec(accel, &mut k);
                k.iter().zip(&case.h).map(|(a, b)| a - b).collect()
            };
            let (k, k0) = (force(&s.accel), force(&re.accel0));
            let rho = &s.friction_forces;
            // (5.45), (5.46)
            let (left, right) = (square(&k), square(rho) + square(&k0));
            assert!((left - right).abs() < 1e-8 * left.max(1e-9), "{left} {right}");
            // (5.44): adding ideal constraint forces, which do no work, only makes the sum larger
            let mut other = rho.clone();
            for a in 0..m {
                let z = dice.range(-1.0, 1.0);
                other.iter_mut().zip(&case.w[2 * a]).for_each(|(o, w)| *o += z * w);
            }
            assert!(square(&other) >= square(rho) * (1.0 - 1e-9));
        }
    }
}

/// ANH-5.3-PKFORCES, ANH-1.2-RHO: per-particle forces of the Painlevé-Klein scheme (5.47), in Cartesian coordinates with a rod.
#[test]
fn anh_5_3_pkforces_per_particle() {
    let mut dice = Dice(14);
    for _ in 0..300 {
        let (m1, m2, phi) = (dice.range(0.3, 3.0), dice.range(0.3, 3.0), dice.range(0.1, 1.3));
        let (p2, mu) = (dice.range(0.1, 2.0), dice.range(0.0, 0.3));
        let p1 = p2 * m1 / m2 + dice.range(0.1, 3.0); // eps0 = +1
        let mut guide = bilateral("upper", 2, 3);
        guide.friction = false;
        guide.tangent.clear();
        let mut rod = bilateral("rod", 4, 5);
        rod.friction = false;
        rod.tangent.clear();
        rod.normal = Normal::Bilateral { row: 4 };
        let hand = Hand::new(4, 6, vec![bilateral("rub", 0, 1), guide, rod], move |_, _, out| {
            for (i, m) in [m1, m1, m2, m2].into_iter().enumerate() {
                out.mass[(i, i)] = m;
            }
            out.h.copy_from_slice(&[p1, 0.0, p2, 0.0]);
            out.w.row_mut(0).copy_from_slice(&[0.0, 1.0, 0.0, 0.0]);
            out.w.row_mut(1).copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
            out.w.row_mut(2).copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
            let (s, c) = phi.sin_cos();
            out.w.row_mut(4).copy_from_slice(&[-c, -s, c, s]);
            out.mu[0] = mu;
            out.mu_static[0] = mu;
        });
        let f = painleve(&hand, &state(&[0.0; 4], &[1.0, 0.0, 1.0, 0.0]), &[]).unwrap();
        let t = phi.tan();
        let d = m1 + m2 + mu * m2 * t;
        let load = m2 * p1 - m1 * p2;
        for (k, m) in [m1, m2].into_iter().enumerate() {
            lab::same(f.solutions[0].friction_forces[2 * k], -mu * m * load * t / ((m1 + m2) * d));
            assert!(f.solutions[0].friction_forces[2 * k + 1].abs() < 1e-9);
        }
        lab::same(f.solutions[0].tangential[0], -mu * load * t / d);
    }
}

/// More pairs than are enumerated one by one: the complementarity form answers, and satisfies (E + L eps mu) R = R0.
#[test]
fn eighteen_pairs_by_the_complementarity_form() {
    let mut dice = Dice(15);
    for m in [10, 18] {
        let case = Case::new(&mut dice, m, 0, 0.05);
        let hand = case.hand();
        let mut at = Snapshot::new(&hand);
        at.state = case.state();
        at.take(&hand).unwrap();
        let f = painleve_at(&hand, &at, &[]).unwrap();
        let mut re = Reactions::default();
        re.fill(&hand, &at).unwrap();
        let r = &f.solutions[0].normal;
        let size = r.iter().fold(1.0_f64, |a, v| a.max(v.abs()));
        for a in 0..m {
            assert!(re.residual(a, r).abs() < 1e-8 * size);
        }
        if m <= 16 {
            let mut free = Free::default();
            assert!(re.free(&at, &mut free));
            let mut patterns = Patterns::default();
            patterns.run(&re, Some(&free));
            let found: Vec<Vec<f64>> = patterns.found().iter().map(|b| b.reactions.clone()).collect();
            let other: Vec<Vec<f64>> = f.solutions.iter().map(|s| s.normal.clone()).collect();
            assert!(agree(&found, &other));
        }
    }
}

/// Bad questions get answers that name the thing and the remedy.
#[test]
fn bad_questions_get_good_answers() {
    use specht::inside::frictional_contact;
    let info = vec![unilateral("floor", 0, None), bilateral("rub", 1, 2)];
    let text = |e: AnalysisError| e.to_string();
    assert!(text(frictional_contact(&info, "rib").unwrap_err()).contains("`rub`"));
    assert!(text(frictional_contact(&info, "floor").unwrap_err()).contains("has no friction"));
    assert_eq!(frictional_contact(&info, "rub"), Ok(1));
    // held completely: one velocity, one constraint
    let held = Hand::new(1, 2, vec![bilateral("rub", 0, 1)], |_, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.w[(0, 0)] = 1.0;
        out.w[(1, 0)] = 0.5;
    });
    let e = painleve(&held, &state(&[0.0], &[0.0]), &[]).unwrap_err();
    assert!(matches!(e, AnalysisError::NoFreedom { constraints: 1, velocities: 1 }), "{e}");
    // a massless coordinate that nothing holds
    let massless = Hand::new(3, 2, vec![bilateral("rub", 0, 1)], |_, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.mass[(1, 1)] = 1.0;
        out.w[(0, 0)] = 1.0;
        out.w[(1, 1)] = 1.0;
    });
    let e = painleve(&massless, &state(&[0.0; 3], &[0.0, 1.0, 0.0]), &[]).unwrap_err();
    assert_eq!(e, AnalysisError::SingularMass);
    // nothing rubs
    let smooth = Hand::new(1, 1, vec![unilateral("floor", 0, None)], |_, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.w[(0, 0)] = 1.0;
    });
    assert_eq!(painleve(&smooth, &state(&[0.0], &[0.0]), &[]).unwrap_err(), AnalysisError::NoPair);
}

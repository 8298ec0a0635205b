//! Random transition problems against independent methods: complete enumeration of the reduced complementarity problem, Lemke on the book's
//! problem (6.35), and brute force over signs.

use super::*;
use crate::lcp::{EnumerateSettings, Solver, enumerate};

fn random_mass(r: &mut Random, n: usize) -> Mat {
    let a = Mat::from_fn(n, n, |_, _| r.normal());
    let mut mass = a.mul(&a.transpose());
    (0..n).for_each(|i| mass[(i, i)] += 0.3);
    mass
}

fn vector(r: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| r.normal()).collect()
}

fn random_contacts(r: &mut Random, dependent: bool) -> (Bench, Vec<Start>) {
    let n = 1 + r.below(5);
    let mass = random_mass(r, n);
    let h = vector(r, n);
    let mut b = Bench::new(mass, &h);
    let mut starts = Vec::new();
    let mut last: Option<(Vec<f64>, Vec<f64>)> = None;
    for _ in 0..1 + r.below(3) {
        let (mut w_n, w_t) = (vector(r, n), vector(r, n));
        let mut o = r.normal();
        if let Some((n0, _)) = &last
            && dependent
            && r.unit() < 0.4
        {
            w_n = n0.iter().map(|v| 2.0 * v).collect();
            o = 0.0;
        }
        let mu = if r.unit() < 0.3 { r.within(1.0, 3.0) } else { r.within(0.0, 1.0) };
        let o_t = r.normal();
        b.unilateral((&w_n, o), (r.unit() < 0.9).then_some((&w_t[..], o_t)), mu);
        starts.push([Start::Zero, Start::Zero, Start::Plus, Start::Minus][r.below(4)]);
        last = Some((w_n, w_t));
    }
    (b, starts)
}

/// PG-6-LCP: every solution that the enumeration of the reduced problem finds is found, and nothing else; Lemke on (6.35)
/// gives one of them; residuals certify each.
#[test]
fn pg_6_lcp_random_problems_agree_with_enumeration_and_lemke() {
    let mut r = Random(6);
    let mut counts = [0usize; 4];
    let mut lemke_solved = 0;
    for k in 0..4000 {
        let (b, starts) = random_contacts(&mut r, k % 4 == 0);
        let mut t = Transition::default();
        let set = t.solve(&b.info, &b.eval, &starts);
        assert!(set.complete);
        assert!(set.solutions.iter().all(|s| s.residual < 1e-8), "case {k}");
        counts[match set.status {
            Status::Unique => 0,
            Status::Several => 1,
            Status::Family => 2,
            Status::None => 3,
            Status::Unknown | Status::Invalid => panic!("case {k}"),
        }] += 1;

        let form = t.reduced_form(&b.info, &b.eval, &starts).unwrap();
        let settings = EnumerateSettings { observe: Some(form.t.clone()), ..EnumerateSettings::default() };
        let all = enumerate(form.lcp(), &settings);
        let near = |a: &Forces, c: &Forces| {
            let size = 1.0 + a.lambda.iter().chain(&c.lambda).fold(0.0, |m: f64, v| m.max(v.abs()));
            a.lambda.iter().zip(&c.lambda).all(|(x, y)| (x - y).abs() < 1e-5 * size)
        };
        let others: Vec<Forces> =
            all.pieces.iter().map(|p| t.forces_of(&b.info, &b.eval, &starts, &form.x(p.z()))).collect();
        if set.families.is_empty() {
            for o in &others {
                assert!(set.solutions.iter().any(|s| near(&s.forces, o)), "case {k}: not found {o:?}");
            }
            for s in &set.solutions {
                assert!(others.iter().any(|o| near(&s.forces, o)), "case {k}: only here {s:?}");
            }
        } else {
            for o in &others {
                let inside = |f: &Family| {
                    f.lambda.iter().zip(&o.lambda).all(|(i, v)| {
                        *v >= i[0] - 1e-6 * (1.0 + v.abs()) && *v <= i[1] + 1e-6 * (1.0 + v.abs())
                    })
                };
                assert!(
                    set.families.iter().any(inside) || set.solutions.iter().any(|s| near(&s.forces, o)),
                    "case {k}"
                );
            }
        }

        // Lemke on the book's form
        let book = t.book_form(&b.info, &b.eval, &starts).unwrap();
        let mut solver = Solver::default();
        if solver.solve(book.lcp()).is_solved() {
            lemke_solved += 1;
            let o = t.forces_of(&b.info, &b.eval, &starts, &book.x(&solver.z));
            let known = set.solutions.iter().any(|s| near(&s.forces, &o));
            let inside = set.families.iter().any(|f| {
                f.lambda
                    .iter()
                    .zip(&o.lambda)
                    .all(|(i, v)| *v >= i[0] - 1e-6 * (1.0 + v.abs()) && *v <= i[1] + 1e-6 * (1.0 + v.abs()))
            });
            assert!(known || inside, "case {k}: Lemke found something else");
        } else {
            assert!(
                set.status != Status::Unique || b.eval.mu.iter().any(|&m| m > 0.3),
                "case {k}: Lemke failed"
            );
        }
    }
    println!("unique, several, family, none: {counts:?}; Lemke solved {lemke_solved}");
    assert!(counts.iter().all(|&c| c > 0));
}

/// ANH-5.1-MULTI: bilateral pairs, all sliding: the solutions are those sign vectors ε with sign R = ε in (E + L ε μ) R = R₀.
#[test]
fn anh_5_1_multi_bilateral_pairs_agree_with_brute_force_over_signs() {
    let mut r = Random(51);
    let mut counts = [0usize; 3];
    for case in 0..3000 {
        let m = 1 + r.below(4);
        let n = m + 1 + r.below(3);
        let mass = random_mass(&mut r, n);
        let h = vector(&mut r, n);
        let mut b = Bench::new(mass.clone(), &h);
        let (mut normals, mut tangents, mut offsets, mut mu) = (vec![], vec![], vec![], vec![]);
        for _ in 0..m {
            let (w_n, w_t, o, k) = (vector(&mut r, n), vector(&mut r, n), r.normal(), r.within(0.0, 1.5));
            b.bilateral((&w_n, o), Some((&w_t, 0.0)), k);
            normals.push(w_n);
            tangents.push(w_t);
            offsets.push(o);
            mu.push(k);
        }
        let starts: Vec<Start> =
            (0..m).map(|_| if r.unit() < 0.5 { Start::Plus } else { Start::Minus }).collect();
        let set = b.transition(&starts);
        assert!(set.solutions.iter().all(|s| s.residual < 1e-8));

        let mut chol = crate::linalg::Cholesky::default();
        chol.factor(&mass).unwrap();
        let mut found = 0;
        for bits in 0..1u32 << m {
            let sign = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
            let col = |j: usize| -> Vec<f64> {
                let d = if starts[j] == Start::Plus { 1.0 } else { -1.0 };
                let mut c: Vec<f64> =
                    normals[j].iter().zip(&tangents[j]).map(|(n, t)| n - d * mu[j] * sign(j) * t).collect();
                chol.solve(&mut c);
                c
            };
            let cols: Vec<Vec<f64>> = (0..m).map(col).collect();
            let a = Mat::from_fn(m, m, |i, j| crate::linalg::dot(&normals[i], &cols[j]));
            let mut free = h.clone();
            chol.solve(&mut free);
            let mut x: Vec<f64> =
                (0..m).map(|i| -crate::linalg::dot(&normals[i], &free) - offsets[i]).collect();
            let mut lu = crate::linalg::Lu::default();
            lu.factor(&a);
            lu.solve(&mut x);
            if (0..m).all(|i| x[i] * sign(i) >= 0.0) {
                found += 1;
                let known = |s: &&Solution| {
                    (0..m).all(|i| (s.forces.normal[i] - x[i]).abs() < 1e-6 * (1.0 + x[i].abs()))
                };
                let s = set
                    .solutions
                    .iter()
                    .find(known)
                    .unwrap_or_else(|| panic!("case {case}: {x:?} not found"));
                // the same modes and signs between events
                let (f, _) = b.fixed(&s.modes, &s.signs);
                for (p, q) in f.accel.iter().zip(&s.forces.accel) {
                    close(*p, *q, 1e-6);
                }
            }
        }
        assert_eq!(found, set.solutions.len(), "case {case}");
        counts[found.min(2)] += 1;
    }
    println!("none, unique, several: {counts:?}");
    assert!(counts.iter().all(|&c| c > 10));
}

/// ANH-2.4-REST, complete enumeration: one coordinate, one bilateral pair at rest; stick and slip solutions as in the table.
#[test]
fn anh_2_4_rest_table_of_solutions() {
    let mut r = Random(24);
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..4000 {
        // coordinates (q, h): mass [[a, b], [b, c]], slip of q, reaction on h
        let (a, c) = (r.within(0.5, 3.0), r.within(0.5, 3.0));
        let k = r.within(-0.95, 0.95) * (a * c).sqrt();
        let (q1, q2, mu) = (r.normal(), r.normal(), r.within(0.05, 4.0));
        let mut b = Bench::new(Mat::from_rows(&[[a, k], [k, c]]), &[q1, q2]);
        b.bilateral((&[0.0, 1.0], 0.0), Some((&[1.0, 0.0], 0.0)), mu);
        let set = b.transition(&[Start::Zero]);
        // R = b q̈ − Q2, a q̈ = Q1 − μ|R| sign q̈:  L = b/a, R0 = b Q1/a − Q2
        let l = k / a;
        let stick = usize::from(q1.abs() <= mu * q2.abs());
        let ii_plus = mu * l.abs() > 1.0
            && q1.abs() / mu <= q2.abs()
            && q2.abs() < (l * q1).abs()
            && q1.signum() == (l * q2).signum();
        let slips = if stick == 0 {
            1
        } else if ii_plus {
            2
        } else {
            0
        };
        let sticking = set.solutions.iter().filter(|s| s.modes[0] == Mode::Stick).count();
        assert_eq!(
            (sticking, set.solutions.len() - sticking),
            (stick, slips),
            "L = {l}, mu = {mu}, Q = {q1}, {q2}"
        );
        *seen.entry((stick, slips)).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}

/// The tree search with linear programs finds what the plain search finds.
#[test]
fn the_pruned_search_finds_the_same_solutions_as_the_plain_one() {
    use crate::modes::search::Search;
    let mut r = Random(99);
    for case in 0..300 {
        let n = 3 + r.below(4);
        let mass = random_mass(&mut r, n);
        let h = vector(&mut r, n);
        let mut b = Bench::new(mass, &h);
        let mut starts = Vec::new();
        for k in 0..3 {
            let (w_n, w_t, mu) = (vector(&mut r, n), vector(&mut r, n), r.within(0.0, 2.0));
            if k == 2 && case % 2 == 0 {
                b.bilateral((&w_n, 0.0), Some((&w_t, 0.0)), mu);
            } else {
                b.unilateral((&w_n, 0.0), Some((&w_t, 0.0)), mu);
            }
            starts.push([Start::Zero, Start::Plus][r.below(2)]);
        }
        let mut t = Transition::default();
        assert!(t.pose(&b.info, &b.eval, &starts));
        let mut plain = Search::default();
        let mut pruned = Search::default();
        pruned.always_prune = true;
        assert!(plain.run(&t.problem, 100_000) && pruned.run(&t.problem, 100_000));
        let (p, _) = crate::modes::collect::sort_out(&t.problem, &plain.found);
        let (q, _) = crate::modes::collect::sort_out(&t.problem, &pruned.found);
        assert_eq!(p.len(), q.len(), "case {case}");
        assert!(pruned.nodes <= plain.nodes, "case {case}");
    }
}

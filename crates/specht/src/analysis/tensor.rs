//! Friction tensors (VAG-1-TENSOR, VAG-5-REGULAR): the generalised law of Coulomb and Amontons.
//!
//! ```text
//! F = −|λ| Pᵀ Φ v/|v|          v = P u velocity of the contact point, n the normal, reaction λ Pᵀ n     (12)
//! dissipation      (Φ v, v) ≥ 0 for all v                                                               (ii)
//! orthogonality    Φᵀ Q n = ρ n,   Q = P M⁻¹ Pᵀ       then λ does not depend on friction, no paradox      (13)
//! regularity       det{(n_i, P_i M⁻¹ P_jᵀ [n_j − k Φ_j v_j/|v_j|])} > 0 for all k > 0                     (33)
//! ```
//!
//! Isotropic Coulomb friction is Φ = μ on the tangents, 0 elsewhere. Over (tangents, normal) a tensor may push along the
//! normal too. The determinant is a polynomial in k of degree p; its roots on k > 0 are counted by Sturm's theorem
//! ([`super::polynomial`]), never by sampling k. [Vaganian, after Kozlov]

use super::polynomial::Polynomial;
use crate::linalg::{Lu, Mat, dot};

/// How far a tensor is from (13).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orthogonality {
    /// ρ.
    pub rho: f64,
    /// |Φᵀ Q n − ρ n| relative to |Φ||Q n|.
    pub residual: f64,
}

/// Answer to (33) at one state.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorRegularity {
    /// Coefficients of the determinant in k, constant first.
    pub determinant: Vec<f64>,
    /// det > 0 for all k > 0.
    pub regular: bool,
    /// The smallest k > 0 at which the determinant vanishes: the factor on all friction at which a paradox begins.
    pub critical: Option<f64>,
}

/// Residual of condition (i), (13).
pub(crate) fn orthogonality(phi: &Mat, q: &Mat, n: &[f64]) -> Orthogonality {
    let d = n.len();
    let (mut qn, mut image) = (vec![0.0; d], vec![0.0; d]);
    q.mul_vec(n, &mut qn);
    phi.transpose().mul_vec(&qn, &mut image);
    let rho = dot(&image, n) / dot(n, n);
    let left: f64 = image.iter().zip(n).map(|(a, b)| (a - rho * b).powi(2)).sum::<f64>().sqrt();
    let size = phi.as_slice().iter().map(|v| v * v).sum::<f64>().sqrt() * dot(&qn, &qn).sqrt();
    Orthogonality { rho, residual: if size > 0.0 { left / size } else { 0.0 } }
}

/// det(B − k C) > 0 for all k > 0?
pub(crate) fn decide(b: &Mat, c: &Mat) -> TensorRegularity {
    let polynomial = determinant(b, c);
    let trimmed = polynomial.trimmed(1e-12);
    let positive = trimmed.at(1.0) > 0.0;
    TensorRegularity {
        regular: positive && trimmed.positive_roots() == Some(0),
        critical: trimmed.smallest_positive_root(),
        determinant: polynomial.0,
    }
}

/// det(B − k C) as a polynomial: by Faddeev and LeVerrier on B⁻¹ C when B can be inverted, else by interpolation.
fn determinant(b: &Mat, c: &Mat) -> Polynomial {
    let n = b.rows();
    let mut lu = Lu::default();
    if n > 0 && lu.factor(b) > 1e-10 {
        let det = lu.det();
        let mut k = Mat::zeros(n, n);
        let mut column = vec![0.0; n];
        for j in 0..n {
            (0..n).for_each(|i| column[i] = c[(i, j)]);
            lu.solve(&mut column);
            (0..n).for_each(|i| k[(i, j)] = column[i]);
        }
        // det(1 − x K) = Σ c_i xⁱ with N_1 = K, c_i = −tr(N_i)/i, N_{i+1} = K (N_i + c_i 1)
        let mut coefficients = vec![det];
        let mut m = k.clone();
        for i in 1..=n {
            let trace: f64 = (0..n).map(|d| m[(d, d)]).sum();
            let ci = -trace / i as f64;
            coefficients.push(det * ci);
            for d in 0..n {
                m[(d, d)] += ci;
            }
            m = k.mul(&m);
        }
        return Polynomial(coefficients);
    }
    // nodes of the size at which both parts weigh the same
    let size = if c.max_abs() > 0.0 { b.max_abs() / c.max_abs() } else { 1.0 };
    let nodes: Vec<f64> = (0..=n).map(|i| size * (i as f64 - n as f64 / 2.0)).collect();
    let values: Vec<f64> = nodes
        .iter()
        .map(|x| {
            let m = Mat::from_fn(n, n, |i, j| b[(i, j)] - x * c[(i, j)]);
            lu.factor(&m);
            lu.det()
        })
        .collect();
    Polynomial::through(&nodes, &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::tests::{Random, close};
    use crate::file::lowest_eigenvalue;
    use crate::linalg::Cholesky;

    /// One contact with a tensor; vectors in the contact's own axes of any dimension.
    #[derive(Clone, Debug)]
    struct TensorContact {
        /// Velocity of the contact point by u.
        p: Mat,
        /// Normal.
        n: Vec<f64>,
        /// Φ.
        phi: Mat,
        /// Slip velocity (any length; zero: no friction).
        v: Vec<f64>,
    }

    /// Q = P M⁻¹ Pᵀ; `None` when M is not definite.
    fn mobility(mass: &Mat, p: &Mat) -> Option<Mat> {
        let mut chol = Cholesky::default();
        chol.factor(mass).ok()?;
        let mut half = p.clone();
        for i in 0..p.rows() {
            chol.forward(half.row_mut(i));
        }
        Some(Mat::from_fn(p.rows(), p.rows(), |i, j| dot(half.row(i), half.row(j))))
    }

    /// The tensor that keeps a scalar coefficient μ on the tangents and satisfies (13): the normal row is `−μ Q_tn/Q_nn`, the
    /// normal column its opposite, so that the symmetric part is that of Coulomb friction and (ii) holds. `n` is the last axis,
    /// the others are tangents.
    fn conforming(mu: f64, q: &Mat) -> Mat {
        let d = q.rows();
        let last = d - 1;
        let mut phi = Mat::zeros(d, d);
        for t in 0..last {
            let c = -mu * q[(t, last)] / q[(last, last)];
            phi[(t, t)] = mu;
            phi[(last, t)] = c;
            phi[(t, last)] = -c;
        }
        phi
    }

    /// Regularity (33) of a set of contacts at one state; `None` when M is not definite.
    fn regularity(mass: &Mat, contacts: &[TensorContact]) -> Option<TensorRegularity> {
        let mut chol = Cholesky::default();
        chol.factor(mass).ok()?;
        let count = contacts.len();
        // covectors Pᵀ n and Pᵀ Φ v/|v| in the metric of M⁻¹
        let pull = |p: &Mat, x: &[f64]| {
            let mut out = vec![0.0; p.cols()];
            p.add_mul_transpose(x, &mut out);
            chol.forward(&mut out);
            out
        };
        let normals: Vec<Vec<f64>> = contacts.iter().map(|c| pull(&c.p, &c.n)).collect();
        let frictions: Vec<Vec<f64>> = contacts
            .iter()
            .map(|c| {
                let speed = dot(&c.v, &c.v).sqrt();
                let mut f = vec![0.0; c.v.len()];
                c.phi.mul_vec(&c.v, &mut f);
                // |R_j| = λ_j |n_j|
                let scale = if speed > 0.0 { dot(&c.n, &c.n).sqrt() / speed } else { 0.0 };
                f.iter_mut().for_each(|v| *v *= scale);
                pull(&c.p, &f)
            })
            .collect();
        let b = Mat::from_fn(count, count, |i, j| dot(&normals[i], &normals[j]));
        let c = Mat::from_fn(count, count, |i, j| dot(&normals[i], &frictions[j]));
        Some(decide(&b, &c))
    }

    /// VAG-2-ROD: mass matrix (6) in q = (x, θ, y); contact point (x, y).
    fn rod(m1: f64, m2: f64, l: f64, theta: f64) -> (Mat, Mat) {
        let (s, c) = theta.sin_cos();
        let mass = Mat::from_rows(&[
            [m1 + m2, -l * m2 * s, 0.0],
            [-l * m2 * s, m2 * l * l, l * m2 * c],
            [0.0, l * m2 * c, m1 + m2],
        ]);
        (mass, Mat::from_rows(&[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    }

    /// VAG-1-TENSOR: dissipation with the offending eigenvalue, orthogonality, construction of the conforming tensor.
    #[test]
    fn vag_1_tensor_conditions_and_conforming_tensor() {
        // message of the model file reference: [[0.2, 0.5], [-0.1, 0.01]] has the eigenvalue −0.12
        let bad = Mat::from_rows(&[[0.2, 0.5], [-0.1, 0.01]]);
        let lowest = lowest_eigenvalue(bad.as_slice(), 2).unwrap();
        close(lowest, 0.105 - f64::hypot(0.095, 0.2), 1e-14);
        assert!((lowest * 100.0).round() == -12.0);

        let mut r = Random(91);
        for _ in 0..300 {
            let (m1, m2, l) = (r.within(0.1, 3.0), r.within(0.1, 3.0), r.within(0.2, 2.0));
            let (theta, mu) = (r.within(-3.0, 3.0), r.within(0.01, 4.0));
            let (mass, p) = rod(m1, m2, l, theta);
            let q = mobility(&mass, &p).unwrap();
            let phi = conforming(mu, &q);
            assert!(lowest_eigenvalue(phi.as_slice(), 2).unwrap() > -1e-12 * mu);
            assert!(orthogonality(&phi, &q, &[0.0, 1.0]).residual < 1e-12);
            // (14)
            let book = mu * m2 * (2.0 * theta).sin() / (2.0 * m1 + m2 * (1.0 + (2.0 * theta).cos()));
            close(phi[(1, 0)], book, 1e-11);
            // plain Coulomb friction does not satisfy it
            let coulomb = Mat::from_rows(&[[mu, 0.0], [0.0, 0.0]]);
            let residual = orthogonality(&coulomb, &q, &[0.0, 1.0]).residual;
            assert!(residual > 1e-6 || (2.0 * theta).sin().abs() < 1e-4);
        }
    }

    /// VAG-2-ROD and VAG-5-REGULAR for one contact: the classical denominator vanishes at μ_c, the conforming tensor is regular.
    #[test]
    fn vag_2_rod_critical_friction_and_regular_tensor() {
        let mut r = Random(92);
        for _ in 0..300 {
            let (m1, m2, l) = (r.within(0.1, 3.0), r.within(0.1, 3.0), r.within(0.2, 2.0));
            let (theta, mu) = (r.within(0.1, 3.0), r.within(0.01, 4.0));
            let sigma = if r.unit() < 0.5 { 1.0 } else { -1.0 };
            let (mass, p) = rod(m1, m2, l, theta);
            let contact =
                |phi: Mat| TensorContact { p: p.clone(), n: vec![0.0, 1.0], phi, v: vec![2.5 * sigma, 0.0] };
            let coulomb = regularity(&mass, &[contact(Mat::from_rows(&[[mu, 0.0], [0.0, 0.0]]))]).unwrap();
            let top = 2.0 * m1 + m2 * (1.0 + (2.0 * theta).cos());
            let mu_c = -top / (m2 * sigma * (2.0 * theta).sin());
            assert_eq!(coulomb.regular, mu_c < 0.0, "{theta} {sigma}");
            match coulomb.critical {
                Some(k) => close(k * mu, mu_c, 1e-9),
                None => assert!(mu_c < 0.0),
            }
            let q = mobility(&mass, &p).unwrap();
            let tensor = regularity(&mass, &[contact(conforming(mu, &q))]).unwrap();
            assert!(tensor.regular && tensor.critical.is_none());
        }
    }

    /// VAG-5-REGULAR: a ball against table and cushion, the general tensors of the paper's example 2; only the table's transverse and
    /// the cushion's vertical coefficient enter: det = (1 + k² R² μ5 ν3 ω_x²)/m² for slips of length one.
    #[test]
    fn vag_5_regular_corner_ball() {
        let mut r = Random(95);
        for _ in 0..300 {
            let (m, radius) = (r.within(0.1, 2.0), r.within(0.1, 1.0));
            let inertia = 0.4 * m * radius * radius;
            // u = (ẋ, ẏ, ż, ω)
            let mass = Mat::from_fn(6, 6, |i, j| {
                if i != j {
                    0.0
                } else if i < 3 {
                    m
                } else {
                    inertia
                }
            });
            // v = v_S + ω × d
            let at = |d: [f64; 3]| {
                Mat::from_rows(&[
                    [1.0, 0.0, 0.0, 0.0, d[2], -d[1]],
                    [0.0, 1.0, 0.0, -d[2], 0.0, d[0]],
                    [0.0, 0.0, 1.0, d[1], -d[0], 0.0],
                ])
            };
            let table = at([0.0, 0.0, -radius]);
            let cushion = at([0.0, -radius, 0.0]);
            let mut x = || r.within(0.05, 1.5);
            // x, y, z; the cushion's normal is y, the table's z
            let phi_c = Mat::from_rows(&[[x(), x(), x()], [0.0, x(), 0.0], [0.0, x(), x()]]);
            let phi_t = Mat::from_rows(&[[x(), x(), x()], [0.0, x(), x()], [0.0, 0.0, x()]]);
            let (mu5, nu3) = (phi_t[(1, 1)], phi_c[(2, 2)]);
            // velocities allowed by both contacts: ẏ = ż = 0
            let (vx, w) = (x() - 0.7, [x() - 0.7, x() - 0.7, x() - 0.7]);
            let u = [vx, 0.0, 0.0, w[0], w[1], w[2]];
            let slip = |p: &Mat| {
                let mut v = vec![0.0; 3];
                p.mul_vec(&u, &mut v);
                v
            };
            let (vt, vc) = (slip(&table), slip(&cushion));
            let lengths = dot(&vt, &vt).sqrt() * dot(&vc, &vc).sqrt();
            let contacts = [
                TensorContact { p: cushion, n: vec![0.0, 1.0, 0.0], phi: phi_c, v: vc },
                TensorContact { p: table, n: vec![0.0, 0.0, 1.0], phi: phi_t, v: vt },
            ];
            let found = regularity(&mass, &contacts).unwrap();
            assert!(found.regular);
            let expected = [1.0, 0.0, radius * radius * mu5 * nu3 * w[0] * w[0] / lengths];
            for (c, e) in found.determinant.iter().zip(expected) {
                assert!((c * m * m - e).abs() < 1e-9 * (1.0 + e.abs()), "{:?}", found.determinant);
            }
        }
    }

    /// A set of three planar contacts: the polynomial agrees with direct evaluation of the determinant.
    #[test]
    fn the_determinant_polynomial_is_that_of_the_matrix() {
        let mut r = Random(96);
        for _ in 0..100 {
            let n = 1 + r.below(4);
            let b = Mat::from_fn(n, n, |_, _| r.within(-1.0, 1.0));
            let c = Mat::from_fn(n, n, |_, _| r.within(-1.0, 1.0));
            let p = determinant(&b, &c);
            for _ in 0..5 {
                let k = r.within(-2.0, 2.0);
                let mut lu = Lu::default();
                lu.factor(&Mat::from_fn(n, n, |i, j| b[(i, j)] - k * c[(i, j)]));
                assert!((p.at(k) - lu.det()).abs() < 1e-8);
            }
        }
    }
}

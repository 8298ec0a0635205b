//! Random states of one contact in space, whole runs: what happens is one of the solutions that brute force over the angle finds (METH-3D-ACC).

use specht::prelude::*;
use std::f64::consts::TAU;

/// Uniform numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// Normal, by the sum of twelve.
    fn bell(&mut self, deviation: f64) -> f64 {
        deviation * ((0..12).map(|_| self.next()).sum::<f64>() - 6.0)
    }
}

/// A mass with M = AᵀA, A upper triangular, at rest on its contact, under the forces h.
fn model(a: &[[f64; 3]; 3], h: &[f64; 3], mu: f64) -> String {
    let [r1, r2, r3] = a;
    format!(
        "gravity = [0, 0, 0]\n[coordinates]\nn = 0\ns = 0\nw = 0\n[[body]]\nname = \"b\"\n\
         kinetic = \"0.5*(({}*n' + {}*s' + {}*w')^2 + ({}*s' + {}*w')^2 + ({}*w')^2)\"\n\
         [[force]]\nalong = \"n\"\nforce = {}\n[[force]]\nalong = \"s\"\nforce = {}\n[[force]]\nalong = \"w\"\nforce = {}\n\
         [[contact]]\nname = \"c\"\ngap = \"n\"\nslip = [\"s'\", \"w'\"]\nfriction = {mu}\n[run]\nuntil = 1e-9\n",
        r1[0], r1[1], r1[2], r2[1], r2[2], r3[2], h[0], h[1], h[2]
    )
}

/// The inverse of a symmetric matrix by its cofactors.
fn inverse(m: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let minor = |i: usize, j: usize| {
        let (a, b, c, d) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let det: f64 = (0..3).map(|j| m[0][j] * minor(0, j)).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) / det))
}

/// λ of all solutions.
fn brute(g: &[[f64; 3]; 3], h: &[f64; 3], mu: f64) -> Vec<[f64; 3]> {
    let b: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| g[i][j] * h[j]).sum());
    let mut out = Vec::new();
    if b[0] >= 0.0 {
        out.push([0.0; 3]);
    }
    if -h[0] > 0.0 && h[1].hypot(h[2]) <= -mu * h[0] {
        out.push(h.map(|x| -x));
    }
    // λ = N (1, −μ d), with N from a_N = 0
    let force = |angle: f64| {
        let unit = [1.0, -mu * angle.cos(), -mu * angle.sin()];
        let n = -b[0] / (0..3).map(|j| g[0][j] * unit[j]).sum::<f64>();
        unit.map(|u| n * u)
    };
    let accel = |f: &[f64; 3]| -> [f64; 3] {
        std::array::from_fn(|i| b[i] + (0..3).map(|j| g[i][j] * f[j]).sum::<f64>())
    };
    let across = |angle: f64| {
        let f = force(angle);
        let a = accel(&f);
        // the pole of N is no zero
        (angle.cos() * a[2] - angle.sin() * a[1]) / f[0].abs().max(1.0)
    };
    let steps = 4000;
    for k in 0..steps {
        let (mut low, mut high) = (TAU * k as f64 / steps as f64, TAU * (k + 1) as f64 / steps as f64);
        if across(low) * across(high) > 0.0 {
            continue;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if across(low) * across(middle) <= 0.0 { high = middle } else { low = middle }
        }
        let f = force(low);
        let a = accel(&f);
        let (along, off) = (a[1] * low.cos() + a[2] * low.sin(), a[2] * low.cos() - a[1] * low.sin());
        if f[0] > 0.0 && along > 0.0 && off.abs() < 1e-6 * along {
            out.push(f);
        }
    }
    out
}

#[test]
fn what_a_contact_does_from_rest_is_a_solution_that_brute_force_finds() {
    let mut r = Random(20);
    let (mut several, mut none) = (0, 0);
    for round in 0..600 {
        let a = [
            [r.within(0.3, 3.0), r.bell(1.2), r.bell(1.2)],
            [0.0, r.within(0.2, 3.0), r.bell(1.5)],
            [0.0, 0.0, r.within(0.2, 3.0)],
        ];
        let h = [r.bell(1.0) - 0.3, r.bell(1.0), r.bell(1.0)];
        let mu = r.within(0.05, 2.5);
        let m = std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[k][i] * a[k][j]).sum()));
        let known = brute(&inverse(&m), &h, mu);
        several += usize::from(known.len() > 1);
        none += usize::from(known.is_empty());
        let run = Machine::read(&model(&a, &h, mu)).unwrap().run().unwrap();
        let last = |name: &str| *run.series(name).unwrap().last().unwrap();
        let found = [last("c.normal"), last("c.tangential[1]"), last("c.tangential[2]")];
        let size = h.iter().chain(&found).fold(1e-3_f64, |s, x| s.max(x.abs()));
        let near = |f: &[f64; 3]| (0..3).all(|i| (f[i] - found[i]).abs() < 1e-6 * size);
        assert!(known.iter().any(near), "{round}: {found:?} is none of {known:?}");
    }
    assert!(several >= 8 && none == 0, "{several} states with several solutions, {none} with none");
}

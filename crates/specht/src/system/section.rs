//! How friction in a tangent plane depends on the direction of slip (METH-LAW-ANISO, METH-LAW-SPIN, VAG-1-TENSOR)
//!
//! $$ \lambda_T = -\mu N\, f(d), \quad d = \gamma/|\gamma|; \qquad \text{stick if and only if } \|\lambda_T\| \le \mu N $$
//!
//! | section | f(d) | ‖λ‖ |
//! |---|---|---|
//! | round | d | its length |
//! | tensor | Φ d | length of Φ⁻¹ λ |
//! | ellipse, associated | (m₁² d₁, m₂² d₂)/‖(m₁ d₁, m₂ d₂)‖ | length of (λ₁/m₁, λ₂/m₂) |
//! | patch of radius a | (F̂(ρ) v/‖v‖, M̂(ρ) sign w), third row w = a ω, ρ = ‖v‖/‖w‖ | by the limit surface |
//!
//! A radius that follows the normal force, a = a₁ Nᵖ (Hertz: p = 1/3), keeps the row a₁ ω; then w = s a₁ ω and the third force is s M̂, with
//! s = Nᵖ ([`Section::under`]).
//!
//! The patch slides in every element of its area. With D(ρ) the mean distance of its points from one at ρ, weighed by the pressure,
//! F̂ = D′ and M̂ = D − ρ D′; for the three pressures these are complete elliptic integrals or elementary.

use std::f64::consts::{FRAC_2_PI, PI};

/// The section of a cone of friction, at N = μ = 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Section {
    /// Isotropic.
    #[default]
    Round,
    /// Friction tensor over the two tangents, by rows.
    Tensor([f64; 4]),
    /// Half axes of the ellipse; slip is normal to it.
    Ellipse([f64; 2]),
    /// A contact of finite size: two tangents, and the spin about the normal times the radius.
    Patch {
        /// How it is pressed.
        pressure: Pressure,
        /// p: the radius grows with this power of the normal force.
        power: f64,
        /// s: the radius over that of the third row, 1 where p = 0.
        scale: f64,
    },
}

/// How the pressure is spread over a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    /// The same everywhere.
    Uniform,
    /// √(1 − r²).
    Hertz,
    /// All of it on the edge.
    Ring,
}

impl Section {
    /// The section under the normal force n.
    pub(crate) fn under(self, n: f64) -> Section {
        match self {
            Section::Patch { pressure, power, .. } if power != 0.0 => {
                Section::Patch { pressure, power, scale: n.max(0.0).powf(power) }
            }
            fixed => fixed,
        }
    }

    /// Whether it changes with the normal force.
    pub(crate) fn follows_normal(self) -> bool {
        matches!(self, Section::Patch { power, .. } if power != 0.0)
    }

    /// f(d) of a unit vector.
    pub(crate) fn push(self, d: [f64; 3]) -> [f64; 3] {
        match self {
            Section::Round => d,
            Section::Tensor([a, b, c, e]) => [a * d[0] + b * d[1], c * d[0] + e * d[1], 0.0],
            Section::Ellipse([a, b]) => {
                let size = (a * d[0]).hypot(b * d[1]);
                if size > 0.0 { [a * a * d[0] / size, b * b * d[1] / size, 0.0] } else { [0.0; 3] }
            }
            Section::Patch { pressure, scale, .. } => {
                let (v, w) = (d[0].hypot(d[1]), scale * d[2].abs());
                let (force, moment) = pressure.at(v, w);
                let along = if v > 0.0 { force / v } else { 0.0 };
                [along * d[0], along * d[1], scale * moment * d[2].signum()]
            }
        }
    }

    /// Rate of f(d) along δd, when the numbers of the section change by those of `change`. None of a patch, whose integrals are not differentiated.
    pub(crate) fn push_rate(self, d: [f64; 3], rate: [f64; 3], change: Section) -> Option<[f64; 3]> {
        match self {
            Section::Round => Some(rate),
            Section::Tensor([a, b, c, e]) => {
                let [da, db, dc, de] = if let Section::Tensor(rates) = change { rates } else { [0.0; 4] };
                let x = a * rate[0] + b * rate[1] + da * d[0] + db * d[1];
                Some([x, c * rate[0] + e * rate[1] + dc * d[0] + de * d[1], 0.0])
            }
            Section::Ellipse([a, b]) => {
                let [da, db] = if let Section::Ellipse(rates) = change { rates } else { [0.0; 2] };
                let (x, y) = (a * d[0], b * d[1]);
                let (dx, dy) = (a * rate[0] + da * d[0], b * rate[1] + db * d[1]);
                let size = x.hypot(y);
                if size == 0.0 {
                    return None;
                }
                let grows = (x * dx + y * dy) / size;
                let part = |m: f64, dm: f64, x: f64, dx: f64| (dm * x + m * dx - m * x * grows / size) / size;
                Some([part(a, da, x, dx), part(b, db, y, dy), 0.0])
            }
            Section::Patch { .. } => None,
        }
    }

    /// Rate of ‖λ‖ along δλ, when the numbers of the section change by those of `change`. None at λ = 0 and of a patch.
    pub(crate) fn size_rate(self, f: [f64; 3], rate: [f64; 3], change: Section) -> Option<f64> {
        let size = self.size(f);
        if size == 0.0 {
            return None;
        }
        match self {
            Section::Round => Some((0..3).map(|k| f[k] * rate[k]).sum::<f64>() / size),
            Section::Tensor([a, b, c, e]) => {
                // ‖λ‖ = |Φ⁻¹ λ|, and the rate of Φ⁻¹ λ is Φ⁻¹ (δλ − δΦ Φ⁻¹ λ)
                let det = a * e - b * c;
                let inverse = |f: [f64; 2]| [(e * f[0] - b * f[1]) / det, (a * f[1] - c * f[0]) / det];
                let x = inverse([f[0], f[1]]);
                let [da, db, dc, de] = if let Section::Tensor(rates) = change { rates } else { [0.0; 4] };
                let dx = inverse([rate[0] - da * x[0] - db * x[1], rate[1] - dc * x[0] - de * x[1]]);
                Some((x[0] * dx[0] + x[1] * dx[1]) / size)
            }
            Section::Ellipse([a, b]) => {
                let [da, db] = if let Section::Ellipse(rates) = change { rates } else { [0.0; 2] };
                let part = |f: f64, df: f64, m: f64, dm: f64| match f == 0.0 {
                    true => 0.0,
                    false => f / m * (df - f / m * dm) / m,
                };
                Some((part(f[0], rate[0], a, da) + part(f[1], rate[1], b, db)) / size)
            }
            Section::Patch { .. } => None,
        }
    }

    /// ‖λ‖: 1 on the border of the section.
    pub(crate) fn size(self, f: [f64; 3]) -> f64 {
        match self {
            Section::Round => f[0].hypot(f[1]).hypot(f[2]),
            Section::Tensor([a, b, c, e]) => {
                let det = a * e - b * c;
                let (x, y) = (e * f[0] - b * f[1], a * f[1] - c * f[0]);
                if det == 0.0 && x == 0.0 && y == 0.0 { 0.0 } else { x.hypot(y) / det.abs() }
            }
            Section::Ellipse([a, b]) => {
                let part = |f: f64, m: f64| if f == 0.0 { 0.0 } else { f / m };
                part(f[0], a).hypot(part(f[1], b))
            }
            Section::Patch { pressure, scale, .. } => {
                let moment = if f[2] == 0.0 { 0.0 } else { f[2].abs() / scale };
                pressure.size(f[0].hypot(f[1]), moment)
            }
        }
    }
}

impl Pressure {
    /// F̂ and M̂ at the slip v and the speed of the edge w, both ≥ 0.
    pub(crate) fn at(self, v: f64, w: f64) -> (f64, f64) {
        if w == 0.0 {
            return (1.0, 0.0);
        }
        // slower than the edge, or faster: k ≤ 1 either way
        let fast = v > w;
        let k = if fast { w / v } else { v / w };
        match self {
            Pressure::Hertz => hertz(v / w),
            Pressure::Ring => {
                let [first, second, d] = elliptic(k);
                let (slow, quick) = (FRAC_2_PI * k * (first - d), FRAC_2_PI * second);
                if fast { (quick, slow) } else { (slow, quick) }
            }
            Pressure::Uniform => {
                let [first, second, d] = elliptic(k);
                let force = 4.0 / (3.0 * PI) * (first + second - d);
                if fast {
                    let square = k * k;
                    let rest = (2.0 - 4.0 * square) * d - (1.0 - 3.0 * square) * first;
                    (force, if k < 1e-4 { 0.25 * k } else { 4.0 / (9.0 * PI * k) * rest })
                } else {
                    let square = k * k;
                    let mean = 4.0 / (9.0 * PI) * ((7.0 + square) * second - 4.0 * (1.0 - square) * first);
                    (k * force, mean - square * force)
                }
            }
        }
    }

    /// (f, m) over the border in its direction.
    fn size(self, f: f64, m: f64) -> f64 {
        if m == 0.0 {
            return f;
        }
        // the direction of slip is monotonic in that of the force
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let share = 0.5 * (low + high);
            let (force, moment) = self.at(share, 1.0 - share);
            if force * m < moment * f { low = share } else { high = share }
        }
        let share = 0.5 * (low + high);
        let (force, moment) = self.at(share, 1.0 - share);
        f.hypot(m) / force.hypot(moment)
    }
}

/// F̂ and M̂ of Hertz's pressure.
fn hertz(rho: f64) -> (f64, f64) {
    let square = rho * rho;
    if rho <= 1.0 {
        return (
            3.0 * PI / 8.0 * rho * (1.0 - 0.25 * square),
            3.0 * PI / 16.0 * (1.0 - square + 0.375 * square * square),
        );
    }
    if rho > 1e3 {
        return (1.0 - 0.1 / square, 0.2 / rho);
    }
    let (angle, root) = ((1.0 / rho).asin(), (square - 1.0).sqrt());
    let force = 0.75 * (rho * (1.0 - 0.25 * square) * angle + root * (0.5 / rho + 0.25 * rho));
    let moment = 0.375 * ((1.0 - square + 0.375 * square * square) * angle + root * (0.75 - 0.375 * square));
    (force, moment)
}

/// K, E and D = (K − E)/k² by the arithmetic-geometric mean.
fn elliptic(k: f64) -> [f64; 3] {
    let mut b = ((1.0 - k) * (1.0 + k)).sqrt();
    if b == 0.0 {
        // K − D and (1 − k²) K stay finite; E = 1
        return [0.0, 1.0, -1.0];
    }
    let mut a = 1.0;
    // c₁/k; then c_{n+1} = c_n²/(4 a_{n+1}), all over k
    let mut c = k / (2.0 * (1.0 + b));
    let (mut sum, mut weight) = (0.5, 1.0);
    for _ in 0..12 {
        sum += weight * c * c;
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        c = k * c * c / (2.0 * (a + b));
        weight *= 2.0;
        if weight * c * c < 1e-18 {
            break;
        }
    }
    let first = PI / (a + b);
    let d = first * sum;
    [first, first - k * k * d, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    /// METH-LAW-SPIN: the table of the spec.
    #[test]
    fn force_and_moment_of_a_patch_are_those_of_contensou() {
        let table = [
            (Pressure::Uniform, 0.1, 0.0998748, 0.6616761),
            (Pressure::Uniform, 0.5, 0.4838438, 0.5477484),
            (Pressure::Uniform, 1.0, 8.0 / (3.0 * PI), 8.0 / (9.0 * PI)),
            (Pressure::Uniform, 2.0, 0.9676875, 0.1278092),
            (Pressure::Uniform, 10.0, 0.9987484, 0.0250209),
            (Pressure::Hertz, 0.1, 0.1175152, 0.5831802),
            (Pressure::Hertz, 0.5, 0.5522331, 0.4555923),
            (Pressure::Hertz, 1.0, 9.0 * PI / 32.0, 9.0 * PI / 128.0),
            (Pressure::Hertz, 2.0, 0.9742786, 0.1019093),
            (Pressure::Hertz, 10.0, 0.9989989, 0.0200143),
        ];
        for (pressure, rho, force, moment) in table {
            let found = pressure.at(rho, 1.0);
            close(found.0, force, 6e-8);
            close(found.1, moment, 6e-8);
        }
        close(Pressure::Uniform.at(0.0, 1.0).1, 2.0 / 3.0, 1e-15);
        close(Pressure::Ring.at(0.0, 1.0).1, 1.0, 1e-15);
    }

    /// By sums over the area, all pressures, slow and fast.
    #[test]
    fn force_and_moment_of_a_patch_are_sums_over_its_area() {
        for pressure in [Pressure::Uniform, Pressure::Hertz, Pressure::Ring] {
            for rho in [0.03, 0.4, 0.9, 1.3, 5.0] {
                let (mut force, mut moment, mut total) = (0.0, 0.0, 0.0);
                let (rings, around) = (800, 720);
                for i in 0..if pressure == Pressure::Ring { 1 } else { rings } {
                    let (r, weight) = match pressure {
                        Pressure::Ring => (1.0, 1.0),
                        _ => {
                            // r = sin: the edge of Hertz's pressure is met smoothly
                            let angle = (i as f64 + 0.5) / rings as f64 * 0.5 * PI;
                            let weight = angle.sin() * angle.cos();
                            let hertz = pressure == Pressure::Hertz;
                            (angle.sin(), if hertz { weight * angle.cos() } else { weight })
                        }
                    };
                    for j in 0..around {
                        let (s, c) = ((j as f64 + 0.5) / around as f64 * 2.0 * PI).sin_cos();
                        let v = [rho - r * s, r * c];
                        let size = v[0].hypot(v[1]);
                        force += weight * v[0] / size;
                        moment += weight * (r * c * v[1] - r * s * v[0]) / size;
                        total += weight;
                    }
                }
                let found = pressure.at(rho, 1.0);
                close(found.0, force / total, 3e-4);
                close(found.1, moment / total, 3e-4);
            }
        }
    }

    fn patch(pressure: Pressure, power: f64) -> Section {
        Section::Patch { pressure, power, scale: 1.0 }
    }

    #[test]
    fn every_force_of_slip_lies_on_the_border_of_its_section() {
        let sections = [
            Section::Round,
            Section::Tensor([0.5, 0.1, -0.2, 0.3]),
            Section::Ellipse([0.5, 0.2]),
            patch(Pressure::Uniform, 0.0),
            patch(Pressure::Hertz, 0.0),
            patch(Pressure::Ring, 0.0),
            patch(Pressure::Hertz, 1.0 / 3.0).under(7.0),
        ];
        for section in sections {
            for k in 0..40 {
                let (a, b) = (
                    0.37 * k as f64,
                    if matches!(section, Section::Patch { .. }) { 0.9 * (k as f64).sin() } else { 0.0 },
                );
                let d = [a.cos() * b.cos(), a.sin() * b.cos(), b.sin()];
                close(section.size(section.push(d)), 1.0, 1e-12);
            }
        }
    }
}

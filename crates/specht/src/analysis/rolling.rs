//! Two surfaces in point contact, slipping and rolling (ANH-2.2-ROLLSLIP): slip velocity and angular velocity from the motion
//! of the contact point on both surfaces.
//!
//! ```text
//! fixed surface U: r(u¹, u²)      moving surface U': r'(p¹, p²), its vectors expressed in space      normals m = m'
//! v_T = r_α u̇^α − r'_α ṗ^α                                                                             (2.31)
//! ω   = (u̇^α/√a)(b_α2 r_1 − b_α1 r_2) − (ṗ^α/√a')(b'_α2 r'_1 − b'_α1 r'_2) + Ω m                        (2.42)
//! Ω   = κ_g σ̇ − κ'_g σ̇' − χ̇                                                                            (2.55)
//! ```
//!
//! `b_αβ = r_αβ·m`, `a` the determinant of the first fundamental form. κ_g σ̇ is the turning rate, about m and within the
//! surface, of a chosen tangent direction: of the trace itself when the point moves, of any other direction when it stands
//! still, so no division by σ̇ occurs. χ is the angle from τ' to τ: τ' = τ cos χ − m×τ sin χ (2.49).
//!
//! Exact to rounding for regular parameters (`a > 0`). [LeXuanAnh2003, 2.2]; the primes of (2.29), (2.31) and the root in
//! the second term of (2.42) are misprinted there.

/// A vector in space.
pub type Vector = [f64; 3];

/// A surface at one point: first and second derivatives of its position, in space axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// r_1, r_2.
    pub first: [Vector; 2],
    /// r_11, r_12, r_22.
    pub second: [Vector; 3],
}

/// A direction in a surface and how its components change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heading {
    /// Components along r_1, r_2; of the trace: the rates of the parameters.
    pub along: [f64; 2],
    /// Their rates; of the trace: the second derivatives of the parameters.
    pub rate: [f64; 2],
}

impl SurfacePoint {
    /// Unit normal r_1 × r_2.
    pub fn normal(&self) -> Vector {
        let n = cross(self.first[0], self.first[1]);
        scale(n, 1.0 / norm(n))
    }

    /// √a.
    pub fn area(&self) -> f64 {
        norm(cross(self.first[0], self.first[1]))
    }

    /// The tangent vector with these components.
    pub fn vector(&self, along: [f64; 2]) -> Vector {
        add(scale(self.first[0], along[0]), scale(self.first[1], along[1]))
    }

    /// b_α1, b_α2 contracted with the rates: Σ_α u̇^α b_αβ.
    fn bending(&self, rate: [f64; 2]) -> [f64; 2] {
        let m = self.normal();
        let [b11, b12, b22] = self.second.map(|s| dot(s, m));
        [rate[0] * b11 + rate[1] * b12, rate[0] * b12 + rate[1] * b22]
    }

    /// Turning rate about the normal, within the surface, of a direction carried by a point that moves with `rate`.
    pub fn turning_rate(&self, rate: [f64; 2], heading: &Heading) -> f64 {
        let tau = self.vector(heading.along);
        let [r11, r12, r22] = self.second;
        let carried = add(
            add(scale(r11, heading.along[0] * rate[0]), scale(r22, heading.along[1] * rate[1])),
            scale(r12, heading.along[0] * rate[1] + heading.along[1] * rate[0]),
        );
        let change = add(carried, self.vector(heading.rate));
        dot(cross(self.normal(), tau), change) / dot(tau, tau)
    }

    /// The part of the angular velocity that turns the normal along the trace.
    fn roll(&self, rate: [f64; 2]) -> Vector {
        let b = self.bending(rate);
        let v = add(scale(self.first[0], b[1]), scale(self.first[1], -b[0]));
        scale(v, 1.0 / self.area())
    }
}

/// Slip velocity (2.31) of the moving body's contact point.
pub fn slip_velocity(
    fixed: &SurfacePoint,
    u_rate: [f64; 2],
    moving: &SurfacePoint,
    p_rate: [f64; 2],
) -> Vector {
    sub(fixed.vector(u_rate), moving.vector(p_rate))
}

/// Spin (2.55) about the common normal: `heading` and `heading_moving` are τ and τ', `chi_rate` the rate of the angle from τ' to τ.
pub fn spin(
    fixed: &SurfacePoint,
    u_rate: [f64; 2],
    heading: &Heading,
    moving: &SurfacePoint,
    p_rate: [f64; 2],
    heading_moving: &Heading,
    chi_rate: f64,
) -> f64 {
    fixed.turning_rate(u_rate, heading) - moving.turning_rate(p_rate, heading_moving) - chi_rate
}

/// Angular velocity (2.42) of the moving body.
pub fn angular_velocity(
    fixed: &SurfacePoint,
    u_rate: [f64; 2],
    moving: &SurfacePoint,
    p_rate: [f64; 2],
    spin: f64,
) -> Vector {
    let rolls = sub(fixed.roll(u_rate), moving.roll(p_rate));
    add(rolls, scale(fixed.normal(), spin))
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn add(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] + b[i])
}

fn sub(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] - b[i])
}

fn scale(a: Vector, s: f64) -> Vector {
    a.map(|v| s * v)
}

fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// z = x²/2A + y²/2B, normal upward.
    fn paraboloid(u: [f64; 2]) -> (Vector, SurfacePoint) {
        let (a, b) = (0.8, 1.5);
        let r = [u[0], u[1], u[0] * u[0] / (2.0 * a) + u[1] * u[1] / (2.0 * b)];
        let point = SurfacePoint {
            first: [[1.0, 0.0, u[0] / a], [0.0, 1.0, u[1] / b]],
            second: [[0.0, 0.0, 1.0 / a], [0.0; 3], [0.0, 0.0, 1.0 / b]],
        };
        (r, point)
    }

    /// Ellipsoid in its own axes, parameters ordered so that the normal points inward (into the fixed body's free side).
    fn ellipsoid(p: [f64; 2]) -> SurfacePoint {
        let [a, b, c] = [0.5, 0.4, 0.3];
        let ((s1, c1), (s2, c2)) = (p[0].sin_cos(), p[1].sin_cos());
        // r' = (a c1 c2, b s1 c2, c s2); r_1 × r_2 points outward, so the two parameters are exchanged
        let d1 = [-a * s1 * c2, b * c1 * c2, 0.0];
        let d2 = [-a * c1 * s2, -b * s1 * s2, c * c2];
        let d11 = [-a * c1 * c2, -b * s1 * c2, 0.0];
        let d12 = [a * s1 * s2, -b * c1 * s2, 0.0];
        let d22 = [-a * c1 * c2, -b * s1 * c2, -c * s2];
        SurfacePoint { first: [d2, d1], second: [d22, d12, d11] }
    }

    /// Motions of the contact point, with first and second derivatives.
    fn motion(t: f64) -> ([[f64; 2]; 3], [[f64; 2]; 3], [f64; 2]) {
        let u = [
            [0.3 * t + 0.1 * (2.0 * t).sin(), 0.2 * (3.0 * t).cos()],
            [0.3 + 0.2 * (2.0 * t).cos(), -0.6 * (3.0 * t).sin()],
            [-0.4 * (2.0 * t).sin(), -1.8 * (3.0 * t).cos()],
        ];
        // exchanged order: (latitude, longitude)
        let p =
            [[0.4 * t.sin(), 0.5 * t + 0.2 * t * t], [0.4 * t.cos(), 0.5 + 0.4 * t], [-0.4 * t.sin(), 0.4]];
        (u, p, [0.7 * (1.3 * t).sin(), 0.91 * (1.3 * t).cos()])
    }

    fn frame(m: Vector, tau: Vector) -> [Vector; 3] {
        let tau = scale(tau, 1.0 / norm(tau));
        [tau, cross(m, tau), m]
    }

    /// Rotation that carries the body's (τ', m×τ', m) to τ turned by −χ.
    fn rotation(t: f64) -> [[f64; 3]; 3] {
        let (u, p, chi) = motion(t);
        let (_, fixed) = paraboloid(u[0]);
        let body = ellipsoid([p[0][1], p[0][0]]);
        let m = fixed.normal();
        let [tau, side, _] = frame(m, fixed.vector(u[1]));
        let (s, c) = chi[0].sin_cos();
        let space = frame(m, sub(scale(tau, c), scale(side, s)));
        let own = frame(body.normal(), body.vector(p[1]));
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| space[k][i] * own[k][j]).sum()))
    }

    fn turn(r: &[[f64; 3]; 3], v: Vector) -> Vector {
        [0, 1, 2].map(|i| dot(r[i], v))
    }

    fn in_space(r: &[[f64; 3]; 3], s: &SurfacePoint) -> SurfacePoint {
        SurfacePoint { first: s.first.map(|v| turn(r, v)), second: s.second.map(|v| turn(r, v)) }
    }

    /// ANH-2.2-ROLLSLIP: an ellipsoid on a paraboloid with prescribed u(t), p(t), χ(t); ω from the numerically differentiated
    /// rotation matrix, slip from the velocity of the material point.
    #[test]
    fn anh_2_2_rollslip_ellipsoid_on_paraboloid() {
        for k in 0..20 {
            let t = 0.1 + 0.05 * f64::from(k);
            let (u, p, chi) = motion(t);
            let (_, fixed) = paraboloid(u[0]);
            let r = rotation(t);
            let body = ellipsoid([p[0][1], p[0][0]]);
            let moving = in_space(&r, &body);
            let (h, own) = (Heading { along: u[1], rate: u[2] }, Heading { along: p[1], rate: p[2] });
            let omega_m = spin(&fixed, u[1], &h, &moving, p[1], &own, chi[1]);
            let omega = angular_velocity(&fixed, u[1], &moving, p[1], omega_m);

            // Ṙ Rᵀ by central differences of fourth order
            let e = 1e-3;
            let at = [-2.0, -1.0, 1.0, 2.0].map(|s| rotation(t + s * e));
            let rate: [[f64; 3]; 3] = std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    (at[0][i][j] - 8.0 * at[1][i][j] + 8.0 * at[2][i][j] - at[3][i][j]) / (12.0 * e)
                })
            });
            let spin_of = |i: usize, j: usize| dot(rate[i], r[j]);
            let numeric = [spin_of(2, 1), spin_of(0, 2), spin_of(1, 0)];
            let error = norm(sub(omega, numeric));
            assert!(error < 1e-6 * norm(numeric), "t = {t}: {omega:?} is not {numeric:?}");

            // slip: velocity of the body's material point now at the contact; r₀ = r(u) − R r'(p)
            let place = |t: f64| {
                let (u, p, _) = motion(t);
                let (r_u, _) = paraboloid(u[0]);
                let ((s1, c1), (s2, c2)) = (p[0][1].sin_cos(), p[0][0].sin_cos());
                (r_u, rotation(t), [0.5 * c1 * c2, 0.4 * s1 * c2, 0.3 * s2])
            };
            let (_, _, material) = place(t);
            let path = |t: f64| {
                let (r_u, r, own) = place(t);
                add(sub(r_u, turn(&r, own)), turn(&r, material))
            };
            let x = [-2.0, -1.0, 1.0, 2.0].map(|s| path(t + s * e));
            let velocity =
                [0, 1, 2].map(|i| (x[0][i] - 8.0 * x[1][i] + 8.0 * x[2][i] - x[3][i]) / (12.0 * e));
            let slip = slip_velocity(&fixed, u[1], &moving, p[1]);
            assert!(norm(sub(slip, velocity)) < 1e-6 * (1.0 + norm(velocity)));
            assert!(dot(slip, fixed.normal()).abs() < 1e-12);
        }
    }

    /// ANH-2.2-ROLLSLIP: a ball that rolls straight on a plane has ω = v/ρ across the motion and no spin.
    #[test]
    fn anh_2_2_rollslip_ball_rolls_straight() {
        let (v, rho) = (1.3, 0.2);
        let plane = SurfacePoint { first: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], second: [[0.0; 3]; 3] };
        // lowest point of the ball, tangents along x and y in space, normal up (into the ball)
        let ball = SurfacePoint {
            first: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            second: [[0.0, 0.0, 1.0 / rho], [0.0; 3], [0.0, 0.0, 1.0 / rho]],
        };
        let rate = [v, 0.0];
        let straight = Heading { along: rate, rate: [0.0, 0.0] };
        let omega_m = spin(&plane, rate, &straight, &ball, rate, &straight, 0.0);
        assert_eq!(omega_m, 0.0);
        let omega = angular_velocity(&plane, rate, &ball, rate, omega_m);
        assert!(norm(sub(omega, [0.0, v / rho, 0.0])) < 1e-15);
        assert_eq!(slip_velocity(&plane, rate, &ball, rate), [0.0; 3]);
        // pure slip: the body does not turn
        let omega = angular_velocity(&plane, rate, &ball, [0.0; 2], 0.0);
        assert_eq!(omega, [0.0; 3]);
    }
}

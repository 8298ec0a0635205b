//! The border of a paradox in a run (ANH-2.6-MARCH, PG-5.3-ROD): never integrated through blindly.
//!
//! With g̈_N = a λ_N + b of a sliding contact, everything else kept, the force λ_N = −b/a grows without bound as a → 0⁺ (D = 1 − μ|L|
//! = a over the mobility of the contact). a follows the positions, ȧ < 0; b follows the force through the velocities,
//!
//! ```text
//! ḃ = B₀ + B₁ λ_N   ⇒   b = C a^p + b₁ a,     p = B₁/|ȧ|,   b₁ = B₀/(ȧ (1 − p))
//! ```
//!
//! so impulses of finite size act in a time that tends to zero, along one direction: that of a unit of λ_N with its friction.
//! Along it, with positions at rest, one of two things comes first:
//!
//! * some slip ends: *seizure* before the border (tangential impact), often nearer to it than floating point resolves;
//! * b vanishes: the trajectory is funnelled into the *singular point* {a = 0, b = 0}, with an unbounded force for
//!   p < 1, a finite one for p > 1. Beyond it the rigid equations have several solutions, none of which attracts: of stiff contacts the
//!   reaction grows without bound at the point itself, whatever p (for p > 1 perhaps after a moment of lift-off that
//!   vanishes with growing stiffness) [Nordmark2018]. So the tangential impact goes on to the end of the slip. The rules `painleve` and
//!   `klein` take the velocities at the point and go on beyond it with the smaller reaction.
//!
//! The event is taken at D = 10⁻⁶. Any number of degrees of freedom and of pairs; lift-off of one-sided contacts before
//! the border is an event of its own.

use crate::linalg::axpy;
use crate::system::{ContactInfo, Mode, System};

use super::event_driven::{End, Run};
use super::instant::Moment;
use super::settings::Policy;
use super::tolerances::AT_REST;
use super::trajectory::Status;

/// What comes at the border of contact `contact`.
struct Border {
    contact: usize,
    /// Change of the velocities and impulses per row, by a unit of normal impulse of the sign that acts.
    accel: Vec<f64>,
    lambda: Vec<f64>,
    /// Normal impulse that ends the first slip, and whose.
    stop: f64,
    stops: usize,
    /// Normal impulse up to the singular point, and p.
    point: Option<(f64, f64)>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// The matrix of the sliding contacts becomes singular: say so with all numbers and leave by the policy.
    pub(super) fn cross_border(&mut self, m: &mut Moment) -> Option<End> {
        let t = self.time();
        self.leave_branch(false);
        self.field.solve();
        let mut note = String::from("border of a paradox:");
        let mut nearest: Option<(usize, f64)> = None;
        for i in 0..self.field.info.len() {
            let mode = self.field.discrete.modes[i];
            if (mode.direction() != 0.0 || mode == Mode::Slip)
                && let Some(a) = self.field.fixed.approach(self.field.info, i)
            {
                note += &format!(
                    " contact `{}` has a = {:.6e}, b = {:.6e} in g'' = a*normal + b (normal force {:.6e});",
                    self.field.info[i].name, a.a, a.b, self.field.forces.normal[i]
                );
                if nearest.is_none_or(|n| a.ratio < n.1) {
                    nearest = Some((i, a.ratio));
                }
            }
        }
        note.pop();
        if self.field.spatial {
            return self.cross_border_in_space(m, note);
        }
        let border = nearest.and_then(|(i, _)| self.border(i));
        if let Some(Border { contact, accel, stop, point: Some((at, p)), .. }) = &border {
            let row = self.field.info[*contact].tangent[0];
            let slip = self.field.slip(*contact);
            let speed = (slip + at * self.field.eval.w.row(row).dot(accel)).abs();
            note += &format!(
                "; singular point: b of `{}` vanishes with a at slip speed {speed:.6} ({:.6} of the present velocities), exponent p = {p:.5}, the normal force {}",
                self.field.info[*contact].name,
                1.0 - at / stop,
                if *p < 1.0 { "grows without bound" } else { "stays finite up to it" }
            );
        }
        self.log_finding(m, note.clone());
        let Some(border) = border.filter(|_| self.settings.several != Policy::Stop) else {
            let status = if self.settings.several == Policy::Stop {
                Status::Indeterminate
            } else {
                Status::Inconsistent
            };
            return Some((status, format!("at t = {t}: {note}")));
        };
        match border.point {
            Some((at, _)) if matches!(self.settings.several, Policy::Painleve | Policy::Klein) => {
                self.pass(m, &border, at)
            }
            _ => {
                let name = &self.field.info[border.stops].name;
                m.remark = match border.point {
                    Some(_) => format!("at the singular point of stiff contacts: the slip of `{name}` ends"),
                    None => format!("before the border: the slip of `{name}` ends"),
                };
                self.jump(m, &border, border.stop, true);
                self.sets.stopped[border.stops] = true;
                None
            }
        }
    }

    /// What comes first along the growing forces of contact `i`.
    fn border(&mut self, i: usize) -> Option<Border> {
        let moment = self.moment();
        let field = &mut self.field;
        let sign = if field.forces.normal[i] < 0.0 { -1.0 } else { 1.0 };
        let (mut accel, mut lambda) = field.fixed.growth(field.info, &field.eval, i)?;
        accel.iter_mut().chain(&mut lambda).for_each(|v| *v *= sign);
        // the first slip that ends
        let (mut stop, mut stops) = (f64::INFINITY, i);
        for (j, c) in field.info.iter().enumerate() {
            let d = field.discrete.modes[j].direction();
            if d != 0.0 && c.friction {
                let loss = -d * field.eval.w.row(c.tangent[0]).dot(&accel);
                let needed = field.slip(j).abs() / loss;
                if loss > 0.0 && needed < stop {
                    (stop, stops) = (needed, j);
                }
            }
        }
        if !stop.is_finite() {
            return None;
        }
        // b is quadratic in the velocities: three values tell where it vanishes
        let here = field.state.clone();
        let mut b = [0.0; 3];
        for (k, b) in b.iter_mut().enumerate() {
            field.state.u.copy_from_slice(&here.u);
            axpy(0.5 * k as f64 * stop, &accel, &mut field.state.u);
            field.evaluate();
            field.solve();
            *b = field.fixed.approach(field.info, i)?.b;
        }
        let zero = first_zero(b);
        let point = zero.and_then(|x| {
            // ȧ at the point, by a step back along its velocities
            field.state.u.copy_from_slice(&here.u);
            axpy(x * stop, &accel, &mut field.state.u);
            field.evaluate();
            field.solve();
            let a = field.fixed.approach(field.info, i)?.a;
            let mut q_step = vec![0.0; field.dims.q];
            field.sys.q_rate(&field.state, &mut q_step);
            let back = 1e-4 * moment;
            axpy(-back, &q_step, &mut field.state.q);
            field.state.t -= back;
            field.evaluate();
            field.solve();
            let rate = (field.fixed.approach(field.info, i)?.a - a) / back;
            let slope = (4.0 * b[1] - 3.0 * b[0] - b[2] + 4.0 * x * (b[0] - 2.0 * b[1] + b[2])) / stop;
            (rate > 0.0).then(|| (x * stop, -slope * b[0].signum() / rate))
        });
        field.state.clone_from(&here);
        field.evaluate();
        field.solve();
        Some(Border { contact: i, accel, lambda, stop, stops, point })
    }

    /// Velocities jump by the normal impulse `size` along the growing forces; the slip that `ends` becomes exactly zero.
    fn jump(&mut self, m: &mut Moment, border: &Border, size: f64, ends: bool) {
        let field = &self.field;
        let mut u = field.state.u.clone();
        axpy(size, &border.accel, &mut u);
        let mut lambda: Vec<f64> = border.lambda.iter().map(|l| size * l).collect();
        // a is not quite zero: the rest of the normal rates, by the smallest change
        let mut rows = Vec::new();
        for (i, c) in field.info.iter().enumerate() {
            if c.is_bilateral() || field.discrete.modes[i].is_closed() {
                rows.extend(c.normal_rows());
            }
        }
        if ends {
            rows.push(field.info[border.stops].tangent[0]);
        }
        let rates: Vec<f64> = (0..field.dims.rows).map(|r| field.eval.rate(r, &u)).collect();
        let zero = vec![0.0; field.dims.u];
        let red = &mut self.tools.reduced;
        if red.eliminate(&field.eval.mass, &zero, &field.eval.w, &rates, &rows, &[]) {
            axpy(1.0, &red.a0, &mut u);
            for (k, &r) in rows.iter().enumerate() {
                lambda[r] += red.s0[k];
            }
        }
        let normal: Vec<f64> = field.info.iter().map(|c| c.normal_force(&lambda)).collect();
        let rub = |c: &ContactInfo| if c.friction { c.tangential_force(&lambda) } else { 0.0 };
        let tangential: Vec<f64> = field.info.iter().map(rub).collect();
        m.tangential = true;
        self.apply(m, &u, &lambda, &normal, &tangential);
    }

    /// Go on beyond the singular point with the velocities at it.
    fn pass(&mut self, m: &mut Moment, border: &Border, at: f64) -> Option<End> {
        // a little beyond, so that b has its new sign
        self.jump(m, border, at + 1e-6 * border.stop, false);
        let here = self.field.state.clone();
        let energy = self.field.eval.kinetic + self.field.eval.potential;
        let mut delta = 1e-9 * self.h.min((self.settings.until - self.time()).abs());
        let mut q_step = vec![0.0; self.field.dims.q];
        self.field.sys.q_rate(&here, &mut q_step);
        for _ in 0..60 {
            self.field.state.clone_from(&here);
            axpy(delta, &q_step, &mut self.field.state.q);
            self.field.state.t += delta;
            self.field.evaluate();
            self.field.solve();
            if self.field.nearness() < 0.0 {
                // the hop itself is booked, not lost
                self.ledger.jump(self.field.eval.kinetic + self.field.eval.potential - energy);
                return None;
            }
            delta *= 2.0;
        }
        self.field.state = here;
        self.field.evaluate();
        let t = self.time();
        Some((Status::Inconsistent, format!("at t = {t}: the border of a paradox is touched, not crossed")))
    }

    /// Whether a jump took all kinetic energy, up to rounding.
    pub(super) fn at_rest_after(&self, m: &Moment) -> bool {
        let mass = &self.field.eval.mass;
        let size =
            |u: &[f64]| u.iter().enumerate().map(|(k, u)| mass.diagonal(k) * u * u).fold(0.0, f64::max);
        size(&self.field.state.u) <= AT_REST * size(&m.before.u)
    }
}

/// The first zero in (0, 1) of the parabola with these values at 0, ½, 1.
fn first_zero(b: [f64; 3]) -> Option<f64> {
    let (c, k) = (b[0], 2.0 * (b[0] - 2.0 * b[1] + b[2]));
    let l = b[2] - b[0] - k;
    let discriminant = l * l - 4.0 * k * c;
    if !(discriminant >= 0.0) || c == 0.0 {
        return None;
    }
    // both roots without cancellation
    let q = -0.5 * (l + discriminant.sqrt() * if l < 0.0 { -1.0 } else { 1.0 });
    [q / k, c / q].into_iter().filter(|x| *x > 0.0 && *x < 1.0).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::first_zero;

    #[test]
    fn the_first_zero_of_a_parabola() {
        let at = |k: f64, l: f64, c: f64| [c, 0.25 * k + 0.5 * l + c, k + l + c];
        let near = |x: Option<f64>, y: f64| assert!((x.unwrap() - y).abs() < 1e-14, "{x:?} {y}");
        near(first_zero(at(0.0, -2.0, 1.0)), 0.5);
        near(first_zero(at(8.0, -6.0, 1.0)), 0.25);
        near(first_zero(at(-1.0, 0.0, 0.25)), 0.5);
        assert_eq!(first_zero(at(1.0, 1.0, 1.0)), None);
        assert_eq!(first_zero(at(0.0, 0.5, 1.0)), None);
    }
}

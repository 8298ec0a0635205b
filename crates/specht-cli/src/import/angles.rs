//! Orientations of MJCF: quaternions, axes with angles, Euler angles in any order, two axes, or the direction of z.

use super::turn::{self, Matrix, NONE};
use super::xml::Element;
use std::f64::consts::PI;

/// How a scene writes angles.
#[derive(Clone, Debug)]
pub struct Angles {
    /// Angles are in degrees.
    pub degrees: bool,
    /// Order of Euler angles.
    pub order: String,
}

impl Angles {
    /// An angle in radians.
    pub fn angle(&self, x: f64) -> f64 {
        if self.degrees { x.to_radians() } else { x }
    }

    /// Orientation of an element.
    pub fn turn(&self, e: &Element) -> Result<Matrix, String> {
        let bad = |key: &str| format!("line {}: `{key}` of <{}> is no orientation", e.line, e.name);
        if let Some(list) = e.numbers("quat")? {
            let q = <[f64; 4]>::try_from(list).map_err(|_| bad("quat"))?;
            return turn::quaternion(q).ok_or_else(|| bad("quat"));
        }
        if let Some(list) = e.numbers("axisangle")? {
            let [x, y, z, angle] = <[f64; 4]>::try_from(list).map_err(|_| bad("axisangle"))?;
            let axis = turn::unit([x, y, z]).ok_or_else(|| bad("axisangle"))?;
            let (s, c) = (0.5 * self.angle(angle)).sin_cos();
            return turn::quaternion([c, s * axis[0], s * axis[1], s * axis[2]])
                .ok_or_else(|| bad("axisangle"));
        }
        if let Some(angles) = e.triple("euler")? {
            // small letters turn with the frame, capital ones about fixed axes
            let mut m = NONE;
            for (letter, angle) in self.order.chars().zip(angles) {
                let axis = "xyz".find(letter.to_ascii_lowercase()).ok_or_else(|| bad("euler"))?;
                let step = turn::about(axis, self.angle(angle));
                m = if letter.is_ascii_lowercase() { turn::product(m, step) } else { turn::product(step, m) };
            }
            return Ok(m);
        }
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        if let Some(list) = e.numbers("xyaxes")? {
            let [a, b, c, d, f, g] = <[f64; 6]>::try_from(list).map_err(|_| bad("xyaxes"))?;
            let x = turn::unit([a, b, c]).ok_or_else(|| bad("xyaxes"))?;
            let dot = x[0] * d + x[1] * f + x[2] * g;
            let y =
                turn::unit([d - dot * x[0], f - dot * x[1], g - dot * x[2]]).ok_or_else(|| bad("xyaxes"))?;
            return Ok(turn::transposed([x, y, cross(x, y)]));
        }
        if let Some(z) = e.triple("zaxis")? {
            return towards(z).ok_or_else(|| bad("zaxis"));
        }
        Ok(NONE)
    }
}

/// The least turn that brings z there.
pub fn towards(z: [f64; 3]) -> Option<Matrix> {
    let [x, y, z] = turn::unit(z)?;
    if z < -1.0 + 1e-14 {
        return Some(turn::about(0, PI));
    }
    turn::quaternion([1.0 + z, -y, x, 0.0])
}

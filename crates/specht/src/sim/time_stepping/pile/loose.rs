//! Loose bodies: what an impulse at a point does to a body that hangs together with no other
//!
//! ```text
//! W_f: the six rows of a frame (velocity of its origin, angular velocity),  C: the velocities in them
//! M_C⁻¹ W_fᵀ: velocities of the system from a force and a moment,    W_f M_C⁻¹ W_fᵀ = diag(1/m 1, J⁻¹)
//! ```
//!
//! A pile is loose when no velocity belongs to two frames, M does not couple the velocities of different frames, and the last equation holds for
//! every frame (origins in the centres of mass). Then a contact problem needs neither H nor M as matrices: five vectors for a point
//! ([`super::sweeps`]). Frames that nothing moves have zeros.

use crate::linalg::{Rows, Symmetric};
use crate::shape::{V3, cross};
use crate::system::Touching;

use super::sweeps::Contact;

/// Entries of W_f M⁻¹ W_fᵀ below this, of the diagonal, are rounding.
const ROUNDING: f64 = 1e-12;
const NOBODY: u32 = u32::MAX;

/// Inverse inertia of a body, and the velocities that impulses gave it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Body {
    pub v: V3,
    pub w: V3,
    pub inv_mass: f64,
    pub inv_inertia: [V3; 3],
}

impl Body {
    /// Whether an impulse moves it.
    pub(super) fn moves(&self) -> bool {
        self.inv_mass > 0.0
    }
}

/// The bodies of a loose pile, by frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Loose {
    pub bodies: Vec<Body>,
    /// Velocities of the system in each frame.
    columns: Vec<([u32; 6], u8)>,
    /// M_C⁻¹ W_fᵀ.
    maps: Vec<[[f64; 6]; 6]>,
    /// Frame of a velocity.
    owner: Vec<u32>,
}

impl Loose {
    /// Inertias at the present instant, in units of mass. False when the pile is not loose.
    pub(super) fn load(&mut self, t: &Touching, mass: &Symmetric, w: &Rows, unit: f64) -> bool {
        let n = t.frames.len();
        self.owner.clear();
        self.owner.resize(mass.size(), NOBODY);
        self.columns.clear();
        self.columns.resize(n, ([0; 6], 0));
        self.maps.resize(n, [[0.0; 6]; 6]);
        self.bodies.clear();
        self.bodies.resize(n, Body::default());
        for (f, frame) in t.frames.iter().enumerate() {
            let (list, count) = &mut self.columns[f];
            for (j, _) in (0..6).flat_map(|k| w.row(frame.row + k).iter()).filter(|x| x.1 != 0.0) {
                if self.owner[j] == f as u32 {
                    continue;
                }
                if self.owner[j] != NOBODY || *count == 6 {
                    return false;
                }
                self.owner[j] = f as u32;
                list[*count as usize] = j as u32;
                *count += 1;
            }
            list[..*count as usize].sort_unstable();
        }
        for i in 0..mass.size() {
            let (columns, first) = (mass.pattern().row(i), mass.pattern().first(i));
            for (k, &j) in columns.iter().enumerate() {
                if self.owner[i] != self.owner[j as usize] && mass.values()[first + k] != 0.0 {
                    return false;
                }
            }
        }
        (0..n).all(|f| self.columns[f].1 == 0 || self.invert(f, t.frames[f].row, mass, w, unit))
    }

    /// Maps and inertia of one frame; false when it is not that of a rigid body about its centre.
    fn invert(&mut self, f: usize, row: usize, mass: &Symmetric, w: &Rows, unit: f64) -> bool {
        let (columns, count) = self.columns[f];
        let n = count as usize;
        let mut m = [[0.0; 6]; 6];
        let mut rows = [[0.0; 6]; 6];
        for i in 0..n {
            let at = columns[i] as usize;
            for j in 0..=i {
                let place = mass.pattern().find(at, columns[j] as usize);
                m[i][j] = place.map_or(0.0, |k| mass.values()[k]);
            }
        }
        for (k, to) in rows.iter_mut().enumerate() {
            for (j, v) in w.row(row + k).iter().filter(|x| x.1 != 0.0) {
                if let Some(c) = columns[..n].iter().position(|&c| c as usize == j) {
                    to[c] = v;
                }
            }
        }
        if !cholesky(&mut m, n) {
            return false;
        }
        let mut inverse = [[0.0; 6]; 6];
        for (k, r) in rows.iter().enumerate() {
            let x = back(&m, n, *r);
            for i in 0..n {
                self.maps[f][i][k] = x[i];
            }
            for (l, other) in rows.iter().enumerate() {
                inverse[k][l] = (0..n).map(|i| other[i] * x[i]).sum();
            }
        }
        let (a, c) = (inverse[0][0], inverse[3][3].max(inverse[4][4]).max(inverse[5][5]));
        let mut rigid = a > 0.0;
        for k in 0..3 {
            for l in 0..3 {
                let expected = if k == l { a } else { 0.0 };
                rigid &= (inverse[k][l] - expected).abs() <= ROUNDING * a;
                rigid &= inverse[k][3 + l].abs() <= ROUNDING * (a * c).sqrt();
            }
        }
        let body = &mut self.bodies[f];
        body.inv_mass = a * unit;
        body.inv_inertia = [0, 1, 2]
            .map(|k| [0, 1, 2].map(|l| 0.5 * unit * (inverse[3 + k][3 + l] + inverse[3 + l][3 + k])));
        rigid
    }

    /// Velocities of the system from an impulse at a point.
    pub(super) fn push(&self, c: &Contact, impulse: V3, u: &mut [f64]) {
        if impulse == [0.0; 3] {
            return;
        }
        let force = c.force(impulse);
        for (k, sign) in [1.0, -1.0].into_iter().enumerate() {
            let force = force.map(|f| sign * f);
            self.add(c.frames[k] as usize, force, cross(c.arms[k], force), u);
        }
    }

    /// Velocities of the system from an impulse and a moment on a frame.
    fn add(&self, frame: usize, impulse: V3, moment: V3, u: &mut [f64]) {
        let (columns, n) = &self.columns[frame];
        for (c, map) in columns[..*n as usize].iter().zip(&self.maps[frame]) {
            let sum: f64 = (0..3).map(|k| map[k] * impulse[k] + map[3 + k] * moment[k]).sum();
            u[*c as usize] += sum;
        }
    }
}

/// Lower factor of the leading `n × n` block in place; false when it is not definite.
fn cholesky(m: &mut [[f64; 6]; 6], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let s = m[i][j] - (0..j).map(|k| m[i][k] * m[j][k]).sum::<f64>();
            if i == j {
                if !(s > 0.0) {
                    return false;
                }
                m[i][i] = s.sqrt();
            } else {
                m[i][j] = s / m[j][j];
            }
        }
    }
    true
}

/// Solve with the factor.
fn back(l: &[[f64; 6]; 6], n: usize, mut x: [f64; 6]) -> [f64; 6] {
    for i in 0..n {
        x[i] = (x[i] - (0..i).map(|k| l[i][k] * x[k]).sum::<f64>()) / l[i][i];
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
    }
    x
}

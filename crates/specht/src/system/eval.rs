//! The results of an evaluation.

use std::any::Any;

#[cfg(doc)]
use super::System;
use super::{ContactInfo, Dims, Section};
use crate::linalg::{Rows, Symmetric, TreeMass};

/// Everything a [`System`] computes at one instant, with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct Eval {
    /// Mass matrix M (u × u), symmetric positive semidefinite.
    pub mass: Symmetric,
    /// M along the tree of the bodies, where the system has it: `mass` agrees, or holds the diagonal alone after
    /// [`System::evaluate_stage`].
    pub(crate) tree: TreeMass,
    /// All smooth forces.
    pub h: Vec<f64>,
    /// Rates of the first-order states.
    pub z_rate: Vec<f64>,
    /// Contact directions, one row each (rows × u).
    pub w: Rows,
    /// Gap of every normal row (a pin: the two distances); 0 for tangential rows.
    pub gap: Vec<f64>,
    /// w̃ of every row.
    pub rate_offset: Vec<f64>,
    /// w̄ of every row.
    pub accel_offset: Vec<f64>,
    /// Friction coefficient per contact at the present slip and mode direction; for `friction_force` laws it is 1 and
    /// the bound is in `load`.
    pub mu: Vec<f64>,
    /// Friction coefficient at zero slip (the bound of sticking), per contact. Equal to `mu(v → 0)` unless the law
    /// distinguishes static from sliding.
    pub mu_static: Vec<f64>,
    /// `Given` contacts: the constant part of the normal force. Others: 0.
    pub load: Vec<f64>,
    /// `Given` contacts with a static/sliding `friction_force`: the bound at stick instead of `load`. Others: = load.
    pub load_static: Vec<f64>,
    /// Coefficients of [`ContactInfo::load_on`], from [`ContactInfo::load_at`] on.
    pub load_terms: Vec<f64>,
    /// Values of the guards: positive while the frozen branch is valid, an event when one falls through zero.
    pub guards: Vec<f64>,
    /// Sizes of the terms of which the guards are sums, where known, else 0: they tell rounding from signal.
    pub guard_sizes: Vec<f64>,
    /// Values of the user's event functions.
    pub crossings: Vec<f64>,
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy (gravity, springs, potentials).
    pub potential: f64,
    /// Power of all smooth forces that are not in `potential`, on the true velocities of their points, plus the
    /// explicit rate ∂V/∂t of the potential.
    pub power: f64,
    /// Power needed to drive prescribed motions: `drive · u̇ + drive_offset − Σ λ w̃`. Together
    /// d/dt(T + V) = power + drive · u̇ + drive_offset + Σ λ (ġ − w̃), the sum over all rows whose force is not in `h`
    /// (the normal row of an elastic flank is in `h`, and its work in `power`).
    pub drive: Vec<f64>,
    /// See `drive`.
    pub drive_offset: f64,
    /// Radius of journals and patches, per contact; 0 where there is none.
    pub radius: Vec<f64>,
    /// Friction tensor [φ_tt, φ_tn, φ_nt, φ_nn] per contact, zero where there is none; empty when no contact has one.
    pub tensor: Vec<[f64; 4]>,
    /// Lean of the tangent per contact, φ_nt/φ_tt: the tangential row is w_T + lean w_N. Empty when no contact has a tensor.
    pub lean: Vec<f64>,
    /// How friction depends on the direction of slip, per contact; empty when it does nowhere.
    pub sections: Vec<Section>,
    /// Contact parameters of curved contours, as found here.
    pub contour: Vec<f64>,
    /// Origin and rows of the axes of every frame of [`System::touching`], twelve numbers each.
    pub frames: Vec<f64>,
    /// Whether M, W and the friction coefficients are constants, and which.
    pub constants: Constants,
    /// Scratch memory of the system.
    pub scratch: Scratch,
    /// A contact whose curves have no unique nearest points here (the denominator of (4.35) vanishes): its rows are not
    /// to be trusted.
    pub singular: Option<usize>,
}

impl Eval {
    /// Memory for a system of these sizes, every entry of M and W writable.
    pub(crate) fn new(d: &Dims) -> Self {
        Eval::with(d, Symmetric::zeros(d.u), Rows::zeros(d.rows, d.u))
    }

    /// Memory for a system with patterns of M and W of its own.
    pub(crate) fn with(d: &Dims, mass: Symmetric, w: Rows) -> Self {
        Eval {
            mass,
            tree: TreeMass::default(),
            h: vec![0.0; d.u],
            z_rate: vec![0.0; d.z],
            w,
            gap: vec![0.0; d.rows],
            rate_offset: vec![0.0; d.rows],
            accel_offset: vec![0.0; d.rows],
            mu: vec![0.0; d.contacts],
            mu_static: vec![0.0; d.contacts],
            load: vec![0.0; d.contacts],
            load_static: vec![0.0; d.contacts],
            load_terms: Vec::new(),
            guards: vec![0.0; d.guards],
            guard_sizes: vec![0.0; d.guards],
            crossings: vec![0.0; d.crossings],
            kinetic: 0.0,
            potential: 0.0,
            power: 0.0,
            drive: vec![0.0; d.u],
            drive_offset: 0.0,
            radius: vec![0.0; d.contacts],
            tensor: Vec::new(),
            sections: Vec::new(),
            lean: Vec::new(),
            contour: Vec::new(),
            frames: Vec::new(),
            constants: Constants::default(),
            scratch: Scratch::default(),
            singular: None,
        }
    }

    /// Rate of row `i` at the velocities `u`.
    #[inline]
    pub(crate) fn rate(&self, i: usize, u: &[f64]) -> f64 {
        self.w.row(i).dot(u) + self.rate_offset[i]
    }

    /// Radius of contact `i` where it is a journal or a ball joint, else 0.
    pub(crate) fn journal_radius(&self, i: usize) -> f64 {
        let patch = matches!(self.section(i), Section::Patch { .. });
        if patch { 0.0 } else { self.radius.get(i).copied().unwrap_or(0.0) }
    }

    /// The friction coefficient behind a factor of [`Eval::mu`]: for a journal the factor is r μ/√(1 + μ²).
    pub(crate) fn coefficient(&self, i: usize, factor: f64) -> f64 {
        match self.journal_radius(i) {
            r if r > 0.0 => {
                let s = factor / r;
                s / (1.0 - s * s).max(0.0).sqrt()
            }
            _ => factor,
        }
    }

    /// The factor of [`Eval::mu`] for a friction coefficient: the inverse of [`Eval::coefficient`].
    pub(crate) fn bound_factor(&self, i: usize, mu: f64) -> f64 {
        match self.journal_radius(i) {
            r if r > 0.0 => r * mu / (1.0 + mu * mu).sqrt(),
            _ => mu,
        }
    }

    /// Lowest eigenvalue of the symmetric part of the friction tensor of contact `i`, 0 without a tensor: negative when friction
    /// creates energy (VAG-1, condition ii). Rounding counts as zero.
    pub(crate) fn tensor_eigenvalue(&self, i: usize) -> f64 {
        let Some(&[tt, tn, nt, nn]) = self.tensor.get(i) else { return 0.0 };
        let (mean, off) = (0.5 * (tt + nn), 0.5 * (tn + nt));
        let lowest = mean - (0.5 * (tt - nn)).hypot(off);
        let size = tt.abs().max(tn.abs()).max(nt.abs()).max(nn.abs());
        if lowest >= -1e-12 * size { lowest.max(0.0) } else { lowest }
    }

    /// Slip of contact `i` along its first tangent, without the lean of a friction tensor; 0 without a tangent.
    pub(crate) fn slip(&self, info: &ContactInfo, i: usize, u: &[f64]) -> f64 {
        let Some(&row) = info.tangent.first() else { return 0.0 };
        let along = self.rate(row, u);
        match (self.lean.get(i), info.normal_row()) {
            (Some(&s), Some(row)) if s != 0.0 => along - s * self.rate(row, u),
            _ => along,
        }
    }

    /// Acceleration of row `i` at the accelerations `a`.
    pub(crate) fn accel(&self, i: usize, a: &[f64]) -> f64 {
        self.w.row(i).dot(a) + self.accel_offset[i]
    }
}

/// The number of a set of constants; 0: none. Systems that promise them set it, and then nobody writes to M, W, μ and μ₀ of that
/// [`Eval`]. A clone promises nothing: it may be changed.
#[derive(Debug, Default)]
pub struct Constants(pub u64);

impl Clone for Constants {
    fn clone(&self) -> Self {
        Constants(0)
    }
}

/// Scratch memory of a system: nobody else looks inside. A clone starts empty.
#[derive(Default)]
pub struct Scratch(Option<Box<dyn Any + Send + Sync>>);

impl Scratch {
    /// Take it out, when it is of this type.
    pub fn take<T: Any + Send + Sync>(&mut self) -> Option<Box<T>> {
        self.0.take()?.downcast().ok()
    }

    /// Put it back.
    pub fn put<T: Any + Send + Sync>(&mut self, memory: Box<T>) {
        self.0 = Some(memory);
    }

    /// Look at it.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }

    /// Use it in its place.
    pub fn get_mut<T: Any + Send + Sync>(&mut self) -> Option<&mut T> {
        self.0.as_mut()?.downcast_mut()
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

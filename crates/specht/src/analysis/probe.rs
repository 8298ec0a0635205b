//! A model at rest, with its parameters and points within reach: the laboratory of the rest and self-braking analyses.
//!
//! The generalised force of a force e at a point is `Jᵀ e` with the Jacobian of the point, that of a load its `∂h/∂p`: both exact
//! derivatives. The state is the consistent start of the file (its equilibrium, when it asks for one) with all velocities zero.

use super::{AnalysisError, Snapshot};
use crate::model::{CompiledSystem, FeatureRef, Model, Parameter, Shape, SpaceShape, build};
use crate::sim::start::{consistent, equilibrium};
use crate::system::{Along, Eval, State, System, Tangent};

/// The laboratory.
#[derive(Clone, Debug)]
pub(crate) struct Probe {
    /// The equations.
    pub system: CompiledSystem,
    /// State (at rest), evaluation, which contacts are closed.
    pub snapshot: Snapshot,
    parameters: Vec<Parameter>,
    values: Vec<f64>,
    points: Vec<FeatureRef>,
    guess: Vec<usize>,
    closed: Vec<usize>,
    sticking: Vec<usize>,
    /// The file starts from an equilibrium: found with the values of the file, kept while loads are tried.
    equilibrium: Option<State>,
}

impl Probe {
    /// Compile a model; `points` are looked at. Parameters to be varied must be live in the model.
    ///
    /// # Errors
    ///
    /// Unknown points; models that cannot be built.
    pub(crate) fn new(model: &Model, points: &[String]) -> Result<Probe, AnalysisError> {
        let points = points.iter().map(|name| point(model, name)).collect::<Result<Vec<_>, _>>()?;
        let system = build(model).map_err(|e| AnalysisError::Key(e.message))?;
        let values = model.live_values();
        let of = |list: &[usize]| list.iter().flat_map(|&k| system.contacts_of(k)).collect();
        let (closed, sticking) = (of(&model.start.closed), of(&model.start.sticking));
        let guess = model.guesses();
        let snapshot = Snapshot::new(&system);
        let mut probe = Probe {
            system,
            snapshot,
            parameters: model.parameters.clone(),
            values,
            points,
            guess,
            closed,
            sticking,
            equilibrium: None,
        };
        if model.start.equilibrium {
            probe.system.set_parameters(&probe.values);
            let state = equilibrium(&probe.system, &probe.system.start(), &probe.closed)?;
            probe.equilibrium = Some(state);
        }
        probe.settle()?;
        Ok(probe)
    }

    /// Number of a live parameter.
    ///
    /// # Errors
    ///
    /// No such parameter, or it is not live.
    pub(crate) fn parameter(&self, name: &str) -> Result<usize, AnalysisError> {
        self.parameters.iter().find(|p| p.name == name).and_then(|p| p.live).ok_or_else(|| {
            AnalysisError::UnknownParameter {
                name: name.to_string(),
                known: self.parameters.iter().map(|p| p.name.clone()).collect(),
            }
        })
    }

    /// Value of a live parameter.
    pub(crate) fn value(&self, parameter: usize) -> f64 {
        self.values[parameter]
    }

    /// Change a live parameter and settle again.
    ///
    /// # Errors
    ///
    /// A start that cannot be made consistent.
    pub(crate) fn set(&mut self, parameter: usize, value: f64) -> Result<(), AnalysisError> {
        self.values[parameter] = value;
        self.settle()
    }

    fn settle(&mut self) -> Result<(), AnalysisError> {
        self.system.set_parameters(&self.values);
        if let Some(state) = &self.equilibrium {
            self.snapshot.state.clone_from(state);
            return self.snapshot.take(&self.system);
        }
        let state = self.system.start();
        let mut state =
            consistent(&self.system, &state, &self.guess, &self.closed, &self.sticking).or_else(|_| {
                // the velocities of the file do not matter here
                let mut still = state.clone();
                still.u.fill(0.0);
                consistent(&self.system, &still, &self.guess, &self.closed, &self.sticking)
            })?;
        state.u.fill(0.0);
        self.snapshot.state = state;
        self.snapshot.take(&self.system)
    }

    /// Contacts that take part.
    pub(crate) fn closed(&self) -> Vec<bool> {
        self.snapshot.starts.iter().map(|s| *s != crate::contact::Start::Open).collect()
    }

    /// The evaluation at rest.
    pub(crate) fn eval(&self) -> &Eval {
        &self.snapshot.eval
    }

    /// ∂h/∂p of a parameter in which the forces are affine; `None` when they are not, or when anything else depends on it.
    ///
    /// # Errors
    ///
    /// A start that cannot be made consistent.
    pub(crate) fn column(&mut self, parameter: usize) -> Result<Option<Vec<f64>>, AnalysisError> {
        let here = self.values[parameter];
        let column = self.slope(parameter);
        let first = self.snapshot.eval.clone();
        let size = self.size_of(&column, here);
        let mut take = |value: f64| -> Result<Eval, AnalysisError> {
            self.set(parameter, value)?;
            Ok(self.snapshot.eval.clone())
        };
        let result = take(here + size).and_then(|a| take(here - 2.0 * size).map(|b| (a, b)));
        self.set(parameter, here)?;
        let Ok((a, b)) = result else { return Ok(None) };
        let near = |x: &[f64], y: &[f64]| {
            x.len() == y.len()
                && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= 1e-11 * (x.abs() + y.abs()) || x == y)
        };
        let same = |x: &Eval| {
            near(x.w.values(), first.w.values())
                && near(x.mass.values(), first.mass.values())
                && [(&x.mu, &first.mu), (&x.mu_static, &first.mu_static), (&x.load, &first.load)]
                    .into_iter()
                    .chain([(&x.load_static, &first.load_static), (&x.load_terms, &first.load_terms)])
                    .all(|(a, b)| near(a, b))
        };
        if !same(&a) || !same(&b) {
            return Ok(None);
        }
        // h at two other values lies on the line
        let on_line = |x: &Eval, step: f64| {
            (0..column.len()).all(|k| {
                let change = step * column[k];
                let off = x.h[k] - (first.h[k] + change);
                off.abs() <= 1e-9 * (x.h[k].abs() + first.h[k].abs() + change.abs())
            })
        };
        let affine = on_line(&a, size) && on_line(&b, -2.0 * size);
        Ok(affine.then_some(column))
    }

    /// How large a parameter at `here` counts: as large as it is, and large enough to matter beside the forces at rest, each coordinate
    /// by itself.
    pub(crate) fn size_of(&self, column: &[f64], here: f64) -> f64 {
        let matters = |(h, e): (&f64, &f64)| if *e == 0.0 { 0.0 } else { (h / e).abs() };
        let size = self.eval().h.iter().zip(column).map(matters).fold(here.abs(), f64::max);
        if size > 0.0 && size.is_finite() { size } else { 1.0 }
    }

    /// ∂h/∂p at the state.
    pub(super) fn slope(&self, parameter: usize) -> Vec<f64> {
        let mut direction = vec![0.0; self.values.len()];
        direction[parameter] = 1.0;
        let along = Along { parameters: &direction, ..Along::default() };
        let mut tangent = Tangent::new(&self.system);
        let Snapshot { state, discrete, eval, .. } = &self.snapshot;
        self.system.tangent(state, discrete, eval, &along, &mut tangent);
        tangent.rate.h
    }

    /// Jᵀ e₁ and Jᵀ e₂ of point number `k`.
    ///
    /// # Errors
    ///
    /// A position that is not finite.
    pub(crate) fn point_columns(&self, k: usize) -> Result<[Vec<f64>; 2], AnalysisError> {
        let Snapshot { state, discrete, .. } = &self.snapshot;
        let jacobian = self.system.point_jacobian(state, discrete, self.points[k]);
        let columns = jacobian.map(|j| [0, 1].map(|axis| j.row(axis).to_vec()));
        let finite = |c: &[Vec<f64>; 2]| c.iter().flatten().all(|v| v.is_finite());
        columns.filter(finite).ok_or_else(|| AnalysisError::NotFinite(" (the motion of a point)".to_string()))
    }
}

impl Probe {
    /// Rows ∂x, ∂y, ∂z of point number `k` in space.
    ///
    /// # Errors
    ///
    /// A position that is not finite.
    pub(crate) fn point_rows(&self, k: usize) -> Result<[Vec<f64>; 3], AnalysisError> {
        let Snapshot { state, discrete, .. } = &self.snapshot;
        let rows = self.system.space_jacobian(state, discrete, self.points[k]);
        let finite = |r: &[Vec<f64>; 3]| r.iter().flatten().all(|v| v.is_finite());
        rows.filter(finite).ok_or_else(|| AnalysisError::NotFinite(" (the motion of a point)".to_string()))
    }
}

/// Orthonormal columns: velocities that keep every bilateral row and every closed contact.
pub(crate) fn free_motions(
    info: &[crate::system::ContactInfo],
    eval: &Eval,
    closed: &[bool],
) -> crate::linalg::Mat {
    use crate::linalg::{Mat, null_space};
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut push = |row: usize| {
        let w = eval.w.row(row);
        let size = w.square().sqrt();
        if size > 0.0 {
            rows.push(w.to_vec().iter().map(|v| v / size).collect());
        }
    };
    for (i, c) in info.iter().enumerate() {
        if c.is_bilateral() || closed[i] {
            c.normal_rows().iter().for_each(|&r| push(r));
        }
    }
    if rows.is_empty() { Mat::identity(eval.h.len()) } else { null_space(&Mat::from_rows(&rows)) }
}

/// `plate.point`, `slider`: a point feature or the origin of a body.
fn point(model: &Model, name: &str) -> Result<FeatureRef, AnalysisError> {
    let unknown = || {
        let mut known = Vec::new();
        for body in &model.bodies {
            known.push(format!("`{}`", body.name));
            known.extend(
                body.features
                    .iter()
                    .filter(|f| is_point(&f.shape))
                    .map(|f| format!("`{}.{}`", body.name, f.name)),
            );
        }
        AnalysisError::Key(format!("there is no point `{name}`; the points are {}", known.join(", ")))
    };
    for (b, body) in model.bodies.iter().enumerate() {
        if body.name == name {
            return Ok(FeatureRef { body: Some(b), feature: None });
        }
        if let Some(rest) = name.strip_prefix(&body.name).and_then(|r| r.strip_prefix('.')) {
            let feature = body
                .features
                .iter()
                .position(|f| f.name == rest && is_point(&f.shape))
                .ok_or_else(unknown)?;
            return Ok(FeatureRef { body: Some(b), feature: Some(feature) });
        }
    }
    Err(unknown())
}

fn is_point(shape: &Shape) -> bool {
    matches!(shape, Shape::Point(_) | Shape::Space(SpaceShape::Point(_)))
}

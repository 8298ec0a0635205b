//! Friction of contacts: coefficients, laws at rest, tensors.

use super::builder::{Blocked, Builder, Context};
use super::diagnostic::{Fault, Resolved, fault};
use super::formula::Formula;
use super::raw_contacts::{RawContact, RawFriction};
use super::tensor;
use crate::expr::{Dim, Exponents, Fun, NodeId};
use crate::model::{Bound, Demand, Friction, FrictionTensor, Input};

/// W.
const POWER: Dim = Dim::Known(Exponents::whole([2, 1, -3, 0, 0]));

impl Builder<'_> {
    pub(super) fn not_negative(&mut self, formula: &Formula, node: NodeId, what: &str) -> Resolved<()> {
        self.bounded(formula, node, Bound::NotNegative, what)
    }

    /// A number known at load time must make sense; where live parameters give it, it is looked at again when they change.
    pub(super) fn bounded(
        &mut self,
        formula: &Formula,
        node: NodeId,
        bound: Bound,
        what: &str,
    ) -> Resolved<()> {
        let Some(value) = self.default_value(node) else { return Ok(()) };
        if !bound.admits(value) {
            return Err(formula.error(format!("{what} is {value}"), bound.help(value)).into());
        }
        if self.model.graph.constant(node).is_none() {
            self.model.demands.push(Demand { node, bound, what: what.to_string() });
        }
        Ok(())
    }

    pub(super) fn friction(
        &mut self,
        e: usize,
        c: &RawContact,
        friction: &RawFriction,
        key: crate::model::Span,
        context: &Context,
    ) -> Resolved<Friction> {
        let slip = self.slip_node(e).map_err(|x| match x {
            Blocked::Reported => Fault::Reported,
            Blocked::Message(m, h) => fault(key, m, h),
        })?;
        let slip = slip.ok_or(Fault::Reported)?;
        let speed = self.speed(e, slip, key)?;
        let mut sliding = context.clone();
        sliding.words.slip = Some([slip, speed]);
        let zero = self.zero();
        let mut resting = context.clone();
        resting.words.slip = Some([zero, zero]);
        resting.words.rest = Some(e);

        // power of the friction force, whatever the dimension of slip
        let wanted = match (c.friction_force, self.slip_dim(c)) {
            (true, dim) => POWER.over(dim),
            (false, _) => Dim::NONE,
        };
        let what = if c.friction_force { "this friction force" } else { "a friction coefficient" };
        let value = |b: &mut Self, f: &Formula, context: &Context| -> Resolved<NodeId> {
            let node = b.within(context.clone(), |b| b.lower_as(f, wanted, what))?;
            b.not_negative(f, node, what)?;
            Ok(node)
        };
        match friction {
            RawFriction::Law(f) => {
                let moving = value(self, f, &sliding)?;
                // at rest the same formula at zero slip
                let rest = value(
                    self,
                    f,
                    &Context { words: super::builder::Words { rest: None, ..resting.words }, ..resting },
                )?;
                Ok(Friction { sliding: moving, sticking: rest, tensor: None })
            }
            RawFriction::Split { rest, sliding: moving } => {
                let moving_node = moving.as_ref().map(|f| value(self, f, &sliding)).transpose()?;
                let rest_node = rest.as_ref().map(|f| value(self, f, &resting)).transpose()?;
                let rest_context = Context {
                    words: super::builder::Words { rest: None, ..resting.words },
                    ..resting.clone()
                };
                let sticking = match (rest_node, moving) {
                    (Some(node), _) => node,
                    (None, Some(f)) => value(self, f, &rest_context)?,
                    (None, None) => return Err(Fault::Reported),
                };
                Ok(Friction { sliding: moving_node.unwrap_or(sticking), sticking, tensor: None })
            }
            RawFriction::Regular(f) => {
                if !c.is_rigid() {
                    let help =
                        "the regular tensor is built for a rigid contact with a gap; give a coefficient here";
                    return Err(f
                        .error(
                            format!("contact `{}` asks for the regular friction tensor", c.name.text),
                            help,
                        )
                        .into());
                }
                let moving = value(self, f, &sliding)?;
                let words = super::builder::Words { rest: None, ..resting.words };
                let rest = value(self, f, &Context { words, ..resting })?;
                Ok(Friction { sliding: moving, sticking: rest, tensor: Some(FrictionTensor::Regular) })
            }
            RawFriction::Ellipse(_) | RawFriction::Patch { .. } => {
                self.plane_friction(e, c, friction, &sliding, &resting, key)
            }
            RawFriction::Tensor(rows, span) => self.tensor_friction(c, rows, *span, &sliding),
        }
    }

    /// Size of the slip: in one direction by its sign, which is frozen; in two by its root.
    fn speed(&mut self, e: usize, slip: NodeId, key: crate::model::Span) -> Resolved<NodeId> {
        Ok(match self.second_slip(e, key)? {
            // a floor of 1e-60 keeps its derivative finite at rest
            Some(second) => {
                let g = &mut self.model.graph;
                let (a, b, tiny) = (g.mul(slip, slip), g.mul(second, second), g.num(1e-60));
                let sum = g.add(a, b);
                let sum = g.add(sum, tiny);
                g.fun(Fun::Sqrt, sum)
            }
            None => {
                let direction = self.input(Input::Direction(e));
                self.model.graph.mul(direction, slip)
            }
        })
    }

    /// A matrix of coefficients; it must not create energy.
    fn tensor_friction(
        &mut self,
        c: &RawContact,
        rows: &[Vec<Formula>],
        span: crate::model::Span,
        sliding: &Context,
    ) -> Resolved<Friction> {
        let mut nodes = Vec::new();
        for f in rows.iter().flatten() {
            nodes.push(
                self.within(sliding.clone(), |b| b.lower_as(f, Dim::NONE, "an entry of a friction tensor"))?,
            );
        }
        if rows.len() > 2 {
            let message = format!("friction tensor of `{}` has {} rows", c.name.text, rows.len());
            let help = "in space it is a matrix over the two tangents; in the plane over tangent and normal";
            return Err(fault(span, message, help));
        }
        let values: Option<Vec<f64>> = nodes.iter().map(|&n| self.default_value(n)).collect();
        if let Some(values) = values
            && let Some(lowest) = tensor::lowest_eigenvalue(&values, rows.len())
            && lowest < -1e-12
        {
            let help =
                format!("its symmetric part has the eigenvalue {}; all must be ≥ 0", two_digits(lowest));
            return Err(fault(span, format!("friction tensor of `{}` creates energy", c.name.text), help));
        }
        if self.spatial.is_some() && c.slip.is_none() != c.second_slip.is_none() {
            let help = "give `slip` two formulas, or one coefficient";
            return Err(fault(span, format!("contact `{}` rubs in one direction only", c.name.text), help));
        }
        let mu = nodes[0];
        Ok(Friction { sliding: mu, sticking: mu, tensor: Some(FrictionTensor::Entries(nodes)) })
    }

    pub(super) fn slip_dim(&mut self, c: &RawContact) -> Dim {
        match &c.slip {
            Some(f) => self.dim(f).unwrap_or(Dim::Any),
            None => Dim::Any,
        }
    }
}

fn two_digits(x: f64) -> String {
    let digits = (1.0 - x.abs().log10().floor()).clamp(0.0, 15.0) as usize;
    format!("{x:.digits$}")
}

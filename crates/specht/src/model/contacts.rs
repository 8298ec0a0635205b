//! Contacts: from geometry and laws to rows, coefficients and loads.

use std::collections::BTreeMap;

use crate::contact::ContactError;
use crate::expr::{Fun, NodeId, Symbol};
use crate::system::{Normal, Pressure};

use super::contact_parts::Part;
use super::forces::Accounts;
use super::frames::{Builder, Row};
use super::geometry::ContourProblem;
use super::outline::Watch;
use super::space::Hulls;
use super::{Contact, FrictionTensor, Input, NormalLaw, Span};

/// Why a model has no equations.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    /// What is wrong and what to do.
    pub message: String,
    /// Place in the file.
    pub span: Span,
}

/// One contact of the system.
#[derive(Clone, Debug)]
pub(super) struct ContactPlan {
    pub name: String,
    pub normal: Normal,
    pub tangent: Option<usize>,
    /// The second tangent of a contact in space.
    pub second: Option<usize>,
    /// The third: drilling of a patch, spin of a ball joint.
    pub third: Option<usize>,
    /// Contact of the system whose normal force bounds this one.
    pub follows: Option<usize>,
    pub section: SectionPlan,
    pub friction: bool,
    pub slip: Option<NodeId>,
    /// A tensor over tangent and normal: its entries, or `None` for the regular one.
    pub tensor: Option<Option<[NodeId; 4]>>,
    pub mu: NodeId,
    pub mu_static: NodeId,
    /// Radius of a journal.
    pub radius: NodeId,
    pub load: NodeId,
    pub load_static: NodeId,
    /// (contact of the model, coefficient).
    pub terms: Vec<(usize, NodeId)>,
    pub restitution: [NodeId; 3],
}

/// Section of the friction cone of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) enum SectionPlan {
    Round,
    Tensor([NodeId; 4]),
    Ellipse([NodeId; 2]),
    Patch { pressure: Pressure, power: f64 },
}

/// An elastic flank (PG-3.2): whether it presses is frozen in a latch.
///
/// ```text
/// away     g > 0 (law C: g > γ_w)         ends where it falls to zero: contact begins kinematically
/// pressing F = −c g − d ġ > 0             ends where it falls to zero: contact ends by the force
/// released F < 0 and g < 0                back to pressing when F rises, to away when g does; not for law C
/// ```
#[derive(Clone, Debug)]
pub(super) struct Flank {
    /// [`Input::Feature`] number of the flag: 1 while pressing.
    pub feature: usize,
    /// Law C: the surface γ_w as a first-order state, with its rate.
    pub surface: Option<(usize, NodeId)>,
    /// Positive while away.
    pub away: NodeId,
    /// The force while pressing.
    pub force: NodeId,
    pub gap: NodeId,
    pub gap_rate: NodeId,
    /// Without a damper force and gap vanish together, there is no released state.
    pub damped: bool,
    pub name: String,
    /// Contact of the system.
    pub contact: usize,
}

/// All contacts of the system.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactsPlan {
    pub rows: Vec<Row>,
    pub contacts: Vec<ContactPlan>,
    /// System contacts of each contact of the model.
    pub of_model: Vec<std::ops::Range<usize>>,
    /// Equations of curves, with the contact.
    pub contours: Vec<(usize, ContourProblem)>,
    /// Watched chains of edges, with the contact.
    pub watches: Vec<(usize, Watch)>,
    /// Polyhedra that meet, with the first contact.
    pub hulls: Vec<(usize, Hulls)>,
    pub flanks: Vec<Flank>,
    /// Contacts of the system that stand for themselves in inputs: number in the input → contact.
    pub labels: Vec<usize>,
    /// Replacements of Gap, GapRate, Slip.
    pub map: BTreeMap<Symbol, NodeId>,
    pub features: usize,
    pub contour_count: usize,
}

/// The bound of friction while it is put together: μ (times radius), load and terms of other contacts.
struct Bound {
    mu: NodeId,
    mu_static: NodeId,
    /// Radius of a journal or patch.
    radius: NodeId,
    load: NodeId,
    load_static: NodeId,
    terms: Vec<(usize, NodeId)>,
}

impl Bound {
    fn none(b: &Builder) -> Self {
        let zero = b.zero;
        Bound { mu: zero, mu_static: zero, radius: zero, load: zero, load_static: zero, terms: Vec::new() }
    }
}

impl ContactsPlan {
    pub(super) fn new(b: &mut Builder, accounts: &mut Accounts) -> Result<Self, BuildError> {
        let mut plan = ContactsPlan::default();
        let mut count = [0, 0];
        let mut parts = Vec::new();
        for (k, contact) in b.model.contacts.iter().enumerate() {
            let first = parts.len();
            plan.geometry(b, k, contact, &mut parts, &mut count)?;
            plan.of_model.push(first..parts.len());
        }
        plan.placeholders(b, &parts);
        let mut waiting = Vec::new();
        for part in parts {
            waiting.extend(Resistance::of(b, &plan, &part));
            plan.contact(b, accounts, part, &mut count)?;
        }
        // after all others: they are no contacts of the file
        waiting.into_iter().for_each(|r| plan.resistance(b, r));
        [plan.contour_count, plan.features] = count;
        Ok(plan)
    }

    /// Replacements for contact quantities in formulas. Of several latent contacts the smallest gap stands for all.
    fn placeholders(&mut self, b: &mut Builder, parts: &[Part]) {
        for k in 0..self.of_model.len() {
            let of = &parts[self.of_model[k].clone()];
            let normal = |f: fn(&Row) -> NodeId| move |p: &Part| p.normal.first().map(f);
            let values = [(Input::Gap(k), normal(|r| r.value)), (Input::GapRate(k), normal(|r| r.rate))];
            for (input, of_part) in values {
                if let Some(node) = nearest(b, of, of_part) {
                    self.map.insert(b.symbol(input), node);
                }
            }
            let slip = |p: &Part| p.tangent.as_ref().map(|r| r.rate);
            if let Some(rate) = nearest(b, of, slip) {
                self.map.insert(b.symbol(Input::Slip(k)), rate);
            }
            self.space_placeholders(b, k, of);
            second_derivatives(&mut self.map, b, k, of);
        }
        self.labels = self.of_model.iter().map(|r| r.start).collect();
    }

    /// Second slip and force of a contact in space.
    fn space_placeholders(&mut self, b: &mut Builder, k: usize, of: &[Part]) {
        if let Some(rate) = nearest(b, of, |p| p.second.as_ref().map(|r| r.rate)) {
            self.map.insert(b.symbol(Input::SecondSlip(k)), rate);
        }
        let asked = |b: &Builder, i: usize| b.model.inputs.contains(&Input::ContactForce(k, i));
        for i in 0..3 {
            if !asked(b, i) {
                continue;
            }
            let node = match of {
                [Part { directions: Some([n, t1, t2]), .. }] => {
                    let [normal, first, second] =
                        [Input::Normal(k), Input::Tangential(k), Input::SecondTangential(k)]
                            .map(|x| b.input(x));
                    let [n, t1, t2] = [(normal, n), (first, t1), (second, t2)].map(|(f, d)| b.g.mul(f, d[i]));
                    let sum = b.g.add(n, t1);
                    b.g.add(sum, t2)
                }
                _ => b.input(Input::Reaction(k, i)),
            };
            self.map.insert(b.symbol(Input::ContactForce(k, i)), node);
        }
    }

    fn contact(
        &mut self,
        b: &mut Builder,
        accounts: &mut Accounts,
        part: Part,
        count: &mut [usize; 2],
    ) -> Result<(), BuildError> {
        let model = b.model;
        let contact = &model.contacts[part.model];
        let refuse = |message: String| BuildError { message, span: contact.span };
        let here = self.contacts.len();
        let mut map = self.map.clone();
        if part.latent {
            self.localise(b, part.model, here, &part, &mut map);
        }

        let mut bound = Bound::none(b);
        if let Some(friction) = &contact.friction {
            bound.mu = b.replace(friction.sliding, &map);
            bound.mu_static = b.replace(friction.sticking, &map);
            if part.tangent.is_none() {
                return Err(refuse(format!("contact `{}`: friction needs a slip velocity", contact.name)));
            }
        }
        let slip = part.tangent.as_ref().map(|r| r.rate);
        let normal = self.law(b, accounts, &part, &map, &mut bound, count)?;
        let (section, tensor, third) = section(b, contact, &part, &map, &mut bound);
        check_section(contact, &part, &normal, (section, tensor.is_some(), third.is_some()))?;
        if !matches!(normal, Normal::Given { row: None }) {
            self.rows.extend(part.normal);
        }
        let [tangent, second, third] = [part.tangent, part.second, third].map(|row| {
            self.rows.push(row?);
            Some(self.rows.len() - 1)
        });
        self.contacts.push(ContactPlan {
            name: part.name,
            normal,
            tangent,
            second,
            third,
            follows: None,
            section,
            friction: contact.friction.is_some(),
            slip,
            tensor,
            mu: bound.mu,
            mu_static: bound.mu_static,
            radius: bound.radius,
            load: bound.load,
            load_static: bound.load_static,
            terms: bound.terms,
            restitution: contact.restitution.map(|n| b.replace(n, &map)),
        });
        Ok(())
    }

    /// The normal law of a contact with its rows, and what it adds to the bound of friction.
    fn law(
        &mut self,
        b: &mut Builder,
        accounts: &mut Accounts,
        part: &Part,
        map: &BTreeMap<Symbol, NodeId>,
        bound: &mut Bound,
        count: &mut [usize; 2],
    ) -> Result<Normal, BuildError> {
        let model = b.model;
        let contact = &model.contacts[part.model];
        let refuse = |message: String| BuildError { message, span: contact.span };
        let gap_row = part.normal.first().cloned();
        let first_row = self.rows.len();
        let missing = || refuse(format!("contact `{}` has no gap", contact.name));
        Ok(match &contact.law {
            NormalLaw::Unilateral => {
                gap_row.ok_or_else(missing)?;
                Normal::Unilateral { row: first_row }
            }
            NormalLaw::Bilateral => {
                gap_row.ok_or_else(missing)?;
                Normal::Bilateral { row: first_row }
            }
            NormalLaw::Pin { radius } if part.normal.len() == 3 => {
                if let Some(r) = radius {
                    let r = b.replace(*r, map);
                    bound.radius = r;
                    [bound.mu, bound.mu_static] = [bound.mu, bound.mu_static].map(|mu| journal(b, r, mu));
                }
                Normal::Ball { rows: [first_row, first_row + 1, first_row + 2] }
            }
            NormalLaw::Pin { radius } => {
                if part.normal.len() != 2 {
                    return Err(missing());
                }
                if let Some(r) = radius {
                    let r = b.replace(*r, map);
                    bound.radius = r;
                    bound.mu = journal(b, r, bound.mu);
                    bound.mu_static = journal(b, r, bound.mu_static);
                }
                Normal::Pin { rows: [first_row, first_row + 1] }
            }
            NormalLaw::Elastic { spring, damper, both_signs, relaxing } => {
                let row = gap_row.ok_or_else(missing)?;
                let (c, d) = (b.replace(*spring, map), b.replace(*damper, map));
                let (push, drag) = (b.g.mul(c, row.value), b.g.mul(d, row.rate));
                let sum = b.g.add(push, drag);
                let force = b.g.neg(sum);
                if *both_signs && contact.friction.is_some() {
                    // never opens; friction is bounded by the size of the force (ANH-4.3-LIMIT)
                    accounts.push_row(b, force, &row);
                    bound.load = b.g.abs(force);
                    bound.load_static = bound.load;
                    Normal::Given { row: None }
                } else {
                    let relax = (*relaxing && d != b.zero).then(|| b.g.div(c, d));
                    bound.load = match both_signs {
                        true => force,
                        false => self.flank(b, &part.name, &row, force, relax, d != b.zero, count),
                    };
                    bound.load_static = bound.load;
                    accounts.push_row(b, bound.load, &row);
                    Normal::Given { row: Some(first_row) }
                }
            }
            NormalLaw::Loaded { load: node, terms: list } => {
                let rigid = |law: &NormalLaw| {
                    matches!(law, NormalLaw::Unilateral | NormalLaw::Bilateral | NormalLaw::Pin { .. })
                };
                if !list.iter().all(|t| model.contacts.get(t.0).is_some_and(|c| rigid(&c.law))) {
                    return Err(refuse(ContactError::Load(contact.name.clone()).to_string()));
                }
                bound.load = b.replace(*node, map);
                bound.load_static = bound.load;
                bound.terms = list.iter().map(|&(k, n)| (k, b.replace(n, map))).collect();
                Normal::Given { row: None }
            }
            NormalLaw::FrictionForce => {
                (bound.load, bound.load_static) = (bound.mu, bound.mu_static);
                (bound.mu, bound.mu_static) = (b.one, b.one);
                Normal::Given { row: None }
            }
        })
    }

    /// A moment against rolling or drilling: friction whose bound follows the normal force of another contact.
    fn resistance(&mut self, b: &mut Builder, r: Resistance) {
        let first = self.rows.len();
        let count = r.rows.len();
        self.rows.extend(r.rows);
        let at = |k: usize| (k < count).then_some(first + k);
        self.contacts.push(ContactPlan {
            name: r.name,
            normal: Normal::Given { row: None },
            tangent: at(0),
            second: at(1),
            third: None,
            follows: Some(r.follows),
            section: SectionPlan::Round,
            friction: true,
            slip: None,
            tensor: None,
            mu: r.length,
            mu_static: r.length,
            radius: b.zero,
            load: b.zero,
            load_static: b.zero,
            terms: vec![(r.follows, b.one)],
            restitution: [b.zero; 3],
        });
    }

    /// In the laws of a latent contact the names of its family mean itself.
    fn localise(
        &mut self,
        b: &mut Builder,
        k: usize,
        here: usize,
        part: &Part,
        map: &mut BTreeMap<Symbol, NodeId>,
    ) {
        if let Some(row) = part.normal.first() {
            map.insert(b.symbol(Input::Gap(k)), row.value);
            map.insert(b.symbol(Input::GapRate(k)), row.rate);
        }
        if let Some(row) = &part.tangent {
            map.insert(b.symbol(Input::Slip(k)), row.rate);
        }
        if let Some(row) = &part.second {
            map.insert(b.symbol(Input::SecondSlip(k)), row.rate);
        }
        let label = self.labels.len();
        self.labels.push(here);
        for (old, new) in [
            (Input::Direction(k), Input::Direction(label)),
            (Input::StickTime(k), Input::StickTime(label)),
            (Input::LoadRate(k), Input::LoadRate(label)),
        ] {
            let node = b.input(new);
            map.insert(b.symbol(old), node);
        }
    }

    /// A unilateral flank; with `relax` = c/d it is law C: in contact the surface follows the body, in flight it relaxes,
    /// γ̇_w = −(c/d) γ_w. (3.20)-(3.23)
    fn flank(
        &mut self,
        b: &mut Builder,
        name: &str,
        row: &Row,
        force: NodeId,
        relax: Option<NodeId>,
        damped: bool,
        count: &mut [usize; 2],
    ) -> NodeId {
        let feature = count[1];
        count[1] += 1;
        let flag = b.input(Input::Feature(feature));
        let mut away = row.value;
        let surface = relax.map(|relax| {
            let state = b.model.states.len() + self.flanks.iter().filter(|f| f.surface.is_some()).count();
            let surface = b.input(Input::State(state));
            let back = b.g.mul(relax, surface);
            let back = b.g.neg(back);
            away = b.g.sub(row.value, surface);
            (state, b.g.select(flag, row.rate, back))
        });
        let (gap, gap_rate, name) = (row.value, row.rate, name.to_string());
        let contact = self.contacts.len();
        self.flanks.push(Flank { feature, surface, away, force, gap, gap_rate, damped, name, contact });
        b.g.mul(flag, force)
    }
}

/// Resistance of a contact against rolling or drilling.
struct Resistance {
    name: String,
    /// Contact of the system.
    follows: usize,
    length: NodeId,
    rows: Vec<Row>,
}

impl Resistance {
    /// Those of a part, which becomes the next contact.
    fn of(b: &mut Builder, plan: &ContactsPlan, part: &Part) -> Vec<Resistance> {
        let model = b.model;
        let space = &model.contacts[part.model].space;
        let Some([n, t1, t2]) = part.directions else { return Vec::new() };
        let mut out = Vec::new();
        for (length, word, list) in
            [(space.rolling, "rolling", vec![t1, t2]), (space.drilling, "drilling", vec![n])]
        {
            let Some(length) = length else { continue };
            let length = b.replace(length, &plan.map);
            let one = b.one;
            let rows = list.into_iter().map(|d| b.row_of_spin(d, part.bodies, one)).collect();
            out.push(Resistance {
                name: format!("{}.{word}", part.name),
                follows: plan.contacts.len(),
                length,
                rows,
            });
        }
        out
    }
}

/// Section of the friction cone; the tensor over tangent and normal; the third tangent.
type Section = (SectionPlan, Option<Option<[NodeId; 4]>>, Option<Row>);

/// The friction that a tensor, an ellipse or a patch describes: the bound is of size one then.
fn section(
    b: &mut Builder,
    contact: &Contact,
    part: &Part,
    map: &BTreeMap<Symbol, NodeId>,
    bound: &mut Bound,
) -> Section {
    let mut section = SectionPlan::Round;
    let mut third = part.third.clone();
    let plane = part.second.is_some();
    let tensor = match contact.friction.as_ref().and_then(|f| f.tensor.as_ref()) {
        Some(FrictionTensor::Entries(list)) => match list[..] {
            [a, b0, c, d] => {
                let entries = [a, b0, c, d].map(|n| b.replace(n, map));
                if plane {
                    section = SectionPlan::Tensor(entries);
                    (bound.mu, bound.mu_static) = (b.one, b.one);
                }
                (!plane).then_some(Some(entries))
            }
            _ => None,
        },
        Some(FrictionTensor::Ellipse(list)) => {
            section = SectionPlan::Ellipse(list.map(|n| b.replace(n, map)));
            (bound.mu, bound.mu_static) = (b.one, b.one);
            None
        }
        Some(FrictionTensor::Patch { radius, pressure, power }) => {
            section = SectionPlan::Patch { pressure: *pressure, power: *power };
            bound.radius = b.replace(*radius, map);
            third = match (part.directions, contact.space.spin) {
                (Some([n, ..]), None) => Some(b.row_of_spin(n, part.bodies, bound.radius)),
                (_, Some(spin)) => {
                    let spin = b.replace(spin, map);
                    let edge = b.g.mul(bound.radius, spin);
                    Some(b.row_of_velocity(edge))
                }
                _ => None,
            };
            None
        }
        Some(FrictionTensor::Regular) => Some(None),
        None => None,
    };
    (section, tensor, third)
}

/// Which contacts may have which section; told are the section, whether there is a tensor and a third tangent.
fn check_section(
    contact: &Contact,
    part: &Part,
    normal: &Normal,
    (section, tensor, third): (SectionPlan, bool, bool),
) -> Result<(), BuildError> {
    let refuse = |message: String| BuildError { message, span: contact.span };
    if !matches!(section, SectionPlan::Round) && part.second.is_none() {
        let text = "ellipses and patches belong to friction in two directions";
        return Err(refuse(format!(
            "contact `{}`: {text}; give `slip` two formulas, or a coefficient",
            contact.name
        )));
    }
    if matches!(section, SectionPlan::Patch { .. }) && !third {
        let text = "a patch needs bodies (`between`) or the spin about the normal,  spin = \"…\"";
        return Err(refuse(format!("contact `{}`: {text}", contact.name)));
    }
    if tensor && !matches!(normal, Normal::Unilateral { .. } | Normal::Bilateral { .. }) {
        let text = "a friction tensor with a normal part needs a rigid contact with a gap (no spring, pin or given force)";
        return Err(refuse(format!("contact `{}`: {text}; give a coefficient", contact.name)));
    }
    Ok(())
}

/// g̈ and the rate of slip, W u̇ + w̄, for outputs that ask for them.
fn second_derivatives(map: &mut BTreeMap<Symbol, NodeId>, b: &mut Builder, k: usize, of: &[Part]) {
    let asked = |input: Input| b.model.inputs.contains(&input);
    let (gap, slip) = (asked(Input::GapAcceleration(k)), asked(Input::SlipRate(k)));
    let mut put = |b: &mut Builder, input: Input, row: fn(&Part) -> Option<&Row>| {
        let accel: Vec<Option<NodeId>> = of.iter().map(|p| row(p).map(|r| acceleration(b, r))).collect();
        let mut accel = accel.into_iter();
        if let Some(node) = nearest(b, of, |_| accel.next().flatten()) {
            map.insert(b.symbol(input), node);
        }
    };
    if gap {
        put(b, Input::GapAcceleration(k), |p| p.normal.first());
    }
    if slip {
        put(b, Input::SlipRate(k), |p| p.tangent.as_ref());
    }
}

/// A quantity of that part whose gap is the smallest; `None` when a part has no such quantity.
fn nearest(
    b: &mut Builder,
    of: &[Part],
    mut quantity: impl FnMut(&Part) -> Option<NodeId>,
) -> Option<NodeId> {
    let (first, rest) = of.split_first()?;
    let mut value = quantity(first)?;
    let mut lowest = first.normal.first().map(|r| r.value);
    for part in rest {
        let (low, gap, other) = (lowest?, part.normal.first()?.value, quantity(part)?);
        let keep = b.g.le(low, gap);
        value = b.g.select(keep, value, other);
        lowest = Some(b.g.select(keep, low, gap));
    }
    Some(value)
}

/// W u̇ + w̄ of a row, with the accelerations as inputs.
fn acceleration(b: &mut Builder, row: &Row) -> NodeId {
    let mut sum = row.accel_offset;
    for &(i, w) in &row.columns {
        let a = b.input(Input::Acceleration(i));
        let part = b.g.mul(w, a);
        sum = b.g.add(sum, part);
    }
    sum
}

/// Largest moment of a journal per pin force: r μ/√(1 + μ²).
fn journal(b: &mut Builder, r: NodeId, mu: NodeId) -> NodeId {
    let square = b.g.powi(mu, 2);
    let sum = b.g.add(b.one, square);
    let root = b.g.fun(Fun::Sqrt, sum);
    let product = b.g.mul(r, mu);
    b.g.div(product, root)
}

//! Units of the columns of a run: from the units that the file gives, and from what coordinates are used for.

use std::collections::BTreeMap;

use super::builder::Builder;
use super::formula::Formula;
use super::names::What;
use super::raw::{RawFile, RawValue};
use super::raw_parts::{RawContact, RawGeometry};
use crate::expr::{Dim, Exponents, check_dimensions};

const FORCE: Dim = Dim::Known(Exponents::whole([1, 1, -2, 0, 0]));
pub(super) const ENERGY: Dim = Dim::Known(Exponents::whole([2, 1, -2, 0, 0]));

impl Builder<'_> {
    /// Unit by name, for everything whose unit is known: parameters, coordinates and velocities, states, outputs, plots, contacts.
    pub(super) fn finish_units(&mut self) {
        let raw = self.raw.clone();
        let mut dims = self.dims.clone();
        let mut angles: Vec<String> = Vec::new();
        for body in &raw.bodies {
            for formula in body.position.iter().flatten() {
                learn(&mut dims, formula, Dim::LENGTH);
            }
            if let Some(formula) = &body.angle {
                learn(&mut dims, formula, Dim::NONE);
                angles.push(base(formula));
            }
        }
        let mut units: BTreeMap<String, String> = BTreeMap::new();
        let mut put = |name: String, dim: Dim, angle: bool, rate: u32| {
            let unit = unit(dim, angle, rate);
            if !unit.is_empty() {
                units.insert(name, unit);
            }
        };
        for p in &raw.parameters {
            let angle = matches!(&p.value, RawValue::One(f) if [" deg", " rad"].iter().any(|u| f.text().ends_with(u)));
            put(p.name.text.clone(), dims.get(&p.name.text).copied().unwrap_or(Dim::Any), angle, 0);
        }
        for c in &raw.coordinates {
            let name = &c.name.text;
            let dim = dims.get(name).copied().unwrap_or(Dim::Any);
            let angle = dim == Dim::NONE || angles.contains(name);
            put(name.clone(), dim, angle, 0);
            put(format!("{name}'"), dim, angle, 1);
        }
        for s in &raw.states {
            put(s.name.text.clone(), dims.get(&s.name.text).copied().unwrap_or(Dim::Any), false, 0);
        }
        for c in &raw.contacts {
            let gap = self.gap_dim(c, &dims);
            let name = &c.name.text;
            let force = if gap == Dim::LENGTH { FORCE } else { ENERGY.over(gap) };
            let angle = gap == Dim::NONE;
            put(format!("{name}.gap"), gap, angle, 0);
            put(format!("{name}.slip"), gap, angle, 1);
            put(format!("{name}.normal"), force, false, 0);
            put(format!("{name}.tangential"), force, false, 0);
            if self.spatial.is_some() {
                put(format!("{name}.speed"), gap, angle, 1);
                put(format!("{name}.friction"), force, false, 0);
                for k in 1..=2 {
                    put(format!("{name}.slip[{k}]"), gap, angle, 1);
                    put(format!("{name}.tangential[{k}]"), force, false, 0);
                }
            }
        }
        for body in raw.bodies.iter().filter(|b| b.space.rotation.is_free()) {
            ["x", "y", "z"]
                .iter()
                .for_each(|c| put(format!("{}.spin.{c}", body.name.text), Dim::NONE, true, 1));
        }
        let heats = self.model.states.iter().filter(|s| s.name.ends_with(".heat"));
        units.extend(heats.map(|s| (s.name.clone(), "J".to_string())));
        self.units_of_formulas(&raw, &dims, &angles, &mut units);
        self.model.units = units;
    }

    /// Dimension of the gap of a contact.
    fn gap_dim(&self, c: &RawContact, dims: &BTreeMap<String, Dim>) -> Dim {
        match &c.geometry {
            RawGeometry::Between(_) | RawGeometry::Pin(_) => Dim::LENGTH,
            RawGeometry::Gap(f) | RawGeometry::Play(f, _) => {
                check_dimensions(&f.ast, &|path: &[&str]| self.shown(dims, path)).unwrap_or(Dim::Any)
            }
            RawGeometry::Guide(pair) => {
                check_dimensions(&pair[0].ast, &|path: &[&str]| self.shown(dims, path)).unwrap_or(Dim::Any)
            }
            RawGeometry::Directions(..) => Dim::NONE,
            RawGeometry::None => Dim::Any,
        }
    }

    /// Units of outputs and plotted formulas.
    fn units_of_formulas(
        &self,
        raw: &RawFile,
        dims: &BTreeMap<String, Dim>,
        angles: &[String],
        units: &mut BTreeMap<String, String>,
    ) {
        let shown = raw.outputs.iter().map(|(name, f)| (name.text.clone(), f));
        let plotted = raw.plots.iter().flat_map(|p| p.x.iter().chain(&p.y)).map(|f| (f.text(), f));
        let contacts = units.clone();
        for (name, formula) in shown.chain(plotted) {
            if units.contains_key(&name) {
                continue;
            }
            let known = |path: &[&str]| match path {
                [_, "gap" | "slip" | "normal" | "tangential"] if contacts.contains_key(&path.join(".")) => {
                    match path[1] {
                        "gap" => Dim::LENGTH,
                        "slip" => Dim::LENGTH.over(Dim::TIME),
                        _ => FORCE,
                    }
                }
                _ => self.shown(dims, path),
            };
            let plain = base(formula);
            let angle = angles.contains(&plain) || angles.iter().any(|a| format!("{a}'") == plain);
            let dim = check_dimensions(&formula.ast, &known).unwrap_or(Dim::Any);
            let rate = u32::from(angle && plain.ends_with('\''));
            let energy = dim == ENERGY && (plain.ends_with(".heat") || plain.starts_with("energy."));
            let unit = match (angle, energy) {
                (true, _) => unit(Dim::NONE, true, rate),
                (_, true) => "J".to_string(),
                _ => unit(dim, false, 0),
            };
            if !unit.is_empty() {
                units.insert(name, unit);
            }
        }
    }

    fn shown(&self, dims: &BTreeMap<String, Dim>, path: &[&str]) -> Dim {
        match path {
            ["t"] => Dim::TIME,
            ["energy", _] | [_, .., "heat"] => ENERGY,
            [name] => dims.get(*name).copied().unwrap_or(Dim::Any),
            [body, rest @ ..] if matches!(self.names.get(body), Some(What::Body(_))) => match rest {
                ["touch", _] => FORCE,
                ["spin", _] => Dim::Known(Exponents::whole([0, 0, -1, 0, 0])),
                ["axis1" | "axis2" | "axis3", _] => Dim::NONE,
                ["x" | "y" | "z"] | [_, "x" | "y" | "z"] => Dim::LENGTH,
                ["angle"] => Dim::NONE,
                _ => Dim::Any,
            },
            ["ground", "touch", _] => FORCE,
            _ => Dim::Any,
        }
    }
}

/// A formula that is one name tells its dimension.
fn learn(dims: &mut BTreeMap<String, Dim>, formula: &Formula, dim: Dim) {
    let entry = dims.entry(base(formula)).or_insert(Dim::Any);
    *entry = entry.or(dim);
}

/// The text without index and minus: `-phi[i]` is about `phi`.
fn base(formula: &Formula) -> String {
    let text = formula.text();
    text.trim().trim_start_matches('-').split('[').next().unwrap_or("").trim().to_string()
}

/// A dimension as a unit; nothing for pure numbers and what is not known.
fn unit(dim: Dim, angle: bool, rate: u32) -> String {
    match dim {
        Dim::Known(e) if e == Exponents::NONE => match (angle, rate) {
            (true, 0) => "rad".into(),
            (true, _) => "rad/s".into(),
            _ => String::new(),
        },
        Dim::Known(_) => match dim.rate(rate) {
            Dim::Known(e) => e.to_string(),
            Dim::Any => String::new(),
        },
        Dim::Any => String::new(),
    }
}

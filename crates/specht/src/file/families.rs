//! Families: `for = "i = 1..n"` makes one entry per index. After loading no families remain.

use super::builder::{Builder, Context, Element, Group, Scope};
use super::diagnostic::Resolved;
use super::formula::Family;
use super::raw_parts::RawGeometry;

/// Longest family.
const MAX_MEMBERS: f64 = 10_000.0;
/// Most members of all families of a section.
const MAX_ELEMENTS: usize = 50_000;

impl Builder<'_> {
    /// Counts the members of all entries and names them.
    pub(super) fn expand(&mut self) {
        let raw = self.raw.clone();
        let section: Vec<_> =
            raw.coordinates.iter().map(|c| (c.name.text.as_str(), c.family.as_ref(), 1)).collect();
        self.coordinates = self.section(&section);
        let section: Vec<_> =
            raw.states.iter().map(|c| (c.name.text.as_str(), c.family.as_ref(), 1)).collect();
        self.states = self.section(&section);
        let section: Vec<_> =
            raw.memory.iter().map(|c| (c.name.text.as_str(), c.family.as_ref(), 1)).collect();
        self.memory = self.section(&section);
        let section: Vec<_> =
            raw.bodies.iter().map(|c| (c.name.text.as_str(), c.family.as_ref(), 1)).collect();
        self.bodies = self.section(&section);
        let section: Vec<_> = raw
            .forces
            .iter()
            .map(|c| (c.name.as_ref().map_or("", |n| n.text.as_str()), c.family.as_ref(), 1))
            .collect();
        self.forces = self.section(&section);
        let each = |g: &RawGeometry| if matches!(g, RawGeometry::Play(..)) { 2 } else { 1 };
        let section: Vec<_> = raw
            .contacts
            .iter()
            .map(|c| (c.name.text.as_str(), c.family.as_ref(), each(&c.geometry)))
            .collect();
        self.contacts = self.section(&section);
    }

    fn section(&mut self, entries: &[(&str, Option<&Family>, usize)]) -> (Vec<Group>, Vec<Element>) {
        let mut groups = Vec::with_capacity(entries.len());
        let mut elements: Vec<Element> = Vec::new();
        for (raw, (name, family, each)) in entries.iter().enumerate() {
            let first = elements.len();
            let range = match family {
                None => Some((1, 1)),
                Some(family) => {
                    let range = self.range(family);
                    self.keep(range)
                }
            };
            let Some((low, high)) = range else {
                groups.push(Group { first, count: 0, low: 1, family: family.is_some(), each: *each });
                continue;
            };
            let count = usize::try_from(high - low + 1).unwrap_or(0);
            if elements.len() + count * each > MAX_ELEMENTS {
                let span = family.map_or(Default::default(), |f| f.bounds[1].span);
                self.report.error(
                    span,
                    format!("more than {MAX_ELEMENTS} members in one section"),
                    "make the families shorter",
                );
                groups.push(Group { first, count: 0, low, family: family.is_some(), each: *each });
                continue;
            }
            for i in low..=high {
                let index = family.map(|_| i);
                let base = index.map_or(name.to_string(), |i| format!("{name}[{i}]"));
                for side in 0..*each {
                    let name = match (*each, side) {
                        (2, 0) => format!("{base}.low"),
                        (2, _) => format!("{base}.high"),
                        _ => base.clone(),
                    };
                    elements.push(Element { raw, index, name, high: side == 1 });
                }
            }
            groups.push(Group { first, count, low, family: family.is_some(), each: *each });
        }
        (groups, elements)
    }

    /// First and last index; an empty family ends before it begins.
    pub(super) fn range(&mut self, family: &Family) -> Resolved<(i64, i64)> {
        self.within(Context::new(Scope::Parameter), |b| {
            let mut ends = [0i64; 2];
            for (end, bound) in ends.iter_mut().zip(&family.bounds) {
                let value = b.constant(bound, "the bound of a family")?;
                if value != value.round() || value.abs() > 1e12 {
                    let message = format!("the bound of a family must be a whole number, this is {value}");
                    return Err(bound.error(message, "").into());
                }
                *end = value as i64;
            }
            let [low, high] = ends;
            if (high - low) as f64 >= MAX_MEMBERS {
                let message = format!("a family of {} members", high - low + 1);
                return Err(family.bounds[1]
                    .error(message, format!("at most {MAX_MEMBERS} are allowed"))
                    .into());
            }
            Ok((low, high.max(low - 1)))
        })
    }

    /// The members of an entry that has no name of its own (events, plots, drawings).
    pub(super) fn members(&mut self, family: Option<&Family>, name: &str) -> Vec<Element> {
        let single = |index: Option<i64>| Element {
            raw: 0,
            index,
            name: index.map_or(name.to_string(), |i| {
                if name.is_empty() { String::new() } else { format!("{name}[{i}]") }
            }),
            high: false,
        };
        match family {
            None => vec![single(None)],
            Some(family) => {
                let range = self.range(family);
                match self.keep(range) {
                    Some((low, high)) => (low..=high).map(|i| single(Some(i))).collect(),
                    None => Vec::new(),
                }
            }
        }
    }
}

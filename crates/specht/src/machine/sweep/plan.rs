//! Which runs a sweep consists of: rows by number, never stored.
//!
//! ```text
//! row = ((sample · last axis + …) · second axis + …) · first axis + place on the first axis
//! ```
//!
//! The first axis runs fastest. A chain runs along the first axis, up, down, or up and down again; then a unit of work is a whole
//! chain, else a single run. Shard i of n has every n-th unit.

use serde::{Deserialize, Serialize};

use super::sample::{Random, SOBOL_DIMENSIONS, Sampling, unit};
use crate::machine::Error;

/// Most rows of a sweep.
const MOST: usize = 100_000_000;

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Parameter.
    pub name: String,
    /// Values.
    pub values: Values,
}

/// Values of an axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// Equal distances, or equal ratios.
    Range {
        /// First value.
        from: f64,
        /// Last value.
        to: f64,
        /// How many.
        count: usize,
        /// Equal ratios.
        #[serde(default)]
        log: bool,
    },
    /// As listed.
    List(Vec<f64>),
}

impl Span {
    /// Equal distances.
    pub fn range(name: &str, from: f64, to: f64, count: usize) -> Span {
        Span { name: name.to_string(), values: Values::Range { from, to, count, log: false } }
    }

    /// `A=0..8e-3:401`, `f=1..1000:31:log`, `mu=0.1,0.2,0.5`; numbers may have units.
    ///
    /// # Errors
    ///
    /// Text that is none of these.
    pub fn read(text: &str) -> Result<Span, Error> {
        let fault = || {
            Error::plain(
                format!("`{text}` is not understood"),
                "write a parameter and its values: mu=0..3:61, f=1..1000:31:log or mu=0.1,0.2,0.5",
            )
        };
        let number = |t: &str| crate::expr::quantity(t.trim()).map_err(|_| fault());
        let (name, rest) = text.split_once('=').ok_or_else(fault)?;
        let values = match rest.split_once("..") {
            None => Values::List(rest.split(',').map(number).collect::<Result<_, _>>()?),
            Some((from, rest)) => {
                let (rest, log) = match rest.trim_end().strip_suffix(":log") {
                    Some(rest) => (rest, true),
                    None => (rest, false),
                };
                let (to, count) = rest.rsplit_once(':').ok_or_else(fault)?;
                let count = count.trim().parse().map_err(|_| fault())?;
                Values::Range { from: number(from)?, to: number(to)?, count, log }
            }
        };
        Ok(Span { name: name.trim().to_string(), values })
    }

    /// How many values.
    pub fn count(&self) -> usize {
        match &self.values {
            Values::Range { count, .. } => *count,
            Values::List(list) => list.len(),
        }
    }

    /// Value number `i`; the ends are exact.
    pub fn value(&self, i: usize) -> f64 {
        match &self.values {
            Values::List(list) => list[i],
            Values::Range { from, .. } if i == 0 => *from,
            Values::Range { to, count, .. } if i + 1 == *count => *to,
            &Values::Range { from, to, count, log } => {
                let part = i as f64 / (count - 1) as f64;
                if log { from * (to / from).powf(part) } else { from + (to - from) * part }
            }
        }
    }

    fn problem(&self) -> Option<String> {
        let name = &self.name;
        if self.count() == 0 {
            return Some(format!("`{name}` has no values"));
        }
        match &self.values {
            Values::Range { from, to, .. } if !(from.is_finite() && to.is_finite()) => {
                Some(format!("the range of `{name}` needs two finite ends, not {from} and {to}"))
            }
            Values::Range { from, to, log: true, .. } if !(from * to > 0.0) => Some(format!(
                "equal ratios from {from} to {to} of `{name}` do not exist: the ends need the same sign"
            )),
            Values::List(list) if list.iter().any(|x| !x.is_finite()) => {
                Some(format!("a value of `{name}` is not finite"))
            }
            _ => None,
        }
    }
}

/// In which direction states are carried over along the first axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chain {
    /// As the values stand.
    Up,
    /// From the last value to the first.
    Down,
    /// Up, then from there down.
    Both,
}

/// All runs of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Axes of the grid; the first runs fastest.
    pub axes: Vec<Span>,
    /// Parameters with a distribution.
    pub random: Vec<Random>,
    /// Samples of them; each grid point meets the same ones.
    pub samples: usize,
    /// Seed.
    pub seed: u64,
    /// How they are drawn.
    pub sampling: Sampling,
    /// Every sample is run with each parameter exchanged, too, for total indices: two rows, and one per parameter.
    pub total: bool,
    /// Whether states are carried over.
    pub chain: Option<Chain>,
}

impl Plan {
    /// Checks that it makes sense.
    ///
    /// # Errors
    ///
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), Error> {
        let fault = |message: String, help: &str| Err(Error::plain(message, help));
        if self.axes.is_empty() && self.random.is_empty() {
            return fault(
                "a sweep needs a parameter that varies".into(),
                "give --over mu=0..1:11 or --random \"mu=normal(0.3, 0.05)\" --samples 1000",
            );
        }
        if let Some(problem) = self.axes.iter().find_map(Span::problem) {
            return fault(problem, "");
        }
        let names: Vec<&str> = self.parameters().collect();
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return fault(format!("`{}` varies twice", names[k]), "one axis or distribution per parameter");
        }
        if !self.random.is_empty() && self.samples == 0 {
            return fault("how many samples?".into(), "give --samples 1000");
        }
        if self.random.is_empty() && self.samples > 0 {
            return fault(
                "samples of what?".into(),
                "give a distribution: --random \"mu=normal(0.3, 0.05)\"",
            );
        }
        if self.total && (self.random.is_empty() || !self.axes.is_empty()) {
            return fault(
                "total indices are those of random parameters, without a grid".into(),
                "give --random and --samples, and leave --over out",
            );
        }
        if self.sampling == Sampling::Sobol && self.dimensions() > SOBOL_DIMENSIONS {
            return fault(
                format!(
                    "{} random numbers are more than the {SOBOL_DIMENSIONS} dimensions of the sequence",
                    self.dimensions()
                ),
                "leave --sobol out",
            );
        }
        if self.chain.is_some() && self.axes.is_empty() {
            return fault("a chain runs along an axis".into(), "give --over mu=0..1:11");
        }
        let counts = self.axes.iter().map(Span::count).chain([self.samples.max(1), self.group(), 2]);
        if counts.fold(1_usize, usize::saturating_mul) / 2 > MOST {
            return fault(format!("more than {MOST} runs"), "take fewer values, or several sweeps");
        }
        Ok(())
    }

    /// Names of what varies: axes, then random ones.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|a| a.name.as_str()).chain(self.random.iter().map(|r| r.name.as_str()))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.units() * self.per_unit()
    }

    /// Rows of a unit of work, which are computed one after the other.
    pub fn per_unit(&self) -> usize {
        let first = self.axes.first().map_or(1, Span::count);
        match self.chain {
            None => 1,
            Some(Chain::Both) => 2 * first,
            Some(_) => first,
        }
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        let skip = usize::from(self.chain.is_some());
        self.axes.iter().skip(skip).map(Span::count).product::<usize>() * self.samples.max(1) * self.group()
    }

    /// Whether every row is an independent sample: parameters are random, and there is no grid whose points meet the same samples.
    pub fn is_sampled(&self) -> bool {
        !self.random.is_empty() && self.axes.iter().all(|a| a.count() == 1)
    }

    /// Rows of one sample: with total indices A, B, and A with one parameter of B, for each.
    pub(super) fn group(&self) -> usize {
        if self.total { self.random.len() + 2 } else { 1 }
    }

    /// Random numbers of a sample.
    fn dimensions(&self) -> usize {
        self.random.len() * if self.total { 2 } else { 1 }
    }

    /// Whether the row is on the way down.
    pub fn is_down(&self, row: usize) -> bool {
        match self.chain {
            Some(Chain::Down) => true,
            Some(Chain::Both) => row % self.per_unit() >= self.per_unit() / 2,
            _ => false,
        }
    }

    /// Values of the parameters of a row, in the order of [`Plan::parameters`].
    pub fn point(&self, row: usize, out: &mut Vec<f64>) {
        out.clear();
        let mut rest = row;
        for (k, axis) in self.axes.iter().enumerate() {
            let n = axis.count();
            let place = match self.chain {
                Some(_) if k == 0 => {
                    let place = rest % self.per_unit();
                    rest /= self.per_unit();
                    match self.is_down(row) {
                        true => n - 1 - place % n,
                        false => place,
                    }
                }
                _ => {
                    let place = rest % n;
                    rest /= n;
                    place
                }
            };
            out.push(axis.value(place));
        }
        let (sample, variant) = (rest / self.group(), rest % self.group());
        for (d, random) in self.random.iter().enumerate() {
            let other = variant == 1 || variant == d + 2;
            let number = if other { d + self.random.len() } else { d };
            out.push(random.distribution.quantile(unit(self.sampling, self.seed, sample as u64, number)));
        }
    }
}

/// Part `index` (from 1) of `count` of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 1.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Shard { index: 1, count: 1 }
    }
}

impl Shard {
    /// `2/8`.
    ///
    /// # Errors
    ///
    /// Text that is not that.
    pub fn read(text: &str) -> Result<Shard, Error> {
        let parts = text.split_once('/').and_then(|(i, n)| {
            let shard = Shard { index: i.trim().parse().ok()?, count: n.trim().parse().ok()? };
            (1..=shard.count).contains(&shard.index).then_some(shard)
        });
        parts.ok_or_else(|| {
            Error::plain(format!("`{text}` is not a shard"), "write which one of how many: --shard 2/8")
        })
    }

    /// Whether a unit is its own.
    pub(super) fn has(self, unit: usize) -> bool {
        unit % self.count == self.index - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(chain: Option<Chain>) -> Plan {
        let axes = vec![Span::read("a=1..3:3").unwrap(), Span::read("b=10,20").unwrap()];
        Plan { axes, chain, ..Plan::default() }
    }

    fn points(plan: &Plan) -> Vec<Vec<f64>> {
        let one = |row| {
            let mut out = Vec::new();
            plan.point(row, &mut out);
            out
        };
        (0..plan.rows()).map(one).collect()
    }

    #[test]
    fn the_first_axis_runs_fastest_and_chains_turn_round() {
        let grid = [[1.0, 10.0], [2.0, 10.0], [3.0, 10.0], [1.0, 20.0], [2.0, 20.0], [3.0, 20.0]];
        assert_eq!(points(&plan(None)), grid);
        assert_eq!(points(&plan(Some(Chain::Up))), grid);
        let first = |chain| points(&plan(Some(chain))).iter().map(|p| p[0]).collect::<Vec<_>>();
        assert_eq!(first(Chain::Down), [3.0, 2.0, 1.0, 3.0, 2.0, 1.0]);
        assert_eq!(first(Chain::Both), [1.0, 2.0, 3.0, 3.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0]);
        assert_eq!(plan(Some(Chain::Both)).units(), 2);
    }

    #[test]
    fn ranges_have_exact_ends_and_equal_ratios_when_asked() {
        let axis = Span::read("f=1..1000:4:log").unwrap();
        let values: Vec<f64> = (0..4).map(|i| axis.value(i)).collect();
        assert!(values.iter().zip([1.0, 10.0, 100.0, 1000.0]).all(|(a, b)| (a - b).abs() < 1e-12 * b));
        assert_eq!(Span::read("phi=0 deg..180 deg:3").unwrap().value(2), std::f64::consts::PI);
        assert_eq!(Span::read("phi=5..7:1").unwrap().value(0), 5.0);
        for wrong in ["mu", "mu=0..1", "mu=a..b:3", "mu=1,x"] {
            assert!(Span::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_grid_point_meets_the_same_samples() {
        let random = vec![Random::read("c", "normal(5, 1)").unwrap()];
        let plan = Plan { random, samples: 4, seed: 9, ..plan(None) };
        let all = points(&plan);
        assert_eq!(all.len(), 24);
        for (k, p) in all.iter().enumerate() {
            assert_eq!(p[2].to_bits(), all[6 * (k / 6)][2].to_bits());
        }
        assert_ne!(all[0][2], all[6][2]);
    }

    #[test]
    fn shards_share_the_units_without_overlap() {
        for unit in 0..20 {
            let owners = (1..=3).filter(|&index| Shard { index, count: 3 }.has(unit)).count();
            assert_eq!(owners, 1);
        }
        assert!(Shard::read("0/3").is_err() && Shard::read("4/3").is_err() && Shard::read("2/3").is_ok());
    }

    #[test]
    fn plans_that_make_no_sense_are_refused_with_a_remedy() {
        let with = |axes: &[&str]| Plan {
            axes: axes.iter().map(|a| Span::read(a).unwrap()).collect(),
            ..Plan::default()
        };
        for (plan, said) in [
            (Plan::default(), "needs a parameter"),
            (with(&["a=1..2:3", "a=1..2:3"]), "varies twice"),
            (with(&["a=1..2:0"]), "no values"),
            (with(&["a=-1..2:3:log"]), "same sign"),
            (Plan { samples: 3, ..with(&["a=1..2:3"]) }, "samples of what"),
            (with(&["a=1..2:100000", "b=1..2:100000"]), "more than"),
        ] {
            let message = plan.check().unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }
}

//! Units and dimensions.
//!
//! A dimension is the vector of exponents of m, kg, s, A, K; an angle is a pure number. A *plain* number carries no
//! dimension and fits any: [`Dim::Any`]. A unit is a dimension, a decimal exponent and a factor; the exponent is kept apart so
//! that `3.1 mm` is the double nearest to 0.0031, not 3.1 times the double nearest to 0.001.

use std::f64::consts::PI;
use std::fmt;

use super::error::{ExprError, Span};

/// Exponents of m, kg, s, A, K, in sixtieths, so that roots up to the sixth stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Exponents(pub [i32; 5]);

const UNIT: i32 = 60;

impl Exponents {
    /// The dimension of a pure number or an angle.
    pub(crate) const NONE: Exponents = Exponents([0; 5]);

    /// Whole exponents of m, kg, s, A, K.
    pub(crate) const fn whole(e: [i32; 5]) -> Self {
        Self([e[0] * UNIT, e[1] * UNIT, e[2] * UNIT, e[3] * UNIT, e[4] * UNIT])
    }

    fn zip(self, other: Self, f: impl Fn(i32, i32) -> i32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }

    /// Dimension of a product.
    pub(crate) fn times(self, other: Self) -> Self {
        self.zip(other, i32::saturating_add)
    }

    /// Dimension of a quotient.
    pub(crate) fn over(self, other: Self) -> Self {
        self.zip(other, i32::saturating_sub)
    }

    /// Dimension of a power; `None` when the exponents do not come out as multiples of 1/60.
    pub(crate) fn power(self, p: f64) -> Option<Self> {
        let mut out = [0; 5];
        for i in 0..5 {
            let e = f64::from(self.0[i]) * p;
            if !(e.abs() < 1e6 && (e - e.round()).abs() < 1e-9) {
                return None;
            }
            out[i] = e.round() as i32;
        }
        Some(Self(out))
    }
}

impl fmt::Display for Exponents {
    /// As a unit: `kg*m/s^2`; derived units where they are usual: `N`, `N*m`, `Pa`; `1` for a pure number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const USUAL: [([i32; 5], &str); 14] = [
            ([1, 1, -2, 0, 0], "N"),
            ([2, 1, -2, 0, 0], "N*m"),
            ([0, 1, -2, 0, 0], "N/m"),
            ([0, 1, -1, 0, 0], "N*s/m"),
            ([1, 1, -1, 0, 0], "N*s"),
            ([2, 1, -1, 0, 0], "N*m*s"),
            ([2, 1, -3, 0, 0], "W"),
            ([-1, 1, -2, 0, 0], "Pa"),
            ([2, 1, -3, -1, 0], "V"),
            ([2, 1, -3, -2, 0], "Ohm"),
            ([2, 1, -2, -2, 0], "H"),
            ([-2, -1, 4, 2, 0], "F"),
            ([0, 0, 0, 1, 0], "A"),
            ([0, 0, 0, 0, 1], "K"),
        ];
        if let Some((_, text)) = USUAL.iter().find(|(e, _)| Self::whole(*e) == *self) {
            return f.write_str(text);
        }
        let name = ["m", "kg", "s", "A", "K"];
        let order = [1, 0, 2, 3, 4];
        let factor = |e: i32, name: &str| match e {
            UNIT => name.to_string(),
            e if e % UNIT == 0 => format!("{name}^{}", e / UNIT),
            e => format!("{name}^{}", f64::from(e) / f64::from(UNIT)),
        };
        let above: Vec<_> =
            order.iter().filter(|&&i| self.0[i] > 0).map(|&i| factor(self.0[i], name[i])).collect();
        let below: Vec<_> =
            order.iter().filter(|&&i| self.0[i] < 0).map(|&i| factor(-self.0[i], name[i])).collect();
        f.write_str(if above.is_empty() { "1" } else { "" })?;
        f.write_str(&above.join("*"))?;
        below.iter().try_for_each(|b| write!(f, "/{b}"))
    }
}

/// What is known of the dimension of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Dim {
    /// Not known; fits every other.
    #[default]
    Any,
    /// Known.
    Known(Exponents),
}

impl Dim {
    /// A pure number or an angle.
    pub(crate) const NONE: Dim = Dim::Known(Exponents::NONE);
    /// Seconds.
    pub(crate) const TIME: Dim = Dim::Known(Exponents::whole([0, 0, 1, 0, 0]));
    /// Metres.
    pub(crate) const LENGTH: Dim = Dim::Known(Exponents::whole([1, 0, 0, 0, 0]));
    /// Kilograms.
    pub(crate) const MASS: Dim = Dim::Known(Exponents::whole([0, 1, 0, 0, 0]));

    /// Dimension of a product.
    pub(crate) fn times(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Known(a), Dim::Known(b)) => Dim::Known(a.times(b)),
            _ => Dim::Any,
        }
    }

    /// Dimension of a quotient.
    pub(crate) fn over(self, other: Dim) -> Dim {
        match (self, other) {
            (Dim::Known(a), Dim::Known(b)) => Dim::Known(a.over(b)),
            _ => Dim::Any,
        }
    }

    /// Dimension of a power with a known exponent.
    pub(crate) fn power(self, p: f64) -> Dim {
        match self {
            Dim::Known(a) => a.power(p).map_or(Dim::Any, Dim::Known),
            Dim::Any => Dim::Any,
        }
    }

    /// Dimension of the `n`-th time derivative.
    pub(crate) fn rate(self, n: u32) -> Dim {
        self.over(Dim::TIME.power(f64::from(n)))
    }

    /// Whether the two cannot be added or compared: both known and different.
    pub(crate) fn clashes(self, other: Dim) -> bool {
        matches!((self, other), (Dim::Known(a), Dim::Known(b)) if a != b)
    }

    /// The more informative of two that do not clash.
    pub(crate) fn or(self, other: Dim) -> Dim {
        if self == Dim::Any { other } else { self }
    }

    /// What such a value is called: `length`, `mass`, `force`; else its unit.
    pub(crate) fn noun(self) -> String {
        const NOUNS: [([i32; 5], &str); 20] = [
            ([0, 0, 0, 0, 0], "a pure number"),
            ([1, 0, 0, 0, 0], "length"),
            ([2, 0, 0, 0, 0], "area"),
            ([3, 0, 0, 0, 0], "volume"),
            ([0, 1, 0, 0, 0], "mass"),
            ([0, 0, 1, 0, 0], "time"),
            ([0, 0, -1, 0, 0], "angular velocity"),
            ([0, 0, -2, 0, 0], "angular acceleration"),
            ([1, 0, -1, 0, 0], "velocity"),
            ([1, 0, -2, 0, 0], "acceleration"),
            ([2, 1, 0, 0, 0], "moment of inertia"),
            ([1, 1, -2, 0, 0], "force"),
            ([2, 1, -2, 0, 0], "torque or energy"),
            ([2, 1, -3, 0, 0], "power"),
            ([-1, 1, -2, 0, 0], "pressure"),
            ([0, 1, -2, 0, 0], "stiffness"),
            ([1, 1, -1, 0, 0], "impulse"),
            ([0, 0, 0, 1, 0], "current"),
            ([0, 0, 0, 0, 1], "temperature"),
            ([2, 1, -3, -1, 0], "voltage"),
        ];
        match self {
            Dim::Any => "a plain number".into(),
            Dim::Known(e) => NOUNS
                .iter()
                .find(|(n, _)| Exponents::whole(*n) == e)
                .map_or_else(|| format!("a quantity in {e}"), |(_, noun)| noun.to_string()),
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Any => f.write_str("any unit"),
            Dim::Known(e) => e.fmt(f),
        }
    }
}

/// A unit: `value × factor × 10^decimal` in SI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    /// Dimension.
    pub dim: Exponents,
    /// Decimal exponent.
    pub decimal: i32,
    /// Factor besides the power of ten.
    pub factor: f64,
}

impl Unit {
    /// The unit `1`.
    pub(crate) const ONE: Unit = Unit { dim: Exponents::NONE, decimal: 0, factor: 1.0 };

    /// A simple unit by its name, with prefix: `m`, `mm`, `kN`, `deg`.
    pub(crate) fn named(name: &str) -> Option<Unit> {
        if let Some((unit, _)) = base(name) {
            return Some(unit);
        }
        let prefix = name.chars().next()?;
        let decimal = match prefix {
            'G' => 9,
            'M' => 6,
            'k' => 3,
            'c' => -2,
            'm' => -3,
            'u' => -6,
            'n' => -9,
            _ => return None,
        };
        match base(&name[1..])? {
            (unit, true) => Some(Unit { decimal: unit.decimal + decimal, ..unit }),
            _ => None,
        }
    }

    /// Product of two units.
    pub(crate) fn times(self, other: Unit) -> Unit {
        Unit {
            dim: self.dim.times(other.dim),
            decimal: self.decimal.saturating_add(other.decimal),
            factor: self.factor * other.factor,
        }
    }

    /// A whole power of a unit.
    pub(crate) fn power(self, n: i32) -> Unit {
        Unit {
            dim: Exponents(self.dim.0.map(|e| e.saturating_mul(n))),
            decimal: self.decimal.saturating_mul(n),
            factor: super::graph::powi(self.factor, n),
        }
    }

    /// `value` of this unit in SI.
    pub(crate) fn to_si(self, value: f64) -> f64 {
        scale_decimal(value, self.decimal) * self.factor
    }
}

/// The double nearest to the shortest decimal form of `value` times `10^shift`.
fn scale_decimal(value: f64, shift: i32) -> f64 {
    if shift == 0 || !value.is_finite() {
        return value;
    }
    let text = format!("{value:e}");
    let scaled = text.split_once('e').and_then(|(mantissa, exponent)| {
        let exponent: i32 = exponent.parse().ok()?;
        format!("{mantissa}e{}", exponent.saturating_add(shift)).parse().ok()
    });
    scaled.unwrap_or(value)
}

/// Unit without prefix, and whether it takes one.
fn base(name: &str) -> Option<(Unit, bool)> {
    let unit = |e: [i32; 5], decimal: i32, factor: f64| Unit { dim: Exponents::whole(e), decimal, factor };
    Some(match name {
        "m" => (unit([1, 0, 0, 0, 0], 0, 1.0), true),
        "kg" => (unit([0, 1, 0, 0, 0], 0, 1.0), false),
        "g" => (unit([0, 1, 0, 0, 0], -3, 1.0), true),
        "s" => (unit([0, 0, 1, 0, 0], 0, 1.0), true),
        "min" => (unit([0, 0, 1, 0, 0], 0, 60.0), false),
        "rad" => (unit([0; 5], 0, 1.0), true),
        "deg" => (unit([0; 5], 0, PI / 180.0), false),
        "rev" => (unit([0; 5], 0, 2.0 * PI), false),
        "N" => (unit([1, 1, -2, 0, 0], 0, 1.0), true),
        "J" => (unit([2, 1, -2, 0, 0], 0, 1.0), true),
        "W" => (unit([2, 1, -3, 0, 0], 0, 1.0), true),
        "Pa" => (unit([-1, 1, -2, 0, 0], 0, 1.0), true),
        "bar" => (unit([-1, 1, -2, 0, 0], 5, 1.0), true),
        "V" => (unit([2, 1, -3, -1, 0], 0, 1.0), true),
        "A" => (unit([0, 0, 0, 1, 0], 0, 1.0), true),
        "Ohm" => (unit([2, 1, -3, -2, 0], 0, 1.0), true),
        "H" => (unit([2, 1, -2, -2, 0], 0, 1.0), true),
        "F" => (unit([-2, -1, 4, 2, 0], 0, 1.0), true),
        "K" => (unit([0, 0, 0, 0, 1], 0, 1.0), true),
        "Hz" => (unit([0, 0, -1, 0, 0], 0, 1.0), true),
        "rpm" => (unit([0, 0, -1, 0, 0], 0, PI / 30.0), false),
        _ => return None,
    })
}

/// Reads a unit expression such as `N*m/rad`, `1/m`, `kg*m^2`, `N/(m/s)`.
pub(crate) fn parse_unit(text: &str) -> Result<Unit, ExprError> {
    let mut reader = UnitReader { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    let unit = reader.product()?;
    reader.space();
    if reader.at < reader.bytes.len() {
        return Err(reader.error("expected `*`, `/` or the end of the unit"));
    }
    Ok(unit)
}

struct UnitReader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl UnitReader<'_> {
    fn error(&self, help: &str) -> ExprError {
        let start = self.at.min(self.bytes.len());
        ExprError::new(Span::new(start, self.bytes.len()), format!("`{}` is not a unit", self.text), help)
    }

    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(|b| *b == b' ') {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn product(&mut self) -> Result<Unit, ExprError> {
        let mut unit = self.factor()?;
        loop {
            if self.take(b'*') {
                unit = unit.times(self.factor()?);
            } else if self.take(b'/') {
                unit = unit.times(self.factor()?.power(-1));
            } else {
                return Ok(unit);
            }
        }
    }

    fn factor(&mut self) -> Result<Unit, ExprError> {
        let unit = if self.take(b'(') {
            self.depth += 1;
            if self.depth > 20 {
                return Err(self.error("too many parentheses"));
            }
            let unit = self.product()?;
            if !self.take(b')') {
                return Err(self.error("a parenthesis is not closed"));
            }
            self.depth -= 1;
            unit
        } else if self.take(b'1') {
            Unit::ONE
        } else {
            let start = self.at;
            while self.bytes.get(self.at).is_some_and(u8::is_ascii_alphabetic) {
                self.at += 1;
            }
            let name = &self.text[start..self.at];
            match Unit::named(name) {
                Some(unit) => unit,
                None => {
                    self.at = start;
                    return Err(self.error(UNIT_HELP));
                }
            }
        };
        if !self.take(b'^') {
            return Ok(unit);
        }
        let negative = self.take(b'-');
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        match self.text[start..self.at].parse::<i32>() {
            Ok(n) if n <= 12 => Ok(unit.power(if negative { -n } else { n })),
            _ => Err(self.error("the power of a unit is a whole number up to 12")),
        }
    }
}

/// The list of units, for messages.
pub(crate) const UNIT_HELP: &str =
    "units are m kg g s min rad deg rev N J W Pa bar V A Ohm H F K Hz rpm, with the prefixes G M k c m u n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_prefixes_are_exact() {
        for (value, unit, si) in [
            (3.1, "mm", 0.0031),
            (20.1, "mm", 0.0201),
            (0.3, "g", 0.0003),
            (50.0, "ms", 0.05),
            (2.0, "bar", 2e5),
            (1.7, "um", 1.7e-6),
            (2.1, "GPa", 2.1e9),
            (0.0056, "N*m/rad", 0.0056),
            (60.0, "1/m", 60.0),
            (5e-9, "kg*m^2", 5e-9),
            (3.0, "kN/(mm/s)", 3e6),
            (4.0, "min", 240.0),
        ] {
            assert_eq!(parse_unit(unit).unwrap().to_si(value), si, "{value} {unit}");
        }
        assert_eq!(parse_unit("rpm").unwrap().to_si(1000.0), 1000.0 * (PI / 30.0));
        assert_eq!(parse_unit("N*m").unwrap().dim, parse_unit("kg*m^2/s^2").unwrap().dim);
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        for text in ["", "Nm", "m*", "m^", "m^-", "m s", "kmin", "kkg", "x", "m^99", "((m)", "2*m", "ä"] {
            assert!(parse_unit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dimensions_print_as_units() {
        let show = |u: &str| parse_unit(u).unwrap().dim.to_string();
        assert_eq!(show("kg*m/s^2"), "N");
        assert_eq!(show("m/s^2"), "m/s^2");
        assert_eq!(show("1/s"), "1/s");
        assert_eq!(show("rad"), "1");
        assert_eq!(show("kg*m^2"), "kg*m^2");
    }
}

//! Random and low-discrepancy numbers, and the distributions they become.
//!
//! Sample `i` of dimension `d` is a function of (seed, i, d) alone, so that any part of a sweep can be computed anywhere and any
//! time. A number of the unit interval becomes a value by the inverse of the distribution function; the same numbers serve both kinds
//! of sampling.

use serde::{Deserialize, Serialize};

use crate::machine::Error;

/// How the samples fill the unit cube.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Independent numbers: confidence intervals hold.
    #[default]
    Random,
    /// The sequence of Sobol, shifted by the seed: means converge faster, intervals are too wide.
    Sobol,
}

/// A distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Between two ends.
    Uniform {
        /// Least value.
        from: f64,
        /// Largest value.
        to: f64,
    },
    /// Mean and standard deviation.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        /// Median.
        median: f64,
        /// Standard deviation of the logarithm.
        deviation: f64,
    },
    /// Ends and the most frequent value.
    Triangular {
        /// Least value.
        from: f64,
        /// Most frequent value.
        mode: f64,
        /// Largest value.
        to: f64,
    },
}

/// A parameter with a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Random {
    /// Parameter.
    pub name: String,
    /// Distribution.
    pub distribution: Distribution,
}

const FORMS: &str = "write normal(mean, deviation), uniform(from, to), lognormal(median, deviation of the logarithm) or triangular(from, most frequent, to)";

impl Random {
    /// `normal(0.3, 0.05)` of a parameter; numbers may have units.
    ///
    /// # Errors
    ///
    /// Not a distribution, or numbers that make none.
    pub fn read(name: &str, text: &str) -> Result<Random, Error> {
        let fault = |what: &str| Error::plain(format!("`{name}={}` {what}", text.trim()), FORMS);
        let (kind, rest) = text.trim().split_once('(').ok_or_else(|| fault("is not a distribution"))?;
        let inner = rest.trim_end().strip_suffix(')').ok_or_else(|| fault("does not end with `)`"))?;
        let numbers = inner
            .split(',')
            .map(|t| crate::expr::quantity(t.trim()).ok().filter(|x| x.is_finite()))
            .collect::<Option<Vec<f64>>>()
            .ok_or_else(|| fault("has an argument that is not a number"))?;
        let distribution = match (kind.trim(), numbers.as_slice()) {
            ("uniform", &[from, to]) if from < to => Distribution::Uniform { from, to },
            ("normal", &[mean, deviation]) if deviation > 0.0 => Distribution::Normal { mean, deviation },
            ("lognormal", &[median, deviation]) if median > 0.0 && deviation > 0.0 => {
                Distribution::Lognormal { median, deviation }
            }
            ("triangular", &[from, mode, to]) if from <= mode && mode <= to && from < to => {
                Distribution::Triangular { from, mode, to }
            }
            ("uniform" | "normal" | "lognormal" | "triangular", _) => {
                return Err(fault("has arguments that make no distribution"));
            }
            _ => return Err(fault("is not a distribution")),
        };
        Ok(Random { name: name.to_string(), distribution })
    }
}

impl Distribution {
    /// The value below which the share `p` lies, 0 < p < 1.
    pub fn quantile(&self, p: f64) -> f64 {
        match *self {
            Distribution::Uniform { from, to } => from + (to - from) * p,
            Distribution::Normal { mean, deviation } => mean + deviation * normal_quantile(p),
            Distribution::Lognormal { median, deviation } => median * (deviation * normal_quantile(p)).exp(),
            Distribution::Triangular { from, mode, to } => {
                let (rise, fall, span) = (mode - from, to - mode, to - from);
                if p * span <= rise {
                    from + (p * span * rise).sqrt()
                } else {
                    to - ((1.0 - p) * span * fall).sqrt()
                }
            }
        }
    }
}

/// Number `dimension` of sample `index`, inside (0, 1).
pub(in crate::machine) fn unit(sampling: Sampling, seed: u64, index: u64, dimension: usize) -> f64 {
    let word = match sampling {
        Sampling::Random => mix(seed, index, dimension),
        // a shift of all binary digits keeps the sequence as even as it is
        Sampling::Sobol => sobol(index, dimension) ^ mix(seed, u64::MAX, dimension),
    };
    ((word >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// 64 random digits of (seed, index, dimension): three rounds of the finalizer of SplitMix64.
fn mix(seed: u64, index: u64, dimension: usize) -> u64 {
    let round = |x: u64, word: u64| {
        let mut z = x ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    round(round(round(0, seed), index), dimension as u64)
}

/// Dimensions of the sequence of Sobol.
pub(super) const SOBOL_DIMENSIONS: usize = 21;

/// Primitive polynomials and first direction numbers of dimensions 2 to 21 [JoeKuo2008]: degree, coefficients, numbers.
const DIRECTIONS: [(u32, u32, &[u64]); SOBOL_DIMENSIONS - 1] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// Point `index` of the sequence as 64 binary digits after the point.
fn sobol(index: u64, dimension: usize) -> u64 {
    let mut out = 0;
    let mut m = [0_u64; 64];
    for bit in 0..(64 - index.leading_zeros()) as usize {
        m[bit] = match DIRECTIONS.get(dimension.wrapping_sub(1)) {
            None => 1,
            Some((_, _, first)) if bit < first.len() => first[bit],
            Some(&(degree, coefficients, _)) => {
                let s = degree as usize;
                let mut next = m[bit - s] ^ (m[bit - s] << s);
                for k in 1..s {
                    if coefficients >> (s - 1 - k) & 1 == 1 {
                        next ^= m[bit - k] << k;
                    }
                }
                next
            }
        };
        if index >> bit & 1 == 1 {
            out ^= m[bit] << (63 - bit);
        }
    }
    out
}

/// The quantile of the standard normal distribution, to 1e-16 relative [Wichura1988, AS 241].
pub fn normal_quantile(p: f64) -> f64 {
    let ratio = |r: f64, a: [f64; 8], b: [f64; 7]| {
        let top = a.iter().rev().fold(0.0, |s, c| s * r + c);
        let bottom = b.iter().rev().fold(0.0, |s, c| s * r + c) * r + 1.0;
        top / bottom
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180625 - q * q, CENTRE.0, CENTRE.1);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let x = if r <= 5.0 { ratio(r - 1.6, MIDDLE.0, MIDDLE.1) } else { ratio(r - 5.0, TAIL.0, TAIL.1) };
    x.copysign(q)
}

#[rustfmt::skip]
const CENTRE: ([f64; 8], [f64; 7]) = (
    [3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946,
     45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227],
    [42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597,
     39307.89580009271, 28729.085735721943, 5226.495278852854],
);
#[rustfmt::skip]
const MIDDLE: ([f64; 8], [f64; 7]) = (
    [1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045,
     1.2704582524523684, 0.2417807251774506, 0.022723844989269184, 0.0007745450142783414],
    [2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008,
     0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-09],
);
#[rustfmt::skip]
const TAIL: ([f64; 8], [f64; 7]) = (
    [6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487,
     0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-05, 2.0103343992922881e-07],
    [0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
     1.8463183175100548e-05, 1.421511758316446e-07, 2.0442631033899397e-15],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_those_of_tables() {
        for (p, x) in [
            (0.5, 0.0),
            (0.841_344_746_068_542_9, 1.0),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813_5),
            (1e-10, -6.361_340_902_404_056),
            (0.99865010196837, 3.0),
        ] {
            assert!((normal_quantile(p) - x).abs() < 1e-12 * (1.0 + x.abs()), "{p}: {}", normal_quantile(p));
        }
    }

    #[test]
    fn every_dimension_of_the_sobol_sequence_fills_equal_parts_equally() {
        for d in 0..SOBOL_DIMENSIONS {
            for k in 1..10_u32 {
                let mut parts = vec![0; 1 << k];
                (0..1_u64 << k).for_each(|i| parts[(sobol(i, d) >> (64 - k)) as usize] += 1);
                assert!(parts.iter().all(|n| *n == 1), "dimension {d}, 2^{k} parts");
            }
        }
    }

    /// A digital net: the first 2^k points put the right number of points into every box of 2^a × 2^b parts, up to the known defect t.
    #[test]
    fn pairs_of_the_first_dimensions_of_the_sobol_sequence_are_even_too() {
        // dimensions 1 and 2 are a (0, 2)-sequence
        let k = 8;
        for a in 0..=k {
            let mut boxes = std::collections::BTreeMap::new();
            for i in 0..1_u64 << k {
                let cell = |d: usize, bits: u32| sobol(i, d).checked_shr(64 - bits).unwrap_or(0);
                *boxes.entry((cell(0, a), cell(1, k - a))).or_insert(0) += 1;
            }
            assert_eq!(boxes.len(), 1 << k);
        }
    }

    #[test]
    fn random_numbers_have_the_moments_of_the_unit_interval_and_do_not_depend_on_their_order() {
        let n = 100_000;
        for d in [0, 1, 7] {
            let x: Vec<f64> = (0..n).map(|i| unit(Sampling::Random, 3, i, d)).collect();
            let mean = x.iter().sum::<f64>() / n as f64;
            let square = x.iter().map(|v| (v - 0.5).powi(2)).sum::<f64>() / n as f64;
            let neighbours = x.windows(2).map(|w| (w[0] - 0.5) * (w[1] - 0.5)).sum::<f64>() / n as f64;
            // four standard errors
            assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / n as f64).sqrt());
            assert!((square - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0 / n as f64).sqrt());
            assert!(neighbours.abs() < 4.0 / 12.0 / (n as f64).sqrt());
            assert_eq!(x[77].to_bits(), unit(Sampling::Random, 3, 77, d).to_bits());
        }
    }

    #[test]
    fn quantiles_invert_the_distribution_functions() {
        let triangle = Distribution::Triangular { from: 1.0, mode: 2.0, to: 5.0 };
        for p in [0.01, 0.25, 0.3, 0.9] {
            let x = triangle.quantile(p);
            let below = if x <= 2.0 { (x - 1.0).powi(2) / 4.0 } else { 1.0 - (5.0 - x).powi(2) / 12.0 };
            assert!((below - p).abs() < 1e-14);
        }
        let median = Distribution::Lognormal { median: 3.0, deviation: 0.4 }.quantile(0.5);
        assert!((median - 3.0).abs() < 1e-15);
        assert!(Random::read("mu", "normal(0.3, -1)").is_err() && Random::read("mu", "gauss(0, 1)").is_err());
        let read = Random::read("l", "uniform(1 mm, 2 mm)").unwrap();
        assert_eq!(read.distribution, Distribution::Uniform { from: 1e-3, to: 2e-3 });
    }
}

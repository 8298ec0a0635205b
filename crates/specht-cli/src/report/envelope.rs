//! The least and largest value of every column in equal parts of the time of a run whose length is not known beforehand: the parts are
//! doubled whenever there are too many of them.

use specht::machine::Names;
use specht::sim::Sample;

/// Numbers of one page, as for series that are kept whole.
const NUMBERS: usize = super::NUMBERS;

/// Least and largest values.
pub struct Envelope {
    /// Start, and length of a part; the first row sets them.
    from: f64,
    width: f64,
    most: usize,
    columns: usize,
    /// Part by part, column by column: [least, largest]; NaN when there was no value.
    parts: Vec<[f32; 2]>,
    row: Vec<f64>,
}

impl Envelope {
    /// For the columns of a page.
    pub fn new(names: &Names) -> Envelope {
        let columns = super::columns(names).len();
        let most = (NUMBERS / (2 * columns.max(1))).clamp(1_000, 32_768);
        Envelope { from: f64::NAN, width: 0.0, most, columns, parts: Vec::new(), row: Vec::new() }
    }

    /// One more row, not earlier than the last.
    pub fn add(&mut self, row: &Sample<'_>, names: &Names) {
        if self.from.is_nan() {
            (self.from, self.width) = (row.t, f64::MIN_POSITIVE);
        }
        let after = row.t - self.from;
        if !after.is_finite() {
            return;
        }
        // the first distance between rows begins the scale
        if self.width == f64::MIN_POSITIVE && after > 0.0 {
            self.width = after;
        }
        while after / self.width >= self.most as f64 {
            self.double();
        }
        let part = (after / self.width) as usize;
        while self.parts.len() < (part + 1) * self.columns {
            self.parts.push([f32::NAN; 2]);
        }
        self.row.clear();
        super::values(row, names, &mut self.row);
        let parts = &mut self.parts[part * self.columns..(part + 1) * self.columns];
        for (part, value) in parts.iter_mut().zip(&self.row) {
            let value = *value as f32;
            *part = [part[0].min(value), part[1].max(value)];
        }
    }

    /// Two parts become one.
    fn double(&mut self) {
        let n = self.columns;
        let count = (self.parts.len() / n).div_ceil(2);
        for k in 0..count {
            for c in 0..n {
                let a = self.parts[2 * k * n + c];
                let b = self.parts.get((2 * k + 1) * n + c).copied().unwrap_or([f32::NAN; 2]);
                self.parts[k * n + c] = [a[0].min(b[0]), a[1].max(b[1])];
            }
        }
        self.parts.truncate(count * n);
        self.width *= 2.0;
    }

    /// Times: two in every part that has a value.
    pub fn times(&self) -> Vec<f64> {
        let at = |k: usize, s: f64| self.from + (k as f64 + s) * self.width;
        self.used().flat_map(|k| [at(k, 0.25), at(k, 0.75)]).collect()
    }

    /// A column at these times: least, largest.
    pub fn column(&self, c: usize) -> Vec<f64> {
        self.used().flat_map(|k| self.parts[k * self.columns + c].map(f64::from)).collect()
    }

    fn used(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.parts.len() / self.columns.max(1))
            .filter(|k| self.parts[k * self.columns..(k + 1) * self.columns].iter().any(|p| !p[0].is_nan()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(t: f64, q: &[f64]) -> Sample<'_> {
        Sample {
            t,
            q,
            u: &[0.0],
            z: &[],
            memory: &[],
            accel: &[],
            gap: &[],
            slip: &[],
            normal: &[],
            tangential: &[],
            rates: &[],
            lambda: &[],
            outputs: &[],
            energy: &[0.0; 7],
            modes: &[],
            latches: &[],
        }
    }

    #[test]
    fn a_peak_in_a_million_rows_stays_at_its_place() {
        let names = Names { coordinates: vec!["x".into()], ..Names::default() };
        let mut envelope = Envelope::new(&names);
        for k in 0..1_000_000 {
            let t = f64::from(k) * 1e-3;
            envelope.add(&row(t, &[if k == 654_321 { 9.0 } else { (t * 7.0).sin() }]), &names);
        }
        let (t, y) = (envelope.times(), envelope.column(0));
        assert!(
            t.len() == y.len() && t.len() <= 2 * envelope.most && t.len() > envelope.most / 2,
            "{}",
            t.len()
        );
        assert!(t.windows(2).all(|w| w[0] < w[1]));
        let k = y.iter().position(|v| *v == 9.0).unwrap();
        assert!((t[k] - 654.321).abs() < 2.0 * envelope.width, "{}", t[k]);
        assert!(y.iter().all(|v| *v >= -1.0));
    }
}

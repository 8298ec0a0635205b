//! Spans and errors of the expression language, and the search for a name that was probably meant.

use std::fmt;

/// Bytes `start..end` of the source text of one expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub(crate) fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The text of the span; empty when the span does not fit `source`.
    pub(crate) fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or("")
    }
}

/// What is wrong with an expression, where, and what to do about it. Also used for warnings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExprError {
    /// Place in the text of the expression.
    pub span: Span,
    /// One sentence, without final stop.
    pub message: String,
    /// What stands beside the mark: an explanation or the remedy; may be empty.
    pub help: String,
}

impl ExprError {
    /// An error at `span`.
    pub(crate) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if !self.help.is_empty() {
            write!(f, " ({})", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for ExprError {}

/// The candidate nearest to `name` by insertions, deletions, replacements and swaps of neighbours, if it is near enough:
/// at most one edit for names of up to three letters, two for up to seven, else three. Ties go to the first.
///
/// ```
/// use specht::machine::did_you_mean;
///
/// assert_eq!(did_you_mean("frictoin", ["friction", "fraction"]), Some("friction"));
/// ```
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    if letters > 64 {
        return None;
    }
    let allowed = match letters {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        // `fi` for `phi` sounds right and is one mistake
        let by_sound =
            edit_distance(&name.replace("ph", "f"), &candidate.replace("ph", "f")).saturating_add(1);
        let distance = edit_distance(name, candidate).min(by_sound);
        if distance <= allowed && distance < letters && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance; upper and lower case of a letter count as the same.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        assert_eq!(did_you_mean("fi", ["psi", "phi", "x"]), Some("phi"));
        assert_eq!(did_you_mean("rod2", ["rod", "bird"]), Some("rod"));
        assert_eq!(did_you_mean("x", ["y", "z"]), None);
        assert_eq!(did_you_mean("normla", ["normal"]), Some("normal"));
    }
}

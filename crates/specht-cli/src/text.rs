//! Small helpers for words and terminal output.

use std::io::Write;

/// Write to standard output; a closed pipe (`| head`) is not an error.
pub fn print(text: &str) {
    let mut out = anstream::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The candidate that a mistyped `word` most likely means.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let limit = 1 + word.chars().count() / 3;
    candidates
        .iter()
        .map(|c| (distance(&word.to_lowercase(), &c.to_lowercase()), *c))
        .min_by_key(|(d, _)| *d)
        .filter(|(d, _)| *d <= limit)
        .map(|(_, c)| c)
}

/// Edit distance (insert, delete, replace, swap of neighbours).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_the_word_that_was_meant() {
        assert_eq!(nearest("woodpeker", &["rod", "woodpecker"]), Some("woodpecker"));
        assert_eq!(nearest("fi", &["phi", "x"]), Some("phi"));
        assert_eq!(nearest("banana", &["rod", "woodpecker"]), None);
        assert_eq!(nearest("x", &[]), None);
    }
}

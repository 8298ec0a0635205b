//! Small helpers for words and terminal output.

use std::io::Write;

/// Write to standard output; a closed pipe (`| head`) is not an error.
pub fn print(text: &str) {
    let mut out = anstream::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Without escape codes for colours.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The candidate that a mistyped `word` most likely means.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    specht::expr::did_you_mean(word, candidates.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_the_word_that_was_meant() {
        assert_eq!(nearest("woodpeker", &["rod", "woodpecker"]), Some("woodpecker"));
        assert_eq!(nearest("banana", &["rod", "woodpecker"]), None);
        assert_eq!(nearest("x", &[]), None);
    }
}

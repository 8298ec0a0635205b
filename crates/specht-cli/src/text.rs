//! Small helpers for words and terminal output.

use crate::outcome::Refusal;
use std::io::{ErrorKind, Write};

/// Write to standard output. A reader that went away (`| head`) is not an error; a full disk is.
pub fn print(text: &str) -> Result<(), Refusal> {
    let mut out = anstream::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of a text for standard output.
pub fn written(done: std::io::Result<()>) -> Result<(), Refusal> {
    match done {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Refusal::new(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Write a line to standard error; where nobody can read it, it is lost.
pub fn tell(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Without escape codes for colours.
pub fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

/// The candidate that a mistyped `word` most likely means.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    specht::machine::did_you_mean(word, candidates.iter().copied())
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

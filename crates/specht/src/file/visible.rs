//! Text from outside that is shown: what would steer a terminal or break a drawing becomes a visible sign.

use std::borrow::Cow;

/// The text with control characters as their pictures (`ESC` as `␛`) and marks that turn the direction of reading as `\u{fffd}`; line ends and
/// tabs stay. As many characters as before.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if steers(c) { sign(c) } else { c }).collect())
}

fn steers(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let no_character = matches!(c, '\u{fffe}' | '\u{ffff}');
    (c.is_control() && c != '\n' && c != '\t') || turns || no_character
}

/// The pictures of U+0000 to U+001F stand from U+2400 on, that of U+007F at U+2421.
fn sign(c: char) -> char {
    match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_stays_and_everything_else_does() {
        assert_eq!(visible("ω = 2 μ\n\tend"), "ω = 2 μ\n\tend");
        assert_eq!(visible("a\u{1b}[31mb\u{7}\u{7f}\u{9b}\u{202e}\r"), "a␛[31mb␇␡\u{fffd}\u{fffd}␍");
    }
}

//! From text to tokens with spans.

use super::error::{ExprError, Span};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    /// `"text"`, in addresses.
    Text(String),
    /// `[key=value, …]` without its brackets, in addresses.
    Filter(String),
    /// One of `+ - * / ^ ( ) [ ] , . .. ' = == != < <= > >=`.
    Mark(&'static str),
    End,
}

/// A token, where it stands, and whether white space precedes it.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub token: Token,
    pub span: Span,
    pub spaced: bool,
}

/// Longest text of one expression, in bytes.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// `addresses`: texts and filters are understood.
pub(super) fn lex(source: &str, addresses: bool) -> Result<Vec<Lexeme>, ExprError> {
    if source.len() > MAX_TEXT {
        return Err(ExprError::new(
            Span::new(0, 0),
            "the expression is longer than a million characters",
            "split it into definitions",
        ));
    }
    let bytes = source.as_bytes();
    let mut out: Vec<Lexeme> = Vec::new();
    let mut at = 0;
    let mut spaced = false;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let token = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                spaced = true;
                continue;
            }
            b'0'..=b'9' => number(source, &mut at)?,
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
                && !after_dot_can_be_name(&out, spaced) =>
            {
                number(source, &mut at)?
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    at += 1;
                }
                Token::Name(source[start..at].to_string())
            }
            b'"' if addresses => {
                let Some(length) = source[at + 1..].find('"') else {
                    let span = Span::new(at, bytes.len());
                    return Err(ExprError::new(span, "a text has no closing quote", "add `\"`"));
                };
                at += length + 2;
                Token::Text(source[start + 1..at - 1].to_string())
            }
            b'[' if addresses && filter(&source[at..]).is_some() => {
                let inside = filter(&source[at..]).unwrap_or_default();
                at += inside.len() + 2;
                Token::Filter(inside.to_string())
            }
            _ => match mark(&bytes[at..]) {
                Some(text) => {
                    at += text.len();
                    Token::Mark(text)
                }
                None => return Err(strange(source, at)),
            },
        };
        out.push(Lexeme { token, span: Span::new(start, at), spaced });
        spaced = false;
    }
    out.push(Lexeme { token: Token::End, span: Span::new(bytes.len(), bytes.len()), spaced });
    Ok(out)
}

/// What stands in the brackets at the beginning of `rest`, if it is a condition such as `kind=impact`.
fn filter(rest: &str) -> Option<&str> {
    let mut level = 0;
    let (end, _) = rest.char_indices().find(|(_, c)| {
        level += i32::from(*c == '[') - i32::from(*c == ']');
        level == 0
    })?;
    let inside = &rest[1..end];
    inside.contains(['=', '<', '>']).then_some(inside)
}

/// After a name, `]` or `)` a dot is a path, not the beginning of a number.
fn after_dot_can_be_name(out: &[Lexeme], spaced: bool) -> bool {
    !spaced
        && out.last().is_some_and(|l| matches!(l.token, Token::Name(_) | Token::Mark("]") | Token::Mark(")")))
}

fn number(source: &str, at: &mut usize) -> Result<Token, ExprError> {
    let bytes = source.as_bytes();
    let start = *at;
    let digits = |at: &mut usize| {
        while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
    };
    digits(at);
    // `1..n` is a range, not `1.` followed by something
    if bytes.get(*at) == Some(&b'.') && bytes.get(*at + 1) != Some(&b'.') {
        *at += 1;
        digits(at);
    }
    if matches!(bytes.get(*at), Some(b'e' | b'E')) {
        let mut end = *at + 1;
        if matches!(bytes.get(end), Some(b'+' | b'-')) {
            end += 1;
        }
        if bytes.get(end).is_some_and(u8::is_ascii_digit) {
            *at = end;
            digits(at);
        }
    }
    let span = Span::new(start, *at);
    match source[start..*at].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Token::Number(value)),
        _ => Err(ExprError::new(
            span,
            "this number is too large",
            "the largest is about 1.8e308; for infinity write `inf`",
        )),
    }
}

fn mark(rest: &[u8]) -> Option<&'static str> {
    const MARKS: [&str; 20] = [
        "..", "==", "!=", "<=", ">=", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ".", "'", "=", "<",
        ">",
    ];
    if rest.starts_with(b"**") {
        return None;
    }
    MARKS.into_iter().find(|m| rest.starts_with(m.as_bytes()))
}

/// The error for a character that has no meaning, with what was probably meant.
fn strange(source: &str, at: usize) -> ExprError {
    let c = source[at..].chars().next().unwrap_or(' ');
    let two = source.get(at..at + 2).unwrap_or("");
    let (width, help) = match (c, two) {
        (_, "**") => (2, "a power is written `^`"),
        (_, "&&") => (2, "write `and`"),
        (_, "||") => (2, "write `or`"),
        ('|', _) => (1, "write `abs(x)`"),
        ('!', _) => (1, "write `not`, or `!=` for different"),
        ('{' | '}', _) => (1, "write round parentheses"),
        ('·' | '×' | '∙' | '⋅', _) => (c.len_utf8(), "a product is written `*`"),
        ('÷' | '∕', _) => (c.len_utf8(), "a quotient is written `/`"),
        ('−' | '–' | '—', _) => (c.len_utf8(), "this is not the minus sign of the keyboard; write `-`"),
        ('’' | '′' | '‘' | '`' | '"', _) => {
            (c.len_utf8(), "a derivative is written with the straight quote `'`")
        }
        ('²', _) => (c.len_utf8(), "write `^2`"),
        ('³', _) => (c.len_utf8(), "write `^3`"),
        ('π', _) => (c.len_utf8(), "write `pi`"),
        ('√', _) => (c.len_utf8(), "write `sqrt(x)`"),
        ('≤', _) => (c.len_utf8(), "write `<=`"),
        ('≥', _) => (c.len_utf8(), "write `>=`"),
        ('≠', _) => (c.len_utf8(), "write `!=`"),
        ('∞', _) => (c.len_utf8(), "write `inf`"),
        ('°', _) => (c.len_utf8(), "degrees are written `30 deg`"),
        ('%', _) => (1, "percent is not a unit here; write 0.01"),
        ('_', _) => (1, "a name begins with a letter"),
        (c, _) if c.is_alphabetic() => (c.len_utf8(), "names have the letters a-z and A-Z only"),
        _ => (c.len_utf8(), ""),
    };
    let shown: String = c.escape_debug().collect();
    ExprError::new(Span::new(at, at + width), format!("unexpected character `{shown}`"), help)
}

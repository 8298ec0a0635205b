//! What is wrong with a model file, where, and what to do about it.
//!
//! A [`Diagnostic`] is data: the program decides how to show it. [`Diagnostic::render`] is the plain form used in tests
//! and logs:
//!
//! ```text
//! error: unknown name `fi`                                                     rod.toml:28:15
//! 28 | angle    = "-fi"
//!    |              ^^ not a parameter, coordinate, definition or state; did you mean `phi`?
//! ```

use super::visible::visible;
use crate::model::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file can be used, but probably does not say what was meant.
    Warning,
    /// The file cannot be used.
    Error,
}

/// Which text a span points into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The model file.
    #[default]
    File,
    /// The right side of the n-th override of [`super::Options::set`].
    Set(usize),
    /// The n-th of the expressions that somebody wants to know besides.
    Series(usize),
    /// The request itself (an unknown case or live parameter); the span means nothing.
    Request,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One sentence without final stop.
    pub message: String,
    /// The text that `span` points into.
    pub origin: Origin,
    /// The place to mark.
    pub span: Span,
    /// What stands beside the mark: explanation or remedy; may be empty.
    pub help: String,
    /// Further places in the file, each with a sentence.
    pub notes: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error at a place of the file.
    pub fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            origin: Origin::File,
            span,
            help: help.into(),
            notes: Vec::new(),
        }
    }

    /// A warning at a place of the file.
    pub(crate) fn warning(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message, help) }
    }

    /// The same with one more place.
    pub(crate) fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }

    /// Plain text with file, line, column, the line itself and a mark below it. `file` is the name to show, `text` the
    /// content of the file; `sets` are the overrides that were given.
    /// Nothing in it steers a terminal.
    pub fn render(&self, file: &str, text: &str, sets: &[(String, String)]) -> String {
        visible(&self.laid_out(file, text, sets)).into_owned()
    }

    fn laid_out(&self, file: &str, text: &str, sets: &[(String, String)]) -> String {
        let word = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let (label, source) = match self.origin {
            Origin::File => (file.to_string(), text),
            Origin::Set(k) => match sets.get(k) {
                Some((name, value)) => (format!("--set {name}"), value.as_str()),
                None => (file.to_string(), text),
            },
            Origin::Series(_) | Origin::Request => {
                let tail = if self.help.is_empty() { String::new() } else { format!("\n   | {}", self.help) };
                return format!("{word}: {}{tail}\n", self.message);
            }
        };
        let place = Place::of(source, self.span);
        let mut out = head(word, &self.message, &label, place);
        out.push_str(&place.excerpt(source, self.span, &self.help));
        for (span, note) in &self.notes {
            let place = Place::of(text, *span);
            out.push_str(&head("note", note, file, place));
            out.push_str(&place.excerpt(text, *span, ""));
        }
        out
    }
}

/// Column at which file, line and column stand.
const PLACE: usize = 78;

/// First line of a message: word, sentence, place.
fn head(word: &str, message: &str, file: &str, place: Place) -> String {
    let width = PLACE.saturating_sub(word.len() + 2 + message.chars().count()).max(4);
    format!("{word}: {message}{}{file}:{}:{}\n", " ".repeat(width), place.line, place.column)
}

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl Place {
    /// Where a span begins in a text.
    pub(crate) fn of(text: &str, span: Span) -> Place {
        let at = floor_boundary(text, span.start);
        let line = text[..at].bytes().filter(|b| *b == b'\n').count() + 1;
        let begin = text[..at].rfind('\n').map_or(0, |k| k + 1);
        Place { line, column: text[begin..at].chars().count() + 1 }
    }

    /// The marked line and the help beside the mark. Long lines are cut around the mark.
    fn excerpt(self, text: &str, span: Span, help: &str) -> String {
        const WIDTH: usize = 160;
        let at = floor_boundary(text, span.start);
        let begin = text[..at].rfind('\n').map_or(0, |k| k + 1);
        let line: Vec<char> = text[begin..].lines().next().unwrap_or("").chars().collect();
        let column = self.column - 1;
        let first = column.saturating_sub(WIDTH / 2);
        let shown: String =
            line.iter().skip(first).take(WIDTH).map(|c| if c.is_control() { ' ' } else { *c }).collect();
        let end = floor_boundary(text, span.end).max(at);
        let wide = text[at..end].chars().take_while(|c| *c != '\n').count().clamp(1, WIDTH);
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let mark = format!("{}{}", " ".repeat(column - first), "^".repeat(wide));
        format!("{number} | {shown}\n{margin} | {}\n", format!("{mark} {help}").trim_end())
    }
}

/// The largest character boundary of `text` not above `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Collects messages while reading goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// Everything said so far, in order.
    pub list: Vec<Diagnostic>,
    errors: usize,
}

/// More errors than this are not collected: the first ones explain the rest.
const MAX_ERRORS: usize = 40;

impl Report {
    /// Adds a message; errors beyond a limit and repetitions are dropped.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        let error = diagnostic.severity == Severity::Error;
        if (error && self.errors >= MAX_ERRORS) || self.list.len() > 4 * MAX_ERRORS {
            self.errors += usize::from(error);
            return;
        }
        let same = |d: &Diagnostic| d.span == diagnostic.span && d.message == diagnostic.message;
        if self.list.iter().any(same) {
            return;
        }
        self.errors += usize::from(error);
        self.list.push(diagnostic);
    }

    /// Adds an error.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::error(span, message, help));
    }

    /// Adds a warning.
    pub(super) fn warning(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.push(Diagnostic::warning(span, message, help));
    }

    /// Whether an error was reported.
    pub(super) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether so many errors were reported that reading on is pointless.
    pub(super) fn is_full(&self) -> bool {
        self.errors >= MAX_ERRORS
    }
}

/// Why a value could not be made: a new message, or one that was already reported elsewhere.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// To be reported.
    New(Box<Diagnostic>),
    /// Follows from something already reported.
    Reported,
}

/// Result of resolving something.
pub(super) type Resolved<T> = Result<T, Fault>;

impl From<Diagnostic> for Fault {
    fn from(d: Diagnostic) -> Self {
        Fault::New(Box::new(d))
    }
}

/// An error as a [`Fault`].
pub(super) fn fault(span: Span, message: impl Into<String>, help: impl Into<String>) -> Fault {
    Diagnostic::error(span, message, help).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_file_line_and_column_and_marks_the_text() {
        let text = "a = 1\nangle    = \"-fi\"\n";
        let start = text.find("fi").unwrap();
        let d = Diagnostic::error(Span { start, end: start + 2 }, "unknown name `fi`", "did you mean `phi`?");
        let shown = d.render("rod.toml", text, &[]);
        assert_eq!(
            shown,
            format!(
                "error: unknown name `fi`{}rod.toml:2:14\n2 | angle    = \"-fi\"\n  |              ^^ did you mean `phi`?\n",
                " ".repeat(54)
            )
        );
    }

    #[test]
    fn marks_survive_any_span() {
        let text = "ä\nb";
        for start in 0..8 {
            for end in 0..8 {
                let d = Diagnostic::error(Span { start, end }, "m", "h");
                assert!(d.render("f", text, &[]).contains('^'));
            }
        }
    }
}

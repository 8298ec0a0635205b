//! The TOML layer: text to a tree of values in which every key and every value knows its place.
//!
//! Bounded: files above [`MAX_BYTES`] are refused at once, nesting is limited by the parser. Numbers are plain `f64`; what
//! TOML knows beyond the model file (dates) is refused.

use toml_edit::{Document, Item, Key, Value as Toml};

use super::diagnostic::{Diagnostic, Report};
use super::visible::visible;
use crate::model::Span;

/// Longest file that is read.
pub const MAX_BYTES: usize = 4 << 20;

/// A value with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Place of the value; of a table written with a header: the header.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// What a value can be.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number, SI.
    Number(f64),
    /// A string.
    Text(Text),
    /// true or false.
    Bool(bool),
    /// A list.
    List(Vec<Node>),
    /// A table, in file order.
    Table(Vec<Entry>),
}

/// A string and where its first character stands.
#[derive(Clone, Debug)]
pub(super) struct Text {
    /// Content.
    pub text: String,
    /// Byte in the file of the content's first byte; `None` when escapes make places inside it meaningless.
    pub offset: Option<usize>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Key.
    pub key: String,
    /// Place of the key.
    pub span: Span,
    /// Value.
    pub node: Node,
}

impl Node {
    /// What the value is called in messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Number(_) => "a number",
            Value::Text(_) => "a string",
            Value::Bool(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Reads a whole file.
pub(super) fn parse(text: &str, report: &mut Report) -> Option<Vec<Entry>> {
    if text.len() > MAX_BYTES {
        let size = text.len() as f64 / f64::from(1 << 20);
        report.error(
            Span::default(),
            format!("the file has {size:.1} MB; a model file has at most {} MB", MAX_BYTES >> 20),
            "put long data into a csv file and read it with  name = { csv = \"file.csv\", x = \"…\", y = \"…\" }",
        );
        return None;
    }
    match Document::parse(text) {
        Ok(document) => {
            let mut reader = Reader { text, report };
            let mut entries = Vec::new();
            for (key, item) in document.as_table().get_values_and_tables() {
                if let Some(entry) = reader.entry(key, item) {
                    entries.push(entry);
                }
            }
            Some(entries)
        }
        Err(error) => {
            let at = error.span().map_or(Span::default(), |r| Span { start: r.start, end: r.end });
            report.push(syntax_error(text, error.message(), at));
            None
        }
    }
}

/// Reads one value, as written behind `--set name=`: any TOML value, else the text itself is an expression.
pub(super) fn parse_value(text: &str) -> Node {
    const HEAD: &str = "v = ";
    let whole = format!("{HEAD}{text}");
    let mut report = Report::default();
    if text.len() <= MAX_BYTES
        && !text.contains('\n')
        && let Some(mut entries) = parse(&whole, &mut report)
        && entries.len() == 1
        && !report.has_errors()
        && let Some(entry) = entries.pop()
    {
        return shifted(entry.node, HEAD.len());
    }
    let trimmed = text.trim();
    let offset = text.find(trimmed).unwrap_or(0);
    Node {
        span: Span { start: offset, end: offset + trimmed.len() },
        value: Value::Text(Text { text: trimmed.to_string(), offset: Some(offset) }),
    }
}

fn shifted(mut node: Node, by: usize) -> Node {
    let back = |s: Span| Span { start: s.start.saturating_sub(by), end: s.end.saturating_sub(by) };
    node.span = back(node.span);
    node.value = match node.value {
        Value::Text(t) => Value::Text(Text { offset: t.offset.map(|o| o.saturating_sub(by)), ..t }),
        Value::List(list) => Value::List(list.into_iter().map(|n| shifted(n, by)).collect()),
        Value::Table(entries) => Value::Table(
            entries
                .into_iter()
                .map(|e| Entry { span: back(e.span), node: shifted(e.node, by), key: e.key })
                .collect(),
        ),
        other => other,
    };
    node
}

/// All entries of a table with their keys, in file order.
trait Entries {
    fn get_values_and_tables(&self) -> Vec<(&Key, &Item)>;
}

impl Entries for toml_edit::Table {
    fn get_values_and_tables(&self) -> Vec<(&Key, &Item)> {
        self.iter().filter_map(|(name, _)| self.get_key_value(name)).collect()
    }
}

struct Reader<'a> {
    text: &'a str,
    report: &'a mut Report,
}

fn range(span: Option<std::ops::Range<usize>>) -> Span {
    span.map_or(Span::default(), |r| Span { start: r.start, end: r.end })
}

impl Reader<'_> {
    fn entry(&mut self, key: &Key, item: &Item) -> Option<Entry> {
        let span = range(key.span());
        let node = self.item(item, span)?;
        Some(Entry { key: visible(key.get()).into_owned(), span, node })
    }

    fn item(&mut self, item: &Item, key: Span) -> Option<Node> {
        match item {
            Item::None => None,
            Item::Value(value) => self.value(value),
            Item::Table(table) => {
                let span = table.span().map_or(key, |r| Span { start: r.start, end: r.end });
                let mut entries = Vec::new();
                for (key, item) in table.get_values_and_tables() {
                    entries.extend(self.entry(key, item));
                }
                Some(Node { span, value: Value::Table(entries) })
            }
            Item::ArrayOfTables(tables) => {
                let mut list = Vec::new();
                for table in tables.iter() {
                    let mut entries = Vec::new();
                    for (key, item) in table.get_values_and_tables() {
                        entries.extend(self.entry(key, item));
                    }
                    list.push(Node { span: range(table.span()), value: Value::Table(entries) });
                }
                Some(Node { span: key, value: Value::List(list) })
            }
        }
    }

    fn value(&mut self, value: &Toml) -> Option<Node> {
        let span = range(value.span());
        let value = match value {
            Toml::String(s) => Value::Text(self.string(s.value(), span)),
            Toml::Integer(n) => Value::Number(*n.value() as f64),
            Toml::Float(x) => {
                if x.value().is_nan() {
                    self.report.error(span, "`nan` is not a number", "write a finite number");
                    return None;
                }
                Value::Number(*x.value())
            }
            Toml::Boolean(b) => Value::Bool(*b.value()),
            Toml::Datetime(_) => {
                self.report.error(
                    span,
                    "a date is not a value of a model",
                    "write a number or an expression in quotes",
                );
                return None;
            }
            Toml::Array(array) => {
                let mut list = Vec::with_capacity(array.len());
                for value in array.iter() {
                    list.extend(self.value(value));
                }
                Value::List(list)
            }
            Toml::InlineTable(table) => {
                let mut entries = Vec::new();
                for (name, _) in table.iter() {
                    if let Some((key, item)) = table.get_key_value(name) {
                        entries.extend(self.entry(key, item));
                    }
                }
                Value::Table(entries)
            }
        };
        Some(Node { span, value })
    }

    fn string(&self, content: &str, span: Span) -> Text {
        let raw = self.text.get(span.start..span.end).unwrap_or("");
        let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
        let inside = raw.get(quotes..raw.len().saturating_sub(quotes)).unwrap_or("");
        let offset = if inside == content {
            Some(span.start + quotes)
        } else if quotes == 3 && inside.strip_prefix('\n') == Some(content) {
            Some(span.start + quotes + 1)
        } else {
            None
        };
        Text { text: visible(content).into_owned(), offset }
    }
}

/// The message for text that is not TOML, with the commonest slips explained.
fn syntax_error(text: &str, message: &str, at: Span) -> Diagnostic {
    if let Some(found) = velocity_key(text, at) {
        return found;
    }
    let line = line_at(text, at.start);
    let help = if message.contains("duplicate key") {
        "each key stands once in its section"
    } else if decimal_comma(line) {
        "decimals are written with a point:  mu = 0.3"
    } else if unquoted_expression(line) {
        "an expression or a number with a unit stands in quotes:  name = \"2*m\""
    } else {
        "the file is TOML: [section], key = value, strings in quotes"
    };
    let message = message.lines().next().unwrap_or("this is not TOML").trim();
    Diagnostic::error(at, format!("cannot read this line: {message}"), help)
}

fn line_at(text: &str, at: usize) -> &str {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let begin = text[..at].rfind('\n').map_or(0, |k| k + 1);
    text[begin..].lines().next().unwrap_or("")
}

/// `mu = 0,3`
fn decimal_comma(line: &str) -> bool {
    let Some((whole, rest)) = line.split_once('=').and_then(|(_, value)| value.split_once(',')) else {
        return false;
    };
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    digits(whole.trim().trim_start_matches('-')) && rest.starts_with(|c: char| c.is_ascii_digit())
}

fn unquoted_expression(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let value = value.trim_start();
    !key.trim().is_empty() && value.starts_with(|c: char| c.is_ascii_alphanumeric() || "(-+.".contains(c))
}

/// `phi' = 1` is not TOML; say what to write instead.
fn velocity_key(text: &str, at: Span) -> Option<Diagnostic> {
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let here = begin;
        begin += line.len();
        if begin <= at.start {
            continue;
        }
        if here > at.end {
            break;
        }
        let (key, value) = line.split_once('=')?;
        let name = key.trim();
        let base = name.trim_end_matches('\'');
        if base == name || !is_name(base) {
            continue;
        }
        let start = here + key.find('\'')?;
        let rate = value.split('#').next().unwrap_or("").trim();
        return Some(velocity_message(Span { start, end: start + 1 }, base, rate, start_of(text, base)));
    }
    None
}

/// The message for a velocity written as a key of its own.
pub(super) fn velocity_message(span: Span, name: &str, rate: &str, start: Option<&str>) -> Diagnostic {
    let help = match start {
        Some(start) => format!("write  {name} = {{ start = {start}, rate = {rate} }}"),
        None => format!("write  {name} = {{ rate = {rate} }}"),
    };
    Diagnostic::error(span, "a velocity cannot be a key of its own", help)
}

/// The value of `name = value` somewhere in the text, if it is a simple one.
fn start_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        let value = value.split('#').next()?.trim();
        (key.trim() == name && !value.is_empty() && !value.starts_with('{')).then_some(value)
    })
}

/// A name of the expression language: a letter, then letters, digits, `_`.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<Vec<Entry>>, Report) {
        let mut report = Report::default();
        let tree = parse(text, &mut report);
        (tree, report)
    }

    #[test]
    fn keys_and_values_know_their_place() {
        let text = "[parameters]\nmu = { value = \"5/3\", range = [0, 3] }\n";
        let (tree, report) = read(text);
        assert!(!report.has_errors());
        let tree = tree.unwrap();
        let Value::Table(entries) = &tree[0].node.value else { panic!() };
        assert_eq!(entries[0].key, "mu");
        assert_eq!(&text[entries[0].span.start..entries[0].span.end], "mu");
        let Value::Table(inner) = &entries[0].node.value else { panic!() };
        let Value::Text(t) = &inner[0].node.value else { panic!() };
        assert_eq!(t.offset, text.find("5/3"));
        assert_eq!(&text[inner[1].node.span.start..inner[1].node.span.end], "[0, 3]");
    }

    #[test]
    fn a_velocity_as_a_key_is_explained() {
        let (_, report) = read("[coordinates]\nphi = \"30 deg\"\nphi' = 1\n");
        let d = &report.list[0];
        assert_eq!(d.message, "a velocity cannot be a key of its own");
        assert_eq!(d.help, "write  phi = { start = \"30 deg\", rate = 1 }");
        assert_eq!(d.span.start, 32);
    }

    #[test]
    fn large_junk_is_refused_fast() {
        let junk = "x".repeat(10 << 20);
        let (tree, report) = read(&junk);
        assert!(tree.is_none() && report.has_errors());
        let deep = format!("a = {}", "[".repeat(3_000_000));
        assert!(read(&deep).0.is_none());
    }

    #[test]
    fn overrides_are_toml_values_or_bare_expressions() {
        assert!(matches!(parse_value("0.4").value, Value::Number(x) if x == 0.4));
        assert!(matches!(parse_value("[0.1, 0.2]").value, Value::List(l) if l.len() == 2));
        assert!(matches!(parse_value("60 deg").value, Value::Text(t) if t.text == "60 deg"));
        assert!(
            matches!(parse_value("\"60 deg\"").value, Value::Text(t) if t.text == "60 deg" && t.offset == Some(1))
        );
        assert!(matches!(parse_value("1\nx = 2").value, Value::Text(_)));
    }
}

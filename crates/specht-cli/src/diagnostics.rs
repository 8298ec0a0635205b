//! Messages about a model file, in colour: the engine lays them out ([`Diagnostic::render`]), here the parts get their
//! colours.

use crate::outcome::Refusal;
use crate::text::tell;
use anstyle::{AnsiColor, Style};
use specht::machine::{Complaint, Error, Machine, Source};
use specht::machine::{Diagnostic, Severity};

const fn bold(colour: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(colour)))
}
const RED: Style = bold(AnsiColor::Red);
const YELLOW: Style = bold(AnsiColor::Yellow);
const CYAN: Style = bold(AnsiColor::Cyan);
const BLUE: Style = bold(AnsiColor::Blue);
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// An error of the engine as a refusal.
pub fn refused(error: Error) -> Refusal {
    match error.complaint() {
        Complaint::Plain { message, help } if help.is_empty() => Refusal::new(message),
        Complaint::Plain { message, help } => Refusal::new(message).help(help),
        Complaint::Located { lead, list } => {
            let mut text = if lead.is_empty() { String::new() } else { format!("error: {lead}\n") };
            if let Some((source, options)) = error.origin() {
                text.extend(list.iter().map(|d| render(d, source, &options.set)));
            }
            let errors = list.iter().filter(|d| d.severity == Severity::Error).count();
            if errors > 1 {
                text += &format!("{RED}{errors} errors{RED:#}\n");
            }
            Refusal::rendered(text)
        }
    }
}

/// Print what looks odd in the file of a machine to standard error.
pub fn warn(machine: &Machine) {
    for d in &machine.warnings {
        tell(render(d, &machine.source, &machine.options.set).trim_end_matches('\n'));
    }
}

/// One message with escape codes for colours.
fn render(d: &Diagnostic, source: &Source, set: &[(String, String)]) -> String {
    let colour = if d.severity == Severity::Error { RED } else { YELLOW };
    let mut out = String::new();
    for line in d.render(&source.label, &source.text, set).lines() {
        out += &styled(line, colour);
        out.push('\n');
    }
    out
}

fn styled(line: &str, colour: Style) -> String {
    for (word, style) in [("error: ", colour), ("warning: ", colour), ("note: ", CYAN)] {
        if let Some(rest) = line.strip_prefix(word) {
            let word = word.trim_end_matches(": ");
            let Some((message, place)) = rest.rsplit_once("    ") else {
                return format!("{style}{word}{style:#}{BOLD}: {rest}{BOLD:#}");
            };
            let (message, width) = (message.trim_end(), rest.len() - message.trim_end().len() - place.len());
            return format!(
                "{style}{word}{style:#}{BOLD}: {message}{BOLD:#}{}{DIM}{place}{DIM:#}",
                " ".repeat(width)
            );
        }
    }
    // `17 | text` and `   |   ^^^ help`
    let Some((margin, rest)) = line.split_once(" |") else { return line.to_string() };
    if margin.trim().parse::<usize>().is_ok() {
        return format!("{BLUE}{margin} |{BLUE:#}{rest}");
    }
    if !margin.trim().is_empty() {
        return line.to_string();
    }
    match rest.rfind('^').filter(|_| rest.trim_start().starts_with('^')) {
        Some(_) => {
            let start = rest.len() - rest.trim_start().len();
            let end = start + rest[start..].len() - rest[start..].trim_start_matches('^').len();
            let (marks, help) = (&rest[start..end], &rest[end..]);
            format!("{BLUE}{margin} |{BLUE:#}{}{colour}{marks}{help}{colour:#}", &rest[..start])
        }
        None => format!("{BLUE}{margin} |{BLUE:#}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use specht::model::Span;

    #[test]
    fn a_message_has_place_line_marks_and_help() {
        let text = "angle    = \"-fi\"\n";
        let source = Source { label: "rod.toml".into(), ..Source::text(text) };
        let d = Diagnostic::error(Span { start: 13, end: 15 }, "unknown name `fi`", "did you mean `phi`?");
        let plain = anstream::adapter::strip_str(&render(&d, &source, &[])).to_string();
        let lines: Vec<&str> = plain.lines().collect();
        assert!(lines[0].starts_with("error: unknown name `fi` ") && lines[0].ends_with("rod.toml:1:14"));
        assert_eq!(lines[1], "1 | angle    = \"-fi\"");
        assert_eq!(lines[2], "  |              ^^ did you mean `phi`?");
    }
}

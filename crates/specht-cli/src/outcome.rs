//! How a command ends: 0 done, 1 a stopping finding, a failed audit or a failed comparison, 2 wrong input or no place to write.

use crate::text::tell;
use anstyle::{AnsiColor, Style};
use specht::machine::visible;
use std::process::ExitCode;

/// A command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Exit code 0.
    Done,
    /// Exit code 1: the run ended in a finding that stops it or was interrupted, or its audit or a comparison failed.
    Stopped,
}

impl Exit {
    /// For the operating system.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Done => 0,
            Exit::Stopped => 1,
        })
    }
}

/// Wrong input (exit code 2): a message for the user, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, or a whole rendered diagnostic.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// `message` is already laid out (diagnostics with source lines) and is printed as it is.
    pub rendered: bool,
}

/// Result of a command.
pub type Outcome = Result<Exit, Refusal>;

impl Refusal {
    /// A plain message.
    pub fn new(message: impl Into<String>) -> Self {
        Refusal { message: message.into(), help: None, rendered: false }
    }

    /// Text that is already laid out.
    pub fn rendered(text: impl Into<String>) -> Self {
        Refusal { message: text.into(), help: None, rendered: true }
    }

    /// Add what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Write to standard error.
    pub fn print(&self) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let bold = Style::new().bold();
        if self.rendered {
            tell(self.message.trim_end_matches('\n'));
        } else {
            tell(&format!("{red}error{red:#}{bold}: {}{bold:#}", visible(&self.message)));
        }
        if let Some(help) = &self.help {
            tell(&format!("  {bold}help{bold:#}: {}", visible(help)));
        }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal::new(message)
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        Refusal::new(message)
    }
}

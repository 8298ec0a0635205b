//! Why a machine cannot be read, run or asked: messages with their places in the file, as one error.

use std::fmt;
use std::sync::Arc;

use crate::expr::did_you_mean;
use crate::file::{Diagnostic, Options, Origin, explain_start};
use crate::sim::StartError;

use super::{Machine, Source};

/// A machine that cannot be read, run or asked.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    complaint: Complaint,
    source: Option<(Arc<Source>, Options)>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Complaint {
    /// Places in the file, each with its message; a lead says what they are about.
    Located {
        /// A sentence before the messages; may be empty.
        lead: String,
        /// The messages.
        list: Vec<Diagnostic>,
    },
    /// A sentence without a place.
    Plain {
        /// What is wrong.
        message: String,
        /// What to do; may be empty.
        help: String,
    },
}

impl Error {
    /// A sentence without a place, and what to do (may be empty).
    pub fn plain(message: impl Into<String>, help: impl Into<String>) -> Error {
        let complaint = Complaint::Plain { message: message.into(), help: help.into() };
        Error(Box::new(Inner { complaint, source: None }))
    }

    pub(super) fn located(source: &Source, options: &Options, list: Vec<Diagnostic>) -> Error {
        let complaint = Complaint::Located { lead: String::new(), list };
        Error(Box::new(Inner { complaint, source: Some((Arc::new(source.clone()), options.clone())) }))
    }

    /// There is no `what` of this name: the nearest one, or all, or what else to do.
    pub(super) fn unknown(what: &str, name: &str, known: &[String], otherwise: &str) -> Error {
        let shown: Vec<String> = known.iter().take(30).map(|n| format!("`{n}`")).collect();
        let more = if known.len() > 30 { ", …" } else { "" };
        let help = match did_you_mean(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if shown.is_empty() => format!("the model has none; {otherwise}"),
            None => format!("there are {}{more}; {otherwise}", shown.join(", ")),
        };
        Error::plain(format!("there is no {what} `{name}`"), help)
    }

    /// What is wrong, as data.
    pub fn complaint(&self) -> &Complaint {
        &self.0.complaint
    }

    /// The text into which the places point, and the options with which it was read.
    pub fn origin(&self) -> Option<(&Source, &Options)> {
        self.0.source.as_ref().map(|(source, options)| (&**source, options))
    }

    /// The same with a sentence before it.
    pub(super) fn led_by(mut self, located: &str, plain: &str) -> Error {
        match &mut self.0.complaint {
            Complaint::Located { lead, .. } => *lead = located.to_string(),
            Complaint::Plain { message, .. } => *message = format!("{plain}{message}"),
        }
        self
    }

    /// An unknown name may be meant as a column of the data.
    pub(super) fn with_columns(mut self, columns: &[&str]) -> Error {
        if let Complaint::Plain { message, help } = &mut self.0.complaint
            && message.contains("unknown name")
        {
            *help = format!("{help}; the columns of the data are {}", columns.join(", "));
        }
        self
    }

    /// Errors of an expression that does not stand in the file name the expression instead of a place.
    pub(super) fn about_series(self, texts: &[String]) -> Error {
        let Complaint::Located { list, .. } = &self.0.complaint else { return self };
        let found = list.iter().find_map(|d| match d.origin {
            Origin::Series(k) => Some((texts.get(k)?, d)),
            _ => None,
        });
        match found {
            Some((text, d)) => Error::plain(format!("`{text}`: {}", d.message), d.help.clone()),
            None => self,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.complaint {
            Complaint::Plain { message, help } if help.is_empty() => f.write_str(message),
            Complaint::Plain { message, help } => write!(f, "{message}; {help}"),
            Complaint::Located { lead, list } => {
                let mut text = if lead.is_empty() { String::new() } else { format!("error: {lead}\n") };
                if let Some((source, options)) = self.origin() {
                    text.extend(list.iter().map(|d| d.render(&source.label, &source.text, &options.set)));
                }
                f.write_str(text.trim_end())
            }
        }
    }
}

/// As [`fmt::Display`]: this is what a `main` that returns the error shows.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl Machine {
    /// An error at a place of this machine's file.
    pub(super) fn error_at(&self, d: Diagnostic) -> Error {
        Error::located(&self.source, &self.options, vec![d])
    }

    /// Why it cannot start, at the place in the file that spoils the start.
    pub(super) fn start_error(&self, error: &StartError) -> Error {
        match error {
            StartError::Settings(_) | StartError::Size { .. } | StartError::NoDerivatives => {
                self.labelled(error)
            }
            _ => self.error_at(explain_start(self.model(), &self.source.text, error)),
        }
    }

    /// A sentence about the whole file.
    pub(super) fn labelled(&self, what: impl fmt::Display) -> Error {
        Error::plain(format!("{}: {what}", self.source.label), "")
    }
}

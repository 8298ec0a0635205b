//! `specht completions SHELL`.

use crate::args::{Args, CompletionsArgs};
use crate::outcome::{Exit, Outcome};
use crate::text::print;
use clap::CommandFactory;

/// Print the script.
pub fn run(args: CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "specht", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

//! `specht completions SHELL`.

use crate::args::{Args, CompletionsArgs};
use crate::outcome::{Exit, Outcome};
use clap::CommandFactory;

/// Print the script.
pub fn run(args: CompletionsArgs) -> Outcome {
    clap_complete::generate(args.shell, &mut Args::command(), "specht", &mut std::io::stdout());
    Ok(Exit::Done)
}

//! One file per command.

mod completions;
mod explain;

use crate::args::Command;
use crate::outcome::{Outcome, Refusal};

/// Do what was typed.
pub fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Solve(a) => crate::solve::run(a),
        Command::Problem(a) => crate::problem::run(a),
        Command::Explain(a) => explain::run(a),
        Command::Completions(a) => completions::run(a),
        Command::Run(_)
        | Command::Check(_)
        | Command::Gallery(_)
        | Command::Verify(_)
        | Command::Analyse(_) => Err(Refusal::new("this command is not built into this version")),
        Command::Schema => Err(Refusal::new("this command is not built into this version")),
    }
}

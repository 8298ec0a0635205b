//! `specht problem`.

use crate::outcome::{Outcome, Refusal};

/// Arguments of `problem`.
#[derive(Clone, Debug, clap::Args)]
pub struct ProblemArgs {}

/// Run the command.
pub fn run(_args: ProblemArgs) -> Outcome {
    Err(Refusal::new("`specht problem` is not built into this version"))
}

//! `specht solve`.

use crate::outcome::{Outcome, Refusal};

/// Arguments of `solve`.
#[derive(Clone, Debug, clap::Args)]
pub struct SolveArgs {}

/// Run the command.
pub fn run(_args: SolveArgs) -> Outcome {
    Err(Refusal::new("`specht solve` is not built into this version"))
}

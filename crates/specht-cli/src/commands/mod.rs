//! One file per command.

mod analyse;
mod check;
pub mod compare;
mod completions;
mod data;
mod explain;
mod fit;
pub mod gallery;
mod import;
mod map;
mod new;
mod run;
mod sweep;
mod verify;

use crate::args::Command;
use crate::outcome::{Exit, Outcome};

/// Do what was typed.
pub fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Run(a) => run::run(*a),
        Command::New(a) => new::run(a),
        Command::Import(a) => import::run(&a),
        Command::Check(a) => check::run(a),
        Command::Compare(a) => compare::run(a),
        Command::Gallery(a) => gallery::run(a),
        Command::Verify(a) => verify::run(a),
        Command::Analyse(a) => analyse::run(*a),
        Command::Data(a) => data::run(&a),
        Command::Fit(a) => fit::run(&a),
        Command::Sweep(a) => sweep::run(&a),
        Command::Map(a) => map::run(&a),
        Command::Solve(a) => crate::solve::run(a),
        Command::Problem(a) => crate::problem::run(a),
        Command::Schema => {
            crate::text::print(&specht::machine::schema())?;
            Ok(Exit::Done)
        }
        Command::Explain(a) => explain::run(a),
        Command::Completions(a) => completions::run(a),
        Command::Manual => completions::manual(),
    }
}

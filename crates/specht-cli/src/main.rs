//! The program `specht`: reads model files, runs them, and writes data and reports.
//!
//! ```text
//! args      what was typed (clap)
//! commands  one file per command: typed → meant → done
//! solve, problem   contact problems without a model
//! ```
#![forbid(unsafe_code)]

mod address;
mod args;
mod commands;
mod embedded;
mod expected;
mod outcome;
mod problem;
mod solve;
mod table;
mod text;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed = args::Args::parse();
    match commands::dispatch(typed.command) {
        Ok(exit) => exit.code(),
        Err(refusal) => {
            refusal.print();
            ExitCode::from(2)
        }
    }
}

//! The program `specht`: reads model files, runs them, and writes data and reports.
//!
//! ```text
//! args              what was typed (clap)
//! commands          one file per command: typed → meant → done
//! source, session   MODEL → text → model → system → run
//! run_json, table   the results as data;  address, expected: numbers out of them and comparison
//! report            the page and the picture of a run
//! solve, problem    contact problems without a model
//! ```
#![forbid(unsafe_code)]

mod address;
mod args;
mod braking;
mod commands;
mod diagnostics;
mod embedded;
mod expected;
mod outcome;
mod output;
mod painleve;
mod problem;
mod progress;
mod report;
mod run_json;
mod session;
mod solve;
mod source;
mod table;
mod tasks;
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

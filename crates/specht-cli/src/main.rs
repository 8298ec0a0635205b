//! The program `specht`: reads model files, runs them, and writes data and reports.
//!
//! ```text
//! args              what was typed (clap)
//! commands          one file per command: typed → meant → done
//! source, session   MODEL → text → machine → run (the engine does the work)
//! tasks, words      questions as typed → findings → words
//! address, expected numbers out of the results, and comparison
//! report            the page and the pictures
//! solve, problem    contact problems without a model
//! ```
#![forbid(unsafe_code)]

mod address;
mod args;
mod commands;
mod diagnostics;
mod embedded;
mod expected;
mod outcome;
mod output;
mod problem;
mod progress;
mod report;
mod session;
mod solve;
mod source;
mod tasks;
mod text;
mod words;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let typed = args::Args::parse();
    // a panic is a bug: the last resort is an apology that says where, not a bare trace
    std::panic::set_hook(Box::new(apologise));
    match std::panic::catch_unwind(|| commands::dispatch(typed.command)) {
        Ok(Ok(exit)) => exit.code(),
        Ok(Err(refusal)) => {
            refusal.print();
            ExitCode::from(2)
        }
        Err(_) => ExitCode::from(101),
    }
}

fn apologise(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let what = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown cause");
    let place = info.location().map_or_else(String::new, |l| format!(" ({}:{})", l.file(), l.line()));
    eprintln!("sorry, this is a bug in specht {}: {what}{place}", env!("CARGO_PKG_VERSION"));
    eprintln!("please report it together with the model file and the command; nothing else is needed");
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
    }
}

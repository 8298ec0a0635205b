//! The program `specht`: reads model files, runs them, and writes data and reports.
//!
//! ```text
//! args              what was typed (clap)
//! commands          one file per command: typed → meant → done
//! source, session   MODEL → text → machine → run (the engine does the work)
//! tasks, words      questions as typed → findings → words
//! address, expected numbers out of the results, and comparison
//! report            the page and the pictures
//! import            robots of other programs
//! sweep             tables of many runs
//! solve, problem    contact problems without a model
//! host              the same for other programs that hold the engine (the Python package)
//! ```
#![forbid(unsafe_code)]

mod args;
mod args_analyse;
mod commands;
mod diagnostics;
mod embedded;
mod expected;
pub mod host;
mod import;
mod outcome;
mod output;
mod problem;
mod progress;
mod report;
mod session;
mod solve;
mod source;
mod stream;
mod sweep;
mod tasks;
mod text;
mod words;
mod words_cycle;

use clap::Parser;
use std::process::ExitCode;

/// The program: arguments in, exit code out.
pub fn main() -> ExitCode {
    let typed = match args::Args::try_parse() {
        Ok(typed) => typed,
        Err(said) => return ExitCode::from(help(&said)),
    };
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

/// Help, version, or what is wrong with the command line.
fn help(said: &clap::Error) -> u8 {
    let text = said.render().ansi().to_string();
    if said.use_stderr() {
        text::tell(text.trim_end_matches('\n'));
        return 2;
    }
    match text::print(&text) {
        Ok(()) => 0,
        Err(refusal) => {
            refusal.print();
            2
        }
    }
}

/// A place in the sources without the folders of the machine that built the program: from `crates/` or the name of the package on.
fn within(file: &str) -> &str {
    if let Some(k) = file.rfind("crates/") {
        return &file[k..];
    }
    let package = file.rfind("/src/").and_then(|src| file[..src].rfind('/'));
    package.map_or(file, |k| &file[k + 1..])
}

fn apologise(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let what = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown cause");
    let place = info.location().map_or_else(String::new, |l| format!(" ({}:{})", within(l.file()), l.line()));
    text::tell(&format!("sorry, this is a bug in specht {}: {what}{place}", env!("CARGO_PKG_VERSION")));
    text::tell("please report it together with the model file and the command; nothing else is needed");
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        text::tell(&std::backtrace::Backtrace::force_capture().to_string());
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_place_in_the_sources_names_no_folder_of_the_machine() {
        for (file, place) in [
            ("crates/specht/src/root.rs", "crates/specht/src/root.rs"),
            ("/home/x/specht/crates/specht/src/root.rs", "crates/specht/src/root.rs"),
            ("/home/x/.cargo/registry/src/index/rayon-1.12.0/src/job.rs", "rayon-1.12.0/src/job.rs"),
        ] {
            assert_eq!(super::within(file), place);
        }
    }
}

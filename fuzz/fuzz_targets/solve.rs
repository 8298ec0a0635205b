//! A problem for `specht solve`: refused with a message, or answered.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/specht-cli/src/outcome.rs"]
mod outcome;
#[allow(dead_code)]
#[path = "../../crates/specht-cli/src/solve.rs"]
mod solve;
#[allow(dead_code)]
#[path = "../../crates/specht-cli/src/text.rs"]
mod text;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let args = solve::SolveArgs {
        problem: "-".into(),
        tolerance: 1e-8,
        method: solve::MethodArg::Cascade,
        time_limit: Some(1.0),
        nearest: text.len() % 3 == 1,
        all: text.len() % 3 == 2,
        check: text.len() % 5 == 1,
    };
    match solve::answer(text, &args) {
        Ok((answer, _)) => assert!(answer.is_object()),
        Err(refusal) => assert!(!refusal.message.is_empty()),
    }
});

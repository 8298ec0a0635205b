//! A problem for `specht solve`: refused with a message, or answered.
#![no_main]

use libfuzzer_sys::fuzz_target;
use specht::cone::format::Posed;
use specht::cone::{Settings, Solver, solve_all};
use specht::lcp::{self, EnumerateSettings, Lcp};

fuzz_target!(|text: &str| {
    let settings = || Settings { time_limit: Some(1.0), ..Default::default() };
    match Posed::read(text) {
        Err(e) => assert!(!e.message.is_empty()),
        Ok(Posed::Contacts(p)) => {
            let mut solver = Solver::new(settings());
            let answer = if text.len() % 2 == 0 { solver.solve(&p) } else { solver.solve_nearest(&p, &[]) };
            if let Err(e) = answer {
                assert!(!e.to_string().is_empty());
            }
            let _ = solve_all(&p, Some(1.0), Default::default());
        }
        Ok(Posed::Lcp { a, b }) => {
            let p = Lcp::new(&a, &b);
            lcp::Solver::default().solve(p);
            if b.len() <= 8 {
                let _ = lcp::enumerate(p, &EnumerateSettings::default());
            }
        }
    }
});

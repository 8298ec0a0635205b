//! A model file: refused with diagnostics that render, or read, built and evaluated at its start.
#![no_main]

use libfuzzer_sys::fuzz_target;
use specht::file::{Options, read};
use specht::system::{Discrete, Eval, Mode, System};

/// Larger machines are read, but not built: they only take time.
const LARGE: usize = 40;

fuzz_target!(|text: &str| {
    let loaded = match read(text, &Options::default()) {
        Ok(loaded) => loaded,
        Err(list) => {
            assert!(!list.is_empty(), "refused without a word");
            for d in &list {
                assert!(!d.render("model.toml", text, &[]).is_empty());
            }
            return;
        }
    };
    for d in &loaded.warnings {
        assert!(!d.render("model.toml", text, &[]).is_empty());
    }
    let model = &loaded.model;
    if model.coordinates.len() > LARGE || model.contacts.len() > LARGE || model.bodies.len() > LARGE {
        return;
    }
    let Ok(system) = specht::model::build(model) else { return };
    let dims = system.dims();
    let state = system.start();
    let mut eval = Eval::new(&dims);
    let mut discrete = Discrete {
        modes: vec![Mode::Open; dims.contacts],
        latches: vec![0; dims.latches],
        stick_since: vec![f64::NAN; dims.contacts],
        load_rate: vec![0.0; dims.contacts],
    };
    system.latch(&state, &mut discrete, &mut eval, false);
    system.evaluate(&state, &discrete, &mut eval);
});

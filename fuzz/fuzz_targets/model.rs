//! A model file: refused with diagnostics that render, or read, built and evaluated at its start.
#![no_main]

use libfuzzer_sys::fuzz_target;
use specht::inside::{Options, build, read};
use specht::system::{Discrete, System};

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
    let Ok(system) = build(model) else { return };
    let state = system.start();
    let mut eval = system.memory();
    let mut discrete = Discrete::new(&system.dims());
    system.latch(&state, &mut discrete, &mut eval, false);
    system.evaluate(&state, &discrete, &mut eval);
});

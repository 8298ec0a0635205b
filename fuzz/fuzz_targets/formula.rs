//! A formula as the force of a machine: refused with a message that renders, or evaluated and differentiated at some places.
#![no_main]

use libfuzzer_sys::fuzz_target;
use specht::machine::Machine;
use specht::system::{Along, Discrete, State, System, Tangent};

fuzz_target!(|text: &str| {
    // JSON's strings are strings of the file too
    let formula = serde_json::to_string(text).unwrap_or_default();
    let model = format!(
        "coordinates = {{ x = 0.3, y = 1 }}\n\
         body = [{{ name = \"b\", mass = \"1 kg\", position = [\"x\", \"y\"] }}]\n\
         force = [{{ name = \"f\", along = \"x\", force = {formula} }}]\n"
    );
    let machine = match Machine::read(&model) {
        Ok(machine) => machine,
        Err(e) => return assert!(!e.to_string().is_empty()),
    };
    let system = machine.system();
    let discrete = Discrete::new(&system.dims());
    let (mut eval, mut rates) = (system.memory(), Tangent::new(system));
    for x in [0.0, 0.7, -3.0, 1e30] {
        let state = State { q: vec![x, 1.0], u: vec![0.3, -2.0], ..system.start() };
        system.evaluate(&state, &discrete, &mut eval);
        let along = Along { q: &[1.0, 0.0], ..Along::default() };
        system.tangent(&state, &discrete, &eval, &along, &mut rates);
    }
});

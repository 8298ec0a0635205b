//! Run a model file, read numbers off the run, keep it as run.json.
//!
//!     cargo run --example run_file

use specht::prelude::*;

/// The woodpecker toy: down its pole by impacts, stick and slip.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/woodpecker/model.toml");
    let run = Machine::open(path)?.until(0.5).run()?;
    println!("{} at t = {} s", run.trajectory.status.word(), run.trajectory.time);

    // what happened, in the order of time
    let impacts = run.events().iter().filter(|e| e.kind == Kind::Impact);
    println!("{} impacts", impacts.count());

    // any expression of the file's language, at every recorded instant
    let y = run.series("y")?;
    println!("it came down by {:.1} mm", 1e3 * (y[0] - y[y.len() - 1]));
    let state = run.at(0.25).ok_or("the run is too short")?;
    println!("half way it was at {:.1} mm", 1e3 * state.q[0]);

    // how far to trust it, and everything as data
    assert!(run.audit().passed);
    let json = serde_json::to_string_pretty(&run.record())?;
    println!("run.json has {} kB", json.len() / 1000);
    Ok(())
}

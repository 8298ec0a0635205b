//! The same machine with many values of a parameter: how far does a block slide on a rough floor?
//!
//!     cargo run --example sweep

use specht::prelude::*;

const SLED: &str = r#"
name        = "sled"
gravity     = [0, -9.81]
parameters  = { mu = 0.3, v0 = "2 m/s" }
ground      = { floor = { through = [0, 0], normal = [0, 1] } }
body        = [{ name = "sled", mass = "5 kg", position = ["x", "y"] }]
contact     = [{ name = "runner", between = ["sled", "ground.floor"], friction = "mu" }]
event       = [{ name = "stopped", on = "runner.stick", stop = true }]
run         = { until = "100 s" }

[coordinates]
x = { rate = "v0" }
y = 0
"#;

/// v₀²/(2 μ g).
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sled = Machine::read(SLED)?.live(vec!["mu".into()])?;
    println!("mu     way, m");
    for k in 1..=10 {
        let mu = 0.1 * f64::from(k);
        let run = sled.vary(&[("mu", mu)])?.run()?;
        let way = run.trajectory.last.state.q[0];
        println!("{mu:.1}  {way:9.6}");
        assert_eq!(run.trajectory.status, Status::Stopped);
        assert!((way - 2.0 / (mu * 9.81)).abs() < 1e-9);
    }
    Ok(())
}

//! Where has the falling rod one motion, several or none? A map over its angle and its friction, with the borders located.
//!
//!     cargo run --example paradox_map

use specht::analysis::Axis;
use specht::machine::task::{Look, View};
use specht::prelude::*;

/// Painlevé's rod on a rough floor.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery/rod/model.toml");
    let rod = Machine::open(path)?;
    let degree = std::f64::consts::PI / 180.0;
    let axes = vec![
        Axis { name: "phi".into(), from: 5.0 * degree, to: 85.0 * degree, count: 41 },
        Axis { name: "mu".into(), from: 0.0, to: 3.0, count: 16 },
    ];
    let view = View::Over { look: Look::default(), axes };
    let task = Task::Painleve(PainleveTask { contacts: Vec::new(), view });
    let Finding::Map(map) = rod.ask(&task)? else { return Err("a question over axes has a map".into()) };

    for (verdict, points) in map.counts.iter() {
        println!("{points:4} points {verdict}");
    }
    if let Some(largest) = &map.largest {
        println!("a paradox needs a friction of at least {}", largest.least_critical_mu.0);
        // 4/3: the thin rod of the textbooks
        assert!((largest.least_critical_mu.0 - 4.0 / 3.0).abs() < 1e-6);
    }
    assert!(map.complete && !map.borders.is_empty());
    Ok(())
}

//! Numbers as JSON.

use serde_json::{Value as Json, json};
use specht::machine::json::Num;

/// A number as JSON.
pub fn number(x: f64) -> Json {
    json!(Num(x))
}

//! The program `specht`.
fn main() {}

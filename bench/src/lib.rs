//! Benchmarks of Specht: `cargo bench -p specht-bench --bench lcp`. One file per subject in `benches/`.

"""A loop of 1 000 runs of 0.2 s from Python beside the same loop in Rust: `cargo build --release --manifest-path bench/Cargo.toml`, then `python bench/loop.py`
from the root, with the package installed (`pip install ./crates/specht-py`)."""

import subprocess
import time

import specht

TIMES = 1000
machine = specht.load("woodpecker")
ratios = []
for _ in range(5):
    begun = time.perf_counter()
    for k in range(TIMES):
        machine.with_(mu1=0.3 + 0.2 * k / TIMES).run(until=0.2)["phiS"]
    python = time.perf_counter() - begun
    begun = time.perf_counter()
    subprocess.run(["target/release/once", "loop", str(TIMES)], check=True)
    rust = time.perf_counter() - begun
    ratios.append(python / rust)
    print(f"Python {python:.3f} s, Rust {rust:.3f} s, ratio {python / rust:.2f}")
print(f"median ratio {sorted(ratios)[2]:.2f}")

#!/usr/bin/env bash
# Instructions per task, counted by callgrind: the same on a busy machine. Twice the task less once the task, so that
# reading the model and starting the program do not count.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v valgrind >/dev/null; then
    echo "missing: valgrind (Debian: apt-get install valgrind)" >&2
    exit 1
fi
cargo build --release --quiet -p specht-bench --bin once
once="${CARGO_TARGET_DIR:-target}/release/once"
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$once" "$1" "$2" 2>&1 |
        awk '/Collected/ { print $NF; found = 1 } END { if (!found) exit 1 }'
}
printf '%-12s %15s\n' task instructions
for task in "${@:-woodpecker by-hand lcp-100 lcp-300 tree-100}"; do
    for name in $task; do
        one=$(count "$name" 1)
        two=$(count "$name" 2)
        printf '%-12s %15d\n' "$name" "$((two - one))"
    done
done

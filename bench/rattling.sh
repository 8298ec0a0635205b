#!/usr/bin/env bash
# Figure 12.3: one-stage rattling over 400 amplitudes, about 5 000 impacts each, in one thread. Processor time, impacts, and the time of two million.
# usage: bench/rattling.sh [VALUES [SECONDS OF MOTION]]        with the program of target/release, or $SPECHT
set -euo pipefail
cd "$(dirname "$0")/.."
specht=$(realpath "${SPECHT:-${CARGO_TARGET_DIR:-target}/release/specht}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
TIMEFORMAT=%U
user=$({ time "$specht" sweep rattle --over "alpha=1..2:${1:-400}" --until "${2:-7000}" --record counts.events.impact \
    --jobs 1 --out "$scratch" >/dev/null 2>&1; } 2>&1)
awk -F, -v user="$user" 'NR > 1 { impacts += $2 } END {
    printf "%d impacts in %s s of processor time: %.2f us each, %.1f s for two million\n", impacts, user, 1e6 * user / impacts, 2e6 * user / impacts
}' "$scratch/sweep.csv"

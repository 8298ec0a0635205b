#!/usr/bin/env bash
# Folds of the same smooth problem (Duffing's oscillator) by this program and by AUTO-07p (Debian: auto-07p), and the ratio of their times.
# Says so and ends where AUTO-07p is not there. usage: bench/auto/run.sh        with the program of target/release or target/debug, or $SPECHT
set -euo pipefail
cd "$(dirname "$0")"
newest=$(ls -t "${CARGO_TARGET_DIR:-../../target}"/{release,debug}/specht 2>/dev/null | head -n 1 || true)
specht=$(realpath "${SPECHT:-$newest}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seconds() { # COMMAND…: its time, output to $scratch/out
    local begin end
    begin=$(date +%s.%N)
    "$@" >"$scratch/out"
    end=$(date +%s.%N)
    echo "$end - $begin" | bc -l
}
ours=$(seconds "$specht" analyse branch duffing.toml --over w=0.6..3 --json)
python3 - "$scratch/out" <<'P' | tee "$scratch/ours"
import json, sys
for s in json.load(open(sys.argv[1]))["special"]:
    if s["label"] == "fold":
        print("FOLD %.9f" % s["parameter"])
P
echo "specht: $ours s"
auto=$(command -v auto-07p || command -v auto || true)
if [ -z "$auto" ] || ! command -v gfortran >/dev/null; then
    echo "AUTO-07p is not installed (Debian: apt install auto-07p gfortran): nothing to compare with."
    exit 0
fi
cp duf.f90 duf.auto "$scratch"
cd "$scratch"
theirs=$(seconds "$auto" duf.auto)
grep '^FOLD' out >theirs
echo "AUTO-07p: $theirs s, $(echo "$theirs/$ours" | bc -l) times ours"
python3 - ours theirs <<'P'
import sys
a, b = ([float(l.split()[1]) for l in open(f)] for f in sys.argv[1:3])
far = [abs(x - y) / abs(y) for x, y in zip(sorted(a), sorted(b))]
print("folds", sorted(a), sorted(b), "differ by", far)
sys.exit(0 if len(a) == len(b) and all(f < 1e-6 for f in far) else 1)
P

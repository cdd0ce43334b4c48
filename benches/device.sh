#!/usr/bin/env bash
# The whole table of docs/devices.md on a machine with a CUDA device, in less than ten minutes: kernels against their twins, kernels
# against cuBLAS's product, and factorizations by the CPU alone, by the device with one CPU worker, and by both, under dmda, dmdas and
# heteroprio. Writes device.md, kernels.jsonl, runs.jsonl and the traces into $OUT, or into target/device.
#
# Usage: benches/device.sh [seconds for all, 540 by default]
#
# On a machine without Rust: BIN is a folder with the programs `treeqr`, `device` (the test of the crate kernels) and `device_kernels` (its
# example), built elsewhere. MATRICES are names of the gallery, with `:N` behind for N repetitions, of which the table has the median.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

out=${OUT:-target/device}
mkdir -p "$out"
budget=${1:-540}
bin=${BIN:-}
treeqr=${bin:-${CARGO_TARGET_DIR:-target}/release}/treeqr

step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
left() { echo $((budget - SECONDS)); }

if [ -z "$bin" ]; then
    step "Build"
    cargo build --release --package treeqr --bin treeqr
    cargo build --release --package treeqr-kernels --example device_kernels
    cargo test --release --package treeqr-kernels --test device --no-run
fi
# The test and the example.
twins() {
    if [ -n "$bin" ]; then "$bin/device" "$@"; else cargo test --release --package treeqr-kernels --test device -- "$@"; fi
}
kernels=${bin:-${CARGO_TARGET_DIR:-target}/release/examples}/device_kernels

step "Machine"
"$treeqr" topology | tee "$out/topology.txt"
if ! grep -q 'cuda0:' "$out/topology.txt"; then
    echo "SKIPPED: there is no CUDA device here"
    exit 0
fi

step "Kernels against their twins"
if twins on_a_cuda_device --nocapture >"$out/twins.txt" 2>&1; then
    echo passed | tee "$out/twins"
else
    echo FAILED | tee "$out/twins"
    tail -n 20 "$out/twins.txt"
fi

step "Kernels against cuBLAS"
timeout 60 "$kernels" >"$out/kernels.jsonl" || true

# One solve: a line of JSON, the trace kept; nothing if it fails or no time is left.
: >"$out/runs.jsonl"
run() {
    local matrix=$1 who=$2 scheduler=$3 name
    shift 3
    [ "$(left)" -gt 20 ] || { echo "no time left for $matrix, $who"; return 0; }
    name=${matrix//[^A-Za-z0-9-]/_}-$who-$scheduler
    if timeout "$(left)" "$treeqr" solve "gallery:$matrix" --scheduler "$scheduler" "$@" --json \
        --trace "$out/$name.trace" --force >"$out/$name.json" 2>"$out/$name.err"; then
        python3 - "$matrix" "$who" "$scheduler" "$out/$name.json" >>"$out/runs.jsonl" <<'PY'
import json, sys
matrix, who, scheduler, path = sys.argv[1:]
with open(path) as file:
    run = json.load(file)
run.update(matrix_name=matrix, who=who, asked=scheduler)
print(json.dumps(run))
PY
        echo "$name: done"
    else
        echo "$name: FAILED: $(tail -n 1 "$out/$name.err")"
    fi
}

step "Factorizations"
# A first run fills the cost models of both kinds of workers; it counts for nothing.
first=1
for item in ${MATRICES:-TF16:3 lp-20000:3 stencil27-40:3 TF17}; do
    matrix=${item%%:*}
    [ "$item" = "$matrix" ] && reps=1 || reps=${item##*:}
    [ -n "$first" ] && run "$matrix" warm-up dmda --devices 0
    first=
    for _ in $(seq "$reps"); do
        run "$matrix" cpu lws --devices none
        run "$matrix" device dmdas --devices 0 --threads 1
        for scheduler in dmda dmdas heteroprio; do
            run "$matrix" both "$scheduler" --devices 0
        done
        # Policies decide on every task, and what page-locked memory takes.
        run "$matrix" free dmdas --devices 0 --nb 512 --ib 128
        run "$matrix" locked dmdas --devices 0 --pin
    done
done

step "Table"
python3 benches/device/table.py "$out" | tee "$out/device.md"

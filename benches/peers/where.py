#!/usr/bin/env python3
"""Where the time of treeqr goes on the lines of a run of peers.py, beside three bounds: a table of docs/performance.md.

    python3 benches/peers/where.py target/peers/peers.json --treeqr target/release/treeqr

Runs `treeqr solve --json` several times on each matrix that the run has left in its folder, and `analyse --json` once; lines with the
least ratio of the factorization come first. Parts are of the medians; "rank" is all that follows the first pass, on both workers or one.

The bound of traffic is the time that memory takes, at the bandwidth that all threads together have here (`programs/traffic.c`), to write every
buffer of the factorization once, and to read once A and those that are not left at the end. It binds where they do not stay in caches.
"""

import argparse
import csv
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from harness import building

KERNELS = {"geqrt", "gemqrt", "tpqrt", "tpmqrt"}
SUBTREES = {"do_subtree"}
STEPS = ["read", "analyse", "factorize", "solve"]
# Of a run that is longer, seconds, one is enough.
LONG = 3.0
# More than caches hold.
MEGABYTES = "1000"


def ms(seconds):
    return f"{1e3 * seconds:.1f}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"


def said(treeqr, command, matrix):
    done = subprocess.run([treeqr, command, matrix, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def parts_of(run):
    """Parts of the whole by step, and of the workers' time in the factorization by kind of task and for the rank."""
    whole = sum(run["times_s"][step] for step in STEPS)
    steps = [run["times_s"][step] / whole for step in STEPS]
    rank = (run["times_s"]["rank"] or 0) / run["times_s"]["factorize"]
    space = run["threads"] * run["times_s"]["factorize"]

    def time_in(names):
        return sum(c["time_s"] for c in run["codelets"] if c["name"] in names) / space

    others = {c["name"] for c in run["codelets"]} - KERNELS - SUBTREES
    tasks = [time_in(KERNELS), time_in(SUBTREES), time_in(others), rank]
    return steps + tasks + [max(0.0, 1 - sum(tasks))]


def bandwidth(folder, threads):
    program = building.compile_program(folder, "traffic", ["traffic.c"], ["-lpthread"])
    told = subprocess.run([program, str(threads), MEGABYTES], capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


def least_traffic(treeqr, matrix, run):
    """Bytes that are written and bytes that are read at least, by the trace of one more run."""
    with tempfile.TemporaryDirectory() as folder:
        trace, tables = f"{folder}/trace", f"{folder}/csv"
        for command in (["solve", matrix, "--trace", trace], ["trace", "export", trace, "--to", "csv", "-o", tables]):
            subprocess.run([treeqr, *command], capture_output=True, text=True, check=True)
        with open(f"{tables}/memory.csv", newline="") as table:
            changes = [int(row["delta_bytes"]) for row in csv.DictReader(table)]
    taken = sum(change for change in changes if change > 0)
    return taken, max(0, taken - run["factor_bytes"]) + 12 * run["matrix"]["nnz"]


def line(treeqr, name, matrix, reps, peak, memory):
    runs = [said(treeqr, "solve", matrix)]
    if runs[0]["times_s"]["total"] <= LONG:
        runs += [said(treeqr, "solve", matrix) for _ in range(reps - 1)]
    parts = [statistics.median(values) for values in zip(*map(parts_of, runs))]
    factorize = statistics.median(run["times_s"]["factorize"] for run in runs)
    path = said(treeqr, "analyse", matrix)["critical_path_flops"]
    area = runs[0]["flops"] / peak["all"] / 1e9
    written, read = least_traffic(treeqr, matrix, runs[0])
    traffic = written / memory["write_gb_s"] / 1e9 + read / memory["read_gb_s"] / 1e9
    bounds = [f"{ms(area)} of {ms(factorize)}", ms(path / peak["one"] / 1e9), ms(traffic)]
    return f"| {name} | " + " | ".join([f"{100 * part:.0f} %" for part in parts] + bounds) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="what peers.py has written with --out")
    parser.add_argument("--treeqr", default="target/release/treeqr")
    parser.add_argument("--folder", type=Path, default=Path("target/peers/matrices"), help="of the matrices")
    parser.add_argument("--matrices", help="these alone, with commas between them")
    parser.add_argument("--reps", type=int, default=5)
    args = parser.parse_args()
    run = json.loads(args.run.read_text())
    peak = run["peaks"]["peak_gflops"]
    asked = args.matrices.split(",") if args.matrices else None
    ratios = {m["name"]: m["summary"]["best"]["any"]["factorize_s"]["ratio"] for m in run["matrices"]}
    names = sorted((n for n in ratios if asked is None or n in asked), key=lambda n: ratios[n] or 0)
    memory = bandwidth(args.folder.parent, peak["threads"])
    print(f"Of medians; area bound at {peak['all']:.0f} GFlop/s, critical path at {peak['one']:.0f}, ", end="")
    print(f"traffic at {memory['write_gb_s']:.1f} GB/s of writing and {memory['read_gb_s']:.1f} of reading.\n")
    print("| matrix | read | analyse | factorize | solve | tile kernels | subtrees | assembly | rank | idle, runtime | area bound, ms | critical path, ms | traffic, ms |")
    print("| --- |" + " ---: |" * 12)
    for name in names:
        print(line(args.treeqr, name, str(args.folder / f"{name}.mtx"), args.reps, peak, memory), flush=True)


if __name__ == "__main__":
    main()

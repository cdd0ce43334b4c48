#!/usr/bin/env python3
"""treeqr beside SuiteSparseQR and MKL's sparse QR on the same files; README.md tells how it measures.

Takes a release build of treeqr, gives one JSON file with every run and a Markdown report.
"""

import argparse
import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import building, catalogue, machine, pages, peaks, summaries, tables  # noqa: E402
from harness.figures import plain, repetitions, rotated  # noqa: E402
from harness.running import Runner  # noqa: E402
from harness.scouting import Scout, scout_mkl, scout_spqr, worth_repeating  # noqa: E402
from harness.settings import Setting  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PAGE = ROOT / "docs" / "performance.md"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", metavar="A,B", help="only these: names of the sets, of the gallery, or of files")
    parser.add_argument("--set", choices=catalogue.SETS, default=catalogue.DEFAULT, help="which matrices [default: default]")
    parser.add_argument("--reps", type=int, default=5, help="runs of each setting that takes less than 20 s [default: 5]")
    parser.add_argument("--files", metavar="DIR", default=ROOT.parent / "shared" / "matrices", help="folder of real matrices")
    parser.add_argument("--threads", type=int, default=machine.cores(), help="threads of treeqr, and most of the BLAS [default: all cores]")
    parser.add_argument("--out", metavar="FILE", help="the results [default: target/peers/peers.json]")
    parser.add_argument("--write-docs", action="store_true", help="put the tables into docs/performance.md")
    parser.add_argument("--from", dest="source", metavar="FILE", help="run nothing: tables of results that were kept")
    parser.add_argument("--treeqr", metavar="FILE", default=os.environ.get("TREEQR", TARGET / "release" / "treeqr"))
    parser.add_argument("--no-mkl", action="store_true", help="leave MKL out")
    parser.add_argument("--timeout", type=float, default=900.0, metavar="S", help="the most that any run may take [default: 900]")
    parser.add_argument("--scout-budget", type=float, default=30.0, metavar="S", help="time for choosing settings, by matrix [default: 30]")
    return parser.parse_args()


def say(*words):
    print(*words, flush=True)


def told(record):
    if "error" in record:
        return record["error"]
    return f"total {record['total_s']:.3f} s, factorization {record['factorize_s']:.3f} s, {record['peak_rss_bytes'] / 1e6:.0f} MB"


def our_settings(threads, programs):
    """x only and H kept."""
    both = [Setting("treeqr", threads, False), Setting("treeqr", threads, True)]
    return both if programs.keeps_h else both[:1]


def run_matrix(runner, entry, path, source, args):
    """All runs on one matrix: a first one of each setting, then those worth it in turns."""
    rows, cols = catalogue.dimensions(path)
    wide = rows < cols
    programs = runner.programs

    def run(setting, cutoff_s=None):
        record = runner.run(setting, path, cutoff_s)
        say(f"  {setting.name:28} {told(record)}")
        return record

    scouts, settings = [], []
    firsts = {}
    for setting in our_settings(args.threads, programs):
        firsts[setting] = run(setting) | {"scout": True}
        settings.append(setting)
    scout = Scout(run, args.threads, wide, args.scout_budget)
    # The first of SuiteSparseQR, then MKL, then the search: the first two always have their turn.
    scout.attempt(Setting("spqr", args.threads, True, "metis", True, "openblas"), always=True)
    if programs.mkl_qr:
        scout_mkl(scout)
    scout_spqr(scout, programs.mkl_libraries is not None)
    firsts |= scout.tried
    settings = [s for s in settings if "error" not in firsts[s]] + worth_repeating(scout)
    scouts = list(firsts.values())

    runs, often = [], {}
    for setting in settings:
        often[setting] = repetitions(firsts[setting]["wall_s"], args.reps)
        if often[setting] == 0:
            runs.append(firsts[setting] | {"rep": 0})
    for rep in range(max(often.values(), default=0)):
        say(f"  repetition {rep + 1}")
        for setting in rotated(settings, rep):
            if rep < often[setting]:
                runs.append(run(setting) | {"rep": rep})
    facts = {s.name: s.facts() for s in firsts}
    return {
        "name": entry.name,
        "source": source,
        "rows": rows,
        "cols": cols,
        "wide": wide,
        "settings": facts,
        "scouts": scouts,
        "runs": runs,
        "not_tried": scout.skipped,
        "repetitions": {s.name: n for s, n in often.items()},
    }


def measure(args, out):
    start = machine.now()
    programs, launch, dgemm, installed, remarks = building.everything(TARGET / "peers", Path(args.treeqr).resolve(), not args.no_mkl)
    missing = list(remarks)
    if not programs.keeps_h:
        missing.append("treeqr solve has no --keep-q: H kept is measured of the peers alone")
    for remark in missing:
        say(remark)
    runner = Runner(launch, programs, args.timeout)
    folder = TARGET / "peers" / "matrices"
    folder.mkdir(parents=True, exist_ok=True)
    # The build is over and may have left load behind; what counts is what runs beside the measurements.
    data = {
        "schema": 1,
        "start": start,
        "machine": machine.describe(),
        "versions": machine.versions(programs.treeqr, ROOT) | installed,
        "options": {"set": args.set, "matrices": args.matrices, "reps": args.reps, "threads": args.threads},
        "peaks": peaks.measure(runner, dgemm, programs, args.threads),
        "missing": missing,
        "matrices": [],
    }
    say(f"dgemm, best of both: {data['peaks']['peak_gflops']}; core type of OpenBLAS: {data['peaks']['openblas_core_type']}")
    files = args.files if Path(args.files).is_dir() else None
    for entry in catalogue.chosen(args.set, args.matrices.split(",") if args.matrices else None):
        path, source = catalogue.prepare(entry, files, folder, programs.treeqr)
        if path is None:
            say(f"MISSING: {source}")
            missing.append(source)
            continue
        say(f"{entry.name} ({source})")
        result = run_matrix(runner, entry, path, source, args)
        data["matrices"].append(finished(result, data["peaks"]))
        keep(data, out)
    return data


def finished(result, found):
    return result | {"summary": summaries.matrix(result, result["settings"], found["peak_gflops"])}


def keep(data, out):
    """Written after every matrix, complete or not at all."""
    runs = [record for result in data["matrices"] for record in result["runs"]]
    data["end"] = machine.now()
    data["disturbances"] = machine.disturbances(data["start"], data["end"], data["options"]["threads"], runs)
    partial = out.with_name(out.name + ".part")
    partial.write_text(json.dumps(plain(data), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    partial.replace(out)


def main():
    args = arguments()
    # As Ctrl-C: what runs is stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench-peers: terminated"))
    out = Path(args.out) if args.out else TARGET / "peers" / "peers.json"
    try:
        if args.source:
            data = json.loads(Path(args.source).read_text(encoding="utf-8"))
        else:
            out.parent.mkdir(parents=True, exist_ok=True)
            data = measure(args, out)
            if not data["matrices"]:
                raise building.Missing("no matrix was there")
        report = tables.report(plain(data))
        say()
        say(report)
        if args.write_docs:
            PAGE.write_text(pages.replaced(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")
    except (building.Missing, ValueError, OSError) as wrong:
        sys.exit(f"bench-peers: {wrong}")


if __name__ == "__main__":
    main()

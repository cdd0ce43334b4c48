#!/usr/bin/env python3
"""Opens a trace and all its exports with readers that are not ours, and compares counts and sums.

    readers.py FOLDER

FOLDER holds `trace` (a trace), `starvz`, `csv`, `perfetto.pftrace`, `paje.trace` and `dot.dot`, as written by
`cargo run -p treeqr-profiling --example exports -- FOLDER` (or by `treeqr trace export`). Wants pyarrow, pandas,
polars, duckdb and perfetto; each reader that is missing is named, and is a failure with --all.
"""

import importlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

folder = Path(sys.argv[1])
strict = "--all" in sys.argv
missing = []


def reader(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        missing.append(name)
        return None


def same(what, found, expected):
    assert found == expected, f"{what}: {found} where {expected} is expected"


def close(what, found, expected):
    assert abs(found - expected) <= 1e-9 * max(1, abs(expected)), f"{what}: {found}, expected {expected}"


manifest = json.loads((folder / "trace/manifest.json").read_text())
rows = {table["table"]: table["rows"] for table in manifest["tables"]}
# What all must agree on: tasks, and nanoseconds in tasks.
tasks, busy_ns = rows["tasks"], None

if pandas := (reader("pyarrow") and reader("pandas")):
    for table, count in rows.items():
        same(f"pandas, {table}", len(pandas.read_parquet(folder / f"trace/{table}.parquet")), count)
    frame = pandas.read_parquet(folder / "trace/tasks.parquet")
    busy_ns = int((frame["end_ns"] - frame["start_ns"]).sum())
    application = pandas.read_parquet(folder / "starvz/application.parquet")
    same("pandas, StarVZ tasks", len(application), tasks)
    close("pandas, StarVZ durations", application["Duration"].sum() * 1e6, busy_ns)
    same("pandas, StarVZ zero", application["Start"].min(), 0.0)
    tree = pandas.read_parquet(folder / "starvz/atree.parquet")
    joined = application.merge(tree, on="ANode", how="left", suffixes=("", ".tree"))
    same("pandas, tasks without a tree node", int(joined["Depth.tree"].isna().sum()), 0)
    for file in (folder / "csv").iterdir():
        same(f"pandas, {file.name}", len(pandas.read_csv(file)), rows[file.stem])
    print(f"pandas: {len(rows)} tables, {tasks} tasks, {busy_ns} ns in them, StarVZ and CSV the same")

if polars := reader("polars"):
    for table, count in rows.items():
        same(f"polars, {table}", polars.scan_parquet(folder / f"trace/{table}.parquet").collect().height, count)
    frame = polars.read_parquet(folder / "trace/tasks.parquet")
    same("polars, types", str(frame.schema["task"]), "UInt32")
    busy_ns = busy_ns or int((frame["end_ns"] - frame["start_ns"]).sum())
    same("polars, durations", int((frame["end_ns"] - frame["start_ns"]).sum()), busy_ns)
    same("polars, StarVZ tasks", polars.read_parquet(folder / "starvz/application.parquet").height, tasks)
    same("polars, CSV", polars.read_csv(folder / "csv/tasks.csv").height, tasks)
    print("polars: the same")

if duckdb := reader("duckdb"):
    one = lambda query: duckdb.sql(query).fetchall()[0][0]
    for table, count in rows.items():
        same(f"DuckDB, {table}", one(f"select count(*) from '{folder}/trace/{table}.parquet'"), count)
    found = one(f"select sum(end_ns - start_ns) from '{folder}/trace/tasks.parquet'")
    same("DuckDB, durations", int(found), busy_ns)
    found = one(f"select sum(Duration) from '{folder}/starvz/application.parquet'")
    close("DuckDB, StarVZ durations", found * 1e6, busy_ns)
    same("DuckDB, CSV", one(f"select count(*) from '{folder}/csv/tasks.csv'"), tasks)
    print("DuckDB: the same")


def perfetto_protobuf():
    """Perfetto's own message definitions."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

    trace = proto.Trace()
    trace.ParseFromString((folder / "perfetto.pftrace").read_bytes())
    known = lambda message: not any(True for _ in unknown(message))
    unknown_fields = importlib.import_module("google.protobuf.unknown_fields").UnknownFieldSet
    unknown = lambda message: unknown_fields(message)
    event = proto.TrackEvent
    counts, open_slices, busy, flows = Counter(), {}, 0, [set(), set()]
    names, categories = {}, {}
    tracks = set()
    for packet in trace.packet:
        assert known(packet), "a field that Perfetto does not know"
        names.update({entry.iid: entry.name for entry in packet.interned_data.event_names})
        categories.update({entry.iid: entry.name for entry in packet.interned_data.event_categories})
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert known(descriptor) and descriptor.uuid not in tracks
            tracks.add(descriptor.uuid)
        if not packet.HasField("track_event"):
            continue
        found = packet.track_event
        assert known(found) and found.track_uuid in tracks
        stack = open_slices.setdefault(found.track_uuid, [])
        if found.type == event.TYPE_SLICE_BEGIN:
            assert names[found.name_iid] and all(known(note) for note in found.debug_annotations)
            stack.append((categories[found.category_iids[0]], packet.timestamp))
            flows[0].update(found.flow_ids)
            flows[1].update(found.terminating_flow_ids)
        elif found.type == event.TYPE_SLICE_END:
            category, begin = stack.pop()
            counts[category] += 1
            busy += packet.timestamp - begin if category == "task" else 0
        else:
            same("Perfetto, event type", found.type, event.TYPE_COUNTER)
            counts["counter"] += 1
    same("Perfetto, open slices", sum(map(len, open_slices.values())), 0)
    same("Perfetto, tasks", counts["task"], tasks)
    same("Perfetto, durations", busy, busy_ns)
    same("Perfetto, helpers", counts["helps"], rows.get("shares", 0))
    same("Perfetto, states", counts["state"], rows.get("states", 0) + rows.get("switches", 0))
    same("Perfetto, flows", flows[0], flows[1])
    print(f"Perfetto's message definitions: {dict(counts)}, {len(flows[0])} flows")


def perfetto_processor():
    """Perfetto's own importer, which pip's package downloads when it is first used."""
    from perfetto.trace_processor import TraceProcessor

    processor = TraceProcessor(trace=str(folder / "perfetto.pftrace"))
    one = lambda query: next(iter(processor.query(query))).x
    same("trace_processor, tasks", one("select count(*) x from slice where category = 'task'"), tasks)
    same("trace_processor, durations", one("select sum(dur) x from slice where category = 'task'"), busy_ns)
    errors = "select coalesce(sum(value), 0) x from stats where severity = 'error'"
    same("trace_processor, errors", one(errors), 0)
    processor.close()
    print("Perfetto's trace_processor: the same")


if reader("perfetto"):
    perfetto_protobuf()
    try:
        perfetto_processor()
    except (subprocess.SubprocessError, OSError) as error:
        missing.append("trace_processor (no download)")

lines = (folder / "paje.trace").read_text().splitlines()
body = [line.split(" ") for line in lines if line.startswith("7 ")]
same("Paje, tasks and helpers", sum(line[3] == '"T"' for line in body), tasks + rows.get("shares", 0))
print(f"Paje: {len(lines)} lines, {tasks} tasks (strictly read by tests/export_paje.rs)")

if shutil.which("dot"):
    # Layout is not asked for: it needs minutes where parsing needs none.
    counted = subprocess.run(["gc", "-n", "-e", folder / "dot.dot"], capture_output=True, text=True, check=True)
    nodes, edges = counted.stdout.split()[:2]
    print(f"Graphviz: {nodes} nodes, {edges} edges")
    if "digraph tasks" in (folder / "dot.dot").read_text()[:99]:
        same("Graphviz, tasks", int(nodes), tasks)
        same("Graphviz, dependencies", int(edges), rows.get("dependencies", 0))
    else:
        same("Graphviz, fronts", int(nodes), rows["fronts"])
else:
    missing.append("Graphviz")

if missing:
    print("not here:", ", ".join(missing))
    sys.exit(1 if strict else 0)

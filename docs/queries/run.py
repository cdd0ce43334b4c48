#!/usr/bin/env python3
"""Runs the queries of this folder on a trace: run.py TRACE [QUERY ...]. Needs the duckdb package.

A table that the trace has no file of is there, and empty.
"""

import pathlib
import re
import sys

import duckdb

HERE = pathlib.Path(__file__).resolve().parent


def connect(trace):
    """A database whose tables are those of the trace."""
    db = duckdb.connect()
    for create in (HERE / "tables.sql").read_text().splitlines():
        table = re.match(r"CREATE TABLE (\w+) ", create).group(1)
        file = trace / f"{table}.parquet"
        if file.exists():
            db.read_parquet(str(file)).create_view(table)
        else:
            db.sql(create)
    return db


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    trace = pathlib.Path(sys.argv[1])
    if not (trace / "manifest.json").is_file():
        sys.exit(f"{trace} is not a trace: it has no manifest.json")
    db = connect(trace)
    queries = sys.argv[2:] or sorted(f.stem for f in HERE.glob("*.sql") if f.stem != "tables")
    for query in queries:
        print(f"-- {query}")
        db.sql((HERE / f"{query}.sql").read_text()).show(max_width=140)


main()

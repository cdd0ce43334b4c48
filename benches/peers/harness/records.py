"""From what a program printed to one record of common fields.

The same names for every solver: `read_s`, `analyse_s`, `factorize_s`, `solve_s`, `total_s`, `flops`, `nnz_r`, `nnz_h`, `rank`, `norm_x`,
`norm_r`, `norm_atr`; what a solver does not tell is not there.
"""

import json

#: Of treeqr's JSON, besides the times.
RENAMED = {
    "flops": "flops",
    "nnz_r": "nnz_r",
    "nnz_h": "nnz_h",
    "rank": "rank",
    "rank_tolerance": "tolerance",
    "solution_norm": "norm_x",
    "residual_norm": "norm_r",
    "normal_residual": "normal_residual",
    "threads": "threads",
    "ordering": "ordering_used",
    "peak_bytes": "own_peak_bytes",
    "warnings": "warnings",
    "version": "library",
}

#: Without these a run has not answered.
NEEDED = ("read_s", "analyse_s", "factorize_s", "solve_s", "total_s", "norm_x", "norm_r")


def from_treeqr(said):
    record = {new: said[old] for old, new in RENAMED.items() if old in said}
    for part, time in said.get("times_s", {}).items():
        record[f"{part}_s"] = time
    # Its own total goes on to the check of x; that of the others ends with x.
    if "total_s" in record:
        record["checked_s"] = record.pop("total_s")
        record["total_s"] = sum(record.get(f"{part}_s", 0.0) for part in ("read", "analyse", "factorize", "solve"))
    matrix = said.get("matrix", {})
    record |= {key: matrix[key] for key in ("rows", "cols", "nnz") if key in matrix}
    record["transposed"] = False
    return record


def parse(solver, text):
    """The record of a run by its standard output.

    ValueError with the reason if it is not what the program promises.
    """
    if solver == "treeqr":
        said = json.loads(text)
    else:
        lines = [line for line in text.splitlines() if line.startswith("{")]
        if len(lines) != 1:
            raise ValueError(f"{len(lines)} lines of JSON instead of one")
        said = json.loads(lines[0])
    record = from_treeqr(said) if solver == "treeqr" else said
    missing = [key for key in NEEDED if key not in record]
    if missing:
        raise ValueError(f"no {', '.join(missing)} in what {solver} printed")
    return record

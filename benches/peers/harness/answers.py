"""Whether the solvers agree: ranks, residuals and norms of x side by side.

Takes one record of each setting on one matrix, gives remarks by setting. Nobody is the judge: the least residual and, where it is
unique, the shortest x that any of them found are the measure.
"""

from .figures import is_number

#: Relative differences of residuals and norms below this are rounding.
CLOSE = 1e-6
#: A residual of less than this, relative to ||A||_F ||x|| + ||b||, is none.
NO_RESIDUAL = 1e-10
#: x so many times longer than another solver's is of no use.
EXPLODED = 1e6


def remarks(records, wide):
    """`{setting: [remark, ...]}` of the records that have something to be said of; those of the transposed problem are not compared."""
    out = {name: [] for name in records}
    comparable = {}
    for name, record in records.items():
        if "error" in record:
            out[name].append(record["error"])
        elif not is_number(record.get("norm_x")) or not is_number(record.get("norm_r")):
            out[name].append("x is not finite")
        elif not record.get("transposed"):
            comparable[name] = record
    if len(comparable) > 1:
        ranks(comparable, out)
        solutions(comparable, wide, out)
    for name, record in records.items():
        if record.get("transposed") and "error" not in record:
            out[name].append("another problem: least squares with the transpose")
    return {name: said for name, said in out.items() if said}


def ranks(records, out):
    told = {name: r["rank"] for name, r in records.items() if r.get("rank") is not None}
    ours = [rank for name, rank in told.items() if name.startswith("treeqr")]
    if not ours:
        return
    for name, rank in told.items():
        if rank != ours[0]:
            out[name].append(f"rank {rank}, treeqr {ours[0]}")


def solutions(records, wide, out):
    shortest = min(r["norm_x"] for r in records.values())
    norm_a = max((r["norm_a"] for r in records.values() if is_number(r.get("norm_a"))), default=0.0)
    norm_b = max((r["norm_b"] for r in records.values() if is_number(r.get("norm_b"))), default=0.0)
    nothing = NO_RESIDUAL * (norm_a * shortest + norm_b)
    least = min(r["norm_r"] for r in records.values())
    for name, record in records.items():
        if record["norm_x"] > EXPLODED * shortest:
            out[name].append(f"||x|| {record['norm_x']:.1e}, the shortest found {shortest:.3g}")
        if record["norm_r"] > nothing and record["norm_r"] > (1.0 + CLOSE) * least:
            other = "rounding" if least <= nothing else f"{least:.7g}"
            out[name].append(f"||r|| {record['norm_r']:.7g}, the least found {other}")
    # The shortest x is unique among those of the least residual.
    best = [r["norm_x"] for r in records.values() if r["norm_r"] <= max(nothing, (1.0 + CLOSE) * least)]
    if wide and best:
        for name, record in records.items():
            longer = record["norm_x"] > (1.0 + CLOSE) * min(best)
            if longer and record["norm_x"] <= EXPLODED * shortest:
                out[name].append(f"||x|| {record['norm_x']:.7g}, the shortest {min(best):.7g}")


def answered(record):
    """Whether a run gave an x at all, right or wrong."""
    return "error" not in record and is_number(record.get("norm_x")) and is_number(record.get("norm_r"))

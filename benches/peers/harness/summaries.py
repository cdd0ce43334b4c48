"""From the runs on one matrix to what is told of it: medians and spreads by setting, the best peer, and the ratios.

Takes the results as they are kept in JSON (so that tables can be made of them again), gives plain dictionaries. Knows no formats.
"""

from .answers import answered, remarks
from .figures import summary

TIMES = ("read_s", "analyse_s", "factorize_s", "solve_s", "total_s", "wall_s", "peak_rss_bytes")
SAID = ("flops", "nnz_r", "nnz_h", "rank", "norm_a", "norm_b", "norm_x", "norm_r", "norm_atr", "normal_residual", "transposed")
PEERS = ("spqr", "mkl")


def of_setting(facts, runs, peaks):
    """One setting: its facts, the figures of its runs that ended, and rates."""
    ended = [run for run in runs if "error" not in run]
    out = dict(facts) | {"runs": len(ended), "failed": len(runs) - len(ended)}
    if not ended:
        return out | {"error": runs[-1]["error"] if runs else "not run"}
    out |= {key: summary([run.get(key) for run in ended]) for key in TIMES}
    out |= {key: ended[-1][key] for key in SAID if key in ended[-1]}
    flops, time = out.get("flops"), out["factorize_s"]["median"]
    if flops and time > 0.0:
        out["gflops"] = flops / time * 1e-9
        peak = peaks.get("all") if peaks else None
        if peak:
            out["part_of_peak"] = out["gflops"] / peak
    return out


def matrix(results, settings, peaks):
    """What is told of one matrix.

    `results`: `scouts` and `runs`, lists of records; `settings`: facts of each setting by name (solver, keeps_h, label).
    """
    by_name = {}
    for kind in ("scouts", "runs"):
        for record in results[kind]:
            by_name.setdefault(record["setting"], {"scouts": [], "runs": []})[kind].append(record)
    table = {}
    for name, records in by_name.items():
        repeated = bool(records["runs"])
        told = of_setting(settings[name], records["runs"] if repeated else records["scouts"], peaks)
        table[name] = told | {"repeated": repeated}
    last = {name: (records["runs"] or records["scouts"])[-1] for name, records in by_name.items()}
    said = remarks(last, results["wide"])
    for name, told in table.items():
        told["remarks"] = said.get(name, [])
        told["answered"] = told["runs"] > 0 and answered(last[name])
    return {"settings": table, "best": {kind: best(table, keeps_h) for kind, keeps_h in (("any", None), ("h", True))}}


def candidates(table, solver, keeps_h):
    """The settings of a solver that gave an answer; those that were repeated, if any was."""
    own = {n: t for n, t in table.items() if t["solver"] == solver and t["answered"]}
    if keeps_h is not None:
        own = {n: t for n, t in own.items() if t["keeps_h"] == keeps_h}
    repeated = {n: t for n, t in own.items() if t["repeated"]}
    return repeated or own


def ours(table, keeps_h):
    """treeqr's setting: x only by default, H kept if that is asked for; older results of wide matrices have only the latter."""
    own = [n for n, t in table.items() if t["solver"] == "treeqr" and t["answered"]]
    fitting = [n for n in own if table[n]["keeps_h"] == bool(keeps_h)]
    if keeps_h:
        return fitting[0] if fitting else None
    return (fitting or own or [None])[0]


def best(table, keeps_h):
    """Of each peer the setting with the least median, for total, factorization and memory, and the ratio of the best to treeqr."""
    mine = ours(table, keeps_h)
    out = {"treeqr": mine}
    for key in ("total_s", "factorize_s", "peak_rss_bytes"):
        found = {}
        for solver in PEERS:
            own = candidates(table, solver, keeps_h)
            if own:
                found[solver] = min(own, key=lambda n: own[n][key]["median"])
        entry = {"by_solver": found, "peer": None, "ratio": None}
        if found:
            entry["peer"] = min(found.values(), key=lambda n: table[n][key]["median"])
            if mine:
                entry["ratio"] = table[entry["peer"]][key]["median"] / table[mine][key]["median"]
        out[key] = entry
    return out

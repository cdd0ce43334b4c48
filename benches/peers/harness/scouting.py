"""One run of each promising setting of a peer, to find those that are worth repeating.

A search in steps rather than all combinations, so that each setting can show itself and none costs more than a few times the best.
Takes a function that runs a setting; knows nothing of processes.
"""

from dataclasses import dataclass, field, replace

from .settings import Setting

ORDERINGS = ("metis", "colamd", "amd", "best")
#: A setting that takes so many times the best so far is hopeless: it is stopped. Less patience where runs are long.
PATIENCE, PATIENCE_WHEN_LONG, LONG_S, SHORTEST_CUTOFF_S = 1.7, 1.1, 20.0, 3.0
#: A peer that takes so many times as long as the other, in total and in the factorization, is not repeated.
BEHIND = 1.5
#: A setting that is at most so much slower in its factorization than the fastest is not run beside it for that alone.
TIE = 1.03


@dataclass
class Scout:
    """The runs on one matrix so far."""

    run: object  # (setting, cutoff_s) -> record
    threads: int
    wide: bool
    budget_s: float = 30.0
    records: list = field(default_factory=list)
    tried: dict = field(default_factory=dict)
    skipped: list = field(default_factory=list)
    spent_s: float = 0.0

    def best(self, key="total_s", where=lambda setting: True):
        """The tried setting with the least of `key`; None if none has ended."""
        ended = [(r[key], s) for s, r in self.tried.items() if "error" not in r and where(s)]
        return min(ended, key=lambda pair: pair[0])[1] if ended else None

    def cutoff_s(self):
        """How long a setting may take before it is hopeless."""
        best = self.best()
        if best is None:
            return None
        wall = self.tried[best].get("wall_s") or self.tried[best]["total_s"]
        return max(SHORTEST_CUTOFF_S, PATIENCE * wall) if wall < LONG_S else PATIENCE_WHEN_LONG * wall

    def attempt(self, setting, always=False):
        if setting in self.tried:
            return self.tried[setting]
        if not always and self.spent_s > self.budget_s:
            self.skipped.append(setting.name)
            return None
        record = self.run(setting, self.cutoff_s()) | {"scout": True}
        self.spent_s += record.get("stopped_after_s") or record.get("wall_s") or 0.0
        self.tried[setting] = record
        self.records.append(record)
        return record


def scout_spqr(scout, mkl_blas):
    """Orderings first; with the best of them rank detection, threads and BLAS one by one; then what was better, together."""
    base = Setting("spqr", scout.threads, True, "metis", True, "openblas")
    for ordering in ORDERINGS:
        scout.attempt(replace(base, ordering=ordering), always=ordering == "metis")
    spqr = lambda setting: setting.solver == "spqr"
    best = scout.best(where=spqr)
    if best is None:
        return
    if not scout.wide:
        scout.attempt(replace(best, keeps_h=False))
    record = scout.tried[best]
    # Without a tolerance a matrix that lacks rank has no answer.
    if record.get("rank") == min(record.get("rows", 0), record.get("cols", 0)):
        scout.attempt(replace(best, tolerance=False))
    for blas in ("openblas", "mkl") if mkl_blas else ("openblas",):
        for threads in sorted({1, scout.threads}, reverse=True):
            scout.attempt(replace(best, blas=blas, threads=threads))
    one_by_one = lambda s: spqr(s) and s.keeps_h and s.ordering == best.ordering
    tolerance = scout.best(where=lambda s: one_by_one(s) and (s.blas, s.threads) == (best.blas, best.threads)).tolerance
    engine = scout.best(where=lambda s: one_by_one(s) and s.tolerance)
    together = replace(engine, tolerance=tolerance)
    scout.attempt(together)
    if not scout.wide:
        scout.attempt(replace(together, keeps_h=False))


def scout_mkl(scout):
    for threads in sorted({1, scout.threads}, reverse=True):
        scout.attempt(Setting("mkl", threads), always=threads == scout.threads)


def worth_repeating(scout):
    """Of each peer the best in total, the best in the factorization, and the best of those that keep H; a peer that is
    far behind the other in both is left at its one run."""
    chosen = []
    fastest = {key: scout.best(key) for key in ("total_s", "factorize_s")}
    for solver in ("spqr", "mkl"):
        own = lambda s, solver=solver: s.solver == solver
        total = scout.best("total_s", own)
        if total is None:
            continue
        factorize = scout.best("factorize_s", own)
        time = lambda key, s: scout.tried[s][key]
        if all(time(key, s) > BEHIND * time(key, fastest[key]) for key, s in (("total_s", total), ("factorize_s", factorize))):
            continue
        chosen.append(total)
        if factorize not in chosen and time("factorize_s", total) > TIE * time("factorize_s", factorize):
            chosen.append(factorize)
        if not any(s.keeps_h for s in chosen if s.solver == solver):
            chosen.append(scout.best("total_s", lambda s: own(s) and s.keeps_h))
    return [s for s in chosen if s is not None]

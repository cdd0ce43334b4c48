"""The matrix product of each BLAS on one thread and on all: what factorizations are a part of."""

import json

from .settings import blas_environment, clean_environment

OPENBLAS = "libopenblas.so.0"
#: OPENBLAS_CORETYPE of the first run each; none is the library's own choice.
CORE_TYPES = (None, "SkylakeX", "Haswell")
#: Another core type than the library's own has to be so much faster to be taken.
MARGIN = 1.03
ORDERS = ("1500", "3000")


def product(runner, dgemm, library, env, threads, orders=ORDERS):
    """GFlop/s of the best order, with what the library says of itself; `error` if it can't be run."""
    out, err, told, _ = runner.raw([dgemm, library, str(threads), *orders], env, 300)
    if told is None or told["exit"] != 0:
        return {"threads": threads, "error": (err.strip().splitlines() or ["stopped"])[-1]}
    said = json.loads(out)
    return said | {"best": max(said["gflops"].values())}


def core_type(results):
    """The core type to be used, of `[(name, gflops)]` with the library's own choice first."""
    own = results[0][1]
    name, best = max(results, key=lambda pair: pair[1])
    return name if best > MARGIN * own else None


def measure(runner, dgemm, programs, threads):
    """Peaks of OpenBLAS and MKL; sets the programs' core type."""
    out = {"openblas_core_types": [], "products": []}
    tried = []
    for name in CORE_TYPES:
        programs.core_type = name
        env = clean_environment() | blas_environment("openblas", threads, programs)
        found = product(runner, dgemm, OPENBLAS, env, threads, ORDERS[:1])
        out["openblas_core_types"].append({"asked": name or "its own choice"} | found)
        tried.append((name, found.get("best", 0.0)))
    programs.core_type = core_type(tried)
    out["openblas_core_type"] = programs.core_type or "its own choice"
    libraries = [("openblas", OPENBLAS)]
    if programs.mkl_libraries:
        libraries.append(("mkl", f"{programs.mkl_libraries}/libmkl_rt.so.3"))
    for blas, library in libraries:
        for count in sorted({1, threads}):
            env = clean_environment() | blas_environment(blas, count, programs)
            env.pop("LD_PRELOAD", None)
            out["products"].append({"blas": blas} | product(runner, dgemm, library, env, count))
    peak = lambda count: max((p["best"] for p in out["products"] if p["threads"] == count and "best" in p), default=None)
    out["peak_gflops"] = {"one": peak(1), "all": peak(threads), "threads": threads}
    return out

"""Settings of the solvers, and what command line and environment each means.

A setting is data; `command` is the only place that knows how the programs are called.
"""

import os
from dataclasses import dataclass, field

#: What no run inherits, so that nothing of the caller's shell decides.
CLEARED = ("OPENBLAS_", "MKL_", "OMP_", "KMP_", "GOTO_", "BLAS_", "LD_PRELOAD", "LD_LIBRARY_PATH", "TREEQR_")


@dataclass(frozen=True)
class Setting:
    solver: str  # treeqr, spqr, mkl
    threads: int
    #: Whether the Householder vectors are kept.
    keeps_h: bool = True
    #: Only of SuiteSparseQR.
    ordering: str = ""
    tolerance: bool = True
    blas: str = ""

    @property
    def name(self):
        """One word that says all; the key in the results."""
        parts = [self.solver]
        if self.solver == "spqr":
            parts += [self.ordering, self.blas] + ([] if self.tolerance else ["notol"])
        if self.solver != "mkl":
            parts.append("h" if self.keeps_h else "x")
        return "-".join(parts + [f"t{self.threads}"])

    @property
    def label(self):
        """For tables, without the solver's name."""
        parts = []
        if self.solver == "spqr":
            parts += [self.ordering.upper()] + (["MKL's BLAS"] if self.blas == "mkl" else [])
            parts += [] if self.tolerance else ["no tolerance"]
        if self.solver != "mkl":
            parts.append("H kept" if self.keeps_h else "x only")
        return ", ".join(parts + [f"{self.threads} thread" + ("s" if self.threads > 1 else "")])


    @property
    def short(self):
        """For the cells of tables, which say what the letters mean."""
        parts = [self.ordering.upper()] if self.ordering else []
        parts += ["H" if self.keeps_h else "x"] if self.solver != "mkl" else []
        parts += [str(self.threads)] + (["M"] if self.blas == "mkl" else []) + ([] if self.tolerance else ["N"])
        return " ".join(parts)

    def facts(self):
        """For the results."""
        names = ("solver", "threads", "keeps_h", "ordering", "tolerance", "blas")
        return {name: getattr(self, name) for name in names} | {"label": self.label, "short": self.short}


@dataclass
class Programs:
    """Where everything is."""

    treeqr: str
    spqr: str | None = None
    mkl_qr: str | None = None
    #: The folder with MKL's libraries.
    mkl_libraries: str | None = None
    #: OPENBLAS_CORETYPE for runs with OpenBLAS; none: its own choice.
    core_type: str | None = None
    #: Options of this treeqr's `solve`, by its help.
    treeqr_options: frozenset = field(default_factory=frozenset)

    @property
    def keeps_h(self):
        """Whether treeqr can be told to keep Q where x does not need it."""
        return "--keep-q" in self.treeqr_options


def clean_environment(base=None):
    base = os.environ if base is None else base
    return {k: v for k, v in base.items() if not k.startswith(CLEARED)}


def blas_environment(blas, threads, programs):
    """What decides the BLAS of a program that is linked with the system's, or loads one."""
    if blas == "mkl":
        return {
            "LD_PRELOAD": f"{programs.mkl_libraries}/libmkl_rt.so.3",
            "LD_LIBRARY_PATH": programs.mkl_libraries,
            "MKL_INTERFACE_LAYER": "LP64",
            "MKL_THREADING_LAYER": "SEQUENTIAL" if threads == 1 else "INTEL",
            "MKL_NUM_THREADS": str(threads),
        }
    variables = {"OPENBLAS_NUM_THREADS": str(threads)}
    if programs.core_type:
        variables["OPENBLAS_CORETYPE"] = programs.core_type
    return variables


def command(setting, path, programs, base=None):
    """Arguments and environment of one run."""
    env = clean_environment(base)
    threads = str(setting.threads)
    if setting.solver == "treeqr":
        keep = ["--keep-q"] if setting.keeps_h else []
        return [programs.treeqr, "solve", str(path), "--threads", threads, "--json", *keep], env
    if setting.solver == "spqr":
        env |= blas_environment(setting.blas, setting.threads, programs)
        keep, tolerance = "h" if setting.keeps_h else "x", "default" if setting.tolerance else "none"
        return [programs.spqr, str(path), setting.ordering, keep, tolerance, threads], env
    env |= blas_environment("mkl", setting.threads, programs)
    del env["LD_PRELOAD"]  # linked with it
    return [programs.mkl_qr, str(path), threads], env

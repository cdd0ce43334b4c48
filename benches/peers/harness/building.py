"""Builds what the comparison needs below one folder: C programs from Debian's libraries and MKL from PyPI.

MKL is optional: without it the reason is told and the rest is built.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from .settings import Programs

SOURCES = Path(__file__).resolve().parent.parent / "programs"
SUITESPARSE = Path("/usr/include/suitesparse")
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra")


class Missing(Exception):
    """Something that can't be done without, and where it comes from."""


def compile_program(into, name, sources, extra=()):
    target = into / name
    inputs = [SOURCES / source for source in sources]
    newest = max(path.stat().st_mtime for path in [*inputs, *SOURCES.glob("*.h")])
    if not target.is_file() or target.stat().st_mtime < newest:
        done = subprocess.run(
            ["gcc", *FLAGS, "-o", str(target), *map(str, inputs), *extra, "-lm"], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise Missing(f"{name} does not compile:\n{done.stderr}")
    return str(target)


def mkl(folder):
    """The folder of a virtual environment with MKL, made if it is not there; `(None, why)` if it can't be had."""
    venv = folder / "venv"
    library = venv / "lib" / "libmkl_rt.so.3"
    if library.is_file():
        return venv, ""
    steps = ([sys.executable, "-m", "venv", str(venv)], [str(venv / "bin" / "pip"), "install", "-q", "mkl", "mkl-include"])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode != 0:
            return None, (done.stderr.strip().splitlines() or ["it can't be installed"])[-1]
    return (venv, "") if library.is_file() else (None, "the package has no libmkl_rt.so.3")


def mkl_version(venv):
    pip = subprocess.run([str(venv / "bin" / "pip"), "list", "--format=freeze"], capture_output=True, text=True)
    return {line.split("==")[0]: line.split("==")[1] for line in pip.stdout.splitlines() if line.startswith(("mkl", "intel-openmp"))}


def solve_options(treeqr):
    """The long options of `treeqr solve`."""
    try:
        told = subprocess.run([treeqr, "solve", "--help"], capture_output=True, text=True)
    except OSError as wrong:
        raise Missing(f"{treeqr}: {wrong.strerror}; `just bench-peers` builds it") from wrong
    return frozenset(word.strip(",") for word in told.stdout.split() if word.startswith("--"))


def everything(folder, treeqr, with_mkl=True):
    """All programs, the paths of launch and dgemm, versions of what was installed, and remarks on what is missing."""
    folder = Path(folder)
    binaries = folder / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    remarks, installed = [], {}
    if shutil.which("gcc") is None:
        raise Missing("no gcc: apt-get install gcc libc6-dev")
    if not SUITESPARSE.is_dir():
        raise Missing("no SuiteSparse: apt-get install libsuitesparse-dev libopenblas-dev")
    programs = Programs(treeqr=str(treeqr), treeqr_options=solve_options(treeqr))
    launch = compile_program(binaries, "launch", ["launch.c"])
    dgemm = compile_program(binaries, "dgemm", ["dgemm.c"], ["-ldl"])
    suitesparse = [f"-I{SUITESPARSE}", "-lspqr", "-lcholmod", "-lsuitesparseconfig", "-ldl"]
    programs.spqr = compile_program(binaries, "spqr", ["spqr.c"], suitesparse)
    venv, why = mkl(folder) if with_mkl else (None, "left out as asked")
    if venv is None:
        remarks.append(f"SKIPPED: MKL ({why})")
    else:
        libraries = venv / "lib"
        link = [f"-I{venv / 'include'}", f"-L{libraries}", "-l:libmkl_rt.so.3", f"-Wl,-rpath,{libraries}"]
        programs.mkl_libraries = str(libraries)
        programs.mkl_qr = compile_program(binaries, "mkl_qr", ["mkl_qr.c", "coordinate.c"], link)
        installed = mkl_version(venv)
    return programs, launch, dgemm, installed, remarks

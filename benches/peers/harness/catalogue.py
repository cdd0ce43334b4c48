"""Which matrices there are, in which sets, and how each becomes a plain file.

A matrix comes from a folder of files (`NAME.mtx.gz`, `NAME.mtx`, under its own or another stem) or from treeqr's gallery. One that can
be had from neither is told of and left out.
"""

import gzip
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    name: str
    #: Sets that it belongs to, besides `all`.
    sets: tuple
    #: Whether the gallery makes a matrix of this name.
    gallery: bool = False
    #: What its file is called without ending; none if it only comes from the gallery.
    stem: str | None = None


DEFAULT, SMALL = "default", "small"
SETS = (DEFAULT, SMALL, "all")

CATALOGUE = (
    Entry("conv2d-500", (DEFAULT,), gallery=True),
    Entry("ba-200x8000", (DEFAULT,), gallery=True),
    Entry("grid3d-32", (DEFAULT,), gallery=True),
    Entry("stencil27-28", (DEFAULT,), gallery=True),
    Entry("ch7-6-b3", (DEFAULT,), gallery=True),
    Entry("mk11-b4", (DEFAULT,), gallery=True),
    Entry("grid3d-44", (DEFAULT,), gallery=True),
    Entry("lp-20000", (DEFAULT,), gallery=True),
    Entry("stencil27-40", (DEFAULT,), gallery=True),
    Entry("ba-800x60000", (), gallery=True),
    Entry("TF15", (DEFAULT,), gallery=True, stem="gen_TF15"),
    Entry("TF16", (DEFAULT,), gallery=True, stem="gen_TF16"),
    Entry("ch7-8-b3", (DEFAULT,), gallery=True, stem="gen_ch7-8-b3"),
    Entry("flower_7_4", (DEFAULT,), gallery=True, stem="gen_flower_7_4"),
    Entry("sphere2500", (DEFAULT, SMALL), stem="slam_sphere2500"),
    Entry("torus3D", (DEFAULT, SMALL), stem="slam_torus3D"),
    Entry("InstEval_sd", (DEFAULT, SMALL), stem="InstEval_sd"),
    Entry("Chem97Zt", (DEFAULT, SMALL), stem="Chem97Zt"),
    Entry("lp_pds_10", (DEFAULT, SMALL), stem="lp_pds_10"),
    Entry("lp_stocfor3", (DEFAULT, SMALL), stem="lp_stocfor3"),
    Entry("lp_maros_r7", (DEFAULT, SMALL), stem="lp_maros_r7"),
    Entry("fast0507", (DEFAULT,), stem="miplib3_fast0507"),
    Entry("Maragal_4", (DEFAULT, SMALL), stem="Maragal_4"),
)


def chosen(which, names=None):
    """The entries of a set, or those named; a name that is not here is taken for one of the gallery or of a file."""
    if names:
        known = {entry.name: entry for entry in CATALOGUE}
        return [known.get(name, Entry(name, (), gallery=True, stem=name)) for name in names]
    return [entry for entry in CATALOGUE if which == "all" or which in entry.sets]


def find(entry, folder):
    """Its file in the folder, if there is one."""
    if entry.stem and folder:
        for ending in (".mtx", ".mtx.gz"):
            path = Path(folder) / (entry.stem + ending)
            if path.is_file():
                return path
    return None


def prepare(entry, folder, into, treeqr):
    """A plain file of the matrix, and where it comes from; `(None, why)` if it can't be had."""
    source = find(entry, folder)
    path = Path(into) / f"{entry.name}.mtx"
    partial = path.with_suffix(".part")
    if source is not None:
        if source.suffix != ".gz":
            return source, f"file {source.name}"
        if not path.is_file() or path.stat().st_mtime < source.stat().st_mtime:
            with gzip.open(source, "rb") as packed, open(partial, "wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
            partial.replace(path)
        return path, f"file {source.name}"
    if not entry.gallery:
        return None, f"{entry.name}: no file {entry.stem}.mtx[.gz] in {folder or 'any folder'}"
    # Always written anew, so that it is what this treeqr makes.
    partial = path.with_name(f"{entry.name}.part.mtx")
    made = subprocess.run([treeqr, "gallery", entry.name, "-o", str(partial)], capture_output=True, text=True)
    if made.returncode != 0:
        return None, f"{entry.name}: {made.stderr.strip().splitlines()[0] if made.stderr.strip() else 'not made'}"
    partial.replace(path)
    return path, "gallery"


def dimensions(path):
    """Rows and columns by the header of a plain coordinate file."""
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            if not line.startswith("%") and line.strip():
                words = line.split()
                return int(words[0]), int(words[1])
    raise ValueError(f"{path}: no dimensions")

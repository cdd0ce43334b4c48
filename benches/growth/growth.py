"""Time and memory against size on families of the gallery, with fitted exponents beside those of the theory.

    python3 benches/growth/growth.py target/release/treeqr [--reps 3] [--families grid3d,conv2d] [--write-docs]

Exponents are of N, the number of unknowns: least squares through the logarithms, with the standard error. Small problems are not of the
theory's kind (overheads, few levels of the tree), so the slope between the two largest sizes stands beside the fit.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

# Nested dissection of regular grids: George (1973) for the plane; Lipton, Rose and Tarjan (1979) for space. N log N is told as N^1.
FAMILIES = {
    "grid3d": {"sizes": [16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56], "flops": 2.0, "memory": 4 / 3},
    "conv2d": {"sizes": [100, 150, 200, 300, 400, 500, 700, 1000], "flops": 1.5, "memory": 1.0},
    # Cameras grow with the square root of the points here, and there is no theory of such trees.
    "ba": {"sizes": ["50x2000", "100x4000", "200x8000", "300x15000", "400x20000", "600x40000"], "flops": None, "memory": None},
}
QUANTITIES = {
    "flops": ("flops", lambda run: run["flops"]),
    "analysis, s": (None, lambda run: run["times_s"]["analyse"]),
    "factorization, s": ("flops", lambda run: run["times_s"]["factorize"]),
    "total, s": (None, lambda run: run["times_s"]["total"]),
    "peak, MB": ("memory", lambda run: run["peak_bytes"] / 1e6),
}
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "performance.md"
BEGIN, END = "<!-- growth: begin -->", "<!-- growth: end -->"


def fit(points):
    """Exponent, and its standard error, of y = c x^e through points (x, y)."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    sxx = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sxx
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in zip(xs, ys))
    free = len(points) - 2
    return slope, math.sqrt(rest / free / sxx) if free > 0 else math.nan


def last_slope(points):
    """That of the two largest."""
    (x0, y0), (x1, y1) = sorted(points)[-2:]
    return math.log(y1 / y0) / math.log(x1 / x0)


def run(program, name):
    done = subprocess.run([program, "solve", f"gallery:{name}", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    return json.loads(done.stdout)


def measure(program, family, reps):
    """By size: unknowns, and each quantity's median. Sizes in turns, so that a slow minute hits all."""
    names = [f"{family}-{size}" for size in FAMILIES[family]["sizes"]]
    runs = {name: [] for name in names}
    for _ in range(reps):
        for name in names:
            runs[name].append(run(program, name))
    out = []
    for name, of in runs.items():
        row = {key: statistics.median(value(one) for one in of) for key, (_, value) in QUANTITIES.items()}
        out.append({"name": name, "unknowns": of[0]["matrix"]["cols"], **row})
    return out


def tables(found):
    """Markdown."""
    lines = ["| matrix | N | " + " | ".join(QUANTITIES) + " |", "| --- | ---: |" + " ---: |" * len(QUANTITIES)]
    for rows in found.values():
        for row in rows:
            cells = [f"{row[key]:.3g}" for key in QUANTITIES]
            lines.append(f"| {row['name']} | {row['unknowns']} | " + " | ".join(cells) + " |")
    lines += ["", "| family | quantity | exponent of N, fitted | between the two largest | in theory |", "| --- | --- | ---: | ---: | ---: |"]
    for family, rows in found.items():
        for key, (theory, _) in QUANTITIES.items():
            points = [(row["unknowns"], row[key]) for row in rows]
            slope, error = fit(points)
            known = FAMILIES[family].get(theory) if theory else None
            told = f"{known:.2f}" if known else "–"
            lines.append(f"| {family} | {key} | {slope:.2f} ± {error:.2f} | {last_slope(points):.2f} | {told} |")
    return "\n".join(lines)


def into_page(text, table):
    """The page with the table between its marks."""
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:begin] + "\n\n" + table + "\n\n" + text[end:]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program", type=pathlib.Path)
    arguments.add_argument("--reps", type=int, default=3)
    arguments.add_argument("--families", default=",".join(FAMILIES))
    arguments.add_argument("--write-docs", action="store_true")
    asked = arguments.parse_args()
    begin = time.monotonic()
    found = {family: measure(asked.program, family, asked.reps) for family in asked.families.split(",")}
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown processor")
    head = f"{time.strftime('%Y-%m-%d')}. {model}, all its cores; medians of {asked.reps} runs, {time.monotonic() - begin:.0f} s in all."
    table = head + "\n\n" + tables(found)
    print(table)
    if asked.write_docs:
        PAGE.write_text(into_page(PAGE.read_text(), table))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The table of benches/device.sh: from its folder of JSON lines to Markdown on standard output."""

import json
import os
import sys


def lines(path):
    """The objects of a file of JSON lines; what is no JSON is left out, and no file is no line."""
    if not os.path.exists(path):
        return []
    found = []
    with open(path) as file:
        for line in file:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
    return found


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def kernels(rows):
    """Each kernel beside the product of the same scalar and tile."""
    out = [row("scalar", "nb", "ib", "kernel", "GFlop/s", "of the product"), row(*["---"] * 6)]
    products = {(r["scalar"], r["nb"], r["ib"]): r["gflops"] for r in rows if r["kernel"] == "gemm"}
    for r in rows:
        product = products.get((r["scalar"], r["nb"], r["ib"]))
        part = f"{100 * r['gflops'] / product:.0f} %" if product else "–"
        out.append(row(r["scalar"], r["nb"], r["ib"], r["kernel"], f"{r['gflops']:.0f}", part))
    return out


def moved(device):
    """Bytes to a device, from wherever, and back to the host, in GB."""
    to = device["fetched_bytes"] + device["prefetched_bytes"] + device["peer_bytes"]
    back = device["returned_bytes"] + device["written_back_bytes"]
    return to / 1e9, back / 1e9


def medians(rows):
    """Of the repetitions of a run the one with the median time, the lower of two, and how many there are; in the order of the first."""
    groups = {}
    for r in rows:
        groups.setdefault((r["matrix_name"], r["who"], r["asked"]), []).append(r)
    for group in groups.values():
        group.sort(key=lambda r: r["times_s"]["factorize"])
        yield group[(len(group) - 1) // 2], len(group)


def runs(rows):
    """Each factorization, with its time over that of the CPU alone and over the better of CPU and device alone."""
    titles = ["matrix", "who", "scheduler", "factorize s", "runs", "CPU's time over it", "better one's", "total s", "residual", "in tasks", "device tasks", "GB to", "GB back"]
    out = [row(*titles), row(*["---"] * len(titles))]
    chosen = list(medians(r for r in rows if r["who"] != "warm-up"))
    alone = {}
    for r, _ in chosen:
        if r["who"] in ("cpu", "device"):
            alone.setdefault(r["matrix_name"], {})[r["who"]] = r["times_s"]["factorize"]
    for r, count in chosen:
        time, base = r["times_s"]["factorize"], alone.get(r["matrix_name"], {})
        devices = r["devices"]
        to = sum(moved(d)[0] for d in devices)
        back = sum(moved(d)[1] for d in devices)
        out.append(
            row(
                r["matrix_name"],
                r["who"] + (" (fell back)" if r.get("device_failure") else ""),
                r["asked"],
                f"{time:.3f}",
                count,
                f"{base['cpu'] / time:.2f}" if "cpu" in base else "–",
                f"{min(base.values()) / time:.2f}" if len(base) == 2 else "–",
                f"{r['times_s']['total']:.2f}",
                f"{r['normal_residual']:.1e}",
                f"{100 * r['occupancy']:.0f} %",
                sum(d["tasks"] for d in devices),
                f"{to:.2f}",
                f"{back:.2f}",
            )
        )
    return out


def table(folder):
    """All of it."""
    twins = os.path.join(folder, "twins")
    passed = open(twins).read().strip() if os.path.exists(twins) else "not run"
    return "\n".join(
        [f"Kernels against their twins on the device: {passed}.", ""]
        + kernels(lines(os.path.join(folder, "kernels.jsonl")))
        + [""]
        + runs(lines(os.path.join(folder, "runs.jsonl")))
    )


if __name__ == "__main__":
    print(table(sys.argv[1]))

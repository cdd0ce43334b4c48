"""The machine and the libraries, as they stand at the head of the results."""

import os
import platform
import re
import subprocess
import time
from pathlib import Path

PACKAGES = ("libsuitesparse-dev", "libopenblas-dev", "libopenblas0-pthread", "libmetis5", "gcc")
#: Mean number of runnable threads in the last minute that a machine at rest may have.
QUIET_LOAD = 0.5
#: Loads above so many times what the runs themselves make, and processor time of others above this part, are told.
TOLERATED = 1.5
OTHERS = 0.05


def read(path):
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def field_of(text, name):
    found = re.search(rf"^{re.escape(name)}\s*[:=]\s*(.*)$", text, re.MULTILINE)
    return found[1].strip().strip('"') if found else ""


def caches():
    out = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (read(index / name).strip() for name in ("level", "type", "size"))
        shared = read(index / "shared_cpu_list").strip()
        if level:
            out.append({"level": int(level), "type": kind, "size": size, "shared_by_cpus": shared})
    return out


def cores():
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def describe():
    cpu, memory = read("/proc/cpuinfo"), read("/proc/meminfo")
    flags = set(field_of(cpu, "flags").split())
    return {
        "cpu": field_of(cpu, "model name"),
        "cpu_family_model": f"{field_of(cpu, 'cpu family')}/{field_of(cpu, 'model')}",
        "simd": [f for f in ("avx2", "fma", "avx512f", "avx512dq", "avx512vl") if f in flags],
        "virtual": "hypervisor" in flags,
        "cores": cores(),
        "caches": caches(),
        "memory_bytes": int(field_of(memory, "MemTotal").split()[0]) * 1024,
        "os": field_of(read("/etc/os-release"), "PRETTY_NAME"),
        "kernel": platform.release(),
    }


def said_by(argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def versions(treeqr, root):
    out = {"treeqr": said_by([treeqr, "--version"]), "python": platform.python_version()}
    out["commit"] = said_by(["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"])
    for package in PACKAGES:
        version = said_by(["dpkg-query", "-W", "-f", "${Version}", package])
        if version:
            out[package] = version
    return out


def now():
    return {"time": time.strftime("%Y-%m-%d %H:%M:%S %z"), "load": list(os.getloadavg())}


def disturbances(start, end, threads, records):
    """What says that the machine was not quiet; an empty list if nothing does."""
    out = []
    if start["load"][0] > QUIET_LOAD:
        out.append(f"load {start['load'][0]:.2f} at the start, more than {QUIET_LOAD}")
    if end["load"][0] > TOLERATED * threads:
        out.append(f"load {end['load'][0]:.2f} at the end, more than {TOLERATED} x {threads} threads")
    timed = [r for r in records if r.get("other_cpu_s") is not None and r.get("wall_s", 0.0) >= 0.5]
    wall = sum(r["wall_s"] for r in timed)
    others = sum(r["other_cpu_s"] for r in timed)
    if wall > 0.0 and others > OTHERS * wall * cores():
        out.append(f"other processes took {100 * others / (wall * cores()):.0f} % of the processors during the runs")
    return out

"""One run: one process with a limit of time and memory, and what came of it as a record.

A run that fails, is too slow or prints nonsense is a record with `error`, never an exception.
"""

import json
import os
import signal
import subprocess
import tempfile
import time

from . import records
from .settings import command


def busy_cpu_s(stat=None):
    """Processor seconds of the whole machine so far that were not idle; those taken away by a hypervisor count."""
    if stat is None:
        with open("/proc/stat", encoding="ascii") as file:
            stat = file.readline()
    user, nice, system, _idle, _wait, irq, softirq, steal = (int(w) for w in stat.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def memory_available_bytes():
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("no MemAvailable in /proc/meminfo")


# Memory that is touched before a run, at least, and in parts of the most that a run has taken so far.
TOUCHED_BYTES = 1 << 30
TOUCHED_TIMES = 1.25


class Runner:
    """Runs settings on one machine, through `launch`."""

    def __init__(self, launch, programs, timeout_s):
        self.launch = launch
        self.programs = programs
        self.timeout_s = timeout_s
        self.peak_bytes = 0

    def touched_bytes(self):
        """So much that no run so far would have had to wait for memory of the host, and no more than half of what there is."""
        wanted = max(TOUCHED_BYTES, int(TOUCHED_TIMES * self.peak_bytes))
        return min(wanted, memory_available_bytes() // 2)

    def raw(self, argv, env, timeout_s):
        """Standard output, standard error, the launcher's report and processor seconds of all others; the report is None if it was stopped."""
        limit = int(0.9 * memory_available_bytes())
        with tempfile.NamedTemporaryFile(prefix="launch-", suffix=".json") as report:
            before = busy_cpu_s()
            process = subprocess.Popen(
                [self.launch, report.name, str(limit), str(self.touched_bytes()), *argv],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            try:
                out, err = process.communicate(timeout=timeout_s)
            except BaseException as stopped:
                # The group is that of this run alone: the launcher began a session of its own.
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
                if not isinstance(stopped, subprocess.TimeoutExpired):
                    raise
                return out, err, None, None
            text = report.read().decode()
            if not text:
                return out, err, {"exit": process.returncode, "signal": 0}, None
            told = json.loads(text)
            self.peak_bytes = max(self.peak_bytes, told["peak_rss_bytes"])
            others = busy_cpu_s() - before - told["user_s"] - told["system_s"] - told["touch_cpu_s"]
            return out, err, told, max(0.0, others)

    def run(self, setting, path, cutoff_s=None):
        """One run of a setting; `cutoff_s`: stopped when it has taken so long."""
        limit = self.timeout_s if cutoff_s is None else min(cutoff_s, self.timeout_s)
        argv, env = command(setting, path, self.programs)
        out, err, told, others = self.raw(argv, env, limit)
        record = {"setting": setting.name, "when": time.strftime("%Y-%m-%dT%H:%M:%S")}
        if told is None:
            return record | {"error": f"stopped after {limit:.3g} s", "stopped_after_s": limit}
        for key in ("wall_s", "user_s", "system_s", "preempted"):
            if key in told:
                record[key] = told[key]
        record["other_cpu_s"] = others
        if told["exit"] != 0:
            why = f"signal {told['signal']}" if told["signal"] else f"exit {told['exit']}"
            last = err.strip().splitlines()[-1:] or [""]
            return record | {"error": f"{why}: {last[0]}"[:300]}
        try:
            said = records.parse(setting.solver, out)
        except ValueError as wrong:
            return record | {"error": str(wrong)[:300]}
        # Of all solvers by the same account, the launcher's; what the program itself said is another one.
        own = {"peak_rss_bytes": told["peak_rss_bytes"]}
        return record | said | own

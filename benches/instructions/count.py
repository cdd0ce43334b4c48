"""Instructions of the hot paths, counted under callgrind, beside those of a baseline.

    python3 benches/instructions/count.py TARGET            # compare; TARGET holds examples/hot_paths and treeqr
    python3 benches/instructions/count.py TARGET --write    # the counts become the baseline

Counts do not depend on the machine's speed or load, so that a change of some per cent shows where a clock sees noise. They depend on
the compiler and on the vector instructions that valgrind knows (AVX2): the baseline says of which compiler it is, and with another one
nothing is compared. Exit code 1: a path takes more than TOLERANCE more than it did; a path that takes so much less wants a new baseline, too.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TOLERANCE = 0.04
BASELINE = pathlib.Path(__file__).with_name("baseline.json")
# Whole commands: what the kernels are not. None with workers, whose waiting is counted, too.
COMMANDS = {
    "analyse_nd": ["analyse", "gallery:grid3d-12", "--threads", "1", "--ordering", "nd"],
    "analyse_colamd": ["analyse", "gallery:ba-20x600", "--threads", "1", "--ordering", "colamd"],
}


def instructions(command):
    """Instructions that a command executes."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *map(str, command)],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed under valgrind:\n{done.stderr}")
        return parse(out.read_text())


def parse(text):
    """The total of a file of callgrind."""
    found = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
    if not found:
        sys.exit("no total in callgrind's output")
    return int(found.group(1))


def count(target):
    """Counts by path, what the program itself takes taken off."""
    program = target / "examples" / "hot_paths"
    names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    own = instructions([program, "nothing"])
    counts = {name: instructions([program, name]) - own for name in names if name != "nothing"}
    counts |= {name: instructions([target / "treeqr", *words]) for name, words in COMMANDS.items()}
    return counts


def compare(counts, before):
    """Lines for a reader, and the paths that left the tolerance."""
    lines, left = [], []
    for name in sorted(counts.keys() | before.keys()):
        now, then = counts.get(name), before.get(name)
        if now is None or then is None:
            lines.append(f"{name:<18} {'only before' if now is None else 'new':>14}")
            left.append(name)
            continue
        ratio = now / then
        far = abs(ratio - 1) > TOLERANCE
        left += [name] if far else []
        lines.append(f"{name:<18} {now:>14,} {then:>14,} {100 * (ratio - 1):>+7.2f} %{'  <--' if far else ''}")
    return lines, left


def compiler():
    text = subprocess.run(["rustc", "--version", "--verbose"], capture_output=True, text=True, check=True).stdout
    return re.search(r"^release: (.*)", text, re.M).group(1)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("target", type=pathlib.Path)
    arguments.add_argument("--write", action="store_true")
    asked = arguments.parse_args()
    if asked.write:
        found = {"compiler": compiler(), "counts": count(asked.target)}
        BASELINE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return 0
    kept = json.loads(BASELINE.read_text())
    if kept["compiler"] != compiler():
        print(f"SKIPPED: the baseline is of rustc {kept['compiler']}, this is {compiler()}")
        return 0
    lines, left = compare(count(asked.target), kept["counts"])
    print(f"{'':<18} {'instructions':>14} {'baseline':>14}")
    print("\n".join(lines))
    if left:
        print(f"More than {100 * TOLERANCE:.0f} % from the baseline: {', '.join(left)}. Wanted? Then run again with --write.")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())

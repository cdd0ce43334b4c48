"""The functions that runs of the program enter: the list by which the linker lays them side by side (README.md here).

    cargo build --release -p treeqr
    python3 benches/layout/entered.py target/release/treeqr              # how much of each run the list knows
    python3 benches/layout/entered.py target/release/treeqr --write      # the list anew

Linux on x86-64. Each function of the program begins with a breakpoint, which is taken away when it is met: a run takes about as long as
otherwise, and all vector instructions of the machine are there, which they are not under valgrind.
"""

import argparse
import bisect
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("entered.txt")
# Past so many characters a name is most often one of a family that is entered as a whole: closures of closures, iterators of iterators.
LONGEST = 240
# What most runs do: shapes of fronts, with and without full rank, tall, wide and square, and what x may be asked for.
MATRICES = """grid3d-14 stencil27-10 ba-30x900 pose-400 survey-60x50 lp-2500 conv2d-90 TF12 ch6-6-b3 mk9-b3 flower_5_4 bibd_13_6
    dense-rows-2000x10 cat_ears_3_4 survey-8x6""".split()
WAYS = [
    [],
    ["--json"],
    ["--json", "--keep-q"],
    ["--json", "--solution", "min-norm"],
    ["--json", "--ordering", "nd"],
    ["--json", "--ordering", "colamd"],
    ["--threads", "1"],
]
# The instructions of machines without AVX-512, and those of the machine that runs this.
SIMD = ["avx2", ""]

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
TRACEME, CONT, GETREGS, SETREGS, SETOPTIONS = 0, 7, 12, 13, 0x4200
TRACECLONE, EXITKILL = 0x8, 0x100000
ALL_THREADS = 0x40000000
REGISTERS = ctypes.c_ulonglong * 27
RIP = 16
BREAKPOINT = b"\xcc"


def ptrace(request, pid, data=None):
    if LIBC.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request} of {pid}")


def tool(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def functions(program):
    """Names by address; of several at one address the first."""
    at = {}
    for line in tool("nm", program).splitlines():
        address, kind, name = (line.split(" ", 2) + ["", ""])[:3]
        if kind in tuple("tTwW") and address:
            at.setdefault(int(address, 16), name)
    return at


def sections(program):
    """Name, address and size of each section of code."""
    found = re.findall(r"\] (\.text\S*) +PROGBITS +(\w+) \w+ (\w+)", tool("readelf", "-SW", program))
    return [(name, int(address, 16), int(size, 16)) for name, address, size in found]


def lowest(program):
    """The address that the program asks for: 0 where the system may choose it."""
    return int(re.search(r"LOAD +\w+ (\w+)", tool("readelf", "-lW", program))[1], 16)


def run(program, words, extra):
    """The addresses of the functions that a run enters, in order."""
    pid = os.fork()
    if pid == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        ptrace(TRACEME, 0)
        os.execve(program, [program, *words], dict(os.environ, **extra))
    os.waitpid(pid, 0)
    ptrace(SETOPTIONS, pid, TRACECLONE | EXITKILL)
    here = os.path.realpath(program)
    with open(f"/proc/{pid}/maps") as maps:
        start = next(int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(here))
    base = start - lowest(program)
    memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
    was = plant(memory, base, program)
    entered = []
    ptrace(CONT, pid)
    while True:
        thread, status = os.waitpid(-1, ALL_THREADS)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if thread == pid:
                break
            continue
        met = os.WSTOPSIG(status)
        # The high bits tell of a new thread, which begins stopped.
        if met == signal.SIGTRAP and not status >> 16:
            registers = REGISTERS()
            ptrace(GETREGS, thread, ctypes.addressof(registers))
            registers[RIP] -= 1
            address = registers[RIP] - base
            # Two threads may meet one breakpoint.
            if os.pread(memory, 1, base + address) == BREAKPOINT and address in was:
                os.pwrite(memory, was[address], base + address)
                entered.append(address)
            ptrace(SETREGS, thread, ctypes.addressof(registers))
        ptrace(CONT, thread, 0 if met in (signal.SIGTRAP, signal.SIGSTOP) else met)
    os.close(memory)
    return entered, status


def plant(memory, base, program):
    """Breakpoints at the start of all functions; what was there, by address."""
    starts = sorted(functions(program))
    was = {}
    for _, start, size in sections(program):
        code = bytearray(os.pread(memory, size, base + start))
        for address in starts[bisect.bisect_left(starts, start) : bisect.bisect_left(starts, start + size)]:
            at = address - start
            was[address] = bytes(code[at : at + 1])
            code[at : at + 1] = BREAKPOINT
        written = 0
        while written < size:
            written += os.pwrite(memory, code[written : written + (1 << 20)], base + start + written)
    return was


def beginning(name):
    """What a name has in common with that of the same function in a build of another compiler, of other versions of the crates, or after
    changes elsewhere: marks of crates are left open, and the end, where functions that units of code share have one."""
    name = re.sub(r"Cs[0-9A-Za-z]+_", "Cs*_", name)
    name = re.sub(r"\.llvm\.\d+", "", name)
    return name[:LONGEST]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="treeqr, as --release builds it")
    parser.add_argument("--write", action="store_true", help=f"write {LIST.name} anew")
    parser.add_argument("--files", nargs="*", default=[], help="matrices besides those of the gallery")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    names = functions(program)
    aside = [section for section in sections(program) if section[0] == ".text.entered"]
    known = set(LIST.read_text().split()) if LIST.exists() else set()
    beginnings = set()
    for matrix in [f"gallery:{name}" for name in MATRICES] + arguments.files:
        entered = set()
        for way in WAYS:
            for simd in SIMD:
                addresses, status = run(program, ["solve", matrix, *way], {"TREEQR_SIMD": simd})
                if status:
                    sys.exit(f"solve {matrix} {' '.join(way)} failed: {status}")
                # Rust's names alone: the others are of assembly and the C library, which have no section for each function.
                entered.update(address for address in addresses if names[address].startswith(("_R", "_Z")))
        beginnings.update(beginning(names[address]) for address in entered)
        listed = sum(beginning(names[address]) in known for address in entered)
        laid = sum(start <= address < start + size for address in entered for _, start, size in aside)
        print(f"{matrix}: {len(entered)} functions entered, {listed} in the list, {laid} side by side")
    if arguments.write:
        LIST.write_text("".join(f"{name}\n" for name in sorted(beginnings)))
        print(f"{len(beginnings)} in {LIST.name}, {len(beginnings - known)} of them new, {len(known - beginnings)} gone")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compiles the device kernels by NVRTC: no CUDA toolkit, no compiler of C++ and no device needed.

    python3 kernels/cuda/build.py write    writes ptx/NAME_SCALAR.ptx for the generic target, headed by a hash of the sources
    python3 kernels/cuda/build.py check    compiles all sources for the generic target, sm_80 and sm_90, and says whether the
                                           committed PTX is of these sources

Needs the package `nvidia-cuda-nvrtc-cu12` (or any libnvrtc.so.12 that the loader finds). `write` insists on version 12.0, so that
drivers that are some years old can read the PTX: `pip install nvidia-cuda-nvrtc-cu12==12.0.140`.
"""

import ctypes
import glob
import os
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = ["panel.cu", "strip.cu", "copies.cu", "assembly.cu", "fronts.cu"]
HEADERS = ["scalar.cuh", "stair.cuh", "reflector.cuh"]
# Runs on Volta and later. Which drivers read it is up to the compiler's version: 12.0 writes PTX that drivers from 525 on read.
GENERIC = "compute_70"
TARGETS = [GENERIC, "sm_80", "sm_90"]
SCALARS = ["f32", "f64", "c32", "c64"]


def fingerprint(name):
    """FNV-1a, 64 bits, over the headers and the source: kernels/src/device/ptx.rs computes the same."""
    value = 0xCBF29CE484222325
    for part in HEADERS + [name]:
        with open(os.path.join(HERE, part), "rb") as file:
            for byte in file.read():
                value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def library():
    places = [sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]]
    for place in places:
        for path in glob.glob(os.path.join(place, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.*")):
            if "builtins" not in path:
                return ctypes.CDLL(path)
    return ctypes.CDLL("libnvrtc.so.12")


def compile_source(nvrtc, name, scalar, target):
    """The PTX (or, for a real architecture, the check that it assembles too)."""

    def ask(result):
        if result != 0:
            nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(nvrtc.nvrtcGetErrorString(result).decode())

    with open(os.path.join(HERE, name), "rb") as file:
        text = file.read()
    headers = [open(os.path.join(HERE, h), "rb").read() for h in HEADERS]
    program = ctypes.c_void_p()
    ask(
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program),
            text,
            name.encode(),
            len(HEADERS),
            (ctypes.c_char_p * len(HEADERS))(*headers),
            (ctypes.c_char_p * len(HEADERS))(*[h.encode() for h in HEADERS]),
        )
    )
    options = [f"--gpu-architecture={target}", "--std=c++17", "--fmad=true", f"-DSCALAR_{scalar}"]
    result = nvrtc.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    )
    if result != 0:
        size = ctypes.c_size_t()
        ask(nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
        log = ctypes.create_string_buffer(size.value)
        ask(nvrtc.nvrtcGetProgramLog(program, log))
        sys.exit(f"{name} for {target}:\n{log.value.decode()}")
    size = ctypes.c_size_t()
    if target.startswith("sm_"):
        ask(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
        if size.value == 0:
            sys.exit(f"{name} for {target}: no code")
    ask(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    ptx = ctypes.create_string_buffer(size.value)
    ask(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx.value.decode()


def main():
    if sys.argv[1:] not in (["write"], ["check"]):
        sys.exit(__doc__)
    write = sys.argv[1] == "write"
    nvrtc = library()
    version = (ctypes.c_int * 2)()
    nvrtc.nvrtcVersion(ctypes.byref(version, 0), ctypes.byref(version, ctypes.sizeof(ctypes.c_int)))
    print(f"NVRTC {version[0]}.{version[1]}")
    if write and tuple(version) != (12, 0):
        sys.exit("the PTX is written by version 12.0: see the head of this file")
    for name in SOURCES:
        for scalar in SCALARS:
            for target in TARGETS:
                ptx = compile_source(nvrtc, name, scalar, target)
                print(f"{name} {scalar} for {target}: {len(ptx)} bytes of PTX")
                if target != GENERIC:
                    continue
                path = os.path.join(HERE, "ptx", name.replace(".cu", f"_{scalar}.ptx"))
                head = f"// treeqr {name} {scalar} {fingerprint(name)}\n"
                if write:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "w") as file:
                        file.write(head + ptx)
                else:
                    with open(path) as file:
                        if file.read(len(head)) != head:
                            sys.exit(f"{path} is not of these sources: python3 kernels/cuda/build.py write")


main()

#!/usr/bin/env python3
"""Hands tensors to and fro between tern, NumPy and PyTorch by DLPack, and checks that nothing is copied.

    ~/.cache/tern/peers/torch/bin/python benchmarks/peers/dlpack.py     # needs numpy and torch
"""

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
capsules = ctypes.pythonapi
capsules.PyCapsule_New.restype = ctypes.py_object
capsules.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsules.PyCapsule_GetPointer.restype = ctypes.c_void_p
capsules.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsules.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = {versioned: b"used_" + name for versioned, name in NAMES.items()}


def library():
    folder = Path(tempfile.mkdtemp())
    path = folder / "libtern_dlpack.so"
    subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-fPIC", "-shared", "-fopenmp", f"-I{INCLUDE}",
                    HERE / "dlpack.cpp", "-o", path, "-ldnnl", "-lz", "-ldl"], check=True)
    tern = ctypes.CDLL(str(path))
    pointer = ctypes.c_void_p
    for name, result, arguments in [("take", pointer, [pointer, ctypes.c_bool]), ("give", pointer, [pointer, ctypes.c_bool]),
                                    ("transposed_range", pointer, [ctypes.c_int64] * 2), ("address", pointer, [pointer]),
                                    ("sum", ctypes.c_double, [pointer]), ("add_one", None, [pointer]),
                                    ("drop", None, [pointer]), ("bytes_held", ctypes.c_int64, [])]:
        function = getattr(tern, name)
        function.restype, function.argtypes = result, arguments
    return tern


class Given:
    """A tensor of tern's as Python's array libraries ask for it."""

    def __init__(self, tern, handle, versioned):
        self.tern, self.handle, self.versioned = tern, handle, versioned

    def __dlpack__(self, **_):
        return capsules.PyCapsule_New(self.tern.give(self.handle, self.versioned), NAMES[self.versioned], None)

    def __dlpack_device__(self):
        return 1, 0


def take(tern, array, versioned):
    options = {"max_version": (1, 0)} if versioned else {}
    capsule = array.__dlpack__(**options)
    handle = tern.take(capsules.PyCapsule_GetPointer(capsule, NAMES[versioned]), versioned)
    if handle:
        capsules.PyCapsule_SetName(capsule, USED[versioned])
    return handle


def check(what, holds):
    print(f"{'ok' if holds else 'FAILED'} {what}")
    if not holds:
        sys.exit(1)


def main():
    tern = library()
    grid = np.arange(12, dtype=np.float32).reshape(3, 4)
    peers = {"numpy": (lambda: grid.copy().T, lambda a: a.ctypes.data, np.from_dlpack),
             "torch": (lambda: torch.from_numpy(grid.copy()).T, lambda a: a.data_ptr(), torch.from_dlpack)}
    for name, (make, address, from_dlpack) in peers.items():
        for versioned in (False, True):
            what = f"{name}, {NAMES[versioned].decode()}"
            array = make()
            before = float(array.sum())
            handle = take(tern, array, versioned)
            check(f"{what}: tern has the peer's address", tern.address(handle) == address(array))
            check(f"{what}: tern reads the peer's elements, transposed", tern.sum(handle) == before)
            tern.add_one(handle)
            check(f"{what}: the peer sees what tern writes", float(array[3, 0]) == float(grid[0, 3]) + 1)
            tern.drop(handle)

            held = tern.bytes_held()
            handle = tern.transposed_range(2000, 300)
            array = from_dlpack(Given(tern, handle, versioned))
            check(f"{what}: the peer has tern's address", tern.address(handle) == address(array))
            check(f"{what}: the peer reads tern's elements, transposed",
                  tuple(array.shape) == (300, 2000) and float(array[7, 5]) == 5 * 300 + 7)
            tern.add_one(handle)
            tern.drop(handle)
            check(f"{what}: the peer sees what tern writes, and keeps it alive", float(array[7, 5]) == 5 * 300 + 8)
            del array
            check(f"{what}: the memory comes back", tern.bytes_held() <= held + (1 << 20))
    read_only = grid.copy()
    read_only.flags.writeable = False
    check("a read-only array is refused", take(tern, read_only, True) is None)
    check("an array that runs backwards is refused", take(tern, grid.copy()[::-1], True) is None)


main()

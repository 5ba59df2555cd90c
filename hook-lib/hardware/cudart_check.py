"""A CUDA runtime in a share: cudart_check.py LIBCUDART QUOTA. Prints rows: group, what, pass|FAIL, figures; with tabs between."""

import ctypes
import os
import sys

path, quota = sys.argv[1], int(sys.argv[2])
runtime = ctypes.CDLL(path)
name = os.path.basename(path)
OUT_OF_MEMORY = 2


def row(what, good, figures):
    print(f"runtime\t{name}: {what}\t{'pass' if good else 'FAIL'}\t{figures}")


free, total, pointer = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_void_p()
result = runtime.cudaMemGetInfo(ctypes.byref(free), ctypes.byref(total))
row("the share is the card", result == 0 and total.value <= quota, f"error {result}, {free.value >> 20} of {total.value >> 20} MiB free")
for allocate in ("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged"):
    more = {"cudaMallocAsync": (None,), "cudaMallocManaged": (ctypes.c_uint(1),)}.get(allocate, ())
    refused = getattr(runtime, allocate)(ctypes.byref(pointer), ctypes.c_size_t(quota + (1 << 21)), *more)
    runtime.cudaGetLastError()
    granted = getattr(runtime, allocate)(ctypes.byref(pointer), ctypes.c_size_t(256 << 20), *more)
    freed = runtime.cudaFree(pointer) if granted == 0 else -1
    row(allocate, (refused, granted, freed) == (OUT_OF_MEMORY, 0, 0), f"beyond the quota: error {refused}; 256 MiB: {granted}; freed: {freed}")

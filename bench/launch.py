# SPDX-License-Identifier: Apache-2.0
"""Question: what does a launch with three arrays cost the host, beside the driver's own call and the peers?

Each sample is the mean of 100 launches that are only enqueued (GPU) or run a grid of one small block (CPU).
"""

from __future__ import annotations

import pathlib
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tessera
import tessera.tile as ct

from .common import Figure, Table, have


@ct.kernel
def small_kernel(a, b, out):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(128,))
    y = ct.load(b, index=(i,), shape=(128,))
    ct.store(out, index=(i,), tile=x + y)


def _tessera(arrays: Any) -> Callable[[], None]:
    launch, grid = ct.launch, (8 if not isinstance(arrays[0], np.ndarray) else 1, 1, 1)
    arguments = tuple(arrays)
    return lambda: launch(None, grid, small_kernel, arguments)


def driver() -> list[float]:
    """cuLaunchKernel from C; several processes for the spread."""
    source = pathlib.Path(__file__).with_name("driver_launch.c")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/driver_launch"
        subprocess.run(
            ["cc", "-O2", str(source), "-o", program, "-ldl"], check=True, capture_output=True
        )
        runs = [
            subprocess.run([program], check=True, capture_output=True, text=True) for _ in range(5)
        ]
    return [float(r.stdout) * 1e-9 for r in runs]


def _gpu_peers() -> dict[str, Callable[[], Any]]:
    import torch

    tensors = [torch.rand(1024, device="cuda") for _ in range(3)]
    own = [tessera.from_dlpack(t) for t in tensors]
    peers: dict[str, Callable[[], Any]] = {
        "tessera (own arrays)": _tessera(own),
        "tessera (torch)": _tessera(tensors),
    }
    if have("cupy"):
        import cupy

        arrays = [cupy.from_dlpack(t) for t in tensors]
        peers["tessera (CuPy)"] = _tessera(arrays)
        code = (
            'extern "C" __global__ void k(const float *a, const float *b, float *c) '
            "{ int i = blockIdx.x * 128 + threadIdx.x; c[i] = a[i] + b[i]; }"
        )
        raw = cupy.RawKernel(code, "k")
        peers["cupy RawKernel"] = lambda: raw((8,), (128,), tuple(arrays))
    if have("triton"):
        from .triton_kernels import _add

        peers["triton"] = lambda: _add[(1,)](*tensors, 1024, BLOCK=1024)
    if have("numba_cuda") or have("numba.cuda"):
        try:
            from numba import cuda

            @cuda.jit
            def add(a, b, c):  # type: ignore[no-untyped-def]
                i = cuda.grid(1)
                c[i] = a[i] + b[i]

            lent = [cuda.as_cuda_array(t) for t in tensors]
            peers["numba-cuda"] = lambda: add[8, 128](*lent)
        except Exception as failure:
            print(f"  numba-cuda: not measured: {failure}")
    return peers


def _cpu_peers() -> dict[str, Callable[[], Any]]:
    arrays = [np.random.rand(128).astype(np.float32) for _ in range(3)]
    peers: dict[str, Callable[[], Any]] = {
        "tessera (own arrays)": _tessera([tessera.array(a) for a in arrays]),
        "tessera (NumPy)": _tessera(arrays),
        "numpy add(out=)": lambda: np.add(arrays[0], arrays[1], out=arrays[2]),
    }
    if have("numba"):
        import numba

        @numba.njit
        def add(a, b, c):  # type: ignore[no-untyped-def]
            for i in range(a.size):
                c[i] = a[i] + b[i]

        peers["numba"] = lambda: add(*arrays)
    return peers


def batch(run: Callable[[], Any], n: int) -> float:
    start = time.perf_counter()
    for _ in range(n):
        run()
    return (time.perf_counter() - start) / n


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    n = 10 if small else 100
    peers = _gpu_peers() if device == "cuda" else _cpu_peers()
    for name in list(peers):
        try:
            peers[name]()
        except Exception as failure:  # said, not hidden
            print(f"  {name}: not measured: {type(failure).__name__}: {str(failure)[:200]}")
            del peers[name]
    times: dict[str, list[float]] = {name: [] for name in peers}
    for i in range(-2, max(rounds, 21)):
        for name, run in peers.items():
            elapsed = batch(run, n)
            tessera.synchronize()
            if i >= 0:
                times[name].append(elapsed)
    table = Table(
        f"host time of a launch with three arrays, {device}",
        "launches/s",
        1.0,
        "cuLaunchKernel from C",
    )
    if device == "cuda":
        table.figures.append(Figure("cuLaunchKernel from C", driver(), float("nan")))
    table.figures += [Figure(name, t, float("nan")) for name, t in times.items()]
    return [table]

# SPDX-License-Identifier: Apache-2.0
"""Timing, roofs and checking for the tour. Every figure is a median; data is fresh; outputs are
poisoned before they are checked.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tessera
import tessera.tile as ct
from tessera import _array, _core
from tessera.lib import gemm

from .cases import Case

__all__ = ["Result", "Roofs", "measure", "roofs", "timed"]


@ct.kernel
def copy_kernel(x, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(TILE,)))


@dataclass
class Roofs:
    """Measured limits of the device: GB/s of a copy, GFLOP/s of a matrix product."""

    bandwidth: float
    flops: float
    flops_source: str


@dataclass
class Result:
    name: str
    device: str
    first_ms: float
    seconds: float
    bytes: float
    flops: float
    of_roof: float
    numpy_seconds: float
    error: float
    tolerance: float

    @property
    def ok(self) -> bool:
        return self.error <= self.tolerance

    @property
    def rate(self) -> str:
        if self.flops / self.bytes < 20:
            return f"{self.bytes / self.seconds * 1e-9:,.1f} GB/s"
        return f"{self.flops / self.seconds * 1e-9:,.0f} GFLOP/s"


def timed(run: Callable[[], Any], device: str, budget: float = 1.0, least: int = 5) -> float:
    """Median seconds of one ``run()``: device time on a GPU, wall time on the CPU."""
    run()
    tessera.synchronize()
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < least or (time.perf_counter() < end and len(times) < 200):
        times.append(_once(run, device))
    return statistics.median(times)


def _once(run: Callable[[], Any], device: str) -> float:
    if device == "cpu":
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
    begin, end = tessera.Event(device), tessera.Event(device)
    begin.record()
    run()
    end.record()
    end.synchronize()
    return begin.elapsed_ms(end) * 1e-3


def _product_roof(device: str, small: bool) -> tuple[float, str]:
    """GFLOP/s of the best large matrix product on the GPU: ours, and the vendor's where torch is there."""
    side, dtype = (512, "float32") if small else (8192, "float16")
    host = np.random.default_rng(0).uniform(-1, 1, (side, side)).astype(dtype)
    a, b = (_array.array(host, device=device) for _ in range(2))
    out = tessera.empty((side, side), dtype, device)
    best = timed(lambda: gemm.gemm(a, b, out), device, 0.3)
    source = f"best {dtype} product of {side} (Tessera)"
    try:
        import torch

        x, y = torch.from_dlpack(a), torch.from_dlpack(b)
        vendor = timed(lambda: torch.mm(x, y), device, 0.3)
    except (ImportError, RuntimeError):
        vendor = best
    if vendor < best:
        best, source = vendor, f"best {dtype} product of {side} (cuBLAS through torch)"
    return 2.0 * side**3 / best * 1e-9, source


def roofs(device: str, small: bool) -> Roofs:
    """Measures the device's copy bandwidth and its best matrix product."""
    n = 1 << (20 if small else 28 if device != "cpu" else 25)
    x = tessera.zeros(n, "float32", device)
    out = tessera.empty(n, "float32", device)
    tile = 4096 if device == "cpu" else 1024
    seconds = timed(lambda: ct.launch(None, (n // tile,), copy_kernel, (x, out, tile)), device)
    bandwidth = 8.0 * n / seconds * 1e-9
    if device == "cpu":
        a, b = x.numpy(), np.empty(n, np.float32)
        bandwidth = max(bandwidth, 8.0 * n / timed(lambda: np.copyto(b, a), device) * 1e-9)
    if device != "cpu":
        return Roofs(bandwidth, *_product_roof(device, small))
    side = 256 if small else 1024
    m = np.random.default_rng(0).uniform(-1, 1, (side, side)).astype(np.float32)
    flops = 2.0 * side**3 / timed(lambda: m @ m, "cpu") * 1e-9
    return Roofs(bandwidth, flops, "NumPy matmul float32")


def _poison(out: Any) -> None:
    bits = np.full(out.nbytes, 0xFF, np.uint8)
    out.view("uint8").reshape(-1)._from_host(bits)


def _error(case: Case, out: Any, rng: np.random.Generator) -> float:
    found = out.numpy() if isinstance(out, _core.Array) else out
    rows = np.sort(rng.choice(found.shape[0], min(64, found.shape[0]), replace=False))
    wanted = case.reference(case.inputs, rows)
    difference = np.abs(found[rows].astype(np.float64) - wanted) / (1.0 + np.abs(wanted))
    return float(np.nan_to_num(difference, nan=np.inf).max())


def measure(case: Case, device: str, roof: Roofs, name: str, budget: float) -> Result:
    """Runs, checks and times one case on a device."""
    rng = np.random.default_rng(1)
    arrays = [_array.array(x, device=device) for x in case.inputs]
    out = tessera.empty(case.out_shape, case.out_dtype, device)
    _poison(out)
    tessera.synchronize()
    start = time.perf_counter()
    case.run(arrays, out)
    tessera.synchronize()
    first = (time.perf_counter() - start) * 1e3
    error = _error(case, out, rng)
    seconds = timed(lambda: case.run(arrays, out), device, budget)
    least = 1 if case.flops > 1e11 else 3
    numpy_seconds = (
        timed(lambda: case.numpy(case.inputs), "cpu", 0.3, least)
        if case.flops < 5e11
        else float("nan")
    )
    if case.bound_by_memory:
        of_roof = case.bytes / seconds * 1e-9 / roof.bandwidth
    else:
        of_roof = case.flops / seconds * 1e-9 / roof.flops
    return Result(
        case.name,
        name,
        first,
        seconds,
        case.bytes,
        case.flops,
        of_roof,
        numpy_seconds,
        error,
        case.tolerance,
    )

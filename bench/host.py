# SPDX-License-Identifier: Apache-2.0
"""Question: what do the host objects cost beside the driver's own calls from C, and beside
cuda.core?

Each sample is the mean of 200 operations (2,000 of the cheapest), the Python loop included. C runs
in the same process, on the same context, stream, pool and kernel (bench/driver_host.c); all take
turns.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

from .common import Figure, Table, have

BYTES = 1 << 16
Run = Callable[[int], float]  # repeats n times; seconds each


def _ptx(n: int) -> bytes:
    params = ", ".join(f".param .u64 p{i}" for i in range(n))
    head = ".version 7.0\n.target sm_70\n.address_size 64\n"
    return f"{head}.visible .entry k{n}({params}) {{ ret; }}\n".encode()


def _repeat(call: Callable[..., Any], *args: Any) -> Run:
    def run(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            call(*args)
        return (time.perf_counter() - start) / n

    return run


def _build() -> Any:
    """The C loops, over the driver that the environment names."""
    source = pathlib.Path(__file__).with_name("driver_host.c")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/driver_host.so"
        command = ["cc", "-O2", "-shared", "-fPIC", str(source), "-o", path, "-ldl"]
        subprocess.run(command, check=True, capture_output=True)
        library = ctypes.CDLL(path)
    for name in ("context", "launch", "record", "stream", "memory"):
        getattr(library, f"host_{name}").restype = ctypes.c_double
    if library.host_open(os.environ.get("TESSERA_CUDA_DRIVER", "libcuda.so.1").encode()):
        raise RuntimeError("the driver lacks a function of bench/driver_host.c")
    return library


def _c(library: Any, name: str, *args: Any) -> Run:
    call = getattr(library, f"host_{name}")
    words = [ctypes.c_void_p(a) if a is not None else a for a in args]

    def run(n: int) -> float:
        ns = call(n, *words)
        if ns < 0:
            raise RuntimeError(f"the driver refused in the C loop '{name}'")
        return float(ns) * 1e-9

    return run


_KEPT: list[Any] = []  # what the C loops know by its address
Peers = dict[str, tuple[dict[str, Run], int]]  # question -> peers by name, operations of a sample


def _objects(core: Any, stream: Any, kernels: dict[int, Any]) -> dict[str, Run]:
    """The operations through one implementation of cuda.core's interface."""
    device, config = core.Device(), core.LaunchConfig(grid=1, block=32)
    event, resource = device.create_event(), device.memory_resource

    def memory() -> None:
        resource.allocate(BYTES, stream=stream).close()

    def new_stream() -> None:
        device.create_stream().close()

    runs = {
        f"launch, {n} pointers": _repeat(core.launch, stream, config, kernel, *([0] * n))
        for n, kernel in kernels.items()
    }
    return runs | {
        "record an event": _repeat(stream.record, event),
        "record in a new event": _repeat(stream.record),
        "stream, made and closed": _repeat(new_stream),
        f"{BYTES >> 10} KiB, allocated and freed": _repeat(memory),
    }


def _kernels(core: Any) -> dict[int, Any]:
    return {n: core.ObjectCode.from_ptx(_ptx(n)).get_kernel(f"k{n}") for n in (3, 16)}


def _peers() -> Peers:
    from tessera import core
    from tessera.bindings import driver

    core.Device(0).set_current()
    library = _build()
    stream, kernels = core.Device().create_stream(), _kernels(core)
    event, pool = core.Device().create_event(), core.Device().memory_resource
    order = int(stream.handle)
    _KEPT[:] = [event, pool, stream, kernels]
    own = _objects(core, stream, kernels)
    raw: dict[str, Run] = {
        f"launch, {n} pointers": _c(
            library, "launch", int(driver.checked.cuKernelGetFunction(k.handle)), order, n
        )
        for n, k in kernels.items()
    }
    raw |= {
        "record an event": _c(library, "record", int(event.handle), order),
        "stream, made and closed": _c(library, "stream"),
        f"{BYTES >> 10} KiB, allocated and freed": _c(
            library, "memory", int(pool.handle), order, BYTES
        ),
    }
    names = {"tessera.core": own, "C": raw}
    if have("cuda") and have("cuda.core"):
        from cuda import core as peer

        peer.Device(0).set_current()
        names["cuda.core"] = _objects(peer, peer.Device().create_stream(), _kernels(peer))
    peers: Peers = {}
    for question in own:
        peers[question] = (
            {who: runs[question] for who, runs in names.items() if question in runs},
            200,
        )
    calls = {"tessera.bindings": _repeat(driver.cuCtxGetCurrent), "C": _c(library, "context")}
    if have("cuda") and have("cuda.bindings"):
        import cuda.bindings.driver as peer_driver

        calls["cuda.bindings"] = _repeat(peer_driver.cuCtxGetCurrent)
    peers["cuCtxGetCurrent"] = (calls, 2000)
    for runs, _ in peers.values():
        runs["an empty call"] = _repeat(len, ())
    return peers


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    if device != "cuda":
        print("  host: a driver is needed; not measured")
        return []
    from tessera import core

    found = []
    for question, (runs, n) in _peers().items():
        times: dict[str, list[float]] = {name: [] for name in runs}
        for i in range(-2, rounds):
            for name, run in runs.items():
                elapsed = run(10 if small else n)
                core.Device().sync()
                if i >= 0:
                    times[name].append(elapsed)
        table = Table(question, "operations/s", 1.0, "C")
        table.figures = [Figure(name, t, float("nan")) for name, t in times.items()]
        found.append(table)
    return found

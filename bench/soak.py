# SPDX-License-Identifier: Apache-2.0
"""Question: what is left behind by ten million launches, a million allocations, a hundred thousand
module loads, a million events?

``--rounds`` is the seconds each may take: the rate is measured first, and the table says how many
were done. Before and after stand the resident memory of the process, the memory in use on the
device, and the counters of living objects. Anything that has grown ends the benchmark with an error.
"""

from __future__ import annotations

import gc
import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tessera
import tessera.tile as ct
from tessera import _core

from .common import Figure, Table

# What the allocator of the C library and the driver's own lists may grow by in a run.
HOST_ROOM = DEVICE_ROOM = 16 << 20
CHUNKS = 20

PTX = (
    b".version 7.0\n.target sm_70\n.address_size 64\n"
    b".visible .entry k(.param .u64 a) { ret; }\n\0"
)


@ct.kernel
def soak_kernel(a, b, out):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(16,))
    y = ct.load(b, index=(i,), shape=(16,))
    ct.store(out, index=(i,), tile=x + y)


@dataclass
class Work:
    """Something done very often: ``run(n)`` does it n times and leaves nothing."""

    name: str
    goal: int
    run: Callable[[int], None]


def _launches(device: str) -> Callable[[int], None]:
    host = [np.ones(16, np.float32) for _ in range(3)]
    arrays = tuple(tessera.array(a, device=device) for a in host) if device == "cuda" else tuple(host)
    sync = _sync(device)

    def run(n: int) -> None:
        launch, grid = ct.launch, (1, 1, 1)
        for _ in range(n):
            launch(None, grid, soak_kernel, arrays)
        sync()

    return run


def _allocations(device: str) -> Callable[[int], None]:
    from tessera.core import Device

    allocate = Device(0 if device == "cuda" else "cpu").allocate
    sync = _sync(device)

    def run(n: int) -> None:
        held: list[Any] = [None] * 8  # the last eight live, of sizes from 256 bytes to 32 KiB
        for i in range(n):
            held[i & 7] = allocate(256 << (i & 7))
        held.clear()
        sync()

    return run


def _events(device: str) -> Callable[[int], None]:
    from tessera.core import Device

    stream = Device(0 if device == "cuda" else "cpu").create_stream()

    def run(n: int) -> None:
        for _ in range(n):
            stream.record()
        stream.sync()

    return run


def _module_loads(n: int) -> None:
    from tessera.bindings.driver import checked

    load, function, unload = (
        checked.cuModuleLoadData, checked.cuModuleGetFunction, checked.cuModuleUnload
    )  # fmt: skip
    for _ in range(n):
        module = load(PTX)
        function(module, b"k")
        unload(module)


def _object_codes(n: int) -> None:
    from tessera.core import ObjectCode

    for _ in range(n):
        ObjectCode.from_ptx(PTX).get_kernel("k")


def _sync(device: str) -> Callable[[], Any]:
    from tessera.core import Device

    return Device(0 if device == "cuda" else "cpu").sync


def _works(device: str) -> list[Work]:
    works = [
        Work("launches", 10_000_000, _launches(device)),
        Work("allocations", 1_000_000, _allocations(device)),
        Work("events", 1_000_000, _events(device)),
    ]
    if device == "cuda":
        works.append(Work("module loads", 100_000, _module_loads))
        works.append(Work("kernels of object code", 100_000, _object_codes))
    return works


def _resident() -> int:
    """Bytes of the process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _on_device(device: str) -> int:
    """Bytes in use on the device."""
    if device != "cuda":
        return 0
    from tessera.bindings.driver import checked

    free, total = checked.cuMemGetInfo()
    return int(total - free)


def _state(device: str) -> tuple[int, int, dict[str, int]]:
    gc.collect()
    _sync(device)()
    return _resident(), _on_device(device), _core._live()


def _soak(work: Work, device: str, seconds: float, most: int) -> Table:
    """Does the work as often as the seconds allow, at most the goal."""
    work.run(max(16, most // 1000))  # pools, caches and the compiler fill here
    began = time.perf_counter()
    work.run(max(16, most // 1000))
    rate = max(16, most // 1000) / (time.perf_counter() - began)
    n = min(most, max(CHUNKS, int(rate * seconds)))
    before, times = _state(device), []
    for _ in range(CHUNKS):
        began = time.perf_counter()
        work.run(math.ceil(n / CHUNKS))
        times.append((time.perf_counter() - began) / math.ceil(n / CHUNKS))
    after = _state(device)
    done = math.ceil(n / CHUNKS) * CHUNKS
    note = (
        f"{done:,} of {work.goal:,}; host {_grown(before[0], after[0])}, device "
        f"{_grown(before[1], after[1])}, living objects {before[2]}"
    )
    table = Table(f"soak: {work.name}", "/s", 1.0, "tessera", note=note)
    table.figures = [Figure("tessera", times, float("nan"))]
    if after[2] != before[2]:
        raise RuntimeError(f"{work.name}: living objects were {before[2]} and are {after[2]}")
    if after[0] - before[0] > HOST_ROOM or after[1] - before[1] > DEVICE_ROOM:
        raise RuntimeError(f"{work.name}: memory has grown: {note}")
    return table


def _grown(before: int, after: int) -> str:
    return f"{before / 2**20:.1f} -> {after / 2**20:.1f} MiB"


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    found = []
    for work in _works(device):
        table = _soak(work, device, rounds, work.goal // 1000 if small else work.goal)
        print(f"  {table.question}: {table.note}", flush=True)
        found.append(table)
    return found

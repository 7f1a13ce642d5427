# SPDX-License-Identifier: Apache-2.0
"""Question: what does one call of the driver from Python cost, and the same of cuda.bindings?

Each sample is the mean of 2,000 calls (200 launches) in a Python loop, the loop included; "an empty
call" shows what the loop and a call of a built-in function cost. Peers take turns, round by round.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

from tessera.bindings import driver

from .common import Figure, Table, have

PTX = (
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }\n\0"
).encode()
Call = tuple[Any, tuple[Any, ...]]


def _calls(module: Any) -> dict[str, Call]:
    """The calls to time, with their arguments, through one implementation of the bindings."""

    def ok(answer: tuple[Any, ...]) -> Any:
        if answer[0]:
            raise RuntimeError(f"{module.__name__}: {answer[0]}")
        return answer[1] if len(answer) > 1 else None

    ok(module.cuInit(0))
    context = ok(module.cuDevicePrimaryCtxRetain(ok(module.cuDeviceGet(0))))
    ok(module.cuCtxSetCurrent(context))
    stream, event = ok(module.cuStreamCreate(1)), ok(module.cuEventCreate(0))
    kernel = ok(module.cuModuleGetFunction(ok(module.cuModuleLoadDataEx(PTX, 0, [], [])), b"k"))
    memory = ok(module.cuMemAlloc(1 << 20))
    attribute = module.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    kind = module.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    params = ((int(memory),) * 3, (ctypes.c_void_p,) * 3)
    return {
        "cuCtxGetCurrent": (module.cuCtxGetCurrent, ()),
        "cuCtxSetCurrent": (module.cuCtxSetCurrent, (context,)),
        "cuDeviceGetAttribute": (module.cuDeviceGetAttribute, (attribute, 0)),
        "cuEventRecord": (module.cuEventRecord, (event, stream)),
        "cuPointerGetAttribute": (module.cuPointerGetAttribute, (kind, memory)),
        "cuLaunchKernel, 3 pointers": (
            module.cuLaunchKernel,
            (kernel, 1, 1, 1, 32, 1, 1, 0, stream, params, 0),
        ),
    }


def _time(call: Call, n: int) -> float:
    function, arguments = call
    start = time.perf_counter()
    for _ in range(n):
        function(*arguments)
    return (time.perf_counter() - start) / n


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    if device != "cuda":
        print("  bindings: a driver is needed; not measured")
        return []
    peers = {"tessera.bindings": _calls(driver)}
    if have("cuda") and have("cuda.bindings"):
        import cuda.bindings.driver

        peers["cuda.bindings"] = _calls(cuda.bindings.driver)
    found = []
    for name in peers["tessera.bindings"]:
        n = 20 if small else 200 if "Launch" in name else 2000
        calls = {peer: those[name] for peer, those in peers.items()}
        calls["an empty call"] = (len, ((),))
        times: dict[str, list[float]] = {peer: [] for peer in calls}
        for _ in range(rounds):
            for peer, call in calls.items():
                times[peer].append(_time(call, n))
            driver.cuCtxSynchronize()
        table = Table(name, "calls/s", 1.0, "cuda.bindings")
        table.figures = [Figure(peer, t, float("nan")) for peer, t in times.items()]
        found.append(table)
    return found

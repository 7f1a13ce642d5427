# SPDX-License-Identifier: Apache-2.0
"""No call of the driver keeps the interpreter's lock: behind a full queue it waits for work that may
wait for a Python callback."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import core
from tessera.bindings import driver

ONE = core.LaunchConfig(grid=1, block=1)


@ct.kernel
def copy_tile(a, out):  # type: ignore[no-untyped-def]
    ct.store(out, index=(0,), tile=ct.load(a, index=(0,), shape=(16,)))


class Things:
    """What the calls below work on."""

    def __init__(self, device: core.Device, make_kernel: Any) -> None:
        self.device, self.kernel = device, make_kernel(8)
        self.stream, self.other = device.create_stream(), device.create_stream()
        self.event = self.stream.record(options={"timing_enabled": True})
        self.later = self.stream.record(options={"timing_enabled": True})
        self.pool = device.memory_resource
        self.buffer = self.pool.allocate(64, stream=self.stream)
        self.target = self.pool.allocate(64, stream=self.stream)
        self.lent = driver.checked.cuMemAllocFromPoolAsync(
            64, self.pool.handle, self.stream.handle
        )
        self.arrays = [tessera.array(np.ones(16, np.float32), device="cuda") for _ in range(2)]
        self.tile()

    def tile(self) -> None:
        ct.launch(None, (1,), copy_tile, tuple(self.arrays))

    def close_stream(self) -> None:
        self.other.close()

    def give_back(self) -> None:
        self.pool.deallocate(self.lent, 64, stream=self.stream)


CALLS: dict[str, Callable[[Things], Any]] = {
    "launch": lambda t: core.launch(t.stream, ONE, t.kernel, 5),
    "launch of tiles": Things.tile,
    "record": lambda t: t.stream.record(t.event),
    "record in a new event": lambda t: t.stream.record(),
    "event.record": lambda t: t.event.record(t.stream),
    "wait for an event": lambda t: t.other.wait(t.event),
    "wait for a stream": lambda t: t.other.wait(t.stream),
    "stream.done": lambda t: t.stream.done,
    "event.done": lambda t: t.event.done,
    "elapsed": lambda t: t.later - t.event,
    "stream.sync": lambda t: t.stream.sync(),
    "event.sync": lambda t: t.event.sync(),
    "device.sync": lambda t: t.device.sync(),
    "create_stream": lambda t: t.device.create_stream(),
    "close of a stream": Things.close_stream,
    "create_event": lambda t: t.device.create_event(),
    "close of an event": lambda t: t.event.close(),
    "allocate": lambda t: t.pool.allocate(8, stream=t.stream),
    "close of a buffer": lambda t: t.target.close(),
    "deallocate": Things.give_back,
    "copy_to": lambda t: t.buffer.copy_to(t.target, stream=t.stream),
    "fill": lambda t: t.buffer.fill(0, stream=t.stream),
    "array": lambda t: tessera.array(np.ones(8, np.float32), device="cuda"),
    "device_info": lambda t: tessera._core.device_info("cuda"),
    "reset": lambda t: tessera._core.reset("cuda"),
}


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_run_while_the_driver_waits(
    name: str, device: core.Device, make_kernel: Any
) -> None:
    library = ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"])
    gate, waited, expired = (
        ctypes.c_int.in_dll(library, f"mock_{n}") for n in ("gate", "waited", "expired")
    )
    things = Things(device, make_kernel)
    returned = threading.Event()

    def open_gate() -> None:
        while not waited.value and not returned.wait(0.001):
            pass
        gate.value = 0

    opener = threading.Thread(target=open_gate)
    waited.value = expired.value = 0
    gate.value = 1
    opener.start()
    CALLS[name](things)
    returned.set()
    opener.join()
    gc.collect()
    assert waited.value and not expired.value

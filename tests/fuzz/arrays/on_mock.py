# SPDX-License-Identifier: Apache-2.0
"""Kernels that the mock driver is given (tests/mock/mock.h), run at each launch by the reader of PTX
(tests/fuzz/tiles/ptx) on the mock's memory, which is the host's: so the mock computes what a GPU would."""

from __future__ import annotations

import collections
import ctypes
import gc
import os
from typing import Any

import numpy as np
from tiles import ptx

THREE = ctypes.POINTER(ctypes.c_uint)
LAUNCHED = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.POINTER(ctypes.c_void_p), THREE, THREE, ctypes.c_uint)
LOADED = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_char_p)
BEGIN, END = 1 << 16, 1 << 47  # addresses of a process


class HostMemory(ptx.Memory):
    """All memory of this process, in which no place is known to be wrong."""

    def __init__(self) -> None:
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * (END - BEGIN)).from_address(BEGIN))
        self.base, self.ok, self.symbols = BEGIN, None, {}


class Reader:
    """Runs what is launched; `counts` says how much was, and what could not be read, by its reason."""

    def __init__(self) -> None:
        mock = ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"])
        self.places = [ctypes.c_void_p.in_dll(mock, name) for name in ("mock_launched", "mock_loaded")]
        self.counts: collections.Counter[str] = collections.Counter()
        self.texts: dict[int, str] = {}
        self.memory = HostMemory()
        self.hooks = LAUNCHED(self.run), LOADED(self.load)

    def __enter__(self) -> Reader:
        gc.disable()  # which would give up arrays in the middle of a launch, where nothing of Python runs elsewhere
        for place, hook in zip(self.places, self.hooks, strict=True):
            place.value = ctypes.cast(hook, ctypes.c_void_p).value
        return self

    def __exit__(self, *_: Any) -> None:
        for place in self.places:
            place.value = None
        gc.enable()

    def load(self, number: int, code: bytes) -> None:
        self.texts[number] = code.decode()

    def run(self, number: int, params: Any, grid: Any, block: Any, shared: int) -> None:
        self.counts["launched"] += 1
        try:
            entry = ptx.parsed(self.texts[number])
            words = [ctypes.string_at(params[i], size) for i, size in enumerate(entry.params.values())]
            given = {name: int.from_bytes(word, "little") for name, word in zip(entry.params, words, strict=True)}
            launch = ptx.Launch(tuple(grid[:3]), given, shared, 0, tuple(block[:3]))
            ptx.run(entry, launch, self.memory)
        except Exception as error:  # noqa: BLE001  which must not pass through the driver
            self.counts["unread"] += 1
            self.counts[f"{type(error).__name__}: {error}"[:100]] += 1

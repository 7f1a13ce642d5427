# SPDX-License-Identifier: Apache-2.0
"""NVML is started once a process, at the first question."""

from __future__ import annotations

import os
import threading
from typing import Any

from ...bindings import nvml
from ...pathfinder import DynamicLibNotFoundError, find_nvidia_dynamic_lib

__all__ = ["initialize", "is_initialized", "validate"]

UNINITIALIZED, INITIALIZED, DISABLED_LIBRARY_NOT_FOUND = range(3)
_lock = threading.Lock()
_state: tuple[int, int] = (UNINITIALIZED, 0)  # and the process it was done in


def _get_nvml_state() -> int:
    return _state[0] if _state[1] in (0, os.getpid()) else UNINITIALIZED


def initialize() -> None:
    """Starts NVML; again after a fork. RuntimeError where there is none."""
    global _state
    if _get_nvml_state() == INITIALIZED:
        return
    with _lock:
        if not find_nvidia_dynamic_lib("nvml"):
            _state = (DISABLED_LIBRARY_NOT_FOUND, os.getpid())
            raise DynamicLibNotFoundError(
                "this requires NVML support: libnvidia-ml.so.1 belongs to the NVIDIA driver and "
                "was not found"
            )
        nvml.checked.nvmlInit()
        _state = (INITIALIZED, os.getpid())


def is_initialized() -> bool:
    """Whether NVML was started."""
    return _get_nvml_state() == INITIALIZED


def validate() -> None:
    """Raises where NVML cannot be used or sees no GPU."""
    initialize()
    if not nvml.checked.nvmlDeviceGetCount():
        raise RuntimeError("NVML sees no GPU")


def ask(function: str, *args: Any) -> Any:
    """A function of NVML by its name without the prefix; raises NvmlError."""
    initialize()
    return getattr(nvml.checked, f"nvml{function}")(*args)


def text(function: str, *args: Any, size: int = 96) -> str:
    """A function that writes a text into memory of the caller."""
    room = bytearray(size)
    ask(function, *args, room, size)
    return bytes(room).split(b"\0")[0].decode(errors="replace")


def record(function: str, *args: Any, of: str, version: int = 0, **fields: Any) -> Any:
    """A function that fills a struct; ``fields`` are set before."""
    kind = getattr(nvml, f"nvml{of}")
    made = kind()
    if version:
        made.version = nvml.struct_version(kind, version)
    for name, value in fields.items():
        setattr(made, name, value)
    ask(function, *args, made)
    return made


def listed(function: str, *args: Any, size: int) -> tuple[int, bytes]:
    """A function that is asked twice: for the number of entries of `size` bytes, then for them."""
    initialize()
    call = getattr(nvml, f"nvml{function}")
    n = 0
    for _ in range(16):  # the number may grow between the calls
        room = bytearray(max(n, 1) * size)
        status, found = call(*args, n, room if n else None)
        if not status and found <= n:
            return found, bytes(room[: found * size])
        if status and status != nvml.nvmlReturn_t.NVML_ERROR_INSUFFICIENT_SIZE:
            nvml._raise(f"nvml{function}", status)
        n = found or max(2 * n, 8)  # some functions fill only room for just as many
    raise nvml.InsufficientSizeError(status, function)

# SPDX-License-Identifier: Apache-2.0
"""How the C core names devices (``kind << 8 | ordinal``), and a context of a GPU for cold calls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .. import _core
from ..bindings import driver

__all__ = ["CPU", "CUDA", "context_of", "in_context", "primary_context"]

CPU, CUDA = _core.DEVICE_CPU, _core.DEVICE_CUDA  # ids of device 0 of each kind
_primary: dict[int, driver.CUcontext] = {}


def primary_context(ordinal: int) -> driver.CUcontext:
    """The primary context of a GPU, retained once for the process."""
    if ordinal not in _primary:
        driver.checked.cuInit(0)
        device = driver.checked.cuDeviceGet(ordinal)
        _primary[ordinal] = driver.checked.cuDevicePrimaryCtxRetain(device)
    return _primary[ordinal]


def context_of(ordinal: int) -> driver.CUcontext:
    """The thread's current context if it is one of this GPU, else its primary one."""
    status, context = driver.cuCtxGetCurrent()
    if not status and int(context):
        status, device = driver.cuCtxGetDevice()
        if not status and int(device) == ordinal:
            return context
    return primary_context(ordinal)


@contextlib.contextmanager
def in_context(ordinal: int) -> Iterator[None]:
    """Runs a block with a context of the GPU current, then restores what was current."""
    driver.checked.cuInit(0)
    before = driver.checked.cuCtxGetCurrent()
    wanted = context_of(ordinal)
    if before == wanted:
        yield
        return
    driver.checked.cuCtxSetCurrent(wanted)
    try:
        yield
    finally:
        driver.checked.cuCtxSetCurrent(before)

# SPDX-License-Identifier: Apache-2.0
"""What the host objects raise: the exceptions of the bindings, and a warning for destructors."""

from __future__ import annotations

import reprlib
from typing import Any, NoReturn

from .. import _core
from .._errors import DeviceError, DeviceNotFoundError
from ..bindings import CUDAError, NVRTCError

__all__ = ["CUDAError", "CUDAWarning", "NVRTCError", "cpu_cannot", "no_constructor", "shown"]


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 200


def shown(value: Any) -> str:
    """``repr`` for a message, cut where it is long."""
    return _short.repr(value)


class CUDAWarning(RuntimeWarning):
    """Something failed where nothing can be raised: in a destructor or a callback."""


def why_no_gpu() -> str:
    """What is missing on a machine where no GPU was found; empty where there is one."""
    if _core.device_count("cuda"):
        return ""
    try:
        _core.device_info("cuda:0")
    except DeviceNotFoundError as missing:
        return str(missing)
    return ""


def cpu_cannot(what: str) -> DeviceError:
    """The exception for what the CPU device does not have."""
    missing = why_no_gpu()
    way = f"no GPU was found: {missing}" if missing else "use a GPU, as Device(0)"
    return DeviceError(f"the CPU device has no {what}; {way}")


def no_constructor(name: str, instead: str) -> NoReturn:
    """Refuses ``name()``: objects of this class come from elsewhere."""
    raise RuntimeError(f"{name} objects cannot be instantiated directly. Please use {instead}.")

# SPDX-License-Identifier: Apache-2.0
"""What the host objects raise: the exceptions of the bindings, and a warning for destructors."""

from __future__ import annotations

import reprlib
from typing import Any, NoReturn

from .._errors import DeviceError
from ..bindings import CUDAError, NVRTCError

__all__ = ["CUDAError", "CUDAWarning", "NVRTCError", "cpu_cannot", "no_constructor", "shown"]


_short = reprlib.Repr()
_short.maxstring = _short.maxother = 200


def shown(value: Any) -> str:
    """``repr`` for a message, cut where it is long."""
    return _short.repr(value)


class CUDAWarning(RuntimeWarning):
    """Something failed where nothing can be raised: in a destructor or a callback."""


def cpu_cannot(what: str) -> DeviceError:
    """The exception for what the CPU device does not have."""
    return DeviceError(f"the CPU device has no {what}; use a GPU, as Device(0)")


def no_constructor(name: str, instead: str) -> NoReturn:
    """Refuses ``name()``: objects of this class come from elsewhere."""
    raise RuntimeError(f"{name} objects cannot be instantiated directly. Please use {instead}.")

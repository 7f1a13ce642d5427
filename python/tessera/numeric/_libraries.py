# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's libraries of mathematics on a GPU, found at run time: calls of their C functions on arrays of ours."""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

from . import _functions as f
from ._ndarray import ndarray

# Arrays compute on the legacy default stream, and so do the libraries unless they are told another.
lock = threading.RLock()  # of handles and plans, which one thread uses at a time


class Library:
    """A library whose functions give a status: ``library.call("cufftExecC2C", ...)``, an error for any but 0."""

    def __init__(self, name: str, functions: Any) -> None:
        self.name = name
        self.functions = functions

    def has(self, function: str) -> bool:
        """Whether this version of the library has the function."""
        return hasattr(self.functions, function)

    def call(self, function: str, *args: Any) -> None:
        """Calls it; RuntimeError if it fails."""
        status = getattr(self.functions, function)(*args)
        if status:
            raise RuntimeError(f"{function} of {self.name} failed with status {status}")


@functools.cache
def library(name: str) -> Library | None:
    """cufft or cusolver, as pathfinder finds it; None: it is not installed."""
    from .. import pathfinder

    try:
        found = pathfinder.load_nvidia_dynamic_lib(name)
    except pathfinder.DynamicLibNotFoundError:
        return None
    return Library(name, ctypes.CDLL(found.abs_path))


def on_device(a: ndarray) -> Any:
    """A block in which the libraries work on the array's GPU."""
    from ..core._place import in_context

    return in_context(int(a.device.partition(":")[2]))


def address(a: ndarray) -> int:
    """Where the elements are, once they are computed; the memory stays there."""
    if a.device == "cpu":
        return int(a.__array_interface__["data"][0])
    return int(a.__cuda_array_interface__["data"][0])


def scratch(size: int, device: str) -> ndarray:
    """Memory for a library to work in."""
    return f.empty(max(size, 1), "u1", device=device)

# SPDX-License-Identifier: Apache-2.0
"""Exceptions. The C library's status codes name these classes (include/tessera/base.h)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = [
    "DeviceError",
    "DeviceNotFoundError",
    "Failure",
    "KernelError",
    "StaticException",
    "TileCompilerExecutionError",
    "TileCompilerTimeoutError",
    "TileError",
    "TileInternalError",
    "TileRecursionError",
    "TileStaticAssertionError",
    "TileStaticEvalError",
    "TileSyntaxError",
    "TileTypeError",
    "TileUnsupportedFeatureError",
    "TileValueError",
    "did_you_mean",
    "nearest",
]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is nearest to an unknown one, "" where none is near.

    None for names like ``__wrapped__``: programs ask for these, and would wait for difflib.
    """
    if name.startswith("__"):
        return ""
    import difflib

    close = difflib.get_close_matches(name, list(known), 1)
    return close[0] if close else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name, with the nearest known one, if any is near."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


class TileError(Exception):
    """A kernel does not compile. The text shows file, line, a caret, what was found and what to do."""


class TileSyntaxError(TileError):
    """A Python construct that is not part of the kernel language."""


class TileTypeError(TileError):
    """Dtypes, shapes or arity that do not fit, or a value that had to be a constant."""


class TileValueError(TileError):
    """A constant out of its range."""


class TileRecursionError(TileError):
    """Helper functions that call each other without end."""


class TileStaticEvalError(TileError):
    """``static_eval`` failed."""


class StaticException(TileStaticEvalError):
    """``raise ct.static_exception(...)`` was met while a kernel was compiled."""


class TileStaticAssertionError(TileError):
    """``static_assert`` failed."""


class TileUnsupportedFeatureError(TileError):
    """Something the target cannot do."""


class TileInternalError(TileError):
    """A bug of the compiler; please report the text."""


class TileCompilerExecutionError(TileInternalError):
    """Kept for programs that catch the peer's exception of this name."""


class TileCompilerTimeoutError(TileInternalError):
    """Compiling took longer than ``ct.compiler_timeout`` allows."""


class DeviceError(RuntimeError):
    """A device reported an error."""


class DeviceNotFoundError(RuntimeError):
    """No such device, driver or compiler part on this machine; the text says what to install."""


class Failure(NamedTuple):
    """Where and how a kernel failed. ``thread`` is None for kernels of tiles."""

    code: str  # "bounds", "assert", "division", "raise"
    object: int  # what was raised, by its number in the kernel's pack; 0: a builtin exception, which the message names
    message: str
    file: str
    function: str
    line: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int] | None


class KernelError(RuntimeError):
    """A kernel failed while it ran: failed assert, index out of bounds in checked mode, ...

    ``failure`` tells where: ``file``, ``function``, ``line``, ``block``, ``thread`` (of kernels of threads).
    """

    failure: Failure | None = None

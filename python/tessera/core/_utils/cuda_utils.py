# SPDX-License-Identifier: Apache-2.0
"""Result tuples to exceptions, and checks of arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ...bindings import CUDAError, NVRTCError, driver, nvrtc, runtime
from .._device import ComputeCapability
from .._options import options_of

__all__ = [
    "CUDAError",
    "ComputeCapability",
    "NVRTCError",
    "cast_to_3_tuple",
    "check_or_create_options",
    "driver",
    "handle_return",
    "nvrtc",
    "precondition",
    "runtime",
]

T = TypeVar("T")


def _compile_log(program: Any) -> str:
    """What NVRTC has to say about a program."""
    room = bytearray(nvrtc.checked.nvrtcGetProgramLogSize(program))
    nvrtc.checked.nvrtcGetProgramLog(program, room)
    return bytes(room).rstrip(b"\0").decode(errors="replace")


def _failure(
    error: Any, what: str, get_text: Callable[[Any], Any], kind: type[CUDAError]
) -> CUDAError:
    status, text = get_text(error)
    return kind(what, error, "" if status or not text else text.decode())


def _check_driver_error(error: Any) -> int:
    if error:
        raise _failure(error, "driver", driver.cuGetErrorString, CUDAError)
    return 0


def _check_runtime_error(error: Any) -> int:
    if error:
        raise _failure(error, "runtime", lambda e: (0, runtime.cudaGetErrorString(e)[1]), CUDAError)
    return 0


def _check_nvrtc_error(error: Any, handle: Any = None) -> int:
    if error:
        log = f"compilation log:\n{_compile_log(handle)}" if handle is not None else ""
        raise NVRTCError("nvrtc", error, log or nvrtc.nvrtcGetErrorString(error)[1].decode())
    return 0


def _check(error: Any, handle: Any) -> None:
    name = type(error).__name__
    if name == "nvrtcResult":
        _check_nvrtc_error(error, handle)
    elif name == "cudaError_t":
        _check_runtime_error(error)
    else:
        _check_driver_error(error)


def handle_return(result: tuple[Any, ...], handle: Any = None) -> Any:
    """The results of a call that gave ``(status, results...)``; raises where the status is an
    error."""
    status, *results = result
    _check(status, handle)
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def check_or_create_options(cls: type[T], options: Any, options_description: str = "") -> T:
    """``options_of`` under the peer's name."""
    try:
        return options_of(cls, options)
    except TypeError as error:
        raise TypeError(
            f"The {options_description or 'options'} must be provided as an object of type "
            f"{cls.__name__} or as a dict with valid {options_description or 'options'}: {error}"
        ) from None


def cast_to_3_tuple(label: str, value: Any) -> tuple[int, int, int]:
    """Extents of a grid or a block: an int or up to three ints, filled up with ones."""
    wanted = f"{label} must be an int, or a tuple with up to 3 ints"
    items = (value,) if isinstance(value, int) else value
    if not isinstance(items, tuple):
        raise ValueError(f"{wanted} (got {type(value)})")
    if len(items) > 3:
        raise ValueError(f"{wanted} (got tuple with length {len(items)})")
    if not all(isinstance(item, int) for item in items):
        raise ValueError(f"{wanted} (got {value})")
    if any(item < 1 for item in items):
        raise ValueError(f"{label} value{'s' if len(items) > 1 else ''} must be >= 1 (got {value})")
    return (*items, *(1,) * (3 - len(items)))  # type: ignore[return-value]


def precondition(checker: Callable[..., None], what: str = "") -> Callable[[Any], Any]:
    """Runs ``checker(*args, what=what, **kwargs)`` before each call."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            checker(*args, **kwargs, what=what)
            return function(*args, **kwargs)

        return call

    return decorate

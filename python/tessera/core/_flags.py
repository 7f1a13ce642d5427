# SPDX-License-Identifier: Apache-2.0
"""Options of compilers as rows of a table: each field of an options dataclass says how its value is
written for each backend.

``ftz: bool | None = option(nvrtc=("--ftz=", truth), nvvm=("-ftz=", digit))`` is such a row. A field
that is None gives no flag anywhere; a backend that a row does not name cannot do it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["as_virtual", "current_arch", "digit", "each", "flags_of", "level", "macro", "option",
           "present", "truth", "value", "when"]  # fmt: skip

Form = Callable[[str, Any], list[str]]


def option(**backends: tuple[str, Form]) -> Any:
    """A field that is None unless given; ``backend=(flag, form)`` for each that knows it."""
    return dataclasses.field(default=None, metadata=backends)


def when(flag: str, given: Any) -> list[str]:
    """The flag alone, if the value is true."""
    return [flag] if given else []


def present(flag: str, given: Any) -> list[str]:
    """The flag alone, whatever the value."""
    return [flag]


def truth(flag: str, given: Any) -> list[str]:
    """``--ftz=true``."""
    return [flag + ("true" if given else "false")]


def digit(flag: str, given: Any) -> list[str]:
    """``-ftz=1``."""
    return [f"{flag}{int(bool(given))}"]


def level(flag: str, given: Any) -> list[str]:
    """``-opt=3`` or ``-opt=0``."""
    return [f"{flag}{3 if given else 0}"]


def value(flag: str, given: Any) -> list[str]:
    """``--std=c++20``."""
    return [f"{flag}{os.fspath(given) if isinstance(given, os.PathLike) else given}"]


def as_virtual(flag: str, given: Any) -> list[str]:
    """``-arch=compute_90`` for sm_90: a backend that compiles for virtual architectures only."""
    return [flag + str(given).replace("sm_", "compute_")]


def each(flag: str, given: Any) -> list[str]:
    """The flag once for each item of a sequence, or for one text, path or number."""
    if isinstance(given, (str, os.PathLike)) or (
        isinstance(given, int) and not isinstance(given, bool)
    ):
        return value(flag, given)
    return (
        [word for item in given for word in value(flag, item)]
        if isinstance(given, Sequence)
        else []
    )


def _one_macro(flag: str, given: Any) -> str:
    if isinstance(given, str):
        return flag + given
    if (
        isinstance(given, tuple)
        and len(given) == 2
        and all(isinstance(part, str) for part in given)
    ):
        return f"{flag}{given[0]}={given[1]}"
    raise RuntimeError(
        f"Expected define_macro tuple (name, value) of two str, or one str, or a list of these; "
        f"got {given!r}"
    )


def macro(flag: str, given: Any) -> list[str]:
    """A name, a pair of name and text, or a list of such."""
    return [_one_macro(flag, item) for item in (given if isinstance(given, list) else [given])]


def flags_of(options: Any, backend: str) -> list[str]:
    """What an options object says in the language of a backend."""
    words: list[str] = []
    for field in dataclasses.fields(options):
        given, row = getattr(options, field.name), field.metadata.get(backend)
        if row and given is not None:
            words += row[1](row[0], given)
    return words


def current_arch() -> str | None:
    """``"sm_90"`` for the device of the current context, else for device 0; None without a GPU."""
    from ..bindings import FunctionNotFoundError, driver
    from ..pathfinder import DynamicLibNotFoundError

    try:
        (status,) = driver.cuInit(0)
    except (DynamicLibNotFoundError, FunctionNotFoundError):
        return None
    no_context, device = driver.cuCtxGetDevice()
    kinds = driver.CUdevice_attribute
    which = (
        kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        kinds.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    )
    answers = [driver.cuDeviceGetAttribute(kind, 0 if no_context else device) for kind in which]
    if status or any(failed for failed, _ in answers):
        return None
    return "sm_" + "".join(str(number) for _, number in answers)

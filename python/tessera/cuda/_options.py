# SPDX-License-Identifier: Apache-2.0
"""The options of ``cuda.jit``: what each may be, and what becomes of it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from .. import _core
from .._checked import ON, RACES, level_of, wished
from . import config
from ._errors import DeprecationError, NumbaDeprecationWarning, NumbaInvalidConfigWarning

__all__ = ["Options", "links_of", "options_of"]

RAISES, BOUNDS, IMPLIED = _core.CHECK_RAISES, _core.CHECK_BOUNDS, _core.CHECK_IMPLIED  # bits of the hint `checked`
WATCHED = _core.CHECK_WATCHED
_GONE = ("argtypes", "restype", "bind")
_CARVEOUTS = {"default": -1, "maxl1": 0, "maxshared": 100}


class Options(NamedTuple):
    """The options of one function, checked.

    Attributes
    ----------
    device : bool
        A function for kernels, which is not launched.
    debug, opt, lineinfo, fastmath, cache, lto, forceinline : bool
    inline : str
        "never" or "always".
    link : tuple
        Code of others.
    launch_bounds : tuple of int
        Threads of a block, blocks of a multiprocessor, blocks of a cluster; as many as are known.
    max_registers : int or None
    shared_memory_carveout : int or None
    extensions : tuple
    boundscheck : bool
        Report indices that are out of bounds.
    checked : int
        What all of these, and the environment, have the kernel report: the hint of the compiler.
    """

    device: bool = False
    debug: bool = False
    opt: bool = True
    lineinfo: bool = False
    fastmath: bool = False
    cache: bool = False
    lto: bool = False
    forceinline: bool = False
    inline: str = "never"
    link: tuple[Any, ...] = ()
    launch_bounds: tuple[int, ...] = ()
    max_registers: int | None = None
    shared_memory_carveout: int | None = None
    extensions: tuple[Any, ...] = ()
    boundscheck: bool = False
    checked: int = 0


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        warnings.warn(
            NumbaDeprecationWarning("inline takes 'never' or 'always'; True and False will go"), stacklevel=4
        )
        return "always" if value else "never"
    if value not in ("never", "always"):
        raise ValueError(f"inline must be 'never' or 'always', not {value!r}")
    return str(value)


def _bounds(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    bounds = (value,) if isinstance(value, int) else tuple(value)
    if len(bounds) > 3:
        raise ValueError(
            f"Got {len(bounds)} launch bounds: {value!r}. A maximum of three are supported: threads of a block, blocks "
            "of a multiprocessor, blocks of a cluster"
        )
    if not all(isinstance(b, int) and b > 0 for b in bounds):
        raise ValueError(f"launch_bounds must be positive integers, not {value!r}")
    if bounds[:1] > (1024,) or bounds[1:2] > (32,):
        raise ValueError(
            f"launch_bounds are at most 1024 threads of a block and 32 blocks of a multiprocessor, not {value!r}"
        )
    return bounds


def _registers(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 255):
        kind = ValueError if isinstance(value, int) else TypeError
        raise kind(f"max_registers must be an integer from 1 to 255, not {value!r}")
    return value


def _carveout(value: Any) -> int | None:
    if value is None:
        return None
    found = _CARVEOUTS.get(value.lower()) if isinstance(value, str) else value
    if isinstance(found, bool) or not isinstance(found, int) or not -1 <= found <= 100:
        if isinstance(value, str):
            raise ValueError(f"Invalid carveout value: {value!r} is none of 'default', 'maxl1', 'maxshared'")
        kind = ValueError if isinstance(value, int) else TypeError
        words = "'default', 'maxl1' or 'maxshared'"
        raise kind(f"shared_memory_carveout must be between -1 and 100, or {words}, not {value!r}")
    return found


def links_of(value: Any) -> tuple[Any, ...]:
    """One piece of code, or some of them."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple, set, frozenset)) else (value,)


def _checked(given: dict[str, Any], debug: bool, launched: bool) -> int:
    level = level_of(given.get("checked", False), f"cuda.jit(checked={given.get('checked')!r})")
    wish = config.BOUNDSCHECK or config.CUDA_BOUNDSCHECK
    bounds = bool(given.get("boundscheck"))
    if launched:
        level, bounds = max(level, wished()), bounds if wish is None else wish not in ("", "0")
    checked = (RAISES | IMPLIED) * (debug or level >= ON) | BOUNDS * (bounds or level >= ON)
    return checked | WATCHED * (level >= RACES)


def options_of(given: dict[str, Any], depth: int = 1, launched: bool = True) -> Options:
    """Options by name, checked; TypeError names one that is not there. Warnings are about the line that called the
    function ``depth`` calls up. ``launched``: what the environment asks of all kernels counts."""
    for name in _GONE:
        if name in given:
            raise DeprecationError(f"cuda.jit() has no option {name!r} any more: give a signature, or device=True")
    for name in ("nopython", "target", "_target"):
        given.pop(name, None)
    unknown = [name for name in given if name not in Options._fields]
    if unknown:
        from .._errors import did_you_mean

        hint = did_you_mean(unknown[0], Options._fields)
        raise TypeError(f"cuda.jit() has no option {unknown[0]!r}{hint}")
    debug = bool(config.CUDA_DEBUGINFO_DEFAULT if given.get("debug") is None else given["debug"])
    lineinfo = bool(given.get("lineinfo", False))
    opt = bool(config.OPT) if given.get("opt") is None else bool(given["opt"])
    if debug and opt:
        text = "debug=True with opt=True is not supported by CUDA: use one of them"
        warnings.warn(NumbaInvalidConfigWarning(text), stacklevel=depth + 2)
    if debug and lineinfo:
        text = "debug and lineinfo are mutually exclusive: use one of them"
        warnings.warn(NumbaInvalidConfigWarning(text), stacklevel=depth + 2)
    device, links = bool(given.get("device", False)), links_of(given.get("link"))
    if device and links:
        raise ValueError("link keyword invalid for device function: give it to the kernel, or use declare_device()")
    return Options(
        device=device,
        debug=debug,
        opt=opt and not debug,
        lineinfo=lineinfo,
        fastmath=bool(given.get("fastmath", False)),
        cache=bool(given.get("cache", False)),
        lto=bool(given.get("lto") or False),
        forceinline=bool(given.get("forceinline", False)),
        inline=_inline(given.get("inline", "never")),
        link=links,
        launch_bounds=_bounds(given.get("launch_bounds")),
        max_registers=_registers(given.get("max_registers")),
        shared_memory_carveout=_carveout(given.get("shared_memory_carveout")),
        extensions=tuple(given.get("extensions") or ()),
        boundscheck=bool(given.get("boundscheck") or False),
        checked=_checked(given, debug, launched),
    )

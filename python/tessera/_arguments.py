# SPDX-License-Identifier: Apache-2.0
"""Arguments of tile kernels: what parameter each is for, which are arrays, and on which device they lie."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

from . import _core
from ._records import record_of

__all__ = [
    "Whole", "array_args", "bound", "defaults_of", "device_of", "flat", "is_array", "launcher", "parameter_names",
]  # fmt: skip


class Whole(tuple[Any, ...]):
    """Arguments for all parameters of a kernel, those by keyword only last."""


def parameter_names(function: Any) -> tuple[str, ...]:
    """The parameters of a kernel's function, those by keyword only last."""
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def defaults_of(function: Any) -> dict[str, Any]:
    """The defaults of a function's parameters, by name."""
    code, values = function.__code__, function.__defaults__ or ()
    last = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return {**dict(zip(last, values)), **(function.__kwdefaults__ or {})}


def bound(function: Any, args: Any, named: Any, chosen: Collection[str] = ()) -> tuple[Any, ...]:
    """A value for each parameter of a kernel's function, in order: of ``args``, of the mapping ``named``, or its
    default. What is whole already stays as it is.

    Parameters
    ----------
    chosen : collection of str, optional
        Parameters that others give: they are left out.

    Raises
    ------
    TypeError
        Names the kernel, and what is missing, too many, unknown or given twice.
    """
    if isinstance(args, Whole) and not named:
        return args
    code, kernel = function.__code__, f"kernel '{function.__name__}'"
    names = [name for name in parameter_names(function) if name not in chosen]
    positional = [name for name in code.co_varnames[: code.co_argcount] if name not in chosen]
    if not isinstance(named, Mapping):
        raise TypeError(f"{kernel}: kwargs is a {type(named).__name__}; give a dict of arguments by name")
    if len(args) > len(positional):
        but = " by position" if len(names) > len(positional) else ""
        raise TypeError(f"{kernel} takes {_count(positional)}{but}, got {len(args)}")
    values = dict(zip(positional, args))
    for name, value in named.items():
        if name not in names:
            raise TypeError(f"{kernel} {_unknown(name, names, chosen)}")
        if name in values:
            raise TypeError(f"{kernel} got '{name}' twice, by position and by keyword")
        if name in code.co_varnames[: code.co_posonlyargcount]:
            raise TypeError(f"{kernel} takes '{name}' by position only")
        values[name] = value
    values = {**defaults_of(function), **values}
    missing = [f"'{name}'" for name in names if name not in values]
    if missing:
        what = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        raise TypeError(f"{kernel} takes {_count(names)}, got {len(args) + len(named)}: {what}")
    return Whole(values[name] for name in names)


def _count(names: list[str]) -> str:
    return f"{len(names)} argument{'' if len(names) == 1 else 's'} ({', '.join(names)})"


def _unknown(name: Any, names: list[str], chosen: Collection[str]) -> str:
    from ._errors import did_you_mean

    if name in chosen:
        return f"got '{name}' by keyword, but the tuner chooses it"
    hint = did_you_mean(str(name), names) or f"; it takes {', '.join(names)}"
    return f"has no parameter {name!r}{hint}"


def is_array(value: Any) -> bool:
    """Whether kernels take it as an array."""
    if isinstance(value, (bytearray, memoryview)):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return False
    if hasattr(type(value), "__dataclass_fields__"):  # a field may be called shape
        return hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
    return hasattr(value, "shape") and hasattr(value, "dtype")


def array_args(args: Any) -> list[Any]:
    """Arrays among arguments, those in tuples and dataclasses too, and lists of arrays as lists, in order."""
    found: list[Any] = []
    for value in args:
        if isinstance(value, tuple):
            found += array_args(value)
        elif isinstance(value, list) or is_array(value):
            found.append(value)
        elif hasattr(type(value), "__dataclass_fields__"):
            found += array_args(getattr(value, name) for name, *_ in record_of(type(value)).fields)
    return found


def flat(args: Any) -> list[Any]:
    """The arrays among arguments, those of tuples and lists too, in order."""
    return [a for item in array_args(args) for a in (item if isinstance(item, list) else [item])]


def device_of(args: Any) -> str:
    """``"cpu"`` or ``"cuda:N"``, of the first array that is not on the host."""
    for value in flat(args):
        text = str(getattr(value, "device", "cpu"))
        if "cuda" in text.lower() or hasattr(value, "__cuda_array_interface__"):
            digits = "".join(c for c in text if c.isdigit())
            return f"cuda:{digits or 0}"
    return "cpu"


launch = _core.launch  # `python -m tessera report` puts its own here


def launcher(kernel: Any, config: Any) -> Callable[..., None]:
    """What ``kernel[config]`` is: a function that launches it. ``config``: a grid, or (grid, stream) where the grid is
    a tuple."""
    grid, stream = config, None
    if isinstance(config, tuple) and len(config) == 2 and isinstance(config[0], (tuple, list)):
        grid, stream = config

    def run(*args: Any, **named: Any) -> None:
        launch(stream, grid, kernel, args, named)

    return run

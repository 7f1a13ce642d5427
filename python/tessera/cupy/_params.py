# SPDX-License-Identifier: Apache-2.0
"""Parameters of CuPy's kernels: ``"T x, raw float32 y"``, the dtypes that arguments give them, the arguments
themselves."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy

from .. import numeric as tn
from .._errors import did_you_mean
from ..numeric._setup import DTYPES
from ._boundary import Base, placed
from ._ndarray import ndarray

__all__ = ["Param", "check_name", "dtypes_of", "numbers_of", "params_of", "values_of"]


_DTYPES = [dtype.name for dtype in DTYPES if dtype is not None]


class Param(NamedTuple):
    """A parameter: its type is a dtype, or a letter that stands for one."""

    name: str
    type: Any
    is_raw: bool
    is_const: bool


def check_name(name: str) -> None:
    """ValueError unless a kernel may have the name."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f'Invalid kernel name: "{name}"')


def params_of(text: str, kernel: str, reserved: frozenset[str] = frozenset()) -> tuple[Param, ...]:
    """Reads a list of parameters.

    Raises
    ------
    ValueError
        It is none, or a name is reserved.
    """
    made: list[Param] = []
    for part in filter(None, map(str.strip, text.split(","))):
        words = part.split()
        is_raw, is_const = "raw" in words[:-2], "_non_const" not in words[:-2]
        rest = [w for w in words if w not in ("raw", "const", "_non_const")]
        if len(rest) != 2 or not re.fullmatch(r"[A-Za-z_]\w*", rest[1]):
            raise ValueError(f"{kernel}: a parameter is a type and a name, found {part!r}")
        kind, name = rest
        if name in reserved or name.startswith("_"):
            raise ValueError(f"Can not use {name!r} as a parameter name")
        if any(name == p.name for p in made):
            raise ValueError(f"{kernel}: two parameters are named {name!r}")
        made.append(Param(name, _type_of(kind, kernel), is_raw, is_const))
    return tuple(made)


def _type_of(word: str, kernel: str) -> Any:
    if len(word) == 1 and word not in "?":
        return word
    try:
        found = numpy.dtype(word)
    except TypeError:
        raise ValueError(
            f"{kernel}: there is no dtype {word!r}{did_you_mean(word, _DTYPES)}; a letter as T stands for one"
        ) from None
    if found.name != word:  # C and NumPy mean different ones by int and float
        raise ValueError(f"{kernel}: Wrong type {word}; write the dtype's name, as int32 or float32")
    return found


def checked(x: Any, name: str) -> Any:
    """An argument: an array of tessera.numeric, or a number of NumPy's or Python's."""
    if isinstance(x, Base):
        return x._as(Base) if type(x) is not Base else x
    if isinstance(x, (numpy.generic, bool, int, float, complex)):
        return x
    raise TypeError(
        f"Unsupported type {type(x)}: an argument of {name} is an array or a number; use cupy.asarray(x)"
    )


def numbers_of(x: Any) -> numpy.dtype[Any]:
    """The dtype of an argument; Python's numbers have NumPy's."""
    return x.dtype if hasattr(x, "dtype") else numpy.asarray(x).dtype


def dtypes_of(params: tuple[Param, ...], args: Any, types: dict[str, Any]) -> dict[str, Any]:
    """What the letters stand for, from arguments: arrays first, then NumPy's numbers, then Python's.

    Raises
    ------
    TypeError
        Two arguments say different things, or an array is not of the dtype that its parameter names.
    """

    def rank(pair: Any) -> int:
        x = pair[1]
        return 0 if isinstance(x, Base) else 1 if hasattr(x, "dtype") else 2

    for param, x in sorted(zip(params, args, strict=True), key=rank):
        found, is_array = numbers_of(x), isinstance(x, Base)
        if isinstance(param.type, str):
            wanted = types.setdefault(param.type, found)
        else:
            wanted = param.type
        if is_array and found != wanted:
            raise TypeError(
                f"Type is mismatched. {param.name} {found.name} {numpy.dtype(wanted).name}"
            )
    return types


def concrete(param: Param, types: dict[str, Any], kernel: str) -> numpy.dtype[Any]:
    """The dtype of a parameter."""
    if not isinstance(param.type, str):
        return param.type  # type: ignore[no-any-return]
    if param.type not in types:
        raise ValueError(f"{kernel}: no argument says what {param.type} of {param.name!r} is")
    return types[param.type]  # type: ignore[no-any-return]


def values_of(args: Any, kinds: Any) -> list[Any]:
    """Numbers as those of their parameters' dtypes."""
    return [
        x if isinstance(x, Base) else numpy.asarray(x).astype(kind)[()]
        for x, kind in zip(args, kinds, strict=True)
    ]


def new_array(shape: Any, dtype: Any, like: Any = None) -> Any:
    """A result: where its operands lie."""
    if like is not None:
        device = None if like.device == tn.default_device() else like.device
        return tn.empty(shape, dtype, device=device)
    return placed(lambda: tn.empty(shape, dtype))


def as_cupys(a: Any) -> Any:
    """A result as CuPy's array."""
    if type(a) is Base:
        a.__class__ = ndarray
    return a

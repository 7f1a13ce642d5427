# SPDX-License-Identifier: Apache-2.0
"""What the library's functions ask of their arguments before a launch: kernels clip and pad at the
ends of arrays, so that wrong shapes would compute something. Tuples are compared and nothing else:
launches are short. Every check raises an error that names the function and the argument.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def shape_of(function: str, name: str, array: Any) -> tuple[int, ...]:
    """The array's shape; TypeError for what has none, or no dtype."""
    if not hasattr(array, "dtype") or not hasattr(array, "shape"):
        raise TypeError(f"{function}: {name} is a {type(array).__name__}; pass an array")
    return tuple(array.shape)


def rank(function: str, name: str, array: Any, n: int) -> tuple[int, ...]:
    """The shape of an array that must have ``n`` axes."""
    found = shape_of(function, name, array)
    if len(found) != n:
        axes = "1 axis" if n == 1 else f"{n} axes"
        vector = n == 2 and len(found) == 1
        hint = "; reshape a vector to a matrix of one row or column" if vector else ""
        raise ValueError(f"{function}: {name} has shape {found}, wanted {axes}{hint}")
    return found


def shape(function: str, name: str, array: Any, wanted: tuple[int, ...]) -> None:
    """One array of a known shape."""
    found = shape_of(function, name, array)
    if found != wanted:
        raise ValueError(f"{function}: {name} has shape {found}, wanted {wanted}")


def same_shape(function: str, **arrays: Any) -> None:
    """Every array has the shape of the first."""
    (first, array), *rest = arrays.items()
    wanted = shape_of(function, first, array)
    for name, other in rest:
        found = shape_of(function, name, other)
        if found != wanted:
            text = f"{name} has shape {found}, wanted {wanted}, the shape of {first}"
            raise ValueError(f"{function}: {text}")


def size(function: str, name: str, array: Any, wanted: int) -> None:
    """An array of any shape with so many elements."""
    found, n = shape_of(function, name, array), 1
    for extent in found:
        n *= extent
    if n != wanted:
        text = f"{name} has shape {found}, {n} elements, wanted {wanted}"
        raise ValueError(f"{function}: {text}")


def product(function: str, n: int, a: Any, b: Any, c: Any) -> None:
    """``c = a @ b`` over the last two of ``n`` axes; those before them agree."""
    left, right = rank(function, "a", a, n), rank(function, "b", b, n)
    fits = (*left[:-2], left[-1], right[-1])
    if right != fits:
        text = f"b has shape {right}, wanted {fits} for a of shape {left}"
        raise ValueError(f"{function}: {text}")
    shape(function, "c", c, (*left[:-1], right[-1]))


def integer(function: str, name: str, value: Any, least: int, most: int) -> int:
    """A whole number of a range."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {name} is {value!r}, wanted an int") from None
    if not least <= found <= most:
        raise ValueError(f"{function}: {name} is {value}, wanted {least} to {most}")
    return found


def real(function: str, name: str, value: Any) -> float:
    """A number, which kernels take as it is."""
    if not isinstance(value, (float, int)) and not hasattr(value, "__float__"):
        raise TypeError(f"{function}: {name} is {value!r}, wanted a number")
    return float(value)


TILE_ELEMENTS = 1 << 24  # of one tile, the limit of the tile language


def _extent(value: Any) -> int:
    """A power of two as an int; 0 for anything else."""
    found = operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else 0
    return found if found > 0 and not found & (found - 1) else 0


def tile(function: str, name: str, given: Any, n: int) -> tuple[int, ...]:
    """The extents of a tile along ``n`` axes; for one axis an int. Any two of them make a tile within the limit."""
    items = tuple(given) if isinstance(given, (tuple, list)) else (given,) * (n == 1)
    found = tuple(map(_extent, items))
    if len(found) != n or not all(found):
        wanted = "a power of two" if n == 1 else f"{n} powers of two"
        raise ValueError(f"{function}: {name} is {given!r}, wanted {wanted}")
    elements = math.prod(sorted(found)[-2:])
    if elements > TILE_ELEMENTS:
        raise ValueError(
            f"{function}: {name} is {given!r}, which makes tiles of {elements} elements; the limit is {TILE_ELEMENTS}"
        )
    return found


def named(function: str, op: str, table: Mapping[str, T]) -> T:
    """The entry of an operation's name."""
    if not isinstance(op, str):
        raise TypeError(
            f"{function}: op is a {type(op).__name__}, wanted one of {', '.join(table)}"
        )
    if op not in table:
        raise ValueError(f"{function}: op is {op!r}, wanted one of {', '.join(table)}")
    return table[op]

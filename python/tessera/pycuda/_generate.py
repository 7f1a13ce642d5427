# SPDX-License-Identifier: Apache-2.0
"""From C snippets to kernels: the loop over elements that elementwise and reduction kernels share.

An array of any strides can stand for ``x``: in the snippet ``x[i]`` becomes ``x[x_i]``, and ``x_i``
is found from ``i`` by the strides of the call. When all arrays lie in memory in the same order,
which is the usual case, ``x_i`` is ``i`` and costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._context import Context
from ._dtypes import Argument, PointerArg
from ._module import Function
from .compiler import SourceModule

__all__ = ["Layout", "cached", "compiled", "convert", "declare_strides", "find_indices", "grid_of", "layout_of",
           "module_function",
           "substitute", "takes_strides"]  # fmt: skip

BLOCK = 256


def cached(key: Any, make: Callable[[], Any]) -> Any:
    """make(), remembered in the current context."""
    cache = Context.get_current()._cache
    try:
        return cache[key]
    except KeyError:
        cache[key] = made = make()
        return made


def compiled(owner: Any, key: Any, make: Callable[[], Any]) -> Any:
    """make(), remembered in the current context for as long as `owner` lives."""
    made = Context.get_current()._compiled.setdefault(owner, {})
    if key not in made:
        made[key] = make()
    return made[key]


def grid_of(n: int, block: int = BLOCK) -> int:
    """Blocks for n elements: enough for the device, each loops over what is left."""
    most = cached("grid", lambda: 32 * Context.get_device().multiprocessor_count)
    return max(1, min(-(-n // block), most))


def module_function(source: str, name: str, options: Any = None, keep: bool = False) -> Function:
    """The kernel `name` of a source that is C++, with the operations of ops.hpp at hand."""
    text = f"#include <tessera/ops.hpp>\n{source}"
    module = SourceModule(text, options=options, keep=keep, no_extern_c=True)
    return module.get_function(name)  # type: ignore[no-any-return]


# ---- strides -------------------------------------------------------------------------------------


class Layout:
    """Shape and element strides of the arrays of a call, axes that go together joined.

    `rank` 0 stands for arrays that lie in memory in one order.
    """

    __slots__ = ("n", "numbers", "rank")

    def __init__(self, rank: int, n: int, numbers: Sequence[int] = ()) -> None:
        self.rank, self.n, self.numbers = rank, n, numbers


def _joined(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Axes of one element dropped, and neighbours joined where every array allows it."""
    axes = [axis for axis, n in enumerate(shape) if n != 1]
    dims: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis in axes:
        row = [s[axis] for s in strides]
        if dims and all(old[-1] == new * shape[axis] for old, new in zip(steps, row, strict=True)):
            dims[-1] *= shape[axis]
            for old, new in zip(steps, row, strict=True):
                old[-1] = new
        else:
            dims.append(shape[axis])
            for old, new in zip(steps, row, strict=True):
                old.append(new)
    return dims, steps


def layout_of(arrays: Sequence[Any], shape: tuple[int, ...] | None = None) -> Layout:
    """The layout of arrays of one shape, or of arrays that are broadcast to `shape`.

    Without a shape, arrays in C order go together by their index in memory, whatever their shapes.
    """
    first = arrays[0]
    if shape is None:
        if all(a.flags.c_contiguous for a in arrays):
            return Layout(0, first.size)
        shape = first.shape
    if all(a.shape == shape and a.strides == first.strides for a in arrays) and first.flags.forc:
        if all(a.dtype.itemsize == first.dtype.itemsize for a in arrays):
            return Layout(0, first.size)
    if all(a.shape == shape and a.flags.c_contiguous for a in arrays):
        return Layout(0, first.size)
    if all(a.shape == shape and a.flags.f_contiguous for a in arrays):
        return Layout(0, first.size)
    n = 1
    for size in shape:
        n *= size
    dims, steps = _joined(shape, [_element_strides(a, shape) for a in arrays])
    if not dims or (len(dims) == 1 and all(step == [1] for step in steps)):
        return Layout(0, n)
    return Layout(len(dims), n, [*dims, *(s for step in steps for s in step)])


def _element_strides(array: Any, shape: tuple[int, ...]) -> list[int]:
    """Strides in elements, 0 where an axis is broadcast."""
    size, missing = array.dtype.itemsize, len(shape) - len(array.shape)
    steps = []
    for axis, n in enumerate(shape):
        own = axis - missing
        if own < 0 or (array.shape[own] == 1 and n != 1):
            steps.append(0)
            continue
        if array.shape[own] != n:
            raise ValueError(f"shape {array.shape} cannot be broadcast to {shape}")
        if array.strides[own] % size:
            raise ValueError(f"strides {array.strides} are not whole elements of {array.dtype}")
        steps.append(array.strides[own] // size)
    return steps


# ---- text ----------------------------------------------------------------------------------------


def substitute(text: str, vectors: Sequence[Argument]) -> str:
    """``x[i]`` of each array as ``x[x_i]``."""
    for argument in vectors:
        text = re.sub(rf"\b{argument.name}\s*\[\s*i\s*\]", f"{argument.name}[{argument.name}_i]", text)
    return text


def takes_strides(text: str, vectors: Sequence[Argument]) -> bool:
    """Whether a snippet reads every array at [i] only."""
    return not any(
        re.search(rf"\b{a.name}\b(?!\s*\[\s*i\s*\])", text) for a in vectors
    )


def declare_strides(vectors: Sequence[Argument], rank: int) -> list[str]:
    """Parameters for the shape and the strides of each array."""
    names = [f"_d{axis}" for axis in range(rank)]
    names += [f"{a.name}_s{axis}" for a in vectors for axis in range(rank)]
    return [f"long long {name}" for name in names]


def find_indices(vectors: Sequence[Argument], rank: int) -> str:
    """C that finds x_i for every array from i."""
    if rank == 0:
        return "".join(f"const long long {a.name}_i = i;\n" for a in vectors)
    lines = ["unsigned long long _rest = i, _at;", *(f"long long {a.name}_i = 0;" for a in vectors)]
    for axis in reversed(range(rank)):
        last = axis == 0
        lines.append("_at = _rest;" if last else f"_at = _rest % _d{axis}; _rest /= _d{axis};")
        lines += [f"{a.name}_i += (long long)_at * {a.name}_s{axis};" for a in vectors]
    return "\n".join(lines) + "\n"


def convert(argument: Argument, value: Any) -> Any:
    """A Python value as the numpy scalar that a kernel's scalar argument wants."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(argument, PointerArg) or argument.dtype.kind == "V":
        return value
    return argument.dtype.type(value)

# SPDX-License-Identifier: Apache-2.0
"""What lies around each element: shifted views of a padded array, which fuse with what is done with them.

    x           a b c d                  size 3, mode "nearest"
    padded    a a b c d d
    views     a a b c | a b c d | b c d d      of offsets 0, 1, 2: sums of them are correlations, maxima dilations
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from ... import numeric as tn

__all__ = ["array_of", "axes_of", "finish", "folded", "padded", "per_axis", "surrounded", "views"]

# SciPy's names of what lies beyond an array, and those of numpy.pad.
_MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip


def array_of(x: Any) -> Any:
    """An array of tessera.numeric."""
    return x if isinstance(x, tn.ndarray) else tn.asarray(x)


def axes_of(ndim: int, axes: Any) -> tuple[int, ...]:
    """The axes that are filtered, counted from 0; None: all."""
    if axes is None:
        return tuple(range(ndim))
    given = axes if isinstance(axes, Sequence) else (axes,)
    made = tuple(tn.lib.array_utils.normalize_axis_index(operator.index(a), ndim) for a in given)
    if len(set(made)) != len(made):
        raise ValueError("axes must be unique")
    return made


def per_axis(value: Any, n: int, name: str = "sequence argument") -> tuple[Any, ...]:
    """A value for each of ``n`` axes, from one or from a sequence of them."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return (value,) * n
    if len(value) != n:
        raise RuntimeError(f"{name} must have length equal to input rank")
    return tuple(value)


def padded(x: Any, widths: Sequence[tuple[int, int]], modes: Sequence[str], cval: Any) -> Any:
    """An array with what lies beyond it, axis by axis."""
    for axis, (width, mode) in enumerate(zip(widths, modes, strict=True)):
        if mode not in _MODES:
            raise RuntimeError(f"boundary mode not supported: {mode!r}; there are {', '.join(_MODES)}")
        if width == (0, 0):
            continue
        around = [(0, 0)] * x.ndim
        around[axis] = width
        options = {"constant_values": cval} if _MODES[mode] == "constant" else {}
        x = tn.pad(x, around, mode=_MODES[mode], **options)
    return x


def surrounded(
    x: Any, shape: Sequence[int], origins: Sequence[int], modes: Sequence[str], cval: Any
) -> Any:
    """An array with as much around it as a window of a shape sees."""
    widths = []
    for size, origin in zip(shape, origins, strict=True):
        before = size // 2 + origin
        if not 0 <= before < size:
            raise ValueError("invalid origin")
        widths.append((before, size - 1 - before))
    return padded(x, widths, modes, cval)


def views(
    x: Any, shape: Sequence[int], origins: Sequence[int], modes: Sequence[str], cval: Any, places: Any
) -> Iterator[Any]:
    """For each place of a window that is named, the elements of ``x`` that lie there."""
    around = surrounded(x, shape, origins, modes, cval)
    for place in places:
        yield around[tuple(slice(p, p + n) for p, n in zip(place, x.shape, strict=True))]


def folded(items: Iterator[Any], join: Callable[[Any, Any], Any]) -> Any:
    """One array of many, joined two by two from the first on."""
    made = next(items)
    for item in items:
        made = join(made, item)
    return made


def finish(made: Any, like: Any, output: Any) -> Any:
    """The result as the ``output`` that was asked for: a dtype, an array to fill, or as the input is."""
    if isinstance(output, tn.ndarray):
        if output.shape != made.shape:
            raise RuntimeError(f"output shape not correct: {output.shape} for {made.shape}")
        output[...] = _cast(made, output.dtype)
        return output
    return tn.ascontiguousarray(_cast(made, like.dtype if output is None else numpy.dtype(output)))


def _cast(x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind != "c":
        raise RuntimeError("output must have complex dtype")
    if dtype.kind in "bu" and dtype.itemsize < 8 and x.dtype.kind == "f":  # as C's casts to bytes: -1 is 255
        x = x.astype("i8")
        x = x.astype("u1") if dtype.kind == "b" else x  # 0.5 and 256 are False
    return x.astype(dtype, copy=False)

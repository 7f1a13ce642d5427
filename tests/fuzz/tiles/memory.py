# SPDX-License-Identifier: Apache-2.0
"""The second reading: arrays in memory, and what one block does with them in program order.

An array is a window of a buffer: arrays of one buffer see each other's stores, as parameters that
alias do. Where one operation writes different values to one place, the language leaves the result
open: the place is then unknown (its bound is inf).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .shapes import shape_of
from .values import Tile, Unknown, astype, is_float, known

PAD = {
    None: None,
    "ZERO": 0.0,
    "NEG_ZERO": -0.0,
    "NAN": math.nan,
    "POS_INF": math.inf,
    "NEG_INF": -math.inf,
}


class Array:
    """A parameter: values with bounds (windows of `memory` and `doubt`), and what a kernel may ask of it."""

    def __init__(self, dt: str, v: Any, e: Any, memory: Any, doubt: Any) -> None:
        self.dt, self.v, self.e, self.memory, self.doubt = dt, v, e, memory, doubt

    @classmethod
    def of(cls, start: Tile) -> Array:
        """An array with memory of its own."""
        v, e = start.v.copy(), start.err.copy()
        return cls(start.dt, v, e, v.reshape(-1), e.reshape(-1))

    def window(self, take: Callable[[Any], Any]) -> Array:
        """The array that `take` (a NumPy expression which gives a view) makes of this one."""
        return Array(self.dt, take(self.v), take(self.e), self.memory, self.doubt)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.v.shape)

    @property
    def ndim(self) -> int:
        return int(self.v.ndim)

    @property
    def dtype(self) -> str:
        return self.dt

    def slice(self, axis: int, start: Any, stop: Any) -> Array:
        first = max(start.__index__(), 0)
        last = max(min(stop.__index__(), self.shape[axis]), first)
        part = slice(first, last)
        return self.window(lambda a: a[(slice(None),) * axis + (part,)])

    def tiled_view(
        self, shape: Any, *, padding_mode: str | None = None, traversal_steps: Any = None
    ) -> View:
        return View(self, shape_of(shape), padding_mode, traversal_steps)

    def get_raw_memory(self) -> Raw:
        return Raw(self)


def order_of(order: Any, n: int) -> tuple[int, ...]:
    if isinstance(order, str):
        return tuple(range(n)) if order == "C" else tuple(reversed(range(n)))
    return tuple(order)


def places(
    a: Array, index: Any, shape: tuple[int, ...], order: Any, step: Any = None
) -> tuple[list[Any], Any]:
    """Index grids into the array, in tile axes, and where they are inside."""
    at = [i.__index__() for i in ([index] if isinstance(index, Tile) else shape_of(index))]
    axes = order_of(order, len(shape))
    grids: list[Any] = [None] * len(shape)
    inside = np.ones(shape, bool)
    for k, n in enumerate(shape):
        line = [-1 if j == k else 1 for j in range(len(shape))]
        place = at[k] * (step[k] if step else n) + np.arange(n).reshape(line)
        inside &= (place >= 0) & (place < a.shape[axes[k]])
        grids[axes[k]] = np.broadcast_to(place, shape)
    return grids, inside


def read(a: Array, grids: Any, inside: Any, pad: Tile | None) -> Tile:
    """The elements at the places inside; `pad` (None: unknown) at the others."""
    if min(a.shape, default=1) == 0:
        v, e = np.zeros(inside.shape, a.v.dtype), np.zeros(inside.shape)
    else:
        safe = tuple(np.where(inside, g, 0) for g in grids)
        v, e = a.v[safe], a.e[safe]
    filler = v.dtype.type(1) if pad is None else pad.v
    doubt = np.inf if pad is None else pad.err
    return Tile(np.where(inside, v, filler), a.dt, np.where(inside, e, doubt))


def write(a: Array, grids: Any, inside: Any, tile: Any) -> None:
    """Writes the places inside; those that get several values are unknown after it."""
    tile = astype(tile if isinstance(tile, Tile) else Tile(tile, a.dt), a.dt)
    at = tuple(g[inside] for g in grids)
    v = np.broadcast_to(tile.v, inside.shape)[inside]
    e = np.broadcast_to(tile.err, inside.shape)[inside]
    a.v[at], a.e[at] = v, e
    lost = (a.v[at] != v) & ~(np.isnan(v) if v.dtype.kind in "fc" else False)
    if lost.any():
        a.e[tuple(g[lost] for g in at)] = np.inf


def load(
    a: Array,
    index: Any,
    shape: Any,
    *,
    order: Any = "C",
    padding_mode: str | None = None,
    step: Any = None,
    **_: Any,
) -> Tile:
    grids, inside = places(a, index, shape_of(shape), order, step)
    pad = PAD[padding_mode]
    return read(a, grids, inside, None if pad is None else Tile(pad if is_float(a.dt) else 0, a.dt))


def store(a: Array, index: Any, tile: Any, *, order: Any = "C", step: Any = None, **_: Any) -> None:
    tile = tile if isinstance(tile, Tile) else Tile(tile, a.dt)
    shape = tile.shape if tile.shape else (1,) * a.ndim
    tile = tile.like(lambda v: np.broadcast_to(v, shape))
    grids, inside = places(a, index, shape, order, step)
    write(a, grids, inside, tile)


class View:
    """`array.tiled_view(...)`."""

    def __init__(self, a: Array, shape: tuple[int, ...], pad: str | None, steps: Any) -> None:
        self.a, self.shape, self.pad, self.steps = a, shape, pad, steps

    def load(self, index: Any, **_: Any) -> Tile:
        return load(self.a, index, self.shape, padding_mode=self.pad, step=self.steps)

    def store(self, index: Any, tile: Tile, **_: Any) -> None:
        wide = tile if tile.shape else tile.like(lambda v: np.broadcast_to(v, self.shape))
        store(self.a, index, wide, step=self.steps)


def rows(a: Array, indices: Any) -> tuple[list[Any], Any]:
    """What `load_advanced_indexing` names: one axis by a tile of indices, the others by ranges."""
    lengths = [i.length if isinstance(i, Range) else i.shape[0] for i in indices]
    grids, inside = [], np.ones(tuple(lengths), bool)
    for k, i in enumerate(indices):
        line = [-1 if j == k else 1 for j in range(len(indices))]
        at = np.arange(i.length) + i.start if isinstance(i, Range) else known(i).v.astype(np.int64)
        place = at.reshape(line)
        inside &= (place >= 0) & (place < a.shape[k])
        grids.append(np.broadcast_to(place, tuple(lengths)))
    return grids, inside


class Range:
    """`ct.Slice`."""

    def __init__(self, start: Any, length: int) -> None:
        self.start, self.length = start.__index__(), length


def load_advanced(a: Array, indices: Any, *, padding_mode: str | None = None, **_: Any) -> Tile:
    grids, inside = rows(a, indices)
    pad = PAD[padding_mode]
    return read(a, grids, inside, None if pad is None else Tile(pad if is_float(a.dt) else 0, a.dt))


def store_advanced(a: Array, indices: Any, tile: Tile, **_: Any) -> None:
    grids, inside = rows(a, indices)
    write(a, grids, inside, tile)


def spread(a: Array, indices: Any, mask: Any = None) -> tuple[list[Any], Any]:
    """The places that a tuple of index tiles names, and which are inside and not masked."""
    parts = indices if isinstance(indices, tuple) else (indices,)
    numbers = [known(p).v.astype(np.int64) if isinstance(p, Tile) else np.asarray(p) for p in parts]
    grids = list(np.broadcast_arrays(*numbers))
    inside = np.ones(grids[0].shape, bool)
    for p, n in zip(grids, a.shape, strict=True):
        inside &= (p >= 0) & (p < n)
    return grids, inside if mask is None else inside & known(mask).v


def gather(a: Array, indices: Any, *, mask: Any = None, padding_value: Any = 0, **_: Any) -> Tile:
    grids, inside = spread(a, indices, mask)
    pad = padding_value if isinstance(padding_value, Tile) else Tile(padding_value, a.dt)
    return read(a, grids, inside, pad)


def scatter(a: Array, indices: Any, value: Any, *, mask: Any = None, **_: Any) -> None:
    grids, inside = spread(a, indices, mask)
    write(a, grids, inside, value)


def _exchange(old: Any, new: Any) -> Any:
    return new


ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": _exchange,
}


def atomic(name: str) -> Callable[..., Tile]:
    """An atomic: what it leaves in memory, and the old values, unknown where several lanes meet."""
    f = ATOMICS[name]

    def run(a: Array, indices: Any, update: Any, *, mask: Any = None, **_: Any) -> Tile:
        grids, inside = spread(a, indices, mask)
        update = astype(update if isinstance(update, Tile) else Tile(update, a.dt), a.dt)
        if np.any(update.err > 0):
            raise Unknown
        at = tuple(p[inside] for p in grids)
        u = np.broadcast_to(update.v, inside.shape)[inside]
        count = np.zeros(a.shape, int)
        np.add.at(count, at, 1)
        several = np.zeros(inside.shape)
        several[inside] = np.where(count[at] > 1, np.inf, 0.0)
        old = read(a, grids, inside, Tile(0, a.dt))
        if f is _exchange:
            write(a, grids, inside, update)
        else:
            f.at(a.v, at, u)  # type: ignore[attr-defined]
        doubt = np.where(inside, np.maximum(old.err, several), np.inf)
        return Tile(old.v, a.dt, doubt)

    return run


def atomic_cas(a: Array, indices: Any, expected: Any, desired: Any, **_: Any) -> Tile:
    grids, inside = spread(a, indices)
    old = read(a, grids, inside, Tile(0, a.dt))
    want = astype(expected if isinstance(expected, Tile) else Tile(expected, a.dt), a.dt)
    equal = known(Tile(old.v == want.v, "bool_", np.maximum(old.err, want.err))).v
    write(a, grids, inside & equal, desired)
    return Tile(old.v, a.dt, np.where(inside, old.err, np.inf))


class Raw:
    """`array.get_raw_memory()`: elements by their distance from the array's first one."""

    def __init__(self, a: Array) -> None:
        first = a.v.__array_interface__["data"][0] - a.memory.__array_interface__["data"][0]
        first //= a.v.itemsize
        self.a = Array(a.dt, a.memory[first:], a.doubt[first:], a.memory, a.doubt)

    def load_offset(self, offset: Any, **options: Any) -> Tile:
        return gather(self.a, offset, **options)

    def store_offset(self, offset: Any, value: Any, **options: Any) -> None:
        scatter(self.a, offset, value, **options)

    def atomic_add_offset(self, offset: Any, update: Any, **options: Any) -> Tile:
        return atomic("add")(self.a, offset, update, **options)

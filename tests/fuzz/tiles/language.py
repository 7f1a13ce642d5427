# SPDX-License-Identifier: Apache-2.0
"""The second reading: the `ct` that a kernel's own source sees when it runs for one block."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import complexes, memory, shapes, values
from .functions import FUNCTIONS
from .shapes import shape_of
from .values import BITS, INTS, Tile, astype, is_float, smooth


def full(shape: Any, value: Any, dtype: str) -> Tile:
    if not isinstance(value, Tile):
        return Tile(np.full(shape_of(shape), value), dtype)
    return astype(value, dtype).like(lambda v: np.broadcast_to(v, shape_of(shape)))


def arange(n: int, *, dtype: str, start: Any = 0, step: Any = 1) -> Tile:
    i: Any = Tile(np.arange(n), dtype)
    if isinstance(start, Tile) or isinstance(step, Tile) or start or step != 1:
        i = i * astype(step, dtype) if isinstance(step, Tile) else astype(i * step, dtype)
        i = i + (astype(start, dtype) if isinstance(start, Tile) else start)
    assert isinstance(i, Tile)
    return i


def pack_to_bytes(x: Tile) -> Tile:
    raw = np.ascontiguousarray(values.to_bits(x)).reshape(-1)
    bad = x.err.reshape(-1) > 0
    if is_float(x.dt):
        bad = bad | np.isnan(x.v.reshape(-1)) | (x.v.reshape(-1) == 0)
    return Tile(raw.view(np.uint8), "uint8", np.where(np.repeat(bad, raw.itemsize), np.inf, 0.0))


def unpack_from_bytes(x: Tile, dt: str) -> Tile:
    raw = np.ascontiguousarray(x.v)
    raw = raw.view(np.uint16 if dt == "bfloat16" else np.dtype(dt))
    doubt = x.err.reshape(-1, BITS[dt] // 8).max(1)
    return values.from_bits(raw, dt, np.where(doubt > 0, np.inf, 0.0))


def isnan(x: Tile) -> Tile:
    return Tile(np.isnan(x.v), "bool_", np.where(np.isinf(x.err), np.inf, 0))


def transpose(x: Tile, a: int = 0, b: int = 1) -> Tile:
    return x.like(lambda v: np.swapaxes(v, a, b))


def num_tiles(a: memory.Array, axis: int, shape: Any, order: Any = "C") -> Tile:
    extent = a.shape[memory.order_of(order, a.ndim)[axis]]
    return Tile(-(-extent // shape_of(shape)[axis]), "int32")


def counted(*bounds: Any) -> Iterator[Tile]:
    """`range` of a kernel: its numbers are int32 scalars."""
    return (Tile(i, "int32") for i in range(*(b.__index__() for b in bounds)))


def function(f: Callable[[Any], Any], slope: float | None = None) -> Callable[[Tile], Tile]:
    return lambda x: smooth(f, x, slope=slope)


Tile.reshape = lambda x, *s: shapes.reshape(x, s[0] if len(s) == 1 else s)  # type: ignore[attr-defined]
Tile.__matmul__ = lambda x, y: shapes.matmul(x, y)
Tile.astype = astype  # type: ignore[attr-defined]
Tile.permute = shapes.permute  # type: ignore[attr-defined]
Tile.item = lambda x: x.like(lambda a: a.reshape(()))  # type: ignore[attr-defined]
Tile.__getitem__ = lambda x, key: x.like(lambda a: a[key])

MATH: dict[str, Any] = {
    "rsqrt": function(lambda v: 1 / np.sqrt(v)),
    "sin": function(np.sin, 1.0),
    "cos": function(np.cos, 1.0),
    **{
        name: function(getattr(np, name)) for name in ("exp", "exp2", "log", "log2", "tanh", "sinh")
    },
    "sqrt": values.sqrt,
    "abs": values.absolute,
    "negative": values.negative,
    "complex": complexes.join,
    "conj": complexes.conj,
    "real": lambda x: complexes.part(x, "real"),
    "imag": lambda x: complexes.part(x, "imag"),
    "floor": lambda x: values.whole(x, np.floor),
    "ceil": lambda x: values.whole(x, np.ceil),
    "isnan": isnan,
    "maximum": lambda x, y, *, propagate_nan=False: values.extreme(x, y, True, propagate_nan),
    "minimum": lambda x, y, *, propagate_nan=False: values.extreme(x, y, False, propagate_nan),
    "cdiv": lambda a, b: -(-a // b),
    "astype": astype,
    "bitcast": values.bitcast,
    "where": shapes.where,
}
SHAPES: dict[str, Any] = {
    "cat": shapes.cat,
    "extract": shapes.extract,
    "insert": shapes.insert,
    "reshape": shapes.reshape,
    "permute": shapes.permute,
    "transpose": transpose,
    "expand_dims": lambda x, axis: x.like(lambda a: np.expand_dims(a, axis)),
    "broadcast_to": lambda x, s: x.like(lambda a: np.broadcast_to(a, shape_of(s))),
    "full": full,
    "zeros": lambda s, d: full(s, 0, d),
    "ones": lambda s, d: full(s, 1, d),
    "arange": arange,
    "pack_to_bytes": pack_to_bytes,
    "unpack_from_bytes": unpack_from_bytes,
}
REDUCTIONS: dict[str, Any] = {
    "sum": shapes.add_up,
    "prod": shapes.prod,
    "max": shapes.largest,
    "min": lambda x, axis=None, **k: shapes.largest(x, axis, big=False, **k),
    "argmax": shapes.argmax,
    "argmin": lambda x, axis=None, **k: shapes.argmax(x, axis, big=False, **k),
    "cumsum": shapes.running,
    "cumprod": lambda x, axis=0, **k: shapes.running(x, axis, times=True, **k),
    "reduce": shapes.fold,
    "scan": lambda x, axis, f, i, *, reverse=False: shapes.fold(
        x, axis, f, i, scan=True, reverse=reverse
    ),
    "mma": shapes.mma,
    "matmul": shapes.matmul,
}
MEMORY: dict[str, Any] = {
    "load": memory.load,
    "store": memory.store,
    "gather": memory.gather,
    "scatter": memory.scatter,
    "num_tiles": num_tiles,
    "load_advanced_indexing": memory.load_advanced,
    "store_advanced_indexing": memory.store_advanced,
    "Slice": memory.Range,
    "atomic_cas": memory.atomic_cas,
    **{f"atomic_{name}": memory.atomic(name) for name in memory.ATOMICS},
}
NAMES: dict[str, Any] = {
    **{name: name for name in (*BITS, *INTS)},
    **FUNCTIONS,
    **MATH,
    **SHAPES,
    **REDUCTIONS,
    **MEMORY,
    "Constant": {int: None},
    "PaddingMode": types.SimpleNamespace(**{n: n for n in memory.PAD if n}, UNDETERMINED=None),
    "static_iter": lambda x: x,
}


def block(bid: tuple[int, ...], grid: tuple[int, ...]) -> types.SimpleNamespace:
    """The `ct` of one block."""
    return types.SimpleNamespace(
        **NAMES,
        bid=lambda k: Tile(bid[k], "int32"),
        num_blocks=lambda k: Tile(grid[k], "int32"),
    )

# SPDX-License-Identifier: Apache-2.0
"""Tile programs by example: what happens to one tile of the result, with products of whole arrays.

A convenience over ``tessera.tile`` for the shortest programs; ``cuda.tiles`` under ``python -m tessera run``.

    @tiles.tile_kernel(tile_size=(64, 64))
    def layer(x, w, bias, out):
        y = tiles.load_shared(x) @ tiles.load_shared(w)
        tiles.store(out, tiles.compute(y + tiles.load(bias)))

    layer(x, w, bias, out)

At each call the function runs once, on tiles that only note what is done with them; from that the source of a tile
kernel is made, which is compiled at its first launch and found again for the same steps, dtypes and layouts.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import tessera.tile as ct
from tessera import _core

from .lib import _check as check

__all__ = ["Tile", "compute", "load", "load_shared", "store", "tile_kernel"]

_PAIR = bytes((0, 1, 0))  # for _core.conflict: the first of two arrays is written, and may not be the other
DEPTH = 32  # of the steps along K, when tile_size does not say
_SUMS = {"int8": "int32", "uint8": "int32", "float64": "float64"}  # others: float32


class _Trace:
    """What one call of the function does: its arrays by name, the lines of its kernel."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.lines: list[str] = []
        self.results: list[Any] = []
        self.stored: list[tuple[int, int]] = []
        self.factors: list[Any] = []  # operands of products, of which each block reads more than its own tile
        self.n_sums = 0

    def name(self, array: Any) -> str:
        for i, known in enumerate(self.arrays):
            if known is array:
                return f"a{i}"
        self.arrays.append(array)
        return f"a{len(self.arrays) - 1}"


_mine = threading.local()  # `traces`: of the calls that run in this thread, innermost last


def _trace(function: str) -> _Trace:
    traces: list[_Trace] = getattr(_mine, "traces", [])
    if not traces:
        raise RuntimeError(f"tiles.{function}() is for functions decorated with tiles.tile_kernel; call one of these")
    return traces[-1]


class Tile:
    """One tile of an array or of what was computed: ``+ - * /`` with tiles and numbers; ``@`` of two loaded tiles is
    the product of the whole arrays. Extents of 1 are broadcast.

    Attributes
    ----------
    shape : (int, int)
        That of the whole array.
    """

    __array_ufunc__ = None  # NumPy's arrays leave operators with tiles to the tiles

    def __init__(self, shape: tuple[int, int], text: str, array: Any = None) -> None:
        self.shape, self._text, self._array = shape, text, array

    def __bool__(self) -> bool:
        raise TypeError("tiles: a tile is neither true nor false while a program is noted; it has no elements yet")

    def _with(self, sign: str, other: Any, is_left: bool = True) -> Any:
        if isinstance(other, (bool, int, float)):
            shape, text = self.shape, repr(other) if other - other == 0 else f'float("{other}")'
        elif isinstance(other, Tile):
            text, pairs = other._text, list(zip(self.shape, other.shape, strict=True))
            if any(a != b and 1 not in (a, b) for a, b in pairs):
                raise ValueError(f"tiles: shapes {self.shape} and {other.shape} do not fit for '{sign}'")
            shape = max(pairs[0]), max(pairs[1])
        else:
            return NotImplemented
        left, right = (self._text, text) if is_left else (text, self._text)
        return Tile(shape, f"({left} {sign} {right})")

    def __add__(self, other: Any) -> Any:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("+", other, False)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("-", other, False)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("*", other, False)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("/", other, False)

    def __neg__(self) -> Tile:
        return Tile(self.shape, f"(-{self._text})")

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Tile):
            return NotImplemented
        if self._array is None or other._array is None:
            raise ValueError("tiles: '@' takes two loaded tiles; store what was computed and load it in another kernel")
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"tiles: shapes {self.shape} and {other.shape} do not fit for '@'")
        trace = _trace("load")
        a, b, total = trace.name(self._array), trace.name(other._array), f"s{trace.n_sums}"
        trace.n_sums += 1
        trace.factors += [self._array, other._array]
        sums = _SUMS.get(str(self._array.dtype).rpartition(".")[2], "float32")
        trace.lines += [
            f"{total} = ct.zeros((TM, TN), dtype=ct.{sums})",
            f"for k in range(ct.cdiv({a}.shape[1], TK)):",
            f"    x = ct.load({a}, (i, k), (TM, TK), padding_mode=ct.PaddingMode.ZERO)",
            f"    y = ct.load({b}, (k, j), (TK, TN), padding_mode=ct.PaddingMode.ZERO)",
            f"    {total} = ct.mma(x, y, {total})",
        ]
        return Tile((self.shape[0], other.shape[1]), total)


def load(array: Any) -> Tile:
    """This block's tile of ``array`` (M, N), (1, N) or (M, 1).

    Raises
    ------
    ValueError
        For an array of another rank.
    RuntimeError
        Outside of a function decorated with `tile_kernel`.
    """
    trace = _trace("load")
    rows, cols = check.rank("tiles.load", "array", array, 2)
    at = "0" if rows == 1 else "i", "0" if cols == 1 else "j"
    tile = "1" if rows == 1 else "TM", "1" if cols == 1 else "TN"
    text = f"ct.load({trace.name(array)}, ({at[0]}, {at[1]}), ({tile[0]}, {tile[1]}))"
    return Tile((rows, cols), text, array)


def load_shared(array: Any) -> Tile:
    """As `load`: where a tile is staged is for the compiler to choose."""
    return load(array)


def compute(tile: Tile) -> Tile:
    """The tile itself, for programs that mark what is computed."""
    return tile


def store(array: Any, tile: Tile) -> None:
    """Writes this block's tile of ``array`` (M, N), converted to its dtype.

    Raises
    ------
    TypeError
        When ``tile`` is not a tile.
    ValueError
        When its shape is not that of ``array``, nor broadcast to it. At the end of the call: when ``array`` shares
        memory with an operand of a product, which other blocks still read.
    """
    trace = _trace("store")
    shape = check.rank("tiles.store", "array", array, 2)
    if not isinstance(tile, Tile):
        raise TypeError(f"tiles.store: tile is {tile!r}, wanted what tiles.load or an operation on tiles gives")
    if any(a not in (1, b) for a, b in zip(tile.shape, shape, strict=True)):
        raise ValueError(f"tiles.store: a tile of shape {tile.shape} does not fit an array of shape {shape}")
    if trace.stored and trace.stored[0] != shape:
        raise ValueError(f"tiles.store: results have shapes {trace.stored[0]} and {shape}; store them by two kernels")
    trace.stored.append((shape[0], shape[1]))
    trace.results.append(array)
    name = trace.name(array)
    trace.lines.append(f"ct.store({name}, (i, j), ct.astype(ct.broadcast_to({tile._text}, (TM, TN)), {name}.dtype))")


def _check_factors(trace: _Trace) -> None:
    """Blocks run in any order: what one writes must not be what another still multiplies."""
    for result in trace.results:
        for factor in trace.factors:
            if result is factor or _core.conflict(_PAIR, result, factor):
                raise ValueError("tiles: a result shares memory with an operand of '@'; store it in another array")


@functools.lru_cache(maxsize=256)
def _kernel(name: str, n_arrays: int, lines: tuple[str, ...]) -> Any:
    names = ", ".join(f"a{i}" for i in range(n_arrays))
    head = f"def {name}({names}, TM: ct.Constant[int], TN: ct.Constant[int], TK: ct.Constant[int]):\n"
    source = head + "".join(f"    {line}\n" for line in ("i, j = ct.bid(0), ct.bid(1)", *lines))
    space: dict[str, Any] = {"ct": ct}
    exec(compile(source, f"<tiles.{name}>", "exec"), space)
    return ct.kernel(space[name], source=source)


def tile_kernel(tile_size: tuple[int, ...] = (64, 64)) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Decorates a function of arrays that is called as it is: ``f(a, b, out)``, or ``f(a, b, out, stream=s)``.

    Parameters
    ----------
    tile_size : (int, int) or (int, int, int)
        Rows and columns of a tile, and how many elements of K a step of a product takes: powers of two.

    Raises
    ------
    TypeError
        Without parentheses: ``@tiles.tile_kernel`` instead of ``@tiles.tile_kernel()``.
    ValueError
        For another tile_size; when the function is called and stores nothing.
    """
    if callable(tile_size):
        raise TypeError(
            f"tiles.tile_kernel: tile_size is the function {getattr(tile_size, '__name__', tile_size)!r}; write "
            "@tiles.tile_kernel() above it, or a size as @tiles.tile_kernel(tile_size=(64, 64))"
        )
    size = check.tile("tiles.tile_kernel", "tile_size", tile_size, 3 if len(tuple(tile_size)) == 3 else 2)
    rows, cols, depth = (*size, DEPTH)[:3]

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(function)
        def call(*arrays: Any, stream: Any = None) -> None:
            trace, before = _Trace(), getattr(_mine, "traces", [])
            _mine.traces = [*before, trace]
            try:
                function(*arrays)
            finally:
                _mine.traces = before
            _check_factors(trace)
            if not trace.stored:
                raise ValueError(f"tiles: {function.__name__}() stores nothing; end it with tiles.store(result, tile)")
            m, n = trace.stored[0]
            name = function.__name__ if function.__name__.isidentifier() else "program"  # of a lambda
            kernel = _kernel(name, len(trace.arrays), tuple(trace.lines))
            grid = ct.cdiv(m, rows), ct.cdiv(n, cols), 1
            ct.launch(stream, grid, kernel, (*trace.arrays, rows, cols, depth))

        return call

    return decorate

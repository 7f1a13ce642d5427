# SPDX-License-Identifier: Apache-2.0
"""Operations on memory, the grid and the outside.

Stubs with their documentation; the compiler knows them by name (src/lang/tile/tile_op.def). The lists of
``__init__.py`` are made of them: tools/gen_language.py.
"""

from __future__ import annotations

from typing import Any

from ._enum import MemoryOrder, MemoryScope, PaddingMode
from ._op import like, op


@op
def bid(axis: int) -> Any:
    """Index of this block along a constant ``axis`` (0, 1 or 2) of the grid: an int32 scalar."""


@op
def num_blocks(axis: int) -> Any:
    """Number of blocks along a constant ``axis`` of the grid: an int32 scalar."""


@op
def load(
    array: Any,
    /,
    index: Any,
    shape: Any,
    *,
    order: Any = "C",
    padding_mode: Any = PaddingMode.UNDETERMINED,
    check_bounds: bool = True,
    latency: int | None = None,
    allow_tma: bool | None = None,
    memory_order: Any = MemoryOrder.WEAK,
    memory_scope: Any = MemoryScope.NONE,
) -> Any:
    """Tile number ``index`` of an array seen as a grid of tiles of ``shape``.

    Parameters
    ----------
    array : array
    index : int scalar or tuple of them
        Counts tiles, one per axis.
    shape : int or tuple of int
        Constant powers of two; ``()`` reads one element as a scalar.
    order : {"C", "F"} or tuple
        Tile axis k reads array axis ``order[k]``.
    padding_mode : PaddingMode
        What elements outside the array are: zero if not named (in checked mode a value that shows: NaN, or bytes 0x55).
    check_bounds : bool
        False promises that the tile lies inside.
    latency, allow_tma : int 1 to 10, bool
        Hints.
    memory_order, memory_scope : MemoryOrder, MemoryScope
        WEAK (no scope), RELAXED or ACQUIRE (with a scope).

    Returns
    -------
    tile of ``shape`` and the array's dtype

    Raises
    ------
    TileTypeError
        Shape not constant, not powers of two, or of the wrong rank.
    """


@op
def store(
    array: Any,
    /,
    index: Any,
    tile: Any,
    *,
    order: Any = "C",
    check_bounds: bool = True,
    latency: int | None = None,
    allow_tma: bool | None = None,
    memory_order: Any = MemoryOrder.WEAK,
    memory_scope: Any = MemoryScope.NONE,
) -> Any:
    """Writes ``tile`` to tile number ``index`` of an array; elements outside the array are dropped.

    The tile's dtype must convert to the array's without loss (float16 to float32 does, the reverse needs
    ``astype``). A scalar fills the tile space's element.
    """


@op
def num_tiles(array: Any, /, axis: int, shape: Any, order: Any = "C") -> Any:
    """How many tiles of ``shape`` the array has along ``axis``: ceil(extent / shape[axis]), an int32 scalar."""


@op
def gather(
    array: Any,
    indices: Any,
    /,
    *,
    mask: Any = None,
    padding_value: Any = 0,
    check_bounds: bool = True,
    latency: int | None = None,
) -> Any:
    """Elements of an array at integer indices.

    Parameters
    ----------
    indices : tuple of int tiles or scalars, one per axis
        Broadcast together; the result has their shape. An array of one axis takes a bare tile.
    mask : bool tile, optional
        Where False, nothing is read.
    padding_value : scalar or tile
        The result where the index is outside the array (negative ones are) or masked.
    check_bounds : bool
        False promises that every unmasked index is inside.
    """


@op
def scatter(
    array: Any,
    indices: Any,
    value: Any,
    /,
    *,
    mask: Any = None,
    check_bounds: bool = True,
    latency: int | None = None,
) -> Any:
    """Writes elements of an array at integer indices; the inverse of ``gather``.

    Indices outside the array are dropped. Of equal indices an unspecified one wins.
    """


@op
def load_advanced_indexing(
    array: Any,
    indices: Any,
    /,
    *,
    padding_mode: Any = PaddingMode.UNDETERMINED,
    latency: int | None = None,
    allow_tma: bool | None = None,
) -> Any:
    """Rows picked by a 1-D int tile on one axis, dense ranges (``ct.Slice``) on the others."""


@op
def store_advanced_indexing(
    array: Any,
    indices: Any,
    tile: Any,
    /,
    *,
    latency: int | None = None,
    allow_tma: bool | None = None,
) -> Any:
    """The inverse of ``load_advanced_indexing``."""


@op
def assume_divisible_by(x: Any, divisor: int) -> Any:
    """Promises that an int scalar is a multiple of ``divisor``, a constant; gives ``x``.

    Of an array: that its strides in elements are, all but those of 1. Rows of 16-bit elements at an even distance are
    copied 4 bytes at a time, not 2.
    """


@op
def atomic_cas(
    array: Any,
    indices: Any,
    expected: Any,
    desired: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: Any = MemoryOrder.ACQ_REL,
    memory_scope: Any = MemoryScope.DEVICE,
) -> Any:
    """Writes ``desired`` where the element equals ``expected``, atomically for each element; gives the old values.

    32- and 64-bit types; floats compare bits.
    """


@op
def atomic_xchg(
    array: Any,
    indices: Any,
    update: Any,
    /,
    *,
    check_bounds: bool = True,
    memory_order: Any = MemoryOrder.ACQ_REL,
    memory_scope: Any = MemoryScope.DEVICE,
) -> Any:
    """Replaces elements of an array, atomically for each element; gives the old values.

    Indices as for ``gather``. 32- and 64-bit types.
    """


_ATOMIC = """{}, atomically for each element; gives the old values.

    Indices as for ``gather``. 32- and 64-bit ints{}.
"""
atomic_add = like(
    atomic_xchg,
    "atomic_add",
    _ATOMIC.format("Adds to elements of an array", ", float16 to float64, bfloat16"),
)
atomic_max = like(
    atomic_xchg, "atomic_max", _ATOMIC.format("Keeps the larger in elements of an array", "")
)
atomic_min = like(
    atomic_xchg, "atomic_min", _ATOMIC.format("Keeps the smaller in elements of an array", "")
)
atomic_and = like(
    atomic_xchg, "atomic_and", _ATOMIC.format("Bitwise-ands into elements of an array", "")
)
atomic_or = like(
    atomic_xchg, "atomic_or", _ATOMIC.format("Bitwise-ors into elements of an array", "")
)
atomic_xor = like(
    atomic_xchg, "atomic_xor", _ATOMIC.format("Bitwise-xors into elements of an array", "")
)


@op
def grid_dependency_control_wait() -> Any:
    """Waits for the kernel launched before this one (programmatic dependent launch)."""


@op
def grid_dependency_control_launch_dependents() -> Any:
    """Lets the next kernel start early (programmatic dependent launch)."""


@op
def printf(format: str, *args: Any) -> Any:
    """Prints scalars or whole tiles with a C format; slow, for debugging. ``%f`` prints complex numbers, too."""


@op
def print(*args: Any, sep: str = " ", end: str = "\n") -> Any:
    """Prints values as Python's ``print`` does; f-strings with constant parts are understood."""


@op
def assert_(cond: Any, /, message: str | None = None) -> Any:
    """Reports a failure (``KernelError``) where an element of a bool tile is False; slow."""

# SPDX-License-Identifier: Apache-2.0
"""Types of values inside kernels: what they have and what they can do, with documentation.

Nothing here runs: inside a kernel the compiler knows the methods by the rows of src/lang/tile/tile_op.def, which a test
compares with these classes. On the host the classes are for annotations, help() and type checkers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ._enum import MemoryOrder, MemoryScope, PaddingMode
from ._op import like, op
from ._ops_shape import extract, insert, permute, reshape, transpose

__all__ = ["Array", "RawArrayMemory", "Scalar", "Tile", "TiledView"]

F = TypeVar("F", bound=Callable[..., Any])


class _Field:
    """A documented attribute of values inside kernels."""

    def __init__(self, function: Any) -> None:
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self


# Marks of methods: each is the row TS_TILE_OP_OF of its name and of the type.


def _array(fn: F) -> F:
    return op(fn, f"array_{fn.__name__}")


def _view(fn: F) -> F:
    return op(fn, f"view_{fn.__name__}")


def _raw(fn: F) -> F:
    return op(fn, f"raw_{fn.__name__}")


def _tile(fn: F) -> F:
    return op(fn, f"tile_{fn.__name__}")


class Array:
    """An array inside a kernel: a kernel argument in memory, or a part of one.

    Tiles of it are read with ``ct.load`` and written with ``ct.store``; single elements with ``ct.gather``,
    ``ct.scatter`` and atomics. Arrays cannot be subscripted.
    """

    __tessera_names__ = True

    @_Field
    def dtype(self) -> Any:
        """Dtype of the elements, a constant."""

    @_Field
    def shape(self) -> Any:
        """Extents, a tuple of scalars: int32, or int64 where the array needs it. One is a constant when it is 1 or
        compiled in (``ct.ArrayAnnotation``)."""

    @_Field
    def strides(self) -> Any:
        """Strides in elements, a tuple of scalars as ``shape``."""

    @_Field
    def ndim(self) -> Any:
        """Number of axes, a constant."""

    @_Field
    def foreign_pointer(self) -> Any:
        """The address of the first element with its dtype, for ``ct.Array.from_foreign``."""

    @_array
    def slice(self, /, axis: int, start: Any, stop: Any) -> Any:
        """The part of the array from ``start`` to below ``stop`` along an axis, without a copy.

        Parameters
        ----------
        axis : int
            A constant; -1 is the last.
        start, stop : int scalars
            Constants that are negative or in the wrong order are an error. Those of run time are moved into the
            array, and checked mode reports them.

        Returns
        -------
        array of the same rank
        """

    @_array
    def tiled_view(
        self, /, tile_shape: Any, *, padding_mode: Any = PaddingMode.UNDETERMINED, traversal_steps: Any = None
    ) -> Any:
        """The array as a grid of tiles of ``tile_shape``.

        Parameters
        ----------
        tile_shape : tuple of int
            Constant powers of two, one for each axis; ``()`` stands for tiles of one element, loaded as scalars.
        padding_mode : PaddingMode
            As for ``ct.load``.
        traversal_steps : tuple of int, optional
            Elements from one tile to the next along each axis; by default tiles stand side by side. Smaller
            steps make them overlap, greater ones leave gaps.

        Returns
        -------
        TiledView
        """

    @_array
    def get_raw_memory(self, /) -> Any:
        """The array's memory by offsets in elements, without shape and strides: a ``RawArrayMemory``."""

    @staticmethod
    @_array
    def from_foreign(pointer: Any, shape: Any, strides: Any) -> Any:
        """An array of a pointer, extents and strides.

        Parameters
        ----------
        pointer
            ``array.foreign_pointer``; its dtype is the array's.
        shape, strides : tuples of int scalars
            Of one length; signed, not negative; strides in elements.

        Returns
        -------
        Array

        Notes
        -----
        Nothing checks that the elements are inside the memory that the pointer came from.
        """


class RawArrayMemory:
    """Memory of an array by offset in elements: ``array.get_raw_memory()``. No bounds are checked."""

    __tessera_names__ = True

    @_Field
    def dtype(self) -> Any:
        """Dtype of the elements, a constant."""

    @_raw
    def load_offset(
        self, offset: Any, /, *, mask: Any = None, padding_value: Any = 0, latency: int | None = None
    ) -> Any:
        """The elements at the offsets, a tile of their shape; ``padding_value`` where ``mask`` is False."""

    @_raw
    def store_offset(self, offset: Any, value: Any, /, *, mask: Any = None, latency: int | None = None) -> Any:
        """Writes a value to each offset where ``mask`` is not False."""

    @_raw
    def atomic_cas_offset(
        self,
        offset: Any,
        expected: Any,
        desired: Any,
        /,
        *,
        mask: Any = None,
        memory_order: Any = MemoryOrder.ACQ_REL,
        memory_scope: Any = MemoryScope.DEVICE,
    ) -> Any:
        """Writes ``desired`` where the element equals ``expected``; gives the old elements."""

    @_raw
    def atomic_xchg_offset(
        self,
        offset: Any,
        update: Any,
        /,
        *,
        mask: Any = None,
        memory_order: Any = MemoryOrder.ACQ_REL,
        memory_scope: Any = MemoryScope.DEVICE,
    ) -> Any:
        """Writes ``update``; gives the old elements."""

    atomic_add_offset = like(atomic_xchg_offset, "atomic_add_offset", "Adds ``update``; gives the old elements.", _raw)
    atomic_max_offset = like(
        atomic_xchg_offset, "atomic_max_offset", "Keeps the greater of both; gives the old elements.", _raw
    )
    atomic_min_offset = like(
        atomic_xchg_offset, "atomic_min_offset", "Keeps the smaller of both; gives the old elements.", _raw
    )
    atomic_and_offset = like(
        atomic_xchg_offset, "atomic_and_offset", "Bitwise and with ``update``; gives the old elements.", _raw
    )
    atomic_or_offset = like(
        atomic_xchg_offset, "atomic_or_offset", "Bitwise or with ``update``; gives the old elements.", _raw
    )
    atomic_xor_offset = like(
        atomic_xchg_offset, "atomic_xor_offset", "Bitwise exclusive or with ``update``; gives the old elements.", _raw
    )


class Tile:
    """A tile inside a kernel: immutable, of constant shape. One without axes is a scalar.

    Arithmetic, comparisons, ``@`` and bitwise operators work element by element and broadcast as in NumPy; with a
    Python number the tile's dtype holds. ``None`` and ``:`` as subscripts add axes.
    """

    __tessera_names__ = True

    @_Field
    def dtype(self) -> Any:
        """Dtype of the elements, a constant."""

    @_Field
    def shape(self) -> Any:
        """Extents, a tuple of constants."""

    @_Field
    def ndim(self) -> Any:
        """Number of axes, a constant."""

    @_Field
    def T(self) -> Any:
        """A tile of two axes with these exchanged."""

    @_tile
    def item(self, /) -> Any:
        """The one element of a tile as a scalar."""

    @_tile
    def astype(self, /, dtype: Any, *, rounding_mode: Any = None) -> Any:
        """Converts elements, as ``ct.astype``."""

    reshape, permute, transpose, extract, insert = reshape, permute, transpose, extract, insert


class Scalar:
    """A tile without axes, or a number: for annotations of helpers."""


class TiledView:
    """An array seen as a grid of tiles: ``array.tiled_view(tile_shape)``."""

    __tessera_names__ = True

    @_Field
    def dtype(self) -> Any:
        """Dtype of the array, a constant."""

    @_Field
    def tile_shape(self) -> Any:
        """Shape of the tiles, a tuple of constants."""

    @_Field
    def traversal_steps(self) -> Any:
        """Elements from one tile to the next along each axis, a tuple of constants."""

    @_view
    def num_tiles(self, /, axis: int) -> Any:
        """Number of tiles along a constant axis: an int scalar. Those that hang over the end count."""

    @_view
    def load(
        self, /, index: Any, *, check_bounds: bool = True, latency: int | None = None, allow_tma: bool | None = None
    ) -> Any:
        """Tile number ``index``, as ``ct.load``.

        Parameters
        ----------
        index : int scalar or tuple of them
        check_bounds : bool
            False promises that the tile lies inside the array.
        latency, allow_tma : int 1 to 10, bool
            Hints.
        """

    @_view
    def store(
        self,
        /,
        index: Any,
        tile: Any,
        *,
        check_bounds: bool = True,
        latency: int | None = None,
        allow_tma: bool | None = None,
    ) -> Any:
        """Writes tile number ``index``, as ``ct.store``; a smaller tile is broadcast to the view's shape."""

    @_view
    def atomic_store_add(self, index: Any, update: Any, /) -> Any:
        """Adds ``update`` to the elements of tile number ``index``, each atomically."""

    atomic_store_max = like(
        atomic_store_add, "atomic_store_max", "Keeps the greater of element and ``update``, each atomically.", _view
    )
    atomic_store_min = like(
        atomic_store_add, "atomic_store_min", "Keeps the smaller of element and ``update``, each atomically.", _view
    )
    atomic_store_and = like(
        atomic_store_add, "atomic_store_and", "Bitwise and with ``update``, each element atomically.", _view
    )
    atomic_store_or = like(
        atomic_store_add, "atomic_store_or", "Bitwise or with ``update``, each element atomically.", _view
    )
    atomic_store_xor = like(
        atomic_store_add, "atomic_store_xor", "Bitwise exclusive or with ``update``, each element atomically.", _view
    )

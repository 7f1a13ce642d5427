# SPDX-License-Identifier: Apache-2.0
"""Shape, strides and element size: where the elements of a view lie, counted in elements."""

from __future__ import annotations

import math
import operator
from typing import Any, Union

__all__ = ["_StridedLayout"]

Shape = tuple[int, ...]
Item = Union[int, slice]


def _row_major(shape: Shape, order: tuple[int, ...]) -> Shape:
    """Strides of a dense array whose axes lie in `order`, slowest first."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


def _order(shape: Shape, order: Any) -> tuple[int, ...]:
    axes = tuple(range(len(shape)))
    if order in ("C", "F"):
        return axes if order == "C" else axes[::-1]
    if sorted(order) != list(axes):
        raise ValueError(f"stride_order is 'C', 'F' or a permutation of {axes}, not {order!r}")
    return tuple(order)


class _StridedLayout:
    """Layout of a strided array. ``strides`` may be None: row-major.

    ``divide_strides`` says that the strides are in bytes. ``slice_offset`` is where the first
    element lies, counted from that of the array this one is a part of.
    """

    __slots__ = ("_strides", "itemsize", "shape", "slice_offset")

    def __init__(
        self, shape: Any, strides: Any, itemsize: int, divide_strides: bool = False
    ) -> None:
        self.shape: Shape = tuple(operator.index(extent) for extent in shape)
        self.itemsize, self.slice_offset = itemsize, 0
        if itemsize < 1:
            raise ValueError(f"itemsize must be positive, not {itemsize}")
        if any(extent < 0 for extent in self.shape):
            raise ValueError(f"Extents must be non-negative, not {self.shape}")
        self._strides: Shape | None = None
        if strides is not None:
            self._strides = self._checked(tuple(strides), divide_strides)

    def _checked(self, strides: Shape, in_bytes: bool) -> Shape:
        if len(strides) != len(self.shape):
            raise ValueError(f"{len(strides)} strides do not fit {len(self.shape)} dimensions")
        if not in_bytes:
            return strides
        if any(stride % self.itemsize for stride in strides):
            raise ValueError(
                f"strides must be divisible by itemsize: {strides} bytes, items of {self.itemsize}"
            )
        return tuple(stride // self.itemsize for stride in strides)

    @classmethod
    def dense(cls, shape: Any, itemsize: int, stride_order: Any = "C") -> _StridedLayout:
        """Without gaps; "C" is row-major, "F" column-major, or a permutation, slowest axis
        first."""
        shape = tuple(shape)
        return cls(shape, _row_major(shape, _order(shape, stride_order)), itemsize)

    def _with(self, shape: Shape, strides: Shape | None, offset: int) -> _StridedLayout:
        made = _StridedLayout(shape, strides, self.itemsize)
        made.slice_offset = offset
        return made

    @property
    def strides(self) -> Shape | None:
        """Steps in elements; None where row-major was not spelled out. Zero in an empty array."""
        if self._strides is None or self.volume:
            return self._strides
        return (0,) * self.ndim

    @property
    def strides_in_bytes(self) -> Shape | None:
        """Steps in bytes."""
        strides = self.strides
        return None if strides is None else tuple(stride * self.itemsize for stride in strides)

    @property
    def steps(self) -> Shape:
        """Steps in elements, always spelled out."""
        if self._strides is not None:
            return self._strides
        return _row_major(self.shape, tuple(range(self.ndim)))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def volume(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def slice_offset_in_bytes(self) -> int:
        """Where the first element lies, in bytes."""
        return self.slice_offset * self.itemsize

    @property
    def stride_order(self) -> tuple[int, ...]:
        """The axes, that of the longest step first."""
        steps = self.steps
        return tuple(sorted(range(self.ndim), key=lambda axis: (-abs(steps[axis]), axis)))

    def _lies(self, order: tuple[int, ...]) -> bool:
        wanted = _row_major(self.shape, order)
        rows = zip(self.shape, self.steps, wanted, strict=True)
        return self.volume == 0 or all(n == 1 or step == want for n, step, want in rows)

    @property
    def is_contiguous_c(self) -> bool:
        """Row-major without gaps."""
        return self._lies(tuple(range(self.ndim)))

    @property
    def is_contiguous_f(self) -> bool:
        """Column-major without gaps."""
        return self._lies(tuple(range(self.ndim))[::-1])

    @property
    def is_contiguous_any(self) -> bool:
        """Without gaps in some order of the axes."""
        return self._lies(self.stride_order)

    @property
    def is_dense(self) -> bool:
        """Without gaps, from the first element of the memory on."""
        return self.is_contiguous_any and self.slice_offset == 0

    @property
    def offset_bounds(self) -> tuple[int, int]:
        """The lowest and the highest element that is reached; (0, -1) for an empty array."""
        if not self.volume:
            return 0, -1
        reach = [step * (n - 1) for step, n in zip(self.steps, self.shape, strict=True)]
        low = self.slice_offset + sum(r for r in reach if r < 0)
        return low, self.slice_offset + sum(r for r in reach if r > 0)

    def required_size_in_bytes(self) -> int:
        """Bytes of memory that the elements need; ValueError where some lie before it."""
        low, high = self.offset_bounds
        if low < 0:
            raise ValueError(f"elements lie {-low * self.itemsize} bytes before the memory")
        return (high + 1) * self.itemsize

    def permuted(self, axis_order: Any) -> _StridedLayout:
        """The axes in another order."""
        order = tuple(axis_order)
        if len(order) != self.ndim:
            raise ValueError("the order must have the same length as the number of dimensions")
        for axis in order:
            if not 0 <= axis < self.ndim:
                raise ValueError(f"axis {axis} out of range for {self.ndim} dimensions")
            if order.count(axis) > 1:
                raise ValueError(f"axis {axis} appears multiple times")
        strides = self._strides and tuple(self._strides[axis] for axis in order)
        if self._strides is None and order != tuple(range(self.ndim)):
            strides = tuple(self.steps[axis] for axis in order)
        return self._with(tuple(self.shape[axis] for axis in order), strides, self.slice_offset)

    def __getitem__(self, items: Any) -> _StridedLayout:
        """The layout of a part: ints and slices, one an axis from the first on."""
        items = items if isinstance(items, tuple) else (items,)
        if len(items) > self.ndim:
            raise ValueError(
                f"The number of slices {len(items)} is greater than the number of dimensions"
            )
        shape, strides, offset = [], [], self.slice_offset
        steps = self.steps
        for axis, n in enumerate(self.shape):
            item = items[axis] if axis < len(items) else slice(None)
            first, count, step = _part(item, axis, n)
            offset += first * steps[axis]
            if count is not None:
                shape.append(count)
                strides.append(steps[axis] * step)
        return self._with(tuple(shape), tuple(strides), offset if math.prod(shape) else 0)

    sliced = __getitem__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _StridedLayout):
            return NotImplemented
        mine = (self.shape, self.steps, self.itemsize, self.slice_offset)
        return mine == (other.shape, other.steps, other.itemsize, other.slice_offset)

    def __hash__(self) -> int:
        return hash((self.shape, self.steps, self.itemsize, self.slice_offset))

    def __repr__(self) -> str:
        return (
            f"_StridedLayout(shape={self.shape}, strides={self.strides}, itemsize={self.itemsize})"
        )


def _part(item: Item, axis: int, n: int) -> tuple[int, int | None, int]:
    """(first element, their number or None for a single one, step) of one index."""
    if isinstance(item, slice):
        if item.step == 0:
            raise ValueError("slice step cannot be zero")
        first, last, step = item.indices(n)
        count = len(range(first, last, step))
        return (first if count else 0), count, step
    if not isinstance(item, int):
        raise TypeError(f"Expected slice instance or integer. Got {type(item).__name__}")
    if not -n <= item < n:
        raise ValueError(f"index {item} is out of range for axis {axis} of extent {n}")
    return item % n, None, 1

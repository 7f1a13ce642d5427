# SPDX-License-Identifier: Apache-2.0
"""Operations written in Tessera's own tile language: the kernels that the tour shows, the
benchmarks time and later layers call. Each module holds the kernel, as a user would write it, and
a function that picks tile sizes and launches it.

What holds for every function, unless its own text says otherwise:

- Results go into arrays that the caller gives (``out``). They share no memory with any other array
  of the call: blocks run in any order, and what one writes another may still have to read. Where a
  function says that ``out`` may be ``x``, it may be that array itself, element for element. Views
  that only lie between each other, such as even and odd columns, share nothing.
- A floating-point ``out`` may have any width, float8 among them: results are rounded to it. An
  integer ``out`` holds every value of the results' dtype (int32 for products of int8): nothing
  wraps, and no fraction is cut off. To narrow results, convert them afterwards.
- Strides may be any positive ones. ``reduce``, ``arg_reduce`` and ``scan`` see the axes before and
  behind ``axis`` as one axis each, ``permute`` neighbours that stay neighbours, ``bits``,
  ``uniform`` and ``normal`` all axes; what these merge must be a view of the array: all contiguous
  arrays are, and slices and transposed arrays of which at most one axis is left on either side,
  such as any matrix along axis 0 or 1. Where it is not, it is a ``ValueError``: nothing is copied.
- All arrays of a call lie on one device; they are of any library that ``ct.launch`` takes.
- ``stream`` is where a GPU does the work, as for ``ct.launch``; None is the default stream. On a
  GPU a call returns when the work is enqueued, on host memory when the arrays are written.
- Shapes that do not fit and memory that is shared are a ``ValueError``, dtypes that are not taken
  or would lose something a ``TypeError``, before anything is launched; the text names the function,
  the argument and what was wanted.
- Results are the same bits in every run on one device: no sum depends on which block comes first.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from tessera import _core

NO_OVERLAP = bytes((0, 1, 0))  # a rule of _core.conflict, which two views of one memory break


def next_power_of_two(n: int) -> int:
    """The smallest power of two that is at least ``n`` (1 for ``n`` below 2)."""
    return 1 << max(0, n - 1).bit_length()


def on_gpu(array: object) -> bool:
    """Whether ``array`` lives in GPU memory (decides tile sizes, nothing else)."""
    if hasattr(array, "__cuda_array_interface__"):
        return True
    device = getattr(array, "device", None)
    return "cuda" in str(device)


def dtype_name(array: Any) -> str:
    """``"float32"`` for float32 arrays of any library."""
    return getattr(array.dtype, "name", None) or str(array.dtype).rpartition(".")[2]


def is_float(array: Any) -> bool:
    """Whether the elements are floating-point numbers."""
    return "float" in dtype_name(array)


def wide_dtype(array: Any) -> str:
    """What sums of ``array``'s elements are kept in: float32 for shorter floats, else its dtype."""
    name = dtype_name(array)
    return "float32" if "float" in name and array.dtype.itemsize < 4 else name


def scratch(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Uninitialised memory on the device of ``like``."""
    import tessera

    device = str(getattr(like, "device", "cpu"))
    if not device.startswith(("cpu", "cuda:")):  # "cuda", or another library's object
        device = "cuda" if on_gpu(like) else "cpu"
    return tessera.empty(shape, dtype, device)


def view(function: str, name: str, array: Any, shape: tuple[int, ...]) -> Any:
    """``array``, an argument of the function, in another shape of as many elements, without a copy.

    Raises
    ------
    ValueError
        When its elements do not lie in the order of their indices.
    TypeError
        When it has no such shapes, as a ``numpy.matrix`` has not.
    """
    found = array.reshape(shape)
    if tuple(found.shape) != shape:
        kind = type(array).__name__
        raise TypeError(
            f"{function}: {name} is a {kind}, which does not take shape {shape}; "
            f"pass an array, such as numpy.asarray({name})"
        )
    is_array = _core.look(b"", array, found) is not None  # if not, the launch says what it is
    if is_array and min(shape, default=1) and not _core.conflict(NO_OVERLAP, array, found):
        raise ValueError(
            f"{function}: {name}, of shape {tuple(array.shape)}, has no view of shape {shape} without a copy; "
            f"pass a contiguous array"
        )
    return found


def around_axis(function: str, shape: tuple[int, ...], axis: int | None) -> tuple[int, int, int]:
    """How many elements lie before, along and after ``axis``; for None all lie along it."""
    total = [1, 1, 1]
    try:
        axis = None if axis is None else operator.index(axis)
    except TypeError:
        raise TypeError(f"{function}: axis is {axis!r}, wanted an int or None") from None
    if axis is not None and not -len(shape) <= axis < len(shape):
        raise ValueError(f"{function}: axis {axis} is out of range for shape {tuple(shape)}")
    at = None if axis is None else axis % len(shape)
    for i, n in enumerate(shape):
        total[1 if at is None or i == at else 0 if i < at else 2] *= n
    return total[0], total[1], total[2]


def rows_tile(x: Any) -> tuple[int, int]:
    """Rows and columns of the tile that a block works on when it needs whole rows of a
    (rows, columns) array; 0 rows: a row fits no block, and the columns are those of a chunk.
    """
    cols = next_power_of_two(x.shape[1])
    if not on_gpu(x):
        return 1, cols
    narrow = x.dtype.itemsize <= 2
    if cols > 32768:
        return 0, 16384
    return min(max(1, (2048 if narrow else 1024) // cols), next_power_of_two(x.shape[0])), cols


@functools.lru_cache(maxsize=1)
def multiprocessors() -> int:
    """How many the GPU has."""
    import tessera

    return int(tessera.device_info("cuda")["units"])

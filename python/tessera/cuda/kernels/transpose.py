# SPDX-License-Identifier: Apache-2.0
"""The transpose of a matrix in device memory."""

from __future__ import annotations

from typing import Any

from .. import _device as device
from .._device_array import DeviceNDArray, as_device_array, row_major
from .._jit import jit

__all__ = ["transpose"]


@jit
def _transpose(a: Any, b: Any) -> None:
    i, j = device.grid(2)
    if i < b.shape[0] and j < b.shape[1]:
        b[i, j] = a[j, i]


def transpose(a: Any, b: Any = None) -> Any:
    """``b = a.T`` with elements in order.

    Parameters
    ----------
    a : device array
        Of two dimensions.
    b : device array, optional
        Takes the result; None: a new array.
    """
    found = as_device_array(a)
    if found.ndim != 2:
        raise ValueError(f"a matrix is transposed, not an array of {found.ndim} dimensions")
    rows, columns = found.shape
    if b is None:
        shape = columns, rows
        b = DeviceNDArray(shape, row_major(shape, found.itemsize), found.dtype, found.stream)
    if tuple(b.shape) != (columns, rows):
        raise ValueError(f"b has shape {tuple(b.shape)}; it must be {(columns, rows)}")
    if found.size:
        _transpose[(-(-columns // 8), -(-rows // 32)), (8, 32), found.stream](found, b)
    return b

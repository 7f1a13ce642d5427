# SPDX-License-Identifier: Apache-2.0
"""GPU arrays of any library, as a product's launch sees them: where they lie, room beside them, copies that TMA can load."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tessera
import tessera.tile as ct

from .._core import DTYPES

BYTES = {name: (bits + 7) // 8 for name, bits, *_ in DTYPES}


@functools.lru_cache(maxsize=64)
def _name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def dtype_name(array: Any) -> str:
    """ "bfloat16" of any library's bfloat16."""
    return _name(array.dtype)


def device_of(array: Any) -> str:
    """The device's name as ``tessera.empty`` takes it."""
    device = getattr(array, "device", None)
    name = str(device)
    return name if name.startswith("cuda") else f"cuda:{getattr(device, 'id', 0)}"


def strides_of(array: Any) -> tuple[int, ...]:
    """In elements."""
    if hasattr(array, "data_ptr"):
        return tuple(array.stride())
    strides = array.__cuda_array_interface__.get("strides")
    if strides is None:
        return (array.shape[1], 1)
    return tuple(s // BYTES[dtype_name(array)] for s in strides)


def look(array: Any) -> tuple[Any, ...]:
    """All that the way of a product depends on; the address last."""
    try:
        return array.shape, array.stride(), array.dtype, array.data_ptr() & 15
    except AttributeError:
        view = array.__cuda_array_interface__
        return view["shape"], view.get("strides"), str(array.dtype), view["data"][0] & 15


def _handle(stream: Any) -> int:
    """The driver's handle of a stream of any library; 0 is the default stream."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    return next(
        int(getattr(stream, a)) for a in ("cuda_stream", "ptr", "handle") if hasattr(stream, a)
    )


def room(shape: tuple[int, ...], dtype: str, device: str, stream: Any) -> Any:
    """An array for this launch. Memory comes in the order of the default stream: others wait for that."""
    array = tessera.empty(shape, dtype, device)
    if _handle(stream):
        tessera.synchronize(device)
    return array


# ---- copies -----------------------------------------------------------------------------------------------

COPY_TILE = (32, 128)


@ct.function
def copy_tile(x, y, block, TM, TN):
    """Tile ``block`` of y = x, zero where x ends."""
    cols = ct.cdiv(y.shape[1], TN)
    i, j = block // cols, block % cols
    t = ct.load(x, index=(i, j), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, index=(i, j), tile=t)


@ct.kernel
def copy_kernel(x, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    copy_tile(x, y, ct.bid(0), TM, TN)


@ct.kernel
def copy_both_kernel(x, y, x2, y2, TM: ct.Constant[int], TN: ct.Constant[int]):
    """Two copies in one launch."""
    first = ct.cdiv(y.shape[0], TM) * ct.cdiv(y.shape[1], TN)
    block = ct.bid(0)
    if block < first:
        copy_tile(x, y, block, TM, TN)
    else:
        copy_tile(x2, y2, block - first, TM, TN)


def unit_of_copy(array: Any, k_axis: int, major: bool) -> int | None:
    """The axis of unit stride of the copy that TMA needs; None when it can load the array as it is: one axis of unit
    stride (that of K if ``major``), everything else in units of 16 bytes."""
    size, strides = BYTES[dtype_name(array)], strides_of(array)
    unit = next((d for d in (1, 0) if strides[d] == 1 and (not major or d == k_axis)), None)
    if unit is not None and look(array)[3] == 0 and strides[1 - unit] * size % 16 == 0:
        return None
    return k_axis if unit is None else unit


class Copy(NamedTuple):
    """Axis of unit stride; extents, which end in zeros."""

    unit: int
    shape: tuple[int, int]


def copy_of(array: Any, unit: int) -> Copy:
    """Rows in units of 16 bytes."""
    step = 16 // BYTES[dtype_name(array)]
    row = ct.cdiv(int(array.shape[unit]), step) * step
    return Copy(unit, (int(array.shape[1 - unit]), row))


def copied(arrays: list[Any], copies: list[Copy | None], stream: Any) -> list[Any]:
    """Copies of those arrays that need one, in one launch."""
    pairs, found, blocks = [], list(arrays), 0
    for i, (array, wanted) in enumerate(zip(arrays, copies, strict=True)):
        if wanted is None:
            continue
        source, unit, rows = array if wanted.unit == 1 else array.T, wanted.unit, wanted.shape[0]
        copy = room(wanted.shape, dtype_name(array), device_of(array), stream)
        blocks += ct.cdiv(rows, COPY_TILE[0]) * ct.cdiv(copy.shape[1], COPY_TILE[1])
        pairs += [source, copy]
        found[i] = copy if unit == 1 else copy.T
    if pairs:
        kernel = copy_kernel if len(pairs) == 2 else copy_both_kernel
        ct.launch(stream, (blocks, 1, 1), kernel, (*pairs, *COPY_TILE))
    return found

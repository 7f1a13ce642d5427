# SPDX-License-Identifier: Apache-2.0
"""Room beside GPU arrays of any library, and copies of them that TMA can load."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tessera
import tessera.tile as ct
from tessera import _core

from ._gemm_plan import Copy


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

COPY_TILE = _core.GEMM_COPY_ROWS, _core.GEMM_COPY_COLUMNS


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


def copied(arrays: list[Any], copies: Sequence[Copy | None], stream: Any) -> list[Any]:
    """Copies of those arrays that need one, in one launch."""
    pairs, found, blocks = [], list(arrays), 0
    for i, (array, wanted) in enumerate(zip(arrays, copies, strict=True)):
        if wanted is None:
            continue
        unit, shape = wanted
        source = array if unit == 1 else array.T
        copy = room(shape, dtype_name(array), device_of(array), stream)[:, : array.shape[unit]]
        blocks += ct.cdiv(shape[0], COPY_TILE[0]) * ct.cdiv(copy.shape[1], COPY_TILE[1])
        pairs += [source, copy]
        found[i] = copy if unit == 1 else copy.T
    if pairs:
        kernel = copy_kernel if len(pairs) == 2 else copy_both_kernel
        ct.launch(stream, (blocks, 1, 1), kernel, (*pairs, *COPY_TILE))
    return found

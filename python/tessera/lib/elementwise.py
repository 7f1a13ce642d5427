# SPDX-License-Identifier: Apache-2.0
"""Elementwise kernels: one block handles one tile of a flat array. Loads and stores stop where the
array ends, so its length need not be a multiple of the tile.
"""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from . import on_gpu
from ._rules import accept, is_accepted


@ct.kernel
def vector_add_kernel(a, b, out, TILE: ct.Constant[int]):
    """Elements ``i * TILE ..`` of out = a + b."""
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(TILE,))
    y = ct.load(b, index=(i,), shape=(TILE,))
    ct.store(out, index=(i,), tile=ct.astype(x + y, out.dtype))


@ct.kernel
def chain_kernel(x, y, z, out, TILE: ct.Constant[int]):
    """Seven operations on tiles in registers: memory is read and written once."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(TILE,))
    b = ct.load(y, index=(i,), shape=(TILE,))
    c = ct.load(z, index=(i,), shape=(TILE,))
    r = ct.sqrt(ct.sin(a) * ct.cos(b) + ct.exp(-c * c) + ct.log(a + 1.0))
    ct.store(out, index=(i,), tile=ct.astype(r, out.dtype))


def _tile(function: str, array: Any, given: int | None, gpu: int) -> int:
    """Elements of a block: ``gpu`` on a GPU, 16 KiB of float32 on a CPU."""
    if given is not None:
        return check.tile(function, "tile", given, 1)[0]
    return gpu if on_gpu(array) else 4096


def vector_add(a: Any, b: Any, out: Any, stream: Any = None, tile: int | None = None) -> None:
    """``out = a + b``.

    Parameters
    ----------
    a, b, out : array (N,)
        ``a`` and ``b`` of one dtype. ``out`` may be ``a`` or ``b``.
    stream : stream, optional
    tile : int, optional
        Elements of a block, a power of two; picked by device when not given.

    Raises
    ------
    ValueError
        When shapes do not fit, or ``out`` shares memory with an array that it is not.
    TypeError
        For a dtype that is not taken, or an ``out`` that does not hold the results.
    """
    if not is_accepted("vector_add", a, b, out):
        check.rank("vector_add", "a", a, 1)
        check.same_shape("vector_add", a=a, b=b, out=out)
        accept("vector_add", a, b, out)
    tile = _tile("vector_add", out, tile, 1024)
    ct.launch(stream, (ct.cdiv(out.shape[0], tile), 1, 1), vector_add_kernel, (a, b, out, tile))


def chain(x: Any, y: Any, z: Any, out: Any, stream: Any = None, tile: int | None = None) -> None:
    """``out = sqrt(sin(x) * cos(y) + exp(-z * z) + log(x + 1))`` in one pass over memory.

    Parameters
    ----------
    x, y, z, out : array (N,)
        Those read of one floating-point dtype. Where the root's argument is negative, or x below
        -1, the result is NaN. ``out`` may be one of the others.
    stream : stream, optional
    tile : int, optional
        Elements of a block, a power of two; picked by device when not given.

    Raises
    ------
    ValueError
        When shapes do not fit, or ``out`` shares memory with an array that it is not.
    TypeError
        For a dtype that is not taken, or an ``out`` that does not hold the results.
    """
    if not is_accepted("chain", x, y, z, out):
        check.rank("chain", "x", x, 1)
        check.same_shape("chain", x=x, y=y, z=z, out=out)
        accept("chain", x, y, z, out)
    tile = _tile("chain", out, tile, 512)  # small blocks: one computes while others load
    ct.launch(stream, (ct.cdiv(out.shape[0], tile), 1, 1), chain_kernel, (x, y, z, out, tile))

# SPDX-License-Identifier: Apache-2.0
"""Elementwise kernels: one block handles one tile of a flat array."""

from __future__ import annotations

from typing import Any

import tessera.tile as ct

from . import _check as check
from . import on_gpu


@ct.kernel
def vector_add_kernel(a, b, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(TILE,))
    y = ct.load(b, index=(i,), shape=(TILE,))
    ct.store(out, index=(i,), tile=x + y)


@ct.kernel
def chain_kernel(x, y, z, out, TILE: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(TILE,))
    b = ct.load(y, index=(i,), shape=(TILE,))
    c = ct.load(z, index=(i,), shape=(TILE,))
    r = ct.sqrt(ct.sin(a) * ct.cos(b) + ct.exp(-c * c) + ct.log(a + 1.0))
    ct.store(out, index=(i,), tile=r)


def _tile(array: Any) -> int:
    return 1024 if on_gpu(array) else 4096


def vector_add(a: Any, b: Any, out: Any, stream: Any = None, tile: int | None = None) -> None:
    """``out = a + b`` for flat arrays of one dtype and length."""
    check.rank("vector_add", "a", a, 1)
    check.same_shape("vector_add", a=a, b=b, out=out)
    tile = tile or _tile(out)
    ct.launch(stream, (ct.cdiv(out.shape[0], tile), 1, 1), vector_add_kernel, (a, b, out, tile))


def chain(x: Any, y: Any, z: Any, out: Any, stream: Any = None, tile: int | None = None) -> None:
    """``out = sqrt(sin(x) * cos(y) + exp(-z * z) + log(x + 1))`` in one pass over memory."""
    check.rank("chain", "x", x, 1)
    check.same_shape("chain", x=x, y=y, z=z, out=out)
    tile = tile or _tile(out)
    ct.launch(stream, (ct.cdiv(out.shape[0], tile), 1, 1), chain_kernel, (x, y, z, out, tile))

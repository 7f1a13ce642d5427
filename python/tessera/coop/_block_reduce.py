# SPDX-License-Identifier: Apache-2.0
"""Reductions of a block: each thread its items, each warp by shuffles, then the warps' results through shared memory.

Up to eight results are put together one after the other; more are reduced by the lanes of a warp.
"""

from __future__ import annotations

import operator
from typing import Any

from ..cuda import _device as cuda
from ..cuda._device import refuse
from ._items import items_of
from ._values import ALL, block_size, counted, linear, shared_like, typed
from ._warp_scan import reduce_lanes

__all__ = ["reduce", "sum"]

SERIAL_WARPS = 8
ALGORITHMS = ("warp_reductions", "raking", "raking_commutative_only")
ALGORITHM_NAMES = ", ".join(ALGORITHMS)


def reduce_items(items: Any, op: Any, valid: Any) -> Any:
    """The reduction of a thread's items, of which the first ``valid`` count; None: all."""
    total = items[0]
    for i in tuple(range(1, len(items))):
        if valid is None:
            total = typed(total, op(total, items[i]))
        else:
            total = typed(total, op(total, items[i])) if i < valid else total
    return total


def by_lanes(n: int, warps: int) -> bool:
    """Whether the lanes of each warp put the warps' values together: many ones, and every warp has all its lanes."""
    return warps > SERIAL_WARPS and n % 32 == 0


def reduce_warps(partial: Any, op: Any, warps: int, valid: Any, lanes: bool) -> Any:
    """The reduction of what the warps left in shared memory; of ``lanes``, in the first lane of any warp."""
    if lanes:
        lane: Any = cuda.laneid
        x = partial[lane if lane < warps else 0]
        return reduce_lanes(x, op, 32, warps if valid is None else valid)
    total = partial[0]
    if valid is None:
        for w in tuple(range(1, warps)):
            total = typed(total, op(total, partial[w]))
    else:
        for w in range(1, valid):
            total = typed(total, op(total, partial[w]))
    return total


def reduce_block(x: Any, op: Any, threads: Any, valid: Any, broadcast: bool, sync: bool) -> Any:
    """One value of each thread; the first ``valid`` threads count, or None: all."""
    n, tid = block_size(threads), linear(threads)
    warps, warp = (n + 31) // 32, tid // 32
    if valid is None and n % 32 == 0:
        x = reduce_lanes(x, op, 32, None)
    else:
        x = reduce_lanes(x, op, 32, min((n if valid is None else valid) - warp * 32, 32))
    if warps == 1 and not broadcast:
        return x
    partial = shared_like(warps, x)
    if tid % 32 == 0:
        partial[warp] = x
    cuda.syncthreads()
    if broadcast or tid < 32:
        x = reduce_warps(partial, op, warps, None if valid is None else (valid + 31) // 32, by_lanes(n, warps))
    if broadcast and by_lanes(n, warps):
        x = cuda.shfl_sync(ALL, x, 0)
    if sync:
        cuda.syncthreads()
    return x


def reduce(
    x: Any, op: Any, *, threads: Any, num_valid: Any = None, broadcast: bool = False,
    algorithm: str = "warp_reductions", sync: bool = True,
) -> Any:  # fmt: skip
    """Reduces the values of a block.

    Parameters
    ----------
    x : value or items
        What each thread has: a number, named tuple or frozen dataclass; or items, a tuple or an array of one dimension,
        which stand in the order of the threads.
    op : function
        ``op(a, b)``, associative; called with neighbours in order.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    num_valid : int, optional
        How many values of the block count, from the first on; at least one.
    broadcast : bool
        All threads get the result; else thread 0 does, and the others get something.
    algorithm : str
        ``"warp_reductions"``, ``"raking"``, ``"raking_commutative_only"``: names of CUB's, one and the same here.
    sync : bool
        Ends with a barrier, so that the call may be repeated at once. Without it (False) one must stand between two
        calls at the same place.

    Returns
    -------
    value
        Of the dtypes of ``x``.

    Notes
    -----
    All threads of the block call it. Shared memory: a value for each warp. A tree of fixed shape: the same bits in
    every run.

    Examples
    --------
    >>> from tessera import coop, cuda
    >>> @cuda.jit
    ... def largest(x, out):
    ...     m = coop.block.reduce(x[cuda.grid(1)], max, threads=128)
    ...     if cuda.threadIdx.x == 0:
    ...         out[cuda.blockIdx.x] = m
    """
    if algorithm not in ALGORITHMS:
        refuse(f"algorithm={algorithm!r}: reduce() has {ALGORITHM_NAMES}")
    items = items_of(x)
    n = len(items)
    if num_valid is None or n == 1:
        valid = num_valid
        total = reduce_items(items, op, None)
    else:
        valid = (num_valid + n - 1) // n
        total = reduce_items(items, op, num_valid - linear(threads) * n)
    return reduce_block(total, op, threads, valid, broadcast, sync)


def sum(
    x: Any, *, threads: Any, num_valid: Any = None, broadcast: bool = False, algorithm: str = "warp_reductions",
    sync: bool = True,
) -> Any:  # fmt: skip
    """The sum of the values of a block: `reduce` with ``+``. Bools, but not those of an array, are counted (int32)."""
    return reduce(
        counted(x), operator.add, threads=threads, num_valid=num_valid, broadcast=broadcast, algorithm=algorithm,
        sync=sync,
    )  # fmt: skip

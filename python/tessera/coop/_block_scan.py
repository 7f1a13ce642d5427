# SPDX-License-Identifier: Apache-2.0
"""Scans of a block: each thread its items, each warp by shuffles, then every thread takes what the warps before its own
have left in shared memory.

Up to eight warps are taken one after the other; more are scanned by the lanes of each warp, which needs no second
barrier.
"""

from __future__ import annotations

import operator
from typing import Any

from ..cuda import _device as cuda
from ..cuda._device import is_quick, parts, refuse, whole
from ._block_reduce import by_lanes, reduce_items
from ._items import given_back, items_of
from ._values import ALL, block_size, counted, linear, shared_like, typed
from ._warp_scan import scan_lanes

__all__ = ["exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "scan"]

ALGORITHMS = ("warp_scans", "raking", "raking_memoize")
ALGORITHM_NAMES = ", ".join(ALGORITHMS)


def before_warp(partial: Any, op: Any, warp: Any, warps: int, lanes: bool) -> Any:
    """The reduction of the warps before this one (something, for the first), and of all."""
    if lanes:
        lane: Any = cuda.laneid
        x = scan_lanes(partial[lane if lane < warps else 0], op, 32)
        return cuda.shfl_sync(ALL, x, warp - 1 if warp > 0 else 0), cuda.shfl_sync(ALL, x, warps - 1)
    before = all_ = partial[0]
    for w in range(1, warps) if is_quick() else tuple(range(1, warps)):
        before = all_ if warp == w else before
        all_ = typed(all_, op(all_, partial[w]))
    return before, all_


def scan_threads(x: Any, op: Any, threads: Any) -> Any:
    """One value of each thread: the inclusive scan, the reduction of the threads before (something, for thread 0), and
    of all. The last two are for `prefix` and for the thread's items."""
    n, tid = block_size(threads), linear(threads)
    warps, warp, lane = (n + 31) // 32, tid // 32, tid % 32
    x = scan_lanes(x, op, 32)
    last = n - 1 - (warps - 1) * 32  # lane of the last thread
    if warps == 1:
        return x, cuda.shfl_up_sync(ALL, x, 1), cuda.shfl_sync(ALL, x, last)
    partial = shared_like(warps, x)
    if lane == 31 or tid == n - 1:
        partial[warp] = x
    cuda.syncthreads()
    before, all_ = before_warp(partial, op, warp, warps, by_lanes(n, warps))
    up = cuda.shfl_up_sync(ALL, x, 1)
    if warp > 0:
        x = typed(x, op(before, x))
        up = before if lane == 0 else typed(x, op(before, up))
    return x, up, all_


def prefix_of(prefix: Any, all_: Any, threads: Any) -> Any:
    """What the callback gives to lane 0 of the first warp, in all threads."""
    tid = linear(threads)
    place = shared_like(1, all_)
    if tid < 32:
        given = typed(all_, prefix(all_))
        if tid == 0:
            place[0] = given
    cuda.syncthreads()
    return place[0]


def scan_items(items: Any, op: Any, start: Any, inclusive: bool) -> Any:
    """The thread's items after ``start``."""
    results: Any = ()
    for item in items:
        after = typed(item, op(start, item))
        results += (after if inclusive else start,)
        start = after
    return results


def scan_after(items: Any, op: Any, up: Any, tid: Any, inclusive: bool) -> Any:
    """The thread's items after those of the threads before. Nothing stands before the first of thread 0, which is 0 in
    an exclusive scan."""
    inner: Any = None
    results: Any = ()
    for item in items:
        outer = inner
        inner = item if inner is None else typed(item, op(inner, item))
        if inclusive:
            outer = inner
        if outer is None:
            results += (whole(item, tuple(0 for _ in parts(item))) if tid == 0 else up,)
        else:
            results += (outer if tid == 0 else typed(item, op(up, outer)),)
    return results


def scan_block(
    x: Any, op: Any, threads: Any, inclusive: bool, initial: Any, prefix: Any, aggregate: bool, out: Any, sync: bool
) -> Any:
    """What `scan` does; an exclusive scan may begin with nothing."""
    items, tid = items_of(x), linear(threads)
    whole_, up, all_ = scan_threads(reduce_items(items, op, None), op, threads)
    first = None
    if prefix is not None:
        first = prefix_of(prefix, all_, threads)
    elif initial is not None:
        first = typed(all_, initial)
    if first is not None:
        results = scan_items(items, op, first if tid == 0 else typed(up, op(first, up)), inclusive)
    elif len(items) == 1 and inclusive:
        results = (whole_,)
    else:
        results = scan_after(items, op, up, tid, inclusive)
    if sync:
        cuda.syncthreads()
    given = given_back(x, results, out)
    return (given, all_) if aggregate else given


# ---- for users -----------------------------------------------------------------------------------------


def scan(
    x: Any, op: Any, *, threads: Any, mode: str = "exclusive", initial: Any = None, prefix: Any = None,
    aggregate: bool = False, algorithm: str = "warp_scans", out: Any = None, sync: bool = True,
) -> Any:  # fmt: skip
    """Scans the values of a block: each gets the reduction of those before it, ``"inclusive"`` of itself or not.

    Parameters
    ----------
    x : value or items
        What each thread has: a number, named tuple or frozen dataclass; or items, a tuple or an array of one dimension,
        which stand in the order of the threads.
    op : function
        ``op(a, b)``, associative; called with neighbours in order.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    mode : str
        ``"exclusive"`` or ``"inclusive"``.
    initial : value, optional
        Stands before the first value. An exclusive scan wants it, or a ``prefix``.
    prefix : function, optional
        Called by the first warp with the reduction of the block (without ``initial``); what lane 0 gets from it stands
        before the first value. With a state that it keeps, a block scans one tile after the other.
    aggregate : bool
        The result is a pair: that, and the reduction of the block, without ``initial`` and ``prefix``.
    algorithm : str
        ``"warp_scans"``, ``"raking"``, ``"raking_memoize"``: names of CUB's, one and the same here.
    out : array, optional
        Where the results of an array go; else into the array itself.
    sync : bool
        Ends with a barrier, so that the call may be repeated at once. Without it (False) one must stand between two
        calls at the same place.

    Returns
    -------
    value or items
        As ``x``, of its dtypes.

    Notes
    -----
    All threads of the block call it. Shared memory: a value for each warp, and one for ``prefix``. A tree of fixed
    shape: the same bits in every run.

    Examples
    --------
    >>> from tessera import coop, cuda
    >>> @cuda.jit
    ... def places(keep, out):
    ...     i = cuda.grid(1)
    ...     at, n = coop.block.exclusive_sum(keep[i], threads=128, aggregate=True)
    ...     if keep[i]:
    ...         out[cuda.blockIdx.x * 128 + at] = i
    """
    if mode not in ("exclusive", "inclusive"):
        refuse(f"mode={mode!r}: 'exclusive' or 'inclusive'")
    if algorithm not in ALGORITHMS:
        refuse(f"algorithm={algorithm!r}: scan() has {ALGORITHM_NAMES}")
    inclusive = mode == "inclusive"
    if not inclusive and initial is None and prefix is None:
        refuse("an exclusive scan wants initial=, what stands before the first value, or a prefix")
    return scan_block(x, op, threads, inclusive, initial, prefix, aggregate, out, sync)


def inclusive_scan(
    x: Any, op: Any, *, threads: Any, initial: Any = None, prefix: Any = None, aggregate: bool = False,
    algorithm: str = "warp_scans", out: Any = None, sync: bool = True,
) -> Any:  # fmt: skip
    """`scan` with ``mode="inclusive"``."""
    return scan(
        x, op, threads=threads, mode="inclusive", initial=initial, prefix=prefix, aggregate=aggregate,
        algorithm=algorithm, out=out, sync=sync,
    )  # fmt: skip


def exclusive_scan(
    x: Any, op: Any, initial: Any = None, *, threads: Any, prefix: Any = None, aggregate: bool = False,
    algorithm: str = "warp_scans", out: Any = None, sync: bool = True,
) -> Any:  # fmt: skip
    """`scan` with ``mode="exclusive"``."""
    return scan(
        x, op, threads=threads, mode="exclusive", initial=initial, prefix=prefix, aggregate=aggregate,
        algorithm=algorithm, out=out, sync=sync,
    )  # fmt: skip


def inclusive_sum(
    x: Any, *, threads: Any, initial: Any = None, prefix: Any = None, aggregate: bool = False,
    algorithm: str = "warp_scans", out: Any = None, sync: bool = True,
) -> Any:  # fmt: skip
    """`inclusive_scan` with ``+``; bools, but not those of an array, are counted (int32)."""
    return inclusive_scan(
        counted(x), operator.add, threads=threads, initial=initial, prefix=prefix, aggregate=aggregate,
        algorithm=algorithm, out=out, sync=sync,
    )  # fmt: skip


def exclusive_sum(
    x: Any, *, threads: Any, initial: Any = None, prefix: Any = None, aggregate: bool = False,
    algorithm: str = "warp_scans", out: Any = None, sync: bool = True,
) -> Any:  # fmt: skip
    """`exclusive_scan` with ``+``; what stands before the first value is 0 unless it is given. Bools, but not those of
    an array, are counted (int32)."""
    start = 0 if initial is None and prefix is None else initial
    return exclusive_scan(
        counted(x), operator.add, start, threads=threads, prefix=prefix, aggregate=aggregate, algorithm=algorithm,
        out=out, sync=sync,
    )  # fmt: skip

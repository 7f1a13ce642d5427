# SPDX-License-Identifier: Apache-2.0
"""What the threads of a block do with the items beside their own: flags where they differ, differences, shifts."""

from __future__ import annotations

from typing import Any

from ..cuda import _device as cuda
from ._items import given_back, items_of
from ._values import block_size, linear, own, shared_like, typed

__all__ = ["down", "flag_heads", "flag_tails", "offset", "rotate", "subtract_left", "subtract_right", "up"]


def of_thread(x: Any, other: Any, threads: Any, sync: bool) -> Any:
    """The value of another thread."""
    place = shared_like(block_size(threads), x)
    place[linear(threads)] = x
    cuda.syncthreads()
    got = place[other]
    if sync:
        cuda.syncthreads()
    return got


def before(items: Any, threads: Any, sync: bool) -> Any:
    """The last item of the thread before; of thread 0 one of its own."""
    tid = linear(threads)
    return of_thread(items[-1], tid - 1 if tid > 0 else 0, threads, sync)


def behind(items: Any, threads: Any, sync: bool) -> Any:
    """The first item of the thread behind; of the last thread one of its own."""
    tid, last = linear(threads), block_size(threads) - 1
    return of_thread(items[0], tid + 1 if tid < last else last, threads, sync)


# ---- for users -----------------------------------------------------------------------------------------


def flag_heads(items: Any, differs: Any, *, threads: Any, predecessor: Any = None, sync: bool = True) -> Any:
    """Whether each item differs from the one before it: where a run begins.

    Parameters
    ----------
    items : value or items
        What each thread has, in the order of the threads.
    differs : function
        ``differs(a, b)`` of an item and the next one.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    predecessor : value, optional
        Stands before the first item of the block; without it the first item begins a run.
    sync : bool
        Ends with a barrier, so that the call may be repeated at once.

    Returns
    -------
    bool, or tuple of bool
    """
    own_items = items_of(items)
    previous = before(own_items, threads, sync)
    flags: Any = ()
    if predecessor is not None and linear(threads) == 0:
        previous = typed(previous, predecessor)
    for i in tuple(range(len(own_items))):
        flag = bool(differs(previous, own_items[i]))
        if i == 0 and predecessor is None:
            flag = flag or linear(threads) == 0
        flags += (flag,)
        previous = own_items[i]
    return flags if len(flags) > 1 else flags[0]


def flag_tails(items: Any, differs: Any, *, threads: Any, successor: Any = None, sync: bool = True) -> Any:
    """Whether each item differs from the one behind it: where a run ends. As `flag_heads` otherwise."""
    own_items = items_of(items)
    following, last, n = behind(own_items, threads, sync), block_size(threads) - 1, len(own_items)
    flags: Any = ()
    if successor is not None and linear(threads) == last:
        following = typed(following, successor)
    for i in tuple(range(n)):
        flag = bool(differs(own_items[i], following if i == n - 1 else own_items[i + 1]))
        if i == n - 1 and successor is None:
            flag = flag or linear(threads) == last
        flags += (flag,)
    return flags if len(flags) > 1 else flags[0]


def subtract_left(items: Any, op: Any, *, threads: Any, predecessor: Any = None, num_valid: Any = None, out: Any = None,
                  sync: bool = True) -> Any:  # fmt: skip
    """``op(item, the item before)`` for each item of a block; the first one stays, unless there is a ``predecessor``.

    Items from ``num_valid`` on stay as they are. `threads`, `out` and `sync` as for `coop.block.scan`.
    """
    own_items = items_of(items)
    n, tid = len(own_items), linear(threads)
    previous = before(own_items, threads, sync)
    results: Any = ()
    if predecessor is not None and tid == 0:
        previous = typed(previous, predecessor)
    for i in tuple(range(n)):
        item = own_items[i]
        result = typed(item, op(item, previous))
        if i == 0 and predecessor is None:
            result = item if tid == 0 else result
        if num_valid is not None:
            result = result if tid * n + i < num_valid else item
        results += (result,)
        previous = item
    return given_back(items, results, out)


def subtract_right(items: Any, op: Any, *, threads: Any, successor: Any = None, num_valid: Any = None, out: Any = None,
                   sync: bool = True) -> Any:  # fmt: skip
    """``op(item, the item behind)`` for each item of a block; the last one stays, unless there is a ``successor``.

    The last one is that before ``num_valid``, and those behind stay. As `subtract_left` otherwise.
    """
    own_items = items_of(items)
    n, tid = len(own_items), linear(threads)
    end = n * block_size(threads) if num_valid is None else num_valid
    following = behind(own_items, threads, sync)
    results: Any = ()
    for i in tuple(range(n)):
        item, at = own_items[i], tid * n + i
        other = following if i == n - 1 else own_items[i + 1]
        if successor is not None:
            other = typed(other, successor) if at == end - 1 else other
            results += (typed(item, op(item, other)) if at < end else item,)
        else:
            results += (typed(item, op(item, other)) if at < end - 1 else item,)
    return given_back(items, results, out)


def offset(x: Any, distance: Any, *, threads: Any, sync: bool = True) -> Any:
    """The value of the thread ``distance`` further on (or back, below zero); its own where there is none."""
    at = linear(threads) + distance
    is_there = at >= 0 and at < block_size(threads)
    return of_thread(own(x), at if is_there else linear(threads), threads, sync)


def rotate(x: Any, distance: Any, *, threads: Any, sync: bool = True) -> Any:
    """The value of the thread ``distance`` further on, where the first follows the last."""
    return of_thread(own(x), (linear(threads) + distance) % block_size(threads), threads, sync)


def up(items: Any, *, threads: Any, first: Any = None, out: Any = None, sync: bool = True) -> Any:
    """Each item of a block moves to the next place. The first place gets ``first``, or keeps its item."""
    own_items = items_of(items)
    previous = before(own_items, threads, sync)
    if linear(threads) == 0:
        previous = own_items[0] if first is None else typed(previous, first)
    return given_back(items, (previous,) + own_items[:-1], out)


def down(items: Any, *, threads: Any, last: Any = None, out: Any = None, sync: bool = True) -> Any:
    """Each item of a block moves to the place before. The last place gets ``last``, or keeps its item."""
    own_items = items_of(items)
    following = behind(own_items, threads, sync)
    if linear(threads) == block_size(threads) - 1:
        following = own_items[-1] if last is None else typed(following, last)
    return given_back(items, own_items[1:] + (following,), out)

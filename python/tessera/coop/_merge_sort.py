# SPDX-License-Identifier: Apache-2.0
"""Merge sort of the items of a block: each thread sorts its own, then pairs of runs are merged, twice as long in each
round. A thread finds by bisection where its items of the merged run begin (the merge path), and merges so many.
"""

from __future__ import annotations

from typing import Any

from numpy import int32

from ..cuda import _device as cuda
from ..cuda._device import refuse
from ._items import given_back, items_of
from ._memory import slot, slots
from ._values import block_size, linear, shared_like

__all__ = ["merge_sort"]


def sort_items(entries: Any, first: Any, compare: Any, valid: Any) -> Any:
    """A thread's own entries in order, by exchanges of neighbours; ``first``: where they stand in the block."""
    n = len(entries)
    for turn in tuple(range(n)):
        for i in tuple(range(turn % 2, n - 1, 2)):
            a, b = entries[i], entries[i + 1]
            swap = compare(b[0], a[0])
            if valid is not None:
                swap = swap and first + i + 1 < valid
            entries = entries[:i] + (b if swap else a, a if swap else b) + entries[i + 2 :]
    return entries


def merge_path(place: Any, compare: Any, a: Any, n_a: Any, b: Any, n_b: Any, diagonal: Any) -> Any:
    """How many of the first ``diagonal`` entries of two merged runs are of the first one."""
    low, high = int32(max(diagonal - n_b, 0)), int32(min(n_a, diagonal))
    while low < high:
        middle = int32((low + high) >> 1)
        if compare(place[slot(b + diagonal - 1 - middle)][0], place[slot(a + middle)][0]):
            high = middle
        else:
            low = int32(middle + 1)
    return low


def merge_items(place: Any, compare: Any, i: Any, end_a: Any, j: Any, end_b: Any, n: int, last: Any) -> Any:
    """The next ``n`` entries of two runs, at i and j, that are being merged."""
    a, b = place[slot(min(i, last))], place[slot(min(j, last))]
    merged: Any = ()
    for k in tuple(range(n)):
        of_b = j < end_b and (i >= end_a or compare(b[0], a[0]))
        merged += (b if of_b else a,)
        if of_b:
            j = int32(j + 1)
        else:
            i = int32(i + 1)
        if k < n - 1:
            following = place[slot(min(j if of_b else i, last))]
            a, b = (a if of_b else following), (following if of_b else b)
    return merged


def merge_rounds(entries: Any, compare: Any, threads: Any, total: Any, sync: bool) -> Any:
    """Merges the runs of ``half`` threads each, then twice as many. The end of a run may be beyond the items."""
    size, tid, n = block_size(threads), linear(threads), len(entries)
    place = shared_like(slots(size * n), entries[0])
    half: Any = int32(1)
    while half < size:
        for i in tuple(range(n)):
            place[slot(tid * n + i)] = entries[i]
        cuda.syncthreads()
        within, length = int32(tid & (2 * half - 1)), int32(half * n)
        a = int32(min((tid - within) * n, total))
        b = int32(min(a + length, total))
        end = int32(min(b + length, total))
        diagonal = int32(min(within * n, end - a))
        taken = merge_path(place, compare, a, b - a, b, end - b, diagonal)
        next_a, next_b = int32(a + taken), int32(b + diagonal - taken)
        entries = merge_items(place, compare, next_a, b, next_b, end, n, size * n - 1)
        cuda.syncthreads()
        half = int32(2 * half)
    return entries


def entries_of(keys: Any, values: Any) -> Any:
    """Keys, with their values: what is moved together."""
    keys = items_of(keys)
    if values is None:
        return tuple((key,) for key in keys)
    values = items_of(values)
    if len(keys) != len(values):
        refuse(f"{len(keys)} keys and {len(values)} values: a thread has as many")
    return tuple((keys[i], values[i]) for i in range(len(keys)))


def entries_back(keys: Any, values: Any, entries: Any) -> Any:
    """Keys, or keys and values, in the form that they were given in."""
    sorted_keys = given_back(keys, tuple(entry[0] for entry in entries))
    if values is None:
        return sorted_keys
    return sorted_keys, given_back(values, tuple(entry[1] for entry in entries))


# ---- for users -----------------------------------------------------------------------------------------


def merge_sort(
    keys: Any, compare: Any, *, threads: Any, values: Any = None, num_valid: Any = None, sync: bool = True
) -> Any:
    """Sorts the items of a block.

    Parameters
    ----------
    keys : value or items
        What each thread has, in the order of the threads. An array is sorted in place.
    compare : function
        ``compare(a, b)``: whether a stands before b. A strict order: false of equal ones.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    values : value or items, optional
        Go with the keys; the result is a pair then.
    num_valid : int, optional
        How many items of the block there are, from the first on; the others stay behind, in any order.
    sync : bool
        Accepted: the last round ends with a barrier.

    Returns
    -------
    items, or pair of items

    Notes
    -----
    Stable. Shared memory: all keys and values.

    Examples
    --------
    >>> from tessera import coop, cuda
    >>> @cuda.jit
    ... def descending(x):
    ...     t = cuda.threadIdx.x
    ...     mine = coop.block.load(x, 4, threads=128)
    ...     mine = coop.block.merge_sort(mine, lambda a, b: a > b, threads=128)
    ...     coop.block.store(x, mine, threads=128)
    """
    entries = entries_of(keys, values)
    n = len(entries)
    total = n * block_size(threads) if num_valid is None else num_valid
    entries = sort_items(entries, linear(threads) * n, compare, num_valid)
    return entries_back(keys, values, merge_rounds(entries, compare, threads, total, sync))

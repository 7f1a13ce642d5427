# SPDX-License-Identifier: Apache-2.0
"""Items between memory and threads, and from one arrangement to another.

    items of two each   thread 0   thread 1   thread 2 ..
    blocked             0 1        2 3        4 5            neighbours in one thread
    striped             0 n        1 n+1      2 n+2          neighbours in neighbouring threads; n threads
    warp_striped        striped within each warp

Through shared memory an item is written where it stands in one arrangement and read where it stands in the other; a
word is left out after each 32, so that strides of even numbers of items meet different banks.
"""

from __future__ import annotations

from typing import Any

from numpy import int32

from ..cuda import _device as cuda
from ..cuda._device import known, refuse
from ._items import given_back, items_of
from ._values import block_size, linear, own, shared_like

__all__ = ["exchange", "load", "scatter", "store"]

ALGORITHMS = {  # the arrangement in which memory is touched
    "direct": "blocked", "striped": "striped", "vectorize": "blocked", "transpose": "striped",
    "warp_transpose": "warp_striped", "warp_transpose_timesliced": "warp_striped",
}  # fmt: skip
ARRANGEMENTS = ("blocked", "striped", "warp_striped")
EXCHANGES = {f"{a}_to_{b}": (a, b) for a in ARRANGEMENTS for b in ARRANGEMENTS if a != b}
ALGORITHM_NAMES, ARRANGEMENT_NAMES, EXCHANGE_NAMES = map(", ".join, (ALGORITHMS, ARRANGEMENTS, EXCHANGES))


def slot(i: Any) -> Any:
    """Where the i-th item is in shared memory; unsigned, as negative indices count from the end."""
    return int32(i + (i >> 5))


def slots(n: int) -> int:
    """How many places n items take."""
    return n + n // 32


def position(arrangement: str, i: int, n: int, threads: Any) -> Any:
    """Where the thread's i-th of n items stands in the block."""
    tid = linear(threads)
    size = block_size(threads)
    if arrangement == "blocked":
        return tid * n + i
    if arrangement == "striped":
        return tid + i * size
    first = tid - tid % 32
    lanes = 32 if size % 32 == 0 else min(size - first, 32)
    return first * n + tid % 32 + i * lanes


def moved(items: Any, source: str, target: str, threads: Any, sync: bool) -> Any:
    """The items in another arrangement."""
    n = len(items)
    if n == 1 or source == target:
        return items
    place = shared_like(slots(n * block_size(threads)), items[0])
    for i in tuple(range(n)):
        place[slot(position(source, i, n, threads))] = items[i]
    cuda.syncthreads()
    result = tuple(place[slot(position(target, i, n, threads))] for i in range(n))
    if sync:
        cuda.syncthreads()
    return result


def scattered(items: Any, ranks: Any, target: str, threads: Any, num_valid: Any, sync: bool) -> Any:
    """The items, each at its rank; ranks from ``num_valid`` on, and below 0, are left out."""
    n = len(items)
    total = n * block_size(threads)
    place = shared_like(slots(total), items[0])
    for i in tuple(range(n)):
        if ranks[i] >= 0 and ranks[i] < (total if num_valid is None else num_valid):
            place[slot(ranks[i])] = items[i]
    cuda.syncthreads()
    result = tuple(place[slot(position(target, i, n, threads))] for i in range(n))
    if sync:
        cuda.syncthreads()
    return result


def arrangement_of(algorithm: str) -> str:
    """The arrangement in which an algorithm of load and store touches memory."""
    if algorithm not in ALGORITHMS:
        refuse(f"algorithm={algorithm!r}: load() and store() have {ALGORITHM_NAMES}")
    return ALGORITHMS[algorithm]


# ---- for users -----------------------------------------------------------------------------------------


def exchange(items: Any, how: str, *, threads: Any, out: Any = None, sync: bool = True) -> Any:
    """Brings the items of a block into another arrangement.

    Parameters
    ----------
    items : items
        A tuple or an array of one dimension.
    how : str
        ``"striped_to_blocked"`` and its like: two different ones of ``blocked``, ``striped``, ``warp_striped``.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    out : array, optional
        Where the results of an array go; else into the array itself.
    sync : bool
        Ends with a barrier, so that the call may be repeated at once.

    Returns
    -------
    items

    Examples
    --------
    >>> from tessera import coop, cuda
    >>> @cuda.jit
    ... def quads(x, out):
    ...     t = cuda.threadIdx.x
    ...     mine = coop.block.exchange(tuple(x[t + i * 128] for i in range(4)), "striped_to_blocked", threads=128)
    ...     out[t] = mine[0] + mine[1] + mine[2] + mine[3]
    """
    if how not in EXCHANGES:
        refuse(f"how={how!r}: exchange() has {EXCHANGE_NAMES}")
    source, target = EXCHANGES[how]
    return given_back(items, moved(items_of(items), source, target, threads, sync), out)


def scatter(
    items: Any, ranks: Any, *, threads: Any, to: str = "blocked", num_valid: Any = None, out: Any = None,
    sync: bool = True,
) -> Any:  # fmt: skip
    """Brings each item of a block to its rank: the result is the items in order of their ranks, in the arrangement
    ``to``. Ranks below zero, and from ``num_valid`` on, are left out; where no item goes, the result has something.
    """
    if to not in ARRANGEMENTS:
        refuse(f"to={to!r}: {ARRANGEMENT_NAMES}")
    return given_back(items, scattered(items_of(items), items_of(ranks), to, threads, num_valid, sync), out)


def load(
    source: Any, items: int, *, threads: Any, algorithm: str = "direct", num_valid: Any = None, fill: Any = None,
    sync: bool = True,
) -> Any:  # fmt: skip
    """Loads the items of a block from memory.

    Parameters
    ----------
    source : array
        One dimension, whose first element is the block's: ``x[first:]``.
    items : int
        How many a thread gets. A constant.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    algorithm : str
        ``"direct"`` and ``"vectorize"``: a thread loads its neighbouring items. ``"transpose"``, ``"warp_transpose"``
        (``"warp_transpose_timesliced"``): neighbouring threads load neighbouring items, which then change places
        through shared memory. ``"striped"``: they do, and the result is striped.
    num_valid : int, optional
        How many items there are; others are ``fill``, or zero.

    Returns
    -------
    tuple
        Blocked, or striped.
    """
    arrangement = arrangement_of(algorithm)
    if known(items, "items") < 1:
        refuse(f"items={items}: a thread has one item or more")
    if num_valid is None:
        got = tuple(source[position(arrangement, i, items, threads)] for i in range(items))
    else:
        got = tuple(
            valid_item(source, position(arrangement, i, items, threads), num_valid, fill) for i in range(items)
        )
    got = tuple(own(item) for item in got)
    return got if algorithm == "striped" else moved(got, arrangement, "blocked", threads, sync)


def valid_item(source: Any, i: Any, num_valid: Any, fill: Any) -> Any:
    """The element, or what stands for those that there are not."""
    blank = source.dtype(0 if fill is None else fill)
    return source[i] if i < num_valid else blank


def store(
    target: Any, items: Any, *, threads: Any, algorithm: str = "direct", num_valid: Any = None, sync: bool = True
) -> None:
    """Stores the items of a block, as `load` loads them; those from ``num_valid`` on are not stored."""
    arrangement = arrangement_of(algorithm)
    given = items_of(items)
    n = len(given)
    if algorithm != "striped":
        given = moved(given, "blocked", arrangement, threads, sync)
    for i in tuple(range(n)):
        at = position(arrangement, i, n, threads)
        if num_valid is None or at < num_valid:
            target[at] = given[i]

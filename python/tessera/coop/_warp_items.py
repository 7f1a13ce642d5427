# SPDX-License-Identifier: Apache-2.0
"""Items of the lanes of a warp: loads, stores, other arrangements and merge sort, by shuffles alone.

The sort is a network of compare and exchange (Batcher, 1968) over the items in blocked arrangement. Items carry their
places, which decide between equal ones: that makes it stable. A lane's items are filled up to a power of 2.
"""

from __future__ import annotations

from typing import Any

from ..cuda import _device as cuda
from ..cuda._device import known, refuse
from ._items import given_back, items_of
from ._memory import EXCHANGES, arrangement_of, valid_item
from ._merge_sort import entries_back, entries_of
from ._values import ALL, own
from ._warp_scan import lane_of

__all__ = ["exchange", "load", "merge_sort", "store"]


def gathered(items: Any, lane: Any, index: Any) -> Any:
    """Item ``index`` of that lane of the thread's own warp."""
    result = cuda.shfl_sync(ALL, items[0], lane)
    for i in tuple(range(1, len(items))):
        other = cuda.shfl_sync(ALL, items[i], lane)
        result = other if index == i else result
    return result


def moved(items: Any, source: str, target: str, width: int) -> Any:
    """The items in another arrangement; striped and warp_striped are one."""
    n, lane = len(items), lane_of(width)
    if n == 1 or (source == "blocked") == (target == "blocked"):
        return items
    result: Any = ()
    first = cuda.laneid - lane
    for i in tuple(range(n)):
        if target == "blocked":
            at = lane * n + i
            result += (gathered(items, first + at % width, at // width),)
        else:
            at = lane + i * width
            result += (gathered(items, first + at // n, at % n),)
    return result


def position(arrangement: str, i: int, n: int, width: int) -> Any:
    """Where the lane's i-th of n items stands in its group."""
    return lane_of(width) * n + i if arrangement == "blocked" else lane_of(width) + i * width


def check_width(width: int) -> None:
    if known(width, "width") not in (1, 2, 4, 8, 16, 32):
        refuse(f"width={width}: groups of lanes with items are of 1, 2, 4, 8, 16 or 32")


# ---- for users -----------------------------------------------------------------------------------------


def exchange(items: Any, how: str, *, width: int = 32, out: Any = None) -> Any:
    """Brings the items of a warp into another arrangement, ``"striped_to_blocked"`` or ``"blocked_to_striped"``; as
    `coop.block.exchange` otherwise. An item of n costs n shuffles; no shared memory."""
    check_width(width)
    if how not in EXCHANGES:
        refuse(f"how={how!r}: exchange() has 'striped_to_blocked' and 'blocked_to_striped'")
    source, target = EXCHANGES[how]
    return given_back(items, moved(items_of(items), source, target, width), out)


def load(
    source: Any, items: int, *, width: int = 32, algorithm: str = "direct", num_valid: Any = None, fill: Any = None
) -> Any:
    """Loads the items of a warp, or of each group of ``width`` lanes; ``source`` begins with the group's first. As
    `coop.block.load` otherwise."""
    check_width(width)
    arrangement = arrangement_of(algorithm)
    if known(items, "items") < 1:
        refuse(f"items={items}: a thread has one item or more")
    if num_valid is None:
        got = tuple(own(source[position(arrangement, i, items, width)]) for i in range(items))
    else:
        got = tuple(valid_item(source, position(arrangement, i, items, width), num_valid, fill) for i in range(items))
    return got if algorithm == "striped" else moved(got, arrangement, "blocked", width)


def store(target: Any, items: Any, *, width: int = 32, algorithm: str = "direct", num_valid: Any = None) -> None:
    """Stores the items of a warp, as `load` loads them; those from ``num_valid`` on are not stored."""
    check_width(width)
    arrangement = arrangement_of(algorithm)
    given = items_of(items)
    n = len(given)
    if algorithm != "striped":
        given = moved(given, "blocked", arrangement, width)
    for i in tuple(range(n)):
        at = position(arrangement, i, n, width)
        if num_valid is None or at < num_valid:
            target[at] = given[i]


def stands_before(compare: Any, a: Any, place_a: Any, b: Any, place_b: Any, total: int) -> Any:
    """The order of the network: no two are equal, and what fills a lane up stands behind."""
    if place_a >= total or place_b >= total:
        return place_a < place_b
    return compare(a[0], b[0]) or (place_a < place_b and not compare(b[0], a[0]))


def network_step(entries: Any, places: Any, compare: Any, lane: Any, total: int, size: int, distance: int) -> Any:
    """Entries at positions that differ in the bit ``distance`` are put in order, rising where the bit ``size`` of the
    position is 0."""
    n = len(entries)
    kept: Any = ()
    kept_places: Any = ()
    for i in tuple(range(n)):
        mine, mine_place = entries[i], places[i]
        if distance < n:
            other, other_place, is_first = entries[i ^ distance], places[i ^ distance], i & distance == 0
        else:
            other = cuda.shfl_xor_sync(ALL, mine, distance // n)
            other_place = cuda.shfl_xor_sync(ALL, mine_place, distance // n)
            is_first = lane & (distance // n) == 0
        rises = i & size == 0 if size < n else lane & (size // n) == 0
        stays = stands_before(compare, mine, mine_place, other, other_place, total) == (is_first == rises)
        kept += (mine if stays else other,)
        kept_places += (mine_place if stays else other_place,)
    return kept, kept_places


def merge_sort(keys: Any, compare: Any, *, width: int = 32, values: Any = None) -> Any:
    """Sorts the items of a warp, or of each group of ``width`` lanes.

    Parameters
    ----------
    keys : value or items
        What each lane has, in the order of the lanes. An array is sorted in place.
    compare : function
        ``compare(a, b)``: whether a stands before b. A strict order: false of equal ones.
    width : int
        How many lanes belong together, a power of 2.
    values : value or items, optional
        Go with the keys; the result is a pair then.

    Returns
    -------
    items, or pair of items

    Notes
    -----
    Stable. By shuffles, without shared memory.
    """
    check_width(width)
    entries, lane = entries_of(keys, values), lane_of(width)
    n = len(entries)
    full = tuple(power for power in (1, 2, 4, 8, 16, 32, 64) if power >= n)[0]
    total = n * width
    places = tuple(lane * n + i for i in range(n)) + tuple(total + lane * full + i for i in range(full - n))
    filled = entries + (entries[0],) * (full - n)
    powers = tuple(1 << i for i in range(11) if 1 << i <= full * width)
    for size in powers[1:]:
        for distance in powers[::-1]:
            if distance < size:
                filled, places = network_step(filled, places, compare, lane, total, size, distance)
    if full != n:
        first = cuda.laneid - lane
        filled = tuple(gathered(filled, first + (lane * n + i) // full, (lane * n + i) % full) for i in range(n))
    return entries_back(keys, values, filled)

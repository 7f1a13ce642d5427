# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans of the lanes of a warp, by shuffles: five steps, each of twice the distance.

    lane       0     1     2     3     4 ..
    step 1     0+1   1+2   2+3   3+4   4+5 ..
    step 2     0..3  1..4  2..5  3..6  ..           reduce: a lane takes the lanes behind it
               0     0+1   0..2  0..3  1..4 ..      scan: a lane takes the lanes before it

Neighbours are put together in order, so operators need not be commutative.
"""

from __future__ import annotations

import operator
from typing import Any

from ..cuda import _device as cuda
from ..cuda._device import is_quick, known, refuse
from ._values import ALL, counted, own, typed

__all__ = ["exclusive_scan", "exclusive_sum", "inclusive_scan", "inclusive_sum", "lane_of", "reduce", "sum"]


def steps_of(width: int) -> Any:
    """The distances that put ``width`` lanes together."""
    if known(width, "width") < 1 or width > 32:
        refuse(f"width={width}: a warp has 1 to 32 threads")
    return tuple(d for d in (1, 2, 4, 8, 16) if d < width)


def lane_of(width: int) -> Any:
    """The thread's place among ``width`` neighbours of its warp."""
    lane: Any = cuda.laneid
    return lane if width > 16 else lane % width


def reduce_lanes(x: Any, op: Any, width: int, valid: Any) -> Any:
    """The reduction of the first ``valid`` lanes, in the first; None: all of them."""
    lane, steps = lane_of(width), steps_of(width)
    if is_quick():
        for k in range(len(steps)):
            x = reduced(x, op, 1 << k, lane, valid)
    else:
        for d in steps:
            x = reduced(x, op, d, lane, valid)
    return x


def reduced(x: Any, op: Any, d: Any, lane: Any, valid: Any) -> Any:
    """A step of a reduction."""
    other = cuda.shfl_down_sync(ALL, x, d)
    if valid is None:
        return typed(x, op(x, other))
    return typed(x, op(x, other)) if lane + d < valid else x


def scan_lanes(x: Any, op: Any, width: int) -> Any:
    """The inclusive scan."""
    lane, steps = lane_of(width), steps_of(width)
    if is_quick():
        for k in range(len(steps)):
            x = scanned(x, op, 1 << k, lane)
    else:
        for d in steps:
            x = scanned(x, op, d, lane)
    return x


def scanned(x: Any, op: Any, d: Any, lane: Any) -> Any:
    """A step of a scan."""
    other = cuda.shfl_up_sync(ALL, x, d)
    return typed(x, op(other, x)) if lane >= d else x


def lane_shift(x: Any, first: Any, width: int) -> Any:
    """What the lane before has; the first has ``first``."""
    other = cuda.shfl_up_sync(ALL, x, 1)
    return typed(x, first) if lane_of(width) == 0 else other


def last_lane(x: Any, lane: int, width: int) -> Any:
    """What that lane of the thread's own group has."""
    return cuda.shfl_sync(ALL, x, cuda.laneid - lane_of(width) + lane)


# ---- for users -----------------------------------------------------------------------------------------


def reduce(x: Any, op: Any, *, width: int = 32, num_valid: Any = None, broadcast: bool = False) -> Any:
    """Reduces the values of a warp.

    Parameters
    ----------
    x : value
        A number, named tuple or frozen dataclass of each lane.
    op : function
        ``op(a, b)``, associative; called with neighbours in order.
    width : int
        How many lanes belong together: the warp is cut into groups of so many. Of a number that is no power of 2 there
        is one group.
    num_valid : int, optional
        How many lanes of each group have a value.
    broadcast : bool
        All lanes get the result; else the first does, and the others get something.

    Returns
    -------
    value
        Of the dtypes of ``x``.

    Examples
    --------
    >>> from tessera import coop, cuda
    >>> @cuda.jit
    ... def rows(x, out):
    ...     total = coop.warp.reduce(x[cuda.grid(1)], lambda a, b: a + b)
    ...     if cuda.laneid == 0:
    ...         out[cuda.grid(1) // 32] = total
    """
    full = num_valid is None and width in (1, 2, 4, 8, 16, 32)
    x = reduce_lanes(own(x), op, width, None if full else width if num_valid is None else num_valid)
    return last_lane(x, 0, width) if broadcast else x


def sum(x: Any, *, width: int = 32, num_valid: Any = None, broadcast: bool = False) -> Any:
    """The sum of the values of a warp: `reduce` with ``+``."""
    return reduce(counted(x), operator.add, width=width, num_valid=num_valid, broadcast=broadcast)


def inclusive_scan(x: Any, op: Any, *, width: int = 32, initial: Any = None, aggregate: bool = False) -> Any:
    """Each lane gets the reduction of the lanes up to itself, after ``initial`` where it is given.

    With ``aggregate`` the result is a pair: that, and the reduction of all lanes, without ``initial``.
    """
    inner = scan_lanes(own(x), op, width)
    result = inner if initial is None else typed(inner, op(typed(inner, initial), inner))
    return (result, last_lane(inner, width - 1, width)) if aggregate else result


def exclusive_scan(x: Any, op: Any, initial: Any, *, width: int = 32, aggregate: bool = False) -> Any:
    """Each lane gets the reduction of ``initial`` and the lanes before it; parameters as for `inclusive_scan`."""
    inner = scan_lanes(own(x), op, width)
    before = typed(inner, initial)
    result = lane_shift(typed(inner, op(before, inner)), before, width)
    return (result, last_lane(inner, width - 1, width)) if aggregate else result


def inclusive_sum(x: Any, *, width: int = 32, initial: Any = None, aggregate: bool = False) -> Any:
    """`inclusive_scan` with ``+``."""
    return inclusive_scan(counted(x), operator.add, width=width, initial=initial, aggregate=aggregate)


def exclusive_sum(x: Any, *, width: int = 32, initial: Any = 0, aggregate: bool = False) -> Any:
    """`exclusive_scan` with ``+``."""
    return exclusive_scan(counted(x), operator.add, initial, width=width, aggregate=aggregate)

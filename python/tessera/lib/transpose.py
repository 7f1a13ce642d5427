# SPDX-License-Identifier: Apache-2.0
"""Transposition and permutation of axes. A tile is loaded as it lies in one array, its axes change
places in registers and shared memory, and it is stored as it lies in the other: neighbouring
threads touch neighbouring addresses on both sides.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import tessera.tile as ct

from . import _check as check
from . import next_power_of_two, view
from ._rules import accept, is_accepted


@ct.kernel
def permute_kernel(
    x, out, AXES: ct.Constant, BACK: ct.Constant, SHAPE: ct.Constant, ORDER: ct.Constant,
    PLACE: ct.Constant,
):  # fmt: skip
    """A tile of SHAPE, with the axes of ``x``; AXES as for ``permute`` and BACK its inverse. Grid
    axes 0 and 1 count tiles along the axes ORDER[0] and ORDER[1] of ``out``, grid axis 2 along all
    others; PLACE is the inverse of ORDER."""
    walked, rest = (ct.bid(0), ct.bid(1)), ct.bid(2)  # by axes of `out`, in ORDER
    for k in ct.static_iter(range(2, len(AXES))):
        n = ct.cdiv(out.shape[ORDER[k]], SHAPE[AXES[ORDER[k]]]) if k + 1 < len(AXES) else rest + 1
        walked, rest = (*walked, rest % n), rest // n
    there = tuple(walked[PLACE[d]] for d in ct.static_iter(range(len(AXES))))
    here = tuple(there[BACK[d]] for d in ct.static_iter(range(len(AXES))))
    t = ct.load(x, index=here, shape=SHAPE)
    ct.store(out, index=there, tile=ct.permute(t, AXES))


def _collapse(shape: Sequence[int], axes: Sequence[int]) -> tuple[list[int], list[int]]:
    """The same permutation with as few axes as possible: axes of one element go, axes that stay
    side by side in order become one.
    """
    runs: list[list[int]] = []
    for a in (a for a in axes if shape[a] != 1):
        after = (
            runs and not any(shape[k] != 1 for k in range(runs[-1][-1] + 1, a)) and a > runs[-1][-1]
        )
        if after:
            runs[-1].append(a)
        else:
            runs.append([a])
    order = sorted(range(len(runs)), key=lambda r: runs[r][0])
    return [math.prod(shape[a] for a in runs[r]) for r in order], [
        order.index(r) for r in range(len(runs))
    ]


def _tile(shape: list[int], axes: list[int], itemsize: int) -> list[int]:
    """Tile extents. Runs of 256 bytes in the memory of both sides come first, over several axes
    where the innermost are short, then what is left from the inside out.
    """
    side = 128 if itemsize <= 2 else 64
    size, tile = side * side, [1] * len(shape)
    for inside_out in (range(len(shape))[::-1], axes[::-1]):
        run = 1
        for d in inside_out:
            whole = next_power_of_two(shape[d])
            tile[d] = max(tile[d], min(whole, max(1, side // run)))
            run *= tile[d]
            if run >= side or tile[d] < whole:
                break
    for d in reversed(range(len(shape))):
        room = max(1, size // math.prod(tile)) * tile[d]
        tile[d] = max(tile[d], min(next_power_of_two(shape[d]), room))
    return tile


def _order(axes: Sequence[int]) -> tuple[int, ...]:
    """The axes of ``out`` in the order in which blocks walk it: from its last axis on, but where
    rows of ``x`` become the slowest axis neighbours had better read what lies side by side.
    """
    n = len(axes)
    if n < 4 or axes[0] != n - 1:
        return tuple(range(n))[::-1]
    return (n - 1, *sorted(range(1, n - 1), key=lambda d: -axes[d]), 0)


@functools.lru_cache(maxsize=1024)
def _plan(
    whole: tuple[int, ...], axes: tuple[int, ...], tile: tuple[int, ...] | None, itemsize: int
) -> tuple[Any, ...]:
    """What a launch needs: grid, shapes of both sides, and the kernel's constants."""
    shape, order = _collapse(whole, axes)
    missing = max(0, 2 - len(shape))  # the kernel wants two axes
    shape = [1] * missing + shape
    order = [*range(missing), *(d + missing for d in order)]
    if tile is not None:
        check.tile("permute", "tile", tile, len(shape))
    tile = tuple(tile or _tile(shape, order, itemsize))
    back = tuple(order.index(d) for d in range(len(order)))
    walk = _order(order)
    place = tuple(walk.index(d) for d in range(len(order)))
    blocks = [ct.cdiv(shape[order[d]], tile[order[d]]) for d in walk]
    grid = (blocks[0], blocks[1], math.prod(blocks[2:]))
    turned = tuple(shape[a] for a in order)
    return grid, tuple(shape), turned, (tuple(order), back, tile, walk, place)


def permute(
    x: Any, out: Any, axes: Sequence[int], stream: Any = None, tile: Sequence[int] | None = None
) -> None:
    """``out = x.transpose(axes)``.

    Parameters
    ----------
    x, out : array
        Of one dtype, any rank and any strides, with which axes that are neighbours in both merge to
        one without a copy; axis d of ``out`` is axis ``axes[d]`` of ``x``.
    axes : sequence of int
        A permutation; negative ones count from the end.
    stream : stream, optional
    tile : sequence of int, optional
        Extents of a tile, powers of two, along the axes that are left when neighbours are merged;
        picked by shape when not given.

    Raises
    ------
    TypeError
        When the dtypes differ.
    ValueError
        When shapes do not fit, ``out`` shares memory with ``x``, ``axes`` are no permutation, or
        axes do not merge.
    """
    whole = check.shape_of("permute", "x", x)
    n = len(whole)
    if not isinstance(axes, Sequence):
        raise TypeError(f"permute: axes is {axes!r}, wanted the {n} axes of x in their new order")
    axes = [check.integer("permute", "an axis", a, -n, n - 1) % n for a in axes]
    if sorted(axes) != list(range(n)):
        raise ValueError(f"permute: {tuple(axes)} is not a permutation of {n} axes")
    check.shape("permute", "out", out, tuple(whole[a] for a in axes))
    accept("permute", x, out)
    if 0 in whole:
        return
    tile = tuple(tile) if isinstance(tile, (list, tuple)) else tile
    grid, shape, turned, constants = _plan(whole, tuple(axes), tile, x.dtype.itemsize)
    ct.launch(
        stream,
        grid,
        permute_kernel,
        (view("permute", "x", x, shape), view("permute", "out", out, turned), *constants),
    )


def transpose(x: Any, out: Any, stream: Any = None, tile: tuple[int, int] | None = None) -> None:
    """``out[j, i] = x[i, j]``.

    Parameters
    ----------
    x : array (rows, columns)
        With any strides.
    out : array (columns, rows)
        Of the dtype of ``x``, with any strides.
    stream : stream, optional
    tile : (int, int), optional
        Rows and columns of a tile, powers of two; picked by shape when not given.

    Raises
    ------
    TypeError
        When the dtypes differ.
    ValueError
        When shapes do not fit, or ``out`` shares memory with ``x``.
    """
    if not is_accepted("transpose", x, out):
        rows, columns = check.rank("transpose", "x", x, 2)
        check.shape("transpose", "out", out, (columns, rows))
        accept("transpose", x, out)
    permute(x, out, (1, 0), stream, tile)

# SPDX-License-Identifier: Apache-2.0
"""Connected regions: a forest of places, in which a thread for each element joins the trees of those beside it.

    x        1 1 0        tree of each    0 0 .        label    1 1 0
             0 0 1        (its root is    . . 5                 0 0 2
             0 1 1        the first)      . 5 5                 0 2 2
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ... import cuda
from ... import numeric as tn
from ._filters import _host
from ._morphology import structure_of
from ._windows import array_of

__all__ = ["find_objects", "label"]

BLOCK = 128  # threads of a block


@cuda.jit
def _root(trees: Any, i: int) -> int:
    """The root of a tree. Who passes makes the way shorter: a place points to an earlier one, always."""
    while trees[i] != i:
        above = trees[trees[i]]
        trees[i] = above
        i = above
    return i


@cuda.jit
def _join(x: Any, shape: Any, near: Any, steps: Any, moves: Any, trees: Any) -> None:
    """Makes one tree of each element's and of those beside it that come earlier, ``moves`` in memory and ``near`` along
    the axes.

    The later root is put below the earlier one. Where another thread was first, what it had put there is joined next.
    """
    i = cuda.grid(1)
    if i < x.shape[0] and x[i]:
        for k in range(moves.shape[0]):
            other = i + moves[k]
            if other >= 0 and x[other]:
                inside = True
                rest = i
                for axis in range(shape.shape[0]):
                    at = rest // steps[axis]
                    rest -= at * steps[axis]
                    at += near[k, axis]
                    inside = inside and at >= 0 and at < shape[axis]
                a = _root(trees, i) if inside else other
                b = _root(trees, other) if inside else other
                while a != b:
                    late = max(a, b)
                    early = min(a, b)
                    found = cuda.atomic.min(trees, late, early)
                    a = early if found == late else _root(trees, found)
                    b = early if found == late else _root(trees, early)


@cuda.jit
def _settle(x: Any, trees: Any, roots: Any) -> None:
    """Lets each element point to its root, and marks the roots."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        roots[i] = 1 if x[i] and trees[i] == i else 0
        at = i
        while trees[at] != at:
            at = trees[at]
        trees[i] = at


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """Numbers connected regions of what is not 0, in the order of their first elements.

    Parameters
    ----------
    input : array_like
    structure : array_like, optional
        What counts as beside an element: 3 along each axis, symmetric. None: what shares a face with it.
    output : array or dtype, optional
        What is filled, or the dtype of the labels; int32 by itself.

    Returns
    -------
    labels, count
        The count alone where ``output`` is an array.
    """
    x = array_of(input)
    if x.dtype.kind == "c":
        raise TypeError("Complex type not supported")
    x = x != 0
    near = structure_of(x.ndim, 1) if structure is None else _host(structure).astype(bool)
    if near.ndim != x.ndim or any(n != 3 for n in near.shape):
        raise RuntimeError("structure and input must have equal rank, and structure dimensions must equal 3")
    if (near != near[(slice(None, None, -1),) * near.ndim]).any():
        raise RuntimeError("structuring element is not symmetric")
    into = output if isinstance(output, tn.ndarray) else None
    dtype = into.dtype if into is not None else numpy.dtype("i4" if output is None else output)
    if into is not None and into.shape != x.shape:
        raise ValueError("output shape not correct")
    most = _most(dtype)
    made = _labels(x, near)
    count = int(made.max()) if made.size else 0
    if count > most:
        raise RuntimeError("insufficient bit-depth in requested output type")
    if into is None:
        return made.astype(dtype, copy=False), count
    into[...] = made.astype(dtype, copy=False)
    return count


def _most(dtype: Any) -> int:
    """The most regions whose labels a dtype holds, each exactly."""
    if dtype.kind not in "biuf":
        raise TypeError(f"labels are integers, which an output of {dtype} does not hold")
    if dtype.kind == "f":
        return int(2 ** (numpy.finfo(dtype).nmant + 1))
    return 1 if dtype.kind == "b" else int(numpy.iinfo(dtype).max)


def _labels(x: Any, near: Any) -> Any:
    """For each element of a region the number of that, 0 elsewhere."""
    flat = tn.ascontiguousarray(x).ravel()
    steps = numpy.array([math.prod(x.shape[axis + 1 :]) for axis in range(x.ndim)], "i8")
    earlier = numpy.argwhere(near) - 1
    earlier = earlier[earlier @ steps < 0]
    trees = tn.arange(x.size, device=x.device)
    roots = tn.empty(x.size, "i4", device=x.device)
    if x.size:
        blocks = -(-x.size // BLOCK)
        if len(earlier):
            facts = (numpy.array(x.shape, "i8"), earlier, steps, earlier @ steps)
            _join[blocks, BLOCK](flat, *(tn.asarray(v, device=x.device) for v in facts), trees)
        _settle[blocks, BLOCK](flat, trees, roots)
    return tn.where(flat, tn.cumsum(roots, dtype="i4")[trees], 0).reshape(x.shape)


def find_objects(input: Any, max_label: int = 0) -> list[Any]:
    """For each label the slices of the box that it fills, None where there is none."""
    x = array_of(input)
    count = int(max_label) if max_label > 0 else int(x.max()) if x.size else 0
    if count < 1:
        return []
    flat = x.ravel()
    ends = []
    for axis, n in enumerate(x.shape):
        shape = [1] * x.ndim
        shape[axis] = n
        at = tn.broadcast_to(tn.arange(n).reshape(shape), x.shape).ravel()
        low, high = tn.full(count + 1, n), tn.full(count + 1, -1)
        inside = (flat > 0) & (flat <= count)
        groups = tn.where(inside, flat, 0)
        tn.minimum.at(low, groups, at)
        tn.maximum.at(high, groups, at)
        ends.append((low.tolist(), high.tolist()))
    return [
        tuple(slice(low[k], high[k] + 1) for low, high in ends) if ends[0][1][k] >= 0 else None
        for k in range(1, count + 1)
    ]

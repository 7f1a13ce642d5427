# SPDX-License-Identifier: Apache-2.0
"""What functions of elements do beyond calls: at indices in place, reductions of slices and in order, their loops."""

from __future__ import annotations

import inspect
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from ._index import Places
from ._ndarray import ndarray
from ._sort import argsort
from ._ufunc import select

# Neutral elements of functions that are no fold of the C library, and functions that may take elements in any order.
IDENTITIES = {
    "bitwise_and": -1,
    "bitwise_or": 0,
    "bitwise_xor": 0,
    "gcd": 0,
    "hypot": 0,
    "logaddexp": -numpy.inf,
    "logaddexp2": -numpy.inf,
    "logical_xor": False,
}
ANY_ORDER = (*IDENTITIES, "fmax", "fmin")
_LETTERS = {"?": "?", "i": "bBhHiIlLqQ", "f": "efd", "c": "FD"}


def types(loops: str, result: str, nin: int) -> list[str]:
    """The loops of a function as NumPy writes them: ``"ff->f"``."""
    made = []
    of_truth = loops == "?" and result == "bool"  # takes every kind
    for kind in _LETTERS if of_truth else loops:
        for letter in _LETTERS[kind]:
            whole = {"same": letter, "bool": "?"}.get(result)
            part = {"F": "f", "D": "d"}.get(letter, letter)
            made.append(f"{letter * nin}->{whole or part}")
    return made


def signature(nin: int) -> inspect.Signature:
    """How a function of so many operands is called."""
    kinds = inspect.Parameter
    names = ["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)]
    options = {
        "where": True,
        "casting": "same_kind",
        "order": "K",
        "dtype": None,
        "subok": True,
        "signature": None,
    }
    return inspect.Signature(
        [kinds(name, kinds.POSITIONAL_ONLY) for name in names]
        + [kinds("out", kinds.POSITIONAL_OR_KEYWORD, default=None)]
        + [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in options.items()]
    )


# -- at ------------------------------------------------------------------------------------------------


def _rounds(places: ndarray) -> list[ndarray | None]:
    """Which elements go in turn, so that none of a round are at the same place; [None]: all at once."""
    order = argsort(places, kind="stable")
    lined = places[order]
    first = f.concatenate([f.ones(1, bool), lined[1:] != lined[:-1]])
    if bool(first.all()):
        return [None]
    along = f.arange(places.size)
    begin = _core.numeric_fold("max", f.asarray(select(first, along, 0)), (0,), None, True, None, True)
    turn = along - begin
    return [order[turn == i] for i in range(int(turn.max()) + 1)]


def at(function: Any, a: Any, indices: Any, *given: Any) -> None:
    """``a[indices] = function(a[indices], b)``, once for each time that an index occurs, in order."""
    if not isinstance(a, ndarray):
        raise TypeError("first operand must be array")
    if function.nin > 2:
        raise ValueError("Only unary and binary ufuncs supported at this time")
    if function.nin == 2 and not given:
        raise ValueError("second operand needed for ufunc")
    if function.nin == 1 and given:
        raise ValueError("second operand provided when ufunc is unary")
    if not a.flags.writeable:
        raise ValueError("assignment destination is read-only")
    places = Places(a, indices)
    flat = f.ravel(places.offsets)
    values: Any = None
    if given:
        values = given[0]
        if type(values) not in (int, float, complex):
            values = f.ravel(f.broadcast_to(f.asarray(values), places.offsets.shape))
            values = values.copy() if f.may_share_memory(values, a) else values
    for chosen in _rounds(flat) if flat.size else ():
        here = flat if chosen is None else flat[chosen]
        other = values[chosen] if chosen is not None and isinstance(values, ndarray) else values
        made = f.asarray(
            function(_core.numeric_gather(places.view, here), *(() if values is None else (other,)))
        )
        _core.numeric_scatter(places.view, here, made, True)  # any cast, as NumPy's


# -- reductions in order -------------------------------------------------------------------------------


def _one_by_one(function: Any, a: ndarray, start: Any) -> Any:
    """The function of slices along axis 0, in order, or pair by pair where the order is free."""
    if function.__name__ in ANY_ORDER:
        while a.shape[0] > 1:
            half = a.shape[0] // 2
            made = f.asarray(function(a[:half], a[half : 2 * half]))
            a = f.concatenate([made, a[2 * half :]]) if a.shape[0] % 2 else made
        return a[0] if start is None else function(start, a[0])
    acc = a[0] if start is None else function(start, a[0])
    for i in range(1, a.shape[0]):
        acc = function(acc, a[i])
    return acc


def reduce(function: Any, a: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """The reduction of a function that is no fold of the C library."""
    from ._reduce import _into

    a = f.asarray(a) if dtype is None else f.asarray(a).astype(dtype)
    name, identity = function.__name__, IDENTITIES.get(function.__name__)
    axes = tuple(range(a.ndim)) if axis is None else f.normalize_many(axis, a.ndim)
    if len(axes) > 1 and name not in ANY_ORDER:
        raise ValueError(f"reduction operation '{name}' is not reorderable, so at most one axis may be specified")
    start = None if initial is None or initial is numpy._NoValue else initial
    if where is not True:
        if identity is None and start is None:
            raise ValueError(
                f"reduction operation '{name}' does not have an identity, so to use a where mask one has to specify "
                "'initial'"
            )
        a = f.asarray(select(where, a, identity if start is None else start))
    if name == "logical_xor":
        a = a.astype(bool)
    kept = [1 if d in axes else n for d, n in enumerate(a.shape)]
    for d in sorted(axes, reverse=True):
        rows = f.moveaxis(a, d, 0)
        if rows.shape[0]:
            a = f.asarray(_one_by_one(function, rows, start))
        elif identity is None and start is None:
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        else:
            kind = f.asarray(function(rows[:0], rows[:0])).dtype
            a = f.full(rows.shape[1:], identity if start is None else start, kind)
        start = None
    return _into(a.reshape(kept) if keepdims is True else a, out)


def accumulate(function: Any, a: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """The reduction of the first elements, for each number of them."""
    a = f.asarray(a) if dtype is None else f.asarray(a).astype(dtype)
    axis = f.normalize(axis, a.ndim)
    rows = f.moveaxis(a, axis, 0)
    made = f.empty(rows.shape, f.asarray(function(rows[:0], rows[:0])).dtype)
    if rows.shape[0]:
        made[0] = rows[0]
    for i in range(1, rows.shape[0]):
        made[i] = function(made[i - 1], rows[i])
    made = f.moveaxis(made, 0, axis)
    return made.copy() if out is None else f.copy_of(made, out, casting="unsafe")


def reduceat(function: Any, a: Any, indices: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """Reductions of the slices that indices begin; of one element where the next index is not greater."""
    a = f.asarray(a)
    axis = f.normalize(axis, a.ndim)
    rows, places = f.moveaxis(a, axis, 0), [int(i) for i in numpy.asarray(indices)]
    n = rows.shape[0]
    for i in places:
        if not 0 <= i < n:
            raise IndexError(f"index {i} out-of-bounds in {function.__name__}.reduceat [0, {n})")
    ends = [*places[1:], n][: len(places)]
    parts = [
        f.asarray(function.reduce(rows[i : j if j > i else i + 1], 0, dtype))
        for i, j in zip(places, ends, strict=True)
    ]
    kind = f.asarray(function.reduce(rows[:1], 0, dtype)).dtype if n else a.dtype
    made = f.stack(parts, axis) if parts else f.empty((*a.shape[:axis], 0, *a.shape[axis + 1 :]), kind)
    return made if out is None else f.copy_of(made, out[0] if isinstance(out, tuple) else out, casting="unsafe")

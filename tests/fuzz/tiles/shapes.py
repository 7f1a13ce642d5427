# SPDX-License-Identifier: Apache-2.0
"""The second reading: rearrangements, reductions, scans and products of tiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .values import (
    FLOATS,
    Tile,
    astype,
    biggest,
    complexes,
    is_complex,
    is_float,
    lowbit,
    pair,
    promote,
    quantum,
    rounded,
)

np: Any = numpy  # its stubs know no `reduce` with a computed keepdims


def shape_of(s: Any) -> tuple[int, ...]:
    return (s,) if isinstance(s, int) else tuple(s)


def cat(tiles: tuple[Tile, Tile], axis: int) -> Tile:
    a, b = tiles
    return Tile(np.concatenate([a.v, b.v], axis), a.dt, np.concatenate([a.err, b.err], axis))


def window(index: Any, shape: Any) -> tuple[slice, ...]:
    return tuple(
        slice(i.__index__() * n, (i.__index__() + 1) * n)
        for i, n in zip(shape_of(index), shape, strict=True)
    )


def extract(x: Tile, index: Any, shape: Any) -> Tile:
    w = window(index, shape)
    return x.like(lambda a: a[w].copy())


def insert(x: Tile, index: Any, value: Tile) -> Tile:
    w = window(index, value.shape)
    v, e = x.v.copy(), x.err.copy()
    v[w], e[w] = value.v, value.err
    return Tile(v, x.dt, e)


def where(c: Tile, x: Any, y: Any) -> Tile:
    if not isinstance(x, Tile) and not isinstance(y, Tile):
        raise AssertionError("two literals")
    a, b, d = pair(x, y)
    v = np.where(c.v, a.v, b.v)
    e = np.where(c.v, a.err, b.err)
    return Tile(v, d, np.where(c.err > 0, np.inf, e))


# -- reductions --------------------------------------------------------------------------------


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(sorted(a % rank for a in ((axis,) if isinstance(axis, int) else axis)))


def f_sum_bound(dt: str, total: Any, n: int, low: Any, e: Any) -> Any:
    p = FLOATS[dt][0]
    exact = total <= low * 2.0**p
    bound = np.where(exact, 0.0, n * 2.0 ** (1 - p) * total + n * quantum(dt, 0.0))
    return np.where(total > biggest(dt) / 2, np.inf, e + bound)


def f_wild(x: Tile, e: Any, add: Callable[..., Any], *axis: Any) -> Any:
    """The bound of a sum with an infinity or NaN in it: none, unless an element is doubtful or the finite ones may
    overflow on their way, which makes an infinity of their own."""
    finite = add(np.where(np.isfinite(x.v), np.abs(x.v), 0.0), axis[0], None, None, *axis[1:])
    return np.where((e > 0) | (finite > biggest(x.dt) / 2), np.inf, 0.0)


def add_up(x: Tile, axis: Any = None, *, keepdims: bool = False) -> Tile:
    if x.dt == "bool_":
        x = astype(x, "int32")
    ax = axes_of(axis, len(x.shape))
    if is_complex(x.dt):
        return complexes().add_up(x, ax, keepdims)
    if not is_float(x.dt):
        return Tile(
            np.add.reduce(x.v, ax, x.v.dtype, keepdims=keepdims),
            x.dt,
            np.add.reduce(x.err, ax, keepdims=keepdims),
        )
    n = math.prod(x.shape[a] for a in ax)
    r = np.add.reduce(x.v, ax, keepdims=keepdims)
    total, e = (
        np.add.reduce(np.abs(x.v), ax, keepdims=keepdims),
        np.add.reduce(x.err, ax, keepdims=keepdims),
    )
    low = np.minimum.reduce(lowbit(x.v), ax, keepdims=keepdims)
    bound = f_sum_bound(x.dt, total, n, low, e)
    return Tile(rounded(x.dt, r), x.dt, np.where(np.isfinite(total), bound, f_wild(x, e, np.add.reduce, ax, keepdims)))


def prod(x: Tile, axis: Any = None, *, keepdims: bool = False) -> Tile:
    if x.dt == "bool_":
        x = astype(x, "int32")
    ax = axes_of(axis, len(x.shape))
    if not is_float(x.dt):
        return Tile(
            np.multiply.reduce(x.v, ax, x.v.dtype, keepdims=keepdims),
            x.dt,
            np.add.reduce(x.err, ax, keepdims=keepdims),
        )
    return Tile(np.multiply.reduce(x.v, ax, keepdims=keepdims), x.dt, np.inf)


def largest(
    x: Tile,
    axis: Any = None,
    *,
    keepdims: bool = False,
    propagate_nan: bool = False,
    big: bool = True,
) -> Tile:
    ax = axes_of(axis, len(x.shape))
    f: Any
    if x.dt == "bool_":
        f = np.logical_or if big else np.logical_and
    elif is_float(x.dt) and not propagate_nan:
        f = np.fmax if big else np.fmin
    else:
        f = np.maximum if big else np.minimum
    e = np.maximum.reduce(x.err, ax, keepdims=keepdims) if ax else x.err
    v = f.reduce(x.v, ax, keepdims=keepdims) if ax else x.v
    if is_float(x.dt):
        e = np.where((e > 0) & np.any(~np.isfinite(x.v), ax, keepdims=keepdims), np.inf, e)
    return Tile(v, x.dt, e)


def argmax(x: Tile, axis: int | None = None, *, keepdims: bool = False, big: bool = True) -> Tile:
    v = x.v.astype(np.int8) if x.dt == "bool_" else x.v
    flat = v.reshape(-1) if axis is None else v
    err = x.err.reshape(-1) if axis is None else x.err
    a = 0 if axis is None else axis
    nan = np.isnan(flat) if is_float(x.dt) else np.zeros(flat.shape, bool)
    if is_float(x.dt):
        flat = np.where(nan, -np.inf if big else np.inf, flat)
    r = (np.argmax if big else np.argmin)(flat, a)
    e = np.where(np.any(err > 0, a) | np.any(nan, a), np.inf, 0.0)
    if keepdims:
        r, e = (
            (r.reshape((1,) * len(x.shape)), e.reshape((1,) * len(x.shape)))
            if axis is None
            else (np.expand_dims(r, a), np.expand_dims(e, a))
        )
    return Tile(r, "int32", e)


def running(x: Tile, axis: int = 0, *, reverse: bool = False, times: bool = False) -> Tile:
    if x.dt == "bool_":
        x = astype(x, "int32")
    flip: Callable[[Any], Any] = (lambda a: np.flip(a, axis)) if reverse else (lambda a: a)
    f = np.multiply if times else np.add
    v = flip(f.accumulate(flip(x.v), axis, x.v.dtype))
    e = flip(np.add.accumulate(flip(x.err), axis))
    if not is_float(x.dt):
        return Tile(v, x.dt, e)
    if times:
        return Tile(v, x.dt, np.inf)
    total = flip(np.add.accumulate(flip(np.abs(x.v)), axis))
    low = flip(np.minimum.accumulate(flip(lowbit(x.v)), axis))
    bound = f_sum_bound(x.dt, total, x.shape[axis], low, e)
    wild = flip(f_wild(Tile(flip(x.v), x.dt), flip(e), np.add.accumulate, axis))
    return Tile(rounded(x.dt, v), x.dt, np.where(np.isfinite(total), bound, wild))


def fold(
    x: Any,
    axis: int,
    func: Callable[..., Any],
    identity: Any,
    *,
    keepdims: bool = False,
    scan: bool = False,
    reverse: bool = False,
) -> Any:
    xs = x if isinstance(x, tuple) else (x,)
    n = xs[0].shape[axis]
    at: Callable[[Tile, int], Tile] = lambda t, i: t.like(lambda a: np.take(a, i, axis))
    rows = [tuple(at(t, i) for t in xs) for i in (range(n - 1, -1, -1) if reverse else range(n))]
    if is_float(xs[0].dt):  # an identity is none for NaN
        nan = np.isnan(xs[0].v).any(axis)
        rows[0] = tuple(Tile(t.v, t.dt, np.where(nan, np.inf, t.err)) for t in rows[0])
    acc, steps = rows[0], []
    for k, row in enumerate(rows):
        if k:
            r = func(*acc, *row)
            acc = r if isinstance(r, tuple) else (r,)
        steps.append(acc)
    if scan:
        if reverse:
            steps.reverse()
        outs = tuple(
            Tile(
                np.stack([s[j].v for s in steps], axis),
                xs[j].dt,
                np.stack([s[j].err for s in steps], axis),
            )
            for j in range(len(xs))
        )
    else:
        outs = tuple(a.like(lambda v: np.expand_dims(v, axis)) if keepdims else a for a in acc)
    return outs if isinstance(x, tuple) else outs[0]


def mma(x: Tile, y: Tile, acc: Tile) -> Tile:
    d = acc.dt
    if not is_float(d):
        r = np.matmul(x.v.astype(np.int64), y.v.astype(np.int64)).astype(np.int32) + acc.v
        e = (
            np.matmul(x.err > 0, np.ones(y.shape, bool))
            | np.matmul(np.ones(x.shape, bool), y.err > 0)
            | (acc.err > 0)
        )
        return Tile(r, d, np.where(e, np.inf, 0.0))
    p = FLOATS[d][0]
    ok: Callable[[Tile], Any] = lambda t: np.where(np.isfinite(t.v), t.v, 0.0)
    r = np.matmul(x.v, y.v) + acc.v
    total = np.matmul(np.abs(ok(x)), np.abs(ok(y))) + np.abs(ok(acc))
    low = min(lowbit(x.v).min() * lowbit(y.v).min(), lowbit(acc.v).min())
    k = x.shape[-1]
    prop = np.matmul(np.abs(ok(x)) + x.err, y.err) + np.matmul(x.err, np.abs(ok(y))) + acc.err
    e = prop + np.where(
        total <= low * 2.0**p, 0.0, (k + 2) * 2.0 ** (1 - p) * total + k * quantum(d, 0.0)
    )
    wild = ~np.isfinite(
        np.matmul(np.where(np.isfinite(x.v), 0, np.inf), np.ones(y.shape))
        + np.matmul(np.ones(x.shape), np.where(np.isfinite(y.v), 0.0, np.inf))
        + acc.v
    )
    e = np.where(wild | (total > biggest(d) / 2), np.inf, e)
    return Tile(rounded(d, r), d, e)


def matmul(x: Tile, y: Tile) -> Tile:
    d = promote(x.dt, y.dt)
    x, y = astype(x, d), astype(y, d)
    if is_float(d):
        wide = "float32" if d in ("float16", "bfloat16") else d
        one = mma(x, y, Tile(np.zeros(np.matmul(x.v, y.v).shape), wide))
        out = astype(one, d)
        return out
    raise AssertionError("matmul of ints is not generated")


def reshape(x: Tile, shape: Any) -> Tile:
    return x.like(lambda a: a.reshape(shape_of(shape)))


def permute(x: Tile, axes: Any) -> Tile:
    return x.like(lambda a: np.transpose(a, axes))

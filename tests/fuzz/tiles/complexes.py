# SPDX-License-Identifier: Apache-2.0
"""The second reading: tiles of complex numbers.

Values are kept in complex128; a bound `e` is on the distance of two numbers in the plane. It is 0 where every
operation before was exact: numbers of few bits, which both parts hold. Products may or may not be fused
multiply-adds, so others are known within a few units of the last place of |result|. Infinities and NaNs are not
followed: what may have become one is unknown. Arithmetic is called by values.py; made into kernels by
complex_kernels.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .values import COMPLEX, FLOATS, Tile, biggest, is_complex, rounded

GRID = 2.0**6  # numbers that are multiples of 1 / GRID, with products of them below MOST, are exact in float32
MOST = 2.0**10


def unit(dt: str) -> float:
    """The last place of 1 in the parts of a dtype."""
    return 2.0 ** (1 - FLOATS[COMPLEX[dt]][0])


def on_grid(t: Tile) -> Any:
    z = t.v * GRID
    return (t.err == 0) & (z == np.rint(z))


def settle(dt: str, r: Any, e: Any, exact: Any, k: float) -> Tile:
    """A result: with k units of the last place of |r| where it is not exact, unknown where it may not be finite."""
    part = COMPLEX[dt]
    v = rounded(part, r.real) + 1j * rounded(part, r.imag)
    e = np.where(exact, 0.0, e + k * unit(dt) * np.abs(r) + 2.0 ** FLOATS[part][1])
    return Tile(v, dt, np.where(np.isfinite(v) & (np.abs(v) + e < biggest(part) / 2), e, np.inf))


def arithmetic(op: str, a: Tile, b: Tile, d: str) -> Tile:
    """+ - * / of two tiles of one complex dtype."""
    exact = on_grid(a) & on_grid(b) & (np.abs(a.v) < MOST) & (np.abs(b.v) < MOST)
    if op in "+-":
        return settle(d, a.v + b.v if op == "+" else a.v - b.v, a.err + b.err, exact, 2.0)
    if op == "*":
        e = np.abs(a.v) * b.err + np.abs(b.v) * a.err + a.err * b.err
        return settle(d, a.v * b.v, e, exact & (np.abs(a.v) * np.abs(b.v) < MOST), 4.0)
    assert op == "/", op
    r, safe = a.v / b.v, np.abs(b.v) - b.err
    e = np.where(safe > 1e-9, (a.err + np.abs(r) * b.err) / np.where(safe > 0, safe, np.nan), np.inf)
    return settle(d, r, e, False, 8.0)


def power(x: Tile, n: int) -> Tile:
    """By a constant from 0 to 4."""
    r = Tile(np.ones(x.shape), x.dt)
    for _ in range(n):
        r = arithmetic("*", r, x, x.dt)
    return r


def size(x: Tile) -> Tile:
    """|x|: a real tile."""
    part, r = COMPLEX[x.dt], np.abs(x.v)
    e = x.err + 4 * unit(x.dt) * r + 2.0 ** FLOATS[part][1]
    return Tile(rounded(part, r), part, np.where(np.isfinite(r), e, np.inf))


def convert(x: Tile, dt: str) -> Tile:
    """`astype` from or to a complex dtype; a complex number becomes no real one."""
    if dt == "bool_":
        return Tile(x.v != 0, dt, np.where((x.err > 0) & (np.abs(x.v) <= x.err), np.inf, 0.0))
    assert is_complex(dt), f"{x.dt} to {dt}"
    e = x.err
    if x.dt.endswith("64") and not is_complex(x.dt) and dt == "complex64":
        e = np.where(np.abs(x.v) < 2.0**20, e, np.inf)
    return settle(dt, x.v.astype(np.complex128), e, (e == 0) & (rounded(dt, x.v) == x.v), 1.0)


def part(x: Tile, which: str) -> Tile:
    if not is_complex(x.dt):
        return x if which == "real" else Tile(np.zeros(x.shape), x.dt, x.e)
    return Tile(getattr(x.v, which), COMPLEX[x.dt], x.e)


def conj(x: Tile) -> Tile:
    return x.like(lambda v: v.conj()) if is_complex(x.dt) else x


def join(re: Tile, im: Tile) -> Tile:
    """`ct.complex` of two tiles of one float dtype."""
    d = "complex128" if re.dt == "float64" else "complex64"
    finite = np.isfinite(re.v) & np.isfinite(im.v)
    return Tile(re.v + 1j * im.v, d, np.where(finite, re.err + im.err, np.inf))


def add_up(x: Tile, axes: tuple[int, ...], keepdims: bool) -> Tile:
    """A sum in any order."""
    n = int(np.prod([x.shape[a] for a in axes]))
    total = np.abs(x.v).sum(axes, keepdims=keepdims)
    exact = np.logical_and.reduce(on_grid(x), axes, keepdims=keepdims) & (total < MOST)
    e = x.err.sum(axes, keepdims=keepdims) + n * unit(x.dt) * total
    return settle(x.dt, x.v.sum(axes, keepdims=keepdims), e, exact, 1.0)

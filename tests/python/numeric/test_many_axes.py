# SPDX-License-Identifier: Apache-2.0
"""Arrays of more axes than a kernel has, which do not lie as fewer: NumPy's results (src/numeric/flat.c)."""

from __future__ import annotations

import numpy
import pytest
import tessera.numeric as np

TURNS = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def cube(m, dtype="f8"):
    return (m.arange(2**10) % 251).astype(dtype).reshape((2,) * 10)


def turned(m, dtype="f8"):
    return cube(m, dtype).transpose(TURNS)


def steps(m):
    """Ten axes, of which no two lie as one."""
    return m.arange(4.0**10)[: 4**10].reshape((4,) * 10)[(slice(None, 3, 2),) * 10]


def written(a, value):
    a[...] = value
    return a


def added(a, value):
    a += value
    return a


def waits(m, n):
    """More elements than run at once."""
    return m.arange(2.0**n).reshape((2,) * n).transpose(*range(0, n, 2), *range(1, n, 2))


CALLS = {
    "reshape": lambda m: turned(m).reshape(32, 32)[1, 2], "copy": lambda m: turned(m).copy(),
    "contiguous": lambda m: m.ascontiguousarray(turned(m)), "order F": lambda m: cube(m).copy(order="F"),
    "bytes": lambda m: turned(m, "i1").copy(), "complex": lambda m: turned(m, "c16").copy(),
    "cast": lambda m: turned(m, "i2").astype("f4", order="C"), "steps": lambda m: steps(m).copy(),
    "add": lambda m: cube(m) + turned(m), "kinds": lambda m: cube(m, "i1") * turned(m, "f4") - turned(m, "c16"),
    "where": lambda m: m.where(cube(m) > 5, turned(m)[::-1], 3), "mask": lambda m: turned(m)[turned(m) > 5],
    "outer": lambda m: m.ones((2, 1) * 10) * m.ones((1, 2) * 10) + turned(m),
    "write": lambda m: written(cube(m), turned(m)), "write turned": lambda m: written(turned(m), cube(m)),
    "write steps": lambda m: written(steps(m), turned(m)), "write a number": lambda m: written(steps(m), 3),
    "in place": lambda m: added(cube(m), turned(m)), "in place, turned": lambda m: added(turned(m), cube(m)),
    "in place, steps": lambda m: added(steps(m), turned(m)),
    "waits": lambda m: waits(m, 16).copy(), "waits, with others": lambda m: (waits(m, 16).reshape(-1) + 1) * 2,
    "waits, and is read twice": lambda m: (lambda a: a * 2 + a)(m.sqrt(waits(m, 16)) + m.ones((2,) * 16)),
    "joined": lambda m: m.concatenate([turned(m), cube(m)]), "masked": lambda m: m.add(
        cube(m), turned(m), where=turned(m) > 9, out=m.zeros((2,) * 10)),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
def test_calls_on_axes_that_do_not_lie_as_one(what) -> None:
    wanted, found = CALLS[what](numpy), CALLS[what](np)
    assert found.dtype == wanted.dtype
    numpy.testing.assert_array_equal(numpy.asarray(found), wanted)


def test_a_write_of_own_elements_along_other_axes() -> None:
    for m in (a := cube(numpy), b := cube(np)):
        m[...] = m.transpose(TURNS) + m
    numpy.testing.assert_array_equal(numpy.asarray(b), a)


def test_memory_that_is_seen_is_written_in_place() -> None:
    seen = numpy.arange(4.0**10).reshape((4,) * 10)
    a = np.asarray(seen)
    a[(slice(None, 3, 2),) * 10] *= turned(np)
    wanted = numpy.arange(4.0**10).reshape((4,) * 10)
    wanted[(slice(None, 3, 2),) * 10] *= turned(numpy)
    numpy.testing.assert_array_equal(numpy.asarray(a), wanted)


def test_strides_between_elements() -> None:
    words = numpy.zeros(1000, dtype=[("a", "i1"), ("b", "f8")])
    words["b"] = numpy.arange(1000)
    numpy.testing.assert_array_equal(numpy.asarray(np.asarray(words)["b"] + 1), words["b"] + 1)


def test_reductions_along_every_second_axis() -> None:
    rng = numpy.random.default_rng(3)
    host = rng.integers(-9, 9, (2,) * 18).astype("f8").transpose(rng.permutation(18))
    mask, axes = rng.integers(0, 2, host.shape).astype(bool), tuple(range(0, 18, 2))
    for m, a, where in ((numpy, host, mask), (np, np.array(host), np.array(mask))):
        made = [m.sum(a, axis=axes), m.max(a, axis=axes, keepdims=True), m.all(a > -9, axis=axes), m.var(a, axis=axes)]
        made += [m.sum(a, axis=axes, where=where), m.sum(a, axis=axes, where=where[:1, :1])]
        made += [m.cumsum(a, axis=5), m.argmax(a, axis=5), m.argmin(a), m.maximum.accumulate(a, axis=3)]
        wanted = made if m is numpy else wanted  # NumPy's
    for x, y in zip(wanted, made, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(y), x, rtol=1e-12)


def short_rows(m, a):
    """Folds of few elements along an axis, and what is computed with them."""
    folds = [m.sum(a, 0), m.max(a, 3), m.mean(a, (1, 5)), m.any(a, -1), m.prod(a, 2), m.std(a, 1, keepdims=True)]
    return [*folds, a - m.mean(a, -1, keepdims=True), m.mean(a[0], -1, keepdims=True) + a, m.sum(a * a, (0, 4)) + 1]


@pytest.mark.parametrize("extent", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_folds_along_short_rows_of_nine_axes(extent, seed) -> None:
    rng = numpy.random.default_rng(seed)
    order, host = rng.permutation(9), rng.integers(-3, 4, (extent,) * 9).astype("f8")
    parts = (slice(None, None, 2),) * 9
    other = rng.integers(-3, 4, (2 * extent,) * 9).astype("f4")
    wanted = short_rows(numpy, host.transpose(order)) + short_rows(numpy, other[parts].astype("f8"))
    made = short_rows(np, np.array(host).transpose(*order)) + short_rows(np, np.array(other)[parts].astype("f8"))
    made += short_rows(np, np.array(other)[parts])
    for x, y in zip(wanted + short_rows(numpy, other[parts]), made, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(y), x, rtol=1e-5, atol=1e-5)


def test_random_views_of_many_axes() -> None:
    rng = numpy.random.default_rng(7)
    for _ in range(30):
        n = int(rng.integers(9, 13))
        shape = tuple(int(k) for k in rng.integers(1, 4, n))
        order, flips = rng.permutation(n), tuple(slice(None, None, int(s)) for s in rng.choice([1, -1], n))
        host = rng.integers(-99, 99, shape).astype(rng.choice(["i1", "u2", "f4", "f8", "c16"]))
        view, own = host.transpose(order)[flips], np.array(host).transpose(*order)[flips]
        numpy.testing.assert_array_equal(numpy.asarray(own.copy()), view)
        numpy.testing.assert_array_equal(numpy.asarray(own + own[::-1]), view + view[::-1])
        other = numpy.ascontiguousarray(view)
        numpy.testing.assert_array_equal(numpy.asarray(np.array(other) - own), other - view)

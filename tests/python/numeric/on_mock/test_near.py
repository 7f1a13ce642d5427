# SPDX-License-Identifier: Apache-2.0
"""Storages that are carried near by, to host memory, where a program walks over elements (src/numeric/near.c). What is
computed is seen on the CPU's graph, which is told to carry as a GPU's does; what is moved, on the mock driver."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy
import pytest
import tessera.numeric as np
from tessera import _core

NEVER = 2**32 - 1
COUNTS = [1, 3, 0]  # reads; 0: as it pays


@pytest.fixture
def near() -> Iterator[int]:
    """The number of the CPU's graph."""
    place = _core.numeric_place("cpu")
    yield place
    _core.numeric_near(place, NEVER)


def solve(m, a, x):
    for i in range(len(x)):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / (a[i, i] + 2)


def sweep(m, a, x):
    for i in range(1, 12):
        a[i, 1:-1] += a[i - 1, :-2] + a[i + 1, 2:]
        for k in range(1, 12):
            a[i, k] = (a[i, k] + a[i, k - 1]) / 9
    x += m.sum(a, axis=1)


def recur(m, a, x):
    alpha = -x[0]
    for k in range(1, len(x)):
        alpha = -(x[k] + m.dot(m.flip(x[:k]), a[0, :k])) / (9 + k * k)
        a[0, :k] += alpha * m.flip(a[0, :k])
        a[0, k] = alpha


def to_and_fro(m, a, x):
    for i in range(20):
        x[i % 5] = a[i, i] + x[(i + 1) % 5]
        if i % 6 == 5:
            big = m.ones(40000) * x[0]
            x[3] = big.sum() / 40000
            a += a * 0.5


def places(m, a, x):
    index = m.arange(30) % 7
    for i in range(20):
        x[index[i]] += a[i][index[i : i + 5]].sum()
        a[:, i][a[:, i] > 0.5] = x[i]
        a[index[: i + 1], i] = x[: i + 1]


def waits(m, a, x):
    y = a * 2 + 1
    z = y.T - a
    for i in range(15):
        x[i] += y[i, i]
        z += x[i]
        y[i, :] = z[:, i]
    a[:] = y * z


def powers(m, a, x):
    n = m.arange(40)
    for i in range(12):
        a[i, :5] = x[:5] ** n[1:6]
        x[:5] *= m.minimum(n[:5] ** n[:5], 1) + 0.5
        a[i] = m.cumsum(a[:, i])
        a[1:3, i] += a[:2, i]


@pytest.mark.parametrize("reads", COUNTS)
@pytest.mark.parametrize("program", [powers, solve, sweep, recur, to_and_fro, places, waits])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_programs_over_elements_are_numpys(near, program, reads, dtype) -> None:
    _core.numeric_near(near, reads)
    rng = numpy.random.default_rng(reads)
    a, x = rng.random((40, 40)).astype(dtype), rng.random(40).astype(dtype)
    b, y = np.array(a), np.array(x)
    program(numpy, a, x)
    program(np, b, y)
    limit = 1e-3 if dtype == "f4" else 1e-9
    numpy.testing.assert_allclose(numpy.asarray(b), a, limit, limit)
    numpy.testing.assert_allclose(numpy.asarray(y), x, limit, limit)


class Walk:
    """One random program, done to arrays of NumPy and to ours."""

    def __init__(self, seed: int) -> None:
        self.rng = numpy.random.default_rng(seed)
        dtype = self.rng.choice(["f8", "f4", "i8", "i4"])
        shapes = (6,), (200,), (30, 5), (40000,), (), (0,)
        made = [self.rng.integers(-9, 9, shape).astype(dtype) for shape in shapes]
        if dtype[0] == "f":
            made[1][:3] = numpy.nan, -0.0, numpy.inf
        self.theirs, self.ours = made, [np.array(each) for each in made]

    def step(self) -> list[tuple[object, object]]:
        rng, pairs = self.rng, []
        k, n, i, factor = *(int(rng.integers(4)) for _ in range(2)), int(rng.integers(200)), int(rng.integers(3))
        kind = int(rng.integers(9))

        def same(call) -> None:
            pairs.append((call(numpy, self.theirs), call(np, self.ours)))

        def change(m, all) -> None:
            x = all[k]
            if kind == 2:
                x[i % len(x)] = all[n].ravel()[i % all[n].size] * factor
            elif kind == 3 and x.ndim == 1:
                x[: i % len(x)] += all[1][: min(i % len(x), len(all[1]))].sum() * factor
            elif kind == 4:
                x[::-2] = x[::2][: len(x[::-2])] + factor
            elif kind == 5:
                all[k] = x * factor - all[4]
            elif kind == 6:
                x[x > factor] = factor
            elif kind == 7:
                all[k] = x.copy()[::-1]
            else:
                all[4] = all[1][:2].copy().reshape(2)[1] * 0 + all[4] + factor - all[0][:3] @ all[1][1:4]
                all[4] = m.clip(m.asarray(all[4], dtype=x.dtype), -9, 9)

        if kind == 0:
            same(lambda m, all: all[k][i % len(all[k])])
        elif kind == 1:
            same(lambda m, all: m.sum(all[k][: 1 + i % 50]))
        else:
            change(numpy, self.theirs)
            change(np, self.ours)
        return pairs


@pytest.mark.parametrize("reads", COUNTS)
@pytest.mark.parametrize("seed", range(6))
def test_random_walks_are_numpys(near, seed, reads) -> None:
    _core.numeric_near(near, reads)
    walk = Walk(seed)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(80):
            for want, got in walk.step():
                assert numpy.asarray(got).dtype == numpy.asarray(want).dtype
                numpy.testing.assert_allclose(numpy.asarray(got), want, 1e-4)
    for want, got in zip(walk.theirs, walk.ours, strict=True):
        assert got.dtype == want.dtype
        numpy.testing.assert_allclose(np.asnumpy(got), want, 1e-4)


def test_values_that_wait_keep_what_they_read(near) -> None:
    _core.numeric_near(near, 1)
    a = np.arange(2000.0)
    b = a + 1  # waits, and holds the buffer
    assert a[5] == 5
    a[5] = 70
    view = a[3:9]
    assert view[2] == 70 and (a.sum(), b[5], b.sum()) == (1999000 + 65, 6, 2001000)


WRITES = {
    "astype": lambda a: a.astype("i4"),
    "assigned": lambda a: np.zeros(200, "i4").__setitem__(slice(None), a),
    "into it": lambda a: a.__setitem__(slice(None), np.full(200, 1e300)),
}


@pytest.mark.parametrize("reads", [1, 0])
@pytest.mark.parametrize("write", WRITES)
def test_statements_that_carry_a_storage_report_their_own_warnings(near, write, reads) -> None:
    _core.numeric_near(near, reads)
    a = np.arange(200.0)
    a[3] = numpy.nan
    a = a.astype("f4") if write == "into it" else a
    _ = a[5], a[6], a[7]
    for _ in range(6):
        with pytest.warns(RuntimeWarning, match="overflow" if write == "into it" else "invalid value"):
            WRITES[write](a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.zeros(3, "f4")[:] = np.array([1.0, 2.0, 3.0])


# ---- on the mock -------------------------------------------------------------------------------------


def carried() -> int:
    with np.device("cuda"):
        return _core.numeric_stats()["carried"]


def test_elements_that_are_read_again_and_again_come_near(mock) -> None:
    a = np.asarray(numpy.arange(200.0), device="cuda")
    before, copied = carried(), []
    for i in range(1, 100):
        a[i] = a[i] + a[i - 1]
        copied.append(mock.n_launches)
    assert carried() == before + 1 and copied[-1] == copied[20]
    assert a.device == "cuda:0" and a[5:].device == "cuda:0" and (a[:50] + 1).device == "cuda:0"
    assert np.asnumpy(a)[60] == numpy.arange(61.0).sum()
    kept = a * numpy.arange(200.0).repeat(200)[:200]  # few elements: there
    assert kept.device == "cuda:0" and carried() == before + 1


def test_few_reads_leave_an_array_where_it_is(mock) -> None:
    before = carried()
    for _ in range(20):
        a = np.asarray(numpy.arange(200.0), device="cuda")
        assert a[3] == 3 and a[4] == 4
    big = np.asarray(numpy.arange(2.0**17), device="cuda")
    assert [float(big[i]) for i in range(15)] == list(range(15)) and carried() == before


def test_many_elements_are_computed_at_home(mock) -> None:
    a = np.asarray(numpy.arange(50000.0), device="cuda")
    before = carried()
    assert sum(float(a[i]) for i in range(60)) == 59 * 30 and carried() == before + 1
    a += 1
    np.wait(a)
    assert carried() == before + 2
    for i in range(15):  # asked for twice as often now
        _ = a[i]
    assert carried() == before + 2


def test_memory_that_others_see_is_at_home_for_good(mock) -> None:
    a = np.asarray(numpy.arange(300.0), device="cuda")
    for i in range(20):
        a[i] = a[i] + 1
    before = carried()
    place = a.__cuda_array_interface__["data"][0]
    assert carried() == before + 1
    assert [float(a[i]) for i in range(12, 40)] == [i + 1 for i in range(12, 20)] + list(range(20, 40))
    assert carried() == before + 1 and a.__cuda_array_interface__["data"][0] == place
    with pytest.raises(BufferError):
        memoryview(a)


def test_arrays_of_other_devices_are_refused_as_ever(mock) -> None:
    a, b = np.asarray(numpy.ones(30), device="cuda"), np.ones(30)
    for i in range(20):
        _ = a[i]
    with pytest.raises(ValueError, match=r"cuda:0.*cpu|cpu.*cuda:0"):
        _ = a + b

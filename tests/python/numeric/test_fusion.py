# SPDX-License-Identifier: Apache-2.0
"""What waits becomes few kernels: launches and bytes are counted."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

N = 100_000


@pytest.fixture(autouse=True)
def settled():
    _core.numeric_flush()


class Count:
    def __enter__(self):
        self.before = _core.numeric_stats()
        return self

    def __exit__(self, *_):
        _core.numeric_flush()
        after = _core.numeric_stats()
        for name, value in after.items():
            setattr(self, name, value - self.before[name])


def chain(x, y):
    return ((x * 2 + y) * x - y) * 0.5 + (x - 1) * (y + 2)


def test_a_chain_of_nine_is_one_kernel_that_reads_and_writes_once():
    x, y = np.random.default_rng(0).random((2, N), "f4")
    a, b = tn.array(x), tn.array(y)
    with Count() as count:
        z = chain(a, b)
    assert (count.launched, count.nodes, count.bytes) == (1, 9, 3 * 4 * N)
    np.testing.assert_array_equal(np.asarray(z), chain(x, y))


def test_a_convolution_by_shifts_is_one_kernel():
    a = tn.array(np.random.default_rng(0).random((400, 300), "f4"))
    weights = np.array(((1.0, 2.0, 1.0), (2.0, 4.0, 2.0), (1.0, 2.0, 1.0)))
    shifted = lambda x: sum(float(w) * x[i : 398 + i, j : 298 + j] for (i, j), w in np.ndenumerate(weights)) / 16.0
    with Count() as count:
        made = shifted(a)
    assert (count.launched, count.bytes) == (1, 10 * 4 * 398 * 298)
    np.testing.assert_array_equal(np.asarray(made), shifted(np.asarray(a)))


def test_another_size_needs_no_other_kernel():
    for n in (N, N + 1, 3 * N):
        with Count() as count:
            z = chain(tn.ones(n, "f4"), tn.ones(n, "f4"))
        del z
        if n != N:
            assert count.kernels == 0


def test_several_results_come_from_one_kernel():
    a = tn.array(np.arange(N, dtype="f8"))
    with Count() as count:
        b = tn.copysign(a, -1)  # not computed alone before
        c = b + 1
        d = c * b
    assert count.launched == 1
    assert d[3] == -2 * -3 and c[3] == -2 and b[3] == -3


def test_what_nobody_reads_is_not_computed():
    a = tn.array(np.ones(N))
    with Count() as count:
        for _ in range(100):
            b = tn.nextafter(a, 2)
        del b
    assert count.launched == 0


def test_reductions_compute_what_they_fold():
    a = tn.array(np.arange(N, dtype="f8"))
    for _ in range(2):  # what other tests computed alone runs at once the first time
        with Count() as count:
            total = ((a + 1) * 2).sum()
    assert total == np.arange(2, 2 * N + 2, 2).sum()
    assert count.bytes < 9 * N  # reads once, stores no elements
    x = tn.array(np.random.default_rng(1).random((500, 300)))
    for _ in range(2):
        with Count() as count:
            e = tn.exp(x - x.max(axis=1, keepdims=True))
            y = e / e.sum(axis=1, keepdims=True)
    assert count.launched <= 4 and abs(float(y.sum()) - 500) < 1e-9


def test_in_place_chains_use_the_memory_again():
    a = tn.array(np.ones(N))
    with Count() as count:
        a += 1
        a *= 3
        a -= 2
    assert (count.launched, count.bytes) == (1, 16 * N)
    assert a[0] == 4 and a[N - 1] == 4


def test_products_and_sums_are_rounded_each():
    x = np.random.default_rng(2).random((3, N), "f4")
    a, b, c = (tn.array(each) for each in x)
    np.testing.assert_array_equal(np.asarray(a * b + c), x[0] * x[1] + x[2])


def test_broadcast_and_strided_operands():
    x = np.random.default_rng(3).random((300, 400))
    a = tn.array(x)
    for f in (
        lambda m: m + m[0],
        lambda m: m + m[:, :1],
        lambda m: m[::2, ::-1] * m[1::2],
        lambda m: m.T[:300] - m[:, :300],
    ):
        np.testing.assert_array_equal(np.asarray(f(a)), f(x))


def test_dtypes_of_other_sizes_stay_in_one_kernel():
    x = np.arange(5000, dtype="f4") - 2500
    a = tn.array(x)
    launched = _core.numeric_stats()["launched"]
    made = tn.where(a > 3, a.astype("f8") * 2, -a)
    assert (np.asarray(made) == np.where(x > 3, x.astype("f8") * 2, -x)).all()
    assert _core.numeric_stats()["launched"] == launched + 1


def test_a_value_that_writes_of_parts_read_is_computed_once():
    """The first write computes and keeps it."""
    x, y = np.random.default_rng(4).random((2, 99, 101))
    a, b, p, q = tn.array(x), tn.array(y), tn.zeros((101, 101)), np.zeros((101, 101))
    _core.numeric_flush()
    with Count() as count:
        value = (a * b + a) * 3.0
        for k in range(4):
            p[1:-1] = value * k + 1.0
    for k in range(4):
        q[1:-1] = (x * y + x) * 3.0 * k + 1.0
    assert count.nodes == 3 + 4 * 3
    np.testing.assert_array_equal(np.asarray(p), q)
    np.testing.assert_array_equal(np.asarray(value), (x * y + x) * 3.0)


def test_what_is_written_and_still_named_is_kept():
    x = np.random.default_rng(5).random((99, 101))
    a, p = tn.array(x), tn.zeros((101, 101))
    made = a * 2.0 + 1.0
    p[1:-1] = made
    a *= 0.0
    p[1:-1] += made[::-1]
    np.testing.assert_array_equal(np.asarray(p)[1:-1], (x * 2.0 + 1.0) + (x * 2.0 + 1.0)[::-1])


def test_values_used_twice_count_once():
    x = np.random.default_rng(2).random(N)
    a = tn.array(x)
    with Count() as count:
        for _ in range(9):  # as a tree, 2^9 values
            a = a * a + 0.25
    for _ in range(9):
        x = x * x + 0.25
    assert (count.launched, count.nodes) == (1, 18)
    np.testing.assert_array_equal(np.asarray(a), x)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
@pytest.mark.parametrize(
    "shape, order",
    [((200, 300), (1, 0)), ((16, 17), (1, 0)), ((3, 70, 130), (2, 1, 0)), ((30, 40, 50), (1, 2, 0)),
     ((2, 65, 3, 66), (0, 3, 2, 1)), ((5, 1000), (1, 0))],
)  # fmt: skip
def test_places_that_lie_transposed_to_each_other(dtype, shape, order):
    x = np.random.default_rng(3).integers(0, 200, shape).astype(dtype)
    a, y = tn.array(x), x.transpose(order)
    small = _core.numeric_small(0)
    with Count() as count:
        b = a.transpose(order).copy()
        c = tn.add(b, a.transpose(order), order="C")
    _core.numeric_small(small)
    assert count.launched <= 2
    np.testing.assert_array_equal(np.asarray(b), y)
    np.testing.assert_array_equal(np.asarray(c), y + y)


def test_many_values_with_numbers_of_their_own_are_several_kernels():
    with Count() as count:
        made = [tn.ones(100_000) * i + 1 for i in range(30)]
        assert [float(a[7]) for a in made] == [i + 1 for i in range(30)]
    assert count.launched <= 4
    assert float((tn.ones(1000) + 1)[0]) == 2


def test_a_value_written_to_a_part_is_computed_there():
    x = np.random.default_rng(2).random((90, 110))
    a, b = tn.array(x), tn.array(np.zeros((90, 110)))
    with Count() as count:
        b[1:-1, 1:-1] = (a[1:-1, :-2] + a[1:-1, 2:]) * 0.5
    assert count.launched == 1 and count.bytes < 3 * x.nbytes
    with Count() as count:
        b[1:-1, 1:-1] = a.T[:108, :88].T * 2 + 1
    assert count.launched == 1
    assert (np.asarray(b[1:-1, 1:-1]) == x[:88, :108] * 2 + 1).all()
    kept = a[1:-1, 1:-1] * 3  # known by name: computed once, for both
    with Count() as count:
        b[1:-1, 1:-1] = kept
        b[:-2, 1:-1] = kept
    assert count.launched == 2 and count.nodes == 2  # the second copy is no kernel
    assert (np.asarray(kept) == x[1:-1, 1:-1] * 3).all() and (np.asarray(b[:-2, 1:-1]) == np.asarray(kept)).all()


def test_a_part_that_the_value_reads_is_written_afterwards():
    x = np.random.default_rng(3).random((60, 70))
    a, wanted = tn.array(x), x.copy()
    for _ in range(3):
        a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1]) * 0.25
        wanted[1:-1, 1:-1] = (wanted[:-2, 1:-1] + wanted[2:, 1:-1]) * 0.25
        a[1:] = a[:-1] + a[1:] * 2
        wanted[1:] = wanted[:-1] + wanted[1:] * 2
    assert (np.asarray(a) == wanted).all()


@pytest.mark.parametrize(("to", "read", "launched"), [
    (np.s_[3], [np.s_[2], np.s_[4]], 1), (np.s_[:, 5], [np.s_[:, 4], np.s_[:, 7]], 1), (np.s_[::2], [np.s_[1::2]], 1),
    (np.s_[1:], [np.s_[:-1]], 2), (np.s_[3], [np.s_[3]], 2), (np.s_[:, ::2], [np.s_[:, 1::2], np.s_[:, 2::2]], 2),
])  # fmt: skip
def test_a_part_of_what_is_read_is_written_at_once_where_they_lie_apart(to, read, launched):
    x = np.random.default_rng(4).random((1600, 1500))
    a, wanted = tn.array(x), x.copy()
    if read[-1] == np.s_[:, 2::2]:
        to, read = np.s_[:, 2::2], [np.s_[:, 1:-1:2], np.s_[:, :-2:2]]
    for _ in range(2):
        with Count() as count:
            a[to] = sum(a[each] * 0.5 for each in read) + 1
        wanted[to] = sum(wanted[each] * 0.5 for each in read) + 1
        assert count.launched == launched and (np.asarray(a * 1) == wanted).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [0, 1, 3, 15, 16, 17, 63, 64, 65, 100, 5000, 16385])
def test_parts_of_complex_numbers_are_read_and_written_together(dtype: str, n: int) -> None:
    rng = np.random.default_rng(n)
    want = (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    want[n // 2 :][:1] = complex(np.nan, -0.0)
    other = (rng.standard_normal(n) - 1j).astype(dtype)
    x, y = tn.array(want), tn.array(other)
    close = {"rtol": 1e-12 if dtype == "complex128" else 1e-5}
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(np.asarray(x + y * x - y), want + other * want - other, **close)
        x *= y
        want *= other
        x[1::2] -= y[1::2]
        want[1::2] -= other[1::2]
        x[1:] += x[:-1]  # which overlap
        want[1:] += want[:-1]
        x[:] = x[::-1].conj()
        want[:] = want[::-1].conj()
    np.testing.assert_allclose(np.asarray(x), want, **close)


def test_a_wait_without_arrays_computes_all_that_waits() -> None:
    made = [tn.arange(100_000) + i for i in range(3)]
    assert _core.numeric_stats()["waiting"]
    with tn.device("cpu"):
        assert tn.wait() is None
    assert not _core.numeric_stats()["waiting"]
    assert [int(x[1]) for x in made] == [1, 2, 3]
    with pytest.raises(TypeError):
        tn.wait(device="cpu")
    for given in (1, [made[0]], None):
        with pytest.raises(TypeError, match=rf"wait\(\) takes arrays, one after another, not {type(given).__name__}"):
            tn.wait(made[0], given)

# SPDX-License-Identifier: Apache-2.0
"""Products of two matrices of floats in host memory (src/numeric/matrix.c): values, the library's bits, all strides."""

from __future__ import annotations

import os

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import LONG
from tessera.lib import gemm


def laid(rng, shape, dtype):
    """Random numbers that lie row after row, turned, backwards, with gaps or broadcast: NumPy's array and ours."""
    kind = rng.integers(6)
    room = rng.standard_normal((2 * shape[0], 2 * shape[1])).astype(dtype)
    if kind == 1:
        room = rng.standard_normal((2 * shape[1], 2 * shape[0])).astype(dtype)
    both = room, tn.array(room)
    if kind == 0:
        return [np.ascontiguousarray(m[: shape[0], : shape[1]]) if m is room else m[: shape[0], : shape[1]].copy()
                for m in both]  # fmt: skip
    if kind == 1:
        return [m[: shape[1], : shape[0]].T for m in both]
    if kind == 2:
        return [m[: shape[0], : shape[1]][::-1, ::-1] for m in both]
    if kind == 3:
        return [m[::2, ::2] for m in both]
    if kind == 4:
        return [np.broadcast_to(room[0, : shape[1]], shape), tn.broadcast_to(both[1][0, : shape[1]], shape)]
    return [m[1 : shape[0] + 1, 1 : shape[1] + 1] for m in both]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_random_products_are_numpys(dtype):
    rng = np.random.default_rng(3)
    for _ in range(120 if LONG else 25):
        m, k, n = (int(rng.choice([2, 3, 7, 24, 33, 48, 65, 97, 130])) for _ in range(3))
        k = int(rng.choice([k, 513, 1100])) if rng.random() < 0.3 else k
        (x, a), (y, b) = laid(rng, (m, k), dtype), laid(rng, (k, n), dtype)
        bound = 4 * k * np.finfo(dtype).eps * (abs(x).astype("f8") @ abs(y).astype("f8"))
        assert (abs(np.asarray(a @ b, "f8") - x.astype("f8") @ y.astype("f8")) <= bound).all()
        assert (a @ b).dtype == dtype and (a @ b).shape == (m, n)


@pytest.mark.skipif(os.environ.get("TESSERA_VECTOR_BYTES") == "16", reason="loops of small products have no fma")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(64, 64, 64), (33, 1030, 49), (97, 65, 500), (130, 70, 31), (64, 25, 6), (5, 9, 8),
                                   (8, 1030, 53), (4, 301, 130), (7, 90, 500)])  # fmt: skip
def test_the_bits_are_those_of_the_librarys_kernel(dtype, shape):
    m, k, n = shape
    rng = np.random.default_rng(k)
    x, y = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    wanted = np.empty((m, n), dtype)
    gemm.gemm(x, y, wanted)
    for a, b in ((tn.array(x), tn.array(y)), (tn.array(x.T.copy()).T, tn.array(y.T.copy()).T)):
        assert np.asarray(a @ b).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_matrices_of_many_elements_times_vectors_are_numpys(dtype):
    """Larger than all caches, where rows are read side by side; the bits are those of each row alone."""
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2103, 2050)).astype(dtype), rng.standard_normal(2050).astype(dtype)
    a, b = tn.array(x), tn.array(y)
    bound = 4 * 2103 * np.finfo(dtype).eps * 40
    found = np.asarray(a @ b)
    assert (abs(found - x.astype("f8") @ y) <= bound).all()
    assert all(float(a[i] @ b) == found[i] for i in (0, 3, 4, 2100, 2101, 2102))
    z = rng.standard_normal(2103).astype(dtype)
    assert (abs(np.asarray(tn.array(z) @ a) - z @ x.astype("f8")) <= bound).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_with_their_own_transpose_have_the_bits_of_all_products(dtype):
    rng = np.random.default_rng(7)
    for m, k in ((2, 9000), (33, 40), (47, 513), (96, 21), (97, 65), (145, 1030), (251, 8), (500, 100)):
        x, a = laid(rng, (m, k), dtype)
        other = tn.array(np.array(x.T, order="K"))
        for own, wanted in ((a @ a.T, a @ other), (a.T.T @ a.T, a @ other)):
            assert np.asarray(own).tobytes() == np.asarray(wanted).tobytes()
            assert (np.asarray(own) == np.asarray(own).T).all()
        turned, b = laid(rng, (k, m), dtype)
        wanted = tn.array(np.array(turned.T, order="K")) @ b
        assert np.asarray(b.T @ b).tobytes() == np.asarray(wanted).tobytes()
    x = rng.standard_normal((70, 70)).astype(dtype)
    x[3, 5], x[60, 2] = np.nan, np.inf
    np.testing.assert_allclose(np.asarray(tn.array(x) @ tn.array(x).T), x @ x.T, rtol=1e-3)
    a = tn.array(x[:, ::-1])
    with np.errstate(invalid="ignore"):
        wanted = x[:, ::-1] @ x[:, ::-1]
    np.testing.assert_allclose(np.asarray(a @ a), wanted, rtol=1e-3)  # the same memory, but not turned


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_few_vectors_times_a_matrix_have_the_bits_of_each_alone(dtype):
    """Rows of both are dense along K: each result is a row times a vector, whatever lies beside it."""
    rng = np.random.default_rng(13)
    for _ in range(60 if LONG else 20):
        m, n, k = int(rng.choice([5, 31, 130])), int(rng.integers(2, 6)), int(rng.choice([127, 128, 257, 300, 1030]))
        x, y = rng.standard_normal((m + 1, k + 3)).astype(dtype), rng.standard_normal((n, k)).astype(dtype)
        a, b, x, y = tn.array(x)[1:, 2:-1][::-1], tn.array(y)[::-1], x[1:, 2:-1][::-1], y[::-1]
        bound = 4 * k * np.finfo(dtype).eps * (abs(x).astype("f8") @ abs(y.T).astype("f8"))
        made = [a @ b.T, (b @ a.T).T, tn.inner(a, b), tn.tensordot(a, b, (1, -1)), tn.tensordot(a, b.T, (1, 0))]
        for each in made:
            assert each.dtype == dtype
            assert (abs(np.asarray(each, "f8") - x.astype("f8") @ y.T.astype("f8")) <= bound).all()
        if n <= 4 and k * a.itemsize >= 1024:
            alone = np.stack([np.asarray(a @ b[i]) for i in range(n)], 1)
            assert all(np.asarray(each).tobytes() == alone.tobytes() for each in made[:1] + made[2:4])
    wide = rng.standard_normal((700, 400)).astype(dtype)  # for all threads
    found = tn.array(wide) @ tn.array(wide[:3]).T
    alone = np.stack([np.asarray(tn.array(wide) @ tn.array(wide[i])) for i in range(3)], 1)
    assert np.asarray(found).tobytes() == alone.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_times_rows_have_the_bits_of_each_alone(dtype):
    rng = np.random.default_rng(17)
    for m, k in ((1, 1), (3, 7), (20, 33), (9, 300), (600, 400)):
        x, y = (rng.standard_normal((m, k + 1)).astype(dtype) for _ in range(2))
        x[0, 0], y[-1, -1] = -0.0, np.nan
        for i, j in ((np.s_[:, 1:], np.s_[:, :-1]), (np.s_[::-1, 1:], np.s_[:1, 1:]), (np.s_[:, :0], np.s_[:, :0])):
            a, b = tn.array(x)[i], tn.broadcast_to(tn.array(y)[j], (m, x[i].shape[1]))
            found = tn.einsum("ij,ij->i", a, b)
            bound = 4 * (k + 1) * np.finfo(dtype).eps * np.einsum("ij,ij->i", abs(x[i]), abs(np.asarray(b)))
            wanted = np.einsum("ij,ij->i", x[i].astype("f8"), np.asarray(b, "f8"))
            assert found.dtype == dtype and found.shape == (m,)
            np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
            assert (abs(np.asarray(found, "f8") - wanted) <= bound)[~np.isnan(wanted)].all()
            if a.size:
                alone = np.stack([a[row] @ b[row] for row in range(m)])
                np.testing.assert_array_equal(np.asarray(found), alone)
        waits = tn.array(x) * 2
        twice = np.asarray(tn.einsum("ij,ij->i", waits, waits))
        np.testing.assert_allclose(twice, np.einsum("ij,ij->i", 2 * x, 2 * x), 1e-4 if dtype == "f4" else 1e-12)


def test_fields_of_records_are_multiplied_as_they_lie():
    rng = np.random.default_rng(19)
    whole = np.zeros((40, 200), [("tag", "i4"), ("x", "f8")])
    whole["x"] = rng.random((40, 200))
    a, x = tn.array(whole)["x"], whole["x"]
    np.testing.assert_allclose(np.asarray(a @ a[:2].T), x @ x[:2].T)
    np.testing.assert_allclose(np.asarray(a @ a[0]), x @ x[0])
    np.testing.assert_allclose(np.asarray(tn.einsum("ij,ij->i", a, a)), np.einsum("ij,ij->i", x, x))


def test_axes_of_tensordot_of_matrices_are_numpys():
    rng = np.random.default_rng(23)
    for _ in range(40):
        x, y = (rng.random(rng.choice([1, 2, 3], 2)) for _ in range(2))
        axes = [(1, 0), (0, 0), (1, 1), (0, 1), (-1, 0), ([1], [0]), (2, 0), 1, 2, (np.int64(1), 0), ((0, 1), (0, 1))]
        for each in axes:
            results = []
            for of in (np, tn):
                try:
                    results.append(np.asarray(of.tensordot(of.array(x), of.array(y), each)))
                except Exception as failure:
                    results.append(type(failure))
            if isinstance(results[0], type):
                assert results[0] is results[1]
            else:
                np.testing.assert_allclose(results[1], results[0])
                assert results[1].shape == results[0].shape


def test_what_is_not_finite_stays_where_it_is():
    rng = np.random.default_rng(1)
    for m, k, n in ((37, 41, 53), (64, 600, 25)):
        x, y = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        x[m - 1, 0], x[1, k - 1], y[2, n - 1] = np.inf, np.nan, -np.inf
        with np.errstate(all="ignore"):
            found, wanted = np.asarray(tn.array(x) @ tn.array(y)), x @ y
        np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    zero = tn.array(np.full((40, 40), -0.0)) @ tn.ones((40, 40))
    assert not np.signbit(np.asarray(zero)).any()  # sums begin at +0


def test_operands_that_wait_are_computed_and_results_are_new():
    x = np.arange(200 * 200, dtype="f8").reshape(200, 200) % 7
    a = tn.array(x)
    c = (a + 1) @ (a * 2).T
    np.testing.assert_array_equal(c, (x + 1) @ (x * 2).T)
    a[:] = a @ a
    np.testing.assert_array_equal(a, x @ x)
    view = tn.array(x)
    view[:100, :100] = view[:100] @ view[:, 100:]
    x[:100, :100] = x[:100] @ x[:, 100:]
    np.testing.assert_array_equal(view, x)

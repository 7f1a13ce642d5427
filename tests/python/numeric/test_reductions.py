# SPDX-License-Identifier: Apache-2.0
"""Reductions against NumPy: every axis, dtypes, where=, initial=, empty arrays."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import unless_short
from tessera import _core
from tessera.numeric import _more, _reduce

TOLERANCE = {"e": 2e-2, "f": 2e-5, "d": 1e-12, "F": 2e-5, "D": 1e-12}


def same(ours, theirs, tolerance=0.0):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * 10)


@pytest.mark.parametrize(
    "shape", [(5,), (3, 4), (40, 300), (2, 3, 4), (3, 500, 2), (1, 1), (90000,)], ids=str
)
def test_every_axis_is_numpys(shape):
    x = np.random.default_rng(len(shape)).integers(-9, 9, shape)
    a = tn.array(x)
    axes = [None, *range(-1, len(shape)), *([(0, 1), ()] if len(shape) > 1 else [])]
    for axis in axes:
        for name in ("sum", "max", "all", "mean"):
            same(getattr(tn, name)(a, axis=axis), getattr(np, name)(x, axis=axis), 1e-12)
        if not isinstance(axis, tuple):
            same(tn.argmin(a, axis=axis), np.argmin(x, axis=axis))
    same(a.sum(axis=0, keepdims=True), x.sum(axis=0, keepdims=True))


@pytest.mark.parametrize("dtype", "?bBiQefdFD")
def test_every_dtype_is_numpys(dtype):
    rng = np.random.default_rng(7)
    x = (rng.integers(0, 7, (20, 30)) - (3 if dtype not in "?BQ" else 0)).astype(dtype)
    a = tn.array(x)
    for name in ("sum", "prod", "max", "min", "any", "argmax", "argmin", "mean", "var", "std"):
        with np.errstate(all="ignore"):
            part = x[:, :4] if name == "prod" else x
            wanted = getattr(np, name)(part, axis=1)
        same(
            getattr(tn, name)(tn.array(part), axis=1), wanted, TOLERANCE.get(wanted.dtype.char, 0.0)
        )
    assert isinstance(a.sum(), np.generic) and a.sum().dtype == x.sum().dtype


def test_nan_wins_and_the_first_of_equal_ones():
    x = np.array([[1.0, np.nan, 3, np.nan], [5, 5, 2, 2]])
    a = tn.array(x)
    same(a.max(axis=1), x.max(axis=1))
    same(a.argmax(axis=1), x.argmax(axis=1))
    same(a.argmin(axis=1), x.argmin(axis=1))


def test_where_initial_and_dtype():
    x = np.arange(12.0).reshape(3, 4)
    a, mask = tn.array(x), x % 2 == 0
    same(tn.sum(a, where=mask), np.sum(x, where=mask))
    same(tn.sum(a, axis=0, initial=5, where=mask), np.sum(x, axis=0, initial=5, where=mask))
    same(tn.max(a, axis=1, initial=6, where=mask), np.max(x, axis=1, initial=6, where=mask))
    same(tn.mean(a, axis=1, where=mask), np.mean(x, axis=1, where=mask))
    same(tn.var(a, axis=1, ddof=1), np.var(x, axis=1, ddof=1), 1e-14)
    same(tn.sum(a.astype("i1"), dtype="i2"), np.sum(x.astype("i1"), dtype="i2"))
    same(tn.add.reduce(a), np.add.reduce(x))
    same(tn.logical_or.reduce(a > 3, axis=1), np.logical_or.reduce(x > 3, axis=1))
    out = tn.zeros(4)
    assert tn.sum(a, axis=0, out=out) is out
    same(out, x.sum(axis=0))
    with pytest.raises(ValueError, match="identity"):
        tn.max(a, where=mask)
    with pytest.raises(ValueError, match="wrong shape"):
        tn.sum(a, axis=0, out=tn.zeros(3))
    with pytest.raises(np.exceptions.AxisError):
        tn.sum(a, axis=2)
    with pytest.raises(ValueError, match="repeated axis"):
        tn.sum(a, axis=(0, 0))


def test_out_that_holds_more_is_computed_in():
    for m in (np, tn):
        x = m.array([[1, -3], [100, 127]], "i1")
        assert m.min(x, axis=0, initial=0.5, out=m.zeros(2)).tolist() == [0.5, -3]
        assert m.max(x, axis=0, initial=100.5, out=m.zeros(2, "f4")).tolist() == [100.5, 127]
        assert m.cumsum(x[1], out=m.zeros(2, "i1")).tolist() == [100, -29]
        half = m.array([1, 2**-11, 2**-11], "f2")
        assert m.cumsum(half, out=m.zeros(3)).tolist() == [1, 1 + 2**-11, 1 + 2**-10]
        assert abs(float(m.mean(half, out=m.zeros(()))) * 3 - 1 - 2**-10) < 1e-6


def test_ends_but_nan_with_where():
    for m in (np, tn):
        x = m.array([[1.0, np.nan, 3], [0, 5, 9]])
        mask = m.array([[True, True, False]] * 2)
        assert float(m.nanmin(x, initial=4, where=mask)) == 0
        assert m.nanmax(x, axis=1, initial=-1, where=mask).tolist() == [1, 5]


def test_of_nothing():
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0), 0)):
        x, a = np.zeros(shape), tn.zeros(shape)
        same(a.sum(axis=axis), x.sum(axis=axis))
        same(a.prod(axis=axis), x.prod(axis=axis))
        same(a.all(axis=axis), x.all(axis=axis))
    with pytest.raises(ValueError, match="no identity"):
        tn.zeros(0).max()
    with pytest.raises(ValueError, match="empty sequence"):
        tn.zeros(0).argmax()
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(RuntimeWarning)
        assert np.isnan(tn.zeros(0).mean())


def test_large_sums_are_the_same_each_time_and_near_numpys():
    x = np.random.default_rng(0).random(1_000_003)
    a = tn.array(x)
    assert a.sum() == a.sum()
    assert abs(a.sum() - x.sum()) < 1e-8
    assert tn.array(x.astype("f4")).max() == x.astype("f4").max()
    assert (a.reshape(-1)[:1_000_000].reshape(4, -1).sum(axis=1) > 0).all()


@pytest.mark.parametrize("shape", [(1 << 17,), (70000, 1), (1, 40000)])
@pytest.mark.parametrize("dtype", ["f4", "i2"])
def test_places_in_long_rows_are_the_first_of_equal_ones(shape, dtype):
    x = np.random.default_rng(1).integers(-500, 500, shape).astype(dtype)
    if dtype == "f4":
        x.flat[x.size // 2] = np.nan
    a = tn.array(x)
    for name in ("argmax", "argmin"):
        assert getattr(tn, name)(a) == getattr(np, name)(x)
        axis = int(np.argmax(shape))
        made = getattr(tn, name)(a[::-1] + 0, axis=axis, keepdims=True)
        assert (np.asarray(made) == getattr(np, name)(x[::-1], axis=axis, keepdims=True)).all()


@pytest.mark.parametrize("shape", [(3000, 200), (40, 5000), (7, 300, 65), (1 << 18,)])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_sums_in_pieces_are_numpys(shape, axis):
    x = np.random.default_rng(2).integers(-9, 9, shape).astype("f4")
    assert (np.asarray(tn.sum(tn.array(x), axis)) == np.sum(x, axis)).all()
    assert (np.asarray(tn.cumsum(tn.array(x), axis)) == np.cumsum(x, axis)).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1", "?"])
@pytest.mark.parametrize("shape", [(3000,), (3, 2500), (700, 40), (6, 1, 90), (1, 1)])
def test_places_of_ends_of_equal_elements_and_of_nan(shape, dtype):
    rng = np.random.default_rng(8)
    least, most = (0, 1) if dtype == "?" else (-np.inf, np.inf) if dtype[0] == "f" else (
        np.iinfo(dtype).min, np.iinfo(dtype).max)  # fmt: skip
    cases = [rng.integers(0, 3, shape), np.full(shape, least), np.full(shape, most)]
    if dtype[0] == "f":
        cases.append(np.where(rng.random(shape) < 0.01, np.nan, cases[0]))
    for case in cases:
        x = case.astype(dtype)
        for axis in (None, *range(x.ndim)):
            for name in ("argmax", "argmin"):
                found = getattr(tn, name)(tn.array(x), axis)
                np.testing.assert_array_equal(np.asarray(found), getattr(np, name)(x, axis))


@pytest.mark.parametrize("axis", [0, -1, 1])
@pytest.mark.parametrize("name", ["sum", "max", "any", "argmax", "argsort", "mean", "std", "count_nonzero"])
def test_axes_of_arrays_without_axes_are_numpys(name, axis):
    results = []
    for m in (np, tn):
        try:
            made = np.asarray(getattr(m, name)(m.array(5), axis=axis))
            results.append((made.tolist(), made.shape))
        except np.exceptions.AxisError:
            results.append("AxisError")
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((40003,), 0), ((3000, 40), 0), ((300, 40), 1), ((20, 3000, 7), 1), ((70, 33, 50), (0, 2)), ((40, 50), None)],
)
@pytest.mark.parametrize(("dtype", "offset"), [("f4", 1000), ("f4", 0), ("f8", 1e6), ("f2", 0), ("i4", 50)])
def test_variances_in_one_pass_are_numpys(monkeypatch, shape, axis, dtype, offset):
    monkeypatch.setattr(_reduce, "_is_read_once", lambda *_: True)  # as on a GPU
    x = (np.random.default_rng(3).standard_normal(shape) * 30 + offset).astype(dtype)
    wanted = x.astype("f8").var(axis)
    made = tn.var(tn.array(x), axis)
    assert made.dtype == (dtype if dtype != "i4" else "f8") and made.shape == wanted.shape
    tolerance = {"f2": 2e-3, "f4": 1e-6}.get(dtype, 1e-12)
    np.testing.assert_allclose(made, wanted, rtol=tolerance)
    made, wanted = tn.std(tn.array(x), axis, ddof=1, keepdims=True), x.astype("f8").std(axis, ddof=1, keepdims=True)
    np.testing.assert_allclose(made, wanted, rtol=tolerance)


def test_variances_in_one_pass_of_what_is_no_number_are_none(monkeypatch):
    monkeypatch.setattr(_reduce, "_is_read_once", lambda *_: True)
    x = np.tile([[1, 2, 3], [np.inf, 3, np.nan], [4, 5, 4.0]], (100, 1))
    x[0, 1] = 1e30  # what all differ from
    with np.errstate(all="ignore"), tn.errstate(all="ignore"):
        same(tn.var(tn.array(x), 0), x.var(0), 1e-12)


def test_a_spread_is_of_floats_without_a_mask():
    for x, where in ((np.ones(5, "i4"), None), (np.ones(5), tn.ones(5, bool))):
        with pytest.raises(ValueError, match="a spread is one of floats, without a mask"):
            _core.numeric_fold("spread", tn.array(x), (0,), None, False, where)


@pytest.mark.parametrize("dtype", unless_short(["?", "u1", "i2", "u4", "i8", "f4", "f8"], ["i1", "u2", "i4", "u8"]))
def test_rows_that_lie_there_are_folded_as_numpys(dtype):
    """The greatest and the least, their places, all and any: around blocks of 2,048, of rows, parts, several axes."""
    rng = np.random.default_rng(3)
    for shape, axis in (((64,), 0), ((65,), None), ((2047,), 0), ((2049,), 0), ((9000,), 0), ((3, 5000), 1),
                        ((70, 130), 1), ((4, 3, 70), 2), ((4, 30, 70), (1, 2)), ((5, 4, 3), None),
                        ((40, 300), 0)):  # fmt: skip
        for kind in range(5):
            x = rng.integers(-3, 4, shape) * (rng.random(shape) < 0.5) if kind else rng.standard_normal(shape) * 40
            x = np.zeros(shape) if kind == 3 else np.ones(shape) if kind == 4 else x
            with np.errstate(all="ignore"):
                x = x.astype(dtype)
            if kind == 2 and dtype[0] == "f":
                x = np.where(rng.random(shape) < 0.001, rng.choice([np.nan, -np.nan], shape), -x).astype(dtype)
            flat = x.reshape(-1)
            flat[rng.integers(flat.size)] = 0 if kind == 4 else 1 if kind == 3 else flat[0]
            for a in (x, x[::-1], x[..., ::2]):
                b = tn.array(x)
                b = b[::-1] if a is not x and a.shape == x.shape else b[..., ::2] if a is not x else b
                for name in ("max", "min", "all", "any", "argmax", "argmin"):
                    if name[0] == "a" and name[1] == "r" and isinstance(axis, tuple):
                        continue
                    wanted, found = getattr(np, name)(a, axis), np.asarray(getattr(tn, name)(b, axis))
                    np.testing.assert_array_equal(found, wanted)
                    assert found.dtype == wanted.dtype


def test_zeros_and_nan_of_folds_are_those_of_kernels():
    for n in (100, 5000):
        for dtype in ("f4", "f8"):
            x = np.full(n, -0.0, dtype)
            assert np.signbit(np.asarray(tn.max(tn.array(x)))) and np.signbit(np.asarray(tn.min(tn.array(x))))
            x[n // 2] = 0.0
            a = tn.array(x)
            assert not np.signbit(np.asarray(tn.max(a))) and np.signbit(np.asarray(tn.min(a)))
            assert tn.argmax(a) == 0 and tn.argmin(a) == 0
            x[n - 1] = x[n - 3] = -np.nan
            a = tn.array(x)
            assert not np.signbit(np.asarray(tn.max(a))) and tn.argmax(a) == tn.argmin(a) == n - 3


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize("name", ["maximum", "minimum", "add", "fmax"])
@pytest.mark.parametrize("dtype", ["g", "G"])
def test_dtypes_that_only_numpy_has_are_computed_by_the_host(name, method, dtype):
    x = np.arange(3000.0) % 7
    found = getattr(getattr(tn, name), method)(tn.array(x), dtype=dtype)
    same(found, getattr(getattr(np, name), method)(x, dtype=dtype))


@pytest.mark.parametrize("out", ["f8", "f4", "i8"])
@pytest.mark.parametrize("dtype", [int, "i1", bool, "f4", None])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["std", "var"])
def test_spreads_into_out_are_numpys(name, axis, dtype, out):
    x = np.random.default_rng(4).integers(-9, 9, (2, 5)) / 2
    made = []
    for m in (np, tn):
        room = m.zeros(() if axis is None else x.shape[1 - axis], out)
        try:
            given = getattr(m, name)(m.array(x), axis=axis, dtype=dtype, out=room)
            made.append((given is room, room.dtype, np.asarray(room)))
        except TypeError:
            made.append(TypeError)
    if TypeError in made:
        assert made[0] is made[1]
    else:
        assert made[0][:2] == made[1][:2]
        np.testing.assert_allclose(made[1][2], made[0][2], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u2", "i1", "f2"])
def test_both_ends_are_found_at_once(dtype):
    rng = np.random.default_rng(ord(dtype[0]) + int(dtype[1]))
    for n in (4096, 8192, 3 * 4096 + 7):
        x = (rng.standard_normal(n) * 50).astype(dtype)
        found = _reduce._ends_by_rows(tn.asarray(x))
        assert found == (x.min(), x.max()) and [type(each) for each in found] == [x.dtype.type] * 2
        if x.dtype.kind == "f":
            x[rng.integers(n)] = np.nan
            assert all(np.isnan(each) for each in _reduce._ends_by_rows(tn.asarray(x)))


def test_covariances_by_products_are_numpys():
    x = np.random.default_rng(7).standard_normal((7, 300))
    np.testing.assert_allclose(_more._cov_of(tn.asarray(x), 299), np.cov(x), rtol=1e-12)
    columns = x.astype("f4").T
    np.testing.assert_allclose(_more._cov_of(tn.asarray(columns), 7), np.cov(columns, ddof=0), rtol=1e-12)


def signs(made):
    made = np.asarray(made)
    return str(made.dtype), made.shape, np.signbit(made.real).tolist(), np.signbit(made.imag).tolist()


SUMS_OF_ZEROS = {
    "sum": lambda m, a: m.sum(a),
    "method": lambda m, a: a.sum(),
    "rows": lambda m, a: a.sum(axis=-1),
    "columns": lambda m, a: a.sum(0, keepdims=True),
    "turned": lambda m, a: a.T.sum(-1),
    "mean": lambda m, a: m.mean(a, axis=0),
    "nansum": lambda m, a: m.nansum(a),
    "where": lambda m, a: m.sum(a, axis=0, where=a == 0),
    "nowhere": lambda m, a: m.sum(a, where=a != 0),
    "from -0": lambda m, a: m.sum(a, axis=0, initial=-0.0),
    "from nothing": lambda m, a: m.add.reduce(a, 0, initial=None),
    "parts": lambda m, a: m.add.reduceat(a, [0, 1]),
    "running": lambda m, a: m.cumsum(a, axis=0),
    "out": lambda m, a: m.sum(a, axis=0, out=m.ones(a.shape[1:], a.dtype)),
    "einsum": lambda m, a: m.einsum("i...->...", a),
    "trace": lambda m, a: m.einsum("ii", a[:2, :2]) if a.ndim == 2 and a.shape[1] > 1 else 0,
    "chain": lambda m, a: (a + a).sum(-1),
}


@pytest.mark.parametrize("dtype", "efdFD")
@pytest.mark.parametrize("lend", [False, True])
def test_sums_of_nothing_but_negative_zeros_have_numpys_sign(dtype, lend):
    before = _core.numeric_lends(lend)
    try:
        compare_sums_of_zeros(dtype)
    finally:
        _core.numeric_lends(before)


def compare_sums_of_zeros(dtype):
    for shape in [(2,), (300,), (3, 4), (200, 3), (3, 200), (2, 3, 4)]:
        zeros = np.full(shape, complex(-0.0, -0.0) if dtype in "FD" else -0.0, dtype)
        for name, call in SUMS_OF_ZEROS.items():
            wanted = signs(call(np, zeros))
            assert signs(call(tn, tn.array(zeros))) == wanted, (name, shape)

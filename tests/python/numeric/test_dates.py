# SPDX-License-Identifier: Apache-2.0
"""Dates and spans of time, by NumPy."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core, compute

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


def numbers(rng, n=40, reach=10**4):
    """Counts, some of them NaT."""
    made = rng.integers(-reach, reach, n)
    made[rng.random(n) < 0.15] = np.iinfo(np.int64).min
    return made


def same(got, want):
    """Both have the same dtype and the same bits."""
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape, (got, want)
    np.testing.assert_array_equal(got.view("i8") if got.dtype.kind in "mM" else got,
                                  want.view("i8") if want.dtype.kind in "mM" else want)  # fmt: skip


def test_views_and_elements_keep_the_unit():
    want = np.array(["2000-01-01", "NaT", "1999-12-31", "2024-02-29"], "M8[D]").reshape(2, 2)
    got = tn.array(want)
    assert got.dtype == want.dtype and got[0, 0] == want[0, 0] and type(got[1, 1]) is np.datetime64
    for view in (lambda a: a.T, lambda a: a[:, 1:], lambda a: a[a == a], lambda a: a[[1, 0]], lambda a: a.ravel(),
                 lambda a: a.copy(), lambda a: a.view("i8"), lambda a: a.view("m8[s]"),
                 lambda a: a.astype("M8")):  # fmt: skip
        same(view(got), view(want))
    assert repr(got) == repr(want) and got.tolist() == want.tolist()
    same(pickle.loads(pickle.dumps(got)), want)
    with pytest.raises(ValueError):
        memoryview(got)
    with pytest.raises(BufferError):
        got.__dlpack__()


@pytest.mark.parametrize("kind", "mM")
def test_casts_between_units(kind):
    rng = np.random.default_rng(0)
    values = numbers(rng)
    for source in [*UNITS, "25s", "3M", "2Y", "7D"]:
        want = values.view(f"{kind}8[{source}]")
        for target in [*UNITS, "10m", "5Y", "2W", "7M"]:
            try:
                wanted = want.astype(f"{kind}8[{target}]")
            except OverflowError:
                with pytest.raises(OverflowError):
                    tn.array(want).astype(f"{kind}8[{target}]")
                continue
            same(tn.array(want).astype(f"{kind}8[{target}]"), wanted)


def test_arithmetic():
    rng = np.random.default_rng(1)
    days, seconds = numbers(rng).view("M8[D]"), numbers(rng).view("m8[5s]")
    other, counts, floats = numbers(rng).view("m8[D]"), rng.integers(-3, 4, 40), rng.normal(0, 3, 40)
    with np.errstate(all="ignore"):
        for function in (lambda d, s, o, i, x: d + s, lambda d, s, o, i, x: s + d, lambda d, s, o, i, x: d - d[::-1],
                         lambda d, s, o, i, x: d - o, lambda d, s, o, i, x: s * i, lambda d, s, o, i, x: i * s,
                         lambda d, s, o, i, x: s * x, lambda d, s, o, i, x: s / i, lambda d, s, o, i, x: s / x,
                         lambda d, s, o, i, x: s / o, lambda d, s, o, i, x: s // o, lambda d, s, o, i, x: s % o,
                         lambda d, s, o, i, x: s // i, lambda d, s, o, i, x: abs(s),
                         lambda d, s, o, i, x: -s):  # fmt: skip
            args = (days, seconds, other, counts, floats)
            same(function(*map(tn.array, args)), function(*args))
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        same(compare(tn.array(seconds), tn.array(other)), compare(seconds, other))
        same(compare(tn.array(days), days[3]), compare(days, days[3]))
    for refused in (lambda d: d + d, lambda d: d * 2, lambda d: -d, lambda d: d.sum(), lambda d: d < 3):
        with pytest.raises(TypeError):
            refused(tn.array(days))


def test_functions_of_numpys_programs():
    for want in (np.array([5, 3, "NaT", 9, 3, 7], "m8[s]"), np.array([5, 3, -2, 9, 3, 7], "M8[D]")):
        got = tn.array(want)
        for function in (lambda m, a: m.percentile(a, [25, 60]), lambda m, a: m.diff(a), lambda m, a: m.pad(a, 1),
                         lambda m, a: m.maximum.accumulate(a), lambda m, a: m.subtract.outer(a, a),
                         lambda m, a: m.triu(a.reshape(2, 3)), lambda m, a: m.nanmax(a), lambda m, a: m.r_[a, a],
                         lambda m, a: m.maximum.reduceat(a, [0, 3]), lambda m, a: m.nanmin(a),
                         lambda m, a: m.select([a > a[1], a == a[0]], [a, a[::-1]], a[0]), lambda m, a: m.ptp(a),
                         lambda m, a: m.lib.stride_tricks.sliding_window_view(a, 3)):  # fmt: skip
            same(function(tn, got), np.asarray(function(np, want)))
        assert tn.array_equal(got, got, equal_nan=True) and not (got == "2000-01-01").any()
        for refused in (lambda a: a @ a, lambda a: a.conj(), lambda a: tn.einsum("i->", a), lambda a: tn.gcd(a, a)):
            with pytest.raises(TypeError):
                refused(got)
        other = got.copy()
        tn.maximum.at(other, [0, 0, 1], got[3])
        same(other, np.concatenate([want[3:4], np.maximum(want[1:2], want[3]), want[2:]]))
    spans = tn.array(np.array([4, 3, 9], "m8[s]"))
    assert tn.allclose(spans, spans + 1, atol=np.timedelta64(1, "s")) and not tn.allclose(spans, spans + 1, atol=0)
    assert spans.mean() == np.timedelta64(5, "s")
    assert tn.sum(spans, where=[True, False, True]) == np.timedelta64(13, "s")


@pytest.mark.parametrize("kind", "mM")
def test_other_byte_orders(kind):
    def made_of(a):
        turned = a.astype(f">{kind}8[D]")
        return a.astype(f">{kind}8[s]"), turned.astype(f"{kind}8[s]"), turned + np.timedelta64(1, "s"), turned == a

    want = np.array([4, 3, "NaT"], f"{kind}8[D]")
    for got, expected in zip(made_of(tn.array(want)), made_of(want), strict=True):
        assert got.dtype == expected.dtype and np.asarray(got).tobytes() == expected.tobytes()
    with pytest.raises(TypeError):
        tn.var(tn.array(want))


def test_ones_and_fills():
    for dtype in ("M8", "M8[D]", "m8", "m8[3h]"):
        same(tn.ones((2, 2), dtype), np.ones((2, 2), dtype))
        same(tn.zeros_like(tn.zeros(3, dtype)), np.zeros(3, dtype))
    same(tn.full(3, "2000-02-03", "M8[D]"), np.full(3, "2000-02-03", "M8[D]"))


def test_kernels_take_them():
    days = tn.array(np.array(["2001-05-01", "1970-01-01", "1999-05-05"], "M8[D]"))
    made = tn.empty_like(days)
    compute.merge_sort(d_in_keys=days, d_out_keys=made, num_items=3, op=compute.OpKind.LESS)
    same(made, np.sort(np.asarray(days)))


def test_what_numpy_computes_is_counted():
    days = tn.arange("2024-02-26", "2024-03-08", dtype="M8[D]")
    before = tn.host_calls().get("is_busday", 0)
    same(tn.is_busday(days), np.is_busday(np.asarray(days)))
    same(tn.busday_offset(days, 3, roll="forward"), np.busday_offset(np.asarray(days), 3, roll="forward"))
    assert tn.busday_count("2024-01-01", "2025-01-01") == np.busday_count("2024-01-01", "2025-01-01")
    assert tn.datetime_as_string(days).tolist() == np.datetime_as_string(np.asarray(days)).tolist()
    assert days.astype("U").tolist() == np.asarray(days).astype("U").tolist()
    assert tn.host_calls()["is_busday"] == before + 1 and tn.datetime_data("M8[25s]") == ("s", 25)


def test_a_change_of_unit_is_in_the_kernel_that_uses_it():
    days = tn.array(np.arange(200000).view("M8[D]"))
    np.testing.assert_array_equal(np.asarray(days + 1), np.arange(1, 200001).view("M8[D]"))  # the array is there
    days = days.copy()
    before = _core.numeric_stats()["launched"]
    made = ((days + 40).astype("M8[M]") - days.astype("M8[M]")) * 2
    assert _core.numeric_stats()["launched"] == before
    want = np.arange(200000).view("M8[D]")
    same(made, ((want + 40).astype("M8[M]") - want.astype("M8[M]")) * 2)
    assert _core.numeric_stats()["launched"] == before + 1


def test_order_and_files(tmp_path):
    want = np.array(["2001-05-01", "NaT", "1970-01-01", "2001-05-01"], "M8[D]")
    got = tn.array(want)
    for function in ("sort", "argsort", "unique", "argmax", "argmin"):
        same(getattr(tn, function)(got), np.asarray(getattr(np, function)(want)))
    same(tn.searchsorted(tn.sort(got), want), np.searchsorted(np.sort(want), want))
    tn.save(tmp_path / "dates.npy", got)
    same(tn.load(tmp_path / "dates.npy"), want)
    got[1] = "1999-12-31"
    got[[0, 2]] = np.datetime64("2000-01-01T05", "h")
    want[1], want[[0, 2]] = "1999-12-31", np.datetime64("2000-01-01T05", "h")
    same(got, want)
    with pytest.raises(TypeError, match="is only|not supported"):
        tn.isnat(tn.ones(3))


def test_counts_are_written_to_spans():
    spans = tn.array([7, -8, 9], "m8[D]")
    wanted = np.asarray(spans).copy()
    wanted //= np.timedelta64(2, "D")
    spans //= tn.timedelta64(2, "D")
    assert spans.dtype == wanted.dtype and spans.tolist() == wanted.tolist()

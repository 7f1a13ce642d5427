# SPDX-License-Identifier: Apache-2.0
"""Calls that C answers without Python (ext/numeric_routine.c), and small calls on views of every kind (quick.c)."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn
from long_form import LONG
from tessera import _core


def _outcome(module, convert, call):
    try:
        made = call(module, convert)
    except (ValueError, TypeError) as mistake:
        return type(mistake)
    return np.asarray(made), made.dtype, made.strides


def _alike(call, strides=True):
    found, wanted = _outcome(tn, tn.array, call), _outcome(np, np.array, call)
    if isinstance(wanted, type):
        assert issubclass(found, wanted)
        return
    np.testing.assert_array_equal(found[0], wanted[0])
    assert found[1] == wanted[1] and (not strides or found[2] == wanted[2])


def test_random_joins_are_numpys():
    rng = np.random.default_rng(1)
    for _ in range(200):
        rank = rng.integers(1, 4)
        axis, shape = int(rng.integers(-rank - 1, rank + 1)), list(rng.integers(0, 5, rank))
        parts = []
        for _ in range(rng.integers(1, 4)):
            if -rank <= axis < rank:
                shape[axis] = int(rng.integers(0, 4))
            x = rng.integers(0, 99, shape).astype(rng.choice(["f8", "f8", "f4", "i4"]))
            parts.append(x.T.copy().T if rng.random() < 0.3 else x)
        wide = min(min(x.shape) for x in parts) > 1
        _alike(lambda m, put, a=axis, p=parts: m.concatenate([put(x) for x in p], a), wide)
    _alike(lambda m, put: m.hstack([put([1, 2]), put(3)]))
    _alike(lambda m, put: m.concatenate([]))
    with pytest.raises((ValueError, OverflowError, TypeError)):
        tn.concatenate([tn.ones(2)], 2**80)


def test_what_waits_is_joined():
    x = np.arange(2000.0)
    _alike(lambda m, put: m.concatenate([put(x) * 2, put(x)[::-1], put(x)[:5] + 1]))


def test_what_is_made_as_another_is_numpys():
    likes = [np.ones((3, 4)), np.ones((3, 4)).T, np.ones(5, "i2"), np.ones((2, 0)), np.ones(()),
             np.ones((4, 6))[::2, ::-1]]  # fmt: skip
    for name in ("zeros_like", "ones_like"):
        for x in likes:
            _alike(lambda m, put, name=name, x=x: getattr(m, name)(x if m is np else put(x)[...]), x.size > 0)
    for bounds in ((5,), (0,), (-3,), (2, 9), (9, 2), (-5, 5), (5000,), (2**62, 2**62 + 3)):
        _alike(lambda m, put, b=bounds: m.arange(*b), strides=False)
    for more in ({}, {"endpoint": False}, {"dtype": int}, {"dtype": "f4"}):
        _alike(lambda m, put, more=more: m.linspace(1, 2.5, 11, **more))


def test_powers_and_products_of_few_elements_are_numpys():
    x = np.arange(1.0, 13).reshape(3, 4)
    for y in (2, 2.0, 3, -1.5, 0, 2**70):
        for dtype in ("f4", "f8", "c8", "i4"):
            if (dtype == "i4" and y == -1.5) or (dtype in ("i4", "c8") and y == 2**70):
                continue
            with np.errstate(all="ignore"):
                found, wanted = tn.array(x.astype(dtype)) ** y, x.astype(dtype) ** y
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5)
    rng = np.random.default_rng(3)
    for m, k, n in ((2, 3, 4), (8, 75, 16), (5, 1, 9), (31, 32, 33)):
        a, b = tn.array(rng.random((m, k))), tn.array(rng.random((k, n)))
        np.testing.assert_allclose(np.asarray(a @ b), np.asarray(a) @ np.asarray(b), rtol=1e-13)
        both = tn.concatenate((a, a)) @ b  # a row's bits do not depend on how many there are, beyond a few
        np.testing.assert_array_equal(np.asarray(a[1] @ b if m < 5 else both[m + 1]), np.asarray((a @ b)[1]))


VIEWS = [
    lambda a: a, lambda a: a[1:-1, 1:], lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a.T, lambda a: a[:1],
    lambda a: a[:, 1:2], lambda a: a[3], lambda a: a[:, 2], lambda a: a[2, 2:3], lambda a: a[None, ::3, None],
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_powers_that_are_other_functions_are_those(dtype):
    x = np.array([4, 2, 3, -np.inf, -0.0, 0, np.inf, np.nan, -2, 7, 1e-3], dtype)
    few, many = tn.array(x), tn.array(np.tile(x, 500))
    with np.errstate(all="ignore"):
        for y, name in ((0.5, "sqrt"), (-1, "reciprocal"), (2, "square")):
            for a in (few, many):
                wanted = np.asarray(getattr(tn, name)(a))
                assert np.asarray(a**y).tobytes() == wanted.tobytes(), y
            if dtype != "c8":
                assert np.asarray(few**y).tobytes() == (x**y).tobytes(), y


def test_small_calls_on_views_have_the_bits_of_the_long_way():
    rng = np.random.default_rng(7)
    for _ in range(300 if LONG else 20):
        x = rng.integers(1, 9, (6, 6)).astype(rng.choice(["f8", "i4", "c16"]) if LONG else "f8")
        first, second = (VIEWS[i] for i in rng.integers(0, len(VIEWS), 2))
        into = rng.random() < 0.4

        def call(m, a, first=first, second=second, into=into):
            p, q = first(a), second(a)
            if into:
                p += q
            else:
                p = m.where(p > 2, q, p)
            return p, a

        results = []
        for module, small in ((tn, 512), (tn, 512), (tn, 0), (np, 0)):
            before = _core.numeric_small(small)
            try:
                results.append([np.array(y) for y in call(module, module.array(x))])
            except ValueError:
                results.append(None)
            _core.numeric_small(before)
        for other in results[1:]:
            assert (other is None) == (results[0] is None)
            for found, wanted in zip(results[0] or [], other or [], strict=True):
                np.testing.assert_array_equal(found, wanted)


def test_memory_of_arrays_that_ended_is_nobodys():
    kept = np.asarray(tn.ones(100) + 1)
    for i in range(20):
        made = tn.full(100, float(i)) + 0
        view = np.asarray(made) if i % 2 else None
        del made
        tn.full(100, 99.0) + 1
        assert view is None or (view == i).all()
    assert (kept == 2).all()


@pytest.mark.parametrize("dtype", ["f8", "u1", "c16", "?", "M8[s]", "U3", "i4,f8"])
@pytest.mark.parametrize("key", [[1, 5, 2], [-1, 0, 0], [0] * 64, [0] * 65, [99], [-11], [2**70]])
def test_short_lists_of_places_are_numpys(dtype, key):
    theirs = np.arange(20).reshape(10, 2).astype(dtype)
    for host in (theirs, theirs[:, 1], theirs[::-2]):
        outcomes = []
        for module in (np, tn):
            a = module.array(host)
            try:
                made = a[key]
                a[key] = 1
                outcomes.append((np.asarray(made).tolist(), np.asarray(a).tolist()))
            except (IndexError, ValueError) as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1]


VIEW_CALLS = """
transpose(a) | transpose(a, None) | transpose(a, (1, 0)) | transpose(a, [0, 1]) | transpose(a, 1, 0)
a.transpose() | a.transpose(1, 0) | a.transpose((1, 0)) | a.transpose(0, 0) | a.transpose(-1, 0)
a.transpose(2, 1) | swapaxes(a, 0, -1) | a.swapaxes(0, 1) | a.swapaxes(0, 3) | moveaxis(a, 0, -1)
moveaxis(a, [0, 1], [1, 0]) | moveaxis(a, 0, 9) | rollaxis(a, 1) | rollaxis(a, 0, 2) | rollaxis(a, 0, 1)
rollaxis(a, -1, -2) | rollaxis(a, 1, 5) | squeeze(a) | squeeze(a, 0) | squeeze(a, -1) | a.squeeze()
a.squeeze(axis=0) | expand_dims(a, 0) | expand_dims(a, -1) | expand_dims(a, (0, 1)) | expand_dims(a, 7)
atleast_1d(a) | atleast_2d(a) | atleast_1d(a, a) | a.view() | a.view("u1") | diagonal(a) | a.diagonal()
diagonal(a, 1) | flipud(a) | fliplr(a) | flip(a) | real(a) | imag(a) | asarray(a) | asanyarray(a) | array(a)
array(a, copy=False) | a.item(0) | a.item(-1) | a.item(99) | a.item() | a.fill(3) | a.fill(2.5) | a.fill("x")
a.fill(a)
"""
VIEW_CALLS = [call.strip() for line in VIEW_CALLS.strip().split("\n") for call in line.split("|")]


@pytest.mark.parametrize("call", VIEW_CALLS)
def test_views_are_numpys(call):
    rng = np.random.default_rng(len(call))
    for shape in ((3, 4), (1, 3), (3, 1), (5,), (1,), (), (2, 3, 4), (1, 1, 2), (0, 2), (2, 0)):
        x = (rng.normal(size=shape) * 9).astype(rng.choice(["f8", "f4", "i4", "c16", "?", "f2"]))
        arrays = [module.array(x) for module in (tn, np)]
        if rng.random() < 0.3:
            arrays = [a[..., ::-1] if a.ndim else a for a in arrays]
        if rng.random() < 0.2:
            for a in arrays:
                a.flags.writeable = False
        found, wanted = (_view_of(module, a, call) for module, a in zip((tn, np), arrays, strict=True))
        np.testing.assert_array_equal(np.asarray(arrays[0]), arrays[1], err_msg=call)
        if isinstance(wanted, type):
            assert isinstance(found, type) and (issubclass(found, wanted) or issubclass(wanted, found)), (call, shape)
        elif isinstance(wanted, np.ndarray):
            np.testing.assert_array_equal(np.asarray(found), wanted, err_msg=call)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            assert found.flags.writeable == wanted.flags.writeable
            assert [s for s, n in zip(found.strides, found.shape, strict=True) if n > 1] == [
                s for s, n in zip(wanted.strides, wanted.shape, strict=True) if n > 1] or not found.size  # fmt: skip
            assert not found.size or tn.shares_memory(found, arrays[0]) == np.shares_memory(wanted, arrays[1]), call
            assert not found.size or (found is arrays[0]) <= np.shares_memory(wanted, arrays[1])
        else:
            assert type(found) in (type(wanted), tuple), (call, shape)


def _view_of(module, a, call):
    try:
        return eval(call if call[0:2] == "a." else f"module.{call}", {"a": a, "module": module})  # noqa: S307
    except Exception as mistake:  # noqa: BLE001
        return type(mistake)


def test_views_of_derived_classes_dates_and_records_stay_so():
    class Derived(tn.ndarray):
        pass

    x = tn.arange(6.0).reshape(2, 3).view(Derived)
    assert type(x.swapaxes(0, 1)) is Derived and type(tn.transpose(x)) is Derived and type(x.squeeze()) is Derived
    days = tn.array([["2020-01-02", "2020-01-01"]], "M8[D]")
    assert days.squeeze().dtype == "M8[D]" and days.T.squeeze().shape == (2,) and tn.real(days) is days
    records = tn.zeros((1, 2), [("a", "i4"), ("b", "f8")])
    assert records.squeeze().dtype == records.dtype and records.swapaxes(0, 1).shape == (2, 1)

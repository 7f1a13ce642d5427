# SPDX-License-Identifier: Apache-2.0
"""Arrays of dtypes that no kernel computes are NumPy's own: what they give, and that every call is counted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tessera.numeric as tn


def both(program, *arrays):
    """What a program gives with NumPy and with ours is equal, and of one dtype."""
    wanted, got = program(np, *arrays), program(tn, *(tn.array(a) for a in arrays))
    kind = tn.HostArray if np.asarray(wanted).dtype.char in "Og" else tn.ndarray
    assert not isinstance(wanted, np.ndarray) or type(got) is kind
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    assert np.asarray(got).tolist() == np.asarray(wanted).tolist()


NAMES = np.array(["b", "a", "c", "a"])
THINGS = np.array([3, None, "x", 2.5], dtype=object)
NUMBERS = np.array([1, 2, 3, 4])


@pytest.mark.parametrize("program", [
    lambda m, a, b: m.sort(a), lambda m, a, b: m.unique(a), lambda m, a, b: a == "a", lambda m, a, b: "a" != a,
    lambda m, a, b: a[b % 2 == 0], lambda m, a, b: a[1:][::-1], lambda m, a, b: b[a == "a"],
    lambda m, a, b: m.argsort(a), lambda m, a, b: a.argsort(), lambda m, a, b: m.concatenate([a, a]),
    lambda m, a, b: m.isin(a, ["a"]), lambda m, a, b: m.where(b > 2, a, "z"), lambda m, a, b: a.reshape(2, 2).T,
    lambda m, a, b: b.astype(str), lambda m, a, b: m.array(["1", "2"]).astype(float), lambda m, a, b: b == "x",
])  # fmt: skip
def test_strings(program):
    both(program, NAMES, NUMBERS)


@pytest.mark.parametrize("program", [
    lambda m, a, b: b.astype(object) + b, lambda m, a, b: b + b.astype(object), lambda m, a, b: b * a[:1],
    lambda m, a, b: m.add.reduce(b.astype(object)), lambda m, a, b: b.astype(object).sum(),
    lambda m, a, b: m.multiply.outer(b, b.astype(object)), lambda m, a, b: m.full(3, None),
    lambda m, a, b: a == None,  # noqa: E711
    lambda m, a, b: m.add(b, m.array([10**30] * 4, dtype=object)), lambda m, a, b: m.array([10**30, 1]) // 7,
    lambda m, a, b: m.negative(b.astype(object)), lambda m, a, b: m.result_type(a, b),
    lambda m, a, b: m.zeros(2, object), lambda m, a, b: m.array(b, object), lambda m, a, b: m.array(b, "g", order="F"),
    lambda m, a, b: m.array([1, 2], dtype="g") * 2, lambda m, a, b: m.matmul(b.astype(object), b),
])  # fmt: skip
def test_objects(program):
    both(program, THINGS, NUMBERS)


def test_numbers_are_copied_to_host_arrays():
    for m in (np, tn):
        a = m.zeros(3, "g")
        m.copyto(a, m.arange(3), where=m.arange(3) > 0)
        assert a.tolist() == [0, 1, 2]
        m.copyto(a, 5)
        assert a.tolist() == [5, 5, 5]
    x = np.zeros(3)
    tn.copyto(x, tn.arange(3))
    assert x.tolist() == [0, 1, 2]


def test_objects_are_written_to_arrays_of_numbers():
    a = tn.zeros(4)
    a[...] = tn.array([1, 2, 3, 4], dtype=object)
    a[[0, 1]] = np.array(["7", "8"])
    a[2:] = tn.array([5, 6], dtype=object)
    assert type(a) is tn.ndarray and a.tolist() == [7, 8, 5, 6]
    waits = a * 2
    tn.add(a, tn.array([1] * 4, dtype=object), out=a, casting="unsafe")
    assert a.tolist() == [8, 9, 6, 7] and waits.tolist() == [14, 16, 10, 12]
    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        a += tn.array([1] * 4, dtype=object)


def test_calls_on_the_host_are_counted():
    before = tn.host_calls().get("sort", 0)
    names = tn.sort(tn.array(["b", "a"], dtype=object))
    assert tn.host_calls()["sort"] == before + 1
    assert repr(names) == "array(['a', 'b'], dtype=object)" and names.device == "cpu"
    again = pickle.loads(pickle.dumps(names))
    assert type(again) is tn.HostArray and again.tolist() == ["a", "b"]


def test_mistakes_are_numpys():
    for program in (lambda m: m.sin(m.array(["a"])), lambda m: m.arange(1) @ m.array([object()])):
        with pytest.raises(TypeError) as wanted:
            program(np)
        with pytest.raises(type(wanted.value)):
            program(tn)
    with pytest.raises(TypeError, match="arrays of dtype object are NumPy's own"):
        tn.fft.fft(tn.array([1, 2], dtype=object))


@pytest.mark.parametrize("dtype", ["i,i", "S8", "U3", "V6", "i4,S3", "M8[s]", "f4"])
@pytest.mark.parametrize("value", [
    np.longdouble(3), np.clongdouble(3), np.array([np.longdouble(3)]), np.array(None),
    np.array("ab", object), np.array([1, "x"], object), np.array([1, 2], object),
], ids=repr)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_numpy_alone_holds_is_written_to_items(dtype, value):
    def written(m):
        out = m.zeros(2, dtype)
        try:
            out[...] = value
        except (TypeError, ValueError) as error:
            return type(error)
        return repr(np.asarray(out).tolist())  # NaN, too

    assert written(tn) == written(np)

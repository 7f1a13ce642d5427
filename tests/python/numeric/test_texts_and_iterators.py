# SPDX-License-Identifier: Apache-2.0
"""`strings`, `char`, `nditer` and `ndarray.ctypes`, which are NumPy's on arrays of ours."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import tessera.numeric as tn

TEXTS = {
    "upper": lambda m, s: m.strings.upper(s), "length": lambda m, s: m.strings.str_len(s),
    "find": lambda m, s: m.strings.find(s, "d"), "pad": lambda m, s: m.strings.ljust(s, 5, "."),
    "add": lambda m, s: m.char.add(s, "x"),
    "join": lambda m, s: m.char.join("-", s), "chararray": lambda m, s: m.char.array(s).upper(),
    "alpha": lambda m, s: m.strings.isalpha(s), "replace": lambda m, s: m.strings.replace(s, "a", "bb"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_numpys(name):
    got = TEXTS[name](tn, tn.array(["ab", "c d"]))
    wanted = TEXTS[name](np, np.array(["ab", "c d"]))
    assert isinstance(got, tn.ndarray) and got.tolist() == wanted.tolist()


def test_iterators_write_to_our_memory():
    a = tn.arange(6).reshape(2, 3)
    for x in tn.nditer(a, op_flags=["readwrite"]):
        x[...] = 2 * x
    assert a.tolist() == [[0, 2, 4], [6, 8, 10]]
    it = tn.nditer([a, None], flags=["multi_index"])
    with it:
        for x, y in it:
            y[...] = x + it.multi_index[0]
        assert it.operands[0] is a and isinstance(it.operands[1], tn.ndarray)
        assert it.operands[1].tolist() == [[0, 2, 4], [7, 9, 11]]
    chunks = [x.tolist() for x in tn.nditer(a.T, flags=["external_loop"], order="F")]
    assert chunks == [x.tolist() for x in np.nditer(np.asarray(a).T, flags=["external_loop"], order="F")]


def test_ctypes_tells_where_an_array_lies():
    a = tn.arange(6.0).reshape(2, 3)
    pointer = a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    pointer[1] = 7.0
    assert a[0, 1] == 7.0 and a.ctypes.shape[:] == [2, 3] and a.ctypes.data == np.asarray(a).ctypes.data


def _made(function, *args, **options):
    """The elements that a call gives, or the built-in class of what it raises."""
    try:
        return np.asarray(function(*args, **options)).tolist()
    except Exception as error:
        return next(each for each in type(error).__mro__ if each.__module__ == "builtins")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("where", ["linalg", "fft"])
def test_arrays_of_texts_meet_numpys_functions(where):
    """What NumPy does with them, or its refusal: never a name that is missing."""
    theirs, ours, texts = getattr(np, where), getattr(tn, where), [["a", "b"], ["c", "d"]]
    for name in set(ours.__all__) - {"LinAlgError", "outer", "cross"}:  # two multiply before they look at axes
        for n in (1, 2):
            wanted = _made(getattr(theirs, name), *[np.array(texts)] * n)
            assert _made(getattr(ours, name), *[tn.array(texts)] * n) == wanted, (name, n)


@pytest.mark.parametrize("name", "all any sum max prod cumsum bitwise_count divmod gcd hstack".split())
def test_texts_in_lists_and_arrays_are_reduced_as_numpys(name):
    for value in ([["a", "b"], ["c", "d"]], "a", ["a", ""]):
        for make in (lambda m, x: m.array(x), lambda m, x: np.array(x), lambda m, x: x):
            wanted = _made(getattr(np, name), make(np, value))
            assert _made(getattr(tn, name), make(tn, value)) == wanted, value


def test_reductions_of_texts_take_numpys_options():
    for options in ({"axis": 0}, {"axis": 0, "keepdims": True}, {"axis": (0, 1)}, {"axis": 1, "where": [True, False]}):
        for name in ("all", "any"):
            wanted = _made(getattr(np, name), [["a", ""]], **options)
            assert _made(getattr(tn, name), [["a", ""]], **options) == wanted, (name, options)
    out = tn.zeros(2, bool)
    assert tn.all([["a", ""]], axis=0, out=out) is out
    assert out.tolist() == [True, False]

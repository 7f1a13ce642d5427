# SPDX-License-Identifier: Apache-2.0
"""Views, assignment, order in place, memory shared with others, printing."""

from __future__ import annotations

import array
import copy
import ctypes
import hashlib
import pickle
import sys
import weakref

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core


@pytest.fixture(params=["at once", "waiting"])
def small(request):
    """Both ways of a call: computed at once, and noted."""
    before = _core.numeric_small(0 if request.param == "waiting" else 8192)
    yield request.param
    _core.numeric_small(before)


def both(shape, dtype="f8"):
    x = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    return x.copy(), tn.array(x)


KEYS = [
    1,
    -1,
    (0, 2),
    slice(1, None),
    slice(None, None, -1),
    (slice(None, None, 2), slice(3, 0, -2)),
    ...,
    (..., 1),
    None,
    (None, 1, ..., None),
    slice(5, 2),
    (np.int64(1), 1),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_basic_indexing_is_numpys(key, small):
    x, a = both((4, 5, 2))
    view = a[key]
    np.testing.assert_array_equal(np.asarray(view), x[key])
    assert view.shape == x[key].shape and view.strides == x[key].strides
    a[key] = 7
    x[key] = 7
    np.testing.assert_array_equal(np.asarray(a), x)
    a[key] += 1
    x[key] += 1
    np.testing.assert_array_equal(np.asarray(a), x)


def test_elements_are_numpys_scalars():
    _, a = both((2, 3), "f4")
    assert type(a[1, 2]) is np.float32 and a[1, 2] == 5
    assert type((a + a)[1, 2]) is np.float32
    assert type(tn.add(1, 2)) is np.int64
    assert isinstance(tn.array(3.0), tn.ndarray) and float(tn.array(3.0)) == 3


@pytest.mark.parametrize("key", [4, (0, 5), (0, 0, 0, 0), "a", 1.5, (..., ...)], ids=str)
def test_bad_indices_are_index_errors(key):
    x, a = both((4, 5, 2))
    with pytest.raises(IndexError):
        x[key]
    with pytest.raises(IndexError):
        a[key]


def test_overlap_is_as_if_operands_were_copied(small):
    for write in (
        lambda a, m: a.__setitem__(slice(1, None), a[:-1]),
        lambda a, m: m.add(a, 1, out=a[::-1]),
        lambda a, m: a.__iadd__(a[::-1]),
        lambda a, m: m.add(a[1:], a[:-1], out=a[1:]),
        lambda a, m: a.__setitem__(slice(None, None, 2), a[a.shape[0] // 2 :]),
    ):
        for n in (10, 20000):
            x, a = both(n)
            write(x, np)
            write(a, tn)
            np.testing.assert_array_equal(np.asarray(a), x)
    x, a = both((50, 50))
    x += x.T
    a += a.T
    np.testing.assert_array_equal(np.asarray(a), x)


def test_views_see_what_is_written_and_readers_what_was_there(small):
    x, a = both(20000)
    before, view = a * 2, a[::3]
    a += 1
    a *= a
    after = a - 1
    np.testing.assert_array_equal(np.asarray(before), x * 2)
    np.testing.assert_array_equal(np.asarray(view), ((x + 1) ** 2)[::3])
    np.testing.assert_array_equal(np.asarray(after), (x + 1) ** 2 - 1)
    view[:] = 0
    assert (a[::3] == 0).all() and not (after[3::3] == 0).any()


def test_memory_shared_with_numpy_is_one_memory(small):
    x = np.zeros(20000)
    a = tn.asarray(x)
    later = a + 1
    x[0] = 5
    assert a[0] == 5 and later[0] == 1
    a[1] = 6
    assert x[1] == 6
    shared = np.asarray(a)
    shared[2] = 7
    assert x[2] == 7 and np.shares_memory(shared, x)
    own = tn.zeros(20000)
    seen = np.asarray(own)
    own += 3
    assert seen[5] == 3


def test_readonly_arrays_are_not_written_to():
    a = tn.broadcast_to(tn.arange(3), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        a += 1
    assert not a.flags.writeable and not np.asarray(a).flags.writeable


def test_in_place_keeps_the_dtype_and_casts_within_a_kind():
    a = tn.arange(3)
    same = a
    a += 1
    assert same is a and a.dtype == np.int64
    with pytest.raises(TypeError, match="Cannot cast"):
        a += 0.5
    b = tn.ones(3, "f4")
    b += tn.ones(3, "f8")
    assert b.dtype == np.float32


@pytest.mark.parametrize(
    "name", ["reshape", "transpose", "ravel", "squeeze", "swapaxes", "flip", "copy", "view"]
)
def test_shapes_and_strides_are_numpys(name):
    arguments = {
        "reshape": [(4, -1)],
        "transpose": [(2, 0, 1)],
        "swapaxes": [0, 2],
        "view": ["i4"],
    }.get(name, [])
    for make in (lambda x: x, lambda x: x.T, lambda x: x[::2], lambda x: x[:, 1:]):
        x, a = both((4, 3, 6))
        x, a = make(x), make(a)
        f = (
            (lambda m, y, *rest: m.flip(y, *rest))
            if name == "flip"
            else (lambda m, y, *rest: getattr(y, name)(*rest))
        )
        try:
            wanted = f(np, x, *arguments)
        except ValueError:
            with pytest.raises(ValueError):
                f(tn, a, *arguments)
            continue
        got = f(tn, a, *arguments)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(got), wanted)
        assert (got.base is None) == (wanted.base is None)
        assert got.strides == wanted.strides


def test_results_lie_as_their_operands(small):
    x, a = both((30, 40, 20))
    for axes in ((2, 1, 0), (1, 0, 2), (0, 1, 2)):
        assert (a.transpose(axes) + 1).strides == (x.transpose(axes) + 1).strides
        assert (
            tn.add(a.transpose(axes), 1, order="C").strides
            == (x + 1).transpose(axes).copy("C").strides
        )


def test_printing_is_numpys(small):
    for x in (
        np.arange(6).reshape(2, 3),
        np.linspace(0, 1, 2000),
        np.array(3.5),
        np.array([True]),
        np.zeros((0, 2)),
    ):
        assert repr(tn.array(x)) == repr(x) and str(tn.array(x)) == str(x)
    assert f"{tn.array(1.25):.1f}" == "1.2"


def test_copies_keep_the_order_of_axes():
    for m in (np, tn):
        a = m.ones((2, 3), order="F")
        assert copy.copy(a).flags.f_contiguous and copy.deepcopy(a).flags.f_contiguous and a.copy().flags.c_contiguous


def test_copies_and_pickles_are_arrays():
    a = tn.arange(5) + 0.5
    for other in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert type(other) is tn.ndarray and other.tolist() == a.tolist()
        other[0] = 9
        assert a[0] == 0.5


def test_dlpack_goes_both_ways():
    a = tn.arange(6.0).reshape(2, 3)
    x = np.from_dlpack(a)
    x = np.asarray(a)
    x[0, 0] = 8
    assert a[0, 0] == 8
    b = tn.from_dlpack(x)
    b[0, 1] = 9
    assert a[0, 1] == 9


def test_numpy_functions_on_our_arrays_are_ours():
    a = tn.arange(4.0)
    assert type(np.sin(a)) is tn.ndarray and type(np.add(np.ones(4), a)) is tn.ndarray
    assert type(np.ones(4) + a) is tn.ndarray
    assert type(np.concatenate([a, a])) is tn.ndarray


def test_truth_and_numbers():
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tn.ones(2))
    assert bool(tn.ones(1)) and int(tn.array(3)) == 3 and [1, 2, 3][tn.array(1)] == 2
    with pytest.raises(TypeError):
        float(tn.ones(1))
    with pytest.raises(TypeError):
        hash(tn.ones(1))


class Kept(tn.ndarray):
    pass


PICKLED = {
    "rows": np.arange(6.0).reshape(2, 3), "columns": np.arange(6.0).reshape(2, 3).T, "parts": np.arange(12)[::-2],
    "number": np.array(3 + 1j), "nothing": np.zeros((0, 2), "f2"), "dates": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "texts": np.array(["a", "bcd"]), "records": np.array([(1, 2.5)], "i4, f8"), "turned": np.array([1, 2], ">i4"),
}  # fmt: skip


@pytest.mark.parametrize("kind", [tn.ndarray, Kept])
@pytest.mark.parametrize("name", PICKLED)
def test_pickles_keep_class_dtype_and_order(name, kind):
    x = PICKLED[name]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        wanted = pickle.loads(pickle.dumps(x, min(protocol, 4)))
        found = pickle.loads(pickle.dumps(tn.asarray(x.copy("K")).view(kind), protocol))
        assert type(found) is kind and found.shape == x.shape
        assert found.dtype in (wanted.dtype, x.dtype)
        assert np.array_equal(np.asarray(found), wanted, equal_nan=x.dtype.kind != "V" and x.dtype.kind not in "US")
        assert found.strides == wanted.strides


@pytest.mark.parametrize("order", ["C", "f", "F", "a", "K", None, b"F", "X", "Fortran", "", 1])
def test_new_arrays_take_numpys_orders(order):
    made = []
    for m in (np, tn):
        try:
            made.append(m.ndarray((2, 3), order=order).strides)
        except (ValueError, TypeError) as error:
            made.append(type(error))
    assert made[0] == made[1]


def test_a_state_is_set():
    a, x = tn.arange(3.0), np.arange(3.0)
    for m in (a, x):
        m.__setstate__((1, (2,), np.dtype("i4"), False, b"\1\0\0\0\2\0\0\0"))
    assert a.tolist() == x.tolist() == [1, 2] and a.dtype == x.dtype
    with pytest.raises(ValueError):
        a.__setstate__((1, (9,), np.dtype("i4"), False, b"\1"))


def test_hashes_of_arrays_with_several_axes():
    x = np.arange(6).reshape(2, 3)
    assert hashlib.sha256(tn.array(x)).digest() == hashlib.sha256(x).digest()


class Shows:
    def __array__(self, dtype=None, copy=None):
        return tn.arange(3)


def test_operands_that_show_our_arrays():
    assert tn.add(Shows(), 1).tolist() == [1, 2, 3] == (tn.ones(3, int) + Shows()).tolist()
    assert tn.interp(Shows(), Shows(), Shows()).tolist() == [0, 1, 2]


class Field(tn.ndarray):
    """A class of Python, with a dictionary."""


@pytest.mark.parametrize("make", [lambda: tn.ones(3), lambda: tn.ones(3).view(Field), lambda: tn.ones(3)[1:]])
def test_arrays_take_weak_references(make):
    a = make()
    gone = []
    one = weakref.ref(a, lambda ref: gone.append((ref(), (tn.ones(3) + 1).tolist())))  # computes, as any callback may
    by_name = weakref.WeakValueDictionary(a=a)
    assert one() is a is by_name["a"] and weakref.getweakrefcount(a) == 2
    del a
    assert one() is None and not by_name and gone == [(None, [2.0, 2.0, 2.0])]


def test_memory_of_an_object_is_kept_without_its_weak_references():
    old = [weakref.ref(tn.ones(3)) for _ in range(3)]
    held = [tn.ones(3) for _ in range(200)]
    ended = [weakref.ref(a) for a in held]
    places = {id(a) for a in held}
    del held
    made = [tn.ones(3) for _ in range(200)]
    assert places & {id(a) for a in made}  # objects where those were
    assert not any(weakref.getweakrefcount(a) for a in made)
    assert {ref() for ref in old + ended} == {None}


BUFFERS = {
    "bytearray": lambda: bytearray(b"abcd"),
    "memoryview": lambda: memoryview(bytearray(b"abcd")),
    "read-only": lambda: memoryview(b"abcd"),
    "array": lambda: array.array("d", [1, 2, 3]),
    "ctypes": lambda: ((ctypes.c_int * 2) * 3)(),
    "steps": lambda: memoryview(np.arange(6.0))[::2],
    "axes": lambda: memoryview(np.arange(6, dtype=">i4").reshape(2, 3)),
}


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("options", [{}, {"copy": True}, {"dtype": "f4"}, {"dtype": "u1"}, {"order": "F"}], ids=str)
def test_memory_of_buffers_is_shared_as_numpy_shares_it(kind, options):
    def seen(m):
        buffer = BUFFERS[kind]()
        made = m.asarray(buffer, **options)
        shared = np.shares_memory(np.asarray(made), np.asarray(buffer))
        return made.dtype, made.shape, made.flags.writeable, shared, made.tolist()

    assert seen(tn) == seen(np)


def test_the_size_of_an_object_has_the_elements_that_are_its_own():
    a = tn.zeros(1000)
    assert sys.getsizeof(a) - sys.getsizeof(a[:]) == a.nbytes and sys.getsizeof(a[:]) == sys.getsizeof(tn.zeros(0))

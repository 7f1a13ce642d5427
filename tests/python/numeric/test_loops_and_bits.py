# SPDX-License-Identifier: Apache-2.0
"""Loops by signature, bits of bytes, slices that are equal, sums of weights: as NumPy's."""

import numpy as np
import pytest
import tessera.numeric as tn

R = np.random.RandomState(5)


def same(got, want):
    assert type(got) is type(want) or isinstance(got, tn.ndarray)
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want)


def both(call):
    """What a call gives or raises with NumPy and here."""
    found = []
    for module in (np, tn):
        try:
            found.append(call(module))
        except Exception as error:  # noqa: BLE001
            found.append(error)
    return found


X = np.arange(4, dtype="f4")


@pytest.mark.parametrize(
    ("name", "n", "signature"),
    [
        ("add", 2, "dd->d"), ("add", 2, "ii->i"), ("add", 2, "DD->D"), ("add", 2, ("f8", None, None)), ("sqrt",
        1, "d->d"),
        ("add", 2, (None, None, "f8")), ("less", 2, "dd->?"), ("less", 2, (None, None, bool)), ("absolute", 1, "F->f"),
        ("sin", 1, ("f8", "f8")), ("add", 2, None), ("add", 2, "d"), ("add", 2, "d->d"), ("add", 2, 5), ("add",
        2, ("d", "d")),
        ("bitwise_and", 2, "dd->d"),
    ],
)  # fmt: skip
def test_loops_by_signature(name, n, signature):
    want, got = both(lambda m: getattr(m, name)(*[m.asarray(X)] * n, signature=signature))
    if isinstance(want, Exception):
        assert isinstance(got, TypeError if isinstance(want, TypeError) else type(want)), (
            want,
            got,
        )
    else:
        same(got, want)


F, I, B = np.dtype("f4"), np.dtype("i4"), np.dtype("i1")


@pytest.mark.parametrize(
    ("name", "dtypes", "options"),
    [
        ("add", (F, int, None), {}), ("add", (I, F, None), {}), ("sin", (B, None), {}), ("less", (I, np.dtype("u4"),
        None), {}),
        ("add", (F, F, I), {}), ("add", (F, F, None), {"signature": "dd->d"}), ("add", (None, F, None),
        {"reduction": True}),
        ("add", (I, float, None), {}), ("absolute", (np.dtype("F"), None), {}), ("divide", (I, I, None), {}),
        ("bitwise_and", (F, I, None), {}), ("add", (F, F), {}), ("add", (F, F, I), {"casting": "unsafe"}),
    ],
)  # fmt: skip
def test_dtypes_of_calls(name, dtypes, options):
    want, got = both(lambda m: getattr(m, name).resolve_dtypes(dtypes, **options))
    if isinstance(want, Exception):
        assert isinstance(got, TypeError if isinstance(want, TypeError) else type(want)), (
            want,
            got,
        )
    else:
        assert got == want


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("shape", [(13,), (3, 9), (2, 16, 3), (0,), (2, 0)])
def test_bits_of_bytes(shape, order):
    x, bytes_ = R.randint(0, 2, shape), R.randint(0, 256, shape).astype("u1")
    for axis in (None, *range(len(shape))):
        same(tn.packbits(tn.asarray(x), axis, order), np.packbits(x, axis, order))
        for count in (None, 5, -3, 100) if x.size else (None,):
            call = lambda m: m.unpackbits(m.asarray(bytes_), axis, count, order)  # noqa: B023
            want, got = both(call)
            if isinstance(want, Exception):
                assert isinstance(got, type(want))
            else:
                same(got, want)
    for wrong in (
        lambda m: m.packbits(m.ones(3)),
        lambda m: m.unpackbits(m.ones(3)),
        lambda m: m.packbits([1], 0, "middle"),
    ):
        want, got = both(wrong)
        assert isinstance(got, type(want)) and isinstance(got, Exception)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((20, 3), 0), ((20, 3), 1), ((4, 3, 5), 1), ((0, 3), 0), ((3, 0), 0), ((3, 2), -1)],
)
def test_different_slices(shape, axis):
    x = R.randint(0, 2, shape)
    for got, want in zip(
        tn.unique(tn.asarray(x), True, True, True, axis),
        np.unique(x, True, True, True, axis),
        strict=True,
    ):
        same(got, want)


def test_weights_and_places():
    x, w = R.randint(0, 5, 50), R.rand(50)
    same(tn.bincount(tn.asarray(x), tn.asarray(w)), np.bincount(x, w))
    same(tn.bincount(tn.asarray(x), w.astype("i4"), 9), np.bincount(x, w.astype("i4"), 9))
    for wrong in (
        lambda m: m.bincount(m.asarray(x), w[:3]),
        lambda m: m.bincount(m.asarray(x), w * 1j),
    ):
        want, got = both(wrong)
        assert isinstance(got, type(want)) and isinstance(got, Exception)
    for bins in (np.array([10.0, 4, 4, 1, 1, 0]), np.array([200, 4, 4, 1], "u1"), np.array([1, 3, np.nan])):
        for right in (False, True):
            same(
                tn.digitize(tn.arange(6.0), tn.asarray(bins), right),
                np.digitize(np.arange(6.0), bins, right),
            )
    z = R.randint(0, 3, 30) + 1j * R.randint(0, 3, 30)
    z[3] = complex(np.nan, 1)
    for side in ("left", "right"):
        same(
            tn.searchsorted(tn.asarray(np.sort(z)), tn.asarray(z), side),
            np.searchsorted(np.sort(z), z, side),
        )
    same(tn.unique(tn.asarray([z[3], z[3], 1])), np.unique([z[3], z[3], 1]))


@pytest.mark.parametrize("shape", [(7, 3), (4, 3), (3, 5), (9, 2), (3, 3)])
def test_wrapped_diagonals(shape):
    want, got = np.zeros(shape, int), tn.zeros(shape, int)
    np.fill_diagonal(want, [1, 2], wrap=True)
    tn.fill_diagonal(got, [1, 2], wrap=True)
    tn.fill_diagonal(got, [])  # nothing
    same(got, want)


def test_views_and_copies():
    a = tn.arange(10)
    assert a[::2].ravel().flags.c_contiguous and a.conj() is a and tn.any(None) is None
    assert tn.einsum("i", a).base is a and tn.einsum("i", a, dtype="f4").dtype == a.dtype
    same(tn.take(tn.asarray(3), 0, axis=-1), np.take(3, 0, axis=-1))
    narrow = tn.zeros(3, "u1")
    tn.copyto(narrow, 4, where=tn.asarray([True, False, True]))
    assert narrow.tolist() == [4, 0, 4]
    with pytest.raises(TypeError):
        tn.copyto(narrow, 1.5)
    out = tn.empty(3, "i8")
    assert tn.divmod(tn.asarray([7, 8, 9]), 4, out)[0] is out
    with pytest.raises(ValueError, match="not acceptable"):
        tn.dot(tn.ones((2, 2)), tn.ones((2, 2)), tn.zeros((2, 2), "f4"))


FLAT_KEYS = [
    slice(None),
    slice(1, 7, 2),
    slice(None, None, -1),
    slice(8, 1, -3),
    [0, -1, 2],
    np.array([1, 8, -9], "i1"),
    np.array([[1, 2], [0, 1]]),
    slice(50, 60),
]


@pytest.mark.parametrize("key", FLAT_KEYS, ids=str)
@pytest.mark.parametrize("value", [7, [1, 2, 3], np.arange(4)], ids=str)
def test_flat_elements_of_arrays_with_gaps(key, value):
    for shape in ((3, 4), (2, 3, 4), (9,)):
        room = R.randint(0, 99, [2 * n for n in shape])
        mine = tn.asarray(room.copy())
        every = (slice(None, None, 2),) * len(shape)
        for want, got in ((room[every], mine[every]), (room[every].T[::-1], mine[every].T[::-1])):
            same(got.flat[key], want.flat[key])
            want.flat[key] = value
            got.flat[key] = value
            same(got, want)
    with pytest.raises(IndexError, match="index 99 is out of bounds for size 9"):
        mine[every].flat[[99]]
    many = np.arange(600).reshape(2, 300).T
    same(tn.asarray(many).flat[np.array([100, -3], "i1")], many.flat[np.array([100, -3], "i1")])

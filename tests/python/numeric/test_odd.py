# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements do not lie at multiples of their size: every way to read and write them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tessera.numeric as tn


def odd(m, kind, shift=1):
    n = np.dtype(kind).itemsize
    a = m.zeros(1 + n * 6 + shift, "u1")[shift : shift + n * 6].view(kind).reshape(2, 3)
    a[...] = m.arange(6).reshape(2, 3)
    return a


def program(m, kind):
    a = odd(m, kind)
    found = [a, a + 1, a.sum(), a[1, 2], a[a != 2], a[[1, 0]], m.cumsum(a), m.sort(a)[:, ::-1], m.concatenate([a, a])]
    found += [a.max(0), m.take(a, [1, 2]), a.real.astype("f4"), m.argsort(a, axis=None), a @ a.T, a.T.copy()]
    found += [m.where(a > 2, a, 0)]
    found = [m.asarray(x).tolist() for x in found]
    a += 1
    a[0] *= 2
    a[[0], [1]] = 9
    a[a == 4] = 0
    m.add(a, 1, out=a, where=m.array([True, False, True]))
    a.T[1] = a[:, 0]
    return [*found, a.tolist(), a.flags.aligned]


@pytest.mark.parametrize("kind", ["f2", "i4", "f8", "c8", "c16"])
def test_odd_arrays(kind):
    assert program(tn, kind) == program(np, kind)


def test_memory_of_numpys_is_shared():
    records = np.zeros(4, [("a", "u1"), ("b", "f8")])
    b = tn.asarray(records["b"])
    b[1:] = [3, 4, 5]
    assert records["b"].tolist() == [0, 3, 4, 5] and b.sum() == 12
    raw = tn.arange(8, dtype="u1")
    assert raw.view("i4").getfield("i2", 1).tolist() == np.arange(8, dtype="u1").view("i4").getfield("i2", 1).tolist()


def test_the_last_of_elements_at_one_place_stays():
    def run(m):
        strided, made = m.lib.stride_tricks.as_strided, []
        for shape, strides in (((3, 4), (0, 8)), ((600, 5), (0, 8)), ((4, 3), (8, 0)), ((2, 3, 4), (0, 32, 8))):
            n = int(np.prod(shape))
            u, x = strided(m.arange(16.0), shape, strides), m.arange(float(n)).reshape(shape)
            u[...] = x
            made.append(u.tolist())
            u += x
            made.append(u.tolist())
            m.add(x, x[-1], out=u)
            made.append(u.tolist())
            u[1:] = 5
            made.append(u.tolist())
        texts = strided(m.zeros(3, "S3"), (2, 3), (0, 3))
        texts[...] = m.array([[b"a", b"b", b"c"], [b"d", b"e", b"f"]])
        return [*made, texts.tolist()]

    assert run(tn) == run(np)


def test_masks_of_elements_at_one_place():
    def run(m):
        strided, made = m.lib.stride_tricks.as_strided, []
        for shape, strides, place in (
            ((3,), (0,), 1), ((3, 4), (0, 8), 5), ((4, 3), (8, 0), 3), ((3, 2, 4), (0, 0, 8), 4), ((4, 3), (8, 8), 3),
        ):  # fmt: skip
            n, base = int(np.prod(shape)), m.full(9, 10.0)
            u, x = strided(base, shape, strides), m.arange(float(n)).reshape(shape)
            for mask in (m.arange(n) % 3 != 2, m.arange(n) < n - place, m.arange(n) < 0):
                m.add(x, 100, out=u, where=mask.reshape(shape))
                made.append(base.tolist())
                m.copyto(u, x, where=mask.reshape(shape))
                made.append(base.tolist())
        u = strided(base, (3,), (0,))
        m.add(u, m.arange(3.0), out=u, where=m.array([True, True, False]))
        return [*made, base.tolist()]

    assert run(tn) == run(np)


@pytest.mark.parametrize("n", [2, 3, 30_000])
def test_arrays_that_overlap_themselves_in_place(n):
    def run(m):
        made = []
        for shape, strides in (((n, 3), (8, 8)), ((n, 3), (16, 8)), ((3, n), (8, 8)), ((2, n, 2), (8, 16, 8))):
            base = m.arange(2.0 * n + 6)
            u = m.lib.stride_tricks.as_strided(base, shape, strides)
            u += 1
            m.negative(u, out=u)
            made.append(base.tolist())
        return made

    assert run(tn) == run(np)


def test_shared_memory_is_looked_for_as_far_as_asked():
    for m in (np, tn):
        x = m.zeros([4, 5, 6], dtype="i1")
        a, b = x[:, ::2, ::3], x[:, ::3, ::2]
        assert m.shares_memory(a, b, max_work=None)
        for work in (0, 1):
            with pytest.raises(np.exceptions.TooHardError):
                m.shares_memory(a, b, max_work=work)
        assert m.may_share_memory(x[:, 0], x[:, 1]) and not m.may_share_memory(x[:, 0], x[:, 1], max_work=-1)
        with pytest.raises(OverflowError):
            m.may_share_memory(x, x, max_work=10**100)


def test_products_of_other_byte_orders():
    x = np.arange(6.0).astype(">f8")
    a = tn.asarray(x)
    for made, wanted in ((a @ a, x @ x), (a[:0] @ a[:0], 0.0), (a.reshape(2, 3) @ a[:3], x.reshape(2, 3) @ x[:3])):
        assert np.asarray(made).tolist() == np.asarray(wanted).tolist()


class Tells:
    """An object that says how it is asked."""

    def __array__(self, *dtype, **options):
        self.asked = dtype, options
        if options.get("copy") is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return np.array([9, 9] if dtype else [1.5, 2.5], *dtype)


class Short:
    def __array__(self, dtype=None):
        return np.array([1.5], dtype)


def test_objects_are_asked_for_arrays_as_numpy_asks():
    for m in (np, tn):
        given = Tells()
        assert m.asarray(given).tolist() == [1.5, 2.5] and given.asked == ((), {})
        assert m.asarray(given, dtype="i4").tolist() == [9, 9] and given.asked == ((np.dtype("i4"),), {})
        assert m.array(given, copy=True).tolist() == [1.5, 2.5] and given.asked == ((), {"copy": True})
        for unable in (given, Short()):
            with pytest.raises(ValueError, match="Unable to avoid copy"):
                m.asarray(unable, copy=False)
        assert m.asarray(Short(), "f4").tolist() == [1.5]
    assert tn.__version__ == np.__version__

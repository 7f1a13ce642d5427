# SPDX-License-Identifier: Apache-2.0
"""Arrays of derived classes: what they are written to, read along one axis, converted and printed as, against NumPy."""

import warnings

import numpy as np
import pytest
import tessera.numeric as tn


def matrix(m, *shape):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return m.matrix(m.arange(float(np.prod(shape))).reshape(shape))


def shown(x):
    return type(x).__name__, x.shape, x.tolist()


VALUES = [1, [7], [[1], [2], [3]], np.ones((3, 1)), np.ones((1, 3)), np.ones(3), np.ones((1, 2)), np.ones((4, 4))]
KEYS = [np.s_[:, 1], np.s_[0], np.s_[1:], np.s_[0, 1], np.s_[...], np.s_[[0, 2]], np.s_[:, [1]]]


@pytest.mark.parametrize("value", range(len(VALUES)))
@pytest.mark.parametrize("key", range(len(KEYS)))
def test_writes_go_to_what_the_class_gives_for_the_key(key, value):
    made = []
    for m in (np, tn):
        x, given = matrix(m, 3, 2), VALUES[value]
        try:
            x[KEYS[key]] = m.asarray(given) if isinstance(given, np.ndarray) else given
            made.append(shown(x))
        except (ValueError, TypeError) as error:
            made.append(type(error))
    assert made[1] == made[0]


@pytest.mark.parametrize("number", [300, -1, 2.75, 1 << 40, float("inf"), 1 + 2j])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i8", "f4", "f8"])
def test_numbers_of_a_class_are_cast_where_they_are_written(dtype, number):
    made = []
    for m in (np, tn):

        class Derived(m.ndarray):
            pass

        x = m.zeros(3, dtype)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                x[1] = m.asarray(number).view(Derived)
            made.append(shown(x))
        except (OverflowError, TypeError) as error:
            made.append(type(error))
    assert made[1] == made[0]


def test_a_class_may_refuse_to_be_written_as_a_number():
    class Refusing(tn.ndarray):
        def __int__(self):
            raise LookupError

        __float__ = __int__

    for dtype in ("i4", "f8"):
        x = tn.zeros(3, dtype)
        with pytest.raises(LookupError):
            x[1] = tn.asarray(3).view(Refusing)
        assert x.tolist() == [0, 0, 0]


def test_a_class_may_fill_its_arrays_when_they_are_made():
    for m in (np, tn):

        class Filled(m.ndarray):
            def __array_finalize__(self, like):
                self.fill(9)

        assert m.zeros(3).view(Filled).tolist() == [9, 9, 9]


def test_a_class_whose_items_are_no_arrays_is_refused():
    class Odd(tn.ndarray):
        def __getitem__(self, key):
            return "nothing"

    with pytest.raises(RuntimeError):
        tn.zeros((3, 2)).view(Odd)[:, 1] = tn.ones(3)


@pytest.mark.parametrize("key", [np.s_[:2], np.s_[::-1], np.s_[[1, 0]], np.s_[:0], np.s_[1]])
@pytest.mark.parametrize("turned", [False, True])
def test_elements_along_one_axis_are_of_the_class(key, turned):
    wanted, made = ((x.T if turned else x).flat[key] for x in (matrix(np, 2, 3), matrix(tn, 2, 3)))
    assert type(made).__name__ == type(wanted).__name__ and made.tolist() == wanted.tolist()
    assert getattr(made, "shape", None) == getattr(wanted, "shape", None)


def test_conversions_that_change_nothing_give_the_object():
    for m in (np, tn):
        x = matrix(m, 2, 2)
        assert m.array(x, subok=True, copy=None) is x and m.asanyarray(x) is x
        assert x.astype(float, copy=False) is x
        assert type(x.astype(float, copy=False, subok=False)) is m.ndarray
        assert type(m.array(x, copy=None)) is m.ndarray
        assert m.array(x, subok=True) is not x
        masked = m.ma.array([1, 2, 3])
        m.ma.masked_where(masked == 2, masked, copy=False)
        assert masked.mask.tolist() == [False, True, False]


def test_an_outer_product_needs_the_shape_that_it_makes():
    for m in (np, tn):
        with pytest.raises(TypeError):
            m.add.outer(matrix(m, 2, 2), m.ones(2))


def test_arrays_are_printed_by_the_name_of_their_class():
    for m in (np, tn):
        kind = type("Longer", (m.ndarray,), {})
        assert repr(m.ones((2, 2)).view(kind)) == "Longer([[1., 1.],\n        [1., 1.]])"
        assert repr(matrix(m, 1, 2)) == "matrix([[0., 1.]])" and repr(m.ones(1)) == "array([1.])"


def test_a_view_of_the_class_is_finalized_and_one_of_ndarray_is_plain():
    seen = []

    class Told(tn.ndarray):
        def __array_finalize__(self, of):
            seen.append(of)

    class Other(Told):
        pass

    a = tn.arange(6.0).reshape(2, 3)[:, ::-1].view(Told)
    assert type(a) is Told and seen[-1] is not None
    for made, kind in ((a.view(), Told), (a.view(Told), Told), (tn.ndarray.view(a, tn.ndarray), tn.ndarray),
                       (a.view(Other), Other), (a.view("i8"), Told)):  # fmt: skip
        assert type(made) is kind and made.shape == a.shape and made.strides == a.strides
    before = len(seen)
    for made, more in ((a.view, 1), (lambda: a.view(Told), 1), (lambda: a.view(tn.ndarray), 0)):
        view = made()
        before += more
        assert len(seen) == before and (not more or seen[-1] is a)
        view[0, 0] = 9.0
        assert tn.ndarray.view(a, tn.ndarray)[0, 0] == 9.0 and view.base is not None
        a[0, 0] = 1.0


def test_values_of_one_shape_and_layout_are_written_to_flat_in_order():
    rng = np.random.default_rng(3)
    for cut in (np.s_[:], np.s_[::-1], np.s_[:, ::2]):
        for order in "CF":
            for dtype in ("f8", "i4"):
                x, y = np.zeros((4, 6), order=order), rng.integers(0, 99, (4, 6)).astype(dtype, order=order)
                a, b = tn.array(x, order=order), tn.array(y, order=order)
                x[cut].flat = y[cut]
                a[cut].flat = b[cut]
                np.testing.assert_array_equal(np.asarray(a), x)
                a.flat, x.flat = a[::-1], x[::-1].copy() if order == "C" else x[::-1]
    locked = tn.zeros(3)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        locked.flat = tn.ones(3)

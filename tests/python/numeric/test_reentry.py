# SPDX-License-Identifier: Apache-2.0
"""Code of Python that runs in the middle of a call: it changes the arrays of the call, or answers an operator."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core


class Hooked:
    """An operand, an index or a mask whose conversion gives an array another header first."""

    def __init__(self, array, value, resized=None):
        self.array, self.value, self.resized = array, value, resized

    def change(self):
        if self.resized is not None:
            self.array.resize(self.resized)
        else:
            self.array.shape = (-1, 1)
        self.noise = [tn.zeros((7,)) for _ in range(50)]  # what takes the place of memory that was given back
        return self.value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.change(), dtype)

    def __index__(self):
        return self.change()


def test_an_operand_may_reshape_the_other_one():
    for _ in range(20):
        a = tn.arange(6.0)
        made = a + Hooked(a, [1.0, 2.0])
        np.testing.assert_array_equal(np.asarray(made), np.arange(6.0)[:, None] + [1.0, 2.0])


def test_an_operand_may_resize_what_a_call_writes_to():
    for _ in range(20):
        a, b = tn.zeros(6), tn.zeros(2)
        tn.add(np.float64(1), Hooked(b, 5.0, 6), out=b)
        assert b.tolist() == [6.0] * 6
        a += Hooked(a, 3.0)
        assert a.tolist() == [[3.0]] * 6


def test_an_operand_may_reshape_the_mask():
    for _ in range(20):
        mask = tn.array([True, False, True])
        made = tn.add(Hooked(mask, 1.0), 2.0, where=mask, out=tn.zeros((3, 1)))
        assert made.tolist() == [[3.0], [0.0], [3.0]]


def test_a_class_may_empty_the_list_that_it_is_found_in():
    class Kind(type):
        def __getattribute__(cls, name):
            if name == "__array_function__":
                given.clear()
            return super().__getattribute__(name)

    class Odd(metaclass=Kind):
        pass

    for _ in range(20):
        given = [tn.ones(2), Odd(), *(object() for _ in range(10000))]
        with pytest.raises(ValueError, match="at least one array"):
            tn.concatenate(given)


def test_an_index_may_reshape_the_array():
    for _ in range(20):
        a = tn.arange(24.0).reshape(2, 3, 4).copy()
        assert a[Hooked(a, 1) :, 1, 2].tolist() == [18.0]
        assert a.shape == (24, 1)
        a = tn.arange(24.0).reshape(2, 3, 4).copy()
        a[Hooked(a, 1) :, 1, 2] = -1
        assert a[18, 0] == -1 and a.sum() == 276 - 18 - 1


def test_a_call_beside_a_thread_that_reshapes_sees_a_whole_array():
    a, stop = tn.arange(6.0), threading.Event()

    def reshape():
        while not stop.is_set():
            a.shape = (6,)

    thread = threading.Thread(target=reshape)
    thread.start()
    try:
        for _ in range(300):
            assert float((a + 1).sum()) == 21
    finally:
        stop.set()
        thread.join()


class Derived(tn.ndarray):
    pass


class Unknown:
    __array_ufunc__ = None

    def __radd__(self, other):
        return "radd"


def test_operators_of_derived_classes_leave_it_to_the_other_operand():
    derived = tn.arange(3.0).view(Derived)
    assert tn.arange(3.0) + Unknown() == "radd"
    assert derived + Unknown() == "radd"
    assert type(derived + 1) is Derived and type(1 - derived) is Derived and type(-derived) is Derived
    with pytest.raises(TypeError, match="unsupported operand"):
        derived - Unknown()


@pytest.mark.parametrize(("number", "error"), [(-1, ValueError), (64, ValueError), (3, ValueError), ("x", TypeError)])
def test_a_number_of_no_graph_is_refused(number, error):
    token = _core.numeric_current.set(number)
    try:
        with pytest.raises(error):
            tn.zeros(3)
    finally:
        _core.numeric_current.reset(token)
    for ask in (_core.numeric_default, _core.numeric_device_name):
        with pytest.raises(error):
            ask(number)

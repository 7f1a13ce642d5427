# SPDX-License-Identifier: Apache-2.0
"""Objects that show memory of a GPU, on a machine without one: they are of the CPU device, where tessera.cuda runs."""

import numpy as np
import pytest

import tessera
import tessera.cupy as cp
import tessera.numeric as tn
from tessera import cuda

pytestmark = pytest.mark.skipif(tessera.device_count("cuda") > 0, reason="addresses are a GPU's")


class Shown:
    def __init__(self, array, **changed):
        self._array, self._changed = array, changed

    @property
    def __cuda_array_interface__(self):
        return self._array.__cuda_array_interface__ | self._changed


@pytest.fixture
def shown():
    return Shown(cuda.to_device(np.arange(6.0).reshape(2, 3)))


def test_memory_is_shared(shown):
    for made in (tn.asarray(shown), cp.asarray(shown)):
        made += 1
        assert str(shown._array.copy_to_host()[1, 2]) == str(float(made[1, 2])) and made.shape == (2, 3)
    assert type(cp.asarray(shown)) is cp.ndarray and cp.asnumpy(shown).tolist() == [[2, 3, 4], [5, 6, 7]]


def test_operands(shown):
    a, wanted = tn.ones((2, 3)), (np.arange(6.0).reshape(2, 3) + 1).tolist()
    for made in (a + shown, shown + a, tn.add(a, shown), tn.add(shown, a)):
        assert type(made) is tn.ndarray and made.tolist() == wanted
    assert tn.where(a > 0, shown, 0).tolist() == np.arange(6.0).reshape(2, 3).tolist()
    a[...] = shown
    assert a[1, 2] == 5 and tn.sin(shown).shape == (2, 3)


def test_strides_streams_and_masks(shown):
    assert tn.asarray(Shown(shown, strides=(8, 16), shape=(2, 3))).tolist() == [[0, 2, 4], [1, 3, 5]]
    assert tn.asarray(Shown(shown, stream=1)).tolist() == tn.asarray(shown).tolist()
    with pytest.raises(ValueError, match="does not support arrays with a mask"):
        tn.asarray(Shown(shown, mask=shown))


class Holds:
    def __init__(self, array):
        self._array = array

    def __cupy_get_ndarray__(self):
        return self._array


def test_objects_and_lists_of_them(shown):
    a = cp.arange(3)
    assert cp.asarray(Holds(a)) is a
    assert cp.asarray([Holds(a), Holds(a)]).get().tolist() == [[0, 1, 2], [0, 1, 2]]
    assert cp.asarray([shown, shown]).shape == (2, 2, 3)

# SPDX-License-Identifier: Apache-2.0
"""The table of dtypes (include/tessera/dtype.def) against NumPy, ml_dtypes and torch's DLPack codes."""

import ml_dtypes
import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera._core import DTYPES

ROWS = {row[0]: row for row in DTYPES}
OF_NUMPY = [name for name, _, kind, _ in DTYPES if hasattr(np, name) and kind != "r"]
OF_ML_DTYPES = [name for name in ROWS if hasattr(ml_dtypes, name)]


def test_every_dtype_is_of_the_language():
    assert [name for name in ct._dtype.__all__ if name in ROWS] == list(ROWS)
    assert all(getattr(ct, name).name == name and name in ct.__all__ for name in ROWS)
    assert "bfloat16" in OF_ML_DTYPES and "float32" in OF_NUMPY


@pytest.mark.parametrize("name", OF_NUMPY)
def test_numpy_says_the_same(name):
    dtype = np.dtype(getattr(np, name))
    _, bits, kind, typestr = ROWS[name]
    assert (dtype.itemsize * 8, dtype.kind, dtype.str) == (bits, kind, typestr)
    ours = tessera.zeros(3, name)
    assert (ours.strides, ours.dtype) == ((dtype.itemsize,), getattr(ct, name))
    theirs = memoryview(np.zeros(3, dtype))
    assert memoryview(ours).itemsize == theirs.itemsize
    assert np.asarray(ours).dtype == dtype
    assert np.from_dlpack(ours).dtype == dtype
    for alias in (dtype, dtype.str[1:], dtype.name, getattr(np, name)):
        assert tessera.zeros(1, alias).dtype.name == name


@pytest.mark.parametrize("name", OF_ML_DTYPES)
def test_ml_dtypes_says_the_same(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    _, bits, _, typestr = ROWS[name]
    limits = ml_dtypes.finfo(dtype)
    assert (dtype.itemsize, limits.bits) == ((bits + 7) // 8, bits)
    assert typestr[2:] == str(dtype.itemsize) and typestr[1] == "V"
    assert tessera.zeros(1, dtype).dtype.name == name


@pytest.mark.parametrize("name", ROWS)
def test_pickled_it_is_itself(name):
    import pickle

    assert pickle.loads(pickle.dumps(getattr(ct, name))) is getattr(ct, name)

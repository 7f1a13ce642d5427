# SPDX-License-Identifier: Apache-2.0
"""CuPy arrays as arguments, without CuPy: stand-ins named like it must be read as the NumPy array they wrap."""

from typing import Annotated

import numpy as np
import pytest
import tessera.tile as ct
from tessera import _core

Known = ct.ArrayAnnotation(static_shape_dims=(0, 1), static_stride_dims=(0, 1))


@ct.kernel
def known_kernel(x: Annotated[ct.Array, Known], y: Annotated[ct.Array, Known]):
    ct.store(y, index=(ct.bid(0), 0), tile=ct.load(x, index=(ct.bid(0), 0), shape=(4, 4)))


@ct.kernel
def cube_kernel(x, y):
    ct.store(y, index=(0, 0, 0), tile=ct.load(x, index=(0, 0, 0), shape=(2, 2, 2)))


class Memory:
    device_id = 0

    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


def by_attributes() -> type:
    """Everything is a Python attribute."""

    class ndarray:
        __module__ = "cupy"

        def __init__(self, x: np.ndarray) -> None:
            self.data, self.dtype = Memory(x.ctypes.data), x.dtype
            self.shape, self.strides = x.shape, x.strides

    return ndarray


def by_getters(dense: bool) -> type:
    """Shape, strides and dtype are C getters, as in CuPy's compiled class."""

    class ndarray(np.ndarray):
        data = property(lambda self: Memory(self.ctypes.data))
        if dense:
            _c_contiguous = property(lambda self: self.flags.c_contiguous)
            _shape = property(lambda self: list(self.shape))

    ndarray.__module__ = "cupy"
    return ndarray


def text(kernel: ct.kernel, *arrays: object) -> str:
    return _core.lower_text(kernel._prepare(), arrays)


def layouts() -> dict[str, np.ndarray]:
    base = np.zeros((24, 16), np.float32)
    return {
        "dense": base,
        "transposed": base.T,
        "every second row": base[::2],
        "every third column": base[:, ::3],
        "misaligned": base[:, 1:9],
        "one row": base[:1],
        "half": base.astype(np.float16),
        "int64": base.astype(np.int64),
        "bool": base.astype(bool),
    }


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("kind", ["attributes", "getters", "getters and flags"])
def test_layout_is_read_as_numpy_has_it(kind: str, layout: str) -> None:
    x = layouts()[layout]
    y = np.zeros_like(x)
    if kind == "attributes":
        wrapped = [by_attributes()(v) for v in (x, y)]
    else:
        wrapped = [v.view(by_getters(kind != "getters")) for v in (x, y)]
    assert text(known_kernel, *wrapped) == text(known_kernel, x, y)


def test_rank_is_read() -> None:
    x = np.zeros((4, 6, 8), np.float32)
    stand_in = by_getters(True)
    assert text(cube_kernel, x.view(stand_in), x.view(stand_in)) == text(cube_kernel, x, x)


def test_negative_strides_are_seen() -> None:
    x = np.zeros((24, 16), np.float32)[::-1].view(by_getters(True))
    with pytest.raises(ValueError, match="negative stride"):
        text(known_kernel, x, x)


def test_too_many_dimensions_are_refused() -> None:
    x = np.zeros((1,) * 12, np.float32).view(by_getters(True))
    with pytest.raises(ValueError, match="more than 8 dimensions"):
        text(cube_kernel, x, x)


def test_missing_attribute_is_told() -> None:
    broken = by_attributes()(np.zeros((4, 4), np.float32))
    del broken.shape
    with pytest.raises(AttributeError, match="shape"):
        text(known_kernel, broken, broken)


def test_unknown_dtype_is_told() -> None:
    x = np.zeros((4, 4), np.clongdouble).view(by_getters(True))
    with pytest.raises(TypeError, match="complex256"):
        text(known_kernel, x, x)


def test_complex_arrays_are_taken() -> None:
    for dtype in (np.complex64, np.complex128):
        x = np.zeros((4, 4), dtype).view(by_getters(True))
        assert f"ptr<{'c64' if dtype is np.complex64 else 'c128'}>" in text(known_kernel, x, x)

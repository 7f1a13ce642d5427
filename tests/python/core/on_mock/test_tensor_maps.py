# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: what the driver is told of a view, and which views it is never told of."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from tessera import core
from tessera.core._tensor_map import (
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
)
from tessera.core.utils import StridedMemoryView


class OnGpu:
    """An array of a GPU as its interface says."""

    def __init__(
        self, shape: Any, typestr: str = "<f4", strides: Any = None, offset: int = 0
    ) -> None:
        self.buffer = core.Device().allocate(1 << 20)
        data = (self.buffer.handle + offset, False)
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": data, "version": 3, "strides": strides,
        }  # fmt: skip


def view(*args: Any, **kwargs: Any) -> StridedMemoryView:
    return StridedMemoryView.from_any_interface(OnGpu(*args, **kwargs), stream_ptr=-1)


def last(mock: Any) -> Any:
    return mock.tmap[(mock.n_encoded - 1) % 16]


def test_a_matrix_is_told_with_the_fastest_axis_first(mock: Any, device: core.Device) -> None:
    source = view((300, 64), "<f2")
    made = source.as_tensor_map(
        (128, 32), swizzle=TensorMapSwizzle.SWIZZLE_64B, l2_promotion=TensorMapL2Promotion.L2_128B,
        oob_fill=TensorMapOOBFill.NAN_REQUEST_ZERO_FMA, element_strides=(2, 1),
    )  # fmt: skip
    told = last(mock)
    assert (told.rank, told.type) == (2, TensorMapDataType.FLOAT16) and told.base == source.ptr
    assert list(told.dims[:2]) == [64, 300] and told.strides[0] == 128
    assert list(told.box[:2]) == [32, 128] and list(told.steps[:2]) == [1, 2]
    assert (told.swizzle, told.promotion, told.fill, told.interleave) == (2, 2, 1, 0)
    assert made.device is device and len(bytes(made)) == 128 and made[0] == mock.n_encoded
    assert repr(made) == "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT16, swizzle=SWIZZLE_64B)"


def test_strided_rows_and_five_axes(mock: Any, device: core.Device) -> None:
    view((4, 8), strides=(256, 4)).as_tensor_map((4, 8))
    assert last(mock).strides[0] == 256
    view((2, 3, 4, 5, 8)).as_tensor_map((1, 1, 1, 1, 8))
    assert list(last(mock).dims) == [8, 5, 4, 3, 2]
    assert list(last(mock).strides[:4]) == [32, 160, 640, 1920]


@pytest.mark.parametrize(
    ("typestr", "given", "told"),
    [
        ("|u1", None, TensorMapDataType.UINT8),
        ("|i1", None, TensorMapDataType.UINT8),
        ("<i4", None, TensorMapDataType.INT32),
        ("<f8", None, TensorMapDataType.FLOAT64),
        ("<f4", TensorMapDataType.TFLOAT32, TensorMapDataType.TFLOAT32),
        ("<u4", np.float32, TensorMapDataType.FLOAT32),
    ],
)
def test_data_types(mock: Any, device: core.Device, typestr: str, given: Any, told: Any) -> None:
    view((16, 16), typestr).as_tensor_map((16, 16), data_type=given)
    assert last(mock).type == told


@pytest.mark.parametrize(
    ("array", "options", "error", "words"),
    [
        (((4, 8),), {"box_dim": (4,)}, ValueError, "box_dim must have 2 elements, got 1"),
        (((4, 8),), {"box_dim": (0, 8)}, ValueError, r"box_dim\[0\] must be in \[1, 256\], got 0"),
        (((4, 8),), {"box_dim": (4, 257)}, ValueError, r"box_dim\[1\] must be in \[1, 256\], got 257"),
        (((4, 8),), {"box_dim": (4, 8), "element_strides": (1,)}, ValueError, "must have 2 elements"),
        (((4, 8),), {}, TypeError, "box_dim is needed"),
        (((4, 8),), {"box_dim": (4, 8), "swizzle": 2}, TypeError, "swizzle must be a TensorMapSwizzle"),
        (((4, 8),), {"box_dim": (4, 8), "data_type": 7}, TypeError, "data_type must be a Tensor"),
        (((4, 8), "<c8"), {"box_dim": (4, 8)}, ValueError, "TMA has no data type for complex64"),
        (((4, 8), "<f4", (4, 16)), {"box_dim": (4, 8)}, ValueError, "last axis must be contiguous"),
        (((4, 8), "<f4", (36, 4)), {"box_dim": (4, 8)}, ValueError, "multiples of 16 bytes"),
        (((1,) * 6,), {"box_dim": (1,) * 6}, ValueError, "rank must be between 1 and 5, got 6"),
        (((4, 8), "<f4", None, 8), {"box_dim": (4, 8)}, ValueError, "a multiple of 16, not 0x"),
        (((4, 8), "<f2"), {"box_dim": (4, 8), "data_type": np.float32}, ValueError,
         "elements of 2 bytes cannot be taken as FLOAT32"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_the_driver(
    mock: Any, device: core.Device, array: Any, options: Any, error: type, words: str
) -> None:
    before = mock.n_encoded
    with pytest.raises(error, match=words):
        view(*array).as_tensor_map(**options)
    assert mock.n_encoded == before


def test_options_or_arguments_not_both(device: core.Device) -> None:
    told = TensorMapDescriptorOptions(box_dim=(4, 8))
    view((4, 8)).as_tensor_map(options=told)
    with pytest.raises(TypeError, match="not both"):
        view((4, 8)).as_tensor_map((4, 8), options=told)
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        TensorMapDescriptor()


def test_host_memory_and_other_devices_are_refused(device: core.Device) -> None:
    host = StridedMemoryView.from_any_interface(np.zeros((4, 8), np.float32), stream_ptr=-1)
    with pytest.raises(ValueError, match="device-accessible memory; this is host memory"):
        host.as_tensor_map((4, 8))
    source = view((4, 8))
    made = source.as_tensor_map((4, 8))
    core.Device(1).set_current()
    with pytest.raises(ValueError, match="expects tensor on device 1, got 0"):
        source.as_tensor_map((4, 8))
    assert made.device is device


def test_the_address_is_replaced_and_the_memory_kept(mock: Any, device: core.Device) -> None:
    source = OnGpu((4, 8))
    seen = weakref.ref(source)
    made = StridedMemoryView.from_any_interface(source, stream_ptr=-1).as_tensor_map((4, 8))
    del source
    gc.collect()
    assert seen() is not None
    other = OnGpu((4, 8))
    made.replace_address(other)
    gc.collect()
    assert seen() is None and last(mock).base == other.buffer.handle
    assert list(last(mock).box[:2]) == [8, 4] and made[0] == mock.n_encoded
    with pytest.raises(ValueError, match="this is host memory"):
        made.replace_address(np.zeros((4, 8), np.float32))
    assert made[0] == mock.n_encoded


def test_a_map_is_an_argument_of_128_bytes(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    made = view((4, 8)).as_tensor_map((4, 8))
    kernel = make_kernel(128)
    core.launch(device.default_stream, core.LaunchConfig(grid=1, block=1), kernel, made)
    assert mock.values[0] == made[0]
    with pytest.raises(TypeError, match="of 128 bytes does not fit the parameter of 8"):
        core.launch(device.default_stream, core.LaunchConfig(1, block=1), make_kernel(8), made)
    assert ctypes.sizeof(made) == 128

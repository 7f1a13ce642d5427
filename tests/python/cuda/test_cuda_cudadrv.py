# SPDX-License-Identifier: Apache-2.0
"""Names that programs take from numba.cuda.cudadrv."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera.cuda._cudadrv import devicearray, devices, error, linkable_code

HOST = numpy.array(numpy.arange(12.0).reshape(3, 4))
ARRAYS = [HOST, HOST.T, HOST[:, ::2], HOST[1], numpy.broadcast_to(HOST, (2, 3, 4)), numpy.zeros((0, 3)), HOST[1, 1]]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str((array.shape, array.strides)))
def test_arrays_of_any_library_are_asked(array: Any) -> None:
    array = numpy.asanyarray(array)
    core = devicearray.array_core(array)
    wanted = core.flags["C_CONTIGUOUS"]
    assert devicearray.is_contiguous(array) == wanted
    device = devicearray.from_array_like(array)
    assert (device.shape, device.strides, device.dtype) == (array.shape, array.strides, array.dtype)
    assert devicearray.is_contiguous(device) == wanted and devicearray.array_core(device).shape == core.shape


def test_what_is_a_device_array() -> None:
    device = cuda.to_device(HOST)
    devicearray.verify_cuda_ndarray_interface(device)
    assert devicearray.is_cuda_ndarray(device) and not devicearray.is_cuda_ndarray(HOST)
    with pytest.raises(ValueError, match="cuda.to_device"):
        devicearray.require_cuda_ndarray(HOST)
    assert devicearray.auto_device(device) == (device, False)
    made, is_new = devicearray.auto_device(HOST)
    assert is_new and (made.copy_to_host() == HOST).all()


def test_records_like_others() -> None:
    record = numpy.zeros(1, [("a", "i4"), ("b", "f8")])[0]
    one = devicearray.from_record_like(record)
    two = devicearray.from_record_like(one)
    assert one.dtype == two.dtype == record.dtype and one.gpu_data is not two.gpu_data


def test_modules_are_those_of_cuda() -> None:
    assert devices.gpus is cuda.gpus
    assert type(devices.get_context()) is type(cuda.current_context())
    assert error.CudaSupportError is cuda.CudaSupportError and linkable_code.LTOIR is cuda.LTOIR

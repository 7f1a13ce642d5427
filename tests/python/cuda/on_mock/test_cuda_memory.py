# SPDX-License-Identifier: Apache-2.0
"""Memory of device arrays on the mock driver: where it comes from, and what other processes open it with."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest
from tessera import core, cuda
from tessera import tile as ct
from tessera.cuda import config
from tessera.cuda._ipc import opened

from tests.python.cuda.kernels import scale
from tests.python.mock_driver import MockState


def test_arrays_are_allocated_by_the_driver_itself(mock: MockState) -> None:
    array = cuda.to_device(numpy.arange(10.0))
    assert str(array.gpu_data.array.device) == "cuda:0" and array.gpu_data.size == 80
    assert array.copy_to_host().tolist() == list(range(10))


def test_memory_of_a_slice_is_its_part() -> None:
    array = cuda.to_device(numpy.arange(10))
    assert array.gpu_data is array.reshape(2, 5).gpu_data is array.view("u1").gpu_data
    part = array[3:8]
    assert (part.gpu_data.address, part.gpu_data.size) == (array.gpu_data.address + 24, 40)
    assert part.gpu_data.owner is array.gpu_data and array[0:0].gpu_data is array.gpu_data
    assert array[::-1].gpu_data is array.gpu_data


def test_handles_for_other_processes(mock: MockState) -> None:
    array = cuda.to_device(numpy.arange(10))
    handle = cuda.current_context().get_ipc_handle(array[2:].gpu_data)
    again = pickle.loads(pickle.dumps(handle))
    assert (again.size, again.base) == (64, None)
    assert again.handle.reserved == handle.handle.reserved and len(again.handle) == 64
    address = array.gpu_data.address + 16
    assert opened(handle.handle) == address  # the mock gives the address back
    part = again.open_array(cuda.current_context(), shape=8, dtype=numpy.int64)
    assert part.shape == (8,) and part._address == address + again.offset
    with pytest.raises(ValueError, match="IpcHandle is already opened"):
        again.open()
    again.close()
    with pytest.raises(ValueError, match="not opened"):
        again.close()


def test_arrays_for_other_processes(mock: MockState) -> None:
    array = cuda.to_device(numpy.arange(12).reshape(3, 4))
    handle = pickle.loads(pickle.dumps(array.get_ipc_handle()))
    with handle as other:
        assert (other.shape, other.strides, other.dtype) == (array.shape, array.strides, array.dtype)
        with pytest.raises(ValueError, match="already opened"), handle:
            pass
    with cuda.open_ipc_array(array.get_ipc_handle()._ipc_handle.handle.reserved, 12, "i8") as other:
        assert other.shape == (12,)


def test_mapped_memory_is_an_argument(mock: MockState) -> None:
    mock.n_values = 4
    x = cuda.mapped_array(100, numpy.float32)
    scale()[128, 32](x, 3.0)
    assert mock.values[0] == x.device_ctypes_pointer.value


def test_buffers_are_arrays_of_bytes(mock: MockState) -> None:
    mock.n_values = 2

    @cuda.jit
    def kernel(x: Any) -> None:
        x[0] = x.size

    buffer = core.Device(0).allocate(16)
    kernel[128, 32](buffer)
    assert mock.values[0] == int(buffer.handle) and [str(a[0]) for a in kernel.signatures] == ["array(uint8, 1d, C)"]


def test_dates_are_numbers(mock: MockState) -> None:
    @cuda.jit
    def kernel(out: Any, dates: Any, day: Any) -> None:
        i = cuda.grid(1)
        out[i] = dates[i] == day

    day = numpy.datetime64("2005-02-03")
    kernel[128, 32](numpy.zeros(4, bool), numpy.full(4, day), day)


class Of:
    """Another library's array of dates."""

    def __init__(self, array: Any) -> None:
        self.dtype, self.shape, self.__cuda_array_interface__ = array.dtype, array.shape, array.__cuda_array_interface__


def test_arrays_of_dates_of_others(mock: MockState) -> None:
    mock.n_values = 4
    dates = cuda.to_device(numpy.arange("2005-02", "2005-03", dtype="M8[D]"))

    @cuda.jit
    def kernel(x: Any) -> None:
        x[0] = x[1]

    kernel[128, 32](Of(dates))
    assert mock.values[0] == dates._address


def test_a_stream_of_others_is_not_asked_about() -> None:
    assert int(cuda.external_stream(0x12345678).handle) == 0x12345678


def test_cuda_can_be_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DISABLE_CUDA", 1)
    with pytest.raises(cuda.CudaSupportError, match="NUMBA_DISABLE_CUDA=1") as raised:
        cuda.device_array(1)
    assert raised.value.msg == str(cuda.cuda_error())


def test_exceptions_of_kernels_with_signatures_are_waited_for() -> None:
    kernel = cuda.jit("void(int32)", debug=True, opt=False)(failing)
    assert all(overload._waits for overload in kernel.overloads.values())
    assert not any(o._waits for o in cuda.jit("void(int32)")(failing).overloads.values())


def failing(x: Any) -> None:
    if x == 1:
        raise ValueError


class OnStream:
    """Another library's array, which the work of a stream makes."""

    def __init__(self, array: Any, stream: Any) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | {"stream": stream}


def test_kernels_come_after_the_stream_of_an_array(mock: MockState, monkeypatch: pytest.MonkeyPatch) -> None:
    mock.n_values = 4
    array, other = cuda.to_device(numpy.zeros(100, "f4")), core.Device(0).create_stream()
    waits: list[int] = []
    kind = type(cuda.stream())
    monkeypatch.setattr(kind, "synchronize", lambda self: waits.append(int(self)))

    @cuda.jit
    def kernel(x: Any, by: Any) -> None:
        x[cuda.grid(1)] *= by

    kernel[128, 32](OnStream(array, None), 3.0)
    assert not waits
    kernel[128, 32](OnStream(array, int(other.handle)), 3.0)
    assert waits == [int(other.handle)] and mock.values[0] == array._address
    monkeypatch.setattr(config, "CUDA_ARRAY_INTERFACE_SYNC", 0)
    kernel[128, 32](OnStream(array, int(other.handle)), 3.0)
    assert len(waits) == 1


def test_kernels_of_tiles_come_after_it_too(mock: MockState) -> None:
    @ct.kernel
    def fill(x: Any) -> None:
        ct.store(x, (0,), ct.full((16,), 1.0, ct.float32))

    array, other = cuda.to_device(numpy.zeros(100, "f4")), core.Device(0).create_stream()
    ct.launch(None, (1,), fill, (OnStream(array, None),))
    mock.busy = 3  # so many times streams say that they are not ready
    ct.launch(None, (1,), fill, (OnStream(array, None),))
    assert mock.busy == 3
    ct.launch(None, (1,), fill, (OnStream(array, int(other.handle)),))
    assert mock.busy == 0
    with pytest.raises((TypeError, ValueError)):
        ct.launch(None, (1,), fill, (OnStream(array, "text"),))


def test_memory_is_freed_once(mock: MockState, monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera import _core
    from tessera.bindings import driver
    from tessera.cuda._memory import deallocations

    freed: list[int] = []
    monkeypatch.setattr(driver, "cuMemFree", freed.append)
    deallocations.clear()
    freed.clear()
    one = cuda.to_device(numpy.zeros(3))
    address = one.gpu_data.address
    del one
    deallocations.clear()
    assert freed == [address]
    two = cuda.to_device(numpy.zeros(3))
    _core.reset("cuda:0")
    with pytest.raises(BufferError):
        two.copy_to_host()
    del two
    deallocations.clear()
    assert freed == [address]  # the reset has freed the other
    assert cuda.to_device(numpy.ones(2)).copy_to_host().tolist() == [1, 1]


def test_results_and_copies_come_out_of_the_pool(mock: MockState, monkeypatch: pytest.MonkeyPatch) -> None:
    from tessera.cuda import _memory

    asked: list[int] = []
    shareable = _memory._shareable
    monkeypatch.setattr(_memory, "_shareable", lambda nbytes: asked.append(nbytes) or shareable(nbytes))
    cuda.device_array(3, "f4"), cuda.device_array_like(numpy.zeros(2)), cuda.to_device(numpy.zeros((2, 2)))
    cuda.to_device(numpy.zeros(1, [("a", "i4")])[0])
    assert asked == [12, 16, 32, 4]

    @cuda.vectorize(["f8(f8)"])
    def same(x: Any) -> Any:
        return x

    same(numpy.zeros(5))
    same(cuda.device_array(5))
    assert asked == [12, 16, 32, 4, 40]


def test_parts_that_overlap_are_copied_before_a_kernel_writes_them(mock: MockState) -> None:
    device = cuda.to_device(numpy.zeros(5000))
    for to, given, launches in (
        (numpy.s_[1:], device[:-1], 2), (numpy.s_[:], device[::-1], 2), (numpy.s_[:], device, 1),
        (numpy.s_[:2500], device[2500:], 1), (numpy.s_[::2], device[1::2], 1),
        (numpy.s_[:], cuda.to_device(numpy.zeros(5000)), 1),
    ):  # fmt: skip
        before = mock.n_launches
        device[to] = given
        assert mock.n_launches - before == launches, (to, given)

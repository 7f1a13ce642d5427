# SPDX-License-Identifier: Apache-2.0
"""Tests of device arrays, streams, events and devices: the same on the CPU device and on the mock driver."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera.cuda._device_array import DeviceNDArray

RECORD = numpy.dtype([("a", "i4"), ("b", "f8"), ("c", "f4", (2,))])


def arrays() -> list[Any]:
    base = numpy.arange(60, dtype="f4").reshape(3, 4, 5)
    return [
        base, base.T, numpy.asfortranarray(base), base[:, ::2], base[1], base[:, 1, 1], base[:0], numpy.asarray(2.5),
        numpy.arange(7, dtype="i2"), numpy.array([True, False]), numpy.arange(4) * 1j, numpy.zeros(3, RECORD),
        numpy.array(["2020-01-01", "NaT"], "M8[D]"), numpy.array([b"ab", b"c"]), numpy.array(["xy", "z"]),
        numpy.broadcast_to(numpy.arange(4.0), (3, 4)), base.astype("f2"), numpy.arange(3, dtype="u8"),
    ]  # fmt: skip


@pytest.mark.parametrize("host", arrays(), ids=lambda a: f"{a.dtype.kind}{a.shape}{a.strides}")
def test_what_goes_to_the_device_comes_back(host: Any) -> None:
    device = cuda.to_device(host)
    assert device.shape == host.shape and device.dtype == host.dtype
    back = device.copy_to_host()
    numpy.testing.assert_array_equal(back, host)
    assert back.dtype == host.dtype
    into = numpy.zeros_like(host)
    assert device.copy_to_host(into) is into
    numpy.testing.assert_array_equal(into, host)
    numpy.testing.assert_array_equal(numpy.asarray(device), host)


@pytest.mark.parametrize(
    "index",
    [0, -1, slice(1, 3), (1, 2), (1, 2, 3), (slice(None), 1), (Ellipsis, 0), (slice(None, None, -1), 2),
     (0, slice(3, 0, -1)),
     (slice(None), slice(None), slice(1, 5, 2)), (Ellipsis, slice(2)), (1, 1, 1, Ellipsis), slice(5, 1), ()],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("order", ["C", "F"])
def test_slices_are_views(index: Any, order: str) -> None:
    host = numpy.array(numpy.arange(60, dtype="f8").reshape(3, 4, 5), order=order)
    device = cuda.to_device(host)
    found, wanted = device[index], host[index]
    if isinstance(found, DeviceNDArray):
        assert found.shape == wanted.shape and found.strides == wanted.strides
        numpy.testing.assert_array_equal(found._read(), wanted)
        device[index], host[index] = 9.0, 9.0
        numpy.testing.assert_array_equal(device.copy_to_host(), host)
    else:
        assert found == wanted


def test_assignment_broadcasts_and_refuses() -> None:
    host = numpy.zeros((3, 4))
    device = cuda.to_device(host)
    for key, value in [
        (0, 1.0), ((slice(None), 1), numpy.arange(3)), (slice(1, 3), numpy.arange(4)), ((2, 3), 7),
        ((slice(None), slice(0, 4, 2)), cuda.to_device(numpy.ones((3, 2)) * 5)),
    ]:  # fmt: skip
        device[key] = value
        host[key] = value.copy_to_host() if isinstance(value, DeviceNDArray) else value
        numpy.testing.assert_array_equal(device.copy_to_host(), host)
    with pytest.raises(ValueError, match="Can't assign 3-D array to 2-D self"):
        device[:] = numpy.ones((2, 3, 4))
    with pytest.raises(ValueError, match="Can't copy sequence with size 3 to array axis 1 with dimension 4"):
        device[:] = numpy.ones((3, 3))
    with pytest.raises(IndexError):
        device[5]
    with pytest.raises(IndexError):
        device[0, 0, 0]
    with pytest.raises(NotImplementedError, match="not by arrays"):
        device[[0, 1]]


@pytest.mark.parametrize(("shape", "order"), [*itertools.product([(60,), (5, 12), (-1, 4), (3, 20, 1)], "CF")])
def test_reshape_is_a_view_or_refused(shape: Any, order: str) -> None:
    for host in (numpy.arange(60).reshape(3, 4, 5), numpy.asfortranarray(numpy.arange(60).reshape(3, 4, 5))):
        device, wanted = cuda.to_device(host), host.reshape(shape, order=order)
        if numpy.shares_memory(wanted, host):
            numpy.testing.assert_array_equal(device.reshape(shape, order=order).copy_to_host(), wanted)
        else:
            with pytest.raises(NotImplementedError, match="copy"):
                device.reshape(shape, order=order)
    with pytest.raises(ValueError, match="reshape"):
        cuda.to_device(numpy.arange(6)).reshape(4)


def test_members_of_an_array() -> None:
    device = cuda.device_array((3, 4), "f4", order="F")
    assert device.strides == (4, 12) and device.nbytes == 48 and device.size == 12 and device.ndim == 2
    assert device.is_f_contiguous() and not device.is_c_contiguous() and len(device) == 3
    assert device.flags == {"C_CONTIGUOUS": False, "F_CONTIGUOUS": True}
    assert str(device._numba_type_) == "array(float32, 2d, F)"
    assert [piece.size for piece in cuda.to_device(numpy.arange(10)).split(4)] == [4, 4, 2]
    assert cuda.to_device(numpy.zeros((1, 3, 1))).squeeze().shape == (3,)
    assert device.view("i4").dtype == "i4"
    assert device.gpu_data.size == device.alloc_size == 48
    assert device.device_ctypes_pointer.value == device.__cuda_array_interface__["data"][0]
    assert cuda.is_cuda_array(device) and not cuda.is_cuda_array(numpy.zeros(1))


def test_copies_of_reversed_views() -> None:
    host, found = numpy.arange(12.0).reshape(3, 4), numpy.zeros((3, 3))
    device = cuda.to_device(host)
    numpy.testing.assert_array_equal(device[::-1, 1:].copy_to_host(), host[::-1, 1:])
    device[::-2, :0:-1].copy_to_host(found[:2])
    numpy.testing.assert_array_equal(found[:2], host[::-2, :0:-1])


def test_copies_that_do_not_fit() -> None:
    device = cuda.to_device(numpy.zeros((3, 4)))
    with pytest.raises(ValueError, match="incompatible shape"):
        device.copy_to_host(numpy.zeros(12))
    with pytest.raises(ValueError, match="incompatible shape"):
        device.copy_to_device(numpy.zeros((4, 3)))
    with pytest.raises(ValueError, match="incompatible strides"):
        device.copy_to_device(cuda.to_device(numpy.zeros((3, 4), order="F")))
    with pytest.raises(ValueError, match="contiguous"):
        device[:, ::2].copy_to_device(numpy.zeros((3, 2)))
    with pytest.raises(TypeError):
        cuda.device_array(1.5)
    with pytest.raises(ValueError, match="C/F order"):
        cuda.device_array(3, order="A")
    with pytest.raises(TypeError, match="cuda array interface"):
        cuda.as_cuda_array(numpy.zeros(3))


def test_records() -> None:
    host = numpy.zeros(3, RECORD)
    device = cuda.to_device(host)
    device[1]["b"] = 2.5
    device[2]["c"] = [1, 2]
    assert device[1]["b"] == 2.5 and device["b"].copy_to_host().tolist() == [0, 2.5, 0]
    assert device[2]["c"].copy_to_host().tolist() == [1, 2]
    one = cuda.to_device(host[0])
    one["a"] = 5
    assert one.copy_to_host()["a"] == 5 and host[0]["a"] == 0
    into = numpy.zeros(1, RECORD)[0]
    assert one.copy_to_host(into)["a"] == into["a"] == 5


@pytest.mark.parametrize("like", [numpy.zeros((3, 4), "f4"), numpy.zeros((3, 4), "f4", "F"), numpy.zeros((6, 4))[::2]])
@pytest.mark.parametrize("make", [cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like])
def test_arrays_like_others(like: Any, make: Any) -> None:
    made = make(like)
    assert made.shape == like.shape and made.dtype == like.dtype
    assert made.strides == numpy.empty_like(like).strides


@pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
def test_host_arrays_that_the_device_knows(make: Any) -> None:
    host = make((3, 4), "f4")
    host[:] = numpy.arange(12).reshape(3, 4)
    assert host.sum() == 66 and host.shape == (3, 4)
    if make is not cuda.pinned_array:
        part = host[1:]
        argument = part.__tessera_argument__
        assert argument.ptr == part.device_ctypes_pointer.value
        assert cuda.as_cuda_array(part).copy_to_host().tolist() == part.tolist()
        assert (host + 1).__tessera_argument__.tolist() == (host + 1).tolist()
        assert not cuda.is_cuda_array(host + 1)
        assert part.__tessera_argument__.shape == (2, 4)
        assert part.device_ctypes_pointer.value == host.device_ctypes_pointer.value + 16


def test_blocks_of_pinned_and_mapped_arrays() -> None:
    host = numpy.arange(4.0)
    with cuda.pinned(host):
        assert cuda.to_device(host).copy_to_host().sum() == 6
    with cuda.mapped(host) as device:
        assert device.copy_to_host().tolist() == [0, 1, 2, 3]


def test_interfaces_of_others() -> None:
    device = cuda.to_device(numpy.arange(12.0).reshape(3, 4))

    class Foreign:
        __cuda_array_interface__ = device[:, ::2].__cuda_array_interface__

    for other in (cuda.as_cuda_array(Foreign()), cuda.from_cuda_array_interface(Foreign.__cuda_array_interface__)):
        other[1] = 9
    assert device.copy_to_host()[1].tolist() == [9, 5, 9, 7]
    masked = dict(Foreign.__cuda_array_interface__, mask=device)
    with pytest.raises(NotImplementedError, match="Masked"):
        cuda.from_cuda_array_interface(masked)


def test_interfaces_of_records_with_room_between_fields() -> None:
    dtype = numpy.dtype([("value", "i8"), ("flag", "i4")], align=True)
    host = numpy.array([(1, 2), (3, 4)], dtype)
    device = cuda.to_device(host)

    class Foreign:
        __cuda_array_interface__ = {**device.__cuda_array_interface__, "descr": dtype.descr}

    told, known = Foreign(), Foreign()
    known.dtype = dtype  # type: ignore[attr-defined]
    assert cuda.as_cuda_array(known).dtype == dtype and (cuda.as_cuda_array(known).copy_to_host() == host).all()
    assert cuda.as_cuda_array(told).dtype == numpy.dtype(dtype.descr)


def test_streams_and_events() -> None:
    stream = cuda.stream()
    begin, end = cuda.event(), cuda.event()
    with stream.auto_synchronize():
        begin.record(stream)
        array = cuda.to_device(numpy.arange(3), stream=stream)
        end.record(stream)
    end.synchronize()
    end.wait(stream)
    assert end.query() and begin.elapsed_time(end) >= 0 and cuda.event_elapsed_time(begin, end) >= 0
    assert array.copy_to_host(stream=stream).tolist() == [0, 1, 2]
    assert int(cuda.default_stream()) == 0 and int(cuda.legacy_default_stream()) == 1
    assert int(cuda.per_thread_default_stream()) == 2
    assert stream.__cuda_stream__()[1] == int(stream)


def test_callbacks_and_awaiting() -> None:
    told, done = [], threading.Event()
    cuda.stream().add_callback(lambda s, status, arg: (told.append((status, arg)), done.set()), "x")
    assert done.wait(10) and told == [(0, "x")]

    async def wait() -> Any:
        return await cuda.stream().async_done()

    asyncio.run(wait())


def test_devices_and_contexts() -> None:
    device = cuda.get_current_device()
    assert device == cuda.gpus[0] == cuda.gpus.current and len(cuda.gpus) == len(cuda.list_devices())
    assert cuda.select_device(0) == device and device.id == 0 and isinstance(device.name, str)
    assert device.ASYNC_ENGINE_COUNT >= 1 and device.COMPUTE_CAPABILITY_MAJOR == device.compute_capability[0]
    assert isinstance(device.WARP_SIZE, int) and device.uuid[:4] in ("GPU-", "CPU-")
    with pytest.raises(AttributeError, match="NO_SUCH"):
        device.NO_SUCH  # noqa: B018
    with cuda.gpus[0] as context:
        assert context.device == device
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    with pytest.raises(IndexError):
        cuda.select_device(99)

    @cuda.require_context
    def same(x: int) -> int:
        with pytest.raises(RuntimeError, match="Cannot switch"):
            cuda.select_device(0)
        return x

    assert same(3) == 3
    cuda.synchronize()
    cuda.current_context().reset()
    cuda.close()
    with cuda.profiling():
        pass


def test_memory_is_given_back_in_bundles() -> None:
    pending = cuda.current_context().memory_manager.deallocations
    pending.clear()
    for i in range(cuda.config.CUDA_DEALLOCS_COUNT):
        cuda.to_device(numpy.arange(1))
        assert len(pending) == i + 1
    cuda.to_device(numpy.arange(1))
    assert len(pending) == 0
    with cuda.defer_cleanup(), cuda.defer_cleanup():
        cuda.to_device(numpy.arange(5))
        pending.clear()
        assert len(pending) == 1
    pending.clear()
    assert len(pending) == 0


def test_memory_managers() -> None:
    made = []

    class Counting(cuda.HostOnlyCUDAMemoryManager):
        interface_version = 1

        def initialize(self) -> None:
            made.append("initialize")

        def memalloc(self, size: int) -> Any:
            keep = cuda.managed_array(size, "u1")
            made.append(size)
            pointer = keep.device_ctypes_pointer
            ended = lambda: made.append("free")  # noqa: E731
            return cuda.MemoryPointer(cuda.current_context(), pointer, size, owner=keep, finalizer=ended)

        def get_memory_info(self) -> Any:
            return cuda.MemoryInfo(free=1, total=2)

    cuda.set_memory_manager(Counting)
    try:
        array = cuda.to_device(numpy.arange(4.0))
        assert made == ["initialize", 32] and array.copy_to_host().tolist() == [0, 1, 2, 3]
        assert cuda.current_context().get_memory_info().total == 2
        del array
        assert made[-1] == "free"
    finally:
        cuda.set_memory_manager(None)

    class Old(Counting):
        interface_version = 0

    with pytest.raises(RuntimeError, match="version 1 required"):
        cuda.set_memory_manager(Old)
    context = cuda.current_context()
    for manager in (context.memory_manager, None):
        context.memory_manager = manager
        assert cuda.to_device(numpy.arange(2)).copy_to_host().tolist() == [0, 1]


def test_what_is_there_never_raises(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(cuda.is_available(), bool) and cuda.is_supported_version() and cuda.is_float16_supported()
    assert cuda.cuda_error() is None or not cuda.is_available()
    assert cuda.detect() and f"Found {len(cuda.gpus)} CUDA devices" in capsys.readouterr().out
    assert cuda.runtime.get_version() >= (11, 0)

# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events and buffers of a GPU, as the driver sees them."""

from __future__ import annotations

import ctypes
import gc
import re
import struct
import types
import weakref
from typing import Any

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import _core, core
from tessera.bindings import driver
from tessera.core._tensor_map import TensorMapDataType
from tessera.core.utils import StridedMemoryView


def test_a_stream_has_flags_and_a_priority(mock: Any, device: core.Device) -> None:
    stream = device.create_stream(options={"priority": -3})
    assert (mock.priority, stream.priority, stream.is_nonblocking) == (-3, -3, True)
    assert isinstance(stream.handle, driver.CUstream) and int(stream.handle)
    with pytest.raises(ValueError, match="priority 1 is out of range -5 to 0"):
        device.create_stream(options={"priority": 1})


def test_streams_are_equal_by_handle(device: core.Device) -> None:
    stream, other = device.create_stream(), device.create_stream()
    same = core.Stream.from_handle(int(stream.handle))
    assert same == stream and hash(same) == hash(stream) and same != other
    assert stream != "stream" and stream.device is device


def test_what_objects_show_of_themselves(mock: Any, device: core.Device) -> None:
    stream = device.create_stream()
    assert re.fullmatch(r"<Stream handle=0x[0-9a-f]+ context=0x[0-9a-f]+>", repr(stream))
    assert re.fullmatch(r"<Event handle=0x[0-9a-f]+>", repr(stream.record()))


def test_launch_configurations_can_be_weakly_referenced(device: core.Device) -> None:
    config = core.LaunchConfig(grid=1, block=1)
    assert config in weakref.WeakSet([config])


def test_a_closed_stream_says_so(mock: Any, device: core.Device) -> None:
    before = mock.n_streams
    stream = device.create_stream()
    stream.close()
    assert mock.n_streams == before and int(stream.handle) == 0
    for use in (stream.sync, stream.record, lambda: device.allocate(8, stream=stream)):
        with pytest.raises(RuntimeError, match="the stream is closed"):
            use()


def test_what_a_stream_records_in_must_be_an_event(device: core.Device) -> None:
    class Odd(core.Stream):
        _event_class = int

    stream = device.create_stream()
    with pytest.raises(TypeError, match="_event_class must be a class that derives from Event"):
        Odd.from_handle(int(stream.handle)).record()


def test_a_foreign_stream_is_kept_alive(device: core.Device) -> None:
    class Foreign:
        def __init__(self, inner: core.Stream) -> None:
            self.inner = inner

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, int(self.inner.handle)

    inner = device.create_stream()
    stream = device.create_stream(Foreign(inner))
    assert stream == inner and stream._owner.inner is inner
    with pytest.raises(TypeError, match="no __cuda_stream__"):
        core.Stream(3)


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        (None, 2),
        ({"timing_enabled": True}, 0),
        ({"blocking_sync": True}, 3),
        ({"ipc_enabled": True}, 6),
    ],
)
def test_event_options_become_flags(
    mock: Any, device: core.Device, options: Any, flags: int
) -> None:
    event = device.create_stream().record(options=options)
    assert mock.event_flags == flags and event._flags == flags
    assert event.is_timing_enabled == (not flags & 2) and event.device is device


def test_events_for_other_processes_are_recorded_once(device: core.Device) -> None:
    with pytest.raises(TypeError, match="^IPC-enabled events must be bound; use Stream.record"):
        device.create_event({"ipc_enabled": True})
    stream = device.create_stream()
    with pytest.raises(TypeError, match="^IPC-enabled events cannot use timing"):
        stream.record(options={"ipc_enabled": True, "timing_enabled": True})
    event = stream.record(options={"ipc_enabled": True})
    with pytest.raises(TypeError, match="^IPC-enabled events should not be re-recorded"):
        stream.record(event)


def test_the_difference_of_events_is_milliseconds(device: core.Device) -> None:
    stream = device.create_stream()
    begin, end = (stream.record(options={"timing_enabled": True}) for _ in range(2))
    assert end - begin == pytest.approx(1.5)
    with pytest.raises(RuntimeError, match="^Both Events must be created with timing enabled"):
        end - stream.record()
    with pytest.raises(RuntimeError, match="^Both Events must be recorded"):
        device.create_event({"timing_enabled": True}) - begin
    with pytest.raises(TypeError):
        end - 3  # type: ignore[operator]


def test_memory_goes_back_in_stream_order(mock: Any, device: core.Device) -> None:
    stream = device.create_stream()
    before = mock.bytes_out
    buffer = device.allocate(1024, stream=stream)
    assert (
        mock.bytes_out == before + 1024 and buffer.device_id == 0 and not buffer.is_host_accessible
    )
    buffer.close()
    assert mock.bytes_out == before and buffer.handle == 0 and buffer.memory_resource is None
    for use in (lambda: buffer.fill(1), lambda: buffer.copy_to(), lambda: memoryview(buffer)):
        with pytest.raises(RuntimeError, match="the buffer is closed"):
            use()


def test_failed_allocations_are_cuda_and_memory_errors(mock: Any, device: core.Device) -> None:
    mock.alloc_failures = 1
    with pytest.raises(core.CUDAError, match="CUDA_ERROR_OUT_OF_MEMORY") as caught:
        device.allocate(1 << 20)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.code == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY


def test_copies_and_fills(device: core.Device) -> None:
    buffer = device.allocate(8)
    buffer.fill(np.uint16(0x0102))
    twin = buffer.copy_to()
    assert ctypes.string_at(twin.handle, 8) == b"\2\1" * 4
    with pytest.raises(ValueError, match="sizes mismatch"):
        twin.copy_from(device.allocate(16))
    with pytest.raises(
        ValueError, match="8 bytes cannot be filled with elements of 4|pattern of 1, 2"
    ):
        buffer.fill(b"abc")


def test_short_forms(mock: Any, device: core.Device) -> None:
    other = core.Device(1).use()
    assert core.Device() is other
    core.Device(0).use()
    x, back = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    memory = device.mem_alloc(x.nbytes)
    memory.copy_from_host(x)
    memory.copy_to_host(back, stream=device.create_stream())
    device.synchronize()
    assert (back == x).all() and memory.device_id == 0
    memory.close()
    with pytest.raises(RuntimeError, match="the buffer is closed"):
        memory.copy_from_host(x)


def test_device_memory_is_not_lent_to_the_host(device: core.Device) -> None:
    buffer = device.allocate(8)
    with pytest.raises(BufferError, match="device memory"):
        memoryview(buffer)
    assert buffer.__dlpack_device__() == (2, 0)
    assert buffer.__cuda_array_interface__["data"] == (buffer.handle, False)


def test_nothing_is_left_over(mock: Any, device: core.Device) -> None:
    gc.collect()
    live, streams, events, out = _core._live(), mock.n_streams, mock.n_events, mock.bytes_out
    for _ in range(50):
        stream = device.create_stream()
        buffer = device.allocate(64, stream=stream)
        stream.wait(stream.record())
        del stream, buffer
    gc.collect()
    assert _core._live() == live
    assert (mock.n_streams, mock.n_events, mock.bytes_out) == (streams, events, out)


class Point(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("n", ctypes.c_int32)]


@pytest.mark.parametrize(
    ("size", "value", "sent"),
    [
        (8, 2**63 + 1, struct.pack("<Q", 2**63 + 1)),
        (4, -5, struct.pack("<i", -5)),
        (4, 2**32 - 1, b"\xff" * 4),
        (1, True, b"\1"),
        (8, 2.5, struct.pack("<d", 2.5)),
        (4, 2.5, struct.pack("<f", 2.5)),
        (8, 1 + 2j, struct.pack("<ff", 1, 2)),
        (2, np.float16(1.5), np.float16(1.5).tobytes()),
        (4, ctypes.c_int32(-7), struct.pack("<i", -7)),
        (8, Point(1.5, 3), struct.pack("<fi", 1.5, 3)),
        (8, np.array((1.5, 3), "f4,i4")[()], struct.pack("<fi", 1.5, 3)),
        (8, driver.CUdeviceptr(77), struct.pack("<Q", 77)),
    ],
)
def test_arguments_become_the_bytes_of_parameters(
    mock: Any, device: core.Device, make_kernel: Any, size: int, value: Any, sent: bytes
) -> None:
    kernel = make_kernel(size)
    core.launch(device.create_stream(), core.LaunchConfig(grid=(2, 3), block=32), kernel, value)
    assert bytes(ctypes.c_uint64(mock.values[0]))[:size] == sent
    assert list(mock.grid) == [2, 3, 1] and list(mock.block) == [32, 1, 1]


@pytest.mark.parametrize(
    ("size", "value", "error", "words"),
    [
        (
            4,
            2**32,
            OverflowError,
            "kernel 'scale', argument 0: 4294967296 does not fit the parameter of 4 bytes",
        ),
        (8, 2**64, OverflowError, "does not fit the parameter of 8 bytes"),
        (4, 1e300, OverflowError, "does not fit a float"),
        (2, 1.5, TypeError, "a float fits a parameter of 8 or 4 bytes, but it has 2"),
        (
            4,
            np.float64(1),
            TypeError,
            "a numpy.float64 of 8 bytes does not fit the parameter of 4 bytes",
        ),
        (128, 3, TypeError, "a struct of 128 bytes"),
        (8, "text", TypeError, "unsupported type str"),
        (8, np.zeros(3), TypeError, "memory of the host"),
        (8, None, TypeError, "NoneType"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    mock: Any, device: core.Device, make_kernel: Any, size: int, value: Any, error: type, words: str
) -> None:
    kernel, before = make_kernel(size), mock.n_launches
    with pytest.raises(error, match=words):
        core.launch(device.create_stream(), core.LaunchConfig(grid=1, block=1), kernel, value)
    assert mock.n_launches == before


def test_the_number_of_arguments_is_checked(device: core.Device, make_kernel: Any) -> None:
    config = core.LaunchConfig(grid=1, block=1)
    with pytest.raises(TypeError, match="kernel 'scale' takes 2 arguments, not 1"):
        core.launch(device.default_stream, config, make_kernel(8, 8), 1)


def test_many_arguments(mock: Any, device: core.Device, make_kernel: Any) -> None:
    kernel = make_kernel(*[8] * 200)
    core.launch(None, core.LaunchConfig(grid=1, block=1), kernel, *range(200))
    assert list(mock.values[:200]) == list(range(200))


def test_a_buffer_is_passed_by_its_address(
    mock: Any, device: core.Device, make_kernel: Any
) -> None:
    buffer, kernel = device.allocate(16), make_kernel(8)
    core.launch(device.default_stream, core.LaunchConfig(grid=1, block=1), kernel, buffer)
    assert mock.values[0] == buffer.handle
    buffer.close()
    with pytest.raises(RuntimeError, match="the buffer is closed"):
        core.launch(None, core.LaunchConfig(grid=1, block=1), kernel, buffer)


def test_a_tensor_map_of_one_axis(mock: Any, device: core.Device) -> None:
    before, buffer = mock.n_encoded, device.allocate(4096, stream=device.default_stream)
    view = StridedMemoryView.from_any_interface(buffer, stream_ptr=-1)
    made = view.as_tensor_map(box_dim=(64,), data_type=TensorMapDataType.FLOAT32)
    assert mock.n_encoded == before + 1 and made.device is device
    made.replace_address(buffer)
    assert mock.n_encoded == before + 2


def test_work_for_another_gpu_does_not_choose_it(mock: Any, device: core.Device) -> None:
    before = driver.checked.cuCtxGetCurrent()
    other = core.Device(1)
    driver.checked.cuCtxSetCurrent(0)
    for _ in range(2):
        other.allocate(64).close()
        other.create_stream().record().sync()
        assert not int(driver.checked.cuCtxGetCurrent()) and core.Device() is core.Device(0)
    driver.checked.cuCtxSetCurrent(before)


class Wrapper:
    """Hands out the dictionary of what it wraps: only its objects have the attribute."""

    def __init__(self, array: Any) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@pytest.mark.parametrize("wrap", [Wrapper, lambda array: types.SimpleNamespace(**dictionary(array))])
def test_an_object_that_carries_its_interface_itself_is_an_argument(
    mock: Any, device: core.Device, make_kernel: Any, wrap: Any
) -> None:
    array, stream = tessera.empty((4, 8), "float32", "cuda:0"), device.create_stream()
    core.launch(stream, core.LaunchConfig(grid=1, block=1), make_kernel(8), wrap(array))
    assert mock.values[0] == array.ptr
    with pytest.raises(TypeError, match="argument 'out': is an object; a kernel takes arrays"):
        ct.launch(None, (0,), copy_kernel, (wrap(array), object()))
    wanted = _core.lower_text(copy_kernel._prepare(), (array, array))
    assert _core.lower_text(copy_kernel._prepare(), (wrap(array), wrap(array))) == wanted


def dictionary(array: Any) -> dict[str, Any]:
    return {"__cuda_array_interface__": array.__cuda_array_interface__}


@ct.kernel
def copy_kernel(x, out):  # type: ignore[no-untyped-def]
    ct.store(out, (0, 0), ct.load(x, (0, 0), (4, 8)))

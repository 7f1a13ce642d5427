# SPDX-License-Identifier: Apache-2.0
"""``await kernel.async_call(...)`` and awaited copies on a GPU, whose driver calls back when the
test says so."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tessera import KernelError, core
from tessera.core.utils import StridedMemoryView

ONE = core.LaunchConfig(grid=1, block=1)


@pytest.fixture
def later(mock: Any) -> Iterator[Callable[..., None]]:
    """Nothing is done until 20 ms after ``later(code)``, when the driver calls back with the code."""
    library = ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"])
    hold = ctypes.c_int.in_dll(library, "mock_hold")
    timers: list[threading.Timer] = []

    def answer(code: int) -> None:
        hold.value, mock.sticky = 0, code
        library.mock_call_back(code)

    def start(code: int = 0) -> None:
        timers.append(threading.Timer(0.02, answer, [code]))
        timers[-1].start()

    hold.value = 1
    yield start
    for timer in timers:
        timer.join()
    answer(0)


@pytest.fixture
def kernel(mock: Any, device: core.Device) -> core.Kernel:
    mock.n_param_bytes = mock.n_values = 1
    mock.param_bytes[0] = 8
    return core.Kernel.from_handle(ctypes.addressof(mock))


def test_a_call_ends_with_the_drivers_callback(mock: Any, kernel: Any, later: Any) -> None:
    stream, before = core.Device().create_stream(), mock.n_launches

    async def main() -> None:
        task = asyncio.ensure_future(kernel[ONE, stream].async_call(5))
        await asyncio.sleep(0.005)
        assert mock.n_launches == before + 1 and mock.values[0] == 5 and not task.done()
        assert mock.stream == int(stream.handle)
        later()
        assert await task is None
        await kernel[ONE].async_call(6)
        await kernel.async_call(7, config=ONE, stream=stream)
        assert mock.n_launches == before + 3 and mock.values[0] == 7

    asyncio.run(main())


def test_a_launch_by_subscript_is_called_too(mock: Any, kernel: Any) -> None:
    stream = core.Device().create_stream()
    kernel[ONE](8)
    assert (mock.values[0], mock.stream) == (8, 1)  # the legacy default stream
    kernel[ONE, stream](9)
    assert (mock.values[0], mock.stream) == (9, int(stream.handle))
    assert repr(kernel[ONE]).startswith("<launch of <Kernel handle=0x")


def test_a_cancelled_call_keeps_what_the_kernel_uses(
    device: core.Device, kernel: Any, later: Any
) -> None:
    async def main() -> None:
        buffer, stream = device.allocate(16), device.create_stream()
        seen = weakref.ref(buffer)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(kernel[ONE, stream].async_call(buffer), 0.001)
        del buffer
        gc.collect()
        assert seen() is not None
        later()
        await stream
        await asyncio.sleep(0.001)
        gc.collect()
        assert seen() is None

    asyncio.run(main())


def test_a_fault_arrives_at_the_await(kernel: Any, later: Any) -> None:
    async def main() -> None:
        later(700)
        with pytest.raises(core.CUDAError, match="CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
            await kernel[ONE].async_call(1)
        assert isinstance(caught.value, KernelError)
        with pytest.raises(core.CUDAError, match="cannot be used since"):
            await kernel[ONE].async_call(1)

    asyncio.run(main())
    from tessera import reset

    reset("cuda:0")


def test_a_wait_that_the_driver_refuses_ends_the_work_first(mock: Any, kernel: Any) -> None:
    """Nobody would be told of the end: what the kernel uses must not go before it."""

    async def main() -> None:
        mock.callback_result, mock.busy = 2, 5  # the stream is done when asked for the sixth time
        with pytest.raises(core.CUDAError, match="CUDA_ERROR_OUT_OF_MEMORY"):
            await kernel.async_call(1, config=ONE)
        assert mock.busy == 0
        mock.callback_result = 0

    asyncio.run(main())


def test_arguments_are_checked_before_anything_is_enqueued(mock: Any, kernel: Any) -> None:
    async def main() -> None:
        before = mock.n_launches
        for args, config, error in (
            ((), ONE, "takes 1 arguments, not 0"),
            ((1,), 3, "LaunchConfig"),
        ):
            with pytest.raises(TypeError, match=error):
                await kernel[config].async_call(*args)
        assert mock.n_launches == before

    asyncio.run(main())


def test_ten_thousand_calls_in_flight(mock: Any, kernel: Any, later: Any) -> None:
    async def main() -> None:
        stream, before = core.Device().create_stream(), mock.n_launches
        bound = kernel[ONE, stream]
        await asyncio.sleep(0)
        threads = len(os.listdir("/proc/self/task"))
        tasks = [asyncio.ensure_future(bound.async_call(i)) for i in range(10_000)]
        await asyncio.sleep(0)
        assert mock.n_launches == before + 10_000 and not any(task.done() for task in tasks)
        assert len(os.listdir("/proc/self/task")) <= threads
        later()
        await asyncio.gather(*tasks)

    asyncio.run(main())


def test_copies_between_buffers(device: core.Device, later: Any) -> None:
    async def main() -> None:
        a, b = device.allocate(8), device.allocate(8)
        a.fill(3)
        later()
        assert await a.async_copy_to(b) is b
        assert ctypes.string_at(b.handle, 8) == b"\3" * 8
        a.fill(4)
        await b.async_copy_from(a, stream=device.create_stream())
        assert ctypes.string_at(b.handle, 8) == b"\4" * 8
        pinned = core.LegacyPinnedMemoryResource().allocate(8)
        await a.async_copy_to(pinned)
        assert bytes(memoryview(pinned)) == b"\4" * 8

    asyncio.run(main())


def test_a_cancelled_copy_keeps_both_buffers(device: core.Device, later: Any) -> None:
    async def main() -> None:
        stream = device.create_stream()
        a, b = device.allocate(8), device.allocate(8)
        seen = weakref.ref(a), weakref.ref(b)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(a.async_copy_to(b, stream=stream), 0.001)
        del a, b
        gc.collect()
        assert all(buffer() is not None for buffer in seen)
        later()
        await stream
        await asyncio.sleep(0.001)
        gc.collect()
        assert not any(buffer() is not None for buffer in seen)

    asyncio.run(main())


def test_views_go_to_the_gpu_and_back(mock: Any, device: core.Device, later: Any) -> None:
    host, back = np.arange(8, dtype=np.int8), np.zeros(8, np.int8)
    buffer = device.allocate(8)
    made = StridedMemoryView.from_any_interface
    source, inside, target = (made(x, stream_ptr=-1) for x in (host, buffer, back))

    async def main() -> None:
        stream, before = device.create_stream(), mock.n_syncs
        later()
        await source.async_copy_to(inside, stream=stream)
        await target.async_copy_from(inside)
        assert (back == host).all() and mock.n_syncs == before  # no call has blocked the loop

    asyncio.run(main())

# SPDX-License-Identifier: Apache-2.0
"""``await kernel.async_call(...)`` and awaited copies on the CPU device, in asyncio and trio."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import numpy as np
import pytest
import tessera
import tessera.tile as ct
from tessera import core
from tessera.core.utils import StridedMemoryView

LONG = 40_000_000  # rounds: tens of milliseconds


@ct.kernel
def busy(x: ct.Array, rounds: ct.Constant[int]) -> None:
    t = ct.load(x, (0,), (16,))
    for _ in range(rounds):
        t = t * 0.999 + 0.001
    ct.store(x, (0,), t)


@ct.kernel
def add_one(x: ct.Array) -> None:
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), (16,)) + 1)


@ct.kernel(checked=True)
def faulty(x: ct.Array) -> None:
    ct.scatter(x, (ct.arange(16, dtype=ct.int32) + 1000,), ct.zeros((16,), ct.float32))


def ones(n: int = 16) -> Any:
    return np.ones(n, np.float32)


def test_a_call_is_awaited_and_host_memory_is_written() -> None:
    async def main() -> None:
        x = ones(64)
        assert await add_one.async_call(x, grid=(4,)) is None
        assert (x == 2).all()
        await add_one.async_call(x, grid=4, stream=tessera.Stream("cpu"))
        assert (x == 3).all()

    asyncio.run(main())


def test_the_loop_goes_on_meanwhile_also_with_host_memory() -> None:
    async def main() -> int:
        x, turns = ones(), 0
        await busy.async_call(x, LONG, grid=1)  # compiled
        task = asyncio.ensure_future(busy.async_call(x, LONG, grid=1))
        while not task.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert asyncio.run(main()) > 2


def test_calls_of_one_loop_run_in_the_order_of_their_begin() -> None:
    async def main() -> None:
        x = ones()
        await asyncio.gather(
            busy.async_call(x, LONG, grid=1), *(add_one.async_call(x, grid=1) for _ in range(20))
        )
        assert (x == 21).all()

    asyncio.run(main())


def test_a_call_that_was_never_begun_has_done_nothing() -> None:
    x = ones()
    coroutine = add_one.async_call(x, grid=1)
    coroutine.close()
    assert (x == 1).all()


def test_without_a_loop_nothing_is_enqueued() -> None:
    x = ones()
    with pytest.raises(RuntimeError, match="running asyncio or trio event loop"):
        add_one.async_call(x, grid=1).send(None)
    with pytest.raises(RuntimeError, match="running asyncio or trio event loop"):
        add_one.async_call(x, grid=1, stream=tessera.Stream("cpu")).send(None)
    assert (x == 1).all()


def test_a_fault_arrives_at_the_await_that_made_it() -> None:
    async def main() -> None:
        x, done = ones(), []

        async def good() -> None:
            await add_one.async_call(x, grid=1)
            done.append("good")

        bad = faulty.async_call(x, grid=1)
        results = await asyncio.gather(good(), bad, good(), return_exceptions=True)
        assert isinstance(results[1], tessera.KernelError) and "faulty" in str(results[1])
        assert done == ["good", "good"] and (x == 3).all()

    asyncio.run(main())


def test_a_cancelled_call_keeps_what_the_kernel_uses() -> None:
    async def main() -> None:
        x = ones()
        seen = weakref.ref(x)
        stream = tessera.Stream("cpu")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(busy.async_call(x, LONG * 4, grid=1, stream=stream), 0.001)
        del x
        gc.collect()
        assert not stream.done and seen() is not None
        await stream
        await asyncio.sleep(0)
        gc.collect()
        assert seen() is None

    asyncio.run(main())


def test_host_memory_cannot_be_resized_under_a_kernel() -> None:
    async def main() -> None:
        x = bytearray(64)
        array = np.frombuffer(x, np.float32)
        task = asyncio.ensure_future(busy.async_call(array, LONG, grid=1))
        del array
        await asyncio.sleep(0)
        with pytest.raises(BufferError):
            x.extend(b"more")
        await task
        del task
        gc.collect()
        x.extend(b"more")

    asyncio.run(main())


def test_bad_arguments_are_refused_as_by_launch() -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="takes 1 argument|argument"):
            await add_one.async_call(grid=1)
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'grid'"):
            await add_one.async_call(ones())
        with pytest.raises(TypeError, match="no __cuda_stream__ method"):
            await add_one.async_call(ones(), grid=1, stream="s")
        builder = core.Device("cpu").create_graph_builder().begin_building()
        with pytest.raises(TypeError, match="launch the graph on a stream"):
            await add_one.async_call(ones(), grid=1, stream=builder)

    asyncio.run(main())


def test_ten_thousand_calls_in_flight() -> None:
    async def main() -> None:
        x = ones()
        first = asyncio.ensure_future(busy.async_call(x, LONG, grid=1))
        await asyncio.gather(*(add_one.async_call(x, grid=1) for _ in range(10_000)))
        assert first.done() and (x == 10_001).all()

    asyncio.run(main())


def test_a_tuned_kernel_is_awaited() -> None:
    from tessera import tune

    tuned = tune.Tuned(
        add_one, tune.Choices({"unused": [1]}, lambda c, x: 4, args=lambda c, x: (x,))
    )

    async def main() -> None:
        x = ones(64)
        await tuned.async_call(x)
        assert (x == 2).all()

    asyncio.run(main())


def test_buffers_are_copied() -> None:
    async def main() -> None:
        device = core.Device("cpu")
        a, b = device.allocate(64), device.allocate(64)
        a.fill(7)
        assert await a.async_copy_to(b) is b
        assert bytes(memoryview(b)) == b"\7" * 64
        twin = await a.async_copy_to(stream=device.create_stream())
        assert twin.size == 64 and bytes(memoryview(twin))[:1] == b"\7"
        a.fill(8)
        await b.async_copy_from(a)
        assert bytes(memoryview(b)) == b"\10" * 64
        with pytest.raises(ValueError, match="sizes mismatch"):
            await a.async_copy_to(device.allocate(8))
        with pytest.raises(TypeError, match="not a int; use np.asarray"):
            await a.async_copy_from(3)

    asyncio.run(main())


def test_host_memory_is_copied() -> None:
    async def main() -> None:
        device, host = core.Device("cpu"), bytearray(64)
        a = device.allocate(64)
        await a.async_copy_from(np.arange(64, dtype=np.uint8))
        assert await a.async_copy_to(host) is host
        assert host == bytes(range(64))
        with pytest.raises(ValueError, match="the host memory is read-only"):
            await a.async_copy_to(bytes(64))
        with pytest.raises(ValueError, match="the source has 8 bytes, the destination 64"):
            await a.async_copy_from(bytes(8))

    asyncio.run(main())


def test_a_copy_waits_for_what_its_stream_was_given_before() -> None:
    async def main() -> None:
        device = core.Device("cpu")
        stream = device.create_stream()
        a, b = device.allocate(64, stream=stream), device.allocate(64, stream=stream)
        a.fill(0, stream=stream)
        ct.launch(stream, (1,), busy, (a.view("float32"), LONG))
        await a.async_copy_to(b, stream=stream)
        assert stream.done and b.view("float32").numpy()[0] > 0.9

    asyncio.run(main())


def test_views_of_the_host_are_copied() -> None:
    async def main() -> None:
        a, b = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
        source, target = (StridedMemoryView.from_any_interface(x, stream_ptr=-1) for x in (a, b))
        await source.async_copy_to(target)
        assert (a == b).all()
        a[:] = 1
        await target.async_copy_from(source)
        assert (b == 1).all()

    asyncio.run(main())


def test_trio_calls_too() -> None:
    trio = pytest.importorskip("trio")

    async def main() -> None:
        x = ones()
        await add_one.async_call(x, grid=1)
        assert (x == 2).all()
        with trio.move_on_after(0.001) as scope:
            await busy.async_call(x, LONG, grid=1)
        assert scope.cancelled_caught
        with pytest.raises(tessera.KernelError):
            await faulty.async_call(x, grid=1)
        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(lambda: add_one.async_call(x, grid=1))
        assert x[0] > 100

    trio.run(main)

# SPDX-License-Identifier: Apache-2.0
"""``await`` of streams and events of the CPU device in asyncio and trio."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from typing import Any

import pytest
import tessera
import tessera.tile as ct
from tessera import _core


@ct.kernel
def busy(x: ct.Array, rounds: ct.Constant[int]) -> None:
    t = ct.load(x, (0,), (16,))
    for _ in range(rounds):
        t = t * 0.999 + 0.001
    ct.store(x, (0,), t)


@ct.kernel(checked=True)
def faulty(x: ct.Array) -> None:
    ct.scatter(x, (ct.arange(16, dtype=ct.int32) + 1000,), ct.zeros((16,), ct.float32))


LONG = 40_000_000  # rounds: tens of milliseconds


def launch_long(stream: Any, rounds: int = LONG) -> Any:
    x = tessera.zeros((16,), "float32")
    ct.launch(stream, (1,), busy, (x, rounds))
    return x


@pytest.fixture(autouse=True, scope="module")
def compiled() -> None:
    x = tessera.zeros((16,), "float32")
    ct.launch(None, (1,), busy, (x, LONG))
    ct.launch(None, (1,), busy, (x, LONG * 8))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_awaiting_finished_work_needs_no_loop() -> None:
    stream, event = tessera.Stream("cpu"), tessera.Event("cpu")

    async def both() -> str:
        await stream
        await event
        return "done"

    with pytest.raises(StopIteration) as ended:
        both().send(None)
    assert ended.value.value == "done"


def test_a_stream_is_awaited() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        launch_long(stream)
        assert not stream.done
        assert await stream is None
        assert stream.done

    asyncio.run(main())


def test_the_loop_goes_on_meanwhile() -> None:
    async def main() -> int:
        stream = tessera.Stream("cpu")
        launch_long(stream)
        task = asyncio.ensure_future(wait_for(stream))
        turns = 0
        while not task.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    async def wait_for(stream: Any) -> None:
        await stream

    assert asyncio.run(main()) > 1


def test_an_event_is_awaited_not_what_comes_behind_it() -> None:
    async def main() -> None:
        stream, event = tessera.Stream("cpu"), tessera.Event("cpu")
        launch_long(stream)
        event.record(stream)
        launch_long(stream, LONG * 8)
        await event
        assert not stream.done
        await stream

    asyncio.run(main())


def test_events_are_told_in_the_order_of_their_ends() -> None:
    async def main() -> list[str]:
        slow, fast = tessera.Stream("cpu"), tessera.Stream("cpu")
        events = {"slow": tessera.Event("cpu"), "fast": tessera.Event("cpu")}
        seen: list[str] = []

        async def note(name: str) -> None:
            await events[name]
            seen.append(name)

        launch_long(slow, LONG * 8)
        events["slow"].record(slow)
        launch_long(fast)
        events["fast"].record(fast)
        await asyncio.gather(note("slow"), note("fast"))
        return seen

    assert asyncio.run(main()) == ["fast", "slow"]


def test_a_fault_arrives_at_the_await() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        launch_long(stream)
        ct.launch(stream, (1,), faulty, (tessera.zeros((16,), "float32"),))
        with pytest.raises(tessera.KernelError, match="kernel 'faulty'.*out of bounds"):
            await stream
        await stream

    asyncio.run(main())


def test_a_fault_of_finished_work_arrives_too() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        ct.launch(stream, (1,), faulty, (tessera.zeros((16,), "float32"),))
        while not stream.done:
            pass
        with pytest.raises(tessera.KernelError, match="faulty"):
            await stream

    asyncio.run(main())


def test_a_cancelled_wait_leaves_the_work_and_its_fault() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        launch_long(stream)
        ct.launch(stream, (1,), faulty, (tessera.zeros((16,), "float32"),))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_of(stream), 0.001)
        with pytest.raises(tessera.KernelError):
            await stream

    asyncio.run(main())


async def _of(what: Any) -> None:
    await what


def test_async_with_waits_at_the_end() -> None:
    async def main() -> None:
        async with tessera.Stream("cpu") as stream:
            launch_long(stream)
        assert stream.done

    asyncio.run(main())


def test_async_with_keeps_the_exception_of_its_body() -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError) as caught:
            async with tessera.Stream("cpu") as stream:
                ct.launch(stream, (1,), faulty, (tessera.zeros((16,), "float32"),))
                raise ZeroDivisionError
        if sys.version_info >= (3, 11):
            assert "faulty" in caught.value.__notes__[0]

    asyncio.run(main())


def test_ten_thousand_waits_take_no_thread_and_no_descriptor() -> None:
    async def main() -> None:
        stream, event = tessera.Stream("cpu"), tessera.Event("cpu")
        launch_long(stream)
        await stream  # the stream's thread and the loop's descriptor are there now
        before = threads(), descriptors()
        launch_long(stream, LONG * 8)
        event.record(stream)
        tasks = [asyncio.ensure_future(_of(what)) for what in (stream, event) * 5000]
        await asyncio.sleep(0)
        assert not stream.done
        assert threads() <= before[0] and descriptors() <= before[1]
        await asyncio.gather(*tasks)

    asyncio.run(main())


def test_many_loops_leave_no_descriptors() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        launch_long(stream, 4_000_000)
        await stream

    asyncio.run(main())
    gc.collect()
    before = descriptors()
    for _ in range(20):
        asyncio.run(main())
    gc.collect()
    assert descriptors() <= before + 1


def test_a_loop_that_closes_first_is_forgotten() -> None:
    stream = tessera.Stream("cpu")
    loop = asyncio.new_event_loop()

    async def start() -> None:
        launch_long(stream, LONG * 8)
        _waits.append(asyncio.ensure_future(_of(stream)))
        await asyncio.sleep(0)

    _waits: list[Any] = []
    loop.run_until_complete(start())
    _waits[0]._log_destroy_pending = False
    loop.close()
    del loop
    _waits.clear()
    gc.collect()
    stream.synchronize()
    asyncio.run(_of(stream))


def test_notices_come_while_their_inbox_ends() -> None:
    class Future:
        def done(self) -> bool:
            return True

    for rounds in (100, 4_000, 20_000, 80_000) * 40:
        streams = [tessera.Stream("cpu") for _ in range(4)]
        inbox = _core.Inbox()
        kept = [launch_long(stream, rounds) for stream in streams]
        for stream in streams:
            inbox.add(stream, Future(), None)
        del inbox
        for stream in streams:
            stream.synchronize()
        del kept


def test_several_loops_in_several_threads() -> None:
    seen: list[int] = []

    async def main(i: int) -> None:
        for _ in range(5):
            async with tessera.Stream("cpu") as stream:
                launch_long(stream, 4_000_000)
        seen.append(i)

    workers = [threading.Thread(target=lambda i=i: asyncio.run(main(i))) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(seen) == [0, 1, 2, 3]


def test_without_a_loop_an_unfinished_await_says_so() -> None:
    stream = tessera.Stream("cpu")
    launch_long(stream)
    with pytest.raises(RuntimeError, match="running asyncio or trio event loop"):
        _of(stream).send(None)


def test_waits_are_let_go_when_they_end() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        for _ in range(3):
            launch_long(stream)
            await stream
        from tessera import _await

        assert _await._inboxes[asyncio.get_running_loop()].in_flight == 0

    asyncio.run(main())


def test_a_forked_child_has_loops_of_its_own() -> None:
    async def main() -> None:
        stream = tessera.Stream("cpu")
        launch_long(stream, LONG * 8)
        task = asyncio.ensure_future(_of(stream))
        await asyncio.sleep(0)
        child = os.fork()
        if child == 0:
            asyncio._set_running_loop(None)
            try:
                asyncio.run(again())
                os._exit(17)
            except BaseException:  # noqa: BLE001 - the parent is told
                os._exit(1)
        _, status = os.waitpid(child, 0)  # noqa: ASYNC222
        assert os.waitstatus_to_exitcode(status) == 17
        await task

    async def again() -> None:
        stream = tessera.Stream("cpu")
        launch_long(stream)
        await stream

    asyncio.run(main())


def test_trio_waits_too() -> None:
    trio = pytest.importorskip("trio")

    async def main() -> None:
        stream, event = tessera.Stream("cpu"), tessera.Event("cpu")
        launch_long(stream)
        event.record(stream)
        await event
        launch_long(stream)
        with trio.move_on_after(0.001) as scope:
            await stream
        assert scope.cancelled_caught
        ct.launch(stream, (1,), faulty, (tessera.zeros((16,), "float32"),))
        with pytest.raises(tessera.KernelError):
            await stream

    trio.run(main)


def test_the_interpreter_ends_with_waits_in_flight() -> None:
    import subprocess

    code = (
        "import asyncio, tessera\n"
        "from tests.python.core.test_await import LONG, _of, launch_long\n"
        "stream = tessera.Stream('cpu')\n"
        "async def main():\n"
        "    launch_long(stream, LONG * 8)\n"
        "    asyncio.ensure_future(_of(stream))\n"
        "    await asyncio.sleep(0)\n"
        "    print('leaving', flush=True)\n"
        "loop = asyncio.new_event_loop()\n"
        "loop.run_until_complete(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "leaving\n"), done.stderr

# SPDX-License-Identifier: Apache-2.0
"""``await`` on a GPU, which here is the mock driver: it calls back when the test says so."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

BEGIN = """
import asyncio, ctypes, os, sys, threading
import tessera
from tests.python.mock_driver import MockState

library = ctypes.CDLL(os.environ["TESSERA_CUDA_DRIVER"])
mock = MockState.in_dll(library, "mock_state_data")
hold = ctypes.c_int.in_dll(library, "mock_hold")

def later(code=0):
    def answer():
        hold.value = 0
        mock.sticky = code
        library.mock_call_back(code)
    threading.Timer(0.02, answer).start()

async def of(what):
    await what

stream, event = tessera.Stream("cuda"), tessera.Event("cuda")
hold.value = 1
"""


def run(mock_library: str, body: str) -> None:
    environment = {**os.environ, "TESSERA_CUDA_DRIVER": mock_library}
    code = BEGIN + textwrap.dedent(body)
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_drivers_callback_ends_the_wait(mock_library: str) -> None:
    run(
        mock_library,
        """
        async def main():
            later()
            await asyncio.gather(of(stream), of(event), of(stream))
        asyncio.run(main())
        """,
    )


@pytest.mark.parametrize("what", ["stream", "event"])
def test_a_fault_of_the_context_ends_the_wait(mock_library: str, what: str) -> None:
    run(
        mock_library,
        f"""
        async def main():
            later(700)
            try:
                await {what}
            except tessera.KernelError as error:
                assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error)
            else:
                raise AssertionError("no fault")
            try:
                await {what}
            except tessera.DeviceError as error:
                assert "cannot be used since" in str(error)
                return
            raise AssertionError("no fault")
        asyncio.run(main())
        """,
    )


def test_events_beyond_those_with_a_stream_are_asked(mock_library: str) -> None:
    run(
        mock_library,
        """
        async def main():
            tasks = [asyncio.ensure_future(of(event)) for _ in range(200)]
            await asyncio.sleep(0)
            later()
            await asyncio.gather(*tasks)
        asyncio.run(main())
        assert mock.n_streams == 1 + 32
        """,
    )


def test_a_reset_ends_the_waits(mock_library: str) -> None:
    run(
        mock_library,
        """
        async def main():
            tasks = [asyncio.ensure_future(of(stream)), asyncio.ensure_future(of(event))]
            await asyncio.sleep(0)
            tessera.reset("cuda")
            for task in tasks:
                try:
                    await task
                except RuntimeError as error:
                    assert "made before its device was reset" in str(error)
                else:
                    raise AssertionError("no error")
        asyncio.run(main())
        """,
    )


def test_callbacks_after_the_interpreters_end_do_no_harm(mock_library: str) -> None:
    run(
        mock_library,
        """
        async def main():
            tasks.append(asyncio.ensure_future(of(stream)))
            await asyncio.sleep(0)
        tasks = []
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        at_end = ctypes.CDLL("libc.so.6").on_exit
        assert at_end(ctypes.cast(library.mock_call_back, ctypes.c_void_p), None) == 0
        """,
    )


def test_ten_thousand_waits(mock_library: str) -> None:
    run(
        mock_library,
        """
        async def main():
            await asyncio.sleep(0)
            before = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
            tasks = [asyncio.ensure_future(of(stream)) for _ in range(10000)]
            await asyncio.sleep(0)
            after = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
            assert after[0] <= before[0] + 1 and after[1] <= before[1]
            later()
            await asyncio.gather(*tasks)
        asyncio.run(main())
        """,
    )

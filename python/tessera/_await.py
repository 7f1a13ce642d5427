# SPDX-License-Identifier: Apache-2.0
"""Waiting for streams and events in asyncio and trio (and so in anyio), without a thread that waits.

``await stream`` comes here from ext/await.c when the work is not done yet. Each event loop has one
``_core.Inbox``, whose file descriptor it watches; the library's notices fill the inbox from any thread.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import weakref
from collections.abc import Generator
from typing import Any

from . import _core

__all__ = ["enter", "leave", "running_loop", "wait"]

# Events that found no room in the inbox are asked so often (seconds).
ASK = 0.001

_lock = threading.Lock()
_inboxes: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _forget() -> None:
    """In the child of a fork: the parent's loops are not ours, and their descriptors are shared."""
    global _lock
    _lock = threading.Lock()
    _inboxes.clear()


os.register_at_fork(after_in_child=_forget)


def running_loop() -> Any:
    """The event loop of this thread: asyncio's, or the token of trio's.

    Raises
    ------
    RuntimeError
        No event loop runs in this thread.
    """
    loop = asyncio._get_running_loop()
    if loop is not None:
        return loop
    if _in_trio():
        return sys.modules["trio"].lowlevel.current_trio_token()
    raise RuntimeError("await of a stream or event needs a running asyncio or trio event loop")


def wait(what: Any, keep: Any = None) -> Generator[Any, None, None]:
    """The iterator of an await of a stream or event.

    Parameters
    ----------
    what : Stream or Event
    keep : object
        What the work uses; lives until the work is done, also when the waiting task is cancelled.

    Raises
    ------
    RuntimeError
        No event loop runs in this thread.
    """
    loop = running_loop()
    if not hasattr(loop, "create_future"):
        return _trio_wait(loop, what, keep).__await__()
    future = loop.create_future()
    inbox = _inboxes.get(loop) or _asyncio_inbox(loop)
    if not _add(inbox, what, future, keep):
        _ask(loop, inbox, what, future)
    return future.__await__()  # type: ignore[no-any-return]


def _add(inbox: Any, what: Any, future: Any, keep: Any) -> bool:
    try:
        return inbox.add(what, future, keep)  # type: ignore[no-any-return]
    except BaseException:
        if keep is not None:
            what.synchronize()  # nobody will be told of the end, which what is kept must outlive
        raise


async def enter(stream: Any) -> Any:
    """``async with stream``: nothing to do."""
    return stream


async def leave(stream: Any, raised: Any) -> None:
    """The end of ``async with stream``: the work is awaited; an exception of the body is not replaced."""
    try:
        await stream
    except Exception as error:
        if raised[1] is None:
            raise
        if hasattr(raised[1], "add_note"):
            raised[1].add_note(f"and the stream failed: {type(error).__name__}: {error}")


# ---- asyncio -------------------------------------------------------------------------------------


def _asyncio_inbox(loop: Any) -> Any:
    """A new inbox, watched by the loop. Those of loops that have closed end here."""
    inbox = _core.Inbox()
    with _lock:
        for other in list(_inboxes):
            if hasattr(other, "is_closed") and other.is_closed():  # trio's end by themselves
                del _inboxes[other]
        _inboxes[loop] = inbox
    loop.add_reader(inbox.fileno(), inbox.drain)
    return inbox


def _ask(loop: Any, inbox: Any, event: Any, future: Any) -> None:
    """Asks from time to time, for events beyond those that the device can tell of."""
    if future.done():
        return
    try:
        done = inbox.is_done(event)
    except Exception as error:  # noqa: BLE001 - it is the future's
        future.set_exception(error)
        return
    if done:
        future.set_result(None)
    else:
        loop.call_later(ASK, _ask, loop, inbox, event, future)


# ---- trio ----------------------------------------------------------------------------------------


def _in_trio() -> bool:
    trio = sys.modules.get("trio")
    try:
        return trio is not None and trio.lowlevel.current_task() is not None
    except RuntimeError:
        return False


class _TrioFuture:
    """As much of a future as an inbox needs, for one task of trio."""

    def __init__(self, trio: Any) -> None:
        self.trio, self.task, self.answer = trio, None, None

    def done(self) -> bool:
        return self.answer is not None

    def settle(self, answer: Any) -> None:
        self.answer = answer
        if self.task is not None:
            self.trio.lowlevel.reschedule(self.task, answer)

    def set_result(self, value: Any) -> None:
        import outcome

        self.settle(outcome.Value(value))

    def set_exception(self, error: BaseException) -> None:
        import outcome

        self.settle(outcome.Error(error))

    async def wait(self) -> None:
        self.task = self.trio.lowlevel.current_task()

        def abort(_raise_cancel: Any) -> Any:
            self.task, self.answer = None, True  # the inbox then leaves it alone
            return self.trio.lowlevel.Abort.SUCCEEDED

        await self.trio.lowlevel.wait_task_rescheduled(abort)


async def _trio_reader(trio: Any, inbox: Any) -> None:
    while True:
        await trio.lowlevel.wait_readable(inbox.fileno())
        inbox.drain()


async def _trio_wait(token: Any, what: Any, keep: Any) -> None:
    trio = sys.modules["trio"]
    inbox = _inboxes.get(token)
    if inbox is None:
        inbox = _inboxes[token] = _core.Inbox()
        trio.lowlevel.spawn_system_task(_trio_reader, trio, inbox)
    future = _TrioFuture(trio)
    if _add(inbox, what, future, keep):
        await future.wait()
        return
    while not inbox.is_done(what):
        await trio.sleep(ASK)

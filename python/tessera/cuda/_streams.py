# SPDX-License-Identifier: Apache-2.0
"""Streams and events under numba's names; both are those of tessera.core."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .. import _core, core
from . import config

__all__ = [
    "Event",
    "Stream",
    "default_stream",
    "event",
    "event_elapsed_time",
    "external_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "stream",
]


_TOKENS = {0: "Default CUDA stream", 1: "Legacy default CUDA stream", 2: "Per-thread default CUDA stream"}


class Stream(core.Stream):
    """A queue of work on a device."""

    __slots__ = ()

    def __int__(self) -> int:
        return int(self._address)

    @property
    def external(self) -> bool:
        """Whether another library made it."""
        return int(self) not in _TOKENS and not self._owned

    def __repr__(self) -> str:
        number = int(self)
        kind = _TOKENS.get(number) or ("External CUDA stream" if self.external else "CUDA stream")
        return f"<{kind} {number:#x} on {_text_of(self)}>"

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """``with stream.auto_synchronize(): ...`` waits for the stream at the end of the block."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Any, int, Any], object], arg: Any = None) -> None:
        """Calls ``callback(stream, status, arg)`` in another thread, after the work so far."""
        done = core.Device(_text_of(self)).create_event()
        self.record(done)

        def wait() -> None:
            status = 0
            try:
                done.sync()
            except RuntimeError:
                status = 1
            callback(self, status, arg)

        threading.Thread(target=wait, daemon=True).start()

    def async_done(self) -> asyncio.Future[Any]:
        """An awaitable that is done with the work so far."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def told(stream: Any, status: int, arg: Any) -> None:
            loop.call_soon_threadsafe(resolve, status)

        def resolve(status: int) -> None:
            if not future.done():
                if status:
                    future.set_exception(RuntimeError(f"the work of the stream failed (status {status})"))
                else:
                    future.set_result(self)

        self.add_callback(told)
        return future


def _text_of(stream: Any) -> str:
    number = stream._device
    return "cpu" if number < _core.DEVICE_CUDA else f"cuda:{number & 255}"


def stream() -> Stream:
    """A new stream of the current device."""
    made: Any = core.Device()._create_stream(Stream, None, core.StreamOptions(nonblocking=False))
    return made  # type: ignore[no-any-return]


def default_stream() -> Stream:
    """The default stream: the legacy one, or with ``NUMBA_CUDA_PER_THREAD_DEFAULT_STREAM=1`` the thread's own."""
    return per_thread_default_stream() if config.CUDA_PER_THREAD_DEFAULT_STREAM else _token(0)


def _token(handle: int) -> Stream:
    made: Any = Stream
    return made._wrap(None, handle, None, False)  # type: ignore[no-any-return]


def legacy_default_stream() -> Stream:
    """The default stream of the device, which all others wait for."""
    return _token(1)


def per_thread_default_stream() -> Stream:
    """The default stream of the calling thread."""
    return _token(2)


def external_stream(ptr: int) -> Stream:
    """A stream of another library, by its handle."""
    if int(ptr) <= 2 or _core.device_count("cuda") == 0:
        return _token(int(ptr))
    if _core.device_count("cuda") == 1:  # the driver need not be asked whose it is
        return Stream._wrap(_core.DEVICE_CUDA, int(ptr), None, False)  # type: ignore[attr-defined,no-any-return]
    return Stream.from_handle(int(ptr))  # type: ignore[return-value]


class Event:
    """A point in the work of a stream, to wait for or to time."""

    def __init__(self, timing: bool = True) -> None:
        self._event = core.Device().create_event(core.EventOptions(timing_enabled=timing))
        self.timing = timing

    @property
    def handle(self) -> Any:
        return self._event.handle

    def record(self, stream: Any = 0) -> None:
        """Marks the end of the work that the stream has now."""
        _of(stream).record(self._event)

    def query(self) -> bool:
        """Whether that work is done."""
        return bool(self._event.is_done)

    def synchronize(self) -> None:
        """Waits for it."""
        self._event.sync()

    def wait(self, stream: Any = 0) -> None:
        """Further work of a stream waits for it."""
        _of(stream).wait(self._event)

    def elapsed_time(self, evtend: Event) -> float:
        """Milliseconds from this event to another one."""
        return float(evtend._event - self._event)


def _of(given: Any) -> Any:
    if hasattr(given, "record"):
        return given
    return external_stream(int(given)) if given else core.Device().default_stream


def event(timing: bool = True) -> Event:
    """A new event; one without timing is cheaper."""
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two events."""
    return evtstart.elapsed_time(evtend)

# SPDX-License-Identifier: Apache-2.0
"""Streams and events by CuPy's names, over those of tessera.core.

Operations on arrays run on the default stream of their device; kernels that are launched with grid and block, and
CuPy's
elementwise and reduction kernels, on the current stream. A blocking stream of a GPU waits for the default stream and
the
other way round, by CUDA's own rule; for others the launch says so.
"""

from __future__ import annotations

import contextvars
from typing import Any

from ... import _core, core
from ._device import Device, has_gpu

__all__ = ["Event", "ExternalStream", "Graph", "Stream", "get_current_stream", "get_elapsed_time"]

_current: contextvars.ContextVar[Any] = contextvars.ContextVar("cupy_stream", default=None)
# How to leave the `with` blocks of this thread: threads may enter one stream.
_entered: contextvars.ContextVar[tuple[Any, ...]] = contextvars.ContextVar("cupy_streams_entered", default=())


def _device() -> Any:
    return core.Device(Device().id) if has_gpu() else core.Device("cpu")


class Event:
    """A point in the work of a stream, to wait for or to time."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        options = core.EventOptions(
            timing_enabled=not disable_timing, blocking_sync=block, ipc_enabled=interprocess
        )
        self._event = _device().create_event(options)

    @property
    def ptr(self) -> int:
        """The driver's event."""
        return int(self._event.handle)

    @property
    def done(self) -> bool:
        """Whether the work up to it is done."""
        return bool(self._event.is_done)

    def record(self, stream: Any = None) -> None:
        """Marks the end of the work that a stream, the current one, has now."""
        (get_current_stream() if stream is None else stream).record(self)

    def synchronize(self) -> None:
        """Waits for it."""
        self._event.sync()


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events."""
    return float(end_event._event - start_event._event)


class _Streams:
    """What streams of all kinds do; `_stream` is one of tessera.core."""

    _stream: Any
    _joins = False  # launches order it with the default stream
    _is_null = False

    @property
    def ptr(self) -> int:
        """The driver's stream."""
        return 0 if self._is_null else int(self._stream.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.ptr

    @property
    def done(self) -> bool:
        """Whether its work is done."""
        _core.numeric_flush()
        return bool(self._stream.record().is_done)

    def synchronize(self) -> None:
        """Waits for its work."""
        _core.numeric_flush()
        self._join()
        self._stream.sync()

    def record(self, event: Event | None = None) -> Event:
        """An event at the end of its work of now."""
        made = Event() if event is None else event
        _core.numeric_flush()
        self._join()
        self._stream.record(made._event)
        return made

    def wait_event(self, event: Event) -> None:
        """Further work waits for an event."""
        self._stream.wait(event._event)
        self._rejoin()

    def add_callback(self, callback: Any, arg: Any) -> None:
        """Calls ``callback(stream, status, arg)`` in another thread, after the work so far."""
        self._when_done(lambda status: callback(self, status, arg))

    def launch_host_func(self, callback: Any, arg: Any) -> None:
        """Calls ``callback(arg)`` in another thread, after the work so far."""
        self._when_done(lambda status: callback(arg))

    def _when_done(self, function: Any) -> None:
        import threading

        event = self.record()

        def wait() -> None:
            status = 0
            try:
                event.synchronize()
            except RuntimeError:
                status = 1
            function(status)

        threading.Thread(target=wait, daemon=True).start()

    def _join(self) -> None:
        """Its work waits for that of the default stream."""
        if self._joins:
            self._stream.wait(_device().default_stream.record())

    def _rejoin(self) -> None:
        """The default stream's work waits for its."""
        if self._joins:
            _device().default_stream.wait(self._stream.record())

    def use(self) -> Any:
        """Makes it the current stream of this thread."""
        _current.set(self)
        return self

    def __enter__(self) -> Any:
        _entered.set((*_entered.get(), _current.set(self)))
        return self

    def __exit__(self, *exception: object) -> None:
        *outer, token = _entered.get()
        _current.reset(token)
        _entered.set(tuple(outer))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Streams) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    # -- graphs -------------------------------------------------------------------------------------

    def begin_capture(self, mode: int | None = None) -> None:
        """Begins to record the kernels that the stream is given, instead of running them. Operations on arrays are not
        on this stream and are not recorded."""
        from . import runtime

        if self._is_null:
            raise RuntimeError(
                "cannot capture on the default stream; make one by cupy.cuda.Stream()"
            )
        runtime.streamBeginCapture(self.ptr, 2 if mode is None else mode)

    def end_capture(self) -> Graph:
        """The kernels since `begin_capture`, as a graph."""
        from . import runtime

        return Graph(runtime.streamEndCapture(self.ptr))

    def is_capturing(self) -> bool:
        """Whether it records."""
        from . import runtime

        return bool(has_gpu() and not self._is_null and int(runtime.streamIsCapturing(self.ptr)))


class Stream(_Streams):
    """``with Stream(): ...``: kernels are launched there. ``Stream.null`` is the default stream."""

    null: Stream
    ptds: Stream

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: int | None = None,
    ) -> None:
        self._is_null = null or (ptds and not has_gpu())
        if self._is_null:
            return
        if ptds:
            self._stream = core.PER_THREAD_DEFAULT_STREAM
            return
        self._stream = _device().create_stream(
            options=core.StreamOptions(nonblocking=non_blocking or not has_gpu(), priority=priority)
        )
        self._joins = non_blocking or not has_gpu()

    def __getattr__(self, name: str) -> Any:
        if name == "_stream" and self._is_null:  # of the current device
            return _device().default_stream
        raise AttributeError(f"'Stream' object has no attribute {name!r}")

    @property
    def is_non_blocking(self) -> bool:
        """Whether it does not wait for the default stream."""
        return self._joins and has_gpu()

    @property
    def priority(self) -> int:
        """Smaller is more urgent."""
        return 0 if self._is_null else int(self._stream.priority)

    @classmethod
    def from_external(cls, obj: Any) -> Stream:
        """The stream of another library, by its ``__cuda_stream__``."""
        made = cls.__new__(cls)
        made._is_null, made._joins = False, True
        made._stream = core.Stream(obj)
        return made

    def __repr__(self) -> str:
        return f"<Stream {self.ptr} (device {Device().id})>"


Stream.null = Stream(null=True)
Stream.ptds = Stream(null=True) if not has_gpu() else Stream(ptds=True)


class ExternalStream(_Streams):
    """The stream of another library, by its handle; it stays its maker's."""

    def __init__(self, ptr: int, device_id: int = -1) -> None:
        self._joins = True
        if not has_gpu():
            raise ValueError("a stream by its handle is one of a GPU, and this machine has none")
        self._stream = core.Stream.from_handle(int(ptr))

    @property
    def ptr(self) -> int:
        """The driver's stream."""
        return int(self._stream.handle)

    def __repr__(self) -> str:
        return f"<ExternalStream {self.ptr}>"


class Graph:
    """Kernels that a stream has recorded."""

    def __init__(self, graph: Any) -> None:
        from . import runtime

        self._graph, self._ready = graph, runtime.graphInstantiate(graph, 0)

    def launch(self, stream: Any = None) -> None:
        """Runs them all on a stream, the current one."""
        from . import runtime

        order = get_current_stream() if stream is None else stream
        before_launch(order)
        runtime.graphLaunch(self._ready, order.ptr)
        order._rejoin()

    def upload(self, stream: Any = None) -> None:
        """Brings them to the device, so that the first launch is as fast as the others."""
        from . import runtime

        runtime.graphUpload(self._ready, (get_current_stream() if stream is None else stream).ptr)


def get_current_stream(device_id: int | None = None) -> Any:
    """The stream that kernels are launched on."""
    found = _current.get()
    return Stream.null if found is None else found


def before_launch(stream: Any) -> None:
    """What arrays wait for is started, and the stream waits for it."""
    _core.numeric_flush()
    stream._join()

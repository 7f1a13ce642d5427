# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of work. The hot half is ``tessera.Stream``, in C."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import Stream as _Stream
from ._errors import cpu_cannot
from ._event import Event
from ._place import CUDA

if TYPE_CHECKING:
    from ..bindings import driver
    from ._context import Context
    from ._device import Device
    from ._device_resources import DeviceResources

__all__ = [
    "LEGACY_DEFAULT_STREAM",
    "PER_THREAD_DEFAULT_STREAM",
    "Stream",
    "StreamOptions",
    "default_stream",
]

_LEGACY, _PER_THREAD = 1, 2  # CU_STREAM_LEGACY, CU_STREAM_PER_THREAD


@dataclass
class StreamOptions:
    """How a stream is made.

    Attributes
    ----------
    nonblocking : bool
        Whether the stream is independent of the legacy default stream.
    priority : int, optional
        Smaller is more urgent; the device tells the range.
    """

    nonblocking: bool | None = True
    priority: int | None = None


class Stream(_Stream):
    """A queue of work on a device; its work runs in the order given.

    Made by ``Device.create_stream``; ``Stream()`` is one of the current device (the peer refuses
    that). Anything with the ``__cuda_stream__`` protocol (torch, CuPy) can be used where a stream
    is expected; ``Stream(obj)`` gives it these methods.
    """

    __slots__ = ()
    _event_class = Event

    if TYPE_CHECKING:

        def record(self, event: Event | None = None, options: Any = None) -> Event: ...

    def __new__(cls, obj: Any = None) -> Stream:
        if obj is None:
            from ._device import Device

            return Device()._create_stream(cls, None, None)
        return cls._of_object(obj, None)

    @classmethod
    def _of_object(cls, obj: Any, device: int | None) -> Stream:
        """A stream of another library, kept alive by this one."""
        protocol = getattr(obj, "__cuda_stream__", None)
        if protocol is None:
            raise TypeError(
                f"Stream or GraphBuilder expected, got {type(obj).__name__}, which has no "
                f"__cuda_stream__ method"
            )
        # Early adopters made it an attribute; a method is what the protocol asks for.
        pair = protocol() if callable(protocol) else protocol
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise RuntimeError(f"__cuda_stream__ must give (version, handle), not {pair!r}")
        if pair[0] != 0:
            raise RuntimeError(
                f"version {pair[0]} of __cuda_stream__ is unknown; version 0 is read"
            )
        if device is None and isinstance(obj, _Stream):
            device = obj._device
        return cls._wrap(
            _device_of_handle(pair[1]) if device is None else device, pair[1], obj, False
        )

    @classmethod
    def from_handle(cls, handle: int) -> Stream:
        """A stream by its driver handle, which stays its maker's: it is not destroyed by this
        object."""
        handle = int(handle)
        return cls._wrap(_device_of_handle(handle), handle, None, False)

    @classmethod
    def _legacy_default(cls) -> Stream:
        return cls._wrap(None, _LEGACY, None, False)

    @classmethod
    def _per_thread_default(cls) -> Stream:
        return cls._wrap(None, _PER_THREAD, None, False)

    @classmethod
    def _init(cls, obj: Any = None, options: Any = None, device_id: int | None = None) -> Stream:
        """What ``Device.create_stream`` does, for subclasses."""
        from ._device import Device

        return Device(device_id)._create_stream(cls, obj, options)

    @property
    def handle(self) -> driver.CUstream:
        """The driver's stream; on the CPU only an identity."""
        from ..bindings import driver

        return driver.CUstream(self._address)

    @property
    def is_nonblocking(self) -> bool:
        """Whether the stream is independent of the legacy default stream."""
        if self._address in (0, _LEGACY) or self._device < CUDA:
            return self._device < CUDA
        from ..bindings import driver

        flags = driver.checked.cuStreamGetFlags(self._address)
        return bool(int(flags) & int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))

    @property
    def priority(self) -> int:
        """Smaller is more urgent; 0 on the CPU."""
        if self._device < CUDA:
            return 0
        from ..bindings import driver

        return int(driver.checked.cuStreamGetPriority(self._address))

    @property
    def device(self) -> Device:
        """The device whose work it runs; for the default-stream tokens, the current one."""
        from ._device import device_of

        return device_of(self._device)

    @property
    def context(self) -> Context:
        """The context it belongs to."""
        from ._context import context_of_stream

        return context_of_stream(self)

    @property
    def resources(self) -> DeviceResources:
        """The SMs and work queues that its work may use."""
        if self._device < CUDA:
            raise cpu_cannot("resources to divide")
        return self.context.resources

    def create_graph_builder(self) -> Any:
        """A builder that captures the work given to it into a graph."""
        from .graph import GraphBuilder

        return GraphBuilder._init(stream=self, is_stream_owner=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Stream):
            return NotImplemented
        return self._address == other._address and self._kind == _kind_of(other)

    def __hash__(self) -> int:
        return hash((self._address, self._kind))

    @property
    def _kind(self) -> int:
        return _kind_of(self)

    def __repr__(self) -> str:
        names = {_LEGACY: "LEGACY_DEFAULT_STREAM", _PER_THREAD: "PER_THREAD_DEFAULT_STREAM"}
        if self._closed:
            return "<Stream closed>"
        name = names.get(self._address)
        if name or self._device < CUDA:
            return f"<Stream handle={name or hex(self._address)} device={self.device}>"
        return f"<Stream handle={self._address:#x} context={int(self.context.handle or 0):#x}>"


def _kind_of(stream: _Stream) -> int:
    """Addresses are unique within a kind of device; tokens and closed streams have none."""
    return 0 if stream._closed or stream._address <= _PER_THREAD else stream._device >> 8


def _device_of_handle(handle: int) -> int | None:
    """The GPU of a driver's stream; None for the default streams, which follow the current
    device."""
    if handle <= _PER_THREAD:
        return None
    from ..bindings import driver

    driver.checked.cuInit(0)
    context = driver.checked.cuStreamGetCtx(handle)
    before = driver.checked.cuCtxGetCurrent()
    driver.checked.cuCtxSetCurrent(context)
    try:
        return CUDA | int(driver.checked.cuCtxGetDevice())
    finally:
        driver.checked.cuCtxSetCurrent(before)


LEGACY_DEFAULT_STREAM = Stream._legacy_default()
PER_THREAD_DEFAULT_STREAM = Stream._per_thread_default()


def default_stream() -> Stream:
    """The default stream that programs get: the legacy one, unless the environment variable
    ``CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM`` is set to a number other than 0."""
    value = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0")
    return PER_THREAD_DEFAULT_STREAM if value not in ("", "0") else LEGACY_DEFAULT_STREAM


def Stream_accept(stream: Any) -> Stream:
    """A stream given by a user as a Stream; TypeError for None."""
    if stream is None:
        raise TypeError(
            "stream is required and must not be None; pass device.default_stream for the default one"
        )
    if isinstance(stream, Stream):
        return stream
    inner = getattr(stream, "stream", None)  # a graph builder
    return inner if isinstance(inner, Stream) else Stream._of_object(stream, None)

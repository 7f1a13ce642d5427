# SPDX-License-Identifier: Apache-2.0
"""Contexts: the primary one of each GPU, and green ones, which may use part of it."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..bindings import driver
from ._errors import no_constructor
from ._options import options_of
from ._place import CUDA, primary_context

if TYPE_CHECKING:
    from ._device import Device
    from ._device_resources import DeviceResources
    from ._stream import Stream, StreamOptions

__all__ = ["Context", "ContextOptions"]


@dataclass
class ContextOptions:
    """How a green context is made.

    Attributes
    ----------
    resources : sequence of SMResource and WorkqueueResource
        What the context may use.
    """

    resources: Any = None


class Context:
    """A context of a GPU. Made by ``Device.create_context``; ``Device.context`` gives the current
    one."""

    __slots__ = ("__weakref__", "_device_number", "_green", "_handle")
    _handle: driver.CUcontext | None
    _green: Any  # CUgreenCtx that this object owns, or None
    _device_number: int

    def __init__(self, *args: object, **kwargs: object) -> None:
        no_constructor("Context", "Device.create_context() or Device.context")

    @classmethod
    def _of_handle(cls, handle: driver.CUcontext, device: int, green: Any = None) -> Context:
        known = _green_contexts.get(int(handle))
        if known is not None:
            return known
        self = cls.__new__(cls)
        self._handle, self._device_number, self._green = handle, device, green
        return self

    @property
    def handle(self) -> driver.CUcontext | None:
        """The driver's context; None when closed."""
        return self._handle

    @property
    def device(self) -> Device:
        """The GPU it is of."""
        from ._device import device_of

        return device_of(self._device_number)

    @property
    def is_green(self) -> bool:
        """Whether it was made for a part of the GPU."""
        return self._green is not None

    @property
    def _green_handle(self) -> Any:
        return self._green

    def _open(self) -> driver.CUcontext:
        if self._handle is None:
            raise RuntimeError("the context is closed; make a new one")
        return self._handle

    @property
    def resources(self) -> DeviceResources:
        """The SMs and work queues that its work may use."""
        from ._device_resources import DeviceResources

        self._open()
        return DeviceResources._init_from_context(self)

    def create_stream(self, options: StreamOptions | dict[str, Any] | None = None) -> Stream:
        """A stream whose work uses the context's part of the GPU (green contexts only)."""
        from ._stream import Stream, StreamOptions

        self._open()
        if not self.is_green:
            raise RuntimeError(
                "Context.create_stream is only supported on green contexts; use Device.create_stream()"
            )
        return _stream_in(Stream, self, options_of(StreamOptions, options))

    def close(self) -> None:
        """Ends a green context; others are only let go. RuntimeError while it is current."""
        if self._green is not None:
            status, current = driver.cuCtxGetCurrent()
            if not status and int(current) == int(self._open()):
                raise RuntimeError(
                    "the context cannot be closed while it is current; choose another one with set_current() first"
                )
            _green_contexts.pop(int(self._open()), None)
            green, self._green = self._green, None
            self._handle = None
            driver.checked.cuGreenCtxDestroy(green)
        self._handle = None

    def __del__(self) -> None:
        green = getattr(self, "_green", None)
        if green is not None and sys is not None and not sys.is_finalizing():
            driver.cuGreenCtxDestroy(green)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Context):
            return NotImplemented
        return int(self._handle or 0) == int(other._handle or 0)

    def __hash__(self) -> int:
        return hash(("tessera.core.Context", int(self._handle or 0)))

    def __repr__(self) -> str:
        handle = "closed" if self._handle is None else f"handle={int(self._handle):#x}"
        return f"<Context {handle} device={self._device_number & 255}>"


# CUcontext of a green context -> the object that owns it.
_green_contexts: weakref.WeakValueDictionary[int, Context] = weakref.WeakValueDictionary()


def set_current_context(device: Device, ctx: Context | None) -> Context | None:
    """``Device.set_current``: the primary context, or ``ctx``; gives what was current before it."""
    if ctx is None:
        driver.checked.cuCtxSetCurrent(primary_context(device.device_id))
        return None
    if not isinstance(ctx, Context):
        raise TypeError(f"set_current() takes a Context, not {type(ctx).__name__}")
    if ctx._device_number != device._id:
        raise RuntimeError(
            f"set_current(): the context is of device {ctx._device_number & 255}, not {device.device_id}"
        )
    new = ctx._open()
    driver.checked.cuInit(0)
    before = driver.checked.cuCtxGetCurrent()
    if not int(before):
        driver.checked.cuCtxSetCurrent(new)
        return None
    was = CUDA | int(driver.checked.cuCtxGetDevice())
    driver.checked.cuCtxSetCurrent(new)
    return Context._of_handle(before, was)


def create_green_context(device: Device, options: Any) -> Context:
    """``Device.create_context``."""
    from ._device_resources import describe

    resources = options_of(ContextOptions, options).resources
    if resources is None:
        raise ValueError("resources must be provided: what part of the GPU the context may use")
    primary_context(device.device_id)  # green contexts stand on it
    flags = driver.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM
    green = driver.checked.cuGreenCtxCreate(
        describe(resources, device), device.device_id, int(flags)
    )
    handle = driver.checked.cuCtxFromGreenCtx(green)
    context = Context._of_handle(handle, device._id, green)
    _green_contexts[int(handle)] = context
    return context


def _stream_in(cls: type[Stream], context: Context, options: StreamOptions) -> Stream:
    if not options.nonblocking:
        raise ValueError(
            "streams of a green context must be non-blocking; leave options.nonblocking True"
        )
    flags = int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
    handle = driver.checked.cuGreenCtxStreamCreate(
        context._green_handle, flags, options.priority or 0
    )
    return cls._wrap(context._device_number, int(handle), context, True)


def green_stream(cls: type[Stream], device: Device, options: StreamOptions) -> Stream | None:
    """A stream of the current context if that is a green one of the device; None otherwise."""
    if not _green_contexts:
        return None
    current = device.context
    return _stream_in(cls, current, options) if current.is_green else None


def context_of_stream(stream: Stream) -> Context:
    """``Stream.context``."""
    device = stream.device
    if stream._address <= 2:
        return device.context
    device._gpu("contexts")
    return Context._of_handle(driver.checked.cuStreamGetCtx(stream._address), device._id)

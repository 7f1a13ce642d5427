# SPDX-License-Identifier: Apache-2.0
"""Copies of a Buffer that end before they return, or are awaited; from and to host memory too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._core import Buffer as _Buffer
from .._place import CUDA

if TYPE_CHECKING:
    from ._buffer import Buffer

__all__ = ["Transfers", "host_memory"]


def host_memory(memory: Any, writable: bool) -> tuple[int, int]:
    """(address, bytes) of an object that lends contiguous host memory."""
    import numpy as np

    try:
        view = memoryview(memory)
    except TypeError:
        raise TypeError(
            f"a copy takes a Buffer or host memory (bytes, a NumPy array), not a "
            f"{type(memory).__name__}; use np.asarray(...)"
        ) from None
    if not view.c_contiguous:
        way = "copy to a contiguous array first" if writable else "use np.ascontiguousarray(...)"
        raise ValueError(f"the host memory of a copy must be contiguous; {way}")
    if writable and view.readonly:
        raise ValueError("the host memory is read-only")
    if not view.nbytes:
        return 0, 0
    return np.frombuffer(view.cast("B"), np.uint8).ctypes.data, view.nbytes


def _side(memory: Any, writable: bool) -> Buffer:
    """One side of a copy: a Buffer, or host memory as one that keeps it."""
    from ._buffer import Buffer

    if isinstance(memory, _Buffer):
        return memory  # type: ignore[return-value]
    address, size = host_memory(memory, writable)
    return Buffer.from_handle(address, size, owner=memoryview(memory))


def _device(*sides: Any) -> int | str:
    """The device whose default stream copies: a GPU if one takes part."""
    devices = [side._device for side in sides if isinstance(side, _Buffer)]
    return next((d for d in devices if d is not None and d >= CUDA), "cpu")


class Transfers:
    """The methods of Buffer that copy and wait."""

    __slots__ = ()

    async def async_copy_to(self, dst: Any = None, *, stream: Any = None) -> Any:
        """``await buffer.async_copy_to(other)``: copies, and waits in asyncio or trio.

        Parameters
        ----------
        dst : Buffer, or writable host memory (buffer protocol), optional
            None: a new buffer of this one's resource. Both sides live until the copy is done, also
            when the waiting task is cancelled.
        stream : Stream, optional
            None: the default stream of the GPU that takes part; without one a stream of the event
            loop.

        Returns
        -------
        Buffer or host memory
            The destination.
        """
        from ..._async import finished, stream_of

        target = None if dst is None else _side(dst, writable=True)
        order = stream_of(stream, _device(self, target))
        uses = self, target
        made = await finished(lambda: self.copy_to(target, stream=order), order, uses)  # type: ignore[attr-defined]
        return made if dst is None else dst

    async def async_copy_from(self, src: Any, *, stream: Any = None) -> None:
        """``await buffer.async_copy_from(other)``: copies from a Buffer or host memory, and waits."""
        from ..._async import finished, stream_of

        source = _side(src, writable=False)
        order = stream_of(stream, _device(self, source))
        uses = self, source
        await finished(lambda: self.copy_from(source, stream=order), order, uses)  # type: ignore[attr-defined]

    def copy_from_host(self, array: Any, *, stream: Any = None) -> None:
        """Copies from host memory (a NumPy array, bytes) of the same size; done at the return."""
        self._copy_and_wait(_side(array, writable=False), self, stream)

    def copy_to_host(self, array: Any, *, stream: Any = None) -> Any:
        """Copies to writable host memory of the same size, which is given back; done at the
        return."""
        self._copy_and_wait(self, _side(array, writable=True), stream)
        return array

    def _copy_and_wait(self, source: Any, target: Any, stream: Any) -> None:
        from .._device import device_of
        from .._stream import Stream_accept

        if stream is None:
            device = _device(source, target)
            stream = device_of(device).default_stream if isinstance(device, int) else None
        source.copy_to(target, stream=stream)
        if stream is not None:
            Stream_accept(stream).sync()

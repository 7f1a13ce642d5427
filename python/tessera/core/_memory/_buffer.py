# SPDX-License-Identifier: Apache-2.0
"""Buffer, and MemoryResource, the base of everything that allocates. The hot half is C
(ext/buffer.c)."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from ... import _core
from ..._core import Buffer as _Buffer
from .._errors import no_constructor, shown
from .._place import CPU, CUDA
from ..typing import DevicePointerType
from ._transfers import Transfers

if TYPE_CHECKING:
    from ... import Array
    from .._stream import Stream

__all__ = ["Buffer", "MemoryResource"]



class MemoryResource:
    """What allocates memory. Subclasses say how.

    A subclass has ``allocate(size, *, stream)``, which gives a Buffer
    (``Buffer.from_handle(address, size, mr=self)``), ``deallocate(ptr, size, *, stream)``, and the
    properties ``is_device_accessible``, ``is_host_accessible`` and ``device_id``.
    """

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        """``size`` bytes, usable by work of ``stream``."""
        raise TypeError(f"{type(self).__name__} must define allocate(size, *, stream)")

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        """Gives memory back once the work of ``stream`` so far is done."""
        raise TypeError(f"{type(self).__name__} must define deallocate(ptr, size, *, stream)")

    @property
    def is_device_accessible(self) -> bool:
        """Whether kernels can use its memory."""
        raise TypeError(f"{type(self).__name__} must define is_device_accessible")

    @property
    def is_host_accessible(self) -> bool:
        """Whether Python can read its memory."""
        raise TypeError(f"{type(self).__name__} must define is_host_accessible")

    @property
    def is_managed(self) -> bool:
        """Whether its memory migrates by itself."""
        return False

    @property
    def device_id(self) -> int:
        """The GPU whose memory it is; -1 for the host."""
        raise TypeError(f"{type(self).__name__} must define device_id")


def _axes_of(shape: Any) -> tuple[int, ...]:
    """A shape given as an int or a sequence of ints."""
    try:
        given = shape if isinstance(shape, (tuple, list)) else (shape,)
        return tuple(operator.index(axis) for axis in given)
    except TypeError:
        raise TypeError(
            f"Buffer.view(): shape must be an int or a tuple of ints, not {shown(shape)}"
        ) from None


class Buffer(Transfers, _Buffer):
    """Memory with an address (``handle``) and a size in bytes.

    Made by ``MemoryResource.allocate``, ``Device.allocate`` and ``Buffer.from_handle``. It is given
    back by ``close()``, at the end of a ``with`` block, or with the object. A closed buffer raises
    RuntimeError wherever it is used. Memory that is lent (``memoryview(buffer)``, DLPack) stays
    until its last user has ended.
    """

    __slots__ = ()

    def __new__(cls, *args: object, **kwargs: object) -> Buffer:
        no_constructor("Buffer", "MemoryResource.allocate() or Buffer.from_handle()")

    @classmethod
    def from_handle(
        cls,
        ptr: DevicePointerType,
        size: int,
        mr: MemoryResource | None = None,
        owner: object | None = None,
    ) -> Buffer:
        """Memory that somebody else has made, by its address.

        Parameters
        ----------
        ptr : int or CUdeviceptr
        size : int
            Bytes.
        mr : MemoryResource, optional
            Whose ``deallocate`` is called at the end.
        owner : object, optional
            What keeps the memory alive instead.
        """
        if mr is not None and owner is not None:
            raise ValueError(
                "mr and owner cannot be both specified together: one of them ends the memory"
            )
        return cls._wrap(None, 0 if ptr is None else int(ptr), size, mr, owner)

    @classmethod
    def from_ipc_descriptor(
        cls, mr: MemoryResource, ipc_descriptor: Any, *, stream: Any = None
    ) -> Buffer:
        """Opens a buffer of another process, of a resource that was opened here."""
        from ._ipc import open_buffer

        return open_buffer(cls, mr, ipc_descriptor, stream)

    @property
    def ipc_descriptor(self) -> Any:
        """What another process opens the buffer with (RuntimeError unless its resource is
        IPC-enabled)."""
        from ._ipc import describe_buffer

        return describe_buffer(self)

    def __reduce__(self) -> tuple[Any, ...]:
        from ._ipc import reduce_buffer

        return reduce_buffer(self)

    def _classify(self) -> None:
        """Finds out where the memory is: from its resource, else from the driver."""
        mr = self.memory_resource
        if mr is not None:
            self._classify_by(mr)
            return
        from ._classify import place_of

        self._set_place(*place_of(self.handle))

    def _classify_by(self, mr: MemoryResource) -> None:
        device, host, managed = mr.is_device_accessible, mr.is_host_accessible, mr.is_managed
        try:
            number = int(mr.device_id)
        except RuntimeError:  # bound to no GPU
            number = -1
        if device and host and not managed:
            from ._classify import is_managed

            managed = is_managed(self.handle)
        access = _core.DEVICE_ACCESS * bool(device) | _core.HOST_ACCESS * bool(host) | _core.MANAGED * bool(managed)
        self._set_place(CUDA | number if number >= 0 and device else None, number, access)

    def _default_stream(self) -> Stream:
        """For ``deallocate`` of memory that no stream was named for."""
        from .._stream import default_stream

        return default_stream()

    # ---- lending

    def __dlpack_device__(self) -> tuple[int, int]:
        """(kind, number) by DLPack: 1 the host, 2 a GPU, 3 page-locked, 13 managed."""
        device, host = self.is_device_accessible, self.is_host_accessible
        if not device and not host:
            raise BufferError("buffer is neither device-accessible nor host-accessible")
        if not device or self._device == CPU:
            return 1, 0
        kind = 13 if self.is_managed else 3 if host else 2
        return kind, max(self.device_id, 0) if kind != 3 else 0

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The memory as a tensor of int8, for ``from_dlpack`` of other libraries."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError("Sorry, not supported: dl_device other than None")
        if copy is True:
            raise BufferError("Sorry, not supported: copy=True")
        if max_version is not None and (
            not isinstance(max_version, tuple) or len(max_version) != 2
        ):
            raise BufferError(f"Expected max_version tuple[int, int], got {max_version}")
        kind, number = self.__dlpack_device__()
        return self._dlpack(kind, number, max_version is not None and max_version >= (1, 0))

    def view(self, dtype: Any = "uint8", shape: int | tuple[int, ...] | None = None) -> Array:
        """The memory as an array; it stays until the array ends, also after ``close()``.

        Parameters
        ----------
        dtype : dtype of any library, or its name
        shape : int or tuple of int, optional
            None: one axis with all that fits. A smaller shape uses the beginning.

        Raises
        ------
        ValueError
            The shape needs more bytes than the buffer has.
        """
        from ... import from_dlpack

        array = from_dlpack(self).view(dtype)
        if shape is None:
            return array
        axes = _axes_of(shape)
        count = math.prod(axes)
        if count > array.size or any(axis < 0 for axis in axes):
            raise ValueError(
                f"an array of shape {axes} and dtype {array.dtype} does not fit {self.size} bytes"
            )
        return array[:count].reshape(*axes)

    # ---- as a value

    def __enter__(self) -> Buffer:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Buffer):
            return NotImplemented
        return self.handle == other.handle and self.size == other.size

    def __hash__(self) -> int:
        return hash((self.handle, self.size))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        if self._closed:
            return "<Buffer closed>"
        return f"<Buffer ptr={self.handle:#x} size={self.size}>"

# SPDX-License-Identifier: Apache-2.0
"""StridedMemoryView: the array of another library as pointer, shape, strides and dtype."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ._errors import shown
from ._layout import _StridedLayout

if TYPE_CHECKING:
    from ._tensor_map import TensorMapDescriptor

__all__ = ["StridedMemoryView", "args_viewable_as_strided_memory"]

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13
# DLPack's code of a kind of NumPy's dtypes.
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_KINDS = {code: kind for kind, code in _CODES.items()}
_BFLOAT = 4


@functools.cache
def _numpy_dtype(code: int, bits: int, lanes: int) -> np.dtype[Any]:
    if code == _BFLOAT and bits == 16 and lanes == 1:
        raise AssertionError("bfloat16 is no dtype of NumPy's own")
    if code not in _KINDS or lanes != 1 or bits % 8:
        raise NotImplementedError(
            f"NumPy has no dtype for DLPack's code {code}, {bits} bits, {lanes} lanes"
        )
    return np.dtype(f"{_KINDS[code]}{bits // 8}")


@functools.cache
def dlpack_dtype(dtype: np.dtype[Any]) -> tuple[int, int, int]:
    """(code, bits, lanes); bits of 0 where DLPack has no such type."""
    if bfloat16 is not None and dtype == bfloat16:
        return _BFLOAT, 16, 1
    if dtype.kind not in _CODES or not dtype.isnative:
        return 0, 0, 1
    return _CODES[dtype.kind], 8 * dtype.itemsize, 1


# ---- the array interfaces: dictionaries


def _interface(dictionary: dict[str, Any]) -> tuple[int, bool, _StridedLayout, np.dtype[Any]]:
    """(address, readonly, layout, dtype) of an array interface."""
    missing = [key for key in ("version", "data", "shape", "typestr") if dictionary.get(key) is None]
    if missing:
        raise BufferError(f"malformed array interface: it has no {', '.join(missing)}")
    if dictionary["version"] < 3:
        raise BufferError("only array interface v3 or above is supported")
    if dictionary.get("mask") is not None:
        raise BufferError("mask is not supported")
    address, readonly = dictionary["data"]
    dtype = np.dtype(dictionary["typestr"])
    strides = dictionary.get("strides")
    layout = _StridedLayout(dictionary["shape"], strides, dtype.itemsize, divide_strides=True)
    return int(address), bool(readonly), layout, dtype


def _current_device() -> int:
    """The ordinal of the current context's device; -1 without one."""
    from ..bindings import driver

    try:
        status, device = driver.cuCtxGetDevice()
    except RuntimeError:  # no driver
        return -1
    return -1 if status else int(device)


def _device_of(address: int) -> int:
    """The ordinal of the GPU that an address belongs to; the current one for NULL."""
    from ..bindings import driver

    if not address:
        return max(_current_device(), 0)
    kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return int(driver.checked.cuPointerGetAttribute(kind, address))


def _order(producer: int, consumer: int) -> None:
    """Work of the consumer's stream from now on waits for what the producer's stream has."""
    from ..bindings.driver import CUevent_flags, checked

    event = checked.cuEventCreate(CUevent_flags.CU_EVENT_DISABLE_TIMING)
    try:
        checked.cuEventRecord(event, producer)
        checked.cuStreamWaitEvent(consumer, event, 0)
    finally:
        checked.cuEventDestroy(event)


class _Views(type):
    """Calling the class is the peer's old way of reading an object."""

    def __call__(cls, obj: Any = None, stream_ptr: int | None = None) -> Any:
        if obj is None:
            _warn_old("StridedMemoryView() without an object is deprecated")
            return cls._make(0, (), None, (0, 0, 1), (CPU, 0), False, None, None, None)  # type: ignore[attr-defined]
        if hasattr(obj, "__dlpack__"):
            _warn_old("a view of a DLPack-supporting object is deprecated; use from_dlpack()")
            return cls.from_dlpack(obj, stream_ptr)  # type: ignore[attr-defined]
        _warn_old(
            "a view of a CUDA-array-interface-supporting object is deprecated; "
            "use from_cuda_array_interface()"
        )
        return cls._from_interface(obj, stream_ptr)  # type: ignore[attr-defined]


def _warn_old(text: str) -> None:
    warnings.warn(text, DeprecationWarning, stacklevel=3)


class StridedMemoryView(_core.MemoryView, metaclass=_Views):  # type: ignore[misc]
    """What another library's array is, without a copy: made by ``from_dlpack``,
    ``from_cuda_array_interface``, ``from_array_interface``, ``from_any_interface``,
    ``from_buffer``.

    Attributes
    ----------
    ptr : int
        Address of the first element.
    shape : tuple of int
    strides : tuple of int or None
        In elements; None: row-major.
    dtype : numpy.dtype or None
        bfloat16 is that of ``ml_dtypes``.
    device_id : int
        -1 for host memory.
    is_device_accessible, readonly : bool
    exporting_obj : object
        What is viewed; the view keeps it alive.

    Notes
    -----
    ``stream_ptr`` is the stream on which the memory will be used: the producer's work comes before.
    -1 asks for no ordering; None is refused. Views are arguments of launches, and give their memory
    on through DLPack, which includes the C exchange table.
    """

    __slots__ = ()
    __dlpack_c_exchange_api__ = _core.view_exchange
    __c_dlpack_exchange_api__ = _core.view_exchange

    @classmethod
    def _from_interface(cls, obj: Any, stream_ptr: int | None = None) -> StridedMemoryView:
        """What has no DLPack."""
        if hasattr(obj, "__cuda_array_interface__"):
            return cls.from_cuda_array_interface(obj, stream_ptr)
        raise BufferError(
            f"{type(obj).__name__} does not support any data exchange protocol (DLPack, CUDA "
            f"array interface)"
        )

    @classmethod
    def from_cuda_array_interface(
        cls, obj: Any, stream_ptr: int | None = None
    ) -> StridedMemoryView:
        """A view of an object with ``__cuda_array_interface__`` (version 3).

        Version 2, torch's, tells no stream: an object that has DLPack besides is read by that.
        """
        told = obj.__cuda_array_interface__
        if told.get("version", 0) < 3 and hasattr(obj, "__dlpack__"):
            return cls.from_dlpack(obj, stream_ptr)  # type: ignore[no-any-return]
        address, readonly, layout, dtype = _interface(told)
        if stream_ptr is None:
            raise BufferError(
                "stream=None is ambiguous with __cuda_array_interface__: pass -1 or a stream"
            )
        producer, stream_ptr = told.get("stream"), int(stream_ptr)
        if producer is not None and stream_ptr not in (-1, producer):
            _order(producer, stream_ptr)
        device = (CUDA, _device_of(address))
        return cls._of(address, layout, dtype, device, readonly, obj)

    @classmethod
    def from_array_interface(cls, obj: Any) -> StridedMemoryView:
        """A view of host memory by ``__array_interface__`` (version 3)."""
        address, readonly, layout, dtype = _interface(obj.__array_interface__)
        # CPU with an ordinal of n is shown as device_id n - 1: that of the current device here
        device = (CPU, _current_device() + 1)
        return cls._of(address, layout, dtype, device, readonly, obj)

    @classmethod
    def from_buffer(
        cls, buffer: Any, shape: Any, strides: Any = None, *, itemsize: int | None = None,
        dtype: Any = None, is_readonly: bool = False,
    ) -> StridedMemoryView:  # fmt: skip
        """A view of a Buffer, whose memory stays until the view ends, also after ``close()``.

        ``strides`` are in elements. ``itemsize`` will do for a view without dtype.
        """
        if not isinstance(buffer, _core.Buffer):
            raise TypeError(
                f"from_buffer() views a Buffer, not a {type(buffer).__name__}; use from_dlpack() or "
                f"from_any_interface()"
            )
        # as buffer.view(): the memory stays until the view ends, also after close()
        loan = buffer._dlpack(*buffer.__dlpack_device__(), True)
        dtype = None if dtype is None else np.dtype(dtype)
        size = itemsize if dtype is None else dtype.itemsize
        if size is None:
            raise ValueError("itemsize or dtype must be specified")
        if itemsize is not None and itemsize != size:
            raise ValueError(f"itemsize {itemsize} does not match dtype.itemsize {size}")
        layout = _StridedLayout(shape, strides, size)
        needed = layout.required_size_in_bytes()
        if needed > buffer.size:
            raise ValueError(f"Expected at least {needed} bytes, got {buffer.size} bytes.")
        device = buffer.__dlpack_device__()
        address = int(buffer.handle)
        return cls._of(address, layout, dtype, device, is_readonly, buffer, loan)

    @classmethod
    def _of(
        cls, address: int, layout: _StridedLayout, dtype: Any, device: Any, readonly: bool, obj: Any,
        keep: Any = None,
    ) -> StridedMemoryView:  # fmt: skip
        told = (0, 0, 1) if dtype is None else dlpack_dtype(dtype)
        steps = layout._strides
        view = cls._make(address, layout.shape, steps, told, device, readonly, obj, keep, dtype)
        view._layout_ = layout
        return view  # type: ignore[no-any-return]

    # ---- what it is

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The NumPy dtype; NotImplementedError for bfloat16 where ``ml_dtypes`` is missing."""
        found = self._dtype
        if found is None and (told := self._dl_dtype)[1]:
            if told == (_BFLOAT, 16, 1):
                if bfloat16 is None:
                    raise NotImplementedError("bfloat16 requires `ml_dtypes` to be installed")
                found = np.dtype(bfloat16)
            else:
                found = _numpy_dtype(*told)
            self._dtype = found
        return found  # type: ignore[no-any-return]

    @property
    def _layout(self) -> _StridedLayout:
        if self._layout_ is None:
            bits = self._dl_dtype[1] * self._dl_dtype[2]
            if not bits:
                raise ValueError("Cannot infer layout: the view is of nothing")
            self._layout_ = _StridedLayout(self.shape, self.strides, (bits + 7) // 8)
        return self._layout_  # type: ignore[no-any-return]

    def view(self, layout: Any = None, dtype: Any = None) -> StridedMemoryView:
        """The same memory with another layout (a part: ``view._layout[1:]``) or as another dtype of
        the same size."""
        if layout is None and dtype is None:
            return self
        made = self._layout if layout is None else layout
        if not isinstance(made, _StridedLayout):
            raise TypeError(
                f"StridedMemoryView.view(): layout must be a _StridedLayout, as view._layout[1:], not "
                f"{shown(layout)}"
            )
        kind = self.dtype if dtype is None else np.dtype(dtype)
        if kind is not None and kind.itemsize != made.itemsize:
            raise ValueError(
                f"dtype {kind} has {kind.itemsize} bytes, the layout's items {made.itemsize}"
            )
        address = self.ptr + made.slice_offset_in_bytes - self._layout.slice_offset_in_bytes
        device = (
            self.__dlpack_device__() if self.is_device_accessible else (CPU, self.device_id + 1)
        )
        told = (0, 0, 1) if kind is None else dlpack_dtype(kind)
        view = self._make(
            address,
            made.shape,
            made._strides,
            told,
            device,
            self.readonly,
            self.exporting_obj,
            self,
            kind,
        )
        view._layout_ = made
        return view  # type: ignore[no-any-return]

    def _refuse_export(self) -> None:
        """Why DLPack cannot have this dtype."""
        dtype = self.dtype
        if dtype is None:
            raise BufferError(
                "a view without dtype cannot be given on; make one with view(dtype=...)"
            )
        if dtype.fields:
            raise BufferError(f"Structured dtypes cannot be given on through DLPack: {dtype}")
        if not dtype.isnative:
            raise BufferError(
                f"Non-native-endian dtypes cannot be given on through DLPack: {dtype}"
            )
        raise BufferError(f"Unsupported dtype for DLPack export: {dtype}")

    # ---- what is done with it

    def copy_from(
        self,
        other: StridedMemoryView,
        stream: Any,
        allocator: Any = None,
        blocking: bool | None = None,
    ) -> None:
        """Copies the elements of a view of the same shape and element size into this one."""
        from ._copy import copy_view

        copy_view(other, self, stream, blocking)

    def copy_to(
        self,
        other: StridedMemoryView,
        stream: Any,
        allocator: Any = None,
        blocking: bool | None = None,
    ) -> None:
        """Copies the elements into a view of the same shape and element size.

        Host to device, device to host, within or between devices. Views without gaps in the same
        order of axes are one copy; others are copied in rows. ``blocking`` waits for the end: by
        default where host memory takes part.
        """
        from ._copy import copy_view

        copy_view(self, other, stream, blocking)

    async def async_copy_to(self, other: StridedMemoryView, *, stream: Any = None) -> None:
        """``await view.async_copy_to(other)``: ``copy_to``, and waits in asyncio or trio.

        Both views live until the copy is done, also when the waiting task is cancelled. Without a
        stream the default one of the GPU that takes part is used; between two views of the host
        the copy is made at once.
        """
        from ._copy import copy_view_awaited

        await copy_view_awaited(self, other, stream)

    async def async_copy_from(self, other: StridedMemoryView, *, stream: Any = None) -> None:
        """``await view.async_copy_from(other)``: as ``other.async_copy_to(view)``."""
        from ._copy import copy_view_awaited

        await copy_view_awaited(other, self, stream)

    def as_tensor_map(
        self, box_dim: Any = None, *, options: Any = None, **rest: Any
    ) -> TensorMapDescriptor:
        """A TMA descriptor of this memory: see TensorMapDescriptorOptions."""
        from ._tensor_map import TensorMapDescriptor

        return TensorMapDescriptor._from_tiled(self, box_dim, options=options, **rest)

    def __repr__(self) -> str:
        kind = self.dtype
        shown = type(kind).__name__ if kind is None else str(kind)
        return (
            f"StridedMemoryView(ptr={self.ptr}, shape={self.shape}, strides={self.strides}, "
            f"itemsize={self._layout.itemsize if self._dl_dtype[1] or self._layout_ else 0}, "
            f"dtype={shown}, device_id={self.device_id}, "
            f"is_device_accessible={self.is_device_accessible}, readonly={self.readonly}, "
            f"exporting_obj={type(self.exporting_obj).__name__})"
        )


class _StridedMemoryViewProxy:
    """An argument that may be viewed: ``argument.view(stream_ptr)``."""

    __slots__ = ("has_dlpack", "obj")

    def __init__(self, obj: Any) -> None:
        self.obj, self.has_dlpack = obj, hasattr(obj, "__dlpack__")
        if not self.has_dlpack and not hasattr(obj, "__cuda_array_interface__"):
            raise BufferError(f"{type(obj).__name__} does not support any data exchange protocol")

    def view(self, stream_ptr: int | None = None) -> StridedMemoryView:
        """The view, ordered by a stream."""
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)  # type: ignore[no-any-return]


def args_viewable_as_strided_memory(
    arg_indices: tuple[int, ...],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function whose positional arguments of these indices may be any array.

    Inside, ``argument.view(stream_ptr)`` is the StridedMemoryView of it.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = list(args)
            for index in arg_indices:
                given[index] = _StridedMemoryViewProxy(given[index])
            return function(*given, **kwargs)

        return call

    return decorate


def view_as_cai(obj: Any, stream_ptr: int | None, view: Any = None) -> StridedMemoryView:
    """``from_cuda_array_interface`` under the peer's name."""
    return StridedMemoryView.from_cuda_array_interface(obj, stream_ptr)


def view_as_array_interface(obj: Any, view: Any = None) -> StridedMemoryView:
    """``from_array_interface`` under the peer's name."""
    return StridedMemoryView.from_array_interface(obj)


def view_as_dlpack(obj: Any, stream_ptr: int | None, view: Any = None) -> StridedMemoryView:
    """``from_dlpack`` under the peer's name."""
    return StridedMemoryView.from_dlpack(obj, stream_ptr)  # type: ignore[no-any-return]

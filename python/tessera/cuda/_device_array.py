# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory as numba has them.

Shapes, strides and views are NumPy's: ``_elements`` is a NumPy array whose address is the device's. On the CPU device
it is the array itself; on a GPU it is never read, only indexed for where its elements lie.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import numpy

from .. import _core
from . import types
from ._memory import Memory, allocate
from ._typeof import as_dtype, from_dtype

__all__ = ["DeviceNDArray", "DeviceRecord", "ManagedNDArray", "MappedNDArray", "errmsg_contiguous_buffer", "sync"]

errmsg_contiguous_buffer = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. Please ensure "
    "contiguous buffer with numpy .ascontiguousarray()"
)


class _Place:
    """What NumPy makes an array of that lies at an address."""

    def __init__(self, shape: Any, strides: Any, dtype: Any, address: int) -> None:
        self.__array_interface__ = {
            "shape": shape, "strides": strides, "typestr": dtype.str, "descr": dtype.descr, "version": 3,
            "data": (address, False),
        }  # fmt: skip


def _at(address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """A NumPy array at an address; of dtypes that its interface cannot name (with holes), over its bytes."""
    plain = dtype if dtype.names is None and dtype.kind not in "V" else numpy.dtype(f"V{max(dtype.itemsize, 1)}")
    made = numpy.asarray(_Place(shape, strides, plain, address or 1))
    if plain is dtype:
        return made
    return numpy.lib.stride_tricks.as_strided(made, shape, strides).view(dtype) if shape else made.view(dtype)


@functools.cache
def _default_of_cpu() -> Any:
    from ..core import Device

    return Device("cpu").default_stream


def sync(stream: Any, on_host: bool) -> None:
    """Waits for what comes before a copy: the work of a stream; without one, that of all streams that the default
    stream comes after, which on a GPU the driver waits for."""
    if hasattr(stream, "synchronize"):
        stream.synchronize()
    elif stream:
        _core.synchronize(None)
    elif on_host:
        _default_of_cpu().sync()


def _wait_for_default() -> None:
    """What is written without a stream is there when the call returns."""
    from ._streams import default_stream

    default_stream().synchronize()


def _prepared_shape(shape: Any) -> tuple[int, ...]:
    if type(shape) is int:
        return (shape,)
    is_many = type(shape) is tuple or (isinstance(shape, (list, tuple, numpy.ndarray)) and numpy.ndim(shape))
    given = shape if is_many else (shape,)
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        raise TypeError(f"a shape is an int or a sequence of ints, not {shape!r}") from None


def row_major(shape: tuple[int, ...], itemsize: int, order: str = "C") -> tuple[int, ...]:
    """Strides in bytes without gaps; ``F``: the first axis is the fastest."""
    axes = range(len(shape) - 1, -1, -1) if order == "C" else range(len(shape))
    strides, step = [0] * len(shape), itemsize
    for axis in axes:
        strides[axis] = step
        step *= shape[axis]
    return tuple(strides)


@functools.cache
def _element_name(dtype: Any) -> str | None:
    """A dtype as arrays of Tessera name it; None: they have it not. NumPy makes the name anew each time."""
    return str(dtype.name).replace("bool", "bool_") if dtype.kind in "biufc" else None


class DeviceNDArrayBase:
    """An array in device memory; made by ``cuda.to_device`` and ``cuda.device_array``."""

    __slots__ = ("__dict__", "__weakref__", "_argument")  # a launch reads `_argument` without Python (ext/args.c)
    __cuda_memory__, __cuda_ndarray__ = True, True
    __array_priority__ = 100
    _is_mapped = _is_managed = False

    def __init__(
        self, shape: Any, strides: Any, dtype: Any, stream: Any = 0, gpu_data: Any = None, shared: bool = False
    ) -> None:
        shape = _prepared_shape(shape)
        strides = _prepared_shape(strides)
        dtype = numpy.dtype(dtype)
        if len(strides) != len(shape):
            raise ValueError("strides not match ndim")
        if gpu_data is None:
            extent = dtype.itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides))
            gpu_data = allocate(0 if 0 in shape else extent, shared)
        self._set(gpu_data, _at(gpu_data.address, shape, strides, dtype), stream)

    def _set(self, memory: Memory, elements: Any, stream: Any) -> None:
        self._memory, self._elements, self.stream = memory, elements, stream
        self._argument: Any = None

    def _with(self, elements: Any) -> Any:
        """Another view of the same memory."""
        made = object.__new__(type(self))
        made._set(self._memory, elements, self.stream)
        return made

    # ---- what it is

    shape = property(lambda self: self._elements.shape)
    strides = property(lambda self: self._elements.strides)
    dtype = property(lambda self: self._elements.dtype)
    ndim = property(lambda self: self._elements.ndim)
    size = property(lambda self: self._elements.size)
    nbytes = property(lambda self: self._elements.nbytes)
    itemsize = property(lambda self: self._elements.itemsize)
    alloc_size = property(lambda self: self._memory.size if self._memory.size else self.nbytes)
    base = None

    @property
    def flags(self) -> dict[str, bool]:
        """``C_CONTIGUOUS`` and ``F_CONTIGUOUS``."""
        flags = self._elements.flags
        return {"C_CONTIGUOUS": flags.c_contiguous, "F_CONTIGUOUS": flags.f_contiguous}

    def is_c_contiguous(self) -> bool:
        """Whether it is row-major without gaps."""
        return bool(self._elements.flags.c_contiguous)

    def is_f_contiguous(self) -> bool:
        """Whether its transpose is row-major without gaps."""
        return bool(self._elements.flags.f_contiguous)

    @property
    def _numba_type_(self) -> Any:
        layout = "C" if self.is_c_contiguous() else "F" if self.is_f_contiguous() else "A"
        if 0 in self.strides and self.size:
            layout = "A"
        return types.Array(from_dtype(self.dtype), self.ndim, layout)

    @property
    def device_ctypes_pointer(self) -> Any:
        import ctypes

        return ctypes.c_size_t(self._address if self.size else 0)

    @property
    def _address(self) -> int:
        return int(self._elements.__array_interface__["data"][0])

    @property
    def gpu_data(self) -> Memory:
        """The memory that the elements lie in, from the first byte to the last: of a slice part of the array's."""
        if not self.size:
            return self._memory
        low, high = (int(end) for end in numpy.lib.array_utils.byte_bounds(self._elements))
        start = low - self._memory.address
        return self._memory if high - low == self._memory.size else self._memory.view(start, start + high - low)

    @property
    def _offset(self) -> int:
        return self._address - self._memory.address if self.size else 0

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        stream = self.stream or 0
        if hasattr(stream, "__cuda_stream__"):  # ours, those of others, and a builder of a graph
            stream = stream.__cuda_stream__()[1]
        return {
            "shape": self.shape,
            "strides": None if self.is_c_contiguous() else self.strides,
            "data": (self._address if self.size else 0, False),
            "typestr": self.dtype.str,
            "stream": int(stream) if stream else None,
            "version": 3,
            **({"descr": self.dtype.descr} if self.dtype.names else {}),
        }

    @property
    def __tessera_argument__(self) -> Any:
        """What launches pass (ext/args.c)."""
        if self._argument is None:
            self._argument = self._array(as_argument=True)
        return self._argument

    def _array(self, as_argument: bool = False) -> Any:
        """The elements as a tessera Array; of dtypes that it has not, their bytes along one more axis."""
        name = _element_name(self.dtype)
        size = self.itemsize
        if name and all(s % size == 0 for s in self.strides):
            strides = tuple(s // size for s in self.strides)
            return self._memory.array._part(self._offset, name, self.shape, strides)
        if as_argument:
            from .._structs import Structured

            return Structured(self.dtype, self._memory.array._part(self._offset, "uint8", self.shape, self.strides))
        return self._memory.array._part(self._offset, "uint8", (*self.shape, size), (*self.strides, 1))

    @property
    def _on_host(self) -> bool:
        return str(self._memory.array.device) == "cpu"

    def bind(self, stream: Any = 0) -> Any:
        """The same array with another stream."""
        made = self._with(self._elements)
        made.stream = stream
        return made

    def __len__(self) -> int:
        return len(self._elements)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.dtype} {self.shape} on {self._memory.array.device}>"

    # ---- copies

    def _read(self, stream: Any = 0) -> Any:
        """A new NumPy array with the elements."""
        sync(stream or self.stream, self._on_host)
        if self._on_host:
            return self._elements.copy(order="F" if self.flags["F_CONTIGUOUS"] else "C")
        result = numpy.empty(self.shape, self.dtype, order="F" if self.is_f_contiguous() else "C")
        if self.size:
            _transfer(self, result, to_host=True)
        return result

    def _write(self, values: Any, stream: Any = 0) -> None:
        """Takes the elements of an array that broadcasts to the shape."""
        sync(stream or self.stream, self._on_host)
        if self._on_host:
            self._elements[...] = values
        elif self.size:
            whole = numpy.ascontiguousarray(numpy.broadcast_to(numpy.asarray(values), self.shape), self.dtype)
            _transfer(self, whole.reshape(self.shape), to_host=False)

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """The elements as a NumPy array, a new one or ``ary``.

        Parameters
        ----------
        ary : numpy.ndarray, optional
            Of the same shape.
        stream : Stream, optional
            The copy is made after its work.
        """
        if any(s < 0 for s in self.strides):
            forth = tuple(slice(None, None, -1 if s < 0 else 1) for s in self.strides)
            found = self._with(self._elements[forth])._read(stream)[forth]
            if ary is None:
                return numpy.ascontiguousarray(found)
            _check_shapes(self, ary)
            ary[...] = found
            return ary
        if ary is None:
            return self._read(stream)
        _check_shapes(self, ary)
        if isinstance(ary, numpy.void):
            found = self._read(stream)
            for name in found.dtype.names or ():
                ary[name] = found[name]
        elif self.size:
            ary[...] = self._read(stream)
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Takes the elements of a host or device array of the same shape."""
        if ary is self or (isinstance(ary, DeviceNDArrayBase) and ary.size == 0):
            return
        if is_cuda_array(ary):
            other = as_device_array(ary)
            if not _is_dense(self) or not _is_dense(other):
                raise ValueError(errmsg_contiguous_buffer)
            _check_shapes(self, other)
            if self.strides != other.strides:
                raise ValueError(f"incompatible strides: {self.strides} vs. {other.strides}")
            self._write(other._read(stream), stream)
            return
        host = numpy.asarray(ary)
        _check_shapes(self, host)
        if not _is_dense(self):
            raise ValueError(errmsg_contiguous_buffer)
        if 0 in self.strides and self.size:
            core = without_broadcast(self)
            self._with(self._elements[core])._write(host[core], stream)
        else:
            self._write(host, stream)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("`copy=False` is not supported: the elements are in device memory, and are copied")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def __array_function__(self, func: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        if func is numpy.transpose:
            return self.transpose(*args[1:], **kwargs)
        plain = [a.copy_to_host() if isinstance(a, DeviceNDArrayBase) else a for a in args]
        return func(*plain, **kwargs)

    def get_ipc_handle(self) -> Any:
        """What another process opens the array with."""
        from ._ipc import handle_of

        return handle_of(self)

    # ---- views

    T = property(lambda self: self.transpose())

    def transpose(self, axes: Any = None) -> Any:
        """The axes in another order: a view of an array of two dimensions (or of none to be exchanged)."""
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != set(range(self.ndim)):
            raise ValueError(f"invalid axes list {axes!r}")
        made = DeviceNDArray((self.shape[1], self.shape[0]), row_major((self.shape[1], self.shape[0]), self.itemsize),
                             self.dtype, self.stream)  # fmt: skip
        made._write(self._read().T)
        return made

    def reshape(self, *newshape: Any, order: Any = "C") -> Any:
        """The same elements with another shape; NotImplementedError where that needs a copy."""
        shape = newshape[0] if len(newshape) == 1 and isinstance(newshape[0], (tuple, list)) else newshape
        if self.size == 0 or not _needs_copy(self.shape, self.strides, self.itemsize, shape, order):
            return self._with(self._elements.reshape(shape, order=order))
        raise NotImplementedError("reshape would require copy: copy the array first")

    def ravel(self, order: str = "C", stream: Any = 0) -> Any:
        """All elements along one axis, without gaps; NotImplementedError where that needs a copy."""
        if self.ndim == 1 and self.size > 1 and self.strides[0] != self.itemsize:
            raise NotImplementedError("ravel would require copy: copy the array first")
        return self.reshape(-1, order=order)

    def squeeze(self, axis: Any = None, stream: Any = 0) -> Any:
        """Without axes of extent 1."""
        return self._with(self._elements.squeeze(axis))

    def view(self, dtype: Any) -> Any:
        """The same bytes as another dtype; ValueError where the last axis is not contiguous."""
        dtype = numpy.dtype(as_dtype(dtype) if isinstance(dtype, types.Type) else dtype)
        if dtype.itemsize > self.itemsize and self.shape and self.shape[-1] * self.itemsize % dtype.itemsize:
            raise ValueError(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last "
                "axis of the array."
            )
        return self._with(self._elements.view(dtype))

    def split(self, section: int, stream: Any = 0) -> Iterator[Any]:
        """Pieces of ``section`` elements of an array of one dimension."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        if self.strides[0] != self.itemsize:
            raise ValueError("only support unit stride")
        for begin in range(0, self.size, section):
            yield self._with(self._elements[begin : begin + section])

    def as_cuda_arg(self) -> Any:
        """The array itself."""
        return self


def _needs_copy(shape: Any, strides: Any, itemsize: int, new: Any, order: str) -> bool:
    """Asks NumPy: an array of the same strides over memory of its own is given the new shape."""
    extent = itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides) if n)
    if extent > 1 << 20:  # too much to model: the answer for dense arrays is known
        model = numpy.lib.stride_tricks.as_strided(numpy.empty(1, f"V{itemsize}"), shape, strides, writeable=False)
        dense = model.flags.c_contiguous if order == "C" else model.flags.f_contiguous
        return not dense
    memory = numpy.empty(extent, "u1")
    start = sum((n - 1) * -s for n, s in zip(shape, strides) if s < 0 and n)
    model = numpy.ndarray(shape, f"V{itemsize}", memory, start, strides)
    return not numpy.shares_memory(model.reshape(new, order=order), memory)  # type: ignore[call-overload]


class DeviceNDArray(DeviceNDArrayBase):
    """An array in device memory, with NumPy's basic indexing: slices are views, elements are fetched."""

    def __getitem__(self, item: Any) -> Any:
        return self._get(item, self.stream)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        """``self[item]`` after the work of a stream."""
        return self._get(item, stream)

    def _get(self, item: Any, stream: Any) -> Any:
        if isinstance(item, str):
            return self._with(self._elements[item])
        found = self._index(item)
        if found.ndim == 0 and not _has_ellipsis(item):
            if found.dtype.names is not None:
                return DeviceRecord(found.dtype, stream, self._memory, found)
            return self._with(found)._read(stream)[()]
        return self._with(found)

    def _index(self, item: Any) -> Any:
        """The elements of a basic index, as a view."""
        items = item if isinstance(item, tuple) else (item,)
        for part in items:
            if isinstance(part, (list, numpy.ndarray)) and numpy.ndim(part):
                raise NotImplementedError("device arrays are indexed by ints and slices, not by arrays")
        if len([p for p in items if p is not Ellipsis and p is not None]) > self.ndim:
            raise IndexError(f"{len(items)} indices for an array of {self.ndim} dimensions")
        whole = items if any(p is Ellipsis for p in items) else (*items, Ellipsis)
        return self._elements[whole]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._put(key, value, self.stream)

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        """``self[key] = value`` after the work of a stream."""
        self._put(key, value, stream)

    def _put(self, key: Any, value: Any, stream: Any) -> None:
        from ._assign import assign, can_assign

        to = self._with(self._elements[key] if isinstance(key, str) else self._index(key))
        given = as_device_array(value) if is_cuda_array(value) else numpy.asarray(value)
        if given.ndim > to.ndim and any(n != 1 for n in given.shape[: given.ndim - to.ndim]):
            raise ValueError(f"Can't assign {given.ndim}-D array to {to.ndim}-D self")
        if given.ndim > to.ndim:
            given = _first_of(given, given.ndim - to.ndim)
        for axis, (wanted, found) in enumerate(zip(reversed(to.shape), reversed(given.shape))):
            if found not in (1, wanted):
                raise ValueError(
                    f"Can't copy sequence with size {found} to array axis {to.ndim - 1 - axis} with dimension {wanted}"
                )
        if not to.size:
            return
        if can_assign(to, given, stream):
            assign(to, given, stream)
        else:
            to._write(given if isinstance(given, numpy.ndarray) else given._read(), stream)
        if not stream:
            _wait_for_default()

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def is_contiguous(self) -> bool:
        """Whether it is row-major without gaps."""
        return self.is_c_contiguous()


class DeviceRecord(DeviceNDArrayBase):
    """One record in device memory: ``r["field"]`` fetches, ``r["field"] = v`` stores."""

    def __init__(
        self, dtype: Any, stream: Any = 0, gpu_data: Any = None, elements: Any = None, shared: bool = False
    ) -> None:
        if elements is None:
            super().__init__((), (), dtype, stream, gpu_data, shared)
        else:
            self._set(gpu_data, elements, stream)

    def _with(self, elements: Any) -> Any:
        made = object.__new__(DeviceNDArray)
        made._set(self._memory, elements, self.stream)
        return made

    @property
    def _numba_type_(self) -> Any:
        return from_dtype(self.dtype)

    def __getitem__(self, name: str) -> Any:
        return self.getitem(name, self.stream)

    def getitem(self, name: str, stream: Any = 0) -> Any:
        """A field after the work of a stream."""
        found = self._elements[name]
        if found.dtype.names is not None and found.ndim == 0:
            return DeviceRecord(found.dtype, stream, self._memory, found)
        made = self._with(found)
        return made._read(stream)[()] if found.ndim == 0 else made

    def __setitem__(self, name: str, value: Any) -> None:
        self.setitem(name, value, self.stream)

    def setitem(self, name: str, value: Any, stream: Any = 0) -> None:
        """Stores a field after the work of a stream."""
        self._with(self._elements[name])._write(value, stream)


class MappedNDArray(DeviceNDArray):
    """An array of host memory that the device uses, too."""

    _is_mapped = True


class ManagedNDArray(DeviceNDArray):
    """An array whose memory moves between host and device by itself."""

    _is_managed = True


def _first_of(array: Any, axes: int) -> Any:
    """The first element along so many axes, as a view."""
    index = (*(0 for _ in range(axes)), Ellipsis)
    return array[index] if isinstance(array, numpy.ndarray) else array._with(array._elements[index])


def _has_ellipsis(item: Any) -> bool:
    return item is Ellipsis or (isinstance(item, tuple) and any(part is Ellipsis for part in item))


def without_broadcast(array: Any) -> tuple[Any, ...]:
    """The index of one element along each axis that is broadcast, and of all along others."""
    return (*(0 if s == 0 and n > 1 else slice(None) for s, n in zip(array.strides, array.shape)), Ellipsis)


def _is_dense(array: Any) -> bool:
    """Contiguous in memory but for axes that are broadcast."""
    core = array._elements[without_broadcast(array)]
    return bool(core.flags.c_contiguous or core.flags.f_contiguous)


def _check_shapes(one: Any, other: Any) -> None:
    if one.shape != other.shape:
        raise ValueError(f"incompatible shape: {one.shape} vs. {other.shape}")


def _transfer(array: Any, host: Any, to_host: bool) -> None:
    """Between the elements of a GPU and a host array of the same shape and dtype, both in any layout."""
    device = array._array()
    if device.ndim > array.ndim:  # bytes
        strides = (*host.strides, 1)
        host = numpy.ndarray((*host.shape, host.itemsize), "u1", host.view(numpy.ndarray), 0, strides)
    elif host.dtype.kind not in "biufc":
        host = host.view("u1")
    device._to_host(host) if to_host else device._from_host(host)


# ---- arrays of others ------------------------------------------------------------------------------


def is_cuda_array(obj: Any) -> bool:
    """Whether an object describes itself as an array of device memory."""
    return hasattr(obj, "__cuda_array_interface__")


def _dtype_of(desc: dict[str, Any], owner: Any) -> numpy.dtype[Any]:
    """The dtype of a description; of records the owner's own, which knows fields from bytes between them."""
    dtype = numpy.dtype(desc["typestr"])
    if dtype.kind != "V":
        return dtype
    own = getattr(owner, "dtype", None)
    if isinstance(own, numpy.dtype) and own.itemsize == dtype.itemsize:
        return own
    return numpy.dtype(desc["descr"]) if desc.get("descr") else dtype


def of_interface(desc: dict[str, Any], owner: Any = None, sync_: bool = True) -> DeviceNDArray:
    """An array over the memory that ``__cuda_array_interface__`` describes; ``owner`` is kept."""
    from . import config
    from ._memory import of_address
    from ._streams import external_stream

    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    dtype, shape = _dtype_of(desc, owner), tuple(desc["shape"])
    strides = desc.get("strides")
    strides = row_major(shape, dtype.itemsize) if strides is None else tuple(strides)
    low = sum((n - 1) * s for n, s in zip(shape, strides) if s < 0)
    span = 0 if 0 in shape else dtype.itemsize + sum((n - 1) * abs(s) for n, s in zip(shape, strides))
    address, handle = int(desc["data"][0]), desc.get("stream")
    stream: Any = external_stream(handle) if handle is not None else 0
    if handle is not None and sync_ and config.CUDA_ARRAY_INTERFACE_SYNC:
        stream.synchronize()
    made = object.__new__(DeviceNDArray)
    elements = _at(address, shape, strides, dtype)
    made._set(of_address(address + low, span, owner), elements, stream)
    return made


def as_device_array(obj: Any, sync_: bool = True) -> Any:
    """An object of device memory as a DeviceNDArray, without a copy; TypeError for others."""
    if isinstance(obj, DeviceNDArrayBase):
        return obj
    if not is_cuda_array(obj):
        raise TypeError(
            f"*obj* doesn't implement the cuda array interface: a {type(obj).__name__} is copied by cuda.to_device()"
        )
    return of_interface(obj.__cuda_array_interface__, obj, sync_)

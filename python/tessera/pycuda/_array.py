# SPDX-License-Identifier: Apache-2.0
"""GPUArray and the functions that make one; ``gpuarray`` shows them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _array_kernels as kernels
from . import _operators as operators
from . import driver as drv
from ._call import LogicError, cu
from ._context import stream_handle
from ._memory import contiguous_strides, host_span

__all__ = [
    "GPUArray", "apply", "arange", "common_form", "empty", "empty_like", "from_dlpack", "ones",
    "ones_like", "splay", "to_gpu", "to_gpu_async", "zeros", "zeros_like",
]  # fmt: skip


def splay(n: int, dev: Any = None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """(grid, block) for n elements."""
    del dev
    from ._generate import BLOCK, grid_of

    return (grid_of(n), 1), (BLOCK, 1, 1)


def _dims(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    try:
        return tuple(operator.index(n) for n in shape)
    except TypeError:
        return (operator.index(shape),)


def _is_async(method: str, async_: bool, old: dict[str, Any]) -> bool:
    """`async_`, or by its old name, which Python has made a keyword."""
    if set(old) - {"async"}:
        raise TypeError(f"{method}() has no argument named {', '.join(sorted(old))}")
    return bool(old.get("async", async_))


class _Flags:
    """How an array lies in memory."""

    def __init__(self, array: GPUArray) -> None:
        size, shape, strides = array.dtype.itemsize, array.shape, array.strides
        self.c_contiguous = _is_contiguous(shape, strides, size, reversed(range(len(shape))))
        self.f_contiguous = _is_contiguous(shape, strides, size, range(len(shape)))
        order = sorted(range(len(shape)), key=lambda axis: (strides[axis], shape[axis]))
        # One piece of memory without holes, in any order of the axes.
        self.forc = (
            self.c_contiguous or self.f_contiguous or _is_contiguous(shape, strides, size, order)
        )

    contiguous = property(lambda self: self.c_contiguous)


def _is_contiguous(shape: Any, strides: Any, itemsize: int, axes: Any) -> bool:
    if 0 in shape:
        return True
    step = itemsize
    for axis in axes:
        if shape[axis] != 1:
            if strides[axis] != step:
                return False
            step *= shape[axis]
    return True


class GPUArray:
    """An array of `shape` and `dtype` in memory of `allocator`, or in `gpudata`.

    Slices, ``reshape``, ``view``, ``real`` and the like share its memory.
    """

    __array_ufunc__ = None  # numpy leaves numpy.float32(2) * array to the array

    def __init__(
        self, shape: Any, dtype: Any, allocator: Callable[[int], Any] | None = None,
        base: Any = None, gpudata: Any = None, strides: Any = None, order: str = "C",
    ) -> None:  # fmt: skip
        self.shape, self.dtype = _dims(shape), np.dtype(dtype)
        if order not in ("C", "F"):
            raise ValueError(f"order must be 'C' or 'F', not {order!r}")
        if any(n < 0 for n in self.shape):
            raise ValueError(f"shape {self.shape} has a negative number")
        self.strides = (
            contiguous_strides(self.shape, self.dtype.itemsize, order)
            if strides is None
            else tuple(strides)
        )
        self.size = self.mem_size = math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        self.allocator = allocator or drv.mem_alloc
        self.base = base
        if gpudata is None:
            if base is not None:
                raise LogicError("an array with a base needs gpudata")
            gpudata = self.allocator(self.nbytes) if self.nbytes else 0
        self.gpudata = gpudata
        self._flags: _Flags | None = None

    # ---- what it is

    @property
    def flags(self) -> _Flags:
        """``c_contiguous``, ``f_contiguous``, and ``forc`` for memory without holes."""
        if self._flags is None:
            self._flags = _Flags(self)
        return self._flags

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def ptr(self) -> int:
        """The address."""
        return int(self.gpudata)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "strides": self.strides, "data": (int(self.gpudata), False),
            "typestr": self.dtype.str, "stream": None, "version": 3,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, int(drv.Context.get_device())

    def __dlpack__(self, **how: Any) -> Any:
        from ._dlpack import to_capsule

        return to_capsule(self, **how)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of shape () has no length")
        return self.shape[0]

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("only an array of one element has a truth value; use any() or all()")
        return bool(self.get().reshape(()))

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def _scalar(self) -> Any:
        if self.size != 1:
            raise TypeError("only an array of one element becomes a Python number")
        return self.get().reshape(())[()]

    __hash__ = None  # type: ignore[assignment]

    # ---- to and from the host

    def _check_like(self, ary: Any) -> None:
        if not hasattr(ary, "dtype"):
            raise TypeError(f"an array of numpy is needed, not a {type(ary).__name__}")
        if ary.shape != self.shape or ary.dtype != self.dtype:
            raise ValueError(
                f"an array of {ary.dtype}{ary.shape} does not fit one of {self.dtype}{self.shape}"
            )

    def set(self, ary: Any, async_: bool = False, stream: Any = None, **old: Any) -> None:
        """Copies an array of the host into this one."""
        async_ = _is_async("set", async_, old)
        self._check_like(ary)
        if not self.flags.forc:
            staged = to_gpu_async(ary, stream=stream) if async_ else to_gpu(ary)
            self._assign(staged, stream)
            return
        if ary.strides != self.strides:
            kept = np.ndarray(self.shape, self.dtype, np.empty(self.nbytes, np.uint8), 0, self.strides)
            kept[...] = ary
            ary = kept
        if not self.size:
            return
        address, size = host_span(ary)
        if async_:
            cu.cuMemcpyHtoDAsync(int(self.gpudata), address, size, stream_handle(stream))
        else:
            cu.cuMemcpyHtoD(int(self.gpudata), address, size)

    def set_async(self, ary: Any, stream: Any = None) -> None:
        """``set`` in a stream; the array should be page-locked and must stay as it is."""
        self.set(ary, async_=True, stream=stream)

    def get(
        self, ary: Any = None, pagelocked: bool = False, async_: bool = False, stream: Any = None,
        **old: Any,
    ) -> np.ndarray[Any, Any]:  # fmt: skip
        """A copy on the host, in `ary` where that is given."""
        async_ = _is_async("get", async_, old)
        source = self if self.flags.forc else self.copy(stream=stream)
        if ary is not None:
            self._check_like(ary)
        result = ary
        if ary is None or ary.strides != source.strides:
            result = source._host_room(pagelocked)
        if self.size:
            address, size = host_span(result, writable=True)
            handle = stream_handle(stream)
            if async_:
                cu.cuMemcpyDtoHAsync(address, int(source.gpudata), size, handle)
            else:
                cu.cuMemcpyDtoH(address, int(source.gpudata), size)
        if ary is not None and result is not ary:
            if async_:
                cu.cuStreamSynchronize(stream_handle(stream))
            ary[...] = result
            return ary  # type: ignore[no-any-return]
        return result  # type: ignore[no-any-return]

    def _host_room(self, pagelocked: bool) -> np.ndarray[Any, Any]:
        make = drv.pagelocked_empty if pagelocked else np.empty
        if self.flags.c_contiguous:
            return make(self.shape, self.dtype)  # type: ignore[no-any-return]
        return np.ndarray(self.shape, self.dtype, make(self.nbytes, np.uint8), 0, self.strides)

    def get_async(self, stream: Any = None, ary: Any = None) -> np.ndarray[Any, Any]:
        """``get`` in a stream, to page-locked memory."""
        return self.get(ary, pagelocked=ary is None, async_=True, stream=stream)

    # ---- copies

    def _new(self, dtype: Any = None, shape: Any = None, order: str = "K") -> GPUArray:
        """A new array of this one's form."""
        if shape is not None:
            return GPUArray(shape, dtype or self.dtype, self.allocator)
        return empty_like(self, dtype, order)

    def _assign(self, value: Any, stream: Any = None) -> None:
        is_vector = isinstance(value, GPUArray)
        value = _apart(value, self) if is_vector else value
        dtype = value.dtype if is_vector else self.dtype
        kernel = operators.assign_kernel(self.dtype, dtype, is_vector)
        if self.size:
            kernel(self, value, stream=stream, shape=self.shape)

    def copy(self, order: str = "K", stream: Any = None) -> GPUArray:
        """A new array with the same elements."""
        made = self._new(order=order)
        if made.strides == self.strides and self.flags.forc and self.size:
            handle = stream_handle(stream)
            cu.cuMemcpyDtoDAsync(int(made.gpudata), int(self.gpudata), self.nbytes, handle)
        else:
            made._assign(self, stream)
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> GPUArray:
        return self.copy()

    def astype(self, dtype: Any, stream: Any = None) -> GPUArray:
        """A new array with the elements as another dtype."""
        if np.dtype(dtype) == self.dtype:
            return self.copy(stream=stream)
        made = self._new(dtype)
        made._assign(self, stream)
        return made

    def fill(self, value: Any, stream: Any = None) -> GPUArray:
        """Sets every element."""
        bits = self.dtype.type(value).tobytes() if self.dtype.kind in "biufc" else b"?"
        if self.flags.forc and self.size and not bits.strip(b"\0"):
            cu.cuMemsetD8Async(int(self.gpudata), 0, self.nbytes, stream_handle(stream))
        else:
            self._assign(value, stream)
        return self

    # ---- views

    def _view(self, shape: Any, strides: Any, dtype: Any = None, offset: int = 0) -> GPUArray:
        data = int(self.gpudata) + offset if self.gpudata is not None else 0
        base = self if self.base is None else self.base
        return GPUArray(shape, dtype or self.dtype, self.allocator, base, data, strides)

    def _like_numpy(self) -> np.ndarray[Any, Any]:
        """An array of the host of this shape and strides at address 0: numpy finds what views are.
        Nothing of it is read."""
        return np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)

    def _from_numpy(self, like: Any, start: int) -> GPUArray:
        offset = like.__array_interface__["data"][0] - start
        return self._view(like.shape, like.strides, like.dtype, offset)

    def _by_numpy(self, change: Callable[[Any], Any]) -> GPUArray:
        """The view that numpy would make."""
        like = self._like_numpy()
        return self._from_numpy(change(like), like.__array_interface__["data"][0])

    def __getitem__(self, index: Any) -> GPUArray:
        words = index if isinstance(index, tuple) else (index,)
        for word in words:
            if not (word is None or word is Ellipsis or isinstance(word, (slice, int, np.integer))):
                raise TypeError(
                    f"an array is indexed by numbers, slices, newaxis and ..., not by {word!r}; take() "
                    "gathers"
                )
        if Ellipsis not in words:
            words = (*words, Ellipsis)  # keeps numpy from reading the element
        return self._by_numpy(lambda like: like[words])

    def __setitem__(self, index: Any, value: Any) -> None:
        part = self[index]
        if isinstance(value, np.ndarray) and value.shape:
            value = to_gpu(value)
        if isinstance(value, GPUArray):
            np.broadcast_shapes(value.shape, part.shape)
        part._assign(value)

    def reshape(self, *shape: Any, order: str = "C") -> GPUArray:
        """The same elements, in order, as another shape; a view where that is possible."""
        dims = _dims(shape[0] if len(shape) == 1 else shape)
        if dims.count(-1) > 1:
            raise ValueError("only one length of a new shape may be -1")
        if -1 in dims:
            rest = -math.prod(dims)
            dims = tuple(self.size // rest if n == -1 and rest else n for n in dims)
        if math.prod(dims) != self.size:
            raise ValueError(f"{self.size} elements have no shape {dims}")
        is_ordered = self.flags.c_contiguous if order == "C" else self.flags.f_contiguous
        if is_ordered:
            return self._view(dims, contiguous_strides(dims, self.dtype.itemsize, order))
        ordered = self.copy(order=order)
        return ordered.reshape(dims, order=order)

    def ravel(self) -> GPUArray:
        """All elements in one axis."""
        return self.reshape(self.size)

    def view(self, dtype: Any = None) -> GPUArray:
        """The same memory as another dtype; the last axis changes its length."""
        dtype = self.dtype if dtype is None else np.dtype(dtype)
        if dtype.itemsize == self.dtype.itemsize:
            return self._view(self.shape, self.strides, dtype)
        return self._by_numpy(lambda like: like.view(dtype))

    def squeeze(self) -> GPUArray:
        """Without the axes of length 1."""
        kept = [axis for axis, n in enumerate(self.shape) if n != 1]
        return self._view([self.shape[a] for a in kept], [self.strides[a] for a in kept])

    def transpose(self, axes: Any = None) -> GPUArray:
        """The axes in another order, reversed by default."""
        return self._by_numpy(lambda like: like.transpose(axes))

    @property
    def T(self) -> GPUArray:
        """The axes reversed."""
        return self.transpose()

    @property
    def real(self) -> GPUArray:
        """The real parts: a new array, or the array itself where it is real."""
        return self._part("real")

    @property
    def imag(self) -> GPUArray:
        """The imaginary parts: a new array, zeros of real numbers."""
        return self._part("imag") if self.dtype.kind == "c" else zeros_like(self)

    def _part(self, name: str) -> GPUArray:
        if self.dtype.kind != "c":
            return self
        half = np.dtype(f"f{self.dtype.itemsize // 2}")
        kernel = kernels.part(self.dtype, half, name)
        made = self._new(half)
        if self.size:
            kernel(made, self, shape=self.shape)
        return made

    def reverse(self, stream: Any = None) -> GPUArray:
        """A new array with the elements of one axis in the opposite order."""
        if self.ndim != 1:
            raise ValueError("reverse() is for arrays of one axis")
        return self[::-1].copy(order="C", stream=stream)

    # ---- operations

    def _binary(self, name: str, other: Any, swapped: bool = False, out: Any = None) -> Any:
        other = _operand(other)
        if other is None:
            return NotImplemented
        values = (other, self) if swapped else (self, other)
        return apply(name, values, out)

    def conj(self, out: GPUArray | None = None) -> GPUArray:
        """The conjugate."""
        return apply("conj", (self,), out, keeps_form=True)

    conjugate = conj

    def mul_add(
        self, selffac: Any, other: Any, otherfac: Any, add_timer: Any = None, stream: Any = None,
        out: GPUArray | None = None,
    ) -> GPUArray:  # fmt: skip
        """selffac * self + otherfac * other, in one kernel."""
        del add_timer
        dtype = operators.result_dtype(np.add, self, other)
        made = out if out is not None else self._new(dtype, np.broadcast_shapes(self.shape, other.shape))
        kernel = kernels.axpby(made.dtype, self.dtype, other.dtype)
        kernel(made, selffac, self, otherfac, other, stream=stream, shape=made.shape)
        return made

    def any(self, stream: Any = None, allocator: Any = None) -> GPUArray:
        """Whether an element is not zero, as an array of shape ()."""
        from ._functions import any

        return any(self, stream, allocator)

    def all(self, stream: Any = None, allocator: Any = None) -> GPUArray:
        """Whether no element is zero, as an array of shape ()."""
        from ._functions import all

        return all(self, stream, allocator)

    # ---- textures

    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> int:
        """Binds the memory; the format must have been set."""
        return texref.set_address(self.gpudata, self.nbytes, allow_offset)  # type: ignore[no-any-return]

    def bind_to_texref_ext(
        self, texref: Any, channels: int = 1, allow_double_hack: bool = False,
        allow_complex_hack: bool = False, allow_offset: bool = False,
    ) -> int:  # fmt: skip
        """Binds the memory and sets the format of the dtype; wide ones by fp_tex1Dfetch."""
        from ._texture import _format_of

        if self.dtype.itemsize > 4 and not (allow_double_hack or allow_complex_hack):
            raise ValueError(f"{self.dtype} needs allow_double_hack=True")
        format_, words = _format_of(self.dtype)
        texref.set_format(format_, channels * words)
        return self.bind_to_texref(texref, allow_offset)


def _apart(source: GPUArray, target: GPUArray) -> GPUArray:
    """The source, copied where writing the target would change elements that are still to be read."""
    if source.ptr == target.ptr and source.strides == target.strides:
        return source
    (a, b), (c, d) = (_span(array) for array in (source, target))
    return source.copy() if a < d and c < b else source


def _span(array: GPUArray) -> tuple[int, int]:
    """The addresses from the first byte to the last."""
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True) if n]
    low = sum(s for s in steps if s < 0)
    high = sum(s for s in steps if s > 0) + array.itemsize
    return (array.ptr + low, array.ptr + high) if array.size else (0, 0)


def _operand(value: Any) -> Any:
    """An array or scalar that an operation takes, or None."""
    if isinstance(value, GPUArray) or np.isscalar(value):
        return value
    if isinstance(value, np.ndarray) and value.shape == ():
        return value[()]
    return None


def common_form(values: Sequence[Any]) -> tuple[tuple[int, ...], str]:
    """(shape, order) of a result: of F arrays F, else C."""
    arrays = [v for v in values if isinstance(v, GPUArray)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    full = [a for a in arrays if a.shape == shape]
    is_f = full and all(a.flags.f_contiguous for a in full)
    return shape, "F" if is_f and not all(a.flags.c_contiguous for a in full) else "C"


def apply(
    name: str, values: tuple[Any, ...], out: Any = None, stream: Any = None,
    keeps_form: bool = False, allocator: Any = None,
) -> Any:  # fmt: skip
    """Runs an operation of the table into a new array or `out`."""
    array = next(v for v in values if isinstance(v, GPUArray))
    row = operators.UNARY.get(name) or operators.BINARY.get(name) or operators.COMPARE[name]
    dtype = operators.result_dtype(row[0], *values)
    if out is None and (keeps_form or len(values) == 1):
        out = array._new(dtype)
    elif out is None:
        shape, order = common_form(values)
        out = GPUArray(shape, dtype, allocator or array.allocator, order=order)
    elif out.shape != common_form(values)[0]:
        raise ValueError(f"the result has shape {common_form(values)[0]}, not {out.shape}")
    elif not np.can_cast(dtype, out.dtype, "same_kind"):
        raise TypeError(f"{name}: a result of {dtype} cannot be put into an array of {out.dtype}")
    values = tuple(_apart(v, out) if isinstance(v, GPUArray) else v for v in values)
    return operators.apply(name, values, out, stream) if out.size else out


def _add_operators() -> None:
    """The special methods of GPUArray, from the tables of operations."""

    def method(name: str, form: str) -> Callable[..., Any]:
        if form == "unary":
            return lambda self: apply(name, (self,), keeps_form=True)
        if form == "in place":
            return lambda self, other: self._binary(name, other, out=self)
        if form == "swapped":
            return lambda self, other: self._binary(name, other, swapped=True)
        return lambda self, other: self._binary(name, other)

    made = {f"__{n}__": method(n, "unary") for n in ("neg", "pos", "abs", "invert")}
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor",
                 "lshift", "rshift"):  # fmt: skip
        made[f"__{name}__"] = method(name, "")
        made[f"__r{name}__"] = method(name, "swapped")
        made[f"__i{name}__"] = method(name, "in place")
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        made[f"__{name}__"] = method(name, "")
    for word, function in made.items():
        function.__name__ = function.__qualname__ = word
        setattr(GPUArray, word, function)


_add_operators()


# ---- making arrays -------------------------------------------------------------------------------


def to_gpu(ary: Any, allocator: Any = None) -> GPUArray:
    """A copy of an array on the device, with the same order of axes in memory."""
    return _to_gpu(ary, allocator, None, is_async=False)


def to_gpu_async(ary: Any, allocator: Any = None, stream: Any = None) -> GPUArray:
    """``to_gpu`` in a stream; the array should be page-locked and must stay as it is."""
    return _to_gpu(ary, allocator, stream, is_async=True)


def _to_gpu(ary: Any, allocator: Any, stream: Any, is_async: bool) -> GPUArray:
    ary = np.asarray(ary)
    made = GPUArray(ary.shape, ary.dtype, allocator, strides=ary.strides)
    if not made.flags.forc:
        ary = np.copy(ary, order="K")
        made = GPUArray(ary.shape, ary.dtype, allocator, strides=ary.strides)
    made.set(ary, async_=is_async, stream=stream)
    return made


def empty(shape: Any, dtype: Any, allocator: Any = None, order: str = "C") -> GPUArray:
    """An array whose elements are whatever was there."""
    return GPUArray(shape, dtype, allocator, order=order)


def zeros(shape: Any, dtype: Any = np.float64, allocator: Any = None, order: str = "C") -> GPUArray:
    """An array of zeros."""
    return _cleared(GPUArray(shape, dtype, allocator, order=order))


def _cleared(array: GPUArray) -> GPUArray:
    if array.nbytes:
        cu.cuMemsetD8(int(array.gpudata), 0, array.nbytes)
    return array


def ones(shape: Any, dtype: Any = np.float64, allocator: Any = None, order: str = "C") -> GPUArray:
    """An array of ones."""
    return GPUArray(shape, dtype, allocator, order=order).fill(1)


def empty_like(other_ary: Any, dtype: Any = None, order: str = "K") -> GPUArray:
    """An array of the form of another; order "K" and "A" keep the order of its axes in memory."""
    dtype = np.dtype(other_ary.dtype if dtype is None else dtype)
    flags, strides = other_ary.flags, None
    is_array = isinstance(other_ary, GPUArray)
    if order in ("K", "A"):
        if order == "K" and is_array and flags.forc:
            size = other_ary.dtype.itemsize
            strides = [s // size * dtype.itemsize for s in other_ary.strides]
        order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    allocator = other_ary.allocator if is_array else None
    return GPUArray(other_ary.shape, dtype, allocator, strides=strides, order=order)


def zeros_like(other_ary: Any, dtype: Any = None, order: str = "K") -> GPUArray:
    """``empty_like`` with zeros."""
    return _cleared(empty_like(other_ary, dtype, order))


def ones_like(other_ary: Any, dtype: Any = None, order: str = "K") -> GPUArray:
    """``empty_like`` with ones."""
    return empty_like(other_ary, dtype, order).fill(1)


def arange(*args: Any, dtype: Any = None, stream: Any = None) -> GPUArray:
    """``arange([start,] stop[, step], dtype=...)``; evenly spaced values."""
    if not 1 <= len(args) <= 4:
        raise TypeError(f"arange takes 1 to 4 values, not {len(args)}")
    *args, dtype = args if len(args) == 4 else (*args, dtype)  # type: ignore[assignment]
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    dtype = np.dtype(dtype) if dtype is not None else np.result_type(*map(np.asarray, args))
    if np.isscalar(step) and step == 0:
        raise ValueError("the step of arange must not be 0")
    size = max(0, math.ceil((stop - start) / step))
    made = GPUArray((size,), dtype)
    if size:
        kernels.arange(dtype)(made, start, step, stream=stream)
    return made


def from_dlpack(obj: Any) -> GPUArray:
    """An array that shares the memory of an object with ``__dlpack__``."""
    from ._dlpack import from_object

    return from_object(obj)

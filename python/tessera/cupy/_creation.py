# SPDX-License-Identifier: Apache-2.0
"""CuPy's functions that NumPy has not, or that take other things than NumPy's."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy

from .. import numeric as tn
from ..numeric._foreign import of_shown
from ._boundary import Base, give, held_dtype, placed, take, wrapped
from ._ndarray import ndarray

__all__ = [
    "argmax", "argmin",
    "array",
    "asanyarray",
    "asarray",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "astype",
    "byte_bounds",
    "choose",
    "clear_memo",
    "copy",
    "copyto",
    "einsum",
    "fromDlpack",
    "from_dlpack",
    "fuse",
    "get_array_module",
    "imag",
    "is_available",
    "make_aligned_dtype",
    "memoize", "min_scalar_type",
    "ndim",
    "real",
    "result_type",
    "shape",
    "show_config",
    "size",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is a GPU. Without one arrays lie on the CPU, and everything but CUDA C works."""
    from .. import device_count

    return device_count("cuda") > 0


def _plain(x: Any) -> Any:
    """Arrays of CuPy's and of GPUs' memory, in lists too, as those of tessera.numeric; lists of them become one."""
    if isinstance(x, ndarray):
        return x._as(Base)
    if isinstance(x, (list, tuple)) and any(isinstance(y, (Base, list, tuple)) or _is_shown(y) for y in x):
        items = [_plain(_foreign(y)) for y in x]
        if any(isinstance(y, Base) for y in items):
            return tn.stack([tn.asarray(y) for y in items])
    return x


def _is_shown(x: Any) -> bool:
    shows = hasattr(x, "__cuda_array_interface__") or hasattr(x, "__cupy_get_ndarray__")
    return shows and not isinstance(x, (Base, numpy.ndarray))


def _foreign(x: Any) -> Any:
    """An object that shows memory of a GPU, as an array over it."""
    if not _is_shown(x):
        return x
    if hasattr(x, "__cupy_get_ndarray__"):
        return x.__cupy_get_ndarray__()
    held_dtype(x.__cuda_array_interface__["typestr"])
    return of_shown(x)


def array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """A new array on the current device, of anything like an array: a list, NumPy's array, lists of arrays."""
    if isinstance(obj, numpy.ndarray) and obj.dtype.hasobject:
        held_dtype(obj.dtype)
    options: dict[str, Any] = {
        "copy": copy,
        "order": "K" if order is None else order,
        "ndmin": ndmin,
    }
    obj = given = _foreign(obj)
    if isinstance(given, (list, tuple)) and options["order"] in ("K", "A"):
        options["order"] = "C"

    def made() -> Any:
        plain = _plain(given)
        if isinstance(
            plain, numpy.ndarray
        ):  # memory of the host is never shared: on a GPU it cannot be
            return tn.array(plain, dtype, copy=True, order=options["order"], ndmin=ndmin)
        return tn.array(plain, dtype, **options)

    result = placed(made)
    if dtype is None and isinstance(result, Base) and not result.dtype.isnative:
        result = result.astype(result.dtype.newbyteorder("="))
    if isinstance(obj, ndarray) and not copy and _is_same(result, obj):
        return obj
    return give(result, [(given, given)])  # type: ignore[no-any-return]


def _is_same(a: Any, b: ndarray) -> bool:
    return bool(
        a.dtype == b.dtype
        and a.shape == b.shape
        and a.strides == b.strides
        and a._address() == b._address()
    )


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False, copy: Any = None
) -> ndarray:
    """``a`` as an array: itself where it is one, else a copy on the current device."""
    if type(a) is ndarray and dtype is None and order in (None, "K") and not copy:
        return a
    if not isinstance(a, Base) and not _is_shown(a):
        return array(a, dtype, True, order)
    return array(a, dtype, copy, order)


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, blocking: bool = False) -> ndarray:
    """As :func:`asarray`."""
    return (
        a
        if isinstance(a, ndarray) and dtype is None and order is None
        else asarray(a, dtype, order)
    )


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    """The array row-major, of at least one axis."""
    made = asarray(a, dtype, "C")
    return made if made.ndim else made.reshape(1)


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """The array with its first axis contiguous, of at least one axis."""
    made = asarray(a, dtype, "F")
    return made if made.ndim else made.reshape(1)


def copy(a: Any, order: str = "K") -> ndarray:
    """A new array with the same elements."""
    return array(a, order=order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """The array in another dtype."""
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a cupy array. It is a {type(x)} instead.")
    return x.astype(dtype, copy=copy)  # type: ignore[no-any-return]


def asnumpy(
    a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True
) -> Any:
    """A copy on the host, as NumPy's array."""
    if isinstance(a, ndarray):
        return a.get(stream, order, out, blocking)
    if _is_shown(a):
        return array(a).get(stream, order, out, blocking)
    made = numpy.asarray(tn.asnumpy(a) if isinstance(a, Base) else a, order=order)  # type: ignore[call-overload]
    if out is None:
        return made
    out[...] = made
    return out


def from_dlpack(array: Any, *, device: Any = None, copy: Any = None) -> ndarray:
    """An array in the memory of an object with ``__dlpack__``."""
    return give(tn.from_dlpack(_plain(array), copy=copy))  # type: ignore[no-any-return]


class _Capsule:
    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0) if is_available() else (1, 0)


def fromDlpack(dltensor: Any) -> ndarray:
    """An array in the memory of a capsule of DLPack."""
    return give(tn.from_dlpack(_Capsule(dltensor)))  # type: ignore[no-any-return]


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    """Writes values into an array."""
    held: list[Any] = []
    if not isinstance(dst, ndarray):
        raise TypeError(f"Unsupported type {type(dst)}: the target of copyto is no cupy.ndarray")
    tn.copyto(
        take(dst, held, False),
        take(src, held, False),
        casting,
        True if where is None else take(where, held, True),
    )


def get_array_module(*args: Any) -> Any:
    """The module `cupy` if an argument is one of its arrays, else NumPy."""
    from .. import cupy

    return cupy if any(isinstance(x, ndarray) for x in args) else numpy


def fuse(*args: Any, **options: Any) -> Any:
    """``@cupy.fuse()``: the function as it is. Chains of operations become one kernel by themselves, called by a
    decorated function or not."""
    options.pop("kernel_name", None)
    if options:
        raise TypeError(f"fuse() got an unexpected keyword argument {next(iter(options))!r}")
    if len(args) == 1 and callable(args[0]):
        return _Fused(args[0])
    return _Fused


class _Fused:
    """A function that `fuse` has decorated."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Calls the function."""
        return self._function(*args, **options)

    def clear_cache(self) -> None:
        """Nothing: there is no cache of its own."""

    def __get__(self, object: Any, kind: Any = None) -> Any:
        return self if object is None else types.MethodType(self, object)


_memos: list[Any] = []


def memoize(for_each_device: bool = False) -> Any:
    """``@cupy.memoize()``: results are kept by arguments, with for_each_device by the current device too."""

    def decorator(function: Any) -> Any:
        known: dict[Any, Any] = {}
        _memos.append(known)

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            from .cuda import Device

            key = (args, frozenset(options.items()), Device().id if for_each_device else None)
            if key not in known:
                known[key] = function(*args, **options)
            return known[key]

        return call

    return decorator


def clear_memo() -> None:
    """Forgets what `memoize` has kept."""
    for known in _memos:
        known.clear()


def make_aligned_dtype(
    dtype: Any, *, alignment: Any = None, recurse: bool = True
) -> numpy.dtype[Any]:
    """A structured dtype whose fields lie as a compiler for GPUs has them: at multiples of their sizes, complex too.

    ``alignment``: at least this for the whole. ``recurse``: fields that are structured are laid out anew, too.

    Raises
    ------
    ValueError
        ``dtype`` is not structured.
    """
    found = numpy.dtype(dtype)
    if found.names is None:
        raise ValueError(f"make_aligned_dtype() only supports structured dtypes, not {found}")
    made, widest = _aligned(found, recurse, 1 if alignment is None else alignment)
    return numpy.dtype({**made, "itemsize": -(-made["itemsize"] // widest) * widest, "aligned": True})


def _aligned(found: Any, recurse: bool, widest: int) -> tuple[dict[str, Any], int]:
    """Where the fields of a structured dtype lie, and the greatest of their alignments."""
    names, formats, offsets, end = list(found.names), [], [], 0
    for name in names:
        kind = found.fields[name][0]
        base, shape = kind.subdtype or (kind, ())
        if base.names is not None and recurse:
            base = make_aligned_dtype(base)
        step = _alignment(base)
        end = -(-end // step) * step
        formats.append((base, shape) if shape else base)
        offsets.append(end)
        end += base.itemsize * math.prod(shape)
        widest = max(widest, step)
    return {"names": names, "formats": formats, "offsets": offsets, "itemsize": end}, widest


def _alignment(kind: Any) -> int:
    if kind.names is not None:
        return max(_alignment((kind.fields[n][0].subdtype or (kind.fields[n][0],))[0]) for n in kind.names)
    return 1 if kind.kind in "VS" else kind.alignment if kind.kind == "U" else int(kind.itemsize)


def byte_bounds(a: ndarray) -> tuple[int, int]:
    """The addresses of the first byte and behind the last one."""
    low = high = a._address()
    for n, step in zip(a.shape, a.strides, strict=True):
        if n == 0:
            return a._address(), a._address()
        low, high = low + min(0, (n - 1) * step), high + max(0, (n - 1) * step)
    return low, high + a.itemsize


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Elements of several arrays, of which each one is named by an element of ``a``."""
    held: list[Any] = []
    given = [take(x, held, True) for x in choices]
    return give(tn.choose(take(a, held, True), given, take(out, held, True), mode), held)


def _place_of(name: str) -> Any:
    find = wrapped(getattr(tn, name), name)

    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        made = find(a, axis, keepdims=keepdims)
        if out is None:
            return made if dtype is None else made.astype(dtype)
        if out.shape != made.shape:
            raise ValueError(f"output array of shape {out.shape} does not match the result of {name}, {made.shape}")
        out[...] = made
        return out

    call.__name__ = call.__qualname__ = name
    call.__module__ = "tessera.cupy"
    call.__doc__ = f"{getattr(tn, name).__doc__} ``dtype``: of the result."
    return call


argmax, argmin = _place_of("argmax"), _place_of("argmin")


def _part_of(name: str) -> Any:
    part = wrapped(getattr(tn, name), name)

    def call(val: Any) -> Any:
        return part(val if isinstance(val, ndarray) else asarray(val))

    call.__name__ = call.__qualname__ = name
    call.__module__, call.__doc__ = "tessera.cupy", getattr(tn, name).__doc__
    return call


real, imag = _part_of("real"), _part_of("imag")


def min_scalar_type(a: Any) -> Any:
    """The smallest dtype that holds a number; that of an array, or of a list of arrays, is its own."""
    given = _plain(_foreign(a))
    return given.dtype if isinstance(given, Base) else numpy.min_scalar_type(given)


def ndim(a: Any) -> int:
    """The number of axes."""
    return int(a.ndim) if hasattr(a, "ndim") else numpy.ndim(a)


def shape(a: Any) -> tuple[int, ...]:
    """The extents."""
    return tuple(a.shape) if hasattr(a, "shape") else numpy.shape(a)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, of all or along an axis."""
    if not isinstance(a, Base):
        return numpy.size(a, axis)
    return int(tn.size(a._as(Base), axis))


def result_type(*args: Any) -> Any:
    """The dtype that operands become."""
    held: list[Any] = []
    return tn.result_type(*[take(x, held, False) for x in args])  # type: ignore[no-any-return]


def show_config(*, _full: bool = False) -> None:
    """Prints what there is."""
    from .. import __version__, device_count

    print(
        f"Tessera                      : {__version__}\nNumPy                        : {numpy.__version__}"
    )
    print(f"GPUs                         : {device_count('cuda')}")


_einsum = wrapped(tn.einsum, "einsum")


def einsum(*operands: Any, **options: Any) -> Any:
    """Products of operands, summed over the subscripts that the result does not have: ``einsum("ij,jk->ik", a, b)``.

    Subscripts that are given as lists behind the operands may be NumPy's arrays.
    """
    if operands and not isinstance(operands[0], (str, bytes)):
        last = len(operands) - 1
        operands = tuple(
            x.tolist() if isinstance(x, numpy.ndarray) and (i % 2 or i == last) else x for i, x in enumerate(operands)
        )
    return _einsum(*operands, **options)

# SPDX-License-Identifier: Apache-2.0
"""CuPy's array: NumPy's, of `tessera.numeric`, but that results of no axes are arrays and nothing converts it."""

from __future__ import annotations

import math
import operator
import types
from typing import Any

import numpy

from .. import _core
from .. import numeric as tn
from ..numeric import _reduce
from ..numeric._foreign import dense_strides
from ..numeric._functions import as_class
from . import _boundary
from ._boundary import Base, give, quiet, refuse, refuse_all, take, wrapped

__all__ = ["ndarray"]


class ndarray(Base):
    """An array on the current device: a GPU where there is one.

    ``ndarray(shape, dtype=float, memptr=None, strides=None, order="C")`` makes one of any contents, or in the memory
    of a
    :class:`cuda.MemoryPointer`.
    """

    __slots__ = ()
    __module__ = "tessera.cupy"
    __array_priority__ = 100
    _answers_numpy_alone = True  # tessera.numeric's functions take it as it is
    _has_buffer = False  # ext/numeric.c: memoryview(a) is refused

    def __new__(  # noqa: PYI034
        cls,
        shape: Any,
        dtype: Any = float,
        memptr: Any = None,
        strides: Any = None,
        order: Any = "C",
        **options: Any,
    ) -> ndarray:
        order = order[:1].upper() if isinstance(order, str) else order
        if order not in (None, "C", "F"):
            raise ValueError(f"order must be one of 'C', 'F', or None (got {order!r})")
        if memptr is None and strides is None:
            kind = _boundary.held_dtype(dtype)
            made = _boundary.placed(lambda: tn.empty(shape, kind, order or "C"))
        else:
            made = _in_memory(shape, _boundary.held_dtype(dtype), memptr, strides, order)
        made.__class__ = ndarray
        return made if cls is ndarray else made.view(cls)

    # -- results ------------------------------------------------------------------------------------

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if type(array) is Base:
            operands = (self, *(context[1] if context else ()))
            first = next((x for x in operands if isinstance(x, ndarray) and type(x) is not ndarray), None)
            if first is not None:
                return as_class(array, first)
            array.__class__ = ndarray
            return array
        return array if isinstance(array, ndarray) else give(tn.asarray(array))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
            "explicitly."
        )

    @property
    def __array_interface__(self) -> Any:
        raise AttributeError("cupy.ndarray has no __array_interface__: use a.get()")

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple(x[()] if type(x) is numpy.ndarray and not x.ndim else x for x in inputs)  # NumPy's scalars
        refuse_all(inputs)
        if any(isinstance(x, numpy.ndarray) for x in options.get("out", ())):
            return NotImplemented
        if method != "__call__":
            from .. import cupy

            ours = getattr(cupy, function.__name__, None)
            return NotImplemented if ours is None else getattr(ours, method)(*inputs, **options)
        return give(quiet(lambda: super(ndarray, self).__array_ufunc__(function, method, *inputs, **options)))

    def __array_function__(self, function: Any, kinds: Any, args: Any, options: Any) -> Any:
        from .. import cupy

        top, _, rest = str(function.__module__).partition(".")
        home: Any = cupy if top == "numpy" else None
        for part in rest.split(".") if rest and home is not None else ():
            home = getattr(home, part, None)
        ours = getattr(home, function.__name__, None)
        if not callable(ours) or not all(issubclass(kind, (Base, numpy.ndarray)) for kind in kinds):
            return NotImplemented
        if numpy.ndarray in kinds and function.__name__ not in _boundary.CONVERTS:
            return NotImplemented
        return ours(*args, **options)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        from .. import cupy

        super().__array_namespace__(api_version=api_version)
        return cupy

    # -- elements -----------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if _is_place(key):  # an element is a view of no axes
            key = (*key, ...) if type(key) is tuple else (key, ...)
        return give(self._as(Base)[_plain_key(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if not _is_whole(key):
            _refuse_unless_placed(value, key)
        self._as(Base)[_plain_key(key)] = value._as(Base) if isinstance(value, ndarray) else value

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: {type(self).__name__!r}")

    def __bytes__(self) -> bytes:
        return self._as(Base).tobytes()

    def item(self, *index: Any) -> Any:
        """An element as a number of Python's."""
        return self._as(Base).item(*index)

    # -- memory -------------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The memory: ``a.data.ptr`` is its address."""
        from .cuda._memory import ArrayPointer

        return ArrayPointer(self, 0)

    @property
    def device(self) -> Any:
        """The device that the array lies on."""
        from .cuda import Device

        return Device._of_name(Base.device.__get__(self))  # type: ignore[attr-defined]

    @property
    def _place(self) -> str:
        return str(Base.device.__get__(self))  # type: ignore[attr-defined]

    @property
    def base(self) -> Any:
        """The array whose memory this is a part of; None: its own."""
        found = Base.base.__get__(self)  # type: ignore[attr-defined]
        return found._as(ndarray) if type(found) is Base else found

    def get(
        self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True
    ) -> Any:
        """A copy as NumPy's array."""
        if out is not None:
            if not isinstance(out, numpy.ndarray):
                raise TypeError("Only numpy.ndarray can be obtained fromcupy.ndarray")
            if out.dtype != self.dtype or out.shape != self.shape:
                raise ValueError(
                    f"Shape or dtype mismatch. Expected {self.shape}, {self.dtype}; found {out.shape}, {out.dtype}"
                )
        if stream is not None:
            stream.synchronize()
        made = tn.asnumpy(self._as(Base))
        if out is not None:
            out[...] = made
            return out
        if order == "A":
            order = "F" if self.flags.f_contiguous and not self.flags.c_contiguous else "C"
        return numpy.asarray(made, order=order)  # type: ignore[call-overload]

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copies NumPy's array of the same shape and dtype here."""
        if not isinstance(arr, numpy.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        self._as(Base)[...] = arr

    def scatter_add(self, slices: Any, value: Any) -> None:
        """Adds values at places, each as often as its place occurs."""
        _scatter("add", self, slices, value)

    def scatter_max(self, slices: Any, value: Any) -> None:
        """The greatest of each element and the values at its place."""
        _scatter("maximum", self, slices, value)

    def scatter_min(self, slices: Any, value: Any) -> None:
        """The least of each element and the values at its place."""
        _scatter("minimum", self, slices, value)

    def choose(self, choices: Any, out: Any = None, mode: str = "raise") -> Any:
        """Elements of several arrays, of which each one is named by this array."""
        from .. import cupy

        return cupy.choose(self, choices, out, mode)

    def argmax(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The place of the greatest, the first of equal ones, along an axis."""
        from .. import cupy

        return cupy.argmax(self, axis, dtype, out, keepdims)

    def argmin(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The place of the least, the first of equal ones, along an axis."""
        from .. import cupy

        return cupy.argmin(self, axis, dtype, out, keepdims)

    def __class_getitem__(cls, item: Any) -> Any:
        return types.GenericAlias(cls, item)

    def reduced_view(self, dtype: Any = None) -> ndarray:
        """A view with as few axes as the memory allows."""
        return self.view() if dtype is None else self.view(dtype)

    def toDlpack(self) -> Any:
        """A capsule of DLPack."""
        return self._as(Base).__dlpack__()

    def __dlpack__(self, **options: Any) -> Any:
        return self._as(Base).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._as(Base).__dlpack_device__()

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """The same memory, as another dtype or as a class that derives from ndarray."""
        if isinstance(dtype, _kind_of_all) and issubclass(dtype, Base):
            dtype, type = None, dtype
        made = _VIEW(self, dtype)
        if type is None or type is ndarray:
            return made
        derived = made._as(type)
        derived.__array_finalize__(self)
        return derived

    def __reduce__(self) -> Any:
        from .. import cupy

        return cupy.array, (self.get(order="A"),)

    def __repr__(self) -> str:
        return repr(self._as(Base)).replace("tessera.numeric", "cupy")

    def __str__(self) -> str:
        return str(self._as(Base))

    def __format__(self, spec: str) -> str:
        return format(self.item() if not self.ndim else str(self), spec)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    @property
    def flat(self) -> Any:
        """The elements along one axis."""
        from ._classes import flatiter

        return flatiter(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self._as(Base).flat[...] = value

    def _scalar(self) -> Any:
        return Base._scalar(self)


_kind_of_all = type


def _is_place(key: Any) -> bool:
    """Whether a key may name one element: numbers alone."""
    if type(key) is tuple:
        return all(type(k) is int or isinstance(k, numpy.integer) for k in key)
    return type(key) is int or isinstance(key, numpy.integer)


def _is_whole(key: Any) -> bool:
    """Whether a key means all of an array, which may be set to one of NumPy's."""
    return key is ... or (isinstance(key, slice) and key == slice(None))


def _plain_key(key: Any) -> Any:
    """A key whose arrays are those of tessera.numeric."""
    if isinstance(key, tuple):
        return tuple(map(_plain_key, key))
    if type(key) is list:
        return [_plain_key(k) for k in key] if any(isinstance(k, Base) for k in key) else key
    return key._as(Base) if isinstance(key, ndarray) else key


def _refuse_unless_placed(value: Any, key: Any) -> None:
    """NumPy's arrays are values of places that arrays name, as CuPy has it, and of nothing else."""
    if isinstance(value, numpy.ndarray) and not any(
        isinstance(k, (list, Base, numpy.ndarray)) for k in (key if isinstance(key, tuple) else (key,))
    ):
        refuse(value)


def at_places(function: Any, a: Any, places: Any, value: Any) -> None:
    """A function of elements at places of an array, for each time that a place occurs."""
    _refuse_unless_placed(value, places)
    inner = value._as(Base) if isinstance(value, ndarray) else value
    function.at(a._as(Base), _plain_key(places), *(() if value is None else (inner,)))


def _scatter(name: str, a: Any, slices: Any, value: Any) -> None:
    at_places(getattr(tn, name), a, slices, value)


def _in_memory(shape: Any, dtype: Any, memptr: Any, strides: Any, order: Any) -> Any:
    """An array in the memory of a pointer."""
    shape = (
        (operator.index(shape),)
        if not isinstance(shape, (tuple, list))
        else tuple(map(operator.index, shape))
    )
    if strides is None:
        strides = dense_strides(shape, dtype.itemsize, order or "C")
    low, high = _boundary.ends_of(shape, strides, dtype)
    if memptr is None:
        if low < 0 or high > math.prod(shape) * dtype.itemsize:
            raise ValueError(
                f"ndarray() with strides {tuple(strides)} of shape {shape} reaches beyond new memory: give memptr="
            )
        room = _boundary.placed(lambda: tn.empty(high, "u1"))
        return room._view(0, dtype, shape, strides)
    return memptr._array(dtype, shape, strides)


COMPARISONS = frozenset(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"])


def _operator(name: str) -> Any:
    """An operator whose result C makes CuPy's, by `__array_wrap__`."""
    theirs = getattr(Base, name)

    compares = name in COMPARISONS

    def call(self: Any, other: Any) -> Any:
        if isinstance(other, numpy.ndarray):
            if other.ndim or not compares:
                refuse(other)
            other = other[()]  # what get() gives of one element
        elif type(other).__name__ == "poly1d":
            other = other.coeffs
        made = quiet(theirs, self, other)
        return give(made) if type(made) is Base else made  # of objects, which NumPy compares

    call.__name__ = call.__qualname__ = name
    return call


def _program(name: str) -> Any:
    """An operator that tessera.numeric has in Python: it sees no arrays of CuPy's."""
    theirs = getattr(Base, name)

    def call(self: Any, *others: Any) -> Any:
        held: list[Any] = []
        if name == "__pow__" and type(others[0]) is int and others[0] == -1 and self.dtype.kind in "ib":
            return (self**-1.0).astype((self**1).dtype)  # where NumPy refuses, CuPy cuts quotients off
        made = quiet(theirs, *[take(x, held, True) for x in (self, *others)])
        return self if name.startswith("__i") else give(made, held)

    call.__name__ = call.__qualname__ = name
    return call


for _names, _make in (
    ("add sub mul truediv floordiv mod and or xor lshift rshift", _operator),
    ("pow matmul", _program),
):
    for _name in [f"__{p}{n}__" for n in _names.split() for p in ("", "r", "i")]:
        if hasattr(Base, _name):
            setattr(ndarray, _name, _make(_name))
for _name in sorted(COMPARISONS):
    setattr(ndarray, _name, _operator(_name))

# Methods that are functions of tessera.numeric with the array in front.
_OWN = frozenset(vars(ndarray)) | {
    "__class__",
    "__init__",
    "__new__",
    "__array_finalize__",
    "resize",
}
_VIEW = wrapped(Base.view, "view")
for _name, _thing in vars(Base).items():
    if (
        callable(_thing)
        and not isinstance(_thing, type)
        and _name not in _OWN
        and not _name.startswith("_")
    ):
        setattr(ndarray, _name, wrapped(_thing, _name))


def _fold(name: str) -> Any:
    """A reduction whose result of no axes stays where it is: nobody waits for it."""
    theirs = getattr(ndarray, name)
    sums = name in ("sum", "prod")

    def call(self: Any, *args: Any, **options: Any) -> Any:
        if args or options or self.dtype.kind not in "biuf" or not self.ndim or not self.size:
            return theirs(self, *args, **options)
        dtype = (_reduce.sum_dtype(self.dtype)) if sums else None
        return give(
            _core.numeric_fold(name, self._as(Base), tuple(range(self.ndim)), dtype, False, None)
        )

    call.__name__, call.__doc__ = name, theirs.__doc__
    return call


for _name in ("sum", "prod", "max", "min", "any", "all"):
    setattr(ndarray, _name, _fold(_name))
for _name in ("real", "imag", "T", "mT"):
    _inner = getattr(Base, _name)

    def _get(self: Any, name: str = _name) -> Any:
        held: list[Any] = []
        return give(getattr(_boundary.take(self, held, True), name), held)

    def _set(self: Any, value: Any, name: str = _name) -> None:
        setattr(self._as(Base), name, value)

    setattr(
        ndarray,
        _name,
        property(_get, _set if _name in ("real", "imag") else None, doc=_inner.__doc__),
    )

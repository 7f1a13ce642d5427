# SPDX-License-Identifier: Apache-2.0
"""Methods of ndarray that are functions with the array in front."""

from __future__ import annotations

import builtins
import functools
import inspect
import types
import warnings
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from . import _host, _items, _setup
from ._meanings import has_meaning
from ._ndarray import ndarray
from ._setup import NO_VALUE, HostDtype, fitted, is_held


def astype(self: ndarray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
           copy: bool = True) -> ndarray:  # fmt: skip
    """The elements in another dtype."""
    dtype = f.dtype_of(dtype)
    if casting == "same_value":
        return _same_value(self, dtype, f.check_order(order))
    if has_meaning(self) and dtype.kind in "OSUT":  # texts and objects, which NumPy makes
        return _host.call("astype", numpy.ndarray.astype, self, dtype, order, casting)
    if not is_held(dtype):
        raise HostDtype(f"astype: tessera.numeric has no arrays of dtype {dtype}")
    dtype = fitted(self.dtype, dtype)
    if not f.can_cast(self, dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {self.dtype!r} to {dtype!r} according to the rule '{casting}'"
        )
    order = f.check_order(order)
    if (
        not copy
        and dtype == self.dtype
        and (order in "KA" or self.flags["C" if order == "C" else "F"])
    ):
        return self if subok else f.as_class(self, None)
    return f.astype_as(self, dtype, order)


def _same_value(self: ndarray, dtype: Any, order: str) -> ndarray:
    """The elements in another dtype, where all of them are what they were; bools take anything."""
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        made = f.astype_as(self, dtype, order)
        back = f.astype_as(made, self.dtype, order)
        same = f.asarray(f.asarray(back == self) | ((back != back) & (self != self)))
        if self.dtype.kind in "fc" and dtype.kind in "iu":  # infinities come back from the greatest integers
            same = same & (abs(self) != numpy.inf)
        if self.dtype.kind in "iu" and dtype.kind in "iu":
            same = same & ((made < 0) == (self < 0))
        elif self.dtype.kind in "iu" and dtype.kind in "fc":  # rounded up beyond the greatest it comes back as that
            same = same & (made.real < 2.0 ** (8 * self.itemsize - (self.dtype.kind == "i")))
    if dtype.kind != "b" and not f.asarray(same).all():
        raise ValueError(f"could not cast 'same_value' {self.dtype.name} to {dtype.name}")
    return made


def copy(self: ndarray, order: str = "C") -> ndarray:
    """A new array with the same elements."""
    return f.astype_as(self, self.dtype, f.check_order(order))


def flatten(self: ndarray, order: str = "C") -> ndarray:
    """A copy along one axis."""
    made = f.ravel(self, order)
    return made.copy() if f.may_share_memory(made, self) or not made.size else made


def reshape(self: ndarray, *shape: Any, order: str = "C", copy: Any = None) -> ndarray:
    """The same elements in another shape: a view where that is possible."""
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    if len(shape) == 1 and shape[0] is None:
        return self
    return f.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def transpose(self: ndarray, *axes: Any) -> ndarray:
    """A view with axes in another order; reversed if none is given."""
    return f.transpose(self, f.listed(axes) if axes else None)


def view(self: ndarray, dtype: Any = None, type: Any = NO_VALUE) -> ndarray:
    """The same memory, as another dtype if one is given."""
    if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
        dtype, type = None, dtype
    if type is not NO_VALUE and not (isinstance(type, builtins.type) and issubclass(type, ndarray)):
        raise ValueError(f"type must be ndarray or a class that derives from it, found {type!r}")
    made, kind = _viewed(self, dtype), builtins.type(self) if type is NO_VALUE else type
    if kind is ndarray:
        return made
    made = made._as(kind, self)
    made.__array_finalize__(self)
    return made


def _viewed(self: ndarray, dtype: Any) -> ndarray:
    """The same memory as a dtype, None: its own, of the class ndarray."""
    if not isinstance(self, ndarray):  # a class of ours, as masked arrays, on an array of the host
        raise HostDtype(f"{builtins.type(self).__name__} of dtype {self.dtype} cannot be viewed as a class of ours")
    if dtype is None:
        return self._view(0, self.dtype, self.shape, self.strides)
    dtype = f.dtype_of(dtype)
    if dtype.subdtype is not None:
        return _items.part(_viewed(self, f"V{dtype.itemsize}"), dtype, 0)
    shape, strides = [*self.shape], [*self.strides]
    if dtype.itemsize != self.itemsize:
        if not shape:
            raise ValueError(
                "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
            )
        if not dtype.itemsize or (dtype.itemsize < self.itemsize and self.itemsize % dtype.itemsize):
            raise ValueError(
                "When changing to a smaller dtype, its size must be a divisor of the size of original dtype"
            )
        if strides[-1] != self.itemsize and shape[-1] != 1 and self.size:
            raise ValueError(
                "To change to a dtype of a different size, the last axis must be contiguous"
            )
        if shape[-1] * self.itemsize % dtype.itemsize:
            raise ValueError(
                "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last "
                "axis of the array."
            )
        shape[-1] = shape[-1] * self.itemsize // dtype.itemsize
        strides[-1] = dtype.itemsize
    return self._view(0, dtype, shape, strides)


def ravel(self: ndarray, order: str = "C") -> ndarray:
    """The elements along one axis."""
    return f.ravel(self, order)


def squeeze(self: ndarray, axis: Any = None) -> ndarray:
    """A view without axes of extent 1."""
    return f.squeeze(self, axis)


def swapaxes(self: ndarray, axis1: Any, axis2: Any) -> ndarray:
    """A view with two axes exchanged."""
    return f.swapaxes(self, axis1, axis2)


def diagonal(self: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """A view of diagonals, read-only."""
    return f.diagonal(self, offset, axis1, axis2)


def conjugate(self: ndarray, out: Any = None) -> ndarray:
    """The numbers with the other imaginary part; the array itself where it is real."""
    if has_meaning(self):
        raise TypeError("cannot conjugate non-numeric dtype")
    if out is None and self.dtype.kind != "c":
        return self
    return f.FUNCTIONS["conjugate"](self, out)


def setflags(self: ndarray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """Sets whether the array may be written to."""
    if write is not None:
        self.flags.writeable = write


def __array_wrap__(
    self: ndarray, array: Any, context: Any = None, return_scalar: bool = False
) -> Any:
    """The array that a function of NumPy's has made, as one of ours."""
    if builtins.type(array) is builtins.type(self) is not ndarray:
        return array
    made = f.asarray(array)
    if builtins.type(self) is not ndarray:
        return f.as_class(made, self)
    return made._scalar() if return_scalar and not made.ndim else made


def conj(self: ndarray) -> ndarray:
    """The numbers with the other imaginary part; the array itself where it is real."""
    return conjugate(self)


METHODS = {
    name: thing
    for name, thing in globals().items()
    if callable(thing) and getattr(thing, "__module__", "") == __name__
}


def install(methods: dict[str, Any]) -> None:
    """Makes them methods of the class."""
    for name, function in methods.items():
        function.__name__ = name
        moves = function.__module__ in _setup.MOVE or vars(ndarray).get(name) is function  # the class's know items
        setattr(ndarray, name, _core.NumericRoutine(function, ndarray.__module__, moves))


def install_own() -> None:
    """Makes routines of the public methods that are written in the class itself, with NumPy's signatures."""
    install({name: thing for name, thing in vars(ndarray).items() if isinstance(thing, types.FunctionType)
             and (name[0] != "_" or name in _SIGNED) and hasattr(numpy.ndarray, name)})  # fmt: skip


_SIGNED = ("__array_namespace__", "__copy__", "__deepcopy__", "__format__", "__reduce__")


@functools.cache
def signature_of(name: str) -> inspect.Signature | None:
    """NumPy's signature of a method of ndarray; None: it has none."""
    try:
        return inspect.signature(getattr(numpy.ndarray, name))
    except (AttributeError, ValueError):
        return None

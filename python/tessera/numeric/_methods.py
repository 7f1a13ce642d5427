# SPDX-License-Identifier: Apache-2.0
"""Methods of ndarray that are functions with the array in front."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from . import _items, _setup
from . import _host
from ._meanings import has_meaning
from ._ndarray import ndarray
from ._setup import fitted


def astype(self: ndarray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True,
           copy: bool = True) -> ndarray:  # fmt: skip
    """The elements in another dtype."""
    dtype = f.dtype_of(dtype)
    if has_meaning(self) and dtype.kind in "OSUT":  # texts and objects, which NumPy makes
        return _host.call("astype", numpy.ndarray.astype, self, dtype, order, casting)
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
        return self
    return f.astype_as(self, dtype, order)


def copy(self: ndarray, order: str = "C") -> ndarray:
    """A new array with the same elements."""
    return f.astype_as(self, self.dtype, f.check_order(order))


def flatten(self: ndarray, order: str = "C") -> ndarray:
    """A copy along one axis."""
    made = f.ravel(self, order)
    return made.copy() if f.may_share_memory(made, self) else made


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


def view(self: ndarray, dtype: Any = None, type: Any = None) -> ndarray:
    """The same memory, as another dtype if one is given."""
    if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
        dtype, type = None, dtype
    if type is not None and type is not ndarray:
        made = (self if dtype is None else view(self, dtype))._as(type)
        made.__array_finalize__(self)
        return made
    if dtype is None:
        return self._view(0, self.dtype, self.shape, self.strides)
    dtype = f.dtype_of(dtype)
    if dtype.subdtype is not None:
        return _items.part(view(self, f"V{dtype.itemsize}"), dtype, 0)
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
        if strides[-1] != self.itemsize and shape[-1] != 1:
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
    made = f.asarray(array)
    if return_scalar and not made.ndim:
        return made._scalar()
    return made if builtins.type(self) is ndarray else made.view(builtins.type(self))


METHODS = {
    name: thing
    for name, thing in globals().items()
    if callable(thing) and getattr(thing, "__module__", "") == __name__
} | {"conj": conjugate}


def install(methods: dict[str, Any]) -> None:
    """Makes them methods of the class."""
    for name, function in methods.items():
        moves = function.__module__ in _setup.MOVE
        setattr(ndarray, name, _core.NumericRoutine(function, ndarray.__module__, moves))

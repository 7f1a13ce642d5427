# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements mean more than the numbers that they are stored as: dates and spans of time.

The library computes with numbers. An array of another dtype carries the number of its dtype beside what it is stored as
(``_setup.STORED``); views, indexing and copies to devices need not know. A call with such an array among its operands
comes here, to the module that knows the dtype, which makes it of calls on numbers. docs/adr/0031-meanings.md.
"""

from __future__ import annotations

from typing import Any

import numpy

from ._ndarray import ndarray
from ._setup import STORED


def has_meaning(x: Any) -> bool:
    """Whether it is an array, or a dtype, whose elements are stored as another dtype."""
    return getattr(x, "dtype", x).kind in STORED


def plain(a: ndarray) -> ndarray:
    """The numbers of an array: a view."""
    return a._view(0, STORED[a.dtype.kind], a.shape, a.strides) if has_meaning(a) else a


def meant(made: Any, dtype: Any) -> Any:
    """Numbers that a call has made, an array or NumPy's scalar, as elements of a dtype."""
    if isinstance(made, ndarray):
        return made._view(0, dtype, made.shape, made.strides, made.base is None)
    return made.view(dtype)


def module_of(dtype: Any) -> Any:
    """The module that computes with elements of a dtype."""
    from . import _dates

    return _dates


def call(name: str, operands: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    """An elementwise function, of operands of which one has a meaning, or with a dtype= that has one."""
    options.pop("out", None)
    options.pop("subok", None)
    things = (*operands, *(() if out is None else (out,)), numpy.dtype(options.get("dtype")))
    found = next((x for x in things if hasattr(x, "dtype") and has_meaning(x)), things[-1])
    return module_of(getattr(found, "dtype", found)).call(name, operands, out, options)


def cast(value: Any, dtype: Any) -> ndarray:
    """A value, of anything, as an array of a dtype, as assignment converts it."""
    dtype = numpy.dtype(dtype)
    found = value.dtype if isinstance(value, ndarray) and has_meaning(value) and not has_meaning(dtype) else dtype
    return module_of(found).assigned(value, dtype)


def fold(name: str, a: ndarray, initial: Any, run: Any) -> Any:
    """A reduction, or a running one, of elements with a meaning; ``run(name, numbers, initial)`` is that of numbers."""
    return module_of(a.dtype).fold(name, a, initial, run)


def unequal(error: TypeError, x: Any, y: Any, differ: bool) -> Any:
    """What ``x == y`` is, or ``x != y``, where no comparison of the two dtypes exists; None: that is not the reason."""
    if not hasattr(error, "dtypes") or hasattr(error, "casting"):  # as NumPy's exceptions of loops that are not there
        return None
    from ._functions import full

    made = full(numpy.broadcast_shapes(numpy.shape(x), numpy.shape(y)), differ)
    return made if made.ndim else made._scalar()


def truth(a: ndarray) -> Any:
    """Whether each element is not 0."""
    return plain(a) != 0

# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements mean more than the numbers that they are stored as: dates and spans of time.

The library computes with numbers. An array of another dtype carries the number of its dtype beside what it is stored as
(``_setup.STORED``); views, indexing and copies to devices need not know. A call with such an array among its operands
comes here, to the module that knows the dtype, which makes it of calls on numbers. docs/adr/0031-meanings.md.
"""

from __future__ import annotations

from typing import Any

import numpy

from . import _functions as f
from . import _items
from ._ndarray import ndarray
from ._setup import ITEMS, OWN, STORED, stored_as


def has_meaning(x: Any) -> bool:
    """Whether it is an array, or a dtype, whose elements are stored as another dtype."""
    return getattr(x, "dtype", x).kind in STORED


def plain(a: ndarray) -> ndarray:
    """The numbers of an array: a view."""
    stored = STORED.get(a.dtype.kind)
    return a if stored is None else a._meant(stored)


def meant(made: Any, dtype: Any, is_new: bool = False) -> Any:
    """Numbers, an array or NumPy's scalar, as elements of a dtype: a view; itself where nobody else has seen it."""
    return made._meant(dtype, is_new) if isinstance(made, ndarray) else made.view(dtype)


_TIME = numpy.dtype("m8")  # what a call is about without arrays and dtype=: signature= names a loop of times
_modules: dict[str, Any] = {}


def module_of(dtype: Any) -> Any:
    """The module that computes with elements of a dtype."""
    if dtype.kind not in _modules:
        from . import _dates

        _modules.update(dict.fromkeys("mM", _dates))
    return _modules[dtype.kind]


def call(name: str, operands: tuple[Any, ...], out: Any, options: dict[str, Any]) -> Any:
    """An elementwise function, of operands of which one has a meaning, or with a dtype= that has one."""
    options.pop("out", None)
    options.pop("subok", None)
    dtype = numpy.dtype(options["dtype"]) if options.get("dtype") is not None else _TIME
    if any(map(_items.is_items, (*operands, out))) or stored_as(dtype) is ITEMS:
        return _items.call(name, operands, out, options)
    for x in (*operands, out):
        if isinstance(x, ndarray) and has_meaning(x):
            return module_of(x.dtype).call(name, operands, out, options)
    return module_of(dtype if has_meaning(dtype) else _TIME).call(name, operands, out, options)


def cast(value: Any, dtype: Any) -> ndarray:
    """A value, of anything, as an array of a dtype, as assignment converts it."""
    dtype = numpy.dtype(dtype)
    if stored_as(dtype) is ITEMS or _items.is_items(value):
        return _items.cast(value, dtype)
    if dtype in OWN and not (hasattr(value, "dtype") and has_meaning(value)):
        return f.asarray(value, dtype)
    return module_of(dtype if has_meaning(dtype) else value.dtype).assigned(value, dtype)


def fold(name: str, a: ndarray, dtype: Any, initial: Any, run: Any) -> Any:
    """A reduction, or a running one, of elements with a meaning; ``run(name, numbers, initial)`` is that of numbers."""
    return module_of(a.dtype).fold(name, a, dtype, initial, run)


def unequal(error: TypeError, x: Any, y: Any, differ: bool) -> Any:
    """What ``x == y`` is, or ``x != y``, where no comparison of the two dtypes exists; None: that is not the reason."""
    is_text = isinstance(x, (str, bytes)) or isinstance(y, (str, bytes))
    if not is_text and (not hasattr(error, "dtypes") or hasattr(error, "casting")):  # NumPy's of missing loops
        return None
    from ._functions import full

    made = full(numpy.broadcast_shapes(numpy.shape(x), numpy.shape(y)), differ)
    return made if made.ndim else made._scalar()


def truth(a: ndarray) -> Any:
    """Whether each element is not 0."""
    if _items.is_items(a):
        return _items.truth(a)
    return a if a.dtype == numpy.bool_ else plain(a) != 0

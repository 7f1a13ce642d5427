# SPDX-License-Identifier: Apache-2.0
"""nvmath's names: functions of arrays are those of `tessera.numeric`; nvmath-python's own, as far as given, are here.

``from tessera import nvmath``, or a program as it is with ``python -m tessera run script.py``. ``jit``,
``batch_process`` and ``optimization.auto_tune``, which tutorials show, are in no release of nvmath-python; here they
are conveniences over arrays whose operations wait and become one kernel by themselves.
"""

from __future__ import annotations

import functools as _functools
import importlib as _importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as _numpy

from .. import numeric as _numeric

__version__ = "1.0.0"  # the nvmath-python whose names these are
_MODULES = ("fft", "linalg", "optimization")
# What nvmath-python has and this module has not: the way out.
_ABSENT = {
    "bindings": "the bindings of CUDA itself are tessera.bindings",
    "device": "kernels are written with tessera.tile or tessera.cuda; tessera.numeric.device says where arrays lie",
    "distributed": "an array lies on one device",
    "sparse": "there are dense arrays only",
    "tensor": "nvmath.einsum and nvmath.tensordot contract arrays",
}


def jit(function: Any = None) -> Any:
    """``@nvmath.jit``: a function of arrays that may be called with NumPy's.

    Nothing is traced: the function runs as it is at each call, with all of Python in it. Its arrays are those of
    `tessera.numeric`, so a chain of operations on more than 512 elements waits and becomes one kernel, also with what
    the caller does with the result. Arguments that are arrays of NumPy, or of another library that has
    ``__dlpack__``, are copied, NumPy's to the default device: what the function writes into them, it writes into the
    copies. Other arguments, and arrays of `tessera.numeric`, are given as they are.

    Parameters
    ----------
    function : callable
        The function; without it, as in ``@nvmath.jit()``, the decorator is returned.

    Raises
    ------
    TypeError
        At decoration, for what cannot be called; at a call, for a masked array or a matrix, whose meaning the copy
        would lose.
    """
    if function is None:
        return jit
    if not callable(function):
        found = type(function).__name__
        raise TypeError(f"nvmath.jit: a function is wanted, found {found}; write @nvmath.jit above it")

    @_functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        return function(*map(_moved, args), **{name: _moved(each) for name, each in options.items()})

    return call


def batch_process(functions: Iterable[Callable[..., Any]], *arrays: Any) -> list[Any]:
    """What each function gives for the same arrays, in their order.

    Arrays of NumPy become arrays of the default device once, before the first call, as :func:`jit` does it. The
    functions run one after the other; their results wait together, so that what several of them compute from one
    array is read from memory once. An exception of one is raised, and there are no results.

    Parameters
    ----------
    functions : iterable of callables
        Each is called as ``function(*arrays)``.
    arrays
        Arrays, or numbers.

    Returns
    -------
    list
        The results, which wait as others do until they are read.
    """
    if callable(functions) or not isinstance(functions, Iterable):
        raise TypeError(
            "nvmath.batch_process: a list of functions comes first, then the arrays; "
            f"found {type(functions).__name__}"
        )
    each = list(functions)
    for i, function in enumerate(each):
        if not callable(function):
            raise TypeError(f"nvmath.batch_process: functions[{i}] is no function, found {type(function).__name__}")
    moved = [_moved(array) for array in arrays]
    return [function(*moved) for function in each]


def _moved(value: Any) -> Any:
    """A copy of another library's array, as one of ours; a copy, since the memory of others can change unseen, and
    what reads it cannot wait. Everything else as it is."""
    if isinstance(value, _numeric.ndarray) or not hasattr(value, "__dlpack__"):
        return value
    # Above 0 are the subclasses whose operators mean something else, masked arrays and matrices.
    if isinstance(value, _numpy.ndarray) and value.__array_priority__ > 0:
        raise TypeError(
            f"nvmath: {type(value).__name__} would lose its meaning as an array; give numpy.asarray(x), "
            "or use tessera.numeric.ma"
        )
    return _numeric.array(value)


def __dir__() -> list[str]:
    own = {*_MODULES, "batch_process", "jit"}
    return sorted(own | {name for name in dir(_numeric) if name not in _ABSENT})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name not in _ABSENT:
        try:
            return getattr(_numeric, name)
        except AttributeError:
            pass
    from .._errors import did_you_mean

    way = f": {_ABSENT[name]}" if name in _ABSENT else did_you_mean(name, __dir__())
    raise AttributeError(f"module 'nvmath' has no attribute {name!r}{way}")

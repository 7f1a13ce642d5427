# SPDX-License-Identifier: Apache-2.0
"""``cuda.jit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._foreign import is_of_numba
from . import types
from ._dispatcher import Dispatcher
from ._options import Options, options_of
from ._signature import Signature

__all__ = ["jit"]


def jit(func_or_sig: Any = None, **options: Any) -> Any:
    """Makes a function a kernel: ``@cuda.jit``, ``@cuda.jit(debug=True)``, ``@cuda.jit("void(float32[:])")``.

    Parameters
    ----------
    func_or_sig : function, str, tuple, Signature or list, optional
        The function; or the types of its arguments (one signature, or a list of them), for which it is compiled at once
        and no others.
    device : bool
        A function that kernels call, which may return values.
    debug, boundscheck : bool
        Report failed asserts, exceptions and indices out of bounds.
    opt, fastmath, lineinfo, cache, inline, forceinline, link, lto, extensions
    launch_bounds, max_registers, shared_memory_carveout
        As in numba.cuda; docs/guide/threads.md says what each does here.

    Returns
    -------
    Dispatcher or decorator

    Raises
    ------
    TypeError
        An unknown option, a signature that is not one, or a kernel that returns something.
    """
    checked = options_of(dict(options))
    if func_or_sig is None:
        return lambda function: _made(function, checked)
    if _is_signature(func_or_sig):
        signatures = list(func_or_sig) if isinstance(func_or_sig, list) else [func_or_sig]
        return _eager(signatures, checked)
    return _made(func_or_sig, checked)


def _made(function: Any, options: Options) -> Dispatcher:
    if isinstance(function, Dispatcher):
        return function
    if not callable(function) or not hasattr(function, "__code__"):
        raise TypeError(
            f"cuda.jit() takes a Python function or a signature, not {function!r} (a {type(function).__name__})"
        )
    return Dispatcher(function, options)


def _is_signature(given: Any) -> bool:
    return isinstance(given, (str, tuple, list, Signature, types.Type)) or is_of_numba(given)


def _eager(signatures: list[Any], options: Options) -> Callable[[Any], Dispatcher]:
    from ._signature import normalize

    found = [normalize(sig) for sig in signatures]

    def decorate(function: Any) -> Dispatcher:
        made = Dispatcher(getattr(function, "py_func", function), options)
        made._compile_signatures(list(found))
        return made

    return decorate

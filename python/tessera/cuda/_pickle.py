# SPDX-License-Identifier: Apache-2.0
"""Kernels as pickles: by the name of their function; functions without one travel whole, by cloudpickle."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from ._options import Options

if TYPE_CHECKING:
    from ._dispatcher import Dispatcher

__all__ = ["reduced"]


def _rebuilt(function: Any, options: Options, signatures: list[Any]) -> Dispatcher:
    from ._dispatcher import Dispatcher

    made = Dispatcher(getattr(function, "py_func", function), options)
    if signatures:
        made._compile_signatures(signatures)
    return made


def _unpickled(data: bytes, options: Options, signatures: list[Any]) -> Dispatcher:
    return _rebuilt(importlib.import_module("cloudpickle").loads(data), options, signatures)


def reduced(kernel: Dispatcher) -> Any:
    """What ``__reduce__`` gives."""
    found: Any = sys.modules.get(kernel.__module__)
    for name in kernel.__qualname__.split("."):
        found = getattr(found, name, None)
    if found is kernel:
        return kernel.__qualname__
    signatures = [] if kernel._can_compile else [o.signature for o in kernel.overloads.values()]
    if found is kernel.py_func or getattr(found, "py_func", None) is kernel.py_func:
        return _rebuilt, (found, kernel.options, signatures)
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        import pickle

        raise pickle.PicklingError(
            f"kernel '{kernel.__qualname__}' cannot be pickled: it is not found as "
            f"{kernel.__module__}.{kernel.__qualname__}; define it at the top level of a module, or install cloudpickle"
        ) from None
    return _unpickled, (cloudpickle.dumps(kernel.py_func), kernel.options, signatures)

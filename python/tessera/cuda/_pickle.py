# SPDX-License-Identifier: Apache-2.0
"""Kernels as pickles: by the name of their function; functions without one travel whole, with what they name: by
cloudpickle where it is installed, else as their code object, which another version of Python cannot read."""

from __future__ import annotations

import importlib
import io
import marshal
import pickle
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._options import Options

if TYPE_CHECKING:
    from ._dispatcher import Dispatcher

__all__ = ["dumped", "found_as", "reduced", "reduced_launch"]


def _rebuilt(function: Any, options: Options, signatures: list[Any]) -> Dispatcher:
    from ._dispatcher import Dispatcher

    made = Dispatcher(getattr(function, "py_func", function), options)
    if signatures:
        made._compile_signatures(signatures)
    return made


def _unpickled(data: bytes, options: Options, signatures: list[Any]) -> Dispatcher:
    return _rebuilt(pickle.loads(data), options, signatures)


def found_as(thing: Any) -> Any:
    """What stands in its module under a thing's name, or None."""
    found: Any = sys.modules.get(thing.__module__)
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None)
    return found


def reduced(kernel: Dispatcher) -> Any:
    """What ``__reduce__`` gives."""
    found = found_as(kernel)
    if found is kernel:
        return kernel.__qualname__
    signatures = [] if kernel._can_compile else [o.signature for o in kernel.overloads.values()]
    if found is kernel.py_func or getattr(found, "py_func", None) is kernel.py_func:
        return _rebuilt, (found, kernel.options, signatures)
    return _unpickled, (dumped(kernel.py_func), kernel.options, signatures)


def reduced_launch(launch: Any) -> Any:
    """What ``__reduce__`` of ``kernel[blocks, threads]`` gives."""
    if launch.pre_launch_callbacks:
        raise pickle.PicklingError("Cannot pickle configured launches with pre-launch callbacks: functions that were "
                                   "added here would be lost")  # fmt: skip
    if launch.stream:
        raise pickle.PicklingError("Cannot pickle configured launches with a stream, which belongs to this process")
    return _configured, (launch.dispatcher, launch.griddim, launch.blockdim, launch.sharedmem, launch.cluster)


def _configured(kernel: Any, griddim: Any, blockdim: Any, sharedmem: int, cluster: Any) -> Any:
    return kernel[griddim, blockdim, 0, sharedmem, cluster]


# ---- functions that no module has ----------------------------------------------------------------------


def dumped(function: Any) -> bytes:
    """A function as a pickle, with the globals and closed-over values that it names."""
    try:
        data: bytes = importlib.import_module("cloudpickle").dumps(function)
        return data
    except ImportError:
        room = io.BytesIO()
        _Pickler(room).dump(function)
        return room.getvalue()


class _Pickler(pickle.Pickler):
    """Takes functions without a name, and modules."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, types.ModuleType):
            return importlib.import_module, (thing.__name__,)
        if isinstance(thing, types.FunctionType) and found_as(thing) is not thing:
            return _reduced_function(thing)
        if isinstance(thing, types.CellType):
            return _cell, (), thing.cell_contents if _is_bound(thing) else None, None, None, _fill
        return NotImplemented


def _is_bound(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - whether there is one
    except ValueError:
        return False
    return True


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _reduced_function(function: Any) -> Any:
    named = {name: function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__}
    state = {
        "globals": named, "defaults": function.__defaults__, "kwdefaults": function.__kwdefaults__,
        "qualname": function.__qualname__, "module": function.__module__, "doc": function.__doc__,
    }  # fmt: skip
    made = marshal.dumps(function.__code__), function.__name__, function.__closure__
    return _function, made, state, None, None, _complete


def _function(code: bytes, name: str, closure: Any) -> Any:
    return types.FunctionType(marshal.loads(code), {"__builtins__": __builtins__}, name, None, closure)


def _complete(function: Any, state: dict[str, Any]) -> None:
    """The rest of a function, which may name the function itself."""
    function.__globals__.update(state["globals"])
    function.__globals__["__name__"] = function.__module__ = state["module"]
    function.__defaults__, function.__kwdefaults__ = state["defaults"], state["kwdefaults"]
    function.__qualname__, function.__doc__ = state["qualname"], state["doc"]


def _cell() -> Any:
    return types.CellType()


def _fill(cell: Any, value: Any) -> None:
    cell.cell_contents = value

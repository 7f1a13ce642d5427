# SPDX-License-Identifier: Apache-2.0
"""Functions, methods and attributes of one's own for kernels, chosen by the types of arguments: ``overload`` and its
like. What makes LLVM IR in numba (``intrinsic``, ``lower_builtin``, data models) can be registered, and kernels that
use it are refused, but for structs (``_models``): they are not compiled through LLVM IR here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from . import types
from ._errors import LoweringError
from ._models import StructModel, lower_builtin, make_attribute_wrapper, register_model, type_callable
from ._overloads import TARGETS, Registered, add, add_member

__all__ = [
    "NativeValue", "as_numba_type", "box", "core_models", "infer", "infer_getattr", "intrinsic", "is_jitted",
    "lower_builtin", "lower_cast", "lower_constant", "lower_getattr", "lower_getattr_generic", "lower_setattr",
    "lower_setattr_generic", "make_attribute_wrapper", "models", "overload", "overload_attribute",
    "overload_classmethod", "overload_method", "reflect", "register_jitable", "register_model", "type_callable",
    "typeof_impl", "unbox",
]  # fmt: skip


def overload(
    func: Any, jit_options: Any = None, strict: bool = True, inline: Any = "never", prefer_literal: bool = False,
    **kwargs: Any,
) -> Callable[[Any], Any]:  # fmt: skip
    """Decorator of a *typing function* of ``func``: called with the types of the arguments, it gives the Python
    function that a kernel calls with these, or None.

    Parameters
    ----------
    func : function
        What kernels name. A builtin or a function of NumPy keeps what it does for other types.
    strict : bool
        Typing function and implementation must take the same arguments.
    prefer_literal : bool
        Values that are known come as ``IntegerLiteral`` and the like first, and as plain types second.
    target : str
        ``"cuda"`` (tried first), ``"gpu"``, ``"generic"``; an overload for ``"cpu"`` is numba's own.
    jit_options, inline
        Accepted: functions are always inlined.

    Examples
    --------
    >>> from tessera import cuda
    >>> from tessera.cuda.extending import overload
    >>> def norm(x): ...
    >>> @overload(norm)
    ... def norm_typed(x):
    ...     if isinstance(x, cuda.types.Integer):
    ...         return lambda x: abs(x)
    ...     return lambda x: (x * x) ** 0.5
    """
    target = _target(kwargs)
    if not callable(func):
        raise TypeError(f"overload() takes the function that kernels name, not {func!r}")

    def decorate(typing: Any) -> Any:
        add(func, Registered(typing, target, strict, prefer_literal))
        return typing

    return decorate


def _target(options: dict[str, Any]) -> str:
    target = str(options.pop("target", "cuda"))
    if options:
        from .._errors import did_you_mean

        name = next(iter(options))
        known = ("jit_options", "strict", "inline", "prefer_literal", "target")
        raise TypeError(f"overload() has no option {name!r}{did_you_mean(name, known)}")
    if target not in (*TARGETS, "cpu", "npyufunc"):
        raise ValueError(f"target must be one of {', '.join(map(repr, TARGETS))}, not {target!r}")
    return target


def _member(typ: Any, attr: str, is_method: bool, options: dict[str, Any]) -> Callable[[Any], Any]:
    is_type = isinstance(typ, types.Type) or (isinstance(typ, type) and issubclass(typ, types.Type))
    if not is_type:
        raise TypeError(f"a type of cuda.types, or a class of them, is wanted, not {typ!r}")
    strict, literal = bool(options.pop("strict", True)), bool(options.pop("prefer_literal", False))
    for name in ("inline", "jit_options"):
        options.pop(name, None)
    registered = Registered(lambda: None, _target(options), strict, literal)

    def decorate(typing: Any) -> Any:
        add_member(typ, attr, is_method, registered._replace(typing=typing))
        return typing

    return decorate


def overload_attribute(typ: Any, attr: str, **kwargs: Any) -> Callable[[Any], Any]:
    """As ``overload``, of ``value.attr`` where the type of the value is ``typ`` or one of that class.

    Examples
    --------
    >>> from tessera import cuda
    >>> @cuda.extending.overload_attribute(cuda.types.Array, "last")
    ... def array_last(arr):
    ...     return lambda arr: arr[arr.size - 1]
    """
    return _member(typ, attr, False, kwargs)


def overload_method(typ: Any, attr: str, **kwargs: Any) -> Callable[[Any], Any]:
    """As ``overload``, of ``value.attr(...)`` where the type of the value is ``typ`` or one of that class."""
    return _member(typ, attr, True, kwargs)


def register_jitable(*args: Any, **kwargs: Any) -> Any:
    """Decorator of a function that the host and kernels call: every Python function is one here."""
    if kwargs or not args:
        return lambda function: function
    return args[0]


def is_jitted(function: Any) -> bool:
    """Whether ``cuda.jit`` has made it."""
    from ._dispatcher import Dispatcher

    return isinstance(function, Dispatcher)


# ---- types of values of the host -----------------------------------------------------------------------


class _TypeofImpl:
    """``typeof_impl.register(cls)``: decorator of ``function(value, context)``, which gives a value's type."""

    def register(self, cls: type, function: Any = None) -> Any:
        from ._typeof import registered

        def decorate(found: Any) -> Any:
            registered[cls] = found
            return found

        return decorate if function is None else decorate(function)

    def __call__(self, value: Any, context: Any = None) -> Any:
        from ._typeof import typeof

        return typeof(value)


typeof_impl = _TypeofImpl()


def as_numba_type(cls: Any) -> types.Type:
    """The type of values of a class of Python: int, float, complex, bool, str, None."""
    from ._typeof import typeof

    if isinstance(cls, types.Type):
        return cls
    if cls is str:
        return types.unicode_type
    if cls is None:
        return types.none
    return typeof(cls())


# ---- what makes LLVM IR ----------------------------------------------------------------------------------


def _refuse(name: str, what: Any, instead: str) -> None:
    """Kernels that call ``what`` are refused; that it is registered is no error, so that modules can be imported."""

    def typing(*args: Any, **named: Any) -> NoReturn:
        shown = getattr(what, "__name__", what)
        raise LoweringError(
            f"{shown}() is made by {name}, which hands out LLVM IR; kernels are not compiled through that here\n"
            f"  help: {instead}"
        )

    add(what, Registered(typing, strict=False))


class _Intrinsic:
    """What ``intrinsic`` gives: a function that kernels are told they cannot call."""

    def __init__(self, name: str, defn: Any) -> None:
        functools.update_wrapper(self, defn)
        self.__name__, self._defn = name, defn
        _refuse("intrinsic()", self, "write it in Python with overload(), or link other code with declare_device()")

    def __call__(self, *args: Any, **named: Any) -> NoReturn:
        raise NotImplementedError(f"{self.__name__}() is an intrinsic, which the host cannot call")


def intrinsic(*args: Any, **kwargs: Any) -> Any:
    """Decorator of a function that makes LLVM IR: kernels that call it do not compile here, and say what to do."""
    if kwargs or not args:
        return lambda function: _Intrinsic(function.__name__, function)
    return _Intrinsic(args[0].__name__, args[0])


_OVERLOAD = "overload() gives a function of Python for the types of its arguments"


def _ignored(name: str, instead: str) -> Callable[..., Any]:
    def register(*args: Any, **options: Any) -> Any:
        return lambda implementation: implementation

    register.__name__ = register.__qualname__ = name
    register.__doc__ = f"Accepted without effect, as it is about LLVM IR: {instead}."
    return register


lower_cast = _ignored("lower_cast", "convert with a function of Python")
lower_getattr = lower_getattr_generic = _ignored("lower_getattr", "overload_attribute() gives a function of Python")
lower_setattr = lower_setattr_generic = _ignored("lower_setattr", "arrays are what kernels write")
lower_constant = _ignored("lower_constant", "instances of a class whose type has a struct are read by their attributes")
infer, infer_getattr = _ignored("infer", _OVERLOAD), _ignored("infer_getattr", _OVERLOAD)
box = _ignored("box", "kernels give values back in arrays")
unbox = _ignored("unbox", "arguments are arrays, numbers, tuples and dataclasses, or what extensions= makes of others")
reflect = _ignored("reflect", "arrays are what kernels write")


class NativeValue:
    """A value of LLVM IR, as ``unbox`` gives it; without use here."""

    def __init__(self, value: Any, is_error: Any = None, cleanup: Any = None) -> None:
        self.value, self.is_error, self.cleanup = value, is_error, cleanup


class _Models:
    """Data models are LLVM types: classes without effect, but for structs."""

    StructModel = StructModel

    def __getattr__(self, name: str) -> type:
        if name.startswith("_"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *args, **named: None})


core_models = models = _Models()


def overload_classmethod(typ: Any, attr: str, **kwargs: Any) -> NoReturn:
    """Refused: types are not values of kernels."""
    raise NotImplementedError("types of cuda.types have no class methods in kernels: use overload() with a function")

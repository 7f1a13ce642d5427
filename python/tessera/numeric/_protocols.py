# SPDX-License-Identifier: Apache-2.0
"""Calls that classes of others answer: ``__array_function__`` (NEP 18), ``like=`` (35), ``__array_ufunc__`` (13).

The C half (ext/numeric_protocol.c) comes here where a call meets an object whose class has one of them in a way of
its own. Which arguments of a function count, NumPy's own function says. Such a class is given our function; one whose
module knows NumPy and not this package gets NumPy's, which it looks for in its tables.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
from collections.abc import Iterable
from typing import Any

import numpy

from . import _setup
from ._ndarray import ndarray
from ._ufunc import INNER

_LIKE = frozenset("""
    arange array asanyarray asarray ascontiguousarray asfortranarray empty eye frombuffer fromfile fromfunction fromiter
    fromstring full genfromtxt identity loadtxt ones require tri zeros
""".split())
_DISPATCHES = type(numpy.sum)  # what asks which arguments count
_LEVELS = 8  # of lists in lists


def kind_of(name: str) -> int:
    """The kind of the routine of this name."""
    return _setup.UFUNC if isinstance(getattr(numpy, name), numpy.ufunc) else _setup.FUNCTION


def answers(kind: type, protocol: str) -> bool:
    """Whether a class answers calls in a way of its own. Memory of a GPU is read where it lies, whatever its class."""
    method = getattr(kind, protocol, ...)
    if method is ... or method in (getattr(ndarray, protocol), getattr(numpy.ndarray, protocol)):
        return False
    if issubclass(kind, numpy.generic) or hasattr(kind, "_answers_numpy_alone"):
        return False
    return issubclass(kind, ndarray) or not hasattr(kind, "__cuda_array_interface__")


def _knows_numpy_alone(method: Any) -> bool:
    """Whether the module that a method is written in has NumPy and not this package; one in C has NumPy."""
    names = getattr(method, "__globals__", None)
    if names is None:
        return True
    values = [*names.values()]
    package = importlib.import_module(__package__)
    return any(x is numpy for x in values) and not any(x is package for x in values)


def _in_order(objects: Iterable[Any]) -> list[Any]:
    """One object of each class, in the order in which they are asked: derived classes before their bases."""
    order: list[Any] = []
    for x in objects:
        if all(type(x) is not type(y) for y in order):
            order.insert(next((i for i, y in enumerate(order) if isinstance(x, type(y))), len(order)), x)
    return order


# -- functions -----------------------------------------------------------------------------------------


class _Plain:
    """Stands for an argument that does not answer, in a call of NumPy's function: it has no implementation for this
    class, so none runs."""

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return NotImplemented


class _PlainList(_Plain, list):  # type: ignore[type-arg]
    """The same for a list."""


class _PlainTuple(_Plain, tuple):  # type: ignore[type-arg]
    """The same for a tuple."""


class _Probe:
    """Stands for an argument that may answer, which NumPy's function asks where it counts."""

    def __init__(self, value: Any, function: Any, met: list[Any]) -> None:
        self._value, self._function, self._met = value, function, met

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is self._function:  # not one that it calls
            self._met.append(self._value)
        return NotImplemented


def _forward(name: str) -> Any:
    return lambda probe, *args: getattr(probe._value, name)(*args)


@functools.cache
def _probe(number: int, sequence: frozenset[str]) -> type[_Probe]:
    """Classes of probes, one for each class of arguments in a call: sequences where the arguments are."""
    return type(f"_Probe{number}", (_Probe,), {name: _forward(name) for name in sequence})


class _Probes:
    """What stands for the arguments of one call. NumPy's functions look into lists and tuples, and into what can be
    taken apart like them."""

    def __init__(self, function: Any) -> None:
        self._function, self._lists_stay = function, function.__name__ == "block"  # which looks at lists alone
        self.met: list[Any] = []
        self._kinds: dict[type, type[_Probe]] = {}

    def of(self, x: Any, levels: int = _LEVELS) -> Any:
        kind = type(x)
        if hasattr(kind, "__array_function__"):
            sequence = frozenset(name for name in ("__iter__", "__len__", "__getitem__") if hasattr(kind, name))
            return self._kinds.setdefault(kind, _probe(len(self._kinds), sequence))(x, self._function, self.met)
        if isinstance(x, (list, tuple)) and levels:
            each = [self.of(y, levels - 1) for y in x]
            if self._lists_stay and kind is list:
                return each
            return _PlainTuple(each) if isinstance(x, tuple) else _PlainList(each)
        return x if x is None else _Plain()


def _relevant(theirs: Any, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """The arguments that have ``__array_function__`` and count in a call of NumPy's function. It asks all that count,
    and as no class answers, it fails before it computes."""
    probes = _Probes(theirs)
    named = {name: probes.of(x) for name, x in options.items() if name != "device"}
    try:
        theirs(*(probes.of(x) for x in args), **named)
    except TypeError as error:
        if "maximum number" in str(error):
            raise
    return probes.met


@functools.cache
def _of_numpy(module: str, name: str) -> Any:
    """NumPy's function of a routine."""
    home = importlib.import_module(f"numpy{module.removeprefix(__package__)}")
    return getattr(home, name, None)


def _not_implemented(routine: Any, types: Iterable[type]) -> TypeError:
    return TypeError(
        f"no implementation found for '{routine.__module__}.{routine.__name__}' on types that implement "
        f"__array_function__: {[*types]}"
    )


def _ask(x: Any, routine: Any, theirs: Any, types: Any, args: Any, options: Any) -> Any:
    method = type(x).__array_function__
    function = theirs if theirs is not None and _knows_numpy_alone(method) else routine
    return method(x, function, types, args, options)


def _by_like(routine: Any, args: Any, options: Any) -> Any:
    """A call with ``like=``."""
    like = options.pop("like")
    if like is None:
        return function_answered(routine, args, options)
    if not hasattr(type(like), "__array_function__"):
        raise TypeError(
            "The `like` argument must be an array-like that implements the `__array_function__` protocol."
        )
    if not answers(type(like), "__array_function__"):
        return routine._implementation(*args, **options)
    with contextlib.suppress(ValueError):  # it has no signature
        inspect.signature(routine).bind(*args, **options)  # a wrong call is an error before the class is asked
    theirs, types = _of_numpy(routine.__module__, routine.__name__), (type(like),)
    made = _ask(like, routine, theirs, types, args, options)
    if made is NotImplemented:
        raise _not_implemented(routine, types)
    return made


def function_answered(routine: Any, args: tuple[Any, ...], options: dict[str, Any], _: bool = False) -> Any:
    """What a call of a function gives that classes of others answer; Ellipsis: what our function does."""
    if "like" in options and routine.__name__ in _LIKE:
        made = _by_like(routine, args, options)
        return routine._implementation(*args, **options) if made is ... else made
    theirs = _of_numpy(routine.__module__, routine.__name__)
    if type(theirs) is not _DISPATCHES or routine.__name__ in _LIKE:  # those of `like=` ask nothing else
        return ...
    order = _in_order(_relevant(theirs, args, options))
    types = tuple(type(x) for x in order)
    others = [answers(kind, "__array_function__") for kind in types]
    if not any(others):
        return ...
    ours_alone = all(issubclass(kind, (ndarray, numpy.ndarray)) or not is_other
                     for kind, is_other in zip(types, others, strict=True))  # fmt: skip
    for x, is_other in zip(order, others, strict=True):
        if is_other:
            made = _ask(x, routine, theirs, types, args, options)
            if made is not NotImplemented:
                return made
        elif ours_alone:
            return ...
    raise _not_implemented(routine, types)


def function_of_array(function: Any, types: Any, args: Any, options: Any) -> Any:
    """``ndarray.__array_function__``: our function in place of NumPy's, without asking the classes again."""
    if not isinstance(args, tuple):
        raise TypeError("args must be a tuple.")
    if not isinstance(options, dict):
        raise TypeError("kwargs must be a dict.")
    if any(answers(kind, "__array_function__") and not issubclass(kind, (ndarray, numpy.ndarray)) for kind in types):
        return NotImplemented
    module, name = str(function.__module__), function.__name__
    top, _, rest = module.partition(".")
    if top == "numpy":
        ours = getattr(_home_of(rest), name, None)
        if callable(ours):
            return getattr(ours, "_implementation", ours)(*args, **options)
        if getattr(importlib.import_module(module), name, None) is function:
            return NotImplemented
    return getattr(function, "_implementation", function)(*args, **options) if callable(function) else NotImplemented


def _home_of(rest: str) -> Any:
    """The module here that has the functions of one of NumPy's; None: there is none."""
    try:
        return importlib.import_module(f"{__package__}.{rest}".rstrip("."))
    except ModuleNotFoundError:
        return None


# -- functions of elements -----------------------------------------------------------------------------

_REDUCE = ("array", "axis", "dtype", "out", "keepdims", "initial", "where")
_NAMES = {
    "reduce": _REDUCE,
    "accumulate": _REDUCE[:4],
    "reduceat": ("array", "indices", *_REDUCE[1:4]),
}
_INPUTS = {"reduce": 1, "accumulate": 1, "reduceat": 2, "outer": 2}
_OPTIONS = frozenset("axes axis casting dtype keepdims order out sig signature subok where".split())


def _by_name(what: str, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Operands and keywords of a method whose arguments have names."""
    names, n = _NAMES[method], _INPUTS[method]
    given = dict(zip(names, args, strict=False))
    twice = [*(given.keys() & options.keys()), *options.keys() - set(names)]
    if len(args) > len(names) or twice or not {*names[:n]} <= given.keys() | options.keys():
        raise TypeError(f"{what} takes the arguments {', '.join(names)}, each once; the first {n} must be there")
    named = {name: x for name, x in given.items() if name != "initial" or x is not _setup.NO_VALUE} | options
    return tuple(named.pop(name) for name in names[:n]), named


def _in_turn(function: Any, what: str, n: int, args: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Operands and keywords of a call, whose results may stand behind its operands."""
    unknown = next((name for name in options if name not in _OPTIONS), None)
    if unknown is not None:
        raise TypeError(f"{what} got an unexpected keyword argument {unknown!r}")
    named, extra = dict(options), args[n:]
    if not n <= len(args) <= n + function.nout:
        given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
        raise TypeError(f"{what} takes from {n} to {n + function.nout} positional arguments but {given}")
    if extra and "out" in named:
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    if extra:
        named["out"] = (*extra, *(None,) * (function.nout - len(extra)))
    if "sig" in named and "signature" in named:
        raise TypeError("cannot specify both 'sig' and 'signature'")
    if "sig" in named:
        named["signature"] = named.pop("sig")
    return args[:n], named


def _normal(function: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Operands and keywords of a call as NumPy gives them to classes: results are a tuple, the rest has its name."""
    what = function.__name__ + ("" if method == "__call__" else f".{method}") + "()"
    if method == "at":
        if len(args) != function.nin + 1 or options:
            raise TypeError(f"{what} takes {function.nin + 1} positional arguments")
        return args, {}
    if method in _NAMES:
        inputs, named = _by_name(what, method, args, options)
    else:
        n = function.nin if method == "__call__" else _INPUTS[method]
        inputs, named = _in_turn(function, what, n, args, options)
    if "out" not in named or named["out"] is ...:
        return inputs, named
    if not isinstance(named["out"], tuple):
        if function.nout > 1:
            raise TypeError("'out' must be a tuple of arrays")
        named["out"] = (named["out"],)
    if len(named["out"]) != function.nout:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    if all(x is None for x in named["out"]):
        del named["out"]
    return inputs, named


def ufunc_answered(function: Any, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a call of a function of elements, or of one of its methods, gives that classes of others answer; Ellipsis:
    what our function does."""
    name = function.__name__
    if name in INNER or method not in ("__call__", "at", *_INPUTS):
        return ...
    if not hasattr(function, "nin"):  # the routine of one
        function = getattr(importlib.import_module(__package__), name)
    inputs, named = _normal(function, method, args, options)
    outs = named.get("out", ())
    met = [x for x in (*inputs, *(() if outs is ... else outs), named.get("where"))
           if answers(type(x), "__array_ufunc__")]  # fmt: skip
    if not met:
        return ...
    for x in met:
        if type(x).__array_ufunc__ is None:
            raise TypeError(f"operand '{type(x).__name__}' does not support ufuncs (__array_ufunc__=None)")
    for x in _in_order(met):
        how = type(x).__array_ufunc__
        theirs = getattr(numpy, name, None) if _knows_numpy_alone(how) else None
        made = how(x, function if theirs is None else theirs, method, *inputs, **named)
        if made is not NotImplemented:
            return made
    words = ", ".join([repr(function), repr(method), *map(repr, inputs), *(f"{k}={v!r}" for k, v in named.items())])
    kinds = ", ".join(repr(type(x).__name__) for x in (*inputs, *(() if outs is ... else outs)))
    raise TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({words}): {kinds}")

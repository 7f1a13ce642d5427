# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that are written in Python, run on arrays of ours.

Many functions of NumPy are Python programs on its arrays (``percentile``, ``pad``, ``polyfit``, the package
``polynomial``). Those that have no counterpart here are *adopted*: the installed NumPy's module is executed once more,
in a namespace whose imports of ``numpy`` are answered by this package. Nothing of it is copied, and what it computes
is computed by our kernels. What such a program asks of NumPy's C code that we do not have is called on the host and
counted (:func:`host_calls`).
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from . import _host
from ._converter import Converter
from ._functions import asanyarray
from ._ndarray import ndarray
from ._setup import FUNCTION, device, of_numpy, to_numpy

# Modules whose functions stay NumPy's: they configure, print, describe. Arrays of ours are lent to them.
_KEPT = {
    "numpy._core.arrayprint",
    "numpy._core._internal",
    "numpy._core._ufunc_config",
    "numpy._core.getlimits",
    "numpy._core.numerictypes",
    "numpy._core.overrides",
    "numpy._globals",
    "numpy._pytesttester",
    "numpy._utils",
    "numpy.__config__",
    "numpy.lib._array_utils_impl",
}
# Modules of NumPy that have a module here, in which they are executed.
_HOMES = {
    "numpy.polynomial": "tessera.numeric.polynomial",
    "numpy.ma": "tessera.numeric.ma",
    "numpy._core.records": "tessera.numeric.rec",
    "numpy._core.defchararray": "tessera.numeric.char",
    "numpy._core.strings": "tessera.numeric.strings",
    "numpy.lib.recfunctions": "tessera.numeric.lib.recfunctions",
}
# Modules of NumPy that are written anew here; every other name is looked for in the package itself.
_OWN = {"numpy.linalg": "linalg", "numpy.fft": "fft", "numpy.random": "random"}
# Modules in C of NumPy that have one of ours in their place for arrays on a GPU.
_INNER = {"numpy.linalg._umath_linalg": "tessera.numeric._cusolver"}
# Adopted modules, also those that are being executed, which only the thread that executes them may see: others wait for
# the lock. Homes are empty when they are imported, and never take the lock then: so a thread may import one under it.
_adopted: dict[str, dict[str, Any]] = {}
_homes: dict[str, tuple[dict[str, Any], Callable[[dict[str, Any]], None] | None]] = {}
_lock = threading.RLock()
FOUND: set[str] = set()  # adopted names that users have asked the package for, which are in its namespace, too
_DISPATCHES = type(numpy.sum)


def _undecorated(*args: Any, **options: Any) -> Any:
    """In place of decorators that make functions dispatch, or rename them."""
    return lambda function: function


def _asanyarray(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """An array of anything, but for objects that do not take part in arithmetic of arrays, as polynomials; NumPy's of
    objects where these are asked for, which functions of Python's are called with."""
    if getattr(type(a), "__array_ufunc__", True) is None:
        return a
    if dtype is object:
        _host.count("asanyarray of objects")
        return numpy.array(_host.take(a), object)
    if type(a) is numpy.ndarray and a.dtype == object:  # what they have given
        a = a.astype(dtype)
    return asanyarray(a, dtype, *args, **options)


_STAND_INS = {
    "_array_converter": Converter,
    "asanyarray": _asanyarray,
    "array_function_dispatch": _undecorated,
    "set_module": _undecorated,
    "finalize_array_function_like": lambda function: function,
    "add_docstring": lambda *args: None,
    "add_newdoc": lambda *args: None,
}


class View:
    """A module of NumPy as adopted programs see it: our functions where we have them."""

    def __init__(self, module: str) -> None:
        self.__name__ = module

    def __getattr__(self, name: str) -> Any:
        found = _resolve(self.__name__, name)
        if callable(found) or isinstance(found, _STAYS):
            self.__dict__[name] = found  # it stays what it is
        return found


_STAYS = (View, int, float, complex, str, type(numpy._NoValue))


def _package() -> Any:
    return importlib.import_module("tessera.numeric")


def _implementation(thing: Any) -> Any:
    """The Python function behind a function that dispatches, or the first one of a class; else the thing."""
    if isinstance(thing, type):
        members = (getattr(each, "__func__", each) for each in vars(thing).values())
        return next((each for each in members if isinstance(each, types.FunctionType)), thing)
    return getattr(thing, "_implementation", thing)


def source_of(thing: Any) -> str | None:
    """The module of NumPy whose Python program makes this function, class or object; None: none does."""
    function = _implementation(thing)
    if not isinstance(function, types.FunctionType) and not isinstance(
        thing, (type, types.BuiltinFunctionType)
    ):
        function = _implementation(type(thing))
    module = getattr(function, "__globals__", {}).get("__name__", "")
    return module if module.startswith("numpy.") else None


def lent(thing: Any, counted: bool) -> Any:
    """A function of NumPy's that gets NumPy's arrays for ours and whose results are ours."""

    def function(*args: Any, **options: Any) -> Any:
        if counted and _host.holds_ours([*args, *options.values()]):
            return _host.call(thing.__name__, thing, *args, **options)
        return _host.give(thing(*_host.take(args), **_host.take(options)))

    function.__name__ = function.__qualname__ = thing.__name__
    function.__doc__ = f"NumPy's {thing.__name__}."
    return function


def _inner(module: str, name: str) -> Any:
    """A function of a module in C: NumPy's for arrays of the CPU, in their memory, ours for those of a GPU."""
    theirs, home = getattr(importlib.import_module(module), name), importlib.import_module(_INNER[module])

    def function(*args: Any, **options: Any) -> Any:
        if _host.away(args) and home.has(name):
            return getattr(home, name)(*args, **options)
        return _host.call(f"linalg.{name}", theirs, *args, **options)

    return function


def _resolve(module: str, name: str) -> Any:
    """What a name of a module of NumPy is to adopted programs."""
    if _home(module) and name in adopt(module):
        return adopt(module)[name]
    if name in _STAND_INS:
        return _STAND_INS[name]
    if module in _INNER:
        return _inner(module, name)
    home = getattr(_package(), _OWN[module]) if module in _OWN else _package()
    ours = None if name.startswith("_") or name in FOUND else vars(home).get(name)
    home_of_theirs = importlib.import_module(module)
    theirs = getattr(home_of_theirs, name, None)
    if ours is not None and (module in _OWN or getattr(numpy, name, theirs) is theirs):
        return ours  # not numpy.multiply where numpy.strings has another multiply
    if theirs is None:
        theirs = getattr(home_of_theirs, name)  # an error, or None
    if isinstance(theirs, types.ModuleType):
        return View(theirs.__name__) if theirs.__name__.startswith("numpy") else theirs
    return _resolved(theirs, name)


def _resolved(theirs: Any, name: str) -> Any:
    if isinstance(theirs, type) and issubclass(theirs, (BaseException, numpy.generic, numpy.dtype)):
        return theirs
    source = source_of(theirs)
    if source in _KEPT:
        return lent(theirs, False) if callable(theirs) and not isinstance(theirs, type) else theirs
    if source:
        names = adopt(source)
        return names[name] if name in names else names[_implementation(theirs).__name__]
    if isinstance(theirs, numpy.ndarray):
        return of_numpy(theirs.copy(), private=True)
    if isinstance(theirs, (numpy.ufunc, types.BuiltinFunctionType)) or hasattr(
        theirs, "_implementation"
    ):
        return lent(theirs, True)
    return theirs


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> Any:
    """The ``__import__`` of adopted programs."""
    whole = name
    if level:
        whole = importlib.util.resolve_name("." * level + name, globals["__tessera_package__"])
    if whole != "numpy" and not whole.startswith("numpy."):
        return builtins.__import__(name, globals, locals, fromlist, level)
    importlib.import_module(whole)
    return View(whole if fromlist else "numpy")


def home(
    namespace: dict[str, Any], module: str, mend: Callable[[dict[str, Any]], None] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of the module here that stands for one of NumPy's, which is executed when a name
    is asked for; its names are the module's from then on. ``mend`` may change them before others see them."""
    _homes[module] = namespace, mend

    def attribute(name: str) -> Any:
        if not name.startswith("__") or name == "__all__":
            names = adopt(module)
            if name in names:
                return namespace.get(name, names[name])
            inner = f"{namespace['__name__']}.{name}"
            is_package = "__path__" in namespace
            if is_package and not name.startswith("_") and importlib.util.find_spec(inner) is not None:
                return importlib.import_module(inner)
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")

    def names() -> list[str]:
        adopt(module)
        return sorted(namespace)

    return attribute, names


class _Constant:
    """An array that is a constant of a class: a new one for each look, where new arrays lie."""

    def __init__(self, array: ndarray) -> None:
        self._array = to_numpy(array)

    def __get__(self, instance: Any, owner: Any = None) -> ndarray:
        return asanyarray(self._array.copy())


def _place_constants(made: type) -> None:
    for name, constant in [*vars(made).items()]:
        if type(constant) is ndarray:
            setattr(made, name, _Constant(constant))


_FIXED = ("__new__", "__init_subclass__", "__class_getitem__")


def public(program: Any, module: str) -> Any:
    """A program of NumPy's as users get it: classes of others are asked first (_protocols.py)."""
    return _core.NumericRoutine(program, module, True, FUNCTION)


def _settled(function: types.FunctionType, module: str) -> Any:
    """A function of a home, so that what it makes on its way lies on the device of its first array."""
    function.is_adopted = True  # type: ignore[attr-defined]
    return _core.NumericRoutine(function, module, True)


def _settle(thing: Any, module: str) -> Any:
    """The function, settled; of a class, its methods are."""
    if isinstance(thing, types.FunctionType):
        return _settled(thing, module)
    if isinstance(thing, type) and thing.__module__ == module and not issubclass(thing, BaseException):
        for name, method in [*vars(thing).items()]:
            if isinstance(method, types.FunctionType) and name not in _FIXED:
                setattr(thing, name, _settled(method, module))
    return thing


def _as_ours(program: Any) -> Any:
    """A program whose axes of one element may be given to a number, which makes an array of NumPy's."""

    @functools.wraps(program)
    def made(*args: Any, **options: Any) -> Any:
        found = program(*args, **options)
        return asanyarray(found) if isinstance(found, numpy.ndarray) else found

    return made


def _execute(namespace: dict[str, Any], module: str) -> None:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.loader is not None
    # without its assertions, some of which look for sentences in documentation
    source = spec.loader.get_source(module)  # type: ignore[attr-defined]
    code = compile(source, spec.origin or module, "exec", dont_inherit=True, optimize=1)
    is_package = spec.submodule_search_locations is not None
    _adopted[module] = namespace
    namespace["__tessera_package__"] = module if is_package else module.rpartition(".")[0]
    namespace["__builtins__"] = vars(builtins) | {"__import__": _import}
    try:
        with device("cpu"):  # where its constants lie, which take part in calls on any device
            exec(code, namespace)  # noqa: S102  a module of the installed NumPy
    except BaseException:
        del _adopted[module]
        raise
    if "_ureduce" in namespace:
        namespace["_ureduce"] = _as_ours(namespace["_ureduce"])
    for made in namespace.values():
        if isinstance(made, type) and made.__module__ == namespace["__name__"]:
            _place_constants(made)
    if module in _homes:
        own, mend = _homes[module]
        if mend:
            mend(namespace)
        theirs = importlib.import_module(module)
        for name, thing in namespace.items():
            if name == "__all__" or not name.startswith("__"):
                dispatches = type(getattr(theirs, name, None)) is _DISPATCHES
                is_inner = name.startswith("_") and not isinstance(thing, type)
                settled = thing if is_inner else _settle(thing, own["__name__"])
                own[name] = public(thing, own["__name__"]) if dispatches else settled


@functools.cache
def _home(module: str) -> str | None:
    """The module here in which one of NumPy's is executed; None: it has none."""
    for theirs, ours in _HOMES.items():
        if module == theirs or module.startswith(f"{theirs}."):
            name = ours + module[len(theirs) :]
            return name if importlib.util.find_spec(name) else None
    return None


def adopt(module: str) -> dict[str, Any]:
    """The names of a module of NumPy, executed on our arrays; once a process."""
    with _lock:
        if module not in _adopted:
            name = _home(module)
            own = vars(importlib.import_module(name)) if name else _homes.get(module, ({},))[0]
            _execute({"__name__": own.get("__name__", "tessera.numeric"), "__doc__": None}, module)
        return _adopted[module]


@functools.cache
def program_of(name: str) -> Any:
    """NumPy's Python program of this name on our arrays, also where we have a function of our own; None: none."""
    theirs = getattr(numpy, name, None)
    source = None if theirs is None else source_of(theirs)
    return None if source is None or source in _KEPT else adopt(source).get(name)


@functools.cache
def find(name: str) -> Any:
    """NumPy's function, class or object of this name as a Python program on our arrays; None: it is none."""
    theirs = getattr(numpy, name, None)
    if theirs is None or isinstance(theirs, types.ModuleType):
        return None
    source = source_of(theirs)
    if source is None:
        return None
    found = _resolved(theirs, name)
    return public(found, "tessera.numeric") if isinstance(found, types.FunctionType) else found

# SPDX-License-Identifier: Apache-2.0
"""What SciPy has and `tessera.scipy` has not: SciPy computes it on the host, on copies, where it is installed.

Such a call is refused, told of or silent, and counted, as `tessera.numeric.fallback` says.
"""

from __future__ import annotations

import copy
import functools
import importlib
import types
from typing import Any

from ..numeric import _host

__all__ = ["HostObject", "of_module"]


def of_module(module: str) -> Any:
    """``__getattr__`` of a module ``tessera.scipy.<module>``."""

    def find(name: str) -> Any:
        theirs = None if name.startswith("_") else _of_scipy(module, name)
        if theirs is None or isinstance(theirs, types.ModuleType) or not (_is_scipys(theirs) or callable(theirs)):
            raise AttributeError(f"module 'tessera.scipy.{module}' has no attribute {name!r}")
        if isinstance(theirs, type) and issubclass(theirs, BaseException):
            return theirs
        return _seen(theirs, f"scipy.{module}.{name}")

    return find


def _of_scipy(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"scipy.{module}"), name, None)
    except ImportError:
        raise AttributeError(
            f"module 'tessera.scipy.{module}' has no attribute {name!r} (SciPy, which may have it, is not installed)"
        ) from None


def _hosted(name: str, function: Any, outer: Any = None) -> Any:
    def hosted(*args: Any, **options: Any) -> Any:
        return _shown(_host.absent(name, function, _plain(args), _plain(options)), name, outer)

    hosted.__name__ = hosted.__qualname__ = name.rpartition(".")[2]
    hosted.__doc__ = f"SciPy's {name}, which is not there yet: the host runs it, as `tessera.numeric.fallback` says."
    return hosted


def _plain(x: Any) -> Any:
    """SciPy's objects for those that show them, in arguments."""
    if isinstance(x, HostObject):
        return x._theirs
    if type(x) is dict:
        return {key: _plain(each) for key, each in x.items()}
    return type(x)(map(_plain, x)) if type(x) in (list, tuple) else x


def _is_scipys(x: Any) -> bool:
    """Whether it is an object or a class of SciPy's, not a function or a tuple."""
    kind = x if isinstance(x, type) else type(x)
    return (kind.__module__ or "").startswith("scipy.") and not isinstance(x, tuple)


def _seen(found: Any, name: str, outer: Any = None) -> Any:
    """What an attribute of SciPy's is here: an object, a function on the host, or a value."""
    if _is_scipys(found):
        return host_object(found, name, outer)
    return _hosted(name, found, outer) if callable(found) else _shown(_host.give(found), name, outer)


def _shown(made: Any, name: str, outer: Any) -> Any:
    """Objects of SciPy's classes as ones whose methods take and give arrays of ours."""
    if _is_scipys(made):
        return host_object(made, name, outer)
    return made if outer is None else outer(made)


class HostObject:
    """An object or a class of SciPy's on the host: its attributes are arrays of ours, and so is what its methods take
    and give. It is made by :func:`host_object`, which adds the special methods that the object has.

    Parameters
    ----------
    theirs : object
    name : str
        What calls of its methods are counted under.
    outer : callable, optional
        What arrays of ours become: CuPy's in `cupyx.scipy`.
    """

    __module__ = "tessera.scipy"

    def __init__(self, theirs: Any, name: str, outer: Any = None) -> None:
        self._theirs, self._name, self._outer = theirs, name, outer

    def through(self, outer: Any) -> HostObject:
        """The same object, whose arrays become something else."""
        return host_object(self._theirs, self._name, outer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"an object of SciPy's on the host has no attribute {name!r} here")
        return _seen(getattr(self._theirs, name), f"{self._name}.{name}", self._outer)

    def __dir__(self) -> list[str]:
        return ["through", *(name for name in dir(self._theirs) if not name.startswith("_"))]

    def __copy__(self) -> HostObject:
        return host_object(copy.copy(self._theirs), self._name, self._outer)

    def __reduce__(self) -> Any:
        return host_object, (self._theirs, self._name, self._outer)

    def __mro_entries__(self, bases: Any) -> Any:
        raise TypeError(f"{self._name} is SciPy's on the host; derive from SciPy's class itself")

    def __repr__(self) -> str:
        return f"<{self._name} on the host: {self._theirs!r}>"


def host_object(theirs: Any, name: str, outer: Any = None) -> HostObject:
    """An object or a class of SciPy's as one of ours, with the special methods that it has."""
    return _kind(type(theirs))(theirs, name, outer)


_BINARY = "add sub mul truediv floordiv mod pow matmul".split()
# What the host computes, which is refused, told of or silent; and what only looks.
_COMPUTED = ["call", "getitem", "neg", "pos", "abs", *_BINARY, *(f"r{name}" for name in _BINARY)]
_LOOKS = ["instancecheck", "subclasscheck", "len", "bool", "contains", "enter", "exit", "iter"]


@functools.cache
def _kind(theirs: type) -> type[HostObject]:
    """HostObject with the special methods of a class."""
    made = {f"__{name}__": _special(f"__{name}__", name in _COMPUTED) for name in (*_COMPUTED, *_LOOKS)
            if any(f"__{name}__" in vars(each) for each in theirs.__mro__)}  # fmt: skip
    return type("HostObject", (HostObject,), {"__module__": "tessera.scipy", **made})


def _special(name: str, is_computed: bool) -> Any:
    def method(self: HostObject, *args: Any, **options: Any) -> Any:
        function = functools.partial(getattr(type(self._theirs), name), self._theirs)
        called = self._name if name == "__call__" else f"{self._name}.{name}"
        if is_computed:
            return _hosted(called, function, self._outer)(*args, **options)
        made = function(*_host.take(_plain(args)))
        if name == "__iter__":
            return (_shown(_host.give(each), called, self._outer) for each in made)
        return self if made is self._theirs else made

    method.__name__ = method.__qualname__ = name
    return method

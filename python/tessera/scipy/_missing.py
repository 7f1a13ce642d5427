# SPDX-License-Identifier: Apache-2.0
"""What SciPy has and `tessera.scipy` has not: SciPy computes it on the host, on copies, where it is installed.

Such a call is refused, told of or silent, and counted, as `tessera.numeric.fallback` says.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from ..numeric import _host

__all__ = ["of_module"]


def of_module(module: str) -> Any:
    """``__getattr__`` of a module ``tessera.scipy.<module>``."""

    def find(name: str) -> Any:
        theirs = None if name.startswith("_") else _of_scipy(module, name)
        if theirs is None or isinstance(theirs, types.ModuleType) or not callable(theirs):
            raise AttributeError(f"module 'tessera.scipy.{module}' has no attribute {name!r}")
        if isinstance(theirs, type) and issubclass(theirs, BaseException):
            return theirs
        return _hosted(f"scipy.{module}.{name}", theirs)

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


def _shown(made: Any, name: str, outer: Any) -> Any:
    """Objects of SciPy's classes as ones whose methods take and give arrays of ours."""
    if type(made).__module__.startswith("scipy.") and not isinstance(made, tuple):
        return HostObject(made, name, outer)
    return made if outer is None else outer(made)


class HostObject:
    """An object of SciPy's on the host: its attributes are arrays of ours, and so is what its methods take and give.

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
        return HostObject(self._theirs, self._name, outer)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self._name} has no attribute {name!r}")
        found = getattr(self._theirs, name)
        if callable(found):
            return _hosted(f"{self._name}.{name}", found, self._outer)
        return _shown(_host.give(found), self._name, self._outer)

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Calls the object."""
        return _hosted(self._name, self._theirs, self._outer)(*args, **options)

    def __repr__(self) -> str:
        return f"<{self._name} on the host: {self._theirs!r}>"

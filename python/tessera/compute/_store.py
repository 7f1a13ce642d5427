# SPDX-License-Identifier: Apache-2.0
"""Kernels of algorithms that a process before has packed: what the compiler reads is kept beside compiled code.

    kernel_of(make, key, parts) --> name_of(make, key, options)      None where the key says nothing to other processes
                                --> _core.cache_kept(name)           the pack: no source is read, no function is made
                                --> else make(*parts()), packed      and kept for the next process

A name holds all that a pack depends on: the library's files as they are, Python, and the key, with the code of the
user's functions and where it stands. What is asked of a kernel beside its code, as what it raises, is answered by
packing it after all.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .. import _core
from .types import TypeDescriptor

__all__ = ["kernel_by_name", "kernel_ready", "name_of"]

_FOLDERS = (".", "compute", "coop", "cuda")  # of the package: whose files kernels are made of
_FROM = ("builtins", "math", "numpy", "operator", "tessera")  # modules whose names mean the same in all processes


class _Unknown(Exception):
    """A key holds what has no name, or the library's files are not at hand."""


@functools.cache
def _library() -> str:
    """The library's files as they are, Python and NumPy."""
    base = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = []
    try:
        for folder in _FOLDERS:
            with os.scandir(os.path.join(base, folder)) as entries:
                for entry in entries:
                    if entry.name.endswith((".py", ".so")):
                        status = entry.stat()
                        files.append((folder, entry.name, status.st_size, status.st_mtime_ns))
    except OSError:  # in an archive
        raise _Unknown from None
    return repr((base, sys.version, numpy.__version__, sorted(files)))


def name_of(make: Callable[..., Any], key: Any, options: Any) -> bytes | None:
    """A name that is equal for one kernel in all processes; None: there is none."""
    try:
        library, said = _library(), "\n".join(_said(key))
    except _Unknown:
        return None
    text = f"{library}\n{make.__module__}.{make.__qualname__}\n{options}\n{said}"
    return text.encode("utf-8", "surrogatepass")


def _said(value: Any) -> Iterator[str]:
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        yield f"{kind.__name__} {value!r}"
    elif isinstance(value, tuple):
        yield f"{_of_module(kind)} {len(value)}"
        for item in value:
            yield from _said(item)
    elif kind is types.CodeType:
        yield from _said_of_code(value)
    elif kind is frozenset:
        yield f"frozenset {sorted(map(repr, value))}"
    elif isinstance(value, enum.Enum):
        yield f"{_of_module(kind)} {value.name}"
    elif isinstance(value, numpy.dtype):
        yield f"dtype {value!r} {value.name} {value.itemsize}"
    elif isinstance(value, numpy.generic):
        yield f"{_of_module(kind)} {value.tobytes()!r}"
    elif isinstance(value, TypeDescriptor):
        yield f"type {value.dtype!r} {value.dtype.name} {value.dtype.itemsize}"
    elif kind in (types.BuiltinFunctionType, numpy.ufunc, type):
        yield _of_module(value)
    elif value is Ellipsis:
        yield "..."
    else:
        raise _Unknown


def _of_module(value: Any) -> str:
    """A class or function by its name, where that means the same everywhere."""
    module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, numpy.ufunc) else "")
    if module.partition(".")[0].lstrip("_") not in _FROM:
        raise _Unknown
    return f"{module}.{getattr(value, '__qualname__', value.__name__)}"


def _said_of_code(code: types.CodeType) -> Iterator[str]:
    """All of a function's code, and where it stands: messages show it."""
    yield f"code {code.co_filename!r} {code.co_firstlineno} {code.co_name!r} {code.co_flags} {code.co_code!r}"
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars} {code.co_argcount}"
    yield f"{code.co_linetable!r} {code.co_kwonlyargcount} {code.co_posonlyargcount}"
    yield from _said(code.co_consts)


class _LaterHost:
    """What the host of a kernel's compilations says without being asked (see _host.py), and the host itself."""

    asks, takes_structs, links, captured = False, True, (), ()

    def __init__(self, pack: bytes | None, build: Callable[[], Any]) -> None:
        self.failure: BaseException | None = None
        self._stored, self._build = pack, build

    @functools.cached_property
    def _host(self) -> Any:
        kernel = self._build()
        pack, host = kernel._packed()[2], kernel._pack[1]
        if self._stored is not None and pack != self._stored:
            raise RuntimeError(f"kernel '{kernel.__name__}' was kept for another function; run: tessera cache clear")
        return host

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._host, name)


def _stub(name: str, file: str, parameters: str) -> Any:
    """A function with the name, the place and the parameters of one that is not there."""
    space: dict[str, Any] = {}
    exec(compile(f"def {name}({parameters}): pass", file, "exec"), space)
    return space[name]


def kernel_by_name(name: bytes | None, build: Callable[[], Any], dress: Callable[..., Any]) -> Any:
    """The kernel that ``build()`` gives; of a name that was kept it is not called.

    Parameters
    ----------
    build
        Gives the kernel, a `Dispatcher`.
    dress
        ``dress(function, source)`` gives the kernel of a function.
    """
    found = None if name is None else _core.cache_kept(name)
    if found is None:
        kernel = build()
        if name is not None:
            kernel._on_packed = functools.partial(_keep, kernel, name)
        return kernel
    about, _, pack = found.partition(b"\0")
    kernel = dress(_stub(*about.decode().split("\n")), "")
    kernel._pack = pack, _LaterHost(pack, build)
    return kernel


def kernel_ready(found: Any, build: Callable[[], Any], dress: Callable[..., Any]) -> Any:
    """The kernel of a pack that lies in the library, see `_ready.pack_of`; that of ``build()`` has another form."""
    name, file, parameters, pack = found
    kernel = dress(_stub(name, file, ", ".join(parameters)), "")
    kernel._pack = pack, _LaterHost(None, build)
    return kernel


def _keep(kernel: Any, name: bytes) -> None:
    pack, host = kernel._pack
    if host.asks or host.captured or host.links:
        return
    code = kernel.py_func.__code__
    about = "\n".join((code.co_name, code.co_filename, ", ".join(code.co_varnames[: code.co_argcount])))
    if about.isascii() and about.count("\n") == 2 and "\0" not in about:
        _core.cache_keep(f"pack of {code.co_name}", name, about.encode() + b"\0" + pack)

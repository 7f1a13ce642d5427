# SPDX-License-Identifier: Apache-2.0
"""Kernels of algorithms that a process before has packed: what the compiler reads is kept beside compiled code.

    kernel_of(make, key, parts) --> name_of(make, key, bounds)       None where the key says nothing to other processes
                                --> _core.cache_kept(name)           what its launches need: no function is made
                                --> else make(*parts()), packed      and kept for the next process
    launch                      --> kept code of that name           its pack is not looked at
                                --> else host.source()               the pack, kept too

A name holds all that a pack depends on: the library's files as they are, Python, and the key, with the code of the
user's functions and where it stands. So it stands for the pack in keys of code (`id` of ts_source). What is asked of a
kernel beside its code, as what it raises, is answered by packing it after all.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._checked import wished
from ..cuda import config
from ..cuda._hints import bounds_hints, hint_rows, parameter_rows
from .types import TypeDescriptor

__all__ = ["StoredKernel", "is_plain", "keep_packed", "kernel_by_name", "kernel_ready", "name_of", "under_way"]

_FOLDERS = (".", "compute", "coop", "cuda")  # of the package: whose files kernels are made of
_PLAIN = frozenset((bool, int, float, complex, str, bytes))
_FROM = ("builtins", "math", "numpy", "operator", "tessera")  # modules whose names mean the same in all processes
_PACK = b"\npack"  # behind the name of a kernel: its pack
_MOST_TUPLES = 256  # whose lines are kept
_tuples: dict[int, tuple[tuple[Any, ...], list[str]]] = {}  # by their ids


class _UnderWay(threading.local):
    """Of the call under way in this thread, or that this thread helps."""

    packed: list[tuple[Any, bytes]] | None = None  # kernels that it has packed, and their names; None: there is no call


under_way = _UnderWay()


class _Unknown(Exception):
    """A key holds what has no name, or the library's files are not at hand."""


@functools.cache
def _library() -> str:
    """The library's files as they are, Python and NumPy."""
    base = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = _core.cache_files(tuple(os.path.join(base, folder) for folder in _FOLDERS), (".py", ".so"))
    if files is None:  # in an archive
        raise _Unknown
    return repr((base, sys.version, numpy.__version__, files))


def name_of(make: Callable[..., Any], key: Any, bounds: Any) -> bytes | None:
    """A name that is equal for one kernel in all processes; None: there is none."""
    said: list[str] = []
    try:
        said += (_library(), f"{make.__module__}.{make.__qualname__}", str(bounds))
        _say(key, said)
    except _Unknown:
        return None
    return "\n".join(said).encode("utf-8", "surrogatepass")


def _say(value: Any, said: list[str]) -> None:
    """Adds lines that are equal for equal values only."""
    say = _SAY.get(type(value))
    if say is not None:
        say(value, said)
    elif isinstance(value, tuple):
        said.append(f"{_of_module(type(value))} {len(value)}")
        for item in value:
            _say(item, said)
    elif isinstance(value, numpy.dtype):
        said.append(f"dtype {_of_dtype(value)}")
    elif isinstance(value, TypeDescriptor):
        said.append(f"type {_of_dtype(value.dtype)}")
    elif isinstance(value, enum.Enum):
        said.append(f"{_of_module(type(value))} {value.name}")
    elif isinstance(value, numpy.generic):
        said.append(f"{_of_module(type(value))} {value.tobytes()!r}")
    elif value is Ellipsis:
        said.append("...")
    else:
        raise _Unknown


def _say_tuple(value: tuple[Any, ...], said: list[str]) -> None:
    """A tuple's lines are made once: kernels of one call have parts of their keys in common."""
    known = _tuples.get(id(value))
    if known is None:
        lines = [f"builtins.tuple {len(value)}"]
        for item in value:
            _say(item, lines)
        if len(_tuples) >= _MOST_TUPLES:
            _tuples.clear()
        known = _tuples[id(value)] = value, lines  # holds it, so that no other one gets its id
    said += known[1]


def _say_plain(value: Any, said: list[str]) -> None:
    said.append(f"{type(value).__name__} {value!r}")


def _say_module(value: Any, said: list[str]) -> None:
    said.append(_of_module(value))


def _of_dtype(dtype: Any) -> str:
    """All of a dtype; what NumPy makes in Python of those that are not plain takes long."""
    return dtype.str if dtype.kind in "biufc" else f"{dtype!r} {dtype.name} {dtype.itemsize}"


def _of_module(value: Any) -> str:
    """A class or function by its name, where that means the same everywhere."""
    module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, numpy.ufunc) else "")
    if module.partition(".")[0].lstrip("_") not in _FROM:
        raise _Unknown
    return f"{module}.{getattr(value, '__qualname__', value.__name__)}"


def _say_code(code: types.CodeType, said: list[str]) -> None:
    """All of a function's code, and where it stands: messages show it."""
    said += (
        f"code {code.co_filename!r} {code.co_firstlineno} {code.co_name!r} {code.co_flags} {code.co_code!r}",
        f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars} {code.co_argcount}",
        f"{code.co_linetable!r} {code.co_kwonlyargcount} {code.co_posonlyargcount}",
    )
    _say(code.co_consts, said)


_SAY: dict[type, Callable[[Any, list[str]], None]] = {
    tuple: _say_tuple, types.CodeType: _say_code,
    **dict.fromkeys((*_PLAIN, type(None)), _say_plain),
    **dict.fromkeys((types.BuiltinFunctionType, numpy.ufunc, type), _say_module),
    frozenset: lambda value, said: said.append(f"frozenset {sorted(map(repr, value))}"),
}  # fmt: skip


class _LaterHost:
    """What the host of a kernel's compilations says without being asked (see _host.py), and the host itself."""

    asks, takes_structs, links, captured = False, True, (), ()

    def __init__(self, read: Callable[[], bytes | None], build: Callable[[], Any], is_same: bool) -> None:
        self.failure: BaseException | None = None
        self._read, self._build, self._is_same = read, build, is_same

    @functools.cached_property
    def _built(self) -> tuple[bytes, Any]:
        """The pack and the host of what ``build()`` gives."""
        kernel = self._build()
        pack, host = kernel._packed()[2], kernel._pack[1]
        if self._is_same and self._read() not in (None, pack):
            raise RuntimeError(f"kernel '{kernel.__name__}' was kept for another function; run: tessera cache clear")
        return pack, host

    @property
    def _host(self) -> Any:
        return self._built[1]

    def source(self) -> bytes:
        """The pack, called by ext/evaluate.c; what was kept may have been cleared away since."""
        return self._read() or self._built[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._host, name)


@functools.cache
def _hints(bounds: tuple[int, ...]) -> tuple[Any, ...]:
    """The row of hints of a kernel with these launch bounds."""
    return hint_rows({"opt_level": _core.OPT_LEVEL, "checked": _core.CHECK_RAISES, "tiers": 1, **bounds_hints(bounds)})


class StoredKernel(_core.ThreadKernel):  # type: ignore[misc]
    """A kernel that was packed before, which has what its launches need. Whatever else is asked of it, the dispatcher
    answers that is made then, of more modules than a first call has time to import.

    Parameters
    ----------
    about : tuple of str
        Its name, its file, and its parameters with commas between them.
    id : bytes
        Stands for its pack, which the host gives.
    bounds : tuple of int
        Launch bounds.
    host
        Of its compilations.
    dress
        ``dress(function, source)`` gives the dispatcher of a function.
    """

    def __init__(
        self, about: tuple[str, str, str], id: bytes, bounds: tuple[int, ...], host: Any, dress: Callable[..., Any]
    ) -> None:
        name, file, parameters = self._about = about
        self.__name__, self._host, self._dress = name, host, dress
        self._prepared = name, file, None, parameter_rows(parameters.split(", ")), _hints(bounds), host, id

    def _prepare(self) -> Any:
        """See ext/kernel.c."""
        return self._prepared

    def _has_keyword_only(self) -> bool:
        return False

    def _specialised(self, launch: Any, args: tuple[Any, ...]) -> None:
        """Its overloads are of no interest."""

    @functools.cached_property
    def _whole(self) -> Any:
        name, file, parameters = self._about
        space: dict[str, Any] = {}
        exec(compile(f"def {name}({parameters}): pass", file, "exec"), space)
        kernel = self._dress(space[name], "")
        kernel._pack = self._host.source(), self._host
        return kernel

    def _launch(self, launch: Any, args: tuple[Any, ...]) -> None:
        """A launch whose arguments want Python; called by ext/threads.c."""
        shape = launch.griddim, launch.blockdim, launch.stream, launch.sharedmem, launch.cluster
        self._whole[shape](*args)

    def _failed(self, error: BaseException) -> BaseException:
        """What a launch raises; called by ext/threads.c, which looks for it in the class."""
        return self._whole._failed(error)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_whole":
            raise AttributeError(name)
        return getattr(self._whole, name)


def is_plain() -> bool:
    """Whether kernels are compiled as ever: nobody debugs."""
    asked = (config.CUDA_DEBUGINFO_DEFAULT, not config.OPT, wished())
    checks = (config.BOUNDSCHECK, config.CUDA_BOUNDSCHECK)
    return not any(asked) and all(wish in (None, "", "0", 0) for wish in checks)


def kernel_by_name(
    name: bytes | None, bounds: tuple[int, ...], build: Callable[[], Any], dress: Callable[..., Any]
) -> Any:
    """The kernel that ``build()`` gives; of a name that was kept it is not called."""
    found = None if name is None else _core.cache_kept(name)
    if found is None:
        kernel = build()
        if name is not None:
            kernel._on_packed = functools.partial(_note_packed, kernel, name)
        return kernel
    called, file, parameters = found.decode().split("\n")
    host = _LaterHost(functools.partial(_core.cache_kept, name + _PACK), build, True)
    return StoredKernel((called, file, parameters), name, bounds, host, dress)


def kernel_ready(words: str, bounds: tuple[int, ...], build: Callable[[], Any], dress: Callable[..., Any]) -> Any:
    """The kernel of a pack that lies in the library, see `_ready.py`, or None; that of ``build()`` has another form."""
    found = _core.compute_about(words)
    if found is None:
        return None
    name, file, parameters = found
    host = _LaterHost(functools.partial(_core.compute_pack, words), build, False)
    return StoredKernel((name, file, ", ".join(parameters)), f"ready {words}".encode(), bounds, host, dress)


def _note_packed(kernel: Any, name: bytes) -> None:
    if _is_kept(kernel._pack[1]):
        kernel._id = name
    if under_way.packed is not None:
        under_way.packed.append((kernel, name))


def keep_packed() -> None:
    """Keeps the kernels that the call under way has packed and launched. Those whose arguments the host named to the
    compiler, as structs, are packed by the next process too: names go by objects, of which another process may have
    others."""
    for kernel, name in under_way.packed or ():
        pack, host = kernel._pack
        if _is_kept(host):
            _keep(kernel.py_func.__code__, name, pack)


def _is_kept(host: Any) -> bool:
    """Whether what the host has said until now means the same in all processes."""
    return not (host.asks or host.captured or host.links or host.elements or host.classes or host.constants)


def _keep(code: types.CodeType, name: bytes, pack: bytes) -> None:
    about = "\n".join((code.co_name, code.co_filename, ", ".join(code.co_varnames[: code.co_argcount])))
    if about.isascii() and about.count("\n") == 2 and "\0" not in about:
        _core.cache_keep(f"pack of {code.co_name}", name + _PACK, pack)
        _core.cache_keep(f"kernel {code.co_name}", name, about.encode())

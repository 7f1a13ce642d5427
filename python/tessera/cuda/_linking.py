# SPDX-License-Identifier: Apache-2.0
"""Code of others for kernels: what it is, and functions declared of it."""

from __future__ import annotations

import functools
import io
import os
import re
import warnings
from collections.abc import Callable
from typing import Any

from . import types
from ._device import cg
from ._errors import LinkerError
from ._options import links_of
from ._signature import normalize
from ._stub import _op

__all__ = [
    "Archive", "CUSource", "Cubin", "Fatbin", "LTOIR", "LinkableCode", "Object", "PTXSource", "all_links",
    "declare_device", "linked",
]  # fmt: skip


class LinkableCode:
    """Code that kernels are linked with.

    Parameters
    ----------
    data : bytes or io.IOBase
    name : str, optional
        For messages.
    setup_callback, teardown_callback : callable, optional
        Called with the module once it is loaded, and before it is unloaded.
    """

    kind, default_name = "", "<unnamed>"

    def __init__(
        self, data: Any, name: str | None = None, setup_callback: Callable[..., Any] | None = None,
        teardown_callback: Callable[..., Any] | None = None, nrt: bool = False,
    ) -> None:  # fmt: skip
        for callback in (setup_callback, teardown_callback):
            if callback is not None and not callable(callback):
                raise TypeError("setup_callback and teardown_callback must be callable")
        self._data, self.name = data, name or self.default_name
        self.setup_callback, self.teardown_callback, self.nrt = setup_callback, teardown_callback, nrt

    @property
    def data(self) -> Any:
        """The bytes."""
        return self._data.read() if hasattr(self._data, "read") else self._data

    @classmethod
    def from_path(cls, path: Any) -> LinkableCode:
        """Code of a file, by the ending of its name; RuntimeError for one that is not known."""
        text = os.fspath(path)
        ending = os.path.splitext(text)[1].removeprefix(".").lower()
        if not ending:
            raise RuntimeError(f"Don't know how to link file with no extension: {text!r}")
        if ending not in _ENDINGS:
            raise RuntimeError(f"Don't know how to link file with extension .{ending}: {text!r}")
        with open(text, "rb") as file:
            return _ENDINGS[ending](file.read(), name=text)


class PTXSource(LinkableCode):
    """PTX."""

    kind, default_name = "ptx", "<unnamed-ptx>"


class CUSource(LinkableCode):
    """CUDA C++."""

    kind, default_name = "cu", "<unnamed-cu>"


class Fatbin(LinkableCode):
    """A fat binary."""

    kind, default_name = "fatbin", "<unnamed-fatbin>"


class Cubin(LinkableCode):
    """Machine code."""

    kind, default_name = "cubin", "<unnamed-cubin>"


class Archive(LinkableCode):
    """An archive of objects."""

    kind, default_name = "library", "<unnamed-archive>"


class Object(LinkableCode):
    """An object of nvcc."""

    kind, default_name = "object", "<unnamed-object>"


class LTOIR(LinkableCode):
    """Intermediate code for linking."""

    kind, default_name = "ltoir", "<unnamed-ltoir>"


_ENDINGS: dict[str, type[LinkableCode]] = {
    "ptx": PTXSource, "cu": CUSource, "fatbin": Fatbin, "cubin": Cubin, "a": Archive, "o": Object, "ltoir": LTOIR,
}  # fmt: skip


def _passed(name: str, type_: types.Type) -> types.Type:
    """The type of a parameter as kernels pass it: a pointer is a uint64."""
    if isinstance(type_, (types.CPointer, types.RawPointer)):
        return types.SCALARS["uint64"]
    known = isinstance(type_, (types.Boolean, types.Integer)) or type_.name in ("float32", "float64")
    if not known:
        raise NotImplementedError(
            f"{name}() is declared with {type_}, which kernels do not pass to other code: they pass integers, float32, "
            "float64, bool and pointers; declare CPointer(float32) and pass ffi.from_buffer(array), or the array itself"
        )
    return type_


@_op("_foreign")
def _foreign(text: str, result: Any, types_: Any, *args: Any) -> Any:
    """Calls a function of other code."""


@_op("_written")
def _written(text: str, result: Any, *args: Any) -> Any:
    """Calls the last function of IR as text; programs in C give operators so (compute/_packed.py)."""


@_op("from_buffer")
def from_buffer(array: Any) -> Any:
    """The address of an array's first element."""


@_op("_pointer")
def _pointer(pointer: Any, dtype: Any) -> Any:
    """An address as the array of the elements from there on."""


class ffi:
    """What a ``cffi.FFI()`` is in kernels."""

    __tessera_names__ = True
    from_buffer = staticmethod(from_buffer)


def _calls(name: str, text: str, result: Any, params: Any, cooperative: bool) -> Any:
    def foreign(*args):  # type: ignore[no-untyped-def]
        if cooperative:
            cg.this_grid()
        return _foreign(text, result, params, *args)

    foreign.__name__ = foreign.__qualname__ = name  # for messages
    return foreign


class ExternFunction:
    """A function of code of others, for kernels to call."""

    def __init__(self, name: str, sig: Any, link: tuple[Any, ...], use_cooperative: bool, abi: str) -> None:
        self.name, self.sig, self.link, self.use_cooperative, self.abi = name, sig, link, use_cooperative, abi
        self.__name__, self.__tessera_links__ = name, link

    @functools.cached_property
    def __tessera_helper__(self) -> Any:
        """What kernels that call it compile; NotImplementedError for types that are not passed."""
        name, sig = self.name, self.sig
        result = None if sig.return_type == types.none else _passed(name, sig.return_type)
        text = f"{self.abi} {'' if result else 'void '}{name}"
        return _calls(name, text, result, tuple(_passed(name, arg) for arg in sig.args), self.use_cooperative)

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError(f"{self.name}() is a function of other code: kernels call it, the host does not")

    def __repr__(self) -> str:
        return f"<device function {self.name}{self.sig.args} -> {self.sig.return_type} of other code>"


def declare_device(
    name: str, sig: Any, link: Any = None, use_cooperative: bool = False, abi: str = "numba"
) -> ExternFunction:
    """Declares a function of code of others.

    Parameters
    ----------
    name : str
        Its symbol.
    sig : signature
        With the type of the result.
    link : path, LinkableCode or list of them, optional
        Where it is.
    """
    found = normalize(sig)
    if found.return_type is None:
        raise TypeError("Return type must be provided for device declarations")
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    return ExternFunction(name, found, links_of(link), use_cooperative, abi)


# ---- linking -----------------------------------------------------------------------------------------


def all_links(given: Any) -> tuple[LinkableCode, ...]:
    """Each piece of code once: LinkableCode as it is, names of files read."""
    made: dict[Any, LinkableCode] = {}
    for item in given:
        key = id(item) if isinstance(item, LinkableCode) else os.fspath(item)
        if key not in made:
            made[key] = item if isinstance(item, LinkableCode) else _read(item)
    return tuple(made.values())


def _read(path: Any) -> LinkableCode:
    try:
        return LinkableCode.from_path(path)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = "not found" if missing else f"cannot be linked: {error.strerror}"
        raise LinkerError(f"{os.fspath(path)} {why}") from None


def _object_of(link: LinkableCode, arch: str) -> Any:
    """One piece as an ObjectCode; CUDA C++ is compiled."""
    from ..core import ObjectCode

    if link.kind == "cu":
        known = link.__dict__.setdefault("_compiled", {})  # by architecture: warnings come once
        if arch not in known:
            known[arch] = compiled_cu(link, arch)
        return known[arch]
    data = link.data
    data = data.encode() if isinstance(data, str) else bytes(data)
    make = {"ptx": ObjectCode.from_ptx, "cubin": ObjectCode.from_cubin, "fatbin": ObjectCode.from_fatbin,
            "library": ObjectCode.from_library, "object": ObjectCode.from_object,
            "ltoir": ObjectCode.from_ltoir}  # fmt: skip
    return make[link.kind](data, name=link.name)


def compile_early(ptx: bytes, links: tuple[LinkableCode, ...]) -> None:
    """Compiles the CUDA C++ that a kernel is linked with, so that its errors and warnings come before a launch."""
    for link in links:
        if link.kind == "cu":
            _object_of(link, _arch_of(ptx))


def _arch_of(ptx: bytes) -> str:
    found = re.search(rb"\.target\s+(sm_\w+)", ptx)
    return found[1].decode() if found else "sm_80"


def compiled_cu(link: LinkableCode, arch: str) -> Any:
    """CUDA C++ as PTX, by NVRTC.

    Raises
    ------
    NvrtcCompilationError
        With the compiler's messages.
    NvrtcSupportError
        NVRTC is not installed.
    """
    from ..bindings import NVRTCError as Refused
    from ..core import Program, ProgramOptions
    from ..pathfinder import DynamicLibNotFoundError
    from . import config
    from ._errors import NvrtcCompilationError, NvrtcSupportError

    data = link.data
    text = data if isinstance(data, str) else bytes(data).decode()
    paths = [p for p in str(getattr(config, "CUDA_NVRTC_EXTRA_SEARCH_PATHS", "") or "").split(os.pathsep) if p]
    options = ProgramOptions(
        arch=arch, relocatable_device_code=True, include_path=paths or None, name=os.path.basename(link.name)
    )
    log = io.StringIO()
    try:
        made = Program(text, "c++", options).compile("ptx", logs=log)
    except Refused as error:
        text = f"NVRTC Compilation failure whilst compiling {link.name}:\n\n{error}"
        raise NvrtcCompilationError(text, error.code) from None
    except DynamicLibNotFoundError as error:
        raise NvrtcSupportError(
            f"{link.name} is CUDA C++, which NVRTC compiles, and that was not found: install nvidia-cuda-nvrtc, or "
            f"link PTX ({error})"
        ) from None
    if log.getvalue().strip():
        warnings.warn(f"NVRTC log messages whilst compiling {link.name}:\n\n{log.getvalue()}", stacklevel=2)
    return made


def linked(ptx: bytes, links: tuple[LinkableCode, ...]) -> bytes:
    """The cubin of a kernel's PTX and the code that it calls, by nvJitLink where it is installed, else by the driver.

    Raises
    ------
    LinkerError
        With the linker's messages.
    """
    from ..core import Linker, LinkerOptions, ObjectCode

    arch = _arch_of(ptx)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that the driver links
        pieces = [ObjectCode.from_ptx(ptx), *(_object_of(link, arch) for link in links)]
        try:
            made = Linker(*pieces, options=LinkerOptions(arch=arch)).link("cubin")
        except (RuntimeError, ValueError, TypeError) as error:
            names = ", ".join(link.name for link in links)
            raise LinkerError(f"the kernel could not be linked with {names}: {error}") from error
    return bytes(made.code)

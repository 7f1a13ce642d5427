# SPDX-License-Identifier: Apache-2.0
"""Where are NVIDIA's libraries, headers and programs, and do they fit together?

``load_nvidia_dynamic_lib("nvrtc")`` loads; ``find_nvidia_dynamic_lib("nvrtc")`` only says where it
is; ``TESSERA_PATH_NVRTC=/opt/lib/libnvrtc.so.13`` overrides the search; ``check()`` compares
versions. Answers are remembered for the life of the process.
"""

from __future__ import annotations

import functools
import os
import struct
from dataclasses import dataclass
from typing import Any

from ._catalog import (
    BITCODE,
    COMPANIONS,
    HEADERS,
    LIBRARIES,
    OTHER_HEADERS,
    PROGRAMS,
    STATIC,
    WHEELS,
)
from ._check import CHECKED, Part, Report, check
from ._errors import (
    BitcodeLibNotFoundError,
    DynamicLibNotAvailableError,
    DynamicLibNotFoundError,
    DynamicLibUnknownError,
    StaticLibNotFoundError,
    UnsupportedBinaryError,
)
from ._search import get_cuda_path_or_home, override, search, system_library

__all__ = [
    "SUPPORTED_BINARY_UTILITIES",
    "SUPPORTED_BITCODE_LIBS",
    "SUPPORTED_HEADERS_CTK",
    "SUPPORTED_NVIDIA_LIBNAMES",
    "SUPPORTED_STATIC_LIBS",
    "BitcodeLibNotFoundError",
    "DynamicLibNotAvailableError",
    "DynamicLibNotFoundError",
    "DynamicLibUnknownError",
    "LoadedDL",
    "LocatedBitcodeLib",
    "LocatedDynamicLib",
    "LocatedHeaderDir",
    "LocatedStaticLib",
    "Part",
    "Report",
    "StaticLibNotFoundError",
    "UnsupportedBinaryError",
    "check",
    "find_bitcode_lib",
    "find_cuda_include_dirs",
    "find_cuda_library",
    "find_nvidia_binary_utility",
    "find_nvidia_dynamic_lib",
    "find_nvidia_header_directory",
    "find_static_lib",
    "get_cuda_path_or_home",
    "load_nvidia_dynamic_lib",
    "locate_bitcode_lib",
    "locate_nvidia_dynamic_lib",
    "locate_nvidia_header_directory",
    "locate_static_lib",
]

SUPPORTED_NVIDIA_LIBNAMES = tuple(
    name for name, row in LIBRARIES.items() if row.origin == "toolkit"
)
SUPPORTED_HEADERS_CTK = HEADERS
SUPPORTED_BINARY_UTILITIES = PROGRAMS
SUPPORTED_BITCODE_LIBS = tuple(BITCODE)
SUPPORTED_STATIC_LIBS = tuple(STATIC)

_LIB_FOLDERS = (
    "lib",
    "lib64",
    "targets/{target}/lib",
    "nvvm/lib64",
    "nvvm/lib",
    "extras/CUPTI/lib64",
)
_BIN_FOLDERS = ("bin", "nvvm/bin", "compute-sanitizer", "libnvvp")


@dataclass
class LoadedDL:
    """A library that is loaded now; it stays so until the process ends."""

    abs_path: str | None
    was_already_loaded_from_elsewhere: bool
    _handle_uint: int
    found_via: str


@dataclass(frozen=True)
class LocatedDynamicLib:
    """Where a library is that was not loaded."""

    name: str
    abs_path: str
    found_via: str


@dataclass(frozen=True)
class LocatedHeaderDir:
    """A directory for the compiler's include path."""

    abs_path: str | None
    found_via: str


@dataclass(frozen=True)
class LocatedBitcodeLib:
    """A file of LLVM bitcode."""

    name: str
    abs_path: str
    filename: str
    found_via: str


@dataclass(frozen=True)
class LocatedStaticLib:
    """An archive for the linker."""

    name: str
    abs_path: str
    filename: str
    found_via: str


class _OverrideError(DynamicLibNotFoundError):
    """A variable names a file that is not there: a mistake, and no "not found"."""


def _overridden(name: str) -> str | None:
    """The path of the override variable; it must exist, or the mistake would go unseen."""
    variables = [override(name), *(["TESSERA_CUDA_DRIVER"] if name == "cuda" else [])]
    variable = next((v for v in variables if os.environ.get(v)), "")
    path = os.environ.get(variable) if variable else None
    if path and not os.path.exists(path):
        raise _OverrideError(f"{variable} names {path!r}, which does not exist")
    return path


# ---- dynamic libraries ---------------------------------------------------------------------------


def _library_row(libname: str) -> Any:
    if libname not in LIBRARIES:
        raise DynamicLibUnknownError(
            f"Unknown library name: {libname!r}. Known names: {sorted(LIBRARIES)}"
        )
    if struct.calcsize("P") != 8:
        raise RuntimeError("NVIDIA's libraries are for 64-bit processes only")
    if os.name != "posix":
        raise DynamicLibNotAvailableError(f"{libname} is looked for on Linux only, so far")
    return LIBRARIES[libname]


@functools.cache
def locate_nvidia_dynamic_lib(libname: str) -> LocatedDynamicLib:
    """Where a library is, without loading it; DynamicLibNotFoundError lists what was tried."""
    row = _library_row(libname)
    given = _overridden(libname)
    if given:
        return LocatedDynamicLib(libname, os.path.abspath(given), override(libname))
    if row.origin == "driver":
        path = next((p for s in row.sonames if (p := system_library(s))), None)
        if path is None:
            raise DynamicLibNotFoundError(
                f"{row.sonames[0]} was not found by the system's search. It belongs to the NVIDIA driver; install "
                "that, and in a container start it with --gpus all"
            )
        return LocatedDynamicLib(libname, path, "system-search")
    found, tried = search(_LIB_FOLDERS, row.sonames, use_loader=True)
    if found is None:
        error = DynamicLibNotFoundError(_not_found(" or ".join(row.sonames), tried, libname))
        error.tried = tuple(dict.fromkeys(tried))
        raise error
    return LocatedDynamicLib(libname, *found)


def _not_found(what: str, tried: list[str], name: str) -> str:
    places = list(dict.fromkeys(tried))
    looked = "".join(f"\n  {path}" for path in places)
    if name in CHECKED:
        looked = f" {len(places)} places; `print(tessera.pathfinder.check())` shows them"
    brings = f"`pip install {WHEELS[name]}` brings it; " if name in WHEELS else ""
    return f"{what} was not found. {brings}{override(name)} can name it. Looked in:{looked}"


def find_nvidia_dynamic_lib(libname: str) -> str | None:
    """The path of a library or None; nothing is loaded."""
    try:
        return locate_nvidia_dynamic_lib(libname).abs_path
    except (DynamicLibUnknownError, _OverrideError):
        raise
    except DynamicLibNotFoundError:
        return None


def _already_loaded(sonames: tuple[str, ...]) -> tuple[Any, str, str] | None:
    """(handle, soname, path) of a library that the process has in memory."""
    import ctypes

    for soname in sonames:
        try:
            handle = ctypes.CDLL(soname, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = {
                line.split()[-1]
                for line in maps
                if os.path.basename(line.split()[-1]).startswith(soname)
            }
        return handle, soname, min(paths, default=soname)
    return None


@functools.cache
def load_nvidia_dynamic_lib(libname: str) -> LoadedDL:
    """Loads a library and what it needs, once a process."""
    import ctypes

    row = _library_row(libname)
    loaded = None if os.environ.get(override(libname)) else _already_loaded(row.sonames)
    if loaded:
        handle, _, path = loaded
        return LoadedDL(path, True, handle._handle, "was-already-loaded-from-elsewhere")
    located = locate_nvidia_dynamic_lib(libname)
    for needed in row.needs:
        if find_nvidia_dynamic_lib(needed):
            load_nvidia_dynamic_lib(needed)
    try:
        handle = ctypes.CDLL(located.abs_path, mode=os.RTLD_NOW)
    except OSError as error:
        raise DynamicLibNotFoundError(
            f"{located.abs_path} was found but cannot be loaded: {error}"
        ) from error
    if libname in COMPANIONS:
        for path in _glob(
            os.path.join(os.path.dirname(os.path.realpath(located.abs_path)), COMPANIONS[libname])
        ):
            ctypes.CDLL(path, mode=os.RTLD_NOW)
    return LoadedDL(located.abs_path, False, handle._handle, located.found_via)


# ---- headers, bitcode, static libraries, programs ------------------------------------------------


@functools.cache
def locate_nvidia_header_directory(libname: str) -> LocatedHeaderDir | None:
    """The directory of a library's headers, or None."""
    file = {**HEADERS, **OTHER_HEADERS}.get(libname)
    if file is None:
        raise RuntimeError(f"UNKNOWN {libname=}; known: {', '.join([*HEADERS, *OTHER_HEADERS])}")
    given = _overridden(f"{libname}_include")
    if given:
        return LocatedHeaderDir(os.path.abspath(given), override(f"{libname}_include"))
    folders = (
        "include/cccl",
        "include",
        "targets/{target}/include",
        "targets/{target}/include/cccl",
    )
    found, _ = search(folders, (file,))
    if found is None and libname == "nvshmem":
        roots = sorted(
            p for p in _glob("/usr/include/nvshmem_*") if os.path.exists(os.path.join(p, file))
        )
        found = (os.path.join(roots[-1], file), "supported_install_dir") if roots else None
    return found and LocatedHeaderDir(found[0][: -len(file)].rstrip("/"), found[1])


def _glob(pattern: str) -> list[str]:
    import glob

    return glob.glob(pattern)


def find_nvidia_header_directory(libname: str) -> str | None:
    """The path of a library's headers, or None."""
    located = locate_nvidia_header_directory(libname)
    return located.abs_path if located else None


@functools.cache
def locate_bitcode_lib(name: str) -> LocatedBitcodeLib:
    """A bitcode library: ``device`` is libdevice."""
    if name not in BITCODE:
        raise ValueError(f"Unknown bitcode library: {name!r}. Supported: {', '.join(BITCODE)}")
    given = _overridden(name)
    folders = ("nvvm/libdevice", "lib", "lib64", "libdevice", "share/libdevice")
    found, tried = ((given, override(name)), []) if given else search(folders, (BITCODE[name],))
    if found is None:
        raise BitcodeLibNotFoundError(_not_found(BITCODE[name], tried, name))
    return LocatedBitcodeLib(name, found[0], BITCODE[name], found[1])


def find_bitcode_lib(name: str) -> str:
    """The path of a bitcode library."""
    return locate_bitcode_lib(name).abs_path


@functools.cache
def locate_static_lib(name: str) -> LocatedStaticLib:
    """A static library."""
    if name not in STATIC:
        raise ValueError(f"Unknown static library: {name!r}. Supported: {', '.join(STATIC)}")
    given = _overridden(name)
    found, tried = ((given, override(name)), []) if given else search(_LIB_FOLDERS, (STATIC[name],))
    if found is None:
        raise StaticLibNotFoundError(_not_found(STATIC[name], tried, name))
    return LocatedStaticLib(name, found[0], STATIC[name], found[1])


def find_static_lib(name: str) -> str:
    """The path of a static library."""
    return locate_static_lib(name).abs_path


@functools.cache
def find_nvidia_binary_utility(utility_name: str) -> str | None:
    """The path of a program of the toolkit, or None. PATH itself is not searched."""
    if utility_name not in PROGRAMS:
        raise UnsupportedBinaryError(
            f"Binary {utility_name!r} is not supported. Supported utilities are: {', '.join(PROGRAMS)}"
        )
    given = _overridden(utility_name)
    if given:
        return os.path.abspath(given)
    found, _ = search(_BIN_FOLDERS, (utility_name,))
    return found[0] if found and os.access(found[0], os.X_OK) else None


# ---- short forms ---------------------------------------------------------------------------------


def find_cuda_library(name: str) -> str | None:
    """The path of a library by its short name, as ``find_nvidia_dynamic_lib``."""
    return find_nvidia_dynamic_lib(name)


def find_cuda_include_dirs() -> list[str]:
    """The include path that CUDA C++ needs: the toolkit's headers, then those of CCCL where they
    are apart."""
    names = ("cudart", "cccl", "nvrtc")
    found = [path for name in names if (path := find_nvidia_header_directory(name))]
    return list(dict.fromkeys(found))

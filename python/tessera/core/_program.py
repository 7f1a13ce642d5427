# SPDX-License-Identifier: Apache-2.0
"""Program: source code and what compiles it.

CUDA C++ goes through NVRTC, NVVM IR through libNVVM, PTX through the linker, Tessera's own kernels
and Tile IR through Tessera's compiler. Compiling for a given ``arch`` needs no GPU.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from .. import pathfinder
from ._errors import shown
from ._object_code import ObjectCode
from ._options import options_of
from ._program_options import ProgramOptions
from ._utils.version import driver_version
from .typing import CompilerBackendType, PCHStatusType, SourceCodeType

__all__ = ["Program", "ProgramOptions"]

# Language -> (module, class): who compiles it.
_BACKENDS = {
    SourceCodeType.CXX: ("_program_nvrtc", "Nvrtc"),
    SourceCodeType.PTX: ("_program_ptx", "Ptx"),
    SourceCodeType.NVVM: ("_program_nvvm", "Nvvm"),
    SourceCodeType.TILE: ("_program_tile", "Tile"),
    SourceCodeType.TILEIR: ("_program_tile", "TileIR"),
}
# A second argument such as "saxpy.cu" is a file name: the language is told by its end.
_SUFFIXES = {
    ".cu": SourceCodeType.CXX,
    ".cuh": SourceCodeType.CXX,
    ".cpp": SourceCodeType.CXX,
    ".ptx": SourceCodeType.PTX,
    ".ll": SourceCodeType.NVVM,
    ".bc": SourceCodeType.NVVM,
    ".tsir": SourceCodeType.TILEIR,
}


def _language(code_type: str, options: ProgramOptions) -> SourceCodeType:
    """The language of a Program; a file name also gives the program its name."""
    word = str(code_type).lower()
    if word in _BACKENDS:
        return SourceCodeType(word)
    suffix = os.path.splitext(word)[1]
    if suffix in _SUFFIXES:
        options.name = str(code_type)
        return _SUFFIXES[suffix]
    known = tuple(str(kind) for kind in _BACKENDS)
    raise RuntimeError(f"Unsupported code_type={shown(word)} (supported_code_types={known!r})")


def _get_nvvm_module() -> Any:
    """The bindings of libNVVM; RuntimeError that says what to install where it is missing."""
    from ..bindings import nvvm

    nvvm._library.open()
    return nvvm


def _find_libdevice_path() -> str:
    """The bitcode of CUDA's mathematical functions."""
    return pathfinder.find_bitcode_lib("device")


def _nvrtc_version() -> tuple[int, int]:
    from ..bindings import nvrtc

    major, minor = nvrtc.checked.nvrtcVersion()
    return int(major), int(minor)


def _can_load_generated_ptx() -> bool:
    """Whether the driver reads the PTX of the installed NVRTC; True where there is no driver."""
    try:
        newest = driver_version()
    except RuntimeError:
        return True
    return newest[:2] >= _nvrtc_version()


def _warn_of_new_ptx() -> None:
    if not _can_load_generated_ptx():
        warnings.warn(
            "The CUDA driver version is older than the backend version. The generated PTX will not "
            "be loadable by the current driver; compile to cubin, or update the driver.",
            RuntimeWarning,
            stacklevel=4,
        )


def _program_compile_uncached(
    program: Program, target_type: str, name_expressions: Sequence[Any] = (), logs: Any = None
) -> ObjectCode:
    """The compilation itself."""
    return program._backend_object().compile(target_type, name_expressions, logs)  # type: ignore[no-any-return]


class Program:
    """Source code to compile.

    Parameters
    ----------
    code : str, bytes or tile kernel
        The source; bytes for NVVM only.
    code_type : str
        ``"c++"``, ``"ptx"``, ``"nvvm"``; ``"tile"`` for a function decorated with
        ``tessera.tile.kernel`` (``options.arguments`` are what it is compiled for), ``"tileir"``
        for Tile IR text; or a file name such as ``"saxpy.cu"``, which tells the language and names
        the program.
    options : ProgramOptions or dict, optional

    Raises
    ------
    NVRTCError, nvvmError, nvJitLinkError
        The text holds the compiler's log.
    DynamicLibNotFoundError
        The compiler is not installed; the text names the package that brings it.

    Notes
    -----
    In the short form, ``program.compile(["--gpu-architecture=compute_90"])`` keeps what it compiled
    and ``program.saxpy[config](a, x, y)`` launches a kernel of it on the default stream.
    """

    def __init__(self, code: Any, code_type: str, options: Any = None) -> None:
        self._backend: Any = None
        made = options_of(ProgramOptions, options)
        if not isinstance(code_type, str):
            raise TypeError(f"code_type must be a str, not {type(code_type).__name__}")
        self._options, self._code = made, code
        self._code_type = _language(code_type, made)
        module, name = _BACKENDS[self._code_type]
        kind = getattr(importlib.import_module(f".{module}", __package__), name)
        self._backend = kind(code, made)
        self._module: ObjectCode | None = None

    def _backend_object(self) -> Any:
        if self._backend is None:
            raise RuntimeError("the Program is closed")
        return self._backend

    def compile(
        self, target_type: Any, name_expressions: Sequence[Any] = (), logs: Any = None, *,
        cache: Any = None,
    ) -> ObjectCode:  # fmt: skip
        """Compiled code.

        Parameters
        ----------
        target_type : str
            ``"ptx"``, ``"cubin"`` or ``"ltoir"``, as far as the language has it; or, in the short
            form, a list of flags for the compiler.
        name_expressions : sequence of str, optional
            C++ names (``"f<int>"``) to be found in the result; NVRTC only.
        logs : object with ``write``, optional
            Takes the compiler's log.
        cache : ProgramCacheResource, optional
            Asked first and filled.
        """
        if isinstance(target_type, (list, tuple)):
            return self._compile_flags(target_type)
        target = str(target_type).lower()
        self._backend_object().check_target(target)
        if cache is None:
            return _program_compile_uncached(self, target, name_expressions, logs)
        return self._compile_cached(target, name_expressions, logs, cache)

    def _compile_cached(
        self, target: str, names: Sequence[Any], logs: Any, cache: Any
    ) -> ObjectCode:
        from .utils import _program_cache

        if not isinstance(cache, _program_cache.ProgramCacheResource):
            raise TypeError(f"cache must be a ProgramCacheResource, not {type(cache).__name__}")
        if names:
            raise ValueError(
                "name_expressions cannot be cached: a cache keeps the code, not the names in it. "
                'Compile without cache=, or declare the kernels extern "C"'
            )
        key = _program_cache.make_program_cache_key(
            code=self._code, code_type=self._code_type, options=self._options, target_type=target
        )
        found = cache.get(key)
        if found is not None:
            if target == "ptx" and self._code_type == SourceCodeType.CXX:
                _warn_of_new_ptx()
            return ObjectCode._init(found, target, name=self._options.name or "")
        made = _program_compile_uncached(self, target, names, logs)
        cache[key] = made
        return made

    # ---- the short form

    def _compile_flags(self, flags: Sequence[Any]) -> ObjectCode:
        words = [word.decode() if isinstance(word, bytes) else str(word) for word in flags]
        target, name = self._backend_object().take_flags(words)
        self._options = self._backend.options
        self._module = _program_compile_uncached(self, target)
        return self._module

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__.get("_module")
        if name.startswith("_") or module is None:
            raise AttributeError(
                f"Program has no attribute {name!r}; kernels are attributes after "
                f"compile([flags...]), else use compile('cubin').get_kernel({name!r})"
            )
        return module.get_kernel(_entry(module, name))

    # ---- attributes

    @property
    def backend(self) -> CompilerBackendType:
        """Who compiles: ``"NVRTC"``, ``"NVVM"``, ``"nvJitLink"``, ``"driver"`` or ``"tessera"``."""
        return self._backend_object().backend  # type: ignore[no-any-return]

    @property
    def handle(self) -> Any:
        """The compiler's own handle; None for Tessera's compiler."""
        return self._backend_object().handle

    @property
    def pch_status(self) -> PCHStatusType | None:
        """What became of the precompiled header that the options ask to create; None before
        ``compile`` and where none was asked for."""
        return getattr(self._backend_object(), "pch_status", None)

    def close(self) -> None:
        """Gives the compiler's handle back. Again does nothing."""
        backend, self._backend = self._backend, None
        if backend is not None:
            backend.close()

    def __del__(self) -> None:
        if sys is None or sys.is_finalizing():
            return
        if self.__dict__.get("_backend") is not None:
            self.close()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Program backend='{self.backend}'>" if self._backend else "<Program closed>"


def _entry(module: ObjectCode, name: str) -> str:
    """The entry of a kernel in the code: its name, or that of the one C++ function called so."""
    import re

    text = bytes(module)
    mangled = f"_Z{len(name)}{name}"
    found = set(re.findall(rb"(?<![\w$])(%s[A-Za-z0-9_]*)" % mangled.encode(), text))
    plain = re.search(rb"(?<![\w$])%s(?![\w$])" % name.encode(), text)
    return next(iter(found)).decode() if len(found) == 1 and not plain else name

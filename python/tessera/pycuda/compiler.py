# SPDX-License-Identifier: Apache-2.0
"""CUDA C at run time by NVRTC: no nvcc, no host compiler, one process.

What is compiled is kept on disk by the source, what it includes, the options and the compiler's
version: under ``PYCUDA_CACHE_DIR``, or Tessera's own cache (docs/guide/debugging.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from .._cache import folder, read
from ..bindings import nvrtc
from ..pathfinder._headers import missing_header
from ._call import CompileError, LogicError, cu
from ._context import Context
from ._module import Module, module_from_buffer

__all__ = [
    "DEFAULT_NVCC_FLAGS", "CudaModule", "DynamicModule", "DynamicSourceModule", "SourceModule",
    "compile",
]  # fmt: skip

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()
_HERE = os.path.join(os.path.dirname(__file__), "include")
_OWN_FOLDERS = [_HERE, os.path.join(_HERE, "std")]
# Options of nvcc that mean nothing without a host compiler: alone, and with a word after them.
_DROPPED = re.compile(r"-O\d?|--?cubin|-m64|--machine=64|--?keep|-l\w+|--?Werror=all")
_DROPPED_PAIRS = ("-Xcompiler", "--compiler-options", "-ccbin", "--compiler-bindir")
_REFERENCES = re.compile(r"\b(texture|surface)\s*<")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


# ---- options -------------------------------------------------------------------------------------


def _options(options: Iterable[str]) -> tuple[list[str], str]:
    """(what NVRTC takes of nvcc's options, the architecture among them)."""
    kept, arch, words = [], "", iter(options)
    for word in words:
        if word in _DROPPED_PAIRS:
            next(words, None)
        elif word in ("-arch", "-gencode", "--gpu-architecture", "-code"):
            value = next(words, "")
            arch = arch if word == "-code" else value
        elif match := re.match(r"(?:-arch|--gpu-architecture|-gencode)=(.+)", word):
            arch = match.group(1)
        elif word in ("-I", "-D", "-U", "-std", "-Xptxas"):
            kept.append(word + ("=" if len(word) > 2 else "") + next(words, ""))
        elif not _DROPPED.fullmatch(word) and not word.startswith("-Xcompiler"):
            kept.append(word)
    return kept, arch.removeprefix("arch=").split(",")[0]


def _arch(arch: str) -> str:
    """The architecture to compile for: as given, else the one of the current context."""
    if arch:
        return arch
    major, minor = Context.get_device().compute_capability()
    known = nvrtc.checked.nvrtcGetSupportedArchs()
    number = 10 * major + minor
    return f"sm_{number}" if number in known else f"compute_{max(n for n in known if n < number)}"


def _toolkit_folders() -> list[str]:
    from ..pathfinder import find_cuda_include_dirs

    return find_cuda_include_dirs()


# ---- the cache -----------------------------------------------------------------------------------


def _cache_folder(cache_dir: Any) -> str | None:
    """Where compiled code is kept; None for nowhere."""
    if cache_dir is False or os.environ.get("PYCUDA_DISABLE_CACHE"):
        return None
    place = cache_dir or os.environ.get("PYCUDA_CACHE_DIR")
    if place:
        return str(place)
    ours = folder()
    return str(ours / "pycuda") if ours else None


def _included(text: bytes, folders: Sequence[str], seen: dict[str, bytes]) -> None:
    """Every file that a source includes -> its contents; of the toolkit's only size and date."""
    for name in dict.fromkeys(_INCLUDE.findall(text)):
        paths = (os.path.join(place, name.decode(errors="replace")) for place in folders)
        path = next((p for p in paths if os.path.isfile(p)), None)
        if path is None or path in seen:
            continue
        if path.startswith(tuple(_toolkit_folders())):
            status = os.stat(path)
            seen[path] = f"{status.st_size} {status.st_mtime_ns}".encode()
            continue
        with open(path, "rb") as file:
            seen[path] = file.read()
        _included(seen[path], folders, seen)


def _key(source: str, options: Sequence[str], target: str, folders: Sequence[str]) -> str:
    included: dict[str, bytes] = {}
    _included(source.encode(), folders, included)
    parts = [source, repr(list(options)), target, repr(nvrtc.checked.nvrtcVersion())]
    parts += [f"{path} {hashlib.sha256(data).hexdigest()}" for path, data in included.items()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _load(path: str) -> bytes | None:
    """A file of the cache, whole and as it was written, or None."""
    try:
        kept = read(path)
    except OSError:
        return None
    return kept[32:] if hashlib.sha256(kept[32:]).digest() == kept[:32] else None


def _store(path: str, data: bytes) -> None:
    with contextlib.suppress(OSError):  # a cache that cannot be written is no error
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(file.name, path)


# ---- the compiler --------------------------------------------------------------------------------


def _log(program: Any) -> str:
    log = bytearray(nvrtc.checked.nvrtcGetProgramLogSize(program))
    nvrtc.checked.nvrtcGetProgramLog(program, log)
    return log.rstrip(b"\0 \n").decode(errors="replace")


def _build(source: str, options: Sequence[str], target: str) -> bytes:
    """NVRTC's result for a source; CompileError with its log."""
    program = nvrtc.checked.nvrtcCreateProgram(source.encode(), b"kernel.cu", 0, [], [])
    try:
        words = [option.encode() for option in options]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
        if status:
            command = ["nvrtc", *options, "kernel.cu"]
            log = _log(program)
            log += missing_header(log, "include_dirs")
            raise CompileError("NVRTC: compilation of kernel.cu failed", command, "", log)
        name = target.upper()
        data = bytearray(getattr(nvrtc.checked, f"nvrtcGet{name}Size")(program))
        getattr(nvrtc.checked, f"nvrtcGet{name}")(program, data)
    finally:
        nvrtc.checked.nvrtcDestroyProgram(program)
    return bytes(data)


def _keep(source: str, data: bytes, target: str) -> None:
    place = tempfile.mkdtemp(prefix="pycuda-")
    for name, text in (("kernel.cu", source.encode()), (f"kernel.{target}", data)):
        with open(os.path.join(place, name), "wb") as file:
            file.write(text)
    print(f"*** compiler output in {place}")


def _wrapped(source: str, no_extern_c: bool) -> str:
    head = "#include <tessera/references.hpp>\n" if _REFERENCES.search(source) else ""
    text = f"#line 1\n{source}" if no_extern_c else f'extern "C" {{\n#line 1\n{source}\n}}\n'
    return head + text


def compile(  # noqa: A001
    source: str, nvcc: str = "nvcc", options: Sequence[str] | None = None, keep: bool = False,
    no_extern_c: bool = False, arch: str | None = None, code: str | None = None,
    cache_dir: Any = None, include_dirs: Sequence[str] = (), target: str = "cubin",
) -> bytes:  # fmt: skip
    """Compiles CUDA C to ``cubin`` or ``ptx``; `nvcc` and `code` are taken for compatibility."""
    del nvcc, code
    if not isinstance(source, str):
        raise TypeError(f"CUDA C is a str, not {source!r}")
    if target not in ("cubin", "ptx"):
        raise ValueError(f"target must be 'cubin' or 'ptx', not {target!r}")
    given, found = _options(DEFAULT_NVCC_FLAGS if options is None else options)
    architecture = _arch(arch or found)
    target = "ptx" if architecture.startswith("compute") else target
    text = _wrapped(source, no_extern_c)
    folders = [*include_dirs, *_OWN_FOLDERS[:1], *_toolkit_folders(), *_OWN_FOLDERS[1:]]
    words = [f"--gpu-architecture={architecture}", *given, *(f"-I{place}" for place in folders)]
    if _REFERENCES.search(source):
        words.append("--device-as-default-execution-space")
    place = None if keep else _cache_folder(cache_dir)
    path = place and os.path.join(place, _key(text, words, target, folders) + "." + target)
    data = _load(path) if path else None
    if data is None:
        data = _build(text, words, target)
        if path:
            _store(path, data)
    if keep:
        _keep(text, data, target)
    return data


# ---- modules -------------------------------------------------------------------------------------


class CudaModule:
    """What all modules made of sources have; ``module`` is the driver's."""

    module: Module

    def get_global(self, name: str) -> tuple[int, int]:
        """(address, bytes) of a variable."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> Any:
        """A ``texture<...>`` variable."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> Any:
        """A ``surface<...>`` variable."""
        return self.module.get_surfref(name)

    def get_function(self, name: str) -> Any:
        """A kernel."""
        return self.module.get_function(name)


class SourceModule(CudaModule):
    """CUDA C, compiled for the current device and loaded. It stands in ``extern "C"`` unless
    `no_extern_c`."""

    def __init__(
        self, source: str, nvcc: str = "nvcc", options: Sequence[str] | None = None,
        keep: bool = False, no_extern_c: bool = False, arch: str | None = None,
        code: str | None = None, cache_dir: Any = None, include_dirs: Sequence[str] = (),
    ) -> None:  # fmt: skip
        image = compile(
            source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs
        )
        self.module = module_from_buffer(image)


class DynamicModule(CudaModule):
    """Several sources, files and libraries that are linked: ``add_source``, ..., ``link``."""

    def __init__(
        self, nvcc: str = "nvcc", link_options: Sequence[Any] = (), keep: bool = False,
        no_extern_c: bool = False, arch: str | None = None, code: str | None = None,
        cache_dir: Any = None, include_dirs: Sequence[str] = (),
        message_handler: Any = None, log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:  # fmt: skip
        del nvcc, code, link_options, message_handler, log_verbose
        self._compile = {
            "keep": keep, "no_extern_c": no_extern_c, "arch": arch, "cache_dir": cache_dir,
            "include_dirs": include_dirs,
        }  # fmt: skip
        self._libdir = cuda_libdir
        self._log = bytearray(32768)
        option = [5, 6]  # CU_JIT_ERROR_LOG_BUFFER and its size
        self._linker = cu.cuLinkCreate(len(option), option, [self._log, len(self._log)])

    def _kind(self, name: str) -> Any:
        from ._enums import names

        return getattr(names["jit_input_type"], name)

    def _checked(self, call: Any, *args: Any) -> Any:
        try:
            return call(*args)
        except LogicError as error:
            log = self._log.split(b"\0")[0].decode(errors="replace")
            raise CompileError(str(error), "", "", log) from error

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Compiles a source and adds it; calls between sources want ``-rdc=true``."""
        options = DEFAULT_NVCC_FLAGS if nvcc_options is None else nvcc_options
        image = compile(source, options=options, **self._compile)  # type: ignore[arg-type]
        kind = "PTX" if image.lstrip()[:2] == b"//" else "CUBIN"
        return self.add_data(image, self._kind(kind), name)

    def add_data(self, data: bytes, input_type: Any, name: str = "unknown") -> DynamicModule:
        """Adds code in memory; `input_type` is a ``jit_input_type``."""
        self._checked(
            cu.cuLinkAddData, self._linker, input_type, data, len(data), name.encode(), 0, None, None
        )
        return self

    def add_file(self, filename: str, input_type: Any) -> DynamicModule:
        """Adds a file."""
        with open(filename, "rb") as file:
            return self.add_data(file.read(), input_type, os.path.basename(filename))

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Adds a library of the toolkit, as ``cudadevrt``."""
        if self._libdir:
            path = os.path.join(self._libdir, f"lib{libname}.a")
        else:
            from ..pathfinder import find_static_lib

            path = find_static_lib(libname)
        return self.add_file(path, self._kind("LIBRARY"))

    def link(self) -> None:
        """Links what was added and loads it."""
        import ctypes

        image, size = self._checked(cu.cuLinkComplete, self._linker)
        self.module = module_from_buffer(ctypes.string_at(int(image), int(size)))
        cu.cuLinkDestroy(self._linker)


class DynamicSourceModule(DynamicModule):
    """A source whose kernels launch kernels: linked with ``cudadevrt``."""

    def __init__(
        self, source: str, nvcc: str = "nvcc", options: Sequence[str] | None = None, **rest: Any
    ) -> None:
        super().__init__(nvcc, **rest)
        words = list(DEFAULT_NVCC_FLAGS if options is None else options)
        self.add_source(source, ["-rdc=true", *words])
        self.add_stdlib("cudadevrt")
        self.link()

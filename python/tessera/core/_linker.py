# SPDX-License-Identifier: Apache-2.0
"""Linker: several object codes to one, by nvJitLink, or by the driver where that is missing."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from ..bindings import driver as _driver
from ..bindings._errors import nvJitLinkError
from ..pathfinder import DynamicLibNotFoundError
from ._errors import shown
from ._flags import current_arch, each, flags_of, option, present, truth, value, when
from ._object_code import ObjectCode
from ._options import options_of
from .typing import CompilerBackendType

__all__ = ["Linker", "LinkerOptions"]

Texts = Union[str, Sequence[str], None]

_use_nvjitlink_backend: bool | None = None  # not known yet
_LOG_BYTES = 16384


def _nvjitlink_problem() -> str:
    """Why nvJitLink cannot be used here; empty where it can."""
    from ..bindings import nvjitlink

    try:
        found = nvjitlink._library.symbol("__nvJitLinkCreate_13_0")
    except DynamicLibNotFoundError:
        return "nvJitLink is not installed; `pip install nvidia-nvjitlink` brings it"
    return (
        ""
        if found
        else "the installed nvJitLink is older than CUDA 13.0; `pip install -U nvidia-nvjitlink`"
    )


def _decide_nvjitlink_or_driver() -> bool:
    """Whether the driver must link, because nvJitLink cannot; says so once."""
    global _use_nvjitlink_backend
    if _use_nvjitlink_backend is None:
        problem = _nvjitlink_problem()
        _use_nvjitlink_backend = not problem
        if problem:
            warnings.warn(
                f"{problem}. Until then the driver links (cuLink), with fewer options.",
                RuntimeWarning,
                stacklevel=3,
            )
    return not _use_nvjitlink_backend


def _target(word: str, arch: str) -> list[Any]:
    digits = str(arch).removeprefix("sm_").removeprefix("compute_")
    name = f"CU_TARGET_COMPUTE_{digits.upper()}"
    if name not in _driver.CUjit_target.__members__:
        raise ValueError(f"the driver's linker knows no arch {shown(arch)}; it takes sm_80 and so on")
    return [_driver.CUjit_target[name]]


def _number(word: str, given: Any) -> list[Any]:
    return [int(given)]


def _yes(word: str, given: Any) -> list[Any]:
    return [1] if given else []


def _no_cache(word: str, given: Any) -> list[Any]:
    return [_driver.CUjit_cacheMode.CU_JIT_CACHE_OPTION_NONE] if given else []


# Words of the driver's column that stand for no CUjit_option.
REFUSED, IGNORED = "refused", "ignored"


def _nothing(word: str, given: Any) -> list[Any]:
    return []


@dataclass
class LinkerOptions:
    """How a ``Linker`` links. An option that is None is left to the linker.

    ``arch`` is the current device's where it is not given. The driver's linker ignores some options
    with a DeprecationWarning and refuses others with a ValueError.
    """

    name: str | None = "<default linker>"
    arch: str | None = option(nvjitlink=("-arch=", value), driver=("TARGET", _target))
    max_register_count: int | None = option(
        nvjitlink=("-maxrregcount=", value), driver=("MAX_REGISTERS", _number)
    )
    time: bool | None = option(nvjitlink=("-time", present), driver=(REFUSED, _nothing))
    verbose: bool | None = option(nvjitlink=("-verbose", when), driver=("LOG_VERBOSE", _yes))
    link_time_optimization: bool | None = option(nvjitlink=("-lto", when), driver=("LTO", _yes))
    ptx: bool | None = option(nvjitlink=("-ptx", when), driver=(REFUSED, _nothing))
    optimization_level: int | None = option(
        nvjitlink=("-O", value), driver=("OPTIMIZATION_LEVEL", _number)
    )
    debug: bool | None = option(nvjitlink=("-g", when), driver=("GENERATE_DEBUG_INFO", _yes))
    lineinfo: bool | None = option(
        nvjitlink=("-lineinfo", when), driver=("GENERATE_LINE_INFO", _yes)
    )
    ftz: bool | None = option(nvjitlink=("-ftz=", truth), driver=(IGNORED, _nothing))
    prec_div: bool | None = option(nvjitlink=("-prec-div=", truth), driver=(IGNORED, _nothing))
    prec_sqrt: bool | None = option(nvjitlink=("-prec-sqrt=", truth), driver=(IGNORED, _nothing))
    fma: bool | None = option(nvjitlink=("-fma=", truth), driver=(IGNORED, _nothing))
    kernels_used: Texts = option(nvjitlink=("-kernels-used=", each), driver=(IGNORED, _nothing))
    variables_used: Texts = option(nvjitlink=("-variables-used=", each), driver=(IGNORED, _nothing))
    optimize_unused_variables: bool | None = option(
        nvjitlink=("-optimize-unused-variables", when), driver=(IGNORED, _nothing)
    )
    ptxas_options: Texts = option(nvjitlink=("-Xptxas=", each), driver=(REFUSED, _nothing))
    split_compile: int | None = option(
        nvjitlink=("-split-compile=", value), driver=(REFUSED, _nothing)
    )
    split_compile_extended: int | None = option(
        nvjitlink=("-split-compile-extended=", value), driver=(REFUSED, _nothing)
    )
    no_cache: bool | None = option(nvjitlink=("-no-cache", when), driver=("CACHE_MODE", _no_cache))
    numba_debug: bool | None = None  # for the compilers; nothing is left of it when linking

    def as_bytes(self, backend: str = "nvjitlink") -> list[bytes]:
        """The flags for nvJitLink. The driver takes no text: ValueError for another backend."""
        if str(backend).lower() != "nvjitlink":
            raise ValueError(f"as_bytes() only supports 'nvjitlink' backend, got {backend!r}")
        if _decide_nvjitlink_or_driver():
            raise RuntimeError(f"nvJitLink backend is not available: {_nvjitlink_problem()}")
        return self._prepare_nvjitlink_options(as_bytes=True)

    def _resolved(self) -> LinkerOptions:
        return dataclasses.replace(self, arch=self.arch or current_arch())

    def _prepare_nvjitlink_options(self, as_bytes: bool = False) -> list[Any]:
        words = flags_of(self._resolved(), "nvjitlink")
        return [word.encode() for word in words] if as_bytes else words

    def _driver_rows(self) -> list[tuple[str, str, Any]]:
        """(field, word of the driver's column, value) of what is set."""
        rows = []
        for field in dataclasses.fields(self):
            given, row = getattr(self, field.name), field.metadata.get("driver")
            if row and given is not None:
                rows.append((field.name, row[0], row[1](row[0], given)))
        return rows

    def _driver_values(self) -> list[tuple[Any, Any]]:
        """(CUjit_option, value); ValueError for what the driver's linker cannot be told."""
        pairs = []
        for name, word, values in self._driver_rows():
            if word == REFUSED:
                raise ValueError(
                    f"{name} option is not supported by the driver API (the driver linker)"
                )
            if word != IGNORED:
                kind = getattr(_driver.CUjit_option, f"CU_JIT_{word}")
                pairs += [(kind, given) for given in values]
        return pairs

    def _prepare_driver_options(self) -> tuple[list[Any], list[Any]]:
        """Values and keys for cuLinkCreate: first the two logs, then what is set."""
        for name, word, _ in self._driver_rows():
            if word == IGNORED:
                warnings.warn(
                    _IGNORED_TEXT.format(_IGNORED_NAMES.get(name, name)),
                    DeprecationWarning,
                    stacklevel=3,
                )
        kinds = _driver.CUjit_option
        logs = [
            (kinds.CU_JIT_INFO_LOG_BUFFER, bytearray(_LOG_BYTES)),
            (kinds.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, _LOG_BYTES),
            (kinds.CU_JIT_ERROR_LOG_BUFFER, bytearray(_LOG_BYTES)),
            (kinds.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, _LOG_BYTES),
        ]
        pairs = [*logs, *self._driver_values()]
        return [given for _, given in pairs], [key for key, _ in pairs]


_IGNORED_TEXT = "{} is deprecated in the driver API; install nvJitLink to use it"
_IGNORED_NAMES = {
    **{name: f"{name} option" for name in ("ftz", "prec_div", "prec_sqrt")},
    "fma": "fma options",
}


class _NvJitLink:
    """A link by nvJitLink."""

    INPUTS = {
        "ptx": "PTX",
        "cubin": "CUBIN",
        "fatbin": "FATBIN",
        "ltoir": "LTOIR",
        "object": "OBJECT",
        "library": "LIBRARY",
    }

    def __init__(self, options: LinkerOptions) -> None:
        from ..bindings import nvjitlink

        self.api = nvjitlink
        words = options._prepare_nvjitlink_options()
        self.handle: Any = nvjitlink.create(len(words), words)
        self.logs = {"info": "", "error": ""}

    def add(self, code: ObjectCode) -> None:
        kind = self.api.InputType[self.INPUTS[code.code_type]]
        if isinstance(code.code, str):
            self.guarded(self.api.add_file, self.handle, kind, code.code)
        else:
            data = code.code + b"\0" if code.code_type == "ptx" else code.code
            self.guarded(self.api.add_data, self.handle, kind, data, len(data), code.name)

    def guarded(self, call: Any, *args: Any) -> None:
        """A call whose error tells what the linker wrote."""
        try:
            call(*args)
        except nvJitLinkError as error:
            self.read_logs()
            error.args = (f"{error}\nlinker log:\n{self.logs['error']}",)
            raise

    def read_logs(self) -> None:
        for kind in self.logs:
            room = bytearray(getattr(self.api, f"get_{kind}_log_size")(self.handle))
            if room:
                getattr(self.api, f"get_{kind}_log")(self.handle, room)
            self.logs[kind] = bytes(room).rstrip(b"\0").decode(errors="replace")

    def link(self, target: str) -> bytes:
        self.guarded(self.api.complete, self.handle)
        self.read_logs()
        room = bytearray(getattr(self.api, f"get_linked_{target}_size")(self.handle))
        getattr(self.api, f"get_linked_{target}")(self.handle, room)
        return bytes(room).rstrip(b"\0") if target == "ptx" else bytes(room)

    def close(self) -> None:
        if self.handle:
            self.api.destroy(self.handle)


class _DriverLink:
    """A link by the driver; the logs are buffers that it writes into."""

    INPUTS = {
        "ptx": "PTX",
        "cubin": "CUBIN",
        "fatbin": "FATBINARY",
        "object": "OBJECT",
        "library": "LIBRARY",
    }

    def __init__(self, options: LinkerOptions) -> None:
        values, keys = options._prepare_driver_options()
        self.info, self.error = values[0], values[2]
        try:
            self.handle = _driver.checked.cuLinkCreate(len(keys), keys, values)
        except DynamicLibNotFoundError as error:
            if problem := _nvjitlink_problem():
                text = f"{problem}. There is no driver to link instead"
                raise DynamicLibNotFoundError(text) from error
            raise

    @property
    def logs(self) -> dict[str, str]:
        texts = {"info": self.info, "error": self.error}
        return {
            kind: bytes(room).split(b"\0")[0].decode(errors="replace")
            for kind, room in texts.items()
        }

    def add(self, code: ObjectCode) -> None:
        if code.code_type not in self.INPUTS:
            raise ValueError(
                f"the driver's linker takes no {code.code_type}; install nvidia-nvjitlink"
            )
        kind = _driver.CUjitInputType[f"CU_JIT_INPUT_{self.INPUTS[code.code_type]}"]
        name = code.name.encode()
        if isinstance(code.code, str):
            self.guarded(_driver.cuLinkAddFile, self.handle, kind, code.code.encode(), 0, [], [])
            return
        data = code.code + b"\0" if code.code_type == "ptx" else code.code
        self.guarded(_driver.cuLinkAddData, self.handle, kind, data, len(data), name, 0, [], [])

    def guarded(self, call: Any, *args: Any) -> Any:
        from ..bindings import CUDAError

        status, *results = call(*args)
        if status:
            raise CUDAError(call.__name__, status, f"linker log:\n{self.logs['error']}")
        return results

    def link(self, target: str) -> bytes:
        import ctypes

        address, size = self.guarded(_driver.cuLinkComplete, self.handle)
        return ctypes.string_at(int(address), int(size))

    def close(self) -> None:
        if int(self.handle):
            _driver.cuLinkDestroy(self.handle)


class Linker:
    """Links object codes: ``Linker(a, b, options=LinkerOptions(arch="sm_90")).link("cubin")``.

    Parameters
    ----------
    *object_codes : ObjectCode
        PTX, cubin, fatbin, LTO-IR, host objects or archives with device code.
    options : LinkerOptions or dict, optional

    Notes
    -----
    Works without a GPU where nvJitLink is installed and ``arch`` is given.
    """

    def __init__(self, *object_codes: ObjectCode, options: Any = None) -> None:
        self._link: Any = None
        if not object_codes:
            raise ValueError("At least one ObjectCode object must be provided")
        for code in object_codes:
            if not isinstance(code, ObjectCode):
                raise TypeError(f"a Linker takes ObjectCode, not {type(code).__name__}")
        self._options = options_of(LinkerOptions, options)._resolved()
        uses_driver = _decide_nvjitlink_or_driver()
        if not uses_driver and self._options.arch is None:
            raise ValueError("there is no GPU here to link for; give LinkerOptions(arch='sm_90')")
        self._link = (_DriverLink if uses_driver else _NvJitLink)(self._options)
        self._done: dict[str, str] | None = None
        for code in object_codes:
            self._link.add(code)

    @classmethod
    def which_backend(cls) -> CompilerBackendType:
        """``"nvJitLink"``, or ``"driver"`` where that is not installed."""
        if _use_nvjitlink_backend is None:
            uses_driver = _decide_nvjitlink_or_driver()
        else:
            uses_driver = not _use_nvjitlink_backend
        return CompilerBackendType.DRIVER if uses_driver else CompilerBackendType.NVJITLINK

    def link(self, target_type: str) -> ObjectCode:
        """The linked code: ``"cubin"``, or ``"ptx"`` where the options ask for it (``ptx=True``
        with ``link_time_optimization=True``)."""
        target = str(target_type).lower()
        if target not in ("cubin", "ptx"):
            raise ValueError(
                f"Unsupported target type: {target_type!r}; a Linker makes cubin or ptx"
            )
        if self._link is None:
            raise RuntimeError("the Linker is closed")
        return ObjectCode._init(self._link.link(target), target, name=self._options.name or "")

    def get_error_log(self) -> str:
        """What the linker said about errors."""
        return self._logs()["error"]

    def get_info_log(self) -> str:
        """What else the linker said."""
        return self._logs()["info"]

    def _logs(self) -> dict[str, str]:
        if self._link is None:
            return self._done or {"info": "", "error": ""}
        return self._link.logs  # type: ignore[no-any-return]

    @property
    def handle(self) -> Any:
        """nvJitLink's handle as an int, or the driver's CUlinkState."""
        return self._link.handle if self._link else 0

    def close(self) -> None:
        """Ends the linker; its logs stay. Again does nothing."""
        link, self._link = self._link, None
        if link is not None:
            self._done = link.logs
            link.close()

    def __del__(self) -> None:
        if sys is None or sys.is_finalizing():
            return
        if getattr(self, "_link", None) is not None:
            self.close()

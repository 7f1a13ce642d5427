# SPDX-License-Identifier: Apache-2.0
"""ProgramOptions: one table of what compilers can be told, with each compiler's flag for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from ..bindings import CUDAError
from ._flags import (
    as_virtual,
    current_arch,
    digit,
    each,
    flags_of,
    level,
    macro,
    option,
    truth,
    value,
    when,
)
from ._options import guesses

__all__ = ["ProgramOptions"]

Macro = Union[str, tuple[str, str], list[Union[str, tuple[str, str]]], None]
Texts = Union[str, Sequence[str], None]
Numbers = Union[int, Sequence[int], None]
Source = tuple[str, Union[str, bytes, bytearray]]


@guesses
@dataclass
class ProgramOptions:
    """How a ``Program`` is compiled. An option that is None is left to the compiler.

    Each field is the compiler's flag of the same name. ``arch`` is the current device's where it is
    not given. Beyond the peer: ``default_includes`` (the toolkit's headers and those of CCCL are
    found without ``include_path``; False switches that off), ``flags`` (more flags, as the compiler
    takes them) and ``arguments`` (for ``"tile"``: what the kernel is compiled for).
    """

    name: str | None = "default_program"
    arch: str | None = option(nvrtc=("-arch=", value), nvvm=("-arch=", as_virtual))
    relocatable_device_code: bool | None = option(nvrtc=("--relocatable-device-code=", truth))
    extensible_whole_program: bool | None = option(nvrtc=("--extensible-whole-program", when))
    debug: bool | None = option(nvrtc=("--device-debug", when), nvvm=("-g", when))
    lineinfo: bool | None = option(nvrtc=("--generate-line-info", when))
    device_code_optimize: bool | None = option(nvrtc=("--dopt=on", when), nvvm=("-opt=", level))
    ptxas_options: Texts = option(nvrtc=("--ptxas-options=", each))
    max_register_count: int | None = option(nvrtc=("--maxrregcount=", value))
    ftz: bool | None = option(nvrtc=("--ftz=", truth), nvvm=("-ftz=", digit))
    prec_sqrt: bool | None = option(nvrtc=("--prec-sqrt=", truth), nvvm=("-prec-sqrt=", digit))
    prec_div: bool | None = option(nvrtc=("--prec-div=", truth), nvvm=("-prec-div=", digit))
    fma: bool | None = option(nvrtc=("--fmad=", truth), nvvm=("-fma=", digit))
    use_fast_math: bool | None = option(nvrtc=("--use_fast_math", when))
    extra_device_vectorization: bool | None = option(nvrtc=("--extra-device-vectorization", when))
    link_time_optimization: bool | None = option(
        nvrtc=("--dlink-time-opt", when), nvvm=("", lambda flag, given: [])
    )  # libNVVM is told by the target type, ltoir
    gen_opt_lto: bool | None = option(nvrtc=("--gen-opt-lto", when))
    define_macro: Macro = option(nvrtc=("--define-macro=", macro))
    undefine_macro: Texts = option(nvrtc=("--undefine-macro=", each))
    include_path: Texts = option(nvrtc=("--include-path=", each))
    pre_include: Texts = option(nvrtc=("--pre-include=", each))
    no_source_include: bool | None = option(nvrtc=("--no-source-include", when))
    std: str | None = option(nvrtc=("--std=", value))
    builtin_move_forward: bool | None = option(nvrtc=("--builtin-move-forward=", truth))
    builtin_initializer_list: bool | None = option(nvrtc=("--builtin-initializer-list=", truth))
    disable_warnings: bool | None = option(nvrtc=("--disable-warnings", when))
    restrict: bool | None = option(nvrtc=("--restrict", when))
    device_as_default_execution_space: bool | None = option(
        nvrtc=("--device-as-default-execution-space", when)
    )
    device_int128: bool | None = option(nvrtc=("--device-int128", when))
    device_float128: bool | None = option(nvrtc=("--device-float128", when))
    optimization_info: str | None = option(nvrtc=("--optimization-info=", value))
    no_display_error_number: bool | None = option(nvrtc=("--no-display-error-number", when))
    diag_error: Numbers = option(nvrtc=("--diag-error=", each))
    diag_suppress: Numbers = option(nvrtc=("--diag-suppress=", each))
    diag_warn: Numbers = option(nvrtc=("--diag-warn=", each))
    brief_diagnostics: bool | None = option(nvrtc=("--brief-diagnostics=", truth))
    time: str | bool | None = option(nvrtc=("--time=", value))
    split_compile: int | None = option(nvrtc=("--split-compile=", value))
    fdevice_syntax_only: bool | None = option(nvrtc=("--fdevice-syntax-only", when))
    minimal: bool | None = option(nvrtc=("--minimal", when))
    no_cache: bool | None = option(nvrtc=("--no-cache", when))
    fdevice_time_trace: str | None = option(nvrtc=("--fdevice-time-trace=", value))
    frandom_seed: str | None = option(nvrtc=("--frandom-seed=", value))
    ofast_compile: str | None = option(nvrtc=("--Ofast-compile=", value))
    pch: bool | None = option(nvrtc=("--pch", when))
    create_pch: str | None = option(nvrtc=("--create-pch=", value))
    use_pch: str | None = option(nvrtc=("--use-pch=", value))
    pch_dir: str | None = option(nvrtc=("--pch-dir=", value))
    pch_verbose: bool | None = option(nvrtc=("--pch-verbose=", truth))
    pch_messages: bool | None = option(nvrtc=("--pch-messages=", truth))
    instantiate_templates_in_pch: bool | None = option(
        nvrtc=("--instantiate-templates-in-pch=", truth)
    )
    numba_debug: bool | None = option(nvrtc=("--numba-debug", when), nvvm=("--numba-debug", when))
    extra_sources: Sequence[Source] | None = None
    use_libdevice: bool | None = None
    default_includes: bool = True
    flags: Texts = option(nvrtc=("", each), nvvm=("", each))
    arguments: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        if self.extra_sources is not None:
            _check_sources(self.extra_sources)

    def as_bytes(self, backend: str, target_type: str | None = None) -> list[bytes]:
        """The flags for ``"nvrtc"``, ``"nvvm"`` or ``"nvjitlink"``; ``target_type`` adds what a
        target needs.

        Raises CUDAError where an option is set that libNVVM does not know.
        """
        kind = str(backend).lower()
        if kind == "nvjitlink":
            return self._linker_options().as_bytes(kind)
        if kind not in _UNTOLD:
            raise ValueError(f"Unknown backend '{kind}'; there are nvrtc, nvvm and nvjitlink")
        words = flags_of(dataclasses.replace(self, arch=self.arch or current_arch()), kind)
        if kind == "nvvm":
            self._refuse_unknown_to_nvvm()
        if target_type == "ltoir" and _LTO[kind] not in words:
            words.append(_LTO[kind])
        return [word.encode() for word in words]

    def _refuse_unknown_to_nvvm(self) -> None:
        from ..bindings.driver import CUresult

        unknown = [
            field.name
            for field in dataclasses.fields(self)
            if getattr(self, field.name) not in (None, False)
            and "nvvm" not in field.metadata
            and field.name not in _UNTOLD["nvvm"]
        ]
        if unknown:
            text = f"not supported by NVVM backend: {', '.join(unknown)}"
            raise CUDAError("ProgramOptions", CUresult.CUDA_ERROR_NOT_SUPPORTED, text)

    def _linker_options(self) -> Any:
        """The options that mean something to a linker of PTX."""
        from ._linker import LinkerOptions

        shared = {field.name for field in dataclasses.fields(LinkerOptions)}
        names = [field.name for field in dataclasses.fields(self) if field.name in shared]
        return LinkerOptions(**{name: getattr(self, name) for name in names})

    def _prepare_extra_sources_bytes(self) -> list[tuple[bytes, bytes]] | None:
        if self.extra_sources is None:
            return None
        return [(name.encode(), _bytes_of(code)) for name, code in self.extra_sources]


# What a backend is told in other ways than by a flag.
_UNTOLD = {
    "nvrtc": (),
    "nvvm": ("name", "extra_sources", "use_libdevice", "default_includes", "arguments"),
}
_LTO = {"nvrtc": "--dlink-time-opt", "nvvm": "-gen-lto"}


def _bytes_of(code: str | bytes | bytearray) -> bytes:
    return code.encode() if isinstance(code, str) else bytes(code)


def _check_sources(sources: Any) -> None:
    if not isinstance(sources, Sequence) or isinstance(sources, (str, bytes)):
        raise TypeError(
            "extra_sources must be a sequence of 2-tuples (name, source), "
            f"not {type(sources).__name__}"
        )
    for i, item in enumerate(sources):
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(
                f"Each extra module must be a 2-tuple (name, source); at index {i}: {item!r}"
            )
        name, code = item
        if not isinstance(name, str):
            raise TypeError(f"Module name at index {i} must be a string, not {type(name).__name__}")
        if not isinstance(code, (str, bytes, bytearray)):
            raise TypeError(
                f"Module source at index {i} must be str, bytes or bytearray, not "
                f"{type(code).__name__}"
            )
        if not code:
            raise ValueError(f"Module source for '{name}' (index {i}) cannot be empty")

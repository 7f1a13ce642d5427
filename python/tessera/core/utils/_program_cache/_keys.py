# SPDX-License-Identifier: Apache-2.0
"""Keys of compiled code: a digest of everything that the result depends on.

What cannot be seen from here (headers of the user, precompiled headers) is refused unless the
caller gives a digest of it; the toolkit's own headers are known by their version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...typing import ObjectCodeFormatType, SourceCodeType

__all__ = ["make_program_cache_key"]

_KEY_SCHEMA_VERSION = 1

_TARGETS = {
    SourceCodeType.CXX: ("ptx", "cubin", "ltoir"),
    SourceCodeType.PTX: ("cubin", "ptx"),
    SourceCodeType.NVVM: ("ptx", "ltoir"),
    SourceCodeType.TILEIR: ("ptx", "cubin"),
}
# Options of NVRTC that read files: given at all, or given as text or a non-empty sequence.
_READS_IF_GIVEN = ("use_pch", "pch_dir")
_READS_IF_WORDS = ("include_path", "pre_include")
_WRITES = ("create_pch", "time", "fdevice_time_trace")


# ---- versions of the compilers


def _driver_version() -> int:
    from ....bindings import driver

    return int(driver.checked.cuDriverGetVersion())


def _nvrtc_version() -> tuple[int, int]:
    from ... import _program

    return _program._nvrtc_version()


def _linker_backend_and_version(use_driver: bool) -> tuple[str, str]:
    if use_driver:
        return "driver", str(_driver_version())
    from ....bindings import nvjitlink

    major, minor = nvjitlink.version()
    return "nvJitLink", f"{major}.{minor}"


def _nvvm_fingerprint() -> str:
    from ... import _program

    nvvm = _program._get_nvvm_module()
    return f"lib={nvvm.version()} ir={nvvm.ir_version()}"


def _tessera_fingerprint() -> str:
    import tessera

    return f"tessera={tessera.__version__}"


def _headers() -> str:
    """The headers that are found by default."""
    from ....pathfinder import find_cuda_include_dirs

    return "\n".join(find_cuda_include_dirs())


def _probed(probe: Callable[[], Any]) -> str:
    """A version, or the kind of error that asking for it gave: never equal to a version."""
    try:
        return f"is {probe()}"
    except Exception as error:  # no version is a fact as good as another
        return f"failed {type(error).__name__}"


# ---- one language each: the parts of the key


def _nvrtc_parts(code: str, options: Any, target: str, names: Sequence[Any]) -> list[bytes]:
    parts = [_probed(_nvrtc_version).encode(), (options.name or "").encode()]
    parts += options.as_bytes("nvrtc", target)
    if options.default_includes and "#" in code and "include" in code:
        parts.append(_headers().encode())
    parts += sorted(b"s" + n.encode() if isinstance(n, str) else b"b" + n for n in names)
    return parts


def _ptx_parts(code: str, options: Any, target: str, names: Sequence[Any]) -> list[bytes]:
    from ... import _linker

    use_driver = _linker._decide_nvjitlink_or_driver()
    told = options._linker_options()._resolved()
    if use_driver:
        words = [f"{key}={value}" for key, value in told._driver_values()]
    else:
        words = told._prepare_nvjitlink_options()
    return [
        _probed(lambda: _linker_backend_and_version(use_driver)).encode(),
        (options.name or "").encode(),
        *(word.encode() for word in words),
    ]


def _nvvm_parts(code: Any, options: Any, target: str, names: Sequence[Any]) -> list[bytes]:
    parts = [_probed(_nvvm_fingerprint).encode(), (options.name or "").encode()]
    parts += options.as_bytes("nvvm", target)
    for name, source in options._prepare_extra_sources_bytes() or ():
        parts += [name, source]
    return [*parts, b"libdevice" if options.use_libdevice else b""]


def _tileir_parts(code: str, options: Any, target: str, names: Sequence[Any]) -> list[bytes]:
    from ..._flags import current_arch

    arch = options.arch or current_arch() or ""
    return [_tessera_fingerprint().encode(), (options.name or "").encode(), arch.encode()]


_PARTS = {
    SourceCodeType.CXX: _nvrtc_parts,
    SourceCodeType.PTX: _ptx_parts,
    SourceCodeType.NVVM: _nvvm_parts,
    SourceCodeType.TILEIR: _tileir_parts,
}


# ---- what cannot be cached


def _check_types(code: Any, kind: SourceCodeType, target: str, options: Any) -> None:
    if kind == SourceCodeType.TILE:
        raise ValueError(
            "Tessera keeps compiled tile kernels in a cache of its own; leave cache= out"
        )
    if kind != SourceCodeType.NVVM and not isinstance(code, str):
        raise TypeError(f"code must be str for code_type={str(kind)!r}, not {type(code).__name__}")
    if not isinstance(code, (str, bytes, bytearray)):
        raise TypeError(f"code must be str, bytes or bytearray, not {type(code).__name__}")
    if target not in {str(known) for known in ObjectCodeFormatType}:
        raise ValueError(f"target_type={target!r} is not known")
    if target not in _TARGETS[kind]:
        raise ValueError(f"target_type={target!r} is not valid for code_type={str(kind)!r}")
    if kind != SourceCodeType.NVVM and options.extra_sources is not None:
        raise ValueError(f"extra_sources is for NVVM, not for code_type={str(kind)!r}")


def _check_names(names: Iterable[Any]) -> None:
    for name in names:
        if not isinstance(name, (str, bytes)):
            raise TypeError(f"name_expressions must be str or bytes, not {type(name).__name__}")


def _has_words(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Sequence) and len(value) > 0)


def _outside_files(options: Any) -> list[str]:
    named = [name for name in _READS_IF_GIVEN if getattr(options, name) is not None]
    named += [name for name in _READS_IF_WORDS if _has_words(getattr(options, name))]
    return named + (["pch"] if options.pch else [])


def _check_nvrtc_files(options: Any, has_digest: bool) -> None:
    written = [name for name in _WRITES if getattr(options, name) is not None]
    if written:
        raise ValueError(
            f"{', '.join(written)}: the compiler writes a file as a side effect, which a hit would "
            "not do; compile without the cache"
        )
    if has_digest:
        return
    if outside := _outside_files(options):
        raise ValueError(
            f"{', '.join(outside)}: files are read that the key does not see; give "
            "make_program_cache_key an extra_digest of them"
        )
    if any(mark in (options.name or "") for mark in "/\\"):
        raise ValueError(
            f"name={options.name!r} has a directory component, where NVRTC looks for headers that "
            "the key does not see; give an extra_digest of them, or the bare name"
        )


def _check_files(kind: SourceCodeType, options: Any, has_digest: bool) -> None:
    if kind == SourceCodeType.CXX:
        _check_nvrtc_files(options, has_digest)
    if kind == SourceCodeType.NVVM and options.use_libdevice and not has_digest:
        raise ValueError(
            "use_libdevice links a file that the key does not see; give an extra_digest of "
            "libdevice"
        )


def make_program_cache_key(
    *,
    code: Any,
    code_type: str,
    options: Any,
    target_type: str,
    name_expressions: Sequence[Any] = (),
    extra_digest: bytes | None = None,
) -> bytes:
    """The key of a compilation, 32 bytes: of the code, the flags, the target and the compiler's
    version.

    Raises
    ------
    ValueError
        The result depends on files that are not seen here (``include_path``, precompiled headers,
        libdevice) and there is no ``extra_digest`` of them; or it writes files, or is impossible.
    TypeError
        Code or names of the wrong type.
    """
    kind, target = SourceCodeType(str(code_type).lower()), str(target_type).lower()
    _check_types(code, kind, target, options)
    if kind == SourceCodeType.CXX:
        _check_names(name_expressions)
    _check_files(kind, options, extra_digest is not None)
    parts = [
        str(_KEY_SCHEMA_VERSION).encode(),
        str(kind).encode(),
        target.encode(),
        code.encode() if isinstance(code, str) else bytes(code),
        b"" if extra_digest is None else b"+" + extra_digest,
        *_PARTS[kind](code, options, target, name_expressions),
    ]
    digest = hashlib.sha256()
    for part in parts:  # lengths keep neighbours apart
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()

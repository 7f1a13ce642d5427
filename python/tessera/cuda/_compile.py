# SPDX-License-Identifier: Apache-2.0
"""Kernels as PTX, without a GPU."""

from __future__ import annotations

from typing import Any

from .. import _core
from . import config, types
from ._dispatcher import Dispatcher
from ._errors import CCSupportError
from ._options import options_of
from ._overload import target_of_device
from ._signature import normalize

__all__ = [
    "compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device",
]  # fmt: skip

_OPTIONS = ("debug", "lineinfo", "fastmath", "opt", "forceinline", "launch_bounds")


def _target(cc: Any) -> int:
    """The newest target that a GPU of this compute capability runs."""
    if cc is None:
        cc = config.FORCE_CUDA_CC
    if cc is None:
        return target_of_device()
    number = int(cc[0]) * 10 + int(cc[1])
    fits = [t for t in _core.TARGETS.values() if 80 <= t <= number]
    if not fits:
        raise CCSupportError(f"GPUs of compute capability {cc[0]}.{cc[1]} are not supported; the oldest is 8.0")
    return max(fits)


def compile(  # noqa: A001
    pyfunc: Any, sig: Any, debug: bool | None = None, lineinfo: bool = False, device: bool = True,
    fastmath: bool = False, cc: Any = None, opt: bool | None = None, abi: str = "c", abi_info: Any = None,
    output: str = "ptx", forceinline: bool = False, launch_bounds: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """The PTX of a kernel for a signature, and its return type.

    Parameters
    ----------
    pyfunc : function
    sig : signature
    device : bool
        True asks for a function that other code calls, which is not made yet.
    cc : (int, int), optional
        A compute capability; None: that of the current GPU, or 8.0.
    abi : str
        ``"numba"``; ``"c"`` is for device functions.
    output : str
        ``"ptx"``.
    debug, lineinfo, fastmath, opt, forceinline, launch_bounds
        As of ``cuda.jit``.

    Raises
    ------
    NotImplementedError
        A device function, LTO-IR, an ABI that does not fit.

    Notes
    -----
    Parameters of the kernel are those of Tessera: of an array its pointer, extents and strides (in elements), of a
    number its value.
    """
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"Unsupported output type: {output}")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels")
    if forceinline and output != "ltoir":
        raise ValueError("Can only designate forced inlining in LTO-IR")
    if device:
        raise NotImplementedError("device functions are not compiled by themselves yet; compile a kernel, device=False")
    if output == "ltoir":
        raise NotImplementedError("LTO-IR is not made: output='ptx' gives PTX, which every linker takes")
    given = {"debug": debug, "lineinfo": lineinfo, "fastmath": fastmath, "opt": opt, "forceinline": forceinline,
             "launch_bounds": launch_bounds}  # fmt: skip
    found = normalize(sig)
    if found.return_type not in (None, types.void):
        raise TypeError("CUDA kernel must have void return type.")
    kernel = Dispatcher(getattr(pyfunc, "py_func", pyfunc), options_of(given, launched=False))
    code, _ = kernel.compile(found).code(_target(cc))
    return code.rstrip(b"\0").decode(), types.void


def compile_ptx(
    pyfunc: Any, sig: Any, debug: bool | None = None, lineinfo: bool = False, device: bool = False,
    fastmath: bool = False, cc: Any = None, opt: bool | None = None, abi: str = "numba", abi_info: Any = None,
    forceinline: bool = False, launch_bounds: Any = None,
) -> tuple[str, Any]:  # fmt: skip
    """As ``compile`` with ``device=False``."""
    return compile(pyfunc, sig, debug, lineinfo, device, fastmath, cc, opt, abi, abi_info, "ptx", forceinline,
                   launch_bounds)  # fmt: skip


def compile_for_current_device(pyfunc: Any, sig: Any, **options: Any) -> tuple[Any, Any]:
    """As ``compile``, for the current GPU."""
    from ._devices import get_current_device

    return compile(pyfunc, sig, cc=get_current_device().compute_capability, **options)


def compile_ptx_for_current_device(pyfunc: Any, sig: Any, **options: Any) -> tuple[str, Any]:
    """As ``compile_ptx``, for the current GPU."""
    from ._devices import get_current_device

    return compile_ptx(pyfunc, sig, cc=get_current_device().compute_capability, **options)


def compile_all(pyfunc: Any, sig: Any, output: str = "ltoir", **options: Any) -> tuple[list[Any], Any]:
    """As ``compile``, with the code that is linked to it: a list."""
    code, result = compile(pyfunc, sig, output=output, **options)
    return [code], result

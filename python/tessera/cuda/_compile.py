# SPDX-License-Identifier: Apache-2.0
"""Kernels and functions as PTX, without a GPU."""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any

from .. import _core
from . import config, types
from ._dispatcher import Dispatcher, converting
from ._errors import CCSupportError
from ._options import Options, options_of
from ._overload import Overload, target_of_device, type_of_number
from ._signature import Signature, normalize

__all__ = [
    "compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device",
]  # fmt: skip


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
    """The PTX of a function or a kernel for a signature, and its return type.

    Parameters
    ----------
    pyfunc : function
    sig : signature
        Without a return type, that of the function is found.
    device : bool
        True: a function that other code calls, as C does; False: a kernel.
    cc : (int, int), optional
        A compute capability; None: that of the current GPU, or 8.0.
    abi : str
        ``"c"``: a function takes its arguments and gives its result as C's do. ``"numba"``: it stores its result where
        its first parameter points, and gives a status, 0. Kernels are ``"numba"``.
    abi_info : dict, optional
        ``abi_name``: the name of the function in the PTX; else it is that of ``pyfunc``.
    output : str
        ``"ptx"``.
    debug, lineinfo, fastmath, opt, forceinline, launch_bounds
        As of ``cuda.jit``.

    Raises
    ------
    NotImplementedError
        LTO-IR, an ABI that does not fit.
    TypingError
        The function returns more than a real number.

    Notes
    -----
    Parameters are those of Tessera: of an array its pointer, extents and strides (in elements, 64 bits each), of a
    pointer and a number its value. Numbers of fewer than 32 bits travel as 32. A function for other code neither raises
    nor has shared memory of its own.
    """
    _check(device, abi, output, forceinline)
    given = {"debug": debug, "lineinfo": lineinfo, "fastmath": fastmath, "opt": opt, "forceinline": forceinline,
             "launch_bounds": launch_bounds}  # fmt: skip
    found, options = normalize(sig), options_of(given, launched=False)
    function = getattr(pyfunc, "py_func", pyfunc)
    if device:
        return _device_function(function, found, options, _target(cc), abi, (abi_info or {}).get("abi_name"))
    if found.return_type not in (None, types.void):
        raise TypeError("CUDA kernel must have void return type.")
    code, _ = Dispatcher(function, options).compile(found).code(_target(cc))
    return code.rstrip(b"\0").decode(), types.void


def _check(device: bool, abi: str, output: str, forceinline: bool) -> None:
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if output not in ("ptx", "ltoir"):
        raise NotImplementedError(f"Unsupported output type: {output}")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels")
    if forceinline and output != "ltoir":
        raise ValueError("Can only designate forced inlining in LTO-IR")
    if output == "ltoir":
        raise NotImplementedError("LTO-IR is not made: output='ptx' gives PTX, which every linker takes")


def _device_function(
    function: Any, sig: Signature, options: Options, target: int, abi: str, name: str | None
) -> tuple[str, Any]:
    """A function for other code, and what it returns."""
    name = name or function.__name__
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,126}", name):
        raise ValueError(f"{name!r} is no name of a function in PTX; give one: abi_info={{'abi_name': 'f'}}")
    if isinstance(sig.return_type, types.Number):
        function = converting(function, sig)
    named = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    kernel = Dispatcher(named, options._replace(checked=0))
    kernel._called = {"c": _core.FUNCTION_C, "numba": _core.FUNCTION_NUMBA}[abi]
    kernel._check_count(sig.args)
    code, plan = Overload(kernel, sig.args).code(target)
    return code.rstrip(b"\0").decode(), type_of_number(plan["result"])


def compile_ptx(
    pyfunc: Any, sig: Any, debug: bool | None = None, lineinfo: bool = False, device: bool = False,
    fastmath: bool = False, cc: Any = None, opt: bool | None = None, abi: str = "numba", abi_info: Any = None,
    forceinline: bool = False, launch_bounds: Any = None,
) -> tuple[str, Any]:  # fmt: skip
    """As ``compile``, of a kernel unless ``device`` says otherwise, and by numba's ABI."""
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

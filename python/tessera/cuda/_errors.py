# SPDX-License-Identifier: Apache-2.0
"""Exceptions and warnings under the names that numba's users catch."""

from __future__ import annotations

import builtins
from typing import Any

from .. import _errors
from ..bindings._errors import CUDAError, NVRTCError

__all__ = [
    "CCSupportError",
    "ConstantError",
    "ConstantInferenceError",
    "CudaAPIError",
    "CudaDriverError",
    "CudaSupportError",
    "DeadMemoryError",
    "DeprecationError",
    "ForceLiteralArg",
    "KernelRuntimeError",
    "LaunchError",
    "LinkerError",
    "LoweringError",
    "NumbaAttributeError",
    "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaExperimentalFeatureWarning",
    "NumbaIndexError",
    "NumbaInvalidConfigWarning",
    "NumbaKeyError",
    "NumbaNotImplementedError",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaRuntimeError",
    "NumbaTypeError",
    "NumbaValueError",
    "NumbaWarning",
    "NvrtcCompilationError",
    "NvrtcError",
    "NvrtcSupportError",
    "NvvmError",
    "NvvmSupportError",
    "RequireLiteralValue",
    "ReturnedError",
    "TypingError",
    "UnsupportedBytecodeError",
    "UnsupportedError",
    "raised",
    "translated",
]


class NumbaError(_errors.TileError):
    """A kernel does not compile."""

    def __init__(self, msg: str = "", loc: Any = None, **options: Any) -> None:
        super().__init__(msg)
        self.msg, self.loc = msg, loc


class TypingError(NumbaError):
    """Types that do not fit, or a value that had to be a constant."""


class ReturnedError(TypingError, TypeError):
    """A kernel that returns something."""


class ConstantError(TypingError, ValueError):
    """A constant of the right type that means nothing: an extent below zero, an odd alignment."""


class LoweringError(NumbaError):
    """Something that the target cannot do."""


class UnsupportedError(NumbaError):
    """A Python construct that is not part of the kernel language."""


class UnsupportedBytecodeError(UnsupportedError):
    """The same, under its older name."""


class ConstantInferenceError(NumbaError):
    """A value that had to be a constant."""


class DeprecationError(NumbaError):
    """An option that is no more."""


class ForceLiteralArg(NumbaError):  # noqa: N818
    """An argument that had to be a literal."""


class RequireLiteralValue(TypingError):  # noqa: N818
    """An argument that had to be a literal."""


class NumbaTypeError(TypingError):
    """Not a TypeError."""


class NumbaValueError(TypingError):
    """Not a ValueError."""


class NumbaAttributeError(TypingError):
    """An attribute that a type has not."""


class NumbaNotImplementedError(TypingError):
    """What is not there."""


class NumbaIndexError(TypingError):
    """An index out of range, seen while compiling."""


class NumbaKeyError(TypingError):
    """A key that is not there."""


class NumbaRuntimeError(NumbaError):
    """What fails at run time."""


class KernelRuntimeError(RuntimeError):
    """A kernel failed in a thread: ``tid`` of the block ``ctaid``."""

    def __init__(self, msg: str, tid: Any = None, ctaid: Any = None) -> None:
        where = "" if tid is None else f"tid={list(tid)} ctaid={list(ctaid)}: "
        super().__init__(where + msg)
        self.msg, self.tid, self.ctaid = msg, tid, ctaid


class CudaSupportError(ImportError):
    """No GPU, or no driver for it."""


class CudaDriverError(Exception):
    """The driver refused something."""


class CudaAPIError(CudaDriverError):
    """A call of the driver failed with ``code``."""

    def __init__(self, code: int, msg: str = "") -> None:
        super().__init__(code, msg)
        self.code, self.msg = code, msg

    def __str__(self) -> str:
        return f"[{self.code}] {self.msg}"


class DeadMemoryError(RuntimeError):
    """Memory that was freed is used."""


class LinkerError(RuntimeError):
    """Code could not be linked."""


class NvvmError(Exception):
    """libNVVM refused."""


class NvvmSupportError(ImportError):
    """libNVVM was not found."""


class NvrtcError(Exception):
    """NVRTC refused."""


class NvrtcCompilationError(NvrtcError, NVRTCError):
    """CUDA C that does not compile."""

    def __init__(self, msg: str = "", code: Any = None) -> None:
        RuntimeError.__init__(self, msg)
        self.function, self.code = "nvrtcCompileProgram", code


class NvrtcSupportError(ImportError):
    """NVRTC was not found."""


class CCSupportError(ValueError):
    """A compute capability that code cannot be made for."""


class NumbaWarning(Warning):
    """Base of the warnings here."""


class NumbaPerformanceWarning(NumbaWarning):
    """Something that is slower than it might be."""


class NumbaInvalidConfigWarning(NumbaWarning):
    """Options that do not go together."""


class NumbaDebugInfoWarning(NumbaWarning):
    """Debug information that is missing."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Something that is to go."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Something that is to go later."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Something that may change."""


class LaunchError(ValueError, CUDAError):
    """A configuration that no GPU takes: a ValueError, and what the driver would say."""

    def __init__(self, msg: str) -> None:
        RuntimeError.__init__(self, f"CUDA_ERROR_INVALID_VALUE: {msg}")
        self.function, self.code = "cuLaunchKernelEx", None  # type: ignore[assignment]


_LAUNCH = ("a GPU takes at most", "a block has at most", "has no blocks")  # src/run/launch.c, src/pass/lockstep.c
_RETURNS = "a kernel returns nothing, found"  # src/lang/stmt.c
_BY_CLASS: dict[type, type[NumbaError]] = {
    _errors.TileSyntaxError: UnsupportedError,
    _errors.TileUnsupportedFeatureError: LoweringError,
    _errors.TileValueError: ConstantError,
}


def translated(error: BaseException) -> BaseException:
    """What the compiler, or the driver, raised, as users of numba catch it."""
    if isinstance(error, CUDAError) and not isinstance(error, (CudaDriverError, NvrtcError, LaunchError)):
        return CudaAPIError(int(error.code), str(error)).with_traceback(error.__traceback__)
    if type(error) is ValueError and any(words in str(error) for words in _LAUNCH):
        return LaunchError(str(error)).with_traceback(error.__traceback__)
    internal = isinstance(error, _errors.TileInternalError)
    if not isinstance(error, _errors.TileError) or isinstance(error, NumbaError) or internal:
        return error
    cls = next((c for t, c in _BY_CLASS.items() if isinstance(error, t)), TypingError)
    if _RETURNS in str(error):
        return ReturnedError(f"CUDA kernel must have void return type: {error}").with_traceback(error.__traceback__)
    return cls(str(error)).with_traceback(error.__traceback__)


_OF_FAULT: dict[str, tuple[type[BaseException], str]] = {
    "bounds": (IndexError, ""),
    "assert": (AssertionError, "assertion failed"),
    "division": (ZeroDivisionError, ""),
}


def raised(error: _errors.KernelError, host: Any) -> BaseException:
    """The exception that a thread raised, its message with the place and the thread in front as numba writes it.

    Parameters
    ----------
    host : tessera._host.Host
        Of the kernel's pack, which numbers the classes of exceptions.
    """
    failure = error.failure
    assert failure is not None
    x, y, z = failure.thread or (0, 0, 0)
    where = f"In function {failure.function!r}, file {failure.file}, line {failure.line}, "
    where += f"tid={[x, y, z]} ctaid={list(failure.block)}"
    cls, start = _OF_FAULT.get(failure.code, (RuntimeError, ""))
    if failure.code == "raise":
        start = failure.message.partition(":")[0]
        given = host.object(failure.object) if failure.object else getattr(builtins, start, RuntimeError)
        cls = given if isinstance(given, type) else type(given)
    text = failure.message.removeprefix(start).removeprefix(": ")
    text = f"{where}: {text}" if text else where
    try:
        made = cls(text)
    except Exception:  # its class wants other arguments
        made = cls.__new__(cls)
        made.args = (text,)
    made.__cause__ = error
    return made

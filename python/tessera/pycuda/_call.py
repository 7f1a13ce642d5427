# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's exceptions, and the calls of the driver that raise them: ``cu.cuMemAlloc(1024)``."""

from __future__ import annotations

import builtins
from typing import Any

from ..bindings import driver
from ..bindings._errors import CUDAError

__all__ = [
    "CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError", "cu"
]  # fmt: skip


class Error(CUDAError):
    """Base of what this package raises. ``code`` is the driver's status, or None."""

    def __init__(self, text: str, function: str = "", code: Any = None) -> None:
        builtins.Exception.__init__(self, text)
        self.function, self.code = function, code


class LogicError(Error):
    """The program asked for something that cannot be."""


class MemoryError(Error, builtins.MemoryError):  # noqa: A001
    """Neither the device nor the pools have that much memory left."""


class LaunchError(Error):
    """A kernel could not be started, or failed while it ran."""


class RuntimeError(Error):  # noqa: A001
    """Something outside of the program: no device, code for another architecture, ..."""


class CompileError(Error):
    """CUDA C that does not compile: ``msg``, ``stdout``, ``stderr``, ``command_line``."""

    def __init__(
        self, msg: str, command_line: Any = (), stdout: str = "", stderr: str = ""
    ) -> None:
        super().__init__(msg + (f"\n[stderr:\n{stderr}]" if stderr else ""))
        self.msg, self.command_line, self.stdout, self.stderr = msg, command_line, stdout, stderr


_CLASSES: dict[str, type[Error]] = {
    **dict.fromkeys(["OUT_OF_MEMORY"], MemoryError),
    **dict.fromkeys(
        ["LAUNCH_FAILED", "LAUNCH_OUT_OF_RESOURCES", "LAUNCH_TIMEOUT",
         "LAUNCH_INCOMPATIBLE_TEXTURING", "COOPERATIVE_LAUNCH_TOO_LARGE"], LaunchError),
    **dict.fromkeys(
        ["NO_DEVICE", "NO_BINARY_FOR_GPU", "FILE_NOT_FOUND", "NOT_READY", "ECC_UNCORRECTABLE",
         "SYSTEM_DRIVER_MISMATCH", "SYSTEM_NOT_READY", "UNKNOWN"], RuntimeError),
}  # fmt: skip


def _raise(function: str, code: Any) -> None:
    _, text = driver.cuGetErrorString(code)
    class_ = _CLASSES.get(code.name.removeprefix("CUDA_ERROR_"), LogicError)
    raise class_(f"{function} failed: {(text or b'').decode()} ({code.name})", function, code)


class _Calls:
    """The functions of the driver by name, made when they are first used."""

    def __getattr__(self, name: str) -> Any:
        function = driver._api.checked(name, _raise)
        setattr(self, name, function)
        return function


cu = _Calls()

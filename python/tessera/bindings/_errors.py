# SPDX-License-Identifier: Apache-2.0
"""What the bindings raise."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from .._errors import DeviceError

if TYPE_CHECKING:
    from enum import IntEnum

__all__ = ["CUDAError", "FunctionNotFoundError", "NVRTCError", "nvJitLinkError", "nvvmError"]


class FunctionNotFoundError(RuntimeError):
    """The installed library is too old for this function."""


class CUDAError(DeviceError):
    """A call of ``checked`` failed: ``function``, and ``code`` as the member of its enum."""

    def __init__(self, function: str, code: IntEnum, text: str = "") -> None:
        super().__init__(f"{function}: {code.name} ({code.value}){': ' + text if text else ''}")
        self.function, self.code = function, code


@functools.cache
def _class_of(class_: type[Exception]) -> type[CUDAError]:
    if issubclass(CUDAError, class_):
        return CUDAError
    return type("CUDAError", (CUDAError, class_), {"__module__": __name__})


def of_driver(class_: type[Exception], code: int, text: str) -> CUDAError:
    """The exception for a failed call that the core made: a CUDAError, and what ``class_`` says."""
    from . import driver

    made = _class_of(class_)
    error = made.__new__(made, text)
    RuntimeError.__init__(error, text)
    error.function = ""
    error.code = driver.CUresult(code)
    return error


class NVRTCError(CUDAError):
    """A call of ``nvrtc.checked`` failed."""


class _StatusError(RuntimeError):
    """An error of a library whose functions raise: ``status`` is the number."""

    def __init__(self, status: IntEnum) -> None:
        super().__init__(f"{status.name} ({status.value})")
        self.status = int(status)


class nvJitLinkError(_StatusError):  # noqa: N801
    """nvJitLink refused; its error log says more."""


class nvvmError(_StatusError):  # noqa: N801
    """libNVVM refused; its program log says more."""

# SPDX-License-Identifier: Apache-2.0
"""The driver as PyCUDA shows it: devices, contexts, memory, copies, modules, launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bindings import driver as _driver
from . import _context, _copy, _memory, _module, _texture
from ._call import CompileError, Error, LaunchError, LogicError, MemoryError, RuntimeError, cu  # noqa: A004
from ._context import *  # noqa: F403
from ._copy import *  # noqa: F403
from ._copy import memcpy_dtoh, memcpy_htod
from ._enums import names as _names
from ._memory import *  # noqa: F403
from ._memory import DeviceAllocation, host_span, mem_alloc
from ._module import *  # noqa: F403
from ._texture import *  # noqa: F403

TRSA_OVERRIDE_FORMAT = _driver.CU_TRSA_OVERRIDE_FORMAT
TRSF_READ_AS_INTEGER = _driver.CU_TRSF_READ_AS_INTEGER
TRSF_NORMALIZED_COORDINATES = _driver.CU_TRSF_NORMALIZED_COORDINATES
TR_DEFAULT = _driver.CU_PARAM_TR_DEFAULT
globals().update(_names)


def to_device(bf_obj: Any) -> DeviceAllocation:
    """Device memory with the contents of an array or buffer."""
    memory = mem_alloc(host_span(bf_obj)[1])
    memcpy_htod(memory, bf_obj)
    return memory


def from_device(devptr: Any, shape: Any, dtype: Any, order: str = "C") -> np.ndarray[Any, Any]:
    """An array with the contents of device memory."""
    array = np.empty(shape, dtype, order=order)  # type: ignore[call-overload]
    memcpy_dtoh(array, devptr)
    return array  # type: ignore[no-any-return]


def from_device_like(devptr: Any, other_ary: Any) -> np.ndarray[Any, Any]:
    """An array of the form of another, with the contents of device memory."""
    array = np.empty_like(other_ary)
    memcpy_dtoh(array, devptr)
    return array


def start_profiler() -> None:
    """Lets an attached profiler record from here."""
    cu.cuProfilerStart()


def stop_profiler() -> None:
    """Lets an attached profiler pause."""
    cu.cuProfilerStop()


__all__ = [
    "CompileError", "Error", "LaunchError", "LogicError", "MemoryError", "RuntimeError",
    "TRSA_OVERRIDE_FORMAT", "TRSF_NORMALIZED_COORDINATES", "TRSF_READ_AS_INTEGER", "TR_DEFAULT",
    "from_device", "from_device_like", "start_profiler", "stop_profiler", "to_device",
    *_names, *_context.__all__, *_copy.__all__, *_memory.__all__, *_module.__all__,
    *_texture.__all__,
]  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""Settings, from environment variables at import: ``NAME`` is ``NUMBA_NAME``. They may be set at run time."""

from __future__ import annotations

import os
from typing import Any

from .. import _core

# Name, default. A variable that is no number where one is expected is left at its default.
_ROWS: dict[str, Any] = {
    "ENABLE_CUDASIM": 0,
    "DISABLE_CUDA": 0,
    "FORCE_CUDA_CC": "",
    "CUDA_DEFAULT_PTX_CC": "",
    "CUDA_ARRAY_INTERFACE_SYNC": 1,
    "CUDA_LOG_LEVEL": "critical",
    "CUDA_LOG_API_ARGS": 0,
    "CUDA_LOG_SIZE": 1024,
    "CUDA_VERBOSE_JIT_LOG": 1,
    "CUDA_PER_THREAD_DEFAULT_STREAM": 0,
    "CUDA_WARN_ON_IMPLICIT_COPY": 1,
    "DISABLE_PERFORMANCE_WARNINGS": 0,
    "CUDA_INCLUDE_PATH": "",
    "CUDA_NVRTC_EXTRA_SEARCH_PATHS": "",
    "CUDA_DEALLOCS_COUNT": 10,
    "CUDA_DEALLOCS_RATIO": 0.2,
    "CUDA_MEMORY_MANAGER": "default",
    "CUDA_DEBUGINFO": 0,
    "CUDA_ENABLE_NRT": 0,
    "CUDA_NRT_STATS": 0,
    "CUDA_DEBUG_POLY": 0,
    "CUDA_USE_NVIDIA_BINDING": 1,
    "CUDA_DRIVER": "",
    "OPT": 3,
    "CACHE_DIR": "",
    "DEBUG_CACHE": 0,
    "DUMP_BYTECODE": 0,
    "DUMP_CFG": 0,
    "DUMP_IR": 0,
    "DUMP_SSA": 0,
    "DUMP_LLVM": 0,
    "DUMP_OPTIMIZED": 0,
    "DUMP_ASSEMBLY": 0,
    "DUMP_ANNOTATION": 0,
    "FULL_TRACEBACKS": 0,
    "SHOW_HELP": 0,
    "DEVELOPER_MODE": 0,
    "CAPTURED_ERRORS": "new_style",
    "BOUNDSCHECK": None,
    "CUDA_BOUNDSCHECK": None,
    "DISABLE_JIT": 0,
}


_OF_GPU = ("CUDA_LOW_OCCUPANCY_WARNINGS",)  # 1 where the current device is a GPU, unless somebody sets them

_VARIABLES = {  # where the name of the variable is another one
    "CUDA_DEALLOCS_COUNT": "CUDA_MAX_PENDING_DEALLOCS_COUNT",
    "CUDA_DEALLOCS_RATIO": "CUDA_MAX_PENDING_DEALLOCS_RATIO",
}


def _read(name: str, default: Any) -> Any:
    text = os.environ.get(f"NUMBA_{_VARIABLES.get(name, name)}")
    if text is None or default is None or isinstance(default, str):
        return default if text is None else text
    try:
        return type(default)(text)
    except ValueError:
        return default


class _OptLevel(int):
    """How much is optimized: 0 to 3, or ``"max"``, which is 3."""

    def __new__(cls, value: Any) -> _OptLevel:
        return super().__new__(cls, 3 if value == "max" else int(value))


def _cc(text: str) -> tuple[int, int] | None:
    major, _, minor = text.partition(".")
    return (int(major), int(minor or 0)) if major.isdigit() else None


def reload_config() -> None:
    """Reads the environment anew."""
    for name, default in _ROWS.items():
        globals()[name] = _read(name, default)
    globals()["FORCE_CUDA_CC"] = _cc(globals()["FORCE_CUDA_CC"])
    globals()["CUDA_DEFAULT_PTX_CC"] = _cc(globals()["CUDA_DEFAULT_PTX_CC"]) or (7, 5)
    globals()["CUDA_DEBUGINFO_DEFAULT"] = globals()["CUDA_DEBUGINFO"]
    for name in _OF_GPU:
        globals().pop(name, None)
        if f"NUMBA_{name}" in os.environ:
            globals()[name] = _read(name, 1)


reload_config()


def __getattr__(name: str) -> Any:
    if name in _OF_GPU:
        return int(_core._current_device() >= _core.DEVICE_CUDA)
    raise AttributeError(f"tessera.cuda.config has no setting {name!r}")

# SPDX-License-Identifier: Apache-2.0
"""Kernels of threads: ``from tessera import cuda``. Names and meanings are those of numba.cuda.

``@cuda.jit`` makes a function a kernel, ``kernel[blocks, threads](x, y)`` runs it: on a GPU, or on the CPU device of a
machine without one. What kernels name (``cuda.grid``, ``cuda.shared.array``, ...) is in ``_device``. See
docs/guide/threads.md.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from .._core import keep_sources as _keep_sources

_keep_sources()  # of exec() and its like, from here on

HAS_NUMBA = importlib.util.find_spec("numba") is not None
"""Whether ``import numba`` works: the package is installed, or ``python -m tessera run`` answers for it."""

# Where each name of the host side is; a module is imported when one of its names is first used.
_NAMES: dict[str, str] = {
    name: module
    for module, names in {
        "_jit": "jit",
        "_auto": "compile_kernel kernel",
        "_arguments": "In Out InOut",
        "_typeof": "from_dtype typeof",
        "_signature": "Signature signature",
        "_errors": "CudaSupportError KernelRuntimeError",
        "_arrays": "as_cuda_array device_array device_array_like from_cuda_array_interface is_cuda_array to_device",
        "_host_memory": "managed_array mapped mapped_array mapped_array_like pinned pinned_array pinned_array_like",
        "_gufunc": "guvectorize vectorize",
        "_reduction": "Reduce reduce",
        "_stencil": "StencilFunc stencil",
        "_compile": "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device",
        "_linking": "Archive CUSource Cubin Fatbin LTOIR LinkableCode Object PTXSource declare_device",
        "_memory": "defer_cleanup",
        "_ipc": "open_ipc_array",
        "_managers": "BaseCUDAMemoryManager GetIpcHandleMixin HostOnlyCUDAMemoryManager IpcHandle MappedMemory "
        "MemoryInfo MemoryPointer PinnedMemory set_memory_manager",
        "_streams": "default_stream event event_elapsed_time external_stream legacy_default_stream "
        "per_thread_default_stream stream",
        "_devices": "close cuda_error current_context detect get_current_device gpus is_available "
        "is_bfloat16_supported is_float16_supported is_fp8_supported is_supported_version list_devices profile_start "
        "profile_stop profiling require_context runtime select_device synchronize",
    }.items()
    for name in names.split()
}
_TYPES = (
    "boolean bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
    "complex128 void intp uintp intc uintc b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 "
    "char double float_ int_ long_ longlong short size_t ssize_t uchar uint ulong ulonglong ushort voidptr none byte"
).split()
_MODULES = (
    "bf16", "config", "errors", "extending", "fp8", "itanium_mangler", "kernels", "libdevice", "launchconfig", "random",
    "types",
)  # fmt: skip

__all__ = [*_NAMES, *_TYPES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        found = getattr(importlib.import_module(f".{_NAMES[name]}", __name__), name)
    elif name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    elif name in _TYPES:
        found = getattr(importlib.import_module(".types", __name__), name)
    elif _vector_name(name):
        found = getattr(importlib.import_module("._vectors", __name__), name)
    elif name.startswith("_"):
        raise AttributeError(f"module 'tessera.cuda' has no attribute {name!r}")
    else:
        found = _of_language(name)
    globals()[name] = found
    return found


def _vector_name(name: str) -> bool:
    """float32x4, float4, ...: a dtype, and how many."""
    return name[-1] in "1234" and name[:1] in "cdfilsu"


def _of_language(name: str) -> Any:
    """A name of the kernel language."""
    device = importlib.import_module("._device", __name__)
    if not hasattr(device, name):
        raise AttributeError(f"module 'tessera.cuda' has no attribute {name!r}")
    return getattr(device, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *importlib.import_module("._device", __name__).__all__})

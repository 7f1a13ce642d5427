# SPDX-License-Identifier: Apache-2.0
"""CUDA's runtime by CuPy's names: ``runtime.memcpy`` is ``tessera.bindings.runtime.checked.cudaMemcpy``."""

from __future__ import annotations

from typing import Any

from ... import _core

__all__ = ["CUDARuntimeError", "attributes", "deviceSynchronize", "driverGetVersion", "getDevice", "getDeviceCount",
           "getDeviceProperties", "memGetInfo", "runtimeGetVersion", "setDevice"]  # fmt: skip

is_hip = False
memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = (
    range(5)
)
streamDefault, streamNonBlocking = 0, 1
streamLegacy, streamPerThread = 1, 2
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
memAttachGlobal, memAttachHost, memAttachSingle = 1, 2, 4
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4


class CUDARuntimeError(RuntimeError):
    """A function of CUDA's runtime failed, or there is no GPU; ``status`` is its cudaError_t."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message or f"CUDA error {status}")
        self.status = status


def getDeviceCount() -> int:
    """The number of GPUs."""
    return int(_core.device_count("cuda"))


def getDevice() -> int:
    """The number of the current device."""
    from ._device import get_device_id

    return get_device_id()


def setDevice(device: int) -> None:
    """Makes a device the current one."""
    from ._device import Device

    try:
        Device(device).use()
    except ValueError as error:
        raise CUDARuntimeError(101, f"cudaErrorInvalidDevice: {error}") from None


def deviceSynchronize() -> None:
    """Waits until everything on the current device is done."""
    from ._device import Device

    Device().synchronize()


def memGetInfo() -> tuple[int, int]:
    """Bytes that are free and all: of the current GPU, of the machine's memory without one."""
    if not getDeviceCount():
        import os

        page = os.sysconf("SC_PAGE_SIZE")
        return page * os.sysconf("SC_AVPHYS_PAGES"), page * os.sysconf("SC_PHYS_PAGES")
    free, total = _call("cudaMemGetInfo")
    return int(free), int(total)


def runtimeGetVersion() -> int:
    """The version of CUDA's runtime; 0 without one."""
    return int(_call("cudaRuntimeGetVersion")) if getDeviceCount() else 0


def driverGetVersion() -> int:
    """The version of CUDA that the driver has; 0 without one."""
    return int(_call("cudaDriverGetVersion")) if getDeviceCount() else 0


def getDeviceProperties(device: int) -> dict[str, Any]:
    """What there is to know of a device, by names of cudaDeviceProp."""
    if not getDeviceCount():
        import os

        return {"name": b"CPU", "totalGlobalMem": memGetInfo()[1], "multiProcessorCount": os.cpu_count() or 1,
                "warpSize": 32, "maxThreadsPerBlock": 1024, "major": 0, "minor": 0}  # fmt: skip
    found = _call("cudaGetDeviceProperties", device)
    names = [
        name
        for name in dir(found)
        if not name.startswith("_") and not callable(getattr(found, name))
    ]
    return {name: getattr(found, name) for name in names}


def attributes(device: int) -> dict[str, int]:
    """All attributes of a device by their names in cudaDeviceAttr."""
    if not getDeviceCount():
        return {"MaxThreadsPerBlock": 1024, "WarpSize": 32}
    from ...bindings import runtime

    made = {}
    for attribute in runtime.cudaDeviceAttr:
        status, value = runtime.cudaDeviceGetAttribute(attribute, device)[:2]
        if not int(status):
            made[attribute.name.removeprefix("cudaDevAttr")] = int(value)
    return made


def profilerStart() -> None:
    """Begins profiling."""
    if getDeviceCount():
        _call("cudaProfilerStart")


def profilerStop() -> None:
    """Ends profiling."""
    if getDeviceCount():
        _call("cudaProfilerStop")


def _call(name: str, *args: Any) -> Any:
    from ...bindings import CUDAError, runtime

    if not getDeviceCount():
        raise CUDARuntimeError(
            100, f"cudaErrorNoDevice: {name} needs a GPU, and this machine has none"
        )
    try:
        return getattr(runtime.checked, name)(*args)
    except CUDAError as error:
        raise CUDARuntimeError(int(getattr(error, "status", 1) or 1), str(error)) from None


def __getattr__(name: str) -> Any:
    from ...bindings import runtime

    full = f"cuda{name[:1].upper()}{name[1:]}"
    found = None if name.startswith("_") else getattr(runtime, full, None)
    if found is None:
        raise AttributeError(f"module 'cupy.cuda.runtime' has no attribute {name!r}")
    if not callable(found) or isinstance(found, type):
        return found

    def call(*args: Any) -> Any:
        return _call(full, *args)

    call.__name__ = name
    return call

# SPDX-License-Identifier: Apache-2.0
"""Runs PTX on the GPU of this machine through the driver alone, which shares no code with the launch."""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any


@functools.cache
def prepared() -> Any:
    """The driver, with the first GPU's context bound to this thread."""
    from tessera.bindings import driver

    call = driver.checked
    call.cuInit(0)
    call.cuCtxSetCurrent(call.cuDevicePrimaryCtxRetain(call.cuDeviceGet(0)))
    return driver


def target() -> int:
    """The target of this GPU's generation, as 90 for sm_90."""
    driver = prepared()
    major = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    return 10 * int(driver.checked.cuDeviceGetAttribute(major, driver.checked.cuDeviceGet(0)))


def launched(code: bytes, grid: Any, block: Any, shared: int, arrays: list[Any]) -> list[Any]:
    """The arrays after the only kernel of `code`, whose parameters are their addresses."""
    driver = prepared()
    call = driver.checked
    module = call.cuModuleLoadDataEx(code, 0, [], [])
    name = re.search(rb"\.entry (\w+)", code)
    assert name
    kernel = call.cuModuleGetFunction(module, name[1])
    if shared > 48 << 10:
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call.cuFuncSetAttribute(kernel, attribute, shared)
    places = [call.cuMemAlloc(max(1, a.nbytes)) for a in arrays]
    for place, a in zip(places, arrays, strict=True):
        call.cuMemcpyHtoD(place, a.ctypes.data, a.nbytes)
    params = (tuple(int(p) for p in places), (ctypes.c_void_p,) * len(places))
    call.cuLaunchKernel(kernel, *grid, *block, shared, 0, params, 0)
    call.cuCtxSynchronize()
    for place, a in zip(places, arrays, strict=True):
        call.cuMemcpyDtoH(a.ctypes.data, place, a.nbytes)
        call.cuMemFree(place)
    call.cuModuleUnload(module)
    return arrays

# SPDX-License-Identifier: Apache-2.0
"""Where memory is that we did not allocate: the driver is asked about its address."""

from __future__ import annotations

from ... import _core
from .._place import CPU, CUDA

__all__ = ["is_managed", "place_of"]


def place_of(address: int) -> tuple[int | None, int, int]:
    """(number of the device or None, device_id, access) of an address; memory unknown to the driver
    is the host's."""
    if _core.device_count("cuda") == 0:
        return CPU, -1, _core.HOST_ACCESS
    from ...bindings import driver

    kinds = driver.CUpointer_attribute
    wanted = [kinds.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kinds.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
              kinds.CU_POINTER_ATTRIBUTE_IS_MANAGED]  # fmt: skip
    driver.checked.cuInit(0)
    try:
        values = driver.checked.cuPointerGetAttributes(len(wanted), wanted, address)
    except ValueError:  # memory type 0, of no enum: nothing that the driver knows
        return None, -1, _core.HOST_ACCESS
    memory_type, ordinal, managed = (int(value) for value in values)
    if managed:
        return CUDA | ordinal, ordinal, _core.DEVICE_ACCESS | _core.HOST_ACCESS | _core.MANAGED
    if memory_type == int(driver.CUmemorytype.CU_MEMORYTYPE_HOST):
        return CUDA | ordinal, ordinal, _core.DEVICE_ACCESS | _core.HOST_ACCESS
    if memory_type == int(driver.CUmemorytype.CU_MEMORYTYPE_DEVICE):
        return CUDA | ordinal, ordinal, _core.DEVICE_ACCESS
    return None, -1, _core.HOST_ACCESS


def is_managed(address: int) -> bool:
    """Whether memory migrates by itself, by what the driver knows of the address."""
    from ...bindings import driver

    asked = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED
    status, managed = driver.cuPointerGetAttribute(asked, address)
    return not status and bool(managed)

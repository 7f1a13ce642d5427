# SPDX-License-Identifier: Apache-2.0
"""DeviceProperties: the driver's attributes of a GPU."""

from __future__ import annotations

from typing import Any

__all__ = ["DeviceProperties"]

# Attributes of the driver that are no properties: other names of the same number, and withdrawn
# ones.
_NOT_PROPERTIES = frozenset({
    "shared_memory_per_block", "registers_per_block", "maximum_texture2d_array_width",
    "maximum_texture2d_array_height", "maximum_texture2d_array_numslices", "can_use_stream_mem_ops_v1",
    "can_use_64_bit_stream_mem_ops_v1", "can_use_stream_wait_value_nor_v1", "cooperative_multi_device_launch",
    "virtual_address_management_supported", "max",
})  # fmt: skip
# What is yes or no, beside everything that ends in "_supported".
_FLAGS = frozenset({
    "gpu_overlap", "kernel_exec_timeout", "integrated", "can_map_host_memory", "concurrent_kernels", "ecc_enabled",
    "tcc_driver", "unified_addressing", "managed_memory", "multi_gpu_board", "pageable_memory_access",
    "concurrent_managed_access", "can_use_host_pointer_for_registered_mem", "cooperative_launch",
    "pageable_memory_access_uses_host_page_tables", "direct_managed_mem_access_from_host", "can_tex2d_gather",
    "can_flush_remote_writes", "cluster_launch", "can_use_64_bit_stream_mem_ops", "can_use_stream_wait_value_nor",
    "unified_function_pointers", "mps_enabled", "host_numa_multinode_ipc_supported",
})  # fmt: skip
_PREFIX = "CU_DEVICE_ATTRIBUTE_"


class DeviceProperties:
    """What a GPU has and can: one attribute for each CUdevice_attribute, asked once and kept."""

    _names: dict[str, Any] = {}

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            "DeviceProperties cannot be instantiated directly. Please use Device.properties."
        )

    @classmethod
    def _init(cls, handle: int) -> DeviceProperties:
        self = cls.__new__(cls)
        self.__dict__["_handle"] = handle
        return self

    @classmethod
    def _table(cls) -> dict[str, Any]:
        """Name of a property -> member of the enum."""
        if not cls._names:
            from ..bindings.driver import CUdevice_attribute

            members = {
                k.removeprefix(_PREFIX).lower(): v
                for k, v in CUdevice_attribute.__members__.items()
            }
            members["virtual_memory_management_supported"] = members[
                "virtual_address_management_supported"
            ]
            cls._names = {k: v for k, v in members.items() if k not in _NOT_PROPERTIES}
        return cls._names

    def __getattr__(self, name: str) -> int | bool:
        attribute = self._table().get(name)
        if attribute is None:
            raise AttributeError(f"a device has no property {name!r}")
        from ..bindings import driver

        value = int(driver.checked.cuDeviceGetAttribute(attribute, self._handle))
        kept = bool(value) if name.endswith("_supported") or name in _FLAGS else value
        self.__dict__[name] = kept
        return kept

    def __dir__(self) -> list[str]:
        return sorted(self._table())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the properties of a device cannot be set ({name!r})")

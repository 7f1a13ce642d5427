# SPDX-License-Identifier: Apache-2.0
"""PyCUDA's names for the driver's enums and flags: one table of where each comes from."""

from __future__ import annotations

from typing import Any

from ..bindings import driver

__all__ = ["NAMES", "names"]

# PyCUDA's class -> (enum of the driver, or "" for constants; prefix of the members there)
NAMES = {
    "ctx_flags": ("CUctx_flags", "CU_CTX_"),
    "event_flags": ("CUevent_flags", "CU_EVENT_"),
    "stream_flags": ("CUstream_flags", "CU_STREAM_"),
    "device_attribute": ("CUdevice_attribute", "CU_DEVICE_ATTRIBUTE_"),
    "pointer_attribute": ("CUpointer_attribute", "CU_POINTER_ATTRIBUTE_"),
    "function_attribute": ("CUfunction_attribute", "CU_FUNC_ATTRIBUTE_"),
    "func_cache": ("CUfunc_cache", "CU_FUNC_CACHE_"),
    "shared_config": ("CUsharedconfig", "CU_SHARED_MEM_CONFIG_"),
    "array_format": ("CUarray_format", "CU_AD_FORMAT_"),
    "address_mode": ("CUaddress_mode", "CU_TR_ADDRESS_MODE_"),
    "filter_mode": ("CUfilter_mode", "CU_TR_FILTER_MODE_"),
    "memory_type": ("CUmemorytype", "CU_MEMORYTYPE_"),
    "compute_mode": ("CUcomputemode", "CU_COMPUTEMODE_"),
    "jit_option": ("CUjit_option", "CU_JIT_"),
    "jit_target": ("CUjit_target", "CU_TARGET_"),
    "jit_fallback": ("CUjit_fallback", "CU_"),
    "jit_input_type": ("CUjitInputType", "CU_JIT_INPUT_"),
    "limit": ("CUlimit", "CU_LIMIT_"),
    "ipc_mem_flags": ("CUipcMem_flags", "CU_IPC_MEM_"),
    "mem_attach_flags": ("CUmemAttach_flags", "CU_MEM_ATTACH_"),
    "graphics_register_flags": ("CUgraphicsRegisterFlags", "CU_GRAPHICS_REGISTER_FLAGS_"),
    "array_cubemap_face": ("CUarray_cubemap_face", "CU_CUBEMAP_FACE_"),
    "host_alloc_flags": ("", "CU_MEMHOSTALLOC_"),
    "mem_host_register_flags": ("", "CU_MEMHOSTREGISTER_"),
    "mem_peer_register_flags": ("", "CU_MEMHOSTREGISTER_"),
    "array3d_flags": ("", "CUDA_ARRAY3D_"),
}
# Names PyCUDA has beside the driver's.
_OTHER = {
    "device_attribute": {
        "SHARED_MEMORY_PER_BLOCK": "MAX_SHARED_MEMORY_PER_BLOCK",
        "REGISTERS_PER_BLOCK": "MAX_REGISTERS_PER_BLOCK",
    },
    "array3d_flags": {"ARRAY3D_2DARRAY": "2DARRAY", "ARRAY3D_LAYERED": "LAYERED"},
}


class Names:
    """``device_attribute.WARP_SIZE`` is the driver's member; ``names`` has them all."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._enum, self._prefix = NAMES[name]

    def _full(self, name: str) -> str:
        name = _OTHER.get(self.__name__, {}).get(name, name)
        return name if name.startswith(("CU_", "CUDA_")) else self._prefix + name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        place = getattr(driver, self._enum) if self._enum else driver
        try:
            member = getattr(place, self._full(name))
        except AttributeError:
            raise AttributeError(
                f"{self.__name__} has no {name}; dir(driver.{self.__name__}) lists what it has"
            ) from None
        setattr(self, name, member)
        return member

    @property
    def names(self) -> dict[str, Any]:
        """Every member by its short name."""
        n = len(self._prefix)
        if not self._enum:
            words = [w for w in driver.__all__ if w.startswith(self._prefix)]
            return {word[n:]: getattr(driver, word) for word in words}
        return {
            word[n:]: member
            for word, member in getattr(driver, self._enum).__members__.items()
            if word.startswith(self._prefix)
        }

    def __dir__(self) -> list[str]:
        return sorted(self.names)


names = {name: Names(name) for name in NAMES}

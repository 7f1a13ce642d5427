# SPDX-License-Identifier: Apache-2.0
"""Enums, handles, structs: the objects themselves, with no driver at all."""

from __future__ import annotations

import ctypes
import gc
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

from tessera.bindings import driver, nvrtc, runtime


def test_enums_are_ints_with_names() -> None:
    code = driver.CUresult(2)
    assert (
        code is driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY
        and code == 2
        and code.name.endswith("MEMORY")
    )
    assert repr(code) == str(code) == f"{code}" == "<CUresult.CUDA_ERROR_OUT_OF_MEMORY: 2>"
    assert f"{code:d}" == "2" and pickle.loads(pickle.dumps(code)) is code
    with pytest.raises(ValueError, match="54321"):
        driver.CUresult(54321)


def test_flags_combine_to_plain_ints() -> None:
    flags = driver.CUctx_flags
    assert flags.CU_CTX_SCHED_SPIN | flags.CU_CTX_MAP_HOST == 9


def test_aliases_are_one_class() -> None:
    assert driver.CUstreamAttrID is driver.CUkernelNodeAttrID is driver.CUlaunchAttributeID
    assert (
        driver.CUdeviceptr_v2 is driver.CUdeviceptr
        and driver.CUlaunchConfig_st is driver.CUlaunchConfig
    )


@pytest.mark.parametrize(
    "name", ["CUstream", "CUcontext", "CUdeviceptr", "CUtexObject", "cuuint64_t"]
)
def test_handles_are_numbers_with_an_address(name: str) -> None:
    handle = getattr(driver, name)(2**63 + 5)
    assert int(handle) == 2**63 + 5 and hex(handle) == hex(2**63 + 5)
    assert ctypes.c_uint64.from_address(handle.getPtr()).value == 2**63 + 5
    assert handle == type(handle)(handle) and hash(handle) == hash(type(handle)(2**63 + 5))
    assert handle != type(handle)(1) and handle != 2**63 + 5 and not type(handle)()


def test_handles_show_themselves() -> None:
    assert repr(driver.CUstream(255)) == "<CUstream 0xff>"
    assert repr(driver.CUdeviceptr(2**64 - 1)) == "<CUdeviceptr 18446744073709551615>"
    assert repr(driver.CUdevice(-1)) == "<CUdevice -1>"


def test_handles_over_foreign_memory() -> None:
    cell = ctypes.c_uint64(7)
    handle = driver.CUstream(_ptr=ctypes.addressof(cell))
    cell.value = 8
    assert int(handle) == 8 and handle.getPtr() == ctypes.addressof(cell)


def test_streams_follow_the_protocol() -> None:
    assert (
        driver.CUstream(3).__cuda_stream__() == (0, 3) == runtime.cudaStream_t(3).__cuda_stream__()
    )


def test_structs_begin_zeroed_and_take_fields() -> None:
    config = driver.CUlaunchConfig(gridDimX=3)
    config.hStream = driver.CUstream(16)
    assert (config.gridDimX, config.gridDimY, int(config.hStream), config.attrs) == (3, 0, 16, [])
    assert bytes(memoryview(config))[:4] == b"\3\0\0\0" and len(
        memoryview(config)
    ) == driver.sizeof(driver.CUlaunchConfig)


def test_nested_structs_and_unions_are_views() -> None:
    params = driver.CUgraphNodeParams(type=driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY)
    params.memcpy.copyParams.WidthInBytes = 77
    inner = params.memcpy
    del params
    gc.collect()
    assert inner.copyParams.WidthInBytes == 77


def test_assigning_a_struct_copies_it() -> None:
    outer, inner = driver.CUmemAllocationProp(), driver.CUmemLocation(id=4)
    outer.location = inner
    inner.id = 5
    assert outer.location.id == 4


def test_arrays_in_structs() -> None:
    tensor, desc = driver.CUtensorMap(), driver.CUDA_TEXTURE_DESC()
    tensor.opaque = range(16)
    desc.borderColor = [1, 2, 3, 0.5]
    desc.addressMode = [driver.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP] * 3
    assert [int(x) for x in tensor.opaque] == list(range(16)) and desc.borderColor[3] == 0.5
    assert desc.addressMode[2] is driver.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP
    assert tensor.getPtr() % 64 == 0


def test_byte_arrays_are_bytes() -> None:
    uuid = driver.CUuuid(bytes=bytes(range(16)))
    assert uuid.bytes == bytes(range(16)) and repr(uuid) == f"bytes : {bytes(range(16)).hex()}"


def test_pointers_keep_what_they_point_to() -> None:
    copy = driver.CUDA_MEMCPY2D()
    copy.srcHost = bytearray(b"kept")
    gc.collect()
    assert ctypes.string_at(copy.srcHost, 4) == b"kept"


def test_lists_in_structs_are_copied() -> None:
    config = driver.CUlaunchConfig()
    config.attrs = [driver.CUlaunchAttribute(id=driver.CUlaunchAttributeID(i)) for i in (1, 2)]
    config.attrs.append(driver.CUlaunchAttribute())
    assert [a.id for a in config.attrs] == [1, 2]


def test_a_list_that_grows_later_is_as_long_as_it_was() -> None:
    attributes = [driver.CUlaunchAttribute(id=driver.CUlaunchAttributeID(1))]
    config = driver.CUlaunchConfig(attrs=attributes, numAttrs=1)
    attributes += [driver.CUlaunchAttribute() for _ in range(100)]
    assert [a.id for a in config.attrs] == [1]


def test_kernel_params_in_a_struct() -> None:
    params = driver.CUDA_KERNEL_NODE_PARAMS()
    params.kernelParams = ((5, 6), (ctypes.c_int, ctypes.c_int))
    gc.collect()
    first = ctypes.c_void_p.from_address(params.kernelParams).value
    assert ctypes.c_int.from_address(first or 0).value == 5


def test_kernel_params_without_types() -> None:
    """A list of what has memory of its own: NumPy's scalars, handles."""
    params = driver.CUDA_KERNEL_NODE_PARAMS()
    given: list[Any] = [np.float32(2.5), driver.CUdeviceptr(7), np.int32(-3)]
    params.kernelParams = given
    given.clear()
    others = [np.float32(9.25), driver.CUdeviceptr(9), np.int32(-9)]
    gc.collect()
    places = (ctypes.c_void_p * 3).from_address(params.kernelParams)
    assert ctypes.c_float.from_address(places[0] or 0).value == 2.5
    assert ctypes.c_uint64.from_address(places[1] or 0).value == 7
    assert ctypes.c_int.from_address(places[2] or 0).value == -3
    del others
    for wrong, words in ((2.5, "must be an address"), (3, "say its C type"), (object(), "must be an address")):
        with pytest.raises(TypeError, match=words):
            params.kernelParams = [wrong]


def test_structs_over_foreign_memory() -> None:
    memory = (ctypes.c_int * 2)(2, 9)
    place = driver.CUmemLocation(_ptr=ctypes.addressof(memory))
    place.id += 1
    assert memory[1] == 10


def test_structs_show_their_fields() -> None:
    text = repr(driver.CUlaunchAttributeValue(cooperative=3))
    assert "cooperative : 3\n" in text and "syncPolicy : <ValueError>" not in text
    assert "clusterDim :\n    x : 3\n    y : 0" in text


def test_constants() -> None:
    assert (driver.CUDA_VERSION, driver.CU_STREAM_LEGACY, driver.CU_IPC_HANDLE_SIZE) == (
        13000,
        1,
        64,
    )
    assert driver.sizeof(driver.CUdevice) == 4 and driver.sizeof(driver.CUgraphNodeParams) == 256


def test_functions_tell_their_arguments() -> None:
    assert (
        driver.cuMemAlloc.__name__ == "cuMemAlloc"
        and driver.cuMemAlloc.__module__ == "tessera.bindings.driver"
    )
    assert "bytesize : size_t" in driver.cuMemAlloc.__doc__
    assert "Returns (CUresult, dptr: CUdeviceptr)" in driver.cuMemAlloc.__doc__
    assert list(inspect.signature(driver.cuMemcpyHtoD).parameters) == [
        "dstDevice",
        "srcHost",
        "ByteCount",
    ]


@pytest.mark.parametrize("module", [driver, runtime, nvrtc])
def test_everything_in_the_table_can_be_made(module: Any) -> None:
    for name in module.__all__:
        assert getattr(module, name) is not None
    for name in module.checked.__all__:
        assert callable(getattr(module.checked, name))
    assert set(module.__all__) <= set(dir(module))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'cuFoo'"):
        driver.cuFoo  # noqa: B018
    with pytest.raises(AttributeError, match="checked"):
        driver.checked.CUstream  # noqa: B018

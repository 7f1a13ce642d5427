# SPDX-License-Identifier: Apache-2.0
"""How arguments reach C and results come back, one way of passing a test."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from typing import Any

import pytest

from tessera.bindings import CUDAError, driver

OK = driver.CUresult.CUDA_SUCCESS


def test_results_come_as_a_tuple_in_c_order(mock: Any) -> None:
    assert driver.cuMemGetInfo() == (OK, 1 << 30, 1 << 30)


def test_a_failed_call_keeps_the_length_of_its_tuple(mock: Any) -> None:
    status, device = driver.cuDeviceGet(7)
    assert status is driver.CUresult.CUDA_ERROR_INVALID_DEVICE and device is None


def test_checked_gives_the_value_alone(mock: Any) -> None:
    assert driver.checked.cuDeviceGetCount() == 2
    assert driver.checked.cuMemGetInfo() == (1 << 30, 1 << 30)
    assert driver.checked.cuCtxSynchronize() is None


def test_checked_raises_with_name_and_number(mock: Any) -> None:
    with pytest.raises(
        CUDAError, match=r"cuDeviceGet: CUDA_ERROR_INVALID_DEVICE \(101\): as the mock"
    ) as caught:
        driver.checked.cuDeviceGet(7)
    assert caught.value.code is driver.CUresult.CUDA_ERROR_INVALID_DEVICE


def test_checked_form_of_a_special_function(mock: Any) -> None:
    pointer = driver.checked.cuMemAlloc(64)
    kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    assert (
        driver.checked.cuPointerGetAttribute(kind, pointer)
        is driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    )


def test_an_unknown_status_is_an_error(mock: Any) -> None:
    mock.sticky = 54321
    with pytest.raises(ValueError, match="54321 is not a valid CUresult"):
        driver.cuCtxSynchronize()


def test_keywords_name_the_inputs(mock: Any) -> None:
    status, name = driver.cuDeviceGetName(dev=0, length=16)
    assert (status, name) == (OK, b"Mock GPU".ljust(16, b"\0"))


def test_memory_goes_there_and_back(mock: Any) -> None:
    data, back = bytes(range(100)), bytearray(100)
    pointer = driver.checked.cuMemAlloc(100)
    assert driver.cuMemcpyHtoD(pointer, data, 100) == (OK,)
    assert driver.cuMemcpyDtoH(back, pointer, 100) == (OK,)
    assert back == data
    assert driver.cuMemFree(pointer) == (OK,)


@pytest.mark.parametrize("form", ["int", "buffer", "ctypes", "none"])
def test_host_pointers_in_every_form(mock: Any, form: str) -> None:
    array = (ctypes.c_uint8 * 4)(1, 2, 3, 4)
    source = {
        "int": ctypes.addressof(array),
        "buffer": bytes(array),
        "ctypes": array,
        "none": None,
    }[form]
    pointer = driver.checked.cuMemAlloc(4)
    assert driver.cuMemcpyHtoD(pointer, source, 0 if form == "none" else 4) == (OK,)
    back = bytearray(4)
    driver.checked.cuMemcpyDtoH(back, pointer, 4)
    assert form == "none" or back == b"\1\2\3\4"


def test_a_byte_by_value(mock: Any) -> None:
    pointer = driver.checked.cuMemAlloc(8)
    back = bytearray(8)
    driver.checked.cuMemsetD8(pointer, 255, 8)
    driver.checked.cuMemcpyDtoH(back, pointer, 8)
    assert back == b"\xff" * 8


def test_floats_by_value_and_back(mock: Any) -> None:
    assert driver.cuTexRefSetMipmapLevelClamp(16, 0.25, 7) == (OK,)
    assert driver.cuTexRefGetMipmapLevelClamp(16) == (OK, 0.25, 7.0)


def test_an_array_of_floats(mock: Any) -> None:
    assert driver.cuTexRefSetBorderColor(16, [1.0, 0.5, 0.25, 0.0]) == (OK,)
    assert driver.cuTexRefGetBorderColor(16) == (OK, [1.0, 0.5, 0.25, 0.0])


def test_a_struct_of_64_bytes_by_value(mock: Any) -> None:
    pointer = driver.checked.cuMemAlloc(8)
    handle = driver.checked.cuIpcGetMemHandle(pointer)
    assert driver.cuIpcOpenMemHandle(handle, 1) == (OK, pointer)


def test_a_struct_of_8_bytes_by_value(mock: Any) -> None:
    place = driver.CUmemLocation(type=driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, id=7)
    assert driver.cuMemPrefetchAsync(4096, 10, place, 0, None) == (OK,)


def test_a_struct_out(mock: Any) -> None:
    assert driver.checked.cuDeviceGetUuid(1).bytes == bytes(range(1, 17))


def test_text_in_and_out(mock: Any) -> None:
    assert driver.cuDeviceGetPCIBusId(13, 1) == (OK, b"0000:01:00.0\0")
    assert driver.cuDeviceGetByPCIBusId(b"0000:01:00.0") == driver.cuDeviceGetByPCIBusId(
        "0000:01:00.0"
    )
    assert driver.cuFuncGetName(driver.CUfunction(8)) == (OK, b"a_kernel")
    assert driver.cuDeviceGetLuid(1) == (OK, b"LUIDLUID", 2)


def test_a_value_in_and_out(mock: Any) -> None:
    modes = driver.CUstreamCaptureMode
    driver.checked.cuThreadExchangeStreamCaptureMode(modes.CU_STREAM_CAPTURE_MODE_RELAXED)
    back = driver.cuThreadExchangeStreamCaptureMode(modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    assert back == (OK, modes.CU_STREAM_CAPTURE_MODE_RELAXED)


def test_lists_in(mock: Any) -> None:
    edge = driver.CUgraphEdgeData(from_port=5)
    nodes = [driver.CUgraphNode(2), 3], (4, driver.CUgraphNode(1))
    assert driver.cuGraphAddDependencies(5 * 10 + 5, *nodes, None, 2) == (OK,)
    assert driver.cuGraphAddDependencies(2 * 10 + 4 + 5, *nodes, [edge], 1) == (OK,)


def test_lists_out_by_count(mock: Any) -> None:
    found = driver.checked.cuModuleEnumerateFunctions(2, 256)
    assert found == [driver.CUfunction(256), driver.CUfunction(257)]


def test_lists_out_asked_for_twice(mock: Any) -> None:
    assert driver.cuGraphGetNodes(8) == (OK, [], 3)
    assert driver.cuGraphGetNodes(8, 2)[1] == [driver.CUgraphNode(16), driver.CUgraphNode(17)]
    assert len(driver.cuGraphGetNodes(8, 9)[1]) == 3


def test_capture_info_copies_its_lists(mock: Any) -> None:
    *_, graph, nodes, edges, n = driver.cuStreamGetCaptureInfo(1)
    assert (graph, nodes, n) == (
        driver.CUgraph(4096),
        [driver.CUgraphNode(5), driver.CUgraphNode(6)],
        2,
    )
    assert [(e.from_port, e.to_port) for e in edges] == [(1, 2), (3, 4)]


def test_attributes_have_their_own_types(mock: Any) -> None:
    names, pointer = driver.CUpointer_attribute, driver.checked.cuMemAlloc(8)
    managed = names.CU_POINTER_ATTRIBUTE_IS_MANAGED
    start = names.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR
    assert driver.cuPointerGetAttribute(managed, pointer) == (OK, True)
    assert driver.cuPointerGetAttribute(start, pointer) == (OK, pointer)
    assert driver.cuPointerGetAttributes(2, [managed, start], pointer) == (OK, [True, pointer])
    pool = driver.CUmemPool_attribute
    assert driver.cuMemPoolGetAttribute(1, pool.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC) == (
        OK,
        1,
    )
    threshold = driver.checked.cuMemPoolGetAttribute(1, pool.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
    assert threshold == driver.cuuint64_t(1 << 40)
    accessed = driver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
    assert driver.cuMemRangeGetAttribute(8, accessed, 4096, 1) == (OK, [-1, 0])


def test_a_tensor_map_out(mock: Any) -> None:
    kinds = (
        driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        2,
        4096,
        [64, 64],
        [256],
        [32, 32],
        [1, 1],
    )
    enums = (
        driver.CUtensorMapInterleave(0),
        driver.CUtensorMapSwizzle(0),
        driver.CUtensorMapL2promotion(0),
    )
    status, tensor_map = driver.cuTensorMapEncodeTiled(
        *kinds, *enums, driver.CUtensorMapFloatOOBfill(0)
    )
    assert status is OK and int(tensor_map.opaque[0]) == mock.n_encoded


# ---- launches ------------------------------------------------------------------------------------


@pytest.fixture
def kernel(mock: Any) -> Any:
    mock.n_values = 3
    loaded = driver.checked.cuModuleLoadDataEx(b"text\0", 0, [], [])
    return driver.checked.cuModuleGetFunction(loaded, b"f")


def launch(kernel: Any, params: Any) -> Any:
    return driver.cuLaunchKernel(kernel, 1, 2, 3, 32, 1, 1, 0, None, params, 0)


def test_kernel_params_as_values_and_types(mock: Any, kernel: Any) -> None:
    pointer = driver.CUdeviceptr(0x1234)
    values = (pointer, 7, 0xABCD)
    assert launch(kernel, (values, (None, ctypes.c_longlong, ctypes.c_void_p))) == (OK,)
    assert list(mock.values)[:3] == [0x1234, 7, 0xABCD]
    assert list(mock.grid) == [1, 2, 3]


def test_kernel_params_as_an_address_and_as_a_buffer(mock: Any, kernel: Any) -> None:
    cells = [ctypes.c_uint64(i + 1) for i in range(3)]
    array = (ctypes.c_void_p * 3)(*(ctypes.addressof(c) for c in cells))
    for form in (ctypes.addressof(array), array):
        mock.values[0] = 0
        assert launch(kernel, form) == (OK,)
        assert list(mock.values)[:3] == [1, 2, 3]


def test_kernel_params_none(mock: Any, kernel: Any) -> None:
    mock.n_values = 0
    assert launch(kernel, None) == launch(kernel, 0) == (OK,)


@pytest.mark.parametrize(
    ("value", "type_", "bits"),
    [
        (True, ctypes.c_bool, 1), (b"Z", ctypes.c_char, 90), ("\u0100", ctypes.c_wchar, 256),
        (-1, ctypes.c_int, 2**32 - 1), (ctypes.c_short(-2), ctypes.c_short, 2**16 - 2),
        (1.0, ctypes.c_float, 0x3F800000), (1, ctypes.c_double, 0x3FF0000000000000),
        (ctypes.c_void_p(5), ctypes.c_void_p, 5), (None, ctypes.c_void_p, 0),
    ],
)  # fmt: skip
def test_every_kind_of_kernel_parameter(
    mock: Any, kernel: Any, value: Any, type_: Any, bits: int
) -> None:
    mock.n_values = 1
    assert launch(kernel, ((value,), (type_,))) == (OK,)
    assert mock.values[0] & (2 ** (8 * ctypes.sizeof(type_)) - 1) == bits


def test_many_kernel_parameters(mock: Any, kernel: Any) -> None:
    mock.n_values = 256
    values = tuple(range(1000, 1256))
    assert launch(kernel, (values, (ctypes.c_uint64,) * 256)) == (OK,)
    assert list(mock.values)[:256] == list(values)


def test_launch_attributes(mock: Any, kernel: Any) -> None:
    mock.n_values = 0
    attribute = driver.CUlaunchAttribute(
        id=driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    )
    attribute.value.clusterDim.x = 2
    config = driver.CUlaunchConfig(
        gridDimX=4, gridDimY=1, gridDimZ=1, blockDimX=32, blockDimY=1, blockDimZ=1
    )
    config.attrs = [attribute]
    config.numAttrs = 1
    del attribute
    gc.collect()
    assert driver.cuLaunchKernelEx(config, kernel, None, 0) == (OK,)
    assert (mock.cluster, mock.grid[0]) == (2, 4)


# ---- callbacks -----------------------------------------------------------------------------------


def test_a_python_function_as_host_function(mock: Any) -> None:
    seen: list[Any] = []
    status = driver.cuLaunchHostFunc(
        0, lambda data: seen.append((data, threading.get_ident())), "payload"
    )
    assert status == (OK,) and seen == [("payload", threading.get_ident())]


def test_a_ctypes_function_by_its_address(mock: Any) -> None:
    seen: list[int] = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert driver.cuLaunchHostFunc(0, driver.CUhostFn(address), 17) == (OK,)
    assert seen == [17]


def test_a_stream_callback_gets_stream_and_status(mock: Any) -> None:
    seen: list[Any] = []
    driver.checked.cuStreamAddCallback(
        driver.CUstream(9), lambda *given: seen.append(given), [1], 0
    )
    assert seen == [(9, 0, [1])]


def test_a_callback_that_was_not_taken_is_let_go(mock: Any) -> None:
    payload = bytearray(1)
    count = sys.getrefcount(payload)
    assert (
        driver.cuStreamAddCallback(0, print, payload, 1)[0]
        is driver.CUresult.CUDA_ERROR_INVALID_VALUE
    )
    assert sys.getrefcount(payload) == count


def test_an_exception_in_a_callback_is_reported(mock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: seen.append(report.exc_type))
    assert driver.cuLaunchHostFunc(0, lambda _: 1 / 0, None) == (OK,)
    assert seen == [ZeroDivisionError]


def test_the_linker_writes_into_the_log_later(mock: Any) -> None:
    log = bytearray(64)
    options = [
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ]
    state = driver.checked.cuLinkCreate(2, options, [log, len(log)])
    gc.collect()
    address, size = driver.checked.cuLinkComplete(state)
    assert ctypes.string_at(address, size) == b"cubin\0"
    assert log.startswith(b"late words\0")
    driver.checked.cuLinkDestroy(state)


def test_calls_leave_no_references(mock: Any) -> None:
    data = bytearray(16)
    pointer = driver.checked.cuMemAlloc(16)
    count = sys.getrefcount(data)
    for _ in range(100):
        driver.cuMemcpyHtoD(pointer, data, 16)
        with pytest.raises(ValueError):
            driver.cuMemcpyHtoD(pointer, data, 17)
    data.append(1)  # no view is left open
    assert sys.getrefcount(data) == count


def test_threads_call_at_once(mock: Any) -> None:
    failures: list[Any] = []

    def work() -> None:
        for i in range(300):
            if driver.cuDeviceGetPCIBusId(13, i % 2)[1] != f"0000:{i % 2:02x}:00.0\0".encode():
                failures.append(i)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_outputs_may_be_given_as_in_c(mock: Any) -> None:
    pointer = driver.CUdeviceptr()
    status, same = driver.cuMemAlloc(pointer, 64)
    assert status is OK and same is pointer and int(pointer) != 0
    config = driver.CUuuid()
    assert driver.cuDeviceGetUuid(config, 1) == (OK, config) and config.bytes[0] == 1
    with pytest.raises(
        TypeError, match="cuMemAlloc: dptr must be a CUdeviceptr to write to, not CUstream"
    ):
        driver.cuMemAlloc(driver.CUstream(), 64)


class Fresh:
    """A sequence whose items nobody else holds."""

    def __getitem__(self, i: int) -> bytes:
        if i >= 64:
            raise IndexError
        return f"text {i}".encode() + b"." * 1000


def test_texts_of_a_list_live_as_long_as_the_call() -> None:
    from tessera import _bindings
    from tessera.bindings import _api

    seen: list[bytes] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))
    def read(texts: Any) -> int:
        junk = [bytes(1032) for _ in range(200)]  # takes the place of what was freed
        seen.extend(texts[:64])
        return 0 * len(junk)

    text = _bindings.Type("text", _api.TEXT, _api.SCALARS["u64"])
    status = _bindings.Type("i32", _api.SCALARS["i32"], _api.SCALARS["i32"])
    address = ctypes.cast(read, ctypes.c_void_p).value
    call = _bindings.Function(
        "read", "test", "read(texts)", (("texts", text, _api.IN_LIST, -1, 0),), status, 0,
        _api.TUPLE, lambda: address, None,
    )  # fmt: skip
    assert call(Fresh()) == (0,)
    assert seen == [Fresh()[i] for i in range(64)]

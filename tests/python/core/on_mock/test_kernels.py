# SPDX-License-Identifier: Apache-2.0
"""Kernels of a GPU: what is asked about them, how they are found, and what they keep loaded."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import pytest
from tessera import core
from tessera.bindings import driver

SHARED_LIMIT = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


@pytest.fixture
def code(device: core.Device) -> core.ObjectCode:
    return core.ObjectCode.from_ptx(b".version 8.0\n.target sm_90\n", name="mock")


@pytest.fixture
def kernel(mock: Any, code: core.ObjectCode) -> core.Kernel:
    mock.n_param_bytes = 0
    return code.get_kernel("scale")


# ---- attributes


def test_attributes_are_those_of_the_current_device_or_of_another(mock: Any, kernel: Any) -> None:
    mock.attr[4] = 40
    assert kernel.attributes.num_regs == 40
    assert (
        kernel.attributes[1].num_regs == 1040 and kernel.attributes[core.Device(0)].num_regs == 40
    )
    mock.attr[5] = 90
    assert kernel.attributes.ptx_version == 90 and "num_regs" in dir(kernel.attributes)


def test_some_attributes_can_be_set(mock: Any, kernel: Any) -> None:
    kernel.attributes.max_dynamic_shared_size_bytes = 100_000
    assert mock.attr[SHARED_LIMIT] == 100_000
    assert kernel.attributes.max_dynamic_shared_size_bytes == 100_000
    with pytest.raises(AttributeError):
        kernel.attributes.num_regs = 3
    with pytest.raises(core.CUDAError, match="cuKernelSetAttribute.*INVALID|cuKernelSetAttribute"):
        kernel.attributes.max_dynamic_shared_size_bytes = -1
    with pytest.raises(RuntimeError, match="Please use Kernel.attributes"):
        type(kernel.attributes)()


def test_a_device_that_does_not_exist_is_named(kernel: Any) -> None:
    with pytest.raises(ValueError, match="device_id must be 0 to 1"):
        _ = kernel.attributes[7]


# ---- parameters


def test_parameters_are_told(mock: Any, kernel: Any) -> None:
    mock.n_param_bytes = 3
    mock.param_bytes[:3] = [8, 4, 128]
    assert kernel.arguments_info == [(0, 8), (8, 4), (16, 128)]
    assert kernel.num_arguments == 3 and kernel.name == "scale"


def test_a_kernel_that_is_none_says_so(device: core.Device) -> None:
    none = core.Kernel.from_handle(4096)
    with pytest.raises(core.CUDAError, match="cuKernelGetParamInfo"):
        _ = none.num_arguments
    with pytest.raises(core.CUDAError, match="400"):
        core.launch(device.default_stream, core.LaunchConfig(grid=1, block=1), none)


# ---- occupancy


def test_blocks_per_multiprocessor(kernel: Any) -> None:
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(128, 0) == 3
    assert kernel.occupancy.available_dynamic_shared_memory_per_block(4, 128) == 16384
    with pytest.raises(core.CUDAError, match="cuOccupancyAvailableDynamicSMemPerBlock"):
        kernel.occupancy.available_dynamic_shared_memory_per_block(0, 128)
    with pytest.raises(RuntimeError, match="Please use Kernel.occupancy"):
        type(kernel.occupancy)()


def test_the_block_that_fills_a_device(kernel: Any) -> None:
    asked: list[int] = []

    @ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
    def shared_bytes(block: int) -> int:
        asked.append(block)
        return 16 * block

    address = ctypes.cast(shared_bytes, ctypes.c_void_p).value
    choose = kernel.occupancy.max_potential_block_size
    assert choose(0, 512) == (20, 512) and choose(5000, 0) == (20, 32)
    assert choose(driver.CUoccupancyB2DSize(address), 1024) == (20, 256)
    assert asked == [32, 64, 128, 256, 512, 1024]
    with pytest.raises(TypeError, match="an int or a CUoccupancyB2DSize, not function"):
        choose(lambda block: 0, 0)


def test_clusters(device: core.Device, kernel: Any) -> None:
    stream = device.create_stream()
    plain, of_four = (core.LaunchConfig(grid=8, block=64, cluster=c) for c in (None, 4))
    assert kernel.occupancy.max_potential_cluster_size(plain, stream=stream) == 8
    assert kernel.occupancy.max_potential_cluster_size(of_four, stream=stream) == 16
    assert kernel.occupancy.max_active_clusters(of_four, stream=stream) == 8


def test_a_cooperative_grid_has_to_fit(mock: Any, device: core.Device, kernel: Any) -> None:
    """The mock has 10 multiprocessors with 3 blocks each."""
    before = mock.n_launches
    with pytest.raises(ValueError, match="31 blocks is too large .*: 30 blocks of 64 threads"):
        config = core.LaunchConfig(grid=31, block=64, is_cooperative=True)
        core.launch(device.default_stream, config, kernel)
    assert mock.n_launches == before
    core.launch(device.default_stream, core.LaunchConfig(30, block=64, is_cooperative=True), kernel)
    assert mock.n_launches == before + 1


def test_clusters_need_a_device_that_has_them(
    device: core.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core.Device, "compute_capability", (8, 0))
    with pytest.raises(core.CUDAError, match="not supported before compute capability 9.0"):
        core.LaunchConfig(grid=1, block=1, cluster=2)


# ---- where kernels come from


def test_names_that_are_not_there(code: core.ObjectCode) -> None:
    with pytest.raises(core.CUDAError, match="cuLibraryGetKernel.*500"):
        code.get_kernel("missing")
    with pytest.raises(core.CUDAError, match="cuLibraryGetGlobal.*500"):
        code.get_global("missing")
    with pytest.raises(TypeError, match="a name is str or bytes, not int"):
        code.get_kernel(3)  # type: ignore[arg-type]


def test_a_variable_of_the_code_is_a_buffer(code: core.ObjectCode) -> None:
    variable = code.get_global("factor")
    assert variable.size == 64
    variable.fill(3)
    assert ctypes.string_at(variable.handle, 64) == b"\3" * 64


def test_code_that_the_driver_refuses(mock: Any, device: core.Device) -> None:
    mock.load_result = 218
    with pytest.raises(core.CUDAError, match="cuLibraryLoadData"):
        core.ObjectCode.from_ptx(b"no").get_kernel("k")
    mock.load_result = 0
    with pytest.raises(RuntimeError, match='Unsupported code type "ltoir"'):
        core.ObjectCode.from_ltoir(b"x").get_kernel("k")
    with pytest.raises(TypeError, match="bytes or the path of a file, not int"):
        core.ObjectCode.from_cubin(3)  # type: ignore[arg-type]


def test_kernels_keep_their_code_loaded(mock: Any, code: core.ObjectCode) -> None:
    loaded, unloaded = mock.n_load, mock.n_unload
    kernel, twin = code.get_kernel("scale"), code.get_kernel("scale")
    assert mock.n_load == loaded + 1 and kernel == twin and hash(kernel) == hash(twin)
    code._library = None
    del twin
    gc.collect()
    assert mock.n_unload == unloaded
    del kernel
    gc.collect()
    assert mock.n_unload == unloaded + 1


def test_a_handle_of_elsewhere(mock: Any, code: core.ObjectCode) -> None:
    kernel = core.Kernel.from_handle(ctypes.addressof(mock), code)
    assert int(kernel.handle) == ctypes.addressof(mock)
    with pytest.raises(TypeError, match="handle must be an int, not str"):
        core.Kernel.from_handle("4096")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="mod must be an ObjectCode, not int"):
        core.Kernel.from_handle(4096, 3)
    with pytest.warns(RuntimeWarning, match="library of kernel 0x1000 does not match"):
        core.Kernel.from_handle(4096, code)
    with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
        core.Kernel()

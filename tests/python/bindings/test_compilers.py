# SPDX-License-Identifier: Apache-2.0
"""NVRTC, nvJitLink and libNVVM, where they are installed; no GPU is needed for any of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tessera import pathfinder
from tessera.bindings import NVRTCError, driver, nvjitlink, nvrtc, nvvm

SAXPY = b"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
IR = b"""
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @kernel() {
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void ()* @kernel, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


def need(name: str) -> None:
    if not pathfinder.find_nvidia_dynamic_lib(name):
        pytest.skip(f"{name} is not installed")


def compiled(source: bytes, *options: bytes) -> bytes:
    program = nvrtc.checked.nvrtcCreateProgram(source, b"saxpy.cu", 0, [], [])
    nvrtc.checked.nvrtcCompileProgram(program, len(options), list(options))
    ptx = b" " * nvrtc.checked.nvrtcGetPTXSize(program)
    nvrtc.checked.nvrtcGetPTX(program, ptx)
    assert nvrtc.nvrtcDestroyProgram(program) == (nvrtc.nvrtcResult.NVRTC_SUCCESS,)
    return ptx


def test_nvrtc_makes_ptx() -> None:
    need("nvrtc")
    assert b".visible .entry saxpy" in compiled(
        SAXPY, b"--gpu-architecture=compute_90", b"--fmad=false"
    )
    assert 90 in nvrtc.checked.nvrtcGetSupportedArchs()


def test_nvrtc_says_what_is_wrong() -> None:
    need("nvrtc")
    program = nvrtc.checked.nvrtcCreateProgram("int x = ;", "bad.cu", 0, None, None)
    with pytest.raises(NVRTCError, match="NVRTC_ERROR_COMPILATION"):
        nvrtc.checked.nvrtcCompileProgram(program, 0, None)
    log = bytearray(nvrtc.checked.nvrtcGetProgramLogSize(program))
    nvrtc.checked.nvrtcGetProgramLog(program, log)
    assert b"expected an expression" in log


def test_nvrtc_takes_headers_and_names() -> None:
    need("nvrtc")
    source = b'#include "two.h"\ntemplate <class T> __global__ void f(T *x) { *x = two; }'
    program = nvrtc.checked.nvrtcCreateProgram(
        source, b"t.cu", 1, [b"const int two = 2;"], [b"two.h"]
    )
    nvrtc.checked.nvrtcAddNameExpression(program, b"f<int>")
    nvrtc.checked.nvrtcCompileProgram(program, 0, [])
    assert nvrtc.checked.nvrtcGetLoweredName(program, b"f<int>") == b"_Z1fIiEvPT_"


def test_the_tutorial_program(mock: Any) -> None:
    """The SAXPY of the driver's tutorials, up to a launch that the mock records."""
    need("nvrtc")
    import ctypes

    mock.n_values = 0
    loaded = driver.checked.cuModuleLoadDataEx(compiled(SAXPY), 0, [], [])
    kernel = driver.checked.cuModuleGetFunction(loaded, b"saxpy")
    x, y = driver.CUdeviceptr(), driver.CUdeviceptr()
    driver.checked.cuMemAlloc(x, 64)
    driver.checked.cuMemAlloc(y, 64)
    stream = driver.checked.cuStreamCreate(1)
    params = ((2.0, x, y, 16), (ctypes.c_float, None, None, ctypes.c_size_t))
    before = mock.n_launches
    driver.checked.cuLaunchKernel(kernel, 1, 1, 1, 16, 1, 1, 0, stream, params, 0)
    driver.checked.cuStreamSynchronize(stream)
    assert (mock.n_launches, list(mock.block)) == (before + 1, [16, 1, 1])


def test_nvjitlink_makes_a_cubin() -> None:
    need("nvJitLink")
    need("nvrtc")
    ptx = compiled(SAXPY, b"--gpu-architecture=compute_90")
    linker = nvjitlink.create(1, ["-arch=sm_90"])
    nvjitlink.add_data(linker, nvjitlink.InputType.PTX, ptx, len(ptx), "saxpy")
    nvjitlink.complete(linker)
    cubin = bytearray(nvjitlink.get_linked_cubin_size(linker))
    nvjitlink.get_linked_cubin(linker, cubin)
    nvjitlink.destroy(linker)
    assert cubin.startswith(b"\x7fELF")
    with pytest.raises(nvjitlink.nvJitLinkError, match=r"ERROR_UNRECOGNIZED_OPTION \(1\)"):
        nvjitlink.create(1, ["-nonsense"])


@pytest.fixture
def program() -> Iterator[int]:
    need("nvvm")
    made = nvvm.create_program()
    yield made
    nvvm.destroy_program(made)


def test_nvvm_makes_ptx(program: int) -> None:
    nvvm.add_module_to_program(program, IR, len(IR), "kernel.ll")
    nvvm.compile_program(program, 1, ["-arch=compute_90"])
    ptx = bytearray(nvvm.get_compiled_result_size(program))
    nvvm.get_compiled_result(program, ptx)
    assert b".visible .entry kernel" in ptx


def test_nvvm_says_what_is_wrong(program: int) -> None:
    nvvm.add_module_to_program(program, b"nonsense", 8, "bad.ll")
    with pytest.raises(nvvm.nvvmError, match=r"ERROR_COMPILATION \(9\)") as caught:
        nvvm.compile_program(program, 0, [])
    log = bytearray(nvvm.get_program_log_size(program))
    nvvm.get_program_log(program, log)
    assert caught.value.status == 9 and b"bad.ll" in log
    assert nvvm.get_error_string(nvvm.Result.ERROR_COMPILATION) == "NVVM_ERROR_COMPILATION"

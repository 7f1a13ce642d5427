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


@pytest.fixture
def refused() -> Iterator[Any]:
    """A program of NVRTC with a log."""
    need("nvrtc")
    made = nvrtc.checked.nvrtcCreateProgram("int x = ;", "bad.cu", 0, None, None)
    nvrtc.nvrtcCompileProgram(made, 0, [])
    yield made
    nvrtc.nvrtcDestroyProgram(made)


@pytest.mark.parametrize("room", [b" ", b"", bytes(5), bytearray(5), memoryview(bytearray(5))])
def test_nvrtc_writes_into_no_short_buffer(refused: Any, room: Any) -> None:
    before = bytes(room)
    size = nvrtc.checked.nvrtcGetProgramLogSize(refused)
    for get in (nvrtc.nvrtcGetProgramLog, nvrtc.checked.nvrtcGetProgramLog):
        with pytest.raises(ValueError, match=f"log has {len(room)} bytes, but {size} are to be"):
            get(refused, room)
    assert bytes(room) == before and bytes([32]) == b" "


def test_nvrtc_writes_into_what_is_large_enough(refused: Any) -> None:
    size = nvrtc.checked.nvrtcGetProgramLogSize(refused)
    rooms = [b" " * size, bytearray(size + 3), memoryview(bytearray(size))]
    for room in rooms:
        assert nvrtc.nvrtcGetProgramLog(log=room, prog=refused) == (nvrtc.nvrtcResult.NVRTC_SUCCESS,)
        assert b"expected an expression" in bytes(room)
    with pytest.raises(ValueError, match="nvrtcGetProgramLog: log is read-only"):
        nvrtc.nvrtcGetProgramLog(refused, memoryview(bytes(size)))
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        nvrtc.nvrtcGetProgramLog(refused)


def test_an_empty_log_leaves_the_shared_byte_alone() -> None:
    need("nvrtc")
    program = nvrtc.checked.nvrtcCreateProgram("__device__ int x;", "good.cu", 0, None, None)
    nvrtc.checked.nvrtcCompileProgram(program, 0, [])
    assert nvrtc.checked.nvrtcGetProgramLogSize(program) == 1
    nvrtc.checked.nvrtcGetProgramLog(program, b" " * 1)
    assert ord(b" ") == 32
    nvrtc.checked.nvrtcDestroyProgram(program)


def test_nvvm_and_nvjitlink_write_into_no_short_buffer(program: int) -> None:
    with pytest.raises(ValueError, match="buffer has 0 bytes, but 1 are"):
        nvvm.get_program_log(program, bytearray())
    need("nvJitLink")
    linker = nvjitlink.create(1, ["-arch=sm_90"])
    with pytest.raises(nvjitlink.nvJitLinkError):
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, b"nonsense", 8, "bad")
    with pytest.raises(ValueError, match="get_error_log: log has 1 bytes, but"):
        nvjitlink.get_error_log(linker, b" ")
    nvjitlink.destroy(linker)


def test_a_number_is_no_program() -> None:
    need("nvrtc")
    for call in (
        lambda: nvrtc.nvrtcCompileProgram(5, 0, []),
        lambda: nvrtc.nvrtcGetPTX(5, bytearray(9)),
        lambda: nvrtc.nvrtcDestroyProgram(nvrtc.nvrtcProgram(5)),
        lambda: nvrtc.checked.nvrtcGetPTXSize(5),
    ):
        with pytest.raises(ValueError, match="prog is 0x5, which nvrtcCreateProgram did not make"):
            call()
    with pytest.raises(TypeError, match="prog must be a nvrtcProgram, not a CUevent"):
        nvrtc.nvrtcCompileProgram(driver.CUevent(5), 0, [])
    assert nvrtc.nvrtcGetPTXSize(0)[0] == nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_PROGRAM


def test_a_destroyed_program_is_none() -> None:
    need("nvrtc")
    program = nvrtc.checked.nvrtcCreateProgram("__device__ int x;", "x.cu", 0, None, None)
    assert nvrtc.nvrtcCompileProgram(int(program), 0, []) == (nvrtc.nvrtcResult.NVRTC_SUCCESS,)
    nvrtc.checked.nvrtcDestroyProgram(program)
    for call in (nvrtc.nvrtcDestroyProgram, nvrtc.nvrtcGetPTXSize):
        with pytest.raises(ValueError, match="or which was destroyed"):
            call(program)


def test_linkers_and_nvvm_programs_are_known(program: int) -> None:
    with pytest.raises(ValueError, match="compile_program: prog is 0x5, which create_program"):
        nvvm.compile_program(5, 0, [])
    need("nvJitLink")
    with pytest.raises(ValueError, match="complete: handle is 0x5, which create did not make"):
        nvjitlink.complete(5)


@pytest.mark.parametrize("module", [nvrtc, nvjitlink, nvvm])
def test_every_function_of_a_program_is_guarded(module: Any) -> None:
    """By the tables: who takes a program, and who writes a result of a size told elsewhere."""
    api = module._api
    for name, (kind, *_) in api.entries.items():
        params = api.parameters(name) if kind == "fn" else {}
        takes = next(iter(params.items()), ("", ""))
        if takes[0] in ("prog", "handle"):
            assert name in api.specials
        if any(name + end in api.entries for end in ("Size", "_size")):
            assert api.specials[name].__name__ == "getter"


def test_a_size_gives_the_text() -> None:
    """As tutorials write it: nvrtcGetPTX(program, size)[1]."""
    need("nvrtc")
    status, program = nvrtc.nvrtcCreateProgram(b"__global__ void f() {}", b"f.cu", 0, [], [])
    assert nvrtc.nvrtcCompileProgram(program, 0, []) == (status,)
    size = nvrtc.nvrtcGetPTXSize(program)[1]
    text = bytearray(size)
    nvrtc.nvrtcGetPTX(program, text)
    assert nvrtc.nvrtcGetPTX(program, size) == (status, bytes(text))
    for wrong in (size - 1, -1, 1 << 40):
        with pytest.raises(ValueError, match=rf"nvrtcGetPTX: ptx={wrong}: a size in bytes must be {size} at least"):
            nvrtc.nvrtcGetPTX(program, wrong)
    nvrtc.nvrtcDestroyProgram(program)

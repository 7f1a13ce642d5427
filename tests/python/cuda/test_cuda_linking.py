# SPDX-License-Identifier: Apache-2.0
"""Functions of other code: how kernels call them, and that what is declared links with what nvcc makes."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from tessera import cuda
from tessera.cuda import types
from tessera.cuda.errors import LinkerError, LoweringError, TypingError

scale = cuda.declare_device("scale", "float32(float32, int32)", abi="c")
is_even = cuda.declare_device("is_even", "boolean(int8)", abi="c")
total = cuda.declare_device("total", types.float64(types.CPointer(types.float64), types.int64), abi="c")
note = cuda.declare_device("note", "void(uint16)", abi="c")
answer = cuda.declare_device("answer", "uint64()", abi="c")
times2 = cuda.declare_device("times2", "float64(float64)")
wraps = cuda.declare_device("wraps", "uint8(uint8, boolean)")

SOURCE = r"""
extern "C" __device__ float scale(float x, int n) { return x * n; }
extern "C" __device__ bool is_even(signed char n) { return n % 2 == 0; }
extern "C" __device__ double total(double *x, long long n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}
extern "C" __device__ void note(unsigned short n) { }
extern "C" __device__ unsigned long long answer() { return 42; }
extern "C" __device__ int times2(double *result, double x) { *result = 2 * x; return 0; }
extern "C" __device__ int wraps(unsigned char *result, unsigned char x, bool up) { *result = x + up; return 0; }
"""


def everything(x, d, n):
    i = cuda.grid(1)
    if is_even(n):
        x[i] = scale(x[i], n) + scale(i, 2)
    d[i] = total(d, 3) + total(d[1:], 2) + times2(d[i])
    note(answer())
    d[i] += wraps(n, i > 3)


def ptx(kernel: Any = everything, sig: str = "void(float32[::1], float64[::1], int32)") -> str:
    return str(cuda.compile_ptx(kernel, sig, cc=(8, 0))[0])


def test_functions_are_declared_by_their_abi() -> None:
    text = ptx()
    assert ".extern .func (.param .b32 r) scale (.param .b32 a0, .param .b32 a1);" in text
    assert ".extern .func (.param .b32 r) is_even (.param .b32 a0);" in text
    assert ".extern .func note (.param .b32 a0);" in text and ".extern .func (.param .b64 r) answer ();" in text
    assert ".extern .func (.param .b32 r) times2 (.param .b64 a0, .param .b64 a1);" in text
    assert text.count(" scale (.param") == 1 and text.count("call (rv), scale") == 2


@pytest.mark.skipif(not all(map(shutil.which, ("nvcc", "ptxas", "nvlink"))), reason="no nvcc")
def test_kernels_link_with_what_nvcc_makes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "kernel.ptx").write_text(ptx())
    (tmp_path / "other.cu").write_text(SOURCE)
    for command in (
        ["nvcc", "-arch=sm_80", "-rdc=true", "-cubin", "other.cu", "-o", "other.cubin"],
        ["ptxas", "-arch=sm_80", "-c", "kernel.ptx", "-o", "kernel.cubin"],
        ["nvlink", "-arch=sm_80", "kernel.cubin", "other.cubin", "-o", "linked.cubin"],
    ):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        assert "warning" not in done.stdout + done.stderr


def test_the_cpu_device_says_that_it_cannot() -> None:
    @cuda.jit
    def kernel(x):
        x[0] = times2(x[0])

    with pytest.raises(LoweringError, match="times2\\(\\) is a function of other code, which is for GPUs"):
        kernel[1, 1](np.zeros(1))


def test_arguments_are_checked() -> None:
    @cuda.jit
    def kernel(x, how: Any = None):
        x[0] = scale(x[0])

    with pytest.raises(TypingError, match="scale\\(\\) takes 2 arguments, got 1"):
        kernel[1, 1](np.zeros(1, "f4"))

    @cuda.jit
    def other(x):
        x[0] = scale(x, 1)

    with pytest.raises(TypingError, match="scale\\(\\) wants a value of type float32, found float32 array"):
        other[1, 1](np.zeros(1, "f4"))

    @cuda.jit
    def shared(x):
        room = cuda.shared.array(4, np.float64)
        x[0] = total(room, 4)

    with pytest.raises(TypingError, match="arrays in shared and local memory have no address for other code"):
        shared[1, 1](np.zeros(1))


@pytest.mark.parametrize("sig", ["float32(float32[:])", "float16(int32)", "void(complex64)"])
def test_what_other_code_cannot_take_is_refused(sig: str) -> None:
    f = cuda.declare_device("f", sig)

    def kernel():
        f()

    with pytest.raises(NotImplementedError, match="f\\(\\) is declared with .*CPointer\\(float32\\)"):
        cuda.compile_ptx(kernel, "void()")


def test_from_buffer_gives_an_address() -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()

    def kernel(d):
        d[0] = total(ffi.from_buffer(d[2:]), 3)

    assert "total" in ptx(kernel, "void(float64[::1])")


def test_files_that_cannot_be_linked_are_named(tmp_path: pathlib.Path) -> None:
    def kernel():
        pass

    for name, error, text in (
        ("missing.ptx", LinkerError, "missing.ptx not found"),
        ("none", RuntimeError, "Don't know how to link file with no extension"),
        ("none.xyz", RuntimeError, "Don't know how to link file with extension .xyz"),
    ):
        with pytest.raises(error, match=text):
            cuda.jit("void()", link=[str(tmp_path / name)])(kernel)


def test_errors_of_compilers_stay_what_they_are() -> None:
    from tessera.bindings import NVRTCError
    from tessera.cuda._errors import NvrtcCompilationError, translated

    error = NvrtcCompilationError("error.cu", None)
    assert translated(error) is error and isinstance(error, NVRTCError) and str(error) == "error.cu"

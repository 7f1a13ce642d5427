# SPDX-License-Identifier: Apache-2.0
"""Pointers as parameters, and memory behind them as arrays."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera._core import TARGETS
from tessera.cuda import types


def address(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64", "complex64"])
def test_parameters_that_are_pointers(dtype: str) -> None:
    pointer = types.CPointer(cuda.from_dtype(numpy.dtype(dtype)))

    @cuda.jit(types.void(pointer, pointer, types.uint32))
    def axpy(x, y, n):
        i = cuda.grid(1)
        if i < n:
            y[i] += x[i] * 2

    x, y = (cuda.to_device(numpy.arange(40).astype(dtype)) for _ in range(2))
    axpy[2, 32](address(x), address(y), 37)
    numpy.testing.assert_array_equal(y.copy_to_host()[:37], numpy.arange(37).astype(dtype) * 3)
    numpy.testing.assert_array_equal(y.copy_to_host()[37:], numpy.arange(37, 40).astype(dtype))
    with pytest.raises(TypeError, match="No matching definition"):
        axpy[2, 32](1.5, address(y), 37)


def test_negative_indices_lie_before_a_pointer() -> None:
    @cuda.jit(types.void(types.CPointer(types.int64), types.int64))
    def kernel(x, i):
        x[i] = x[-1] * 10 + x[i - 1]

    x = cuda.to_device(numpy.arange(1, 9))
    kernel[1, 1](address(x) + 32, -2)
    assert x.copy_to_host().tolist() == [1, 2, 42, 4, 5, 6, 7, 8]


def test_memory_behind_a_pointer_as_arrays() -> None:
    @cuda.jit(types.void(types.CPointer(types.float32), types.int64))
    def kernel(p, n):
        rows, columns = cuda.carray(p, (n, 3)), cuda.farray(p, (n, 3))
        rows[-1, -1] = rows[0, 1] + columns[1, 0] * 10
        bits = cuda.carray(p, n, dtype=numpy.int32)
        bits[0] = 0x40000000
        columns[0, 1] = rows.shape[0] * 100 + rows.shape[1]

    x = cuda.to_device(numpy.arange(6, dtype="f4"))
    kernel[1, 1](address(x), 2)
    assert x.copy_to_host().tolist() == [2, 1, 203, 3, 4, 11]


def test_addresses_and_arrays_as_pointers() -> None:
    @cuda.jit
    def kernel(where, x):
        cuda.carray(where, 2, numpy.float64)[1] = x[0] + 1
        y = cuda.carray(x, (2, 2))
        x[0] = 7
        y[1, 1] = y[0, 0]  # the same memory: it sees the 7

    x = cuda.to_device(numpy.arange(4.0))
    kernel[1, 1](address(x), x)
    assert x.copy_to_host().tolist() == [7, 1, 2, 7]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda x: cuda.carray(x[0], 2), "dtype"),
        (lambda x: cuda.carray(x, "abc"), "an integer or a tuple of them"),
        (lambda x: cuda.carray(x, ()), "an array of 0 axes"),
        (lambda x: cuda.farray(cuda.shared.array(4, numpy.float64), 4), "have no address"),
        (lambda x: cuda.carray("x", 4, numpy.float64), "a pointer"),
    ],
)
def test_mistakes_are_named(made: Any, text: str) -> None:
    @cuda.jit
    def kernel(x):
        made(x)

    with pytest.raises(cuda.errors.TypingError, match=text):
        kernel[1, 1](numpy.zeros(4))


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not installed")
@pytest.mark.parametrize("target", sorted(t for t in TARGETS.values() if t >= 80))
def test_pointers_assemble(target: int, tmp_path: pathlib.Path) -> None:
    def kernel(p, n):
        p[n] = cuda.farray(p, (n, n), numpy.int16)[n - 1, 2]

    sig = types.void(types.CPointer(types.float32), types.int64)
    ptx, _ = cuda.compile_ptx(kernel, sig, cc=divmod(target, 10))
    assert "st.global" in ptx
    file = tmp_path / "kernel.ptx"
    file.write_text(ptx)
    arch = re.search(r"\.target (\w+)", ptx)[1]  # type: ignore[index]
    subprocess.run(["ptxas", "-arch", arch, str(file), "-o", str(tmp_path / "out")], check=True)


def test_numbers_as_addresses_may_be_any_memory() -> None:
    @cuda.jit(types.void(types.float32[::1], types.CPointer(types.float32)))
    def kernel(x, p):
        before = x[0]
        p[0] = 5
        x[1] = before + x[0]

    x = cuda.to_device(numpy.ones(2, "f4"))
    kernel[1, 1](x, address(x))
    assert x.copy_to_host().tolist() == [5, 6]


def test_memory_gives_its_address() -> None:
    memory = cuda.to_device(numpy.zeros(1)).gpu_data
    assert int(memory.device_pointer) == int(memory) == memory.device_pointer_value

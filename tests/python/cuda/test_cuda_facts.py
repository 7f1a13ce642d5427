# SPDX-License-Identifier: Apache-2.0
"""What is told of compiled kernels on the CPU device, and dtypes as arguments."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
import tessera
from tessera import cuda
from tessera.cuda import types

TABLE = numpy.arange(10.0)


def uses(x: Any, kind: Any) -> None:
    own, both = cuda.local.array(100, kind), cuda.shared.array(10, kind)
    table = cuda.const.array_like(TABLE)
    for i in range(100):
        own[i] = table[i % 10]
    both[0] = own[int(x[0])]
    x[0] = both[0]


@pytest.mark.parametrize(("kind", "size"), [(numpy.float32, 4), (numpy.float64, 8), (numpy.dtype("i2"), 2)])
def test_memory_that_a_kernel_asks_for(kind: Any, size: int) -> None:
    kernel = cuda.jit(uses).specialize(numpy.zeros(1), kind)
    assert kernel.get_local_mem_per_thread() == 100 * size
    assert kernel.get_shared_mem_per_block() == 10 * size
    assert kernel.get_const_mem_size() >= TABLE.nbytes
    assert kernel.get_max_threads_per_block() == 1024


def test_texts_are_constants() -> None:
    @cuda.jit("void(int64)")
    def kernel(x):
        print('a"b', x)

    assert kernel.get_const_mem_size() == len(b'a"b %lld\n\0')


def test_memory_by_signature() -> None:
    kernel = cuda.jit(uses)
    for kind in (numpy.int8, numpy.int64):
        x = numpy.full(1, 3.0)
        kernel[1, 1](x, kind)
        assert x[0] == 3
    found = kernel.get_local_mem_per_thread()
    assert sorted(found.values()) == [100, 800]
    assert [args[1] for args in found] == [types.NumberClass(types.int8), types.NumberClass(types.int64)]


def test_bounds_are_the_most_threads() -> None:
    @cuda.jit("void(float32[::1])", launch_bounds=64)
    def kernel(x):
        x[cuda.grid(1)] = 1

    assert kernel.get_max_threads_per_block() == 64 and kernel.get_const_mem_size() == 0


@pytest.mark.skipif(tessera.core.Device().device_id >= 0, reason="a GPU has registers")
def test_the_cpu_device_has_no_registers() -> None:
    @cuda.jit("void(float64[::1])")
    def kernel(x):
        x[0] = 1

    with pytest.raises(tessera.DeviceError, match="the CPU device has no registers"):
        kernel.get_regs_per_thread()


def test_dtypes_are_arguments() -> None:
    @cuda.jit
    def kernel(x, first, second):
        x[0] = first(3.9) + second(1.5)

    for first, second, wanted in (
        (numpy.int32, numpy.dtype("f8"), 4.5), (numpy.float64, numpy.int8, 4.9), (cuda.float32, numpy.uint8, 4.9),
    ):  # fmt: skip
        x = numpy.zeros(1)
        kernel[1, 1](x, first, second)
        assert abs(x[0] - wanted) < 1e-6
    with pytest.raises(TypeError, match="argument 'first'"):
        kernel[1, 1](x, str, numpy.int8)


def test_types_of_dtypes() -> None:
    assert cuda.typeof(numpy.int32) == types.NumberClass(types.int32)
    assert cuda.typeof(numpy.dtype("bool")) == types.DType(types.boolean)
    with pytest.raises(ValueError, match="Cannot determine"):
        cuda.typeof(str)


@pytest.mark.parametrize(("grid", "good"), [((1 << 24, 1, 1), True), ((1, 65535), True), ((1, 65536), False),
                                            ((1, 1, 65536), False)])  # fmt: skip
def test_grids_have_the_limits_of_gpus(grid: Any, good: bool) -> None:
    @cuda.jit
    def kernel(x):
        if cuda.blockIdx.x == cuda.gridDim.x - 1 and cuda.blockIdx.y == cuda.gridDim.y - 1:
            x[0] = cuda.grid(1)

    x = numpy.zeros(1, numpy.int64)
    if good:
        kernel[grid, 1](x)
        assert x[0] == grid[0] - 1
    else:
        with pytest.raises(ValueError, match="y and z 1 to 65535"):
            kernel[grid, 1](x)


def test_what_the_cpu_device_makes_of_a_kernel() -> None:
    @cuda.jit
    def kernel(x: Any, y: Any) -> None:
        i = cuda.grid(1)
        y[i] = x[i] + x[int(x[i])] + x[0]
        y[int(x[i])] = 1

    kernel[1, 32](numpy.zeros(96), numpy.zeros(96))
    (signature,) = kernel.signatures
    line = kernel.py_func.__code__.co_firstlineno + 3
    text = kernel.inspect_cpu(signature)
    assert kernel.inspect_cpu() == {signature: text} and "threads warps: 32 threads at a time" in text
    for place, what in ((f"{line}:16", "load vector"), (f"{line}:23", "load gather"), (f"{line}:38", "load scalar"),
                        (f"{line}:9", "store vector"), (f"{line + 1}:9", "store scatter")):  # fmt: skip
        assert re.search(rf"{place}: {what}: ", text), (place, what, text)
    assert "threads single" in kernel.inspect_cpu(signature, blockdim=1)
    assert "loops over 4 warps" in kernel.overloads[signature].inspect_cpu((16, 8))
    with pytest.raises(ValueError, match="1 to 1024 threads"):
        kernel.inspect_cpu(blockdim=(32, 64))
    with pytest.raises(KeyError, match="was not compiled"):
        kernel.inspect_cpu((types.float32,))

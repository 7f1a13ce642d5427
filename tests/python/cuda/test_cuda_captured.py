# SPDX-License-Identifier: Apache-2.0
"""Arrays of a device that kernels name: each launch adds them to its arguments."""

import gc

import numpy as np
import pytest
import tessera
from tessera import cuda


class Foreign:
    """An array of another library."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


TABLE = cuda.to_device(np.arange(10, dtype=np.float32))
OTHER = Foreign(cuda.to_device(np.arange(6, dtype=np.int32).reshape(2, 3)))


@cuda.jit(device=True)
def look(i):
    return TABLE[i] + OTHER[1, i % 3]


@cuda.jit
def k(out, x):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = look(i) * x


def test_a_kernel_reads_what_its_functions_name():
    out = np.zeros(10)
    k[1, 32](out, 2)
    want = (np.arange(10) + (np.arange(10) % 3 + 3)) * 2.0
    np.testing.assert_array_equal(out, want)
    k[1, 32](x=2, out=(again := np.zeros(10)))
    np.testing.assert_array_equal(again, want)
    k.forall(10)(again, 3)
    np.testing.assert_array_equal(again, want * 1.5)
    assert [len(args) for args in k.signatures] == [2, 2][: len(k.signatures)]


@pytest.mark.parametrize("n", [1, 3, 4])
def test_the_number_of_arguments_is_checked(n):
    with pytest.raises(TypeError, match="argument"):
        k[1, 1](*(np.zeros(10),) * n)


def test_with_a_signature():
    @cuda.jit("void(float64[:])")
    def typed(out):
        out[cuda.threadIdx.x] = TABLE[cuda.threadIdx.x]

    out = np.zeros(10)
    typed[1, 10](out)
    np.testing.assert_array_equal(out, np.arange(10))
    assert ".param" in typed.inspect_asm("void(float64[:])")


def test_a_kernel_writes_and_has_no_arguments():
    array = cuda.to_device(np.zeros(5, np.float32))

    @cuda.jit
    def write():
        array[cuda.threadIdx.x] = cuda.threadIdx.x + 1

    write[1, 5]()
    np.testing.assert_array_equal(array.copy_to_host(), [1, 2, 3, 4, 5])


def test_what_the_name_meant_at_the_first_launch_stays_and_lives():
    space = {"cuda": cuda, "array": cuda.to_device(np.full(3, 7.0))}
    exec("@cuda.jit\ndef read(out):\n    out[0] = array[1]\n", space)
    out = np.zeros(1)
    space["read"][1, 1](out)
    assert out[0] == 7
    space["array"] = cuda.to_device(np.full(3, 8.0))
    gc.collect()
    space["read"][1, 1](out)
    assert out[0] == 7
    kernel = cuda.jit(space["read"].py_func)  # a new kernel sees what the name means now
    kernel[1, 1](out)
    assert out[0] == 8


def test_kernels_of_tiles_take_no_such_arrays():
    import tessera.tile as ct

    @ct.kernel
    def tiles(out):
        ct.store(out, 0, ct.load(TABLE, 0, 2))

    with pytest.raises(tessera.TileError, match="a host object"):
        ct.launch(None, (1,), tiles, (np.zeros(2, np.float32),))


def test_recompile_sees_what_names_mean_now():
    space = {"cuda": cuda, "factor": 3, "array": cuda.to_device(np.full(3, 7.0))}
    exec("@cuda.jit\ndef k(out, x):\n    out[0] = array[1] * factor * x\n", space)
    k, out = space["k"], np.zeros(1)
    configured = k[1, 1]
    configured(out, 2)
    assert out[0] == 42
    space.update(factor=5, array=cuda.to_device(np.full(3, 2.0)))
    configured(out, 2)
    assert out[0] == 42
    k.recompile()
    for launch in (configured, k[1, 1]):
        launch(out, 2)
        assert out[0] == 20
    assert len(k.signatures) == 1
    k[1, 1](out, 2.5)
    assert out[0] == 25 and len(k.signatures) == 2

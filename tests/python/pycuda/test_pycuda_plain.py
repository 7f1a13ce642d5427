# SPDX-License-Identifier: Apache-2.0
"""Names of dtypes, argument lists, vector types, bins of pools: no driver is needed."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tessera.pycuda import _generate as generate
from tessera.pycuda import _operators as operators
from tessera.pycuda._dtypes import (
    ScalarArg, VectorArg, dtype_to_ctype, get_or_register_dtype, parse_arguments, parse_c_arg,
    parse_ctype, register_dtype, vec,
)  # fmt: skip
from tessera.pycuda import compiler
from tessera.pycuda.compiler import _options
from tessera.pycuda.tools import DeviceMemoryPool, bitlog2


def test_the_compiler_writes_into_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes cannot be changed, and Python has each single byte only once."""

    def write(_program: Any, room: Any) -> None:
        memoryview(room)[:] = b"\0"

    told = SimpleNamespace(nvrtcGetProgramLogSize=lambda _program: 1, nvrtcGetProgramLog=write)
    monkeypatch.setattr(compiler, "nvrtc", SimpleNamespace(checked=told))
    assert compiler._log(None) == ""


@pytest.mark.parametrize("code", "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8 c16".split())
def test_c_names_come_back(code: str) -> None:
    assert parse_ctype(dtype_to_ctype(code)) == np.dtype(code)


@pytest.mark.parametrize(
    ("text", "class_", "dtype", "name"),
    [
        ("float *x", VectorArg, "f4", "x"),
        ("const unsigned char* d_arr", VectorArg, "u1", "d_arr"),
        ("unsigned int n", ScalarArg, "u4", "n"),
        ("pycuda::complex<double> *__restrict__ z", VectorArg, "c16", "z"),
        ("unsigned long long k", ScalarArg, "u8", "k"),
        (" size_t  *s ", VectorArg, "u8", "s"),
    ],
)
def test_arguments_are_read(text: str, class_: type, dtype: str, name: str) -> None:
    found = parse_c_arg(text)
    assert (type(found), found.dtype, found.name) == (class_, np.dtype(dtype), name)


@pytest.mark.parametrize("text", ["float", "float **x", "float x[3]", "quux *x", ""])
def test_what_is_no_argument_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_c_arg(text)


def test_a_list_of_arguments() -> None:
    found = parse_arguments("float a, pycuda::complex<float> *x, int *y")
    assert [a.name for a in found] == ["a", "x", "y"] and [a.is_vector for a in found] == [0, 1, 1]


def test_registered_types() -> None:
    pair = np.dtype([("low", "f4"), ("high", "f4")])
    register_dtype(pair, "tests_pair")
    assert parse_ctype("struct tests_pair") == pair and dtype_to_ctype(pair) == "tests_pair"
    assert get_or_register_dtype("tests_pair") == pair
    with pytest.raises(RuntimeError, match="tests_pair"):
        register_dtype(np.float32, "tests_pair")
    with pytest.raises(ValueError, match="register_dtype"):
        dtype_to_ctype([("unknown", "f8")])


def test_vector_types() -> None:
    value = vec.make_float3(1, 2, 3)
    assert value.dtype == vec.float3 and value["z"] == 3 and vec.uchar4.itemsize == 4
    assert dtype_to_ctype(vec.double2) == "double2"
    with pytest.raises(TypeError, match="3 values"):
        vec.make_int3(1, 2)
    with pytest.raises(AttributeError):
        vec.float5  # noqa: B018


def test_bins_hold_what_they_promise() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        size = rng.randrange(1 << 40) >> rng.randrange(41)
        number = DeviceMemoryPool.bin_number(size)
        room = DeviceMemoryPool.alloc_size(number)
        assert size <= room <= max(8, size * 1.25) and DeviceMemoryPool.bin_number(room) == number


def test_bitlog2() -> None:
    assert [bitlog2(n) for n in (0, 1, 2, 17, 0xAFFE)] == [0, 0, 1, 4, 15]


@pytest.mark.parametrize(
    ("given", "kept", "arch"),
    [
        (["-O3", "-Xcompiler", "-fPIC", "--use_fast_math"], ["--use_fast_math"], ""),
        (["-arch", "sm_90", "-I", "/x"], ["-I/x"], "sm_90"),
        (["-gencode=arch=compute_80,code=sm_80"], [], "compute_80"),
        (["-rdc=true", "-lcudadevrt", "-std=c++17", "-DN=3"], ["-rdc=true", "-std=c++17", "-DN=3"], ""),
    ],
)
def test_options_of_nvcc(given: list[str], kept: list[str], arch: str) -> None:
    assert _options(given) == (kept, arch)


class Shaped:
    """What a layout looks at, of a numpy array."""

    def __init__(self, array: Any) -> None:
        self.shape, self.strides, self.dtype, self.size = (
            array.shape, array.strides, array.dtype, array.size
        )  # fmt: skip
        self.flags = self
        self.c_contiguous = array.flags.c_contiguous
        self.f_contiguous = array.flags.f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous


def offsets(layout: Any, n_arrays: int) -> list[list[int]]:
    """The element offsets that the generated C computes, in Python."""
    rank = layout.rank
    if rank == 0:
        return [list(range(layout.n))] * n_arrays
    dims, found = layout.numbers[:rank], []
    for k in range(n_arrays):
        steps, rows = layout.numbers[rank * (k + 1) : rank * (k + 2)], []
        for i in range(layout.n):
            at, rest = 0, i
            for axis in reversed(range(rank)):
                at += (rest if axis == 0 else rest % dims[axis]) * steps[axis]
                rest //= dims[axis]
            rows.append(at)
        found.append(rows)
    return found


@pytest.mark.parametrize(
    "index", [np.s_[:], np.s_[::2], np.s_[:, 1:3], np.s_[1:, ::-1, ::2], np.s_[:, :1], np.s_[..., 2]]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_strides_find_the_elements(index: Any, transposed: bool) -> None:
    base = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
    view = (base.T if transposed else base)[index]
    out = np.empty(view.shape, np.int32)
    layout = generate.layout_of([Shaped(out), Shaped(view)], out.shape)
    start = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
    _, of_view = offsets(layout, 2)
    of_out = offsets(layout, 2)[0]
    made = np.empty(out.size, np.int32)
    made[of_out] = base.ravel()[start + np.array(of_view)]
    assert (made.reshape(out.shape) == view).all()


def test_broadcast_axes_stand_still() -> None:
    out, row = np.empty((3, 4), np.float32), np.empty(4, np.float32)
    layout = generate.layout_of([Shaped(out), Shaped(row)], out.shape)
    assert offsets(layout, 2)[1] == [0, 1, 2, 3] * 3
    with pytest.raises(ValueError, match="broadcast"):
        generate.layout_of([Shaped(out), Shaped(np.empty(3))], out.shape)


def test_snippets_use_the_index_of_each_array() -> None:
    x, y = VectorArg("f4", "x"), VectorArg("f4", "yx")
    assert generate.substitute("yx[i] = x[ i ] + x[i+1]", [x, y]) == "yx[yx_i] = x[x_i] + x[i+1]"
    assert generate.takes_strides("yx[i] = x[i]", [x, y])
    assert not generate.takes_strides("yx[i] = x[n - i]", [x, y])


@pytest.mark.parametrize("name", [*operators.BINARY, *operators.COMPARE])
def test_results_have_numpys_dtype(name: str) -> None:
    function = {**operators.BINARY, **operators.COMPARE}[name][0]
    for code in ("i4", "u8", "f4", "c8"):
        try:
            wanted = function(np.ones(2, code), 2).dtype
        except TypeError:
            continue
        array = Shaped(np.ones(2, code))
        assert operators.result_dtype(function, array, 2) == wanted

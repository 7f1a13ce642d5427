# SPDX-License-Identifier: Apache-2.0
"""The decorator and its options, types, signatures: what needs no kernel to run."""

from __future__ import annotations

import collections
import enum
import warnings
from typing import Any

import numpy
import pytest
from tessera import cuda
from tessera.cuda import errors, types
from tessera.cuda._overload import EXACT, NONE, PROMOTE, SAFE, UNSAFE, conversion
from tessera.cuda._signature import Signature, normalize


def add(r: Any, x: Any, y: Any) -> None:
    """Adds."""
    r[0] = x + y


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("void(float32[:], i4)", (types.float32[:], types.int32)),
        ("(f4[::1], f8[:, ::1], c16[::1, :])",
         (types.float32[::1], types.Array(types.float64, 2, "C"), types.Array(types.complex128, 2, "F"))),
        ("void()", ()),
        ("()", ()),
        ("void(types.int64, none)", (types.int64, types.none)),
        ("void(UniTuple(int32, 2), Tuple((f4, i8)))",
         (types.UniTuple(types.int32, 2), types.Tuple((types.float32, types.int64)))),
        ("void(Array(float32, 3, 'A'), CPointer(int32))",
         (types.Array(types.float32, 3, "A"), types.CPointer(types.int32))),
        (" ( uint8 , boolean ) ", (types.uint8, types.boolean)),
    ],
)  # fmt: skip
def test_signature_strings(text: str, args: tuple[Any, ...]) -> None:
    assert normalize(text).args == args


@pytest.mark.parametrize(
    "text",
    ["void(", "void(f4", "void(f4[2])", "void(flot32)", "f4 f4", "void(f4)(f4)", "__import__('os')", "void(f4[:,])x",
     "f4[::1,::1]()", "void(f4[:,::1,:])", "", "1+1", "void(os.getcwd)"],
)  # fmt: skip
def test_signature_strings_that_are_refused(text: str) -> None:
    with pytest.raises(TypeError, match="invalid"):
        normalize(text)


@pytest.mark.parametrize("given", [3, object(), None, ("f4", 3), (numpy.float32,)])
def test_what_is_no_signature_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="invalid (type in )?signature"):
        normalize(given)


def test_names_of_types_are_one_type() -> None:
    assert types.f4 is types.float32 and types.intp is types.int64 and types.bool_ is types.boolean
    assert cuda.float32 is types.float32 and cuda.void is types.none
    assert types.Tuple((types.int32, types.int32)) == types.UniTuple(types.int32, 2)
    assert str(types.float32[:, ::1]) == "array(float32, 2d, C)"
    assert types.void(types.int32) == Signature(types.void, (types.int32,))
    assert types.float32(0.1) == numpy.float32(0.1)


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "int64"), (1 << 63, "uint64"), (True, "bool"), (2.0, "float64"), (1j, "complex128"), (None, "none"),
        (numpy.float32(1), "float32"), (numpy.bool_(1), "bool"), (numpy.int8(1), "int8"),
        ((1, 2), "UniTuple(int64 x 2)"), ((1, 2.0), "Tuple(int64, float64)"), ((), "Tuple()"),
        (Point(1, 2.0), "Point(int64, float64)"), (Colour.RED, "EnumMember<int64>(Colour)"),
        (numpy.zeros((2, 3), "f4"), "array(float32, 2d, C)"), (numpy.zeros((2, 3), "f4").T, "array(float32, 2d, F)"),
        (numpy.zeros((4, 6), "f4")[::2], "array(float32, 2d, A)"), (numpy.zeros((1, 3))[:, :], "array(float64, 2d, C)"),
        (numpy.zeros(()), "array(float64, 0d, C)"), (numpy.zeros(3, "M8[s]"), "array(datetime64[s], 1d, C)"),
        (numpy.broadcast_to(numpy.zeros(1), (3,)), "readonly array(float64, 1d, A)"),
        (numpy.zeros(2, "S3"), "array([char x 3], 1d, C)"), (numpy.zeros(2, "U3"), "array([unichr x 3], 1d, C)"),
    ],
)  # fmt: skip
def test_typeof(value: Any, text: str) -> None:
    assert str(cuda.typeof(value)) == text


def test_typeof_refuses_what_no_kernel_takes() -> None:
    with pytest.raises(ValueError, match="too large"):
        cuda.typeof(1 << 64)
    with pytest.raises(ValueError, match="Cannot determine"):
        cuda.typeof(object())


@pytest.mark.parametrize(
    "dtype",
    ["f4", "b1", "c16", "M8[us]", "S5", "U2", [("a", "i4"), ("b", "f8", (2, 3))], [("p", [("x", "f4")]), ("q", "u1")]],
)
def test_dtypes_go_both_ways(dtype: Any) -> None:
    from tessera.cuda._typeof import as_dtype

    assert as_dtype(cuda.from_dtype(numpy.dtype(dtype))) == numpy.dtype(dtype)


@pytest.mark.parametrize(
    ("found", "wanted", "how"),
    [
        ("int32", "int32", EXACT), ("int32", "int64", PROMOTE), ("float32", "float64", PROMOTE),
        ("uint8", "int16", SAFE), ("int64", "float64", SAFE), ("bool", "int8", SAFE), ("float32", "complex64", SAFE),
        ("int64", "int32", UNSAFE), ("float64", "int64", UNSAFE), ("float64", "float32", UNSAFE),
        ("int32", "float32", UNSAFE), ("int8", "uint8", UNSAFE), ("complex128", "float64", NONE),
        ("float32[:]", "float32[::1]", NONE), ("float32[::1]", "float32[:]", SAFE), ("float32[:]", "float64[:]", NONE),
        ("float32[:]", "int32", NONE),
    ],
)  # fmt: skip
def test_conversions(found: str, wanted: str, how: int) -> None:
    one, other = normalize(f"({found}, {wanted})").args
    assert conversion(one, other) == how


def test_attributes_of_the_function_are_kept() -> None:
    kernel = cuda.jit(add)
    assert (kernel.__name__, kernel.__doc__, kernel.py_func) == ("add", "Adds.", add)
    assert kernel.signatures == [] and not kernel.specialized
    assert cuda.jit(kernel) is kernel
    assert isinstance(cuda.jit(debug=True, opt=False)(add).py_func, type(add))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"fastmth": True}, TypeError, "no option 'fastmth'; did you mean 'fastmath'"),
        ({"restype": 1}, errors.DeprecationError, "no option 'restype' any more"),
        ({"device": True, "link": "a.ptx"}, ValueError, "link keyword invalid for device function"),
        ({"launch_bounds": (1, 2, 3, 4)}, ValueError, "Got 4 launch bounds"),
        ({"launch_bounds": 0}, ValueError, "positive"),
        ({"inline": "maybe"}, ValueError, "'never' or 'always'"),
        ({"shared_memory_carveout": 101}, ValueError, "between -1 and 100"),
        ({"shared_memory_carveout": "most"}, ValueError, "'maxshared'"),
        ({"shared_memory_carveout": 1.5}, TypeError, "between -1 and 100"),
    ],
)
def test_options_that_are_refused(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        cuda.jit(**options)(add)


@pytest.mark.parametrize(
    ("options", "category"),
    [
        ({"debug": True, "opt": True}, errors.NumbaInvalidConfigWarning),
        ({"debug": True}, errors.NumbaInvalidConfigWarning),
        ({"debug": True, "opt": False, "lineinfo": True}, errors.NumbaInvalidConfigWarning),
        ({"inline": True}, errors.NumbaDeprecationWarning),
    ],
)
def test_options_that_warn(options: dict[str, Any], category: type[Warning]) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        cuda.jit(**options)(add)
    assert [w.category for w in found] == [category]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a Python function"):
        cuda.jit(3)


def test_a_signature_of_a_kernel_returns_nothing() -> None:
    with pytest.raises(TypeError, match="void return type"):
        cuda.jit("int32(int32)")(lambda x: None)


def test_a_signature_has_as_many_arguments_as_the_function() -> None:
    with pytest.raises(TypeError, match="2 arguments, but the function takes 3"):
        cuda.jit("void(int32, int32)")(add)


def test_kernels_of_a_module_are_pickled_by_name() -> None:
    import pickle

    import tests.python.cuda.kernels as module

    kernel = cuda.jit(module.nothing)
    again = pickle.loads(pickle.dumps(kernel))
    assert again.py_func is module.nothing


def test_import_takes_neither_numpy_nor_ctypes() -> None:
    import subprocess
    import sys

    code = "import sys; from tessera import cuda; cuda.jit(lambda: 0); print({'numpy', 'inspect'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "set()\n", done.stderr


def test_dynamic_shared_memory_is_as_long_as_the_launch_says():
    @cuda.jit
    def kernel(out):
        fixed = cuda.shared.array(5, numpy.float32)
        a = cuda.shared.array(0, numpy.int16)
        t = cuda.threadIdx.x
        fixed[t] = t
        a[t] = t
        a[-1] = 7
        cuda.syncthreads()
        out[t] = a[a.size - 1] * 100 + a.size

    out = numpy.zeros(4, numpy.int64)
    for shared in (40, 64):
        kernel[1, 4, 0, shared](out)
        cuda.synchronize()
        assert list(out) == [700 + shared // 2] * 4


def test_device_functions_are_not_launched() -> None:
    function = cuda.jit(device=True)(lambda x: x)
    with pytest.raises(RuntimeError, match="Cannot compile a device function as a kernel"):
        function[1, 1](3)


def test_a_kernel_that_returns_something_is_refused_at_its_launch() -> None:
    @cuda.jit
    def kernel(x):
        return x[0]

    for error in (TypeError, errors.TypingError):
        with pytest.raises(error, match="must have void return type"):
            kernel[1, 1](numpy.zeros(1))


def test_named_tuples_are_arguments() -> None:
    Point = collections.namedtuple("Point", "x y")

    @cuda.jit
    def kernel(out, p):
        out[0] = p.x * 10 + p.y[0]

    out = numpy.zeros(1)
    kernel[1, 1](out, Point(3, numpy.array([4.0])))
    assert out[0] == 34


@cuda.jit("void(int64[:], int32, uint8, int64)")
def bits_of_ints(out, a, b, c):
    out[0] = a
    out[1] = b
    out[2] = c


@pytest.mark.parametrize("beyond", [1 << 64, -(1 << 63) - 1, 1 << 70, 1 << 2000])
def test_ints_beyond_64_bits_are_refused_before_the_launch(beyond: int) -> None:
    @cuda.jit
    def kernel(out, n):
        out[0] = n

    out = numpy.zeros(1)
    for given in (beyond, beyond, 7, beyond):
        if given != 7:
            with pytest.raises(OverflowError, match="does not fit 64 bits"):
                kernel[1, 1](out, given)
        else:
            kernel[1, 1](out, given)
    assert out.tolist() == [7]


def test_ints_with_as_many_bits_as_the_signature_are_taken_as_these() -> None:
    out = numpy.zeros(3, "i8")
    bits_of_ints[1, 1](out, 0xFFFFFFFF, -1, 2**64 - 1)
    assert out.tolist() == [-1, 255, -1]
    for too_much in (1 << 32, -(1 << 31) - 1):
        with pytest.raises(OverflowError, match="does not fit int32"):
            bits_of_ints[1, 1](out, too_much, 1, 1)


def test_a_device_function_with_a_signature_converts_what_it_is_given() -> None:
    @cuda.jit("int32(int32, float32)", device=True)
    def low_byte(n, x=2.5):
        return (n & 0xFF) + x

    @cuda.jit
    def kernel(out, x):
        out[0] = low_byte(x[0]) / 2
        out[1] = low_byte(x[1], 1)

    out = numpy.zeros(2)
    kernel[1, 1](out, numpy.array([259.9, 3.5]))
    assert out.tolist() == [2.5, 4]


@pytest.mark.parametrize("grid", [2**31, (1, 65536), (1, 1, 65536)], ids=str)
def test_grids_that_no_gpu_takes_are_refused(grid: Any) -> None:
    with pytest.raises(ValueError, match="x must be 1 to 2147483647, y and z 1 to 65535$"):
        cuda.jit(add)[grid, 1](numpy.ones(1), 2, 3)


def test_more_blocks_than_tiles_have() -> None:
    @cuda.jit
    def last(x: Any, n: Any) -> None:
        i = cuda.grid(1)
        if i >= n - 2:
            x[i - n + 2] = i
        if i == 0:
            x[2] = cuda.gridDim.x

    n, x = 2**24 + 7, numpy.zeros(3, numpy.int64)
    last[n, 1](x, n)
    assert x.tolist() == [n - 2, n - 1, n]


def test_dynamic_shared_memory_that_a_launch_forgets() -> None:
    @cuda.jit
    def shared(x: Any, n: Any) -> None:
        memory = cuda.shared.array(0, numpy.int32)
        for i in range(n):
            memory[i] = i
        x[0] = memory[n - 1]

    @cuda.jit
    def length(x: Any) -> None:
        x[0] = len(cuda.shared.array(0, numpy.int32))

    x = numpy.ones(1)
    with pytest.raises(ValueError, match="'shared' uses dynamic shared memory, and its launch gives it 0 bytes"):
        shared[1, 1](x, 2000)
    shared[1, 1, 0, 8000](x, 2000)
    assert x[0] == 1999
    length[1, 1](x)
    assert x[0] == 0


def test_a_counter_that_wraps_goes_on() -> None:
    @cuda.jit
    def steps(x: Any, n: Any) -> None:
        step = cuda.blockDim.x << 52
        j, count = 6 << 60, 0
        while j < n:
            count += 1
            j += step  # past 2^63 once and again: 6, -7, -4, .. 4, 7 times 2^60
        x[cuda.grid(1)] = count

    x = numpy.zeros(768, numpy.int64)
    steps[1, 768](x, (6 << 60) + 5)
    assert (x == 11).all()
    steps[1, 768](x, 6 << 60)
    assert not x.any()


def test_a_device_function_of_a_void_signature_is_called_as_a_statement() -> None:
    @cuda.jit("void(int32[:], int32)", device=True)  # type: ignore[untyped-decorator]
    def put(x, i):
        x[i] = 3 * i

    @cuda.jit  # type: ignore[untyped-decorator]
    def kernel(x):
        put(x, cuda.grid(1))

    x = numpy.zeros(4, numpy.int32)
    kernel[1, 4](x)
    assert x.tolist() == [0, 3, 6, 9]

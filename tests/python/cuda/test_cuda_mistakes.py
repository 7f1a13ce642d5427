# SPDX-License-Identifier: Apache-2.0
"""What the first mistakes of a user say: what was found, what was wanted, the way out."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
import pytest

from tessera import bindings, cuda

CONSTANTS, HUGE = np.arange(5.0), np.arange(5000.0)


def made(body: str, **options: Any) -> Any:
    """A kernel of ``x`` with these statements."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    space: dict[str, Any] = {"cuda": cuda, "np": np, "time": time, "random": random}
    space |= {"C": CONSTANTS, "HUGE": HUGE, "PAIR": PAIR}
    exec("import math\n@cuda.jit(device=True)\ndef other(x): return 1\ndef k(x):\n" + lines, space)  # noqa: S102
    return cuda.jit(**options)(space["k"])


def said(body: str, *args: Any, **options: Any) -> str:
    with pytest.raises(Exception) as raised:
        made(body, **options)[1, 1](*args or (np.zeros(4),))
    return str(raised.value)


STATEMENTS = [
    ("try:\n    x[0] = 1\nexcept ValueError:\n    pass", "'try'", "kernels catch no exceptions"),
    ("class A:\n    pass", "'class'", "outside of the kernel"),
    ("import math", "'import'", "at the top of the file"),
    ("del x", "'del'", "leave it out"),
    ("y = [i for i in range(3)]", "'a list comprehension'", "cuda.local.array"),
    ("y = {i for i in range(3)}", "'a set comprehension'", "cuda.local.array"),
    ("y = {1}", "'a set display'", "a tuple"),
    ("global y", "'global'", "return the value instead"),
    ("yield x[0]", "kernels and the functions that they call are no generators", "write into an array"),
    ("raise ValueEror('a')", "name 'ValueEror' is not defined", "did you mean 'ValueError'?"),
    ("raise ValueEror", "name 'ValueEror' is not defined", "did you mean 'ValueError'?"),
]
CALLS = [
    ("x[0] = open('a')", "builtin 'open'", "pass an array"),
    ("x[0] = input()", "builtin 'input'", "pass a number"),
    ("x[0] = sorted(x)", "builtin 'sorted'", "on the host"),
    ("x[0] = time.time()", "'time.time'", "cuda.event_elapsed_time"),
    ("x[0] = random.random()", "'random.Random.random'", "cuda.random"),
    ("x[0] = np.random.rand()", "'numpy.random.rand'", "cuda.random"),
    ("x[0] = np.linalg.norm(x)", "'numpy.linalg.norm'", "those of math and NumPy for numbers, can be called"),
    ("y = np.zeros(3)", "'numpy.zeros'", "cuda.local.array"),
    ("y = np.empty(3)", "'numpy.empty'", "cuda.shared.array"),
    ("y = np.arange(3)", "'numpy.arange'", "loop over range"),
    ("other[1, 1](x)", "function 'other' has no items", "kernels launch no kernels"),
]
NAMES = [
    ("x[0] = math.sqrtt(2.0)", "'math' has no attribute 'sqrtt'", "did you mean 'sqrt'?"),
    ("x[0] = np.float46(2)", "'numpy' has no attribute 'float46'", "did you mean 'float64'?"),
    ("x[0] = x.sise", "has no attribute 'sise'", "did you mean 'size'?"),
    ("cuda.atomic.ad(x, 0, 1)", "'cuda.atomic' has no attribute 'ad'", "did you mean 'add'?"),
    ("x[0] = cuda.threadIdx.w", "'cuda.threadIdx' has no attribute 'w'", "it has x, y, z"),
    ("x.append(3)", "has no attribute 'append'", "arrays do not grow"),
]
VALUES = [
    ("i, j = cuda.grid(1)", "cannot unpack int64 scalar into 2 names", "cuda.grid(2) gives two"),
    ("i = cuda.grid(2)\nx[i] = 1", "2 indices for an array of 1 axis", "index each axis once"),
    ("i = cuda.grid(2)\nif i < x.size:\n    x[0] = 1", "cannot compare tuple", "take the items of the tuple"),
    ("x[0] = cuda.grid(1)[0]", "int64 scalar has no items to index", "x[i] reads an array"),
    ("C[0] = 1", "takes no item assignment", "arrays of the host that a kernel names"),
    ("for v in cuda.grid(1):\n    x[0] = v", "an array or a tuple, found int64 scalar", "for i in range(n)"),
    ("y = x + 1", "cannot add float64 array", "read and write their elements, x[i]"),
    ("for i in range(0, 10, 0):\n    x[0] = 1", "the step of range is 0; it must not be zero", "-1) down"),
    ("x[0] = HUGE[3]", "numpy.ndarray of 5000 numbers", "at most 4096", "pass the array as an argument"),
]

PAIR = np.dtype([("a", "i4"), ("b", "f8")], align=True)
ARRAYS = [
    ("y = cuda.local.array(-1, np.int32)", "array length <= 0", "every extent is at least 1"),
    ("y = cuda.local.array(3, 'float33')", "Invalid NumPy dtype specified: 'float33'", 'NumPy\'s text, "float32"'),
    ("y = cuda.shared.array(8, np.int32, alignment=9)", "Alignment must be a power of 2: 9", "8, 16, 32 .. 1024"),
    ("y = cuda.local.array(6, np.int32).reshape(4)", "reshape(): the array has another number", "element by element"),
    ("y = x.reshape(2.5)", "a shape is made of integers", "a.reshape(2, 3)"),
    ("y = x.reshape(-2, 2)", "one extent of a shape may be -1", "what is left by the other extents"),
    ("y = x.copy()", "its extents must be known at compile time", "element by element to cuda.local.array(n, dtype)"),
    ("y = cuda.local.array(2, PAIR)\ny[0] = (1, 2.0, 3)", "a tuple of 3 items cannot be", "fields, 2, or assign"),
    ("y = cuda.local.array(2, PAIR)\ny[0] = 'a'", "cannot be stored in an element", "a tuple of its fields"),
    ("y = cuda.local.array(2, PAIR)\nx[0] = y[0][5]", "index 5 is out of range", "fields count from 0"),
]


TABLE = [(body, texts) for body, *texts in STATEMENTS + CALLS + NAMES + VALUES + ARRAYS]


@pytest.mark.parametrize(("body", "texts"), TABLE)
def test_the_way_out_is_that_of_the_language(body: str, texts: list[str]) -> None:
    text = said(body)
    assert all(t in text for t in texts), text
    assert "tile" not in text and "ct." not in text


def test_a_misspelt_exception_is_found_whether_exceptions_are_reported_or_not() -> None:
    assert "did you mean 'KeyError'" in said("if x[0] > 0:\n    raise KeyEror(1)", debug=True, opt=False)


@pytest.mark.parametrize("given", [None, 5, 5.0])
def test_a_number_in_the_place_of_an_array(given: Any) -> None:
    assert "arrays have .size; pass an array" in said("y = x.size", given)
    assert "only arrays can be changed; pass an array of one element" in said("x[0] = 1", given)


def test_a_reshape_that_does_not_fit() -> None:
    text = said("y = x.reshape(3, 2)\ny[0, 0] = 1", np.zeros(5), debug=True, opt=False)
    assert "reshape(): the array has another number of elements; wanted 6" in text
    assert "debug=True tells the reason" in said("y = x.reshape(3, 2)\ny[0, 0] = 1", np.zeros(5))


def test_an_index_beyond_a_constant_array_is_told() -> None:
    text = said("x[0] = C[int(x[1]) + 7]", debug=True, opt=False)
    assert "index 7 of a tuple or array with 5 items" in text


def test_async_def_is_named() -> None:
    space: dict[str, Any] = {"cuda": cuda}
    exec("@cuda.jit\nasync def k(x):\n    x[0] = 1\n", space)  # noqa: S102
    with pytest.raises(Exception, match="it is an 'async def'\n.*write def") as raised:
        space["k"][1, 1](np.zeros(1))
    assert "changed" not in str(raised.value)


@cuda.jit(device=True)
def deep(n: int) -> int:
    return 0 if n == 0 else 1 + deep(n - 1)


@cuda.jit
def calls_deep(x: Any) -> None:
    x[0] = deep(100_000)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("x[0] = 1 if x[1] > 0 else None", "conditional expression differ in type\n(.|\n)*constant 1 and None"),
        ("y = None\nif x[0] > 0:\n    y = x[1]\nx[0] = y", "'y' has different types(.|\n)*None in the other"),
        ("y = None\nif x[0] > 0:\n    y = x[1]\nif y is None:\n    x[0] = 1", "None in the other"),
        ("y = None\nfor i in range(x.size):\n    y = x[i]\nx[0] = y", "'y' changes its type(.|\n)*None before it"),
        ("def f(a):\n    if a > 0:\n        return a\nx[0] = f(x[1])", "returns nothing from one branch"),
    ],
)
def test_none_beside_a_number_is_no_zero(body: str, words: str) -> None:
    with pytest.raises(cuda.errors.TypingError, match=words):
        made(body)[1, 1](np.ones(3))


def test_a_result_that_nobody_reads_may_be_none_or_a_number() -> None:
    x = np.ones(3)
    loop = "    for i in range(3):\n        if x[i] > 4:\n            return i\n"
    made("def f(a):\n    if a > 4:\n        return\n" + loop + "    x[1] = 5\nf(x[0])\nx[2] = x[1]")[1, 1](x)
    assert x.tolist() == [1, 5, 5]


def test_recursion_that_is_too_deep_names_the_limit_and_each_caller_once() -> None:
    with pytest.raises(Exception, match=r"'deep' calls itself on every path, or more than \d\d\d+ times") as raised:
        calls_deep[1, 1](np.zeros(1))
    assert str(raised.value).count("'deep' is called here, in 'deep'") == 1


def test_signatures_are_called_signatures() -> None:
    @cuda.jit("void(int32, float64[:])")
    def k(a, x):
        x[0] = a

    @cuda.jit("void(uint8, float64[:])")
    def small(a, x):
        x[0] = a

    x = np.zeros(1)
    with pytest.raises(TypeError, match="argument 'a': is the float 5.7 but the signature has int32; .* the signature"):
        k[1, 1](5.7, x)
    with pytest.raises(OverflowError, match="the int 300 does not fit uint8, which the signature has; write a wider"):
        small[1, 1](300, x)
    small[1, 1](-1, x)  # bits of as many are taken
    assert x[0] == 255


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ("a", ["a str cannot be passed", "numpy.array([value])"]),
        (b"a", ["a bytes cannot be passed", "numpy.array([value])"]),
        ({"a": 1}, ["a dict cannot be passed", "a named tuple"]),
        ({1}, ["a set cannot be passed", "numpy.array(sorted(value))"]),
        ([1], ["a list cannot be passed", "numpy.asarray"]),
        (object(), ["argument 'x': is an object; a kernel takes arrays", "dataclasses of such"]),
        (cuda.In([1.0, 2.0]), ["cuda.In() takes an array, found a list", "numpy.asarray"]),
    ],
)
def test_arguments_that_kernels_do_not_take(given: Any, texts: list[str]) -> None:
    text = said("x[0] = 1", given)
    assert all(t in text for t in texts), text
    assert "Constant" not in text


def test_launches_with_too_much_in_the_brackets() -> None:
    with pytest.raises(ValueError, match="must specify at most the griddim, blockdim, stream, sharedmem and cluster"):
        made("x[0] = 1")[1, 2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match="must specify at least the griddim and blockdim"):
        made("x[0] = 1")[1]
    with pytest.raises(TypeError, match="blockdim must be a sequence of integers, got .*; the order is kernel.griddim"):
        made("x[0] = 1")[1, cuda.stream()]


def test_devices_that_are_not_there() -> None:
    with pytest.raises(IndexError, match=r"there is no device 99; this machine has (one, number 0|\d+, numbers 0 to)"):
        cuda.select_device(99)


def test_values_of_threads_have_none_on_the_host() -> None:
    y = cuda.gridDim.y
    for use in (lambda: cuda.threadIdx.x + 1, lambda: 2 * cuda.blockDim.x, lambda: range(y), lambda: cuda.laneid < 3):
        with pytest.raises(RuntimeError, match=r"cuda\.\w+(\.\w)? has a value inside a function decorated with"):
            use()


# ---- reductions and ufuncs -----------------------------------------------------------------------------------


@cuda.reduce
def added(a, b):
    return a + b


def test_reductions() -> None:
    with pytest.raises(TypeError, match=r"added\(\) takes an array, found a list; pass numpy.asarray"):
        added([1, 2, 3])
    with pytest.raises(TypeError, match=r"but one\(\) \(.*test_cuda_mistakes.py, line \d+\) takes 1 argument; write"):

        @cuda.reduce
        def one(a):
            return a

    local = cuda.reduce(lambda a, b: a * b)
    assert pickle.loads(pickle.dumps(added)) is added
    assert pickle.loads(pickle.dumps(local))(np.arange(1.0, 5), init=1) == 24


def test_vector_types_travel() -> None:
    assert pickle.loads(pickle.dumps(cuda.float4)) is cuda.float4
    assert pickle.loads(pickle.dumps(cuda.float2(1, 2))) == cuda.float2(1, 2)


def test_ufuncs_name_themselves_and_warn_where_they_are_made() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")

        @cuda.vectorize(["float64(float64, float64)"], debug=True)
        def summed(a, b):
            return a + b

        summed(np.zeros(2), np.zeros(2))
    assert [w.filename for w in found if "debug=True with opt=True" in str(w.message)] == [__file__]
    with pytest.raises(TypeError, match=r"summed\(\): gufunc accepts 2 positional arguments"):
        summed(np.zeros(2))


def test_a_script_from_stdin_is_not_sent_to_another_decorator() -> None:
    code = "from tessera import cuda\n@cuda.jit\ndef k(x): pass\nk[1, 1](1)\n"
    done = subprocess.run([sys.executable], input=code, capture_output=True, text=True, check=False)
    assert "help: put the function in a file" in done.stderr


def test_a_message_begins_with_the_line_of_the_user() -> None:
    from tessera import coop

    @cuda.jit
    def kernel(x: Any) -> None:
        x[0] = coop.warp.sum((1, 2))

    with pytest.raises(cuda.errors.TypingError) as caught:
        kernel[1, 32](np.zeros(32))
    first, *rest = str(caught.value).splitlines()
    assert first.startswith(f"{__file__}:{kernel.py_func.__code__.co_firstlineno + 2}:16: whole()"), first
    assert any("coop/_values.py" in line and "seen here, in 'typed'" in line for line in rest)
    assert not any("is called here, in 'kernel'" in line for line in rest)  # that is the first line


def test_a_block_that_no_gpu_takes_is_what_the_driver_says() -> None:
    kernel = cuda.jit("void()")(nothing_at_all)
    with pytest.raises(bindings.CUDAError, match="CUDA_ERROR_INVALID_VALUE") as raised:
        kernel[1, 1025]()
    assert isinstance(raised.value, ValueError) and "1024" in str(raised.value)
    for block in ((2048, 1, 1), (64, 64, 1), (1, 1, 65)):
        with pytest.raises(bindings.CUDAError, match=f"a block of \\({', '.join(map(str, block))}\\) threads"):
            kernel[1, block]()


def nothing_at_all() -> None:
    pass

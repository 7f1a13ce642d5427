# SPDX-License-Identifier: Apache-2.0
"""Exceptions of threads: what each thread reports, by the reference interpreter as written and as compiled for a GPU,
and what a launch on the CPU device raises."""

from __future__ import annotations

import numpy as np
import pytest
from simt_run import LowerError, run

import tessera
from tessera import cuda

TARGETS = pytest.mark.parametrize("target", [0, 90])
DEBUG = cuda.jit(debug=True, opt=False)
BOUNDS = cuda.jit(boundscheck=True)


class MyError(Exception):
    pass


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


INSTANCE = MyError("of the module")


def helper(x, i):
    if x == 3 and i == 4:
        raise KeyError("in the helper")
    return x + i


def fails(x):
    raise MyError(f"x is {x}")


def many_ways(x, out):
    i = cuda.grid(1)
    out[i] = 1
    if x == 1 and i == 5:
        raise MyError
    elif x == 2 and i > 70:
        raise MyError("two", 3)
    out[i] = helper(x, i)
    assert x != 4 or i < 9, "too far"
    if x == 5:
        out[i] = 10 // (i - 6)
    if x == 6:
        out[i] = 10 % (i - 7)
    if x == 7:
        out[i] = 1.5 / (i - 8)
    for k in range(i):
        if x == 8 and k == 3 and i == 4:
            if i % 2:
                raise ValueError("odd")
            else:
                raise INSTANCE
    if x == 9:
        fails(x)
    if x == 10 and i == 1:
        raise Odd(1, 2)
    if x == 11:
        out[i] = (1, 2, i)[i - 3]
    out[i] += 100


WAYS = [
    (1, 5, MyError, ""),
    (2, 71, MyError, "two, 3"),
    (3, 4, KeyError, "in the helper"),
    (4, 9, AssertionError, "too far"),
    (5, 6, ZeroDivisionError, "division by zero"),
    (6, 7, ZeroDivisionError, "division by zero"),
    (7, 8, ZeroDivisionError, "division by zero"),
    (8, 4, MyError, "of the module"),
    (9, 0, MyError, "x is ..."),
    (10, 1, Odd, "1, 2"),
    (11, 6, IndexError, "tuple index out of range: index 3 of a tuple or array with 3 items"),
]


@TARGETS
@pytest.mark.parametrize(("x", "thread", "error", "text"), WAYS)
def test_the_first_thread_reports(target, x, thread, error, text):
    with pytest.raises(LowerError) as raised:
        run(many_ways, x, np.zeros(96), grid=(3,), block=(32,), target=target, checked=5)
    block, lane = divmod(thread, 32)
    said = str(raised.value)
    assert f"block ({block}, 0, 0)" in said
    assert text in said.replace("index |", "index 3").replace("with |", "with 3")  # numbers stand apart
    if target:
        assert f"thread ({lane}, 0, 0)" in said


@pytest.mark.parametrize(("x", "thread", "error", "text"), WAYS)
def test_a_launch_raises(x, thread, error, text):
    out = np.zeros(96)
    with pytest.raises(error) as raised:
        DEBUG(many_ways)[3, 32](x, out)
    block, lane = divmod(thread, 32)
    function = {3: "helper", 9: "fails"}.get(x, "many_ways")
    said = raised.value.args[0]
    assert said.startswith(f"In function '{function}', file {__file__}, line ")
    assert said.endswith(f"tid=[{lane}, 0, 0] ctaid=[{block}, 0, 0]" + (f": {text}" if text else ""))
    assert out[thread] in (0, 1, x + thread) and type(raised.value) is error
    failure = raised.value.__cause__.failure
    assert failure.thread == (lane, 0, 0) and failure.block == (block, 0, 0) and failure.line > 30


@pytest.mark.parametrize("x", [0, 20])
@TARGETS
def test_without_a_failure_nothing_changes(target, x):
    out, plain = np.zeros(96), np.zeros(96)
    run(many_ways, x, out, grid=(3,), block=(32,), target=target, checked=5)
    DEBUG(many_ways)[3, 32](x, plain)
    np.testing.assert_array_equal(out, np.arange(96) + x + 100)
    np.testing.assert_array_equal(plain, out)


def test_the_first_block_reports_though_others_fail_earlier():
    def late(n, out):
        v = 0.0
        if cuda.blockIdx.x == 0:
            for i in range(n):
                v = v * 0.5 + i
        out[cuda.grid(1)] = v
        raise MyError("here")

    kernel, out = DEBUG(late), np.zeros(64 * 32)
    for _ in range(3):  # what blocks take is learnt, then they are spread over threads
        with pytest.raises(MyError) as raised:
            kernel[64, 32](20000, out)
        assert raised.value.__cause__.failure.block == (0, 0, 0)


def test_other_threads_go_on():
    out = np.zeros(96)
    with pytest.raises(MyError):
        DEBUG(many_ways)[3, 32](2, out)
    np.testing.assert_array_equal(out, np.where(np.arange(96) > 70, 1, np.arange(96) + 102))


def test_without_debug_a_thread_that_raises_ends():
    out = np.zeros(96)
    cuda.jit(many_ways)[3, 32](2, out)
    np.testing.assert_array_equal(out, np.where(np.arange(96) > 70, 1, np.arange(96) + 102))
    out[:] = 0
    cuda.jit(many_ways)[3, 32](3, out)  # in a function that it calls
    np.testing.assert_array_equal(out, np.where(np.arange(96) == 4, 1, np.arange(96) + 103))
    out[:] = 0
    cuda.jit(many_ways)[3, 32](9, out)
    np.testing.assert_array_equal(out, np.arange(96) + 9)
    cuda.jit(many_ways)[3, 32](5, out)
    assert out[6] == 100


def with_barriers(x, out):
    s = cuda.shared.array(64, np.float64)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    if s[i] < 0:
        raise ValueError("negative")
    cuda.syncthreads()
    step = 32
    while step:
        if i < step:
            s[i] += s[i + step]
        cuda.syncthreads()
        step //= 2
    out[i] = s[0]


def test_barriers_behind():
    x, out = np.arange(64.0), np.zeros(64)
    DEBUG(with_barriers)[1, 64](x, out)
    assert (out == x.sum()).all()
    x[40] = -1
    with pytest.raises(ValueError, match=r"tid=\[40, 0, 0\] ctaid=\[0, 0, 0\]: negative"):
        DEBUG(with_barriers)[1, 64](x, out)


def both_sides(out, i):
    if i > 5:
        raise ValueError("one")
    else:
        raise KeyError("other")
    return 1


def unrolled(x, out):
    i = cuda.threadIdx.x
    for k in (1, 2, 3):
        if k == 2 and x == 1:
            raise MyError("unrolled")
        out[i] = k
    if x == 2:
        out[i] = both_sides(out, i)
    while x == 3:
        raise MyError("while")
    if x == 4:
        return
    raise MyError("end")


@TARGETS
@pytest.mark.parametrize(
    ("x", "error", "text"),
    [(1, MyError, "unrolled"), (2, KeyError, "other"), (3, MyError, "while"), (4, None, ""), (5, MyError, "end")],
)
def test_ways_that_never_go_on(target, x, error, text):
    out, made = np.zeros(4), np.zeros(4)
    if error is None:
        run(unrolled, x, made, block=(4,), target=target, checked=5)
        DEBUG(unrolled)[1, 4](x, out)
        assert (out == 3).all() and (made == 3).all()
        return
    with pytest.raises(LowerError, match=text):
        run(unrolled, x, made, block=(4,), target=target, checked=5)
    with pytest.raises(error, match=text):
        DEBUG(unrolled)[1, 4](x, out)


# ---- indices -------------------------------------------------------------------------------------------


def indices(way, x, y, out):
    i = cuda.grid(1)
    if way == 0:
        out[i] = x[i + 1]
    if way == 1:
        out[i] = x[-1 - i]
    if way == 2:
        y[i, i - 8] = 2.0
    if way == 3:
        cuda.atomic.add(y, (1, i), 1.0)
    if way == 4:
        out[i] = y[i][0]
    if way == 5:
        s = cuda.shared.array(4, np.float32)
        s[i] = 1


@pytest.mark.parametrize(
    ("way", "thread", "text"),
    [(0, 9, "index 10 is out of bounds for axis 0 with size 10"), (1, 10, "index -11 is out of bounds for axis 0"),
     (2, 3, "index 3 is out of bounds for axis 0 with size 3"), (3, 5, "index 5 is out of bounds for axis 1 with size"),
     (4, 3, "index 3 is out of bounds for axis 0"), (5, 4, "index 4 is out of bounds for axis 0 with size 4")],
)  # fmt: skip
def test_indices_out_of_bounds(way, thread, text):
    x, y, out = np.arange(10.0), np.zeros((3, 5)), np.zeros(12)
    for target in (0, 90):
        with pytest.raises(LowerError, match="line"):
            run(indices, way, x, y, out, block=(12,), target=target, checked=2)
    for jit in (BOUNDS, cuda.jit(debug=True, opt=False, boundscheck=True)):
        with pytest.raises(IndexError) as raised:
            jit(indices)[1, 12](way, x, y, out)
        assert f"tid=[{thread}, 0, 0]" in str(raised.value) and text in str(raised.value)
    assert (y[:, :3] == 0).all() or way != 2


def test_indices_within_bounds():
    out, y = np.zeros(5), np.zeros((3, 5))

    @BOUNDS
    def k(x, y, out):
        i = cuda.grid(1)
        out[i] = x[i] + x[-1 - i]
        y[1:, -1 - i] = i
        y[0, 1:][i % 4] = 7

    k[1, 5](np.arange(5.0), y, out)
    assert (out == 4).all() and (y[1] == [4, 3, 2, 1, 0]).all() and (y[0, 1:] == 7).all()


# ---- refusals ------------------------------------------------------------------------------------------


def test_what_is_raised_is_an_exception_of_the_host():
    @DEBUG
    def k(x):
        e = x[0]
        raise e

    with pytest.raises(tessera.TileError, match="raise of what is no exception"):
        k[1, 1](np.zeros(1))


def test_fastmath_divides_by_zero():
    @cuda.jit(debug=True, opt=False, fastmath=True)
    def k(x, out):
        out[0] = 1.0 / x[0]

    out = np.zeros(1)
    k[1, 1](np.zeros(1), out)
    assert np.isinf(out[0])


def test_a_stream_is_waited_for():
    with pytest.raises(MyError):
        DEBUG(many_ways)[3, 32, cuda.stream()](2, cuda.device_array(96))
    out = cuda.to_device(np.zeros(96))
    DEBUG(many_ways)[3, 32, cuda.stream()](0, out)
    assert out.copy_to_host()[95] == 195


def test_the_code_of_a_gpu_assembles():
    import shutil
    import subprocess
    import tempfile

    text = cuda.compile_ptx(many_ways, "void(int64, float64[:])", cc=(9, 0), debug=True, opt=False)[0]
    assert text.count("atom.") >= 10
    ptxas = shutil.which("ptxas")
    if not ptxas:
        pytest.skip("no ptxas")
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(text.encode())
        file.flush()
        subprocess.run([ptxas, "-arch=sm_90a", "-o", "/dev/null", file.name], check=True)

# SPDX-License-Identifier: Apache-2.0
"""Functions that call themselves as long as the running kernel wants: as written, as a GPU gets them, on the CPU."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import random_recursion
import simt_run
from simt_run import message, run
from tessera import cuda

TARGETS = (0, 90)
LANES = 24
PROGRAMS = int(os.environ.get("TESSERA_RANDOM_RECURSION", "12"))


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def factorial(n):
    return 1.0 if n < 1 else n * factorial(n - 1)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def female(n):
    return 1 if n == 0 else n - male(female(n - 1))


def male(n):
    return 0 if n == 0 else n - female(male(n - 1))


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def steps(n, count):
    return count if n == 1 else steps(n // 2 if n % 2 == 0 else 3 * n + 1, count + 1)


def in_pairs(n):
    if n == 0:
        return 0, 1.0
    a, b = in_pairs(n - 1)
    return a + 1, b * 2


def widened(n):
    if n == 0:
        return 1
    if n == 1:
        return 0.5
    return widened(n - 1) + widened(n - 2)


def ways(n):
    """Loops around calls, and what they leave."""
    total = 0
    for first in range(1, n + 1):
        if first > 3:
            break
        if first == 2 and n % 2:
            continue
        total += ways(n - first)
    while total > 50:
        total -= ways(0) * 7
    return total if n > 0 else 1


def with_memory(n):
    own = simt_run.cuda.local.array(2, np.int64)
    own[0] = n
    own[1] = with_memory(n - 1) if n > 0 else 5
    return own[0] * 2 + own[1]


def closed(n, a):
    def inner(k):
        return a if k == 0 else inner(k - 1) + k * a

    return inner(n) if n < 2 else inner(n) + closed(n - 1, a + 1)


def outer(n):
    return 0 if n <= 0 else outer(n - 1) + middle(n, n * 7)


def middle(n, kept):
    return kept if n <= 0 else innermost(n - 1, kept) + 1


def innermost(n, kept):
    """Does not read what it hands to ``middle`` as it came."""
    return 0 if n <= 0 else innermost(n - 1, kept) + middle(n - 2, kept)


CASES = {
    "fib": (fib, lambda i: (i % 12,)),
    "factorial": (factorial, lambda i: (i,)),
    "even": (even, lambda i: (i,)),
    "female": (female, lambda i: (i % 9,)),
    "ackermann": (ackermann, lambda i: (i % 3, i % 4)),
    "power": (power, lambda i: (1.5, i)),
    "steps": (steps, lambda i: (i % 12 + 1, 0)),
    "widened": (widened, lambda i: (i % 8,)),
    "ways": (ways, lambda i: (i % 6,)),
    "closed": (closed, lambda i: (i % 4, i)),
    "outer": (outer, lambda i: (i % 8,)),
}


def kernel_of(function: Any, n_args: int) -> Any:
    """out[i] = function(x[i, 0], ..)"""
    if n_args == 1:

        def kernel(out, x):
            i = simt_run.cuda.grid(1)
            out[i] = function(x[i, 0])
    else:

        def kernel(out, x):
            i = simt_run.cuda.grid(1)
            out[i] = function(int(x[i, 0]) if function is not power else x[i, 0], int(x[i, 1]))

    return kernel


def ran(kernel: Any, out: Any, args: tuple[Any, ...], how: Any) -> None:
    if how == "cpu":
        cuda.jit(kernel)[1, LANES](out, *args)
    else:
        run(kernel, out, *args, block=(LANES,), target=how)


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
@pytest.mark.parametrize("name", CASES)
def test_what_python_gives(name: str, how: Any) -> None:
    function, arguments = CASES[name]
    rows = [arguments(i) for i in range(LANES)]
    x = np.array(rows, np.float64 if name == "power" else np.int64)
    out = np.zeros(LANES)
    ran(kernel_of(function, x.shape[1]), out, (x,), how)
    assert out.tolist() == [float(function(*row)) for row in rows]


def sort(a, low, high):
    if low >= high:
        return
    pivot, place = a[high], low
    for i in range(low, high):
        if a[i] < pivot:
            a[i], a[place] = a[place], a[i]
            place += 1
    a[high], a[place] = a[place], a[high]
    sort(a, low, place - 1)
    sort(a, place + 1, high)


def sorts(a):
    row = a[simt_run.cuda.grid(1)]
    sort(row, 0, row.size - 1)


def tree(left, right, weight, node):
    return 0.0 if node < 0 else weight[node] + tree(left, right, weight, left[node]) * tree(
        left, right, weight, right[node]
    )


def trees(out, left, right, weight):
    i = simt_run.cuda.grid(1)
    out[i] = tree(left, right, weight, i)


def halves(a):
    """Views as arguments, and as results."""
    if a.size <= 3:
        return a[: a.size]
    return halves(a[a.size // 2 :])


def last_half(out, a):
    found = halves(a[simt_run.cuda.grid(1) :])
    out[simt_run.cuda.grid(1)] = found[0] + 100 * found.size


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
def test_arrays_are_read_and_written_in_it(how: Any) -> None:
    a = np.random.default_rng(3).integers(0, 50, (LANES, 17))
    want = np.sort(a, 1)
    ran(sorts, a, (), how)
    np.testing.assert_array_equal(a, want)
    nodes = np.arange(LANES)
    left, right = (np.where(2 * nodes + k < LANES, 2 * nodes + k, -1) for k in (1, 2))
    out, weight = np.zeros(LANES), nodes * 0.5
    ran(trees, out, (left, right, weight), how)
    assert out.tolist() == [tree(left, right, weight, i) for i in nodes]
    x, out = np.arange(60), np.zeros(LANES, np.int64)
    ran(last_half, out, (x,), how)
    assert out.tolist() == [halves(x[i:])[0] + 100 * halves(x[i:]).size for i in range(LANES)]


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
def test_each_call_has_its_own_local_memory_and_tuples(how: Any) -> None:
    def kernel(out):
        i = simt_run.cuda.grid(1)
        a, b = in_pairs(i % 7)
        out[i] = with_memory(i % 5) * 1000 + a * b

    out = np.zeros(LANES)
    ran(kernel, out, (), how)
    memory = [5 + k * (k + 1) for k in range(5)]
    assert out.tolist() == [memory[i % 5] * 1000 + i % 7 * 2.0 ** (i % 7) for i in range(LANES)]


def turning(z, n):
    return z if n == 0 else turning(z * z + 0.25j, n - 1) + 1


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
def test_complex_numbers_and_narrow_ones(how: Any) -> None:
    def narrow(x, n):
        return x if n <= 0 else narrow(np.float32(x * x) + np.float32(0.5), n - np.int8(1))

    def kernel(out, x):
        i = simt_run.cuda.grid(1)
        out[i] = turning(out[i], i % 4)
        x[i] = narrow(x[i], i % 3)

    out, x = np.linspace(0, 1, LANES) * (0.3 + 0.2j), np.linspace(0, 1, LANES, dtype=np.float32)
    want = [turning(z, i % 4) for i, z in enumerate(out)]
    single = [np.float32(narrow(v, i % 3)) for i, v in enumerate(x)]
    ran(kernel, out, (x,), how)
    np.testing.assert_allclose(out, want, rtol=1e-13)
    np.testing.assert_allclose(x, single, rtol=3e-7)


# ---- random programs ---------------------------------------------------------------------------------


def random_kernel(f: Any, pairs: bool) -> Any:
    def kernel(out):
        i = simt_run.cuda.grid(1)
        found = f(i % 4, i, 3)
        out[i] = found[0] * 2000 + found[1] if pairs else found

    return kernel


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
def test_random_programs(how: Any) -> None:
    for seed in range(PROGRAMS // 6 if how == "cpu" else PROGRAMS):
        program = random_recursion.Program(seed)
        f = program.functions()["f"]
        out = np.zeros(LANES, np.int64)
        ran(random_kernel(f, program.pairs), out, (), how)
        found = [f(i % 4, i, 3) for i in range(LANES)]
        want = [v[0] * 2000 + v[1] if program.pairs else v for v in found]
        assert out.tolist() == want, f"seed {seed}\n{program.text}"


# ---- mistakes ----------------------------------------------------------------------------------------


def endless(n):
    return endless(n + 1) if n >= 0 else 0


def nowhere(n):
    if n > 0:
        return nowhere(n - 1)
    return nowhere(n + 1)


@cuda.jit
def goes_on(x):
    i = cuda.grid(1)
    if i == 3:
        x[i] = endless(x[i])
    x[i] += 1


def test_recursion_without_end_raises_and_names_the_thread() -> None:
    x = np.zeros(8, np.int64)
    with pytest.raises(RecursionError, match=r"'endless'.* tid=\[3, 0, 0\].*more than 128 calls .* inside each other"):
        goes_on[1, 8](x)
    assert x.tolist() == [1, 1, 1, 0, 1, 1, 1, 1]
    with pytest.raises(simt_run.LowerError, match="RecursionError: more than 128 calls"):
        run(lambda_of(endless), np.zeros(1, np.int64))


def lambda_of(function: Any) -> Any:
    def kernel(x):
        x[0] = function(x[0])

    return kernel


def test_a_function_that_only_calls_itself_has_no_type() -> None:
    said = message(lambda_of(nowhere), np.zeros(1, np.int64))
    assert "cannot type infer runaway recursion: 'nowhere' calls itself on every path" in said


def test_results_have_one_type() -> None:
    def grows(n):
        if n > 0:
            return n, grows(n - 1)
        return n, n

    def kernel(x):
        grows(x[0])

    assert "returns values of different types" in message(kernel, np.zeros(1, np.int64))


def test_frames_have_to_fit_a_thread() -> None:
    def hoards(n):
        t = simt_run.cuda.local.array(4000, np.float64)
        t[n] = n
        return t[n] + hoards(n - 1) if n > 0 else 0.0

    with pytest.raises(cuda.errors.LoweringError, match=r"keeps 320\d\d bytes.* 128 calls .* 524288 bytes"):
        cuda.jit(lambda_of(hoards))[1, 1](np.zeros(1, np.int64))


@pytest.mark.parametrize("how", (90, "cpu"))
def test_local_arrays_end_with_their_call(how: Any) -> None:
    def gives(n):
        t = simt_run.cuda.local.array(4, np.int32)
        t[0] = n
        return t if n <= 0 else gives(n - 1)

    def fills(t, n):
        t[0] = n
        return t if n <= 0 else fills(t, n - 1)

    def kernel(out):
        out[0] = gives(out[0])[0]

    def passed(out):
        t = simt_run.cuda.local.array(4, np.int32)
        out[0] = fills(t, out[0])[0]

    for each in (kernel, passed):
        with pytest.raises(Exception, match="returns a local array, whose memory is that of the call"):
            ran(each, np.ones(LANES, np.int64), (), how)


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
def test_recursions_that_follow_each_other_use_the_same_memory(how: Any) -> None:
    def keeps(n):
        t = simt_run.cuda.local.array(300, np.float64)
        t[n] = n
        return keeps(n - 1) + t[n] if n > 0 else 0.0

    def kernel(out):
        i = simt_run.cuda.grid(1)
        if i % 2:
            out[i] = keeps(i % 8) * 100 + keeps(i % 3)  # 6 x 128 frames of 2,400 bytes are too many
        else:
            out[i] = keeps(i % 3) - keeps(i % 8) * 100
        for _ in range(i % 2):
            out[i] += keeps(i % 2) + keeps(i % 5) * 0.5

    out = np.zeros(LANES)
    ran(kernel, out, (), how)
    total = [n * (n + 1) / 2 for n in range(9)]
    want = [total[i % 8] * 100 + total[i % 3] + total[1] + total[i % 5] * 0.5 if i % 2
            else total[i % 3] - total[i % 8] * 100 for i in range(LANES)]
    assert out.tolist() == want


@pytest.mark.parametrize("how", (*TARGETS, "cpu"))
def test_constants_that_change_on_the_way_become_arguments(how: Any) -> None:
    def kernel(out):
        i = simt_run.cuda.grid(1)
        out[i] = ackermann(2, i % 7) * 1000 + ackermann(1, i)

    out = np.zeros(LANES, np.int64)
    ran(kernel, out, (), how)
    assert out.tolist() == [ackermann(2, i % 7) * 1000 + ackermann(1, i) for i in range(LANES)]


def halved(low, high, depth):
    """Two calls in each, which the running kernel or the constant ``depth`` ends."""
    if depth <= 0 or high - low < 3:
        return (high - low) * (high + low) + depth
    middle = (low + high) // 2
    return halved(low, middle, depth - 1) + halved(middle, high, depth - 1)


def doubles(x, n):
    """Only the constant ``n`` ends it."""
    return x if n == 0 else doubles(x, n - 1) + doubles(x + 1, n - 1)


def test_two_calls_in_each_are_inlined_up_to_a_size() -> None:
    def deep(out):
        i = simt_run.cuda.grid(1)
        out[i] = halved(0, out[i], 20)

    def flat(out):
        i = simt_run.cuda.grid(1)
        out[i] = halved(0, out[i], 5)

    x = np.arange(0, 20 * LANES, 20)
    assert "recursion" in simt_run.ir(deep, x) and "recursion" not in simt_run.ir(flat, x)
    for kernel, depth in ((deep, 20), (flat, 5)):
        out = x.copy()
        ran(kernel, out, (), "cpu")
        assert out.tolist() == [halved(0, v, depth) for v in x]


def test_constants_that_end_it_too_late_are_left_to_the_kernel() -> None:
    def kernel(out):
        out[simt_run.cuda.grid(1)] = doubles(simt_run.cuda.grid(1), 17)

    assert "recursion" in simt_run.ir(kernel, np.zeros(1, np.int64))


def test_recursion_that_ends_at_compile_time_is_inlined() -> None:
    def kernel(x):
        x[0] = power(x[0], 9)

    assert "recursion" not in simt_run.ir(kernel, np.ones(1))
    x = np.full(1, 2.0)
    run(kernel, x)
    assert x[0] == 512


@simt_run.needs_ptxas
@pytest.mark.parametrize("target", [80, 90, 120])
def test_ptxas_takes_it(target: int, tmp_path: Any) -> None:
    text = simt_run.assemble(sorts, (np.zeros((2, 3), np.int64),), target, tmp_path)
    assert ".local" in text and "call" not in text

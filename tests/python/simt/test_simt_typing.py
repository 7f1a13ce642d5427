# SPDX-License-Identifier: Apache-2.0
"""Typing rules of the thread language against tests/golden/simt/typing.txt, all pairs of dtypes, and values of
operators against NumPy and plain Python."""

from __future__ import annotations

import itertools
import math

import numba_rules
import numpy as np
import pytest
from simt_run import LowerError, run


def arithmetic(x, y):
    a, b = x[0], y[0]
    print((a + b).dtype, (a - b).dtype, (a * b).dtype, (a / b).dtype, (a // b).dtype, (a % b).dtype, (a**b).dtype)


def complex_arithmetic(x, y):
    a, b = x[0], y[0]
    print((a + b).dtype, (a - b).dtype, (a * b).dtype, (a / b).dtype, (a**b).dtype)


def floor(x, y):
    print(x[0] // y[0])


def remainder(x, y):
    print(x[0] % y[0])


def bits(x, y):
    a, b = x[0], y[0]
    print((a & b).dtype, (a | b).dtype, (a ^ b).dtype, (a << b).dtype, (a >> b).dtype)


def ones(dtype: str) -> np.ndarray:
    return np.ones(1, dtype)


def test_the_table_is_what_the_rules_say() -> None:
    assert numba_rules.GOLDEN.read_text() == numba_rules.table()


def refused(kernel, a: str, b: str, text: str) -> None:
    with pytest.raises(LowerError, match=text):
        run(kernel, ones(a), ones(b))


@pytest.mark.parametrize("a", numba_rules.ALL)
def test_all_pairs(a: str) -> None:
    for line in numba_rules.GOLDEN.read_text().splitlines():
        left, right, *wanted = line.split()
        if left != a:
            continue
        is_complex = a in numba_rules.COMPLEX or right in numba_rules.COMPLEX
        found = run(complex_arithmetic if is_complex else arithmetic, ones(a), ones(right))
        kept = [w for w in wanted[:7] if w != "-"]
        assert found.replace("bool_", "bool").split() == kept and len(kept) == 7 - 2 * is_complex, (a, right)
        if is_complex:
            refused(floor, a, right, "'//'")
            refused(remainder, a, right, "'%'")
        if "-" in wanted[7:]:
            with pytest.raises(LowerError, match="have bits"):
                run(bits, ones(a), ones(right))
        else:
            assert run(bits, ones(a), ones(right)).replace("bool_", "bool").split() == wanted[7:], (a, right)


def meet(x, y, flag):
    z = x[0]
    if flag:
        z = y[0]
    print(z.dtype)


def test_paths_meet_as_numpy_promotes() -> None:
    for a, b in itertools.product(numba_rules.ALL, numba_rules.ALL):
        wanted = np.promote_types(a, b).name
        assert run(meet, ones(a), ones(b), 1).strip().replace("bool_", "bool") == wanted, (a, b)


def unary(x):
    print((-x[0]).dtype, (+x[0]).dtype, (~x[0]).dtype)


def test_one_operand() -> None:
    for dtype in ["bool", *numba_rules.INTS]:
        wide = "uint64" if dtype.startswith("u") else "int64"
        invert = "bool_" if dtype == "bool" else wide
        assert run(unary, ones(dtype)).split() == [wide, wide, invert]


def divisions(x, y, out):
    for i in range(x.size):
        out[0, i] = x[i] // y[i]
        out[1, i] = x[i] % y[i]


INTEGERS = [0, 1, -1, 7, -7, 2, -2, 3, 127, -128]


@pytest.mark.parametrize("dtype", numba_rules.INTS)
def test_integer_division(dtype: str) -> None:
    pairs = [(a, b) for a in INTEGERS for b in INTEGERS]
    x, y = (np.array(column).astype(dtype) for column in zip(*pairs, strict=True))
    if dtype == "int64":
        x[0], y[0] = -(2**63), -1
    out = np.zeros((2, x.size), "uint64" if dtype.startswith("u") else "int64")
    run(divisions, x, y, out)
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        overflows = a == -(2**63) and b == -1
        wanted = (a // b, a % b) if b and not overflows else (0, 0)
        assert (out[0, i], out[1, i]) == wanted, (a, b)


def python_divmod(a: float, b: float) -> tuple[float, float]:
    if b == 0:
        return (float(np.float64(a) / np.float64(b)) if True else 0.0), math.nan
    return a // b, a % b


def test_float_division() -> None:
    values = [0.0, -0.0, 1.5, -1.5, 7.25, -7.25, 1e300, -3.0, 0.1]
    pairs = [(a, b) for a in values for b in values]
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    out = np.zeros((2, x.size))
    run(divisions, x, y, out)
    with np.errstate(all="ignore"):
        for i, (a, b) in enumerate(pairs):
            whole, rest = python_divmod(a, b)
            np.testing.assert_array_equal(out[0, i], whole, err_msg=f"{a} // {b}")
            assert np.signbit(out[0, i]) == np.signbit(whole) or math.isnan(whole)
            if b:
                np.testing.assert_array_equal(out[1, i], rest, err_msg=f"{a} % {b}")
                assert np.signbit(out[1, i]) == np.signbit(rest), (a, b)
            else:
                assert math.isnan(out[1, i])


def powers(x, n, out):
    for i in range(x.size):
        out[i] = x[i] ** n[i]


def test_integer_powers() -> None:
    pairs = [(a, b) for a in (0, 1, -1, 2, -3, 10) for b in (0, 1, 2, 5, 40, -1, -2)]
    x, n = (np.array(column) for column in zip(*pairs, strict=True))
    out = np.zeros(x.size, "i8")
    run(powers, x, n, out)
    for i, (a, b) in enumerate(pairs):
        wrapped = (pow(a, b) + 2**63) % 2**64 - 2**63 if b >= 0 else None
        inverse = -(2**63) if a == 0 else int(pow(a, b))
        assert out[i] == (inverse if wrapped is None else wrapped), (a, b)


def shifts(x, n, out):
    for i in range(x.size):
        out[0, i] = x[i] << n[i]
        out[1, i] = x[i] >> n[i]


def test_shifts_beyond_the_width() -> None:
    pairs = [(a, b) for a in (1, -1, 5, -(2**40)) for b in (0, 1, 31, 63, 64, 100)]
    x, n = (np.array(column) for column in zip(*pairs, strict=True))
    out = np.zeros((2, x.size), "i8")
    run(shifts, x, n, out)
    for i, (a, b) in enumerate(pairs):
        left = ((a << b) + 2**63) % 2**64 - 2**63 if b < 64 else 0
        assert (out[0, i], out[1, i]) == (left, a >> b), (a, b)


def compares(x, y, out):
    out[0] = (x[0] < y[0]) + 2 * (x[0] <= y[0]) + 4 * (x[0] == y[0]) + 8 * (x[0] != y[0]) + 16 * (x[0] >= y[0])
    out[1] = x[0] > y[0]


@pytest.mark.parametrize(("a", "b"), [("int64", "uint64"), ("uint64", "int64"), ("int8", "uint32"), ("uint8", "int8")])
def test_integers_compare_exactly(a: str, b: str) -> None:
    for p, q in itertools.product((0, 1, -1, 100, 2**63 - 1), repeat=2):
        x, y, out = np.array([p]).astype(a), np.array([q]).astype(b), np.zeros(2, "i8")
        run(compares, x, y, out)
        m, n = int(x[0]), int(y[0])
        assert list(out) == [(m < n) + 2 * (m <= n) + 4 * (m == n) + 8 * (m != n) + 16 * (m >= n), m > n], (m, n)


def extremes(x, y, out):
    out[0] = max(x[0], y[0])
    out[1] = min(x[0], y[0])


def test_a_nan_stays_where_it_stands_first() -> None:
    for a, b in itertools.product((math.nan, 1.0, -2.0), repeat=2):
        out = np.zeros(2)
        run(extremes, np.array([a]), np.array([b]), out)
        np.testing.assert_array_equal(out, [max(a, b), min(a, b)])

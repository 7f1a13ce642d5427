# SPDX-License-Identifier: Apache-2.0
"""Values that kernels of threads compute as Python or numba does: rounding, bits, identity, members of enumerations,
what print takes."""

from __future__ import annotations

import enum
import math

import numpy as np
import pytest
from simt_run import cuda, ir, message, run

TARGETS = pytest.mark.parametrize("target", [0, 90])


def rounded(x, n, out):
    for i in range(x.size):
        for j in range(n.size):
            out[i, j] = round(x[i], n[j])


def rounded_by(x: float, n: int) -> float:
    """numba's algorithm, on float64."""
    if n > 323 or not math.isfinite(x):
        return x
    if n < -308:
        return 0.0 * x
    if n >= 0:
        p, q = 10.0 ** min(n, 22), 10.0 ** min(max(n - 22, 0), 286)
        with np.errstate(over="ignore"):
            y = np.float64(x) * p * q
        return float(np.rint(y) / q / p) if math.isfinite(y) else x
    return float(np.rint(x / 10.0**-n) * 10.0**-n)


@TARGETS
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_round_to_digits_of_run_time(dtype: str, target: int) -> None:
    rng = np.random.default_rng(3)
    x = np.array([*rng.standard_normal(6) * 1000, 0.5425, 0.3425, 2.5, -0.5, 1e300, 5e-320, np.inf, np.nan, -0.0])
    with np.errstate(over="ignore"):
        x = x.astype(dtype)
    n = np.array([-400, -308, -3, -1, 0, 1, 2, 3, 5, 13, 22, 23, 40, 300, 400])
    out = np.zeros((x.size, n.size), dtype)
    run(rounded, x, n, out, target=target)
    wanted = np.array([[rounded_by(float(v), int(d)) for d in n] for v in x]).astype(dtype)
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(wanted))


def constants(out):
    out[0] = round(1234.5678, -2)
    out[1] = round(1234.5678, 2)
    out[2] = round(2.5)
    out[3] = round(7, 1)


def test_round_of_constants() -> None:
    out = np.zeros(4)
    run(constants, out)
    np.testing.assert_array_equal(out, [1200, 1234.57, 2, 7])


def counts(x, out):
    for i in range(x.size):
        out[i] = x[i].bit_count()


@TARGETS
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_bit_count_is_that_of_the_absolute_value(dtype: str, target: int) -> None:
    info = np.iinfo(dtype)
    x = np.array([0, 1, 3, 100, info.max, info.min, info.max // 3, max(-7, info.min)], dtype)
    out = np.zeros(x.size, "i4")
    run(counts, x, out, target=target)
    assert out.tolist() == [abs(int(v)).bit_count() for v in x]


class Color(enum.Enum):
    red = 1
    green = 2


class Status(enum.IntEnum):
    ok = 200
    missing = 404


def identity(flags, n, three, out):
    out[0] = flags[0] is True
    out[1] = flags[1] is True
    out[2] = flags[0] is not False
    out[3] = n is three
    out[4] = n is flags[0]
    out[5] = n is not n
    out[6] = Color.red is Color.red
    out[7] = Color.red is Color.green


def test_numbers_are_each_other_where_they_are_equal_and_of_one_type() -> None:
    out = np.zeros(8, "?")
    run(identity, np.array([True, False]), 3, 3, out)
    assert out.tolist() == [True, False, True, True, False, False, True, False]


def members(x, out):
    out[0] = Color["red"] == Color["green"]
    out[1] = Color["red"] == Color.red
    out[2] = np.int16(Status.missing)
    out[3] = x - Status["ok"]
    out[4] = x > np.float32(Status.missing)
    s = cuda.shared.array((Status.ok, 2), np.float32)
    out[5] = s.shape[0]


def chosen(color, out):
    if color == Color.green:
        out[0] = 1
    elif Color.red != color:
        out[0] = 2
    else:
        out[0] = 3


def test_an_argument_that_was_a_member_is_compared_by_value() -> None:
    for color, wanted in ((1, 3), (2, 1), (7, 2)):
        out = np.zeros(1)
        run(chosen, color, out)
        assert out[0] == wanted


def test_members_of_enumerations() -> None:
    out = np.zeros(6)
    run(members, 500, out)
    assert out.tolist() == [0, 1, 404, 300, 1, 200]


def axes(n):
    print(cuda.threadIdx, n, cuda.blockDim, cuda.gridDim)


def test_print_of_a_position() -> None:
    printed = run(axes, 5, grid=(2,), block=(1, 2, 2)).splitlines()
    wanted = [f"(0, {y}, {z}) 5 (1, 2, 2) (2, 1, 1)" for _ in range(2) for z in range(2) for y in range(2)]
    assert sorted(printed) == sorted(wanted)


def position_in_a_variable(out):
    t, f = cuda.threadIdx, cuda.grid
    out[f(1)] = t.x * 10 + t.y


def test_a_position_in_a_variable() -> None:
    out = np.zeros(4)
    run(position_in_a_variable, out, block=(4,))
    np.testing.assert_array_equal(out, [0, 10, 20, 30])


def many(x):
    print(
        x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15], x[16],
        x[17], x[18], x[19], "half", x[20], x[21], x[22], x[23], x[24], x[25], x[26], x[27], x[28], x[29], x[30], x[31],
        x[32], x[33] > 0,
    )  # fmt: skip


@TARGETS
def test_print_of_more_values_than_one_printf_takes(target: int) -> None:
    words = [str(i) for i in range(20)] + ["half"] + [str(i) for i in range(20, 33)] + ["True"]
    assert run(many, np.arange(34), target=target) == " ".join(words) + "\n"
    assert ir(many, np.arange(34)).count("printf") == 4  # two of each half, one half for each text of the bool


def test_refusals() -> None:
    def digits(x):
        x[0] = round(x[0], 1.5)

    def of_an_integer(x, n):
        x[0] = round(n, -1)

    def no_member(x):
        x[0] = Status["gone"]

    x = np.zeros(2)
    assert "digits as an integer" in message(digits, x)
    assert "known and not negative" in message(of_an_integer, x, 3)
    assert "'Status' has no attribute 'gone'" in message(no_member, x)


class Level(enum.IntEnum):
    LOW = 3
    HIGH = 7


@pytest.mark.parametrize("target", [0, 90])
def test_members_of_an_enumeration_that_meet_become_numbers(target):
    def kernel(x):
        i = cuda.grid(1)
        level = Level.LOW if i % 2 else Level.HIGH
        other = Level.LOW
        if i == 3:
            other = Level.HIGH
        x[i] = level * 10 + other + (100 if level == Level.LOW else 0)

    x = np.zeros(4, np.int64)
    run(kernel, x, block=(4,), target=target)
    assert x.tolist() == [73, 133, 73, 137]


@pytest.mark.parametrize("target", [0, 90])
def test_a_list_that_is_written_out_is_a_tuple(target):
    def kernel(x):
        i = cuda.grid(1)
        s = cuda.shared.array(shape=[4, 2], dtype=np.int64)
        s[i, 1] = i
        cuda.syncthreads()
        for k in [1, 2]:
            x[i] += s[3 - i, 1] * k
        if i in [1, 2]:
            x[i] += 100

    x = np.zeros(4, np.int64)
    run(kernel, x, block=(4,), target=target)
    assert x.tolist() == [9, 106, 103, 0]


class Place(enum.Enum):
    here = 1
    there = 2


def either(x, pair, other, out):
    place = Place.here if x[0] > 0 else Place.there
    out[0] = place == Place.here
    for i in range(2):
        if x[i] < 0:
            place = Place.there
    out[1] = place == Place.there
    out[2] = pair is other
    out[3] = pair is not other
    out[4] = pair is (other[0], 2.0)
    out[5] = pair is (1, 2, 3)


@TARGETS
def test_members_from_two_branches_and_tuples_are_values(target: int) -> None:
    out = np.zeros(6, "?")
    run(either, np.array([1, -1]), (1, 2), (1, 2), out, target=target)
    assert out.tolist() == [True, True, True, False, False, False]
    run(either, np.array([-1, 1]), (1, 2), (1, 3), out, target=target)
    assert out.tolist() == [False, True, False, True, False, False]

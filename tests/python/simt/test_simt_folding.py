# SPDX-License-Identifier: Apache-2.0
"""Expressions of numbers have the value that Python gives them, before they become numbers of 64 bits."""

import numpy as np
import pytest
from tessera import cuda


def test_expressions_of_numbers_are_pythons():
    @cuda.jit
    def kernel(x):
        x[0] = 10**19
        x[1] = 2**-1
        x[2] = 2**63
        x[3] = (1 << 40) - -(3 * 5) / 2
        x[4] = 7 // 2 + 7 % -4

    x = np.zeros(5)
    kernel[1, 1](x)
    assert x.tolist() == [1e19, 0.5, 2.0**63, (1 << 40) + 7.5, 7 // 2 + 7 % -4]


def test_a_number_that_does_not_fit_is_refused():
    @cuda.jit
    def kernel(x):
        x[0] = 2**64

    with pytest.raises(Exception, match="fits neither int64 nor uint64"):
        kernel[1, 1](np.zeros(1))


def test_what_python_cannot_fold_is_left_to_the_kernel():
    @cuda.jit
    def kernel(x):
        x[0] = 0 // 0

    x = np.ones(1)
    kernel[1, 1](x)
    assert x[0] == 0


@pytest.mark.parametrize("block", [1025, (32, 33), (1 << 16, 1 << 16), 0])
def test_a_block_of_too_many_threads_is_named(block):
    @cuda.jit
    def kernel(x):
        x[0] = 1

    with pytest.raises(Exception, match="at most 1024 in all and 64 along z, use more blocks|1 to 1024, at the launch"):
        kernel[1, block](np.zeros(1))


def test_the_least_integers_keep_their_sign():
    @cuda.jit
    def kernel(x, y):
        least = -9223372036854775808
        x[0] = least
        x[1] = -(2**63)
        x[2] = -(1 << 63)
        x[3] = max(y, -(2**63)) - 1
        x[4] = 2**70 + 0.5

    x = np.zeros(5)
    kernel[1, 1](x, np.int64(-5))
    assert x.tolist() == [-(2.0**63)] * 3 + [-6, 2.0**70]


@pytest.mark.parametrize("bits", [65, 70])
def test_greater_powers_do_not_become_zero(bits):
    space = {}
    exec(f"def kernel(x):\n    x[0] = 2**{bits}\n", space)
    with pytest.raises(Exception, match="fits neither int64 nor uint64"):
        cuda.jit(space["kernel"])[1, 1](np.zeros(1))


def test_parameters_by_keyword_only_are_launched_with():
    @cuda.jit
    def kernel(x, *, z=3, w=1):
        x[0] = z + w

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 4
    kernel[1, 1](x, w=10, z=7)
    assert x[0] == 17
    with pytest.raises(TypeError, match="by position, got 2"):
        kernel[1, 1](x, 5)


def sometimes(a):
    if a > 2:
        return 1.0


def searched(a):
    while True:
        a += 1
        if a > 5:
            return a


def test_a_path_without_a_value_is_refused_where_the_value_is_used():
    @cuda.jit
    def used(x):
        x[0] = sometimes(x[1])

    @cuda.jit
    def unused(x):
        sometimes(x[1])
        x[0] = searched(x[1])

    with pytest.raises(Exception, match="end every path with 'return' and a value"):
        used[1, 1](np.zeros(2))
    x = np.zeros(2)
    unused[1, 1](x)
    assert x[0] == 6


def test_a_list_is_no_index():
    @cuda.jit
    def kernel(x):
        x[[1, 2]] = 7

    with pytest.raises(Exception, match="a list as an index picks rows"):
        kernel[1, 1](np.zeros((4, 4)))


def test_a_format_of_run_time_is_refused():
    @cuda.jit
    def kernel(x):
        print(f"{x[0]:.2f}")

    with pytest.raises(Exception, match="'.2f'"):
        kernel[1, 1](np.zeros(1))

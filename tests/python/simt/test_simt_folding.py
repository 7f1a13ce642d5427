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

    with pytest.raises(Exception, match="at most 1024 threads, use more blocks|1 to 1024, at the launch"):
        kernel[1, block](np.zeros(1))

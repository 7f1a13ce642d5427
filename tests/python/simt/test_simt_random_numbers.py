# SPDX-License-Identifier: Apache-2.0
"""Random numbers drawn in kernels against xoroshiro128+ in Python's integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import simt_run

from tessera import cuda
from tessera.cuda import random as rng

MASK = (1 << 64) - 1
THREADS = 70


def rotated(x: int, k: int) -> int:
    return (x << k | x >> 64 - k) & MASK


class Oracle:
    def __init__(self, s0: int, s1: int) -> None:
        self.s0, self.s1 = int(s0), int(s1)

    def next(self) -> int:
        result, s1 = (self.s0 + self.s1) & MASK, self.s0 ^ self.s1
        self.s0, self.s1 = rotated(self.s0, 55) ^ s1 ^ (s1 << 14 & MASK), rotated(s1, 36)
        return result

    def uniform64(self) -> float:
        return (self.next() >> 11) * 2.0**-53

    def uniform32(self) -> np.float32:
        return np.float32(self.uniform64())

    def normal(self) -> float:
        u1, u2 = float(self.uniform32()), float(self.uniform32())
        return math.sqrt(-2.0 * math.log(u1)) * math.cos(2 * math.pi * u2)


def draws(states, bits, f8, f4, n4, n8):
    i = cuda.grid(1)
    if i < states.size:
        bits[i] = rng.xoroshiro128p_next(states, i)
        f8[i] = rng.xoroshiro128p_uniform_float64(states, i)
        f4[i] = rng.xoroshiro128p_uniform_float32(states, i)
        n4[i] = rng.xoroshiro128p_normal_float32(states, i)
        n8[i] = rng.xoroshiro128p_normal_float64(states, i)


@pytest.mark.parametrize("target", ["cpu", 90])
def test_draws(target: Any) -> None:
    states = rng.create_xoroshiro128p_states(THREADS, seed=7).copy_to_host()
    expected = [Oracle(s0, s1) for s0, s1 in states]
    out = [np.zeros(THREADS, dtype) for dtype in ("u8", "f8", "f4", "f4", "f8")]
    if target == "cpu":
        cuda.jit(draws)[1, 128](states, *out)
    else:
        simt_run.run(draws, states, *out, block=(128,), target=target)
    for made, draw in zip(out[:3], (Oracle.next, Oracle.uniform64, Oracle.uniform32), strict=True):
        np.testing.assert_array_equal(made, np.array([draw(o) for o in expected], made.dtype))
    np.testing.assert_allclose(out[3], [o.normal() for o in expected], rtol=2e-6, atol=1e-6)
    # of the float32 logarithm that numba takes, the rest is float64
    np.testing.assert_allclose(out[4], [o.normal() for o in expected], rtol=2e-6, atol=1e-7)
    np.testing.assert_array_equal(states["s0"], np.array([o.s0 for o in expected], "u8"))
    np.testing.assert_array_equal(states["s1"], np.array([o.s1 for o in expected], "u8"))


def seeded(states):
    i = cuda.grid(1)
    if i < states.size:
        rng.init_xoroshiro128p_state(states, i, 42)
        for _ in range(i):
            rng.xoroshiro128p_jump(states, i)


def test_states_seeded_in_a_kernel_are_those_of_the_host() -> None:
    states = np.zeros(4, rng.xoroshiro128p_dtype)
    cuda.jit(seeded)[1, 32](states)
    np.testing.assert_array_equal(states, rng.create_xoroshiro128p_states(4, 42).copy_to_host())

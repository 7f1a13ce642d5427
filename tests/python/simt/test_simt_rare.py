# SPDX-License-Identifier: Apache-2.0
"""Rare paths of exponentials, logarithms, exact roots and reciprocals that a GPU's code asks for once (pass rare)."""

from __future__ import annotations

import math

import numpy as np
from simt_run import cuda, run

from tessera import cuda as host

F = np.float32
SPECIAL = F([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-39, 2.0**-126, -(2.0**-101), 2.0**126, 3e38, -3e38, 88.5,
             -87.5, -104.0, -1e30, 1.0, -1.0, 0.5, 7.25])  # fmt: skip


def several(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        a, b = x[i, 0], x[i, 1]
        out[i, 0] = math.exp(a)
        e, f, root, other, inverse = math.exp(a), math.exp(b), math.sqrt(a), math.sqrt(b), F(1) / a
        out[i, 1] = f
        out[i, 2] = root
        out[i, 3] = other
        out[i, 4] = inverse
        out[i, 5] = e * f + root * other
        out[i, 6] = math.log(a) + math.exp(F(1) / b)


def test_several_rare_paths_give_the_bits_of_each() -> None:
    x = np.stack([np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)], axis=1)
    plain, fast = (np.zeros((len(x), 7), F) for _ in range(2))
    host.jit(several)[len(x), 1](x, plain)
    run(several, x, fast, grid=(len(x), 1, 1), target=90)
    np.testing.assert_array_equal(plain, fast)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(fast[:, 2], np.sqrt(x[:, 0]))
        np.testing.assert_array_equal(fast[:, 3], np.sqrt(x[:, 1]))
        np.testing.assert_array_equal(fast[:, 4], F(1) / x[:, 0])
        np.testing.assert_allclose(fast[:, 1], np.exp(x[:, 1].astype(np.float64)).astype(F), rtol=2e-7, atol=2e-45)

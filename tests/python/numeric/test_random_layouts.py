# SPDX-License-Identifier: Apache-2.0
"""In which order axes of results lie in memory: as NumPy's, which goes by all operands."""

from __future__ import annotations

import numpy as np
import pytest
import tessera.numeric as tn
from tessera import _core

COUNT = 300


def laid_out(rng, shape):
    """An array of NumPy's and ours whose axes lie in a random order, some backwards, some of one element or none."""
    axes = rng.permutation(len(shape))
    whole = np.ones([shape[d] for d in axes], "ilfd"[rng.integers(4)])
    key = tuple(slice(None, None, int(rng.choice([1, -1]))) for _ in shape)
    back = [int(i) for i in np.argsort(axes)]
    cut = tuple(slice(0, 1) if rng.integers(5) == 0 else slice(None) for _ in shape)
    first = int(rng.integers(len(shape))) if rng.integers(4) == 0 else 0
    made = [x[key].transpose(back)[cut] for x in (whole, tn.array(whole))]
    return [x[(0,) * first] if all(x.shape[:first]) else x for x in made]


def steps(x):
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


@pytest.mark.parametrize("small", [8192, 0], ids=["at once", "waiting"])
def test_axes_of_results_lie_as_numpys(small):
    rng, before = np.random.default_rng(5), _core.numeric_small(small)
    calls = (lambda m, a, b, c: m.negative(a), lambda m, a, b, c: a + b, lambda m, a, b, c: m.where(a, b, c),
             lambda m, a, b, c: m.less(b, a), lambda m, a, b, c: a * 2, lambda m, a, b, c: m.array(a))  # fmt: skip
    try:
        for _ in range(COUNT):
            shape = [int(n) for n in rng.integers(1, 4, rng.integers(1, 5))]
            operands = [laid_out(rng, shape) for _ in range(3)]
            call = calls[rng.integers(len(calls))]
            wanted, found = (call(m, *each) for m, each in zip((np, tn), zip(*operands, strict=True), strict=True))
            assert wanted.size < 2 or steps(wanted) == steps(found), [(x.shape, x.strides) for x, _ in operands]
    finally:
        _core.numeric_small(before)

# SPDX-License-Identifier: Apache-2.0
"""Arrays of a list: what holds for every one of them (alignment, strides, extents) is used where one is read."""

import numpy as np
import pytest
import tessera.tile as ct

TILE = 64


@ct.kernel
def doubled(xs, ys, TILE: ct.Constant[int]):
    for g in range(len(xs)):
        for i in range(ct.bid(0), ct.cdiv(xs[g].shape[0], TILE), ct.num_blocks(0)):
            t = ct.load(xs[g], index=(i, 0), shape=(TILE, TILE), padding_mode=ct.PaddingMode.ZERO)
            ct.store(ys[g], index=(i, 0), tile=t * 2.0)


def aligned(rows, cols, shift=0):
    """Random numbers that begin ``shift`` elements behind a multiple of 16 bytes."""
    block = np.empty(rows * cols + 8, np.float32)
    first = -block.ctypes.data % 16 // 4 + shift
    x = block[first : first + rows * cols].reshape(rows, cols)
    x[...] = np.random.default_rng(rows).random((rows, cols), np.float32)
    return x


@pytest.mark.parametrize(
    "shapes, shift, wanted",
    [
        ([(64, 64), (128, 64), (200, 64)], 0, "vector: 16 bytes"),
        ([(64, 64), (128, 64)], 1, "scalar: 4 bytes"),  # the last array begins between multiples of 16 bytes
        ([(64, 64), (130, 61)], 0, "scalar: 4 bytes"),  # its rows do
    ],
    ids=["all", "one off", "rows off"],
)
def test_loads_are_as_wide_as_every_array_allows(shapes, shift, wanted):
    xs = [aligned(*s) for s in shapes[:-1]] + [aligned(*shapes[-1], shift)]
    ys = [np.full_like(x, np.nan) for x in xs]
    ct.launch(None, (2,), doubled, (xs, ys, TILE))
    for x, y in zip(xs, ys, strict=True):
        np.testing.assert_array_equal(y, x * 2)
    report = str(doubled.report(xs, ys, TILE, grid=(2,), target="sm_90a"))
    lines = [line for line in report.splitlines() if line.split()[:1] == ["load"] and "an access" in line]
    assert any(wanted in line for line in lines), report

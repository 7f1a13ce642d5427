# SPDX-License-Identifier: Apache-2.0
"""Sums count bools."""

import numpy as np

from tessera import coop, cuda


@cuda.jit
def places(keep, out, found):
    i = cuda.grid(1)
    at, n = coop.block.exclusive_sum(keep[i], threads=128, aggregate=True)
    if keep[i]:
        out[at] = i
    of_warp = coop.warp.sum(keep[i])
    both = coop.block.sum((keep[i], not keep[i]), threads=128)
    last = coop.block.inclusive_sum(keep[i], threads=128)
    if i == 0:
        found[0], found[1], found[2] = n, of_warp, both
    if i == 127:
        found[3] = last


def test_sums_of_bools_are_counts():
    keep = np.arange(128) % 3 == 0
    out, found = np.full(128, -1), np.zeros(4, np.int64)
    places[1, 128](keep, out, found)
    cuda.synchronize()
    assert np.array_equal(out[: keep.sum()], np.flatnonzero(keep)) and (out[keep.sum() :] == -1).all()
    assert found.tolist() == [keep.sum(), keep[:32].sum(), 128, keep.sum()]

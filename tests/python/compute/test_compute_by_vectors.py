# SPDX-License-Identifier: Apache-2.0
"""Sorts by a CPU's vectors give what kernels give, which are asked for by temporary memory."""

import numpy as np
import pytest

from tessera import compute
from tessera.compute import SortOrder

RNG = np.random.default_rng(3)
DTYPES = ["u4", "i4", "f4", "u8", "i8", "f8"]
LENGTHS = [1, 2, 17, 255, 256, 257, 3000]


def keys(dtype, n):
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        some = RNG.integers(info.min, info.max, n, dtype, endpoint=True)
        return np.where(RNG.random(n) < 0.3, some % 7, some).astype(dtype)
    x = RNG.standard_normal(n).astype(dtype)
    for number in (0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf):
        x[RNG.random(n) < 0.1] = number
    return x


def both(function, given, outs):
    """What a call gives without and with temporary memory, as bytes."""
    memory = np.empty(function(**given, temp_storage=None), np.uint8)
    found = []
    for more in ({}, {"temp_storage": memory}):
        mine = {name: array.copy() if isinstance(array, np.ndarray) else array for name, array in given.items()}
        for out, source in outs.items():
            mine[out] = mine[source] if given[out] is given[source] else mine[out]
        function(**mine, **more)
        found.append([mine[out].tobytes() for out in outs])
    return found


@pytest.mark.parametrize("order", list(SortOrder))
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_keys_are_in_the_order_of_kernels(dtype, in_place, order):
    for n in LENGTHS:
        x = keys(dtype, n)
        out = x if in_place else np.zeros_like(x)
        given = {"d_in_keys": x, "d_out_keys": out, "num_items": n, "order": order}
        one, other = both(compute.radix_sort, given, {"d_out_keys": "d_in_keys"})
        assert one == other


@pytest.mark.parametrize("values", ["i4", "f8"])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("dtype", ["u4", "i4", "f4"])
def test_values_go_where_kernels_move_them(dtype, in_place, values):
    for n in LENGTHS:
        x, v = keys(dtype, n), np.arange(n).astype(values)
        outs = (x, v) if in_place else (np.zeros_like(x), np.zeros_like(v))
        given = {"d_in_keys": x, "d_in_values": v, "d_out_keys": outs[0], "d_out_values": outs[1], "num_items": n}
        for order in SortOrder:
            sources = {"d_out_keys": "d_in_keys", "d_out_values": "d_in_values"}
            one, other = both(compute.radix_sort, {**given, "order": order}, sources)
            assert one == other


@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_are_in_the_order_of_kernels(dtype):
    n = 2000
    x, v = keys(dtype, n), np.arange(n, dtype=np.int32)
    for length in (1, 5, 300):
        ends = np.unique(np.minimum(np.cumsum(RNG.integers(1, 2 * length + 1, n // length)), n + 5))
        starts = np.concatenate(([-3], ends[:-1] + (RNG.random(len(ends) - 1) < 0.3)))  # some items are in no part
        given = {"d_in_keys": x, "d_out_keys": np.zeros_like(x), "num_items": n, "num_segments": len(starts)}
        for kind in (np.int16, np.int64):
            given |= {"start_offsets_in": starts.astype(kind), "end_offsets_in": ends.astype(kind)}
            for order in SortOrder:
                one, other = both(compute.segmented_sort, {**given, "order": order}, {"d_out_keys": "d_in_keys"})
                assert one == other
        more = {"d_in_values": v, "d_out_values": np.zeros_like(v)}
        outs = {"d_out_keys": "d_in_keys", "d_out_values": "d_in_values"}
        one, other = both(compute.segmented_sort, given | more, outs)
        assert one == other


def test_what_the_function_of_the_core_does_not_take_raises():
    from tessera import _core

    x = np.arange(4, dtype=np.int32)
    for wrong in ((None, 4, -1, False), (None, 5, -1, False, x, x), (None, 4, -1, False, x[::2], x), (None, 1)):
        with pytest.raises(TypeError):
            _core.compute_sort(*wrong)

# SPDX-License-Identifier: Apache-2.0
"""Sorts and sums by a CPU's vectors give what kernels give, which are asked for by temporary memory."""

import pathlib
import zlib

import numpy as np
import pytest
from long_form import every_other, unless_short

from tessera import compute
from tessera.compute import SortOrder

DTYPES = ["u4", "i4", "f4", "u8", "i8", "f8"]
NEEDED = {"avx512f", "avx512bw", "avx512dq", "avx512vl"}
CPUINFO = pathlib.Path("/proc/cpuinfo")
needs_vectors = pytest.mark.skipif(
    not CPUINFO.exists() or not set(CPUINFO.read_text().split()) >= NEEDED,
    reason="without AVX-512 both calls run kernels",
)
LENGTHS = [1, 2, 17, 255, 256, 257, 3000]


@pytest.fixture
def rng(request):
    """A generator of each case's own, so that a case that runs alone has the same numbers."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


def keys(rng, dtype, n):
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        some = rng.integers(info.min, info.max, n, dtype, endpoint=True)
        return np.where(rng.random(n) < 0.3, some % 7, some).astype(dtype)
    x = rng.standard_normal(n).astype(dtype)
    nans = (np.nan, -np.nan) if rng.random() < 0.5 else ()  # with them bits are compared, not floats
    for number in (0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).smallest_subnormal, *nans):
        x[rng.random(n) < 0.1] = number
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


@needs_vectors
@pytest.mark.parametrize("dtype, in_place, order", every_other(DTYPES, [False, True], list(SortOrder)))
def test_keys_are_in_the_order_of_kernels(rng, dtype, in_place, order):
    for n in LENGTHS:
        x = keys(rng, dtype, n)
        out = x if in_place else np.zeros_like(x)
        given = {"d_in_keys": x, "d_out_keys": out, "num_items": n, "order": order}
        one, other = both(compute.radix_sort, given, {"d_out_keys": "d_in_keys"})
        assert one == other


@needs_vectors
@pytest.mark.parametrize("dtype, in_place, values", every_other(["u4", "i4", "f4"], [False, True], ["i4", "f8"]))
def test_values_go_where_kernels_move_them(rng, dtype, in_place, values):
    for n in LENGTHS:
        x, v = keys(rng, dtype, n), np.arange(n).astype(values)
        outs = (x, v) if in_place else (np.zeros_like(x), np.zeros_like(v))
        given = {"d_in_keys": x, "d_in_values": v, "d_out_keys": outs[0], "d_out_values": outs[1], "num_items": n}
        for order in SortOrder:
            sources = {"d_out_keys": "d_in_keys", "d_out_values": "d_in_values"}
            one, other = both(compute.radix_sort, {**given, "order": order}, sources)
            assert one == other


@pytest.mark.parametrize("kinds", [("i4", "i8"), ("i4", "f4"), ("f4", "f8"), ("f8", "f4"), ("i2", "i4")])
def test_values_become_those_of_their_result(rng, kinds):
    n = 300
    x, v = keys(rng, "i4", n), rng.integers(-1000, 1000, n).astype(kinds[0])
    out, moved = np.zeros_like(x), np.zeros(n, kinds[1])
    given = {"d_in_keys": x, "d_out_keys": out, "d_in_values": v, "d_out_values": moved, "num_items": n}
    compute.radix_sort(**given)
    np.testing.assert_array_equal(moved, v[np.argsort(x, kind="stable")].astype(kinds[1]))
    middle = np.array([0, n // 2, n], np.int32)
    offsets = {"start_offsets_in": middle[:-1], "end_offsets_in": middle[1:], "num_segments": 2}
    compute.segmented_sort(**given, **offsets)
    places = [np.argsort(x[i:j], kind="stable") + i for i, j in zip(middle, middle[1:])]
    np.testing.assert_array_equal(moved, v[np.concatenate(places)].astype(kinds[1]))


@needs_vectors
@pytest.mark.parametrize("dtype", unless_short(["u4", "f4", "i8"], ["i4", "u8", "f8"]))
def test_parts_are_in_the_order_of_kernels(rng, dtype):
    n = 2000
    x, v = keys(rng, dtype, n), np.arange(n, dtype=np.int32)
    for length in (1, 5, 300):
        ends = np.unique(np.minimum(np.cumsum(rng.integers(1, 2 * length + 1, n // length)), n + 5))
        starts = np.concatenate(([-3], ends[:-1] + (rng.random(len(ends) - 1) < 0.3)))  # some items are in no part
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


@needs_vectors
@pytest.mark.parametrize("dtype, initial, in_place", every_other(["f4", "f8"], [None, 0.1, -0.0], [False, True]))
def test_sums_have_the_bits_of_kernels(rng, dtype, initial, in_place):
    for n in (1, 31, 33, 4095, 4096, 8192, 8193, 70_001, 330_000, 4_500_000):
        x = (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 3, n)).astype(dtype)
        x[rng.random(n) < 0.1] = -0.0
        x[n - n // 9 :][rng.random(n // 9) < 0.001] = np.inf
        given = {"d_in": x, "d_out": x if in_place else np.zeros_like(x), "op": compute.OpKind.PLUS, "num_items": n,
                 "init_value": initial if initial is None else x.dtype.type(initial)}  # fmt: skip
        one, other = both(compute.inclusive_scan, given, {"d_out": "d_in"})
        assert one == other, n


@needs_vectors
def test_sums_of_small_numbers_do_not_depend_on_the_thread():
    tiny = np.full(9000, 1e-41, np.float32)  # where a thread takes such for 0
    out = np.zeros_like(tiny)
    torch = pytest.importorskip("torch")
    torch.set_flush_denormal(True)
    try:
        compute.inclusive_scan(d_in=tiny, d_out=out, op=compute.OpKind.PLUS, init_value=None, num_items=9000)
    finally:
        torch.set_flush_denormal(False)
    assert out[-1] > 8e-38


def test_what_the_function_of_the_core_does_not_take_raises():
    from tessera import _core

    x = np.arange(4, dtype=np.int32)
    for wrong in ((None, 4, -1, False), (None, 5, -1, False, x, x), (None, 4, -1, False, x[::2], x), (None, 1),
                  (None, 4, -1, False, *6 * [x])):  # fmt: skip
        with pytest.raises(TypeError):
            _core.compute_sort(*wrong)

# SPDX-License-Identifier: Apache-2.0
"""Many parts of a sequence, of all mixes of lengths, against NumPy."""

import numpy as np
import pytest
from compute_as_gpu import interpret

from tessera import compute
from tessera.compute import _segmented

N = 20_000
MIXES = ("none", "empty", "one", "all of one item", "few long", "many short", "powers", "one huge, many empty", "gaps")


@pytest.fixture
def rng(request):
    return np.random.default_rng(sum(map(ord, request.node.name)))


def cuts_of(rng, mix):
    """Where parts begin and end, side by side or with gaps."""
    if mix == "gaps":
        cuts = np.sort(rng.integers(0, N, 601))
        return cuts[:-1:3], cuts[1::3]
    lengths = {
        "none": [], "empty": [0] * 9, "one": [N], "all of one item": [1] * N, "few long": [6000, 1, 9000, 0, 5000],
        "many short": rng.integers(0, 5, 7000), "powers": [2**k for k in range(14)],
        "one huge, many empty": [0] * 3000 + [N - 5] + [0] * 3000,
    }[mix]  # fmt: skip
    cuts = np.minimum(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), N)
    return cuts[:-1], cuts[1:]


def given(starts, ends):
    return {"num_segments": len(starts), "start_offsets_in": starts, "end_offsets_in": ends}


@pytest.mark.parametrize("mix", MIXES)
def test_reductions(rng, mix):
    x, (starts, ends) = rng.integers(0, 99, N), cuts_of(rng, mix)
    out = np.full(len(starts), -7)
    reduce = {"d_in": x, "d_out": out, "h_init": np.int64(5), **given(starts, ends)}
    storage = np.zeros(compute.segmented_reduce(**reduce, op=max, temp_storage=None), np.uint8)
    compute.segmented_reduce(**reduce, op=lambda a, b: a + b, temp_storage=storage)
    assert out.tolist() == [x[a:b].sum() + 5 for a, b in zip(starts, ends)]
    compute.segmented_reduce(**reduce, op=lambda a, b: b)
    assert out.tolist() == [x[b - 1] if a < b else 5 for a, b in zip(starts, ends)]


@pytest.mark.parametrize("kind", (np.int8, np.float64, np.complex128))
def test_reductions_stay_in_the_memory_that_they_asked_for(rng, kind):
    x, (starts, ends) = rng.integers(0, 9, N).astype(kind), cuts_of(rng, "many short")
    out = np.zeros(len(starts), kind)
    reduce = {"d_in": x, "d_out": out, "h_init": kind(0), "op": lambda a, b: a + b, **given(starts, ends)}
    nbytes = compute.segmented_reduce(**reduce, temp_storage=None)
    memory = np.full(nbytes + 4096, 7, np.uint8)
    compute.segmented_reduce(**reduce, temp_storage=memory[:nbytes])
    assert out.tolist() == [x[a:b].sum(dtype=kind) for a, b in zip(starts, ends)] and (memory[nbytes:] == 7).all()


def test_parts_that_overlap_and_end_before_they_begin(rng):
    x, starts = rng.integers(0, 9, N).astype(np.int32), rng.integers(0, N, 300)
    ends = np.minimum(starts + rng.integers(-3, 900, 300), N)
    out = np.zeros(300, np.int64)
    compute.segmented_reduce(d_in=x, d_out=out, op=compute.OpKind.PLUS, h_init=np.int64(0), **given(starts, ends))
    assert out.tolist() == [x[a:b].sum() for a, b in zip(starts, ends)]


@pytest.mark.parametrize("kind", (np.int64, np.int32, np.uint64))
@pytest.mark.parametrize("on_gpu", (False, True))
def test_parts_of_items_that_are_not_there(rng, monkeypatch, kind, on_gpu):
    """They begin before the first item, or end behind the last, or before they begin: what is there counts."""
    n = 3000
    whole, low, high = rng.integers(1, 9, n + 200), 0 if kind == np.uint64 else -(2**31), np.iinfo(kind).max
    x = whole[100:-100]
    starts = np.array([low, 5, 0, n - 2, n + 1, 7, high, 5, 2], np.int64 if kind != np.uint64 else kind).astype(kind)
    ends = np.array([3, high, n + 50, n + 9, n + 5, 7, low, 2, 2000], starts.dtype).astype(kind)
    bounds = [(min(max(int(a), 0), n), min(max(int(b), 0), n)) for a, b in zip(starts, ends)]
    out, short, want = np.full(9, -7), np.full(9, -7), [int(x[a:b].sum()) + 1 for a, b in bounds]
    if on_gpu:
        interpret(monkeypatch, 7)
        monkeypatch.setattr(_segmented, "SPANS", 256)
    reduce = {"d_in": x, "op": compute.OpKind.PLUS, "h_init": np.int64(1), **given(starts, ends)}
    compute.segmented_reduce(d_out=out, **reduce)
    compute.segmented_reduce(d_out=short, max_segment_size=9, **reduce)
    assert out.tolist() == want and short.tolist() == want
    apart = np.array([2, 1, 4])  # parts of scans and sorts do not overlap
    some = {"num_items": n, **given(starts[apart], np.minimum(ends[apart], kind(high)))}
    if kind != np.uint64:
        some["start_offsets_in"][0] = -5
    some["end_offsets_in"][:2] = 4, high
    scanned, key = np.full(n, -7), np.zeros(n, np.int64)
    compute.segmented_inclusive_scan(d_in=x, d_out=scanned, op=compute.OpKind.PLUS, **some)
    assert np.array_equal(scanned, [*np.cumsum(x[:4]), -7, *np.cumsum(x[5:])])
    compute.segmented_sort(d_in_keys=x, d_out_keys=key, **some)
    assert np.array_equal(key, [*np.sort(x[:4]), x[4], *np.sort(x[5:])])


@pytest.mark.parametrize("mix", MIXES)
def test_scans(rng, mix):
    x, (starts, ends) = rng.integers(0, 9, N), cuts_of(rng, mix)
    out, want, before = np.full(N, -7), np.full(N, -7), np.full(N, -7)
    for a, b in zip(starts, ends):
        want[a:b], before[a:b] = np.cumsum(x[a:b]), np.cumsum(x[a:b]) - x[a:b] + 3
    scan = {"d_in": x, "d_out": out, "op": lambda a, b: a + b, "num_items": N, **given(starts, ends)}
    compute.segmented_inclusive_scan(**scan)
    assert np.array_equal(out, want)
    storage = np.zeros(compute.segmented_exclusive_scan(**scan, init_value=np.int64(3), temp_storage=None), np.uint8)
    compute.segmented_exclusive_scan(**scan, init_value=np.int64(3), temp_storage=storage)
    assert np.array_equal(out, before)
    with pytest.raises(ValueError, match="temp_storage has"):
        compute.segmented_exclusive_scan(**scan, init_value=np.int64(3), temp_storage=storage[:-256])


@pytest.mark.parametrize("mix", MIXES)
def test_sorts_and_the_greatest_few(rng, mix):
    x, (starts, ends) = rng.integers(-50, 50, N).astype(np.int16), cuts_of(rng, mix)
    out, places, want = np.zeros(N, np.int16), np.zeros(N, np.int64), np.arange(N)
    for a, b in zip(starts, ends):
        want[a:b] = a + np.argsort(-x[a:b], kind="stable")
    sort = {"d_in_keys": x, "d_in_values": np.arange(N), "num_items": N, **given(starts, ends)}
    descending = compute.SortOrder.DESCENDING
    compute.segmented_sort(**sort, d_out_keys=out, d_out_values=places, order=descending)
    assert np.array_equal(places, want) and np.array_equal(out, x[want])
    k = 3
    few, at = np.full(k * len(starts), -99, np.int16), np.full(k * len(starts), -99)
    greatest = {**sort, "d_out_keys": few, "d_out_values": at, "k": k}
    storage = np.zeros(compute.segmented_top_k(**greatest, temp_storage=None), np.uint8)
    compute.segmented_top_k(**greatest, temp_storage=storage)
    rows = [np.append(want[a : min(a + k, b)], [-99] * k)[:k] for a, b in zip(starts, ends)]
    assert at.tolist() == [int(i) for row in rows for i in row]
    assert np.array_equal(few[at >= 0], x[at[at >= 0]]) and (few[at < 0] == -99).all()
    for k_there in (2, 0, 1000):  # read when it runs; no more than the outputs have room for
        at[:] = few[:] = -99
        compute.segmented_top_k(**{**greatest, "k": np.array([k_there])})
        took = min(k_there, k)
        rows = [np.append(want[a : min(a + took, b)], [-99] * took)[:took] for a, b in zip(starts, ends)]
        there = [int(i) for row in rows for i in row]
        assert at.tolist() == there + [-99] * (len(at) - len(there))


def test_mistakes(rng):
    x, out = np.zeros(4, np.int32), np.zeros(4, np.int32)
    parts = given(np.zeros(2, np.int64), np.ones(2, np.int64))
    with pytest.raises(ValueError, match="num_items is 5, d_in has 4"):
        compute.segmented_inclusive_scan(d_in=x, d_out=out, op=max, num_items=5, **parts)
    with pytest.raises(ValueError, match="k \\* num_segments is 6, d_out_keys has 4"):
        compute.segmented_top_k(d_in_keys=x, d_out_keys=out, num_items=4, k=3, **parts)
    with pytest.raises(TypeError, match="d_out_keys is of int64, d_in_keys of int32"):
        compute.segmented_top_k(d_in_keys=x, d_out_keys=out.astype(np.int64), num_items=4, k=1, **parts)
    with pytest.raises(ValueError, match="num_segments is 3, start_offsets_in has 2"):
        compute.segmented_reduce(d_in=x, d_out=out, op=max, h_init=np.int32(0), **{**parts, "num_segments": 3})

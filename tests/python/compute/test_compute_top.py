# SPDX-License-Identifier: Apache-2.0
"""The first few items of an order, and the one at a place of it, against NumPy's sorts."""

import numpy as np
import pytest
from long_form import unless_short

from tessera import compute, cuda
from tessera.compute import _engine


@pytest.fixture
def rng(request):
    return np.random.default_rng(sum(map(ord, request.node.name)))


def keys_of(rng, n, dtype):
    """Numbers of all sizes, and with many that are alike."""
    if np.dtype(dtype).kind == "f":
        return (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 9, n)).astype(dtype)
    top = 1 if dtype is np.bool_ else min(np.iinfo(dtype).max, 10 ** int(rng.integers(1, 18)))
    return rng.integers(0, top, n, endpoint=True, dtype=np.uint64).astype(dtype)


def order_of(x, largest):
    return x.size - 1 - np.argsort(x[::-1], kind="stable")[::-1] if largest else np.argsort(x, kind="stable")


@pytest.mark.parametrize("dtype", (np.int8, np.float32, np.uint64))
def test_the_first_few(rng, dtype):
    for n in (1, 300, 40_000):
        x = keys_of(rng, n, dtype)
        for k in sorted({0, 1, min(n, 32), n // 2, n}):
            largest = dtype is not np.uint64
            out, at = np.zeros(k, dtype), np.zeros(k, np.int64)
            given = {"d_in_keys": x, "d_out_keys": out, "num_items": n, "k": k, "largest": largest}
            given.update(d_in_values=compute.CountingIterator(np.int64(0)), d_out_values=at)
            want = order_of(x, largest)[:k]
            storage = np.zeros(compute.top_k(**given, temp_storage=None), np.uint8)
            compute.top_k(**given, temp_storage=storage)
            assert np.array_equal(at, want) and np.array_equal(out, x[want])
            with pytest.raises(ValueError, match="temp_storage has"):
                compute.top_k(**given, temp_storage=storage[:-256])


@pytest.mark.parametrize("dtype", (np.bool_, np.uint16, np.float64))
def test_the_one_at_a_place(rng, dtype):
    for n in (1, 7, 40_000):
        x, one = keys_of(rng, n, dtype), np.zeros(1, dtype)
        given = {"d_in": x, "d_out": one, "num_items": n}
        for place in sorted({0, n // 3, n - 1}):
            storage = np.zeros(compute.nth_element(**given, n=place, temp_storage=None), np.uint8)
            compute.nth_element(**given, n=place, temp_storage=storage)
            assert one[0] == np.sort(x)[place]
        for place in (0, n // 2, n + 5, -2):  # read when it runs
            for _ in range(3):  # and read again by a call that is made again
                one[0] = 0
                compute.nth_element(**given, n=np.array([place]))
                assert one[0] == np.sort(x)[min(max(place, 0), n - 1)]
    nothing = {**given, "num_items": np.array([0]), "n": np.array([3], np.uint8)}
    one[0] = 1
    compute.nth_element(**nothing)
    assert one[0] == 1
    with pytest.raises(TypeError, match="n is an array of 2 int64"):
        compute.nth_element(**given, n=np.zeros(2, np.int64))


@pytest.mark.parametrize("name", ("rises", "falls", "equal", "five", "most in front", "waves"))
def test_what_is_put_aside_and_dropped_again(rng, name):
    n = 100_000
    x = np.arange(n, dtype=np.uint32)
    count = compute.CountingIterator(np.int64(0))
    x = {"rises": x, "falls": x[::-1].copy(), "equal": x * 0, "five": rng.integers(0, 5, n).astype(np.uint32),
         "most in front": np.where(x < 9000, n, x), "waves": x * 7919 % 50_021}[name].astype(np.float32)  # fmt: skip
    for k in (1, 64, n // 32, n // 32 + 1, n // 16 + 1):
        out, at = np.zeros(k, np.float32), np.zeros(k, np.int64)
        compute.top_k(d_in_keys=x, d_out_keys=out, d_in_values=count, d_out_values=at, num_items=n, k=k)
        want = order_of(x, True)[:k]
        assert np.array_equal(at, want) and np.array_equal(out, x[want])


def test_memory_does_not_grow_with_cores(monkeypatch):
    """Nothing is put aside where a core would drop little of what it reads."""
    monkeypatch.setattr(_engine, "_cores", lambda: 64)
    n = 1 << 21
    x = np.zeros(n, np.float32)
    need = {k: compute.top_k(d_in_keys=x, d_out_keys=np.empty(k, np.float32), num_items=n, k=k, temp_storage=None)
            for k in (1, 2048, 2049, 65_536)}  # fmt: skip
    counts, aside = 64 * (2048 + 2) * 8, 64 * (2 * 2048 + 2112) * 12
    assert need[1] < counts + 64 * 2200 * 12 and aside < need[2048] < counts + aside + (1 << 19)
    assert need[2049] < counts + (1 << 19) and need[65_536] < counts + (1 << 22)


def test_nan_and_zeros():
    x = np.array([0.0, np.nan, -0.0, -np.inf, np.inf, -np.nan], np.float32)
    at = np.zeros(6, np.int64)
    compute.top_k(
        d_in_keys=x, d_out_keys=np.zeros(6, np.float32), d_in_values=np.arange(6), d_out_values=at, num_items=6, k=6
    )
    assert at.tolist() == [1, 4, 0, 2, 3, 5]


@pytest.mark.parametrize("few", (0, 5, 100, 3000))
def test_numbers_on_the_device(rng, few):
    x, count, k = rng.integers(0, 99, 9000), cuda.to_device(np.array([2000])), cuda.to_device(np.array([few]))
    out, want = np.full(2500, -7), order_of(x[:2000], True)[:few]
    compute.top_k(d_in_keys=x, d_out_keys=out, num_items=count, k=k)
    assert np.array_equal(out[: want.size], x[want]) and (out[want.size :] == -7).all()


def test_mistakes():
    x, out = np.zeros(4, np.int32), np.zeros(3, np.int32)
    with pytest.raises(ValueError, match="k is 4, d_out_keys has 3"):
        compute.top_k(d_in_keys=x, d_out_keys=out, num_items=4, k=4)
    with pytest.raises(ValueError, match="k is 3, there are 2 items"):
        compute.top_k(d_in_keys=x, d_out_keys=out, num_items=2, k=3)
    with pytest.raises(ValueError, match="n is 2, there are 2 items"):
        compute.nth_element(d_in=x, d_out=out, num_items=2, n=2)
    with pytest.raises(ValueError, match="d_in_values is given and d_out_values is not"):
        compute.top_k(d_in_keys=x, d_out_keys=out, num_items=2, k=2, d_in_values=x)
    with pytest.raises(TypeError, match="d_out is of int32, d_in of int64"):
        compute.nth_element(d_in=x.astype(np.int64), d_out=out, num_items=2, n=0)


@pytest.mark.parametrize("dtype", unless_short((np.float32, np.int64), (np.uint32, np.float64)))
def test_a_few_of_not_many_are_those_that_a_sort_puts_first(rng, dtype):
    """Which the library sorts, where the processor has vectors: zeros keep their signs, and NaN their places."""
    for n in (1, 100, 4096, 4097):
        x = keys_of(rng, n, dtype)
        if x.dtype.kind == "f" and n > 9:
            x[[0, 3, 8]] = -0.0, 0.0, np.nan
        for largest, kind in ((True, np.int32), (False, np.float32)):
            order = compute.SortOrder.DESCENDING if largest else compute.SortOrder.ASCENDING
            values, sorted_, moved = np.arange(n, dtype=kind), np.zeros_like(x), np.zeros(n, kind)
            pairs = {"d_in_keys": x, "d_in_values": values, "num_items": n}
            compute.radix_sort(**pairs, d_out_keys=sorted_, d_out_values=moved, order=order)
            for k in {0, 1, min(n, 10), n}:
                out, at = np.zeros(k, dtype), np.zeros(k, kind)
                for _ in range(3):  # and by a call that is made again
                    out[:], at[:] = 0, 0
                    compute.top_k(**pairs, d_out_keys=out, d_out_values=at, k=k, largest=largest)
                    assert out.tobytes() == sorted_[:k].tobytes() and np.array_equal(at, moved[:k])
                    compute.top_k(d_in_keys=x, d_out_keys=out, num_items=n, k=k, largest=largest)
                    assert out.tobytes() == sorted_[:k].tobytes()


@pytest.mark.parametrize("dtype", (np.float32, np.int64, np.int16))
def test_the_first_few_of_each_part(rng, dtype):
    """Parts of arrays are sorted by the library, where the processor has vectors; what is missing is not written."""
    for n, parts, k in ((1, 1, 3), (700, 90, 5), (5000, 7, 20)):
        x, cuts = keys_of(rng, n, dtype), np.sort(rng.integers(0, n + 1, parts + 1))
        values, starts, ends = np.arange(n, dtype=np.int32), cuts[:-1].copy(), cuts[1:].copy()
        for largest in (True, False):
            out, at = np.zeros((parts, k), dtype), np.zeros((parts, k), np.int32)
            for _ in range(3):
                out[:], at[:] = 7, -1
                compute.segmented_top_k(
                    d_in_keys=x, d_out_keys=out.reshape(-1), d_in_values=values, d_out_values=at.reshape(-1),
                    num_items=n, k=k, num_segments=parts, start_offsets_in=starts, end_offsets_in=ends,
                    largest=largest,
                )  # fmt: skip
                for s in range(parts):
                    part = x[starts[s] : ends[s]]
                    want = order_of(part, largest)[:k]
                    assert np.array_equal(out[s, : want.size], part[want]) and (out[s, want.size :] == 7).all()
                    assert np.array_equal(at[s, : want.size], want + starts[s]) and (at[s, want.size :] == -1).all()

# SPDX-License-Identifier: Apache-2.0
"""Radix sorts of what digits, parts and buffers make of data, against NumPy."""

import numpy as np
import pytest
from long_form import unless_short

from tessera import compute

DTYPES = unless_short(
    (np.bool_, np.int8, np.float16, np.uint32, np.float64), (np.uint8, np.int16, np.int32, np.float32, np.int64)
)
LENGTHS = (1, 255, 4097, 32_769, 70_000)  # of one part, and of two on two cores


@pytest.fixture
def rng(request):
    return np.random.default_rng(sum(map(ord, request.node.name)))


def kinds(rng, n, dtype):
    """Data of all kinds: random bits, in order, the other way round, alike, few digits, digits far apart."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    top = 1 if dtype is np.bool_ else np.iinfo(bits).max
    x = rng.integers(0, top, n, dtype=bits, endpoint=True).view(dtype)
    yield x
    yield x[np.argsort(ordered(x), kind="stable")]
    yield x[np.argsort(ordered(x), kind="stable")[::-1]]
    yield np.full(n, x[0])
    if dtype is not np.bool_:
        yield (x.view(bits) % bits.type(3)).view(dtype)
    if bits.itemsize > 2:
        yield (x.view(bits) & bits.type(0xFF | 0x0F << bits.itemsize * 8 - 8)).view(dtype)


def ordered(x):
    """Whole numbers in the order of keys: two's complement says it for whole numbers, sign and size for floats."""
    if x.dtype.kind in "bu":
        return x
    wide = x.view(f"i{x.itemsize}")
    if x.dtype.kind == "i":
        return wide
    size = wide & np.iinfo(wide.dtype).max
    return np.where(x == 0, 0, np.where(wide < 0, ~size, size))


def of_numpy(x, descending=False):
    key = ordered(x)
    return np.argsort(~key if descending else key, kind="stable")


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_bits_sort_as_numpy_sorts_them(rng, dtype):
    for n in LENGTHS:
        for x in kinds(rng, n, dtype):
            out, v, places = np.empty_like(x), np.arange(n, dtype=np.int32), np.empty(n, np.int32)
            want = of_numpy(x)
            compute.radix_sort(d_in_keys=x, d_out_keys=out, d_in_values=v, d_out_values=places, num_items=n)
            assert np.array_equal(places, want) and out.tobytes() == x[want].tobytes(), n
            compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=n, order=compute.SortOrder.DESCENDING)
            assert out.tobytes() == x[of_numpy(x, descending=True)].tobytes(), n


@pytest.mark.parametrize("bits", unless_short(((0, 0), (3, 9), (0, 25)), ((0, 1), (7, 24), (8, 16), (31, 32))))
def test_some_bits_and_the_same_arrays(rng, bits):
    """One to four places: items end in the output after any number of moves, also where it is the input."""
    begin, end = bits
    for n in (5000, 50_000):
        x, v = rng.integers(0, 2**32, n, dtype=np.uint32), np.arange(n)
        want = np.argsort(x >> np.uint32(begin) & np.uint32((1 << end - begin) - 1), kind="stable")
        keys, places = x.copy(), v.copy()
        compute.radix_sort(
            d_in_keys=keys, d_out_keys=keys, d_in_values=places, d_out_values=places, num_items=n, begin_bit=begin,
            end_bit=end,
        )  # fmt: skip
        assert np.array_equal(places, want) and np.array_equal(keys, x[want])
        keys = np.concatenate([x, x])
        compute.radix_sort(
            d_in_keys=keys[:n], d_out_keys=keys[n:], d_in_values=compute.CountingIterator(np.int64(0)),
            d_out_values=places, num_items=n, begin_bit=begin, end_bit=end,
        )  # fmt: skip
        assert np.array_equal(places, want) and np.array_equal(keys, np.concatenate([x, x[want]]))


def test_values_computed_of_the_output(rng):
    n = 40_000
    x, v = rng.integers(0, 200, n).astype(np.uint8), rng.integers(0, 9, n)
    out, twice = np.empty_like(x), v.copy()
    values = compute.TransformIterator(twice, lambda a: 2 * a, value_type=np.int64)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, d_in_values=values, d_out_values=twice, num_items=n)
    assert np.array_equal(twice, 2 * v[np.argsort(x, kind="stable")])


def test_steps_and_structs(rng):
    n = 33_000
    whole = rng.integers(-(2**40), 2**40, (n, 2))
    x, v = whole[:, 0], np.zeros(n, [("a", np.int32), ("b", np.float32)])
    v["a"], v["b"] = np.arange(n), rng.random(n)
    out, values = np.empty(n, np.int64), np.empty_like(v)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, d_in_values=v, d_out_values=values, num_items=n)
    want = np.argsort(x, kind="stable")
    assert np.array_equal(out, x[want]) and np.array_equal(values, v[want])


def test_many_items_in_memory_of_the_caller(rng):
    n = 1 << 20
    x, v = rng.standard_normal(n).astype(np.float32), np.arange(n, dtype=np.uint32)
    out, places = np.empty_like(x), np.empty_like(v)
    given = {"d_in_keys": x, "d_out_keys": out, "d_in_values": v, "d_out_values": places, "num_items": n}
    storage = np.empty(compute.radix_sort(**given, temp_storage=None), np.uint8)
    compute.radix_sort(**given, temp_storage=storage)
    want = np.argsort(x, kind="stable")
    assert np.array_equal(places, want) and np.array_equal(out, x[want])
    with pytest.raises(ValueError, match="temp_storage has"):
        compute.radix_sort(**given, temp_storage=storage[:-256])


def test_segments_of_many_items(rng):
    n = 100_000
    cuts = np.sort(rng.integers(0, n, 31))
    starts, ends = cuts[:-1], cuts[1:]
    x, out, places = rng.integers(-9, 9, n), np.empty(n, np.int64), np.empty(n, np.int64)
    compute.segmented_sort(
        d_in_keys=x, d_out_keys=out, d_in_values=np.arange(n), d_out_values=places, num_items=n, num_segments=30,
        start_offsets_in=starts, end_offsets_in=ends, order=compute.SortOrder.DESCENDING,
    )  # fmt: skip
    want = np.arange(n)
    for a, b in zip(starts, ends):
        want[a:b] = a + np.argsort(-x[a:b], kind="stable")
    assert np.array_equal(places, want) and np.array_equal(out, x[want])


def test_another_dtype_for_the_result_is_refused():
    with pytest.raises(TypeError, match="d_out_keys is of int64, d_in_keys of int32"):
        compute.radix_sort(d_in_keys=np.zeros(3, np.int32), d_out_keys=np.zeros(3, np.int64), num_items=3)

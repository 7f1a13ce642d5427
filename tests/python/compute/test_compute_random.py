# SPDX-License-Identifier: Apache-2.0
"""Random calls of the algorithms against NumPy: lengths around tiles, dtypes, operators that do not commute."""

import itertools

import numpy as np
import pytest

from long_form import LONG, unless_short

from tessera import compute, cuda
from tessera.compute import _choose, _engine, _scan
from tessera.cuda._options import options_of

LENGTHS = (0, 1, 2, 31, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 8193, 70_000)
DTYPES = unless_short((np.int8, np.complex64), (np.uint16, np.int64, np.float32))
_made = {"chunks": {}, "block": {}}  # kernels of each form


@pytest.fixture(params=("chunks", "block"))
def form(request, monkeypatch):
    """Scans and selections as they are for a CPU, and, on the CPU device and in small tiles, as they are for a GPU,
    compiled quickly."""
    for module in (_choose, _scan):
        monkeypatch.setattr(module, "on_cpu", lambda: request.param == "chunks")
    if request.param == "block":
        monkeypatch.setattr(_scan, "_items", lambda kind: 2)
        monkeypatch.setattr(_choose, "_ITEM_BYTES", 16)
        monkeypatch.setattr(_engine, "_options", lambda bounds: options_of({"opt": False, "launch_bounds": bounds}))
    monkeypatch.setattr(_engine, "_kernels", _made[request.param])
    monkeypatch.setattr(_engine, "replayed", lambda key, given: False)
    monkeypatch.setattr(_engine, "wanted", lambda key, given: None)
    return request.param


@pytest.fixture
def rng(request):
    return np.random.default_rng(sum(map(ord, request.node.name)))


def items(rng, n, dtype):
    return rng.integers(0, 9, n).astype(dtype)


def last(a, b):
    return b


def first(a, b):
    return a


def affine(a, b):
    """Composition of two functions x -> s * x + t: associative, and the order matters."""
    return Affine(a.s * b.s, a.t * b.s + b.t)


Affine = compute.gpu_struct({"s": np.int64, "t": np.int64}, "Affine")


@pytest.mark.parametrize("dtype", DTYPES)
def test_reduce_is_numpy_sum_and_keeps_the_order(rng, dtype):
    out = np.zeros(1, dtype)
    for n in LENGTHS:
        x = items(rng, n, dtype)
        for op in (compute.OpKind.PLUS, lambda a, b: a + b):
            compute.reduce_into(d_in=x, d_out=out, num_items=n, op=op, h_init=np.array([3], dtype))
            cuda.synchronize()
            assert out[0] == np.sum(x, dtype=dtype) + dtype(3), n
        compute.reduce_into(d_in=x, d_out=out, num_items=n, op=last, h_init=np.array([3], dtype))
        cuda.synchronize()
        assert out[0] == (x[-1] if n else 3), n


def composed(x, start):
    """All inclusive scans of affine functions, item by item."""
    s, t, out = *start, []
    for a, b in x.tolist():
        s, t = (s * a + 2**63) % 2**64 - 2**63, (t * a + b + 2**63) % 2**64 - 2**63
        out.append((s, t))
    return out


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("n", (1, 5, 300, 4097, 9000))
def test_structs_in_reductions_and_scans(rng, n):
    x = np.zeros(n, Affine.dtype)
    x["s"], x["t"] = rng.integers(1, 4, n), rng.integers(-5, 5, n)
    out, one = np.zeros(n, Affine.dtype), np.zeros(1, Affine.dtype)
    want = composed(x, (2, 1))
    compute.reduce_into(d_in=x, d_out=one, num_items=n, op=affine, h_init=Affine(2, 1))
    compute.inclusive_scan(d_in=x, d_out=out, num_items=n, op=affine, init_value=Affine(2, 1))
    cuda.synchronize()
    assert tuple(one[0]) == want[-1]
    assert [tuple(v) for v in out] == want
    compute.exclusive_scan(d_in=x, d_out=out, num_items=n, op=affine, init_value=Affine(2, 1))
    cuda.synchronize()
    assert [tuple(v) for v in out] == [(2, 1), *want[:-1]]


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("dtype", (np.int8, np.complex64, np.int64, np.float32))
def test_scans_are_numpy_cumsum(rng, dtype):
    for n in LENGTHS:
        x = items(rng, n, dtype)
        out, want = np.zeros(n, dtype), np.cumsum(x, dtype=dtype)
        compute.inclusive_scan(d_in=x, d_out=out, num_items=n, op=compute.OpKind.PLUS)
        cuda.synchronize()
        assert np.array_equal(out, want), n
        compute.exclusive_scan(d_in=x, d_out=x, num_items=n, op=compute.OpKind.PLUS, init_value=np.array([7], dtype))
        cuda.synchronize()
        assert np.array_equal(x, np.append(dtype(0), want)[:-1].astype(dtype) + dtype(7)) or not n, n


def test_float_sums_have_the_same_bits_each_time(rng):
    x = (rng.random(300_001) * 10.0 ** rng.integers(-20, 20, 300_001)).astype(np.float32)
    found = set()
    for _ in range(5):
        one, out = np.zeros(1, np.float32), np.zeros_like(x)
        compute.reduce_into(d_in=x, d_out=one, num_items=x.size, op=compute.OpKind.PLUS, h_init=np.float32(0))
        compute.inclusive_scan(d_in=x, d_out=out, num_items=x.size, op=compute.OpKind.PLUS)
        cuda.synchronize()
        found.add((one.tobytes(), out.tobytes()))
    assert len(found) == 1
    exact = np.sum(x, dtype=np.float64)
    assert abs(one[0] - exact) <= 1e-6 * exact and abs(out[-1] - exact) <= 1e-5 * exact


@pytest.mark.parametrize("n", (64 * 1024, 64 * 1024 * 2 + 1, 200_003))
def test_tiles_of_many_spans_hand_on_what_comes_before_them(rng, monkeypatch, form, n):
    """Tiles of 64 items: 1,024 of them are a span. What they publish is zero again in the end, for the next call."""
    monkeypatch.setattr(_scan, "_items", lambda kind: 1)
    monkeypatch.setattr(_scan, "_threads", lambda kind: 64)
    monkeypatch.setattr(_engine, "_kept", {})
    monkeypatch.setattr(_engine, "_kernels", {})
    x = rng.integers(-9, 9, n).astype(np.int64)
    wide, out = np.zeros(n, Affine.dtype), np.zeros(n, np.int64)
    wide["s"], wide["t"] = 1, x
    for _ in range(2):
        compute.inclusive_scan(d_in=x, d_out=out, num_items=n, op=compute.OpKind.PLUS)
        compute.exclusive_scan(d_in=wide, d_out=wide, num_items=n, op=affine, init_value=Affine(1, 5))
        cuda.synchronize()
        assert np.array_equal(out, np.cumsum(x)) and np.array_equal(wide["t"], np.cumsum(x) - x + 5)
        wide["s"], wide["t"] = 1, x
    words = [arrays[0] for arrays in _engine._kept.values()]
    assert words and (form == "chunks" or not any(np.any(array.copy_to_host()) for array in words))


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "dtype", unless_short((np.bool_, np.float16, np.complex128, "m8[s]"), (np.int8, np.uint32, np.float64))
)
def test_values_of_all_kinds_are_published(rng, dtype):
    """Numbers of 1 to 16 bytes, of which tiles publish 32 bits in a word."""
    x = rng.integers(0, 2, 9000).astype(np.int64).astype(dtype)
    out = np.zeros_like(x)
    compute.inclusive_scan(d_in=x, d_out=out, num_items=x.size, op=last)
    cuda.synchronize()
    assert np.array_equal(out, x)
    compute.exclusive_scan(d_in=x, d_out=out, num_items=x.size, op=first, init_value=x[5:6])
    cuda.synchronize()
    assert (out == x[5]).all()


def test_selections_are_numpy_masks(rng, form):
    dtypes = (np.uint8, np.float64) if LONG else (np.uint8 if form == "chunks" else np.float64,)
    for dtype, n in itertools.product(dtypes, (0, 1, 257, 4097, 9000)):
        x = rng.integers(0, 100, n).astype(dtype)
        a, b, c, m = (np.zeros(n, dtype) for _ in range(3)), None, None, np.full(2, -1, np.int32)
        a, b, c = a
        compute.select(d_in=x, d_out=a, d_num_selected_out=m, cond=lambda v: v > 30, num_items=n)
        cuda.synchronize()
        assert np.array_equal(a[: m[0]], x[x > 30])
        compute.partition(d_in=x, d_out=a, d_rest_out=b, d_num_selected_out=m, cond=lambda v: v > 90, num_items=n)
        cuda.synchronize()
        assert np.array_equal(a[: m[0]], x[x > 90]) and np.array_equal(b[: n - m[0]], x[x <= 90])
        compute.select_flagged(d_in=x, d_flags=(x % 2).astype(np.int8), d_out=a, d_num_selected_out=m, num_items=n)
        cuda.synchronize()
        assert np.array_equal(a[: m[0]], x[x % 2 != 0])
        compute.three_way_partition(
            d_in=x, d_first_part_out=a, d_second_part_out=b, d_unselected_out=c, d_num_selected_out=m, num_items=n,
            select_first_part_op=lambda v: v > 80, select_second_part_op=lambda v: v < 20,
        )  # fmt: skip
        cuda.synchronize()
        first, second, rest = x[x > 80], x[x < 20], x[(x >= 20) & (x <= 80)]
        assert m.tolist() == [first.size, second.size]
        assert (
            np.array_equal(a[: m[0]], first)
            and np.array_equal(b[: m[1]], second)
            and np.array_equal(c[: rest.size], rest)
        )


@pytest.mark.usefixtures("form")
def test_unique_keeps_the_first_of_each_run(rng):
    for n in LENGTHS:
        keys, values = np.sort(rng.integers(0, max(1, n // 3), n)), np.arange(n)
        out, kept, m = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(1, np.int64)
        compute.unique_by_key(
            d_in_keys=keys, d_in_items=values, d_out_keys=out, d_out_items=kept, d_out_num_selected=m,
            op=compute.OpKind.EQUAL_TO, num_items=n,
        )  # fmt: skip
        cuda.synchronize()
        want, first = np.unique(keys, return_index=True)
        assert m[0] == want.size and np.array_equal(out[: m[0]], want) and np.array_equal(kept[: m[0]], first)


# Longer floats and whole numbers that NumPy sorts for us: its own sort of float16 is wrong on some machines.
SORTED_AS = {np.float16: np.float64, np.uint8: np.int64, np.int64: np.int64}


@pytest.mark.parametrize("dtype", unless_short((np.float16,), (np.uint8, np.int64)))
def test_sorts_are_stable(rng, dtype):
    for n in (0, 1, 2, 33, 2049, 9000):
        x, v = rng.integers(0, 100, n).astype(dtype), np.arange(n)
        out, places = np.zeros(n, dtype), np.zeros(n, np.int64)
        wide = x.astype(SORTED_AS[dtype])
        compute.merge_sort(
            d_in_keys=x, d_in_values=v, d_out_keys=out, d_out_values=places, op=lambda a, b: a > b, num_items=n
        )
        cuda.synchronize()
        assert np.array_equal(places, np.lexsort((v, -wide))) and np.array_equal(out, x[places])
        compute.radix_sort(d_in_keys=x, d_in_values=v, d_out_keys=out, d_out_values=places, num_items=n)
        cuda.synchronize()
        assert np.array_equal(places, np.argsort(wide, kind="stable")) and np.array_equal(out, x[places])
        compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=n, order=compute.SortOrder.DESCENDING)
        cuda.synchronize()
        assert np.array_equal(out.astype(wide.dtype), np.sort(wide, kind="stable")[::-1])


def test_radix_sort_looks_at_some_bits_only(rng):
    x, v = rng.integers(0, 2**32, 5000, dtype=np.uint32), np.arange(5000)
    out, places = np.zeros_like(x), np.zeros_like(v)
    compute.radix_sort(
        d_in_keys=x, d_in_values=v, d_out_keys=out, d_out_values=places, num_items=x.size, begin_bit=3, end_bit=9
    )
    cuda.synchronize()
    assert np.array_equal(places, np.argsort(x >> 3 & 63, kind="stable"))


def test_radix_sort_orders_all_floats():
    x = np.array([np.nan, -0.0, 0.0, -np.inf, np.inf, -1, 1e-45, -1e-45, -np.nan], np.float32)
    out = np.zeros_like(x)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=x.size)
    cuda.synchronize()
    assert np.isnan(out[0]) and np.signbit(out[0]) and np.isnan(out[-1]) and not np.signbit(out[-1])
    assert out[1:-1].tolist() == [-np.inf, -1, -np.float32(1e-45), 0, 0, np.float32(1e-45), np.inf]
    assert np.signbit(out[4]) and not np.signbit(out[5])  # equal, so as they stood


def test_segments_of_all_lengths(rng):
    n = 20_000
    cuts = np.sort(np.concatenate([[0, n], rng.integers(0, n, 60), np.repeat(rng.integers(0, n, 3), 3)]))
    starts, ends = cuts[:-1], cuts[1:]
    order = rng.permutation(starts.size)
    x, v = rng.integers(-99, 99, n).astype(np.int16), np.arange(n)
    out, places = np.zeros_like(x), np.zeros_like(v)
    compute.segmented_sort(
        d_in_keys=x, d_in_values=v, d_out_keys=out, d_out_values=places, num_items=n, num_segments=starts.size,
        start_offsets_in=starts[order], end_offsets_in=ends[order],
    )  # fmt: skip
    sums = np.zeros(starts.size, np.int64)
    for hint in (None, 20):
        compute.segmented_reduce(
            d_in=x, d_out=sums, num_segments=starts.size, start_offsets_in=starts, end_offsets_in=ends,
            h_init=np.int64(5),
            op=compute.OpKind.PLUS, max_segment_size=hint,
        )  # fmt: skip
        cuda.synchronize()
        assert sums.tolist() == [int(x[a:b].sum(dtype=np.int64)) + 5 for a, b in zip(starts, ends)]
    for a, b in zip(starts, ends):
        assert np.array_equal(places[a:b] - a, np.argsort(x[a:b], kind="stable"))


def test_bounds_are_numpy_searchsorted(rng):
    for n, dtype in itertools.product((0, 1, 100, 5000), (np.int32, np.float64)):
        data, values = np.sort(rng.integers(0, 50, n).astype(dtype)), rng.integers(-2, 53, 300).astype(dtype)
        out = np.zeros(300, np.uintp)
        compute.lower_bound(d_data=data, num_items=n, d_values=values, num_values=300, d_out=out)
        cuda.synchronize()
        assert np.array_equal(out, np.searchsorted(data, values))
        compute.upper_bound(d_data=data, num_items=n, d_values=values, num_values=300, d_out=out)
        cuda.synchronize()
        assert np.array_equal(out, np.searchsorted(data, values, "right"))


@pytest.mark.parametrize("bins", (1, 10, 300, 9000))
def test_histograms_count_what_numpy_counts(rng, bins):
    for x in (rng.integers(-5, 30, 40_000).astype(np.int16), rng.normal(10, 6, 40_000).astype(np.float32)):
        out = np.zeros(bins, np.int32)
        low, high = x.dtype.type(0), x.dtype.type(20)
        compute.histogram_even(
            d_samples=x,
            d_histogram=out,
            num_output_levels=bins + 1,
            lower_level=low,
            upper_level=high,
            num_samples=x.size,
        )
        inside = x[(x >= low) & (x < high)]
        cuda.synchronize()
        if x.dtype.kind == "i":
            assert np.array_equal(out, np.bincount(inside.astype(np.int64) * bins // 20, minlength=bins))
        assert out.sum() == inside.size
        edges = np.sort(rng.random(bins + 1)) * 20
        compute.histogram_range(
            d_samples=x, d_histogram=out, d_levels=edges, num_output_levels=bins + 1, num_samples=x.size
        )
        cuda.synchronize()
        want = np.bincount(np.searchsorted(edges, x[(x >= edges[0]) & (x < edges[-1])], "right") - 1, minlength=bins)
        assert np.array_equal(out, want)


def test_iterators_of_iterators(rng):
    n = 5000
    x, y, at = rng.integers(0, 99, n), rng.random(n).astype(np.float32), rng.integers(0, n, n)
    out = np.zeros(n)
    zipped = compute.ZipIterator(
        compute.PermutationIterator(x, at), compute.ReverseIterator(y), compute.CountingIterator(np.int32(5))
    )
    scaled = compute.TransformIterator(zipped, lambda v: v[0] * v.field_1 + v[2])
    compute.unary_transform(d_in=scaled + 10, d_out=out, op=lambda v: -v, num_items=n - 10)
    cuda.synchronize()
    want = -(x[at] * y[::-1].astype(np.float64) + np.arange(5, n + 5))[10:]
    assert np.allclose(out[:-10], want, rtol=1e-6)
    sink = compute.TransformOutputIterator(compute.ReverseIterator(out), lambda v: v + 1, np.float64)
    compute.binary_transform(
        d_in1=x, d_in2=compute.ConstantIterator(np.int64(3)), d_out=sink, op=lambda a, b: a * b, num_items=n
    )
    cuda.synchronize()
    assert np.array_equal(out[::-1], x * 3 + 1)


@pytest.mark.parametrize("n", (1, 2, 3, 1000, 1024, 1025))
def test_shuffles_are_permutations(n):
    found = {}
    for seed in (0, 1, 2**63):
        out = np.zeros(n, np.int64)
        compute.unary_transform(
            d_in=compute.ShuffleIterator(n, seed), d_out=out, op=compute.OpKind.IDENTITY, num_items=n
        )
        cuda.synchronize()
        assert np.array_equal(np.sort(out), np.arange(n))
        found[out.tobytes()] = seed
    assert n < 100 or len(found) == 3

# SPDX-License-Identifier: Apache-2.0
"""What is not as it should be, or at the edge of it: a clear error of every algorithm, before anything is written, or
the right answer."""

import threading

import numpy as np
import pytest
from compute_calls import NUMBERS, calls
from long_form import LONG

from tessera import compute, cuda
from tessera.compute import _engine

PLUS = compute.OpKind.PLUS
CALLS = calls(np.array)


def test_every_algorithm_has_a_call():
    assert {name for name in compute.__all__ if hasattr(getattr(compute, name), "__wrapped__")} == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_numbers_that_no_array_has(name):
    function, given = getattr(compute, name), CALLS[name]
    for number in NUMBERS:
        if number in given:
            for value, error, words in (
                (21, ValueError, "21"), (-1, ValueError, "-1; it cannot be less than 0"), (2.5, TypeError, "2.5; give"),
            ):  # fmt: skip
                with pytest.raises(error, match=words):
                    function(**{**given, number: value})


@pytest.mark.parametrize("name", CALLS)
def test_arguments_of_another_kind(name):
    function, given = getattr(compute, name), CALLS[name]
    with pytest.raises(TypeError, match="does not implement the '__cuda_stream__' protocol"):
        function(**given, stream=5)
    for argument, value in given.items():
        if argument.startswith("d_") and isinstance(value, np.ndarray):
            with pytest.raises((TypeError, ValueError), match="NoneType|d_out_keys is missing"):
                function(**{**given, argument: None})
            with pytest.raises((TypeError, ValueError)):
                function(**{**given, argument: np.array(["text"] * 10)})
    with pytest.raises(TypeError):
        function(*given.values())
    with pytest.raises(TypeError, match="unexpected|what"):
        function(**given, what=3)


@pytest.mark.skipif(not LONG, reason="a case of `make test-long`")
@pytest.mark.parametrize("name", CALLS)
def test_no_items(name):
    """Nothing is written but numbers of results, initial values and empty bins."""
    given = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in CALLS[name].items()}
    none = {number: 0 for number in NUMBERS if number in given and number != "k"}
    if name in ("argmin", "argmax", "nth_element", "top_k"):
        with pytest.raises(ValueError, match="0"):
            getattr(compute, name)(**{**given, **none})
        return
    before = {key: value.copy() for key, value in given.items() if isinstance(value, np.ndarray)}
    getattr(compute, name)(**{**given, **none})
    cuda.synchronize()
    for key, value in before.items():
        of_one = getattr(compute, name).__module__.endswith(("_find", "_reduce"))
        assert of_one or "num" in key or key == "d_histogram" or np.array_equal(given[key], value), key


def test_arrays_that_are_moved_by_some_items():
    """What is read would be written already; in its place, or beside it, is fine."""
    x = np.arange(40, dtype=np.int32)
    for call in (
        lambda a, b: compute.inclusive_scan(d_in=a, d_out=b, op=PLUS, num_items=9),
        lambda a, b: compute.unary_transform(d_in=a, d_out=b, op=abs, num_items=9),
        lambda a, b: compute.radix_sort(d_in_keys=a, d_out_keys=b, num_items=9),
        lambda a, b: compute.merge_sort(d_in_keys=a, d_out_keys=b, num_items=9, op=PLUS),
        lambda a, b: compute.inclusive_scan_by_key(
            d_in_keys=x[20:], d_in_values=a, d_out_values=b, op=PLUS, num_items=9),
    ):
        for a, b in ((x[:10], x[1:11]), (x[8:18], x[:10]), (x[:20:2], x[2:22:2]), (x[9::-1], x[10:0:-1])):
            with pytest.raises(ValueError, match=r"d_out\w* shares memory with d_in\w*, but not item by item"):
                call(a, b)
    assert np.array_equal(x, np.arange(40))
    compute.inclusive_scan(d_in=x[:20:2], d_out=x[1:20:2], op=PLUS, num_items=10)
    compute.inclusive_scan(d_in=x[20:], d_out=x[29:], op=PLUS, num_items=9)
    assert np.array_equal(x[1:20:2], np.cumsum(np.arange(0, 20, 2)))
    assert np.array_equal(x[29:38], np.cumsum(np.arange(20, 29)))
    for call in (
        lambda: compute.reverse(d_in=x, d_out=x, num_items=10),
        lambda: compute.shuffle(d_in=x, d_out=x[3:], num_items=10),
        lambda: compute.merge(d_in1=x[:5], num_items1=5, d_in2=x[30:], num_items2=5, d_out=x[25:]),
        lambda: compute.set_union(**{**CALLS["set_union"], "d_out": CALLS["set_union"]["d_in2"]}),
        lambda: compute.set_difference(**{**CALLS["set_difference"], "d_out": CALLS["set_difference"]["d_in2"]}),
    ):
        with pytest.raises(ValueError, match="d_out shares memory with d_in"):
            call()


def test_arrays_that_are_read_and_written_in_another_order():
    x, wide, few = np.arange(20), np.zeros(20), lambda v: v + 1

    def each(source, output, n):
        compute.unary_transform(d_in=source, d_out=output, op=few, num_items=n)

    def scan(source, output, n):
        compute.inclusive_scan(d_in=source, d_out=output, op=PLUS, num_items=n)

    def sort(source, output, n):
        compute.radix_sort(d_in_keys=source, d_out_keys=output, num_items=n)

    grid = np.zeros((6, 6)).T[::2]
    same = compute.TransformIterator(x[:9], few)
    for call, source, output in (
        (each, x[:9], x[8::-1]), (sort, x[:9], x[8::-1]), (each, wide[:5], wide[::2]), (each, grid, grid[::-1]),
        (each, x.view(np.int32)[:20], x), (scan, same, x[1:]), (each, np.broadcast_to(wide[1:2], 4), wide),
        (each, compute.ReverseIterator(x[:9]), x), (each, compute.PermutationIterator(x, np.arange(20)), x),
        (each, x[1:], compute.TransformOutputIterator(x, few, compute.types.int64)),
        (each, compute.ZipIterator(x[:9], x[1:10]), compute.ZipIterator(wide[:9], x[:9])),
    ):
        n = min(9, compute.iterators.iterator_of(source, "").length)
        with pytest.raises(ValueError, match=r"d_out\w* shares memory with d_in\w*, but not item by item"):
            call(source, output, n)
    for call, source, output in (
        (lambda a, b: compute.adjacent_difference(d_in=a, d_out=b, num_items=9), same, x),
        (lambda a, b: compute.reverse(d_in=a, d_out=b, num_items=9), same, x),
    ):
        with pytest.raises(ValueError, match="d_out shares memory with d_in"):
            call(source, output)
    assert np.array_equal(x, np.arange(20)) and not wide.any()
    each(compute.ReverseIterator(x), x[::-1], 20)
    each(grid, grid, 18)
    each(compute.TransformIterator(x, few), x, 20)
    both = np.zeros(5, np.complex128)
    compute.unary_transform(d_in=both, d_out=both.real, op=lambda v: v.real + 1, num_items=5)
    assert np.array_equal(x, np.arange(3, 23)) and (grid == 1).all() and (both == 1).all()


def test_nans_in_sorted_sequences():
    nan, out, count = np.nan, np.full(7, -1.0), np.zeros(1, np.int64)
    a, b = np.array([1, 3, nan]), np.array([2, 3, nan, nan])
    two = {"d_in1": a, "num_items1": 3, "d_in2": b, "num_items2": 4, "d_out": out}
    compute.merge(**two)
    assert np.array_equal(out, [1, 2, 3, 3, nan, nan, nan], equal_nan=True)
    for name, wanted in (
        ("union", [1, 2, 3, nan, nan]), ("intersection", [3, nan]), ("difference", [1]),
        ("symmetric_difference", [1, 2, nan]),
    ):  # fmt: skip
        getattr(compute, f"set_{name}")(**two, d_num_out=count)
        assert np.array_equal(out[: count[0]], wanted, equal_nan=True), name
    places, data, values = np.zeros(4, np.uintp), np.array([1, 2, nan, nan]), np.array([nan, 0, 5, 2])
    for values_ in (values, compute.TransformIterator(values, lambda v: v)):
        for side, search in (("left", compute.lower_bound), ("right", compute.upper_bound)):
            search(d_data=data, num_items=4, d_values=values_, num_values=4, d_out=places)
            assert np.array_equal(places, np.searchsorted(data, values, side)), side
    keys = np.array([3, nan, 1, nan, 2])
    for less, wanted in ((np.less, [1, 2, 3, nan, nan]), (np.greater, [3, 2, 1, nan, nan])):
        compute.merge_sort(d_in_keys=keys, d_out_keys=out, num_items=5, op=less)
        assert np.array_equal(out[:5], wanted, equal_nan=True)
    days = np.array([3, "NaT", 1, "NaT", 2], "M8[D]")
    compute.merge_sort(d_in_keys=days.copy(), d_out_keys=days, num_items=5, op=np.less)
    assert np.array_equal(days, np.array([1, 2, 3, "NaT", "NaT"], "M8[D]"), equal_nan=True)


def test_numbers_of_items_from_2_to_the_63():
    out = np.zeros(3, np.int64)
    compute.fill(d_out=out, value=np.int64(7), num_items=np.array([2**63 + 1], np.uint64))
    assert out.tolist() == [7, 7, 7]


def test_bins_over_all_integers():
    low, high = -(2**63), 2**63 - 1
    for bins in (3, 1000):
        edges = [low - -b * (high - low) // bins for b in range(bins)]
        x = np.array([v for edge in edges for v in (edge - 1, edge, edge + 1) if v >= low] + [high])
        found = np.zeros(bins, np.int32)
        compute.histogram_even(
            d_samples=x, d_histogram=found, num_output_levels=bins + 1, lower_level=np.int64(low),
            upper_level=np.int64(high), num_samples=len(x),
        )  # fmt: skip
        wanted = np.bincount([(v - low) * bins // (high - low) for v in x.tolist()[:-1]], minlength=bins)
        assert np.array_equal(found, wanted)
    x, found = np.array([0, 2**63, 2**63 + 5, 2**64 - 2], np.uint64), np.zeros(2, np.int32)
    given = {"d_samples": x, "num_output_levels": 3, "num_samples": 4, "upper_level": np.uint64(2**64 - 1)}
    compute.histogram_even(**given, d_histogram=found, lower_level=np.uint64(2**63))
    assert found.tolist() == [2, 1]
    with pytest.raises(TypeError, match="d_histogram holds uint16, and GPUs count in numbers of 4 or 8 bytes only"):
        compute.histogram_even(**given, d_histogram=found.astype(np.uint16), lower_level=np.uint64(0))


def test_levels_of_histograms():
    x, bins = np.array([0.0, 1, 2, 3, np.nan, np.inf]), np.zeros(3, np.int32)
    even = {"d_samples": x, "d_histogram": bins, "num_output_levels": 4, "num_samples": 6}
    for low, high in ((np.nan, 1), (1, np.nan), (5, 5), (5, 1), (-np.inf, 1), (0, np.inf), (-1e308, 1e308)):
        with pytest.raises(ValueError, match="must be less than|no finite width"):
            compute.histogram_even(**even, lower_level=np.float64(low), upper_level=np.float64(high))
    compute.histogram_range(**even, d_levels=np.array([0.0, 1, 1, 3]))
    assert bins.tolist() == [1, 0, 2]
    one = {**even, "num_output_levels": 2, "lower_level": np.float32(1), "upper_level": np.float32(3)}
    compute.histogram_even(**one)
    assert bins[0] == 2


def test_comparisons_that_are_no_order():
    rng = np.random.default_rng(0)
    x, out = rng.random(5000).astype(np.float32), np.zeros(5000, np.float32)
    x[::7], x[3::11] = np.nan, 0
    for op, want in ((lambda a, b: a < b, np.sort(x)), (compute.OpKind.GREATER, None)):
        compute.merge_sort(d_in_keys=x, d_out_keys=out, num_items=5000, op=op)
        numbers = np.sort(x[x == x])[::-1]
        want = np.append(numbers, np.full(5000 - numbers.size, np.nan)) if want is None else want
        assert np.array_equal(out, want, equal_nan=True)
    y = rng.integers(0, 9, 5000).astype(np.float32)
    compute.merge_sort(d_in_keys=y, d_out_keys=out, num_items=5000, op=lambda a, b: a <= b)
    assert np.array_equal(np.sort(out), np.sort(y))


def test_sizes_and_places_of_items():
    """Of 3 bytes, beside multiples of their size, packed, of no axis, read-only."""
    three = np.dtype([("a", "u1"), ("b", "u1"), ("c", "u1")])
    x, out, total = np.zeros(50, three), np.zeros(50, three), np.zeros((), np.int64)
    x["a"] = np.arange(50)[::-1]
    compute.copy(d_in=compute.ReverseIterator(x), d_out=out, num_items=50)
    assert np.array_equal(out["a"], np.arange(50))
    odd = np.zeros(81, np.uint8)[1:].view(np.int64)
    odd[:] = np.arange(10)
    compute.reduce_into(d_in=odd, d_out=total, num_items=10, op=PLUS, h_init=np.int64(0))
    assert total == 45
    compute.reduce_into(d_in=np.array(5), d_out=total, num_items=1, op=PLUS, h_init=np.int64(2))
    assert total == 7
    fixed = np.zeros(10, np.int32)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compute.inclusive_scan(d_in=CALLS["copy"]["d_in"], d_out=fixed, op=PLUS, num_items=10)


def test_bits_of_none_and_buffers_that_are_one():
    x, out = np.arange(10, dtype=np.int32)[::-1].copy(), np.zeros(10, np.int32)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=10, begin_bit=3, end_bit=3)
    assert np.array_equal(out, x)
    both = compute.DoubleBuffer(x, x)
    compute.radix_sort(d_in_keys=both, num_items=10)
    assert np.array_equal(both.current(), np.arange(10))
    compute.top_k(d_in_keys=x, d_out_keys=out, num_items=10, k=0)
    assert np.array_equal(out, np.arange(10)[::-1])


def test_sums_wrap_as_their_dtype():
    for dtype in (np.int8, np.bool_):
        x, out = np.full(300, 100).astype(dtype), np.zeros(1, np.int8)
        compute.reduce_into(d_in=x, d_out=out, num_items=300, op=PLUS, h_init=np.int8(1))
        assert out[0] == np.int64(x.sum(dtype=np.int64) + 1).astype(np.int8)


def test_operators_of_all_kinds():
    """Without a file, that name views of a device, or call themselves."""
    x, out, space = np.arange(6), np.zeros(6, np.int64), {}
    for text, want in (("lambda v: v * 3", x * 3), ("lambda v: v * 5", x * 5)):
        exec(f"op = {text}", space)
        compute.unary_transform(d_in=x, d_out=out, op=space["op"], num_items=6)
        assert np.array_equal(out, want)
    table = cuda.to_device(np.arange(20))[::-2]
    compute.unary_transform(d_in=x, d_out=out, op=lambda i: table[i], num_items=6)
    assert np.array_equal(out, np.arange(20)[::-2][:6])

    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    compute.unary_transform(d_in=x, d_out=out, op=factorial, num_items=6)
    assert out.tolist() == [1, 1, 2, 6, 24, 120]


def test_memory_that_there_is_not():
    huge = np.lib.stride_tricks.as_strided(np.zeros(1, np.int64), (1 << 45,), (0,))
    with pytest.raises(MemoryError):
        compute.radix_sort(d_in_keys=huge, d_out_keys=huge, num_items=huge.size)
    out = np.zeros(10, np.int32)
    compute.radix_sort(d_in_keys=CALLS["copy"]["d_in"], d_out_keys=out, num_items=10)
    assert np.array_equal(out, np.arange(10))


def test_places_beyond_32_bits():
    """Of items that are computed, or one that is there again and again; nothing goes through all of them."""
    far, many = 1 << 33, np.lib.stride_tricks.as_strided(np.full(1, 7, np.int8), ((1 << 33) + 9,), (0,))
    counting, out, places = compute.CountingIterator(np.int64(0)), np.zeros(3, np.int64), np.zeros(3, np.uint64)
    values = np.array([5, far, far + 12345])
    compute.lower_bound(d_data=counting, num_items=far + 9999, d_values=values, num_values=3, d_out=places)
    assert places.tolist() == [5, far, far + 9999]
    compute.gather(d_in=counting, d_indices=values, d_out=out, num_items=3)
    assert np.array_equal(out, values)
    ends = np.array([far, far + 9, far + 20])
    parts = {"start_offsets_in": ends - 3, "end_offsets_in": ends, "num_segments": 3}
    reduce = {**parts, "op": PLUS, "h_init": np.int64(0)}
    compute.segmented_reduce(d_in=counting, d_out=out, **reduce)
    assert out.tolist() == [3 * e - 6 for e in ends.tolist()]
    compute.segmented_reduce(d_in=many, d_out=out, **reduce)
    assert out.tolist() == [21, 21, 0]
    compute.copy(d_in=compute.ReverseIterator(many), d_out=out, num_items=3)
    assert out.tolist() == [7, 7, 7]


@pytest.mark.skipif(not LONG, reason="a case of `make test-long`")
def test_more_items_than_32_bits_say():
    n, one = (1 << 31) + 9, np.zeros(1, np.int64)
    many, counting = np.broadcast_to(np.int8(1), n), compute.CountingIterator(np.int64(0))
    compute.reduce_into(d_in=many, d_out=one, num_items=n, op=PLUS, h_init=np.int64(0))
    assert one[0] == n
    compute.find_if(d_in=counting, d_out=one, num_items=n, cond=lambda v: v == (1 << 31) + 5)
    assert one[0] == (1 << 31) + 5
    last = np.zeros(4, np.int64)
    compute.select(d_in=counting, d_out=last, d_num_selected_out=one, num_items=n, cond=lambda v: v > (1 << 31) + 4)
    assert last.tolist() == [(1 << 31) + i for i in (5, 6, 7, 8)] and one[0] == 4


def test_an_object_in_two_threads():
    x, found = np.arange(5000), []
    made = compute.make_reduce_into(d_in=x, d_out=np.zeros(1, np.int64), op=PLUS, h_init=np.int64(0))

    def work(first):
        for n in range(first, 4000, 500):
            out = np.zeros(1, np.int64)
            given = {"d_in": x, "d_out": out, "num_items": n, "op": PLUS, "h_init": np.int64(0)}
            made(temp_storage=np.zeros(made(temp_storage=None, **given), np.uint8), **given)
            cuda.synchronize()
            found.append(out[0] == n * (n - 1) // 2)

    threads = [threading.Thread(target=work, args=(first,)) for first in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16 and all(found)


def test_places_are_not_written_over_what_is_searched():
    x = np.arange(40, dtype=np.uint64)
    given = {"num_items": 40, "num_values": 30}
    with pytest.raises(ValueError, match="d_out shares memory with d_data"):
        compute.lower_bound(d_data=x, d_values=x[:30].copy(), d_out=x, **given)
    with pytest.raises(ValueError, match="d_out shares memory with d_values, but not item by item"):
        compute.upper_bound(d_data=x.copy(), d_values=x[:30], d_out=x[1:31], **given)
    compute.lower_bound(d_data=x.copy(), d_values=x, d_out=x, **given)
    assert (x == np.arange(40)).all()


def test_reductions_of_parts_want_what_empty_ones_give():
    x, out, bounds = np.arange(10), np.full(2, -7), np.array([0, 4, 10])
    parts = {"num_segments": 2, "start_offsets_in": bounds[:2], "end_offsets_in": bounds[1:]}
    with pytest.raises(ValueError, match="segmented_exclusive_scan needs an init_value"):
        compute.segmented_exclusive_scan(
            d_in=x, d_out=out, op=compute.OpKind.PLUS, init_value=None, num_items=10, **parts
        )
    with pytest.raises(TypeError, match="h_init is None"):
        compute.segmented_reduce(d_in=x, d_out=out, op=compute.OpKind.PLUS, h_init=None, **parts)
    assert (out == -7).all()


@pytest.mark.parametrize("off", [1, 2])
def test_arrays_that_are_not_aligned(off):
    def odd(dtype):
        return np.ndarray((99,), dtype, bytearray(off + 99 * 8), off)

    x, even, out, one = odd(np.int32), np.arange(99, dtype=np.int32), np.zeros(99, np.int32), np.zeros(1, np.int32)
    x[:] = np.random.default_rng(off).integers(-9, 9, 99)
    assert not x.flags.aligned
    places = odd(np.int32)
    calls = {
        "reduce": lambda v: (compute.reduce_into(d_in=v, d_out=one, num_items=99, op=PLUS, h_init=np.int32(0)),
                             one[0] == v.sum()),
        "scan": lambda v: (compute.inclusive_scan(d_in=v, d_out=out, num_items=99, op=PLUS),
                           np.array_equal(out, np.cumsum(v))),
        "sort": lambda v: (compute.radix_sort(d_in_keys=v, d_out_keys=out, num_items=99),
                           np.array_equal(out, np.sort(v))),
        "unique": lambda v: (
            compute.unique(d_in=v, d_out=out, d_num_selected_out=one, op=compute.OpKind.EQUAL_TO, num_items=99),
            one[0] == 1 + (np.diff(v) != 0).sum(),
        ),
        "search": lambda v: (compute.lower_bound(d_data=even, num_items=99, d_values=v, num_values=99, d_out=places),
                             np.array_equal(places, np.searchsorted(even, v))),
        "gather": lambda v: (compute.gather(d_in=v, d_indices=even, d_out=out, num_items=99), np.array_equal(out, v)),
    }  # fmt: skip
    for name, call in calls.items():  # aligned ones go the short way from some call on, these never
        assert all(call(v)[1] for v in (even, even, even, even, x, even, x, x, x, x, even)), name


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]"])
def test_dates_are_sorted_as_numbers_or_by_merging(dtype):
    x = np.array([3, 1, "NaT", 2], dtype)
    out = np.empty_like(x)
    for call in (
        lambda: compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=4),
        lambda: compute.top_k(d_in_keys=x, d_out_keys=out, num_items=4, k=2),
        lambda: compute.nth_element(d_in=x, d_out=out, n=1, num_items=4),
    ):
        with pytest.raises(TypeError, match=r"holds (datetime|timedelta)64.*view of int64"):
            call()
    compute.radix_sort(d_in_keys=x.view(np.int64), d_out_keys=out.view(np.int64), num_items=4)
    assert np.array_equal(out, np.array(["NaT", 1, 2, 3], dtype), equal_nan=True)
    compute.merge_sort(d_in_keys=x[[0, 1, 3]], d_out_keys=out[:3], num_items=3, op=compute.OpKind.LESS)
    assert np.array_equal(out[:3], np.sort(x[[0, 1, 3]]))
    levels = {"h_num_output_levels": np.array([3]), "h_lower_level": x[1:2], "h_upper_level": x[:1]}
    with pytest.raises(TypeError, match="d_samples holds"):
        compute.histogram_even(d_samples=x, d_histogram=np.zeros(2, np.int32), num_samples=4, **levels)


def test_masks_are_not_lost() -> None:
    masked = np.ma.masked_array(np.arange(5.0), [0, 0, 1, 0, 0])
    with pytest.raises(TypeError, match=r"mask of a masked array would be lost"):
        compute.reduce_into(d_in=masked, d_out=np.zeros(1), op=compute.OpKind.PLUS, h_init=0.0, num_items=5)
    assert _engine._calls.taken is None  # no call is under way, of which others were a part

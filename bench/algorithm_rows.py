# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/algorithms.py: what is asked, of which data, what each library calls, and what must come out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = dict[str, Any]
Call = Callable[[Any, Arrays], Any]

_ATOL = 1e-4


@dataclass
class Row:
    """One question.

    ``ours(c, a, o)`` calls the algorithms of module ``c``, tessera.compute or cuda.compute, of the arrays ``a`` for the
    results ``o``; ``peers[name](module, a)`` what else computes it. ``wanted(a)`` is NumPy's answer, flat.
    """

    group: int  # of the questions: reductions are 1, ..
    name: str
    data: Callable[[np.random.Generator, int], Arrays]
    out: Callable[[int], dict[str, tuple[int, Any]]]
    ours: Callable[[Any, Arrays, Arrays, int], Any]
    wanted: Callable[[Arrays], np.ndarray]
    bytes: float  # of an item, at least
    peers: dict[str, Call] = field(default_factory=dict)
    result: Callable[[Arrays], np.ndarray] = lambda o: next(iter(o.values()))
    of_peers: Callable[[np.ndarray], np.ndarray] = lambda x: x  # what of a peer's result is compared
    there: bool = False  # cuda.compute has it
    most: int = 28  # 2^most items, at most
    tolerance: float = _ATOL
    check: str = ""  # a function of algorithm_device.py: what is right where NumPy would take too long


class Data:
    """Items of a kind: ``data(rng, n)`` as NumPy makes them; `kind` and `more` say it to algorithm_device.py."""

    def __init__(self, made: Callable[[np.random.Generator, int], Arrays], kind: str, *more: Any) -> None:
        self._made, self.kind, self.more = made, kind, more

    def __call__(self, rng: np.random.Generator, n: int) -> Arrays:
        return self._made(rng, n)


# ---- data


floats = Data(lambda rng, n: {"x": rng.random(n, np.float32)}, "floats", np.float32)
doubles = Data(lambda rng, n: {"x": rng.random(n)}, "floats", np.float64)
halves = Data(lambda rng, n: {"x": rng.random(n, np.float32).astype(np.float16)}, "floats", np.float16)


def words(dtype: Any, below: int | None = None) -> Data:
    top = int(np.iinfo(dtype).max) if below is None else below - 1
    return Data(lambda rng, n: {"x": rng.integers(0, top, n, dtype, endpoint=True)}, "words", dtype, top)


def runs(length: int) -> Data:
    """Keys in runs of this length, and values."""

    def made(rng: np.random.Generator, n: int) -> Arrays:
        return {"x": (np.arange(n) // length).astype(np.int32), "v": rng.random(n, np.float32)}

    return Data(made, "runs", length)


def segments(lengths: Callable[[np.random.Generator, int], np.ndarray]) -> Data:
    def made(rng: np.random.Generator, n: int) -> Arrays:
        ends = np.minimum(np.cumsum(lengths(rng, n)), n).astype(np.int64)
        ends[-1] = n
        starts = np.concatenate(([0], ends[:-1]))
        return {"x": rng.random(n, np.float32), "starts": starts, "ends": ends}

    return Data(made, "segments", lengths)


def equal(length: int) -> Callable[[Any, int], np.ndarray]:
    return lambda rng, n: np.full(max(1, n // min(length, n)), min(length, n))


def power_law(rng: np.random.Generator, n: int) -> np.ndarray:
    lengths = np.minimum(rng.zipf(1.5, n // 8), n // 4)
    return lengths[: max(1, int(np.searchsorted(np.cumsum(lengths), n)))]


def one_huge(rng: np.random.Generator, n: int) -> np.ndarray:
    lengths = np.zeros(n // 16, np.int64)
    lengths[n // 32] = n
    return lengths


pairs = Data(
    lambda rng, n: {"x": rng.integers(0, 1 << 32, n, np.uint32), "v": np.arange(n, dtype=np.uint32)}, "pairs"
)
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sorted": np.sort, "reversed": lambda x: np.sort(x)[::-1], "equal": np.zeros_like, "few": lambda x: x % np.uint32(5)
}  # fmt: skip


def in_shape(name: str) -> Data:
    shape = SHAPES[name]
    made = lambda rng, n: {"x": np.ascontiguousarray(shape(rng.integers(0, 1 << 32, n, np.uint32)))}  # noqa: E731
    return Data(made, "shape", name)


def _two_sets(rng: np.random.Generator, n: int) -> Arrays:
    half = n // 2
    return {word: np.sort(rng.integers(0, n, half).astype(np.int32)) for word in ("x", "y")}


two_sets = Data(_two_sets, "two_sets")


def needles(is_sorted: bool) -> Data:
    def made(rng: np.random.Generator, n: int) -> Arrays:
        v = rng.integers(0, 1 << 31, n).astype(np.int32)
        return {"x": np.sort(rng.integers(0, 1 << 31, n).astype(np.int32)), "v": np.sort(v) if is_sorted else v}

    return Data(made, "needles", is_sorted)


def one_at(place: float) -> Data:
    def made(rng: np.random.Generator, n: int) -> Arrays:
        x = np.zeros(n, np.int32)
        if place < 1:
            x[int(place * n)] = 1
        return {"x": x}

    return Data(made, "one_at", place)


# ---- results


def same(dtype: Any, **more: Any) -> Callable[[int], dict[str, tuple[int, Any]]]:
    """As many items as there are, also of what else comes out."""
    return lambda n: {"out": (n, dtype), **{name: (n, of) for name, of in more.items()}}


def one(dtype: Any) -> Callable[[int], dict[str, tuple[int, Any]]]:
    return lambda n: {"out": (1, dtype)}


def some(dtype: Any) -> Callable[[int], dict[str, tuple[int, Any]]]:
    return lambda n: {"out": (n, dtype), "count": (1, np.int64)}


def first_of(o: Arrays) -> np.ndarray:
    return o["out"][: int(o["count"][0])]


def in_leaves(x: np.ndarray) -> np.ndarray:
    """The sum of float32 in the order that docs/guide/algorithms.md speaks of: the same bits everywhere."""
    rows = x.reshape(-1, min(32, x.size // 256), 256)
    total = rows[:, 0]
    for r in range(1, rows.shape[1]):
        total = total + rows[:, r]
    parts = _together(total)
    while parts.size > 1:  # of leaves, then of groups of leaves
        parts = _together(parts.reshape(-1, min(parts.size, 256)))
    return parts


def _together(values: np.ndarray) -> np.ndarray:
    for _ in range(5):
        odd = values[:, -1:] if values.shape[1] % 2 else values[:, :0]
        even = values[:, : values.shape[1] // 2 * 2]
        values = np.concatenate((even[:, ::2] + even[:, 1::2], odd), axis=1)
    total = values[:, 0]
    for w in range(1, values.shape[1]):
        total = total + values[:, w]
    return total


# ---- calls


def total(op: str, init: Any) -> Callable[[Any, Arrays, Arrays, int], Any]:
    first = np.array([init])  # cuda.compute takes no scalars

    def call(c: Any, a: Arrays, o: Arrays, n: int) -> None:
        c.reduce_into(d_in=a["x"], d_out=o["out"], num_items=n, op=getattr(c.OpKind, op), h_init=first)

    return call


def scan(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.inclusive_scan(d_in=a["x"], d_out=o["out"], op=c.OpKind.PLUS, init_value=None, num_items=n)


def _pair(c: Any) -> Any:
    if c not in _pairs:
        _pairs[c] = c.gpu_struct({"a": np.float32, "b": np.float32}, "Step")
    return _pairs[c]


_pairs: dict[Any, Any] = {}


def average(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    """y = a y + b, as pairs that are put together."""
    step = _pair(c)
    c.inclusive_scan(
        d_in=a["x"], d_out=o["out"], op=lambda p, q: step(p.a * q.a, q.a * p.b + q.b), init_value=None, num_items=n
    )


def _steps(rng: np.random.Generator, n: int) -> Arrays:
    x = np.empty(n, np.dtype([("a", np.float32), ("b", np.float32)], align=True))
    x["a"], x["b"] = 0.5, rng.random(n, np.float32)
    return {"x": x}


steps = Data(_steps, "steps")


def averaged(a: Arrays) -> np.ndarray:
    b = a["x"]["b"].astype(np.float64)
    found = b.copy()
    for k in range(1, min(50, b.size)):
        found[k:] += 0.5**k * b[:-k]
    return found


def chosen(share: float) -> Callable[[Any, Arrays, Arrays, int], Any]:
    limit = np.float32(share)

    def call(c: Any, a: Arrays, o: Arrays, n: int) -> None:
        given = {"d_in": a["x"], "d_out": o["out"], "d_num_selected_out": o["count"], "num_items": n}
        c.select(cond=_below(limit), **given)

    return call


def _below(limit: Any) -> Any:
    if limit not in _conditions:
        _conditions[limit] = lambda v: v < limit
    return _conditions[limit]


_conditions: dict[Any, Any] = {}


def sort(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    values = {"d_in_values": a["v"], "d_out_values": o["values"]} if "values" in o else {}
    c.radix_sort(d_in_keys=a["x"], d_out_keys=o["out"], num_items=n, **values, **_ascending(c))


def _ascending(c: Any) -> Arrays:
    """cuda.compute must be told."""
    return {} if c.__name__.startswith("tessera") else {"order": c.SortOrder.ASCENDING}


def sort_structs(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.merge_sort(d_in_keys=a["x"], d_out_keys=o["out"], num_items=n, op=lambda p, q: p.key < q.key)


def _structs(rng: np.random.Generator, n: int) -> Arrays:
    x = np.empty(n, np.dtype([("key", np.int64), ("value", np.int64)], align=True))
    x["key"], x["value"] = rng.integers(0, 1 << 40, n), np.arange(n)
    return {"x": x}


structs = Data(_structs, "structs")


def sum_segments(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.segmented_reduce(
        d_in=a["x"], d_out=o["out"], num_segments=len(a["starts"]), start_offsets_in=a["starts"],
        end_offsets_in=a["ends"], op=c.OpKind.PLUS, h_init=np.zeros(1, np.float32),
    )  # fmt: skip


def segment_sums(a: Arrays) -> np.ndarray:
    sums = np.concatenate(([0.0], np.cumsum(a["x"], dtype=np.float64)))
    return sums[a["ends"]] - sums[a["starts"]]


def sort_segments(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.segmented_sort(
        d_in_keys=a["x"], d_out_keys=o["out"], num_items=n, num_segments=len(a["starts"]),
        start_offsets_in=a["starts"], end_offsets_in=a["ends"], **_ascending(c),
    )  # fmt: skip


def sorted_segments(a: Arrays) -> np.ndarray:
    place = np.repeat(np.arange(a["ends"].size), a["ends"] - a["starts"])
    return a["x"][np.lexsort((a["x"], place))]


def top(k: int) -> Row:
    """k < 0: half of the items."""
    number: Callable[[int], int] = lambda n: n // 2 if k < 0 else min(k, n)  # noqa: E731

    def call(c: Any, a: Arrays, o: Arrays, n: int) -> None:
        c.top_k(d_in_keys=a["x"], d_out_keys=o["out"], num_items=n, k=number(n))

    def numpy_top(np_: Any, a: Arrays) -> np.ndarray:
        n = number(a["x"].size)
        return np.sort(np.partition(a["x"], -n)[-n:])[::-1]

    return Row(
        12, f"top {'half' if k < 0 else k}, f32", floats, lambda n: {"out": (number(n), np.float32)}, call,
        lambda a: numpy_top(np, a), 4,
        {"numpy": numpy_top, "torch": lambda t, a: a["x"].topk(number(a["x"].shape[0])).values}, check="top",
    )  # fmt: skip


def bins(count: int, top: int, data: Any, dtype: Any, peers: dict[str, Call], what: str = "") -> Row:
    """Bins of whole numbers from 0 to before ``top``."""

    def call(c: Any, a: Arrays, o: Arrays, n: int) -> None:
        levels = {"num_output_levels": count + 1, "lower_level": np.int32(0), "upper_level": np.int32(top)}
        c.histogram_even(d_samples=a["x"], d_histogram=o["out"], num_samples=n, **levels)

    def wanted(a: Arrays) -> np.ndarray:
        return np.bincount(a["x"].astype(np.int64) * count // top, minlength=count)

    size, name = np.dtype(dtype).itemsize, f"histogram of {count:,} bins, {np.dtype(dtype)}{what}"
    return Row(13, name, data, lambda n: {"out": (count, np.int32)}, call, wanted, size, peers, there=True,
               check=f"bins:{top}")


def sum_runs(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.reduce_by_key(
        d_in_keys=a["x"], d_in_values=a["v"], d_out_keys=o["keys"], d_out_values=o["out"], d_num_runs_out=o["count"],
        op=c.OpKind.PLUS, num_items=n,
    )  # fmt: skip


def count_runs(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.run_length_encode(
        d_in=a["x"], d_unique_out=o["keys"], d_lengths_out=o["out"], d_num_runs_out=o["count"], num_items=n
    )


def of_runs(dtype: Any) -> Callable[[int], dict[str, tuple[int, Any]]]:
    return lambda n: {"out": (n, dtype), "keys": (n, np.int32), "count": (1, np.int64)}


def run_sums(a: Arrays) -> np.ndarray:
    return np.add.reduceat(a["v"].astype(np.float64), np.flatnonzero(np.diff(a["x"], prepend=-1)))


def run_lengths(a: Arrays) -> np.ndarray:
    return np.unique(a["x"], return_counts=True)[1]


def find(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.find_if(d_in=a["x"], d_out=o["out"], cond=lambda v: v != 0, num_items=n)


def first_place(a: Arrays) -> np.ndarray:
    found = np.flatnonzero(a["x"])
    return np.array([found[0] if found.size else a["x"].size])


def search(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.lower_bound(d_data=a["x"], num_items=n, d_values=a["v"], num_values=n, d_out=o["out"])


def of_sets(name: str) -> Callable[[Any, Arrays, Arrays, int], Any]:
    def call(c: Any, a: Arrays, o: Arrays, n: int) -> None:
        getattr(c, name)(
            d_in1=a["x"], num_items1=n // 2, d_in2=a["y"], num_items2=n // 2, d_out=o["out"], d_num_out=o["count"]
        )

    return call


def common(a: Arrays, take: Any) -> np.ndarray:
    """Each number as often as ``take`` says of how often both have it."""
    top = int(max(a["x"].max(), a["y"].max())) + 1
    counts = take(np.bincount(a["x"], minlength=top), np.bincount(a["y"], minlength=top))
    return np.repeat(np.arange(top), counts)


numbers = Data(lambda rng, n: {"x": np.arange(n, dtype=np.int32), "places": rng.permutation(n)}, "numbers")
two_floats = Data(lambda rng, n: {"x": rng.random(n, np.float32), "y": rng.random(n, np.float32)}, "two_floats")
sevens = Data(lambda rng, n: {"x": np.full(n, 7, np.uint8)}, "sevens")


def shuffled(o: Arrays) -> np.ndarray:
    return np.sort(o["out"])


def mapped(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    given = {"d_in1": a["x"], "d_in2": a["y"], "d_out": o["out"], "num_items": n}
    c.binary_transform(op=lambda p, q: math.sqrt(p) + math.exp(-q), **given)


_SORTED = {"numpy": lambda np_, a: np_.sort(a["x"]), "cupy": lambda cp, a: cp.sort(a["x"])}
_TORCH_SORT = {"torch": lambda t, a: a["x"].sort().values}
_COUNTS = {"numpy": lambda np_, a: np_.bincount(a["x"], minlength=256),
           "torch": lambda t, a: a["x"].bincount(minlength=256),
           "cupy": lambda cp, a: cp.bincount(a["x"], minlength=256)}  # fmt: skip
_SUM = {"numpy": lambda np_, a: a["x"].sum(), "torch": lambda t, a: a["x"].sum(), "cupy": lambda cp, a: a["x"].sum()}
_SCAN = {"numpy": lambda np_, a: np_.cumsum(a["x"], dtype=a["x"].dtype),
         "torch": lambda t, a: a["x"].cumsum(0, dtype=a["x"].dtype),
         "cupy": lambda cp, a: cp.cumsum(a["x"], dtype=a["x"].dtype)}  # fmt: skip


def _sorts(name: str, data: Any, dtype: Any, peers: dict[str, Call], group: int = 7) -> Row:
    size = np.dtype(dtype).itemsize
    wanted: Callable[[Arrays], np.ndarray] = lambda a: np.sort(a["x"])  # noqa: E731
    return Row(group, name, data, same(dtype), sort, wanted, size + 2 * size * size, peers, there=True, check="sort")


def _selects(share: float) -> Row:
    def masked(module: Any, a: Arrays) -> Any:
        return a["x"][a["x"] < share]

    return Row(
        6, f"select {share:.0%}, f32", floats, some(np.float32), chosen(share),
        lambda a: a["x"][a["x"] < np.float32(share)], 4 + 4 * share,
        {"numpy": masked, "torch": masked, "cupy": masked}, first_of, there=True, check=f"select:{share}",
    )  # fmt: skip


def _uniques(length: int) -> Row:
    def call(c: Any, a: Arrays, o: Arrays, n: int) -> None:
        given = {"d_in": a["x"], "d_out": o["out"], "d_num_selected_out": o["count"], "num_items": n}
        c.unique(op=c.OpKind.EQUAL_TO, **given)

    peers = {"numpy": lambda np_, a: a["x"][np_.diff(a["x"], prepend=-1) != 0],
             "torch": lambda t, a: t.unique_consecutive(a["x"])}  # fmt: skip
    return Row(
        6, f"unique, runs of {length}", runs(length), some(np.int32), call, lambda a: np.unique(a["x"]), 4 + 4 / length,
        peers, first_of, check="unique",
    )  # fmt: skip


def _split(c: Any, a: Arrays, o: Arrays, n: int) -> None:
    c.partition(
        d_in=a["x"], d_out=o["out"], d_rest_out=o["rest"], d_num_selected_out=o["count"], cond=lambda v: v < 0.5,
        num_items=n,
    )  # fmt: skip


def _segment_rows() -> list[Row]:
    kinds = [(f"of {size:,}", equal(size)) for size in (1, 3, 32, 1000, 1_000_000)]
    kinds += [("of a power law", power_law), ("of one huge among empty ones", one_huge)]
    sums = [
        Row(
            10, f"sums of segments {name}, f32", segments(lengths), same(np.float32), sum_segments, segment_sums, 4,
            {"numpy": lambda np_, a: np_.add.reduceat(a["x"], a["starts"])} if name.startswith("of 1") else {},
            lambda o: o["out"], there=True, most=26, tolerance=1e-2, check="segment_sums",
        )
        for name, lengths in kinds
    ]  # fmt: skip
    sorts = [
        Row(11, f"sorted segments {name}, f32", segments(lengths), same(np.float32), sort_segments, sorted_segments, 36,
            there=True, most=24, check="sorted_segments")
        for name, lengths in kinds
    ]  # fmt: skip
    return sums + sorts


ROWS = [
    Row(1, "sum, f32", floats, one(np.float32), total("PLUS", np.float32(0)), lambda a: a["x"].sum(dtype=np.float64),
        4, _SUM, there=True, check="total"),
    Row(1, "sum, i8 to i32", words(np.int8), one(np.int32), total("PLUS", np.int32(0)),
        lambda a: a["x"].sum(dtype=np.int64).astype(np.int32), 1,
        {"numpy": lambda np_, a: a["x"].sum(dtype=np_.int32), "torch": lambda t, a: a["x"].sum(dtype=t.int32)},
        there=True, check="total"),
    Row(1, "maximum, f16", halves, one(np.float16),
        total("MAXIMUM", np.float16(0)), lambda a: a["x"].max(), 2,
        {"numpy": lambda np_, a: a["x"].max(), "torch": lambda t, a: a["x"].max()}, there=True,
        check="greatest"),
    Row(1, "place of the maximum, f32", floats, one(np.int64),
        lambda c, a, o, n: c.argmax(d_in=a["x"], d_out=o["out"], num_items=n), lambda a: a["x"].argmax(), 4,
        {"numpy": lambda np_, a: a["x"].argmax(), "torch": lambda t, a: a["x"].argmax(),
         "cupy": lambda cp, a: a["x"].argmax()}, check="greatest_place"),
    Row(2, "sum, f32, with the bits of every device", floats, one(np.float32), total("PLUS", np.float32(0)),
        lambda a: in_leaves(a["x"]), 4, _SUM, tolerance=0, check="bits"),
    Row(3, "inclusive scan, f32", floats, same(np.float32), scan, lambda a: np.cumsum(a["x"], dtype=np.float64), 8,
        _SCAN, there=True, check="scan"),
    Row(3, "inclusive scan, i32", words(np.int32, 100), same(np.int32), scan,
        lambda a: np.cumsum(a["x"], dtype=np.int64).astype(np.int32), 8, _SCAN, there=True, check="scan"),
    Row(3, "inclusive scan, f64", doubles, same(np.float64), scan,
        lambda a: np.cumsum(a["x"]), 16, _SCAN, there=True, most=27, check="scan"),
    Row(4, "scan of pairs with an operator of Python", steps, same(np.dtype([("a", np.float32), ("b", np.float32)])),
        average, averaged, 16, {}, lambda o: o["out"]["b"], there=True, most=26, check="averages"),
    Row(5, "sqrt(x) + exp(-y), f32", two_floats,
        same(np.float32), mapped, lambda a: np.sqrt(a["x"].astype(float)) + np.exp(-a["y"].astype(float)), 12,
        {"numpy": lambda np_, a: np_.sqrt(a["x"]) + np_.exp(-a["y"]),
         "torch": lambda t, a: t.sqrt(a["x"]) + t.exp(-a["y"]),
         "cupy": lambda cp, a: cp.sqrt(a["x"]) + cp.exp(-a["y"])},
        there=True, check="mapped"),
    *(_selects(share) for share in (0.01, 0.5, 0.99)),
    Row(6, "partition, f32", floats, lambda n: {**some(np.float32)(n), "rest": (n, np.float32)}, _split,
        lambda a: np.concatenate((a["x"][a["x"] < 0.5], a["x"][a["x"] >= 0.5])), 8, {},
        lambda o: np.concatenate((first_of(o), o["rest"][: o["rest"].size - int(o["count"][0])])), check="parts"),
    *(_uniques(length) for length in (1, 8, 4096)),
    _sorts("sort, u32", words(np.uint32), np.uint32, _SORTED),
    _sorts("sort, u64", words(np.uint64), np.uint64, _SORTED),
    _sorts("sort, f32", floats, np.float32, _SORTED | _TORCH_SORT),
    Row(7, "sort of pairs, u32 and u32", pairs, same(np.uint32, values=np.uint32), sort,
        lambda a: np.sort(a["x"]), 68,
        {"numpy": lambda np_, a: a["x"][np_.argsort(a["x"], kind="stable")],
         "cupy": lambda cp, a: a["x"][cp.argsort(a["x"])]}, there=True, check="sort"),
    _sorts("sort, u8", words(np.uint8), np.uint8, _SORTED | _TORCH_SORT),
    _sorts("sort, u32 below 2^20", words(np.uint32, 1 << 20), np.uint32, _SORTED),
    _sorts("sort of what is sorted, u32", in_shape("sorted"), np.uint32, _SORTED, 8),
    _sorts("sort of the reverse, u32", in_shape("reversed"), np.uint32, _SORTED, 8),
    _sorts("sort of equal ones, u32", in_shape("equal"), np.uint32, _SORTED, 8),
    _sorts("sort of few different ones, u32", in_shape("few"), np.uint32, _SORTED, 8),
    Row(9, "merge sort of structs of 16 bytes", structs, same(np.dtype([("key", np.int64), ("value", np.int64)])),
        sort_structs, lambda a: a["x"][np.argsort(a["x"]["key"], kind="stable")]["value"], 64,
        {"numpy": lambda np_, a: a["x"][np_.argsort(a["x"]["key"], kind="stable")]["value"]},
        lambda o: o["out"]["value"], there=True, most=24, check="struct_sort"),
    *_segment_rows(),
    *(top(k) for k in (1, 32, 2048, -1)),
    bins(10, 250, words(np.uint8, 250), np.uint8, {}),
    bins(256, 256, words(np.uint8), np.uint8, _COUNTS),
    bins(256, 256, sevens, np.uint8, _COUNTS, ", all equal"),
    bins(2048, 1 << 30, words(np.int32, 1 << 30), np.int32, {}),
    bins(65536, 1 << 30, words(np.int32, 1 << 30), np.int32, {}),
    *(Row(14, f"sums of runs of {length:,}", runs(length), of_runs(np.float32), sum_runs, run_sums, 8 + 8 / length,
          {"numpy": lambda np_, a: np_.add.reduceat(a["v"], np_.flatnonzero(np_.diff(a["x"], prepend=-1)))}, first_of,
          check="run_sums")
      for length in (1, 8, 10_000)),
    *(Row(14, f"lengths of runs of {length:,}", runs(length), of_runs(np.int32), count_runs, run_lengths,
          4 + 8 / length, {"numpy": lambda np_, a: np_.diff(np_.flatnonzero(np_.diff(a["x"], prepend=-1, append=-1))),
                           "torch": lambda t, a: t.unique_consecutive(a["x"], return_counts=True)[1]}, first_of,
          check="run_lengths")
      for length in (1, 8, 10_000)),
    *(Row(15, f"lower_bound of {'sorted' if is_sorted else 'random'} values, i32", needles(is_sorted), same(np.uint64),
          search, lambda a: np.searchsorted(a["x"], a["v"]), 16,
          {"numpy": lambda np_, a: np_.searchsorted(a["x"], a["v"]),
           "torch": lambda t, a: t.searchsorted(a["x"], a["v"]),
           "cupy": lambda cp, a: cp.searchsorted(a["x"], a["v"])}, there=True, most=26, check="bounds")
      for is_sorted in (False, True)),
    *(Row(16, f"find the first, {name}", one_at(place), one(np.int64), find, first_place, 4 * max(place, 1e-3),
          check=f"found:{place}")
      for name, place in (("at 0", 0.0), ("in the middle", 0.5), ("of none", 1.0))),
    Row(17, "union of two sets, i32", two_sets, some(np.int32), of_sets("set_union"),
        lambda a: common(a, np.maximum), 8, {}, first_of, most=26, check="union"),
    Row(17, "intersection of two sets, i32", two_sets, some(np.int32), of_sets("set_intersection"),
        lambda a: common(a, np.minimum), 6, {}, first_of, most=26, check="intersection"),
    Row(18, "shuffle, i32", numbers, same(np.int32),
        lambda c, a, o, n: c.shuffle(d_in=a["x"], d_out=o["out"], num_items=n, seed=1), lambda a: a["x"], 36,
        {"torch": lambda t, a: a["x"][t.randperm(a["x"].shape[0], device=a["x"].device)]}, shuffled, np.sort,
        check="shuffled"),
    Row(18, "gather by a permutation, i32", numbers, same(np.int32),
        lambda c, a, o, n: c.gather(d_in=a["x"], d_indices=a["places"], d_out=o["out"], num_items=n),
        lambda a: a["x"][a["places"]], 44,
        {"numpy": lambda np_, a: a["x"][a["places"]], "torch": lambda t, a: a["x"][a["places"]],
         "cupy": lambda cp, a: a["x"][a["places"]]}, check="gathered"),
]  # fmt: skip

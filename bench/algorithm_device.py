# SPDX-License-Identifier: Apache-2.0
"""Data and right answers of bench/algorithms.py by torch, where the items are: NumPy would take minutes for 2^28.

A kind of data (`DATA`) makes tensors of ``n`` items on a device. A check (`CHECKS`) says how far the results of a row
are from what torch makes of the same items, of floats in float64; 0: equal, infinite: wrong. Numbers without a sign
stand in tensors of the same bits with one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .algorithm_rows import Row, in_leaves

Tensors = dict[str, Any]
Check = Callable[..., float]


def torch_dtype(t: Any, dtype: Any) -> Any:
    """The dtype of torch for the bits of one of NumPy; of structs, that of their equal fields."""
    dtype = np.dtype(dtype)
    if dtype.names is not None:
        return torch_dtype(t, dtype[0])
    if dtype.kind == "u" and dtype.itemsize > 1:
        dtype = np.dtype(f"i{dtype.itemsize}")
    return getattr(t, dtype.name)


# ---- data


def _floats(t: Any, d: str, n: int, dtype: Any = np.float32) -> Tensors:
    return {"x": t.rand(n, device=d, dtype=torch_dtype(t, dtype))}


def _whole(t: Any, d: str, n: int, top: int) -> Any:
    """Whole numbers from 0 to top, of 64 bits."""
    if top < 1 << 62:
        return t.randint(0, top + 1, (n,), device=d, dtype=t.int64)
    low, high = (t.randint(0, 1 << 32, (n,), device=d, dtype=t.int64) for _ in range(2))
    return low | high << 32


def _words(t: Any, d: str, n: int, dtype: Any, top: int) -> Tensors:
    return {"x": _whole(t, d, n, top).to(torch_dtype(t, dtype))}


def _shape(t: Any, d: str, n: int, name: str) -> Tensors:
    x = _whole(t, d, n, (1 << 32) - 1)
    if name in ("sorted", "reversed"):
        x = x.sort(descending=name == "reversed").values
    return {"x": (x * 0 if name == "equal" else x % 5 if name == "few" else x).to(t.int32)}


def _runs(t: Any, d: str, n: int, length: int) -> Tensors:
    return {"x": (t.arange(n, device=d) // length).to(t.int32), "v": t.rand(n, device=d)}


def _segments(t: Any, d: str, n: int, lengths: Any) -> Tensors:
    ends = t.from_numpy(lengths(np.random.default_rng(n), n).astype(np.int64)).to(d).cumsum(0).clamp(max=n)
    ends[-1] = n
    return {"x": t.rand(n, device=d), "starts": t.cat((ends[:1] * 0, ends[:-1])), "ends": ends}


def _two_sets(t: Any, d: str, n: int) -> Tensors:
    return {word: _whole(t, d, n // 2, n - 1).to(t.int32).sort().values for word in ("x", "y")}


def _needles(t: Any, d: str, n: int, is_sorted: bool) -> Tensors:
    x, v = (_whole(t, d, n, (1 << 31) - 1).to(t.int32) for _ in range(2))
    return {"x": x.sort().values, "v": v.sort().values if is_sorted else v}


def _one_at(t: Any, d: str, n: int, place: float) -> Tensors:
    x = t.zeros(n, device=d, dtype=t.int32)
    if place < 1:
        x[int(place * n)] = 1
    return {"x": x}


DATA: dict[str, Callable[..., Tensors]] = {
    "floats": _floats, "words": _words, "shape": _shape, "runs": _runs, "segments": _segments, "two_sets": _two_sets,
    "needles": _needles, "one_at": _one_at,
    "pairs": lambda t, d, n: {**_words(t, d, n, np.uint32, (1 << 32) - 1), "v": t.arange(n, device=d, dtype=t.int32)},
    "numbers": lambda t, d, n: {"x": t.arange(n, device=d, dtype=t.int32), "places": t.randperm(n, device=d)},
    "two_floats": lambda t, d, n: {word: t.rand(n, device=d) for word in ("x", "y")},
    "sevens": lambda t, d, n: {"x": t.full((n,), 7, device=d, dtype=t.uint8)},
    "steps": lambda t, d, n: {"x": t.stack((t.full((n,), 0.5, device=d), t.rand(n, device=d)), 1)},
    "structs": lambda t, d, n: {"x": t.stack((_whole(t, d, n, (1 << 40) - 1), t.arange(n, device=d)), 1)},
}  # fmt: skip


# ---- checks: (t, dtype of x, data, results, what stands behind the colon) -> how far


def _equal(found: Any, wanted: Any) -> float:
    return 0.0 if found.shape == wanted.shape and bool((found == wanted).all()) else math.inf


def _near(found: Any, wanted: Any) -> float:
    if found.shape != wanted.shape:
        return math.inf
    far = float(((found.double() - wanted).abs() / (1 + wanted.abs())).max()) if wanted.numel() else 0.0
    return far if far == far else math.inf


def _total(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    if dtype.kind == "f":
        return _near(o["out"], a["x"].double().sum().reshape(1))
    return _equal(o["out"], a["x"].sum(dtype=t.int64).reshape(1).to(o["out"].dtype))


def _bits(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    """The sum with the bits of every device; NumPy adds what came to the host."""
    return _equal(o["out"].cpu(), t.from_numpy(in_leaves(a["x"].cpu().numpy())))


def _scan(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    if dtype.kind == "f":
        return _near(o["out"], a["x"].double().cumsum(0))
    return _equal(o["out"], a["x"].cumsum(0, dtype=o["out"].dtype))


def _averages(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    """Of items here and there; what is 40 items away is 2^-40 of it."""
    at = t.arange(40, a["x"].shape[0], max(1, a["x"].shape[0] // 100_000), device=a["x"].device)
    b = a["x"][:, 1].double()
    return _near(o["out"].reshape(-1, 2)[at, 1], sum(0.5**k * b[at - k] for k in range(40)))


def _ordered(t: Any, dtype: Any, x: Any) -> Any:
    """In the order of numbers without a sign, if they are such."""
    return x ^ t.iinfo(x.dtype).min if dtype.kind == "u" and x.dtype != t.uint8 else x


def _sort(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    far = _equal(_ordered(t, dtype, o["out"]), _ordered(t, dtype, a["x"]).sort().values)
    return max(far, _equal(a["x"][o["values"].long()], o["out"])) if "values" in o else far


def _select(t: Any, dtype: Any, a: Tensors, o: Tensors, share: str) -> float:
    return _equal(o["out"][: int(o["count"][0])], a["x"][a["x"] < np.float32(share)])


def _parts(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    n, is_chosen = int(o["count"][0]), a["x"] < 0.5
    rest = o["rest"][: o["rest"].shape[0] - n]
    return max(_equal(o["out"][:n], a["x"][is_chosen]), _equal(rest, a["x"][~is_chosen]))


def _segment_sums(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    sums = t.cat((t.zeros(1, device=a["x"].device, dtype=t.float64), a["x"].double().cumsum(0)))
    return _near(o["out"], sums[a["ends"]] - sums[a["starts"]])


def _sorted_segments(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    lengths = a["ends"] - a["starts"]
    of = t.arange(lengths.shape[0], device=lengths.device).repeat_interleave(lengths)
    values, places = a["x"].sort()
    return _equal(o["out"], values[of[places].sort(stable=True).indices])


def _bins(t: Any, dtype: Any, a: Tensors, o: Tensors, top: str) -> float:
    n = o["out"].shape[0]
    return _equal(o["out"].long(), t.bincount(a["x"].long() * n // int(top), minlength=n))


def _run_sums(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
    sums = t.zeros(int(a["x"][-1]) + 1, device=a["x"].device, dtype=t.float64)
    return _near(o["out"][: int(o["count"][0])], sums.index_add_(0, a["x"].long(), a["v"].double()))


def _multiset(take: str) -> Check:
    def check(t: Any, dtype: Any, a: Tensors, o: Tensors) -> float:
        top = int(max(a["x"].max(), a["y"].max())) + 1
        counts = getattr(t, take)(*(t.bincount(a[word].long(), minlength=top) for word in ("x", "y")))
        wanted = t.arange(top, device=counts.device).repeat_interleave(counts)
        return _equal(o["out"][: int(o["count"][0])].long(), wanted)

    return check


def _counted(o: Tensors) -> Any:
    return o["out"][: int(o["count"][0])]


CHECKS: dict[str, Check] = {
    "total": _total, "bits": _bits, "scan": _scan, "averages": _averages, "sort": _sort, "select": _select,
    "parts": _parts, "segment_sums": _segment_sums, "sorted_segments": _sorted_segments, "bins": _bins,
    "run_sums": _run_sums,
    "greatest": lambda t, dtype, a, o: _equal(o["out"], a["x"].max().reshape(1)),
    "greatest_place": lambda t, dtype, a, o: _equal(a["x"][o["out"]], a["x"].max().reshape(1)),
    "mapped": lambda t, dtype, a, o: _near(o["out"], a["x"].double().sqrt() + (-a["y"].double()).exp()),
    "unique": lambda t, dtype, a, o: _equal(_counted(o), t.unique_consecutive(a["x"])),
    "struct_sort": lambda t, dtype, a, o: _equal(
        o["out"].reshape(-1, 2)[:, 1], a["x"][:, 0].sort(stable=True).indices),
    "top": lambda t, dtype, a, o: _equal(o["out"], a["x"].topk(o["out"].shape[0]).values),
    "run_lengths": lambda t, dtype, a, o: _equal(_counted(o).long(), t.bincount(a["x"].long())),
    "bounds": lambda t, dtype, a, o: _equal(o["out"], t.searchsorted(a["x"], a["v"])),
    "found": lambda t, dtype, a, o, place: _equal(o["out"], (o["out"] * 0 + int(float(place) * a["x"].shape[0]))),
    "union": _multiset("maximum"), "intersection": _multiset("minimum"),
    "shuffled": lambda t, dtype, a, o: _equal(o["out"].sort().values, a["x"]),
    "gathered": lambda t, dtype, a, o: _equal(o["out"], a["x"][a["places"]]),
}  # fmt: skip


class OnDevice:
    """The items of a row as tensors, lent to each library."""

    def __init__(self, row: Row, n: int, device: str) -> None:
        import torch

        self.row, self.n, self.device, self.torch = row, n, device, torch
        like = row.data(np.random.default_rng(0), 64)
        self.dtypes = {name: x.dtype for name, x in like.items()}
        self.tensors = DATA[row.data.kind](torch, device, n, *row.data.more)
        self.results: Tensors = {}

    def lend(self, side: Any) -> Tensors:
        return {name: self._as(side, tensor, self.dtypes[name]) for name, tensor in self.tensors.items()}

    def new(self, side: Any, name: str, count: int, dtype: Any) -> Any:
        fields = len(np.dtype(dtype).names or (0,))
        made = self.torch.zeros(count * fields, device=self.device, dtype=torch_dtype(self.torch, dtype))
        if side.name == "tessera":  # what is checked; cuda.compute has results of its own
            self.results[name] = made
        return self._as(side, made, np.dtype(dtype))

    def segments(self) -> int:
        return int(self.tensors["starts"].shape[0])

    def _as(self, side: Any, tensor: Any, dtype: Any) -> Any:
        """A tensor as an array of a library with this dtype, which has as many bytes or as many fields."""
        if side.name == "torch":
            mask = dtype.kind == "u" and dtype.itemsize == 4
            return tensor.long() & 0xFFFFFFFF if mask else tensor
        if self.device == "cpu":
            return tensor.numpy().reshape(-1).view(dtype)
        if side.name == "tessera":
            from tessera import cuda

            return cuda.as_cuda_array(tensor.reshape(-1)).view(dtype)
        array = side.of_cupy().from_dlpack(tensor.reshape(-1))
        return array.view(np.uint8).view(dtype) if dtype.names else array.view(dtype)

    def error(self) -> float:
        """How far Tessera's results are from torch's."""
        name, _, more = self.row.check.partition(":")
        if self.device != "cpu":
            self.torch.cuda.synchronize()
        return CHECKS[name](self.torch, self.dtypes["x"], self.tensors, self.results, *([more] if more else []))

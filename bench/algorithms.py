# SPDX-License-Identifier: Apache-2.0
"""How fast are the algorithms of tessera.compute beside NumPy and torch, on a GPU beside torch and CuPy?

2^22 items (2^28 on a GPU), fresh random ones; bytes are the least that an algorithm has to move. Results are checked
against NumPy with float64 or whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tessera import compute

from .common import Peer, Table, compare, have


@dataclass
class Row:
    """One question: what each library calls, of an array of its own and one for the result."""

    name: str
    dtype: str
    bytes_per_item: float
    ours: Callable[[Any, Any, int], Any]
    numpy: Callable[[np.ndarray], np.ndarray]
    torch: Callable[[Any], Any] | None = None
    cupy: Callable[[Any], Any] | None = None


def _sum(x: Any, out: Any, n: int) -> None:
    compute.reduce_into(d_in=x, d_out=out, num_items=n, op=compute.OpKind.PLUS, h_init=np.float32(0))


def _scan(x: Any, out: Any, n: int) -> None:
    compute.inclusive_scan(d_in=x, d_out=out, num_items=n, op=compute.OpKind.PLUS)


def _axpb(x: Any, out: Any, n: int) -> None:
    compute.unary_transform(d_in=x, d_out=out, num_items=n, op=lambda v: v * np.float32(2) + np.float32(1))


def _select(x: Any, out: Any, n: int) -> None:
    compute.select(d_in=x, d_out=out[1], d_num_selected_out=out[0], cond=lambda v: v > 0.5, num_items=n)


def _sort(x: Any, out: Any, n: int) -> None:
    compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=n)


def _bins(x: Any, out: Any, n: int) -> None:
    levels = {"num_output_levels": 257, "lower_level": np.int32(0), "upper_level": np.int32(256)}
    compute.histogram_even(d_samples=x, d_histogram=out, num_samples=n, **levels)


def _top(x: Any, out: Any, n: int) -> None:
    compute.top_k(d_in_keys=x, d_out_keys=out, num_items=n, k=32)


def _numpy_sort(x: np.ndarray) -> np.ndarray:
    return np.sort(x)


def _numpy_bins(x: np.ndarray) -> np.ndarray:
    return np.bincount(x, minlength=256)


ROWS = [
    Row("sum", "float32", 4, _sum, lambda x: x.sum(), lambda x: x.sum(), lambda x: x.sum()),
    Row("inclusive scan", "float32", 8, _scan, np.cumsum, lambda x: x.cumsum(0), lambda x: x.cumsum()),
    Row("transform", "float32", 8, _axpb, lambda x: x * np.float32(2) + 1, lambda x: x * 2 + 1, lambda x: x * 2 + 1),
    Row("select", "float32", 6, _select, lambda x: x[x > 0.5], lambda x: x[x > 0.5], lambda x: x[x > 0.5]),
    Row("sort", "uint32", 36, _sort, _numpy_sort, None, lambda x: _cupy().sort(x)),
    Row("sort", "float32", 36, _sort, _numpy_sort, lambda x: x.sort()[0], lambda x: _cupy().sort(x)),
    Row("histogram of 256 bins", "uint8", 1, _bins, _numpy_bins, lambda x: x.bincount(minlength=256)),
    Row("top 32", "float32", 4, _top, lambda x: np.sort(np.partition(x, -32)[-32:])[::-1], lambda x: x.topk(32)[0]),
]  # fmt: skip


def _cupy() -> Any:
    import cupy

    return cupy


def _items(dtype: str, n: int) -> np.ndarray:
    rng = np.random.default_rng()
    if dtype == "float32":
        return rng.random(n, np.float32)
    return rng.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)


def _empty(row: Row, n: int, make: Callable[[int, str], Any]) -> Any:
    """Memory for the result of ours."""
    if row.name == "select":
        return make(1, "int64"), make(n, row.dtype)
    sizes = {"sum": (1, row.dtype), "histogram of 256 bins": (256, "int32"), "top 32": (32, row.dtype)}
    return make(*sizes.get(row.name, (n, row.dtype)))


def _ours(row: Row, x: np.ndarray, device: str) -> Peer:
    if device == "cpu":
        there, out = x, _empty(row, x.size, np.zeros)
        back: Callable[[Any], np.ndarray] = lambda a: a  # noqa: E731
    else:
        from tessera import cuda

        there, out = cuda.to_device(x), _empty(row, x.size, cuda.device_array)
        back = lambda a: a.copy_to_host()  # noqa: E731

    def result() -> np.ndarray:
        return back(out[1])[: int(back(out[0])[0])] if isinstance(out, tuple) else back(out)

    return Peer("tessera", lambda: row.ours(there, out, x.size), result)


def _peer(name: str, call: Callable[[Any], Any], there: Any, back: Callable[[Any], np.ndarray]) -> Peer:
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = call(there)

    return Peer(name, run, lambda: np.atleast_1d(back(kept[0])))


def _peers(row: Row, x: np.ndarray, device: str) -> Iterator[Peer]:
    if device == "cpu":
        yield _peer("numpy", row.numpy, x, np.asarray)
    if row.torch is not None and have("torch"):
        import torch

        yield _peer("torch", row.torch, torch.from_numpy(x).to(device), lambda a: a.cpu().numpy())
    if row.cupy is not None and device == "cuda" and have("cupy"):
        yield _peer("cupy", row.cupy, _cupy().asarray(x), lambda a: a.get())


def tables(device: str, rounds: int, small: bool) -> Iterator[Table]:
    """A table for each row."""
    n = 1 << (12 if small else 22 if device == "cpu" else 28)
    for row in ROWS:
        x = _items(row.dtype, n)
        table = Table(f"{row.name}, {row.dtype}, {n:,} items", "GB/s", row.bytes_per_item * n * 1e-9, "")
        wide = x.astype(np.float64) if row.name in ("sum", "inclusive scan", "transform") else x
        wanted = np.atleast_1d(row.numpy(wide)).astype(np.float64)
        peers = [_ours(row, x, device), *_peers(row, x, device)]
        yield compare(table, peers, lambda found, w=wanted: w, 1e-4, device, rounds, busy=True)

# SPDX-License-Identifier: Apache-2.0
"""How fast are the algorithms of tessera.compute, beside NumPy, numba and torch on the CPU, beside cuda.compute, torch
and CuPy on a GPU? What does the first call of one cost, and what the next ones?

2^16, 2^20, 2^24 and 2^28 items (on the CPU 2^24 at most), fresh random ones (algorithm_rows.py); bytes are the least
that an algorithm has to move. All results are checked against NumPy; of more than 2^20 items on a GPU those of Tessera,
against torch (algorithm_device.py). With --seconds rows that come too late are left out.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .algorithm_device import OnDevice
from .algorithm_rows import ROWS, Arrays, Row
from .common import Figure, Peer, Table, compare, have, use_fast_code

use_fast_code()

EXPONENTS = (16, 20, 24, 28)
MOST_ON_CPU = 24
_LEAST_ROUNDS = 5  # of a table
_SECONDS = {"cpu": 2.0, "cuda": 0.1}  # how long the rounds of ours may take before there are fewer
_BY_NUMPY = 20  # up to 2^20 items NumPy makes and checks all on a GPU


class _Side:
    """How a library holds arrays: from NumPy, back, empty, and what ``peers`` of rows get as its module."""

    def __init__(self, name: str, device: str) -> None:
        self.name, self.device = name, device
        self.module: Any = np if name in ("tessera", "numpy") else None
        if name in ("torch", "cupy"):
            self.module = __import__(name)
        if name == "cuda.compute":
            import cuda.compute
            import cupy

            self.module, self.cupy = cuda.compute, cupy
        if name == "tessera":
            from tessera import compute

            self.module = compute

    def put(self, x: np.ndarray) -> Any:
        if self.device == "cpu" and self.name != "torch":
            return x
        if self.name == "torch":
            wide = {"uint32": "int64", "uint64": "int64", "uint16": "int32"}.get(str(x.dtype))
            return self.module.from_numpy(x if wide is None else x.astype(wide)).to(self.device)
        if self.name == "tessera":
            from tessera import cuda

            return cuda.to_device(x)
        if x.dtype.names:
            return self.cupy.asarray(x.view(np.uint8)).view(x.dtype)
        return self.of_cupy().asarray(x)

    def of_cupy(self) -> Any:
        return self.module if self.name == "cupy" else self.cupy

    def back(self, x: Any) -> np.ndarray:
        if isinstance(x, np.ndarray):
            return x
        if hasattr(x, "copy_to_host"):
            return np.asarray(x.copy_to_host())
        if self.name == "torch":
            return np.asarray(x.cpu().numpy())
        return np.asarray(x.get()) if hasattr(x, "get") else np.asarray(x)


class _OnHost:
    """The items of a row as NumPy makes them, put where each library wants them."""

    def __init__(self, row: Row, n: int) -> None:
        self.data = row.data(np.random.default_rng(n), n)

    def lend(self, side: _Side) -> Arrays:
        return {name: side.put(x) for name, x in self.data.items()}

    def new(self, side: _Side, name: str, count: int, dtype: Any) -> Any:
        return side.put(np.zeros(count, dtype))

    def segments(self) -> int:
        return int(self.data["starts"].size)


_Items = Any  # _OnHost or OnDevice


def _by_algorithm(side: _Side, row: Row, items: _Items, n: int) -> Peer:
    """Tessera, and cuda.compute, which is called alike."""
    there, needs = items.lend(side), row.out(n)
    if row.group in (10, 11):
        needs["out"] = (items.segments() if row.group == 10 else n, np.float32)
    out = {name: items.new(side, name, max(1, m), dtype) for name, (m, dtype) in needs.items()}

    def result() -> np.ndarray:
        return row.result({name: side.back(x) for name, x in out.items()})

    return Peer(side.name, lambda: row.ours(side.module, there, out, n), result)


def _by_call(side: _Side, row: Row, items: _Items) -> Peer:
    there = items.lend(side)
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = row.peers[side.name](side.module, there)

    return Peer(side.name, run, lambda: row.of_peers(np.atleast_1d(side.back(kept[0]))))


@functools.cache
def _numba() -> dict[str, Callable[[Any, Arrays], Any]]:
    """What numba's compiler for CPUs makes of plain loops, by the names of rows."""
    if not have("numba"):
        return {}
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def add(x):  # type: ignore[no-untyped-def]
        s = np.float32(0)
        for i in numba.prange(x.size):
            s += x[i]
        return s

    @numba.njit
    def scan(x):  # type: ignore[no-untyped-def]
        out = np.empty_like(x)
        s = x[0]
        out[0] = s
        for i in range(1, x.size):
            s = s + x[i]
            out[i] = s
        return out

    @numba.njit
    def below(x, limit):  # type: ignore[no-untyped-def]
        out, k = np.empty_like(x), 0
        for i in range(x.size):
            out[k] = x[i]
            k += x[i] < limit
        return out[:k]

    @numba.njit
    def unique(x):  # type: ignore[no-untyped-def]
        out, k = np.empty_like(x), 0
        out[0] = x[0]
        for i in range(1, x.size):
            k += x[i] != x[i - 1]
            out[k] = x[i]
        return out[: k + 1]

    @numba.njit
    def counts(x):  # type: ignore[no-untyped-def]
        found = np.zeros((4, 256), np.int32)
        for i in range(0, x.size, 4):
            found[0, x[i]] += 1
            found[1, x[i + 1]] += 1
            found[2, x[i + 2]] += 1
            found[3, x[i + 3]] += 1
        return found.sum(0)

    called: dict[str, Callable[[Any, Arrays], Any]] = {
        "sum, f32": lambda _, a: add(a["x"]),
        "histogram of 256 bins, uint8": lambda _, a: counts(a["x"]),
    }
    called |= {f"inclusive scan, {kind}": lambda _, a: scan(a["x"]) for kind in ("f32", "i32", "f64")}
    called |= {f"unique, runs of {length}": lambda _, a: unique(a["x"]) for length in (1, 8, 4096)}
    for share in (0.01, 0.5, 0.99):
        called[f"select {share:.0%}, f32"] = lambda _, a, s=np.float32(share): below(a["x"], s)  # type: ignore[misc]
    return called


def _peers(row: Row, items: _Items, n: int, device: str) -> Iterator[Peer]:
    yield _by_algorithm(_Side("tessera", device), row, items, n)
    on_device = ("numpy", "torch") if device == "cpu" else ("torch", "cupy")
    for name in on_device:
        if name in row.peers and have(name):
            yield _by_call(_Side(name, device), row, items)
    if device == "cpu" and row.name in _numba():
        yield Peer("numba", *_kept(_numba()[row.name], items.data))
    if device != "cpu" and row.there and have("cuda") and have("cupy") and _has_cuda_compute():
        yield _by_algorithm(_Side("cuda.compute", device), row, items, n)


def _kept(call: Callable[[Any, Arrays], Any], data: Arrays) -> tuple[Callable[[], None], Callable[[], np.ndarray]]:
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = call(None, data)

    return run, lambda: np.atleast_1d(kept[0])


@functools.cache
def _has_cuda_compute() -> bool:
    """Whether it can be imported, with what it needs; if it is there and cannot, that is said."""
    try:
        if have("cuda.compute"):
            import cuda.compute  # noqa: F401

            return True
    except ModuleNotFoundError:
        pass
    except ImportError as failure:
        print(f"  cuda.compute: not measured: {failure}", file=sys.stderr)
    return False


def _rounds(peers: list[Peer], device: str, rounds: int) -> int:
    """Fewer rounds where a run takes long."""
    start = time.perf_counter()
    try:
        peers[0].run()
    except Exception:  # `compare` says so
        return rounds
    once = time.perf_counter() - start
    return max(_LEAST_ROUNDS, min(rounds, int(_SECONDS[device] / max(once, 1e-9))))


def _table(row: Row, n: int, device: str, rounds: int) -> Table:
    table = Table(f"{row.group}. {row.name}, {n:,} items", "GB/s", row.bytes * n * 1e-9, "")
    if device != "cpu" and n > 1 << _BY_NUMPY and have("torch"):
        return _checked_there(table, row, n, device, rounds)
    items = _OnHost(row, n)
    wanted = np.atleast_1d(row.wanted(items.data)).astype(np.float64)

    def check(found: np.ndarray) -> np.ndarray:
        if found.shape != wanted.shape:
            raise ValueError(f"{found.shape[0]} results, not {wanted.shape[0]}")
        return wanted

    peers = list(_peers(row, items, n, device))
    compare(table, peers[:1], check, row.tolerance, device, 0, busy=True)  # sums of others may be less exact
    return compare(table, peers, check, max(row.tolerance, 1e-3), device, _rounds(peers, device, rounds), busy=True)


def _checked_there(table: Table, row: Row, n: int, device: str, rounds: int) -> Table:
    """Data and the answer of torch, where the items are."""
    items = OnDevice(row, n, device)
    others = _peers(row, items, n, device)
    first = next(others)
    compare(table, [first], None, 0, device, 0, busy=True)
    error = items.error()  # before others have results of their own there
    if error > (max(row.tolerance, 1e-4) if row.tolerance else 0):
        raise SystemExit(f"{table.question}: tessera's result is wrong: {error:.2e} from the right one")
    peers = [first, *others]
    compare(table, peers, None, 0, device, _rounds(peers, device, rounds), busy=True)
    for figure in table.figures[:1]:
        figure.error = error
    return table


# ---- what a first call costs, and the next ones

_FIRST = """
import sys, time
import numpy as np
x = np.random.default_rng(0).random(1 << 16, np.float32)
kind, device = sys.argv[1], sys.argv[2]
begin = time.perf_counter()
if kind == "torch":
    import torch
    t = torch.from_numpy(x).to(device)
    last = lambda x: x.reshape(-1)[-1].item()
    calls = {"sum": lambda: last(t.sum()), "scan": lambda: last(t.cumsum(0)), "sort": lambda: last(t.sort()[0])}
else:
    from tessera import compute, cuda
    t = x if device == "cpu" else cuda.to_device(x)
    new = (lambda m, k: np.zeros(m, k)) if device == "cpu" else cuda.device_array
    one, all_ = new(1, np.float32), new(x.size, np.float32)
    plus = compute.OpKind.PLUS
    calls = {
        "sum": lambda: compute.reduce_into(d_in=t, d_out=one, num_items=x.size, op=plus, h_init=np.float32(0)),
        "scan": lambda: compute.inclusive_scan(d_in=t, d_out=all_, op=plus, num_items=x.size),
        "sort": lambda: compute.radix_sort(d_in_keys=t, d_out_keys=all_, num_items=x.size),
    }
    if device != "cpu":
        plain = dict(calls)
        calls = {name: (lambda call=call: (call(), cuda.synchronize())) for name, call in plain.items()}
print("import", time.perf_counter() - begin)
for name, call in calls.items():
    begin = time.perf_counter()
    call()
    print(name, time.perf_counter() - begin)
"""


def _firsts(device: str) -> Iterator[Table]:
    found: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TESSERA_CACHE_DIR": folder, "TESSERA_TIERS": "1"}
        kinds = ["tessera, empty cache"] + ["tessera, warm cache"] * 3 + ["torch"] * 3 * have("torch")
        for kind in kinds:
            done = subprocess.run(
                [sys.executable, "-c", _FIRST, kind.split(",")[0], device], env=environment, capture_output=True,
                text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                print(f"  {kind}: not measured: {done.stderr.strip()[-300:]}", file=sys.stderr)
                continue
            for line in done.stdout.splitlines():
                name, seconds = line.split()
                found.setdefault(name, {}).setdefault(kind, []).append(float(seconds))
    for name, times in found.items():
        what = "import, and arrays" if name == "import" else f"the first {name} of f32"
        figures = [Figure(kind, seconds, float("nan")) for kind, seconds in times.items()]
        yield Table(f"19. {what}, in a fresh process", "1/s", 1.0, "torch", figures)


def _again(device: str, rounds: int) -> Table:
    """Time of the host for a call of few items that was made before."""
    side = _Side("tessera", device)
    x, out = side.put(np.ones(1000, np.float32)), side.put(np.zeros(1000, np.float32))
    c = side.module
    calls: dict[str, Callable[[], Any]] = {
        "sum": lambda: c.reduce_into(d_in=x, d_out=out, num_items=1000, op=c.OpKind.PLUS, h_init=np.float32(0)),
        "scan": lambda: c.inclusive_scan(d_in=x, d_out=out, num_items=1000, op=c.OpKind.PLUS),
        "transform": lambda: c.unary_transform(d_in=x, d_out=out, num_items=1000, op=lambda v: v * 2),
        "sort": lambda: c.radix_sort(d_in_keys=x, d_out_keys=out, num_items=1000),
    }
    if have("torch"):
        t = _Side("torch", device).put(np.ones(1000, np.float32))
        calls |= {"torch: sum": t.sum, "torch: scan": lambda: t.cumsum(0), "torch: sort": t.sort}
    table = Table("20. time of the host for a call of 1,000 items, f32", "calls/s", 1.0, "")
    for name, call in calls.items():
        for _ in range(10):
            call()
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(100):
                call()
            times.append((time.perf_counter() - start) / 100)
        table.figures.append(Figure(name, times, float("nan")))
    return table


def _collectives(device: str, rounds: int, n: int) -> Iterator[Table]:
    """Blocks of 256 threads with 8 items each."""
    from tessera import coop, cuda

    side = _Side("tessera", device)
    threads, items = 256, 8
    n = max(threads * items, n // (threads * items) * (threads * items))
    x = np.random.default_rng(0).random(n, np.float32)
    tiles = x.reshape(-1, threads * items).astype(np.float64)

    @cuda.jit
    def sums(src, out):  # type: ignore[no-untyped-def]
        t = cuda.blockIdx.x * threads + cuda.threadIdx.x
        total = cuda.local.array(items, np.float32)
        for j in range(items):
            total[j] = src[t * items + j]
        found = coop.block.sum(total, threads=threads)
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = found

    @cuda.jit
    def scans(src, out):  # type: ignore[no-untyped-def]
        t = cuda.blockIdx.x * threads + cuda.threadIdx.x
        mine = cuda.local.array(items, np.float32)
        for j in range(items):
            mine[j] = src[t * items + j]
        coop.block.inclusive_sum(mine, threads=threads)
        for j in range(items):
            out[t * items + j] = mine[j]

    cases = [("sums", sums, tiles.sum(1), n // (threads * items)), ("scans", scans, np.cumsum(tiles, 1).reshape(-1), n)]
    for name, kernel, wanted, m in cases:
        src, out = side.put(x), side.put(np.zeros(m, np.float32))
        launch = kernel[n // (threads * items), threads]
        table = Table(f"22. {name} of blocks of 256 threads by 8 items, {n:,} items", "GB/s", 4e-9 * (n + m), "")
        peer = Peer("tessera", lambda go=launch, s=src, o=out: go(s, o), lambda o=out: side.back(o))
        yield compare(table, [peer], lambda found, w=wanted: w, 1e-3, device, rounds, busy=True)


def tables(device: str, rounds: int, small: bool, seconds: float | None = None) -> Iterator[Table]:
    """A table for each row and number of items, as long as there is time."""
    end = float("inf") if seconds is None else time.monotonic() + seconds
    exponents = (12,) if small else tuple(e for e in EXPONENTS if device != "cpu" or e <= MOST_ON_CPU)
    asked = [(row, min(e, row.most)) for row in ROWS for e in exponents]
    asked = list({(row.name, e): (row, e) for row, e in asked}.values())
    for i, (row, exponent) in enumerate(asked):
        if time.monotonic() > end:
            print(f"  {len(asked) - i} of {len(asked)} tables are left out: the time is over", file=sys.stderr)
            return
        print(f"  {i + 1} of {len(asked)}", file=sys.stderr)
        yield _table(row, 1 << exponent, device, 3 if small else rounds)
    if not small:
        yield from _firsts(device)
    yield _again(device, 3 if small else rounds)
    yield from _collectives(device, 3 if small else rounds, 1 << (12 if small else min(exponents[-1], 26)))

# SPDX-License-Identifier: Apache-2.0
"""Question: do kernels that users of the CPU device write keep up with NumPy, numba and torch on the same cores?

Histogram, reductions along any axis, products of small and odd matrices, matrix times vector, FFT, gathers, softmax;
then how long it takes until such a kernel runs: its first call, a launch on a stream, a kernel of many operations.

Of the rounds of a table the least disturbed third counts, of every peer alike: the machine may be shared.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import tessera
import tessera.tile as ct
from tessera.lib import gemm, reduce, softmax

from . import cpu_kernels as own
from . import process
from .common import Figure, Peer, Run, Table, compare, have

if have("torch"):
    import torch
if have("numba"):
    from . import numba_cpu, numba_more


class Question(NamedTuple):
    """One table; peers give what is compared with ``wanted``, computed in float64 (or exactly)."""

    title: str
    unit: str
    amount: float
    peers: list[Peer]
    wanted: np.ndarray
    tolerance: float


class Sizes(NamedTuple):
    """How much is computed."""

    values: int
    side: int
    batch: int
    rows: int


FULL = Sizes(10_000_000, 4096, 100_000, 4096)
SMALL = Sizes(10_000, 256, 100, 16)
RNG = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))


def _fills(name: str, run: Run, out: np.ndarray) -> Peer:
    return Peer(name, run, lambda: out)


def _gives(name: str, function: Callable[[], Any]) -> Peer:
    """A peer whose function returns its result."""
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = function()

    return Peer(name, run, lambda: np.asarray(kept[0]))


def _normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, np.float32)


def _tensor(x: np.ndarray) -> Any:
    return torch.from_numpy(x)


def _others(
    numpy: Callable[[], Any], of_torch: Callable[[], Any], numba: Callable[[], Any], out: Any = None
) -> list[Peer]:
    """NumPy, and torch and numba where they are installed; numba fills ``out``, or gives its result."""
    peers = [_gives("numpy", numpy)]
    if have("torch"):
        peers.append(_gives("torch", of_torch))
    if have("numba"):
        peers.append(_gives("numba", numba) if out is None else _fills("numba", numba, out))
    return peers


# ---- what is computed ---------------------------------------------------------------------------


def _histogram(size: Sizes) -> Iterator[Question]:
    for dtype in ("int32", "uint8"):
        x = RNG.integers(0, 256, size.values).astype(dtype)
        counts, n = np.zeros(256, np.int32), 16384

        def run(x: Any = x, counts: Any = counts, n: int = n) -> None:
            counts[:] = 0
            own.run(own.histogram, ct.cdiv(x.size, n), x, counts, n)

        peers = [_fills("tessera", run, counts)]
        peers += _others(
            lambda x=x: np.bincount(x, minlength=256),
            lambda x=x: torch.bincount(_tensor(x), minlength=256),
            lambda x=x: numba_more.histogram(x, 256),
        )
        if have("numba"):
            peers.append(_gives("numba, serial", lambda x=x: numba_more.histogram_serial(x, 256)))
        title = f"histogram of {size.values:,} {dtype} into 256 bins"
        yield Question(title, "Gvalues/s", x.size * 1e-9, peers, np.bincount(x, minlength=256), 0)


def _around(shape: tuple[int, ...], axis: int | None) -> tuple[int, int, int]:
    if axis is None:
        return 1, int(np.prod(shape)), 1
    return int(np.prod(shape[:axis])), shape[axis], int(np.prod(shape[axis + 1 :]))


def _reductions(size: Sizes) -> Iterator[Question]:
    third = round((size.side * size.side) ** (1 / 3))
    cases = [((size.side, size.side), a) for a in (0, 1, None)] + [
        ((third,) * 3, a) for a in (0, 1, 2)
    ]
    for shape, axis in cases:
        x = _normal(*shape)
        outer, n, inner = _around(shape, axis)
        for op in ("sum", "max", "argmax"):
            arg = op == "argmax"
            out = np.full((outer, inner), -1, "int64" if arg else "float32")
            other = np.empty_like(out)
            run = (lambda r=reduce.arg_reduce if arg else reduce.reduce, op=op, x=x, out=out, axis=axis:
                   r(op, x, out, axis))  # fmt: skip
            function = {"sum": np.sum, "max": np.max, "argmax": np.argmax}[op]
            by_torch = {"sum": "sum", "max": "amax", "argmax": "argmax"}[op]
            peers = [_fills("tessera", run, out)]
            peers.append(
                _gives(
                    "numpy", lambda f=function, x=x, axis=axis, s=out.shape: f(x, axis).reshape(s)
                )
            )
            if have("torch"):
                t = _tensor(x)
                dims = () if axis is None else (axis,)
                peers.append(
                    _gives(
                        "torch",
                        lambda f=by_torch, t=t, d=dims, s=out.shape: getattr(t, f)(*d).reshape(s),
                    )
                )
            if have("numba") and op != "max" and axis is not None:
                numba = numba_more.places if arg else numba_more.sums
                x3 = x.reshape(outer, n, inner)
                peers.append(_fills("numba", lambda f=numba, x=x3, o=other: f(x, o), other))
            wanted = (
                function(x, axis) if op != "sum" else np.sum(x, axis, dtype=np.float64)
            ).reshape(out.shape)
            title = f"{op} float32 {'x'.join(map(str, shape))} along {axis}"
            yield Question(
                title, "GB/s", x.nbytes * 1e-9, peers, wanted, 1e-3 if op == "sum" else 0
            )


def _products(size: Sizes) -> Iterator[Question]:
    a, b = _normal(size.batch, 13, 13), _normal(size.batch, 13, 13)
    out, mine, other = (np.zeros_like(a) for _ in range(3))
    peers = [
        _fills(
            "tessera",
            lambda: own.run(own.small_products, size.batch, a, b, mine, 1),
            mine,
        ),
        _fills("tessera.lib", lambda: gemm.batched_gemm(a, b, out), out),
    ]
    peers += _others(lambda: a @ b, lambda: torch.bmm(_tensor(a), _tensor(b)),
                     lambda: numba_more.small_products(a, b, other), other)  # fmt: skip
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    yield Question(f"products of {size.batch:,} x 13 x 13 float32", "GFLOP/s", size.batch * 13**3 * 2e-9,
                   peers, wanted, 1e-4)  # fmt: skip
    for n in (257, 1000):
        a, b = _normal(n, n), _normal(n, n)
        c = np.zeros_like(a)
        peers = [
            _fills("tessera.lib", lambda a=a, b=b, c=c: gemm.gemm(a, b, c), c),
            _gives("numpy", lambda a=a, b=b: a @ b),
        ]
        if have("torch"):
            peers.append(_gives("torch", lambda a=a, b=b: _tensor(a) @ _tensor(b)))
        yield Question(
            f"GEMM float32 {n}", "GFLOP/s", n**3 * 2e-9, peers, a.astype(np.float64) @ b, 1e-3
        )


def _matrix_vector(size: Sizes) -> Iterator[Question]:
    a, x = _normal(size.side, size.side), _normal(size.side)
    out, mine, other = (np.zeros(size.side, np.float32) for _ in range(3))
    peers = [
        _fills(
            "tessera",
            lambda: own.run(own.matrix_vector, ct.cdiv(a.shape[0], 4), a, x, mine, 4, 4096),
            mine,
        ),
        _fills("tessera.lib", lambda: gemm.gemm(a, x[:, None], out[:, None]), out),
    ]
    peers += _others(lambda: a @ x, lambda: torch.mv(_tensor(a), _tensor(x)),
                     lambda: numba_more.matrix_vector(a, x, other), other)  # fmt: skip
    wanted = a.astype(np.float64) @ x
    yield Question(
        f"matrix x vector float32 {size.side}", "GB/s", a.nbytes * 1e-9, peers, wanted, 1e-3
    )


def _fft(size: Sizes) -> Iterator[Question]:
    x = _normal(size.rows, 1024, 2)
    out, (w, t) = np.zeros_like(x), own.fft_tables(32)
    z = x.view(np.complex64)[..., 0]

    def pairs(z: Any) -> np.ndarray:
        return np.asarray(z).view(np.float32).reshape(x.shape)

    peers = [
        _fills("tessera", lambda: own.run(own.fft_rows, size.rows, x, w, t, out, 1, 32), out),
        _gives("numpy (pocketfft)", lambda: pairs(np.fft.fft(z))),
    ]
    if have("torch"):
        peers.append(_gives("torch", lambda: pairs(torch.fft.fft(_tensor(z)))))
    flops = size.rows * 5 * 1024 * 10
    yield Question(f"FFT of {size.rows} rows of 1024 complex64", "GFLOP/s", flops * 1e-9, peers,
                   np.fft.fft(z.astype(np.complex128)).view(np.float64).reshape(x.shape), 1e-4)  # fmt: skip


def _gathers(size: Sizes) -> Iterator[Question]:
    few, many = (
        RNG.integers(0, 256, 256).astype("uint8"),
        RNG.integers(0, 256, 1 << 20).astype("uint8"),
    )
    for name, table, dtype in (("256", few, "uint8"), ("2^20", many, "int32")):
        at = RNG.integers(0, table.size, size.values).astype(dtype)
        out, other = np.zeros(size.values, np.uint8), np.zeros(size.values, np.uint8)
        peers = [
            _fills(
                "tessera",
                lambda t=table, i=at, o=out: own.run(
                    own.lookup, ct.cdiv(i.size, 4096), t, i, o, 4096
                ),
                out,
            )
        ]
        peers += _others(lambda t=table, i=at: t[i], lambda t=table, i=at: _tensor(t)[_tensor(i).int()],
                         lambda t=table, i=at, o=other: numba_more.lookup(t, i, o), other)  # fmt: skip
        peers.append(_gives("numpy take", lambda t=table, i=at: np.take(t, i)))
        title = f"{size.values:,} gathers out of {name} uint8 by {dtype}"
        yield Question(title, "Gvalues/s", size.values * 1e-9, peers, table[at], 0)


def _softmax(size: Sizes) -> Iterator[Question]:
    x = _normal(min(size.side, 1024), size.side)
    out, other, copied = (np.zeros_like(x) for _ in range(3))

    def by_numpy(x: np.ndarray = x) -> np.ndarray:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    peers = [_fills("tessera.lib", lambda: softmax.softmax(x, out), out),
             _fills("copy", lambda: np.copyto(copied, x), copied)]  # fmt: skip
    peers += _others(
        by_numpy, lambda: torch.softmax(_tensor(x), -1), lambda: numba_cpu.softmax(x, other), other
    )
    yield Question(f"softmax float32 {x.shape[0]}x{x.shape[1]}", "GB/s", 2 * x.nbytes * 1e-9, peers,
                   by_numpy(x.astype(np.float64)), 1e-5)  # fmt: skip


# ---- how soon it runs ---------------------------------------------------------------------------

MATH = """
import tessera, tessera.tile as ct
@ct.kernel
def chain(x, out, N: ct.Constant[int]):
    t = ct.load(x, index=(ct.bid(0),), shape=(N,))
    ct.store(out, index=(ct.bid(0),), tile=ct.sin(t) * ct.cos(t) + ct.exp(t) + ct.log(t))
a, b, out = (tessera.zeros(1024, 'float32', 'cpu') for _ in range(3)); tessera.synchronize()
"""


def _first_call(rounds: int) -> Table:
    table = Table(
        "first call of a kernel with sin, cos, exp, log on an empty cache", "calls/s", 1.0, ""
    )
    call = "ct.launch(None, (1, 1, 1), chain, (a, out, 1024)); tessera.synchronize()"
    text = process.SMALL.format(before=MATH, call=call, shown="time.perf_counter() - start")
    table.figures = [
        Figure("tessera", process.fresh(text, rounds), float("nan")),
        Figure("tessera, vector add", process._first("cpu", "", rounds), float("nan")),
    ]
    return table


@ct.kernel
def _add(x, y, out, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(
        out,
        index=(i,),
        tile=ct.load(x, index=(i,), shape=(N,)) + ct.load(y, index=(i,), shape=(N,)),
    )


def _launches(rounds: int) -> Table:
    """The mean of 100 launches each; on a stream the wait for all of them is counted."""
    table = Table("a launch with three NumPy arrays of 1,024", "launches/s", 1.0, "")
    arrays = [_normal(1024) for _ in range(3)]
    stream = tessera.Stream("cpu")
    times: dict[str, list[float]] = {"on the default stream": [], "on a stream": []}
    for _ in range(rounds):
        for (name, found), at in zip(times.items(), (None, stream), strict=True):
            start = time.perf_counter()
            for _ in range(100):
                ct.launch(at, (1, 1, 1), _add, (*arrays, 1024))
            found.append((time.perf_counter() - start) / 100)
            stream.synchronize()
    table.figures = [Figure(name, found, float("nan")) for name, found in times.items()]
    return table


UNROLLED = """
import tessera, tessera.tile as ct
@ct.kernel
def many(x, out, N: ct.Constant[int]):
    t = ct.load(x, index=(0,), shape=(N,))
    for i in ct.static_iter(range(250)):
        t = ct.where(t > i, t * 1.5, t - i)
    ct.store(out, index=(0,), tile=t)
a, out = (tessera.zeros(1024, 'float32', 'cpu') for _ in range(2)); tessera.synchronize()
"""


def _unrolled(rounds: int) -> Table:
    table = Table("first call of a kernel of 1,000 unrolled operations", "calls/s", 1.0, "")
    call = "ct.launch(None, (1, 1, 1), many, (a, out, 1024)); tessera.synchronize()"
    text = process.SMALL.format(before=UNROLLED, call=call, shown="time.perf_counter() - start")
    table.figures = [Figure("tessera", process.fresh(text, rounds), float("nan"))]
    return table


# ---- the whole ----------------------------------------------------------------------------------

PARTS = (_histogram, _reductions, _products, _matrix_vector, _fft, _gathers, _softmax)


def undisturbed(table: Table) -> Table:
    for figure in table.figures:
        figure.times = sorted(figure.times)[: max(1, len(figure.times) // 3)]
    return table


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    """All of this file's questions; those with a word of TESSERA_BENCH_ONLY in their title, where it is set."""
    if device != "cpu":
        print("bench cpu: asks of the CPU device only", flush=True)
        return []
    found, only = [], os.environ.get("TESSERA_BENCH_ONLY", "")
    for part in PARTS:
        for q in part(SMALL if small else FULL):
            if only not in q.title:
                continue
            table = Table(q.title, q.unit, q.amount, "")
            print(f"{table.question} ...", flush=True)
            compare(
                table, q.peers, lambda f, w=q.wanted: w, q.tolerance, device, 3 if small else rounds
            )
            found.append(undisturbed(table))
    few = 3 if small else min(rounds, 11)
    if not only:
        found += [undisturbed(t) for t in (_first_call(few), _launches(10 * few), _unrolled(few))]
    return found

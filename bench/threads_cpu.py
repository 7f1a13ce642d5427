# SPDX-License-Identifier: Apache-2.0
"""Question: are kernels of threads on the CPU device as fast as C and numba on the same cores?

Black-Scholes, Mandelbrot, n bodies, stencils; with barriers a product through shared memory, sums and running sums of
blocks. Peers: strict C with OpenMP (bench/threads_host.c, compiled with $CC or cc, -O3 -march=native), numba's
prange. TESSERA_BENCH_ONLY picks questions by a word.

Of the rounds of a table the least disturbed third counts, of every peer alike: the machine may be shared.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import threads_kernels as own
from .common import Peer, Table, compare, have
from .cpu import Question, undisturbed

if have("numba"):
    from . import threads_numba

F = np.float32


class Sizes(NamedTuple):
    """How much is computed."""

    options: int
    image: int
    bodies: int
    plane: int
    cube: int
    matrix: int
    values: int


FULL = Sizes(4_000_000, 1024, 8192, 4096, 256, 1024, 1 << 24)
SMALL = Sizes(1000, 64, 128, 64, 32, 64, 4096)
RNG = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))


# ---- peers --------------------------------------------------------------------------------------


class Host:
    """The functions of threads_host.c; ``None`` without a compiler."""

    def __init__(self) -> None:
        source = pathlib.Path(__file__).with_name("threads_host.c")
        self.folder = tempfile.TemporaryDirectory(prefix="tessera-bench-")
        library = pathlib.Path(self.folder.name) / "host.so"
        command = [os.environ.get("CC", "cc"), "-O3", "-march=native", "-fopenmp", "-ffp-contract=off",
                   "-shared", "-fPIC", "-std=c17", str(source), "-o", str(library), "-lm"]  # fmt: skip
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
            self.library: Any = ctypes.CDLL(str(library))
        except (OSError, subprocess.CalledProcessError) as failure:
            detail = getattr(failure, "stderr", "") or str(failure)
            print(f"  C: not measured: {detail[:300]}", file=sys.stderr)
            self.library = None

    def peer(self, name: str, out: Callable[[], np.ndarray], *args: Any) -> list[Peer]:
        """Extents are int64, arrays pointers, other numbers as NumPy has them."""
        if not self.library:
            return []
        function = getattr(self.library, name)
        given = [self._argument(x) for x in args]
        return [Peer("C", lambda: function(*given), out)]

    @staticmethod
    def _argument(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return ctypes.c_void_p(x.ctypes.data)
        if isinstance(x, np.float32):
            return ctypes.c_float(float(x))
        return ctypes.c_int32(int(x)) if isinstance(x, np.int32) else ctypes.c_int64(x)


def _others(
    name: str, host: Host, out: Callable[[], np.ndarray], extents: tuple[int, ...], args: tuple[Any, ...]
) -> list[Peer]:  # fmt: skip
    """C and numba, as far as they have the kernel; all write the same arrays."""
    peers = []
    if host.library is not None and hasattr(host.library, name):
        peers += host.peer(name, out, *extents, *args)
    if have("numba") and hasattr(threads_numba, name):
        function = getattr(threads_numba, name)
        peers.append(Peer("numba prange", lambda: function(*args), out))
    return peers


def _question(
    title: str, unit: str, amount: float, kernel: Any, grid: Any, block: Any, host: Host, extents: tuple[int, ...],
    args: tuple[Any, ...], outs: tuple[np.ndarray, ...], wanted: np.ndarray, tolerance: float,
) -> Question:  # fmt: skip
    """The kernel, whose results lie in ``outs``, and its peers of the same name."""

    def found() -> np.ndarray:
        return np.stack([np.array(out) for out in outs])

    configured = kernel[grid, block]
    peers = [Peer("tessera", lambda: configured(*args), found)]
    peers += _others(kernel.__name__, host, found, extents, args)
    return Question(title, unit, amount, peers, wanted, tolerance)


def _uniform(low: float, high: float, *shape: int) -> np.ndarray:
    return RNG.uniform(low, high, shape).astype(F)


# ---- what is computed ---------------------------------------------------------------------------


def _normal_below(d: np.ndarray) -> np.ndarray:
    k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
    p = ((((1.330274429 * k - 1.821255978) * k + 1.781477937) * k - 0.356563782) * k) + 0.31938153
    tail = 0.39894228040143267794 * np.exp(-0.5 * d * d) * (k * p)
    return np.where(d > 0, 1.0 - tail, tail)


def _black_scholes(size: Sizes, host: Host) -> Iterator[Question]:
    n = size.options
    price, strike, years = _uniform(5, 30, n), _uniform(1, 100, n), _uniform(0.25, 10, n)
    call, put = np.zeros(n, F), np.zeros(n, F)
    rate, volatility = F(0.02), F(0.3)
    s, k, t = (x.astype(np.float64) for x in (price, strike, years))
    d1 = (np.log(s / k) + (0.02 + 0.5 * 0.3**2) * t) / (0.3 * np.sqrt(t))
    n1, n2 = _normal_below(d1), _normal_below(d1 - 0.3 * np.sqrt(t))
    later = k * np.exp(-0.02 * t)
    wanted = np.stack([s * n1 - later * n2, later * (1 - n2) - s * (1 - n1)])
    args = (price, strike, years, call, put, rate, volatility)
    yield _question(f"Black-Scholes, {n:,} options", "Goptions/s", n * 1e-9, own.black_scholes, -(-n // 256), 256,
                    host, (n,), args, (call, put), wanted, 1e-4)  # fmt: skip


def _mandelbrot(size: Sizes, host: Host) -> Iterator[Question]:
    n, most = size.image, 256
    out = np.zeros((n, n), np.int32)
    left, top, step = F(-2.0), F(-1.25), F(2.5 / n)
    re, im = (
        left + np.arange(n, dtype=F)[None, :] * step,
        top + np.arange(n, dtype=F)[:, None] * step,
    )
    zr, zi = np.zeros((n, n), F), np.zeros((n, n), F)
    wanted = np.zeros((n, n), np.int32)
    with np.errstate(all="ignore"):
        for _ in range(most):
            wanted += (inside := zr * zr + zi * zi <= 4)
            zr, zi = (
                np.where(inside, zr * zr - zi * zi + re, zr),
                np.where(inside, zr * zi + zr * zi + im, zi),
            )
    args = (out, left, top, step, np.int32(most))
    yield _question(f"Mandelbrot {n} x {n}, {most} steps", "Gpoints/s", n * n * 1e-9, own.mandelbrot,
                    (-(-n // 32), -(-n // 8)), (32, 8), host, (n, n), args, (out,), wanted[None], 0)  # fmt: skip


def _n_body(size: Sizes, host: Host) -> Iterator[Question]:
    n = size.bodies
    x, y, z, mass = (_uniform(-1, 1, n) for _ in range(4))
    mass = np.abs(mass)
    ax, ay, az = (np.zeros(n, F) for _ in range(3))
    soft, at = F(1e-2), np.stack([x, y, z]).astype(np.float64)
    wanted = np.zeros((3, n))
    for first in range(0, n, 256):
        d = at[:, None, :] - at[:, first : first + 256, None]
        wanted[:, first : first + 256] = (d * (mass / ((d * d).sum(0) + 1e-2) ** 1.5)).sum(2)
    args = (x, y, z, mass, ax, ay, az, soft)
    yield _question(f"{n:,} bodies", "Gpairs/s", n * n * 1e-9, own.n_body, -(-n // 256), 256, host, (n,), args,
                    (ax, ay, az), wanted, 1e-3)  # fmt: skip


def _stencils(size: Sizes, host: Host) -> Iterator[Question]:
    n = size.plane
    u, out = _uniform(0, 1, n, n), np.zeros((n, n), F)
    d, wanted = u.astype(np.float64), np.zeros((n, n))
    wanted[1:-1, 1:-1] = 0.25 * (d[:-2, 1:-1] + d[2:, 1:-1] + d[1:-1, :-2] + d[1:-1, 2:])
    yield _question(f"Jacobi step {n} x {n}", "Gpoints/s", n * n * 1e-9, own.jacobi, (n // 32, -(-n // 8)), (32, 8),
                    host, (n, n), (u, out), (out,), wanted[None], 1e-5)  # fmt: skip
    n = size.cube
    v, after = _uniform(0, 1, n, n, n), np.zeros((n, n, n), F)
    d, wanted = v.astype(np.float64), np.zeros((n, n, n))
    inner = d[1:-1, 1:-1, 1:-1]
    wanted[1:-1, 1:-1, 1:-1] = inner + 0.1 * (
        d[:-2, 1:-1, 1:-1] + d[2:, 1:-1, 1:-1] + d[1:-1, :-2, 1:-1] + d[1:-1, 2:, 1:-1]
        + d[1:-1, 1:-1, :-2] + d[1:-1, 1:-1, 2:] - 6 * inner
    )  # fmt: skip
    yield _question(f"heat step {n}^3", "Gpoints/s", n**3 * 1e-9, own.heat, (n // 32, n // 4, n // 2), (32, 4, 2), host,
                    (n,), (v, after, F(0.1)), (after,), wanted[None], 1e-5)  # fmt: skip


def _barriers(size: Sizes, host: Host) -> Iterator[Question]:
    n, tile = size.matrix, own.TILE
    a, b, c = _uniform(-1, 1, n, n), _uniform(-1, 1, n, n), np.zeros((n, n), F)
    yield _question(f"product {n} x {n} through shared memory", "GFLOP/s", 2e-9 * n**3, own.product,
                    (n // tile, n // tile), (tile, tile), host, (n,), (a, b, c), (c,),
                    (a.astype(np.float64) @ b)[None], 1e-3)  # fmt: skip
    x, m = _uniform(-1, 1, size.values), size.values // own.BLOCK
    sums, scans = np.zeros(m, F), np.zeros(size.values, F)
    blocks = x.reshape(m, own.BLOCK).astype(np.float64)
    yield _question(f"sums of {m:,} blocks of {own.BLOCK}", "GB/s", x.nbytes * 1e-9, own.block_sums, m, own.BLOCK, host,
                    (x.size,), (x, sums), (sums,), blocks.sum(1)[None], 1e-4)  # fmt: skip
    yield _question(f"running sums of {m:,} blocks of {own.BLOCK}", "GB/s", 2e-9 * x.nbytes, own.block_scans, m,
                    own.BLOCK, host, (x.size,), (x, scans), (scans,), blocks.cumsum(1).reshape(1, -1), 1e-4)  # fmt: skip


PARTS = (_black_scholes, _mandelbrot, _n_body, _stencils, _barriers)


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    """All of this file's questions, or those with the word of TESSERA_BENCH_ONLY in their title."""
    if device != "cpu":
        print("bench threads_cpu: asks of the CPU device only", flush=True)
        return []
    found, only, host = [], os.environ.get("TESSERA_BENCH_ONLY", ""), Host()
    for part in PARTS:
        for q in part(SMALL if small else FULL, host):
            if only not in q.title:
                continue
            table = Table(q.title, q.unit, q.amount, "")
            print(f"{table.question} ...", flush=True)
            compare(
                table, q.peers, lambda f, w=q.wanted: w, q.tolerance, device, 3 if small else rounds
            )
            found.append(undisturbed(table))
    return found

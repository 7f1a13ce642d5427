# SPDX-License-Identifier: Apache-2.0
"""Question: how close do the library's vector kernels come to a copy (to a fill, where nothing is read)?

Rows of 128 to 65,536 by softmax, layer norm and RMS norm; sum, argmax, running sum; permutations; random
numbers. Sampled results are compared with float64.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tessera.lib import norm, random, reduce, scan, softmax, transpose

from .common import Peer, Table, compare, have

ROWS = (128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
PERMUTATIONS = (((16384, 16384), (1, 0)), ((64, 128, 128, 256), (0, 2, 1, 3)),
                ((64, 128, 128, 256), (0, 3, 1, 2)), ((64, 128, 128, 256), (3, 2, 1, 0)))  # fmt: skip


@dataclass
class Question:
    """One table. ``wanted`` is what the sampled results of the peers are compared with."""

    title: str
    moved: int
    peers: list[Peer]
    wanted: np.ndarray
    tolerance: float


class Machine:
    """Where arrays live: NumPy on the CPU, torch on a GPU."""

    def __init__(self, device: str, small: bool) -> None:
        self.gpu = device == "cuda"
        self.log_n = 16 if small else 28 if self.gpu else 24
        self.rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))
        if self.gpu:
            import torch

            torch.set_grad_enabled(False)
            torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
            self.torch = torch

    def normal(self, shape: tuple[int, ...], dtype: str = "float32") -> Any:
        if self.gpu:
            return self.torch.randn(shape, device="cuda").to(getattr(self.torch, dtype))
        return self.rng.standard_normal(shape, np.float32)

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """A poisoned output."""
        if self.gpu:
            poison = float("nan") if "float" in dtype else -1
            return self.torch.full(shape, poison, dtype=getattr(self.torch, dtype), device="cuda")
        return np.full(shape, np.nan if "float" in dtype else -1, dtype)

    def host(self, x: Any) -> np.ndarray:
        if not self.gpu or isinstance(x, np.ndarray):
            return np.asarray(x)
        return (x.float() if x.dtype is self.torch.bfloat16 else x).cpu().numpy()

    def fills(self, name: str, run: Callable[[], Any], out: Any, at: Any = ...) -> Peer:
        """A peer that fills ``out``; the elements ``at`` of it are compared."""
        return Peer(name, run, lambda: self.host(out[at]))

    def gives(self, name: str, function: Callable[[], Any], at: Any = ...) -> Peer:
        """A peer whose function returns its result."""
        kept: list[Any] = [None]

        def run() -> None:
            kept[0] = function()

        return Peer(name, run, lambda: self.host(kept[0][at]))

    def yardstick(self, x: Any) -> Peer:
        """A copy of an array: what every byte read and written costs."""
        to = self.empty(tuple(x.shape), "float32") if not self.gpu else self.torch.empty_like(x)
        run = (lambda: to.copy_(x)) if self.gpu else (lambda: np.copyto(to, x))
        return Peer("copy", run, lambda: self.host(to))

    def dtypes(self) -> tuple[str, ...]:
        return ("float32", "bfloat16") if self.gpu else ("float32",)


# ---- rows ------------------------------------------------------------------------------------------


def _row_case(m: Machine, name: str, x: Any, w: Any, b: Any, out: Any) -> tuple[Any, Any, Any]:
    """The kernel, torch's function and the float64 reference."""
    cols = x.shape[1]
    f = m.torch.nn.functional if m.gpu else None
    if name == "softmax":

        def wanted(r: np.ndarray) -> np.ndarray:
            e = np.exp(r - r.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)

        return (lambda: softmax.softmax(x, out)), (lambda: f.softmax(x, -1)), wanted
    w64, b64 = m.host(w).astype(np.float64), m.host(b).astype(np.float64)
    if name == "RMS norm":

        def wanted(r: np.ndarray) -> np.ndarray:
            return r / np.sqrt((r * r).mean(1, keepdims=True) + 1e-6) * w64

        return (lambda: norm.rms_norm(x, w, out)), (lambda: f.rms_norm(x, (cols,), w, 1e-6)), wanted

    def wanted(r: np.ndarray) -> np.ndarray:
        c = r - r.mean(1, keepdims=True)
        return c / np.sqrt((c * c).mean(1, keepdims=True) + 1e-5) * w64 + b64

    return (lambda: norm.layer_norm(x, w, b, out)), (lambda: f.layer_norm(x, (cols,), w, b)), wanted


def _rows(m: Machine) -> Iterator[Question]:
    for dtype in m.dtypes():
        for cols in ROWS if m.gpu else (1024, 65536):
            shape = ((1 << m.log_n) // cols, cols)
            x, w, b = m.normal(shape, dtype), m.normal((cols,), dtype), m.normal((cols,), dtype)
            out = m.empty(shape, dtype)
            at = np.sort(m.rng.choice(shape[0], min(shape[0], 64), replace=False))
            rows = m.host(x[at]).astype(np.float64)
            for name in ("softmax", "layer norm", "RMS norm"):
                run, torch_run, wanted = _row_case(m, name, x, w, b, out)
                peers = [m.fills("tessera", run, out, at), m.yardstick(x)]
                if m.gpu:
                    peers.append(m.gives("torch", torch_run, at))
                title = f"{name} {dtype} {shape[0]}x{cols}"
                tolerance = 2e-5 if dtype == "float32" else 2e-2
                yield Question(title, 2 * x.nbytes, peers, wanted(rows), tolerance)


# ---- whole arrays ------------------------------------------------------------------------------------


def _reductions(m: Machine) -> Iterator[Question]:
    x = m.normal((1 << m.log_n,))
    c = __import__("cupy").from_dlpack(x) if m.gpu and have("cupy") else None
    host = m.host(x)
    total, place = m.empty((1,), "float32"), m.empty((1,), "int64")
    cases = (
        ("sum", lambda: reduce.reduce("sum", x, total), total, np.sum(host, dtype=np.float64)),
        ("argmax", lambda: reduce.arg_reduce("argmax", x, place), place, np.argmax(host)),
    )
    for name, run, out, wanted in cases:
        peers = [m.fills("tessera", run, out), m.yardstick(x)]
        if m.gpu:
            peers.append(m.gives("torch", lambda n=name: getattr(x, n)().reshape(1)))
        else:
            peers.append(m.gives("numpy", lambda n=name: getattr(np, n)(x).reshape(1)))
        if c is not None:
            peers.append(
                Peer("cupy", lambda n=name: getattr(c, n)(), lambda w=wanted: np.full(1, w))
            )
        tolerance = 1e-3 if name == "sum" else 0
        yield Question(
            f"{name} float32 2^{m.log_n}", x.nbytes, peers, np.full(1, wanted, float), tolerance
        )


def _scans(m: Machine) -> Iterator[Question]:
    x = m.normal((1 << m.log_n,))
    out = m.empty((1 << m.log_n,), "float32")
    at = np.sort(m.rng.choice(1 << m.log_n, 1 << 12, replace=False))
    wanted = np.cumsum(m.host(x), dtype=np.float64)[at]
    other = (lambda: x.cumsum(0)) if m.gpu else (lambda: np.cumsum(x))
    peers = [
        m.fills("tessera", lambda: scan.scan("cumsum", x, out), out, at),
        m.yardstick(x),
        m.gives("torch" if m.gpu else "numpy", other, at),
    ]
    yield Question(f"cumsum float32 2^{m.log_n}", 2 * x.nbytes, peers, wanted, 2e-2)


def _permutations(m: Machine) -> Iterator[Question]:
    for dtype in m.dtypes():
        for shape, axes in PERMUTATIONS:
            if m.log_n < 28:  # the same form, smaller
                by = 1 << -(-(28 - m.log_n) // len(shape))
                shape = tuple(max(1, s // by) for s in shape)
            x = m.normal(shape, dtype)
            out = m.empty(tuple(shape[a] for a in axes), dtype)
            moved = x.permute(axes) if m.gpu else x.transpose(axes)
            copy = moved.contiguous if m.gpu else (lambda v=moved: np.ascontiguousarray(v))
            peers = [
                m.fills("tessera", lambda: transpose.permute(x, out, axes), out, 0),
                m.yardstick(x),
                m.gives("torch" if m.gpu else "numpy", copy, 0),
            ]
            title = f"permute {dtype} {'x'.join(map(str, shape))} by {axes}"
            yield Question(title, 2 * x.nbytes, peers, m.host(moved[0]).astype(np.float64), 0)


def _random(m: Machine) -> Iterator[Question]:
    out, other = m.empty((1 << m.log_n,), "float32"), m.empty((1 << m.log_n,), "float32")
    some = slice(0, 1 << 16)
    first = np.zeros(1 << 16, np.float32)
    for name, options in (("uniform", {}), ("normal", {}), ("normal", {"fast": True})):
        seed, run = int(m.rng.integers(2**62)), getattr(random, name)
        run(first, seed)  # the CPU device gives the same bits
        fill = (lambda: other.fill_(1.0)) if m.gpu else (lambda: other.fill(1.0))
        peers = [
            m.fills("tessera", lambda: run(out, seed, **options), out, some),
            m.fills("copy", fill, other, some),
        ]
        if m.gpu:  # other numbers: nothing to compare
            peers.append(Peer("torch", getattr(other, name + "_"), lambda: first))
        title = f"Philox {name}{' fast' if options else ''} float32 2^{m.log_n}, 'copy' is a fill"
        tolerance = 1e-3 if options else 0
        yield Question(title, out.nbytes, peers, first.astype(np.float64), tolerance)


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    """All of this file's questions."""
    machine, found = Machine(device, small), []
    for part in (_rows, _reductions, _scans, _permutations, _random):
        for q in part(machine):
            table = Table(q.title, "GB/s", q.moved * 1e-9, "copy")
            print(f"{table.question} ...", flush=True)
            compare(table, q.peers, lambda f, w=q.wanted: w, q.tolerance, device, rounds, busy=True)
            copy = table.of("copy")
            if copy and part is _reductions:  # a copy moves twice the bytes that a reduction reads
                copy.times = [t / 2 for t in copy.times]
            found.append(table)
    return found

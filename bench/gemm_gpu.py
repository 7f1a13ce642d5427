# SPDX-License-Identifier: Apache-2.0
"""Question: how fast is the library's matrix product beside cuBLAS on a GPU, over types, layouts and shapes, and with
what surrounds a product: batches, groups of rows (beside torch._grouped_mm), and bias, GELU and residual behind it
(beside torch.compile)?

How they are timed: contest.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from .common import Run, Table
from .contest import Contest, measure

SQUARES = [
    (d, n, t)
    for d in ("bfloat16", "float16")
    for n in (2048, 4096, 8192, 16384)
    for t in ("NN", "NT")
]
WAVES = [(n, t) for n in (1536, 3072, 5120) for t in ("NN", "NT")]  # that large tiles fill badly
TYPES = [("tfloat32", 8192), ("int8", 8192), ("float8_e4m3fn", 8192)]
DEEP = [(m, 4096, 16384) for m in (16, 32, 64, 128)] + [(512, 512, 16384)]
BATCHES = [
    (64, 512, 512, 512),
    (16, 1024, 1024, 1024),
    (8, 2048, 2048, 2048),
    (32, 128, 4096, 4096),
]
# Experts, tokens, columns, depth; tokens are spread unevenly.
GROUPED = [
    (8, 4096, 14336, 4096), (8, 16384, 14336, 4096), (32, 8192, 4096, 4096),
    (64, 4096, 1408, 2048), (64, 16384, 1408, 2048),
]  # fmt: skip
FUSED = [(8192, 8192, 8192), (16384, 4096, 4096), (8192, 8192, 1024)]
ODD = [
    (8191, 8193, 8190), (8191, 8191, 8191), (4097, 4095, 4097), (4095, 4097, 1023), (2047, 2049, 2047),
    (3001, 3001, 3001), (1023, 1023, 1023), (1025, 2049, 4097), (513, 513, 513), (257, 257, 257), (777, 777, 777),
    (1001, 777, 3333), (5003, 1009, 2003), (1009, 5003, 2003), (2003, 1009, 5003), (129, 4097, 4095), (255, 8191, 1025),
    (8191, 255, 1025), (4097, 1025, 2049), (6007, 6011, 3001), (1999, 7993, 999), (7993, 1999, 999), (333, 3333, 3333),
    (3333, 333, 3333),
]  # fmt: skip
SKINNY = [
    (m, n, k) for m in (1, 3, 16, 17, 64, 100, 128)
    for n, k in ((4096, 4096), (8192, 8192), (11008, 4096), (4096, 11008))
] + [(16, 8191, 8193), (5, 3333, 4097), (33, 5000, 4001), (65, 4097, 4099)] + [
    (8192, n, 8192) for n in (64, 128, 200, 256)
] + [(16384, 96, 1024), (16383, 17, 1025), (9999, 127, 511), (20000, 64, 512)]  # fmt: skip


CUBLAS = "torch (cuBLAS)"


@dataclass
class Many(Table):
    """Ratios to the yardstick over many shapes: all of them, or the ``worst``."""

    ratios: list[tuple[str, float, float, float]] = field(default_factory=list)
    worst: int | None = None
    what: str = "M x N x K"

    def add(self, name: str, table: Table) -> None:
        """One shape's table; one that lacks our figure or the yardstick's is named under this table."""
        ours, theirs = table.of("tessera"), table.of(self.yardstick)
        if ours and theirs:
            self.ratios.append((name, theirs.median / ours.median, ours.median, theirs.median))
        else:
            self.note += f"{'; ' if self.note else ''}{name}: {table.note}"

    def summary(self) -> str:
        """Geometric mean, 5th percentile and least."""
        if not self.ratios:
            return "nothing measured"
        found = sorted(r[1] for r in self.ratios)
        mean = math.exp(sum(map(math.log, found)) / len(found))
        fifth = found[(len(found) - 1) // 20]
        return (
            f"{len(found)} measured, geometric mean {mean:.3f} x {self.yardstick}, "
            f"5th percentile {fifth:.3f}, least {found[0]:.3f}"
        )

    def show(self) -> str:
        shown = self.ratios
        if self.worst is not None:
            shown = sorted(shown, key=lambda r: r[1])[: self.worst]
        lines = [f"**{self.question}**: {self.summary()}", ""]
        lines += [self.note, ""] if self.note else []
        lines += [f"| {self.what} | ratio | tessera | {self.yardstick} |", "|---|---|---|---|"]
        lines += [
            f"| {s} | {r:.2f} | {t * 1e6:,.1f} us | {c * 1e6:,.1f} us |" for s, r, t, c in shown
        ]
        return "\n".join(lines) + "\n"


def _contest(
    question: str, flops: float, runs: dict[str, Run], error: Callable[[str], float], tolerance: float
) -> Contest:
    """``flops`` are multiplications and additions; the second of ``runs`` is the yardstick."""
    return Contest(question, "TFLOP/s", flops * 1e-12, list(runs)[1], runs, error, tolerance)


def _fresh(torch: Any, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "int8":
        return torch.randint(-128, 128, shape, dtype=torch.int8, device="cuda")
    x = torch.randn(shape, device="cuda")
    return x if dtype == "tfloat32" else x.to(getattr(torch, dtype))


def product(
    torch: Any, dtype: str, shape: tuple[int, int, int], order: str = "NN", fresh: Any = _fresh
) -> Contest:
    """One product; ``order`` says which operands are transposed in memory, ``fresh`` makes arrays."""
    from tessera.lib import gemm

    m, n, k = shape
    a = fresh(torch, (k, m) if order[0] == "T" else (m, k), dtype)
    b = fresh(torch, (n, k) if order[1] == "T" else (k, n), dtype)
    a, b = a.t() if order[0] == "T" else a, b.t() if order[1] == "T" else b
    kind = {"int8": torch.int32, "tfloat32": torch.float32}.get(
        dtype, torch.float16 if dtype == "float16" else torch.bfloat16
    )
    outs = {
        name: torch.full((m, n), -77, dtype=kind, device=a.device)
        for name in ("tessera", CUBLAS)
    }
    one = torch.ones((), device=a.device)

    def peer() -> Any:
        if dtype == "int8":
            outs[CUBLAS] = torch._int_mm(a, b)
        elif dtype.startswith("float8"):
            outs[CUBLAS] = torch._scaled_mm(
                a, b, one, one, out_dtype=kind, use_fast_accum=True
            )
        else:
            torch.mm(a, b, out=outs[CUBLAS])

    def error(name: str) -> float:
        rows = torch.randint(0, m, (8,), device=a.device)
        rows[0] = m - 1
        wanted = a.float()[rows].double() @ b.float().double()
        return float((outs[name][rows].double() - wanted).abs().max()) / k**0.5

    runs = {
        "tessera": lambda: gemm.gemm(a, b, outs["tessera"], tf32=dtype == "tfloat32"),
        CUBLAS: peer,
    }
    text = f"GEMM {dtype} {m} x {n} x {k} {order}"
    return _contest(text, 2.0 * m * n * k, runs, error, 0.0 if dtype == "int8" else 4e-2)


def _batch(torch: Any, shape: tuple[int, int, int, int]) -> Contest:
    from tessera.lib import gemm

    count, m, n, k = shape
    a, b = _fresh(torch, (count, m, k), "bfloat16"), _fresh(torch, (count, k, n), "bfloat16")
    outs = {
        p: torch.full((count, m, n), -77.0, dtype=torch.bfloat16, device="cuda")
        for p in ("tessera", CUBLAS)
    }

    def error(name: str) -> float:
        wanted = a[-1, -8:].double() @ b[-1].double()
        return float((outs[name][-1, -8:].double() - wanted).abs().max()) / k**0.5

    runs = {
        "tessera": lambda: gemm.batched_gemm(a, b, outs["tessera"]),
        CUBLAS: lambda: torch.bmm(a, b, out=outs[CUBLAS]),
    }
    return _contest(
        f"batched GEMM bfloat16 {count} x {m} x {n} x {k}",
        2.0 * count * m * n * k,
        runs,
        error,
        4e-2,
    )


def _ends(torch: Any, groups: int, rows: int) -> Any:
    """Where groups end that differ by up to a factor of 6."""
    weights = torch.rand(groups, device="cuda") + 0.2
    ends = (weights.cumsum(0) * (rows / weights.sum())).to(torch.int32)
    ends[-1] = rows
    return ends


def _grouped(torch: Any, shape: tuple[int, int, int, int]) -> Contest:
    from tessera.lib.grouped_gemm import grouped_gemm

    groups, m, n, k = shape
    a, b = _fresh(torch, (m, k), "bfloat16"), _fresh(torch, (groups, k, n), "bfloat16")
    ends = _ends(torch, groups, m)
    at = [0, *ends.tolist()]
    outs: dict[str, Any] = {
        p: torch.full((m, n), -77.0, dtype=torch.bfloat16, device="cuda")
        for p in ("tessera", "cuBLAS, a call each")
    }

    def each() -> None:
        for i in range(groups):
            rows = slice(at[i], at[i + 1])
            torch.mm(a[rows], b[i], out=outs["cuBLAS, a call each"][rows])

    def error(name: str) -> float:
        rows = [r for end in at for r in (end - 1, end) if 0 <= r < m]
        group = torch.searchsorted(ends, torch.tensor(rows, device="cuda"), right=True).tolist()
        worst = [
            (outs[name][r].double() - a[r].double() @ b[i].double()).abs().max()
            for r, i in zip(rows, group, strict=True)
        ]
        return float(max(worst)) / k**0.5

    runs = {"tessera": lambda: grouped_gemm(a, b, ends, outs["tessera"])}
    if hasattr(torch, "_grouped_mm"):
        runs["torch._grouped_mm"] = lambda: outs.__setitem__(
            "torch._grouped_mm", torch._grouped_mm(a, b, offs=ends)
        )
    runs["cuBLAS, a call each"] = each
    text = f"grouped GEMM bfloat16, {groups} experts, {m} x {n} x {k}"
    return _contest(text, 2.0 * m * n * k, runs, error, 4e-2)


def _fused(torch: Any, shape: tuple[int, int, int]) -> Contest:
    from tessera.lib import gemm
    from torch.nn import functional

    m, n, k = shape
    a, w, bias, residual = (_fresh(torch, s, "bfloat16") for s in ((m, k), (n, k), (n,), (m, n)))
    w.mul_(k**-0.5)
    outs: dict[str, Any] = {
        "tessera": torch.full((m, n), -77.0, dtype=torch.bfloat16, device="cuda")
    }

    def plain(x: Any) -> Any:
        return functional.gelu(functional.linear(x, w, bias), approximate="tanh") + residual

    compiled = torch.compile(plain)

    def error(name: str) -> float:
        z = (
            functional.gelu(a[-8:].double() @ w.double().t() + bias.double(), approximate="tanh")
            + residual[-8:].double()
        )
        return float(((outs[name][-8:].double() - z).abs() / (1 + z.abs())).max())

    runs = {
        "tessera": lambda: gemm.gelu_gemm(a, w.t(), bias, residual, outs["tessera"]),
        "torch.compile": lambda: outs.__setitem__("torch.compile", compiled(a)),
    }
    return _contest(
        f"GEMM + bias + GELU + residual bfloat16 {m} x {n} x {k}",
        2.0 * m * n * k,
        runs,
        error,
        4e-2,
    )


def _contests(torch: Any) -> Iterator[Contest]:
    for dtype, n, order in SQUARES:
        yield product(torch, dtype, (n, n, n), order)
    for n, order in WAVES:
        yield product(torch, "bfloat16", (n, n, n), order)
    for dtype, n in TYPES:
        yield product(torch, dtype, (n, n, n), "NT")
    for deep in DEEP:
        yield product(torch, "bfloat16", deep)
    for batch in BATCHES:
        yield _batch(torch, batch)
    for grouped in GROUPED:
        yield _grouped(torch, grouped)
    for fused in FUSED:
        yield _fused(torch, fused)


def tables(rounds: int) -> Iterator[Table]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    for contest in _contests(torch):
        print(f"{contest.question} ...", flush=True)
        yield measure(contest, "cuda", rounds)
    many = Many("GEMM bfloat16, odd and skinny shapes", "", 1.0, CUBLAS)
    for m, n, k in ODD + SKINNY:
        many.add(f"{m} x {n} x {k}", measure(product(torch, "bfloat16", (m, n, k)), "cuda", rounds))
    yield many

# SPDX-License-Identifier: Apache-2.0
"""Question: the single bars of kernels on a GPU: the fused chain beside torch.compile and a copy, long attention beside
cuDNN, layer norm in bfloat16 beside a copy, and kernels of a user, at every tile size, beside the library and cuBLAS.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tessera.tile as ct

from . import memory
from . import tutorial_tile as user
from .attention import Problem, Shape
from .common import Run, Table, error_of
from .contest import Contest, Deadline, measure
from .data import Data
from .gemm_gpu import CUBLAS

LIBRARY = "tessera.lib"
ATTENTION_TILES = [(64, 64), (128, 64), (128, 128), (256, 64), (256, 128)]
PRODUCT_TILES = [(128, 256, 64), (128, 128, 64), (128, 256, 128), (256, 128, 64)]
NORM_TILES = [1024, 2048, 4096, 8192]


def _launched(kernel: Any, grid: tuple[int, ...], *arguments: Any) -> Run:
    return functools.partial(ct.launch, None, grid, kernel, arguments)


def _copy_of(torch: Any, moved: int, device: str) -> Run:
    """A copy that reads and writes ``moved`` bytes in all."""
    source = torch.zeros(moved // 2, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def _chain(torch: Any, device: str, small: bool) -> Contest:
    from tessera.lib import elementwise

    n = 1 << (16 if small else 27)
    data = Data([n, n, n], (n,), "float32", device, 0.0, 1.5)
    x, y, z = (torch.as_tensor(a) for a in data.arrays)
    out, rows, kept = data.empty(), data.rows(), {}
    function = memory._torch_functions(torch)["fused chain"]
    compiled = torch.compile(function) if device == "cuda" else function

    def error(name: str) -> float:
        if name == "copy":
            return 0.0
        found = data.host(out if name == "tessera" else kept["out"], rows)
        wanted = memory.NUMPY["fused chain"](
            *(a.astype(np.float64) for a in data.sampled(rows, "fused chain"))
        )
        return error_of(found, wanted)

    runs = {
        "tessera": lambda: elementwise.chain(*data.arrays, out),
        "torch.compile": lambda: kept.__setitem__("out", compiled(x, y, z)),
        "copy": _copy_of(torch, 16 * n, device),
    }
    return Contest(f"fused chain float32 {n}", "GB/s", 16e-9 * n, "torch.compile", runs, error, 2e-5)


def _long_attention(torch: Any, device: str, small: bool) -> Iterator[Contest]:
    from tessera.lib import attention
    from torch.nn import functional

    for causal in (False, True):
        shape = Shape(1, 2 if small else 16, 2 if small else 16, 128 if small else 16384, 64, causal)
        p = Problem(shape, device)
        wanted, kept = p.wanted()[0], {}

        def error(name: str, p: Any = p, wanted: Any = wanted, kept: Any = kept) -> float:
            return error_of(p.of_head([p.out if name == "tessera" else kept["out"]]), wanted)

        def theirs(p: Any = p, kept: Any = kept) -> None:
            kept["out"] = functional.scaled_dot_product_attention(p.q, p.k, p.v, is_causal=p.shape.causal)

        def cudnn(theirs: Run = theirs) -> None:
            from torch.nn.attention import SDPBackend, sdpa_kernel

            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                theirs()

        runs = {
            "tessera": lambda p=p: attention.attention(p.q, p.k, p.v, p.out, causal=p.shape.causal),
            "cuDNN": cudnn if device == "cuda" else theirs,
        }
        name = f"attention {str(p.q.dtype).removeprefix('torch.')} {shape.name()}"
        yield Contest(name, "TFLOP/s", shape.flops() * 1e-12, "cuDNN", runs, error, 2e-2)


def _norm(torch: Any, device: str, small: bool) -> Contest:
    from tessera.lib import norm

    rows, cols = (64, 2048) if small else (16384, 8192)
    x = torch.randn(rows, cols, device=device).to(torch.bfloat16)
    w, b = (torch.randn(cols, device=device).to(torch.bfloat16) for _ in range(2))
    mean, rstd = (torch.empty(rows, device=device) for _ in range(2))
    outs: dict[str, Any] = {}
    runs: dict[str, Run] = {}

    def add(name: str, make: Callable[[Any], Run]) -> None:
        outs[name] = torch.full_like(x, math.nan)
        runs[name] = make(outs[name])

    add(LIBRARY, lambda out: functools.partial(norm.layer_norm, x, w, b, out))
    for tile in NORM_TILES[: 2 if small else None]:
        add(
            f"a user's, tile {tile}",
            lambda out, t=tile: _launched(user.norm_forward, (rows,), x, w, b, out, mean, rstd, 1e-5, t),
        )
    runs["copy"] = _copy_of(torch, 4 * rows * cols, device)
    wanted = torch.nn.functional.layer_norm(x[-64:].double(), (cols,), w.double(), b.double(), 1e-5)

    def error(name: str) -> float:
        if name == "copy":
            return 0.0
        return float(((outs[name][-64:].double() - wanted).abs() / (1 + wanted.abs())).max())

    return Contest(
        f"layer norm bfloat16 {rows} x {cols}", "GB/s", 4e-9 * rows * cols, "copy", runs, error, 2e-2
    )


def _user_attention(torch: Any, device: str, small: bool) -> Iterator[Contest]:
    from tessera.lib import attention

    batch, heads, length = (1, 2, 256) if small else (4, 16, 4096)
    for d, causal in itertools.product((128, 64), (False, True)):
        shape = (batch * heads, length, d)
        q, k, v = (torch.randn(shape, device=device).to(torch.float16) for _ in range(3))
        names = [LIBRARY, *(f"a user's, tile {tm} x {tn}" for tm, tn in ATTENTION_TILES)]
        outs = {name: torch.full_like(q, math.nan) for name in names}
        runs: dict[str, Run] = {
            LIBRARY: functools.partial(attention.attention, q, k, v, outs[LIBRARY], causal=causal)
        }
        for (tm, tn), name in zip(ATTENTION_TILES, names[1:], strict=True):
            grid = (length // tm, batch * heads)
            runs[name] = _launched(
                user.attention, grid, q, k, v, outs[name], d**-0.5, causal, tm, tn, d
            )
        s = q[-1].double() @ k[-1].double().T * d**-0.5
        if causal:
            s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
        wanted = torch.softmax(s, -1) @ v[-1].double()

        def error(name: str, outs: Any = outs, wanted: Any = wanted) -> float:
            return float((outs[name][-1].double() - wanted).abs().max())

        mask = ", causal" if causal else ""
        question = f"attention of a user float16 {batch} x {heads} x {length} x {d}{mask}"
        flops = 4e-12 * batch * heads * length**2 * d / (2 if causal else 1)
        yield Contest(question, "TFLOP/s", flops, LIBRARY, runs, error, 1e-2)


def _user_products(torch: Any, device: str, small: bool) -> Iterator[Contest]:
    for count, n in ((2, 256),) if small else ((16, 1024), (64, 512)):
        a, b = (torch.randn(count, n, n, device=device).to(torch.float16) for _ in range(2))
        names = [f"a user's, tile {' x '.join(map(str, t))}" for t in PRODUCT_TILES]
        outs = {name: torch.full_like(a, math.nan) for name in (*names, CUBLAS)}
        runs: dict[str, Run] = {
            name: _launched(user.batched_matmul, (count, -(-n // t[0]), -(-n // t[1])), a, b, outs[name], *t)
            for name, t in zip(names, PRODUCT_TILES, strict=True)
        }
        runs[CUBLAS] = functools.partial(torch.bmm, a, b, out=outs[CUBLAS])
        wanted = a[-1].double() @ b[-1].double()

        def error(name: str, outs: Any = outs, wanted: Any = wanted, n: int = n) -> float:
            return float((outs[name][-1].double() - wanted).abs().max()) / n**0.5

        question = f"batched products of a user float16 {count} x {n}"
        yield Contest(question, "TFLOP/s", 2e-12 * count * n**3, CUBLAS, runs, error, 1e-2)


def _contests(torch: Any, device: str, small: bool) -> Iterator[Contest]:
    yield _chain(torch, device, small)
    yield from _user_attention(torch, device, small)
    yield from _user_products(torch, device, small)
    yield _norm(torch, device, small)
    yield from _long_attention(torch, device, small)


def tables(device: str, rounds: int, small: bool, *, seconds: float | None) -> Iterator[Table]:
    import torch

    torch.set_grad_enabled(False)
    deadline = Deadline(seconds)
    for contest in _contests(torch, device, small):
        if deadline.over():
            print(f"{contest.question}: no time left")
            continue
        print(f"{contest.question} ...", flush=True)
        yield measure(contest, device, rounds)

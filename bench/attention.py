# SPDX-License-Identifier: Apache-2.0
"""Question: how fast is plain tile attention, forward and backward, beside cuDNN and FlashAttention?

Both peers are reached through torch. Causal work counts half. One random head is checked against float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .common import Peer, Table, compare

TOKENS = 1 << 25  # batch * heads * length * D of the queries


@dataclass
class Shape:
    """What one table measures."""

    batch: int
    heads: int
    kv_heads: int
    length: int
    d: int
    causal: bool

    def name(self) -> str:
        group = "" if self.heads == self.kv_heads else f", {self.kv_heads} heads of keys"
        mask = ", causal" if self.causal else ""
        return f"{self.batch} x {self.heads} x {self.length} x {self.d}{group}{mask}"

    def flops(self) -> float:
        full = 4.0 * self.batch * self.heads * self.length**2 * self.d
        return full / 2 if self.causal else full


def _shapes(small: bool) -> list[Shape]:
    if small:
        return [Shape(1, 2, 1, 128, 64, True)]
    found = []
    for d in (64, 128, 256):
        for length in (1024, 4096, 16384):
            heads = TOKENS // (length * d)
            found += [
                Shape(max(1, heads // 16), min(heads, 16), min(heads, 16), length, d, c)
                for c in (False, True)
            ]
    return found + [Shape(4, 16, 4, 4096, 128, c) for c in (False, True)]  # fmt: skip


class Problem:
    """Fresh random arrays of one shape on a torch device, and the float64 answer for one head."""

    def __init__(self, shape: Shape, device: str) -> None:
        import torch

        self.torch, self.shape = torch, shape
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        lead, rest = (shape.batch, shape.heads), (shape.length, shape.d)
        torch.seed()

        def draw(heads: int) -> Any:
            return torch.randn(shape.batch, heads, *rest, device=device).to(dtype)

        self.q, self.k, self.v = draw(shape.heads), draw(shape.kv_heads), draw(shape.kv_heads)
        self.dout = draw(shape.heads)
        self.out = torch.full((*lead, *rest), math.nan, device=device, dtype=dtype)
        self.lse, self.delta = (torch.empty((*lead, shape.length), device=device) for _ in "ab")
        self.gradients = [torch.full_like(x, math.nan) for x in (self.q, self.k, self.v)]
        self.at = int(torch.randint(shape.batch, ())), int(torch.randint(shape.kv_heads, ()))

    def group(self) -> slice:
        """Query heads that the checked head of keys serves."""
        n = self.shape.heads // self.shape.kv_heads
        return slice(self.at[1] * n, (self.at[1] + 1) * n)

    def of_head(self, outputs: list[Any]) -> np.ndarray:
        """The checked head of arrays like q or k, on the host."""
        batch, head = self.at
        parts = [
            x[batch, self.group()] if x.shape[1] == self.shape.heads else x[batch, head : head + 1]
            for x in outputs
        ]
        return np.concatenate([p.double().cpu().numpy().ravel() for p in parts])

    def wanted(self) -> tuple[np.ndarray, np.ndarray]:
        """Output, and gradients one behind the other, in float64."""
        torch, (batch, head), outs, dqs = self.torch, self.at, [], []
        k, v = self.k[batch, head].double(), self.v[batch, head].double()
        dk, dv, scale = torch.zeros_like(k), torch.zeros_like(v), 1.0 / math.sqrt(self.shape.d)
        for q, dout in zip(
            self.q[batch, self.group()].double(),
            self.dout[batch, self.group()].double(),
            strict=True,
        ):
            s = q @ k.T * scale
            if self.shape.causal:
                s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -math.inf)
            p = torch.softmax(s, -1)
            out = p @ v
            dv += p.T @ dout
            ds = p * (dout @ v.T - (dout * out).sum(-1, keepdim=True)) * scale
            dk += ds.T @ q
            outs.append(out)
            dqs.append(ds @ k)
        found = [torch.stack(outs), torch.stack(dqs), dk, dv]
        host = [x.cpu().numpy().ravel() for x in found]
        return host[0], np.concatenate(host[1:])


def _tessera(p: Problem) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from tessera.lib import attention, attention_backward

    def forward() -> None:
        attention.attention(p.q, p.k, p.v, p.out, causal=p.shape.causal, lse=p.lse)

    def backward() -> None:
        attention_backward.attention_backward(
            p.q, p.k, p.v, p.out, p.lse, p.dout, *p.gradients, p.delta, causal=p.shape.causal
        )

    return forward, backward


def _torch_peers(p: Problem) -> tuple[list[Peer], list[Peer]]:
    from torch.nn import attention, functional

    forward, backward = [], []
    backends = {"cuDNN": "CUDNN_ATTENTION", "FlashAttention-2": "FLASH_ATTENTION"}
    for name, backend in backends.items() if p.q.is_cuda else [("torch", "MATH")]:
        leaves = [x.detach().clone().requires_grad_() for x in (p.q, p.k, p.v)]
        kept: dict[str, Any] = {}

        def attend(inputs: list[Any], which: str = backend) -> Any:
            with attention.sdpa_kernel(getattr(attention.SDPBackend, which)):
                return functional.scaled_dot_product_attention(
                    *inputs, is_causal=p.shape.causal, enable_gqa=p.shape.heads != p.shape.kv_heads
                )

        def run(kept: Any = kept, attend: Any = attend) -> None:
            kept["out"] = attend([p.q, p.k, p.v])

        def back(kept: Any = kept, attend: Any = attend, leaves: Any = leaves) -> None:
            if "graph" not in kept:
                kept["graph"] = attend(leaves)
            kept["grad"] = p.torch.autograd.grad(kept["graph"], leaves, p.dout, retain_graph=True)

        forward.append(Peer(name, run, lambda kept=kept: p.of_head([kept["out"]])))
        backward.append(Peer(name, back, lambda kept=kept: p.of_head(list(kept["grad"]))))
    return forward, backward


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    found = []
    base = "cuDNN" if device == "cuda" else "torch"
    for shape in _shapes(small or device == "cpu"):
        problem = Problem(shape, device)
        (run, back), (forward, backward) = _tessera(problem), _torch_peers(problem)
        wanted = problem.wanted()
        peers = [
            [Peer("tessera", run, lambda p=problem: p.of_head([p.out])), *forward],
            [Peer("tessera", back, lambda p=problem: p.of_head(p.gradients)), *backward],
        ]
        for i, (way, work) in enumerate([("forward", 1.0), ("backward", 2.5)]):
            dtype = str(problem.q.dtype).removeprefix("torch.")
            table = Table(
                f"attention {way} {dtype} {shape.name()}",
                "TFLOP/s",
                work * shape.flops() * 1e-12,
                base,
            )
            print(f"{table.question} ...", flush=True)
            compare(
                table, peers[i], lambda f, w=wanted[i]: w, 2e-2 if device == "cuda" else 1e-4, device, rounds
            )  # fmt: skip
            found.append(table)
    return found

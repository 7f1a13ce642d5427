# SPDX-License-Identifier: Apache-2.0
"""Question: how fast is a plain tile GEMM beside the vendor's library? C = A B, row-major."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import Peer, Table, compare, have
from .data import Data


def _cpu(data: Data) -> list[Peer]:
    a, b = data.sources
    out = np.empty(data.out_shape, np.float32)
    peers = [Peer("numpy (OpenBLAS)", lambda: np.matmul(a, b, out=out), lambda: out)]
    if have("torch"):
        import torch

        ta, tb, tc = torch.from_numpy(a), torch.from_numpy(b), torch.empty(data.out_shape)
        peers.append(Peer("torch", lambda: torch.mm(ta, tb, out=tc), lambda: tc.numpy()))
    if have("jax"):
        import jax
        import jax.numpy as jnp

        ja, jb = jnp.asarray(a), jnp.asarray(b)
        product = jax.jit(lambda x, y: x @ y)
        kept: list[Any] = [None]

        def run() -> None:
            kept[0] = product(ja, jb).block_until_ready()

        peers.append(Peer("jax", run, lambda: np.asarray(kept[0])))
    return peers


def _gpu(data: Data) -> list[Peer]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = data.arrays
    out = data.empty()
    peers = [Peer("torch (cuBLAS)", lambda: torch.mm(a, b, out=out), lambda: data.host(out))]
    if have("triton") and data.dtype == "bfloat16":
        from . import triton_kernels

        c = data.empty()
        peers.append(Peer("triton", lambda: triton_kernels.gemm(a, b, c), lambda: data.host(c)))
    return peers


CASES = {
    "cuda": [
        ("bfloat16", 2048), ("bfloat16", 4096), ("bfloat16", 8192),
        ("float32", 8192), ("float64", 4096),
    ],
    "cpu": [("float32", 1024), ("float32", 2048), ("float32", 4096)],
}  # fmt: skip
SMALL = {
    "cuda": [("bfloat16", 256), ("float32", 256), ("float64", 256)],
    "cpu": [("float32", 256)],
}
TOLERANCE = {"bfloat16": 2e-2, "float32": 5e-4, "float64": 1e-11}


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    from tessera.lib import gemm

    found = []
    for dtype, n in SMALL[device] if small else CASES[device]:
        data = Data([(n, n), (n, n)], (n, n), dtype, device, -1.0, 1.0)
        table = Table(
            f"GEMM {dtype} {n}",
            "TFLOP/s",
            2.0 * n**3 * 1e-12,
            "torch (cuBLAS)" if device == "cuda" else "numpy (OpenBLAS)",
        )
        print(f"{table.question} ...", flush=True)
        out = data.empty()
        peers = [
            Peer(
                "tessera",
                lambda d=data, o=out: gemm.gemm(*d.arrays, o),
                lambda d=data, o=out: d.host(o),
            )
        ]
        peers += (_cpu if device == "cpu" else _gpu)(data)
        rows = data.rows()
        wanted = data.sources[0][rows].astype(np.float64) @ data.sources[1].astype(np.float64)
        few = max(5, rounds // (4 if n >= 4096 and device == "cpu" else 1))
        compare(
            table,
            peers,
            lambda f, w=wanted: w,
            TOLERANCE[dtype],
            device,
            few,
            lambda x, r=rows: x[r],
        )
        found.append(table)
    if device == "cuda" and not small:
        from . import gemm_gpu

        found += list(gemm_gpu.tables(rounds))
    return found

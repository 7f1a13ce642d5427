# SPDX-License-Identifier: Apache-2.0
"""Question: how close do memory-bound kernels come to a copy, and to the peers?

Vector add, the fused chain sqrt(sin(x)*cos(y)+exp(-z*z)+log(x+1)), row softmax, layer norm, transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .common import Peer, Table, compare, have
from .data import Data


def _np_chain(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sin(x) * np.cos(y) + np.exp(-z * z) + np.log(x + 1))


def _np_softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _np_norm(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-5) * w + b


def _torch_functions(torch: Any) -> dict[str, Callable[..., Any]]:
    def norm(x: Any, w: Any, b: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b, 1e-5)

    return {
        "vector add": lambda x, y: x + y,
        "fused chain": lambda x, y, z: torch.sqrt(
            torch.sin(x) * torch.cos(y) + torch.exp(-z * z) + torch.log(x + 1)
        ),
        "softmax": lambda x: torch.softmax(x, -1),
        "layer norm": norm,
        "transpose": lambda x: x.T.contiguous(),
    }


NUMPY: dict[str, Callable[..., Any]] = {
    "vector add": lambda x, y: x + y,
    "fused chain": _np_chain,
    "softmax": _np_softmax,
    "layer norm": _np_norm,
    "transpose": lambda x: np.ascontiguousarray(x.T),
}


def _tessera(name: str, data: Data, rows: np.ndarray) -> Peer:
    from tessera.lib import elementwise, norm, softmax, transpose

    run = {
        "vector add": elementwise.vector_add,
        "fused chain": elementwise.chain,
        "softmax": softmax.softmax,
        "layer norm": norm.layer_norm,
        "transpose": transpose.transpose,
    }[name]
    out = data.empty()
    return Peer("tessera", lambda: run(*data.arrays, out), lambda: data.host(out, rows))


def _kept(
    name: str,
    function: Callable[..., Any],
    arguments: list[Any],
    sample: Callable[[Any], np.ndarray],
    wait: Callable[[Any], Any] | None = None,
) -> Peer:
    """A peer whose function returns its result."""
    kept: list[Any] = [None]

    def run() -> None:
        kept[0] = None
        kept[0] = function(*arguments)
        if wait:
            wait(kept[0])

    return Peer(name, run, lambda: sample(kept[0]))


def _jax(name: str, data: Data, rows: np.ndarray) -> list[Peer]:
    if not have("jax"):
        return []
    import jax
    import jax.numpy as jnp

    def norm(x: Any, w: Any, b: Any) -> Any:
        c = x - x.mean(-1, keepdims=True)
        return c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5) * w + b

    functions = {
        "vector add": lambda x, y: x + y,
        "fused chain": lambda x, y, z: jnp.sqrt(
            jnp.sin(x) * jnp.cos(y) + jnp.exp(-z * z) + jnp.log(x + 1)
        ),
        "softmax": lambda x: jax.nn.softmax(x, -1),
        "layer norm": norm,
        "transpose": lambda x: x.T.copy(),
    }
    arrays = [jnp.asarray(a) for a in data.sources]
    return [
        _kept(
            "jax",
            jax.jit(functions[name]),
            arrays,
            lambda r: data.host(r, rows),
            lambda r: r.block_until_ready(),
        )
    ]


def _cpu_peers(name: str, data: Data, rows: np.ndarray) -> list[Peer]:
    def sample(r: Any) -> np.ndarray:
        return data.host(r, rows)

    peers = [_kept("numpy", NUMPY[name], data.sources, sample)]
    if have("torch"):
        import torch

        torch.set_grad_enabled(False)
        tensors = [torch.from_numpy(a) for a in data.sources]
        function = _torch_functions(torch)[name]
        peers.append(_kept("torch", function, tensors, sample))
        if name in ("fused chain", "softmax", "layer norm"):
            peers.append(_kept("torch.compile", torch.compile(function), tensors, sample))
    if have("numba"):
        from . import numba_cpu

        if name in numba_cpu.KERNELS:
            out = np.empty(data.out_shape, np.float32)
            peers.append(
                Peer(
                    "numba parallel",
                    lambda: numba_cpu.KERNELS[name](*data.sources, out),
                    lambda: sample(out),
                )
            )
    peers += _jax(name, data, rows)
    copied = np.empty_like(data.sources[0])
    if name == "vector add":
        peers.append(
            Peer("copy", lambda: np.copyto(copied, data.sources[0]), lambda: sample(copied))
        )
    return peers


def _gpu_peers(name: str, data: Data, rows: np.ndarray) -> list[Peer]:
    import torch

    torch.set_grad_enabled(False)

    def sample(r: Any) -> np.ndarray:
        return data.host(r, rows)

    function = _torch_functions(torch)[name]
    peers = [_kept("torch", function, data.arrays, sample)]
    if name in ("fused chain", "softmax", "layer norm"):
        peers.append(_kept("torch.compile", torch.compile(function), data.arrays, sample))
    if have("triton"):
        from . import triton_kernels

        if name in triton_kernels.KERNELS:
            out = data.empty()
            peers.append(
                Peer(
                    "triton",
                    lambda: triton_kernels.KERNELS[name](*data.arrays, out),
                    lambda: sample(out),
                )
            )
    if have("cupy") and data.dtype == "float32":
        import cupy

        arrays = [cupy.from_dlpack(a) for a in data.arrays]
        functions = {
            "vector add": lambda x, y: x + y,
            "fused chain": lambda x, y, z: cupy.sqrt(
                cupy.sin(x) * cupy.cos(y) + cupy.exp(-z * z) + cupy.log(x + 1)
            ),
            "transpose": lambda x: cupy.ascontiguousarray(x.T),
        }
        if name in functions:
            peers.append(_kept("cupy", functions[name], arrays, sample))
    copied = torch.empty_like(data.arrays[0])
    source = data.arrays[0]
    # the copy moves as many bytes as the kernel is counted for, by repeating a fraction of itself
    peers.append(Peer("copy", lambda: copied.copy_(source), lambda: sample(copied)))
    return peers


def _question(name: str, device: str, small: bool) -> list[tuple[list[Any], tuple[int, ...], str]]:
    """Shapes of inputs, of the output, and dtype."""
    gpu = device == "cuda" and not small
    if name == "vector add":
        n = 1 << (28 if gpu else 24 if not small else 16)
        return [([n, n], (n,), "float32")]
    if name == "fused chain":
        n = 1 << (27 if gpu else 22 if not small else 16)
        return [([n, n, n], (n,), "float32")]
    rows, cols = (16384, 8192) if gpu else (4096, 4096) if not small else (64, 1024)
    if name == "transpose":
        side = 16384 if gpu else 4096 if not small else 256
        return [([(side, side)], (side, side), "float32")]
    if name == "softmax":
        return [
            ([(rows, cols)], (rows, cols), t)
            for t in (("float32", "bfloat16") if device == "cuda" else ("float32",))
        ]
    return [([(rows, cols), cols, cols], (rows, cols), "float32")]


def tables(device: str, rounds: int, small: bool) -> list[Table]:
    """All of this file's questions."""
    found = []
    for name in NUMPY:
        for shapes, out_shape, dtype in _question(name, device, small):
            low, high = (0.0, 1.5) if name == "fused chain" else (-3.0, 3.0)
            data = Data(shapes, out_shape, dtype, device, low, high)
            sizes = [int(np.prod(s)) for s in shapes]
            moved = sum(n for n in sizes if n >= data.out_size) + data.out_size
            item = 2 if dtype == "bfloat16" else 4
            table = Table(
                f"{name} {dtype} {'x'.join(map(str, out_shape))}",
                "GB/s",
                moved * item * 1e-9,
                "copy" if device == "cuda" else "",
            )
            print(f"{table.question} ...", flush=True)
            rows = data.rows()
            peers = [
                _tessera(name, data, rows),
                *(_cpu_peers if device == "cpu" else _gpu_peers)(name, data, rows),
            ]
            wanted = NUMPY[name](*[a.astype(np.float64) for a in data.sampled(rows, name)])
            compare(
                table,
                peers,
                lambda f, w=wanted: w,
                2e-5 if dtype == "float32" else 1e-2,
                device,
                rounds,
                busy=True,
            )
            copy = table.of("copy")
            if copy:  # a copy of one input moves 2 arrays of it; scale its time to the bytes of the question
                factor = moved / (2 * sizes[0])
                copy.times = [t * factor for t in copy.times]
            found.append(table)
    return found

# SPDX-License-Identifier: Apache-2.0
"""One case for every public function of tessera.lib: the shapes of its arrays, and what it computes in float64.

A function without a case fails test_lib_arrays.py, whose tests run over all of them.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tessera import lib

Arrays = dict[str, Any]
N, D = 70, 16  # more than one block of every kernel, and no multiple of a tile
ROW, FLAT, SQUARE, HEADS = (N,), (N * N,), (N, N), (2, N, D)


def public_functions() -> dict[str, Callable[..., None]]:
    """What the modules of tessera.lib offer: functions that can be given a stream."""
    found = {}
    for info in pkgutil.iter_modules(lib.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"tessera.lib.{info.name}")
        for name, thing in vars(module).items():
            ours = inspect.isfunction(thing) and thing.__module__ == module.__name__
            if ours and not name.startswith("_") and "stream" in inspect.signature(thing).parameters:
                found[name] = thing
    return found


FUNCTIONS = public_functions()


class Case(NamedTuple):
    """Arrays by the names of the function's parameters; ``dtypes`` of those that are not of the dtype under test."""

    shapes: dict[str, tuple[int, ...]]
    wanted: Callable[..., Arrays]  # of the inputs in float64, as keywords
    options: dict[str, Any] = {}  # other arguments
    dtypes: dict[str, str] = {}


def _attention(q: Any, k: Any, v: Any) -> Arrays:
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    top = scores.max(axis=-1, keepdims=True)
    p = np.exp(scores - top)
    total = p.sum(axis=-1, keepdims=True)
    return {"out": p / total @ v, "lse": (top + np.log(total))[..., 0]}


def _attention_backward(q: Any, k: Any, v: Any, out: Any, lse: Any, dout: Any) -> Arrays:
    scale = 1 / math.sqrt(q.shape[-1])
    p = np.exp(q @ np.swapaxes(k, -1, -2) * scale - lse[..., None])
    delta = (dout * out).sum(axis=-1)
    ds = p * (dout @ np.swapaxes(v, -1, -2) - delta[..., None]) * scale
    turned = np.swapaxes(ds, -1, -2)
    return {"dq": ds @ k, "dk": turned @ q, "dv": np.swapaxes(p, -1, -2) @ dout, "delta": delta}


def _layer_norm(x: Any, weight: Any, bias: Any) -> Arrays:
    centred = x - x.mean(axis=1, keepdims=True)
    return {"out": centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias}


def _softmax(x: Any) -> Arrays:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return {"out": e / e.sum(axis=1, keepdims=True)}


def _gelu_gemm(a: Any, b: Any, bias: Any, residual: Any) -> Arrays:
    z = a @ b + bias
    return {"c": z / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))) + residual}


def _grouped(a: Any, b: Any, offsets: Any) -> Arrays:
    ends = [0, *offsets.astype(int)]
    return {"c": np.concatenate([a[s:e] @ b[i] for i, (s, e) in enumerate(itertools.pairwise(ends))])}


def _blur(image: Any, weights: Any) -> Arrays:
    r = len(weights) // 2
    rows = np.pad(image, ((0, 0), (r, r)), "edge")
    scratch = sum(w * rows[:, i : i + image.shape[1]] for i, w in enumerate(weights))
    cols = np.pad(scratch, ((r, r), (0, 0)), "edge")
    return {"scratch": scratch, "out": sum(w * cols[i : i + len(image)] for i, w in enumerate(weights))}


def _sobel(image: Any) -> Arrays:
    p = np.pad(image, 1, "edge")
    h = p[:-2] + 2 * p[1:-1] + p[2:]
    v = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return {"out": np.hypot(h[:, 2:] - h[:, :-2], v[2:] - v[:-2])}


def _names(shape: tuple[int, ...], *names: str) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(names, shape)


CASES = {
    "vector_add": Case(_names(FLAT, "a", "b", "out"), lambda a, b: {"out": a + b}),
    "chain": Case(
        _names(FLAT, "x", "y", "z", "out"),
        lambda x, y, z: {"out": np.sqrt(np.sin(x) * np.cos(y) + np.exp(-z * z) + np.log(x + 1))},
    ),
    "reduce": Case({"x": SQUARE, "out": ROW}, lambda x: {"out": x.sum(1)}, {"op": "sum", "axis": 1}),
    "arg_reduce": Case(
        {"x": SQUARE, "out": ROW}, lambda x: {"out": x.argmax(1)}, {"op": "argmax", "axis": 1},
        {"out": "int32"},
    ),
    "scan": Case(_names(SQUARE, "x", "out"), lambda x: {"out": x.cumsum(1)}, {"op": "cumsum"}),
    "softmax": Case(_names(SQUARE, "x", "out"), _softmax),
    "layer_norm": Case({"x": SQUARE, "weight": ROW, "bias": ROW, "out": SQUARE}, _layer_norm),
    "rms_norm": Case(
        {"x": SQUARE, "weight": ROW, "out": SQUARE},
        lambda x, weight: {"out": x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6) * weight},
    ),
    "gemm": Case(_names(SQUARE, "a", "b", "c"), lambda a, b: {"c": a @ b}),
    "batched_gemm": Case(_names((2, N, N), "a", "b", "c"), lambda a, b: {"c": a @ b}),
    "gelu_gemm": Case(_names(SQUARE, "a", "b", "residual", "c") | {"bias": ROW}, _gelu_gemm),
    "grouped_gemm": Case(
        {"a": SQUARE, "b": (2, N, N), "offsets": (2,), "c": SQUARE}, _grouped, {}, {"offsets": "int32"}
    ),
    "attention": Case(
        _names(HEADS, "q", "k", "v", "out") | {"lse": HEADS[:2]}, _attention, {}, {"lse": "float32"}
    ),
    "attention_backward": Case(
        _names(HEADS, "q", "k", "v", "out", "dout", "dq", "dk", "dv") | _names(HEADS[:2], "lse", "delta"),
        _attention_backward, {}, {"lse": "float32", "delta": "float32"},
    ),
    "permute": Case(_names(SQUARE, "x", "out"), lambda x: {"out": x.T}, {"axes": (1, 0)}),
    "transpose": Case(_names(SQUARE, "x", "out"), lambda x: {"out": x.T}),
    "bits": Case({"out": FLAT}, dict, {"seed": 1}, {"out": "uint32"}),
    "uniform": Case({"out": FLAT}, dict, {"seed": 1}, {"out": "float32"}),
    "normal": Case({"out": FLAT}, dict, {"seed": 1}, {"out": "float32"}),
    "blur": Case(_names(SQUARE, "image", "scratch", "out") | {"weights": (5,)}, _blur),
    "sobel": Case(_names(SQUARE, "image", "out"), _sobel),
}  # fmt: skip


def values(name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """What an input holds: small, so that sums of all dtypes fit; the same on every call."""
    if name == "offsets":
        return np.array([N // 3, N], dtype)
    rng = np.random.default_rng([len(name), *shape])
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 2, shape).astype(dtype)
    found = rng.uniform(0.0, 1.0, shape).astype(np.float32)
    return (found + 4.0 if name == "lse" else found).astype(dtype)


def outputs(name: str) -> list[str]:
    """The arrays that a function writes."""
    case = CASES[name]
    inputs = inspect.signature(case.wanted).parameters if case.wanted is not dict else {}
    return [array for array in case.shapes if array not in inputs]


def call(name: str, arrays: Arrays) -> None:
    FUNCTIONS[name](**arrays, **CASES[name].options)


def oracle(name: str, arrays: Arrays) -> Arrays:
    """What the outputs should hold, of the inputs' values now."""
    writes = outputs(name)
    return CASES[name].wanted(**{k: np.asarray(v, np.float64) for k, v in arrays.items() if k not in writes})


# ---- dtypes

INTS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
NARROW = ["float8_e4m3fn", "float8_e5m2"]
ALL = ["bool", *INTS, *FLOATS, *NARROW]
TAKES = {  # dtypes of inputs
    "vector_add": INTS + FLOATS, "chain": FLOATS, "reduce": INTS + FLOATS, "arg_reduce": INTS + FLOATS,
    "scan": INTS + FLOATS, "softmax": FLOATS, "layer_norm": FLOATS, "rms_norm": FLOATS,
    "gemm": ["int8", *FLOATS, *NARROW], "batched_gemm": ["int8", *FLOATS, *NARROW], "gelu_gemm": FLOATS[:3],
    "grouped_gemm": ["int8", *FLOATS, *NARROW], "attention": FLOATS[:3], "attention_backward": FLOATS[:3],
    "permute": ALL, "transpose": ALL, "blur": ["float32"], "sobel": ["float32"],
}  # fmt: skip

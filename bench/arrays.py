# SPDX-License-Identifier: Apache-2.0
"""How fast are array programs of tessera.numeric, written as for NumPy, beside torch without its compiler (with
--compile also with it), CuPy and JAX (`jit`) on a GPU, beside NumPy, torch and JAX on the CPU?

2^27 elements (on the CPU 2^22), float32 where nothing else is said, of 2^24 those programs whose rows are short then.
GB/s of the least bytes that a program has to read and write; a figure is the time of one call of several without a wait
between them. The first `CHECKED` rows of each program's result on less data are compared with NumPy's in float64, of
every library.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .common import Figure, Table, error_of, have, use_fast_code

use_fast_code()

CHECKED = (64, 256)  # the shape of what NumPy checks
TOLERANCE = 1e-3
_SECONDS = 0.08  # of one sample


class Program(NamedTuple):
    """``run(np, x)`` for libraries with NumPy's names, ``of_torch`` for torch where those differ."""

    name: str
    run: Callable[[Any, Any], Any]
    bytes: float  # of an element, at least
    of_torch: Callable[[Any, Any], Any] | None = None
    is_flat: bool = False
    is_short: bool = False  # of 2^24 elements as well
    by_jax: bool = True  # which has no shapes that data decide
    dtype: str = "float32"


def _chain(np_: Any, x: Any) -> Any:
    y = x * 2.0 + 1.0
    y = np_.sqrt(y * y + 3.0)
    return np_.exp(x - y) + 0.5


def _black_scholes(np_: Any, x: Any) -> Any:
    s = abs(x) * 10.0 + 50.0
    d1 = (np_.log(s / 60.0) + 0.025) / 0.1414
    d2 = d1 - 0.1414
    return s / (1 + np_.exp(-1.702 * d1)) - 59.1 / (1 + np_.exp(-1.702 * d2))


def _softmax(np_: Any, x: Any) -> Any:
    e = np_.exp(x - np_.amax(x, 1)[:, None])
    return e / np_.sum(e, 1)[:, None]


def _norm(np_: Any, x: Any) -> Any:
    d = x - np_.mean(x, 1)[:, None]
    return d / np_.sqrt(np_.mean(d * d, 1)[:, None] + 1e-5)


def _set_mask(np_: Any, x: Any) -> Any:
    y = x * 1.0
    y[y > 0] = 0
    return y


def _centres(np_: Any, x: Any) -> Any:
    """A step of k-means: 8 centres of points of four numbers."""
    points = x.reshape(-1, 4)
    centres = points[:8] * 1.0
    d = points[:, None, :] - centres[None, :, :]
    nearest = np_.argmin(np_.sum(d * d, 2), 1)
    sums = [np_.sum(np_.where((nearest == k)[:, None], points, 0.0), 0) for k in range(8)]
    counts = [np_.sum(nearest == k) for k in range(8)]
    return np_.stack([total / (n + 1e-9) for total, n in zip(sums, counts, strict=True)])


def _convolution(_: Any, x: Any) -> Any:
    weights = ((1.0, 2.0, 1.0), (2.0, 4.0, 2.0), (1.0, 2.0, 1.0))
    n, m = x.shape
    return sum(w * x[i : n - 2 + i, j : m - 2 + j] for i, row in enumerate(weights) for j, w in enumerate(row)) / 16.0


def _histogram(np_: Any, x: Any) -> Any:
    return np_.histogram(x, 256, (-4.0, 4.0))[0]


FOLDS = {
    "sum": lambda np_, x: np_.sum(x),
    "maximum of columns": lambda np_, x: np_.amax(x, 0),
    "maximum of rows": lambda np_, x: np_.amax(x, 1),
}
PROGRAMS = [
    Program("copy", lambda np_, x: x.copy(), 8, lambda t, x: x.clone(), is_flat=True),
    Program("chain", _chain, 8, is_flat=True, is_short=True),
    Program("Black-Scholes", _black_scholes, 8, is_flat=True, is_short=True),
    Program("softmax of rows", _softmax, 8, is_short=True),
    Program("layer norm of rows", _norm, 8, is_short=True),
    Program("sum", lambda np_, x: np_.sum(x), 4, is_flat=True),  # a number, which is read, of our arrays alone
    Program("sum, left there", lambda np_, x: np_.sum(x, 0, keepdims=True), 4, is_flat=True, is_short=True),
    Program("sum of columns", lambda np_, x: np_.sum(x, 0), 4),
    Program("sum of rows", lambda np_, x: np_.sum(x, 1), 4),
    Program("place of the maximum of rows", lambda np_, x: np_.argmax(x, 1), 4),
    Program("running sum of rows", lambda np_, x: np_.cumsum(x, 1), 8),
    Program("running sum of columns", lambda np_, x: np_.cumsum(x, 0), 8),
    Program("transposed copy", lambda np_, x: x.T.copy(), 8, lambda t, x: x.T.contiguous()),
    Program("stencil", lambda np_, x: 0.25 * (x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]), 8),
    Program("x[x > 0]", lambda np_, x: x[x > 0], 6, is_flat=True, by_jax=False),
    Program("y[y > 0] = 0", _set_mask, 8, is_flat=True, by_jax=False),
    Program("sort", lambda np_, x: np_.sort(x), 8, lambda t, x: t.sort(x)[0], is_flat=True),
    Program("where", lambda np_, x: np_.where(x > 0, x, -x), 8, is_flat=True),
    Program("place of the maximum of columns", lambda np_, x: np_.argmax(x, 0), 4),
    Program("variance of columns", lambda np_, x: np_.var(x, 0), 4, lambda t, x: t.var(x, 0, correction=0)),
    Program("sum along the middle axis", lambda np_, x: np_.sum(x.reshape(64, -1, 64), 1), 4),
    Program("maximum of all", lambda np_, x: np_.amax(x), 4, is_flat=True),
    Program("running sum of all", lambda np_, x: np_.cumsum(x, 0), 8, is_flat=True),
    Program("convolution by shifts", _convolution, 8),
    Program("step of k-means", _centres, 4, is_flat=True),
    Program("einsum of rows", lambda np_, x: np_.einsum("ij,ij->i", x, x), 4),
    Program("histogram of 256 bins", _histogram, 4, lambda t, x: t.histc(x, 256, -4, 4), is_flat=True),
    Program("unique", lambda np_, x: np_.unique(x), 4, is_flat=True, by_jax=False, dtype="int32"),
    Program("unique", lambda np_, x: np_.unique(x), 8, is_flat=True, by_jax=False),
    *(Program(f"{name} of {dtype}", run, np.dtype(dtype).itemsize, is_flat=name == "sum", dtype=dtype,
              by_jax=np.dtype(dtype).itemsize < 8)
      for dtype in ("float16", "float64", "int8", "int32", "int64") for name, run in FOLDS.items()),
]


class _Library(NamedTuple):
    name: str
    module: Any
    put: Callable[[np.ndarray], Any]
    back: Callable[[Any], np.ndarray]
    begin: Callable[[], Any]  # hands on what was called
    wait: Callable[[Any], Any]  # for a result

    def call(self, program: Program) -> Callable[[Any], Any]:
        if self.name.startswith("torch"):
            run = program.of_torch or program.run
            call = lambda x: run(self.module, x)
            return self.module.compile(call) if self.name == "torch.compile" else call  # type: ignore[no-any-return]
        if self.name == "jax":
            import jax

            return jax.jit(lambda x: program.run(self.module, x))  # type: ignore[no-any-return]
        return lambda x: program.run(self.module, x)


def _libraries(device: str, compiles: bool) -> Iterator[_Library]:
    import tessera
    from tessera import _core, numeric

    def put(x: np.ndarray) -> Any:
        with numeric.device(device):
            return numeric.asarray(x)

    def wait(_: Any) -> None:
        _core.numeric_flush()
        tessera.synchronize(device)

    nothing = lambda *_: None
    yield _Library("tessera", numeric, put, np.asarray, _core.numeric_flush, wait)
    if device == "cpu":
        yield _Library("numpy", np, np.asarray, np.asarray, nothing, nothing)
    if have("torch"):
        import torch

        done = nothing if device == "cpu" else lambda _: torch.cuda.synchronize()
        back = lambda x: x.cpu().numpy()
        for name in ("torch", *(("torch.compile",) if compiles else ())):
            yield _Library(name, torch, lambda x: torch.from_numpy(x).to(device), back, nothing, done)
    if device != "cpu" and have("cupy"):
        import cupy

        yield _Library("cupy", cupy, cupy.asarray, cupy.asnumpy, nothing, lambda _: cupy.cuda.Device().synchronize())
    if have("jax"):
        import jax

        yield _Library("jax", jax.numpy, jax.device_put, np.asarray, nothing, jax.block_until_ready)


def _of_dtype(x: np.ndarray, dtype: str) -> np.ndarray:
    return x if x.dtype == dtype else (x * (25 if dtype == "int8" else 1000 if "int" in dtype else 1)).astype(dtype)


def _error(library: _Library, program: Program) -> float:
    x = np.random.default_rng(1).standard_normal(CHECKED, np.float32)
    x = _of_dtype(x.reshape(-1) if program.is_flat else x, program.dtype)
    found = np.atleast_1d(library.back(library.call(program)(library.put(x))))
    wanted = np.atleast_1d(program.run(np, x.astype(np.float64)))
    return error_of(found, wanted) if found.shape == wanted.shape else float("inf")


def _times(library: _Library, call: Callable[[Any], Any], x: Any, rounds: int) -> list[float]:
    def sample(n: int) -> float:
        start, last = time.perf_counter(), None
        for _ in range(n):
            last = call(x)
            library.begin()
        library.wait(last)
        return (time.perf_counter() - start) / n

    sample(2)
    n = max(1, min(50, int(_SECONDS / max(sample(1), 1e-6)))) if rounds > 3 else 1
    return [sample(n) for _ in range(rounds)]


def _chosen(only: str | None) -> list[Program]:
    names = only.split(",") if only else [p.name for p in PROGRAMS]
    unknown = set(names) - {p.name for p in PROGRAMS}
    if unknown:
        raise SystemExit(f"--only: {', '.join(sorted(unknown))} is none of {', '.join(p.name for p in PROGRAMS)}")
    return [p for p in PROGRAMS if p.name in names]


def tables(
    device: str, rounds: int, small: bool, only: str | None = None, compile: bool = False, seconds: float | None = None,
) -> Iterator[Table]:  # fmt: skip
    """A table for each program and number of elements."""
    end = time.perf_counter() + (seconds or float("inf"))
    chosen, libraries = _chosen(only), list(_libraries(device, compile))
    for size in (1 << 12,) if small else (1 << 22,) if device == "cpu" else (1 << 27, 1 << 24):
        base = np.random.default_rng(3).standard_normal(min(size, 1 << 24), np.float32)
        flat = np.resize(base, size)
        rows = 1 << (size.bit_length() - 1) // 2
        for program in chosen:
            if size == 1 << 24 and not program.is_short and program.name != "sort":
                continue
            if time.perf_counter() > end:
                print(f"no time for {program.name}", file=sys.stderr)
                continue
            shape = f"{size:,}" if program.is_flat else f"{rows:,} x {size // rows:,}"
            table = Table(f"{program.name}, {shape} {program.dtype}", "GB/s", program.bytes * size * 1e-9, "")
            x = _of_dtype(flat if program.is_flat else flat.reshape(rows, -1), program.dtype)
            for library in libraries:
                if library.name != "jax" or program.by_jax:
                    _measure(table, library, program, x, rounds)
            yield table


def _measure(table: Table, library: _Library, program: Program, x: np.ndarray, rounds: int) -> None:
    try:
        error = _error(library, program)
    except Exception as failure:  # a peer that does not run is said, not hidden
        if library.name == "tessera":
            raise
        table.note += f"{library.name}: {type(failure).__name__}: {str(failure).strip()[:80]!r}; "
        return
    if not error <= TOLERANCE:
        table.note += f"{library.name} is WRONG by {error:.1e}; "
        if library.name == "tessera":
            raise SystemExit(f"{table.question}: tessera's result is wrong by {error:.1e}")
        return
    times = _times(library, library.call(program), library.put(x), rounds)
    table.figures.append(Figure(library.name, times, error))

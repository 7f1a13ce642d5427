# SPDX-License-Identifier: Apache-2.0
"""How fast are array programs of tessera.numeric, written as for NumPy, beside torch without its compiler, CuPy and JAX
(`jit`) on a GPU, beside NumPy, torch and JAX on the CPU?

2^27 float32 (on the CPU 2^22), of 2^24 those programs whose rows are short then. GB/s of the least bytes that a program
has to read and write; a figure is the time of one call of several without a wait between them. The first `CHECKED` rows
of each program's result on less data are compared with NumPy's in float64, of every library.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .common import Figure, Table, error_of, have

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


PROGRAMS = [
    Program("chain", _chain, 8, is_flat=True, is_short=True),
    Program("Black-Scholes", _black_scholes, 8, is_flat=True, is_short=True),
    Program("softmax of rows", _softmax, 8, is_short=True),
    Program("layer norm of rows", _norm, 8, is_short=True),
    Program("sum", lambda np_, x: np_.sum(x), 4, is_flat=True),
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
]


class _Library(NamedTuple):
    name: str
    module: Any
    put: Callable[[np.ndarray], Any]
    back: Callable[[Any], np.ndarray]
    begin: Callable[[], Any]  # hands on what was called
    wait: Callable[[Any], Any]  # for a result

    def call(self, program: Program) -> Callable[[Any], Any]:
        if self.name == "torch" and program.of_torch:
            return lambda x: program.of_torch(self.module, x)  # type: ignore[misc]
        if self.name == "jax":
            import jax

            return jax.jit(lambda x: program.run(self.module, x))  # type: ignore[no-any-return]
        return lambda x: program.run(self.module, x)


def _libraries(device: str) -> Iterator[_Library]:
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
        yield _Library("torch", torch, lambda x: torch.from_numpy(x).to(device), back, nothing, done)
    if device != "cpu" and have("cupy"):
        import cupy

        yield _Library("cupy", cupy, cupy.asarray, cupy.asnumpy, nothing, lambda _: cupy.cuda.Device().synchronize())
    if have("jax"):
        import jax

        yield _Library("jax", jax.numpy, jax.device_put, np.asarray, nothing, jax.block_until_ready)


def _error(library: _Library, program: Program) -> float:
    x = np.random.default_rng(1).standard_normal(CHECKED, np.float32)
    x = x.reshape(-1) if program.is_flat else x
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


def tables(device: str, rounds: int, small: bool) -> Iterator[Table]:
    """A table for each program and number of elements."""
    libraries = list(_libraries(device))
    for size in (1 << 12,) if small else (1 << 22,) if device == "cpu" else (1 << 27, 1 << 24):
        base = np.random.default_rng(3).standard_normal(min(size, 1 << 24), np.float32)
        flat = np.resize(base, size)
        rows = flat.reshape(1 << (size.bit_length() - 1) // 2, -1)
        for program in PROGRAMS:
            if size == 1 << 24 and not program.is_short and program.name != "sort":
                continue
            shape = f"{size:,}" if program.is_flat else f"{rows.shape[0]:,} x {rows.shape[1]:,}"
            table = Table(f"{program.name}, {shape} float32", "GB/s", program.bytes * size * 1e-9, "")
            for library in libraries:
                if library.name != "jax" or program.by_jax:
                    _measure(table, library, program, flat if program.is_flat else rows, rounds)
            yield table


def _measure(table: Table, library: _Library, program: Program, x: np.ndarray, rounds: int) -> None:
    error = _error(library, program)
    if not error <= TOLERANCE:
        table.note = f"{library.name} is WRONG by {error:.1e}"
        if library.name == "tessera":
            raise SystemExit(f"{table.question}: tessera's result is wrong by {error:.1e}")
        return
    times = _times(library, library.call(program), library.put(x), rounds)
    table.figures.append(Figure(library.name, times, error))

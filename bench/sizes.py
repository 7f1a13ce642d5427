# SPDX-License-Identifier: Apache-2.0
"""Question: from how many elements on is an expression of arrays faster on the CPU than NumPy's, numexpr's and JAX's?

One text for all, float32, 10^3 to 10^7 elements (10^8 with --large); first chains of a new structure, with nothing on
disk and with their code there; the memory of a million statements. Least times of interleaved runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .common import Figure, Table, have, is_one_thread
from .npbench import Row, Summary

EXPRESSIONS = {
    "x + y": "x + y",
    "chain of nine": "((x * 2 + 1) * x - 3) * 0.5 + (x - y) * (x + 2)",
    "with functions": "exp(x * 0.5) + sqrt(y + 1) * sin(x)",
}
SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
_SAMPLE = 2e-3  # seconds of one sample, at least
_OTHER_PROCESS = """
import json, resource, sys, time
import numpy, tessera.numeric as np
x = np.linspace(0, 1, 100_000, dtype="f4")
float((x + 1).sum())
def first(text):
    start = time.perf_counter(), time.process_time()
    np.asarray(eval(text)).tobytes()
    return time.perf_counter() - start[0], time.process_time() - start[1]
chains = [first(text) for text in sys.argv[1:]]
a = np.ones(1000)
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
for _ in range(10_000): a = a * 0.5 + 1
before = peak()
for _ in range(500_000): a = a * 0.5 + 1
print(json.dumps([chains, peak() - before]))
"""


def _calls(text: str, x: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], Any]]:
    from tessera import numeric

    code = compile(text, "expression", "eval")

    def on(module: Any, put: Callable[[np.ndarray], Any], done: Callable[[Any], Any]) -> Callable[[], Any]:
        names = {"exp": module.exp, "sqrt": module.sqrt, "sin": module.sin, "x": put(x), "y": put(y)}
        return lambda: done(eval(code, names))

    def waited(made: Any) -> Any:
        numeric.wait(made)
        return made

    calls = {"numpy": on(np, np.asarray, lambda made: made)}
    if have("numexpr"):
        import numexpr

        names = {"x": x, "y": y}
        calls["numexpr"] = lambda: numexpr.evaluate(text, names)
    if have("jax"):
        import jax

        run = jax.jit(lambda x, y: eval(code, vars(jax.numpy) | {"x": x, "y": y}))
        of_jax = jax.numpy.asarray(x), jax.numpy.asarray(y)
        calls["jax"] = lambda: jax.block_until_ready(run(*of_jax))
    return calls | {"tessera": on(numeric, numeric.array, waited)}


def _sample(call: Callable[[], Any], n: int) -> float:
    now = time.process_time if is_one_thread() else time.perf_counter
    start = now()
    for _ in range(n):
        call()
    return (now() - start) / n


def _row(name: str, text: str, n: int, rounds: int) -> Row:
    rng = np.random.default_rng(n)
    x, y = (rng.random(n, np.float32) for _ in range(2))
    row, calls = Row(name, n), _calls(text, x, y)
    wanted = calls["numpy"]()
    for peer, call in list(calls.items()):
        if not np.allclose(np.asarray(call()), wanted, rtol=1e-4, atol=1e-4):
            row.missing[peer] = "WRONG"
            del calls[peer]
    for call in calls.values():
        call()
    count = {peer: max(1, int(_SAMPLE / max(_sample(call, 2), 1e-7))) for peer, call in calls.items()}
    for _ in range(rounds):
        for peer, call in calls.items():
            row.times.setdefault(peer, []).append(_sample(call, count[peer]))
    return row


def _first(small: bool) -> Iterator[Table]:
    """First chains in two processes, the second of which finds the code on disk; and what half a million leave."""
    texts = ["((x * 3 + 1) * x - 2) * x", "np.sqrt(x * x + 2) - x * 3", "np.exp(x - 1) * x + np.log(x + 2)"]
    with tempfile.TemporaryDirectory() as folder:
        for which in ("nothing on disk", "code on disk"):
            environment = os.environ | {"TESSERA_CACHE_DIR": folder}
            program = _OTHER_PROCESS.replace("500_000", "1_000") if small else _OTHER_PROCESS
            done = subprocess.run(
                [sys.executable, "-c", program, *texts], env=environment, capture_output=True, text=True, check=True
            )
            chains, grown = json.loads(done.stdout)
            table = Table(f"first chain of a new structure, {which}", "chains/s", 1.0, "")
            table.note = f"the peak grew by {grown / 1e6:.1f} MB in 10^6 statements behind them"
            table.figures = [Figure("tessera, wall", [c[0] for c in chains], float("nan")),
                             Figure("tessera, processor", [c[1] for c in chains], float("nan"))]  # fmt: skip
            yield table


def tables(device: str, rounds: int, small: bool, large: bool) -> Iterator[Any]:
    """A table of all expressions and sizes, then those of first chains."""
    if device != "cpu":
        raise SystemExit("sizes compares on the CPU; `arrays` does on a GPU")
    summary = Summary("expressions by size, cpu" + (", one thread, CPU time" if is_one_thread() else ""), [])
    for n in SIZES[:1] if small else [*SIZES, 10**8] if large else SIZES:
        for name, text in EXPRESSIONS.items():
            row = _row(name, text, n, rounds)
            summary.rows.append(row)
            summary.peers = [p for p in ("numpy", "numexpr", "jax", "tessera") if p in row.times]
            print(f"{name} {n}", file=sys.stderr, flush=True)
    yield summary
    yield from _first(small)

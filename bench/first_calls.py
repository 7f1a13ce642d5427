# SPDX-License-Identifier: Apache-2.0
"""What does the first call of each algorithm of tessera.compute cost, in a process of its own: with an empty cache, and
with the code that a process before has kept? Times of the host until the result is there, and the processor's.

What is imported, the device and the arrays are there before; *hot*: so is the driver's assembler, as another kernel was
made. Beside torch and CuPy, where they have the algorithm.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from .common import Figure, Table, have

ALGORITHMS = (
    "reduce", "scan", "sort", "select", "unique", "transform", "top_k", "histogram", "sort_pairs", "merge_sort", "runs",
    "union", "merge", "segmented_sort", "segmented_reduce", "lower_bound",
)  # fmt: skip
_KEPT = 3  # processes that find kept code

_SAMPLE = """
import sys, time
import numpy as np
library, name, device, n, hot = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5] == "hot"
x = np.random.default_rng(0).random(n, np.float32)
if library == "tessera":
    from tessera import compute as c, cuda
    put = (lambda a: a) if device == "cpu" else cuda.to_device
    wait = (lambda: None) if device == "cpu" else cuda.synchronize
    new = lambda m, dtype: put(np.zeros(m, dtype))
    t, keys, out = put(x), put(np.sort((x * n).astype(np.int32))), new(n, np.float32)
    whole, count, places = new(2 * n, np.int32), new(1, np.int64), new(n, np.int64)
    ends = put(np.arange(1, n // 100 + 1) * 100)
    starts, sums, plus = put(np.arange(n // 100) * 100), new(n // 100, np.float32), c.OpKind.PLUS
    two = dict(d_in1=keys, num_items1=n, d_in2=keys, num_items2=n, d_out=whole)
    parts = dict(num_segments=n // 100, start_offsets_in=starts, end_offsets_in=ends)
    calls = {
        "reduce": lambda: c.reduce_into(d_in=t, d_out=out, num_items=n, op=plus, h_init=np.float32(0)),
        "scan": lambda: c.inclusive_scan(d_in=t, d_out=out, num_items=n, op=plus),
        "sort": lambda: c.radix_sort(d_in_keys=t, d_out_keys=out, num_items=n),
        "sort_pairs": lambda: c.radix_sort(
            d_in_keys=t, d_out_keys=out, d_in_values=keys, d_out_values=whole, num_items=n),
        "merge_sort": lambda: c.merge_sort(d_in_keys=t, d_out_keys=out, num_items=n, op=lambda a, b: a < b),
        "select": lambda: c.select(
            d_in=t, d_out=out, d_num_selected_out=count, cond=lambda v: v < 0.5, num_items=n),
        "unique": lambda: c.unique_by_key(
            d_in_keys=keys, d_in_items=t, d_out_keys=whole, d_out_items=out, d_out_num_selected=count,
            op=c.OpKind.EQUAL_TO, num_items=n),
        "transform": lambda: c.unary_transform(d_in=t, d_out=out, num_items=n, op=lambda v: v * 2),
        "top_k": lambda: c.top_k(d_in_keys=t, d_out_keys=out, num_items=n, k=32),
        "histogram": lambda: c.histogram_even(
            d_samples=keys, d_histogram=whole, num_samples=n, num_output_levels=257, lower_level=np.int32(0),
            upper_level=np.int32(n)),
        "runs": lambda: c.run_length_encode(
            d_in=keys, d_unique_out=whole, d_lengths_out=places, d_num_runs_out=count, num_items=n),
        "union": lambda: c.set_union(**two, d_num_out=count),
        "merge": lambda: c.merge(**two),
        "segmented_sort": lambda: c.segmented_sort(d_in_keys=t, d_out_keys=out, num_items=n, **parts),
        "segmented_reduce": lambda: c.segmented_reduce(
            d_in=t, d_out=sums, op=plus, h_init=np.float32(0), **parts),
        "lower_bound": lambda: c.lower_bound(d_data=keys, num_items=n, d_values=keys, num_values=n, d_out=places),
    }
    if hot:
        c.adjacent_difference(d_in=t, d_out=out, num_items=n) if hasattr(c, "adjacent_difference") else calls["merge"]()
else:
    module = __import__(library)
    where = ("cpu" if device == "cpu" else "cuda",) if library == "torch" else ()
    t = module.from_numpy(x).to(*where) if library == "torch" else module.asarray(x)
    if library == "torch":
        wait = (lambda: None) if device == "cpu" else module.cuda.synchronize
    else:
        wait = module.cuda.runtime.deviceSynchronize
    keys = (t * n).sort().values.int() if library == "torch" and name == "lower_bound" else t
    calls = {
        "reduce": lambda: t.sum(), "scan": lambda: t.cumsum(0), "sort": lambda: t.sort(),
        "select": lambda: t[t < 0.5], "transform": lambda: t * 2, "top_k": lambda: t.topk(32),
        "lower_bound": lambda: module.searchsorted(keys, keys),
    }
    if library == "cupy":
        calls.pop("top_k")
if name not in calls:
    sys.exit(3)
wait()
begin = time.perf_counter(), time.process_time()
calls[name]()
wait()
print(time.perf_counter() - begin[0], time.process_time() - begin[1])
if library == "tessera":
    c.wait_for_code()
"""


def _sample(library: str, name: str, device: str, n: int, hot: bool, cache: str) -> list[float] | None:
    """Seconds until the result was there, and the processor's; None where the library does not have it."""
    environment = {**os.environ, "TESSERA_CACHE_DIR": cache, "CUDA_CACHE_PATH": f"{cache}/driver"}
    script = pathlib.Path(cache) / "first_call.py"  # kept kernels are found by where their functions stand
    script.write_text(_SAMPLE)
    arguments = [library, name, device, str(n), "hot" if hot else "cold"]
    done = subprocess.run(
        [sys.executable, str(script), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        if done.returncode != 3:
            print(f"  {library}, {name}: not measured: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    return [float(word) for word in done.stdout.split()]


def _figures(name: str, device: str, n: int) -> Iterator[Figure]:
    """Of one algorithm; the processes that find kept code come after the fast code is there."""
    found: dict[str, list[list[float]]] = {}

    def take(what: str, *given: object) -> None:
        sample = _sample(*given)  # type: ignore[arg-type]
        if sample is not None:
            found.setdefault(what, []).append(sample)

    with tempfile.TemporaryDirectory() as cache:
        take("empty cache", "tessera", name, device, n, False, cache)
        for _ in range(_KEPT):
            take("kept code", "tessera", name, device, n, False, cache)
    with tempfile.TemporaryDirectory() as cache:
        take("empty cache, hot", "tessera", name, device, n, True, cache)
        for peer in ("torch", "cupy")[: 1 if device == "cpu" else 2]:
            if have(peer):
                take(peer, peer, name, device, n, False, cache)
    for what, samples in found.items():
        yield Figure(what, [wall for wall, _ in samples], float("nan"))
        if what in ("empty cache", "kept code"):
            yield Figure(f"{what}, processor", [used for _, used in samples], float("nan"))


def tables(device: str, rounds: int, small: bool, seconds: float | None = None) -> Iterator[Table]:
    """A table for each algorithm, as long as there is time."""
    end, n = float("inf") if seconds is None else time.monotonic() + seconds, 1 << (12 if small else 20)
    for i, name in enumerate(ALGORITHMS):
        if time.monotonic() > end:
            left = f"{len(ALGORITHMS) - i} of {len(ALGORITHMS)}"
            print(f"  {left} tables are left out: the time is over", file=sys.stderr)
            return
        figures = list(_figures(name, device, n))
        yield Table(f"the first {name} of {n:,} items, in a fresh process", "1/s", 1.0, "torch", figures)

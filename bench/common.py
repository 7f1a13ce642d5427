# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: interleaved timing, checking, tables."""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Run = Callable[[], Any]

# Everybody's variables for one thread. With the first one set the CPU's time counts, and of all rounds the least: what
# a machine that others use as well can tell.
ONE_THREAD = {
    "TESSERA_BENCH_ONE_THREAD": "1", "TESSERA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
}  # fmt: skip


def is_one_thread() -> bool:
    return bool(os.environ.get("TESSERA_BENCH_ONE_THREAD"))


def use_fast_code() -> None:
    """From the first call on: who measures many calls would measure the quick code of the first ones, too."""
    os.environ.setdefault("TESSERA_TIERS", "0")


def have(name: str) -> bool:
    """Whether a package is installed."""
    return importlib.util.find_spec(name) is not None


@dataclass
class Peer:
    """One implementation: ``run()`` does the work once, ``result()`` gives it as a NumPy array."""

    name: str
    run: Run
    result: Callable[[], np.ndarray]


@dataclass
class Figure:
    """Times of one peer in seconds, with what the table shows."""

    peer: str
    times: list[float]
    error: float

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def spread(self) -> float:
        """Half the distance between the 10th and 90th percentile, relative to the median."""
        t = sorted(self.times)
        low, high = t[len(t) // 10], t[min(len(t) - 1, len(t) * 9 // 10)]
        return (high - low) / 2 / self.median


@dataclass
class Table:
    """One question: its figures and how they are shown. ``amount`` / time gives the rate."""

    question: str
    unit: str
    amount: float
    yardstick: str
    figures: list[Figure] = field(default_factory=list)
    note: str = ""

    def rate(self, figure: Figure) -> float:
        return self.amount / figure.median

    def best_peer(self) -> Figure | None:
        others = [f for f in self.figures if f.peer not in ("tessera", "copy")]
        return min(others, key=lambda f: f.median, default=None)

    def of(self, name: str) -> Figure | None:
        return next((f for f in self.figures if f.peer == name), None)

    def show(self) -> str:
        base = self.of(self.yardstick) or self.best_peer()
        lines = [f"**{self.question}**" + (f" ({self.note})" if self.note else ""), ""]
        lines += [
            f"| | {self.unit} | spread | time | of {base.peer if base else '-'} | error |",
            "|---|---|---|---|---|---|",
        ]
        for f in sorted(self.figures, key=lambda f: f.median):
            ratio = base.median / f.median if base else float("nan")
            shown = f"{f.median * 1e6:,.1f} us" if f.median < 1e-3 else f"{f.median * 1e3:,.2f} ms"
            error = "-" if f.error != f.error else f"{f.error:.1e}"
            lines.append(
                f"| {f.peer} | {self.rate(f):,.4g} | {f.spread * 100:.1f} % | {shown} | {ratio * 100:.0f} % | {error} |"
            )
        return "\n".join(lines) + "\n"

    def json_lines(self, device: str) -> list[str]:
        stamp = datetime.datetime.now().isoformat(timespec="seconds")
        return [
            json.dumps({
                "question": self.question, "device": device, "peer": f.peer, "median_s": f.median,
                "spread": f.spread, "rate": self.rate(f), "unit": self.unit, "n": len(f.times),
                "error": None if f.error != f.error else f.error, "at": stamp,
            })
            for f in self.figures
        ]  # fmt: skip


def error_of(found: np.ndarray, wanted: np.ndarray) -> float:
    """max |found - wanted| / (1 + |wanted|), infinite where NaN."""
    difference = np.abs(found.astype(np.float64) - wanted) / (1.0 + np.abs(wanted))
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))


def quiet(limit: float = 1.0, rest: float = 0.1) -> None:
    """Waits until this process has slept for ``rest`` seconds, at most ``limit`` seconds.

    Thread pools of BLAS libraries spin after a call (OpenBLAS 0.1 s): the next to be timed would have
    to share a core with them, only their owner would not; and the system owes the other programs of
    the machine what the process has used up, so everyone begins equally rested.
    """
    end = time.perf_counter() + limit
    while time.perf_counter() < end:
        start = time.process_time()
        time.sleep(rest)
        if time.process_time() - start < 0.02 * rest:
            return


class Clock:
    """Seconds of one run: wall time on the CPU, or its own time for one thread; device events on a GPU."""

    FLUSHES = 4  # 0.2 ms on an H200: longer than the host takes to launch what is timed

    def __init__(self, device: str, busy: bool = False) -> None:
        self.device, self.busy = device, busy  # busy: the GPU works while the host launches
        if device == "cuda":
            import torch

            self.torch = torch
            self.flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")

    def once(self, run: Run) -> float:
        if self.device == "cpu":
            now = time.process_time if is_one_thread() else time.perf_counter
            if not is_one_thread():
                quiet()
            start = now()
            run()
            return now() - start
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(self.FLUSHES if self.busy else 0):
            self.flush.zero_()
        begin.record()
        run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3


def compare(
    table: Table, peers: Sequence[Peer], wanted: Callable[[np.ndarray], np.ndarray] | None, tolerance: float,
    device: str, rounds: int, sample: Callable[[np.ndarray], np.ndarray] = lambda x: x,
    busy: bool = False,
) -> Table:  # fmt: skip
    """Checks every peer, then times them in interleaved rounds."""
    clock = Clock(device, busy)
    good: list[tuple[Peer, float]] = []
    for peer in peers:
        try:
            peer.run()
            peer.run()
            error = float("nan")
            if wanted is not None and peer.name != "copy":
                found = sample(peer.result())
                error = error_of(found, wanted(found))
                if error > tolerance:
                    print(
                        f"  {peer.name}: WRONG, error {error:.2e} > {tolerance:.0e}",
                        file=sys.stderr,
                    )
                    if peer.name == "tessera":
                        raise SystemExit(f"{table.question}: tessera's result is wrong")
                    continue
        except SystemExit:
            raise
        except Exception as failure:  # a peer that does not run is said, not hidden
            print(
                f"  {peer.name}: not measured: {type(failure).__name__}: {str(failure)[:300]}",
                file=sys.stderr,
            )
            continue
        good.append((peer, error))
    times: dict[str, list[float]] = {peer.name: [] for peer, _ in good}
    for _ in range(rounds):
        for peer, _error in good:
            times[peer.name].append(clock.once(peer.run))
    counted = (lambda t: sorted(t)[:1]) if is_one_thread() else list
    table.figures = [Figure(peer.name, counted(times[peer.name]), error) for peer, error in good]
    return table


def machine(device: str) -> str:
    """One line that names the machine and the date."""
    import tessera

    info = tessera.device_info(device)
    date = datetime.date.today().isoformat()
    units = f"{info['units']} {'threads' if device == 'cpu' else 'SMs'}"
    return f"{info['name']}, {units}, Python {platform.python_version()}, {date}"


def emit(
    tables: Iterable[Table], device: str, markdown: pathlib.Path | None, lines: pathlib.Path | None
) -> None:
    """Prints each table when it is finished and appends it to the files asked for."""
    heading = f"\n### {machine(device)}\n\n"
    for table in tables:
        print(table.show(), flush=True)
        if markdown:
            with markdown.open("a", encoding="utf-8") as f:
                f.write(heading + table.show() + "\n")
            heading = ""
        if lines:
            with lines.open("a", encoding="utf-8") as f:
                f.writelines(line + "\n" for line in table.json_lines(device))

# SPDX-License-Identifier: Apache-2.0
"""Implementations of one job on one device: each is checked, then all are timed in random order, round by round.

On a GPU the calls are enqueued behind a kernel that waits, so that the figures are the GPU's alone, whatever a launch
costs the host. Short jobs are timed in rows of up to 50 calls. An implementation that raises, or whose result is
wrong, is left out of the times and named under the table.
"""

from __future__ import annotations

import pathlib
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from .common import Figure, Run, Table

ROW = 1e-3  # seconds that a row of calls shall take
CALLS = 50  # of a row, at most
HERTZ = 2.0e9  # at least the clock of the waiting kernel: it counts cycles


@dataclass
class Contest:
    """``runs`` by name, ours ``tessera``; ``error(name)`` of what the last run of that name left behind; None where
    the runs were checked before.

    ``amount`` units are done by a run, 1e12 operations for instance.
    """

    question: str
    unit: str
    amount: float
    yardstick: str
    runs: dict[str, Run]
    error: Callable[[str], float] | None
    tolerance: float = 0.0
    note: str = ""


def named(failure: Exception) -> str:
    """An exception on one short line."""
    return f"{type(failure).__name__}: {' '.join(str(failure).split())[:200]}"


class Begun:
    """What was begun, by name, in a file: a run that goes on after one that ended in the middle leaves it out."""

    def __init__(self, path: pathlib.Path | None) -> None:
        self.path = path
        there = path is not None and path.exists()
        self.names = set(path.read_text(encoding="utf-8").splitlines()) if path and there else set()

    def first(self, name: str) -> bool:
        """Whether it was not begun yet; it is from now on."""
        if name in self.names:
            return False
        self.names.add(name)
        if self.path:
            with self.path.open("a", encoding="utf-8") as f:
                f.write(name + "\n")
        return True


class Deadline:
    """The end of what may take ``seconds``; None: it may take for ever."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        return float("inf") if self.end is None else self.end - time.monotonic()

    def over(self) -> bool:
        return self.left() <= 0


class Timer:
    """Seconds of a call: by events behind a waiting kernel on a GPU, by the clock on the CPU."""

    def __init__(self, device: str) -> None:
        self.gpu = device == "cuda"
        if self.gpu:
            import torch

            self.cuda = torch.cuda

    def wait(self) -> None:
        if self.gpu:
            self.cuda.synchronize()

    def alive(self, question: str) -> None:
        """Ends the program where a kernel has left the GPU unusable for this process."""
        try:
            self.wait()
        except Exception as failure:
            raise SystemExit(f"{question}: the GPU is lost: {named(failure)}") from None

    def host(self, run: Run) -> float:
        """Seconds until a call has returned and its work may still be under way."""
        self.wait()
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    def seconds(self, run: Run, calls: int = 1, host: float = 0.0) -> float:
        """The mean of ``calls`` calls, each of which keeps the host for ``host`` seconds."""
        if not self.gpu:
            start = time.perf_counter()
            for _ in range(calls):
                run()
            return (time.perf_counter() - start) / calls
        begin, end = (self.cuda.Event(enable_timing=True) for _ in range(2))
        self.cuda._sleep(int(min(0.02, 1.5 * host * calls + 3e-5) * HERTZ))
        begin.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3 / calls


def checked(contest: Contest, timer: Timer) -> tuple[list[Figure], list[str]]:
    """A figure without times for each implementation that works, and what is to be said of the others."""
    figures, failures = [], []
    for name, run in contest.runs.items():
        try:
            run()
            timer.wait()
            error = contest.error(name) if contest.error else float("nan")
        except Exception as failure:
            failures.append(f"{name} did not run: {named(failure)}")
            timer.alive(contest.question)
            continue
        if contest.error is None or error <= contest.tolerance:
            figures.append(Figure(name, [], error))
        else:  # also where the error is no number
            failures.append(f"{name} is WRONG: error {error:.2e} > {contest.tolerance:.0e}")
    return figures, failures


def measure(contest: Contest, device: str, rounds: int, limit: float = 2.0) -> Table:
    """The table of a contest whose rounds take ``limit`` seconds at most, or three rounds."""
    timer = Timer(device)
    figures, failures = checked(contest, timer)
    for failure in failures:
        print(f"  {failure}", file=sys.stderr, flush=True)
    note = "; ".join(t for t in (contest.note, *failures) if t)
    table = Table(
        contest.question, contest.unit, contest.amount, contest.yardstick, figures, note
    )
    if not figures:
        return table
    host = {f.peer: min(timer.host(contest.runs[f.peer]) for _ in range(2)) for f in figures}
    once = {f.peer: timer.seconds(contest.runs[f.peer], 2, host[f.peer]) for f in figures}
    calls = max(1, min(CALLS, int(ROW / max(once.values()))))
    each = calls * sum(max(once[p], host[p]) for p in once)
    for _ in range(max(3, min(rounds, int(limit / each)))):
        for f in random.sample(figures, len(figures)):
            f.times.append(timer.seconds(contest.runs[f.peer], calls, host[f.peer]))
    return table

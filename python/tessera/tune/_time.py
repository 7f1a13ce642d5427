# SPDX-License-Identifier: Apache-2.0
"""Interleaved timing: every round runs each candidate once, in a new order, with L2 swept in
between; candidates that are clearly behind drop out.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from typing import Any, TypeVar

import tessera

from .. import _core
from .. import tile as ct

__all__ = ["Candidate", "Clock", "Stuck", "race"]

GRACE_S = 0.1  # what a run may take beside the kernel before it is stopped


T = TypeVar("T")


class Stuck(RuntimeError):
    """A kernel on a GPU does not end: nothing more can be timed."""


def late(limit_s: float) -> TimeoutError:
    return TimeoutError(f"one run did not end within {limit_s:g} s")


@ct.kernel
def sweep_kernel(buffer, TILE: ct.Constant[int]):
    ct.store(buffer, index=(ct.bid(0),), tile=ct.zeros((TILE,), dtype=ct.int32))


@dataclass
class Candidate:
    """A configuration that compiled: how to launch it and its times in microseconds."""

    config: Any
    launch: Callable[[], None]
    times: list[float] = field(default_factory=list)
    inner: int = 1
    finalist: bool = True  # not dropped from the race

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def error(self) -> float:
        """Half the 95 % confidence interval of the mean."""
        n = len(self.times)
        return 1.96 * statistics.stdev(self.times) / math.sqrt(n) if n > 1 else math.inf


class Clock:
    """Times one launch: device time between events on a GPU, wall time on the CPU.

    ``limit_s`` bounds each run, ``first_s`` the first of each candidate. With a limit the CPU runs
    on ``stream``, one of its own if need be, which can be cancelled; a kernel on a GPU cannot be
    stopped here (_trial.py).
    """

    TILE, SHORT_US = 4096, 200.0

    def __init__(
        self, device: str, stream: Any, limit_s: float = math.inf, first_s: float = math.inf, *, swept: bool = True
    ) -> None:
        self.swept = swept
        self.device, self.stream, self.limit_s = device, stream, limit_s
        self.first_s, self.own = first_s, None
        self.gpu = device != "cpu"
        if not self.gpu and min(limit_s, first_s) < math.inf and not isinstance(stream, tessera.Stream):
            self.own = tessera.Stream("cpu")
        if self.own and limit_s < math.inf:
            self.stream = self.own
        if self.gpu:
            bytes_ = 2 * max(int(_core.device_info(device)["l2_bytes"]), 1 << 20)
            self.buffer = tessera.empty(bytes_ // 4 // self.TILE * self.TILE, "int32", device)
            self.begin, self.end = tessera.Event(device), tessera.Event(device)

    def sweep(self) -> None:
        """Writes twice as much as L2 holds."""
        if not self.swept:
            return
        blocks = self.buffer.size // self.TILE
        ct.launch(self.stream, (blocks,), sweep_kernel, (self.buffer, self.TILE))

    def wait(self) -> None:
        if self.gpu and self.limit_s < math.inf:
            self.end.record(self.stream)
            self._wait_for_end()
        elif self.limit_s < math.inf:
            self.stream.synchronize()
        else:
            tessera.synchronize(self.device)

    def _wait_for_end(self) -> None:
        end = time.perf_counter() + self.limit_s + GRACE_S
        while self.limit_s < math.inf and not self.end.done:
            if time.perf_counter() > end:
                raise Stuck(
                    f"one run did not end within {self.limit_s:g} s, and a kernel on a GPU cannot be stopped: "
                    "the device is busy until it ends or this process does"
                )
            time.sleep(1e-4)
        self.end.synchronize()

    def limited(self, job: Callable[[], T], runs: int = 1) -> T:
        """A job that launches a kernel so many times and waits; TimeoutError when it had to be
        stopped."""
        if self.gpu or self.limit_s == math.inf:
            return job()
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(job)
            try:
                return future.result(self.limit_s * runs + GRACE_S)
            except FutureTimeout:
                raise late(self.limit_s) from None
            finally:
                while not future.done():  # also after Ctrl-C; what waits its turn comes next
                    self.stream._cancel()
                    wait([future], 0.05)

    def first(self, candidate: Candidate, job: Callable[[], None] | None) -> None:
        """The first run, which may be one that does not end: ``job``, which launches and waits, or
        else the candidate alone where nothing else bounds it."""
        before, by_time = (self.stream, self.limit_s), self.first_s < self.limit_s
        if by_time:
            self.stream, self.limit_s = self.own or self.stream, self.first_s
        try:
            if job:
                self.limited(job)
            elif by_time:
                self.once(candidate)
        except (TimeoutError, Stuck) as error:
            more = "; `seconds` or `limit_s` gives it more" if by_time else ""
            raise type(error)(f"{error}{more}") from None
        finally:
            self.stream, self.limit_s = before

    def once(self, candidate: Candidate) -> float:
        if self.gpu:
            self.sweep()
            self.begin.record(self.stream)
            candidate.launch()
            self.end.record(self.stream)
            self._wait_for_end()
            return float(self.begin.elapsed_ms(self.end)) * 1e3
        return self.limited(lambda: self._once(candidate), candidate.inner)

    def _once(self, candidate: Candidate) -> float:
        start = time.perf_counter()
        for _ in range(candidate.inner):
            candidate.launch()
        self.wait()
        return (time.perf_counter() - start) * 1e6 / candidate.inner

    def warm(self, candidate: Candidate) -> float:
        """Two runs nobody counts; short ones are repeated in a sample on the CPU."""
        self.once(candidate)
        us = self.once(candidate)
        if not self.gpu:
            candidate.inner = max(1, min(100, int(self.SHORT_US / max(us, 1.0))))
        return us


def _settled(best: Candidate, least: int) -> bool:
    """The best is known to 1 % or half a microsecond."""
    return len(best.times) >= least and best.error <= max(0.5, 0.01 * best.median)


def _ahead(running: list[Candidate], behind: float) -> list[Candidate]:
    """Fastest samples decide: they suffer least from whatever else the machine does."""
    fastest = min(min(c.times) for c in running)
    for c in running:
        c.finalist = min(c.times) <= behind * fastest
    return [c for c in running if c.finalist]


def race(
    candidates: list[Candidate],
    clock: Clock,
    *,
    rounds: int,
    seconds: float,
    behind: float = 1.25,
    least: int = 5,
    step: Callable[[], None] = lambda: None,
    fail: Callable[[Any, BaseException], None] = lambda config, error: None,
) -> None:
    """Fills in the times of all candidates. Those whose fastest sample is `behind` times the
    fastest of all are dropped after three rounds; those that had to be stopped have failed."""
    end = time.perf_counter() + seconds
    order = random.Random(0)  # not the user's generator
    running = list(candidates)
    for done in range(rounds):
        for candidate in order.sample(running, len(running)):
            try:
                candidate.times.append(clock.once(candidate))
            except TimeoutError as error:
                fail(candidate.config, error)
                candidate.times.clear()
                running.remove(candidate)
            step()
        if not running:
            return
        best = min(running, key=lambda c: c.median)
        if done >= 2:
            running = _ahead(running, behind)
        if len(running) == 1 and _settled(best, least):
            return
        if done + 1 >= least and (
            time.perf_counter() > end or all(_settled(c, least) for c in running)
        ):
            return

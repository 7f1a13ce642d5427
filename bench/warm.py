# SPDX-License-Identifier: Apache-2.0
"""Compiles ahead: processes call what a benchmark will call, side by side, so that the caches on disk (ours, the
driver's, the peers') have it when the benchmark's own process, which times, comes to it."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from .contest import named

PROCESSES = 14  # at most; each has a context on the GPU
SAYING = 15.0  # seconds between words about how far it is


def _work(work: Callable[[int], None], count: int, taken: Any, done: Any) -> None:
    while True:
        with taken.get_lock():
            place = taken.value
            taken.value += 1
        if place >= count:
            return
        try:
            work(place)
        except Exception as failure:
            print(f"  ahead, {place}: {named(failure)}", file=sys.stderr, flush=True)
        with done.get_lock():
            done.value += 1


def ahead(work: Callable[[int], None], count: int, seconds: float | None) -> str:
    """``work(0)`` to ``work(count - 1)`` by processes that end when ``seconds`` are over; how far they came. ``work``
    and what it holds must be importable there. One that crashes loses its place only."""
    begin = time.monotonic()
    context = multiprocessing.get_context("spawn")
    taken, done = context.Value(ctypes.c_long, 0), context.Value(ctypes.c_long, 0)
    number = max(1, min(PROCESSES, (os.cpu_count() or 2) - 1, count))
    processes = [
        context.Process(target=_work, args=(work, count, taken, done), daemon=True)
        for _ in range(number)
    ]
    try:
        for process in processes:
            process.start()
        said = begin
        while any(p.is_alive() for p in processes):
            now = time.monotonic()
            if seconds is not None and now > begin + seconds:
                break
            if now > said + SAYING:
                print(f"  {done.value} of {count} ...", flush=True)
                said = now
            time.sleep(0.05)
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
            process.join()
    return f"{done.value} of {count} compiled ahead by {number} processes in {time.monotonic() - begin:.0f} s"

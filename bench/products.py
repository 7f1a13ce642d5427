# SPDX-License-Identifier: Apache-2.0
"""Question: over random shapes, how does the library's product of matrices stand to cuBLAS?

bfloat16, each extent from 16 to 16384 with a uniform logarithm, rounded to a multiple of 1, 8 and 64 in turn, orders
NN, NT and TN in turn of threes. Processes first compile what the shapes need, in parallel, into the cache that all
share.
Shapes and orders follow from --seed and their place; a --state file keeps what was measured, so that a run that was
stopped, or whose --seconds were over, goes on where it ended.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import pathlib
import random as random_numbers
from collections.abc import Iterator
from typing import Any

from .common import Table
from .contest import Begun, Deadline, Timer, measure
from .gemm_gpu import CUBLAS, Many, product
from .warm import ahead

LOW, HIGH = 16, 16384
MULTIPLES = (1, 8, 64)
ORDERS = ("NN", "NT", "TN")
WORST = 20
SHARE = 0.5  # of the time, that compiling may take
LIMIT = 0.05  # seconds of rounds for a shape

Shape = tuple[int, int, int]


def shapes(count: int, seed: int, high: int = HIGH) -> list[tuple[Shape, str, int]]:
    """Extents, order and multiple; the first n of a longer list are those of a shorter one."""
    draw = random_numbers.Random(seed)
    found = []
    for i in range(count):
        multiple = MULTIPLES[i % 3]
        m, n, k = (
            max(LOW, round(math.exp(draw.uniform(math.log(LOW), math.log(high))) / multiple) * multiple)
            for _ in range(3)
        )
        found.append(((m, n, k), ORDERS[i // 3 % 3], multiple))
    return found


class Pool:
    """Operands cut from one block of random numbers: drawing each anew would take longer than the products."""

    def __init__(self, torch: Any, device: str, elements: int, filled: bool) -> None:
        self.blocks = []
        for _ in "ab":
            block = torch.empty(elements, dtype=torch.bfloat16, device=device)
            self.blocks.append(block.normal_() if filled else block)
        self.turn = 0

    def __call__(self, torch: Any, shape: tuple[int, ...], dtype: str) -> Any:
        self.turn ^= 1
        return self.blocks[self.turn][: math.prod(shape)].view(shape)


_pools: list[Pool] = []  # of a process that compiles ahead


def _compile(wanted: list[tuple[Shape, str, int]], device: str, elements: int, place: int) -> None:
    """One call: its kernel is in the cache of Tessera and its code in the driver's."""
    import torch
    from tessera.lib import gemm

    if not _pools:
        _pools.append(Pool(torch, device, elements, filled=False))
    (m, n, k), order, _ = wanted[place]
    a = _pools[0](torch, (k, m) if order[0] == "T" else (m, k), "bfloat16")
    b = _pools[0](torch, (n, k) if order[1] == "T" else (k, n), "bfloat16")
    c = torch.empty((m, n), dtype=torch.bfloat16, device=device)
    gemm.gemm(a.t() if order[0] == "T" else a, b.t() if order[1] == "T" else b, c)
    Timer(device).wait()


class State:
    """Lines of JSON, one a shape that was measured: seed, place and both medians."""

    def __init__(self, path: pathlib.Path | None, seed: int) -> None:
        self.path, self.seed = path, seed
        self.found: dict[int, tuple[float, float]] = {}
        if path and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError, KeyError):  # the line that a stop cut short
                    entry = json.loads(line)
                    if entry["seed"] == seed:
                        self.found[entry["place"]] = (entry["ours"], entry["theirs"])

    def add(self, place: int, ours: float, theirs: float) -> None:
        self.found[place] = (ours, theirs)
        if self.path:
            entry = {"seed": self.seed, "place": place, "ours": ours, "theirs": theirs}
            with self.path.open("a", encoding="utf-8") as f:
                f.write(json.dumps(entry) + "\n")


def _measure_all(
    wanted: list[tuple[Shape, str, int]], device: str, rounds: int, elements: int, state: State,
    deadline: Deadline,
) -> str:  # fmt: skip
    """Measures what the state has not; the failures."""
    import torch

    begun = Begun(state.path and state.path.with_suffix(".begun"))
    pool, failures = Pool(torch, device, elements, filled=True), []
    for i, (shape, order, _) in enumerate(wanted):
        if deadline.over():
            break
        if i in state.found:
            continue
        if not begun.first(f"{state.seed} {i}"):
            failures.append(f"shape {i}, {shape} {order}: the run that measured it ended")
            continue
        if i % 50 == 0:
            print(f"  {i} of {len(wanted)}, {deadline.left():.0f} s left", flush=True)
        contest = product(torch, "bfloat16", shape, order, pool)
        table = measure(contest, device, rounds, LIMIT)
        if len(table.figures) == 2:
            state.add(i, table.figures[0].median, table.figures[1].median)
        else:
            failures.append(f"{contest.question}: {table.note}")
    return "; ".join(failures)


def tables(
    device: str, rounds: int, small: bool, *, seconds: float | None, random: int, seed: int,
    state: pathlib.Path | None,
) -> Iterator[Table]:  # fmt: skip
    deadline = Deadline(seconds)
    wanted = shapes(random, seed, 256 if small else HIGH)
    elements = max(max(m * k, k * n) for (m, n, k), _, _ in wanted)
    kept = State(state, seed)
    todo = [w for i, w in enumerate(wanted) if i not in kept.found]
    note = ""
    if todo:
        print(f"products: compiling for {len(todo)} shapes ...", flush=True)
        work = functools.partial(_compile, todo, device, elements)
        note = ahead(work, len(todo), None if seconds is None else seconds * SHARE)
        print(f"  {note}", flush=True)
    failures = _measure_all(wanted, device, min(rounds, 9), elements, kept, deadline)
    for multiple in (0, *MULTIPLES):
        kind = f"multiples of {multiple}" if multiple else f"{random} shapes, seed {seed}"
        table = Many(f"random products bfloat16, {kind}", "", 1.0, CUBLAS, worst=WORST)
        if not multiple:
            table.note = "; ".join(t for t in (note, failures) if t)
        for i, (shape, order, its_multiple) in enumerate(wanted):
            if i in kept.found and multiple in (0, its_multiple):
                ours, theirs = kept.found[i]
                name = " x ".join(map(str, shape)) + f" {order}"
                table.ratios.append((name, theirs / ours, ours, theirs))
        yield table

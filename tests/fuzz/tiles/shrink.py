# SPDX-License-Identifier: Apache-2.0
"""The smallest source that still fails in the same way: lines, with what they indent, are left out."""

from __future__ import annotations

import dataclasses
import select
from typing import Any

from .program import Outcome, Program
from .worker import Worker


class Trial:
    """Runs sources in a worker that may crash or hang."""

    def __init__(self, request: dict[str, Any], limit: float) -> None:
        self.request, self.limit, self.worker = request, limit, Worker()

    def run(self, source: str) -> Outcome:
        self.worker.send({**self.request, "source": source})
        ready = select.select([self.worker.process.stdout], [], [], self.limit)[0]
        outcome = self.worker.receive() if ready else None
        if outcome:
            return outcome
        outcome = self.worker.ended() if ready else self.worker.stop()
        self.worker.close()
        self.worker = Worker()
        return outcome


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def without(lines: list[str], k: int) -> list[str]:
    """Leaves out line k and what it indents; its place is kept by `pass` where a body would be empty."""
    end = k + 1
    while end < len(lines) and indent(lines[end]) > indent(lines[k]):
        end += 1
    rest = lines[:k] + lines[end:]
    opens = k > 0 and lines[k - 1].rstrip().endswith(":")
    if opens and (k >= len(rest) or indent(rest[k]) <= indent(lines[k - 1])):
        rest.insert(k, " " * (indent(lines[k - 1]) + 4) + "pass")
    return rest


def unwrapped(lines: list[str], k: int) -> list[str]:
    """Leaves out the loop or if of line k and keeps its body."""
    end = k + 1
    while end < len(lines) and indent(lines[end]) > indent(lines[k]):
        end += 1
    return lines[:k] + [line[4:] for line in lines[k + 1 : end]] + lines[end:]


def shrunk(program: Program, request: dict[str, Any], limit: float) -> tuple[Program, Outcome]:
    """The program with every line left out that its finding does not need, and that finding."""
    trial = Trial(request, limit)
    best = trial.run(program.source)
    lines, k, changed = program.source.splitlines(), 0, True
    while changed:
        changed = False
        for k in reversed(range(1, len(lines))):
            if k >= len(lines) or lines[k].strip() == "pass":
                continue
            options = [without(lines, k)]
            if lines[k].rstrip().endswith(":"):
                options.append(unwrapped(lines, k))
            for option in options:
                outcome = trial.run("\n".join(option) + "\n")
                if outcome.kind == best.kind and same(outcome, best):
                    lines, best, changed = option, outcome, True
                    break
    trial.worker.close()
    return dataclasses.replace(program, source="\n".join(lines) + "\n"), best


def same(a: Outcome, b: Outcome) -> bool:
    """Errors of the second reading (a name that was left out) are not the finding that is looked for."""
    return a.kind != "error" or a.text.splitlines()[-1:] == b.text.splitlines()[-1:]

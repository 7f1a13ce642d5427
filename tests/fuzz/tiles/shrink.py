# SPDX-License-Identifier: Apache-2.0
"""The smallest program that still fails in the same way: lines, with what they indent, and arguments
are left out as long as it does."""

from __future__ import annotations

import dataclasses
import functools
import re
import select
from collections.abc import Callable, Iterator

from . import corpus
from .program import Outcome, Program
from .worker import Worker


class Trial:
    """Runs programs in a worker that may crash or hang."""

    def __init__(self, device: str, limit: float) -> None:
        self.device, self.limit, self.worker = device, limit, Worker()

    def run(self, program: Program) -> Outcome:
        self.worker.send({"text": corpus.text(program, "tried"), "device": self.device})
        assert self.worker.process.stdout
        ready = select.select([self.worker.process.stdout], [], [], self.limit)[0]
        outcome = self.worker.receive() if ready else None
        if outcome:
            return outcome
        outcome = self.worker.ended() if ready else self.worker.stop()
        self.worker.close()
        self.worker = Worker()
        return outcome

    def close(self) -> None:
        self.worker.close()


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def body(lines: list[str], k: int) -> int:
    """The end of what line k indents."""
    end = k + 1
    while end < len(lines) and indent(lines[end]) > indent(lines[k]):
        end += 1
    return end


def without(lines: list[str], k: int) -> list[str]:
    """Leaves out line k and what it indents; `pass` keeps its place where a body would be empty."""
    rest = lines[:k] + lines[body(lines, k) :]
    opens = k > 0 and lines[k - 1].rstrip().endswith(":")
    if opens and (k >= len(rest) or indent(rest[k]) <= indent(lines[k - 1])):
        rest.insert(k, " " * (indent(lines[k - 1]) + 4) + "pass")
    return rest


def unwrapped(lines: list[str], k: int) -> list[str]:
    """Leaves out the loop or if of line k and keeps its body."""
    end = body(lines, k)
    return lines[:k] + [line[4:] for line in lines[k + 1 : end]] + lines[end:]


def fewer_lines(program: Program, k: int) -> Iterator[Program]:
    """The program without line k and what it indents; or without the loop or if that it is."""
    lines = program.source.splitlines()
    if k >= len(lines) or lines[k].strip() == "pass" or lines[k].startswith("def kernel"):
        return
    yield dataclasses.replace(program, source="\n".join(without(lines, k)) + "\n")
    if lines[k].rstrip().endswith(":") and lines[k].startswith(" "):
        yield dataclasses.replace(program, source="\n".join(unwrapped(lines, k)) + "\n")


def fewer_arguments(program: Program) -> Iterator[Program]:
    """The program without one argument that its lines do not name."""
    head, rest = program.source.split("def kernel(", 1)
    parameters, rest = rest.split("):", 1)
    for k, parameter in enumerate(names := parameters.split(", ")):
        name = parameter.split(":")[0]
        if re.search(rf"\b{name}\b", rest):
            continue
        kept = ", ".join(names[:k] + names[k + 1 :])
        yield dataclasses.replace(
            program,
            source=f"{head}def kernel({kept}):{rest}",
            arrays=[a for a in program.arrays if a.name != name],
            scalars=[s for s in program.scalars if s[0] != name],
            constant=None if name == "C" else program.constant,
        )


def same(a: Outcome, b: Outcome) -> bool:
    """A mistake of the second reading (a name that was left out) is not the finding."""
    if a.kind != b.kind or a.kind not in ("error", "wrong"):
        return a.kind == b.kind
    first, second = (o.text.strip().splitlines() or [""] for o in (a, b))
    if a.kind == "error":
        return first[-1] == second[-1]
    refused = "a refusal that"
    if first[0].startswith(refused):
        return first[0].split(": ")[:4] == second[0].split(": ")[:4]
    return not second[0].startswith(refused)


def rounds(program: Program) -> Iterator[Callable[[Program], Iterator[Program]]]:
    """What is tried in turn: each line from the last one, then the arguments."""
    for k in reversed(range(program.source.count("\n"))):
        yield functools.partial(fewer_lines, k=k)
    for _ in range(len(program.arrays) + len(program.scalars) + 1):
        yield fewer_arguments


def shrunk(program: Program, finding: Outcome, trial: Trial) -> tuple[Program, Outcome]:
    """The program with everything left out that its finding does not need, and that finding."""
    before = ""
    while before != program.source:
        before = program.source
        for options in rounds(program):
            for option in options(program):
                outcome = trial.run(option)
                if same(outcome, finding):
                    program, finding = option, outcome
                    break
    return program, finding

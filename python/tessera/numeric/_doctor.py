# SPDX-License-Identifier: Apache-2.0
"""What a program of arrays loses, line by line: `doctor`, and ``python -m tessera doctor script.py``.

Events are told of in C where they happen (include/tessera/numeric_event.def has their kinds and the advice), added up
for each line of the user's program (ext/numeric_doctor.c), and sorted and printed here.
"""

from __future__ import annotations

import json
import linecache
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from .. import _core

KINDS, CAUSES = _core.numeric_kinds()


class Finding(NamedTuple):
    """What happened at a line: its kind, of which function or why, how often, seconds of the host, bytes, and what to
    do about it ("": it is the work itself)."""

    file: str
    line: int
    function: str
    kind: str
    name: str
    count: int
    seconds: float
    bytes: int
    advice: str

    @property
    def title(self) -> str:
        """What it is, in words."""
        if self.kind == "cut":
            return f"{KINDS['cut'][0]}: {CAUSES[self.name][0]}"
        return f"{KINDS[self.kind][0]}" + (f": {self.name}" if self.name else "")


_Key = tuple[str, str, str, str, int]


def _events() -> dict[_Key, tuple[int, int, int]]:
    return {
        (kind, name or "", file or "", function or "", line): (count, ns, size)
        for kind, name, file, function, line, count, ns, size in _core.numeric_events()
    }


def _advice(kind: str, name: str, count: int) -> str:
    _, advice, least = CAUSES[name] if kind == "cut" else KINDS[kind]
    return str(advice) if count >= least else ""


class doctor:
    """Watches what arrays do: ``with numeric.doctor() as d: ...``, then ``print(d)``.

    For each line of the program: results and elements that were read, writes of single elements, why waiting values
    were computed, kernels made and launched, copies between devices, calls that the host computed, values that
    were stored and never read, each with its count, time and bytes, and an advice. The dearest line comes first.

    Attributes
    ----------
    findings : list of Finding
        (file, line, function, kind, name, count, seconds, bytes, advice), the dearest first; the fields of a line add
        up. Read inside of the block they are those so far.
    seconds : float
        How long the block took.

    Notes
    -----
    Of all threads. Times are those of the host, each without the others inside of it; a kernel on a GPU is at work
    after its launch, and what waits for it has that time. A line is the nearest one that is neither Tessera's nor
    NumPy's. Doctors may be inside of each other. Without one nothing is counted, and no clock is read.
    """

    def __init__(self) -> None:
        self._begun = self.seconds = 0.0
        self._before: dict[_Key, tuple[int, int, int]] = {}
        self._found: list[Finding] | None = []

    def __enter__(self) -> doctor:  # noqa: PYI034  no Self in Python 3.10
        _core.numeric_doctor(True)
        self._before = _events()
        self._found = None
        self._begun = time.perf_counter()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds = time.perf_counter() - self._begun
        self._found = self._findings()
        _core.numeric_doctor(False)

    def _findings(self) -> list[Finding]:
        made = []
        for key, (count, ns, size) in _events().items():
            kind, name, file, function, line = key
            count0, ns0, size0 = self._before.get(key, (0, 0, 0))
            if count > count0:
                made.append(
                    Finding(
                        file, line, function, kind, name, count - count0, (ns - ns0) / 1e9, size - size0,
                        _advice(kind, name, count - count0),
                    )
                )  # fmt: skip
        return sorted(made, key=lambda each: (-each.seconds, -each.bytes, each.line))

    @property
    def findings(self) -> list[Finding]:
        return self._findings() if self._found is None else self._found

    def lines(self) -> Iterator[list[Finding]]:
        """The findings of each line, the dearest line first."""
        lines: dict[tuple[str, int], list[Finding]] = {}
        for each in self.findings:
            lines.setdefault((each.file, each.line), []).append(each)
        yield from sorted(lines.values(), key=lambda line: -sum(each.seconds for each in line))

    def json(self) -> str:
        """The findings as a JSON list of objects."""
        return json.dumps([{**each._asdict(), "title": each.title} for each in self.findings], indent=1)

    def report(self, most: int = 20) -> str:
        """The findings as text, of so many lines; ``print(d)`` prints it."""
        lines = [*self.lines()]
        text = [_summary(self.findings, self.seconds or time.perf_counter() - self._begun)]
        told: set[str] = set()
        for line in lines[:most]:
            text += _line_text(line, told)
        if len(lines) > most:
            text.append(f"\n{len(lines) - most} more lines cost less; report({len(lines)}) has them")
        return "\n".join(text)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        return f"<doctor with {len(self.findings)} findings>"


def _amount(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _size(n: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n} B"


def _summary(findings: list[Finding], seconds: float) -> str:
    def of(*kinds: str) -> int:
        return sum(each.count for each in findings if each.kind in kinds)

    counts = [
        (of("kernel", "compile"), "launches"), (of("compile"), "kernels made"),
        (of("read", "element_read"), "reads"), (of("to_host", "to_device"), "copies between devices"),
        (of("fallback"), "calls on the host"),
    ]  # fmt: skip
    inside = sum(each.seconds for each in findings)
    return f"{_amount(seconds)}, {_amount(inside)} of it in calls on arrays: " + ", ".join(
        f"{n} {what}" for n, what in counts
    )


def _line_text(line: list[Finding], told: set[str]) -> list[str]:
    """A line and what happened there; an advice is given where it comes first."""
    first = line[0]
    source = linecache.getline(first.file, first.line).strip()
    folder = os.path.join(os.getcwd(), "")
    where = f"{first.file.removeprefix(folder)}:{first.line}" if first.file else "no line of a program"
    text = [f"\n{where}  {_amount(sum(e.seconds for e in line))}"]
    text += [f"    {source}"] if source else []
    for each in line:
        text.append(f"  {each.count:>8} x  {_amount(each.seconds):>8}  {_size(each.bytes):>8}  {each.title}")
        if each.advice and each.advice not in told:
            told.add(each.advice)
            text.append(f"{'':>14}{each.advice}")
    return text

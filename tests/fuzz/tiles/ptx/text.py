# SPDX-License-Identifier: Apache-2.0
"""PTX text taken apart: parameters, sizes, labels, and instructions with their operands as text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class Unread(Exception):
    """An instruction, or a form of one, that this reader does not know."""


@dataclass(frozen=True)
class Inst:
    parts: tuple[str, ...]  # "ld.global.v2.b32" at its dots
    args: tuple[str, ...]
    guard: str = ""  # the predicate register, or ""
    negated: bool = False
    line: str = ""

    def unread(self) -> Unread:
        return Unread(".".join(self.parts))


@dataclass
class Entry:
    """One kernel."""

    threads: int = 0
    params: dict[str, int] = field(default_factory=dict)  # bytes of each, in order
    registers: dict[str, str] = field(default_factory=dict)  # type by prefix
    sizes: dict[str, int] = field(default_factory=dict)  # registers of each prefix
    locals: dict[str, int] = field(default_factory=dict)  # bytes of each
    globals: dict[str, bytes] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)  # the instruction behind each
    code: list[Inst] = field(default_factory=list)


PARAM = re.compile(r"\.param(?: \.align \d+)? \.[a-z]+(\d+) (\w+)(?:\[(\d+)\])?")
REG = re.compile(r"\.reg \.(\w+) (%\w+?)<(\d+)>;")
LOCAL = re.compile(r"\.local \.align \d+ \.b8 (\w+)\[(\d+)\];")
GLOBAL = re.compile(r"\.global \.align \d+ \.b8 (\w+)\[(\d+)\](?: = \{([\d,]*)\})?;")
LABEL = re.compile(r"(\w+):")
INST = re.compile(r"(?:@(!?)(%\w+) )?([a-z][\w.:]*)(?: (.*))?;")
ARG = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
IGNORED = (".version", ".target", ".address_size", ".extern .shared", ".pragma", ".minnctapersm",
           ".maxntid")


def declared(entry: Entry, line: str) -> bool:
    """Whether the line is one that is no instruction."""
    if match := PARAM.match(line):
        entry.params[match[2]] = int(match[3] or int(match[1]) // 8)
    elif match := REG.match(line):
        entry.registers[match[2]] = match[1]
        entry.sizes[match[2]] = int(match[3])
    elif match := LOCAL.match(line):
        entry.locals[match[1]] = int(match[2])
    elif match := GLOBAL.match(line):
        data = bytes(int(b) for b in (match[3] or "").split(",") if b)
        entry.globals[match[1]] = data.ljust(int(match[2]), b"\0")
    elif line.startswith(".reqntid "):
        entry.threads = int(line.split()[1].rstrip(","))
    elif match := LABEL.fullmatch(line):
        if match[1] in entry.labels:
            raise ValueError(f"label {match[1]} stands twice")
        entry.labels[match[1]] = len(entry.code)
    else:
        return line.startswith(IGNORED) or line in ("", "{", "}") or ".entry" in line
    return True


def parsed(text: str) -> Entry:
    entry = Entry()
    for line in text.splitlines():
        line = line.strip()
        if declared(entry, line):
            continue
        match = INST.fullmatch(line)
        if not match:
            raise Unread(line.split()[0])
        args = tuple(ARG.findall(match[4] or ""))
        parts = tuple(match[3].split("."))
        entry.code.append(Inst(parts, args, match[2] or "", match[1] == "!", line))
    return entry

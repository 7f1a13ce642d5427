# SPDX-License-Identifier: Apache-2.0
"""Packs the kernels of tessera.compute that src/lib launches, for programs without Python.

python tools/gen_compute.py            writes src/lib/compute.def
python tools/gen_compute.py --check    says whether it is fresh

Algorithms are functions that make a kernel of a dtype, an operator and so on (docs/adr/0025-algorithms.md). Packs of
one algorithm differ in few words. So each is packed once, and for every choice that can be made it is noted which words
become what (docs/adr/0029-algorithms-in-c.md):

    a kernel: a pack       its axes: dtype, combine, ..       a choice, as float64: words, and what they become

No two axes change one word: some packs that are put together of choices are compared with those that Python makes.
Lines, columns and texts of functions are left out, so a function that moves changes nothing here.
"""

from __future__ import annotations

import array
import base64
import random
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import generated
from gen_lib import Portable
from generated import ROOT
from tessera import _ast_table as tables
from tessera import _pack
from tessera._foreign import dtype_name
from tessera.compute._packed import KERNELS, NUMBERS, OWN, Choice, Kernel

OUT = ROOT / "src/lib/compute.def"
MOST = 32  # numbers of a tuple that a kernel captures; all packs have room for as many
HEAD, NODE, OBJECT, ROW = 8, 9, 4, 9  # words
TEXT = 110  # characters of a line
AXES = ["dtype", "pair", "bytes", "combine", "initial", "exclusive", "descending", "upper", "counted", "wide", "copies",
        "own", "last", "both", "alone", "right", "few", "variant"]  # fmt: skip

# ---- packs ------------------------------------------------------------------------------------------------


class Even(Portable):
    """A packer of packs that are alike: each constant has a row of its own, tuples of numbers have one length."""

    def __init__(self, strings: dict[str, int]) -> None:
        super().__init__(dialect="thread")
        self.strings = {text: i for i, text in enumerate({"": 0, **strings})}

    def object(self, obj: Any) -> int:
        is_plain = type(obj) in (bool, int, float, complex, str) or dtype_name(obj) is not None
        return self.make(obj, None) if is_plain else super().object(obj)

    def make_plain(self, obj: Any, key: Any) -> int:
        if type(obj) is not tuple or not obj or any(type(item) is not int for item in obj):
            return super().make_plain(obj, key)
        rows = [self.object(item) for item in (*obj, *(0,) * (MOST - len(obj)))]
        at = len(self.lists)
        self.lists += [len(obj), *rows]
        return self.add(tables.TUPLE, at)


_read = _pack.tree_of
_pack.tree_of = lambda fn, snapshot=None: (*_read(fn, snapshot)[:2], "")  # type: ignore[assignment]


class Pack(NamedTuple):
    """The words of a pack, and its texts."""

    words: list[int]
    texts: dict[str, int]
    blob: bytes
    record: int  # the object that describes records in temporary memory; 0: there are none


def packed(function: Any, texts: dict[str, int], record: Any = None) -> Pack:
    packer = Even(texts)
    packer.object(function)
    described = 0 if record is None else packer.object(record)
    packer.complete()
    if packer.captured or packer.sites or packer.links:
        raise SystemExit(f"{function.__qualname__} asks Python when it is compiled, which programs in C cannot")
    for at in range(0, len(packer.nodes), NODE):
        packer.nodes[at + 1 : at + 5] = 0, 0, 0, 0
    for row in packer.functions:
        row[3] = 0
    whole = packer.bytes()
    n_blob = array.array("I", whole[: 4 * HEAD])[7]
    words = array.array("I", whole[: len(whole) - n_blob])
    return Pack(words.tolist(), packer.strings, whole[len(whole) - n_blob :], described)


class Table:
    """A kernel's pack, and what each choice changes in it."""

    def __init__(self, name: str, kernel: Kernel) -> None:
        self.name, self.kernel = name, kernel
        self.first = {axis: choices[0] for axis, choices in kernel.axes.items()}
        each = [self.first | {axis: one} for axis, choices in kernel.axes.items() for one in choices]
        texts: dict[str, int] = {}
        for choice in each:
            texts |= self.packed(choice, {}).texts
        self.texts, self.function = texts, kernel.make(self.first)
        self.base = self.packed(self.first, texts)
        self.changes = {
            axis: [self.difference(self.first | {axis: one}) for one in choices]
            for axis, choices in kernel.axes.items()
        }
        self.check()

    def packed(self, choice: Choice, texts: dict[str, int]) -> Pack:
        record = self.kernel.record
        return packed(self.kernel.make(choice), texts, None if record is None else record(choice))

    def difference(self, choice: Choice) -> dict[int, int]:
        other = self.packed(choice, self.texts)
        if (other.blob, len(other.words), other.words[:HEAD], other.record) != (
            self.base.blob, len(self.base.words), self.base.words[:HEAD], self.base.record,
        ):  # fmt: skip
            raise SystemExit(f"{self.name}: the pack for {choice} has another form: {other.words[:HEAD]}, "
                             f"{self.base.words[:HEAD]}")  # fmt: skip
        return {i: b for i, (a, b) in enumerate(zip(self.base.words, other.words)) if a != b}

    def check(self) -> None:
        """Some packs of choices of all axes are those that Python makes."""
        chance = random.Random(1)
        for _ in range(4):
            places = {axis: chance.randrange(len(choices)) for axis, choices in self.kernel.axes.items()}
            choice = {axis: self.kernel.axes[axis][i] for axis, i in places.items()}
            words = list(self.base.words)
            for axis, i in places.items():
                for at, word in self.changes[axis][i].items():
                    words[at] = word
            if words != self.packed(choice, self.texts).words:
                raise SystemExit(f"{self.name}: {choice} is not what its choices make, one by one")


def short(pack: Pack) -> bytes:
    """A pack in numbers of seven bits a byte, without what is known: magic, version, where texts begin, places."""
    _, _, n_texts, n_nodes, n_lists, n_objects, n_functions, _ = pack.words[:HEAD]
    at = HEAD + n_texts
    end = at + NODE * n_nodes
    nodes = [pack.words[i + k] for i in range(at, end, NODE) for k in (0, 5, 6, 7, 8)]
    out = bytearray()
    for word in (*pack.words[2:HEAD], *nodes, *pack.words[end:]):
        while word > 127:
            out.append(word & 127 | 128)
            word >>= 7
        out.append(word)
    assert len(pack.words) == end + n_lists + OBJECT * n_objects + ROW * n_functions
    return bytes(out) + pack.blob


# ---- writing ----------------------------------------------------------------------------------------------


def text_rows(blob: bytes) -> Iterator[str]:
    text = base64.b64encode(blob).decode()
    yield from (f'    "{text[i : i + TEXT]}",' for i in range(0, len(text), TEXT))


def place_of(axis: str, choice: Any) -> str:
    """The index of a choice, in C."""
    if axis == "dtype":
        return f"TS_DTYPE_{choice}"
    if axis == "pair":
        return f"COMPUTE_PAIR(TS_DTYPE_{choice[0]}, {choice[1]})"
    if axis == "bytes":
        return str(choice.bit_length() - 1)
    return f"TS_COMBINE_{choice}" if axis == "combine" else str(choice)


def table_rows(table: Table) -> Iterator[str]:
    """The lines of one kernel."""
    name, kernel = table.name, table.kernel
    code = table.function.__code__
    names = ", ".join(f'{{.name = "{p}"}}' for p in code.co_varnames[: code.co_argcount])
    yield f"\nstatic const ts_param compute_params_{name}[] = {{{names}}};"
    yield f"static const char *const compute_text_{name}[] = {{"
    yield from text_rows(short(table.base))
    yield "};"
    words: list[tuple[int, int]] = []
    rows: list[str] = []
    for axis, choices in kernel.axes.items():
        rows.append(f"static const compute_choice compute_{name}_{axis}[] = {{")
        for choice, changes in zip(choices, table.changes[axis]):
            facts = kernel.facts(table.first | {axis: choice}) if axis in ("dtype", "pair", "bytes") else {}
            told = "".join(f", .{fact} = {value}" for fact, value in facts.items())
            rows.append(f"    [{place_of(axis, choice)}] = {{true, {len(words)}, {len(changes)}{told}}},")
            words += changes.items()
        rows.append("};")
    yield f"static const compute_change compute_changes_{name}[] = {{"
    line = "   "
    for at, word in words:
        line += f" {{{at}, {word}}},"
        if len(line) > TEXT - 10:
            yield line
            line = "   "
    yield line if words else "    {0, 0},"
    yield "};"
    yield from rows


def kernel_rows(table: Table) -> Iterator[str]:
    name, code = table.name, table.function.__code__
    file = Even({}).portable(code.co_filename)
    place = "[COMPUTE_{0}] = {{compute_{1}_{0}, TS_COUNT(compute_{1}_{0})}}"
    axes = ", ".join(place.format(axis, name) for axis in table.kernel.axes)
    yield f'    [COMPUTE_{name}] = {{"{code.co_name}", "{file}", compute_params_{name}, {code.co_argcount}, '
    yield f"        compute_text_{name}, compute_changes_{name},"
    yield f"        {{{axes}}}, {table.base.record}}},"


def table_text() -> str:
    numbers = {"MAGIC": tables.MAGIC, "VERSION": tables.VERSION, **NUMBERS}
    made = [Table(name, kernel) for name, kernel in KERNELS.items()]
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0",
        " *",
        " * The kernels of tessera.compute as packs with choices, written by tools/gen_compute.py: compute_kernel.c.",
        " */",
        "",
    ]
    lines += ["#ifndef COMPUTE_TABLES", "enum {"]
    lines += [*(f"    COMPUTE_{name} = {value}," for name, value in numbers.items()), "};", ""]
    lines += [f'#define COMPUTE_OWN "{OWN}"', ""]
    for kind, names, end in (("axis", AXES, "AXES"), ("number", list(KERNELS), "COUNT")):
        rows = [f"    COMPUTE_{name}," for name in (*names, end)]
        lines += [f"typedef enum compute_{kind} {{", *rows, f"}} compute_{kind};", ""]
        lines += [f"#define COMPUTE_{kind.upper()}_NAMES(X) \\", *(f"    X({name}) \\" for name in names), ""]
    lines += ["#else"]
    for table in made:
        lines += table_rows(table)
    lines += ["", "static const compute_row compute_rows[COMPUTE_COUNT] = {"]
    for table in made:
        lines += kernel_rows(table)
    return "\n".join([*lines, "};", "#endif", ""])


if __name__ == "__main__":
    sys.exit(generated.settle({OUT: table_text()}))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what Python and the pages have from the tables of the languages; --check proves it fresh.

python tools/gen_language.py [--check | --measured < what build/test_math_ulp printed]

    src/lang/ast.def            python/tessera/_ast_table.py: numbers of the packed AST
    src/table/math.def          python/tessera/tile/_ops_fn.py, the table of docs/reference/math.md; its numbers
                                are tests/math/measured.txt, the output of build/test_math_ulp; --measured puts
                                new lines there in place of those of the same functions
    src/lang/simt/libdevice.def python/tessera/cuda/libdevice.py: stubs
    src/lang/tile/tile_op.def   the lists of python/tessera/tile/__init__.py; where each stub is: _ops_*.py

Tests read the tables by the functions of this file. The pages of docs/reference that are made of docstrings:
reference.py.
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from collections.abc import Iterator
from inspect import Parameter
from typing import NamedTuple

import generated
from generated import ROOT

AST = ROOT / "src/lang/ast.def"
PACK = ROOT / "src/lang/pack.h"
TILE_OPS = ROOT / "src/lang/tile/tile_op.def"
MATH = ROOT / "src/table/math.def"
LIBDEVICE = ROOT / "src/lang/simt/libdevice.def"
LIBDEVICE_STUBS = ROOT / "python/tessera/cuda/libdevice.py"
MEASURED = ROOT / "tests/math/measured.txt"
AST_TABLE = ROOT / "python/tessera/_ast_table.py"
TILE = ROOT / "python/tessera/tile"
STUBS = TILE / "_ops_fn.py"
PAGE = ROOT / "docs/reference/math.md"
ARGUMENTS = {"X": "x", "XB": "x", "XI": "x", "XX": "x y", "XN": "x n"}
DEFAULTS = {"flush_to_zero": "bool = False"}  # annotation and default of options; Any = None otherwise
CLASSES = {"Slice"}  # operations that are classes, which stand with the annotations


def rows_of(path: pathlib.Path, macro: str) -> list[list[str]]:
    """The cells of each row ``macro(...)`` of a table, in its order. Strings side by side are one, short names of
    strings (#define) are put in, and a comment behind the row is left out."""
    text = path.read_text()
    short = dict(re.findall(r'^#define (\w+) ("[^"]*")$', text, re.MULTILINE))
    found = []
    row = rf"^{macro}\(((?:[^\"\n]|\"[^\"]*\")*?)\)\s*(?:/\*.*\*/)?$"
    for line in re.findall(row, re.sub(r'(?<=[",])\n +', " ", text.replace('"\n', '" ')), re.MULTILINE):
        cells = re.findall(r'(?:"[^"]*"|\([^()]*\)|[^",()]+)+', line)
        found.append([_joined(cell.strip(), short) for cell in cells])
    return found


def _joined(cell: str, short: dict[str, str]) -> str:
    words = re.findall(r'"[^"]*"|\S+', cell)
    words = [short.get(word, word) for word in words]
    return "".join(word.strip('"') for word in words) if all(w[0] == '"' for w in words) else cell


# ---- the packed AST --------------------------------------------------------------------------------


def ast_table() -> Iterator[str]:
    """Numbers of nodes, operators, parameters and objects, as python/tessera/_pack.py uses them."""
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield '"""Numbers of the packed AST, by tools/gen_language.py from src/lang/ast.def and pack.h. Do not edit."""\n'
    for name, number in re.findall(r"^#define TS_PACK_(MAGIC|VERSION) (\w+?)u?$", PACK.read_text(), re.MULTILINE):
        yield f"{name} = {number}"
    yield "\n# kind: (number, ((attribute, field letter), ...))"
    yield "NODES = {"
    for number, (kind, letters, names) in enumerate(rows_of(AST, "TS_AST"), 1):
        fields = ", ".join(f'("{n}", "{c}")' for n, c in zip(names.split(), letters, strict=True))
        yield f'    "{kind}": ({number}, ({fields}{"," if len(letters) == 1 else ""})),'
    yield "}\nOPERATORS = {"
    yield from (f'    "{name}": {i},' for i, (name,) in enumerate(rows_of(AST, "TS_AST_OPERATOR"), 1))
    yield "}\n# Kinds of parameters."
    yield from (f"{name} = {i}" for i, (name,) in enumerate(rows_of(AST, "TS_AST_PARAMETER")))
    yield "# Kinds of objects."
    yield from (f"{name} = {i}" for i, (name,) in enumerate(rows_of(AST, "TS_AST_OBJECT"), 1))
    yield ""


# ---- math functions --------------------------------------------------------------------------------


class MathRow(NamedTuple):
    name: str
    kind: str
    f32: str
    f64: str
    doc: str


def math_rows(macro: str = "TS_MATH") -> list[MathRow]:
    """The functions of math.def in its order: TS_MATH or, where they are operations of their own, TS_MATH_OP."""
    word = r"\s*([\w.]+)\s*,"
    found = re.findall(
        rf'^{macro}\({word}{word}\s*\w+\s*,{word}{word}[^"]*((?:"[^"]*"\s*)+)\)$',
        MATH.read_text(),
        re.MULTILINE,
    )
    return [MathRow(*row[:4], "".join(re.findall('"([^"]*)"', row[4]))) for row in found]


def math_pairs() -> list[tuple[str, str, str, str]]:
    """Name, the two functions it is made of and documentation of each function with two results."""
    return [(name, first, second, doc) for name, _, first, _, second, doc in rows_of(MATH, "TS_MATH_PAIR")]


def math_stubs() -> Iterator[str]:
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield '"""Math functions, by tools/gen_language.py from src/table/math.def. Do not edit."""\n'
    yield "from __future__ import annotations\n\nfrom typing import Any\n\nfrom ._op import op\n"
    docs = {row.name: row.doc for macro in ("TS_MATH", "TS_MATH_OP") for row in math_rows(macro)}
    docs |= {name: doc for name, _, _, doc in math_pairs()}
    for tile_op in sorted(tile_ops()):
        if tile_op.name not in docs or tile_op.method:
            continue
        words = []
        for name, kind, optional in tile_op.parameters():
            if kind == Parameter.KEYWORD_ONLY and "*" not in words:
                words.append("*")
            words.append(f"{name}: {DEFAULTS.get(name, 'Any = None') if optional else 'Any'}")
            if kind == Parameter.POSITIONAL_ONLY:
                words = [word for word in words if word != "/"] + ["/"]
        lines = wrapped(docs[tile_op.name])
        text = lines[0] if len(lines) == 1 else "\n    ".join([*lines, ""])
        yield f'\n@op\ndef {tile_op.name}({", ".join(words)}) -> Any:\n    """{text}"""\n'


def wrapped(text: str) -> list[str]:
    """Lines of at most 90 characters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= 90:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


class Measured(NamedTuple):
    ulp: float
    at: str
    values: int
    instructions: str


# A line of build/test_math_ulp.
MEASURED_LINE = r"^(\w+) +(\w+) +bound +[\d.]+ +measured +([\d.]+) at (.*?) +\((\d+) values, (\d+) instructions\)"


def measured_again(old: str, new: str) -> str:
    """The lines of measured.txt after another measurement: all lines of a function and type that `new` has are replaced
    by its own, so that a function that got better loses its old error."""
    lines = [(m.group(1, 2), m.group()) for m in re.finditer(MEASURED_LINE, new, re.MULTILINE)]
    if not lines:
        sys.exit("tools/gen_language.py --measured reads what build/test_math_ulp prints; this has no line of it")
    again = {name for name, _ in lines}
    kept = [m.group() for m in re.finditer(MEASURED_LINE, old, re.MULTILINE) if m.group(1, 2) not in again]
    return "\n".join([*kept, *(line for _, line in lines), ""])


def measured() -> dict[tuple[str, str], Measured]:
    """The greatest error by function and type: of a sample and an exhaustive run the worse, and the number of values of
    the larger."""
    found: dict[tuple[str, str], Measured] = {}
    for name, type_, ulp, at, values, price in re.findall(MEASURED_LINE, MEASURED.read_text(), re.MULTILINE):
        old, new = found.get((name, type_)), Measured(float(ulp), at, int(values), price)
        worst = max(old, new, key=lambda one: one.ulp) if old else new
        found[name, type_] = worst._replace(values=max(old.values, new.values) if old else new.values)
    return found


def math_table() -> Iterator[str]:
    """A line for each function; ends where one was not measured or is above its bound."""
    known = measured()

    def cells(name: str, type_: str, bound: str) -> str:
        found = known.get((name, type_))
        if not found or found.ulp > float(bound):
            what = f"{found.ulp} ulp, above its bound {bound}" if found else "missing"
            sys.exit(f"{MEASURED.relative_to(ROOT)}: {name} of {type_} is {what}: run build/test_math_ulp {name} | "
                "python tools/gen_language.py --measured")
        values = "all" if found.values == 1 << 32 else f"{found.values / 1e6:.1f}M"
        return f"{bound} | {found.ulp:.3f} | {found.at} | {values}" if float(bound) else f"exact | 0 | | {values}"

    columns = "bound | measured | at | values"
    yield f"| function | f32 {columns} | f64 {columns} | instructions | meaning |"
    yield "|---" * 11 + "|"
    for row in sorted(math_rows() + math_rows("TS_MATH_OP")):
        arguments = "y, x" if row.name == "atan2" else ", ".join(ARGUMENTS[row.kind].split())
        price = " ".join(known[row.name, type_].instructions for type_ in ("f32", "f64") if (row.name, type_) in known)
        yield (
            f"| `{row.name}({arguments})` | {cells(row.name, 'f32', row.f32)} | {cells(row.name, 'f64', row.f64)} "
            f"| {price} | {row.doc.replace('``', '`')} |"
        )
    for name, first, second, doc in math_pairs():
        exact = all(known[part, type_].ulp == 0 for part in (first, second) for type_ in ("f32", "f64"))
        bound = "exact" if exact else f"as `{first}`, `{second}`"
        yield f"| `{name}(x)` | {bound} | | | | {bound} | | | | | {doc.replace('``', '`')} |"


# ---- operations of the tile language -----------------------------------------------------------------


class TileOp(NamedTuple):
    name: str
    signature: str  # as in src/lang/call.c
    lowering: str  # the C function fr_op_<lowering>
    method: bool  # only a method: of the type that its name begins with

    def parameters(self) -> list[tuple[str, object, bool]]:
        """Name, kind as in ``inspect``, and whether it may be left out, of each parameter."""
        words = self.signature.split()
        found, kind = [], Parameter.POSITIONAL_ONLY if "/" in words else Parameter.POSITIONAL_OR_KEYWORD
        for word in words:
            if word == "/":
                kind = Parameter.POSITIONAL_OR_KEYWORD
            elif word == "*":
                kind = Parameter.KEYWORD_ONLY
            elif word.endswith("..."):
                found.append((word[:-3], Parameter.VAR_POSITIONAL, False))
            else:
                found.append((word.rstrip("?"), kind, word.endswith("?")))
        return found


def tile_ops() -> list[TileOp]:
    """The operations of the tile language in the order of tile_op.def; math functions are at the end."""
    found = [TileOp(name, signature, lowering, False)
             for name, signature, lowering, *_ in rows_of(TILE_OPS, "TS_TILE_OP")]  # fmt: skip
    found += [TileOp(f"{type_}_{name}", signature, lowering, True)
              for type_, name, signature, lowering, *_ in rows_of(TILE_OPS, "TS_TILE_OP_OF")]  # fmt: skip
    found += [TileOp(row.name, f"{ARGUMENTS[row.kind]} /", "math", False) for row in math_rows()]
    return found + [TileOp(name, "x /", "math_pair", False) for name, *_ in math_pairs()]


def stubs_of(path: pathlib.Path) -> set[str]:
    """Names that a module of stubs gives operations: its functions, and names set to like(...)."""
    found = set()
    text = "\n".join(math_stubs()) if path == STUBS else path.read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _natural(name: str) -> tuple[object, ...]:
    """exp2 before exp10."""
    return tuple(int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name))


def tile_imports() -> Iterator[str]:
    left = {op.name for op in tile_ops() if not op.method} - CLASSES
    for path in sorted(TILE.glob("_ops_*.py")):
        here = sorted(stubs_of(path) & left, key=_natural)
        unknown = stubs_of(path) - left
        if unknown:
            sys.exit(f"{path.relative_to(ROOT)}: {min(unknown)} has a second stub, or no row in tile_op.def")
        left -= set(here)
        yield f"from .{path.stem} import ("
        yield from (f"    {name}," for name in here)
        yield ")"
    yield ""
    if left:
        sys.exit(f"no file {TILE.relative_to(ROOT)}/_ops_*.py has a stub of {', '.join(sorted(left))}")


def tile_names() -> Iterator[str]:
    names = {op.name for op in tile_ops() if not op.method} - CLASSES
    yield from (f'    "{name}",' for name in sorted(names, key=_natural))


# ---- cuda.libdevice ------------------------------------------------------------------------------------

LIBDEVICE_DTYPES = {"i": "int32", "l": "int64", "f": "float32", "d": "float64", "h": "int16"}


def libdevice_doc(name: str, of: str, doc: str) -> str:
    """The sentences of a row without any: those of the function of math.def, or of the pair of its name."""
    docs = {row.name: row.doc for macro in ("TS_MATH", "TS_MATH_OP") for row in math_rows(macro)}
    docs |= {name: doc for name, _, _, doc in math_pairs()}
    return doc or docs.get(of.removeprefix("TS_OP_").removeprefix("TS_MATH_")) or docs.get(name) or docs[name[:-1]]


def libdevice_stubs() -> Iterator[str]:
    yield '# SPDX-License-Identifier: Apache-2.0\n# mypy: disable-error-code="empty-body"'
    yield '"""CUDA\'s libdevice functions in kernels, with its names and types; arguments are converted to them.'
    yield "\nA CPU and a GPU give the same bits, but for ``fast_*``: a GPU has approximate instructions for those, a"
    yield "CPU computes them accurately. Errors in ulps: docs/reference/math.md. By tools/gen_language.py from"
    yield 'src/lang/simt/libdevice.def; do not edit.\n"""\n'
    yield "from __future__ import annotations\n\nfrom ._stub import _op\n"
    rows = rows_of(LIBDEVICE, "TS_LIBDEVICE")
    kinds = {letter: dtype.rstrip("0123456789") for letter, dtype in LIBDEVICE_DTYPES.items()}
    yield from ("__all__ = [", *(f'    "{row[0]}",' for row in sorted(rows)), "]\n")
    for name, arguments, types, _, of, _, doc in sorted(rows):
        results, letters = types.split(":")
        parameters = ", ".join(f"{a}: {kinds[t]}" for a, t in zip(arguments.split(), letters, strict=True))
        result = ", ".join(kinds[t] for t in results)
        result = f"tuple[{result}]" if len(results) > 1 else result
        dtypes = [", ".join(LIBDEVICE_DTYPES[t] for t in part) for part in (letters, results)]
        lines = wrapped(f"{libdevice_doc(name, of, doc)} Of {dtypes[0]}, gives {dtypes[1]}.")
        text = lines[0] if len(lines) == 1 else "\n    ".join([*lines, ""])
        yield f'\n@_op("libdevice_{name}")\ndef {name}({parameters}, /) -> {result}:'
        yield f'    """{text}"""\n'


# ---- files and parts of files --------------------------------------------------------------------------

FILES = {AST_TABLE: ast_table, STUBS: math_stubs, LIBDEVICE_STUBS: libdevice_stubs}
# What stands between a line that begins with one text and the next that begins with the other.
BLOCKS = [
    (PAGE, "<!-- made by tools/gen_language.py from src/table/math.def -->", "<!-- end -->", math_table),
    (TILE / "__init__.py", "# Operations, by tools/gen_language.py: imports", "# end", tile_imports),
    (TILE / "__init__.py", "    # Operations, by tools/gen_language.py: names", "    # end", tile_names),
]


def texts() -> dict[pathlib.Path, str]:
    """The wanted text of every file that is made here, or in part."""
    found = {path: "\n".join(lines()) for path, lines in FILES.items()}
    for path, begin, end, lines in BLOCKS:
        head, rest = found.get(path, path.read_text()).split(f"{begin}\n", 1)
        space = "\n" if path == PAGE else ""
        made = "\n".join(lines())
        found[path] = f"{head}{begin}\n{space}{made}\n{space}{end}{rest.split(end, 1)[1]}"
    return found


def main() -> int:
    if "--measured" in sys.argv:
        MEASURED.write_text(measured_again(MEASURED.read_text(), sys.stdin.read()))
    return generated.settle(texts())


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""The typing rules of numba.cuda in plain Python: a choice between overloads by the cost of conversions, as numba makes
it. Shares nothing with src/lang/simt; makes tests/golden/simt/typing.txt (``python tests/python/simt/numba_rules.py``)
and is what random programs are computed with."""

from __future__ import annotations

import itertools
import pathlib

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
PARTS = {"complex64": "float32", "complex128": "float64"}
DTYPES = ["bool", *INTS, *FLOATS]
ALL = [*DTYPES, *COMPLEX]
GOLDEN = pathlib.Path(__file__).parents[2] / "golden/simt/typing.txt"

# Direct conversions and their kind; all others are unsafe.
PROMOTE, SAFE, UNSAFE = 1, 2, 3
_DIRECT = {
    ("bool", "int8"): SAFE, ("bool", "uint8"): SAFE,
    **{(a, b): PROMOTE for row in (INTS[:4], INTS[4:], FLOATS, COMPLEX) for a, b in itertools.pairwise(row)},
    ("uint8", "int16"): SAFE, ("uint16", "int32"): SAFE, ("uint32", "int64"): SAFE,
    ("int8", "float16"): SAFE, ("int16", "float32"): SAFE, ("int32", "float64"): SAFE,
    ("int64", "float64"): SAFE, ("uint64", "float64"): SAFE,
    ("float32", "complex64"): SAFE, ("float64", "complex128"): SAFE,
}  # fmt: skip


def _conversions() -> dict[tuple[str, str], int]:
    """The cheapest way from each dtype to each other one: its most costly step counts."""
    found = dict(_DIRECT)
    for _ in ALL:
        for (a, b), (c, d) in itertools.product(list(found), list(_DIRECT)):
            if b == c:
                found[a, d] = min(found.get((a, d), UNSAFE), max(found[a, b], _DIRECT[c, d]))
    return found


CONVERSIONS = _conversions()


def conversion(a: str, b: str) -> int:
    return 0 if a == b else CONVERSIONS.get((a, b), UNSAFE)


def wide(a: str, b: str) -> str:
    """int64 where a side is signed."""
    return "uint64" if a.startswith("u") and b.startswith("u") else "int64"


_WORDS = ["int64", "uint64"]
_INTEGER = [((a, b), wide(a, b)) for a, b in itertools.product(_WORDS, _WORDS)]
_REAL = [((t, t), t) for t in ("float32", "float64")]
_HALF = [(("float16", "float16"), "float16")]
_COMPLEX = [((t, t), t) for t in COMPLEX]
_POWER = [((t, n), t) for t in ("float32", "float64") for n in ("int32", "int64", "uint64")]
_BITS = [(("bool", "bool"), "bool"), *_INTEGER]
_SHIFT = [((t, n), "uint64" if t.startswith("u") else "int64") for t in INTS for n in ("int64", "uint64")]

OVERLOADS = {
    **{op: [*_INTEGER, *_HALF, *_REAL, *_COMPLEX] for op in "+-*"},
    "/": [*(((a, b), "float64") for (a, b), _ in _INTEGER), *_HALF, *_REAL, *_COMPLEX],
    "//": [*_INTEGER, *_REAL], "%": [*_INTEGER, *_REAL],
    "**": [*_INTEGER, *_POWER, *_REAL, *_COMPLEX],
    "&": _BITS, "|": _BITS, "^": _BITS,
}  # fmt: skip


def result(op: str, a: str, b: str) -> str | None:
    """The dtype of ``a op b``; None where numba refuses."""
    if op in ("<<", ">>"):
        if a not in ("bool", *INTS) or b not in ("bool", *INTS):
            return None
        return "uint64" if a.startswith("u") else "int64"
    best: tuple[int, int, int] | None = None
    found = None
    for (x, y), out in OVERLOADS[op]:
        kinds = conversion(a, x), conversion(b, y)
        cost = kinds.count(UNSAFE), kinds.count(SAFE), kinds.count(PROMOTE)
        if cost[0] == 0 and (best is None or cost < best):
            best, found = cost, out
    return found


def table() -> str:
    """Rows of pairs, a column for each operator; "-" where there is none."""
    ops = [*OVERLOADS, "<<", ">>"]
    lines = ["# left     right      " + " ".join(f"{op:10}" for op in ops).rstrip()]
    for a, b in itertools.product(ALL, ALL):
        cells = " ".join(f"{result(op, a, b) or '-':10}" for op in ops)
        lines.append(f"{a:10} {b:10} {cells}".rstrip())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(table())

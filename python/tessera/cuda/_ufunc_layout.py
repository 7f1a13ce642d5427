# SPDX-License-Identifier: Apache-2.0
"""Core dimensions of generalized ufuncs, and the source of the kernel for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Layout", "parsed_layout", "places_of", "source_of"]


class Layout(NamedTuple):
    """The core dimensions of the operands: inputs, then outputs."""

    inputs: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, ...], ...]

    @property
    def operands(self) -> tuple[tuple[str, ...], ...]:
        return self.inputs + self.outputs


def parsed_layout(text: str) -> Layout:
    """``(m,n),(n,p)->(m,p)``; ValueError where it is written otherwise."""
    one = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*)?\)"
    sides = re.fullmatch(rf"\s*({one}(?:\s*,\s*{one})*)\s*->\s*({one}(?:\s*,\s*{one})*)\s*", text)
    if not sides:
        raise ValueError(f"the layout {text!r} is not written as '(m,n),(n,p)->(m,p)'")
    found = [
        tuple(tuple(re.findall(r"\w+", part)) for part in re.findall(one, side)) for side in (sides[1], sides[2])
    ]
    layout = Layout(*found)
    known = {name for dims in layout.inputs for name in dims}
    new = [name for dims in layout.outputs for name in dims if name not in known and not name.isdigit()]
    if new:
        raise ValueError(f"the dimension {new[0]!r} of an output is not one of an input; the layout is {text!r}")
    return layout


def places_of(n_loop: int, name: str) -> list[str]:
    """Lines of a kernel by which thread i of n gets the indices k0, k1 .. of the array of that name."""
    lines, left = ["    i = grid(1)", "    if i < n:"], "i"
    for d in range(n_loop - 1, 0, -1):
        lines.append(f"        k{d} = {left} % {name}.shape[{d}]")
        lines.append(f"        r{d} = {left} // {name}.shape[{d}]")
        left = f"r{d}"
    return [*lines, f"        k0 = {left}"]


def source_of(layout: Layout, n_loop: int, elementwise: bool, scalars: Sequence[bool]) -> str:
    """A kernel for loops of so many dimensions; ``scalars``: which operands are numbers by their type."""
    names = [f"a{i}" for i in range(len(layout.operands))]
    places = [f"k{d}" for d in range(n_loop)]
    lines = [f"def kernel(n, {', '.join(names)}):", *places_of(n_loop, names[-1])]
    place = ", ".join(places)
    if elementwise:
        given = ", ".join(f"type{i}({name}[{place}])" for i, name in enumerate(names[:-1]))
        lines.append(f"        {names[-1]}[{place}] = core({given})")
    else:
        piece = ", ".join([*places[:-1], f"{places[-1]} : {places[-1]} + 1"])  # an array of one element
        whole = [bool(dims) or scalar for dims, scalar in zip(layout.operands, scalars)]
        given = ", ".join(f"{name}[{place if w else piece}]" for name, w in zip(names, whole))
        lines.append(f"        core({given})")
    return "\n".join(lines) + "\n"

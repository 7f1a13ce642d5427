# SPDX-License-Identifier: Apache-2.0
"""The source of a stencil: the user's function with its relative indices made absolute, and the kernel that calls it.

    def blur(a):                            def blur(k0_, k1_, a):
        return a[0, -1] + a[0, 1]   -->         return a[(k0_ + (0)), (k1_ + (-1))] + a[(k0_ + (0)), (k1_ + (1))]

Text is only inserted, so that messages about the function name its lines.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

from .._source import source_of
from ._errors import NumbaValueError

__all__ = ["Body", "Neighborhood", "body_of", "kernel_text"]

Neighborhood = tuple[tuple[int, int], ...]
"""For each axis the least and the greatest relative index."""


class Body(NamedTuple):
    """A stencil's function."""

    name: str
    params: tuple[str, ...]
    text: str
    line: int  # of its `def` in the file
    tree: Any


def body_of(function: Any) -> Body:
    """The function as text that begins at the margin, a lambda as a function with a name.

    Raises
    ------
    TileSyntaxError
        There is no source.
    NumbaValueError
        It takes ``*args``, named or default arguments.
    """
    node, _, source = source_of(function)
    text = textwrap.dedent(source)
    name = function.__name__
    if isinstance(node, ast.Lambda):
        name = "stencil"
        text = f"def {name}({ast.unparse(node.args)}): return {ast.unparse(node.body)}\n"
    tree: Any = ast.parse(text).body[0]
    given = tree.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
        raise NumbaValueError(f"stencil '{name}' takes *args, **kwargs, named or default arguments; leave them out")
    params = tuple(arg.arg for arg in (*given.posonlyargs, *given.args))
    if not params:
        raise NumbaValueError(f"stencil '{name}' takes no argument; its first one is the array that it goes over")
    return Body(name, params, text, function.__code__.co_firstlineno, tree)


# ---- relative indices ----------------------------------------------------------------------------------------------


class Indices:
    """The relative indices of a stencil over ``ndim`` axes, of the arrays named ``relative``; ``space`` has what names
    mean."""

    def __init__(self, body: Body, relative: frozenset[str], ndim: int, space: dict[str, Any]) -> None:
        self.body, self.relative, self.ndim, self.space = body, relative, ndim, space
        self.locals: dict[str, int | None] = {}
        self._find_locals()
        self.all: list[list[Any]] = []
        for node in ast.walk(body.tree):
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in relative:
                self.all.append(self._axes(node))

    def _find_locals(self) -> None:
        """Names that the function binds: the value of those that one plain assignment binds on every path, None for
        the others."""
        bound = [n.id for n in ast.walk(self.body.tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
        self.locals = dict.fromkeys((*self.body.params, *bound))
        for statement in self.body.tree.body:  # not what stands in a branch or a loop, which may not run
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(target, ast.Name) and (*self.body.params, *bound).count(target.id) == 1:
                self.locals[target.id] = self._constant(statement.value)

    def _axes(self, node: Any) -> list[Any]:
        name = self.body.name
        if not isinstance(node.ctx, ast.Load):
            raise NumbaValueError(
                f"stencil '{name}' assigns to {node.value.id}[..] in line {self._line(node)}: Assignments to arrays "
                "passed to stencil kernels is not allowed. Return the value instead"
            )
        axes = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(axes) != self.ndim:
            raise NumbaValueError(
                f"{len(axes)} dimensional neighborhood specified for {self.ndim} dimensional input array: stencil "
                f"'{name}' writes {ast.unparse(node)} in line {self._line(node)}"
            )
        for axis in axes:
            if isinstance(axis, ast.Slice) and (axis.lower is None or axis.upper is None or axis.step):
                raise NumbaValueError(
                    f"stencil '{name}' writes {ast.unparse(node)} in line {self._line(node)}; a slice has a begin and "
                    "an end, and no step"
                )
        return axes

    def _line(self, node: Any) -> int:
        return int(node.lineno + self.body.line - 1)

    def reach(self, given: Neighborhood | None) -> Neighborhood:
        """How far indices go, along each axis: ``given``, which holds all that are constants, or what they are."""
        least, most = [0] * self.ndim, [0] * self.ndim
        for axes in self.all:
            for axis, node in enumerate(axes):
                for value in self._ends(node, given):
                    if given and not given[axis][0] <= value <= given[axis][1]:
                        raise NumbaValueError(
                            f"stencil '{self.body.name}' reads at {value} along axis {axis} (line {self._line(node)}), "
                            f"outside of its neighborhood {given[axis]}"
                        )
                    least[axis], most[axis] = min(least[axis], value), max(most[axis], value)
        return given or tuple(zip(least, most))

    def _ends(self, node: Any, given: Neighborhood | None) -> Iterator[int]:
        slices = isinstance(node, ast.Slice)
        for i, end in enumerate((node.lower, node.upper) if slices else (node,)):
            value = self._constant(end)
            if value is not None:
                yield value - i
            elif not given:
                raise NumbaValueError(
                    f"stencil kernel index is not constant, 'neighborhood' option required: '{self.body.name}' has "
                    f"{ast.unparse(end)} in line {self._line(end)}"
                )

    def _constant(self, node: Any) -> int | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else None
        if isinstance(node, ast.Name):
            known: Any = self.locals[node.id] if node.id in self.locals else self.space.get(node.id)
            return int(known) if hasattr(known, "__index__") else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self._constant(node.operand)
            return -value if value is not None and isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and type(node.op) in _SUMS:
            left, right = self._constant(node.left), self._constant(node.right)
            return None if left is None or right is None else _SUMS[type(node.op)](left, right)
        return None

    def text(self) -> str:
        """The function's text with absolute indices, after parameters k0_, k1_, .. for the place."""
        places = ", ".join(f"k{axis}_" for axis in range(self.ndim))
        first = (*self.body.tree.args.posonlyargs, *self.body.tree.args.args)[0]
        inserts = [(first.lineno, first.col_offset, 0, f"{places}, ")]
        for axes in self.all:
            for axis, node in enumerate(axes):
                ends: Any = (node.lower, node.upper) if isinstance(node, ast.Slice) else (node,)
                for end in ends:
                    inserts.append((end.lineno, end.col_offset, 1, f"(k{axis}_ + ("))
                    inserts.append((end.end_lineno, end.end_col_offset, 0, "))"))
        lines = [line.encode() for line in self.body.text.splitlines(keepends=True)]
        for line, column, _, text in sorted(inserts, reverse=True):
            lines[line - 1] = lines[line - 1][:column] + text.encode() + lines[line - 1][column:]
        first_line = self.body.tree.lineno - 1  # decorators go, their lines stay
        return "".join(["\n"] * first_line + [line.decode() for line in lines[first_line:]])


_SUMS: dict[Any, Any] = {
    ast.Add: lambda x, y: x + y, ast.Sub: lambda x, y: x - y, ast.Mult: lambda x, y: x * y,
    ast.FloorDiv: lambda x, y: x // y if y else None,
}  # fmt: skip


# ---- the kernel ----------------------------------------------------------------------------------------------------


def kernel_text(indices: Indices, reach: Neighborhood, fills: bool) -> str:
    """The text with the function and ``kernel_``, which computes the places that have all their neighbours and, where
    it ``fills``, gives the others ``cval_``; the function's lines are those of its file. One thread works on one place
    of the last three axes, the last one first, and goes over those before."""
    body, ndim = indices.body, indices.ndim
    places = ", ".join(f"k{axis}_" for axis in range(ndim))
    values = ", ".join(f"v{i}_" for i in range(len(body.params)))
    threads = [f"k{axis}_" for axis in reversed(range(max(ndim - 3, 0), ndim))]
    lines = [
        f"def kernel_(out_, cval_, {values}):",
        f"    {', '.join(threads)} = grid_({len(threads)})",
        f"    if {' and '.join(f'{k} < v0_.shape[{k[1:-1]}]' for k in threads)}:",
    ]
    margin = " " * 8
    for axis in range(max(ndim - 3, 0)):
        lines.append(f"{margin}for k{axis}_ in range(v0_.shape[{axis}]):")
        margin += " " * 4
    inside = [f"{-lo} <= k{axis}_ < v0_.shape[{axis}] - {hi}" for axis, (lo, hi) in enumerate(_outward(reach))]
    lines += [f"{margin}if {' and '.join(inside)}:", f"{margin}    out_[{places}] = {body.name}({places}, {values})"]
    if fills:
        lines += [f"{margin}else:", f"{margin}    out_[{places}] = cval_"]
    return "\n" * (body.line - 1) + indices.text() + "\n\n" + "\n".join(lines) + "\n"


def _outward(reach: Neighborhood) -> list[tuple[int, int]]:
    return [(min(lo, 0), max(hi, 0)) for lo, hi in reach]

# SPDX-License-Identifier: Apache-2.0
"""Which reads of local names may come before any assignment, for kernels of threads that report what goes wrong.

A name that some path leaves without a value gets a second name, which is False until the first is assigned:

    def f(x):                         v? = False
        if x[0] > 0:                  if x[0] > 0:
            v = 7                         v = 7
                                          v? = True
        x[0] = v                      x[0] = bound(v?, v, "v")

The walk of tessera._pack asks here what stands before and behind a statement, and which names are such reads. What it
says may be too much (a loop counts as one that never runs), never too little; the compiler removes what it can prove.
Names that patterns, ``:=`` and nested functions bind are left alone, and so are reads inside of nested functions.
"""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["Unbound"]

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp,
           ast.DictComp)  # fmt: skip
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def flag_of(name: str) -> str:
    """The second name; none that a program can write."""
    return f"{name}?"


def _inside(node: Any) -> Any:
    """All nodes below one, nested functions left out."""
    stack = [node]
    while stack:
        item = stack.pop()
        yield item
        stack += [child for child in ast.iter_child_nodes(item) if not isinstance(child, _NESTED)]


class Unbound:
    """Of one function.

    Attributes
    ----------
    reads : set of int
        The ids of ``Name`` nodes that may have no value.
    names : set of str
        What they name.
    """

    def __init__(self, function: Any) -> None:
        self.reads: set[int] = set()
        self.names: set[str] = set()
        self._first: dict[int, set[str]] = {}  # statement that begins the body of a `for` or `with` -> its targets
        self._changed: dict[int, str] = {}  # `v += 1` where v may have no value
        a = function.args
        arguments = {arg.arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if arg}
        self._watched = self._stored(function.body) - self._otherwise(function.body) - arguments
        self._body(function.body, set())

    @staticmethod
    def _stored(body: list[Any]) -> set[str]:
        nodes = (node for item in body if not isinstance(item, _NESTED) for node in _inside(item))
        return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}

    @staticmethod
    def _otherwise(body: list[Any]) -> set[str]:
        """Names that are bound where no statement ends."""
        found: set[str] = set()
        for item in body:
            for node in ast.walk(item):
                if isinstance(node, ast.NamedExpr):
                    found.add(node.target.id)
                elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
                    found.add(node.name)
                elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    found.add(node.name)
                elif isinstance(node, (ast.Global, ast.Nonlocal)):
                    found.update(node.names)
        return found

    # Each gives the names that have a value behind it; None: nothing comes behind it.

    def _body(self, body: list[Any], known: set[str] | None) -> set[str] | None:
        for item in body:
            known = self._statement(item, set() if known is None else known)
        return known

    def _statement(self, node: Any, known: set[str]) -> set[str] | None:
        if isinstance(node, _NESTED):
            return known
        if isinstance(node, ast.If):
            self._read(node.test, known)
            return self._both([self._body(node.body, set(known)), self._body(node.orelse, set(known))])
        if isinstance(node, (ast.For, ast.While)):
            return self._loop(node, known)
        if isinstance(node, ast.Match):
            self._read(node.subject, known)
            return self._match(node, known)
        if isinstance(node, ast.With):
            targets: set[str] = set()
            for item in node.items:
                self._read(item.context_expr, known | targets)
                targets |= self._targets(item.optional_vars)
            self._first[id(node.body[0])] = targets
            return self._body(node.body, known | targets)
        self._read(node, known)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._change(node, known)
        if isinstance(node, _ENDS):
            return None
        return known | self._stored([node])

    @staticmethod
    def _both(sides: list[set[str] | None]) -> set[str] | None:
        here = [side for side in sides if side is not None]
        return set.intersection(*here) if here else None

    def _loop(self, node: Any, known: set[str]) -> set[str]:
        inside = set(known)
        if isinstance(node, ast.For):
            self._read(node.iter, known)
            targets = self._targets(node.target)
            inside |= targets
            self._first[id(node.body[0])] = targets
        else:
            self._read(node.test, known)
        self._body(node.body, inside)
        self._body(node.orelse, set(known))
        return known

    def _match(self, node: Any, known: set[str]) -> set[str] | None:
        sides: list[set[str] | None] = []
        every = False
        for case in node.cases:
            if case.guard is not None:
                self._read(case.guard, known)
            sides.append(self._body(case.body, set(known)))
            last = case.pattern
            every |= case.guard is None and isinstance(last, ast.MatchAs) and last.pattern is None
        return self._both(sides if every else [*sides, known])

    def _targets(self, node: Any) -> set[str]:
        if node is None:
            return set()
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}

    def _read(self, node: Any, known: set[str]) -> None:
        for item in _inside(node):
            if not isinstance(item, ast.Name) or item.id in known or item.id not in self._watched:
                continue
            if isinstance(item.ctx, ast.Load):
                self.reads.add(id(item))
                self.names.add(item.id)

    def _change(self, node: Any, known: set[str]) -> None:
        name = node.target.id
        if name in self._watched and name not in known:
            self._changed[id(node)] = name
            self.names.add(name)

    # ---- for the walk

    def first(self, node: Any) -> list[str]:
        """Names that the loop, or the ``with``, has assigned whose body begins with ``node``."""
        return sorted(self._first.get(id(node), set()) & self.names)

    def changed(self, node: Any) -> str | None:
        """The name that ``node`` changes, if it may have no value."""
        return self._changed.get(id(node))

    def behind(self, node: Any) -> list[str]:
        """Names that a statement has assigned."""
        plain = isinstance(node, (ast.Assign, ast.AugAssign)) or (isinstance(node, ast.AnnAssign) and node.value)
        return sorted(self._stored([node]) & self.names) if plain else []

    @staticmethod
    def flag(name: str, value: bool, at: Any) -> Any:
        """``name? = value`` in the place of a node."""
        return _placed(ast.Assign([ast.Name(flag_of(name), ast.Store())], ast.Constant(value)), at)

    @staticmethod
    def read(name: str, bound: Any, at: Any) -> Any:
        """``bound(name?, name, "name")``."""
        flag, value = ast.Name(flag_of(name), ast.Load()), ast.Name(name, ast.Load())
        return _placed(ast.Call(ast.Constant(bound), [flag, value, ast.Constant(name)], []), at)


def _placed(made: Any, at: Any) -> Any:
    return ast.fix_missing_locations(ast.copy_location(made, at))

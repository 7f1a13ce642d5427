# SPDX-License-Identifier: Apache-2.0
"""Questions about the syntax tree of a kernel, which its packing asks: what the front end evaluates as Python does,
which names a function binds, what expressions of numbers are."""

from __future__ import annotations

import _ast
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from . import _records as records
from ._foreign import dtype_name
from ._source import compiled

if TYPE_CHECKING:
    from ._walker import Walker

__all__ = ["Plain", "bound_names", "folded"]

# Builtins that give the front end's values what they give Python's.
_PLAIN_CALLS = frozenset((len, range, tuple, zip, reversed, enumerate, sum, min, max, abs, int, bool, float))
_DIVIDES = (_ast.Div, _ast.FloorDiv, _ast.Mod, _ast.Pow, _ast.LShift, _ast.RShift)


class Plain:
    """Whether the front end evaluates an expression as Python does, so that no host is asked: names, constants, tuples
    and arithmetic of them, attributes, subscripts, and a few builtins. Where Python would raise, it is asked."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker

    def is_plain(self, node: Any, kind: str) -> bool:
        if kind.endswith("message") or kind.startswith("static_iter"):  # text; a number is no iterable
            return isinstance(node, _ast.Constant) == kind.endswith("message") and self.all(node)
        return self.all(node)

    def all(self, node: Any) -> bool:
        test = getattr(self, "of_" + type(node).__name__, None)
        if test is None or not test(node):
            return False
        children = (getattr(node, name, None) for name in node._fields)
        flat = (child for c in children for child in (c if isinstance(c, list) else (c,)))
        return all(self.all(child) for child in flat if isinstance(child, _ast.expr) and child is not self.callee(node))

    @staticmethod
    def callee(node: Any) -> Any:
        return node.func if isinstance(node, _ast.Call) else None

    def of_Name(self, node: Any) -> bool:
        known, value = self.walker.lookup(node.id)
        return not known or self.is_value(value)

    def is_value(self, value: Any) -> bool:
        if isinstance(value, tuple):
            return type(value) is tuple and all(self.is_value(item) for item in value)
        plain = value is None or type(value) in (bool, int, float, str)
        known = isinstance(value, (ModuleType, FunctionType)) or hasattr(type(value), "__members__")
        return plain or known or self.is_class(value) or dtype_name(value) is not None

    def is_class(self, value: Any) -> bool:
        return isinstance(value, type) and (records.is_record(value) or hasattr(value, "__members__"))

    def of_Call(self, node: Any) -> bool:
        known, value = self.walker.host(node.func)
        starred = any(isinstance(arg, _ast.Starred) for arg in node.args)
        if not known or node.keywords or starred:
            return False
        return (type(value) in _HASHED and value in _PLAIN_CALLS) or dtype_name(value) is not None

    def of_Attribute(self, node: Any) -> bool:
        known, value = self.walker.host(node)
        return not known or self.is_value(value)

    def of_BinOp(self, node: Any) -> bool:
        right = node.right.value if isinstance(node.right, _ast.Constant) else 0
        return not isinstance(node.op, _DIVIDES) or (type(right) is int and right > 0)

    def of_Constant(self, node: Any) -> bool:
        return True

    of_Tuple = of_Subscript = of_Slice = of_UnaryOp = of_BoolOp = of_Compare = of_IfExp = of_Constant


_HASHED = (type, BuiltinFunctionType)


def bound_names(node: Any) -> set[str]:
    """Names that a function binds: parameters, assigned names, nested functions."""
    a = node.args
    names = {
        arg.arg
        for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
        if arg is not None
    }
    stack = list(node.body) if isinstance(node.body, list) else []
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is _ast.Name:
            if isinstance(item.ctx, _ast.Store):
                names.add(item.id)
            continue
        if kind is _ast.FunctionDef or kind is _ast.ClassDef:
            names.add(item.name)
            continue
        if kind is _ast.MatchAs or kind is _ast.MatchStar:
            names.update([item.name] if item.name else [])
        if kind is _ast.Lambda or kind is _ast.GeneratorExp or kind is _ast.Constant:
            continue
        for field in item._fields:
            value = getattr(item, field, None)
            if isinstance(value, list):
                stack += [child for child in value if isinstance(child, _ast.AST)]
            elif isinstance(value, _ast.AST):
                stack.append(value)
    return names


def _is_constant(node: Any) -> bool:
    """An expression of numbers alone."""
    if isinstance(node, _ast.BinOp):
        return _is_constant(node.left) and _is_constant(node.right)
    if isinstance(node, _ast.UnaryOp):
        return _is_constant(node.operand)
    return isinstance(node, _ast.Constant) and isinstance(node.value, (int, float, complex))


def folded(node: Any) -> Any:
    """What Python makes of an expression of numbers before numba reads it: 10**19 is an int of Python, not of 64 bits.

    Python itself folds it; what it leaves, as 1 // 0, stays as it is.
    """
    if not _is_constant(node):
        return node
    code = compiled(_ast.Expression(node), "<kernel>", "eval")
    if code.co_stacksize != 1 or len(code.co_consts) != 1:
        return node
    made = _ast.Constant(code.co_consts[0])
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(made, name, getattr(node, name))
    return made

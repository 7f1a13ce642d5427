# SPDX-License-Identifier: Apache-2.0
"""Questions about the syntax tree of a kernel, which its packing asks: what the front end evaluates as Python does,
which names a function binds, what expressions of numbers are."""

from __future__ import annotations

import _ast
import operator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from . import _records as records
from ._foreign import dtype_name

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


_UNARY = {_ast.USub: operator.neg, _ast.UAdd: operator.pos, _ast.Invert: operator.invert, _ast.Not: operator.not_}
_BINARY = {
    _ast.Add: operator.add, _ast.Sub: operator.sub, _ast.Mult: operator.mul, _ast.Div: operator.truediv,
    _ast.FloorDiv: operator.floordiv, _ast.Mod: operator.mod, _ast.Pow: operator.pow, _ast.LShift: operator.lshift,
    _ast.RShift: operator.rshift, _ast.BitOr: operator.or_, _ast.BitXor: operator.xor, _ast.BitAnd: operator.and_,
}  # fmt: skip
_MOST_BITS = 1 << 16  # of an integer that is folded


def _value_of(node: Any) -> Any:
    """The value of an expression of numbers alone, else None."""
    if isinstance(node, _ast.UnaryOp):
        value = _value_of(node.operand)
        return None if value is None else _UNARY[type(node.op)](value)
    if not isinstance(node, _ast.BinOp):
        is_number = isinstance(node, _ast.Constant) and isinstance(node.value, (int, float, complex))
        return node.value if is_number else None
    left, right = _value_of(node.left), _value_of(node.right)
    if left is None or right is None or type(node.op) not in _BINARY:
        return None
    if isinstance(node.op, (_ast.Pow, _ast.LShift)) and isinstance(left, int) and isinstance(right, int):
        bits = right if isinstance(node.op, _ast.LShift) else left.bit_length() * right
        if bits > _MOST_BITS:
            return None
    return _BINARY[type(node.op)](left, right)


def folded(node: Any) -> Any:
    """What Python makes of an expression of numbers before it is typed: 10**19 and -2**63 are ints of Python, not of
    64 bits. What raises, as 1 // 0, stays as it is.
    """
    try:
        value = _value_of(node)
    except (ArithmeticError, TypeError, ValueError):
        return node
    if value is None:
        return node
    made = _ast.Constant(value)
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(made, name, getattr(node, name))
    return made

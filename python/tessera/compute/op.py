# SPDX-License-Identifier: Apache-2.0
"""Operators: functions of Python, or well-known ones by name, as functions for kernels."""

from __future__ import annotations

import dis
import enum
import math
import operator
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy

__all__ = ["OpKind", "Operator", "RawOp", "may_raise", "numbers_first", "numbers_win", "operator_of", "ordering"]


class OpKind(enum.IntEnum):
    """Well-known operators, by the names of the standard library of C++."""

    STATELESS = 0
    STATEFUL = 1
    PLUS = 2
    MINUS = 3
    MULTIPLIES = 4
    DIVIDES = 5
    MODULUS = 6
    EQUAL_TO = 7
    NOT_EQUAL_TO = 8
    GREATER = 9
    LESS = 10
    GREATER_EQUAL = 11
    LESS_EQUAL = 12
    LOGICAL_AND = 13
    LOGICAL_OR = 14
    LOGICAL_NOT = 15
    BIT_AND = 16
    BIT_OR = 17
    BIT_XOR = 18
    BIT_NOT = 19
    IDENTITY = 20
    NEGATE = 21
    MINIMUM = 22
    MAXIMUM = 23


def _divides(a: Any, b: Any) -> Any:
    if a.dtype.kind == "i" and b.dtype.kind == "i":
        q = a // b
        return q + 1 if q < 0 and q * b != a else q
    return a // b if a.dtype.kind == "u" else a / b


def _modulus(a: Any, b: Any) -> Any:
    if a.dtype.kind == "i" and b.dtype.kind == "i":
        r = a % b
        return r - b if r != 0 and (a < 0) != (b < 0) else r
    return math.fmod(a, b) if a.dtype.kind == "f" else a % b


# What each operator computes; quotients and remainders of whole numbers are C's, towards zero. Kernels convert the
# result to the type that is wanted, so the sum of two int8 wraps.
_FUNCTIONS: dict[OpKind, Callable[..., Any]] = {
    OpKind.PLUS: lambda a, b: a + b,
    OpKind.MINUS: lambda a, b: a - b,
    OpKind.MULTIPLIES: lambda a, b: a * b,
    OpKind.DIVIDES: _divides,
    OpKind.MODULUS: _modulus,
    OpKind.EQUAL_TO: lambda a, b: a == b,
    OpKind.NOT_EQUAL_TO: lambda a, b: a != b,
    OpKind.GREATER: lambda a, b: a > b,
    OpKind.LESS: lambda a, b: a < b,
    OpKind.GREATER_EQUAL: lambda a, b: a >= b,
    OpKind.LESS_EQUAL: lambda a, b: a <= b,
    OpKind.LOGICAL_AND: lambda a, b: bool(a) and bool(b),
    OpKind.LOGICAL_OR: lambda a, b: bool(a) or bool(b),
    OpKind.LOGICAL_NOT: lambda a: not a,
    OpKind.BIT_AND: lambda a, b: a & b,
    OpKind.BIT_OR: lambda a, b: a | b,
    OpKind.BIT_XOR: lambda a, b: a ^ b,
    OpKind.BIT_NOT: lambda a: ~a,
    OpKind.IDENTITY: lambda a: a,
    OpKind.NEGATE: lambda a: -a,
    OpKind.MINIMUM: lambda a, b: b if b < a else a,
    OpKind.MAXIMUM: lambda a, b: b if a < b else a,
}
_UNARY = {OpKind.LOGICAL_NOT, OpKind.BIT_NOT, OpKind.IDENTITY, OpKind.NEGATE}
# Operators that may be applied in any order of the items.
COMMUTATIVE = {
    OpKind.PLUS, OpKind.MULTIPLIES, OpKind.LOGICAL_AND, OpKind.LOGICAL_OR, OpKind.BIT_AND, OpKind.BIT_OR,
    OpKind.BIT_XOR, OpKind.MINIMUM, OpKind.MAXIMUM,
}  # fmt: skip
_BUILTINS: dict[Any, OpKind] = {
    operator.add: OpKind.PLUS, operator.sub: OpKind.MINUS, operator.mul: OpKind.MULTIPLIES,
    operator.truediv: OpKind.DIVIDES, operator.mod: OpKind.MODULUS, operator.eq: OpKind.EQUAL_TO,
    operator.ne: OpKind.NOT_EQUAL_TO, operator.gt: OpKind.GREATER, operator.lt: OpKind.LESS,
    operator.ge: OpKind.GREATER_EQUAL, operator.le: OpKind.LESS_EQUAL, operator.and_: OpKind.BIT_AND,
    operator.or_: OpKind.BIT_OR, operator.xor: OpKind.BIT_XOR, operator.invert: OpKind.BIT_NOT,
    operator.not_: OpKind.LOGICAL_NOT, operator.neg: OpKind.NEGATE, min: OpKind.MINIMUM, max: OpKind.MAXIMUM,
    numpy.add: OpKind.PLUS, numpy.multiply: OpKind.MULTIPLIES, numpy.subtract: OpKind.MINUS,
    numpy.bitwise_and: OpKind.BIT_AND,
    numpy.bitwise_or: OpKind.BIT_OR, numpy.bitwise_xor: OpKind.BIT_XOR, numpy.negative: OpKind.NEGATE,
    numpy.equal: OpKind.EQUAL_TO, numpy.not_equal: OpKind.NOT_EQUAL_TO, numpy.greater: OpKind.GREATER,
    numpy.less: OpKind.LESS, numpy.greater_equal: OpKind.GREATER_EQUAL, numpy.less_equal: OpKind.LESS_EQUAL,
}  # fmt: skip

# Functions of all values that are taken for operators: those that put two together.
_WHOLE: dict[Any, OpKind] = {
    sum: OpKind.PLUS, any: OpKind.LOGICAL_OR, all: OpKind.LOGICAL_AND, numpy.sum: OpKind.PLUS,
    numpy.cumsum: OpKind.PLUS, numpy.prod: OpKind.MULTIPLIES, numpy.cumprod: OpKind.MULTIPLIES,
    numpy.min: OpKind.MINIMUM, numpy.max: OpKind.MAXIMUM, numpy.any: OpKind.LOGICAL_OR, numpy.all: OpKind.LOGICAL_AND,
}  # fmt: skip


class RawOp:
    """Code of another compiler (LTO-IR) as an operator. Refused: no linker of such code is there yet."""

    def __init__(
        self, *, ltoir: bytes, name: str, state: bytes = b"", state_alignment: int = 1, extra_ltoirs: Any = None
    ) -> None:
        if state_alignment < 1 or state_alignment & (state_alignment - 1):
            raise ValueError(f"state_alignment is {state_alignment}; it must be a power of two")
        self.ltoir, self.name, self.state = ltoir, name, state
        self.state_alignment, self.extra_ltoirs = state_alignment, tuple(extra_ltoirs or ())

    def _identity(self) -> tuple[Any, ...]:
        return self.ltoir, self.name, self.state, self.state_alignment, self.extra_ltoirs

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RawOp) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())


class Operator(NamedTuple):
    """An operator as the algorithms take it."""

    function: Callable[..., Any]  # for kernels
    key: Any  # operators with the same key have the same code, captured arrays included
    known: OpKind | None  # the well-known operator that it is
    counts: tuple[int, ...] | None  # of arguments that it takes; None: any
    in_any_order: bool = False  # it is commutative, though not well-known
    of_next: Callable[..., Any] | None = None  # the same, in fewer steps, of an item and one that stands behind it

    @property
    def commutative(self) -> bool:
        """Whether it may be applied to the items in any order."""
        return self.in_any_order or self.known in COMMUTATIVE

    def is_exact(self, kind: Any) -> bool:
        """Whether values of a type may be put together by it in any order of steps, with the same result."""
        return self.commutative and kind.dtype.kind in "iub"


def operator_of(op: Any, arguments: int, what: str = "op") -> Operator:
    """The operator that an argument stands for.

    Parameters
    ----------
    op : OpKind, function, builtin of Python or NumPy, kernel function, Operator
    arguments : int
        How many arguments it is called with.
    what : str
        The name of the parameter, for messages.

    Raises
    ------
    TypeError
        For what is no operator, or one of another number of arguments.
    NotImplementedError
        For `RawOp`.
    """
    if isinstance(op, Operator):
        return op
    if isinstance(op, OpKind):
        found = _known(op, what)
    elif isinstance(op, RawOp):
        raise NotImplementedError(
            f"{what}: code of other compilers (RawOp) cannot be linked; give a function of Python"
        )
    else:
        kind = _BUILTINS.get(op) if op.__hash__ is not None else None
        found = _known(kind, what) if kind is not None else _builtin(op, arguments, what) or _python(op, what)
    if found.counts is not None and arguments not in found.counts:
        name = getattr(op, "name", getattr(op, "__name__", op))
        raise TypeError(
            f"{what} is called with {arguments} argument{'s' * (arguments > 1)}, '{name}' takes {found.counts[-1]}"
        )
    return found


def ordering(op: Operator, *dtypes: Any) -> Operator:
    """A comparison of values of these dtypes (None: not known yet) that puts them in order: ``<`` and ``>`` of floats
    do not, where there are NaNs, nor those of times where there is NaT."""
    if op.known not in (OpKind.LESS, OpKind.GREATER) or not any(map(_has_nan, dtypes)):
        return op
    return op._replace(function=numbers_first(op.function))


def _has_nan(dtype: Any) -> bool:
    return dtype is None or dtype.kind in "fmM" or dtype.name == "bfloat16"


def numbers_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison after which NaNs come last, and are equal."""
    return lambda a, b: bool(function(a, b)) or (a == a and b != b)


def numbers_win(op: Operator, dtype: Any) -> Operator:
    """Least and greatest of floats in any order of steps: NaN is left out, which a comparison keeps or loses, with
    numbers beside it, as it stands first or second."""
    if op.known not in (OpKind.MINIMUM, OpKind.MAXIMUM) or not (dtype.kind == "f" or dtype.name == "bfloat16"):
        return op
    of_two = op.function
    return op._replace(function=lambda a, b: b if a != a else of_two(a, b))


def _known(kind: OpKind, what: str) -> Operator:
    function = _FUNCTIONS.get(kind)
    if function is None:
        raise ValueError(f"{what}: {kind.name} says what an operator is like, not which one it is; give a function")
    return Operator(function, kind, kind, (1 if kind in _UNARY else 2,))


def _way_to(kind: OpKind) -> str:
    """How to give a well-known operator."""
    name = next((f.__name__ for f, of in _BUILTINS.items() if of is kind and f.__module__ == "_operator"), "")
    return f"operator.{name} or OpKind.{kind.name}" if name else f"OpKind.{kind.name}"


def _builtin(op: Any, arguments: int, what: str) -> Operator | None:
    """``abs``, ``bool``, ``math.sqrt``, ``numpy.exp``, ..: what the language of kernels calls by name."""
    module = getattr(op, "__module__", None) or type(op).__module__
    known = ("builtins", "math", "cmath", "numpy", "_operator")
    owner = getattr(op, "__self__", None)
    kind = _BUILTINS.get(owner) if isinstance(owner, numpy.ufunc) else _WHOLE.get(op) if op.__hash__ else None
    if kind is not None or isinstance(owner, numpy.ufunc):
        way = f"numpy.{owner.__name__}" if kind is None else _way_to(kind)
        name = f"{owner.__name__}.{op.__name__}" if isinstance(owner, numpy.ufunc) else op.__name__
        raise TypeError(
            f"{what} is `{name}`, which takes many values at once; {what} must be a function of "
            f"{('one value', 'two values')[arguments - 1]}: give {way}"
        )
    if isinstance(op, FunctionType) or not callable(op) or module not in known:
        return None
    if arguments == 1:
        return Operator(lambda a: op(a), ("builtin", op, 1), None, (1,))
    return Operator(lambda a, b: op(a, b), ("builtin", op, 2), None, (2,))


def _python(op: Any, what: str) -> Operator:
    function = getattr(op, "__tessera_helper__", getattr(op, "py_func", op))
    if not isinstance(function, FunctionType):
        raise TypeError(
            f"{what} is a {type(op).__name__}: {op!r}; give a function of Python, an OpKind, or one of the module "
            "`operator`"
        )
    code = function.__code__
    most = code.co_argcount
    counts = None if code.co_flags & 4 else tuple(range(most - len(function.__defaults__ or ()), most + 1))
    kind = _KINDS.get(_plain(code)) if not code.co_freevars and not function.__defaults__ else None
    if kind is not None:
        return Operator(_FUNCTIONS[kind], kind, kind, counts)
    return Operator(function, key_of(function, {}), None, counts)


def _plain(code: CodeType) -> tuple[Any, ...]:
    """What two functions have in common that compute the same by the same steps."""
    return code.co_code, code.co_consts[-1:] if code.co_consts != (None,) else (), code.co_names, code.co_argcount


# Functions whose code is that of a well-known operator. Those with a comparison depend on which argument is kept.
_KINDS = {
    _plain(function.__code__): kind
    for kind, function in _FUNCTIONS.items()
    if kind not in (OpKind.MINIMUM, OpKind.MAXIMUM)
}


def key_of(value: Any, seen: dict[int, int]) -> Any:
    """A key of what a function computes: its code, and everything that it names.

    A function that was met before, which may be the one at hand, is the number of its place among those in `seen`.
    """
    if isinstance(value, FunctionType):
        if id(value) in seen:
            return "seen", seen[id(value)]
        seen[id(value)] = len(seen)
        code = value.__code__
        cells = tuple(key_of(_content(cell), seen) for cell in value.__closure__ or ())
        names = {name for c in codes_of(code) for name in c.co_names}
        return code, cells, _spoken(value.__globals__, names, seen), key_of(value.__defaults__, seen)
    if isinstance(value, tuple):
        return type(value), tuple(key_of(item, seen) for item in value)
    if isinstance(value, (int, float, complex, str, bytes, numpy.generic)) or value is None:
        return type(value), repr(value)
    if isinstance(value, numpy.ndarray) and value.nbytes <= 1 << 16:
        return "constant", value.shape, value.dtype, value.tobytes()
    helper = getattr(value, "__tessera_helper__", None)
    if isinstance(helper, FunctionType):
        return key_of(helper, seen)
    return value if isinstance(value, type) else _Same(value)


def _spoken(space: Any, names: set[str], seen: dict[int, int]) -> tuple[Any, ...]:
    """Keys of what code finds under its names: among globals, and in modules that are found there."""
    found = []
    for name in sorted(names & space.keys()):
        value = space[name]
        if not isinstance(value, ModuleType):
            found.append((name, key_of(value, seen)))
        elif id(value) in seen or value.__name__.partition(".")[0] in FIXED:
            found.append((name, value.__name__))
        else:
            seen[id(value)] = len(seen)
            found.append((name, value.__name__, _spoken(vars(value), names, seen)))
    return tuple(found)


# Modules in which nothing changes that operators name.
FIXED = {"builtins", "cmath", "cuda", "math", "ml_dtypes", "numba", "numpy", "operator", "tessera"}


def may_raise(key: Any) -> bool:
    """Whether code in a key has ``raise`` or ``assert``."""
    if isinstance(key, CodeType):
        return any(i.opname == "RAISE_VARARGS" for code in codes_of(key) for i in dis.get_instructions(code))
    return isinstance(key, tuple) and any(map(may_raise, key))


def names_arrays(key: Any) -> bool:
    """Whether code in a key names arrays (or other objects, whose content is not known): it may write to them, or read
    at a place that a value says."""
    if isinstance(key, _Same):
        return True
    return isinstance(key, tuple) and (key[:1] == ("constant",) or any(map(names_arrays, key)))


class _Same:
    """The identity of an object, which is kept alive so that no other one gets it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is bound later
        return None


def codes_of(code: CodeType) -> list[CodeType]:
    return [code] + [c for const in code.co_consts if isinstance(const, CodeType) for c in codes_of(const)]

# SPDX-License-Identifier: Apache-2.0
"""From the tree of _c_parse.py to the source of a kernel of threads (`tessera.cuda`), with C's types.

    z = x * 2 + y;   -->   v_z = ((v_x * float32(2)) + v_y)          x, y, z: float

Each expression has a C type, and says by conversions what C leaves unsaid, because the language of threads has other
rules:
sums of int stay 32 bits wide, quotients of integers round towards zero.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy

from . import _c_types as types
from ._c_parse import CError, Function, Node, Preamble, refused, unknown
from ._c_types import BOOL, INT, LONG, common, complex_of, is_complex, is_float, part_of, promoted

__all__ = ["MARK", "Body", "Unit", "Variable"]

MARK = "  # line "  # ends a line of the kernel's source, with the line of the user's text that it is of

_CASTS = (
    "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128"
).split()
_HELPERS = """
def c_quotient(a, b):
    q = a // b
    if q < 0 and q * b != a:
        q += 1
    return q


def c_remainder(a, b):
    q = a // b
    if q < 0 and q * b != a:
        q += 1
    return a - q * b


def c_norm(z):
    return z.real * z.real + z.imag * z.imag
"""
_ATOMICS = {
    "atomicAdd": "add", "atomicSub": "sub", "atomicMax": "max", "atomicMin": "min", "atomicAnd": "and_",
    "atomicOr": "or_",
    "atomicXor": "xor", "atomicExch": "exch", "atomicCAS": "cas", "atomicInc": "inc", "atomicDec": "dec",
}  # fmt: skip
# Functions of numbers whose libdevice function has another name than C's plus a letter.
_SPELT = {"fabs": "fabs", "finite": "isfinited", "normcdf": "normcdf"}
_TESTS = {"isnan": ("isnanf", "isnand"), "isinf": ("isinff", "isinfd"), "isfinite": ("finitef", "isfinited"),
          "signbit": ("signbitf", "signbitd")}  # fmt: skip
_BITS = {"__popc": "popc", "__popcll": "popc", "__clz": "clz", "__clzll": "clz", "__brev": "brev", "__brevll": "brev",
         "__ffs": "ffs", "__ffsll": "ffs"}  # fmt: skip
_COMPLEX = {
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
}


class Variable:
    """What a name means: a number, or elements of an array by one index."""

    def __init__(
        self, text: str, type: Any, kind: str = "value", extents: tuple[int, ...] = ()
    ) -> None:
        self.text, self.type, self.kind, self.extents = text, type, kind, extents


class Unit:
    """One kernel: its types, the functions of its preamble as they are needed, its namespace."""

    def __init__(self, preamble: Preamble, names: dict[str, Any]) -> None:
        from .. import cuda

        self.preamble = preamble
        self.types: dict[str, Any] = {**preamble.types, **names}
        self.sources: list[str] = [_HELPERS]
        self.space: dict[str, Any] = {
            "__name__": __name__,
            "cuda": cuda,
            "libdevice": cuda.libdevice,
            "math": math,
        }
        self.space["cmath"] = __import__("cmath")
        for name in _CASTS:
            self.space[name] = getattr(numpy, name)
        self.made: dict[Any, tuple[str, Any]] = {}

    def type_of(self, words: tuple[str, ...], line: int) -> Any:
        found = types.named(words, self.types)
        if found is None:
            raise refused(f"the type {' '.join(words)!r}", line)
        return found

    def call(self, name: str, given: list[tuple[str, Any]], line: int) -> tuple[str, Any]:
        """A call of a preamble's function: its text and type."""
        kinds = tuple(t for _, t in given)
        function = self._chosen(name, kinds, line)
        bound = self._bound(function, kinds)
        key = id(function), tuple(bound.items())  # of the preamble's, which lives as long
        if key not in self.made:
            self.made[key] = f"f_{name}_{len(self.made)}", None
            self.made[key] = self._function(self.made[key][0], function, bound)
        text, result = self.made[key]
        if result is None:
            raise refused(f"recursion of {name}()", line)
        wanted = [types.named(words, {**self.types, **bound}) for words, _ in function.params]
        values = [cast(v, t, w) for (v, t), w in zip(given, wanted, strict=True)]
        return f"{text}({', '.join(values)})", result

    def _chosen(self, name: str, kinds: tuple[Any, ...], line: int) -> Function:
        """The overload that C++ takes: of just these types, a template, of promoted types, the only one."""
        found = [f for f in self.preamble.functions[name] if len(f.params) == len(kinds)]
        plain = [f for f in found if not f.templates]
        exact = [f for f in plain if self._kinds_of(f) == kinds]
        wider = [f for f in plain if self._kinds_of(f) == tuple(map(promoted, kinds))]
        made = exact or [f for f in found if f.templates] or wider or plain
        if not made:
            raise CError(
                f"line {line} of the kernel: no function {name}() takes {len(kinds)} arguments"
            )
        if len(made) > 1:
            given = ", ".join(t.name for t in kinds)
            raise CError(
                f"line {line} of the kernel: {len(made)} functions {name}() may take {given}; cast the arguments"
            )
        return made[0]

    def _kinds_of(self, function: Function) -> tuple[Any, ...]:
        return tuple(types.named(words, self.types) for words, _ in function.params)

    def _bound(self, function: Function, kinds: tuple[Any, ...]) -> dict[str, Any]:
        """Types of a template's parameters."""
        made: dict[str, Any] = {}
        for (words, _), kind in zip(function.params, kinds, strict=True):
            if words[-1] in function.templates and words[-1] not in made:
                made[words[-1]] = part_of(kind) if words[0] == "complex" else kind
        for name in function.templates:
            if name not in made:
                raise refused(
                    f"the template's parameter {name}, which no argument of {function.name}() tells,",
                    function.line,
                )
        return made

    def _function(self, text: str, function: Function, bound: dict[str, Any]) -> tuple[str, Any]:
        before, self.types = self.types, {**self.types, **bound}
        try:
            result = (
                None
                if function.result == ("void",)
                else self.type_of(function.result, function.line)
            )
            if result is None:
                raise refused(f"{function.name}(), a function without a value,", function.line)
            body = Body(self, result=result)
            params = [
                body.declare(name, self.type_of(words, function.line)).text
                for words, name in function.params
            ]
            body.block(function.body)
        finally:
            self.types = before
        self.sources.append(
            f"def {text}({', '.join(params)}):\n" + "\n".join(body.lines or ["    pass"]) + "\n"
        )
        return text, result

    def constant(self, body: Body, name: str) -> tuple[str, Any] | None:
        node = self.preamble.constants.get(name)
        return None if node is None else body.value(node)


def cast(text: str, source: Any, target: Any) -> str:
    """A conversion, where there is one."""
    if source == target:
        return text
    if target == BOOL:
        return f"({text} != {source.name}(0))"
    return f"{target.name}({text})"


class Body:
    """The statements of a kernel or of one function."""

    def __init__(self, unit: Unit, result: Any = None, indent: int = 1) -> None:
        self.unit, self.result, self.indent = unit, result, indent
        self.lines: list[str] = []
        self.scopes: list[dict[str, Variable]] = [{}]
        self.count: dict[str, int] = {}
        self.loops: list[Any] = []  # what `continue` does before it, of each loop
        self.leave: Any = None  # what `return` does in the statements of a kernel
        self.uses: set[str] = set()
        self.hoists = True
        self.done = False
        self.line = 0  # of the user's text, of the statement that is being written

    def emit(self, text: str) -> None:
        mark = f"{MARK}{self.line}" if self.line else ""
        self.lines.append("    " * self.indent + text + mark)

    # -- names --------------------------------------------------------------------------------------

    def declare(
        self, name: str, type: Any, kind: str = "value", text: str = "", extents: Any = ()
    ) -> Variable:
        n = self.count[name] = self.count.get(name, -1) + 1
        made = Variable(text or (f"v_{name}" if not n else f"v{n}_{name}"), type, kind, extents)
        self.scopes[-1][name] = made
        return made

    def find(self, name: str, line: int) -> Variable:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise self._unknown(name, line)

    def _unknown(self, name: str, line: int) -> CError:
        return unknown("name", name, [*{n for scope in self.scopes for n in scope}, *types.CONSTANTS], line)

    def knows(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes)

    def temporary(self, value: str) -> str:
        self.count["_"] = self.count.get("_", -1) + 1
        name = f"t_{self.count['_']}"
        self.emit(f"{name} = {value}")
        return name

    # -- expressions: text and type -----------------------------------------------------------------

    def value(self, node: Node) -> tuple[str, Any]:
        text: tuple[str, Any] = getattr(self, f"_{node.kind}_value")(node, *node.parts)
        return text

    def truth(self, node: Node) -> str:
        text, type = self.value(node)
        return cast(text, type, BOOL)

    def number(self, node: Node, type: Any) -> str:
        text, found = self.value(node)
        return self.converted(text, found, type, node.line)

    def converted(self, text: str, source: Any, target: Any, line: int) -> str:
        if is_complex(source) and not is_complex(target):
            raise CError(
                f"line {line} of the kernel: a complex number becomes no {target.name}; write x.real()"
            )
        return cast(text, source, target)

    def _number_value(self, node: Node, text: str) -> tuple[str, Any]:
        value, type = types.literal(text)
        return f"{type.name}({value!r})", type

    def _name_value(self, node: Node, name: str) -> tuple[str, Any]:
        if self.knows(name):
            found = self.find(name, node.line)
            if found.kind != "value":
                raise refused(f"the array {name!r} without an index", node.line)
            return found.text, found.type
        constant = self.unit.constant(self, name)
        if constant is not None:
            return constant
        if name not in types.CONSTANTS:
            raise self._unknown(name, node.line)
        value, type = types.CONSTANTS[name]
        if type == BOOL:
            return repr(value), type
        text = (
            repr(value)
            if isinstance(value, int) or math.isfinite(value)
            else f"math.{'inf' if value > 0 else 'nan'}"
        )
        return f"{type.name}({text})", type

    def _binary_value(self, node: Node, op: str, left: Node, right: Node) -> tuple[str, Any]:
        if op in ("&&", "||"):
            first = self.truth(left)
            second = self._unhoisted(lambda: self.truth(right))
            return f"({first} {'and' if op == '&&' else 'or'} {second})", BOOL
        return self.operation(op, self.value(left), self.value(right), node.line)

    def _unhoisted(self, function: Any) -> Any:
        """What is not always evaluated must not change anything."""
        before, self.hoists = self.hoists, False
        try:
            return function()
        finally:
            self.hoists = before

    def operation(
        self, op: str, left: tuple[str, Any], right: tuple[str, Any], line: int
    ) -> tuple[str, Any]:
        (a, of_a), (b, of_b) = left, right
        if op in ("<<", ">>"):
            type = promoted(of_a)
            both = f"({cast(a, of_a, type)} {op} {cast(b, of_b, type)})"
        else:
            type = common(of_a, of_b)
            both = f"({cast(a, of_a, type)} {op} {cast(b, of_b, type)})"
        if op in ("&", "|", "^", "<<", ">>", "%") and type.kind not in "iu":
            raise CError(
                f"line {line} of the kernel: {op} takes integers, found {of_a.name} and {of_b.name}"
            )
        if op in ("==", "!=", "<", ">", "<=", ">="):
            return both, BOOL
        if type.kind == "i" and op in "/%":
            name = "c_quotient" if op == "/" else "c_remainder"
            return f"{type.name}({name}({cast(a, of_a, type)}, {cast(b, of_b, type)}))", type
        if type.kind == "u" and op == "/":
            return f"{type.name}({cast(a, of_a, type)} // {cast(b, of_b, type)})", type
        return (f"{type.name}{both}" if type.kind != "f" else both), type

    def _unary_value(self, node: Node, op: str, inner: Node) -> tuple[str, Any]:
        if op == "!":
            return f"(not {self.truth(inner)})", BOOL
        text, found = self.value(inner)
        type = promoted(found)
        text = cast(text, found, type)
        if op == "+":
            return text, type
        if op == "~" and type.kind not in "iu":
            raise CError(f"line {node.line} of the kernel: ~ takes integers, found {found.name}")
        return (f"{type.name}({op}{text})" if type.kind in "iu" else f"({op}{text})"), type

    def _ternary_value(self, node: Node, condition: Node, yes: Node, no: Node) -> tuple[str, Any]:
        chosen = self.truth(condition)
        (a, of_a), (b, of_b) = self._unhoisted(lambda: (self.value(yes), self.value(no)))
        type = of_a if of_a == of_b else common(of_a, of_b)
        return f"({cast(a, of_a, type)} if {chosen} else {cast(b, of_b, type)})", type

    def _cast_value(self, node: Node, words: Any, inner: Node) -> tuple[str, Any]:
        type = self.unit.type_of(words, node.line)
        return self.number(inner, type), type

    def _make_value(self, node: Node, words: Any, values: Any) -> tuple[str, Any]:
        type = self.unit.type_of(words, node.line)
        if not is_complex(type):
            if len(values) != 1:
                raise refused(f"{' '.join(words)} of {len(values)} values", node.line)
            return self.number(values[0], type), type
        if len(values) == 1:
            return self.number(values[0], type), type
        part = part_of(type)
        texts = [self.number(v, part) for v in values] or ["0.0"]
        return f"{type.name}(complex({', '.join(texts)}))", type

    def _sizeof_value(self, node: Node, words: Any) -> tuple[str, Any]:
        return f"uint64({self.unit.type_of(words, node.line).itemsize})", numpy.dtype("u8")

    def _index_value(self, node: Node, array: Node, index: Node) -> tuple[str, Any]:
        return self.element(node)

    def element(self, node: Node) -> tuple[str, Any]:
        """An element of an array, to read or to assign to."""
        indices: list[Node] = []
        while node.kind == "index":
            indices.insert(0, node.parts[1])
            node = node.parts[0]
        if node.kind == "call" and node.parts[0].kind == "member":
            return self._extent(node, indices)
        if node.kind != "name":
            raise refused("an index of what is no array", node.line)
        found = self.find(node.parts[0], node.line)
        if found.kind not in ("raw", "local") or len(indices) != max(len(found.extents), 1):
            what = (
                "no array"
                if found.kind == "value"
                else f"an array of {max(len(found.extents), 1)} axes"
            )
            raise CError(
                f"line {node.line} of the kernel: {node.parts[0]} is {what}, found {len(indices)} indices"
            )
        if found.kind == "raw" and _is_loop_index(indices[0]):
            return f"{found.text}[v_i]", found.type
        texts = [self.number(i, LONG) for i in indices]
        return f"{found.text}[{', '.join(texts)}]", found.type

    def _extent(self, node: Node, indices: list[Node]) -> tuple[str, Any]:
        """``x.shape()[k]``, ``x.strides()[k]``, ``_ind.get()[k]``."""
        inner, name = node.parts[0].parts
        if inner.kind != "name" or name not in ("shape", "strides", "get") or len(indices) != 1:
            raise refused(f".{name}()[]", node.line)
        array = inner.parts[0]
        k = self.number(indices[0], LONG)
        if (array == "_ind") != (name == "get") and not (array == "_ind" and name == "shape"):
            raise refused(f"{array}.{name}()", node.line)
        self.uses.add(f"{array}.{name}")
        return f"{name}_{array}[{k}]", LONG

    def _member_value(self, node: Node, inner: Node, name: str) -> tuple[str, Any]:
        if name == "ndim" and inner.kind == "name":
            self.uses.add(f"{inner.parts[0]}.ndim")
            return f"ndim_{inner.parts[0]}", INT
        raise refused(f"the member .{name}", node.line)

    # -- expressions that change something ----------------------------------------------------------

    def _needs_hoisting(self, what: str, line: int) -> None:
        if not self.hoists:
            raise refused(f"{what} that is evaluated on some paths only (in &&, ||, ?:)", line)

    def _assign_value(self, node: Node, op: str, target: Node, value: Node) -> tuple[str, Any]:
        self._needs_hoisting("an assignment", node.line)
        place, type = self.target(target)
        if op == "=":
            text = self.number(value, type)
        else:
            text, found = self.operation(op[:-1], (place, type), self.value(value), node.line)
            text = self.converted(text, found, type, node.line)
        self.emit(f"{place} = {text}")
        return place, type

    def _step_value(self, node: Node, op: str, target: Node, before: bool) -> tuple[str, Any]:
        self._needs_hoisting(op, node.line)
        place, type = self.target(target)
        old = place if before else self.temporary(place)
        text, found = self.operation(op[0], (place, type), ("int32(1)", INT), node.line)
        self.emit(f"{place} = {cast(text, found, type)}")
        return old, type

    def target(self, node: Node) -> tuple[str, Any]:
        """What may be assigned to."""
        if node.kind == "index":
            text, type = self.element(node)
            if "(" in text:  # an index with calls is evaluated once
                array, _, index = text.partition("[")
                text = f"{array}[{self.temporary(index[:-1])}]" if "," not in index else text
            return text, type
        if node.kind != "name":
            raise refused("the target of this assignment", node.line)
        found = self.find(node.parts[0], node.line)
        if found.kind != "value":
            raise refused(f"assigning to the {found.kind} name {node.parts[0]!r}", node.line)
        return found.text, found.type

    # -- calls --------------------------------------------------------------------------------------

    def _address_value(self, node: Node, inner: Node) -> tuple[str, Any]:
        raise refused("an address", node.line)

    def _call_value(self, node: Node, function: Node, given: Any) -> tuple[str, Any]:
        if function.kind == "member":
            inner, method = function.parts
            return self._method(node, inner, method, given)
        if function.kind != "name":
            raise refused("this call", node.line)
        name = function.parts[0]
        if name in self.unit.preamble.functions:
            return self.unit.call(name, [self.value(v) for v in given], node.line)
        if name in _ATOMICS:
            return self._atomic(node, name, given)
        values = [self.value(v) for v in given]
        if any(is_complex(t) for _, t in values):
            return self._complex_call(node, name, values)
        if name in ("min", "max", "abs") and values:
            return self._choice(node, name, values)
        if name in _TESTS and len(values) == 1:
            text, type = values[0]
            if not is_float(type):
                if name == "signbit" and type.kind == "i":
                    return f"({text} < {type.name}(0))", BOOL
                return ("True" if name == "isfinite" else "False"), BOOL
            return (
                f"(libdevice.{_TESTS[name][type.itemsize == 8]}({cast(text, type, _wide(type))}) != 0)",
                BOOL,
            )
        if name in _BITS and len(values) == 1:
            wide = numpy.dtype("u8" if name.endswith("ll") else "u4")
            result = wide if "brev" in name else INT
            return f"{result.name}(cuda.{_BITS[name]}({cast(*values[0], wide)}))", result
        if name in ("real", "imag", "conj", "arg", "norm") and len(values) == 1:
            return self._complex_call(node, name, values)
        return self._libdevice(node, name, values)

    def _method(self, node: Node, inner: Node, name: str, given: Any) -> tuple[str, Any]:
        if (
            inner.kind == "name"
            and name == "size"
            and not given
            and (inner.parts[0] == "_ind" or self._is_raw(inner))
        ):
            array = inner.parts[0]
            return (
                ("v_n", LONG)
                if array == "_ind"
                else (f"int64({self.find(array, node.line).text}.size)", LONG)
            )
        text, type = self.value(inner)
        if name in ("real", "imag") and not given and is_complex(type):
            return f"{text}.{name}", part_of(type)
        raise refused(f".{name}()", node.line)

    def _is_raw(self, node: Node) -> bool:
        return self.knows(node.parts[0]) and self.find(node.parts[0], node.line).kind == "raw"

    def _atomic(self, node: Node, name: str, given: Any) -> tuple[str, Any]:
        self._needs_hoisting(f"{name}()", node.line)
        if len(given) != (3 if name == "atomicCAS" else 2) or given[0].kind != "address":
            raise CError(f"line {node.line} of the kernel: write {name}(&x[index], value)")
        text, type = self.element(given[0].parts[0])
        array, _, index = text.partition("[")
        values = [self.number(v, type) for v in given[1:]]
        call = f"cuda.atomic.{_ATOMICS[name]}({array}, {index[:-1]}, {', '.join(values)})"
        return self.temporary(call), type

    def _choice(self, node: Node, name: str, values: Any) -> tuple[str, Any]:
        if name == "abs" and len(values) == 1:
            text, found = values[0]
            type = promoted(found)
            return (
                f"{type.name}(abs({cast(text, found, type)}))"
                if type.kind != "u"
                else cast(text, found, type)
            ), type
        if name == "abs" or len(values) != 2:
            raise CError(f"line {node.line} of the kernel: {name}() of {len(values)} values")
        type = common(values[0][1], values[1][1])
        texts = ", ".join(cast(v, t, type) for v, t in values)
        if is_float(type):
            return f"libdevice.f{name}{'f' if type.itemsize == 4 else ''}({texts})", type
        return f"{type.name}({name}({texts}))", type

    def _complex_call(self, node: Node, name: str, values: Any) -> tuple[str, Any]:
        if name == "pow" and len(values) == 2:
            return self._power(values)
        if len(values) != 1:
            raise refused(f"{name}() of complex numbers", node.line)
        text, type = values[0]
        part = part_of(type)
        if name in ("real", "imag"):
            return (
                (f"{text}.{name}", part)
                if is_complex(type)
                else (text if name == "real" else "int32(0)", type)
            )
        if name == "conj":
            return (f"{type.name}({text}.conjugate())", type) if is_complex(type) else (text, type)
        if name == "abs":
            return f"{part.name}(abs({text}))", part
        if name == "norm":
            return f"{part.name}(c_norm({cast(text, type, complex_of(part))}))", part
        if name == "arg":
            return f"{part.name}(cmath.phase({text}))", part
        if name not in _COMPLEX:
            raise refused(f"{name}() of complex numbers", node.line)
        return f"{type.name}(cmath.{name}({text}))", type

    def _power(self, values: Any) -> tuple[str, Any]:
        type = common(values[0][1], values[1][1])
        a, b = (cast(v, t, type) for v, t in values)
        return f"{type.name}({a} ** {b})", type

    def _libdevice(self, node: Node, name: str, values: Any) -> tuple[str, Any]:
        """Functions of CUDA's math library, by their names in libdevice: sin and sinf, __expf is fast_expf."""
        library = self.unit.space["libdevice"]
        plain = name.removeprefix("__")
        if name.startswith("__"):
            plain = f"fast_{plain}" if hasattr(library, f"fast_{plain}") else plain
        is_single = (
            values
            and all(t.kind == "f" and t.itemsize <= 4 for _, t in values if t.kind == "f")
            and any(is_float(t) for _, t in values)
        )
        is_mixed = (
            len(values) > 1
            and any(t.kind in "iub" for _, t in values)
            and plain in ("pow", "fmod", "atan2", "hypot")
        )
        single = f"{plain}f"
        if is_single and not is_mixed and hasattr(library, single) and not name.startswith("__"):
            chosen, wide = single, types.FLOAT
        elif hasattr(library, plain):
            is_f = (
                plain.endswith("f")
                and hasattr(library, plain[:-1])
                and plain not in ("erf",)
                or plain.startswith("fast_")
            )
            chosen, wide = plain, types.FLOAT if is_f else types.DOUBLE
        else:
            functions = [n for n in dir(library) if not n.startswith("_")]
            raise unknown("function", name, [*self.unit.preamble.functions, *functions], node.line)
        function = getattr(library, chosen)
        signature = inspect.signature(function)
        params = [p.annotation for p in signature.parameters.values()]
        if len(params) != len(values):
            raise CError(
                f"line {node.line} of the kernel: {name}() takes {len(params)} arguments, found {len(values)}"
            )
        texts = [
            cast(v, t, wide if p == "float" else _bits(t))
            for (v, t), p in zip(values, params, strict=True)
        ]
        result = signature.return_annotation
        if result not in ("int", "float"):
            raise refused(f"the function {name}(), which has several results,", node.line)
        type = wide if result == "float" else LONG if chosen.startswith("ll") else INT
        return f"libdevice.{chosen}({', '.join(texts)})", type

    # -- statements ---------------------------------------------------------------------------------

    def run(self, node: Node) -> None:
        before, self.line = self.line, node.line
        getattr(self, f"_run_{node.kind}")(node, *node.parts)
        self.line = before

    def block(self, node: Node) -> None:
        """Statements, with names of their own if they are a block."""
        start = len(self.lines)
        self.scopes.append({})
        for statement in node.parts if node.kind == "block" else (node,):
            self.run(statement)
        self.scopes.pop()
        if len(self.lines) == start:
            self.emit("pass")

    def _run_block(self, node: Node, *statements: Node) -> None:
        self.scopes.append({})
        for statement in statements:
            self.run(statement)
        self.scopes.pop()

    def _run_group(self, node: Node, *statements: Node) -> None:
        for statement in statements:
            self.run(statement)

    def _run_expression(self, node: Node, inner: Node) -> None:
        if inner.kind == "step":  # its value is not wanted
            inner = Node("step", inner.line, (inner.parts[0], inner.parts[1], True))
        if inner.kind == "name" and inner.parts[0] == "__syncthreads":
            raise refused("__syncthreads()", node.line)
        if inner.kind == "ternary" and {p.kind for p in inner.parts[1:]} <= {"assign", "step"}:
            yes, no = (Node("expression", node.line, (p,)) for p in inner.parts[1:])
            self._run_if(node, inner.parts[0], yes, no)
            return
        self.value(inner)

    def _run_declare(self, node: Node, words: Any, name: str, extents: Any, value: Any) -> None:
        if extents:
            self._declare_array(node, words, name, extents, value)
            return
        if words == ("auto",):
            if value is None:
                raise CError(f"line {node.line} of the kernel: auto {name} needs a value")
            text, type = self.value(value)
        else:
            type = self.unit.type_of(words, node.line)
            text = f"{type.name}(0)" if value is None else self.number(value, type)
            text = "False" if type == BOOL and value is None else text
        self.emit(f"{self.declare(name, type).text} = {text}")

    def _declare_array(self, node: Node, words: Any, name: str, extents: Any, value: Any) -> None:
        type, sizes = self.unit.type_of(words, node.line), []
        for extent in extents:
            if extent is None:
                if value is None or value.kind != "braces":
                    raise CError(f"line {node.line} of the kernel: {name}[] needs values in braces, or an extent")
                sizes.append(len(value.parts))
                continue
            if extent.kind != "number":
                raise refused(f"the array {name!r}, whose extent is no number,", node.line)
            sizes.append(int(types.literal(extent.parts[0])[0]))
        made = self.declare(name, type, "local", extents=tuple(sizes))
        shape = str(sizes[0]) if len(sizes) == 1 else str(tuple(sizes))
        self.emit(
            f"{made.text} = cuda.local.array({shape}, {type.name if type != BOOL else 'uint8'})"
        )
        if value is not None:
            self._fill_array(made, value, ())

    def _fill_array(self, array: Variable, value: Node | None, at: tuple[int, ...]) -> None:
        """The values in braces of an array, or of its part at a place; what is left out is 0."""
        if len(at) == len(array.extents):
            item = f"{array.type.name}(0)" if value is None else self.number(value, array.type)
            self.emit(f"{array.text}[{', '.join(map(str, at))}] = {item}")
            return
        if value is not None and value.kind != "braces":
            raise refused("a value of an array that is not in braces", value.line)
        values = () if value is None else value.parts
        extent = array.extents[len(at)]
        if value is not None and len(values) > extent:
            raise CError(
                f"line {value.line} of the kernel: {len(values)} values in braces for {extent} elements"
            )
        for i in range(extent):
            self._fill_array(array, values[i] if i < len(values) else None, (*at, i))

    def _indented(self, node: Node) -> None:
        self.indent += 1
        self.block(node)
        self.indent -= 1

    def _run_if(self, node: Node, condition: Node, yes: Node, no: Any) -> None:
        self.emit(f"if {self.truth(condition)}:")
        self._indented(yes)
        if no is not None:
            self.emit("else:")
            self._indented(no)

    def _run_for(self, node: Node, first: Any, condition: Any, step: Any, body: Node) -> None:
        self.scopes.append({})
        if first is not None:
            self.run(first)
        self.emit("while True:")
        self.indent += 1
        if condition is not None:
            self._leave_unless(condition)
        self.loops.append(lambda: None if step is None else self.run(step))
        self.block(body)
        self.loops.pop()
        if step is not None:
            self.run(step)
        self.indent -= 1
        self.scopes.pop()
        self._after_loop(body)

    def _leave_unless(self, condition: Node) -> None:
        before, self.hoists = self.hoists, True
        self.emit(f"if not {self.truth(condition)}:")
        self.emit("    break")
        self.hoists = before

    def _run_do(self, node: Node, body: Node, condition: Node) -> None:
        self.emit("while True:")
        self.indent += 1
        self.loops.append(lambda: self._leave_unless(condition))
        self.block(body)
        self.loops.pop()
        self._leave_unless(condition)
        self.indent -= 1
        self._after_loop(body)

    def _after_loop(self, body: Node) -> None:
        """A `return` in a loop of a kernel's statements: it has left the loop, and here goes on to leave."""
        if self.leave is not None and _has_return(body):
            self.emit("if k_done:")
            self.indent += 1
            self._leave()
            self.indent -= 1

    def _leave(self) -> None:
        if self.loops:
            self.emit("break")
        else:
            self.leave()

    def _run_break(self, node: Node) -> None:
        if not self.loops:
            raise refused("break outside of a loop", node.line)
        self.emit("break")

    def _run_continue(self, node: Node) -> None:
        if not self.loops:
            if self.leave is None:
                raise refused("continue outside of a loop", node.line)
            self.leave()
            return
        self.loops[-1]()
        self.emit("continue")

    def _run_return(self, node: Node, value: Any) -> None:
        if self.leave is not None:
            if value is not None:
                raise refused("return with a value", node.line)
            if self.loops:
                self.done = True
                self.emit("k_done = True")
            self._leave()
            return
        if value is None:
            raise refused("return without a value", node.line)
        self.emit(f"return {self.number(value, self.result)}")


def _has_return(node: Any) -> bool:
    if isinstance(node, Node):
        return node.kind == "return" or any(map(_has_return, node.parts))
    return isinstance(node, tuple) and any(map(_has_return, node))


def _is_loop_index(node: Node) -> bool:
    """``_ind.get()``: the place of this element."""
    return (
        node.kind == "call" and node.parts[0].kind == "member" and node.parts[0].parts[1] == "get"
        and node.parts[0].parts[0].parts == ("_ind",)
    )  # fmt: skip


def _wide(type: Any) -> Any:
    return types.FLOAT if type.itemsize <= 4 else types.DOUBLE


def _bits(type: Any) -> Any:
    return promoted(type) if type.kind in "iub" else LONG

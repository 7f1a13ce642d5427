# SPDX-License-Identifier: Apache-2.0
"""The part of CUDA C that CuPy's kernels are written in, as a tree; _c_emit.py makes Python of it.

    z = x * 2 + y;   -->   Assign("=", Name("z"), Binary("+", Binary("*", Name("x"), Number("2")), Name("y")))

Statements: declarations of numbers and of arrays of them, assignments, if, for, while, do, break, continue, return,
blocks.
Functions of the preamble, templates of them too, typedef and using, constants, #define. What is none of these is
refused by
name and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from .._errors import did_you_mean

__all__ = ["CError", "Function", "Node", "Parser", "Preamble", "read_preamble", "tokens_of"]


class CError(ValueError):
    """CUDA C that is not understood: what, in which line, and the way out."""


class Node(NamedTuple):
    """A part of the tree: its kind, the line that it begins in, and what it is made of."""

    kind: str
    line: int
    parts: tuple[Any, ...]


class Token(NamedTuple):
    kind: str  # name, number, op
    text: str
    line: int


class Function(NamedTuple):
    """A function of a preamble."""

    name: str
    result: tuple[str, ...]
    params: tuple[tuple[tuple[str, ...], str], ...]
    body: Node
    templates: tuple[str, ...]
    line: int


_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v\\]+)|(?P<line>\n)|(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<op><<=|>>=|\+\+|--|->|::|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.()\[\]{}#"'])""",
    re.VERBOSE | re.DOTALL,
)
TYPE_WORDS = frozenset(
    "bool char short int long float double signed unsigned auto void size_t ptrdiff_t int8_t uint8_t int16_t "
    "uint16_t int32_t uint32_t int64_t uint64_t float16 half complex int8 uint8 int16 uint16 int32 uint32 int64 "
    "uint64 float32 float64 complex64 complex128".split()
)
_QUALIFIERS = frozenset(
    "const constexpr volatile static inline __device__ __forceinline__ __host__ __noinline__ typename "
    "__constant__ register extern __inline__ __restrict__".split()
)
_REFUSED = {
    "struct": "a struct", "class": "a class", "union": "a union", "enum": "an enum", "goto": "goto", "switch": "switch",
    "asm": "inline assembly", "__asm__": "inline assembly", "new": "new", "delete": "delete",
    "__shared__": "shared memory",
    "namespace": "a namespace", "lambda": "a lambda", "try": "try", "throw": "throw", "operator": "an operator",
}  # fmt: skip
_WAY_OUT = "; write it as a kernel of tessera.cuda, or as a cupy.RawKernel on a GPU"
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_ASSIGN = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])


def refused(what: str, line: int) -> CError:
    return CError(f"line {line} of the kernel: {what} is not understood{_WAY_OUT}")


def unknown(what: str, name: str, known: Iterable[str], line: int) -> CError:
    """A name that nothing has: with the nearest that there is, or else the way out."""
    hint = did_you_mean(name, [k for k in known if k != name])
    return CError(f"line {line} of the kernel: there is no {what} {name!r}{hint}") if hint else refused(
        f"the {what} {name!r}", line
    )  # fmt: skip


def tokens_of(text: str, macros: dict[str, Any] | None = None) -> list[Token]:
    """The words of a text, with macros put in; lines that begin with # are read first."""
    macros = {} if macros is None else macros
    return _expanded(list(_scan(_directives(text, macros))), macros, ())


def _directives(text: str, macros: dict[str, Any]) -> str:
    """#define is noted, #include left out."""
    lines = text.replace("\\\n", "  ").split("\n")
    for number, line in enumerate(lines, 1):
        words = line.strip()
        if not words.startswith("#"):
            continue
        lines[number - 1] = ""
        found = re.match(r"#\s*define\s+(\w+)(?:\(([^)]*)\))?\s*(.*)", words)
        if found:
            params = (
                None if found[2] is None else [p.strip() for p in found[2].split(",") if p.strip()]
            )
            macros[found[1]] = params, list(_scan(found[3]))
        elif not re.match(r"#\s*(include|pragma\s+unroll)\b", words):
            raise refused(f"the directive {words.split()[0]!r}", number)
    return "\n".join(lines)


def _scan(text: str) -> Any:
    line, at = 1, 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise refused(f"the character {text[at]!r}", line)
        kind = str(found.lastgroup)
        if kind in ("name", "number", "op"):
            yield Token(kind, found[0], line)
        line += found[0].count("\n")
        at = found.end()


def _expanded(tokens: list[Token], macros: dict[str, Any], inside: tuple[str, ...]) -> list[Token]:
    made: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token.kind != "name" or token.text not in macros or token.text in inside:
            made.append(token)
            continue
        params, body = macros[token.text]
        given: dict[str, list[Token]] = {}
        if params is not None:
            if at >= len(tokens) or tokens[at].text != "(":
                made.append(token)
                continue
            values, at = _arguments(tokens, at)
            if len(values) != len(params):
                raise CError(
                    f"line {token.line} of the kernel: {token.text} takes {len(params)} arguments, found {len(values)}"
                )
            given = {p: _expanded(v, macros, inside) for p, v in zip(params, values, strict=True)}
        replaced: list[Token] = []
        for part in body:
            replaced += given.get(part.text, [part._replace(line=token.line)])
        made += _expanded(replaced, macros, (*inside, token.text))
    return made


def _arguments(tokens: list[Token], at: int) -> tuple[list[list[Token]], int]:
    """The arguments of a macro, and where its call ends."""
    depth, values, at = 1, [[]], at + 1  # type: ignore[var-annotated]
    while at < len(tokens):
        text = tokens[at].text
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            return values, at + 1
        if text == "," and depth == 1:
            values.append([])
        else:
            values[-1].append(tokens[at])
        at += 1
    raise CError("a macro's call does not end")


class Parser:
    """Reads tokens; ``types``: names that are types here."""

    def __init__(self, tokens: list[Token], types: Any = ()) -> None:
        self.tokens, self.at, self.types = tokens, 0, set(types)

    # -- tokens -------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        return Token("end", "", self.tokens[-1].line if self.tokens else 1)

    def ahead(self, n: int = 1) -> str:
        return self.tokens[self.at + n].text if self.at + n < len(self.tokens) else ""

    def take(self, text: str) -> bool:
        if self.token.text == text and self.token.kind != "end":
            self.at += 1
            return True
        return False

    def want(self, text: str) -> None:
        if text == ">" and self.token.text == ">>":  # two closing brackets of templates
            self.tokens[self.at : self.at + 1] = [self.token._replace(text=">")] * 2
        if not self.take(text):
            found = repr(self.token.text) if self.token.text else "the end"
            raise CError(f"line {self.token.line} of the kernel: {text!r} expected, found {found}")

    def name(self) -> str:
        token = self.token
        if token.kind != "name":
            raise CError(
                f"line {token.line} of the kernel: a value or a name expected, found "
                f"{repr(token.text) if token.text else 'the end'}"
            )
        self.at += 1
        return token.text

    # -- types --------------------------------------------------------------------------------------

    def is_type(self) -> bool:
        text = self.token.text
        if text in _QUALIFIERS or (text in TYPE_WORDS and self.ahead() != "("):
            return True
        if text in ("thrust", "std") and self.ahead() == "::":
            return self.ahead(2) == "complex"
        return text in self.types and self.ahead() != "("

    def type(self) -> tuple[str, ...]:
        """A type as its words, without qualifiers: ("unsigned", "int"), ("complex", "T")."""
        words: list[str] = []
        while self.token.kind == "name":
            text = self.token.text
            if text in ("thrust", "std") and self.ahead() == "::":
                self.at += 2
            elif text in _QUALIFIERS:
                self.at += 1
            elif text == "complex" and not words:
                self.at += 1
                self.want("<")
                words = ["complex", *self.type()]
                self.want(">")
            elif text in TYPE_WORDS or (text in self.types and not words):
                words.append(text)
                self.at += 1
            else:
                break
        if not words:
            if self.token.text in _REFUSED:
                raise refused(_REFUSED[self.token.text], self.token.line)
            raise CError(
                f"line {self.token.line} of the kernel: a type expected, found {self.token.text!r}"
            )
        if self.token.text == "*":
            raise refused("a pointer", self.token.line)
        return tuple(words)

    # -- expressions --------------------------------------------------------------------------------

    def expression(self) -> Node:
        """With assignments, without commas."""
        line, left = self.token.line, self.ternary()
        if self.token.text in _ASSIGN:
            op = self.token.text
            self.at += 1
            return Node("assign", line, (op, left, self.expression()))
        return left

    def ternary(self) -> Node:
        line, condition = self.token.line, self.binary(0)
        if not self.take("?"):
            return condition
        yes = self.expression()
        self.want(":")
        return Node("ternary", line, (condition, yes, self.expression()))

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.token.text in _LEVELS[level] and self.token.kind == "op":
            line, op = self.token.line, self.token.text
            self.at += 1
            left = Node("binary", line, (op, left, self.binary(level + 1)))
        return left

    def unary(self) -> Node:
        line, text = self.token.line, self.token.text
        if self.token.kind == "op" and text in ("-", "+", "!", "~"):
            self.at += 1
            return Node("unary", line, (text, self.unary()))
        if text in ("++", "--"):
            self.at += 1
            return Node("step", line, (text, self.unary(), True))
        if text == "&":
            self.at += 1
            return Node("address", line, (self.unary(),))
        if text == "*":
            raise refused("a pointer", line)
        if text == "(":
            self.at += 1
            if self.is_type():
                kind = self.type()
                if self.take(")"):
                    return Node("cast", line, (kind, self.unary()))
                raise refused("this use of a type", line)
            inner = self.expression()
            if self.token.text == ",":
                raise refused("the comma operator", line)
            self.want(")")
            return self.postfix(inner)
        return self.postfix(self.primary())

    def primary(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.at += 1
            return Node("number", token.line, (token.text,))
        if token.text in _REFUSED:
            raise refused(_REFUSED[token.text], token.line)
        if token.text in ("static_cast", "reinterpret_cast", "const_cast") and self.ahead() == "<":
            if token.text != "static_cast":
                raise refused(token.text, token.line)
            self.at += 2
            kind = self.type()
            self.want(">")
            self.want("(")
            inner = self.expression()
            self.want(")")
            return Node("cast", token.line, (kind, inner))
        if token.text == "sizeof":
            self.at += 1
            self.want("(")
            kind = self.type()
            self.want(")")
            return Node("sizeof", token.line, (kind,))
        if token.text in TYPE_WORDS or token.text in self.types or token.text in ("thrust", "std"):
            return self.construction()
        return Node("name", token.line, (self.qualified(),))

    def construction(self) -> Node:
        """``T(x)``, ``complex<float>(a, b)``; thrust::exp is a function."""
        line = self.token.line
        if self.token.text in ("thrust", "std") and self.ahead(2) != "complex":
            return Node("name", line, (self.qualified(),))
        kind = self.type()
        if not self.take("("):
            raise refused(f"the type {' '.join(kind)!r} in an expression", line)
        values = self.arguments()
        if kind[0] == "complex" or len(values) == 2:
            return Node("make", line, (kind, values))
        return Node("cast", line, (kind, values[0] if values else Node("number", line, ("0",))))

    def qualified(self) -> str:
        self.take("::")
        name = self.name()
        while self.token.text == "::":
            self.at += 1
            name = self.name()
        return name

    def arguments(self) -> tuple[Node, ...]:
        values: list[Node] = []
        while not self.take(")"):
            values.append(self.expression())
            if self.token.text != ")":
                self.want(",")
        return tuple(values)

    def postfix(self, node: Node) -> Node:
        while True:
            line = self.token.line
            if self.take("("):
                node = Node("call", line, (node, self.arguments()))
            elif self.take("["):
                node = Node("index", line, (node, self.expression()))
                self.want("]")
            elif self.take("."):
                node = Node("member", line, (node, self.name()))
            elif self.token.text == "->":
                raise refused("->", line)
            elif self.token.text in ("++", "--"):
                node = Node("step", line, (self.token.text, node, False))
                self.at += 1
            else:
                return node

    # -- statements ---------------------------------------------------------------------------------

    def statements(self, end: str = "") -> Node:
        """Up to a closing bracket, or the end."""
        line, made = self.token.line, []
        while self.token.kind != "end" and self.token.text != end:
            made.append(self.statement())
        if end:
            self.want(end)
        return Node("block", line, tuple(made))

    def statement(self) -> Node:
        line, text = self.token.line, self.token.text
        if self.take(";"):
            return Node("block", line, ())
        if self.take("{"):
            return self.statements("}")
        if text in _REFUSED:
            raise refused(_REFUSED[text], line)
        reader = getattr(self, f"_{text}_statement", None) if self.token.kind == "name" else None
        if reader is not None:
            self.at += 1
            return reader(line)  # type: ignore[no-any-return]
        made = self.simple()
        if self.token.kind != "end":  # CuPy adds the last semicolon
            self.want(";")
        return made

    def simple(self) -> Node:
        """A declaration, or expressions with commas between them."""
        line = self.token.line
        if self.is_type():
            return self.declaration()
        made = [Node("expression", line, (self.expression(),))]
        while self.take(","):
            made.append(Node("expression", line, (self.expression(),)))
        return made[0] if len(made) == 1 else Node("group", line, tuple(made))

    def declaration(self) -> Node:
        line, kind = self.token.line, self.type()
        made = []
        while True:
            if self.token.text in ("*", "&"):
                raise refused("a pointer" if self.token.text == "*" else "a reference", line)
            name, extents, value = self.name(), [], None
            while self.take("["):
                is_open = self.token.text == "]" and not extents  # as many as there are values
                extents.append(None if is_open else self.expression())
                self.want("]")
            if self.take("="):
                value = self.braces() if self.token.text == "{" else self.expression()
            elif self.take("("):
                value = Node("make", line, (kind, self.arguments()))
            made.append(Node("declare", line, (kind, name, tuple(extents), value)))
            if not self.take(","):
                return made[0] if len(made) == 1 else Node("group", line, tuple(made))

    def braces(self) -> Node:
        line, values = self.token.line, []
        self.want("{")
        while not self.take("}"):
            values.append(self.braces() if self.token.text == "{" else self.expression())
            if self.token.text != "}":
                self.want(",")
        return Node("braces", line, tuple(values))

    def _if_statement(self, line: int) -> Node:
        self.want("(")
        condition = self.expression()
        self.want(")")
        yes = self.statement()
        no = self.statement() if self.take("else") else None
        return Node("if", line, (condition, yes, no))

    def _while_statement(self, line: int) -> Node:
        self.want("(")
        condition = self.expression()
        self.want(")")
        return Node("for", line, (None, condition, None, self.statement()))

    def _do_statement(self, line: int) -> Node:
        body = self.statement()
        self.want("while")
        self.want("(")
        condition = self.expression()
        self.want(")")
        self.take(";")
        return Node("do", line, (body, condition))

    def _for_statement(self, line: int) -> Node:
        self.want("(")
        first = None if self.token.text == ";" else self.simple()
        self.want(";")
        condition = None if self.token.text == ";" else self.expression()
        self.want(";")
        step = None if self.token.text == ")" else self.simple()
        self.want(")")
        return Node("for", line, (first, condition, step, self.statement()))

    def _break_statement(self, line: int) -> Node:
        return self._word("break", line)

    def _continue_statement(self, line: int) -> Node:
        return self._word("continue", line)

    def _word(self, word: str, line: int) -> Node:
        if self.token.kind != "end":
            self.want(";")
        return Node(word, line, ())

    def _return_statement(self, line: int) -> Node:
        value = None if self.token.text in (";", "") else self.expression()
        if self.token.kind != "end":
            self.want(";")
        return Node("return", line, (value,))


# -- preambles -------------------------------------------------------------------------------------------


class Preamble:
    """What a preamble declares."""

    def __init__(self) -> None:
        self.macros: dict[str, Any] = {}
        self.types: dict[str, tuple[str, ...]] = {}
        self.constants: dict[str, Node] = {}
        self.functions: dict[str, list[Function]] = {}


def read_preamble(text: str, types: Any = ()) -> Preamble:
    """The declarations of a preamble; ``types``: names of types that it may use."""
    made = Preamble()
    parser = Parser(tokens_of(text, made.macros), types)
    while parser.token.kind != "end":
        _read_one(parser, made)
    return made


def _read_one(parser: Parser, made: Preamble) -> None:
    line = parser.token.line
    if parser.take(";"):
        return
    if parser.take("extern") and parser.token.text == '"':
        raise refused('extern "C"', line)
    if parser.take("typedef"):
        kind = parser.type()
        _name_type(parser, made, parser.name(), kind)
        parser.want(";")
        return
    if parser.take("using"):
        name = parser.name()
        if parser.take("namespace") or name == "namespace":
            while not parser.take(";"):
                parser.at += 1
            return
        parser.want("=")
        _name_type(parser, made, name, parser.type())
        parser.want(";")
        return
    templates = _templates(parser)
    if parser.token.text in _REFUSED:
        raise refused(_REFUSED[parser.token.text], line)
    kind = parser.type()
    name = parser.name()
    if parser.take("="):
        made.constants[name] = Node("cast", line, (kind, parser.expression()))
        parser.want(";")
        return
    if parser.token.text == "[":
        raise refused(f"the array {name!r} in a preamble", line)
    params = _params(parser)
    if parser.take(";"):  # a prototype
        return
    parser.want("{")
    function = Function(name, kind, params, parser.statements("}"), templates, line)
    made.functions.setdefault(name, []).append(function)
    parser.types -= set(templates)


def _name_type(parser: Parser, made: Preamble, name: str, kind: tuple[str, ...]) -> None:
    made.types[name] = kind
    parser.types.add(name)


def _templates(parser: Parser) -> tuple[str, ...]:
    if not parser.take("template"):
        return ()
    parser.want("<")
    names = []
    while not parser.take(">"):
        if not parser.take("typename") and not parser.take("class"):
            raise refused("a template's parameter that is no type", parser.token.line)
        names.append(parser.name())
        parser.types.add(names[-1])
        parser.take(",")
    return tuple(names)


def _params(parser: Parser) -> tuple[tuple[tuple[str, ...], str], ...]:
    parser.want("(")
    made = []
    while not parser.take(")"):
        kind = parser.type()
        if parser.token.text == "&":  # a reference to a constant is a value
            if (
                parser.tokens[parser.at - 2].text != "const"
                and parser.tokens[parser.at - 1].text != "const"
            ):
                raise refused("a parameter by reference", parser.token.line)
            parser.at += 1
        if kind == ("void",):
            continue
        made.append((kind, parser.name()))
        parser.take(",")
    return tuple(made)

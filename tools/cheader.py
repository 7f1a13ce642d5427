# SPDX-License-Identifier: Apache-2.0
"""Reads the declarations of a C header: constants, enums, structs, typedefs and functions.

The header goes through the C preprocessor (``cc -E``); what comes from the folder of the header is
parsed here, the rest is skipped. Enough C for the CUDA toolkit's headers, no more. Layouts are
those of LP64 machines (x86-64 and AArch64 agree on them).
"""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, field

__all__ = ["Enum", "Function", "Header", "Member", "Record", "Type", "read_headers"]

# Built-in types: name in our tables, bytes. `size` and `char` keep their names for the
# documentation.
SCALARS = {
    "char": ("i8", 1), "signed char": ("i8", 1), "unsigned char": ("u8", 1), "short": ("i16", 2),
    "unsigned short": ("u16", 2), "int": ("i32", 4), "unsigned": ("u32", 4), "unsigned int": ("u32", 4),
    "long": ("i64", 8), "unsigned long": ("u64", 8), "long long": ("i64", 8), "signed long long": ("i64", 8),
    "unsigned long long": ("u64", 8), "unsigned long long int": ("u64", 8), "size_t": ("size", 8),
    "float": ("f32", 4), "double": ("f64", 8), "_Bool": ("u8", 1), "uint8_t": ("u8", 1),
    "uint32_t": ("u32", 4), "uint64_t": ("u64", 8), "int64_t": ("i64", 8), "int32_t": ("i32", 4),
}  # fmt: skip
SIZES = dict(SCALARS.values())
TOKEN = re.compile(
    r"[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|<<|>>|\.\.\.|'.'|\"[^\"]*\"|\S"
)
WORDS = ("unsigned", "signed", "int", "long", "short", "char", "float", "double")


@dataclass(frozen=True)
class Type:
    """`name` is a scalar of SCALARS' values, a declared name or "void"; `callback` a function
    pointer."""

    name: str
    pointers: int = 0
    const: bool = False  # what is pointed to
    counts: tuple[int, ...] = ()  # of an array
    callback: bool = False


@dataclass(frozen=True)
class Member:
    name: str
    type: Type
    offset: int = 0


@dataclass
class Enum:
    members: dict[str, int]


@dataclass
class Record:
    members: list[Member]
    size: int
    align: int
    union: bool


@dataclass(frozen=True)
class Function:
    symbol: str
    result: Type
    parameters: tuple[Member, ...]


@dataclass
class Header:
    constants: dict[str, int] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    handles: list[str] = field(default_factory=list)
    callbacks: list[str] = field(default_factory=list)
    aliases: dict[str, Type] = field(default_factory=dict)  # typedef name -> type
    functions: dict[str, Function] = field(default_factory=dict)  # by symbol
    renamed: dict[str, str] = field(default_factory=dict)  # symbol -> the name programs write
    returned: dict[str, set[str]] = field(
        default_factory=dict
    )  # written name -> out parameters by the text

    def resolve(self, type_: Type) -> Type:
        """The type with aliases of plain values followed; handles and records keep their name."""
        while not type_.callback and type_.name in self.aliases:
            target = self.aliases[type_.name]
            if target.pointers or target.callback:
                break
            counts = type_.counts + target.counts
            type_ = Type(target.name, type_.pointers, type_.const or target.const, counts)
        return type_

    def size(self, type_: Type) -> tuple[int, int]:
        """(bytes, alignment) of one element of the type."""
        type_ = self.resolve(type_)
        if (
            type_.pointers
            or type_.callback
            or type_.name in self.handles
            or type_.name in self.callbacks
        ):
            return 8, 8
        if type_.name in SIZES:
            return SIZES[type_.name], SIZES[type_.name]
        if type_.name in self.enums:
            return 4, 4
        record = self.records[type_.name]
        return record.size, record.align


def _preprocessed(folder: pathlib.Path, headers: list[str]) -> str:
    """The headers after the preprocessor, without what they include from elsewhere."""
    source = "".join(f'#include "{header}"\n' for header in headers)
    with tempfile.TemporaryDirectory() as empty:  # in place of other makers' headers
        for name in ("GL/gl.h", "EGL/egl.h", "EGL/eglext.h", "vdpau/vdpau.h"):
            path = pathlib.Path(empty) / name
            path.parent.mkdir(exist_ok=True)
            path.touch()
        command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-x", "c", f"-I{empty}", f"-I{folder}", "-"]
        run = subprocess.run(command, input=source, check=True, capture_output=True, text=True)
    text = run.stdout
    kept, inside = [], False
    for line in text.splitlines():
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            inside = pathlib.Path(mark.group(1)).parent == folder
        elif inside and not line.startswith("#"):
            kept.append(line)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)|__extension__|__inline__", "", "\n".join(kept))
    return re.sub(r"__declspec\s*\(.*?\)|__restrict\b|\bvolatile\b", "", text)


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.header = Header()
        self.values: dict[str, int] = {}

    # ---- tokens ----------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if expected is not None and token != expected:
            near = " ".join(self.tokens[max(0, self.at - 8) : self.at + 8])
            raise SyntaxError(f"expected {expected!r}, found {token!r} near: {near}")
        self.at += 1
        return token

    def skip_group(self) -> list[str]:
        """What stands between a bracket and its partner."""
        pairs = {"(": ")", "{": "}", "[": "]"}
        stack, begin = [pairs[self.take()]], self.at
        while stack:
            token = self.take()
            if token in pairs:
                stack.append(pairs[token])
            elif token == stack[-1]:
                stack.pop()
        return self.tokens[begin : self.at - 1]

    def value(self, tokens: list[str]) -> int:
        """A constant expression; casts were dropped by the caller or are simple."""
        words = []
        while "sizeof" in tokens:
            begin = tokens.index("sizeof")
            end = tokens.index(")", begin)
            tokens = [
                *tokens[:begin],
                str(self.sizeof(tokens[begin + 2 : end])),
                *tokens[end + 1 :],
            ]
        for token in tokens:
            if re.match(r"0[xX]|\d", token):
                words.append(token.rstrip("uUlL"))
            elif re.match(r"[A-Za-z_]", token):
                words.append(str(self.values[token]))
            elif re.match(r"'.'", token):
                words.append(str(ord(token[1])))
            else:
                words.append(token)
        return int(eval(" ".join(words), {"__builtins__": {}}))

    def sizeof(self, tokens: list[str]) -> int:
        if tokens[-1] == "*":
            return 8
        text = " ".join(tokens)
        return self.header.size(Type(SCALARS[text][0] if text in SCALARS else text))[0]

    # ---- declarations ----------------------------------------------------------------------------

    def parse(self) -> Header:
        while self.peek():
            start = self.at
            try:
                self.statement()
            except (SyntaxError, KeyError):
                self.at = start
                self.skip_statement()
        return self.header

    def skip_statement(self) -> None:
        while self.peek() and self.peek() != ";":
            if self.peek() in "({[":
                body = self.peek() == "{"
                self.skip_group()
                if body and self.peek() != ";":
                    return
            else:
                self.take()
        self.take()

    def statement(self) -> None:
        if self.peek() == ";":
            self.take()
            return
        if self.peek() in ("extern", "static"):
            self.take()
        if self.peek() == "typedef":
            self.take()
            self.typedef()
            return
        base = self.base_type("")
        if self.peek() == ";":
            self.take()
            return
        self.function(base)

    def typedef(self) -> None:
        # The name comes last; records and enums without a tag are called by it.
        base = self.base_type("")
        names = [self.declarator(base)]
        while self.peek() == ",":
            self.take(",")
            names.append(self.declarator(base))
        self.take(";")
        for name, type_ in names:
            self.name(base, name, type_)
            base = Type(name) if base.name.startswith("?") else base

    def name(self, base: Type, name: str, type_: Type) -> None:
        """One name of a typedef."""
        if type_.callback:
            self.header.callbacks.append(name)
        elif type_.pointers == 1 and type_.name.startswith("struct "):
            self.header.handles.append(name)
        elif base.name.startswith("?"):
            self.rename(base.name, name)
        elif (target := type_.name.removeprefix("struct ")) != name:
            self.header.aliases[name] = Type(target, type_.pointers, type_.const, type_.counts)

    def rename(self, old: str, new: str) -> None:
        for table in (self.header.records, self.header.enums):
            for key in [k for k in table if k == old or k.startswith(old + ".")]:
                table[new + key[len(old) :]] = table.pop(key)  # type: ignore[index,assignment]
        for record in self.header.records.values():
            record.members = [
                Member(
                    m.name,
                    Type(new + m.type.name[len(old) :], m.type.pointers, m.type.const, m.type.counts),
                    m.offset,
                )
                if m.type.name.startswith(old) else m
                for m in record.members
            ]  # fmt: skip

    def base_type(self, inside: str) -> Type:
        """A type without its declarator. `inside` names the record whose member is declared."""
        const = False
        while self.peek() in ("const", "static", "inline"):
            const |= self.take() == "const"
        if self.peek() in ("struct", "union", "enum"):
            type_ = self.tagged(inside)
        elif self.peek() in WORDS:
            words = []
            while self.peek() in WORDS:
                words.append(self.take())
            text = " ".join(words)
            type_ = Type(
                SCALARS.get(text.removesuffix(" int") if text != "int" else text, ("i32", 4))[0]
            )
        else:
            name = self.take()
            if not re.match(r"[A-Za-z_]", name):
                raise SyntaxError(name)
            type_ = Type(SCALARS[name][0] if name in SCALARS else name)
        if self.peek() == "const":
            const = bool(self.take())
        return Type(type_.name, type_.pointers, const, type_.counts)

    def tagged(self, inside: str) -> Type:
        kind = self.take()
        tag = self.take() if re.match(r"[A-Za-z_]", self.peek()) else ""
        if tag == "_Alignas":
            raise SyntaxError(tag)
        name = tag or (f"{inside}.{self.at}" if inside else f"?{self.at}")
        if self.peek() != "{":
            known = tag in self.header.records or tag in self.header.enums or kind == "enum"
            return Type(tag if known else f"struct {tag}")
        if kind == "enum":
            self.header.enums[name] = Enum(self.enumerators())
        else:
            self.header.records[name] = self.record(name, kind == "union")
        return Type(name)

    def enumerators(self) -> dict[str, int]:
        members: dict[str, int] = {}
        self.take("{")
        following = 0
        while self.peek() != "}":
            name = self.take()
            if self.peek() == "=":
                self.take()
                expression = []
                while self.peek() not in (",", "}"):
                    expression.append(self.take())
                following = self.value(expression)
            members[name] = self.values[name] = following
            following += 1
            if self.peek() == ",":
                self.take()
        self.take("}")
        return members

    def record(self, name: str, union: bool) -> Record:
        members: list[Member] = []
        offset, size, align = 0, 0, 1
        self.take("{")
        while self.peek() != "}":
            forced = 1
            if self.peek() == "_Alignas":
                self.take()
                forced = self.value(self.skip_group())
            base = self.base_type(name)
            while self.peek() != ";":
                if self.peek() == ",":
                    self.take()
                member, type_ = self.declarator(base)
                n_bytes, natural = self.header.size(type_)
                for count in self.header.resolve(type_).counts:
                    n_bytes *= count
                natural = max(natural, forced)
                offset = 0 if union else -(-offset // natural) * natural
                members.append(Member(member, type_, offset))
                offset += n_bytes
                size, align = max(size, offset), max(align, natural)
            else:
                if base.name.startswith(name + ".") and not any(
                    m.type.name == base.name for m in members
                ):
                    # An anonymous member: its fields belong to this record.
                    inner = self.header.records[base.name]
                    offset = 0 if union else -(-offset // inner.align) * inner.align
                    members += [Member(m.name, m.type, m.offset + offset) for m in inner.members]
                    offset += inner.size
                    size, align = max(size, offset), max(align, inner.align)
            self.take(";")
        self.take("}")
        return Record(members, -(-size // align) * align, align, union)

    def declarator(self, base: Type) -> tuple[str, Type]:
        pointers, const = base.pointers, base.const
        while self.peek() in ("*", "const"):
            pointers += self.take() == "*"
        if self.peek() == "(":  # a pointer to a function
            inner = self.skip_group()
            self.skip_group()
            return inner[-1], Type(base.name, callback=True)
        name = self.take() if re.match(r"[A-Za-z_]", self.peek()) else ""
        counts = []
        while self.peek() == "[":
            expression = self.skip_group()
            counts.append(self.value(expression) if expression else 0)
        return name, Type(base.name, pointers, const, tuple(counts))

    def function(self, base: Type) -> None:
        name, result = self.declarator(base)
        self.take("(")
        parameters: list[Member] = []
        while self.peek() != ")":
            parameter, type_ = self.declarator(self.base_type(""))
            if type_.counts:
                type_ = Type(type_.name, type_.pointers + 1, type_.const)
            parameters.append(Member(parameter, type_))
            if self.peek() == ",":
                self.take()
        self.take(")")
        if self.peek() == "{":
            self.skip_group()
        else:
            self.take(";")
        if parameters and parameters[0].type == Type("void") and not parameters[0].name:
            parameters = []
        self.header.functions[name] = Function(name, result, tuple(parameters))


def _defines(text: str, header: Header) -> None:
    """Numeric constants, and which symbol a function's written name stands for."""
    known = {m: v for e in header.enums.values() for m, v in e.members.items()}
    for name, body in re.findall(r"^[ ]*#[ ]*define[ ]+(\w+)[ ]+(.+?)\s*(?:/[*/].*)?$", text, re.M):
        target = re.sub(
            r"__CUDA_API_PT[SD][SZ]\((\w+)\)|__CUDART_API_PT[SD][SZ]\((\w+)\)", r"\1\2", body
        )
        if target in header.functions:
            if target != name:
                header.renamed[target] = name
            continue
        body = re.sub(r"\(\s*(?:unsigned int|int|size_t|CU\w+|cuda\w+)\s*\)", "", body)
        if not re.fullmatch(r"[\w\s()<>|+*~-]+", body) or name.startswith("_"):
            continue
        try:
            parser = _Parser(body)
            parser.values = {**known, **header.constants}
            header.constants.setdefault(name, parser.value(parser.tokens))
        except (KeyError, SyntaxError, NameError, TypeError):
            continue


def _texts(text: str, header: Header) -> None:
    """Parameters that the header's text calls returned."""
    for comment, code in re.findall(r"/\*\*(.*?)\*/\s*([^;/#]*?\([^;]*?\))\s*;", text, re.S):
        name = re.search(r"(\w+)\s*\(", code)
        if name:
            found = re.findall(
                r"\\param(?:\[out\])?\s+(\w+)\s+(?:-\s+)?[^\\]*?\b[Rr]eturn", comment
            )
            header.returned.setdefault(name.group(1), set()).update(found)


# Types of headers of other makers that NVIDIA's include.
_FOREIGN = """
typedef unsigned int GLuint; typedef unsigned int GLenum; typedef int EGLint;
typedef struct EGLImage *EGLImageKHR; typedef struct EGLStream *EGLStreamKHR; typedef struct EGLSync *EGLSyncKHR;
typedef unsigned int VdpDevice; typedef unsigned int VdpFuncId; typedef unsigned int VdpStatus;
typedef unsigned int VdpVideoSurface; typedef unsigned int VdpOutputSurface;
typedef VdpStatus (*VdpGetProcAddress)(VdpDevice device, VdpFuncId function, void **pointer);
"""


def read_headers(folder: pathlib.Path, headers: list[str]) -> Header:
    """The declarations of header files of one folder, and of what they include from it."""
    text = _preprocessed(folder, headers)
    header = _Parser(_FOREIGN * ("GLuint" in text) + text).parse()
    raw = "".join((folder / name).read_text(errors="replace") for name in headers)
    _defines(raw, header)
    _texts(raw, header)
    return header

# SPDX-License-Identifier: Apache-2.0
"""Makes a module of a table: reads ``NAME.api`` and builds each class and function when it is first
named.

The form of the tables is told in docs/reference/bindings.md; the conversions are in ext/bindings/.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from .. import _bindings as core

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Api", "publish", "raising"]

# Numbers of ext/bindings/bindings.h.
SCALARS = {name: i for i, name in enumerate("i8 u8 i16 u16 i32 u32 i64 u64 f32 f64".split())}
SCALARS["size"] = SCALARS["u64"]
ENUM, HANDLE, INTEGER, RECORD, POINTER, TEXT, BOOL = range(10, 17)
IN, IN_RECORD, IN_LIST, IN_PARAMS, IN_CELL, INOUT, OUT, OUT_LIST, OUT_BYTES = range(9)
FIELD, FIELD_ARRAY, FIELD_POINTER, FIELD_LIST, FIELD_PARAMS = range(9, 14)
OUT_TYPED, IN_BUFFER = 14, 15
TUPLE, CHECKED, VALUE = range(3)

# Functions that read what is at hand, so that dropping the GIL would cost more than the call. None
# of them takes a lock of the driver: a host callback may hold one while it waits for the GIL.
QUICK = {
    "cuCtxGetCurrent", "cuCtxGetDevice", "cuDeviceGet", "cuDeviceGetAttribute", "cuDeviceGetCount",
    "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString",
}  # fmt: skip

# Handles that are one thing under several names; each is taken for the others.
RELATIVES = [
    ("CUstream", "cudaStream_t"), ("CUevent", "cudaEvent_t"), ("CUgraph", "cudaGraph_t"),
    ("CUgraphNode", "cudaGraphNode_t"), ("CUgraphExec", "cudaGraphExec_t"),
    ("CUmemoryPool", "cudaMemPool_t"), ("CUlibrary", "cudaLibrary_t"),
    ("CUfunction", "CUkernel", "cudaFunction_t", "cudaKernel_t"), ("CUuserObject", "cudaUserObject_t"),
    ("CUarray", "cudaArray_t", "cudaArray_const_t"), ("CUgraphicsResource", "cudaGraphicsResource_t"),
    ("CUmipmappedArray", "cudaMipmappedArray_t", "cudaMipmappedArray_const_t"),
    ("CUexternalMemory", "cudaExternalMemory_t"), ("CUexternalSemaphore", "cudaExternalSemaphore_t"),
    ("CUgraphDeviceNode", "cudaGraphDeviceNode_t"), ("CUlogsCallbackHandle", "cudaLogsCallbackHandle"),
    ("CUasyncCallbackHandle", "cudaAsyncCallbackHandle_t"),
]  # fmt: skip


def _relatives(name: str) -> tuple[str, ...]:
    return next((group for group in RELATIVES if name in group), ())


def _record_repr(self: Any) -> str:
    """One ``field : value`` a line, nested structs indented."""
    lines = []
    for name in type(self)._fields:
        try:
            value = getattr(self, name)
        except ValueError:
            value = "<ValueError>"
        if isinstance(value, core.Record):
            lines += [f"{name} :", *("    " + line for line in repr(value).splitlines())]
        elif isinstance(value, bytes) and name == "bytes":
            lines.append(f"{name} : {value.hex()}")
        elif name in type(self)._pointers:
            lines.append(f"{name} : {value if value is None else hex(value)}")
        else:
            lines.append(f"{name} : {value if isinstance(value, str) else repr(value)}")
    return "\n".join(lines)


def _cuda_stream(self: Any) -> tuple[int, int]:
    """The stream protocol: version and address."""
    return 0, int(self)


def _new_callback(cls: Any, address: Any = 0, _ptr: int = 0, **named: Any) -> Any:
    """Instead of an address a Python callable may be given."""
    address = named.pop("init_value", address)
    if callable(address) and not isinstance(address, core.Handle):
        from ._callback import thunk

        address = thunk(cls.__name__, address)
    return core.Handle.__new__(cls, address, _ptr, **named)


class Api:
    """The table of one module, and what has been made of it."""

    def __init__(self, module: str, resolve: Callable[[str], int], special: str) -> None:
        self.module, self.find, self.special_name = module, resolve, special
        self.entries: dict[str, list[str]] = {}
        table = os.path.join(os.path.dirname(__file__), module.rpartition(".")[2] + ".api")
        with open(table, encoding="utf-8") as file:
            text = file.read()
        for entry in text.replace("\n ", " ").splitlines():
            kind, name, rest = (entry + " ").split(" ", 2)
            if kind != "#":
                self.entries[name] = [kind, name, rest.strip()]
        self.types: dict[str, Any] = {}
        self.error: Callable[[str, Any], None] = self.no_error
        self.raising = False  # functions raise by themselves: nvjitlink, nvvm
        # NVML has its peer's names beside those of C: fields of a struct's class, and other names.
        self.name_fields: Callable[[Any, str], None] = lambda cls, layout: None
        self.other_name: Callable[[Api, str], Any] | None = None

    def canonical(self, name: str) -> str:
        """The name of the table that an alias stands for."""
        while self.entries.get(name, [""])[0] == "alias":
            name = self.entries[name][2]
        return name

    @property
    def specials(self) -> dict[str, Callable[[Api, Any], Any]]:
        """Functions written by hand on top of the table's; not needed to import a module."""
        from . import _special

        return getattr(_special, self.special_name)  # type: ignore[no-any-return]

    def no_error(self, function: str, code: Any) -> None:
        raise RuntimeError(f"{function}: {code!r}")

    # ---- types -----------------------------------------------------------------------------------

    def type(self, name: str) -> Any:
        """The core's Type for a name of the table, made with its class."""
        if name not in self.types:
            if name in SCALARS:
                self.types[name] = core.Type(name, SCALARS[name], SCALARS[name])
            elif name == "bool":
                self.types[name] = core.Type(name, BOOL, SCALARS["u32"])
            elif name in ("*", "text"):
                self.types[name] = core.Type(name, TEXT if name == "text" else POINTER, 0)
            else:
                kind, _, rest = self.entries[name]
                made = getattr(self, f"make_{kind}")(name, rest)
                self.types.setdefault(name, made)
        return self.types[name]

    def bound(self, name: str, kind: int, base: int, class_: type, members: Any = None) -> Any:
        type_ = core.Type(name, kind, base, accepts=_relatives(name))
        type_.bind(class_, members) if members is not None else type_.bind(class_)
        class_._type = type_  # type: ignore[attr-defined]
        return type_

    def body(self, doc: str) -> dict[str, Any]:
        return {"__slots__": (), "__module__": self.module, "__doc__": doc}

    def make_alias(self, _name: str, target: str) -> Any:
        return self.type(target)

    def make_handle(self, name: str, _rest: str = "") -> Any:
        body = self.body(f"{name}(init_value=0, _ptr=0): an opaque handle; owns nothing.")
        if "CUstream" in _relatives(name):
            body["__cuda_stream__"] = _cuda_stream
        return self.bound(name, HANDLE, SCALARS["u64"], type(name, (core.Handle,), body))

    def make_callback(self, name: str, _rest: str = "") -> Any:
        body = self.body(
            f"{name}(address=0, _ptr=0): a pointer to a C function, or to a Python callable,\n"
            "which then lives as long as the process."
        )
        body["__new__"] = _new_callback
        return self.bound(name, HANDLE, SCALARS["u64"], type(name, (core.Handle,), body))

    def make_int(self, name: str, base: str) -> Any:
        body = self.body(f"{name}(init_value=0, _ptr=0): an integer of type {base}.")
        return self.bound(name, INTEGER, SCALARS[base], type(name, (core.Handle,), body))

    def make_enum(self, name: str, rest: str) -> Any:
        from ._enum import Enum

        pairs = (word.split("=") for word in rest.split())
        members = [(member, int(value)) for member, value in pairs]
        class_ = Enum(name, members, module=self.module)  # type: ignore[misc]
        return self.bound(name, ENUM, SCALARS["i32"], class_, class_._value2member_map_)

    def make_struct(self, name: str, rest: str) -> Any:
        import re

        layout, *words = rest.split()
        size, align = (int(n) for n in layout.split("/"))
        self.types[name] = type_ = core.Type(name, RECORD, 0, size, align)
        offsets = {w.split(":")[0]: int(w.rpartition("@")[2]) for w in words}
        fields, pointers = {}, set()
        for word in words:
            field, kind, offset = re.match(r"(\w+):(.*)@(\d+)$", word).groups()  # type: ignore[union-attr]
            fields[field] = core.Field(type_, field, *self.field(kind, int(offset), offsets))
            if kind == "*":
                pointers.add(field)
        body = self.body(f"{name}(_ptr=0, **fields): " + ", ".join(fields))
        body |= {
            "_fields": tuple(fields),
            "_pointers": pointers,
            "__repr__": _record_repr,
            "_type": type_,
            **fields,
        }
        type_.bind(type(name, (core.Record,), body))
        self.name_fields(type_.cls, rest)
        return type_

    def field(
        self, kind: str, offset: int, offsets: dict[str, int]
    ) -> tuple[Any, int, int, int, int]:
        """(type, mode, offset, count, counter) of one member."""
        if kind.startswith("["):
            element, _, counter = kind[1:].partition("#")
            return self.type(element), FIELD_LIST, offset, 1, offsets[counter]
        if kind == "params":
            return self.type("*"), FIELD_PARAMS, offset, 1, -1
        name, _, count = kind.partition("[")
        n = 1
        for factor in count.rstrip("]").split("][") if count else []:
            n *= int(factor)
        if name.startswith("*") and not count:
            return self.type(name[1:].strip("*") or "*"), FIELD_POINTER, offset, 1, -1
        mode = FIELD_ARRAY if count else FIELD
        return self.type("*" if name.startswith("*") else name), mode, offset, n, -1

    # ---- functions -------------------------------------------------------------------------------

    def parameters(self, name: str) -> dict[str, str]:
        """The parameters of a function of the table and what is said of each."""
        words = self.entries[name][2].split()[2:]
        return dict(word.split(":", 1) for word in words)  # type: ignore[misc]

    def function(
        self, name: str, answer: int = TUPLE, error: Any = None, typed: tuple[Any, ...] = ()
    ) -> Any:
        """The callable for a function of the table, as the table says it; `error` raises for it.
        `typed` is (output, input, callable): the callable gives the output's type by the input."""
        symbol, result = self.entries[name][2].split()[:2]
        params = [[*pair] for pair in self.parameters(name).items()]
        output, deciding, type_of = typed or ("", "", None)
        params = [[p, ">*" if p == output else kind] for p, kind in params]
        index = {param: i for i, (param, _) in enumerate(params)}
        rows = tuple(
            (output, self.type("*"), OUT_TYPED, index[deciding], 0)
            if param == output
            else self.param(param, kind, index)
            for param, kind in params
        )
        if result == "text" or self.entries.get(result, ["fn"])[0] == "struct":
            status = next(
                (
                    e[1]
                    for e in self.entries.values()
                    if e[0] == "enum" and "SUCCESS=0" in e[2].upper()
                ),
                "",
            )
            answer, type_ = VALUE, self.type(result)
        else:
            status, type_ = result, self.type(result)
        success = None if self.raising and answer == VALUE else next(iter(self[status]))
        return core.Function(
            name, self.module, self.doc(name, params, status), rows, type_, success, answer,
            lambda: self.find(symbol), error or (lambda function, code: self.error(function, code)),
            type_of, name in QUICK,
        )  # fmt: skip

    def param(self, name: str, kind: str, index: dict[str, int]) -> tuple[str, Any, int, int, int]:
        """(name, type, mode, counter, count) for the core; see docs/reference/bindings.md."""
        import re

        match = re.match(r"(>\[|>bytes|[>&?\[]|\*(?=\w))?([\w*]*)(?:[#:](\w+?))?(?:-(\d+))?$", kind)
        mark, base, counter, less = match.groups()  # type: ignore[union-attr]
        count = -int(less or 0)
        if counter and counter.isdigit():
            counter, count = None, int(counter)
        at = index[counter] if counter else -1
        if mark == ">bytes":
            return name, self.type("u8"), OUT_BYTES, at, int(base or 0)
        if kind == "params":
            return name, self.type("*"), IN_PARAMS, -1, 0
        if kind == "buffer":
            return name, self.type("*"), IN_BUFFER, -1, 0
        modes = {
            None: IN,
            "*": IN_RECORD,
            "[": IN_LIST,
            "?": IN_CELL,
            "&": INOUT,
            ">": OUT,
            ">[": OUT_LIST,
        }
        mode, type_ = modes[mark], self.type(base)
        if mode == IN_RECORD and self.entries.get(base, [""])[0] not in ("struct", "alias"):
            mode = IN_LIST  # a pointer to plain values
        return name, type_, mode, at, count

    @staticmethod
    def doc(name: str, params: list[list[str]], status: str) -> str:
        """The signature, the parameters with their C types and what comes back."""
        shown = {
            "size": "size_t",
            "*": "void *",
            "text": "char *",
            "buffer": "char *",
            "params": "void **",
        }
        rows = [(p, k, k.lstrip(">&?[*").split("#")[0].split(":")[0]) for p, k in params]
        inputs = [
            (p, k, shown.get(k, shown.get(t, t))) for p, k, t in rows if not k.startswith(">")
        ]
        outputs = [f"{p}: {shown.get(t, t)}" for p, k, t in rows if k[0] in ">&"]
        lines = [f"{name}({', '.join(p for p, _, _ in inputs)})", ""]
        lines += [f"{p} : {'list of ' if k[0] == '[' else ''}{t}" for p, k, t in inputs]
        return "\n".join([*lines, "", f"Returns ({', '.join([status, *outputs])})"])

    # ---- names -----------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:
        """The class, function or constant of a name."""
        kind, _, rest = self.entries[name]
        if kind == "const":
            return int(rest)
        if kind == "fn":
            made = self.function(name, CHECKED if self.raising else TUPLE)
            return self.specials[name](self, made) if name in self.specials else made
        return self.type(name).cls

    def named(self, name: str) -> Any:
        """What a name that is not of the table stands for; KeyError for no name."""
        if self.other_name is None or name.startswith("_"):
            raise KeyError(name)
        return self.other_name(self, name)

    def checked(self, name: str, error: Callable[[str, Any], None] | None = None) -> Any:
        """The form of a function that raises, by the module's `error` or another one."""
        if name not in self.specials:
            return self.function(name, CHECKED, error)
        plain = getattr(sys.modules[self.module], name)

        def call(*args: Any, **kwargs: Any) -> Any:
            status, *results = plain(*args, **kwargs)
            if status:
                (error or self.error)(name, status)
            return None if not results else results[0] if len(results) == 1 else tuple(results)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = plain.__doc__
        return call


def sizeof(object_type: Any) -> int:
    """Bytes of a class of this module in C."""
    try:
        return int(object_type._type.size)
    except AttributeError:
        raise TypeError(f"sizeof takes a class of tessera.bindings, not {object_type!r}") from None


def signature(doc: str) -> Any:
    """The inspect.Signature that the first line of a function's documentation tells."""
    from inspect import Parameter, Signature

    names = doc.partition("(")[2].partition(")")[0].split(", ")
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names if name])


def _hint(name: str, known: list[str]) -> str:
    """The nearest of thousands of names; those of Python itself are asked for too often."""
    from .._errors import did_you_mean

    near = [n for n in known if n[:1] == name[:1] and abs(len(n) - len(name)) <= 3]
    return "" if name.startswith("_") else did_you_mean(name, near)


def publish(api: Api, names: dict[str, Any]) -> None:
    """Gives a module ``__getattr__``, ``__dir__``, ``__all__`` and its ``checked`` companion."""
    namespace = sys.modules[api.module].__dict__
    public = [name for name in api.entries if not name.startswith("_")]

    def lookup(name: str) -> Any:
        try:
            found = api[name] if name in api.entries else api.named(name)
        except KeyError:
            hint = _hint(name, public)
            text = f"module {api.module!r} has no attribute {name!r}{hint}"
            raise AttributeError(text, name=name) from None
        namespace[name] = found
        return found

    namespace |= {"__getattr__": lookup, "__all__": [*public, *names], **names}
    namespace["__dir__"] = lambda: sorted({*public, *names, *namespace})
    if api.raising:
        return
    checked = type(sys)(
        f"{api.module}.checked", f"The functions of {api.module}, raising CUDAError."
    )

    def lookup_checked(name: str) -> Any:
        if api.entries.get(name, [""])[0] != "fn":
            hint = _hint(name, functions)
            text = f"module '{api.module}.checked' has no attribute {name!r}{hint}"
            raise AttributeError(text, name=name)
        found = checked.__dict__[name] = api.checked(name)
        return found

    functions = [name for name in public if api.entries[name][0] == "fn"]
    checked.__dict__.update(
        __getattr__=lookup_checked, __all__=functions, __dir__=lambda: functions
    )
    namespace["checked"] = sys.modules[checked.__name__] = checked


def raising(module: str, library: str, error: Callable[[Any], Exception]) -> tuple[Api, Any]:
    """Makes a module whose functions raise ``error(status)``: (its table, its library)."""
    from ._library import Library

    def fail(_function: str, code: Any) -> None:
        raise error(code)

    found = Library(library)
    api = Api(module, found.find, library.upper())
    api.error, api.raising = fail, True
    publish(api, {error.__name__: error})  # type: ignore[attr-defined]
    return api, found

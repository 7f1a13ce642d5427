# SPDX-License-Identifier: Apache-2.0
"""Packs a Python function for the compiler: source to ``ast`` to one flat table of 32-bit words.

The table holds the syntax tree of the function and of every helper it can reach, and what each free
name means (constants, dtypes, enum members, tile operations, modules with the attributes used), so
that the compiler never calls back. Kinds and fields of nodes come from ``src/lang/ast.def``; the
layout of the pack is described in ``src/lang/pack.h``, which reads it.

Only built-in modules are imported: the first launch of a kernel pays for nothing else.
"""

from __future__ import annotations

import _ast
import builtins
import sys
from array import array
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from . import _ast_table as tables
from . import _records as records
from . import _structs as structs
from ._errors import nearest
from ._foreign import LIBRARIES, dtype_name
from ._host import Host, Site
from ._source import FUTURES, Snapshot, place as _place, source_of, walk

__all__ = ["pack_function", "pack_kernel"]

MODULES = {"tile": "ct", "thread": "cuda"}  # what their users call the modules of the languages
DIALECTS = ("tile", "thread")  # as numbered by ts_dialect of src/lang/pack.h
MOST_CONSTANTS = 4096  # elements of an array that a kernel names
_STATEMENTS = {
    "Try": "try", "TryStar": "try", "AsyncWith": "async with", "AsyncFor": "async for",
    "AsyncFunctionDef": "async def", "ClassDef": "class", "Import": "import", "ImportFrom": "import",
    "Global": "global", "Nonlocal": "nonlocal", "Delete": "del",
    "MatchMapping": "a mapping pattern", "ListComp": "a list comprehension", "SetComp": "a set comprehension",
    "DictComp": "a dict comprehension", "Set": "a set display",
    "Await": "await", "YieldFrom": "yield from", "TypeAlias": "type",
}  # fmt: skip

_plans: dict[type, tuple[int, tuple[tuple[str, str], ...]]] = {
    getattr(_ast, name): plan for name, plan in tables.NODES.items() if hasattr(_ast, name)
}
_operators: dict[type, int] = {
    getattr(_ast, name): number for name, number in tables.OPERATORS.items()
}


# ---- objects -----------------------------------------------------------------------------------


def _is_host_array(obj: Any, most: int = MOST_CONSTANTS) -> bool:
    """An array of NumPy, small enough to be constants of a kernel."""
    kind = type(obj)
    return kind.__module__ == "numpy" and kind.__name__ == "ndarray" and 0 < obj.ndim and obj.size <= most


def _called(obj: Any) -> str:
    """What the host calls a function, with its module, or a class; else ""."""
    name, module = getattr(obj, "__qualname__", ""), getattr(obj, "__module__", "")
    owner = getattr(obj, "__self__", None)
    if not module and owner is not None:  # random.random is a method of an object
        module = type(owner).__module__
    if not isinstance(name, str) or not name or not isinstance(obj, (BuiltinFunctionType, FunctionType, MethodType)):
        return name if isinstance(name, str) else ""
    return f"{module}.{name}" if module else name


def _numpy_function(obj: Any) -> str:
    """The name of a function of NumPy, or ""."""
    kind = type(obj)
    name = str(getattr(obj, "__name__", ""))
    if kind.__module__ == "numpy" and kind.__name__ == "ufunc":
        return name
    owner = type(getattr(obj, "__self__", None))  # of np.random.rand, the generator
    module = owner.__module__ if owner.__module__.startswith("numpy.") else getattr(obj, "__module__", None) or ""
    base, _, rest = module.partition(".")
    part = rest.partition(".")[0]
    if base != "numpy" or not callable(obj) or isinstance(obj, type):
        return ""
    return f"{part}.{name}" if part in ("fft", "linalg", "random") else name


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")  # as paths have them
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


class _Packer:
    def __init__(
        self, snapshot: Snapshot | None = None, dialect: str = "tile", raises: bool = False, unbound: bool = False
    ) -> None:
        self.snapshot = snapshot
        self.dialect = dialect
        self.raises, self.unbound = raises, unbound
        self.strings: dict[str, int] = {"": 0}
        self.nodes: list[int] = [0] * 9
        self.n_nodes = 1
        self.lists: list[int] = [0]
        self.objects: list[Any] = [(0, 0, 0, 0)]
        self.by_id: dict[Any, int] = {}
        self.keep: list[Any] = []  # what ids in by_id belong to
        self.attributes: dict[int, dict[str, int]] = {}
        self.functions: list[list[int]] = []
        self.records: dict[int, type] = {}  # objects that are classes of dataclasses and named tuples
        self.names = set(records.SPECIAL)  # attributes that are used anywhere
        self.made: dict[int, Any] = {}  # number of an object -> the object, for the host
        self.callables: list[Any] = []  # the same for functions
        self.is_packed = False  # what is packed from then on comes from the host, while the kernel is compiled
        self.captured: list[Any] = []  # arrays of devices that are named: arguments that the launch adds
        self.sites: list[Site] = []
        self.links: list[Any] = []  # code of others that functions of the pack call (tessera.cuda.declare_device)

    def text(self, value: str) -> int:
        return self.strings.setdefault(value, len(self.strings))

    def list(self, items: list[int]) -> int:
        if not items:
            return 0
        at = len(self.lists)
        self.lists.append(len(items))
        self.lists += items
        return at

    def number(self, kind: int, value: int) -> tuple[int, int, int, int]:
        return kind, value & 0xFFFFFFFF, value >> 32 & 0xFFFFFFFF, 0

    # A plain value is looked up by (type, value), everything else by identity.
    def object(self, obj: Any) -> int:
        plain = type(obj) in (bool, int, float, complex, str)
        key = (type(obj), repr(obj)) if plain else id(obj)
        at = self.by_id.get(key)
        if at is None:
            at = self.by_id[key] = self.make(obj, key)
            self.made[at] = obj
            self.keep.append(obj)
        return at

    def add(self, kind: int, x: int = 0, y: int = 0, z: int = 0) -> int:
        self.objects.append((kind, x, y, z))
        return len(self.objects) - 1

    def make(self, obj: Any, key: Any) -> int:
        kind = type(obj)
        if obj is None:
            return self.add(tables.NONE)
        if obj is ...:
            return self.add(tables.ELLIPSIS)
        if kind is bool:
            return self.add(tables.BOOL, int(obj))
        if kind is int:
            if -(1 << 63) <= obj < 1 << 63:
                return self.add(*self.number(tables.INT, obj))
            return self.add(tables.BIGINT, self.text(hex(obj)))
        if kind is float:
            return self.add(
                *self.number(tables.FLOAT, int.from_bytes(array("d", [obj]).tobytes(), "little"))
            )
        if kind is complex:
            real, imag = self.object(obj.real), self.object(obj.imag)
            return self.add(tables.COMPLEX, real, imag)
        if kind is str:
            if "\0" in obj:  # texts of the pack end there
                return self.add(tables.OPAQUE, self.text("str with a NUL character"))
            return self.add(tables.STR, self.text(obj))
        if kind is bytes and self.dialect == "thread" and 0 not in obj:
            return self.add(tables.BYTES, self.text(obj.decode("latin-1")))
        dtype = dtype_name(obj)
        if dtype is not None:
            return self.add(tables.DTYPE, self.text(dtype))
        return self.make_other(obj, key)

    def make_other(self, obj: Any, key: Any) -> int:
        known = self.overloads()
        resolver = known and known.resolver_of(obj)
        if resolver is not None:
            return self.make_callable(resolver, obj, key)
        return self.make_plain(obj.function if known and isinstance(obj, known.Original) else obj, key)

    def make_plain(self, obj: Any, key: Any) -> int:
        if self.dialect == "thread":
            element = structs.element_of(obj)
            if element is not None:
                return structs.pack_element(self, element)
            if structs.is_constant(obj, MOST_CONSTANTS):
                return structs.pack_constant(self, obj)
        if records.is_record(type(obj)):
            return self.make_instance_of(type(obj), obj)
        if records.is_record(obj):
            return self.make_record(obj)
        if isinstance(obj, (tuple, list)) or _is_host_array(obj):  # a list and an array as they are now
            return self.add(tables.TUPLE, self.list([self.object(item) for item in obj]))
        may_capture = self.dialect == "thread" and not self.is_packed
        if may_capture and isinstance(getattr(obj, "__cuda_array_interface__", None), dict):
            self.captured.append(obj)
            return self.add(tables.CAPTURED, len(self.captured) - 1)
        if type(obj) is dict:
            words = [word for pair in obj.items() for word in map(self.object, pair)]
            return self.add(tables.DICT, self.list(words))
        if isinstance(obj, ModuleType):
            return self.with_attributes(tables.MODULE, obj.__name__)
        if "__tessera_names__" in getattr(obj, "__dict__", ()):  # a class of the tile language, with its methods
            return self.with_attributes(tables.MODULE, f"{MODULES[self.dialect]}.{obj.__name__}")
        op = getattr(obj, "__tessera_op__", None)
        if isinstance(op, str):
            return self.add(tables.OP, self.text(op))
        numpy = self.dialect == "thread" and _numpy_function(obj)
        if numpy:
            return self.add(tables.BUILTIN, self.text(f"numpy.{numpy}"))
        self.links += getattr(obj, "__tessera_links__", ())
        helper = self.helper(obj)
        if isinstance(helper, FunctionType):
            return self.make_callable(helper, obj, key)
        if isinstance(obj, BuiltinFunctionType) or isinstance(obj, type):
            made = self.make_builtin(obj)
            if made:
                return made
        return self.make_instance(obj)

    @staticmethod
    def helper(obj: Any) -> Any:
        """The function behind a kernel, or behind what another compiler has made of one (numba's njit)."""
        helper = getattr(obj, "__tessera_helper__", obj)
        inner = None if isinstance(helper, (FunctionType, type)) else getattr(helper, "py_func", None)
        return inner if isinstance(inner, FunctionType) else helper

    def overloads(self) -> Any:
        """The module of overloads (tessera.cuda.extending), or None where there can be none."""
        return sys.modules.get("tessera.cuda._overloads") if self.dialect == "thread" else None

    def make_builtin(self, obj: Any) -> int:
        module, name = getattr(obj, "__module__", ""), getattr(obj, "__name__", "")
        if getattr(builtins, name, None) is obj:
            return self.add(tables.BUILTIN, self.text(name))
        if module in ("math", "cmath", "_operator"):
            return self.add(tables.BUILTIN, self.text(f"{module.lstrip('_')}.{name}"))
        if isinstance(obj, type) and hasattr(obj, "__members__"):
            at = self.by_id[id(obj)] = self.with_attributes(tables.CLASS, obj.__name__)
            for name, member in obj.__members__.items():
                self.attributes[at][name] = self.object(member)
            return at
        return 0

    def make_instance(self, obj: Any) -> int:
        kind = type(obj)
        models = sys.modules.get("tessera.cuda._models") if self.dialect == "thread" else None
        struct = models and models.constant_of(obj)
        if struct is not None:
            return self.object(struct)
        if hasattr(kind, "__members__") and hasattr(obj, "value"):
            return self.make_member_of(kind, obj)
        if (
            kind.__module__.partition(".")[0] in LIBRARIES
            and hasattr(obj, "item")
            and getattr(obj, "shape", 0) == ()
        ):
            dtype = dtype_name(obj.dtype)
            if dtype is not None:
                return self.add(tables.TYPED, self.text(dtype), self.object(obj.item()))
        if isinstance(obj, int):
            return self.object(int(obj))
        if _is_host_array(obj, most=obj.size if isinstance(getattr(obj, "size", None), int) else 0):
            more = f"at most {MOST_CONSTANTS} numbers of the host are constants; pass the array as an argument"
            return self.add(tables.OPAQUE, self.text(f"numpy.ndarray of {obj.size} numbers"), 0, self.text(more))
        name = _called(obj)
        what = f"{kind.__module__}.{kind.__qualname__}" + (f" '{name}'" if name else "")
        return self.add(tables.OPAQUE, self.text(what.removeprefix("builtins.")))

    def make_member_of(self, kind: Any, obj: Any) -> int:
        """A member of an enumeration. Its class comes first, and brings all members that have names."""
        cls = self.object(kind)
        if id(obj) in self.by_id:
            return self.by_id[id(obj)]
        which = tables.ENUM_VALUE if isinstance(obj, (int, float, str)) else tables.ENUM
        texts = [self.text(make(obj)) for make in (lambda m: str(m.name), str, format, repr)]
        return self.add(which, self.text(kind.__name__), self.list([*texts, cls]), self.object(obj.value))

    # ---- dataclasses, named tuples -------------------------------------------------------------

    def make_record(self, cls: type) -> int:
        at = self.with_attributes(tables.RECORD, cls.__name__)
        self.by_id[id(cls)] = at  # before its fields, whose defaults may be of it
        self.records[at] = cls
        record = records.record_of(cls)
        words = [record.flags, self.text(record.problem)]
        for name, has, default, flags in record.fields:
            words += [self.text(name), self.object(default) if has else 0, flags]
        self.objects[at] = (tables.RECORD, self.text(cls.__name__), 0, self.list(words))
        bases = tuple(base for base in cls.__mro__ if base is not object)
        self.attributes[at]["__mro__"] = self.object(bases)
        return at

    def make_instance_of(self, cls: type, obj: Any) -> int:
        record = records.record_of(cls)
        if not record.flags & records.TUPLE and not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            return self.add(tables.OPAQUE, self.text(f"{cls.__name__}, a dataclass that is not frozen"))
        of = self.object(cls)
        items = obj if isinstance(obj, tuple) else [getattr(obj, name, None) for name, *_ in record.fields]
        return self.add(tables.INSTANCE, of, self.list([self.object(item) for item in items]))

    def make_member(self, found: Any) -> int:
        if isinstance(found, FunctionType):
            return self.add(tables.METHOD, self.object(found), 0)
        if isinstance(found, property):
            return self.add(tables.METHOD, self.object(found.fget), 1)
        if isinstance(found, (staticmethod, classmethod)):
            return self.add(tables.METHOD, self.object(found.__func__), 2 + isinstance(found, classmethod))
        return self.object(found)

    def complete(self) -> None:
        """Adds the attributes of classes that some function names: which have them is seen only in the compiler."""
        looked: set[tuple[int, str]] = set()
        while True:
            todo = [(at, name) for at in self.records for name in sorted(self.names) if (at, name) not in looked]
            if not todo:
                return
            looked.update(todo)
            for at, name in todo:
                has, found = records.member_of(self.records[at], name)
                if has:
                    self.attributes[at][name] = self.make_member(found)

    def with_attributes(self, kind: int, name: str) -> int:
        at = self.add(kind, self.text(name))
        self.attributes[at] = {}
        return at

    # ---- functions -----------------------------------------------------------------------------

    def make_callable(self, fn: FunctionType, obj: Any, key: Any) -> int:
        if fn is getattr(sys.modules.get("dataclasses"), "replace", None):
            return self.add(tables.BUILTIN, self.text("dataclasses.replace"))
        wrapped = records.context_manager(fn)
        if wrapped is None:
            return self.make_function(fn, obj, key)
        return self.make_function(wrapped, obj, key, context=1)

    def make_function(self, fn: FunctionType, obj: Any, key: Any, context: int = 0) -> int:
        """``obj`` is the function as its callers on the host know it."""
        from ._errors import TileSyntaxError

        at = self.add(tables.FUNC, len(self.functions), context)
        self.callables.append(obj)
        self.by_id[key] = at  # before its body, which may call it
        row = [0] * 8
        self.functions.append(row)
        try:
            node, shift, source = source_of(fn, self.snapshot)
        except TileSyntaxError as exc:
            self.objects[at] = (tables.OPAQUE, self.text(str(exc)), 1, 0)
            row[1] = self.text(fn.__name__)
            return at
        walker = _Walker(self, fn, shift)
        root = walker.node(node)
        free = [word for name, obj in walker.free.items() for word in (self.text(name), obj)]
        file = self.text(fn.__code__.co_filename)
        row[:] = [root, self.text(fn.__name__), file, fn.__code__.co_firstlineno, self.text(source),
                  self.list(free), self.list(self.defaults(fn)), DIALECTS.index(self.dialect)]  # fmt: skip
        return at

    def defaults(self, fn: FunctionType) -> list[int]:
        """One object for each parameter, in the order of the `arg` nodes; 0 where there is none."""
        code, given = fn.__code__, fn.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount]
        found = [0] * (len(names) - len(given)) + [self.object(value) for value in given]
        only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        keyword = fn.__kwdefaults__ or {}
        stars = [0] if code.co_flags & 4 else []
        return found + stars + [self.object(keyword[n]) if n in keyword else 0 for n in only]

    # ---- writing -------------------------------------------------------------------------------

    def bytes(self) -> bytes:
        for at, table in self.attributes.items():
            kind, name, _, more = self.objects[at]
            words = [word for attr, obj in table.items() for word in (self.text(attr), obj)]
            self.objects[at] = (kind, name, self.list(words), more)
        offsets, blob = [], bytearray()
        for text in self.strings:
            offsets.append(len(blob))
            blob += _encoded(text) + b"\0"
        head = [
            tables.MAGIC,
            tables.VERSION,
            len(offsets),
            self.n_nodes,
            len(self.lists),
            len(self.objects),
            len(self.functions),
            len(blob),
        ]
        words = array("I", head)
        words.extend(offsets)
        words.extend(self.nodes)
        words.extend(self.lists)
        for entry in self.objects:
            words.extend(entry)
        for row in self.functions:
            words.extend(row)
        return words.tobytes() + bytes(blob)


class _Walker:
    """Packs the tree of one function and finds what its free names mean."""

    def __init__(self, packer: _Packer, fn: FunctionType, shift: int) -> None:
        self.packer = packer
        self.shift = shift
        self.is_root = len(packer.functions) == 1
        self.free: dict[str, int] = {}
        self.globals = fn.__globals__
        self.file, self.flags = fn.__code__.co_filename, fn.__code__.co_flags & FUTURES
        self.closure: dict[str, Any] = {}
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            try:
                self.closure[name] = cell.cell_contents
            except ValueError:  # not bound yet: reported as undefined where it is used
                continue
        self.local: list[set[str]] = []
        self.unbound: list[Any] = []  # of the functions around, where reads without a value are reported
        self.meant: dict[int, tuple[bool, Any]] = {}  # id of an attribute's node -> what host() said

    def lookup(self, name: str) -> tuple[bool, Any]:
        known, value = self.found(name)
        if known and type(value).__module__ == "cffi.api" and self.packer.dialect == "thread":
            from .cuda._linking import ffi  # for ffi.from_buffer(array)

            return True, ffi
        return known, value

    def found(self, name: str) -> tuple[bool, Any]:
        if any(name in scope for scope in self.local):
            return False, None
        if name in self.closure:
            return True, self.closure[name]
        if name in self.globals:
            return True, self.globals[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    # (known, value) of a Name or a chain of attributes of modules and classes.
    def host(self, node: Any) -> tuple[bool, Any]:
        if isinstance(node, _ast.Name):
            return self.lookup(node.id)
        if not isinstance(node, _ast.Attribute):
            return False, None
        meant = self.meant.get(id(node))
        if meant is None:  # a chain is looked at from its end: once for each link
            known, value = self.host(node.value)
            found = known and isinstance(value, (ModuleType, type)) and hasattr(value, node.attr)
            meant = self.meant[id(node)] = (True, getattr(value, node.attr)) if found else (False, None)
        return meant

    def resolve_attribute(self, node: Any, name: str) -> None:
        self.packer.names.add(name)
        known, value = self.host(node)
        if not known or records.is_record(value):
            return
        table = self.packer.attributes.get(self.packer.object(value))
        if table is None or name in table:
            return
        if not hasattr(value, name):
            name = nearest(name, dir(value))  # for the message
        if name:
            table[name] = self.packer.object(getattr(value, name))

    def node(self, node: Any) -> int:
        if type(node) is _ast.BinOp and self.packer.dialect == "thread":
            node = _folded(node)
        kind = type(node)
        plan = _plans.get(kind)
        if kind is _ast.Raise and isinstance(node.exc, _ast.Call) and self.static_call(node.exc) == "static_exception":
            return self.emit(_plans[_ast.Expr][0], node, [self.static(node.exc, _plans[_ast.Call], "static_exception")])
        if kind is _ast.Raise:
            return self.raised(node)
        if plan is None:
            what = _STATEMENTS.get(kind.__name__, kind.__name__)
            return self.emit(tables.NODES["Unsupported"][0], node, [self.packer.text(what)])
        if kind is _ast.Name:
            if self.unbound and id(node) in self.unbound[-1].reads:
                return self.bound(node, node.id)
            if node.id not in self.free:
                known, value = self.lookup(node.id)
                if known:
                    self.free[node.id] = self.packer.object(value)
        elif kind is _ast.Attribute:
            function = self.member_of(node, False)
            if function:
                return self.member_call(function, node, node.value, [], [])
            self.resolve_attribute(node.value, node.attr)
        elif (
            kind is _ast.Call
            and len(node.args) > 1
            and isinstance(node.func, _ast.Name)
            and node.func.id in ("getattr", "hasattr")
        ):
            if isinstance(node.args[1], _ast.Constant) and isinstance(node.args[1].value, str):
                self.resolve_attribute(node.args[0], node.args[1].value)
        elif kind is _ast.Call and self.packer.overloads() and self.member_of(node.func, True):
            function = self.member_of(node.func, True)
            return self.member_call(function, node, node.func.value, node.args, node.keywords)
        elif kind is _ast.Call and self.site_of(node.func):
            return self.site(node, self.site_of(node.func))
        elif kind is _ast.Call and self.static_call(node) == "static_exception":
            what = "static_exception() outside of raise"
            return self.emit(tables.NODES["Unsupported"][0], node, [self.packer.text(what)])
        elif kind is _ast.Call and self.static_call(node):
            return self.static(node, plan, self.static_call(node))
        elif kind is _ast.Dict and None in node.keys:
            return self.emit(tables.NODES["Unsupported"][0], node, [self.packer.text("** in a dict display")])
        elif kind is _ast.Assert and self.only_ends():
            return self.assertion(node)
        elif kind is _ast.FunctionDef or kind is _ast.Lambda:
            return self.function(node, plan)
        elif kind is _ast.GeneratorExp:
            return self.generator(node, plan)
        return self.emit(
            plan[0], node, [self.field(letter, getattr(node, name)) for name, letter in plan[1]]
        )

    def field(self, letter: str, value: Any) -> int:
        if letter == "n":
            return self.node(value) if value is not None else 0
        if letter == "l":
            return self.packer.list([number for item in value for number in self.item(item)]) if value else 0
        if letter == "s":
            return self.packer.text(value) if value is not None else 0
        if letter == "t":
            self.packer.names.update(value)
            return self.packer.list([self.packer.text(item) for item in value])
        if letter == "o":
            return self.packer.object(value)
        if letter == "e":
            return _operators[type(value)]
        if letter == "k":
            return self.packer.list([_operators[type(item)] for item in value])
        return int(value) & 0xFFFFFFFF

    def emit(self, number: int, node: Any, fields: list[int]) -> int:
        packer = self.packer
        line = getattr(node, "lineno", 1) + self.shift
        packer.nodes += (number, line, getattr(node, "col_offset", 0),
            (getattr(node, "end_lineno", None) or 1) + self.shift,
                         getattr(node, "end_col_offset", None) or 0, *fields, *(0,) * (4 - len(fields)))  # fmt: skip
        packer.n_nodes += 1
        return packer.n_nodes - 1

    def function(self, node: Any, plan: Any) -> int:
        outer = bool(self.local)
        decorators = (
            [self.node(item) for item in node.decorator_list]
            if outer and hasattr(node, "decorator_list")
            else []
        )
        defaults = self.nested_defaults(node.args) if outer else {}
        self.local.append(_bound_names(node))
        args = self.arguments(node.args, defaults)
        body = self.node(node.body) if isinstance(node, _ast.Lambda) else self.body(node)
        self.local.pop()
        if isinstance(node, _ast.Lambda):
            return self.emit(plan[0], node, [args, body])
        return self.emit(
            plan[0], node, [self.packer.text(node.name), args, body, self.packer.list(decorators)]
        )

    def body(self, node: Any) -> int:
        """The statements of a function; where reads without a value are reported, none has one at the beginning."""
        if not self.packer.unbound:
            return self.field("l", node.body)
        from ._unbound import Unbound, flag_of

        self.unbound.append(Unbound(node))
        names = sorted(self.unbound[-1].names)
        self.local[-1].update(map(flag_of, names))
        made = [self.flag(name, False, node) for name in names]
        made += [number for item in node.body for number in self.item(item)]
        self.unbound.pop()
        return self.packer.list(made)

    def item(self, node: Any) -> list[int]:
        """An item of a list; of a statement with what is noted of the names that it assigns (tessera._unbound)."""
        if not self.unbound or not isinstance(node, _ast.stmt):
            return [self.node(node)]
        unbound = self.unbound[-1]
        made = [self.flag(name, True, node) for name in unbound.first(node)]
        changed = unbound.changed(node)
        if changed:
            made.append(self.emit(_plans[_ast.Expr][0], node, [self.bound(node, changed)]))
        made.append(self.node(node))
        return made + [self.flag(name, True, node) for name in unbound.behind(node)]

    def flag(self, name: str, value: bool, at: Any) -> int:
        return self.node(self.unbound[-1].flag(name, value, at))

    def bound(self, node: Any, name: str) -> int:
        """A read of a name: reported where it has no value."""
        from .cuda._device import bound

        return self.node(self.unbound[-1].read(name, bound, node))

    def only_ends(self) -> bool:
        """Whether what raises here ends the kernel of threads, as a return does, and nobody hears of it."""
        return self.packer.dialect == "thread" and not self.packer.raises and self.is_root and len(self.local) == 1

    def assertion(self, node: Any) -> int:
        """``assert`` as ``if not test: return``."""
        test = self.node(node.test)
        fails = self.emit(_plans[_ast.UnaryOp][0], node.test, [_operators[_ast.Not], test])
        ends = self.packer.list([self.emit(_plans[_ast.Return][0], node, [0])])
        return self.emit(_plans[_ast.If][0], node, [fails, ends, 0])

    def undefined(self, node: Any) -> bool:
        """Whether it is a name that means nothing anywhere; then the builtin like it is known, for the message."""
        if not isinstance(node, _ast.Name) or self.lookup(node.id)[0] or any(node.id in names for names in self.local):
            return False
        near = nearest(node.id, [name for name, obj in vars(builtins).items() if isinstance(obj, type)])
        if near:
            self.free[near] = self.packer.object(getattr(builtins, near))
        return True

    def raised(self, node: Any) -> int:
        is_call = isinstance(node.exc, _ast.Call)
        named = node.exc.func if is_call else node.exc
        if self.packer.dialect == "thread" and self.undefined(named):
            return self.emit(_plans[_ast.Expr][0], node, [self.node(named)])
        if self.only_ends():
            return self.emit(_plans[_ast.Return][0], node, [0])
        known, value = self.host(named)
        of = value if isinstance(value, type) else type(value)
        if self.packer.dialect != "thread" or not known or not issubclass(of, BaseException):
            what = "raise" if self.packer.dialect != "thread" else "raise of what is no exception"
            return self.emit(tables.NODES["Unsupported"][0], node, [self.packer.text(what)])
        given = node.exc.args if is_call else []
        args = [self.node(arg) for arg in given]
        if isinstance(value, BaseException) and str(value):
            args = [self.emit(_plans[_ast.Constant][0], node, [self.packer.object(str(value))])]
        fields = [self.packer.object(value), self.packer.text(of.__name__), self.packer.list(args)]
        return self.emit(tables.NODES["Raise"][0], node, fields)

    def nested_defaults(self, args: Any) -> dict[str, int]:
        positional = [*args.posonlyargs, *args.args]
        pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True),
                 *zip(args.kwonlyargs, args.kw_defaults, strict=True)]  # fmt: skip
        return {arg.arg: self.node(value) for arg, value in pairs if value is not None}

    def arguments(self, args: Any, defaults: dict[str, int]) -> int:
        rows = [(tables.POSITIONAL, a) for a in args.posonlyargs]
        rows += [(tables.EITHER, a) for a in args.args]
        rows += [(tables.REST, args.vararg)] if args.vararg else []
        rows += [(tables.KEYWORD, a) for a in args.kwonlyargs]
        rows += [(tables.KEYWORDS, args.kwarg)] if args.kwarg else []
        number = tables.NODES["arg"][0]
        return self.packer.list(
            [
                self.emit(number, a, [self.packer.text(a.arg), kind, defaults.get(a.arg, 0)])
                for kind, a in rows
            ]
        )

    def generator(self, node: Any, plan: Any) -> int:
        bound = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, _ast.Name)}
        self.local.append(bound)
        generators = [self.comprehension(g, first=i == 0) for i, g in enumerate(node.generators)]
        element = self.node(node.elt)
        self.local.pop()
        return self.emit(plan[0], node, [element, self.packer.list(generators)])

    # -- expressions that the host evaluates

    def site_of(self, node: Any) -> str:
        """What Python is asked for where this is called, for messages; "" for others."""
        known, value = self.host(node)
        return getattr(value, "__tessera_site__", "") if known and isinstance(value, FunctionType) else ""

    def member_of(self, node: Any, is_method: bool) -> int:
        """The node of the function that stands for an attribute or method which some types have overloads of, or 0."""
        known = self.packer.overloads()
        if known is None or not isinstance(node, _ast.Attribute) or not isinstance(node.ctx, _ast.Load):
            return 0
        resolver = known.member_resolver(node.attr, is_method)
        if resolver is None or self.host(node)[0]:
            return 0
        name = f"{'method' if is_method else 'attribute'} {node.attr}"  # no name of Python
        self.free[name] = self.packer.object(resolver)
        return self.emit(_plans[_ast.Name][0], node, [self.packer.text(name)])

    def member_call(self, function: int, node: Any, value: Any, args: Any, keywords: Any) -> int:
        """A call of the function that stands for a member of ``value``."""
        given = self.packer.list([self.node(value), *map(self.node, args)])
        return self.emit(_plans[_ast.Call][0], node, [function, given, self.field("l", keywords)])

    def static_call(self, node: Any) -> str:
        """"static_eval" and its like where it is called under its own name, else ""."""
        known, value = self.host(node.func)
        name = getattr(value, "__tessera_op__", None) if known else None
        return name if isinstance(name, str) and name.startswith("static_") else ""

    def static(self, node: Any, plan: Any, op: str) -> int:
        of = {
            "static_iter": ("static_iter() iterable",),
            "static_assert": ("static_assert()", "static_assert() message"),
        }.get(op, (op + "()",))
        func = self.node(node.func)
        pack = self.site if op == "static_exception" else self.expression
        args = [pack(arg, of[min(i, len(of) - 1)]) for i, arg in enumerate(node.args)]
        return self.emit(plan[0], node, [func, self.packer.list(args), self.field("l", node.keywords)])

    def expression(self, node: Any, kind: str) -> int:
        """One that the front end can evaluate as Python does stays in the pack; others are the host's."""
        if not isinstance(node, _ast.Starred) and not _Plain(self).is_plain(node, kind):
            return self.site(node, kind)
        return self.node(node)

    def site(self, node: Any, kind: str) -> int:
        names: dict[str, Any] = {}
        own: set[str] = set()
        for n in walk(node):
            if isinstance(n, (_ast.NamedExpr, _ast.Yield, _ast.YieldFrom, _ast.Await)):
                word = "an assignment expression (:=)" if isinstance(n, _ast.NamedExpr) else type(n).__name__.lower()
                what = f"{word} inside {kind}"
                return self.emit(tables.NODES["Unsupported"][0], n, [self.packer.text(what)])
            if isinstance(n, _ast.arg):
                own.add(n.arg)
            elif isinstance(n, _ast.Name) and isinstance(n.ctx, _ast.Load):
                names.setdefault(n.id, n)
            elif isinstance(n, _ast.Name):
                own.add(n.id)
        local = [n for n in names if any(n in scope for scope in self.local)]
        first = [n for n in local if n not in own]
        rest = [n for n in local if n in own]
        nodes = [self.packer.list([self.node(names[n]) for n in part]) for part in (first, rest)]
        space = {n: value for n in names if n not in local for known, value in (self.lookup(n),) if known}
        made = self.emit(tables.NODES["Host"][0], node, [len(self.packer.sites), *nodes])
        self.packer.sites.append(Site(kind, self.compiled(node, [*first, *rest], space)))
        return made

    def compiled(self, node: Any, names: list[str], space: dict[str, Any]) -> FunctionType:
        """The expression as a function of local names; its other names are those of ``space``."""
        for n in walk(node):
            if hasattr(n, "lineno"):
                n.lineno += self.shift
                n.end_lineno += self.shift
        arguments = _ast.arguments(
            posonlyargs=[_place(_ast.arg(arg=n), node) for n in names],
            args=[], kwonlyargs=[], kw_defaults=[], defaults=[]
        )  # fmt: skip
        made: Any = _ast.Expression(body=_place(_ast.Lambda(args=arguments, body=node), node))
        code = compile(made, self.file, "eval", self.flags, dont_inherit=True)
        return FunctionType(code, {**space, "__builtins__": builtins})()  # type: ignore[no-any-return]

    def comprehension(self, node: Any, first: bool) -> int:
        """One ``for``; what the first one runs over is evaluated outside of the comprehension."""
        target = self.node(node.target)
        bound = self.local.pop() if first else set()
        over = self.node(node.iter)
        if first:
            self.local.append(bound)
        return self.emit(tables.NODES["comprehension"][0], node, [target, over, self.field("l", node.ifs)])


# Builtins that give the front end's values what they give Python's.
_PLAIN_CALLS = frozenset((len, range, tuple, zip, reversed, enumerate, sum, min, max, abs, int, bool, float))
_DIVIDES = (_ast.Div, _ast.FloorDiv, _ast.Mod, _ast.Pow, _ast.LShift, _ast.RShift)


class _Plain:
    """Whether the front end evaluates an expression as Python does, so that no host is asked: names, constants, tuples
    and arithmetic of them, attributes, subscripts, and a few builtins. Where Python would raise, it is asked."""

    def __init__(self, walker: _Walker) -> None:
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


def _bound_names(node: Any) -> set[str]:
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


def _folded(node: Any) -> Any:
    """What Python makes of an expression of numbers before numba reads it: 10**19 is an int of Python, not of 64 bits.

    Python itself folds it; what it leaves, as 1 // 0, stays as it is.
    """
    if not _is_constant(node):
        return node
    code = compile(_ast.Expression(node), "<kernel>", "eval")
    if code.co_stacksize != 1 or len(code.co_consts) != 1:
        return node
    made = _ast.Constant(code.co_consts[0])
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(made, name, getattr(node, name))
    return made


def pack_function(fn: FunctionType, snapshot: Snapshot | None = None, dialect: str = "tile") -> bytes:
    """The pack of ``fn`` and everything it can reach; its own function is number 0."""
    return pack_kernel(fn, snapshot, dialect)[0]


def pack_kernel(
    fn: FunctionType, snapshot: Snapshot | None = None, dialect: str = "tile", raises: bool = False,
    unbound: bool = False,
) -> tuple[bytes, Host]:
    """The pack of ``fn``, and who evaluates the expressions that it leaves to Python, if there are any.

    Parameters
    ----------
    snapshot : Snapshot, optional
        The file of ``fn`` as it was when the kernel was decorated.
    dialect : str
        The language that it is written in: "tile", or "thread" for that of ``tessera.cuda``.
    raises : bool
        Whether a kernel of threads reports exceptions; else one that raises ends.
    unbound : bool
        Whether it reports reads of names that have no value.

    Raises
    ------
    TileSyntaxError
        When the source of ``fn`` is not available.
    """
    if isinstance(fn, MethodType):
        fn = fn.__func__  # type: ignore[assignment]
    packer = _Packer(snapshot, dialect, raises, unbound)
    try:
        source_of_root = packer.object(fn)
        packer.complete()
        packer.is_packed = True
    except RecursionError:
        from ._errors import TileRecursionError

        raise TileRecursionError(
            f"'{fn.__qualname__}' ({fn.__code__.co_filename}:{fn.__code__.co_firstlineno}) nests "
            "expressions, functions or tuples too deeply for Python's recursion limit\n"
            "  help: divide the expression, or raise sys.setrecursionlimit"
        ) from None
    kind, text, missing, _ = packer.objects[source_of_root]
    if kind == tables.OPAQUE and missing:
        from ._errors import TileSyntaxError

        raise TileSyntaxError(list(packer.strings)[text])
    return packer.bytes(), Host(packer)

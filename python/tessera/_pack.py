# SPDX-License-Identifier: Apache-2.0
"""Packs a Python function for the compiler: source to ``ast`` to one flat table of 32-bit words.

The table holds the syntax tree of the function and of every helper it can reach, and what each free
name means (constants, dtypes, enum members, tile operations, modules with the attributes used), so
that the compiler never calls back. Kinds and fields of nodes come from ``src/lang/ast.def``; the
layout of the pack is described in ``src/lang/pack.h``, which reads it. ``_walker.py`` writes the nodes.

Only built-in modules are imported: the first launch of a kernel pays for nothing else.
"""

from __future__ import annotations

import builtins
import sys
from array import array
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from . import _ast_table as tables
from . import _records as records
from . import _structs as structs
from ._foreign import LIBRARIES, dtype_name
from ._host import Host, Site
from ._source import Snapshot, tree_of
from ._walker import Walker

__all__ = ["pack_function", "pack_kernel"]

MODULES = {"tile": "ct", "thread": "cuda"}  # what their users call the modules of the languages
DIALECTS = ("tile", "thread")  # as numbered by ts_dialect of src/lang/pack.h
MOST_CONSTANTS = 4096  # elements of an array that a kernel names


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
    """The name of a function of NumPy, also where it is one on our arrays (tessera.numeric, tessera.cupy), or ""."""
    kind = type(obj)
    name = str(getattr(obj, "__name__", ""))
    if kind.__name__ == "ufunc" and kind.__module__ in ("numpy", "tessera.numeric", "tessera.cupy"):
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
            self.made.setdefault(at, obj)  # the first: a type with a struct has the number of its class
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
        functools = sys.modules.get("functools")  # who has none has made no partial
        if functools and isinstance(obj, functools.partial):
            from ._partial import function_of

            return self.make_callable(function_of(obj), obj, key)
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
        struct = models and (models.record_of(obj) or models.constant_of(obj))
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
        row = [0] * 9
        self.functions.append(row)
        try:
            node, shift, source = tree_of(fn, self.snapshot)
        except TileSyntaxError as exc:
            self.objects[at] = (tables.OPAQUE, self.text(str(exc)), 1, 0)
            row[1] = self.text(fn.__name__)
            return at
        walker = Walker(self, fn, shift)
        root = walker.node(node)
        free = [word for name, obj in walker.free.items() for word in (self.text(name), obj)]
        file = self.text(fn.__code__.co_filename)
        row[:] = [root, self.text(fn.__name__), file, fn.__code__.co_firstlineno, self.text(source),
                  self.list(free), self.list(self.defaults(fn)), DIALECTS.index(self.dialect),
                  int(fn.__globals__.get("__name__", "").partition(".")[0] == __package__)]  # fmt: skip
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

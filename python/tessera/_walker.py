# SPDX-License-Identifier: Apache-2.0
"""Walks the syntax tree of one function into the nodes of a pack (``_pack.py``), and finds what its free names mean."""

from __future__ import annotations

import _ast
import builtins
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from . import _ast_table as tables
from . import _records as records
from ._errors import nearest
from ._host import Site
from ._plain import Plain, bound_names, folded
from ._source import FUTURES, compiled, place as _place, walk

if TYPE_CHECKING:
    from ._pack import _Packer

__all__ = ["Walker"]

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


def _with_starred_keys(node: Any) -> Any:
    """``{**d}`` with the key ``*d``, whose value is not looked at."""
    pairs = [(_copied(_ast.Starred(value, _ast.Load()), value), _copied(_ast.Constant(None), value)) if key is None
             else (key, value) for key, value in zip(node.keys, node.values, strict=True)]  # fmt: skip
    return _copied(_ast.Dict([key for key, _ in pairs], [value for _, value in pairs]), node)


def _with_tuples(node: Any) -> Any:
    """``x in {a, b}`` as ``x in (a, b)``."""
    inside = [type(op) in (_ast.In, _ast.NotIn) and type(part) is _ast.Set
              for op, part in zip(node.ops, node.comparators, strict=True)]  # fmt: skip
    parts = [_copied(_ast.Tuple(part.elts, _ast.Load()), part) if yes else part
             for yes, part in zip(inside, node.comparators, strict=True)]  # fmt: skip
    return _copied(_ast.Compare(node.left, node.ops, parts), node)


def _copied(made: Any, node: Any) -> Any:
    """A node that stands where another does."""
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(made, name, getattr(node, name, None))
    return made


def _moved(node: Any, lines: int) -> Any:
    """A copy of an expression, so many lines further down."""
    if isinstance(node, list):
        return [_moved(item, lines) for item in node]
    if not isinstance(node, _ast.AST):
        return node
    made = type(node)(**{name: _moved(getattr(node, name, None), lines) for name in node._fields})
    if hasattr(node, "lineno"):
        _place(made, node)
        made.lineno, made.end_lineno = node.lineno + lines, node.end_lineno + lines
    return made


class Walker:
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

    def is_of_class(self, node: Any) -> bool:
        """Whether an attribute is one of a class that is nothing else in kernels: a constant or a static method."""
        known, value = self.host(node.value)
        if not known or not isinstance(value, type) or not self.host(node)[0]:
            return False
        at = self.packer.object(value)
        return at not in self.packer.attributes and self.packer.objects[at][0] == tables.OPAQUE

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
        if type(node) in (_ast.BinOp, _ast.UnaryOp) and self.packer.dialect == "thread":
            node = folded(node)
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
            if self.is_of_class(node):
                return self.emit(_plans[_ast.Constant][0], node, [self.packer.object(self.host(node)[1])])
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
            node = _with_starred_keys(node)
        elif kind is _ast.Compare and any(type(part) is _ast.Set for part in node.comparators):
            node = _with_tuples(node)
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
        self.local.append(bound_names(node))
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
        if known and isinstance(value, type) and (value.__module__, value.__name__) == ("numpy", "dtype"):
            return "dtype()"
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
        if not isinstance(node, _ast.Starred) and not Plain(self).is_plain(node, kind):
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
        node = _moved(node, self.shift)
        arguments = _ast.arguments(
            posonlyargs=[_place(_ast.arg(arg=n), node) for n in names],
            args=[], kwonlyargs=[], kw_defaults=[], defaults=[]
        )  # fmt: skip
        made: Any = _ast.Expression(body=_place(_ast.Lambda(args=arguments, body=node), node))
        code = compiled(made, self.file, "eval", self.flags)
        return FunctionType(code, {**space, "__builtins__": builtins})()  # type: ignore[no-any-return]

    def comprehension(self, node: Any, first: bool) -> int:
        """One ``for``; what the first one runs over is evaluated outside of the comprehension."""
        target = self.node(node.target)
        bound = self.local.pop() if first else set()
        over = self.node(node.iter)
        if first:
            self.local.append(bound)
        return self.emit(tables.NODES["comprehension"][0], node, [target, over, self.field("l", node.ifs)])

# SPDX-License-Identifier: Apache-2.0
"""The types that a kernel's variables have: the kernel is compiled once more with a question to Python after each
assignment.

    x, n = f(a), 3        ─▶      x, n = f(a), 3
                                  _tessera_seen(x=x, n=n)
"""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

from .. import _core
from .._source import source_of
from . import types

if TYPE_CHECKING:
    from ._overload import Overload

__all__ = ["CodeLibrary", "TypeAnnotation", "result_of"]

_SEEN = "_tessera_seen"


class CodeLibrary:
    """The code of a kernel for one signature.

    Attributes
    ----------
    name : str
    """

    def __init__(self, overload: Overload) -> None:
        self.name, self._overload = overload.entry_name, overload

    @property
    def _linking_files(self) -> set[str]:
        """Names of the files and texts that are linked to the kernel, as ``link=`` and ``declare_device`` gave them."""
        return {str(link.name) for link in self._overload._links()}

    def get_asm_str(self, cc: Any = None) -> str:
        """PTX, for a GPU of a compute capability or the current one."""
        from ._compile import _target

        return self._overload.code(_target(cc))[0].rstrip(b"\0").decode()

    def get_llvm_str(self) -> str:
        """Raises NotImplementedError: see ``inspect_ir``."""
        return self._overload.inspect_llvm()


class TypeAnnotation:
    """What is known of a kernel's variables for one signature.

    Attributes
    ----------
    typemap : dict
        The type of each variable of the kernel's own text by name, the last where it has had several; parameters too.
        What exists only while the kernel is compiled, such as functions, has the type that overloads see.
    """

    def __init__(self, overload: Overload) -> None:
        names = overload.py_func.__code__.co_varnames[: len(overload.argtypes)]
        self.typemap: dict[str, types.Type] = dict(zip(names, overload.argtypes))
        self._find(overload)

    def _find(self, overload: Overload) -> None:
        from ._overload import Overload as Again

        def seen(**values: Any) -> None:
            from ._overloads import type_of

            self.typemap.update({name: type_of(value) for name, value in values.items()})

        seen.__tessera_site__ = "a question for types"  # type: ignore[attr-defined]
        dispatcher = overload._written
        function, text = _asking(dispatcher.py_func, seen)
        made = type(dispatcher)(function, dispatcher.options, text)
        again = Again(made, overload.argtypes)
        prepared = again._prepare()
        _core.lower_text(prepared, again._specs(prepared[-1]))

    def __str__(self) -> str:
        return "\n".join(f"# {name} : {type_}" for name, type_ in self.typemap.items())


def result_of(function: Any, args: tuple[types.Type, ...]) -> types.Type:
    """What a function of elements of these types gives."""
    from ._dispatcher import kernel_of
    from ._overload import Overload as Kernel

    names = [f"a{i}" for i in range(len(args))]
    given = ", ".join(f"{name}[0]" for name in names)
    text = f"def kernel({', '.join(names)}):\n    result = core({given})\n"
    space: dict[str, Any] = {"__name__": __name__, "core": function}
    exec(compile(text, f"<the result of {function.__name__}>", "exec"), space)
    kernel = kernel_of(space["kernel"], text)
    return Kernel(kernel, tuple(types.Array(t, 1, "C") for t in args))._type_annotation.typemap["result"]


def _asking(function: Any, seen: Any) -> tuple[Any, str]:
    """The function with questions in it, and its text."""
    tree, *_ = source_of(function)
    made: Any = _Questions().visit(ast.parse(ast.unparse(tree)).body[0])
    made.decorator_list, made.returns = [], None
    for arg in ast.walk(made.args):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    text = ast.unparse(ast.fix_missing_locations(made)) + "\n"
    space = {**function.__globals__, **inspect.getclosurevars(function).nonlocals, _SEEN: seen}
    exec(compile(text, f"<types of {function.__name__}>", "exec"), space)
    found = space[made.name]
    found.__defaults__, found.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return found, text


class _Questions(ast.NodeTransformer):
    """Puts a question behind each assignment to names, and at the begin of each loop's body."""

    def _visit_def(self, node: Any) -> Any:
        outermost, self._within = not getattr(self, "_within", False), True
        return self.generic_visit(node) if outermost else node

    visit_FunctionDef = _visit_def  # noqa: N815
    visit_Lambda = _visit_def  # noqa: N815

    def _visit_assignment(self, node: Any) -> Any:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [node, *_question(targets)]

    visit_Assign = visit_AugAssign = _visit_assignment  # noqa: N815

    def visit_AnnAssign(self, node: Any) -> Any:  # noqa: N802
        return self._visit_assignment(node) if node.value else node

    def visit_For(self, node: Any) -> Any:  # noqa: N802
        self.generic_visit(node)
        node.body[:0] = _question([node.target])
        return node


def _question(targets: list[Any]) -> list[Any]:
    found = [n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    given = [ast.keyword(name, ast.Name(name, ast.Load())) for name in dict.fromkeys(n.id for n in found)]
    return [ast.Expr(ast.Call(ast.Name(_SEEN, ast.Load()), [], given))] if given else []

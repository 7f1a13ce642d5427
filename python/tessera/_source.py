# SPDX-License-Identifier: Apache-2.0
"""The source of a function as it was imported: its text, its syntax tree, and whether both are still those of
its code object.

A kernel takes a snapshot of its file when it is decorated: what is written there later is not what was
imported. Helpers of other files are read when they are packed. Either way the tree is compiled again and its
code compared, so that an edited file is an error and never another program.

Functions of exec(), eval(), compile() and of cells have no file. The texts that they were made of are kept as they are
compiled (ext/source.c); the one that gives the function's code again is its source.

Only built-in modules are imported: the first launch of a kernel pays for nothing else.
"""

from __future__ import annotations

import _ast
import os
import sys
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ._core import kept_sources

__all__ = ["FUTURES", "Snapshot", "place", "snapshot_of", "source_of", "tree_of", "walk"]

_PY_CF_ONLY_AST = 0x400
FUTURES = 0x1FF0000  # flags of code made under `from __future__ import ...`

Snapshot = tuple[str, bytes]  # path, contents

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LONG_BEFORE = 10**10  # ns
_MOST_TREES = 1024

_latest: dict[str, tuple[tuple[int, int, int], Snapshot]] = {}
_trees: dict[int, tuple[CodeType, tuple[Any, int, str]]] = {}  # by the id of the code, which is kept


def snapshot_of(fn: FunctionType, source: str | None = None) -> Snapshot | None:
    """The file of ``fn`` as it is now, or ``source`` where it is given, or the text that was compiled; None where there
    is none. Kernels of one file share one."""
    path = fn.__code__.co_filename
    if source is not None:
        return path, source.encode("utf-8", "surrogateescape")
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            state = status.st_mtime_ns, status.st_size, status.st_ino
            known = _latest.get(path)
            if known is None or known[0] != state:
                known = _latest[path] = state, (path, file.read())
            return known[1]
    except OSError:
        text = _kept(fn.__code__)
    if text is None and path == "<string>" and fn.__module__ == "__main__":
        text = _command()
    return None if text is None else (path, text)


def _command() -> bytes | None:
    """The program of ``python -c``."""
    given = sys.orig_argv
    at = given.index("-c") if "-c" in given else len(given)
    return given[at + 1].encode("utf-8", "surrogateescape") if at + 1 < len(given) else None


def _kept(code: CodeType) -> bytes | None:
    """The text without a file that ``code`` was made of, if it was kept."""
    word = "lambda" if code.co_name == "<lambda>" else code.co_name
    try:
        texts = kept_sources(code.co_filename, word)
        texts += [text for text in kept_sources(code.co_filename, "") if not text.isascii()]  # Python normalises names
    except UnicodeEncodeError:
        return None
    return next((text for text in texts if _is_in_text("".join(_decoded(text)), code)), None)


def compiled(source: Any, file: str, mode: str, flags: int = 0) -> Any:
    """``compile`` in several threads at once. CPython counts how deep nodes nest in one place for all threads, and
    raises a SystemError where another one was at it in the meantime: then it is asked again."""
    for _ in range(100):
        try:
            return compile(source, file, mode, flags, dont_inherit=True)
        except SystemError as exc:
            error = exc
    raise error


# ---- text ------------------------------------------------------------------------------------------------


def _decoded(text: bytes) -> list[str]:
    """Lines as Python counts them: a form feed ends none."""
    if text.startswith(b"\xef\xbb\xbf"):
        text = text[3:]
    try:
        found = text.decode("utf-8")
    except UnicodeDecodeError:
        import io
        import tokenize

        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
            found = text.decode(encoding)
        except (SyntaxError, UnicodeDecodeError):  # it did not compile, either
            return []
    *lines, last = found.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [line + "\n" for line in lines] + ([last] if last else [])


def _lines_of(fn: FunctionType, snapshot: Snapshot | None) -> list[str] | None:
    """Lines of the function's file; of an interactive cell or a zipped module where ``linecache`` knows them."""
    path = fn.__code__.co_filename
    text = None if os.path.isfile(path) else _kept(fn.__code__)
    if text is not None:  # a name such as <string> is that of many texts
        return _decoded(text)
    if snapshot is not None and snapshot[0] == path:
        return _decoded(snapshot[1])
    cache: Any = sys.modules.get("linecache")
    if cache is None or path not in cache.cache:
        try:
            with open(path, "rb") as file:
                return _decoded(file.read())
        except OSError:
            import linecache as cache
    lines: list[str] = cache.getlines(path, fn.__globals__)
    if not lines and hasattr(cache, "_getlines_from_code"):  # 3.13: of prompts, by the code
        lines = cache._getlines_from_code(fn.__code__)
    return lines or None


def _last_line(code: CodeType) -> int:
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    return max([last, *(_last_line(c) for c in code.co_consts if isinstance(c, CodeType))])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parse_block(lines: list[str], first: int, last: int) -> tuple[Any, int]:
    """The first statement of the block that starts at line index ``first`` and reaches ``last``."""
    base = _indent(lines[first])
    error: SyntaxError | None = None
    end = max(last, first + 1)
    while end <= len(lines):
        while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > base):
            end += 1
        text = "".join(lines[first:end])
        if base:
            text = "if 1:\n" + text
        try:
            tree: Any = compiled(text, "<kernel>", "exec", _PY_CF_ONLY_AST)
        except SyntaxError as exc:
            error = exc
            end += 1
            continue
        body = tree.body[0].body if base and tree.body else tree.body
        if not body:  # comments and blank lines stand there now
            break
        return body[0], first - bool(base)
    raise error or SyntaxError("no statement")


_NO_SOURCE = (
    "put the function in a file (a kernel of tiles may have the text that it was made of: @ct.kernel(source=text)). "
    "That of exec, eval and compile is known where tessera.tile or tessera.cuda was imported before; Python does not "
    "keep that of a script read from stdin, nor before 3.13 of a plain prompt"
)
_ASYNC = "write def: kernels and their functions wait for nothing; the host awaits a launch with its method async_call"
_CHANGED = (
    "restart the program or reload the module, or undo the change: a function's text is compiled, and it must "
    "be that of the code that was imported"
)


def _not_available(fn: FunctionType, why: str, way_out: str = _CHANGED) -> Exception:
    from ._errors import TileSyntaxError

    return TileSyntaxError(
        f"source of '{fn.__qualname__}' is not available because {why}\n  help: {way_out}"
    )


def tree_of(fn: FunctionType, snapshot: Snapshot | None = None) -> tuple[Any, int, str]:
    """What `source_of` gives, found once for a code: a tree that must not be changed.

    Functions that are made again and again, as those of algorithms for each dtype, are read once. What is written to a
    file later changes nothing: the code is the same.
    """
    code = fn.__code__
    known = _trees.get(id(code))
    if known is None:
        while len(_trees) >= _MOST_TREES:
            _trees.pop(next(iter(_trees)), None)
        known = _trees[id(code)] = code, source_of(fn, snapshot)
    return known[1]


def source_of(fn: FunctionType, snapshot: Snapshot | None = None) -> tuple[Any, int, str]:
    """The ``ast`` node of ``fn``, what to add to its line numbers, and its source text.

    Raises
    ------
    TileSyntaxError
        When the source cannot be read, or is not that of the function any more.
    """
    code = fn.__code__
    lines = _lines_of(fn, snapshot)
    if lines is None:
        raise _not_available(fn, f"'{code.co_filename}' cannot be read", _NO_SOURCE)
    first, last = code.co_firstlineno - 1, _last_line(code)
    if first < 0 or last > len(lines):
        raise _not_available(fn, f"'{code.co_filename}' is shorter than when it was imported")
    if fn.__code__.co_name == "<lambda>":
        return _lambda_of(fn, lines)
    try:
        node, shift = _parse_block(lines, first, last)
    except SyntaxError as exc:
        raise _not_available(
            fn, f"'{code.co_filename}' changed since it was imported ({exc.msg})"
        ) from None
    if isinstance(node, _ast.AsyncFunctionDef) and node.name == code.co_name:
        raise _not_available(fn, "it is an 'async def'", _ASYNC)
    if not isinstance(node, _ast.FunctionDef) or node.name != code.co_name:
        raise _not_available(
            fn,
            f"'{code.co_filename}' changed since it was imported: line {code.co_firstlineno} holds something else now",
        )
    is_text = snapshot is not None and snapshot[0] == code.co_filename and not os.path.isfile(code.co_filename)
    if (is_text or _is_rebuilt(fn)) and not _is_code_of(node, fn) and not _is_in_file(lines, code):
        raise _not_available(
            fn,
            f"'{code.co_filename}' changed since it was imported: '{node.name}' in line "
            f"{code.co_firstlineno} is another now",
        )
    return node, shift, "".join(lines[first : (node.end_lineno or 1) + shift])


# ---- code ------------------------------------------------------------------------------------------------


def _is_rebuilt(fn: FunctionType) -> bool:
    """Whether compiling the text gives the code that was imported: cells cannot change, and loaders other than
    Python's own may have rewritten the tree."""
    if not os.path.isfile(fn.__code__.co_filename):
        return False
    loader = fn.__globals__.get("__loader__")
    kind = loader if isinstance(loader, type) else type(loader)
    return (loader is None or kind.__module__ in _LOADERS) and not _is_as_installed(fn.__code__.co_filename)


_LOADERS = ("_frozen_importlib_external", "_frozen_importlib", "zipimport")


def _is_as_installed(path: str) -> bool:
    """Whether a file of this package was written, renamed or installed long before the package was imported: then it
    is what was imported, and its code need not be compared, which is half of what reading a function takes."""
    from . import _started

    return path.startswith(_OURS) and os.stat(path).st_ctime_ns < _started - _LONG_BEFORE


def _is_code_of(node: Any, fn: FunctionType) -> bool:
    """Whether ``node``, compiled alone, gives the function's code. The compiler asks of the rest of a file only which
    names are captured, which come from an import, and which future features hold; of imports, modules are taken.
    """
    code = fn.__code__
    modules = [n for n in _all_names(code) if isinstance(fn.__globals__.get(n), ModuleType)]
    imports = [_ast.Import(names=[_ast.alias(name=n)]) for n in modules]
    arguments = _ast.arguments(
        posonlyargs=[], args=[_ast.arg(arg=n) for n in code.co_freevars], kwonlyargs=[], kw_defaults=[], defaults=[]
    )  # fmt: skip
    plain = _ast.FunctionDef(**{f: getattr(node, f) for f in node._fields if hasattr(node, f)})
    plain.decorator_list = []
    around: Any = _ast.FunctionDef(name="around", args=arguments, body=[plain], decorator_list=[])
    if "type_params" in _ast.FunctionDef._fields:
        around.type_params = []
    for made in (*imports, *arguments.args, plain, around, *(i.names[0] for i in imports)):
        place(made, node)
    return _compiles_to(_ast.Module(body=[*imports, around], type_ignores=[]), code)


def _is_in_file(lines: list[str], code: CodeType) -> bool:
    """The same by compiling the whole file: slower, and exact."""
    try:
        return _compiles_to("".join(lines), code)
    except (SyntaxError, ValueError):
        return False


def _is_in_text(text: str, code: CodeType) -> bool:
    """Whether the text gives the code, in the same line."""
    try:
        return _compiles_to(text, code, line=code.co_firstlineno)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _compiles_to(source: Any, code: CodeType, line: int | None = None) -> bool:
    wanted = _key(code)
    stack = [compiled(source, "<kernel>", "exec", code.co_flags & FUTURES)]
    while stack:
        made = stack.pop()
        if made.co_name == code.co_name and line in (None, made.co_firstlineno) and _key(made) == wanted:
            return True
        stack += [c for c in made.co_consts if isinstance(c, CodeType)]
    return False


def _all_names(code: CodeType) -> set[str]:
    inner = [_all_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*inner)


def place(made: Any, node: Any) -> Any:
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(made, name, getattr(node, name))
    return made


def _key(code: CodeType) -> Any:
    """What of a code object makes the program: not its lines, nor where it is defined."""
    return (code.co_code, tuple(map(_constant_key, code.co_consts)), code.co_names, code.co_varnames,
            code.co_freevars, code.co_cellvars, code.co_argcount, code.co_posonlyargcount,
            code.co_kwonlyargcount)  # fmt: skip


def _constant_key(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _key(value)
    if isinstance(value, str) and "<locals>" in value:  # where a nested function is defined
        return value.rpartition(".")[2]
    if isinstance(value, tuple):
        return tuple(map(_constant_key, value))
    if isinstance(value, frozenset):
        return frozenset(map(_constant_key, value))
    return type(value), repr(value)


def _lambda_of(fn: FunctionType, lines: list[str]) -> tuple[Any, int, str]:
    found = [node for node in _lambdas(_around(fn, lines)) if _is_lambda(node, fn.__code__)]
    if len(found) != 1:
        tree = compiled("".join(lines), "<kernel>", "exec", _PY_CF_ONLY_AST)
        found = [node for node in _lambdas(tree) if _is_lambda(node, fn.__code__)]
    if len(found) != 1:
        raise _not_available(
            fn,
            f"{len(found)} lambdas fit line {fn.__code__.co_firstlineno}",
            "give the lambda a name with def, or a line of its own; if the file changed, restart the program "
            "or reload the module",
        )
    first = fn.__code__.co_firstlineno - 1
    return found[0], 0, "".join(lines[first : found[0].end_lineno])


def _around(fn: FunctionType, lines: list[str]) -> Any:
    """The tree of the function or class that a lambda stands in, with the line numbers of the file; or None."""
    outer = [part for part in fn.__qualname__.split(".") if part.isidentifier()]
    words = {f"{word} {outer[-1]}" for word in ("def", "class")} if outer else set()
    first = fn.__code__.co_firstlineno - 1
    while first > 0 and " ".join(lines[first].replace("(", " ").replace(":", " ").split()[:2]) not in words:
        first -= 1
    base, end = _indent(lines[first]), first + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > base):
        end += 1
    if first == 0 or end < fn.__code__.co_firstlineno:
        return None
    before = "\n" * (first - 1) + ("if 1:\n" if base else "\n")
    try:
        return compiled(before + "".join(lines[first:end]), "<kernel>", "exec", _PY_CF_ONLY_AST)
    except SyntaxError:  # a text in it has lines that begin further left
        return None


def _lambdas(tree: Any) -> list[Any]:
    """All lambdas below a node."""
    found, todo = [], [] if tree is None else [tree]
    while todo:
        node = todo.pop()
        if type(node) is _ast.Lambda:
            found.append(node)
        for value in node.__dict__.values():
            if isinstance(value, list):
                todo += [child for child in value if isinstance(child, _ast.AST)]
            elif isinstance(value, _ast.AST):
                todo.append(value)
    return found


def _is_lambda(node: Any, code: CodeType) -> bool:
    """Whether ``code`` was made from this lambda: by the place of its body, or else by its code."""
    body = node.body
    if hasattr(code, "co_positions"):
        places = set(code.co_positions())
        if any((b.lineno, b.end_lineno, b.col_offset, b.end_col_offset) in places for b in _ends(body)):
            return True
        if any(end and end > start for _, _, start, end in places):
            return False
    if not node.lineno <= code.co_firstlineno <= node.end_lineno:
        return False
    text: Any = _ast.Expression(body=node)
    made = compiled(text, "<kernel>", "eval")
    return any(isinstance(c, CodeType) and c.co_code == code.co_code for c in made.co_consts)


def _ends(body: Any) -> list[Any]:
    """The expression and, of a conditional, its two values: no instruction has the place of the whole."""
    return [body, *_ends(body.body), *_ends(body.orelse)] if isinstance(body, _ast.IfExp) else [body]


def walk(node: Any) -> Any:
    """A node and all below it."""
    yield node
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, _ast.AST):
                yield from walk(child)

# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of docs/reference that are made from docstrings, and that of the IR's operations; --check proves
them fresh."""

from __future__ import annotations

import enum
import importlib
import inspect
import sys
from collections.abc import Iterator

import generated
import reference_ir
import reference_numeric

FOLDER = generated.ROOT / "docs/reference"
# Modules of tessera.lib, in the order of the page.
LIBRARY = ("elementwise", "reduce", "scan", "softmax", "norm", "gemm", "grouped_gemm", "attention",
           "attention_backward", "transpose", "random", "image")  # fmt: skip

# Modules of tessera.core that are imported by their own names.
CORE_MODULES = ("graph", "system", "utils")


def _signature(thing: object) -> str:
    try:
        text = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    for noise in (": 'Any'", ": Any", " -> 'Any'", " -> Any", " -> None", " -> 'None'", "'"):
        text = text.replace(noise, "")
    return text


def _entry(name: str, thing: object, level: str = "##") -> list[str]:
    doc = inspect.getdoc(thing) or ""
    lines = [f"{level} {name.rpartition('.')[2]}", "", "```", f"{name}{_signature(thing)}", "```", ""]
    return lines + (["```text", doc, "```", ""] if "\n---" in doc else [doc, ""])


def tile_page() -> Iterator[str]:
    """The operations and what surrounds a kernel, then types, annotations, enumerations, errors and dtypes."""
    import tessera.tile as ct
    from tessera.tile import _annotation, _dtype, _enum, _ops_fn, _types

    apart = {"compilation", "tune", *_types.__all__, *_enum.__all__, *_annotation.__all__, *_dtype.__all__}
    classes = [name for name in ct.__all__ if inspect.isclass(getattr(ct, name))]
    errors = [name for name in classes if issubclass(getattr(ct, name), Exception)]
    for name in sorted({*ct.__all__} - apart - {*errors}, key=lambda name: (name in vars(_ops_fn), name)):
        yield from _entry(f"ct.{name}", getattr(ct, name))
    yield from _entry("ct.foreign_pointer_dtype", ct.foreign_pointer_dtype)
    yield from _tile_types(_types)
    for name in sorted({*_annotation.__all__} & {*ct.__all__}):
        thing = getattr(ct, name)
        alone = (f"## {name}", "", _line(thing), "")
        yield from _entry(f"ct.{name}", thing) if inspect.isclass(thing) else alone
    for name in _enum.__all__:
        members = ", ".join(f"`{member}`" for member in getattr(ct, name).__members__)
        yield from (f"## {name}", "", f"{_line(getattr(ct, name))}", "", f"Members: {members}.", "")
    told = "Their texts show the file, the line and a caret, what was found and how to mend it."
    yield from ("## Errors", "", told, "")
    for name in errors:
        base = getattr(ct, name).__base__.__name__
        yield f"- `{name}` (a `{base}`): {_line(getattr(ct, name))}"
    yield from ("", "## Dtypes", "", "```text", inspect.getdoc(ct.DType) or "", "```", "")
    yield from ("| dtype | bits | |", "|---|---|---|")
    kinds = {"b": "bool, a byte in memory", "i": "signed integer", "u": "unsigned integer", "f": "float",
             "c": "complex", "r": "load, store, conversion and `mma` only"}  # fmt: skip
    yield from (f"| `{name}` | {bits} | {kinds[kind]} |" for name, bits, kind, _ in _dtype.DTYPES)
    pages = "[tile.compilation](tile.compilation.md), [tune](tune.md)"
    yield from ("", f"`compilation` and `tune` are modules: {pages}.", "")


def _line(thing: object) -> str:
    """Documentation in one line."""
    return " ".join((inspect.getdoc(thing) or getattr(thing, "__doc__", "") or "").split())


def _tile_types(types: object) -> Iterator[str]:
    """The classes of values inside kernels with their fields and methods."""
    for name in types.__all__:  # type: ignore[attr-defined]
        cls = getattr(types, name)
        yield from (f"## {name}", "", inspect.getdoc(cls) or "", "")
        members = {word: thing for word, thing in vars(cls).items() if word[0] != "_"}
        methods = {word: getattr(thing, "__func__", thing) for word, thing in members.items()}
        methods = {word: thing for word, thing in methods.items() if hasattr(thing, "__tessera_op__")}
        yield from (f"- `{word}`: {_line(thing)}" for word, thing in members.items() if word not in methods)
        yield ""
        for word, thing in methods.items():
            yield from _entry(f"{name}.{word}", thing, "###")


def lib_page() -> Iterator[str]:
    """What holds for all functions, then those of every module below what the module says of itself."""
    yield from (inspect.getdoc(importlib.import_module("tessera.lib")) or "", "")
    for name in LIBRARY:
        module = importlib.import_module(f"tessera.lib.{name}")
        yield from (f"## {name}", "", inspect.getdoc(module) or "", "")
        for word, thing in vars(module).items():
            if inspect.isfunction(thing) and thing.__module__ == module.__name__ and word[0] != "_" and "stream" in str(
                inspect.signature(thing)
            ):
                yield from _entry(f"{name}.{word}", thing, "###")


def _members(thing: type) -> Iterator[str]:
    """A line for each public method and property that says something of itself."""
    ours = {word for base in thing.__mro__ if base.__module__.startswith("tessera") for word in vars(base)}
    for word in sorted(ours):
        member = inspect.getattr_static(thing, word)
        doc = inspect.getdoc(member) if word[0] != "_" and not isinstance(member, (int, str)) else None
        if doc:
            text = doc.partition("\n--\n\n")[2] or doc
            yield f"- `{word}`: {' '.join(text.partition(chr(10) * 2)[0].split())}"


def _public(name: str, level: str) -> Iterator[str]:
    """The classes and functions of a module of tessera with their members."""
    module = importlib.import_module(f"tessera.{name}")
    for word in sorted(module.__all__):
        thing = getattr(module, word)
        if not callable(thing):
            continue
        if isinstance(thing, enum.EnumMeta):
            names = ", ".join(f"`{member}`" for member in thing.__members__)
            yield from (f"{level} {word}", "", inspect.getdoc(thing) or "", "", f"Members: {names}.", "")
            continue
        yield from _entry(f"{name}.{word}", thing, level)
        if isinstance(thing, type):
            yield from (*_members(thing), "")


def core_page() -> Iterator[str]:
    """tessera.core, then its modules."""
    yield from _public("core", "##")
    for name in CORE_MODULES:
        module = importlib.import_module(f"tessera.core.{name}")
        yield from (f"## core.{name}", "", inspect.getdoc(module) or "", "")
        yield from _public(f"core.{name}", "###")


def module_page(name: str) -> Iterator[str]:
    """A module such as tessera.tune: what it says of itself, then its classes and functions."""
    yield from ("```text", inspect.getdoc(importlib.import_module(f"tessera.{name}")) or "", "```", "")
    yield from _public(name, "##")


def coop_page() -> Iterator[str]:
    """What holds for all, then the functions of a block and of a warp, their factories last."""
    yield from (inspect.getdoc(importlib.import_module("tessera.coop")) or "", "")
    for name in ("block", "warp"):
        module = importlib.import_module(f"tessera.coop.{name}")
        yield from (f"## coop.{name}", "", inspect.getdoc(module) or "", "")
        for word in sorted(module.__all__, key=lambda word: (word.startswith("make_"), word.lower())):
            thing = getattr(module, word)
            if hasattr(thing, "__members__"):
                yield from (f"### {word}", "", f"{inspect.getdoc(thing)} Members: {', '.join(thing.__members__)}.", "")
            else:
                yield from _entry(f"coop.{name}.{word}", thing, "###")
    yield from _entry("coop.StatefulFunction", importlib.import_module("tessera.coop").StatefulFunction)


PAGES = {
    "tile": tile_page,
    "lib": lib_page,
    "compute": lambda: module_page("compute"),
    "coop": coop_page,
    "core": core_page,
    "numeric": lambda: reference_numeric.page(_entry, _signature),
    "tune": lambda: module_page("tune"),
    "tile.compilation": lambda: module_page("tile.compilation"),
    "tileir": lambda: module_page("tileir"),
    "tiles": lambda: module_page("tiles"),
}


def page(name: str) -> str:
    """A page's text."""
    if name == "ir":
        return "\n".join(reference_ir.page())
    head = [f"# tessera.{name}", "", "Made from the docstrings by `tools/reference.py`.", ""]
    return "\n".join([*head, *PAGES[name]()])


if __name__ == "__main__":
    sys.exit(generated.settle({FOLDER / f"{name}.md": page(name) for name in (*PAGES, "ir")}))

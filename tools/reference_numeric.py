# SPDX-License-Identifier: Apache-2.0
"""The page of tessera.numeric: what NumPy has not at length, the rest in tables. What is NumPy's own, objects and
programs, has NumPy's documentation."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator

UNSAID = {"ufunc": "The class of functions of elements."}  # classes whose documentation is that of their objects
MODULES = ("linalg", "fft", "random")
NUMPYS = """Other names are NumPy's: dtypes, scalar types, constants and `errstate` are its objects, and functions that
it has written in Python (`percentile`, `pad`, `polyfit`, `histogram`, the packages `polynomial` and `ma`, ...) are
its programs, run on arrays of ours; NumPy's documentation holds."""

UFUNCS = """Called as `f(x, out=None, *, where=True, casting="same_kind", order="K", dtype=None)`, with the methods
`reduce`, `accumulate`, `reduceat`, `outer` and `at`."""


def public() -> dict[str, object]:
    """The names of the package that are its own."""
    import numpy

    package = importlib.import_module("tessera.numeric")
    names = {name: getattr(package, name) for name in dir(package) if name[0] != "_"}
    return {
        name: thing
        for name, thing in names.items()
        if thing is not getattr(numpy, name, None)
        and not inspect.ismodule(thing)
        and name not in ("Any", "annotations")
    }


def _first(thing: object) -> str:
    """The first sentence of the documentation."""
    text = " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
    return text.replace("|", "\\|")


def _row(name: str, signature: str, thing: object) -> str:
    says = _first(thing) or _first(getattr(importlib.import_module("tessera.numeric"), name, None)) or UNSAID[name]
    return f"| `{name}{signature}` | {says} |".replace("<no value>", "..")


def _table(things: dict[str, object], sign: Callable[[object], str]) -> Iterator[str]:
    yield from ("| | |", "|---|---|")
    for name, thing in sorted(things.items(), key=lambda each: each[0].lower()):
        signature = sign(thing) if callable(thing) and not inspect.isclass(thing) else ""
        yield _row(name, re.sub(r"\(self(: \w+)?(, )?", "(", signature).replace("|", "\\|"), thing)
    yield ""


def page(entry: Callable[[str, object], list[str]], sign: Callable[[object], str]) -> Iterator[str]:
    """The lines; `entry` writes a name at length, `sign` its signature."""
    import numpy

    package = importlib.import_module("tessera.numeric")
    things = public()
    own = {name: thing for name, thing in things.items() if not hasattr(numpy, name)}
    ufuncs = {name: thing for name, thing in things.items() if isinstance(thing, package.ufunc) and name not in own}
    rest = {name: thing for name, thing in things.items() if name not in own and name not in ufuncs}
    yield from (inspect.getdoc(package) or "", "", NUMPYS, "", "What NumPy has not:", "")
    for name in sorted(own, key=str.lower):
        yield from entry(f"numeric.{name}", own[name])
    yield from ("## Functions of elements", "", UFUNCS, "")
    yield from _table(ufuncs, lambda thing: "")
    yield from ("## Functions and classes", "")
    yield from _table(rest, sign)
    yield from ("## ndarray", "", inspect.getdoc(package.ndarray) or "", "")
    members = {name: inspect.getattr_static(package.ndarray, name) for name in dir(package.ndarray) if name[0] != "_"}
    yield from _table(members, sign)
    for name in MODULES:
        module = importlib.import_module(f"tessera.numeric.{name}")
        words = getattr(module, "__all__", None) or dir(module)
        yield from (f"## numeric.{name}", "", _first(module), "")
        yield from _table({word: getattr(module, word) for word in words if word[0] != "_"
                           and callable(getattr(module, word))}, sign)  # fmt: skip

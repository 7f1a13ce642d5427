# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/tile.md from the docstrings of tessera.tile; --check proves it fresh."""

from __future__ import annotations

import inspect
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "tile.md"


def _signature(thing: object) -> str:
    try:
        text = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    for noise in (": 'Any'", ": Any", " -> 'Any'", " -> Any", "'"):
        text = text.replace(noise, "")
    return text


def page() -> str:
    """The page's text."""
    import tessera.tile as ct

    lines = ["# tessera.tile", "", "Made from the docstrings by `tools/reference.py`.", ""]
    for name in ct.__all__:
        thing = getattr(ct, name)
        doc = inspect.getdoc(thing)
        if (
            not (
                hasattr(thing, "__tessera_op__")
                or name in ("kernel", "launch", "function", "cdiv", "ByTarget")
            )
            or not doc
        ):
            continue
        lines += [f"## {name}", "", "```", f"ct.{name}{_signature(thing)}", "```", ""]
        lines += ["```text", doc, "```", ""] if "\n---" in doc else [doc, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    text = page()
    if "--check" in sys.argv:
        fresh = TARGET.exists() and TARGET.read_text() == text
        print(
            "docs/reference/tile.md is " + ("fresh" if fresh else "stale: run tools/reference.py")
        )
        sys.exit(0 if fresh else 1)
    TARGET.write_text(text)

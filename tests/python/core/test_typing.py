# SPDX-License-Identifier: Apache-2.0
"""What type checkers and editors read agrees with what runs."""

from __future__ import annotations

import ast
import pathlib

import pytest
from tessera import _core

ROOT = pathlib.Path(__file__).resolve().parents[3]
STUB = ast.parse((ROOT / "python" / "tessera" / "_core.pyi").read_text(encoding="utf-8"))
CLASSES = [node for node in STUB.body if isinstance(node, ast.ClassDef)]


def members(node: ast.ClassDef) -> list[str]:
    """The names a class of the stub declares, without those that only say "anything else"."""
    named = [n.name for n in node.body if isinstance(n, ast.FunctionDef)]
    typed = [n.target.id for n in node.body if isinstance(n, ast.AnnAssign)]  # type: ignore[union-attr]
    return [name for name in (*named, *typed) if name != "__getattr__"]


@pytest.mark.parametrize("node", CLASSES, ids=lambda node: node.name)
def test_the_stub_of_the_core_tells_what_there_is(node: ast.ClassDef) -> None:
    missing = [name for name in members(node) if not hasattr(getattr(_core, node.name), name)]
    assert not missing


def test_the_functions_of_the_stub_are_there() -> None:
    functions = [n.name for n in STUB.body if isinstance(n, ast.FunctionDef)]
    assert [name for name in functions if not hasattr(_core, name)] == ["__getattr__"]

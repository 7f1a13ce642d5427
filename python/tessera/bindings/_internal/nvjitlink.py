# SPDX-License-Identifier: Apache-2.0
"""Where the functions of nvJitLink are."""

from __future__ import annotations

from .. import nvjitlink as _nvjitlink

__all__: list[str] = []


def _inspect_function_pointer(name: str) -> int:
    """The address of a function by its name with two underscores, ``__nvJitLinkVersion``; 0 for none."""
    return _nvjitlink._library.symbol(name.removeprefix("__"))  # type: ignore[no-any-return,attr-defined]

# SPDX-License-Identifier: Apache-2.0
"""Where the functions of libNVVM are."""

from __future__ import annotations

from .. import nvvm as _nvvm

__all__: list[str] = []


def _inspect_function_pointer(name: str) -> int:
    """The address of a function by its name with two underscores, ``__nvvmVersion``; 0 for none."""
    return _nvvm._library.symbol(name.removeprefix("__"))  # type: ignore[no-any-return,attr-defined]

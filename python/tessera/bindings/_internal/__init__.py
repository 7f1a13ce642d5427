# SPDX-License-Identifier: Apache-2.0
"""Names that programs reach into the peer for: is a function of nvJitLink or libNVVM there, and
where?"""

from __future__ import annotations

from .. import nvjitlink as _nvjitlink
from .. import nvvm as _nvvm

__all__ = ["nvjitlink", "nvvm"]


class _Inspector:
    """``_inspect_function_pointer("__nvJitLinkVersion")`` is the address of a function of the
    library, or 0."""

    def __init__(self, find_symbol: object) -> None:
        self.find_symbol = find_symbol

    def _inspect_function_pointer(self, name: str) -> int:
        return self.find_symbol(name.removeprefix("__"))  # type: ignore[operator,no-any-return]


nvjitlink = _Inspector(_nvjitlink._library.symbol)
nvvm = _Inspector(_nvvm._library.symbol)

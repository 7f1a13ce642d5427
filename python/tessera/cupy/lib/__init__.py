# SPDX-License-Identifier: Apache-2.0
"""`tessera.numeric.lib` with CuPy's arrays."""

from typing import Any

from ...numeric import lib as _inner
from .. import _boundary

_view = _boundary.View("cupy.lib", _inner)


def __dir__() -> list[str]:
    return dir(_view)


def __getattr__(name: str) -> Any:
    return getattr(_view, name)

# SPDX-License-Identifier: Apache-2.0
"""`tessera.numeric.linalg` with CuPy's arrays."""

from typing import Any

from ..numeric import linalg as _inner
from . import _boundary

_view = _boundary.View("cupy.linalg", _inner)


def __dir__() -> list[str]:
    return dir(_view)


def __getattr__(name: str) -> Any:
    return getattr(_view, name)

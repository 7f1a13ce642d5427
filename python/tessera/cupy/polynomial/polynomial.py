# SPDX-License-Identifier: Apache-2.0
"""`tessera.numeric.polynomial.polynomial` with CuPy's arrays."""

from typing import Any

from ...numeric.polynomial import polynomial as _inner
from .. import _boundary

_view = _boundary.View("cupy.polynomial.polynomial", _inner)


def __dir__() -> list[str]:
    return dir(_view)


def __getattr__(name: str) -> Any:
    return getattr(_view, name)

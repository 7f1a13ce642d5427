# SPDX-License-Identifier: Apache-2.0
"""SciPy's functions on arrays of `tessera.numeric`: chains of its operations, and a few kernels of threads.

``from tessera.scipy import ndimage`` in place of ``from scipy import ndimage``. `tessera.cupyx.scipy` has the same
functions for CuPy's arrays. SciPy itself is not needed. A function of these modules that only SciPy has is SciPy's, on
copies in host memory, where it is installed: `tessera.numeric.fallback` says whether that is told of or refused.
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any

_MODULES = ("fft", "interpolate", "linalg", "ndimage", "signal", "spatial", "special", "stats")


def __dir__() -> list[str]:
    return [*_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'tessera.scipy' has no attribute {name!r}; it has {', '.join(_MODULES)}")

# SPDX-License-Identifier: Apache-2.0
"""`repeat`, the old name of `cupyx.profiler.benchmark`."""

from __future__ import annotations

import warnings as _warnings
from typing import Any

from .profiler import benchmark as _benchmark

__all__ = ["repeat"]


def repeat(func: Any, args: Any = (), kwargs: Any = None, n_repeat: int = 10000, **options: Any) -> Any:
    """Times of a function, by `cupyx.profiler.benchmark`."""
    _warnings.warn("cupyx.time.repeat is deprecated; use cupyx.profiler.benchmark", stacklevel=2)
    return _benchmark(func, args, kwargs, n_repeat, **options)

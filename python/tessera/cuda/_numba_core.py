# SPDX-License-Identifier: Apache-2.0
"""What ``import numba.core`` gives under ``python -m tessera run`` where numba is not installed: the modules that
extensions take from it."""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "cgutils": "cgutils", "config": "config", "errors": "errors", "extending": "extending", "imputils": "extending",
    "types": "types",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"numba is not installed, and what answers 'numba.core' here has no attribute {name!r}")
    return importlib.import_module(f"tessera.cuda.{_MODULES[name]}")

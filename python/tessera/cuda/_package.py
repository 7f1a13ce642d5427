# SPDX-License-Identifier: Apache-2.0
"""What ``import cuda`` gives under ``python -m tessera run``: the package above ``cuda.core`` and ``cuda.tile``, with
the names of kernels of threads (``cuda.threadIdx``), as tutorials write them."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'cuda' has no attribute {name!r}")
    try:
        return importlib.import_module(f"cuda.{name}")  # `from cuda import core` asks for an attribute first
    except ModuleNotFoundError:
        pass
    language = importlib.import_module("tessera.cuda._device")
    if name in language.__all__:
        return getattr(language, name)
    raise AttributeError(f"module 'cuda' has no attribute {name!r}; it has cuda.core, cuda.tile, cuda.jit")

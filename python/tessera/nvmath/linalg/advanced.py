# SPDX-License-Identifier: Apache-2.0
"""The product that nvmath-python has of cuBLASLt, by Tessera's kernels; on the CPU too."""

from __future__ import annotations

from typing import Any

from .._given import refuse as _refuse
from . import _scaled

__all__ = ["matmul"]


def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    alpha: Any = None,
    beta: Any = None,
    epilog: Any = None,
    epilog_inputs: Any = None,
    qualifiers: Any = None,
    quantization_scales: Any = None,
    options: Any = None,
    preferences: Any = None,
    algorithm: Any = None,
    stream: Any = None,
) -> Any:
    """alpha a @ b + beta c; a factor of None is 1, and beta needs c, as c needs beta."""
    _refuse(
        "linalg.advanced.matmul",
        epilog=epilog,
        epilog_inputs=epilog_inputs,
        qualifiers=qualifiers,
        quantization_scales=quantization_scales,
        options=options,
        preferences=preferences,
        algorithm=algorithm,
        stream=stream,
    )
    return _scaled("linalg.advanced.matmul", a, b, c, alpha, beta)

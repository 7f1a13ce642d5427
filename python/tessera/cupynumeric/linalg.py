# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: that of `tessera.numeric.linalg`, and what cuPyNumeric has of SciPy's."""

from __future__ import annotations

from typing import Any

from ..numeric import linalg as _linalg
from ..scipy import linalg as _scipys
from ..scipy.linalg import cho_factor, cho_solve, solve_triangular

__all__ = ["cho_factor", "cho_solve", "cholesky_solve", "expm", "solve_triangular", "tssvd"]


def cholesky_solve(
    c: Any, b: Any, lower: bool, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """x of a x = b, by Cholesky's factor of a."""
    return cho_solve((c, lower), b, overwrite_b, check_finite)


def expm(a: Any, method: str = "pade") -> Any:
    """e to the power of each matrix of a stack; "taylor" is computed as "pade" is."""
    if method not in ("pade", "taylor"):
        raise ValueError(f"Method {method} not supported.")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.size <= 1:
        raise ValueError(f"Invalid input shape for expm: {a.shape}")
    return _scipys.expm(a)


def tssvd(a: Any) -> Any:
    """The singular values and vectors of a matrix with more rows than columns: u, s, vh."""
    if a.ndim != 2 or a.size <= 1:
        raise ValueError(f"Invalid input shape for tssvd: {a.shape}")
    return tuple(_linalg.svd(a, full_matrices=False))


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_linalg)})


def __getattr__(name: str) -> Any:
    return getattr(_linalg, name)

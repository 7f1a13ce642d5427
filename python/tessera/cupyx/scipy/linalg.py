# SPDX-License-Identifier: Apache-2.0
"""`tessera.scipy.linalg` on CuPy's arrays."""

from typing import Any

from ...cupy._boundary import view_of, wrapped
from ...scipy import linalg as _inner


def _triangular(a: Any, b: Any, *args: Any, **options: Any) -> Any:
    """As SciPy's, but b may have a vector for each matrix of a stack."""
    if len(a.shape) > 2:
        if a.shape[:-2] != b.shape[: len(a.shape) - 2]:
            raise ValueError(f"incompatible batch count: shapes of a {a.shape} and b {b.shape}")
        if a.shape[:-1] == b.shape:
            return _inner.solve_triangular(a, b[..., None], *args, **options)[..., 0]
    return _inner.solve_triangular(a, b, *args, **options)


solve_triangular = wrapped(_triangular, "solve_triangular", module=__name__)
solve_triangular.__doc__ = _inner.solve_triangular.__doc__
__getattr__, __dir__ = view_of(_inner, __name__)

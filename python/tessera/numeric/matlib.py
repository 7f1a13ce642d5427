# SPDX-License-Identifier: Apache-2.0
"""NumPy's ``matlib``: the package with functions that make matrices in place of arrays."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import tessera.numeric as _np

warnings.warn(
    "numpy.matlib is deprecated since NumPy 1.19, as matrices are; use arrays of two axes",
    PendingDeprecationWarning,
    stacklevel=2,
)


def _matrix(a: Any) -> Any:
    return a.view(_np.matrix)


def empty(shape: Any, dtype: Any = None, order: Any = "C") -> Any:
    """A matrix whose elements are not set."""
    return _matrix(_np.empty(shape, dtype, order))


def ones(shape: Any, dtype: Any = None, order: Any = "C") -> Any:
    """A matrix of ones."""
    return _matrix(_np.ones(shape, dtype, order))


def zeros(shape: Any, dtype: Any = None, order: Any = "C") -> Any:
    """A matrix of zeros."""
    return _matrix(_np.zeros(shape, dtype, order))


def identity(n: int, dtype: Any = None) -> Any:
    """A square matrix with ones on its diagonal."""
    return _matrix(_np.identity(operator.index(n), dtype))


def eye(n: int, M: int | None = None, k: int = 0, dtype: Any = float, order: Any = "C") -> Any:
    """A matrix with ones on its k-th diagonal."""
    return _matrix(_np.eye(n, M, k, dtype, order))


def rand(*args: Any) -> Any:
    """A matrix of uniform random numbers; its shape is one tuple or several numbers."""
    return _np.asmatrix(_np.random.rand(*(args[0] if isinstance(args[0], tuple) else args)))


def randn(*args: Any) -> Any:
    """A matrix of normal random numbers; its shape is one tuple or several numbers."""
    return _np.asmatrix(_np.random.randn(*(args[0] if isinstance(args[0], tuple) else args)))


def repmat(a: Any, m: int, n: int) -> Any:
    """The array, of up to two axes, m times below itself and n times beside itself."""
    a = _np.asanyarray(a)
    if a.ndim > 2:
        raise ValueError(f"repmat takes arrays of up to 2 axes, found {a.ndim}")
    return _np.tile(a, (m, n))


def __getattr__(name: str) -> Any:
    return getattr(_np, name)


def __dir__() -> list[str]:
    return sorted({*dir(_np), *(name for name in globals() if not name.startswith("_"))})

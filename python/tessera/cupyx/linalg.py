# SPDX-License-Identifier: Apache-2.0
"""What CuPy has of linear algebra beyond NumPy's and SciPy's names: positive definite matrices."""

from typing import Any

from .. import numeric as tn
from ..cupy._boundary import wrapped
from ..scipy import linalg as _scipy

__all__ = ["cho_solve", "invh"]


def _inverse(a: Any) -> Any:
    """The inverse of a Hermitian, positive definite matrix.

    Raises
    ------
    LinAlgError
        It is not positive definite, or no square matrix.
    """
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise _scipy.LinAlgError(f"invh takes one square matrix, found an array of shape {a.shape}")
    half = tn.linalg.inv(tn.linalg.cholesky(a))
    return half.conj().T @ half


def _solved(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """x of a x = b, by Cholesky's factor of a: matrices or stacks of them, b with a vector or a matrix for each.

    The other triangle of the factor is not read.
    """
    c, lower = c_and_lower
    factor = (tn.tril if lower else tn.triu)(c), lower
    if c.shape[:-1] == b.shape:
        return _scipy.cho_solve(factor, b[..., None], check_finite=check_finite)[..., 0]
    return _scipy.cho_solve(factor, b, check_finite=check_finite)


invh = wrapped(_inverse, "invh", module=__name__)
cho_solve = wrapped(_solved, "cho_solve", module=__name__)

# SPDX-License-Identifier: Apache-2.0
"""NumPy's class of operators for objects that have ``__array_ufunc__``."""

from numpy.lib.mixins import NDArrayOperatorsMixin  # noqa: F401

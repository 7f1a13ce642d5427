# SPDX-License-Identifier: Apache-2.0
"""Chebyshev series."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.polynomial.chebyshev")

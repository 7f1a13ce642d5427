# SPDX-License-Identifier: Apache-2.0
"""Chebyshev series."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.polynomial.chebyshev")

# SPDX-License-Identifier: Apache-2.0
"""Polynomials and orthogonal series: NumPy's package, a Python program, on arrays of ours."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.polynomial")

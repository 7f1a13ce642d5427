# SPDX-License-Identifier: Apache-2.0
"""Laguerre series."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.polynomial.laguerre")

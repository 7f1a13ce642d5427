# SPDX-License-Identifier: Apache-2.0
"""Roots, logarithms and powers of real numbers whose results may be complex."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.lib._scimath_impl")

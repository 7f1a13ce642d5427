# SPDX-License-Identifier: Apache-2.0
"""Masked records: NumPy's module, a Python program, on arrays of ours."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.ma.mrecords")

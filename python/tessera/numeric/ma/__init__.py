# SPDX-License-Identifier: Apache-2.0
"""Masked arrays: NumPy's package, a Python program, on arrays of ours."""

from .._numpys import home
from . import mrecords as mrecords

__getattr__, __dir__ = home(globals(), "numpy.ma")

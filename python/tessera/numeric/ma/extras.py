# SPDX-License-Identifier: Apache-2.0
"""Functions of masked arrays: averages, sets, rows and columns, joining."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.ma.extras")

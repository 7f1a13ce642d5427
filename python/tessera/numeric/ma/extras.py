# SPDX-License-Identifier: Apache-2.0
"""Functions of masked arrays: averages, sets, rows and columns, joining."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.ma.extras")

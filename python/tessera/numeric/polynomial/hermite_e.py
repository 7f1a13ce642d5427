# SPDX-License-Identifier: Apache-2.0
"""Hermite series, probabilists'."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.polynomial.hermite_e")

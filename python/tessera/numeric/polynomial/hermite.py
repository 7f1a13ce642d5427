# SPDX-License-Identifier: Apache-2.0
"""Hermite series, physicists'."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.polynomial.hermite")

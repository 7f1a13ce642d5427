# SPDX-License-Identifier: Apache-2.0
"""Hermite series, probabilists'."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.polynomial.hermite_e")

# SPDX-License-Identifier: Apache-2.0
"""The base class of all series."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.polynomial._polybase")

# SPDX-License-Identifier: Apache-2.0
"""What all series use: trimming, domains, mapping."""

from .._numpys import home

__getattr__, __dir__ = home(globals(), "numpy.polynomial.polyutils")

# SPDX-License-Identifier: Apache-2.0
"""What all series use: trimming, domains, mapping."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.polynomial.polyutils")

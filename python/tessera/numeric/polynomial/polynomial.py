# SPDX-License-Identifier: Apache-2.0
"""Power series."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.polynomial.polynomial")

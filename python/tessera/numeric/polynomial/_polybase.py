# SPDX-License-Identifier: Apache-2.0
"""The base class of all series."""

from .._numpys import adopt_into

adopt_into(globals(), "numpy.polynomial._polybase")

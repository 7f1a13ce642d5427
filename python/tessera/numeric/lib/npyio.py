# SPDX-License-Identifier: Apache-2.0
"""Files of several arrays."""

from numpy.lib.npyio import DataSource  # noqa: F401

from .._io import NpzFile  # noqa: F401

# SPDX-License-Identifier: Apache-2.0
"""`tessera.scipy.interpolate` on CuPy's arrays."""

from ...cupy._boundary import view_of
from ...scipy import interpolate as _inner

__getattr__, __dir__ = view_of(_inner, __name__)

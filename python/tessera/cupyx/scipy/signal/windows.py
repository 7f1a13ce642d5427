# SPDX-License-Identifier: Apache-2.0
"""`tessera.scipy.signal.windows` on CuPy's arrays."""

from ....cupy._boundary import view_of
from ....scipy.signal import windows as _inner

__getattr__, __dir__ = view_of(_inner, __name__)

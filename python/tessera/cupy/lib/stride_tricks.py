# SPDX-License-Identifier: Apache-2.0
"""Views by strides."""

from ...numeric.lib import stride_tricks as _inner
from .._boundary import wrapped

__all__ = ["as_strided", "sliding_window_view"]

as_strided = wrapped(_inner.as_strided, module=__name__)
sliding_window_view = wrapped(_inner.sliding_window_view, module=__name__)

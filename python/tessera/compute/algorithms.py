# SPDX-License-Identifier: Apache-2.0
"""The algorithms, under the name that cuda.compute has for their module."""

from __future__ import annotations

from . import *  # noqa: F403
from . import __dict__ as _all
from ._made import MAKERS

globals().update(MAKERS)
del _all

# SPDX-License-Identifier: Apache-2.0
"""Exceptions and warnings, as numba.core.errors has them."""

from __future__ import annotations

from . import _errors
from ._errors import *

__all__ = [name for name in _errors.__all__ if name != "translated"]

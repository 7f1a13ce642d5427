# SPDX-License-Identifier: Apache-2.0
"""What extensions take from ``numba.cuda.cudaimpl``: the decorators of ``cuda.extending`` under the names there."""

from __future__ import annotations

from .extending import lower_builtin as lower
from .extending import lower_constant
from .extending import lower_getattr as lower_attr

__all__ = ["lower", "lower_attr", "lower_constant"]

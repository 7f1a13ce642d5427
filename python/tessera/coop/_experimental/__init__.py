# SPDX-License-Identifier: Apache-2.0
"""``cuda.coop._experimental``, the last name that ``cuda.coop`` had."""

from __future__ import annotations

from .. import StatefulFunction, warp
from . import block

__all__ = ["StatefulFunction", "block", "warp"]

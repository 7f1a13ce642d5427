# SPDX-License-Identifier: Apache-2.0
"""``cuda.cooperative.experimental``."""

from __future__ import annotations

from ... import StatefulFunction
from . import block, warp

__all__ = ["StatefulFunction", "block", "warp"]

# SPDX-License-Identifier: Apache-2.0
"""The factories of `tessera.coop.warp` under their older names."""

from __future__ import annotations

from ... import warp
from .._names import without_make

globals().update(without_make(warp))

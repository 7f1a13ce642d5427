# SPDX-License-Identifier: Apache-2.0
"""The factories of `tessera.coop.block` under their older names."""

from __future__ import annotations

from ... import block
from .._names import without_make

globals().update(without_make(block))

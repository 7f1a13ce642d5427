# SPDX-License-Identifier: Apache-2.0
"""``ct.tune``: the tuner with the names of ``cuda.tile.tune``. ``tessera.tune`` does more."""

from __future__ import annotations

from ..tune import Measurement, TuningResult, exhaustive_search

__all__ = ["Measurement", "TuningResult", "exhaustive_search"]

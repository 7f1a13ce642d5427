# SPDX-License-Identifier: Apache-2.0
"""How far the bits of a result are fixed."""

from __future__ import annotations

import enum

__all__ = ["Determinism"]


class Determinism(enum.IntEnum):
    """What stays the same when a reduction is done again.

    Results here are fixed for all GPUs and for the CPU, whatever is asked for: the order in which items are combined
    depends on their number only.
    """

    NOT_GUARANTEED = 0
    RUN_TO_RUN = 1
    GPU_TO_GPU = 2

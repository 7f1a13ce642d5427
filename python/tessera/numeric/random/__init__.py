# SPDX-License-Identifier: Apache-2.0
"""Random numbers: NumPy's streams, bit for bit, as arrays of ours.

``default_rng(seed)`` gives the :class:`Generator` on PCG64; ``RandomState`` and the functions of the module are the
legacy streams, on MT19937. Bit generators are NumPy's, with their state, jumps and seeds, so a stream may be drawn from
by both libraries in turn.
"""

from __future__ import annotations

from numpy.random import BitGenerator

from ._bits import MT19937, PCG64, PCG64DXSM, SFC64, Philox, SeedSequence
from ._generator import Generator, default_rng
from ._legacy import FUNCTIONS as _FUNCTIONS
from ._legacy import RandomState

globals().update(_FUNCTIONS)

__all__ = [  # noqa: PLE0604
    "MT19937",
    "PCG64",
    "PCG64DXSM",
    "SFC64",
    "BitGenerator",
    "Generator",
    "Philox",
    "RandomState",
    "SeedSequence",
    "default_rng",
    *_FUNCTIONS,
]

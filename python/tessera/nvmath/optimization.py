# SPDX-License-Identifier: Apache-2.0
"""``nvmath.optimization``, as tutorials show it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["auto_tune"]


@contextlib.contextmanager
def auto_tune() -> Iterator[None]:
    """``with nvmath.optimization.auto_tune():`` does nothing, on any device; programs that say it run unchanged.

    Products of arrays need no tuning run: their tiles follow from shape, dtype and device by the library's measured
    tables and its cost model, the same in and outside of the block. Chains of elements have nothing to choose.
    A kernel of one's own is tuned by `tessera.tune`.
    """
    yield

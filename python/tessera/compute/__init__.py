# SPDX-License-Identifier: Apache-2.0
"""Algorithms on arrays of a device, with operators of Python."""

from __future__ import annotations

from ._engine import clear_all_caches
from ._reduce import reduce_into
from ._transform import binary_transform, transform, unary_transform
from .determinism import Determinism
from .iterators import (
    CacheModifiedInputIterator, ConstantIterator, CountingIterator, DiscardIterator, PermutationIterator,
    ReverseIterator, ShuffleIterator, TransformIterator, TransformOutputIterator, ZipIterator,
)  # fmt: skip
from .op import OpKind, RawOp
from .struct import gpu_struct

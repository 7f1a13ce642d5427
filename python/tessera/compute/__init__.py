# SPDX-License-Identifier: Apache-2.0
"""Algorithms on arrays of a device, with operators of Python."""

from __future__ import annotations

from ._engine import clear_all_caches
from ._histogram import histogram_even, histogram_range
from ._made import MAKERS, deserialize, serialize
from ._proxy import ProxyArray, ProxyValue
from ._reduce import reduce_into
from ._scan import exclusive_scan, inclusive_scan
from ._search import lower_bound, upper_bound
from ._segmented import segmented_reduce
from ._select import partition, select, select_flagged, three_way_partition, unique, unique_by_key
from ._sort import DoubleBuffer, SortOrder, merge_sort, radix_sort, segmented_sort
from ._transform import binary_transform, transform, unary_transform
from .determinism import Determinism
from .iterators import (
    CacheModifiedInputIterator, ConstantIterator, CountingIterator, DiscardIterator, PermutationIterator,
    ReverseIterator, ShuffleIterator, TransformIterator, TransformOutputIterator, ZipIterator,
)  # fmt: skip
from .op import OpKind, RawOp
from .struct import gpu_struct

globals().update(MAKERS)
_BINDINGS_AVAILABLE = True

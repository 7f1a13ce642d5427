# SPDX-License-Identifier: Apache-2.0
"""Algorithms on arrays of a device: reductions, scans, selections, sorts, searches, histograms, transforms, with
operators of Python.

Arrays are those of a GPU (of anybody), of the CPU device, or of NumPy; iterators compute their items. Results go to
arrays of the caller. Names and arguments are those of ``cuda.compute``.
"""

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
from ._transform import binary_transform, for_each, transform, unary_transform
from .determinism import Determinism
from .iterators import (
    CacheModifiedInputIterator,
    ConstantIterator,
    CountingIterator,
    DiscardIterator,
    PermutationIterator,
    ReverseIterator,
    ShuffleIterator,
    TransformIterator,
    TransformOutputIterator,
    ZipIterator,
)
from .op import OpKind, RawOp
from .struct import gpu_struct

__all__ = [
    "CacheModifiedInputIterator", "ConstantIterator", "CountingIterator", "Determinism", "DiscardIterator",
    "DoubleBuffer", "OpKind", "PermutationIterator", "ProxyArray", "ProxyValue", "RawOp", "ReverseIterator",
    "ShuffleIterator", "SortOrder", "TransformIterator", "TransformOutputIterator", "ZipIterator", "binary_transform",
    "clear_all_caches", "deserialize", "exclusive_scan", "for_each", "gpu_struct", "histogram_even", "histogram_range",
    "inclusive_scan", "lower_bound", "merge_sort", "partition", "radix_sort", "reduce_into", "segmented_reduce",
    "segmented_sort", "select", "select_flagged", "serialize", "three_way_partition", "transform", "unary_transform",
    "unique", "unique_by_key", "upper_bound",
]  # fmt: skip
__all__ += MAKERS  # noqa: PLE0605

globals().update(MAKERS)
_BINDINGS_AVAILABLE = True

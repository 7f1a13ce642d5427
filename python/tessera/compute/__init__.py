# SPDX-License-Identifier: Apache-2.0
"""Algorithms on arrays of a device: reductions, scans, selections, sorts, searches, histograms, transforms, with
operators of Python.

Arrays are those of a GPU (of anybody), of the CPU device, or of NumPy; iterators compute their items. Results go to
arrays of the caller. Names and arguments are those of ``cuda.compute``.
"""

from __future__ import annotations

from ._arrange import (
    adjacent_difference,
    copy,
    fill,
    gather,
    generate,
    remove_if,
    replace_if,
    reverse,
    scatter,
    sequence,
    shuffle,
)
from ._by_key import exclusive_scan_by_key, inclusive_scan_by_key, reduce_by_key, run_length_encode
from ._engine import clear_all_caches, wait_for_code
from ._find import argmax, argmin, count_if, equal, find_if, inner_product, minmax, mismatch, transform_reduce
from ._histogram import histogram_even, histogram_range
from ._made import MAKERS, deserialize, serialize
from ._proxy import ProxyArray, ProxyValue
from ._reduce import reduce_into
from ._scan import exclusive_scan, inclusive_scan
from ._search import lower_bound, upper_bound
from ._segmented import segmented_reduce
from ._segments import segmented_exclusive_scan, segmented_inclusive_scan, segmented_sort, segmented_top_k
from ._select import partition, select, select_flagged, three_way_partition, unique, unique_by_key
from ._sets import merge, set_difference, set_intersection, set_symmetric_difference, set_union
from ._sort import DoubleBuffer, SortOrder, merge_sort, radix_sort
from ._top import nth_element, top_k
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
    "ShuffleIterator", "SortOrder", "TransformIterator", "TransformOutputIterator", "ZipIterator",
    "adjacent_difference", "argmax", "argmin", "binary_transform", "clear_all_caches", "copy", "count_if",
    "deserialize", "equal", "exclusive_scan", "exclusive_scan_by_key", "fill", "find_if", "for_each", "gather",
    "generate", "gpu_struct", "histogram_even", "histogram_range", "inclusive_scan", "inclusive_scan_by_key",
    "inner_product", "lower_bound", "merge", "merge_sort", "minmax", "mismatch", "nth_element", "partition",
    "radix_sort", "reduce_by_key", "reduce_into", "remove_if", "replace_if", "reverse", "run_length_encode",
    "scatter", "segmented_exclusive_scan", "segmented_inclusive_scan", "segmented_reduce", "segmented_sort",
    "segmented_top_k", "select", "select_flagged", "sequence", "serialize",
    "set_difference", "set_intersection", "set_symmetric_difference", "set_union", "shuffle", "three_way_partition",
    "top_k", "transform", "transform_reduce", "unary_transform", "unique", "unique_by_key", "upper_bound",
    "wait_for_code",
]  # fmt: skip
__all__ += MAKERS  # noqa: PLE0605

globals().update(MAKERS)
_BINDINGS_AVAILABLE = True

# SPDX-License-Identifier: Apache-2.0
"""Algorithms that a graph of a GPU records: nothing is waited for, and temporary memory lives as long as the graph."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from tessera import compute, cuda
from tessera.core import Device

N = 100_000
ADD = compute.OpKind.PLUS
CALLS = {
    "reduce": lambda x, y, one, s: compute.reduce_into(
        d_in=x, d_out=y, num_items=N, op=ADD, h_init=np.int64(0), stream=s
    ),
    "scan": lambda x, y, one, s: compute.inclusive_scan(d_in=x, d_out=y, num_items=one, op=ADD, stream=s),
    "select": lambda x, y, one, s: compute.select(
        d_in=x, d_out=y, d_num_selected_out=one, num_items=N, cond=lambda v: v > 3, stream=s
    ),
    "runs": lambda x, y, one, s: compute.run_length_encode(
        d_in=x, d_unique_out=y, d_lengths_out=cuda.device_array(N, np.int64), d_num_runs_out=one, num_items=N, stream=s
    ),
    "radix sort": lambda x, y, one, s: compute.radix_sort(d_in_keys=x, d_out_keys=y, num_items=one, stream=s),
    "merge sort": lambda x, y, one, s: compute.merge_sort(
        d_in_keys=x, d_out_keys=y, num_items=N, op=lambda a, b: a > b, stream=s
    ),
    "top k": lambda x, y, one, s: compute.top_k(d_in_keys=x, d_out_keys=y, num_items=N, k=one, stream=s),
    "nth": lambda x, y, one, s: compute.nth_element(d_in=x, d_out=y, num_items=N, n=7, stream=s),
    "parts": lambda x, y, one, s: compute.segmented_reduce(
        d_in=x, d_out=y, num_segments=9, start_offsets_in=x, end_offsets_in=x, op=ADD, h_init=np.int64(0), stream=s
    ),
    "parts sorted": lambda x, y, one, s: compute.segmented_sort(
        d_in_keys=x, d_out_keys=y, num_items=N, num_segments=9, start_offsets_in=x, end_offsets_in=x, stream=s
    ),
    "parts scanned": lambda x, y, one, s: compute.segmented_inclusive_scan(
        d_in=x, d_out=y, op=ADD, num_items=N, num_segments=9, start_offsets_in=x, end_offsets_in=x, stream=s
    ),
    "sets": lambda x, y, one, s: compute.set_union(
        d_in1=x, num_items1=9, d_in2=x, num_items2=9, d_out=y, d_num_out=one, stream=s
    ),
    "difference": lambda x, y, one, s: compute.adjacent_difference(d_in=x, d_out=y, num_items=N, stream=s),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_graphs_keep_temporary_memory(mock, name):
    device = Device(0)
    device.set_current()
    x, y, one = (cuda.device_array(n, np.int64) for n in (N, N, 1))
    builder = device.create_graph_builder().begin_building()
    syncs, launches, kept = mock.n_syncs, mock.n_launches, mock.n_kept
    CALLS[name](x, y, one, builder)
    graph = builder.end_building().complete()
    gc.collect()
    assert mock.n_syncs == syncs and mock.n_launches == launches  # recorded, not run
    assert mock.n_kept > kept  # objects that end with the graph
    graph.close()
    builder.close()
    del graph, builder
    gc.collect()
    assert mock.n_kept == kept

# SPDX-License-Identifier: Apache-2.0
"""Algorithms that a graph of the CPU device records, and that run whenever it is launched."""

import gc

import numpy as np
import pytest

from tessera import compute, cuda
from tessera.core import Device
from tessera.cuda._memory import deallocations

N = 30_000
X = np.random.default_rng(0).integers(0, 99, N)
ADD = compute.OpKind.PLUS
CUTS = np.array([0, 5, 5, 20_000, N])
PARTS = {"num_segments": 4, "start_offsets_in": CUTS[:-1], "end_offsets_in": CUTS[1:]}


def sorted_parts():
    return np.concatenate([np.sort(X[a:b]) for a, b in zip(CUTS, CUTS[1:])])


# What is called with an input, an output, a number on the device, and a stream; and what it gives.
CALLS = {
    "reduce": (
        lambda x, y, n, s: compute.reduce_into(d_in=x, d_out=y, num_items=n, op=ADD, h_init=np.int64(0), stream=s),
        lambda: [X.sum()],
    ),
    "scan": (
        lambda x, y, n, s: compute.inclusive_scan(d_in=x, d_out=y, num_items=N, op=ADD, stream=s),
        lambda: np.cumsum(X),
    ),
    "select": (
        lambda x, y, n, s: compute.select(
            d_in=x, d_out=y, d_num_selected_out=n, num_items=N, cond=lambda v: v > 3, stream=s
        ),
        lambda: X[X > 3],
    ),
    "radix sort": (
        lambda x, y, n, s: compute.radix_sort(d_in_keys=x, d_out_keys=y, num_items=n, stream=s),
        lambda: np.sort(X),
    ),
    "merge sort": (
        lambda x, y, n, s: compute.merge_sort(
            d_in_keys=x, d_out_keys=y, num_items=N, op=lambda a, b: a < b, stream=s
        ),
        lambda: np.sort(X),
    ),
    "top k": (
        lambda x, y, n, s: compute.top_k(d_in_keys=x, d_out_keys=y, num_items=N, k=77, largest=False, stream=s),
        lambda: np.sort(X)[:77],
    ),
    "sorted parts": (
        lambda x, y, n, s: compute.segmented_sort(d_in_keys=x, d_out_keys=y, num_items=N, stream=s, **PARTS),
        sorted_parts,
    ),
    "sums of parts": (
        lambda x, y, n, s: compute.segmented_reduce(d_in=x, d_out=y, op=ADD, h_init=np.int64(0), stream=s, **PARTS),
        lambda: [X[a:b].sum() for a, b in zip(CUTS, CUTS[1:])],
    ),
    "union": (
        lambda x, y, n, s: compute.set_union(
            d_in1=compute.CountingIterator(np.int64(0)), num_items1=50, d_in2=np.arange(25, 90), num_items2=65, d_out=y,
            d_num_out=n, stream=s,
        ),
        lambda: np.arange(90),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_graphs_run_algorithms_again(name):
    call, wanted = CALLS[name]
    want = np.asarray(wanted())
    device = Device("cpu")
    device.set_current()
    x, y, n = cuda.to_device(np.zeros_like(X)), cuda.to_device(np.zeros_like(X)), cuda.to_device(np.array([N]))
    builder = device.create_graph_builder().begin_building()
    call(x, y, n, builder)
    graph = builder.end_building().complete()
    gc.collect()
    deallocations.clear()  # which otherwise happens after ten more arrays have ended
    words = [cuda.to_device(np.full(1, 77, np.int32)) for _ in range(9)]
    others = [cuda.to_device(np.full(N, 77)) for _ in range(9)]  # would be where temporary memory was
    stream = device.create_stream()
    x.copy_to_device(X)
    for _ in range(2):
        y.copy_to_device(np.zeros_like(X))
        if name in ("reduce", "radix sort"):
            n.copy_to_device(np.array([N]))
        graph.launch(stream)
        stream.sync()
        assert np.array_equal(y.copy_to_host()[: want.size], want)
    assert all((other.copy_to_host() == 77).all() for other in [*others, *words])

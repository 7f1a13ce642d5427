# SPDX-License-Identifier: Apache-2.0
"""Histograms of the items of a block, and runs made into items again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..cuda import _device as cuda
from ..cuda._device import refuse
from ._block_scan import exclusive_sum
from ._items import items_of
from ._values import block_size, linear, shared_like

__all__ = ["Runs", "histogram", "run_length_decoder"]

ALGORITHMS = ("atomic", "sort")
ALGORITHM_NAMES = ", ".join(ALGORITHMS)


def histogram(
    items: Any, counts: Any, *, threads: Any, clear: bool = True, algorithm: str = "atomic", sync: bool = True
) -> Any:
    """Counts the items of a block by their values.

    Parameters
    ----------
    items : integer or items
        Numbers of bins that each thread has; what is below 0, or beyond the bins, is not counted.
    counts : array
        One dimension, of integers of 32 or 64 bits, in shared memory or any other: an element for each bin.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.
    clear : bool
        The counts begin at 0; else at what the array has.
    algorithm : str
        ``"atomic"``, ``"sort"``: names of CUB's, one and the same here.
    sync : bool
        Ends with a barrier: all threads see the counts.

    Returns
    -------
    array
        ``counts``.
    """
    if algorithm not in ALGORITHMS:
        refuse(f"algorithm={algorithm!r}: histogram() has {ALGORITHM_NAMES}")
    bins = len(counts)
    if clear:
        for i in range(linear(threads), bins, block_size(threads)):
            counts[i] = 0
        cuda.syncthreads()
    for item in items_of(items):
        if item >= 0 and item < bins:
            cuda.atomic.add(counts, item, 1)
    if sync:
        cuda.syncthreads()
    return counts


@dataclass(frozen=True)
class Runs:
    """Runs of a block in shared memory: what `run_length_decoder` gives. ``total`` items in all."""

    values: Any
    starts: Any
    total: Any
    n: int
    threads: Any

    def decode(self, first: Any, items: int) -> Any:
        """The thread's ``items`` (a constant) of those from ``first`` on, in the order of the threads: the values, and
        each one's place in its run. Two tuples; from ``total`` on, something."""
        values: Any = ()
        places: Any = ()
        for i in tuple(range(items)):
            at = first + linear(self.threads) * items + i
            low, high = 0, self.n
            while low < high:  # the last run that begins at or before the item
                middle = (low + high) // 2
                if self.starts[middle] <= at:
                    low = middle + 1
                else:
                    high = middle
            values += (self.values[low - 1],)
            places += (at - self.starts[low - 1],)
        return values, places


def run_length_decoder(values: Any, lengths: Any, *, threads: Any) -> Any:
    """Prepares the runs of a block, each a value so many times, to be made into items.

    Parameters
    ----------
    values : value or items
        Of the runs that each thread has, in the order of the threads.
    lengths : integer or items
        As many; 0 is allowed.
    threads : int or tuple of int
        The threads of the block, as it is launched. A constant.

    Returns
    -------
    Runs
        ``.total``, and ``.decode(first, items)``, which may be called often. A barrier must stand before the next
        call of `run_length_decoder` at the same place.

    Examples
    --------
    >>> from tessera import coop, cuda
    >>> @cuda.jit
    ... def spread(values, lengths, out):
    ...     t = cuda.threadIdx.x
    ...     runs = coop.block.run_length_decoder(values[t], lengths[t], threads=128)
    ...     first = 0
    ...     while first < runs.total:
    ...         items, places = runs.decode(first, 4)
    ...         coop.block.store(out[first:], items, threads=128, num_valid=runs.total - first)
    ...         first += 4 * 128
    """
    own_values, own_lengths = items_of(values), items_of(lengths)
    n, tid = len(own_values), linear(threads)
    if n != len(own_lengths):
        refuse(f"{n} values and {len(own_lengths)} lengths: a thread has as many")
    starts, total = exclusive_sum(own_lengths, threads=threads, aggregate=True)
    all_ = n * block_size(threads)
    value_places, start_places = shared_like(all_, own_values[0]), shared_like(all_, starts[0])
    for i in tuple(range(n)):
        value_places[tid * n + i] = own_values[i]
        start_places[tid * n + i] = starts[i]
    cuda.syncthreads()
    return Runs(value_places, start_places, total, all_, threads)

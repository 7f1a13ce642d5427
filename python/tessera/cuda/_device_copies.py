# SPDX-License-Identifier: Apache-2.0
"""What kernels of threads name of copies that one thread begins and others wait for: ``cuda.mbarrier``, ``cuda.bulk``,
``cuda.tma``.
"""

from __future__ import annotations

from typing import Any

from ._stub import _op


class mbarrier:
    """Barriers in shared memory, which threads arrive at without waiting, and which count the bytes of bulk copies.

    A barrier is an element of an array ``cuda.shared.array(n, np.uint64)``. One thread makes it, then the block meets.
    It goes through phases, 0, 1, 2 ..: one is complete when as many threads have arrived as ``init`` said, and all
    bytes that were expected have come. From sm_80 on; bytes from sm_90 on.

    On the CPU device threads arrive without effect, copies are made at once, and ``wait`` is a barrier of the block:
    all of its threads have to come to it together. A kernel that waits in a branch for some threads is refused there,
    with its line. A wrong number of arrivals or bytes shows only on a GPU, which waits forever, and with
    ``checked="races"``.
    """

    __tessera_names__ = True

    @staticmethod
    @_op("mbarrier_init")
    def init(bars: Any, bar: Any, count: Any) -> None:
        """Makes the barrier ``bars[bar]``, whose phases ``count`` arrivals complete: one thread calls it. The others
        see it after ``cuda.syncthreads()``."""

    @staticmethod
    @_op("mbarrier_fence")
    def fence() -> None:
        """After ``init``, by the same thread: bulk copies, and other blocks of the cluster after its ``sync()``, see
        the barriers. GPUs have it from sm_90 on."""

    @staticmethod
    @_op("mbarrier_arrive")
    def arrive(bars: Any, bar: Any) -> None:
        """Arrives once, and does not wait. What the thread wrote before is seen by those that wait."""

    @staticmethod
    @_op("mbarrier_expect")
    def expect(bars: Any, bar: Any, nbytes: Any) -> None:
        """Arrives once, and the phase waits for that many bytes of copies as well."""

    @staticmethod
    @_op("mbarrier_wait")
    def wait(bars: Any, bar: Any, phase: Any) -> None:
        """Waits until the phase is complete: an integer, of which the last bit counts. Only the phase that goes on, or
        the one before it, can be waited for."""

    @staticmethod
    @_op("mbarrier_invalidate")
    def invalidate(bars: Any, bar: Any) -> None:
        """Ends the barrier: its memory may be used for something else."""


class bulk:
    """Copies of whole rows between global and shared memory, which one thread begins (GPUs from sm_90 on).

    Sizes and addresses are multiples of 16 bytes, and elements lie side by side along the last axis of both arrays.
    Shared memory that threads have written is seen by copies after ``bulk.fence()`` by those threads and a barrier.
    """

    __tessera_names__ = True

    @staticmethod
    @_op("bulk_load")
    def load(to: Any, to_index: Any, source: Any, index: Any, count: Any, bars: Any, bar: Any) -> None:
        """Begins to copy ``count`` elements from ``source[index]`` on in global memory to ``to[to_index]`` in shared
        memory. The barrier ``bars[bar]`` counts the bytes: somebody must ``mbarrier.expect`` them."""

    @staticmethod
    @_op("bulk_store")
    def store(to: Any, to_index: Any, source: Any, index: Any, count: Any) -> None:
        """Begins to copy ``count`` elements from ``source[index]`` on in shared memory to ``to[to_index]`` in global
        memory. The thread that began it makes groups of stores and waits for them: ``commit``, ``wait``."""

    @staticmethod
    @_op("bulk_commit")
    def commit() -> None:
        """Makes a group of the thread's stores since the last one."""

    @staticmethod
    @_op("bulk_wait")
    def wait(pending: Any = 0, read: Any = False) -> None:
        """Waits until at most ``pending`` (a constant) of the thread's groups are under way; with ``read=True`` only
        until they have read shared memory, which may then be written again."""

    @staticmethod
    @_op("bulk_fence")
    def fence() -> None:
        """What this thread wrote to shared memory is seen by copies that begin after a barrier that follows."""


class tma:
    """Copies of boxes between an array of up to five axes in global memory and shared memory, which one thread begins
    (GPUs from sm_90 on: tensor maps, which the launch makes of its arguments).

    The array is an argument of the kernel, as it came: its elements lie side by side along the last axis, it begins at
    a multiple of 16 bytes, and its other strides are multiples of 16 bytes. ``box`` is a tuple of constants, an extent
    of 1 to 256 for each axis; its rows are multiples of 16 bytes, and so is where it begins along the last axis (a
    ValueError where it is not). In shared memory the box is an array in C order, from a multiple of 128 bytes on, where
    shared arrays that are used so begin.
    """

    __tessera_names__ = True

    @staticmethod
    @_op("tma_load")
    def load(to: Any, to_index: Any, source: Any, index: Any, box: Any, bars: Any, bar: Any) -> None:
        """Begins to copy the box that begins at ``source[index]`` to ``to[to_index]`` in shared memory. What lies
        outside of ``source`` comes as zeros; an index may be negative, and counts from the first element then, too. The
        barrier ``bars[bar]`` counts the bytes of the whole box: somebody must ``mbarrier.expect`` them."""

    @staticmethod
    @_op("tma_store")
    def store(to: Any, index: Any, source: Any, source_index: Any, box: Any) -> None:
        """Begins to copy a box from ``source[source_index]`` on in shared memory to ``to[index]``; nothing is written
        outside of ``to``. An index below 0 is a ValueError: GPUs store no box that begins before its array. What
        threads wrote is seen after ``bulk.fence()`` by those and a barrier. The thread that began it makes groups of
        stores and waits for them: ``bulk.commit``, ``bulk.wait``."""

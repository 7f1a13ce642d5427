# SPDX-License-Identifier: Apache-2.0
"""``kernel.forall(n)``: one-dimensional launches by the number of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._dispatcher import Dispatcher

__all__ = ["ForAll"]

THREADS = 256  # of a block, where no number is given


class ForAll:
    """A launch of at least ``ntasks`` threads; call it with the arguments."""

    def __init__(self, dispatcher: Dispatcher, ntasks: int, tpb: int, stream: Any, sharedmem: int) -> None:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        self.dispatcher, self.ntasks = dispatcher, int(ntasks)
        self.thread_per_block, self.stream, self.sharedmem = int(tpb), stream, sharedmem

    def __call__(self, *args: Any, **named: Any) -> None:
        if self.ntasks == 0:
            return
        threads = self.thread_per_block or min(THREADS, -(-self.ntasks // 32) * 32)
        blocks = -(-self.ntasks // threads)
        self.dispatcher[blocks, threads, self.stream, self.sharedmem](*args, **named)

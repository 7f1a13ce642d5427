# SPDX-License-Identifier: Apache-2.0
"""Memory that the driver hands out piece by piece, kept for who asks for as much when nobody uses it any more.

cuMemAlloc and cuMemFree take tens of microseconds, and cuMemFree waits for the GPU. A piece that is kept may still be
used by work that was launched: it is handed out again only after the GPU was waited for, once for all that were kept
until then, which cuMemFree would have done for each. What another process has been told of is not kept."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable

from .. import _core
from ..bindings import driver
from ..bindings._errors import CUDAError
from ..core._place import in_context
from ._errors import CudaDriverError

__all__ = ["Piece", "pieces"]

ROUNDS = 512  # sizes are multiples of it, as the driver's addresses are
KEPT = 64 << 20  # bytes of a GPU, at most; a piece is a quarter of it at most
FORKED = (
    "CUDA initialized before forking: the NVIDIA driver does not work in the child of a process that has used it; "
    "start processes by spawn"
)


class _Kept:
    """What is kept of one GPU until it is reset: ``idle`` by size, addresses and the turn in which they came. A wait
    begins a turn, and then what came before that is not in use: ``waited`` is the last such turn. A collection of
    garbage may put and drop pieces wherever Python runs, in a wait too."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self.turn, self.waited, self.bytes = ordinal, 1, 0, 0
        self.idle: dict[int, list[tuple[int, int]]] = {}
        self._token = _core.empty(1, "uint8", f"cuda:{ordinal}")  # a reset makes it invalid

    def is_lost(self) -> bool:
        """Whether the GPU was reset since, and has freed everything."""
        try:
            return not self._token.ptr
        except BufferError:
            return True

    def put(self, address: int, size: int) -> None:
        self.idle.setdefault(size, []).append((address, self.turn))
        self.bytes += size

    def take(self, size: int) -> int:
        """The address of a piece of this size; 0: there is none."""
        found = self.idle.get(size)
        if not found or (found[0][1] > self.waited and not self._wait()):
            return 0
        return self._first(size)

    def _first(self, size: int) -> int:
        """The address of the piece of a size that came first, which is kept no longer; 0: there is none."""
        found = self.idle.get(size)
        if not found:
            return 0
        address, _ = found.pop(0)
        if not found:
            del self.idle[size]
        self.bytes -= size
        return address

    def _wait(self) -> bool:
        ended = self.turn
        self.turn += 1  # what comes during the wait may be in use after it
        with in_context(self.ordinal):
            (status, *captures) = driver.cuStreamIsCapturing(driver.CU_STREAM_LEGACY)
            if status or any(int(c) for c in captures):  # a wait would end the capture of a graph
                return False
            (status,) = driver.cuCtxSynchronize()
        if not status:
            self.waited = ended
        return not status

    def drop(self, most: int = 0) -> None:
        """Gives back to the driver what is above so many bytes, the size that was kept first before others."""
        while self.bytes > most and self.idle:
            _give_back(self._first(next(iter(self.idle))), self.ordinal)


def _give_back(address: int, ordinal: int) -> None:
    with contextlib.suppress(CUDAError), in_context(ordinal):
        driver.cuMemFree(address)


class _Pieces:
    def __init__(self) -> None:
        self._of: dict[int, _Kept] = {}
        self._told: set[int] = set()
        self._lock = threading.RLock()  # a collection of garbage inside of it may give back

    def of(self, ordinal: int) -> _Kept:
        """What is kept of a GPU."""
        with self._lock:
            if ordinal not in self._of or self._of[ordinal].is_lost():
                self._of[ordinal] = _Kept(ordinal)
            return self._of[ordinal]

    def tell(self, address: int) -> None:
        """Another process may open the piece that begins here."""
        self._told.add(address)

    def take(self, size: int, ordinal: int) -> int:
        """Memory of the driver's.

        Raises
        ------
        MemoryError
        """
        kept = self.of(ordinal)
        with self._lock:
            address = kept.take(size)
        if address:
            return address
        with in_context(ordinal):
            status, found = driver.cuMemAlloc(size)
            if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY and kept.bytes:
                self.flush()
                status, found = driver.cuMemAlloc(size)
        if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryError(f"the GPU has no room for {size} bytes")
        if status:
            raise CUDAError("cuMemAlloc", status, f"{size} bytes")
        return int(found)

    def put(self, address: int, size: int, kept: _Kept) -> None:
        """Nobody uses the piece any more."""
        if kept.is_lost():  # the address may be another's since
            return
        if address in self._told or size > KEPT // 4:
            self._told.discard(address)
            _give_back(address, kept.ordinal)
            return
        with self._lock:
            kept.put(address, size)
            kept.drop(KEPT)

    def bytes(self, ordinal: int) -> int:
        """How many are kept of a GPU."""
        kept = self._of.get(ordinal)
        return 0 if kept is None or kept.is_lost() else kept.bytes

    def flush(self) -> None:
        """Gives back to the driver all that is kept."""
        with self._lock:
            for kept in list(self._of.values()):
                if not kept.is_lost():
                    kept.drop()


pieces = _Pieces()


def _renew_lock() -> None:
    """In the child of a fork, whose other threads are gone with what they held."""
    pieces._lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class Piece:
    """Memory of a GPU outside of pools: other processes can open it. It is given back with the object."""

    __slots__ = ("__weakref__", "_kept", "_size", "address")

    def __init__(self, nbytes: int, ordinal: int) -> None:
        self.address = 0
        status, *_ = driver.cuInit(0)
        if status == driver.CUresult.CUDA_ERROR_NOT_INITIALIZED:
            raise CudaDriverError(FORKED)
        self._kept, self._size = pieces.of(ordinal), -(-nbytes // ROUNDS) * ROUNDS
        self.address = pieces.take(self._size, ordinal)

    def __del__(self, pieces: _Pieces = pieces, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if self.address and not ends():
            pieces.put(self.address, self._size, self._kept)

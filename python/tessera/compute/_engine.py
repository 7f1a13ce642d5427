# SPDX-License-Identifier: Apache-2.0
"""What all algorithms stand on: kernels made once for the kinds of their arguments, temporary memory, streams.

An algorithm is a function that makes a kernel of threads for types, iterators and operators, and one that launches it:

    arguments --> iterators, operators --> kernel_of(make, key, ..)  made once for a key
                                       --> Memory.take(..)           of the pool, or of the caller
                                       --> kernel[blocks, THREADS, stream](states, numbers)

Where a call for a GPU makes a kernel, its launches from there on are put off until it knows all of them: the code is
compiled by several threads at once then, and the driver assembles it at once (_ahead.py).
"""

from __future__ import annotations

import atexit
import enum
import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from ._ahead import PutOff, run_all
from ._replay import derived, forget, forget_mine, is_lost, noted, recorded, replayed, takes, wanted
from ._store import is_plain, keep_packed, kernel_by_name, kernel_ready, name_of, under_way
from .iterators import ArrayIterator, Iterator, as_host

__all__ = [
    "POOL", "THREADS", "Memory", "again", "algorithm", "clear", "cores_for", "keep", "kernel_of", "on_cpu",
    "plain_array", "sort_arrays", "sum_arrays", "wait_for_code",
]  # fmt: skip

THREADS = 256  # of a block, for all algorithms that do not say otherwise
POOL: Any = enum.Enum("_Storage", "POOL").POOL  # temporary memory: of the pool, where the caller gives none
_READ_LATER = ("d_", "k", "n")  # how the names of arguments begin that a kernel reads
_MOST_MADE = 1024  # kernels, and objects of `make_..`, that are kept; the oldest ones go first
_MOST_KEPT = 1 << 25  # bytes of temporaries of a call that are kept for the next on the default stream: new ones cost
_ALL_KEPT = 1 << 28  # 0.1 ms after a wait, as drivers give memory back then; and of all calls

_keeps = True  # what the next process needs of kernels; tests that change how they are made turn it off
_kernels: dict[Any, Any] = {}
_kept: dict[Any, list[Any]] = {}
_lock = threading.Lock()
atexit.register(_core.code_end)  # before libraries end what the assembler and LLVM use


class _Calls(threading.local):
    """Of the call under way in this thread. Attributes of the class: one that is missing costs 0.2 µs."""

    taken: list[Any] | None = None  # temporary memory that it is to keep; None: there is no call
    later: list[Any] | None = None  # the launches that it has put off, if it puts them off


_calls = _Calls()


def kernel_of(
    make: Callable[..., Any], key: Any, parts: Callable[[], tuple[Any, ...]], bounds: tuple[int, ...] = (),
    library_words: Callable[[], str | None] | None = None,
) -> Any:  # fmt: skip
    """The kernel that ``make(*parts())`` gives, made once for a key; ``bounds`` are its launch bounds.
    ``library_words()`` gives words for the same kernel in the library, if it may be there (_ready.py)."""
    kernel = _kernels.get((make, key))
    if kernel is None:
        kernel = keep(_kernels, (make, key), _found(make, key, parts, bounds, library_words))
        if _calls.taken is not None and _calls.later is None and not on_cpu():
            _calls.later = []
    return _launched(kernel)


def _launched(kernel: Any) -> Any:
    """The kernel as the call under way launches it: noted to be made again, or put off."""
    later = _calls.later
    return noted(kernel) if later is None else PutOff(noted(kernel), later)


class _OfLibrary:
    """A function of the library that is launched as if it were a kernel, configured with its stream only."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, stream: Any) -> Callable[..., None]:
        return functools.partial(getattr(_core, self._name), stream or None)


_clearing, _sorting, _summing = _OfLibrary("compute_clear"), _OfLibrary("compute_sort"), _OfLibrary("compute_sums")


def clear(array: Any, stream: Any) -> None:
    """Makes an array without gaps zero, in the order of a stream."""
    _launched(_clearing)[stream](array)


def sort_arrays(stream: Any, n: int, descending: bool, arrays: list[Any], parts: tuple[Any, ...] = (-1,)) -> None:
    """Sorts n numbers of an array into another one, and values of a third into a fourth, if they are given: by the
    library, which has faster ways on a CPU than a kernel. ``parts``: how many, where they begin and where they end."""
    _launched(_sorting)[stream](n, parts[0], descending, *arrays, *parts[1:])


def plain_array(it: Iterator, sizes: tuple[int, ...]) -> Any:
    """The array of NumPy that a sequence is, if it has one axis, no gaps and numbers of so many bytes; else None."""
    array = it.array if isinstance(it, ArrayIterator) and it.is_in_a_row else None
    if type(array) is not numpy.ndarray or not (array.flags.c_contiguous and array.flags.aligned):
        return None
    return array if array.dtype.kind in "iuf" and array.itemsize in sizes else None


def sum_arrays(stream: Any, n: int, arrays: list[Any], initial: tuple[Any, ...]) -> None:
    """The sums up to each of the first n floats of an array into another one, as `sort_arrays` sorts."""
    _launched(_summing)[stream](n, *arrays, *initial)


def _found(
    make: Callable[..., Any], key: Any, parts: Callable[[], tuple[Any, ...]], bounds: tuple[int, ...],
    library_words: Callable[[], str | None] | None,
) -> Any:  # fmt: skip
    def build() -> Any:
        return _jitted(make(*parts()), bounds)

    def dress(function: Any, source: str) -> Any:
        return _jitted(function, bounds, source)

    if not (_keeps and is_plain()):
        return build()
    words = library_words() if library_words is not None else None
    ready = None if words is None else kernel_ready(words, bounds, build, dress)
    if ready is not None:
        return ready
    return kernel_by_name(name_of(make, key, bounds), bounds, build, dress)


def keep(made: dict[Any, Any], key: Any, value: Any) -> Any:
    """What is kept for a key, which is the value if nothing was; of too many the oldest are forgotten."""
    with _lock:
        while len(made) >= _MOST_MADE and key not in made:
            del made[next(iter(made))]
        return made.setdefault(key, value)


def _jitted(function: Callable[..., Any], bounds: tuple[int, ...], source: str | None = None) -> Any:
    from ..cuda._dispatcher import kernel_around

    return kernel_around(function, _options(bounds), source, own_grid=True)


def _options(bounds: tuple[int, ...]) -> Any:
    from ..cuda._options import options_of

    return options_of({"launch_bounds": bounds} if bounds else {})


def on_cpu() -> bool:
    """Whether kernels run on the CPU device, where those of one thread a block are as C's loops."""
    return bool(_core._current_device() < _core.DEVICE_CUDA)


def cores_for(n: int, least: int) -> int:
    """How many blocks that wait for each other n items are shared by on the CPU device: one for each core, if each gets
    ``least`` items."""
    return max(1, min(_cores(), n // least))


@functools.cache
def _cores() -> int:
    from ..cuda import get_current_device

    return min(int(get_current_device().MULTIPROCESSOR_COUNT), int(_core.CPU_COOPERATIVE_BLOCKS))


def clear_all_caches() -> None:
    """Forgets the kernels that were made and gives temporary memory back. Code on disk stays."""
    with _lock:
        _kernels.clear()
        _kept.clear()
    forget()


def wait_for_code() -> None:
    """Waits until the fast code of all algorithms that were called is there.

    Notes
    -----
    The first call for a dtype and an operator runs code that is quickly made, with the same bits; fast code is made in
    the background meanwhile, for the calls that come after and for later processes. So call this before times are
    measured, and before calls are recorded as a graph. ``TESSERA_TIERS=0`` has fast code made for the first call,
    ``TESSERA_TIERS=quick`` none at all.
    """
    _core.code_wait()


def algorithm(function: Callable[..., Any]) -> Callable[..., Any]:
    """A public function: where an array of NumPy is among the arguments, it returns when the work is done."""

    @functools.wraps(function)
    def call(**given: Any) -> Any:
        return again(function, function, given)

    return call


def again(key: Any, function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Calls a function, by the short way where ``key`` was called like this before."""
    try:
        if _calls.later is None and replayed(key, given):
            return None
    except BaseException:
        _forget_temporaries()
        raise
    return _called(key, function, given)


def _waiting(stream: Any) -> Callable[[], Any]:
    """The function that waits for what was launched."""
    from ..cuda._dispatcher import _wait

    if stream == 0 and on_cpu():
        return functools.partial(_core.synchronize, "cpu")
    return functools.partial(_wait, stream)


def _called(key: Any, function: Callable[..., Any], given: dict[str, Any]) -> Any:
    given = {name: as_host(value) for name, value in given.items()}  # what cannot be taken raises before a call begins
    above, _calls.taken = _calls.taken, []
    packed_above, under_way.packed = under_way.packed, []
    recording, wait, went_well = wanted(key, given), None, False
    try:
        result = function(**given)
        if above is None and _calls.later is not None:
            run_all(_calls.later)
            _calls.later = None
        keep_packed()
        asks = given.get("temp_storage", POOL) is None  # how many bytes: nothing runs
        if not asks and any(name.startswith(_READ_LATER) and _of_host(value) for name, value in given.items()):
            wait = _waiting(given.get("stream") or 0)
            wait()
        _keep(_calls.taken)
        went_well = result is None
    except BaseException:
        _forget_temporaries()
        raise
    finally:
        _calls.taken, under_way.packed = above, packed_above
        if above is None:
            _calls.later = None
        if recording is not None:
            recorded(key, recording, went_well, wait)
    return result


def _keep(taken: list[Any]) -> None:
    """Keeps the temporary memory of a call that went well for the next one."""
    with _lock:
        room = _ALL_KEPT - sum(array.nbytes for arrays in _kept.values() for array in arrays)
        for key, arrays in taken:
            room -= sum(array.nbytes for array in arrays)
            if len(_kept) < 64 and room >= 0:
                _kept[key] = arrays


def _forget_temporaries() -> None:
    """Gives back what this thread keeps for its next calls: counters of a kernel that failed may not be zero."""
    forget_mine()
    with _lock:
        for key in [key for key in _kept if key[1] == threading.get_ident()]:
            del _kept[key]


def _of_host(value: Any) -> bool:
    """Whether an argument is an array of NumPy, or stands on one."""
    if isinstance(value, Iterator):
        value = value.state
    if isinstance(value, (tuple, list)):
        return any(map(_of_host, value))
    return isinstance(getattr(value, "d_current", value), numpy.ndarray)


class Memory:
    """Temporary memory of one call.

    Parameters
    ----------
    storage
        `POOL`; None: nothing is taken, `nbytes` says what would be; or an array of bytes of the caller's.
    stream
        What `stream_of` gave.
    """

    def __init__(self, storage: Any, stream: Any) -> None:
        self.storage, self.stream, self.nbytes = storage, stream, 0

    def take(self, *needs: tuple[Any, int], counters: int = 1) -> list[Any] | None:
        """Arrays of these dtypes and numbers of elements; None where the caller only asks how many bytes.

        The first are of counters: they are zero, and must be zero again when the algorithm has ended.
        """
        sizes = [-(-numpy.dtype(dtype).itemsize * max(1, count) // 256) * 256 for dtype, count in needs]
        self.nbytes = sum(sizes)
        if self.storage is None:
            return None
        if self.storage is POOL:
            return self._pooled(needs, counters)
        whole = _bytes(self.storage)
        if whole.shape[0] < self.nbytes:
            raise ValueError(f"temp_storage has {whole.shape[0]} bytes, {self.nbytes} are needed")
        arrays, at = [], 0
        for (dtype, count), size in zip(needs, sizes):
            piece = functools.partial(_piece, at=at, nbytes=numpy.dtype(dtype).itemsize * max(1, count), dtype=dtype)
            arrays.append(derived(self.storage, piece))
            at += size
        self._clear(arrays[:counters])
        return arrays

    def need_of(self, nbytes: int) -> tuple[Any, int]:
        """What to take for an algorithm that this one stands on, which needs these bytes."""
        return numpy.uint8, 0 if self.storage is POOL else nbytes

    def inner(self, taken: Any) -> Any:
        """The temporary memory of that algorithm: ``taken``, where it is of the caller's."""
        return POOL if self.storage is POOL else taken

    def _pooled(self, needs: tuple[tuple[Any, int], ...], counters: int) -> list[Any]:
        from ..cuda._arrays import pooled_array, pooled_arrays

        key = (_core._current_device(), threading.get_ident(), needs)
        with _lock:
            found = None if self.stream else _kept.pop(key, None)  # an algorithm that this one stands on takes others
        taken = _calls.taken
        is_kept = taken is not None and self.nbytes <= _MOST_KEPT and not self.stream
        sizes = [(max(1, count), dtype) for dtype, count in needs]
        is_new = found is None or is_lost(found[0])
        if found is None or is_new:  # of those that are not kept a call made again takes each anew
            found = pooled_arrays(sizes) if is_kept else [pooled_array(*size, self.stream) for size in sizes]
        if is_new or on_cpu():  # there a kernel may have been interrupted, or ended by what an operator raised
            self._clear(found[:counters])
        if is_kept:
            taken.append((key, found))  # type: ignore[union-attr]
        takes(found, None if is_kept else sizes)
        return found

    def _clear(self, arrays: list[Any]) -> None:
        for counters in arrays:
            clear(counters, self.stream)


def _piece(storage: Any, at: int, nbytes: int, dtype: Any) -> Any:
    return _bytes(storage)[at : at + nbytes].view(dtype)


def _bytes(storage: Any) -> Any:
    """Memory of the caller as an array of bytes."""
    from ..cuda import as_cuda_array

    if isinstance(storage, numpy.ndarray):
        return storage.reshape(-1).view(numpy.uint8)
    found = as_cuda_array(storage)
    return found.reshape(found.size).view(numpy.uint8)

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

import enum
import functools
import hashlib
import math
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

import numpy

from .. import _core
from ._ahead import PutOff, run_all
from ._replay import (
    compares, derived, forget, forget_mine, is_lost, looks_at_addresses, noted, recorded, replayed, takes, wanted,
)  # fmt: skip
from ._ready import pack_of
from ._store import kernel_by_name, kernel_ready, name_of
from .iterators import Iterator, as_host, iterator_of
from .op import operator_of
from .types import TypeDescriptor, type_of

__all__ = [
    "POOL", "THREADS", "Count", "Made", "Memory", "algorithm", "apart", "checked_count", "clamped", "clear",
    "cores_for", "count_of", "init_of", "is_read_later", "items_in", "keep", "kernel_of", "kind_text", "not_shifted",
    "on_cpu", "range_of", "setting", "stream_of", "whole_numbers",
]  # fmt: skip

THREADS = 256  # of a block, for all algorithms that do not say otherwise
POOL: Any = enum.Enum("_Storage", "POOL").POOL  # temporary memory: of the pool, where the caller gives none
_READ_LATER = ("d_", "k", "n")  # how the names of arguments begin that a kernel reads
_MOST_MADE = 1024  # kernels, and objects of `make_..`, that are kept; the oldest ones go first
_MOST_KEPT = 1 << 24  # bytes of temporaries of a call that are kept for the next on the default stream: new ones cost
_ALL_KEPT = 1 << 28  # 0.1 ms after a wait, as drivers give memory back then; and of all calls

_keeps = True  # what the next process needs of kernels; tests that change how they are made turn it off
_kernels: dict[Any, Any] = {}
_kept: dict[Any, list[Any]] = {}
_lock = threading.Lock()


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


class _Clearing:
    """Makes arrays zero, as if by a kernel, which is configured with its stream only."""

    def __getitem__(self, stream: Any) -> Callable[..., None]:
        return functools.partial(_core.compute_clear, stream or None)


_clearing = _Clearing()


def clear(array: Any, stream: Any) -> None:
    """Makes an array without gaps zero, in the order of a stream."""
    _launched(_clearing)[stream](array)


def _found(
    make: Callable[..., Any], key: Any, parts: Callable[[], tuple[Any, ...]], bounds: tuple[int, ...],
    library_words: Callable[[], str | None] | None,
) -> Any:  # fmt: skip
    def build() -> Any:
        return _jitted(make(*parts()), bounds)

    def dress(function: Any, source: str) -> Any:
        return _jitted(function, bounds, source)

    pack = pack_of(library_words()) if _keeps and library_words is not None else None
    if pack is not None:
        return kernel_ready(pack, build, dress)
    name = name_of(make, key, _options(bounds)) if _keeps else None
    return kernel_by_name(name, build, dress)


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


def stream_of(stream: Any) -> Any:
    """What a launch takes for the argument `stream`.

    Raises
    ------
    TypeError
        For an object without the protocol of CUDA's streams, or one that does not keep to it.
    """
    if stream is None:
        return 0
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is None:
        raise TypeError(f"stream argument {stream!r} does not implement the '__cuda_stream__' protocol")
    try:
        version, handle, *_ = protocol() if callable(protocol) else protocol
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"could not obtain __cuda_stream__ protocol version and handle from {stream!r}: {error}"
        ) from error
    if version != 0:
        raise TypeError(f"unsupported __cuda_stream__ version {version} of {stream!r}; 0 is known")
    if not isinstance(handle, int):
        raise TypeError(f"invalid stream handle {handle!r} of {stream!r}; it must be an int")
    return stream


def count_of(value: Any, name: str = "num_items") -> int:
    """A number of items.

    Raises
    ------
    TypeError, ValueError
        For what is no whole number, or less than 0.
    """
    try:
        found = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{name} is a {type(value).__name__}: {value!r}; give a whole number") from None
    if found < 0:
        raise ValueError(f"{name} is {found}; it cannot be less than 0")
    return int(found)


def checked_count(value: Any, name: str, *sequences: tuple[str, Iterator]) -> int:
    """A number of items that arrays must have."""
    found = count_of(value, name)
    for what, it in sequences:
        length = it.length
        if length is not None and found > length:
            raise ValueError(f"{name} is {found}, {what} has {length} elements")
    return found


def whole_numbers(value: Any, name: str, most: int = 0, items: int = 0) -> Iterator:
    """The iterator of an argument whose items are whole numbers, with room for ``items`` of them up to ``most``.

    Raises
    ------
    TypeError, ValueError
        For items of another kind, of a dtype that ends before ``most``, or fewer of them.
    """
    it = iterator_of(value, name)
    dtype = None if it.value_type is None else it.value_type.dtype
    if dtype is not None and dtype.kind not in "iu":
        raise TypeError(f"{name} holds {dtype}; give an array of whole numbers")
    if dtype is not None and most > numpy.iinfo(dtype).max:
        raise ValueError(
            f"{name} holds {dtype}, which ends at {numpy.iinfo(dtype).max}, and numbers up to {most} may come; give "
            "an array of a wider dtype"
        )
    checked_count(items, "the number of results", (name, it))
    return it


class Count(NamedTuple):
    """How many items an algorithm works on: a number, or one that stands in an array of a device when it runs."""

    most: int  # there are at most, which the host knows
    state: Any  # for kernels
    kind: Any  # of the state; None: a number

    def load(self) -> Callable[..., Any]:
        """The function of a kernel that gives the number out of the state."""
        return _number if self.kind is None else _number_there


def _number(n: Any) -> Any:
    return n


def _number_there(n: Any) -> Any:
    return clamped(n[0][0], n[1])


def clamped(n: Any, most: Any) -> Any:
    """A number of items on the device, of any dtype, as one from 0 to ``most``; for kernels."""
    if n.dtype.kind == "u":
        return numpy.int64(min(numpy.uint64(n), numpy.uint64(most)))
    return min(max(numpy.int64(n), 0), most)


def setting(number: Callable[..., Any]) -> Callable[..., None]:
    """The kernel that puts a `Count` into an array."""

    def set_(place: Any, value: Any) -> None:
        place[0] = number(value)

    return set_


def is_read_later(value: Any) -> bool:
    """Whether a number is an array, which is read when the algorithm runs."""
    return hasattr(value, "__cuda_array_interface__") or (isinstance(value, numpy.ndarray) and value.ndim > 0)


def items_in(value: Any, name: str, *sequences: tuple[str, Iterator]) -> Count:
    """A number of items that arrays must have; of a number on the device as many are taken as there are.

    Raises
    ------
    TypeError, ValueError
        For what is no whole number nor an array of one, less than 0, more than an array has, or without an end.
    """
    if not is_read_later(value):
        n = checked_count(value, name, *sequences)
        return Count(n, n, None)
    it: Any = iterator_of(value, name)
    if it.value_type.dtype.kind not in "iu" or it.length != 1:
        raise TypeError(f"{name} is an array of {it.length} {it.value_type.dtype}; give one whole number")
    lengths = [sequence.length for _, sequence in sequences if sequence.length is not None]
    if not lengths:
        raise ValueError(f"{name} is on the device, so the host must know how many there may be: give an array")
    return Count(min(lengths), (it.array, min(lengths)), it.kind)


def apart(*sequences: tuple[str, Iterator]) -> None:
    """Refuses sequences that share memory with the first one, which is read while the others are written."""
    (name, source), *outputs = sequences
    reads = _ranges(source) if source.is_input_iterator else []  # where it is none, loads say so
    for what, it in outputs:
        if any(a < end and start < b for a, b in reads for start, end in _ranges(it)):
            raise ValueError(f"{what} shares memory with {name}, which is read while it is written; give another array")


def not_shifted(n: int, source: tuple[str, Iterator], *outputs: tuple[str, Iterator]) -> None:
    """Refuses a sequence that is written n items at a time in memory that another is read from, but not item by item:
    what is read may be written already. The same place is fine."""
    name = source[0]
    if n < 2:
        return
    reads = list(_places(source[1], n, 1)) if source[1].is_input_iterator else []
    for what, it in outputs:
        for to in _places(it, n, 1):
            for place in reads:
                compares(place.array, to.array)
                if _meets(place, to):
                    raise ValueError(
                        f"{what} shares memory with {name}, but not item by item: it begins {to.first - place.first} "
                        f"bytes after it, with items {_apart_by(to)}, those of {name} {_apart_by(place)}; give {name} "
                        "itself, or another array"
                    )


class _Place(NamedTuple):
    """Where n items of a sequence are, in one of the arrays that it stands on."""

    array: Any
    first: int  # address of the first one
    step: Any  # bytes from one to the next; what is equal for the same order of several axes; None: any order
    size: int  # bytes of an item
    low: int  # the addresses from which on, and before which, they are
    high: int


def _places(it: Iterator, n: int, order: int) -> Any:
    """All of a sequence whose items are taken in their order (1), backwards (-1) or in any order (0)."""
    array: Any = getattr(it, "array", None)
    if array is not None and 0 not in array.shape:
        interface = _interface(array)
        size, shape = numpy.dtype(interface["typestr"]).itemsize, interface["shape"]
        first, strides, offset = interface["data"][0], interface.get("strides"), getattr(it, "offset", 0)
        if order and len(shape) == 1:
            step = (strides[0] if strides else size) * order
            first, far = first + offset * step * order, (n - 1) * step
            yield _Place(array, first, step, size, first + min(0, far), first + max(0, far) + size)
        else:
            low, high = _ends(interface)
            yield _Place(array, first, (order, offset, shape, strides) if order else None, size, low, high)
    for under, how in it._stands_on():
        yield from _places(under, n, order * how)


def _apart_by(place: _Place) -> str:
    return f"{place.step} bytes apart" if type(place.step) is int else "in another order"


def _meets(a: _Place, b: _Place) -> bool:
    """Whether an item of one shares memory with another item of the other."""
    if a.low >= b.high or b.low >= a.high:
        return False
    if type(a.step) is not int or type(b.step) is not int:
        return a.step is None or (a.first, a.step, a.size) != (b.first, b.step, b.size)
    step, by = abs(a.step), b.first - a.first
    if by == 0 and a.step == b.step:
        return 0 < step < max(a.size, b.size)
    if step != abs(b.step) or step < max(a.size, b.size):
        return True
    return by % step < a.size or step - by % step < b.size


def _interface(array: Any) -> Any:
    return array.__array_interface__ if isinstance(array, numpy.ndarray) else array.__cuda_array_interface__


def _ranges(it: Iterator) -> list[tuple[int, int]]:
    """Those of all arrays that a sequence stands on."""
    array = getattr(it, "array", None)
    mine = None if array is None else range_of(array)
    found = [] if mine is None else [mine]
    return found + [one for under, _ in it._stands_on() for one in _ranges(under)]


def range_of(array: Any) -> tuple[int, int] | None:
    """The addresses from which on, and before which, the elements of an array are; None: there are none."""
    looks_at_addresses()
    return _ends(_interface(array))


def _ends(interface: Any) -> Any:
    size, shape, start = numpy.dtype(interface["typestr"]).itemsize, interface["shape"], interface["data"][0]
    if 0 in shape:
        return None
    if interface.get("strides") is None:
        return start, start + math.prod(shape) * size
    steps = [(extent - 1) * stride for extent, stride in zip(shape, interface["strides"])]
    return start + sum(min(0, step) for step in steps), start + sum(max(0, step) for step in steps) + size


def init_of(value: Any, name: str) -> tuple[TypeDescriptor, Any]:
    """The type of an initial value, and the value as a launch takes it."""
    if value is None:
        raise TypeError(f"{name} is None; give a number of NumPy: it is what no items give, and has the type of all")
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, numpy.generic):
        raise TypeError(f"{name} is {value!r}; give a number of NumPy, such as numpy.int32({value!r}): it has a type")
    kind = type_of(value)
    if isinstance(value, numpy.ndarray):
        if value.size != 1:
            raise ValueError(f"{name} has {value.size} elements; give one")
        value = value.reshape(-1)[0]
    elif hasattr(value, "__cuda_array_interface__"):
        raise ValueError(f"{name} is an array of a device; give a value of the host")
    return kind, kind.host(value)


def algorithm(function: Callable[..., Any]) -> Callable[..., Any]:
    """A public function: where an array of NumPy is among the arguments, it returns when the work is done."""

    @functools.wraps(function)
    def call(**given: Any) -> Any:
        return _again(function, function, given)

    return call


def _again(key: Any, function: Callable[..., Any], given: dict[str, Any]) -> Any:
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
    above, _calls.taken = _calls.taken, []
    given = {name: as_host(value) for name, value in given.items()}
    recording, wait, went_well = wanted(key, given), None, False
    try:
        result = function(**given)
        if above is None and _calls.later is not None:
            run_all(_calls.later, _core._current_device())
            _calls.later = None
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
        _calls.taken = above
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
        from ..cuda._arrays import pooled_array

        key = (_core._current_device(), threading.get_ident(), needs)
        with _lock:
            found = None if self.stream else _kept.pop(key, None)  # an algorithm that this one stands on takes others
        is_new = found is None or is_lost(found[0])
        if found is None or is_new:
            found = [pooled_array(max(1, count), dtype, self.stream) for dtype, count in needs]
        if is_new or on_cpu():  # there a kernel may have been interrupted, or ended by what an operator raised
            self._clear(found[:counters])
        taken = _calls.taken
        is_kept = taken is not None and self.nbytes <= _MOST_KEPT and not self.stream
        if is_kept:
            taken.append((key, found))
        takes(found, None if is_kept else [(max(1, count), dtype) for dtype, count in needs])
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


class Made:
    """An algorithm for arguments of certain kinds, which is called with arguments of these kinds as often as wanted.

    Parameters
    ----------
    name : str
        Of the algorithm.
    function
        The algorithm.
    operators
        Its parameters that are operators, and the number of their arguments.
    kinds
        The kinds of arguments that are checked, as `kind_text` writes them.
    two_phases : bool
        Whether it is first asked for the bytes that it needs, with ``temp_storage=None``.
    """

    def __init__(
        self, name: str, function: Any, operators: dict[str, int], kinds: dict[str, str], two_phases: bool
    ) -> None:
        self.name, self.kinds = name, kinds
        self._function, self._operators, self._two_phases = function, operators, two_phases

    def __call__(self, *storage: Any, **given: Any) -> Any:
        if self._two_phases:
            given["temp_storage"] = storage[0] if storage else given.get("temp_storage")
        return _again(self, self._checked, given)

    def _checked(self, **given: Any) -> Any:
        for name, kind in self.kinds.items():
            if name in given and kind_text(self._operators, name, given[name]) != kind:
                raise TypeError(
                    f"{name} is of another kind than make_{self.name} was called with, found {given[name]!r:.80}; make "
                    "one for arguments of that kind"
                )
        return self._function(**given)

    def __repr__(self) -> str:
        return f"<{self.name} for {', '.join(self.kinds)}>"


def kind_text(operators: dict[str, int], name: str, value: Any) -> str:
    """A text that is equal for arguments of one kind, in all processes."""
    if value is None:
        return "none"
    if name in operators:
        op = operator_of(value, operators[name], name)
        code = getattr(op.function, "__code__", None)  # what it captures may differ from call to call
        return _digest(op.key if op.known is not None or code is None else code)
    if name.startswith(("h_", "init_value")):
        return _digest(type_of(value))
    if name.startswith("d_") or name.endswith("_offsets_in"):
        return _digest(iterator_of(getattr(value, "d_current", value), name).kind)
    return _digest(value)


def _digest(kind: Any) -> str:
    if isinstance(kind, TypeDescriptor):
        kind = kind.dtype
    if isinstance(kind, tuple):
        return f"({','.join(map(_digest, kind))})"
    if isinstance(kind, CodeType):
        constants = tuple(c for c in kind.co_consts)
        return _digest((kind.co_code, constants, kind.co_names, kind.co_freevars))
    if isinstance(kind, bytes):
        return hashlib.sha256(kind).hexdigest()[:16]
    return f"{type(kind).__name__} {kind}"

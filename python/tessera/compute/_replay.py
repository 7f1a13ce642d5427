# SPDX-License-Identifier: Apache-2.0
"""Calls that were made before, made again: their launches, without finding out anew what to launch.

    a call --> its launches are noted: kernel, configuration, arguments
           --> a function is written, which asks whether other arguments are like those, and launches the same with them

Arguments are alike if the host could do nothing else with them: arrays of one dtype and length, the same numbers, the
same operators, of the same code and with the same meanings of the names in it. Only then is a call made again; all
others go the long way. It is noted the second time that numbers of items are the same, so calls of ever other lengths
are not.
"""

from __future__ import annotations

import builtins
import enum
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy

from .. import _core
from ._text import written
from .op import FIXED, codes_of

__all__ = [
    "Recording", "compares", "derived", "forget", "forget_mine", "is_lost", "looks_at_addresses", "noted", "recorded",
    "replayed", "takes", "wanted",
]  # fmt: skip

_MOST = 8  # calls of a function that a thread remembers
_MOST_WRITTEN = 64  # that are written for a function and a thread, in all
_MOST_COMPARED = 64  # bytes of an array
_CONSTANTS = (int, float, complex, bool, str, numpy.generic, enum.Enum, type(None))


class _Known(threading.local):
    """What a thread knows of its calls."""

    def __init__(self) -> None:
        self.era = _era[0]
        self.replays: dict[Any, list[Callable[[dict[str, Any]], bool]]] = {}
        self.seen: dict[Any, Any] = {}
        self.written: dict[Any, int] = {}
        self.recording: Recording | None = None


_era = [0]
_known = _Known()


def forget() -> None:
    """Forgets all calls, of all threads."""
    _era[0] += 1


def forget_mine() -> None:
    """Forgets the calls of this thread."""
    _known.replays.clear()


def replayed(function: Any, given: dict[str, Any]) -> bool:
    """Makes a call again, if it is like one before."""
    replays = _known.replays.get(function)
    if replays is None or _known.recording is not None:
        return False
    try:
        for replay in replays:
            if replay(given):
                return True
    except BufferError:  # memory has ended with its device; if the user's has, the long way says so
        forget_mine()
    return False


def wanted(function: Any, given: dict[str, Any]) -> Recording | None:
    """What notes this call, if it is worth it, and none is being noted already: this one is part of that."""
    known = _known
    if known.era != _era[0]:
        known.__init__()  # type: ignore[misc]
    if known.recording is not None or given.get("stream") is not None:
        return None
    signature = tuple(value for value in given.values() if type(value) is int)
    if known.seen.get(function) != signature:
        known.seen[function] = signature
        return None
    if known.written.get(function, 0) >= _MOST_WRITTEN:
        return None
    known.recording = Recording(given)
    return known.recording


def recorded(function: Any, recording: Recording, went_well: bool, wait: Callable[[], Any] | None) -> None:
    """Ends a recording."""
    _known.recording = None
    _known.written[function] = _known.written.get(function, 0) + 1
    replay = _made(recording, wait) if went_well and recording.is_whole else None
    if replay is not None:
        _known.replays[function] = [replay, *_known.replays.get(function, ())][:_MOST]


class _Noted:
    """A kernel whose launches are noted."""

    def __init__(self, kernel: Any, recording: Recording) -> None:
        self._kernel, self._recording = kernel, recording

    def __getitem__(self, config: Any) -> Callable[..., None]:
        launch = self._kernel[config]

        def call(*args: Any) -> None:
            launch(*args)
            self._recording.launches.append((launch, args))

        return call


class Recording:
    """The launches of a call."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.launches: list[tuple[Any, tuple[Any, ...]]] = []
        self.temporaries: list[Any] = []  # that are kept for the next call
        self.anew: list[tuple[Any, int, Any]] = []  # and others: arrays, their lengths and dtypes
        self.derived: dict[int, tuple[Any, Any, Callable[[Any], Any]]] = {}
        self.by_address = False  # whether what is done depends on which arrays share memory
        self.compared: set[tuple[int, int]] = set()  # or on whether these two do: their ids
        self.is_whole = True


def noted(kernel: Any) -> Any:
    """The kernel, or what notes its launches."""
    recording = _known.recording
    return kernel if recording is None else _Noted(kernel, recording)


def looks_at_addresses() -> None:
    """Says that what is done now depends on where arrays are."""
    if _known.recording is not None:
        _known.recording.by_address = True


def compares(array: Any, other: Any) -> None:
    """Says that what is done now depends on whether two arrays share memory."""
    if _known.recording is not None:
        _known.recording.compared |= {(id(array), id(other)), (id(other), id(array))}


def takes(arrays: list[Any], needs: list[tuple[int, Any]] | None) -> None:
    """Says that the call has taken temporary memory: the thread's, or arrays of these lengths and dtypes, which each
    call takes anew."""
    recording = _known.recording
    if recording is None:
        return
    if needs is None:
        recording.temporaries += arrays
    else:
        recording.anew += [(array, *need) for array, need in zip(arrays, needs)]


def derived(array: Any, how: Callable[[Any], Any]) -> Any:
    """``how(array)``, an array on the same memory, which is made again of another array."""
    made = how(array)
    recording = _known.recording
    if recording is not None:
        recording.derived[id(made)] = made, array, how
    return made


# ---- writing


class _Text:
    """The function that is written, and what it names."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.space: dict[str, Any] = {
            "ndarray": numpy.ndarray, "FunctionType": FunctionType, "share": _share, "distance": _distance,
            "same": _same, "is_same": _is_same,
            "current": _core._current_device, "type": builtins.type,
        }  # fmt: skip
        self.passed: set[int] = set()  # arrays that launches get
        self.names = {id(value): f"a{i}" for i, value in enumerate(recording.given.values()) if _is_array(value)}
        self.anew = {id(array): f"t{i}" for i, (array, *_) in enumerate(recording.anew)}

    def constant(self, value: Any) -> str:
        name = f"c{len(self.space)}"
        self.space[name] = value
        return name

    def argument(self, value: Any) -> str:
        """An argument of a launch; raises LookupError if it cannot be made again."""
        if id(value) in self.names:
            self.passed.add(id(value))
            return self.names[id(value)]
        if id(value) in self.anew:
            return self.anew[id(value)]
        if id(value) in self.recording.derived:
            _, array, how = self.recording.derived[id(value)]
            return f"{self.constant(how)}({self.argument(array)})"
        if type(value) is tuple:
            return f"({''.join(self.argument(item) + ', ' for item in value)})"
        if isinstance(value, _CONSTANTS) or self._is_temporary(value):
            return self.constant(value)
        raise LookupError(value)

    def part(self, value: Any, places: dict[int, int]) -> tuple[int, Any]:
        """The same for ext/replay.c."""
        if id(value) in self.names:
            self.passed.add(id(value))
            return _GIVEN, places[id(value)]
        if type(value) is tuple:
            return _TUPLE, tuple(self.part(item, places) for item in value)
        if isinstance(value, _CONSTANTS) or self._is_temporary(value):
            return _CONSTANT, value
        raise LookupError(value)

    def question(self, value: Any) -> tuple[Any, ...]:
        """What is asked of an argument like this one, for ext/replay.c."""
        if type(value) is int:
            return _INT, value
        if value is None or isinstance(value, (bool, enum.Enum, BuiltinFunctionType, numpy.ufunc)):
            return _IS, value
        if id(value) in self.unread():
            return _CONTENT, value, _content(value)
        if _is_array(value):
            return _ARRAY, value
        if isinstance(value, numpy.generic) and value.dtype.kind in "iufb" and value.dtype.itemsize <= 8:
            return _NUMBER, value
        if type(value) is FunctionType and _names_nothing(value):
            return _CODE, value.__code__
        text = f"def ask(a):\n    return {self._condition('a', value)}\n"
        ask = written(text, self.space, "question")["ask"]
        never_changes = isinstance(value, numpy.generic) and not isinstance(value, numpy.void)
        return (_ASK, ask, value) if never_changes else (_ASK, ask)

    def pairs(self) -> tuple[tuple[int, int, bool | int], ...]:
        """Arrays that are in one place (True), share no memory (False), or are so many bytes apart, of those where it
        matters."""
        arrays = [(i, value) for i, value in enumerate(self.recording.given.values()) if _is_array(value)]
        found = []
        for at, (i, x) in enumerate(arrays):
            for j, y in arrays[at + 1 :]:
                if not self.recording.by_address and (id(x), id(y)) not in self.recording.compared:
                    continue
                is_same = x is y or _is_same(x, y)
                found.append((i, j, _distance(x, y) if not is_same and _share(x, y) else is_same))
        return tuple(found)

    def _is_temporary(self, value: Any) -> bool:
        if any(value is array for array in self.recording.temporaries):
            return True
        base = getattr(value, "_memory", None)
        return base is not None and any(_within(value, array) for array in self.recording.temporaries)

    def conditions(self) -> list[str]:
        given = list(self.recording.given.values())
        found = [self._condition(f"a{i}", value) for i, value in enumerate(given)]
        found.sort(key=len)  # numbers first
        unread = self.unread()
        found += [f"a{i}.tobytes() == {_content(value)!r}" for i, value in enumerate(given) if id(value) in unread]
        for i, j, how in self.pairs():
            if how is True:
                found.append(f"(a{i} is a{j} or is_same(a{i}, a{j}))")
            else:
                found.append(f"not share(a{i}, a{j})" if how is False else f"distance(a{i}, a{j}, None) == {how}")
        return found

    def unread(self) -> set[int]:
        """Arrays that no launch gets: the host has read them."""
        return self.names.keys() - self.passed

    def _condition(self, name: str, value: Any) -> str:
        kind = type(value)
        if kind is int:
            return f"type({name}) is {self.constant(int)} and {name} == {value}"
        if value is None or isinstance(value, (bool, enum.Enum, BuiltinFunctionType, numpy.ufunc)):
            return f"{name} is {self.constant(value)}"
        if _is_array(value):
            text = f"type({name}) is {self.constant(kind)} and {name}.dtype is {self.constant(value.dtype)} and "
            text += f"{name}.shape == {self.constant(value.shape)}"
            has_no_gaps = kind is numpy.ndarray and value.flags.c_contiguous
            return f"{text} and {name}.flags.c_contiguous" if has_no_gaps else text
        if isinstance(value, numpy.generic):
            return f"type({name}) is {self.constant(kind)} and {name}.tobytes() == {value.tobytes()!r}"
        if kind is FunctionType:
            return self._function(name, value)
        raise LookupError(value)

    def _function(self, name: str, value: Any) -> str:
        """A function that captures constants and classes only, and names fixed modules, classes and builtins only."""
        if value.__defaults__ or value.__kwdefaults__:
            raise LookupError(value)
        text = f"type({name}) is FunctionType and {name}.__code__ is {self.constant(value.__code__)}"
        text += f" and {name}.__defaults__ is None"
        for i, cell in enumerate(value.__closure__ or ()):
            if not isinstance(_captured(cell), (type, *_CONSTANTS)):
                raise LookupError(value)
            text += f" and same({name}.__closure__[{i}], {self.constant(_captured(cell))})"
        for word in sorted({word for code in codes_of(value.__code__) for word in code.co_names}):
            meaning = value.__globals__.get(word, self)
            if meaning is self:
                text += f" and {word!r} not in {name}.__globals__"
            elif isinstance(meaning, type) or _is_fixed(meaning):
                text += f" and {name}.__globals__.get({word!r}) is {self.constant(meaning)}"
            else:
                raise LookupError(value)
        return text


def _names_nothing(function: FunctionType) -> bool:
    """Whether all that it computes is in its code."""
    has_more = function.__defaults__ or function.__kwdefaults__ or function.__closure__
    return not has_more and not any(code.co_names for code in codes_of(function.__code__))


def _captured(cell: Any) -> Any:
    """What a function captures in a cell; of an empty one the cell."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _same(cell: Any, wanted: Any) -> bool:
    """Whether a cell holds a constant, or this class."""
    value = _captured(cell)
    return value is wanted or (
        type(value) is type(wanted) and not isinstance(value, type) and repr(value) == repr(wanted)
    )


def _share(a: Any, b: Any) -> bool:
    """Whether two arrays of one axis may share memory, by where they begin and end."""
    if type(a) is numpy.ndarray and type(b) is numpy.ndarray:
        return numpy.may_share_memory(a, b)
    (start, end), (other, other_end) = _ends(a), _ends(b)
    return start < other_end and other < end


def _ends(array: Any) -> tuple[int, int]:
    """The first address of an array of one axis, and the one behind it."""
    start, step, size = _row(array)
    far = (array.shape[0] - 1) * step
    return (start + min(far, 0), start + max(far, 0) + size) if array.shape[0] else (0, 0)


def _distance(a: Any, b: Any, *otherwise: Any) -> Any:
    """How many bytes ``b`` is behind ``a``; of arrays with gaps what else is given, or LookupError."""
    (start, step, size), (other, other_step, other_size) = _row(a), _row(b)
    if step == size and other_step == other_size:
        return other - start
    if not otherwise:
        raise LookupError(b)
    return otherwise[0]


def _content(value: Any) -> bytes:
    """What is in an array that the host reads."""
    if type(value) is not numpy.ndarray or value.nbytes > _MOST_COMPARED:
        raise LookupError(value)
    return value.tobytes()


def _is_same(a: Any, b: Any) -> bool:
    """Whether two arrays of one axis are the same elements."""
    return a.dtype == b.dtype and a.shape == b.shape and _row(a) == _row(b)


def _row(array: Any) -> tuple[int, int, int]:
    """The address of the first element of an array of one axis, bytes from one to the next, and of one."""
    elements = getattr(array, "_elements", array)  # of ours an array of NumPy in its place
    if hasattr(elements, "data_ptr"):  # of torch
        start, size = elements.data_ptr(), elements.element_size()
        step = elements.stride(0) * size
    elif type(elements) is numpy.ndarray:
        start, step, size = elements.__array_interface__["data"][0], elements.strides[0], elements.itemsize
    else:
        interface = elements.__cuda_array_interface__
        start, size = interface["data"][0], numpy.dtype(interface["typestr"]).itemsize
        step = (interface.get("strides") or (size,))[0]
    return start, step, size


def _is_fixed(value: Any) -> bool:
    """Whether it is a module in which nothing changes."""
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] in FIXED


def _is_array(value: Any) -> bool:
    """An array of one axis, whose dtype and shape say all that matters."""
    if type(value) is numpy.ndarray:
        return value.ndim == 1
    return hasattr(value, "__cuda_array_interface__") and len(getattr(value, "shape", ())) == 1


def _within(view: Any, array: Any) -> bool:
    at, start = (int(x.__cuda_array_interface__["data"][0]) for x in (view, array))
    return start <= at < start + array.nbytes


def _made(recording: Recording, wait: Callable[[], Any] | None) -> Callable[[dict[str, Any]], bool] | None:
    """What makes the call again: in C, or where that cannot ask what is to be asked, written."""
    return _in_c(recording, wait) or _written(recording, wait)


_IS, _INT, _ARRAY, _ASK, _NUMBER, _CODE, _CONTENT = range(7)  # questions of ext/replay.c
_CONSTANT, _GIVEN, _TUPLE = range(3)  # and parts of arguments of launches


def _in_c(recording: Recording, wait: Callable[[], Any] | None) -> Any:
    text, given = _Text(recording), list(recording.given.values())
    places = {id(value): i for i, value in enumerate(given)}
    try:
        launches = tuple(
            (launch, tuple(text.part(item, places) for item in args)) for launch, args in recording.launches
        )
        questions = tuple(map(text.question, given))
        apart = text.pairs()
    except LookupError:
        return None
    on_gpu = _core._current_device() >= _core.DEVICE_CUDA
    moved = on_gpu and any(type(value) is numpy.ndarray and id(value) in text.passed for value in given)
    if moved or recording.anew:
        return None
    alive = recording.temporaries[0]._memory.array if recording.temporaries else None
    try:
        return _core.Replay(tuple(recording.given), questions, apart, launches, _era, _era[0], alive, wait)
    except (TypeError, ValueError):  # arrays that it does not read
        return None


def _written(recording: Recording, wait: Callable[[], Any] | None) -> Callable[[dict[str, Any]], bool] | None:
    text = _Text(recording)
    try:
        launches = [
            f"{text.constant(launch)}({', '.join(map(text.argument, args))})" for launch, args in recording.launches
        ]
        conditions = text.conditions()
    except LookupError:
        return None
    text.space["names"] = tuple(recording.given)
    text.space["era"], text.space["then"] = _era, _era[0]
    text.space["device"] = _core._current_device()
    text.space["busy"], text.space["new"] = [], _new
    if wait is not None:
        launches.append(f"{text.constant(wait)}()")
    for array in recording.temporaries[:1]:
        conditions.append(f"{text.constant(array._memory.array)}.ptr")  # raises BufferError after a reset
    values = "".join(f"a{i}, " for i in range(len(recording.given)))
    lines = [
        "def replay(given):",
        "    if tuple(given) != names:",
        "        return False",
        f"    {values} = given.values()",
        f"    if not ({' and '.join(conditions)} and current() == device and era[0] == then and not busy):",
        "        return False",
        *(f"    {text.anew[id(array)]} = new({n}, {text.constant(dtype)})" for array, n, dtype in recording.anew),
        "    busy.append(1)",  # a handler of a signal may call the same, in the middle
        "    try:",
        *(f"        {launch}" for launch in launches),
        "    finally:",
        "        busy.clear()",
        "    return True",
        "",
    ]
    return written("\n".join(lines), text.space, "replay")["replay"]  # type: ignore[no-any-return]


def _new(n: int, dtype: Any) -> Any:
    from ..cuda._arrays import pooled_array

    return pooled_array(n, dtype)


def is_lost(array: Any) -> bool:
    """Whether the memory of an array has ended with its device, which was reset."""
    try:
        return not array._memory.array.ptr
    except BufferError:
        return True

# SPDX-License-Identifier: Apache-2.0
"""What libraries of the host compute for arrays of ours: LAPACK and random streams, which NumPy brings, and everything
about dtypes that no kernel computes (objects, long doubles), whose arrays are NumPy's own.

Nothing goes this way unseen: such functions are made by :func:`on_host`, or called by :func:`by_numpy`, and counted by
name (:func:`host_calls`). They read the memory of our arrays in place, and their results become arrays of ours without
a copy.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy

from ._fallback import away, by_host, is_away
from ._functions import array_shown, asnumpy, copy_of
from ._ndarray import OPERATORS, ndarray
from ._setup import is_held, of_numpy, to_numpy
from ._ufunc import Made, ufunc

CALLS: collections.Counter[str] = collections.Counter()


def host_calls() -> dict[str, int]:
    """How often each function was computed by a library of the host, since the start of the process."""
    return dict(CALLS)


def count(name: str) -> None:
    """Notes a call that the host computes."""
    CALLS[name] += 1


def take(x: Any) -> Any:
    """NumPy's arrays for ours, for one look, also those in lists, tuples and dicts."""
    if isinstance(x, ndarray):
        return to_numpy(x, True)
    if type(x) is dict:
        return {key: take(each) for key, each in x.items()}
    if type(x) in (list, tuple):
        return type(x)(take(each) for each in x)
    if type(x) is HostArray:
        return x.view(numpy.ndarray)
    shown = array_shown(x)
    return x if shown is x else take(shown)


def give(made: Any) -> Any:
    """Arrays of ours for those that NumPy has made, also in tuples, lists and dicts; numbers stay as they are."""
    if type(made) in (numpy.ndarray, HostArray):
        if not is_held(made.dtype):
            return made.view(HostArray)
        made = made.view(numpy.ndarray) if type(made) is HostArray else made
        return of_numpy(made if made.base is None else made.copy("K"), private=True)
    if type(made) is dict:
        return {key: give(each) for key, each in made.items()}
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return rebuilt(made, give)
    if type(made) in (list, tuple):
        return type(made)(give(each) for each in made)
    return made


def rebuilt(made: Any, change: Callable[[Any], Any]) -> Any:
    """A tuple with names, its items and further public attributes changed: SciPy's results have some of both."""
    again = tuple.__new__(type(made), map(change, made))
    for name, value in getattr(made, "__dict__", {}).items():
        again.__dict__[name] = value if name.startswith("_") else change(value)
    return again


def holds_ours(x: Any) -> bool:
    """Whether it is an array of ours, or holds one."""
    if type(x) in (list, tuple):
        return any(map(holds_ours, x))
    return isinstance(x, ndarray)


def _n_read(function: Callable[..., Any], n: int) -> int:
    """How many of n arguments by position come before those that are written to."""
    if isinstance(function, numpy.ufunc):
        return function.nin
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # of functions in C
        return n
    return names.index("out") if "out" in names else n


def call(name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A function of NumPy's on arrays of ours, counted under a name."""
    count(name)
    size = away(args) + away(options)
    if size:
        copies, n = _Copies(), _n_read(function, len(args))
        with by_host(name, size):
            given = {key: copies.lend(x) if key == "out" else take(x) for key, x in options.items()}
            made = copies.give(function(*take(args[:n]), *copies.lend(args[n:]), **given))
            copies.settle()
            return made
    return give(function(*take(args), **take(options)))


def changed(copy: numpy.ndarray[Any, Any], before: numpy.ndarray[Any, Any]) -> Any:
    """Which elements of an array have other bytes than they had before."""
    kind = f"V{copy.itemsize}"
    return numpy.ndarray(copy.shape, kind, copy.tobytes()) != numpy.ndarray(copy.shape, kind, before.tobytes())


class _Copies:
    """Copies of arrays for a function that may write to them, and takes its time: what it has changed is written
    back, through views too."""

    def __init__(self) -> None:
        self.all: list[tuple[ndarray, Any, Any]] = []

    def lend(self, x: Any) -> Any:
        if isinstance(x, ndarray):
            made = asnumpy(x)
            self.all.append((x, made, made.copy()))
            made.flags.writeable = x.flags.writeable
            return made
        if type(x) is dict:
            return {key: self.lend(each) for key, each in x.items()}
        return type(x)(map(self.lend, x)) if type(x) in (list, tuple) else x

    def settle(self) -> None:
        for ours, copy, before in self.all:
            if copy.flags.writeable and changed(copy, before).any():
                ours[...] = copy

    def give(self, made: Any) -> Any:
        """What the function gives as arrays of ours."""
        for ours, copy, _ in self.all:
            if made is copy:
                return ours
        if type(made) in (list, tuple):
            return type(made)(map(self.give, made))
        return give(made)


def absent(name: str, function: Callable[..., Any], args: Any, options: Any) -> Any:
    """A function of others that we do not have, on copies of arrays, as `fallback` wants it."""
    copies = _Copies()
    lent = copies.lend(args), copies.lend(options)
    with by_host(name, sum(copy.nbytes for _, copy, _ in copies.all), missing=True):
        made = function(*lent[0], **lent[1])
        copies.settle()
        return copies.give(made)


def on_host(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A function of NumPy's as one of ours, with its signature."""

    def hosted(*args: Any, **options: Any) -> Any:
        return call(name, function, *args, **options)

    namespace, _, hosted.__name__ = f"tessera.numeric.{name}".rpartition(".")
    hosted.__module__, hosted.__qualname__ = namespace, hosted.__name__
    hosted.__doc__ = doc
    hosted.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return hosted


# -- dtypes of the host ----------------------------------------------------------------------------------


class HostArray(numpy.ndarray[Any, Any]):
    """An array of a dtype that no kernel computes: objects, long doubles. It is NumPy's, in host memory; what
    NumPy computes of it becomes an array of ours where its dtype is one of ours. Every call is counted (`host_calls`).
    """

    __module__ = "tessera.numeric"
    _answers_numpy_alone = True  # our functions take it as it is

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return called(getattr(function, method), function.__name__, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return called(function, function.__name__, args, options)

    def __repr__(self) -> str:
        return repr(self.view(numpy.ndarray))

    def __getitem__(self, key: Any) -> Any:
        return give(self.view(numpy.ndarray)[take(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.view(numpy.ndarray)[take(key)] = take(value)

    @property
    def device(self) -> str:
        """``"cpu"``: NumPy's memory."""
        return "cpu"


def _method(name: str) -> Any:
    theirs = getattr(numpy.ndarray, name)

    def method(self: HostArray, *args: Any, **options: Any) -> Any:
        return called(theirs, name, (self, *args), options)

    method.__name__, method.__doc__ = name, f"NumPy's {name}."
    return method


_METHODS = """
    all any argmax argmin argpartition argsort astype choose clip compress conj conjugate cumprod cumsum diagonal dot
    max mean min nonzero prod repeat round searchsorted std sum take trace var __matmul__ __rmatmul__
"""
for _name in _METHODS.split():
    setattr(HostArray, _name, _method(_name))


def called(function: Any, name: str, args: Any, options: Any) -> Any:
    """What a function of NumPy's gives, which gets NumPy's arrays for ours; counted."""
    count(name)
    lent: dict[int, Any] = {}  # arrays of ours by the arrays that stand for them, for those that are written to
    copies = _Copies()  # of those on a GPU

    def lend(x: Any) -> Any:
        if isinstance(x, (ndarray, HostArray)):
            if isinstance(x, HostArray):
                made = x.view(numpy.ndarray)
            else:
                made = copies.lend(x) if is_away(x) else to_numpy(x)
            lent[id(made)] = x, made
            return made
        if isinstance(x, ufunc):
            return getattr(numpy, x.__name__)
        if type(x) in (list, tuple):
            return type(x)(map(lend, x))
        return x

    size = away(list(args)) + away(options)
    with by_host(name, size) if size else contextlib.nullcontext():
        made = function(*map(lend, args), **{key: lend(each) for key, each in options.items()})
        copies.settle()
    given, _ = lent.get(id(made), (None, None))
    return give(made) if given is None else given


def _copied(
    a: Any, out: Any = None, dtype: Any = None, casting: Any = "same_kind", order: Any = "K", where: Any = True
) -> Any:
    """What `copy_of` gives, by NumPy."""
    if out is None:
        a = numpy.asarray(a)
        return a.astype(a.dtype if dtype is None else dtype, order, casting)
    numpy.copyto(out, a, casting, where)
    return out


def by_numpy(thing: Any, args: tuple[Any, ...], options: dict[str, Any], by_operator: bool) -> Any:
    """What NumPy's function of the same name gives in place of one of ours, which met a dtype of the host; Ellipsis: it
    has none."""
    name = thing.__name__.removesuffix("_operator")
    theirs: Any = None
    if thing is copy_of:
        theirs = _copied
    elif by_operator or name != thing.__name__:
        inplace = len(args) > getattr(thing, "nin", 2)
        known = OPERATORS.get(name)
        known = f"i{known.rstrip('_')}" if known and inplace else known
        theirs = getattr(numpy, name) if known is None else getattr(operator, known)
        args = args[:2] if inplace and known else args
    elif args and isinstance(args[0], Made) and vars(type(args[0])).get(name) is thing:
        theirs = getattr(numpy.ufunc, name)
    elif vars(ndarray).get(name) is thing:
        theirs = getattr(numpy.ndarray, name, None)
    elif vars(ufunc).get(name) is thing:
        theirs = getattr(numpy.ufunc, name)
    elif thing.__module__ == "tessera.numeric":
        theirs = getattr(numpy, name, None)
    try:
        return ... if theirs is None else called(theirs, name, args, options)
    except TypeError as error:
        has_span = any(isinstance(x, (datetime.date, datetime.timedelta)) for x in args)
        if has_span and hasattr(error, "add_note"):  # from Python 3.11 on
            error.add_note("Python's dates and spans are no operands beside arrays: make them np.datetime64(x) or "
                           "np.timedelta64(x)")  # fmt: skip
        raise

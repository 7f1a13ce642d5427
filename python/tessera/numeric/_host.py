# SPDX-License-Identifier: Apache-2.0
"""What libraries of the host compute for arrays of ours: LAPACK and random streams, which NumPy brings.

Nothing goes this way unseen: such functions are made by :func:`on_host` and counted by name (:func:`host_calls`). They
read the memory of our arrays in place, and their results become arrays of ours without a copy.
"""

from __future__ import annotations

import collections
import inspect
from collections.abc import Callable
from typing import Any

import numpy

from ._fallback import away, by_host
from ._functions import asnumpy
from ._ndarray import ndarray
from ._setup import is_held, of_numpy, to_numpy

_calls: collections.Counter[str] = collections.Counter()


def host_calls() -> dict[str, int]:
    """How often each function was computed by a library of the host, since the start of the process."""
    return dict(_calls)


def count(name: str) -> None:
    """Notes a call that the host computes."""
    _calls[name] += 1


def take(x: Any) -> Any:
    """NumPy's arrays for ours, for one look, also those in lists, tuples and dicts."""
    if isinstance(x, ndarray):
        return to_numpy(x, True)
    if type(x) is dict:
        return {key: take(each) for key, each in x.items()}
    if type(x) in (list, tuple):
        return type(x)(take(each) for each in x)
    return x


def give(made: Any) -> Any:
    """Arrays of ours for those that NumPy has made, also in tuples, lists and dicts; numbers stay as they are."""
    if type(made) is numpy.ndarray and not is_held(made.dtype):
        return made  # of objects, which no array of ours can be
    if type(made) is numpy.ndarray:
        return of_numpy(made if made.base is None else made.copy("K"), private=True)
    if type(made) is dict:
        return {key: give(each) for key, each in made.items()}
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        return type(made)(*map(give, made))
    if type(made) in (list, tuple):
        return type(made)(give(each) for each in made)
    return made


def holds_ours(x: Any) -> bool:
    """Whether it is an array of ours, or holds one."""
    if type(x) in (list, tuple):
        return any(map(holds_ours, x))
    return isinstance(x, ndarray)


def call(name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A function of NumPy's on arrays of ours, counted under a name."""
    count(name)
    size = away(args) + away(options)
    if size:
        with by_host(name, size):
            return give(function(*take(args), **take(options)))
    return give(function(*take(args), **take(options)))


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
            if copy.flags.writeable and copy.tobytes() != before.tobytes():
                ours[...] = copy

    def give(self, made: Any) -> Any:
        """What the function gives as arrays of ours; what we have no dtype for stays NumPy's."""
        for ours, copy, _ in self.all:
            if made is copy:
                return ours
        if type(made) in (list, tuple):
            return type(made)(map(self.give, made))
        is_foreign = isinstance(made, numpy.ndarray) and not is_held(made.dtype)
        return made if is_foreign else give(made)


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

    hosted.__name__ = hosted.__qualname__ = name.rpartition(".")[2]
    hosted.__doc__ = doc
    hosted.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return hosted

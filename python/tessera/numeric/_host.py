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

from ._ndarray import ndarray
from ._setup import of_numpy, to_numpy

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
    if type(made) is numpy.ndarray and (made.dtype.kind in "OSUTV" or made.dtype.char in "gG"):
        return made  # which no array of ours can be
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
    taken = {key: take(each) for key, each in options.items()}
    return give(function(*(take(each) for each in args), **taken))


def on_host(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A function of NumPy's as one of ours, with its signature."""

    def hosted(*args: Any, **options: Any) -> Any:
        return call(name, function, *args, **options)

    hosted.__name__ = hosted.__qualname__ = name.rpartition(".")[2]
    hosted.__doc__ = doc
    hosted.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return hosted

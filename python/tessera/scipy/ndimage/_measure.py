# SPDX-License-Identifier: Apache-2.0
"""What is true of each labelled region: sums, means, extremes, places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ... import numeric as tn
from ._filters import _host
from ._windows import array_of

__all__ = [
    "center_of_mass", "extrema", "histogram", "maximum", "maximum_position", "mean", "median",
    "minimum", "minimum_position", "standard_deviation", "sum", "sum_labels", "variance",
]  # fmt: skip


# -- groups ---------------------------------------------------------------------------------------------------


class _Groups(NamedTuple):
    """Elements by the label that they have: values, the group of each (``count``: none), how many groups there are."""

    values: Any
    group: Any
    count: int
    shape: Any  # of what is asked for; None: one number

    def result(self, made: Any) -> Any:
        return made[0] if self.shape is None else made.reshape(self.shape)

    def sums(self, values: Any) -> Any:
        return tn.bincount(self.group, weights=values, minlength=self.count + 1)[: self.count]

    def counts(self) -> Any:
        return tn.bincount(self.group, minlength=self.count + 1)[: self.count]

    def best(self, values: Any, join: Any, start: Any) -> Any:
        made = tn.full(self.count + 1, start, dtype=values.dtype)
        join.at(made, self.group, values)
        return made[: self.count]


def _groups(input: Any, labels: Any, index: Any) -> _Groups:
    x = array_of(input)
    if labels is None:
        if index is not None:
            raise ValueError("index without defined labels")
        return _Groups(x.ravel(), tn.zeros(x.size, "i8"), 1, None)
    x, labels = tn.broadcast_arrays(x, array_of(labels))
    values, flat = x.ravel(), labels.ravel()
    if index is None:
        return _Groups(values, tn.where(flat > 0, 0, 1), 1, None)
    wanted = _host(index)
    names = numpy.unique(wanted)
    known = tn.asarray(names)
    at = tn.minimum(tn.searchsorted(known, flat), names.size - 1)
    group = tn.where(known[at] == flat, at, names.size)
    found = _Groups(values, group, names.size, wanted.shape if wanted.ndim else None)
    if wanted.ndim and not numpy.array_equal(names, wanted.ravel()):  # in another order, or several times
        return _Ordered(*found)._replace_order(numpy.searchsorted(names, wanted.ravel()))
    return found


class _Ordered(_Groups):
    """Groups that are asked for in an order of their own."""

    def _replace_order(self, order: Any) -> _Ordered:
        self.order = tn.asarray(order)
        return self

    def result(self, made: Any) -> Any:
        return made[self.order].reshape(self.shape)


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The sum of each label's elements."""
    found = _groups(input, labels, index)
    if found.shape is None:  # in the dtype that sums of the input have
        return tn.where(found.group == 0, found.values, 0).sum(dtype=found.values[:0].sum().dtype)
    return found.result(found.sums(found.values))


sum = sum_labels


def mean(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The mean of each label's elements."""
    found = _groups(input, labels, index)
    return found.result(found.sums(found.values) / found.counts())


def _spread_of(input: Any, labels: Any, index: Any) -> tuple[_Groups, Any]:
    found = _groups(input, labels, index)
    n = found.counts()
    middle = found.sums(found.values) / n
    away = found.values - tn.concatenate([middle, tn.zeros(1)])[found.group]
    return found, found.sums(away * away) / n


def variance(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The variance of each label's elements."""
    found, made = _spread_of(input, labels, index)
    return found.result(made)


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The standard deviation of each label's elements."""
    found, made = _spread_of(input, labels, index)
    return found.result(tn.sqrt(made))


def _least_of(found: _Groups) -> Any:
    kind = found.values.dtype
    top = numpy.inf if kind.kind == "f" else True if kind.kind == "b" else numpy.iinfo(kind).max
    return found.best(found.values, tn.minimum, top)


def _most_of(found: _Groups) -> Any:
    kind = found.values.dtype
    low = -numpy.inf if kind.kind == "f" else False if kind.kind == "b" else numpy.iinfo(kind).min
    return found.best(found.values, tn.maximum, low)


def _place(found: _Groups, made: Any) -> Any:
    """Where the first element of each group lies that has the group's value."""
    n = found.values.size
    whole = tn.concatenate([made, made[:1]])[found.group]
    return found.best(tn.where(whole == found.values, tn.arange(n), n - 1), tn.minimum, n - 1)


def minimum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The least of each label's elements."""
    found = _groups(input, labels, index)
    return found.result(_least_of(found))


def maximum(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The greatest of each label's elements."""
    found = _groups(input, labels, index)
    return found.result(_most_of(found))


def _positions(input: Any, found: _Groups, flat: Any) -> Any:
    at = numpy.unravel_index(_host(found.result(flat)), array_of(input).shape)
    if found.shape is None:
        return tuple(int(a) for a in at)
    return [tuple(map(int, p)) for p in zip(*(a.ravel() for a in at), strict=True)]


def minimum_position(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Where the least of each label's elements lies."""
    found = _groups(input, labels, index)
    return _positions(input, found, _place(found, _least_of(found)))


def maximum_position(input: Any, labels: Any = None, index: Any = None) -> Any:
    """Where the greatest of each label's elements lies."""
    found = _groups(input, labels, index)
    return _positions(input, found, _place(found, _most_of(found)))


def extrema(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The least and the greatest of each label's elements, and where they lie."""
    found = _groups(input, labels, index)
    low, high = _least_of(found), _most_of(found)
    places = (_positions(input, found, _place(found, end)) for end in (low, high))
    return found.result(low), found.result(high), *places


def median(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The median of each label's elements."""
    found = _groups(input, labels, index)
    order = tn.lexsort((found.values, found.group))
    n = found.counts()
    first = tn.cumsum(n) - n
    inside = found.values[order]
    low, high = first + tn.maximum(n - 1, 0) // 2, first + n // 2
    return found.result((inside[low] + inside[high].astype("f8")) / 2)


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Any:
    """The mean place of each label's elements, each counted as often as its value says."""
    x = array_of(input)
    found = _groups(x, labels, index)
    total = found.sums(found.values)
    made = []
    for axis, n in enumerate(x.shape):
        shape = [1] * x.ndim
        shape[axis] = n
        at = tn.broadcast_to(tn.arange(n, dtype="f8").reshape(shape), x.shape).ravel()
        made.append(_host(found.result(found.sums(found.values * at) / total)))
    if found.shape is None:
        return tuple(float(m) for m in made)
    return [tuple(map(float, p)) for p in zip(*(m.ravel() for m in made), strict=True)]


def histogram(
    input: Any, min: float, max: float, bins: int, labels: Any = None, index: Any = None
) -> Any:
    """How many of each label's elements lie in each of equal parts between two ends."""
    found = _groups(input, labels, index)
    made = [
        tn.histogram(found.values[found.group == k], bins, (min, max))[0] for k in range(found.count)
    ]
    if found.shape is None:
        return made[0]
    at = found.order.tolist() if isinstance(found, _Ordered) else range(found.count)
    return [made[k] for k in at]

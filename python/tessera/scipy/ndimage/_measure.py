# SPDX-License-Identifier: Apache-2.0
"""Connected regions and what is true of each: sums, means, extremes, places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from ... import numeric as tn
from ._filters import _host
from ._morphology import structure_of
from ._windows import array_of, folded, views

__all__ = [
    "center_of_mass", "extrema", "find_objects", "histogram", "label", "maximum", "maximum_position", "mean", "median",
    "minimum", "minimum_position", "standard_deviation", "sum", "sum_labels", "variance",
]  # fmt: skip


# -- regions --------------------------------------------------------------------------------------------------


def label(input: Any, structure: Any = None, output: Any = None) -> Any:
    """Numbers connected regions of what is not 0, in the order of their first elements.

    Returns
    -------
    labels, count
        The count alone where ``output`` is an array.
    """
    x = array_of(input) != 0
    near = structure_of(x.ndim, 1) if structure is None else _host(structure).astype(bool)
    if near.ndim != x.ndim or any(n != 3 for n in near.shape):
        raise RuntimeError("structure and input must have equal rank, and structure dimensions must equal 3")
    if (near != near[(slice(None, None, -1),) * near.ndim]).any():
        raise RuntimeError("structuring element is not symmetric")
    roots = _roots(x, near)
    first = tn.unique(roots)
    first = first[first > 0]
    made = tn.where(x, tn.searchsorted(first, roots) + 1, 0)
    if isinstance(output, tn.ndarray):
        output[...] = made.astype(output.dtype)
        return first.size
    return made.astype("i4" if output is None else output), first.size


def _roots(x: Any, near: Any) -> Any:
    """For each element of a region 1 and the place of its first one, 0 elsewhere.

    Each turn every label looks for the least one beside it, and all take the least that these ways lead to: so many
    turns as the logarithm of the longest way.
    """
    n = x.size
    made = tn.where(x, tn.arange(1, n + 1).reshape(x.shape), n + 1)
    places = [tuple(map(int, p)) for p in numpy.argwhere(near)]
    while n and places:
        beside = folded(
            views(made, near.shape, [0] * x.ndim, ["constant"] * x.ndim, n + 1, places), tn.minimum
        )
        beside = tn.where(x, tn.minimum(beside, made), n + 1)
        if tn.array_equal(beside, made):
            break
        ways = tn.arange(n + 2)
        tn.minimum.at(ways, made.ravel(), beside.ravel())
        while True:
            further = ways[ways]
            if tn.array_equal(further, ways):
                break
            ways = further
        made = ways[made]
    return tn.where(x, made, 0)


def find_objects(input: Any, max_label: int = 0) -> list[Any]:
    """For each label the slices of the box that it fills, None where there is none."""
    x = array_of(input)
    count = int(max_label) if max_label > 0 else int(x.max()) if x.size else 0
    if count < 1:
        return []
    flat = x.ravel()
    ends = []
    for axis, n in enumerate(x.shape):
        shape = [1] * x.ndim
        shape[axis] = n
        at = tn.broadcast_to(tn.arange(n).reshape(shape), x.shape).ravel()
        low, high = tn.full(count + 1, n), tn.full(count + 1, -1)
        inside = (flat > 0) & (flat <= count)
        groups = tn.where(inside, flat, 0)
        tn.minimum.at(low, groups, at)
        tn.maximum.at(high, groups, at)
        ends.append((low.tolist(), high.tolist()))
    return [
        tuple(slice(low[k], high[k] + 1) for low, high in ends) if ends[0][1][k] >= 0 else None
        for k in range(1, count + 1)
    ]


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

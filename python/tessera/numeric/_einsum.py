# SPDX-License-Identifier: Apache-2.0
"""Einstein sums: operands are multiplied two at a time, as products of matrices where something is summed.

A label is a letter, or a number below 0 for an axis that ``...`` stands for: -1 for the last one. Every step keeps the
labels that the result or a later operand needs and sums over the others.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from . import _functions as f
from ._linear import contracted
from ._meanings import has_meaning
from ._ndarray import ndarray
from ._reduce import any as _any_of
from ._reduce import into, scalar_of
from ._reduce import sum as _sum_of
from ._ufunc import FUNCTIONS

INNER = ("Term",)
METHODS: dict[str, Any] = {}
_multiply = FUNCTIONS["multiply"]
Label = str | int
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Term:
    """An operand with a label for each axis."""

    def __init__(self, array: ndarray, labels: Sequence[Label]) -> None:
        self.array, self.labels = array, list(labels)

    def sizes(self) -> dict[Label, int]:
        return dict(zip(self.labels, self.array.shape, strict=True))


# -- reading subscripts --------------------------------------------------------------------------------


def _text_of(sublist: Any) -> str:
    """A list of numbers and Ellipsis as subscripts."""
    if not hasattr(sublist, "__iter__"):
        raise TypeError("subscripts for each operand must be a list of integers and Ellipsis")
    parts = []
    for each in sublist:
        if each is Ellipsis:
            parts.append("...")
            continue
        try:
            number = operator.index(each)
        except TypeError:
            raise TypeError("each subscript must be either an integer or an ellipsis") from None
        if not 0 <= number < len(_LETTERS):
            raise ValueError("subscript is not within the valid range [0, 52)")
        parts.append(_LETTERS[number])
    return "".join(parts)


def _read(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Subscripts as one text, and the operands."""
    if not operands:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand, or at least one "
                         "operand and its corresponding subscripts list")  # fmt: skip
    if isinstance(operands[0], (str, bytes)):
        text = operands[0]
        return text if isinstance(text, str) else text.decode(), list(operands[1:])
    if len(operands) < 2:
        raise ValueError("must provide at least an operand and a subscripts list to einsum")
    pairs = len(operands) // 2
    text = ",".join(_text_of(operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        text += "->" + _text_of(operands[-1])
    return text, list(operands[0 : 2 * pairs : 2])


def _split(part: str, what: str) -> tuple[str, str | None]:
    """Letters before an ellipsis and behind it; None: it has none."""
    part = part.replace(" ", "")
    before, dots, behind = part.partition("...")
    for c in before + behind:
        if c not in _LETTERS:
            if c == ".":
                raise ValueError("einstein sum subscripts string contains a '.' that is not part of an ellipsis "
                                 f"('...') in {what}")  # fmt: skip
            raise ValueError(
                f"invalid subscript '{c}' in einstein sum subscripts string, subscripts must be letters"
            )
    return before, behind if dots else None


def _labels_of(part: str, rank: int, i: int) -> list[Label]:
    """A label for each axis of an operand."""
    before, behind = _split(part, f"operand {i}")
    letters = len(before) + len(behind or "")
    if letters > rank:
        raise ValueError(
            f"einstein sum subscripts string contains too many subscripts for operand {i}"
        )
    if behind is None:
        if letters < rank:
            raise ValueError("operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                             "provided to broadcast the extra dimensions.")  # fmt: skip
        return [*before]
    return [*before, *range(letters - rank, 0), *behind]


def _result_labels(part: str | None, all_labels: list[Label]) -> list[Label]:
    """The labels of the result: those written, or all that occur once, in the order of letters."""
    spread = sorted({label for label in all_labels if isinstance(label, int)})
    if part is None:
        once = sorted(c for c in set(all_labels) if isinstance(c, str) and all_labels.count(c) == 1)
        return [*spread, *once]
    before, behind = _split(part, "the output")
    letters = before + (behind or "")
    for c in letters:
        if letters.count(c) > 1:
            raise ValueError(
                f"einstein sum subscripts string includes output subscript '{c}' multiple times"
            )
        if c not in all_labels:
            raise ValueError(f"einstein sum subscripts string included output subscript '{c}' which never appeared in "
                             "an input")  # fmt: skip
    if spread and behind is None:
        raise ValueError("output had too few broadcast dimensions: its subscripts have no ellipsis")
    return [*before, *spread, *(behind or "")]


def _terms(text: str, arrays: list[ndarray]) -> tuple[list[Term], list[Label]]:
    inputs, arrow, output = text.partition("->")
    if "-" in inputs + output or ">" in inputs + output:
        raise ValueError(
            "einstein sum subscript string does not contain proper '->' output specified"
        )
    if "," in output:
        raise ValueError(
            "invalid subscript ',' in einstein sum subscripts string, subscripts must be letters"
        )
    parts = inputs.split(",")
    if len(parts) != len(arrays):
        fewer = "fewer" if len(arrays) < len(parts) else "more"
        raise ValueError(
            f"{fewer} operands provided to einstein sum function than specified in the subscripts string"
        )
    pairs = zip(arrays, parts, strict=True)
    terms = [Term(a, _labels_of(part, a.ndim, i)) for i, (a, part) in enumerate(pairs)]
    every = [label for term in terms for label in term.labels]
    return terms, _result_labels(output if arrow else None, every)


# -- one operand ---------------------------------------------------------------------------------------


def _diagonals(term: Term, i: int) -> Term:
    """A view in which each label has one axis."""
    a, labels = term.array, list(dict.fromkeys(term.labels))
    if len(labels) == len(term.labels):
        return term
    shape: dict[Label, int] = {}
    strides = dict.fromkeys(labels, 0)
    for label, n, step in zip(term.labels, a.shape, a.strides, strict=True):
        if shape.setdefault(label, n) != n:
            raise ValueError(f"dimensions in operand {i} for collapsing index '{label}' don't match "
                             f"({shape[label]} != {n})")  # fmt: skip
        strides[label] += step
    return Term(
        a._view(0, a.dtype, [*shape.values()], [*strides.values()]),
        labels,
    )


def _unbroadcast(terms: list[Term]) -> list[Term]:
    """Axes of extent 1 left out where other operands are longer, which all must be alike."""
    extents: dict[Label, int] = {}
    for term in terms:
        for label, n in term.sizes().items():
            if n != 1 and extents.get(label, 1) not in (1, n):
                shapes = " ".join(str(t.array.shape) for t in terms)
                raise ValueError("operands could not be broadcast together with remapped shapes [original->remapped]: "
                                 f"{shapes}: subscript '{label}' is {extents[label]} and {n} long")  # fmt: skip
            extents[label] = n if n != 1 else extents.get(label, 1)
    made = []
    for term in terms:
        gone = [n == 1 and extents[label] != 1 for label, n in term.sizes().items()]
        if any(gone):
            key = tuple(0 if each else slice(None) for each in gone)
            rest = [label for label, each in zip(term.labels, gone, strict=True) if not each]
            term = Term(term.array[(*key, ...)], rest)
        made.append(term)
    return made


def _summed(term: Term, keep: Iterable[Label]) -> Term:
    """Sums over the axes whose labels are not kept."""
    keep = set(keep)
    gone = [d for d, label in enumerate(term.labels) if label not in keep]
    if not gone:
        return term
    rest = [label for label in term.labels if label in keep]
    a = term.array
    if a.dtype == bool:
        return Term(f.asarray(_any_of(a, tuple(gone))), rest)
    return Term(f.asarray(_sum_of(a, tuple(gone), a.dtype)), rest)


def _ordered(term: Term, labels: Sequence[Label]) -> ndarray:
    """The axes in the order of labels that it all has."""
    order = [term.labels.index(label) for label in labels]
    return term.array if order == [*range(len(order))] else term.array.transpose(order)


# -- two operands --------------------------------------------------------------------------------------


def _spread(term: Term, labels: Sequence[Label]) -> ndarray:
    """The axes in the order of labels, of extent 1 where it lacks one."""
    a = _ordered(term, [label for label in labels if label in term.labels])
    return a[tuple(slice(None) if label in term.labels else None for label in labels)]


def _product(a: Term, b: Term, keep: set[Label]) -> Term:
    """The product of two operands, summed over what is not kept."""
    a = _summed(a, keep | set(b.labels))
    b = _summed(b, keep | set(a.labels))
    both = [label for label in a.labels if label in b.labels]
    over = [label for label in both if label not in keep]
    batch = [label for label in both if label in keep]
    rows = [label for label in a.labels if label not in both]
    columns = [label for label in b.labels if label not in both]
    labels = [*batch, *rows, *columns]
    if not over:
        return Term(f.asarray(_multiply(_spread(a, labels), _spread(b, labels))), labels)
    sizes = a.sizes() | b.sizes()

    def extents(some: Sequence[Label]) -> list[int]:
        return [sizes[label] for label in some]

    m, k, n = (math.prod(extents(some)) for some in (rows, over, columns))
    x = _ordered(a, [*batch, *rows, *over]).reshape([*extents(batch), m, k])
    y = _ordered(b, [*batch, *over, *columns]).reshape([*extents(batch), k, n])
    return Term(contracted(x, y).reshape(extents(labels)), labels)


def _folded(terms: list[Term], keep: set[Label]) -> Term:
    """The product of operands one after the other."""
    made = terms[0]
    for i in range(1, len(terms)):
        later = {label for term in terms[i + 1 :] for label in term.labels}
        made = _product(made, terms[i], keep | later)
    return _summed(made, keep)


def _by_path(terms: list[Term], result: list[Label], path: Sequence[Sequence[int]]) -> Term:
    """Products in the order of a path: each step takes operands from the list and adds theirs at its end."""
    terms = list(terms)
    for step in path:
        taken = [terms.pop(i) for i in sorted(step, reverse=True)]
        later = {label for term in terms for label in term.labels}
        terms.append(_folded(taken, set(result) | later))  # the last one first, as NumPy: so results lie as its do
    return _folded(terms, set(result))


def _outline(x: Any) -> Any:
    """NumPy's array of the same shape and dtype, without elements."""
    if isinstance(x, ndarray):
        return numpy.broadcast_to(numpy.zeros((), x.dtype), x.shape)
    return x


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """The order of products that :func:`einsum` takes with ``optimize``, and a text that explains it."""
    return numpy.einsum_path(*map(_outline, operands), optimize=optimize, einsum_call=einsum_call)


def _dtype_of(arrays: list[ndarray], dtype: Any, casting: str) -> numpy.dtype[Any]:
    if dtype is None:
        return f.result_type(*arrays)
    wanted = f.dtype_of(dtype)
    for i, a in enumerate(arrays):
        if not f.can_cast(a.dtype, wanted, casting):
            raise TypeError(f"operand {i} cannot be cast from {a.dtype!r} to {wanted!r} according to the rule "
                            f"'{casting}'")  # fmt: skip
    return wanted


def _trace(text: Any, a: Any) -> Any:
    """The sum of a diagonal whose dtype a sum keeps; None: it is another call."""
    if type(text) is not str or text not in ("ii", "ii->") or type(a) is not ndarray or a.ndim != 2:
        return None
    is_kept = a.dtype.kind in "fc" or (a.dtype.kind in "iu" and a.itemsize == 8)
    return a.diagonal().sum() if is_kept and a.shape[0] == a.shape[1] else None


def _turned(text: Any, a: Any) -> Any:
    """A view with the axes in another order; None: it is another call."""
    rank = a.ndim if type(a) is ndarray else 0
    if type(text) is not str or not rank or len(text) != 2 * rank + 2 or text[rank : rank + 2] != "->":
        return None
    labels, result = text[:rank], text[rank + 2 :]
    if not labels.isalpha() or not labels.isascii() or len({*labels}) != rank or {*labels} != {*result}:
        return None
    return a.transpose([labels.index(label) for label in result])


def einsum(*operands: Any, out: Any = None, optimize: Any = False, **kwargs: Any) -> Any:
    """Products of operands, summed over the subscripts that the result does not have: ``einsum("ij,jk->ik", a, b)``.

    A view where nothing is multiplied, summed or converted. optimize: the order of products is chosen by their cost.
    """
    if len(operands) == 2 and out is None and not kwargs:
        made = _trace(*operands)
        made = _turned(*operands) if made is None else made
        if made is not None:
            return made
    dtype, order, casting = (
        kwargs.pop(name, default)
        for name, default in (("dtype", None), ("order", "K"), ("casting", "safe"))
    )
    if kwargs:
        raise TypeError(f"Did not understand the following kwargs: {sorted(kwargs)}")
    order, dtype = f.check_order(order), None if dtype is None else f.dtype_of(dtype)
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(
            f"casting must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe', not {casting!r}"
        )
    text, given = _read(operands)
    arrays = [f.asarray(x) for x in given]
    terms, result = _terms(text, arrays)
    terms = _unbroadcast([_diagonals(term, i) for i, term in enumerate(terms)])
    is_view = len(terms) == 1 and set(terms[0].labels) == set(result) and (order not in "CF" or not result)
    if is_view and out is None:
        return scalar_of(_ordered(terms[0], result).view())  # NumPy gives a view, whatever dtype= says
    wanted = _dtype_of(arrays, dtype, casting) if arrays else numpy.dtype(float)
    if has_meaning(wanted):
        raise TypeError("invalid data type for einsum")
    terms = [Term(term.array.astype(wanted, copy=False), term.labels) for term in terms]
    sizes = {label: n for term in terms for label, n in term.sizes().items()}
    if 0 in sizes.values() and any(n == 0 and label not in result for label, n in sizes.items()):
        term = Term(f.zeros([sizes[label] for label in result], wanted), result)  # sums of nothing, whatever else is
    elif optimize is not False and len(terms) > 2:
        path = einsum_path(*operands, optimize=optimize)[0][1:]
        term = _by_path(terms, result, path)
    else:
        term = _folded(terms, set(result))
    made = _ordered(term, result)
    if out is not None:
        if isinstance(out, ndarray):
            if out.ndim != made.ndim:
                raise ValueError(
                    f"out parameter does not have the correct number of dimensions, has {out.ndim} but should have "
                    f"{made.ndim}"
                )
            made = f.broadcast_to(made, out.shape)  # axes of one element are spread
        return into(made, out, "unsafe" if optimize else casting)  # as NumPy's
    if order == "A":
        order = "F" if all(a.flags.f_contiguous for a in arrays) else "C"
    return scalar_of(f.asarray(made, order=order) if order in "CF" else made)

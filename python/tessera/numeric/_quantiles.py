# SPDX-License-Identifier: Apache-2.0
"""Quantiles of lines with NaN: all lines are sorted at once, where NumPy's program asks one line after the other."""

from __future__ import annotations

from typing import Any

import numpy

from . import _functions as f
from ._index import take_along_axis
from ._joining import stack
from ._ndarray import ndarray
from ._numpys import program_of
from ._reduce import sum as sum_of
from ._setup import NO_VALUE
from ._sort import sort
from ._ufunc import FUNCTIONS, select

INNER: tuple[str, ...] = ()
METHODS: dict[str, Any] = {}


def _of_lines(a: ndarray, q: Any, axis: int) -> ndarray | None:
    """The quantile of each line without its NaN, between two neighbours; of each of a list of quantiles. None: a line
    has nothing else."""
    lines = sort(f.moveaxis(a, axis, -1))  # NaN last
    count = f.asarray(sum_of(lines == lines, -1))
    if not bool((count > 0).all()):
        return None
    if type(q) is list:
        return stack([_between(a, lines, count, float(each)) for each in q])
    return _between(a, lines, count, q)


def _between(a: ndarray, lines: ndarray, count: ndarray, q: float) -> ndarray:
    virtual = f.asarray((count - 1) * q)
    if type(q) is int:  # the least or the greatest, which stand between nothing
        return take_along_axis(lines, virtual[..., None], -1)[..., 0]
    before = f.asarray(FUNCTIONS["floor"](virtual)).astype(numpy.intp)
    last = f.asarray(virtual >= count - 1)
    low, high = select(last, count - 1, before), select(last, count - 1, before + 1)
    gamma = virtual - select(last, -1, before)  # NumPy counts the last place from the end
    below = take_along_axis(lines, low[..., None], -1)[..., 0]
    above = take_along_axis(lines, high[..., None], -1)[..., 0]
    width, rest = above - below, f.asarray(1 - gamma).astype(a.dtype)
    made = f.asarray(below + width * gamma.astype(a.dtype))
    FUNCTIONS["subtract"](above, width * rest, out=made, where=gamma >= 0.5)  # faults elsewhere are not told of
    return made


def _is_of_lines(a: Any, q: Any, axis: Any, options: dict[str, Any]) -> bool:
    some = q if type(q) is list and q and type(a) is ndarray and a.dtype.char == "d" else (q,)
    plain = options["method"] == "linear" and options["keepdims"] is NO_VALUE
    return (
        plain and options["out"] is options["weights"] is None and type(a) is ndarray and a.dtype.char in "fd"
        and a.ndim > 1 and a.size > 0 and type(axis) is int and -a.ndim <= axis < a.ndim
        and all(type(each) in (int, float) and 0 <= each <= 1 for each in some)
    )  # fmt: skip


def nanquantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
                method: str = "linear", keepdims: Any = NO_VALUE, *, weights: Any = None) -> Any:  # fmt: skip
    """Quantiles along axes, NaN left out."""
    options = {"out": out, "overwrite_input": overwrite_input, "method": method, "keepdims": keepdims,
               "weights": weights}  # fmt: skip
    made = _of_lines(a, q, axis) if _is_of_lines(a, q, axis, options) else None
    return made if made is not None else program_of("nanquantile")(a, q, axis, **options)


def nanpercentile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
                  method: str = "linear", keepdims: Any = NO_VALUE, *, weights: Any = None) -> Any:  # fmt: skip
    """Percentiles along axes, NaN left out."""
    options = {"out": out, "overwrite_input": overwrite_input, "method": method, "keepdims": keepdims,
               "weights": weights}  # fmt: skip
    part = q / 100 if type(q) in (int, float) else q
    if type(q) is list and all(type(each) in (int, float) for each in q):
        part = [each / 100 for each in q]
    made = _of_lines(a, part, axis) if _is_of_lines(a, part, axis, options) else None
    return made if made is not None else program_of("nanpercentile")(a, q, axis, **options)

# SPDX-License-Identifier: Apache-2.0
"""Statistics."""

from __future__ import annotations

import math
from typing import Any

from .. import numeric as tn
from ._missing import of_module

__all__ = ["boxcox_llf", "entropy", "trim_mean", "zmap", "zscore"]


def _float(x: Any) -> Any:
    x = tn.asarray(x)
    return x if x.dtype.kind in "fc" else x.astype("f8")


def _single(x: Any) -> Any:
    return x.astype("f4") if x.dtype == "e" else x


def trim_mean(a: Any, proportiontocut: float, axis: int | None = 0) -> Any:
    """The mean without a part of the least and of the greatest elements."""
    x = tn.asarray(a)
    if not x.size:
        return math.nan
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    n = x.shape[axis]
    cut = int(proportiontocut * n)
    if cut >= n - cut:
        raise ValueError("Proportion too big.")
    return tn.moveaxis(tn.sort(x, axis=axis), axis, 0)[cut : n - cut].mean(axis=0)


def zmap(
    scores: Any, compare: Any, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate"
) -> Any:
    """How many standard deviations lie between scores and the mean of others; NaN where there is no deviation."""
    if nan_policy not in ("propagate", "omit", "raise"):
        raise ValueError("nan_policy must be one of {'propagate', 'raise', 'omit'}")
    x, others = _float(scores), _float(compare)
    if not others.size:
        return tn.empty(x.shape, tn.result_type(x, others))
    if nan_policy == "raise" and tn.isnan(others).any():
        raise ValueError("The input contains nan values")
    mean, std = (tn.nanmean, tn.nanstd) if nan_policy == "omit" else (tn.mean, tn.std)
    middle = mean(others, axis=axis, keepdims=True)
    width = std(others, axis=axis, ddof=ddof, keepdims=True)
    first = others.ravel()[0] if axis is None else tn.take(others, tn.asarray([0]), axis=axis)
    is_flat = (others == first).all(axis=axis, keepdims=True)
    return (x - middle) / tn.where(is_flat, math.nan, width)


def zscore(a: Any, axis: int | None = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """`zmap` of scores with themselves."""
    return zmap(a, a, axis, ddof, nan_policy)


def entropy(pk: Any, qk: Any = None, base: float | None = None, axis: int = 0) -> Any:
    """The entropy of weights, or how far others are from them."""
    if base is not None and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    p = _float(pk)
    if "c" in (p.dtype.kind, tn.asarray(p if qk is None else qk).dtype.kind):
        raise TypeError("entropy of complex numbers is not defined: weights are real")
    p = _single(p / p.sum(axis=axis, keepdims=True))
    if qk is None:
        parts = tn.where(p > 0, -p * tn.log(tn.where(p > 0, p, 1)), tn.where(p == 0, 0.0, -math.inf))
    else:
        q = _float(qk)
        p, q = tn.broadcast_arrays(p, q)
        q = _single(q / q.sum(axis=axis, keepdims=True))
        both = (p > 0) & (q > 0)
        ratio = p * tn.log(tn.where(both, p, 1) / tn.where(both, q, 1))
        parts = tn.where(both, ratio, tn.where((p == 0) & (q >= 0), 0.0, math.inf))
    made = tn.where(tn.isnan(p), p, parts)
    made = made.astype(p.dtype, copy=False).sum(axis=axis)
    return made if base is None else made / math.log(base)


def boxcox_llf(lmb: float, data: Any) -> Any:
    """The log-likelihood of Box and Cox's transform with an exponent."""
    x = _float(data)
    n = x.shape[0]
    if not n:
        return x.dtype.type(math.nan)
    logs = tn.log(x)
    moved = logs if lmb == 0 else x**lmb / lmb
    return (lmb - 1) * logs.sum(axis=0) - n / 2 * tn.log(moved.var(axis=0))

__getattr__ = of_module("stats")

# SPDX-License-Identifier: Apache-2.0
"""Distances: a row of a table each, what is summed over the coordinates and what becomes of the sum."""

from __future__ import annotations

import math
from typing import Any

from ... import numeric as tn

__all__ = [
    "canberra", "cdist", "chebyshev", "cityblock", "correlation", "cosine", "distance_matrix", "euclidean", "hamming",
    "hellinger", "jensenshannon", "kl_divergence", "minkowski", "pdist", "russellrao", "sqeuclidean",
]  # fmt: skip


def _float(x: Any) -> Any:
    x = tn.asarray(x)
    return x.astype("f8") if x.dtype.kind != "f" or x.dtype == "e" else x


def _cosine(u: Any, v: Any) -> Any:
    both, first, second = ((a * b).sum(axis=-1) for a, b in ((u, v), (u, u), (v, v)))
    return 1 - both / tn.sqrt(first * second)


def _correlation(u: Any, v: Any) -> Any:
    return _cosine(u - u.mean(axis=-1, keepdims=True), v - v.mean(axis=-1, keepdims=True))


def _canberra(u: Any, v: Any) -> Any:
    below = tn.abs(u) + tn.abs(v)
    return tn.where(below == 0, 0, tn.abs(u - v) / tn.where(below == 0, 1, below)).sum(axis=-1)


def _rel_entr(p: Any, q: Any) -> Any:
    both = (p > 0) & (q > 0)
    inner = p * tn.log(tn.where(both, p, 1) / tn.where(both, q, 1))
    return tn.where(both, inner, tn.where((p == 0) & (q >= 0), 0.0, math.inf))


def _jensenshannon(p: Any, q: Any) -> Any:
    p, q = (v / v.sum(axis=-1, keepdims=True) for v in (p, q))
    middle = (p + q) / 2
    return tn.sqrt((_rel_entr(p, middle) + _rel_entr(q, middle)).sum(axis=-1) / 2)


def _russellrao(u: Any, v: Any) -> Any:
    return (u.shape[-1] - ((u != 0) & (v != 0)).sum(axis=-1)) / u.shape[-1]


# Of two arrays whose last axis has the coordinates.
METRICS = {
    "euclidean": lambda u, v: tn.sqrt(((u - v) * (u - v)).sum(axis=-1)),
    "sqeuclidean": lambda u, v: ((u - v) * (u - v)).sum(axis=-1),
    "cityblock": lambda u, v: tn.abs(u - v).sum(axis=-1),
    "chebyshev": lambda u, v: tn.abs(u - v).max(axis=-1),
    "canberra": _canberra,
    "cosine": _cosine,
    "correlation": _correlation,
    "hamming": lambda u, v: (u != v).mean(axis=-1),
    "jensenshannon": _jensenshannon,
    "russellrao": _russellrao,
    "minkowski": lambda u, v, p=2.0: (tn.abs(u - v) ** p).sum(axis=-1) ** (1 / p),
}  # fmt: skip
# Of CuPy's alone.
_CUPYS = {
    "hellinger": lambda u, v: tn.sqrt(((tn.sqrt(u) - tn.sqrt(v)) ** 2).sum(axis=-1)) / math.sqrt(2),
    "kl_divergence": lambda u, v: _rel_entr(u, v).sum(axis=-1),
}
_SHORT = {
    "euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqe": "sqeuclidean", "sqeuclid": "sqeuclidean",
    "cblock": "cityblock", "cb": "cityblock", "c": "cityblock", "manhattan": "cityblock", "cheby": "chebyshev",
    "cheb": "chebyshev", "ch": "chebyshev", "chebychev": "chebyshev", "cos": "cosine", "co": "correlation",
    "matching": "hamming", "hamm": "hamming", "ha": "hamming", "h": "hamming", "js": "jensenshannon",
    "mi": "minkowski", "m": "minkowski", "pnorm": "minkowski",
}  # fmt: skip


def _metric(name: Any) -> Any:
    if not isinstance(name, str):
        raise TypeError("2nd argument metric must be a string identifier or a function.")
    name = _SHORT.get(name.lower(), name.lower())
    found = METRICS.get(name) or _CUPYS.get(name)
    if found is None:
        raise ValueError(f"Unknown Distance Metric: {name!r}; there are {', '.join([*METRICS, *_CUPYS])}")
    return found


def cdist(XA: Any, XB: Any, metric: str = "euclidean", out: Any = None, **kwargs: Any) -> Any:
    """The distance of each row of one matrix from each of another."""
    x, y = _float(XA), _float(XB)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError(f"{'XA' if x.ndim != 2 else 'XB'} must be a 2-dimensional array.")
    if x.shape[1] != y.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    made = _metric(metric)(x[:, None, :], y[None, :, :], **kwargs)
    if out is None:
        return made
    out[...] = made
    return out


def pdist(X: Any, metric: str = "euclidean", *, out: Any = None, **kwargs: Any) -> Any:
    """The distances of the rows of a matrix from each other, those above the diagonal in a vector."""
    x = _float(X)
    if x.ndim != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    first, second = tn.triu_indices(x.shape[0], 1)
    made = _metric(metric)(x[first], x[second], **kwargs)
    if out is None:
        return made
    out[...] = made
    return out


def distance_matrix(x: Any, y: Any, p: float = 2.0, threshold: int = 1000000) -> Any:
    """Minkowski's distance of each row of one matrix from each of another."""
    x, y = _float(x), _float(y)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(f"x contains {x.shape}-shaped and y contains {y.shape}-shaped vectors but they should match")
    if math.isinf(p):
        return cdist(x, y, "chebyshev")
    return cdist(x, y, "minkowski", p=p)


def _of_vectors(name: str, inner: Any) -> Any:
    def between(u: Any, v: Any, *args: Any, **options: Any) -> Any:
        return inner(_float(u), _float(v), *args, **options)

    between.__name__ = between.__qualname__ = name
    between.__doc__ = f"The {name} distance of two vectors."
    return between


for _name, _inner in {**METRICS, **_CUPYS}.items():
    globals()[_name] = _of_vectors(_name, _inner)

# SPDX-License-Identifier: Apache-2.0
"""Special functions: rows of a table, each a function of numbers (_gamma.py, _beta.py, _integrals.py) and how many
operands it has; those whose expression fits in a line of C are in `cupyx.scipy.special`."""

from __future__ import annotations

import importlib as _importlib
import math as _math
from typing import Any

import numpy as _numpy

from ... import numeric as _tn
from .._missing import of_module as _of_module
from ._elementwise import elementwise as _elementwise

# Name: module, operands, the dtype of float16 and small integers ("whole": float32 of float16, float64 where the first
# operand is whole), the name there ("": the same).
_TABLE = {
    **dict.fromkeys(("psi", "zetac", "gammasgn"), ("_gamma", 1, "f8", "")),
    **dict.fromkeys(("beta", "betaln"), ("_beta", 2, "f8", "")),
    **dict.fromkeys(("gammainc", "gammaincc", "gammaincinv", "gammainccinv"), ("_gamma", 2, "f8", "")),
    **dict.fromkeys(("betainc", "betaincinv"), ("_beta", 3, "f4", "")),
    "btdtr": ("_beta", 3, "f4", "betainc"), "btdtri": ("_beta", 3, "f4", "betaincinv"),
    "poch": ("_beta", 2, "f4", ""),
    **dict.fromkeys(("bdtr", "bdtrc", "bdtri", "fdtr", "fdtrc", "fdtri", "gdtr", "gdtrc"), ("_beta", 3, "f4", "")),
    **dict.fromkeys(("nbdtr", "nbdtrc", "nbdtri"), ("_beta", 3, "whole", "")),
    **dict.fromkeys(("pdtr", "pdtrc", "chdtr", "chdtrc", "chdtri"), ("_beta", 2, "f4", "")),
    **dict.fromkeys(("i0", "i0e", "i1", "i1e", "k0", "k0e", "k1", "k1e", "ellipk", "ellipkm1", "log_ndtr", "cosdg",
                     "sindg", "tandg", "cotdg"), ("_integrals", 1, "f8", "")),
    **dict.fromkeys(("exp1", "expi"), ("_integrals", 1, "f4", "")),
    **dict.fromkeys(("expn", "yn"), ("_integrals", 2, "whole", "")),
    "pdtri": ("_beta", 2, "whole", ""),
}  # fmt: skip
__all__ = ["lpmv", "multigammaln", "polygamma", "sph_harm_y", "zeta", "digamma", *_TABLE]  # noqa: PLE0604  gathered


def _row(module: str, inner: str, n_operands: int, name: str, small: str = "f8") -> Any:
    function = getattr(_importlib.import_module(f".{module}", __name__), inner or name)
    doc = function.__doc__ or getattr(function, "py_func", function).__doc__
    return _elementwise(function, n_operands, name, doc, small)


def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """The sum of (k + q)**-x from k = 0 on (Hurwitz); without q that of k**-x from k = 1 on, and what continues it."""
    if q is None:
        return _made("_zeta", "_gamma", "zeta", 1, "f8")(x, out=out)
    return _made("_hurwitz", "_gamma", "hurwitz", 2, "f4")(x, q, out=out)


def polygamma(n: Any, x: Any) -> Any:
    """The derivative n of `psi`."""
    return _made("_polygamma", "_gamma", "polygamma", 2, "f8")(n, x)


def lpmv(m: Any, v: Any, x: Any, out: Any = None) -> Any:
    """The associated Legendre function of order m and degree v; of degrees that are not whole SciPy's, on the host."""
    orders, degrees = _tn.asarray(m), _tn.asarray(v)
    if not bool(((orders == _tn.floor(orders)) & (degrees == _tn.floor(degrees))).all()):
        return missing("lpmv")(m, v, x)
    return _made("_lpmv", "_integrals", "lpmv", 3, "f4")(m, v, x, out=out)


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """The spherical harmonic of degree n and order m, for the angles theta from the pole and phi around it."""
    n, m, theta, phi = map(_tn.asarray, (n, m, theta, phi))
    is_single = _numpy.result_type(theta.dtype, phi.dtype) == "f4"
    degree, given, angle = n.astype("f8"), m.astype("f8"), theta.astype("f8")
    is_none = abs(given) > degree
    order = _tn.where(is_none, 0, given)
    ratio = _made("_poch", "_beta", "poch", 2, "f8")(degree + order + 1, -2 * order)
    scale = _tn.sqrt((2 * degree + 1) / (4 * _math.pi) * ratio)
    made = scale * lpmv(order, degree, _tn.cos(angle)) * _tn.exp(1j * order * phi.astype("f8"))
    made = _tn.where(is_none, 0, made)
    return made.astype("c8") if is_single else made


def multigammaln(a: Any, d: int) -> Any:
    """The logarithm of the gamma function of d dimensions."""
    a = _tn.asarray(a, "f8")
    if _numpy.ndim(d) or d != _math.floor(d):
        raise ValueError("d should be a positive integer (dimension)")
    if bool((a <= 0.5 * (d - 1)).any()):
        raise ValueError(f"condition a ({a.min().item():f}) > 0.5 * (d-1) ({0.5 * (d - 1):f}) not met")
    made = d * (d - 1) * 0.25 * _math.log(_math.pi)
    for k in range(d):
        made = made + _made("_gammaln", "_gamma", "gammaln", 1, "f8")(a - 0.5 * k)
    return made


_functions: dict[str, Any] = {}


def _made(key: str, module: str, inner: str, n_operands: int, small: str) -> Any:
    if key not in _functions:
        _functions[key] = _row(module, inner, n_operands, inner, small)
    return _functions[key]


missing = _of_module("special")


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name == "digamma":
        return __getattr__("psi")
    if name in _TABLE:
        module, n_operands, small, inner = _TABLE[name]
        made = globals()[name] = _row(module, inner, n_operands, name, small)
        return made
    return missing(name)

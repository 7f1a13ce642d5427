# SPDX-License-Identifier: Apache-2.0
"""Special functions: a row of a table each, an expression that `cupy.ElementwiseKernel` makes a kernel of, and those
of `tessera.scipy.special`.

The functions in the expressions are those of tessera.cuda.libdevice; docs/reference/math.md has their bounds.
"""

from __future__ import annotations

from typing import Any

import numpy

from ... import cupy
from ...cupy._boundary import of_name
from ...scipy import special as _shared

__all__ = ["log_softmax", "logsumexp", "round", "sinc", "softmax"]

# Name: operands, expression of C. T is the type of all: float or double.
_TABLE = {
    "erf": ("x", "erf(x)"), "erfc": ("x", "erfc(x)"), "erfcx": ("x", "erfcx(x)"), "erfinv": ("x", "erfinv(x)"),
    "erfcinv": ("x", "erfcinv(x)"), "ndtr": ("x", "normcdf(x)"), "ndtri": ("x", "normcdfinv(x)"),
    "gamma": ("x", "x == 0 ? (T)INFINITY : tgamma(x)"), "gammaln": ("x", "x == -INFINITY ? x : lgamma(x)"),
    "loggamma": ("x", "x < 0 ? (T)NAN : lgamma(x)"), "rgamma": ("x", "x <= 0 && x == floor(x) ? (T)0 : 1 / tgamma(x)"),
    "j0": ("x", "j0(x)"), "j1": ("x", "j1(x)"), "y0": ("x", "y0(x)"), "y1": ("x", "y1(x)"),
    "cbrt": ("x", "cbrt(x)"), "exp2": ("x", "exp2(x)"),
    "exp10": ("x", "exp10(x)"), "expm1": ("x", "expm1(x)"), "log1p": ("x", "log1p(x)"),
    "expit": ("x", "1 / (1 + exp(-x))"), "logit": ("x", "log(x / (1 - x))"),
    "log_expit": ("x", "x < 0 ? x - log1p(exp(x)) : -log1p(exp(-x))"), "exprel": ("x", "x == 0 ? (T)1 : expm1(x) / x"),
    "cosm1": ("x", "-2 * sin(x / 2) * sin(x / 2)"), "entr": ("x",
    "isnan(x) ? x : x > 0 ? -x * log(x) : x == 0 ? (T)0 : -(T)INFINITY"),
    "radian": ("d, m, s", "(d + m / 60 + s / 3600) * (T)(M_PI / 180)"),
    "xlogy": ("x, y", "x == 0 && !isnan(y) ? (T)0 : x * log(y)"), "xlog1py": ("x, y",
    "x == 0 && !isnan(y) ? (T)0 : x * log1p(y)"),
    "rel_entr": ("x, y",
        "isnan(x) || isnan(y) ? x + y : x > 0 && y > 0 ? x * log(x / y) : x == 0 && y >= 0 ? (T)0 : (T)INFINITY"),
    "kl_div": ("x, y",
        "isnan(x) || isnan(y) ? x + y : x > 0 && y > 0 ? x * log(x / y) - x + y : x == 0 && y >= 0 ? y : (T)INFINITY"),
    "huber": ("d, r", "d < 0 ? (T)INFINITY : abs(r) <= d ? r * r / 2 : d * (abs(r) - d / 2)"),
    "pseudo_huber": ("d, r",
        "d < 0 ? (T)INFINITY : d == 0 || r == 0 ? (T)0 : d * d * (sqrt(1 + (r / d) * (r / d)) - 1)"),
    "boxcox": ("x, l", "abs(l) < 1e-19 ? log(x) : expm1(l * log(x)) / l"),
    "boxcox1p": ("x, l", "abs(l) < 1e-19 ? log1p(x) : expm1(l * log1p(x)) / l"),
    "inv_boxcox": ("x, l", "l == 0 ? exp(x) : exp(log1p(l * x) / l)"),
    "inv_boxcox1p": ("x, l", "l == 0 ? expm1(x) : expm1(log1p(l * x) / l)"),
}  # fmt: skip


# Functions that float32 is enough for where float16 or small integers are given: SciPy's have its loop first.
_SINGLE = frozenset(
    "erfinv erfcinv ndtri boxcox boxcox1p inv_boxcox inv_boxcox1p entr rel_entr kl_div huber pseudo_huber".split()
)


# Functions that SciPy computes in double precision, whatever it is given.
_DOUBLE = frozenset("boxcox boxcox1p inv_boxcox inv_boxcox1p huber pseudo_huber".split())


def _operand(x: Any) -> Any:
    return x if isinstance(x, cupy.ndarray) else cupy.asarray(x)


def _dtype(given: Any, args: Any, name: str) -> Any:
    """float32 or float64, as SciPy's; numbers of Python have no dtype of their own beside arrays."""
    typed = [x.dtype for x, arg in zip(given, args, strict=True) if type(arg) not in (bool, int, float)]
    found = numpy.result_type(*(typed or [numpy.float64]))
    if found.char == "d" or (found.char == "f" and (name in _SINGLE or all(t.char == "f" for t in typed))):
        return found
    return numpy.dtype("f4" if name in _SINGLE and numpy.can_cast(found, "f4") else "f8")


def _function(name: str) -> Any:
    operands, expression = _TABLE[name]
    names = [word.strip() for word in operands.split(",")]
    kernel = cupy.ElementwiseKernel(
        ", ".join(f"T {p}" for p in names), "T z", f"z = {expression}", f"special_{name}"
    )

    def function(*args: Any, out: Any = None) -> Any:
        if len(args) not in (len(names), len(names) + 1):
            raise TypeError(f"{name}() takes {len(names)} operands, found {len(args)}")
        if len(args) > len(names):
            *args, out = args  # type: ignore[assignment]
        given = [_operand(x) for x in args]
        if any(x.dtype.kind == "c" for x in given):  # SciPy's, on the host
            made = of_name(name, _shared.missing(name), __name__)(*args)
        else:
            dtype = _dtype(given, args, name)
            wide = numpy.dtype("f8") if name in _DOUBLE else dtype
            made = kernel(*(x.astype(wide, copy=False) for x in given)).astype(dtype, copy=False)
        if out is None:
            return made
        out[...] = made
        return out

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{expression}``, in C."
    return function


def round(x: Any, out: Any = None) -> Any:
    """The nearest whole number; halves to even."""
    return cupy.rint(x, out)


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x)."""
    return cupy.sinc(x)


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """log(sum(b exp(a))) without overflow; with ``return_sign`` that of the sum's magnitude, and its sign."""
    a = _floating(a)
    if b is not None:
        a, b = cupy.broadcast_arrays(a, _floating(b))
        a = cupy.where(b != 0, a, -numpy.inf)
    real = a.real if a.dtype.kind == "c" else a
    top = cupy.max(real, axis=axis, keepdims=True)
    top = cupy.where(cupy.isfinite(top), top, 0)
    terms = cupy.exp(a - top)
    total = cupy.sum(terms if b is None else b * terms, axis=axis, keepdims=True)
    if return_sign:
        size = abs(total)
        sign = cupy.where(size == 0, 0, total / cupy.where(size == 0, 1, size)).astype(total.dtype)
        made = cupy.log(size) + top
        return (made, sign) if keepdims else (cupy.squeeze(made, axis=axis), cupy.squeeze(sign, axis=axis))
    made = cupy.log(total) + top
    return made if keepdims else cupy.squeeze(made, axis=axis)


def _floating(x: Any) -> Any:
    x = _operand(x)
    return x if x.dtype.kind in "fc" else x.astype("f8")


def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x))."""
    made = cupy.exp(x - cupy.max(x, axis=axis, keepdims=True))
    return made / cupy.sum(made, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """log(softmax(x))."""
    moved = x - cupy.max(x, axis=axis, keepdims=True)
    return moved - cupy.log(cupy.sum(cupy.exp(moved), axis=axis, keepdims=True))


def __dir__() -> list[str]:
    return sorted({*__all__, *_TABLE, *dir(_shared)})


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'cupyx.scipy.special' has no attribute {name!r}")
    if name == "digamma":
        return __getattr__("psi")
    made = _function(name) if name in _TABLE else of_name(name, getattr(_shared, name), __name__)
    globals()[name] = made
    return made

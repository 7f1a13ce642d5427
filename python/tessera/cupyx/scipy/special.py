# SPDX-License-Identifier: Apache-2.0
"""Special functions: a row of a table each, an expression that `cupy.ElementwiseKernel` makes a kernel of.

The functions in the expressions are those of tessera.cuda.libdevice; docs/reference/math.md has their bounds.
"""

from __future__ import annotations

from typing import Any

import numpy

from ... import cupy

__all__ = ["i0", "log_softmax", "logsumexp", "round", "sinc", "softmax"]

# beta: at a pole, where a or b is 0, -1, -2, .., the limit along the other, if that is whole, or infinity.
_A, _B, _WHOLE = "(a <= 0 && a == floor(a))", "(b <= 0 && b == floor(b))", "a == floor(a) && b == floor(b)"
_BETALN = (
    f"({_A} || {_B}) && !({_WHOLE} && a + b < 1) ? (T)INFINITY : lgamma({_A} || {_B} ? 1 - a - b : a) + "
    f"lgamma({_A} || !{_B} ? b : a) - lgamma({_A} ? 1 - a : {_B} ? 1 - b : a + b)"
)
_ODD = "({0} < 0 && fmod(floor({0}), (T)2) != 0)"  # whether gamma is negative
_NEGATIVE = (  # at infinities as SciPy's
    f"{_WHOLE} ? ({_A} || {_B}) && a + b < 1 && fmod({_A} ? b : a, (T)2) != 0 : !{_A} && !{_B} && "
    f"({' ^ '.join(_ODD.format(x) for x in ('a', 'b', '(a + b)'))})"
)
_BETA = f"(({_NEGATIVE}) ? -1 : 1) * exp({_BETALN})"
# Name: operands, expression of C. T is the type of all: float or double.
_TABLE = {
    "erf": ("x", "erf(x)"), "erfc": ("x", "erfc(x)"), "erfcx": ("x", "erfcx(x)"), "erfinv": ("x", "erfinv(x)"),
    "erfcinv": ("x", "erfcinv(x)"), "ndtr": ("x", "normcdf(x)"), "ndtri": ("x", "normcdfinv(x)"),
    "gamma": ("x", "x == 0 ? (T)INFINITY : tgamma(x)"), "gammaln": ("x", "lgamma(x)"),
    "loggamma": ("x", "x < 0 ? (T)NAN : lgamma(x)"), "rgamma": ("x", "1 / tgamma(x)"),
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
    "beta": ("a, b", _BETA), "betaln": ("a, b", _BETALN),
}  # fmt: skip


def _operand(x: Any) -> Any:
    """An array of float32 or float64: integers become float64, float16 float32."""
    made = x if isinstance(x, cupy.ndarray) else cupy.asarray(x)
    if made.dtype.kind not in "biuf":
        raise TypeError(f"elements of {made.dtype} are not supported here; real numbers are")
    wanted = numpy.dtype("f8" if made.dtype.kind != "f" else made.dtype)
    return made.astype(numpy.dtype("f4") if wanted == "f2" else wanted, copy=False)


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
        # Numbers of Python have no dtype of their own beside arrays.
        typed = [x.dtype for x, arg in zip(given, args, strict=True) if type(arg) not in (bool, int, float)]
        dtype = numpy.result_type(*(typed or [numpy.float64]))
        made = kernel(*(x.astype(dtype, copy=False) for x in given))
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


def i0(x: Any) -> Any:
    """The modified Bessel function of order 0."""
    return cupy.i0(x)


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x)."""
    return cupy.sinc(x)


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """log(sum(b exp(a))) without overflow."""
    if return_sign:
        raise NotImplementedError("logsumexp: return_sign= is not there")
    top = cupy.max(a, axis=axis, keepdims=True)
    top = cupy.where(cupy.isfinite(top), top, 0)
    terms = cupy.exp(a - top)
    made = cupy.log(cupy.sum(terms if b is None else b * terms, axis=axis, keepdims=True)) + top
    return made if keepdims else cupy.squeeze(made, axis=axis)


def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) / sum(exp(x))."""
    made = cupy.exp(x - cupy.max(x, axis=axis, keepdims=True))
    return made / cupy.sum(made, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """log(softmax(x))."""
    moved = x - cupy.max(x, axis=axis, keepdims=True)
    return moved - cupy.log(cupy.sum(cupy.exp(moved), axis=axis, keepdims=True))


def __dir__() -> list[str]:
    return sorted([*__all__, *_TABLE])


def __getattr__(name: str) -> Any:
    if name not in _TABLE:
        raise AttributeError(f"module 'cupyx.scipy.special' has no attribute {name!r}")
    made = globals()[name] = _function(name)
    return made

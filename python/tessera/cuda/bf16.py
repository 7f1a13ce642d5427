# SPDX-License-Identifier: Apache-2.0
"""``bfloat16`` and its functions for kernels of threads, as ``numba.cuda.bf16`` has them.

Sums, products and quotients are rounded once to bfloat16; functions are computed as float32 and rounded once more.
Comparisons are false with a NaN, those that end in ``u`` true. ``_sat`` keeps results within 0 and 1 (a NaN becomes 0),
``_relu`` makes negative ones 0. Conversions name their rounding: to nearest (``rn``, halves to even), towards zero
(``rz``), down (``rd``), up (``ru``); to an integer, what is out of range becomes the nearest end, and a NaN 0 (the
least integer of 64 bits).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ._device import fp16, reinterpreted, rounded
from ._stub import _op
from .types import bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

_LIKE_FP16 = (
    "hadd hsub hmul hdiv hfma hneg habs heq hne hge hgt hle hlt hmax hmin htrunc hceil hfloor hrint hsqrt hrsqrt hrcp "
    "hlog hlog2 hlog10 hcos hsin hexp hexp2 hexp10"
).split()
_INTS = {"int16": int16, "int32": int32, "int64": int64, "uint16": uint16, "uint32": uint32, "uint64": uint64}
_ROUNDINGS = ("rn", "rz", "rd", "ru")


def _of_fp16(name: str) -> Callable[..., Any]:
    """The operation that cuda.fp16 has under the name, of bfloat16."""
    stub = getattr(fp16, name).__wrapped__

    def made(*args: Any) -> Any: ...

    made.__name__ = made.__qualname__ = name
    made.__doc__, made.__module__ = stub.__doc__, __name__
    return _op("bf16_" + name)(made)


def _to_int(dtype: Any, rounding: str) -> Callable[[Any], Any]:
    def convert(h: Any) -> Any:
        return rounded(bfloat16(h), dtype, rounding)

    return convert


def _of_number(source: Any, rounding: str) -> Callable[[Any], Any]:
    def convert(x: Any) -> Any:
        return rounded(source(x), bfloat16, rounding)

    return convert


def _named(name: str, function: Callable[[Any], Any], doc: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    globals()[name] = function


for _name in _LIKE_FP16:
    globals()[_name] = _of_fp16(_name)
for _r in _ROUNDINGS:
    for _name, _type in _INTS.items():
        _named(f"bfloat16_to_{_name}_{_r}", _to_int(_type, _r), f"The {_name} of a bfloat16, rounded {_r}.")
        _named(f"{_name}_to_bfloat16_{_r}", _of_number(_type, _r), f"The bfloat16 of a {_name}, rounded {_r}.")
    _named(f"float32_to_bfloat16_{_r}", _of_number(float32, _r), f"The bfloat16 of a float32, rounded {_r}.")
_named("bfloat16_to_int8_rz", _to_int(int8, "rz"), "The int8 of a bfloat16, rounded towards zero.")
_named("bfloat16_to_uint8_rz", _to_int(uint8, "rz"), "The uint8 of a bfloat16, rounded towards zero.")
_named("float32_to_bfloat16", _of_number(float32, "rn"), "The nearest bfloat16 of a float32.")
_named("float64_to_bfloat16", _of_number(float64, "rn"), "The nearest bfloat16 of a float64.")
_hadd, _hsub, _hmul, _hfma, _hmax, _hmin = (
    globals()[_name] for _name in ("hadd", "hsub", "hmul", "hfma", "hmax", "hmin")
)


def bfloat16_to_float32(h: Any) -> Any:
    """The same number as a float32."""
    return float32(bfloat16(h))


def bfloat16_as_int16(h: Any) -> Any:
    """The bits as an int16."""
    return reinterpreted(bfloat16(h), int16)


def bfloat16_as_uint16(h: Any) -> Any:
    """The bits as a uint16."""
    return reinterpreted(bfloat16(h), uint16)


def int16_as_bfloat16(i: Any) -> Any:
    """The bfloat16 with these bits."""
    return reinterpreted(int16(i), bfloat16)


def uint16_as_bfloat16(i: Any) -> Any:
    """The bfloat16 with these bits."""
    return reinterpreted(uint16(i), bfloat16)


def _saturated(h: Any) -> Any:
    return _hmin(_hmax(h, 0), 1)


def hadd_rn(a: Any, b: Any) -> Any:
    """``a + b``, never part of a fused operation here."""
    return _hadd(a, b)


def hsub_rn(a: Any, b: Any) -> Any:
    """``a - b``."""
    return _hsub(a, b)


def hmul_rn(a: Any, b: Any) -> Any:
    """``a * b``."""
    return _hmul(a, b)


def hadd_sat(a: Any, b: Any) -> Any:
    """``a + b`` within 0 and 1."""
    return _saturated(_hadd(a, b))


def hsub_sat(a: Any, b: Any) -> Any:
    """``a - b`` within 0 and 1."""
    return _saturated(_hsub(a, b))


def hmul_sat(a: Any, b: Any) -> Any:
    """``a * b`` within 0 and 1."""
    return _saturated(_hmul(a, b))


def hfma_sat(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once, within 0 and 1."""
    return _saturated(_hfma(a, b, c))


def hfma_relu(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once, and 0 where it is negative; a NaN stays."""
    return hmax_nan(_hfma(a, b, c), 0)


def hisnan(a: Any) -> Any:
    """Whether it is a NaN."""
    return bfloat16(a) != bfloat16(a)


def hisinf(a: Any) -> Any:
    """1 of infinity, -1 of minus infinity, else 0."""
    x = float32(bfloat16(a))
    return int32(x == float("inf")) - int32(x == -float("inf"))


def hmax_nan(a: Any, b: Any) -> Any:
    """The greater one; a NaN wins."""
    x, y = bfloat16(a), bfloat16(b)
    return x + y if x != x or y != y else _hmax(x, y)


def hmin_nan(a: Any, b: Any) -> Any:
    """The lesser one; a NaN wins."""
    x, y = bfloat16(a), bfloat16(b)
    return x + y if x != x or y != y else _hmin(x, y)


def hequ(a: Any, b: Any) -> Any:
    """``a == b``, true with a NaN."""
    return not (bfloat16(a) < bfloat16(b) or bfloat16(a) > bfloat16(b))


def hneu(a: Any, b: Any) -> Any:
    """``a != b``, true with a NaN."""
    return bfloat16(a) != bfloat16(b)


def hgeu(a: Any, b: Any) -> Any:
    """``a >= b``, true with a NaN."""
    return not bfloat16(a) < bfloat16(b)


def hgtu(a: Any, b: Any) -> Any:
    """``a > b``, true with a NaN."""
    return not bfloat16(a) <= bfloat16(b)


def hleu(a: Any, b: Any) -> Any:
    """``a <= b``, true with a NaN."""
    return not bfloat16(a) > bfloat16(b)


def hltu(a: Any, b: Any) -> Any:
    """``a < b``, true with a NaN."""
    return not bfloat16(a) >= bfloat16(b)


def htanh(a: Any) -> Any:
    """The hyperbolic tangent."""
    return math.tanh(bfloat16(a))


def htanh_approx(a: Any) -> Any:
    """As ``htanh``: it is accurate."""
    return math.tanh(bfloat16(a))


__all__ = ["bfloat16", *sorted(name for name in globals() if "bfloat16_" in name or name[0] == "h")]

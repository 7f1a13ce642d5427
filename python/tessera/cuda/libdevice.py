# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="empty-body"
"""CUDA's libdevice functions in kernels, with its names and types; arguments are converted to them.

A CPU and a GPU give the same bits, but for ``fast_*``: a GPU has approximate instructions for those, a
CPU computes them accurately. Errors in ulps: docs/reference/math.md. By tools/gen_language.py from
src/lang/simt/libdevice.def; do not edit.
"""

from __future__ import annotations

from ._stub import _op

__all__ = [
    "abs",
    "acos",
    "acosf",
    "acosh",
    "acoshf",
    "asin",
    "asinf",
    "asinh",
    "asinhf",
    "atan",
    "atan2",
    "atan2f",
    "atanf",
    "atanh",
    "atanhf",
    "brev",
    "brevll",
    "byte_perm",
    "cbrt",
    "cbrtf",
    "ceil",
    "ceilf",
    "clz",
    "clzll",
    "copysign",
    "copysignf",
    "cos",
    "cosf",
    "cosh",
    "coshf",
    "cospi",
    "cospif",
    "dadd_rd",
    "dadd_rn",
    "dadd_ru",
    "dadd_rz",
    "ddiv_rd",
    "ddiv_rn",
    "ddiv_ru",
    "ddiv_rz",
    "dmul_rd",
    "dmul_rn",
    "dmul_ru",
    "dmul_rz",
    "double2float_rd",
    "double2float_rn",
    "double2float_ru",
    "double2float_rz",
    "double2hiint",
    "double2int_rd",
    "double2int_rn",
    "double2int_ru",
    "double2int_rz",
    "double2ll_rd",
    "double2ll_rn",
    "double2ll_ru",
    "double2ll_rz",
    "double2loint",
    "double2uint_rd",
    "double2uint_rn",
    "double2uint_ru",
    "double2uint_rz",
    "double2ull_rd",
    "double2ull_rn",
    "double2ull_ru",
    "double2ull_rz",
    "double_as_longlong",
    "drcp_rd",
    "drcp_rn",
    "drcp_ru",
    "drcp_rz",
    "dsqrt_rd",
    "dsqrt_rn",
    "dsqrt_ru",
    "dsqrt_rz",
    "erf",
    "erfc",
    "erfcf",
    "erfcinv",
    "erfcinvf",
    "erfcx",
    "erfcxf",
    "erff",
    "erfinv",
    "erfinvf",
    "exp",
    "exp10",
    "exp10f",
    "exp2",
    "exp2f",
    "expf",
    "expm1",
    "expm1f",
    "fabs",
    "fabsf",
    "fadd_rd",
    "fadd_rn",
    "fadd_ru",
    "fadd_rz",
    "fast_cosf",
    "fast_exp10f",
    "fast_expf",
    "fast_fdividef",
    "fast_log10f",
    "fast_log2f",
    "fast_logf",
    "fast_powf",
    "fast_sincosf",
    "fast_sinf",
    "fast_tanf",
    "fdim",
    "fdimf",
    "fdiv_rd",
    "fdiv_rn",
    "fdiv_ru",
    "fdiv_rz",
    "ffs",
    "ffsll",
    "finitef",
    "float2half_rn",
    "float2int_rd",
    "float2int_rn",
    "float2int_ru",
    "float2int_rz",
    "float2ll_rd",
    "float2ll_rn",
    "float2ll_ru",
    "float2ll_rz",
    "float2uint_rd",
    "float2uint_rn",
    "float2uint_ru",
    "float2uint_rz",
    "float2ull_rd",
    "float2ull_rn",
    "float2ull_ru",
    "float2ull_rz",
    "float_as_int",
    "floor",
    "floorf",
    "fma",
    "fma_rd",
    "fma_rn",
    "fma_ru",
    "fma_rz",
    "fmaf",
    "fmaf_rd",
    "fmaf_rn",
    "fmaf_ru",
    "fmaf_rz",
    "fmax",
    "fmaxf",
    "fmin",
    "fminf",
    "fmod",
    "fmodf",
    "fmul_rd",
    "fmul_rn",
    "fmul_ru",
    "fmul_rz",
    "frcp_rd",
    "frcp_rn",
    "frcp_ru",
    "frcp_rz",
    "frexp",
    "frexpf",
    "frsqrt_rn",
    "fsqrt_rd",
    "fsqrt_rn",
    "fsqrt_ru",
    "fsqrt_rz",
    "fsub_rd",
    "fsub_rn",
    "fsub_ru",
    "fsub_rz",
    "hadd",
    "half2float",
    "hiloint2double",
    "hypot",
    "hypotf",
    "ilogb",
    "ilogbf",
    "int2double_rn",
    "int2float_rd",
    "int2float_rn",
    "int2float_ru",
    "int2float_rz",
    "int_as_float",
    "isfinited",
    "isinfd",
    "isinff",
    "isnand",
    "isnanf",
    "j0",
    "j0f",
    "j1",
    "j1f",
    "jn",
    "jnf",
    "ldexp",
    "ldexpf",
    "lgamma",
    "lgammaf",
    "ll2double_rd",
    "ll2double_rn",
    "ll2double_ru",
    "ll2double_rz",
    "ll2float_rd",
    "ll2float_rn",
    "ll2float_ru",
    "ll2float_rz",
    "llabs",
    "llmax",
    "llmin",
    "llrint",
    "llrintf",
    "llround",
    "llroundf",
    "log",
    "log10",
    "log10f",
    "log1p",
    "log1pf",
    "log2",
    "log2f",
    "logb",
    "logbf",
    "logf",
    "longlong_as_double",
    "max",
    "min",
    "modf",
    "modff",
    "mul24",
    "mul64hi",
    "mulhi",
    "nearbyint",
    "nearbyintf",
    "nextafter",
    "nextafterf",
    "normcdf",
    "normcdff",
    "normcdfinv",
    "normcdfinvf",
    "popc",
    "popcll",
    "pow",
    "powf",
    "powi",
    "powif",
    "rcbrt",
    "rcbrtf",
    "remainder",
    "remainderf",
    "remquo",
    "remquof",
    "rhadd",
    "rint",
    "rintf",
    "round",
    "roundf",
    "rsqrt",
    "rsqrtf",
    "sad",
    "saturatef",
    "scalbn",
    "scalbnf",
    "signbitd",
    "signbitf",
    "sin",
    "sincos",
    "sincosf",
    "sincospi",
    "sincospif",
    "sinf",
    "sinh",
    "sinhf",
    "sinpi",
    "sinpif",
    "sqrt",
    "sqrtf",
    "tan",
    "tanf",
    "tanh",
    "tanhf",
    "tgamma",
    "tgammaf",
    "trunc",
    "truncf",
    "uhadd",
    "uint2double_rn",
    "uint2float_rd",
    "uint2float_rn",
    "uint2float_ru",
    "uint2float_rz",
    "ull2double_rd",
    "ull2double_rn",
    "ull2double_ru",
    "ull2double_rz",
    "ull2float_rd",
    "ull2float_rn",
    "ull2float_ru",
    "ull2float_rz",
    "ullmax",
    "ullmin",
    "umax",
    "umin",
    "umul24",
    "umul64hi",
    "umulhi",
    "urhadd",
    "usad",
    "y0",
    "y0f",
    "y1",
    "y1f",
    "yn",
    "ynf",
]


@_op("libdevice_abs")
def abs(x: int, /) -> int:
    """The absolute value; of the least number itself. Of int32, gives int32."""


@_op("libdevice_acos")
def acos(x: float, /) -> float:
    """Inverse cosine, 0 to pi; NaN beyond -1 and 1. Of float64, gives float64."""


@_op("libdevice_acosf")
def acosf(x: float, /) -> float:
    """Inverse cosine, 0 to pi; NaN beyond -1 and 1. Of float32, gives float32."""


@_op("libdevice_acosh")
def acosh(x: float, /) -> float:
    """Inverse hyperbolic cosine; NaN below 1. Of float64, gives float64."""


@_op("libdevice_acoshf")
def acoshf(x: float, /) -> float:
    """Inverse hyperbolic cosine; NaN below 1. Of float32, gives float32."""


@_op("libdevice_asin")
def asin(x: float, /) -> float:
    """Inverse sine, -pi/2 to pi/2; NaN beyond -1 and 1. Of float64, gives float64."""


@_op("libdevice_asinf")
def asinf(x: float, /) -> float:
    """Inverse sine, -pi/2 to pi/2; NaN beyond -1 and 1. Of float32, gives float32."""


@_op("libdevice_asinh")
def asinh(x: float, /) -> float:
    """Inverse hyperbolic sine. Of float64, gives float64."""


@_op("libdevice_asinhf")
def asinhf(x: float, /) -> float:
    """Inverse hyperbolic sine. Of float32, gives float32."""


@_op("libdevice_atan")
def atan(x: float, /) -> float:
    """Inverse tangent, -pi/2 to pi/2. Of float64, gives float64."""


@_op("libdevice_atan2")
def atan2(y: float, x: float, /) -> float:
    """Angle of the point (x, y) in radians, -pi to pi. Of float64, float64, gives float64."""


@_op("libdevice_atan2f")
def atan2f(y: float, x: float, /) -> float:
    """Angle of the point (x, y) in radians, -pi to pi. Of float32, float32, gives float32."""


@_op("libdevice_atanf")
def atanf(x: float, /) -> float:
    """Inverse tangent, -pi/2 to pi/2. Of float32, gives float32."""


@_op("libdevice_atanh")
def atanh(x: float, /) -> float:
    """Inverse hyperbolic tangent; NaN beyond -1 and 1. Of float64, gives float64."""


@_op("libdevice_atanhf")
def atanhf(x: float, /) -> float:
    """Inverse hyperbolic tangent; NaN beyond -1 and 1. Of float32, gives float32."""


@_op("libdevice_brev")
def brev(x: int, /) -> int:
    """The bits in the other order. Of int32, gives int32."""


@_op("libdevice_brevll")
def brevll(x: int, /) -> int:
    """The bits in the other order. Of int64, gives int64."""


@_op("libdevice_byte_perm")
def byte_perm(x: int, y: int, z: int, /) -> int:
    """Four bytes of the eight of ``x`` (0 to 3) and ``y`` (4 to 7), by the lowest three bits of
    each hexadecimal digit of ``z``. Of int32, int32, int32, gives int32.
    """


@_op("libdevice_cbrt")
def cbrt(x: float, /) -> float:
    """Cube root, of negative numbers too. Of float64, gives float64."""


@_op("libdevice_cbrtf")
def cbrtf(x: float, /) -> float:
    """Cube root, of negative numbers too. Of float32, gives float32."""


@_op("libdevice_ceil")
def ceil(x: float, /) -> float:
    """The least whole number that is not below ``x``. Of float64, gives float64."""


@_op("libdevice_ceilf")
def ceilf(x: float, /) -> float:
    """The least whole number that is not below ``x``. Of float32, gives float32."""


@_op("libdevice_clz")
def clz(x: int, /) -> int:
    """How many bits above the highest 1 there are. Of int32, gives int32."""


@_op("libdevice_clzll")
def clzll(x: int, /) -> int:
    """How many bits above the highest 1 there are. Of int64, gives int32."""


@_op("libdevice_copysign")
def copysign(x: float, y: float, /) -> float:
    """The magnitude of ``x`` with the sign of ``y``. Of float64, float64, gives float64."""


@_op("libdevice_copysignf")
def copysignf(x: float, y: float, /) -> float:
    """The magnitude of ``x`` with the sign of ``y``. Of float32, float32, gives float32."""


@_op("libdevice_cos")
def cos(x: float, /) -> float:
    """Cosine of radians, any argument. Of float64, gives float64."""


@_op("libdevice_cosf")
def cosf(x: float, /) -> float:
    """Cosine of radians, any argument. Of float32, gives float32."""


@_op("libdevice_cosh")
def cosh(x: float, /) -> float:
    """Hyperbolic cosine. Of float64, gives float64."""


@_op("libdevice_coshf")
def coshf(x: float, /) -> float:
    """Hyperbolic cosine. Of float32, gives float32."""


@_op("libdevice_cospi")
def cospi(x: float, /) -> float:
    """``cos(pi * x)``; exact at multiples of a half. Of float64, gives float64."""


@_op("libdevice_cospif")
def cospif(x: float, /) -> float:
    """``cos(pi * x)``; exact at multiples of a half. Of float32, gives float32."""


@_op("libdevice_dadd_rd")
def dadd_rd(x: float, y: float, /) -> float:
    """``x + y`` rounded down. Of float64, float64, gives float64."""


@_op("libdevice_dadd_rn")
def dadd_rn(x: float, y: float, /) -> float:
    """``x + y`` rounded to nearest. Of float64, float64, gives float64."""


@_op("libdevice_dadd_ru")
def dadd_ru(x: float, y: float, /) -> float:
    """``x + y`` rounded up. Of float64, float64, gives float64."""


@_op("libdevice_dadd_rz")
def dadd_rz(x: float, y: float, /) -> float:
    """``x + y`` rounded towards zero. Of float64, float64, gives float64."""


@_op("libdevice_ddiv_rd")
def ddiv_rd(x: float, y: float, /) -> float:
    """``x / y`` rounded down. Of float64, float64, gives float64."""


@_op("libdevice_ddiv_rn")
def ddiv_rn(x: float, y: float, /) -> float:
    """``x / y`` rounded to nearest. Of float64, float64, gives float64."""


@_op("libdevice_ddiv_ru")
def ddiv_ru(x: float, y: float, /) -> float:
    """``x / y`` rounded up. Of float64, float64, gives float64."""


@_op("libdevice_ddiv_rz")
def ddiv_rz(x: float, y: float, /) -> float:
    """``x / y`` rounded towards zero. Of float64, float64, gives float64."""


@_op("libdevice_dmul_rd")
def dmul_rd(x: float, y: float, /) -> float:
    """``x * y`` rounded down. Of float64, float64, gives float64."""


@_op("libdevice_dmul_rn")
def dmul_rn(x: float, y: float, /) -> float:
    """``x * y`` rounded to nearest. Of float64, float64, gives float64."""


@_op("libdevice_dmul_ru")
def dmul_ru(x: float, y: float, /) -> float:
    """``x * y`` rounded up. Of float64, float64, gives float64."""


@_op("libdevice_dmul_rz")
def dmul_rz(x: float, y: float, /) -> float:
    """``x * y`` rounded towards zero. Of float64, float64, gives float64."""


@_op("libdevice_double2float_rd")
def double2float_rd(x: float, /) -> float:
    """As a float32, rounded down. Of float64, gives float32."""


@_op("libdevice_double2float_rn")
def double2float_rn(x: float, /) -> float:
    """As a float32, rounded to nearest. Of float64, gives float32."""


@_op("libdevice_double2float_ru")
def double2float_ru(x: float, /) -> float:
    """As a float32, rounded up. Of float64, gives float32."""


@_op("libdevice_double2float_rz")
def double2float_rz(x: float, /) -> float:
    """As a float32, rounded towards zero. Of float64, gives float32."""


@_op("libdevice_double2hiint")
def double2hiint(x: float, /) -> int:
    """The upper 32 bits of a float64. Of float64, gives int32."""


@_op("libdevice_double2int_rd")
def double2int_rd(x: float, /) -> int:
    """As a 32-bit integer, rounded down. Of float64, gives int32."""


@_op("libdevice_double2int_rn")
def double2int_rn(x: float, /) -> int:
    """As a 32-bit integer, rounded to nearest. Of float64, gives int32."""


@_op("libdevice_double2int_ru")
def double2int_ru(x: float, /) -> int:
    """As a 32-bit integer, rounded up. Of float64, gives int32."""


@_op("libdevice_double2int_rz")
def double2int_rz(x: float, /) -> int:
    """As a 32-bit integer, rounded towards zero. Of float64, gives int32."""


@_op("libdevice_double2ll_rd")
def double2ll_rd(x: float, /) -> int:
    """As a 64-bit integer, rounded down. Of float64, gives int64."""


@_op("libdevice_double2ll_rn")
def double2ll_rn(x: float, /) -> int:
    """As a 64-bit integer, rounded to nearest. Of float64, gives int64."""


@_op("libdevice_double2ll_ru")
def double2ll_ru(x: float, /) -> int:
    """As a 64-bit integer, rounded up. Of float64, gives int64."""


@_op("libdevice_double2ll_rz")
def double2ll_rz(x: float, /) -> int:
    """As a 64-bit integer, rounded towards zero. Of float64, gives int64."""


@_op("libdevice_double2loint")
def double2loint(x: float, /) -> int:
    """The lower 32 bits of a float64. Of float64, gives int32."""


@_op("libdevice_double2uint_rd")
def double2uint_rd(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded down. Of float64, gives int32."""


@_op("libdevice_double2uint_rn")
def double2uint_rn(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded to nearest. Of float64, gives int32."""


@_op("libdevice_double2uint_ru")
def double2uint_ru(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded up. Of float64, gives int32."""


@_op("libdevice_double2uint_rz")
def double2uint_rz(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded towards zero. Of float64, gives int32."""


@_op("libdevice_double2ull_rd")
def double2ull_rd(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded down. Of float64, gives int64."""


@_op("libdevice_double2ull_rn")
def double2ull_rn(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded to nearest. Of float64, gives int64."""


@_op("libdevice_double2ull_ru")
def double2ull_ru(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded up. Of float64, gives int64."""


@_op("libdevice_double2ull_rz")
def double2ull_rz(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded towards zero. Of float64, gives int64."""


@_op("libdevice_double_as_longlong")
def double_as_longlong(x: float, /) -> int:
    """The bits of a float64 as an int64. Of float64, gives int64."""


@_op("libdevice_drcp_rd")
def drcp_rd(x: float, /) -> float:
    """``1 / x`` rounded down. Of float64, gives float64."""


@_op("libdevice_drcp_rn")
def drcp_rn(x: float, /) -> float:
    """``1 / x`` rounded to nearest. Of float64, gives float64."""


@_op("libdevice_drcp_ru")
def drcp_ru(x: float, /) -> float:
    """``1 / x`` rounded up. Of float64, gives float64."""


@_op("libdevice_drcp_rz")
def drcp_rz(x: float, /) -> float:
    """``1 / x`` rounded towards zero. Of float64, gives float64."""


@_op("libdevice_dsqrt_rd")
def dsqrt_rd(x: float, /) -> float:
    """The square root rounded down. Of float64, gives float64."""


@_op("libdevice_dsqrt_rn")
def dsqrt_rn(x: float, /) -> float:
    """The square root rounded to nearest. Of float64, gives float64."""


@_op("libdevice_dsqrt_ru")
def dsqrt_ru(x: float, /) -> float:
    """The square root rounded up. Of float64, gives float64."""


@_op("libdevice_dsqrt_rz")
def dsqrt_rz(x: float, /) -> float:
    """The square root rounded towards zero. Of float64, gives float64."""


@_op("libdevice_erf")
def erf(x: float, /) -> float:
    """Error function. Of float64, gives float64."""


@_op("libdevice_erfc")
def erfc(x: float, /) -> float:
    """``1 - erf(x)``, right to the last places where it is small. Of float64, gives float64."""


@_op("libdevice_erfcf")
def erfcf(x: float, /) -> float:
    """``1 - erf(x)``, right to the last places where it is small. Of float32, gives float32."""


@_op("libdevice_erfcinv")
def erfcinv(x: float, /) -> float:
    """The y with ``erfc(y) == x``; infinite at 0 and 2, NaN beyond. Of float64, gives float64."""


@_op("libdevice_erfcinvf")
def erfcinvf(x: float, /) -> float:
    """The y with ``erfc(y) == x``; infinite at 0 and 2, NaN beyond. Of float32, gives float32."""


@_op("libdevice_erfcx")
def erfcx(x: float, /) -> float:
    """``exp(x*x) * erfc(x)``, which stays far from 0 where ``erfc`` does not. Of float64, gives
    float64.
    """


@_op("libdevice_erfcxf")
def erfcxf(x: float, /) -> float:
    """``exp(x*x) * erfc(x)``, which stays far from 0 where ``erfc`` does not. Of float32, gives
    float32.
    """


@_op("libdevice_erff")
def erff(x: float, /) -> float:
    """Error function. Of float32, gives float32."""


@_op("libdevice_erfinv")
def erfinv(x: float, /) -> float:
    """The y with ``erf(y) == x``; infinite at -1 and 1, NaN beyond. Of float64, gives float64."""


@_op("libdevice_erfinvf")
def erfinvf(x: float, /) -> float:
    """The y with ``erf(y) == x``; infinite at -1 and 1, NaN beyond. Of float32, gives float32."""


@_op("libdevice_exp")
def exp(x: float, /) -> float:
    """e to the x. Of float64, gives float64."""


@_op("libdevice_exp10")
def exp10(x: float, /) -> float:
    """10 to the x. Of float64, gives float64."""


@_op("libdevice_exp10f")
def exp10f(x: float, /) -> float:
    """10 to the x. Of float32, gives float32."""


@_op("libdevice_exp2")
def exp2(x: float, /) -> float:
    """2 to the x. Of float64, gives float64."""


@_op("libdevice_exp2f")
def exp2f(x: float, /) -> float:
    """2 to the x. Of float32, gives float32."""


@_op("libdevice_expf")
def expf(x: float, /) -> float:
    """e to the x. Of float32, gives float32."""


@_op("libdevice_expm1")
def expm1(x: float, /) -> float:
    """``exp(x) - 1``, right to the last places near 0. Of float64, gives float64."""


@_op("libdevice_expm1f")
def expm1f(x: float, /) -> float:
    """``exp(x) - 1``, right to the last places near 0. Of float32, gives float32."""


@_op("libdevice_fabs")
def fabs(x: float, /) -> float:
    """The number without its sign. Of float64, gives float64."""


@_op("libdevice_fabsf")
def fabsf(x: float, /) -> float:
    """The number without its sign. Of float32, gives float32."""


@_op("libdevice_fadd_rd")
def fadd_rd(x: float, y: float, /) -> float:
    """``x + y`` rounded down. Of float32, float32, gives float32."""


@_op("libdevice_fadd_rn")
def fadd_rn(x: float, y: float, /) -> float:
    """``x + y`` rounded to nearest. Of float32, float32, gives float32."""


@_op("libdevice_fadd_ru")
def fadd_ru(x: float, y: float, /) -> float:
    """``x + y`` rounded up. Of float32, float32, gives float32."""


@_op("libdevice_fadd_rz")
def fadd_rz(x: float, y: float, /) -> float:
    """``x + y`` rounded towards zero. Of float32, float32, gives float32."""


@_op("libdevice_fast_cosf")
def fast_cosf(x: float, /) -> float:
    """``cos(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_exp10f")
def fast_exp10f(x: float, /) -> float:
    """``exp10(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_expf")
def fast_expf(x: float, /) -> float:
    """``exp(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_fdividef")
def fast_fdividef(x: float, y: float, /) -> float:
    """``x / y``; on a GPU by its approximate instruction. Of float32, float32, gives float32."""


@_op("libdevice_fast_log10f")
def fast_log10f(x: float, /) -> float:
    """``log10(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_log2f")
def fast_log2f(x: float, /) -> float:
    """``log2(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_logf")
def fast_logf(x: float, /) -> float:
    """``log(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_powf")
def fast_powf(x: float, y: float, /) -> float:
    """``pow(x, y)``; on a GPU by its approximate instruction. For positive ``x``. Of float32,
    float32, gives float32.
    """


@_op("libdevice_fast_sincosf")
def fast_sincosf(x: float, /) -> tuple[float, float]:
    """``sincos(x)``; on a GPU by its approximate instruction. Of float32, gives float32,
    float32.
    """


@_op("libdevice_fast_sinf")
def fast_sinf(x: float, /) -> float:
    """``sin(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fast_tanf")
def fast_tanf(x: float, /) -> float:
    """``tan(x)``; on a GPU by its approximate instruction. Of float32, gives float32."""


@_op("libdevice_fdim")
def fdim(x: float, y: float, /) -> float:
    """``x - y`` where that is positive, else 0. Of float64, float64, gives float64."""


@_op("libdevice_fdimf")
def fdimf(x: float, y: float, /) -> float:
    """``x - y`` where that is positive, else 0. Of float32, float32, gives float32."""


@_op("libdevice_fdiv_rd")
def fdiv_rd(x: float, y: float, /) -> float:
    """``x / y`` rounded down. Of float32, float32, gives float32."""


@_op("libdevice_fdiv_rn")
def fdiv_rn(x: float, y: float, /) -> float:
    """``x / y`` rounded to nearest. Of float32, float32, gives float32."""


@_op("libdevice_fdiv_ru")
def fdiv_ru(x: float, y: float, /) -> float:
    """``x / y`` rounded up. Of float32, float32, gives float32."""


@_op("libdevice_fdiv_rz")
def fdiv_rz(x: float, y: float, /) -> float:
    """``x / y`` rounded towards zero. Of float32, float32, gives float32."""


@_op("libdevice_ffs")
def ffs(x: int, /) -> int:
    """The place of the lowest 1, counted from 1; 0 of 0. Of int32, gives int32."""


@_op("libdevice_ffsll")
def ffsll(x: int, /) -> int:
    """The place of the lowest 1, counted from 1; 0 of 0. Of int64, gives int32."""


@_op("libdevice_finitef")
def finitef(x: float, /) -> int:
    """Where a float is neither infinite nor NaN. Of float32, gives int32."""


@_op("libdevice_float2half_rn")
def float2half_rn(x: float, /) -> int:
    """The bits of the float16 nearest to ``x``, as an int16. Of float32, gives int16."""


@_op("libdevice_float2int_rd")
def float2int_rd(x: float, /) -> int:
    """As a 32-bit integer, rounded down. Of float32, gives int32."""


@_op("libdevice_float2int_rn")
def float2int_rn(x: float, /) -> int:
    """As a 32-bit integer, rounded to nearest. Of float32, gives int32."""


@_op("libdevice_float2int_ru")
def float2int_ru(x: float, /) -> int:
    """As a 32-bit integer, rounded up. Of float32, gives int32."""


@_op("libdevice_float2int_rz")
def float2int_rz(x: float, /) -> int:
    """As a 32-bit integer, rounded towards zero. Of float32, gives int32."""


@_op("libdevice_float2ll_rd")
def float2ll_rd(x: float, /) -> int:
    """As a 64-bit integer, rounded down. Of float32, gives int64."""


@_op("libdevice_float2ll_rn")
def float2ll_rn(x: float, /) -> int:
    """As a 64-bit integer, rounded to nearest. Of float32, gives int64."""


@_op("libdevice_float2ll_ru")
def float2ll_ru(x: float, /) -> int:
    """As a 64-bit integer, rounded up. Of float32, gives int64."""


@_op("libdevice_float2ll_rz")
def float2ll_rz(x: float, /) -> int:
    """As a 64-bit integer, rounded towards zero. Of float32, gives int64."""


@_op("libdevice_float2uint_rd")
def float2uint_rd(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded down. Of float32, gives int32."""


@_op("libdevice_float2uint_rn")
def float2uint_rn(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded to nearest. Of float32, gives int32."""


@_op("libdevice_float2uint_ru")
def float2uint_ru(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded up. Of float32, gives int32."""


@_op("libdevice_float2uint_rz")
def float2uint_rz(x: float, /) -> int:
    """As an unsigned 32-bit integer, rounded towards zero. Of float32, gives int32."""


@_op("libdevice_float2ull_rd")
def float2ull_rd(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded down. Of float32, gives int64."""


@_op("libdevice_float2ull_rn")
def float2ull_rn(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded to nearest. Of float32, gives int64."""


@_op("libdevice_float2ull_ru")
def float2ull_ru(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded up. Of float32, gives int64."""


@_op("libdevice_float2ull_rz")
def float2ull_rz(x: float, /) -> int:
    """As an unsigned 64-bit integer, rounded towards zero. Of float32, gives int64."""


@_op("libdevice_float_as_int")
def float_as_int(x: float, /) -> int:
    """The bits of a float32 as an int32. Of float32, gives int32."""


@_op("libdevice_floor")
def floor(x: float, /) -> float:
    """The greatest whole number that is not above ``x``. Of float64, gives float64."""


@_op("libdevice_floorf")
def floorf(x: float, /) -> float:
    """The greatest whole number that is not above ``x``. Of float32, gives float32."""


@_op("libdevice_fma")
def fma(x: float, y: float, z: float, /) -> float:
    """``x * y + z``, rounded once. Of float64, float64, float64, gives float64."""


@_op("libdevice_fma_rd")
def fma_rd(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded down. Of float64, float64, float64, gives float64."""


@_op("libdevice_fma_rn")
def fma_rn(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded to nearest. Of float64, float64, float64, gives float64."""


@_op("libdevice_fma_ru")
def fma_ru(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded up. Of float64, float64, float64, gives float64."""


@_op("libdevice_fma_rz")
def fma_rz(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded towards zero. Of float64, float64, float64, gives float64."""


@_op("libdevice_fmaf")
def fmaf(x: float, y: float, z: float, /) -> float:
    """``x * y + z``, rounded once. Of float32, float32, float32, gives float32."""


@_op("libdevice_fmaf_rd")
def fmaf_rd(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded down. Of float32, float32, float32, gives float32."""


@_op("libdevice_fmaf_rn")
def fmaf_rn(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded to nearest. Of float32, float32, float32, gives float32."""


@_op("libdevice_fmaf_ru")
def fmaf_ru(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded up. Of float32, float32, float32, gives float32."""


@_op("libdevice_fmaf_rz")
def fmaf_rz(x: float, y: float, z: float, /) -> float:
    """``x * y + z`` rounded towards zero. Of float32, float32, float32, gives float32."""


@_op("libdevice_fmax")
def fmax(x: float, y: float, /) -> float:
    """The greater number; of a number and NaN the number. Of float64, float64, gives float64."""


@_op("libdevice_fmaxf")
def fmaxf(x: float, y: float, /) -> float:
    """The greater number; of a number and NaN the number. Of float32, float32, gives float32."""


@_op("libdevice_fmin")
def fmin(x: float, y: float, /) -> float:
    """The lesser number; of a number and NaN the number. Of float64, float64, gives float64."""


@_op("libdevice_fminf")
def fminf(x: float, y: float, /) -> float:
    """The lesser number; of a number and NaN the number. Of float32, float32, gives float32."""


@_op("libdevice_fmod")
def fmod(x: float, y: float, /) -> float:
    """Remainder of ``x / y`` rounded towards zero, as C's. Of float64, float64, gives float64."""


@_op("libdevice_fmodf")
def fmodf(x: float, y: float, /) -> float:
    """Remainder of ``x / y`` rounded towards zero, as C's. Of float32, float32, gives float32."""


@_op("libdevice_fmul_rd")
def fmul_rd(x: float, y: float, /) -> float:
    """``x * y`` rounded down. Of float32, float32, gives float32."""


@_op("libdevice_fmul_rn")
def fmul_rn(x: float, y: float, /) -> float:
    """``x * y`` rounded to nearest. Of float32, float32, gives float32."""


@_op("libdevice_fmul_ru")
def fmul_ru(x: float, y: float, /) -> float:
    """``x * y`` rounded up. Of float32, float32, gives float32."""


@_op("libdevice_fmul_rz")
def fmul_rz(x: float, y: float, /) -> float:
    """``x * y`` rounded towards zero. Of float32, float32, gives float32."""


@_op("libdevice_frcp_rd")
def frcp_rd(x: float, /) -> float:
    """``1 / x`` rounded down. Of float32, gives float32."""


@_op("libdevice_frcp_rn")
def frcp_rn(x: float, /) -> float:
    """``1 / x`` rounded to nearest. Of float32, gives float32."""


@_op("libdevice_frcp_ru")
def frcp_ru(x: float, /) -> float:
    """``1 / x`` rounded up. Of float32, gives float32."""


@_op("libdevice_frcp_rz")
def frcp_rz(x: float, /) -> float:
    """``1 / x`` rounded towards zero. Of float32, gives float32."""


@_op("libdevice_frexp")
def frexp(x: float, /) -> tuple[float, int]:
    """A part of magnitude 1/2 to 1 and an ``int32`` exponent with ``x == part * 2**exponent``;
    0, infinities and NaN with exponent 0. Of float64, gives float64, int32.
    """


@_op("libdevice_frexpf")
def frexpf(x: float, /) -> tuple[float, int]:
    """A part of magnitude 1/2 to 1 and an ``int32`` exponent with ``x == part * 2**exponent``;
    0, infinities and NaN with exponent 0. Of float32, gives float32, int32.
    """


@_op("libdevice_frsqrt_rn")
def frsqrt_rn(x: float, /) -> float:
    """``1 / sqrt(x)`` rounded to nearest. Of float32, gives float32."""


@_op("libdevice_fsqrt_rd")
def fsqrt_rd(x: float, /) -> float:
    """The square root rounded down. Of float32, gives float32."""


@_op("libdevice_fsqrt_rn")
def fsqrt_rn(x: float, /) -> float:
    """The square root rounded to nearest. Of float32, gives float32."""


@_op("libdevice_fsqrt_ru")
def fsqrt_ru(x: float, /) -> float:
    """The square root rounded up. Of float32, gives float32."""


@_op("libdevice_fsqrt_rz")
def fsqrt_rz(x: float, /) -> float:
    """The square root rounded towards zero. Of float32, gives float32."""


@_op("libdevice_fsub_rd")
def fsub_rd(x: float, y: float, /) -> float:
    """``x - y`` rounded down. Of float32, float32, gives float32."""


@_op("libdevice_fsub_rn")
def fsub_rn(x: float, y: float, /) -> float:
    """``x - y`` rounded to nearest. Of float32, float32, gives float32."""


@_op("libdevice_fsub_ru")
def fsub_ru(x: float, y: float, /) -> float:
    """``x - y`` rounded up. Of float32, float32, gives float32."""


@_op("libdevice_fsub_rz")
def fsub_rz(x: float, y: float, /) -> float:
    """``x - y`` rounded towards zero. Of float32, float32, gives float32."""


@_op("libdevice_hadd")
def hadd(x: int, y: int, /) -> int:
    """``(x + y) >> 1`` without overflow. Of int32, int32, gives int32."""


@_op("libdevice_half2float")
def half2float(x: int, /) -> float:
    """The float16 of these bits, an int16, as a float32. Of int16, gives float32."""


@_op("libdevice_hiloint2double")
def hiloint2double(x: int, y: int, /) -> float:
    """The float64 of upper bits ``x`` and lower bits ``y``. Of int32, int32, gives float64."""


@_op("libdevice_hypot")
def hypot(x: float, y: float, /) -> float:
    """``sqrt(x*x + y*y)`` without overflow on the way; infinite if one is, even beside NaN. Of
    float64, float64, gives float64.
    """


@_op("libdevice_hypotf")
def hypotf(x: float, y: float, /) -> float:
    """``sqrt(x*x + y*y)`` without overflow on the way; infinite if one is, even beside NaN. Of
    float32, float32, gives float32.
    """


@_op("libdevice_ilogb")
def ilogb(x: float, /) -> int:
    """The exponent of ``x`` as an ``int32``; of 0 and NaN -2147483648, of infinities 2147483647.
    Of float64, gives int32.
    """


@_op("libdevice_ilogbf")
def ilogbf(x: float, /) -> int:
    """The exponent of ``x`` as an ``int32``; of 0 and NaN -2147483648, of infinities 2147483647.
    Of float32, gives int32.
    """


@_op("libdevice_int2double_rn")
def int2double_rn(x: int, /) -> float:
    """An integer as a float64, rounded to nearest. Of int32, gives float64."""


@_op("libdevice_int2float_rd")
def int2float_rd(x: int, /) -> float:
    """An integer as a float32, rounded down. Of int32, gives float32."""


@_op("libdevice_int2float_rn")
def int2float_rn(x: int, /) -> float:
    """An integer as a float32, rounded to nearest. Of int32, gives float32."""


@_op("libdevice_int2float_ru")
def int2float_ru(x: int, /) -> float:
    """An integer as a float32, rounded up. Of int32, gives float32."""


@_op("libdevice_int2float_rz")
def int2float_rz(x: int, /) -> float:
    """An integer as a float32, rounded towards zero. Of int32, gives float32."""


@_op("libdevice_int_as_float")
def int_as_float(x: int, /) -> float:
    """The float32 of these bits. Of int32, gives float32."""


@_op("libdevice_isfinited")
def isfinited(x: float, /) -> int:
    """Where a float is neither infinite nor NaN. Of float64, gives int32."""


@_op("libdevice_isinfd")
def isinfd(x: float, /) -> int:
    """Where a float is infinite. Of float64, gives int32."""


@_op("libdevice_isinff")
def isinff(x: float, /) -> int:
    """Where a float is infinite. Of float32, gives int32."""


@_op("libdevice_isnand")
def isnand(x: float, /) -> int:
    """Where a float is NaN. Of float64, gives int32."""


@_op("libdevice_isnanf")
def isnanf(x: float, /) -> int:
    """Where a float is NaN. Of float32, gives int32."""


@_op("libdevice_j0")
def j0(x: float, /) -> float:
    """Bessel function of the first kind, order 0. From 8 on the error is in ulps of ``sqrt(2 /
    (pi * x))``. Of float64, gives float64.
    """


@_op("libdevice_j0f")
def j0f(x: float, /) -> float:
    """Bessel function of the first kind, order 0. From 8 on the error is in ulps of ``sqrt(2 /
    (pi * x))``. Of float32, gives float32.
    """


@_op("libdevice_j1")
def j1(x: float, /) -> float:
    """Bessel function of the first kind, order 1; the error as of ``j0``. Of float64, gives
    float64.
    """


@_op("libdevice_j1f")
def j1f(x: float, /) -> float:
    """Bessel function of the first kind, order 1; the error as of ``j0``. Of float32, gives
    float32.
    """


@_op("libdevice_jn")
def jn(n: int, x: float, /) -> float:
    """Bessel function of the first kind, order ``n``; NaN for negative ``n``. It takes a number
    of steps near ``n``. Of int32, float64, gives float64.
    """


@_op("libdevice_jnf")
def jnf(n: int, x: float, /) -> float:
    """Bessel function of the first kind, order ``n``; NaN for negative ``n``. It takes a number
    of steps near ``n``. Of int32, float32, gives float32.
    """


@_op("libdevice_ldexp")
def ldexp(x: float, n: int, /) -> float:
    """``x * 2**n`` for an integer ``n``, rounded once. Of float64, int32, gives float64."""


@_op("libdevice_ldexpf")
def ldexpf(x: float, n: int, /) -> float:
    """``x * 2**n`` for an integer ``n``, rounded once. Of float32, int32, gives float32."""


@_op("libdevice_lgamma")
def lgamma(x: float, /) -> float:
    """Logarithm of the magnitude of the gamma function. Between its zeros below -2 the error is
    absolute. Of float64, gives float64.
    """


@_op("libdevice_lgammaf")
def lgammaf(x: float, /) -> float:
    """Logarithm of the magnitude of the gamma function. Between its zeros below -2 the error is
    absolute. Of float32, gives float32.
    """


@_op("libdevice_ll2double_rd")
def ll2double_rd(x: int, /) -> float:
    """An integer as a float64, rounded down. Of int64, gives float64."""


@_op("libdevice_ll2double_rn")
def ll2double_rn(x: int, /) -> float:
    """An integer as a float64, rounded to nearest. Of int64, gives float64."""


@_op("libdevice_ll2double_ru")
def ll2double_ru(x: int, /) -> float:
    """An integer as a float64, rounded up. Of int64, gives float64."""


@_op("libdevice_ll2double_rz")
def ll2double_rz(x: int, /) -> float:
    """An integer as a float64, rounded towards zero. Of int64, gives float64."""


@_op("libdevice_ll2float_rd")
def ll2float_rd(x: int, /) -> float:
    """An integer as a float32, rounded down. Of int64, gives float32."""


@_op("libdevice_ll2float_rn")
def ll2float_rn(x: int, /) -> float:
    """An integer as a float32, rounded to nearest. Of int64, gives float32."""


@_op("libdevice_ll2float_ru")
def ll2float_ru(x: int, /) -> float:
    """An integer as a float32, rounded up. Of int64, gives float32."""


@_op("libdevice_ll2float_rz")
def ll2float_rz(x: int, /) -> float:
    """An integer as a float32, rounded towards zero. Of int64, gives float32."""


@_op("libdevice_llabs")
def llabs(x: int, /) -> int:
    """The absolute value; of the least number itself. Of int64, gives int64."""


@_op("libdevice_llmax")
def llmax(x: int, y: int, /) -> int:
    """The greater integer. Of int64, int64, gives int64."""


@_op("libdevice_llmin")
def llmin(x: int, y: int, /) -> int:
    """The lesser integer. Of int64, int64, gives int64."""


@_op("libdevice_llrint")
def llrint(x: float, /) -> int:
    """``rint(x)`` as an integer; the nearest one where it does not fit, 0 of NaN. Of float64,
    gives int64.
    """


@_op("libdevice_llrintf")
def llrintf(x: float, /) -> int:
    """``rint(x)`` as an integer; the nearest one where it does not fit, 0 of NaN. Of float32,
    gives int64.
    """


@_op("libdevice_llround")
def llround(x: float, /) -> int:
    """``round(x)`` as an integer; the nearest one where it does not fit, 0 of NaN. Of float64,
    gives int64.
    """


@_op("libdevice_llroundf")
def llroundf(x: float, /) -> int:
    """``round(x)`` as an integer; the nearest one where it does not fit, 0 of NaN. Of float32,
    gives int64.
    """


@_op("libdevice_log")
def log(x: float, /) -> float:
    """Natural logarithm. Of float64, gives float64."""


@_op("libdevice_log10")
def log10(x: float, /) -> float:
    """Logarithm to base 10. Of float64, gives float64."""


@_op("libdevice_log10f")
def log10f(x: float, /) -> float:
    """Logarithm to base 10. Of float32, gives float32."""


@_op("libdevice_log1p")
def log1p(x: float, /) -> float:
    """``log(1 + x)``, right to the last places near 0. Of float64, gives float64."""


@_op("libdevice_log1pf")
def log1pf(x: float, /) -> float:
    """``log(1 + x)``, right to the last places near 0. Of float32, gives float32."""


@_op("libdevice_log2")
def log2(x: float, /) -> float:
    """Logarithm to base 2. Of float64, gives float64."""


@_op("libdevice_log2f")
def log2f(x: float, /) -> float:
    """Logarithm to base 2. Of float32, gives float32."""


@_op("libdevice_logb")
def logb(x: float, /) -> float:
    """The exponent of ``x`` as a float: ``floor(log2(abs(x)))``; of 0 minus infinity. Of
    float64, gives float64.
    """


@_op("libdevice_logbf")
def logbf(x: float, /) -> float:
    """The exponent of ``x`` as a float: ``floor(log2(abs(x)))``; of 0 minus infinity. Of
    float32, gives float32.
    """


@_op("libdevice_logf")
def logf(x: float, /) -> float:
    """Natural logarithm. Of float32, gives float32."""


@_op("libdevice_longlong_as_double")
def longlong_as_double(x: int, /) -> float:
    """The float64 of these bits. Of int64, gives float64."""


@_op("libdevice_max")
def max(x: int, y: int, /) -> int:
    """The greater integer. Of int32, int32, gives int32."""


@_op("libdevice_min")
def min(x: int, y: int, /) -> int:
    """The lesser integer. Of int32, int32, gives int32."""


@_op("libdevice_modf")
def modf(x: float, /) -> tuple[float, float]:
    """The fraction ``x - trunc(x)`` with the sign of ``x``, and ``trunc(x)``. Of float64, gives
    float64, float64.
    """


@_op("libdevice_modff")
def modff(x: float, /) -> tuple[float, float]:
    """The fraction ``x - trunc(x)`` with the sign of ``x``, and ``trunc(x)``. Of float32, gives
    float32, float32.
    """


@_op("libdevice_mul24")
def mul24(x: int, y: int, /) -> int:
    """The lower 32 bits of the product of the lower 24 bits. Of int32, int32, gives int32."""


@_op("libdevice_mul64hi")
def mul64hi(x: int, y: int, /) -> int:
    """The upper 64 bits of the product. Of int64, int64, gives int64."""


@_op("libdevice_mulhi")
def mulhi(x: int, y: int, /) -> int:
    """The upper 32 bits of the product. Of int32, int32, gives int32."""


@_op("libdevice_nearbyint")
def nearbyint(x: float, /) -> float:
    """The nearest integer as a float, halves to even. Of float64, gives float64."""


@_op("libdevice_nearbyintf")
def nearbyintf(x: float, /) -> float:
    """The nearest integer as a float, halves to even. Of float32, gives float32."""


@_op("libdevice_nextafter")
def nextafter(x: float, y: float, /) -> float:
    """The next number after ``x`` in its dtype towards ``y``. Of float64, float64, gives
    float64.
    """


@_op("libdevice_nextafterf")
def nextafterf(x: float, y: float, /) -> float:
    """The next number after ``x`` in its dtype towards ``y``. Of float32, float32, gives
    float32.
    """


@_op("libdevice_normcdf")
def normcdf(x: float, /) -> float:
    """Probability that a standard normal number is below ``x``. Of float64, gives float64."""


@_op("libdevice_normcdff")
def normcdff(x: float, /) -> float:
    """Probability that a standard normal number is below ``x``. Of float32, gives float32."""


@_op("libdevice_normcdfinv")
def normcdfinv(x: float, /) -> float:
    """The y with ``normcdf(y) == x``, the quantile of the normal distribution; infinite at 0 and
    1, NaN beyond. Of float64, gives float64.
    """


@_op("libdevice_normcdfinvf")
def normcdfinvf(x: float, /) -> float:
    """The y with ``normcdf(y) == x``, the quantile of the normal distribution; infinite at 0 and
    1, NaN beyond. Of float32, gives float32.
    """


@_op("libdevice_popc")
def popc(x: int, /) -> int:
    """How many bits are 1. Of int32, gives int32."""


@_op("libdevice_popcll")
def popcll(x: int, /) -> int:
    """How many bits are 1. Of int64, gives int32."""


@_op("libdevice_pow")
def pow(x: float, y: float, /) -> float:
    """``x`` to the power ``y``. Of float64, float64, gives float64."""


@_op("libdevice_powf")
def powf(x: float, y: float, /) -> float:
    """``x`` to the power ``y``. Of float32, float32, gives float32."""


@_op("libdevice_powi")
def powi(x: float, n: int, /) -> float:
    """``x`` to the power of an integer. Of float64, int32, gives float64."""


@_op("libdevice_powif")
def powif(x: float, n: int, /) -> float:
    """``x`` to the power of an integer. Of float32, int32, gives float32."""


@_op("libdevice_rcbrt")
def rcbrt(x: float, /) -> float:
    """``1 / cbrt(x)``. Of float64, gives float64."""


@_op("libdevice_rcbrtf")
def rcbrtf(x: float, /) -> float:
    """``1 / cbrt(x)``. Of float32, gives float32."""


@_op("libdevice_remainder")
def remainder(x: float, y: float, /) -> float:
    """Remainder of ``x / y`` rounded to nearest (IEEE 754). NumPy's ``remainder`` is ``mod``. Of
    float64, float64, gives float64.
    """


@_op("libdevice_remainderf")
def remainderf(x: float, y: float, /) -> float:
    """Remainder of ``x / y`` rounded to nearest (IEEE 754). NumPy's ``remainder`` is ``mod``. Of
    float32, float32, gives float32.
    """


@_op("libdevice_remquo")
def remquo(x: float, y: float, /) -> tuple[float, int]:
    """``remainder(x, y)``, and the sign and lowest three bits of the quotient. Of float64,
    float64, gives float64, int32.
    """


@_op("libdevice_remquof")
def remquof(x: float, y: float, /) -> tuple[float, int]:
    """``remainder(x, y)``, and the sign and lowest three bits of the quotient. Of float32,
    float32, gives float32, int32.
    """


@_op("libdevice_rhadd")
def rhadd(x: int, y: int, /) -> int:
    """``(x + y + 1) >> 1`` without overflow. Of int32, int32, gives int32."""


@_op("libdevice_rint")
def rint(x: float, /) -> float:
    """The nearest integer as a float, halves to even. Of float64, gives float64."""


@_op("libdevice_rintf")
def rintf(x: float, /) -> float:
    """The nearest integer as a float, halves to even. Of float32, gives float32."""


@_op("libdevice_round")
def round(x: float, /) -> float:
    """The nearest integer as a float, halves away from zero as C's ``round``. Of float64, gives
    float64.
    """


@_op("libdevice_roundf")
def roundf(x: float, /) -> float:
    """The nearest integer as a float, halves away from zero as C's ``round``. Of float32, gives
    float32.
    """


@_op("libdevice_rsqrt")
def rsqrt(x: float, /) -> float:
    """1 / sqrt(x). Of float64, gives float64."""


@_op("libdevice_rsqrtf")
def rsqrtf(x: float, /) -> float:
    """1 / sqrt(x). Of float32, gives float32."""


@_op("libdevice_sad")
def sad(x: int, y: int, z: int, /) -> int:
    """``abs(x - y) + z``. Of int32, int32, int32, gives int32."""


@_op("libdevice_saturatef")
def saturatef(x: float, /) -> float:
    """``x`` kept between 0 and 1; 0 of NaN. Of float32, gives float32."""


@_op("libdevice_scalbn")
def scalbn(x: float, n: int, /) -> float:
    """``x * 2**n`` for an integer ``n``, rounded once. Of float64, int32, gives float64."""


@_op("libdevice_scalbnf")
def scalbnf(x: float, n: int, /) -> float:
    """``x * 2**n`` for an integer ``n``, rounded once. Of float32, int32, gives float32."""


@_op("libdevice_signbitd")
def signbitd(x: float, /) -> int:
    """Where the sign is minus: of negative numbers, of -0 and of NaN with that sign. Of float64,
    gives int32.
    """


@_op("libdevice_signbitf")
def signbitf(x: float, /) -> int:
    """Where the sign is minus: of negative numbers, of -0 and of NaN with that sign. Of float32,
    gives int32.
    """


@_op("libdevice_sin")
def sin(x: float, /) -> float:
    """Sine of radians, any argument. Of float64, gives float64."""


@_op("libdevice_sincos")
def sincos(x: float, /) -> tuple[float, float]:
    """Sine of radians, any argument. Of float64, gives float64, float64."""


@_op("libdevice_sincosf")
def sincosf(x: float, /) -> tuple[float, float]:
    """Sine of radians, any argument. Of float32, gives float32, float32."""


@_op("libdevice_sincospi")
def sincospi(x: float, /) -> tuple[float, float]:
    """``sin(pi * x)`` and ``cos(pi * x)``. Of float64, gives float64, float64."""


@_op("libdevice_sincospif")
def sincospif(x: float, /) -> tuple[float, float]:
    """``sin(pi * x)`` and ``cos(pi * x)``. Of float32, gives float32, float32."""


@_op("libdevice_sinf")
def sinf(x: float, /) -> float:
    """Sine of radians, any argument. Of float32, gives float32."""


@_op("libdevice_sinh")
def sinh(x: float, /) -> float:
    """Hyperbolic sine. Of float64, gives float64."""


@_op("libdevice_sinhf")
def sinhf(x: float, /) -> float:
    """Hyperbolic sine. Of float32, gives float32."""


@_op("libdevice_sinpi")
def sinpi(x: float, /) -> float:
    """``sin(pi * x)``; exact at multiples of a half. Of float64, gives float64."""


@_op("libdevice_sinpif")
def sinpif(x: float, /) -> float:
    """``sin(pi * x)``; exact at multiples of a half. Of float32, gives float32."""


@_op("libdevice_sqrt")
def sqrt(x: float, /) -> float:
    """The square root, correctly rounded. Of float64, gives float64."""


@_op("libdevice_sqrtf")
def sqrtf(x: float, /) -> float:
    """The square root, correctly rounded. Of float32, gives float32."""


@_op("libdevice_tan")
def tan(x: float, /) -> float:
    """Tangent of radians. Of float64, gives float64."""


@_op("libdevice_tanf")
def tanf(x: float, /) -> float:
    """Tangent of radians. Of float32, gives float32."""


@_op("libdevice_tanh")
def tanh(x: float, /) -> float:
    """Hyperbolic tangent. Of float64, gives float64."""


@_op("libdevice_tanhf")
def tanhf(x: float, /) -> float:
    """Hyperbolic tangent. Of float32, gives float32."""


@_op("libdevice_tgamma")
def tgamma(x: float, /) -> float:
    """Gamma function; infinite at 0, NaN at the negative integers. Of float64, gives float64."""


@_op("libdevice_tgammaf")
def tgammaf(x: float, /) -> float:
    """Gamma function; infinite at 0, NaN at the negative integers. Of float32, gives float32."""


@_op("libdevice_trunc")
def trunc(x: float, /) -> float:
    """The integer next to ``x`` towards zero, as a float. Of float64, gives float64."""


@_op("libdevice_truncf")
def truncf(x: float, /) -> float:
    """The integer next to ``x`` towards zero, as a float. Of float32, gives float32."""


@_op("libdevice_uhadd")
def uhadd(x: int, y: int, /) -> int:
    """``(x + y) >> 1`` of unsigned integers without overflow. Of int32, int32, gives int32."""


@_op("libdevice_uint2double_rn")
def uint2double_rn(x: int, /) -> float:
    """An unsigned integer as a float64, rounded to nearest. Of int32, gives float64."""


@_op("libdevice_uint2float_rd")
def uint2float_rd(x: int, /) -> float:
    """An unsigned integer as a float32, rounded down. Of int32, gives float32."""


@_op("libdevice_uint2float_rn")
def uint2float_rn(x: int, /) -> float:
    """An unsigned integer as a float32, rounded to nearest. Of int32, gives float32."""


@_op("libdevice_uint2float_ru")
def uint2float_ru(x: int, /) -> float:
    """An unsigned integer as a float32, rounded up. Of int32, gives float32."""


@_op("libdevice_uint2float_rz")
def uint2float_rz(x: int, /) -> float:
    """An unsigned integer as a float32, rounded towards zero. Of int32, gives float32."""


@_op("libdevice_ull2double_rd")
def ull2double_rd(x: int, /) -> float:
    """An unsigned integer as a float64, rounded down. Of int64, gives float64."""


@_op("libdevice_ull2double_rn")
def ull2double_rn(x: int, /) -> float:
    """An unsigned integer as a float64, rounded to nearest. Of int64, gives float64."""


@_op("libdevice_ull2double_ru")
def ull2double_ru(x: int, /) -> float:
    """An unsigned integer as a float64, rounded up. Of int64, gives float64."""


@_op("libdevice_ull2double_rz")
def ull2double_rz(x: int, /) -> float:
    """An unsigned integer as a float64, rounded towards zero. Of int64, gives float64."""


@_op("libdevice_ull2float_rd")
def ull2float_rd(x: int, /) -> float:
    """An unsigned integer as a float32, rounded down. Of int64, gives float32."""


@_op("libdevice_ull2float_rn")
def ull2float_rn(x: int, /) -> float:
    """An unsigned integer as a float32, rounded to nearest. Of int64, gives float32."""


@_op("libdevice_ull2float_ru")
def ull2float_ru(x: int, /) -> float:
    """An unsigned integer as a float32, rounded up. Of int64, gives float32."""


@_op("libdevice_ull2float_rz")
def ull2float_rz(x: int, /) -> float:
    """An unsigned integer as a float32, rounded towards zero. Of int64, gives float32."""


@_op("libdevice_ullmax")
def ullmax(x: int, y: int, /) -> int:
    """The greater unsigned integer. Of int64, int64, gives int64."""


@_op("libdevice_ullmin")
def ullmin(x: int, y: int, /) -> int:
    """The lesser unsigned integer. Of int64, int64, gives int64."""


@_op("libdevice_umax")
def umax(x: int, y: int, /) -> int:
    """The greater unsigned integer. Of int32, int32, gives int32."""


@_op("libdevice_umin")
def umin(x: int, y: int, /) -> int:
    """The lesser unsigned integer. Of int32, int32, gives int32."""


@_op("libdevice_umul24")
def umul24(x: int, y: int, /) -> int:
    """The lower 32 bits of the product of the lower 24 bits, unsigned. Of int32, int32, gives
    int32.
    """


@_op("libdevice_umul64hi")
def umul64hi(x: int, y: int, /) -> int:
    """The upper 64 bits of the unsigned product. Of int64, int64, gives int64."""


@_op("libdevice_umulhi")
def umulhi(x: int, y: int, /) -> int:
    """The upper 32 bits of the unsigned product. Of int32, int32, gives int32."""


@_op("libdevice_urhadd")
def urhadd(x: int, y: int, /) -> int:
    """``(x + y + 1) >> 1`` of unsigned integers without overflow. Of int32, int32, gives int32."""


@_op("libdevice_usad")
def usad(x: int, y: int, z: int, /) -> int:
    """``abs(x - y) + z`` of unsigned integers. Of int32, int32, int32, gives int32."""


@_op("libdevice_y0")
def y0(x: float, /) -> float:
    """Bessel function of the second kind, order 0; minus infinity at 0, NaN below; the error as
    of ``j0``. Of float64, gives float64.
    """


@_op("libdevice_y0f")
def y0f(x: float, /) -> float:
    """Bessel function of the second kind, order 0; minus infinity at 0, NaN below; the error as
    of ``j0``. Of float32, gives float32.
    """


@_op("libdevice_y1")
def y1(x: float, /) -> float:
    """Bessel function of the second kind, order 1; minus infinity at 0, NaN below; the error as
    of ``j0``. Of float64, gives float64.
    """


@_op("libdevice_y1f")
def y1f(x: float, /) -> float:
    """Bessel function of the second kind, order 1; minus infinity at 0, NaN below; the error as
    of ``j0``. Of float32, gives float32.
    """


@_op("libdevice_yn")
def yn(n: int, x: float, /) -> float:
    """Bessel function of the second kind, order ``n``; NaN for negative ``n``. It takes ``n``
    steps. Of int32, float64, gives float64.
    """


@_op("libdevice_ynf")
def ynf(n: int, x: float, /) -> float:
    """Bessel function of the second kind, order ``n``; NaN for negative ``n``. It takes ``n``
    steps. Of int32, float32, gives float32.
    """

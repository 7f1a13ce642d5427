# SPDX-License-Identifier: Apache-2.0
"""Floats of 8 bits in kernels of threads: types that convert (``fp8_e4m3(x)``, ``float32(h)``) and are stored, and
conversions to and from their bits, a uint8, under CUDA's names.

A constructor rounds to nearest and keeps what is too great at the greatest number (``SATFINITE``). Arrays of them are
arrays of ml_dtypes' float8_e5m2, float8_e4m3fn and float8_e8m0fnu.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from ._device import reinterpreted, rounded
from .types import bfloat16, float8_e4m3fn, float8_e5m2, float8_e8m0fnu, float32, float64, uint8, uint16, uint32

__all__ = [
    "bfloat16_raw", "cvt_bfloat16raw_to_e8m0", "cvt_bfloat16raw_to_fp8", "cvt_double_to_e8m0", "cvt_double_to_fp8",
    "cvt_e8m0_to_bf16raw", "cvt_float_to_e8m0", "cvt_float_to_fp8", "fp8_e4m3", "fp8_e5m2", "fp8_e8m0",
    "fp8_interpretation_t", "saturation_t",
]  # fmt: skip

fp8_e5m2, fp8_e4m3, fp8_e8m0 = float8_e5m2, float8_e4m3fn, float8_e8m0fnu


class saturation_t(enum.IntEnum):
    """What a conversion makes of a number that is too great."""

    NOSAT = 0
    SATFINITE = 1


class fp8_interpretation_t(enum.IntEnum):
    """Which float the bits are."""

    E4M3 = 0
    E5M2 = 1


class bfloat16_raw(NamedTuple):
    """A bfloat16 by its bits."""

    x: Any


def _fp8(x: Any, saturate: Any, interpretation: Any) -> Any:
    """The bits of a float64. The greatest numbers are 57344 and 448; halfway to the next one on it is too great."""
    wide = interpretation == fp8_interpretation_t.E5M2
    bits = reinterpreted(fp8_e5m2(x), uint8) if wide else reinterpreted(fp8_e4m3(x), uint8)
    too_great = abs(x) >= 61440.0 if wide else abs(x) > 464.0
    sign = uint8(128) if x < 0 else uint8(0)
    most = uint8(0x7B) if wide else uint8(0x7E)
    beyond = uint8(0x7C) if wide else uint8(0x7F)
    if too_great:
        bits = uint8(sign | (most if saturate == saturation_t.SATFINITE else beyond))
    if x != x:
        bits = uint8(0x7F)
    return bits


def cvt_double_to_fp8(x: Any, saturate: Any, interpretation: Any) -> Any:
    """The bits of a float64 as a float of 8 bits, rounded to nearest."""
    return _fp8(float64(x), saturate, interpretation)


def cvt_float_to_fp8(x: Any, saturate: Any, interpretation: Any) -> Any:
    """The bits of a float32 as a float of 8 bits, rounded to nearest."""
    return _fp8(float64(float32(x)), saturate, interpretation)


def cvt_bfloat16raw_to_fp8(x: Any, saturate: Any, interpretation: Any) -> Any:
    """The bits of a bfloat16 as a float of 8 bits, rounded to nearest."""
    return _fp8(float64(reinterpreted(uint16(x.x), bfloat16)), saturate, interpretation)


def cvt_e8m0_to_bf16raw(x: Any) -> Any:
    """The power of two with these bits, as a bfloat16."""
    return bfloat16_raw(reinterpreted(bfloat16(float32(reinterpreted(uint8(x), fp8_e8m0))), uint16))


def _e8m0(x: Any, saturate: Any, rounding: Any) -> Any:
    """The exponent of |x|, a float32 that was not rounded up, and one more where there are further digits and it is to
    be rounded up (2: towards infinity)."""
    bits = reinterpreted(abs(x), uint32)
    found = (bits >> 23) + (1 if rounding == 2 and bits & 0x7FFFFF else 0)
    if found > 254:
        found = 254 if saturate == saturation_t.SATFINITE else 255
    return uint8(255) if x != x else uint8(found)


def cvt_float_to_e8m0(x: Any, saturate: Any, rounding: Any) -> Any:
    """The exponent of a float32: towards zero (cudaRoundZero) or up (cudaRoundPosInf)."""
    return _e8m0(float32(x), saturate, rounding)


def cvt_double_to_e8m0(x: Any, saturate: Any, rounding: Any) -> Any:
    """The exponent of a float64: towards zero (cudaRoundZero) or up (cudaRoundPosInf)."""
    size = abs(float64(x))
    narrow = rounded(size, float32, "ru") if rounding == 2 else rounded(size, float32, "rz")
    return _e8m0(narrow, saturate, rounding)


def cvt_bfloat16raw_to_e8m0(x: Any, saturate: Any, rounding: Any) -> Any:
    """The exponent of a bfloat16: towards zero (cudaRoundZero) or up (cudaRoundPosInf)."""
    return _e8m0(float32(reinterpreted(uint16(x.x), bfloat16)), saturate, rounding)

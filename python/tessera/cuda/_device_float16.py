# SPDX-License-Identifier: Apache-2.0
"""What kernels of threads name of float16: ``cuda.fp16``."""

from __future__ import annotations

from typing import Any

from ._stub import _op


class fp16:
    """float16 by name: all arguments become float16, and results are."""

    __tessera_names__ = True

    @staticmethod
    @_op("fp16_hadd")
    def hadd(a: Any, b: Any, /) -> Any:
        """``a + b``."""

    @staticmethod
    @_op("fp16_hsub")
    def hsub(a: Any, b: Any, /) -> Any:
        """``a - b``."""

    @staticmethod
    @_op("fp16_hmul")
    def hmul(a: Any, b: Any, /) -> Any:
        """``a * b``."""

    @staticmethod
    @_op("fp16_hdiv")
    def hdiv(a: Any, b: Any, /) -> Any:
        """``a / b``."""

    @staticmethod
    @_op("fp16_heq")
    def heq(a: Any, b: Any, /) -> Any:
        """``a == b``."""

    @staticmethod
    @_op("fp16_hne")
    def hne(a: Any, b: Any, /) -> Any:
        """``a != b``."""

    @staticmethod
    @_op("fp16_hlt")
    def hlt(a: Any, b: Any, /) -> Any:
        """``a < b``."""

    @staticmethod
    @_op("fp16_hle")
    def hle(a: Any, b: Any, /) -> Any:
        """``a <= b``."""

    @staticmethod
    @_op("fp16_hgt")
    def hgt(a: Any, b: Any, /) -> Any:
        """``a > b``."""

    @staticmethod
    @_op("fp16_hge")
    def hge(a: Any, b: Any, /) -> Any:
        """``a >= b``."""

    @staticmethod
    @_op("fp16_hmax")
    def hmax(a: Any, b: Any, /) -> Any:
        """The greater one; a number before a NaN."""

    @staticmethod
    @_op("fp16_hmin")
    def hmin(a: Any, b: Any, /) -> Any:
        """The lesser one; a number before a NaN."""

    @staticmethod
    @_op("fp16_hfma")
    def hfma(a: Any, b: Any, c: Any, /) -> Any:
        """``a * b + c``, rounded once."""

    @staticmethod
    @_op("fp16_hneg")
    def hneg(a: Any, /) -> Any:
        """``-a``."""

    @staticmethod
    @_op("fp16_habs")
    def habs(a: Any, /) -> Any:
        """``abs(a)``."""

    @staticmethod
    @_op("fp16_hsin")
    def hsin(a: Any, /) -> Any:
        """The sine."""

    @staticmethod
    @_op("fp16_hcos")
    def hcos(a: Any, /) -> Any:
        """The cosine."""

    @staticmethod
    @_op("fp16_hlog")
    def hlog(a: Any, /) -> Any:
        """The natural logarithm."""

    @staticmethod
    @_op("fp16_hlog2")
    def hlog2(a: Any, /) -> Any:
        """The logarithm to base 2."""

    @staticmethod
    @_op("fp16_hlog10")
    def hlog10(a: Any, /) -> Any:
        """The logarithm to base 10."""

    @staticmethod
    @_op("fp16_hexp")
    def hexp(a: Any, /) -> Any:
        """e to the power ``a``."""

    @staticmethod
    @_op("fp16_hexp2")
    def hexp2(a: Any, /) -> Any:
        """2 to the power ``a``."""

    @staticmethod
    @_op("fp16_hexp10")
    def hexp10(a: Any, /) -> Any:
        """10 to the power ``a``."""

    @staticmethod
    @_op("fp16_hfloor")
    def hfloor(a: Any, /) -> Any:
        """The greatest whole number not above."""

    @staticmethod
    @_op("fp16_hceil")
    def hceil(a: Any, /) -> Any:
        """The least whole number not below."""

    @staticmethod
    @_op("fp16_hsqrt")
    def hsqrt(a: Any, /) -> Any:
        """The square root."""

    @staticmethod
    @_op("fp16_hrsqrt")
    def hrsqrt(a: Any, /) -> Any:
        """``1 / sqrt(a)``."""

    @staticmethod
    @_op("fp16_hrcp")
    def hrcp(a: Any, /) -> Any:
        """``1 / a``."""

    @staticmethod
    @_op("fp16_hrint")
    def hrint(a: Any, /) -> Any:
        """The nearest whole number, halves to even."""

    @staticmethod
    @_op("fp16_htrunc")
    def htrunc(a: Any, /) -> Any:
        """The whole number next to it towards zero."""

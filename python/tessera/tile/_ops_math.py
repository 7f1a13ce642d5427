# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, mathematics, reductions and matrix products.

Stubs with their documentation; the compiler knows them by name (src/lang/tile/tile_op.def). The lists of
``__init__.py`` are made of them: tools/gen_language.py.
"""

from __future__ import annotations

from typing import Any

from ._op import like, op


@op
def truediv(x: Any, y: Any, /, *, rounding_mode: Any = None, flush_to_zero: bool = False) -> Any:
    """``x / y``; ints divide as float32. ``rounding_mode`` FULL and APPROX allow faster float32 division."""


@op
def floordiv(x: Any, y: Any, /) -> Any:
    """``x // y``, rounded towards minus infinity.

    Integers divided by zero give 0 (and ``x % 0`` is 0), as in NumPy: in tiles and scalars, on every device.
    With ``checked=True`` a scalar divided by zero is a ``KernelError``.
    """


def cdiv(a: Any, b: Any, /) -> Any:
    """``a / b`` rounded up, of ints; works on the host too, for grids."""
    return -(-a // b)


cdiv.__tessera_op__ = "cdiv"  # type: ignore[attr-defined]


@op
def mod(x: Any, y: Any, /) -> Any:
    """``x % y`` with the sign of the divisor, as in Python; of integers 0 where ``y`` is 0."""


@op
def divmod(x: Any, y: Any, /) -> Any:
    """``(x // y, x % y)`` of ints; ``(0, 0)`` where ``y`` is 0."""


@op
def minimum(x: Any, y: Any, /, *, flush_to_zero: bool = False, propagate_nan: bool = False) -> Any:
    """The smaller of two; NaN loses unless ``propagate_nan``."""


@op
def maximum(x: Any, y: Any, /, *, flush_to_zero: bool = False, propagate_nan: bool = False) -> Any:
    """The larger of two; NaN loses unless ``propagate_nan``."""


@op
def negative(x: Any, /) -> Any:
    """``-x``."""


@op
def abs(x: Any, /) -> Any:
    """Absolute value."""


@op
def complex(real: Any, imag: Any, /) -> Any:
    """A complex number or tile of two real ones that broadcast: complex128 of float64, else complex64."""


@op
def real(x: Any, /) -> Any:
    """The real part: float32 of complex64, float64 of complex128. Real numbers are their own."""


@op
def imag(x: Any, /) -> Any:
    """The imaginary part; zeros where ``x`` is real."""


@op
def conj(x: Any, /) -> Any:
    """The complex conjugate; ``x`` itself where it is real."""


@op
def isnan(x: Any, /) -> Any:
    """Where a float is NaN."""


@op
def sqrt(x: Any, /, *, rounding_mode: Any = None, flush_to_zero: bool = False) -> Any:
    """Square root, correctly rounded unless APPROX is asked for."""


@op
def round(x: Any, /) -> Any:
    """The nearest whole float, halves to even as Python's and NumPy's ``round``; ``rint`` by another name.

    ``round_away`` is C's ``round``.
    """


@op
def floor(x: Any, /) -> Any:
    """Greatest whole float not above x."""


@op
def ceil(x: Any, /) -> Any:
    """Least whole float not below x."""


@op
def bitwise_and(x: Any, y: Any, /) -> Any:
    """``x & y`` of ints or bools of one dtype."""


@op
def bitwise_or(x: Any, y: Any, /) -> Any:
    """``x | y`` of ints or bools of one dtype."""


@op
def bitwise_xor(x: Any, y: Any, /) -> Any:
    """``x ^ y`` of ints or bools of one dtype."""


@op
def bitwise_lshift(x: Any, y: Any, /) -> Any:
    """``x << y`` of ints."""


@op
def bitwise_rshift(x: Any, y: Any, /) -> Any:
    """``x >> y`` of ints; keeps the sign of signed ones."""


@op
def bitwise_not(x: Any, /) -> Any:
    """``~x`` of ints or bools."""


@op
def greater(x: Any, y: Any, /) -> Any:
    """``x > y``."""


@op
def greater_equal(x: Any, y: Any, /) -> Any:
    """``x >= y``."""


@op
def less(x: Any, y: Any, /) -> Any:
    """``x < y``."""


@op
def less_equal(x: Any, y: Any, /) -> Any:
    """``x <= y``."""


@op
def equal(x: Any, y: Any, /) -> Any:
    """``x == y``."""


@op
def not_equal(x: Any, y: Any, /) -> Any:
    """``x != y``; true for NaN."""


@op
def sum(
    x: Any,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    rounding_mode: Any = None,
    flush_to_zero: bool = False,
) -> Any:
    """Sum over ``axis`` (None: all, an int or a tuple). Keeps the dtype; bools sum as int32."""


prod = like(sum, "prod", "Product over ``axis``.")


@op
def max(
    x: Any,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> Any:
    """Largest element over ``axis``; NaN loses to numbers unless ``propagate_nan``."""


min = like(
    max, "min", "Smallest element over ``axis``; NaN loses to numbers unless ``propagate_nan``."
)


@op
def argmax(
    x: Any, /, axis: Any = None, *, keepdims: bool = False, propagate_nan: bool = False
) -> Any:
    """Index (int32) of the largest element; the smallest index of equal ones."""


argmin = like(
    argmax, "argmin", "Index (int32) of the smallest element; the smallest index of equal ones."
)


@op
def reduce(x: Any, /, axis: int, func: Any, identity: Any, *, keepdims: bool = False) -> Any:
    """Reduction over one constant axis with a function of yours.

    Parameters
    ----------
    x : tile or tuple of N tiles
    func : function of 2N scalars
        The first N are one side, the last N the other; gives a scalar or a tuple of N. Must be pure and
        associative. It need not commute: the first side is always made of lower indices. It may not
        branch: choose with ``ct.where``.
    identity : constant or tuple of N
        ``func`` of it and x must be x: it takes part in the result.
    """


@op
def cumsum(
    x: Any,
    /,
    axis: int = 0,
    *,
    reverse: bool = False,
    rounding_mode: Any = None,
    flush_to_zero: bool = False,
) -> Any:
    """Inclusive running sum along ``axis``."""


cumprod = like(cumsum, "cumprod", "Inclusive running product along ``axis``.")


@op
def scan(x: Any, /, axis: int, func: Any, identity: Any, *, reverse: bool = False) -> Any:
    """Inclusive scan along one axis with a function as for ``reduce``."""


@op
def mma(x: Any, y: Any, /, acc: Any, *, use_fast_acc: bool = False) -> Any:
    """``x @ y + acc`` on tensor cores where there are some.

    x is ([B,] M, K), y ([B,] K, N), acc ([B,] M, N). float16 accumulates in float16 or float32; bfloat16,
    float32, tfloat32 and float8 in float32; float64 in float64; int8 and uint8 in int32. No promotion.
    """


@op
def mma_scaled(x: Any, x_scale: Any, y: Any, y_scale: Any, /, acc: Any) -> Any:
    """Block-scaled ``mma``: x_scale is ([B,] M, K / block), y_scale ([B,] K / block, N)."""


@op
def matmul(x: Any, y: Any, /) -> Any:
    """``x @ y``: promotes, accumulates wide, gives the promoted dtype."""

# SPDX-License-Identifier: Apache-2.0
"""Operations that make, reshape and select, and those of compile time.

Stubs with their documentation; the compiler knows them by name (src/lang/tile/tile_op.def). The lists of
``__init__.py`` are made of them: tools/gen_language.py.
"""

from __future__ import annotations

from typing import Any

from ._op import op


@op
def full(shape: Any, fill_value: Any, dtype: Any) -> Any:
    """A tile with every element ``value``, which may be a run-time scalar."""


@op
def zeros(shape: Any, dtype: Any) -> Any:
    """A tile of zeros."""


@op
def ones(shape: Any, dtype: Any) -> Any:
    """A tile of ones."""


@op
def arange(size: int, /, *, dtype: Any, start: Any = 0, step: Any = 1) -> Any:
    """start, start + step, ...: a 1-D tile of a constant power-of-two ``size``."""


@op
def astile(value: Any, /, *, dtype: Any = None) -> Any:
    """A scalar or nested tuple of scalars as a tile."""


@op
def reshape(x: Any, /, shape: Any) -> Any:
    """The same elements in row-major order with another shape; one extent may be -1."""


@op
def expand_dims(x: Any, /, axis: int) -> Any:
    """A new axis of extent 1 at ``axis``."""


@op
def broadcast_to(x: Any, /, shape: Any) -> Any:
    """Repeats axes of extent 1 to reach ``shape``."""


@op
def permute(x: Any, /, axes: Any) -> Any:
    """Reorders axes: axis k of the result is axis ``axes[k]`` of ``x``."""


@op
def transpose(x: Any, /, axis0: int | None = None, axis1: int | None = None) -> Any:
    """Swaps two axes; the only two of a 2-D tile when none are named."""


@op
def cat(tiles: Any, /, axis: int) -> Any:
    """Joins two tiles of equal dtype along ``axis``; one tile alone is itself."""


@op
def extract(x: Any, /, index: Any, shape: Any) -> Any:
    """Sub-tile number ``index`` of ``x`` seen as a grid of tiles of ``shape``.

    A constant index outside the grid is an error; one of run time wraps, and checked mode reports it."""


@op
def insert(x: Any, /, index: Any, value: Any) -> Any:
    """``x`` with sub-tile number ``index`` replaced by ``value``.

    A constant index outside the grid is an error; one of run time wraps, and checked mode reports it."""


@op
def where(cond: Any, x: Any, y: Any, /) -> Any:
    """``x`` where ``cond``, else ``y``; all broadcast, x and y promote."""


@op
def astype(x: Any, dtype: Any, /, *, rounding_mode: Any = None) -> Any:
    """Converts elements. Float to int truncates and saturates (NaN gives 0); others round to nearest even.

    Floats of 8 bits and less saturate: what is too great, infinity included, becomes the greatest value."""


@op
def bitcast(x: Any, /, dtype: Any) -> Any:
    """The same bits as another dtype of equal width."""


@op
def pack_to_bytes(x: Any, /) -> Any:
    """The tile's bytes, little endian, as a flat uint8 tile."""


@op
def unpack_from_bytes(x: Any, /, dtype: Any) -> Any:
    """The inverse of ``pack_to_bytes``."""


@op
def static_exception(exc: Any, /) -> Any:
    """``raise ct.static_exception(ValueError("..."))`` ends compiling with a ``StaticException``.

    Parameters
    ----------
    exc
        An expression that Python evaluates, as that of ``static_eval``; it gives an exception.

    Notes
    -----
    It ends compiling wherever the compiler comes by: in a branch that a constant rules out it does not, in one that
    is chosen at run time it does.
    """


@op
def static_eval(expr: Any, /) -> Any:
    """The value of an expression that Python evaluates while the kernel is compiled.

    Parameters
    ----------
    expr
        Any expression but assignments: calls of plain functions, lists, dicts, comprehensions, ``operator``.
        Constants of the kernel are themselves in it; tiles and arrays are proxies with ``shape``, ``dtype``,
        ``ndim``, which may be handed through, and tiles take operators and the plain arithmetic of ``ct``.

    Returns
    -------
    value
        A number, text, tuple, dict, dtype, enum member, function, operation, or a tile or array of the kernel.

    Raises
    ------
    TileStaticEvalError
        The expression raised, or called an operation that does more than compute a value.
    TileTypeError
        What it gave is nothing that kernels hold, such as a list.

    Notes
    -----
    Evaluated once for each version of the kernel (argument types and constants), in each process: code on disk is
    found by what the expressions gave. Global names mean what they meant at the kernel's first launch.
    """


@op
def static_assert(cond: Any, message: Any = None, /) -> Any:
    """Fails the compile with ``TileStaticAssertionError`` when a constant condition is False.

    Condition and message are expressions of Python, as in ``static_eval``; the message is evaluated when it is
    needed."""


@op
def static_iter(iterable: Any, /) -> Any:
    """``for x in ct.static_iter(...)``: unrolled while compiling, at most 1000 items.

    What it runs over is an expression of Python, as in ``static_eval``."""


@op
def ensure_constant(value: Any, /) -> Any:
    """Fails the compile when ``value`` is not a constant; gives it."""


@op
def add(x: Any, y: Any, /, *, rounding_mode: Any = None, flush_to_zero: bool = False) -> Any:
    """``x + y`` of tiles or scalars, broadcast and promoted."""


@op
def sub(x: Any, y: Any, /, *, rounding_mode: Any = None, flush_to_zero: bool = False) -> Any:
    """``x - y`` of tiles or scalars, broadcast and promoted."""


@op
def mul(x: Any, y: Any, /, *, rounding_mode: Any = None, flush_to_zero: bool = False) -> Any:
    """``x * y`` of tiles or scalars, broadcast and promoted."""

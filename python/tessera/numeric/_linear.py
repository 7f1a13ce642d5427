# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors: large ones by the library's kernels of floats, others by a fold of products."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from typing import Any

import numpy

from .. import _core
from . import _functions as f
from ._joining import concatenate, stack
from ._meanings import has_meaning, meant, plain
from ._ndarray import ndarray
from ._reduce import checked_out, into, scalar_of
from ._reduce import max as _max_of
from ._reduce import min as _min_of
from ._reduce import sum as _sum_of
from ._setup import ALL_FAULTS, NO_VALUE, memory, named_dtype, told_as
from ._ufunc import FUNCTIONS, select

INNER = ("contracted", "product", "matmul_operator")
_multiply, _conjugate = FUNCTIONS["multiply"], FUNCTIONS["conjugate"]
SMALL = 1 << 10  # multiplications of one matrix of a stack up to which a fold is faster than tiles
LARGE = 1 << 15  # multiplications from which on the library's kernels are faster than a fold
SHALLOW = 8  # products of a result, and rows or columns, up to which a GPU's tiles would be nearly empty


def _summed(a: ndarray, b: ndarray, axis: int) -> ndarray:
    """Sums along an axis of products, which are not stored; of narrow floats in float32, rounded once."""
    a, b = (x.astype(x.dtype.newbyteorder("=")) if x._is_items else x for x in (a, b))  # what kernels can read
    return _core.numeric_sum_products(a, b, axis)


def _folded(a: ndarray, b: ndarray) -> ndarray:
    """a (.., M, K) @ b (.., K, N) as a fold of products, which are not stored."""
    return _summed(a[..., :, :, None], b[..., None, :, :], -2)


def _is_shallow(a: ndarray, b: ndarray) -> bool:
    """Whether a product on a GPU is written out: it reads and writes more than it computes. Narrow floats are not,
    for they are rounded once."""
    few = a.shape[-1] <= SHALLOW >= min(a.shape[-2], b.shape[-1])
    return few and a.device != "cpu" and a.dtype.char in "?bBhHiIlLqQfdFD"


def _written_out(a: ndarray, b: ndarray) -> ndarray:
    """a (.., M, K) @ b (.., K, N) of small K as K products and their sums, which wait, and are one kernel with what
    comes next. They begin with +0, so that a sum is -0 never."""
    made = _multiply(a[..., :1], b[..., :1, :])
    made = made if made.dtype == bool else made + 0
    for k in range(1, a.shape[-1]):
        made = made + _multiply(a[..., k : k + 1], b[..., k : k + 1, :])
    return f.asarray(made)


def _by_kernel(a: ndarray, b: ndarray) -> ndarray | None:
    """The product by tessera.lib; None: it has no kernel for these."""
    from tessera.lib import gemm

    if a.dtype.char not in "efd" or a.ndim > 2 or b.ndim > 2:
        return None
    made = f.empty((a.shape[0], b.shape[1]), a.dtype)
    a, b = (x if _is_plain(x) else x.copy() for x in (a, b))
    gemm.gemm(memory(a, True), memory(b, True), memory(made, True))
    return made


def _is_plain(x: ndarray) -> bool:
    return all(s > 0 and s % x.itemsize == 0 for s in x.strides)


def product(a: ndarray, b: ndarray) -> ndarray:
    """a (.., M, K) @ b (.., K, N); leading axes broadcast."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) "
            f"(size {b.shape[-2]} is different from {a.shape[-1]})"
        )
    if a.ndim > 2 and b.ndim == 2 and a.size:  # one product of more rows
        return product(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    if a.dtype is not b.dtype or a._is_items:
        dtype = f.result_type(a, b)
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    dtype = a.dtype
    work = math.prod(a.shape) * b.shape[-1]
    if work >= LARGE and _is_shallow(a, b):
        return told_as("matmul", 0, _written_out, a, b)
    made = _by_kernel(a, b) if work >= LARGE else None
    if made is not None:
        return made
    if work < LARGE or a.shape[-2] * a.shape[-1] * b.shape[-1] <= SMALL:
        return _folded(a, b)
    if dtype.char in "efd":
        return _by_batched_kernel(a, b)
    if dtype.kind in "bui":
        return f.shown_as(_by_whole_floats(a, b), dtype)
    return _by_parts(a, b) if dtype.kind == "c" else _folded(a, b)


# Integers of up to 53 bits are float64 numbers; a piece has 16, a product of pieces 32, so many of them may be added.
WHOLE, PIECE, MOST_ADDED = 53, 16, 1 << 19


def _most_of(x: ndarray) -> int:
    """What the absolute values of integers do not exceed: of narrow ones by their dtype, of others by looking."""
    return 1 << 8 * x.itemsize if x.itemsize < 4 else max(abs(int(_max_of(x))), abs(int(_min_of(x))))


def _pieces(x: ndarray) -> list[ndarray]:
    """Integers as float64 numbers of 16 bits, the last of which have the sign: x = p[0] + 2**16 * p[1] + .."""
    n = x.itemsize * 8 // PIECE
    parts = (x >> PIECE * i for i in range(n))
    return [(p & 0xFFFF if i < n - 1 else p).astype(numpy.float64) for i, p in enumerate(parts)]


def _by_whole_floats(a: ndarray, b: ndarray) -> ndarray:
    """Products of integers as products of float64 numbers that are exact: of them, where they are small enough, else
    of pieces of them; what overflows the dtype leaves, as it does where integers are multiplied.

        (p + 2**16 q) @ (r + 2**16 s)  =  p @ r  +  2**16 [p q] @ [s r]  +  2**32 ..
    """
    dtype, k = a.dtype, a.shape[-1]
    if dtype == bool:
        return product(a.astype(numpy.float32), b.astype(numpy.float32)) != 0
    if k > MOST_ADDED:
        return product(a[..., :MOST_ADDED], b[..., :MOST_ADDED, :]) + product(
            a[..., MOST_ADDED:], b[..., MOST_ADDED:, :]
        )
    if _most_of(a) * _most_of(b) * k < 1 << WHOLE:
        made = product(a.astype(numpy.float64), b.astype(numpy.float64))
        return made.astype(numpy.int64).astype(dtype, copy=False)
    x, y = _pieces(a), _pieces(b)
    total = f.zeros((), numpy.int64)
    for i in range(len(x)):
        left, right = concatenate(x[: i + 1], -1), concatenate(y[i::-1], -2)
        total = total + (product(left, right).astype(numpy.int64) << PIECE * i)
    return total.astype(dtype, copy=False)


def _by_parts(a: ndarray, b: ndarray) -> ndarray:
    """Products of complex numbers as two of their parts: [x y] @ [u; -v] and [x y] @ [v; u] of x + y i and u + v i."""
    left, up, down = concatenate([a.real, a.imag], -1), b.real, b.imag
    real, imag = product(left, concatenate([up, -down], -2)), product(left, concatenate([down, up], -2))
    made = f.empty(real.shape, a.dtype)
    made.real, made.imag = real, imag
    return made


def _by_batched_kernel(a: ndarray, b: ndarray) -> ndarray:
    """Stacks of products by tessera.lib; leading axes broadcast."""
    from tessera.lib import gemm

    shape = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (m, k), n = a.shape[-2:], b.shape[-1]
    made = f.empty((*shape, m, n), a.dtype)
    if not made.size or not k:
        return f.zeros((*shape, m, n), a.dtype)
    x = f.broadcast_to(a, (*shape, m, k)).reshape(-1, m, k)
    y = f.broadcast_to(b, (*shape, k, n)).reshape(-1, k, n)
    x, y = (each if _is_plain(each) else each.copy() for each in (x, y))
    gemm.batched_gemm(memory(x, True), memory(y, True), memory(made.reshape(-1, m, n), True))
    return made


def are_floats(a: Any, b: Any) -> bool:
    """Whether both are arrays of float32 or of float64 on one device, which loops multiply."""
    return type(a) is type(b) is ndarray and a.dtype is b.dtype and a.dtype.char in "fd" and a.device == b.device


def contracted(a: ndarray, b: ndarray) -> ndarray:
    """As :func:`product`; vectors with matrices are folds along rows or columns, which need no tiles."""
    are_read = not (a._is_items or b._is_items) and a.dtype == b.dtype and a.dtype.char in "fd"
    if a.ndim == b.ndim == 2 and are_read and a.device == b.device:
        if a.size and b.size and a.shape[1] == b.shape[0] and 1 in (a.shape[0], b.shape[1]):
            if b.shape[1] == 1:
                return _core.numeric_product(a, b[:, 0])[:, None]
            return _core.numeric_product(a[0], b)[None]
    if b.shape[-1] == 1 and a.shape[-1] == b.shape[-2]:
        return _summed(a, b[..., None, :, 0], -1)[..., None]
    return _folded(a, b) if a.shape[-2] == 1 and a.shape[-1] == b.shape[-2] else product(a, b)


def _entries(name: str, axes: Any, cores: tuple[int, ...]) -> list[tuple[int, ...]]:
    """axes= of a product: a tuple for each operand and for the result, of as many axes as its core has."""
    if not isinstance(axes, list):
        raise TypeError("axes should be a list.")
    if len(axes) == len(cores) - 1 and not cores[-1]:
        axes = [*axes, ()]
    if len(axes) != len(cores):
        raise ValueError(
            f"axes should be a list with an entry for all {len(cores)} inputs and outputs; entry for outputs can only "
            "be omitted if none of them has core axes."
        )
    made = []
    for i, (each, n) in enumerate(zip(axes, cores, strict=True)):
        if not isinstance(each, tuple):
            if n != 1:
                raise TypeError(f"{name}: axes item {i} should be a tuple.")
            each = (operator.index(each),)
        if len(each) != n:
            raise numpy.exceptions.AxisError(
                f"{name}: operand {i} has {n} core dimensions, but {len(each)} dimensions are specified by axes tuple."
            )
        made.append(each)
    return made


def _placed(
    name: str, operands: list[ndarray], cores: tuple[int, ...], options: dict[str, Any]
) -> tuple[list[ndarray], tuple[int, ...] | None]:
    """Operands whose core axes are the last ones, and the axes that the result's shall become; None: the last."""
    axes, axis = options.get("axes", NO_VALUE), options.get("axis", NO_VALUE)
    keeps = options.get("keepdims", False)
    if (axis is not NO_VALUE or keeps) and cores != (1, 1, 0):
        word = "keepdims" if axis is NO_VALUE else "axis"
        raise TypeError(f"{name}() does not support {word}: its operands have cores of different rank")
    if axes is not NO_VALUE and axis is not NO_VALUE:
        raise TypeError("cannot specify both 'axis' and 'axes'")
    if axis is not NO_VALUE:
        axes = [(operator.index(axis),)] * 2 + [(operator.index(axis),) if keeps else ()]
    elif keeps and axes is NO_VALUE:
        axes = [(-1,)] * 3
    if axes is NO_VALUE:
        return operands, None
    entries = _entries(name, axes, (*cores[:2], 1) if keeps else cores)
    moved = [
        f.moveaxis(x, entry, range(-n, 0)) if n else x
        for x, entry, n in zip(operands, entries, cores, strict=False)
    ]
    return moved, entries[-1]


def _product_of(
    name: str,
    core: Any,
    x1: Any,
    x2: Any,
    cores: tuple[int, ...],
    out: Any,
    options: dict[str, Any],
    told: str | None = None,
) -> Any:
    """A product with everything that NumPy's take: `core` of operands whose core axes are the last ones. Faults are
    told of as those of `told`."""
    operands = [f.asarray(x1), f.asarray(x2)]
    if any(map(has_meaning, operands)):
        kinds = " and ".join(str(x.dtype) for x in operands)
        raise TypeError(f"ufunc '{name}' did not contain a loop for operands of {kinds}")
    dtype = None if options.get("dtype") is None else named_dtype(options["dtype"])
    casting, whole = options.get("casting", "same_kind"), out[0] if isinstance(out, tuple) and out else out
    if isinstance(whole, ndarray) or casting != "same_kind":
        _check_casts(name, operands, whole, dtype, casting)
    if name == "matmul":
        _check_ranks(operands)
        least = [min(x.ndim, 2) for x in operands]
        cores = (*least, sum(least) - 2)
    if dtype is not None:
        operands = [_cast(name, x, dtype, casting) for x in operands]
    _check_cores(name, operands, cores)
    (a, b), places = _placed(name, operands, cores, options)
    made = f.asarray(core(a, b))
    _core.numeric_tell_product(told or name, a, b, made, cores[0] > 1, cores[1] > 1)
    if options.get("keepdims"):
        made = made[..., None]
    if places:
        made = f.moveaxis(made, range(-len(places), 0), places)
    if isinstance(whole, ndarray) and whole.ndim > made.ndim:  # more matrices than the operands say
        made = f.broadcast_to(made, whole.shape)
    if out is None and options.get("order", "K") in ("F", "C"):
        made = f.asarray(made, order=options["order"])
    return into(made, out, casting)


def _check_casts(name: str, operands: list[ndarray], out: Any, dtype: Any, casting: str) -> None:
    """Errors of casts, which come before those of shapes."""
    if isinstance(out, ndarray) and not out.flags.writeable:
        raise ValueError("output array is read-only")
    loop = f.result_type(*operands) if dtype is None else dtype
    for x in operands:
        _cast(name, f.empty(0, x.dtype), loop, casting)
    if isinstance(out, ndarray) and not f.can_cast(loop, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc '{name}' output from {loop!r} to {out.dtype!r} with casting rule '{casting}'"
        )


def _cast(name: str, x: ndarray, dtype: numpy.dtype[Any], casting: str) -> ndarray:
    if not f.can_cast(x.dtype, dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc '{name}' input from {x.dtype!r} to {dtype!r} with casting rule '{casting}'"
        )
    return x.astype(dtype, copy=False)


_SIGNATURES = {"vecdot": "(n),(n)->()", "matvec": "(m,n),(n)->(m)", "vecmat": "(n),(n,m)->(m)"}


def _check_cores(name: str, operands: list[ndarray], cores: tuple[int, ...]) -> None:
    for i, (x, least) in enumerate(zip(operands, cores, strict=False)):
        if x.ndim < least:
            raise ValueError(
                f"{name}: Input operand {i} does not have enough dimensions (has {x.ndim}, gufunc core with signature "
                f"{_SIGNATURES[name]} requires {least})"
            )


def _check_ranks(operands: list[ndarray]) -> None:
    for i, x in enumerate(operands):
        if not x.ndim:
            raise ValueError(
                f"matmul: Input operand {i} does not have enough dimensions (has 0, gufunc core with signature "
                "(n?,k),(k,m?)->(n?,m?) requires 1)"
            )


def _matmul(a: ndarray, b: ndarray) -> ndarray:
    multiply = contracted if a.ndim == 1 or b.ndim == 1 else product
    made = multiply(a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b)
    if b.ndim == 1:
        made = f.asarray(made)[..., 0]
    if a.ndim == 1:
        made = made[..., 0, :] if b.ndim > 1 else made[..., 0]
    return made


def _vecdot(a: ndarray, b: ndarray) -> Any:
    for i, x in enumerate((a, b)):
        if not x.ndim:
            raise ValueError(
                f"vecdot: Input operand {i} does not have enough dimensions (has 0, gufunc core with signature "
                "(n),(n)->() requires 1)"
            )
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() "
            f"(size {b.shape[-1]} is different from {a.shape[-1]})"
        )
    return _summed(_conjugated(a), b, -1)


def _conjugated(a: ndarray) -> ndarray:
    return f.asarray(_conjugate(a)) if a.dtype.kind == "c" else a


def matmul(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = NO_VALUE, axis: Any = NO_VALUE, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Products of matrices; vectors are rows before and columns behind."""
    options = {"axes": axes, "axis": axis, "keepdims": keepdims, "casting": casting, "order": order, "dtype": dtype,
               "signature": signature}  # fmt: skip
    return _product_of("matmul", _matmul, x1, x2, (2, 2, 2), out, options)


def matmul_operator(x: Any, y: Any, out: Any = None) -> Any:
    """``x @ y``."""
    if getattr(type(y), "__array_ufunc__", True) is None:
        return NotImplemented
    like = _core.numeric_derived((x, y)) if out is None else None
    made = matmul(x, y, out)
    return made if like is None else like.__array_wrap__(f.asarray(made), None, not numpy.ndim(made))


def _of_spans(function: Any) -> Any:
    """A sum of products that also takes spans of time with spans or integers: counts without a unit, as NumPy has it;
    NaT where one takes part."""

    @functools.wraps(function)
    def made(a: Any, b: Any, *out: Any, **options: Any) -> Any:
        operands = [f.asarray(a), f.asarray(b)]
        kinds = "".join(x.dtype.kind for x in operands)
        if "m" not in kinds or not set(kinds) <= set("mbiu") or not all(x.ndim for x in operands) or out or options:
            return function(a, b, *out, **options)
        counts = [plain(x) if has_meaning(x) else x.astype(numpy.int64) for x in operands]
        lost = [f.asarray(x == numpy.iinfo(numpy.int64).min).astype(numpy.int64) for x in counts]
        total, known = function(*counts), [f.ones_like(x) for x in counts]
        none = (function(lost[0], known[1]) + function(known[0], lost[1])) != 0
        return meant(select(none, numpy.iinfo(numpy.int64).min, total), numpy.dtype("m8"))

    return made


_OF_BLAS = "fdFD"  # dtypes


def _scaled(a: ndarray, b: ndarray) -> Any:
    """A number times an array, by BLAS where NumPy has it: it adds to zeros, and does nothing where the number is 0."""
    dtype = f.result_type(a, b)
    if dtype.char not in _OF_BLAS or max(a.ndim, b.ndim) > 2 or a.size == b.size:
        return _multiply(a, b)
    number, x = (a, b) if a.size == 1 else (b, a)
    shape = x.shape if not number.ndim else (*a.shape[:-1], *b.shape[1:])
    number = number.reshape(())

    def added() -> Any:
        return _multiply(f.asarray(select(number == 0, 0, x)).astype(dtype, copy=False), number) + 0

    return f.asarray(told_as("dot", ALL_FAULTS, added)).reshape(shape)


@_of_spans
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Sums of products over the last axis of a and the last but one of b."""
    made = _dot(a, b, out)
    return made if out is None or numpy.ndim(made) else made[()]  # of out=, too, NumPy gives the number


def _dot(a: Any, b: Any, out: Any) -> Any:
    a, b, out = f.asarray(a), f.asarray(b), checked_out(out)
    if out is not None and (not a.ndim or not b.ndim):
        if f.result_type(a, b).char not in _OF_BLAS or max(a.ndim, b.ndim) > 2:
            return _multiply(a, b, out)
    if isinstance(out, ndarray) and (out.dtype != f.result_type(a, b) or not out.flags.c_contiguous):
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        )
    if not a.ndim or not b.ndim:
        return into(f.asarray(_scaled(a, b)), out)
    if b.ndim == 1 or a.ndim <= 2 and b.ndim == 2:
        if a.shape[-1] != b.shape[0]:
            sizes = f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[0]} (dim 0)"
            raise ValueError(f"shapes {a.shape} and {b.shape} not aligned: {sizes}")
        shape = (*a.shape[:-1], *b.shape[1:])
        if isinstance(out, ndarray) and out.shape != shape:
            raise ValueError(f"output array is not acceptable: its shape is {out.shape}, wanted {shape}")
        if 1 in (a.size, b.size):
            return into(f.asarray(_scaled(a, b)).reshape(shape), out)
        return _product_of("matmul", _matmul, a, b, (2, 2, 2), out, {}, "dot")
    return into(f.asarray(tensordot(a, b, (-1, -2))), out)


@_of_spans
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of products of all elements, those of a conjugated."""
    if are_floats(a, b) and a.ndim == b.ndim == 1 and a.shape == b.shape and a.size:
        return _core.numeric_product(a, b)
    x, y = _conjugated(f.ravel(a)), f.ravel(b)
    if x.shape != y.shape:
        raise ValueError(f"shapes {x.shape} and {y.shape} not aligned: {x.size} (dim 0) != {y.size} (dim 0)")
    return scalar_of(contracted(x[None], y[:, None])[0, 0])


@_of_spans
def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes of both."""
    if are_floats(a, b) and 0 < a.ndim < 3 and 0 < b.ndim < 3 and a.shape[-1] == b.shape[-1] and a.size and b.size:
        return a.dot(b.T)
    a, b = f.asarray(a), f.asarray(b)
    if not a.ndim or not b.ndim:
        return _scaled(a, b)
    if a.shape[-1] != b.shape[-1]:
        sizes = f"{a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-1]} (dim {b.ndim - 1})"
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned: {sizes}")
    return scalar_of(tensordot(a, b, (-1, -1)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Products of every element of a with every element of b."""
    if not (type(a) is type(b) is f.ndarray and a.ndim == b.ndim == 1):
        a, b = f.ravel(a), f.ravel(b)
    return _multiply(a[:, None], b, out)


_MATRIX_AXES = ((0, 0), (0, 1), (1, 0), (1, 1))  # of two matrices, which need no other shape


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over some axes of both."""
    if are_floats(a, b) and a.ndim == b.ndim == 2 and a.size > 1 < b.size and type(axes) is tuple:
        if [*map(type, axes)] == [int, int] and axes in _MATRIX_AXES:
            x, y = a.T if axes[0] == 0 else a, b.T if axes[1] == 1 else b
            if x.shape[1] == y.shape[0]:
                return x.dot(y)
    a, b = f.asarray(a), f.asarray(b)
    try:
        first, second = axes
    except TypeError:
        n = operator.index(axes)
        first, second = list(range(-n, 0)), list(range(n))
    first, second = ([*each] if hasattr(each, "__len__") else [each] for each in (first, second))
    if len(first) != len(second) or any(a.shape[i] != b.shape[k] for i, k in zip(first, second, strict=True)):
        raise ValueError("shape-mismatch for sum")  # axes that are none are indices of shapes that are none, as NumPy's
    first, second = [range(a.ndim)[i] for i in first], [range(b.ndim)[i] for i in second]
    rows = [d for d in range(a.ndim) if d not in first]
    columns = [d for d in range(b.ndim) if d not in second]
    depth = math.prod(a.shape[d] for d in first)
    x = a.transpose([*rows, *first]).reshape(math.prod(a.shape[d] for d in rows), depth)
    y = b.transpose([*second, *columns]).reshape(depth, math.prod(b.shape[d] for d in columns))
    shape = [a.shape[d] for d in rows] + [b.shape[d] for d in columns]
    if 1 in (x.size, y.size):
        return f.asarray(_scaled(x, y)).reshape(shape)
    if are_floats(x, y) and x.size and y.size:
        return x.dot(y).reshape(shape)
    made = product(x, y)
    _core.numeric_tell_product("dot", x, y, made, True, True)
    return made.reshape(shape)


def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = NO_VALUE, axis: Any = NO_VALUE, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Sums of products along an axis, elements of x1 conjugated."""
    options = {"axes": axes, "axis": axis, "keepdims": keepdims, "casting": casting, "order": order, "dtype": dtype,
               "signature": signature}  # fmt: skip
    return _product_of("vecdot", _vecdot, x1, x2, (1, 1, 0), out, options)


def matvec(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = NO_VALUE, axis: Any = NO_VALUE, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Products of matrices with vectors."""
    options = {"axes": axes, "axis": axis, "keepdims": keepdims, "casting": casting, "order": order, "dtype": dtype,
               "signature": signature}  # fmt: skip
    return _product_of(
        "matvec", lambda a, b: contracted(a, b[..., None])[..., 0], x1, x2, (2, 1, 1), out, options
    )


def vecmat(x1: Any, x2: Any, /, out: Any = None, *, axes: Any = NO_VALUE, axis: Any = NO_VALUE, keepdims: bool = False,
           casting: str = "same_kind", order: str = "K", dtype: Any = None, subok: bool = True,
           signature: Any = None) -> Any:  # fmt: skip
    """Products of vectors, conjugated, with matrices."""
    options = {"axes": axes, "axis": axis, "keepdims": keepdims, "casting": casting, "order": order, "dtype": dtype,
               "signature": signature}  # fmt: skip
    return _product_of(
        "vecmat", lambda a, b: contracted(_conjugated(a)[..., None, :], b)[..., 0, :], x1, x2, (1, 2, 1), out, options
    )


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """Sums of diagonals."""
    if type(a) is f.ndarray and a.ndim == 2 and offset == 0 and (axis1, axis2) == (0, 1) and dtype is out is None:
        return a.diagonal().sum()  # without the interpreter's steps
    return _sum_of(f.diagonal(a, offset, axis1, axis2), -1, dtype, out)


def kron(a: Any, b: Any) -> Any:
    """Every element of a times all of b."""
    a, b = f.asarray(a), f.asarray(b)
    rank = max(a.ndim, b.ndim)
    if not rank:
        return _multiply(a, b)
    x = a.reshape((1,) * (rank - a.ndim) + a.shape)
    y = b.reshape((1,) * (rank - b.ndim) + b.shape)
    products = _multiply(
        x.reshape([m for n in x.shape for m in (n, 1)]),
        y.reshape([m for n in y.shape for m in (1, n)]),
    )
    return f.asarray(products).reshape([n * m for n, m in zip(x.shape, y.shape, strict=True)])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> ndarray:
    """Vector products of vectors of three elements; of two (deprecated), the third is 0."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = f.asarray(a), f.asarray(b)
    if not (a.ndim and b.ndim):
        raise ValueError("At least one array has zero dimension")
    x, y = f.moveaxis(a, axisa, -1), f.moveaxis(b, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(f"cross: vectors of 2 or 3 elements are wanted, found {x.shape[-1]} and {y.shape[-1]}")
    are_flat = x.shape[-1] == y.shape[-1] == 2
    if 2 in (x.shape[-1], y.shape[-1]):
        warnings.warn(
            "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. "
            "(deprecated in NumPy 2.0)",
            DeprecationWarning,
            stacklevel=2,
        )
    x, y = x[None], y[None]  # arrays also of a single product: those of numbers would tell of integers that wrap
    if are_flat:
        return (x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])[0, ...]
    if x.shape[-1] == 2:  # what is not there takes no part: it would make NaN of infinities
        parts = [x[..., 1] * y[..., 2], -(x[..., 0] * y[..., 2])]
    elif y.shape[-1] == 2:
        parts = [-(x[..., 2] * y[..., 1]), x[..., 2] * y[..., 0]]
    else:
        parts = [x[..., i] * y[..., k] - x[..., k] * y[..., i] for i, k in ((1, 2), (2, 0))]
    parts.append(x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0])
    return f.moveaxis(stack(parts, -1)[0], -1, axisc)


def _slid(a: ndarray, v: ndarray, mode: str) -> ndarray:
    """Sums of products of v with every stretch of a, which is not the shorter one."""
    n, m = a.size, v.size
    begin, count = {"valid": (m - 1, n - m + 1), "same": (m - 1 - m // 2, n), "full": (0, n + m - 1)}[mode]
    made = _core.numeric_slide(a, v if v.flags.c_contiguous else v.copy(), begin - (m - 1), count)
    if made is not None:
        return made
    if a.dtype.kind == "c" and a.device == "cpu" and all(bool(FUNCTIONS["isfinite"](x).all()) for x in (a, v)):
        (x, u), (y, w) = ((part.real.copy(), part.imag.copy()) for part in (a, v))
        made = f.empty(count, a.dtype)  # by parts, whose products are vectors'
        made.real = _slid(x, y, mode) - _slid(u, w, mode)
        made.imag = _slid(x, w, mode) + _slid(u, y, mode)
        return made
    padded = f.zeros(n + 2 * (m - 1), a.dtype, device=a.device)
    padded[m - 1 : m - 1 + n] = a
    step = padded.itemsize
    windows = padded._view(begin * step, padded.dtype, (count, m), (step, step))
    if mode == "valid" or v.dtype.kind not in "fc" or bool(FUNCTIONS["isfinite"](v).all()):
        return f.asarray(contracted(windows, v[:, None])[:, 0])
    rows, columns = f.arange(begin, begin + count, device=a.device), f.arange(m, device=a.device)
    place = rows[:, None] + columns  # where zeros lie, which times infinity are NaN
    inside = (place >= m - 1) & (place < m - 1 + n)
    with numpy.errstate(invalid="ignore"):
        return f.asarray(select(inside, windows * v, 0)).sum(-1, v.dtype)


def _lines(a: Any, v: Any, mode: Any) -> tuple[ndarray, ndarray, str]:
    a, v = f.array(a, copy=None, ndmin=1), f.array(v, copy=None, ndmin=1)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object too deep for desired array")
    for name, x in (("a", a), ("v", v)):
        if not x.size:
            raise ValueError(f"{name} cannot be empty")
    if not isinstance(mode, (str, int)):
        raise TypeError(f"mode must be one of 'valid', 'same', or 'full', not {type(mode).__name__}")
    modes = ("valid", "same", "full")
    mode = modes[mode] if mode in (0, 1, 2) else mode
    if mode not in modes:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    dtype = f.result_type(a, v)
    return a.astype(dtype, copy=False), v.astype(dtype, copy=False), mode


def convolve(a: Any, v: Any, mode: str = "full") -> ndarray:
    """The convolution of two vectors: all of it, as long as the longer one, or where they overlap wholly."""
    a, v, mode = _lines(a, v, mode)
    if v.size > a.size:
        a, v = v, a
    return _slid(a, v[::-1], mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> ndarray:
    """The cross-correlation of two vectors, elements of v conjugated."""
    if not f.asarray(a).ndim or not f.asarray(v).ndim:
        raise ValueError("object of too small depth for desired array")
    a, v, mode = _lines(a, v, mode)
    if v.size > a.size:
        return _conjugated(_slid(v, _conjugated(a), mode))[::-1].copy()
    return _slid(a, _conjugated(v), mode)


METHODS = {
    "dot": lambda self, b, out=None: dot(self, b, out),
    "trace": lambda self, offset=0, axis1=0, axis2=1, dtype=None, out=None: trace(
        self, offset, axis1, axis2, dtype, out
    ),
}

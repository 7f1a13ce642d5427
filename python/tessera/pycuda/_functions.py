# SPDX-License-Identifier: Apache-2.0
"""Functions of arrays: joining, choosing, gathering, reducing; ``gpuarray`` shows them."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _array_kernels as kernels
from . import _operators as operators
from ._array import GPUArray, apply, common_form

__all__ = [
    "all", "any", "concatenate", "dot", "if_positive", "logical_and", "logical_not", "logical_or",
    "max", "maximum", "min", "minimum", "multi_put", "multi_take", "multi_take_put", "put",
    "reshape", "stack", "subset_dot", "subset_max", "subset_min", "subset_sum", "sum", "take",
    "transpose", "where",
]  # fmt: skip


def reshape(a: GPUArray, *shape: Any, order: str = "C") -> GPUArray:
    """``a.reshape(...)``."""
    return a.reshape(*shape, order=order)


def transpose(a: GPUArray, axes: Any = None) -> GPUArray:
    """``a.transpose(axes)``."""
    return a.transpose(axes)


def concatenate(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """One array of several, one after another along an axis."""
    first = arrays[0]
    if not first.ndim:
        raise ValueError("arrays of shape () cannot be joined; stack() them")
    axis = axis % first.ndim
    form = [a.shape[:axis] + a.shape[axis + 1 :] for a in arrays]
    if builtins.any(a.ndim != first.ndim for a in arrays) or len(set(form)) > 1:
        raise ValueError(f"shapes {[a.shape for a in arrays]} differ in another axis than {axis}")
    shape = list(first.shape)
    shape[axis] = builtins.sum(a.shape[axis] for a in arrays)
    dtype = np.result_type(*(a.dtype for a in arrays))
    made, at = GPUArray(shape, dtype, allocator or first.allocator), 0
    for array in arrays:
        end = at + array.shape[axis]
        made[(slice(None),) * axis + (slice(at, end),)] = array
        at = end
    return made


def stack(arrays: Sequence[GPUArray], axis: int = 0, allocator: Any = None) -> GPUArray:
    """One array of several, along a new axis."""
    if len({a.shape for a in arrays}) != 1:
        raise ValueError(f"arrays of shapes {[a.shape for a in arrays]} cannot be stacked")
    n = arrays[0].ndim + 1
    if not -n <= axis < n:
        raise ValueError(f"axis {axis} is out of range for {n} axes")
    axis %= n
    index = (slice(None),) * axis + (None,)
    return concatenate([a[index] for a in arrays], axis, allocator)


def where(
    criterion: Any, then_: Any, else_: Any, out: GPUArray | None = None, stream: Any = None
) -> GPUArray:
    """Elements of `then_` where the criterion is not zero, else of `else_`."""
    return _choose("tessera::to<bool>({c})", criterion, then_, else_, out, stream)


def if_positive(
    criterion: Any, then_: Any, else_: Any, out: GPUArray | None = None, stream: Any = None
) -> GPUArray:
    """Elements of `then_` where the criterion is above zero, else of `else_`."""
    return _choose("({c}) > 0", criterion, then_, else_, out, stream)


def _choose(test: str, criterion: Any, then_: Any, else_: Any, out: Any, stream: Any) -> GPUArray:
    dtype = operators.result_dtype(np.add, then_, else_)
    if dtype == bool or builtins.all(getattr(v, "dtype", None) == then_.dtype for v in (then_, else_)):
        dtype = np.dtype(getattr(then_, "dtype", dtype))
    shape, order = common_form((criterion, then_, else_))
    made = out if out is not None else GPUArray(shape, dtype, criterion.allocator, order=order)
    forms = tuple(isinstance(v, GPUArray) for v in (then_, else_))
    kernel = kernels.choose(test, made.dtype, criterion.dtype, *(
        v.dtype if is_array else made.dtype for v, is_array in zip((then_, else_), forms, strict=True)
    ), *forms)  # fmt: skip
    kernel(made, criterion, then_, else_, stream=stream, shape=made.shape)
    return made


def _pair(name: str) -> Callable[..., GPUArray]:
    def function(
        a: Any, b: Any, out: GPUArray | None = None, stream: Any = None, allocator: Any = None
    ) -> Any:
        return apply(name, (a, b), out, stream, allocator=allocator)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``numpy.{name}`` of arrays and scalars, one array at least."
    return function


maximum, minimum = _pair("maximum"), _pair("minimum")
logical_and, logical_or = _pair("logical_and"), _pair("logical_or")


def logical_not(
    x: GPUArray, out: GPUArray | None = None, stream: Any = None, allocator: Any = None
) -> Any:
    """Whether an element is zero."""
    del allocator
    return apply("logical_not", (x,), out, stream)


# ---- gathering -----------------------------------------------------------------------------------


def _move(
    out: GPUArray, a: GPUArray, read: Any, write: Any, offset: int = 0, stream: Any = None
) -> GPUArray:
    """out[write[i]] = a[read[i] + offset]; without indices i itself. Nothing is checked."""
    if not (out.flags.forc and a.flags.c_contiguous):
        raise ValueError("gathering wants contiguous arrays; copy() them first")
    first = write if read is None else read
    kernel = kernels.move(a.dtype, *(v if v is None else v.dtype for v in (read, write)))
    kernel(out, a, *(v for v in (read, write) if v is not None), offset, stream=stream,
           shape=first.shape)  # fmt: skip
    return out


def take(
    a: GPUArray, indices: GPUArray, out: GPUArray | None = None, stream: Any = None
) -> GPUArray:
    """out[i] = a[indices[i]]."""
    return multi_take([a], indices, None if out is None else [out], stream)[0]


def put(a: GPUArray, indices: GPUArray, values: GPUArray, stream: Any = None) -> None:
    """a[indices[i]] = values[i]."""
    multi_put([values], indices, out=[a], stream=stream)


def _outs(out: Any, arrays: Sequence[GPUArray], shape: Any) -> list[GPUArray]:
    if out is None and shape is None:
        raise ValueError("give dest_shape, or arrays in out")
    return list(out) if out is not None else [GPUArray(shape, a.dtype, a.allocator) for a in arrays]


def multi_take(
    arrays: Sequence[GPUArray], indices: GPUArray, out: Any = None, stream: Any = None
) -> list[GPUArray]:
    """``take`` of several arrays."""
    outs = _outs(out, arrays, indices.shape)
    pairs = zip(outs, arrays, strict=True)
    return [_move(made, a, indices, None, 0, stream) for made, a in pairs]


def multi_put(
    arrays: Sequence[GPUArray], dest_indices: GPUArray, dest_shape: Any = None, out: Any = None,
    stream: Any = None,
) -> list[GPUArray]:  # fmt: skip
    """out[dest_indices[i]] = array[i], for several arrays."""
    pairs = zip(_outs(out, arrays, dest_shape), arrays, strict=True)
    return [_move(made, a, None, dest_indices, 0, stream) for made, a in pairs]


def multi_take_put(
    arrays: Sequence[GPUArray], dest_indices: GPUArray, src_indices: GPUArray,
    dest_shape: Any = None, out: Any = None, stream: Any = None, src_offsets: Any = None,
) -> list[GPUArray]:  # fmt: skip
    """out[dest_indices[i]] = array[src_indices[i] + offset], for several arrays."""
    offsets = [0] * len(arrays) if src_offsets is None else src_offsets
    rows = zip(_outs(out, arrays, dest_shape), arrays, offsets, strict=True)
    return [_move(made, a, src_indices, dest_indices, n, stream) for made, a, n in rows]


# ---- reductions ----------------------------------------------------------------------------------


def _reduce(name: str, arrays: Sequence[GPUArray], dtype: Any, **how: Any) -> GPUArray:
    """A reduction of the table of kernels over arrays of one shape, the first of which may be a
    subset of indices."""
    has_subset = name.startswith("subset_")
    values = arrays[1:] if has_subset else arrays
    if len({a.shape for a in values}) > 1:
        raise ValueError(f"the arrays have shapes {[a.shape for a in values]}")
    if not arrays[0].size and name.rpartition("_")[2] in ("max", "min"):
        raise ValueError(f"{name} of no elements")
    kernel = kernels.reduction(name, np.dtype(dtype), *(a.dtype for a in arrays))
    return kernel(*arrays, **how)  # type: ignore[no-any-return]


def sum(a: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """The sum of all elements, in the dtype of the array or the one that is given."""
    return _reduce("sum", [a], dtype or a.dtype, stream=stream, allocator=allocator)


def subset_sum(
    subset: GPUArray, a: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """The sum of the elements at the indices of `subset`."""
    how = {"stream": stream, "allocator": allocator}
    return _reduce("subset_sum", [subset, a], dtype or a.dtype, **how)


def dot(
    a: GPUArray, b: GPUArray, dtype: Any = None, stream: Any = None, allocator: Any = None
) -> GPUArray:
    """The sum of the products of all elements."""
    dtype = dtype or np.result_type(a.dtype, b.dtype)
    return _reduce("dot", [a, b], dtype, stream=stream, allocator=allocator)


def subset_dot(
    subset: GPUArray, a: GPUArray, b: GPUArray, dtype: Any = None, stream: Any = None,
    allocator: Any = None,
) -> GPUArray:  # fmt: skip
    """``dot`` of the elements at the indices of `subset`."""
    dtype = dtype or np.result_type(a.dtype, b.dtype)
    return _reduce("subset_dot", [subset, a, b], dtype, stream=stream, allocator=allocator)


def _extreme(name: str) -> Callable[..., GPUArray]:
    def function(*arrays: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:
        n = 1 + name.startswith("subset_")
        if len(arrays) == n + 1:  # the stream by position
            *arrays, stream = arrays  # type: ignore[assignment]
        if len(arrays) != n:
            raise TypeError(f"{name}() takes {n} arrays, not {len(arrays)}")
        how = {"stream": stream, "allocator": allocator}
        return _reduce(name, arrays, arrays[-1].dtype, **how)

    which = "largest" if name.endswith("max") else "smallest"
    where_ = ", of those at the indices of the first array" if "subset" in name else ""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {which} element{where_}; NaN where there is one."
    return function


max, min = _extreme("max"), _extreme("min")  # noqa: A001
subset_max, subset_min = _extreme("subset_max"), _extreme("subset_min")


def any(a: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """Whether an element is not zero."""
    return _reduce("any", [a], bool, stream=stream, allocator=allocator)


def all(a: GPUArray, stream: Any = None, allocator: Any = None) -> GPUArray:  # noqa: A001
    """Whether no element is zero."""
    return _reduce("all", [a], bool, stream=stream, allocator=allocator)
